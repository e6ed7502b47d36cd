"""A picture of one grid or difference: its cells, fills and marks, and what each mark means.

Each mark has one meaning on every surface. A surface chooses a size; `marks_of` tells which marks a
picture has, and legends are made of that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Literal, get_args

from gridatlas.charts.kinds import ByVega, Expected, Picture, Specification
from gridatlas.charts.palette import ColourScale
from gridatlas.model.study import STATE_LABELS, Factor, Level, Point, State, Study

PRINTED_UP_TO = 24, 32
"""Levels of x and of y up to which each value is printed in its cell."""

ABSENT: Mapping[State, str] = {
    state: f"no value: {label}" for state, label in STATE_LABELS.items() if state != "ok"
}
"""How the legend names the states of cells without a value."""
ONE_READING = "given by one reading or none"
"""How the legend of a disagreement names cells that can't be compared."""
SEVERAL = "no value: several reasons"
"""How the legend names a block whose cells have no value for more than one reason."""
NOT_RUN, RUNNING = "not run", "running"
"""How the legend names cells that aren't measured again, or not yet."""
NOT_COMPARED = "nothing to compare"
"""How the legend names a cell that was measured again, and isn't published."""
WORDS: Mapping[str, str] = {
    ABSENT["failed"]: "fail",
    ABSENT["oom"]: "OOM",
    ABSENT["disputed"]: "disp.",
    SEVERAL: "–",
    RUNNING: "run",
}
"""What stands in hatched cells; in all others without a value stands a dash."""

MarkKind = Literal[
    "outline", "best", "ring", "faded", "corner", "open-corner", "region", "low", "missing"
]


@dataclass(frozen=True, slots=True)
class CellMark:
    """One cell of a heatmap, or one block of neighbouring cells.

    Attributes:
        key: Address of the cell within its grid, `<x>,<y>`; of a block, that of its first cell.
        text: The value as printed in the cell; empty without a value.
        label: The cell in words, for a screen reader.
        step: Of the colour, from the worst.
        best: Whether it is the best seen: a bold number and a dot.
        ring: Whether a test left it among the few that may be the best.
        strong: Whether a test of this cell alone is passed: a bold number.
        faded: Whether what it shows may be chance.
        corner: Whether its readings differ, or it has one while others have several.
        absent: Why there is no value, as the legend says it; empty with a value.
    """

    key: str
    x: str
    y: str
    value: float | None
    text: str
    label: str
    step: int = 0
    best: bool = False
    ring: bool = False
    strong: bool = False
    faded: bool = False
    corner: Literal["", "corner", "open-corner"] = ""
    absent: str = ""


@dataclass(frozen=True, slots=True)
class Segment:
    """An edge, or a box from its top left corner, in cells from the top left of the grid."""

    x: float
    y: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Heatmap(Picture):
    """All that a heatmap shows; equal heatmaps give equal drawings.

    Attributes:
        measure: What the colours stand for, with its unit, as the legend says it.
        ends: The ends of the legend's strip in words, the left one first.
        x_labels: From left to right.
        y_labels: From top to bottom.
        x_means, y_means: By level the mean of its cells as printed; empty where none are shown.
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


def marks_of(heatmaps: Iterable[Heatmap]) -> tuple[MarkKind, ...]:
    """The marks that heatmaps have, besides the numbers and the states of cells without one."""
    found: set[MarkKind] = set()
    for heatmap in heatmaps:
        marks = heatmap.marks
        found |= {"outline"} if heatmap.outlined else set()
        found |= {"region"} if heatmap.region else set()
        found |= {"best"} if any(mark.best for mark in marks) else set()
        found |= {"ring"} if any(mark.ring for mark in marks) else set()
        found |= {"faded"} if any(mark.faded for mark in marks) else set()
        found |= {mark.corner for mark in marks if mark.corner}
        found |= {"low"} if heatmap.size == "thumbnail" and lows(heatmap) else set()
        found |= {"missing"} if any(is_dash(mark) for mark in marks) else set()
    order: tuple[MarkKind, ...] = get_args(MarkKind)
    return tuple(kind for kind in order if kind in found)


def is_dash(mark: CellMark) -> bool:
    """Whether a cell is empty but for a dash."""
    return mark.value is None and mark.absent not in WORDS


def lows(heatmap: Heatmap) -> list[CellMark]:
    """Cells on the worse side by more than 15 % of a scale of differences: grey tells no side."""
    room = max(len(heatmap.x_labels), len(heatmap.y_labels)) <= LOW_IN
    if heatmap.scale.palette != "difference" or not room:
        return []
    return [mark for mark in heatmap.marks if mark.value is not None and mark.step <= LOW_UP_TO]


LOW_IN = 16
"""Levels of an axis up to which a dash has room in a thumbnail's cell."""
LOW_UP_TO = 17
"""The step at 15 % of the scale's length below its middle."""


def state_words(heatmaps: Iterable[Heatmap]) -> tuple[str, ...]:
    """Why hatched cells have no value, as a legend says it."""
    marks = (mark for heatmap in heatmaps for mark in heatmap.marks)
    return tuple(dict.fromkeys(mark.absent for mark in marks if mark.absent in WORDS))


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
