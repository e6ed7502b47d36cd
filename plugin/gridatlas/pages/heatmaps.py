"""Heatmaps side by side: of grids on a shared or their own scale, of differences, of readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.reruns import Rerun, Verdict
from gridatlas.charts.draw import draw_difference, draw_disagreement, draw_values, joint_scale
from gridatlas.charts.kinds import main_plots
from gridatlas.charts.kinds.heatmap import Heatmap, with_overrides
from gridatlas.charts.marks import NOT_COMPARED, NOT_RUN, RUNNING
from gridatlas.charts.views import as_whole, differences_view, grids_view
from gridatlas.model.format import many
from gridatlas.model.study import Levels, Point, point_slug
from gridatlas.pages.figure import Figure, FigureRow, Section
from gridatlas.table.differences import Difference, subtract
from gridatlas.table.grids import readings_by_cell
from gridatlas.table.study_table import Grid


def disagreement_figures(assessment: Assessment) -> tuple[Figure, ...]:
    """A heatmap of each grid whose readings differ somewhere, on one scale."""
    apart: dict[Levels, dict[Point, Decimal]] = {}
    for disagreement in assessment.agreement.disagreements:
        apart.setdefault(disagreement.levels, {})[disagreement.point] = disagreement.difference
    largest = max((value for cells in apart.values() for value in cells.values()), default=0)
    figures = []
    for levels, cells in apart.items():
        if levels not in assessment.results.grids:
            continue
        grid = assessment.results.grids[levels]
        compared = {
            point: cells.get(point, Decimal(0))
            for point, given in zip(grid.keys, readings_by_cell(grid), strict=True)
            if sum(cell.value is not None for _, cell in given) > 1
        }
        drawn = draw_disagreement(grid, compared, largest)
        says = f"The readings differ in {len(cells)} of {many(len(compared), 'cell')}."
        figures.append(Figure(drawn, grid, says=says, compact=True))
    return tuple(figures)


def figures_of(
    chosen: Sequence[tuple[Assessment, Grid]], compact: bool = False
) -> tuple[Figure, ...]:
    """The pictures of single grids, each with what it supports by itself."""
    figures = []
    for assessment, grid in chosen:
        answer = assessment.grid_answers.get(grid.levels)
        view = grids_view(assessment, [grid], answer)
        figures.append(
            Figure(
                next(main_plots(assessment, [grid]), as_whole(view.heatmaps[0])),
                grid,
                says=view.caption,
                compact=compact,
                uncertainty=assessment.uncertainty.of(grid),
                rerun=assessment.rerun(grid),
            )
        )
    return tuple(figures)


SIGNS: Mapping[Verdict, str] = {"agrees": "=", "differs": "≠", "too few to tell": "?"}
"""What stands after a difference; a cell that isn't testable has none."""


def rerun_figures(assessment: Assessment, rerun: Rerun) -> tuple[Figure, ...]:
    """What was published, what was measured again on the same scale, and the difference."""
    grid, again = rerun.grid, rerun.again
    difference = subtract(again, grid, None)
    keys = {(x.key, y.key): point_slug(x, y) for x, y in grid.places}
    reasons = {
        keys[point]: RUNNING if cell.verdict == "running" else NOT_RUN
        for point, cell in rerun.cells.items()
        if cell.again.value is None and cell.again.state == "missing"
    }
    unpublished = {
        keys[point]: NOT_COMPARED
        for point, cell in rerun.cells.items()
        if cell.published.value is None and cell.again.value is not None
    }
    signs = {
        keys[point]: f"{SIGNS[cell.verdict]} {cell.verdict}"
        for point, cell in rerun.cells.items()
        if cell.verdict in SIGNS
    }
    # Of both: what was measured again may lie beyond all that was published.
    scale = joint_scale([grid, again], log=assessment.log)
    published = with_overrides(draw_values(grid, scale), f"{grid.label}, published")
    measured = with_overrides(draw_values(again, scale), f"{grid.label}, measured again", reasons)
    title = f"{grid.label}, measured again − published"
    delta = with_overrides(draw_difference(difference), title, reasons | unpublished, signs)
    occurring = {cell.verdict for cell in rerun.cells.values()}
    legend = [f"{sign} {verdict}" for verdict, sign in SIGNS.items() if verdict in occurring]
    figures = (
        Figure(published, grid, says=ONE_SCALE, uncertainty=assessment.uncertainty.of(grid)),
        Figure(measured, again, says=ONE_SCALE, again=True),
        Figure(delta, difference, says=signed(delta, legend), again=True),
    )
    return tuple(replace(figure, rerun=rerun, compact=True) for figure in figures)


ONE_SCALE = "One colour scale for both."


def signed(heatmap: Heatmap, legend: Sequence[str]) -> str:
    """What a caption says of the signs behind differences."""
    if not legend:
        return ""
    if not heatmap.printed:
        return "Verdicts have no room in its cells: they are below it, or in the JSON."
    return f"{', '.join(legend)}."


def difference_figures(
    chosen: Sequence[tuple[Assessment, Difference]], compact: bool = False
) -> tuple[Figure, ...]:
    """The pictures of single differences."""
    figures = []
    for assessment, difference in chosen:
        view = differences_view(assessment, [difference])
        heatmap = as_whole(view.heatmaps[0])
        figures.append(Figure(heatmap, difference, says=view.caption, compact=compact))
    return tuple(figures)


# --- sections of a page -------------------------------------------------------------------------


def single_row(heading: str, key: str, figures: tuple[Figure, ...]) -> Section:
    """A section of one row."""
    return Section(heading, (FigureRow(key, figures),))
