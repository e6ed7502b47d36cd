"""The mean difference of two levels over the cells that both have: its interval and its p-value.

Which function serves depends on what repeats the measurement: seeds, items, trials or runs. A
narrower one says less: trials speak for the same questions only. Values are in any one unit;
shares go from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Literal

import numpy as np
from scipy import special

from gridatlas.statistics.differences import combined
from gridatlas.statistics.estimates import (
    FEWEST,
    Counts,
    Floats,
    arrays,
    mean_spread,
    t_interval,
    wilson,
)
from gridatlas.statistics.interval import Interval, mean_interval
from gridatlas.statistics.paired import paired_p

IntervalAt = Callable[[float], Interval]
"""A difference's interval at a confidence between 0 and 1."""
_HALVINGS = 60
"""Steps in which the p-value of an interval is found: to 1e-18."""


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """The mean of the first level minus that of the second.

    Attributes:
        value: In the unit of the values.
        interval: At 95 %.
        p: Two-sided p-value of no difference.
        test: Its name.
    """

    value: float
    interval: Interval
    p: float
    test: str


def by_seeds(differences: Sequence[float]) -> MeanDifference:
    """Student's t over the differences of the seeds, for other seeds.

    Args:
        differences: One per seed, each the mean over the cells that both levels have.

    Raises:
        ValueError: Below three seeds.
    """
    if len(differences) < FEWEST:
        raise ValueError(f"Student's t takes at least {FEWEST} seeds, not {len(differences)}")
    value, spread = float(np.mean(differences)), mean_spread(differences)
    if not spread.stderr:
        p = 0.0 if value else 1.0
    else:
        p = 2 * float(special.stdtr(spread.df, -abs(value) / spread.stderr))
    return MeanDifference(value, t_interval(value, spread), p, "t test over seeds")


def by_sign_flips(
    first: Sequence[float], second: Sequence[float], over: Literal["items", "cells"]
) -> MeanDifference:
    """Sign flips, with Student's t interval: for other items of the kind, or for these runs.

    Args:
        first: Of the first level the mean outcome per item over its cells, or the value per cell,
            each of which is a run of its own.
        second: As `first`, of the second level and the same items or cells.
    """
    differences = np.subtract(first, second)
    value = float(differences.mean())
    interval = t_interval(value, mean_spread(differences.tolist()))
    test = paired_p(first, second)
    return MeanDifference(value, interval, test.p, f"{test.test} over {over}")


def by_items_of_cells(
    cells: Sequence[tuple[Sequence[float], Sequence[float]]], weights: Sequence[float]
) -> MeanDifference:
    """As `by_sign_flips`, where each cell, or each group of cells, has items of its own.

    The signs flip by item within its cell, each item with the weight that it has in the mean; the
    interval is from the standard errors of the cells' differences over their items.

    Args:
        cells: Per cell the outcomes per item of the first level, and of the second.
        weights: Of the cells in the mean.
    """
    shares = np.asarray(weights, float) / np.sum(weights)
    means, errors, weighted = [], [], []
    for share, (first, second) in zip(shares, cells, strict=True):
        difference = np.subtract(first, second)
        means.append(share * float(difference.mean()))
        errors.append(share * mean_spread(difference.tolist()).stderr)
        weighted.append(share * difference / len(difference))
    value = float(sum(means))
    reach = float(special.ndtri(0.975)) * hypot(*errors)
    # In units of the item that weighs most, shares stay shares, which are tested exactly.
    largest = max(
        share / len(difference) for share, difference in zip(shares, weighted, strict=True)
    )
    flat = np.concatenate(weighted) / largest
    test = paired_p(flat.tolist(), np.zeros(len(flat)).tolist())
    interval = Interval(value - reach, value + reach)
    return MeanDifference(value, interval, test.p, f"{test.test} over the items of each cell")


def counts_interval(
    first: Sequence[Counts], second: Sequence[Counts], trials: int | None = None
) -> tuple[float, IntervalAt]:
    """The difference of two mean shares, and its interval: Newcombe's at the two means.

    Newcombe (1998), Statistics in Medicine 17, 873–890, method 10. Its trials are the number of
    cells times the smallest number of a cell.

    Args:
        first: (successes, trials) per cell of the first level.
        second: As `first`, of the second level and the same cells.
        trials: What the difference counts as trials instead, such as the items behind all cells.
    """
    mean1, n1 = _mean(first)
    mean2, n2 = _mean(second)

    def at(confidence: float) -> Interval:
        trials1, trials2 = trials or n1, trials or n2
        return combined(
            mean1,
            wilson(mean1 * trials1, trials1, confidence),
            mean2,
            wilson(mean2 * trials2, trials2, confidence),
        )

    return mean1 - mean2, at


def over_benchmarks(parts: Sequence[tuple[float, IntervalAt]]) -> tuple[float, IntervalAt]:
    """The mean of the differences on several benchmarks, as `mean_interval` has it."""
    value = float(np.mean([part for part, _ in parts]))

    def at(confidence: float) -> Interval:
        intervals = [(part, interval_at(confidence)) for part, interval_at in parts]
        return mean_interval(value, intervals, independent=True)

    return value, at


def with_p(difference: tuple[float, IntervalAt], test: str) -> MeanDifference:
    """A difference with its 95 % interval, and the p-value that inverts the interval.

    p is 1 less the largest confidence at which the interval leaves out 0.
    """
    value, at = difference
    return MeanDifference(value, at(0.95), _inverted(value, at), test)


def _inverted(value: float, at: IntervalAt) -> float:
    if not value:
        return 1.0
    low, high = 0.0, 40.0  # confidences as quantiles of the normal distribution
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        confidence = 1 - 2 * float(special.ndtr(-middle))
        interval = at(min(max(confidence, 1e-12), 1 - 1e-16))
        if interval.low <= 0 <= interval.high:
            high = middle
        else:
            low = middle
    return 2 * float(special.ndtr(-high))


def _mean(cells: Sequence[Counts]) -> tuple[float, int]:
    k, n = arrays(cells)
    shares: Floats = k / n
    return float(shares.mean()), len(cells) * int(n.min())
