"""Changed values in the report: as tables, and with the best cells of grids as entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal

from gridatlas.assessment.uncertainty import Ends
from gridatlas.model.addresses import SiteAddress
from gridatlas.model.format import (
    between,
    cell_text,
    difference_ends,
    format_difference,
    many,
    places_of,
    value_with_unit,
)
from gridatlas.model.study import Cell, Study, inline, point_slug
from gridatlas.statistics.interval import Interval
from gridatlas.table.items import trials
from gridatlas.table.study_table import Grid
from gridatlas.table.summary import Summary
from gridatlas_review.changes import Changes, Place, Shown, StudyChanges
from gridatlas_review.grids import CELL_KINDS, BestChange, CellChange, CellKind, GridChange
from gridatlas_review.report import (
    ROWS,
    Entry,
    Table,
    entry,
    grid_name,
    more_than,
    place_name,
    reading_name,
    truncate,
    value_text,
)
from gridatlas_review.significance import SignificanceTest
from gridatlas_review.verdict import significance_counts

MAX_SIDE = 12
"""Rows and columns of a grid of differences."""
UNCHANGED = "·"
VALUES = "before → after"

Row = tuple[GridChange, CellChange]


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
    columns = [
        *(["grid"] if new.facets else []),
        *(inline(axis.label) for axis in new.varied),
        VALUES,
        "difference",
        *([] if same else ["kind of change"]),
    ]
    table = [
        (
            *([grid_name(new, grid.new.levels)] if new.facets else []),
            *(axis.level(key).label for axis, key in zip(new.varied, cell.point, strict=False)),
            _before_after(grid, cell),
            difference_text(new, cell),
            *([] if same else [status]),
        )
        for (grid, cell), status in zip(rows, statuses, strict=True)
    ]
    links = tuple(cell_link(grid.new, cell, pages) for grid, cell in rows)
    shown = [(grid.new.levels, cell.point) for grid, cell in rows[:limit]]
    return Table(tuple(columns), tuple(table[:limit]), links[:limit], columns.index(VALUES)), shown


def remarks_of(study: StudyChanges, shown: int) -> Iterator[str]:
    """What is so of all changed values, and what the table leaves out."""
    rows = _rows(study)
    more = len(rows) - shown
    if more > 0:
        yield f"And {many(more, 'more value')}, in the list below."
    statuses = Counter(_status(study, cell) for _, cell in rows)
    if len(statuses) == 1 and rows[0][1].kind in ("value", "trials"):
        (status,) = statuses
        yield _of_all(len(rows), status)
    computed = sum(cell.origin == "computed" for _, cell in study.cells())
    if computed:
        yield f"{many(computed, 'mean')} computed from these changed, too."


def _of_all(number: int, status: str) -> str:
    if status == CORRECTION:
        what = (
            "This is a correction: the value was"
            if number == 1
            else (f"All {number:,} are corrections: values")
        )
        return f"{what} typed again, not measured, so nothing is tested."
    return f"{'The value' if number == 1 else f'All {number:,} values'}: {status}."


CORRECTION = "correction"


def _status(study: StudyChanges, cell: CellChange) -> str:
    """What kind of change it is, and the test of what was measured again."""
    kinds = {"gone": "removed", "new": "added", "state": "another state", "trials": "other trials"}
    if cell.kind in kinds:
        return kinds[cell.kind]
    if cell.origin == "reading":
        return f"now from {reading_name(study.head.study, cell.new.reading)}"
    if cell.significance is None:
        return CORRECTION
    return f"measured again, {_tested(cell.significance)}"


def _tested(test: SignificanceTest) -> str:
    """`significant, p = 0.03`; why nothing can be tested is a remark."""
    if test.significant is None:
        return "not testable"
    return f"{'' if test.significant else 'not '}significant{test.p_text}"


def _rows(study: StudyChanges) -> list[Row]:
    """All changed cells but computed ones, those first that matter most."""

    def rank(row: Row) -> tuple[object, ...]:
        cell = row[1]
        return CELL_KINDS.index(cell.kind), not cell.is_significant, -cell.size

    return sorted(study.cells(computed=False), key=rank)


def _before_after(grid: GridChange, cell: CellChange) -> str:
    before, after = cell_text(grid.old.study, cell.old), cell_text(grid.new.study, cell.new)
    return f"{before} → {after}"


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
