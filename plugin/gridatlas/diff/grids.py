"""Cells and best cells of the shown grids that changed, and whether significantly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.cells import GridCells
from gridatlas.assessment.uncertainty import Ends
from gridatlas.diff.changes import (
    BestChange,
    CellChange,
    CellKind,
    Changes,
    GridChange,
    GridChanges,
    StudyChanges,
)
from gridatlas.diff.matching import Match
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
from gridatlas.diff.significance import Measurement, test_changes
from gridatlas.model.format import (
    between,
    cell_text,
    difference_ends,
    format_difference,
    many,
    places_of,
    value_with_unit,
)
from gridatlas.model.study import Cell, Grid, Levels, Point, Study, inline
from gridatlas.results.grids import Results
from gridatlas.results.items import shares_by_item, trials
from gridatlas.results.summary import Summary, summarise
from gridatlas.statistics.interval import Interval

TIES = 4
"""Best cells that are named."""


def compare_best(old: Grid, new: Grid, match: Match) -> BestChange | None:
    """Another best cell or value of a grid, without a test; None where both stayed."""
    before, after = summarise(old), summarise(new)
    if before is None or after is None:
        return None if before is after else BestChange(before, after, True)
    expected = set(_best_in_head(before, old, match))
    moved = expected != {(x.key, y.key) for x, y in after.best}
    if not moved and before.best_value == after.best_value:
        return None
    return BestChange(before, after, moved)


def _best_in_head(best: Summary, old: Grid, match: Match) -> Iterator[Point | None]:
    """The head's points of the best cells of a grid of the base."""
    for x, y in best.best:
        at = match.head(old.levels, (x.key, y.key))
        yield at[1] if at else None


def test_best(best: BestChange, old: Grid, new: Grid, match: Match, after: GridCells) -> BestChange:
    """Test whether an old best cell may still be the best, by the head's confidence set."""
    if best.old is None or best.new is None or not best.moved:
        return best
    places = _best_in_head(best.old, old, match)
    left = {at for at in places if at is not None and new.cell(*at).value is not None}
    tests = after.uncertainty
    if not left:
        return replace(best, reason="the old best cell has no value any more")
    if tests.level is None:
        reason = "an aggregate is not tested itself" if new.aggregate else "nothing is known of it"
        return replace(best, reason=tests.reason or reason)
    method = f"95 % confidence set for the best: {tests.test}"
    return replace(best, significant=after.best_set.isdisjoint(left), method=method)


# --- in the report -------------------------------------------------------------------


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


# --- how changes are found ----------------------------------------------------------------------


def compare_grids(base: Assessment, head: Assessment, match: Match) -> GridChanges:
    """Compare every grid of both snapshots, cell by cell."""
    new_grids = head.results.grids
    pairs: list[tuple[Grid, Grid]] = []
    removed = []
    for levels, grid in base.results.grids.items():
        to = match.head_levels(levels)
        other = new_grids.get(to) if to is not None else None
        if other is None:
            removed.append(grid)
        else:
            pairs.append((grid, other))
    matched = {other.levels for _, other in pairs}
    added = tuple(grid for levels, grid in new_grids.items() if levels not in matched)
    found = [
        (old, new, _compare_cells(old, new, match), compare_best(old, new, match))
        for old, new in pairs
    ]
    if not any(cells or best for *_, cells, best in found):
        return GridChanges((), tuple(removed), added)
    tests = iter(
        test_changes([pair for old, new, cells, _ in found for pair in _measured(old, new, cells)])
    )
    grids_by_values = _grids_by_values(base.results)
    changed = []
    for old, new, cells, best in found:
        if not (cells or best or old.computed != new.computed):
            continue
        before = GridCells(old, base.uncertainty.of(old))
        after = GridCells(new, head.uncertainty.of(new))
        changes = tuple(
            replace(
                change,
                old_interval=_ends(before, at),
                new_interval=_ends(after, change.point),
                significance=next(tests) if change.kind == "value" else None,
            )
            for at, change in cells
        )
        tested = best and test_best(best, old, new, match, after)
        same_as = _same_as(old, new, len(cells), grids_by_values)
        changed.append(GridChange(old, new, changes, tested, same_as))
    return GridChanges(tuple(changed), tuple(removed), added)


def _compare_cells(old: Grid, new: Grid, match: Match) -> list[tuple[Point, CellChange]]:
    """The cells that changed, each with its point in the base."""
    changes = []
    columns = new.study.x.keys
    rows = new.study.y.keys
    for x, y, cell in old.points():
        at = match.head(old.levels, (x.key, y.key))
        if at is None or at[1][0] not in columns or at[1][1] not in rows:
            continue
        other = new.cell(*at[1])
        kind = _kind(old, new, cell, other)
        if kind:
            changes.append(((x.key, y.key), CellChange(kind, at[1], cell, other)))
    return changes


def _kind(old: Grid, new: Grid, cell: Cell, other: Cell) -> CellKind | None:
    """What changed about a cell; None for nothing."""
    if cell.value is None and other.value is None:
        return None if cell.state == other.state else "state"
    if other.value is None:
        return "gone"
    if cell.value is None:
        return "new"
    if cell.value != other.value:
        return "value"
    if cell.state != other.state:
        return "state"
    before = trials(old, cell), cell.successes, cell.stderr
    after = trials(new, other), other.successes, other.stderr
    return None if before == after else "trials"


def _measured(
    old: Grid, new: Grid, cells: Sequence[tuple[Point, CellChange]]
) -> list[tuple[Measurement, Measurement]]:
    """The cells with another value, before and after."""
    changed = [(at, change) for at, change in cells if change.kind == "value"]
    if not changed:
        return []
    before, after = shares_by_item(old), shares_by_item(new)
    return [
        (
            Measurement(old, at, change.old, before.get(at)),
            Measurement(new, change.point, change.new, after.get(change.point)),
        )
        for at, change in changed
    ]


def _ends(cells: GridCells, point: Point) -> Ends | None:
    interval = cells.intervals.get(point)
    return None if interval is None else (interval.low, interval.high)


GridValues = tuple[object, ...]


def _grids_by_values(results: Results) -> dict[GridValues, list[Levels]]:
    grids: dict[GridValues, list[Levels]] = {}
    for levels, grid in results.grids.items():
        grids.setdefault(_values(grid), []).append(levels)
    return grids


def _values(grid: Grid) -> GridValues:
    return tuple((x.key, y.key, cell.value) for x, y, cell in grid.points())


def _same_as(
    old: Grid, new: Grid, changed: int, grids_by_values: Mapping[GridValues, list[Levels]]
) -> str:
    """The grid of the base whose values these are, where most cells have changed."""
    values = [cell.value for _, _, cell in new.points() if cell.value is not None]
    if changed * 2 <= len(values) or len(set(values)) < 2 or len(values) < 3:
        return ""
    same = grids_by_values.get(_values(new), [])
    if len(same) != 1 or same[0] == old.levels:
        return ""
    return " | ".join(level.label for level in old.study.levels_of(same[0]))


# --- in the report ---------------------------------------------------------------


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
