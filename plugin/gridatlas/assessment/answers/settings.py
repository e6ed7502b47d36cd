"""Which setting? Does either axis matter? Asked of one grid, or of several over a facet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from scipy import stats

from gridatlas.assessment.answers.answer import (
    ADVERBS,
    ALPHA,
    Answer,
    AskedQuestion,
    At,
    Evidence,
    Grade,
    capital,
    grade_of,
    headline,
    in_p,
    joined,
    mean_text,
)
from gridatlas.assessment.answers.blocks import Block, Blocks
from gridatlas.model.format import between, value_with_unit
from gridatlas.model.study import Factor, Level, inline
from gridatlas.results.items import share_scale
from gridatlas.results.summary import summarise
from gridatlas.statistics.differences import over_pages
from gridatlas.statistics.estimates import Floats, wilson
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
        levels, rows = complete_part(_along(values, axis))
        single = rows.sum() < 2 and tables < 3 and outcomes is None
        if levels.sum() < 2 or not rows.any() or single:
            continue  # a single cell per level: that is the question of the best one
        if outcomes is not None:
            tests[question] = axis_over_replicates(_along(_signed(blocks, outcomes), axis))
        elif tables > 2:
            tests[question] = axis_over_replicates(_along(values, axis))
        else:
            tests[question] = axis_over_rows(_along(values, axis))
            narrow.add(question)
    reason = "" if tests else "each level has one cell"
    return SettingsTests(blocks, tests, frozenset(narrow), reason)


def _signed(blocks: Blocks, outcomes: Floats) -> Floats:
    return -outcomes if blocks.study.metric.better == "lower" else outcomes


def _along(values: Floats, axis: int) -> Floats:
    """(table, level of the axis, level of the other)."""
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


@dataclass(frozen=True, eq=False)
class SettingsAnswer:
    """Writes the answer of a page from its judged tests."""

    page: str
    label: str
    judged: Judged

    @property
    def blocks(self) -> Blocks:
        """What the tests were made of."""
        return self.judged.tests.blocks

    def answer(self) -> Answer:
        """The answer: the strongest thing that is asserted; an axis before a setting."""
        grades = self.judged.grades
        asked = (
            AskedQuestion(self.label, question, p, grades[question])
            for question, p in self.judged.ps.items()
        )
        return replace(self._sentence(), asked=tuple(asked))

    def _sentence(self) -> Answer:
        described = self._described()
        if described is not None:
            return described
        if not self.judged.ps:
            return self._untestable()
        grades = self.judged.grades
        for grade in ("clear", "likely"):
            axes = [axis for axis, _ in AXES if grades.get(axis) == grade]
            if axes:
                return self._axes(axes, grade)
            if grades.get("best") == grade:
                return self._best(grade)
        return self._nothing()

    # --- what is only described

    def _described(self) -> Answer | None:
        values = self.blocks.values[np.isfinite(self.blocks.values)]
        cells = f"{values.size:,} {'cell' if values.size == 1 else 'cells'}"
        if not values.size:
            return self._plain("described", self._prefixed("no values yet"))
        if values.size == 1:
            return self._plain("described", self._prefixed(self._one_cell(float(values[0]))))
        limit = self._limit()
        if np.ptp(values) == 0:
            end = f", the {limit[1]} of the scale" if limit and values[0] == limit[0] else ""
            text = f"all {cells} score {self._amount(float(values[0]))}{end}"
            return self._plain("described", self._prefixed(text))
        at_limit = int((values == limit[0]).sum()) if limit else 0
        if limit and 2 * at_limit > values.size:
            text = (
                f"{at_limit:,} of {cells} reach {self._amount(limit[0])}, "
                f"the {limit[1]} of the scale"
            )
            return self._plain("described", self._prefixed(text))
        if int(self.blocks.complete.sum()) < 2:
            of = f"{len(self.blocks.blocks) // self.blocks.averaged} {self._tables()}"
            text = f"no 2 settings have a value in each of {of}"
            return self._plain("described", self._prefixed(text))
        return None

    def _one_cell(self, value: float) -> str:
        block, scale = self.blocks.blocks[0], share_scale(self.blocks.study) or 1
        counted = np.isfinite(block.trials)
        if len(self.blocks.blocks) > 1 or not counted.any():
            return self._amount(value)
        interval = wilson(float(block.successes[counted][0]), int(block.trials[counted][0]))
        ends = between(interval.low * scale, interval.high * scale, self.blocks.study)
        return f"{self._amount(value)} ({ends})"

    def _limit(self) -> tuple[float, str] | None:
        metric = self.blocks.study.metric
        if metric.range is None:
            return None
        low, high = map(float, metric.range)
        return (high, "top") if metric.better == "higher" else (low, "bottom")

    def _untestable(self) -> Answer:
        mean = mean_text(self.blocks.study, float(np.nanmean(self.blocks.values)))
        metric = inline(self.blocks.study.metric.name)
        text = self._prefixed(f"{metric} {mean} on average; can't be tested")
        evidence = [Evidence(f"Can't be tested: {self.judged.tests.reason}.")]
        evidence += [self._highest(block) for block in self.blocks.blocks[:1]]
        return self._plain("untestable", text, *evidence)

    def _highest(self, block: Block) -> Evidence:
        """The best value of a table, beside the best undisputed one where it is disputed."""
        summary = summarise(block.grid)
        assert summary is not None  # a table without values is only described
        study = self.blocks.study
        word = "lowest" if study.metric.better == "lower" else "highest"
        at = [(study.x.place(x.key), study.y.place(y.key)) for x, y in summary.best]
        where = self._setting(at[0]) if len(at) == 1 else f"{len(at)} cells"
        text = f"The {word} value, {self._amount(float(summary.best_value))} at {where}"
        if not summary.best_disputed:
            return Evidence(f"{text}, may be chance.", float(summary.best_value))
        other = summary.best_undisputed
        undisputed = (
            f"the {word} undisputed is {self._amount(float(other.value))}"
            if other
            else "no value is undisputed"
        )
        return Evidence(f"{text}, is disputed; {undisputed}.", float(summary.best_value))

    def _plain(self, grade: Grade, text: str, *evidence: Evidence) -> Answer:
        return Answer(self.page, grade, text, evidence)

    # --- what is asserted, or not

    def _nothing(self) -> Answer:
        axes = joined([self._name(axis) for axis in self._axes_asked()], "or")
        if "best" in self.judged.ps:
            text = f"no setting{f' and no {axes}' if axes else ''} shown to be better"
        else:
            text = f"no effect of {axes} shown"
        evidence = [self._axis_evidence(axis) for axis in self._axes_asked()]
        if "best" in self.judged.ps:
            evidence.append(self._best_evidence())
        evidence.sort(key=lambda reason: reason.p or 0.0)
        return Answer(
            self.page,
            "not-shown",
            headline(self._prefixed(text), self._prefixed("no setting shown to be better")),
            tuple(evidence),
        )

    def _axes(self, axes: Sequence[Axis], grade: Grade) -> Answer:
        adverb = ADVERBS[grade]
        narrow = any(axis in self.judged.tests.narrow for axis in axes)
        evidence = [self._axis_evidence(axis) for axis in axes]
        if self.judged.grades.get("best") in ADVERBS and "best" in self.judged.ps:
            evidence.append(self._best_evidence())
        named = joined([self._name(axis) for axis in axes])
        ids = joined([self._factor(axis).id for axis in axes])
        verb = "matter" if len(axes) > 1 else "matters"
        ways = {self._monotone(axis) for axis in axes}
        metric = inline(self.blocks.study.metric.name)
        where = "on these runs" if self.blocks.study.cells == "runs" else "on these questions"
        named_level = self._named_level(axes[0]) if len(axes) == 1 else ""
        texts = [
            f"{name} {adverb} {verb}{level}"
            for name, level in ((named, named_level), (ids, named_level), (ids, ""))
        ]
        if len(ways) == 1 and None not in ways:
            way = ways.pop()
            texts = [f"{metric} {adverb} {way} with {name}" for name in (named, ids)] + texts
        if narrow:
            texts = [f"{where} {text}" for text in texts]
        level = self._level_named(axes[0]) if len(axes) == 1 else None
        asserts = tuple(
            f"{axis}:{self._extreme(axis)[1]}:{self._named_level(axis)}" for axis in axes
        )
        return Answer(
            self.page,
            grade,
            headline(*map(self._prefixed, texts)),
            tuple(evidence),
            self._cells_at(axes[0], level) if level else (),
            asserts,
        )

    def _best(self, grade: Grade) -> Answer:
        tied = self._best_cells()
        adverb = ADVERBS[grade]
        highest = self._best_evidence()
        if len(tied) > 1:
            text = self._prefixed(f"{len(tied)} settings share the best {self._measure()}")
            return Answer(self.page, grade, headline(text), (highest,), self._at(tied))
        only = len(self.blocks.values) == 1 and "best" not in self.judged.tests.narrow
        verb = "is" if only and grade == "clear" else ""
        words = f"is {adverb} best" if verb else f"{adverb} stands out"
        return Answer(
            self.page,
            grade,
            headline(
                self._prefixed(f"{self._setting(tied[0])} {words}"),
                self._prefixed(f"{self._setting(tied[0], short=True)} {words}"),
            ),
            (highest, *(self._axis_evidence(axis) for axis in self._axes_asked())),
            self._at(tied),
            ("best",),
        )

    # --- evidence

    def _axis_evidence(self, axis: Axis) -> Evidence:
        study, factor = self.blocks.study, self._factor(axis)
        best, worst, means = self._ends(axis)
        named, is_best = self._extreme(axis)
        level, other = (best, worst) if is_best else (worst, best)
        tables = [self._level_means(axis, at) for at in range(len(self.blocks.values))]
        count = sum(
            int((np.nanargmax(of) if is_best else np.nanargmin(of)) == level) for of in tables
        )
        lower = study.metric.better == "lower"
        scale = "highest" if is_best != lower else "lowest"
        where = ""
        if len(tables) > 1:
            where = f" on {count or 'none'} of {len(tables)} {self._tables()}"
        if self.blocks.averaged > 1:
            where += f", each the mean of {self.blocks.averaged} benchmarks"
        p = self.judged.ps[axis]
        if means[best] == means[worst]:
            text = f"All levels of {inline(factor.label)} have the same mean ({in_p(p)})."
            return Evidence(text, 0.0, test=f"permutation test of {inline(factor.label)}", p=p)
        average = "on average " if len(tables) > 1 else ""
        return Evidence(
            f"{factor.label} {named.label} has the {scale} mean{where} ({average}"
            f"{mean_text(study, means[level])} against {mean_text(study, means[other])} at "
            f"{factor.levels[other].label}; {in_p(p)}).",
            value=means[level] - means[other],
            test=f"permutation test of {inline(factor.label)}",
            p=p,
            scope=self._scope(axis),
            assumes=self._assumes(axis),
        )

    def _best_evidence(self) -> Evidence:
        p = self.judged.ps["best"]
        tied = self._best_cells()
        count = int(self.blocks.complete.sum())
        of = f"the {count:,} settings"
        present = int(self.blocks.present.sum())
        if count < present:
            of = f"the {count:,} of {present:,} settings that every {self._tables(1)} has"
        if len(tied) > 1:
            text = f"{len(tied)} settings share the best {self._measure()} of {of} ({in_p(p)})."
        elif len(self.blocks.values) > 1:
            rank = self._mean_ranks()[tied[0]]
            text = (
                f"{capital(self._setting(tied[0]))} ranks best of {of} "
                f"({rank:.1f} of {count:,} on average; {in_p(p)})."
            )
        else:
            value = self._amount(float(self.blocks.values[0][tied[0]]))
            lucky = ", the luckiest, so probably too good" if p <= ALPHA else ""
            text = (
                f"{capital(self._setting(tied[0]))} has the best value of {of}, {value}{lucky} "
                f"({in_p(p)})."
            )
        return Evidence(
            text,
            test="permutation test of the best setting",
            p=p,
            scope=self._scope("best"),
            assumes=self._assumes("best"),
        )

    def _scope(self, question: Question) -> str:
        if self.blocks.kind == "seeds":
            return "other seeds"
        if self.blocks.study.cells == "runs":
            return "these runs"
        return (
            "these questions" if question in self.judged.tests.narrow else "questions of the kind"
        )

    def _assumes(self, question: Question) -> tuple[str, ...]:
        if len(self.blocks.values) > 1:
            return (f"{self._tables()} are independent", "if alike, cells are exchangeable")
        if question in self.judged.tests.narrow:
            return ("if alike, cells are exchangeable",)
        return ("items are independent",)

    # --- figures

    def _factor(self, axis: Axis) -> Factor:
        return self.blocks.study.x if axis == "x" else self.blocks.study.y

    def _name(self, axis: Axis) -> str:
        return inline(self._factor(axis).label)

    def _axes_asked(self) -> list[Axis]:
        return [axis for axis, _ in AXES if axis in self.judged.ps]

    def _level_means(self, axis: Axis, table: int | None = None) -> Floats:
        """Means of the levels over the same rows, turned so that more is better; nan without."""
        values = _along(self.blocks.turned, 1 if axis == "x" else 2)
        levels, rows = complete_part(values)
        means = np.full(values.shape[:2], np.nan)
        means[:, levels] = values[:, levels][:, :, rows].mean(axis=2)
        found: Floats = means.mean(axis=0) if table is None else means[table]
        return found

    def _ends(self, axis: Axis) -> tuple[int, int, list[float]]:
        """The best level, the worst one, and the means of all in the metric's unit."""
        turned = self._level_means(axis)
        sign = -1 if self.blocks.study.metric.better == "lower" else 1
        return int(np.nanargmax(turned)), int(np.nanargmin(turned)), (sign * turned).tolist()

    def _extreme(self, axis: Axis) -> tuple[Level, bool]:
        """The level farthest from the others by its mean, and whether it is the best."""
        best, worst, _ = self._ends(axis)
        turned = self._level_means(axis)
        middle = float(np.nanmean(turned))
        is_best = turned[best] - middle >= middle - turned[worst] - 1e-9
        test = self.judged.tests.tests[axis]
        if isinstance(test, AxisTest) and test.offsets:
            beyond = [abs(test.offsets[at]) >= test.cutoff for at in (best, worst)]
            is_best = beyond[0] or (is_best and not beyond[1])
        return self._factor(axis).levels[best if is_best else worst], is_best

    def _level_named(self, axis: Axis) -> Level | None:
        """The level that lies beyond what the farthest of chance does; None where none does."""
        test = self.judged.tests.tests[axis]
        level, _ = self._extreme(axis)
        if not isinstance(test, AxisTest) or not test.offsets:
            return None
        offset = test.offsets[self._factor(axis).place(level.key)]
        return level if abs(offset) >= test.cutoff else None

    def _named_level(self, axis: Axis) -> str:
        level = self._level_named(axis)
        if level is None:
            return ""
        lower = self.blocks.study.metric.better == "lower"
        end = "highest" if self._extreme(axis)[1] != lower else "lowest"
        if lower:
            return f"; {inline(self.blocks.study.metric.name)} is {end} at {level.label}"
        return f"; {level.label} scores {end}"

    def _monotone(self, axis: Axis) -> str | None:
        """`rises` or `falls`, where the means do along an axis of numbers."""
        factor = self._factor(axis)
        numbers = [level.number for level in factor.levels]
        if len(numbers) < 3 or any(number is None for number in numbers):
            return None
        order = sorted(range(len(numbers)), key=lambda at: numbers[at] or 0)
        means = np.array(self._ends(axis)[2])[order]
        steps = np.diff(means[np.isfinite(means)])
        if (steps > 0).all():
            return "rises"
        return "falls" if (steps < 0).all() else None

    def _mean_ranks(self) -> Floats:
        complete = self.blocks.complete
        ranks = np.full(complete.shape, np.nan)
        table = np.round(self.blocks.turned[:, complete], 12)
        ranks[complete] = stats.rankdata(-table, axis=1).mean(axis=0)
        return ranks

    def _best_cells(self) -> list[tuple[int, int]]:
        ranks = self._mean_ranks()
        best = np.nanmin(ranks)
        return [(int(i), int(j)) for i, j in np.argwhere(ranks <= best + 1e-9)]

    def _measure(self) -> str:
        return "mean rank" if len(self.blocks.values) > 1 else "value"

    def _setting(self, at: tuple[int, int], *, short: bool = False) -> str:
        """A cell in words, by the axes along which there are several."""
        factors = (self.blocks.study.x, self.blocks.study.y)
        several = [pair for pair in zip(factors, at, strict=True) if len(pair[0].levels) > 1]
        return " with ".join(
            f"{factor.id} {factor.levels[place].key}"
            if short
            else f"{inline(factor.label)} {factor.levels[place].label}"
            for factor, place in several
        )

    def _at(self, places: Sequence[tuple[int, int]]) -> tuple[At, ...]:
        study = self.blocks.study
        return tuple(
            (block.grid.levels, (study.x.levels[i].key, study.y.levels[j].key))
            for block in self.blocks.blocks
            for i, j in places
        )

    def _cells_at(self, axis: Axis, level: Level) -> tuple[At, ...]:
        study = self.blocks.study
        place = self._factor(axis).place(level.key)
        if axis == "x":
            return self._at([(place, j) for j in range(len(study.y.levels))])
        return self._at([(i, place) for i in range(len(study.x.levels))])

    # --- words

    def _tables(self, count: int = 2) -> str:
        word = "seed" if self.blocks.kind == "seeds" else "benchmark"
        return word if count == 1 else f"{word}s"

    def _prefixed(self, text: str) -> str:
        return f"{self.label}: {text}" if self.label else capital(text)

    def _amount(self, value: float) -> str:
        metric = self.blocks.study.metric
        return value_with_unit(f"{value:.{metric.decimals or 0}f}", metric.unit)
