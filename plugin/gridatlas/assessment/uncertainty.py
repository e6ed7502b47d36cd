"""How far each number of a study can be trusted: intervals, tests, and what they assume."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from gridatlas.model.study import Levels, Point
from gridatlas.table.differences import Difference
from gridatlas.table.items import Basis
from gridatlas.table.study_table import Grid

ALPHA = 0.05
CLEARLY = 0.005
"""p up to which a page reports that cells vary less than independent trials would."""

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
    """The intervals and tests of one grid.

    Attributes:
        reason: Why nothing can be tested; empty where it is.
        test: Name of the test for the best cells, with what it assumes.
        n: Trials of each cell; None where they differ.
        items, samples: Their factors, where the study's `trials` give them: n = items × samples.
        cells: Those that have an interval.
        x_means, y_means: 95 % intervals of the means at each level, by its key.
        x_trials, y_trials: The same as if all trials were independent: for the same questions.
        basis: What the intervals come from.
        replicates: Number of repeats that a mean over repeats is of.
        ranges: Of cells that are means of too few repeats for an interval, lowest and highest of
            these.
        same_items: Whether all cells were asked the same items; None where unknown.
        level: One-sided level at which a cell leaves the set for the best.
        chi2, df, p: Pearson's χ² test that all cells have the same share; None where untested.
        alike: Whether no test finds a difference among its cells, rows or columns: each cell
            may be the best, and neither all cells nor the sums along an axis differ; False where
            that isn't tested.
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
    alike: bool = False
    cells: Mapping[Point, CellUncertainty] = field(default_factory=dict)
    x_means: Mapping[str, Ends] = field(default_factory=dict)
    y_means: Mapping[str, Ends] = field(default_factory=dict)
    x_trials: Mapping[str, Ends] = field(default_factory=dict)
    y_trials: Mapping[str, Ends] = field(default_factory=dict)
    paired: bool = False
    basis: Basis = ""
    replicates: int | None = None
    ranges: Mapping[Point, Ends] = field(default_factory=dict)
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
    """A key that no other levels have, whatever characters are in them."""
    return json.dumps(levels)
