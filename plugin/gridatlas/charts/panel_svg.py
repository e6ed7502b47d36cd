"""Heatmaps side by side: Vega draws what many have in common once, and their marks come from here.

Panels of the same levels differ in their cells only, which are most of the drawing; axes and labels
are most of the time that Vega takes. What is drawn is the same to the letter: a test compares it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from gridatlas.charts.marks import CellMark
from gridatlas.charts.palette import FADED, STEPS
from gridatlas.charts.vegalite import cell_size, layers, row_of

if TYPE_CHECKING:
    from gridatlas.charts.kinds.heatmap import Heatmap

_NUMBER = re.compile(r"[\d.,+\u2212–×·-]*")
"""A text that no font makes wider than its cell, so that the drawing keeps its size."""
_GROUP = r'(<g class="mark-\w+ role-mark %s_marks"[^>]*>)(.*?)(</g>)'
_TRANSFORM = re.compile(r' transform="[^"]*"')
_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#x9;", "\n": "&#xA;"}
    | {"\r": "&#xD;"}
)
CLONED = ("values", "bold", "best", "ring", "low", "means", "asserted")
"""Layers whose marks differ in place, text and paint alone, besides the cells."""


def panel_svg(panel: Heatmap, draw: Callable[[Heatmap], str]) -> str:
    """The drawing of a panel; Vega draws all of one with marks that few panels have.

    Args:
        panel: With labels that Vega can cut, see `drawable`.
        draw: Has Vega draw a panel.
    """
    if not _is_plain(panel):
        return draw(panel)
    svg = _drawn(_kind(panel), draw)
    width, height = cell_size(panel)
    x = {label: at for at, label in enumerate(panel.x_labels)}
    y = {label: at for at, label in enumerate(panel.y_labels)}
    of_own: dict[str, dict[str, Any]] = {
        layer["name"]: layer for layer in layers(panel, width, height) if layer
    }
    rows = [(mark, row, x[mark.x], y[mark.y]) for mark, row in _rows(panel)]
    cells = (_rectangle(mark, row, i, j, width, height) for mark, row, i, j in rows)
    svg = _with_marks(svg, "cells", lambda _: cells)
    for name in CLONED:
        layer = of_own.get(name)
        if layer is None:
            continue
        look = layer["mark"]
        if "data" in layer:
            marks = [(row["left"], row["top"], row) for row in layer["data"]["values"]]
        else:
            down = height / 2 + look.get("yOffset", 0)
            marks = [
                ((i + 0.5) * width, j * height + down, row) for _, row, i, j in rows if name in row
            ]
        shift = round(0.3 * look["fontSize"]) if look["type"] == "text" else 0
        svg = _with_marks(svg, name, partial(_clones, marks=marks, shift=shift))
    return svg


def _rows(panel: Heatmap) -> Iterable[tuple[CellMark, Mapping[str, Any]]]:
    return ((mark, row_of(panel, mark)) for mark in panel.marks)


def _is_plain(panel: Heatmap) -> bool:
    """Whether it has cells with values alone, and marks that can be put in."""
    return (
        panel.block is None
        and len(set(panel.x_labels)) == len(panel.x_labels)
        and len(set(panel.y_labels)) == len(panel.y_labels)
        and all(
            mark.value is not None
            and not mark.corner
            and (not panel.printed or _NUMBER.fullmatch(mark.text))
            for mark in panel.marks
        )
        and all(map(_NUMBER.fullmatch, (*panel.x_means, *panel.y_means)))
        and bool(panel.marks)
    )


# --- what panels have in common -----------------------------------------------------------------


def _kind(panel: Heatmap) -> Heatmap:
    """A panel with the same labels and layers, with few marks."""
    found: dict[frozenset[str], CellMark] = {}
    for mark, row in _rows(panel):
        flags = frozenset({*row} & {*CLONED})
        # A dash stands on low steps alone.
        step = 0 if "low" in flags else STEPS // 2
        alike = replace(mark, key="", value=0.0, text="0", label="", step=step, faded=False)
        found.setdefault(flags, alike)
    marks = tuple(found.values())
    own = ("title", "description", "measure", "x_title", "y_title", "note", "region_label")
    none: dict[str, Any] = dict.fromkeys(own, "")
    return replace(
        panel,
        **none,
        ends=("", ""),
        marks=marks,
        x_means=("0",) * len(panel.x_means),
        y_means=("0",) * len(panel.y_means),
        letters=panel.letters or panel.longest,
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


def _with_marks(svg: str, layer: str, marks: Callable[[str], Iterable[str]]) -> str:
    """The drawing with other marks in a layer; they are made from its first one."""

    def replaced(group: re.Match[str]) -> str:
        first = re.match(r"<text[^>]*>[^<]*</text>|<[^>]*/>", group[2])
        assert first is not None
        return group[1] + "".join(marks(first[0])) + group[3]

    return re.sub(_GROUP % layer, replaced, svg, count=1)


def _rectangle(
    mark: CellMark, row: Mapping[str, Any], i: int, j: int, width: int, height: int
) -> str:
    opacity = FADED if mark.faded else 1
    return (
        f'<path aria-label="{mark.label.translate(_ESCAPES)}" role="graphics-symbol" '
        f'aria-roledescription="rect mark" d="M{i * width},{j * height}h{width}v{height}h-{width}Z"'
        f' fill="{row["fill"]}" fill-opacity="{opacity}"/>'
    )


def _clones(
    first: str, marks: Iterable[tuple[float, float, Mapping[str, Any]]], shift: int
) -> Iterable[str]:
    """A mark like the first one at each place, with its own text and paint.

    Args:
        shift: From the middle of a text to its line.
    """
    for x, y, row in marks:
        clone = _TRANSFORM.sub(f' transform="translate({x:g},{y + shift:g})"', first)
        if "ink" in row:
            clone = re.sub(r' (fill|stroke)="#[0-9a-f]+"', rf' \1="{row["ink"]}"', clone)
        if clone.startswith("<text"):
            clone = f"{clone.partition('>')[0]}>{row['text']}</text>"
        yield clone
