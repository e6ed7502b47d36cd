"""How sure the cells of a grid are, by all that is known of them: trials, items, repeats, parts.

Each of these says how far a value moves with something else: with the luck of the trials, with
other items of the kind, with other repeats of the experiment. Where several are known, the interval
reaches as far as the widest.

Imports scipy, so that only what computes anew imports it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import fsum
from typing import Protocol

from gridatlas.model.study import Cell, Factor, Levels, Point
from gridatlas.statistics.estimates import (
    FEWEST,
    Spread,
    mean_spread,
    mean_wilson,
    share_interval,
    t_interval,
    widest,
    wilson,
)
from gridatlas.statistics.interval import Interval, mean_interval
from gridatlas.table.grids import Results
from gridatlas.table.items import (
    Basis,
    GridCounts,
    Shares,
    clusters,
    items_of,
    same_items,
    share_scale,
    shares_by_item,
    too_large,
    trials,
)
from gridatlas.table.study_table import Grid

Counts = tuple[float, int]
"""Successes and trials; of a mean of repeats its share of all of them, which needn't be whole."""


@dataclass(frozen=True, slots=True)
class CellEvidence:
    """One cell; shares from 0 to 1 where the metric is one, else in its unit.

    Attributes:
        counts: None where the trials aren't known.
        spread: Its standard error; None where it isn't known, or no repeat was alike another.
        shares: Its outcomes item by item, where a run has them.
        without: Whether it has no interval: a mean of too few repeats.
        ends: The lowest and the highest of these.
    """

    value: float
    counts: Counts | None = None
    spread: Spread | None = None
    shares: Shares | None = None
    without: bool = False
    ends: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Intervals:
    """95 % intervals of a value or a mean, each None where it isn't known.

    Attributes:
        trials: As if all trials were independent.
        items: For other items of the kind, or by the standard error that the table gives.
        repeats: For other repeats of the experiment.
    """

    trials: Interval | None = None
    items: Interval | None = None
    repeats: Interval | None = None

    @property
    def widest(self) -> Interval | None:
        """The one that holds the others, which is the one to show."""
        return widest(self.trials, self.items, self.repeats)


class Evidence(Protocol):
    """What is known of a grid."""

    @property
    def points(self) -> Sequence[Point]:
        """The cells with a value of which something may be known."""

    @property
    def basis(self) -> Basis:
        """What its intervals come from."""

    def value(self, points: Sequence[Point]) -> float:
        """The mean of some cells."""

    def shares(self, points: Sequence[Point]) -> Shares | None:
        """The mean of some cells item by item; None unless all were asked the same items."""

    def intervals(self, points: Sequence[Point]) -> Intervals:
        """Those of the mean of some cells, at least one."""

    def ends(self, point: Point) -> tuple[float, float] | None:
        """Lowest and highest of the values that a cell is the mean of, where they are too few."""


@dataclass(frozen=True, slots=True)
class GridEvidence:
    """Of a grid that is no aggregate.

    Attributes:
        items: Number of items that each cell was asked, the same in all; None where unknown.
        same_items: Whether all cells were asked the same items; None where unknown.
    """

    cells: Mapping[Point, CellEvidence]
    items: int | None = None
    same_items: bool | None = None
    repeated: bool = False

    @property
    def points(self) -> Sequence[Point]:
        """As `Evidence`."""
        return tuple(self.cells)

    @property
    def basis(self) -> Basis:
        """As `Evidence`."""
        if self.repeated:
            return "repeats"
        if any(cell.spread for cell in self.cells.values()):
            return "stderr"
        if any(cell.counts for cell in self.cells.values()):
            return "items" if self.items else "trials"
        return ""

    def value(self, points: Sequence[Point]) -> float:
        """As `Evidence`."""
        return fsum(self.cells[point].value for point in points) / len(points)

    def shares(self, points: Sequence[Point]) -> Shares | None:
        """As `Evidence`."""
        return _mean_shares([self.cells[point].shares for point in points])

    def intervals(self, points: Sequence[Point]) -> Intervals:
        """As `Evidence`."""
        cells = [self.cells[point] for point in points]
        if any(cell.without for cell in cells):
            return Intervals()
        counts = [cell.counts for cell in cells if cell.counts]
        trials = _mean_wilson(tuple(counts)) if len(counts) == len(cells) else None
        return Intervals(trials, self._by_items(points, cells))

    def _by_items(self, points: Sequence[Point], cells: Sequence[CellEvidence]) -> Interval | None:
        shares = self.shares(points) if len(cells) > 1 else None
        if shares is not None:
            return _over_items(self.value(points), shares)
        own = [_own(cell) for cell in cells]
        if any(own):
            parts = [
                (cell.value, interval)
                for cell, given in zip(cells, own, strict=True)
                if (interval := given or (wilson(*cell.counts) if cell.counts else None))
            ]
            if len(parts) < len(cells):
                return None
            independent = self.same_items is False
            return mean_interval(self.value(points), parts, independent=independent)
        asked = [cell.counts[1] for cell in cells if cell.counts]
        if self.items is not None and len(asked) == len(cells) and self.items < sum(asked):
            return wilson(min(self.value(points) * self.items, self.items), self.items)
        return None

    def ends(self, point: Point) -> tuple[float, float] | None:
        """As `Evidence`."""
        return self.cells[point].ends


@dataclass(frozen=True, slots=True)
class AggregateEvidence:
    """Of a mean over the levels of a facet.

    Attributes:
        shown: The values as they are shown, which may be printed with few decimals.
        parts: Of each level that it is the mean of.
        replicates: Whether these levels repeat the experiment.
        same_items: Whether they were asked the same items; None where unknown.
    """

    shown: Mapping[Point, float]
    parts: Sequence[Evidence]
    replicates: bool = False
    same_items: bool | None = None
    points: Sequence[Point] = field(init=False)

    def __post_init__(self) -> None:
        points_of_parts = [set(part.points) for part in self.parts]
        points = [
            point for point in self.shown if all(point in points for points in points_of_parts)
        ]
        object.__setattr__(self, "points", tuple(points))

    @property
    def basis(self) -> Basis:
        """As `Evidence`."""
        return "replicates" if self.replicates else "parts"

    def value(self, points: Sequence[Point]) -> float:
        """As `Evidence`."""
        return fsum(self.shown[point] for point in points) / len(points)

    def shares(self, points: Sequence[Point]) -> Shares | None:
        """As `Evidence`."""
        return _mean_shares([part.shares(points) for part in self.parts])

    def intervals(self, points: Sequence[Point]) -> Intervals:
        """As `Evidence`."""
        if self.replicates and len(self.parts) < FEWEST:
            return Intervals()
        of = [part.intervals(points) for part in self.parts]
        return Intervals(
            self._together(points, [intervals.trials for intervals in of], independent=True),
            self._by_items(points, of),
            self._by_repeats(points),
        )

    def _by_items(self, points: Sequence[Point], of: Sequence[Intervals]) -> Interval | None:
        if not any(intervals.items for intervals in of):
            return None
        shares = self.shares(points)
        if shares is not None:
            return _over_items(self.value(points), shares)
        # Repeats are asked the same items, unless it is known that they aren't.
        independent = not self.same_items
        if self.replicates and self.same_items is None:
            independent = False
        return self._together(
            points, [intervals.items or intervals.trials for intervals in of], independent
        )

    def _by_repeats(self, points: Sequence[Point]) -> Interval | None:
        if not self.replicates:
            return None
        spread = mean_spread([part.value(points) for part in self.parts])
        return t_interval(self.value(points), spread) if spread.stderr else None

    def _together(
        self, points: Sequence[Point], of: Sequence[Interval | None], independent: bool
    ) -> Interval | None:
        parts = [
            (part.value(points), interval)
            for part, interval in zip(self.parts, of, strict=True)
            if interval is not None
        ]
        if len(parts) < len(self.parts):
            return None
        return mean_interval(self.value(points), parts, independent=independent)

    def ends(self, point: Point) -> tuple[float, float] | None:
        """As `Evidence`."""
        if not self.replicates or not 1 < len(self.parts) < FEWEST:
            return None
        values = [part.value([point]) for part in self.parts]
        return min(values), max(values)


@lru_cache(maxsize=10_000)
def _mean_wilson(counts: tuple[Counts, ...]) -> Interval:
    """As `mean_wilson`; many cells of a large grid have the same counts."""
    return wilson(*counts[0]) if len(counts) == 1 else mean_wilson(counts)


def _own(cell: CellEvidence) -> Interval | None:
    """A cell's interval by its standard error."""
    if cell.spread is None:
        return None
    if cell.counts is not None and 0 <= cell.value <= 1:
        return share_interval(cell.value, cell.spread)
    if cell.spread.stderr and cell.spread.df >= 1:
        return t_interval(cell.value, cell.spread)
    return None


def _over_items(value: float, shares: Shares) -> Interval | None:
    if len(shares.values) < 2:
        return wilson(value, 1)
    return share_interval(value, mean_spread(shares.values))


def _mean_shares(given: Sequence[Shares | None]) -> Shares | None:
    """The mean item by item; None unless all are asked the same items."""
    first = given[0]
    shares = [entry for entry in given if entry is not None]
    if first is None or len(shares) < len(given):
        return None
    if any(entry.items != first.items for entry in shares):
        return None
    if len(shares) == 1:
        return first
    by_item = zip(*(entry.values for entry in shares), strict=True)
    means = (fsum(values) / len(shares) for values in by_item)
    return Shares(first.run, first.items, tuple(means))


# --- of the grids of a study --------------------------------------------------------------------


def gather_evidence(
    results: Results, counts: Mapping[Levels, GridCounts]
) -> dict[Levels, Evidence | None]:
    """What is known of each grid; None where a part of an aggregate is missing, or it is too large.

    Args:
        counts: Of all grids, as `counts_of` gives them.
    """
    found: dict[Levels, Evidence | None] = {}
    for grid in results.grids.values():
        _add_evidence(results, grid, counts, found)
    return found


def _add_evidence(
    results: Results,
    grid: Grid,
    counts: Mapping[Levels, GridCounts],
    found: dict[Levels, Evidence | None],
) -> None:
    """Add what is known of a grid, after what is known of the parts of an aggregate."""
    if grid.levels in found:
        return
    if too_large(grid.study):
        found[grid.levels] = None
    elif not grid.aggregate:
        found[grid.levels] = _of_grid(grid, counts[grid.levels].cells)
    else:
        facet, parts = results.parts_of(grid)
        for levels in parts:
            if levels in results.grids:
                _add_evidence(results, results.grids[levels], counts, found)
        parts_known = [part for levels in parts if (part := found.get(levels)) is not None]
        whole = len(parts_known) == len(parts)
        found[grid.levels] = _of_mean(grid, facet, parts_known) if whole else None


def _of_grid(grid: Grid, counts: Mapping[Point, tuple[int, int]]) -> Evidence:
    shares = shares_by_item(grid)
    repeated = any(cell.repeats > 1 for row in grid.cells for cell in row)
    cells = {
        point: _of_cell(grid, point, cell, counts.get(point), shares.get(point), repeated)
        for x, y, cell in grid.points()
        if cell.value is not None
        for point in [(x.key, y.key)]
    }
    return GridEvidence(cells, items_of(grid), same_items(grid, shares), repeated)


def _of_cell(
    grid: Grid,
    point: Point,
    cell: Cell,
    counts: Counts | None,
    shares: Shares | None,
    repeated: bool,
) -> CellEvidence:
    """What is known of a cell that has a value.

    Args:
        repeated: Whether cells of the grid are means of repeats.
    """
    scale = share_scale(grid.study)
    unit = scale or 1
    value = float(cell.value or 0) / unit
    spread = None
    if cell.stderr is not None and not (repeated and not cell.stderr):
        over = clusters(grid.study, grid.levels, point, cell)
        spread = Spread(float(cell.stderr) / unit, over)
    elif shares is not None and len(shares.values) > 1:
        spread = mean_spread(shares.values)
    share = counts[0] / counts[1] if counts else value
    n = trials(grid, cell) if repeated else None
    if counts is None and n is not None and scale is not None and 0 <= value <= 1:
        counts = (value * n, n)  # As if the trials of the repeats were one sample.
    few = repeated and cell.repeats < FEWEST
    ends = (float(cell.ends[0]) / unit, float(cell.ends[1]) / unit) if cell.ends else None
    return CellEvidence(share, counts, spread, shares, few, ends if cell.repeats < FEWEST else None)


def _of_mean(grid: Grid, facet: Factor, parts: Sequence[Evidence]) -> Evidence:
    study, scale = grid.study, share_scale(grid.study) or 1
    shown = {
        (x.key, y.key): float(cell.value) / scale
        for x, y, cell in grid.points()
        if cell.value is not None
    }
    # Items belong to the levels of one facet: levels of another are asked the same ones.
    same = None if study.trials is None else study.trials.items != facet.id
    return AggregateEvidence(shown, parts, study.replicates == facet.id, same)
