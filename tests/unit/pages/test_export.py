"""Downloads: a grid's CSV is data in the format again, its JSON says where each value is from."""

import csv
import io
import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from builders import HEAD, REPOSITORY, table, write_study
from site_builds import Project, add_reproduced_study

from gridatlas.assessment.assess import assess
from gridatlas.assessment.cells import columns, to_frame
from gridatlas.assessment.pipeline import load_data
from gridatlas.assessment.uncertainty import UNTESTED, GridUncertainty
from gridatlas.charts.draw import draw_values
from gridatlas.charts.render import draw_one
from gridatlas.model.problems import only_problems
from gridatlas.pages.exports import answers_json, to_csv, to_json, to_svg
from gridatlas.table.choose import analyse

FACETS = HEAD + "facets: [model]\n"
ROWS = (
    'small,0.1,1,47.30,ok,150,"one, ""two""",table 1',
    'small,0.2,1,47.0,disputed,,"three\nfour",',
    "small,0.3,1,,oom,,,",
    "small,0.1,2,,failed,,,",
    "small,0.2,2,,disputed,,,",
    "small,0.3,2,0,,1,,",
    "R1 Qwen,0.1,1,-1e3,,,,",
)


def json_of(grid):
    """The JSON of a grid of which no interval is known."""
    return json.loads(to_json(grid, GridUncertainty.unknown(grid.study, "n is unknown")))


def _results(make_study):
    head = "model,rate,depth,value,state,n,note,place"
    return analyse(make_study(FACETS, table(head, *ROWS)))


def _same(cell):
    value = None if cell.value is None else f"{cell.value:f}"
    return (value, cell.state, cell.n, cell.note, cell.place)


def _read_again(checked, grid, head=FACETS):
    study, problems = checked(head, to_csv(grid))
    assert only_problems(problems) == ()
    assert [(problem.kind, problem.column) for problem in problems] == [
        ("unused-column", "reading")
    ]
    assert study is not None
    (again,) = analyse(study).grids.values()
    return again


def test_a_grid_is_the_same_when_its_csv_is_read_again(make_study, checked):
    results = _results(make_study)
    assert len(results.grids) == 2
    for levels, grid in results.grids.items():
        again = _read_again(checked, grid)
        assert again.levels == levels
        assert [(x.key, y.key, _same(cell)) for x, y, cell in again.points()] == [
            (x.key, y.key, _same(cell)) for x, y, cell in grid.points()
        ]


def test_no_column_is_lost_when_a_csv_is_read_again(make_study, checked):
    head = "rate,depth,value,n,successes,stderr,run"
    grid = analyse(make_study("", table(head, "1,1,50,10,5,0.25,run-1"))).grid()
    cell = _read_again(checked, grid, HEAD).cell("1", "1")
    assert (cell.n, cell.successes, cell.stderr, cell.run) == (10, 5, Decimal("0.25"), "run-1")


@pytest.mark.parametrize(
    ("values", "mean", "stderr"),
    [
        (("0.836928", "0.853246", "0.844743"), "0.8449723333", "0.004712"),
        (("0.5", "0.75"), "0.625", "0.125"),
        (("1", "2", "2"), "1.666666667", "0.3333"),
    ],
)
def test_computed_numbers_have_digits_that_mean_something(make_study, values, mean, stderr):
    rows = (f"1,1,{value}" for value in values)
    grid = analyse(
        make_study("roles: {repeat: replicate}\n", table("rate,depth,value", *rows))
    ).grid()
    [cell] = csv.DictReader(io.StringIO(to_csv(grid), newline=""))
    assert (cell["value"], cell["stderr"]) == (mean, stderr)


def test_printed_numbers_keep_all_their_digits(make_study):
    printed = "0.12345678901234567", "0.00012345678901234"
    row = "1,1," + ",".join(printed)
    grid = analyse(make_study("", table("rate,depth,value,stderr", row))).grid()
    [cell] = csv.DictReader(io.StringIO(to_csv(grid), newline=""))
    assert (cell["value"], cell["stderr"]) == printed


FORMULAS = ["=1+1", "@sum", "-O2", "+a", "'=x", "''-y", "＝2", "=cmd|' /C calc'!A0", '=H("z")']
HARMLESS = ["'quoted'", "'-5", "a=b", "it's", "1-2"]


def test_no_text_of_a_csv_is_a_formula_and_all_are_read_again(make_study, checked):
    quoted = [text.replace('"', '""') for text in FORMULAS + HARMLESS]
    # In a table by hand, each text that looks like a guarded one has one more apostrophe.
    by_hand = [f"'{text}" if text.startswith(("'=", "''-")) else text for text in quoted]
    rows = [f'small,"{text}",-1,-2.5,"{text}"' for text in by_hand]
    grid = analyse(make_study(FACETS, table("model,rate,depth,value,note", *rows))).grid(
        model="small"
    )
    assert [level.key for level in grid.study.x.levels] == FORMULAS + HARMLESS
    cells = list(csv.reader(io.StringIO(to_csv(grid), newline="")))
    texts = {text for row in cells for text in row}
    assert {text for text in texts if text[:1] in "=+-@＝" and text[:1]} == {"-1", "-2.5"}
    assert {f"'{text}" for text in FORMULAS} | set(HARMLESS) < texts
    again = _read_again(checked, grid)
    assert [(x.key, y.key, _same(cell)) for x, y, cell in again.points()] == [
        (x.key, y.key, _same(cell)) for x, y, cell in grid.points()
    ]


def test_a_json_has_a_line_for_every_cell(make_study):
    grid = _results(make_study).grid(model="small")
    text = to_json(grid, GridUncertainty.unknown(grid.study, "n is unknown"))
    lines = [line.strip().removesuffix(",") for line in text.splitlines() if '"state"' in line]
    assert [json.loads(line) for line in lines] == json.loads(text)["cells"]


def test_a_csv_has_a_row_for_every_point(make_study):
    grid = _results(make_study).grid(model="R1 Qwen")
    rows = list(csv.DictReader(io.StringIO(to_csv(grid), newline="")))
    assert [(row["rate"], row["depth"], row["value"], row["state"]) for row in rows] == [
        ("0.1", "1", "-1000", "ok"),
        ("0.2", "1", "", "missing"),
        ("0.3", "1", "", "missing"),
        ("0.1", "2", "", "missing"),
        ("0.2", "2", "", "missing"),
        ("0.3", "2", "", "missing"),
    ]
    assert {row["model"] for row in rows} == {"R1 Qwen"}
    assert [row["reading"] for row in rows] == ["cells", "", "", "", "", ""]


def test_json_says_what_is_in_the_grid(make_study):
    study = make_study(
        "format: 1\ntitle: A demo\n"
        'metric: {name: Pass@1, unit: "%", column: pass, better: lower}\n'
        "x: rate\ny: depth\nfacets: [model]\n"
        "factors: {rate: {label: Rate}, depth: {unit: layers}}\n"
        "readings: [{id: paper, file: cells.csv, label: The paper, url: 'https://example.org/'}]\n",
        table(
            "model,rate,depth,pass,state,n,stderr,note,place,run",
            *("small,0.1,2,47.30,,150,0.5,a note,table 1,run-1", "small,few,2,,oom,,,,,"),
        ),
    )
    assert json_of(analyse(study).grid(model="small")) == {
        "study": "demo",
        "title": "A demo",
        "grid": "small",
        "facets": {"model": "small"},
        "metric": {"name": "Pass@1", "unit": "%", "better": "lower", "decimals": 2},
        "x": {"id": "rate", "label": "Rate", "unit": ""},
        "y": {"id": "depth", "label": "Depth", "unit": "layers"},
        "computed": False,
        "not_testable": "n is unknown",
        "intervals": None,
        "readings": [{"id": "paper", "label": "The paper", "url": "https://example.org/"}],
        "profiles": {
            "interval": None,
            "x": [
                {"level": 0.1, "label": "0.1", "cells": 1, "mean": 47.3},
                {"level": "few", "label": "few", "cells": 0, "mean": None},
            ],
            "y": [{"level": 2, "label": "2", "cells": 1, "mean": 47.3}],
        },
        "cells": [
            {
                "rate": 0.1,
                "levels": {"rate": 0.1, "depth": 2},
                "depth": 2,
                "value": 47.3,
                "state": "ok",
                "n": 150,
                "stderr": 0.5,
                "note": "a note",
                "reading": "paper",
                "place": "table 1",
                "run": "run-1",
            },
            {
                "rate": "few",
                "levels": {"rate": "few", "depth": 2},
                "depth": 2,
                "value": None,
                "state": "oom",
                "reading": "paper",
            },
        ],
    }


def test_json_has_successes_where_they_are_known(make_study):
    study = make_study("", table("rate,depth,value,n,successes", "1,1,50,10,5"))
    (cell,) = json_of(analyse(study).grid())["cells"]
    assert cell["successes"] == 5


def test_json_tells_values_that_were_computed(make_study):
    study = make_study(
        "facets: [b]\nfactors: {b: {levels: [p, q, {id: mean, aggregate: {by: mean}}]}}\n",
        table("b,rate,depth,value", "p,1,1,1", "q,1,1,2"),
    )
    content = json_of(analyse(study).grid(b="mean"))
    assert (content["computed"], content["readings"]) == (True, [])
    assert content["cells"] == [
        {"rate": 1, "depth": 1, "levels": {"rate": 1, "depth": 1}, "value": 1.5, "state": "ok",
         "note": "computed here: the mean of its 2 parts"},
    ]  # fmt: skip


def test_json_says_how_far_a_value_can_be_trusted(make_study):
    study = make_study("", table("rate,depth,value", "1,1,50", "2,1,40"))
    uncertainty = replace(
        GridUncertainty.unknown(study),
        ends=np.array([[np.nan, np.nan], [30.12345, 50]]),
        may_be_best=np.array([UNTESTED, 1], np.int8),
    )
    content = json.loads(to_json(analyse(study).grid(), uncertainty))
    assert content["not_testable"] is None
    untested, tested = content["cells"]
    assert untested.keys() & {"interval_95", "may_be_best"} == set()
    assert (tested["interval_95"], tested["may_be_best"]) == ([30.12345, 50], True)


def test_json_says_what_each_reading_says(make_study):
    study = make_study(
        "readings: [{id: one, file: cells.csv}, {id: two, file: two.csv}]\n",
        table("rate,depth,value", "1,1,50", "2,1,40"),
        {"two.csv": table("rate,depth,value,state,place", "1,1,,oom,table 2")},
    )
    content = json_of(analyse(study).grid())
    assert [reading["id"] for reading in content["readings"]] == ["one", "two"]
    assert [cell.get("read") for cell in content["cells"]] == [
        [
            {"reading": "one", "value": 50, "state": "ok"},
            {"reading": "two", "value": None, "state": "oom", "place": "table 2"},
        ],
        None,
    ]


def test_json_says_null_of_cells_that_were_never_tested(make_study):
    study = make_study(
        'format: 1\ntitle: T\nmetric: {name: M, better: higher, unit: "%"}\nx: rate\ny: depth\n'
        "facets: [b]\nfactors: {b: {levels: [p, q, {id: mean, aggregate: {by: mean}}]}}\n",
        table("b,rate,depth,value,n", "p,1,1,50,10", "q,1,1,40,10", "p,2,1,30,10", "q,2,1,10,10"),
    )
    results = analyse(study)
    for level, in_best_set, text in (("mean", None, '""'), ("p", True, "True")):
        grid = results.grid(b=level)
        uncertainty = assess(results).of(grid)
        cells = json.loads(to_json(grid, uncertainty))["cells"]
        assert [cell["may_be_best"] for cell in cells] == [in_best_set, in_best_set]
        frame = to_frame(columns([(grid, uncertainty)]))
        assert frame.to_csv(columns=["may_be_best"], index=False).split() == [
            "may_be_best", text, text
        ]  # fmt: skip


def unique(pairs):
    """An object of JSON that has each of its keys once."""
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)


def keys_of(content):
    """The keys of all objects in JSON."""
    if isinstance(content, list):
        return set().union(*map(keys_of, content))
    if not isinstance(content, dict):
        return set()
    return set(content).union(*map(keys_of, content.values()))


@pytest.fixture(scope="module")
def written_names(tmp_path_factory):
    """Every key and column that downloads of studies have which say all that can be said."""
    folder = tmp_path_factory.mktemp("written")
    add_reproduced_study(Project(folder))
    twice = "roles: {seed: replicate}\n", table("rate,depth,seed,value", "1,1,1,2", "1,1,2,3")
    read = "spread: {column: beside, kind: sd, n: 5}\nreadings:\n"
    read += (
        "  - {id: one, file: cells.csv, url: 'https://x.example/'}\n  - {id: two, file: b.csv}\n"
    )
    cells = table("rate,depth,value,beside", "1,1,2,0.5", "2,1,3,0.5")
    write_study(folder / "data/twice", HEAD + twice[0], twice[1])
    write_study(folder / "data/read", HEAD + read, cells, {"b.csv": cells.replace("3", "4")})
    names = set()
    bare = load_data(REPOSITORY / "tests/golden/projects/bare/data")
    for assessment in (*load_data(folder / "data").values(), *bare.values()):
        names |= keys_of(json.loads(answers_json(assessment, "")))
        for grid in assessment.results.grids.values():
            uncertainty = assessment.uncertainty.of(grid)
            names |= keys_of(json.loads(to_json(grid, uncertainty, assessment.rerun(grid))))
            names |= {*columns([(grid, uncertainty)]), *to_csv(grid).splitlines()[0].split(",")}
    assert {
        *("difference_95", "evidence", "interval_95", "interval_low", "levels", "may_be_best", "p"),
        *("range", "read", "reading", "reproduced", "spread", "state", "url", "value", "verdict"),
    } <= names
    return sorted(names)


def test_a_factor_named_like_a_key_or_a_column_is_refused_or_kept(checked, written_names):
    more = "readings: [{id: one, file: cells.csv}, {id: two, file: two.csv}]\n"
    for name in written_names:
        x, y = name, "depth" if name != "depth" else "rate"
        head = f"format: 1\ntitle: T\nmetric: {{name: M, column: score}}\nx: {x}\ny: {y}\n"
        rows = table(f"{x},{y},score,stderr,n", "8,1,0.5,0.1,10")
        study, problems = checked(head + more, rows, {"two.csv": rows})
        if study is None:
            assert [problem.kind for problem in problems] == ["reserved-column"], name
            continue
        assert only_problems(problems) == (), name
        grid = analyse(study).grid()
        uncertainty = replace(
            GridUncertainty.unknown(study),
            ends=np.array([[0.3, 0.7]]),
            may_be_best=np.array([1], np.int8),
            ranges=np.array([[0.0, 1.0]]),
        )
        (cell,) = json.loads(to_json(grid, uncertainty), object_pairs_hook=unique)["cells"]
        assert cell["levels"] == {x: 8, y: 1}
        assert [reading["reading"] for reading in cell["read"]] == ["one", "two"], name
        assert (cell["interval_95"], cell["range"]) == ([0.3, 0.7], [0, 1]), name
        header, row = csv.reader(io.StringIO(to_csv(grid)))
        assert (len({*header}), row[header.index(x)]) == (len(header), "8"), name
        assert columns([(grid, uncertainty)])[x] == [8], name


def test_a_metric_whose_column_is_another_column_is_refused(checked, written_names):
    for name in written_names:
        x, y = ("rate", "depth") if name not in ("rate", "depth") else ("one", "two")
        head = f"format: 1\ntitle: T\nmetric: {{name: M, column: {name}}}\nx: {x}\ny: {y}\n"
        study, problems = checked(head, table(f"{x},{y},{name}", "8,1,1"))
        if study is None:
            assert [problem.kind for problem in problems] == ["duplicate-column"], name
            continue
        header, row = csv.reader(io.StringIO(to_csv(analyse(study).grid())))
        assert (len({*header}), row[header.index(name)]) == (len(header), "1"), name


def test_an_svg_file_follows_the_readers_colours(make_study):
    drawing = draw_one(draw_values(_results(make_study).grid(model="small")))
    svg = to_svg(drawing.svg)
    root = ET.fromstring(svg)
    style = root[0]
    assert style.tag == "{http://www.w3.org/2000/svg}style"
    assert style.text == ("svg{color:#1f1f1f}@media(prefers-color-scheme:dark){svg{color:#e6e6e6}}")
    assert svg.replace(f"<style>{style.text}</style>", "") == drawing.svg + "\n"
    assert "currentColor" in svg
