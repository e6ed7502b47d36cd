"""Studies, levels, grids and properties that were added, removed, renamed or changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel

from gridatlas.model.format import many
from gridatlas.model.study import Cell, Factor, Level, Study
from gridatlas.table.grids import Results
from gridatlas.table.study_table import Grid
from gridatlas_review.changes import Changes, PropertyChange, StudyChanges
from gridatlas_review.matching import Match, Rename, factors_of
from gridatlas_review.report import Entry, before_and_now, entry, grid_name, grids_text, values_of

Properties = Iterator[tuple[Literal["rule", "text"], str, Any, Any]]
"""Weight, name, and the values before and after."""

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
    yield from _fields("rule", "metric", base.metric, head.metric)
    yield "rule", "baseline", dict(base.baseline), dict(head.baseline)
    yield "rule", "compared facets", base.compare, head.compare
    yield from _fields("rule", "trials", base.trials, head.trials)
    yield "rule", "rule among readings", base.reconcile, head.reconcile
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
    yield "rule", "order of the readings", old, new


def _factors(base: Study, head: Study, match: Match, order: tuple[int, ...]) -> Properties:
    old_factors, new_factors = factors_of(base), factors_of(head)
    roles = [*(f"facet {index + 1}" for index in range(len(base.facets))), "x axis", "y axis"]
    for place, (old, keys) in enumerate(zip(old_factors, match.levels, strict=True)):
        new = new_factors[order[place]]
        yield "rule", f"place of {new.id}", roles[place], roles[order[place]]
        if old.id == new.id:
            yield "text", f"label of {new.id}", old.label, new.label
        yield "rule", f"unit of {new.id}", old.unit, new.unit
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
        if before.key == after.key:
            yield "text", f"label of {name}", before.label, after.label
        yield "rule", f"items of {name}", before.items, after.items
        yield "rule", f"aggregate of {name}", before.aggregate, after.aggregate
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


def _noted(cell: Cell) -> tuple[str, str, str]:
    return str(cell.value), cell.state, cell.note


def _regions(study: Study) -> list[tuple[str, list[tuple[str, str]]]]:
    return [(region.label, sorted(region.points)) for region in study.regions]


def _see_also(study: Study) -> list[str]:
    return [
        f"{link.study} ({link.text}{', of the same runs' if link.same_runs else ''})"
        for link in study.see_also
    ]


def _fields(
    weight: Literal["rule", "text"],
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


# --- in the report ------------------------------------------------------------------------------


def structure_entries(changes: Changes) -> Iterator[Entry]:
    """Studies, facets, levels and grids that were added or removed."""
    for verb, studies in (("Removed", changes.removed), ("Added", changes.added)):
        for assessment in studies:
            study_id, title = assessment.study.id, assessment.study.title
            grids = grids_text(assessment.results.grids.values())
            yield entry(study_id, f"{verb}: the study “{title}” with {grids}")
    for study in changes.studies:
        yield from _study_structure(study)


def _study_structure(study: StudyChanges) -> Iterator[Entry]:
    old, new = study.base.study, study.head.study
    if study.match.order is None:
        before, now = (", ".join(factor.id for factor in factors_of(each)) for each in (old, new))
        yield entry(
            new.id,
            "The factors can't be laid over one another, so that no cell can be compared: now "
            f"{now}; before {before}",
        )
    for change in study.properties:
        if change.weight == "rule":
            yield entry(new.id, before_and_now(change.name, change.old, change.new))
    yield from _come_and_gone(
        new.id, "Removed", study.base.results, study.match.removed, study.grids.removed
    )
    yield from _come_and_gone(
        new.id, "Added", study.head.results, study.match.added, study.grids.added
    )
    # Those that were removed are in a section of their own.
    for reading in study.readings.added:
        cells = many(len(reading.table), "cell")
        yield entry(new.id, f"Added: the reading “{reading.label}” with {cells}")
    for grid in study.grids.changed:
        if grid.computed:
            now = "computed from its parts" if grid.new.computed else "printed by a reading"
            yield entry(new.id, f"{grid_name(new, grid.new.levels)} is now {now}")


def _come_and_gone(
    study_id: str,
    verb: str,
    results: Results,
    levels: tuple[tuple[Factor, Level], ...],
    grids: tuple[Grid, ...],
) -> Iterator[Entry]:
    """Levels of one snapshot only with their grids, then other grids of one snapshot only.

    Args:
        results: The study in the snapshot that has them.
    """
    study = results.study
    facets = [facet.id for facet in study.facets]
    left = {id(grid): grid for grid in grids}
    for factor, level in levels:
        text = f"{verb}: {factor.label} {level.label}"
        if factor.id in facets:
            index = facets.index(factor.id)
            at_level = [grid for grid in grids if grid.levels[index] == level.key]
            for grid in at_level:
                left.pop(id(grid), None)
            yield entry(study_id, f"{text}, with {grids_text(at_level)}")
        else:
            axis = 0 if study.x.id == factor.id else 1
            number = sum(
                point[axis] == level.key
                for grid in results.grids.values()
                for point in grid.points_at(grid.columns.value.known)
            )
            yield entry(study_id, f"{text} on an axis, with {many(number, 'value')}")
    for grid in left.values():
        name, values = grid_name(study, grid.levels), many(values_of(grid), "value")
        yield entry(study_id, f"{verb}: the grid {name} with {values}")


def rename_entries(changes: Changes) -> Iterator[Entry]:
    """What is the same under another name."""
    for rename in changes.renamed:
        yield _rename(rename, rename.new.partition(" ")[0])
    for study in changes.studies:
        for rename in (*study.match.renamed, *study.readings.renamed):
            yield _rename(rename, study.id)


def _rename(rename: Rename, study_id: str) -> Entry:
    name = rename.factor or rename.kind
    if rename.kind == "factor":
        reason = f"by its place and {many(rename.equal, 'level')} of {rename.cells}"
    elif rename.equal == rename.cells:
        reason = f"all {many(rename.cells, 'value')} are the same"
    else:
        cells = many(rename.cells, "value")
        reason = f"{rename.equal:,} of {cells} are the same"
    if rename.declared:
        reason = f"as former says; {reason}"
    text = f"Renamed: {name} {rename.old} → {rename.new}; {reason}"
    return entry(study_id, text)


def text_entries(changes: Changes) -> Iterator[Entry]:
    """Titles, labels, units and notes that changed."""
    for study in changes.studies:
        for change in study.properties:
            if change.weight == "text":
                yield entry(study.id, before_and_now(change.name, change.old, change.new))
