"""A grid's downloads: tidy CSV, JSON, and an SVG that follows the reader's colour scheme."""

from __future__ import annotations

import csv
import io
import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Context, Decimal
from math import isfinite, isnan
from typing import Any

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.profiles import LevelMean, cell_method, profiles
from gridatlas.assessment.reruns import CellRerun, Rerun
from gridatlas.assessment.uncertainty import UNTESTED, Ends, GridUncertainty, as_pairs
from gridatlas.charts.render import Drawing
from gridatlas.data.tables import guarded
from gridatlas.model.format import denoised
from gridatlas.model.schema import level_number
from gridatlas.model.study import Cell, Reading, Study
from gridatlas.pages.figure import Figure, PlotSubject
from gridatlas.table.grids import readings_by_cell, readings_of
from gridatlas.table.study_table import Grid, or_none

GRIDS = "grids"
"""Folder of the downloads, beside the pages."""
ANSWERS = "answers.json"
"""What the pages of a study lead with, beside its grids' downloads."""
ARCHIVE = "data.zip"
"""Everything of a study, beside its page."""
_LEVELS, _VALUE = ("levels", "value")
"""Keys of a cell in JSON."""
_MORE = ("successes", "stderr", "note", "place", "run")
_PRINTED = 20
"""Digits from which on nobody printed a number: it was computed, with 28 of them."""
_MEAN, _ERROR = 10, 4
"""Significant digits of computed means, and of computed standard errors."""


def _digits(number: Decimal, significant: int) -> str:
    """A number as it was printed; a computed one with its significant digits."""
    text = str(number)
    if len(text) < _PRINTED and "E" not in text:
        return text  # as nearly all are
    if len(number.as_tuple().digits) < _PRINTED:
        return f"{number:f}"
    return f"{Context(prec=significant).plus(number):f}"


def to_csv(grid: Grid) -> str:
    """One row per cell, in the columns of the data format, so that it can be read in again."""
    study = grid.study
    facets = [facet.id for facet in study.facets]
    columns = [*(axis.id for axis in study.varied), study.metric.column]
    spread = [study.spread.column] if study.spread and study.spread.column != "stderr" else []
    lines = [_record([*facets, *columns, *spread, "state", "n", *_MORE, "reading"])]
    xs = [_record([*grid.levels, x.key]) for x in study.x.levels]
    ys = [f",{_record([y.key])}" if study.second else "" for y in study.y.levels]
    alike = grid.table.alike[grid.table.rows(grid.levels)].tolist()
    trials, rests = or_none(grid.trials), dict[int, str]()
    places = ((x, y) for y in ys for x in xs)
    for row, ((x, y), value) in enumerate(zip(places, grid.columns.value, strict=True)):
        if alike[row] not in rests:
            about = _beside_value(grid.columns.cell(row), trials[row], bool(spread))
            rests[alike[row]] = _record(about)
        text = "" if value is None else _digits(value, _MEAN)
        lines.append(f"{x}{y},{text},{rests[alike[row]]}")
    return "\n".join([*lines, ""])


def _beside_value(cell: Cell, n: int | None, spread: bool) -> Iterable[object]:
    """The entries of a row after its value; `spread` is one of them."""
    stderr = None if cell.stderr is None else _digits(cell.stderr, _ERROR)
    beside = [None if cell.spread is None else f"{cell.spread:f}"] if spread else []
    counted = [*beside, cell.state, n, cell.successes, stderr]
    return [*counted, cell.note, cell.place, cell.run, cell.reading]


def _record(entries: Iterable[object]) -> str:
    """A row of CSV without its end; what is None is empty."""
    text = io.StringIO()
    texts = ("" if entry is None else str(entry) for entry in entries)
    csv.writer(text, lineterminator="\n").writerow(map(guarded, texts))
    return text.getvalue()[:-1]


def answers_json(assessment: Assessment, into: str) -> str:
    """The answers of all pages of a study: a list, with the page of each; no absent values."""
    content = [
        {
            "page": posixpath.join(into, assessment.study.id, page, ""),
            "grade": answer.grade,
            "sentence": answer.headline,
            "evidence": answer.evidence,
            **_defined({"p": answer.p, "population": answer.population}),
            "assertions": [_defined(asdict(assertion)) for assertion in answer.assertions],
        }
        for page, answer in assessment.answers.items()
    ]
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _defined(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The entries that aren't empty; of numbers those that are finite."""
    return {
        name: value
        for name, value in entry.items()
        if value != "" and (not isinstance(value, float) or isfinite(value))
    }


def to_json(grid: Grid, uncertainty: GridUncertainty, rerun: Rerun | None = None) -> str:
    """The grid with its names, its cells, where each value comes from, and what was run again."""
    study, metric = grid.study, grid.study.metric
    means = profiles(grid, uncertainty)
    content = {
        "study": study.id,
        "title": study.title,
        "grid": grid.address,
        "facets": dict(zip([facet.id for facet in study.facets], grid.levels, strict=True)),
        "metric": {
            "name": metric.name,
            "unit": metric.unit,
            "better": metric.better,
            "decimals": metric.decimals or 0,
        },
        **({"spread": {"kind": study.spread.kind, "n": study.spread.n}} if study.spread else {}),
        "x": {"id": study.x.id, "label": study.x.label, "unit": study.x.unit},
        "y": {"id": study.y.id, "label": study.y.label, "unit": study.y.unit}
        if study.second
        else None,
        "computed": grid.computed,
        "not_testable": uncertainty.reason or None,
        "intervals": cell_method(uncertainty) or None,
        "readings": [_reading(reading) for reading in readings_of(study, [grid])],
        "profiles": {
            "interval": means.method or None,
            "x": [_mean(mean, study) for mean in means.x],
            "y": [_mean(mean, study) for mean in means.y] if study.second else [],
        },
    }
    # One cell per line: small enough for a million of them, and lines can be compared.
    head = _encoded(content, indent=1).removesuffix("\n}")
    body = ",\n  ".join(_entries(grid, uncertainty, rerun))
    return f'{head},\n "cells": [\n  {body}\n ]\n}}\n'


def _encoded(content: object, indent: int | None = None) -> str:
    return json.dumps(content, ensure_ascii=False, indent=indent)


def _entries(grid: Grid, uncertainty: GridUncertainty, rerun: Rerun | None) -> Iterator[str]:
    """Each cell of a grid as JSON.

    Levels have a key of their own, so that a factor may have any name; beside the other keys they
    stand for those who read them there, unless one of these has the factor's name.
    """
    study = grid.study
    names = [_encoded(axis.id) for axis in study.varied]
    xs = [f"{names[0]}: {_encoded(_level(x.key))}" for x in study.x.levels]
    ys = [
        f", {names[1]}: {_encoded(_level(y.key))}" if study.second else "" for y in study.y.levels
    ]
    alike = grid.table.alike[grid.table.rows(grid.levels)].tolist()
    trials, abouts = or_none(grid.trials), dict[int, str]()
    more = _more(grid, uncertainty, rerun)
    places = (x + y for y in ys for x in xs)
    is_name_taken = False
    values = grid.columns.value.floats.tolist()
    for row, (at, value) in enumerate(zip(places, values, strict=True)):
        is_new = alike[row] not in abouts
        if is_new:
            abouts[alike[row]] = _encoded(_cell(grid.columns.cell(row), trials[row]))[1:-1]
        number = "null" if isnan(value) else repr(value)
        text = f'{{{at}, "{_LEVELS}": {{{at}}}, "{_VALUE}": {number}, {abouts[alike[row]]}'
        if more and more[row]:
            text += f", {_encoded(more[row])[1:-1]}"
        if is_new or more:
            is_name_taken |= any(text.count(f"{name}: ") > 2 for name in names)
        text += "}"
        # Of two entries with one name the later one counts, in the place of the first.
        yield _encoded(json.loads(text)) if is_name_taken else text


def _more(grid: Grid, uncertainty: GridUncertainty, rerun: Rerun | None) -> list[dict[str, Any]]:
    """What is known of each cell beside what stands in it; empty where nothing is."""
    study = grid.study
    several = len(study.accounts) > 1
    if not (several or uncertainty.cells or uncertainty.has_ranges or rerun):
        return []
    given = readings_by_cell(grid) if several else [[]] * len(grid.columns)
    again = rerun.cells if rerun else {}
    return [
        _interval(ends, may_be, study)
        | _range(of, study)
        | _read(cells)
        | _rerun(again.get(point), study)
        for ends, may_be, of, cells, point in zip(
            as_pairs(uncertainty.ends),
            uncertainty.may_be_best.tolist(),
            as_pairs(uncertainty.ranges),
            given,
            grid.keys,
            strict=True,
        )
    ]


def to_svg(svg: str) -> str:
    """The drawing as a file of its own: black text, light text where the reader prefers dark."""
    style = "<style>svg{color:#1f1f1f}@media(prefers-color-scheme:dark){svg{color:#e6e6e6}}</style>"
    return re.sub(r"(<svg[^>]*>)", lambda match: match[1] + style, svg, count=1) + "\n"


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of a figure's files.

    Attributes:
        ending: Of the file's name.
        label: Of the link to it.
        write: Gives the content, from the figure and its drawing.
    """

    ending: str
    label: str
    write: Callable[[Figure, Drawing], str | bytes]


def _grid_of(figure: Figure) -> Grid:
    assert figure.grid is not None
    return figure.grid


def _json_of(figure: Figure) -> str:
    unknown = GridUncertainty.unknown(figure.study)
    return to_json(_grid_of(figure), figure.uncertainty or unknown, figure.rerun)


_PICTURES = (
    Format("svg", "SVG", lambda _, drawing: to_svg(drawing.svg)),
    Format("png", "PNG", lambda _, drawing: drawing.png),
)
_VEGA_LITE = Format("vl.json", "Vega-Lite", lambda _, drawing: drawing.spec)
FORMATS = (
    *_PICTURES,
    Format("csv", "CSV", lambda figure, _: to_csv(_grid_of(figure))),
    Format("json", "JSON", lambda figure, _: _json_of(figure)),
    _VEGA_LITE,
)
"""All formats in which a page offers a grid."""
PLOT_FORMATS = (*_PICTURES, Format("csv", "CSV", lambda figure, _: plot_csv(figure)), _VEGA_LITE)
"""All in which it offers a plot."""


def grid_path(grid: Grid) -> str:
    """Address of a grid's downloads, without their ending."""
    return f"{GRIDS}/{grid.study.id}/{grid.address}"


def downloads(grid: Grid, page: str) -> dict[str, str]:
    """Links to a grid's files by their labels, relative to the folder of a page."""
    return _links(grid_path(grid), FORMATS, page)


def _links(address: str, formats: Iterable[Format], page: str) -> dict[str, str]:
    folder = posixpath.dirname(page)
    return {file.label: posixpath.relpath(f"{address}.{file.ending}", folder) for file in formats}


# --- plots of many cells ------------------------------------------------------------------------


def plot_csv(figure: Figure) -> str:
    """The numbers of a plot, also of settings that aren't drawn."""
    assert figure.plot is not None
    records = figure.plot.records()
    rows = [records[0], *(record.values() for record in records)]
    return "".join(f"{_record(row)}\n" for row in rows)


def plot_files(figure: Figure, drawing: Drawing) -> dict[str, str | bytes]:
    """The files of a plot by their paths; none where it has no address."""
    address = _plot_address(figure)
    files = PLOT_FORMATS if address else ()
    return {f"{address}.{file.ending}": file.write(figure, drawing) for file in files}


def plot_downloads(figure: Figure, page: str) -> dict[str, str]:
    """Links to a plot's files by their labels, relative to the folder of a page."""
    address = _plot_address(figure)
    return _links(address, PLOT_FORMATS, page) if address else {}


def _plot_address(figure: Figure) -> str:
    return figure.shows.address if isinstance(figure.shows, PlotSubject) else ""


def without_empty(entries: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of JSON that say something."""
    return {name: entry for name, entry in entries.items() if entry not in (None, "", [], {})}


# --- cells as JSON ------------------------------------------------------------------------------


def _cell(cell: Cell, n: int | None) -> dict[str, Any]:
    """What stands in a cell beside its value: the state always, the rest where it is known."""
    entries = {
        "n": n,
        "successes": cell.successes,
        "stderr": None if cell.stderr is None else float(cell.stderr),
        "spread": None if cell.spread is None else float(cell.spread),
        "note": cell.note,
        "reading": cell.reading,
        "place": cell.place,
        "run": cell.run,
    }
    return {"state": cell.state} | without_empty(entries)


def _interval(ends: Ends | None, may_be_best: int, study: Study) -> dict[str, Any]:
    """The 95 % interval, without the noise of binary arithmetic."""
    if ends is None:
        return {}
    return {
        "interval_95": [denoised(end, study) for end in ends],
        "may_be_best": None if may_be_best == UNTESTED else bool(may_be_best),
    }


def _range(ends: Ends | None, study: Study) -> dict[str, Any]:
    """Lowest and highest of too few repeats, which have no interval."""
    return {} if ends is None else {"range": [denoised(end, study) for end in ends]}


def _mean(mean: LevelMean, study: Study) -> dict[str, Any]:
    """The mean at one level of an axis, without the noise of binary arithmetic."""
    entry = {
        "level": _level(mean.level.key),
        "label": mean.level.label,
        "cells": mean.cells,
        "mean": None if mean.mean is None else denoised(mean.mean, study),
    }
    if mean.interval is None:
        return entry
    return entry | {"interval_95": [denoised(end, study) for end in mean.interval]}


def _read(cells: Sequence[tuple[Reading, Cell]]) -> dict[str, Any]:
    """What each reading says of the cell, where more than one does."""
    if len(cells) < 2:
        return {}
    return {
        "read": [
            {
                "reading": reading.id,
                "value": None if cell.value is None else float(cell.value),
                "state": cell.state,
            }
            | ({"place": cell.place} if cell.place else {})
            for reading, cell in cells
        ]
    }


def _rerun(cell: CellRerun | None, study: Study) -> dict[str, Any]:
    """The cell measured again, and its verdict; nothing where it isn't run."""
    if cell is None or cell.verdict == "not run":
        return {}
    content: dict[str, Any] = {"verdict": cell.verdict}
    if cell.again.value is not None:
        content |= {"value": float(cell.again.value), "n": cell.again.n, "run": cell.again.run}
    if cell.interval is not None:
        ends = (cell.interval.low, cell.interval.high)
        content |= {"difference_95": [denoised(end, study) for end in ends], "method": cell.method}
    if cell.reason:
        content["reason"] = cell.reason
    return {"reproduced": content}


def _level(key: str) -> str | int | float:
    number = level_number(key)
    if number is None:
        return key
    return int(number) if number == number.to_integral_value() else float(number)


def _reading(reading: Reading) -> dict[str, str]:
    entry = {"id": reading.id, "label": reading.label}
    return entry | ({"url": reading.entry.url} if reading.entry.url else {})
