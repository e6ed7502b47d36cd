"""The intervals and tests of a study's grids, computed.

Imports scipy; `uncertainty` calls it only for what it doesn't have from a build before.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Literal

from gridatlas.assessment.evidence import Evidence, GridEvidence, gather_evidence
from gridatlas.assessment.uncertainty import (
    ALPHA,
    CellUncertainty,
    Default,
    Defaults,
    DifferenceUncertainty,
    Ends,
    GridUncertainty,
    PooledChiSquared,
    Uncertainty,
    key_of_levels,
)
from gridatlas.model.study import Levels, Point
from gridatlas.statistics.best_set import best_set, best_set_paired
from gridatlas.statistics.defaults import good_default
from gridatlas.statistics.differences import difference, holm, homogeneity, main_effect, total
from gridatlas.statistics.estimates import Spread, design_effect, welch
from gridatlas.statistics.interval import Interval
from gridatlas.statistics.paired import paired_p
from gridatlas.table.differences import Difference, differences
from gridatlas.table.grids import Results
from gridatlas.table.items import (
    AGGREGATE,
    REPEATED,
    Counts,
    GridCounts,
    all_paired,
    counts_of,
    items_of,
    same_items,
    share_scale,
    shares_by_item,
)
from gridatlas.table.study_table import Grid

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
SETTINGS_UP_TO = 2_500
"""Settings up to which mean ranks are computed; permutations of more take too long."""

Spreads = Mapping[Point, Spread]
"""The standard errors of the cells that have one."""


def compute(results: Results) -> Uncertainty:
    """All intervals and tests of a study."""
    counts = {levels: counts_of(grid) for levels, grid in results.grids.items()}
    evidence = gather_evidence(results, counts)
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
        _defaults(results, counts),
        _pooled(counts.values()),
    )


def _spreads(evidence: Evidence | None) -> Spreads:
    if not isinstance(evidence, GridEvidence):
        return {}
    return {point: cell.spread for point, cell in evidence.cells.items() if cell.spread}


# --- intervals ----------------------------------------------------------------------------------


def _limits(grid: Grid, shares: bool) -> Ends:
    """The lowest and highest possible value: an interval ends there."""
    lowest, highest = grid.study.metric.range or (None, None)
    if lowest is not None and highest is not None:
        return float(lowest), float(highest)
    return (0.0, float(share_scale(grid.study) or 1)) if shares else (-inf, inf)


@dataclass(frozen=True, slots=True)
class _Intervals:
    """The intervals of a grid in the metric's unit, within what is possible."""

    grid: Grid
    evidence: Evidence
    limits: Ends

    def into(self, tested: GridUncertainty, best: Mapping[Point, bool]) -> GridUncertainty:
        """The tests of the grid with its intervals.

        Args:
            best: Whether a cell may be the best, of those that are tested.
        """
        cells = self._cells(best)
        return replace(
            tested,
            cells=cells,
            x_means=self._means(0),
            y_means=self._means(1),
            x_trials=self._means(0, "trials"),
            y_trials=self._means(1, "trials"),
            ranges=self._ranges(),
            basis=self.evidence.basis if cells else "",
        )

    def _cells(self, best: Mapping[Point, bool]) -> dict[Point, CellUncertainty]:
        found = {}
        for point in self.evidence.points:
            intervals = self.evidence.intervals([point])
            ends = self._ends(intervals.widest)
            if ends is not None:
                low, high = self._ends(intervals.trials) or (None, None)
                items_low, items_high = self._ends(intervals.items) or (None, None)
                found[point] = CellUncertainty(
                    *ends, low, high, items_low, items_high, best.get(point)
                )
        return found

    def _means(self, axis: int, kind: Literal["widest", "trials"] = "widest") -> dict[str, Ends]:
        """Of the mean at each level of an axis (0 for x), where all of its cells are known."""
        by_level: dict[str, list[Point]] = {}
        for x, y, cell in self.grid.points():
            if cell.value is not None:
                by_level.setdefault((x, y)[axis].key, []).append((x.key, y.key))
        points_known = set(self.evidence.points)
        found = {
            level: self._ends(getattr(self.evidence.intervals(points), kind))
            for level, points in by_level.items()
            if points_known.issuperset(points)
        }
        return {level: ends for level, ends in found.items() if ends is not None}

    def _ranges(self) -> dict[Point, Ends]:
        """Of the cells that are means of too few repeats."""
        scale = share_scale(self.grid.study) or 1
        return {
            # As printed, whatever a float made of it on the way.
            point: (round(ends[0] * scale, 9), round(ends[1] * scale, 9))
            for point in self.evidence.points
            if (ends := self.evidence.ends(point))
        }

    def _ends(self, interval: Interval | None) -> Ends | None:
        if interval is None:
            return None
        scale = share_scale(self.grid.study) or 1
        low, high = interval.low * scale, interval.high * scale
        return max(self.limits[0], low), min(self.limits[1], high)


def _grid(
    grid: Grid, evidence: Evidence | None, counts: GridCounts, spreads: Spreads
) -> GridUncertainty:
    if evidence is None:
        return GridUncertainty(counts.reason)
    reason = counts.reason or ("" if grid.study.metric.better else NO_DIRECTION)
    tested, best = GridUncertainty(reason), dict[Point, bool]()
    if not reason:
        tested, best = _tests(grid, counts.cells, spreads)
    return _Intervals(grid, evidence, _limits(grid, bool(counts.cells))).into(tested, best)


def _aggregate(
    results: Results,
    grid: Grid,
    evidence: Evidence | None,
    counts: Mapping[Levels, GridCounts],
) -> GridUncertainty:
    """An aggregate's intervals, from those of its parts or their spread; it isn't tested itself."""
    facet, parts = results.parts_of(grid)
    reasons = [
        counts[levels].reason if levels in counts else "a part is missing" for levels in parts
    ]
    replicates = len(parts) if facet.id == results.study.replicates else None
    if replicates is not None and replicates < REPEATS:
        few = "1 repeat is" if replicates == 1 else f"{replicates} repeats are"
        reasons.append(f"{few} too few: an interval takes {REPEATS}")
    reason = next(filter(None, reasons), "")
    if evidence is None:
        return GridUncertainty(reason)
    limits = _limits(grid, not any(reasons))
    found = _Intervals(grid, evidence, limits).into(GridUncertainty(reason), {})
    parts_are_aggregates = bool(found.cells) and reason == AGGREGATE
    return replace(found, reason="" if parts_are_aggregates else reason, replicates=replicates)


# --- tests of one grid --------------------------------------------------------------------------


def _tests(
    grid: Grid, counts: Mapping[Point, Counts], spreads: Spreads
) -> tuple[GridUncertainty, dict[Point, bool]]:
    """What is tested of a grid, and of each of its cells whether it may be the best."""
    study, points = grid.study, list(counts)
    better = study.metric.better or "higher"
    shares = shares_by_item(grid)
    given = [shares.get(point) for point in points]
    paired = len(points) <= PAIRED_UP_TO and all_paired(given)
    chosen = (
        best_set_paired([share.values for share in given if share], better, ALPHA)
        if paired
        else best_set(
            [counts[point] for point in points],
            better,
            ALPHA,
            [spreads.get(point) for point in points],
        )
    )
    effects = {point: design_effect(*count, spreads.get(point)) for point, count in counts.items()}
    exact = all((spread.clusters or 0) >= CLUSTERS for spread in spreads.values())
    chi = homogeneity([*counts.values()], [*effects.values()]) if exact else None
    items, sizes = items_of(grid), {n for _, n in counts.values()}
    may_be_best = set(chosen.indices)
    tested = GridUncertainty(
        test=chosen.test,
        n=sizes.pop() if len(sizes) == 1 else None,
        items=items,
        samples=study.trials.samples if study.trials and items else None,
        level=chosen.level,
        chi2=chi.chi2 if chi else None,
        df=chi.df if chi else None,
        p=chi.p if chi else None,
        alike=chi is not None
        and chi.p > ALPHA
        and len(may_be_best) == len(points)
        and not any(_differ_along(grid, axis, counts, effects) for axis in (0, 1)),
        paired=paired,
        same_items=same_items(grid, shares),
    )
    return tested, {point: index in may_be_best for index, point in enumerate(points)}


def _differ_along(
    grid: Grid, axis: int, counts: Mapping[Point, Counts], effects: Mapping[Point, float]
) -> bool:
    """Whether the levels of an axis (0 for x) differ, summed over the other."""
    x, y = grid.study.x.keys, grid.study.y.keys
    rows = [[(i, j) for j in y] for i in x] if axis == 0 else [[(i, j) for i in x] for j in y]
    found = main_effect(
        [[counts.get(point) for point in row] for row in rows],
        [[effects.get(point, 1.0) for point in row] for row in rows],
    )
    return found is not None and found.p <= ALPHA


def _pooled(grids: Iterable[GridCounts]) -> PooledChiSquared | None:
    # A grid in which all trials or none succeed can't vary, so it says nothing.
    tests = [
        test
        for counts in grids
        if 0 < sum(k for k, _ in counts.cells.values()) < sum(n for _, n in counts.cells.values())
        and (test := homogeneity([*counts.cells.values()]))
    ]
    if not tests:
        return None
    pooled = total(tests)
    return PooledChiSquared(len(tests), pooled.chi2, pooled.df, pooled.low_p)


# --- tests of several grids ---------------------------------------------------------------------


def _difference(
    pair: Difference, counts: Mapping[Levels, GridCounts], spreads: Mapping[Levels, Spreads]
) -> DifferenceUncertainty:
    """Two levels against one another, cell by cell."""
    first, second = counts[pair.first.levels], counts[pair.second.levels]
    if first.reason or second.reason:
        return DifferenceUncertainty(first.reason or second.reason)
    points = [point for point in first.cells if point in second.cells]
    if len(points) > COMPARED_UP_TO:
        return DifferenceUncertainty(
            f"levels are not tested against one another above {COMPARED_UP_TO:,} cells in a grid"
        )
    # One test for all cells: what is named on the page holds for each.
    shares1, shares2 = shares_by_item(pair.first), shares_by_item(pair.second)
    paired = bool(points) and all(
        point in shares1 and shares1[point].pairs_with(shares2.get(point)) for point in points
    )
    if paired:
        tests = [paired_p(shares2[point].values, shares1[point].values) for point in points]
        ps, name = [test.p for test in tests], " and ".join(dict.fromkeys(t.test for t in tests))
    else:
        ps, name = _unpaired(
            [second.cells[point] for point in points],
            [first.cells[point] for point in points],
            [spreads[pair.second.levels].get(point) for point in points],
            [spreads[pair.first.levels].get(point) for point in points],
        )
    significant = {
        point: second.cells[point][0] / second.cells[point][1]
        > first.cells[point][0] / first.cells[point][1]
        for point, p in zip(points, holm(ps), strict=True)
        if p <= ALPHA
    }
    return DifferenceUncertainty(
        test=f"{name}, Holm's correction",
        cells=len(points),
        significant=significant,
        paired=paired,
    )


def _unpaired(
    second: Sequence[Counts],
    first: Sequence[Counts],
    spreads2: Sequence[Spread | None],
    spreads1: Sequence[Spread | None],
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


def _defaults(results: Results, counts: Mapping[Levels, GridCounts]) -> dict[str, Defaults]:
    """By the levels of the other facets: every setting over the levels of one facet.

    The facet is the one whose levels hold the items, such as the benchmark.
    """
    study = results.study
    if study.trials is None or study.metric.better is None:
        return {}
    index = [facet.id for facet in study.facets].index(study.trials.items)
    groups: dict[Levels, list[GridCounts]] = {}
    for levels, grid in results.grids.items():
        if not grid.aggregate and (not counts[levels].reason or counts[levels].reason == REPEATED):
            groups.setdefault((*levels[:index], *levels[index + 1 :]), []).append(counts[levels])
    others = [facet.id for facet in study.facets if facet.id != study.trials.items]
    found = {
        json.dumps([*others, *key] if len(key) == 1 else list(key)): _default(results, group)
        for key, group in groups.items()
    }
    return {name: defaults for name, defaults in found.items() if defaults is not None}


def _default(results: Results, group: Sequence[GridCounts]) -> Defaults | None:
    """The standing of all settings over some grids; None where there is nothing to compare."""
    if len(group) < 2:
        return None
    if any(counts.reason for counts in group):
        return Defaults(len(group), reason=REPEATED)
    tables = [counts.cells for counts in group]
    points = [point for point in tables[0] if all(point in table for table in tables)]
    if len(points) < 2:
        return None
    if len(points) > SETTINGS_UP_TO:
        reason = f"mean ranks are not computed above {SETTINGS_UP_TO:,} settings"
        return Defaults(len(tables), reason=reason)
    study = results.study
    scale = share_scale(study) or 1
    standing = good_default(
        [[table[point] for point in points] for table in tables], study.metric.better or "higher"
    )
    ordered = sorted(
        zip(points, standing.settings, strict=True), key=lambda pair: (pair[1].rank, pair[1].regret)
    )
    rows = tuple(
        Default(*point, setting.rank, setting.regret * scale) for point, setting in ordered
    )
    return Defaults(len(tables), rows, standing.alike_regret * scale, standing.p)
