"""Which setting is a good default over several benchmarks: mean rank and mean regret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from gridatlas.statistics.counts import Better, Counts, Floats, arrays, direction
from gridatlas.statistics.interval import Interval


@dataclass(frozen=True, slots=True)
class Standing:
    """How one setting does over all benchmarks.

    Attributes:
        rank: Mean rank, from 1 = the best to the number of settings; ties share their mean.
        rank_interval: Where 95 % of the resamples have it.
        regret: What is lost, on average, against the best observed setting of each benchmark; a
            proportion.
        regret_interval: Where 95 % of the resamples have it.
    """

    rank: float
    rank_interval: Interval
    regret: float
    regret_interval: Interval


@dataclass(frozen=True, slots=True)
class GoodDefault:
    """All settings, beside what they would show if chance alone told them apart.

    Attributes:
        settings: In the order of the tables.
        alike_regret: The mean regret of a setting if all were alike: the mean over all of them.
        alike_regret_interval: Where 95 % of the settings would have theirs.
        p: The chance, if all were alike, that the best mean rank is at least as good as the one
            observed. Where it is large, no setting stands out.
    """

    settings: tuple[Standing, ...]
    alike_regret: float
    alike_regret_interval: Interval
    p: float


def good_default(
    tables: Sequence[Sequence[Counts]],
    better: Better = "higher",
    samples: int = 2000,
    seed: int = 0,
) -> GoodDefault:
    """Mean rank and mean regret of every setting over the benchmarks, each with equal weight.

    Regret is measured against the best *observed* setting, which is partly the luckiest: it is
    biased upwards, and more so in the resamples, which add their noise to that of the data.

    The intervals are percentiles of a parametric bootstrap (Efron & Tibshirani 1993, *An
    Introduction to the Bootstrap*, § 6.5): every cell is drawn anew from the binomial distribution
    with its observed share, as if trials were independent. They show how far noise of this size
    moves the numbers, no more. They aren't confidence intervals of the true rank and regret: of 20
    settings that are alike hardly one has a regret interval that reaches down to 0, and the ranks
    of settings that aren't are drawn towards the middle. An interval may lie above its own value.

    `alike_regret` and `p` hand the observed shares of each benchmark to the settings at random
    (Friedman 1937, JASA 32, 675–701): that assumes that benchmarks are independent and that cells
    have the same trials, not that the trials are independent of one another.

    Args:
        tables: One row per benchmark; in it the counts per setting, the same settings everywhere. A
            benchmark that sums up others doesn't belong in it.
        better: Whether more successes or fewer are better.
        samples: Resamples, at least 1.
        seed: Of the resamples. They are the same in every run with the same numpy.

    Raises:
        ValueError: For no benchmarks or settings, rows of unequal length, impossible counts,
            another `better`, or no samples.
    """
    sign = direction(better)
    if not tables or not tables[0]:
        raise ValueError("a default is chosen from at least one setting on one benchmark")
    if len({len(row) for row in tables}) > 1:
        raise ValueError("every benchmark has the same settings: its rows are of equal length")
    if samples < 1:
        raise ValueError(f"a bootstrap needs at least one resample, not {samples}")
    k, n = (np.stack(both) for both in zip(*map(arrays, tables), strict=True))
    random = np.random.default_rng(seed)
    values = sign * k / n
    rank, regret = _means(values)
    drawn = random.binomial(n.astype(np.int64), k / n, (samples, *k.shape))
    ranks, regrets = _means(sign * drawn / n)
    alike = random.permuted(np.broadcast_to(values, (samples, *k.shape)), axis=-1)
    alike_ranks, alike_regrets = _means(alike)
    # Equal mean ranks may differ in their last digit.
    as_good = (alike_ranks.min(axis=1) <= rank.min() + 1e-9).sum()
    return GoodDefault(
        settings=tuple(
            Standing(float(rank[s]), _middle(ranks[:, s]), float(regret[s]), _middle(regrets[:, s]))
            for s in range(k.shape[1])
        ),
        alike_regret=float(regret.mean()),
        alike_regret_interval=_middle(alike_regrets),
        p=float((1 + as_good) / (1 + samples)),
    )


def _means(values: Floats) -> tuple[Floats, Floats]:
    """Mean rank and mean regret per setting, of (…, benchmark, setting) where higher is better."""
    ranks = stats.rankdata(-values, axis=-1)
    regrets = values.max(axis=-1, keepdims=True) - values
    return ranks.mean(axis=-2), regrets.mean(axis=-2)


def _middle(values: Floats) -> Interval:
    low, high = np.quantile(values, (0.025, 0.975))
    return Interval(float(low), float(high))
