"""The tables below a heatmap: its values, their notes and origins, and what each reading gives."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice

import numpy as np

from gridatlas.assessment.uncertainty import GridUncertainty, as_pairs
from gridatlas.charts.kinds.line import Line
from gridatlas.charts.marks import reading_order, rows_from_top
from gridatlas.model.format import between, cell_text, format_difference
from gridatlas.pages.figure import DataTable, Figure, Origin, ReadingsRow, ReadingsTable, TableCell
from gridatlas.table.differences import Difference
from gridatlas.table.grids import agree, readings_by_cell, readings_of
from gridatlas.table.items import trials
from gridatlas.table.study_table import UNKNOWN, Grid
from gridatlas.table.summary import best_points, best_undisputed_points

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
        notes = Counter(filter(None, grid.columns.note))
        shown = tuple(notes.items())[:MAX_NOTES]
        table = replace(table, notes=shown, more_notes=len(notes) - len(shown))
    if number > MAX_TABLE_CELLS:
        return replace(table, too_many=number)
    n = None
    if isinstance(shows, Difference):
        decimals = study.metric.decimals or 0
        texts = ("–" if of is None else format_difference(of, decimals) for of in shows.change)
        cells = [*map(TableCell, texts)]
    else:
        assert grid is not None
        n = usual_trials(grid)
        cells = _grid_cells(grid, figure.uncertainty or GridUncertainty.unknown(study), n)
    ordered, across = (cells[row] for row in reading_order(study)), len(study.x.levels)
    return replace(
        table,
        rows=tuple((y, tuple(islice(ordered, across))) for y in rows_from_top(study.y)),
        trials=n,
        readings=readings_table(grid) if grid else None,
    )


def usual_trials(grid: Grid) -> int | None:
    """The trials behind more than half of the values; None without such a number.

    None, too, where they are unknown for a value: what holds for most would seem to hold for it.
    """
    found = Counter(grid.trials[grid.columns.value.defined].tolist())
    if not found or UNKNOWN in found:
        return None
    n, cells = found.most_common(1)[0]
    return n if 2 * cells > found.total() else None


def _grid_cells(grid: Grid, tests: GridUncertainty, usual_n: int | None) -> list[TableCell]:
    """What a table says of each cell of a grid, row by row."""
    study = grid.study
    # A mark on every cell says nothing.
    may_be_best = tests.best_set if tests.best_set_size < tests.cells else tests.best_set & False
    marks = dict.fromkeys(grid.points_at(may_be_best), "may be best")
    marks |= dict.fromkeys(best_points(grid), "best")
    marks |= dict.fromkeys(best_undisputed_points(grid), "best undisputed")
    ends = as_pairs(np.where(np.isnan(tests.ends), tests.ranges, tests.ends))
    return [
        TableCell(
            cell_text(study, cell),
            between(*interval, study) if interval else "",
            cell.note,
            marks.get(point, ""),
            None if n in (usual_n, UNKNOWN) else n,
        )
        for point, cell, interval, n in zip(
            grid.keys, grid.columns, ends, grid.trials.tolist(), strict=True
        )
    ]


def line_table(line: Line) -> DataTable:
    """The values of a row or column, a row for each of its levels."""
    study = line.grid.study
    rows = (
        (
            level,
            TableCell(
                cell_text(study, cell),
                between(*interval, study) if interval else "",
                cell.note,
                n=trials(line.grid, cell),
            ),
        )
        for level, cell, interval in line.entries()
    )
    return DataTable(study.x, study.y, tuple((level, (cell,)) for level, cell in rows))


def provenance(grid: Grid) -> tuple[Origin, ...]:
    """Where the shown values come from: reading, place in it and run, each with how many cells."""
    readings = {reading.id: reading for reading in grid.study.readings}
    cells = grid.columns[grid.columns.value.defined]
    counts = Counter(zip(cells.reading, cells.place, cells.run, strict=True))
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
    given = readings_by_cell(grid)
    places = grid.places
    shared = [(*places[row], given[row]) for row in reading_order(study) if len(given[row]) > 1]
    if not shared:
        return None
    readings = readings_of(study, [grid])
    rows = []
    for x, y, cells in shared:
        texts = {reading.id: cell_text(study, cell) for reading, cell in cells}
        alike = agree(cells)
        rows.append(
            ReadingsRow(
                x.label,
                y.label,
                tuple(texts.get(reading.id, "") for reading in readings),
                None if alike is None else not alike,
            )
        )
    notes = dict.fromkeys(
        f"{reading.label}: {cell.note}" for cells in given for reading, cell in cells if cell.note
    )
    return ReadingsTable(tuple(readings), tuple(rows), tuple(notes))
