"""Error rates and power of the statistics, in simulated grids where the truth is known.

Each test prints what it measured; `pytest -s` shows it.
"""

import numpy as np
import pytest
from amount import amount

from gridatlas.statistics.best_set import best_set, best_set_paired
from gridatlas.statistics.differences import fisher_greater, holm, homogeneity
from gridatlas.statistics.estimates import design_effect, mean_spread, t_interval, wilson
from gridatlas.statistics.interval import mean_interval
from gridatlas.statistics.paired import outcome_table, paired_p, sign_flips

GRIDS = amount(300, 1000)
FEW = amount(60, 200)
CELLS = 20


def drawn(seed, shares, n, grids=GRIDS):
    """Grids of counts: one row of cells for each."""
    random = np.random.default_rng(seed)
    for row in random.binomial(n, shares, (grids, len(shares))):
        yield [(int(k), n) for k in row]


def beta_questions(random, count):
    """Chances to answer each question: most are easy or hard, as those of real benchmarks."""
    return random.beta(0.3, 0.3, count)


# --- the set for the best, from counts ----------------------------------------------------------


@pytest.mark.parametrize("n", [30, 150])
@pytest.mark.parametrize("share", [0.5, 0.03])
def test_under_pure_noise_the_set_holds_any_one_cell(n, share):
    # All cells are equally good, so that each is a true best: how often it is held, on average.
    stays = np.array([len(best_set(cells).indices) for cells in drawn(1, [share] * CELLS, n)])
    print(
        f"n={n}, share {share}: held {stays.mean() / CELLS:.4f}, all 20 {(stays == 20).mean():.3f}"
    )
    assert stays.mean() / CELLS >= 0.95
    # The set is no test of all cells at once.
    assert (stays == CELLS).mean() >= 0.7


@pytest.mark.parametrize("n", [30, 150])
def test_the_set_holds_a_best_that_is_ahead_by_little(n):
    shares = [0.50] * 7 + [0.52] + [0.50] * 12
    held = np.mean([7 in best_set(cells).indices for cells in drawn(2, shares, n)])
    print(f"n={n}, best ahead by 2 points: held {held:.3f}")
    assert held >= 0.95


def test_a_real_difference_is_found():
    shares = [0.5] * 7 + [0.6] + [0.5] * 12
    sets = [best_set(cells).indices for cells in drawn(3, shares, 1000, grids=200)]
    left = np.mean([(CELLS - len(chosen)) / (CELLS - 1) for chosen in sets])
    held = np.mean([7 in chosen for chosen in sets])
    print(f"n=1000, best ahead by 10 points: held {held:.3f}, of the others left {left:.3f}")
    assert held >= 0.95
    assert left >= 0.9


def test_holm_against_the_observed_best_errs():
    # Why there is a set for the best: the comparisons aren't fixed before the data are seen.
    wrong = 0
    for cells in drawn(4, [0.5] * CELLS, 150):
        ordered = sorted(k for k, _ in cells)
        best, others = np.full(CELLS - 1, ordered[-1]), np.array(ordered[:-1])
        n = np.full(CELLS - 1, 150)
        p = np.minimum(1, 2 * fisher_greater(best, n, others, n))
        wrong += min(holm(p.tolist())) <= 0.05
    print(f"Holm against the observed best: a false difference in {wrong / GRIDS:.3f}")
    assert wrong / GRIDS > 0.15


def test_samples_of_the_same_questions_leave_the_set_valid():
    # 30 questions × 5 samples count as 150 independent trials: too careful, not too bold.
    random = np.random.default_rng(5)
    stays = []
    for _ in range(GRIDS):
        chances = np.tile(beta_questions(random, 30), (CELLS, 1))
        right = random.binomial(5, chances).sum(axis=1)
        stays.append(len(best_set([(int(k), 150) for k in right]).indices) / CELLS)
    print(f"the same 30 questions × 5: held {np.mean(stays):.4f}")
    assert np.mean(stays) >= 0.95


# --- paired by question -------------------------------------------------------------------------


def paired_grids(seed, ahead, grids, cells=8, questions=60, samples=5):
    """Outcomes per cell and question; cell 3 is ahead by `ahead` on the questions in the middle."""
    random = np.random.default_rng(seed)
    for _ in range(grids):
        chances = np.tile(beta_questions(random, questions), (cells, 1))
        middle = (chances[3] > 0.02) & (chances[3] < 0.98 - ahead)
        chances[3] += np.where(middle, ahead, 0)
        yield random.binomial(samples, chances) / samples


@pytest.mark.parametrize("samples", [1, 5])
def test_the_paired_set_holds_any_one_cell(samples):
    grids = paired_grids(6, 0, amount(100, 300), samples=samples)
    stays = [len(best_set_paired(outcomes.tolist()).indices) / 8 for outcomes in grids]
    print(f"paired, {samples} samples: held {np.mean(stays):.4f}")
    assert np.mean(stays) >= 0.95


def test_pairing_finds_what_counts_alone_do_not():
    held, paired, counted = [], [], []
    for outcomes in paired_grids(7, 0.15, amount(60, 200)):
        found = best_set_paired(outcomes.tolist()).indices
        right = np.rint(outcomes.sum(axis=1) * 5).astype(int)
        held.append(3 in found)
        paired.append((8 - len(found)) / 7)
        counted.append((8 - len(best_set([(int(k), 300) for k in right]).indices)) / 7)
    print(
        f"ahead by 15 points on half the questions: held {np.mean(held):.3f}, "
        f"left {np.mean(paired):.3f} when paired, {np.mean(counted):.3f} by counts"
    )
    assert np.mean(held) >= 0.95
    assert np.mean(paired) > np.mean(counted) + 0.2


@pytest.mark.parametrize("kind", ["one sample", "five samples", "other numbers"])
def test_level_of_the_paired_test(kind, monkeypatch):
    monkeypatch.setattr("gridatlas.statistics.paired.RANDOM_PATTERNS", 199)
    random = np.random.default_rng(8)
    tests = amount(300, 1000)
    rejected = np.zeros(3)
    for _ in range(tests):
        chances = beta_questions(random, 30)
        if kind == "one sample":
            first, second = random.binomial(1, chances, (2, 30))
        elif kind == "five samples":
            first, second = random.binomial(5, chances, (2, 30)) / 5
        else:
            first, second = random.normal(chances, 1, (2, 30))
        greater, less, _ = sign_flips(outcome_table([first, second]), [(0, 1)])
        p = np.array([greater[0], less[0], paired_p(first, second).p])
        rejected += p <= 0.05
    print(f"{kind}: greater, less, two-sided: rejected {rejected / tests}")
    # Three standard errors of a rate of 0.05.
    assert (rejected / tests <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / tests)).all()


# --- Wilson, and good defaults ------------------------------------------------------------------


@pytest.mark.parametrize("n", [30, 150])
def test_wilson_covers_on_average(n):
    random = np.random.default_rng(9)
    shares = random.random(20_000)
    limits = [wilson(k, n) for k in range(n + 1)]
    found = [limits[k] for k in random.binomial(n, shares)]
    covered = np.mean(
        [interval.low <= p <= interval.high for interval, p in zip(found, shares, strict=True)]
    )
    print(f"Wilson, n={n}: covered {covered:.4f}")
    assert covered == pytest.approx(0.95, abs=0.01)


def test_wilson_for_other_questions_covers_as_n_questions():
    # New questions each time, 5 samples of each: n = questions covers, n = 150 trials doesn't.
    random = np.random.default_rng(10)
    wide = narrow = 0
    for _ in range(GRIDS):
        right = int(random.binomial(5, beta_questions(random, 30)).sum())
        wide += wilson(right / 5, 30).low <= 0.5 <= wilson(right / 5, 30).high
        narrow += wilson(right, 150).low <= 0.5 <= wilson(right, 150).high
    print(f"other questions: covered {wide / GRIDS:.3f} as 30, {narrow / GRIDS:.3f} as 150")
    assert wide / GRIDS >= 0.95
    assert narrow / GRIDS < 0.8


# --- items of their own, and seeds --------------------------------------------------------------


def asked_items_of_their_own(seed, share, items, samples, grids=FEW, alike=0.9):
    """Grids of equally good cells: counts and standard errors over the items of each cell."""
    random = np.random.default_rng(seed)
    spread = (1 - alike) / alike
    for _ in range(grids):
        chances = random.beta(share * spread, (1 - share) * spread, (CELLS, items))
        right = random.binomial(samples, chances)
        counts = [(int(k), items * samples) for k in right.sum(axis=1)]
        yield counts, [mean_spread(row) for row in (right / samples).tolist()]


@pytest.mark.parametrize(("items", "samples"), [(100, 2), (20, 10)])
@pytest.mark.parametrize("share", [0.5, 0.1, 0.97])
def test_the_set_holds_any_one_cell_where_each_has_items_of_its_own(share, items, samples):
    by_trials, by_items = [], []
    for counts, spreads in asked_items_of_their_own(4, share, items, samples):
        by_trials.append(len(best_set(counts).indices) / CELLS)
        by_items.append(len(best_set(counts, spreads=spreads).indices) / CELLS)
    print(
        f"share {share}, {items} × {samples}: held {np.mean(by_items):.3f}, "
        f"as independent trials {np.mean(by_trials):.3f}"
    )
    assert np.mean(by_items) >= 0.95
    assert np.mean(by_trials) < 0.95


@pytest.mark.parametrize(("items", "samples"), [(100, 2), (50, 4)])
def test_the_test_of_all_cells_takes_design_effects(items, samples):
    wrong = np.zeros(2)
    grids = amount(120, 400)
    for counts, spreads in asked_items_of_their_own(5, 0.4, items, samples, grids):
        effects = [design_effect(*pair) for pair in zip_counts(counts, spreads)]
        wrong += [homogeneity(counts, of).p <= 0.05 for of in (effects, ())]
    with_effects, without = wrong / grids
    print(f"{items} × {samples}: p ≤ 0.05 in {with_effects}, as independent trials {without}")
    assert with_effects <= 0.08
    assert without > 0.15


def zip_counts(counts, spreads):
    return [(k, n, spread) for (k, n), spread in zip(counts, spreads, strict=True)]


def test_the_interval_over_seeds_covers_where_that_of_their_trials_does_not():
    random = np.random.default_rng(6)
    held = np.zeros(2)
    studies = amount(800, 2000)
    for seeds in random.normal(0.5, 0.05, (studies, 3)):
        shares = random.binomial(200, np.clip(seeds, 0, 1)) / 200
        mean = float(shares.mean())
        over_seeds = t_interval(mean, mean_spread(shares.tolist()))
        parts = [(share, wilson(share * 200, 200)) for share in shares.tolist()]
        of_trials = mean_interval(mean, parts, independent=True)
        held += [interval.low <= 0.5 <= interval.high for interval in (over_seeds, of_trials)]
    print(f"held over seeds, of trials: {held / studies}")
    assert 0.94 <= held[0] / studies <= 0.96
    assert held[1] / studies < 0.8
