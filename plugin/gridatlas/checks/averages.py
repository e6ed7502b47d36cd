"""How the averages of a reading were computed, and the few that don't fit in.

An average may lie off the mean of its printed parts by what rounding took from them. Two things
narrow that. Where the trials behind the parts are known, so are the parts before rounding. And
where averages of a reading are always rounded alike when the mean of their printed parts ends in
a half, they were computed from these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from gridatlas.checks.words import CHANCE, half_unit
from gridatlas.model.format import places_of
from gridatlas.model.study import Levels, Point

FEWEST = 10
"""Averages that a way of computing them has to be seen in."""
NEARLY_ALL = Fraction(9, 10)
"""Share of the averages that it has to fit; the others may be mistaken."""
_EXACT_STEPS = 1_000_000

FROM_SHARES = "the mean of the shares of trials behind their parts, rounded"
FROM_PRINTED = "within half a printed unit of the mean of their printed parts"
FROM_EITHER = "the mean of their parts, as printed or before rounding, rounded once"


@dataclass(frozen=True, slots=True)
class Part:
    """A printed part of an average, with its trials and successes where they are known."""

    value: Decimal
    trials: int | None = None
    successes: int | None = None

    def interval(self, scale: int | None) -> tuple[Fraction, Fraction]:
        """What it may be before rounding: the shares of its trials that are printed so.

        A share may have been rounded to one more decimal first, so that 45.1515 is printed as 45.1.
        """
        half, middle = Fraction(half_unit(self.value)), Fraction(self.value)
        if self.trials is not None and scale is not None:
            room = half + half / 10
            least = max(0, math.ceil((middle - room) * self.trials / scale))
            most = min(self.trials, math.floor((middle + room) * self.trials / scale))
            if self.successes is not None and least <= self.successes <= most:
                least = most = self.successes
            if least <= most:
                return Fraction(scale * least, self.trials), Fraction(scale * most, self.trials)
        return middle - half, middle + half


@dataclass(frozen=True, slots=True)
class Average:
    """One printed average with its parts.

    Attributes:
        printed_mean: The mean of the printed parts.
        low, high: What the mean of the parts before rounding may be: the ends of the interval.
        shares: Whether that is known from trials of every part.
    """

    levels: Levels
    point: Point
    value: Decimal
    printed_mean: Fraction
    low: Fraction
    high: Fraction
    shares: bool

    @property
    def half(self) -> Fraction:
        """Half a unit of the average's last decimal."""
        return Fraction(half_unit(self.value))

    def is_from_shares(self, value: Decimal) -> bool:
        """Whether the mean of the parts before rounding may be printed as this value."""
        room = self.half + self.half / 10
        return self.low - room <= Fraction(value) <= self.high + room

    def is_from_printed(self, value: Decimal) -> bool:
        """Whether the mean of the printed parts may be printed so, with a half up or down."""
        return abs(Fraction(value) - self.printed_mean) <= self.half

    def roundings(self) -> tuple[Decimal, ...]:
        """The mean of the printed parts as an average: two values where it ends in a half."""
        places = places_of(self.value)
        whole, rest = divmod(self.printed_mean * 10**places, 1)
        ends = {whole + (rest > Fraction(1, 2)), whole + (rest >= Fraction(1, 2))}
        # Not by scaleb, which keeps 28 digits.
        return tuple(Decimal(f"{end}e{-places}") for end in sorted(ends))


def average_of(
    levels: Levels, point: Point, value: Decimal, parts: Sequence[Part], scale: int | None
) -> Average:
    """An average with what its parts may be; `scale` is what a share of 1 is printed as."""
    intervals = [part.interval(scale) for part in parts]
    number = len(parts)
    return Average(
        levels,
        point,
        value,
        sum((Fraction(part.value) for part in parts), Fraction(0)) / number,
        sum((low for low, _ in intervals), Fraction(0)) / number,
        sum((high for _, high in intervals), Fraction(0)) / number,
        scale is not None and all(part.trials is not None for part in parts),
    )


@dataclass(frozen=True, slots=True)
class Outliers:
    """The averages that don't fit the way in which nearly all others were computed.

    Attributes:
        way: What the fitting averages are, in words.
        fitting, tested: How many averages fit, and all.
        chance: That so many fit if averages were computed in another way; None where they fit
            either of two ways.
        averages: Those that don't fit.
    """

    way: str
    fitting: int
    tested: int
    chance: Fraction | None
    averages: tuple[Average, ...]


def outliers(averages: Sequence[Average]) -> Outliers | None:
    """The averages that stand out, or None where nothing is known of how they were computed.

    A way of computing them counts where it fits nearly all, and where averages that were computed
    in another way would fit it so well in fewer than 1 of 100 readings.
    """
    if len(averages) < FEWEST:
        return None
    shares = all(average.shares for average in averages)
    found = []
    if shares:
        chance = _chance_by_printed(averages)
        found.append(_apart(averages, FROM_SHARES, Average.is_from_shares, chance))
    chance = min(_chance_by_unrounded(averages, half) for half in _HALVES)
    chance = min(Fraction(1), len(_HALVES) * chance)
    found.append(_apart(averages, FROM_PRINTED, Average.is_from_printed, chance))
    likely = [
        check for check in found if check and check.chance is not None and check.chance < CHANCE
    ]
    if likely:
        return max(likely, key=lambda check: check.fitting)
    return _apart(averages, FROM_EITHER, _is_from_either, None) if shares else None


def _is_from_either(average: Average, value: Decimal) -> bool:
    return average.is_from_shares(value) or average.is_from_printed(value)


def _apart(
    averages: Sequence[Average],
    way: str,
    fits: Callable[[Average, Decimal], bool],
    chance: Fraction | None,
) -> Outliers | None:
    """The averages that don't fit, if nearly all others do."""
    misfits = tuple(average for average in averages if not fits(average, average.value))
    fitting = len(averages) - len(misfits)
    if fitting < NEARLY_ALL * len(averages):
        return None
    return Outliers(way, fitting, len(averages), chance, misfits)


# --- chances ------------------------------------------------------------------------------------


def _chance_by_printed(averages: Sequence[Average]) -> Fraction:
    """Chance that so many fit the shares of trials if they were computed from printed parts.

    A half then goes up or down with the same chance.
    """
    chances, misfits = [], 0
    for average in averages:
        given = average.roundings()
        unfit = sum(not average.is_from_shares(value) for value in given)
        if unfit:
            chances.append(_unless_mistaken(unfit / len(given)))
            misfits += not average.is_from_shares(average.value)
    return _chance_of_at_most(misfits, chances)


def _chance_by_unrounded(
    averages: Sequence[Average], half: Callable[[tuple[Decimal, ...]], Decimal]
) -> Fraction:
    """Chance that halves are so often rounded alike if averages were computed from unrounded parts.

    The mean of these then is above or below the half with the same chance; where trials say which,
    an average that is rounded to another value speaks for itself.

    Args:
        half: Which of two values a half is rounded to.
    """
    chances, misfits = [], 0
    for average in averages:
        given = average.roundings()
        if len(given) == 1:
            continue
        if average.shares:
            possible = [value for value in given if average.is_from_shares(value)]
            chance = float(half(given) not in possible) if len(possible) == 1 else 0.0
        else:
            chance = 0.5
        if chance:
            chances.append(_unless_mistaken(chance))
            misfits += average.value != half(given)
    return _chance_of_at_most(misfits, chances)


def _unless_mistaken(chance: float) -> float:
    """What is certain of an average, if one in ten may be mistaken."""
    return min(chance, float(NEARLY_ALL))


def _even(values: tuple[Decimal, ...]) -> Decimal:
    return next(value for value in values if value.as_tuple().digits[-1] % 2 == 0)


_HALVES: tuple[Callable[[tuple[Decimal, ...]], Decimal], ...] = (min, max, _even)
"""Halves go down, up, or to the even digit."""


def _chance_of_at_most(number: int, chances: Sequence[float]) -> Fraction:
    """Chance that at most so many of independent events happen, or a bound of it from above."""
    if len(chances) <= number:
        return Fraction(1)
    if len(chances) * (number + 1) > _EXACT_STEPS:
        expected = math.fsum(chances)
        if expected <= number:
            return Fraction(1)
        return Fraction(math.exp(-((expected - number) ** 2) / (2 * expected)))  # Chernoff
    ways = [1.0] + [0.0] * number
    for chance in chances:
        for so_far in range(number, 0, -1):
            ways[so_far] = ways[so_far] * (1 - chance) + ways[so_far - 1] * chance
        ways[0] *= 1 - chance
    return Fraction(min(1.0, math.fsum(ways)))
