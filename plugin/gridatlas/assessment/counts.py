"""The successes and trials behind the values of a grid, or why they aren't known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gridatlas.model.format import many, places_of
from gridatlas.model.study import Cell, Grid, Point, Study
from gridatlas.results.items import share_scale, trials

CELLS_UP_TO = 100_000
"""Cells of a grid up to which intervals and tests are computed."""
AGGREGATE = "an aggregate is no count of trials"
REPEATED = "each value is a mean of repeats, whose trials are not independent"

Counts = tuple[int, int]
"""(k, n): successes and trials."""


@dataclass(frozen=True, slots=True)
class GridCounts:
    """The counts of a grid's cells that have a value; `reason` says why there are none."""

    cells: Mapping[Point, Counts] = field(default_factory=dict)
    reason: str = ""


def too_large(study: Study) -> bool:
    """Whether its grids have too many cells for intervals and tests."""
    return len(study.x.levels) * len(study.y.levels) > CELLS_UP_TO


def counts_of(grid: Grid) -> GridCounts:
    """Successes and trials of each cell that has a value; or why there are none."""
    study = grid.study
    if grid.aggregate:
        return GridCounts(reason=AGGREGATE)
    if too_large(study):
        return GridCounts(
            reason=f"intervals and tests are not computed above {CELLS_UP_TO:,} cells in a grid"
        )
    scale = share_scale(study)
    counts: dict[Point, Counts] = {}
    successes: dict[tuple[str, int], int | None] = {}
    for x, y, cell in grid.points():
        if cell.value is None:
            continue
        n = trials(grid, cell)
        if cell.repeats > 1:
            return GridCounts(reason=REPEATED)
        if n is None:
            return GridCounts(reason="the number of trials behind each value is unknown")
        if scale is None:
            return GridCounts(reason=f"{study.metric.name} is not a share of trials")
        k = cell.successes
        if k is None:
            printed = (str(cell.value), n)
            if printed not in successes:
                successes[printed] = successes_of(cell, n, scale)
            k = successes[printed]
        if k is None:
            wrong = f"{cell.value} is no count of {many(n, 'trial')}"
            return GridCounts(reason=f"{wrong}, so its trials are not known")
        counts[x.key, y.key] = (k, n)
    return GridCounts(counts, "" if counts else "there is no value")


def successes_of(cell: Cell, n: int, scale: int) -> int | None:
    """The count of n trials that a cell's value is printed for; None where there is none."""
    from gridatlas.statistics.estimates import successes_from

    if cell.value is None:
        return None
    decimals = places_of(cell.value)
    return successes_from(cell.value, n, decimals, scale)
