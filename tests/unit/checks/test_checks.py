"""What the checks of one reading find, what they let pass, and what they say of it."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
import yaml
from builders import HEAD, REPOSITORY, Checked, MakeStudy, real_data, table

from gridatlas.assessment.pipeline import load_data
from gridatlas.checks import (
    CheckResult,
    Finding,
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
from gridatlas.model.study import Reading, Study

PERCENT = HEAD.replace(
    "{name: Accuracy, better: higher}",
    '{name: Accuracy, better: higher, unit: "%", range: [0, 100]}',
)
"""As the least study, of percentages."""


def rows(grid: str, *before: str) -> list[str]:
    """CSV lines of a grid: rows (levels of depth) by lines, columns (of rate) by spaces, - absent.

    Args:
        before: Facet levels that stand in each line.
    """
    return [
        ",".join((*before, str(x), str(y), value))
        for y, line in enumerate(grid.strip().splitlines(), 1)
        for x, value in enumerate(line.split(), 1)
        if value != "-"
    ]


def one_grid(make_study: MakeStudy, grid: str, more: str = "", head: str = PERCENT) -> Study:
    return make_study(head + more, table("rate,depth,value", *rows(grid)))


def of_kind(study: Study, kind: str) -> list[CheckResult]:
    return [result for result in check_study(study).results if result.kind == kind]


def as_texts(result: CheckResult) -> tuple[str, str, str]:
    return result.outcome, result.statement, result.strength


def texts(finding: Finding) -> tuple[str, str, str]:
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
def test_a_value_is_a_count_of_n_trials_or_it_is_not(
    value: str, n: int, scale: int, successes: int | None, expected: bool
) -> None:
    assert is_count(Decimal(value), n, scale, successes) is expected


def test_a_count_that_a_program_wrote_with_all_digits_of_a_float_is_one() -> None:
    for n in (30, 49, 1172):
        for k in range(n + 1):
            assert is_count(Decimal(repr(k / n)), n, 1), (k, n)
            assert is_count(Decimal(repr(100 * k / n)), n, 100), (k, n)
    assert not is_count(Decimal("0.2849829351535"), 1000, 1)


def test_python_prints_a_half_that_neither_goes_up_nor_to_even() -> None:
    assert f"{3 / 80:.3f}" == "0.037"


@pytest.mark.parametrize(
    ("scale", "decimals"), [(1, 0), (1, 1), (1, 2), (1, 3), (100, 0), (100, 1)]
)
@pytest.mark.parametrize("n", [1, 3, 7, 8, 16, 30, 40, 80, 99, 100, 101, 150, 200, 400, 990, 20000])
def test_the_share_of_passing_values_is_what_counting_them_gives(
    n: int, scale: int, decimals: int
) -> None:
    values = [Decimal(i).scaleb(-decimals) for i in range(scale * 10**decimals + 1)]
    counted = Fraction(sum(is_count(value, n, scale) for value in values), len(values))
    assert passing_share(n, decimals, scale) == counted


def test_every_printed_count_passes_however_halves_are_rounded() -> None:
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


def test_counts_are_judged_for_each_number_of_trials(make_study: MakeStudy) -> None:
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


def test_a_value_is_held_against_its_own_successes(make_study: MakeStudy) -> None:
    head = HEAD.replace(
        "{name: Accuracy, better: higher}", "{name: Accuracy, better: higher, range: [0, 1]}"
    )
    cells = table("rate,depth,value,n,successes", "1,1,0.47,150,71", "2,1,0.48,150,71")
    (result,) = of_kind(make_study(head, cells), "k-of-n")
    assert [finding.found for finding in result.findings] == [
        "1 of 2 values is impossible with 150 trials: 0.48 (71 of 150 is 0.47) at rate 2, depth 1"
    ]


@pytest.mark.parametrize(
    ("head", "grid", "columns", "expected"),
    [
        pytest.param(
            PERCENT,
            ["1,1,42.7", "2,1,40"],
            "",
            [
                (
                    "not testable",
                    "The number of trials behind 2 values is unknown.",
                    "",
                )
            ],
            id="n is unknown",
        ),
        pytest.param(HEAD, ["1,1,42.7,150", "2,1,40,150"], ",n", [], id="no percentage"),
        pytest.param(
            PERCENT.replace(", range: [0, 100]", ""),
            ["1,1,-2.3,150", "2,1,4.1,150"],
            ",n",
            [],
            id="a change in percent",
        ),
        pytest.param(
            PERCENT,
            [
                f"{x},1,{value},{n}"
                for x, (value, n) in enumerate(
                    [("50", 2), ("33", 3), ("25", 4), ("20", 5), ("17", 6), ("14", 7), ("13", 1000)]
                )
            ],
            ",n",
            [
                (
                    "passed",
                    "6 of 6 values are possible with 2 to 7 trials.",
                    "5.4 % of all values from 0 to 100 with no decimals are possible, so the "
                    "check detects 94.6 % of random mistakes.",
                ),
                (
                    "says nothing",
                    "1 of 1 value is possible with 1,000 trials.",
                    "100.0 % of all values from 0 to 100 with no decimals are possible, so the "
                    "check says nothing.",
                ),
            ],
            id="many numbers of trials",
        ),
        pytest.param(
            PERCENT + "roles: {repeat: replicate}\n",
            ["1,1,42.7,150", "1,1,40.0,150", "2,1,40.7,150"],
            ",n",
            [
                (
                    "passed",
                    "1 of 1 value is possible with 150 trials.",
                    "15.1 % of all values from 0 to 100 with 1 decimal are possible, so the check "
                    "detects 84.9 % of random mistakes.",
                )
            ],
            id="a mean of repeats is no count",
        ),
    ],
)
def test_what_can_be_said_of_counts(
    make_study: MakeStudy,
    head: str,
    grid: list[str],
    columns: str,
    expected: list[tuple[str, str, str]],
) -> None:
    study = make_study(head, table(f"rate,depth,value{columns}", *grid))
    assert [as_texts(result) for result in of_kind(study, "k-of-n")] == expected


def test_very_long_numbers_are_no_error(make_study: MakeStudy) -> None:
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


@pytest.mark.parametrize(
    ("grids", "statement", "found"),
    [
        pytest.param(
            {"a": "10.0 20.0", "b": "20.0 31.0", "mean": "15.0 25.5"},
            "2 of 2 printed aggregates are the mean of 2 printed parts, within rounding (0.1).",
            [],
            id="exactly",
        ),
        pytest.param(
            # As binary floats, 52.1 is further than 0.1 from the mean of 51.9 and 52.1.
            {"a": "10.0 0.2 51.9", "b": "20.0 0.2 52.1", "mean": "15.1 0.3 52.1"},
            "3 of 3 printed aggregates are the mean of 2 printed parts, within rounding (0.1).",
            [],
            id="as far off as rounding allows",
        ),
        pytest.param(
            {"a": "10.0 20.0", "b": "20.0 31.0", "mean": "15.2 25.5"},
            "1 of 2 printed aggregates is the mean of 2 printed parts, within rounding (0.1).",
            [
                "1 of 2 values is not the mean of 2 parts: 15.2 (10.0, 20.0 give 15) at rate 1, "
                "depth 1"
            ],
            id="off",
        ),
        pytest.param(
            {"a": "10.0 -", "b": "20.0 31.0", "mean": "15.0 25.5"},
            "1 of 1 printed aggregate is the mean of 2 printed parts, within rounding (0.1). 1 "
            "more can't be checked: a part is missing.",
            [],
            id="a part is absent",
        ),
    ],
)
def test_printed_aggregates_are_held_against_their_printed_parts(
    make_study: MakeStudy, grids: dict[str, str], statement: str, found: list[str]
) -> None:
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


def test_aggregates_of_absent_parts_cannot_be_checked(make_study: MakeStudy) -> None:
    cells = [*rows("10.0 -", "a"), *rows("- 31.0", "b"), *rows("15.0 25.5", "mean")]
    (result,) = of_kind(make_study(AVERAGE, table("bench,rate,depth,value", *cells)), "aggregate")
    expected = ("not testable", "No aggregate can be checked: each lacks a part.", "")
    assert as_texts(result) == expected


def test_no_aggregate_has_no_result(make_study: MakeStudy) -> None:
    assert of_kind(one_grid(make_study, "1 2\n3 4"), "aggregate") == []


READINGS = "readings:\n  - {id: one, file: one.csv}\n  - {id: two, file: two.csv}\n"


def two_readings(make_study: MakeStudy, more: str, first: list[str], two: list[str]) -> Study:
    head = "bench,rate,depth,value" if "bench" in more else "rate,depth,value"
    files = {"one.csv": table(head, *first), "two.csv": table(head, *two)}
    return make_study(more + READINGS, None, files)


def test_parts_may_come_from_another_reading(make_study: MakeStudy) -> None:
    parts = [*rows("10.0 20.0", "a"), *rows("20.0 31.0", "b")]
    study = two_readings(make_study, AVERAGE, parts, rows("15.0 25.9", "mean"))
    (result,) = of_kind(study, "aggregate")
    (finding,) = result.findings
    assert (result.reading, finding.reading, finding.severity) == ("two", "two", "problem")
    assert finding.found == (
        "1 of 2 values is not the mean of 2 parts: 25.9 (20.0, 31.0 give 25.5) at rate 2, depth 1"
    )


def test_a_reading_is_held_against_its_own_parts_and_what_is_shown_against_what_is_shown(
    make_study: MakeStudy,
) -> None:
    parts = [*rows("10.0 20.0", "a"), *rows("20.0 31.0", "b")]
    own = [*rows("12.0 20.0", "a"), *rows("20.0 31.0", "b"), *rows("16.0 25.5", "mean")]
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


def test_a_repeated_row_is_found(make_study: MakeStudy) -> None:
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


def test_a_repeated_column_is_found(make_study: MakeStudy) -> None:
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


@pytest.mark.parametrize(
    ("grid", "expected"),
    [
        pytest.param(
            "1 2 3\n4 5 6\n7 8 9",
            ("passed", "No grid has a repeated row (1 grid checked).", NO_COPY.format("row")),
            id="none",
        ),
        pytest.param(
            "1 2 1\n1 2 1\n2 1 2\n2 2 1",
            (
                "passed",
                "1 row is repeated (1 grid checked); chance explains 1 of them.",
                NO_COPY.format("row"),
            ),
            id="few values, so chance",
        ),
        pytest.param(
            "0 0 0 0\n0 0 0 0\n100 100 100 100\n100 100 100 100\n1 2 3 4",
            ("passed", "No grid has a repeated row (1 grid checked).", NO_COPY.format("row")),
            id="constant at an end",
        ),
        pytest.param(
            # 5 in 7 of 10 places that are no ends: that these are equal is no wonder.
            "5 0 0 0 0 0\n5 0 0 0 0 0\n5 0 0 0 0 0\n5 5 0 0 0 0\n1 5 2 5 3 0",
            (
                "passed",
                "1 row is repeated (1 grid checked); chance explains 1 of them.",
                NO_COPY.format("row"),
            ),
            id="all but one at an end",
        ),
        pytest.param("1 2\n1 2\n3 4", None, id="too short"),
        pytest.param("1 2 3\n1 2 -\n3 - 4", None, id="too few are whole"),
    ],
)
def test_rows_that_are_not_found(
    make_study: MakeStudy, grid: str, expected: tuple[str, str, str] | None
) -> None:
    results = of_kind(one_grid(make_study, grid), "repeated-row")
    assert [as_texts(result) for result in results] == ([expected] if expected else [])


def test_rows_that_are_equal_because_the_factor_does_nothing_are_not_found(
    make_study: MakeStudy,
) -> None:
    """Only the random order would find them: the columns' values hardly differ between rows."""
    grid = "10 20 30 40 50\n10 20 30 40 51\n10 20 30 40 50\n11 20 30 40 50\n10 21 30 40 50"
    (result,) = of_kind(one_grid(make_study, grid), "repeated-row")
    assert as_texts(result)[:2] == (
        "passed",
        "1 row is repeated (1 grid checked); chance explains 1 of them.",
    )


@pytest.mark.parametrize(
    ("counts", "times", "width"),
    [
        ([2, 1, 1], 2, 1),
        ([2, 2, 1], 2, 2),
        ([3, 2, 1], 2, 2),
        ([4, 2], 2, 3),
        ([4, 3, 1], 2, 3),
        ([3, 3, 1], 3, 2),
        ([1, 1, 1, 1], 2, 2),
        ([7], 2, 3),
    ],
)
def test_the_chance_of_equal_lines_is_exact(counts: list[int], times: int, width: int) -> None:
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
def test_fewer_equal_lines_or_places_are_not_less_likely(
    counts: list[int], times: int, width: int
) -> None:
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
def test_lines_of_a_large_grid_are_judged_by_a_bound(
    make_study: MakeStudy, value: Any, repeated: int, chance: str
) -> None:
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


def test_copied_rows_of_a_large_grid_are_found(make_study: MakeStudy) -> None:
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


@pytest.mark.parametrize(
    ("axis", "factor", "lines"),
    [
        pytest.param("column", "rate", NEEDLE.split("\n"), id="columns"),
        pytest.param(
            "row",
            "depth",
            [
                " ".join(line)
                for line in zip(*map(str.split, NEEDLE.split("\n")[1:-1]), strict=True)
            ],
            id="rows",
        ),
    ],
)
def test_constant_lines_are_no_copies_but_a_note(
    make_study: MakeStudy, axis: str, factor: str, lines: list[str]
) -> None:
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


def test_a_copied_line_beside_constant_ones_is_still_a_problem(make_study: MakeStudy) -> None:
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


def test_a_long_run_of_one_value_is_found(make_study: MakeStudy) -> None:
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


def test_a_run_down_a_column_is_found(make_study: MakeStudy) -> None:
    turned = zip(*(line.split() for line in RUN.strip().splitlines()), strict=True)
    study = one_grid(make_study, "\n".join(" ".join(line) for line in turned))
    (finding,) = of_kind(study, "constant-run")[0].findings
    assert finding.found == "67 in 4 neighbouring cells: rate 2, depth 3 to 6"
    assert finding.cells == (("2", "3"), ("2", "4"), ("2", "5"), ("2", "6"))


@pytest.mark.parametrize(
    ("grid", "statement"),
    [
        pytest.param(
            RUN.replace("67", "100"),
            "No value fills three neighbouring cells (1 grid checked).",
            id="at an end of the range",
        ),
        pytest.param(
            RUN.replace("67 67 67 67", "67 67 - 67"),
            "No value fills three neighbouring cells (1 grid checked).",
            id="a cell between is absent",
        ),
        pytest.param(
            RUN.replace("67 67 67 67", "67 67 67 68"),
            "The longest run of one value has 3 cells (1 grid checked); no run is longer than "
            "chance explains.",
            id="short",
        ),
        pytest.param(
            "10 10 10 10 10\n20 20 20 20 20\n30 30 30 30 30\n40 40 40 40 40",
            "The longest run of one value has 5 cells (1 grid checked); no run is longer than "
            "chance explains.",
            id="x does nothing",
        ),
        pytest.param(
            "97 98 99 99 99 99\n98 99 99 99 99 99\n98 98 99 99 99 99\n97 98 98 99 99 99",
            "The longest run of one value has 5 cells (1 grid checked); no run is longer than "
            "chance explains.",
            id="a plateau",
        ),
    ],
)
def test_runs_that_are_not_found(make_study: MakeStudy, grid: str, statement: str) -> None:
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
def test_a_run_at_an_end_of_the_scale_is_a_note(
    make_study: MakeStudy, head: str, grid: str, severity: str
) -> None:
    (result,) = of_kind(one_grid(make_study, grid, head=head), "constant-run")
    (finding,) = result.findings
    means = ONE_VALUE if severity == "note" else CARRIED
    assert (finding.severity, finding.means) == (severity, means)


def test_the_chance_of_a_run_is_not_below_what_shuffling_gives() -> None:
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
    neighbours = {
        "row": _Neighbours.of(codes),
        "column": _Neighbours.of(zip(*codes, strict=True)),
    }
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


@pytest.mark.parametrize(
    ("grid", "statement", "found"),
    [
        pytest.param("47.3 40.0 41.3", "3 of 3 values have 1 decimal.", [], id="all alike"),
        pytest.param("47 40 41", "3 of 3 values have no decimals.", [], id="none"),
        pytest.param(
            "47.3 40.0 41.3 47\n42.0 42.7 45.3 45.3",
            "7 of 8 values have 1 decimal.",
            [
                (
                    "problem",
                    "1 of 8 values is not printed with 1 decimal: 47 at rate 4, depth 1",
                    "The others have 1 decimal, with zeros at the end.",
                )
            ],
            id="one lost",
        ),
        pytest.param(
            "47.3 40.1 41.3 47.25\n42.1 42.7 45.3 45.3",
            "7 of 8 values have 1 decimal.",
            [
                (
                    "problem",
                    "1 of 8 values is not printed with 1 decimal: 47.25 at rate 4, depth 1",
                    "The others have 1 decimal.",
                )
            ],
            id="one more",
        ),
        pytest.param(
            "47.3 40.1 41.3 47\n42.1 42.7 45.3 45.3",
            "7 of 8 values have 1 decimal.",
            [
                (
                    "note",
                    "1 of 8 values is not printed with 1 decimal: 47 at rate 4, depth 1",
                    "Not certain: none of the 7 values with 1 decimal ends in 0, so the source "
                    "may drop zeros at the end.",
                )
            ],
            id="zeros may have been left out",
        ),
        pytest.param(
            "12.6 31.4 47.3 8.32\n42.0 42.7 45.3 45.4",
            "7 of 8 values have 1 decimal.",
            [
                (
                    "note",
                    "1 of 8 values is not printed with 1 decimal: 8.32 at rate 4, depth 1",
                    "Not certain: all values may be rounded to the same number of digits.",
                )
            ],
            id="three digits of each",
        ),
        pytest.param(
            "12 43 14 8.5\n42 27 45 54",
            "7 of 8 values have no decimals.",
            [
                (
                    "note",
                    "1 of 8 values is not printed with no decimals: 8.5 at rate 4, depth 1",
                    "Not certain: all values may be rounded to the same number of digits.",
                )
            ],
            id="whole numbers and a half",
        ),
        pytest.param(
            "5 43 14 18.5\n6 27 45 54",
            "7 of 8 values have no decimals.",
            [
                (
                    "note",
                    "1 of 8 values is not printed with no decimals: 18.5 at rate 4, depth 1",
                    "Not certain: the source may drop zeros at the end.",
                )
            ],
            id="counts, and the mean of two",
        ),
    ],
)
def test_other_decimals_than_the_rest_are_found(
    make_study: MakeStudy, grid: str, statement: str, found: list[tuple[str, str, str]]
) -> None:
    (result,) = of_kind(one_grid(make_study, grid), "decimals")
    assert as_texts(result) == ("found" if found else "passed", statement, TYPED)
    assert [(finding.severity, finding.found, finding.sure) for finding in result.findings] == found
    assert {finding.means for finding in result.findings} <= {MAYBE}


@pytest.mark.parametrize(
    ("grid", "statement"),
    [
        pytest.param(
            "\n".join(" ".join(f"{x}.{y}" for x in range(40, 46)) for y in range(1, 10))
            + "\n40 41 42 43 44 45",
            "54 of 60 values have 1 decimal. None of them ends in 0.",
            id="zeros were left out",
        ),
        pytest.param(
            "70.13812345678901 63.2512345678901 71.11345678901234\n"
            "68.99123456789012 60.00123456789012 59.49123456789012",
            "The 6 values have 13 to 14 decimals.",
            id="floats",
        ),
        pytest.param(
            "88.22366 53.81001 61.00419\n71.11052 57.90017 49.133682",
            "The 6 values have 5 to 6 decimals.",
            id="single precision",
        ),
    ],
)
def test_values_that_a_program_wrote_are_not_judged(
    make_study: MakeStudy, grid: str, statement: str
) -> None:
    (result,) = of_kind(one_grid(make_study, grid), "decimals")
    assert as_texts(result) == ("not testable", statement, WRITTEN)


def test_values_that_stand_in_many_cells_count_once(make_study: MakeStudy) -> None:
    """Nearly all right of 80: 98.75 is as well printed as 100.0, which most cells have."""
    (result,) = of_kind(one_grid(make_study, "100.0 " * 12 + "98.75 97.5"), "decimals")
    assert as_texts(result)[:2] == ("not testable", "The 14 values have 1 to 2 decimals.")


def test_values_of_a_program_have_no_usual_number_of_decimals(make_study: MakeStudy) -> None:
    (result,) = of_kind(one_grid(make_study, "0.4731 0.5 0.33333 0.25"), "decimals")
    assert as_texts(result) == (
        "not testable",
        "The 4 values have 1 to 5 decimals.",
        "Too many values differ: there is no usual number of decimals to compare with.",
    )


def test_a_grid_with_its_own_number_of_decimals_is_a_note(make_study: MakeStudy) -> None:
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


def test_the_mean_of_repeats_has_its_own_decimals(make_study: MakeStudy) -> None:
    cells = table("rate,depth,value", *rows("47.3 40.0 41.3"), "4,1,40.0", "4,1,40.1", "4,1,40.3")
    (result,) = of_kind(make_study(PERCENT + "roles: {repeat: replicate}\n", cells), "decimals")
    assert as_texts(result)[1] == "3 of 3 values have 1 decimal."


# --- the stated range ---------------------------------------------------------------------------


def test_a_stated_range_that_the_values_leave_is_a_note(make_study: MakeStudy) -> None:
    stated = (
        PERCENT + "facets: [bench]\nreadings:\n  - id: one\n    file: one.csv\n"
        "    stated_range: [{bench: a, range: [31, 36]}, {bench: b, range: [40, 50]}]\n"
    )
    cells = [*rows("30.7 33.3\n31.0 38.0", "a"), *rows("40.0 50.0", "b"), *rows("1.0 2.0", "c")]
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


def findings_of(study: Study, reading: Reading) -> tuple[Finding, ...]:
    results = reading_results(study, reading)
    return tuple(finding for result in results for finding in result.findings)


def test_a_finding_in_a_reading_that_supplies_no_shown_value_is_a_note(
    make_study: MakeStudy,
) -> None:
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


def test_with_more_grids_a_finding_must_be_less_likely(make_study: MakeStudy) -> None:
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


def _copied(make_study: MakeStudy, *accepted: str) -> Study:
    """A study with one finding, at depth 2 and 4 of bench a; entries are on lines 8, 9, …"""
    more = "accepted:\n" + "".join(f"  - {{{entry}}}\n" for entry in accepted)
    cells = table("bench,rate,depth,value", *rows(COPIED, "a"), *rows("1.0 2.5 3.0", "b"))
    return make_study(BENCH + (more if accepted else ""), cells)


@pytest.mark.parametrize(
    ("at", "covers"),
    [
        ("", True),
        ("bench: a, depth: [2, 4]", True),
        ("depth: [2, 4]", True),
        ("bench: a", True),
        ("depth: [1, 2, 3, 4]", True),
        ("depth: [2.0, '4']", True),
        ("depth: [2, 4], rate: [1, 2, 3, 4, 5]", True),
        ("depth: [2, 3]", False),
        ("depth: 2", False),
        ("bench: b", False),
        ("depth: [2, 4], rate: [1, 2]", False),
        ("bench: a, layer: 2", False),
    ],
)
def test_an_acceptance_names_a_finding_that_lies_within_it(
    make_study: MakeStudy, at: str, covers: bool
) -> None:
    study = _copied(make_study, f"finding: repeated-row, at: {{{at}}}, because: seen in the paper")
    found = check_study(study)
    (finding,) = found.findings
    assert finding.accepted == (study.accepted[0] if covers else None)
    assert [problem.kind for problem in found.problems] == (
        [] if covers else ["repeated-row", "unused-acceptance"]
    )


def test_a_finding_that_is_not_accepted_is_a_problem_with_the_entry_to_add(
    make_study: MakeStudy,
) -> None:
    (problem,) = check_study(_copied(make_study)).problems
    assert str(problem) == (
        'data/demo/cells.csv:7, "value": problem [repeated-row]\n  found:    a: rows 2 and 4 '
        "(depth) have the same values: 44.7, 46.0, 40.7, 43.3, 45.3\n  expected: rows that "
        "differ\n  fix:      correct the values; if the source has them so, add under accepted in "
        'study.yml: - {finding: repeated-row, at: {bench: a, depth: [2, 4]}, because: "…"}'
    )


ENTRY = '- {finding: repeated-row, at: {bench: a, depth: [2, 4]}, because: "…"}'


@pytest.mark.parametrize(
    ("entry", "found", "expected", "fix"),
    [
        (
            "finding: repeated-row, at: {bench: a, depth: [2, 3]}, because: b",
            "no finding repeated-row at bench = a; depth = 2, 3",
            f"a finding of this kind that occurs: {ENTRY}",
            "correct at, or remove this entry",
        ),
        (
            "finding: constant-run, because: b",
            "no finding constant-run",
            "a finding that the checks give",
            "remove this entry; what it accepts no longer occurs",
        ),
        (
            "finding: repeated-rows, because: b",
            "no finding repeated-rows",
            "one of aggregate, k-of-n, repeated-row, repeated-column, constant-run, "
            "copied-replicate, decimals, fractions, disputed, stated-range, transcription",
            "write repeated-row instead of repeated-rows",
        ),
        (
            "finding: xyz, because: b",
            "no finding xyz",
            "one of aggregate, k-of-n, repeated-row, repeated-column, constant-run, "
            "copied-replicate, decimals, fractions, disputed, stated-range, transcription",
            "use one of them",
        ),
        (
            "finding: repeated-row, at: {dept: [2, 4]}, because: b",
            "no finding repeated-row at dept = 2, 4",
            "a factor of this study: bench, rate, depth",
            "write depth instead of dept",
        ),
        (
            "finding: repeated-row, at: {xyz: 1}, because: b",
            "no finding repeated-row at xyz = 1",
            "a factor of this study: bench, rate, depth",
            "use one, or remove xyz",
        ),
    ],
)
def test_an_acceptance_of_what_is_not_there_is_a_problem(
    make_study: MakeStudy, entry: str, found: str, expected: str, fix: str
) -> None:
    accepted = "finding: repeated-row, at: {depth: [2, 4]}, because: known"
    study = _copied(make_study, accepted, entry)
    (problem,) = check_study(study).problems
    assert str(problem) == (
        'data/demo/study.yml:9, "accepted.1": problem [unused-acceptance]\n'
        f"  found:    {found}\n"
        f"  expected: {expected}\n"
        f"  fix:      {fix}"
    )


def test_the_entry_in_the_message_accepts_the_finding_whatever_its_levels_are_called(
    make_study: MakeStudy,
) -> None:
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


@pytest.fixture(scope="module")
def studies() -> dict[str, Study]:
    loaded = load_data(REPOSITORY / "data", "data")
    return {study_id: assessment.study for study_id, assessment in loaded.items()}


def test_the_printed_values_of_dynts_pass(studies: dict[str, Study]) -> None:
    study = studies["dynts-window-ratio"]
    results = check_study(study).results
    (averages,) = [result for result in results if result.kind == "aggregate"]
    assert as_texts(averages) == (
        "passed",
        "40 of 40 printed aggregates are the mean of 4 printed parts, within rounding (0.1). 40 "
        "of 40 are also the mean of the shares of trials behind their parts, rounded.",
        "Detects an aggregate that is off by more than 0.2, and a part that is off by more than "
        "0.8. Smaller mistakes can go unnoticed, and several can cancel out.",
    )
    for reading in ("r1-qwen", "r1-llama"):
        counts = [
            result for result in results if (result.kind, result.reading) == ("k-of-n", reading)
        ]
        assert [(count.title, *as_texts(count)) for count in counts] == [
            (
                "Values as counts of 150 trials",
                "passed",
                "40 of 40 values are possible with 150 trials.",
                "15.1 % of all values from 0 to 100 with 1 decimal are possible, so the check "
                "detects 84.9 % of random mistakes.",
            ),
            (
                "Values as counts of 200 trials",
                "passed",
                "20 of 20 values are possible with 200 trials.",
                "20.1 % of all values from 0 to 100 with 1 decimal are possible, so the check "
                "detects 79.9 % of random mistakes.",
            ),
            (
                "Values as counts of 990 trials",
                "says nothing",
                "20 of 20 values are possible with 990 trials.",
                "99.0 % of all values from 0 to 100 with 1 decimal are possible, so the check "
                "says nothing.",
            ),
        ]


def test_the_second_reading_of_r1_qwen_has_values_that_are_no_counts(
    studies: dict[str, Study],
) -> None:
    findings = check_study(studies["dynts-window-ratio"]).findings
    second = [finding for finding in findings if finding.reading == "r1-qwen-second"]
    assert [(finding.kind, finding.levels, finding.severity) for finding in second] == [
        ("k-of-n", ("r1-qwen", "aime25"), "problem"),  # accepted: its document has them
        # It states one colour bar, from -88 to -52, for four heatmaps of shares.
        *(
            ("stated-range", ("r1-qwen", benchmark), "note")
            for benchmark in ("aime24", "aime25", "amc23", "gpqa_d")
        ),
    ]
    assert second[0].found == (
        "2 of 8 values are impossible with 150 trials: 35.7 (53 of 150 is 35.3 and 54 of 150 is "
        "36.0) at ratio 0.1, local window size 1000; 34.3 (51 of 150 is 34.0 and 52 of 150 is "
        "34.7) at ratio 0.3, local window size 1000"
    )
    unsettled = [f for f in findings if f.severity == "problem" and f.accepted is None]
    assert unsettled == []


SECOND = (
    PERCENT
    + "reconcile: primary\nreadings:\n  - {id: first, file: cells.csv}\n"
    + "  - {id: second, file: second.csv, text: second.md%s}\n"
)


@pytest.mark.parametrize(
    ("more", "value", "expected"),
    [
        pytest.param("", "36.7", [], id="as in its document"),
        pytest.param(
            "",
            "37.6",
            [
                (
                    "k-of-n",
                    "1 of 4 values is impossible with 150 trials: 37.6 (56 of 150 is 37.3 and 57 "
                    "of 150 is 38.0) at rate 2, depth 1",
                ),
                (
                    "transcription",
                    "1 of 4 values is not the same as in second.md: 37.6 (line 3 has 36.7) at "
                    "rate 2, depth 1",
                ),
            ],
            id="two digits swapped",
        ),
        pytest.param(
            "",
            "36.0",
            [
                (
                    "transcription",
                    "1 of 4 values is not the same as in second.md: 36.0 (line 3 has 36.7) at "
                    "rate 2, depth 1",
                )
            ],
            id="another possible count",
        ),
        pytest.param(
            ", approximate: true",
            "37.6",
            [
                (
                    "transcription",
                    "1 of 4 values is not the same as in second.md: 37.6 (line 3 has 36.7) at "
                    "rate 2, depth 1",
                )
            ],
            id="estimates are no counts",
        ),
    ],
)
def test_a_reading_that_is_not_shown_may_not_contradict_itself(
    checked: Checked, more: str, value: str, expected: list[tuple[str, str]]
) -> None:
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


def test_the_identical_rows_and_the_run_of_grpo_digits_are_found(
    studies: dict[str, Study],
) -> None:
    study = studies["grpo-digits"]
    first = [
        finding
        for finding in findings_of(study, study.readings[0])
        if finding.severity == "problem"
    ]
    assert [
        (finding.kind, finding.levels, finding.severity, finding.found) for finding in first
    ] == [
        (
            "repeated-row",
            ("after_t100",),
            "problem",
            "rows 9 and 10 (number of y's digits) have the same values: 3, 9, 9, 10, 4, 1, 0, 1, "
            "2, 2",
        ),
        (
            "constant-run",
            ("after_t125",),
            "problem",
            "67 in 9 neighbouring cells: number of y's digits 4, number of x's digits 2 to 10",
        ),
    ]
    # 0 doesn't count: nine values in two rows. The disputed row has no value to be checked.
    assert [finding.sure for finding in first] == [
        "Highest chance of such rows in one grid: below 1 in 1,000,000,000 if its values are in "
        "random order, below 1 in 1,000,000,000 if two rows have the same value at the same place "
        "as often as elsewhere in the grid (20 of 270 times). Values at the ends of the range "
        "don't count. The check reports chances below 1 in 300 (1 in 100 over 3 grids).",
        "Highest chance of such a run in one grid: below 1 in 1,000,000,000 if its values are in "
        "random order, 1 in 5,000 if neighbours in a row are equal as often as elsewhere in the "
        "grid (17 of 73 times). Values at the ends of the range don't count. The check reports "
        "chances below 1 in 300 (1 in 100 over 3 grids).",
    ]


def test_the_measurement_of_the_checks_gives_the_same_every_time() -> None:
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


def test_the_row_that_cannot_be_placed_is_a_finding_that_is_accepted() -> None:
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
