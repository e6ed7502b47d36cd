"""How sure the cells of a grid are, by all that is known of them: trials, items, repeats, parts.

Each of these says how far a value moves with something else: with the luck of the trials, with
other items of the kind, with other repeats of the experiment. Where several are known, the interval
reaches as far as the widest.

Imports scipy, so that only what computes anew imports it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np

from gridatlas.model.study import Levels
from gridatlas.statistics.estimates import (
    FEWEST,
    Floats,
    mean_spread,
    mean_wilson,
    share_ends,
    t_ends,
    wilson_ends,
)
from gridatlas.statistics.interval import mean_ends
from gridatlas.table.coded import Bools, Rows
from gridatlas.table.grids import Results
from gridatlas.table.items import (
    Basis,
    Shares,
    clusters_of,
    items_of,
    same_items,
    share_scale,
    shares_by_item,
    too_large,
)
from gridatlas.table.study_table import UNKNOWN, Grid, Ints

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
        known = ~np.isnan(of[ITEMS, ..., 0]).all(axis=1)
        if known.any():
            each = np.where(np.isnan(of[ITEMS]), of[TRIALS], of[ITEMS])
            # Repeats are asked the same items, unless it is known that they aren't.
            repeats = self.basis == "replicates" and self.same_items is None
            by_items = mean_ends(
                mean, values, each, independent=not self.same_items and not repeats
            )
            self._over_items(rows, mean, by_items)
            found[ITEMS, known] = by_items[known]
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


def gather_evidence(
    results: Results, counts: Mapping[Levels, Ints]
) -> dict[Levels, Evidence | None]:
    """What is known of each grid; None where a part of an aggregate is missing, or it is too large.

    Args:
        counts: Of all grids, as `grid_counts` gives them.
    """
    found: dict[Levels, Evidence | None] = {}

    def add(grid: Grid) -> None:
        """Add what is known of a grid, after what is known of the parts of an aggregate."""
        if grid.levels in found:
            return
        if too_large(grid.study) or not grid.aggregate:
            of_cells = None if too_large(grid.study) else _of_grid(grid, counts[grid.levels])
            found[grid.levels] = of_cells
            return
        facet, parts = results.parts_of(grid)
        for levels in parts:
            if levels in results.grids:
                add(results.grids[levels])
        known = tuple(part for levels in parts if (part := found.get(levels)) is not None)
        whole = len(known) == len(parts)
        found[grid.levels] = _of_mean(grid, facet.id, known) if whole else None

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
    stderr, clusters = cells.stderr.floats / (scale or 1), _known(clusters_of(grid))
    if repeated:
        stderr = np.where(stderr > 0, stderr, np.nan)
    for row, share in enumerate(by_row):
        if share is not None and len(share.values) > 1 and np.isnan(stderr[row]):
            spread = mean_spread(share.values)
            stderr[row], clusters[row] = spread.stderr, len(share.values)
    counts = _known(given)
    value = np.where(np.isnan(counts[:, 1]), value, counts[:, 0] / counts[:, 1])
    if repeated and scale is not None:
        # As if the trials of the repeats were one sample.
        n = np.where((value >= 0) & (value <= 1), _known(grid.trials), np.nan)
        counts = np.where(np.isnan(counts), np.stack([value * n, n], axis=-1), counts)
    few = cells.repeats < FEWEST
    ends = np.stack([cells.low.floats, cells.high.floats], axis=-1) / (scale or 1)
    items = items_of(grid)
    basis: Basis = ""
    if repeated:
        basis = "repeats"
    elif not np.isnan(stderr[cells.value.known]).all():
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


def _known(numbers: Ints) -> Floats:
    """Whole numbers as floats; nan for `UNKNOWN`."""
    return np.where(numbers == UNKNOWN, np.nan, numbers)
