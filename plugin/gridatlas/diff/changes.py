"""Everything that changed between two states of the studies, as frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import same_inputs
from gridatlas.checks import TITLES, Finding
from gridatlas.diff.check_changes import (
    FindingChange,
    compare_findings,
    other_problems,
)
from gridatlas.diff.claim_changes import ClaimChange, compare_claims
from gridatlas.diff.coverage import LostCheck, compare_coverage
from gridatlas.diff.grids import Grids, compare_grids
from gridatlas.diff.matching import (
    Match,
    Renamed,
    match_by_values,
    match_studies,
    name_of,
    study_values,
)
from gridatlas.diff.reading_changes import DisagreementChange, Readings, compare_readings
from gridatlas.diff.removed_readings import RemovedReading, removed_readings
from gridatlas.diff.snapshot import Snapshot
from gridatlas.diff.text_changes import TextChange, compare_texts
from gridatlas.model.problems import Problem
from gridatlas.model.study import renamed


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A study that can't be built on one side or both, so that it can't be compared."""

    study: str
    where: Literal["base", "head", "both"]
    problems: tuple[Problem, ...]
    there: bool


@dataclass(frozen=True, slots=True, eq=False)
class StudyChanges:
    """A study that both sides have, with all that changed in it."""

    base: Assessment
    head: Assessment
    match: Match
    grids: Grids
    claims: tuple[ClaimChange, ...]
    findings: tuple[FindingChange, ...]
    lost_checks: tuple[LostCheck, ...]
    readings: Readings
    removed_readings: tuple[RemovedReading, ...]
    texts: tuple[TextChange, ...]
    problems: tuple[Problem, ...]
    fixed: tuple[Problem, ...]

    @property
    def own_claims(self) -> tuple[ClaimChange, ...]:
        """The claims that changed, but for those that only lost a reading as their source."""
        moved = {id(claim) for reading in self.removed_readings for claim in reading.moved}
        return tuple(claim for claim in self.claims if id(claim) not in moved)

    @property
    def own_disagreements(self) -> tuple[DisagreementChange, ...]:
        """The disagreements that changed, but for those that went with a reading."""
        moved = {
            id(change) for reading in self.removed_readings for change in reading.disagreements
        }
        return tuple(
            disagreement
            for disagreement in self.readings.disagreements
            if id(disagreement) not in moved
        )

    def is_seen(self, finding: Finding) -> bool:
        """Whether a finding of the base could still be seen in the head.

        It can't where its reading was removed or its check can't see it any more; that is told of
        these.
        """
        hidden = [reading.findings for reading in self.removed_readings]
        hidden += [check.hidden for check in self.lost_checks]
        return all(finding is not other for findings in hidden for other in findings)


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """Two sides and how they differ.

    Attributes:
        added, removed: Studies that one side only has.
        renamed: Studies under another id.
        studies: Those on both sides, in the head's order; also those in which nothing changed.
    """

    base: Snapshot
    head: Snapshot
    unreadable: tuple[Unreadable, ...]
    added: tuple[Assessment, ...]
    removed: tuple[Assessment, ...]
    renamed: tuple[Renamed, ...]
    studies: tuple[StudyChanges, ...]


def compare_sides(base: Snapshot, head: Snapshot, cache: Path | None = None) -> Changes:
    """Compare all studies.

    Args:
        cache: Folder where statistics are kept between runs.
    """
    ids = {key: key for key in base.studies if key in head.studies}
    under_others = _renamed(base, head)
    ids |= {key: to for key, to, _ in under_others}
    from_id = {to: key for key, to in ids.items()}
    return Changes(
        base,
        head,
        _unreadable(base, head),
        tuple(
            study
            for key, study in head.studies.items()
            if key not in from_id and key not in base.unreadable
        ),
        tuple(
            study
            for key, study in base.studies.items()
            if key not in ids and key not in head.unreadable
        ),
        tuple(one for _, _, one in under_others),
        tuple(
            _study(base.studies[from_id[key]], study, base, head, cache)
            for key, study in head.studies.items()
            if key in from_id
        ),
    )


def _renamed(base: Snapshot, head: Snapshot) -> list[tuple[str, str, Renamed]]:
    """Studies under another id, with both: as the head's `former` says, else by their values."""
    unread = {*base.unreadable, *head.unreadable}
    old, new = _loose(base, head.studies, unread), _loose(head, base.studies, unread)
    now = renamed(study.study for study in head.studies.values())
    said = {key: now[key] for key in old if now.get(key) in new}
    pairs = []
    for key, to in said.items():
        one, other = old.pop(key), new.pop(to)
        equal = sum(1 for at, value in one.items() if at in other and other[at] == value)
        pairs.append((key, to, equal, max(len(one), len(other))))
    pairs += [(key, *alike) for key, alike in match_by_values(old, new).items()]
    return [
        (
            key,
            to,
            Renamed(
                "study",
                "",
                name_of(key, base.studies[key].study.title),
                name_of(to, head.studies[to].study.title),
                equal,
                cells,
                key in said,
            ),
        )
        for key, to, equal, cells in pairs
    ]


def _loose(
    side: Snapshot, others: Mapping[str, Assessment], unread: set[str]
) -> dict[str, dict[object, object]]:
    """The values of studies that the other side doesn't have."""
    return {
        key: study_values(study.results)  # type: ignore[misc]
        for key, study in side.studies.items()
        if key not in others and key not in unread
    }


def _unreadable(base: Snapshot, head: Snapshot) -> tuple[Unreadable, ...]:
    found = []
    for key in sorted({*base.unreadable, *head.unreadable}):
        in_base, in_head = key in base.unreadable, key in head.unreadable
        problems = head.unreadable[key] if in_head else base.unreadable[key]
        where: Literal["base", "head", "both"] = "base"
        if in_head:
            where = "both" if in_base else "head"
        there = key in (base.studies if in_head else head.studies)
        found.append(Unreadable(key, where, problems, there))
    return tuple(sorted(found, key=lambda one: one.where == "base"))


def _claims(old: Assessment, new: Assessment, cache: Path | None) -> tuple[ClaimChange, ...]:
    """How the claims differ; statistics are looked at only where something else does."""
    found = compare_claims(old.judged, new.judged)
    if not found and same_inputs(old.results, new.results):
        return ()
    return compare_claims(replace(old, cache=cache).claims, replace(new, cache=cache).claims)


def _study(
    old: Assessment, new: Assessment, base: Snapshot, head: Snapshot, cache: Path | None
) -> StudyChanges:
    match = match_studies(old.results, new.results)
    readings = compare_readings(old.study, new.study, match)
    kinds = (*TITLES,)
    problems, fixed = other_problems(
        base.problems[old.study.id], head.problems[new.study.id], kinds
    )
    claims = _claims(old, new, cache)
    findings = compare_findings(old.checks, new.checks, match, readings.ids)
    sides = (old.study, old.checks), (new.study, new.checks)
    return StudyChanges(
        old,
        new,
        match,
        compare_grids(old.results, new.results, match, cache),
        claims,
        findings,
        compare_coverage(*sides, match, readings.ids, findings),
        readings,
        removed_readings(old.study, old.checks, match, readings, claims, findings),
        compare_texts(old.study, new.study, match, readings.ids),
        problems,
        fixed,
    )
