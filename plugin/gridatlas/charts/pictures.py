"""All kinds of pictures, and how each becomes a Vega-Lite specification."""

from __future__ import annotations

from typing import Any

from gridatlas.charts.card import SocialCard
from gridatlas.charts.dots import DotPlot, dots_specification
from gridatlas.charts.forest import Forest, forest_specification
from gridatlas.charts.heatmap import Heatmap
from gridatlas.charts.line import LineChart, line_specification
from gridatlas.charts.profile import Profile, profile_specification
from gridatlas.charts.vegalite import drawable, specification

Plot = DotPlot | Profile | Forest
"""What several cells say together, with a table of its own."""
Picture = Heatmap | LineChart | Plot
"""What shows results, with a specification."""
Drawable = Picture | SocialCard
"""What can be drawn."""


def specification_of(picture: Picture) -> dict[str, Any]:
    """The complete Vega-Lite specification of a picture."""
    match picture:
        case Heatmap():
            return specification(picture)
        case LineChart():
            return line_specification(picture)
        case DotPlot():
            return dots_specification(picture)
        case Profile():
            return profile_specification(picture)
        case Forest():
            return forest_specification(picture)


def drawn_specification(picture: Picture, spec: dict[str, Any]) -> dict[str, Any]:
    """The specification to draw: without characters that vl-convert can't cut.

    Args:
        spec: Of `specification_of`; that of other pictures than heatmaps is without them.
    """
    if not isinstance(picture, Heatmap):
        return spec
    drawn = drawable(picture)
    return spec if drawn is picture else specification(drawn)


def expected_marks(picture: Picture) -> dict[str, tuple[str, int]]:
    """The labelled marks of a drawing: what they are and how many, by Vega's name of their kind."""
    match picture:
        case Heatmap():
            hatched = len(picture.marks) - picture.cells
            return {
                "rect mark": ("coloured cells", picture.cells),
                "point": ("hatched cells", hatched),
            }
        case LineChart():
            number = sum(point.value is not None for point in picture.points)
            return {"point": ("points", number)}
        case DotPlot():
            return {"rect mark": ("rows", len(picture.shown))}
        case Profile():
            return {"point": ("points", picture.points)}
        case Forest():
            return {"rect mark": ("rows", len(picture.rows))}
