"""What a reviewer reads first: per study its answer, the changed values, and what else is short.

All of it takes at most `MAX_LINES` lines of Markdown, whatever changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from gridatlas.model.format import many
from gridatlas_review.changes import Changes, Place, Shown, StudyChanges
from gridatlas_review.grids import GridChange
from gridatlas_review.report import (
    Entry,
    Lead,
    Row,
    Table,
    entry,
    grid_name,
    in_lines,
    line,
)
from gridatlas_review.values import grid_of_differences, remarks_of, value_table

MAX_LINES = 40
"""Lines of Markdown before the first fold, with the verdict and with those that are empty."""
AROUND = 6
"""Of these, the lines of the verdict, of what is compared, and of the studies that are left out."""
MAX_STUDIES = 2
MAX_ROWS = 10


@dataclass(frozen=True, slots=True)
class Leads:
    """What is read first, and what of all else it already has.

    Attributes:
        more: The studies that are left out, in a sentence.
        shown: The changed cells that have a row.
    """

    leads: tuple[Lead, ...] = ()
    more: str = ""
    shown: Shown = field(default_factory=dict)


def make_leads(changes: Changes, rows: Sequence[Row], points: int, pages: str) -> Leads:
    """What is read first of all studies that changed.

    Args:
        rows: The verdict, which says in which order.
        points: Lines that it takes.
        pages: Folder of the pages below the site's root.
    """
    by_id = {study.id: study for study in changes.studies}
    added = {study.study.id: study for study in changes.added}
    worst = dict.fromkeys(row.study for row in rows)
    changed = [*worst, *(name for name in by_id if any(by_id[name].cells()))]
    names = [name for name in dict.fromkeys(changed) if name in by_id or name in added]
    room = max(MAX_LINES - AROUND - points, 0)
    leads: list[Lead] = []
    shown: dict[str, list[Place]] = {}
    for index, name in enumerate(names[:MAX_STUDIES]):
        share = room // (min(len(names), MAX_STUDIES) - index)
        if name in added:
            study = added[name].study
            text = line(f"The answer: {added[name].answers[''].headline}.")
            lead = Lead(name, line(study.title), _page(name, pages), text)
        else:
            lead, shown[name] = _lead(by_id[name], pages, share)
        leads.append(lead)
        room -= _lines(lead)
    for index, name in enumerate(names[:MAX_STUDIES]):
        if name in by_id:
            leads[index], room = _with_grids(leads[index], by_id[name], room)
    leads = [lead for lead in leads if lead.text or lead.table or lead.grids]
    more = [line(_title(changes, name)) for name in names[MAX_STUDIES:]]
    text = f"{many(len(more), 'more study', 'more studies')} changed: {'; '.join(more)}"
    return Leads(tuple(leads), line(text) if more else "", shown)


def _title(changes: Changes, study: str) -> str:
    return changes.head.studies[study].study.title


def _lines(lead: Lead) -> int:
    """Lines of Markdown that it takes, with the empty ones."""
    tables = [table for table in (lead.table, *lead.grids) if table]
    lines = 2 + (2 if lead.text else 0)
    lines += sum(len(table.rows) + 3 for table in tables)
    return lines + 2 * bool(lead.remarks)


def _page(study: str, pages: str) -> str:
    return f"{pages}/{study}/"


def _lead(study: StudyChanges, pages: str, room: int) -> tuple[Lead, list[Place]]:
    """Answer and changed values of a study, and the cells that have a row."""
    head = study.head.study
    answer = study.head.answers[""].headline if study.may_change_answers else ""
    text = line(f"The answer: {answer}.") if answer else ""
    lead = Lead(head.id, line(head.title), _page(head.id, pages), text)
    rows = min(MAX_ROWS, room - _lines(lead) - 5)
    table, shown = value_table(study, pages, max(rows, 1))
    if table is None:
        return lead, []
    remarks = tuple(map(line, remarks_of(study, len(shown))))
    return replace(lead, table=in_lines(table), remarks=remarks), shown


def difference_entries(changes: Changes, leads: Leads) -> Iterator[Entry]:
    """The differences of grids cell by cell, but for those that are read first."""
    done = {(lead.study, table.columns[0]) for lead in leads.leads for table in lead.grids}
    for study in changes.studies:
        for grid in study.grids.changed:
            table = grid_of_differences(grid) if grid.cells else None
            if table is not None and (study.id, in_lines(table).columns[0]) not in done:
                cells = many(len(grid.cells), "cell")
                name = grid_name(study.head.study, grid.new.levels)
                corner = table.columns[0].removeprefix(f"{name}: ")
                table = replace(table, columns=(corner, *table.columns[1:]))
                yield entry(study.id, f"{name}: {cells}", (), table)


def _with_grids(lead: Lead, study: StudyChanges, room: int) -> tuple[Lead, int]:
    """A lead with the differences of its grids as far as they fit, and the lines left."""
    grids: list[Table] = []
    for grid in several_changed(study):
        table = grid_of_differences(grid)
        if table is not None and len(table.rows) + 3 <= room:
            grids.append(in_lines(table))
            room -= len(table.rows) + 3
    return replace(lead, grids=tuple(grids)), room


def several_changed(study: StudyChanges) -> list[GridChange]:
    """The grids with more than one changed value: of a single one the table says all."""
    found = [
        grid
        for grid in study.grids.changed
        if sum(cell.kind != "trials" for cell in grid.cells) > 1
    ]
    return sorted(found, key=lambda grid: (grid.new.computed, -len(grid.cells)))
