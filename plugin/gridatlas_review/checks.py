"""Findings of checks, and problems of the data: new, gone or accepted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from gridatlas.assessment.assessment import Assessment
from gridatlas.checks import Finding, StudyChecks, all_checks
from gridatlas.model.problems import Problem
from gridatlas.model.schema import CHANGES
from gridatlas.model.study import Levels, Study
from gridatlas_review.changes import FindingChange, LostCheck, StudyChanges, UnreadableStudy
from gridatlas_review.matching import Match
from gridatlas_review.report import (
    BAD,
    GOOD,
    LOOK,
    NAMED,
    Row,
    before_and_now,
    grid_name,
    reading_name,
    row,
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


# --- checks that no longer run ------------------------------------------------------------------


CONCLUSIVE = ("passed", "found")
"""Outcomes of a check that say something about its values."""
ONLY_WHERE_FOUND = ("disputed", "fractions")
"""Checks with a result only where they find something: without one, nothing is wrong."""


def compare_coverage(
    old: Assessment, new: Assessment, match: Match, readings: Mapping[str, str]
) -> tuple[LostCheck, ...]:
    """Checks of a reading that don't test all values any more of grids that they tested whole.

    Grids that have no values in the head don't count, unless the check tests none. Checks
    of readings that were removed are lost with these.

    Args:
        readings: The head's id of a reading by the base's.
    """
    after = _checked(new.checks)
    new_readings = {reading.id: reading for reading in new.study.readings}

    @cache
    def valued(reading: str) -> set[Levels]:
        cells = new_readings[reading].table
        return {at for at in cells.grids if cells.columns.value.defined[cells.rows(at)].any()}

    lost = []
    for (kind, reading), grids in _checked(old.checks).items():
        if reading not in readings or kind in ONLY_WHERE_FOUND:
            continue
        to = readings[reading]
        left = after.get((kind, to), {})
        gone = [levels for levels in grids if match.head_levels(levels) not in left]
        if left:
            gone = [levels for levels in gone if match.head_levels(levels) in valued(to)]
        if gone:
            lost.append(LostCheck(kind, reading, tuple(gone)))
    return tuple(lost)


def _checked(checks: StudyChecks) -> dict[tuple[str, str], dict[Levels, None]]:
    """The grids all of whose values each check of each reading tests."""
    found: dict[tuple[str, str], dict[Levels, None]] = {}
    for result in checks.results:
        if result.outcome in CONCLUSIVE:
            grids = found.setdefault((result.kind, result.reading), {})
            partly = {levels for levels, _ in result.untested}
            grids |= dict.fromkeys(levels for levels in result.grids if levels not in partly)
    return found


# --- rows ----------------------------------------------------------------------------------------


def check_rows(study: StudyChanges) -> Iterator[Row]:
    """Findings that are new, gone or accepted, and checks that no longer run."""
    head = study.head.study
    for change in study.findings:
        old, new = change.old, change.new
        if new is None:
            if old is not None and old.reading in study.readings.ids:
                text = f"{grid_name(study.base.study, old.levels)}: no longer found: {old.found}"
                yield row("checks", GOOD, study.id, text, "resolved finding")
            continue
        details = [f"{all_checks()[new.kind].title}. {new.means} {new.sure}"]
        if change.fails:
            accepted = ": no longer accepted" if old and old.accepted else ""
            text = f"{_place(head, new)}{accepted}: {new.found}"
            yield row("checks", BAD, study.id, text, "check failure", details=details)
        elif change.newly_accepted and new.accepted:
            text = f"A finding is accepted now, because: {new.accepted.because} ({new.found})"
            yield row("checks", LOOK, study.id, text, "newly accepted finding", details=details)
        elif old and old.accepted and new.accepted and old.accepted.because != new.accepted.because:
            reasons = old.accepted.because, new.accepted.because
            text = before_and_now("Another reason accepts a finding", *reasons)
            yield row("checks", LOOK, study.id, text, "edited acceptance")
        else:
            text = f"{grid_name(head, new.levels)}: {new.found}"
            yield row("checks", GOOD, study.id, text, "note", details=details)
    yield from _lost_checks(study)


def _place(study: Study, finding: Finding) -> str:
    """The line of a finding's first value, and its grid."""
    where = grid_name(study, finding.levels)
    for reading in study.readings:
        if reading.id == finding.reading and finding.cells:
            cell = reading.table.get((finding.levels, finding.cells[0]))
            number = f":{cell.line}" if cell is not None and cell.line else ""
            return f"{study.id}/{reading.entry.file}{number}: {where}"
    return where


def _lost_checks(study: StudyChanges) -> Iterator[Row]:
    """Checks that no longer run; where values are gone, these are named instead."""
    axes = {factor.id for factor in study.head.study.varied}
    widened = any(factor.id in axes for factor, _ in study.match.added)
    others = {
        (change.old.id, place[0])
        for change in study.readings.changed
        for place, _, now in change.values
        if now is None
    }
    readings = study.base.study.readings
    for lost in study.lost_checks:
        # New rows and columns may be tested in part.
        heads = map(study.match.head_levels, lost.grids)
        if widened or all((lost.reading, levels) in others for levels in heads):
            continue
        on = f" on {reading_name(study.base.study, lost.reading)}" if len(readings) > 1 else ""
        text = f"The check “{all_checks()[lost.kind].title}” no longer runs{on}"
        where = truncate((grid_name(study.base.study, at) for at in lost.grids), NAMED)
        yield row("removed", BAD, study.id, text, "lost check", "checks", details=[where])


def problem_rows(study: str, problems: Iterable[Problem]) -> Iterator[Row]:
    """Problems, by the kind of what they are about."""
    for problem in problems:
        if problem.severity == "problem":
            kind = "claims" if problem.kind in REPORTED_ELSEWHERE else "problems"
            kind = "checks" if problem.kind in all_checks() else kind
            text = f"{problem.place}: {problem.found}; expected: {problem.expected}"
            fix = [f"To fix it: {problem.fix}"]
            yield row(kind, BAD, study, text, "problem", details=fix)


def unreadable_rows(studies: Iterable[UnreadableStudy]) -> Iterator[Row]:
    """Studies that can't be compared, since one state of them can't be read."""
    for study in studies:
        if study.where == "base":
            text = f"The study {study.study} couldn't be read before, so what changed isn't known"
            yield row("", LOOK, study.study, text, "study without a base")
            continue
        first, *others = study.problems
        text = f"{first.place}: {first.found}, so the study {study.study} can't be read"
        details = [f"To fix it: {first.fix}", *map(_in_short, others[:MAX_PROBLEMS])]
        yield row("problems", BAD, study.study, text, "unreadable study", *CHANGES, details=details)


def _in_short(problem: Problem) -> str:
    return f"{problem.place}: {problem.found}"
