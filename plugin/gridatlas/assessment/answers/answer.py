"""An answer: a sentence, how surely it holds, and the evidence for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gridatlas.model.format import (
    MINUS,
    format_difference,
    format_value,
    mean_decimals,
    value_with_unit,
)
from gridatlas.model.study import Levels, Point, Study

Grade = Literal["clear", "likely", "not-shown", "untestable", "reading-dependent", "described"]
ADVERBS = {"clear": "clearly", "likely": "likely"}
"""How a headline says it, for the grades that assert something."""
IN_WORDS: Mapping[Grade, str] = {
    "clear": "with a clear effect",
    "likely": "with a likely effect",
    "reading-dependent": "that depends on the reading",
    "not-shown": "in which nothing is shown",
    "untestable": "that can't be tested",
    "described": "that only describes",
}
"""What an overview counts, in its order."""
ALPHA = 0.05
CLEAR = 0.005
LONGEST = 90
"""Characters of a headline."""

At = tuple[Levels, Point]
"""A cell of a study: the level keys of its facets, and of x and y."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reason for an answer, as a sentence and as numbers.

    Attributes:
        value: In the metric's unit; None where it isn't about one number.
        interval: At 95 %, in the metric's unit.
        test: Its name; empty where nothing was tested.
        p: Adjusted for the questions of the page and its siblings.
        scope: What it holds for: `other seeds`, `these questions` …
        assumes: What the test takes for granted.
    """

    sentence: str
    value: float | None = None
    interval: tuple[float, float] | None = None
    test: str = ""
    p: float | None = None
    scope: str = ""
    assumes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question about settings that was tested, whatever came of it.

    Attributes:
        label: What it was asked of, where a page asks it of several.
        question: Whether a setting is the best, or whether an axis matters.
        p: Adjusted for the questions of the page and its siblings.
    """

    label: str
    question: Literal["best", "x", "y"]
    p: float
    grade: Grade


@dataclass(frozen=True, slots=True)
class Contrast:
    """One level against another, with the numbers of the tests: what a forest plot draws.

    Attributes:
        label: What it is about beside the two levels; empty where that is all.
        facet: Id of the facet whose levels they are.
        first, second: Keys of the levels.
        value: Mean of the first minus that of the second, in the metric's unit.
        low, high: 95 % interval of the test that decides; None where nothing can be tested.
        scope: What it holds for; empty without.
        wide_low, wide_high, wide_scope: The same of the widest scope beyond that; None without.
        p: Of the test that decides, adjusted; None where nothing can be tested.
        cells: Number of cells that both have, over all benchmarks or seeds.
        tables: Number of these.
        reason: Why nothing can be tested; empty where something can.
        assumes: What the test that decides takes for granted.
    """

    label: str
    facet: str
    first: str
    second: str
    value: float
    low: float | None
    high: float | None
    scope: str
    wide_low: float | None
    wide_high: float | None
    wide_scope: str
    p: float | None
    grade: Grade
    cells: int
    tables: int
    reason: str = ""
    assumes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer that a page starts with.

    Attributes:
        page: The path of the page below the study's: `model/r1-qwen`; empty for the study.
        grade: How surely the sentence holds.
        sentence: The headline, of at most 90 characters.
        evidence: The reasons, the deciding one first.
        cells: The cells that the sentence names.
        asserts: What it asserts, in a form to compare with another reading's answer.
        asked: The tested questions about settings.
        contrasts: The compared levels.
    """

    page: str
    grade: Grade
    sentence: str
    evidence: tuple[Evidence, ...] = ()
    cells: tuple[At, ...] = ()
    asserts: tuple[str, ...] = ()
    asked: tuple[AskedQuestion, ...] = ()
    contrasts: tuple[Contrast, ...] = ()

    @property
    def test(self) -> str:
        """The name of the deciding test; empty without one."""
        return self.evidence[0].test if self.evidence else ""

    @property
    def p(self) -> float | None:
        """The adjusted p-value of the deciding test, from 0 to 1; `None` without one."""
        return self.evidence[0].p if self.evidence else None


def grade_of(p: float, error: float = 0.0, *, at_most_likely: bool = False) -> Grade:
    """The grade of a test.

    Args:
        p: Adjusted.
        error: Of a p from random permutations: so near to a threshold it takes the weaker grade.
        at_most_likely: Whether the test holds for these questions or runs alone.
    """
    if p + error > ALPHA:
        return "not-shown"
    return "likely" if at_most_likely or p + error > CLEAR else "clear"


def unshown(study: Study) -> str:
    """What isn't shown of settings, after `no`."""
    return "setting shown to be better" if study.metric.better else "effect shown"


def headline(*candidates: str) -> str:
    """The first short enough; of none the last, cut after a word: half a number misleads."""
    for text in candidates:
        if len(text) <= LONGEST:
            return text
    start = candidates[-1][: LONGEST - 1]
    words = start if candidates[-1][LONGEST - 1].isspace() else start.rpartition(" ")[0]
    return f"{(words or start).rstrip()} …" if words else f"{start}…"


def overview_answer(studies: Mapping[str, Answer]) -> Answer:
    """How many studies have which grade; it ranks none of them.

    Nothing is corrected over the studies: of those in which nothing differs, up to 1 in 20 asserts
    something all the same.

    Args:
        studies: What each study leads with, by its title.
    """
    if not studies:
        return Answer("", "described", "No study yet")
    counts = Counter(answer.grade for answer in studies.values())
    parts = [f"{counts[grade]} {words}" for grade, words in IN_WORDS.items() if counts[grade]]
    number = "1 study" if len(studies) == 1 else f"{len(studies)} studies"
    short = [f"{counts[grade]} {grade}" for grade in IN_WORDS if counts[grade]]
    return Answer(
        "",
        "described",
        headline(f"{number}: {joined(parts)}", f"{number}: {joined(short)}"),
        tuple(Evidence(f"{title}: {answer.sentence}.") for title, answer in studies.items()),
    )


def mean_text(study: Study, value: float) -> str:
    """A mean with its unit."""
    return value_with_unit(number_text(study, value), study.metric.unit)


def number_text(study: Study, value: float, *, sign: bool = False) -> str:
    """A mean or a difference of means without its unit."""
    if sign:
        return format_difference(value, mean_decimals(study))
    return format_value(value, mean_decimals(study)).replace("-", MINUS)


def joined(names: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def told_once(names: Sequence[str]) -> str:
    """As `joined`, with the words that all begin or end with once: `at 1.25 and 1.0`."""
    words = [name.split(" ") for name in names]
    before = after = 0
    while _alike([of[before] for of in words if len(of) > before + 1], len(words)):
        before += 1
    while _alike([of[-1 - after] for of in words if len(of) > before + after + 1], len(words)):
        after += 1
    rest = joined([" ".join(of[before : len(of) - after]) for of in words])
    return " ".join([*words[0][:before], rest, *words[0][len(words[0]) - after :]])


def _alike(words: Sequence[str], number: int) -> bool:
    return len(words) == number and len(set(words)) == 1


def too_few_seeds(number: int) -> str:
    """Why nothing is tested over seeds: `2 seeds are too few`."""
    return "one seed is too few" if number == 1 else f"{number} seeds are too few"


def capital(sentence: str) -> str:
    """A sentence with its first letter in upper case."""
    return sentence[:1].upper() + sentence[1:]
