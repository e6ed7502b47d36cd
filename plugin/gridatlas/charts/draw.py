"""Heatmaps of single grids and differences, and the one scale of a study that they are on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import defined
from gridatlas.charts.binning import Block, Layout, Shown, draw_blocks, gather, layout_of
from gridatlas.charts.description import cell_name, describe_difference, describe_grid
from gridatlas.charts.kinds.heatmap import Heatmap, Subject
from gridatlas.charts.marks import (
    ABSENT,
    ONE_READING,
    CellMark,
    reading_order,
    region_edges,
    rows_from_top,
)
from gridatlas.charts.palette import ColourScale, centred_scale, values_scale
from gridatlas.model.format import (
    MINUS,
    difference_unit,
    format_difference,
    format_measured,
    format_ratio,
    format_value,
    many,
    mean_decimals,
    name_with_unit,
    spoken_unit,
    value_with_unit,
)
from gridatlas.model.study import STATES, Point, Study, inline, point_slug
from gridatlas.table.coded import Coded
from gridatlas.table.decimals import Decimals, Floats
from gridatlas.table.differences import Difference, differences
from gridatlas.table.study_table import Grid
from gridatlas.table.summary import summarise, unrounded

Kind = Literal["values", "means", "difference"]
"""What colours stand for: values, distances from each grid's mean, or differences of grids."""
SIGNIFICANT_DIGITS = 3
"""Of values whose colours are on a log scale."""


# --- which colours --------------------------------------------------------------------------------


def colours_of(assessment: Assessment) -> Kind:
    """Distances from each grid's mean where grids differ in difficulty and a setting is asked."""
    study = assessment.study
    blocks = any(
        study.roles.get(facet.id) == "block"
        and sum(not level.aggregate for level in assessment.results.levels(facet.id)) > 1
        for facet in study.facets
    )
    chosen = study.has_best and study.colour != "value" and not study.baseline
    return "means" if blocks and chosen and not assessment.log else "values"


_SCALES: WeakKeyDictionary[Assessment, dict[Kind, ColourScale]] = WeakKeyDictionary()


def scale_of(assessment: Assessment, kind: Kind) -> ColourScale:
    """The one scale of a study's values, or of its differences, on all pages and surfaces."""
    scales = _SCALES.setdefault(assessment, {})
    if kind not in scales:
        scales[kind] = _scale(assessment, kind)
    return scales[kind]


def _scale(assessment: Assessment, kind: Kind) -> ColourScale:
    study, results = assessment.study, assessment.results
    grids, falls, log = [*results.grids.values()], study.metric.falls, assessment.log
    if kind == "difference":
        found = [of for facet in study.facets for of in differences(results, facet)]
        return difference_scale(found, falls=falls, log=log, least=_half_width(assessment))
    if kind == "values":
        values = [value for grid in grids for value in drawn_values(grid)]
        bounds = study.metric.range and tuple(float(end) for end in study.metric.range)
        return values_scale(values, falls=falls, log=log, bounds=bounds or None)  # type: ignore[arg-type]
    reach = max(
        (abs(value - middle_of(grid, log=False)) for grid in grids for value in drawn_values(grid)),
        default=0.0,
    )
    return centred_scale(max(reach, _half_width(assessment)), falls=falls, centred=True)


def difference_scale(
    found: Iterable[Difference], *, falls: bool, log: bool = False, least: float = 0.0
) -> ColourScale:
    """The scale of differences."""
    changes = (np.abs(change_of(difference, log=log)) for difference in found)
    reach = max((float(np.nanmax(of)) for of in changes if np.isfinite(of).any()), default=0.0)
    return centred_scale(reach if log else max(reach, least), falls=falls, log=log)


def joint_scale(grids: Sequence[Grid], *, log: bool = False) -> ColourScale:
    """A scale of the values of grids alone."""
    values = [value for grid in grids for value in drawn_values(grid)]
    return values_scale(values, falls=grids[0].study.metric.falls, log=log)


def _half_width(assessment: Assessment) -> float:
    """Half of the typical 95 % interval of a cell, in the metric's unit; 0 where none is known."""
    grids = assessment.uncertainty.grids.values()
    # As cells of these questions are told apart: for other questions they are wider.
    every = [np.where(defined(of.by_trials)[:, None], of.by_trials, of.ends) for of in grids]
    ends = [of[defined(of)] for of in every]
    widths = np.concatenate([of[:, 1] - of[:, 0] for of in ends]) if ends else np.zeros(0)
    return float(np.median(widths)) / 2 if len(widths) else 0.0


_BLOCKS: WeakKeyDictionary[Grid, tuple[Block, ...]] = WeakKeyDictionary()
"""A grid is drawn on several pages."""


def blocks_of(grid: Grid, of: Layout) -> tuple[Block, ...]:
    """The blocks of a large grid."""
    if grid not in _BLOCKS:
        _BLOCKS[grid] = gather(shown_of(grid), of)
    return _BLOCKS[grid]


def drawn_values(grid: Grid) -> list[float]:
    """What the colours of a grid stand for: its values, or the means of its blocks."""
    of = layout_of(grid.study)
    if of is not None:
        return [float(block.mean) for block in blocks_of(grid, of) if block.mean is not None]
    values = grid.columns.value
    return [*map(float, values.floats[values.defined])]


def change_of(difference: Difference, *, log: bool) -> Floats:
    """Of each cell, second minus first; in logarithms the ratio. nan where either has none."""
    first, second = (
        np.where(grid.columns.value.defined, grid.columns.value.floats, np.nan)
        for grid in (difference.first, difference.second)
    )
    if not log:
        return np.where(difference.change.defined, difference.change.floats, np.nan)
    with np.errstate(all="ignore"):
        return np.asarray(np.log(second) - np.log(first))


def middle_of(grid: Grid, *, log: bool) -> float:
    """The mean of a grid's values, the geometric one where `log`; 0 without any."""
    if log:
        values = grid.columns.value
        found = values.floats[values.defined]
        return float(np.exp(np.log(found).mean())) if len(found) else 0.0
    summary = summarise(grid)
    return float(summary.mean) if summary else 0.0


# --- one heatmap, without any mark --------------------------------------------------------------


def key_of(study: Study, point: Point) -> str:
    """The key of a cell's mark."""
    return point_slug(study.x.level(point[0]), study.y.level(point[1]))


def draw_values(grid: Grid, scale: ColourScale | None = None) -> Heatmap:
    """The values of a grid, without any mark; on their own scale unless one is given."""
    study = grid.study
    scale = scale or joint_scale([grid])
    subject = Subject(
        study, grid.label, describe_grid(grid), measure_of(study, "values", 1),
        ends_of(study, scale, "values"), scale, study.metric.unit,
        partial(value_text, study, log=scale.log),
    )  # fmt: skip
    blocks = layout_of(study)
    if blocks is not None:
        return draw_blocks(subject, blocks, blocks_of(grid, blocks))
    return draw_cells(subject, shown_of(grid))


def sign_of(log: bool) -> str:
    """What stands between two levels compared: of logs it is their ratio."""
    return "÷" if log else "−"


def draw_difference(
    difference: Difference, scale: ColourScale | None = None, measure: str = ""
) -> Heatmap:
    """A difference without any mark; on its own scale unless one is given."""
    study = difference.first.study
    scale = scale or difference_scale([difference], falls=study.metric.falls)
    unit = "" if scale.log else difference_unit(study.metric.unit)
    measure = measure or measure_of(study, "difference", 1, log=scale.log)
    subject = Subject(
        study, " | ".join(difference.parts(sign_of(scale.log))), describe_difference(difference),
        measure, ends_of(study, scale, "difference"), scale,
        unit, partial(change_text, study, log=scale.log),
    )  # fmt: skip
    shown = _shown_difference(difference, log=scale.log)
    blocks = layout_of(study)
    if blocks is not None:
        return draw_blocks(subject, blocks, gather(shown, blocks))
    return draw_cells(subject, shown)


def draw_disagreement(
    grid: Grid, found: Mapping[Point, Decimal], largest: Decimal | int
) -> Heatmap:
    """How far the readings of a grid's cells are apart.

    Args:
        found: Largest minus smallest value of each cell that at least two readings give.
        largest: Of all grids.
    """
    study = grid.study
    number = sum(value != 0 for value in found.values())
    scale = ColourScale("values", 0.0, float(largest) or 1.0)
    unit = difference_unit(study.metric.unit)
    subject = Subject(
        study, grid.label,
        f"{grid.label}: the readings differ in {number} of {many(len(found), 'cell')} "
        "that more than one of them gives.",
        name_with_unit("Largest difference between readings", unit),
        ("0", f"{scale.high:g}"), scale, unit,
        partial(format_value, decimals=study.metric.decimals or 0),
    )  # fmt: skip
    points = ((x.key, y.key) for y in study.y.levels for x in study.x.levels)
    values = Decimals.of(map(found.get, points))
    shown = Shown(values, Coded.constant(ONE_READING, len(values)))
    blocks = layout_of(study)
    if blocks is not None:
        return draw_blocks(subject, blocks, gather(shown, blocks))
    heatmap = draw_cells(subject, shown)
    marks = (
        mark if mark.value is None else replace(mark, label=f"{mark.label} apart")
        for mark in heatmap.marks
    )
    return replace(heatmap, marks=tuple(marks))


def draw_cells(subject: Subject, shown: Shown) -> Heatmap:
    """A heatmap with a mark per cell."""
    study = subject.study
    rows = rows_from_top(study.y)
    places = ((x, y) for y in rows for x in study.x.levels)
    cells, marks = [*zip(*shown, strict=True)], []
    for (x, y), row in zip(places, reading_order(study), strict=True):
        value, absent = cells[row]
        text = "" if value is None else subject.text_of(value)
        words = _absence(absent) if value is None else value_with_unit(text, subject.unit)
        marks.append(
            CellMark(
                point_slug(x, y), x.label, y.label, None if value is None else float(value), text,
                f"{cell_name(study, x, y)}: {words}",
                0 if value is None else subject.step(float(value)),
                absent=absent if value is None else "",
            )
        )  # fmt: skip
    return subject.heatmap(
        marks,
        [level.label for level in study.x.levels],
        [level.label for level in rows],
        region_edges(study, rows),
    )


def _absence(reason: str) -> str:
    """`no value: missing` within a sentence: `no value (missing)`."""
    head, _, state = reason.partition(": ")
    return f"{head} ({state})" if state else head


_ABSENT = tuple(ABSENT.get(state, "") for state in STATES)


def shown_of(grid: Grid) -> Shown:
    """What a heatmap shows of a grid's cells."""
    return Shown(grid.columns.value, Coded(grid.columns.state, _ABSENT))


def _shown_difference(difference: Difference, *, log: bool) -> Shown:
    """The differences; where there is none, why the second grid has no value, else the first."""
    first, second = difference.first.columns, difference.second.columns
    states = np.where(second.value.defined, first.state, second.state)
    change = difference.change
    if log:
        ratios = change_of(difference, log=True).tolist()
        change = Decimals.of(None if math.isnan(x) else Decimal(repr(x)) for x in ratios)
    return Shown(change, Coded(states, _ABSENT))


# --- means ----------------------------------------------------------------------------------------


def level_means(
    assessment: Assessment, floats: Floats, values: Decimals, kind: Kind, middle: float
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The means of columns, and of rows from the top, over complete ones; empty without any."""
    study, log = assessment.study, assessment.log
    shape = len(study.y.levels), len(study.x.levels)
    if min(shape) < 2 or max(shape) > MEANS_UP_TO:
        return (), ()
    cells = _cells(assessment, floats, values, kind)
    found = []
    for axis in (0, 1):
        means = cells.mean(axis=axis)  # nan where a cell is missing
        texts = [_mean_text(study, mean, kind, middle, log=log) for mean in means.tolist()]
        if axis == 1 and study.y.direction == "up":
            texts.reverse()
        found.append(tuple(texts) if np.isfinite(means).any() else ())
    return found[0], found[1]


MEANS_UP_TO = 12
"""Levels of an axis up to which their means stand at the edges."""
Course = tuple[float | None, ...]


def level_courses(assessment: Assessment, grid: Grid, kind: Kind) -> tuple[Course, Course]:
    """The same means of a grid as `Heatmap.x_course` and `y_course` have them."""
    cells = _cells(assessment, unrounded(grid).floats, grid.columns.value, kind)
    means = [cells.mean(axis=axis) for axis in (0, 1)]
    every = np.concatenate(means)
    if min(cells.shape) < 2 or np.isfinite(every).sum() < 2 or np.nanmin(every) == np.nanmax(every):
        return (), ()
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    x, y = (
        tuple(None if math.isnan(of) else (of - low) / (high - low) for of in mean.tolist())
        for mean in means
    )
    return x, y[::-1] if assessment.study.y.direction == "up" else y


def _cells(assessment: Assessment, floats: Floats, values: Decimals, kind: Kind) -> Floats:
    """Values by row and column, in logarithms where means are geometric."""
    study = assessment.study
    shape = len(study.y.levels), len(study.x.levels)
    cells = np.where(values.defined, floats, np.nan).reshape(shape)
    return np.log(cells) if assessment.log and kind == "values" else cells


def _mean_text(study: Study, mean: float, kind: Kind, middle: float, *, log: bool) -> str:
    if math.isnan(mean):
        return "–"
    if kind == "values":
        return value_text(study, Decimal(repr(math.exp(mean) if log else mean)), log=log, mean=True)
    if log:
        return change_text(study, Decimal(repr(mean)), log=True)
    return format_difference(mean - middle, mean_decimals(study))


def value_text(study: Study, value: Decimal, *, log: bool = False, mean: bool = False) -> str:
    """A value as it stands in a cell: on a log scale with three digits; never 0 if it isn't."""
    decimals = mean_decimals(study) if mean else study.metric.decimals or 0
    if log and value:
        decimals = min(decimals, max(0, SIGNIFICANT_DIGITS - 1 - value.adjusted()))
    return format_measured(value, decimals).replace("-", MINUS)


def change_text(study: Study, value: Decimal, *, log: bool = False) -> str:
    """A difference with its sign, or a ratio from its logarithm: `1.8 ×`."""
    if not log:
        text = format_difference(value, study.metric.decimals or 0)
        return "0" if not value else text
    return format_ratio(math.exp(float(value)))


# --- words on scales and grids --------------------------------------------------------------------


def measure_of(study: Study, kind: Kind, together: int, *, log: bool = False) -> str:
    """What colours stand for, as the legend says it."""
    metric = study.metric
    unit = spoken_unit(difference_unit(metric.unit))
    if kind == "values":
        return name_with_unit(metric.name, metric.unit)
    if kind == "means":
        return f"{unit or metric.name} from {mean_name(study, together)}"
    return "ratio" if log else f"difference in {unit or inline(metric.name)}"


def mean_name(study: Study, together: int) -> str:
    """Whose mean a centred scale is from: `each benchmark's mean`."""
    block = next((facet for facet in study.facets if study.roles.get(facet.id) == "block"), None)
    if together == 1 or block is None:
        return "the mean" if together == 1 else "each grid's mean"
    return f"each {inline(block.label)}'s mean"


def ends_of(study: Study, scale: ColourScale, kind: Kind) -> tuple[str, str]:
    """The ends of a legend's strip, the worse one first."""
    low, high = scale.low, scale.high
    if kind == "values":
        ends = [_end(math.exp(end) if scale.log else end) for end in (low, high)]
        if scale.clamped:
            place = 1 if scale.falls else 0
            ends[place] = f"{'≥' if scale.falls else '≤'} {ends[place]}"
    elif scale.log:
        ends = [f"{_end(math.exp(end))} ×" for end in (low, high)]
    else:
        ends = [format_difference(Decimal(f"{end:.6g}"), _decimals(end)) for end in (low, high)]
    if scale.falls:
        ends.reverse()
    better = " better" if study.metric.better and kind == "values" else ""
    return ends[0], ends[1] + better


def _end(end: float) -> str:
    end = float(f"{end:.9g}")  # as logarithms give it, 1,000 is a little less
    return (f"{end:.3g}" if abs(end) < 1000 else f"{end:,.0f}").replace("-", MINUS)


def _decimals(end: float) -> int:
    return max(0, -int(Decimal(f"{end:.6g}").normalize().as_tuple().exponent))
