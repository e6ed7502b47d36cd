"""A reading as the checks see it: grid by grid, with a value or none at every point."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Literal

from gridatlas.checks.findings import TITLES, CheckResult, Finding, Outcome
from gridatlas.model.problems import Severity
from gridatlas.model.study import Cell, Levels, Point, Reading, Study
from gridatlas.results.reconcile import choose

Axis = Literal["row", "column"]
Line = Sequence[tuple[Point, Decimal | None]]


@dataclass(frozen=True)
class Sheet:
    """One grid as one reading gives it: rows of (point, cell), None where it gives no value."""

    levels: Levels
    rows: tuple[tuple[tuple[Point, Cell | None], ...], ...]

    @cached_property
    def cells(self) -> Sequence[tuple[Point, Cell, Decimal]]:
        """The cells that have a value, row by row."""
        return [
            (point, cell, cell.value)
            for row in self.rows
            for point, cell in row
            if cell is not None and cell.value is not None
        ]

    def lines(self, axis: Axis) -> Sequence[Line]:
        """Its rows, or its columns: each point with its value."""
        return self._lines if axis == "row" else [*zip(*self._lines, strict=True)]

    @cached_property
    def _lines(self) -> Sequence[Line]:
        return [[(point, cell.value if cell else None) for point, cell in row] for row in self.rows]


@dataclass(frozen=True, slots=True)
class ReadingView:
    """A reading as the checks see it; `ends` are the ends of the metric's range."""

    study: Study
    reading: str
    sheets: tuple[Sheet, ...]
    severity: Severity
    ends: frozenset[Decimal]

    def finding(
        self,
        kind: str,
        levels: Levels,
        cells: Iterable[Point],
        found: str,
        means: str,
        sure: str,
        note: bool = False,
    ) -> Finding:
        """A finding in this reading; `note` makes it a note where it weren't one anyway."""
        severity: Severity = "note" if note else self.severity
        return Finding(kind, self.reading, levels, tuple(cells), found, means, sure, severity)

    def result(
        self,
        kind: str,
        sheets: Iterable[Levels],
        statement: str,
        strength: str,
        findings: Sequence[Finding] = (),
        outcome: Outcome = "passed",
        title: str = "",
        untested: Mapping[Levels, Sequence[Point]] | None = None,
    ) -> CheckResult:
        """A result for this reading; `outcome` is what it is without findings."""
        return CheckResult(
            kind,
            title or TITLES[kind],
            self.reading,
            tuple(dict.fromkeys(sheets)),
            "found" if findings else outcome,
            statement,
            strength,
            tuple(findings),
            tuple((levels, tuple(points)) for levels, points in (untested or {}).items()),
        )


def is_computed(cell: Cell) -> bool:
    """Whether the value is the mean of repeats: computed, so not printed with some decimals."""
    return cell.repeats > 1


def supplying(study: Study) -> frozenset[str]:
    """Ids of the readings that supply at least one shown value."""
    if len(study.accounts) == 1:
        return frozenset(reading.id for reading in study.accounts)
    every = dict.fromkeys(at for reading in study.accounts for at in reading.cells)
    shown = (choose(study, levels, point) for levels, point in every)
    return frozenset(cell.reading for cell in shown if cell.value is not None)


def view_of(study: Study, reading: Reading, severity: Severity) -> ReadingView:
    """What the checks see of a reading, its grids in the order of the facets' levels."""
    cell_at = reading.cells.get
    sheets = tuple(
        Sheet(
            levels,
            tuple(
                tuple([(point, cell_at((levels, point))) for point in row])
                for row in points_of(study)
            ),
        )
        for levels in study.in_order({levels for levels, _ in reading.cells})
    )
    return ReadingView(study, reading.id, sheets, severity, ends_of(study))


def points_of(study: Study) -> list[list[Point]]:
    """The points of a grid, row by row."""
    return [[(x.key, y.key) for x in study.x.levels] for y in study.y.levels]


def ends_of(study: Study) -> frozenset[Decimal]:
    """The ends of the metric's range; of percentages without one, 0 and 100."""
    if study.metric.range:
        return frozenset(study.metric.range)
    return frozenset((Decimal(0), Decimal(100)) if study.metric.unit == "%" else ())
