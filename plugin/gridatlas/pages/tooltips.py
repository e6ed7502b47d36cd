"""What the card of each cell says: one small table per heatmap, as JSON for the page's script.

The texts are made here, so that the script only lays them out. A column in which all cells say the
same is that one value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import numpy as np

from gridatlas.assessment.reruns import CellRerun, Rerun
from gridatlas.assessment.uncertainty import GridUncertainty, as_pairs
from gridatlas.charts.marks import reading_order, rows_from_top
from gridatlas.model.format import (
    beside,
    between,
    cell_text,
    denoised,
    difference_ends,
    format_difference,
    is_are,
    many,
    printed,
    spread_words,
    value_with_unit,
)
from gridatlas.model.study import STATE_LABELS, Cell, Factor, Level, Point, Study
from gridatlas.pages.exports import without_empty
from gridatlas.pages.figure import Figure
from gridatlas.pages.filters import in_units
from gridatlas.pages.reproduction import command_parts
from gridatlas.table.differences import Difference
from gridatlas.table.grids import agree as readings_agree
from gridatlas.table.grids import readings_by_cell
from gridatlas.table.items import Basis, trials
from gridatlas.table.study_table import DISPUTED, Grid, or_none
from gridatlas.table.summary import best_points

CARDS_UP_TO = 10_000
"""Cells of a heatmap up to which each has a card."""

COLUMNS = (
    "value", "exact", "state", "spread", "interval", "range", "repeats", "n", "successes", "tell",
    "note", "from", "log", "agree",
)  # fmt: skip
"""What each cell has a say in; the rest is the heatmap's."""

BASES: Mapping[Basis, str] = {
    "": "",
    "trials": "",
    "items": "each item counted once",
    "stderr": "from the standard error",
    "repeats": "over the repeats",
    "replicates": "over {n} repeats of the experiment",
    "parts": "",
}
"""What a card says of where the intervals come from, where that isn't the trials beside them."""

Points = Sequence[tuple[Level, Level]]
Column = list[Any]
"""What each cell says, in reading order; None where it says nothing."""


def card_data(figure: Figure, links: Mapping[str, str] = MappingProxyType({})) -> str:
    """The cards of a heatmap, as JSON for an attribute in single quotes; empty for too many cells.

    Args:
        links: Addresses of the study's readings (`readings`), and of how to run a cell (`rerun`).

    Cells are in reading order, from the top row down. In the drawing, those without a value come
    after all others.
    """
    if len(figure.heatmap.marks) > CARDS_UP_TO:
        return ""
    if figure.heatmap.block:
        return _for_html(_of_blocks(figure))
    study, grid = figure.study, figure.grid
    rows = rows_from_top(study.y)
    points = [(x, y) for y in rows for x in study.x.levels]
    if figure.rerun is not None and figure.again:
        columns = _of_rerun(figure, figure.rerun, points)
        columns["command"] = command_parts(figure.rerun.grid, rows)
    elif isinstance(figure.shows, Difference):
        columns = _of_difference(figure.shows)
    elif grid is None or figure.uncertainty is None:
        columns = _of_disagreement(figure)
    else:
        columns = _of_grid(grid, figure.uncertainty)
        # Rings are of a test of the repeats themselves.
        if figure.uncertainty.level is None and any(mark.ring for mark in figure.heatmap.marks):
            del columns["tell"]
        if figure.repeats:
            columns["repeats"] = [figure.repeats[row] or None for row in reading_order(study)]
        if figure.rerun is not None and figure.rerun.begun:
            columns["readings"] = [*columns["readings"], _measured_again(figure.rerun, points)]
        columns["command"] = command_parts(grid, rows)
    content = {
        "title": figure.heatmap.title,
        "study": study.id,
        "x": _axis(study.x, [(level.slug, level.label) for level in study.x.levels]),
        "y": _axis(study.y, [(level.slug, level.label) for level in rows]),
        "links": {**links},
        **{name: _small(column) if name in COLUMNS else column for name, column in columns.items()},
    }
    return _for_html(without_empty(content))


def _of_blocks(figure: Figure) -> dict[str, Any]:
    """The cards of blocks of cells; the permalink of one is that of its first cell."""
    study = figure.study
    heatmap = figure.heatmap
    slugs = [mark.key.partition(",")[::2] for mark in heatmap.marks]
    columns = dict(zip([mark.x for mark in heatmap.marks], [x for x, _ in slugs], strict=True))
    rows = dict(zip([mark.y for mark in heatmap.marks], [y for _, y in slugs], strict=True))
    content = {
        "title": heatmap.title,
        "study": study.id,
        "grid": figure.grid.address if figure.grid else None,
        "x": _axis(study.x, [(columns[label], label) for label in heatmap.x_labels]),
        "y": _axis(study.y, [(rows[label], label) for label in heatmap.y_labels]),
        "unit": value_with_unit("", study.metric.unit, difference=figure.grid is None),
        "value": _small([mark.text or None for mark in heatmap.marks]),
        "state": _small([mark.absent or None for mark in heatmap.marks]),
        "note": _small([mark.label.partition(": ")[2] for mark in heatmap.marks]),
    }
    return without_empty(content)


def _axis(factor: Factor, levels: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """A factor with the ids and labels of its levels."""
    ids, labels = [slug for slug, _ in levels], [label for _, label in levels]
    return without_empty({"label": factor.label, "unit": factor.unit, "ids": ids, "labels": labels})


def _of_grid(grid: Grid, uncertainty: GridUncertainty) -> dict[str, Any]:
    study, columns, order = grid.study, grid.columns, reading_order(grid.study)
    given = [*columns]
    cells = [given[row] for row in order]
    ends, ranges = (
        [between(*of, study) if of else None for of in as_pairs(ends[order])]
        for ends in (uncertainty.ends, uncertainty.ranges)
    )
    return {
        "grid": grid.address,
        "unit": value_with_unit("", study.metric.unit),
        "value": [printed(study, cell) for cell in cells],
        "exact": [_exact(study, cell) for cell in cells],
        "state": [None if cell.state == "ok" else STATE_LABELS[cell.state] for cell in cells],
        "spread": [beside(cell) or None for cell in cells],
        "spread_is": spread_words(study),
        "interval": ends,
        "basis": BASES[uncertainty.basis].format(n=uncertainty.replicates),
        "range": ranges,
        "n": or_none(grid.trials[order]),
        "successes": or_none(columns.successes[order]),
        "tell": _significance(grid, uncertainty, order),
        "note": [cell.note or None for cell in cells],
        "from": [_origin(study, cell) for cell in cells],
        "log": [_log(study, cell) for cell in cells],
        **_readings(grid),
    }


def _exact(study: Study, cell: Cell) -> float | None:
    """A value before it was rounded to be shown; None where that is the same."""
    text = printed(study, cell)
    return None if text is None or Decimal(text) == cell.value else denoised(cell.value or 0, study)


def _of_rerun(figure: Figure, rerun: Rerun, points: Points) -> dict[str, Any]:
    """The cards of what was measured again, or of its difference from what was published."""
    study = rerun.grid.study
    cells = [rerun.cells.get((x.key, y.key)) for x, y in points]
    unit = value_with_unit("", study.metric.unit, difference=figure.grid is None)
    decimals = study.metric.decimals or 0
    values: Column
    if figure.grid is None:
        values = [
            format_difference(cell.difference, decimals)
            if cell and cell.difference is not None
            else None
            for cell in cells
        ]
    else:
        values = [cell and printed(study, cell.again) for cell in cells]
    return {
        "grid": rerun.grid.address,
        "unit": unit,
        "value": values,
        "state": [
            None if value is not None else cell.verdict if cell else STATE_LABELS["missing"]
            for cell, value in zip(cells, values, strict=True)
        ],
        "tell": [cell and _verdict(cell, study) for cell in cells],
        "from": [cell and _origin(study, cell.again) for cell in cells],
        "readings": [
            {
                "label": "Published",
                "at": _small(
                    [cell and _account(cell.published, study, rerun.grid) for cell in cells]
                ),
            },
            {
                "label": "Measured again",
                "at": _small([cell and _account(cell.again, study, rerun.again) for cell in cells]),
            },
        ],
    }


def _account(cell: Cell, study: Study, grid: Grid) -> str | None:
    """A value with its trials."""
    if cell.value is None:
        return None
    n = cell.n if cell.run else trials(grid, cell)
    return cell_text(study, cell) + (f", n = {n}" if n else "")


def _verdict(cell: CellRerun, study: Study) -> str | None:
    """The verdict, and what it rests on."""
    if cell.reason:
        return f"Not testable: {cell.reason}."
    if cell.interval is None:
        if cell.progress is None:
            return None
        return f"{in_units(cell.progress)} {is_are(cell.progress.done)} done."
    ends = difference_ends(cell.interval, study)
    return f"{cell.verdict.capitalize()}. 95 % interval of the difference: {ends} ({cell.method})."


def _measured_again(rerun: Rerun, points: Points) -> dict[str, Any]:
    """What a published cell's card says of the run that measured it again."""
    study = rerun.grid.study

    def entry(point: Point) -> str | None:
        cell = rerun.cells.get(point)
        if cell is None or cell.verdict == "not run":
            return None
        if cell.again.value is None:
            return cell.verdict
        return f"{printed(study, cell.again)}: {cell.verdict} (run {cell.again.run})"

    return {"label": "Measured again", "at": _small([entry((x.key, y.key)) for x, y in points])}


def _of_difference(difference: Difference) -> dict[str, Any]:
    study = difference.first.study
    change, order = [*difference.change], reading_order(study)
    shown = [change[row] for row in order]
    decimals = study.metric.decimals or 0
    return {
        "unit": value_with_unit("", study.metric.unit, difference=True),
        "value": [None if value is None else format_difference(value, decimals) for value in shown],
        "state": ["no value" if value is None else None for value in shown],
        "readings": [
            {
                "label": level.label,
                "at": _small([cell_text(study, cell) for cell in grid.columns[np.array(order)]]),
            }
            for level, grid in zip(
                reversed(difference.levels), (difference.second, difference.first), strict=True
            )
        ],
    }


def _of_disagreement(figure: Figure) -> dict[str, Any]:
    grid = figure.grid
    assert grid is not None
    unit = value_with_unit("", grid.study.metric.unit, difference=True)
    return {
        "grid": grid.address,
        "unit": f"{unit} apart",
        "value": [mark.text or None for mark in figure.heatmap.marks],
        "state": [mark.absent or None for mark in figure.heatmap.marks],
        **_readings(grid),
    }


def _readings(grid: Grid) -> dict[str, Any]:
    """What each reading says of the cells that more than one of them gives."""
    given, order = readings_by_cell(grid), reading_order(grid.study)
    columns: dict[str, Column] = {}
    labels: dict[str, str] = {}
    agree: Column = []
    for index, row in enumerate(order):
        cells = given[row]
        agree.append(None)
        if len(cells) < 2:
            continue
        texts = [cell_text(grid.study, cell) for _, cell in cells]
        alike = readings_agree(cells)
        if alike is not None:
            agree[-1] = "The readings agree" if alike else "The readings differ"
        for (reading, _), text in zip(cells, texts, strict=True):
            labels[reading.id] = reading.label
            columns.setdefault(reading.id, [None] * len(order))[index] = text
    return {
        "agree": agree,
        "readings": [
            {"label": labels[reading_id], "at": _small(column)}
            for reading_id, column in columns.items()
        ],
    }


def _significance(
    grid: Grid, uncertainty: GridUncertainty, order: Sequence[int]
) -> list[str | None]:
    """Whether each cell with a value differs significantly from the best."""
    best, basis, extreme = best_points(grid), uncertainty.tested_by, grid.study.extreme
    value = f"{extreme.capitalize()} value"
    value = value if len(best) == 1 else f"One of {len(best)} {extreme} values"
    tested = ""
    if uncertainty.level is None:
        tested = "Not tested against other cells: the parts of this aggregate are."
        if uncertainty.reason:
            tested = f"Not testable against other cells: {uncertainty.reason}."
    others = len(grid.points_at(uncertainty.best_set) - best)
    of_best = (
        f"{many(others, 'other cell')} may be the {extreme} as well, {basis}."
        if others
        else f"No other cell may be the {extreme} (95 % set)."
    )
    says = {
        1: f"May be the {extreme}: no other cell beats it {basis} (95 % set).",
        0: f"Not the {extreme}: another cell beats it {basis} (95 % set).",
    }
    found: list[str | None] = []
    for row in order:
        if not grid.columns.value.defined[row]:
            found.append(None)
        elif grid.keys[row] in best:
            disputed = ", disputed" if grid.columns.state[row] == DISPUTED else ""
            found.append(f"{value}{disputed}. {tested or of_best}")
        else:
            found.append(tested or says[int(uncertainty.best_set[row])])
    return found


def _origin(study: Study, cell: Cell) -> str | None:
    if cell.value is None and not (cell.place and cell.state in ("failed", "oom")):
        return None
    label = next((of.label for of in study.readings if of.id == cell.reading), "Computed here")
    parts = ["" if cell.place.startswith(label) else label, cell.place]
    return ", ".join([part for part in parts if part] + ([f"run {cell.run}"] if cell.run else []))


_FILE = re.compile(r"(.+?\.\w+)(?=$|:| \(|, )")
"""The file that a place begins with, before a line, a part or a repeat."""


def _log(study: Study, cell: Cell) -> str | None:
    """Where the log that a cell is from can be looked at, as its reading says."""
    patterns = {reading.id: reading.entry.link for reading in study.readings}
    pattern, file = patterns.get(cell.reading), _FILE.match(cell.place)
    if pattern is None or file is None:
        return None
    return pattern.replace("{file}", quote(file[1], safe="/"))


def _small(column: Column) -> Any:
    """A column as small as it gets: its one value, its texts and where each stands, or itself."""
    texts = list(dict.fromkeys(column))
    if len(texts) == 1:
        return texts[0]
    if len(texts) * 2 < len(column) and max(len(str(text)) for text in texts) > 8:
        places = {text: place for place, text in enumerate(texts)}
        return {"of": texts, "at": [places[text] for text in column]}
    return column


def _for_html(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&'":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
