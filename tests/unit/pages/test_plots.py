"""Which plots a page has, and that their numbers are those of the study."""

import json
import re
from dataclasses import replace
from itertools import product

import pytest
from builders import real_data, write_study

from gridatlas.assessment.pipeline import load_data
from gridatlas.charts.kinds.dots import DotPlot, dot_plot
from gridatlas.charts.kinds.forest import forest_plot
from gridatlas.charts.kinds.profile import Profile
from gridatlas.charts.pool import draw
from gridatlas.charts.tables import tables_of
from gridatlas.model.addresses import SiteAddress
from gridatlas.pages.anatomy import answering
from gridatlas.pages.exports import plot_files
from gridatlas.pages.render import Templates

ACCURACY = {"name": "Accuracy", "better": "higher", "unit": "%", "range": [0, 100], "decimals": 1}


@pytest.fixture(scope="module")
def dynts():
    return real_data()["dynts-window-ratio"]


@pytest.fixture
def assess(tmp_path):
    """A study from its keys and its table, as an assessment."""

    def assess(axes, value, /, **keys):
        head = {"format": 1, "title": "A demo", "metric": ACCURACY, "x": "rate", "y": "depth"}
        rows = [",".join([*axes, "value"])]
        for levels in product(*axes.values()):
            rows.append(",".join([*levels, str(value(*levels))]))
        write_study(tmp_path / "data/demo", head | keys, "\n".join(rows) + "\n")
        found = load_data(tmp_path / "data")
        assert "demo" in found, found.problems
        return found["demo"]

    return assess


def grids_at(assessment, facet, level):
    return assessment.results.where(facet, level)


def settings_plot(assessment, grids):
    return next(iter(DotPlot.of(assessment, tuple(grids))), None)


def row_of(kind, assessment, grids, page="", facet=None):
    rows = {row.key: row for row in answering(assessment, grids, page, facet)}
    return rows.get(kind)


def html(row):
    templates = Templates(None, frozenset(), (), SiteAddress())
    drawings = draw([figure.chart for figure in row.figures])
    return templates.fence(row, "studies/demo/index.md", drawings, set())


# --- the study of this repository ---------------------------------------------------------------


def test_settings_are_ranked_by_the_printed_average(dynts):
    grids = grids_at(dynts, "model", "r1-qwen")
    plot = settings_plot(dynts, grids)
    assert plot is not None
    [average] = [grid for grid in grids if grid.aggregate]
    values = sorted(
        (float(cell.value) for _, _, cell in average.points() if cell.value is not None),
        reverse=True,
    )
    assert [row.value for row in plot.rows] == values
    first = plot.rows[0]
    assert (first.key, first.name, first.text) == ("0.4,2000", "0.4 × 2000", "56.3")
    tests, row = dynts.uncertainty.of(average), average.row(("0.4", "2000"))
    assert first.interval == tuple(tests.by_trials[row])
    assert first.wide == tuple(tests.ends[row])
    assert (plot.scope, plot.wide_scope) == ("these questions", "questions of the kind")
    assert plot.over == ("AIME24", "AIME25", "AMC23", "GPQA_D")


def test_profiles_are_the_means_of_the_benchmarks(dynts):
    ratio, window = Profile.of(dynts, grids_at(dynts, "model", "r1-qwen"))
    assert [line.name for line in ratio.lines] == ["AIME24", "AIME25", "AMC23", "GPQA_D"]
    grid = dynts.results.grid(model="r1-qwen", benchmark="aime24")
    column = [float(cell.value or 0) for x, _, cell in grid.points() if x.key == "0.4"]
    assert ratio.lines[0].means[3] == pytest.approx(sum(column) / 4)
    assert ratio.domain == window.domain


def test_a_forest_has_the_numbers_of_the_answers(dynts):
    plot = forest_plot(dynts, dynts.study.facet("model"))
    assert plot is not None
    names = ["AIME24", "AIME25", "AMC23", "GPQA_D", "On average"]
    assert [row.name for row in plot.rows] == names
    for row, page in zip(plot.rows, ["aime24", "aime25", "amc23", "gpqa_d", ""], strict=True):
        answer = dynts.answers[f"benchmark/{page}" if page else "model"]
        [pair] = answer.compared
        assert pair.levels == ("R1-Qwen", "R1-Llama")
        assert (row.value, row.interval) == (pair.estimate, (pair.low, pair.high))
        # What is highlighted is what the page's answer asserts.
        assert row.shown == any(of.kind == "pair" for of in answer.assertions)
    assert [row.certainty for row in plot.rows] == [
        *("not shown", "clear", "not shown", "likely", "not shown")
    ]
    assert [row.scope for row in plot.rows] == [
        *["if these questions are asked again"] * 4,
        "for other benchmarks like these 3 (4 benchmarks, 3 that move apart)",
    ]
    assert [row.whole for row in plot.rows] == [False] * 4 + [True]
    assert forest_plot(dynts, dynts.study.facet("benchmark")) is None


def test_what_depends_on_the_reading_is_not_highlighted(dynts):
    doubtful = replace(dynts)
    pages = {
        page: replace(answer, grade="reading-dependent") for page, answer in dynts.answers.items()
    }
    object.__setattr__(doubtful, "answers", pages)
    plot = forest_plot(doubtful, dynts.study.facet("model"))
    assert [row.shown for row in plot.rows] == [False] * 5
    assert [row.certainty for row in plot.rows] == [
        *("not shown", "depends on the reading", "not shown", "depends on the reading"),
        "not shown",
    ]


# --- studies of every kind ----------------------------------------------------------------------

RATES, DEPTHS = ("0.1", "0.2", "0.3", "0.4"), ("1", "2", "4", "8", "16")
GRID = {"rate": RATES, "depth": DEPTHS}
TESTS = tuple(f"t{number}" for number in range(8))
ITEMS = {
    "facets": ["test"],
    "trials": {"items": "test", "samples": 5},
    "factors": {"test": {"levels": [{"id": test, "items": 30} for test in TESTS]}},
}
SEEDS = {
    "facets": ["seed"],
    "replicates": "seed",
    "cells": "runs",
    "metric": {"name": "Loss", "better": "lower", "decimals": 3},
    "factors": {"seed": {"levels": ["1", "2", "3", {"id": "mean", "aggregate": {"by": "mean"}}]}},
}
LATENCY = {"metric": {"name": "Latency", "unit": "ms", "better": "lower", "decimals": 1}}
N50 = {"trials": {"items": "test", "samples": 1}, "facets": ["test"]} | {
    "factors": {"test": {"levels": [{"id": "t", "items": 50}]}}
}
ALONE = {"test": ("t",)}


def rising(rate, depth, *_):
    return f"{40 + 20 * RATES.index(rate) / 5 + 2 * DEPTHS.index(depth):.1f}"


def of_30(rate, depth, test):
    if (rate, depth, test) == ("0.1", "1", "t3"):
        return ""
    k = 60 + 9 * RATES.index(rate) + 3 * DEPTHS.index(depth) + TESTS.index(test)
    return f"{k / 1.5:.1f}"


def loss(rate, depth, seed):
    return (
        f"{2 + 0.1 * abs(RATES.index(rate) - 1) + 0.01 * (1 + DEPTHS.index(depth)) * int(seed):.3f}"
    )


def layer(rate, _, __=""):
    return f"{2 * int(rate)}"


DRAWN = {
    # axes, values, keys; rows, left out, best, band, caption
    "lower is better, over seeds": (
        {**GRID, "seed": ("1", "2", "3")}, loss, SEEDS,
        (20, ["0.2 × 1"], True, "Mean over three seeds with its 95 % interval, for other seeds. "
         "Band: 95 % interval of the lowest. The lowest of 20 is partly luck: expect a little "
         "more. Lower is better."),
    ),
    "eight benchmarks, a cell missing": (
        {**GRID, "test": TESTS}, of_30, ITEMS,
        (19, ["0.4 × 16"], True, "Mean over eight benchmarks with its 95 % interval, for these "
         "questions. Band: 95 % interval of the highest. The top score of 19 is partly luck: "
         "expect a little less. Left out: 1 setting that some benchmark lacks."),
    ),
    "one axis of 40 levels": (
        {"rate": [str(level) for level in range(1, 41)], "depth": ("1",), **ALONE}, layer, N50,
        (40, ["40"], True, "Each setting with its 95 % interval, for these questions. Band: "
         "95 % interval of the highest. The top score of 40 is partly luck: expect a little less. "
         "These are the 20 highest of 40; the CSV has all."),
    ),
    "ties": (
        {**GRID, **ALONE},
        lambda rate, depth, _: 50 if depth == "4" else 40 + 2 * RATES.index(rate),
        N50,
        (20, [f"{rate} × 4" for rate in RATES], False, "Each setting with its 95 % interval, for "
         "these questions. 4 settings share the highest."),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", DRAWN)
def test_settings_of_every_kind_are_ranked(assess, case):
    axes, value, keys, (rows, best, band, caption) = DRAWN[case]
    assessment = assess(axes, value, **keys)
    row = row_of("dots", assessment, tuple(assessment.results.grids.values()))
    plot = row.figures[0].chart
    assert len(plot.rows) == rows
    assert [row.name for row in plot.rows if row.best] == best
    assert bool(plot.band) == band
    assert html(row).partition("<figcaption>")[2].partition("</figcaption>")[0] == caption


@pytest.mark.parametrize(
    ("axes", "value", "keys"),
    [
        pytest.param(GRID, rising, LATENCY, id="no trials"),
        pytest.param({"rate": ("1",), "depth": ("1",), **ALONE}, lambda *_: 44, N50, id="one cell"),
        pytest.param({**GRID, **ALONE}, lambda *_: 100, N50, id="ceiling"),
        pytest.param(
            {**GRID, **ALONE},
        lambda rate, depth, _: 98 if rate == "0.1" else 100, N50,
            id="mostly at the ceiling",
        ),
        pytest.param({**GRID, **ALONE}, rising, N50 | {"axes": "conditions"}, id="conditions"),
    ],
)  # fmt: skip
def test_there_is_no_ranking_where_nothing_can_be_chosen(assess, axes, value, keys):
    assessment = assess(axes, value, **keys)
    assert settings_plot(assessment, assessment.results.grids.values()) is None


def test_values_without_intervals_are_drawn_if_asked_for(assess):
    assessment = assess(GRID, rising, **LATENCY)
    plot = dot_plot(tables_of(assessment, assessment.results.grids.values()), always=True)
    assert (plot.rows[0].name, plot.rows[0].interval, plot.band) == ("0.1 × 1", None, None)


def test_profiles_are_over_rows_that_every_benchmark_has(assess):
    assessment = assess({**GRID, "test": TESTS}, of_30, **ITEMS)
    rate, depth = Profile.of(assessment, tuple(assessment.results.grids.values()))
    assert [(profile.rows, profile.rows_of) for profile in (rate, depth)] == [(4, 5), (3, 4)]
    row = row_of("profile", assessment, tuple(assessment.results.grids.values()))
    assert row is not None
    assert (
        html(row)
        .partition("<figcaption>")[2]
        .partition("</figcaption>")[0]
        .endswith(
            "Means by rate are over the 4 of 5 levels of depth with all values. Means by depth are "
            "over the 3 of 4 levels of rate with all values."
        )
    )


@pytest.mark.parametrize(
    ("lift", "shown"), [(0.0, False), (30.0, True)], ids=["nothing is shown", "an effect is shown"]
)
def test_what_would_have_been_found_is_drawn_where_nothing_was(assess, lift, shown):
    assessment = assess(
        {"rate": ("1", "2", "3"), "depth": ("1", "2", "4"), "test": ("a", "b", "c")},
        lambda rate, depth, test: (
            50 + lift * (rate == "2") + (int(rate) * 7 + int(depth) * 5 + ord(test) * 3) % 4
        ),
        facets=["test"],
        roles={"test": "block", "rate": "choice", "depth": "choice"},
    )
    answer = assessment.answers[""]
    assert answer.asserts == shown
    profiles = Profile.of(assessment, tuple(assessment.results.grids.values()))
    assert {of.axis: of.least is None for of in profiles} == {"x": shown, "y": shown}
    for of in profiles:
        rules = [
            [row["offset"] for row in layer["data"]["values"]]
            for layer in of.specification()["layer"]
            if layer["name"] == "least"
        ]
        assert rules == ([] if of.least is None else [[-of.least, of.least]])
        assert of.least is None or of.domain[0] < -of.least < 0 < of.least < of.domain[1]
    if not shown:  # the headline's words are of the same numbers
        assert f"{max(dict(answer.least).values()):.1f} points" == answer.shows


def test_numeric_levels_are_in_their_order(assess):
    levels = ["8", "1", "16", "2"]
    assessment = assess(
        {"rate": levels, "depth": ("1",)}, lambda rate, _: f"{float(rate):.1f}",
        factors={"rate": {"levels": levels}}, **LATENCY,
    )  # fmt: skip
    [profile] = Profile.of(assessment, tuple(assessment.results.grids.values()))
    assert profile.levels == ("1", "2", "8", "16")
    assert profile.lines[0].means == pytest.approx((1, 2, 8, 16))


def test_only_levels_with_an_order_are_joined(assess):
    prompts = ("plain", "polite", "long")
    assessment = assess(
        {"prompt": prompts, "depth": ("1", "2")}, lambda prompt, depth: len(prompt) + int(depth),
        x="prompt",
    )  # fmt: skip
    prompt, depth = Profile.of(assessment, tuple(assessment.results.grids.values()))
    assert (prompt.levels, prompt.joined, depth.joined) == (prompts, False, True)
    layers = [{of["name"] for of in each.specification()["layer"]} for each in (prompt, depth)]
    assert [("lines" in of, "points" in of) for of in layers] == [(False, True), (True, True)]


def test_where_ratios_are_compared_means_are_geometric(assess):
    assessment = assess(
        {"rate": ("1", "2"), "depth": ("1", "2")},
        lambda rate, depth: 2 ** (2 * int(rate) + int(depth)), **LATENCY,
    )  # fmt: skip
    assert assessment.log
    rate, depth = Profile.of(assessment, tuple(assessment.results.grids.values()))
    assert rate.lines[0].means == pytest.approx((2**3.5, 2**5.5))
    assert depth.lines[0].mean == pytest.approx(2**4.5)


def test_outcomes_by_item_have_intervals_too():
    assessment = real_data()["digits-pass-1"]
    grid = assessment.results.grid(setting="before", temperature="0", seed="1")
    # Digits are conditions, so no page ranks them; their values are as sure as any.
    assert settings_plot(assessment, [grid]) is None
    tables = tables_of(assessment, [grid])
    assert tables is not None
    plot = dot_plot(tables)
    assert all(row.interval for row in plot.rows)
    forest = forest_plot(assessment, assessment.study.facet("setting"))
    assert [row.name for row in forest.rows] == [
        *("After GRPO − Before GRPO", "Control − Before GRPO", "Control − After GRPO")
    ]
    assert {row.scope for row in forest.rows} == {"for other training seeds (3 here)"}


def test_table_and_files_are_folded_together(dynts):
    row = row_of("profile", dynts, grids_at(dynts, "model", "r1-qwen"), "model/r1-qwen")
    assert row is not None
    [folded] = re.findall("<details>.*?</details>", html(row), re.DOTALL)
    assert folded.count("<table>") == 2
    assert re.findall('href="(.*?)"', folded) == [
        f"../../plots/dynts-window-ratio/model/r1-qwen/profile-{axis}.{ending}"
        for axis in "xy"
        for ending in ("svg", "png", "csv", "vl.json")
    ]
    assert "Data table and files" in folded


def test_the_files_of_a_plot_have_all_its_numbers(assess):
    axes, value, keys, _ = DRAWN["one axis of 40 levels"]
    assessment = assess(axes, value, **keys)
    row = row_of("dots", assessment, tuple(assessment.results.grids.values()), "test/t")
    [figure] = row.figures
    files = plot_files(figure, draw([figure.chart])[figure.chart])
    assert sorted(files) == [
        f"plots/demo/test/t/dots.{ending}" for ending in ("csv", "png", "svg", "vl.json")
    ]
    lines = str(files["plots/demo/test/t/dots.csv"]).splitlines()
    assert lines[0].startswith("rank,cell,setting,mean,interval_low,interval_high,holds_for")
    assert len(lines) == 41
    assert lines[1].startswith('1,"40,1",40,80.0,')
    assert json.loads(files["plots/demo/test/t/dots.vl.json"])["height"] == 340


def test_of_seeds_with_benchmarks_each_seed_is_a_line(assess):
    tests = {"facets": ["seed", "test"], "replicates": "seed"}
    tests["factors"] = SEEDS["factors"] | {
        "test": {"levels": ["a", "b", {"id": "mean", "aggregate": {"by": "mean"}}]}
    }

    def value(rate, depth, seed, test):
        return f"{float(loss(rate, depth, seed)) + (test == 'b'):.3f}"

    axes = {**GRID, "seed": ("1", "2", "3"), "test": ("a", "b")}
    assessment = assess(axes, value, **SEEDS | tests)
    grids = tuple(assessment.results.grids.values())
    plot = settings_plot(assessment, grids)
    assert (plot.kind, plot.over, plot.scope) == ("seeds", ("1", "2", "3"), "other seeds")
    assert plot.rows[0].name == "0.2 × 1"
    assert plot.rows[0].value == pytest.approx(2.52)
    rate, _ = Profile.of(assessment, grids)
    assert [line.name for line in rate.lines] == ["1", "2", "3"]


def test_nothing_is_compared_that_is_not_alike(dynts):
    grids = grids_at(dynts, "benchmark", "aime24")
    assert settings_plot(dynts, grids) is None
    assert Profile.of(dynts, grids) == ()
