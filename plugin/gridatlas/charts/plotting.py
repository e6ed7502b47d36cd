"""What dot plots, profiles and forest plots share: colours, labels that fit, axes of values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from gridatlas.charts.labels import LABEL_LIMIT, drawable_text
from gridatlas.model.format import MINUS

Column = tuple[str, ...]
"""The texts of a row of a data table."""
Scope = Literal[
    "", "these trials", "these questions", "questions of the kind", "these runs", "other seeds"
]
"""What an interval holds for; empty where there is none."""

INK = "currentColor"
ACCENT = "#2f7fb8"
"""What is highlighted: 3:1 against white as well as against a dark page."""
SERIES = (
    "#2f7fb8", "#c8651b", "#5d8a1f", "#a862b5", "#b9751a", "#17898f", "#d0506e", "#7c7c7c",
)  # fmt: skip
"""Colours of lines, each with 3:1 against white and a dark page; their symbols differ, too."""
SYMBOLS = (
    "circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "triangle-right",
    "triangle-left",
)  # fmt: skip
FONT_SIZE = 12
LETTER = 6.7
"""Width in pixels that a character of a label takes."""


SIGNED = "(datum.value > 0 ? '+' : '') + datum.label"
"""How an axis of differences labels its ticks: an expression without any text from data."""


def quantity_axis(**more: Any) -> Any:
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


def row_texts(y: Any, width: int) -> list[Any]:
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


def fitting(text: str, limit: int = LABEL_LIMIT) -> str:
    """A label as it is drawn: of one that may be cut, what can be cut."""
    return drawable_text(text, limit)


def signed(value: float, decimals: int) -> str:
    """A difference with its sign, which nothing has: `+2.6`, `−0.4`, `0.0`."""
    text = f"{abs(value):.{decimals}f}"
    if not float(text):
        return text
    return f"+{text}" if value > 0 else f"{MINUS}{text}"


def shortened(parts: Sequence[str], between: str, limit: int = LABEL_LIMIT) -> list[str]:
    """The parts of a label, cut so that some of each is seen.

    Short parts stay whole; the others share the letters that are left.
    """
    letters = int(limit / LETTER) - len(between) * (len(parts) - 1)
    found = list(parts)
    for rank, at in enumerate(sorted(range(len(parts)), key=lambda at: len(parts[at]))):
        share = max(2, letters // (len(parts) - rank))
        if len(parts[at]) > share:
            found[at] = f"{parts[at][: share - 1].rstrip()}…"
        letters -= len(found[at])
    return found


def label_width(labels: Iterable[str], limit: int = LABEL_LIMIT) -> int:
    """Pixels that the longest of some labels takes."""
    return min(limit, math.ceil(max((len(label) * LETTER for label in labels), default=0)))


def padded(ends: Iterable[float], share: float = 0.04) -> tuple[float, float]:
    """The ends of an axis that holds some values, with room at both sides."""
    values = list(ends)
    low, high = min(values, default=0.0), max(values, default=0.0)
    if low == high:
        return low - 0.5, high + 0.5
    room = (high - low) * share
    return low - room, high + room


def spread_out(places: Sequence[float], gap: float, ends: tuple[float, float]) -> list[float]:
    """Places moved as little as possible so that none is closer to the next than `gap`.

    The mean of the squares of the moves is smallest: isotonic regression of place less rank × gap.

    Args:
        places: In any order; ties keep theirs.
        gap: In the unit of the places.
        ends: Where they lie between, as far as there is room.

    Returns:
        The new places, in the order of the given ones.
    """
    order = sorted(range(len(places)), key=lambda at: places[at])
    pools: list[list[float]] = []  # sum and number of those that stick together
    for rank, at in enumerate(order):
        pools.append([places[at] - rank * gap, 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] >= pools[-1][0] / pools[-1][1]:
            total, number = pools.pop()
            pools[-1][0] += total
            pools[-1][1] += number
    level = [total / number for total, number in pools for _ in range(int(number))]
    spread = [value + rank * gap for rank, value in enumerate(level)]
    low, high = ends
    for rank in range(len(spread)):
        spread[rank] = max(spread[rank], low + rank * gap)
    for rank in range(len(spread)):
        back = len(spread) - 1 - rank
        spread[back] = min(spread[back], high - rank * gap)
    found = [0.0] * len(places)
    for rank, at in enumerate(order):
        found[at] = spread[rank]
    return found


def without_shared_data(chart: Any) -> dict[str, Any]:
    """The specification of layers that have their data put in later, by the layer's name."""
    spec: dict[str, Any] = chart.to_dict()
    spec.pop("datasets", None)
    spec.pop("data", None)
    for layer in spec["layer"]:
        layer.pop("data", None)
    return spec


def filled_in(
    spec: dict[str, Any], data: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, Any]:
    """The specification with the data of its layers; those without any are left out."""
    spec["layer"] = [
        layer | {"data": {"values": [dict(row) for row in data[layer["name"]]]}}
        for layer in spec["layer"]
        if data.get(layer["name"])
    ]
    return spec
