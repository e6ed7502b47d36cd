"""Cells in their context: which are the best, which may be, their intervals and reruns.

This is the one place that says which cells of a grid are the best. It computes no statistics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from gridatlas.assessment.reruns import CellRerun, Rerun
from gridatlas.assessment.uncertainty import (
    CellUncertainty,
    Ends,
    GridUncertainty,
    by_point,
    ranges_by_point,
)
from gridatlas.model.study import Cell, Grid, Level, Levels, Point, Reading
from gridatlas.results.grids import readings_at, summarise, trials


@dataclass(frozen=True, slots=True, eq=False)
class CellView:
    """One cell of a shown grid, with all that is known of it.

    Attributes:
        x, y: Its levels on the axes; those of the facets are in `levels`.
        cell: The value that is shown, with its state and origin.
    """

    grid_cells: GridCells
    x: Level
    y: Level
    cell: Cell

    @property
    def grid(self) -> Grid:
        """The grid that it is of."""
        return self.grid_cells.grid

    @property
    def is_best(self) -> bool:
        """Whether it has the best value of the grid; ties all have it."""
        return self.point in self.grid_cells.best

    @property
    def is_best_undisputed(self) -> bool:
        """Whether it has the best undisputed value, where the best is disputed; else False."""
        return self.point in self.grid_cells.best_undisputed

    @property
    def in_best_set(self) -> bool | None:
        """Whether it is in the 95 % confidence set for the best; None where that isn't tested."""
        return self.interval.in_best_set if self.interval else None

    @property
    def interval(self) -> CellUncertainty | None:
        """95 %, in the metric's unit; None where it isn't known."""
        return self.grid_cells.intervals.get(self.point)

    @property
    def range(self) -> Ends | None:
        """Lowest and highest of repeats that are too few for an interval, in the metric's unit."""
        return self.grid_cells.ranges.get(self.point)

    @property
    def rerun(self) -> CellRerun | None:
        """The same cell measured again; None where it neither is nor is to be."""
        rerun = self.grid_cells.rerun
        return rerun.cells.get(self.point) if rerun else None

    @property
    def levels(self) -> Levels:
        """The level keys of the facets, in the order of the study's."""
        return self.grid.levels

    @property
    def point(self) -> Point:
        """The level keys of x and y."""
        return self.x.key, self.y.key

    @property
    def n(self) -> int | None:
        """Trials behind the value; None where unknown."""
        return trials(self.grid, self.cell)

    @property
    def ends(self) -> Ends | None:
        """The ends of the interval, else of the range, in the metric's unit."""
        return (self.interval.low, self.interval.high) if self.interval else self.range

    @property
    def readings(self) -> tuple[tuple[Reading, Cell], ...]:
        """What each reading that has the cell gives for it, in the order of the readings."""
        return readings_at(self.grid, self.point)


@dataclass(frozen=True, eq=False)
class GridCells(Mapping[Point, CellView]):
    """The cells of a grid by the level keys of x and y, row by row; each is made when asked for.

    Attributes:
        uncertainty: Intervals and tests; without, no interval is known and nothing is tested.
        rerun: The grid measured again; None where it isn't.
    """

    grid: Grid
    uncertainty: GridUncertainty = GridUncertainty()  # noqa: RUF009 (it is frozen)
    rerun: Rerun | None = None

    @cached_property
    def best(self) -> frozenset[Point]:
        """The points with the best value, ties included; empty without any value."""
        summary = summarise(self.grid)
        return frozenset((x.key, y.key) for x, y in summary.best) if summary else frozenset()

    @cached_property
    def best_undisputed(self) -> frozenset[Point]:
        """The points with the best undisputed value; empty unless the best value is disputed."""
        summary = summarise(self.grid)
        if summary is None or not summary.best_disputed or summary.best_undisputed is None:
            return frozenset()
        return frozenset((x.key, y.key) for x, y in summary.best_undisputed.at)

    @cached_property
    def best_set(self) -> frozenset[Point]:
        """The points in the 95 % confidence set for the best; empty where that isn't tested."""
        return frozenset(point for point, cell in self.intervals.items() if cell.in_best_set)

    @cached_property
    def intervals(self) -> Mapping[Point, CellUncertainty]:
        """The 95 % intervals that are known."""
        return by_point(self.grid, self.uncertainty)

    @cached_property
    def ranges(self) -> Mapping[Point, Ends]:
        """Lowest and highest of repeats that are too few for an interval."""
        return ranges_by_point(self.grid, self.uncertainty)

    def __getitem__(self, point: Point) -> CellView:
        x, y = point
        study = self.grid.study
        return CellView(self, study.x.level(x), study.y.level(y), self.grid.cell(x, y))

    def __iter__(self) -> Iterator[Point]:
        return ((x.key, y.key) for x, y, _ in self.grid.points())

    def views(self) -> Iterator[CellView]:
        """The same as `values()`, without looking each cell up."""
        return (CellView(self, x, y, cell) for x, y, cell in self.grid.points())

    def __len__(self) -> int:
        return len(self.grid.study.x.levels) * len(self.grid.study.y.levels)
