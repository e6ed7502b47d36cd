"""The means of a grid's rows and columns, with intervals where the trials are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from gridatlas.study import Grid, Level
from gridatlas.uncertainty import Ends, GridUncertainty

POOLED = (
    "Wilson's for all trials of the cells together, taken as independent; too wide rather than too "
    "narrow where the cells differ"
)
"""How the interval of a mean over cells of trials is computed, for readers of a download."""
FROM_PARTS = "normal approximation from the standard errors of the cells, taken as independent"
"""The same for an aggregate."""


@dataclass(frozen=True, slots=True)
class LevelMean:
    """The mean over the cells at one level of an axis, in the metric's unit.

    Attributes:
        cells: Number of cells that have a value; the others are left out.
        mean: None where no cell has a value.
        interval: 95 %; None where it isn't known.
    """

    level: Level
    cells: int
    mean: float | None = None
    interval: Ends | None = None


@dataclass(frozen=True, slots=True)
class Profiles:
    """One mean per level of x, and one per level of y.

    Attributes:
        method: How their intervals are computed; empty where there are none.
    """

    x: tuple[LevelMean, ...]
    y: tuple[LevelMean, ...]
    method: str = ""


def profiles(grid: Grid, known: GridUncertainty) -> Profiles:
    """The means along both axes of a grid."""
    columns: dict[str, list[Decimal]] = {}
    rows: dict[str, list[Decimal]] = {}
    for x, y, cell in grid.points():
        if cell.value is not None:
            columns.setdefault(x.key, []).append(cell.value)
            rows.setdefault(y.key, []).append(cell.value)
    method = FROM_PARTS if grid.aggregate else POOLED
    return Profiles(
        _means(grid.study.x.levels, columns, known.x_means),
        _means(grid.study.y.levels, rows, known.y_means),
        method if known.x_means or known.y_means else "",
    )


def _means(
    levels: Sequence[Level],
    values: Mapping[str, Sequence[Decimal]],
    intervals: Mapping[str, Ends],
) -> tuple[LevelMean, ...]:
    means = []
    for place, level in enumerate(levels):
        of = values.get(level.key, ())
        mean = float(sum(of, Decimal(0)) / len(of)) if of else None
        means.append(LevelMean(level, len(of), mean, intervals.get(str(place))))
    return tuple(means)
