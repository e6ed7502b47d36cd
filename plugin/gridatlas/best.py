"""Which cells of a grid may be the best: a confidence set, from counts or question by question.

Hsu's multiple comparisons with the best (Hsu 1996, *Multiple Comparisons*, chapter 4) in Bonferroni
form: a cell leaves when another beats it in a one-sided test at alpha / (cells − 1). The best cell
leaves only by one of cells − 1 errors; so with probability 1 − alpha or more the set holds the
best, whichever cell that is, and likewise any one of several that are equally good. To test every
cell against the one that was *observed* to be best would hold nothing: that one was chosen for its
luck.

A cell that stays isn't shown to be as good as the best. One that leaves is shown not to be the only
best, at an error of alpha for it alone: of 20 equal cells with 150 trials each one or more leave in
a quarter of the grids, while any given one stays in 98 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from gridatlas.statistics import Better, Counts, Floats, arrays, direction

Alternative = Literal["two-sided", "greater", "less"]

_CHUNK = 2**20
"""Elements of an array that a vectorised sum holds at once."""
_FINEST_SHARE = 64
"""Outcomes that are shares of up to this many samples are tested exactly."""
_ENUMERATED_UP_TO = 14
"""Questions up to which every sign pattern is tried where outcomes are no such shares."""


@dataclass(frozen=True, slots=True)
class BestSet:
    """The cells that may be the best, and the comparison that comes nearest to excluding each.

    Attributes:
        indices: The cells in the set, ascending.
        p: Per cell, the smallest p-value with which another cell beats it; None for a cell without
            data, or where no other has data.
        by: Per cell, the cell that gives this p-value, the first of equals; None as in `p`.
        level: A cell leaves when its `p` is at most this: alpha / (compared − 1), or
            alpha where no two can be compared.
        compared: The number of cells with data.
        test: Name of the test.
    """

    indices: tuple[int, ...]
    p: tuple[float | None, ...]
    by: tuple[int | None, ...]
    level: float
    compared: int
    test: str


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A p-value, and the name of the test that gave it."""

    p: float
    test: str


# --- from counts --------------------------------------------------------------------------------


def best_set(
    cells: Sequence[Counts | None], better: Better = "higher", alpha: float = 0.05
) -> BestSet:
    """The confidence set for the best cell, by Fisher's exact test, one-sided.

    That test's level holds at any n and any share, where that of a normal approximation doesn't at
    30 trials or near 0 and 1. It pays for this with some power. Trials count as independent.

    Args:
        cells: Counts per cell; None where there are none.
        better: Whether more successes or fewer are better.
        alpha: Error probability of the set, between 0 and 1.

    Raises:
        ValueError: For impossible counts, another `better`, or an alpha outside its range.
    """
    sign = direction(better)
    there = [index for index, cell in enumerate(cells) if cell is not None]
    k, n = arrays([cell for cell in cells if cell is not None])
    k = k if sign > 0 else n - k
    cell, other = np.nonzero(~np.eye(len(there), dtype=bool))
    p = np.ones((len(there), len(there)))
    p[cell, other] = fisher_greater(k[other], n[other], k[cell], n[cell])
    return _unbeaten(p, there, len(cells), alpha, "Fisher's exact test, one-sided")


def fisher_greater(k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike) -> Floats:
    """P-values of Fisher's exact test that the first share is greater, for many pairs at once.

    The upper tail of the hypergeometric distribution, summed outwards from the observed count. The
    terms left out are below e⁻⁵⁰ of the sum: behind the mean a log-concave tail falls at least as
    fast as at the mean, where Bernstein's inequality bounds it.

    Args:
        k1: Successes of the first, from 0 to n1 (this isn't checked here); one-dimensional.
        n1: Trials of the first, of the same length, as are the other two.
        k2: Successes of the second.
        n2: Trials of the second.
    """
    k, n, k2, n2 = (np.asarray(one, dtype=np.float64) for one in (k1, n1, k2, n2))
    total, marked = n + n2, k + k2
    # Below the mean the other tail is the short one: that of n1 − k1 + 1 failures or more.
    low = k < n * marked / total
    k, marked = np.where(low, n - k + 1, k), np.where(low, total - marked, marked)
    logarithm = _log_choose(marked, k) + _log_choose(total - marked, n - k)
    first = np.exp(logarithm - _log_choose(total, n))
    deviation = np.sqrt(n * marked / total * (1 - marked / total))
    width = int(np.ceil(60 + 12 * deviation.max(initial=0)))
    tail = np.empty_like(k)
    step = max(1, _CHUNK // width)
    for start in range(0, len(k), step):
        part = slice(start, start + step)
        x = k[part, None] + np.arange(width)
        ratio = (marked[part, None] - x) * (n[part, None] - x)
        ratio /= (x + 1) * ((total - marked - n)[part, None] + x + 1)
        # The first factor that isn't positive stands behind the last possible count.
        tail[part] = first[part] * (1 + np.cumprod(np.maximum(ratio, 0), axis=1).sum(axis=1))
    return np.clip(np.where(low, 1 - tail, tail), 0, 1)


def _log_choose(n: Floats, k: Floats) -> Floats:
    """Natural logarithm of the binomial coefficient; −∞ for k = −1 and k = n + 1."""
    found = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return np.asarray(found, dtype=np.float64)


def _unbeaten(p: Floats, there: Sequence[int], size: int, alpha: float, test: str) -> BestSet:
    """The set from p[i, j], with which j beats i, of the cells `there` among `size` cells."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha lies between 0 and 1, not at {alpha}")
    level = alpha / max(1, len(there) - 1)
    smallest: list[float | None] = [None] * size
    by: list[int | None] = [None] * size
    if len(there) > 1:
        others = np.where(np.eye(len(there), dtype=bool), np.inf, p)
        for index, row, other in zip(there, others, others.argmin(axis=1), strict=True):
            smallest[index], by[index] = float(row[other]), there[other]
    stay = tuple(i for i in there if (found := smallest[i]) is None or found > level)
    return BestSet(stay, tuple(smallest), tuple(by), level, len(there), test)


# --- question by question -----------------------------------------------------------------------


def paired_p(
    first: Sequence[float],
    second: Sequence[float],
    alternative: Alternative = "two-sided",
    samples: int = 19_999,
    seed: int = 0,
) -> PairedTest:
    """Test of two cells by the outcomes that they have on the same questions.

    Under the null hypothesis each question's difference is as likely to have the other sign: the
    sum of the differences is compared with the sums under other signs (Fisher 1935, *The Design of
    Experiments*, § 21). Questions are independent of one another; samples of one needn't be.

    - Outcomes 0 and 1: that is McNemar's exact test (McNemar 1947, Psychometrika 12, 153–157).
    - Shares, from 0 to 1, of up to 64 samples: exact over all sign patterns, by convolution (Pagano
      & Tritchler 1983, JASA 78, 435–440).
    - Any other numbers: exact over all patterns up to 14 questions; beyond, over random ones.

    Args:
        first: Outcome per question, such as the share of its samples that are right.
        second: As `first`, of the same length and in the same order of questions.
        alternative: `greater` for "the first is higher", `less`, or `two-sided`: twice the smaller
            of the two, at most 1.
        samples: Random patterns; the observed one counts too, so that p is above 1 / (samples + 1)
            and the level holds.
        seed: Of the random patterns.

    Raises:
        ValueError: For no questions, unequal lengths, outcomes that aren't finite, or another
            alternative.
    """
    if alternative not in ("two-sided", "greater", "less"):
        raise ValueError(
            f'the alternative is "two-sided", "greater" or "less", not "{alternative}"'
        )
    table = _outcomes([first, second])
    greater, less, test = _sign_flips(table, [(0, 1)], samples, seed)
    p = {"greater": greater[0], "less": less[0]}
    return PairedTest(float(p.get(alternative, min(1.0, 2 * min(p.values())))), test)


def best_set_paired(
    outcomes: Sequence[Sequence[float] | None],
    better: Better = "higher",
    alpha: float = 0.05,
    samples: int = 19_999,
    seed: int = 0,
) -> BestSet:
    """The confidence set for the best cell, by the one-sided test of `paired_p`.

    Args:
        outcomes: Per cell the outcome per question, the same questions in the same order in all
            cells; None for a cell without data.
        better: Whether higher outcomes or lower ones are better.
        alpha: Error probability of the set, between 0 and 1.
        samples: As in `paired_p`.
        seed: As in `paired_p`; all pairs of cells share the random patterns.

    Raises:
        ValueError: As `paired_p`, or for another `better` or an alpha outside its range.
    """
    sign = direction(better)
    there = [index for index, cell in enumerate(outcomes) if cell is not None]
    pairs = list(combinations(range(len(there)), 2))
    p = np.ones((len(there), len(there)))
    test = ""
    if there:
        table = sign * _outcomes([cell for cell in outcomes if cell is not None])
        greater, less, test = _sign_flips(table, pairs, samples, seed)
        for (one, other), one_beats, other_beats in zip(pairs, greater, less, strict=True):
            p[other, one], p[one, other] = one_beats, other_beats
    return _unbeaten(p, there, len(outcomes), alpha, test)


def _outcomes(cells: Sequence[Sequence[float]]) -> Floats:
    lengths = sorted({len(cell) for cell in cells})
    if len(lengths) > 1:
        raise ValueError(
            f"the cells have {lengths[0]} to {lengths[-1]} outcomes; "
            "paired cells have one per question, for the same questions"
        )
    table = np.array(cells, dtype=np.float64)
    if not table.size:
        raise ValueError("a paired test needs at least one question")
    if not np.isfinite(table).all():
        raise ValueError("an outcome isn't a finite number")
    return table


def _sign_flips(
    table: Floats, pairs: Sequence[tuple[int, int]], samples: int, seed: int
) -> tuple[Floats, Floats, str]:
    """P-values that the first of each pair of rows is greater, and less; and the test's name."""
    differences = np.array([table[i] - table[j] for i, j in pairs]).reshape(-1, table.shape[1])
    shares = np.unique(np.abs(table))
    for unit in range(1, _FINEST_SHARE + 1):
        if shares[-1] <= 1 and np.allclose(
            shares * unit, np.rint(shares * unit), rtol=0, atol=1e-9
        ):
            steps = np.rint(differences * unit).astype(np.int64)
            tails = np.array([_exact_tails(row) for row in steps]).reshape(-1, 2)
            binary = np.isin(shares, (0, 1)).all()
            name = "McNemar's exact test" if binary else "sign-flip permutation test, exact"
            return tails[:, 0], tails[:, 1], name
    questions = table.shape[1]
    if questions <= _ENUMERATED_UP_TO:
        name = "sign-flip permutation test, exact"
        patterns = np.arange(2**questions)[:, None] >> np.arange(questions) & 1
        observed = 0
    else:
        name = f"sign-flip permutation test, {samples:,} random patterns"
        patterns = np.random.default_rng(seed).integers(0, 2, (samples, questions))
        observed = 1
    signs = patterns * 2.0 - 1
    counts = []
    for start in range(0, len(differences), 64):
        part = differences[start : start + 64]
        sums, seen = signs @ part.T, part.sum(axis=1)
        # Equal sums may differ in their last digits.
        room = 1e-9 * np.abs(part).sum(axis=1)
        counts += [((sums >= seen - room).sum(axis=0), (sums <= seen + room).sum(axis=0))]
    both = np.concatenate(counts, axis=1) if counts else np.ones((2, 0))
    greater, less = (both + observed) / (len(signs) + observed)
    return greater, less, name


def _exact_tails(steps: NDArray[np.int64]) -> tuple[float, float]:
    """Chances of a sum at least, and at most, as large as that of these whole numbers.

    The sum of those that are positive is a Binomial(count, ½) times the size, for each size.
    """
    law = np.ones(1)
    for size, count in zip(*np.unique(np.abs(steps[steps != 0]), return_counts=True), strict=True):
        part = np.zeros(size * count + 1)
        chosen = np.arange(count + 1.0)
        part[::size] = np.exp(_log_choose(chosen[-1:], chosen) - count * np.log(2))
        law = np.convolve(law, part)
    positive = steps[steps > 0].sum()
    return min(1.0, float(law[positive:].sum())), min(1.0, float(law[: positive + 1].sum()))
