"""Whether cells differ: tests of all cells, of an axis, and of two; how far two values differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from gridatlas.statistics.distributions import chi_squared_tails
from gridatlas.statistics.estimates import Counts, Estimate, Floats, arrays, interval_of, wilson
from gridatlas.statistics.interval import Interval


@dataclass(frozen=True, slots=True)
class ChiSquared:
    """A χ² statistic with its degrees of freedom and the p-values of its two tails.

    Attributes:
        p: Chance of a statistic so high: that cells differ.
        low_p: Chance of one so low: that cells are more alike than independent trials are.
    """

    chi2: float
    df: int
    p: float
    low_p: float


@dataclass(frozen=True, slots=True)
class ShareDifference:
    """A difference of two shares (−1 to 1), its interval, and the two-sided p-value of equality."""

    value: float
    interval: Interval
    p: float


def homogeneity(cells: Sequence[Counts | None], effects: Sequence[float] = ()) -> ChiSquared | None:
    """Pearson's χ² test that all cells have the same share (Pearson 1900), as if independent.

    Args:
        cells: Counts per cell, in any order; those without are left out. The p-value is an
            approximation for cells that expect five successes and five failures or more.
        effects: Per cell how many times its variance is that of independent trials, at least 1,
            which its trials are divided by (Rao & Scott 1992, Biometrics 48, 577–585). Empty where
            trials are independent.

    Returns:
        On (cells with data − 1) degrees of freedom; χ² = 0 where all or none succeed; None below
        two cells with data.

    Raises:
        ValueError: For impossible counts.
    """
    with_data = [at for at, cell in enumerate(cells) if cell is not None]
    k, n = arrays([cell for cell in cells if cell is not None])
    if len(k) < 2:
        return None
    if effects:
        effect = np.array([effects[at] for at in with_data])
        k, n = k / effect, n / effect
    share = k.sum() / n.sum()
    variance = share * (1 - share)
    chi2 = float(np.sum((k - n * share) ** 2 / n) / variance) if variance > 0 else 0.0
    return _chi_squared(chi2, len(k) - 1)


def total(tests: Iterable[ChiSquared]) -> ChiSquared:
    """Independent χ² tests as one: the sums of the statistics and of the degrees of freedom."""
    tests = list(tests)
    return _chi_squared(sum(test.chi2 for test in tests), sum(test.df for test in tests))


def _chi_squared(chi2: float, df: int) -> ChiSquared:
    if not df:
        return ChiSquared(chi2, df, 1.0, 1.0)
    return ChiSquared(chi2, df, *chi_squared_tails(chi2, df))


def difference(k1: int, n1: int, k2: int, n2: int) -> ShareDifference:
    """First share minus second: hybrid score interval at 95 %, and Fisher's exact test, two-sided.

    The interval is method 10 of Newcombe (1998), Statistics in Medicine 17, 873–890. Its coverage
    is near 95 %, the test's level is never exceeded: at the border the interval may leave out 0
    where p is still above 0.05.

    Args:
        k1: Successes of the first, from 0 to n1.
        n1: Trials of the first, at least 1.
        k2: Successes of the second, from 0 to n2.
        n2: Trials of the second, at least 1.

    Raises:
        ValueError: For counts outside these ranges.
    """
    first, second = wilson(k1, n1), wilson(k2, n2)
    share1, share2 = k1 / n1, k2 / n2
    interval = combined(share1, first, share2, second)
    return ShareDifference(share1 - share2, interval, fisher(k1, n1, k2, n2))


def combined(value1: float, first: Interval, value2: float, second: Interval) -> Interval:
    """Interval of the first value minus the second, from an interval of each.

    The squares of their distances from the values add up, as in Newcombe's method 10; for any two
    independent intervals Zou & Donner (2008), Statistics in Medicine 27, 1693–1702 (MOVER).
    """
    value = value1 - value2
    below = sqrt((value1 - first.low) ** 2 + (second.high - value2) ** 2)
    above = sqrt((first.high - value1) ** 2 + (value2 - second.low) ** 2)
    return Interval(value - below, value + above)


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """P-values adjusted for their number: Holm (1979), Scandinavian Journal of Statistics 6, 65–70.

    Valid for any dependence, in a family fixed before the data were seen: deltas to a baseline,
    model against model. Not for comparisons with the observed best, see `best_set`.

    Args:
        ps: From 0 to 1, in any order.

    Returns:
        In the same order, from 0 to 1: one at most alpha is significant with the probability of
        any error in the family at most alpha.

    Raises:
        ValueError: For a p-value outside 0 to 1.
    """
    for p in ps:
        if not 0 <= p <= 1:
            raise ValueError(f"a p-value lies from 0 to 1, not at {p}")
    adjusted = np.empty(len(ps))
    times = np.sort(ps) * np.arange(len(ps), 0, -1)
    adjusted[np.argsort(ps)] = np.minimum(1, np.maximum.accumulate(times))
    return tuple(adjusted.tolist())


def fisher(k1: float, n1: float, k2: float, n2: float) -> float:
    """Fisher's exact test of two shares, two-sided: all tables that are at most as likely."""
    x, law = _tables(n1, n2, k1 + k2)
    return float(min(1.0, law[law <= law[x == k1] * (1 + 1e-7)].sum() / law.sum()))


def fisher_greater(k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike) -> Floats:
    """P-values of Fisher's exact test that the first share is greater, for many pairs at once.

    Args:
        k1: Successes of the first, from 0 to n1 (this isn't checked here); one-dimensional.
        n1: Trials of the first, of the same length, as are the other two.
        k2: Successes of the second.
        n2: Trials of the second.
    """
    k, n, other_k, other_n = np.array([k1, n1, k2, n2], float)
    # Many pairs have the same totals, so the same tables.
    _, of = np.unique([n, other_n, k + other_k], axis=1, return_inverse=True)
    order, p = np.argsort(of), np.ones(len(of))
    for at in np.split(order, np.flatnonzero(np.diff(of[order])) + 1) if len(of) else ():
        x, law = _tables(n[at[0]], other_n[at[0]], k[at[0]] + other_k[at[0]])
        above = law[::-1].cumsum()[::-1]
        p[at] = above[(k[at] - x[0]).astype(int)] / above[0]
    return p


def _tables(n1: float, n2: float, total: float) -> tuple[Floats, Floats]:
    """The first's successes in all tables of these totals, and the tables' relative chances."""
    x = np.arange(max(0.0, total - n2), min(n1, total) + 1)
    over_last = (n1 - x[:-1]) * (total - x[:-1]) / (x[1:] * (n2 - total + x[1:]))
    logs = np.cumsum(np.log(np.append(1.0, over_last)))
    return x, np.exp(logs - logs.max())


# --- two estimates -----------------------------------------------------------------------------

BY_TRIALS = "Newcombe's interval"
"""From the trials of both, each as if its trials were independent."""
BY_CLUSTERS = "Newcombe's interval, with standard errors over items"
"""Where one of the two has a standard error that counts trials of one item as alike."""


def difference_interval(published: Estimate, again: Estimate) -> tuple[Interval, str] | None:
    """95 % interval of the value measured again minus the published one, and its name.

    None where one of the two has neither trials nor a standard error. The two count as independent;
    they are asked the same items, so that it is rather too wide than too narrow.

    Raises:
        ValueError: As `interval_of`.
    """
    first, second = interval_of(again), interval_of(published)
    if first is None or second is None:
        return None
    by_trials = not any(estimate.stderr or estimate.clusters for estimate in (published, again))
    interval = combined(again.value, first, published.value, second)
    return interval, BY_TRIALS if by_trials else BY_CLUSTERS
