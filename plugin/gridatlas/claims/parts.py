"""What grids of numbers and of truths have in common: their cells, and the parts to take of them.

A cell without a value is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Generic, Literal, Self, TypeVar

from gridatlas.claims.values import Fault, Number, Place, Source, unique
from gridatlas.model.lookup import UnknownName, no_such, one_cell
from gridatlas.model.problems import join_names, quote
from gridatlas.model.study import Factor, Point, keys_by_name, keyword

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


@dataclass(frozen=True, slots=True)
class Cells(Generic[V]):
    """A value per point: of a whole grid, of a row (no y), of a column (no x), or of a part.

    Attributes:
        x: The factor along x; None in a column.
        y: The factor along y; None in a row.
        values: Row by row; the key of an axis that isn't there is empty.
        sources: The grids behind the values, in the order of the expression.
        why: Reasons for None other than an absent cell of a source.
        absent: What a cell without a value does.
        whole: Whether it is a whole grid, not a part of one.
    """

    x: Factor | None
    y: Factor | None
    values: Mapping[Point, V | None]
    sources: tuple[Source, ...]
    why: tuple[str, ...] = ()
    absent: Absent = "needed"
    whole: bool = True

    @property
    def axes(self) -> dict[str, Factor]:
        """The axes by their names in expressions, x first."""
        return {keyword(axis.id): axis for axis in (self.x, self.y) if axis is not None}

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
        if strict or all(value is None for value in self.values.values()):
            return self.missing()
        return ()

    def missing(self) -> tuple[str, ...]:
        """Why what needs all these cells, whatever `absent` says, is undecidable."""
        without = [point for point, value in self.values.items() if value is None]
        if self.values and not without:
            return ()
        return self.reasons(without) or NONE_LEFT

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

    def chosen(self, levels: Chosen) -> Callable[[Point], bool]:
        """Whether a point lies at these levels, each of which has to be there."""
        wanted: dict[int, tuple[str, ...]] = {}
        for name, keys in levels.items():
            axis = self.axis(name)
            index = self.index(axis)
            keys_here = list(dict.fromkeys(point[index] for point in self.values))
            for key in keys:
                if key not in keys_here:
                    message = f"no cell here has the {axis.id} {quote(key)}"
                    error = no_such(message, key, keys_here, name, in_quotes=True)
                    example = f"{name}={error.near or next(iter(keys_here), '...')}"
                    raise Fault(error.message, error.expected, example, name)
            wanted[index] = keys
        return lambda point: all(point[index] in keys for index, keys in wanted.items())

    def where(self, levels: Chosen) -> Self:
        """The cells at these levels."""
        inside = self.chosen(levels)
        values = {at: value for at, value in self.values.items() if inside(at)}
        return replace(self, values=values, whole=False)

    def where_true(self, truths: Cells[bool]) -> Self:
        """The cells at which `truths` is true; those at which it is undecidable become None."""
        match(self, truths)
        values = {
            point: value if truths.values[point] else None
            for point, value in self.values.items()
            if truths.values[point] is not False
        }
        sources, why = origin(self, truths)
        return replace(self, values=values, sources=sources, why=why, whole=False)

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
            values={
                (x, "") if is_row else ("", y): value
                for (x, y), value in self.values.items()
                if inside((x, y))
            },
            sources=tuple(
                replace(source, fixed=("", key) if is_row else (key, "")) for source in self.sources
            ),
            whole=False,
        )

    def point(self, levels: Chosen) -> Point:
        """The one point at these levels, which have to name every axis."""
        try:
            one_cell(
                keys_by_name(self.axes.values()), {name: key for name, (key,) in levels.items()}
            )
        except UnknownName as error:
            expected, example = error.expected, f".at({', '.join(f'{n}=...' for n in self.axes)})"
            if not error.argument:
                expected += ", or .row(level) or .column(level) for all cells at one level"
            raise Fault(error.message, expected, example, error.argument) from None
        inside = self.chosen(levels)
        for point in self.values:
            if inside(point):
                return point
        raise Fault(".where(...) left no cell there", "a cell that is left", ".where(...).count")


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
        on_left, on_right = (" × ".join(side.axes) for side in (left, right))
        message = f"the axes differ: {on_left} on the left, {on_right} on the right"
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
                message = f"only the {side} has the {name} {join_names(sorted(keys))}"
                raise Fault(message, expected, f".where({name}=[...])")
    message = "the left and the right were narrowed to different cells"
    raise Fault(message, expected, "grid(...).where(...) > grid(...).where(...)")
