"""How far each number of a study can be trusted: intervals, tests, and what they assume.

The statistics themselves are in `statistics/`, which needs scipy; what they gave is kept by its
inputs, so that a build in which no value changed doesn't import it.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gridatlas.files.cache import cache_key, open_cache
from gridatlas.model.study import Cell, Factor, Grid, Levels, Point, Study
from gridatlas.results.grids import Difference, Results, differences, share_scale, trials
from gridatlas.results.items import (
    Basis,
    Shares,
    all_paired,
    as_input,
    clusters,
    items_of,
    same_items,
    shares_by_item,
)
from gridatlas.statistics.interval import Interval

if TYPE_CHECKING:
    from gridatlas.assessment.evidence import Evidence
    from gridatlas.statistics.spread import Spread

ALPHA = 0.05
CLEARLY = 0.005
"""p up to which cells are said to vary less than independent trials would."""
CELLS_UP_TO = 100_000
"""Cells of a grid up to which intervals and tests are computed."""
COMPARED_UP_TO = 10_000
"""Cells of a grid up to which levels are tested against one another, cell by cell."""
PAIRED_UP_TO = 100
"""Cells of a grid up to which they are tested against one another item by item."""
CLUSTERS = 30
"""Items that a standard error is taken over from which a χ² test takes it as known."""
REPEATS = 3
"""Repeats of the experiment from which their mean has an interval."""
AGGREGATE = "an aggregate is no count of trials"
REPEATED = "each value is a mean of repeats, whose trials are not independent"
SETTINGS_UP_TO = 2_500
"""Settings up to which mean ranks are computed; permutations of more take too long."""

Counts = tuple[int, int]
"""(k, n): successes and trials."""
Ends = tuple[float, float]
"""Low and high end of an interval, in the metric's unit."""


@dataclass(frozen=True, slots=True)
class CellUncertainty:
    """One cell, in the metric's unit.

    Attributes:
        low, high: 95 % interval: the widest of those that the data gives.
        trials_low, trials_high: The one as if n trials were independent; None where n is unknown.
        items_low, items_high: The one for other items of the kind, from the standard error or the
            number of items; None where neither is known.
        in_best_set: Whether the cell is in the confidence set for the best; None where that isn't
            tested.
    """

    low: float
    high: float
    trials_low: float | None = None
    trials_high: float | None = None
    items_low: float | None = None
    items_high: float | None = None
    in_best_set: bool | None = None


@dataclass(frozen=True, slots=True)
class GridUncertainty:
    """One grid; `reason` says why nothing can be tested, where that is so.

    Attributes:
        cells: By the places of the levels on x and y, `<place>,<place>` from 0.
        x_means, y_means: 95 % intervals of the means at each level, by its place from 0.
        basis: What the intervals come from.
        replicates: Number of repeats that a mean over repeats is of.
        ranges: Of cells that are means of too few repeats for an interval, lowest and highest of
            these, by the cells' places.
        same_items: Whether all cells were asked the same items; None where unknown.
        level: One-sided level at which a cell leaves the set for the best.
        chi2, df, p: Homogeneity of all cells.
        x_p, y_p: p of the main effect of each axis; claims are judged by them, no page has them.
        paired: Whether cells are tested against one another item by item.
    """

    reason: str = ""
    test: str = ""
    n: int | None = None
    items: int | None = None
    samples: int | None = None
    level: float | None = None
    chi2: float | None = None
    df: int | None = None
    p: float | None = None
    x_p: float | None = None
    y_p: float | None = None
    cells: Mapping[str, CellUncertainty] = field(default_factory=dict)
    x_means: Mapping[str, Ends] = field(default_factory=dict)
    y_means: Mapping[str, Ends] = field(default_factory=dict)
    paired: bool = False
    basis: Basis = ""
    replicates: int | None = None
    ranges: Mapping[str, Ends] = field(default_factory=dict)
    same_items: bool | None = None

    @property
    def best_set_size(self) -> int:
        """Number of cells in the confidence set for the best."""
        return sum(bool(cell.in_best_set) for cell in self.cells.values())

    @property
    def tested_by(self) -> str:
        """What cells are tested against one another by, in words."""
        if self.paired:
            return "item by item"
        return "by counts and standard errors" if self.basis == "stderr" else "on the counts alone"


@dataclass(frozen=True, slots=True)
class DifferenceUncertainty:
    """Level against level, cell by cell: how many differ after Holm's correction.

    Attributes:
        paired: Whether the tests are of outcomes item by item.
    """

    reason: str = ""
    test: str = ""
    cells: int = 0
    differ: int = 0
    higher: int = 0
    paired: bool = False


@dataclass(frozen=True, slots=True)
class Default:
    """How one setting does over all levels of a facet.

    Attributes:
        rank: Mean rank over the levels, 1 = best.
        regret: Mean of the best observed minus its value, in the metric's unit.
    """

    x: str
    y: str
    rank: float
    regret: float


@dataclass(frozen=True, slots=True)
class Defaults:
    """All settings over the levels of one facet, best mean rank first.

    Attributes:
        over: Number of levels.
        alike_regret: Mean regret if all settings were alike, in the metric's unit.
        p: Chance that the best mean rank is as good as this if all settings were alike.
        reason: Why none of this was computed, where that is so.
    """

    over: int
    rows: tuple[Default, ...] = ()
    alike_regret: float = 0.0
    p: float = 1.0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PooledChiSquared:
    """χ² of all grids of a study that have successes and failures, summed.

    Attributes:
        grids: How many they are.
        low_p: Chance of a sum so low, if trials were independent and all cells of a grid alike.
    """

    grids: int
    chi2: float
    df: int
    low_p: float

    @property
    def less_than_chance(self) -> bool:
        """Whether cells vary less than independent trials would."""
        return self.low_p <= CLEARLY


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """All of a study, by `key_of_levels`; of differences, of the first and the second grid."""

    grids: Mapping[str, GridUncertainty]
    differences: Mapping[str, DifferenceUncertainty]
    defaults: Mapping[str, Defaults]
    pooled: PooledChiSquared | None = None

    def of(self, grid: Grid) -> GridUncertainty:
        """What is known of a grid."""
        return self.at(grid.levels)

    def at(self, levels: Levels) -> GridUncertainty:
        """What is known of the grid at these levels."""
        return self.grids[key_of_levels(levels)]

    def defaults_alone(self) -> Defaults | None:
        """The standing of all settings in a study without a further facet."""
        return self.defaults.get(json.dumps([]))

    def defaults_at(self, facet: str, level: str) -> Defaults | None:
        """The standing of all settings at one level, where no further facet divides it."""
        return self.defaults.get(json.dumps([facet, level]))

    def of_difference(self, difference: Difference) -> DifferenceUncertainty:
        """What is known of a difference."""
        return self.differences[key_of_levels(difference.first.levels, difference.second.levels)]


def key_of_levels(*levels: Levels) -> str:
    """A key that no other levels have, whatever stands in them."""
    return json.dumps(levels)


def by_point(grid: Grid, known: GridUncertainty) -> dict[Point, CellUncertainty]:
    """The intervals of a grid by the level keys of x and y."""
    if not known.cells:
        return {}
    return {
        (x.key, y.key): known.cells[place]
        for (x, y, _), place in zip(grid.points(), _places(grid.study), strict=True)
        if place in known.cells
    }


def ranges_by_point(grid: Grid, known: GridUncertainty) -> dict[Point, Ends]:
    """The ranges of a grid's means of too few repeats, by the level keys of x and y."""
    return {
        (x.key, y.key): known.ranges[place]
        for (x, y, _), place in zip(grid.points(), _places(grid.study), strict=True)
        if place in known.ranges
    }


def _places(study: Study) -> list[str]:
    return [f"{i},{j}" for j in range(len(study.y.levels)) for i in range(len(study.x.levels))]


def assess(results: Results, cache_folder: Path | None = None) -> Uncertainty:
    """Everything about a study's uncertainty, from the cache where its inputs are the same."""
    inputs = json.dumps(_inputs(results), sort_keys=True)
    cache = open_cache(cache_folder)
    key = cache_key(computed_by(), inputs)
    entry = cache.get(key)
    if entry is None:
        entry = cache.put(key, {"json": json.dumps(_to_json(_assess(results)))})
    # Read back even when fresh: a warm and a cold build then give the same bytes.
    return _from_json(json.loads(entry["json"]))


def same_inputs(one: Results, other: Results) -> bool:
    """Whether the statistics of two studies are the same, since what they are made of is."""
    return bool(_inputs(one) == _inputs(other))


def _inputs(results: Results) -> Any:
    study = results.study
    return [
        study.metric.model_dump(mode="json"),
        [(one.id, [level.key for level in one.levels]) for one in (study.x, study.y)],
        [
            (facet.id, [(level.key, level.items, level.aggregate) for level in facet.levels])
            for facet in study.facets
        ],
        dict(study.baseline),
        study.compare,
        study.replicates,
        None if study.trials is None else study.trials.model_dump(mode="json"),
        [
            (
                levels,
                [
                    [
                        *(str(cell.value), cell.state, cell.successes, trials(grid, cell)),
                        *(str(cell.stderr), cell.repeats, str(cell.ends)),
                        clusters(study, levels, (x.key, y.key), cell),
                        *as_input(study, levels, (x.key, y.key), cell),
                    ]
                    for x, y, cell in grid.points()
                ]
                if _size(study) <= CELLS_UP_TO
                else [],
            )
            for levels, grid in results.grids.items()
        ],
    ]


def _size(study: Study) -> int:
    return len(study.x.levels) * len(study.y.levels)


@functools.cache
def computed_by() -> str:
    """What statistics depend on besides their inputs: our code, and the libraries' versions."""
    here = Path(__file__)
    files = [here, here.with_name("evidence.py"), here.parents[1] / "results" / "items.py"]
    files += sorted((here.parents[1] / "statistics").glob("*.py"))
    sources = [file.read_text("utf-8") for file in files]
    return "\n".join([f"{name} {version(name)}" for name in ("scipy", "numpy")] + sources)


def _to_json(uncertainty: Uncertainty) -> dict[str, Any]:
    """The content to store; cells with the same counts have the same interval, written once."""
    grids = {}
    for key, grid in uncertainty.grids.items():
        kinds = {kind: place for place, kind in enumerate(dict.fromkeys(grid.cells.values()))}
        grids[key] = asdict(replace(grid, cells={})) | {
            "cells": {at: kinds[cell] for at, cell in grid.cells.items()},
            "kinds": [asdict(kind) for kind in kinds],
        }
    return {
        "grids": grids,
        "differences": {key: asdict(one) for key, one in uncertainty.differences.items()},
        "defaults": {key: asdict(default) for key, default in uncertainty.defaults.items()},
        "pooled": asdict(uncertainty.pooled) if uncertainty.pooled else None,
    }


def _from_json(content: Any) -> Uncertainty:
    grids = {}
    for key, one in content["grids"].items():
        kinds = [CellUncertainty(**kind) for kind in one.pop("kinds")]
        one["cells"] = {at: kinds[kind] for at, kind in one["cells"].items()}
        for axis in ("x_means", "y_means", "ranges"):
            one[axis] = {at: tuple(ends) for at, ends in one[axis].items()}
        grids[key] = GridUncertainty(**one)
    return Uncertainty(
        grids,
        {key: DifferenceUncertainty(**one) for key, one in content["differences"].items()},
        {
            key: Defaults(**one | {"rows": tuple(Default(**row) for row in one["rows"])})
            for key, one in content["defaults"].items()
        },
        PooledChiSquared(**content["pooled"]) if content["pooled"] else None,
    )


# --- counts -------------------------------------------------------------------------------------


def counts_of(grid: Grid) -> tuple[dict[str, Counts], str]:
    """Successes and trials of each cell by its place; or why there are none."""
    study = grid.study
    if grid.aggregate:
        return {}, AGGREGATE
    if _size(study) > CELLS_UP_TO:
        return {}, f"intervals and tests are not computed above {CELLS_UP_TO:,} cells in a grid"
    scale = share_scale(study)
    counts: dict[str, Counts] = {}
    known: dict[tuple[str, int], int | None] = {}
    for place, (_, _, cell) in zip(_places(study), grid.points(), strict=True):
        if cell.value is None:
            continue
        n = trials(grid, cell)
        if cell.repeats > 1:
            return {}, REPEATED
        if n is None:
            return {}, "the number of trials behind each value is unknown"
        if scale is None:
            return {}, f"{study.metric.name} is not a share of trials"
        k = cell.successes
        if k is None:
            printed = (str(cell.value), n)
            if printed not in known:
                known[printed] = successes_of(cell, n, scale)
            k = known[printed]
        if k is None:
            return {}, f"{cell.value} is no count of {_trials(n)}, so the trials are not known"
        counts[place] = (k, n)
    return counts, "" if counts else "there is no value"


def _trials(n: int) -> str:
    return f"{n} trial" if n == 1 else f"{n} trials"


def successes_of(cell: Cell, n: int, scale: int) -> int | None:
    """The count of n trials that a cell's value is printed for; None where there is none."""
    from gridatlas.statistics.counts import successes_from

    if cell.value is None:
        return None
    decimals = max(0, -int(cell.value.as_tuple().exponent))
    return successes_from(cell.value, n, decimals, scale)


# --- what is computed ---------------------------------------------------------------------------


def _assess(results: Results) -> Uncertainty:
    counts = {levels: counts_of(grid) for levels, grid in results.grids.items()}
    evidence: dict[Levels, Evidence | None] = {}
    for grid in results.grids.values():
        _add_evidence(results, grid, counts, evidence)
    grids = {}
    for levels, grid in results.grids.items():
        known = evidence[levels]
        if grid.aggregate:
            grids[key_of_levels(levels)] = _aggregate(results, grid, known, counts)
        else:
            grids[key_of_levels(levels)] = _grid(grid, known, *counts[levels])
    compared = {}
    for facet in results.study.facets:
        for difference in differences(results, facet):
            first, second = difference.first.levels, difference.second.levels
            compared[key_of_levels(first, second)] = _difference(
                (*counts[first], _spreads(evidence[first])),
                (*counts[second], _spreads(evidence[second])),
                shares_by_item(difference.first),
                shares_by_item(difference.second),
            )
    return Uncertainty(
        grids, compared, _defaults(results, counts), _pooled([one for one, _ in counts.values()])
    )


# --- what is known of each grid -----------------------------------------------------------------


def _add_evidence(
    results: Results,
    grid: Grid,
    counts: Mapping[Levels, tuple[Mapping[str, Counts], str]],
    found: dict[Levels, Evidence | None],
) -> None:
    """Add what is known of a grid, after what is known of the parts of an aggregate."""
    if grid.levels in found:
        return
    if _size(grid.study) > CELLS_UP_TO:
        found[grid.levels] = None
    elif not grid.aggregate:
        found[grid.levels] = _evidence(grid, counts[grid.levels][0])
    else:
        facet, parts = _parts_of(results, grid)
        there = [results.grids[levels] for levels in parts if levels in results.grids]
        for part in there:
            _add_evidence(results, part, counts, found)
        known = [one for part in there if (one := found[part.levels]) is not None]
        whole = len(known) == len(parts)
        found[grid.levels] = _evidence_of_mean(grid, facet, known) if whole else None


def _evidence(grid: Grid, counts: Mapping[str, Counts]) -> Evidence:
    from gridatlas.assessment.evidence import CellEvidence, GridEvidence
    from gridatlas.statistics.spread import FEWEST, Spread, mean_spread

    study, scale = grid.study, share_scale(grid.study)
    shares = shares_by_item(grid)
    repeated = any(cell.repeats > 1 for row in grid.cells for cell in row)

    def spread_of(point: Point, cell: Cell, share: Shares | None) -> Spread | None:
        if cell.stderr is not None and not (repeated and not cell.stderr):
            over = clusters(study, grid.levels, point, cell)
            return Spread(float(cell.stderr) / (scale or 1), over)
        return mean_spread(share.values) if share and len(share.values) > 1 else None

    def pooled(cell: Cell, value: float) -> tuple[float, int] | None:
        """A mean of repeats as if their trials were one sample."""
        n = trials(grid, cell) if repeated else None
        return None if n is None or scale is None or not 0 <= value <= 1 else (value * n, n)

    cells = {}
    for place, (x, y, cell) in zip(_places(study), grid.points(), strict=True):
        if cell.value is None:
            continue
        value, count = float(cell.value) / (scale or 1), counts.get(place)
        ends = None
        if cell.ends and cell.repeats < FEWEST:
            ends = (float(cell.ends[0]) / (scale or 1), float(cell.ends[1]) / (scale or 1))
        share = shares.get(place)
        cells[place] = CellEvidence(
            count[0] / count[1] if count else value,
            count or pooled(cell, value),
            spread_of((x.key, y.key), cell, share),
            share,
            repeated and cell.repeats < FEWEST,
            ends,
        )
    return GridEvidence(cells, items_of(grid), same_items(grid, shares), repeated)


def _evidence_of_mean(grid: Grid, facet: Factor, parts: Sequence[Evidence]) -> Evidence:
    from gridatlas.assessment.evidence import AggregateEvidence

    study, scale = grid.study, share_scale(grid.study) or 1
    shown = {
        place: float(cell.value) / scale
        for place, (_, _, cell) in zip(_places(study), grid.points(), strict=True)
        if cell.value is not None
    }
    # Items belong to the levels of one facet: levels of another are asked the same ones.
    same = None if study.trials is None else study.trials.items != facet.id
    return AggregateEvidence(shown, parts, study.replicates == facet.id, same)


def _spreads(known: Evidence | None) -> dict[str, Spread]:
    """The standard errors of the cells that have one, by their places."""
    from gridatlas.assessment.evidence import GridEvidence

    if not isinstance(known, GridEvidence):
        return {}
    return {place: cell.spread for place, cell in known.cells.items() if cell.spread}


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
    known: Evidence
    limits: Ends

    def cells(self, in_best_set: Mapping[str, bool]) -> dict[str, CellUncertainty]:
        """By the places of the cells that have one, with whether they may be the best."""
        found = {}
        for place in self.known.places:
            of = self.known.intervals([place])
            ends = self._ends(of.widest)
            if ends is None:
                continue
            low, high = self._ends(of.trials) or (None, None)
            items_low, items_high = self._ends(of.items) or (None, None)
            found[place] = CellUncertainty(
                *ends,
                trials_low=low,
                trials_high=high,
                items_low=items_low,
                items_high=items_high,
                in_best_set=in_best_set.get(place),
            )
        return found

    def means(self, axis: int) -> dict[str, Ends]:
        """Of the mean at each level of an axis, by its place, where all cells are known."""
        shown = [
            place
            for place, (_, _, cell) in zip(
                _places(self.grid.study), self.grid.points(), strict=True
            )
            if cell.value is not None
        ]
        there = set(self.known.places)
        found = {}
        for level, places in _along(shown, axis).items():
            if there.issuperset(places):
                ends = self._ends(self.known.intervals(places).widest)
                if ends is not None:
                    found[level] = ends
        return found

    def ranges(self) -> dict[str, Ends]:
        """Of the cells that are means of too few repeats."""
        scale = share_scale(self.grid.study) or 1
        return {
            # As printed, whatever a float made of it on the way.
            place: (round(ends[0] * scale, 9), round(ends[1] * scale, 9))
            for place in self.known.places
            if (ends := self.known.ends(place))
        }

    def _ends(self, interval: Interval | None) -> Ends | None:
        if interval is None:
            return None
        scale = share_scale(self.grid.study) or 1
        low, high = interval.low * scale, interval.high * scale
        return max(self.limits[0], low), min(self.limits[1], high)


# --- each grid ----------------------------------------------------------------------------------


def _grid(
    grid: Grid, known: Evidence | None, counts: Mapping[str, Counts], reason: str
) -> GridUncertainty:
    if known is None:
        return GridUncertainty(reason)
    found = _Intervals(grid, known, _limits(grid, bool(counts)))
    tested, in_best_set = (
        _tests(grid, counts, _spreads(known))
        if not reason
        else (GridUncertainty(reason), dict[str, bool]())
    )
    cells = found.cells(in_best_set)
    return replace(
        tested,
        cells=cells,
        x_means=found.means(0),
        y_means=found.means(1),
        ranges=found.ranges(),
        basis=known.basis if cells else "",
    )


def _tests(
    grid: Grid, counts: Mapping[str, Counts], spreads: Mapping[str, Spread]
) -> tuple[GridUncertainty, dict[str, bool]]:
    """What is tested of a grid, and of each of its cells whether it may be the best."""
    from gridatlas.statistics.best_set import best_set, best_set_paired
    from gridatlas.statistics.differences import homogeneity

    study = grid.study
    points = list(counts)
    by_item = shares_by_item(grid)
    shares = [by_item.get(point) for point in points]
    paired = len(points) <= PAIRED_UP_TO and all_paired(shares)
    chosen = (
        best_set_paired([share.values for share in shares if share], study.metric.better, ALPHA)
        if paired
        else best_set(
            [counts[point] for point in points],
            study.metric.better,
            ALPHA,
            [spreads.get(point) for point in points],
        )
    )
    items = items_of(grid)
    sizes = {n for _, n in counts.values()}
    columns, rows = range(len(study.x.levels)), range(len(study.y.levels))
    effects = _effects(counts, spreads)
    chi = homogeneity([counts[point] for point in points], [effects[point] for point in points])
    if spreads and not _enough(spreads):
        chi = None

    def effect(table: Sequence[Sequence[str]]) -> float | None:
        if spreads and not _enough(spreads):
            return None
        return _effect(
            [[counts.get(point) for point in row] for row in table],
            [[effects.get(point, 1.0) for point in row] for row in table],
        )

    may_be = {points[index] for index in chosen.indices}
    tested = GridUncertainty(
        test=chosen.test,
        n=sizes.pop() if len(sizes) == 1 else None,
        items=items,
        samples=study.trials.samples if study.trials and items else None,
        level=chosen.level,
        chi2=chi.chi2 if chi else None,
        df=chi.df if chi else None,
        p=chi.p if chi else None,
        x_p=effect([[f"{i},{j}" for j in rows] for i in columns]),
        y_p=effect([[f"{i},{j}" for i in columns] for j in rows]),
        paired=paired,
        same_items=same_items(grid, by_item),
    )
    return tested, {point: point in may_be for point in points}


def _along(points: Sequence[str], axis: int) -> dict[str, list[str]]:
    """The points (by place) at each place on an axis, 0 for x and 1 for y."""
    along: dict[str, list[str]] = {}
    for point in points:
        along.setdefault(point.split(",")[axis], []).append(point)
    return along


def _pooled(grids: Iterable[Mapping[str, Counts]]) -> PooledChiSquared | None:
    from gridatlas.statistics.differences import homogeneity, total

    # A grid in which all trials or none succeed can't vary, so it tells nothing.
    tests = [
        test
        for counts in grids
        if 0 < sum(k for k, _ in counts.values()) < sum(n for _, n in counts.values())
        and (test := homogeneity(list(counts.values())))
    ]
    if not tests:
        return None
    pooled = total(tests)
    return PooledChiSquared(len(tests), pooled.chi2, pooled.df, pooled.low_p)


def _effect(
    rows: Sequence[Sequence[Counts | None]], effects: Sequence[Sequence[float]]
) -> float | None:
    from gridatlas.statistics.differences import main_effect

    found = main_effect(rows, effects)
    return found.p if found else None


def _effects(counts: Mapping[str, Counts], spreads: Mapping[str, Spread]) -> dict[str, float]:
    """How many times the variance of independent trials that of each cell is, at least 1."""
    from gridatlas.statistics.spread import design_effect

    return {place: design_effect(*count, spreads.get(place)) for place, count in counts.items()}


def _enough(spreads: Mapping[str, Spread]) -> bool:
    """Whether standard errors are known well enough for a χ² test, which takes them as exact."""
    return all(
        spread.clusters is not None and spread.clusters >= CLUSTERS for spread in spreads.values()
    )


def _aggregate(
    results: Results,
    grid: Grid,
    known: Evidence | None,
    counts: Mapping[Levels, tuple[Mapping[str, Counts], str]],
) -> GridUncertainty:
    """An aggregate's intervals, from those of its parts or their spread; it isn't tested itself."""
    facet, parts = _parts_of(results, grid)
    reasons = [counts[levels][1] if levels in counts else "a part is missing" for levels in parts]
    if facet.id == results.study.replicates and len(parts) < REPEATS:
        few = "1 repeat is" if len(parts) == 1 else f"{len(parts)} repeats are"
        reasons.append(f"{few} too few: an interval takes {REPEATS}")
    reason = next(filter(None, reasons), "")
    if known is None:
        return GridUncertainty(reason)
    found = _Intervals(grid, known, _limits(grid, not any(reasons)))
    cells = found.cells({})
    return GridUncertainty(
        "" if cells and reason == AGGREGATE else reason,
        cells=cells,
        x_means=found.means(0),
        y_means=found.means(1),
        basis=known.basis if cells else "",
        replicates=len(parts) if facet.id == results.study.replicates else None,
        ranges=found.ranges(),
    )


def _parts_of(results: Results, grid: Grid) -> tuple[Factor, list[Levels]]:
    """The facet that an aggregate is over, repeats of the experiment first, and its parts."""
    study = results.study
    over = [
        (index, facet)
        for index, (facet, level) in enumerate(zip(study.facets, grid.names, strict=True))
        if level.aggregate
    ]
    index, facet = min(over, key=lambda one: one[1].id != study.replicates)
    return facet, [
        (*grid.levels[:index], level.key, *grid.levels[index + 1 :])
        for level in facet.levels
        if not level.aggregate
    ]


_Tested = tuple[Mapping[str, Counts], str, Mapping[str, "Spread"]]
"""Of a grid to be compared: its counts, or why there are none, and its standard errors."""


def _difference(
    first: _Tested,
    second: _Tested,
    shares1: Mapping[str, Shares],
    shares2: Mapping[str, Shares],
) -> DifferenceUncertainty:
    from gridatlas.statistics.differences import difference, holm
    from gridatlas.statistics.paired import paired_p
    from gridatlas.statistics.spread import welch

    if first[1] or second[1]:
        return DifferenceUncertainty(first[1] or second[1])
    points = [point for point in first[0] if point in second[0]]
    if len(points) > COMPARED_UP_TO:
        return DifferenceUncertainty(
            f"levels are not tested against one another above {COMPARED_UP_TO:,} cells in a grid"
        )
    # One test for all cells: what is named on the page holds for each.
    paired = bool(points) and all(
        point in shares1 and shares1[point].pairs_with(shares2.get(point)) for point in points
    )
    if paired:
        tests = [paired_p(shares2[point].values, shares1[point].values) for point in points]
        adjusted = holm([test.p for test in tests])
        name = " and ".join(dict.fromkeys(test.test for test in tests))
    else:
        pairs = [(*second[0][point], *first[0][point]) for point in points]
        p_of = {pair: difference(*pair).p for pair in dict.fromkeys(pairs)}
        ps, name = [p_of[pair] for pair in pairs], "two-sided Fisher exact tests"
        if first[2] or second[2]:
            name += " and Welch's t tests of the standard errors, whichever p is larger"
            ps = [
                max(p, welch((*pair[:2], second[2].get(at)), (*pair[2:], first[2].get(at))))
                for p, pair, at in zip(ps, pairs, points, strict=True)
            ]
        adjusted = holm(ps)
    significant = [
        second[0][point][0] / second[0][point][1] > first[0][point][0] / first[0][point][1]
        for point, p in zip(points, adjusted, strict=True)
        if p <= ALPHA
    ]
    return DifferenceUncertainty(
        test=f"{name}, Holm's correction",
        cells=len(points),
        differ=len(significant),
        higher=sum(significant),
        paired=paired,
    )


def _defaults(
    results: Results, counts: Mapping[Levels, tuple[Mapping[str, Counts], str]]
) -> dict[str, Defaults]:
    """By the levels of the other facets: every setting over the levels of one facet.

    The facet is the one whose levels hold the items, such as the benchmark.
    """
    from gridatlas.statistics.defaults import good_default

    study = results.study
    if study.trials is None:
        return {}
    index = [facet.id for facet in study.facets].index(study.trials.items)
    groups: dict[Levels, list[Mapping[str, Counts]]] = {}
    repeated: Counter[Levels] = Counter()
    for levels, grid in results.grids.items():
        if grid.aggregate:
            continue
        key = (*levels[:index], *levels[index + 1 :])
        if not counts[levels][1]:
            groups.setdefault(key, []).append(counts[levels][0])
        elif counts[levels][1] == REPEATED:
            groups.setdefault(key, [])
            repeated[key] += 1
    scale = share_scale(study) or 1
    found = {}
    for key, tables in groups.items():
        others = [facet.id for facet in study.facets if facet.id != study.trials.items]
        name = json.dumps([*others, *key] if len(key) == 1 else list(key))
        if repeated[key]:
            if repeated[key] + len(tables) > 1:
                found[name] = Defaults(repeated[key] + len(tables), reason=REPEATED)
            continue
        points = [point for point in tables[0] if all(point in table for table in tables)]
        if len(tables) < 2 or len(points) < 2:
            continue
        if len(points) > SETTINGS_UP_TO:
            reason = f"mean ranks are not computed above {SETTINGS_UP_TO:,} settings"
            found[name] = Defaults(len(tables), reason=reason)
            continue
        standing = good_default(
            [[table[point] for point in points] for table in tables], study.metric.better
        )
        ordered = sorted(
            zip(points, standing.settings, strict=True),
            key=lambda pair: (pair[1].rank, pair[1].regret),
        )
        rows = tuple(
            Default(
                study.x.levels[int(point.split(",")[0])].key,
                study.y.levels[int(point.split(",")[1])].key,
                row.rank,
                row.regret * scale,
            )
            for point, row in ordered
        )
        found[name] = Defaults(len(tables), rows, standing.alike_regret * scale, standing.p)
    return found
