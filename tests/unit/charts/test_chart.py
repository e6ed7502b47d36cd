"""What heatmaps show and how their specifications are written."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest
import vl_convert
from bs4 import BeautifulSoup
from builders import cases, table

from gridatlas.charts.description import describe_difference, describe_grid
from gridatlas.charts.draw import draw_difference, draw_values
from gridatlas.charts.marks import ABSENT, Segment
from gridatlas.charts.plotting import labels_below, thinned
from gridatlas.charts.vegalite import UNPRINTED, cell_size, specification
from gridatlas.model.format import value_with_unit
from gridatlas.table.choose import analyse
from gridatlas.table.differences import differences

PERCENT = (
    "format: 1\ntitle: T\n"
    'metric: {name: Pass@1, better: higher, unit: "%", range: [0, 100]}\nx: rate\ny: depth\n'
)


# --- texts --------------------------------------------------------------------------------------


def test_a_difference_of_percentages_is_in_points():
    assert value_with_unit("47.3", "%") == "47.3 %"
    assert value_with_unit("+2.6", "%", difference=True) == "+2.6 points"
    assert value_with_unit("3", "ms") == "3 ms"
    assert value_with_unit("+3", "ms", difference=True) == "+3 ms"
    assert value_with_unit("3", "") == "3"


# --- what is shown ------------------------------------------------------------------------------


def _grid(make_study, *rows, more=""):
    study = make_study(PERCENT + more, table("rate,depth,value,state", *rows))
    return analyse(study).grid()


def _difference(make_study, *rows):
    study = make_study(
        PERCENT + "facets: [model]\nroles: {model: choice}\n",
        table("model,rate,depth,value,state", *rows),
    )
    (difference,) = differences(analyse(study), study.facet("model"))
    return difference


def test_a_grid_is_drawn_from_the_top_left(make_study):
    rows = ("1,500,10.5,", "2,500,30,", "1,1000,30.0,", "2,1000,,oom", "1,2000,5,disputed")
    grid = _grid(make_study, *rows, more="factors: {depth: {unit: tokens}}\n")
    heatmap = draw_values(grid)
    assert (heatmap.x_labels, heatmap.y_labels) == (("1", "2"), ("2000", "1000", "500"))
    assert (heatmap.x_title, heatmap.y_title) == ("Rate", "Depth (tokens)")
    assert (heatmap.title, heatmap.measure) == ("Pass@1", "Pass@1 (%)")
    assert (heatmap.scale.low, heatmap.scale.high) == (5, 30)
    assert heatmap.ends == ("5", "30 better")
    assert [(m.key, m.text, m.absent, m.label) for m in heatmap.marks] == [
        ("1,2000", "5.0", "", "Rate 1, Depth 2000: 5.0 %"),
        ("2,2000", "", ABSENT["missing"], "Rate 2, Depth 2000: no value (missing)"),
        ("1,1000", "30.0", "", "Rate 1, Depth 1000: 30.0 %"),
        ("2,1000", "", ABSENT["oom"], "Rate 2, Depth 1000: no value (out of memory)"),
        ("1,500", "10.5", "", "Rate 1, Depth 500: 10.5 %"),
        ("2,500", "30.0", "", "Rate 2, Depth 500: 30.0 %"),
    ]
    assert [mark.step for mark in heatmap.marks] == [0, 0, 50, 0, 11, 50]


def test_a_y_axis_may_point_down(make_study):
    grid = _grid(make_study, "1,1,1,", "1,2,2,", more="factors: {depth: {direction: down}}\n")
    heatmap = draw_values(grid)
    assert heatmap.y_labels == ("1", "2")
    assert [mark.text for mark in heatmap.marks] == ["1", "2"]


def test_a_grid_is_described_in_words(make_study):
    rows = ("1,1,10.5,", "2,1,30,", "1,2,30.0,", "2,2,,oom")
    assert describe_grid(_grid(make_study, *rows)) == (
        "Pass@1: Pass@1 from 10.5 to 30.0 % over Rate and Depth. "
        "Best: 30.0 % at Rate 2, Depth 1; Rate 1, Depth 2. 1 of 4 cells has no value."
    )


@pytest.mark.parametrize(
    ("better", "words"),
    [("higher", "Highest: 30 % at Rate 2,"), ("lower", "Lowest: 5 % at Rate 1,")],
)
def test_of_conditions_no_cell_is_the_best(make_study, better, words):
    study = (
        PERCENT.replace("better: higher", f"better: {better}")
        + "roles: {rate: condition, depth: condition}\n"
    )
    grid = analyse(make_study(study, table("rate,depth,value", "1,1,5", "2,1,30"))).grid()
    assert words in describe_grid(grid)
    assert "best" not in describe_grid(grid, frozenset({("1", "1")})).lower()
    assert not [mark.label for mark in draw_values(grid).marks if "best" in mark.label]


def test_many_best_cells_are_counted(make_study):
    rows = [f"{x},1,7," for x in range(6)]
    assert describe_grid(_grid(make_study, *rows)) == (
        "Pass@1: Pass@1 from 7 to 7 % over Rate and Depth. Best: 7 % at Rate 0, Depth 1; "
        "Rate 1, Depth 1; Rate 2, Depth 1; Rate 3, Depth 1 and 2 more."
    )


def test_a_grid_without_values_is_described_as_such(make_study):
    grid = _grid(make_study, "1,1,,oom")
    assert describe_grid(grid) == "Pass@1: a heatmap without any value."
    assert draw_values(grid).ends == ("0", "1 better")


def test_a_difference_is_drawn_about_nothing(make_study):
    difference = _difference(
        make_study,
        *("a,1,1,50,", "a,2,1,40.5,", "a,1,2,7,", "a,2,2,,failed"),
        *("b,1,1,52.5,", "b,2,1,36,", "b,1,2,7,", "b,2,2,3,"),
    )
    heatmap = draw_difference(difference)
    assert heatmap.scale.palette == "difference"
    assert heatmap.ends == ("−5", "+5")
    assert (heatmap.title, heatmap.measure) == ("b − a", "difference in points")
    assert [(m.key, m.value, m.text, m.absent, m.label) for m in heatmap.marks] == [
        ("1,2", 0, "0", "", "Rate 1, Depth 2: 0 points"),
        ("2,2", None, "", ABSENT["failed"], "Rate 2, Depth 2: no value (run failed)"),
        ("1,1", 2.5, "+2.5", "", "Rate 1, Depth 1: +2.5 points"),
        ("2,1", -4.5, "−4.5", "", "Rate 2, Depth 1: −4.5 points"),
    ]
    assert describe_difference(difference) == (
        "b − a: −0.7 points on average over 3 cells; b is higher in 1 of 3 cells, lower in 1, "
        "equal in 1."
    )


def test_a_difference_without_common_cells_is_described_as_such(make_study):
    difference = _difference(make_study, "a,1,1,50,", "b,2,1,50,")
    assert describe_difference(difference) == "b − a: no cell has a value in both grids."
    assert draw_difference(difference).ends == ("−1", "+1")


# --- regions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", ["up", "down"])
def test_an_outline_follows_an_l_shape(make_study, direction):
    more = (
        f"factors: {{depth: {{direction: {direction}}}}}\n"
        "regions:\n"
        "  - label: trained on\n"
        "    boxes: [{rate: [1], depth: [1, 2]}, {rate: [1, 2], depth: [2]}]\n"
    )
    rows = [f"{x},{y},1," for x in (1, 2, 3) for y in (1, 2, 3)]
    heatmap = draw_values(_grid(make_study, *rows, more=more))
    assert heatmap.region_label == "trained on"
    # Rows from the top: 1, 2, 3 (down) or 3, 2, 1 (up). The cells in it, and the edges around:
    #   #..   ...
    #   ##.   ##.
    #   ...   #..
    down = {
        *{Segment(0, 0, 1, 0), Segment(1, 1, 2, 1)},  # tops
        Segment(0, 2, 2, 2),  # bottom
        Segment(0, 0, 0, 2),  # left side
        *{Segment(1, 0, 1, 1), Segment(2, 1, 2, 2)},  # right sides
    }
    up = {
        Segment(0, 1, 2, 1),
        *{Segment(1, 2, 2, 2), Segment(0, 3, 1, 3)},
        Segment(0, 1, 0, 3),
        *{Segment(2, 1, 2, 2), Segment(1, 2, 1, 3)},
    }
    assert len(heatmap.region) == 6
    assert set(heatmap.region) == (down if direction == "down" else up)


def test_an_outline_is_drawn_in_pixels_of_the_cells(make_study):
    more = "regions: [{label: all, boxes: [{rate: [1], depth: [1]}]}]\n"
    spec = specification(draw_values(_grid(make_study, "1,1,1,", "2,1,2,", "1,2,3,", more=more)))
    width, height = spec["width"] / 2, spec["height"] / 2
    (layer,) = (layer for layer in spec["layer"] if layer["name"] == "region")
    rows = layer["data"]["values"]
    assert {(row["left"], row["top"], row["right"], row["bottom"]) for row in rows} == {
        (0, height, width, height),
        (0, 2 * height, width, 2 * height),
        (0, height, 0, 2 * height),
        (width, height, width, 2 * height),
    }


# --- the specification --------------------------------------------------------------------------

ALL_STATES = ("1,1,10,", "2,1,20,disputed", "3,1,,missing", "4,1,,failed", "5,1,,oom")


def _layers(spec):
    return {layer["name"]: layer for layer in spec["layer"]}


def test_each_state_without_a_value_is_told_apart(make_study):
    layers = _layers(specification(draw_values(_grid(make_study, *ALL_STATES, "6,1,,disputed"))))
    scale = layers["absent"]["encoding"]["shape"]["scale"]
    assert scale["domain"] == [
        "no value: missing",
        "no value: run failed",
        "no value: out of memory",
        "no value: disputed",
    ]
    # A missing cell is empty; the others are hatched, each in another way.
    assert len(set(scale["range"])) == 4
    assert [shape.partition("Z")[2] == "" for shape in scale["range"]] == [True, *[False] * 3]
    assert [row["text"] for row in layers["words"]["data"]["values"]] == [
        "–", "fail", "OOM", "disp.",
    ]  # fmt: skip


def test_a_block_of_equal_states_has_its_word_once_where_it_fits(make_study):
    rows = [f"{x},{y}," + (",oom" if x > 2 and y > 1 else "1,") for x in range(6) for y in range(4)]
    words = _layers(specification(draw_values(_grid(make_study, *rows))))["words"]
    spec = specification(draw_values(_grid(make_study, *rows)))
    width, height = spec["width"] / 6, spec["height"] / 4
    assert words["data"]["values"] == [{"left": 4.5 * width, "top": height, "text": "OOM"}]
    small = [f"{x},{y}," + (",oom" if x == 9 else "1,") for x in range(20) for y in range(21)]
    heatmap = draw_values(_grid(make_study, *small))
    spec = specification(heatmap)
    for row in _layers(spec).get("words", {"data": {"values": []}})["data"]["values"]:
        assert len(row["text"]) * 6 <= spec["width"] / 20


def test_layers_are_there_for_what_the_grid_has(make_study):
    legend = ["strip", "measure", "ends", "end"]
    plain = specification(draw_values(_grid(make_study, "1,1,,oom")))
    assert list(_layers(plain)) == ["cells", "absent", "words", *legend]
    full = specification(draw_values(_grid(make_study, *ALL_STATES)))
    assert list(_layers(full)) == [
        "cells", "absent", "words", "values", *legend, "key-missing", "keys",
    ]  # fmt: skip


def test_a_large_grid_has_no_values_in_its_cells(make_study):
    small = [f"{x},{y},1," for x in range(24) for y in range(32)]
    assert "values" in _layers(specification(draw_values(_grid(make_study, *small))))
    for more in ("24,0,1,", "0,32,1,"):
        large = [*small, more]
        assert "values" not in _layers(specification(draw_values(_grid(make_study, *large))))


@pytest.mark.parametrize(
    ("number", "step", "places"),
    cases(__file__, "labels are thinned but for the first and the last"),
)
def test_labels_are_thinned_but_for_the_first_and_the_last(number, step, places):
    found = thinned(number, step)
    assert found == places
    assert all(b - a >= step for a, b in pairwise(found)) or number <= 2


@pytest.mark.parametrize(
    ("labels", "width", "lines", "angle"),
    [
        (["plain", "polite"], 48, [["plain"], ["polite"]], 0),
        (["plain", "step by step"], 50, [["plain"], ["step", "by step"]], 0),
        (["r1-qwen", "r1-llama-8b"], 60, [["r1-", "qwen"], ["r1-", "llama-8b"]], 0),
        (["a\U0001d49c mile", "low word"], 45, [["a\U0001d49c", "mile"], ["low", "word"]], 0),
        (["plain", "unbreakable"], 48, [["plain"], ["unbreakable"]], -90),
        (["-1.5", "2e-05"], 30, [["-1.5"], ["2e-05"]], -90),  # no number is broken
        (["a" * 9, "b"], 12, [["a" * 9], ["b"]], 0),  # thinned
    ],
)
def test_labels_are_broken_before_they_are_turned(labels, width, lines, angle):
    axis, _ = labels_below(labels, width)
    assert axis["labelAngle"] == angle
    assert not any(label in axis.get("labelExpr", "") for label in labels)
    scale = {"domain": labels, "type": "band"}
    svg = vl_convert.vegalite_to_svg(
        {
            "data": {"values": [{"x": label} for label in labels]},
            "width": width * len(labels),
            "mark": "rect",
            "encoding": {
                "x": {"field": "x", "type": "nominal", "sort": None, "scale": scale, "axis": axis}
            },
        }
    )
    texts = BeautifulSoup(svg, "html.parser").select(".role-axis-label text")
    found = [[line.text for line in text.select("tspan")] or [text.text] for text in texts]
    assert found == lines


def test_cells_are_as_wide_as_their_labels_where_there_is_room(make_study):
    def width(*columns):
        grid = _grid(make_study, *(f"{x},1,1," for x in columns))
        return cell_size(replace(draw_values(grid), size="panel"))[0]

    assert width("1", "2", "3") == 30
    assert width("plain", "polite", "long prompt") == 42
    assert width(*(f"unbreakable{at}" for at in range(9))) == 30


def _axes(make_study, columns, rows, more=""):
    lines = [f"{x},{y},1," for y in range(rows) for x in columns]
    spec = specification(draw_values(_grid(make_study, *lines, more=more)))
    x, y = (spec["encoding"][name]["axis"] for name in "xy")
    return x.get("values"), x["labelAngle"], y.get("values"), spec["width"], spec["height"]


def test_axis_labels_do_not_overlap(make_study):
    numbers = [str(x) for x in range(99)]
    x, angle, y, width, height = _axes(make_study, numbers, 99)
    assert (x, angle) == (["0", "10", "20", "30", "40", "50", "60", "70", "80", "98"], 0)
    assert y == x  # at most ten each
    assert (width, height) == (495, 495)
    texts = [f"layer_number_{x}" for x in range(99)]
    x, angle, *_ = _axes(make_study, texts, 10)
    assert (x[0], x[1], x[-1], angle) == (texts[0], texts[10], texts[98], -90)
    # Few levels keep all their labels, upright where they don't fit.
    x, angle, y, *_ = _axes(make_study, [text * 2 for text in texts[:12]], 12)
    assert (x, angle, y) == (None, -90, None)
    # Counted from the first level, wherever it is.
    down = "factors: {depth: {direction: down}}\n"
    assert _axes(make_study, numbers, 60, down)[2][:2] == ["0", "10"]


@pytest.mark.parametrize(("columns", "rows"), [(2, 200), (200, 2), (99, 99), (30, 40), (150, 60)])
def test_a_grid_without_printed_values_fits_a_page(make_study, columns, rows):
    *_, width, height = _axes(make_study, [str(x) for x in range(columns)], rows)
    assert width <= UNPRINTED
    assert 56 <= height <= UNPRINTED


def test_two_specifications_share_nothing(make_study):
    heatmap = draw_values(_grid(make_study, *ALL_STATES))
    first = specification(heatmap)
    before = json.dumps(first)
    second = specification(heatmap)
    second["layer"][0]["encoding"]["fill"]["field"] = "changed"
    second["config"]["axis"]["labelColor"] = "changed"
    assert json.dumps(specification(heatmap)) == before == json.dumps(first)


def _walk(node, path=()):
    yield path, node
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _walk(value, (*path, key))
    elif isinstance(node, list):
        for value in node:
            yield from _walk(value, (*path, "[]"))


HOSTILE = "datum.value) + alert('x'); #{'</script><a href=\"https://evil.example/\">"


def _hostile(make_study):
    quoted, longer = json.dumps(HOSTILE), json.dumps(HOSTILE + HOSTILE)
    study = make_study(
        "format: 1\n"
        f"title: {quoted}\n"
        f"metric: {{name: {quoted}, unit: {quoted}}}\n"
        "x: rate\ny: depth\nfacets: [model]\nroles: {model: choice}\n"
        "factors:\n"
        f"  rate: {{label: {quoted}, unit: {quoted}}}\n"
        f"  depth: {{label: {quoted}, levels: [{{id: 1, label: {quoted}}}, {longer}]}}\n"
        f"  model: {{levels: [{{id: a, label: {quoted}}}, b]}}\n"
        f"regions: [{{label: {quoted}, boxes: [{{rate: [1], depth: [1]}}]}}]\n",
        table(
            "model,rate,depth,value,state,note",
            *("a,1,1,1,,n", "a,2,1,,oom,n", "a,3,1,3,disputed,n", "b,1,1,2,,n"),
        ).replace(",n\n", ',"{}"\n'.format(HOSTILE.replace('"', '""'))),
    )
    results = analyse(study)
    (difference,) = differences(results, study.facet("model"))
    return [draw_values(results.grid(model="a")), draw_difference(difference)]


def test_data_is_inline_and_names_no_address(make_study):
    for heatmap in _hostile(make_study):
        spec = specification(heatmap)
        keys = {key for path, _ in _walk(spec) for key in path}
        assert not keys & {"url", "href", "usermeta", "datasets", "params", "signal", "expr"}
        addresses = [
            path
            for path, node in _walk(spec)
            if isinstance(node, str) and "://" in node.replace(HOSTILE, "")
        ]
        assert addresses == [("$schema",)]
        data = [path for path, _ in _walk(spec) if path and path[-1] == "data"]
        assert set(data) == {("layer", "[]", "data"), ("data",)}


def test_strings_of_data_are_never_expressions(make_study):
    literal = {
        ("title", "text"),
        ("description",),
        ("data", "values", "[]", "y"),
        ("data", "values", "[]", "label"),
        ("layer", "[]", "data", "values", "[]", "text"),
        ("encoding", "x", "title"),
        ("encoding", "y", "title"),
        ("encoding", "y", "scale", "domain", "[]"),
    }
    found = set()
    for heatmap in _hostile(make_study):
        spec = specification(heatmap)
        found |= {path for path, node in _walk(spec) if isinstance(node, str) and "alert" in node}
        assert not [path for path, _ in _walk(spec) if any("alert" in key for key in path)]
    # The x axis has numbers for levels; all else that can be named is named so.
    assert found == literal


def test_expressions_are_the_same_for_all_data(make_study):
    def expressions(heatmap):
        return {
            node
            for path, node in _walk(specification(heatmap))
            if isinstance(node, str) and path[-1] in ("filter", "test", "calculate", "labelExpr")
        }

    for heatmap in _hostile(make_study):
        assert expressions(heatmap) <= {
            "isValid(datum['value'])",
            "isValid(datum['values'])",
            "isValid(datum['absent'])",
            "isValid(datum.faded)",
        }
        assert "isValid(datum['value'])" in expressions(heatmap)
