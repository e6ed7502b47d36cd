"""Other readings of the same cells: which may be right, and what an answer would be under each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from gridatlas.analysis.said import Answer
from gridatlas.analysis.words import listed
from gridatlas.checks.findings import CheckResult
from gridatlas.checks.words import half_unit
from gridatlas.model.study import MISSING, Cell, Reading, Study
from gridatlas.table.coded import Rows
from gridatlas.table.grids import Results
from gridatlas.table.study_table import Columns, Grid

EVIDENCE: Mapping[str, str] = {
    "k-of-n": "has impossible counts",
    "aggregate": "contradicts its own printed averages",
    "stated-range": "has values outside the range that it states",
}
"""What a reading can be shown to be wrong by, without another one: kinds of checks."""


@dataclass(frozen=True)
class OtherReading:
    """A reading whose values aren't shown, where it has another one than is shown.

    Attributes:
        against: What it fails that the shown reading passes; empty for a rival.
        differ: Cells whose value is another than the shown one.
        shared: Cells that have both values.
        largest: Of the differences, in the metric's unit.
    """

    reading: Reading
    against: tuple[str, ...]
    differ: int
    shared: int
    largest: Decimal

    @property
    def is_rival(self) -> bool:
        """Whether it stands up to what the shown reading does."""
        return not self.against


def other_readings(results: Results, checks: Iterable[CheckResult]) -> list[OtherReading]:
    """The readings that differ from what is shown, with what speaks against each."""
    study = results.study
    if len(study.accounts) < 2:
        return []
    outcomes: dict[tuple[str, str], set[str]] = {}
    for result in checks:
        outcomes.setdefault((result.reading, result.kind), set()).add(result.outcome)
    contradicted, _ = _averages(results)
    found = []
    for reading in study.accounts:
        at, rows = _shared(results, reading)
        table = next(iter(results.grids.values())).table
        shown, given = table.columns[at], reading.cells.columns[rows]
        changed = np.flatnonzero(shown.value.floats != given.value.floats)
        if not len(changed):
            continue
        sources = set(shown.reading)
        against = [
            words
            for kind, words in EVIDENCE.items()
            if "found" in outcomes.get((reading.id, kind), ())
            and any(_passed(outcomes.get((other, kind), set())) for other in sources)
        ]
        wrong, tested = _averages(with_reading(results, reading), reading.id)
        if wrong and not contradicted:
            against.append(f"contradicts {wrong} of {tested} printed averages")
        if reading.entry.approximate:
            against.append("is only approximate")
        pairs = zip(shown.value[changed].exact(), given.value[changed].exact(), strict=True)
        largest = max(abs((lone or Decimal()) - (two or Decimal())) for lone, two in pairs)
        found.append(OtherReading(reading, tuple(against), len(changed), len(at), largest))
    return found


def _passed(outcomes: set[str]) -> bool:
    return "passed" in outcomes and "found" not in outcomes


def _averages(results: Results, reading: str | None = None) -> tuple[int, int]:
    """How many printed means of levels contradict their parts, and how many could be tested.

    Args:
        reading: Only means with a part of this reading count.
    """
    facets = results.study.facets
    wrong = tested = 0
    for levels, grid in results.grids.items():
        over = [at for at, key in enumerate(levels) if facets[at].level(key).aggregate]
        if grid.computed or len(over) != 1:
            continue
        [at] = over
        parts = [
            results.grids.get((*levels[:at], level.key, *levels[at + 1 :]))
            for level in facets[at].levels
            if not level.aggregate
        ]
        of_parts = [part.columns for part in parts if part]
        for cell, *cells in zip(grid.columns, *of_parts, strict=True):
            values = [part.value for part in cells if part.value is not None]
            if cell.value is None or len(values) < len(parts):
                continue
            if reading is not None and all(part.reading != reading for part in cells):
                continue
            # All times the number of parts: a division by 3 would be rounded.
            off = abs(sum(values, Decimal()) - cell.value * len(values))
            room = half_unit(cell.value) * len(values) + sum(map(half_unit, values), Decimal())
            tested += 1
            wrong += off > room
    return wrong, tested


def _shared(results: Results, reading: Reading) -> tuple[Rows, Rows]:
    """The rows of the shown table that show another reading, and the reading's rows there."""
    at, rows = _values_at(results, reading)
    shown = next(iter(results.grids.values())).table.columns
    other = shown.value.defined[at] & ~shown.reading.are(reading.id.__eq__)[at]
    return at[other], rows[other]


def _values_at(results: Results, reading: Reading) -> tuple[Rows, Rows]:
    """Where in the shown table a reading has values, and its rows with them; no aggregates."""
    table, own = next(iter(results.grids.values())).table, reading.cells
    rows = np.flatnonzero(own.columns.value.defined)
    grids = np.array(
        [
            -1 if any(level.aggregate for level in results.study.levels_of(levels))
            else table.index.get(levels, -1)
            for levels in own.grids
        ],
        np.intp,
    )  # fmt: skip
    grid, point = np.divmod(rows, max(1, own.size))
    present = grids[grid] >= 0
    return (grids[grid] * table.size + point)[present], rows[present]


def with_reading(results: Results, reading: Reading) -> Results:
    """The results with the values of a reading in place of the shown ones, where it has some."""
    table = next(iter(results.grids.values())).table
    at, rows = _values_at(results, reading)
    chosen = np.arange(len(table.columns))
    chosen[at] = len(table.columns) + rows
    columns = Columns.joined([table.columns, reading.cells.columns])[chosen]
    table = replace(table, columns=columns)
    grids = {levels: Grid(results.study, levels, table) for levels in results.grids}
    return replace(results, grids=grids)


def alone(results: Results, reading: Reading, grids: Iterable[Grid]) -> list[Grid]:
    """Grids with the values of one reading; means that it lacks are computed from its parts."""
    study, own = results.study, reading.cells

    def of(grid: Grid) -> Grid:
        if grid.levels in own.index:
            return Grid(study, grid.levels, own)
        parts = [part.columns.value for part in map(of, grid.parts)]
        means = (
            None if None in given else sum(given, Decimal()) / len(given)
            for given in zip(*parts, strict=True)
        )
        cells = [MISSING if mean is None else Cell(mean, "ok") for mean in means]
        return Grid.of(study, grid.levels, cells or [MISSING] * len(grid.columns), True)

    return [of(grid) for grid in grids]


def settled(
    answers: Mapping[str, Answer], under: Mapping[str, Mapping[str, Answer]]
) -> dict[str, Answer]:
    """The answers of which only those assert something that hold under all rivals.

    Args:
        answers: By the page.
        under: By the label of a rival, the answers with its values.
    """
    found = {}
    for page, answer in answers.items():
        others = {label: pages[page] for label, pages in under.items() if page in pages}
        broken = {
            label: other for label, other in others.items() if answer.asserted - other.asserted
        }
        found[page] = _depends(answer, broken, of_level="/" in page) if broken else answer
    return found


def _depends(answer: Answer, broken: Mapping[str, Answer], *, of_level: bool) -> Answer:
    start, _, _ = answer.headline.partition(": ")
    text = "what differs depends on which reading is right"
    common = answer.asserted.intersection(*(other.asserted for other in broken.values()))
    return replace(
        answer,
        grade="reading-dependent",
        headline=f"{start}: {text}" if of_level else f"{text[0].upper()}{text[1:]}",
        evidence=(
            f"Under the shown reading: {answer.headline}.",
            *(f"Under {label}: {other.headline}." for label, other in broken.items()),
            *answer.evidence,
        ),
        assertions=tuple(
            of for of in answer.assertions if replace(answer, assertions=(of,)).asserted <= common
        ),
    )


def notes(study: Study, others: Iterable[OtherReading], page: str) -> Iterator[str]:
    """What is said of the readings that are no rivals, on a page that they have cells of.

    Args:
        page: Its path below the study's.
    """
    facet_id, _, slug = page.partition("/")
    for other in others:
        at = [facet.id for facet in study.facets].index(facet_id) if slug else None
        has_cells = at is None or any(
            study.facets[at].level(levels[at]).slug == slug for levels in other.reading.cells.grids
        )
        if other.is_rival or not has_cells:
            continue
        yield (
            f"Another reading ({other.reading.label}) differs in {other.differ:,} of "
            f"{other.shared:,} shared cells, by up to {other.largest.normalize():f}; "
            f"it {listed(other.against)}, so it doesn't count against the shown one."
        )
