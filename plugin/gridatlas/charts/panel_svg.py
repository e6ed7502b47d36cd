"""Heatmaps side by side: Vega draws what many have in common once, and their marks come from here.

Panels of the same levels differ in their cells only, which are most of the drawing; axes and labels
are most of the time that Vega takes. What is drawn is the same to the letter: a test compares it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from gridatlas.charts.kinds.heatmap import CellMark, Heatmap, Segment
from gridatlas.charts.palette import is_dark
from gridatlas.charts.vegalite import panel_cell, panel_font_size

_NUMBER = re.compile(r"[\d.,+\u2212·-]+")
"""A text that no font makes wider than its cell, so that the drawing keeps its size."""
_FILL = re.compile(r"#[0-9a-f]{6}")
_GROUP = r'(<g class="mark-\w+ role-mark %s_marks"[^>]*>)(.*?)(</g>)'
_TRANSFORM = re.compile(r' transform="[^"]*"')
_ENDS = re.compile(r' transform="[^"]*" x2="[^"]*" y2="[^"]*"')
_STROKE = re.compile(r' stroke="[^"]*"')
_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#x9;", "\n": "&#xA;"}
    | {"\r": "&#xD;"}
)


def panel_svg(panel: Heatmap, draw: Callable[[Heatmap], str]) -> str:
    """The drawing of a panel; Vega draws all of one with marks that few panels have.

    Args:
        panel: With labels that Vega can cut, see `drawable`.
        draw: Has Vega draw a panel.
    """
    if not _is_plain(panel):
        return draw(panel)
    svg = _drawn(_kind(panel), draw)
    size = panel_font_size(panel)
    width, height = panel_cell(panel, size)
    x = {label: at * width for at, label in enumerate(panel.x_labels)}
    y = {label: at * height for at, label in enumerate(panel.y_labels)}
    cells = [_Cell(mark, x[mark.x], y[mark.y], width, height) for mark in panel.marks]
    layers: dict[str, Callable[[str], Iterable[str]]] = {
        "cells": lambda _: map(_rectangle, cells),
        "values": lambda _: (_value(cell, size) for cell in cells),
        "best": lambda first: (_frame(first, cell) for cell in cells if cell.mark.best),
        "halo": lambda first: _lines(first, panel.outline, width, height),
        "outline": lambda first: _lines(first, panel.outline, width, height),
        "rivals": lambda first: _lines(first, panel.best_edges, width, height),
    }
    for layer, marks in layers.items():
        svg = _with_marks(svg, layer, marks)
    return svg


def _is_plain(panel: Heatmap) -> bool:
    """Whether it has cells with values alone, and at most frames and outlines on them."""
    return (
        panel.block is None
        and len(set(panel.x_labels)) == len(panel.x_labels)
        and len(set(panel.y_labels)) == len(panel.y_labels)
        and all(
            mark.value is not None
            and _FILL.fullmatch(mark.fill)
            and not (mark.absent or mark.disputed or mark.in_best_set)
            and (not panel.printed or _NUMBER.fullmatch(mark.text))
            for mark in panel.marks
        )
        and bool(panel.marks)
    )


# --- what panels have in common -----------------------------------------------------------------


def _kind(panel: Heatmap) -> Heatmap:
    """A panel with the same labels and layers, whose marks reach as far."""
    best = [mark for mark in panel.marks if mark.best]
    columns, rows = (
        [*map(labels.index, found)]
        for labels, found in (
            (panel.x_labels, [mark.x for mark in best] or panel.x_labels),
            (panel.y_labels, [mark.y for mark in best] or panel.y_labels),
        )
    )
    mark = CellMark("", "", "", 0.0, "0", "", best=bool(best), fill="#ffffff")
    return replace(
        panel,
        title="",
        description="",
        legend="",
        x_title="",
        y_title="",
        note="",
        outline_label="",
        domain=(0.0, 1.0),
        decimals=0,
        marks=tuple(
            replace(mark, x=panel.x_labels[column], y=panel.y_labels[row])
            for column, row in ((min(columns), min(rows)), (max(columns), max(rows)))
        ),
        outline=_around(panel.outline),
        best_edges=_around(panel.best_edges),
        letters=panel.letters or panel.longest,
    )


def _around(edges: Sequence[Segment]) -> tuple[Segment, ...]:
    """The edges of the smallest rectangle around others."""
    if not edges:
        return ()
    left, right = min(edge.x for edge in edges), max(edge.x2 for edge in edges)
    top, bottom = min(edge.y for edge in edges), max(edge.y2 for edge in edges)
    return (
        Segment(left, top, right, top),
        Segment(left, bottom, right, bottom),
        Segment(left, top, left, bottom),
        Segment(right, top, right, bottom),
    )


_DRAWN: dict[Heatmap, str] = {}
MAX_KINDS = 256
"""Drawings of kinds that are in memory at once."""


def _drawn(kind: Heatmap, draw: Callable[[Heatmap], str]) -> str:
    if kind not in _DRAWN:
        if len(_DRAWN) >= MAX_KINDS:
            del _DRAWN[next(iter(_DRAWN))]
        _DRAWN[kind] = draw(kind)
    return _DRAWN[kind]


# --- what each has of its own ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell and where it is, in pixels."""

    mark: CellMark
    left: int
    top: int
    width: int
    height: int

    @property
    def middle(self) -> float:
        return self.left + self.width / 2

    @property
    def ink(self) -> str:
        return _ink(self.mark.fill)


def _with_marks(svg: str, layer: str, marks: Callable[[str], Iterable[str]]) -> str:
    """The drawing with other marks in a layer; they are made from its first one."""

    def replaced(group: re.Match[str]) -> str:
        first = group[2].partition("/>")[0] + "/>"
        return group[1] + "".join(marks(first)) + group[3]

    return re.sub(_GROUP % layer, replaced, svg, count=1)


def _rectangle(cell: _Cell) -> str:
    mark, width = cell.mark, cell.width
    return (
        f'<path aria-label="{mark.label.translate(_ESCAPES)}" role="graphics-symbol" '
        f'aria-roledescription="rect mark" '
        f'd="M{cell.left},{cell.top}h{width}v{cell.height}h-{width}Z" fill="{mark.fill}"/>'
    )


def _value(cell: _Cell, size: int) -> str:
    line = cell.top + cell.height / 2 + round(0.3 * size)
    return (
        f'<text text-anchor="middle" transform="translate({cell.middle:g},{line:g})" '
        f'font-family="sans-serif" font-size="{size}px" fill="{cell.ink}">{cell.mark.text}</text>'
    )


def _frame(first: str, cell: _Cell) -> str:
    place = f' transform="translate({cell.middle:g},{cell.top + cell.height / 2:g})"'
    return _STROKE.sub(f' stroke="{cell.ink}"', _TRANSFORM.sub(place, first))


@cache
def _ink(fill: str) -> str:
    return "#fff" if is_dark(fill) else "#000"


def _lines(first: str, edges: Iterable[Segment], width: int, height: int) -> Iterable[str]:
    for edge in edges:
        x, y = edge.x * width, edge.y * height
        right, down = (edge.x2 - edge.x) * width, (edge.y2 - edge.y) * height
        place = f' transform="translate({x:g},{y:g})" x2="{right:g}" y2="{down:g}"'
        yield _ENDS.sub(place, first)
