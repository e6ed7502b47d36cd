"""Panels whose marks we write: what Vega draws of each, to the letter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from gridatlas.charts.kinds.heatmap import ABSENT, CellMark, Heatmap, Segment
from gridatlas.charts.palette import LIGHT
from gridatlas.charts.panel_svg import panel_svg
from gridatlas.charts.vegalite import drawable, specification

FILLS = sorted({fill for fills in LIGHT.values() for fill in fills})


def _panel(columns: int, rows: int, **more: Any) -> Heatmap:
    """A panel with a fill of its own in each cell, as far as there are some."""
    x, y = (tuple(f"{prefix}{at}" for at in range(n)) for prefix, n in (("", columns), ("r", rows)))
    marks = tuple(
        CellMark(
            f"{column},{row}", x[column], y[row], float(at), f"{at / 2:.1f}", f"cell {at}: <&\">'",
            fill=FILLS[at % len(FILLS)],
        )
        for at, (row, column) in enumerate((row, c) for row in range(rows) for c in range(columns))
    )  # fmt: skip
    given: dict[str, Any] = {
        "kind": "values",
        "title": "T",
        "description": "D",
        "legend": "Accuracy",
        "x_title": "X",
        "y_title": "Y",
        "x_labels": x,
        "y_labels": y,
        "domain": (0.0, 1.0),
        "decimals": 1,
        "marks": marks,
        "panel": "cells",
    }
    return Heatmap(**given | more)


def _vega(panel: Heatmap) -> str:
    svg: str = vl_convert.vegalite_to_svg(specification(panel), allowed_base_urls=[])
    return svg


def _as_vega_draws_it(panel: Heatmap) -> bool:
    """Whether a drawing is Vega's, also once its kind is known."""
    panel, whole = drawable(panel), None
    for _ in range(2):
        whole = panel_svg(panel, _vega)
    return whole == _vega(panel)


def _with(panel: Heatmap, at: int, **more: Any) -> Heatmap:
    marks = list(panel.marks)
    marks[at] = replace(marks[at], **more)
    return replace(panel, marks=tuple(marks))


EDGES = (Segment(1, 0, 2, 0), Segment(1, 0, 1, 1), Segment(1, 1, 3, 1), Segment(3, 1, 3, 2))
SOME = _panel(4, 3)


@pytest.mark.parametrize(
    "panel",
    [
        SOME,
        _panel(7, 9),  # every fill of the scales
        _panel(8, 2),  # smaller texts
        _panel(25, 16),
        _panel(1, 1),
        _panel(31, 2),  # without texts
        replace(SOME, panel="thumbnail"),
        replace(_panel(40, 30), panel="thumbnail"),  # cells of three pixels
        _with(SOME, 5, best=True),
        _with(_with(SOME, 3, best=True), 8, best=True),
        replace(_with(SOME, 11, best=True), dashed=True),
        replace(_with(replace(_panel(12, 12)), 0, best=True), panel="thumbnail"),
        replace(SOME, best_edges=EDGES),
        replace(SOME, outline=EDGES, outline_label="trained on"),
        replace(_with(SOME, 0, best=True), outline=EDGES, best_edges=EDGES[2:], dashed=True),
        replace(SOME, best_edges=(Segment(0, 3, 4, 3),)),  # at the lower end
        replace(SOME, letters=9),
        _with(SOME, 2, text="\u22122,345.67"),
        # What Vega draws as a whole:
        _with(SOME, 2, value=None, text="", fill="", absent=ABSENT["failed"]),
        _with(SOME, 2, disputed=True),
        _with(SOME, 2, in_best_set=True),
        _with(SOME, 2, text="1.0 ✓✓✓✓✓✓✓✓"),
        replace(
            SOME,
            marks=tuple(
                replace(mark, value=None, text="", fill="", absent=ABSENT["oom"])
                for mark in SOME.marks
            ),
        ),
    ],
)
def test_a_panel_is_drawn_as_by_vega(panel: Heatmap) -> None:
    assert _as_vega_draws_it(panel)


LABELS = st.text("ab<&\"'> \u00e9\u4e2d\U0001f600", min_size=1, max_size=24).map(str.strip)


@st.composite
def panels(given: st.DrawFn) -> Heatmap:
    columns, rows = given(st.integers(1, 12)), given(st.integers(1, 9))
    kind: Literal["cells", "thumbnail"] = given(st.sampled_from(["cells", "thumbnail"]))
    panel = _panel(columns, rows, panel=kind, dashed=given(st.booleans()))
    labels = given(st.lists(LABELS.filter(bool), min_size=columns, max_size=columns, unique=True))
    names = dict(zip(panel.x_labels, labels, strict=True))
    places = given(st.sets(st.integers(0, columns * rows - 1), max_size=3))
    places_in = st.tuples(st.integers(0, columns - 1), st.integers(0, rows - 1), st.booleans())
    edges = [
        Segment(x, y, x + 1, y) if level else Segment(x, y, x, y + 1)
        for x, y, level in given(st.lists(places_in, max_size=4))
    ]
    marks = tuple(
        replace(mark, x=names[mark.x], best=at in places, text=given(st.sampled_from("1·−0")))
        for at, mark in enumerate(panel.marks)
    )
    return replace(panel, x_labels=tuple(labels), marks=marks, best_edges=tuple(edges))


@settings(max_examples=60, deadline=None)
@given(panels())
def test_every_panel_is_drawn_as_by_vega(panel: Heatmap) -> None:
    assert _as_vega_draws_it(panel)


def test_vega_draws_a_kind_of_panels_once() -> None:
    drawn: list[Heatmap] = []

    def draw(panel: Heatmap) -> str:
        drawn.append(panel)
        return _vega(panel)

    base = _panel(3, 2, x_labels=("once", "1", "2"))
    base = replace(base, marks=tuple(replace(m, x="once") if m.x == "0" else m for m in base.marks))
    svgs = {
        panel_svg(panel, draw)
        for panel in (
            base,
            _with(base, 0, value=7.0, text="7.0", fill="#123456", label="another"),
            replace(base, title="U", description="E", domain=(0.0, 9.0)),
        )
    }
    assert (len(drawn), len(svgs)) == (1, 2)
    panel_svg(replace(base, letters=8), draw)
    assert len(drawn) == 2
