"""Cells in their context, one by one and as a table: the best ones, intervals, reruns.

This is the one place that says which cells of a grid are the best. It computes no statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gridatlas.assessment.reruns import CellRerun, Rerun
from gridatlas.assessment.uncertainty import CellUncertainty, Ends, GridUncertainty
from gridatlas.model.study import Cell, Factor, Level, Levels, Point, Reading, Study
from gridatlas.table.grids import readings_at
from gridatlas.table.items import trials
from gridatlas.table.study_table import Grid
from gridatlas.table.summary import summarise

if TYPE_CHECKING:
    import pandas as pd

_WHOLE = ("n", "successes")
_REAL = ("value", "stderr", "spread", "interval_low", "interval_high")
_TEXT = ("state", "reading", "place", "note", "run")


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
        """The points with the best value, ties included; empty without any value or direction."""
        summary = summarise(self.grid) if self.grid.study.metric.better else None
        return frozenset((x.key, y.key) for x, y in summary.best) if summary else frozenset()

    @cached_property
    def best_undisputed(self) -> frozenset[Point]:
        """The points with the best undisputed value; empty unless the best value is disputed."""
        summary = summarise(self.grid) if self.grid.study.metric.better else None
        if summary is None or not summary.best_disputed or summary.best_undisputed is None:
            return frozenset()
        return frozenset((x.key, y.key) for x, y in summary.best_undisputed.at)

    @cached_property
    def best_set(self) -> frozenset[Point]:
        """The points in the 95 % confidence set for the best; empty where that isn't tested."""
        return frozenset(point for point, cell in self.intervals.items() if cell.in_best_set)

    @property
    def intervals(self) -> Mapping[Point, CellUncertainty]:
        """The 95 % intervals that are known."""
        return self.uncertainty.cells

    @property
    def ranges(self) -> Mapping[Point, Ends]:
        """Lowest and highest of repeats that are too few for an interval."""
        return self.uncertainty.ranges

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


# --- as a table ---------------------------------------------------------------------------------


def columns(study: Study, grids: Iterable[GridCells]) -> dict[str, list[Any]]:
    """The cells of grids as columns by their names; what isn't known is None.

    A level is a number where all levels of its factor are; else it is the level's id.
    """
    factors = (*study.facets, *study.varied)
    keys = [_keys(factor) for factor in factors]
    found: dict[str, list[Any]] = {
        name: []
        for name in (
            *(factor.id for factor in factors),
            *("value", "state", "n", "successes", "stderr"),
            *(("spread",) if study.spread else ()),
            *("interval_low", "interval_high", "may_be_best", "reading", "place", "note", "run"),
        )
    }
    for view in (view for cells in grids for view in cells.views()):
        cell, interval = view.cell, view.interval
        row = [
            *(of[key] for of, key in zip(keys, (*view.levels, *view.point), strict=False)),
            *(None if cell.value is None else float(cell.value), cell.state),
            *(view.n, cell.successes),
            None if cell.stderr is None else float(cell.stderr),
            *(_spread(cell) if study.spread else ()),
            *((interval.low, interval.high) if interval else (None, None)),
            *(view.in_best_set, cell.reading, cell.place, cell.note, cell.run),
        ]
        for column, entry in zip(found.values(), row, strict=True):
            column.append(entry)
    return found


def _spread(cell: Cell) -> tuple[float | None]:
    return (None if cell.spread is None else float(cell.spread),)


def _keys(factor: Factor) -> Mapping[str, str | int | float]:
    numbers = [level.number for level in factor.levels]
    given = [number for number in numbers if number is not None]
    if len(given) < len(numbers):
        return {level.key: level.key for level in factor.levels}
    whole = all(number == number.to_integral_value() for number in given)
    kind: type[int] | type[float] = int if whole else float
    return {level.key: kind(level.number or 0) for level in factor.levels}


def require_pandas() -> None:
    """Import pandas, which only data frames need.

    Raises:
        ImportError: Without it; the message names the extra.
    """
    try:
        import_module("pandas")
    except ImportError as error:
        raise ImportError(
            'data frames need pandas: pip install "/path/to/grid-atlas[pandas]"'
        ) from error


def to_frame(table: Mapping[str, list[Any]]) -> pd.DataFrame:
    """Columns as a table of pandas: numbers are numbers, what isn't known is NaN or <NA>.

    Raises:
        ImportError: Without pandas, which the extra of this name brings.
    """
    require_pandas()
    import pandas as pd

    series: dict[str, Any] = {}
    for name, entries in table.items():
        if name in _REAL:
            series[name] = pd.Series(entries, dtype="float64")
        elif name in _WHOLE:
            series[name] = pd.Series(entries, dtype="Int64")
        elif name == "may_be_best":
            series[name] = pd.Series(entries, dtype="boolean")
        elif name in _TEXT:
            series[name] = pd.Series(entries, dtype="str")
        else:
            series[name] = pd.Series(entries)
    return pd.DataFrame(series)
