"""Studies, levels, grids and properties that were added, removed, renamed or changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel

from gridatlas.model.format import many
from gridatlas.model.study import Cell, Study
from gridatlas_review.changes import PropertyChange, StudyChanges
from gridatlas_review.matching import Match, Rename, factors_of, study_values, takes_name
from gridatlas_review.report import (
    BAD,
    EXCERPT,
    GOOD,
    LOOK,
    Row,
    before_and_now,
    grid_name,
    line,
    row,
    values_of,
)

Properties = Iterator[tuple[Literal["meaning", "text"], str, Any, Any]]
"""Weight, name, and the values before and after."""
MEANT = {
    "unit": "{metric} is in {new} now, was in {old}",
    "better": "{metric}: {new} is better now, was {old}",
    "name": "The metric is {new} now, was {old}",
    "range": "The range of {metric} is {new} now, was {old}",
    "scale": "Answers compare the {new} scale now, was {old}",
}
"""Sentences on changes of the metric's keys, which mean another thing than before."""

NAMING = ("reading ", "baseline", "regions", "reproduce")
"""Properties that name levels by their ids: a level's rename isn't a change of them, too."""

# --- how changes of properties are found --------------------------------------------------------


def compare_properties(
    base: Study, head: Study, match: Match, readings: Mapping[str, str]
) -> tuple[PropertyChange, ...]:
    """Every property of a study that isn't a cell, a claim, a finding, or a level come or gone.

    Args:
        readings: The head's id of a reading by the base's.
    """
    return tuple(
        PropertyChange(weight, name, _text(old), _text(new))
        for weight, name, old, new in _properties(base, head, match, readings)
        if old != new and not (name.startswith(NAMING) and match.in_head(_text(old)) == _text(new))
    )


def _properties(base: Study, head: Study, match: Match, readings: Mapping[str, str]) -> Properties:
    yield "text", "title", base.title, head.title
    yield "text", "summary", base.summary, head.summary
    yield from _fields("text", "source", base.source, head.source)
    yield "text", "links to other studies", _see_also(base), _see_also(head)
    for weight, key, old, new in _fields("text", "metric", base.metric, head.metric):
        before, now = (
            " to ".join(map(str, of)) if isinstance(of, list) else of for of in (old, new)
        )
        yield "meaning" if key.removeprefix("metric: ") in MEANT else weight, key, before, now
    yield "meaning", "baseline", dict(base.baseline), dict(head.baseline)
    for key in {**base.roles, **head.roles}:
        before, now = base.roles.get(key), head.roles.get(key)
        if before and now:
            yield "meaning", f"role of {key}", before, now
    repeats = [{key for key in of.roles if key not in _ids(of)} for of in (base, head)]
    yield "meaning", "columns that repeat cells", sorted(repeats[0]), sorted(repeats[1])
    yield "text", "compared facets", base.compare, head.compare
    yield "meaning", "trials", _dumped(base.trials), _dumped(head.trials)
    yield "meaning", "spread", _dumped(base.spread), _dumped(head.spread)
    yield "meaning", "rule among readings", base.reconcile, head.reconcile
    yield "meaning", "cells", base.cells, head.cells
    yield "meaning", "largest difference that doesn't matter", base.alike, head.alike
    yield "text", "regions", _regions(base), _regions(head)
    yield from _fields("text", "reproduce", base.reproduce, head.reproduce)
    yield from _order_of_readings(base, head, readings)
    if match.order is not None:
        yield from _factors(base, head, match, match.order)
    yield from _readings(base, head, readings, match)
    for key in {**base.runs, **head.runs}:
        old, new = base.runs.get(key), head.runs.get(key)
        if old is None or new is None:
            yield "text", "run", key if old else "", key if new else ""
        elif old != new:
            yield "text", f"run {key}", "as before", "other records or another progress"


def _order_of_readings(base: Study, head: Study, readings: Mapping[str, str]) -> Properties:
    shared = set(readings.values())
    old = [readings[reading.id] for reading in base.readings if reading.id in readings]
    new = [reading.id for reading in head.readings if reading.id in shared]
    yield "meaning", "order of the readings", old, new


def _factors(base: Study, head: Study, match: Match, order: tuple[int, ...]) -> Properties:
    old_factors, new_factors = factors_of(base), factors_of(head)
    roles = [*(f"facet {index + 1}" for index in range(len(base.facets))), "x axis", "y axis"]
    for place, (old, keys) in enumerate(zip(old_factors, match.levels, strict=True)):
        new = new_factors[order[place]]
        yield "text", f"place of {new.id}", roles[place], roles[order[place]]
        if old.id == new.id:
            yield "text", f"label of {new.id}", old.label, new.label
        yield "meaning", f"unit of {new.id}", old.unit, new.unit
        yield "text", f"direction of {new.id}", old.direction, new.direction
        shared = set(keys.values())
        yield (
            "text",
            f"order of the levels of {new.id}",
            [keys[level.key] for level in old.levels if level.key in keys],
            [level.key for level in new.levels if level.key in shared],
        )
    for factor, before, after in match.shared:
        name = f"{factor.id} {after.key}"
        taken = takes_name(old_factors[new_factors.index(factor)], before, after)
        if before.key == after.key:
            yield "meaning" if taken else "text", f"label of {name}", before.label, after.label
        yield "meaning", f"items of {name}", before.items, after.items
        yield "meaning", f"aggregate of {name}", before.aggregate, after.aggregate
        if before.key == after.key:
            yield "text", f"address of {name}", before.slug, after.slug


def _readings(base: Study, head: Study, readings: Mapping[str, str], match: Match) -> Properties:
    """What else `study.yml` says of readings, and their rows outside the study."""
    old, new = ({reading.id: reading for reading in study.readings} for study in (base, head))
    pairs = [(old[key], new[to]) for key, to in readings.items() if key in old and to in new]
    for before, after in pairs:
        yield from _fields("text", f"reading {after.id}", before.entry, after.entry, but="id")
    for before, after in pairs:
        rows, new_rows = (
            sorted(
                (tuple((factor, ids.get(key, key)) for factor, key in keys), *_noted(cell))
                for keys, cell in reading.outside
            )
            for reading, ids in ((before, match.ids), (after, {}))
        )
        if rows != new_rows:
            other = " other" if len(rows) == len(new_rows) else ""
            texts = f"{len(rows)} rows", f"{len(new_rows)}{other} rows"
            name = f"reading {after.id}: rows at levels that the study doesn't have"
            yield "text", name, *texts


def _ids(study: Study) -> set[str]:
    return {factor.id for factor in factors_of(study)}


def _noted(cell: Cell) -> tuple[str, str, str]:
    return str(cell.value), cell.state, cell.note


def _regions(study: Study) -> list[tuple[str, list[tuple[str, str]]]]:
    return [(region.label, sorted(region.points)) for region in study.regions]


def _see_also(study: Study) -> list[str]:
    return [
        f"{link.study} ({link.text}{', of the same runs' if link.same_runs else ''})"
        for link in study.see_also
    ]


def _dumped(entry: BaseModel | None) -> dict[str, Any]:
    return entry.model_dump(mode="json", exclude_none=True) if entry else {}


def _fields(
    weight: Literal["meaning", "text"],
    name: str,
    old: BaseModel | None,
    new: BaseModel | None,
    but: str = "",
) -> Properties:
    """The keys of an entry of `study.yml`, but for one."""
    before = old.model_dump(mode="json") if old else {}
    after = new.model_dump(mode="json") if new else {}
    for key in {**before, **after}:
        if key != but:
            yield weight, f"{name}: {key}", before.get(key), after.get(key)


def _text(value: Any) -> str:
    """A property as text; empty for None and for empty lists and mappings."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {_text(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return "" if value is None else str(value)


# --- rows ----------------------------------------------------------------------------------------


def structure_rows(study: StudyChanges) -> Iterator[Row]:
    """What values mean, and studies' columns, levels, names and texts."""
    values = any(cell.kind == "value" for _, cell in study.cells())
    for change in study.properties:
        if change.weight == "meaning":
            text = _meaning(study, change) + ("" if values else "; no value changed")
            found = row("meaning", BAD, study.id, text, "changed setting")
            yield replace(found, order="" if values else "cause")
        else:
            yield _edited(study, change)
    if study.match.order is None:
        sides = (
            ", ".join(factor.id for factor in factors_of(each.study) if factor.id)
            for each in (study.base, study.head)
        )
        text = "The columns are {1} now, were {0}, so no cell can be compared".format(*sides)
        yield row("meaning", BAD, study.id, text, "changed setting", "checks", "claims")
    else:
        yield from _levels_and_grids(study)
    for grid in study.grids.changed:
        if grid.computed:
            now = "computed from its parts" if grid.new.computed else "printed by a reading"
            text = f"{grid_name(grid.new.study, grid.new.levels)} is now {now}"
            yield row("", GOOD, study.id, text, "edited text")
    for rename in (*study.match.renamed, *study.readings.renamed):
        yield renamed_row(rename, study.id)
    for entry in study.base.study.history:
        if entry not in study.head.study.history:
            text = f"The history's entry of {entry.date} was edited or removed: “{entry.text}”"
            yield row("removed", BAD, study.id, text, "removed entry")
    for entry in study.new_entries:
        text = f"The history explains: “{entry.text}”"
        yield row("", GOOD, study.id, text, "new entry of the history")
    for name in study.edited_runs:
        text = f"The record of run {name} was edited"
        yield row("", LOOK, study.id, text, "edited record")


def _edited(study: StudyChanges, change: PropertyChange) -> Row:
    """What means the same, and may break links."""
    factor = change.name.removeprefix("place of ")
    if factor != change.name and change.old.startswith("facet") and change.new.endswith("axis"):
        text = f"{factor} is the {change.new} now: links to its pages break"
        text = f"{text[0].upper()}{text[1:]}"
        return row("", LOOK, study.id, text, "moved facet")
    text = before_and_now(change.name, change.old, change.new)
    return row("", GOOD, study.id, text, "edited text")


def _meaning(study: StudyChanges, change: PropertyChange) -> str:
    """What values mean now, and meant before."""
    key = change.name.removeprefix("metric: ")
    old, new = (line(text, EXCERPT) or "none" for text in (change.old, change.new))
    if key != change.name:
        metric = study.head.study.metric.name
        text = MEANT[key].format(metric=metric, old=old, new=new)
    else:
        text = f"{key}: {new} now, was {old}"
    return f"{text[0].upper()}{text[1:]}"


def _levels_and_grids(study: StudyChanges) -> Iterator[Row]:
    """Levels and grids that come and go."""
    for mark, verb, results, levels in (
        (BAD, "was removed", study.base.results, study.match.removed),
        (GOOD, "is new", study.head.results, study.match.added),
    ):
        for factor, level in levels:
            ids = [each.id for each in factors_of(results.study)]
            at, place = study_values(results), ids.index(factor.id)
            values = many(sum(keys[place] == level.key for keys in at), "value")
            text = f"{factor.label} {level.label} {verb}, with {values}"
            kind, noun = ("removed", "removed level") if mark == BAD else ("", "new level")
            yield replace(row(kind, mark, study.id, text, noun), order="cause")
    if study.match.moves_facets:
        before = study_values(study.base.results)
        now = study_values(study.head.results, study.match.order)
        if gone := len(before.keys() - now.keys()):
            text = f"{many(gone, 'value')} removed while columns moved"
            yield row("removed", BAD, study.id, text, "moved column")
        return
    for mark, verb, grids, levels in (
        (BAD, "was removed", study.grids.removed, study.match.removed),
        (GOOD, "is new", study.grids.added, study.match.added),
    ):
        keys = {level.key for _, level in levels}
        for grid in grids:
            if keys.isdisjoint(grid.levels):
                values = many(values_of(grid), "value")
                text = f"{grid_name(grid.study, grid.levels)} {verb}, with {values}"
                kind, noun = ("removed", "removed grid") if mark == BAD else ("", "new grid")
                yield row(kind, mark, study.id, text, noun)


def renamed_row(rename: Rename, study: str) -> Row:
    """What is the same under another name, and breaks links where nothing says so."""
    text = f"{rename.factor or rename.kind} {rename.old} is {rename.new} now"
    text = f"{text[0].upper()}{text[1:]}"
    details = []
    if rename.kind != "factor":
        details = [f"{rename.equal:,} of {many(rename.cells, 'value')} are the same"]
    if rename.declared or rename.kind in ("factor", "reading"):
        return row("", GOOD, study, text, "declared rename", details=details)
    text += ", without `former`: links to the old name break"
    return row("", LOOK, study, text, "undeclared rename", details=details)
