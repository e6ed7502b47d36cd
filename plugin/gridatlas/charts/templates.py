"""What all charts share: specifications that Altair writes once per kind, labels that fit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from gridatlas.charts.heatmap import Kind
from gridatlas.model.study import Study

if TYPE_CHECKING:
    from altair import Chart as Chart  # noqa: PLC0414 (handed on)

PLOT_WIDTH = 290
"""Pixels that the cells of a grid take in all, where their labels leave the choice."""
DIGIT = 6.6
"""Width of a character of an axis label, in pixels."""
LINE = 14
"""Height that a label takes from the next one, in pixels."""
TILTED = 19
"""Width that a tilted label takes from the next one, in pixels."""
LEVEL_UP_TO = 90
"""Width in pixels up to which labels that are thinned stay level."""
TITLE_LIMIT, KEY_LIMIT, LABEL_LIMIT = 400, 300, 150
"""Width in pixels at which titles, texts of the legend, and labels of axes are cut."""
WIDEST = 17
"""Width of the widest character of them, in pixels."""
FONT = "sans-serif"
AXIS: Mapping[str, Any] = {
    "ticks": False,
    "domain": False,
    "aria": False,
    "labelLimit": LABEL_LIMIT,
}
"""Properties of each axis of levels."""
LEVEL_LETTERS = 6
"""Characters up to which labels of a plain chart stay level."""


@cache
def heatmap_template(
    kind: Kind, printed: bool, shapes: tuple[str, ...], outlined: bool
) -> dict[str, Any]:
    """A heatmap's specification without its data; Altair writes and checks it once per kind.

    Args:
        shapes: The layers of small marks that it has.
    """
    import altair as alt

    layers = _cell_layers(kind, printed)
    for name in shapes:
        layers += _shape_layers(name)
    if outlined:
        layers.append(
            alt.Chart(name="outline")
            .mark_rule(aria=False, strokeWidth=2, stroke="#fff")
            .encode(
                x=alt.X("left:Q", scale=None),
                x2="right:Q",
                y=alt.Y("top:Q", scale=None),
                y2="bottom:Q",
                strokeDash=alt.StrokeDash("label:N", legend=_key(380)),
            )
        )
    chart = (
        with_look(alt.layer(*layers))
        .encode(
            x=alt.X("x:N", sort=None, axis=alt.Axis(labelAngle=0, labelPadding=6, **AXIS)),
            y=alt.Y("y:N", sort=None, axis=alt.Axis(labelPadding=6, **AXIS)),
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


def _cell_layers(kind: Kind, printed: bool) -> list[Any]:
    """The coloured cells, and where `printed` their values."""
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
    return layers


def _shape_layers(name: str) -> list[Any]:
    """The small marks of one kind, on the cells whose data has the field of its name."""
    import altair as alt

    valid = f"isValid(datum.{name})"
    absent = name == "absent"
    encoding = {"description": "label:N"} if absent else {}
    layers = [
        alt.Chart(name=name)
        .transform_filter(valid)
        .mark_point(
            filled=False,
            opacity=1,
            aria=absent,
            stroke="currentColor" if absent else "#000",
            strokeWidth={"absent": 1, "best": 2.5}.get(name, 1.2),
        )
        .encode(
            shape=alt.Shape(f"{name}:N", legend=_key(100 if name == "kept" else 380)), **encoding
        )
    ]
    if name == "best":
        # Black and white side by side: one of them stands out on every fill.
        layers.append(
            alt.Chart(name="inner")
            .transform_filter(valid)
            .mark_rect(aria=False, filled=False, stroke="#fff", strokeWidth=1.5)
        )
    return layers


def _key(symbol_size: int) -> Any:
    """The legend of small marks, with symbols of this area in square pixels."""
    import altair as alt

    return alt.Legend(
        orient="bottom",
        direction="horizontal",
        columns=2,
        title=None,
        symbolSize=symbol_size,
        symbolStrokeColor="currentColor",
        symbolStrokeWidth=1.2,
        labelLimit=KEY_LIMIT,
        aria=False,
    )


@cache
def line_template(printed: bool) -> dict[str, Any]:
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
    return _without_data(
        with_look(alt.layer(*layers))
        .encode(x=alt.X("x:N", sort=None, axis=alt.Axis(labelAngle=0, labelPadding=6, **AXIS)))
        .properties(title=alt.Title("", anchor="middle", fontSize=14, offset=14, aria=False))
    )


def with_look(layers: Any) -> Any:
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


# --- labels that fit ----------------------------------------------------------------------------


def drawable_labels(labels: Iterable[str]) -> dict[str, str]:
    """Labels as they are drawn; what isn't seen tells those apart that become alike."""
    found: dict[str, str] = {}
    for label in labels:
        drawn = drawable_text(label, LABEL_LIMIT)
        while drawn in found.values():
            drawn += "\u200b"
        found[label] = drawn
    return found


def drawable_text(text: str, limit: int) -> str:
    """A text with a square for each character that can't be cut, where it may be cut at `limit`."""
    if is_drawable(text) or len(text) * WIDEST <= limit:
        return text
    return "".join(character if is_drawable(character) else "□" for character in text)


def is_drawable(text: str) -> bool:
    """Whether no character is beyond U+FFFF, of which vl-convert can't draw a half."""
    return text.isascii() or max(text) <= "\uffff"


def label_angle(labels: Sequence[str], width: int) -> tuple[int, int]:
    """Angle of the labels below cells of this width, and the step from one shown to the next."""
    longest = max(map(len, labels)) * DIGIT
    if longest <= width - 2:
        return 0, 1
    if width >= TILTED:
        return -40, 1
    if longest <= LEVEL_UP_TO:
        return 0, round_step((longest + 8) / width)
    return -40, round_step(TILTED / width)


def round_step(least: float) -> int:
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


# --- for notebooks ------------------------------------------------------------------------------


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
    level = all(len(str(key)) <= LEVEL_LETTERS for key in across)
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
            tooltip=[alt.Tooltip(**field) for field in (x, y, value)],
        )
    )
    return chart


def _field(name: str) -> str:
    """A column's name as Vega-Lite reads it: dots and brackets would lead into objects."""
    return re.sub(r"([.\[\]\\])", r"\\\1", name)
