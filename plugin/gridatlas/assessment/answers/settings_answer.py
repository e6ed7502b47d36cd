"""Words for settings: which stands out, which axis matters, or that nothing is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gridatlas.assessment.answers.answer import (
    ADVERBS,
    Answer,
    AskedQuestion,
    Evidence,
    Grade,
    capital,
    headline,
    joined,
    mean_text,
    told_once,
    unshown,
)
from gridatlas.assessment.answers.blocks import Block, Blocks
from gridatlas.assessment.answers.settings import AXES, Axis, Figures, Judged, Question
from gridatlas.model.format import between, format_value, in_p, value_with_unit
from gridatlas.model.study import inline
from gridatlas.statistics.estimates import wilson
from gridatlas.table.items import share_scale
from gridatlas.table.summary import summarise


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

    @property
    def figures(self) -> Figures:
        """What the sentences tell."""
        return Figures(self.judged.tests)

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
        return (high, "top") if not metric.falls else (low, "bottom")

    def _untestable(self) -> Answer:
        mean = mean_text(self.blocks.study, float(np.nanmean(self.blocks.values)))
        metric = inline(self.blocks.study.metric.name)
        text = self._prefixed(f"{metric} {mean} on average; can't be tested")
        evidence = [Evidence(f"{capital(self.judged.tests.reason)}.")]
        evidence += [self._highest(block) for block in self.blocks.blocks[:1]]
        return self._plain("untestable", text, *evidence)

    def _highest(self, block: Block) -> Evidence:
        """The best value of a table, beside the best undisputed one where it is disputed."""
        summary = summarise(block.grid)
        assert summary is not None  # a table without values is only described
        study = self.blocks.study
        word = "lowest" if study.metric.falls else "highest"
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
        study = self.blocks.study
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
            headline(self._prefixed(text), self._prefixed(f"no {unshown(study)}")),
            tuple(evidence),
        )

    def _axes(self, axes: Sequence[Axis], grade: Grade) -> Answer:
        adverb = ADVERBS[grade]
        narrow = any(axis in self.judged.tests.narrow for axis in axes)
        evidence = [self._axis_evidence(axis) for axis in axes]
        if self.judged.grades.get("best") in ADVERBS and "best" in self.judged.ps:
            evidence.append(self._best_evidence())
        named = joined([self._name(axis) for axis in axes])
        short = told_once([self._name(axis) for axis in axes])
        ids = joined([self.figures.factor(axis).id for axis in axes])
        verb = "matter" if len(axes) > 1 else "matters"
        ways = {self.figures.monotone(axis) for axis in axes}
        metric = inline(self.blocks.study.metric.name)
        where = "on these runs" if self.blocks.study.cells == "runs" else "on these questions"
        named_level = self._named_level(axes[0]) if len(axes) == 1 else ""
        texts = [
            f"{name} {adverb} {verb}{level}"
            for name, level in (
                (named, named_level),
                (short, named_level),
                (ids, named_level),
                (ids, ""),
            )
        ]
        if len(ways) == 1 and None not in ways:
            way = ways.pop()
            texts = [f"{metric} {adverb} {way} with {name}" for name in (named, short, ids)] + texts
        if narrow:
            texts = [f"{where} {text}" for text in texts]
        level = self.figures.level_named(axes[0]) if len(axes) == 1 else None
        asserts = tuple(
            f"{axis}:{self.figures.extreme(axis)[1]}:{self._named_level(axis)}" for axis in axes
        )
        return Answer(
            self.page,
            grade,
            headline(*map(self._prefixed, texts)),
            tuple(evidence),
            self.figures.cells_at(axes[0], level) if level else (),
            asserts,
        )

    def _best(self, grade: Grade) -> Answer:
        tied = self.figures.best_cells()
        adverb = ADVERBS[grade]
        highest = self._best_evidence()
        if len(tied) > 1:
            text = self._prefixed(f"{len(tied)} settings share the best {self._measure()}")
            return Answer(self.page, grade, headline(text), (highest,), self.figures.at(tied))
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
            (highest, *self._other_evidence()),
            self.figures.at(tied),
            ("best",),
        )

    # --- evidence

    def _other_evidence(self) -> Iterator[Evidence]:
        """What the axes show beside a best setting; where that is nothing, no level is named."""
        axes = self._axes_asked()
        shown = [axis for axis in axes if self.judged.grades[axis] in ADVERBS]
        yield from map(self._axis_evidence, shown)
        nothing = [axis for axis in axes if axis not in shown]
        if not nothing:
            return
        names = [self._name(axis) for axis in nothing]
        ps = [self.judged.ps[axis] for axis in nothing]
        text = f"{capital(names[0])} shows no"
        if len(names) > 1:
            text = f"Neither {joined(names, 'nor')} shows an"
        yield Evidence(
            f"{text} effect beyond chance ({', '.join(map(in_p, ps))}).",
            test=f"permutation test of {joined(names)}",
            p=min(ps),
            scope=self._scope(nothing[0]),
            assumes=self._assumes(nothing[0]),
        )

    def _axis_evidence(self, axis: Axis) -> Evidence:
        study, factor = self.blocks.study, self.figures.factor(axis)
        best, worst, means = self.figures.ends(axis)
        named, is_best = self.figures.extreme(axis)
        level, other = (best, worst) if is_best else (worst, best)
        tables = [self.figures.level_means(axis, at) for at in range(len(self.blocks.values))]
        count = sum(
            int((np.nanargmax(of) if is_best else np.nanargmin(of)) == level) for of in tables
        )
        lower = study.metric.falls
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
        chance = "" if self.judged.grades[axis] in ADVERBS else ", but chance can't be excluded"
        return Evidence(
            f"{factor.label} {named.label} has the {scale} mean{where} ({average}"
            f"{mean_text(study, means[level])} against {mean_text(study, means[other])} at "
            f"{factor.levels[other].label}; {in_p(p)}){chance}.",
            value=means[level] - means[other],
            test=f"permutation test of {inline(factor.label)}",
            p=p,
            scope=self._scope(axis),
            assumes=self._assumes(axis),
        )

    def _best_evidence(self) -> Evidence:
        p = self.judged.ps["best"]
        tied = self.figures.best_cells()
        count = int(self.blocks.complete.sum())
        of = f"the {count:,} settings"
        present = int(self.blocks.present.sum())
        if count < present:
            of = f"the {count:,} of {present:,} settings that every {self._tables(1)} has"
        if len(tied) > 1:
            text = f"{len(tied)} settings share the best {self._measure()} of {of} ({in_p(p)})."
        elif len(self.blocks.values) > 1:
            rank = self.figures.mean_ranks()[tied[0]]
            text = (
                f"{capital(self._setting(tied[0]))} ranks best of {of} "
                f"({format_value(float(rank), 1)} of {count:,} on average; {in_p(p)})."
            )
        else:
            value = self._amount(float(self.blocks.values[0][tied[0]]))
            asserted = self.judged.grades["best"] in ADVERBS
            lucky = ", the luckiest, so probably too good" if asserted else ""
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

    # --- names

    def _name(self, axis: Axis) -> str:
        return inline(self.figures.factor(axis).label)

    def _axes_asked(self) -> list[Axis]:
        return [axis for axis, _ in AXES if axis in self.judged.ps]

    def _named_level(self, axis: Axis) -> str:
        level = self.figures.level_named(axis)
        if level is None:
            return ""
        lower = self.blocks.study.metric.falls
        end = "highest" if self.figures.extreme(axis)[1] != lower else "lowest"
        if lower:
            return f"; {inline(self.blocks.study.metric.name)} is {end} at {level.label}"
        return f"; {level.label} scores {end}"

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

    # --- words

    def _tables(self, count: int = 2) -> str:
        word = "seed" if self.blocks.kind == "seeds" else "benchmark"
        return word if count == 1 else f"{word}s"

    def _prefixed(self, text: str) -> str:
        return f"{self.label}: {text}" if self.label else capital(text)

    def _amount(self, value: float) -> str:
        metric = self.blocks.study.metric
        return value_with_unit(format_value(value, metric.decimals or 0), metric.unit)
