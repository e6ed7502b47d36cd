"""What `gridatlas.load` gives to scripts and notebooks; the real data is in the notebook page."""

import io
import json
import os
import subprocess
import sys
from xml.etree import ElementTree

import pandas as pd
import pytest
from builders import HEAD, REPOSITORY, table, write_study

import gridatlas

FACETS = (
    "facets: [model, seed]\n"
    "metric: {name: Accuracy, better: higher, unit: '%', range: [0, 100], decimals: 1}\n"
)
CELLS = table(
    "model,seed,rate,depth,value,n,successes,state",
    "small,1,0.1,1,50.0,10,5,",
    "small,1,0.2,1,70.0,10,7,",
    "small,1,0.1,2,,,,oom",
    "large,2,0.1,1,90.0,,,",
)
EVIL = "</svg><script>alert(1)</script>"


@pytest.fixture
def opened(tmp_path):
    """Write studies and load them: `opened({"demo": (study, cells)})`."""

    def opened(studies):
        for name, (study, cells) in studies.items():
            write_study(tmp_path / "data" / name, study, cells)
        return gridatlas.load(os.path.relpath(tmp_path / "data"))

    return opened


@pytest.fixture
def demo(opened):
    head = HEAD.replace("metric: {name: Accuracy, better: higher}\n", FACETS)
    return opened({"demo": (head, CELLS)})["demo"]


@pytest.fixture
def small(demo):
    return demo.grid(model="small", seed=1)


# --- names --------------------------------------------------------------------------------------


def test_an_unknown_number_is_refused_with_the_others(demo):
    with pytest.raises(gridatlas.UnknownName, match='seed has no level "30"') as refused:
        demo.grid(model="small", seed=30)
    assert str(refused.value).endswith(" (expected one of 1, 2)")


def test_numbers_are_levels_by_their_value(demo):
    grid = demo.grid(model="small", seed=1)
    assert demo.grid(model="small", seed=1.0) is demo.grid(model="small", seed="1") is grid


def test_a_facet_with_a_dash_is_written_with_an_underscore(opened):
    cells = table("prompt-style,rate,depth,value", "short,1,1,4")
    studies = opened({"demo": (HEAD + "facets: [prompt-style]\n", cells)})
    grid = studies["demo"].grid(prompt_style="short")
    assert grid is studies["demo"].grid(**{"prompt-style": "short"})


def test_an_unknown_study_is_refused_with_the_nearest_or_its_new_name(opened):
    cells = table("rate,depth,value", "1,1,4")
    studies = opened({"demo": (HEAD + "former: [trial]\n", cells), "other": (HEAD, cells)})
    with pytest.raises(gridatlas.UnknownName) as refused:
        studies["demoo"]
    assert str(refused.value) == (
        'there is no study "demoo"; did you mean demo? (expected one of demo, other)'
    )
    with pytest.raises(gridatlas.UnknownName) as refused:
        studies["trial"]
    assert str(refused.value) == (
        'the study "trial" was renamed; did you mean demo? (expected one of demo, other)'
    )
    assert studies.get("trial") is None


def test_data_that_is_unfit_is_refused_with_all_problems(tmp_path):
    with pytest.raises(gridatlas.DataProblems) as refused:
        gridatlas.load(tmp_path / "none")
    assert [problem.kind for problem in refused.value.problems] == ["no-such-file"]


# --- pandas -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "framed",
    [
        lambda study: study.frame(),
        lambda study: next(iter(study.grids.values())).frame(),
        lambda study: gridatlas.from_frame([], x="rate", y="depth", metric="value"),
    ],
    ids=["a study", "a grid", "from a frame"],
)
def test_without_pandas_the_extra_is_named(demo, monkeypatch, framed):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError) as caught:
        framed(demo)
    assert str(caught.value) == (
        'data frames need pandas: pip install "/path/to/grid-atlas[pandas]"'
    )


def test_the_rest_does_without_pandas(small, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert "50.0" in small._repr_html_()
    assert small.chart().to_dict()["mark"] == {"type": "rect"}


def test_a_frame_has_every_cell_with_its_state(small):
    frame = small.frame()
    assert list(frame.columns) == [
        "model", "seed", "rate", "depth", "value", "state", "n", "successes", "stderr",
        "interval_low", "interval_high", "may_be_best", "reading", "place", "note", "run",
    ]  # fmt: skip
    shown = frame[["model", "seed", "rate", "depth", "state", "reading"]].to_numpy().tolist()
    assert shown == [
        ["small", 1, 0.1, 1, "ok", "cells"],
        ["small", 1, 0.2, 1, "ok", "cells"],
        ["small", 1, 0.1, 2, "oom", "cells"],
        ["small", 1, 0.2, 2, "missing", ""],
    ]
    assert frame["value"].tolist()[:2] == [50.0, 70.0]
    assert frame["value"].isna().tolist() == [False, False, True, True]
    assert frame["n"].tolist() == [10, 10, pd.NA, pd.NA]
    low, high = frame["interval_low"], frame["interval_high"]
    assert ((low < frame["value"]) & (frame["value"] < high)).tolist() == [True, True, False, False]


def test_types_of_a_frame_are_the_same_with_and_without_values(demo):
    expected = {
        "seed": "int64", "rate": "float64", "depth": "int64", "value": "float64", "n": "Int64",
        "successes": "Int64", "stderr": "float64", "interval_low": "float64",
        "interval_high": "float64", "may_be_best": "boolean",
    }  # fmt: skip
    for frame in (demo.frame(), *(grid.frame() for grid in demo.grids.values())):
        assert {name: str(frame[name].dtype) for name in expected} == expected
        text = [name for name in frame.columns if name not in expected]
        assert all(pd.api.types.is_string_dtype(frame[name]) for name in text)


def test_a_study_s_frame_has_the_grids_below_each_other(demo):
    parts = [grid.frame() for grid in demo.grids.values()]
    pd.testing.assert_frame_equal(demo.frame(), pd.concat(parts, ignore_index=True))


def test_levels_of_which_one_is_a_text_are_texts(opened):
    cells = table("seed,rate,depth,value", "1,1,1,4", "mean,1,1,4")
    frame = opened({"demo": (HEAD + "facets: [seed]\n", cells)})["demo"].frame()
    assert frame["seed"].tolist() == ["1", "mean"]


@pytest.mark.parametrize("name", ["interval_low", "interval_high", "may_be_best"])
def test_no_factor_takes_the_name_of_a_column(opened, name):
    cells = table(f"{name},rate,depth,value", "1,1,1,4")
    with pytest.raises(gridatlas.DataProblems, match="reserved-column"):
        opened({"demo": (HEAD + f"facets: [{name}]\n", cells)})


# --- Altair -------------------------------------------------------------------------------------


def test_a_chart_has_its_data_and_can_be_layered_and_saved(small):
    import altair as alt

    chart = small.chart()
    assert type(chart) is alt.Chart
    [values] = chart.to_dict()["datasets"].values()
    assert [row["value"] for row in values] == [50.0, 70.0, None, None]
    layered = (chart + chart.mark_text().encode(text="value:Q")) | chart
    out = io.StringIO()
    layered.save(out, format="svg")
    svg = ElementTree.fromstring(out.getvalue())
    texts = [node.text for node in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert {"50", "70"} <= set(texts)
    cells = [
        node.get("aria-label")
        for node in svg.iter("{http://www.w3.org/2000/svg}path")
        if node.get("aria-roledescription") == "rect mark"
    ]
    assert len(cells) == 4  # two values, in two charts: cells without one aren't drawn


def test_a_chart_keeps_the_order_of_levels(opened):
    more = "factors: {rate: {levels: [b, a]}, depth: {levels: [2, 10], direction: up}}\n"
    cells = table("rate,depth,value", "a,10,1", "b,2,3")
    spec = opened({"demo": (HEAD + more, cells)})["demo"].grid().chart().to_dict()
    assert spec["encoding"]["x"]["scale"] == {"domain": ["b", "a"]}
    assert spec["encoding"]["y"]["scale"] == {"domain": [10, 2]}


def test_a_chart_reads_names_that_would_lead_into_objects(opened):
    head = HEAD.replace("x: rate", "x: lr.max[0]")
    cells = table("lr.max[0],depth,value", "1,1,4", "2,1,5")
    chart = opened({"demo": (head, cells)})["demo"].grid().chart()
    out = io.StringIO()
    chart.save(out, format="svg")
    assert "Lr.max[0]: 2; Depth: 1; Accuracy: 5" in out.getvalue()


# --- notebooks ----------------------------------------------------------------------------------


def test_a_grid_is_shown_as_its_drawing_and_as_text(small):
    shown = small._repr_mimebundle_()
    assert shown.keys() == {"text/html", "text/plain"}
    root = ElementTree.fromstring(shown["text/html"])
    svg = root.find("{http://www.w3.org/2000/svg}svg")
    assert svg.get("aria-label", "").startswith("small | 1: ")
    assert svg.get("role") == "group"
    labels = [node.get("aria-label") for node in svg.iter() if node.get("role")]
    assert "Rate 0.2, Depth 1: 70.0 %, best" in labels
    assert "<script" not in shown["text/html"]
    assert "href" not in shown["text/html"]
    assert shown["text/plain"] == (
        "A demo: small | 1\n"
        "Accuracy (%), higher is better\n"
        "             0.1       0.2\n"
        "2  out of memory   missing\n"
        "1           50.0      70.0*\n"
        "across: Rate; down: Depth; * best"
    )


def test_a_large_grid_has_a_short_text(opened):
    rows = [f"{x},1,{x}" for x in range(30)]
    grid = opened({"demo": (HEAD, table("rate,depth,value", *rows))})["demo"].grid()
    assert str(grid) == (
        "A demo\nAccuracy, higher is better\n30 × 1 cells, best 29 at rate 29 × depth 1"
    )


def test_a_study_is_shown_with_its_grids_readings_and_notes(tmp_path, monkeypatch, opened):
    monkeypatch.chdir(tmp_path)
    second = tmp_path / "data/demo/second.csv"
    second.parent.mkdir(parents=True)
    second.write_text(table("model,rate,depth,value", "small,1,1,5", "tiny,1,1,5"), "utf-8")
    head = HEAD + (
        "facets: [model]\nsummary: A summary.\nfactors: {model: {levels: [small]}}\n"
        "readings: [{id: one, file: cells.csv, label: Figure}, {id: two, file: second.csv}]\n"
    )
    study = opened({"demo": (head, table("model,rate,depth,value", "small,1,1,4"))})["demo"]
    assert str(study).splitlines() == [
        "A demo (demo)",
        "  metric: Accuracy, higher is better",
        "  x: Rate: 1",
        "  y: Depth: 1",
        "  facet model: small",
        "  reading one: Figure, 1 cell",
        "  reading two: two, 1 cell",
        '  note: data/demo/second.csv:3, "model": "tiny" [unknown-level]',
        "  small  1 value, best 4 at rate 1 × depth 1",
    ]
    html = study._repr_mimebundle_()["text/html"]
    assert "<p>A summary.</p>" in html
    assert "<li>reading one: Figure, 1 cell</li>" in html
    assert (
        '<td>1 value</td><td style="white-space:nowrap">best 4 at rate 1 × depth 1</td></tr>'
        in html
    )


def test_texts_of_data_are_texts_in_html(opened):
    head = json.dumps(
        {
            "format": 1, "title": EVIL, "summary": EVIL, "metric": {"name": EVIL, "unit": EVIL},
            "x": "rate", "y": "depth", "facets": ["model"],
            "factors": {
                "rate": {"label": EVIL}, "depth": {"label": EVIL},
                "model": {"label": EVIL, "levels": [{"id": "m", "label": EVIL}]},
            },
            "readings": [{"id": "one", "file": "cells.csv", "label": EVIL}],
        }
    )  # fmt: skip
    study = opened({"demo": (head, table("model,rate,depth,value", "m,1,1,4"))})["demo"]
    for html in (study._repr_html_(), study.grid(model="m")._repr_html_()):
        assert "<script" not in html
        ElementTree.fromstring(html)


def test_representations_are_short(demo, small):
    assert repr({"demo": demo}) == "{'demo': <study demo: 2 grids>}"
    assert repr(small) == "<grid demo/small/1>"


def test_a_cache_gives_the_same_without_computing_it_again(tmp_path, demo, small, monkeypatch):
    first = gridatlas.load(tmp_path / "data", cache=tmp_path / "cache")["demo"]
    shown = first.grid(model="small", seed=1)._repr_html_()
    monkeypatch.setattr("gridatlas.charts.pool.draw_one", None)
    monkeypatch.setattr("gridatlas.assessment.compute.compute", None)
    second = gridatlas.load(tmp_path / "data", cache=tmp_path / "cache")["demo"]
    assert second.grid(model="small", seed=1)._repr_html_() == shown
    pd.testing.assert_frame_equal(second.frame(), first.frame())
    monkeypatch.undo()
    assert small._repr_html_() == shown
    pd.testing.assert_frame_equal(demo.frame(), first.frame())


# --- names --------------------------------------------------------------------------------------


def test_the_package_shows_what_is_for_users_only():
    names = [name for name in dir(gridatlas) if not name.startswith("__")]
    assert names == sorted(gridatlas.__all__)
    assert {"__version__", "__doc__", "__all__"} <= set(dir(gridatlas))
    assert all(hasattr(gridatlas, name) for name in dir(gridatlas))


# --- imports ------------------------------------------------------------------------------------

IMPORTED = """
import sys
import gridatlas
study = gridatlas.load("data")["dynts-window-ratio"]
print(study, study.grid(model="r1-qwen", benchmark="aime24"))
print({"altair", "pandas", "scipy", "vl_convert", "mkdocs"} & set(sys.modules), file=sys.stderr)
"""


def test_loading_and_printing_import_nothing_heavy():
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stderr == "set()\n"
    assert "  r1-qwen/aime24    20 values, best 52.0 % at ratio 0.4 × local_window 2000\n" in (
        done.stdout
    )


def test_a_study_and_its_grids_have_answers():
    study = gridatlas.load(REPOSITORY / "data")["dynts-window-ratio"]
    assert study.answer is study.answers[""]
    block = study.answer.assertions[0]
    assert (block.factor, block.levels) == ("model × benchmark", ("R1-Qwen", "R1-Llama", "AIME25"))
    assert block.low < block.estimate < block.high
    grid = study.grid(model="r1-qwen", benchmark="aime24")
    assert grid.answer.headline == (
        "R1-Qwen, AIME24: No effect of ratio or local window size shown"
    )
    with pytest.raises(LookupError, match="is an aggregate: ask the study"):
        _ = study.grid(model="r1-qwen", benchmark="average").answer


# --- studies of data frames -----------------------------------------------------------------------


def runs():
    """Two models at three rates, twice each."""
    rows = [(m, lr, s) for m in ("small", "large") for lr in (0.1, 0.01, 1e-5) for s in (1, 2)]
    frame = pd.DataFrame(rows, columns=["model", "lr", "seed"])
    return frame.assign(acc=[0.5 + at / 40 for at in range(len(rows))], host="node1")


def test_a_frame_is_a_study_whose_roles_are_proposed_and_printed(capsys):
    study = gridatlas.from_frame(runs())
    assert (study.study.x.id, study.study.y.id) == ("lr", "model")
    printed = capsys.readouterr().out
    assert printed.startswith("data frame: 12 rows; in memory\n\nrole ")
    assert "repeats   seed    2 numbers, 1 to 2" in printed
    assert "not read  host    1 text: node1              one level only" in printed
    assert str(study.at(lr=0.1, model="small").value) == "0.5125"
    assert study.answer.headline == study.answers[""].headline
    assert study.grid().svg().startswith("<svg")


def test_nothing_is_printed_where_all_roles_are_named(capsys):
    study = gridatlas.from_frame(
        runs(), x="lr", y="model", metric="acc", repeats="seed", better="lower", unit="", title="T"
    )
    assert capsys.readouterr().out == ""
    assert (study.study.metric.better, study.study.title) == ("lower", "T")


def test_a_study_of_a_frame_is_saved_as_it_is(tmp_path):
    study = gridatlas.from_frame(runs(), x="lr", y="model", metric="acc")
    folder = study.save(tmp_path / "data/tuning")
    again = gridatlas.load(tmp_path / "data")["tuning"]
    assert again.at(lr="0.1", model="large").value == study.at(lr="0.1", model="large").value
    assert sorted(path.name for path in folder.iterdir()) == ["cells.csv", "study.yml"]
    with pytest.raises(ValueError, match="which exists already; fix: name another"):
        study.save(folder)
    study.save(folder, replace=True)


def test_frames_of_other_libraries_and_named_indexes_are_taken():
    import pyarrow as pa

    wanted = gridatlas.from_frame(runs(), x="lr", y="model", metric="acc").frame()
    arrow = pa.Table.from_pandas(runs())
    assert gridatlas.from_frame(arrow, x="lr", y="model", metric="acc").frame().equals(wanted)
    indexed = runs().set_index(["model", "lr"])
    assert gridatlas.from_frame(indexed, x="lr", y="model", metric="acc").frame().equals(wanted)
    with pytest.raises(TypeError, match="list instead of a data frame"):
        gridatlas.from_frame([1, 2])


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (["lr", "acc"], {}, r"only one factor varies, lr; fix: .*, or take lr alone: x=lr y=''$"),
        (["lr", "model", "acc"], {"x": "rate"}, r"^x=rate; fix: "),
        (
            ["model", "lr", "seed", "acc"],
            {"x": "lr", "y": "seed", "metric": "acc", "facets": ["host"]},
            r"^up to 2 rows per cell, which differ in model; fix: add facets=model$",
        ),
    ],
)
def test_what_isnt_clear_in_a_frame_is_said_with_what_to_do(columns, options, message):
    # Without the last: equally many rows of each level are taken for repeats.
    frame = runs() if "facets" in options else runs()[columns][:-1]
    with pytest.raises(ValueError, match=message):
        gridatlas.from_frame(frame, **options)


def test_limits_hold_where_they_are_given(tmp_path):
    write_study(tmp_path / "data/demo")
    with pytest.raises(gridatlas.DataProblems, match="at most 9 bytes"):
        gridatlas.load(tmp_path / "data", limits={"file_bytes": 9})
    with pytest.raises(ValueError, match='no limit "rwos"; did you mean rows'):
        gridatlas.load(tmp_path / "data", limits={"rwos": 9})
    assert [*gridatlas.load(tmp_path / "data")] == ["demo"]
