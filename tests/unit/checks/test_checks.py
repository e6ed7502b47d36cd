"""What the checks of one reading find, what they let pass, and what they say of it."""

import itertools
import random
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
import yaml
from builders import HEAD, REPOSITORY, cases, real_data, rows, table

from gridatlas.checks import (
    accept,
    accept_entry,
    check_study,
    is_count,
    passing_share,
    reading_results,
)
from gridatlas.checks.repeats import EXACT_UP_TO, _chance_of_equal
from gridatlas.checks.runs import _chances_of_run, _Neighbours
from gridatlas.model.schema import AcceptedEntry

PERCENT = HEAD.replace(
    "{name: Accuracy, better: higher}",
    '{name: Accuracy, better: higher, unit: "%", range: [0, 100]}',
)
"""As the least study, of percentages."""


def one_grid(make_study, grid, more="", head=PERCENT):
    return make_study(head + more, table("rate,depth,value", *rows(grid)))


def of_kind(study, kind):
    return [result for result in check_study(study).results if result.kind == kind]


def as_texts(result):
    return result.outcome, result.statement, result.strength


def texts(finding):
    return finding.found, finding.means, finding.sure


# --- counts of trials ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "n", "scale", "successes", "expected"),
    [
        ("42.7", 150, 100, None, True),  # 64 of 150 is 42.66…
        ("42.6", 150, 100, None, False),
        ("42.67", 150, 100, None, True),
        ("42.66", 150, 100, None, False),  # cut off, not rounded
        ("0", 150, 100, None, True),
        ("0.0", 150, 100, None, True),
        ("100.0", 150, 100, None, True),
        ("99.7", 150, 100, None, False),
        ("87.5", 200, 100, None, True),
        ("87.3", 200, 100, None, False),
        ("47.3", 990, 100, None, True),
        ("0.427", 150, 1, None, True),
        ("0.426", 150, 1, None, False),
        # halves: 1 of 8 is 12.5, 1 of 80 is 0.0125
        ("12", 8, 100, None, True),
        ("13", 8, 100, None, True),
        ("14", 8, 100, None, False),
        ("0.012", 80, 1, None, True),
        ("0.013", 80, 1, None, True),
        ("0.037", 80, 1, None, True),  # Python prints f"{3 / 80:.3f}" so, though 0.0375 ends in 5
        # k is known
        ("47.3", 150, 100, 71, True),
        ("48.0", 150, 100, 71, False),
        ("48.0", 150, 100, 72, True),
        # one trial
        ("100", 1, 100, None, True),
        ("50", 1, 100, None, False),
    ],
)
def test_a_value_is_a_count_of_n_trials_or_it_is_not(value, n, scale, successes, expected):
    assert is_count(Decimal(value), n, scale, successes) is expected


def test_a_count_that_a_program_wrote_with_all_digits_of_a_float_is_one():
    for n in (30, 49, 1172):
        for k in range(n + 1):
            assert is_count(Decimal(repr(k / n)), n, 1), (k, n)
            assert is_count(Decimal(repr(100 * k / n)), n, 100), (k, n)
    assert not is_count(Decimal("0.2849829351535"), 1000, 1)


@pytest.mark.parametrize(
    ("scale", "decimals"), [(1, 0), (1, 1), (1, 2), (1, 3), (100, 0), (100, 1)]
)
@pytest.mark.parametrize("n", [1, 3, 7, 8, 16, 30, 40, 80, 99, 100, 101, 150, 200, 400, 990, 20000])
def test_the_share_of_passing_values_is_what_counting_them_gives(n, scale, decimals):
    values = [Decimal(i).scaleb(-decimals) for i in range(scale * 10**decimals + 1)]
    counted = Fraction(sum(is_count(value, n, scale) for value in values), len(values))
    assert passing_share(n, decimals, scale) == counted


def test_every_printed_count_passes_however_halves_are_rounded():
    for n in (3, 8, 40, 80, 150, 990):
        for k in range(n + 1):
            for places in (0, 1, 3):
                assert is_count(Decimal(f"{100 * k / n:.{places}f}"), n, 100), (k, n, places)
                assert is_count(Decimal(f"{k / n:.{places}f}"), n, 1), (k, n, places)


TRIALS = (
    PERCENT + "facets: [bench]\n"
    "factors:\n"
    "  rate: {label: Ratio}\n"
    "  bench:\n"
    "    levels: [{id: a, label: A, items: 30}, {id: g, label: G, items: 198}]\n"
    "trials: {items: bench, samples: 5}\n"
)


def test_counts_are_judged_for_each_number_of_trials(make_study):
    cells = [*rows("42.7 47.3\n 35.7 40.0", "a"), *rows("47.6 46.1\n 48.1 47.5", "g")]
    study = make_study(TRIALS, table("bench,rate,depth,value", *cells))
    few, many = of_kind(study, "k-of-n")
    assert (few.title, few.grids, many.title, many.grids) == (
        "Values as counts of 150 trials",
        (("a",),),
        "Values as counts of 990 trials",
        (("g",),),
    )
    assert as_texts(few) == (
        "found",
        "3 of 4 values are possible with 150 trials.",
        "15.1 % of all values from 0 to 100 with 1 decimal are possible, so the check detects "
        "84.9 % of random mistakes.",
    )
    assert as_texts(many) == (
        "says nothing",
        "4 of 4 values are possible with 990 trials.",
        "99.0 % of all values from 0 to 100 with 1 decimal are possible, so the check says "
        "nothing.",
    )
    (finding,) = few.findings
    assert (finding.levels, finding.cells, finding.severity) == (("a",), (("1", "2"),), "problem")
    assert texts(finding) == (
        "1 of 4 values is impossible with 150 trials: 35.7 (53 of 150 is 35.3 and 54 of 150 is "
        "36.0) at ratio 1, depth 2",
        "A digit is wrong, the number of trials is another one, or the metric isn't a plain share "
        "of successes.",
        "Certain if the values are rounded shares of 150 trials. A wrong value can be possible, "
        "too: 15.1 % of all values from 0 to 100 with 1 decimal are possible.",
    )


def test_a_value_is_held_against_its_own_successes(make_study):
    head = HEAD.replace(
        "{name: Accuracy, better: higher}", "{name: Accuracy, better: higher, range: [0, 1]}"
    )
    cells = table("rate,depth,value,n,successes", "1,1,0.47,150,71", "2,1,0.48,150,71")
    (result,) = of_kind(make_study(head, cells), "k-of-n")
    assert [finding.found for finding in result.findings] == [
        "1 of 2 values is impossible with 150 trials: 0.48 (71 of 150 is 0.47) at rate 2, depth 1"
    ]


@pytest.mark.parametrize(("head", "grid", "columns", "expected"), cases(__file__, "counts"))
def test_what_can_be_said_of_counts(make_study, head, grid, columns, expected):
    study = make_study(head, table(f"rate,depth,value{columns}", *grid))
    assert [as_texts(result) for result in of_kind(study, "k-of-n")] == expected


def test_very_long_numbers_are_no_error(make_study):
    cells = [
        "1,1,33.33333333333333333333333333333333333,3",
        "2,1,33.4444444444444444444444444444,3",
    ]
    (result,) = of_kind(make_study(PERCENT, table("rate,depth,value,n", *cells)), "k-of-n")
    assert [finding.found for finding in result.findings] == [
        "1 of 2 values is impossible with 3 trials: 33.4444444444444444444444444444 (1 of 3 is "
        "33.3333333333333333333333333300 and 2 of 3 is 66.6666666666666666666666666700) at rate "
        "2, depth 1"
    ]


# --- aggregates ---------------------------------------------------------------------------------

AVERAGE = (
    PERCENT + "facets: [bench]\n"
    "factors: {bench: {levels: [a, b, {id: mean, label: Mean, aggregate: {by: mean}}]}}\n"
)
STRENGTH = (
    "Detects an aggregate that is off by more than 0.2, and a part that is off by more than 0.4. "
    "Smaller mistakes can go unnoticed, and several can cancel out."
)


@pytest.mark.parametrize(("grids", "statement", "found"), cases(__file__, "aggregates"))
def test_printed_aggregates_are_held_against_their_printed_parts(
    make_study, grids, statement, found
):
    cells = [line for name, grid in grids.items() for line in rows(grid, name)]
    (result,) = of_kind(make_study(AVERAGE, table("bench,rate,depth,value", *cells)), "aggregate")
    assert result.title == "Printed aggregates against their parts"
    assert as_texts(result) == ("found" if found else "passed", statement, STRENGTH)
    assert [finding.found for finding in result.findings] == found
    for finding in result.findings:
        assert texts(finding)[1:] == (
            "The aggregate or one of its parts is wrong. Or the aggregate isn't a plain mean.",
            "Certain if it is a plain mean: rounding explains at most 0.1.",
        )


def test_aggregates_of_absent_parts_cannot_be_checked(make_study):
    cells = [*rows("10.0 -", "a"), *rows("- 31.0", "b"), *rows("15.0 25.5", "mean")]
    (result,) = of_kind(make_study(AVERAGE, table("bench,rate,depth,value", *cells)), "aggregate")
    expected = ("not testable", "No aggregate can be checked: each lacks a part.", "")
    assert as_texts(result) == expected


def test_no_aggregate_has_no_result(make_study):
    assert of_kind(one_grid(make_study, "1 2\n3 4"), "aggregate") == []


READINGS = "readings:\n  - {id: one, file: one.csv}\n  - {id: two, file: two.csv}\n"


def two_readings(make_study, more, first, two):
    head = "bench,rate,depth,value" if "bench" in more else "rate,depth,value"
    files = {"one.csv": table(head, *first), "two.csv": table(head, *two)}
    return make_study(more + READINGS, None, files)


def test_parts_may_come_from_another_reading(make_study):
    parts = [*rows("10.0 20.0", "a"), *rows("20.0 31.0", "b")]
    study = two_readings(make_study, AVERAGE, parts, rows("15.0 25.9", "mean"))
    (result,) = of_kind(study, "aggregate")
    (finding,) = result.findings
    assert (result.reading, finding.reading, finding.severity) == ("two", "two", "problem")
    assert finding.found == (
        "1 of 2 values is not the mean of 2 parts: 25.9 (20.0, 31.0 give 25.5) at rate 2, depth 1"
    )


def test_a_reading_is_held_against_its_own_parts_and_what_is_shown_against_what_is_shown(
    make_study,
):
    parts = [*rows("10.0 20.0", "a"), *rows("20.0 31.0", "b")]
    own = [
        *rows("12.0 20.0", "a"),
        *rows("20.0 31.0", "b"),
        *rows("16.0 25.5", "mean"),
    ]
    study = two_readings(make_study, AVERAGE, parts, own)
    own_result, shown = of_kind(study, "aggregate")
    assert (own_result.reading, own_result.outcome) == ("two", "passed")
    (finding,) = shown.findings
    assert (shown.reading, finding.reading, finding.severity) == ("", "", "note")
    assert texts(finding) == (
        "1 of 1 value is not the mean of 2 parts: 16.0 (10.0, 20.0 give 15) at rate 1, depth 1",
        "The shown values come from readings that disagree. Or the aggregate isn't a plain mean.",
        "Certain if it is a plain mean: rounding explains at most 0.1.",
    )
    assert check_study(study).problems == ()


# --- what repeats -------------------------------------------------------------------------------

LOST = (
    "One {0} may have been copied over another, whose own values are then lost. Or these {0}s "
    "really have the same values."
)
NO_COPY = (
    "Detects a {0} that was copied over another, unless chance explains it. Doesn't detect two "
    "swapped {0}s."
)
COPIED = """
47.3 41.3 45.3 46.7 42.0
44.7 46.0 40.7 43.3 45.3
42.7 44.0 41.3 48.7 49.3
44.7 46.0 40.7 43.3 45.3
"""


def test_a_repeated_row_is_found(make_study):
    study = one_grid(make_study, COPIED)
    (result,) = of_kind(study, "repeated-row")
    assert as_texts(result) == (
        "found",
        "1 row is repeated (1 grid checked); chance explains none of them.",
        NO_COPY.format("row"),
    )
    (finding,) = result.findings
    assert finding.cells == tuple((str(x), y) for y in "24" for x in range(1, 6))
    # Six values are there twice, 45.3 three times: 5! × (2⁵ + 5 × 2⁴ × 6) ways to lay five of them
    # in two rows, of 20·19·…·11, for each of 6 pairs of rows: 1 in 1.8 million. By place: 6 pairs,
    # 5 values of each; 25 are not of these two rows, so 6 × (1/27)⁵ = 1 in 2.3 million.
    assert texts(finding) == (
        "rows 2 and 4 (depth) have the same values: 44.7, 46.0, 40.7, 43.3, 45.3",
        LOST.format("row"),
        "Highest chance of such rows in one grid: 1 in 1,800,000 if its values are in random "
        "order, 1 in 2,300,000 if two rows have the same value at the same place as often as "
        "elsewhere in the grid (0 of 25 times). Values at the ends of the range don't count. The "
        "check reports chances below 1 in 100.",
    )


def test_a_repeated_column_is_found(make_study):
    turned = zip(*(line.split() for line in COPIED.strip().splitlines()), strict=True)
    study = one_grid(make_study, "\n".join(" ".join(line) for line in turned))
    (result,) = of_kind(study, "repeated-column")
    (finding,) = result.findings
    assert finding.cells == tuple((x, str(y)) for x in "24" for y in range(1, 6))
    assert finding.found == (
        "columns 2 and 4 (rate) have the same values: 44.7, 46.0, 40.7, 43.3, 45.3"
    )
    assert finding.means == LOST.format("column")
    assert of_kind(study, "repeated-row")[0].findings == ()


@pytest.mark.parametrize(("grid", "expected"), cases(__file__, "rows"))
def test_rows_that_are_not_found(make_study, grid, expected):
    results = of_kind(one_grid(make_study, grid), "repeated-row")
    assert [as_texts(result) for result in results] == ([tuple(expected)] if expected else [])


def test_rows_that_are_equal_because_the_factor_does_nothing_are_not_found(make_study):
    """Only the random order would find them: the columns' values hardly differ between rows."""
    grid = "10 20 30 40 50\n10 20 30 40 51\n10 20 30 40 50\n11 20 30 40 50\n10 21 30 40 50"
    (result,) = of_kind(one_grid(make_study, grid), "repeated-row")
    assert as_texts(result)[:2] == (
        "passed",
        "1 row is repeated (1 grid checked); chance explains 1 of them.",
    )


@pytest.mark.parametrize(
    ("counts", "times", "width"), cases(__file__, "the chance of equal lines is exact")
)
def test_the_chance_of_equal_lines_is_exact(counts, times, width):
    """Against every order of the values."""
    values = [name for name, count in enumerate(counts) for _ in range(count)]
    orders = list(itertools.permutations(values))
    equal = sum(
        len({order[line * width : (line + 1) * width] for line in range(times)}) == 1
        for order in orders
    )
    assert _chance_of_equal(counts, times, width) == Fraction(equal, len(orders))


@pytest.mark.parametrize(
    ("counts", "times", "width"), [([9, 4, 4, 1], 3, 4), ([5, 5, 5, 5, 2], 2, 6), ([12, 3], 4, 2)]
)
def test_fewer_equal_lines_or_places_are_not_less_likely(counts, times, width):
    """So a bound for large grids may count fewer of both."""
    exact = _chance_of_equal(counts, times, width)
    assert exact <= _chance_of_equal(counts, times - 1, width)
    assert exact <= _chance_of_equal(counts, times, width - 1)


@pytest.mark.parametrize(
    ("value", "repeated", "chance"),
    [
        pytest.param(lambda x, y, rng: x, 1, "none", id="one row, everywhere"),
        pytest.param(lambda x, y, rng: 5, 1, "1", id="one value"),
        pytest.param(lambda x, y, rng: rng.randrange(400 + y % 150), 0, "none", id="noise"),
    ],
)
def test_lines_of_a_large_grid_are_judged_by_a_bound(make_study, value, repeated, chance):
    size = 150
    assert size * size > EXACT_UP_TO
    rng = random.Random(4)
    grid = "\n".join(" ".join(str(value(x, y, rng)) for x in range(size)) for y in range(size))
    study = one_grid(make_study, grid, head=HEAD)
    result = of_kind(study, "repeated-row")[0]
    if not repeated:
        assert result.statement == "No grid has a repeated row (1 grid checked)."
        return
    statement = f"1 row is repeated (1 grid checked); chance explains {chance} of them."
    assert result.statement == statement
    assert len(result.findings) == (chance == "none")
    for finding in result.findings:
        # Neither all rows nor all values are listed.
        assert "1, 2, 3, 4, 5, 6 and 144 more" in finding.found
        assert finding.found.endswith(", 19 and 130 more")


def test_copied_rows_of_a_large_grid_are_found(make_study):
    rng = random.Random(5)
    lines = [" ".join(str(rng.randrange(900)) for _ in range(150)) for _ in range(75)]
    study = one_grid(make_study, "\n".join(lines * 2), head=HEAD)
    (result,) = of_kind(study, "repeated-row")
    assert result.statement == (
        "75 rows are repeated (1 grid checked); chance explains none of them."
    )


# Scores up to 10, as in needle-in-a-haystack tests: 10 wherever the needle was found.
NEEDLE = """
10 10 10 7 3 5 1
10 10 10 1 6 10 3
10 10 10 10 2 6 7
10 10 10 3 10 1 5
10 10 10 5 7 3 2
10 10 10 6 1 2 10
10 10 10 2 5 7 6
"""
ONE_VALUE = (
    "The metric may really be constant there, for example at an end of its scale; if so, give "
    "that scale as the metric's range. Or one value was copied into cells with other values."
)


@pytest.mark.parametrize(("axis", "factor"), [("column", "rate"), ("row", "depth")])
def test_constant_lines_are_no_copies_but_a_note(make_study, axis, factor):
    lines = NEEDLE.strip().split("\n")
    if axis == "row":
        lines = [" ".join(line) for line in zip(*map(str.split, lines), strict=True)]
    study = one_grid(make_study, "\n".join(lines), head=HEAD)
    (result,) = of_kind(study, f"repeated-{axis}")
    assert result.statement == (
        f"1 {axis} is repeated (1 grid checked); chance explains none of them. "
        "1 of the others has the same value in every cell."
    )
    (finding,) = result.findings
    assert finding.severity == "note"
    assert finding.found == f"{axis}s 1, 2 and 3 ({factor}) are constant: 10 in every cell"
    assert finding.means == ONE_VALUE
    assert check_study(study).problems == ()


def test_a_copied_line_beside_constant_ones_is_still_a_problem(make_study):
    lines = NEEDLE.split("\n")[1:-1]
    turned = [list(line) for line in zip(*map(str.split, lines), strict=True)]
    turned[4] = turned[3]
    grid = "\n".join(" ".join(line) for line in zip(*turned, strict=True))
    (result,) = of_kind(one_grid(make_study, grid, head=HEAD), "repeated-column")
    assert [(finding.severity, finding.found) for finding in result.findings] == [
        ("note", "columns 1, 2 and 3 (rate) are constant: 10 in every cell"),
        ("problem", "columns 4 and 5 (rate) have the same values: 7, 1, 10, 3, 5, 6, 2"),
    ]


# --- runs of one value --------------------------------------------------------------------------

RUN = """
42 47 51 39 44 58
33 61 67 67 67 67
36 52 49 55 46 41
63 38 57 45 54 48
"""
CARRIED = (
    "One value may have been copied into cells with other values. Or the metric is really "
    "constant there."
)
LONG_RUNS = (
    "Detects a value that was copied into many cells. How many it takes depends on how often "
    "neighbours are equal elsewhere in the grid."
)


def test_a_long_run_of_one_value_is_found(make_study):
    study = one_grid(make_study, RUN)
    (result,) = of_kind(study, "constant-run")
    assert as_texts(result) == (
        "found",
        "The longest run of one value has 4 cells (1 grid checked); 1 run is longer than chance "
        "explains.",
        LONG_RUNS,
    )
    (finding,) = result.findings
    assert finding.cells == (("3", "2"), ("4", "2"), ("5", "2"), ("6", "2"))
    # 4 × 3 places in rows, 6 × 1 in columns. In random order: 18 × 4!/(24·23·22·21) = 1 in 590.
    # By neighbours: 12 × (1/19)³ + 6 × (1/20)³ = 1 in 400; 17 of 20 pairs aren't of the run.
    assert texts(finding) == (
        "67 in 4 neighbouring cells: depth 2, rate 3 to 6",
        CARRIED,
        "Highest chance of such a run in one grid: 1 in 590 if its values are in random order, 1 "
        "in 400 if neighbours in a row are equal as often as elsewhere in the grid (0 of 17 "
        "times). Values at the ends of the range don't count. The check reports chances below 1 "
        "in 100.",
    )


def test_a_run_down_a_column_is_found(make_study):
    turned = zip(*(line.split() for line in RUN.strip().splitlines()), strict=True)
    study = one_grid(make_study, "\n".join(" ".join(line) for line in turned))
    (finding,) = of_kind(study, "constant-run")[0].findings
    assert finding.found == "67 in 4 neighbouring cells: rate 2, depth 3 to 6"
    assert finding.cells == (("2", "3"), ("2", "4"), ("2", "5"), ("2", "6"))


@pytest.mark.parametrize(("grid", "statement"), cases(__file__, "runs"))
def test_runs_that_are_not_found(make_study, grid, statement):
    (result,) = of_kind(one_grid(make_study, grid), "constant-run")
    assert as_texts(result) == ("passed", statement, LONG_RUNS)


@pytest.mark.parametrize(
    ("head", "grid", "severity"),
    [
        pytest.param(HEAD, RUN, "note", id="the highest value, and no range"),
        pytest.param(HEAD, RUN.replace("67", "20"), "note", id="the lowest value, and no range"),
        pytest.param(HEAD, RUN.replace("63", "73"), "problem", id="a value in between"),
        pytest.param(PERCENT, RUN, "problem", id="the range goes further"),
        pytest.param(
            PERCENT, RUN.replace("33 61 67 67", "67 67 67 67"), "note", id="the whole row"
        ),
    ],
)
def test_a_run_at_an_end_of_the_scale_is_a_note(make_study, head, grid, severity):
    (result,) = of_kind(one_grid(make_study, grid, head=head), "constant-run")
    (finding,) = result.findings
    means = ONE_VALUE if severity == "note" else CARRIED
    assert (finding.severity, finding.means) == (severity, means)


def test_the_chance_of_a_run_is_not_below_what_shuffling_gives():
    """The bound counts two runs in one grid twice, so it may be a little above."""
    values = [Decimal(v) for v in (1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6)]
    rng = random.Random(1)
    found, tries = 0, 20_000
    for _ in range(tries):
        rng.shuffle(values)
        grid = [values[:4], values[4:8], values[8:]]
        lines = [*grid, *map(list, zip(*grid, strict=True))]
        found += any(len(set(line[i : i + 3])) == 1 for line in lines for i in range(len(line) - 2))
    codes = [tuple(map(int, line)) for line in grid]
    neighbours = {"row": _Neighbours.of(codes), "column": _Neighbours.of(zip(*codes, strict=True))}
    bound, _, _ = _chances_of_run(neighbours, "row", 3)
    # 6 + 4 places; 4·3·2 ways to lay three of the ones, 3·2·1 of the twos; 12·11·10 of any.
    assert bound == Fraction(10 * (24 + 6), 1320)
    assert 0.8 * bound < found / tries < bound


# --- how values are printed ---------------------------------------------------------------------

TYPED = (
    "Looks at values that a person typed or a figure prints: at most 6 digits, with zeros at the "
    "end. Detects a missing or extra decimal. Doesn't detect a wrong digit."
)
WRITTEN = (
    "A program wrote them, with all their digits or without zeros at the end, so that decimals "
    "say nothing of mistakes. The check is for values that a person typed or a figure prints."
)
MAYBE = "A digit or the decimal point may be missing or extra."


@pytest.mark.parametrize(("grid", "statement", "found"), cases(__file__, "decimals"))
def test_other_decimals_than_the_rest_are_found(make_study, grid, statement, found):
    (result,) = of_kind(one_grid(make_study, grid), "decimals")
    assert as_texts(result) == ("found" if found else "passed", statement, TYPED)
    assert [(finding.severity, finding.found, finding.sure) for finding in result.findings] == found
    assert {finding.means for finding in result.findings} <= {MAYBE}


@pytest.mark.parametrize(("grid", "statement"), cases(__file__, "programs"))
def test_values_that_a_program_wrote_are_not_judged(make_study, grid, statement):
    (result,) = of_kind(one_grid(make_study, grid), "decimals")
    assert as_texts(result) == ("not testable", statement, WRITTEN)


def test_values_that_stand_in_many_cells_count_once(make_study):
    """Nearly all right of 80: 98.75 is as well printed as 100.0, which most cells have."""
    (result,) = of_kind(one_grid(make_study, "100.0 " * 12 + "98.75 97.5"), "decimals")
    assert as_texts(result)[:2] == ("not testable", "The 14 values have 1 to 2 decimals.")


def test_values_of_a_program_have_no_usual_number_of_decimals(make_study):
    (result,) = of_kind(one_grid(make_study, "0.4731 0.5 0.33333 0.25"), "decimals")
    assert as_texts(result) == (
        "not testable",
        "The 4 values have 1 to 5 decimals.",
        "Too many values differ: there is no usual number of decimals to compare with.",
    )


def test_a_grid_with_its_own_number_of_decimals_is_a_note(make_study):
    fine = [line for name in "abcde" for line in rows("47.3 40.0 41.3", name)]
    cells = table("bench,rate,depth,value", *fine, *rows("47 40 41", "f"))
    study = make_study(PERCENT + "facets: [bench]\n", cells)
    (result,) = of_kind(study, "decimals")
    assert as_texts(result)[1] == "15 of 18 values have 1 decimal."
    (finding,) = result.findings
    assert (finding.levels, finding.severity) == (("f",), "note")
    assert texts(finding) == (
        "the values have no decimals; most values of the reading have 1 decimal",
        "These values may be rounded more than the others, or estimated.",
        "Not certain: the source may print this grid that way.",
    )


def test_the_mean_of_repeats_has_its_own_decimals(make_study):
    cells = table("rate,depth,value", *rows("47.3 40.0 41.3"), "4,1,40.0", "4,1,40.1", "4,1,40.3")
    (result,) = of_kind(make_study(PERCENT + "roles: {repeat: replicate}\n", cells), "decimals")
    assert as_texts(result)[1] == "3 of 3 values have 1 decimal."


# --- the stated range ---------------------------------------------------------------------------


def test_a_stated_range_that_the_values_leave_is_a_note(make_study):
    stated = (
        PERCENT + "facets: [bench]\nreadings:\n  - id: one\n    file: one.csv\n"
        "    stated_range: [{bench: a, range: [31, 36]}, {bench: b, range: [40, 50]}]\n"
    )
    cells = [
        *rows("30.7 33.3\n31.0 38.0", "a"),
        *rows("40.0 50.0", "b"),
        *rows("1.0 2.0", "c"),
    ]
    study = make_study(stated, None, {"one.csv": table("bench,rate,depth,value", *cells)})
    (result,) = of_kind(study, "stated-range")
    assert result.grids == (("a",), ("b",))
    assert as_texts(result) == (
        "found",
        "4 of 6 values are within the stated ranges.",
        "Detects only large mistakes.",
    )
    (finding,) = result.findings
    assert (finding.levels, finding.severity) == (("a",), "note")
    assert texts(finding) == (
        "2 of 4 values are outside 31 to 36, the stated range of the colour bar: "
        "30.7 at rate 1, depth 1; 38.0 at rate 2, depth 2",
        "The stated ends may be the outer ticks, not the ends of the bar. Or the values or the "
        "range are wrong.",
        "Not certain: a colour bar can reach beyond its outer ticks.",
    )


# --- how much a finding weighs ------------------------------------------------------------------


def findings_of(study, reading):
    results = reading_results(study, reading)
    return tuple(finding for result in results for finding in result.findings)


def test_a_finding_in_a_reading_that_supplies_no_shown_value_is_a_note(make_study):
    fine = rows("47.3 41.3 45.3\n46.7 42.0 40.7\n48.7 43.3 44.0")
    copied = rows("47.3 41.3 45.3\n46.7 42.0 40.7\n46.7 42.0 40.7")
    study = two_readings(make_study, PERCENT, fine, copied)
    two = study.readings[1]
    (finding,) = findings_of(study, two)
    assert (finding.kind, finding.reading, finding.severity) == ("repeated-row", "two", "note")
    assert check_study(study).findings == (finding,)
    assert check_study(study).problems == ()

    # One cell that the first reading doesn't have, and the second supplies it.
    study = two_readings(make_study, PERCENT, fine[:-1], copied)
    (finding,) = findings_of(study, study.readings[1])
    assert finding.severity == "problem"


def test_with_more_grids_a_finding_must_be_less_likely(make_study):
    head = PERCENT + "facets: [bench]\n"
    cells = rows(RUN, "a")
    alone = make_study(head, table("bench,rate,depth,value", *cells))
    assert [finding.kind for finding in check_study(alone).findings] == ["constant-run"]
    for name in "bcde":
        cells += [f"{name},{i},1,{i}" for i in (1, 2, 3)]
    beside = make_study(head, table("bench,rate,depth,value", *cells))
    # 1 in 400 is below 1 in 100, but not below 1 in 500.
    assert check_study(beside).findings == ()


# --- what is accepted ---------------------------------------------------------------------------

BENCH = PERCENT + "facets: [bench]\n"


def _copied(make_study, *accepted):
    """A study with one finding, at depth 2 and 4 of bench a; entries are on lines 8, 9, …"""
    more = "accepted:\n" + "".join(f"  - {{{entry}}}\n" for entry in accepted)
    cells = table("bench,rate,depth,value", *rows(COPIED, "a"), *rows("1.0 2.5 3.0", "b"))
    return make_study(BENCH + (more if accepted else ""), cells)


@pytest.mark.parametrize(
    ("at", "covers"), cases(__file__, "an acceptance names a finding that lies within it")
)
def test_an_acceptance_names_a_finding_that_lies_within_it(make_study, at, covers):
    study = _copied(make_study, f"finding: repeated-row, at: {{{at}}}, because: seen in the paper")
    found = check_study(study)
    (finding,) = found.findings
    assert finding.accepted == (study.accepted[0] if covers else None)
    assert [problem.kind for problem in found.problems] == (
        [] if covers else ["repeated-row", "unused-acceptance"]
    )


def test_a_finding_that_is_not_accepted_is_a_problem_with_the_entry_to_add(make_study):
    (problem,) = check_study(_copied(make_study)).problems
    assert str(problem) == (
        'data/demo/cells.csv:7, "value": problem [repeated-row]\n  found:    a: rows 2 and 4 '
        "(depth) have the same values: 44.7, 46.0, 40.7, 43.3, 45.3\n  expected: rows that "
        "differ\n  fix:      correct the values; if the source has them so, add under accepted in "
        'study.yml: - {finding: repeated-row, at: {bench: a, depth: [2, 4]}, because: "…"}'
    )


@pytest.mark.parametrize(("entry", "found", "expected", "fix"), cases(__file__, "acceptances"))
def test_an_acceptance_of_what_is_not_there_is_a_problem(make_study, entry, found, expected, fix):
    accepted = "finding: repeated-row, at: {depth: [2, 4]}, because: known"
    study = _copied(make_study, accepted, entry)
    (problem,) = check_study(study).problems
    assert str(problem) == (
        'data/demo/study.yml:9, "accepted.1": problem [unused-acceptance]\n'
        f"  found:    {found}\n"
        f"  expected: {expected}\n"
        f"  fix:      {fix}"
    )


def test_the_entry_in_the_message_accepts_the_finding_whatever_its_levels_are_called(make_study):
    head = "format: 1\ntitle: A demo\nmetric: {name: Accuracy, better: higher}\nx: rate\ny: depth\n"
    names = ["yes", "a: b", "0.10", "#1"]
    lines = [line.split() for line in COPIED.strip().splitlines()]
    turned = list(zip(*lines, strict=True))
    cells = [
        f'"{bench}",{x},"{names[y]}",{value}'
        for bench, grid in (("no, {it}", lines), ("1e3", turned))
        for y, line in enumerate(grid[:4])
        for x, value in enumerate(line)
    ]
    study = make_study(head + "facets: [bench]\n", table("bench,rate,depth,value", *cells))
    findings = check_study(study).findings
    assert [finding.kind for finding in findings] == ["repeated-row", "repeated-column"]
    for finding in findings:
        (entry,) = yaml.safe_load(accept_entry(study, finding))
        accepted = replace(study, accepted=(AcceptedEntry.model_validate(entry),))
        assert [finding for finding in accept(accepted, findings)[0] if finding.accepted] == [
            replace(finding, accepted=accepted.accepted[0])
        ]


# --- the studies of this repository -------------------------------------------------------------


def test_the_printed_values_of_dynts_pass():
    results = real_data()["dynts-window-ratio"].checks.results
    (averages,) = [result for result in results if result.kind == "aggregate"]
    assert as_texts(averages) == (
        "passed",
        "40 of 40 printed aggregates are the mean of 4 printed parts, within rounding (0.1). 40 "
        "of 40 are also the mean of the shares of trials behind their parts, rounded.",
        "Detects an aggregate that is off by more than 0.2, and a part that is off by more than "
        "0.8. Smaller mistakes can go unnoticed, and several can cancel out.",
    )
    counts = [result for result in results if result.kind == "k-of-n"]
    for reading in ("r1-qwen", "r1-llama"):
        own = [count for count in counts if count.reading == reading]
        assert [(count.outcome, count.statement) for count in own] == [
            ("passed", "40 of 40 values are possible with 150 trials."),
            ("passed", "20 of 20 values are possible with 200 trials."),
            ("says nothing", "20 of 20 values are possible with 990 trials."),
        ]


def test_the_second_reading_of_r1_qwen_has_values_that_are_no_counts():
    findings = real_data()["dynts-window-ratio"].checks.findings
    second = [finding for finding in findings if finding.reading == "r1-qwen-second"]
    assert [(finding.kind, finding.levels, finding.severity) for finding in second] == [
        ("k-of-n", ("r1-qwen", "aime25"), "problem"),  # accepted: its document has them
        # It states one colour bar, from -88 to -52, for four heatmaps of shares.
        *(
            ("stated-range", ("r1-qwen", benchmark), "note")
            for benchmark in ("aime24", "aime25", "amc23", "gpqa_d")
        ),
    ]
    assert second[0].found.startswith("2 of 8 values are impossible with 150 trials: 35.7 (53 of ")
    assert [f for f in findings if f.severity == "problem" and f.accepted is None] == []


SECOND = (
    PERCENT
    + "reconcile: primary\nreadings:\n  - {id: first, file: cells.csv}\n"
    + "  - {id: second, file: second.csv, text: second.md%s}\n"
)


@pytest.mark.parametrize(("more", "value", "expected"), cases(__file__, "own documents"))
def test_a_reading_that_is_not_shown_may_not_contradict_itself(checked, more, value, expected):
    first = table("rate,depth,value,n", *(f"{line},150" for line in rows("30.0 32.0\n34.0 36.0")))
    second = table("rate,depth,value,n", *(f"{r},150" for r in rows(f"30.0 {value}\n34.0 36.0")))
    document = "| depth | 1 | 2 |\n|---|---|---|\n| 1 | 30.0 | 36.7 |\n| 2 | 34.0 | 36.0 |\n"
    study, problems = checked(
        SECOND.replace("%s", more), first, {"second.csv": second, "second.md": document}
    )
    assert problems == []
    assert study is not None
    found = check_study(study).problems
    assert [(problem.kind, problem.found, problem.severity) for problem in found] == [
        (kind, text, "problem") for kind, text in expected
    ]


def test_the_identical_rows_and_the_run_of_grpo_digits_are_found():
    study = real_data()["grpo-digits"].study
    found = findings_of(study, study.readings[0])
    first = [finding for finding in found if finding.severity == "problem"]
    assert [(finding.kind, finding.levels, finding.found) for finding in first] == [
        (
            "repeated-row",
            ("after_t100",),
            "rows 9 and 10 (number of y's digits) have the same values: 3, 9, 9, 10, 4, 1, 0, 1, "
            "2, 2",
        ),
        (
            "constant-run",
            ("after_t125",),
            "67 in 9 neighbouring cells: number of y's digits 4, number of x's digits 2 to 10",
        ),
    ]
    # 0 doesn't count: nine values in two rows. The disputed row has no value to be checked.
    for finding, chances in zip(
        first,
        (
            "below 1 in 1,000,000,000 if two rows have the same value at the same place as often "
            "as elsewhere in the grid (20 of 270 times).",
            "1 in 5,000 if neighbours in a row are equal as often as elsewhere in the grid (17 of "
            "73 times).",
        ),
        strict=True,
    ):
        assert f"if its values are in random order, {chances}" in finding.sure
        assert finding.sure.endswith("chances below 1 in 300 (1 in 100 over 3 grids).")


def test_the_measurement_of_the_checks_gives_the_same_every_time():
    """Dear: two runs of the script on a simulated study with each kind of mistake planted."""
    script = REPOSITORY / "tools" / "measure_checks.py"
    once, twice = (
        subprocess.run(
            [sys.executable, script, "--studies", "1", "--every", "160"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    )
    assert once == twice
    assert once.startswith("Measured with `python tools/measure_checks.py --studies 1`: mistakes ")


def test_the_row_that_cannot_be_placed_is_a_finding_that_is_accepted():
    study = real_data()["grpo-digits"].checks
    found = [finding for finding in study.findings if finding.kind == "disputed"]
    assert [(finding.reading, finding.levels, len(finding.cells)) for finding in found] == [
        ("healer-alpha", ("after_t125",), 10)
    ]
    assert found[0].found == (
        "no value in 10 cells: The reading gives 11 values for the 10 columns of this row: "
        '"47, 71, 76, 77, 77, 82, 86, 89, 84, 79, 75"'
    )
    assert found[0].accepted is not None
