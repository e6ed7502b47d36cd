"""Which setting is a good default over several benchmarks: mean rank and mean regret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from gridatlas.statistics.estimates import Better, Counts, Floats, arrays, direction

PERMUTED = 20_000_000
"""Values that are dealt in all permutations together, but for what 1,999 of them need."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How one setting does over all benchmarks.

    Attributes:
        rank: Mean rank, from 1 = the best to the number of settings; ties share their mean.
        regret: What is lost, on average, against the best observed setting of each benchmark; a
            proportion.
    """

    rank: float
    regret: float


@dataclass(frozen=True, slots=True)
class GoodDefault:
    """All settings, with what they would show if they differed by chance alone.

    Attributes:
        settings: In the order of the tables.
        alike_regret: The mean regret of a setting if all were alike: the mean over all of them.
        p: The chance, if all were alike, that the best mean rank is at least as good as the one
            observed. Where it is large, no setting stands out.
    """

    settings: tuple[Standing, ...]
    alike_regret: float
    p: float


def good_default(
    tables: Sequence[Sequence[Counts]],
    better: Better = "higher",
    samples: int | None = None,
    seed: int = 0,
) -> GoodDefault:
    """Mean rank and mean regret of every setting over the benchmarks, each with equal weight.

    Regret is measured against the best *observed* setting, which is partly the luckiest: where all
    settings are alike it is above 0 all the same. The setting with the best mean rank is partly the
    luckiest too, so neither number says what it would be in another run.

    `p` deals the observed shares of each benchmark to the settings at random (Friedman 1937, JASA
    32, 675–701): that assumes that benchmarks are independent and that cells have the same trials,
    not that the trials are independent of one another.

    Args:
        tables: One row per benchmark; in it the counts per setting, the same settings everywhere. A
            benchmark that sums up others doesn't belong in it.
        better: Whether more successes or fewer are better.
        samples: Permutations, at least 1; by default 19,999, and fewer of many values.
        seed: Of the permutations. They are the same in every run with the same numpy.

    Raises:
        ValueError: For no benchmarks or settings, rows of unequal length, impossible counts,
            another `better`, or no samples.
    """
    sign = direction(better)
    if not tables or not tables[0]:
        raise ValueError("a default is chosen from at least one setting on one benchmark")
    if len({len(row) for row in tables}) > 1:
        raise ValueError("every benchmark has the same settings: its rows are of equal length")
    values_of = len(tables) * len(tables[0])
    if samples is None:
        samples = min(19_999, max(1_999, PERMUTED // values_of))
    if samples < 1:
        raise ValueError(f"a permutation test needs at least one permutation, not {samples}")
    k, n = (np.stack(both) for both in zip(*map(arrays, tables), strict=True))
    random = np.random.default_rng(seed)
    values = sign * k / n
    ranks: Floats = stats.rankdata(-values, axis=-1)
    rank, regret = ranks.mean(axis=0), (values.max(axis=-1, keepdims=True) - values).mean(axis=0)
    # Ranks are dealt, as each is that of its share wherever it comes: ranking takes far longer.
    alike = random.permuted(np.broadcast_to(ranks, (samples, *ranks.shape)), axis=-1)
    # Equal mean ranks may differ in their last digit.
    as_good = (alike.mean(axis=1).min(axis=1) <= rank.min() + 1e-9).sum()
    return GoodDefault(
        settings=tuple(Standing(float(rank[s]), float(regret[s])) for s in range(k.shape[1])),
        alike_regret=float(regret.mean()),
        p=float((1 + as_good) / (1 + samples)),
    )
