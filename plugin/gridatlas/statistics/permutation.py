"""Whether a setting, or an axis of a grid, stands out: tests by permutation.

Every test here asks one question that was fixed before any value was seen, and compares what was
observed with what it would be if the labels of the cells meant nothing (Fisher 1935, *The Design of
Experiments*, § 21). None takes the trials of a cell as independent of those of another, but
`best_by_counts`. Values are turned beforehand so that more is better; nan is a value that is
absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import signal, stats

from gridatlas.statistics.estimates import Floats

PERMUTATIONS = 99_999
"""Random permutations; the observed order counts too. Fewer where p is far above 0.1."""
_AT_ONCE = 2_000_000
"""Values that are permuted at once: a bound for memory."""
_BANKED = 12_000_000
"""Values up to which random orders are made once, and used by all tests of their length."""
_FEW_STEPS = 3
"""Steps between the values of a row up to which adding them up is quicker than looking them up."""
_STRIDE = 7_919
"""How far apart two blocks of a test begin in the bank of orders."""
_AT_MOST = 20_000_000
"""Values that all permutations of a test have together: larger grids get fewer permutations."""
_FIRST = 9_999
"""Permutations after which a test ends whose p is far above what could count."""
_FAR_ABOVE = 0.1
"""Above this p counts for nothing, whatever it is adjusted for."""
_TIED = 1e-9
"""Statistics that differ by less are equal: sums of the same values in another order."""


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """The p-value of a test by permutation.

    Attributes:
        p: The chance of a statistic as extreme as the observed one, if the labels meant nothing.
        permutations: Random ones; None where p is exact.
    """

    p: float
    permutations: int | None = None

    @property
    def error(self) -> float:
        """Twice the standard error of p: what another seed may give."""
        if self.permutations is None:
            return 0.0
        return 2 * sqrt(self.p * (1 - self.p) / self.permutations)


@dataclass(frozen=True, slots=True)
class AxisTest(PermutationTest):
    """Whether an axis matters, with what it takes to name one of its levels.

    Attributes:
        offsets: Per level its mean rank less the mean of all ranks; below 0 is better. nan for a
            level that takes no part.
        cutoff: The 95 % point of the largest |offset| over the levels, if the labels meant nothing:
            a level at or beyond it differs from the others.
    """

    offsets: tuple[float, ...] = ()
    cutoff: float = inf


def best_over_replicates(
    values: Floats, permutations: int = PERMUTATIONS, seed: int = 0
) -> PermutationTest:
    """Test of the smallest mean rank over benchmarks or seeds (Friedman 1937, JASA 32, 675–701).

    The cells of each replicate are permuted. Assumes that replicates are independent of one another
    and, if all cells are alike, that those of a replicate are exchangeable.

    Args:
        values: (replicate, cell), at least 2 × 2; cells that a replicate lacks take no part.
        permutations: Random ones, at least 1.
        seed: Of the permutations.

    Raises:
        ValueError: For fewer than two replicates.
    """
    if len(values) < 2:
        raise ValueError("ranks are compared over at least two replicates")
    ranks = _ranks(values[:, np.isfinite(values).all(axis=0)])
    observed = ranks.mean(axis=0).min(initial=inf)
    if ranks.shape[1] < 2:
        return PermutationTest(1.0)
    permutations = _affordable(permutations, ranks.size)
    # Only how the replicates lie against one another counts, so the first stays as it is.
    return _test(
        (ranks[0] + sums).min(axis=1) / len(ranks) <= observed + _TIED
        for sums in _dealt(ranks[1:], permutations, seed)
    )


def best_by_item(
    outcomes: Floats, permutations: int = PERMUTATIONS, seed: int = 0
) -> PermutationTest:
    """Test of the largest mean of cells that have an outcome for each of the same items.

    The cells' outcomes of each item are permuted: items are independent of one another; the
    outcomes of an item needn't be.

    Args:
        outcomes: (item, cell), without nan.
        permutations: As in `best_over_replicates`.
        seed: Of the permutations.

    Raises:
        ValueError: For an outcome that is absent.
    """
    if not np.isfinite(outcomes).all():
        raise ValueError("each cell has an outcome for each item")
    # An item on which all cells have the same outcome adds the same to each of them.
    varied = outcomes[np.ptp(outcomes, axis=1) > 0] if outcomes.size else outcomes
    if not len(varied):
        return PermutationTest(1.0)
    observed = varied.sum(axis=0).max()
    permutations = _affordable(permutations, varied.size)
    return _test(
        sums.max(axis=1) >= observed - _TIED for sums in _dealt(varied, permutations, seed)
    )


def best_by_counts(successes: Floats, trials: Floats) -> PermutationTest:
    """Test of the largest standardized share: max of (k/n − p̄) √n over the cells.

    All successes are dealt again over all trials, so that the cells' counts are multivariate
    hypergeometric: p is exact, by convolution. Conservative where cells share their items.

    Args:
        successes: Per cell, from 0 to its trials; fewer are better where these are the failures.
        trials: Per cell, at least 1; whole numbers.

    Returns:
        p = 1 where all trials succeed, or none.
    """
    total, dealt = int(trials.sum()), int(successes.sum())
    if len(trials) < 2 or dealt in (0, total):
        return PermutationTest(1.0)
    share = dealt / total
    root = np.sqrt(trials)
    observed = float(((successes / trials - share) * root).max())
    # The most successes of each cell with which it stays below what was observed.
    caps = np.ceil((share + (observed - _TIED) / root) * trials - 1e-9) - 1
    laws = [
        stats.binom.pmf(np.arange(min(cap, n) + 1), n, share)
        for n, cap in zip(trials.astype(int), caps.astype(int), strict=True)
    ]
    while len(laws) > 1:  # in pairs, so that long laws are few
        pairs = zip(laws[::2], laws[1::2], strict=False)
        joined = [signal.convolve(first, second)[: dealt + 1] for first, second in pairs]
        laws = joined + laws[len(joined) * 2 :]
    [law] = laws
    below = law[dealt] if len(law) > dealt else 0.0
    p = 1 - below / float(stats.binom.pmf(dealt, total, share))
    return PermutationTest(float(np.clip(p, 0.0, 1.0)))


def axis_over_replicates(
    values: Floats, permutations: int = PERMUTATIONS, seed: int = 0
) -> AxisTest:
    """Test of an axis over replicates: items, seeds, or at least three benchmarks.

    Per replicate the means of the levels over its complete rows are ranked; the statistic is
    Σ (mean rank of a level − mean)², and the labels of the levels are permuted within each
    replicate.

    Args:
        values: (replicate, level, row): rows are the levels of the other axis. Only the part that
            is complete counts, see `complete_part`.
        permutations: As in `best_over_replicates`.
        seed: Of the permutations.
    """
    levels, rows = complete_part(values)
    complete = values[:, levels][:, :, rows]
    if not complete.size or complete.shape[1] < 2:
        return AxisTest(1.0)
    return _spread_out(_axis(_ranks(complete.mean(axis=2)), permutations, seed), levels)


def axis_over_rows(values: Floats, permutations: int = PERMUTATIONS, seed: int = 0) -> AxisTest:
    """Test of an axis with one or two benchmarks: for these questions, or these runs, alone.

    Cells are ranked within each benchmark and the ranks averaged over the benchmarks; the statistic
    is as in `axis_over_replicates`, and the labels of the levels are permuted within each row.

    Args:
        values: (benchmark, level, row); as in `axis_over_replicates`.
        permutations: As in `best_over_replicates`.
        seed: Of the permutations.
    """
    levels, rows = complete_part(values)
    complete = values[:, levels][:, :, rows]
    if not complete.size or complete.shape[1] < 2:
        return AxisTest(1.0)
    ranks = _ranks(complete.reshape(len(complete), -1)).mean(axis=0)
    return _spread_out(_axis(ranks.reshape(complete.shape[1:]).T, permutations, seed), levels)


def complete_part(values: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Levels and rows of which every table has every value, so that levels are compared fairly.

    Rows that lack a value are left out. Where all do, levels are left out instead, those with the
    fewest values first, until a row is complete.

    Args:
        values: (table, level, row).

    Returns:
        Which levels and which rows.
    """
    present: NDArray[np.bool_] = np.asarray(np.isfinite(values).all(axis=0))
    levels: NDArray[np.bool_] = np.ones(values.shape[1], dtype=np.bool_)
    while levels.sum() > 1 and not present[levels].all(axis=0).any():
        counts = np.where(levels, present.sum(axis=1), np.iinfo(np.int64).max)
        levels[int(counts.argmin())] = False
    rows: NDArray[np.bool_] = np.asarray(present[levels].all(axis=0))
    return levels, rows


def _spread_out(test: AxisTest, levels: NDArray[np.bool_]) -> AxisTest:
    """The test with an offset for each level: nan for those that took no part."""
    offsets = np.full(len(levels), np.nan)
    offsets[levels] = test.offsets
    return replace(test, offsets=tuple(offsets.tolist()))


def _axis(ranks: Floats, permutations: int, seed: int) -> AxisTest:
    """The test from ranks within whose rows labels are permuted: (replicate or row, level)."""
    middle = ranks.mean()
    offsets = ranks.mean(axis=0) - middle
    observed = float((offsets**2).sum())
    varied = ranks[np.ptp(ranks, axis=1) > 0]
    constant = ranks[np.ptp(ranks, axis=1) == 0, 0].sum()
    if not len(varied):
        return AxisTest(1.0, None, tuple(offsets.tolist()))
    permutations = _affordable(permutations, varied.size)
    largest: list[Floats] = []

    def as_far() -> Iterator[NDArray[np.bool_]]:
        for sums in _dealt(varied, permutations, seed):
            dealt = (constant + sums) / len(ranks) - middle
            largest.append(np.abs(dealt).max(axis=1))
            yield (dealt**2).sum(axis=1) >= observed - _TIED

    test = _test(as_far())
    cutoff = float(np.quantile(np.concatenate(largest), 0.95, method="higher"))
    return AxisTest(test.p, test.permutations, tuple(offsets.tolist()), cutoff)


def _test(as_extreme: Iterable[NDArray[np.bool_]]) -> PermutationTest:
    """The test from which permutations are as extreme as what was observed, part by part.

    It ends early where p is so far above what counts that more permutations can't change that.
    """
    extreme = done = 0
    for part in as_extreme:
        extreme += int(part.sum())
        done += len(part)
        test = PermutationTest((1 + extreme) / (1 + done), done)
        if test.p - 3 * test.error > _FAR_ABOVE:
            break
    return test


def _ranks(values: Floats) -> Floats:
    """Ranks along the last axis, 1 for the highest; ties share their mean."""
    ranks: Floats = stats.rankdata(-np.round(values, 12), axis=-1)
    return ranks


def _dealt(rows: Floats, permutations: int, seed: int) -> Iterator[Floats]:
    """Sums over the rows, each in a random order of its own: in parts of (permutation, place)."""
    length = rows.shape[1]
    step = max(1, _AT_ONCE // length)
    random = np.random.default_rng(seed)
    banked = length <= np.iinfo(np.uint8).max and length * permutations <= _BANKED
    bank = _bank(length, permutations, seed) if banked else None
    steps = _steps(rows)
    few = sum(map(len, steps.values())) <= _FEW_STEPS * len(rows)
    start = 0
    while start < permutations:
        size = min(step, permutations - start, permutations if start else _FIRST)
        if bank is None:
            yield sum((np.take(row, _orders(random, size, length)) for row in rows), np.zeros(1))
        else:
            orders = [_turned(bank, start + at * _STRIDE, size) for at in range(len(rows))]
            yield _added(rows, steps, orders) if few else _looked_up(rows, orders)
        start += size


def _looked_up(rows: Floats, orders: Sequence[NDArray[np.uint8]]) -> Floats:
    sums = np.zeros(orders[0].shape)
    for row, order in zip(rows, orders, strict=True):
        sums += np.take(row, order)
    return sums


Steps = dict[float, list[tuple[int, int]]]
"""By the height of a step down: the row that has it, and how many of its values are above."""


def _steps(rows: Floats) -> Steps:
    """The steps between the sorted values of each row; rows of few values have few."""
    steps: Steps = {}
    for at, row in enumerate(-np.sort(-rows, axis=1)):
        heights = np.round(row[:-1] - row[1:], 9)
        for above in np.flatnonzero(heights):
            steps.setdefault(float(heights[above]), []).append((at, int(above) + 1))
    return steps


def _added(rows: Floats, steps: Steps, orders: Sequence[NDArray[np.uint8]]) -> Floats:
    """As `_looked_up` of the sorted rows: each step adds its height to the places above it."""
    sums = np.full(orders[0].shape, rows.min(axis=1).sum())
    for height, found in steps.items():
        for first in range(0, len(found), np.iinfo(np.uint8).max):
            above = np.zeros(sums.shape, np.uint8)
            for at, count in found[first : first + np.iinfo(np.uint8).max]:
                above += orders[at] < count
            sums += height * above
    return sums


def _turned(bank: NDArray[np.uint8], start: int, size: int) -> NDArray[np.uint8]:
    """So many orders of the bank from a place on, which goes on at its beginning."""
    start %= len(bank)
    if start + size <= len(bank):
        return bank[start : start + size]
    return np.concatenate([bank[start:], bank[: start + size - len(bank)]])


@lru_cache(maxsize=8)
def _bank(length: int, permutations: int, seed: int) -> NDArray[np.uint8]:
    """Random orders that all tests of a length share: making them takes longer than the tests.

    The rows of a test begin at different places of it, so each has orders of its own.
    """
    return _orders(np.random.default_rng([seed, length]), permutations, length).astype(np.uint8)


def _orders(random: np.random.Generator, size: int, length: int) -> NDArray[np.intp]:
    """Random orders of `length` things: (size, length)."""
    return np.argsort(random.random((size, length), dtype=np.float32), axis=1)


def _affordable(permutations: int, values: int) -> int:
    return min(permutations, max(1_999, _AT_MOST // max(1, values)))
