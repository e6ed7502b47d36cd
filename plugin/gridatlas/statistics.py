"""How far the counts of a grid can be trusted: intervals, tests, and what they assume.

Shares and their intervals are proportions from 0 to 1 unless said otherwise. A cell's counts are
(successes, trials). Trials count as independent of one another unless said otherwise. Where every
cell asks the same questions the counts vary less between cells than that, so the tests call too
little a difference rather than too much; about other questions of the kind they say nothing.

`gridatlas.best` has the confidence set for the best cell, `gridatlas.defaults` the settings that
are good over several benchmarks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_DOWN, Context, Decimal
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

Counts = tuple[int, int]
"""(successes, trials) of a cell."""
Better = Literal["higher", "lower"]
Floats = NDArray[np.float64]

_EXACT = Context(prec=60)
"""Enough digits that a product of a printed value and a number of trials is exact."""


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` to `high`, both included."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ChiSquared:
    """A χ² statistic with its degrees of freedom and the p-value of its upper tail."""

    chi2: float
    df: int
    p: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """A difference of two shares (−1 to 1), its interval, and the two-sided p-value of equality."""

    value: float
    interval: Interval
    p: float


# --- one cell -----------------------------------------------------------------------------------


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
    z = float(special.ndtri((1 + confidence) / 2))
    share = successes / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2) / (1 + z * z / n)
    return Interval(
        0.0 if successes == 0 else max(0.0, middle - half),
        1.0 if successes == n else min(1.0, middle + half),
    )


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


def mean_stderr(parts: Sequence[Counts]) -> float:
    """Standard error of the mean of shares, each with equal weight: √Σ p(1 − p)/n, over the count.

    Args:
        parts: Counts of the parts of an aggregate, at least one. The parts are independent:
            different benchmarks, not the same questions twice.

    Returns:
        As a proportion. A part without a success, or without a failure, adds nothing to it, so
        that it is too small there.

    Raises:
        ValueError: For no parts, or impossible counts.
    """
    if not parts:
        raise ValueError("a mean needs at least one part")
    k, n = arrays(parts)
    share = k / n
    return float(np.sqrt(np.sum(share * (1 - share) / n)) / len(parts))


# --- whether anything differs at all ------------------------------------------------------------


def homogeneity(cells: Sequence[Counts | None]) -> ChiSquared | None:
    """Pearson's χ² test that all cells have the same share (Pearson 1900), as if independent.

    Args:
        cells: Counts per cell, in any order; those without are left out. The p-value is an
            approximation for cells that expect five successes and five failures or more.

    Returns:
        On (cells with data − 1) degrees of freedom; χ² = 0 where all or none succeed; None below
        two cells with data.

    Raises:
        ValueError: For impossible counts.
    """
    k, n = arrays([cell for cell in cells if cell is not None])
    if len(k) < 2:
        return None
    share = k.sum() / n.sum()
    variance = share * (1 - share)
    chi2 = float(np.sum((k - n * share) ** 2 / n) / variance) if variance > 0 else 0.0
    return _chi_squared(chi2, len(k) - 1)


def main_effect(rows: Sequence[Sequence[Counts | None]]) -> ChiSquared | None:
    """χ² test that the levels of an axis have the same share, summed over the other axis.

    Args:
        rows: One row per level of the axis; in it one cell per level of the other axis. A level
            without any data is left out; then each level of the other axis at which a cell is
            missing, so that the sums are over the same cells.

    Returns:
        On (levels − 1) degrees of freedom, as in `homogeneity`; None where fewer than two levels
        can be compared.

    Raises:
        ValueError: For impossible counts, or rows of unequal length.
    """
    there = [row for row in rows if any(cell is not None for cell in row)]
    if len({len(row) for row in rows}) > 1:
        raise ValueError("the rows of a grid are of equal length")
    columns = [column for column in zip(*there, strict=True) if None not in column]
    levels = zip(*columns, strict=True)
    return homogeneity([(sum(k for k, _ in row), sum(n for _, n in row)) for row in levels])


def total(tests: Iterable[ChiSquared]) -> ChiSquared:
    """Independent χ² tests as one: the sums of the statistics and of the degrees of freedom."""
    tests = list(tests)
    return _chi_squared(sum(one.chi2 for one in tests), sum(one.df for one in tests))


def _chi_squared(chi2: float, df: int) -> ChiSquared:
    return ChiSquared(chi2, df, float(special.chdtrc(df, chi2)) if df else 1.0)


# --- two cells that were chosen beforehand ------------------------------------------------------


def difference(k1: int, n1: int, k2: int, n2: int, confidence: float = 0.95) -> Comparison:
    """First share minus second: hybrid score interval, and Fisher's exact test, two-sided.

    The interval is method 10 of Newcombe (1998), Statistics in Medicine 17, 873–890. Its coverage
    is near the confidence, the test's level is never exceeded: at the border the interval may leave
    out 0 where p is still above 1 − confidence.

    Args:
        k1: Successes of the first, from 0 to n1.
        n1: Trials of the first, at least 1.
        k2: Successes of the second, from 0 to n2.
        n2: Trials of the second, at least 1.
        confidence: Between 0 and 1.

    Raises:
        ValueError: For counts or a confidence outside these ranges.
    """
    first, second = wilson(k1, n1, confidence), wilson(k2, n2, confidence)
    share1, share2 = k1 / n1, k2 / n2
    value = share1 - share2
    below = sqrt((share1 - first.low) ** 2 + (second.high - share2) ** 2)
    above = sqrt((first.high - share1) ** 2 + (share2 - second.low) ** 2)
    test = stats.fisher_exact([[k1, n1 - k1], [k2, n2 - k2]])
    return Comparison(value, Interval(value - below, value + above), float(test.pvalue))


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """P-values adjusted for their number: Holm (1979), Scandinavian Journal of Statistics 6, 65–70.

    Valid for any dependence, in a family fixed before the data were seen: deltas to a baseline,
    model against model. Not for comparisons with the observed best, see `best_set`.

    Args:
        ps: From 0 to 1, in any order.

    Returns:
        In the same order, from 0 to 1: one at most alpha is significant with the probability of
        any error in the family at most alpha.

    Raises:
        ValueError: For a p-value outside 0 to 1.
    """
    for p in ps:
        if not 0 <= p <= 1:
            raise ValueError(f"a p-value lies from 0 to 1, not at {p}")
    adjusted = [0.0] * len(ps)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = largest
    return tuple(adjusted)


# --- checks -------------------------------------------------------------------------------------


def _check(successes: float, n: int) -> None:
    if not n >= 1:
        raise ValueError(f"a share needs at least one trial, not {n}")
    if not 0 <= successes <= n:
        raise ValueError(f"of {n} trials 0 to {n} succeed, not {successes}")


def arrays(cells: Sequence[Counts]) -> tuple[Floats, Floats]:
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
