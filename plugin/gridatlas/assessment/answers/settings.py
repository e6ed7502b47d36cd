"""Which setting? Does either axis matter? Tests of one grid or of several, and their figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy import stats

from gridatlas.assessment.answers.answer import (
    At,
    Grade,
    grade_of,
)
from gridatlas.assessment.answers.blocks import Blocks
from gridatlas.model.study import Factor, Level
from gridatlas.statistics.differences import over_pages
from gridatlas.statistics.estimates import Floats
from gridatlas.statistics.permutation import (
    AxisTest,
    PermutationTest,
    axis_over_replicates,
    axis_over_rows,
    best_by_counts,
    best_by_item,
    best_over_replicates,
    complete_part,
)

Axis = Literal["x", "y"]
Question = Literal["best", "x", "y"]
AXES: tuple[tuple[Axis, int], ...] = (("x", 1), ("y", 2))
"""The axes, with their places in an array over (table, x, y)."""


@dataclass(frozen=True, eq=False)
class SettingsTests:
    """The tests of a page, before they are adjusted for its siblings.

    Attributes:
        tests: By what is asked; empty where nothing can be tested.
        narrow: Those that hold for these questions or these runs alone.
        reason: Why nothing is tested.
    """

    blocks: Blocks
    tests: dict[Question, PermutationTest]
    narrow: frozenset[Question] = frozenset()
    reason: str = ""


def test_settings(blocks: Blocks) -> SettingsTests:
    """The tests that the data allow: of the best setting, and of each axis."""
    if blocks.untestable:
        return SettingsTests(blocks, {}, reason=blocks.untestable)
    values = blocks.turned
    tables = len(values)
    outcomes = blocks.blocks[0].outcomes if len(blocks.blocks) == 1 else None
    runs = blocks.study.cells == "runs" and blocks.kind != "seeds"
    tests: dict[Question, PermutationTest] = {}
    narrow: set[Question] = set()
    if not blocks.study.has_best:
        pass
    elif tables > 1:
        tests["best"] = best_over_replicates(values.reshape(tables, -1))
        if tables == 2:
            narrow.add("best")
    elif outcomes is not None:
        flat = outcomes.reshape(len(outcomes), -1)
        tests["best"] = best_by_item(_signed(blocks, flat[:, np.isfinite(flat).all(axis=0)]))
    elif not runs:
        tests["best"] = _best_by_counts(blocks)
        narrow.add("best")
    for question, axis in AXES:
        levels, rows = complete_part(along(values, axis))
        single = rows.sum() < 2 and tables < 3 and outcomes is None
        if levels.sum() < 2 or not rows.any() or single:
            continue  # a single cell per level: that is the question of the best one
        if outcomes is not None:
            tests[question] = axis_over_replicates(along(_signed(blocks, outcomes), axis))
        elif tables > 2:
            tests[question] = axis_over_replicates(along(values, axis))
        else:
            tests[question] = axis_over_rows(along(values, axis))
            narrow.add(question)
    reason = "" if tests else "each level has one cell"
    return SettingsTests(blocks, tests, frozenset(narrow), reason)


def _signed(blocks: Blocks, outcomes: Floats) -> Floats:
    return -outcomes if blocks.study.metric.falls else outcomes


def along(values: Floats, axis: int) -> Floats:
    """Values by (table, level of the axis, level of the other)."""
    return values if axis == 1 else values.transpose(0, 2, 1)


def _best_by_counts(blocks: Blocks) -> PermutationTest:
    [block] = blocks.blocks
    counted = np.isfinite(block.trials)
    k, n = block.successes[counted], block.trials[counted]
    return best_by_counts(n - k if blocks.study.metric.falls else k, n)


@dataclass(frozen=True, eq=False)
class Judged:
    """A page's tests with their adjusted p-values and grades."""

    tests: SettingsTests
    ps: dict[Question, float]

    @cached_property
    def grades(self) -> dict[Question, Grade]:
        """By what is asked."""
        grades: dict[Question, Grade] = {}
        for question, p in self.ps.items():
            test = self.tests.tests[question]
            error = test.error * p / test.p if test.p else test.error
            grades[question] = grade_of(p, error, at_most_likely=question in self.tests.narrow)
        return grades


def judge_pages(pages: Sequence[SettingsTests]) -> list[Judged]:
    """The tests of sibling pages, adjusted for one another."""
    tested = [page for page in pages if page.tests]
    adjusted = over_pages([[test.p for test in page.tests.values()] for page in tested])
    by_page = {
        id(page): dict(zip(page.tests, ps, strict=True))
        for page, ps in zip(tested, adjusted, strict=True)
    }
    return [Judged(page, by_page.get(id(page), {})) for page in pages]


# --- figures ------------------------------------------------------------------------------------


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
        sign = -1 if self.blocks.study.metric.falls else 1
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
