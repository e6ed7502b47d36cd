"""Readings: their cells, where they disagree, and what is lost with those that were removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gridatlas.assessment.agreement import Disagreement, Hint
from gridatlas.assessment.assessment import Assessment
from gridatlas.model.format import is_are, many
from gridatlas.model.study import Cell, Reading
from gridatlas_review.changes import Place, ReadingChange, ReadingChanges, StudyChanges
from gridatlas_review.matching import Match, Rename, match_by_values, name_of, reading_values
from gridatlas_review.report import (
    BAD,
    GOOD,
    LOOK,
    NAMED,
    Row,
    place_in,
    reading_name,
    row,
    truncate,
)

# --- how changes are found ----------------------------------------------------------------------


def compare_readings(base: Assessment, head: Assessment, match: Match) -> ReadingChanges:
    """Lay readings over one another, by their ids or else by their values."""
    old, new = (
        {reading.id: reading for reading in study.readings} for study in (base.study, head.study)
    )
    ids = {key: key for key in old if key in new}
    alike = match_by_values(
        {key: reading_values(old[key], match) for key in old if key not in new},
        {key: reading_values(new[key]) for key in new if key not in old},
    )
    renamed = tuple(
        Rename("reading", name_of(key, old[key].label), name_of(to, new[to].label), equal, cells)
        for key, (to, equal, cells) in alike.items()
    )
    ids |= {key: counterpart.key for key, counterpart in alike.items()}
    changed = [_compare_cells(old[key], new[to], ids, match) for key, to in ids.items()]
    before, after = base.agreement, head.agreement
    old_hints, new_hints = _hints(before.hints, ids), _hints(after.hints, {})
    return ReadingChanges(
        ids,
        renamed,
        tuple(reading for key, reading in old.items() if key not in ids),
        tuple(reading for key, reading in new.items() if key not in ids.values()),
        tuple(change for change in changed if change.values or change.details),
        _new_disagreements(before.disagreements, after.disagreements, ids, match),
        tuple(hint for key, hint in new_hints.items() if key not in old_hints),
    )


def _hints(hints: Iterable[Hint], ids: Mapping[str, str]) -> dict[tuple[str, ...], Hint]:
    """Hints by their kinds and the head's ids of their readings."""
    return {
        (hint.kind, ids.get(hint.reading, hint.reading), ids.get(hint.other, hint.other)): hint
        for hint in hints
    }


def _compare_cells(
    old: Reading, new: Reading, ids: Mapping[str, str], match: Match
) -> ReadingChange:
    """All cells of one reading, but for those at levels that one snapshot only has."""
    if match.order is None:
        return ReadingChange(old, new, (), ())
    places = ((match.head(*place), cell) for place, cell in old.table.items())
    before = {place: cell for place, cell in places if place is not None}
    # By the head's factor: its levels that the base has, too.
    shared = {at: set(keys.values()) for at, keys in zip(match.order, match.levels, strict=True)}
    values, details = [], []

    def in_both(place: Place) -> bool:
        return all(key in shared[at] for at, key in enumerate((*place[0], *place[1])))

    for place in dict.fromkeys((*before, *filter(in_both, new.table))):
        cell, other = before.get(place), new.table.get(place)
        value = None if cell is None else cell.value
        other_value = None if other is None else other.value
        if value != other_value:
            values.append((place, value, other_value))
        elif _as_written(cell, ids) != _as_written(other, {}):
            details.append(place)
    return ReadingChange(old, new, tuple(values), tuple(details))


def _as_written(cell: Cell | None, ids: Mapping[str, str]) -> object:
    """All that is known of a cell but its line in the file; values as they are printed."""
    if cell is None:
        return None
    return (
        *(str(cell.value), cell.state, ids.get(cell.reading, cell.reading), cell.n),
        *(cell.successes, cell.stderr, cell.note, cell.place, cell.run, cell.repeats),
    )


def _new_disagreements(
    before: tuple[Disagreement, ...],
    after: tuple[Disagreement, ...],
    ids: Mapping[str, str],
    match: Match,
) -> tuple[Disagreement, ...]:
    """Those of cells on which readings disagreed less, or not at all."""
    places = ((match.head(each.levels, each.point), each) for each in before)
    old = {
        place: {(ids.get(key, key), value) for key, value in disagreement.values}
        for place, disagreement in places
    }
    return tuple(
        disagreement
        for disagreement in after
        if set(disagreement.values) - old.get((disagreement.levels, disagreement.point), set())
    )


# --- rows ----------------------------------------------------------------------------------------


def reading_rows(study: StudyChanges) -> Iterator[Row]:
    """Readings and values that are gone, and what is new about the others."""
    base, head = study.base.study, study.head.study
    for reading in study.readings.removed:
        text = f"The {reading_name(base, reading.id)} was removed, with "
        text += many(len(reading.table), "value")
        yield row("removed", BAD, study.id, text, "removed reading", "checks", "claims")
    for change in study.readings.changed:
        yield from _removed_values(study, change)
        yield from _hidden(study, change)
    for hint in study.readings.new_hints:
        name, other = (reading_name(head, key) for key in (hint.reading, hint.other))
        text = f"It looks as if of {name} {hint.looks}, compared with {other}"
        yield row("", LOOK, study.id, text, "reading that looks wrong", details=[hint.evidence])
    for reading in study.readings.added:
        text = f"The {reading_name(head, reading.id)} is new, with "
        yield row("", GOOD, study.id, text + many(len(reading.table), "value"), "new reading")
    labels = {reading.id: reading.label for reading in head.readings}
    for disagreement in study.readings.disagreements:
        values = "; ".join(
            f"{value} ({labels.get(key, key)})" for key, value in disagreement.values
        )
        text = f"{place_in(head, disagreement.levels, disagreement.point)}: {values}"
        yield row("", GOOD, study.id, text, "new disagreement of readings")


def _removed_values(study: StudyChanges, change: ReadingChange) -> Iterator[Row]:
    """Values that a reading no longer has, and what stands in for those that were shown."""
    head = study.head
    gone = [(place, old) for place, old, new in change.values if new is None]
    if not gone:
        return
    now: Counter[str] = Counter()
    for (levels, point), _ in gone:
        grid = head.results.grids.get(levels)
        cell = grid.cell(*point) if grid is not None else None
        now[cell.reading if cell is not None and cell.value is not None else ""] += 1
    of = f" of {reading_name(head.study, change.new.id)}" if len(head.study.readings) > 1 else ""
    text = f"{many(len(gone), 'value')}{of} {'was' if len(gone) == 1 else 'were'} removed"
    others = [reading_name(head.study, key) for key in now if key and key != change.new.id]
    if others:
        shown = len(gone) - now[""]
        them = f"{shown:,} of them" if now[""] else "it" if shown == 1 else "them"
        text += f"; {truncate(others, NAMED)} now stands in for {them}"
    (levels, point), old = gone[0]
    text += f" ({place_in(head.study, levels, point)}: {old})"
    found = row("removed", BAD, study.id, text, "reading without some values")
    yield replace(found, order="cause")


def _hidden(study: StudyChanges, change: ReadingChange) -> Iterator[Row]:
    """Changes of a reading that the shown values don't have."""
    head = study.head.study
    shown = {(grid.new.levels, cell.point) for grid, cell in study.cells()}
    hidden = [value for value in change.values if value[0] not in shown and value[2] is not None]
    if hidden:
        (levels, point), old, new = hidden[0]
        text = f"{reading_name(head, change.new.id)}: {many(len(hidden), 'value')} changed that "
        text += f"{is_are(len(hidden))} not shown ({place_in(head, levels, point)}: {old} → {new})"
        yield row("", GOOD, study.id, text, "edited reading")
    if change.details:
        cells = many(len(change.details), "cell")
        text = f"{reading_name(head, change.new.id)}: notes, places, runs or decimals of {cells}"
        yield row("", GOOD, study.id, f"{text} changed", "edited note")
