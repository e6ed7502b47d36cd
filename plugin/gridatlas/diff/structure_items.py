"""What was added, removed, renamed or worded otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from gridatlas.diff.changes import Changes, StudyChanges
from gridatlas.diff.matching import Renamed
from gridatlas.diff.report import Item, item
from gridatlas.diff.wording import (
    NAMED,
    ROWS,
    count,
    cut,
    grid_name,
    grids_text,
    now_and_before,
    place_name,
    value_text,
)
from gridatlas.model.study import Grid
from gridatlas.results.grids import summarise


def structure(changes: Changes) -> Iterator[Item]:
    """Studies, facets, levels and grids that were added or removed."""
    for words, there in (("Removed", changes.removed), ("Added", changes.added)):
        for known in there:
            grids = list(known.results.grids.values())
            text = f"{words}: the study “{known.study.title}” with {grids_text(grids)}"
            yield item(known.study.id, text)
    for study in changes.studies:
        yield from _study_structure(study)


def _study_structure(study: StudyChanges) -> Iterator[Item]:
    old, new = study.base.study, study.head.study
    if study.match.order is None:
        names = [
            ", ".join(facet.id for facet in (*each.facets, each.x, each.y)) for each in (old, new)
        ]
        yield item(
            new.id,
            f"The factors can't be laid over one another, so that no cell can be compared: now "
            f"{names[1]}; before {names[0]}",
        )
    for one in study.texts:
        if one.weight == "rule":
            yield item(new.id, now_and_before(one.what, one.old, one.new))
    for words, levels, grids, of in (
        ("Removed", study.match.removed, study.grids.removed, old),
        ("Added", study.match.added, study.grids.added, new),
    ):
        facets = {facet.id for facet in of.facets}
        told: set[int] = set()
        for factor, level in levels:
            if factor.id in facets:
                index = [facet.id for facet in of.facets].index(factor.id)
                here = [grid for grid in grids if grid.levels[index] == level.key]
                told |= {id(grid) for grid in here}
                text = f"{words}: {factor.label} {level.label}, with {grids_text(here)}"
                yield item(new.id, text, tuple(_bests(here)))
            else:
                text = f"{words}: {factor.label} {level.label} on an axis"
                yield item(
                    new.id,
                    f"{text}, with {count(_at_level(study, words, factor.id, level.key), 'value')}",
                )
        left = [grid for grid in grids if id(grid) not in told]
        for grid in left:
            values = sum(cell.value is not None for _, _, cell in grid.points())
            text = f"{words}: the grid {grid_name(of, grid.levels)} with {count(values, 'value')}"
            yield item(new.id, text, tuple(_bests([grid])))
    # Those that were removed come first of all.
    for reading in study.readings.added:
        cells = count(len(reading.cells), "cell")
        yield item(new.id, f"Added: the reading “{reading.label}” with {cells}")
    for change in study.grids.changed:
        if change.computed:
            now = "computed from its parts" if change.new.computed else "printed by a reading"
            yield item(new.id, f"{grid_name(new, change.new.levels)} is now {now}")


def _at_level(study: StudyChanges, words: str, factor: str, key: str) -> int:
    results = (study.base if words == "Removed" else study.head).results
    axis = 0 if results.study.x.id == factor else 1
    return sum(
        cell.value is not None and (x.key, y.key)[axis] == key
        for grid in results.grids.values()
        for x, y, cell in grid.points()
    )


def _bests(grids: list[Grid]) -> Iterator[str]:
    for grid in grids[:ROWS]:
        summary = summarise(grid)
        if summary is not None:
            best = value_text(grid.study, summary.best_value)
            places = (place_name(grid.study, (x.key, y.key)) for x, y in summary.best)
            yield f"{grid_name(grid.study, grid.levels)}: best {best} at {cut(places, NAMED)}"
    if len(grids) > ROWS:
        yield f"and {count(len(grids) - ROWS, 'more grid')}"


def renames(changes: Changes) -> Iterator[Item]:
    """What is the same under another name."""
    for one in changes.renamed:
        yield _renamed(one, one.new.partition(" ")[0])
    for study in changes.studies:
        for one in (*study.match.renamed, *study.readings.renamed):
            yield _renamed(one, study.head.study.id)


def _renamed(one: Renamed, study_id: str) -> Item:
    what = {"study": "study", "factor": "factor", "reading": "reading"}.get(one.kind)
    name = what or f"level of {one.of}"
    if one.kind == "factor":
        sure = f"taken for the same by its place and {count(one.equal, 'level')} of {one.cells}"
    elif one.equal == one.cells:
        sure = f"all {count(one.cells, 'value')} that both have are the same"
    else:
        sure = f"{one.equal:,} of {count(one.cells, 'value')} that both have are the same"
    if one.said:
        sure = f"study.yml says so, under former; {sure}"
    return item(study_id, f"The {name} {one.old} is now {one.new}", (f"How sure: {sure}.",))


def texts(changes: Changes) -> Iterator[Item]:
    """Titles, labels, units and notes that changed."""
    for study in changes.studies:
        for text in study.texts:
            if text.weight == "text":
                yield item(study.head.study.id, now_and_before(text.what, text.old, text.new))
