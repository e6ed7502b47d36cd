"""A reading as the checks see it: grid by grid, with a value or none at every point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Literal, NamedTuple, cast

import numpy as np

from gridatlas.checks.findings import CheckResult, Finding, Outcome
from gridatlas.model.format import places_of
from gridatlas.model.problems import Severity
from gridatlas.model.study import Cell, Levels, Point, Reading, Study
from gridatlas.table.coded import Coded, Codes, Rows, combine
from gridatlas.table.decimals import Decimals
from gridatlas.table.study_table import UNKNOWN, Columns, StudyTable, or_none

Axis = Literal["row", "column"]
Line = Sequence[tuple[Point, Decimal | None]]
LineCodes = tuple[int, ...]
"""A line with the same number for the same value, and `NO_VALUE` where it has none."""
NO_VALUE = 0


class Kind(NamedTuple):
    """What is checked of a cell by itself: many cells of a grid have it in common.

    Attributes:
        text: The value as printed: 47.3 and 47.30 are the same number, and two kinds.
        computed: Whether it is the mean of repeats: computed, so not printed with some decimals.
    """

    text: str
    n: int | None
    successes: int | None
    computed: bool


@dataclass(frozen=True, eq=False)
class Sheet:
    """One grid as one reading gives it.

    Attributes:
        xs, ys: The level keys of both axes.
        columns: Its cells, row by row; those that it doesn't give are absent.
    """

    # It may have a million cells: they are judged by kinds, and lines are compared as codes.

    levels: Levels
    xs: Sequence[str]
    ys: Sequence[str]
    columns: Columns

    @property
    def points(self) -> Iterator[Sequence[Point]]:
        """Its points, row by row."""
        return ([(x, y) for x in self.xs] for y in self.ys)

    def _points_of(self, rows: Rows) -> Iterator[Point]:
        ys, xs = np.divmod(rows, len(self.xs))
        keys = map(self.xs.__getitem__, xs.tolist()), map(self.ys.__getitem__, ys.tolist())
        return zip(*keys, strict=True)

    def values(self, computed: bool | None = None) -> Iterator[tuple[Point, Decimal]]:
        """The cells that have a value, row by row; perhaps only the means of repeats, or others."""
        wanted = self.columns.value.known
        if computed is not None:
            wanted = wanted & ((self.columns.repeats > 1) == computed)
        rows = np.flatnonzero(wanted)
        values = cast(list[Decimal], self.columns.value[rows].exact())
        return zip(self._points_of(rows), values, strict=True)

    @property
    def has_trials(self) -> bool:
        """Whether a cell with a value has its number of trials."""
        return bool((self.columns.n[self.columns.value.known] != UNKNOWN).any())

    @cached_property
    def printed(self) -> Decimals:
        """The values that a source prints."""
        rows = self.columns.value.known & (self.columns.repeats <= 1)
        return self.columns.value[rows]

    @property
    def printed_places(self) -> Counter[int]:
        """How many of the values that a source prints have so many decimals."""
        column = self.printed
        plain = np.bincount(column.places[column.places >= 0])
        found = Counter({places: times for places, times in enumerate(plain.tolist()) if times})
        found.update(map(places_of, column.odd_numbers))
        return found

    @cached_property
    def _kinds(self) -> tuple[Rows, Codes, Sequence[Kind]]:
        """The cells with a value, the code of each one's kind, and the kinds."""
        rows = np.flatnonzero(self.columns.value.known)
        cells = self.columns
        n, successes = (Coded.of(or_none(of[rows])) for of in (cells.n, cells.successes))
        computed = Coded((cells.repeats[rows] > 1).astype(np.int32), (False, True))
        codes, kinds = combine([cells.value[rows].kinds().map(str), n, successes, computed])
        return rows, codes, [*map(Kind._make, kinds)]

    @property
    def kinds(self) -> Mapping[Kind, int]:
        """How many cells with a value are of each kind."""
        _, codes, kinds = self._kinds
        return dict(zip(kinds, np.bincount(codes, minlength=len(kinds)).tolist(), strict=True))

    def cells_of(self, kinds: Container[Kind]) -> Iterator[tuple[Point, Kind]]:
        """The cells of some kinds, row by row."""
        rows, codes, every = self._kinds
        wanted = Coded(codes, every).are(kinds.__contains__)
        return zip(self._points_of(rows[wanted]), Coded(codes[wanted], every), strict=True)

    def line(self, axis: Axis, place: int) -> Line:
        """A row, or a column: each point with its value."""
        across = len(self.xs)
        if axis == "row":
            rows = np.arange(place * across, (place + 1) * across)
        else:
            rows = np.arange(place, len(self.columns), across)
        return [*zip(self._points_of(rows), self.columns.value[rows].exact(), strict=True)]

    def codes(self, axis: Axis) -> Sequence[LineCodes]:
        """All its rows, or columns."""
        codes = self._coded.reshape(len(self.ys), len(self.xs))
        return [*map(tuple, (codes if axis == "row" else codes.T).tolist())]

    def codes_of(self, values: Iterable[Decimal]) -> frozenset[int]:
        """The codes of those of some values that it has."""
        value = self.columns.value
        found = {}
        for wanted in values:
            near = np.flatnonzero(value.floats == float(wanted))
            equal = (row for row in near.tolist() if value.at(row) == wanted)
            found[wanted] = next(equal, None)
        return frozenset(int(self._coded[row]) for row in found.values() if row is not None)

    @property
    def ends(self) -> Sequence[Decimal]:
        """Its lowest and its highest value; nothing without any."""
        return self.columns.value.ends

    @cached_property
    def _coded(self) -> Codes:
        """Of each cell the code of its value."""
        return self.columns.value.equal()


@dataclass(frozen=True, slots=True)
class ReadingView:
    """A reading as the checks see it.

    Attributes:
        chosen: The cells of the study that are shown, without aggregates computed from them.
        ends: The ends of the metric's range.
    """

    study: Study
    reading: str
    sheets: tuple[Sheet, ...]
    severity: Severity
    chosen: StudyTable
    ends: frozenset[Decimal]

    @property
    def account(self) -> Reading:
        """The reading itself."""
        return next(reading for reading in self.study.readings if reading.id == self.reading)

    @property
    def as_wrong(self) -> ReadingView:
        """The same, whose findings are problems, whether or not it supplies a shown value."""
        return replace(self, severity="problem")

    def part(self, levels: Levels, point: Point) -> Cell | None:
        """The reading's own cell, or the shown one where it has no value."""
        own = self.account.table.get((levels, point))
        return own if own and own.value is not None else self.chosen.get((levels, point))

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
        """A result for this reading.

        Args:
            outcome: What it is without findings.
            title: In the place of the check's own.
        """
        return CheckResult(
            kind,
            title,
            self.reading,
            tuple(dict.fromkeys(sheets)),
            "found" if findings else outcome,
            statement,
            strength,
            tuple(findings),
            tuple((levels, tuple(points)) for levels, points in (untested or {}).items()),
        )


def supplying(chosen: StudyTable) -> frozenset[str]:
    """Ids of the readings that supply at least one shown value."""
    known = chosen.columns.value.known
    used = np.unique(chosen.columns.reading.codes[known])
    return frozenset(map(chosen.columns.reading.kinds.__getitem__, used))


def view_of(study: Study, reading: Reading, chosen: StudyTable) -> ReadingView:
    """What the checks see of a reading, its grids in the order of the facets' levels."""
    table, xs, ys = reading.table, [*study.x.keys], [*study.y.keys]
    sheets = (Sheet(of, xs, ys, table.columns[table.rows(of)]) for of in table.grids)
    severity: Severity = "problem" if reading.id in supplying(chosen) else "note"
    return ReadingView(study, reading.id, tuple(sheets), severity, chosen, ends_of(study))


def ends_of(study: Study) -> frozenset[Decimal]:
    """The ends of the metric's range; of percentages without one, 0 and 100."""
    if study.metric.range:
        return frozenset(study.metric.range)
    return frozenset((Decimal(0), Decimal(100)) if study.metric.unit == "%" else ())
