"""The intervals and tests of a study's grids, computed from all that is known of their cells.

Trials, items, repeats and parts each say how far a value moves with something else: with the luck
of the trials, with other items of the kind, with other repeats of the experiment. Where several are
known, the interval reaches as far as the widest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, inf, isnan
from typing import TypeVar

import numpy as np

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
from gridatlas.statistics.estimates import (
    FEWEST,
    Floats,
    Spread,
    design_effect,
    mean_spread,
    mean_wilson,
    share_ends,
    t_ends,
    welch,
    wilson_ends,
)
from gridatlas.statistics.interval import mean_ends
from gridatlas.statistics.paired import paired_p
from gridatlas.table.coded import Bools, Rows
from gridatlas.table.differences import Difference, differences
from gridatlas.table.grids import Results
from gridatlas.table.items import (
    AGGREGATE,
    Basis,
    Shares,
    all_paired,
    clusters_of,
    grid_counts,
    items_of,
    same_items,
    share_scale,
    shares_by_item,
    too_large,
)
from gridatlas.table.study_table import UNKNOWN, Grid, Ints

Item = TypeVar("Item")

COMPARED_UP_TO = 10_000
"""Cells of a grid up to which levels are tested against one another, cell by cell."""
PAIRED_UP_TO = 100
"""Cells of a grid up to which they are tested against one another item by item."""
CLUSTERS = 30
"""Items that a standard error is taken over from which a χ² test takes it as known."""
NO_DIRECTION = "nothing says which values are better"
"""Why no cell is tested of being the best, where a metric has no `better`."""

Counts = tuple[Ints, str]
"""Successes and trials of the cells of a grid by (cell, 2), and why they aren't known."""
Spreads = Sequence[Spread | None]
"""The standard errors of the cells of a grid, where these are known."""


def compute(results: Results) -> Uncertainty:
    """All intervals and tests of a study."""
    counts = {levels: grid_counts(grid) for levels, grid in results.grids.items()}
    evidence = _gather(results, counts)
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
    results: Results, grid: Grid, evidence: Evidence | None, counts: Mapping[Levels, Counts]
) -> GridUncertainty:
    """An aggregate's intervals, from those of its parts or their spread; it isn't tested itself."""
    facet, parts = results.parts_of(grid)
    reasons = [counts[levels][1] if levels in counts else "a part is missing" for levels in parts]
    replicates = len(parts) if facet.id == results.study.replicates else None
    if replicates is not None and replicates < FEWEST:
        few = "1 repeat is" if replicates == 1 else f"{replicates} repeats are"
        reasons.append(f"{few} too few: an interval takes {FEWEST}")
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
        test=f"{name}, Holm's correction", cells=len(points), significant=significant, paired=paired
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


# --- what is known of cells ---------------------------------------------------------------------

TRIALS, ITEMS, REPEATS = range(3)
"""Kinds of intervals: as if all trials were independent; for other items of the kind, or by the
standard error that the table gives; for other repeats of the experiment."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What is known of the cells of a grid, row by row; nan where it isn't.

    Shares are from 0 to 1 where the metric is one; else values are in its unit.

    Attributes:
        value: Of an aggregate as it is shown, which may be printed with few decimals.
        counts: Successes and trials by (cell, 2); of a mean of repeats its share of all of them,
            which needn't be whole.
        stderr: Its standard error.
        clusters: What that is taken over.
        shares: Its outcomes item by item, where a run has them.
        few: Whether it has no interval: a mean of too few repeats.
        ends: The lowest and the highest of these by (cell, 2).
        basis: What the intervals come from.
        items: Number of items that each cell was asked, the same in all; None where unknown.
        same_items: Whether all cells, or parts, were asked the same items; None where unknown.
        parts: The levels that an aggregate is the mean of.
    """

    value: Floats
    counts: Floats
    stderr: Floats
    clusters: Floats
    shares: Sequence[Shares | None]
    few: Bools
    ends: Floats
    basis: Basis
    items: int | None = None
    same_items: bool | None = None
    parts: tuple[Evidence, ...] = ()

    def mean(self, rows: Rows) -> Floats:
        """The means of some cells, by (mean, cell)."""
        of = self.value[rows]
        return (
            of[:, 0] if rows.shape[1] == 1 else np.array([*map(fsum, of.tolist())]) / rows.shape[1]
        )

    def mean_shares(self, row: Rows) -> Shares | None:
        """The mean of some cells item by item; None unless all were asked the same items."""
        if self.parts:
            return _mean_shares([part.mean_shares(row) for part in self.parts])
        return _mean_shares([self.shares[place] for place in row.tolist()])

    def intervals(self, rows: Rows) -> Floats:
        """Those of the means of some cells.

        Args:
            rows: Cells with a value, by (mean, cell).

        Returns:
            Their ends by (kind, mean, 2); nan where they aren't known.
        """
        found = np.full((3, len(rows), 2), np.nan)
        if self.parts:
            self._of_parts(rows, found)
        else:
            self._of_cells(rows, found)
        found[:, self.few[rows].any(axis=1)] = np.nan
        return found

    def _of_cells(self, rows: Rows, found: Floats) -> None:
        mean, value = self.mean(rows), self.value[rows]
        k, n = np.moveaxis(self.counts[rows], -1, 0)
        found[TRIALS] = mean_wilson(k, n)
        own = self._own(rows)
        if not np.isnan(own).all():
            each = np.where(np.isnan(own), wilson_ends(k, n), own)
            by_error = mean_ends(mean, value, each, independent=self.same_items is False)
            found[ITEMS] = np.where(np.isnan(own).all(axis=1), np.nan, by_error)
        if self.items is not None:
            asked = np.isnan(own).all(axis=(1, 2)) & (self.items < n.sum(axis=1))
            right = np.minimum(mean * self.items, self.items)
            found[ITEMS, asked] = wilson_ends(right[asked], self.items)
        if rows.shape[1] > 1:
            self._over_items(rows, mean, found[ITEMS])

    def _own(self, rows: Rows) -> Floats:
        """The intervals of cells by their standard errors, by (mean, cell, 2)."""
        value, stderr, clusters = self.value[rows], self.stderr[rows], self.clusters[rows]
        if np.isnan(stderr).all():
            return np.full((*rows.shape, 2), np.nan)
        df = np.where(np.isnan(clusters), np.inf, clusters - 1)
        is_share = ~np.isnan(self.counts[rows, 1]) & (value >= 0) & (value <= 1)
        by_share = share_ends(np.where(is_share, value, np.nan), stderr, clusters)
        return np.where(is_share[..., None], by_share, t_ends(value, stderr, df))

    def _of_parts(self, rows: Rows, found: Floats) -> None:
        mean = self.mean(rows)
        values = np.stack([part.mean(rows) for part in self.parts], axis=1)
        of = np.stack([part.intervals(rows) for part in self.parts], axis=2)
        found[TRIALS] = mean_ends(mean, values, of[TRIALS], independent=True)
        defined = ~np.isnan(of[ITEMS, ..., 0]).all(axis=1)
        if defined.any():
            each = np.where(np.isnan(of[ITEMS]), of[TRIALS], of[ITEMS])
            # Repeats are asked the same items, unless it is known that they aren't.
            repeats = self.basis == "replicates" and self.same_items is None
            by_items = mean_ends(
                mean, values, each, independent=not self.same_items and not repeats
            )
            self._over_items(rows, mean, by_items)
            found[ITEMS, defined] = by_items[defined]
        if self.basis == "replicates" and len(self.parts) > 1:
            stderr = np.std(values, axis=1, ddof=1) / np.sqrt(len(self.parts))
            found[REPEATS] = t_ends(mean, stderr, len(self.parts) - 1)

    def _over_items(self, rows: Rows, mean: Floats, into: Floats) -> None:
        """Put in the intervals of means whose cells were all asked the same items."""
        for place, row in enumerate(rows):
            shares = self.mean_shares(row)
            if shares is not None:
                number = len(shares.values)
                stderr = mean_spread(shares.values).stderr if number > 1 else 0.0
                into[place] = share_ends(mean[place], stderr, number)


def _mean_shares(given: Sequence[Shares | None]) -> Shares | None:
    """The mean item by item; None unless all are asked the same items."""
    first = given[0]
    shares = [entry for entry in given if entry and first and entry.items == first.items]
    if first is None or len(given) == 1 or len(shares) < len(given):
        return first if len(given) == 1 else None
    by_item = zip(*(entry.values for entry in shares), strict=True)
    means = (fsum(values) / len(shares) for values in by_item)
    return Shares(first.run, first.items, tuple(means))


# --- of the grids of a study --------------------------------------------------------------------


def _gather(results: Results, counts: Mapping[Levels, Counts]) -> dict[Levels, Evidence | None]:
    """What is known of each grid; None for parts that are missing, or too many cells."""
    found: dict[Levels, Evidence | None] = {}

    def add(grid: Grid) -> None:
        """Add what is known of a grid, after what is known of the parts of an aggregate."""
        if grid.levels in found:
            return
        if too_large(grid.study) or not grid.aggregate:
            of_cells = None if too_large(grid.study) else _of_grid(grid, counts[grid.levels][0])
            found[grid.levels] = of_cells
            return
        facet, parts = results.parts_of(grid)
        for levels in parts:
            if levels in results.grids:
                add(results.grids[levels])
        defined = tuple(part for levels in parts if (part := found.get(levels)) is not None)
        whole = len(defined) == len(parts)
        found[grid.levels] = _of_mean(grid, facet.id, defined) if whole else None

    for grid in results.grids.values():
        add(grid)
    return found


def _of_grid(grid: Grid, given: Ints) -> Evidence:
    """What is known of a grid that is no aggregate.

    Args:
        given: Its counts.
    """
    cells, scale = grid.columns, share_scale(grid.study)
    shares = shares_by_item(grid)
    by_row = [*map(shares.get, grid.keys)] if shares else [None] * len(cells)
    repeated = bool((cells.repeats > 1).any())
    value = cells.value.floats / (scale or 1)
    stderr, clusters = cells.stderr.floats / (scale or 1), _defined(clusters_of(grid))
    if repeated:
        stderr = np.where(stderr > 0, stderr, np.nan)
    for row, share in enumerate(by_row):
        if share is not None and len(share.values) > 1 and np.isnan(stderr[row]):
            spread = mean_spread(share.values)
            stderr[row], clusters[row] = spread.stderr, len(share.values)
    counts = _defined(given)
    value = np.where(np.isnan(counts[:, 1]), value, counts[:, 0] / counts[:, 1])
    if repeated and scale is not None:
        # As if the trials of the repeats were one sample.
        n = np.where((value >= 0) & (value <= 1), _defined(grid.trials), np.nan)
        counts = np.where(np.isnan(counts), np.stack([value * n, n], axis=-1), counts)
    few = cells.repeats < FEWEST
    ends = np.stack([cells.low.floats, cells.high.floats], axis=-1) / (scale or 1)
    items = items_of(grid)
    basis: Basis = ""
    if repeated:
        basis = "repeats"
    elif not np.isnan(stderr[cells.value.defined]).all():
        basis = "stderr"
    elif not np.isnan(counts).all():
        basis = "items" if items else "trials"
    return Evidence(
        value,
        counts,
        stderr,
        clusters,
        by_row,
        few & repeated,
        np.where(few[:, None], ends, np.nan),
        basis,
        items,
        same_items(grid, shares),
    )


def _of_mean(grid: Grid, facet: str, parts: tuple[Evidence, ...]) -> Evidence:
    """What is known of a mean over the levels of a facet."""
    study, cells = grid.study, len(grid.columns)
    shown = grid.columns.value.floats / (share_scale(study) or 1)
    unknown = np.any([np.isnan(part.value) for part in parts], axis=0)
    value = np.where(unknown, np.nan, shown)
    replicates = study.replicates == facet
    few = replicates and len(parts) < FEWEST
    none = np.broadcast_to(np.nan, (cells, 2))
    ends = none
    if few and len(parts) > 1:
        of = [np.where(np.isnan(value), np.nan, part.value) for part in parts]
        ends = np.stack([np.min(of, axis=0), np.max(of, axis=0)], axis=-1)
    return Evidence(
        value,
        none,
        none[:, 0],
        none[:, 0],
        (),
        np.broadcast_to(few, cells),
        ends,
        "replicates" if replicates else "parts",
        # Items belong to the levels of one facet: levels of another are asked the same ones.
        same_items=None if study.trials is None else study.trials.items != facet,
        parts=parts,
    )


def _defined(numbers: Ints) -> Floats:
    """Whole numbers as floats; nan for `UNKNOWN`."""
    return np.where(numbers == UNKNOWN, np.nan, numbers)
