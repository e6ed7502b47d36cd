"""What stands with a heatmap: its table, its sources, its downloads, the ids of its cells."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from dataclasses import dataclass
from html import escape
from typing import Any

from gridatlas import analyse
from gridatlas.analyse import Difference
from gridatlas.panels import Panel
from gridatlas.picture import Picture, format_difference, rows_from_top
from gridatlas.study import Grid, Point
from gridatlas.uncertainty import by_point
from gridatlas.words import between, cell_text

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
        interval: The 95 % interval; empty without one.
        mark: `best`, `may be best` (where not every cell may), or empty.
        n: Trials behind the value; None where unknown.
    """

    text: str
    interval: str = ""
    note: str = ""
    mark: str = ""
    n: int | None = None


def data_table(panel: Panel) -> dict[str, Any]:
    """The values of a heatmap as rows of texts, laid out like the picture."""
    cells: dict[Point, TableCell] = {}
    trials_of: set[int] = set()
    if isinstance(panel.shows, Difference):
        study = panel.shows.first.study
        for x, y, value in panel.shows.points():
            text = "–"
            if value is not None:
                text = format_difference(value, study.metric.decimals or 0)
            cells[x.key, y.key] = TableCell(text)
    else:
        grid, study = panel.shows, panel.shows.study
        intervals = by_point(grid, panel.uncertainty) if panel.uncertainty else {}
        summary = analyse.summarise(grid)
        best = {(x.key, y.key) for x, y in summary.best} if summary else set()
        kept = {point for point, one in intervals.items() if one.kept}
        for x, y, cell in grid.points():
            point = (x.key, y.key)
            one = intervals.get(point)
            mark = "best" if point in best else ""
            if point in kept - best and len(kept) < len(intervals):
                mark = "may be best"
            cells[point] = TableCell(
                cell_text(study, cell),
                between(one.low, one.high, study) if one else "",
                cell.note,
                mark,
                analyse.trials(grid, cell),
            )
        trials_of = {cell.n for cell in cells.values() if cell.n is not None}
    rows = rows_from_top(study.y)
    return {
        "x": study.x,
        "y": study.y,
        "rows": [(y, [cells[x.key, y.key] for x in study.x.levels]) for y in rows],
        "trials": trials_of,
        "notes": [
            f"{number} {'cell' if number == 1 else 'cells'}: {note}"
            for note, number in Counter(one.note for one in cells.values() if one.note).items()
        ],
        "readings": readings_table(panel.grid) if panel.grid else {},
        "sources": provenance(panel.grid) if panel.grid else [],
    }


def provenance(grid: Grid) -> list[dict[str, Any]]:
    """Where the shown values come from: reading, place in it and run, each with how many cells."""
    readings = {reading.id: reading for reading in grid.study.readings}
    counts = Counter(
        (cell.reading, cell.place, cell.run)
        for _, _, cell in grid.points()
        if cell.value is not None
    )
    return [
        {"reading": readings.get(reading), "place": place, "run": run, "cells": number}
        for (reading, place, run), number in counts.items()
    ]


def readings_table(grid: Grid) -> dict[str, Any]:
    """What each reading says of each cell that more than one of them gives; else empty."""
    study = grid.study
    said = {
        (x.label, y.label): {one.id: cell_text(study, cell) for one, cell in told}
        for y in rows_from_top(study.y)
        for x in study.x.levels
        if len(told := analyse.readings_at(grid, (x.key, y.key))) > 1
    }
    if not said:
        return {}
    readings = analyse.readings_of(study, [grid])
    notes = [
        f"{one.label}: {cell.note}"
        for x, y, _ in grid.points()
        for one, cell in analyse.readings_at(grid, (x.key, y.key))
        if cell.note
    ]
    return {
        "readings": readings,
        "notes": list(dict.fromkeys(notes)),
        "rows": [
            (x, y, [told.get(reading.id, "") for reading in readings], len(set(told.values())) > 1)
            for (x, y), told in said.items()
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


def with_cell_ids(svg: str, picture: Picture, grid: Grid, seen: set[str]) -> str:
    """Give each cell its permalink's id; cells are drawn in order, those without value last."""
    marks = sorted(picture.marks, key=lambda mark: mark.value is None)
    keys = iter([f"{grid.address}/{mark.key}" for mark in marks])

    def named(_: re.Match[str]) -> str:
        key = next(keys)
        seen.add(key)
        return f'<path id="{escape(key)}" '

    return _CELL.sub(named, svg)


def responsive(svg: str) -> str:
    """A viewBox alone lets CSS size it; its own width stays the largest."""
    return re.sub(
        r'<svg ([^>]*?) ?width="([\d.]+)" height="[\d.]+"',
        r'<svg \1 style="max-width:\2px"',
        svg,
        count=1,
    )
