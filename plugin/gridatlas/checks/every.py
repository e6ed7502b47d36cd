"""All checks of all readings of a study, and the findings that it accepts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from gridatlas.checks.findings import CheckResult, Finding, StudyChecks
from gridatlas.checks.reading import view_of
from gridatlas.checks.register import all_checks
from gridatlas.model.problems import Problem, join_names, nearest
from gridatlas.model.schema import AcceptedEntry, level_number
from gridatlas.model.study import Reading, Study
from gridatlas.table.choose import choose
from gridatlas.table.study_table import StudyTable


def accept(
    study: Study, findings: Iterable[Finding]
) -> tuple[tuple[Finding, ...], tuple[Problem, ...]]:
    """Mark the findings that `accepted` names; entries that name none are problems.

    An entry names a finding of its kind whose levels and cells all lie within its `at`.
    """
    left = set(range(len(study.accepted)))
    marked = []
    for finding in findings:
        covering = [i for i, entry in enumerate(study.accepted) if _covers(study, entry, finding)]
        left.difference_update(covering)
        entry = study.accepted[covering[0]] if covering else None
        marked.append(replace(finding, accepted=entry))
    return tuple(marked), tuple(_unused(study, index, marked) for index in sorted(left))


def accept_entry(study: Study, finding: Finding) -> str:
    """The line under `accepted` in `study.yml` that names this finding, without its reason."""
    at = {facet.id: [key] for facet, key in zip(study.facets, finding.levels, strict=True)}
    for factor, index in ((study.x, 0), (study.y, 1)):
        own = {point[index] for point in finding.cells}
        if len(own) < len(factor.keys):
            at[factor.id] = [key for key in factor.keys if key in own]
    named = []
    for factor_id, keys in at.items():
        texts = ", ".join(map(_yaml, keys))
        named.append(f"{factor_id}: {texts}" if len(keys) == 1 else f"{factor_id}: [{texts}]")
    where = f"at: {{{', '.join(named)}}}, " if named else ""
    return f'- {{finding: {finding.kind}, {where}because: "…"}}'


def _covers(study: Study, entry: AcceptedEntry, finding: Finding) -> bool:
    if entry.finding != finding.kind:
        return False
    keys = {facet.id: {key} for facet, key in zip(study.facets, finding.levels, strict=True)} | {
        study.x.id: {x for x, _ in finding.cells},
        study.y.id: {y for _, y in finding.cells},
    }
    return all(factor in keys and keys[factor] <= set(names) for factor, names in entry.at.items())


def _unused(study: Study, index: int, findings: Iterable[Finding]) -> Problem:
    entry = study.accepted[index]
    line = study.accepted_lines[index] if index < len(study.accepted_lines) else 1
    factors = {factor.id: factor for factor in (*study.facets, study.x, study.y)}
    at = "; ".join(f"{factor} = {join_names(keys)}" for factor, keys in entry.at.items())
    found = f"no finding {entry.finding}" + (f" at {at}" if at else "")
    same = [accept_entry(study, finding) for finding in findings if finding.kind == entry.finding]
    expected = "a finding that the checks give"
    fix = "remove this entry; what it accepts no longer occurs"
    wrong = [name for name in entry.at if name not in factors]
    kinds = all_checks()
    if entry.finding not in kinds:
        near = nearest(entry.finding, kinds)
        expected = f"one of {join_names(kinds)}"
        fix = f"write {near} instead of {entry.finding}" if near else "use one of them"
    elif wrong:
        near = nearest(wrong[0], factors)
        expected = f"a factor of this study: {join_names(factors)}"
        fix = f"write {near} instead of {wrong[0]}" if near else f"use one, or remove {wrong[0]}"
    elif same:
        expected = f"a finding of this kind that occurs: {join_names(same, 3)}"
        fix = "correct at, or remove this entry"
    return Problem(
        "unused-acceptance",
        f"{study.folder}/study.yml",
        found,
        expected,
        fix,
        line,
        f"accepted.{index}",
    )


def _finding_problem(study: Study, finding: Finding) -> Problem:
    reading = next((reading for reading in study.readings if reading.id == finding.reading), None)
    lines = (
        [reading.table[finding.levels, point].line for point in finding.cells] if reading else []
    )
    label = " | ".join(level.label for level in study.levels_of(finding.levels))
    return Problem(
        finding.kind,
        f"{study.folder}/{reading.entry.file if reading else 'study.yml'}",
        f"{label}: {finding.found}" if label else finding.found,
        all_checks()[finding.kind].passing,
        f"{all_checks()[finding.kind].fix}; if the source has them so, add under accepted in "
        "study.yml: "
        f"{accept_entry(study, finding)}",
        lines[0] if lines else None,
        study.metric.column if reading else None,
        finding.severity,
    )


def _yaml(key: str) -> str:
    """A level's key as it can be written in a YAML list in braces."""
    words = ("true", "false", "null", "yes", "no", "on", "off")
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", key) and key.lower() not in words
    number = level_number(key) is not None
    return key if plain or number else json.dumps(key, ensure_ascii=False)


def check_study(study: Study, chosen: StudyTable | None = None) -> StudyChecks:
    """Check every reading, mark what is accepted, and turn the rest into problems.

    Args:
        chosen: What `choose` gives, where it is known.
    """
    chosen = choose(study) if chosen is None else chosen
    results = [
        result for reading in study.readings for result in reading_results(study, reading, chosen)
    ]
    of_shown = (check.of_shown(study, chosen) for check in all_checks().values() if check.of_shown)
    results += _titled(chain.from_iterable(of_shown))
    findings, problems = accept(
        study, [finding for result in results for finding in result.findings]
    )
    left = iter(findings)
    marked = tuple(
        replace(result, findings=tuple(next(left) for _ in result.findings)) for result in results
    )
    unfit = [
        _finding_problem(study, finding)
        for finding in findings
        if finding.accepted is None and finding.severity == "problem"
    ]
    return StudyChecks(marked, (*unfit, *problems))


def reading_results(
    study: Study, reading: Reading, chosen: StudyTable | None = None
) -> tuple[CheckResult, ...]:
    """The results of all checks that a reading has something for.

    Args:
        chosen: What `choose` gives, where it is known.
    """
    view = view_of(study, reading, choose(study) if chosen is None else chosen)
    found = (check.of_reading(view) for check in all_checks().values())
    return tuple(_titled(chain.from_iterable(found)))


def _titled(results: Iterable[CheckResult]) -> Iterator[CheckResult]:
    """Results with the titles of their checks, but where they have their own."""
    return (
        replace(result, title=result.title or all_checks()[result.kind].title) for result in results
    )
