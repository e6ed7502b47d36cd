"""The plots that a fence stands for: settings, axes, or the levels of a facet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gridatlas.assessment.assessment import Assessment
from gridatlas.charts.kinds import CannotShow, Plot, all_plots
from gridatlas.charts.tables import kind_of, tables_of
from gridatlas.model.problems import join_names, nearest, quote
from gridatlas.model.study import Factor
from gridatlas.pages.anatomy import plot_row
from gridatlas.pages.fence import Entry, Fence, FenceError, no_study
from gridatlas.pages.figure import FigureRow
from gridatlas.table.study_table import Grid

Find = Callable[[Entry, Mapping[str, Assessment]], tuple[Assessment, Grid]]
"""Gives the grid at an address; FenceError where there is none."""
_OF_HEATMAPS = ("delta", "row", "column", "scale", "width")


def plots(fence: Fence, assessments: Mapping[str, Assessment], find: Find) -> FigureRow:
    """The plots that a fence asks for with `as`.

    Raises:
        FenceError: For an address that there isn't, or grids that such a plot can't be of.
    """
    kind = all_plots()[fence.option("as")]
    for option in _OF_HEATMAPS:
        if option in fence.options:
            wanted = "as: delta" if option == "delta" else "no `as`"
            raise fence.error(
                option,
                f"{option} with as: {kind.KIND}",
                f"remove one of the lines as and {option}, or write two fences",
                f"{option} with {wanted}",
            )
    if kind.OF_FACET:
        assessment, facet = _facet(fence, assessments)
        return _row(fence, assessment, kind, (), facet)
    chosen = [find(entry, assessments) for entry in fence.addresses]
    grids = tuple(grid for _, grid in chosen)
    assessment = chosen[0][0]
    if any(other is not assessment for other, _ in chosen):
        raise fence.error(
            "as",
            f"as: {kind.KIND} for grids of {len({id(other) for other, _ in chosen})} studies",
            "write a fence for each study",
            "grids of one study",
        )
    if tables_of(assessment, grids) is None:
        raise _not_alike(fence, assessment, grids)
    return _row(fence, assessment, kind, grids, None)


def _row(
    fence: Fence,
    assessment: Assessment,
    kind: type[Plot],
    grids: Sequence[Grid],
    facet: Factor | None,
) -> FigureRow:
    try:
        found = kind.asked(assessment, grids, facet)
    except CannotShow as error:
        raise fence.error("as", error.found, error.fix, error.expected) from error
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
    """The facet that the address of a plot that compares names: `study/facet`."""
    entry, *others = fence.addresses
    if others:
        raise fence.error(
            "as",
            f"as: {fence.option('as')} with {len(fence.addresses)} addresses",
            "write a fence for each",
            "one address: a study and one of its facets",
        )
    study_id, _, rest = entry.text.partition("/")
    if study_id not in assessments:
        fix = "correct the address, or add the study"
        raise no_study(study_id, assessments, entry.line, fix)
    assessment = assessments[study_id]
    facets = {facet.id: facet for facet in assessment.study.facets}
    study = assessment.study
    compared = [of for of in facets.values() if of.id in study.baseline or of.id in study.compare]
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
