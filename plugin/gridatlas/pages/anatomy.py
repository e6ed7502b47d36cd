"""What a page of results shows, in the order of its readers' questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from gridatlas.assessment.assessment import Assessment
from gridatlas.charts.kinds import Place, Plot, all_plots
from gridatlas.charts.tables import tables_of
from gridatlas.model.study import Factor, Level
from gridatlas.pages.figure import Figure, FigureRow, PlotSubject, Section
from gridatlas.pages.leaderboard import Board, board_of
from gridatlas.pages.multiples import (
    columns,
    in_common,
    inked,
    multiples,
    thumbnails,
    with_versions,
)
from gridatlas.table.differences import Difference, differences, pairs
from gridatlas.table.study_table import Grid

MOST_TWICE = 10
"""Grids of one facet up to which the page that compares levels has them side by side. Of more
facets, the pages of another facet's levels have them so."""

PLOTS = "plots"
"""Folder of the plots' downloads, beside the pages."""


def plot_row(
    assessment: Assessment,
    plots: Sequence[Plot],
    grids: Sequence[Grid],
    page: str | None,
    key: str = "",
) -> FigureRow:
    """Plots side by side.

    Args:
        page: The page's path below the study's; None for plots without files.
    """
    study = assessment.study
    tables = tables_of(assessment, grids)
    figures = []
    for plot in plots:
        folder = "/".join(part for part in (PLOTS, study.id, page) if part)
        address = "" if page is None else f"{folder}/{plot.name}"
        figures.append(Figure(plot, PlotSubject(study, address, tables.lead if tables else None)))
    return FigureRow(key, tuple(figures))


@dataclass(frozen=True, slots=True)
class Anatomy:
    """The figures of a page, by the place that they have on it.

    Attributes:
        main: Below the answer: what shows it, where that isn't a heatmap.
        leading: Below that: the values themselves, and what changes between them.
        charts: Below those: which setting, which axis, who is ahead.
        folded: Grids side by side, behind a heading that opens.
        found: Differences that the statistics put into words.
        board: The table of many names, which leads; the values are folded below it.
        studies: On the page of all studies, the heatmaps of each.
    """

    leading: tuple[FigureRow, ...]
    charts: tuple[FigureRow, ...] = ()
    folded: tuple[FigureRow, ...] = ()
    found: tuple[Difference, ...] = ()
    board: Board | None = None
    main: tuple[FigureRow, ...] = ()
    studies: tuple[Section, ...] = ()

    @property
    def sections(self) -> tuple[Section, ...]:
        """All its rows, from top to bottom."""
        return (
            Section("Picture", self.main),
            Section("Values", self.leading),
            Section("Charts", self.charts),
            Section("Heatmaps", self.folded),
            *self.studies,
        )

    @property
    def context(self) -> dict[str, Any]:
        """What templates place the figures by."""
        return {
            "main": [row.key for row in self.main if not _is_below(row)],
            "below": [row.key for row in self.main if _is_below(row)],
            "leading": [row.key for row in self.leading],
            "shown": self._shown,
            "common": in_common([row for row in self.leading if row.small]),
            "placed": {place: self._placed(place) for place in get_args(Place) if place != "main"},
            "folded": self.folded,
            "differences": self.found,
            "compared": any(row.key == "differences" for row in self.leading),
            "board": self.board,
            "more": {row.key[5:]: row.more for each in self.studies for row in each.rows},
        }

    @property
    def _shown(self) -> list[str]:
        return [row.key for row in (*self.leading, *self.charts)]

    def _placed(self, place: Place) -> list[str]:
        """The kinds of plots that answer a question of the page."""
        return [
            key for key, kind in all_plots().items() if place == kind.PLACE and key in self._shown
        ]


def _is_below(row: FigureRow) -> bool:
    return any(figure.plot and figure.plot.below_values for figure in row.figures)


def level_anatomy(
    assessment: Assessment, facet: Factor, level: Level, grids: tuple[Grid, ...]
) -> Anatomy:
    """A level: its grids, what changes from the baseline or between another facet's levels."""
    results = assessment.results
    page = f"{facet.id}/{level.slug}"
    main = main_pictures(assessment, grids, page)
    baseline = results.study.baseline.get(facet.id)
    if baseline is not None and baseline != level.key:
        beside = [results.neighbour(grid, facet.id, baseline) for grid in grids]
        found = _among(differences(results, facet, grids), [*grids, *filter(None, beside)])
        rows = (*_changes(assessment, found, page), values_row(assessment, grids, page))
        return Anatomy(rows, found=found, main=main)
    for other in results.study.facets:
        if other != facet and pairs(results, other):
            found = _among(differences(results, other, grids), grids)
            rows = (values_row(assessment, grids, page), *_changes(assessment, found, page))
            return Anatomy(rows, found=found, main=main)
    return _of_values(assessment, grids, page)


def _among(found: Sequence[Difference], grids: Sequence[Grid]) -> tuple[Difference, ...]:
    levels = {grid.levels for grid in grids}
    return tuple(of for of in found if {of.first.levels, of.second.levels} <= levels)


def _of_values(assessment: Assessment, grids: tuple[Grid, ...], page: str) -> Anatomy:
    """The values themselves, and the plots or the table that answer."""
    leading = (values_row(assessment, grids, page),)
    board = board_of(assessment.study, grids, assessment.answers.get(page))
    if board:
        return Anatomy(leading, board=board)
    main = main_pictures(assessment, grids, page)
    return Anatomy(leading, answering(assessment, grids, page), main=main)


def facet_anatomy(assessment: Assessment, facet: Factor) -> Anatomy:
    """The levels of a facet against each other; the grids themselves are folded."""
    grids = assessment.results.without_repeats(assessment.results.grids.values(), facet.id)
    found = differences(assessment.results, facet, grids)
    main = main_pictures(assessment, grids, facet.id, facet)
    if any(figure.plot and figure.plot.before_values for row in main for figure in row.figures):
        return Anatomy((values_row(assessment, grids, facet.id),), found=found, main=main)
    ahead = answering(assessment, grids, facet.id, facet) if found else ()
    leading = _changes(assessment, found, facet.id) if found else columns(assessment, facet)
    again = found and len(assessment.study.facets) == 1 and len(grids) <= MOST_TWICE
    folded = (multiples(assessment, grids, "grids-all", facet.id),) if again else ()
    return Anatomy((*ahead, *leading), folded=folded, found=found, main=main)


def study_anatomy(assessment: Assessment) -> Anatomy:
    """A study: its levels side by side; one without facets shows its grid itself."""
    facet = next(iter(assessment.study.facets), None)
    grids = tuple(assessment.results.grids.values())
    if facet is None:
        return _of_values(assessment, grids, "")
    board = board_of(assessment.study, grids, assessment.answers.get(""))
    main = () if board else main_pictures(assessment, grids, "", facet)
    return Anatomy(columns(assessment, facet, compared=True), board=board, main=main)


def main_pictures(
    assessment: Assessment, grids: Sequence[Grid], page: str, facet: Factor | None = None
) -> tuple[FigureRow, ...]:
    """What shows the answer in the shape of the data; none where heatmaps do. As `answering`."""
    return _rows(assessment, grids, page, facet, ("main",))


def answering(
    assessment: Assessment, grids: Sequence[Grid], page: str, facet: Factor | None = None
) -> tuple[FigureRow, ...]:
    """The plots that answer a page's questions, a row per kind, as far as data carry them.

    Args:
        page: The page's path below the study's.
        facet: Whose levels the page compares; None where it asks for settings and axes.
    """
    return _rows(assessment, grids, page, facet, ("ahead",) if facet else ("settings", "axes"))


def _rows(
    assessment: Assessment,
    grids: Sequence[Grid],
    page: str,
    facet: Factor | None,
    places: tuple[Place, ...],
) -> tuple[FigureRow, ...]:
    return tuple(
        plot_row(assessment, plots, grids, page, kind.KIND)
        for kind in all_plots().values()
        if kind.place(assessment.study) in places and (plots := kind.of(assessment, grids, facet))
    )


def values_row(assessment: Assessment, grids: tuple[Grid, ...], page: str) -> FigureRow:
    """The values of grids side by side.

    Args:
        page: The page's path below the study's.
    """
    return with_versions(assessment, multiples(assessment, grids, "grids", page), grids, page)


def _changes(
    assessment: Assessment, found: tuple[Difference, ...], page: str
) -> tuple[FigureRow, ...]:
    return (inked(assessment, found, page=page),) if found else ()


def overview_row(assessment: Assessment) -> FigureRow:
    """The heatmaps that stand for a study among others."""
    return thumbnails(assessment)
