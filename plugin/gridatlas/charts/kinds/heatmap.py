"""A picture of one grid or difference: its cells, fills and marks, and what each mark means.

Each mark has one meaning on every surface. A surface chooses a size; `marks_of` tells which marks a
picture has, and legends are made of that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Literal

from gridatlas.charts.kinds import ByVega, Expected, Picture, Specification
from gridatlas.charts.marks import WORDS, CellMark, Segment
from gridatlas.charts.palette import ColourScale
from gridatlas.charts.panel_svg import panel_svg
from gridatlas.charts.plotting import canonical
from gridatlas.charts.vegalite import cell_size, drawable, specification
from gridatlas.model.study import Study

PRINTED_UP_TO = 24, 32
"""Levels of x and of y up to which each value is printed in its cell."""


@dataclass(frozen=True, slots=True)
class Heatmap(Picture):
    """All that a heatmap shows; equal heatmaps give equal drawings.

    Attributes:
        measure: What the colours stand for, with its unit, as the legend says it.
        ends: The ends of the legend's strip in words, the left one first.
        x_labels: From left to right.
        y_labels: From top to bottom.
        x_means, y_means: By level the mean of its cells as printed; empty where none are shown.
        x_course, y_course: By level that mean between the lowest (0) and the highest (1) of both
            axes, for a line at the edge of a grid without numbers; None where a cell is missing.
        outlined: What the headline asserts and a test carries.
        x_asserted, y_asserted: Places of the levels whose means are asserted.
        region: Edges of what the study declares.
        upwards: Whether the first level of y is at the bottom.
        block: Levels of x and of y in a block, where the marks are blocks; None for cells.
        note: What is not marked, or stands for what, as a caption says it; may be empty.
        size: `whole` with titles, legend and labels; `large` and `panel` beside others, without
            titles and legend; `thumbnail` for its cells alone, in small.
        letters: Of the longest value in the panels beside each other; 0 where its own decide.
    """

    title: str
    description: str
    measure: str
    ends: tuple[str, str]
    scale: ColourScale
    x_title: str
    y_title: str
    x_labels: tuple[str, ...]
    y_labels: tuple[str, ...]
    marks: tuple[CellMark, ...]
    x_means: tuple[str, ...] = ()
    y_means: tuple[str, ...] = ()
    x_course: tuple[float | None, ...] = ()
    y_course: tuple[float | None, ...] = ()
    outlined: tuple[Segment, ...] = ()
    x_asserted: tuple[int, ...] = ()
    y_asserted: tuple[int, ...] = ()
    region: tuple[Segment, ...] = ()
    region_label: str = ""
    upwards: bool = True
    block: tuple[int, int] | None = None
    note: str = ""
    size: Literal["whole", "large", "panel", "thumbnail"] = "whole"
    letters: int = 0

    def to_json(self) -> str:
        """The heatmap as canonical JSON: what its drawing depends on."""
        return canonical(self)

    def specification(self) -> Specification:
        """Its Vega-Lite specification."""
        return specification(self)

    def drawn(self, spec: Specification, by_vega: ByVega) -> str:
        """Its drawing; of one of several side by side Vega draws a part."""
        heatmap = drawable(self)
        if self.size != "whole":
            return panel_svg(heatmap, lambda panel: by_vega(specification(panel)))
        return by_vega(spec if heatmap is self else specification(heatmap))

    def expected(self) -> Expected:
        """A mark for each cell."""
        values = sum(mark.value is not None for mark in self.marks)
        return {
            "rect mark": ("coloured cells", values),
            "point": ("cells without a value", len(self.marks) - values),
        }

    @property
    def has_png(self) -> bool:
        """Nothing offers one of several side by side."""
        return self.size == "whole"

    @property
    def printed(self) -> bool:
        """Whether each cell has its value printed in it."""
        columns, rows = PRINTED_UP_TO
        fits = len(self.x_labels) <= columns and len(self.y_labels) <= rows
        return self.block is None and fits and self.size != "thumbnail"

    @property
    def across(self) -> int:
        """Pixels from its first cell's left edge to its last one's right."""
        return cell_size(self)[0] * len(self.x_labels)

    @property
    def longest(self) -> int:
        """Letters of the longest value that is printed in it."""
        texts = (mark.text or WORDS.get(mark.absent, "") for mark in self.marks)
        return max(map(len, (*texts, *self.x_means)), default=0)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a heatmap is of.

    Attributes:
        measure, ends, scale: As in `Heatmap`.
        unit: What follows a value in a text.
        text_of: Writes a value.
        middle: The mean of the grid, in the unit of the scale.
    """

    study: Study
    title: str
    description: str
    measure: str
    ends: tuple[str, str]
    scale: ColourScale
    unit: str
    text_of: Callable[[Decimal], str]
    middle: float = 0.0

    def step(self, value: float) -> int:
        """The step of a value's colour."""
        return self.scale.step(value, self.middle)

    def heatmap(
        self,
        marks: Sequence[CellMark],
        x_labels: Sequence[str],
        y_labels: Sequence[str],
        region: tuple[Segment, ...],
        **more: Any,
    ) -> Heatmap:
        """The heatmap with these marks and labels; `more` are further fields of it."""
        study = self.study
        given: dict[str, Any] = {
            "title": self.title,
            "description": self.description,
            "measure": self.measure,
            "ends": self.ends,
            "scale": self.scale,
            "x_title": study.x.title,
            "y_title": study.y.title,
            "x_labels": tuple(x_labels),
            "y_labels": tuple(y_labels),
            "marks": tuple(marks),
            "region": region,
            "region_label": ", ".join(region.label for region in study.regions),
            "upwards": study.y.direction == "up",
        }
        return Heatmap(**given | more)


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
