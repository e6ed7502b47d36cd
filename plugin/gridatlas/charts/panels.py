"""Heatmaps side by side, whose colours are comparable and say no more than the statistics do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from gridatlas.charts.binning import layout_of
from gridatlas.charts.compose import difference_domain, draw_difference, draw_grid, own_domain
from gridatlas.charts.kinds.heatmap import CellMark, Heatmap, edges, rows_from_top
from gridatlas.charts.palette import LIGHT, STEPS, Palette, step
from gridatlas.model.study import Point, Study, point_slug
from gridatlas.table.differences import Difference
from gridatlas.table.study_table import Grid
from gridatlas.table.summary import summarise

ROUND = (1, 1.5, 2, 3, 4, 5, 6, 7, 8)
"""Leading digits of the ends of a scale that is centred on 0."""

WITHIN_CHANCE = "·"
"""What stands in a cell in the place of a difference that isn't significant."""


@dataclass(frozen=True, slots=True)
class PanelScale:
    """The colour scale that heatmaps side by side share.

    Attributes:
        centred: Whether it is of differences from a middle; else of the values themselves.
        low, high: Its ends: of a centred one −reach and reach.
        reverse: Whether low values are better, so that they have the colours of high ones.
    """

    centred: bool
    low: float
    high: float
    reverse: bool = False

    def step(self, value: float, middle: float = 0.0) -> int:
        """The step of a value; of a centred scale, of its difference from `middle`."""
        at = step(value - middle if self.centred else value, self.low, self.high)
        return STEPS - 1 - at if self.reverse else at


@dataclass(frozen=True, slots=True)
class Rivals:
    """Which cells of a grid the statistics tell apart from the best.

    Attributes:
        beaten: The points that are shown to be worse than another one; the others' colours are
            faded.
        outlined: The points that may be the best, to be outlined together; empty for none.
        sole: Whether the best cell alone may be the best: its outline is solid.
    """

    beaten: frozenset[Point] = frozenset()
    outlined: frozenset[Point] = frozenset()
    sole: bool = False


def values_scale(grids: Iterable[Grid]) -> PanelScale:
    """The scale of the values of grids, from the lowest to the highest that is drawn."""
    grids = tuple(grids)
    return PanelScale(False, *own_domain(grids), lower_is_better(grid.study for grid in grids))


def means_scale(grids: Iterable[Grid]) -> PanelScale:
    """The scale of differences from each grid's mean, rounded up to an end that reads well."""
    grids = tuple(grids)
    reach = 0.0
    for grid in grids:
        low, high = own_domain([grid])
        middle = float(mean_of(grid) or 0)
        reach = max(reach, high - middle, middle - low)
    return centred_scale(reach, reverse=lower_is_better(grid.study for grid in grids))


def lower_is_better(studies: Iterable[Study]) -> bool:
    """Whether lower values are better in all of the studies whose values share a scale."""
    return {study.metric.better for study in studies} == {"lower"}


def centred_scale(reach: float, *, reverse: bool = False) -> PanelScale:
    """A scale around 0 that reaches at least so far."""
    if reach <= 0:
        return PanelScale(True, -1.0, 1.0, reverse)
    ten = 10.0 ** math.floor(math.log10(reach))
    leading = next((digit for digit in ROUND if reach / ten <= digit + 1e-9), 10)
    end = float(f"{leading * ten:.6g}")
    return PanelScale(True, -end, end, reverse)


def draw_panel(grid: Grid, scale: PanelScale, rivals: Rivals | None) -> Heatmap:
    """A grid among others, on their scale.

    Args:
        rivals: What the statistics say, on a scale of differences from the mean; None where colours
            are values.
    """
    heatmap = draw_grid(grid, best_set=rivals.outlined if rivals else frozenset())
    middle = float(mean_of(grid) or 0)
    keys = mark_keys(grid.study, rivals.beaten if rivals else ())
    marks = []
    for mark in heatmap.marks:
        palette: Palette = "sequential"
        if scale.centred:
            palette = "diverging" if mark.key in keys else "faded"
        marks.append(replace(painted(mark, palette, scale, middle), in_best_set=False))
    study = grid.study
    together = rivals.outlined if rivals and layout_of(study) is None else frozenset()
    return replace(
        heatmap,
        marks=tuple(marks),
        panel="cells",
        dashed=not (rivals and rivals.sole),
        best_edges=edges(study, rows_from_top(study.y), together),
        domain=(scale.low, scale.high),
    )


def painted(mark: CellMark, palette: Palette, scale: PanelScale, middle: float = 0.0) -> CellMark:
    """A mark with its colour; one without a value has none."""
    if mark.value is None:
        return mark
    return replace(mark, fill=LIGHT[palette][scale.step(mark.value, middle)])


def mark_keys(study: Study, points: Iterable[Point]) -> frozenset[str]:
    """The keys of the marks of some cells; of blocks, none: their colours are means."""
    if layout_of(study) is not None:
        return frozenset()
    return frozenset(point_slug(study.x.level(x), study.y.level(y)) for x, y in points)


def differences_scale(differences: Iterable[Difference]) -> PanelScale:
    """The scale of differences, centred on 0."""
    differences = tuple(differences)
    reverse = lower_is_better(difference.first.study for difference in differences)
    return centred_scale(difference_domain(differences)[1], reverse=reverse)


def draw_inked(
    difference: Difference, scale: PanelScale, significant: Mapping[Point, bool] | None
) -> Heatmap:
    """A difference of two grids, with ink and numbers only where it is significant.

    Args:
        significant: The points that differ significantly; None where that can't be tested: then
            all have their numbers.
    """
    heatmap = draw_difference(difference)
    study = difference.first.study
    tested = significant is not None and layout_of(study) is None
    inked = mark_keys(study, significant or ())

    def drawn(mark: CellMark) -> CellMark:
        if not tested or mark.value is None:
            return painted(mark, "diverging", scale)
        if mark.key in inked:
            return replace(painted(mark, "diverging", scale), label=f"{mark.label}, significant")
        faded = replace(painted(mark, "faded", scale), label=f"{mark.label}, within chance")
        return replace(faded, text=WITHIN_CHANCE)

    return replace(
        heatmap,
        marks=tuple(map(drawn, heatmap.marks)),
        panel="cells",
        domain=(scale.low, scale.high),
    )


def as_thumbnail(heatmap: Heatmap) -> Heatmap:
    """A panel in small: neither numbers nor labels nor marks, but for the best."""
    marks = (replace(mark, text="", disputed=False) for mark in heatmap.marks)
    return replace(
        heatmap,
        marks=tuple(marks),
        panel="thumbnail",
        outline=(),
        best_edges=(),
        letters=0,
    )


def of_one_size(panels: Sequence[Heatmap]) -> tuple[Heatmap, ...]:
    """Panels beside each other, with cells that are wide enough for the longest value of all."""
    letters = max((panel.longest for panel in panels), default=0)
    return tuple(replace(panel, letters=letters) for panel in panels)


def mean_of(grid: Grid) -> Decimal | None:
    """The mean of a grid's values; None without any."""
    summary = summarise(grid)
    return summary.mean if summary else None
