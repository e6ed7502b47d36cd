"""The main picture of a page in the shape of its data: a line, ratios, or dots per seed."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from builders import write_study
from hypothesis import given
from hypothesis import strategies as st

from gridatlas.assessment.pipeline import load_data
from gridatlas.charts.kinds import CannotShow, all_plots, main_plots
from gridatlas.charts.kinds.ratios import MOST_TICKS, Ratios, _marked
from gridatlas.charts.kinds.seeds import Seeds
from gridatlas.charts.kinds.seeds import _ticks as seed_ticks
from gridatlas.charts.kinds.sweep import Rows, Sweep
from gridatlas.charts.pool import draw
from gridatlas.charts.render import draw_one
from gridatlas.model.addresses import SiteAddress
from gridatlas.pages.anatomy import answering, facet_anatomy, main_pictures, study_anatomy
from gridatlas.pages.heatmaps import figures_of
from gridatlas.pages.meta import social_card
from gridatlas.pages.multiples import thumbnails
from gridatlas.pages.plan import plan_study
from gridatlas.pages.render import Templates

GOLDEN = Path(__file__).parents[2] / "golden/projects"
ACCURACY = {"name": "Accuracy", "better": "higher", "unit": "%", "range": [0, 100], "decimals": 1}


def assessed(folder, axes, values, **keys):
    """A study of a table whose columns are `axes`, with a value per combination of their levels."""
    head = {"format": 1, "title": "A demo", "metric": ACCURACY}
    rows = [",".join([*axes, "value"])]
    rows += [",".join([*levels, values[levels]]) for levels in product(*axes.values())]
    write_study(folder / "data/demo", head | keys, "\n".join(rows) + "\n")
    found = load_data(folder / "data")
    assert "demo" in found, found.problems
    return found["demo"]


def golden(project, study):
    return load_data(GOLDEN / project / "data")[study]


def caption(assessment, kind, facet=None):
    """What stands above a plot on a page of all grids."""
    grids = tuple(assessment.results.grids.values())
    rows = [*main_pictures(assessment, grids, "", facet), *answering(assessment, grids, "", facet)]
    [row] = [row for row in rows if row.key == kind]
    templates = Templates(None, frozenset(), (), SiteAddress())
    drawings = draw([figure.chart for figure in row.figures])
    html = templates.fence(row, "studies/demo/index.md", drawings, set())
    return " ".join(html.partition("<figcaption>")[2].partition("</figcaption>")[0].split())


# --- sweeps -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dropout():
    return golden("shapes", "sweep")


def test_a_line_says_of_each_value_what_was_tested(dropout):
    [grid] = dropout.results.grids.values()
    [plot] = Sweep.of(dropout, [grid])
    [line] = plot.lines
    looks = {plot.levels[point.place]: point.look for point in line.points}
    assert looks == {
        "0": "may-be-best", "0.05": "may-be-best", "0.1": "best", "0.2": "may-be-best",
        "0.3": "may-be-best", "0.5": "worse",
    }  # fmt: skip
    best_set = dropout.best_set(grid)
    assert {plot.levels.index(x) for x, _ in best_set} == {
        point.place for point in line.points if point.look != "worse"
    }
    assert caption(dropout, "sweep") == (
        "Accuracy (%) at each level of dropout. Bar: 95 % interval. ● highest seen. "
        "○ may be the best: 5 of 6, with the highest. Grey: worse."
    )


def test_levels_lie_to_scale(dropout):
    [plot] = Sweep.of(dropout, tuple(dropout.results.grids.values()))
    assert dict(zip(plot.levels, plot.places, strict=True)) == pytest.approx(
        {"0": 0, "0.05": 0.1, "0.1": 0.2, "0.2": 0.4, "0.3": 0.6, "0.5": 1}
    )


@pytest.mark.parametrize(
    ("levels", "places"),
    [
        (("0.0001", "0.001", "0.01"), (0, 0.5, 1)),  # each ten times the last
        (("1", "4", "8", "11"), (0, 0.3, 0.7, 1)),  # far, but more even as they are
        (("2", "4", "8"), (0, 1 / 3, 1)),  # not far
        (("20", "5", "0"), (0, 0.25, 1)),  # in any order
    ],
)
def test_an_axis_is_logarithmic_where_its_levels_are(levels, places, tmp_path):
    values = {(level,): str(40 + at) for at, level in enumerate(levels)}
    demo = assessed(tmp_path, {"rate": levels}, values, x="rate")
    [plot] = Sweep.of(demo, tuple(demo.results.grids.values()))
    assert plot.places == pytest.approx(places)


def test_nothing_is_said_of_intervals_and_tests_where_there_are_none(tmp_path):
    values = {("1",): "40.0", ("2",): "50.0", ("4",): "45.0"}
    demo = assessed(tmp_path, {"rate": ("1", "2", "4")}, values, x="rate")
    assert caption(demo, "sweep") == "Accuracy (%) at each level of rate. ● highest seen."


def test_names_along_one_axis_are_ranked_dots_and_no_line(tmp_path):
    values = {("tanh",): "40.0", ("relu",): "50.0", ("gelu",): "45.0"}
    demo = assessed(tmp_path, {"unit": ("tanh", "relu", "gelu")}, values, x="unit")
    anatomy = study_anatomy(demo)
    assert anatomy.context["main"] == ["dots"]
    assert anatomy.context["placed"]["settings"] == []
    [plot] = main_plots(demo, tuple(demo.results.grids.values()))
    assert [row[0] for row in plot.table()] == ["relu", "gelu", "tanh"]
    with pytest.raises(CannotShow, match="no single axis with an order"):
        Sweep.asked(demo, tuple(demo.results.grids.values()), None)


def test_several_grids_are_lines_of_one_picture():
    depth = golden("one-axis", "depth")
    anatomy = study_anatomy(depth)
    assert anatomy.context["main"] == ["sweep"]
    [plot] = Sweep.of(depth, tuple(depth.results.grids.values()), depth.study.facet("width"))
    assert [line.name for line in plot.lines] == ["256", "512"]
    assert plot.columns == ("Depth (layers)", "256", "512")
    assert plot.table()[0] == ("2", "3.926", "3.671")
    assert caption(depth, "sweep", depth.study.facet("width")).startswith(
        "Validation loss (nats) along depth (layers), a line each."
    )


def test_all_surfaces_have_the_picture(dropout):
    [grid] = dropout.results.grids.values()
    [plot] = main_plots(dropout, [grid])
    [row] = study_anatomy(dropout).main
    assert [figure.chart for figure in row.figures] == [plot]
    [figure] = figures_of([(dropout, grid)])  # embeds, fences and a grid's files
    assert (figure.chart, figure.grid) == (plot, grid)
    page = Templates(None, frozenset(), (), SiteAddress())
    assert "● highest seen" in page.fence(row, "p.md", draw([plot]), set())
    [thumbnail] = thumbnails(dropout).figures
    assert thumbnail.chart == replace(plot, domain=(67.5, 73.1))
    spec = thumbnail.chart.specification()
    assert [layer["name"] for layer in spec["layer"]] == ["lines", "points"]


@pytest.mark.parametrize(("study", "is_line"), [("sweep", True), ("loss", True), ("large", False)])
def test_a_social_card_has_the_line_in_small(study, is_line):
    assessment = golden("shapes", study)
    page = plan_study(assessment, "studies")[0]
    thumbnail = social_card(page, SiteAddress()).thumbnail
    assert isinstance(thumbnail, Sweep) == is_line
    if isinstance(thumbnail, Sweep):
        assert thumbnail == page.rows[0].figures[0].chart.small()  # type: ignore[attr-defined]


def test_thumbnails_of_lines_have_one_scale():
    depth = golden("one-axis", "depth")
    row = thumbnails(depth)
    assert {figure.chart.domain for figure in row.figures} == {(2.919, 3.926)}  # type: ignore[attr-defined]
    assert len({figure.chart.lines for figure in row.figures}) == len(row.figures) == 2  # type: ignore[attr-defined]


def test_the_means_of_a_large_grid_are_lines_at_its_edges_and_no_profiles():
    assessment = golden("shapes", "large")
    grids = tuple(assessment.results.grids.values())
    assert all_plots()["profile"].of(assessment, grids, None) == ()
    assert study_anatomy(assessment).context["placed"]["axes"] == []


def test_plots_of_two_axes_stay_below_their_heatmaps():
    assessment = golden("shapes", "one-grid")
    assert study_anatomy(assessment).main == ()
    assert {kind.place(assessment.study) for kind in all_plots().values()} >= {"main", "settings"}


def test_of_tuned_methods_a_line_has_the_best_at_each_level():
    loss = golden("shapes", "loss")
    facet = loss.study.facet("optimizer")
    grids = tuple(loss.results.grids.values())
    [plot] = Sweep.of(loss, grids, facet)
    for line, grid in zip(plot.lines, grids, strict=True):
        for point in line.points:
            key = next(of.key for of in loss.study.x.levels if of.label == plot.levels[point.place])
            values = [cell.value for x, _, cell in grid.points() if x.key == key and cell.value]
            assert point.value == float(min(values))
        assert [point.value for point in line.points if point.look == "best"] == [
            min(point.value for point in line.points)
        ]
    assert caption(loss, "sweep", facet) == (
        "Best validation loss of all levels of batch size along learning rate, a line each. "
        "Small dots: the repeats of each. "
        "Shaded: a best value at the edge of the axis; better ones may lie beyond. "
        "● lowest seen. Lower is better."
    )
    context = facet_anatomy(loss, facet).context
    assert (context["main"], context["leading"], context["below"]) == ([], ["grids"], ["sweep"])
    study = study_anatomy(loss).context  # there it stands below the grids, too
    assert (study["main"], study["below"]) == ([], ["sweep"])
    assert Sweep.of(loss, grids[:1]) == ()  # a level's page has its heatmap


def test_a_grid_of_choices_with_repeats_has_a_line_for_each_level_of_one():
    loss = golden("shapes", "loss")
    grids = [grid for grid in loss.results.grids.values() if grid.label == "Adaptive"]
    [plot] = Rows.of(loss, grids)
    assert plot.levels == ("0.0001", "0.0003", "0.001", "0.003", "0.01")
    assert [line.name for line in plot.lines] == ["32", "64", "128"]
    assert [len(point.repeats) for point in plot.lines[0].points] == [3] * 5
    assert [point.text for point in plot.lines[1].points][3] == "2.903"
    assert [row.key for row in answering(loss, grids, "optimizer/adaptive")] == ["dots", "rows"]
    # Conditions aren't chosen, and of several grids each has its own lines elsewhere.
    seeds = golden("seeds", "methods")
    assert Rows.of(seeds, [*seeds.results.grids.values()][-1:]) == ()
    assert Rows.of(loss, [*loss.results.grids.values()]) == ()


def test_a_tuned_line_has_a_dot_per_seed_its_edge_and_a_row_of_the_table():
    loss = golden("shapes", "loss")
    grids = tuple(loss.results.grids.values())
    [plot] = Sweep.of(loss, grids, loss.study.facet("optimizer"))
    for line in plot.lines:
        assert [len(point.repeats) for point in line.points] == [3] * len(line.points)
        for point in line.points:
            assert sum(point.repeats) / 3 == pytest.approx(point.value)
    assert [plot.levels[at] for at in plot.edges] == ["0.01"]  # two lines fall to the last level
    assert [line.summary for line in plot.lines] == [
        ("Plain", "3.306", "0.01 × 64", "3 of 12",
         "mean 3.943 (12 of 15) · best at the edge ▸"),
        ("Adaptive", "2.903", "0.003 × 64", "3 of 15", "mean 3.454"),
        ("Second-order", "2.778", "0.01 × 64", "3 of 15", "mean 3.875 · best at the edge ▸"),
    ]  # fmt: skip
    data = {layer["name"]: layer["data"]["values"] for layer in plot.specification()["layer"]}
    assert [row["name"] for row in data["names"]] == [
        "Plain 3.306", "Adaptive 3.090", "Second-order 2.778"
    ]  # fmt: skip
    [edge] = data["edge"]
    assert edge["left"] < max(row["left"] for row in data["lines"]) < edge["right"]


def test_seeds_that_are_a_facet_are_dots_of_a_tuned_line_of_means(tmp_path):
    values = {
        (method, rate, depth, seed): f"{base + abs(rate - 2) + depth / 10 + seed / 100:.3f}"
        for method, base in (("a", 1), ("b", 2))
        for rate in (1, 2, 3)
        for depth in (1, 2)
        for seed in (1, 2, 3)
    }
    rows = [",".join(map(str, (*key, value))) for key, value in values.items()]
    head = {
        "format": 1, "title": "S", "metric": {"name": "Loss", "better": "lower", "decimals": 3},
        "x": "rate", "y": "depth", "facets": ["method", "seed"], "cells": "runs",
        "roles": {"method": "choice", "seed": "replicate", "rate": "choice", "depth": "choice"},
    }  # fmt: skip
    write_study(tmp_path / "s", head, "\n".join(["method,rate,depth,seed,value", *rows, ""]))
    assessment = load_data(tmp_path)["s"]
    assert assessment.answers[""].headline.startswith("Tuned, a")
    grids = tuple(assessment.results.grids.values())
    [plot] = Sweep.of(assessment, grids, assessment.study.facet("method"))
    for name, line in zip("ab", plot.lines, strict=True):
        assert [point.repeats for point in line.points] == [
            tuple(float(values[name, rate, 1, seed]) for seed in (1, 2, 3)) for rate in (1, 2, 3)
        ]


def test_a_best_value_inside_an_axis_shades_nothing(dropout):
    [plot] = Sweep.of(dropout, tuple(dropout.results.grids.values()))
    assert plot.edges == ()
    assert "edge" not in {layer["name"] for layer in plot.specification()["layer"]}


# --- ratios -------------------------------------------------------------------------------------

TIME = {"name": "Time", "better": "lower", "unit": "ms", "decimals": 1}
SIZES = ("1", "2", "4", "8", "16")


def times(folder, factors, **keys):
    values = {
        (card, size): f"{factors[card] * 2.1 * float(size) ** 1.5:.6g}"
        for card in factors
        for size in SIZES
        if factors[card]
    }
    values |= {(card, size): "" for card in factors for size in SIZES if not factors[card]}
    head = {"metric": TIME, "x": "size", "facets": ["card"], "roles": {"card": "choice"}}
    return assessed(folder, {"card": factors, "size": SIZES}, values, **head | keys)


def ratios(assessment):
    grids = tuple(assessment.results.grids.values())
    return next(iter(Ratios.of(assessment, grids, assessment.study.facet("card"))), None)


def test_ratios_are_to_the_middle_of_the_ranking_or_to_the_baseline(tmp_path):
    factors = {"slow": 3.0, "fast": 0.5, "middle": 1.0}
    plot = ratios(times(tmp_path / "a", factors))
    assert (plot.reference, plot.x_title) == ("middle", "Speed relative to middle")
    assert [(row.name, row.mean) for row in plot.rows] == [
        ("fast", pytest.approx(2.0, rel=1e-4)), ("middle", 1.0),
        ("slow", pytest.approx(1 / 3, rel=1e-4)),
    ]  # fmt: skip
    assert [row.text for row in plot.rows] == ["2.0 × (2.0–2.0)", "reference", "0.33 × (0.33–0.33)"]
    other = ratios(times(tmp_path / "b", factors, baseline={"card": "slow"}))
    assert other.reference == "slow"
    assert [round(row.mean, 3) for row in other.rows] == [6.0, 3.0, 1.0]


def test_ratios_of_what_is_no_time_are_of_the_metric_itself(tmp_path):
    memory = {"name": "Memory", "better": "lower", "unit": "GB", "decimals": 2, "scale": "log"}
    plot = ratios(times(tmp_path, {"large": 3.0, "small": 1.0}, metric=memory))
    assert plot.x_title == "Memory relative to large"
    assert [(row.name, round(row.mean, 2)) for row in plot.rows] == [("small", 0.33), ("large", 1)]


def test_times_that_were_repeated_have_intervals_and_no_ratios():
    assessment = golden("repeats", "throughput")
    grids = tuple(assessment.results.grids.values())
    for facet in assessment.study.facets:
        assert Ratios.of(assessment, grids, facet) == ()


def test_ratios_lead_where_cards_are_compared():
    assessment = golden("shapes", "times")
    assert study_anatomy(assessment).context["main"] == ["ratios"]
    compared = facet_anatomy(assessment, assessment.study.facet("gpu")).context
    # The times themselves follow, on one log scale: no differences of each pair.
    assert (compared["main"], compared["leading"]) == (["ratios"], ["grids"])
    assert not compared["compared"]
    assert caption(assessment, "ratios", assessment.study.facet("gpu")) == (
        "Speed relative to Card A in the same cell: to the right is faster. Tick: one of 12 cells. "
        "Dot: geometric mean, at the right with the range. One log scale. Card C has 10 cells."
    )


@given(st.floats(1e-6, 1e6), st.floats(1.01, 1e9))
def test_an_axis_of_ratios_has_few_round_ticks_within_it(low, span):
    ticks = _marked(low, low * span)
    assert len(ticks) <= MOST_TICKS
    assert all(low <= tick <= low * span for tick in ticks)
    assert ticks == sorted(set(ticks))


# --- seeds --------------------------------------------------------------------------------------


def test_dots_are_the_means_of_each_seed():
    assessment = golden("seeds", "methods")
    facet = assessment.study.facet("setting")
    [plot] = Seeds.of(assessment, (), facet)
    assert [row.name for row in plot.rows] == ["Before", "Control", "Method"]
    for row, setting in zip(plot.rows, ("before", "control", "method"), strict=True):
        for seed, value in zip("123", row.values, strict=True):
            grid = assessment.results.grid(setting=setting, seed=seed)
            cells = [float(cell.value or 0) for _, _, cell in grid.points()]
            assert value == pytest.approx(sum(cells) / len(cells))
    assert caption(assessment, "seeds", facet) == (
        "Mean exact match (%) over 12 cells. ○ one seed of 3; bar: their mean. Grey: Before."
    )
    assert facet_anatomy(assessment, facet).context["main"] == ["seeds"]
    seed = assessment.study.facet("seed")
    assert facet_anatomy(assessment, seed).main == ()


def test_seeds_are_grouped_by_another_facet_over_the_cells_that_all_have(tmp_path):
    axes = {"kind": ("old", "new"), "heat": ("cold", "hot"), "seed": "12", "rate": ("1", "2")}
    values = {of: f"{10 * (of[0] == 'new') + 5 * (of[1] == 'hot') + int(of[2])}.0"
              for of in product(*axes.values())}  # fmt: skip
    values["new", "hot", "2", "1"] = ""
    demo = assessed(
        tmp_path, axes, values, x="rate", facets=["kind", "heat", "seed"], baseline={"kind": "old"},
        roles={"heat": "condition", "seed": "replicate"},
    )  # fmt: skip
    [plot] = Seeds.of(demo, (), demo.study.facet("kind"))
    assert [(row.group, row.name, row.values) for row in plot.rows] == [
        ("cold", "old", (1, 2)), ("cold", "new", (11, 12)),
        ("hot", "old", (6, 7)), ("hot", "new", (16, 17)),
    ]  # fmt: skip
    assert plot.cells == (1, 2)
    assert plot.columns == ("Heat", "Kind", "Mean", "1", "2")
    with pytest.raises(CannotShow, match="without a baseline or repeats"):
        Seeds.asked(demo, (), demo.study.facet("heat"))


def test_an_axis_ends_where_the_metric_does():
    assessment = golden("seeds", "methods")
    [plot] = Seeds.of(assessment, (), assessment.study.facet("setting"))
    near = replace(plot, rows=tuple(replace(row, values=(90.0, 99.0)) for row in plot.rows))
    ticks = [layer["encoding"]["x"]["axis"]["values"] for layer in near.specification()["layer"]
             if layer["name"] == "dots"]  # fmt: skip
    assert ticks == [[90.0, 92.0, 94.0, 96.0, 98.0, 100.0]]


def test_long_names_of_rows_differ_and_keep_their_means():
    assessment = golden("seeds", "methods")
    [plot] = Seeds.of(assessment, (), assessment.study.facet("setting"))
    names = ["Before", "Trained (rollout temperature 1.25)", "Trained (rollout temperature 1.0)"]
    rows = tuple(replace(row, name=name, text="43.6")
                 for row, name in zip(plot.rows, names, strict=True))  # fmt: skip
    texts = [row["text"] for layer in replace(plot, rows=rows).specification()["layer"]
             if layer["name"].endswith("labels") for row in layer["data"]["values"]]  # fmt: skip
    assert sorted(texts) == [
        "Before 43.6", "Trained (…1.0) 43.6", "Trained (…1.25) 43.6",
    ]  # fmt: skip


@given(st.floats(-1e3, 1e3), st.floats(0.1, 1e6))
def test_ticks_are_few_and_lie_between_the_ends(low, span):
    found = seed_ticks(low, low + span)
    assert 2 <= len(found) <= 7
    assert low - 1e-6 * span - 1e-3 <= found[0] < found[-1] <= low + span * (1 + 1e-6) + 1e-3


@pytest.mark.parametrize(
    ("project", "study", "kind", "facet"),
    [
        ("shapes", "sweep", "sweep", None),
        ("one-axis", "depth", "sweep", "width"),
        ("shapes", "times", "ratios", "gpu"),
        ("seeds", "methods", "seeds", "setting"),
    ],
)
def test_main_pictures_are_drawn_with_all_that_they_show(project, study, kind, facet):
    assessment = golden(project, study)
    grids = tuple(assessment.results.grids.values())
    [plot] = all_plots()[kind].of(assessment, grids, facet and assessment.study.facet(facet))
    drawing = draw_one(plot)  # It counts points or rows.
    assert json.loads(drawing.spec)["description"] == plot.description
    assert all(len(row) == len(plot.columns) for row in plot.table())
    assert len({frozenset(row) for row in plot.records()}) == 1  # the same columns
