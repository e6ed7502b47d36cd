"""Two snapshots compared: which of their studies are the same, and what changed in each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from gridatlas.assessment.assessment import Assessment
from gridatlas.diff.changes import Changes, StudyChanges, UnreadableStudy
from gridatlas.diff.checks import compare_findings, compare_problems
from gridatlas.diff.claims import compare_claims
from gridatlas.diff.coverage import compare_coverage
from gridatlas.diff.grids import compare_grids
from gridatlas.diff.matching import (
    Counterpart,
    Rename,
    match_by_values,
    match_studies,
    name_of,
    study_values,
)
from gridatlas.diff.readings import compare_readings, removed_readings
from gridatlas.diff.snapshot import Snapshot
from gridatlas.diff.structure import compare_properties
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
    claims = compare_claims(old, new)
    findings = compare_findings(old.checks, new.checks, match, readings.ids)
    return StudyChanges(
        old,
        new,
        match,
        compare_grids(old, new, match),
        claims,
        findings,
        compare_coverage(old, new, match, readings.ids, findings),
        readings,
        removed_readings(old, match, readings, claims, findings),
        compare_properties(old.study, new.study, match, readings.ids),
        problems,
        fixed,
    )
