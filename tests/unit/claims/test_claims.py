"""The claim language: what expressions come to, and what is said of wrong ones."""

import math
import re
import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
import yaml
from amount import amount
from builders import calls, real_data, write_study
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from gridatlas import load
from gridatlas.assessment.pipeline import load_data
from gridatlas.claims import ClaimError, Judged, evaluate, evaluate_value, judge
from gridatlas.claims.judge import evaluate_given
from gridatlas.model.schema import ClaimEntry
from gridatlas.model.study import Factor, Level
from gridatlas.pages.plan import claims_about

REPOSITORY = Path(__file__).parents[3]

DEMO = """\
format: 1
title: A demo
metric: {name: Score, better: higher}
x: rate
y: size
facets: [model]
factors:
  model: {levels: [a, b, gap, tied, mirror]}
readings:
  - {id: first, file: first.csv, label: First}
  - {id: second, file: second.csv, label: Second}
"""
ROWS = {
    "a": ("1 2 3", "4 5 6"),
    "b": ("1 3 2", "4 0 6"),
    "gap": ("1 2 -", "4 5 6"),
    "tied": ("5 5 1", "5 2 1"),
    "mirror": ("3 2 1", "6 5 4"),
}
"""Per model the row of size 10 and that of size 20, over the rates 0.1, 0.2 and 0.3."""
LOSS = """\
format: 1
title: Losses
metric: {name: Loss, better: lower}
x: model-size
y: 2 depth
factors:
  model-size: {levels: [tiny, small, large]}
"""


def _cells(rows):
    lines = ["model,rate,size,value"]
    for model, pair in rows.items():
        for size, row in zip(("10", "20"), pair, strict=True):
            for rate, value in zip(("0.1", "0.2", "0.3"), row.split(), strict=True):
                if value != "-":
                    lines.append(f"{model},{rate},{size},{value}")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    data = tmp_path_factory.mktemp("claims") / "data"
    losses = "model-size,2 depth,value\n" + "".join(
        f"{size},{depth},{value}\n"
        for size, depth, value in [
            ("tiny", 1, "3.5"), ("small", 1, "2.5"), ("large", 1, "2.5"),
            ("tiny", 2, "3.25"), ("small", 2, "3"), ("large", 2, "2.75"),
        ]
    )  # fmt: skip
    readings = {"first.csv": _cells(ROWS), "second.csv": _cells({"a": ("7 2 3", "4 5 -")})}
    write_study(data / "demo", DEMO, None, readings)
    write_study(data / "loss", LOSS, losses)
    return load(data)


A, B, GAP, TIED = (f'grid(model="{name}")' for name in ("a", "b", "gap", "tied"))
LOST = 'grid(study="loss")'


# --- outcomes -----------------------------------------------------------------------------------

OUTCOMES = {
    # Cell by cell
    f"({A} > 0).all": "true",
    f"({A} > 1).all": "false",
    f"({A} >= 6).any": "true",
    f"({A} > 6).any": "false",
    f"({A} >= {B}).all": "false",
    f"({A} != {B}).count == 3": "true",
    f"({A} == {B}).share == 0.5": "true",
    f"({A} + {A} == 2 * {A}).all": "true",
    f"({A} - {A} == 0).all": "true",
    f"({A} / 3 * 3 == {A}).all": "true",
    f"({A} / 3 - {A} * (1 / 3) == 0).all": "true",
    f"(-{A} < 0).all": "true",
    f"(+{A} > 0).all": "true",
    f"(10 - {A} >= 4).all": "true",
    # Truths, cell by cell
    f"({A} > 1).and_({A} < 6).count == 4": "true",
    f"({A} < 2).or_({A} > 5).count == 2": "true",
    f"({A} > 1).not_().count == 1": "true",
    # Plain numbers are decimals
    "0.1 + 0.2 == 0.3": "true",
    "1 - 0.9 == 0.1": "true",
    "0.10 == 0.1": "true",
    "1 / 3 * 3 == 1": "true",
    "1 / 3 + 1 / 3 + 1 / 3 - 1 == 0": "true",
    "1 < 2 < 3": "true",
    "1 < 3 < 2": "false",
    "-1 < - -1": "true",
    "2 + 3 * 2 == 8": "true",
    "(2 + 3) * 2 == 10": "true",
    "8 - 2 - 1 == 5": "true",
    # Plain truths
    "1 < 2 and 2 < 3": "true",
    "1 < 2 and 2 < 1": "false",
    "2 < 1 or 1 < 2": "true",
    "not 2 < 1": "true",
    "not (1 < 2 and 2 < 3)": "false",
    "not 1 > 2 and not 2 > 3": "true",
    # Summing up
    f"{A}.mean == 3.5": "true",
    f"{A}.min == 1 and {A}.max == 6": "true",
    f"{A}.spread == 5": "true",
    f"{A}.best.value == 6 and {A}.worst.value == 1": "true",
    f"{A}.best.count == 1": "true",
    f"{TIED}.best.count == 3": "true",
    f"{TIED}.best.all_at(rate=[0.1, 0.2])": "true",
    f"{TIED}.best.all_at(rate=0.1)": "false",
    f"{TIED}.best.any_at(rate=0.1, size=20)": "true",
    f"{TIED}.best.any_at(rate=0.2, size=20)": "false",
    f"{TIED}.best.any_at(rate=[0.3])": "false",
    f"({TIED} == {TIED}.best.value).and_({A} == {A}.best.value).any": "false",
    f"({A} - {B}).best.value == 5": "true",
    # Lower is better
    f"{LOST}.best.value == 2.5 and {LOST}.best.count == 2": "true",
    f"{LOST}.worst.all_at(model_size='tiny', _2_depth=1)": "true",
    f"{LOST}.row(2).trend('model_size') == -1": "true",
    # Trends
    f"{A}.row(10).trend('rate') == 1": "true",
    "grid(model='mirror').row(10).trend('rate') == -1": "true",
    f"{A}.column(0.1).trend('size') == 1": "true",
    f"{A}.trend('size') > {A}.trend('rate')": "true",
    # Parts
    f"{A}.at(rate=0.2, size=10) == 2": "true",
    f"{A}.at(rate=0.20, size='10.0') == 2": "true",
    f"({A} > 1).at(rate=0.1, size=10)": "false",
    f"{A}.row(20).at(rate=0.1) == 4": "true",
    f"{A}.row(10).mean == 2 and {A}.column(0.1).mean == 2.5": "true",
    f"({A}.row(20) - {A}.row(10) == 3).all": "true",
    f"({A}.column(0.1) < {A}.column(0.3)).all": "true",
    f"{A}.where(rate=[0.1, 0.3]).mean == 3.5": "true",
    f"{A}.where(rate=0.1, size=20).mean == 4": "true",
    f"{A}.where(rate=0.1).where(size=20).best.count == 1": "true",
    f"{A}.where({A} > 4).mean == 5.5": "true",
    f"{A}.where({A}.levels('rate') > 0.15).min == 2": "true",
    f"({A}.levels('size') == 10).count == 3": "true",
    f"({A} > 100).where({A} > 4).count == 0": "true",
    f"{A}.where({A} > 100).mean > 1": "undecidable",
    f"({A}.where({A} > 100) > 1).all": "undecidable",
    f"({A}.where({A} > 100) > 1).any": "undecidable",
    f"({A}.where({A} > 100) > 1).count == 0": "true",
    # Readings
    "grid(model='a', reading='second').at(rate=0.1, size=10) == 7": "true",
    "(grid(model='a', reading='first') == grid(model='a', reading='second')).all": "false",
    # Absent cells
    f"({GAP} > 0).all": "undecidable",
    f"({GAP} > 1).all": "false",
    f"({GAP} > 5).any": "true",
    f"({GAP} > 6).any": "undecidable",
    f"({GAP} > 0).count > 3": "undecidable",
    f"({GAP} > 0).share > 0.5": "undecidable",
    f"{GAP}.mean > 0": "undecidable",
    f"{GAP}.min > 0": "undecidable",
    f"{GAP}.best.value > 0": "undecidable",
    f"{GAP}.best.count > 0": "undecidable",
    f"{GAP}.best.all_at(size=20)": "undecidable",
    f"{GAP}.best.any_at(size=20)": "undecidable",
    f"{GAP}.trend('rate') > 0": "undecidable",
    f"{GAP}.at(rate=0.3, size=10) > 0": "undecidable",
    f"({GAP} > 0).at(rate=0.3, size=10)": "undecidable",
    f"({GAP} + {A} > 0).all": "undecidable",
    f"({A} > {GAP}.mean).all": "undecidable",
    f"({A} + {GAP}.mean).mean > 1": "undecidable",
    f"{A}.where({GAP} > 0).mean > 0": "undecidable",
    f"{GAP}.where(size=20).mean == 5": "true",
    f"({GAP}.row(20) > 0).all": "true",
    f"{GAP}.where({A} != 3).mean == 3.6": "true",
    f"({GAP} / 0 > 0).where(rate=0.3, size=10).all": "error",
    f"{TIED}.row(20).trend('size') > 0": "error",
    f"{TIED}.column(0.3).trend('size') > 0": "undecidable",
}


@pytest.mark.parametrize("expression", OUTCOMES)
def test_outcome(studies, expression):
    try:
        outcome = evaluate(expression, studies, "demo").outcome
    except ClaimError:
        outcome = "error"
    assert outcome == OUTCOMES[expression]


TRUTHS = {"true": "1 < 2", "false": "2 < 1", "undecidable": f"{GAP}.mean > 0"}
AND = {
    ("true", "true"): "true",
    ("true", "false"): "false",
    ("true", "undecidable"): "undecidable",
    ("false", "false"): "false",
    ("false", "undecidable"): "false",
    ("undecidable", "undecidable"): "undecidable",
}
NOT = {"true": "false", "false": "true", "undecidable": "undecidable"}
CELLS = {"true": f"({A} == 3)", "false": f"({A} != 3)", "undecidable": f"({GAP} == 3)"}
"""Truths at the rate 0.3 and the size 10, where GAP has no value."""


@pytest.mark.parametrize(("left", "right"), [*AND, *((b, a) for a, b in AND)])
def test_three_valued_logic(studies, left, right):
    def outcome(expression):
        return evaluate(expression, studies, "demo").outcome

    both = AND.get((left, right)) or AND[right, left]
    a, b = TRUTHS[left], TRUTHS[right]
    assert outcome(f"({a}) and ({b})") == both
    assert outcome(f"not (not ({a}) or not ({b}))") == both
    assert outcome(f"not ({a})") == NOT[left]
    # And the same cell by cell.
    c, d, here = CELLS[left], CELLS[right], ".at(rate=0.3, size=10)"
    assert outcome(f"{c}.and_({d}){here}") == both
    assert outcome(f"{c}.not_().or_({d}.not_()).not_(){here}") == both
    assert outcome(f"{c}.not_(){here}") == NOT[left]


def test_false_cells_are_counterexamples(studies):
    verdict = evaluate(f"({A} <= {B}).all", studies, "demo")
    assert [str(place) for place in verdict.counterexamples] == [
        "3 (a, rate 0.3, size 10) against 2 (b, rate 0.3, size 10)",
        "5 (a, rate 0.2, size 20) against 0 (b, rate 0.2, size 20)",
    ]
    [first, _] = verdict.counterexamples
    assert (first.study, first.levels, first.x, first.y) == ("demo", ("a",), "0.3", "10")
    assert (first.value, first.against[0].value) == (Decimal(3), Decimal(2))


@pytest.mark.parametrize(
    ("expression", "places"),
    [
        (f"{A}.at(rate=0.1, size=10) > {B}.at(rate=0.2, size=20) + 5", ["a 0.1 10", "b 0.2 20"]),
        (f"{TIED}.best.value < 5", ["tied 0.1 10", "tied 0.2 10", "tied 0.1 20"]),
        (f"{TIED}.best.all_at(size=10)", ["tied 0.1 20"]),
        (f"{TIED}.best.any_at(rate=0.3)", ["tied 0.1 10", "tied 0.2 10", "tied 0.1 20"]),
        (f"{A}.spread > 5", ["a 0.3 20", "a 0.1 10"]),
        (f"not ({A} > 5).any", ["a 0.3 20"]),
        (f"({A} > 1).all and 1 < 2 and ({B} > 0).all", ["a 0.1 10", "b 0.2 20"]),
        (f"2 < 1 or ({A} > 1).all", ["a 0.1 10"]),
        (f"({A}.row(10) > 1).all", ["a 0.1 10"]),
        (f"({A}.column(0.1) > 1).all", ["a 0.1 10"]),
        (f"({A}.row(10) > {A}.row(20)).where(rate=0.2).all", ["a 0.2 10 | a 0.2 20"]),
        (f"({A} > 2).where({B} < 2).all", ["a 0.1 10 | b 0.1 10"]),
        (f"{A}.mean > 100", []),
    ],
)
def test_places_that_decide(studies, expression, places):
    verdict = evaluate(expression, studies, "demo")
    assert verdict.outcome == "false"
    assert [
        " | ".join(f"{cell.levels[0]} {cell.x} {cell.y}" for cell in (place, *place.against))
        for place in verdict.counterexamples
    ] == places


def test_what_is_true_has_no_counterexamples(studies):
    verdict = evaluate(f"({A} > 5).any", studies, "demo")
    assert verdict.counterexamples == ()
    assert [place.value for place in verdict.places] == [Decimal(6)]


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        (f"({GAP} > 0).all", "no value: gap, rate 0.3, size 10"),
        (f"{GAP}.mean > {GAP}.max", "no value: gap, rate 0.3, size 10"),
        (f"({A} > {GAP}.mean).all", "no value: gap, rate 0.3, size 10"),
        (f"{A}.where({A} > 9).mean > 0", "no cell is left to tell by"),
        (f"{TIED}.column(0.3).trend('size') > 0", "all cells have the same value or the same size"),
        (
            f"{A}.where({A} > 9).mean > 0 and ({GAP} > 0).all",
            "no cell is left to tell by; no value: gap, rate 0.3, size 10",
        ),
    ],
)
def test_reason_of_undecidable(studies, expression, reason):
    verdict = evaluate(expression, studies, "demo")
    assert (verdict.outcome, verdict.reason) == ("undecidable", reason)


def test_a_reading_taken_unasked(studies):
    assert evaluate(f"{A}.at(rate=0.1, size=10) == 7", studies, "demo", "second").outcome == "true"
    verdict = evaluate(f"({A} > {B}).all", studies, "demo", "second")
    assert verdict.reason == (
        "no value: b, rate 0.1, size 10; b, rate 0.2, size 10; b, rate 0.3, size 10; and 4 more"
    )
    # A reading of this study says nothing about another one.
    assert evaluate(f"{LOST}.max == 3.5", studies, "demo", "second").outcome == "true"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (f"{A}.best.value", Decimal(6)),
        (f"{A}.mean", Decimal("3.5")),
        (f"({A} > 2).count", 4),
        (f"{TIED}.best.count", 3),
        (f"({A} > 2).share * 3", Decimal(2)),
        (f"{TIED}.best.cells", "rate 0.1, size 10; rate 0.2, size 10; rate 0.1, size 20"),
        (f"{A}.row(10).worst.cells", "rate 0.1"),
        (
            "grid(study='loss').best.cells",
            "model-size small, 2 depth 1; model-size large, 2 depth 1",
        ),
    ],
)
def test_value_for_prose(studies, expression, value):
    got = evaluate_value(expression, studies, "demo")
    assert (got, type(got)) == (value, type(value))


def test_value_keeps_printed_digits(tmp_path):
    head = "format: 1\ntitle: T\nmetric: {name: M, better: higher}\nx: a\ny: b\n"
    write_study(tmp_path / "s", head, "a,b,value\n1,1,52.0\n")
    assert str(evaluate_value("grid().best.value", load(tmp_path), None)) == "52.0"


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=2, max_size=30))
def test_tau_b_is_that_of_scipy(pairs):
    from gridatlas.claims.values import tau_b

    ours = tau_b((Decimal(x), Decimal(y)) for x, y in pairs)
    theirs = kendalltau(*zip(*pairs, strict=True)).statistic
    if ours is None:
        assert math.isnan(theirs)
    else:
        assert float(ours) == pytest.approx(theirs, abs=1e-12)


def test_tau_b_worked_by_hand(studies):
    # Rate: 1 2 3 / 4 5 6. Of 15 pairs 3 tie in rate; of the others 9 rise and 3 fall.
    value = evaluate_value(f"{A}.trend('rate')", studies, "demo")
    assert value == pytest.approx(Decimal(6) / (Decimal(12) * 15).sqrt())


# --- errors -------------------------------------------------------------------------------------

NAMES = (
    "one of .all, .all_at, .and_, .any, .any_at, .at, .best, .cells, .column, .count, .levels, "
    ".max, .mean, .min, .not_, .or_, .row, .share, .spread, .trend, .value, .where, .worst"
)
ERRORS = """\
there is no expression
  |
  ^
---
demo has no facet modle; did you mean model?
  |grid(modle="a").mean > 1
       ^^^^^^^^^
  expected: one of model
  example:  grid(model="a")
---
model has no level "gab"; did you mean "gap"?
  |grid(model="gab").mean > 1
       ^^^^^^^^^^^
  expected: one of a, b, gap, tied, mirror
  example:  grid(model="gap")
---
grid() needs a level of model too
  |grid().mean > 1
  ^^^^^^
  expected: one of model="a", model="b", model="gap", model="tied", model="mirror"
  example:  grid(model="a")
---
there is no study "los"; did you mean loss?
  |1 < grid(study="los").mean
           ^^^^^^^^^^^
  expected: one of demo, loss
  example:  grid(study="loss")
---
demo has no reading "secnd"; did you mean second?
  |grid(model="a", reading="secnd").mean > 1
                  ^^^^^^^^^^^^^^^
  expected: one of first, second
  example:  grid(reading="second", ...)
---
the reading second has no grid b
  |grid(model="b", reading="second").mean > 1
  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  expected: one of a
  example:  grid(model="a")
---
rate is an axis, not a facet: .at(...) picks a cell of a grid
  |grid(model="a", rate=0.1) > 1
                  ^^^^^^^^
  expected: one of model
  example:  grid(model="a")
---
grid() takes its levels by name
  |grid("a").mean > 1
       ^^^
  example:  grid(model="a")
---
model is given twice
  |grid(model="a", model="b").mean > 1
                  ^^^^^^^^^
  expected: each name once
---
grid needs brackets after it, with its levels
  |grid.mean > 1
  ^^^^
  example:  grid(model="a")
---
this is a list
  |grid(model=["a", "b"]).mean > 1
             ^^^^^^^^^^
  expected: one level
  example:  grid(model="a")
---
there is no .bets; did you mean .best?
  |grid(model="a").bets.value > 1
                  ^^^^
  expected: NAMES
---
.trend needs brackets after it
  |grid(model="a").trend > 1
                  ^^^^^
  example:  .trend(...)
---
.mean has no brackets after it
  |grid(model="a").mean() > 1
                  ^^^^
  example:  .mean
---
"gird" is not a name of the claim language; did you mean grid?
  |gird(model="a").mean > 1
  ^^^^
  expected: grid(...), a number, or a text in quotes: "gird"
---
"rate" is not a name of the claim language
  |grid(model="a").trend(rate) > 1
                        ^^^^
  expected: grid(...), a number, or a text in quotes: "rate"
---
comparisons of grids can't be chained
  |(1 < grid(model="a") <= 6).all
  ^^^^^^^^^^^^^^^^^^^^^^^^^^
  expected: two comparisons joined by .and_(...)
  example:  (1 < grid(model="a")).and_(grid(model="a") <= 6)
---
"and" is not for grids
  |1 < 2 and grid(model="a") > 1
        ^^^
  expected: .and_(...) cell by cell, or .all or .any on each side
  example:  (grid(...) > 40).and_(grid(...) < 60).all
---
"or" is not for grids
  |(grid(model="a") > 1) or (grid(model="b") > 1)
                        ^^
  expected: .or_(...) cell by cell, or .all or .any on each side
  example:  (grid(...) < 40).or_(grid(...) > 60).any
---
"not" is not for grids
  |not grid(model="a") > 1
  ^^^
  expected: .not_() cell by cell, or .all or .any after the grid
  example:  (grid(...) > 40).not_().any
---
"and" needs what is true or false; this is a number
  |grid(model="a").mean and 1 < 2
  ^^^^^^^^^^^^^^^^^^^^
  expected: a comparison
  example:  grid(...).mean > 50
---
.and_ is not for true or false
  |(1 < 2).and_(2 < 3)
          ^^^^
  expected: "and" for plain truths
  example:  (grid(...) > 40).and_(grid(...) < 60).all
---
.all is not for a grid of numbers
  |grid(model="a").all
                  ^^^
  expected: a comparison of grids before the dot
  example:  (grid(...) > 50).all
---
.count is not for a grid of numbers
  |grid(model="a").count > 3
                  ^^^^^
  expected: a comparison of grids or .best or .worst before the dot
  example:  (grid(...) > 50).count >= 3
---
only numbers can be calculated with and compared; this is the best or worst cells
  |grid(model="a").best > 5
  ^^^^^^^^^^^^^^^^^^^^
  expected: .value for the number, .all_at(...) or .any_at(...) for the places
---
only numbers can be calculated with and compared; this is a text
  |grid(model="a") > "5"
                    ^^^
  expected: a number without quotes; a text can only name a level
---
only numbers can be calculated with and compared; this is true or false
  |1 + (2 > 1) > 1
      ^^^^^^^
  expected: a number or a grid of numbers
---
a claim must be true or false, and this is a grid of truths
  |grid(model="a") > 1
  ^^^^^^^^^^^^^^^^^^^
  expected: .all or .any after it, or another way to sum it up
  example:  (grid(...) > 50).all
---
a claim must be true or false, and this is a number
  |grid(model="a").mean
  ^^^^^^^^^^^^^^^^^^^^
  expected: a comparison
  example:  grid(...).mean > 50
---
a claim must be true or false, and this is the best or worst cells
  |grid(model="a").best
  ^^^^^^^^^^^^^^^^^^^^
  expected: .all_at(...) or .any_at(...), or .value and a comparison
  example:  grid(...).best.all_at(ratio=0.4)
---
division by zero at b, rate 0.2, size 20
  |(grid(model="a") / grid(model="b") > 1).all
   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  expected: a divisor other than 0; .where(...) leaves cells out
  example:  grid(...).where(grid(...) != 0)
---
division by zero at b, rate 0.2, size 20
  |1 / grid(model="b").min > 1
  ^^^^^^^^^^^^^^^^^^^^^^^
  expected: a divisor other than 0; .where(...) leaves cells out
  example:  grid(...).where(grid(...) != 0)
---
division by zero
  |0 / 0 == 1
  ^^^^^
  expected: a divisor other than 0; .where(...) leaves cells out
  example:  grid(...).where(grid(...) != 0)
---
the axes differ: rate × size on the left, model_size × _2_depth on the right
  |(grid(model="a") > grid(study="loss")).all
  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  expected: two grids, two rows or two columns over the same axes
  example:  grid(...).row(500) > grid(...).row(1000)
---
the axes differ: rate on the left, rate × size on the right
  |(grid(model="a").row(10) > grid(model="b")).all
  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  expected: two grids, two rows or two columns over the same axes
  example:  grid(...).row(500) > grid(...).row(1000)
---
only the left has the rate 0.2, 0.3
  |(grid(model="a") > grid(model="b").where(rate=0.1)).all
  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  expected: the same cells on both sides; .where(...) leaves cells out
  example:  .where(rate=[...])
---
the left and the right were narrowed to different cells
  |(grid(model="a").where(grid(model="a") != 2) > grid(model="a")).all
  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  expected: the same cells on both sides; .where(...) leaves cells out
  example:  grid(...).where(...) > grid(...).where(...)
---
.at(...) gives one cell, so it needs size too
  |grid(model="a").at(rate=0.1) > 1
  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  expected: a level of every axis, or .row(level) or .column(level) for all cells at one level
  example:  .at(rate=..., size=...)
---
.at(...) takes levels by the names of their axes
  |grid(model="a").at(0.1, 10) > 1
                     ^^^
  expected: a name before each level
  example:  grid(...).at(ratio=0.4, local_window=2000) > 50
---
"rat" is no axis here; did you mean rate?
  |grid(model="a").where(size=10, rat=0.1).mean > 1
                                 ^^^^^^^
  expected: one of rate, size
  example:  .where(rate=...)
---
no cell here has the rate "0.4"; did you mean "0.3"?
  |grid(model="a").column(0.4).mean > 1
                         ^^^
  expected: one of 0.1, 0.2, 0.3
  example:  rate=0.3
---
this is a row or a column already
  |grid(model="a").row(10).row(20).mean > 1
  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  expected: a whole grid before the dot
  example:  .where(ratio=0.1)
---
this is a grid of numbers
  |grid(model="a").where(grid(model="a")).mean > 1
                        ^^^^^^^^^^^^^^^
  expected: levels by the names of their axes, or a grid of truths
  example:  grid(...).where(ratio=[0.1, 0.2]).mean > 50
---
best and worst are not clear here: these are levels, or a grid behind them lacks better: higher
  |(grid(study="loss") - 1).best.value > 1
  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  expected: .min or .max
  example:  grid(...).min < 3
---
the model-size "tiny" is not a number
  |(grid(study="loss").levels("model_size") > 1).all
                             ^^^^^^^^^^^^
  expected: an axis whose levels are numbers
  example:  .levels("ratio") > 0.2
---
this text has no closing quote
  |grid(model="a).mean > 1
             ^^^^^^^^^^^^
---
this ( is never closed
  |(grid(model="a").mean > 1
  ^
---
this ) closes nothing
  |grid(model="a").mean) > 1
                      ^
---
"2" doesn't fit here
  |1 2 > 1
    ^
  expected: an operator, a dot or a comma before it
---
the expression ends too early
  |grid(model="a").mean >
                        ^
  expected: a grid, a number or a text in quotes
---
"=" doesn't fit here
  |grid(model="a").mean = 1
                       ^
  expected: an operator, a dot or a comma before it
---
square brackets pick nothing here
  |grid(model="a")[0] > 1
  ^^^^^^^^^^^^^^^
  expected: .at(factor=level, ...) for a cell, .row(level) for a row
---
"1e3" is not a number of the claim language
  |grid(model="a").mean > 1e3
                         ^^^
  expected: digits, at most 15 before and 15 after the point, such as 0.1
---
"**" is not part of the claim language
  |2 ** 3 > 1
    ^^
  expected: a product: a * a
---
"in" is not part of the claim language
  |0.1 in grid(model="a").best.cells
      ^^
  expected: `.best.any_at(...)` for places, `.where(factor=[...])` for levels
---
"if" is not part of the claim language
  |1 if 1 < 2 else 2
    ^^
  expected: one expression that is true or false
""".replace("NAMES", NAMES)


def _error(studies, expression):
    with pytest.raises(ClaimError) as raised:
        evaluate(expression, studies, "demo")
    return raised.value


@pytest.mark.parametrize("text", ERRORS.removesuffix("\n").split("\n---\n"))
def test_error(studies, text):
    """The text as it is, but for the | before the expression and the commonest example."""
    text = text.replace("\n  |", "\n  ", 1)
    if "\n  example:  " not in text:
        text += '\n  example:  (grid(model="a") > grid(model="b")).all'
    expression = text.split("\n")[1][2:]
    assert str(_error(studies, expression)) == text
    error = _error(studies, expression)
    assert 0 <= error.start <= error.end <= len(expression)


# Ways into Python, out of Jinja's sandbox and of Python's formatting, and Jinja's own syntax.
ESCAPES = {
    '"".__class__.__mro__': "there is no .__class__",
    "grid.__globals__": "grid needs brackets after it, with its levels",
    f"{A}.__class__": "there is no .__class__",
    f"{A}.values": "there is no .values; did you mean .value?",
    f"{A}.sources": "there is no .sources",
    f"{A}.best.of": "there is no .of",
    f"{A}.where_true(1)": "there is no .where_true; did you mean .where?",
    "lipsum.__globals__": '"lipsum" is not a name of the claim language',
    "cycler.__init__.__globals__.os.popen('id')": '"cycler" is not a name of the claim language',
    "self.__init__": '"self" is not a name of the claim language',
    "range(10)": '"range" is not a name of the claim language',
    '"a"|attr("__class__")': '"|" is not part of the claim language',
    '"%s" % 1': '"%" is not part of the claim language',
    '"{0.__class__}".format(1)': "there is no .format",
    '"a"["__class__"]': "square brackets pick nothing here",
    "[].append": "a list can only name several levels of a factor",
    "()": "this is not part of the claim language",
    "(1, 2)": "this is not part of the claim language",
    "{}": '"{" is not part of the claim language',
    "1 ~ 2": '"~" is not part of the claim language',
    "1 // 2": '"//" is not part of the claim language',
    "1 is defined": '"is" is not part of the claim language',
    "true": '"true" is not part of the claim language',
    "None": '"None" is not part of the claim language',
    "1 }} {{ 2": '"}" is not part of the claim language',
    "1 }}{% set a = 1 %}{{ 1": '"}" is not part of the claim language',
    "1 -}} a {{- 1": '"}" is not part of the claim language',
    "{# 1 #}": '"{" is not part of the claim language',
    "1 # 2": '"#" is not part of the claim language',
    "1; 2": '";" is not part of the claim language',
    "grid(*grid)": "arguments are written out, one by one",
    "grid(**grid)": '"**" is not part of the claim language',
    'grid(model="a" "b")': "two texts side by side",
    '"\\x41" == 1': "a text has no backslashes",
    "lambda: 1": '":" is not part of the claim language',
    "lambda x: 1": '":" is not part of the claim language',
    "(x := 1)": '":" is not part of the claim language',
    "[x for x in grid]": '"in" is not part of the claim language',
    'f"{1}"': '""{1}"" doesn\'t fit here',
    "await grid()": '"grid" doesn\'t fit here',
    "yield 1": '"1" doesn\'t fit here',
    "__import__('os').system('id')": '"__import__" is not a name of the claim language',
    "eval('1')": '"eval" is not a name of the claim language',
    "...": '"." doesn\'t fit here',
    "10,0": '"," doesn\'t fit here',
    "1 > 2,": '"," doesn\'t fit here',
    "1 @ 2": '"@" is not part of the claim language',
    "007": '"007" is not a number of the claim language',
    "0x10": '"0x10" is not a number of the claim language',
    "1_000": '"1_000" is not a number of the claim language',
    "1.mean": ".mean is not for a number",
    "grid(model='a', 'b')": "an argument without a name follows one with a name",
    ".5": '"." doesn\'t fit here',
    "1(2)": "this can't be called",
    "(1 > 0)(2)": "this can't be called",
    "grid()()": "this can't be called",
    "\0": '"\\x00" is not part of the claim language',
    "²": '"²" is not part of the claim language',
    "1" * 16: '"1111111111111111" is not a number of the claim language',
}


@pytest.mark.parametrize("expression", ESCAPES)
def test_nothing_but_the_language(studies, expression):
    assert _error(studies, expression).message == ESCAPES[expression]


BOMBS = {
    "1" + "*9" * 1000: "the expression has 2001 characters",
    "(" * 1999: "more than 20 brackets and signs within one another",
    "-" * 1900 + "1": "more than 20 brackets and signs within one another",
    "not " * 400 + "1 > 2": "more than 20 brackets and signs within one another",
    "[" * 500 + "]" * 500: "more than 20 brackets and signs within one another",
    "1" + "+1" * 900: "the expression has too many parts",
    "1" + "<1" * 900: "the expression has too many parts",
    "1" + ".a" * 900: "the expression has too many parts",
    "grid(" + "1," * 900 + ")": "the expression has too many parts",
    "1 > 2" + " and 1 > 2" * 150: "the expression has too many parts",
    "a" * 2000: f'"{"a" * 79}…" is not a name of the claim language',
    '"' + "a" * 1990 + '" * 99': "only numbers can be calculated with and compared; this is a text",
    "[1] * 99": "a list can only name several levels of a factor",
}


@pytest.mark.parametrize("expression", BOMBS)
def test_bombs_are_refused_quickly(studies, expression):
    """With a few calls for each character."""
    errors = []
    count = calls(lambda: errors.append(_error(studies, expression)))
    assert count < 1000 + 50 * len(expression)
    [error] = errors
    assert error.message == BOMBS[expression]
    assert max(map(len, str(error).splitlines())) < 300


def test_what_is_allowed_needs_few_frames(studies):
    deepest = [
        "(" * 20 + "1" + ")" * 20 + " > 0",
        "(-" * 10 + "1" + ")" * 10 + " > 0",
        f"({A} > 0)" + ".not_()" * 25 + ".all",
        f"({A} > 0).and_(" * 10 + f"{A} > 0" + ")" * 10 + ".all",
        "1" + "+1" * 55 + " > 0",
    ]
    depth = 0
    frame = sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 450)
    try:
        outcomes = [evaluate(expression, studies, "demo").outcome for expression in deepest]
    finally:
        sys.setrecursionlimit(limit)
    assert outcomes == ["true", "true", "false", "true", "true"]


def test_long_expression_is_shown_around_the_fault(studies):
    expression = "1 + " * 25 + "x" + " + 1" * 25
    assert str(_error(studies, expression)).splitlines()[1:3] == [
        "  …" + ("1 + " * 25)[-50:] + "x" + (" + 1" * 25)[:49] + "…",
        "  " + " " * 51 + "^",
    ]


def test_line_breaks_are_blanks(studies):
    assert evaluate(f"({A}\r\n  > 0\n).all", studies, "demo").outcome == "true"
    assert str(_error(studies, "1\n+ x")).splitlines()[1:3] == ["  1 + x", "      ^"]


def test_facets_may_have_the_names_of_python_words(tmp_path):
    names = ("lambda", "class", "from", "in-place")
    head = (
        "format: 1\ntitle: T\n"
        "metric: {name: M, better: higher}\nx: lambda\ny: class\nfacets: [from, in-place]\n"
    )
    write_study(tmp_path / "s", head, f"{','.join(names)},value\n1,2,a,b,5\n")
    studies = load(tmp_path)
    check = 'grid(from="a", in_place="b").at(lambda=1, class=2) == 5'
    assert evaluate(check, studies, None).outcome == "true"


def test_study_is_needed_where_there_are_several(studies):
    with pytest.raises(ClaimError) as raised:
        evaluate("grid().mean > 1", studies, None)
    assert str(raised.value) == (
        "grid() needs a study here\n"
        "  grid().mean > 1\n"
        "  ^^^^^^\n"
        '  expected: one of study="demo", study="loss"\n'
        '  example:  grid(study="demo", ...)'
    )


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (
            'grid(model="a") > 1',
            "one number is needed here, and this is a grid of truths\n{}"
            "  expected: a number\n  example:  grid(...).best.value",
        ),
        (
            'grid(model="gap").mean',
            "this is not known: no value: gap, rate 0.3, size 10\n{}"
            "  expected: cells that have a value\n  example:  grid(...).where(...).mean",
        ),
    ],
)
def test_no_value_for_prose(studies, expression, text):
    with pytest.raises(ClaimError) as raised:
        evaluate_value(expression, studies, "demo")
    assert str(raised.value) == text.format(f"  {expression}\n  {'^' * len(expression)}\n")


# --- anything at all ----------------------------------------------------------------------------

PIECES = [
    *"()[],.=+-*/<>|~%{}#;:\"'0123456789 \n",
    *("grid", "and", "or", "not", "in", "is", "if", "==", "<=", "**", "}}", "{%", "__class__", " "),
    *("grid(model=", '"a"', '"gap"', "rate=", "size=", "0.1", "10", "[0.1, 0.2]", A, B, GAP),
    *(".mean", ".best", ".value", ".all", ".any", ".at(", ".row(", ".where(", ".and_(", ".not_()"),
    *(".trend(", ".levels(", ".count", ".cells", ".all_at(", ".share", "'rate'", "é", "\x00", "∞"),
]
_GRIDS = st.sampled_from([A, B, GAP, TIED, LOST])
_CALLS = st.sampled_from(
    [
        ".mean", ".best", ".worst.value", ".best.count", ".row(10)", ".column(0.1)", ".spread",
        ".where(rate=[0.1, 0.2])", ".where(size=10)", ".at(rate=0.1, size=20)", ".trend('rate')",
        ".levels('size')", ".all", ".any", ".count", ".share", ".not_()", ".best.any_at(rate=0.1)",
    ]
)  # fmt: skip


def _combined(inner):
    operators = st.sampled_from(["+", "-", "*", "/", "==", "!=", "<", "<=", ">", ">=", "and", "or"])
    joined = st.sampled_from([".and_", ".or_", ".where"])
    return st.one_of(
        st.tuples(inner, operators, inner).map(lambda parts: f"({' '.join(parts)})"),
        st.tuples(inner, _CALLS).map(lambda parts: f"({parts[0]}){parts[1]}"),
        st.tuples(inner, joined, inner).map(lambda parts: f"({parts[0]}){parts[1]}({parts[2]})"),
        inner.map(lambda part: f"(not {part})"),
        inner.map(lambda part: f"(-{part})"),
    )


EXPRESSIONS = st.recursive(_GRIDS | st.sampled_from(["0", "1", "0.5", "3"]), _combined)
RUBBISH = st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.text(max_size=40)


# Of the studies, not of the expression: where one is at fault, that is what is to be told.
@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@settings(max_examples=amount(200, 20_000), deadline=None)
@given(EXPRESSIONS | RUBBISH)
@example("-}}")
@example("10,0")
def test_anything_gives_an_outcome_or_a_claim_error(studies, expression):
    for function in (evaluate, evaluate_value):
        try:
            function(expression, studies, "demo")
        except ClaimError as error:
            found = error
            assert 0 <= found.start <= found.end <= len(expression)
            assert found.message in str(found)


# --- judging ------------------------------------------------------------------------------------


def _judge(studies, **entry):
    demo = studies["demo"]
    claim = ClaimEntry.model_validate({"text": "A sentence.", **entry})
    study = replace(demo.study, claims=(claim,), claim_lines=(12,), folder="data/demo")
    [judged] = judge(studies | {"demo": replace(demo, study=study)}, "demo")
    assert judged.entry == claim
    return judged


def test_claim_that_is_as_recorded(studies):
    judged = _judge(studies, check=f"({A} > 0).all")
    assert (judged.verdict.outcome, judged.own, judged.problems) == ("true", None, ())
    assert _judge(studies, check=f"({A} > 1).all", holds=False).problems == ()
    assert _judge(studies, check=f"({GAP} > 0).all", holds="unknown").problems == ()
    judged = _judge(studies, not_checkable="It names no cells.")
    assert (judged.verdict, judged.own, judged.error, judged.problems) == (None, None, None, ())


def test_own_reading_is_judged_too(studies):
    judged = _judge(studies, check=f"{A}.at(rate=0.1, size=10) == 7", source="second", holds=False)
    assert (judged.verdict.outcome, judged.own.outcome, judged.problems) == ("false", "true", ())
    judged = _judge(studies, check=f"({A} > {B}).any", source="second")
    assert (judged.verdict.outcome, judged.own.outcome, judged.problems) == (
        "true", "undecidable", (),
    )  # fmt: skip


# --- on the cells that a reading has ------------------------------------------------------------

PARTS = """\
format: 1
title: Readings that give a part
metric: {name: Score, better: higher}
x: rate
y: size
facets: [model]
factors:
  model: {levels: [a, b, {id: mean, aggregate: {by: mean}}]}
readings:
  - {id: whole, file: whole.csv}
  - {id: block, file: block.csv}
  - {id: apart, file: apart.csv}
"""
PART_ROWS = {
    "whole": {"a": ("1 2 3", "4 5 6"), "b": ("2 3 4", "5 6 7")},
    # Of a the row of size 20 is absent, of b the rate 0.3.
    "block": {"a": ("1 2 3", "- - -"), "b": ("2 3 -", "5 6 -")},
    # No rows and columns: of both the same three cells.
    "apart": {"a": ("9 2 -", "- - 6"), "b": ("8 3 -", "- - 7")},
}


@pytest.fixture(scope="module")
def part_studies(tmp_path_factory):
    data = tmp_path_factory.mktemp("parts")
    readings = {f"{name}.csv": _cells(rows) for name, rows in PART_ROWS.items()}
    write_study(data / "parts", PARTS, None, readings)
    return load(data)


GIVEN = {
    # Universal, and some: over the cells that are there.
    ("block", f"({A} > 0).all"): "true on 3 of 6",
    ("block", f"({B} > 2).all"): "false",
    ("block", f"({B} > 6).any"): "false on 4 of 6",
    ("block", f"({B} >= 6).any"): "true",
    ("block", f"({B} > 2).share == 0.75"): "true on 4 of 6",
    # Two grids: at the two points that both have.
    ("block", f"({A} < {B}).all"): "true on 2 of 6",
    ("block", f"{A}.mean == 1.5 and {B}.mean == 2.5"): "true on 2 of 6",
    ("block", f"{A}.max == 2"): "false on 3 of 6",
    ("block", f"{A}.spread == 2 and {A}.row(10).trend('rate') == 1"): "true on 3 of 6",
    ("block", f"{B}.best.any_at(size=20)"): "true on 4 of 6",
    # Nothing is said of levels of which no cell is there, or none of the others.
    ("block", f"{B}.best.any_at(rate=0.3)"): "undecidable",
    ("block", f"not {B}.best.any_at(rate=0.3)"): "undecidable",
    ("block", f"{B}.best.all_at(rate=[0.1, 0.2])"): "undecidable",
    ("block", f"({A}.row(20) > {A}.row(10)).all"): "undecidable",
    ("block", f"({A}.row(20) > {A}.row(10)).all or {A}.trend('rate') > 0"): "true on 3 of 6",
    ("block", f"({A}.row(20) > {A}.row(10)).all and {A}.trend('rate') > 0"): "undecidable",
    ("block", f"{A}.at(rate=0.1, size=20) > 0"): "undecidable",
    # How many cells there are isn't known.
    ("block", f"({A} > 0).count == 3"): "undecidable",
    ("block", f"{A}.best.count == 1"): "undecidable",
    ("block", f"({A} > 9).where({A} > 9).count == 0"): "undecidable",
    # What names a reading or a study is left as it is.
    ("block", f"({A} > 0).all and grid(model='a', reading='whole').mean > 0"): "undecidable",
    # Parts that lack different cells don't compare; cell by cell they do.
    ("apart", f"{A}.mean > 5 and {A}.trend('rate') < 0"): "true on 3 of 6",
    ("apart", f"{A}.column(0.1).mean > {A}.column(0.3).mean"): "undecidable",
    ("apart", f"{A}.column(0.1).max > 1"): "undecidable",
    ("apart", f"({A} < {B}).where({A} < 9).all"): "true on 3 of 6",
    ("apart", f"({A}.column(0.1) > 8).all"): "true on 3 of 6",
    ("apart", f"({A}.row(10) > {A}.row(20)).any"): "undecidable",
    # An aggregate that the reading doesn't print is the mean of its parts, as in the shown grids.
    ("whole", "grid(model='mean').mean == 4"): "true",
    ("block", "grid(model='mean').at(rate=0.1, size=10) == 1.5"): "true",
    ("block", "(grid(model='mean') >= 1.5).all"): "true on 2 of 6",
}  # fmt: skip


@pytest.mark.parametrize(("reading", "expression"), GIVEN)
def test_own_reading_is_judged_on_the_cells_that_it_has(part_studies, reading, expression):
    verdict = evaluate_given(expression, part_studies, "parts", reading)
    over = f" on {verdict.given[0]} of {verdict.given[1]}" if verdict.given else ""
    assert f"{verdict.outcome}{over}" == GIVEN[reading, expression]


def test_what_stays_open_on_the_cells_that_are_there_has_a_reason(part_studies):
    def reason(reading, expression):
        return evaluate_given(expression, part_studies, "parts", reading).reason

    assert reason("block", f"{B}.best.any_at(rate=0.3)") == (
        "no value: b, rate 0.3, size 10; b, rate 0.3, size 20"
    )
    assert reason("apart", f"{A}.column(0.1).max > 1") == "no value: a, rate 0.1, size 20"
    # Of b the row is there, but not of a, with which it is compared.
    both = f"({A} < {B}).all and {B}.where(rate=[0.1, 0.2], size=20).mean > 1"
    assert reason("block", both) == "no cell is left to tell by"


def test_a_claim_on_its_own_reading_says_on_how_many_cells(studies):
    judged = _judge(studies, check=f"({A} > 1).all", source="second", holds=False)
    assert (judged.verdict.outcome, judged.verdict.given) == ("false", None)
    assert (judged.own.outcome, judged.own.given, judged.own.reason) == ("true", (5, 6), "")
    assert judged.problems == ()
    judged = _judge(studies, check=f"{A}.mean > 1", source="first")
    assert (judged.own.outcome, judged.own.given) == ("true", None)


PROBLEMS = {
    "not as recorded: false": (
        {"check": f"({A} >= {B}).all"},
        """\
data/demo/study.yml:12, "claims.0.check": problem [claim-not-as-recorded]
  found:    the check is false: 2 (a, rate 0.2, size 10) against 3 (b, rate 0.2, size 10)
  expected: true, as holds records it
  fix:      correct the check or the data, or say holds: false""",
    ),
    "many counterexamples": (
        {"check": f"({A} > 5).all"},
        """\
data/demo/study.yml:12, "claims.0.check": problem [claim-not-as-recorded]
  found:    the check is false: 1 (a, rate 0.1, size 10); 2 (a, rate 0.2, size 10); 3 (a, rate 0.3, size 10); and 2 more
  expected: true, as holds records it
  fix:      correct the check or the data, or say holds: false""",  # noqa: E501 (whole messages)
    ),
    "not as recorded: true": (
        {"check": f"({A} > 0).all", "holds": False},
        """\
data/demo/study.yml:12, "claims.0.check": problem [claim-not-as-recorded]
  found:    the check is true
  expected: false, as holds records it
  fix:      correct the check or the data, or say holds: true""",
    ),
    "known after all": (
        {"check": f"{A}.mean > 3", "holds": "unknown"},
        """\
data/demo/study.yml:12, "claims.0.check": problem [claim-not-as-recorded]
  found:    the check is true
  expected: undecidable, as holds records it
  fix:      correct the check or the data, or say holds: true""",
    ),
    "undecidable": (
        {"check": f"{GAP}.mean > 3"},
        """\
data/demo/study.yml:12, "claims.0.check": problem [claim-undecidable]
  found:    the check is undecidable: no value: gap, rate 0.3, size 10
  expected: true, as holds records it
  fix:      add the cells, narrow the check to those that are there, or say holds: unknown""",
    ),
    "wrong expression": (
        {"check": 'grid(model="c").mean > 3'},
        """\
data/demo/study.yml:12, "claims.0.check": problem [wrong-expression]
  found:    model has no level "c"
            grid(model="c").mean > 3
                 ^^^^^^^^^
  expected: one of a, b, gap, tied, mirror
  fix:      go by grid(model="a")""",
    ),
    "wrong on its own reading only": (
        {"check": f"1 / ({A}.at(rate=0.1, size=10) - 7) < 0", "source": "second"},
        """\
data/demo/study.yml:12, "claims.0.check": note [wrong-expression]
  found:    division by zero at a, rate 0.1, size 10
            1 / (grid(model="a").at(rate=0.1, size=10) - 7) < 0
            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  expected: a divisor other than 0; .where(...) leaves cells out
  fix:      go by grid(...).where(grid(...) != 0)""",
    ),
    "neither": (
        {},
        """\
data/demo/study.yml:12, "claims.0": problem [claim-without-check]
  found:    neither of check and not_checkable
  expected: one of the two
  fix:      give an expression as check, or say as not_checkable why none can tell""",
    ),
    "both": (
        {"check": "1 > 2", "not_checkable": "Why?"},
        """\
data/demo/study.yml:12, "claims.0": problem [claim-without-check]
  found:    both of check and not_checkable
  expected: one of the two
  fix:      give an expression as check, or say as not_checkable why none can tell""",
    ),
    "unknown source": (
        {"check": f"{A}.mean > 3", "source": "secnd"},
        """\
data/demo/study.yml:12, "claims.0.source": problem [unknown-reading]
  found:    "secnd"
  expected: a reading of this study: first, second
  fix:      write second instead of secnd""",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROBLEMS)
def test_problem(studies, name):
    entry, text = PROBLEMS[name]
    judged = _judge(studies, **entry)
    assert [str(problem) for problem in judged.problems] == [text]
    assert (judged.error is not None) == (name == "wrong expression")


def test_claims_are_read_with_their_lines(tmp_path):
    claims = 'claims:\n  - text: One.\n    check: 1 > 2\n\n  - text: Two.\n    check: "gird"\n'
    readings = {f"{name}.csv": _cells(ROWS) for name in ("first", "second")}
    write_study(tmp_path / "demo", DEMO + claims, None, readings)
    judged = load_data(tmp_path, "data")["demo"].judged
    first = DEMO.count("\n") + 2
    assert [claim.problems[0].place for claim in judged] == [
        f'data/demo/study.yml:{first}, "claims.0.check"',
        f'data/demo/study.yml:{first + 3}, "claims.1.check"',
    ]


# --- the documentation --------------------------------------------------------------------------

PAGE = (REPOSITORY / "docs" / "claims.md").read_text("utf-8")


def _blocks(language):
    return re.findall(rf"^```{language}[^\n]*\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def _examples():
    found = []
    for block in _blocks("python"):
        lines = []
        for line in block.splitlines():
            if not line.startswith("# "):
                expression, _, mark = line.partition("  # ")
                lines.append(expression)
                if mark:
                    found.append(("\n".join(lines).strip(), mark))
                    lines = []
        assert not any(lines), "an example without its outcome"
    return found


@pytest.fixture(scope="module")
def real():
    return real_data().results


@pytest.mark.parametrize(("expression", "mark"), _examples())
def test_example_of_the_page(real, expression, mark):
    study = "dynts-window-ratio"
    try:
        if mark.startswith("gives "):
            assert f"gives {evaluate_value(expression, real, study)}" == mark
        else:
            assert evaluate(expression, real, study).outcome == mark
    except ClaimError as error:
        assert f"error: {error.message}" == mark  # noqa: PT017


def test_page_shows_each_part_of_the_language():
    assert len(_examples()) > 20
    names = re.findall(r"\.([a-z_]+)", NAMES)
    assert [name for name in names if f".{name}" not in PAGE] == []


def test_error_of_the_page(real):
    [text] = _blocks("text")
    with pytest.raises(ClaimError) as raised:
        evaluate(text.splitlines()[1].strip(), real, "dynts-window-ratio")
    assert f"{raised.value}\n" == text


def test_claims_of_the_page_are_as_they_record(real):
    [text] = _blocks("yaml")
    results = real["dynts-window-ratio"]
    claims = tuple(ClaimEntry.model_validate(entry) for entry in yaml.safe_load(text)["claims"])
    study = replace(results.study, claims=claims, claim_lines=(1,) * len(claims))
    judged = judge(real | {study.id: replace(results, study=study)}, study.id)
    assert [claim.problems for claim in judged] == [(), (), ()]
    assert judged[0].own.outcome == "false"


@pytest.mark.parametrize(
    ("check", "stands"),
    [
        ('grid(seed="1").max > 0', True),
        ("grid(seed = 1.0).max > 0", True),
        ("grid(seed='2').max > 0", False),
        ("grid(other=1).max > 0", False),
    ],
)
def test_a_claim_stands_with_the_levels_that_its_check_names(check, stands):
    level = Level("1", "one", "1")
    claim = Judged(ClaimEntry(text="A sentence.", check=check), None, None)
    found = claims_about([claim], Factor("seed", "Seed", "", (level,)), level)
    assert found == ((claim,) if stands else ())
