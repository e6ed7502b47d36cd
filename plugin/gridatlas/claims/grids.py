"""The grids of a claim, numbers or truths over x and y: calculated cell by cell, and summed up.

What sums up a grid is undecidable where one of its cells is None, unless the cells that are there
decide it or absent cells are left out, and where no cell is left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import cast

import numpy as np

from gridatlas.claims.parts import Cells, Chosen, match, origin
from gridatlas.claims.values import (
    COMPARISONS,
    CellNames,
    Fault,
    Number,
    Place,
    Truth,
    calculate_numbers,
    calculate_pair,
    compare_numbers,
    conjunction,
    negation,
    tau_b,
    total,
)
from gridatlas.model.problems import quote
from gridatlas.model.study import cell_name
from gridatlas.table.coded import Bools, Coded, Codes, combine


@dataclass(frozen=True, slots=True, eq=False)
class Truths(Cells[bool]):
    """True, false or None per point."""

    @property
    def all(self) -> Truth:
        """Whether it is true in every cell; the cells where it is false decide."""
        false = self.places(self.values.are(lambda value: value is False))
        if false:
            return Truth(False, false)
        why = self.gaps()
        return Truth(None if why else True, (), why)

    @property
    def any(self) -> Truth:
        """Whether it is true in some cell; the cells where it is true decide."""
        return self.negated().all.negated()

    @property
    def count(self) -> Number:
        """The number of cells in which it is true; 0 of no cells."""
        why = self.missing() if len(self.values) else ()
        return Number(None if why else Decimal(int(self.values.are(bool).sum())), (), why)

    @property
    def share(self) -> Number:
        """The share of the cells in which it is true, from 0 to 1."""
        why = self.gaps(summed=True)
        if why:
            return Number(None, (), why)
        true, defined = int(self.values.are(bool).sum()), int(self.defined.sum())
        return calculate_numbers("/", Number(Decimal(true)), Number(Decimal(defined)))

    def at(self, levels: Chosen) -> Truth:
        """The truth in one cell."""
        point, value = self.cell(levels)
        if value is None:
            return Truth(None, (), self.reasons([point]))
        return Truth(value, (self.place(point),))

    def negated(self) -> Truths:
        """True where this is false."""
        return replace(self, values=self.values.map(negation))

    def joined(self, other: Truths) -> Truths:
        """True where both are."""
        values = self.values.pair(match(self, other), conjunction)
        sources, why = origin(self, other)
        return replace(self, values=values, sources=sources, why=why)


@dataclass(frozen=True, slots=True, eq=False)
class Numbers(Cells[Decimal]):
    """A number or None per point; `higher` is whether higher is better, None where unclear."""

    higher: bool | None = None

    @property
    def best(self) -> Extreme:
        """The best cells, as the metric says."""
        return self._extreme(best=True)

    @property
    def worst(self) -> Extreme:
        """The worst cells, as the metric says."""
        return self._extreme(best=False)

    def _extreme(self, best: bool) -> Extreme:
        if self.higher is None:
            raise Fault(
                "best and worst are not clear here: these are levels, or a grid behind them lacks "
                "better: higher",
                ".min or .max",
                "grid(...).min < 3",
            )
        number, cells = self._end(highest=best == self.higher)
        return Extreme(number, cells, self)

    def _end(self, highest: bool) -> tuple[Number, Bools]:
        """The highest or the lowest value, as it is printed first, and which cells have it."""
        none = np.zeros(len(self.rows), np.bool_)
        why = self.gaps(summed=True)
        if why:
            return Number(None, (), why), none
        kinds = {*self.values.codes.tolist()}
        values = [value for code in kinds if (value := self.values.kinds[code]) is not None]
        end = (max if highest else min)(values)
        equal = COMPARISONS["=="]
        cells = self.values.are(lambda value: value is not None and equal(value, end))
        first = next(value for value in self.values[cells] if value == end)
        return Number(first, self.places(cells)), cells

    @property
    def max(self) -> Number:
        """The highest value, and the cells that have it."""
        return self._end(highest=True)[0]

    @property
    def min(self) -> Number:
        """The lowest value, and the cells that have it."""
        return self._end(highest=False)[0]

    @property
    def mean(self) -> Number:
        """The arithmetic mean of the cells."""
        why = self.gaps(summed=True)
        if why:
            return Number(None, (), why)
        defined = self.defined
        values = cast(Coded[Decimal], self.values[defined])
        return calculate_numbers(
            "/", Number(total(values)), Number(Decimal(int(defined.sum()) or 1))
        )

    @property
    def spread(self) -> Number:
        """The highest value minus the lowest."""
        return calculate_numbers("-", self.max, self.min)

    def at(self, levels: Chosen) -> Number:
        """The number in one cell."""
        point, value = self.cell(levels)
        if value is None:
            return Number(None, (), self.reasons([point]))
        return Number(value, (self.place(point),))

    def levels(self, name: str) -> Numbers:
        """In each cell the number of its level on an axis."""
        axis = self.axis(name)
        for level in axis.levels:
            if level.number is None:
                message = f"the {axis.id} {quote(level.key)} is not a number"
                expected = "an axis whose levels are numbers"
                raise Fault(message, expected, '.levels("ratio") > 0.2', name)
        values = Coded(self.places_on(axis), [level.number for level in axis.levels])
        return replace(self, values=values, higher=None)

    def trend(self, name: str) -> Number:
        """Kendall's τ-b between the levels of an axis and the values, over all cells.

        Levels are ordered by their numbers where all of them are numbers, else as listed.
        """
        axis = self.axis(name)
        numbers = [level.number for level in axis.levels]
        order = [
            Decimal(place) if number is None or None in numbers else number
            for place, number in enumerate(numbers)
        ]
        why = self.gaps(summed=True)
        if why:
            return Number(None, (), why)
        tau = tau_b(
            (order[place], value)
            for place, value in zip(self.places_on(axis).tolist(), self.values, strict=True)
            if value is not None
        )
        if tau is None:
            return Number(None, (), (f"all cells have the same value or the same {axis.id}",))
        return Number(tau)


@dataclass(frozen=True, slots=True, eq=False)
class Extreme:
    """The best (worst) value, and all cells that have it."""

    value: Number
    ties: Bools
    of: Numbers

    @property
    def count(self) -> Number:
        """How many cells tie for it."""
        why = self.value.why or self.of.missing()
        return Number(None if why else Decimal(int(self.ties.sum())), (), why)

    @property
    def cells(self) -> CellNames:
        """The cells' names."""
        points = self.of.points_at(np.flatnonzero(self.ties))
        names = [cell_name((self.of.x, self.of.y), point) for point in points]
        return CellNames(tuple(names), self.value.why)

    def all_at(self, levels: Chosen) -> Truth:
        """Whether all of the cells lie at these levels; those that don't decide."""
        inside, outside = self._parted(levels)
        why = self.value.why or self._untold(levels)
        if why:
            return Truth(None, (), why)
        return Truth(not outside, outside or inside)

    def any_at(self, levels: Chosen) -> Truth:
        """Whether at least one of the cells lies at these levels."""
        inside, outside = self._parted(levels)
        why = self.value.why or self._untold(levels)
        if why:
            return Truth(None, (), why)
        return Truth(bool(inside), inside or outside)

    def _untold(self, levels: Chosen) -> tuple[str, ...]:
        """Why these levels can't be compared with the others: one of the two has no value."""
        inside, defined = self.of.chosen(levels), self.of.defined
        for side in (inside, ~inside):
            if side.any() and not defined[side].any():
                return self.of.narrowed(side).missing()
        return ()

    def _parted(self, levels: Chosen) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
        inside = self.of.chosen(levels)
        return self.of.places(self.ties & inside), self.of.places(self.ties & ~inside)


def calculate(operator: str, left: Numbers | Number, right: Numbers | Number) -> Numbers | Number:
    """`left + right` and the like, cell by cell where one of them is a grid.

    Raises:
        Fault: For grids whose cells differ, a division by zero, and a result that is too large.
    """
    if isinstance(left, Number) and isinstance(right, Number):
        return calculate_numbers(operator, left, right)
    grid, codes, pairs = _paired(left, right)
    found: list[Decimal | None] = []
    for code, pair in enumerate(pairs):

        def places(code: int = code) -> tuple[Place, ...]:
            point = grid.points_at(np.flatnonzero(codes == code)[:1])[0]
            return (right.place(point),) if isinstance(right, Numbers) else right.places[:1]

        found.append(calculate_pair(operator, *pair, places))
    sources, why = origin(left, right)
    higher = all(source.higher for source in sources) or None
    whole = _whole(left, right)
    values = Coded(codes, found)
    return Numbers(grid.x, grid.y, grid.rows, values, sources, why, grid.absent, whole, higher)


def compare(operator: str, left: Numbers | Number, right: Numbers | Number) -> Truths | Truth:
    """`left < right` and the like, cell by cell where one of them is a grid.

    Raises:
        Fault: For grids whose cells differ.
    """
    if isinstance(left, Number) and isinstance(right, Number):
        return compare_numbers(operator, left, right)
    grid, codes, pairs = _paired(left, right)
    holds = COMPARISONS[operator]
    values = Coded(
        codes,
        [
            None if first is None or second is None else holds(first, second)
            for first, second in pairs
        ],
    )
    sources, why = origin(left, right)
    return Truths(grid.x, grid.y, grid.rows, values, sources, why, grid.absent, _whole(left, right))


def _paired(
    left: Numbers | Number, right: Numbers | Number
) -> tuple[Numbers, Codes, list[tuple[Decimal | None, Decimal | None]]]:
    """The one that is a grid, of each cell the code of its two numbers, and these as they stand."""
    if isinstance(left, Numbers) and isinstance(right, Numbers):
        return left, *combine([left.values, match(left, right)])
    if isinstance(left, Numbers):
        codes, alone = combine([left.values])
        assert isinstance(right, Number)
        return left, codes, [(*number, right.value) for number in alone]
    assert isinstance(right, Numbers)
    codes, alone = combine([right.values])
    return right, codes, [(left.value, *number) for number in alone]


def _whole(*sides: Numbers | Number) -> bool:
    return all(side.whole for side in sides if isinstance(side, Numbers))
