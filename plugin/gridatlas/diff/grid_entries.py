"""Changed cells, and the best cells of grids, as entries of the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from gridatlas.assessment.uncertainty import Ends
from gridatlas.diff.changes import Changes, StudyChanges
from gridatlas.diff.grid_changes import BestChange, CellChange, CellKind, GridChange
from gridatlas.diff.report import (
    NAMED,
    ROWS,
    Entry,
    Table,
    entry,
    grid_name,
    more_than,
    place_name,
    truncate,
    value_text,
    values_of,
)
from gridatlas.model.format import (
    between,
    cell_text,
    difference_ends,
    format_difference,
    many,
    places_of,
    value_with_unit,
)
from gridatlas.model.study import Cell, Grid, Study, inline
from gridatlas.results.items import trials
from gridatlas.results.summary import Summary, summarise
from gridatlas.statistics.interval import Interval

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
    """A line on a grid's best cell, and what is known of the change."""
    study = change.new.study
    name = grid_name(study, change.new.levels)
    if best.new is None:
        assert best.old is not None
        text = "has no value any more, and so no best cell"
        return f"{name}: {text}: {_best_at(change.old, best.old)}", ()
    if best.old is None:
        return f"{name}: has a best cell now: {_best_at(change.new, best.new)}", ()
    if not best.moved:
        now, before = best.new.best_value, best.old.best_value
        cells = "cell" if len(best.new.best) == 1 else "cells"
        text = (
            f"{name}: the best value is now {value_text(study, now)}, before "
            f"{value_text(study, before)}, at the same {cells}: {_names(change.new, best.new)}"
        )
        return text, _tests_of_best(change, best.new)
    now_at, before_at = _best_at(change.new, best.new), _best_at(change.old, best.old)
    if best.significant is None:
        detail = f"Not testable whether it really moved: {best.reason}."
    elif best.significant:
        detail = f"The move can be told apart from noise: no old best cell is in the {best.method}."
    else:
        detail = (
            "The move can't be told apart from noise: an old best cell is still in the "
            f"{best.method}."
        )
    text = f"{name}: the best is now {now_at}; before {before_at}"
    return text, (detail, *_tests_of_best(change, best.new))


def _tests_of_best(change: GridChange, best: Summary) -> tuple[str, ...]:
    """The tests of the best cells whose own value changed."""
    points = {(x.key, y.key) for x, y in best.best}
    details = [
        f"Its value at {place_name(change.new.study, cell.point)} told apart from before? "
        f"{cell.significance.text}."
        for cell in change.cells
        if cell.point in points and cell.significance is not None
    ]
    return tuple(details[:TIES])


def _best_at(grid: Grid, summary: Summary) -> str:
    return f"{value_text(grid.study, summary.best_value)} at {_names(grid, summary)}"


def _names(grid: Grid, summary: Summary) -> str:
    return truncate((place_name(grid.study, (x.key, y.key)) for x, y in summary.best), TIES)


def best_of_grids(grids: Sequence[Grid]) -> Iterator[str]:
    """The best cells of some grids, a line for each."""
    for grid in grids[:ROWS]:
        summary = summarise(grid)
        if summary is not None:
            best = value_text(grid.study, summary.best_value)
            places = (place_name(grid.study, (x.key, y.key)) for x, y in summary.best)
            name = grid_name(grid.study, grid.levels)
            yield f"{name}: best {best} at {truncate(places, NAMED)}"
    yield more_than(ROWS, len(grids), "grid")


def changed_grids(changes: Changes) -> list[tuple[StudyChanges, GridChange]]:
    """The grids with changed cells: those first that noise explains least, then by size."""
    found = [
        (study, grid) for study in changes.studies for grid in study.grids.changed if grid.cells
    ]

    def rank(pair: tuple[StudyChanges, GridChange]) -> tuple[int, Decimal]:
        cells = pair[1].cells
        return -sum(cell.is_significant for cell in cells), -max(cell.size for cell in cells)

    return sorted(found, key=rank)


def cell_entries(changes: Changes) -> Iterator[Entry]:
    """Grids with changed values, those with significant changes first."""
    for study, grid in changed_grids(changes):
        cells = sorted(grid.cells, key=_rank)
        methods = (cell.significance.method for cell in cells if cell.significance)
        details = (
            f"It has now exactly the values that {grid.same_as} had." if grid.same_as else "",
            more_than(ROWS, len(cells), "cell", " of this grid"),
            *(f"Test: {method}." for method in dict.fromkeys(methods) if method),
        )
        name = grid_name(grid.new.study, grid.new.levels)
        text = f"{name}: {_counted(grid)}"
        yield entry(study.id, text, details, _cells_table(grid, cells[:ROWS]))


def _rank(change: CellChange) -> tuple[int, bool, Decimal]:
    """Sorts cells: values gone, then significant changes, then by size; mere trials last."""
    rank = {"gone": 0, "value": 1, "new": 2, "state": 3, "trials": 4}[change.kind]
    return rank, not change.is_significant, -change.size


def _counted(grid: GridChange) -> str:
    """How many values changed in which way."""
    kinds = [cell.kind for cell in grid.cells]
    words: dict[CellKind, str] = {
        "value": "changed",
        "gone": "gone",
        "new": "new",
        "state": "with another state",
        "trials": "with other trials or errors",
    }
    parts = [
        f"{many(kinds.count(kind), 'value')} {word}"
        for kind, word in words.items()
        if kind in kinds
    ]
    parts[0] += significance_counts(grid.cells)
    return f"{', '.join(parts)}; it has {many(values_of(grid.new), 'value')}"


def significance_counts(cells: Iterable[CellChange]) -> str:
    """How many of some changed cells changed significantly, in brackets."""
    tests = [cell.significance for cell in cells if cell.significance]
    if not tests:
        return ""
    significant = sum(bool(test.significant) for test in tests)
    untestable = sum(test.significant is None for test in tests)
    if untestable == len(tests):
        return " (whether by more than noise can't be tested)"
    more = f", {untestable} not testable" if untestable else ""
    return f" ({significant} by more than noise{more})"


def _cells_table(change: GridChange, cells: Iterable[CellChange]) -> Table:
    """Changed cells of one grid, before and after."""
    study = change.new.study
    columns = (
        *(inline(axis.label) for axis in study.varied), "before", "after", "difference",
        "told apart from noise?",
    )  # fmt: skip
    rows = (
        (
            *(axis.level(key).label for axis, key in zip(study.varied, cell.point, strict=False)),
            _cell_text(change.old, cell.old, cell.old_interval, cell.kind),
            _cell_text(change.new, cell.new, cell.new_interval, cell.kind),
            _difference_text(study, cell),
            cell.significance.text if cell.significance else "–",
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


def _difference_text(study: Study, change: CellChange) -> str:
    """`+2.6 points [+1.0 to +4.2]`; empty where a value is absent."""
    if change.kind != "value" or change.old.value is None or change.new.value is None:
        return ""
    difference = change.new.value - change.old.value
    decimals = max(study.metric.decimals or 0, places_of(difference))
    number = format_difference(difference, min(decimals, 6))
    text = value_with_unit(number, study.metric.unit, difference=True)
    if change.significance and change.significance.interval:
        text += f" [{difference_ends(Interval(*change.significance.interval), study)}]"
    return text
