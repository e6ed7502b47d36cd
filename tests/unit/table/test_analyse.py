"""Which reading is shown, what grids say and how they differ: by numbers worked out by hand."""

from decimal import Decimal

import pytest
from builders import HEAD, table

from gridatlas.model.study import Cell
from gridatlas.table.choose import analyse
from gridatlas.table.differences import differences, pairs, subtract
from gridatlas.table.grids import readings_behind, readings_of
from gridatlas.table.summary import Summary, summarise


def rows_of(grid):
    return [[grid.cell(x.key, y.key) for x in grid.study.x.levels] for y in grid.study.y.levels]


def _values(grid):
    """Values as printed, None for absent: one list per level of y."""
    return [[None if c.value is None else str(c.value) for c in row] for row in rows_of(grid)]


def _states(grid):
    return [[cell.state for cell in row] for row in rows_of(grid)]


# --- which reading is shown ---------------------------------------------------------------------


def _shown(make_study, rule, *given):
    """The shown cell of readings a, b, c, … that give it as `value`, `value state` or not at all.

    A reading may be derived from another: `5 <a`.
    """
    entries, files = [], {}
    for name, text in zip("abcdef", given, strict=False):
        words = text.split()
        value = words[0] if words and words[0] != "-" else ""
        state = next((word for word in words[1:] if word[0] != "<"), "")
        derived = next((f", derived_from: {word[1:]}" for word in words if word[0] == "<"), "")
        entries.append(f"  - {{id: {name}, file: {name}.csv{derived}}}")
        # Other points, so that a reading that hasn't the cell is a reading all the same.
        row = [f"1,1,{value},{state}"] if words else []
        files[f"{name}.csv"] = table("rate,depth,value,state", *row, "2,1,1,", "1,2,1,")
    more = "\n".join([f"reconcile: {rule}", "readings:", *entries, ""])
    study = make_study(more, None, files)
    return analyse(study).grid().cell("1", "1")


@pytest.mark.parametrize(
    ("rule", "given", "value", "state", "reading"),
    [
        # primary: the first reading that has the cell
        ("primary", ["1", "2"], "1", "ok", "a"),
        ("primary", ["", "2", "3"], "2", "ok", "b"),
        ("primary", ["- missing", "2"], "2", "ok", "b"),
        ("primary", ["- oom", "- failed"], None, "oom", "a"),
        ("primary", ["1 disputed", "2"], "1", "disputed", "a"),
        # … one that has it as disputed without a value blocks it
        ("primary", ["- disputed", "2"], None, "disputed", "a"),
        ("primary", ["- missing", "- disputed", "2"], None, "disputed", "b"),
        ("primary", ["1", "- disputed"], "1", "ok", "a"),
        ("primary", ["", ""], None, "missing", ""),
        # agreement: the value that two readings give
        ("agreement", ["1", "2", "2"], "2", "ok", "b"),
        ("agreement", ["1", "2", "1"], "1", "ok", "a"),
        ("agreement", ["1.0", "1.00"], "1.0", "ok", "a"),
        ("agreement", ["1", "", "1"], "1", "ok", "a"),
        # … else the first reading's, as disputed
        ("agreement", ["1", "2", "3"], "1", "disputed", "a"),
        ("agreement", ["- missing", "2", "3"], "2", "disputed", "b"),
        ("agreement", ["- oom", "- failed"], None, "oom", "a"),
        # … and readings derived from one another count once
        ("agreement", ["1", "1 <a"], "1", "disputed", "a"),
        ("agreement", ["1 <b", "1"], "1", "disputed", "a"),
        ("agreement", ["1", "1 <a", "1"], "1", "ok", "a"),
        ("agreement", ["1", "2", "1 <a", "2"], "2", "ok", "b"),
        # … also where the copy is a copy's
        ("agreement", ["1", "2 <a", "1 <b"], "1", "disputed", "a"),
        # median: the middle
        ("median", ["3", "1", "2"], "2", "ok", "c"),
        ("median", ["10", "9", "100"], "10", "ok", "a"),
        ("median", ["5"], "5", "ok", "a"),
        ("median", ["1", "2", "2", "9"], "2", "ok", "b"),
        ("median", ["", "4", ""], "4", "ok", "b"),
        ("median", ["-1", "0", "1"], "0", "ok", "b"),
        # … of an even number with unequal middles, as in agreement
        ("median", ["1", "2"], "1", "disputed", "a"),
        ("median", ["4", "1", "4", "2"], "4", "ok", "a"),
        ("median", ["1", "2", "3", "4"], "1", "disputed", "a"),
    ],
)
def test_the_shown_cell_is_chosen_by_the_rule(make_study, rule, given, value, state, reading):
    cell = _shown(make_study, rule, *given)
    shown = None if cell.value is None else str(cell.value)
    assert (shown, cell.state, cell.reading) == (value, state, reading)


def test_one_reading_alone_agrees_with_none(make_study):
    study = make_study("reconcile: agreement\n", table("rate,depth,value", "1,1,5"))
    cell = analyse(study).grid().cell("1", "1")
    assert (cell.value, cell.state) == (Decimal(5), "disputed")
    assert cell.note == "One reading only gives this value."


def test_a_cell_that_another_reading_has_without_a_value_is_not_alone(make_study):
    study = make_study(
        "reconcile: agreement\nreadings: [{id: a, file: a.csv, label: First}, "
        "{id: b, file: b.csv, label: Second}]\n",
        None,
        {
            "a.csv": table("rate,depth,value,state", "1,1,,disputed", "2,1,,failed"),
            "b.csv": table("rate,depth,value", "1,1,5", "2,1,6"),
        },
    )
    grid = analyse(study).grid()
    assert [(cell.value, cell.state, cell.note) for _, _, cell in grid.points()] == [
        (5, "disputed", 'Disputed: one reading gives this value; no value in "First" (disputed).'),
        (
            6,
            "disputed",
            'Disputed: one reading gives this value; no value in "First" (run failed).',
        ),
    ]


def test_a_mean_of_a_disputed_part_is_disputed(make_study):
    study = make_study(
        "facets: [b]\nfactors: {b: {levels: [p, q, {id: mean, aggregate: {by: mean}}]}}\n",
        table("b,rate,depth,value,state", "p,1,1,4,disputed", "q,1,1,6,", "p,2,1,1,", "q,2,1,2,"),
    )
    grid = analyse(study).grid(b="mean")
    assert [(cell.value, cell.state, cell.note) for _, _, cell in grid.points()] == [
        (5, "disputed", "computed here: the mean of its 2 parts, 1 of them disputed"),
        (Decimal("1.5"), "ok", "computed here: the mean of its 2 parts"),
    ]


# --- grids --------------------------------------------------------------------------------------

MODELS = "facets: [model, benchmark]\n"


def test_only_grids_that_exist_are_there_in_the_order_of_the_levels(make_study):
    study = make_study(
        MODELS + "factors: {benchmark: {levels: [easy, hard]}, model: {levels: [small, large]}}\n",
        table(
            "model,benchmark,rate,depth,value",
            "large,easy,1,1,4",
            "small,hard,1,1,2",
            "small,easy,2,2,1",
        ),
    )
    results = analyse(study)
    assert list(results.grids) == [("small", "easy"), ("small", "hard"), ("large", "easy")]
    assert _values(results.grid(model="small", benchmark="easy")) == [[None, None], [None, "1"]]
    assert _states(results.grid(model="small", benchmark="easy")) == [
        ["missing", "missing"],
        ["missing", "ok"],
    ]
    assert [grid.address for grid in results.grids.values()] == [
        "small/easy", "small/hard", "large/easy",
    ]  # fmt: skip


def test_an_unknown_grid_is_refused_with_those_that_are_there(make_study):
    rows = ("small,easy,1,1,4", "large,hard,1,1,2")
    results = analyse(make_study(MODELS, table("model,benchmark,rate,depth,value", *rows)))
    with pytest.raises(KeyError) as refused:
        results.grid(model="small", benchmark="hard")
    assert str(refused.value) == (
        "demo has no grid small/hard (expected one of small/easy, large/hard)"
    )
    with pytest.raises(KeyError) as refused:
        results.grid(model="small")
    assert str(refused.value).startswith("grid() needs a level of benchmark too (expected one of ")


# --- aggregates ---------------------------------------------------------------------------------

AGGREGATE = (
    "facets: [benchmark]\n"
    "factors: {benchmark: {levels: [a, b, c, {id: average, aggregate: {by: mean}}]}}\n"
)


def _average(make_study, *rows):
    study = make_study(AGGREGATE, table("benchmark,rate,depth,value,state", *rows))
    return analyse(study).grid(benchmark="average")


def test_an_aggregate_that_is_not_printed_is_computed(make_study):
    average = _average(make_study, "a,1,1,10,", "b,1,1,20.5,", "c,1,1,31,")
    assert average.computed
    assert average.cell("1", "1") == Cell(
        Decimal("20.5"), "ok", note="computed here: the mean of its 3 parts"
    )
    study = average.study
    assert readings_of(study, [average]) == ()
    assert readings_behind(study, [average]) == study.readings


def test_a_missing_part_makes_the_computed_cell_absent(make_study):
    average = _average(
        make_study,
        *("a,1,1,10,", "b,1,1,20,", "c,1,1,30,"),
        *("a,2,1,10,", "b,2,1,20,"),
        *("a,3,1,10,", "b,3,1,20,", "c,3,1,,oom"),
    )
    assert _values(average) == [["20", None, None]]
    assert _states(average) == [["ok", "missing", "missing"]]


def test_an_aggregate_of_which_every_cell_lacks_a_part_is_no_grid(make_study):
    study = make_study(AGGREGATE, table("benchmark,rate,depth,value", "a,1,1,10", "b,1,1,20"))
    assert list(analyse(study).grids) == [("a",), ("b",)]


def test_a_printed_aggregate_is_shown_and_computed_only_where_it_is_not(make_study):
    average = _average(
        make_study,
        *("a,1,1,10,", "b,1,1,20,", "c,1,1,30,", "average,1,1,20.1,"),
        *("a,2,1,10,", "b,2,1,20,", "c,2,1,30,", "average,2,1,,failed"),
        *("a,3,1,10,", "b,3,1,20,", "c,3,1,30,"),
    )
    assert not average.computed
    assert _values(average) == [["20.1", None, "20"]]
    assert _states(average) == [["ok", "failed", "ok"]]
    assert average.cell("3", "1").note == "computed here: the mean of its 3 parts"


def test_an_aggregate_is_computed_for_each_level_of_the_other_facets(make_study):
    study = make_study(
        MODELS + "factors: {benchmark: {levels: [a, b, {id: mean, aggregate: {by: mean}}]}}\n",
        table(
            "model,benchmark,rate,depth,value",
            *("small,a,1,1,1", "small,b,1,1,2", "large,a,1,1,3", "large,b,1,1,5"),
        ),
    )
    results = analyse(study)
    assert [levels for levels in results.grids if "mean" in levels] == [
        ("small", "mean"), ("large", "mean"),
    ]  # fmt: skip
    assert _values(results.grid(model="small", benchmark="mean")) == [["1.5"]]
    assert _values(results.grid(model="large", benchmark="mean")) == [["4"]]


# --- what a grid says ---------------------------------------------------------------------------


def _grid(make_study, *rows, better="higher"):
    head = HEAD.replace("better: higher", f"better: {better}")
    return analyse(make_study(head, table("rate,depth,value", *rows))).grid()


def _at(points):
    return [(x.key, y.key) for x, y in points]


SIX = ("1,1,10", "2,1,30", "3,1,20", "1,2,30", "2,2,10", "3,2,14")
"""      10 30 20
        30 10 14 """


def test_a_grid_is_summed_up(make_study):
    summary = summarise(_grid(make_study, *SIX))
    assert isinstance(summary, Summary)
    assert (summary.count, summary.of) == (6, 6)
    assert (summary.best_value, _at(summary.best)) == (Decimal(30), [("2", "1"), ("1", "2")])
    assert (summary.worst_value, _at(summary.worst)) == (Decimal(10), [("1", "1"), ("2", "2")])
    assert summary.mean == Decimal(19)
    assert summary.spread == Decimal(20)


def test_where_lower_is_better_the_lowest_is_best(make_study):
    summary = summarise(_grid(make_study, *SIX, better="lower"))
    assert (summary.best_value, _at(summary.best)) == (Decimal(10), [("1", "1"), ("2", "2")])
    assert (summary.worst_value, _at(summary.worst)) == (Decimal(30), [("2", "1"), ("1", "2")])
    assert summary.spread == Decimal(20)


def test_absent_cells_count_in_nothing(make_study):
    summary = summarise(_grid(make_study, "1,1,-5", "2,1,", "2,2,-8"))
    assert (summary.count, summary.of) == (2, 4)
    assert (summary.best_value, summary.worst_value) == (Decimal(-5), Decimal(-8))
    assert (summary.mean, summary.spread) == (Decimal("-6.5"), Decimal(3))


def test_one_value_is_best_and_worst(make_study):
    summary = summarise(_grid(make_study, "1,1,5", "2,2,"))
    assert (summary.count, summary.of, summary.spread) == (1, 4, Decimal(0))
    assert summary.best == summary.worst


def test_a_grid_without_values_has_no_summary(make_study):
    study = make_study("", table("rate,depth,value,state", "1,1,,oom"))
    assert summarise(analyse(study).grid()) is None


def test_equal_numbers_tie_however_they_are_printed(make_study):
    summary = summarise(_grid(make_study, "1,1,52", "2,1,52.0", "3,1,51.9"))
    assert _at(summary.best) == [("1", "1"), ("2", "1")]


def _compared(make_study, more, *rows):
    study = make_study("facets: [model]\n" + more, table("model,rate,depth,value", *rows))
    return analyse(study)


def test_a_difference_is_second_minus_first_cell_by_cell(make_study):
    results = _compared(
        make_study,
        "roles: {model: choice}\n"
        "factors: {model: {levels: [{id: a, label: A}, {id: b, label: B}]}}\n",
        *("a,1,1,50.1", "a,2,1,40", "a,3,1,7", "a,1,2,3.0", "a,2,2,1"),
        *("b,1,1,52.3", "b,2,1,39.9", "b,3,1,7.0", "b,1,2,", "b,3,2,1"),
    )
    (difference,) = differences(results, results.study.facet("model"))
    assert difference.label == "B − A"
    assert [level.key for level in difference.levels] == ["a", "b"]
    assert [*difference.change] == [Decimal("2.2"), Decimal("-0.1"), Decimal(0), None, None, None]
    assert difference.values == (Decimal("2.2"), Decimal("-0.1"), Decimal(0))
    assert difference.mean == Decimal("0.7")
    assert (difference.higher, difference.lower, difference.equal) == (1, 1, 1)
    assert [*difference.change][:2] == [Decimal("2.2"), Decimal("-0.1")]


def test_a_difference_without_a_common_cell_has_no_mean(make_study):
    results = _compared(make_study, "", "a,1,1,5", "b,2,1,5")
    difference = subtract(
        results.grid(model="b"), results.grid(model="a"), results.study.facet("model")
    )
    assert (difference.mean, difference.values) == (None, ())
    assert (difference.higher, difference.lower, difference.equal) == (0, 0, 0)


def test_a_difference_of_two_facets_names_the_one_that_stays(make_study):
    study = make_study(
        MODELS + "roles: {model: choice}\n",
        table("model,benchmark,rate,depth,value", "a,easy,1,1,1", "b,easy,1,1,3", "b,hard,1,1,9"),
    )
    results = analyse(study)
    found = differences(results, study.facet("model"))
    assert [(difference.label, difference.context, difference.values) for difference in found] == [
        ("b − a | easy", "easy", (Decimal(2),))
    ]
    hard = results.grid(model="b", benchmark="hard")
    assert differences(results, study.facet("model"), [hard]) == ()


@pytest.mark.parametrize(
    ("more", "levels", "expected"),
    [
        # neither a baseline nor to be compared
        ("", "abc", []),
        # in pairs, up to 4 levels
        ("roles: {model: choice}\n", "ab", ["ab"]),
        ("roles: {model: choice}\n", "abc", ["ab", "ac", "bc"]),
        ("roles: {model: choice}\n", "abcd", ["ab", "ac", "ad", "bc", "bd", "cd"]),
        # beyond, each with the first
        ("roles: {model: choice}\n", "abcde", ["ab", "ac", "ad", "ae"]),
        # against the baseline, which goes before; of a few also against one another
        ("baseline: {model: b}\n", "abc", ["ba", "bc", "ac"]),
        ("baseline: {model: b}\n", "ab", ["ba"]),
        ("baseline: {model: b}\nroles: {model: choice}\n", "abcde", ["ba", "bc", "bd", "be"]),
        ("roles: {model: choice}\n", "a", []),
    ],
)
def test_pairs_of_levels(make_study, more, levels, expected):
    results = _compared(make_study, more, *(f"{level},1,1,1" for level in levels))
    found = pairs(results, results.study.facet("model"))
    assert ["".join(pair) for pair in found] == expected


def test_levels_without_a_grid_and_aggregates_are_in_no_pair(make_study):
    results = _compared(
        make_study,
        "roles: {model: choice}\n"
        "factors: {model: {levels: [a, b, c, {id: mean, aggregate: {by: mean}}]}}\n",
        *("a,1,1,1", "c,1,1,1", "mean,1,1,1"),
    )
    assert pairs(results, results.study.facet("model")) == (("a", "c"),)


def test_a_baseline_without_a_grid_makes_no_pair(make_study):
    results = _compared(
        make_study,
        "baseline: {model: a}\nfactors: {model: {levels: [a, b, c]}}\n",
        *("b,1,1,1", "c,1,1,1"),
    )
    assert pairs(results, results.study.facet("model")) == ()
