"""The figures in an answer about settings: means of levels, mean ranks, and the best cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from gridatlas.assessment.answers.answer import At
from gridatlas.assessment.answers.blocks import Blocks
from gridatlas.assessment.answers.settings import Axis, SettingsTests, along
from gridatlas.model.study import Factor, Level
from gridatlas.statistics.estimates import Floats
from gridatlas.statistics.permutation import AxisTest, complete_part


@dataclass(frozen=True, eq=False)
class Figures:
    """Figures of the tables that a page asks, and of its tests."""

    tests: SettingsTests

    @property
    def blocks(self) -> Blocks:
        """What the tests were made of."""
        return self.tests.blocks

    def factor(self, axis: Axis) -> Factor:
        """The factor of an axis."""
        return self.blocks.study.x if axis == "x" else self.blocks.study.y

    def level_means(self, axis: Axis, table: int | None = None) -> Floats:
        """Means of the levels over the same rows, turned so that more is better; nan without."""
        values = along(self.blocks.turned, 1 if axis == "x" else 2)
        levels, rows = complete_part(values)
        means = np.full(values.shape[:2], np.nan)
        means[:, levels] = values[:, levels][:, :, rows].mean(axis=2)
        found: Floats = means.mean(axis=0) if table is None else means[table]
        return found

    def ends(self, axis: Axis) -> tuple[int, int, list[float]]:
        """The best level, the worst one, and the means of all in the metric's unit."""
        turned = self.level_means(axis)
        sign = -1 if self.blocks.study.metric.better == "lower" else 1
        return int(np.nanargmax(turned)), int(np.nanargmin(turned)), (sign * turned).tolist()

    def extreme(self, axis: Axis) -> tuple[Level, bool]:
        """The level farthest from the others by its mean, and whether it is the best."""
        best, worst, _ = self.ends(axis)
        turned = self.level_means(axis)
        middle = float(np.nanmean(turned))
        is_best = turned[best] - middle >= middle - turned[worst] - 1e-9
        test = self.tests.tests[axis]
        if isinstance(test, AxisTest) and test.offsets:
            beyond = [abs(test.offsets[at]) >= test.cutoff for at in (best, worst)]
            is_best = beyond[0] or (is_best and not beyond[1])
        return self.factor(axis).levels[best if is_best else worst], is_best

    def level_named(self, axis: Axis) -> Level | None:
        """The level that lies beyond what the farthest of chance does; None where none does."""
        test = self.tests.tests[axis]
        level, _ = self.extreme(axis)
        if not isinstance(test, AxisTest) or not test.offsets:
            return None
        offset = test.offsets[self.factor(axis).place(level.key)]
        return level if abs(offset) >= test.cutoff else None

    def monotone(self, axis: Axis) -> str | None:
        """`rises` or `falls`, where the means do along an axis of numbers."""
        factor = self.factor(axis)
        numbers = [level.number for level in factor.levels]
        if len(numbers) < 3 or any(number is None for number in numbers):
            return None
        order = sorted(range(len(numbers)), key=lambda at: numbers[at] or 0)
        means = np.array(self.ends(axis)[2])[order]
        steps = np.diff(means[np.isfinite(means)])
        if (steps > 0).all():
            return "rises"
        return "falls" if (steps < 0).all() else None

    def mean_ranks(self) -> Floats:
        """Mean rank of each cell that every table has: (x, y), 1 = best; nan for the others."""
        complete = self.blocks.complete
        ranks = np.full(complete.shape, np.nan)
        table = np.round(self.blocks.turned[:, complete], 12)
        ranks[complete] = stats.rankdata(-table, axis=1).mean(axis=0)
        return ranks

    def best_cells(self) -> list[tuple[int, int]]:
        """The places of the cells with the best mean rank, ties included."""
        ranks = self.mean_ranks()
        best = np.nanmin(ranks)
        return [(int(i), int(j)) for i, j in np.argwhere(ranks <= best + 1e-9)]

    def at(self, places: Sequence[tuple[int, int]]) -> tuple[At, ...]:
        """The cells at some places, in every table."""
        study = self.blocks.study
        return tuple(
            (block.grid.levels, (study.x.levels[i].key, study.y.levels[j].key))
            for block in self.blocks.blocks
            for i, j in places
        )

    def cells_at(self, axis: Axis, level: Level) -> tuple[At, ...]:
        """The cells at a level of an axis, in every table."""
        study = self.blocks.study
        place = self.factor(axis).place(level.key)
        if axis == "x":
            return self.at([(place, j) for j in range(len(study.y.levels))])
        return self.at([(i, place) for i in range(len(study.x.levels))])
