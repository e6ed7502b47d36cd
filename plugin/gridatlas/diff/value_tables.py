"""Changed values as tables: those of a study in rows, and the differences of a grid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gridatlas.diff.changes import Place, StudyChanges, is_wrong
from gridatlas.diff.grid_changes import CellChange, GridChange
from gridatlas.diff.report import Table, grid_name, reading_name
from gridatlas.diff.significance import SignificanceTest
from gridatlas.model.addresses import SiteAddress
from gridatlas.model.format import (
    cell_text,
    difference_ends,
    format_difference,
    many,
    places_of,
    value_with_unit,
)
from gridatlas.model.study import Grid, Study, inline, point_slug
from gridatlas.statistics.interval import Interval

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
    affected = [_affected(study, grid, cell) for grid, cell in rows]
    columns = [
        *(["grid"] if new.facets else []),
        *(inline(axis.label) for axis in new.varied),
        VALUES,
        "difference",
        *([] if same else ["kind of change"]),
        *(["affects"] if any(affected) else []),
    ]
    table = [
        (
            *([grid_name(new, grid.new.levels)] if new.facets else []),
            *(axis.level(key).label for axis, key in zip(new.varied, cell.point, strict=False)),
            _before_after(grid, cell),
            difference_text(new, cell),
            *([] if same else [status]),
            *([effect] if any(affected) else []),
        )
        for (grid, cell), status, effect in zip(rows, statuses, affected, strict=True)
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
    computed = sum(cell.origin == "computed" for grid in study.grids.changed for cell in grid.cells)
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
    rows = [
        (grid, cell)
        for grid in study.grids.changed
        for cell in grid.cells
        if cell.origin != "computed"
    ]

    def rank(row: Row) -> tuple[object, ...]:
        grid, cell = row
        place = grid.new.levels, cell.point
        causes = study.causes
        effects = len(causes.statements.get(place, ())) + len(causes.checks.get(place, ()))
        order = {"gone": 0, "value": 1, "new": 2, "state": 3, "trials": 4}[cell.kind]
        return order, not cell.is_significant, -effects, -cell.size

    return sorted(rows, key=rank)


def _affected(study: StudyChanges, grid: GridChange, cell: CellChange) -> str:
    """`8 statements, 2 checks` that say something else because of one value."""
    place = grid.new.levels, cell.point
    statements = study.causes.statements.get(place, ())
    checks = study.causes.checks.get(place, ())
    parts = [
        many(number, noun)
        for number, noun in ((len(statements), "statement"), (len(checks), "check"))
        if number
    ]
    wrong = sum(is_wrong(claim.new) for claim in statements)
    if parts and statements and not wrong:
        parts[0] += " (as expected)"
    return ", ".join(parts)


def _before_after(grid: GridChange, cell: CellChange) -> str:
    before, after = cell_text(grid.old.study, cell.old), cell_text(grid.new.study, cell.new)
    return f"{before} → {after}"


def difference_text(study: Study, change: CellChange) -> str:
    """`+2.6 [+1.0 to +4.2] points`; empty where a value is absent."""
    if change.kind != "value" or change.old.value is None or change.new.value is None:
        return ""
    difference = change.new.value - change.old.value
    decimals = study.metric.decimals or 0
    if change.origin != "computed":
        decimals = min(max(decimals, places_of(difference)), 6)
    text = value_with_unit(
        format_difference(difference, decimals), study.metric.unit, difference=True
    )
    if change.significance and change.significance.interval:
        text += f" [{difference_ends(Interval(*change.significance.interval), study)}]"
    return text


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
    if cell.kind == "value" and cell.old.value is not None and cell.new.value is not None:
        difference = cell.new.value - cell.old.value
        decimals = study.metric.decimals or 0
        if cell.origin != "computed":
            decimals = min(max(decimals, places_of(difference)), 6)
        return format_difference(difference, decimals)
    return {"gone": "removed", "new": "new"}.get(cell.kind, "other")
