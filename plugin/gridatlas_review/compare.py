"""Two snapshots compared: which studies are the same, what changed in each, and its report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, Literal

from gridatlas.assessment.assessment import Assessment
from gridatlas.model.study import renamed
from gridatlas.progress import tracked
from gridatlas_review.changes import Changes, StudyChanges, UnreadableStudy
from gridatlas_review.checks import (
    check_entries,
    compare_findings,
    compare_problems,
    other_finding_entries,
    problem_entries,
)
from gridatlas_review.claims import (
    claim_entries,
    claims_gist,
    compare_claims,
    other_claim_entries,
)
from gridatlas_review.coverage import compare_coverage
from gridatlas_review.grids import compare_grids
from gridatlas_review.lead import Leads, answer_entries, difference_entries, make_leads
from gridatlas_review.matching import (
    Counterpart,
    Rename,
    match_by_values,
    match_studies,
    name_of,
    study_values,
)
from gridatlas_review.readings import (
    compare_readings,
    disagreement_entries,
    removed_entries,
    removed_gist,
    removed_readings,
    source_entries,
)
from gridatlas_review.report import Entry, Report, Section, line
from gridatlas_review.snapshot import Snapshot
from gridatlas_review.structure import (
    compare_properties,
    rename_entries,
    structure_entries,
    text_entries,
)
from gridatlas_review.values import best_entries, cell_entries, test_entries
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
    removed = removed_readings(old, match, readings, claims, findings)
    return StudyChanges(
        old,
        new,
        match,
        grids,
        claims,
        findings,
        compare_coverage(old, new, match, readings.ids),
        readings,
        removed,
        compare_properties(old.study, new.study, match, readings.ids),
        problems,
        fixed,
    )


SECTIONS: tuple[tuple[str, str, Callable[[Changes], Iterable[Entry]]], ...] = (
    ("problems", "Problems in the data", problem_entries),
    ("readings-removed", "Readings removed", removed_entries),
    ("structure", "Added, removed, or with other settings", structure_entries),
    ("sources", "Readings with other cells", source_entries),
    ("checks", "New or changed check failures", check_entries),
    ("claims", "Statements changed", claim_entries),
    ("answers", "Other pages whose answer changed", answer_entries),
    ("readings", "Cells on which readings disagree", disagreement_entries),
    ("best", "Best printed values", best_entries),
    ("claims-other", "Statements that are new, or worded otherwise", other_claim_entries),
    ("findings", "Other findings of checks", other_finding_entries),
    ("renames", "Renames", rename_entries),
    ("texts", "Texts, labels and notes", text_entries),
)
"""Id, title and entries of each section: causes before consequences. Changed values come first."""
GISTS: Mapping[str, Callable[[Changes], str]] = {
    "readings-removed": removed_gist,
    "claims": claims_gist,
}
"""What the entries of a section share or come to."""


def make_report(changes: Changes, pages: str = "studies") -> Report:
    """Put changes in words: what is read first, then sections, without those that have no entry.

    Args:
        pages: Folder of the pages below the site's root.
    """
    found = [
        Section(key, title, tuple(entries(changes)), _gist(key, changes))
        for key, title, entries in SECTIONS
    ]
    leads = make_leads(changes, found, pages)
    # Causes come before consequences, and what is there only to be looked up at the end.
    place = 1 + [section.id for section in found].index("readings-removed")
    found.insert(
        place, Section("cells", "More changed values", tuple(cell_entries(changes, leads.shown)))
    )
    found += [
        Section("differences", "Differences by cell", tuple(difference_entries(changes, leads))),
        Section("tests", "How values were tested", tuple(test_entries(changes, leads.shown))),
    ]
    sections = (_without_notes(section, leads) for section in found)
    base, head = changes.base, changes.head
    studies = (*changes.removed, *changes.head.studies.values())
    changed = bool(leads.leads) or any(section.entries for section in found)
    needs_attention, text = verdict(changes, changed=changed)
    return Report(
        line(base.name),
        base.commit,
        line(head.name),
        head.commit,
        f"{line(text)}.",
        tuple(section for section in sections if section.entries),
        needs_attention,
        leads.leads,
        leads.more,
        {study.study.id: line(study.study.title) for study in studies},
    )


def _gist(section: str, changes: Changes) -> str:
    return line(GISTS[section](changes)) if section in GISTS else ""


def _without_notes(section: Section, leads: Leads) -> Section:
    """A section without what is read first; entries of a group stand together."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in section.entries:
        if not entry.details and (entry.study, section.id) in leads.noted:
            continue
        shown = replace(entry, group="") if entry.group == section.gist else entry
        groups.setdefault((entry.study, shown.group), []).append(shown)
    return replace(section, entries=tuple(chain.from_iterable(groups.values())))
