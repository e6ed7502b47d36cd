"""Panels whose marks we write: what Vega draws of each, to the letter."""

from dataclasses import replace

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from gridatlas.charts.kinds.heatmap import Heatmap
from gridatlas.charts.marks import ABSENT, CellMark, Segment
from gridatlas.charts.palette import STEPS, ColourScale
from gridatlas.charts.panel_svg import panel_svg
from gridatlas.charts.vegalite import drawable, specification


def _panel(columns, rows, **more):
    """A panel with a colour of its own in each cell, as far as there are some."""
    x, y = (tuple(f"{prefix}{at}" for at in range(n)) for prefix, n in (("", columns), ("r", rows)))
    marks = tuple(
        CellMark(
            f"{column},{row}", x[column], y[row], float(at), f"{at / 2:.1f}", f"cell {at}: <&\">'",
            step=at % STEPS,
        )
        for at, (row, column) in enumerate((row, c) for row in range(rows) for c in range(columns))
    )  # fmt: skip
    given = {
        "title": "T",
        "description": "D",
        "measure": "Accuracy",
        "ends": ("0", "1"),
        "scale": ColourScale("difference", -1, 1),
        "x_title": "X",
        "y_title": "Y",
        "x_labels": x,
        "y_labels": y,
        "marks": marks,
        "size": "panel",
    }
    return Heatmap(**given | more)


def _vega(panel):
    svg = vl_convert.vegalite_to_svg(specification(panel), allowed_base_urls=[])
    return svg


def _as_vega_draws_it(panel):
    """Whether a drawing is Vega's, also once its kind is known."""
    panel, whole = drawable(panel), None
    for _ in range(2):
        whole = panel_svg(panel, _vega)
    return whole == _vega(panel)


def _with(panel, at, **more):
    marks = list(panel.marks)
    marks[at] = replace(marks[at], **more)
    return replace(panel, marks=tuple(marks))


EDGES = (Segment(1, 0, 2, 0), Segment(1, 0, 1, 1), Segment(1, 1, 3, 1), Segment(3, 1, 3, 2))
SOME = _panel(4, 3)


MEANS = {"x_means": ("+1.0", "−0.5", "–", "0.0"), "y_means": ("1.0", "2.0", "3.0")}


@pytest.mark.parametrize(
    "panel",
    [
        SOME,
        _panel(7, 9),  # many colours
        _panel(8, 2),
        _panel(24, 16),
        _panel(1, 1),
        _panel(31, 2),  # without texts
        replace(SOME, size="large"),
        replace(SOME, size="thumbnail"),
        replace(_panel(40, 30), size="thumbnail"),  # cells of three pixels
        _with(SOME, 5, best=True),
        _with(_with(SOME, 3, best=True), 8, best=True, ring=True),
        _with(_with(SOME, 11, ring=True), 2, strong=True),
        _with(SOME, 4, faded=True),
        _with(_panel(12, 12, size="thumbnail"), 0, best=True, step=2),  # with dashes
        replace(SOME, outlined=(Segment(1, 0, 2, 3),), x_asserted=(1,), **MEANS),
        replace(SOME, outlined=(Segment(0, 1, 4, 2),), y_asserted=(1,), size="large", **MEANS),
        replace(SOME, region=EDGES, region_label="trained on"),
        replace(_with(SOME, 0, best=True), region=EDGES, **MEANS),
        replace(SOME, letters=9),
        _with(SOME, 2, text="\u22122,345.67"),
        # What Vega draws as a whole:
        _with(SOME, 2, value=None, text="", absent=ABSENT["failed"]),
        _with(SOME, 2, corner="corner"),
        _with(SOME, 2, corner="open-corner"),
        _with(SOME, 2, text="1.0 ✓✓✓✓✓✓✓✓"),
        replace(
            SOME,
            marks=tuple(
                replace(mark, value=None, text="", absent=ABSENT["oom"]) for mark in SOME.marks
            ),
        ),
    ],
)
def test_a_panel_is_drawn_as_by_vega(panel):
    assert _as_vega_draws_it(panel)


LABELS = st.text("ab<&\"'> \u00e9\u4e2d\U0001f600", min_size=1, max_size=24).map(str.strip)


@st.composite
def panels(given):
    columns, rows = given(st.integers(1, 12)), given(st.integers(1, 9))
    size = given(st.sampled_from(["panel", "thumbnail"]))
    panel = _panel(columns, rows, size=size)
    labels = given(st.lists(LABELS.filter(bool), min_size=columns, max_size=columns, unique=True))
    names = dict(zip(panel.x_labels, labels, strict=True))
    places = given(st.sets(st.integers(0, columns * rows - 1), max_size=3))
    places_in = st.tuples(st.integers(0, columns - 1), st.integers(0, rows - 1), st.booleans())
    edges = [
        Segment(x, y, x + 1, y) if level else Segment(x, y, x, y + 1)
        for x, y, level in given(st.lists(places_in, max_size=4))
    ]
    marks = tuple(
        replace(
            mark,
            x=names[mark.x],
            best=at in places,
            ring=given(st.booleans()),
            faded=given(st.booleans()),
            text=given(st.sampled_from("1·−0")),
        )
        for at, mark in enumerate(panel.marks)
    )
    return replace(panel, x_labels=tuple(labels), marks=marks, region=tuple(edges))


@settings(max_examples=60, deadline=None)
@given(panels())
def test_every_panel_is_drawn_as_by_vega(panel):
    assert _as_vega_draws_it(panel)


def test_vega_draws_a_kind_of_panels_once():
    drawn = []

    def draw(panel):
        drawn.append(panel)
        return _vega(panel)

    base = _panel(3, 2, x_labels=("once", "1", "2"))
    base = replace(base, marks=tuple(replace(m, x="once") if m.x == "0" else m for m in base.marks))
    svgs = {
        panel_svg(panel, draw)
        for panel in (
            base,
            _with(base, 0, value=7.0, text="7.0", step=9, faded=True, label="another"),
            replace(base, title="U", description="E", measure="M"),
        )
    }
    assert (len(drawn), len(svgs)) == (1, 2)
    panel_svg(replace(base, letters=8), draw)
    assert len(drawn) == 2
