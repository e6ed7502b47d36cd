"""The Vega-Lite specification of a heatmap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from math import ceil
from typing import Any

from gridatlas.charts.kinds.heatmap import (
    ABSENT,
    BEST_SET,
    DISPUTED,
    NOT_COMPARED,
    NOT_RUN,
    ONE_READING,
    RUNNING,
    SEVERAL,
    CellMark,
    Heatmap,
    Segment,
)
from gridatlas.charts.plotting import (
    KEY_LIMIT,
    LINE,
    PLOT_WIDTH,
    TITLE_LIMIT,
    chart_of,
    drawable_labels,
    drawable_text,
    is_drawable,
    label_angle,
    round_step,
    thinned,
)

TALL = 600
"""Pixels that the cells take at most from top to bottom, where no value is printed in them."""
PANEL_CELL = 40, 30
"""Most pixels of a panel's cell, unless its text needs more width."""
THUMBNAIL = 120, 96
"""Most pixels of all cells of a thumbnail, across and down."""
PANEL_WIDTH = 300
"""Pixels that the cells of a panel take in all, where neither texts nor few levels decide."""
PANEL_NARROW = 7
"""Columns up to which a panel's values are printed larger."""
SMALL = 14
"""Pixels of a cell below which a best cell's outline lies around it, not in it."""
ON_WHITE = ("doubt", "kept")
"""Layers of small marks on the cells, which need a ground of their own."""


def specification(heatmap: Heatmap) -> dict[str, Any]:
    """The complete Vega-Lite specification of a heatmap, with its data inline.

    Strings from data are only ever values of data, titles and domains, never expressions.
    """
    nx, ny = len(heatmap.x_labels), len(heatmap.y_labels)
    font_size = panel_font_size(heatmap)
    width, height = (panel_cell if heatmap.panel else _cell_size)(heatmap, font_size)
    shapes = _shapes(heatmap)
    spec = chart_of("panel" if heatmap.panel else "heatmap", _layers(heatmap, shapes))
    spec |= {"description": heatmap.description, "width": width * nx, "height": height * ny}
    spec["data"] = {"values": [_row(mark) for mark in heatmap.marks]}
    if heatmap.panel == "thumbnail":
        spec["encoding"]["x"]["axis"] = spec["encoding"]["y"]["axis"] = None
    else:
        _label_axes(spec["encoding"], heatmap, width, height)
    titles = (None, None) if heatmap.panel else (heatmap.x_title, heatmap.y_title)
    spec["encoding"]["x"] |= {"title": titles[0], "scale": _positions(heatmap.x_labels)}
    spec["encoding"]["y"] |= {"title": titles[1], "scale": _positions(heatmap.y_labels)}
    layers = {layer["name"]: layer for layer in spec["layer"]}
    if not heatmap.panel:
        spec["title"] |= {"text": heatmap.title}
        color = layers["cells"]["encoding"]["color"]
        color["scale"]["domain"] = list(heatmap.domain)
        if heatmap.reverse:
            color["scale"]["reverse"] = not color["scale"].get("reverse", False)
        color["legend"] |= {
            "title": heatmap.legend,
            "gradientLength": max(width * nx, 120),
            "format": f".{heatmap.decimals}f",
        }
    if heatmap.printed:
        layers["values"]["mark"]["fontSize"] = font_size
    _set_shapes(spec, layers, shapes, width, height)
    if heatmap.outline:
        _set_outline(spec, layers["outline"], heatmap, width, height)
    if heatmap.panel and heatmap.best_edges:
        _set_edges((layers["rivals"],), heatmap.best_edges, width, height)
    return spec


def _layers(heatmap: Heatmap, shapes: Mapping[str, Sequence[str]]) -> list[str]:
    """The layers of its template that a heatmap has, from the lowest up."""
    layers = ["cells" if heatmap.panel else f"cells-{heatmap.kind}"]
    layers += ["values"] if heatmap.printed else []
    layers += [name for name, kinds in shapes.items() if kinds]
    if shapes["best"]:
        layers[-1] = "best-dashed" if heatmap.panel and heatmap.dashed else "best"
        layers += [] if heatmap.panel else ["inner"]
    layers += ["outline"] if heatmap.outline else []
    return layers + (["rivals"] if heatmap.panel and heatmap.best_edges else [])


def panel_font_size(heatmap: Heatmap) -> int:
    """Pixels of a panel's values."""
    return 13 if len(heatmap.x_labels) <= PANEL_NARROW else 11


def panel_cell(heatmap: Heatmap, font_size: int) -> tuple[int, int]:
    """Width and height of a panel's cell in pixels; the same for all with such texts and levels."""
    nx, ny = len(heatmap.x_labels), len(heatmap.y_labels)
    if heatmap.panel == "thumbnail":
        across, down = THUMBNAIL
        return max(across // nx, 1), max(min(down // ny, across // nx), 1)
    text = 2
    if heatmap.printed:
        text = ceil((heatmap.letters or heatmap.longest) * font_size * 0.6) + 6
    width = max(text, min(PANEL_CELL[0], max(PANEL_WIDTH // nx, 28 if nx <= 10 else 2)))
    height = min(PANEL_CELL[1], max(TALL // ny, 16 if heatmap.printed else 2))
    return width, height


def _shapes(heatmap: Heatmap) -> dict[str, list[str]]:
    """The kinds of small marks that a heatmap has, by their layers."""
    return {
        "absent": list(dict.fromkeys(mark.absent for mark in heatmap.marks if mark.absent)),
        "doubt": [DISPUTED] if any(mark.disputed for mark in heatmap.marks) else [],
        "kept": [BEST_SET] if any(mark.in_best_set for mark in heatmap.marks) else [],
        "best": ["best"] if any(mark.best for mark in heatmap.marks) else [],
    }


def drawable(heatmap: Heatmap) -> Heatmap:
    """The heatmap with texts that Vega can cut where they are too long.

    It cuts between the halves of a character beyond U+FFFF, such as an emoji, and half of one can't
    be drawn by vl-convert: where a text may be cut, a square stands for each. The labels of cells
    keep them, and so does the specification for browsers, which can.
    """
    texts = (heatmap.x_title, heatmap.y_title, heatmap.legend, heatmap.outline_label)
    if all(map(is_drawable, (*texts, *heatmap.x_labels, *heatmap.y_labels))):
        return heatmap
    x, y = (drawable_labels(labels) for labels in (heatmap.x_labels, heatmap.y_labels))
    return replace(
        heatmap,
        x_title=drawable_text(heatmap.x_title, TITLE_LIMIT),
        y_title=drawable_text(heatmap.y_title, TITLE_LIMIT),
        legend=drawable_text(heatmap.legend, TITLE_LIMIT),
        outline_label=drawable_text(heatmap.outline_label, KEY_LIMIT),
        x_labels=tuple(x.values()),
        y_labels=tuple(y.values()),
        marks=tuple(replace(mark, x=x[mark.x], y=y[mark.y]) for mark in heatmap.marks),
    )


def _set_shapes(
    spec: dict[str, Any],
    layers: Mapping[str, dict[str, Any]],
    shapes: Mapping[str, Sequence[str]],
    width: int,
    height: int,
) -> None:
    """Size and place the small marks on the cells.

    Args:
        shapes: The kinds of marks of each layer.
        width, height: Of a cell, in pixels.
    """
    small = min(width, height) < SMALL
    for name in (name for name, kinds in shapes.items() if kinds):
        shape = layers[name]["encoding"]["shape"]
        around = 5 if small and name == "best" else 0
        shape["scale"] = {
            "domain": shapes[name],
            "range": [_shape(kind, width + around, height + around) for kind in shapes[name]],
        }
        size = 40 if name == "kept" else (max(width, height) + around) ** 2
        layers[name]["encoding"]["size"] = {"value": size}
        if name == "kept":
            inwards = 8 if width > 40 else 6
            layers[name]["mark"] |= {
                "xOffset": inwards - width / 2,
                "yOffset": height / 2 - inwards,
            }
        if name in ON_WHITE:
            # White below black lines stands out on every fill; only the lines are in the legend.
            white = deepcopy(layers[name])
            white["name"] = f"{name}-white"
            del white["encoding"]["shape"]
            white["mark"] |= {
                "filled": True,
                "fill": "#fff",
                "strokeWidth": 0,
                "shape": shape["scale"]["range"][0],
            }
            spec["layer"].insert(spec["layer"].index(layers[name]), white)
    if "inner" in layers:
        inside = 1 if small else -5
        layers["inner"]["mark"] |= {"width": width + inside, "height": height + inside}
    if "absent" in layers and small:
        layers["absent"]["mark"]["strokeWidth"] = 0.5


def _set_outline(
    spec: dict[str, Any], outline: dict[str, Any], heatmap: Heatmap, width: int, height: int
) -> None:
    """Put the edges of regions in, white dots on a black line: dashes mark a best cell."""
    spec["layer"].insert(spec["layer"].index(outline), halo := deepcopy(outline))
    halo["mark"] |= {"stroke": "#000", "strokeWidth": 3.5}
    halo["name"] = "halo"
    del halo["encoding"]["strokeDash"]
    outline["encoding"]["strokeDash"]["scale"] = {
        "domain": [heatmap.outline_label],
        "range": [[2, 2.5]],
    }
    _set_edges((halo, outline), heatmap.outline, width, height, heatmap.outline_label)


def _set_edges(
    layers: Sequence[dict[str, Any]],
    edges: Sequence[Segment],
    width: int,
    height: int,
    label: str = "",
) -> None:
    """Give layers of rules these edges, in pixels."""
    values = [
        {
            "left": edge.x * width,
            "top": edge.y * height,
            "right": edge.x2 * width,
            "bottom": edge.y2 * height,
            "label": label,
        }
        for edge in edges
    ]
    for layer in layers:
        layer["data"] = {"values": values}


def _cell_size(heatmap: Heatmap, font_size: int) -> tuple[int, int]:
    """Width and height of a cell in pixels."""
    nx, ny = len(heatmap.x_labels), len(heatmap.y_labels)
    text = 2
    if heatmap.printed:
        text = ceil(heatmap.longest * font_size * 0.6) + 6
    width = min(max(ceil(PLOT_WIDTH / nx), text), max(64, text))
    height = max(min(width, 42), 30 if ny <= 12 and nx <= 12 else 2)
    if not heatmap.printed:
        height = max(height, min(30, ceil(120 / ny)))
        height = min(height, max(TALL // ny, 2))
    return width, height


def _label_axes(encoding: Any, heatmap: Heatmap, width: int, height: int) -> None:
    """Labels of both axes, thinned so that none overlap."""
    angle, step = label_angle(heatmap.x_labels, width)
    encoding["x"]["axis"]["labelAngle"] = angle
    # Counted from the first level on, so that numbers are round where the levels are.
    from_first = heatmap.y_labels[::-1] if heatmap.upwards else heatmap.y_labels
    steps = (("x", heatmap.x_labels, step), ("y", from_first, round_step(LINE / height)))
    for axis, labels, every in steps:
        if every > 1:
            encoding[axis]["axis"]["values"] = [labels[at] for at in thinned(len(labels), every)]


def _row(mark: CellMark) -> dict[str, Any]:
    row = {"x": mark.x, "y": mark.y, "value": mark.value, "text": mark.text, "label": mark.label}
    if mark.fill:
        row["fill"] = mark.fill
    if mark.best:
        row["best"] = "best"
    if mark.absent:
        row["absent"] = mark.absent
    if mark.disputed:
        row["doubt"] = DISPUTED
    if mark.in_best_set:
        row["kept"] = BEST_SET
    return row


def _positions(labels: Sequence[str]) -> Mapping[str, Any]:
    return {"domain": list(labels), "paddingInner": 0, "paddingOuter": 0}


def _shape(kind: str, width: int, height: int) -> str:
    """An SVG path that marks a cell: a frame, a corner, or hatching by the kind of state.

    Coordinates are in halves of the cell's longer side, as Vega scales them.
    """
    unit = max(width, height) / 2
    w, h = width / 2, height / 2
    if kind == "best":
        w, h = w - 1.25, h - 1.25
        return _path([(-w, -h), (w, -h), (w, h), (-w, h)], unit) + "Z"
    if kind == DISPUTED:
        size = min(w, h) * 0.5
        return _path([(w - size, -h), (w, -h), (w, size - h)], unit) + "Z"
    if kind == BEST_SET:
        return "diamond"
    frame = _path([(-w, -h), (w, -h), (w, h), (-w, h)], unit) + "Z"
    step = max(min(w, h) / 2, 2.0)
    offsets = [i * step for i in range(-ceil((w + h) / step), ceil((w + h) / step) + 1)]
    falling = [line for c in offsets if (line := _diagonal(c, w, h))]
    rising = [[(x, -y) for x, y in line] for line in falling]
    level = [[(-w, c), (w, c)] for c in offsets if -h < c < h]
    lines = {
        ABSENT["missing"]: rising,
        ABSENT["failed"]: falling,
        ABSENT["oom"]: level,
        ABSENT["disputed"]: rising + falling,
        ONE_READING: [],
        NOT_RUN: [],
        RUNNING: rising,
        NOT_COMPARED: falling,
        SEVERAL: rising + falling + level,
    }[kind]
    return frame + "".join(_path(line, unit) for line in lines)


def symbol(kind: str) -> str:
    """The SVG path of a state's hatching or a disputed value's corner, from −1 to 1 both ways."""
    return _shape(kind, 16, 16)


def _path(points: Sequence[tuple[float, float]], unit: float) -> str:
    return "M" + "L".join(f"{round(x / unit, 3):g},{round(y / unit, 3):g}" for x, y in points)


def _diagonal(c: float, w: float, h: float) -> list[tuple[float, float]] | None:
    """The part of the line y = x + c that lies in the cell, or None."""
    left, right = max(-w, -h - c), min(w, h - c)
    return [(left, left + c), (right, right + c)] if right - left > 0.5 else None
