"""Level against level: the mean difference over the cells that both have, tested once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gridatlas.assessment.answers.answer import (
    ALPHA,
    CLEAR,
    Grade,
    grade_of,
)
from gridatlas.assessment.answers.blocks import Block
from gridatlas.assessment.answers.cellwise import CellTests
from gridatlas.model.study import Factor, Level, Point, Study
from gridatlas.statistics.differences import holm
from gridatlas.statistics.estimates import FEWEST, Counts, Floats
from gridatlas.statistics.mean_difference import (
    MeanDifference,
    by_items_of_cells,
    by_seeds,
    by_sign_flips,
    counts_interval,
    over_benchmarks,
    with_p,
)
from gridatlas.table.items import Shares, items_of, share_scale, shares_by_item

Scope = Literal["other seeds", "questions of the kind", "these questions", "these runs"]

_WIDTH: Mapping[Scope, int] = {
    "these questions": 0,
    "these runs": 0,
    "questions of the kind": 1,
    "other seeds": 2,
}
"""How much of the world a scope holds for, in order."""


@dataclass(frozen=True, slots=True)
class ScopedTest:
    """A difference in the metric's unit, and what it holds for."""

    difference: MeanDifference
    scope: Scope
    assumes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Pair:
    """The grids of two levels at the same levels of the other facets."""

    first: Block
    second: Block

    @cached_property
    def common(self) -> NDArray[np.bool_]:
        """Which cells both have: (x, y)."""
        common: NDArray[np.bool_] = np.isfinite(self.first.values) & np.isfinite(self.second.values)
        return common

    @property
    def differences(self) -> Floats:
        """First minus second over the common cells, in the metric's unit."""
        found: Floats = (self.first.values - self.second.values)[self.common]
        return found

    @property
    def disputed(self) -> NDArray[np.bool_]:
        """Of the common cells, which are disputed in either: as `differences`."""
        disputed: NDArray[np.bool_] = self.first.disputed | self.second.disputed
        return disputed[self.common]

    def difference(self, point: Point) -> float:
        """First minus second at one of the common cells."""
        study = self.first.grid.study
        at = study.x.place(point[0]), study.y.place(point[1])
        return float(self.first.values[at] - self.second.values[at])

    @property
    def counts(self) -> tuple[list[Counts], list[Counts]] | None:
        """Successes and trials of the common cells; None where unknown."""
        if self.first.reason or self.second.reason:
            return None
        first, second = (
            [
                (int(k), int(n))
                for k, n in zip(
                    block.successes[self.common], block.trials[self.common], strict=True
                )
            ]
            for block in (self.first, self.second)
        )
        return first, second

    @cached_property
    def outcomes(self) -> list[tuple[Shares, Shares]] | None:
        """Per common cell its outcomes item by item, where one run asked both the same items."""
        first, second = shares_by_item(self.first.grid), shares_by_item(self.second.grid)
        found = []
        for point in self._points():
            mine, other = first.get(point), second.get(point)
            if mine is None or other is None or mine.items != other.items:
                return None
            found.append((mine, other))
        return found or None

    @property
    def points(self) -> frozenset[Point]:
        """The common cells."""
        return frozenset(self._points())

    def _points(self) -> list[Point]:
        """The level keys of the common cells."""
        study = self.first.grid.study
        return [(study.x.levels[i].key, study.y.levels[j].key) for i, j in np.argwhere(self.common)]


@dataclass(frozen=True, eq=False)
class Gap:
    """One level against another, over the levels of the other facets.

    Attributes:
        seeds: Whether the pairs repeat the experiment; else they are benchmarks.
        cellwise: The tests of its cells: of a single pair, or of one pair per seed.
    """

    study: Study
    first: Level
    second: Level
    pairs: tuple[Pair, ...]
    seeds: bool
    cellwise: CellTests | None = None

    @property
    def facet(self) -> Factor:
        """Whose levels they are."""
        pair = self.pairs[0]
        both = zip(pair.first.grid.levels, pair.second.grid.levels, strict=True)
        differ = [first != second for first, second in both]
        return self.study.facets[differ.index(True)]

    @property
    def means(self) -> tuple[float, float]:
        """The mean of each level over the common cells, each pair with equal weight."""
        first, second = (
            float(np.mean([block.values[pair.common].mean() for pair, block in blocks]))
            for blocks in (
                [(pair, pair.first) for pair in self.pairs],
                [(pair, pair.second) for pair in self.pairs],
            )
        )
        return first, second

    @property
    def higher_first(self) -> Gap:
        """The same gap, with the level first whose mean is higher."""
        first, second = self.means
        if first >= second:
            return self
        pairs = tuple(Pair(pair.second, pair.first) for pair in self.pairs)
        turned = self.cellwise.turned if self.cellwise else None
        return Gap(self.study, self.second, self.first, pairs, self.seeds, turned)

    @cached_property
    def tests(self) -> tuple[ScopedTest, ...]:
        """The tests that the data allow, the one with the widest replicates first."""
        found = [self._over_seeds(), self._over_items(), self._over_trials(), self._over_runs()]
        found.append(self._as_items())
        return tuple(test for test in found if test is not None)

    @property
    def decides(self) -> ScopedTest | None:
        """The test that decides; None where nothing can be tested."""
        if self.too_few_seeds:
            return None
        return self.tests[0] if self.tests else None

    @property
    def wider(self) -> ScopedTest | None:
        """The test of the widest scope beyond that of the one that decides; None without one."""
        decides = self.decides
        if decides is None:
            return None
        beyond = [test for test in self.tests if _WIDTH[test.scope] > _WIDTH[decides.scope]]
        return max(beyond, key=lambda test: _WIDTH[test.scope], default=None)

    @cached_property
    def by_seed(self) -> tuple[float, ...]:
        """The mean difference of each seed, over all that its pairs are of besides."""
        place = [facet.id for facet in self.study.facets].index(self.study.replicates)
        means: dict[str, list[float]] = {}
        for pair in self.pairs:
            seed = pair.first.grid.levels[place]
            means.setdefault(seed, []).append(float(pair.differences.mean()))
        return tuple(float(np.mean(found)) for found in means.values())

    @property
    def too_few_seeds(self) -> bool:
        """Whether there are seeds, and not enough of them to tell how they differ."""
        return self.seeds and len(self.by_seed) < FEWEST

    def _over_seeds(self) -> ScopedTest | None:
        if not self.seeds or self.too_few_seeds:
            return None
        if self.study.cells != "runs" and any(pair.counts is None for pair in self.pairs):
            return None
        return ScopedTest(by_seeds(self.by_seed), "other seeds", ("seeds are independent",))

    def _over_items(self) -> ScopedTest | None:
        """Outcomes item by item; cells that were asked the same items are averaged first."""
        groups: dict[tuple[str, ...], list[tuple[float, Shares, Shares]]] = {}
        for pair in self.pairs:
            if pair.outcomes is None:
                return None
            weight = 1 / len(pair.outcomes)
            for first, second in pair.outcomes:
                groups.setdefault(first.items, []).append((weight, first, second))
        if min(map(len, groups)) < 2:
            return None  # a single item doesn't tell how items differ
        weights = [sum(weight for weight, _, _ in cells) for cells in groups.values()]
        means = [
            (_item_means([cell[:2] for cell in cells]), _item_means([cell[::2] for cell in cells]))
            for cells in groups.values()
        ]
        found = (
            by_sign_flips(*means[0], "items")
            if len(means) == 1
            else by_items_of_cells(means, weights)
        )
        return ScopedTest(self._scaled(found), "questions of the kind", ("items are independent",))

    def _over_trials(self) -> ScopedTest | None:
        parts = []
        for pair in self.pairs:
            if pair.counts is None:
                return None
            parts.append(counts_interval(*pair.counts))
        found = with_p(over_benchmarks(parts), "Newcombe's interval, inverted")
        assumes = ("cells were sampled separately",)
        return ScopedTest(self._scaled(found), "these questions", assumes)

    def _as_items(self) -> ScopedTest | None:
        """The counts with each item as one trial: how little these questions say of others."""
        asked: dict[str, tuple[int, list[Counts], list[Counts]]] = {}
        for pair in self.pairs:
            items = items_of(pair.first.grid)
            if pair.counts is None or not items or self.seeds or pair.outcomes is not None:
                return None
            benchmark = pair.first.grid.levels[self._benchmark]
            _, first, second = asked.setdefault(benchmark, (items, [], []))
            first += pair.counts[0]
            second += pair.counts[1]
        parts = [counts_interval(first, second, items) for items, first, second in asked.values()]
        found = with_p(over_benchmarks(parts), "Newcombe's interval of the items, inverted")
        return ScopedTest(self._scaled(found), "questions of the kind")

    @property
    def _benchmark(self) -> int:
        """The place of the facet whose levels have the items, where these are known."""
        trials = self.study.trials
        return [facet.id for facet in self.study.facets].index(trials.items if trials else "")

    def _over_runs(self) -> ScopedTest | None:
        if self.study.cells != "runs" or self.seeds:
            return None
        common = np.logical_and.reduce([pair.common for pair in self.pairs])
        if int(common.sum()) < 2:
            return None
        first, second = (
            np.mean([block.values[common] for block in blocks], axis=0)
            for blocks in (
                [pair.first for pair in self.pairs],
                [pair.second for pair in self.pairs],
            )
        )
        found = by_sign_flips(first.tolist(), second.tolist(), "cells")
        return ScopedTest(found, "these runs", ("runs are independent",))

    def _scaled(self, difference: MeanDifference) -> MeanDifference:
        """A difference of shares in the metric's unit."""
        scale = share_scale(self.study) or 1
        interval = type(difference.interval)(
            difference.interval.low * scale, difference.interval.high * scale
        )
        return MeanDifference(difference.value * scale, interval, difference.p, difference.test)


def _item_means(cells: Sequence[tuple[float, Shares]]) -> list[float]:
    """Per item the mean over cells that were asked the same items, each with its weight."""
    weights = [weight for weight, _ in cells]
    return list(np.average([shares.values for _, shares in cells], axis=0, weights=weights))


@dataclass(frozen=True, eq=False)
class JudgedGap:
    """A gap with its adjusted p-value."""

    gap: Gap
    p: float | None

    @property
    def grade(self) -> Grade:
        """How surely the levels differ."""
        decides = self.gap.decides
        if decides is None or self.p is None:
            return "untestable"
        if decides.scope == "other seeds":
            measured = self.gap.tests[1:2]
            if not measured:
                return grade_of(self.p)
            if self.p <= ALPHA and measured[0].difference.p <= CLEAR:
                return "clear"
            return grade_of(self.p, at_most_likely=True)
        return grade_of(self.p, at_most_likely=decides.scope in ("these questions", "these runs"))

    @property
    def value(self) -> float:
        """First minus second, in the metric's unit."""
        first, second = self.gap.means
        return first - second


def judge_gaps(gaps: Sequence[Gap]) -> list[JudgedGap]:
    """Gaps of one family, adjusted for their number by Holm."""
    tested = [gap for gap in gaps if gap.decides]
    adjusted = dict(
        zip(
            map(id, tested),
            holm([gap.decides.difference.p for gap in tested if gap.decides]),
            strict=True,
        )
    )
    return [JudgedGap(gap, adjusted.get(id(gap))) for gap in gaps]
