"""Small multiples: heatmaps in one row with one legend and one line of actions."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import replace

from gridatlas.analysis.said import Answer, Assertion
from gridatlas.analysis.words import listed, with_factor
from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.rivals import alone
from gridatlas.assessment.uncertainty import GridUncertainty
from gridatlas.charts.draw import colours_of, drawn_values, sign_of
from gridatlas.charts.findings import assertions_named, nearest_behind, occurs, tuned_levels
from gridatlas.charts.kinds.sweep import Sweep
from gridatlas.charts.tables import repeat_texts
from gridatlas.charts.views import View, as_thumbnail, differences_view, grids_view, of_one_size
from gridatlas.model.format import many
from gridatlas.model.study import Factor, Level
from gridatlas.pages.figure import Figure, FigureRow, legend_of
from gridatlas.table.differences import Difference, differences, subtract
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
        Figure(heatmap, grid, uncertainty=assessment.uncertainty.of(grid), name=name,
               subtitle=subtitle, repeats=repeat_texts(assessment, grid),
               rerun=assessment.rerun(grid))
        for grid, heatmap, name, subtitle in zip(
            grids, view.heatmaps, _names(grids), view.subtitles, strict=True)
    )  # fmt: skip
    return _row(key, _first(figures, answer), view)


SHOWN = 6
"""Heatmaps of a row that stand open: the others are folded."""
LINE = 910
"""Pixels of heatmaps that fit one line beside a card: beyond, two pairs of levels stand open."""


def _first(
    figures: tuple[Figure, ...], answer: Answer | None, pairs: Sequence[tuple[Level, Level]] = ()
) -> tuple[Figure, ...]:
    """Fold all but the first six: those large or outlined, then as the headline names them.

    Of differences that don't fit one line, those of the first two pairs of levels.
    """
    headline = answer.headline if answer else ""

    def rank(at: int) -> tuple[bool, int]:
        figure = figures[at]
        parts = map(re.escape, figure.name.split(" | "))
        named = [found.start() for part in parts
                 if (found := re.search(rf"(?<!\w){part}(?!\w)", headline))]  # fmt: skip
        leads = figure.heatmap.size == "large" or bool(figure.heatmap.outlined)
        return not leads, min(named, default=len(headline))

    ranked = sorted(range(len(figures)), key=rank)
    few = 2 if sum(figure.heatmap.across for figure in figures) > LINE else None
    two = [*dict.fromkeys(pairs[at] for at in ranked if pairs)][:few]
    first = [at for at in ranked if not pairs or pairs[at] in two][:SHOWN]
    return tuple(replace(figure, folded=at not in first) for at, figure in enumerate(figures))


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
        says = f"{label} gives {many(values, 'value')} here. {becomes}"
        found.append((label, says, _row(row.key, figures, view)))
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
    answer = assessment.answers.get(page)
    view = differences_view(assessment, differences, answer, page.rpartition("/")[0])
    figures = tuple(
        Figure(heatmap, difference, name=name, subtitle=subtitle)
        for difference, heatmap, name, subtitle in zip(
            differences, view.heatmaps, _pairs(assessment, differences), view.subtitles, strict=True
        )
    )
    return _row(key, _first(figures, answer, [of.levels for of in differences]), view)


def _row(key: str, figures: tuple[Figure, ...], view: View) -> FigureRow:
    return FigureRow(key, figures, says=view.caption, legend=legend_of(view.heatmaps))


def _pairs(
    assessment: Assessment, found: Sequence[Difference], *, always: bool = False
) -> list[str]:
    """What tells differences apart: the levels compared, and those that not all of them share.

    Args:
        always: Whether the levels compared stand there anyhow: `R1-Qwen − R1-Llama | AIME25`.
    """
    sign = sign_of(assessment.log)
    names = _telling([of.parts(sign) for of in found]) or [""] * len(found)
    pairs = [f" {sign} ".join(level.label for level in reversed(of.levels)) for of in found]
    return [
        name if pair in name or (name and not always) else " | ".join(filter(None, (pair, name)))
        for pair, name in zip(pairs, names, strict=True)
    ]


THUMBNAILS = 6
"""Heatmaps that stand for a study."""
COLUMNS = 6
"""Heatmaps on the page that lists a facet's levels, one of their comparison included."""


def thumbnails(assessment: Assessment) -> FigureRow:
    """Small heatmaps of exactly what a study's headline names: no numbers, no axes, no actions.

    Of pairs that it asserts their differences, with what is subtracted in the titles; else grids:
    the aggregates, or the first.
    """
    key = f"lead-{assessment.study.id}"
    named, grids = assertions_named(assessment.answers.get("")), _leading(assessment)
    differences = _asserted(assessment, "", named)
    if differences:
        row = inked(assessment, differences[:THUMBNAILS], key)
        names = _pairs(assessment, differences[:THUMBNAILS], always=True)
    else:
        row = multiples(assessment, grids[:THUMBNAILS], key)
        names = [figure.name for figure in row.figures]
    if sweeps := _sweeps(assessment, row):
        return replace(row, figures=sweeps, legend=None, small=True)
    figures = tuple(
        replace(_small(figure, name), chart=as_thumbnail(figure.heatmap))
        for figure, name in zip(row.figures, names, strict=True)
    )
    legend = legend_of([figure.heatmap for figure in figures])
    more = len(differences or grids) - len(figures)
    return replace(row, figures=figures, legend=legend, small=True, more=more)


def _small(figure: Figure, name: str) -> Figure:
    return replace(figure, name=name, subtitle=figure.subtitle.partition(" · ")[0], compact=True)


def columns(
    assessment: Assessment, facet: Factor, *, compared: bool = False
) -> tuple[FigureRow, ...]:
    """A heatmap with numbers for each level of a facet: the grid that sums it up.

    Args:
        compared: Whether there is one of their comparison, too: of what the headline names, else of
            the grids that sum up the levels.
    """
    rows = [
        _standing_for(assessment, facet, f"level-{level.slug}", f"{facet.id}/{level.slug}")
        for level in assessment.results.levels(facet.id)[: COLUMNS - compared]
    ]
    together = compared and _together(assessment, facet)
    return (*_as_columns(rows), *(_as_columns([together]) if together else ()))


def _standing_for(assessment: Assessment, facet: Factor, key: str, page: str) -> FigureRow:
    """A level's heatmap: of the pair that its headline names, else the grid that sums it up."""
    own, whole = assessment.answers.get(page), assessment.answers.get("")
    stated = [*assertions_named(own), *assertions_named(whole), *(own.compared if own else ())]
    head = f" {own.headline.casefold()} " if own else ""
    named = [of for of in stated if all(occurs(x, head) for x in of.levels[:2])]
    found = [of for of in _asserted(assessment, page, named) if of.facet != facet]
    if found:
        return _alone(assessment, found, key, page)
    return multiples(assessment, [_whole_of(_at(assessment, page))], key, page)


def _together(assessment: Assessment, facet: Factor) -> FigureRow | None:
    """What stands for all levels: what the headline says, else their difference, or their mean.

    Of levels that are each tuned the better one's grid: a difference is at equal settings.
    """
    answer, results = assessment.answers.get(facet.id), assessment.results
    named = assertions_named(answer) or nearest_behind(answer)
    if tuned := tuned_levels(assessment.study, named):
        grids = [grid for grid in results.grids.values()
                 if any(level.label == tuned[0][1] for level in grid.names)]  # fmt: skip
        return multiples(assessment, [_whole_of(grids)], "compared", facet.id)
    said = [of for of in _asserted(assessment, facet.id, named) if of.facet == facet]
    if found := said or differences(results, facet):
        return _alone(assessment, found, "compared", facet.id)
    whole, folded = _whole_of(_at(assessment, "")), len(results.levels(facet.id)) >= COLUMNS
    return multiples(assessment, [whole], "compared") if whole.aggregate and folded else None


def _alone(assessment: Assessment, found: Sequence[Difference], key: str, page: str) -> FigureRow:
    """The difference that sums up most of what the others have."""
    of = max(found, key=lambda of: _summed(of.second))
    row, parts = inked(assessment, [of], key, page), of.parts(sign_of(assessment.log))
    return replace(row, figures=(replace(row.figures[0], name=_with_facets(of.second, parts)),))


def _whole_of(grids: Sequence[Grid]) -> Grid:
    """The grid that sums up most of what the others have."""
    return max(grids, key=_summed)


def _summed(grid: Grid) -> int:
    """Of how many facets a grid has the mean."""
    return sum(bool(level.aggregate) for level in grid.names)


def _as_columns(rows: Sequence[FigureRow]) -> tuple[FigureRow, ...]:
    """Rows of one heatmap each, with cells of one size and numbers, for columns of a page."""
    panels = [
        replace(row.figures[0].heatmap, size="panel", y_means=(), y_asserted=()) for row in rows
    ]
    figures = [_small(row.figures[0], row.figures[0].name) for row in rows]
    return tuple(
        replace(row, figures=(replace(figure, chart=panel),), small=True)
        for row, figure, panel in zip(rows, figures, of_one_size(panels), strict=True)
    )


def in_common(rows: Sequence[FigureRow]) -> tuple[FigureRow, ...]:
    """What columns have in common: a legend and captions for values, and for differences."""
    found = []
    for kind in (Grid, Difference):
        own = [row for row in rows if isinstance(row.figures[0].shows, kind)]
        if own:
            figures = tuple(row.figures[0] for row in own)
            grids = [figure.grid for figure in figures if figure.grid]
            parts = [figure.name.split(" | ") for figure in figures]
            names = _names(grids) if grids else _telling(parts) or [figures[0].name]
            lines = [re.split(r"(?<=\.) ", row.says) for row in own]
            sentences = [*zip(names, lines, strict=True)]
            shared = [of for of in sentences[0][1] if all(of in lines for _, lines in sentences)]
            some = dict.fromkeys(line for _, of in sentences for line in of if line not in shared)
            for line in some:
                of_these = dict.fromkeys(name for name, of in sentences if line in of)
                shared.append(f"{listed([*of_these])}: {line}")
            says = " ".join(shared)
            legend = legend_of([figure.heatmap for figure in figures])
            found.append(FigureRow(kind.__name__, figures, says=says, legend=legend))
    return tuple(found)


def _sweeps(assessment: Assessment, row: FigureRow) -> tuple[Figure, ...]:
    """The figures of a row as lines on the study's scale; empty where its shape is another."""
    grids = [figure.grid for figure in row.figures]
    plots = [plot for grid in grids if grid for plot in Sweep.of(assessment, [grid])]
    if len(plots) < len(grids):
        return ()
    values = [of for grid in assessment.results.grids.values() for of in drawn_values(grid)]
    domain = min(values), max(values)
    return tuple(
        replace(_small(figure, figure.name), chart=plot.small(domain))
        for figure, plot in zip(row.figures, plots, strict=True)
    )


def _asserted(
    assessment: Assessment,
    page: str,
    assertions: Sequence[Assertion],
    kinds: Container[str] = ("pair", "block"),
) -> list[Difference]:
    study, found = assessment.study, []
    for stated in assertions:
        factors = stated.factor.split(" × ")
        facet = next((facet for facet in study.facets if facet.id == factors[0]), None)
        if stated.kind not in kinds or facet is None or len(stated.levels) < 2:
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


def _leading(assessment: Assessment) -> list[Grid]:
    """The grids that stand for a study."""
    grids = tuple(assessment.results.grids.values())
    named = assertions_named(assessment.answers.get(""))
    tuned = {label for of in tuned_levels(assessment.study, named) for label in of[1:]}
    if tuned:
        return [grid for grid in grids if tuned & {level.label for level in grid.names}]
    if len(grids) <= THUMBNAILS:
        return list(grids)
    return [grid for grid in grids if grid.aggregate] or list(grids)


def _names(grids: Sequence[Grid]) -> list[str]:
    """What tells grids apart: the levels that not all of them share."""
    labels = [tuple(level.label for level in grid.names) for grid in grids]
    whole = [_with_facets(grid, of) for grid, of in zip(grids, labels, strict=True)]
    return _telling(labels) or [name or grids[0].label for name in whole]


def _with_facets(grid: Grid, labels: Sequence[str]) -> str:
    """The names of levels, of numbers behind those of their facets: `Method − Before | Seed 1`."""
    return " | ".join(map(with_factor, (facet.label for facet in grid.study.facets), labels))


def _telling(parts: Sequence[Sequence[str]]) -> list[str]:
    """Of names in parts, those parts that not all names share; empty where they share all."""
    differing = [place for place, texts in enumerate(zip(*parts, strict=True)) if len({*texts}) > 1]
    return [" | ".join(texts[place] for place in differing) for texts in parts if differing]
