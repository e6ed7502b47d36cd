"""What specifications share: the shipped ones without data, colours, labels that fit, axes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, Literal

from gridatlas.assessment.uncertainty import Ends
from gridatlas.charts.palette import SERIES

FILE = Path(__file__).with_name("templates.json")
"""Vega-Lite without data: by the name of a chart the `chart` without layers, and its `layers` by
theirs, as Altair writes them for `make vega` (`tools/layers.py`)."""

Column = tuple[str, ...]
"""The texts of a row of a data table."""
Scope = Literal[
    "", "these trials", "these questions", "questions of the kind", "these runs", "other seeds"
]
"""What an interval holds for; empty where there is none."""

PLOT_WIDTH = 290
"""Pixels that the cells of a grid take in all, where their labels leave the choice."""
INK = "currentColor"
ACCENT = "#2f7fb8"
"""What is highlighted: 3:1 against white as well as against a dark page."""
REST = "#7d868b"
"""Of lines beside those in colour: 3:1 against white as well as a dark page."""
DASHES = ((1, 0), (7, 3), (2, 2), (8, 3, 2, 3))
SYMBOLS = ("circle", "square", "diamond", "triangle-up")
"""Of the lines in colour: they differ by more than that."""
LETTER = 6.7
"""Width in pixels that a character of a label takes."""
DIGIT = 6.6
"""Width of a character of an axis label, in pixels."""
NAME = 14
"""Pixels of a line's name from top to bottom."""
LINE = 14
"""Height that a label takes from the next one, in pixels."""
UPRIGHT = 16
"""Width that an upright label takes from the next one, in pixels."""
LEVEL_UP_TO = 90
"""Width in pixels up to which labels that are thinned stay level."""
TITLE_LIMIT, KEY_LIMIT, LABEL_LIMIT = 400, 300, 150
"""Width in pixels at which titles, texts of the legend, and labels of axes are cut."""
WIDEST = 17
"""Width of the widest character of them, in pixels."""


def chart_of(name: str, layers: Iterable[str] = ()) -> dict[str, Any]:
    """A chart with these of its layers, from the lowest up; by default with all."""
    chart: dict[str, Any] = json.loads(_chart_text(name, tuple(layers)))
    return chart


@cache
def _chart_text(name: str, layers: tuple[str, ...]) -> str:
    """Read anew for each picture, in a tenth of the time that copies of its parts take."""
    found = json.loads(FILE.read_text("utf-8"))[name]
    shown = [found["layers"][layer] for layer in layers or found["layers"]]
    return json.dumps(found["chart"] | {"layer": shown})


def canonical(content: object) -> str:
    """What has dataclasses in it as JSON, the same for all that is equal."""
    return json.dumps(content, default=_fields, sort_keys=True, ensure_ascii=False)


def _fields(of: Any) -> dict[str, Any]:
    return {field.name: getattr(of, field.name) for field in fields(of)}


def as_data(interval: Ends) -> dict[str, float]:
    """An interval as layers have it in their data."""
    return {"low": interval[0], "high": interval[1]}


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


# --- texts ---------------------------------------------------------------------------------------


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


def labels_below(labels: Sequence[str], width: int, least: int = 1) -> tuple[dict[str, Any], float]:
    """How labels stand below cells of this width: level, in two lines, thinned, or upright.

    Args:
        least: Of how many labels one is shown, at most.

    Returns:
        What their axis says, without their texts in an expression; their height in pixels.
    """
    longest = max(map(len, labels)) * DIGIT
    angle, step, height, lines = 0, 1, float(LINE), {}
    if longest > width - 2 and narrowest(labels) <= width:
        height, lines = 2 * LINE, _in_two_lines(labels)
    elif longest > width - 2 and width < UPRIGHT and longest <= LEVEL_UP_TO:
        step = round_step((longest + 8) / width)
    elif longest > width - 2:
        angle, step, height = -90, round_step(UPRIGHT / width), min(LABEL_LIMIT, longest)
    return {"labelAngle": angle, **lines, **shown(labels, max(step, least))}, height


def _in_two_lines(labels: Sequence[str]) -> dict[str, str]:
    # Vega counts in halves of the characters beyond U+FFFF.
    ends = [len(of[: break_of(of)].encode("utf-16-le")) // 2 for of in labels]
    at = f"{ends}[round(datum.index * {len(ends) - 1})]"
    parts = f"[trim(slice(datum.label, 0, {at})), slice(datum.label, {at})]"
    return {"labelExpr": f"{at} ? {parts} : datum.label"}


def shown(labels: Sequence[str], step: int) -> dict[str, Any]:
    """What an axis says of which labels are shown; nothing where all are."""
    return {"values": [labels[at] for at in thinned(len(labels), step)]} if step > 1 else {}


def narrowest(labels: Iterable[str]) -> int:
    """The least width of cells below which labels fit in at most two lines."""
    lines = (max(at := break_of(label), len(label) - at) for label in labels)
    return math.ceil(max(lines, default=0) * DIGIT) + 2


def break_of(label: str) -> int:
    """Where the second line of a label begins, so that the longer one is shortest; 0 for none."""
    places = [] if _NUMBER.fullmatch(label) else [of.end() for of in _BREAK.finditer(label)]
    return min(places, key=lambda at: max(at, len(label) - at), default=0)


_BREAK = re.compile(r"(?<=\w)[\s_/-]+(?=\w)")
_NUMBER = re.compile(r"[\d.,eE+−-]+")


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


def shortened(parts: Sequence[str], between: str) -> list[str]:
    """The parts of a label, cut so that some of each is seen.

    Short parts stay whole; the others share the letters that are left.
    """
    letters = int(LABEL_LIMIT / LETTER) - len(between) * (len(parts) - 1)
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


# --- lines ---------------------------------------------------------------------------------------


def series_looks(names: Sequence[str], named: Container[str] = ()) -> list[dict[str, Any]]:
    """How lines look: at most four in colour; of more, grey but for those that an answer names."""
    several = len(names) > len(DASHES)
    looks, coloured = [], 0
    for name in names:
        if coloured == len(DASHES) or (several and name not in named):
            looks.append({"colour": REST, "dash": [1, 0], "shape": "circle", "opacity": 0.6})
            continue
        colour, dash = SERIES["light"][coloured], [*DASHES[coloured]]
        looks.append({"colour": colour, "dash": dash, "shape": SYMBOLS[coloured], "opacity": 1})
        coloured += 1
    return looks


def names_at_ends(
    ends: Sequence[tuple[str, float, float]],
    looks: Sequence[Mapping[str, Any]],
    width: int,
    height: int,
) -> dict[str, list[dict[str, Any]]]:
    """The lines' names at their right ends, moved apart, each with a line that leads to it.

    Args:
        ends: Names, and where lines end, in pixels from the top left corner.
    """
    tops = spread_out([end[2] for end in ends], NAME, (NAME / 2, height - NAME / 2))
    left = width + 10
    placed = [*zip(ends, looks, tops, strict=True)]
    return {
        "leaders": [
            {**look, "left": x + 5, "right": left - 3, "top": y, "bottom": top}
            for (_, x, y), look, top in placed
        ],
        "names": [
            {"left": left, "top": top, "name": drawable_text(name, LABEL_LIMIT)}
            | {"colour": INK if look["colour"] == REST else look["colour"]}
            for (name, _, _), look, top in placed
        ],
    }


# --- axes of values ------------------------------------------------------------------------------


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
