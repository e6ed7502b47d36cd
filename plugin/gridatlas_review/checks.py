"""Findings of checks, and problems of the data: new, gone or accepted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from gridatlas.checks import Finding, StudyChecks, all_checks
from gridatlas.model.format import many
from gridatlas.model.problems import Problem, join_names
from gridatlas.model.study import Study
from gridatlas_review.changes import Changes, FindingChange, StudyChanges, fails
from gridatlas_review.matching import Match
from gridatlas_review.report import (
    NAMED,
    Entry,
    entry,
    grid_name,
    more_than,
    reading_name,
    truncate,
)

Key = tuple[object, ...]

REPORTED_ELSEWHERE = frozenset(
    {
        *all_checks(),
        "claim-without-check",
        "claim-undecidable",
        "claim-not-as-recorded",
        "wrong-expression",
        "unknown-reading",
    }
)
"""Kinds of problems that are findings, or belong to claims."""
MAX_PROBLEMS = 5
"""Problems of an unreadable study that are listed."""

# --- how changes are found ----------------------------------------------------------------------


def compare_findings(
    base: StudyChecks, head: StudyChecks, match: Match, readings: Mapping[str, str]
) -> tuple[FindingChange, ...]:
    """Compare findings by kind, reading, grid and cells; what is left over, without the cells.

    Args:
        readings: The head's id of a reading by the base's.
    """
    new: dict[Key, list[Finding]] = {}
    for finding in head.findings:
        own_key = (finding.kind, finding.reading, finding.levels, frozenset(finding.cells))
        new.setdefault(own_key, []).append(finding)
    changes = []
    left: list[tuple[Finding, Key]] = []
    for finding in base.findings:
        key = _key_in_head(finding, match, readings)
        if new.get(key):
            other = new[key].pop(0)
            if _statement(finding, match) != _statement(other):
                changes.append(FindingChange(finding, other))
        else:
            left.append((finding, key[:3]))
    rest: dict[Key, list[Finding]] = {}
    for key, findings in new.items():
        rest.setdefault(key[:3], []).extend(findings)
    for finding, key in left:
        changes.append(FindingChange(finding, rest[key].pop(0) if rest.get(key) else None))
    changes += [FindingChange(None, finding) for findings in rest.values() for finding in findings]
    return tuple(changes)


def _key_in_head(finding: Finding, match: Match, readings: Mapping[str, str]) -> Key:
    """What a finding of the base is found by in the head."""
    cells = [match.head(finding.levels, point) for point in finding.cells]
    points = frozenset(
        at[1] if at else point for at, point in zip(cells, finding.cells, strict=True)
    )
    levels = match.head_levels(finding.levels) or finding.levels
    return (finding.kind, readings.get(finding.reading, finding.reading), levels, points)


def _statement(finding: Finding, match: Match | None = None) -> Key:
    """What a finding says; one of the base with the labels that the head has."""
    found = match.relabelled(finding.found) if match else finding.found
    return (found, finding.severity, finding.accepted)


def compare_problems(
    base: Iterable[Problem], head: Iterable[Problem]
) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """Problems that are new, and that are fixed, but for those of checks and claims."""
    old, new = (
        [
            problem
            for problem in problems
            if problem.severity == "problem" and problem.kind not in REPORTED_ELSEWHERE
        ]
        for problems in (base, head)
    )
    return _without(new, old), _without(old, new)


def _without(problems: Sequence[Problem], others: Sequence[Problem]) -> tuple[Problem, ...]:
    keys = [_problem_key(other) for other in others]
    left = []
    for problem in problems:
        key = _problem_key(problem)
        if key in keys:
            keys.remove(key)
        else:
            left.append(problem)
    return tuple(left)


def _problem_key(problem: Problem) -> Key:
    # Lines move with every row above; the data folder may have another name.
    file = problem.file.rpartition("/")[2]
    return (problem.kind, file, problem.found, problem.expected, problem.column)


# --- in the report ------------------------------------------------------------------------------


def check_entries(changes: Changes) -> Iterator[Entry]:
    """Findings that newly fail first, then those that fail otherwise, then checks that are lost."""
    found = [
        (study, change) for study in changes.studies for change in study.findings if change.fails
    ]
    for study, change in sorted(found, key=lambda pair: not pair[1].newly_fails):
        if change.new is not None:
            state = "Still fails, differently" if fails(change.old) else "Newly fails"
            if change.old is not None and change.old.accepted and not change.new.accepted:
                state = "No longer accepted"
            yield _finding(study.head.study, change.new, state, explained=True)
    for study in changes.studies:
        yield from _lost_checks(study)


def _lost_checks(study: StudyChanges) -> Iterator[Entry]:
    """What no longer runs on each reading, and what it found before."""
    base = study.base.study
    gone = [change.old for change in study.findings if change.old and change.new is None]
    for reading, group in groupby(
        sorted(study.lost_checks, key=lambda check: check.reading), lambda check: check.reading
    ):
        lost = list(group)
        hidden = [
            f"Before, {_was(finding)}: {finding.found}"
            for finding in gone
            if any(check.hides(finding) for check in lost)
        ]
        where = (
            f"{all_checks()[check.kind].title}: "
            f"{truncate((grid_name(base, at) for at in check.grids), NAMED)}"
            for check in lost
        )
        titles = join_names(all_checks()[check.kind].title for check in lost)
        text = f"{many(len(lost), 'check')} no longer run on {reading_name(base, reading)}: "
        yield entry(study.id, f"{text}{titles}", (*hidden, *where))


def _was(finding: Finding) -> str:
    if fails(finding):
        return "it failed"
    return "this was found, and accepted" if finding.accepted else "this was noted"


def _finding(study: Study, finding: Finding, state: str, *, explained: bool = False) -> Entry:
    """A finding; what all of its kind in a reading share is its group."""
    source = reading_name(study, finding.reading)
    meaning = f". {finding.means} {finding.sure}" if explained else ""
    details = [f"Accepted because: {finding.accepted.because}"] if finding.accepted else []
    text = f"{grid_name(study, finding.levels)}: {finding.found}"
    group = f"{state}: {all_checks()[finding.kind].title}, {source}{meaning}"
    return entry(study.id, text, details, group=group)


def other_finding_entries(changes: Changes) -> Iterator[Entry]:
    """Accepted findings, then findings and problems that are gone, then notes."""
    others = [
        (study, change)
        for study in changes.studies
        for change in study.findings
        if change.new is None or not change.fails
    ]
    for study, change in others:
        if change.new is not None and change.newly_accepted:
            yield _finding(study.head.study, change.new, "Accepted now")
    for study, change in others:
        if change.new is None and change.old is not None and study.can_be_seen(change.old):
            yield _finding(study.base.study, change.old, _gone(study, change.old))
    for study in changes.studies:
        for problem in study.fixed:
            yield entry(study.id, f"Fixed: {problem.place}: {problem.found}")
    for study, change in others:
        if change.new is not None and not change.newly_accepted:
            state = "New note" if change.old is None else "Changed"
            yield _finding(study.head.study, change.new, state)


def _gone(study: StudyChanges, finding: Finding) -> str:
    """Why a finding of the base isn't one of the head: its values changed, or are gone."""
    readings = {reading.id: reading for reading in study.head.study.readings}
    reading = readings.get(study.readings.ids.get(finding.reading, ""))
    if reading is None:
        return "No longer found"
    places = [study.match.head(finding.levels, point) for point in finding.cells]
    cells = [reading.table.get(at) for at in places if at is not None]
    left = [cell for cell in cells if cell is not None]
    if finding.kind != "disputed":
        left = [cell for cell in left if cell.value is not None]
    return "No longer found" if left else "Removed with its values"


def problem_entries(changes: Changes) -> Iterator[Entry]:
    """Studies that can't be read, and problems that are new."""
    for unreadable in changes.unreadable:
        in_other = unreadable.in_other
        text = {
            "head": "can't be read any more, so that nothing of it can be compared"
            if in_other
            else "is new, and can't be read",
            "base": "couldn't be read before, so that it can't be compared; now it can"
            if in_other
            else "couldn't be read before, and was removed",
            "both": "can't be read, neither before nor now, so that it can't be compared",
        }[unreadable.where]
        details = [
            detail
            for problem in unreadable.problems[:MAX_PROBLEMS]
            for detail in (f"{problem.place}: {problem.found}", *_fix(problem))
        ]
        details.append(more_than(MAX_PROBLEMS, len(unreadable.problems), "problem"))
        yield entry(unreadable.study, f"The study {text}", details)
    for study in changes.studies:
        for problem in study.problems:
            yield entry(study.id, f"New: {problem.place}: {problem.found}", _fix(problem))
    for added in changes.added:
        for problem in changes.head.problems.get(added.study.id, ()):
            if problem.severity == "problem":
                text = f"In a new study: {problem.place}: {problem.found}"
                yield entry(added.study.id, text, _fix(problem))


def _fix(problem: Problem) -> tuple[str, ...]:
    return f"Expected: {problem.expected}", f"To fix it: {problem.fix}"
