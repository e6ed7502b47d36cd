"""Grids of which one question is asked: one grid, or one per benchmark or seed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from gridatlas.analysis.said import Answer
from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.observations import each_row
from gridatlas.assessment.uncertainty import Ends, GridUncertainty, as_pairs, defined
from gridatlas.charts.plotting import Scope
from gridatlas.model.format import denoised
from gridatlas.model.study import Factor, Levels, Study
from gridatlas.table.grids import Results
from gridatlas.table.study_table import Grid

Kind = Literal["one", "benchmarks", "seeds"]


def kind_of(study: Study, facet: Factor) -> Kind:
    """What a facet's levels are where they repeat what is asked; `one` where they don't."""
    match study.roles.get(facet.id):
        case "replicate":
            return "seeds"
        case "block":
            return "benchmarks"
        case _:
            return "one"


def scope_of(study: Study, tests: GridUncertainty) -> Scope:
    """What the narrower intervals of a grid hold for; empty where nobody says."""
    if tests.basis == "repeats":
        return ""  # repeats may be seeds, runs or annotators: no questions are known
    trials = bool(defined(tests.by_trials).any())
    if study.spread and not trials:
        return ""  # a table rarely says what its spread is over
    if defined(tests.by_items).any() or study.trials:
        return "these questions"
    return ""


def narrow_and_wide(tests: GridUncertainty, row: int) -> tuple[Ends | None, Ends | None]:
    """The interval for the same questions, and the wider one; over seeds only the latter."""
    wide, narrow = as_pairs(np.stack([tests.ends[row], tests.by_trials[row]]))
    if narrow is None or tests.basis == "replicates":
        return wide, None
    return narrow, None if narrow == wide else wide


def repeats_of(assessment: Assessment, grid: Grid) -> list[tuple[float, ...]]:
    """Of each cell, row by row, all that its value is the mean of; of a single one nothing."""
    study, results = assessment.study, assessment.results
    found: list[list[float]] = [[] for _ in grid.keys]
    if any(of.aggregate and facet.id == study.replicates
           for facet, of in zip(study.facets, grid.names, strict=True)):  # fmt: skip
        parts = [
            results.grids[of].columns for of in results.parts_of(grid)[1] if of in results.grids
        ]
        pairs = [pair for part in parts for pair in enumerate(part.value.floats.tolist())]
    else:
        at, columns, _ = each_row(study, grid.table)
        first = grid.table.rows(grid.levels).start
        pairs = [*zip((at - first).tolist(), columns.value.floats.tolist(), strict=True)]
    for place, value in pairs:
        if 0 <= place < len(found) and not math.isnan(value):
            found[place].append(value)
    return [tuple(of) if len(of) > 1 else () for of in found]


STRIP = 400, 20
"""Cells of a grid, and repeats of each, up to which all repeats are listed."""


def repeat_texts(assessment: Assessment, grid: Grid) -> tuple[str, ...]:
    """Of each cell the repeats in words; empty where there are none, or many."""
    repeats = repeats_of(assessment, grid) if len(grid.columns) <= STRIP[0] else [()]
    texts = (" · ".join(f"{denoised(one, grid.study):.12g}" for one in of) for of in repeats)
    return tuple(texts) if 1 < max(map(len, repeats)) <= STRIP[1] else ()


def is_ordered(study: Study, axis: Factor) -> bool:
    """Whether the levels of an axis are numbers, or steps of one thing's progress."""
    numbers = all(level.number is not None for level in axis.levels)
    return numbers or study.roles.get(axis.id) == "progress"


@dataclass(frozen=True, eq=False)
class Tables:
    """Grids of which one question is asked: one grid, or one per benchmark or seed.

    Attributes:
        grids: Without aggregates; at least one.
        facet: Whose levels they are at; None for a single grid.
        aggregate: The grid that is their mean, where there is one.
    """

    assessment: Assessment
    kind: Kind
    grids: tuple[Grid, ...]
    facet: Factor | None = None
    aggregate: Grid | None = None

    @property
    def study(self) -> Study:
        """The study."""
        return self.assessment.study

    @property
    def lead(self) -> Grid:
        """The grid whose cells stand for the settings."""
        return self.aggregate or self.grids[0]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Labels of the benchmarks or seeds; of a single grid its own, if it has one."""
        if self.facet is None:
            return (self.grids[0].label,) if self.study.facets else ()
        at = self.study.facets.index(self.facet)
        return tuple(grid.names[at].label for grid in self.grids)

    @cached_property
    def title(self) -> str:
        """What all of them have in common: `R1-Qwen`; the study's title without facets."""
        fixed = [
            level.label
            for facet, level in zip(self.study.facets, self.grids[0].names, strict=True)
            if facet is not self.facet
        ]
        return " | ".join(fixed) or self.study.title

    @property
    def answer(self) -> Answer | None:
        """What is answered of exactly these: of the level that they share, or of the one grid."""
        shared = [
            f"{facet.id}/{level.slug}"
            for facet, level in zip(self.study.facets, self.grids[0].names, strict=True)
            if facet is not self.facet
        ]
        if self.facet is None:
            return self.assessment.grid_answers.get(self.grids[0].levels)
        return self.assessment.answers.get(*shared or [""]) if len(shared) < 2 else None

    def uncertainty(self, grid: Grid) -> GridUncertainty:
        """The intervals of a grid."""
        return self.assessment.uncertainty.of(grid)


def tables_of(assessment: Assessment, grids: Iterable[Grid]) -> Tables | None:
    """The tables of some grids; None unless they are one, or repeat one another.

    An aggregate alone stands for its parts.
    """
    grids, results = tuple(grids), assessment.results
    measured = tuple(grid for grid in grids if not grid.aggregate)
    if not measured and len(grids) == 1:
        parts = results.parts_of(grids[0])[1]
        measured = tuple(results.grids[levels] for levels in parts if levels in results.grids)
    if not measured or any(grid.aggregate for grid in measured):
        return None
    if len(measured) == 1:
        return Tables(assessment, "one", measured)
    facets = assessment.study.facets
    differing = [
        facet for at, facet in enumerate(facets) if len({grid.levels[at] for grid in measured}) > 1
    ]
    kinds = {kind_of(assessment.study, facet): facet for facet in differing}
    if len(differing) == 2 and kinds.keys() == {"seeds", "benchmarks"}:
        return _seeds(assessment, measured, kinds["seeds"], kinds["benchmarks"])
    kind = kind_of(assessment.study, differing[0])
    if len(differing) > 1 or kind == "one":
        return None
    wanted = {grid.levels for grid in measured}
    means = (grid for grid in results.grids.values() if grid.aggregate)
    aggregate = next((grid for grid in means if set(results.parts_of(grid)[1]) == wanted), None)
    return Tables(assessment, kind, measured, differing[0], aggregate)


def _seeds(
    assessment: Assessment, measured: Sequence[Grid], seeds: Factor, benchmarks: Factor
) -> Tables | None:
    """One table per seed, the printed or computed mean of its benchmarks; None without that."""
    results = assessment.results
    mean = next((level for level in benchmarks.levels if level.aggregate), None)
    if mean is None:
        return None
    by_seed = {
        grid.levels: grid
        for part in measured
        if (grid := results.neighbour(part, benchmarks.id, mean.key)) is not None
    }
    wanted = {grid.levels for grid in measured}
    parts = {levels for grid in by_seed.values() for levels in _parts_at(results, grid, benchmarks)}
    if parts != wanted:
        return None
    whole = next((level for level in seeds.levels if level.aggregate), None)
    first = next(iter(by_seed.values()))
    return Tables(
        assessment,
        "seeds",
        tuple(by_seed.values()),
        seeds,
        results.neighbour(first, seeds.id, whole.key) if whole else None,
    )


def _parts_at(results: Results, grid: Grid, facet: Factor) -> Iterator[Levels]:
    """The grids at each level of a facet that isn't an aggregate, all else being the same."""
    for level in facet.levels:
        part = None if level.aggregate else results.neighbour(grid, facet.id, level.key)
        if part is not None:
            yield part.levels
