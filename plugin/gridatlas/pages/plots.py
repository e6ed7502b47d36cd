"""Plots that answer, as rows of a page: which setting, which axis, who is ahead."""

from __future__ import annotations

from collections.abc import Sequence

from gridatlas.assessment.assessment import Assessment
from gridatlas.charts.dots import DotPlot
from gridatlas.charts.forest import Forest
from gridatlas.charts.profile import Profile
from gridatlas.charts.render import Plot
from gridatlas.model.study import Factor, Grid
from gridatlas.pages.dots import settings_plot
from gridatlas.pages.figure import Figure, FigureRow, PlotSubject
from gridatlas.pages.forest import forest_plot
from gridatlas.pages.plot_tables import tables_of
from gridatlas.pages.profiles import axis_profiles

__all__ = [
    "axis_profiles",
    "forest_plot",
    "forest_row",
    "plot_row",
    "profiles_row",
    "settings_plot",
    "settings_row",
]
PLOTS = "plots"
"""Folder of the plots' downloads, beside the pages."""


def settings_row(
    assessment: Assessment, grids: Sequence[Grid], page: str = "", key: str = "dots"
) -> FigureRow | None:
    """The dot plot of a page as a row; None where the data don't carry it.

    Args:
        page: The page's path below the study's, as `assessment.answers` has it.
    """
    plot = settings_plot(assessment, grids)
    if plot is None:
        return None
    return plot_row(assessment, (plot,), grids, page, key)


def profiles_row(
    assessment: Assessment, grids: Sequence[Grid], page: str = "", key: str = "profiles"
) -> FigureRow | None:
    """The profiles of a page as a row; as `settings_row`."""
    plots = axis_profiles(assessment, grids)
    return plot_row(assessment, plots, grids, page, key) if plots else None


def forest_row(assessment: Assessment, facet: Factor, key: str = "forest") -> FigureRow | None:
    """The forest plot of the page that compares a facet's levels; as `settings_row`."""
    plot = forest_plot(assessment, facet)
    return plot_row(assessment, (plot,), (), facet.id, key) if plot else None


def plot_row(
    assessment: Assessment,
    plots: Sequence[Plot],
    grids: Sequence[Grid],
    page: str | None,
    key: str = "",
) -> FigureRow:
    """Plots side by side.

    Args:
        page: As in `settings_row`; None for plots without files.
    """
    study = assessment.study
    tables = tables_of(assessment, grids)
    figures = []
    for plot in plots:
        name = {DotPlot: "dots", Forest: "forest"}.get(type(plot), "profile")
        if isinstance(plot, Profile):
            name += f"-{plot.axis}"
        folder = "/".join(part for part in (PLOTS, study.id, page) if part)
        address = "" if page is None else f"{folder}/{name}"
        figures.append(Figure(plot, PlotSubject(study, address, tables.lead if tables else None)))
    return FigureRow(key, tuple(figures))
