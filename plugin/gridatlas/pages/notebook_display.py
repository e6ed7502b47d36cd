"""Grids and studies as a notebook shows them: HTML with the drawing in it, and plain text."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from gridatlas.charts.description import best_at
from gridatlas.charts.marks import rows_from_top
from gridatlas.model.format import format_measured, name_with_unit
from gridatlas.model.problems import join_names
from gridatlas.model.study import STATE_LABELS, Cell, Level, Study
from gridatlas.pages.svg import responsive
from gridatlas.table.grids import Results
from gridatlas.table.study_table import Grid
from gridatlas.table.summary import best_points, summarise

COLUMNS_UP_TO, ROWS_UP_TO = 20, 40
"""Levels of x and of y up to which a grid's cells stand in its text."""


def grid_html(grid: Grid, svg: str) -> str:
    """A grid's drawing as a notebook shows it: in the colour of its text, with its own name.

    Args:
        svg: The drawing; a screen reader reads the grid's name, and each cell.
    """
    study = grid.study
    notes = f'<p style="font-size:.85em">From the study {escape(study.title)}.</p>'
    return f'<div class="ga-notebook">{responsive(svg)}{notes}</div>'


def grid_text(grid: Grid) -> str:
    """A grid as a small table of text, laid out like its heatmap, with `*` at the best cells."""
    study = grid.study
    head = f"{study.title}: {grid.label}" if study.facets else study.title
    lines = [head, _metric(study)]
    best = best_points(grid)
    if len(study.x.levels) > COLUMNS_UP_TO or len(study.y.levels) > ROWS_UP_TO:
        size = f"{len(study.x.levels)} × {len(study.y.levels)} cells"
        return "\n".join([*lines, f"{size}, {best_text(grid)}"])
    rows = [["", *(x.label for x in study.x.levels)]]
    for y in rows_from_top(study.y):
        cells = [(x, grid.cell(x.key, y.key)) for x in study.x.levels]
        texts = (
            f"{_cell_text(study, cell)}{'*' if (x.key, y.key) in best else ' '}"
            for x, cell in cells
        )
        rows.append([y.label, *texts])
    rows[0] = [rows[0][0], *(f"{label} " for label in rows[0][1:])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines += [
        "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    note = f"; * {study.extreme}" if best else ""
    down = f"; down: {study.y.title}" if study.second else ""
    lines.append(f"across: {study.x.title}{down}{note}")
    return "\n".join(lines)


def _metric(study: Study) -> str:
    metric = study.metric
    name = name_with_unit(metric.name, metric.unit)
    return f"{name}, {metric.better} is better" if metric.better else name


def _cell_text(study: Study, cell: Cell) -> str:
    if cell.value is None:
        return STATE_LABELS[cell.state]
    mark = "?" if cell.state == "disputed" else ""
    return format_measured(cell.value, study.metric.decimals or 0) + mark


def best_text(grid: Grid, limit: int = 3) -> str:
    """`best 56.2 % at ratio 0.4 × local_window 2000`; that there is no value."""
    study, summary = grid.study, summarise(grid)
    if summary is None:
        return "no values"
    return f"{study.extreme} {best_at(summary, study, lambda x, y: _at(study, x, y), limit)}"


def _at(study: Study, x: Level, y: Level) -> str:
    first = f"{study.x.id} {x.label}"
    return f"{first} × {study.y.id} {y.label}" if study.second else first


# --- a study ------------------------------------------------------------------------------------


def study_text(results: Results) -> str:
    """A study in a few lines: its grids with their best cells, its readings, what was noted."""
    study = results.study
    lines = [f"{study.title} ({study.id})"]
    lines += [f"  {head}: {text}" for head, text in _facts(results)]
    width = max((len(grid.address) for grid in results.grids.values()), default=0)
    for grid in results.grids.values():
        lines.append(f"  {grid.address.ljust(width)}  {_count(grid)}, {best_text(grid)}")
    return "\n".join(lines)


def study_html(results: Results) -> str:
    """The same as HTML; all that comes from data is escaped."""
    study = results.study
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{escape(level.label)}</td>" for level in grid.names)
        + f"<td>{_count(grid)}</td>"
        + f'<td style="white-space:nowrap">{escape(best_text(grid, 1))}</td></tr>'
        for grid in results.grids.values()
    )
    heads = [*(facet.label for facet in study.facets), "Values", "Best"]
    head = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    facts = "".join(f"<li>{escape(name)}: {escape(text)}</li>" for name, text in _facts(results))
    return (
        f'<div class="ga-notebook"><p><strong>{escape(study.title)}</strong></p>'
        + (f"<p>{escape(study.summary)}</p>" if study.summary else "")
        + f"<ul>{facts}</ul>"
        + f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _facts(results: Results) -> Iterable[tuple[str, str]]:
    study = results.study
    yield "metric", _metric(study)
    for name, axis in zip(("x", "y"), study.varied, strict=False):
        yield name, f"{axis.title}: {join_names((level.label for level in axis.levels), 10)}"
    for facet in study.facets:
        yield f"facet {facet.id}", join_names(level.key for level in facet.levels)
    for reading in study.readings:
        yield f"reading {reading.id}", f"{reading.label}, {_number(len(reading.table), 'cell')}"
    for problem in results.problems:
        yield problem.severity, f"{problem.place}: {problem.found} [{problem.kind}]"


def _count(grid: Grid) -> str:
    values, of = int(grid.columns.value.defined.sum()), len(grid.columns)
    return _number(of, "value") if values == of else f"{values} of {_number(of, 'value')}"


def _number(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
