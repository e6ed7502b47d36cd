"""The grids of a claim, numbers or truths over x and y: calculated cell by cell, and summed up.

What sums up a grid is undecidable where one of its cells is None, unless the cells that are there
decide it or absent cells are left out, and where no cell is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal

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
from gridatlas.model.study import Point, cell_name


@dataclass(frozen=True, slots=True)
class Truths(Cells[bool]):
    """True, false or None per point."""

    @property
    def all(self) -> Truth:
        """Whether it is true in every cell; the cells where it is false decide."""
        false = tuple(self.place(at) for at, value in self.values.items() if value is False)
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
        why = self.missing() if self.values else ()
        return Number(None if why else Decimal(sum(map(bool, self.values.values()))), (), why)

    @property
    def share(self) -> Number:
        """The share of the cells in which it is true, from 0 to 1."""
        why = self.gaps(summed=True)
        if why:
            return Number(None, (), why)
        values = [value for value in self.values.values() if value is not None]
        return calculate_numbers("/", Number(Decimal(sum(values))), Number(Decimal(len(values))))

    def at(self, levels: Chosen) -> Truth:
        """The truth in one cell."""
        point = self.point(levels)
        value = self.values[point]
        if value is None:
            return Truth(None, (), self.reasons([point]))
        return Truth(value, (self.place(point),))

    def negated(self) -> Truths:
        """True where this is false."""
        return replace(self, values={at: negation(value) for at, value in self.values.items()})

    def joined(self, other: Truths) -> Truths:
        """True where both are."""
        match(self, other)
        values = {at: conjunction(value, other.values[at]) for at, value in self.values.items()}
        sources, why = origin(self, other)
        return replace(self, values=values, sources=sources, why=why)


@dataclass(frozen=True, slots=True)
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
        number = self.max if best == self.higher else self.min
        return Extreme(number, self._equal_to(number.value), self)

    def _equal_to(self, value: Decimal | None) -> tuple[Point, ...]:
        equal = COMPARISONS["=="]
        return tuple(
            point
            for point, other in self.values.items()
            if value is not None and other is not None and equal(other, value)
        )

    @property
    def max(self) -> Number:
        """The highest value, and the cells that have it."""
        number = self._over(max)
        return replace(number, places=tuple(map(self.place, self._equal_to(number.value))))

    @property
    def min(self) -> Number:
        """The lowest value, and the cells that have it."""
        number = self._over(min)
        return replace(number, places=tuple(map(self.place, self._equal_to(number.value))))

    @property
    def mean(self) -> Number:
        """The arithmetic mean of the cells."""
        number = sum(value is not None for value in self.values.values())
        return calculate_numbers("/", self._over(total), Number(Decimal(number or 1)))

    @property
    def spread(self) -> Number:
        """The highest value minus the lowest."""
        return calculate_numbers("-", self.max, self.min)

    def _over(self, function: Callable[[Iterable[Decimal]], Decimal]) -> Number:
        why = self.gaps(summed=True)
        if why:
            return Number(None, (), why)
        return Number(function(value for value in self.values.values() if value is not None))

    def at(self, levels: Chosen) -> Number:
        """The number in one cell."""
        point = self.point(levels)
        value = self.values[point]
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
        values = {point: axis.level(point[self.index(axis)]).number for point in self.values}
        return replace(self, values=values, higher=None)

    def trend(self, name: str) -> Number:
        """Kendall's τ-b between the levels of an axis and the values, over all cells.

        Levels are ordered by their numbers where all of them are numbers, else as listed.
        """
        axis = self.axis(name)
        numbers = [level.number for level in axis.levels]
        order = {
            level.key: Decimal(place) if number is None or None in numbers else number
            for place, (level, number) in enumerate(zip(axis.levels, numbers, strict=True))
        }
        why = self.gaps(summed=True)
        if why:
            return Number(None, (), why)
        tau = tau_b(
            (order[point[self.index(axis)]], value)
            for point, value in self.values.items()
            if value is not None
        )
        if tau is None:
            return Number(None, (), (f"all cells have the same value or the same {axis.id}",))
        return Number(tau)


@dataclass(frozen=True, slots=True)
class Extreme:
    """The best (worst) value, and all cells that have it."""

    value: Number
    points: tuple[Point, ...]
    of: Numbers

    @property
    def count(self) -> Number:
        """How many cells tie for it."""
        why = self.value.why or self.of.missing()
        return Number(None if why else Decimal(len(self.points)), (), why)

    @property
    def cells(self) -> CellNames:
        """The cells' names."""
        names = [cell_name((self.of.x, self.of.y), point) for point in self.points]
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
        is_inside = self.of.chosen(levels)
        for side in (True, False):
            values = {at: value for at, value in self.of.values.items() if is_inside(at) is side}
            if values and all(value is None for value in values.values()):
                return replace(self.of, values=values).missing()
        return ()

    def _parted(self, levels: Chosen) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
        is_inside = self.of.chosen(levels)
        inside = tuple(self.of.place(point) for point in self.points if is_inside(point))
        outside = tuple(self.of.place(point) for point in self.points if not is_inside(point))
        return inside, outside


def calculate(operator: str, left: Numbers | Number, right: Numbers | Number) -> Numbers | Number:
    """`left + right` and the like, cell by cell where one of them is a grid.

    Raises:
        Fault: For grids whose cells differ, a division by zero, and a result that is too large.
    """
    if isinstance(left, Number) and isinstance(right, Number):
        return calculate_numbers(operator, left, right)
    grid = _frame(left, right)

    def cell(point: Point) -> Decimal | None:
        def places() -> tuple[Place, ...]:
            return (right.place(point),) if isinstance(right, Numbers) else right.places[:1]

        return calculate_pair(operator, _at(left, point), _at(right, point), places)

    values = {point: cell(point) for point in grid.values}
    sources, why = origin(left, right)
    higher = all(source.higher for source in sources) or None
    whole = _whole(left, right)
    return Numbers(grid.x, grid.y, values, sources, why, grid.absent, whole, higher)


def compare(operator: str, left: Numbers | Number, right: Numbers | Number) -> Truths | Truth:
    """`left < right` and the like, cell by cell where one of them is a grid.

    Raises:
        Fault: For grids whose cells differ.
    """
    if isinstance(left, Number) and isinstance(right, Number):
        return compare_numbers(operator, left, right)
    grid = _frame(left, right)
    values: dict[Point, bool | None] = {}
    for point in grid.values:
        first, second = _at(left, point), _at(right, point)
        values[point] = (
            None if first is None or second is None else COMPARISONS[operator](first, second)
        )
    sources, why = origin(left, right)
    return Truths(grid.x, grid.y, values, sources, why, grid.absent, _whole(left, right))


def _frame(left: Numbers | Number, right: Numbers | Number) -> Numbers:
    """The one that is a grid; the left of two, once it is known that their cells match."""
    if isinstance(left, Numbers) and isinstance(right, Numbers):
        match(left, right)
    grid = left if isinstance(left, Numbers) else right
    assert isinstance(grid, Numbers)
    return grid


def _whole(*sides: Numbers | Number) -> bool:
    return all(side.whole for side in sides if isinstance(side, Numbers))


def _at(value: Numbers | Number, point: Point) -> Decimal | None:
    return value.value if isinstance(value, Number) else value.values[point]
