"""Readings that changed or disagree, as a reviewer is told of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gridatlas.diff.changes import Changes, StudyChanges
from gridatlas.diff.reading_changes import DisagreementChange, ReadingChange
from gridatlas.diff.report import Item, Table, item
from gridatlas.diff.wording import (
    ROWS,
    count,
    grid_name,
    place_name,
    reading_name,
    value_text,
)


def disagreements(changes: Changes) -> Iterator[Item]:
    """Cells on which readings disagree now, or otherwise than before."""
    for study in changes.studies:
        for hint in study.readings.hints:
            one, other = (
                reading_name(study.head.study, name) for name in (hint.reading, hint.other)
            )
            yield item(
                study.head.study.id,
                f"Now it looks as if of {one} {hint.looks}, compared with {other}",
                (hint.evidence,),
            )
    kinds: tuple[tuple[str, Callable[[DisagreementChange], bool]], ...] = (
        ("readings disagree now on", lambda one: one.old is None),
        ("readings disagree otherwise on", lambda one: bool(one.old and one.new)),
        ("readings no longer disagree on", lambda one: one.new is None),
    )
    for words, wanted in kinds:
        for study in changes.studies:
            groups: dict[tuple[str, ...], list[DisagreementChange]] = {}
            for change in study.own_disagreements:
                if wanted(change):
                    groups.setdefault(change.at[0], []).append(change)
            for levels, group in groups.items():
                yield _disagreement(study, levels, group, words)


def _disagreement(
    study: StudyChanges, levels: tuple[str, ...], group: list[DisagreementChange], words: str
) -> Item:
    head, base = study.head.study, study.base.study

    def values(one: DisagreementChange) -> str:
        # Of those that are gone, what they were.
        given, of = (one.new, head) if one.new else (one.old, base)
        assert given is not None
        labels = {reading.id: reading.label for reading in of.readings}
        return "; ".join(f"{value} ({labels.get(key, key)})" for key, value in given.values)

    rows = tuple((place_name(head, one.at[1]), values(one)) for one in group[:ROWS])
    more = len(group) - ROWS
    column = "values" if group[0].new else "values before"
    return item(
        head.id,
        f"{grid_name(head, levels)}: {words} {count(len(group), 'cell')}",
        (f"and {count(more, 'more cell')} of this grid",) if more > 0 else (),
        Table(("cell", column), rows),
    )


def sources(changes: Changes) -> Iterator[Item]:
    """Readings that were added, removed, or whose cells changed."""
    for study in changes.studies:
        for one in study.readings.changed:
            yield _source(study, one)


def _source(study: StudyChanges, one: ReadingChange) -> Item:
    head = study.head.study
    parts = []
    if one.values:
        parts.append(f"{count(len(one.values), 'value')} changed")
    if one.details:
        parts.append(
            f"notes, places, runs or decimals of {count(len(one.details), 'cell')} changed"
        )
    shown = {
        (change.new.levels, cell.point): cell.new.reading
        for change in study.grids.changed
        for cell in change.cells
    }
    # Those that are shown stand among the changed values.
    hidden = [value for value in one.values if shown.get(value[0]) != one.new.id]
    rows = tuple(
        (
            f"{grid_name(head, levels)}, {place_name(head, point)}",
            value_text(head, old),
            value_text(head, new),
        )
        for (levels, point), old, new in hidden[:ROWS]
    )
    if one.values and len(hidden) < len(one.values):
        parts[0] += f", of which {len(hidden):,} aren't shown" if hidden else ", all of them shown"
    more = len(hidden) - ROWS
    return item(
        head.id,
        f"{reading_name(head, one.new.id)}: {', '.join(parts)}",
        (f"and {count(more, 'more value')} of this reading",) if more > 0 else (),
        Table(("cell", "before", "after"), rows) if rows else None,
    )
