"""Statistics against numbers worked by hand, published examples, scipy, and the real grids."""

from decimal import Decimal
from fractions import Fraction
from math import comb, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gridatlas.assessment.pipeline import load_data
from gridatlas.statistics.best_set import best_set, best_set_paired
from gridatlas.statistics.differences import difference, fisher_greater, holm, homogeneity, total
from gridatlas.statistics.estimates import (
    Spread,
    design_effect,
    mean_spread,
    share_ends,
    successes_from,
    t_interval,
    welch,
    welch_greater,
    wilson,
)
from gridatlas.statistics.interval import Interval, mean_interval
from gridatlas.statistics.paired import PairedTest, outcome_table, paired_p, sign_flips

DATA = Path(__file__).parents[3] / "data"
Z = 1.959963984540054


def both(interval):
    return pytest.approx((interval.low, interval.high), abs=5e-5)


# --- Wilson -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # At the ends the other limit is z²/(n + z²).
        (0, 10, 0, Z**2 / (10 + Z**2)),
        (10, 10, 10 / (10 + Z**2), 1),
        (0, 1, 0, Z**2 / (1 + Z**2)),
        # (0.52 + z²/300 ± z √(0.52·0.48/150 + z²/90000)) / (1 + z²/150)
        (78, 150, 0.4406, 0.5984),
        (15.6, 30, 0.3494, 0.6861),  # the same share, of questions that were asked five times
        # Newcombe (1998), Statistics in Medicine 17, 857–872, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson(successes, n, low, high):
    assert (low, high) == both(wilson(successes, n))


def test_wilson_ends_exactly_at_0_and_1():
    assert [wilson(0, n).low for n in range(1, 200)] == [0] * 199
    assert [wilson(n, n).high for n in range(1, 200)] == [1] * 199


def test_wilson_with_another_confidence():
    expected = stats.binomtest(78, 150).proportion_ci(0.99, method="wilson")
    assert (expected.low, expected.high) == both(wilson(78, 150, confidence=0.99))


# --- counts behind a printed value --------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "n", "decimals", "k"),
    [
        ("52.0", 150, 1, 78),
        ("42.7", 150, 1, 64),  # 42.666…
        ("42.6", 150, 1, None),
        ("42.67", 150, 2, 64),
        ("42.67", 150, 1, None),  # More decimals than it was rounded to.
        ("42", 150, 1, 63),
        ("0.0", 150, 1, 0),
        ("100.0", 150, 1, 150),
        ("100.1", 150, 1, None),
        ("-0.1", 150, 1, None),
        ("NaN", 150, 1, None),
        ("Infinity", 150, 1, None),
        # 1/80 = 1.25 %: printed half up as 1.3, half to even as 1.2; both are the same count.
        ("1.2", 80, 1, 1),
        ("1.3", 80, 1, 1),
        # Of 3000, 2, 3 and 4 (0.067, 0.1, 0.133) are printed as 0.1: the nearest.
        ("0.1", 3000, 1, 3),
        # 1/150 and 2/150 (0.67 and 1.33) are as near: the smaller.
        ("1", 150, 0, 1),
    ],
)
def test_successes_behind_a_printed_percentage(value, n, decimals, k):
    assert successes_from(Decimal(value), n, decimals) == k


def test_successes_behind_a_printed_share():
    assert successes_from(Decimal("0.427"), 150, 3, scale=1) == 64


@given(st.integers(1, 5000), st.data(), st.integers(0, 3))
def test_every_count_is_found_again(n, data, decimals):
    k = data.draw(st.integers(0, n))
    printed = Decimal(f"{100 * k / n:.{decimals}f}")
    found = successes_from(printed, n, decimals)
    assert found is not None
    off = [abs(Fraction(100 * count, n) - Fraction(printed)) for count in (found, k)]
    assert off[0] <= off[1]
    if 2 * n < 100 * 10**decimals:
        assert found == k


# --- Fisher, and the set for the best -----------------------------------------------------------


def test_fisher_with_many_trials():
    # Two shares of a million: the normal approximation is right to some thousandths.
    found = fisher_greater([501_500], [1_000_000], [499_000], [1_000_000])
    z = (501_500 - 499_000 - 1) / sqrt(2_000_000 * 0.25)
    assert found == pytest.approx([stats.norm.sf(z)], rel=0.01)


def test_fisher_of_nothing():
    assert fisher_greater([], [], [], []).shape == (0,)


def test_a_cell_leaves_when_another_beats_it():
    found = best_set([(9, 10), None, (0, 10), (8, 10)])
    assert found.indices == (0, 3)
    assert (found.level, found.test) == (0.025, "Fisher's exact test, one-sided")
    # 9 successes all drawn from 9 + 0: comb(10, 9) / comb(20, 9).
    assert found.p[2] == pytest.approx(10 / comb(20, 9))
    # 9 or 10 of the 17 of both: C(10,9)C(10,8) + C(10,10)C(10,7) of C(20,17).
    assert found.p[3] == pytest.approx((10 * 45 + 120) / comb(20, 17))
    assert found.p[1] is None


def test_another_number_of_trials_may_beat_with_a_lower_share():
    # 3/3 is higher than 900/1000, which shows more.
    both, shows_more = [(500, 1000), (3, 3), (900, 1000)], [(500, 1000), None, (900, 1000)]
    assert best_set(both).p[0] == best_set(shows_more).p[0]


def test_fewer_failures_are_better():
    cells = [(9, 10), (0, 10), (8, 10)]
    turned = best_set([(n - k, n) for k, n in cells], better="lower")
    assert turned == best_set(cells)


@pytest.mark.parametrize(
    ("cells", "indices", "level"),
    [([], (), 0.05), ([None], (), 0.05), ([None, (3, 9)], (1,), 0.05)],
)
def test_nothing_to_compare(cells, indices, level):
    found = best_set(cells)
    assert (found.indices, found.level) == (indices, level)
    assert set(found.p) <= {None}


def test_cells_with_the_same_counts_are_as_if_each_was_tested_alone():
    random = np.random.default_rng(2)
    for cells in ([(int(k), 9) for k in random.integers(0, 10, 40)], [(3, 9)] * 3, [(9, 9)] * 2):
        k, n = np.array(cells).T
        first, second = np.divmod(np.arange(len(cells) ** 2), len(cells))
        p = fisher_greater(k[second], n[second], k[first], n[first]).reshape(len(cells), -1)
        p[np.diag_indices(len(cells))] = np.inf
        assert best_set(cells).p == pytest.approx(p.min(axis=1), rel=1e-12)


def test_very_many_different_counts_are_tested_against_the_likeliest_rivals(monkeypatch):
    random = np.random.default_rng(3)
    shares = np.linspace(0.2, 0.8, 120)
    sizes = random.integers(50, 150, 120)
    cells = [(int(random.binomial(n, p)), int(n)) for n, p in zip(sizes, shares, strict=True)]
    whole = best_set(cells)
    monkeypatch.setattr("gridatlas.statistics.best_set.COUNTS_UP_TO", 20)
    monkeypatch.setattr("gridatlas.statistics.best_set.RIVALS", 20)
    found = best_set(cells)
    assert found.test.endswith("against the 20 counts with the highest lower limits")
    # None leaves that would stay, and here none stays that would leave.
    assert found.indices == whole.indices
    assert 0 < len(found.indices) < 60
    monkeypatch.setattr("gridatlas.statistics.best_set.RIVALS", 1)
    assert best_set(cells).p.count(None) == 1  # The only rival has none itself.


def test_observed_best_is_always_in_the_set():
    random = np.random.default_rng(1)
    for _ in range(20):
        cells = [(int(k), 40) for k in random.binomial(40, random.random(12))]
        assert max(range(12), key=cells.__getitem__) in best_set(cells).indices


# --- paired -------------------------------------------------------------------------------------


def discordant(first_only, second_only, both=7):
    first = [1] * first_only + [0] * second_only + [1] * both + [0] * 3
    second = [0] * first_only + [1] * second_only + [1] * both + [0] * 3
    return first, second


def tails(first, second):
    """P-values that the first is greater, and less; and the test's name."""
    greater, less, test = sign_flips(outcome_table([first, second]), [(0, 1)])
    return float(greater[0]), float(less[0]), test


def test_mcnemar_by_hand():
    # 8 against 2: Binomial(10, ½) is at least 8 with (45 + 10 + 1) / 1024.
    greater, less, test = tails(*discordant(8, 2))
    assert (greater, less) == pytest.approx((56 / 1024, 1013 / 1024))
    assert paired_p(*discordant(8, 2)) == PairedTest(pytest.approx(112 / 1024), test)
    assert test == "McNemar's exact test"


def test_sign_flips_by_hand():
    first, second = [1.0, 0.6, 0.4, 0.8], [0.2, 0.2, 0.6, 0.8]
    # 0.8, 0.4 and −0.2: of the 8 sums 1.0 and 1.4 are as large.
    greater, less, test = tails(first, second)
    assert (greater, less) == pytest.approx((2 / 8, 7 / 8))
    assert paired_p(first, second) == PairedTest(pytest.approx(4 / 8), test)
    assert test == "sign-flip permutation test, exact"


def test_sign_flips_of_other_numbers_by_hand():
    first, second = [1.0, 0.6, 0.4, 0.8], [0.2, 0.2, 0.6, 0.8]
    root = [[value / sqrt(2) for value in row] for row in (first, second)]
    assert tails(*root) == tails(first, second)


def test_whole_numbers_that_are_no_shares_are_enumerated():
    greater, _, test = tails([5321, 4000, 90], [1000, 2000, 99])
    # 4321, 2000 and −9: as large are + + − and + + +.
    assert (greater, test) == (2 / 8, "sign-flip permutation test, exact")


def test_random_patterns_approach_the_exact_test():
    random = np.random.default_rng(0)
    first, second = random.integers(0, 6, (2, 40)) / 5
    exact = paired_p(first, second)
    drawn = paired_p(first / np.pi, second / np.pi)
    assert drawn.test == "sign-flip permutation test, 19,999 random patterns"
    assert drawn.p == pytest.approx(exact.p, abs=0.02)
    assert drawn == paired_p(first / np.pi, second / np.pi)


def test_random_patterns_count_the_observed_one():
    assert tails([0.1234] * 100, [0.0] * 100)[0] == 1 / 20_000


def test_equal_outcomes_tell_nothing():
    assert paired_p([1, 0, 1], [1, 0, 1]).p == 1
    assert paired_p([0.2, 0.4], [0.2, 0.4]).p == 1
    assert paired_p([0.123] * 20, [0.123] * 20).p == 1


def test_the_set_for_the_best_of_paired_cells():
    first, second = discordant(10, 0)
    found = best_set_paired([second, first, None])
    assert found.indices == (1,)
    assert found.p == (pytest.approx(1 / 1024), pytest.approx(1), None)
    assert (found.level, found.test) == (0.05, "McNemar's exact test")
    assert best_set_paired([second, first, None], better="lower").indices == (0,)


def test_the_set_for_the_best_of_other_numbers():
    random = np.random.default_rng(0)
    rows = random.normal(size=(13, 30))
    rows[4] += 2
    found = best_set_paired(rows.tolist())
    assert (found.indices, found.level) == ((4,), 0.05 / 12)
    assert found.p[0] == tails(rows[4], rows[0])[0]
    assert found == best_set_paired(rows.tolist())


def test_paired_sets_of_nothing_and_of_one():
    assert best_set_paired([]).indices == ()
    assert best_set_paired([None, None]).indices == ()
    assert best_set_paired([None, [0.2, 0.4]]).indices == (1,)


# --- χ² -----------------------------------------------------------------------------------------


def test_homogeneity_equals_scipy():
    cells = [(10, 90), (25, 100), (30, 170), (4, 20)]
    table = [[k for k, _ in cells], [n - k for k, n in cells]]
    expected = stats.chi2_contingency(table, correction=False)
    found = homogeneity([*cells[:2], None, *cells[2:]])
    assert (found.chi2, found.df, found.p) == pytest.approx(
        (expected.statistic, expected.dof, expected.pvalue)
    )


@pytest.mark.parametrize("k", [0, 10])
def test_all_alike(k):
    found = homogeneity([(k, 10), (k, 10)])
    assert (found.chi2, found.df, found.p) == (0, 1, 1)


@pytest.mark.parametrize("cells", [[], [None, None], [(1, 2), None]])
def test_homogeneity_needs_two_cells(cells):
    assert homogeneity(cells) is None


def test_total_adds_up():
    first, second = homogeneity([(10, 100), (30, 100)]), homogeneity([(1, 9), (2, 8), (5, 7)])
    found = total([first, second])
    assert (found.chi2, found.df) == (first.chi2 + second.chi2, 3)
    assert found.p == pytest.approx(stats.chi2.sf(found.chi2, 3))
    assert found.low_p == pytest.approx(stats.chi2.cdf(found.chi2, 3))
    none = total([])
    assert (none.chi2, none.df, none.p, none.low_p) == (0, 0, 1, 1)


# --- differences and families -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    # Newcombe (1998), Statistics in Medicine 17, 873–890, table II, method 10.
    [
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((6, 7, 2, 7), 0.0582, 0.8062),
        ((5, 56, 0, 29), -0.0381, 0.1926),
        ((0, 10, 0, 20), -0.1611, 0.2775),
        ((0, 10, 0, 10), -0.2775, 0.2775),
        ((10, 10, 0, 20), 0.6791, 1.0000),
        ((10, 10, 0, 10), 0.6075, 1.0000),
    ],
)
def test_newcombe(counts, low, high):
    found = difference(*counts)
    assert found.value == counts[0] / counts[1] - counts[2] / counts[3]
    assert (low, high) == both(found.interval)


def test_differences_turn_round():
    forward, backward = difference(30, 100, 45, 110), difference(45, 110, 30, 100)
    assert (forward.value, forward.p) == (-backward.value, pytest.approx(backward.p))
    assert (-backward.interval.high, -backward.interval.low) == both(forward.interval)


def test_holm_by_hand():
    # 4 × 0.01, 3 × 0.02 (0.06), 2 × 0.03 = 0.06, 1 × 0.04 is raised to 0.06.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx((0.06, 0.04, 0.06, 0.06))
    assert holm([0.5, 0.9]) == (1.0, 1.0)
    assert holm([]) == ()


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wilson(0, 0), "a share needs at least one trial, not 0"),
        (lambda: wilson(11, 10), "of 10 trials 0 to 10 succeed, not 11"),
        (lambda: wilson(-1, 10), "of 10 trials 0 to 10 succeed, not -1"),
        (lambda: wilson(float("nan"), 10), "of 10 trials 0 to 10 succeed, not nan"),
        (lambda: wilson(1, 10, 1), "a confidence lies between 0 and 1, not at 1"),
        (lambda: wilson(1, 10, 95), "a confidence lies between 0 and 1, not at 95"),
        (lambda: successes_from(Decimal(1), 0, 1), "a share needs at least one trial, not 0"),
        (lambda: best_set([(1, 2), (3, 2)]), "of 2 trials 0 to 2 succeed, not 3"),
        (lambda: best_set([(1, 2)], alpha=0), "alpha lies between 0 and 1, not at 0"),
        (lambda: best_set([(1, 2)], "up"), 'better is "higher" or "lower", not "up"'),
        (lambda: best_set_paired([[1]], alpha=2), "alpha lies between 0 and 1, not at 2"),
        (lambda: best_set_paired([[1]], "up"), 'better is "higher" or "lower", not "up"'),
        (
            lambda: best_set_paired([[1, 0], [1, 0, 1], None]),
            "the cells have 2 to 3 outcomes; "
            "paired cells have one per question, for the same questions",
        ),
        (lambda: paired_p([], []), "a paired test needs at least one question"),
        (lambda: paired_p([1], [float("nan")]), "an outcome isn't a finite number"),
        (lambda: homogeneity([(1, 2), (1, 0)]), "a share needs at least one trial, not 0"),
        (lambda: difference(1, 2, 3, 2), "of 2 trials 0 to 2 succeed, not 3"),
        (lambda: holm([0.5, 1.5]), "a p-value lies from 0 to 1, not at 1.5"),
        (lambda: holm([float("nan")]), "a p-value lies from 0 to 1, not at nan"),
        (lambda: mean_spread([0.5]), "a spread needs at least two values, not 1"),
        (lambda: t_interval(0.5, Spread(0.1, 1)), "Student's t needs at least two clusters"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - The whole message is compared.
        call()
    assert str(raised.value) == message


# --- spreads ------------------------------------------------------------------------------------


def test_students_t_by_hand():
    spread = mean_spread([0.555, 0.33, 0.015])
    assert spread.stderr == pytest.approx(0.27124 / sqrt(3), abs=1e-5)
    found = t_interval(0.3, spread)
    assert (found.low, found.high) == pytest.approx((-0.37382, 0.97382), abs=1e-5)
    normal = t_interval(0.3, Spread(0.1))
    assert (normal.low, normal.high) == pytest.approx((0.3 - 0.1959964, 0.3 + 0.1959964))


def test_items_that_are_all_alike_count_once_each():
    alike = wilson(100, 100)
    found = share_ends(*np.array([[1, 1, 1], [0, 0, np.nan], [100, np.nan, 100]]))
    assert found[0].tolist() == [alike.low, alike.high]
    assert np.isnan(found[1:]).all()


def test_parts_that_may_be_off_together_have_a_wider_mean():
    parts = [(0.3, Interval(0.2, 0.4)), (0.5, Interval(0.4, 0.8))]
    alone = mean_interval(0.4, parts, independent=True)
    assert (alone.low, alone.high) == pytest.approx((0.4 - sqrt(0.02) / 2, 0.4 + sqrt(0.1) / 2))
    together = mean_interval(0.4, parts, independent=False)
    assert (together.low, together.high) == pytest.approx((0.3, 0.6))


def test_welch_equals_scipy():
    random = np.random.default_rng(8)
    first, second = random.random(12), random.random(30) + 0.2
    expected = stats.ttest_ind(first, second, equal_var=False).pvalue
    spreads = [mean_spread(values.tolist()) for values in (first, second)]
    means = [np.array([values.mean()]) for values in (first, second)]
    greater = welch_greater(
        means[1], np.array([spreads[1].stderr ** 2]), np.array([29.0]),
        means[0], np.array([spreads[0].stderr ** 2]), np.array([11.0]),
    )  # fmt: skip
    assert 2 * greater[0] == pytest.approx(expected)
    # Of counts, whose spreads need not be those of their trials.
    pair = (120, 200, Spread(0.05, 100)), (90, 200, Spread(0.06, 50))
    assert welch(*pair) == welch(*pair[::-1])
    assert welch(*pair) == pytest.approx(
        2 * stats.t.sf(0.15 / sqrt(0.0061), 0.0061**2 / (0.0025**2 / 99 + 0.0036**2 / 49))
    )


def test_a_design_effect_by_hand():
    assert design_effect(100, 200, None) == 1
    assert design_effect(100, 200, Spread(0.05, 100)) == pytest.approx(2)
    assert design_effect(100, 200, Spread(0.01, 100)) == 1
    assert design_effect(200, 200, Spread(0.0, 50)) == 4


def test_design_effects_divide_the_trials():
    assert homogeneity([(50, 100), (80, 100)], [2, 2]) == homogeneity([(25, 50), (40, 50)])


# --- the eight grids of DynTS -------------------------------------------------------------------


@pytest.fixture(scope="module")
def dynts():
    """Counts of the eight grids: rows of cells by facet levels."""
    results = load_data(DATA)["dynts-window-ratio"].results
    tables = {}
    for levels, grid in results.grids.items():
        n = results.study.trials_at(levels)
        if not grid.aggregate:
            counts = [(successes_from(value, n, 1), n) for value in grid.columns.value]
            across = len(results.study.x.levels)
            tables[levels] = [counts[at : at + across] for at in range(0, len(counts), across)]
    assert len(tables) == 8
    return tables


def flat(rows):
    return [cell for row in rows for cell in row]


def test_no_cell_can_be_told_apart_from_the_best(dynts):
    for rows in dynts.values():
        found = best_set(flat(rows))
        assert found.indices == tuple(range(20))
        assert found.level == 0.05 / 19


def test_uncorrected_one_of_152_differs_from_the_best(dynts):
    differing = 0
    for rows in dynts.values():
        cells = flat(rows)
        best = max(cells)
        differing += sum(difference(*best, *cell).p <= 0.05 for cell in cells)
    assert differing == 1


def test_the_grids_vary_less_than_independent_trials_would(dynts):
    found = total(homogeneity(flat(rows)) for rows in dynts.values())
    assert (round(found.chi2, 1), found.df) == (51.6, 152)
    assert found.low_p < 1e-15
