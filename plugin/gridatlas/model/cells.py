"""The cells of a reading: in the order of its rows, by their places, and grid by grid."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, Sequence, ValuesView
from functools import cached_property
from itertools import repeat
from typing import TypeVar

from gridatlas.model.categorical import Categorical, combine

Cell = TypeVar("Cell")
Absent = TypeVar("Absent")
Levels = tuple[str, ...]
At = tuple[Levels, tuple[str, str]]
"""Where a cell is: the level keys of the facets, and those of x and y."""


class Cells(Mapping[At, Cell]):
    """Cells by their places, in the order of their rows.

    The places are kept as codes: a million of them, and a dict by them, take more memory than the
    cells. The dict is made once a cell is looked up.
    """

    def __init__(
        self,
        facets: Sequence[Categorical],
        x: Categorical,
        y: Categorical,
        cells: Sequence[Cell],
    ) -> None:
        self._facets, self._x, self._y, self._cells = facets, x, y, cells

    @classmethod
    def of(cls, cells: Mapping[At, Cell]) -> Cells[Cell]:
        """Cells by their places."""
        facets = [*map(Categorical.of, zip(*(levels for levels, _ in cells), strict=True))]
        x, y = (Categorical.of(point[axis] for _, point in cells) for axis in (0, 1))
        return cls(facets, x, y, [*cells.values()])

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[At]:
        facets = self._facets
        levels = zip(*facets, strict=True) if facets else repeat((), len(self))
        return zip(levels, zip(self._x, self._y, strict=True), strict=True)

    def __getitem__(self, at: At) -> Cell:
        return self._by_place[at]

    def __contains__(self, at: object) -> bool:
        return at in self._by_place

    def items(self) -> ItemsView[At, Cell]:
        """Each place with its cell."""
        return _Items(self)

    def values(self) -> ValuesView[Cell]:
        """The cells."""
        return _Values(self)

    @cached_property
    def _by_place(self) -> Mapping[At, Cell]:
        return dict(zip(self, self._cells, strict=True))

    @cached_property
    def _grids(self) -> tuple[Sequence[int], Sequence[Levels]]:
        """The code of each cell's grid, and the grids."""
        if self._facets:
            return combine(self._facets)
        return [0] * len(self), [()] * bool(self)

    @property
    def grids(self) -> Sequence[Levels]:
        """The facet levels at which there are cells, in the order in which they first stand."""
        return self._grids[1]

    def by_grid(
        self, xs: Sequence[str], ys: Sequence[str], absent: Absent
    ) -> dict[Levels, list[list[Cell | Absent]]]:
        """The cells of each grid: a row per level of y, and in it a cell per level of x.

        Args:
            xs: The level keys of x, those of all cells among them; so are `ys` of y.
            absent: Stands where there is no cell.
        """
        width = len(xs)
        grids: list[list[Cell | Absent]] = [[absent] * (width * len(ys)) for _ in self._grids[1]]
        column_of = {key: place for place, key in enumerate(xs)}
        start_of = {key: width * place for place, key in enumerate(ys)}
        columns = [*map(column_of.__getitem__, self._x.categories)]
        starts = [*map(start_of.__getitem__, self._y.categories)]
        codes = zip(self._grids[0], self._x.codes, self._y.codes, self._cells, strict=True)
        for grid, column, row, cell in codes:
            grids[grid][starts[row] + columns[column]] = cell
        return {
            levels: [cells[start : start + width] for start in range(0, len(cells), width)]
            for levels, cells in zip(self._grids[1], grids, strict=True)
        }


class _Items(ItemsView[At, Cell]):
    _mapping: Cells[Cell]

    def __iter__(self) -> Iterator[tuple[At, Cell]]:
        return zip(self._mapping, self._mapping.values(), strict=True)


class _Values(ValuesView[Cell]):
    _mapping: Cells[Cell]

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._mapping._cells)
