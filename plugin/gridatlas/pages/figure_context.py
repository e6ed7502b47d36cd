"""What stands with a heatmap: its table, its sources, its downloads, the ids of its cells."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

from gridatlas.assessment.uncertainty import by_point, ranges_by_point
from gridatlas.charts.heatmap import Heatmap, rows_from_top
from gridatlas.charts.line import Line
from gridatlas.checks.words import is_are, many
from gridatlas.model.format import between, cell_text, format_difference
from gridatlas.model.study import Cell, Grid, Point, Reading, Study
from gridatlas.pages.panels import Panel
from gridatlas.results.grids import (
    Difference,
    Summary,
    agree,
    readings_at,
    readings_of,
    summarise,
    trials,
)

MAX_TABLE_CELLS = 2_500
"""Cells of a grid up to which its page has a table of them; that of more helps nobody."""
NOTES_UP_TO = 20
"""Notes of a grid's cells, and places that values are from, up to which a page has them all."""
GRIDS = "grids"
"""Folder of the downloads, beside the pages."""
DOWNLOADS = {
    "svg": "SVG",
    "png": "PNG",
    "csv": "CSV",
    "json": "JSON",
    "vl.json": "Vega-Lite",
}


@dataclass(frozen=True, slots=True)
class TableCell:
    """One cell of a data table.

    Attributes:
        text: The value, or why there is none.
        interval: The 95 % interval, or the range of too few repeats; empty without one.
        mark: `best`, `best undisputed` (where the best value is disputed), `may be best` (where
            not every cell may), or empty.
        n: Trials behind the value; None where unknown.
    """

    text: str
    interval: str = ""
    note: str = ""
    mark: str = ""
    n: int | None = None


def data_table(panel: Panel) -> dict[str, Any]:
    """The values of a heatmap as rows of texts, laid out like its cells.

    Of more than `MAX_TABLE_CELLS` cells there are no rows, and `too_many` says how many cells.
    """
    study = panel.shows.first.study if isinstance(panel.shows, Difference) else panel.shows.study
    number = len(study.x.levels) * len(study.y.levels)
    if number > MAX_TABLE_CELLS:
        return _no_table(panel, study, number)
    cells: dict[Point, TableCell] = {}
    trials_of: set[int] = set()
    if isinstance(panel.shows, Difference):
        for x, y, value in panel.shows.points():
            text = "–"
            if value is not None:
                text = format_difference(value, study.metric.decimals or 0)
            cells[x.key, y.key] = TableCell(text)
    else:
        grid = panel.shows
        intervals = by_point(grid, panel.uncertainty) if panel.uncertainty else {}
        ranges = ranges_by_point(grid, panel.uncertainty) if panel.uncertainty else {}
        summary = summarise(grid)
        best = {(x.key, y.key) for x, y in summary.best} if summary else set()
        undisputed = _best_undisputed(summary) if summary else set()
        kept = {point for point, interval in intervals.items() if interval.in_best_set}
        for x, y, cell in grid.points():
            point = (x.key, y.key)
            one = intervals.get(point)
            ends = (one.low, one.high) if one else ranges.get(point)
            mark = "best" if point in best else ""
            if point in undisputed:
                mark = "best undisputed"
            if point in kept - best - undisputed and len(kept) < len(intervals):
                mark = "may be best"
            cells[point] = TableCell(
                cell_text(study, cell),
                between(*ends, study) if ends else "",
                cell.note,
                mark,
                trials(grid, cell),
            )
        trials_of = {cell.n for cell in cells.values() if cell.n is not None}
    rows = rows_from_top(study.y)
    return {
        "x": study.x,
        "y": study.y,
        "too_many": 0,
        "rows": [(y, [cells[x.key, y.key] for x in study.x.levels]) for y in rows],
        "trials": trials_of,
        "notes": _notes(cell.note for cell in cells.values()),
        "readings": readings_table(panel.grid) if panel.grid else {},
        "sources": provenance(panel.grid) if panel.grid else [],
    }


def _best_undisputed(summary: Summary) -> set[Point]:
    """The cells with the best undisputed value, where the best value is disputed."""
    if not summary.best_disputed or summary.best_undisputed is None:
        return set()
    return {(x.key, y.key) for x, y in summary.best_undisputed.at}


def _no_table(panel: Panel, study: Study, number: int) -> dict[str, Any]:
    """What stands with the heatmap of a large grid: all but the table of its cells."""
    grid = panel.grid
    return {
        "x": study.x,
        "y": study.y,
        "too_many": number,
        "rows": [],
        "notes": _notes(cell.note for row in grid.cells for cell in row) if grid else [],
        "readings": {},
        "sources": provenance(grid) if grid else [],
    }


def line_table(line: Line) -> list[tuple[str, TableCell]]:
    """The values of a row or column, by the labels of their levels."""
    study = line.grid.study
    return [
        (
            level.label,
            TableCell(
                cell_text(study, cell),
                between(interval.low, interval.high, study) if interval else "",
                cell.note,
                n=trials(line.grid, cell),
            ),
        )
        for level, cell, interval in line.cells()
    ]


def _notes(notes: Iterable[str]) -> list[str]:
    """Each note of cells once, with how many have it; of very many, only that they are there."""
    found = Counter(note for note in notes if note)
    told = [f"{many(number, 'cell')}: {note}" for note, number in list(found.items())[:NOTES_UP_TO]]
    more = len(found) - len(told)
    return (
        [*told, f"{many(more, 'more note')} {is_are(more)} in the downloads."] if more > 0 else told
    )


def provenance(grid: Grid) -> list[dict[str, Any]]:
    """Where the shown values come from: reading, place in it and run, each with how many cells."""
    readings = {reading.id: reading for reading in grid.study.readings}
    counts = Counter(
        (cell.reading, cell.place, cell.run)
        for _, _, cell in grid.points()
        if cell.value is not None
    )
    told = list(counts.items())[:NOTES_UP_TO]
    rows: list[dict[str, Any]] = [
        {"reading": readings.get(reading), "place": place, "run": run, "cells": number}
        for (reading, place, run), number in told
    ]
    rest: Counter[str] = Counter()
    for (reading, _, _), number in list(counts.items())[NOTES_UP_TO:]:
        rest[reading] += number
    rows += [
        {
            "reading": readings.get(reading),
            "place": "other places and runs, which the downloads name",
            "run": "",
            "cells": number,
        }
        for reading, number in rest.items()
    ]
    return rows


def _texts_of(
    study: Study, told: Iterable[tuple[Reading, Cell]], readings: Iterable[Reading]
) -> list[str]:
    """What each of some readings says of a cell; empty where it doesn't have it."""
    texts = {reading.id: cell_text(study, cell) for reading, cell in told}
    return [texts.get(reading.id, "") for reading in readings]


def readings_table(grid: Grid) -> dict[str, Any]:
    """What each reading says of each cell that more than one of them gives; else empty."""
    study = grid.study
    said = {
        (x.label, y.label): told
        for y in rows_from_top(study.y)
        for x in study.x.levels
        if len(told := readings_at(grid, (x.key, y.key))) > 1
    }
    if not said:
        return {}
    readings = readings_of(study, [grid])
    notes = [
        f"{one.label}: {cell.note}"
        for x, y, _ in grid.points()
        for one, cell in readings_at(grid, (x.key, y.key))
        if cell.note
    ]
    return {
        "readings": readings,
        "notes": list(dict.fromkeys(notes)),
        "rows": [
            (x, y, _texts_of(study, told, readings), None if alike is None else not alike)
            for (x, y), told in said.items()
            for alike in [agree(told)]
        ],
    }


def downloads(grid: Grid, page: str) -> dict[str, str]:
    """Links to a grid's files by their names, relative to the folder of a page."""
    base = grid_path(grid)
    return {
        label: posixpath.relpath(f"{base}.{ending}", posixpath.dirname(page))
        for ending, label in DOWNLOADS.items()
    }


def grid_path(grid: Grid) -> str:
    """Address of a grid's downloads, without their ending."""
    return f"{GRIDS}/{grid.study.id}/{grid.address}"


_CELL = re.compile(r'<path (?=aria-label="[^"]*" role="graphics-symbol")')


def with_cell_ids(svg: str, heatmap: Heatmap, grid: Grid, seen: set[str]) -> str:
    """Give each cell its permalink's id; cells are drawn in order, those without value last."""
    marks = sorted(heatmap.marks, key=lambda mark: mark.value is None)
    keys = iter([f"{grid.address}/{mark.key}" for mark in marks])

    def named(_: re.Match[str]) -> str:
        key = next(keys)
        seen.add(key)
        return f'<path id="{escape(key)}" '

    return _CELL.sub(named, svg)


_OWN = re.compile(r'(?<=id=")ga-[0-9a-f]{10}-\d+(?=")')


def with_own_ids(svg: str, seen: set[str]) -> str:
    """Give a drawing's colour bar and clips other ids where the page has drawn the same before."""
    taken = [one for one in _OWN.findall(svg) if one in seen]
    for one in taken:
        number = next(n for n in range(2, len(seen) + 3) if f"{one}-{n}" not in seen)
        svg = re.sub(rf"(?<=[\"#]){re.escape(one)}(?=[\")])", f"{one}-{number}", svg)
        seen.add(f"{one}-{number}")
    seen.update(_OWN.findall(svg))
    return svg


def responsive(svg: str) -> str:
    """A viewBox alone lets CSS size it; its own width stays the largest."""
    return re.sub(
        r'<svg ([^>]*?) ?width="([\d.]+)" height="[\d.]+"',
        r'<svg \1 style="max-width:\2px"',
        svg,
        count=1,
    )
