"""The Vega-Lite specification of a heatmap, written and checked by Altair."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache
from math import ceil
from typing import TYPE_CHECKING, Any

from gridatlas.charts.heatmap import (
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
    Kind,
)
from gridatlas.charts.line import LineChart
from gridatlas.model.study import Study

if TYPE_CHECKING:
    from altair import Chart as Chart  # noqa: PLC0414 (handed on)

PLOT_WIDTH = 290
"""Pixels that the cells of a grid take in all, where their labels leave the choice."""
TALL = 600
"""Pixels that the cells take at most from top to bottom, where no value is printed in them."""
SMALL = 14
"""Pixels of a cell below which a best cell's outline lies around it, not in it."""
DIGIT = 6.6
"""Width of a character of an axis label, in pixels."""
LINE = 14
"""Height that a label takes from the next one, in pixels."""
TILTED = 19
"""Width that a tilted label takes from the next one, in pixels."""
LEVEL_UP_TO = 90
"""Width in pixels up to which labels that are thinned stay level."""
LEVEL_LETTERS = 6
"""Characters up to which labels of a plain chart stay level."""
TITLE_LIMIT, KEY_LIMIT, LABEL_LIMIT = 400, 300, 150
"""Width in pixels at which titles, texts of the legend, and labels of axes are cut."""
WIDEST = 17
"""Width of the widest character of them, in pixels."""
ON_WHITE = ("doubt", "kept")
"""Layers of small marks on the cells, which need a ground of their own."""
FONT = "sans-serif"


def specification(heatmap: Heatmap) -> dict[str, Any]:
    """The complete Vega-Lite specification of a heatmap, with its data inline.

    Strings from data are only ever values of data, titles and domains, never expressions.
    """
    nx, ny = len(heatmap.x_labels), len(heatmap.y_labels)
    font_size = 13 if nx <= 7 else 11
    width, height = _cell_size(heatmap, font_size)
    shapes = {
        "best": ["best"] if any(mark.best for mark in heatmap.marks) else [],
        "absent": list(dict.fromkeys(mark.absent for mark in heatmap.marks if mark.absent)),
        "doubt": [DISPUTED] if any(mark.disputed for mark in heatmap.marks) else [],
        "kept": [BEST_SET] if any(mark.in_best_set for mark in heatmap.marks) else [],
    }
    layers_drawn = tuple(name for name, kinds in shapes.items() if kinds)
    spec: dict[str, Any] = deepcopy(
        _template(heatmap.kind, heatmap.printed, layers_drawn, bool(heatmap.outline))
    )
    spec |= {
        "title": spec["title"] | {"text": heatmap.title},
        "description": heatmap.description,
        "width": width * nx,
        "height": height * ny,
    }
    spec["data"] = {"values": [_row(mark) for mark in heatmap.marks]}
    _label_axes(spec["encoding"], heatmap, width, height)
    layers = {layer["name"]: layer for layer in spec["layer"]}
    color = layers["cells"]["encoding"]["color"]
    color["scale"]["domain"] = list(heatmap.domain)
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
    return spec


def drawable(heatmap: Heatmap) -> Heatmap:
    """The heatmap with texts that Vega can cut where they are too long.

    It cuts between the halves of a character beyond U+FFFF, such as an emoji, and half of one can't
    be drawn by vl-convert: where a text may be cut, a square stands for each. The labels of cells
    keep them, and so does the specification for browsers, which can.
    """
    texts = (heatmap.x_title, heatmap.y_title, heatmap.legend, heatmap.outline_label)
    if all(map(_in_one_part, (*texts, *heatmap.x_labels, *heatmap.y_labels))):
        return heatmap
    x, y = (_whole_labels(labels) for labels in (heatmap.x_labels, heatmap.y_labels))
    return replace(
        heatmap,
        x_title=_whole(heatmap.x_title, TITLE_LIMIT),
        y_title=_whole(heatmap.y_title, TITLE_LIMIT),
        legend=_whole(heatmap.legend, TITLE_LIMIT),
        outline_label=_whole(heatmap.outline_label, KEY_LIMIT),
        x_labels=tuple(x.values()),
        y_labels=tuple(y.values()),
        marks=tuple(replace(mark, x=x[mark.x], y=y[mark.y]) for mark in heatmap.marks),
    )


def _whole_labels(labels: Iterable[str]) -> dict[str, str]:
    """Labels as they are drawn; what isn't seen tells those apart that become alike."""
    found: dict[str, str] = {}
    for label in labels:
        drawn = _whole(label, LABEL_LIMIT)
        while drawn in found.values():
            drawn += "\u200b"
        found[label] = drawn
    return found


def _whole(text: str, limit: int) -> str:
    if _in_one_part(text) or len(text) * WIDEST <= limit:
        return text
    return "".join(character if _in_one_part(character) else "□" for character in text)


def _in_one_part(text: str) -> bool:
    return text.isascii() or max(text) <= "\uffff"


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
    """Put the edges of regions in, white dashes on a black line."""
    spec["layer"].insert(spec["layer"].index(outline), halo := deepcopy(outline))
    halo["mark"] |= {"stroke": "#000", "strokeWidth": 3.5}
    halo["name"] = "halo"
    del halo["encoding"]["strokeDash"]
    outline["encoding"]["strokeDash"]["scale"] = {
        "domain": [heatmap.outline_label],
        "range": [[5, 3]],
    }
    halo["data"] = outline["data"] = {
        "values": [
            {
                "left": edge.x * width,
                "top": edge.y * height,
                "right": edge.x2 * width,
                "bottom": edge.y2 * height,
                "label": heatmap.outline_label,
            }
            for edge in heatmap.outline
        ]
    }


def _cell_size(heatmap: Heatmap, font_size: int) -> tuple[int, int]:
    """Width and height of a cell in pixels."""
    nx, ny = len(heatmap.x_labels), len(heatmap.y_labels)
    text = 2
    if heatmap.printed:
        longest = max((len(mark.text) for mark in heatmap.marks), default=0)
        text = ceil(longest * font_size * 0.6) + 6
    width = min(max(ceil(PLOT_WIDTH / nx), text), max(64, text))
    height = max(min(width, 42), 30 if ny <= 12 and nx <= 12 else 2)
    if not heatmap.printed:
        height = max(height, min(30, ceil(120 / ny)))
        height = min(height, max(TALL // ny, 2))
    return width, height


def _label_axes(encoding: Any, heatmap: Heatmap, width: int, height: int) -> None:
    """Titles, positions and labels of both axes; labels are thinned so that none overlap."""
    encoding["x"] |= {"title": heatmap.x_title, "scale": _positions(heatmap.x_labels)}
    encoding["y"] |= {"title": heatmap.y_title, "scale": _positions(heatmap.y_labels)}
    angle, step = _across(heatmap.x_labels, width)
    encoding["x"]["axis"]["labelAngle"] = angle
    # Counted from the first level on, so that numbers are round where the levels are.
    from_first = heatmap.y_labels[::-1] if heatmap.upwards else heatmap.y_labels
    steps = (("x", heatmap.x_labels, step), ("y", from_first, _round(LINE / height)))
    for axis, labels, every in steps:
        if every > 1:
            encoding[axis]["axis"]["values"] = [labels[at] for at in thinned(len(labels), every)]


def _across(labels: Sequence[str], width: int) -> tuple[int, int]:
    """Angle of the labels below cells of this width, and the step from one shown to the next."""
    longest = max(map(len, labels)) * DIGIT
    if longest <= width - 2:
        return 0, 1
    if width >= TILTED:
        return -40, 1
    if longest <= LEVEL_UP_TO:
        return 0, _round((longest + 8) / width)
    return -40, _round(TILTED / width)


def _round(least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50, … that is at least so large."""
    step = 1
    while step < least:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return step


def thinned(number: int, step: int) -> list[int]:
    """The places of labels that are shown: every step-th, and always the first and the last."""
    places = list(range(0, number - 1, step)) or [0]
    if number - 1 - places[-1] < step and len(places) > 1:
        places.pop()
    return list(dict.fromkeys([*places, number - 1]))


def _row(mark: CellMark) -> dict[str, Any]:
    row = {"x": mark.x, "y": mark.y, "value": mark.value, "text": mark.text, "label": mark.label}
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


def _path(points: Sequence[tuple[float, float]], unit: float) -> str:
    return "M" + "L".join(f"{round(x / unit, 3):g},{round(y / unit, 3):g}" for x, y in points)


def _diagonal(c: float, w: float, h: float) -> list[tuple[float, float]] | None:
    """The part of the line y = x + c that lies in the cell, or None."""
    left, right = max(-w, -h - c), min(w, h - c)
    return [(left, left + c), (right, right + c)] if right - left > 0.5 else None


def altair_chart(study: Study, table: Mapping[str, Sequence[Any]], title: str) -> Chart:
    """A grid as a plain Altair chart, for others to go on with: no configuration, one mark.

    Args:
        table: The grid's cells as columns by name; all of them are the chart's data.
    """
    import altair as alt

    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    across, down = (list(dict.fromkeys(table[axis.id])) for axis in (study.x, study.y))
    if study.y.direction == "up":
        down.reverse()
    unit = f" ({study.metric.unit})" if study.metric.unit else ""
    value: dict[str, Any] = {
        "field": "value",
        "type": "quantitative",
        "title": f"{study.metric.name}{unit}",
    }
    x, y = (
        dict[str, Any](field=_field(axis.id), type="ordinal", title=axis.title)
        for axis in (study.x, study.y)
    )
    level = all(len(str(one)) <= LEVEL_LETTERS for one in across)
    chart: Chart = (
        alt.Chart(alt.InlineData(values=rows), title=title)
        .transform_filter("isValid(datum.value)")
        .mark_rect()
        .encode(
            x=alt.X(
                **x,
                sort=across,
                scale=alt.Scale(domain=across),
                axis=alt.Axis(labelAngle=0 if level else -40),
            ),
            y=alt.Y(**y, sort=down, scale=alt.Scale(domain=down)),
            color=alt.Color(**value, scale=alt.Scale(scheme="yellowgreenblue")),
            tooltip=[alt.Tooltip(**one) for one in (x, y, value)],
        )
    )
    return chart


def _field(name: str) -> str:
    """A column's name as Vega-Lite reads it: dots and brackets would lead into objects."""
    return re.sub(r"([.\[\]\\])", r"\\\1", name)


@cache
def _template(kind: Kind, printed: bool, shapes: tuple[str, ...], outlined: bool) -> dict[str, Any]:
    """A heatmap's specification without its data; Altair writes and checks it once per kind."""
    import altair as alt

    scale = (
        alt.Scale(scheme="yellowgreenblue", domain=[0, 1])
        if kind == "values"
        else alt.Scale(scheme="purpleorange", reverse=True, domain=[-1, 1], domainMid=0)
    )
    gradient = alt.Legend(
        orient="bottom",
        direction="horizontal",
        gradientThickness=11,
        titleFontWeight="normal",
        titleLimit=TITLE_LIMIT,
        tickCount=5,
        aria=False,
    )
    valid = "isValid(datum.value)"
    layers = [
        alt.Chart(name="cells")
        .transform_filter(valid)
        .mark_rect(aria=True)
        .encode(color=alt.Color("value:Q", scale=scale, legend=gradient), description="label:N")
    ]
    if printed:
        dark = "luminance(scale('color', datum.value)) > 0.179"
        layers.append(
            alt.Chart(name="values")
            .transform_filter(valid)
            .mark_text(aria=False)
            .encode(text="text:N", color=alt.condition(dark, alt.value("#000"), alt.value("#fff")))
        )
    key = alt.Legend(
        orient="bottom",
        direction="horizontal",
        columns=2,
        title=None,
        symbolSize=380,
        symbolStrokeColor="currentColor",
        symbolStrokeWidth=1.2,
        labelLimit=KEY_LIMIT,
        aria=False,
    )
    small = key.copy()
    small.symbolSize = 100
    if "absent" in shapes:
        layers.append(
            alt.Chart(name="absent")
            .transform_filter("isValid(datum.absent)")
            .mark_point(filled=False, opacity=1, aria=True, stroke="currentColor", strokeWidth=1)
            .encode(shape=alt.Shape("absent:N", legend=key), description="label:N")
        )
    if "doubt" in shapes:
        layers.append(
            alt.Chart(name="doubt")
            .transform_filter("isValid(datum.doubt)")
            .mark_point(filled=False, opacity=1, aria=False, stroke="#000", strokeWidth=1.2)
            .encode(shape=alt.Shape("doubt:N", legend=key))
        )
    if "kept" in shapes:
        layers.append(
            alt.Chart(name="kept")
            .transform_filter("isValid(datum.kept)")
            .mark_point(filled=False, opacity=1, aria=False, stroke="#000", strokeWidth=1.2)
            .encode(shape=alt.Shape("kept:N", legend=small))
        )
    if "best" in shapes:
        # Black and white side by side: one of them stands out on every fill.
        best = "isValid(datum.best)"
        layers += [
            alt.Chart(name="best")
            .transform_filter(best)
            .mark_point(filled=False, opacity=1, aria=False, stroke="#000", strokeWidth=2.5)
            .encode(shape=alt.Shape("best:N", legend=key)),
            alt.Chart(name="inner")
            .transform_filter(best)
            .mark_rect(aria=False, filled=False, stroke="#fff", strokeWidth=1.5),
        ]
    if outlined:
        layers.append(
            alt.Chart(name="outline")
            .mark_rule(aria=False, strokeWidth=2, stroke="#fff")
            .encode(
                x=alt.X("left:Q", scale=None),
                x2="right:Q",
                y=alt.Y("top:Q", scale=None),
                y2="bottom:Q",
                strokeDash=alt.StrokeDash("label:N", legend=key),
            )
        )
    axis: dict[str, Any] = {
        "ticks": False,
        "domain": False,
        "aria": False,
        "labelLimit": LABEL_LIMIT,
    }
    chart = (
        _in_our_look(alt.layer(*layers))
        .encode(
            x=alt.X("x:N", sort=None, axis=alt.Axis(labelAngle=0, labelPadding=6, **axis)),
            y=alt.Y("y:N", sort=None, axis=alt.Axis(labelPadding=6, **axis)),
        )
        .properties(title=alt.Title("", anchor="middle", fontSize=14, offset=8, aria=False))
        .resolve_scale(shape="independent", color="shared")
        .configure_legend(
            labelColor="currentColor",
            titleColor="currentColor",
            labelFontSize=11,
            titleFontSize=12,
            padding=2,
        )
    )
    spec = _without_data(chart)
    spec["config"]["legend"]["layout"] = {"bottom": {"anchor": "start", "direction": "vertical"}}
    return spec


# --- lines --------------------------------------------------------------------------------------

LINE_HEIGHT = 170
"""Pixels from the lower to the upper end of a line's vertical axis."""
POINTS_UP_TO = 12
"""Points of a line up to which each has its value printed above it."""


def line_specification(chart: LineChart) -> dict[str, Any]:
    """The complete Vega-Lite specification of a row or column, with its data inline."""
    drawn = _whole_labels(point.x for point in chart.points)
    labels = list(drawn.values())
    width = max(ceil(PLOT_WIDTH / len(labels)), 2)
    printed = len(labels) <= POINTS_UP_TO
    spec: dict[str, Any] = deepcopy(_line_template(printed))
    spec |= {
        "title": spec["title"] | {"text": chart.title},
        "description": chart.description,
        "width": width * len(labels),
        "height": LINE_HEIGHT,
    }
    spec["data"] = {
        "values": [
            {"x": drawn[point.x], "value": point.value, "text": point.text, "label": point.label}
            | ({} if point.low is None else {"low": point.low, "high": point.high})
            | ({} if point.value is None else {"top": point.value})
            | ({} if point.high is None else {"top": point.high})
            for point in chart.points
        ]
    }
    x = spec["encoding"]["x"]
    x |= {"title": _whole(chart.x_title, TITLE_LIMIT), "scale": {"domain": labels}}
    angle, step = _across(labels, width)
    x["axis"]["labelAngle"] = angle
    if step > 1:
        x["axis"]["values"] = [labels[at] for at in thinned(len(labels), step)]
    low, high = chart.domain
    top = high + (high - low) / 10 if printed else high  # room for the values above the points
    for layer in spec["layer"]:
        y = layer["encoding"]["y"]
        y["title"] = _whole(chart.y_title, TITLE_LIMIT)
        y["scale"] = {"domain": [low, top], "zero": False, "nice": True}
        y["axis"]["format"] = f".{chart.decimals}f"
    return spec


@cache
def _line_template(printed: bool) -> dict[str, Any]:
    """A line's specification without its data."""
    import altair as alt

    scale = alt.Scale(domain=[0, 1])

    def y(field: str) -> Any:
        axis = alt.Axis(
            grid=True,
            gridColor="currentColor",
            gridOpacity=0.15,
            ticks=False,
            domain=False,
            aria=False,
            tickCount=5,
            labelPadding=6,
        )
        return alt.Y(f"{field}:Q", scale=scale, axis=axis)

    layers = [
        alt.Chart(name="interval")
        .transform_filter("isValid(datum.low)")
        .mark_rule(aria=False, strokeWidth=6, opacity=0.3, stroke="currentColor")
        .encode(y=y("low"), y2="high:Q"),
        # A gap where there is no value: nothing is drawn across it.
        alt.Chart(name="line")
        .mark_line(
            aria=False, stroke="currentColor", strokeWidth=1.5, invalid="break-paths-show-domains"
        )
        .encode(y=y("value")),
        alt.Chart(name="points")
        .transform_filter("isValid(datum.value)")
        .mark_point(
            aria=True, filled=True, opacity=1, size=45, fill="currentColor", stroke="currentColor"
        )
        .encode(y=y("value"), description="label:N"),
    ]
    if printed:
        layers.append(
            alt.Chart(name="values")
            .transform_filter("isValid(datum.top)")
            .mark_text(aria=False, dy=-8, fontSize=11, color="currentColor")
            .encode(y=y("top"), text="text:N")
        )
    axis: dict[str, Any] = {
        "ticks": False,
        "domain": False,
        "aria": False,
        "labelLimit": LABEL_LIMIT,
    }
    return _without_data(
        _in_our_look(alt.layer(*layers))
        .encode(x=alt.X("x:N", sort=None, axis=alt.Axis(labelAngle=0, labelPadding=6, **axis)))
        .properties(title=alt.Title("", anchor="middle", fontSize=14, offset=14, aria=False))
    )


def _in_our_look(layers: Any) -> Any:
    """Layers with fonts and colours as all charts have them."""
    return (
        layers.configure(background="transparent", font=FONT)
        .configure_view(stroke=None)
        .configure_title(color="currentColor")
        .configure_axis(
            labelColor="currentColor",
            titleColor="currentColor",
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            titlePadding=8,
            titleLimit=TITLE_LIMIT,
        )
    )


def _without_data(chart: Any) -> dict[str, Any]:
    """The specification of layers, which share the chart's data."""
    spec: dict[str, Any] = chart.to_dict()
    del spec["datasets"]  # the layers' own, empty
    for layer in spec["layer"]:
        del layer["data"]
    return spec
