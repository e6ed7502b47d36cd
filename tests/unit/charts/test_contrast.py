"""The numbers in cells can be read on every colour of both scales, in what is really drawn."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from gridatlas.charts.kinds.heatmap import CellMark, Heatmap, Kind
from gridatlas.charts.render import draw_one

SVG = "{http://www.w3.org/2000/svg}"
STEPS = 60
COLUMNS = 30


def _picture(kind: Kind, low: float, high: float) -> Heatmap:
    """Rows of cells whose values go from one end of the colour scale to the other."""
    values = [low + (high - low) * step / (STEPS - 1) for step in range(STEPS)]
    return Heatmap(
        kind=kind,
        title="",
        description="",
        legend="",
        x_title="",
        y_title="",
        x_labels=tuple(map(str, range(COLUMNS))),
        y_labels=tuple(map(str, range(STEPS // COLUMNS))),
        domain=(low, high),
        decimals=2,
        marks=tuple(
            CellMark(f"{x},{y}", str(x), str(y), value, f"{value:.2f}", f"cell {value:.2f}")
            for (y, x), value in zip(
                ((y, x) for y in range(STEPS // COLUMNS) for x in range(COLUMNS)),
                values,
                strict=True,
            )
        ),
    )


def _luminance(colour: str) -> float:
    """Relative luminance by WCAG 2.2, of `#010203` or `#fff`."""
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    channels = [int(digits[at : at + 2], 16) for at in range(0, len(digits), 2)]
    assert len(channels) == 3
    linear = [
        c / 12.92 if (c := channel / 255) <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for channel in channels
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(first: str, other: str) -> float:
    light, dark = sorted((_luminance(first), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _pairs(svg: str) -> list[tuple[str, str, str, str]]:
    """(name of the cell, its fill, text on it, the text's fill) of every cell, by their places."""
    root = ET.fromstring(svg)
    rects = {}
    cells = next(g for g in root.iter(f"{SVG}g") if "cells_marks" in g.get("class", ""))
    for path in cells.iter(f"{SVG}path"):
        if path.get("role") == "graphics-symbol":
            place = re.fullmatch(r"M([\d.]+),([\d.]+)h([\d.]+)v([\d.]+)h.*", path.attrib["d"])
            assert place is not None
            left, top, width, height = map(float, place.groups())
            rects[left, top, left + width, top + height] = path
    found = []
    groups = [g for g in root.iter(f"{SVG}g") if "values_marks" in g.get("class", "")]
    assert len(groups) == 1
    for text in groups[0].iter(f"{SVG}text"):
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        under = [
            path
            for (left, top, right, bottom), path in rects.items()
            if left < x < right and top < y < bottom
        ]
        assert len(under) == 1
        name, fill = under[0].attrib["aria-label"], under[0].attrib["fill"]
        found.append((name, fill, text.text or "", text.get("fill", groups[0].get("fill", ""))))
    return found


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [("values", 0.0, 100.0), ("difference", -7.5, 7.5)],
)
def test_numbers_stand_out_on_every_colour(kind: Kind, low: float, high: float) -> None:
    pairs = _pairs(draw_one(_picture(kind, low, high)).svg)
    assert len(pairs) == STEPS
    assert [name for name, _, text, _ in pairs if name != f"cell {text}"] == []
    # The scale is used from end to end, or this would show little.
    assert len({fill for _, fill, _, _ in pairs}) > STEPS * 0.9
    assert {ink for _, _, _, ink in pairs} == {"#000", "#fff"}
    low_contrast = {
        name: round(_contrast(fill, ink), 2)
        for name, fill, _, ink in pairs
        if _contrast(fill, ink) < 4.5
    }
    assert low_contrast == {}


def test_contrast_is_computed_as_by_wcag() -> None:
    assert _contrast("#000", "#fff") == pytest.approx(21)
    assert _contrast("#777777", "#fff") == pytest.approx(4.48, abs=0.005)
