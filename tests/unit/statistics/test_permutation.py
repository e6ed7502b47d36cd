"""Permutation tests against all permutations of small tables, written out."""

from __future__ import annotations

from itertools import permutations, product
from math import comb, factorial

import numpy as np
import pytest
from scipy import stats

from gridatlas.statistics import permutation
from gridatlas.statistics.differences import over_pages
from gridatlas.statistics.estimates import Floats
from gridatlas.statistics.permutation import (
    AxisTest,
    PermutationTest,
    axis_over_replicates,
    axis_over_rows,
    best_by_counts,
    best_by_item,
    best_over_replicates,
    complete_part,
)

NAN = float("nan")
TWO = np.array([[9.0, 5, 4, 1], [7.0, 6, 2, 3]])
THREE = np.array([[9.0, 5, 4], [7.0, 6, 2], [3.0, 8, 1]])


def orders(row: Floats) -> list[Floats]:
    return [np.array(order) for order in permutations(row)]


def all_ways(rows: Floats) -> list[Floats]:
    """Each row in each order."""
    return [np.array(way) for way in product(*map(orders, rows))]


def ranks(rows: Floats) -> Floats:
    return np.asarray(stats.rankdata(-rows, axis=-1))


def close(test: PermutationTest, exact: float) -> bool:
    """Whether a random p is where four standard errors allow."""
    assert test.permutations is not None
    error = (exact * (1 - exact) / test.permutations) ** 0.5
    return abs(test.p - exact) <= 4 * error + 1 / test.permutations


@pytest.mark.parametrize("values", [TWO, THREE, np.array([[1.0, 1, 2], [3.0, 1, 1]])])
def test_best_over_replicates_is_the_share_of_all_ways(values: Floats) -> None:
    observed = ranks(values).mean(axis=0).min()
    ways = [way.mean(axis=0).min() for way in all_ways(ranks(values))]
    exact = float(np.mean([best <= observed + 1e-9 for best in ways]))
    assert close(best_over_replicates(values), exact)


def test_a_cell_that_a_replicate_lacks_takes_no_part() -> None:
    with_hole = np.column_stack([TWO, [NAN, 99.0]])
    assert best_over_replicates(with_hole) == best_over_replicates(TWO)


def test_one_replicate_has_no_mean_rank() -> None:
    with pytest.raises(ValueError, match="at least two replicates"):
        best_over_replicates(TWO[:1])


def test_with_two_benchmarks_the_smallest_p_is_one_in_the_cells() -> None:
    alike = np.array([np.arange(60.0), np.arange(60.0)])
    assert close(best_over_replicates(alike), 1 / 60)


@pytest.mark.parametrize("outcomes", [THREE, np.array([[1.0, 0, 0], [1.0, 0, 1], [1.0, 1, 1]])])
def test_best_by_item_is_the_share_of_all_ways(outcomes: Floats) -> None:
    observed = outcomes.sum(axis=0).max()
    ways = [way.sum(axis=0).max() for way in all_ways(outcomes)]
    exact = float(np.mean([best >= observed - 1e-9 for best in ways]))
    assert close(best_by_item(outcomes), exact)


def test_items_on_which_all_cells_agree_tell_nothing() -> None:
    assert best_by_item(np.ones((4, 3))) == PermutationTest(1.0)
    agreed = np.vstack([THREE, np.full((5, 3), 0.5)])
    assert best_by_item(agreed) == best_by_item(THREE)


def test_an_absent_outcome_is_refused() -> None:
    with pytest.raises(ValueError, match="an outcome for each item"):
        best_by_item(np.array([[1.0, NAN]]))


@pytest.mark.parametrize(
    ("successes", "trials"),
    [((3, 1, 0), (4, 4, 4)), ((2, 2, 1), (2, 5, 3)), ((1, 1), (3, 9)), ((0, 5, 4), (5, 5, 5))],
)
def test_best_by_counts_is_the_share_of_all_deals(
    successes: tuple[int, ...], trials: tuple[int, ...]
) -> None:
    k, n = np.array(successes, float), np.array(trials, float)
    mean = k.sum() / n.sum()
    observed = ((k / n - mean) * np.sqrt(n)).max()
    as_good = total = 0
    for deal in product(*(range(size + 1) for size in trials)):
        if sum(deal) == sum(successes):
            ways = np.prod([comb(size, part) for size, part in zip(trials, deal, strict=True)])
            total += ways
            as_good += ways * (((np.array(deal) / n - mean) * np.sqrt(n)).max() >= observed - 1e-9)
    test = best_by_counts(k, n)
    assert test.permutations is None
    assert test.error == 0
    assert test.p == pytest.approx(as_good / total, abs=1e-9)


@pytest.mark.parametrize("successes", [0.0, 5.0])
def test_where_all_trials_end_alike_no_cell_stands_out(successes: float) -> None:
    assert best_by_counts(np.full(3, successes), np.full(3, 5.0)).p == 1


def axis_statistic(rows: Floats) -> float:
    return float(((rows.mean(axis=0) - rows.mean()) ** 2).sum())


def test_an_axis_over_replicates_is_the_share_of_all_ways() -> None:
    values = np.stack([THREE, THREE + 1], axis=2)  # the means of two rows rank as one
    observed = axis_statistic(ranks(THREE))
    exact = float(
        np.mean([axis_statistic(way) >= observed - 1e-9 for way in all_ways(ranks(THREE))])
    )
    test = axis_over_replicates(values)
    assert close(test, exact)
    assert test.offsets == pytest.approx((ranks(THREE).mean(axis=0) - 2).tolist())


def test_an_axis_over_rows_permutes_within_each_row() -> None:
    values = np.array([[[9.0, 1], [5, 2], [4, 8]]])  # (benchmark, level, row)
    by_row = ranks(values.reshape(1, -1)).reshape(3, 2).T
    observed = axis_statistic(by_row)
    exact = float(np.mean([axis_statistic(way) >= observed - 1e-9 for way in all_ways(by_row)]))
    assert close(axis_over_rows(values), exact)


@pytest.mark.parametrize(
    ("table", "levels", "rows"),
    [
        ([[1, 1, 1], [1, 1, 1]], [1, 1], [1, 1, 1]),
        ([[1, 1, 0], [1, 1, 1]], [1, 1], [1, 1, 0]),
        ([[1, 1, 1], [1, 1, 1], [0, 0, 0]], [1, 1, 0], [1, 1, 1]),
        ([[1, 1, 1], [1, 1, 1], [1, 0, 0]], [1, 1, 1], [1, 0, 0]),
        ([[1, 0, 1], [0, 1, 1], [1, 1, 0]], [0, 1, 1], [0, 1, 0]),
        ([[0, 0], [0, 0]], [0, 1], [0, 0]),
    ],
)
def test_levels_are_left_out_only_where_no_row_is_complete(
    table: list[list[int]], levels: list[int], rows: list[int]
) -> None:
    values = np.where(np.array([table]) == 1, 1.0, NAN)
    found = complete_part(values)
    assert [part.astype(int).tolist() for part in found] == [levels, rows]


def test_an_axis_takes_complete_rows_alone() -> None:
    values = np.stack([THREE, THREE], axis=2)
    holed = np.concatenate([values, np.full((3, 3, 1), 5.0)], axis=2)
    holed[0, 1, 2] = NAN
    assert axis_over_replicates(holed) == axis_over_replicates(values)


@pytest.mark.parametrize("values", [np.full((3, 3, 2), 1.0), np.full((3, 1, 2), 1.0)])
def test_levels_that_are_all_alike_have_no_effect(values: Floats) -> None:
    assert axis_over_replicates(values).p == 1


def test_a_level_is_named_only_beyond_what_the_farthest_of_chance_is() -> None:
    strong = np.tile(np.array([4.0, 3, 2, 1]), (8, 1))[:, :, None]
    test = axis_over_replicates(strong)
    assert isinstance(test, AxisTest)
    assert [abs(offset) >= test.cutoff for offset in test.offsets] == [True, False, False, True]
    assert test.p == pytest.approx(1 / 100_000 + 24 / factorial(4) ** 8, abs=1e-9)


@pytest.mark.parametrize("values", [np.round(THREE), np.array([[1.0, 0, 0], [1, 1, 0]] * 150)])
def test_adding_steps_up_and_looking_values_up_give_the_same(
    values: Floats, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for few in (-1, 99):
        monkeypatch.setattr(permutation, "_FEW_STEPS", few)
        found.append((best_by_item(values), axis_over_replicates(values[:, :, None])))
    (best1, axis1), (best2, axis2) = found
    assert abs(best1.p - best2.p) <= 2 * best1.error
    assert abs(axis1.p - axis2.p) <= 2 * axis1.error
    assert axis1.offsets == axis2.offsets
    assert axis1.cutoff == pytest.approx(axis2.cutoff, rel=0.02)


def test_tests_are_the_same_in_every_run_and_whatever_ran_before() -> None:
    first = best_over_replicates(TWO)
    np.random.seed(7)  # the global state must not count
    axis_over_rows(np.stack([TWO.T]))
    assert best_over_replicates(TWO) == first
    assert best_over_replicates(TWO, seed=1) != first


@pytest.mark.parametrize(
    ("pages", "adjusted"),
    [
        ([[0.01, 0.5, 0.9]], [(0.03, 1.0, 1.0)]),
        ([[0.01, 0.02, 0.9]], [(0.03, 0.04, 0.9)]),
        ([[0.004, 0.5], [0.02, 0.3]], [(0.016, 0.5), (0.04, 0.3)]),
        ([[0.004, 0.006], [0.9, 0.8]], [(0.016, 0.016), (1.0, 1.0)]),
        ([[0.4, 0.5]], [(0.8, 0.8)]),
    ],
)
def test_questions_are_adjusted_within_their_page_and_over_the_pages(
    pages: list[list[float]], adjusted: list[tuple[float, ...]]
) -> None:
    for ps, expected in zip(over_pages(pages), adjusted, strict=True):
        assert ps == pytest.approx(expected)
