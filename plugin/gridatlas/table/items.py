"""The trials, items and successes behind values, and what runs gave item by item."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np

from gridatlas.files.cache import cache_key
from gridatlas.model.format import many, places_of
from gridatlas.model.study import Cell, Levels, Outcomes, Point, Study
from gridatlas.table.study_table import UNKNOWN, Grid, Ints

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
    if cell.value is None or not cell.reading or grid.aggregate:
        return None
    once = grid.study.trials_at(grid.levels)
    return cell.n if cell.n is not None or once is None else once * cell.repeats


def share_scale(study: Study) -> int | None:
    """What a share of 1 is printed as: 100 for percentages, 1 for shares, None for the rest."""
    if study.metric.unit == "%":
        return 100
    return 1 if study.metric.range == (Decimal(0), Decimal(1)) else None


def shares_by_item(grid: Grid) -> dict[Point, Shares]:
    """The cells of a grid whose run has their outcomes."""
    found = {}
    for point, cell in of_runs(grid):
        outcomes = _outcomes_of(grid.study, grid.levels, point, cell)
        if outcomes is not None:
            counts = zip(outcomes.correct, outcomes.samples, strict=True)
            found[point] = Shares(cell.run, outcomes.items, tuple(k / n for k, n in counts))
    return found


def of_runs(grid: Grid) -> Iterator[tuple[Point, Cell]]:
    """The cells whose run is known, with their level keys of x and y."""
    runs = grid.study.runs
    if not runs:
        return iter(())
    rows = np.flatnonzero(grid.columns.run.are(runs.__contains__))
    return zip((grid.keys[row] for row in rows.tolist()), grid.columns[rows], strict=True)


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
    defined = grid.columns.value.defined
    if shares and len(shares) == defined.sum():
        return True
    asked = items_of(grid)
    samples = grid.study.trials.samples if grid.study.trials else 0
    if asked and (grid.trials == asked * samples * grid.columns.repeats)[defined].all():
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


def clusters_of(grid: Grid) -> Ints:
    """The same of each cell of a grid; `UNKNOWN` where it isn't known."""
    study, cells = grid.study, grid.columns
    printed = study.spread.n if study.spread and study.spread.kind in ("sd", "se") else None
    beside = np.where(cells.spread.defined, UNKNOWN if printed is None else printed, UNKNOWN)
    found = np.where(cells.repeats > 1, cells.repeats, beside)
    for point, cell in of_runs(grid):
        number = clusters(study, grid.levels, point, cell)
        found[grid.row(point)] = UNKNOWN if number is None else number
    return found


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


def too_large(study: Study) -> bool:
    """Whether its grids have too many cells for intervals and tests."""
    return len(study.x.levels) * len(study.y.levels) > CELLS_UP_TO


def grid_counts(grid: Grid) -> tuple[Ints, str]:
    """Successes and trials of each cell by (cell, 2), `UNKNOWN` without a value; or why not.

    The counts are those of all cells that have a value, or, with a reason, of none.
    """
    study, cells = grid.study, grid.columns
    scale, defined = share_scale(study), cells.value.defined
    none = np.full((len(cells), 2), UNKNOWN)
    if grid.aggregate:
        return none, AGGREGATE
    if too_large(study):
        return none, f"intervals and tests are not computed above {CELLS_UP_TO:,} cells in a grid"
    counts, values = none.copy(), cells.value.exact()
    successes: dict[tuple[int, str, int], int | None] = {}
    rows = zip(*(of.tolist() for of in (cells.repeats, grid.trials, cells.successes)), strict=True)
    for row, (value, (repeats, n, k)) in enumerate(zip(values, rows, strict=True)):
        if value is None:
            continue
        if repeats > 1:
            return none, REPEATED
        if n == UNKNOWN:
            return none, "the number of trials behind each value is unknown"
        if scale is None:
            return none, f"{study.metric.name} is not a share of trials"
        like = (k, str(value), n)
        if like not in successes:
            successes[like] = k if k != UNKNOWN else successes_of(value, n, scale)
        if successes[like] is None:
            wrong = f"{value} is impossible with {many(n, 'trial')}"
            return none, f"{wrong}, so its trials are not known"
        counts[row] = successes[like], n
    return counts, "" if defined.any() else "there is no value"


def successes_of(value: Decimal, n: int, scale: int) -> int | None:
    """The count of n trials that a value is printed for; None where there is none."""
    from gridatlas.statistics.estimates import successes_from

    return successes_from(value, n, places_of(value), scale)
