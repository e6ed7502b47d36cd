"""Readings of two sides: their cells, and where they disagree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from gridatlas.assessment.agreement import Disagreement, Hint, compare
from gridatlas.diff.matching import Match, Renamed, match_by_values, name_of, reading_values
from gridatlas.model.study import Cell, Levels, Point, Reading, Study

At = tuple[Levels, Point]


@dataclass(frozen=True, slots=True)
class ReadingChange:
    """A reading that both sides have, some cells of which changed.

    Attributes:
        values: Places on the head's axes with the value before and after; None for none.
        details: Places where only something else than the value changed, such as a note.
    """

    old: Reading
    new: Reading
    values: tuple[tuple[At, Decimal | None, Decimal | None], ...]
    details: tuple[At, ...]


@dataclass(frozen=True, slots=True)
class DisagreementChange:
    """A cell on which readings disagree on one side only, or with other values; on the head."""

    old: Disagreement | None
    new: Disagreement | None
    at: At


@dataclass(frozen=True, slots=True)
class Readings:
    """Everything that changed about the readings of a study."""

    ids: Mapping[str, str]
    renamed: tuple[Renamed, ...]
    removed: tuple[Reading, ...]
    added: tuple[Reading, ...]
    changed: tuple[ReadingChange, ...]
    disagreements: tuple[DisagreementChange, ...]
    hints: tuple[Hint, ...]
    hints_gone: tuple[Hint, ...]


def compare_readings(base: Study, head: Study, match: Match) -> Readings:
    """Lay readings over one another, by their ids or else by their values."""
    old, new = ({reading.id: reading for reading in study.readings} for study in (base, head))
    ids = {key: key for key in old if key in new}
    alike = match_by_values(
        {key: reading_values(one, match) for key, one in old.items() if key not in new},
        {key: reading_values(one) for key, one in new.items() if key not in old},
    )
    renamed = tuple(
        Renamed(
            "reading", "", name_of(key, old[key].label), name_of(to, new[to].label), equal, cells
        )
        for key, (to, equal, cells) in alike.items()
    )
    ids |= {key: to for key, (to, _, _) in alike.items()}
    changed = [_reading(old[key], new[to], ids, match) for key, to in ids.items()]
    before, after = compare(base), compare(head)

    def said(hints: tuple[Hint, ...], names: Mapping[str, str]) -> dict[tuple[str, ...], Hint]:
        return {
            (
                hint.kind,
                names.get(hint.reading, hint.reading),
                names.get(hint.other, hint.other),
            ): hint
            for hint in hints
        }

    hints, hinted = said(after.hints, {}), said(before.hints, ids)
    return Readings(
        ids,
        renamed,
        tuple(one for key, one in old.items() if key not in ids),
        tuple(one for key, one in new.items() if key not in ids.values()),
        tuple(one for one in changed if one.values or one.details),
        _disagreements(before.disagreements, after.disagreements, ids, match),
        tuple(hint for key, hint in hints.items() if key not in hinted),
        tuple(one for key, one in hinted.items() if key not in hints),
    )


def _reading(old: Reading, new: Reading, ids: Mapping[str, str], match: Match) -> ReadingChange:
    """All cells of one reading, but for those at levels that one side only has."""
    if match.order is None:
        return ReadingChange(old, new, (), ())
    before: dict[At, Cell] = {}
    for (levels, point), cell in old.cells.items():
        at = match.head(levels, point)
        if at is not None:
            before[at] = cell
    known, order = [set(level.values()) for level in match.levels], match.order
    values, details = [], []

    def on_both(at: At) -> bool:
        keys = (*at[0], *at[1])
        return all(keys[place] in there for there, place in zip(known, order, strict=True))

    for at in dict.fromkeys((*before, *(cell for cell in new.cells if on_both(cell)))):
        one, other = before.get(at), new.cells.get(at)
        first = None if one is None else one.value
        second = None if other is None else other.value
        if first != second:
            values.append((at, first, second))
        elif _more(one, ids) != _more(other, {}):
            details.append(at)
    return ReadingChange(old, new, tuple(values), tuple(details))


def _more(cell: Cell | None, ids: Mapping[str, str]) -> object:
    """All that is known of a cell but its line in the file; values as they are printed."""
    if cell is None:
        return None
    return (
        *(str(cell.value), cell.state, ids.get(cell.reading, cell.reading), cell.n),
        *(cell.successes, cell.stderr, cell.note, cell.place, cell.run, cell.repeats),
    )


def _disagreements(
    before: tuple[Disagreement, ...],
    after: tuple[Disagreement, ...],
    ids: Mapping[str, str],
    match: Match,
) -> tuple[DisagreementChange, ...]:
    old: dict[At, Disagreement] = {}
    for one in before:
        at = match.head(one.levels, one.point)
        if at is not None:
            old[at] = one
    new = {(one.levels, one.point): one for one in after}
    changes = []
    for at in dict.fromkeys((*new, *old)):
        first, second = old.get(at), new.get(at)
        said = first and {(ids.get(key, key), value) for key, value in first.values}
        if said != (second and set(second.values)):
            changes.append(DisagreementChange(first, second, at))
    return tuple(changes)
