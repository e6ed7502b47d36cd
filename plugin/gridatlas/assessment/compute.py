"""The intervals and tests of a study's grids, computed.

Imports scipy; `uncertainty` calls it only for what it doesn't have from a build before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf, isnan
from typing import TypeVar

import numpy as np

from gridatlas.assessment.evidence import ITEMS, TRIALS, Evidence, gather_evidence
from gridatlas.assessment.uncertainty import (
    ALPHA,
    UNTESTED,
    DifferenceUncertainty,
    Ends,
    GridUncertainty,
    PooledChiSquared,
    Uncertainty,
    defined,
    key_of_levels,
)
from gridatlas.model.study import Levels
from gridatlas.statistics.best_set import best_set, best_set_paired
from gridatlas.statistics.differences import difference, holm, homogeneity, total
from gridatlas.statistics.estimates import Floats, Spread, design_effect, welch
from gridatlas.statistics.paired import paired_p
from gridatlas.table.coded import Rows
from gridatlas.table.differences import Difference, differences
from gridatlas.table.grids import Results
from gridatlas.table.items import (
    AGGREGATE,
    all_paired,
    grid_counts,
    items_of,
    same_items,
    share_scale,
    shares_by_item,
)
from gridatlas.table.study_table import UNKNOWN, Grid, Ints

Item = TypeVar("Item")

COMPARED_UP_TO = 10_000
"""Cells of a grid up to which levels are tested against one another, cell by cell."""
PAIRED_UP_TO = 100
"""Cells of a grid up to which they are tested against one another item by item."""
CLUSTERS = 30
"""Items that a standard error is taken over from which a χ² test takes it as known."""
REPEATS = 3
"""Repeats of the experiment from which their mean has an interval."""
NO_DIRECTION = "nothing says which values are better"
"""Why no cell is tested of being the best, where a metric has no `better`."""

Counts = tuple[Ints, str]
"""Successes and trials of the cells of a grid by (cell, 2), and why they aren't known."""
Spreads = Sequence[Spread | None]
"""The standard errors of the cells of a grid, where these are known."""


def compute(results: Results) -> Uncertainty:
    """All intervals and tests of a study."""
    counts = {levels: grid_counts(grid) for levels, grid in results.grids.items()}
    evidence = gather_evidence(results, {levels: of for levels, (of, _) in counts.items()})
    spreads = {levels: _spreads(found) for levels, found in evidence.items()}
    grids = {
        levels: _aggregate(results, grid, evidence[levels], counts)
        if grid.aggregate
        else _grid(grid, evidence[levels], counts[levels], spreads[levels])
        for levels, grid in results.grids.items()
    }
    compared = {}
    for facet in results.study.facets:
        for pair in differences(results, facet):
            levels = pair.first.levels, pair.second.levels
            compared[key_of_levels(*levels)] = _difference(pair, counts, spreads)
    return Uncertainty(
        {key_of_levels(levels): found for levels, found in grids.items()},
        compared,
        _pooled(counts.values()),
    )


def _spreads(evidence: Evidence | None) -> Spreads:
    if evidence is None:
        return ()
    pairs = zip(evidence.stderr.tolist(), evidence.clusters.tolist(), strict=True)
    return [
        None if isnan(stderr) else Spread(stderr, None if isnan(clusters) else int(clusters))
        for stderr, clusters in pairs
    ]


# --- intervals ----------------------------------------------------------------------------------


def _limits(grid: Grid, shares: bool) -> Ends:
    """The lowest and highest possible value: an interval ends there."""
    lowest, highest = grid.study.metric.range or (None, None)
    if lowest is not None and highest is not None:
        return float(lowest), float(highest)
    return (0.0, float(share_scale(grid.study) or 1)) if shares else (-inf, inf)


def _with_intervals(
    grid: Grid, evidence: Evidence, tested: GridUncertainty, limits: Ends
) -> GridUncertainty:
    """The tests of a grid with its intervals in the metric's unit, within what is possible."""
    study, scale = grid.study, share_scale(grid.study) or 1
    cells = np.arange(len(grid.columns))

    def ends(rows: Rows, into: Rows, number: int) -> tuple[Floats, Floats, Floats]:
        """The widest intervals of means of cells, and those by trials and items."""
        found = np.full((3, number, 2), np.nan)
        found[:, into] = np.clip(evidence.intervals(rows) * scale, *limits)
        widest = np.stack([np.fmin.reduce(found[..., 0]), np.fmax.reduce(found[..., 1])], axis=-1)
        return widest, found[TRIALS], found[ITEMS]

    def means(table: Rows) -> tuple[Floats, Floats]:
        """Of the means at the levels of an axis, by (level, cell), with all their cells known."""
        shown, possible = (
            of[table] for of in (grid.columns.value.defined, ~np.isnan(evidence.value))
        )
        sizes = np.where((shown == possible).all(axis=1), shown.sum(axis=1), 0)
        found = np.full((2, len(table), 2), np.nan)
        for size in {*sizes.tolist()} - {0}:
            lines = np.flatnonzero(sizes == size)
            rows = table[lines][shown[lines]].reshape(-1, size)
            widest, trials, _ = ends(rows, lines, len(table))
            found[:, lines] = widest[lines], trials[lines]
        return found[0], found[1]

    given = np.flatnonzero(~np.isnan(evidence.value))
    widest, by_trials, by_items = ends(given[:, None], given, len(cells))
    table = cells.reshape(len(study.y.levels), -1)
    (x_means, x_trials), (y_means, y_trials) = means(table.T), means(table)
    return replace(
        tested,
        ends=widest,
        by_trials=by_trials,
        by_items=by_items,
        # As printed, whatever a float made of it on the way.
        ranges=np.round(evidence.ends * scale, 9),
        may_be_best=np.where(defined(widest), tested.may_be_best, UNTESTED),
        x_means=x_means,
        y_means=y_means,
        x_trials=x_trials,
        y_trials=y_trials,
        basis=evidence.basis if defined(widest).any() else "",
    )


def _grid(
    grid: Grid, evidence: Evidence | None, counts: Counts, spreads: Spreads
) -> GridUncertainty:
    of, reason = counts
    if evidence is None:
        return GridUncertainty.unknown(grid.study, reason)
    reason = reason or ("" if grid.study.metric.better else NO_DIRECTION)
    tested = GridUncertainty.unknown(grid.study, reason)
    if not reason:
        tested = _tests(grid, tested, of, spreads)
    return _with_intervals(grid, evidence, tested, _limits(grid, not counts[1]))


def _aggregate(
    results: Results,
    grid: Grid,
    evidence: Evidence | None,
    counts: Mapping[Levels, Counts],
) -> GridUncertainty:
    """An aggregate's intervals, from those of its parts or their spread; it isn't tested itself."""
    facet, parts = results.parts_of(grid)
    reasons = [counts[levels][1] if levels in counts else "a part is missing" for levels in parts]
    replicates = len(parts) if facet.id == results.study.replicates else None
    if replicates is not None and replicates < REPEATS:
        few = "1 repeat is" if replicates == 1 else f"{replicates} repeats are"
        reasons.append(f"{few} too few: an interval takes {REPEATS}")
    reason = next(filter(None, reasons), "")
    tested = GridUncertainty.unknown(grid.study, reason)
    if evidence is None:
        return tested
    found = _with_intervals(grid, evidence, tested, _limits(grid, not any(reasons)))
    parts_are_aggregates = bool(found.cells) and reason == AGGREGATE
    return replace(found, reason="" if parts_are_aggregates else reason, replicates=replicates)


# --- tests of one grid --------------------------------------------------------------------------


def _tests(
    grid: Grid, untested: GridUncertainty, counts: Ints, spreads: Spreads
) -> GridUncertainty:
    """What is tested of a grid, and of each of its cells whether it may be the best."""
    study, better = grid.study, grid.study.metric.better or "higher"
    rows = np.flatnonzero(counts[:, 1] != UNKNOWN)
    given = _pairs(counts)
    shares = shares_by_item(grid)
    items = [shares.get(grid.keys[row]) for row in rows.tolist()] if shares else []
    paired = len(rows) <= PAIRED_UP_TO and all_paired(items)
    chosen = (
        best_set_paired([share.values for share in items if share], better, ALPHA)
        if paired
        else best_set(_at(given, rows), better, ALPHA, _at(spreads, rows))
    )
    effects = [
        1.0 if count is None else design_effect(*count, spread)
        for count, spread in zip(given, spreads, strict=True)
    ]
    exact = all((spread.clusters or 0) >= CLUSTERS for spread in spreads if spread)
    chi = homogeneity(given, effects) if exact else None
    asked, sizes = items_of(grid), {*counts[rows, 1].tolist()}
    may_be_best = np.full(len(counts), UNTESTED, np.int8)
    may_be_best[rows] = 0
    may_be_best[rows[[*chosen.indices]]] = 1
    return replace(
        untested,
        may_be_best=may_be_best,
        test=chosen.test,
        n=sizes.pop() if len(sizes) == 1 else None,
        items=asked,
        samples=study.trials.samples if study.trials and asked else None,
        level=chosen.level,
        chi2=chi.chi2 if chi else None,
        df=chi.df if chi else None,
        p=chi.p if chi else None,
        paired=paired,
        same_items=same_items(grid, shares),
    )


def _pairs(counts: Ints) -> list[tuple[int, int] | None]:
    """Successes and trials cell by cell."""
    return [None if n == UNKNOWN else (k, n) for k, n in counts.tolist()]


def _at(given: Sequence[Item], rows: Rows) -> list[Item]:
    return [given[row] for row in rows.tolist()]


def _pooled(grids: Iterable[Counts]) -> PooledChiSquared | None:
    # A grid in which all trials or none succeed can't vary, so it says nothing.
    tests = [
        test
        for counts, _ in grids
        for k, n in [counts[counts[:, 1] != UNKNOWN].sum(axis=0)]
        if 0 < k < n and (test := homogeneity(_pairs(counts)))
    ]
    if not tests:
        return None
    pooled = total(tests)
    return PooledChiSquared(len(tests), pooled.chi2, pooled.df, pooled.low_p)


# --- tests of several grids ---------------------------------------------------------------------


def _difference(
    pair: Difference, counts: Mapping[Levels, Counts], spreads: Mapping[Levels, Spreads]
) -> DifferenceUncertainty:
    """Two levels against one another, cell by cell."""
    (first, reason), (second, other_reason) = (
        counts[grid.levels] for grid in (pair.first, pair.second)
    )
    if reason or other_reason:
        return DifferenceUncertainty(reason or other_reason)
    rows = np.flatnonzero((first[:, 1] != UNKNOWN) & (second[:, 1] != UNKNOWN))
    if len(rows) > COMPARED_UP_TO:
        return DifferenceUncertainty(
            f"levels are not tested against one another above {COMPARED_UP_TO:,} cells in a grid"
        )
    # One test for all cells: what is named on the page holds for each.
    points = _at(pair.first.keys, rows)
    shares1, shares2 = shares_by_item(pair.first), shares_by_item(pair.second)
    paired = bool(points) and all(
        point in shares1 and shares1[point].pairs_with(shares2.get(point)) for point in points
    )
    if paired:
        tests = [paired_p(shares2[point].values, shares1[point].values) for point in points]
        ps, name = [test.p for test in tests], " and ".join(dict.fromkeys(t.test for t in tests))
    else:
        ps, name = _unpaired(
            [(k, n) for k, n in second[rows].tolist()],
            [(k, n) for k, n in first[rows].tolist()],
            _at(spreads[pair.second.levels], rows),
            _at(spreads[pair.first.levels], rows),
        )
    higher = second[rows, 0] / second[rows, 1] > first[rows, 0] / first[rows, 1]
    significant = {
        point: is_higher
        for point, p, is_higher in zip(points, holm(ps), higher.tolist(), strict=True)
        if p <= ALPHA
    }
    return DifferenceUncertainty(
        test=f"{name}, Holm's correction",
        cells=len(points),
        significant=significant,
        paired=paired,
    )


def _unpaired(
    second: Sequence[tuple[int, int]],
    first: Sequence[tuple[int, int]],
    spreads2: Spreads,
    spreads1: Spreads,
) -> tuple[list[float], str]:
    """Two-sided p-values of each cell, and the name of the tests."""
    pairs = list(zip(second, first, strict=True))
    p_of = {(a, b): difference(*a, *b).p for a, b in dict.fromkeys(pairs)}
    ps, name = [p_of[pair] for pair in pairs], "two-sided Fisher exact tests"
    if not any(spreads1) and not any(spreads2):
        return ps, name
    larger = [
        max(p, welch((*a, spread2), (*b, spread1)))
        for p, (a, b), spread2, spread1 in zip(ps, pairs, spreads2, spreads1, strict=True)
    ]
    return larger, f"{name} and Welch's t tests of the standard errors, whichever p is larger"
