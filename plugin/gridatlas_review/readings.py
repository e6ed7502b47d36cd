"""Readings: their cells, where they disagree, and what is lost with those that were removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from gridatlas.assessment.agreement import Disagreement, Hint
from gridatlas.assessment.assessment import Assessment
from gridatlas.checks import all_checks
from gridatlas.model.format import is_are, many
from gridatlas.model.study import Cell, Levels, Reading, Study
from gridatlas_review.changes import (
    Changes,
    ClaimChange,
    DisagreementChange,
    FindingChange,
    Place,
    ReadingChange,
    ReadingChanges,
    RemovedReading,
    StudyChanges,
    outcome,
)
from gridatlas_review.matching import Match, Rename, match_by_values, name_of, reading_values
from gridatlas_review.report import (
    NAMED,
    ROWS,
    Entry,
    Table,
    entry,
    grid_name,
    more_than,
    place_name,
    reading_name,
    truncate,
    value_text,
)

ORDINALS = {1: "only", 2: "second", 3: "third", 4: "fourth"}

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
        _compare_disagreements(before.disagreements, after.disagreements, ids, match),
        tuple(hint for key, hint in new_hints.items() if key not in old_hints),
        tuple(hint for key, hint in old_hints.items() if key not in new_hints),
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


def _compare_disagreements(
    before: tuple[Disagreement, ...],
    after: tuple[Disagreement, ...],
    ids: Mapping[str, str],
    match: Match,
) -> tuple[DisagreementChange, ...]:
    places = ((match.head(each.levels, each.point), each) for each in before)
    old = {place: disagreement for place, disagreement in places if place is not None}
    new = {(disagreement.levels, disagreement.point): disagreement for disagreement in after}
    changes = []
    for place in dict.fromkeys((*new, *old)):
        was, now = old.get(place), new.get(place)
        old_values = was and {(ids.get(key, key), value) for key, value in was.values}
        if old_values != (now and set(now.values)):
            changes.append(DisagreementChange(was, now, place))
    return tuple(changes)


def removed_readings(
    base: Assessment,
    match: Match,
    readings: ReadingChanges,
    claims: Sequence[ClaimChange],
    findings: Sequence[FindingChange],
) -> tuple[RemovedReading, ...]:
    """The readings that were removed, with everything that went with them.

    Args:
        base: The study as it was.
        readings, claims, findings: What changed about these.
    """
    removed = []
    for reading in readings.removed:
        statements = [
            claim for claim in claims if claim.old and claim.old.entry.source == reading.id
        ]
        titles = (result.title for result in base.checks.results if result.reading == reading.id)
        removed.append(
            RemovedReading(
                reading,
                _sources(base.study, reading, match),
                tuple(statements),
                tuple(claim for claim in statements if _only_loses_its_source(claim)),
                tuple(
                    change.old
                    for change in findings
                    if change.old and change.new is None and change.old.reading == reading.id
                ),
                tuple(dict.fromkeys(titles)),
                tuple(
                    disagreement
                    for disagreement in readings.disagreements
                    if _goes_with(disagreement, reading.id)
                ),
                tuple(
                    hint for hint in readings.old_hints if reading.id in (hint.reading, hint.other)
                ),
            )
        )
    return tuple(removed)


def _sources(base: Study, reading: Reading, match: Match) -> tuple[tuple[int, int], ...]:
    """How many cells had how many readings with a value: (readings, cells), few readings first."""
    counts: Counter[int] = Counter()
    for place, cell in reading.table.items():
        if cell.value is None or match.head(*place) is None:
            continue
        cells = (other.table.get(place) for other in base.readings)
        counts[sum(other is not None and other.value is not None for other in cells)] += 1
    return tuple(sorted(counts.items()))


def _only_loses_its_source(claim: ClaimChange) -> bool:
    """Whether a claim says the same of the shown values, or was removed with its source."""
    if claim.old is None or claim.new is None:
        return True
    old, new = claim.old.entry, claim.new.entry
    same = old.model_copy(update={"source": new.source}) == new
    before, after = (
        {problem.kind for problem in judged.problems if problem.severity == "problem"}
        for judged in (claim.old, claim.new)
    )
    return (
        same and outcome(claim.old) == outcome(claim.new) and after - {"unknown-reading"} <= before
    )


def _goes_with(change: DisagreementChange, reading: str) -> bool:
    """Whether a disagreement is gone, or smaller, only because one of its readings is."""
    if change.old is None:
        return False
    left = [value for value in change.old.values if value[0] != reading]
    if len(left) == len(change.old.values):
        return False
    values = {value for _, value in left}
    now = change.new.values if change.new else ()
    return {value for _, value in now} == (values if len(values) > 1 else set())


# --- in the report ------------------------------------------------------------------------------


def removed_entries(changes: Changes) -> Iterator[Entry]:
    """Each reading that was removed, and what went with it."""
    for study in changes.studies:
        for removed in study.removed_readings:
            name = reading_name(study.base.study, removed.reading.id)
            text = f"Removed: {name} with {many(len(removed.reading.table), 'cell')}"
            yield entry(study.id, text, _lost_with(study, removed))


def removed_gist(changes: Changes) -> str:
    """What cells and statements lose with all readings that were removed."""
    removed = [reading for study in changes.studies for reading in study.removed_readings]
    return ", ".join(losses(removed))


def losses(removed: Iterable[RemovedReading]) -> Iterator[str]:
    """What cells and statements lose with some readings: `32 cells lose their second source`."""
    removed = tuple(removed)
    cells: Counter[int] = Counter()
    for reading in removed:
        cells.update(dict(reading.sources))
    for sources, number in sorted(cells.items()):
        which = ORDINALS.get(sources, f"{sources}th")
        yield f"{many(number, 'cell')} {_lose(number)} {which} source"
    statements = sum(len(reading.statements) for reading in removed)
    if statements:
        yield f"{many(statements, 'statement')} {_lose(statements)} source"


def _lose(number: int) -> str:
    return "loses its" if number == 1 else "lose their"


def _lost_with(study: StudyChanges, removed: RemovedReading) -> Iterator[str]:
    """Statements, disagreements, hints, findings and checks that went with a reading."""
    base = study.base.study
    quoted, gone = (
        [
            f"“{claim.old.entry.text}”"
            for claim in removed.moved
            if claim.old and (claim.new is not None) == in_head
        ]
        for in_head in (True, False)
    )
    if len(study.removed_readings) > 1:
        yield from losses((removed,))
    if quoted:
        yield f"Statements that name it: {truncate(quoted, NAMED)}"
    if gone:
        yield f"Statements removed with it: {truncate(gone, NAMED)}"
    if removed.disagreements:
        cells = many(len(removed.disagreements), "cell")
        yield f"It disagreed with other readings on {cells}; that is no longer reported."
    for hint in removed.hints:
        names = reading_name(base, hint.reading), reading_name(base, hint.other)
        yield f"No longer reported: of {names[0]} {hint.looks}, compared with {names[1]}"
    kinds: Counter[str] = Counter()
    for finding in removed.findings:
        if finding.severity == "note" and not finding.accepted:
            kinds[all_checks()[finding.kind].title] += 1
            continue
        kind = "accepted" if finding.accepted else "a failing check"
        where = grid_name(base, finding.levels)
        yield f"Finding no longer reported ({kind}): {where}: {finding.found}"
    for title, number in kinds.items():
        yield f"No longer reported: {many(number, 'note')} of the check {title}"
    if removed.checks:
        yield f"Checks no longer made of it: {'; '.join(removed.checks)}"


def disagreement_entries(changes: Changes) -> Iterator[Entry]:
    """Cells on which readings disagree now, or otherwise than before."""
    for study in changes.studies:
        for hint in study.readings.new_hints:
            name, other = (
                reading_name(study.head.study, reading) for reading in (hint.reading, hint.other)
            )
            text = f"Now it looks as if of {name} {hint.looks}, compared with {other}"
            yield entry(study.id, text, (hint.evidence,))
    kinds: tuple[tuple[str, Callable[[DisagreementChange], bool]], ...] = (
        ("readings disagree now on", lambda change: change.old is None),
        ("readings disagree otherwise on", lambda change: bool(change.old and change.new)),
        ("readings no longer disagree on", lambda change: change.new is None),
    )
    for text, is_kind in kinds:
        for study in changes.studies:
            by_grid: dict[Levels, list[DisagreementChange]] = {}
            for change in filter(is_kind, study.own_disagreements):
                by_grid.setdefault(change.place[0], []).append(change)
            for levels, group in by_grid.items():
                name = f"{grid_name(study.head.study, levels)}: {text} {many(len(group), 'cell')}"
                yield _disagreement(study, name, group)


def _disagreement(study: StudyChanges, text: str, group: list[DisagreementChange]) -> Entry:
    """The disagreements in one grid; of those that are gone, what they were."""
    head, base = study.head.study, study.base.study
    rows = []
    for change in group[:ROWS]:
        disagreement, source = (change.new, head) if change.new else (change.old, base)
        assert disagreement is not None
        labels = {reading.id: reading.label for reading in source.readings}
        values = (f"{value} ({labels.get(key, key)})" for key, value in disagreement.values)
        rows.append((place_name(head, change.place[1]), "; ".join(values)))
    column = "values" if group[0].new else "values before"
    more = more_than(ROWS, len(group), "cell", " of this grid")
    return entry(study.id, text, (more,), Table(("cell", column), tuple(rows)))


def source_entries(changes: Changes) -> Iterator[Entry]:
    """Readings whose cells changed in a way that the shown values don't have."""
    for study in changes.studies:
        for change in study.readings.changed:
            yield from _source(study, change)


def _source(study: StudyChanges, change: ReadingChange) -> Iterator[Entry]:
    head = study.head.study
    shown = {
        (grid.new.levels, cell.point): cell.new.reading
        or study.readings.ids.get(cell.old.reading, "")
        for grid, cell in study.cells()
    }
    # Those that are shown are among the changed values.
    hidden = [value for value in change.values if shown.get(value[0]) != change.new.id]
    parts = []
    if hidden:
        parts.append(f"{many(len(hidden), 'value')} changed that {is_are(len(hidden))} not shown")
    if change.details:
        cells = many(len(change.details), "cell")
        parts.append(f"notes, places, runs or decimals of {cells} changed")
    if not parts:
        return
    rows = tuple(
        (
            f"{grid_name(head, levels)}, {place_name(head, point)}",
            value_text(head, old),
            value_text(head, new),
        )
        for (levels, point), old, new in hidden[:ROWS]
    )
    yield entry(
        study.id,
        f"{reading_name(head, change.new.id)}: {', '.join(parts)}",
        (more_than(ROWS, len(hidden), "value", " of this reading"),),
        Table(("cell", "before", "after"), rows) if rows else None,
    )
