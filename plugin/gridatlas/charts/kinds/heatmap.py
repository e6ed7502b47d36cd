"""What a heatmap shows: its cells, labels, scale and outlines."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Literal

from gridatlas.charts.kinds import ByVega, Expected, Picture, Specification
from gridatlas.model.format import name_with_unit
from gridatlas.model.study import STATE_LABELS, Factor, Level, Point, State, Study

MAX_LABELLED_CELLS = 400
"""Cells up to which each value is printed in its cell, and small marks stand on the cells."""
COLUMNS_UP_TO = 30
"""Columns up to which they are: in more, a page makes them too small to be read."""
OUTLINED_UP_TO = 20
"""Best cells (blocks with one) up to which they are outlined where values aren't printed."""

Kind = Literal["values", "difference"]
ABSENT: Mapping[State, str] = {
    state: f"no value: {label}" for state, label in STATE_LABELS.items() if state != "ok"
}
"""How the legend names the states of cells without a value."""
ONE_READING = "given by one reading or none"
"""How the legend of a disagreement names cells that can't be compared."""
DISPUTED = "disputed value"
"""How the legend names a value that is shown although it is disputed."""
SEVERAL = "no value: several reasons"
"""How the legend names a block whose cells have no value for more than one reason."""
NOT_RUN, RUNNING = "not run", "running"
"""How the legend names cells that aren't measured again, or not yet."""
NOT_COMPARED = "nothing to compare"
"""How the legend names a cell that was measured again, and isn't published."""
BEST_SET = "may be the best (95 % set)"
"""How the legend names the cells in the confidence set for the best."""


@dataclass(frozen=True, slots=True)
class CellMark:
    """One cell of a heatmap, or one block of neighbouring cells.

    Attributes:
        key: Address of the cell within its grid, `<x>,<y>`; of a block, that of its first cell.
        text: The value as printed in the cell; empty without a value.
        label: The cell in words, for a screen reader.
        best: Whether it is outlined as a best cell.
        absent: Why there is no value, as the legend says it; empty with a value.
        disputed: Whether it has a value that is disputed (drawn with a corner).
        in_best_set: Whether it is in the confidence set for the best (drawn with a diamond).
        fill: Its colour, `#rrggbb`, in a panel; empty where the colour scale gives it.
    """

    key: str
    x: str
    y: str
    value: float | None
    text: str
    label: str
    best: bool = False
    absent: str = ""
    disputed: bool = False
    in_best_set: bool = False
    fill: str = ""


@dataclass(frozen=True, slots=True)
class Segment:
    """One edge of an outline, in cells (or blocks) from the top left corner."""

    x: float
    y: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Heatmap(Picture):
    """All that a heatmap shows; equal heatmaps give equal drawings.

    Attributes:
        x_labels: From left to right.
        y_labels: From top to bottom.
        domain: Values at the two ends of the colour scale.
        upwards: Whether the first level of y is at the bottom.
        block: Levels of x and of y in a block, where the marks are blocks; None for cells.
        note: What is not marked, or stands for what, as a caption says it; may be empty.
        panel: `cells` for one of several that share their titles, axes and legend: it is drawn
            with none of them but the labels of its axes, in cells of one size. `thumbnail` for
            its cells alone, in small.
        dashed: Whether the outlines of best cells are dashed.
        best_edges: Around all cells that may be the best, where they are outlined together.
        letters: Of the longest value in the panels beside each other; 0 where its own decide.
        reverse: Whether low values are better, so that they have the colours of high ones.
    """

    kind: Kind
    title: str
    description: str
    legend: str
    x_title: str
    y_title: str
    x_labels: tuple[str, ...]
    y_labels: tuple[str, ...]
    domain: tuple[float, float]
    decimals: int
    marks: tuple[CellMark, ...]
    outline: tuple[Segment, ...] = ()
    outline_label: str = ""
    upwards: bool = True
    block: tuple[int, int] | None = None
    note: str = ""
    panel: Literal["", "cells", "thumbnail"] = ""
    dashed: bool = False
    best_edges: tuple[Segment, ...] = ()
    letters: int = 0
    reverse: bool = False

    def to_json(self) -> str:
        """The heatmap as canonical JSON: what its drawing depends on."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)

    def specification(self) -> Specification:
        """Its Vega-Lite specification."""
        from gridatlas.charts.vegalite import specification

        return specification(self)

    def drawn(self, spec: Specification, by_vega: ByVega) -> str:
        """Its drawing; of one of several side by side Vega draws a part."""
        from gridatlas.charts.panel_svg import panel_svg
        from gridatlas.charts.vegalite import drawable, specification

        heatmap = drawable(self)
        if self.panel:
            return panel_svg(heatmap, lambda panel: by_vega(specification(panel)))
        return by_vega(spec if heatmap is self else specification(heatmap))

    def expected(self) -> Expected:
        """A mark for each cell."""
        return {
            "rect mark": ("coloured cells", self.cells),
            "point": ("hatched cells", len(self.marks) - self.cells),
        }

    @property
    def has_png(self) -> bool:
        """Nothing offers one of several side by side."""
        return not self.panel

    @property
    def printed(self) -> bool:
        """Whether each cell has its value printed in it."""
        columns, rows = len(self.x_labels), len(self.y_labels)
        fits = columns * rows <= MAX_LABELLED_CELLS and columns <= COLUMNS_UP_TO
        return self.block is None and fits and self.panel != "thumbnail"

    @property
    def longest(self) -> int:
        """Letters of the longest value that is printed in it."""
        return max((len(mark.text) for mark in self.marks), default=0)

    @property
    def cells(self) -> int:
        """Number of cells (of blocks) that have a value."""
        return sum(mark.value is not None for mark in self.marks)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a heatmap is of.

    Attributes:
        name: What the colours stand for, without its unit.
        unit: What follows a value in a text.
        text_of: Writes a value.
        reverse: As in `Heatmap`.
    """

    study: Study
    kind: Kind
    title: str
    description: str
    name: str
    unit: str
    domain: tuple[float, float]
    text_of: Callable[[Decimal], str]
    reverse: bool = False

    def heatmap(
        self,
        marks: Sequence[CellMark],
        x_labels: Sequence[str],
        y_labels: Sequence[str],
        outline: tuple[Segment, ...],
        **more: Any,
    ) -> Heatmap:
        """The heatmap with these marks and labels; `more` are further fields of it."""
        study = self.study
        given: dict[str, Any] = {
            "kind": self.kind,
            "title": self.title,
            "description": self.description,
            "legend": name_with_unit(self.name, self.unit),
            "x_title": study.x.title,
            "y_title": study.y.title,
            "x_labels": tuple(x_labels),
            "y_labels": tuple(y_labels),
            "domain": self.domain,
            "decimals": study.metric.decimals or 0,
            "marks": tuple(marks),
            "outline": outline,
            "outline_label": ", ".join(region.label for region in study.regions),
            "upwards": study.y.direction == "up",
            "reverse": self.reverse,
        }
        return Heatmap(**given | more)


def rows_from_top(factor: Factor) -> tuple[Level, ...]:
    """The levels of the y axis from the top of the heatmap down."""
    return factor.levels[::-1] if factor.direction == "up" else factor.levels


def reading_order(study: Study) -> list[int]:
    """The rows of a grid's cells from the top of the heatmap down."""
    across, down = len(study.x.levels), range(len(study.y.levels))
    lines = reversed(down) if study.y.direction == "up" else down
    return [line * across + column for line in lines for column in range(across)]


def with_overrides(
    heatmap: Heatmap,
    title: str,
    absent: Mapping[str, str] = MappingProxyType({}),
    signs: Mapping[str, str] = MappingProxyType({}),
) -> Heatmap:
    """A heatmap with another title, other reasons for missing values, and signs after values.

    Args:
        heatmap: Of cells, or of blocks, to which signs and reasons don't apply.
        absent: Why there is no value, as the legend says it, by the key of the mark.
        signs: A sign and, after a space, what it says in words, by the key of the mark.
    """
    described = title + heatmap.description.removeprefix(heatmap.title)
    heatmap = replace(heatmap, title=title, description=described)
    if heatmap.block:
        return heatmap

    def changed(mark: CellMark) -> CellMark:
        if mark.value is None:
            reason = absent.get(mark.key, mark.absent)
            where = mark.label.partition(": ")[0]
            return replace(mark, absent=reason, label=f"{where}: {reason}")
        if mark.key not in signs:
            return mark
        sign, _, words = signs[mark.key].partition(" ")
        text = f"{mark.text} {sign}" if mark.text else ""
        return replace(mark, text=text, label=f"{mark.label}, {words}")

    return replace(heatmap, marks=tuple(map(changed, heatmap.marks)))


def region_edges(study: Study, rows: Sequence[Level]) -> tuple[Segment, ...]:
    """The edges between cells inside and outside a region, in cells from the top left corner.

    Args:
        rows: The levels of y from the top down.
    """
    return tuple(edge for region in study.regions for edge in edges(study, rows, region.points))


def edges(study: Study, rows: Sequence[Level], points: frozenset[Point]) -> tuple[Segment, ...]:
    """The edges around some points, in cells from the top left corner.

    Args:
        rows: The levels of y from the top down.
    """
    inside = {
        (i, j)
        for i, x in enumerate(study.x.levels)
        for j, y in enumerate(rows)
        if (x.key, y.key) in points
    }
    segments = []
    for i, j in sorted(inside):
        around = {
            (i, j - 1): Segment(i, j, i + 1, j),
            (i, j + 1): Segment(i, j + 1, i + 1, j + 1),
            (i - 1, j): Segment(i, j, i, j + 1),
            (i + 1, j): Segment(i + 1, j, i + 1, j + 1),
        }
        segments += [edge for beyond, edge in around.items() if beyond not in inside]
    return tuple(segments)
