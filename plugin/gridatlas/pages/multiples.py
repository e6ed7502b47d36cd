"""Small multiples: heatmaps in one row with one legend and one line of actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import UNTESTED
from gridatlas.charts.kinds.heatmap import Heatmap
from gridatlas.charts.palette import LIGHT
from gridatlas.charts.panels import (
    Rivals,
    as_thumbnail,
    differences_scale,
    draw_inked,
    draw_panel,
    mean_of,
    means_scale,
    of_one_size,
    values_scale,
)
from gridatlas.charts.vegalite import symbol
from gridatlas.pages.figure import Figure, FigureRow, Legend
from gridatlas.table.differences import Difference
from gridatlas.table.differences import differences as _differences
from gridatlas.table.study_table import Grid


def multiples(
    assessment: Assessment, grids: Sequence[Grid], key: str, page: str = "", *, plain: bool = False
) -> FigureRow:
    """Grids of one study side by side: equal cells, one colour scale, one legend.

    The colours are differences from each grid's mean, pale within chance, where the statistics are
    known and no baseline is set; else they are the values.

    Args:
        key: Names the row on its page.
        page: Path of the page below the study's, whose answer the colours follow: empty for the
            study's own, `model/r1-qwen` for a level's.
        plain: Whether the colours are values in any case.
    """
    answer = assessment.answers.get(page)
    asserted = answer is not None and answer.asserts
    evidence = not plain and _has_evidence(assessment, grids)
    scale = means_scale(grids) if evidence else values_scale(grids)
    rivals = [_rivals(assessment, grid, asserted) if evidence else None for grid in grids]
    panels = of_one_size(
        [draw_panel(grid, scale, found) for grid, found in zip(grids, rivals, strict=True)]
    )
    figures = tuple(
        Figure(
            panel,
            grid,
            "grids",
            len(grids),
            shared=True,
            uncertainty=assessment.uncertainty.of(grid),
            rerun=assessment.rerun(grid),
            asserted=asserted,
            name=name,
            mean=mean_of(grid),
        )
        for grid, panel, name in zip(grids, panels, _names(grids), strict=True)
    )
    legend = _legend([figure.heatmap for figure in figures])
    return FigureRow(
        key,
        figures,
        legend=replace(
            legend,
            scale=scale,
            plain=values_scale(grids) if evidence else None,
            asserted=asserted,
        ),
    )


def inked(
    assessment: Assessment, differences: Sequence[Difference], key: str = "differences"
) -> FigureRow:
    """Differences of levels side by side, with ink and numbers only where they are significant.

    Where nothing can be tested, all have their numbers.

    Args:
        key: Names the row on its page.
    """
    tests = [assessment.uncertainty.of_difference(difference) for difference in differences]
    scale = differences_scale(differences)
    study = assessment.study
    rising = not study.metric.falls
    panels = of_one_size(
        [
            draw_inked(of, scale, None if test.reason else test.significant)
            for of, test in zip(differences, tests, strict=True)
        ]
    )
    figures = []
    for difference, test, panel, name in zip(
        differences, tests, panels, _pairs(differences), strict=True
    ):
        better = test.higher if rising else test.differ - test.higher
        figures.append(
            Figure(
                panel,
                difference,
                "difference",
                len(differences),
                shared=True,
                name=name,
                mean=difference.mean,
                counts=None
                if test.reason or study.metric.better is None
                else (better, test.differ - better),
            )
        )
    legend = replace(
        _legend([figure.heatmap for figure in figures]),
        scale=scale,
        test=next((test.test for test in tests if not test.reason), ""),
        untested=next((test.reason for test in tests if test.reason), ""),
    )
    return FigureRow(key, tuple(figures), legend=legend)


def _pairs(differences: Sequence[Difference]) -> list[str]:
    """What tells differences apart: the levels compared, and those that not all of them share."""
    return _telling([of.parts for of in differences]) or [
        f"{of.levels[1].label} − {of.levels[0].label}" for of in differences
    ]


THUMBNAILS = 5
"""Heatmaps that stand for a study or a level."""


def thumbnails(assessment: Assessment, page: str = "", key: str = "") -> FigureRow:
    """Small heatmaps that stand for a study or a level: no numbers, no axes, no actions.

    Of a study that compares with a baseline, the differences that are tested, but of the baseline
    its own grids; else grids: the aggregates, or the first.

    Args:
        page: Path of the page below the study's that they stand for; empty for the study.
        key: Names the row on its page; without, `lead-<study>`.
    """
    key = key or f"lead-{assessment.study.id}"
    differences = _tested(assessment, page)
    if differences:
        row = inked(assessment, differences[:THUMBNAILS], key)
    else:
        row = multiples(assessment, _leading(assessment, page)[:THUMBNAILS], key, page)
    figures = (
        replace(figure, chart=as_thumbnail(figure.heatmap), compact=True) for figure in row.figures
    )
    return replace(row, figures=tuple(figures), small=True)


def _tested(assessment: Assessment, page: str) -> list[Difference]:
    """The differences to the baseline that are tested, of the last level that has some."""
    results, study = assessment.results, assessment.study
    facet_id, _, slug = page.partition("/")
    baseline = study.baseline.get(facet_id) if slug else None
    if baseline is not None and study.facet(facet_id).level(baseline).slug == slug:
        return []
    found = [
        difference
        for facet in study.facets
        if facet.id in study.baseline
        for difference in _differences(results, facet, _at(assessment, page))
        if not assessment.uncertainty.of_difference(difference).reason
    ]
    if page:
        return found
    return [of for of in found if of.levels == found[-1].levels and of.facet == found[-1].facet]


def _at(assessment: Assessment, page: str) -> tuple[Grid, ...]:
    """The grids of a level's page; of another page, all."""
    facet, _, slug = page.partition("/")
    grids = tuple(assessment.results.grids.values())
    if not slug:
        return grids
    place = [factor.id for factor in assessment.study.facets].index(facet)
    return tuple(grid for grid in grids if grid.names[place].slug == slug)


def _leading(assessment: Assessment, page: str) -> list[Grid]:
    """The grids that stand for a page."""
    grids = _at(assessment, page)
    if "/" in page or len(grids) <= THUMBNAILS:
        return list(grids)
    return [grid for grid in grids if grid.aggregate] or list(grids)


def _has_evidence(assessment: Assessment, grids: Sequence[Grid]) -> bool:
    """Whether the statistics decide on the colours: n is known, and nothing else is compared."""
    study = assessment.study
    if study.colour == "value" or study.baseline or not study.has_best:
        return False
    measured = [grid for grid in grids if not grid.aggregate] or grids
    return all(assessment.uncertainty.of(grid).cells for grid in measured)


def _rivals(assessment: Assessment, grid: Grid, asserted: bool) -> Rivals:
    """What tells the cells of a grid from its best; nothing where the page asserts nothing."""
    tested = grid.points_at(assessment.uncertainty.of(grid).may_be_best != UNTESTED)
    best_set = assessment.best_set(grid)
    if not asserted or not best_set or len(best_set) == len(tested):
        return Rivals()
    beaten = tested - best_set
    if len(best_set) == 1:
        return Rivals(beaten, sole=True)
    return Rivals(beaten, outlined=best_set)


def _names(grids: Sequence[Grid]) -> list[str]:
    """What tells grids apart: the levels that not all of them share."""
    labels = [tuple(level.label for level in grid.names) for grid in grids]
    return _telling(labels) or [grid.label for grid in grids]


def _telling(parts: Sequence[Sequence[str]]) -> list[str]:
    """Of names in parts, those parts that not all names share; empty where they share all."""
    differing = [place for place, texts in enumerate(zip(*parts, strict=True)) if len({*texts}) > 1]
    return [" | ".join(texts[place] for place in differing) for texts in parts if differing]


def _legend(heatmaps: Sequence[Heatmap]) -> Legend:
    """The marks that occur."""
    marks = [mark for heatmap in heatmaps for mark in heatmap.marks]
    fills = {mark.fill for mark in marks}
    absent = dict.fromkeys(mark.absent for mark in marks if mark.absent)
    best = [heatmap for heatmap in heatmaps if any(mark.best for mark in heatmap.marks)]
    return Legend(
        scale=values_scale(()),
        inked=not fills.isdisjoint(LIGHT["diverging"]),
        faded=not fills.isdisjoint(LIGHT["faded"]),
        dashed=any(heatmap.dashed for heatmap in best),
        sole=any(not heatmap.dashed for heatmap in best),
        rivals=any(heatmap.best_edges for heatmap in heatmaps),
        disputed=any(mark.disputed for mark in marks),
        region=next((heatmap.outline_label for heatmap in heatmaps if heatmap.outline), ""),
        absent=tuple((kind, symbol(kind)) for kind in absent),
    )
