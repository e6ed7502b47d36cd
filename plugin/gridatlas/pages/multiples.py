"""Small multiples: heatmaps in one row with one legend and one line of actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.rivals import alone
from gridatlas.assessment.uncertainty import GridUncertainty
from gridatlas.charts.draw import colours_of, drawn_values
from gridatlas.charts.findings import assertions_named, tuned_levels
from gridatlas.charts.kinds.sweep import Sweep
from gridatlas.charts.views import as_thumbnail, differences_view, grids_view
from gridatlas.model.format import many
from gridatlas.model.study import Factor, Level
from gridatlas.pages.figure import Figure, FigureRow, legend_of
from gridatlas.table.differences import Difference, subtract
from gridatlas.table.study_table import Grid


def multiples(
    assessment: Assessment, grids: Sequence[Grid], key: str, page: str = "", *, plain: bool = False
) -> FigureRow:
    """Grids of one study side by side: equal cells, one colour scale, one legend.

    Args:
        key: Names the row on its page.
        page: Path of the page below the study's, whose answer the outlines are of: empty for the
            study's own, `model/r1-qwen` for a level's.
        plain: Whether the colours are values in any case.
    """
    answer = assessment.answers.get(page)
    view = grids_view(assessment, grids, answer, plain=plain)
    figures = tuple(
        Figure(
            heatmap,
            grid,
            uncertainty=assessment.uncertainty.of(grid),
            rerun=assessment.rerun(grid),
            name=name,
            subtitle=subtitle,
        )
        for grid, heatmap, name, subtitle in zip(
            grids, view.heatmaps, _names(grids), view.subtitles, strict=True
        )
    )
    return FigureRow(key, figures, says=view.caption, legend=legend_of(view.heatmaps))


SWITCHED_UP_TO = 2_000
"""Cells of a row up to which it comes in other versions, too: each is as large as the row."""


def with_versions(
    assessment: Assessment, row: FigureRow, grids: Sequence[Grid], page: str
) -> FigureRow:
    """A row that a reader can switch: to plain values, and to readings that give other ones."""
    if sum(len(grid.columns) for grid in grids) > SWITCHED_UP_TO:
        return row
    answer, found = assessment.answers.get(page), []
    if colours_of(assessment) == "means":
        plain = multiples(assessment, grids, row.key, page, plain=True)
        found.append(("plain values", "", plain))
    for other in assessment.others:
        label = other.reading.label
        given = alone(assessment.results, other.reading, grids)
        view = grids_view(assessment, given, shown=grids)
        if not any(mark.corner for heatmap in view.heatmaps for mark in heatmap.marks):
            continue
        values = sum(int(grid.columns.value.defined.sum()) for grid in given if not grid.computed)
        lines = [line for line in answer.evidence if label in line] if answer else []
        becomes = " ".join(lines) or "The answer above is for the shown reading."
        figures = tuple(
            replace(figure, chart=heatmap, shows=grid, subtitle=subtitle, rerun=None,
                    uncertainty=GridUncertainty.unknown(assessment.study))
            for figure, heatmap, grid, subtitle in zip(
                row.figures, view.heatmaps, given, view.subtitles, strict=True)
        )  # fmt: skip
        of = FigureRow(row.key, figures, says=view.caption, legend=legend_of(view.heatmaps))
        found.append((label, f"{label} gives {many(values, 'value')} here. {becomes}", of))
    return replace(row, versions=tuple(found))


def inked(
    assessment: Assessment,
    differences: Sequence[Difference],
    key: str = "differences",
    page: str = "",
) -> FigureRow:
    """Differences of levels side by side.

    Args:
        key: Names the row on its page.
        page: As in `multiples`.
    """
    view = differences_view(assessment, differences, assessment.answers.get(page))
    figures = tuple(
        Figure(heatmap, difference, name=name, subtitle=subtitle)
        for difference, heatmap, name, subtitle in zip(
            differences, view.heatmaps, _pairs(differences), view.subtitles, strict=True
        )
    )
    return FigureRow(key, figures, says=view.caption, legend=legend_of(view.heatmaps))


def _pairs(differences: Sequence[Difference]) -> list[str]:
    """What tells differences apart: the levels compared, and those that not all of them share."""
    return _telling([of.parts for of in differences]) or [
        f"{of.levels[1].label} − {of.levels[0].label}" for of in differences
    ]


THUMBNAILS = 6
"""Heatmaps that stand for a study or a level."""


def thumbnails(assessment: Assessment, page: str = "", key: str = "") -> FigureRow:
    """Small heatmaps of exactly what a headline names: no numbers, no axes, no actions.

    Of pairs that it asserts their differences, with what is subtracted in the titles; else grids:
    the aggregates, or the first.

    Args:
        page: Path of the page below the study's that they stand for; empty for the study.
        key: Names the row on its page; without, `lead-<study>`.
    """
    key = key or f"lead-{assessment.study.id}"
    differences = _named(assessment, page)[:THUMBNAILS]
    if differences:
        row = inked(assessment, differences, key, page)
        where = _telling([of.parts for of in differences]) or [""] * len(differences)
        names = [_subtracted(*of) for of in zip(differences, where, strict=True)]
    else:
        row = multiples(assessment, _leading(assessment, page)[:THUMBNAILS], key, page)
        names = [figure.name for figure in row.figures]
    if sweeps := _sweeps(assessment, row):
        return replace(row, figures=sweeps, legend=None, small=True)
    figures = tuple(
        replace(
            figure,
            chart=as_thumbnail(figure.heatmap),
            name=name,
            subtitle=figure.subtitle.partition(" · ")[0],
            compact=True,
        )
        for figure, name in zip(row.figures, names, strict=True)
    )
    legend = legend_of([figure.heatmap for figure in figures])
    return replace(row, figures=figures, legend=legend, small=True)


def _sweeps(assessment: Assessment, row: FigureRow) -> tuple[Figure, ...]:
    """The figures of a row as lines on the study's scale; empty where its shape is another."""
    grids = [figure.grid for figure in row.figures]
    plots = [plot for grid in grids if grid for plot in Sweep.of(assessment, [grid])]
    if len(plots) < len(grids):
        return ()
    values = [of for grid in assessment.results.grids.values() for of in drawn_values(grid)]
    domain = min(values), max(values)
    return tuple(
        replace(
            figure,
            chart=plot.small(domain),
            subtitle=figure.subtitle.partition(" · ")[0],
            compact=True,
        )
        for figure, plot in zip(row.figures, plots, strict=True)
    )


def _subtracted(difference: Difference, name: str) -> str:
    """The two levels compared, and where: `R1-Qwen − R1-Llama | AIME25`."""
    pair = f"{difference.levels[1].label} − {difference.levels[0].label}"
    return name if pair in name else " | ".join(filter(None, (pair, name)))


def _named(assessment: Assessment, page: str) -> list[Difference]:
    """The differences of the pairs that a page's headline asserts, the better level first."""
    study, found = assessment.study, []
    for stated in assertions_named(assessment.answers.get(page)):
        factors = stated.factor.split(" × ")
        facet = next((facet for facet in study.facets if facet.id == factors[0]), None)
        if stated.kind not in ("pair", "block") or facet is None:
            continue
        second, first = (_level(facet, label) for label in stated.levels[:2])
        if first is None or second is None:
            continue
        at = dict(zip(factors[1:], stated.levels[2:], strict=False))
        for grid in _whole(_at(assessment, page), facet, at):
            other = assessment.results.neighbour(grid, facet.id, first.key)
            if grid.names[study.facets.index(facet)] == second and other is not None:
                found.append(subtract(grid, other, facet))
    return found


def _level(facet: Factor, label: str) -> Level | None:
    return next((level for level in facet.levels if level.label == label), None)


def _whole(grids: Sequence[Grid], facet: Factor, at: dict[str, str]) -> list[Grid]:
    """Grids at these levels; of facets that aren't named their means, where there are some."""
    study, found = grids[0].study if grids else None, list(grids)
    for place, other in enumerate(study.facets if study else ()):
        if other == facet:
            continue
        chosen = [grid for grid in found if grid.names[place].label == at.get(other.id)]
        means = [grid for grid in found if grid.names[place].aggregate]
        found = chosen if other.id in at else means or found
    return found


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
    grids, named = _at(assessment, page), assertions_named(assessment.answers.get(page))
    tuned = {label for of in tuned_levels(assessment.study, named) for label in of[1:]}
    if tuned:
        return [grid for grid in grids if tuned & {level.label for level in grid.names}]
    if "/" in page or len(grids) <= THUMBNAILS:
        return list(grids)
    return [grid for grid in grids if grid.aggregate] or list(grids)


def _names(grids: Sequence[Grid]) -> list[str]:
    """What tells grids apart: the levels that not all of them share."""
    labels = [tuple(level.label for level in grid.names) for grid in grids]
    return _telling(labels) or [grid.label for grid in grids]


def _telling(parts: Sequence[Sequence[str]]) -> list[str]:
    """Of names in parts, those parts that not all names share; empty where they share all."""
    differing = [place for place, texts in enumerate(zip(*parts, strict=True)) if len({*texts}) > 1]
    return [" | ".join(texts[place] for place in differing) for texts in parts if differing]
