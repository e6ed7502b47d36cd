"""Grading: the official grader's known errors, the rule for multiple choice, and limits of time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gridatlas.reproduce.kv import grading
from gridatlas.reproduce.kv.grading import Grade, Grader, choice_of, final_answer
from gridatlas.reproduce.kv.questions import Question
from gridatlas.reproduce.runner.errors import CannotRun

OPEN = Question("q", "?", "33")
CHOICE = Question("q", "?", "C", ("electron", "neutron", "proton", "muon"))


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    grader = Grader()
    yield grader
    grader.close()


CASES = {
    "boxed": ("33", r"6 · 5 + 3</think>So it is \boxed{33}.", "33", True),
    "in words": ("33", "hm</think>The answer is 33.", "33", True),
    "leading zeros": ("033", r"</think>\boxed{33}", "33", True),
    "a decimal for an integer": ("27.0", r"</think>$\boxed{27}$", "27", True),
    "equal, written otherwise": (r"\frac{1}{2}", r"</think>\boxed{0.5}", r"\frac{1}{2}", True),
    "percent": ("33", r"</think>\boxed{33\%}", r"33\%", True),
    # The official grader accepts these two.
    "a hundred times as much": ("33", r"</think>\boxed{3300}", "3300", False),
    "a hundredth": ("33", r"</think>\boxed{0.33}", "0.33", False),
    # And it grades what was thought, where the answer is missing.
    "cut off while thinking": ("33", r"So \boxed{33}. Let me check", None, False),
    "thought right, answered wrong": ("33", r"\boxed{33}</think>\boxed{34}", "34", False),
    "nothing after the thought": ("33", r"\boxed{33}</think>", None, False),
    "thought twice": ("33", r"</think>\boxed{33}</think>\boxed{34}", "34", False),
    "no number": ("33", "</think>I don't know.", None, False),
}


@pytest.mark.parametrize(
    ("gold", "text", "prediction", "correct"), CASES.values(), ids=CASES.keys()
)
def test_open_questions(
    grader: Grader, gold: str, text: str, prediction: str | None, correct: bool
) -> None:
    assert grader.grade(Question("q", "?", gold), text) == Grade(prediction, correct)


CHOICES = {
    "boxed": (r"So \boxed{C}.", "C"),
    "boxed text": (r"\boxed{\text{(C)}}", "C"),
    "boxed with its words": (r"\boxed{C) proton}", "C"),
    "the last box": (r"\boxed{A} is wrong, so \boxed{C}", "C"),
    "a box decides, whatever else is said": (r"The answer is B. \boxed{C}", "C"),
    "a box without a letter": (r"The answer is C, \boxed{42}", None),
    "said": ("The answer is C.", "C"),
    "said in bold": ("**Answer: C**", "C"),
    "said of the choice": ("The correct choice is (C) because of its mass.", "C"),
    "the last that is said": ("Is the answer B? No: the answer is C", "C"),
    "alone in the last line": ("It has a charge, so:\n\n**C**\n", "C"),
    "with a point": ("therefore\nC.", "C"),
    # The official grader reads this as A.
    "an article": ("A proton is heavier than an electron.", None),
    "an article after the words": ("The answer is A proton.", None),
    "a small letter": ("the answer is a proton", None),
    "A said": ("The answer is A.", "A"),
    "A said before a comma": ("Answer: A, as shown", "A"),
    "a word's first letter": ("The answer is Carbon", None),
    "no choice": ("The answer is E.", None),
    "a letter in a sentence": ("Vitamin C is needed", None),
    "nothing": ("", None),
}


@pytest.mark.parametrize(("answer", "letter"), CHOICES.values(), ids=CHOICES.keys())
def test_multiple_choice(answer: str, letter: str | None) -> None:
    assert choice_of(answer, 4) == letter


def test_multiple_choice_is_graded_after_the_thought(grader: Grader) -> None:
    assert grader.grade(CHOICE, "The answer is C") == Grade(None, False)
    assert grader.grade(CHOICE, "The answer is A</think>The answer is C") == Grade("C", True)
    assert grader.grade(CHOICE, "The answer is C</think>The answer is B") == Grade("B", False)


def test_final_answer_is_what_stands_after_the_last_thought() -> None:
    assert final_answer("a</think>b</think> c") == " c"
    assert final_answer("a") is None


def test_answer_that_takes_too_long_is_wrong_and_the_next_is_graded() -> None:
    grader = Grader(seconds=2.0)
    endless = r"</think>\boxed{" + "+".join(f"(x+{n})^{{9999}}" for n in range(40)) + "}"
    try:
        assert grader.grade(OPEN, r"</think>\boxed{33}").correct
        first = grader._process
        assert first is not None
        grader.grade(Question("q", "?", r"(x+1)^{99999}"), endless)
        assert first.poll() is not None
        assert grader.grade(OPEN, r"</think>\boxed{33}") == Grade("33", True)
    finally:
        grader.close()


def test_gold_that_cannot_be_read_is_told(grader: Grader) -> None:
    with pytest.raises(CannotRun) as refused:
        grader.grade(Question("q7", "?", "?!"), r"</think>\boxed{33}")
    assert refused.value.message == (
        'the right answer of the question q7, "?!", can\'t be read as a number or formula\n'
        "  expected: an answer that math-verify can read\n"
        '  fix:      correct it, or give the question its "choices"'
    )


def test_grader_that_does_not_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading.sys, "executable", "/bin/false")
    with pytest.raises(CannotRun, match="math-verify doesn't start"):
        Grader().grade(OPEN, r"</think>\boxed{33}")
