"""Changed values in the report: as rows and as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from gridatlas.assessment.uncertainty import Ends
from gridatlas.model.addresses import SiteAddress
from gridatlas.model.format import (
    between,
    cell_text,
    difference_ends,
    format_difference,
    is_are,
    many,
    places_of,
    value_with_unit,
)
from gridatlas.model.study import Cell, Study, inline, point_slug
from gridatlas.statistics.interval import Interval
from gridatlas.table.items import trials
from gridatlas.table.study_table import Grid
from gridatlas_review.changes import Changes, Place, Shown, StudyChanges
from gridatlas_review.grids import CELL_KINDS, CellChange, CellKind, GridChange
from gridatlas_review.report import (
    BAD,
    LOOK,
    ROWS,
    Entry,
    Row,
    Table,
    entry,
    grid_name,
    more_than,
    place_in,
    reading_name,
    row,
)
from gridatlas_review.significance import SignificanceTest

MAX_SIDE = 12
"""Rows and columns of a grid of differences."""
UNCHANGED = "·"
VALUES = "before → after"

Changed = tuple[GridChange, CellChange]


def value_table(study: StudyChanges, pages: str, limit: int) -> tuple[Table | None, list[Place]]:
    """The changed values of a study, those first that matter most, and the cells that it has.

    Values that are computed from others follow from these: they have no row.

    Args:
        pages: Folder of the pages below the site's root.
        limit: Number of rows.
    """
    rows = _rows(study)
    if not rows:
        return None, []
    new = study.head.study
    statuses = [_status(study, cell) for _, cell in rows]
    same = len(set(statuses)) == 1
    differences = [difference_text(new, cell) for _, cell in rows]
    columns = [
        *(["grid"] if new.facets else []),
        *(inline(axis.label) for axis in new.varied),
        VALUES,
        *(["difference"] if any(differences) else []),
        *([] if same else ["change"]),
    ]
    table = [
        (
            *([grid_name(new, grid.new.levels)] if new.facets else []),
            *(axis.level(key).label for axis, key in zip(new.varied, cell.point, strict=False)),
            _before_after(grid, cell),
            *([difference] if any(differences) else []),
            *([] if same else [status]),
        )
        for (grid, cell), status, difference in zip(rows, statuses, differences, strict=True)
    ]
    links = tuple(cell_link(grid.new, cell, pages) for grid, cell in rows)
    shown = [(grid.new.levels, cell.point) for grid, cell in rows[:limit]]
    return Table(tuple(columns), tuple(table[:limit]), links[:limit], columns.index(VALUES)), shown


def remarks_of(study: StudyChanges, shown: int) -> Iterator[str]:
    """What is so of all changed values, and what the table leaves out."""
    rows = _rows(study)
    more = len(rows) - shown
    if more > 0:
        yield f"And {many(more, 'more value')}; the folds have up to {ROWS} of each grid."
    changed = [cell for _, cell in rows if cell.kind == "value"]
    if changed:
        yield f"{_in_all(changed)}. {_origin(changed)}"
    computed = sum(cell.origin == "computed" for _, cell in study.cells())
    if computed:
        yield f"{many(computed, 'mean')} computed from these changed, too."


def _in_all(changed: Sequence[CellChange]) -> str:
    """How many values changed, and whether significantly."""
    if len(changed) == 1 and changed[0].significance is not None:
        return f"The change is {_tested(changed[0].significance)}"
    return f"{many(len(changed), 'value')} changed{significance_counts(changed)}"


def _origin(changed: Sequence[CellChange]) -> str:
    """Which runs are recorded for values."""
    measured = sum(cell.origin == "measured" for cell in changed)
    if not measured:
        return "No run is recorded for it." if len(changed) == 1 else "No run is recorded for them."
    if measured == len(changed):
        return "Another run measured it." if measured == 1 else "Other runs measured them."
    return f"Other runs measured {measured:,} of them; for the others no run is recorded."


def _status(study: StudyChanges, cell: CellChange) -> str:
    """What kind of change it is, and its test."""
    kinds = {"gone": "removed", "new": "added", "state": "another state", "trials": "other trials"}
    if cell.kind in kinds:
        return kinds[cell.kind]
    if cell.origin == "reading":
        return f"now from {reading_name(study.head.study, cell.new.reading)}"
    tested = cell.significance
    if tested is None or tested.significant is None:
        return "changed"
    return _tested(tested)


def _tested(test: SignificanceTest) -> str:
    """`significant, p = 0.03`, or why nothing can be tested."""
    if test.significant is None:
        return f"not testable: {test.reason}"
    return f"{'' if test.significant else 'not '}significant{test.p_text}"


def _rows(study: StudyChanges) -> list[Changed]:
    """All changed cells but computed ones, those first that matter most."""

    def rank(row: Changed) -> tuple[object, ...]:
        cell = row[1]
        return CELL_KINDS.index(cell.kind), not cell.is_significant, -cell.size

    return sorted(study.cells(computed=False), key=rank)


def significance_counts(cells: Iterable[CellChange]) -> str:
    """How many of some changed cells changed significantly, after a comma."""
    tests = [cell.significance for cell in cells if cell.significance]
    if not tests:
        return ""
    significant = sum(bool(test.significant) for test in tests)
    untestable = sum(test.significant is None for test in tests)
    if untestable == len(tests):
        reasons = dict.fromkeys(test.reason for test in tests)
        return f", not testable: {next(iter(reasons))}" if len(reasons) == 1 else ", not testable"
    if len(tests) == 1:
        return f",{'' if significant else ' not'} significantly"
    more = f" ({untestable:,} not testable)" if untestable else ""
    return f", {significant or 'none'} significantly{more}"


def _before_after(grid: GridChange, cell: CellChange) -> str:
    sides = (grid.old, cell.old), (grid.new, cell.new)
    return " → ".join(_cell_text(of, each, None, cell.kind) for of, each in sides)


def difference_text(study: Study, change: CellChange) -> str:
    """`+2.6 [+1.0 to +4.2] points`; empty where a value is absent."""
    number = _difference(study, change)
    if number is None:
        return ""
    text = value_with_unit(number, study.metric.unit, difference=True)
    if change.significance and change.significance.interval:
        text += f" [{difference_ends(Interval(*change.significance.interval), study)}]"
    return text


def _difference(study: Study, change: CellChange) -> str | None:
    """`+2.6`; None where a value is absent."""
    if change.kind != "value" or change.old.value is None or change.new.value is None:
        return None
    difference = change.new.value - change.old.value
    decimals = study.metric.decimals or 0
    if change.origin != "computed":
        decimals = min(max(decimals, places_of(difference)), 6)
    return format_difference(difference, decimals)


def cell_link(grid: Grid, cell: CellChange, pages: str) -> str:
    """Address of a cell on the page of its grid's first level, below the site's root."""
    study = grid.study
    folder = f"{pages}/{study.id}"
    if study.facets:
        folder += f"/{study.facets[0].id}/{grid.names[0].slug}"
    point = point_slug(study.x.level(cell.point[0]), study.y.level(cell.point[1]))
    return SiteAddress().relative(f"{folder}/index.md", "", f"{grid.address}/{point}")


def grid_of_differences(change: GridChange) -> Table | None:
    """A grid's differences, a row per level of y; None for a grid that is too large.

    Of many levels only those are there at which something changed.
    """
    study = change.new.study
    cells = {cell.point: cell for cell in change.cells}
    xs = [level for level in study.x.levels if _has(cells, 0, level.key)]
    ys = [level for level in study.y.levels if _has(cells, 1, level.key)]
    if max(len(xs), len(ys)) > MAX_SIDE:
        return None
    xs = list(study.x.levels) if len(study.x.levels) <= MAX_SIDE else xs
    ys = list(study.y.levels) if len(study.y.levels) <= MAX_SIDE else ys
    rows = tuple(
        (y.label, *(_short_difference(study, cells.get((x.key, y.key))) for x in xs)) for y in ys
    )
    axes = [inline(axis.label) for axis in reversed(study.varied)]
    corner = f"{grid_name(study, change.new.levels)}: {' / '.join(axes)}"
    return Table((corner, *(x.label for x in xs)), rows)


def _has(cells: dict[tuple[str, str], CellChange], axis: int, key: str) -> bool:
    return any(point[axis] == key for point in cells)


def _short_difference(study: Study, cell: CellChange | None) -> str:
    if cell is None:
        return UNCHANGED
    others = {"gone": "removed", "new": "new"}
    return _difference(study, cell) or others.get(cell.kind, "other")


# --- entries -------------------------------------------------------------------------------------


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
            for grid, cell in study.cells()
            if (grid.new.levels, cell.point) in shown.get(study.id, ())
        ]
        methods = dict.fromkeys(cell.significance.method for cell in cells if cell.significance)
        for method in methods:
            if method:
                yield entry(study.id, f"{method[0].upper()}{method[1:]}.")


def _rank(change: CellChange) -> tuple[int, bool, Decimal]:
    """Sorts cells: values gone, then significant changes, then by size; mere trials last."""
    return CELL_KINDS.index(change.kind), not change.is_significant, -change.size


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


# --- rows ----------------------------------------------------------------------------------------


def value_rows(study: StudyChanges) -> Iterator[Row]:
    """Values that noise doesn't explain, other numbers of trials, and means of fewer repeats."""
    cells = [*study.cells(computed=False)]
    moved = [pair for pair in cells if pair[1].is_significant]
    if moved:
        grid, cell = max(moved, key=lambda pair: pair[1].size)
        start = f"{many(len(moved), 'value')} changed significantly"
        start += ": " if len(moved) == 1 else ", most of all "
        text = f"{start}{_at(grid, cell)}: {cell.old.value} → {cell.new.value}"
        yield row("", LOOK, study.id, text, "significantly changed study")
    fewer = [pair for pair in cells if pair[1].new.repeats < pair[1].old.repeats]
    fewer = [pair for pair in fewer if pair[1].new.value is not None]
    if fewer:
        (grid, cell), number = fewer[0], sum(c.old.repeats - c.new.repeats for _, c in fewer)
        text = f"{many(number, 'repeat')} removed: {_at(grid, cell)} is a mean of "
        text += f"{cell.new.repeats} now, was of {cell.old.repeats}"
        yield row("removed", BAD, study.id, text, "removed repeat")
    named = any(each.name.startswith(("trials", "items of", "spread")) for each in study.properties)
    other = [pair for pair in cells if pair[1].kind == "trials"]
    if other and not named:
        grid, cell = other[0]
        before, now = (
            trials(of, each) or each.stderr or "none"
            for of, each in ((grid.old, cell.old), (grid.new, cell.new))
        )
        text = f"{many(len(other), 'value')} {is_are(len(other))} the same with other numbers of "
        text += f"trials or errors ({_at(grid, cell)}: {before} → {now})"
        yield row("meaning", LOOK, study.id, text, "other sample size")


def _at(grid: GridChange, cell: CellChange) -> str:
    return place_in(grid.new.study, grid.new.levels, cell.point)
