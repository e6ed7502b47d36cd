"""Words for level against level: which scores higher, by how much, and what that holds for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gridatlas.assessment.answers.answer import (
    ADVERBS,
    ALPHA,
    Answer,
    Contrast,
    Evidence,
    capital,
    headline,
    joined,
    mean_text,
    number_text,
    too_few_seeds,
)
from gridatlas.assessment.answers.cellwise import CellTests, region
from gridatlas.assessment.answers.gaps import JudgedGap, Scope, ScopedTest
from gridatlas.model.format import in_p, value_with_unit
from gridatlas.model.study import inline
from gridatlas.statistics.estimates import Floats


@dataclass(frozen=True, eq=False)
class GapAnswer:
    """Writes the answer of a page about one gap.

    Attributes:
        label: What the page is about beside the two levels; empty where that is all.
    """

    page: str
    label: str
    judged: JudgedGap

    def answer(self) -> Answer:
        """Which level scores higher, and by how much."""
        return replace(self._sentence(), contrasts=(self.contrast(),))

    def contrast(self) -> Contrast:
        """The numbers of the tests."""
        gap, decides = self.judged.gap, self.judged.gap.decides
        wide = gap.wider
        return Contrast(
            self.label,
            gap.facet.id,
            gap.first.key,
            gap.second.key,
            self.judged.value,
            *_ends(decides),
            *_ends(wide),
            self.judged.p,
            self.judged.grade,
            sum(int(pair.common.sum()) for pair in gap.pairs),
            len(gap.pairs),
            "" if decides else self._reason(),
            decides.assumes if decides else (),
        )

    def _sentence(self) -> Answer:
        judged, grade = self.judged, self.judged.grade
        evidence = self.evidence()
        if grade == "untestable":
            return Answer(self.page, grade, headline(*self._untestable()), evidence)
        if grade not in ADVERBS:
            return Answer(self.page, grade, headline(*self._not_shown()), evidence)
        texts = (
            self._prefixed(f"{gap_words(judged, first, second)}") for first, second in self._names()
        )
        sign = "+" if judged.value > 0 else "-"
        asserts = (f"{judged.gap.first.key}:{judged.gap.second.key}:{sign}",)
        return Answer(self.page, grade, headline(*texts), evidence, (), asserts)

    def evidence(self) -> tuple[Evidence, ...]:
        """The means, then each test with its interval, the deciding one first."""
        gap = self.judged.gap
        means = [mean_text(gap.study, mean) for mean in gap.means]
        found = []
        for index, test in enumerate(gap.tests):
            interval = test.difference.interval
            low, high = (
                number_text(gap.study, end, sign=True) for end in (interval.low, interval.high)
            )
            ends = f"{low} to {high}"
            p = self.judged.p if index == 0 else test.difference.p
            if index == 0:
                size = number_text(gap.study, self.judged.value, sign=True)
                head = f"{means[0]} against {means[1]}{self._over()}: "
                text = f"{head}{size} ({ends}) for {test.scope}{_assumed(test)}"
            elif test.difference.p > ALPHA:
                either = "" if self.judged.grade in ADVERBS else " either"
                text = f"For {_others(test.scope)} nothing is shown{either}: {ends}"
            else:
                text = f"{ends} for {test.scope}{_assumed(test)}"
            # Its interval is of one test alone, and excludes 0 where several together show nothing.
            corrected = p is not None and p > ALPHA >= test.difference.p
            after = " after Holm's correction" if corrected else ""
            found.append(
                Evidence(
                    f"{text} ({in_p(p)}{after})." if p is not None else f"{text}.",
                    test.difference.value,
                    (interval.low, interval.high),
                    test.difference.test,
                    p,
                    test.scope,
                    test.assumes,
                )
            )
        if found and gap.cellwise:
            text = gap.cellwise.sentence
            if self.judged.grade in ADVERBS:  # no place is named where nothing is asserted
                text += gap.cellwise.where + self._rest(gap.cellwise)
            found.append(Evidence(text, test=gap.cellwise.test, scope="these cells"))
        if gap.too_few_seeds:
            found = [Evidence(f"{capital(self._reason())}. {self._by_seed()}")]
        elif not found:
            found = [Evidence(f"{capital(self._reason())}."), *self._printed()]
        return tuple(found)

    def _over(self) -> str:
        """What else the means are over besides seeds: ` over 4 benchmarks`."""
        gap = self.judged.gap
        texts = []
        for at, facet in enumerate(gap.study.facets):
            number = len({pair.first.grid.levels[at] for pair in gap.pairs})
            if number > 1 and facet.id != gap.study.replicates:
                trials = gap.study.trials
                items = trials is not None and trials.items == facet.id
                texts.append(f"{number} {'benchmarks' if items else f'levels of {facet.id}'}")
        return f" over {joined(texts)}" if texts else ""

    def _printed(self) -> Iterator[Evidence]:
        """In how many cells the printed values are higher, also without those in dispute."""
        pairs = self.judged.gap.pairs
        differences = np.concatenate([pair.differences for pair in pairs])
        disputed = np.concatenate([pair.disputed for pair in pairs])
        text = f"As printed, the value is {_signs(differences)}"
        if disputed.any():
            rest = differences[~disputed]
            number, of = int(disputed.sum()), disputed.size
            verb = "is" if number == 1 else "are"
            text += f". Of the {of:,} cells {number:,} {verb} disputed in either"
            text += f"; without, it is {_signs(rest)}" if rest.size else ""
        yield Evidence(f"{text}.")

    def _rest(self, cellwise: CellTests) -> str:
        """What is left of a region that is named over several seeds, by its mean in each."""
        study = cellwise.study
        chosen = max(cellwise.higher, cellwise.lower, key=len)
        if not cellwise.counts or not region(study, chosen, cellwise.cells):
            return ""
        means = [
            float(np.mean([pair.difference(point) for point in cellwise.cells - chosen]))
            for pair in self.judged.gap.pairs
        ]
        texts = joined([number_text(study, mean, sign=True) for mean in means])
        number = len(cellwise.cells - chosen)
        cells = "1 other cell changes" if number == 1 else f"{number:,} other cells change"
        return f" The {cells} by {texts} on average, seed by seed."

    def _by_seed(self) -> str:
        study = self.judged.gap.study
        values = self.judged.gap.by_seed
        differences = joined([number_text(study, value, sign=True) for value in values])
        return f"The difference by seed: {differences}."

    def _reason(self) -> str:
        gap = self.judged.gap
        if gap.too_few_seeds:
            return too_few_seeds(len(gap.by_seed))
        reasons = [block.reason for pair in gap.pairs for block in (pair.first, pair.second)]
        return next(filter(None, reasons), "only one cell has a value at both levels")

    def _names(self) -> tuple[tuple[str, str], tuple[str, str]]:
        gap = self.judged.gap
        return (gap.first.label, gap.second.label), (gap.first.key, gap.second.key)

    def _not_shown(self) -> Iterator[str]:
        gap, decides = self.judged.gap, self.judged.gap.decides
        margin = None if gap.study.alike is None else float(gap.study.alike)
        if decides and margin is not None:
            interval = decides.difference.interval
            if -margin <= interval.low and interval.high <= margin:
                within = value_with_unit(f"{margin:g}", gap.study.metric.unit, difference=True)
                for first, second in self._names():
                    yield self._prefixed(f"{first} and {second} are alike within {within}")
        for first, second in self._names():
            text = f"no difference shown between {first} and {second}"
            yield self._prefixed(text if self.label else capital(text))

    def _untestable(self) -> tuple[str, ...]:
        gap, metric = self.judged.gap, inline(self.judged.gap.study.metric.name)
        first, second = (mean_text(gap.study, mean) for mean in gap.means)
        metric = metric if self.label else capital(metric)
        return (
            self._prefixed(
                f"{metric} {first} for {gap.first.label}, {second} for {gap.second.label}; "
                "can't be tested"
            ),
            self._prefixed(f"{metric} {first} and {second}; can't be tested"),
        )

    def _prefixed(self, text: str) -> str:
        return f"{self.label}: {text}" if self.label else text


def _ends(test: ScopedTest | None) -> tuple[float | None, float | None, str]:
    """The ends of a test's interval and its scope; nothing without a test."""
    if test is None:
        return None, None, ""
    return test.difference.interval.low, test.difference.interval.high, test.scope


def _assumed(test: ScopedTest) -> str:
    return f", if {' and '.join(test.assumes)}" if test.assumes else ""


def _others(scope: Scope) -> str:
    """What a test holds for, in a sentence that says that it shows nothing."""
    return "other questions" if scope == "questions of the kind" else scope


def _signs(differences: Floats) -> str:
    """`higher in 31 cells of 100 and lower in 65`."""
    higher, lower = int((differences > 0).sum()), int((differences < 0).sum())
    return f"higher in {higher:,} of {differences.size:,} cells and lower in {lower:,}"


def gap_words(judged: JudgedGap, first: str, second: str) -> str:
    """`A likely scores higher than B, by 2.4 points`."""
    study, adverb = judged.gap.study, ADVERBS[judged.grade]
    size = number_text(study, abs(judged.value))
    by = value_with_unit(size, study.metric.unit, difference=True)
    word = "higher" if judged.value > 0 else "lower"
    if study.metric.falls:
        better = "better" if judged.value < 0 else "worse"
        return f"{first} is {adverb} {word} ({better}) than {second}, by {by}"
    return f"{first} {adverb} scores {word} than {second}, by {by}"
