"""What a question gives to an answer: headlines, evidence, assertions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal

import numpy as np

from gridatlas.analysis import contrasts, words
from gridatlas.analysis.design import Design, design
from gridatlas.analysis.questions import Naming, Question
from gridatlas.analysis.table import Floats

Grade = Literal["clear", "likely", "not-shown", "untestable", "reading-dependent"]
AssertionKind = Literal[
    "pair", "best", "level", "trend", "cell", "block", "peak", "interaction", "differ"
]


Rank = tuple[str, float, int, int]
"""A name, its mean in the metric's unit (nan where cells are missing), and the lowest and highest
rank that it may have."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """What an answer asserts, and the test that carries it.

    Attributes:
        factor: Its id; of two, both with ` × `.
        levels: Their names, of a pair the better one first.
        estimate: The difference, of a pair the first less the second: in `unit`, which is the
            pages', or as a ratio less 1 (unit `×`); nan of an interaction.
        p: Adjusted over all that its pages ask.
    """

    kind: AssertionKind
    factor: str
    levels: tuple[str, ...]
    estimate: float
    low: float
    high: float
    unit: str
    p: float
    grade: Grade
    population: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a page says first.

    Attributes:
        headline: At most 90 characters if names are short, without a full stop.
        evidence: Sentences.
        p: The largest adjusted p of what the headline asserts, from 0 to 1; nan without a test.
        population: What it holds for: `for other seeds (15 here)`.
        assertions: What headline and evidence assert.
        compared: The tested pairs of names, shown or not; of many names those with the first.
        ranks: Of many names that are tested, the first name first.
        much: How large it is what the headline says, with its interval; of nothing shown the range.
        shows: The difference that would probably have been found; empty where one was.
        least: By the id of a factor without an effect that is shown the least that would probably
            have been found between its levels, in the metric's unit.
        surer: How many units would show the largest difference seen.
        may_be_best: Of a single grid whose cells are repeated, those that aren't shown to be behind
            its best one: the names of their levels.
    """

    headline: str
    evidence: tuple[str, ...]
    grade: Grade
    p: float
    population: str
    assertions: tuple[Assertion, ...] = ()
    compared: tuple[Assertion, ...] = ()
    ranks: tuple[Rank, ...] = ()
    much: str = ""
    shows: str = ""
    least: tuple[tuple[str, float], ...] = ()
    surer: str = ""
    may_be_best: tuple[tuple[str, ...], ...] = ()

    @property
    def asserts(self) -> bool:
        """Whether it asserts anything."""
        return self.grade in ("clear", "likely")

    @property
    def asserted(self) -> frozenset[tuple[AssertionKind, str, tuple[str, ...], bool]]:
        """What it asserts without its numbers, to compare with another answer."""
        return frozenset((of.kind, of.factor, of.levels, of.estimate > 0) for of in self.assertions)


@dataclass(frozen=True, slots=True)
class Said:
    """What a question gives to an answer.

    Attributes:
        heads: Headlines, longest first, each with its p; empty where nothing is shown.
        capped: Whether they are at most likely.
        evidence: Where it leads.
        also: Where another question leads.
        much: As in `Answer`.
        naming: Of an axis, what may be said of its levels.
    """

    question: Question
    heads: tuple[tuple[str, float], ...] = ()
    capped: bool = False
    evidence: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    much: str = ""
    naming: Naming | None = None


def graded(p: float, *, capped: bool) -> Grade:
    """The grade of an adjusted p."""
    if not isfinite(p):
        return "untestable"
    if p > 0.05:
        return "not-shown"
    return "likely" if capped or p > 0.005 else "clear"


def is_likely(p: float, *, capped: bool) -> bool:
    """Whether a clause says `likely`."""
    return graded(p, capped=capped) == "likely"


def tested_with(question: Question) -> Design:
    """What a question's contrasts are tested with: block by block, that of a block."""
    page = question.design
    if question.kind != "by block" or question.places is None:
        return page
    return design(page.study, {**page.fixed, question.other: int(question.places[0])})


# --- one contrast ---------------------------------------------------------------------------------


def assertion(
    question: Question, at: int, kind: AssertionKind, levels: Sequence[str], p: float | None = None
) -> Assertion:
    """The assertion of one contrast."""
    page, tests = question.design, question.tests
    low, high = interval(question, at)
    estimate = float(tests.estimate[at])
    pair = kind in ("pair", "block", "best") and question.kind != "axis"
    if pair and ahead(question, at)[0] != tests.first[at]:
        estimate, low, high = -estimate, -high, -low
    if page.study.log:
        estimate, low, high = (float(np.expm1(min(end, 700.0))) for end in (estimate, low, high))
    p = float(question.adjusted[at]) if p is None else p
    unit = "×" if page.study.log else page.study.table.metric.unit
    factor = f"{question.factor} × {question.other}" if question.other else question.factor
    grade = graded(p, capped=bool(tests.capped[at]))
    population = words.population(tested_with(question))
    return Assertion(kind, factor, tuple(levels), estimate, low, high, unit, p, grade, population)


def interval(question: Question, at: int) -> tuple[float, float]:
    """The plain 95 % interval of a contrast."""
    tests = question.tests
    half = float(contrasts.reach(tests.df[at]) * tests.error[at])
    return float(tests.estimate[at]) - half, float(tests.estimate[at]) + half


def ahead(question: Question, at: int) -> tuple[int, int]:
    """The levels of a pair, the better one first."""
    tests = question.tests
    a, b = int(tests.first[at]), int(tests.second[at])
    return (a, b) if question.design.sign * tests.estimate[at] >= 0 else (b, a)


def size(question: Question, at: int, *, bare: bool = False, beside: Sequence[int] = ()) -> str:
    """The size of a contrast in words, with no more decimals than those beside it."""
    tests = question.tests
    error = float(tests.error[[at, *beside]].max())
    return words.size_text(question.design, float(tests.estimate[at]), error, bare=bare)


def positive_interval(question: Question, at: int) -> str:
    """The interval of a contrast, turned so that its estimate is above 0."""
    low, high = interval(question, at)
    if question.tests.estimate[at] < 0:
        low, high = -high, -low
    return words.interval_text(question.design, low, high, float(question.tests.error[at]))


def units_ahead(page: Design, name: str, first: int, second: int) -> tuple[str, Floats]:
    """In how many units the first level is ahead; and the differences, towards better."""
    by_unit = page.sign * contrasts.difference_by_unit(page, name, first, second)
    return f"{int((by_unit > 0).sum())} of {len(by_unit)} {words.units_text(page)}", by_unit


def luck(page: Design, by_unit: Floats) -> str:
    """How much units differ."""
    if page.unit not in ("replicate",) or len(by_unit) < 2:
        return ""
    spread = float(by_unit.std(ddof=1))
    return f"; {words.units_text(page)} differ by ±{words.size_text(page, spread, spread)}"


def how_much(question: Question, at: int, pattern: str, **named: str) -> str:
    """The size of a contrast, and its interval, in one of the patterns of `words`."""
    room = positive_interval(question, at)
    return pattern.format(size=size(question, at), interval=room, **named)


def detectable(question: Question) -> str:
    """`least_found` in words; empty without it."""
    found = least_found(question)
    return words.size_text(question.design, *found) if found else ""


def least_found(question: Question) -> tuple[float, float] | None:
    """The difference that the question's widest contrast would have shown with power 0.8.

    Returns:
        It and its standard error, of logs as logs; None where no error is known, and where it is
        larger than the metric's range.
    """
    page, tests = question.design, question.tests
    errors = np.where(np.isfinite(tests.p), tests.error, -1.0)
    if question.kind == "axis" and len(errors) > 1:
        errors = np.where(tests.second == contrasts.TREND, -1.0, errors)
    at = int(errors.argmax())
    if not errors[at] > 0 or page.unit == "rows" or page.capped:
        return None
    alpha = 0.05 / (question.by * np.isfinite(tests.p).sum())
    df = float(tests.df[at])
    needed = float((contrasts.reach(df, 1 - alpha / 2) + contrasts.reach(df, 0.8)) * errors[at])
    high, lowest = page.study.table.metric.high, float(np.nanmin(page.study.y))
    if not page.study.log and high is not None and needed > high - min(0.0, lowest):
        return None
    return needed, float(errors[at])


def would_show(question: Question, at: int) -> str:
    """About how many units would show a difference as large as the one seen, with power 0.8."""
    page, tests = question.design, question.tests
    units, noun = page.y.shape[-1], words.units_text(page)
    if page.unit == "repeats" and page.n is not None:
        units, noun = int(np.median(page.n[page.n > 0])), words.repeats_text(page)
    elif page.unit not in ("replicate", "block", "item"):
        return ""
    if units < 2:
        return ""
    asked = int(np.isfinite(tests.p).sum())
    alpha = 0.05 / (question.by * asked)
    estimate, error = abs(float(tests.estimate[at])), float(tests.error[at])
    if not estimate > 0:
        return ""
    counts = np.arange(units + 1, 10 * units + 100)
    df = float(tests.df[at]) * (counts - 1) / (units - 1)
    needed = contrasts.reach(df, 1 - alpha / 2) + contrasts.reach(df, 0.8)
    enough = counts[needed * error * np.sqrt(units / counts) <= estimate]
    return f"about {enough[0]} {noun}" if len(enough) else ""
