"""What the card of a cell says, and that it is text wherever it lands."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest
from builders import table

from gridatlas.assessment.assess import assess
from gridatlas.charts.draw import draw_difference, draw_disagreement, draw_values
from gridatlas.pages.figure import Figure
from gridatlas.pages.tooltips import CARDS_UP_TO, card_data
from gridatlas.table.choose import analyse
from gridatlas.table.differences import differences

COUNTED = (
    'format: 1\ntitle: A demo\nmetric: {name: Pass, better: higher, unit: "%", range: [0, 100]}\n'
    "x: rate\ny: depth\n"
)
READINGS = (
    "readings:\n  - {id: one, file: cells.csv, label: Figure}\n"
    "  - {id: two, file: two.csv, label: Table}\n"
)


def _results(make_study, more, *rows, **files):
    head = "rate,depth,value,n,state,note,place"
    return analyse(make_study(more, table(head, *rows), files))


def _data(results):
    grid = results.grid()
    uncertainty = assess(results)
    heatmap = draw_values(grid)
    return _read(Figure(heatmap, grid, uncertainty=uncertainty.of(grid)))


def _read(figure):
    return json.loads(card_data(figure))


def entry(column, at):
    """As the script reads a column."""
    if isinstance(column, list):
        return column[at]
    return column["of"][column["at"][at]] if isinstance(column, dict) else column


def test_a_card_has_value_interval_trials_and_source(make_study):
    results = _results(
        make_study, COUNTED, "1,10,90.0,100,,,row 1", "2,10,10,100,,,row 1",
        "1,20,88.0,100,,read twice,row 2", "2,20,,,oom,,row 2",
    )  # fmt: skip
    data = _data(results)
    for name in ("ids", "labels"):
        assert [data["x"][name], data["y"][name]] == [["1", "2"], ["20", "10"]]
    assert [entry(data["value"], at) for at in range(4)] == ["88.0", None, "90.0", "10.0"]
    assert data["unit"] == " %"
    assert [entry(data["state"], at) for at in range(4)] == [None, "out of memory", None, None]
    assert entry(data["interval"], 2) == "82.6 to 94.5"
    assert [entry(data["n"], at) for at in range(4)] == [100, None, 100, 100]
    assert [entry(data["note"], at) for at in (0, 2)] == ["read twice", None]
    sources = [entry(data["from"], at) for at in range(4)]
    assert [source and source.rpartition(", ")[2] for source in sources] == [
        "row 2", "row 2", "row 1", "row 1"
    ]  # fmt: skip
    assert [entry(data["tell"], at) for at in range(4)] == [
        "May be the best: no other cell beats it by an unpaired test of the counts (95 % set).",
        None,
        "Best value. 1 other cell may be the best as well, by an unpaired test of the counts.",
        "Not the best: another cell beats it by an unpaired test of the counts (95 % set).",
    ]


@pytest.mark.parametrize(
    ("place", "log"),
    [
        ("a/b c.eval", "https://example.org/#/a/b%20c.eval"),
        ("a.eval:max", "https://example.org/#/a.eval"),
        ("r_10-00-00.5.json:results.t.acc (seed 1)", "https://example.org/#/r_10-00-00.5.json"),
        ("<'&\">.json", "https://example.org/#/%3C%27%26%22%3E.json"),
        ("Table 3", None),
        ("", None),
    ],
)
def test_a_card_leads_to_the_log_that_its_cell_is_from(make_study, place, log):
    link = 'readings: [{id: a, file: cells.csv, link: "https://example.org/#/{file}"}]\n'
    quoted = '"' + place.replace('"', '""') + '"'
    results = _results(make_study, COUNTED + link, f"1,1,9,,,,{quoted}", f"2,1,,,failed,,{quoted}")
    data = _data(results)
    assert [entry(data.get("log"), at) for at in (0, 1)] == [log, log]


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (["1,1,9,,,,", "2,1,1,,,,"], "Best value. Not testable against other cells: the number"),
        (["1,1,9,,,,", "2,1,9,,,,"], "One of 2 best values. Not testable against other cells"),
        (["1,1,99,100,,,", "2,1,1,100,,,"], "Best value. No other cell may be the best (95 % set)"),
        (
            ["1,1,9,,disputed,,", "2,1,1,,,,"],
            "Best value, disputed. Not testable against other cells: the number",
        ),
    ],
    ids=["unknown n", "ties", "alone", "disputed"],
)
def test_the_best_says_how_sure_that_is(make_study, rows, text):
    assert entry(_data(_results(make_study, COUNTED, *rows))["tell"], 0).startswith(text)


def test_readings_differ_agree_or_stand_alone(make_study):
    two = {"two.csv": table("rate,depth,value", "1,1,5", "2,1,7")}
    rows = ("1,1,5.0,,,,", "2,1,6,,,,", "3,1,8,,,,")
    data = _data(_results(make_study, COUNTED + READINGS, *rows, **two))
    agreement = [entry(data["agree"], at) for at in range(3)]
    assert agreement == ["The readings agree", "The readings differ", None]
    by_reading = {
        reading["label"]: [entry(reading["at"], at) for at in range(3)]
        for reading in data["readings"]
    }
    assert by_reading == {"Figure": ["5.0", "6.0", None], "Table": ["5.0", "7.0", None]}


def test_a_reading_without_a_value_neither_agrees_nor_differs(make_study):
    two = {"two.csv": table("rate,depth,value", "1,1,5", "2,1,7")}
    rows = ("1,1,,,disputed,,", "2,1,7,,,,")
    data = _data(_results(make_study, COUNTED + READINGS, *rows, **two))
    assert [entry(data["agree"], at) for at in range(2)] == [None, "The readings agree"]


def test_a_disagreement_says_how_far_readings_are_apart(make_study):
    two = {"two.csv": table("rate,depth,value", "1,1,5", "2,1,7")}
    grid = _results(make_study, COUNTED + READINGS, "1,1,5,,,,", "2,1,6,,,,", **two).grid()
    apart = {("1", "1"): Decimal(0), ("2", "1"): Decimal(1)}
    heatmap = draw_disagreement(grid, apart, 1)
    data = _read(Figure(heatmap, grid, compact=True))
    assert [entry(data["value"], at) for at in range(2)] == ["0", "1"]
    assert data["unit"] == " points apart"


def test_a_difference_gives_its_two_values(make_study):
    study = make_study(
        COUNTED + "facets: [model]\nroles: {model: choice}\n",
        table("model,rate,depth,value", "a,1,1,5", "b,1,1,7.5", "a,2,1,5"),
    )
    (difference,) = differences(analyse(study), study.facet("model"))
    data = _read(Figure(draw_difference(difference), difference))
    assert [entry(data["value"], at) for at in range(2)] == ["+2.5", None]
    assert (data["unit"], entry(data["state"], 1)) == (" points", "no value")
    assert [
        (reading["label"], [entry(reading["at"], at) for at in range(2)])
        for reading in data["readings"]
    ] == [("b", ["7.5", "missing"]), ("a", ["5.0", "5.0"])]


def test_strings_from_data_stay_in_their_element(make_study):
    hostile = "</script><!--<script>&amp;' x='"
    results = _results(make_study, COUNTED, f'1,1,5,,,"{hostile}",', "2,1,6,,,,")
    grid = results.grid()
    uncertainty = assess(results)
    text = card_data(Figure(draw_values(grid), grid, uncertainty=uncertainty.of(grid)))
    assert set("<>&'") & set(text) == set()
    assert entry(json.loads(text)["note"], 0) == hostile


def test_too_many_cells_have_no_cards(make_study):
    results = _results(make_study, COUNTED, "1,1,5,,,,")
    grid = results.grid()
    heatmap = draw_values(grid)
    many = replace(heatmap, marks=heatmap.marks * (CARDS_UP_TO + 1))
    assert card_data(Figure(many, grid, uncertainty=assess(results).of(grid))) == ""


def test_a_card_has_the_repeats_of_its_value_and_no_test_that_rings_contradict(make_study):
    rows = ["1,10,90,,,,", "2,10,10,,,,", "1,20,88,,,,", "2,20,80,,,,"]
    grid = (results := _results(make_study, COUNTED, *rows)).grid()
    heatmap, uncertainty = draw_values(grid), assess(results).of(grid)
    repeats = ("89 · 91", "9 · 11", "88 · 88", "")  # from 10 up
    figure = Figure(heatmap, grid, uncertainty=uncertainty, repeats=repeats)
    data = _read(figure)
    found = [entry(data["repeats"], at) for at in range(4)]
    assert found == ["88 · 88", None, "89 · 91", "9 · 11"]
    assert "Not testable against other cells" in entry(data["tell"], 0)
    marks = tuple(replace(mark, ring=True) for mark in heatmap.marks)
    assert "tell" not in _read(replace(figure, chart=replace(heatmap, marks=marks)))
