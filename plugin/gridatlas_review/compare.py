"""Two snapshots compared: which studies are the same, what changed in each, and its report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from gridatlas.assessment.assessment import Assessment
from gridatlas.model.study import renamed
from gridatlas.progress import tracked
from gridatlas_review.changes import Changes, StudyChanges, UnreadableStudy
from gridatlas_review.checks import compare_coverage, compare_findings, compare_problems
from gridatlas_review.claims import compare_claims
from gridatlas_review.grids import compare_grids
from gridatlas_review.lead import difference_entries, make_leads
from gridatlas_review.matching import (
    Counterpart,
    Rename,
    match_by_values,
    match_studies,
    name_of,
    study_values,
)
from gridatlas_review.readings import compare_readings
from gridatlas_review.report import Entry, Report, Row, Section, line
from gridatlas_review.snapshot import Snapshot
from gridatlas_review.structure import compare_properties
from gridatlas_review.values import cell_entries, test_entries
from gridatlas_review.verdict import verdict


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
            for key, study in tracked(head.studies.items(), "studies compared")
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
    grids = compare_grids(old, new, match, readings.ids)
    return StudyChanges(
        old,
        new,
        match,
        grids,
        claims,
        findings,
        compare_coverage(old, new, match, readings.ids),
        readings,
        compare_properties(old.study, new.study, match, readings.ids),
        problems,
        fixed,
    )


SECTIONS = {
    "problems": "Problems in the data",
    "checks": "Checks",
    "answers": "Answers",
    "meaning": "What values mean",
    "removed": "Removed",
    "claims": "Statements",
    "": "Other changes",
}
"""Titles of what happened, by kind."""


def make_report(changes: Changes, pages: str = "studies") -> Report:
    """Put changes in words: what is read first, then sections, without those that have no entry.

    Args:
        pages: Folder of the pages below the site's root.
    """
    rows = verdict(changes)
    studies = (*changes.removed, *changes.head.studies.values())
    report = Report(
        line(changes.base.name),
        changes.base.commit,
        line(changes.head.name),
        changes.head.commit,
        rows,
        (),
        titles={study.study.id: line(study.study.title) for study in studies},
    )
    points = report.points
    leads = make_leads(changes, rows, len(points) + bool(points), pages)
    shown = "\n".join([report.summary, *(text for _, text in points)])
    found = [
        Section(kind or "others", title, tuple(_entries(rows, kind, shown)))
        for kind, title in SECTIONS.items()
    ]
    found += [
        Section("cells", "More changed values", tuple(cell_entries(changes, leads.shown))),
        Section("differences", "Differences by cell", tuple(difference_entries(changes, leads))),
        Section("tests", "How values were tested", tuple(test_entries(changes, leads.shown))),
    ]
    sections = tuple(section for section in found if section.entries)
    return replace(report, sections=sections, leads=leads.leads, more=leads.more)


def _entries(rows: Iterable[Row], kind: str, shown: str) -> Iterator[Entry]:
    """What happened of a kind, but for what is whole where it is read first."""
    for found in rows:
        if found.kind == kind and (found.details or found.text not in shown):
            yield Entry(f"{found.mark} {found.text}", found.study, found.details)
