"""Means of rows and columns: which cells they are over, and how sure they are."""

from math import sqrt

import numpy as np
import pytest
from builders import table

from gridatlas.assessment.assess import assess
from gridatlas.assessment.profiles import METHODS, profiles
from gridatlas.assessment.uncertainty import GridUncertainty
from gridatlas.statistics.estimates import mean_wilson, wilson
from gridatlas.table.choose import analyse

SHARES = (
    'format: 1\ntitle: A demo\nmetric: {name: Accuracy, better: higher, unit: "%", decimals: 0}\n'
    "x: rate\ny: depth\n"
)


def _as_rows(means):
    return [(mean.level.key, mean.cells, mean.mean, mean.interval) for mean in means]


def _results(make_study, more, *rows):
    return analyse(make_study(SHARES + more, table(*rows)))


def _percent(low, high):
    return pytest.approx((100 * low, 100 * high))


def test_a_mean_is_over_the_cells_that_have_a_value(make_study):
    rows = ("1,1,10", "2,1,20", "1,2,40", "2,2,", "3,1,", "3,2,")
    grid = analyse(make_study("", table("rate,depth,value", *rows))).grid()
    found = profiles(grid, GridUncertainty.unknown(grid.study, "n is unknown"))
    assert _as_rows(found.x) == [("1", 2, 25, None), ("2", 1, 20, None), ("3", 0, None, None)]
    assert _as_rows(found.y) == [("1", 2, 15, None), ("2", 1, 40, None)]
    assert found.method == ""


def test_a_mean_has_the_interval_of_its_trials_together(make_study):
    rows = ("1,1,10,50", "2,1,20,50", "1,2,40,50", "2,2,,", "3,1,,", "3,2,,")
    results = _results(make_study, "", "rate,depth,value,n", *rows)
    found = profiles(results.grid(), assess(results).of(results.grid()))
    assert found.method == METHODS["trials"]
    pooled, alone = wilson(25, 100), wilson(10, 50)
    assert found.x[0].interval == _percent(pooled.low, pooled.high)
    assert found.x[1].interval == _percent(alone.low, alone.high)  # of one cell: the cell's own
    assert found.x[2].interval is None
    both = wilson(15, 100)
    assert found.y[0].interval == _percent(both.low, both.high)


def test_an_aggregate_takes_the_intervals_of_its_parts(make_study):
    more = (
        "facets: [b]\nfactors: {b: {levels: [{id: p, items: 100}, {id: q, items: 50}, "
        "{id: mean, aggregate: {by: mean}}]}}\ntrials: {items: b, samples: 1}\n"
    )
    rows = ("p,1,1,10", "p,2,1,20", "q,1,1,30", "q,2,1,40", "p,1,2,60", "q,1,2,80", "p,2,2,50")
    results = _results(make_study, more, "b,rate,depth,value", *rows)
    grid = results.grid(b="mean")
    found = profiles(grid, assess(results).of(grid))
    assert found.method == METHODS["parts"]
    # The mean of 20 and 30. Each part's row has that many items, as all its cells are asked them.
    p, q = wilson(15, 100), wilson(17.5, 50)
    below = sqrt((0.15 - p.low) ** 2 + (0.35 - q.low) ** 2) / 2
    above = sqrt((p.high - 0.15) ** 2 + (q.high - 0.35) ** 2) / 2
    right, n = np.array([[10.0, 20], [15, 20]]), np.array([[100.0, 100], [50, 50]])
    lows = mean_wilson(right, n)[:, 0]
    assert below > sqrt((0.15 - lows[0]) ** 2 + (0.35 - lows[1]) ** 2) / 2
    assert found.y[0].mean == 25
    assert found.y[0].interval == _percent(0.25 - below, 0.25 + above)
    # The cell at 2 × 2 lacks a part and has no value, so this mean is of one cell.
    assert (found.y[1].cells, found.y[1].mean) == (1, 70)


@pytest.mark.parametrize(
    ("cells", "k", "n"),
    [
        ([(3, 10)], 3, 10),
        ([(3, 10), (5, 10)], 8, 20),
        ([(0, 7)] * 3, 0, 21),
        ([(7, 7)] * 3, 21, 21),
        # Means of shares, not of trials; with as few trials as if each had the fewest.
        ([(5, 10), (100, 100)], 15, 20),
    ],
)
def test_mean_wilson(cells, k, n):
    right, trials = np.array([cells], dtype=float).swapaxes(0, 2)[..., 0].reshape(2, 1, -1)
    expected = wilson(k, n)
    assert [*mean_wilson(right, trials)[0]] == pytest.approx([expected.low, expected.high])


@pytest.mark.parametrize("n", [30, 150])
@pytest.mark.parametrize(
    "shares",
    [[0.5] * 5, [0.02] * 5, [0.97] * 4, [0.05, 0.3, 0.5, 0.8, 0.99]],
    ids=["half", "low", "high", "mixed"],
)
def test_it_holds_the_true_mean_as_often_as_it_says(shares, n):
    random = np.random.default_rng(7)
    grids = 2000
    right = random.binomial(n, shares, (grids, len(shares))).astype(float)
    low, high = mean_wilson(right, np.full_like(right, n)).T
    held = ((low <= np.mean(shares)) & (np.mean(shares) <= high)).sum()
    print(f"n={n}, {shares}: held {held / grids:.3f}")
    assert held / grids >= 0.94
