"""What a check says: its result for a reading, with the findings in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gridatlas.model.problems import Problem, Severity
from gridatlas.model.schema import AcceptedEntry
from gridatlas.model.study import Levels, Point

Outcome = Literal["passed", "found", "says nothing", "not testable"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check noticed in one grid.

    Attributes:
        kind: Stable name, that of its check.
        reading: Id of the reading; empty where the shown values of several readings are meant.
        cells: The points it is about, row by row.
        found: What stands there.
        means: What that may mean, for visitors.
        sure: How sure it is; where a chance is named, under which assumption.
        accepted: The entry of `study.yml` that says it is known.
    """

    kind: str
    reading: str
    levels: Levels
    cells: tuple[Point, ...]
    found: str
    means: str
    sure: str
    severity: Severity = "problem"
    accepted: AcceptedEntry | None = None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check says of one reading.

    Attributes:
        reading: As in `Finding`.
        grids: The grids that it looked at.
        statement: The result in a sentence.
        strength: How much the result says: which mistakes show, which don't.
        untested: Points with a value that it looked at and couldn't judge, by their grid.
    """

    kind: str
    title: str
    reading: str
    grids: tuple[Levels, ...]
    outcome: Outcome
    statement: str
    strength: str
    findings: tuple[Finding, ...] = ()
    untested: tuple[tuple[Levels, tuple[Point, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class StudyChecks:
    """All checks of a study: results with accepted findings marked, and what makes it unfit."""

    results: tuple[CheckResult, ...]
    problems: tuple[Problem, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all results."""
        return tuple(finding for result in self.results for finding in result.findings)
