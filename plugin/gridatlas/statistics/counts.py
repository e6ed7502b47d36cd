"""What one cell's counts tell: its share's interval, the count behind a printed value."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_DOWN, Context, Decimal
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

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


def mean_wilson(cells: Sequence[tuple[float, int]]) -> Interval:
    """Interval of the mean of shares, each with equal weight: Wilson's at that mean.

    Its trials are the number of cells times the smallest number of trials of a cell: with these it
    is wide enough however the shares differ, since the mean of share × (1 − share) is at most what
    it is at the mean share.

    Args:
        cells: At least one; all trials are independent.

    Raises:
        ValueError: For no cells, or impossible counts.
    """
    if not cells:
        raise ValueError("a mean needs at least one cell")
    k, n = arrays(cells)
    trials = len(cells) * int(n.min())
    return wilson(min(float(np.mean(k / n)) * trials, trials), trials)


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
