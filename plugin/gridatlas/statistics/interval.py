"""An interval, that of a mean of parts, and whether two values agree or differ by theirs.

Needs no SciPy: verdicts are made in every build, from intervals that are cached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from typing import Literal


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` to `high`, both included."""

    low: float
    high: float


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
