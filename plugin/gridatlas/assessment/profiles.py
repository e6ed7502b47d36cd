"""The means of a grid's rows and columns, with intervals where the trials are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from gridatlas.assessment.uncertainty import Ends, GridUncertainty, as_pairs, known
from gridatlas.model.study import Level
from gridatlas.table.items import Basis
from gridatlas.table.study_table import Grid
from gridatlas.table.summary import unrounded

_POOLED = "Wilson's for all trials of the cells together, taken as independent"
METHODS: Mapping[Basis, str] = {
    "trials": f"{_POOLED}; too wide rather than too narrow where the cells differ",
    "items": "Wilson's at the mean, with each item counted once: all cells are asked the same",
    "stderr": f"the wider of {_POOLED}, and one from the cells' standard errors",
    "repeats": "from the intervals of the cells, not taken as independent",
    "replicates": "Student's t over the means of {n} repeats of the experiment, or that of their "
    "trials and items where it is wider",
    "parts": "from the intervals of the same means in the parts",
}
"""How the interval of a mean over cells is computed, for readers of a download."""
CELL_METHODS: Mapping[Basis, str] = {
    "trials": "Wilson's, from the trials, taken as independent",
    "items": "Wilson's, with each item counted once",
    "stderr": "the wider of Wilson's, from the trials, and Student's t, from the standard error",
    "repeats": "Student's t over the repeats of a cell, or Wilson's for all their trials where "
    "that is wider",
    "replicates": "Student's t over {n} repeats of the experiment, or that of their trials and "
    "items where it is wider",
    "parts": "from the intervals of the parts",
}
"""How the interval of a cell is computed."""


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


def profiles(grid: Grid, uncertainty: GridUncertainty) -> Profiles:
    """The means along both axes of a grid."""
    values, across = [*unrounded(grid)], len(grid.study.x.levels)
    columns = [values[x::across] for x in range(across)]
    rows = [values[start : start + across] for start in range(0, len(values), across)]
    basis, n = uncertainty.basis, uncertainty.replicates
    method = METHODS[basis].format(n=n) if basis else ""
    return Profiles(
        _means(grid.study.x.levels, columns, as_pairs(uncertainty.x_means)),
        _means(grid.study.y.levels, rows, as_pairs(uncertainty.y_means)),
        method if any(known(of).any() for of in (uncertainty.x_means, uncertainty.y_means)) else "",
    )


def cell_method(uncertainty: GridUncertainty) -> str:
    """How the intervals of a grid's cells are computed; empty where there are none."""
    basis, n = uncertainty.basis, uncertainty.replicates
    return CELL_METHODS[basis].format(n=n) if basis else ""


def _means(
    levels: Sequence[Level],
    lines: Iterable[Sequence[Decimal | None]],
    intervals: Sequence[Ends | None],
) -> tuple[LevelMean, ...]:
    means = []
    for level, line, interval in zip(levels, lines, intervals, strict=True):
        of = [value for value in line if value is not None]
        mean = float(sum(of, Decimal(0)) / len(of)) if of else None
        means.append(LevelMean(level, len(of), mean, interval))
    return tuple(means)
