"""Heatmaps without their data, as Altair writes them: `make vega` puts them into the package.

A build reads the file, since Altair takes as long to start as ten heatmaps to draw.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridatlas.charts.palette import BLACK_UP_TO
from gridatlas.charts.plotting import INK, KEY_LIMIT, LABEL_LIMIT, TITLE_LIMIT

FONT = "sans-serif"
AXIS: Mapping[str, Any] = {
    "ticks": False,
    "domain": False,
    "aria": False,
    "labelLimit": LABEL_LIMIT,
    "labelPadding": 6,
}
"""Properties of each axis of levels."""
SHAPES = ("absent", "doubt", "kept", "best")
"""Layers of small marks, on the cells whose data has the field of their name."""
VALID = "isValid(datum.value)"


def heatmap_template() -> dict[str, Any]:
    """A heatmap with all layers that one may have; of those of its cells it has one."""
    import altair as alt

    layers = [
        _cells("cells-values", alt.Scale(scheme="yellowgreenblue", domain=[0, 1])),
        _cells(
            "cells-difference",
            alt.Scale(scheme="purpleorange", reverse=True, domain=[-1, 1], domainMid=0),
        ),
        _values(f"luminance(scale('color', datum.value)) > {BLACK_UP_TO}"),
    ]
    for name in SHAPES:
        layers += _shape_layers(name)
    chart = (
        with_look(alt.layer(*layers, _edges("outline")))
        .encode(
            x=alt.X("x:N", sort=None, axis=alt.Axis(labelAngle=0, **AXIS)),
            y=alt.Y("y:N", sort=None, axis=alt.Axis(**AXIS)),
        )
        .properties(title=alt.Title("", anchor="middle", fontSize=14, offset=8, aria=False))
        .resolve_scale(shape="independent", color="shared")
        .configure_legend(
            labelColor=INK, titleColor=INK, labelFontSize=11, titleFontSize=12, padding=2
        )
    )
    spec = without_data(chart)
    spec["config"]["legend"]["layout"] = {"bottom": {"anchor": "start", "direction": "vertical"}}
    return spec


def panel_template() -> dict[str, Any]:
    """A heatmap among others, whose cells bring their colours; of best cells it has one layer."""
    import altair as alt

    layers = [
        alt.Chart(name="cells")
        .transform_filter(VALID)
        .mark_rect(aria=True)
        .encode(fill=alt.Fill("fill:N", scale=None), description="label:N"),
        _values(f"luminance(datum.fill) > {BLACK_UP_TO}"),
    ]
    for name in SHAPES:
        layers += [_best_frame()] if name == "best" else _shape_layers(name, legend=False)
    layers += [_edges(name, legend=False) for name in ("outline", "rivals")]
    return without_data(
        with_look(alt.layer(*layers, _best_frame(dashed=True)))
        .encode(
            x=alt.X("x:N", sort=None, axis=alt.Axis(labelAngle=0, **AXIS)),
            y=alt.Y("y:N", sort=None, axis=alt.Axis(**AXIS)),
        )
        .resolve_scale(shape="independent")
    )


def _cells(name: str, scale: Any) -> Any:
    """The coloured cells, with the legend of their colours."""
    import altair as alt

    gradient = alt.Legend(
        orient="bottom",
        direction="horizontal",
        gradientThickness=11,
        titleFontWeight="normal",
        titleLimit=TITLE_LIMIT,
        tickCount=5,
        aria=False,
    )
    return (
        alt.Chart(name=name)
        .transform_filter(VALID)
        .mark_rect(aria=True)
        .encode(color=alt.Color("value:Q", scale=scale, legend=gradient), description="label:N")
    )


def _values(light: str) -> Any:
    """The values in cells: black where an expression says that the cell is light."""
    import altair as alt

    return (
        alt.Chart(name="values")
        .transform_filter(VALID)
        .mark_text(aria=False)
        .encode(text="text:N", color=alt.condition(light, alt.value("#000"), alt.value("#fff")))
    )


def _edges(name: str, legend: bool = True) -> Any:
    """Edges of a region (`outline`), or around cells that may be the best (`rivals`)."""
    import altair as alt

    stroke = "#fff" if name == "outline" else INK
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


def _best_frame(dashed: bool = False) -> Any:
    """The outlines of best cells among other heatmaps, in the colour of the text in them."""
    import altair as alt

    look: dict[str, Any] = {"strokeWidth": 1.8, "strokeDash": [4, 2]} if dashed else {}
    stroke = alt.condition(
        f"luminance(datum.fill) > {BLACK_UP_TO}", alt.value("#000"), alt.value("#fff")
    )
    return (
        alt.Chart(name="best-dashed" if dashed else "best")
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
            stroke=INK if absent else "#000",
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
        symbolStrokeColor=INK,
        symbolStrokeWidth=1.2,
        labelLimit=KEY_LIMIT,
        aria=False,
    )


# --- what heatmaps and plots share ---------------------------------------------------------------


def with_look(layers: Any) -> Any:
    """Layers with fonts and colours as all charts have them."""
    return (
        layers.configure(background="transparent", font=FONT)
        .configure_view(stroke=None)
        .configure_title(color=INK)
        .configure_axis(
            labelColor=INK,
            titleColor=INK,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            titlePadding=8,
            titleLimit=TITLE_LIMIT,
        )
    )


def without_data(chart: Any) -> dict[str, Any]:
    """The specification of layers, whose data comes later."""
    spec: dict[str, Any] = chart.to_dict()
    for name in ("data", "datasets"):  # Altair gives each chart some, which is empty.
        spec.pop(name, None)
    for layer in spec["layer"]:
        layer.pop("data", None)
    return spec
