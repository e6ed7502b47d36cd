"""Plots without their data, as Altair writes them: `make vega` puts them into the package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridatlas.charts.kinds import dots, forest, ratios, sweep
from gridatlas.charts.plotting import ACCENT, INK, KEY_LIMIT, LABEL_LIMIT, TITLE_LIMIT

FONT = "sans-serif"
AXIS: Mapping[str, Any] = {
    "ticks": False,
    "domain": False,
    "aria": False,
    "labelLimit": LABEL_LIMIT,
    "labelPadding": 6,
}
"""Properties of each axis of levels."""
FONT_SIZE = 12
SIGNED = "(datum.value > 0 ? '+' : '') + datum.label"
"""How an axis of differences labels its ticks: an expression without any text from data."""


def line_template() -> dict[str, Any]:
    """A line along the one varied quantity."""
    import altair as alt

    scale = alt.Scale(domain=[0, 1])

    def y(field: str) -> Any:
        return alt.Y(f"{field}:Q", scale=scale, axis=_quantity_axis())

    layers = [
        alt.Chart(name="interval")
        .transform_filter("isValid(datum.low)")
        .mark_rule(aria=False, strokeWidth=6, opacity=0.3, stroke=INK)
        .encode(y=y("low"), y2="high:Q"),
        # A gap where there is no value: nothing is drawn across it.
        alt.Chart(name="line")
        .mark_line(aria=False, stroke=INK, strokeWidth=1.5, invalid="break-paths-show-domains")
        .encode(y=y("value")),
        alt.Chart(name="points")
        .transform_filter("isValid(datum.value)")
        .mark_point(aria=True, filled=True, opacity=1, size=45, fill=INK, stroke=INK)
        .encode(y=y("value"), description="label:N"),
        alt.Chart(name="values")
        .transform_filter("isValid(datum.top)")
        .mark_text(aria=False, dy=-8, fontSize=11, color=INK)
        .encode(y=y("top"), text="text:N"),
    ]
    return without_data(
        with_look(alt.layer(*layers))
        .encode(x=alt.X("x:N", sort=None, axis=alt.Axis(labelAngle=0, **AXIS)))
        .properties(title=alt.Title("", anchor="middle", fontSize=14, offset=14, aria=False))
    )


def dots_template() -> dict[str, Any]:
    """Settings in rows, the best one on top."""
    import altair as alt

    scale = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("value:Q", scale=scale, axis=_quantity_axis())
    ends = alt.X("low:Q", scale=scale, axis=_quantity_axis())
    y = alt.Y("row:O", axis=None, sort=None, scale=alt.Scale(paddingInner=0, paddingOuter=0))
    colour = alt.Stroke("colour:N", scale=None)
    layers = [
        alt.Chart(name="band")
        .mark_rect(aria=False, fill=ACCENT, opacity=0.14)
        .encode(x=ends, x2="high:Q"),
        alt.Chart(name="intervals")
        .mark_rule(aria=False)
        .encode(
            x=ends,
            x2="high:Q",
            y=y,
            stroke=colour,
            strokeWidth=alt.StrokeWidth("width:Q", scale=None),
            opacity=alt.Opacity("opacity:Q", scale=None),
        ),
        alt.Chart(name="dots")
        .mark_point(aria=False, filled=True, opacity=1)
        .encode(
            x=x,
            y=y,
            fill=alt.Fill("colour:N", scale=None),
            size=alt.Size("size:Q", scale=None),
            stroke=colour,
        ),
        *_row_texts(y, dots.WIDTH),
        # What is pointed at: the whole row, from its name to its value.
        alt.Chart(name="rows")
        .mark_rect(aria=True, fill="#000", opacity=0)
        .encode(x=alt.value(0), x2=alt.value(dots.WIDTH), y=y, description="label:N"),
    ]
    return without_data(with_look(alt.layer(*layers)))


def profile_template() -> dict[str, Any]:
    """Lines of what each level does to a value."""
    import altair as alt

    scale = alt.Scale(domain=[-1, 1], nice=False)
    x = alt.X(
        "level:N",
        sort=None,
        scale=alt.Scale(type="point", padding=0.5),
        axis=alt.Axis(labelAngle=0, labelPadding=6, ticks=False, domain=False, aria=False),
    )
    y = alt.Y("offset:Q", scale=scale, axis=_quantity_axis(labelExpr=SIGNED))
    colour = alt.Stroke("colour:N", scale=None)
    layers = [
        alt.Chart(name="band")
        .mark_rect(aria=False, fill=INK, opacity=0.08)
        .encode(y=alt.Y("low:Q", scale=scale), y2="high:Q"),
        *(
            alt.Chart(name=name)
            .mark_rule(aria=False, stroke=INK, opacity=0.5, **look)
            .encode(y=alt.Y("offset:Q", scale=scale))
            for name, look in (("zero", {}), ("least", {"strokeDash": [4, 3]}))
        ),
        # A gap where a level takes no part: nothing is drawn across it.
        alt.Chart(name="lines")
        .mark_line(aria=False, strokeWidth=2, invalid="break-paths-show-domains")
        .encode(
            x=x,
            y=y,
            stroke=colour,
            strokeDash=alt.StrokeDash("dash:N", scale=None),
            opacity=alt.Opacity("opacity:Q", scale=None),
            detail="line:N",
        ),
        alt.Chart(name="points")
        .transform_filter("isValid(datum.offset)")
        .mark_point(aria=True, filled=True, opacity=1, size=40)
        .encode(
            x=x,
            y=y,
            fill=alt.Fill("colour:N", scale=None),
            stroke=colour,
            shape=alt.Shape("shape:N", scale=None),
            description="label:N",
        ),
        *_end_names(),
    ]
    return without_data(with_look(alt.layer(*layers)))


def sweep_template() -> dict[str, Any]:
    """Lines along one axis, to scale: places across are pixels."""
    import altair as alt

    x = alt.X("left:Q", scale=None, axis=None)

    def y(field: str) -> Any:
        scale = alt.Scale(domain=[0, 1], nice=False, zero=False)
        return alt.Y(f"{field}:Q", scale=scale, axis=_quantity_axis())

    colour = alt.Stroke("colour:N", scale=None)
    opacity = alt.Opacity("opacity:Q", scale=None)
    text: dict[str, Any] = {"aria": False, "fontSize": FONT_SIZE, "color": INK}
    below = alt.value(sweep.HEIGHT)
    layers = [
        alt.Chart(name="edge")
        .mark_rect(aria=False, fill=INK, opacity=0.08)
        .encode(x=x, x2="right:Q", y=alt.value(0), y2=below),
        alt.Chart(name="intervals")
        .mark_rule(aria=False, strokeWidth=2, opacity=0.7)
        .encode(x=x, y=y("low"), y2="high:Q", stroke=colour),
        # A gap where there is no value: nothing is drawn across it.
        alt.Chart(name="lines")
        .mark_line(aria=False, strokeWidth=1.8, invalid="break-paths-show-domains")
        .encode(
            x=x,
            y=y("value"),
            stroke=colour,
            strokeDash=alt.StrokeDash("dash:N", scale=None),
            opacity=opacity,
            detail="line:N",
        ),
        alt.Chart(name="points")
        .mark_point(aria=True, filled=False, strokeWidth=1.6)
        .encode(
            x=x,
            y=y("value"),
            fill=alt.Fill("fill:N", scale=None),
            stroke=alt.Stroke("edge:N", scale=None),
            size=alt.Size("size:Q", scale=None),
            shape=alt.Shape("shape:N", scale=None),
            opacity=opacity,
            description="label:N",
        ),
        *(
            alt.Chart(name=f"{prefix}texts")
            .mark_text(align="left", dx=6, fontWeight=weight, **text)
            .encode(x=x, y=alt.Y("top:Q", scale=None, axis=None), text="text:N")
            for prefix, weight in (("", "normal"), ("bold-", "bold"))
        ),
        *_end_names(),
        alt.Chart(name="levels")
        .mark_text(dy=14, limit=LABEL_LIMIT, **text)
        .encode(x=x, y=below, text="text:N"),
        alt.Chart(name="axis")
        .mark_text(dy=34, limit=TITLE_LIMIT, **text)
        .encode(x=x, y=below, text="text:N"),
    ]
    return without_data(with_look(alt.layer(*layers)))


def rows_template() -> dict[str, Any]:
    """Rows of dots, ticks and their range along an axis of values: places down are pixels."""
    import altair as alt

    scale = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("value:Q", scale=scale, axis=_quantity_axis())
    top = alt.Y("top:Q", scale=None, axis=None)
    colour = alt.Stroke("colour:N", scale=None)
    width = alt.StrokeWidth("width:Q", scale=None)
    text: dict[str, Any] = {"aria": False, "fontSize": FONT_SIZE}
    weights = (("", "normal"), ("bold-", "bold"))
    layers = [
        alt.Chart(name="zero").mark_rule(aria=False, stroke=INK, strokeWidth=1.2).encode(x=x),
        alt.Chart(name="intervals")
        .mark_rule(aria=False, strokeWidth=1.6)
        .encode(
            x=alt.X("low:Q", scale=scale, axis=_quantity_axis()), x2="high:Q", y=top, stroke=colour
        ),
        alt.Chart(name="ticks")
        .mark_rule(aria=False)
        .encode(
            x=x,
            y=top,
            y2="bottom:Q",
            stroke=colour,
            strokeWidth=width,
            opacity=alt.Opacity("opacity:Q", scale=None),
        ),
        alt.Chart(name="dots")
        .mark_point(aria=False, filled=False, strokeWidth=1.4, opacity=1)
        .encode(
            x=x,
            y=top,
            fill=alt.Fill("fill:N", scale=None),
            stroke=colour,
            size=alt.Size("size:Q", scale=None),
        ),
        *(
            alt.Chart(name=f"{prefix}{name}")
            .mark_text(align=align, dx=dx, limit=limit, fontWeight=weight, color=INK, **text)
            .encode(x=alt.value(place), y=top, text=f"{name[:-1]}:N")
            for prefix, weight in weights
            for name, align, dx, place, limit in (
                ("names", "right", -10, 0, LABEL_LIMIT),
                ("texts", "left", 10, ratios.WIDTH, TITLE_LIMIT),
            )
        ),
        *(
            alt.Chart(name=f"{prefix}labels")
            .mark_text(align="left", dx=9, fontWeight=weight, limit=KEY_LIMIT, **text)
            .encode(x=x, y=top, text="text:N", fill=alt.Fill("colour:N", scale=None))
            for prefix, weight in weights
        ),
        alt.Chart(name="rows")
        .mark_rect(aria=True, fill="#000", opacity=0)
        .encode(
            x=alt.value(0), x2=alt.value(ratios.WIDTH), y=top, y2="bottom:Q", description="label:N"
        ),
    ]
    return without_data(with_look(alt.layer(*layers)))


def _end_names() -> list[Any]:
    """The names of lines at their ends, each with a rule that leads to it."""
    import altair as alt

    x, top = alt.X("left:Q", scale=None), alt.Y("top:Q", scale=None, axis=None)
    return [
        alt.Chart(name="leaders")
        .mark_rule(aria=False, strokeWidth=1)
        .encode(x=x, x2="right:Q", y=top, y2="bottom:Q", stroke=alt.Stroke("colour:N", scale=None)),
        alt.Chart(name="names")
        .mark_text(aria=False, align="left", fontSize=FONT_SIZE, limit=LABEL_LIMIT)
        .encode(x=x, y=top, text="name:N", fill=alt.Fill("colour:N", scale=None)),
    ]


def forest_template() -> dict[str, Any]:
    """Differences in rows, around a line of none."""
    import altair as alt

    scale = alt.Scale(domain=[-1, 1], nice=False)
    x = alt.X("value:Q", scale=scale, axis=_quantity_axis(labelExpr=SIGNED))
    ends = alt.X("low:Q", scale=scale, axis=_quantity_axis(labelExpr=SIGNED))
    y = alt.Y("row:O", axis=None, sort=None, scale=alt.Scale(paddingInner=0, paddingOuter=0))
    colour = alt.Stroke("colour:N", scale=None)
    layers = [
        alt.Chart(name="alike")
        .mark_rect(aria=False, fill=INK, opacity=0.08)
        .encode(x=ends, x2="high:Q"),
        alt.Chart(name="zero")
        .mark_rule(aria=False, stroke=INK, strokeDash=[4, 3], strokeWidth=1.2)
        .encode(x=x),
        alt.Chart(name="intervals")
        .mark_rule(aria=False, strokeWidth=5, opacity=0.65)
        .encode(x=ends, x2="high:Q", y=y, stroke=colour),
        alt.Chart(name="points")
        .mark_point(aria=False, filled=True, opacity=1, size=36)
        .encode(
            x=x,
            y=y,
            fill=alt.Fill("colour:N", scale=None),
            stroke=colour,
            shape=alt.Shape("shape:N", scale=None),
        ),
        *_row_texts(y, forest.WIDTH),
        alt.Chart(name="rows")
        .mark_rect(aria=True, fill="#000", opacity=0)
        .encode(x=alt.value(0), x2=alt.value(forest.WIDTH), y=y, description="label:N"),
    ]
    return without_data(with_look(alt.layer(*layers)))


def _quantity_axis(**more: Any) -> Any:
    """An axis of values: a fine grid, few ticks, no line."""
    import altair as alt

    return alt.Axis(
        grid=True,
        gridColor=INK,
        gridOpacity=0.15,
        ticks=False,
        domain=False,
        aria=False,
        labelPadding=6,
        **{"tickCount": 5, **more},
    )


def _row_texts(y: Any, width: int) -> list[Any]:
    """Layers of a row's name at the left of the axis, and of its text at the right; also in bold.

    Args:
        y: Where the row is.
        width: Of the axis, in pixels.
    """
    import altair as alt

    look: dict[str, Any] = {"aria": False, "fontSize": FONT_SIZE, "color": INK}
    layers = []
    for prefix, weight in (("", "normal"), ("bold-", "bold")):
        bold: dict[str, Any] = look | {"fontWeight": weight}
        layers += [
            alt.Chart(name=f"{prefix}names")
            .mark_text(align="right", dx=-8, limit=LABEL_LIMIT, **bold)
            .encode(x=alt.value(0), y=y, text="name:N"),
            alt.Chart(name=f"{prefix}texts")
            .mark_text(align="left", dx=width + 10, **bold)
            .encode(x=alt.value(0), y=y, text="text:N"),
        ]
    return layers


# --- what plots share ---------------------------------------------------------------


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
