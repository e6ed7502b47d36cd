"""Readings that were removed, with everything that went with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from gridatlas.assessment.agreement import Hint
from gridatlas.checks import Finding, StudyChecks
from gridatlas.diff.check_changes import FindingChange
from gridatlas.diff.claim_changes import ClaimChange, outcome
from gridatlas.diff.matching import Match
from gridatlas.diff.reading_changes import DisagreementChange, Readings
from gridatlas.model.study import Reading, Study


@dataclass(frozen=True, slots=True, eq=False)
class RemovedReading:
    """A reading that the base only has, and what is lost with it.

    Attributes:
        sources: How many cells had how many readings with a value, this one among them; cells at
            levels that were removed don't count.
        statements: Claims of the base that name it as their source.
        moved: Those of these that do nothing else than lose their source, or go with it.
        findings: Its findings.
        checks: Titles of the checks that were made of it.
        disagreements: Cells on which it disagreed with others, as far as nothing else changed
            about them.
        hints: What looked wrong with it or with others beside it.
    """

    reading: Reading
    sources: tuple[tuple[int, int], ...]
    statements: tuple[ClaimChange, ...]
    moved: tuple[ClaimChange, ...]
    findings: tuple[Finding, ...]
    checks: tuple[str, ...]
    disagreements: tuple[DisagreementChange, ...]
    hints: tuple[Hint, ...]


def removed_readings(
    base: Study,
    checks: StudyChecks,
    match: Match,
    readings: Readings,
    claims: Iterable[ClaimChange],
    findings: Iterable[FindingChange],
) -> tuple[RemovedReading, ...]:
    """The readings that were removed.

    Args:
        base, checks: The study as it was.
        readings, claims, findings: What changed about these.
    """
    claims, findings = list(claims), list(findings)
    found = []
    for reading in readings.removed:
        statements = [
            claim for claim in claims if claim.old and claim.old.entry.source == reading.id
        ]
        results = [result for result in checks.results if result.reading == reading.id]
        found.append(
            RemovedReading(
                reading,
                _sources(base, reading, match),
                tuple(statements),
                tuple(claim for claim in statements if _only_loses_its_source(claim)),
                tuple(
                    change.old
                    for change in findings
                    if change.old and change.new is None and change.old.reading == reading.id
                ),
                tuple(dict.fromkeys(result.title for result in results)),
                tuple(
                    disagreement
                    for disagreement in readings.disagreements
                    if _goes_with(disagreement, reading.id)
                ),
                tuple(
                    hint for hint in readings.hints_gone if reading.id in (hint.reading, hint.other)
                ),
            )
        )
    return tuple(found)


def _sources(base: Study, reading: Reading, match: Match) -> tuple[tuple[int, int], ...]:
    """How many cells had how many readings with a value: (readings, cells), few readings first."""
    counts: Counter[int] = Counter()
    for place, cell in reading.cells.items():
        if cell.value is None or match.head(*place) is None:
            continue
        cells = (reading.cells.get(place) for reading in base.readings)
        counts[sum(other is not None and other.value is not None for other in cells)] += 1
    return tuple(sorted(counts.items()))


def _only_loses_its_source(claim: ClaimChange) -> bool:
    """Whether a claim says the same of the shown values, or was removed with its source."""
    if claim.old is None or claim.new is None:
        return True
    old, new = claim.old.entry, claim.new.entry
    same = old.model_copy(update={"source": new.source}) == new
    problems = {problem.kind for problem in claim.new.problems if problem.severity == "problem"}
    before = {problem.kind for problem in claim.old.problems if problem.severity == "problem"}
    as_before = problems - {"unknown-reading"} <= before
    return same and outcome(claim.old) == outcome(claim.new) and as_before


def _goes_with(change: DisagreementChange, reading: str) -> bool:
    """Whether a disagreement is gone, or smaller, only because one of its readings is."""
    if change.old is None:
        return False
    left = [value for value in change.old.values if value[0] != reading]
    if len(left) == len(change.old.values):
        return False
    now = change.new.values if change.new else ()
    still = len({value for _, value in left}) > 1
    return {value for _, value in now} == ({value for _, value in left} if still else set())
