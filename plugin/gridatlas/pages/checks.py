"""The page Checks in short: its first line, checks by reading, statements by description."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.rivals import EVIDENCE
from gridatlas.checks import CheckResult, Finding
from gridatlas.claims import Judged
from gridatlas.model.format import many
from gridatlas.model.problems import only_problems
from gridatlas.pages.agreement import MATRIX_UP_TO, agreement, fitting, spread
from gridatlas.pages.filters import CONTRADICTED, VERDICT_WORDS, claim_outcome, described_by
from gridatlas.pages.trust import trust_of

Sign = Literal["passed", "found", "nothing"]
RANK: Mapping[str, int] = {"problem": 0, "accepted": 1, "note": 2}
"""Findings by their weight, the heaviest first."""


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


FIRST_CELLS, FIRST_FINDINGS = 4, 5
"""Cells, and findings that are problems, that the page shows unfolded."""


def checks_context(assessment: Assessment) -> dict[str, Any]:
    """What the templates of the page get."""
    checks, comparison, study = assessment.checks, assessment.agreement, assessment.study
    differ = {name for disagreement in comparison.disagreements for name, _ in disagreement.values}
    weights = Counter(map(weight, checks.findings))
    wrong = [claim for claim in assessment.claims if claim_outcome(claim) in CONTRADICTED]
    ranked = sorted(comparison.disagreements, key=lambda found: -found.difference)
    by_reading, matrix = check_matrix(checks.results, [reading.id for reading in study.accounts])
    return {
        "weights": weights,
        "verdict": verdict_line(assessment),
        "wrong": wrong,
        "checks": checks,
        "claims": assessment.claims,
        "tallies": tallies(assessment.claims),
        "described": described_by(study, assessment.claims),
        "comparison": comparison,
        "agreement": agreement(comparison),
        "spread": partial(spread, study),
        "fits": {of: fitting(assessment.results, of) for of in ranked},
        "ranked": ranked,
        "ranked_findings": ranked_findings(checks.results),
        "first_cells": FIRST_CELLS,
        "first_findings": min(FIRST_FINDINGS, weights["problem"]),
        "given": [reading for reading in study.accounts if reading.id in differ],
        "numbers": {reading.id: place for place, reading in enumerate(study.accounts, 1)},
        "by_reading": by_reading,
        "matrix": matrix,
        # Whether some check looked at the shown values of several readings together.
        "shown_column": any(not result.reading for result in checks.results),
    }


PASSES = "The shown numbers pass every check"
FAILS = "The shown numbers fail {failed} of {checks}"
NOTHING = "No check says anything about the shown numbers"
IN_DATA = "The data have {problems}"
ONE_FAILS, SOME_FAIL = "one rejected reading doesn't", "{others} rejected readings don't"
DIFFERS = "a second reading gives other numbers for {differ}"


def verdict_line(assessment: Assessment) -> str:
    """The page in a line: what the checks say of the shown numbers, then of other readings."""
    results = assessment.checks.results
    sources = trust_of(assessment, [*assessment.results.grids.values()]).sources
    shown = {source.reading.id for source in sources} | {""}
    own = [result for result in results if result.reading in shown]
    judged = {result.title for result in own if result.outcome in ("passed", "found")}
    failed = {
        result.title
        for result in own
        if any(weight(finding) == "problem" for finding in result.findings)
    }
    problems = len(only_problems(assessment.results.problems))
    if problems:
        line = IN_DATA.format(problems=many(problems, "problem"))
    elif failed:
        line = FAILS.format(failed=len(failed), checks=many(len(judged), "check"))
    else:
        line = PASSES if judged else NOTHING
    others = {
        result.reading
        for result in results
        if result.reading not in shown and result.findings and result.kind in EVIDENCE
    }
    differ = len(assessment.agreement.disagreements)
    if others and line == PASSES:
        line += f"; {ONE_FAILS if len(others) == 1 else SOME_FAIL.format(others=len(others))}"
    elif differ:
        line += f"; {DIFFERS.format(differ=many(differ, 'cell'))}"
    return line


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
