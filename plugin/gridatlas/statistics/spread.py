"""Values whose uncertainty is a spread: of repeats, of items, of the parts of a mean.

Trials say how far chance moves a share. They don't say how far another seed does, or other items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, inf, isfinite, sqrt

import numpy as np
from scipy import special

from gridatlas.statistics.counts import Floats, wilson
from gridatlas.statistics.interval import Interval

FEWEST = 3
"""Repeats from which a mean has an interval: of two, Student's t is 13 standard errors wide."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The standard error of a value.

    Attributes:
        stderr: 0 or more, in the value's unit.
        clusters: What it is taken over: number of items, repeats or units; None where unknown.
    """

    stderr: float
    clusters: int | None = None

    @property
    def df(self) -> float:
        """Degrees of freedom of Student's t: infinite (normal) where the clusters are unknown."""
        return inf if self.clusters is None else self.clusters - 1


def mean_spread(values: Sequence[float]) -> Spread:
    """The standard error of the mean of values that repeat one another, with as many clusters.

    Raises:
        ValueError: Below two values.
    """
    if len(values) < 2:
        raise ValueError(f"a spread needs at least two values, not {len(values)}")
    return Spread(float(np.std(values, ddof=1)) / sqrt(len(values)), len(values))


def t_interval(value: float, spread: Spread, confidence: float = 0.95) -> Interval:
    """Student's t interval of a value: Student (1908), Biometrika 6, 1–25.

    Assumes clusters that are independent and of which the mean is about normal.

    Raises:
        ValueError: For a spread over a single cluster.
    """
    if spread.df < 1:
        raise ValueError("Student's t needs at least two clusters")
    tail = (1 + confidence) / 2
    quantile = special.stdtrit(spread.df, tail) if isfinite(spread.df) else special.ndtri(tail)
    reach = spread.stderr * float(quantile)
    return Interval(value - reach, value + reach)


def share_interval(share: float, spread: Spread, confidence: float = 0.95) -> Interval | None:
    """Interval of a share for other clusters of the kind; None where nothing tells.

    Student's t; where all clusters are alike, so that they show no spread, Wilson's with each
    cluster as one trial.
    """
    if spread.stderr and spread.df >= 1:
        return t_interval(share, spread, confidence)
    if spread.clusters is not None:
        return wilson(share * spread.clusters, spread.clusters, confidence)
    return None


def mean_interval(
    value: float, parts: Sequence[tuple[float, Interval]], *, independent: bool
) -> Interval:
    """Interval of the mean of parts, each with equal weight, from the interval of each.

    The squares of the distances from each part to its ends add up: Zou & Donner (2008), Statistics
    in Medicine 27, 1693–1702 (MOVER). Parts that aren't independent of one another, or not known to
    be, may all be off in the same direction: then the distances themselves add up.

    Args:
        value: The mean.
        parts: The value of each part, and its interval; at least one.
        independent: Whether the parts are, as parts asked different items.
    """
    below = [part - interval.low for part, interval in parts]
    above = [interval.high - part for part, interval in parts]
    total = (lambda ends: hypot(*ends)) if independent else sum
    return Interval(value - total(below) / len(parts), value + total(above) / len(parts))


def widest(*intervals: Interval | None) -> Interval | None:
    """From the lowest end to the highest; None without any interval."""
    there = [interval for interval in intervals if interval is not None]
    if not there:
        return None
    return Interval(min(one.low for one in there), max(one.high for one in there))


def clipped(interval: Interval, low: float, high: float) -> Interval:
    """The part of an interval that is possible."""
    return Interval(max(low, interval.low), min(high, interval.high))


def variance_of(k: float, n: float, spread: Spread | None) -> tuple[float, float]:
    """Square of a share's standard error, never 0, and its degrees of freedom.

    Where no spread is known, or all clusters are alike, that of independent trials (of clusters,
    each as one trial) with two successes and two failures more: Agresti & Coull (1998), The
    American Statistician 52, 119–126.
    """
    if spread is not None and spread.stderr and spread.df >= 1:
        return spread.stderr**2, spread.df
    trials = n if spread is None or spread.clusters is None else min(n, spread.clusters)
    share = (k / n * trials + 2) / (trials + 4)
    return share * (1 - share) / (trials + 4), inf


def welch_greater(share1: Floats, var1: Floats, df1: Floats, *other: Floats) -> Floats:
    """P-values that the first mean is greater, for many pairs: Welch (1947), Biometrika 34, 28–35.

    Args:
        share1: Means.
        var1: The squares of their standard errors, above 0.
        df1: Degrees of freedom of these, at least 1; infinite where the variance is known.
        other: The same three of the second.
    """
    share2, var2, df2 = other
    variance = var1 + var2
    df = variance**2 / (var1**2 / df1 + var2**2 / df2 + np.finfo(float).tiny)
    # Beyond, Student's t and the normal distribution are the same.
    return np.asarray(special.stdtr(np.minimum(df, 1e9), (share2 - share1) / np.sqrt(variance)))


def welch(first: tuple[int, int, Spread | None], second: tuple[int, int, Spread | None]) -> float:
    """Two-sided p-value of Welch's test of two shares, each of (successes, trials, spread)."""
    means = [
        [np.array([value]) for value in (k / n, *variance_of(k, n, spread))]
        for k, n, spread in (first, second)
    ]
    greater = [float(welch_greater(*one, *other)[0]) for one, other in (means, means[::-1])]
    return min(1.0, 2 * min(greater))


def design_effect(k: float, n: float, spread: Spread | None) -> float:
    """How many times the variance of independent trials a share's variance is, at least 1.

    Kish (1965), *Survey Sampling*: n divided by it is the number of independent trials that would
    tell as much.
    """
    if spread is None:
        return 1.0
    share = k / n
    trials = share * (1 - share) / n
    if spread.stderr and trials:
        return max(1.0, spread.stderr**2 / trials)
    # All clusters are alike: each tells as much as one trial.
    return max(1.0, n / spread.clusters) if spread.clusters else 1.0
