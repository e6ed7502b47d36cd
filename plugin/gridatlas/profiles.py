"""The means of a grid's rows and columns, with intervals where those of its cells are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import sqrt

from gridatlas.study import Grid, Level
from gridatlas.uncertainty import CellUncertainty, GridUncertainty, by_point

METHOD = (
    "from those of the cells by the method of variance estimates recovery (MOVER), all trials "
    "taken as independent"
)
"""How the interval of a mean is computed, for readers of a download."""


@dataclass(frozen=True, slots=True)
class LevelMean:
    """The mean over the cells at one level of an axis, in the metric's unit.

    Attributes:
        cells: Number of cells that have a value; the others are left out.
        mean: None where no cell has a value.
        interval: 95 %, low and high; None where the interval of one of these cells is unknown.
    """

    level: Level
    cells: int
    mean: float | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Profiles:
    """One mean per level of x, and one per level of y."""

    x: tuple[LevelMean, ...]
    y: tuple[LevelMean, ...]


def profiles(grid: Grid, known: GridUncertainty) -> Profiles:
    """The means along both axes of a grid."""
    intervals = by_point(grid, known)
    columns: dict[str, list[tuple[Decimal, CellUncertainty | None]]] = {}
    rows: dict[str, list[tuple[Decimal, CellUncertainty | None]]] = {}
    for x, y, cell in grid.points():
        if cell.value is not None:
            one = (cell.value, intervals.get((x.key, y.key)))
            columns.setdefault(x.key, []).append(one)
            rows.setdefault(y.key, []).append(one)
    return Profiles(
        tuple(_level_mean(level, columns.get(level.key, [])) for level in grid.study.x.levels),
        tuple(_level_mean(level, rows.get(level.key, [])) for level in grid.study.y.levels),
    )


def _level_mean(
    level: Level, cells: Sequence[tuple[Decimal, CellUncertainty | None]]
) -> LevelMean:
    if not cells:
        return LevelMean(level, 0)
    values = [value for value, _ in cells]
    mean = float(sum(values, Decimal(0)) / len(values))
    known = [(float(value), cell.low, cell.high) for value, cell in cells if cell]
    if len(known) < len(cells):
        return LevelMean(level, len(cells), mean)
    return LevelMean(level, len(cells), mean, mean_interval(mean, known))


def mean_interval(mean: float, cells: Sequence[tuple[float, float, float]]) -> tuple[float, float]:
    """Interval of a mean of independent estimates, from the interval of each.

    The squares of the distances from each estimate to its own limit add up, below and above on
    their own: Zou, Huang and Zhang (2009), Computational Statistics & Data Analysis 53, 1080–1085.
    With Wilson's intervals it keeps its width where cells have no success, or no failure; of
    symmetrical intervals it is what their standard errors give.

    Args:
        cells: Value, low and high of each, at least one; a value that was rounded past its own
            limit counts as at it.
    """
    below = sqrt(sum(max(0.0, value - low) ** 2 for value, low, _ in cells))
    above = sqrt(sum(max(0.0, high - value) ** 2 for value, _, high in cells))
    return mean - below / len(cells), mean + above / len(cells)
