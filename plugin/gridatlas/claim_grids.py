"""The grids of a claim: numbers or truths over x and y, their parts, and what sums them up.

A cell without a value is None. What sums up a grid is undecidable where one of its cells is None,
unless the cells that are there decide it, and where no cell is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Generic, Self, TypeVar

from gridatlas.claim_values import (
    COMPARISONS,
    CellNames,
    Fault,
    Number,
    Place,
    Source,
    Truth,
    calculate_numbers,
    calculate_pair,
    cell_name,
    compare_numbers,
    conjunction,
    keyword,
    negation,
    tau_b,
    total,
    unique,
)
from gridatlas.problems import listed, nearest, shown
from gridatlas.study import Factor, Point

NAMED_ABSENT_CELLS = 3

Chosen = Mapping[str, tuple[str, ...]]
"""Level keys by the name of their axis, as an expression gives them."""
V = TypeVar("V", Decimal, bool)


@dataclass(frozen=True, slots=True)
class Cells(Generic[V]):
    """A value per point: of a whole grid, of a row (no y), of a column (no x), or of a part.

    Attributes:
        x: The factor along x; None in a column.
        y: The factor along y; None in a row.
        values: Row by row; the key of an axis that isn't there is empty.
        sources: The grids behind the values, in the order of the expression.
        why: Reasons for None other than an absent cell of a source.
    """

    x: Factor | None
    y: Factor | None
    values: Mapping[Point, V | None]
    sources: tuple[Source, ...]
    why: tuple[str, ...] = ()

    @property
    def axes(self) -> dict[str, Factor]:
        """The axes by their names in expressions, x first."""
        return {keyword(one.id): one for one in (self.x, self.y) if one is not None}

    def place(self, point: Point) -> Place:
        """The cell at a point, and the cells that it was calculated with."""
        first, *others = dict.fromkeys(source.place(point) for source in self.sources)
        return replace(first, against=tuple(others))

    def gaps(self) -> tuple[str, ...]:
        """Why what needs all these cells is undecidable; empty where it isn't."""
        if not self.values:
            return ("no cell is left to tell by",)
        return self.reasons([point for point, value in self.values.items() if value is None])

    def reasons(self, points: Iterable[Point]) -> tuple[str, ...]:
        """Why these points have no value; nothing for no points."""
        places = [source.place(point) for point in points for source in self.sources]
        absent = list(dict.fromkeys(place.name for place in places if place.value is None))
        if not absent:
            return self.why if places else ()
        more = len(absent) - NAMED_ABSENT_CELLS
        rest = f"; and {more} more" if more > 0 else ""
        return (f"no value: {'; '.join(absent[:NAMED_ABSENT_CELLS])}{rest}", *self.why)

    def axis(self, name: str) -> Factor:
        """The axis that an argument names."""
        axes = self.axes
        if name not in axes:
            near = nearest(name, axes)
            message = f"{shown(name)} is no axis here"
            message += f"; did you mean {near}?" if near else ""
            raise Fault(message, f"one of {listed(axes)}", f".where({next(iter(axes))}=...)", name)
        return axes[name]

    def index(self, axis: Factor) -> int:
        """Where an axis stands in a point."""
        return 0 if axis is self.x else 1

    def chosen(self, levels: Chosen) -> Callable[[Point], bool]:
        """Whether a point lies at these levels, each of which has to be there."""
        wanted: dict[int, tuple[str, ...]] = {}
        for name, keys in levels.items():
            axis = self.axis(name)
            index = self.index(axis)
            there = list(dict.fromkeys(point[index] for point in self.values))
            for key in keys:
                if key not in there:
                    near = nearest(key, there)
                    message = f"no cell here has the {axis.id} {shown(key)}"
                    message += f"; did you mean {shown(near)}?" if near else ""
                    example = f"{name}={near or next(iter(there), '...')}"
                    raise Fault(message, f"one of {listed(there, 30)}", example, name)
            wanted[index] = keys
        return lambda point: all(point[index] in keys for index, keys in wanted.items())

    def where(self, levels: Chosen) -> Self:
        """The cells at these levels."""
        inside = self.chosen(levels)
        return replace(self, values={at: one for at, one in self.values.items() if inside(at)})

    def where_true(self, kept: Truths) -> Self:
        """The cells at which `kept` is true; those at which it is undecidable become None."""
        match(self, kept)
        values = {
            point: value if kept.values[point] else None
            for point, value in self.values.items()
            if kept.values[point] is not False
        }
        sources, why = origin(self, kept)
        return replace(self, values=values, sources=sources, why=why)

    def row(self, key: str) -> Self:
        """The cells at one level of y, over x alone."""
        return self._line(self.y, key)

    def column(self, key: str) -> Self:
        """The cells at one level of x, over y alone."""
        return self._line(self.x, key)

    def _line(self, axis: Factor | None, key: str) -> Self:
        if axis is None or len(self.axes) < 2:
            expected = "a whole grid before the dot"
            raise Fault("this is a row or a column already", expected, ".where(ratio=0.1)")
        inside = self.chosen({keyword(axis.id): (key,)})
        is_row = axis is self.y
        return replace(
            self,
            x=self.x if is_row else None,
            y=None if is_row else self.y,
            values={
                (x, "") if is_row else ("", y): value
                for (x, y), value in self.values.items()
                if inside((x, y))
            },
            sources=tuple(
                replace(source, fixed=("", key) if is_row else (key, "")) for source in self.sources
            ),
        )

    def point(self, levels: Chosen) -> Point:
        """The one point at these levels, which have to name every axis."""
        for name in levels:
            self.axis(name)
        rest = [name for name in self.axes if name not in levels]
        if rest:
            line = ".column(level)" if self.y and keyword(self.y.id) in rest else ".row(level)"
            expected = f"a level of every axis, or {line} for all cells at one level"
            example = f".at({', '.join(f'{name}=...' for name in self.axes)})"
            message = f".at(...) gives one cell, so it needs {listed(rest)} too"
            raise Fault(message, expected, example)
        inside = self.chosen(levels)
        for point in self.values:
            if inside(point):
                return point
        raise Fault(".where(...) left no cell there", "a cell that is left", ".where(...).count")


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
        why = self.gaps() if self.values else ()
        return Number(None if why else Decimal(sum(map(bool, self.values.values()))), (), why)

    @property
    def share(self) -> Number:
        """The share of the cells in which it is true, from 0 to 1."""
        why = self.gaps()
        if why:
            return Number(None, (), why)
        return calculate_numbers("/", self.count, Number(Decimal(len(self.values))))

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
                "best and worst are not clear here: these are levels, or lower is better in a grid "
                "behind them",
                ".min or .max",
                "grid(...).min < 3",
            )
        number = self.max if best == self.higher else self.min
        return Extreme(number, self._equal_to(number.value), self)

    def _equal_to(self, value: Decimal | None) -> tuple[Point, ...]:
        equal = COMPARISONS["=="]
        return tuple(
            point
            for point, one in self.values.items()
            if value is not None and one is not None and equal(one, value)
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
        return calculate_numbers("/", self._over(total), Number(Decimal(len(self.values) or 1)))

    @property
    def spread(self) -> Number:
        """The highest value minus the lowest."""
        return calculate_numbers("-", self.max, self.min)

    def _over(self, function: Callable[[Iterable[Decimal]], Decimal]) -> Number:
        why = self.gaps()
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
                message = f"the {axis.id} {shown(level.key)} is not a number"
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
        why = self.gaps()
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
        why = self.value.why
        return Number(None if why else Decimal(len(self.points)), (), why)

    @property
    def cells(self) -> CellNames:
        """The cells' names."""
        names = [cell_name((self.of.x, self.of.y), point) for point in self.points]
        return CellNames(tuple(names), self.value.why)

    def all_at(self, levels: Chosen) -> Truth:
        """Whether all of the cells lie at these levels; those that don't decide."""
        inside, outside = self._parted(levels)
        if self.value.why:
            return Truth(None, (), self.value.why)
        return Truth(not outside, outside or inside)

    def any_at(self, levels: Chosen) -> Truth:
        """Whether at least one of the cells lies at these levels."""
        inside, outside = self._parted(levels)
        if self.value.why:
            return Truth(None, (), self.value.why)
        return Truth(bool(inside), inside or outside)

    def _parted(self, levels: Chosen) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
        is_inside = self.of.chosen(levels)
        inside = tuple(self.of.place(point) for point in self.points if is_inside(point))
        outside = tuple(self.of.place(point) for point in self.points if not is_inside(point))
        return inside, outside


# --- cell by cell -------------------------------------------------------------------------------


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
    return Numbers(grid.x, grid.y, values, sources, why, higher)


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
    return Truths(grid.x, grid.y, values, sources, why)


def _frame(left: Numbers | Number, right: Numbers | Number) -> Numbers:
    """The one that is a grid; the left of two, once it is known that their cells match."""
    if isinstance(left, Numbers) and isinstance(right, Numbers):
        match(left, right)
    grid = left if isinstance(left, Numbers) else right
    assert isinstance(grid, Numbers)
    return grid


def _at(value: Numbers | Number, point: Point) -> Decimal | None:
    return value.value if isinstance(value, Number) else value.values[point]


def origin(*sides: Cells[Any] | Number) -> tuple[tuple[Source, ...], tuple[str, ...]]:
    """The sources of all sides, and their reasons other than absent cells."""
    sources = [source for side in sides if isinstance(side, Cells) for source in side.sources]
    return tuple(dict.fromkeys(sources)), unique(*(side.why for side in sides))


def match(left: Cells[Any], right: Cells[Any]) -> None:
    """See that two grids have the same cells.

    Raises:
        Fault: Saying which axes or levels differ.
    """
    if list(left.axes) != list(right.axes):
        here, there = (" × ".join(side.axes) for side in (left, right))
        message = f"the axes differ: {here} on the left, {there} on the right"
        expected = "two grids, two rows or two columns over the same axes"
        raise Fault(message, expected, "grid(...).row(500) > grid(...).row(1000)")
    if left.values.keys() == right.values.keys():
        return
    expected = "the same cells on both sides; .where(...) leaves cells out"
    for name, axis in left.axes.items():
        index = left.index(axis)
        here_keys, there_keys = ({point[index] for point in side.values} for side in (left, right))
        for side, keys in (("left", here_keys - there_keys), ("right", there_keys - here_keys)):
            if keys:
                message = f"only the {side} has the {name} {listed(sorted(keys))}"
                raise Fault(message, expected, f".where({name}=[...])")
    message = "the left and the right were narrowed to different cells"
    raise Fault(message, expected, "grid(...).where(...) > grid(...).where(...)")
