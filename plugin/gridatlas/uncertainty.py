"""How far each number of a study can be trusted: intervals, tests, and what they assume.

The statistics themselves are in `statistics/`, which needs scipy; what they gave is kept by its
inputs, so that a build in which no value changed doesn't import it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.metadata import version
from math import fsum, hypot
from pathlib import Path
from statistics import NormalDist
from typing import Any

from gridatlas import store
from gridatlas.analyse import Difference, Results, differences, share_scale, trials
from gridatlas.outcomes import Shares, all_paired, as_input, shares_by_item
from gridatlas.study import Cell, Grid, Levels, Point, Study

ALPHA = 0.05
CELLS_UP_TO = 100_000
"""Cells of a grid up to which intervals and tests are computed."""
COMPARED_UP_TO = 10_000
"""Cells of a grid up to which levels are tested against one another, cell by cell."""
PAIRED_UP_TO = 100
"""Cells of a grid up to which they are tested against one another item by item."""
SETTINGS_UP_TO = 2_500
"""Settings up to which mean rank and mean regret are computed; each has 2,000 resamples."""

Counts = tuple[int, int]
"""(k, n): successes and trials."""
Ends = tuple[float, float]
"""Low and high end of an interval, in the metric's unit."""


@dataclass(frozen=True, slots=True)
class CellUncertainty:
    """One cell, in the metric's unit.

    Attributes:
        low, high: 95 % interval as if n trials were independent; of an aggregate, from its parts.
        items_low, items_high: The one for n = items: for other items of the kind.
        kept: Whether the cell is in the confidence set for the best.
    """

    low: float
    high: float
    items_low: float | None = None
    items_high: float | None = None
    kept: bool = False


@dataclass(frozen=True, slots=True)
class GridUncertainty:
    """One grid; `reason` says why nothing can be tested, where that is so.

    Attributes:
        cells: By the places of the levels on x and y, `<place>,<place>` from 0.
        x_means, y_means: 95 % intervals of the means at each level, by its place from 0.
        level: One-sided level at which a cell leaves the set for the best.
        chi2, df, p: Homogeneity of all cells.
        x_p, y_p: p of the main effect of each axis.
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

    @property
    def kept(self) -> int:
        """Number of cells in the confidence set for the best."""
        return sum(cell.kept for cell in self.cells.values())


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
        rank: Mean rank over the levels, 1 = best, with its 95 % interval.
        regret: Mean of the best observed minus its value, in the metric's unit, likewise.
    """

    x: str
    y: str
    rank: float
    rank_low: float
    rank_high: float
    regret: float
    regret_low: float
    regret_high: float


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
class Uncertainty:
    """All of a study, by `key_of_levels`; of differences, of the first and the second grid."""

    grids: Mapping[str, GridUncertainty]
    differences: Mapping[str, DifferenceUncertainty]
    defaults: Mapping[str, Defaults]

    def of(self, grid: Grid) -> GridUncertainty:
        """What is known of a grid."""
        return self.grids[key_of_levels(grid.levels)]

    def kept(self, grid: Grid) -> frozenset[Point]:
        """The points of a grid in the confidence set for the best."""
        return frozenset(
            point for point, cell in by_point(grid, self.of(grid)).items() if cell.kept
        )

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


def _places(study: Study) -> list[str]:
    return [f"{i},{j}" for j in range(len(study.y.levels)) for i in range(len(study.x.levels))]


def assess(results: Results, cache_folder: Path | None = None) -> Uncertainty:
    """Everything about a study's uncertainty, from the store where its inputs are the same."""
    inputs = json.dumps(_inputs(results), sort_keys=True)
    key = store.key_of(computed_by(), inputs)
    stored = store.read(cache_folder, key) if cache_folder else None
    if stored is not None:
        return _from_json(json.loads(stored))
    uncertainty = _assess(results)
    written = json.dumps(_to_json(uncertainty))
    if cache_folder:
        store.write(cache_folder, key, written.encode())
    # Read back even when fresh: a warm and a cold build then give the same bytes.
    return _from_json(json.loads(written))


def same_inputs(one: Results, other: Results) -> bool:
    """Whether the statistics of two studies are the same, since what they are made of is."""
    return bool(_inputs(one) == _inputs(other))


def _inputs(results: Results) -> Any:
    study = results.study
    return [
        study.metric.model_dump(mode="json"),
        [(one.id, [level.key for level in one.levels]) for one in (study.x, study.y)],
        [
            (facet.id, [(one.key, one.items, one.aggregate) for one in facet.levels])
            for facet in study.facets
        ],
        dict(study.baseline),
        study.compare,
        None if study.trials is None else study.trials.model_dump(mode="json"),
        [
            (
                levels,
                [
                    [
                        *(str(cell.value), cell.state, cell.successes, trials(grid, cell)),
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


@cache
def computed_by() -> str:
    """What statistics depend on besides their inputs: our code, and the libraries' versions."""
    here = Path(__file__)
    files = [here, *sorted(here.with_name("statistics").glob("*.py"))]
    sources = [file.read_text("utf-8") for file in files]
    return "\n".join([f"{name} {version(name)}" for name in ("scipy", "numpy")] + sources)


def _to_json(uncertainty: Uncertainty) -> dict[str, Any]:
    """The content to store; cells with the same counts have the same interval, written once."""
    grids = {}
    for key, one in uncertainty.grids.items():
        kinds = {kind: place for place, kind in enumerate(dict.fromkeys(one.cells.values()))}
        grids[key] = asdict(replace(one, cells={})) | {
            "cells": {at: kinds[cell] for at, cell in one.cells.items()},
            "kinds": [asdict(kind) for kind in kinds],
        }
    return {
        "grids": grids,
        "differences": {key: asdict(one) for key, one in uncertainty.differences.items()},
        "defaults": {key: asdict(one) for key, one in uncertainty.defaults.items()},
    }


def _from_json(content: Any) -> Uncertainty:
    grids = {}
    for key, one in content["grids"].items():
        kinds = [CellUncertainty(**kind) for kind in one.pop("kinds")]
        one["cells"] = {at: kinds[kind] for at, kind in one["cells"].items()}
        for axis in ("x_means", "y_means"):
            one[axis] = {at: tuple(ends) for at, ends in one[axis].items()}
        grids[key] = GridUncertainty(**one)
    return Uncertainty(
        grids,
        {key: DifferenceUncertainty(**one) for key, one in content["differences"].items()},
        {
            key: Defaults(**one | {"rows": tuple(Default(**row) for row in one["rows"])})
            for key, one in content["defaults"].items()
        },
    )


# --- counts -------------------------------------------------------------------------------------


def counts_of(grid: Grid) -> tuple[dict[str, Counts], str]:
    """Successes and trials of each cell by its place; or why there are none."""
    study = grid.study
    if grid.aggregate:
        return {}, "an aggregate is no count of trials"
    if _size(study) > CELLS_UP_TO:
        return {}, f"intervals and tests are not computed above {CELLS_UP_TO:,} cells in a grid"
    scale = share_scale(study)
    counts: dict[str, Counts] = {}
    known: dict[tuple[str, int], int | None] = {}
    for place, (_, _, cell) in zip(_places(study), grid.points(), strict=True):
        if cell.value is None:
            continue
        n = trials(grid, cell)
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
            return {}, f"{cell.value} is no count of {n} trials, so the trials are not known"
        counts[place] = (k, n)
    return counts, "" if counts else "there is no value"


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
    grids = {}
    for levels, grid in results.grids.items():
        grids[key_of_levels(levels)] = (
            _aggregate(results, grid, counts) if grid.aggregate else _grid(grid, *counts[levels])
        )
    compared = {}
    for facet in results.study.facets:
        for difference in differences(results, facet):
            first, second = difference.first.levels, difference.second.levels
            compared[key_of_levels(first, second)] = _difference(
                counts[first],
                counts[second],
                shares_by_item(difference.first),
                shares_by_item(difference.second),
            )
    return Uncertainty(grids, compared, _defaults(results, counts))


def _grid(grid: Grid, counts: Mapping[str, Counts], reason: str) -> GridUncertainty:
    from gridatlas.statistics.best import best_set, best_set_paired
    from gridatlas.statistics.counts import mean_wilson, wilson
    from gridatlas.statistics.differences import homogeneity

    if reason:
        return GridUncertainty(reason)
    study = grid.study
    scale = share_scale(study) or 1
    points = list(counts)
    by_item = shares_by_item(grid)
    shares = [by_item.get(point) for point in points]
    paired = len(points) <= PAIRED_UP_TO and all_paired(shares)
    chosen = (
        best_set_paired([one.values for one in shares if one], study.metric.better, ALPHA)
        if paired
        else best_set([counts[point] for point in points], study.metric.better, ALPHA)
    )
    items = _items(grid)
    kept = {points[index] for index in chosen.indices}
    kinds: dict[tuple[int, int, bool], CellUncertainty] = {}
    cells = {}
    for point, (k, n) in counts.items():
        kind = (k, n, point in kept)
        if kind not in kinds:
            interval = wilson(k, n)
            wider = wilson(k * items / n, items) if items and items < n else None
            kinds[kind] = CellUncertainty(
                interval.low * scale,
                interval.high * scale,
                wider.low * scale if wider else None,
                wider.high * scale if wider else None,
                point in kept,
            )
        cells[point] = kinds[kind]
    sizes = {n for _, n in counts.values()}

    columns, rows = range(len(study.x.levels)), range(len(study.y.levels))

    def mean(at: Sequence[str]) -> Ends:
        interval = mean_wilson([counts[point] for point in at])
        return interval.low * scale, interval.high * scale

    chi = homogeneity([counts[point] for point in points])
    return GridUncertainty(
        test=chosen.test,
        n=sizes.pop() if len(sizes) == 1 else None,
        items=items,
        samples=study.trials.samples if study.trials and items else None,
        level=chosen.level,
        chi2=chi.chi2 if chi else None,
        df=chi.df if chi else None,
        p=chi.p if chi else None,
        x_p=_effect([[counts.get(f"{i},{j}") for j in rows] for i in columns]),
        y_p=_effect([[counts.get(f"{i},{j}") for i in columns] for j in rows]),
        cells=cells,
        x_means={place: mean(at) for place, at in _along(points, 0).items()},
        y_means={place: mean(at) for place, at in _along(points, 1).items()},
        paired=paired,
    )


def _along(points: Sequence[str], axis: int) -> dict[str, list[str]]:
    """The points (by place) at each place on an axis, 0 for x and 1 for y."""
    along: dict[str, list[str]] = {}
    for point in points:
        along.setdefault(point.split(",")[axis], []).append(point)
    return along


def _effect(rows: Sequence[Sequence[Counts | None]]) -> float | None:
    from gridatlas.statistics.differences import main_effect

    found = main_effect(rows)
    return found.p if found else None


def _items(grid: Grid) -> int | None:
    if grid.study.trials is None:
        return None
    ids = [facet.id for facet in grid.study.facets]
    return grid.names[ids.index(grid.study.trials.items)].items


def _aggregate(
    results: Results, grid: Grid, counts: Mapping[Levels, tuple[Mapping[str, Counts], str]]
) -> GridUncertainty:
    """An aggregate's intervals, from the standard errors of its parts; it is not tested itself."""
    from gridatlas.statistics.counts import mean_stderr

    parts = _parts_of(results, grid)
    for levels in parts:
        if levels not in counts or counts[levels][1]:
            return GridUncertainty(counts[levels][1] if levels in counts else "a part is missing")
    scale = share_scale(grid.study) or 1
    z = NormalDist().inv_cdf(1 - ALPHA / 2)
    cells = {}
    reaches: dict[str, float] = {}
    shown: dict[str, float] = {}
    for point, (_, _, cell) in zip(_places(grid.study), grid.points(), strict=True):
        if cell.value is not None:
            shown[point] = float(cell.value)
        of = [counts[levels][0].get(point) for levels in parts]
        known = [one for one in of if one is not None]
        if cell.value is None or len(known) < len(of):
            continue
        reach = z * mean_stderr(known) * scale
        reaches[point] = reach
        cells[point] = CellUncertainty(float(cell.value) - reach, float(cell.value) + reach)

    def means(axis: int) -> dict[str, Ends]:
        found = {}
        for place, at in _along(list(shown), axis).items():
            if all(point in reaches for point in at):
                mean = fsum(shown[point] for point in at) / len(at)
                off = hypot(*(reaches[point] for point in at)) / len(at)
                found[place] = (mean - off, mean + off)
        return found

    return GridUncertainty(cells=cells, x_means=means(0), y_means=means(1))


def _parts_of(results: Results, grid: Grid) -> list[Levels]:
    for index, (facet, level) in enumerate(zip(results.study.facets, grid.names, strict=True)):
        if level.aggregate:
            return [
                (*grid.levels[:index], one.key, *grid.levels[index + 1 :])
                for one in facet.levels
                if not one.aggregate
            ]
    return []


def _difference(
    first: tuple[Mapping[str, Counts], str],
    second: tuple[Mapping[str, Counts], str],
    shares1: Mapping[str, Shares],
    shares2: Mapping[str, Shares],
) -> DifferenceUncertainty:
    from gridatlas.statistics.differences import difference, holm
    from gridatlas.statistics.paired import paired_p

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
        adjusted = holm([one.p for one in tests])
        name = " and ".join(dict.fromkeys(one.test for one in tests))
    else:
        pairs = [(*second[0][point], *first[0][point]) for point in points]
        p_of = {pair: difference(*pair).p for pair in dict.fromkeys(pairs)}
        adjusted = holm([p_of[pair] for pair in pairs])
        name = "two-sided Fisher exact tests"
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
    for levels, grid in results.grids.items():
        if not grid.aggregate and not counts[levels][1]:
            key = (*levels[:index], *levels[index + 1 :])
            groups.setdefault(key, []).append(counts[levels][0])
    scale = share_scale(study) or 1
    found = {}
    for key, tables in groups.items():
        points = [point for point in tables[0] if all(point in one for one in tables)]
        if len(tables) < 2 or len(points) < 2:
            continue
        others = [facet.id for facet in study.facets if facet.id != study.trials.items]
        name = json.dumps([*others, *key] if len(key) == 1 else list(key))
        if len(points) > SETTINGS_UP_TO:
            reason = f"mean ranks are not computed above {SETTINGS_UP_TO:,} settings"
            found[name] = Defaults(len(tables), reason=reason)
            continue
        standing = good_default(
            [[one[point] for point in points] for one in tables], study.metric.better
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
                row.rank_interval.low,
                row.rank_interval.high,
                row.regret * scale,
                row.regret_interval.low * scale,
                row.regret_interval.high * scale,
            )
            for point, row in ordered
        )
        found[name] = Defaults(len(tables), rows, standing.alike_regret * scale, standing.p)
    return found
