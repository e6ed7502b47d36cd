"""Which question a page asks of which grids, by the shape of its study alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations

from gridatlas.assessment.answers.blocks import Block, Blocks, blocks_of
from gridatlas.assessment.answers.cellwise import CellTests
from gridatlas.assessment.answers.gaps import Gap, Pair
from gridatlas.assessment.answers.kinds import Kind, kind_of
from gridatlas.assessment.uncertainty import DifferenceUncertainty, key_of_levels
from gridatlas.model.study import Factor, Level, Levels, Study
from gridatlas.table.differences import ALL_PAIRS_UP_TO
from gridatlas.table.grids import Results
from gridatlas.table.study_table import Grid

Cellwise = Mapping[str, DifferenceUncertainty]
"""Grids against one another cell by cell, by `key_of_levels`."""


@dataclass(frozen=True, eq=False)
class Part:
    """One thing that a page asks: of settings, or of two levels.

    Attributes:
        topic: What the page is about.
        label: What this is about, in the sentence of a page that asks several.
    """

    page: str
    topic: str
    label: str
    ask: Blocks | Gap


@dataclass(frozen=True, eq=False)
class Question:
    """What a page asks of the grids at its levels.

    Attributes:
        cellwise: Grids against one another cell by cell, by `key_of_levels`.
        fixed: By the ids of facets, the level that the page is about; aggregates aren't among them.
    """

    results: Results
    cellwise: Cellwise
    page: str
    fixed: Mapping[str, str]
    label: str = ""

    @property
    def study(self) -> Study:
        """Whose grids are asked."""
        return self.results.study

    @cached_property
    def free(self) -> tuple[Factor, ...]:
        """The facets that the page doesn't fix."""
        return tuple(facet for facet in self.study.facets if facet.id not in self.fixed)

    def parts(self, compared: Factor | None = None) -> list[Part]:
        """What is asked, by the study's shape alone.

        Args:
            compared: The facet whose levels the page holds against one another.
        """
        for facet in (compared,) if compared else self.free:
            if facet.id in self.study.baseline:
                return self._against_baseline(facet)
        if compared is not None and compared.id in self.study.compare:
            return self._against_each_other(compared)
        replicates = self.replicates()
        if compared is None and replicates is None:
            for facet in self.free:
                if facet.id in self.study.compare:
                    return self._against_each_other(facet)
        return self.settings(replicates)

    def replicates(self) -> Factor | None:
        """The facet whose levels repeat what is asked: seeds, else benchmarks."""
        found = [facet for facet in self.free if kind_of(self.study, facet) != "one"]
        return min(found, key=lambda facet: facet.id != self.study.replicates, default=None)

    def _against_baseline(self, facet: Factor) -> list[Part]:
        base = facet.level(self.study.baseline[facet.id])
        return [
            Part(self.page, self.label, self.label, gap)
            for level in measured(facet)
            if level.key != base.key and (gap := self.gap(facet, level, base))
        ]

    def _against_each_other(self, facet: Factor) -> list[Part]:
        levels = measured(facet)
        pairs = (
            combinations(levels, 2)
            if len(levels) <= ALL_PAIRS_UP_TO
            else ((level, levels[0]) for level in levels[1:])
        )
        return [
            Part(self.page, self.label, self.label, gap.higher_first)
            for first, second in pairs
            if (gap := self.gap(facet, first, second))
        ]

    def gap(self, facet: Factor, first: Level, second: Level) -> Gap | None:
        """One level against another over all levels of the other free facets."""
        pairs = {
            left.levels: pair
            for left in self.grids({facet.id: first.key})
            if (right := self.results.neighbour(left, facet.id, second.key))
            and (pair := Pair(Block(left), Block(right))).common.any()
        }
        seeds = any(other.id == self.study.replicates for other in self.free if other is not facet)
        every = self._every_seed_has(pairs) if seeds else []
        chosen = [pairs[levels] for levels in every or pairs]
        if not chosen:
            return None
        alone = len(self.free) - 1 == int(seeds)  # nothing but seeds is free besides
        tests = [self._cell_tests(pair) for pair in chosen] if alone else [None]
        cellwise = reduce(lambda a, b: a.both(b) if a and b else None, tests)
        return Gap(self.study, first, second, tuple(chosen), seeds, cellwise)

    def _cell_tests(self, pair: Pair) -> CellTests | None:
        """The tests of the cells of two grids: the first against the second."""
        first, second = pair.first.grid.levels, pair.second.grid.levels
        for levels, turned in (((second, first), False), ((first, second), True)):
            tests = self.cellwise.get(key_of_levels(*levels))
            if tests is None or not tests.cells:
                continue
            higher = frozenset(point for point, up in tests.significant.items() if up)
            lower = frozenset(tests.significant) - higher
            found = CellTests(self.study, pair.points, higher, lower, tests.test)
            return found.turned if turned else found
        return None

    def _every_seed_has(self, found: Collection[Levels]) -> list[Levels]:
        """The levels, seed by seed, without those at which some seed has nothing."""
        place = [facet.id for facet in self.study.facets].index(self.study.replicates)
        by_seed: dict[str, dict[Levels, Levels]] = {}
        for levels in found:
            rest = (*levels[:place], *levels[place + 1 :])
            by_seed.setdefault(levels[place], {})[rest] = levels
        common = [
            rest
            for rest in next(iter(by_seed.values()), {})
            if all(rest in of for of in by_seed.values())
        ]
        return [of[rest] for of in by_seed.values() for rest in common]

    def settings(self, replicates: Factor | None) -> list[Part]:
        """Settings over the replicates, for each combination of levels of what else is free.

        Over seeds benchmarks are averaged, if each seed has them all: a seed repeats all of them.
        """
        kind: Kind = "one" if replicates is None else kind_of(self.study, replicates)
        others = [facet for facet in self.free if facet is not replicates]
        benchmarks = [facet for facet in others if kind_of(self.study, facet) == "benchmarks"]
        if kind == "seeds" and benchmarks:
            parts = self._asked([facet for facet in others if facet not in benchmarks], kind)
            if parts:
                return parts
        return self._asked(others, kind)

    def _asked(self, facets: Sequence[Factor], kind: Kind) -> list[Part]:
        """A question for each combination of levels of some facets; none where seeds differ."""
        groups: dict[Levels, list[Grid]] = {}
        places = [self.study.facets.index(facet) for facet in facets]
        for grid in self.grids({}):
            groups.setdefault(tuple(grid.levels[at] for at in places), []).append(grid)
        parts = []
        for key, grids in groups.items():
            names = [facet.level(level).label for facet, level in zip(facets, key, strict=True)]
            label = ", ".join(filter(None, [self.label, *names]))
            blocks = self._blocks(grids, kind)
            if blocks is None:
                return []
            parts.append(Part(self.page, self.label, label, blocks))
        return parts

    def _blocks(self, grids: Sequence[Grid], kind: Kind) -> Blocks | None:
        """A table per grid, or per seed where each has several; None if seeds share nothing."""
        if len(grids) < 2 or kind != "seeds":
            return blocks_of(self.study, grids, kind if len(grids) > 1 else "one")
        by_levels = {grid.levels: grid for grid in grids}
        chosen = [by_levels[levels] for levels in self._every_seed_has(by_levels)]
        place = [facet.id for facet in self.study.facets].index(self.study.replicates)
        seeds = {grid.levels[place] for grid in chosen}
        if not seeds:
            return None
        if len(seeds) == 1 and len(chosen) > 1:
            return blocks_of(self.study, chosen, "benchmarks")
        return blocks_of(self.study, chosen, kind, len(chosen) // len(seeds))

    def grids(self, also: Mapping[str, str]) -> Iterator[Grid]:
        """The grids at the page's levels, without aggregates."""
        wanted = {**self.fixed, **also}
        ids = [facet.id for facet in self.study.facets]
        for grid in self.results.grids.values():
            levels = dict(zip(ids, grid.levels, strict=True))
            if not grid.aggregate and all(levels[name] == key for name, key in wanted.items()):
                yield grid


def measured(facet: Factor) -> list[Level]:
    """The levels of a facet that aren't aggregates of others."""
    return [level for level in facet.levels if not level.aggregate]
