"""Marks of cells: what each means on every surface, how legends name them, and where they lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from gridatlas.model.study import STATE_LABELS, Factor, Level, Point, State, Study

if TYPE_CHECKING:
    from gridatlas.charts.kinds.heatmap import Heatmap

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


LOW_UP_TO = 21
"""The step at 15 % of the way from the scale's middle to its worse end."""


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
    return joined(segments)


def joined(edges: Iterable[Segment]) -> tuple[Segment, ...]:
    """Edges of which those in one line that meet are one: first all across, then all down."""
    found: list[Segment] = []
    for edge in sorted(edges, key=_line):
        last = found[-1] if found else edge
        if _line(edge)[:2] == _line(last)[:2] and edge.x <= last.x2 and edge.y <= last.y2:
            ends = max(edge.x2, last.x2), max(edge.y2, last.y2)
            found[-1:] = [Segment(last.x, last.y, *ends)]
        else:
            found.append(edge)
    return tuple(found)


def _line(edge: Segment) -> tuple[bool, float, float]:
    """Whether an edge goes down, the line that it is on, and where on that it begins."""
    down = edge.x == edge.x2
    return (down, edge.x, edge.y) if down else (down, edge.y, edge.x)
