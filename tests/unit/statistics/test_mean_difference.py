"""Mean differences of two levels, against figures of other programs and of the papers' methods."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gridatlas.statistics.mean_difference import (
    by_items_of_cells,
    by_seeds,
    by_sign_flips,
    counts_interval,
    over_benchmarks,
    with_p,
)

SEEDS = [31.1, 33.9, 21.3]


def test_seeds_are_the_one_sample_t_test() -> None:
    found = by_seeds(SEEDS)
    reference = stats.ttest_1samp(SEEDS, 0)
    limits = reference.confidence_interval(0.95)
    assert found.value == pytest.approx(np.mean(SEEDS))
    assert found.p == pytest.approx(reference.pvalue)
    assert (found.interval.low, found.interval.high) == pytest.approx((limits.low, limits.high))


@pytest.mark.parametrize(("differences", "p"), [([2.0, 2.0, 2.0], 0.0), ([0.0, 0.0, 0.0], 1.0)])
def test_seeds_without_a_spread(differences: list[float], p: float) -> None:
    assert by_seeds(differences).p == p


def test_two_seeds_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 3 seeds, not 2"):
        by_seeds(SEEDS[:2])


def test_items_flip_their_signs() -> None:
    first, second = [1.0, 1.0, 1.0, 1.0, 0.5], [0.0, 0.0, 0.0, 0.5, 0.5]
    found = by_sign_flips(first, second, "items")
    assert found.value == pytest.approx(0.7)
    assert found.p == pytest.approx(2 / 16)  # all four that differ have one sign
    assert found.test == "sign-flip permutation test, exact over items"


def test_items_of_each_cell_weigh_as_in_the_mean() -> None:
    cells = [([1.0, 1.0], [0.0, 0.0]), ([1.0, 0.0, 1.0, 0.0], [0.0] * 4)]
    found = by_items_of_cells(cells, [1, 1])
    assert found.value == pytest.approx(0.75)
    # Of 2 ** 4 patterns of the four that differ, two have a sum as far from 0.
    assert found.p == pytest.approx(2 / 16)
    error = (1 / 3) ** 0.5 / 2  # the first cell's items don't spread
    assert found.interval.high - 0.75 == pytest.approx(1.959964 * error / 2, rel=1e-5)


def test_runs_flip_their_signs_over_cells() -> None:
    found = by_sign_flips([3.0, 4.0, 5.0], [2.0, 2.0, 2.0], "cells")
    assert found.value == 2
    assert found.p == pytest.approx(0.25)
    assert found.test == "sign-flip permutation test, exact over cells"


def test_counts_have_newcombe_s_interval() -> None:
    # Newcombe (1998), table II, case (a): 56/70 - 48/80 by method 10.
    value, at = counts_interval([(56, 70)], [(48, 80)])
    assert value == pytest.approx(0.2)
    interval = at(0.95)
    assert (interval.low, interval.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_p_inverts_the_interval() -> None:
    difference = counts_interval([(56, 70)], [(48, 80)])
    found = with_p(difference, "")
    assert difference[1](1 - found.p).low == pytest.approx(0, abs=1e-9)
    assert 0.001 < found.p < 0.05


@pytest.mark.parametrize(
    ("first", "second", "low", "high"), [((30, 60), (30, 60), 1, 1), ((60, 60), (0, 60), 0, 1e-12)]
)
def test_p_at_the_ends(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    assert low <= with_p(counts_interval([first], [second]), "").p <= high


def test_cells_count_with_the_fewest_trials_of_one() -> None:
    _, several = counts_interval([(5, 10), (10, 20)], [(4, 10), (8, 20)])
    _, as_one = counts_interval([(10, 20)], [(8, 20)])
    assert several(0.95) == as_one(0.95)
    _, items = counts_interval([(5, 10), (10, 20)], [(4, 10), (8, 20)], trials=7)
    assert items(0.95).low == pytest.approx(-0.343791, abs=1e-6)


def test_benchmarks_have_equal_weight_and_independent_errors() -> None:
    part = counts_interval([(56, 70)], [(48, 80)])
    value, at = over_benchmarks([part, part, part, part])
    assert value == pytest.approx(0.2)
    assert 0.2 - at(0.95).low == pytest.approx((0.2 - part[1](0.95).low) / 2)
    assert at(0.95).high - 0.2 == pytest.approx((part[1](0.95).high - 0.2) / 2)
