"""How far chance moves a value: by its trials, by the spread of its repeats or items, or both.

Trials say how far chance moves a share. They don't say how far another seed does, or other items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_DOWN, Context, Decimal
from math import inf, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gridatlas.statistics.distributions import normal_quantile, t_cdf, t_quantile
from gridatlas.statistics.interval import Interval

Counts = tuple[int, int]
"""(successes, trials) of a cell."""
Better = Literal["higher", "lower"]
Floats = NDArray[np.float64]

_EXACT = Context(prec=60)
"""Enough digits that a product of a printed value and a number of trials is exact."""


def wilson(successes: float, n: int, confidence: float = 0.95) -> Interval:
    """Score interval of a share: Wilson (1927), JASA 22, 209–212; no continuity correction.

    Args:
        successes: From 0 to n. It needn't be whole: share × questions, with n the number of
            questions, is the interval for other questions of the kind. It is wide enough however
            alike the samples of a question are, since the variance of a question's mean is at most
            share × (1 − share).
        n: Independent trials, at least 1.
        confidence: Between 0 and 1. On average over the shares this is the interval's coverage; at
            a single share it can be a little less.

    Returns:
        Within 0 to 1; never empty, also at 0 and n successes.

    Raises:
        ValueError: For counts or a confidence outside these ranges.
    """
    _check(successes, n)
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not at {confidence}")
    low, high = wilson_ends(successes, n, confidence).tolist()
    return Interval(low, high)


def wilson_ends(successes: Floats | float, n: Floats | float, confidence: float = 0.95) -> Floats:
    """The ends of `wilson` for many shares, on a last axis of 2; nan where either isn't known."""
    z = normal_quantile((1 + confidence) / 2)
    share = np.divide(successes, n)
    with np.errstate(invalid="ignore"):  # A confidence next to 1 has an infinite z.
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z * np.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2) / (1 + z * z / n)
    low = np.where(share == 0, 0.0, np.fmax(0.0, middle - half))
    high = np.where(share == 1, 1.0, np.fmin(1.0, middle + half))
    return np.where(np.isnan(share)[..., None], np.nan, np.stack([low, high], axis=-1))


def successes_from(value: Decimal, n: int, decimals: int, scale: int = 100) -> int | None:
    """The number of successes that is printed as this value, in decimal arithmetic.

    A tie may have been rounded up, down or to even: programs that compute with binary fractions do
    each of them.

    Args:
        value: As printed, in the metric's unit.
        n: Trials, at least 1.
        decimals: Decimals that the value was rounded to.
        scale: What a share of 1 is printed as: 100 for percent.

    Returns:
        The k from 0 to n for which k / n × scale rounds to the value; of several the nearest, of
        two as near the smaller. None where there is none, as for a value with more decimals.

    Raises:
        ValueError: Where n is below 1.
    """
    _check(0, n)
    unit = Decimal(1).scaleb(-decimals)
    if not value.is_finite() or not 0 <= value <= scale or _EXACT.remainder(value, unit):
        return None
    product = _EXACT.multiply(value, Decimal(n))
    k = int(_EXACT.divide(product, Decimal(scale)).to_integral_value(ROUND_HALF_DOWN))
    off = abs(_EXACT.subtract(Decimal(k * scale), product))
    return k if 2 * off <= _EXACT.multiply(unit, Decimal(n)) else None


def mean_wilson(successes: Floats, n: Floats) -> Floats:
    """Ends of the intervals of means of shares, each with equal weight: Wilson's at that mean.

    Its trials are the number of cells times the smallest number of trials of a cell: with these it
    is wide enough however the shares differ, since the mean of share × (1 − share) is at most what
    it is at the mean share.

    Args:
        successes, n: Of the cells of each mean, by (mean, cell); all trials are independent.

    Returns:
        By (mean, 2); nan where the counts of a cell aren't known.
    """
    if n.shape[1] == 1:
        return wilson_ends(successes[:, 0], n[:, 0])
    trials = n.shape[1] * n.min(axis=1)
    return wilson_ends(np.minimum((successes / n).mean(axis=1) * trials, trials), trials)


def _check(successes: float, n: float) -> None:
    if not n >= 1:
        raise ValueError(f"a share needs at least one trial, not {n}")
    if not 0 <= successes <= n:
        raise ValueError(f"of {n} trials 0 to {n} succeed, not {successes}")


def arrays(cells: Sequence[tuple[float, int]]) -> tuple[Floats, Floats]:
    """Successes and trials as two arrays.

    Raises:
        ValueError: For impossible counts.
    """
    for k, n in cells:
        _check(k, n)
    table = np.array(cells, dtype=np.float64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def direction(better: Better) -> int:
    """1 where higher is better, −1 where lower is.

    Raises:
        ValueError: For anything else.
    """
    if better not in ("higher", "lower"):
        raise ValueError(f'better is "higher" or "lower", not "{better}"')
    return 1 if better == "higher" else -1


# --- spreads --------------------------------------------------------------------------------------

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


def t_interval(value: float, spread: Spread) -> Interval:
    """Student's t interval of a value at 95 %: Student (1908), Biometrika 6, 1–25.

    Assumes clusters that are independent and of which the mean is about normal.

    Raises:
        ValueError: For a spread over a single cluster.
    """
    if spread.df < 1:
        raise ValueError("Student's t needs at least two clusters")
    low, high = t_ends(value, spread.stderr, spread.df).tolist()
    return Interval(low, high)


def t_ends(value: Floats | float, stderr: Floats | float, df: Floats | float) -> Floats:
    """The ends of `t_interval` for many values, on a last axis of 2.

    nan where a standard error isn't known or 0, or has less than one degree of freedom.
    """
    defined = np.where(np.greater(stderr, 0) & np.greater_equal(df, 1), stderr, np.nan)
    reach = defined * t_quantile(0.975, np.maximum(df, 1))
    return np.stack([value - reach, value + reach], axis=-1)


def share_ends(share: Floats | float, stderr: Floats | float, clusters: Floats | float) -> Floats:
    """95 % intervals of shares for other clusters of the kind: low and high on a last axis of 2.

    Student's t; where all clusters are alike, so that they show no spread, Wilson's with each
    cluster as one trial.

    Args:
        stderr: nan where it isn't known, which makes both ends nan.
        clusters: nan where their number isn't known.
    """
    by_t = t_ends(share, stderr, np.where(np.isnan(clusters), inf, clusters - 1))
    alike = wilson_ends(np.where(np.isnan(stderr), np.nan, share * clusters), clusters)
    return np.where(np.isnan(by_t), alike, by_t)


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
    return t_cdf((share2 - share1) / np.sqrt(variance), df)


def welch(first: tuple[int, int, Spread | None], second: tuple[int, int, Spread | None]) -> float:
    """Two-sided p-value of Welch's test of two shares, each of (successes, trials, spread)."""
    means = [
        [np.array([value]) for value in (k / n, *variance_of(k, n, spread))]
        for k, n, spread in (first, second)
    ]
    greater = [float(welch_greater(*first, *second)[0]) for first, second in (means, means[::-1])]
    return min(1.0, 2 * min(greater))


def design_effect(k: float, n: float, spread: Spread | None) -> float:
    """How many times the variance of independent trials a share's variance is, at least 1.

    Kish (1965), *Survey Sampling*: n divided by it is the number of independent trials with as
    much information.
    """
    if spread is None:
        return 1.0
    share = k / n
    trials = share * (1 - share) / n
    if spread.stderr and trials:
        return max(1.0, spread.stderr**2 / trials)
    # All clusters are alike: each is worth one trial.
    return max(1.0, n / spread.clusters) if spread.clusters else 1.0


# --- a value by all that is known of it ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value of a cell: a share from 0 to 1, or, where n isn't given, any mean.

    Attributes:
        n: Trials; None where they aren't known.
        stderr: Standard error of the value; None where it isn't known.
        clusters: What the standard error is taken over: number of items, or of training seeds;
            None where there is none, or it isn't known.
    """

    value: float
    n: int | None = None
    stderr: float | None = None
    clusters: int | None = None

    @classmethod
    def of_value(
        cls,
        value: float,
        n: int | None,
        stderr: float | None,
        clusters: int | None,
        scale: int | None,
    ) -> Estimate:
        """An estimate of a value with its standard error, both in the unit of a metric.

        Args:
            n: Left out where the value is no share.
            scale: What a share of 1 is in that unit; None where values are no shares.
        """
        share = value / (scale or 1)
        within = scale is not None and 0 <= share <= 1
        error = None if stderr is None else stderr / (scale or 1)
        return cls(share, n if within else None, error, clusters)


def interval_of(estimate: Estimate) -> Interval | None:
    """95 % interval of an estimate; None without trials and without a standard error.

    From trials it is Wilson's; from a standard error that of Student's t with clusters − 1 degrees
    of freedom (normal where the clusters aren't known). Where both are known it reaches as far as
    the farther of the two: a few clusters may be alike by chance, and the trials of one are.
    Without a standard error, as where all clusters are alike, each cluster counts as one trial.

    Raises:
        ValueError: For impossible counts.
    """
    value, n, clusters = estimate.value, estimate.n, estimate.clusters
    defined = [] if n is None else [wilson(value * n, n)]
    if estimate.stderr and (clusters is None or clusters > 1):
        defined.append(t_interval(value, Spread(estimate.stderr, clusters)))
    elif n is not None and clusters is not None and clusters < n:
        defined.append(wilson(value * clusters, clusters))
    if not defined:
        return None
    return Interval(min(of.low for of in defined), max(of.high for of in defined))
