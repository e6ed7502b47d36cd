"""A thumbnail on a page: a picture with the addresses of its cells, which links to its grid."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from gridatlas.model.study import Grid
from gridatlas.pages.figure import Figure
from gridatlas.pages.filters import figure_anchor
from gridatlas.pages.svg import as_picture, responsive, with_cell_ids, with_own_ids
from gridatlas.results.differences import Difference


def shown_grid(figure: Figure) -> Grid | None:
    """The grid that a thumbnail links to: of a difference, the second."""
    return figure.shows.second if isinstance(figure.shows, Difference) else figure.grid


def thumbnail(figure: Figure, svg: str, seen: set[str], link: str) -> Figure:
    """A figure with its picture; ids that the page hasn't yet are added to `seen`.

    Args:
        link: Of the page that shows its grid.
    """
    figure_id = figure_anchor(figure.grid) if figure.grid else ""
    if figure_id in seen:
        figure_id = ""
    if figure.grid and figure_id:
        seen.add(figure_id)
        svg = with_cell_ids(svg, figure.heatmap, figure.grid, seen)
    picture = as_picture(responsive(with_own_ids(svg, seen)))
    return replace(figure, id=figure_id, svg=Markup(picture), link=link)
