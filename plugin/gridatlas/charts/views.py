"""Pictures of a study: heatmaps on one scale, with their marks, made from data, tests and answers.

A view is what stands side by side. Its fills, marks and caption come from the same value, so that
none says what another doesn't show.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any, Literal

import numpy as np

from gridatlas.analysis.said import Answer, Assertion
from gridatlas.assessment.assessment import Assessment
from gridatlas.charts.binning import block_at, draw_blocks, layout_of
from gridatlas.charts.captions import caption
from gridatlas.charts.description import IN_DISPUTE, best_at, cell_name, describe_grid
from gridatlas.charts.draw import (
    Kind,
    blocks_of,
    change_of,
    change_text,
    colours_of,
    draw_cells,
    draw_difference,
    ends_of,
    key_of,
    level_courses,
    level_means,
    measure_of,
    middle_of,
    scale_of,
    shown_of,
    value_text,
)
from gridatlas.charts.findings import (
    Tests,
    assertions_named,
    asserts_settings,
    difference_tests,
    grid_tests,
    is_asserted,
    outlines,
    tuned_levels,
)
from gridatlas.charts.kinds.heatmap import Heatmap, Subject
from gridatlas.charts.marks import CellMark, Segment, reading_order
from gridatlas.charts.palette import ColourScale
from gridatlas.model.format import format_difference, many, mean_decimals, value_with_unit
from gridatlas.model.study import Factor, Level, Point, Study
from gridatlas.table.decimals import Decimals
from gridatlas.table.differences import Difference
from gridatlas.table.grids import agree, readings_by_cell
from gridatlas.table.study_table import DISPUTED, Grid
from gridatlas.table.summary import Summary, best_points, summarise, unrounded

MOST_TIES = 3
"""Cells that share the best value up to which each is marked."""


@dataclass(frozen=True, slots=True)
class View:
    """Heatmaps side by side on one scale.

    Attributes:
        caption: Sentences on colours, marks and chance: only of what the heatmaps show.
        subtitles: A line per heatmap, below its title.
    """

    heatmaps: tuple[Heatmap, ...]
    caption: str
    subtitles: tuple[str, ...]


def grids_view(
    assessment: Assessment,
    grids: Sequence[Grid],
    answer: Answer | None = None,
    *,
    plain: bool = False,
    shown: Sequence[Grid] = (),
) -> View:
    """Grids of one study side by side.

    Args:
        answer: What the page leads with, which the outlines are of.
        plain: Whether the colours are values in any case.
        shown: The grids that pages show, where these are another reading's: nothing of those is
            tested, and corners are where they differ.
    """
    kind: Kind = "values" if plain else colours_of(assessment)
    scale = scale_of(assessment, kind)
    named = assertions_named(answer)
    of_axes = asserts_settings(assessment.study, named)
    tests = [Tests() if shown else grid_tests(assessment, grid, of_axes) for grid in grids]
    every = [test for test in tests if test.cells]
    maps = [
        _grid_map(assessment, grid, kind, scale, test, named, bool(every), len(grids), beside)
        for grid, test, beside in zip(grids, tests, shown or grids, strict=True)
    ]
    heatmaps = of_one_size(_with_large(maps, grids))
    return View(
        heatmaps,
        caption(assessment.study, grids, heatmaps, kind, tests, named, shows_of(answer)),
        tuple(
            _compared(grid, beside) if shown else subtitle(assessment, grid)
            for grid, beside in zip(grids, shown or grids, strict=True)
        ),
    )


def differences_view(
    assessment: Assessment,
    shown: Sequence[Difference],
    answer: Answer | None = None,
    at_level: str = "",
) -> View:
    """Differences of levels side by side, second minus first.

    Args:
        answer: What the page leads with, which the outlines are of.
        at_level: As in `is_asserted`.
    """
    scale = scale_of(assessment, "difference")
    named = assertions_named(answer)
    tests = [difference_tests(assessment, difference) for difference in shown]
    some = any(test.cells for test in tests)
    maps = [
        _difference_map(assessment, difference, scale, test, some,
                        outlined=is_asserted(assessment, difference, named, at_level))
        for difference, test in zip(shown, tests, strict=True)
    ]  # fmt: skip
    heatmaps = of_one_size(_with_large(maps, [difference.second for difference in shown]))
    return View(
        heatmaps,
        caption(assessment.study, shown, heatmaps, "difference", tests, named, shows_of(answer)),
        tuple(_difference_subtitle(assessment, difference) for difference in shown),
    )


def shows_of(answer: Answer | None) -> str:
    """The difference that would probably have been found; empty where one was, or none is known."""
    return answer.shows if answer and answer.grade == "not-shown" else ""


def _with_large(maps: Sequence[Heatmap], grids: Sequence[Grid]) -> list[Heatmap]:
    """The only grid, or the only aggregate of at least three, is large."""
    whole = [at for at, grid in enumerate(grids) if grid.aggregate]
    large = 0 if len(maps) == 1 else whole[0] if len(whole) == 1 and len(maps) > 2 else -1
    return [
        replace(heatmap, size="large" if at == large else "panel", **_no_rows(at != large))
        for at, heatmap in enumerate(maps)
    ]


def _no_rows(small: bool) -> dict[str, Any]:
    """Beside a large grid, the small ones have no means of rows."""
    return {"y_means": (), "y_asserted": ()} if small else {}


def of_one_size(panels: Sequence[Heatmap]) -> tuple[Heatmap, ...]:
    """Heatmaps beside each other, with cells that are wide enough for the longest value of all."""
    letters = max((panel.longest for panel in panels), default=0)
    return tuple(replace(panel, letters=letters) for panel in panels)


def as_thumbnail(heatmap: Heatmap) -> Heatmap:
    """A heatmap in small: neither numbers nor labels, but its dot, dashes and outlines."""
    marks = (replace(mark, text="", ring=False, corner="") for mark in heatmap.marks)
    return replace(
        heatmap,
        marks=tuple(marks),
        size="thumbnail",
        region=(),
        letters=0,
        **_no_rows(True),
        x_means=(),
        x_asserted=(),
        x_course=(),
        y_course=(),
    )


def as_whole(heatmap: Heatmap) -> Heatmap:
    """A heatmap by itself, with its titles and its legend."""
    return replace(heatmap, size="whole", letters=0)


# --- one heatmap ----------------------------------------------------------------------------------


def _grid_map(
    assessment: Assessment,
    grid: Grid,
    kind: Kind,
    scale: ColourScale,
    tests: Tests,
    named: Sequence[Assertion],
    some_tested: bool,
    together: int,
    beside: Grid,
) -> Heatmap:
    study, log = assessment.study, assessment.log
    middle = middle_of(beside, log=log) if kind == "means" else 0.0
    measure = measure_of(study, kind, together)
    subject = Subject(
        study, grid.label, describe_grid(grid, tests.ring), measure, ends_of(study, scale, kind),
        scale, study.metric.unit, partial(value_text, study, log=log), middle,
    )  # fmt: skip
    best = best_points(grid)
    summary = summarise(grid)
    if (summary and summary.count * 2 < summary.of) or len(best) > MOST_TIES:
        best = frozenset()
    blocks = layout_of(study)
    if blocks is not None:
        with_best = {block_at(study, blocks, point) for point in best}
        note = _blocks_note(grid) if best else ""
        drawn = draw_blocks(subject, blocks, blocks_of(grid, blocks), with_best, note)
        courses = level_courses(assessment, grid, kind)
        return replace(drawn, x_course=courses[0], y_course=courses[1])
    heatmap = draw_cells(subject, shown_of(grid))
    corners = _corners(grid) if heatmap.printed else {}
    if beside is not grid:
        corners = dict.fromkeys(_differing(grid, beside), "corner")
    fades = some_tested and not tests.passed
    marks = []
    in_dispute = (grid.columns.value.defined & (grid.columns.state == DISPUTED)).tolist()
    for mark, row in zip(heatmap.marks, reading_order(study), strict=True):
        point = grid.keys[row]
        label = mark.label + (IN_DISPUTE if in_dispute[row] else "")
        label += f", {study.extreme}" if point in best else ""
        label += ", may be the best" if point in tests.ring - best else ""
        marks.append(
            replace(
                mark,
                label=label,
                best=point in best,
                ring=point in tests.ring - best,
                faded=fades and mark.value is not None,
                corner=corners.get(point, ""),
            )
        )
    boxes, at_x, at_y = outlines(study, named)
    winners = {level for _, level, _ in tuned_levels(study, named)}
    if winners & {level.label for level in grid.names} and len(best) == 1:
        boxes += tuple(_box(heatmap, mark) for mark in marks if mark.best)
    floats, values = unrounded(grid).floats, grid.columns.value
    x_means, y_means = level_means(assessment, floats, values, kind, middle)
    courses = ((), ()) if heatmap.printed else level_courses(assessment, grid, kind)
    return replace(
        heatmap, marks=tuple(marks), outlined=boxes, x_asserted=at_x, y_asserted=at_y,
        x_means=x_means, y_means=y_means, x_course=courses[0], y_course=courses[1],
    )  # fmt: skip


def _box(heatmap: Heatmap, mark: CellMark) -> Segment:
    x, y = heatmap.x_labels.index(mark.x), heatmap.y_labels.index(mark.y)
    return Segment(x, y, x + 1, y + 1)


def _difference_map(
    assessment: Assessment,
    difference: Difference,
    scale: ColourScale,
    tests: Tests,
    some_tested: bool,
    *,
    outlined: bool,
) -> Heatmap:
    study = assessment.study
    measure = measure_of(study, "difference", 2, log=scale.log)
    heatmap = draw_difference(difference, scale, measure)
    if heatmap.block:
        return heatmap
    keys = {key_of(study, point) for point in tests.passed}
    tested = {key_of(study, point) for point in tests.cells}

    def drawn(mark: CellMark) -> CellMark:
        if mark.value is None or not some_tested:
            return mark
        passed = mark.key in keys
        words = ", beyond chance" if passed else ", may be chance" if mark.key in tested else ""
        return replace(mark, strong=passed, faded=not passed, label=mark.label + words)

    box = Segment(0, 0, len(study.x.levels), len(study.y.levels))
    change = Decimals.of(None if math.isnan(x) else Decimal(repr(x))
                         for x in change_of(difference, log=scale.log).tolist())  # fmt: skip
    x_means, y_means = level_means(assessment, change.floats, change, "difference", 0.0)
    return replace(
        heatmap,
        marks=tuple(map(drawn, heatmap.marks)),
        outlined=(box,) if outlined else (),
        x_means=x_means,
        y_means=y_means,
    )


def _corners(grid: Grid) -> dict[Point, Literal["", "corner", "open-corner"]]:
    """The corners of disputed cells: filled where readings differ, open where one alone has it."""
    disputed = grid.columns.value.defined & (grid.columns.state == DISPUTED)
    if not disputed.any():
        return {}
    given = readings_by_cell(grid)
    several = [sum(cell.value is not None for _, cell in cells) > 1 for cells in given]
    found: dict[Point, Literal["", "corner", "open-corner"]] = {}
    for row in np.flatnonzero(disputed).tolist():
        if several[row]:
            found[grid.keys[row]] = "corner" if agree(given[row]) is False else ""
        elif sum(several) * 2 >= len(several):
            found[grid.keys[row]] = "open-corner"
    return found


def _differing(grid: Grid, beside: Grid) -> list[Point]:
    """The cells in which two readings show other values."""
    pairs = zip(grid.keys, grid.columns.value, beside.columns.value, strict=True)
    text = partial(value_text, grid.study)
    return [
        point for point, a, b in pairs if a is not None and b is not None and text(a) != text(b)
    ]


def _compared(grid: Grid, beside: Grid) -> str:
    """`8 of 20 cells, 5 differ`, of another reading than the shown one."""
    values = int(grid.columns.value.defined.sum())
    return f"{values} of {many(len(grid.columns), 'cell')}, {len(_differing(grid, beside))} differ"


def _blocks_note(grid: Grid) -> str:
    """Which cell is the best; its block has the dot."""
    summary = summarise(grid)
    if summary is None:
        return ""
    at = best_at(summary, grid.study, lambda x, y: cell_name(grid.study, x, y), 1)
    return f"The dot is on the block with the best cell ({at})."


# --- subtitles ----------------------------------------------------------------------


def subtitle(assessment: Assessment, grid: Grid) -> str:
    """`mean 53.5 %`; and that the best is at the edge of a numeric axis."""
    summary, study = summarise(grid), assessment.study
    if summary is None:
        return "no value"
    parts = [f"{'geometric ' * assessment.log}mean {mean_text(assessment, grid, summary)}"]
    if summary.count < summary.of:
        parts[0] += f" ({summary.count:,} of {summary.of:,})"
    ties = len(summary.best)
    if study.metric.better and ties > MOST_TIES:
        extreme = "lowest" if study.metric.falls else "highest"
        parts.append(f"{ties} share the {extreme}")
    elif study.has_best and ties == 1 and _at_edge(study, summary.best[0]):
        parts.append("best at the edge ▸")
    return " · ".join(parts)


def mean_text(assessment: Assessment, grid: Grid, summary: Summary) -> str:
    """A grid's mean with its unit: the geometric one where ratios are compared."""
    study, log = assessment.study, assessment.log
    mean = Decimal(repr(middle_of(grid, log=True))) if log else summary.mean
    return value_with_unit(value_text(study, mean, log=log, mean=True), study.metric.unit)


def _at_edge(study: Study, at: tuple[Level, Level]) -> bool:
    return any(
        len(axis.levels) > 2
        and all(level.number is not None for level in axis.levels)
        and level.number in (min(_numbers(axis)), max(_numbers(axis)))
        for axis, level in zip(study.varied, at, strict=False)
    )


def _numbers(axis: Factor) -> list[Decimal]:
    return [level.number for level in axis.levels if level.number is not None]


def _difference_subtitle(assessment: Assessment, difference: Difference) -> str:
    """`+2.4 points · ahead in 19, behind in 1 of 20`."""
    study = assessment.study
    if difference.mean is None:
        return "no cell has both"
    if assessment.log:
        change = change_of(difference, log=True)
        text = change_text(study, Decimal(repr(float(np.nanmean(change)))), log=True)
    else:
        mean = format_difference(difference.mean, mean_decimals(study))
        text = value_with_unit(mean, study.metric.unit, difference=True)
    higher, lower = difference.higher, difference.lower
    if study.metric.better is None:
        return f"{text} · higher in {higher}, lower in {lower} of {len(difference.values)}"
    ahead, behind = (lower, higher) if study.metric.falls else (higher, lower)
    return f"{text} · ahead in {ahead}, behind in {behind} of {len(difference.values)}"
