"""Dot plots, profiles and forest plots: what is drawn of them."""

import json
import re
from dataclasses import replace
from itertools import pairwise, product

import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

from gridatlas.charts import render
from gridatlas.charts.kinds.dots import SHOWN, DotPlot, DotRow, dots_specification
from gridatlas.charts.kinds.forest import Forest, ForestRow, forest_specification
from gridatlas.charts.kinds.profile import Profile, ProfileLine, profile_specification
from gridatlas.charts.palette import SERIES
from gridatlas.charts.plotting import ACCENT, REST, padded, series_looks, shortened, spread_out
from gridatlas.charts.render import draw_one


def dot_plot(number=3, *, intervals=True, ties=1):
    rows = []
    for place in range(number):
        value = 60.0 - max(0, place - ties + 1)
        ends = (value - 2, value + 3) if intervals else None
        rows.append(
            DotRow(
                f"{place},1",
                (f"Setting {place}",),
                value,
                ends,
                None,
                f"{value:.1f}",
                f"Setting {place}: {value:.1f} %",
                place < ties,
            )
        )
    return DotPlot("T", "D", "Accuracy (%)", "Rate", "one", (), 0, "", "", "higher", 1, tuple(rows))


def profile(*ends, levels=3, named=True):
    lines = [
        ProfileLine(f"Line {at}" if named else "", 50.0, (*[50.0] * (levels - 1), 50.0 + end))
        for at, end in enumerate(ends)
    ]
    names = tuple(str(level) for level in range(levels))
    return Profile(
        "T", "D", "x", "Rate", "rate", "points, from the mean", "Accuracy (%)", "benchmarks", names,
        tuple(lines), 1.5, "", (-4.0, 4.0), 1,
    )  # fmt: skip


def forest(*rows):
    drawn = [
        ForestRow(
            name, 1.0, None if low is None else (low, low + 2), "in these runs", "text",
            f"{name}: text", "clear", low is not None and low > 0,
        )
        for name, low in rows
    ]  # fmt: skip
    return Forest("T", "D", "a − b", "Test", "a", "b", "higher", 1, tuple(drawn))


def layers(spec):
    return {layer["name"]: layer["data"]["values"] for layer in spec["layer"]}


# --- dots ---------------------------------------------------------------------------------------


def test_a_dot_plot_ranks_and_marks_the_best():
    drawn = layers(dots_specification(dot_plot()))
    assert [dot["value"] for dot in drawn["dots"]] == [60, 59, 58]
    assert [dot["colour"] for dot in drawn["dots"]] == [ACCENT, "currentColor", "currentColor"]
    assert drawn["band"] == [{"low": 58.0, "high": 63.0}]
    assert [name["name"] for name in drawn["bold-names"]] == ["Setting 0"]
    assert [name["name"] for name in drawn["names"]] == ["Setting 1", "Setting 2"]


@pytest.mark.parametrize(
    ("plot", "absent"),
    [
        (dot_plot(intervals=False), {"band", "intervals"}),
        # Of several best ones none has the interval to compare with.
        (dot_plot(5, ties=2), {"band"}),
    ],
)
def test_what_is_unknown_is_not_drawn(plot, absent):
    assert {"band", "intervals"} - layers(dots_specification(plot)).keys() == absent


def test_of_many_settings_the_best_are_drawn_and_the_data_have_all():
    plot = dot_plot(50)
    assert len(layers(dots_specification(plot))["rows"]) == SHOWN == len(plot.table())
    assert [record["setting"] for record in plot.records()][-1] == "Setting 49"
    assert [record["rank"] for record in dot_plot(4, ties=2).records()] == [1, 1, 3, 4]


def test_a_drawing_depends_on_what_is_drawn():
    assert dot_plot(30).to_json() == dot_plot(50).to_json()
    assert dot_plot(3).to_json() != dot_plot(4).to_json()


@pytest.mark.parametrize(
    ("parts", "seen"),
    [
        (("0.4", "2000"), ["0.4", "2000"]),
        (("a level with a long name", "2000"), ["a level with a…", "2000"]),
        (("a level with a long name", "another level"), ["a level wi…", "another…"]),
        (("a level with a very long name",), ["a level with a very l…"]),
        (("", "x"), ["", "x"]),
    ],
)
def test_of_a_long_label_some_of_each_level_is_seen(parts, seen):
    assert shortened(parts, " × ") == seen


# --- profiles -----------------------------------------------------------------------------------


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12), st.floats(0.5, 20))
def test_labels_are_spread_out_in_their_order(places, gap):
    low, high = min(places), max(places) + gap * len(places)
    spread = spread_out(places, gap, (low, high))
    ranked = sorted(range(len(places)), key=lambda at: (places[at], at))
    assert all(spread[b] - spread[a] > gap - 1e-6 for a, b in pairwise(ranked))
    assert low - 1e-6 <= min(spread)
    assert max(spread) <= high + 1e-6


def test_labels_that_have_room_stay():
    assert spread_out([30, 10, 20], 5, (0, 100)) == [30, 10, 20]
    assert spread_out([10, 10], 4, (0, 100)) == [8, 12]
    assert spread_out([99, 99], 4, (0, 100)) == [96, 100]


def test_lines_are_told_apart_by_symbol_too():
    drawn = layers(profile_specification(profile(1, 1, 1.1, 2)))
    assert len({(point["shape"], point["colour"]) for point in drawn["points"]}) == 4
    tops = sorted(name["top"] for name in drawn["names"])
    assert all(b - a >= 14 - 1e-9 for a, b in pairwise(tops))
    looks = series_looks(["a", "b", "c", "d"])
    for of in ("colour", "dash", "shape"):
        assert len({str(look[of]) for look in looks}) == 4


def test_of_more_than_four_lines_those_that_an_answer_names_are_in_colour():
    names = ["a", "b", "c", "d", "e"]
    assert [look["colour"] for look in series_looks(names)] == [REST] * 5
    looks = series_looks(names, ("b", "e"))
    assert [look["colour"] for look in looks] == [REST, SERIES["light"][0], REST, REST,
                                                  SERIES["light"][1]]  # fmt: skip
    drawn = layers(profile_specification(profile(1, 2, 3, 4, 5)))
    assert {point["colour"] for point in drawn["points"]} == {REST}
    assert {name["colour"] for name in drawn["names"]} == {"currentColor"}


def test_a_line_alone_has_no_name():
    drawn = layers(profile_specification(profile(1, named=False)))
    assert "names" not in drawn
    assert "leaders" not in drawn


def test_a_level_that_takes_no_part_is_a_gap():
    line = ProfileLine("", 50.0, (49.0, None, 51.0))
    some = Profile(
        "T", "D", "x", "Rate", "rate", "y", "Accuracy", "one", ("1", "2", "3"), (line,), None, "",
        (-2.0, 2.0), 1,
    )  # fmt: skip
    assert some.points == 2
    assert some.table() == [("1", "49.0 (−1.0)"), ("2", "–"), ("3", "51.0 (+1.0)")]
    assert draw_one(some).svg.count("<svg") == 1


LONG = "A name that is far too long for the left edge of any plot 🦜 <b>&"


# --- forests ------------------------------------------------------------------------------------


def test_nothing_is_drawn_where_it_cannot_be_tested():
    drawn = layers(forest_specification(forest(("A", 1.0), ("B", None), ("C", -1.0))))
    assert [row["row"] for row in drawn["points"]] == [0, 2]
    assert [row["row"] for row in drawn["intervals"]] == [0, 2]
    # Only what is shown stands out: an interval beside 0 may be chance among many.
    assert [row["colour"] for row in drawn["points"]] == [ACCENT, "currentColor"]
    assert len(drawn["rows"]) == 3


@pytest.mark.parametrize("text", ["+1.0 (+1.0 to +3.0)", "+12.34 (−41.50 to +66.20)"])
@pytest.mark.parametrize("name", ["A", "Sampled at 0.6", LONG])
def test_a_forest_is_narrow_enough_to_be_read_on_a_phone(name, text):
    """In the 358 pixels that a page has there, letters of 12 pixels have 9 at least."""
    plot = forest((name, 1.0))
    drawing = draw_one(replace(plot, rows=(replace(plot.rows[0], text=text),)))
    width = int(re.findall(r'viewBox="0 0 (\d+)', drawing.svg)[0])
    assert 12 * 358 / width >= 9
    assert forest_specification(plot)["width"] >= 110


def test_names_that_are_too_long_stand_above_their_bars():
    first, second = "Sampled at a temperature of 1.2", "Sampled at a temperature of 0.6"
    names = [f"{first} − {second}", f"{second} − {first}", "On average"]
    plot, short = forest(*((name, 1.0) for name in names)), forest(("On average", 1.0))
    drawing = draw_one(plot)
    for name in names:
        assert f">{name}</" in drawing.svg
    # The axis has the room of names beside it.
    assert forest_specification(plot)["width"] > forest_specification(short)["width"]


def test_a_difference_has_a_sign_but_for_nothing():
    plot = forest(("A", 1.0))
    assert [plot.signed(value) for value in (1.25, -0.04, -3, 0)] == ["+1.3", "0.0", "−3.0", "0.0"]


# --- all ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plot",
    [
        dot_plot(),
        dot_plot(40),
        profile(1, -1),
        profile(*range(8), levels=40),
        forest(("A", 1.0), ("B", None)),
        forest((LONG, 1.0)),
    ],
)
def test_a_plot_is_drawn_with_everything_that_it_shows(plot):
    drawing = draw_one(plot)  # It counts rows and points.
    assert json.loads(drawing.spec)["description"] == "D"
    assert drawing.png.startswith(b"\x89PNG")
    role = "group" if isinstance(plot, DotPlot) else "img"
    assert drawing.svg.startswith(f'<svg font-family="sans-serif" role="{role}" aria-label="D"')
    # Parts of an image have no roles of their own.
    assert ("graphics-symbol" in drawing.svg) == isinstance(plot, DotPlot)
    assert drawing.svg == draw_one(plot).svg


def test_a_png_lacks_nothing_that_is_seen(monkeypatch):
    monkeypatch.setattr(render, "_INVISIBLE", re.compile("(?!)"))
    whole = draw_one(dot_plot())
    monkeypatch.undo()
    drawn = []
    to_png = vl_convert.svg_to_png

    def watched(svg, **options):
        drawn.append(svg)
        return to_png(svg, **options)

    monkeypatch.setattr(vl_convert, "svg_to_png", watched)
    drawing = draw_one(dot_plot())
    # The rows are there for a screen reader.
    assert (' opacity="0"' in drawing.svg, ' opacity="0"' in drawn[0]) == (True, False)
    assert drawing == whole


def _luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


DARK = "#1e2129"


@pytest.mark.parametrize(
    ("colour", "ground"),
    [
        *product((ACCENT, REST), ("#ffffff", DARK)),
        *((colour, "#ffffff") for colour in SERIES["light"]),
        *((colour, DARK) for colour in SERIES["dark"]),
    ],
)
def test_colours_stand_out_in_light_and_dark(colour, ground):
    assert re.fullmatch("#[0-9a-f]{6}", colour)
    lighter, darker = sorted([_luminance(colour), _luminance(ground)], reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 3


def test_an_axis_has_room_at_both_ends():
    assert padded([0, 10], 0.1) == (-1, 11)
    assert padded([5, 5]) == (4.5, 5.5)
