"""An interval, that of a mean of parts, and whether two values agree or differ by theirs.

Needs no SciPy: verdicts are made in every build, from intervals that are cached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` to `high`, both included."""

    low: float
    high: float


def mean_interval(
    value: float, parts: Sequence[tuple[float, Interval]], *, independent: bool
) -> Interval:
    """`mean_ends` of one mean, from the value of each part and its interval."""
    values = np.array([[part for part, _ in parts]])
    ends = np.array([[(interval.low, interval.high) for _, interval in parts]])
    [(low, high)] = mean_ends(np.array([value]), values, ends, independent=independent).tolist()
    return Interval(low, high)


def mean_ends(value: Floats, parts: Floats, ends: Floats, *, independent: bool) -> Floats:
    """The ends of the intervals of means of parts, each with equal weight, from those of the parts.

    The squares of the distances from each part to its ends add up: Zou & Donner (2008), Statistics
    in Medicine 27, 1693–1702 (MOVER). Parts that aren't independent of one another, or not known to
    be, may all be off in the same direction: then the distances themselves add up.

    Args:
        value: The means.
        parts: The values of the parts, by (mean, part); at least one.
        ends: Of the interval of each, by (mean, part, 2).
        independent: Whether the parts are, as parts asked different items.

    Returns:
        By (mean, 2); nan where the interval of a part isn't known.
    """
    total = (lambda line: hypot(*line)) if independent else sum
    below, above = (
        np.array([total(line) for line in distances.tolist()]) / parts.shape[1]
        for distances in (parts - ends[..., 0], ends[..., 1] - parts)
    )
    return np.stack([value - below, value + above], axis=-1)


Agreement = Literal["agrees", "differs", "too few to tell"]

ROOM = 1e-9
"""Differences of the ends of an interval from its bounds that only rounding makes."""


def verdict(difference: Interval, margin: float | None) -> Agreement:
    """Whether two values agree.

    They agree where the whole interval lies within the margin, so that a difference larger than the
    margin is excluded: few trials can't give that. They differ where the interval excludes 0 and
    doesn't lie within the margin. All else is too few trials to tell.

    Args:
        difference: Its interval, in the margin's unit.
        margin: Largest difference that doesn't matter; without one nothing agrees.

    Raises:
        ValueError: For a margin that isn't above 0, or an interval whose ends are the wrong way.
    """
    if margin is not None and not margin > 0:
        raise ValueError(f"a margin is above 0, not {margin}")
    if not difference.low <= difference.high:
        raise ValueError(f"an interval from {difference.low} to {difference.high}")
    if margin is not None and max(-difference.low, difference.high) <= margin + ROOM:
        return "agrees"
    if difference.low > ROOM or difference.high < -ROOM:
        return "differs"
    return "too few to tell"
