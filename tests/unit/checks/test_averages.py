"""Averages that were computed otherwise than nearly all others of their reading."""

import random
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from builders import table

from gridatlas.checks import check_study
from gridatlas.checks.averages import (
    FROM_EITHER,
    FROM_PRINTED,
    FROM_SHARES,
    Part,
    average_of,
    outliers,
)
from gridatlas.checks.words import odds_text

TRIALS = (150, 150, 200, 990)
READINGS = 60


def printed(value, up=True):
    """Rounded to one decimal, a half up or down."""
    whole, rest = divmod(value * 10, 1)
    more = rest > Fraction(1, 2) or (up and rest == Fraction(1, 2))
    return Decimal(whole + more).scaleb(-1)


def from_shares(_, shares, __):
    return printed(sum(shares, Fraction(0)) / len(shares))


def from_printed_up(_, __, parts):
    return printed(Fraction(sum(parts)) / len(parts))


def from_printed_either(rng, _, parts):
    return printed(Fraction(sum(parts)) / len(parts), rng.random() < 0.5)


def averages(rng, compute, trials=TRIALS, number=40):
    """Averages of shares of trials; where the trials aren't known, of numbers of any kind."""
    made = []
    for index in range(number):
        shares = [
            Fraction(100 * rng.randrange(n + 1), n) if n else Fraction(rng.uniform(0, 100))
            for n in trials
        ]
        parts = [printed(share) for share in shares]
        value = compute(rng, shares, parts)
        with_trials = [Part(part, n) for part, n in zip(parts, trials, strict=True)]
        made.append(average_of((), (str(index), ""), value, with_trials, 100))
    return made


def moved(average, by):
    return replace(average, value=average.value + Decimal(by))


@pytest.mark.parametrize(
    ("part", "low", "high"),
    [
        pytest.param(Part(Decimal("42.7"), 150), "128/3", "128/3", id="one count"),
        pytest.param(Part(Decimal("45.1"), 990), "4460/99", "4470/99", id="rounded twice: 45.1515"),
        pytest.param(
            Part(Decimal("45.1"), 990, 446), "4460/99", "4460/99", id="the count is given"
        ),
        pytest.param(Part(Decimal("42.6"), 150), "4255/100", "4265/100", id="no count"),
        pytest.param(Part(Decimal("42.7")), "4265/100", "4275/100", id="trials unknown"),
    ],
)
def test_what_a_part_may_be_before_rounding(part, low, high):
    assert part.interval(100) == (Fraction(low), Fraction(high))


@pytest.mark.parametrize(
    ("compute", "way", "alarms"),
    [
        pytest.param(from_shares, FROM_SHARES, 0, id="shares"),
        pytest.param(from_printed_up, FROM_PRINTED, 1, id="printed, halves up"),
        pytest.param(from_printed_either, FROM_PRINTED, 0, id="printed, either way"),
    ],
)
def test_correct_averages_of_shares_are_outliers_in_fewer_than_1_of_100_readings(
    compute, way, alarms
):
    """Each reading has 40 averages, judged by how it was computed, or by both ways."""
    ways, apart = set(), 0
    for seed in range(READINGS):
        found = outliers(averages(random.Random(seed), compute))
        ways.add(found.way)
        apart += bool(found.averages)
    assert {way, FROM_EITHER} <= ways
    assert apart == alarms


def test_correct_averages_of_numbers_of_any_kind_are_no_outliers():
    """Rounding puts 1 to 4 averages beyond half a unit in half of these readings."""
    beyond, apart = 0, 0
    for seed in range(READINGS):
        made = averages(random.Random(seed), from_shares, (None,) * 4)
        beyond += 1 <= sum(not average.is_from_printed(average.value) for average in made) <= 4
        found = outliers(made)
        apart += bool(found and found.averages)
    assert (beyond, apart) == (34, 0)


@pytest.mark.parametrize(
    ("compute", "trials", "least"),
    [
        pytest.param(from_shares, TRIALS, 0.8, id="shares"),
        pytest.param(from_printed_up, TRIALS, 0.8, id="printed"),
        pytest.param(from_printed_up, (None,) * 4, 0.45, id="printed, trials unknown"),
    ],
)
def test_an_average_that_is_off_by_a_tenth_stands_out(compute, trials, least):
    """Rounding alone allows 0.1, and shows a third of these."""
    caught, tries = 0, READINGS
    for seed in range(tries):
        rng = random.Random(seed)
        made = averages(rng, compute, trials)
        made[7] = moved(made[7], rng.choice(("0.1", "-0.1")))
        found = outliers(made)
        caught += bool(found and [average.point for average in found.averages] == [("7", "")])
    assert caught > least * tries


@pytest.mark.parametrize(
    ("chance", "text"),
    [
        (Fraction(1, 583), "1 in 580"),
        (Fraction(1, 10**10), "below 1 in 1,000,000,000"),
        (Fraction(0), "below 1 in 1,000,000,000"),
    ],
)
def test_a_chance_in_words(chance, text):
    assert odds_text(chance) == text


def test_few_averages_and_averages_of_no_one_kind_say_nothing():
    rng = random.Random(1)
    assert outliers(averages(rng, from_shares, number=9)) is None
    made = averages(rng, from_shares, (None,) * 4)
    assert outliers(made) is None
    off = [
        moved(average, "0.3") if index % 5 == 0 else average for index, average in enumerate(made)
    ]
    assert outliers(off) is None


# --- in a study ---------------------------------------------------------------------------------

STUDY = """format: 1
title: A demo
metric: {name: Accuracy, better: higher, unit: "%", range: [0, 100]}
x: rate
y: depth
facets: [bench]
factors:
  bench:
    levels: [{id: a, items: 30}, {id: b, items: 40}, {id: mean, aggregate: {by: mean}}]
trials: {items: bench, samples: 5}
"""


def test_the_average_that_is_unlike_the_others_is_a_problem(make_study):
    rng = random.Random(3)
    lines = []
    for x in range(1, 7):
        for y in range(1, 6):
            counts = [rng.randrange(151), rng.randrange(201)]
            shares = [Fraction(100 * counts[0], 150), Fraction(counts[1], 2)]
            value = printed(sum(shares) / 2)
            if (x, y) == (3, 2):
                value += Decimal("0.1")
            lines += [f"a,{x},{y},{printed(shares[0])}", f"b,{x},{y},{printed(shares[1])}"]
            lines.append(f"mean,{x},{y},{value}")
    study = make_study(STUDY, table("bench,rate,depth,value", *lines))
    checks = check_study(study)
    (result,) = [result for result in checks.results if result.kind == "aggregate"]
    assert result.statement == (
        "30 of 30 printed aggregates are the mean of 2 printed parts, within rounding (0.1). 29 "
        "of 30 are also the mean of the shares of trials behind their parts, rounded."
    )
    (finding,) = result.findings
    assert (finding.severity, finding.levels, finding.cells) == (
        "problem",
        ("mean",),
        (("3", "2"),),
    )
    assert (finding.found, finding.means, finding.sure) == (
        "29 of 30 aggregates are the mean of the shares of trials behind their parts, rounded; "
        "this one is not: 27.5 (its parts give 27.4167, 0.0833 off) at rate 3, depth 2",
        "The aggregate or one of its parts is wrong. Or it was computed differently from the "
        "others.",
        "Chance that so many aggregates fit if they were computed differently: 1 in 250. The "
        "check reports chances below 1 in 100.",
    )
    (problem,) = checks.problems
    assert (problem.kind, problem.file, problem.line) == ("aggregate", "data/demo/cells.csv", 37)
