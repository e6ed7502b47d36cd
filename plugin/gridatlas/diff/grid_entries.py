"""Changed cells, and the best cells of grids, as entries of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from gridatlas.assessment.uncertainty import Ends
from gridatlas.diff.changes import Changes, StudyChanges
from gridatlas.diff.grid_changes import BestChange, CellChange, CellKind, GridChange
from gridatlas.diff.lead import Shown
from gridatlas.diff.report import (
    ROWS,
    Entry,
    Table,
    entry,
    grid_name,
    more_than,
    place_name,
    truncate,
    value_text,
)
from gridatlas.diff.value_tables import difference_text
from gridatlas.diff.verdict import significance_counts
from gridatlas.model.format import (
    between,
    cell_text,
    many,
)
from gridatlas.model.study import Cell, Grid, inline
from gridatlas.results.items import trials
from gridatlas.results.summary import Summary

TIES = 4
"""Best cells that are named."""


def best_entries(changes: Changes) -> Iterator[Entry]:
    """Grids with another best cell, or another best value: significant moves first."""
    found = [
        (study, grid, grid.best)
        for study in changes.studies
        for grid in study.grids.changed
        if grid.best is not None
    ]

    def rank(change: tuple[StudyChanges, GridChange, BestChange]) -> tuple[bool, bool]:
        best = change[2]
        return not best.moved, not best.significant

    for study, grid, best in sorted(found, key=rank):
        yield entry(study.id, *_best_text(grid, best))


def _best_text(change: GridChange, best: BestChange) -> tuple[str, tuple[str, ...]]:
    """A line on a grid's best printed value, and whether the move is significant."""
    study = change.new.study
    name = grid_name(study, change.new.levels)
    if best.new is None:
        assert best.old is not None
        return f"{name}: {_best_at(change.old, best.old)} → no value", ()
    if best.old is None:
        return f"{name}: no value → {_best_at(change.new, best.new)}", ()
    if not best.moved:
        before = value_text(study, best.old.best_value)
        return f"{name}: {before} → {_best_at(change.new, best.new)}, as before", ()
    text = f"{name}: {_best_at(change.old, best.old)} → {_best_at(change.new, best.new)}"
    if best.significant is None:
        return text, (f"Whether the best really moved can't be tested: {best.reason}.",)
    if best.significant:
        return text, (f"A significant move: no old best cell is in the {best.method}.",)
    return text, (f"No significant move: an old best cell is still in the {best.method}.",)


def _best_at(grid: Grid, summary: Summary) -> str:
    return f"{value_text(grid.study, summary.best_value)} at {_names(grid, summary)}"


def _names(grid: Grid, summary: Summary) -> str:
    return truncate((place_name(grid.study, (x.key, y.key)) for x, y in summary.best), TIES)


def changed_grids(changes: Changes) -> list[tuple[StudyChanges, GridChange]]:
    """The grids with changed cells: those first that noise explains least, then by size."""
    found = [
        (study, grid) for study in changes.studies for grid in study.grids.changed if grid.cells
    ]

    def rank(pair: tuple[StudyChanges, GridChange]) -> tuple[int, Decimal]:
        cells = pair[1].cells
        return -sum(cell.is_significant for cell in cells), -max(cell.size for cell in cells)

    return sorted(found, key=rank)


def cell_entries(changes: Changes, shown: Shown) -> Iterator[Entry]:
    """Grids with changed values, those with significant changes first.

    Args:
        shown: The cells that are read before: they aren't repeated.
    """
    for study, grid in changed_grids(changes):
        done = shown.get(study.id, ())
        left = [cell for cell in grid.cells if (grid.new.levels, cell.point) not in done]
        if not left:
            continue
        cells = sorted(left, key=_rank)
        methods = (cell.significance.method for cell in cells if cell.significance)
        details = (
            f"It has now exactly the values that {grid.same_as} had." if grid.same_as else "",
            more_than(ROWS, len(cells), "cell", " of this grid"),
            *(f"Test: {method}." for method in dict.fromkeys(methods) if method),
        )
        name = grid_name(grid.new.study, grid.new.levels)
        text = f"{name}: {_counted(grid.new, left)}"
        yield entry(study.id, text, details, _cells_table(grid, cells[:ROWS]))


def test_entries(changes: Changes, shown: Shown) -> Iterator[Entry]:
    """How the values that are read first were tested."""
    for study in changes.studies:
        cells = [
            cell
            for grid in study.grids.changed
            for cell in grid.cells
            if (grid.new.levels, cell.point) in shown.get(study.id, ())
        ]
        methods = dict.fromkeys(cell.significance.method for cell in cells if cell.significance)
        for method in methods:
            if method:
                yield entry(study.id, f"{method[0].upper()}{method[1:]}.")


def _rank(change: CellChange) -> tuple[int, bool, Decimal]:
    """Sorts cells: values gone, then significant changes, then by size; mere trials last."""
    rank = {"gone": 0, "value": 1, "new": 2, "state": 3, "trials": 4}[change.kind]
    return rank, not change.is_significant, -change.size


def _counted(grid: Grid, cells: Sequence[CellChange]) -> str:
    """How many values changed in which way."""
    if grid.computed:
        return f"{many(len(cells), 'value')} computed from others changed"
    kinds = [cell.kind for cell in cells]
    words: dict[CellKind, str] = {
        "value": "changed",
        "gone": "removed",
        "new": "added",
        "state": "with another state",
        "trials": "with other trials or errors",
    }
    parts = [
        f"{many(kinds.count(kind), 'value')} {word}"
        for kind, word in words.items()
        if kind in kinds
    ]
    parts[0] += significance_counts(cells)
    return ", ".join(parts)


def _cells_table(change: GridChange, cells: Sequence[CellChange]) -> Table:
    """Changed cells of one grid, before and after; tests where anything was tested."""
    study = change.new.study
    tested = any(cell.significance for cell in cells)
    columns = (
        *(inline(axis.label) for axis in study.varied), "before", "after", "difference",
        *(["significant?"] if tested else []),
    )  # fmt: skip
    rows = (
        (
            *(axis.level(key).label for axis, key in zip(study.varied, cell.point, strict=False)),
            _cell_text(change.old, cell.old, cell.old_interval, cell.kind),
            _cell_text(change.new, cell.new, cell.new_interval, cell.kind),
            difference_text(study, cell),
            *([cell.significance.text if cell.significance else "–"] if tested else []),
        )
        for cell in cells
    )
    return Table(columns, tuple(rows))


def _cell_text(grid: Grid, cell: Cell, interval: Ends | None, kind: CellKind) -> str:
    text = cell_text(grid.study, cell)
    if interval:
        text += f" [{between(*interval, grid.study)}]"
    if kind == "trials":
        n = trials(grid, cell)
        text += f", n = {'unknown' if n is None else n}"
        text += f", standard error {cell.stderr}" if cell.stderr is not None else ""
    return text
