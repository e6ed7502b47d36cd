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
from math import inf

import numpy as np

from gridatlas.statistics.differences import fisher_greater
from gridatlas.statistics.estimates import (
    Better,
    Counts,
    Floats,
    Spread,
    arrays,
    direction,
    variance_of,
    welch_greater,
    wilson,
)
from gridatlas.statistics.paired import outcome_table, sign_flips

COUNTS_UP_TO = 200
"""Different counts up to which each cell is tested against all others."""
RIVALS = 50
"""Different counts that each cell is tested against where there are more."""


@dataclass(frozen=True, slots=True)
class BestSet:
    """The cells that may be the best.

    Attributes:
        indices: The cells in the set, ascending.
        p: Per cell, the smallest p-value with which another cell beats it, of those that it was
            tested against; None for a cell without data, or where no other has data.
        level: A cell leaves when its `p` is at most this: alpha / (cells with data − 1), or
            alpha where no two can be compared.
        test: Name of the test.
    """

    indices: tuple[int, ...]
    p: tuple[float | None, ...]
    level: float
    test: str


def best_set(
    cells: Sequence[Counts | None],
    better: Better = "higher",
    alpha: float = 0.05,
    spreads: Sequence[Spread | None] = (),
) -> BestSet:
    """The confidence set for the best cell, by Fisher's exact test, one-sided.

    That test's level holds at any n and any share, where that of a normal approximation doesn't at
    30 trials or near 0 and 1. It pays for this with some power. Trials count as independent. Where
    a cell has a spread they needn't be: then p is the larger of Fisher's and Welch's, which takes
    the standard errors.

    Cells with the same counts are tested once. Where more than `COUNTS_UP_TO` counts differ, each
    cell is tested only against the `RIVALS` whose share has the highest lower limit (Wilson, 95 %):
    whichever they are, a cell that stays among all stays, so the set's level holds.

    Args:
        cells: Counts per cell; None where there are none.
        better: Whether more successes or fewer are better.
        alpha: Error probability of the set, between 0 and 1.
        spreads: Per cell the standard error of its share; empty where no cell has one.

    Raises:
        ValueError: For impossible counts, another `better`, or an alpha outside its range.
    """
    sign = direction(better)
    with_data = [index for index, cell in enumerate(cells) if cell is not None]
    k, n = arrays([cell for cell in cells if cell is not None])
    k = k if sign > 0 else n - k
    spread_of = [spreads[index] if spreads else None for index in with_data]
    kinds: dict[tuple[float, float, Spread | None], list[int]] = {}
    for index, count in enumerate(zip(k.tolist(), n.tolist(), spread_of, strict=True)):
        kinds.setdefault(count, []).append(index)
    counts = list(kinds)
    rivals = list(range(len(counts)))
    test = "Fisher's exact test, one-sided"
    if any(spread_of):
        test += ", and Welch's t test of the standard errors, whichever p is larger"
    if len(counts) > COUNTS_UP_TO:
        lows = [wilson(successes, int(trials)).low for successes, trials, _ in counts]
        rivals = sorted(sorted(rivals, key=lambda at: -lows[at])[:RIVALS])
        test += f", against the {RIVALS} counts with the highest lower limits"
    p = _fisher(np.array([count[:2] for count in counts], dtype=np.float64).reshape(-1, 2), rivals)
    if any(spread_of):
        means = np.array([(k / n, *variance_of(k, n, spread)) for k, n, spread in counts])
        p = np.maximum(p, welch_greater(*means[rivals].T[:, None, :], *means.T[:, :, None]))
    for place, rival in enumerate(rivals):
        if len(kinds[counts[rival]]) == 1:  # No cell beats itself; one with the same counts may.
            p[rival, place] = np.inf
    least = np.empty(len(with_data))
    for row, alike in zip(p, kinds.values(), strict=True):
        least[alike] = row.min(initial=np.inf)
    return _unbeaten(least, with_data, len(cells), alpha, test)


def _fisher(counts: Floats, rivals: Sequence[int]) -> Floats:
    """p[i, j], with which the counts `rivals[j]` beat the counts i; the same counts once."""
    if not len(counts):
        return np.ones((0, 0))
    kinds, kind_of = np.unique(counts, axis=0, return_inverse=True)
    kind_of = kind_of.reshape(-1)
    winners, winner_of = np.unique(kind_of[rivals], return_inverse=True)
    beaten = np.repeat(kinds, len(winners), axis=0)
    winning = np.tile(kinds[winners], (len(kinds), 1))
    p = fisher_greater(winning[:, 0], winning[:, 1], beaten[:, 0], beaten[:, 1])
    table: Floats = p.reshape(len(kinds), len(winners))[kind_of][:, winner_of.reshape(-1)]
    return table


def best_set_paired(
    outcomes: Sequence[Sequence[float] | None],
    better: Better = "higher",
    alpha: float = 0.05,
) -> BestSet:
    """The confidence set for the best cell, by the one-sided test of `paired_p`.

    Args:
        outcomes: Per cell the outcome per question, the same questions in the same order in all
            cells; None for a cell without data.
        better: Whether higher outcomes or lower ones are better.
        alpha: Error probability of the set, between 0 and 1.

    Raises:
        ValueError: As `paired_p`, or for another `better` or an alpha outside its range.
    """
    sign = direction(better)
    with_data = [index for index, cell in enumerate(outcomes) if cell is not None]
    pairs = list(combinations(range(len(with_data)), 2))
    p = np.full((len(with_data), len(with_data)), np.inf)
    test = ""
    if with_data:
        table = sign * outcome_table([cell for cell in outcomes if cell is not None])
        greater, less, test = sign_flips(table, pairs)
        for (first, second), first_beats, second_beats in zip(pairs, greater, less, strict=True):
            p[second, first], p[first, second] = first_beats, second_beats
    return _unbeaten(p.min(axis=1, initial=np.inf), with_data, len(outcomes), alpha, test)


def _unbeaten(
    least: Floats, with_data: Sequence[int], size: int, alpha: float, test: str
) -> BestSet:
    """The set of some of `size` cells.

    Args:
        least: The smallest p with which another beats each cell with data; infinite without one.
        with_data: The indices of these cells.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha lies between 0 and 1, not at {alpha}")
    level = alpha / max(1, len(with_data) - 1)
    smallest: list[float | None] = [None] * size
    for index, p in zip(with_data, least.tolist(), strict=True):
        smallest[index] = p if p < inf else None
    stay = tuple(i for i in with_data if (p := smallest[i]) is None or p > level)
    return BestSet(stay, tuple(smallest), level, test)
