"""The trials, items and successes behind values, and what runs gave item by item."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from gridatlas.files.cache import cache_key
from gridatlas.model.format import many, places_of
from gridatlas.model.study import Cell, Levels, Outcomes, Point, Study
from gridatlas.table.study_table import Grid

Basis = Literal["", "trials", "items", "stderr", "repeats", "replicates", "parts"]
"""What the intervals of a grid come from: of several the one that reaches farthest."""


@dataclass(frozen=True, slots=True)
class Shares:
    """A cell item by item: the share of right samples of each item, and which run gave them."""

    run: str
    items: tuple[str, ...]
    values: tuple[float, ...]

    def pairs_with(self, other: Shares | None) -> bool:
        """Whether one run asked both the same items."""
        return other is not None and (self.run, self.items) == (other.run, other.items)


def trials(grid: Grid, cell: Cell) -> int | None:
    """Trials of a cell: its own n, else by the study's `trials`; None without a read value."""
    if cell.value is None or not cell.reading:
        return None
    if (cell.n is None and grid.study.trials is None) or grid.aggregate:
        return None
    if cell.n is not None:
        return cell.n
    once = grid.study.trials_at(grid.levels)
    return None if once is None else once * cell.repeats


def share_scale(study: Study) -> int | None:
    """What a share of 1 is printed as: 100 for percentages, 1 for shares, None for the rest."""
    if study.metric.unit == "%":
        return 100
    return 1 if study.metric.range == (Decimal(0), Decimal(1)) else None


def shares_by_item(grid: Grid) -> dict[Point, Shares]:
    """The cells of a grid whose run has their outcomes."""
    if not grid.study.runs:
        return {}
    found = {}
    for x, y, cell in grid.points():
        outcomes = _outcomes_of(grid.study, grid.levels, (x.key, y.key), cell)
        if outcomes is not None:
            counts = zip(outcomes.correct, outcomes.samples, strict=True)
            values = tuple(k / n for k, n in counts)
            found[x.key, y.key] = Shares(cell.run, outcomes.items, values)
    return found


def all_paired(cells: Sequence[Shares | None]) -> bool:
    """Whether each of at least two cells can be compared with each item by item."""
    first = cells[0] if len(cells) > 1 else None
    return first is not None and all(first.pairs_with(other) for other in cells)


def same_items(grid: Grid, shares: Mapping[Point, Shares]) -> bool | None:
    """Whether all cells of a grid with a value were asked the same items; None where unknown.

    The outcomes of runs name the items. Without them the study's `trials` say that the cells of a
    grid are asked the items of its level, unless their numbers of trials are others.
    """
    if len({share.items for share in shares.values()}) > 1:
        return False
    cells = [cell for row in grid.cells for cell in row if cell.value is not None]
    if shares and len(shares) == len(cells):
        return True
    asked = items_of(grid)
    samples = grid.study.trials.samples if grid.study.trials else 0
    if asked and all(trials(grid, cell) == asked * samples * cell.repeats for cell in cells):
        return True
    return None


def items_of(grid: Grid) -> int | None:
    """Number of items that the study's `trials` give for a grid; None where unknown."""
    if grid.study.trials is None:
        return None
    ids = [facet.id for facet in grid.study.facets]
    return grid.names[ids.index(grid.study.trials.items)].items


def clusters(study: Study, levels: Levels, point: Point, cell: Cell) -> int | None:
    """What a cell's standard error is taken over: number of repeats, items or units.

    None where it isn't known.
    """
    if cell.repeats > 1:
        return cell.repeats
    run = study.runs.get(cell.run)
    if run is None or (levels, point) not in run.cells:
        # A printed 95 % interval is taken as it is, whatever it was computed from.
        printed = study.spread if cell.spread is not None else None
        return printed.n if printed and printed.kind in ("sd", "se") else None
    if run.stderr_over == "units":
        return run.cells[levels, point].of
    outcomes = run.outcomes.get((levels, point))
    return None if outcomes is None else len(outcomes.items)


def as_input(study: Study, levels: Levels, point: Point, cell: Cell) -> tuple[Any, ...]:
    """All of a cell's outcomes that a result depends on, as JSON can have it."""
    found = _outcomes_of(study, levels, point, cell)
    if found is None:
        return ()
    return cell.run, cache_key(json.dumps(found.items)), found.samples, found.correct


def _outcomes_of(study: Study, levels: Levels, point: Point, cell: Cell) -> Outcomes | None:
    """What the run of a cell gave item by item, where items are what varies.

    Where each unit is a sample of its own, such as a training seed, to pair items would test these
    trained models only.
    """
    return None if cell.value is None else outcomes_in(study, (levels, point), cell.run)


def outcomes_in(study: Study, at: tuple[Levels, Point], run_id: str) -> Outcomes | None:
    """What a run gave in a cell item by item; None where it isn't known."""
    run = study.runs.get(run_id)
    return run.outcomes.get(at) if run is not None and run.stderr_over == "items" else None


CELLS_UP_TO = 100_000
"""Cells of a grid up to which intervals and tests are computed."""
AGGREGATE = "an aggregate has no trials of its own"
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
            wrong = f"{cell.value} is impossible with {many(n, 'trial')}"
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
