"""All checks of a reading, and of a study."""

from __future__ import annotations

from dataclasses import replace

from gridatlas.checks.accepted import accept, finding_problems
from gridatlas.checks.aggregates import check_aggregates, check_shown_aggregates
from gridatlas.checks.counts import check_counts
from gridatlas.checks.decimals import check_decimals
from gridatlas.checks.disputed import check_disputed
from gridatlas.checks.findings import CheckResult, Finding, StudyChecks
from gridatlas.checks.ranges import check_stated_ranges
from gridatlas.checks.reading import supplying, view_of
from gridatlas.checks.repeats import check_repeats
from gridatlas.checks.runs import check_runs
from gridatlas.checks.transcription import check_transcription
from gridatlas.model.study import Cell, Levels, Point, Reading, Study
from gridatlas.results.reconcile import choose


def check_study(study: Study) -> StudyChecks:
    """Check every reading, mark what is accepted, and turn the rest into problems."""
    shown = supplying(study)
    results = [
        result for reading in study.readings for result in reading_results(study, reading, shown)
    ]
    results += check_shown_aggregates(study)
    findings, problems = accept(
        study, [finding for result in results for finding in result.findings]
    )
    left = iter(findings)
    marked = tuple(
        replace(result, findings=tuple(next(left) for _ in result.findings)) for result in results
    )
    return StudyChecks(marked, (*finding_problems(study, findings), *problems))


def check_reading(study: Study, reading: Reading) -> tuple[Finding, ...]:
    """The findings of all checks in one reading."""
    results = reading_results(study, reading)
    return tuple(finding for result in results for finding in result.findings)


def reading_results(
    study: Study, reading: Reading, shown: frozenset[str] | None = None
) -> tuple[CheckResult, ...]:
    """The results of all checks that a reading has something for.

    Args:
        shown: Ids of the readings that supply shown values, where they are known.
    """
    supplies = reading.id in (supplying(study) if shown is None else shown)
    view = view_of(study, reading, "problem" if supplies else "note")

    def part(levels: Levels, point: Point) -> Cell | None:
        own = reading.cells.get((levels, point))
        return own if own and own.value is not None else choose(study, levels, point)

    return (
        *check_aggregates(view, part),
        *check_counts(view),
        *check_repeats(view, "row"),
        *check_repeats(view, "column"),
        *check_runs(view),
        *check_decimals(view),
        *check_disputed(view, reading),
        *check_stated_ranges(view, reading),
        *check_transcription(view, reading),
    )
