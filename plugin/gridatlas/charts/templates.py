"""What all charts share, and heatmaps and lines without their data, as Altair writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gridatlas.charts.heatmap import Kind
from gridatlas.charts.labels import KEY_LIMIT, LABEL_LIMIT, TITLE_LIMIT
from gridatlas.charts.palette import BLACK_UP_TO
from gridatlas.model.study import Study

if TYPE_CHECKING:
    from altair import Chart as Chart  # noqa: PLC0414 (handed on)

PLOT_WIDTH = 290
"""Pixels that the cells of a grid take in all, where their labels leave the choice."""
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


def heatmap_template(
    kind: Kind, printed: bool, shapes: Sequence[str], outlined: bool
) -> dict[str, Any]:
    """A heatmap's specification without its data.

    Args:
        shapes: The layers of small marks that it has.
    """
    import altair as alt

    layers = _cell_layers(kind, printed)
    for name in shapes:
        layers += _shape_layers(name)
    if outlined:
        layers.append(_edges("outline"))
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


def panel_template(
    printed: bool,
    shapes: Sequence[str],
    outlines: Sequence[str],
    dashed: bool,
    labelled: bool,
) -> dict[str, Any]:
    """The specification of a heatmap among others, whose cells bring their colours.

    Args:
        shapes: The layers of small marks that it has.
        outlines: Its layers of edges: `outline` of regions, `rivals` of what may be the best.
        dashed: Whether the outlines of best cells are dashed.
        labelled: Whether it has the labels of its axes.
    """
    import altair as alt

    x = alt.Axis(labelAngle=0, labelPadding=6, **AXIS) if labelled else None
    y = alt.Axis(labelPadding=6, **AXIS) if labelled else None
    valid = "isValid(datum.value)"
    layers = [
        alt.Chart(name="cells")
        .transform_filter(valid)
        .mark_rect(aria=True)
        .encode(fill=alt.Fill("fill:N", scale=None), description="label:N")
    ]
    if printed:
        dark = f"luminance(datum.fill) > {BLACK_UP_TO}"
        layers.append(
            alt.Chart(name="values")
            .transform_filter(valid)
            .mark_text(aria=False)
            .encode(text="text:N", color=alt.condition(dark, alt.value("#000"), alt.value("#fff")))
        )
    for name in shapes:
        layers += [_best_frame(dashed)] if name == "best" else _shape_layers(name, legend=False)
    layers += [_edges(name, legend=False) for name in outlines]
    return _without_data(
        with_look(alt.layer(*layers))
        .encode(
            x=alt.X("x:N", sort=None, axis=x),
            y=alt.Y("y:N", sort=None, axis=y),
        )
        .resolve_scale(shape="independent")
    )


def _edges(name: str, legend: bool = True) -> Any:
    """Edges of a region (`outline`), or around cells that may be the best (`rivals`)."""
    import altair as alt

    stroke = "#fff" if name == "outline" else "currentColor"
    rules = alt.Chart(name=name).mark_rule(aria=False, strokeWidth=2, stroke=stroke)
    rules = rules.encode(
        x=alt.X("left:Q", scale=None),
        x2="right:Q",
        y=alt.Y("top:Q", scale=None),
        y2="bottom:Q",
    )
    if name != "outline":
        return rules
    return rules.encode(strokeDash=alt.StrokeDash("label:N", legend=_key(380) if legend else None))


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


def _best_frame(dashed: bool) -> Any:
    """The outlines of best cells among other heatmaps, in the colour of the text in them."""
    import altair as alt

    look: dict[str, Any] = {"strokeWidth": 1.8, "strokeDash": [4, 2]} if dashed else {}
    stroke = alt.condition(
        f"luminance(datum.fill) > {BLACK_UP_TO}", alt.value("#000"), alt.value("#fff")
    )
    return (
        alt.Chart(name="best")
        .transform_filter("isValid(datum.best)")
        .mark_point(filled=False, opacity=1, aria=False, **({"strokeWidth": 2.5} | look))
        .encode(shape=alt.Shape("best:N", legend=None), stroke=stroke)
    )


def _shape_layers(name: str, legend: bool = True) -> list[Any]:
    """The small marks of one kind, on the cells whose data has the field of its name."""
    import altair as alt

    valid = f"isValid(datum.{name})"
    absent = name == "absent"
    encoding = {"description": "label:N"} if absent else {}
    key = _key(100 if name == "kept" else 380) if legend else None
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
        .encode(shape=alt.Shape(f"{name}:N", legend=key), **encoding)
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


# --- for notebooks ------------------------------------------------------------------------------


def altair_chart(study: Study, table: Mapping[str, Sequence[Any]], title: str) -> Chart:
    """A grid as a plain Altair chart, for others to go on with: no configuration, one mark.

    Args:
        table: The grid's cells as columns by name; all of them are the chart's data.
    """
    import altair as alt

    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    across, *rows_of = (list(dict.fromkeys(table[axis.id])) for axis in study.varied)
    down = rows_of[0] if rows_of else []
    if study.y.direction == "up":
        down.reverse()
    unit = f" ({study.metric.unit})" if study.metric.unit else ""
    value: dict[str, Any] = {
        "field": "value",
        "type": "quantitative",
        "title": f"{study.metric.name}{unit}",
    }
    x, *y = (
        dict[str, Any](field=_field(axis.id), type="ordinal", title=axis.title)
        for axis in study.varied
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
            **({"y": alt.Y(**y[0], sort=down, scale=alt.Scale(domain=down))} if y else {}),
            color=alt.Color(**value, scale=alt.Scale(scheme="yellowgreenblue")),
            tooltip=[alt.Tooltip(**field) for field in (x, *y, value)],
        )
    )
    return chart


def _field(name: str) -> str:
    """A column's name as Vega-Lite reads it: dots and brackets would lead into objects."""
    return re.sub(r"([.\[\]\\])", r"\\\1", name)
