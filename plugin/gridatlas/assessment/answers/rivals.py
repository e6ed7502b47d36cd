"""Other readings of the same cells: which may be right, and what an answer would be under each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from gridatlas.assessment.answers.answer import Answer, Evidence, headline, joined
from gridatlas.checks.findings import CheckResult
from gridatlas.checks.words import half_unit
from gridatlas.model.study import Levels, Reading
from gridatlas.table.grids import Results
from gridatlas.table.study_table import Grid

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
    outcomes: dict[tuple[str, str], set[str]] = {}
    for result in checks:
        outcomes.setdefault((result.reading, result.kind), set()).add(result.outcome)
    contradicted, _ = _averages(results)
    found = []
    for reading in study.accounts:
        differences, shown = _differences(results, reading)
        changed = [abs(difference) for difference in differences if difference]
        if not changed:
            continue
        against = [
            words
            for kind, words in EVIDENCE.items()
            if "found" in outcomes.get((reading.id, kind), ())
            and any(_passed(outcomes.get((other, kind), set())) for other in shown)
        ]
        wrong, tested = _averages(with_reading(results, reading), reading.id)
        if wrong and not contradicted:
            against.append(f"contradicts {wrong} of {tested} printed averages")
        if reading.entry.approximate:
            against.append("is only approximate")
        found.append(
            OtherReading(reading, tuple(against), len(changed), len(differences), max(changed))
        )
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
        for x, y, cell in grid.points():
            cells = [part.cell(x.key, y.key) for part in parts if part]
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


def _differences(results: Results, reading: Reading) -> tuple[list[Decimal], set[str]]:
    """Its values less the shown ones, and the readings that those come from; no means."""
    differences, shown = [], set()
    for grid in results.grids.values():
        if grid.aggregate:
            continue
        for x, y, cell in grid.points():
            if cell.value is None or cell.reading == reading.id:
                continue
            other = reading.cells.get((grid.levels, (x.key, y.key)))
            if other is not None and other.value is not None:
                differences.append(other.value - cell.value)
                shown.add(cell.reading)
    return differences, shown


def with_reading(results: Results, reading: Reading) -> Results:
    """The results with the values of a reading in place of the shown ones, where it has some."""

    def chosen(grid: Grid) -> Grid:
        cells = []
        for x, y, cell in grid.points():
            other = reading.cells.get((grid.levels, (x.key, y.key)))
            has_value = other is not None and other.value is not None
            cells.append(other if other is not None and has_value else cell)
        return Grid.of(grid.study, grid.levels, cells, grid.computed)

    grids: dict[Levels, Grid] = {
        levels: grid if grid.aggregate else chosen(grid) for levels, grid in results.grids.items()
    }
    return replace(results, grids=grids)


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
        broken = [
            label
            for label, other in under.items()
            if answer.asserts and page in other and other[page].asserts != answer.asserts
        ]
        found[page] = _depends(answer, broken, under) if broken else answer
    return found


def _depends(
    answer: Answer, broken: list[str], under: Mapping[str, Mapping[str, Answer]]
) -> Answer:
    label, colon, _ = answer.sentence.partition(": ")
    text = "what differs depends on which reading is right"
    evidence = [Evidence(f"Under the shown reading: {answer.sentence}.")]
    evidence += [Evidence(f"Under {name}: {under[name][answer.page].sentence}.") for name in broken]
    return replace(
        answer,
        grade="reading-dependent",
        sentence=headline(f"{label}: {text}" if colon else f"{text[0].upper()}{text[1:]}"),
        evidence=(*evidence, *answer.evidence),
        asserts=(),
    )


def notes(others: Iterable[OtherReading], facet: int, key: str) -> Iterator[Evidence]:
    """What is said of the readings that are no rivals, on a page that they have cells of.

    Args:
        facet: Place of the facet that the page is about a level of.
        key: Of that level; empty for a page about all.
    """
    for other in others:
        has_cells = any(not key or levels[facet] == key for levels in other.reading.cells.grids)
        if other.is_rival or not has_cells:
            continue
        yield Evidence(
            f"Another reading ({other.reading.label}) differs in {other.differ:,} of "
            f"{other.shared:,} shared cells, by up to {other.largest.normalize():f}; "
            f"it {joined(other.against)}, so it doesn't count against the shown one."
        )
