"""A study with many readings: which pairs differ most, and all of them in a file."""

import csv
import html
import io

import pytest
from bs4 import BeautifulSoup
from builders import write_study

from gridatlas.build.site import build
from gridatlas.pages.agreement import MATRIX_UP_TO, PAIRS_SHOWN

STUDY = {
    "format": 1,
    "title": "T",
    "metric": {"name": "M", "better": "higher", "range": [0, 100]},
    "x": "x",
    "y": "y",
}
POINTS = [(x, y) for x in range(1, 5) for y in range(1, 4)]
PAGE, PAIRS = "studies/demo/checks/index.md", "studies/demo/checks/pairs.csv"


def _built(folder, readings):
    """Reading 1 differs from all others in one cell by 5, reading 3 in all by its axes.

    The last reading has no cell that another one has.
    """
    entries = [
        {"id": f"r{number}", "label": f"Reading {number}", "file": f"r{number}.csv"}
        for number in range(1, readings + 1)
    ]
    tables = {}
    for number in range(1, readings + 1):
        values = {(x, y): 10 * x + y for x, y in POINTS}
        if number == 1:
            values[1, 1] += 5
        if number == 3:
            values = {(x, y): 10 * (5 - x) + y for x, y in POINTS}
        if number == readings:
            values = {(1, 4): 50}
        rows = [f"{x},{y},{value}\n" for (x, y), value in values.items()]
        tables[f"r{number}.csv"] = "x,y,value\n" + "".join(rows)
    write_study(folder / "demo", STUDY | {"readings": entries}, None, tables)
    return build(folder)


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return _built(tmp_path_factory.mktemp("few"), MATRIX_UP_TO)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    return _built(tmp_path_factory.mktemp("many"), MATRIX_UP_TO + 4)


def _page(site):
    """The page Checks with its tables in place."""
    [page] = [page for page in site.pages if page.plan.path == PAGE]
    return page.whole()


def _rows(site, *head):
    """The rows of all tables whose heads begin so, without their heads."""
    rows = []
    for table in BeautifulSoup(_page(site), "html.parser").select("table"):
        names, *lines = (
            [cell.get_text(strip=True) for cell in line.select("th, td")]
            for line in table.select("tr")
        )
        if names[: len(head)] == [*head]:
            rows += lines
    return rows


def test_few_readings_have_a_table_of_all_pairs(few):
    assert PAIRS not in few.files
    matrix = _rows(few, "Reading", "1")
    assert [len(row) for row in matrix] == [MATRIX_UP_TO + 1] * MATRIX_UP_TO
    assert _rows(few, "Grid")


def test_the_pairs_that_differ_most_stand_on_the_page(many):
    readings = MATRIX_UP_TO + 4
    shown = _rows(many, "Reading", "Reading")
    assert len(shown) == (readings - 2) + (readings - 3) <= PAIRS_SHOWN
    # That of reading 3 with reading 1 has as few cells alike as with any other, and one less.
    assert shown[0] == ["Reading 1", "Reading 3", "12", "0", "30"]
    assert {row[0] for row in shown[readings - 2 :]} == {"Reading 1"}
    [page] = [page for page in many.pages if page.plan.path == PAGE]
    pairs = readings * (readings - 1) // 2
    alike = pairs - len(shown) - (readings - 1)
    assert f"Of {pairs} pairs of readings {alike} have the same value" in page.markdown
    assert f"and {readings - 1} have no cell in common" in page.markdown
    assert "](pairs.csv)" in page.markdown


def test_a_likely_cause_stands_once_for_the_reading_that_has_it(many):
    [page] = [page for page in many.pages if page.plan.path == PAGE]
    causes = [line for line in page.markdown.splitlines() if line.startswith("- **Reading")]
    assert [html.unescape(line) for line in causes] == [
        f"- **Reading 3** held against {MATRIX_UP_TO + 2} others: X looks reversed, on one of "
        "the two sides. With Reading 2 12 of 12 cells agree after reversing X, 0 of 12 as given."
    ]


def test_each_cell_has_the_lowest_the_highest_and_the_most_frequent(many):
    [first] = [row for row in _rows(many, "Grid") if row[1] == "1 × 1"]
    assert first[2:6] == ["30", "11 (2, 4, 5 and 10 more)", "41 (3)", "11 (13 of 15)"]


def test_the_file_has_all_pairs(many):
    rows = list(csv.DictReader(io.StringIO(str(many.files[PAIRS]))))
    readings = MATRIX_UP_TO + 4
    assert len(rows) == len({(row["first"], row["second"]) for row in rows})
    assert len(rows) == readings * (readings - 1) // 2
    assert rows[0] == {
        "first": "r1", "second": "r2", "cells": "12", "equal": "11", "largest": "5",
        "only_first": "0", "only_second": "0", "derived": "",
    }  # fmt: skip
    assert rows[-1]["cells"] == "0"
    assert rows[-1]["largest"] == ""


AVERAGED = STUDY | {
    "factors": {"b": {"levels": ["one", "two", {"id": "all", "aggregate": {"by": "mean"}}]}},
    "facets": ["b"],
    "readings": [
        {"id": "r1", "label": "First", "file": "r1.csv"},
        {"id": "r2", "label": "Second", "file": "r2.csv"},
    ],
}


@pytest.mark.parametrize(
    ("average", "second", "fits"),
    [
        ("15", "24", "1"),  # (10 + 20) / 2
        ("17.0", "24", "2"),
        ("17", "21", "none"),
        ("20", "30", "2"),
        ("15", "21", "1,2"),  # rounded parts and averages
        ("15.0", "22", "1"),
        (None, "24", None),
    ],
)
def test_a_disagreement_says_which_reading_fits_the_printed_average(
    tmp_path, average, second, fits
):
    cells = [f"one,{x},{y},10\ntwo,{x},{y},20\n" for x, y in POINTS]
    first = "b,x,y,value\n" + "".join(cells)
    first += "".join(f"all,{x},{y},15\n" for x, y in POINTS[1:])
    first += f"all,1,1,{average}\n" if average else ""
    tables = {"r1.csv": first, "r2.csv": f"b,x,y,value\ntwo,1,1,{second}\n"}
    write_study(tmp_path / "demo", AVERAGED, None, tables)
    [row] = _rows(build(tmp_path), "Grid")
    assert row[-1] == (fits if fits is not None else "20")  # without an average no column
