"""How far each number of a study can be trusted: intervals, tests, and what they assume."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isnan

import numpy as np

from gridatlas.model.study import Levels, Point, Study
from gridatlas.table.coded import Bools
from gridatlas.table.decimals import Floats, Int8
from gridatlas.table.differences import Difference
from gridatlas.table.items import Basis
from gridatlas.table.study_table import Grid

ALPHA = 0.05
CLEARLY = 0.005
"""p up to which a page reports that cells vary less than independent trials would."""

UNTESTED = -1

Ends = tuple[float, float]
"""Low and high end of an interval, in the metric's unit."""


def defined(ends: Floats) -> Bools:
    """Whether each interval is known.

    Args:
        ends: By (interval, 2).
    """
    return ~np.isnan(ends[:, 0])


def as_pairs(ends: Floats) -> list[Ends | None]:
    """The intervals by (interval, 2) one by one; None where one isn't known."""
    return [None if isnan(low) else (low, high) for low, high in ends.tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class GridUncertainty:
    """The intervals and tests of one grid, in the metric's unit.

    Attributes:
        ends: 95 % intervals of the cells by (cell, 2), row by row as in `Grid.columns`: the widest
            of those that the data gives. Here and below nan where there is none.
        by_trials: The ones as if n trials were independent.
        by_items: The ones for other items of the kind, from the standard error or the number of
            items.
        ranges: Of cells that are means of too few repeats for an interval, lowest and highest of
            these.
        may_be_best: Of each cell whether it is in the confidence set for the best: 1 or 0, or
            `UNTESTED`.
        x_means, y_means: 95 % intervals of the means at each level, by (level, 2).
        x_trials, y_trials: The same as if all trials were independent: for the same questions.
        reason: Why nothing can be tested; empty where it is.
        test: Name of the test for the best cells, with what it assumes.
        n: Trials of each cell; None where they differ.
        items, samples: Their factors, where the study's `trials` give them: n = items × samples.
        basis: What the intervals come from.
        replicates: Number of repeats that a mean over repeats is of.
        same_items: Whether all cells were asked the same items; None where unknown.
        level: One-sided level at which a cell leaves the set for the best.
        chi2, df, p: Pearson's χ² test that all cells have the same share; None where untested.
        paired: Whether cells are tested against one another item by item.
    """

    ends: Floats
    by_trials: Floats
    by_items: Floats
    ranges: Floats
    may_be_best: Int8
    x_means: Floats
    y_means: Floats
    x_trials: Floats
    y_trials: Floats
    reason: str = ""
    test: str = ""
    n: int | None = None
    items: int | None = None
    samples: int | None = None
    level: float | None = None
    chi2: float | None = None
    df: int | None = None
    p: float | None = None
    paired: bool = False
    basis: Basis = ""
    replicates: int | None = None
    same_items: bool | None = None

    @classmethod
    def unknown(cls, study: Study, reason: str = "") -> GridUncertainty:
        """That of a grid of which no interval is known."""
        x, y = len(study.x.levels), len(study.y.levels)
        of_cells, of_x, of_y = (np.broadcast_to(np.nan, (size, 2)) for size in (x * y, x, y))
        untested = np.broadcast_to(np.int8(UNTESTED), x * y)
        cells = (of_cells, of_cells, of_cells, of_cells, untested)
        return cls(*cells, of_x, of_y, of_x, of_y, reason)

    @property
    def cells(self) -> int:
        """Number of cells that have an interval."""
        return int(defined(self.ends).sum())

    @property
    def has_ranges(self) -> bool:
        """Whether a cell is a mean of too few repeats."""
        return bool(defined(self.ranges).any())

    @property
    def best_set(self) -> Bools:
        """Whether each cell is in the confidence set for the best."""
        return np.equal(self.may_be_best, 1)

    @property
    def best_set_size(self) -> int:
        """Number of cells in the confidence set for the best."""
        return int(self.best_set.sum())

    @property
    def tested_by(self) -> str:
        """What cells are tested against one another by, in words."""
        if self.paired:
            return "item by item"
        return (
            "by counts and standard errors"
            if self.basis == "stderr"
            else "by an unpaired test of the counts"
        )


@dataclass(frozen=True, slots=True)
class DifferenceUncertainty:
    """Level against level, cell by cell, after Holm's correction at 5 %.

    Attributes:
        reason: Why nothing can be tested; empty where it is.
        test: Name of the tests.
        cells: Number of cells that are tested.
        significant: By the points that differ significantly, whether the second level is higher.
        paired: Whether the tests are of outcomes item by item.
    """

    reason: str = ""
    test: str = ""
    cells: int = 0
    significant: Mapping[Point, bool] = field(default_factory=dict)
    paired: bool = False

    @property
    def differ(self) -> int:
        """Number of cells that differ significantly."""
        return len(self.significant)

    @property
    def higher(self) -> int:
        """Number of those that are higher in the second level."""
        return sum(self.significant.values())


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
    pooled: PooledChiSquared | None = None

    def of(self, grid: Grid) -> GridUncertainty:
        """What is known of a grid."""
        return self.at(grid.levels)

    def at(self, levels: Levels) -> GridUncertainty:
        """What is known of the grid at these levels."""
        return self.grids[key_of_levels(levels)]

    def of_difference(self, difference: Difference) -> DifferenceUncertainty:
        """What is known of a difference."""
        return self.differences[key_of_levels(difference.first.levels, difference.second.levels)]


def key_of_levels(*levels: Levels) -> str:
    """A key that no other levels have, whatever characters are in them."""
    return json.dumps(levels)
