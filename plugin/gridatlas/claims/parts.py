"""What grids of numbers and of truths have in common: their cells, and the parts to take of them.

A cell without a value is None.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Generic, Literal, Self, TypeVar

import numpy as np

from gridatlas.claims.values import Fault, Number, Place, Source, unique
from gridatlas.model.lookup import UnknownName, no_such, one_cell
from gridatlas.model.problems import join_names, quote
from gridatlas.model.study import Factor, Point, keys_by_name, keyword
from gridatlas.table.coded import Bools, Coded, Rows

NAMED_ABSENT_CELLS = 3
NONE_LEFT = ("no cell is left to tell by",)

Absent = Literal["needed", "needed in parts", "left out"]
"""What a cell without a value does to what sums up a grid: `needed` makes it undecidable, and
`left out` is nothing to it. `needed in parts` leaves it out of whole grids, but a number that sums
up a part needs the cell: two parts could lack different cells, and wouldn't compare.
"""

Chosen = Mapping[str, tuple[str, ...]]
"""Level keys by the name of their axis, as an expression gives them."""
V = TypeVar("V", Decimal, bool)


@dataclass(frozen=True, slots=True, eq=False)
class Cells(Generic[V]):
    """A value per point: of a whole grid, of a row (no y), of a column (no x), or of a part.

    Attributes:
        x: The factor along x; None in a column.
        y: The factor along y; None in a row.
        rows: The places of its cells in the grid of both axes, row by row.
        values: Of each of these.
        sources: The grids behind the values, in the order of the expression.
        why: Reasons for None other than an absent cell of a source.
        absent: What a cell without a value does.
        whole: Whether it is a whole grid, not a part of one.
    """

    x: Factor | None
    y: Factor | None
    rows: Rows
    values: Coded[V | None]
    sources: tuple[Source, ...]
    why: tuple[str, ...] = ()
    absent: Absent = "needed"
    whole: bool = True

    @property
    def axes(self) -> dict[str, Factor]:
        """The axes by their names in expressions, x first."""
        return {keyword(axis.id): axis for axis in (self.x, self.y) if axis is not None}

    @property
    def points(self) -> list[Point]:
        """The level keys of x and y of each cell; empty for an axis that isn't there."""
        return self.points_at(np.arange(len(self.rows)))

    def points_at(self, cells: Rows) -> list[Point]:
        """The level keys of some of its cells."""
        xs, ys = _keys(self.x), _keys(self.y)
        places = zip(self._places(0)[cells].tolist(), self._places(1)[cells].tolist(), strict=True)
        return [(xs[x], ys[y]) for x, y in places]

    def places_on(self, axis: Factor) -> Rows:
        """The place of each cell's level on one of its axes."""
        return self._places(self.index(axis))

    def _places(self, index: int) -> Rows:
        """Where each cell lies on x (0) or on y."""
        across = len(_keys(self.x))
        return self.rows // across if index else self.rows % across

    @property
    def defined(self) -> Bools:
        """For each cell whether it has a value."""
        return self.values.are(lambda value: value is not None)

    def places(self, cells: Bools) -> tuple[Place, ...]:
        """Some of its cells."""
        return tuple(map(self.place, self.points_at(np.flatnonzero(cells))))

    def place(self, point: Point) -> Place:
        """The cell at a point, and the cells that it was calculated with."""
        first, *others = dict.fromkeys(source.place(point) for source in self.sources)
        return replace(first, against=tuple(others))

    def gaps(self, summed: bool = False) -> tuple[str, ...]:
        """Why what sums up these cells is undecidable; empty where it isn't.

        Args:
            summed: Whether one number is made of all of them, such as their mean.
        """
        strict = self.absent == "needed"
        strict |= self.absent == "needed in parts" and summed and not self.whole
        if strict or not self.defined.any():
            return self.missing()
        return ()

    def missing(self) -> tuple[str, ...]:
        """Why what needs all these cells, whatever `absent` says, is undecidable."""
        defined = self.defined
        if len(defined) and defined.all():
            return ()
        return self.reasons(self.points_at(np.flatnonzero(~defined))) or NONE_LEFT

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
            error = no_such(f"{quote(name)} is no axis here", name, axes, name)
            raise Fault(error.message, error.expected, f".where({next(iter(axes))}=...)", name)
        return axes[name]

    def index(self, axis: Factor) -> int:
        """The index of an axis in a point."""
        return 0 if axis is self.x else 1

    def chosen(self, levels: Chosen) -> Bools:
        """Which cells lie at these levels, each of which has to be there."""
        inside = np.ones(len(self.rows), np.bool_)
        for name, keys in levels.items():
            axis = self.axis(name)
            places = self._places(self.index(axis))
            every = _keys(axis)
            keys_here = [every[place] for place in dict.fromkeys(places.tolist())]
            for key in keys:
                if key not in keys_here:
                    message = f"no cell here has the {axis.id} {quote(key)}"
                    error = no_such(message, key, keys_here, name, in_quotes=True)
                    example = f"{name}={error.near or next(iter(keys_here), '...')}"
                    raise Fault(error.message, error.expected, example, name)
            inside &= np.isin(places, [axis.place(key) for key in keys])
        return inside

    def narrowed(self, inside: Bools) -> Self:
        """Some of its cells."""
        return replace(self, rows=self.rows[inside], values=self.values[inside], whole=False)

    def where(self, levels: Chosen) -> Self:
        """The cells at these levels."""
        return self.narrowed(self.chosen(levels))

    def where_true(self, truths: Cells[bool]) -> Self:
        """The cells at which `truths` is true; those at which it is undecidable become None."""
        worded = match(self, truths)
        values = self.values.pair(worded, lambda value, truth: value if truth else None)
        sources, why = origin(self, truths)
        whole = replace(self, values=values, sources=sources, why=why)
        return whole.narrowed(worded.are(lambda truth: truth is not False))

    def row(self, key: str) -> Self:
        """The cells at one level of y, over x alone."""
        return self._line(self.y, key)

    def column(self, key: str) -> Self:
        """The cells at one level of x, over y alone."""
        return self._line(self.x, key)

    def _line(self, axis: Factor | None, key: str) -> Self:
        if axis is None or len(self.axes) < 2:
            if axis is None and self.whole:
                expected = "a study with two axes"
                raise Fault("this study has one axis", expected, ".at(ratio=0.1)")
            expected = "a whole grid before the dot"
            raise Fault("this is a row or a column already", expected, ".where(ratio=0.1)")
        inside = self.chosen({keyword(axis.id): (key,)})
        is_row = axis is self.y
        return replace(
            self,
            x=self.x if is_row else None,
            y=None if is_row else self.y,
            rows=self._places(0 if is_row else 1)[inside],
            values=self.values[inside],
            sources=tuple(
                replace(source, fixed=("", key) if is_row else (key, "")) for source in self.sources
            ),
            whole=False,
        )

    def cell(self, levels: Chosen) -> tuple[Point, V | None]:
        """The one cell at these levels, which have to name every axis: its point, its value."""
        try:
            one_cell(
                keys_by_name(self.axes.values()), {name: key for name, (key,) in levels.items()}
            )
        except UnknownName as error:
            expected, example = error.expected, f".at({', '.join(f'{n}=...' for n in self.axes)})"
            if not error.argument:
                expected += ", or .row(level) or .column(level) for all cells at one level"
            raise Fault(error.message, expected, example, error.argument) from None
        for cell in np.flatnonzero(self.chosen(levels)):
            return self.points_at(np.array([cell]))[0], self.values[cell]
        raise Fault(".where(...) left no cell there", "a cell that is left", ".where(...).count")


def origin(*sides: Cells[Any] | Number) -> tuple[tuple[Source, ...], tuple[str, ...]]:
    """The sources of all sides, and their reasons other than absent cells."""
    sources = [source for side in sides if isinstance(side, Cells) for source in side.sources]
    return tuple(dict.fromkeys(sources)), unique(*(side.why for side in sides))


def _keys(axis: Factor | None) -> list[str]:
    """The level keys along an axis; one empty key where there is none."""
    return [*axis.keys] if axis is not None else [""]


def match(left: Cells[Any], right: Cells[V]) -> Coded[V | None]:
    """The values of a grid at the cells of another, which has to have the same ones.

    Raises:
        Fault: Saying which axes or levels differ.
    """
    if list(left.axes) != list(right.axes):
        on_left, on_right = (" × ".join(side.axes) for side in (left, right))
        message = f"the axes differ: {on_left} on the left, {on_right} on the right"
        expected = "two grids, two rows or two columns over the same axes"
        raise Fault(message, expected, "grid(...).row(500) > grid(...).row(1000)")
    alike = _keys(left.x) == _keys(right.x) and _keys(left.y) == _keys(right.y)
    if alike and np.array_equal(left.rows, right.rows):
        return right.values
    points: list[Point] = left.points
    cell_of: dict[Point, int] = {point: cell for cell, point in enumerate(right.points)}
    if cell_of.keys() == {*points}:
        return right.values[[*map(cell_of.__getitem__, points)]]
    expected = "the same cells on both sides; .where(...) leaves cells out"
    for name, axis in left.axes.items():
        index = left.index(axis)
        here_keys, there_keys = ({point[index] for point in side.points} for side in (left, right))
        for side, keys in (("left", here_keys - there_keys), ("right", there_keys - here_keys)):
            if keys:
                message = f"only the {side} has the {name} {join_names(sorted(keys))}"
                raise Fault(message, expected, f".where({name}=[...])")
    message = "the left and the right were narrowed to different cells"
    raise Fault(message, expected, "grid(...).where(...) > grid(...).where(...)")
