"""Heatmaps side by side: of grids on a shared or their own scale, of differences, of readings."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from gridatlas import analyse
from gridatlas.analyse import Difference
from gridatlas.assessment import Assessment
from gridatlas.picture import (
    Picture,
    difference_domain,
    draw_difference,
    draw_disagreement,
    draw_grid,
    own_domain,
)
from gridatlas.study import Grid, Levels, Point
from gridatlas.uncertainty import GridUncertainty

LEAD_FIGURES = 3
"""Heatmaps that stand for a study on the overview and at the head of its page."""
SIDE_BY_SIDE = 3
"""Heatmaps that a wide window shows in one row."""
OWN = "Own colour scale: the same colour is another value in another heatmap."


@dataclass(frozen=True, slots=True)
class Panel:
    """One heatmap on a page, of a grid or of a difference.

    Attributes:
        compact: Without its data table and downloads, where it only stands for its study.
        shared: Whether its colour scale is that of other heatmaps beside it.
        uncertainty: Of a grid; None for a difference.
    """

    picture: Picture
    caption: str
    shows: Grid | Difference
    compact: bool = False
    shared: bool = False
    uncertainty: GridUncertainty | None = None

    @property
    def grid(self) -> Grid | None:
        """The grid that it shows; None for a difference."""
        return self.shows if isinstance(self.shows, Grid) else None


@dataclass(frozen=True, slots=True)
class Gallery:
    """Heatmaps that stand side by side, and how their colours compare."""

    key: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A headed part of a page: the grids at one combination of the other facets' levels."""

    heading: str
    galleries: tuple[Gallery, ...]
    differences: tuple[Difference, ...] = ()


def disagreement_panels(known: Assessment) -> tuple[Panel, ...]:
    """A heatmap of each grid whose readings differ somewhere, on one scale."""
    apart: dict[Levels, dict[Point, Decimal]] = {}
    for one in known.comparison.disagreements:
        apart.setdefault(one.levels, {})[one.point] = one.difference
    largest = max((value for cells in apart.values() for value in cells.values()), default=0)
    panels = []
    for levels, cells in apart.items():
        if levels not in known.results.grids:
            continue
        grid = known.results.grids[levels]
        compared = {
            (x.key, y.key): cells.get((x.key, y.key), Decimal(0))
            for x, y, _ in grid.points()
            if sum(cell.value is not None for _, cell in analyse.readings_at(grid, (x.key, y.key)))
            > 1
        }
        drawn = draw_disagreement(grid, compared, (0.0, float(largest)))
        caption = f"The readings differ in {len(cells)} of {len(compared)} cells."
        panels.append(Panel(drawn, _captioned(caption, drawn), grid, compact=True, shared=True))
    return tuple(panels)


def lead_panels(known: Assessment, compact: bool) -> tuple[Panel, ...]:
    """The heatmaps that stand for a study: its aggregates where it has some, else the first."""
    grids = tuple(known.results.grids.values())
    lead = [grid for grid in grids if grid.aggregate] or list(grids)
    lead = lead[:LEAD_FIGURES]
    return grid_panels(known, tuple(lead), shared=len(lead) > 1, compact=compact)


def grid_panels(
    known: Assessment, grids: tuple[Grid, ...], shared: bool, compact: bool = False
) -> tuple[Panel, ...]:
    """The heatmaps of grids, on one colour scale where it is shared."""
    shared = shared and len(grids) > 1
    domain = own_domain(grids) if shared else None
    caption = f"Colour scale shared by these {len(grids)} grids." if shared else OWN
    drawn = [draw_grid(grid, domain, known.uncertainty.kept(grid)) for grid in grids]
    return tuple(
        Panel(
            picture,
            _captioned(caption, picture),
            grid,
            compact,
            shared,
            known.uncertainty.of(grid),
        )
        for grid, picture in zip(grids, drawn, strict=True)
    )


def difference_panels(differences: tuple[Difference, ...]) -> tuple[Panel, ...]:
    """The heatmaps of differences, on one scale centred on 0."""
    shared = len(differences) > 1
    domain = difference_domain(differences) if shared else None
    scale = ", shared by the differences beside each other" if shared else ""
    panels = []
    for one in differences:
        picture = draw_difference(one, domain)
        levels = f"{one.levels[1].label} minus {one.levels[0].label}."
        caption = _captioned(f"{levels} Colour scale centred on 0{scale}.", picture)
        panels.append(Panel(picture, caption, one))
    return tuple(panels)


def _captioned(caption: str, picture: Picture) -> str:
    """A caption with what the picture itself has to say of its marks."""
    return f"{caption} {picture.note}".strip()
