"""Grading: known errors of the official grader, rules for multiple choice, and limits of time."""

import csv
import re
import time
from pathlib import Path

import pytest

from gridatlas_reproduce.kv import grading
from gridatlas_reproduce.kv.choices import choice_of
from gridatlas_reproduce.kv.grading import Grade, Grader, final_answer
from gridatlas_reproduce.kv.questions import Question
from gridatlas_reproduce.runner.errors import CannotRun

OPEN = Question("q", "?", "33")
CHOICE = Question("q", "?", "C", ("electron", "neutron", "proton", "muon"))


@pytest.fixture(scope="module")
def grader():
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
def test_open_questions(grader, gold, text, prediction, correct):
    assert grader.grade(Question("q", "?", gold), text) == Grade(prediction, correct)


BOXES = {
    "the last of two": ("33", r"First \boxed{34}. Checked: \boxed{33}.", "33", True),
    "the first of two": ("33", r"First \boxed{33}. Checked: \boxed{34}.", "34", False),
    "the same twice": ("33", "\\boxed{33}\n\n**Final answer**: \\boxed{33}", "33", True),
    "an empty box after it": ("33", r"\boxed{33}, \boxed{}", "33", True),
    "words in a box after it": ("33", r"\boxed{33}; \boxed{\text{done}}", "33", True),
    "parts, then their sum": (
        "70",
        r"$m=\boxed{3}$ and $n=\boxed{67}$, $m+n=\boxed{70}$",
        "70",
        True,
    ),
    "displayed one after the other": ("33", r"\[\boxed{34}\] \[\boxed{33}\]", "33", True),
    "a fraction in a box": ("0.5", r"\boxed{2}. No: \boxed{\frac{1}{2}}", r"\frac{1}{2}", True),
    "two values for one": ("33", r"$\boxed{34}$ or $\boxed{33}$", "34 and 33", False),
    "two values of one name": ("2", r"$x=\boxed{1}$ or $x=\boxed{2}$", "1 and 2", False),
    "two values, both asked for": (r"\{1, 2\}", r"$\boxed{1}$ and $\boxed{2}$", "1 and 2", True),
    "a box that isn't closed": ("33", r"\boxed{33}. Then \boxed{34", "33", True),
}


@pytest.mark.parametrize(
    ("gold", "text", "prediction", "correct"), BOXES.values(), ids=BOXES.keys()
)
def test_open_questions_with_several_boxes(grader, gold, text, prediction, correct):
    found = grader.grade(Question("q", "?", gold), f"</think>{text}")
    assert (found.prediction, found.correct) == (prediction, correct)


def rows_of(name):
    """A table of cases beside this file."""
    with (Path(__file__).parent / name).open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("row", rows_of("written-numbers.csv"), ids=lambda row: row["case"])
def test_open_questions_as_models_write(grader, row):
    found = grader.grade(Question("q", "?", row["right"]), f"</think>{row['text']}")
    assert found.correct == (row["correct"] == "yes"), row["text"]


# --- multiple choice ------------------------------------------------------------------------------

PARTICLES = ("electron", "neutron", "proton", "muon")
CHOICES = {
    "boxed": (r"So \boxed{C}.", "C"),
    "boxed text": (r"\boxed{\text{(C)}}", "C"),
    "boxed with its words": (r"\boxed{C) proton}", "C"),
    "boxed with a label": (r"\boxed{\textbf{Final answer: D}}", "D"),
    "boxed, two commands deep": (r"\boxed{\mathbf{\text{D}}}", "D"),
    "boxed option": (r"\[\boxed{\text{Option (D)}}\]", "D"),
    "the last box": (r"\boxed{A} is wrong, so \boxed{C}", "C"),
    "a box decides, whatever else is said": (r"The answer is B. \boxed{C}", "C"),
    "a box without a letter": (r"The answer is C, \boxed{42}", "C"),
    "a box with a word": (r"\boxed{\text{Deuterium}}", None),
    "a box with a formula": (r"\boxed{\mathrm{A}_2}", None),
    "a box with an equation": (r"\boxed{B = 3}", None),
    "a box with two letters": (r"\boxed{B, D}", None),
    "a box with no choice": (r"\boxed{F}", None),
    "a box that isn't closed": (r"\boxed{C. Answer: D", "D"),
    "said": ("The answer is C.", "C"),
    "said in bold": ("**Answer: C**", "C"),
    "said in bold, apart": ("__Answer__: *D*", "D"),
    "said in brackets": (r"Answer: \((D)\)", "D"),
    "said in roman type": (r"the answer is $\mathrm{D}$", "D"),
    "said in small letters": ("answer: d", "D"),
    "said of the choice": ("The correct choice is (C) because of its mass.", "C"),
    "said of an option": ("Correct option: D", "D"),
    "said with its text": ("The best choice is therefore D: muon", "D"),
    "said under a heading": ("## Answer\n\n(D) muon", "D"),
    "said in the next line": ("The answer is\n\n**D**\n\nas shown above.", "D"),
    "the last that is said": ("Is the answer B? No: the answer is C", "C"),
    "said twice": ("The answer is A. Wait. The answer is D.", "D"),
    "with words between": ("The option which agrees with all of this is D.", "D"),
    "it is right": ("C is the only correct choice.", "C"),
    "it must be right": ("So D must be the right answer, given its mass.", "D"),
    "both in one sentence": ("A is wrong and D is correct.", "D"),
    "chosen": ("So I'd pick option D.", "D"),
    "gone with": ("I'll go with (D)", "D"),
    "concluded": ("Its mass is too large, therefore D.", "D"),
    "followed by a conjunction": ("The answer is B as it alone is neutral.", "B"),
    "alone in the last line": ("It has a charge, so:\n\n**C**\n", "C"),
    "with a point": ("therefore\nC.", "C"),
    "with its text in the last line": ("It is light.\n\n(D) muon", "D"),
    "a verdict, then a mention": ("The answer is D. Option B is too heavy.", "D"),
    "mentions, then a verdict": ("Option A fails, option C fails. The answer is D.", "D"),
    "corrected": ("The answer is not C but D.", "D"),
    "one and not another": ("The answer is D, not A.", "D"),
    # The official grader reads this as A.
    "an article": ("A proton is heavier than an electron.", None),
    "an article after the words": ("The answer is A nucleus.", None),
    "the same word after another letter": ("The answer is D nucleus.", None),
    "a small letter": ("the answer is a nucleus", None),
    "a small letter after the colon": ("answer: a nucleus", None),
    "A said": ("The answer is A.", "A"),
    "A said before a comma": ("Answer: A, as shown", "A"),
    "A said before because": ("The right option is A because it is light.", "A"),
    "a word's first letter": ("The answer is Carbon", None),
    "no choice": ("The answer is E.", None),
    "a letter in a sentence": ("Vitamin C is needed", None),
    "an option that is wrong": ("Option C is wrong.", None),
    "denied": ("The answer is not C.", None),
    "denied of the letter": ("C is not the correct answer.", None),
    "denied by who answers": ("I wouldn't choose C.", None),
    "one or another": ("The answer is B or C.", None),
    "one or another is right": ("Option B or option C is correct.", None),
    "two": ("The answer is B and D.", None),
    "if": ("If C is correct, the charge is 1.", None),
    "asked": ("Is C the correct answer?", None),
    "all listed": ("A) electron\nB) neutron\nC) proton\nD) muon", None),
    "none": ("None of these can be ruled out.", None),
    "nothing": ("", None),
    # By the choice's text.
    "its text, boxed": (r"\boxed{\text{muon}}", "D"),
    "its text, in other letters": (r"\boxed{Muon}", "D"),
    "its text, said": ("The answer is a muon, which is heavier.", "D"),
    "its text after a label": ("**Final answer:** the muon.", "D"),
    "its text in the last line": ("It decays:\n\n**muon**", "D"),
    "only its text's beginning": ("The answer is muon decay.", None),
    "its text, denied": ("The answer is not the muon.", None),
    "its text, and a letter": (r"\boxed{muon}. Answer: D", "D"),
}


@pytest.mark.parametrize(("answer", "letter"), CHOICES.values(), ids=CHOICES.keys())
def test_multiple_choice(answer, letter):
    assert choice_of(answer, PARTICLES) == letter


TEXTS = {
    "numbers with units": (r"\boxed{3.5\ \text{eV}}", ("2 eV", "3.5 eV", "35 eV"), "B"),
    "without the space": (r"\boxed{3.5\,\mathrm{eV}}", ("2eV", "3.5eV", "35eV"), "B"),
    "in dollars": ("The answer is $x^{2}$.", ("$x$", "$x^2$", "$2x$"), "B"),
    "the longer of two": ("The answer is 35.", ("3", "35", "350"), "B"),
    "a decimal isn't its integer": ("The answer is 3.5.", ("3", "5", "35"), None),
    "the same text twice": (r"\boxed{2}", ("2", "2", "3"), None),
    "two that differ in capitals": (r"\boxed{CO}", ("Co", "CO", "C"), "B"),
    "letters in another order": (r"\boxed{B}", ("B", "A", "C"), "B"),
    "choices of choices": (r"\boxed{\text{A and B only}}", ("x", "y", "A and B only"), "C"),
    "two choices": ("The answer is C.", ("yes", "no"), None),
    "ten choices": ("The answer is J.", tuple("0123456789"), "J"),
}


@pytest.mark.parametrize(("answer", "choices", "letter"), TEXTS.values(), ids=TEXTS.keys())
def test_texts_of_choices(answer, choices, letter):
    assert choice_of(answer, choices) == letter


COLOURS = ("red", "green", "blue", "white")


def test_collected_answers_to_gpqa():
    rows = rows_of("gpqa-answers.csv")
    right = [(choice_of(row["text"], COLOURS) or "") == row["verdict"] for row in rows]
    assert (sum(right), len(right)) == (51, 51)


NOT_READ = {"162", "201", "202", "254", "256", "258", "313", "319", "327", "338"}
"""Forms that are left: a letter after an arrow is a reaction more often than an answer, and one
that is called neither answer, option nor right may be a compound."""


def test_answers_as_models_write_them():
    """The verdicts are a reader's, from before the rules for these forms were there."""
    rows = rows_of("written-answers.csv")
    for row in rows:
        wanted = "" if row["case"] in NOT_READ else row["verdict"]
        assert (choice_of(row["text"], row["choices"].split("|")) or "") == wanted, row["text"]
    assert len(rows) == 338


@pytest.mark.parametrize("shift", [1, 2, 3])
def test_no_letter_is_favoured(shift):
    """With other letters in an answer, the one that it settles on is another in the same way."""

    def shifted(text):
        return re.sub(
            r"\b[A-D]\b", lambda found: "ABCD"[("ABCD".index(found[0]) + shift) % 4], text
        )

    answers = [answer for answer, _ in CHOICES.values()]
    answers += [row["text"] for row in rows_of("gpqa-answers.csv")]
    for answer in answers:
        found = choice_of(answer, COLOURS)
        if not re.search(r"answer: [a-d]\b", answer):
            assert choice_of(shifted(answer), COLOURS) == (found and shifted(found)), answer


def test_long_answers_are_read_in_time():
    started = time.process_time()
    for part in (
        r"\boxed{",
        r"\text{",
        "the answer is ",
        "so A or ",
        "**",
        "{",
        "answer not A is ",
        "A (",
        "B, blue ",
        "so it is, option ",
        "correct so it ",
        "the answer is B (blue) or\n",
    ):
        choice_of(part * 3_000, COLOURS)
    assert time.process_time() - started < 10


def test_multiple_choice_is_graded_after_the_thought(grader):
    assert grader.grade(CHOICE, "The answer is C") == Grade(None, False)
    assert grader.grade(CHOICE, "The answer is A</think>The answer is C") == Grade("C", True)
    assert grader.grade(CHOICE, "The answer is C</think>The answer is B") == Grade("B", False)


def test_final_answer_is_what_stands_after_the_last_thought():
    assert final_answer("a</think>b</think> c") == " c"
    assert final_answer("a") is None


def test_answer_that_takes_too_long_is_wrong_and_the_next_is_graded():
    grader = Grader(seconds=1.0)
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


def test_gold_that_cannot_be_read_is_told(grader):
    with pytest.raises(CannotRun) as refused:
        grader.grade(Question("q7", "?", "?!"), r"</think>\boxed{33}")
    assert refused.value.message == (
        'the right answer of the question q7, "?!", can\'t be read as a number or formula\n'
        "  expected: an answer that math-verify can read\n"
        '  fix:      correct it, or give the question its "choices"'
    )


def test_grader_that_does_not_start_is_told(monkeypatch):
    monkeypatch.setattr(grading.sys, "executable", "/bin/false")
    with pytest.raises(CannotRun, match="math-verify doesn't start"):
        Grader().grade(OPEN, r"</think>\boxed{33}")
