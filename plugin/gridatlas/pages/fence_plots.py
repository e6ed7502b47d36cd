"""The plots that a fence stands for: settings, axes, or the levels of a facet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gridatlas.assessment.assessment import Assessment
from gridatlas.charts.kinds import Plot
from gridatlas.model.problems import join_names, nearest, quote
from gridatlas.model.study import Factor
from gridatlas.pages.anatomy import plot_row
from gridatlas.pages.dots import SETTINGS_UP_TO, dot_plot
from gridatlas.pages.fence import Entry, Fence, FenceError, no_study
from gridatlas.pages.figure import FigureRow
from gridatlas.pages.forest import forest_plot
from gridatlas.pages.plot_tables import Tables, kind_of, tables_of
from gridatlas.pages.profiles import LEVELS_UP_TO, axis_profiles
from gridatlas.table.study_table import Grid

Find = Callable[[Entry, Mapping[str, Assessment]], tuple[Assessment, Grid]]
"""Gives the grid at an address; FenceError where there is none."""
_OF_HEATMAPS = ("delta", "row", "column", "scale", "width")


def plots(fence: Fence, assessments: Mapping[str, Assessment], find: Find) -> FigureRow:
    """The plots that a fence asks for with `as`.

    Raises:
        FenceError: For an address that there isn't, or grids that such a plot can't be of.
    """
    kind = fence.option("as")
    for option in _OF_HEATMAPS:
        if option in fence.options:
            wanted = "as: delta" if option == "delta" else "no `as`"
            raise fence.error(
                option,
                f"{option} with as: {kind}",
                f"remove one of the lines as and {option}, or write two fences",
                f"{option} with {wanted}",
            )
    if kind == "forest":
        assessment, facet = _facet(fence, assessments)
        forest = forest_plot(assessment, facet)
        if forest is None:
            raise _no_forest(fence, assessment, facet)
        return _row(fence, assessment, (forest,), ())
    chosen = [find(entry, assessments) for entry in fence.addresses]
    grids = tuple(grid for _, grid in chosen)
    assessment = chosen[0][0]
    if any(other is not assessment for other, _ in chosen):
        raise fence.error(
            "as",
            f"as: {kind} for grids of {len({id(other) for other, _ in chosen})} studies",
            "write a fence for each study",
            "grids of one study",
        )
    tables = tables_of(assessment, grids)
    if tables is None:
        raise _not_alike(fence, assessment, grids)
    found = _settings(fence, tables) if kind == "dots" else _profiles(fence, tables)
    return _row(fence, assessment, found, grids)


def _settings(fence: Fence, tables: Tables) -> tuple[Plot, ...]:
    study = tables.study
    if study.metric.better is None:
        raise fence.error(
            "as",
            f"as: dots for {study.id}, whose metric has no `better`: none of them is the best",
            "write `as: profile`, or `better: higher` or `better: lower` in study.yml",
            "a metric that says which values are better",
        )
    if study.axes_are_conditions:
        raise fence.error(
            "as",
            f"as: dots for {study.id}, whose axes are conditions: none of them is the best",
            "write `as: profile`",
            "a study whose axes are settings to choose from",
        )
    plot = dot_plot(tables, always=True)
    if plot is None:
        number = len(study.x.levels) * len(study.y.levels)
        raise fence.error(
            "as",
            f"as: dots for {number:,} settings"
            if number > SETTINGS_UP_TO
            else "as: dots for settings of which most are alike, or fewer than two have a value",
            "remove the line, which shows the heatmap",
            f"2 to {SETTINGS_UP_TO:,} settings with different values",
        )
    return (plot,)


def _profiles(fence: Fence, tables: Tables) -> tuple[Plot, ...]:
    found = axis_profiles(tables.assessment, tables.grids)
    if not found:
        raise fence.error(
            "as",
            "as: profile for axes whose levels can't be compared: too few, too many, or never all "
            "with a value in one row",
            "remove the line, which shows the heatmap",
            f"an axis of 2 to {LEVELS_UP_TO} levels with different means",
        )
    return found


def _row(
    fence: Fence, assessment: Assessment, found: Sequence[Plot], grids: Sequence[Grid]
) -> FigureRow:
    row = plot_row(assessment, found, grids, None)
    compact = fence.option("compact") == "yes"
    figures = [replace(figure, compact=compact) for figure in row.figures]
    figures[0] = replace(figures[0], caption=fence.caption)
    return replace(row, figures=tuple(figures), title=fence.option("title"))


# --- addresses ----------------------------------------------------------------------------------


def _not_alike(fence: Fence, assessment: Assessment, grids: Sequence[Grid]) -> FenceError:
    """Grids of which no single question is asked."""
    study = assessment.study
    differing = [
        facet.id
        for at, facet in enumerate(study.facets)
        if len({grid.levels[at] for grid in grids}) > 1
    ]
    repeating = [facet.id for facet in study.facets if kind_of(study, facet) != "one"]
    expected = "one grid"
    if repeating:
        expected += f", or grids that differ in {join_names(repeating)} alone"
    return fence.error(
        "as",
        f"as: {fence.option('as')} for grids that differ in {join_names(differing)}"
        if differing
        else f"as: {fence.option('as')} for a mean of means",
        "write a fence for each, or compare them with `as: forest`",
        expected,
    )


def _facet(fence: Fence, assessments: Mapping[str, Assessment]) -> tuple[Assessment, Factor]:
    """The facet that the address of a forest plot names: `study/facet`."""
    entry, *others = fence.addresses
    if others:
        raise fence.error(
            "as",
            f"as: forest with {len(fence.addresses)} addresses",
            "write a fence for each",
            "one address: a study and one of its facets",
        )
    study_id, _, rest = entry.text.partition("/")
    if study_id not in assessments:
        fix = "correct the address, or add the study"
        raise no_study(study_id, assessments, entry.line, fix)
    assessment = assessments[study_id]
    facets = {facet.id: facet for facet in assessment.study.facets}
    compared = [facet for facet in facets.values() if _is_compared(assessment, facet)]
    if not rest and len(compared) == 1:
        return assessment, compared[0]
    if rest not in facets:
        near = nearest(rest, facets) or (compared[0].id if compared else "")
        raise FenceError(
            f"no facet {quote(rest)} in the study {study_id}"
            if rest
            else f"no facet of the study {study_id} named",
            f"{study_id}/{join_names(facets)}" if facets else "a study with facets",
            f"write {study_id}/{near}" if near else "name a study that compares levels",
            entry.line,
        )
    return assessment, facets[rest]


def _is_compared(assessment: Assessment, facet: Factor) -> bool:
    return facet.id in assessment.study.baseline or facet.id in assessment.study.compare


def _no_forest(fence: Fence, assessment: Assessment, facet: Factor) -> FenceError:
    study = assessment.study
    if not _is_compared(assessment, facet):
        return fence.error(
            "as",
            f"as: forest for {facet.id}, whose levels aren't compared",
            f"write `roles: {{{facet.id}: choice}}` in {study.id}, or name another facet",
            "a facet whose levels are a choice",
        )
    return fence.error(
        "as",
        f"as: forest for {facet.id}, where no difference can be tested",
        "write `as: delta`, which shows the differences without a test",
        "levels whose difference has an interval",
    )
