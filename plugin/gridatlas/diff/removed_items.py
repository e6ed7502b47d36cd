"""Readings that were removed, as a reviewer is told of them: first, with all that they caused."""

from __future__ import annotations

from collections.abc import Iterator

from gridatlas.diff.changes import Changes, StudyChanges
from gridatlas.diff.removed_readings import RemovedReading
from gridatlas.diff.report import Item, item
from gridatlas.diff.wording import NAMED, count, cut, grid_name, reading_name

ORDINALS = {1: "only", 2: "second", 3: "third", 4: "fourth"}


def removed(changes: Changes) -> Iterator[Item]:
    """Each reading that was removed, and what went with it."""
    for study in changes.studies:
        for reading in study.removed_readings:
            yield _removed(study, reading)


def losses(removed_readings: tuple[RemovedReading, ...]) -> Iterator[str]:
    """What cells and statements lose with some readings: `32 cells lose their second source`."""
    cells: dict[int, int] = {}
    for one in removed_readings:
        for sources, number in one.sources:
            cells[sources] = cells.get(sources, 0) + number
    for sources, number in sorted(cells.items()):
        which = ORDINALS.get(sources, f"{sources}th")
        yield f"{count(number, 'cell')} {_lose(number)} {which} source"
    statements = sum(len(reading.statements) for reading in removed_readings)
    if statements:
        yield f"{count(statements, 'statement')} {_lose(statements)} source"


def _lose(number: int) -> str:
    return "loses its" if number == 1 else "lose their"


def _removed(study: StudyChanges, one: RemovedReading) -> Item:
    name = reading_name(study.base.study, one.reading.id)
    text = f"Removed: the {name} with {count(len(one.reading.cells), 'cell')}"
    lost = "; ".join(losses((one,)))
    return item(
        study.head.study.id,
        f"{text}: {lost}" if lost else text,
        (*_statements(one), *_disagreements(one), *_hints(study, one), *_checks(study, one)),
    )


def _statements(one: RemovedReading) -> Iterator[str]:
    quoted = [f"“{claim.old.entry.text}”" for claim in one.moved if claim.old and claim.new]
    if quoted:
        yield f"Statements that name it: {cut(quoted, NAMED)}"
    gone = [f"“{claim.old.entry.text}”" for claim in one.moved if claim.old and not claim.new]
    if gone:
        yield f"Statements removed with it: {cut(gone, NAMED)}"


def _disagreements(one: RemovedReading) -> Iterator[str]:
    if one.disagreements:
        yield (
            f"It disagreed with other readings on {count(len(one.disagreements), 'cell')}; that "
            "is no longer reported."
        )


def _hints(study: StudyChanges, one: RemovedReading) -> Iterator[str]:
    base = study.base.study
    for hint in one.hints:
        names = reading_name(base, hint.reading), reading_name(base, hint.other)
        yield f"No longer reported: of {names[0]} {hint.looks}, compared with {names[1]}"


def _checks(study: StudyChanges, one: RemovedReading) -> Iterator[str]:
    for finding in one.findings:
        how = "a note" if finding.severity == "note" else "a failing check"
        how = "accepted" if finding.accepted else how
        yield (
            f"Finding no longer reported ({how}): {grid_name(study.base.study, finding.levels)}: "
            f"{finding.found}"
        )
    if one.checks:
        yield f"Checks no longer made of it: {cut(one.checks, len(one.checks))}"
