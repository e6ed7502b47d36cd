"""The tables below a heatmap: its values, their notes and origins, and what each reading gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from gridatlas.assessment.cells import CellView, GridCells
from gridatlas.assessment.uncertainty import GridUncertainty
from gridatlas.charts.heatmap import rows_from_top
from gridatlas.charts.line import Line
from gridatlas.model.format import between, cell_text, format_difference
from gridatlas.model.study import Point
from gridatlas.pages.figure import DataTable, Figure, Origin, ReadingsRow, ReadingsTable, TableCell
from gridatlas.table.differences import Difference
from gridatlas.table.grids import agree, readings_at, readings_of
from gridatlas.table.items import trials
from gridatlas.table.study_table import Grid

MAX_TABLE_CELLS = 2_500
"""Cells of a grid up to which its page has a table of them; that of more helps nobody."""
MAX_NOTES = 20
"""Notes of a grid's cells, and places that values are from, up to which a page has them all."""


def data_table(figure: Figure) -> DataTable:
    """The values of a heatmap as rows of texts, laid out like it; of too many cells, no rows."""
    study, grid, shows = figure.study, figure.grid, figure.shows
    number = len(study.x.levels) * len(study.y.levels)
    table = DataTable(study.x, study.y, origins=provenance(grid) if grid else ())
    if grid:
        notes = Counter(cell.note for _, _, cell in grid.points() if cell.note)
        shown = tuple(notes.items())[:MAX_NOTES]
        table = replace(table, notes=shown, more_notes=len(notes) - len(shown))
    if number > MAX_TABLE_CELLS:
        return replace(table, too_many=number)
    n = None
    if isinstance(shows, Difference):
        cells = dict(_difference_cells(shows))
    else:
        assert grid is not None
        n = usual_trials(grid)
        tests = figure.uncertainty or GridUncertainty()
        cells = dict(_grid_cells(GridCells(grid, tests), n))
    return replace(
        table,
        rows=tuple(
            (y, tuple(cells[x.key, y.key] for x in study.x.levels)) for y in rows_from_top(study.y)
        ),
        trials=n,
        readings=readings_table(grid) if grid else None,
    )


def _difference_cells(difference: Difference) -> Iterator[tuple[Point, TableCell]]:
    decimals = difference.first.study.metric.decimals or 0
    for x, y, value in difference.points():
        text = "–" if value is None else format_difference(value, decimals)
        yield (x.key, y.key), TableCell(text)


def usual_trials(grid: Grid) -> int | None:
    """The trials behind more than half of the values; None without such a number.

    None, too, where they are unknown for a value: what holds for most would seem to hold for it.
    """
    found = Counter(trials(grid, cell) for _, _, cell in grid.points() if cell.value is not None)
    if not found or None in found:
        return None
    n, cells = found.most_common(1)[0]
    return n if 2 * cells > found.total() else None


def _grid_cells(cells: GridCells, usual_n: int | None = None) -> Iterator[tuple[Point, TableCell]]:
    study = cells.grid.study
    # A mark on every cell says nothing.
    marked = len(cells.best_set) < len(cells.intervals)
    for view in cells.views():
        interval = between(*view.ends, study) if view.ends else ""
        text = cell_text(study, view.cell)
        n = view.n if view.n != usual_n else None
        yield view.point, TableCell(text, interval, view.cell.note, _mark(view, marked), n)


def _mark(view: CellView, marked: bool) -> str:
    if view.is_best_undisputed:
        return "best undisputed"
    if view.is_best:
        return "best"
    return "may be best" if view.in_best_set and marked else ""


def line_table(line: Line) -> DataTable:
    """The values of a row or column, a row for each of its levels."""
    study = line.grid.study
    rows = (
        (
            level,
            TableCell(
                cell_text(study, cell),
                between(interval.low, interval.high, study) if interval else "",
                cell.note,
                n=trials(line.grid, cell),
            ),
        )
        for level, cell, interval in line.cells()
    )
    return DataTable(study.x, study.y, tuple((level, (cell,)) for level, cell in rows))


def provenance(grid: Grid) -> tuple[Origin, ...]:
    """Where the shown values come from: reading, place in it and run, each with how many cells."""
    readings = {reading.id: reading for reading in grid.study.readings}
    counts = Counter(
        (cell.reading, cell.place, cell.run)
        for _, _, cell in grid.points()
        if cell.value is not None
    )
    origins = [
        Origin(readings.get(reading), place, run, number)
        for (reading, place, run), number in list(counts.items())[:MAX_NOTES]
    ]
    rest: Counter[str] = Counter()
    for (reading, _, _), number in list(counts.items())[MAX_NOTES:]:
        rest[reading] += number
    origins += [Origin(readings.get(reading), None, "", number) for reading, number in rest.items()]
    return tuple(origins)


def readings_table(grid: Grid) -> ReadingsTable | None:
    """What each reading gives for each cell that more than one of them has; None without any."""
    study = grid.study
    points = [(x, y) for y in rows_from_top(study.y) for x in study.x.levels]
    shared = [
        (x.label, y.label, cells)
        for x, y in points
        if len(cells := readings_at(grid, (x.key, y.key))) > 1
    ]
    if not shared:
        return None
    readings = readings_of(study, [grid])
    rows = []
    for x_label, y_label, cells in shared:
        texts = {reading.id: cell_text(study, cell) for reading, cell in cells}
        alike = agree(cells)
        rows.append(
            ReadingsRow(
                x_label,
                y_label,
                tuple(texts.get(reading.id, "") for reading in readings),
                None if alike is None else not alike,
            )
        )
    notes = dict.fromkeys(
        f"{reading.label}: {cell.note}"
        for x, y, _ in grid.points()
        for reading, cell in readings_at(grid, (x.key, y.key))
        if cell.note
    )
    return ReadingsTable(tuple(readings), tuple(rows), tuple(notes))
