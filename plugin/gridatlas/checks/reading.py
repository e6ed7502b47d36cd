"""A reading as the checks see it: grid by grid, with a value or none at every point."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import count
from typing import Literal, NamedTuple

from gridatlas.checks.findings import TITLES, CheckResult, Finding, Outcome
from gridatlas.model.problems import Severity
from gridatlas.model.study import Cell, Levels, Point, Reading, Study
from gridatlas.table.choose import choose

Axis = Literal["row", "column"]
Line = Sequence[tuple[Point, Decimal | None]]
Codes = tuple[int, ...]
"""A line with the same number for the same value, and `NO_VALUE` where it has none."""
NO_VALUE = 0


class Kind(NamedTuple):
    """What is checked of a cell by itself: many cells of a grid have it in common.

    Attributes:
        text: The value as printed: 47.3 and 47.30 are the same number, and two kinds.
        computed: As `is_computed` says.
    """

    text: str
    n: int | None
    successes: int | None
    computed: bool


@dataclass(frozen=True)
class Sheet:
    """One grid as one reading gives it: rows of cells, None where it gives none.

    Attributes:
        xs, ys: The level keys of both axes.
    """

    # It may have a million cells: they are judged by kinds, and lines are compared as codes.

    levels: Levels
    xs: Sequence[str]
    ys: Sequence[str]
    rows: Sequence[Sequence[Cell | None]]

    @property
    def points(self) -> Iterator[Sequence[Point]]:
        """Its points, row by row."""
        return ([(x, y) for x in self.xs] for y in self.ys)

    @property
    def cells(self) -> Iterator[tuple[Point, Cell, Decimal]]:
        """The cells that have a value, row by row."""
        for y, row in zip(self.ys, self.rows, strict=True):
            for x, cell in zip(self.xs, row, strict=True):
                if cell is not None and cell.value is not None:
                    yield (x, y), cell, cell.value

    @cached_property
    def kinds(self) -> Mapping[Kind, int]:
        """How many cells with a value are of each kind."""
        times = Counter(
            (str(cell.value), cell.n, cell.successes, cell.repeats > 1)
            for row in self.rows
            for cell in row
            if cell is not None and cell.value is not None
        )
        return {Kind(*kind): number for kind, number in times.items()}

    def cells_of(self, kinds: Container[Kind]) -> Iterator[tuple[Point, Kind]]:
        """The cells of some kinds, row by row."""
        for point, cell, value in self.cells:
            kind = Kind(str(value), cell.n, cell.successes, is_computed(cell))
            if kind in kinds:
                yield point, kind

    def line(self, axis: Axis, place: int) -> Line:
        """A row, or a column: each point with its value."""
        if axis == "row":
            points = [(x, self.ys[place]) for x in self.xs]
            cells = self.rows[place]
        else:
            points = [(self.xs[place], y) for y in self.ys]
            cells = [row[place] for row in self.rows]
        return [(at, cell.value if cell else None) for at, cell in zip(points, cells, strict=True)]

    def codes(self, axis: Axis) -> Sequence[Codes]:
        """All its rows, or columns."""
        rows, _ = self._coded
        return rows if axis == "row" else [*zip(*rows, strict=True)]

    def codes_of(self, values: Iterable[Decimal]) -> frozenset[int]:
        """The codes of those of some values that it has."""
        _, code_of = self._coded
        return frozenset(code_of[value] for value in values if value in code_of)

    @property
    def values(self) -> Iterable[Decimal]:
        """Its different values."""
        _, code_of = self._coded
        return [value for value in code_of if value is not None]

    @cached_property
    def _coded(self) -> tuple[Sequence[Codes], Mapping[Decimal | None, int]]:
        """Its rows, and the code of each value."""
        code_of: defaultdict[Decimal | None, int] = defaultdict(count(NO_VALUE + 1).__next__)
        code_of[None] = NO_VALUE
        return [
            tuple([code_of[cell.value if cell else None] for cell in row]) for row in self.rows
        ], code_of


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
    xs, ys = _axes(study)
    grids = reading.cells.by_grid(xs, ys, None)
    sheets = (Sheet(levels, xs, ys, grids[levels]) for levels in study.in_order(grids))
    return ReadingView(study, reading.id, tuple(sheets), severity, ends_of(study))


def sheet_of(
    study: Study, levels: Levels, cell_at: Callable[[tuple[Levels, Point]], Cell | None]
) -> Sheet:
    """The grid at some facet levels, of the cells that are given."""
    xs, ys = _axes(study)
    return Sheet(levels, xs, ys, [[cell_at((levels, (x, y))) for x in xs] for y in ys])


def _axes(study: Study) -> tuple[list[str], list[str]]:
    """The level keys of both axes."""
    return [level.key for level in study.x.levels], [level.key for level in study.y.levels]


def ends_of(study: Study) -> frozenset[Decimal]:
    """The ends of the metric's range; of percentages without one, 0 and 100."""
    if study.metric.range:
        return frozenset(study.metric.range)
    return frozenset((Decimal(0), Decimal(100)) if study.metric.unit == "%" else ())
