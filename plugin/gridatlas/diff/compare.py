"""Two snapshots compared: which studies are the same, what changed in each, and its report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from gridatlas.assessment.assessment import Assessment
from gridatlas.diff.changes import Changes, StudyChanges, UnreadableStudy
from gridatlas.diff.checks import (
    check_entries,
    compare_findings,
    compare_problems,
    other_finding_entries,
    problem_entries,
)
from gridatlas.diff.claims import claim_entries, compare_claims, other_claim_entries
from gridatlas.diff.coverage import compare_coverage
from gridatlas.diff.grid_entries import best_entries, cell_entries, significance_counts
from gridatlas.diff.grids import compare_grids
from gridatlas.diff.matching import (
    Counterpart,
    Rename,
    match_by_values,
    match_studies,
    name_of,
    study_values,
)
from gridatlas.diff.readings import (
    compare_readings,
    disagreement_entries,
    losses,
    removed_entries,
    removed_readings,
    source_entries,
)
from gridatlas.diff.report import Entry, Report, Section, grids_text, line
from gridatlas.diff.snapshot import Snapshot
from gridatlas.diff.structure import (
    compare_properties,
    rename_entries,
    structure_entries,
    text_entries,
)
from gridatlas.model.format import is_are, many
from gridatlas.model.study import renamed


def compare_snapshots(base: Snapshot, head: Snapshot) -> Changes:
    """Compare all studies; statistics are computed only for those that changed."""
    ids = {key: key for key in base.studies if key in head.studies}
    renames = _renames(base, head)
    ids |= {key: to for key, (to, _) in renames.items()}
    old_ids = {to: key for key, to in ids.items()}
    return Changes(
        base,
        head,
        _unreadable(base, head),
        tuple(
            study
            for key, study in head.studies.items()
            if key not in old_ids and key not in base.unreadable
        ),
        tuple(
            study
            for key, study in base.studies.items()
            if key not in ids and key not in head.unreadable
        ),
        tuple(rename for _, rename in renames.values()),
        tuple(
            _compare_study(base.studies[old_ids[key]], study, base, head)
            for key, study in head.studies.items()
            if key in old_ids
        ),
    )


def _renames(base: Snapshot, head: Snapshot) -> dict[str, tuple[str, Rename]]:
    """The head's id of studies under another id: as its `former` says, else by their values."""
    unreadable = {*base.unreadable, *head.unreadable}
    old = _unmatched(base, head.studies, unreadable)
    new = _unmatched(head, base.studies, unreadable)
    new_ids = renamed(study.study for study in head.studies.values())
    declared = {}
    for key in list(old):
        to = new_ids.get(key)
        if to is not None and to in new:
            values, others = old.pop(key), new.pop(to)
            equal = sum(at in others and others[at] == value for at, value in values.items())
            declared[key] = Counterpart(to, equal, max(len(values), len(others)))
    counterparts = declared | match_by_values(old, new)
    return {
        key: (
            to,
            Rename(
                "study",
                name_of(key, base.studies[key].study.title),
                name_of(to, head.studies[to].study.title),
                equal,
                cells,
                declared=key in declared,
            ),
        )
        for key, (to, equal, cells) in counterparts.items()
    }


def _unmatched(
    snapshot: Snapshot, others: Mapping[str, Assessment], unreadable: set[str]
) -> dict[str, dict[Any, Any]]:
    """The values of studies that the other snapshot doesn't have."""
    return {
        key: study_values(study.results)
        for key, study in snapshot.studies.items()
        if key not in others and key not in unreadable
    }


def _unreadable(base: Snapshot, head: Snapshot) -> tuple[UnreadableStudy, ...]:
    """Those that the head can't read first."""
    studies = []
    for key in sorted({*base.unreadable, *head.unreadable}):
        where: Literal["base", "head", "both"]
        if key in head.unreadable:
            where = "both" if key in base.unreadable else "head"
            studies.append(UnreadableStudy(key, where, head.unreadable[key], key in base.studies))
        else:
            studies.append(UnreadableStudy(key, "base", base.unreadable[key], key in head.studies))
    return tuple(sorted(studies, key=lambda study: study.where == "base"))


def _compare_study(
    old: Assessment, new: Assessment, base: Snapshot, head: Snapshot
) -> StudyChanges:
    match = match_studies(old.results, new.results)
    readings = compare_readings(old, new, match)
    problems, fixed = compare_problems(base.problems[old.study.id], head.problems[new.study.id])
    claims = compare_claims(old, new, match, readings.ids)
    findings = compare_findings(old.checks, new.checks, match, readings.ids)
    return StudyChanges(
        old,
        new,
        match,
        compare_grids(old, new, match, readings.ids),
        claims,
        findings,
        compare_coverage(old, new, match, readings.ids, findings),
        readings,
        removed_readings(old, match, readings, claims, findings),
        compare_properties(old.study, new.study, match, readings.ids),
        problems,
        fixed,
    )


SECTIONS: tuple[tuple[str, str, Callable[[Changes], Iterable[Entry]]], ...] = (
    ("readings-removed", "Readings that were removed", removed_entries),
    ("problems", "Problems in the data", problem_entries),
    ("claims", "Claims that flipped, are recorded otherwise, or were removed", claim_entries),
    ("checks", "Checks that newly fail, fail otherwise, or are no longer made", check_entries),
    ("best", "Best cells that changed", best_entries),
    ("readings", "Cells on which readings disagree", disagreement_entries),
    ("cells", "Changed values", cell_entries),
    ("claims-other", "Claims that are new or changed otherwise", other_claim_entries),
    ("structure", "Added, removed, or measured otherwise", structure_entries),
    ("findings", "Other findings: accepted, notes, and gone", other_finding_entries),
    ("renames", "The same under another name", rename_entries),
    ("sources", "Readings whose cells changed", source_entries),
    ("texts", "Texts, labels and notes", text_entries),
)
"""Id, title and entries of each section, the most important first."""


def make_report(changes: Changes) -> Report:
    """Put changes in words; sections without an entry are left out."""
    found = ((key, title, tuple(entries(changes))) for key, title, entries in SECTIONS)
    sections = tuple(Section(*section) for section in found if section[2])
    base, head = changes.base, changes.head
    return Report(
        line(base.name),
        base.commit,
        line(head.name),
        head.commit,
        _summary(changes, sections),
        sections,
    )


def _summary(changes: Changes, sections: tuple[Section, ...]) -> str:
    """What changed, in one or two sentences."""
    if not sections:
        studies = many(len(changes.studies), "study", "studies")
        grids = [grid for study in changes.studies for grid in study.head.results.grids.values()]
        return (
            f"Nothing changed: {studies} with {grids_text(grids)} are the same on both sides, with "
            "their claims, checks and texts."
        )
    sizes = {section.id: len(section.entries) for section in sections}
    parts = [*_parts(changes, sizes)]
    if changes.base.empty:
        parts[:1] = [f"{changes.base.empty}, so all results are new: {parts[0]}"]
    titles = (f"{section.title[0].lower()}{section.title[1:]}" for section in sections)
    counted = (f"{title} ({size:,})" for title, size in zip(titles, sizes.values(), strict=True))
    text = "; ".join(parts) or f"Only this changed: {', '.join(counted)}"
    return f"{text[0].upper()}{text[1:]}."


def _parts(changes: Changes, sizes: dict[str, int]) -> Iterator[str]:
    """What changed, a kind at a time.

    Args:
        sizes: Number of entries of each section that has any, by its id.
    """
    if "readings-removed" in sizes:
        removed = [reading for study in changes.studies for reading in study.removed_readings]
        lost = ", ".join(losses(removed))
        yield f"{many(len(removed), 'reading')} removed" + (f" ({lost})" if lost else "")
    if "problems" in sizes:
        yield f"{many(sizes['problems'], 'problem')} in the data"
    yield from _claims(changes)
    yield from _checks(changes, sizes.get("checks", 0))
    yield from _cells(changes)
    if "best" in sizes:
        yield f"another best cell or value in {many(sizes['best'], 'grid')}"
    disagreements = [
        change for study in changes.studies for change in study.own_disagreements if change.new
    ]
    if disagreements:
        yield f"readings disagree newly or otherwise on {many(len(disagreements), 'cell')}"
    matches = [study.match for study in changes.studies]
    for number, noun, plural, verb in (
        (len(changes.added), "study", "studies", "added"),
        (len(changes.removed), "study", "studies", "removed"),
        (sum(len(match.added) for match in matches), "level", "levels", "added"),
        (sum(len(match.removed) for match in matches), "level", "levels", "removed"),
    ):
        if number:
            yield f"{many(number, noun, plural)} {verb}"
    if "renames" in sizes:
        yield f"{sizes['renames']:,} renamed"


def _claims(changes: Changes) -> Iterator[str]:
    claims = [claim for study in changes.studies for claim in study.own_claims]
    flipped = sum(claim.flipped for claim in claims)
    wrong = sum(claim.newly_wrong and not claim.flipped for claim in claims)
    removed = sum(claim.new is None for claim in claims)
    if flipped:
        yield f"{many(flipped, 'claim')} flipped"
    if wrong:
        yield f"{many(wrong, 'claim')} {is_are(wrong)} not as recorded"
    if removed:
        yield f"{many(removed, 'claim')} removed"


def _checks(changes: Changes, entries: int) -> Iterator[str]:
    findings = [change for study in changes.studies for change in study.findings]
    new = sum(change.newly_fails for change in findings)
    lost = sum(len(study.lost_checks) for study in changes.studies)
    other = entries - new - lost
    if new:
        yield f"{many(new, 'check')} newly {'fails' if new == 1 else 'fail'}"
    if other:
        yield f"{many(other, 'check')} {'says' if other == 1 else 'say'} something else"
    if lost:
        yield f"{many(lost, 'check')} {'covers' if lost == 1 else 'cover'} less than before"


def _cells(changes: Changes) -> Iterator[str]:
    by_grid = [
        [cell for cell in grid.cells if cell.kind != "trials"]
        for study in changes.studies
        for grid in study.grids.changed
    ]
    cells = [cell for grid in by_grid for cell in grid]
    if cells:
        grids = many(sum(map(bool, by_grid)), "grid")
        yield f"{many(len(cells), 'cell')} changed in {grids}{significance_counts(cells)}"
