"""Which setting? Does either axis matter? Asked of one grid, or of several over a facet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from gridatlas.assessment.answers.answer import (
    Grade,
    grade_of,
)
from gridatlas.assessment.answers.blocks import Blocks
from gridatlas.statistics.differences import over_pages
from gridatlas.statistics.estimates import Floats
from gridatlas.statistics.permutation import (
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
    if blocks.study.axes == "conditions":
        pass  # nobody chooses among them, so none is the best
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
    return -outcomes if blocks.study.metric.better == "lower" else outcomes


def along(values: Floats, axis: int) -> Floats:
    """Values by (table, level of the axis, level of the other)."""
    return values if axis == 1 else values.transpose(0, 2, 1)


def _best_by_counts(blocks: Blocks) -> PermutationTest:
    [block] = blocks.blocks
    counted = np.isfinite(block.trials)
    k, n = block.successes[counted], block.trials[counted]
    return best_by_counts(n - k if blocks.study.metric.better == "lower" else k, n)


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
