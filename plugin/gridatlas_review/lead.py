"""What a reviewer reads first: per study its answer, the changed values, and what else is short.

All of it takes at most `MAX_LINES` lines of Markdown, whatever changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from gridatlas.analysis.said import Answer
from gridatlas.analysis.words import listed
from gridatlas.assessment.assessment import Assessment
from gridatlas.model.format import many
from gridatlas.table.grids import Results
from gridatlas_review.changes import Changes, Place, Shown, StudyChanges, fails, is_wrong
from gridatlas_review.grids import GridChange
from gridatlas_review.report import (
    Entry,
    Lead,
    Section,
    Table,
    entry,
    grid_name,
    grids_text,
    in_lines,
    line,
)
from gridatlas_review.values import grid_of_differences, remarks_of, value_table
from gridatlas_review.verdict import study_concerns

MAX_LINES = 40
"""Lines of Markdown before the first fold, with the verdict and with those that are empty."""
AROUND = 6
"""Of these, the lines of the verdict, of what is compared, and of the studies that are left out."""
MAX_STUDIES = 2
MAX_ROWS = 10
MAX_NOTES = 8
NOTED = ("structure", "renames", "texts")
"""Sections whose entries are lines of their own: they are notes, where there is room."""


@dataclass(frozen=True, slots=True)
class Leads:
    """What is read first, and what of all else it already has.

    Attributes:
        more: The studies that are left out, in a sentence.
        shown: The changed cells that have a row.
        noted: Ids of studies and of sections whose entries are notes.
    """

    leads: tuple[Lead, ...] = ()
    more: str = ""
    shown: Shown = field(default_factory=dict)
    noted: frozenset[tuple[str, str]] = frozenset()


def make_leads(changes: Changes, sections: Sequence[Section], pages: str) -> Leads:
    """What is read first of all studies that changed.

    Args:
        sections: All that is to be said, whether it is short or not.
        pages: Folder of the pages below the site's root.
    """
    entries = [entry for section in sections for entry in section.entries]
    changed = dict.fromkeys(entry.study for entry in entries)
    by_id = {study.id: study for study in changes.studies}
    added = {study.study.id: study for study in changes.added}
    compared = [by_id[study] for study in by_id if study in changed or any(by_id[study].cells())]
    compared.sort(key=lambda study: (not any(study_concerns(study)), -len([*study.cells()])))
    names = [*(study.id for study in compared), *added]
    room = MAX_LINES - AROUND
    leads: list[Lead] = []
    shown: dict[str, list[Place]] = {}
    for index, name in enumerate(names[:MAX_STUDIES]):
        share = room // (min(len(names), MAX_STUDIES) - index)
        if name in added:
            lead = _lead_of_new(added[name], pages)
        else:
            lead, shown[name] = _lead(by_id[name], pages, share)
        leads.append(lead)
        room -= _lines(lead)
    noted = set()
    for index, name in enumerate(names[:MAX_STUDIES]):
        if name in by_id:
            with_notes, room, sections_noted = _with_notes(leads[index], sections, room)
            noted |= {(name, section) for section in sections_noted}
            leads[index], room = _with_grids(with_notes, by_id[name], room)
    more = [line(_title(changes, name)) for name in names[MAX_STUDIES:]]
    text = f"{many(len(more), 'more study', 'more studies')} changed: {'; '.join(more)}"
    noted |= {(name, section) for name in added for section in ("structure", "claims-other")}
    return Leads(tuple(leads), line(text) if more else "", shown, frozenset(noted))


def _title(changes: Changes, study: str) -> str:
    return changes.head.studies[study].study.title


def _lines(lead: Lead) -> int:
    """Lines of Markdown that it takes, with the empty ones."""
    tables = [table for table in (lead.table, *lead.grids) if table]
    lines = 2 + (2 if lead.text else 0) + (3 if lead.before else 0)
    lines += sum(len(table.rows) + 3 for table in tables)
    lines += 2 * bool(lead.remarks)
    return lines + (len(lead.notes) + 1 if lead.notes else 0)


def _page(study: str, pages: str) -> str:
    return f"{pages}/{study}/"


def _lead_of_new(added: Assessment, pages: str) -> Lead:
    """A new study: its answer, and what its statements and checks come to."""
    study = added.study
    text = f"New, with {grids_text(added.results.grids.values())}. {added.answers[''].headline}."
    notes = []
    if added.judged:
        unexpected = sum(map(is_wrong, added.judged))
        statements = many(len(added.judged), "statement")
        notes.append(f"{statements}, {f'{unexpected:,} not' if unexpected else 'all'} as expected")
    findings = added.checks.findings
    if findings:
        failing = sum(map(fails, findings))
        accepted = sum(finding.accepted is not None for finding in findings)
        found = f"{many(len(findings), 'finding')} of checks, {failing or 'none'} failing"
        notes.append(found + (f", {accepted:,} accepted" if accepted else ""))
    return Lead(study.id, line(study.title), _page(study.id, pages), line(text), notes=tuple(notes))


def _lead(study: StudyChanges, pages: str, room: int) -> tuple[Lead, list[Place]]:
    """Answer and changed values of a study, and the cells that have a row."""
    head = study.head.study
    text, before, now = answers_of(study)
    lead = Lead(head.id, line(head.title), _page(head.id, pages), text, before, now)
    rows = min(MAX_ROWS, room - _lines(lead) - 5)
    table, shown = value_table(study, pages, max(rows, 1))
    if table is None:
        return lead, []
    remarks = tuple(map(line, remarks_of(study, len(shown))))
    return replace(lead, table=in_lines(table), remarks=remarks), shown


def answers_of(study: StudyChanges) -> tuple[str, str, str]:
    """How many values changed and whether the answer did; then the answer before and now."""
    if not _may_change_answers(study):
        return "", "", ""
    base, head = study.base, study.head
    before, now = base.answers[""], head.answers[""]
    renamed = (
        replace(
            of,
            factor=study.match.in_head(of.factor),
            levels=tuple(map(study.match.relabelled, of.levels)),
        )
        for of in before.assertions
    )
    before = replace(before, assertions=tuple(renamed))
    text, is_same = values_changed(
        (base.results, before), (head.results, now), place=lambda at: study.match.head(*at)
    )
    if is_same:
        same = "" if text.endswith("the same") else "; the answer is the same"
        return line(f"{_sums_changed(study) or text}{same}: {now.headline}."), "", ""
    return line(f"{text}."), line(f"{before.headline}."), line(f"{now.headline}.")


def values_changed(
    base: tuple[Results, Answer],
    head: tuple[Results, Answer],
    place: Callable[[Place], Place | None] = lambda at: at,
) -> tuple[str, bool]:
    """How many shown values of a study changed, in words, and whether its answer is the same.

    A value that was typed again is a correction: it isn't tested.

    Args:
        base: The results before, and the answer of the page.
        head: The results now, and the answer of the page.
        place: Where the head has a cell of the base; None where it has no such place.
    """
    before, removed = _before(base[0], place)
    now = dict(_points(head[0]))
    both = before.keys() & now.keys()
    changed = sum(before[at] != now[at] for at in both)
    added, removed = len(now.keys() - both), removed + len(before.keys() - both)
    same = base[1].headline == head[1].headline and base[1].grade == head[1].grade
    if not (changed or added or removed):
        # Only labels or decimals are others.
        same = (base[1].grade, base[1].asserted) == (head[1].grade, head[1].asserted)
        return "No value changed" + ("" if same else ", but the answer did"), same
    facts = [f"{changed:,} of {len(both):,} values changed"] if changed else []
    facts += [
        f"{many(number, 'value')} {verb}"
        for number, verb in ((added, "added"), (removed, "removed"))
        if number
    ]
    them = "it" if changed + added + removed == 1 else "them"
    end = "; the answer is the same" if same else f", and the answer with {them}"
    return listed(facts) + end, same


def _before(
    results: Results, place: Callable[[Place], Place | None]
) -> tuple[dict[Place, Decimal], int]:
    """The values before, where the head has their places, and how many it has no place for."""
    values: dict[Place, Decimal] = {}
    removed = 0
    for at, value in _points(results):
        to = place(at)
        if to is None:
            removed += 1
        else:
            values[to] = value
    return values, removed


def _points(results: Results) -> Iterator[tuple[Place, Decimal]]:
    for levels, grid in results.grids.items():
        for point, value in zip(grid.keys, grid.columns.value, strict=True):
            if value is not None and not grid.aggregate:
                yield (levels, point), value


def _sums_changed(study: StudyChanges) -> str:
    """How many printed aggregates changed, where nothing else did; else empty."""
    cells = [
        grid.new.aggregate
        for grid, cell in study.cells(computed=False)
        if cell.kind in ("value", "gone", "new")
    ]
    if not all(cells) or not cells:
        return ""
    return f"Only {many(len(cells), 'aggregate')} changed"


def answer_entries(changes: Changes) -> Iterator[Entry]:
    """The pages below a study's own that lead with another sentence now."""
    for study in changes.studies:
        if not _may_change_answers(study) or not _changes_values(study):
            continue
        base, head = study.base, study.head
        names = {facet.id: facet.label for facet in head.study.facets}
        for facet in head.study.facets:
            levels = head.results.levels(facet.id)
            names |= {f"{facet.id}/{level.slug}": level.label for level in levels}
        for key, now in head.answers.items():
            before = base.answers.get(key)
            repeats = (before, now) == (base.answers[""], head.answers[""])
            if key not in names or before is None or repeats or before.headline == now.headline:
                continue
            start = f"{names[key]}: "
            texts = (answer.headline.removeprefix(start) for answer in (before, now))
            yield entry(study.id, f"{start}{' → '.join(texts)}")


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


def _changes_values(study: StudyChanges) -> bool:
    """Whether anything but labels and decimals changed: else answers are only worded otherwise."""
    grids = study.grids
    changed = grids.changed or grids.added or grids.removed or study.match.added
    return bool(changed or study.match.removed or study.findings or study.readings.removed)


def _may_change_answers(study: StudyChanges) -> bool:
    """Whether anything changed that answers are made of; computing them takes seconds."""
    grids, readings = study.grids, study.readings
    rules = [change for change in study.properties if change.weight == "rule"]
    made_of = (
        *(grids.changed, grids.added, grids.removed),
        *(readings.changed, readings.added, readings.removed, study.findings, rules),
    )
    return any(made_of)


def _with_notes(lead: Lead, sections: Sequence[Section], room: int) -> tuple[Lead, int, list[str]]:
    """A lead with short entries of other sections, the lines left, and these sections."""
    notes: list[str] = []
    noted: list[str] = []
    for section in sections:
        if section.id not in NOTED:
            continue
        entries = [entry for entry in section.entries if entry.study == lead.study]
        extra = len(entries) + (0 if notes else 1)
        fits = len(notes) + len(entries) <= MAX_NOTES and extra <= room
        if entries and fits and not any(map(_is_long, entries)):
            notes += [entry.text for entry in entries]
            noted.append(section.id)
            room -= extra
    return replace(lead, notes=tuple(notes)), room, noted


def _is_long(entry: Entry) -> bool:
    return bool(entry.details or entry.table)


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
    found = [grid for grid in study.grids.changed if len(grid.cells) > 1]
    return sorted(found, key=lambda grid: (grid.new.computed, -len(grid.cells)))
