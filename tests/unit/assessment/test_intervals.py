"""Where a cell's interval comes from: trials, items, standard errors, repeats of the experiment."""

from __future__ import annotations

import json
from itertools import product
from math import isnan, sqrt
from statistics import mean, stdev
from typing import NamedTuple

import numpy as np
import pytest
from builders import HEAD, real_data, table

from gridatlas.assessment.assess import assess
from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.cells import columns
from gridatlas.assessment.profiles import CELL_METHODS, METHODS, profiles
from gridatlas.assessment.uncertainty import UNTESTED, as_pairs, defined
from gridatlas.charts.draw import draw_values
from gridatlas.charts.kinds.line import Line
from gridatlas.checks import check_study
from gridatlas.pages.exports import to_csv, to_json
from gridatlas.pages.figure import Figure
from gridatlas.pages.tables import data_table
from gridatlas.pages.tooltips import card_data
from gridatlas.statistics.estimates import mean_wilson, wilson
from gridatlas.table.choose import analyse
from gridatlas.table.differences import differences
from gridatlas_review.grids import compare_grids
from gridatlas_review.matching import match_studies

T2, T3 = 4.302652729911275, 3.182446305284263
"""The 97.5 % points of Student's t with 2 and with 3 degrees of freedom."""
SHARES = (
    "format: 1\ntitle: A demo\n"
    'metric: {name: Accuracy, better: higher, unit: "%", range: [0, 100], decimals: 1}\n'
    "x: rate\ny: depth\n"
)
LOSS = "format: 1\ntitle: A demo\nmetric: {name: Loss, better: lower}\nx: rate\ny: depth\n"
SEEDS = (
    "facets: [seed]\nroles: {seed: replicate}\n"
    "factors: {seed: {levels: [%s{id: mean, aggregate: {by: mean}}]}}\n"
)


def seeds(number):
    """Keys of a study with that many seeds."""
    return SEEDS % "".join(f"{seed + 1}, " for seed in range(number))


class Known(NamedTuple):
    """What is known of a cell; nan where it isn't."""

    low: float
    high: float
    trials_low: float
    items_low: float
    may_be_best: int


def cells_of(grid, of):
    """The cells that have an interval."""
    columns = (*of.ends.T, of.by_trials[:, 0], of.by_items[:, 0], of.may_be_best)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    found = zip(grid.keys, map(Known._make, rows), strict=True)
    return {point: cell for point, cell in found if not isnan(cell.low)}


def ranges_of(grid, of):
    pairs = zip(grid.keys, as_pairs(of.ranges), strict=True)
    return {point: ends for point, ends in pairs if ends}


def cell_of(results, point, **facets):
    return cells_of(*uncertainty_of(results, **facets))[point]


def uncertainty_of(results, **facets):
    grid = results.grid(**facets)
    return grid, assess(results).of(grid)


# --- a mean over repeats of the experiment ------------------------------------------------------

THREE = ("1,1,1,55.5,200", "2,1,1,33.0,200", "3,1,1,1.5,200")
"""Cells of three seeds, as far apart as ours are."""


def _three(make_study, *more):
    rows = table("seed,rate,depth,value,n", *THREE, *more)
    return analyse(make_study(SHARES + seeds(3), rows))


def test_the_mean_of_three_seeds_has_the_interval_of_the_seeds(make_study):
    rows = ("1,2,1,60,200", "2,2,1,50,200", "3,2,1,46,200")
    results = _three(make_study, *rows)
    grid, uncertainty = uncertainty_of(results, seed="mean")
    cells = cells_of(grid, uncertainty)
    # 30 ± 4.30 × 27.1 / √3, of which the part below 0 can't be.
    assert cells["1", "1"].low == 0
    assert cells["1", "1"].high == pytest.approx(30 + T2 * stdev([55.5, 33, 1.5]) / sqrt(3))
    reach = T2 * stdev([60, 50, 46]) / sqrt(3)
    assert (cells["2", "1"].low, cells["2", "1"].high) == pytest.approx((52 - reach, 52 + reach))
    assert (uncertainty.basis, uncertainty.replicates, uncertainty.reason, uncertainty.level) == (
        "replicates",
        3,
        "",
        None,
    )


def test_every_place_that_has_an_interval_has_that_of_the_seeds(make_study):
    results = _three(make_study)
    grid, uncertainty = uncertainty_of(results, seed="mean")
    figure = Figure(draw_values(grid), grid, uncertainty=uncertainty)
    (row,) = data_table(figure).rows
    assert row[1][0].interval == "0.0 to 97.4"
    card = json.loads(card_data(figure))
    assert (card["interval"], card["basis"]) == ("0.0 to 97.4", "over 3 repeats of the experiment")
    content = json.loads(to_json(grid, uncertainty))
    assert content["intervals"] == (
        "Student's t over 3 repeats of the experiment, or that of their trials and items where it "
        "is wider"
    )
    (cell,) = content["cells"]
    assert cell["interval_95"] == [0, 97.3815199]
    assert content["profiles"]["x"][0]["interval_95"] == [0, 97.3815199]
    assert columns([(grid, uncertainty)])["interval_high"] == [pytest.approx(97.3815)]
    line = Line(grid, "row", grid.study.y.levels[0], uncertainty)
    assert [
        interval and (interval[0], round(interval[1], 4)) for _, _, interval in line.entries()
    ] == [(0, 97.3815)]


def test_a_change_of_a_mean_over_seeds_has_the_interval_of_the_seeds(make_study):
    base = _three(make_study)
    head = analyse(
        make_study(
            SHARES + seeds(3), table("seed,rate,depth,value,n", *THREE[:2], "3,1,1,31.5,200")
        )
    )
    match = match_studies(base, head)
    before, after = (Assessment(results, check_study(results.study)) for results in (base, head))
    changed = {grid.new.levels: grid for grid in compare_grids(before, after, match, {}).changed}
    (cell,) = changed["mean",].cells
    assert cell.old_interval == (0, pytest.approx(97.3815, abs=1e-4))
    reach = T2 * stdev([55.5, 33, 31.5]) / sqrt(3)
    assert cell.new_interval == pytest.approx((40 - reach, 40 + reach))


def test_the_mean_of_two_seeds_has_their_range_and_no_interval(make_study):
    rows = ("1,1,1,55.5,200", "2,1,1,33.0,200", "1,2,1,60,200", "2,2,1,50,200")
    results = analyse(make_study(SHARES + seeds(2), table("seed,rate,depth,value,n", *rows)))
    grid, uncertainty = uncertainty_of(results, seed="mean")
    assert cells_of(grid, uncertainty) == {}
    assert ranges_of(grid, uncertainty) == {("1", "1"): (33, 55.5), ("2", "1"): (50, 60)}
    assert uncertainty.reason == "2 repeats are too few: an interval takes 3"
    assert not defined(uncertainty.x_means).any()
    assert not defined(uncertainty.y_means).any()
    assert uncertainty.basis == ""
    figure = Figure(draw_values(grid), grid, uncertainty=uncertainty)
    (row,) = data_table(figure).rows
    assert [cell.interval for cell in row[1]] == ["33.0 to 55.5", "50.0 to 60.0"]
    card = json.loads(card_data(figure))
    assert (card.get("interval"), card["range"]) == (None, ["33.0 to 55.5", "50.0 to 60.0"])
    cells = json.loads(to_json(grid, uncertainty))["cells"]
    assert [cell["range"] for cell in cells] == [[33, 55.5], [50, 60]]
    assert [cell.keys() & {"interval_95", "may_be_best"} for cell in cells] == [set(), set()]


def test_the_mean_of_one_seed_has_neither(make_study):
    results = analyse(make_study(SHARES + seeds(1), table("seed,rate,depth,value,n", THREE[0])))
    grid, uncertainty = uncertainty_of(results, seed="mean")
    assert (cells_of(grid, uncertainty), ranges_of(grid, uncertainty)) == ({}, {})
    assert uncertainty.reason == "1 repeat is too few: an interval takes 3"


def test_seeds_need_no_trials(make_study):
    rows = [f"{seed},1,1,{loss}" for seed, loss in ((1, 2.5), (2, 2.9), (3, 3.0))]
    results = analyse(make_study(LOSS + seeds(3), table("seed,rate,depth,value", *rows)))
    grid, uncertainty = uncertainty_of(results, seed="mean")
    reach = T2 * stdev([2.5, 2.9, 3.0]) / sqrt(3)
    cell = cells_of(grid, uncertainty)["1", "1"]
    assert (cell.low, cell.high) == pytest.approx((2.8 - reach, 2.8 + reach))
    assert uncertainty.reason == "the number of trials behind each value is unknown"


def test_seeds_that_are_all_alike_are_no_more_sure_than_their_trials(make_study):
    rows = [f"{seed},1,1,100,200" for seed in (1, 2, 3)]
    results = analyse(make_study(SHARES + seeds(3), table("seed,rate,depth,value,n", *rows)))
    cell = cell_of(results, ("1", "1"), seed="mean")
    reach = sqrt(3) * (1 - wilson(200, 200).low) / 3
    assert (cell.low, cell.high) == (pytest.approx(100 - 100 * reach), 100)


def test_equal_losses_of_all_seeds_have_no_interval(make_study):
    rows = [f"{seed},1,1,2.5" for seed in (1, 2, 3)]
    results = analyse(make_study(LOSS + seeds(3), table("seed,rate,depth,value", *rows)))
    assert cells_of(*uncertainty_of(results, seed="mean")) == {}


def test_the_mean_of_a_row_over_seeds_is_of_the_seeds_means(make_study):
    # Each seed is good or bad everywhere: more cells don't make the seeds more alike.
    rows = [
        f"{seed},{x},1,{value},200" for seed, value in ((1, 60), (2, 50), (3, 40)) for x in (1, 2)
    ]
    results = analyse(make_study(SHARES + seeds(3), table("seed,rate,depth,value,n", *rows)))
    found = profiles(*uncertainty_of(results, seed="mean"))
    reach = T2 * 10 / sqrt(3)
    assert found.y[0].interval == pytest.approx((50 - reach, 50 + reach))
    assert found.method == METHODS["replicates"].format(n=3)


def test_a_mean_over_benchmarks_and_seeds_is_over_the_seeds(make_study):
    more = (
        "facets: [task, seed]\nroles: {seed: replicate}\nfactors:\n"
        "  task: {levels: [a, b, {id: both, aggregate: {by: mean}}]}\n"
        "  seed: {levels: [1, 2, 3, {id: mean, aggregate: {by: mean}}]}\n"
    )
    values = {("a", 1): 60, ("a", 2): 50, ("a", 3): 40, ("b", 1): 70, ("b", 2): 80, ("b", 3): 90}
    rows = [f"{task},{seed},1,1,{value},200" for (task, seed), value in values.items()]
    results = analyse(make_study(SHARES + more, table("task,seed,rate,depth,value,n", *rows)))
    cell = cell_of(results, ("1", "1"), task="both", seed="mean")
    # Each seed has 65 on average: the tasks hide what the seeds do, and only trials are left.
    parts = [wilson(2 * value, 200) for value in values.values()]
    below = sqrt(
        sum((v / 100 - part.low) ** 2 for v, part in zip(values.values(), parts, strict=True))
    )
    assert cell.low == pytest.approx(65 - 100 * below / 6)


# --- repeats of a cell --------------------------------------------------------------------------


def _repeats(make_study, *rows):
    return analyse(
        make_study(SHARES + "roles: {repeat: replicate}\n", table("rate,depth,value,n", *rows))
    )


def test_the_mean_of_repeats_has_the_interval_of_the_repeats(make_study):
    rows = [
        f"{x},1,{value},200"
        for x, values in (("1", (55.5, 33, 1.5)), ("2", (60, 50, 46)))
        for value in values
    ]
    grid, uncertainty = uncertainty_of(_repeats(make_study, *rows))
    cells = cells_of(grid, uncertainty)
    assert (cells["1", "1"].low, cells["1", "1"].high) == (0, pytest.approx(97.3815, abs=1e-4))
    reach = T2 * stdev([60, 50, 46]) / sqrt(3)
    assert (cells["2", "1"].low, cells["2", "1"].high) == pytest.approx((52 - reach, 52 + reach))
    assert uncertainty.basis == "repeats"
    assert uncertainty.reason == "each value is a mean of repeats, whose trials are not independent"
    assert [cell.may_be_best for cell in cells.values()] == [UNTESTED, UNTESTED]
    # Whether the cells' repeats are the same seeds isn't known, so they may be off together.
    both = (
        cells_of(grid, uncertainty)["2", "1"].high - 52 + T2 * stdev([55.5, 33, 1.5]) / sqrt(3)
    ) / 2
    assert profiles(grid, uncertainty).y[0].interval == (0, pytest.approx(41 + both))


def test_repeats_that_are_alike_are_no_more_sure_than_their_trials(make_study):
    results = _repeats(make_study, *["1,1,50,100"] * 4)
    cell = cell_of(results, ("1", "1"))
    trials = wilson(200, 400)
    assert (cell.low, cell.high) == pytest.approx((100 * trials.low, 100 * trials.high))


def test_two_repeats_have_their_range_and_one_has_neither(make_study):
    rows = ("1,1,50,100", "1,1,60,100", "2,1,50,100", *(f"3,1,{v},100" for v in (50, 55, 57, 60)))
    grid, uncertainty = uncertainty_of(_repeats(make_study, *rows))
    cells = cells_of(grid, uncertainty)
    values = [50, 55, 57, 60]
    assert list(cells) == [("3", "1")]
    reach = max(T3 * stdev(values) / 2, 100 * (wilson(222, 400).high - 0.555))
    assert cells["3", "1"].high == pytest.approx(mean(values) + reach)
    assert ranges_of(grid, uncertainty) == {("1", "1"): (50, 60)}


def test_repeats_of_which_each_cell_has_one_are_as_without(make_study):
    grid, uncertainty = uncertainty_of(_repeats(make_study, "1,1,50,100", "2,1,60,100"))
    cell = cells_of(grid, uncertainty)["1", "1"]
    trials = wilson(50, 100)
    assert (cell.low, cell.high) == pytest.approx((100 * trials.low, 100 * trials.high))
    assert (uncertainty.basis, uncertainty.reason, cell.may_be_best) == ("trials", "", 1)


def test_levels_with_repeats_are_not_tested_by_their_trials(make_study):
    more = "facets: [b]\nroles: {b: choice, repeat: replicate}\n"
    rows = [f"{b},1,1,{v},100" for b, v in product("pq", (40, 50))]
    results = analyse(make_study(SHARES + more, table("b,rate,depth,value,n", *rows)))
    (difference,) = differences(results, results.study.facets[0])
    found = assess(results).of_difference(difference)
    assert found.reason == "each value is a mean of repeats, whose trials are not independent"


# --- standard errors and items ------------------------------------------------------------------


def test_a_standard_error_makes_the_interval_wider_and_never_narrower(make_study):
    rows = ("1,1,50,200,7", "2,1,50,200,1", "3,1,50,200,")
    results = analyse(make_study(SHARES, table("rate,depth,value,n,stderr", *rows)))
    grid, uncertainty = uncertainty_of(results)
    cells = cells_of(grid, uncertainty)
    trials = 100 * wilson(100, 200).low
    assert [cells[x, "1"].low for x in "123"] == pytest.approx([50 - 1.959964 * 7, trials, trials])
    assert cells["1", "1"].items_low == pytest.approx(50 - 1.959964 * 7)
    assert isnan(cells["3", "1"].items_low)
    assert uncertainty.basis == "stderr"
    assert to_json(grid, uncertainty).count(CELL_METHODS["stderr"]) == 1
    # Over how many items is unknown, and so is whether the cells share them.
    assert (uncertainty.same_items, uncertainty.p) == (None, None)


def test_no_interval_leaves_the_metrics_range(make_study):
    results = analyse(make_study(SHARES, table("rate,depth,value,n,stderr", "1,1,98,200,5")))
    assert cell_of(results, ("1", "1")).high == 100
    head = SHARES.replace("[0, 100]", "[90, 99]")
    results = analyse(make_study(head, table("rate,depth,value,n,stderr", "1,1,98,200,5")))
    cell = cell_of(results, ("1", "1"))
    assert (cell.low, cell.high) == (90, 99)


def test_a_standard_error_needs_no_trials(make_study):
    head = SHARES.replace(', unit: "%", range: [0, 100]', "")
    results = analyse(make_study(head, table("rate,depth,value,stderr", "1,1,1200,50")))
    grid, uncertainty = uncertainty_of(results)
    cell = cells_of(grid, uncertainty)["1", "1"]
    assert (cell.low, cell.high) == pytest.approx((1200 - 1.959964 * 50, 1200 + 1.959964 * 50))
    assert uncertainty.reason == "the number of trials behind each value is unknown"


def test_a_cell_leaves_the_set_for_the_best_only_by_its_standard_error_too(make_study):
    counts = ("1,1,70,200,", "2,1,50,200,")
    results = analyse(make_study(SHARES, table("rate,depth,value,n,stderr", *counts)))
    assert [cell.may_be_best for cell in cells_of(*uncertainty_of(results)).values()] == [1, 0]
    results = analyse(
        make_study(SHARES, table("rate,depth,value,n,stderr", "1,1,70,200,9", "2,1,50,200,9"))
    )
    grid, uncertainty = uncertainty_of(results)
    assert [cell.may_be_best for cell in cells_of(grid, uncertainty).values()] == [1, 1]
    assert uncertainty.test == (
        "Fisher's exact test, one-sided, and Welch's t test of the standard errors, whichever p is "
        "larger"
    )


def test_levels_differ_only_by_their_standard_errors_too(make_study):
    more = "facets: [b]\nroles: {b: choice}\n"
    for stderr, differ in (("", 1), ("9", 0)):
        rows = (f"p,1,1,50,200,{stderr}", f"q,1,1,70,200,{stderr}")
        results = analyse(make_study(SHARES + more, table("b,rate,depth,value,n,stderr", *rows)))
        (difference,) = differences(results, results.study.facets[0])
        found = assess(results).of_difference(difference)
        assert found.differ == differ
        assert ("Welch" in found.test) == bool(stderr)


def test_a_card_says_what_cells_are_tested_by(make_study):
    rows = ("1,1,70,200,9", "2,1,20,200,9")
    results = analyse(make_study(SHARES, table("rate,depth,value,n,stderr", *rows)))
    grid, uncertainty = uncertainty_of(results)
    card = json.loads(card_data(Figure(draw_values(grid), grid, uncertainty=uncertainty)))
    assert card["tell"] == [
        "Best value. No other cell may be the best (95 % set).",
        "Not the best: another cell beats it by counts and standard errors (95 % set).",
    ]
    assert card["basis"] == "from the standard error"


ITEMS = (
    "facets: [b]\nfactors: {b: {levels: [{id: p, items: 30}]}}\ntrials: {items: b, samples: 5}\n"
)


def test_items_count_once_each(make_study):
    rows = ("p,1,1,52.0", "p,2,1,50.0")
    results = analyse(make_study(SHARES + ITEMS, table("b,rate,depth,value", *rows)))
    grid, uncertainty = uncertainty_of(results, b="p")
    cell = cells_of(grid, uncertainty)["1", "1"]
    items, trials = wilson(15.6, 30), wilson(78, 150)
    assert (cell.low, cell.high) == pytest.approx((100 * items.low, 100 * items.high))
    assert (cell.trials_low, cell.items_low) == pytest.approx((100 * trials.low, 100 * items.low))
    assert (uncertainty.basis, uncertainty.same_items) == ("items", True)
    # Both cells are asked the same 30 items, so their mean is of 30 as well.
    mean_of_both = wilson(15.3, 30)
    assert profiles(grid, uncertainty).y[0].interval == pytest.approx(
        (100 * mean_of_both.low, 100 * mean_of_both.high)
    )


def test_items_are_not_known_to_be_the_same_with_another_number_of_trials(make_study):
    rows = ("p,1,1,52.0,150", "p,2,1,50.0,50")
    results = analyse(make_study(SHARES + ITEMS, table("b,rate,depth,value,n", *rows)))
    assert uncertainty_of(results, b="p")[1].same_items is None


def test_the_same_items_asked_of_two_models_are_not_twice_as_many(make_study):
    more = (
        "facets: [model, b]\nfactors:\n  b: {levels: [{id: p, items: 30}]}\n"
        "  model: {levels: [m, k, {id: both, aggregate: {by: mean}}]}\n"
        "trials: {items: b, samples: 5}\n"
    )
    rows = ("m,p,1,1,52.0", "k,p,1,1,50.0")
    results = analyse(make_study(SHARES + more, table("model,b,rate,depth,value", *rows)))
    cell = cell_of(results, ("1", "1"), model="both", b="p")
    below = (0.52 - wilson(15.6, 30).low + 0.5 - wilson(15, 30).low) / 2
    assert cell.low == pytest.approx(51 - 100 * below)


# --- our own study ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def digits():
    return real_data()["digits-pass-1"].results


def test_every_seed_lies_in_the_interval_of_the_seeds(digits):
    uncertainty = assess(digits)
    cells = 0
    for setting, temperature in product(("before", "grpo", "supervised"), ("0", "0.6", "1")):
        grid = digits.grid(setting=setting, temperature=temperature, seed="mean")
        for point, cell in cells_of(grid, uncertainty.of(grid)).items():
            for seed in (1, 2, 3):
                of_seed = digits.grid(setting=setting, temperature=temperature, seed=seed)
                value = of_seed.cell(*point).value
                assert value is not None
                assert cell.low <= value <= cell.high
            cells += 1
    assert cells == 324


def test_its_cells_take_the_standard_errors_over_their_items(digits):
    uncertainty = assess(digits)
    grid = digits.grid(setting="grpo", temperature="0.6", seed=1)
    uncertainty = uncertainty.of(grid)
    cells = cells_of(grid, uncertainty)
    of = grid.cell("6", "2")
    assert (str(of.value), str(of.stderr)) == ("28.50", "2.34")
    # Student's t with 99 degrees of freedom: 100 items.
    assert (cells["6", "2"].low, cells["6", "2"].high) == pytest.approx(
        (28.5 - 1.984217 * 2.34, 28.5 + 1.984217 * 2.34), abs=1e-4
    )
    assert not any(isnan(cell.items_low) for cell in cells.values())
    # Each cell adds other numbers.
    assert uncertainty.same_items is False
    row = [grid.cell(x.key, "2") for x in grid.study.x.levels]
    errors = sqrt(sum(float(cell.stderr or 0) ** 2 for cell in row)) / 6
    shown = mean(float(cell.value or 0) for cell in row)
    right = np.array([[float(cell.value or 0) * 8 for cell in row]])
    [(trials_low, _)] = mean_wilson(right, np.full_like(right, 800))
    interval = profiles(grid, uncertainty).y[1].interval
    assert interval[0] < min(100 * trials_low, shown - 1.98 * errors) + 0.02


# --- what is printed beside the values ----------------------------------------------------------

T4 = 2.7764451051977987
"""The 97.5 % point of Student's t with 4 degrees of freedom."""


@pytest.mark.parametrize(
    ("spread", "reach"),
    [
        ("kind: se", 1.959963984540054 * 2),
        ("kind: se, n: 5", T4 * 2),
        ("kind: sd, n: 5", T4 * 2 / sqrt(5)),
        ("kind: ci95", 2),
        ("kind: ci95, n: 5", 2),
        ("kind: sd, n: 2", None),  # too few for an interval
        ("kind: sd", None),
        ("n: 5", None),
    ],
)
def test_the_spread_gives_the_interval_that_its_kind_says(make_study, spread, reach):
    study = HEAD + f"spread: {{column: beside, {spread}}}\n"
    results = analyse(make_study(study, table("rate,depth,value,beside", "1,1,55.5,2", "2,1,3,")))
    grid, uncertainty = uncertainty_of(results)
    found = {point: (cell.low, cell.high) for point, cell in cells_of(grid, uncertainty).items()}
    expected = {} if reach is None else {("1", "1"): (55.5 - reach, 55.5 + reach)}
    assert found == {point: pytest.approx(ends) for point, ends in expected.items()}
    figure = Figure(draw_values(grid), grid, uncertainty=uncertainty)
    ((_, texts),) = data_table(figure).rows
    assert [cell.text for cell in texts] == ["55.5 ± 2", "3.0"]


def test_the_spread_is_told_everywhere(make_study):
    study = HEAD + "spread: {column: beside, kind: sd, n: 5}\n"
    results = analyse(make_study(study, table("rate,depth,value,beside", "1,1,55.5,2.0", "2,1,3,")))
    grid, uncertainty = uncertainty_of(results)
    card = json.loads(card_data(Figure(draw_values(grid), grid, uncertainty=uncertainty)))
    assert card["spread"] == ["± 2.0", None]
    assert card["spread_is"] == "standard deviation of 5 repeats"
    content = json.loads(to_json(grid, uncertainty))
    assert content["spread"] == {"kind": "sd", "n": 5}
    assert [cell.get("spread") for cell in content["cells"]] == [2.0, None]
    assert to_csv(grid).splitlines()[:2] == [
        "rate,depth,value,beside,state,n,successes,stderr,note,place,run,reading",
        "1,1,55.5,2.0,ok,,,0.8944,,,,cells",
    ]
    assert columns([(grid, uncertainty)])["spread"] == [2.0, None]


@pytest.mark.parametrize(
    ("column", "message"),
    [("spred", "found:    the columns rate, depth, value, spread"), ("value", 'found:    "value"')],
)
def test_the_spread_has_a_column_of_its_own(checked, column, message):
    study = HEAD + f"spread: {{column: {column}, kind: se}}\n"
    _, problems = checked(study, table("rate,depth,value,spread", "1,1,1,1"))
    assert any(message in str(problem) for problem in problems), [*map(str, problems)]
