"""The page Checks in short: its first line, checks by reading, statements by description."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from gridatlas.assessment.assessment import Assessment
from gridatlas.checks import CheckResult, Finding
from gridatlas.claims import Judged
from gridatlas.model.format import many
from gridatlas.model.problems import only_problems
from gridatlas.pages.agreement import MATRIX_UP_TO, agreement, spread
from gridatlas.pages.filters import (
    CONTRADICTED,
    NOT_CHECKABLE,
    VERDICT_WORDS,
    WRONG,
    claim_outcome,
    described_by,
)
from gridatlas.pages.trust import disputes

Sign = Literal["passed", "found", "nothing"]
RANK: Mapping[str, int] = {"problem": 0, "accepted": 1, "note": 2}
"""Findings by their weight, the heaviest first."""


@dataclass(frozen=True, slots=True)
class CheckCounts:
    """What the first line of the page counts.

    Attributes:
        problems: In the data, without notes.
        readings: That the published values are compared of.
        compared: Cells of which two readings or more give a value.
        differ: Those of them on which readings differ.
        disputed, cells: Shown cells with a value or a dispute, but for aggregates.
        checkable: Statements with an expression.
        contradicted: Statements that don't hold.
        broken: Statements with a wrong expression.
        undecidable: Statements whose cells are absent.
        minor: Findings that are notes; `accepted` ones don't count.
    """

    problems: int
    readings: int
    compared: int
    differ: int
    disputed: int
    cells: int
    checkable: int
    contradicted: int
    broken: int
    undecidable: int
    findings: int
    minor: int
    accepted: int

    @property
    def problem_findings(self) -> int:
        """Findings that are neither minor nor accepted."""
        return self.findings - self.minor - self.accepted


@dataclass(frozen=True, slots=True)
class CheckMark:
    """What a check says of a reading: a sign, and the same in words."""

    sign: Sign
    text: str


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One check: its marks by reading, or by outcome where there are too many readings."""

    title: str
    marks: tuple[CheckMark, ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """Statements of one source by their verdict.

    Attributes:
        source: Id of the reading; empty without one.
        by_own: Contradicted ones that don't hold in their own reading either.
        not_checkable: Those without an expression, or that can't be decided.
    """

    source: str
    contradicted: int
    by_own: int
    holds: int
    within_noise: int
    untested: int
    not_checkable: int


FIRST_CELLS, FIRST_FINDINGS = 10, 5
"""Cells, and findings that are problems, that the page shows unfolded."""


def checks_context(assessment: Assessment) -> dict[str, Any]:
    """What the templates of the page get."""
    checks, comparison, study = assessment.checks, assessment.agreement, assessment.study
    differ = {name for disagreement in comparison.disagreements for name, _ in disagreement.values}
    counts = check_counts(assessment)
    by_reading, matrix = check_matrix(checks.results, [reading.id for reading in study.accounts])
    return {
        "counts": counts,
        "verdict": verdict_line(counts),
        "checks": checks,
        "claims": assessment.claims,
        "tallies": tallies(assessment.claims),
        "described": described_by(study, assessment.claims),
        "comparison": comparison,
        "agreement": agreement(comparison),
        "spread": partial(spread, study),
        "ranked": sorted(comparison.disagreements, key=lambda found: -found.difference),
        "ranked_findings": ranked_findings(checks.results),
        "first_cells": FIRST_CELLS,
        "first_findings": min(FIRST_FINDINGS, counts.problem_findings),
        "more_problems": counts.problem_findings > FIRST_FINDINGS,
        "given": [reading for reading in study.accounts if reading.id in differ],
        "numbers": {reading.id: place for place, reading in enumerate(study.accounts, 1)},
        "by_reading": by_reading,
        "matrix": matrix,
        # Whether some check looked at the shown values of several readings together.
        "shown_column": any(not result.reading for result in checks.results),
    }


def check_counts(assessment: Assessment) -> CheckCounts:
    """What the first line of the page counts."""
    findings, claims = assessment.checks.findings, assessment.claims
    outcomes = Counter(map(claim_outcome, claims))
    accounts = assessment.study.accounts
    given = Counter(
        at
        for reading in (accounts if len(accounts) > 1 else ())
        for at in reading.table.places(np.flatnonzero(reading.table.columns.value.known))
    )
    shown = [
        (grid, (x.key, y.key), cell)
        for grid in assessment.results.grids.values()
        if not grid.aggregate
        for x, y, cell in grid.points()
    ]
    is_disputed = disputes(assessment)
    accepted = sum(finding.accepted is not None for finding in findings)
    minor = sum(weight(finding) == "note" for finding in findings)
    return CheckCounts(
        problems=len(only_problems(assessment.results.problems)),
        readings=len(accounts),
        compared=sum(number > 1 for number in given.values()),
        differ=len(assessment.agreement.disagreements),
        disputed=sum(
            cell.state == "disputed" and is_disputed(grid, point) for grid, point, cell in shown
        ),
        cells=sum(cell.value is not None or cell.state == "disputed" for _, _, cell in shown),
        checkable=len(claims) - outcomes[NOT_CHECKABLE],
        contradicted=sum(outcomes[verdict] for verdict in CONTRADICTED),
        broken=outcomes[WRONG],
        undecidable=outcomes[VERDICT_WORDS["undecided"]],
        findings=len(findings),
        minor=minor,
        accepted=accepted,
    )


def verdict_line(counts: CheckCounts) -> str:
    """The page in a line: `Readings differ on 24 values · 16 statements contradicted`."""
    parts = []
    if counts.problems:
        parts.append(f"{many(counts.problems, 'problem')} in the data")
    if counts.disputed:
        parts.append(f"{counts.disputed:,} of {many(counts.cells, 'value')} disputed")
    if counts.differ:
        parts.append(f"readings differ on {many(counts.differ, 'value')}")
    elif counts.readings == 1:
        parts.append("no second reading")
    else:
        shared = many(counts.compared, "shared value")
        agree = f"readings agree on {shared}" if counts.compared else "no value has two readings"
        parts.append(agree)
    if counts.contradicted:
        parts.append(f"{many(counts.contradicted, 'statement')} contradicted")
    if counts.broken:
        parts.append(f"{many(counts.broken, 'wrong expression')}")
    if counts.checkable and not counts.contradicted and not counts.broken:
        undecided = f", {counts.undecidable:,} can't be decided" if counts.undecidable else ""
        parts.append(f"no statement contradicted{undecided}")
    parts.append(_findings(counts))
    line = " · ".join(parts)
    return line[:1].upper() + line[1:]


def _findings(counts: CheckCounts) -> str:
    """`13 findings, all minor`, `9 findings, 8 minor or accepted`."""
    if not counts.findings:
        return "no findings"
    names = [name for name in ("minor", "accepted") if getattr(counts, name)]
    light = counts.minor + counts.accepted
    found = many(counts.findings, "finding")
    if not light:
        return found
    how_many = f"{light:,}" if light < counts.findings else "all " if counts.findings > 1 else ""
    return f"{found}, {how_many.strip()} {' or '.join(names)}".replace("  ", " ")


def weight(finding: Finding) -> str:
    """`accepted`, `note` or `problem`."""
    return "accepted" if finding.accepted else finding.severity


def ranked_findings(results: Iterable[CheckResult]) -> list[tuple[CheckResult, Finding]]:
    """The findings with their checks, problems first; in each weight the widest first."""
    found = [(result, finding) for result in results for finding in result.findings]
    return sorted(found, key=lambda entry: (RANK[weight(entry[1])], -len(entry[1].cells)))


# --- checks by reading --------------------------------------------------------------------------


def check_matrix(
    results: Iterable[CheckResult], readings: Iterable[str]
) -> tuple[bool, tuple[CheckRow, ...]]:
    """Whether its columns are readings (else outcomes, for want of room), and a row per check."""
    by_title: dict[str, list[CheckResult]] = {}
    for result in results:
        by_title.setdefault(result.title, []).append(result)
    names = [*readings]
    # Some checks look at the shown values of several readings together.
    if any(not result.reading for found in by_title.values() for result in found):
        names.append("")
    by_reading = len(names) <= MATRIX_UP_TO
    rows = (
        CheckRow(
            title,
            tuple(_mark([result for result in found if result.reading == name]) for name in names)
            if by_reading
            else _by_outcome(found),
        )
        for title, found in by_title.items()
    )
    return by_reading, tuple(rows)


def _mark(results: list[CheckResult]) -> CheckMark:
    findings = [finding for result in results for finding in result.findings]
    if findings:
        by_weight = Counter(map(weight, findings))
        names = {"problem": "", "accepted": "accepted", "note": "minor"}
        light = [names[key] for key in by_weight if names[key]]
        text = many(len(findings), "finding")
        if by_weight["problem"] == 0:
            text += f", {' or '.join(light)}"
        return CheckMark("found", text)
    if any(result.outcome == "passed" for result in results):
        return CheckMark("passed", "passed")
    if any(result.outcome == "not testable" for result in results):
        return CheckMark("nothing", "not testable")
    return CheckMark("nothing", "says nothing" if results else "not made")


def _by_outcome(results: list[CheckResult]) -> tuple[CheckMark, ...]:
    counts = Counter("found" if result.findings else result.outcome for result in results)
    rest = counts["says nothing"] + counts["not testable"]
    return (
        CheckMark("passed", f"{counts['passed']:,}"),
        CheckMark("found", f"{counts['found']:,}"),
        CheckMark("nothing", f"{rest:,}"),
    )


# --- statements by description ------------------------------------------------------------------


def tallies(claims: Iterable[Judged]) -> tuple[Tally, ...]:
    """Statements by their source, the source with most contradicted ones first."""
    groups: dict[str, list[Judged]] = {}
    for claim in claims:
        groups.setdefault(claim.entry.source or "", []).append(claim)
    found = (_tally(source, group) for source, group in groups.items())
    return tuple(sorted(found, key=lambda tally: -tally.contradicted))


def _tally(source: str, claims: list[Judged]) -> Tally:
    outcomes = Counter(map(claim_outcome, claims))
    wrong = [claim for claim in claims if claim_outcome(claim) in CONTRADICTED]
    holds, within_noise, untested = (outcomes[text] for text in [*VERDICT_WORDS.values()][:3])
    return Tally(
        source,
        contradicted=len(wrong),
        by_own=sum(claim.own is None or claim.own.outcome == "false" for claim in wrong),
        holds=holds,
        within_noise=within_noise,
        untested=untested,
        not_checkable=len(claims) - len(wrong) - holds - within_noise - untested,
    )
