"""Plots without their data, as Altair writes them: `make vega` puts them into the package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridatlas.charts.kinds import dots, forest
from gridatlas.charts.plotting import ACCENT, INK, LABEL_LIMIT, TITLE_LIMIT

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
        alt.Chart(name="zero")
        .mark_rule(aria=False, stroke=INK, opacity=0.5)
        .encode(y=alt.Y("offset:Q", scale=scale)),
        # A gap where a level takes no part: nothing is drawn across it.
        alt.Chart(name="lines")
        .mark_line(aria=False, strokeWidth=2, invalid="break-paths-show-domains")
        .encode(x=x, y=y, stroke=colour, detail="line:N"),
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
        alt.Chart(name="leaders")
        .mark_rule(aria=False, strokeWidth=1)
        .encode(
            x=alt.X("left:Q", scale=None),
            x2="right:Q",
            y=alt.Y("top:Q", scale=None),
            y2="bottom:Q",
            stroke=colour,
        ),
        alt.Chart(name="names")
        .mark_text(aria=False, align="left", fontSize=FONT_SIZE, color=INK, limit=150)
        .encode(x=alt.X("left:Q", scale=None), y=alt.Y("top:Q", scale=None), text="name:N"),
    ]
    return without_data(with_look(alt.layer(*layers)))


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
