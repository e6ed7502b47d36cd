r"""Grades answers: math-verify for open questions, the rules of `choices` for multiple choice.

Only the text after the last `</think>` is graded; without one there is no answer, and it is wrong.

Open questions: an answer is right where math-verify finds it equal to the right one. 33 % and 33
are equal to it, 3300 and 0.33 are not. Of several boxes the last that holds something is the
answer, unless nothing but "and", "or" or a comma stands between it and the one before, on one line:
two values for one are wrong. A box that is denied is none, "(B) 33" in one is 33, and so is
`33 \pmod{100}`. Without a box the last number is the answer, but for a text that gives up ("I
cannot solve this") and concludes nothing afterwards.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import queue
import re
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from functools import cache
from typing import Any, TextIO

from gridatlas_reproduce.kv.choices import boxes, choice_of, meant_boxes, plain
from gridatlas_reproduce.kv.models import END_OF_THOUGHT
from gridatlas_reproduce.kv.questions import Question
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.records import Row
from gridatlas_reproduce.runner.units import seed_of

GRADER = 3
"""Of the rules below: with other rules the same texts may have other grades."""
SECONDS = 20.0
"""CPU time for one answer; after it the answer counts as wrong."""
_STUCK = 10
"""The same on the clock, in multiples of `SECONDS`."""
_START = 600.0


@dataclass(frozen=True, slots=True)
class Grade:
    """The answer that was found in a text, or None, and whether it is right."""

    prediction: str | None
    correct: bool


def final_answer(text: str) -> str | None:
    """What stands after the last `</think>`; None without one."""
    _, found, answer = text.rpartition(END_OF_THOUGHT)
    return answer if found else None


# --- open questions -------------------------------------------------------------------------------


_JOINED = re.compile(r"(?:[ \t$,;&]|\\[()])*(?:and|or)?(?:[ \t$,;&]|\\[()])*")
_NAME = re.compile(r"([^\s$=]+)\s*=\s*$")
_WORDS = re.compile(r"\\(?:text|mathrm)\s*\{[^{}]*\}|[^\w]")


_CHOICE = re.compile(r"\([A-J]\)\s*(?=[-+\d\\])")
_MODULUS = re.compile(r"\(?\s*\\?[pb]?mod\s*(?:\{[^{}]*\}|\d+)\s*\)?")
_GIVES_UP = re.compile(
    r"\b(?:can(?:not|['’]t)|could(?:\s+not|n['’]t)|(?:un|not\s+)able\s+to|impossible\s+to|"
    r"(?:not|is(?:\s+not|n['’]t))\s+possible\s+to|"
    r"(?:do(?:\s+not|n['’]t)))\s+(?:\w+\s+)?"
    r"(?:know|solve|answer|determine|find|compute|finish|decide|give|tell)\b",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"\b(?:answer\s*(?:is|was|:|=)|therefore|thus|hence|so|gives?|get|obtain)\b|=", re.IGNORECASE
)


def last_box(answer: str) -> str:
    r"""The answer's last `\boxed{…}` where one is the whole answer; else the answer as it is.

    Empty where an answer gives up, or denies all boxes.
    """
    given_up = list(_GIVES_UP.finditer(answer))
    found = [box for box in meant_boxes(answer) if _WORDS.sub("", box[2])]
    if not found:
        refused = given_up and not _CONCLUDES.search(answer, given_up[-1].end())
        return "" if refused or len(boxes(answer)) > len(meant_boxes(answer)) else answer
    if len(found) > 1:
        (first, end, _), (start, _, _) = found[-2:]
        own, other = (_NAME.search(answer[:place]) for place in (start, first))
        between = answer[end : own.start() if own else start]
        named = own and not (other and own[1] == other[1])
        if _JOINED.fullmatch(between) and not named:
            return answer
    content = found[-1][2]
    if label := _CHOICE.match(plain(content).strip()):
        content = plain(content).strip()[label.end() :]
    return rf"$\boxed{{{_MODULUS.sub('', content)}}}$".replace(r"\equiv", "=")


def open_grade(answer: str, gold: str) -> Grade | None:
    """What math-verify says, in this process and without a limit; None for an unreadable gold."""
    from math_verify import parse, verify

    right = [
        found
        for text in (gold, f"${gold}$")
        for found in parse(text, fallback_mode="no_fallback", parsing_timeout=None)
    ]
    if not right:
        return None
    found = parse(last_box(answer), parsing_timeout=None)
    if not found:
        return Grade(None, False)
    return Grade(str(found[-1]), bool(verify(right, found, timeout_seconds=None)))


class Grader:
    """Grades in a process of its own, which ends itself where an answer takes too long."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def grade(self, question: Question, text: str) -> Grade:
        """Grade one text of a model.

        Raises:
            CannotRun: For a right answer that can't be read.
        """
        answer = final_answer(text)
        if answer is None:
            return Grade(None, False)
        if question.choices:
            letter = choice_of(answer, question.choices)
            return Grade(letter, letter == question.answer)
        reply = self._ask({"answer": answer, "gold": question.answer, "seconds": self.seconds})
        if reply is None:
            return Grade(None, False)
        if "prediction" not in reply:
            raise CannotRun(
                f'the right answer of the question {question.id}, "{question.answer}", can\'t be '
                "read as a number or formula",
                "an answer that math-verify can read",
                'correct it, or give the question its "choices"',
            )
        return Grade(reply["prediction"], reply["correct"])

    def _ask(self, content: dict[str, Any]) -> dict[str, Any] | None:
        """The reply; None where the process ended itself, or is stuck."""
        if self._process is None or self._process.poll() is not None:
            self._start()
        process = self._process
        assert process is not None
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(content) + "\n")
            process.stdin.flush()
            line = self._lines.get(timeout=_STUCK * self.seconds)
        except (BrokenPipeError, queue.Empty):
            line = ""
        if not line:
            self.close()
            return None
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _start(self) -> None:
        self._lines = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        assert self._process.stdout is not None
        threading.Thread(
            target=_pass_on, args=(self._process.stdout, self._lines), daemon=True
        ).start()
        try:
            ready = self._lines.get(timeout=_START)
        except queue.Empty:
            ready = ""
        if ready != "ready\n":
            self.close()
            raise CannotRun(
                "math-verify doesn't start",
                "the extra reproduce",
                'pip install "/path/to/grid-atlas[reproduce]"',
            )

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in filter(None, (self._process.stdin, self._process.stdout)):
                # What was left to write to a process that has ended.
                with contextlib.suppress(OSError):
                    stream.close()
            self._process = None


def graded(question: Question, number: int, base: int, text: str, grade: Grade, **more: Any) -> Row:
    """The row of a text.

    Args:
        number: Of the question's sample.
        base: Of all seeds.
        more: What else a row notes.
    """
    return Row(
        item=question.id,
        sample=number,
        seed=seed_of(base, question.id, number),
        text=text,
        prediction=grade.prediction,
        gold=question.answer,
        correct=grade.correct,
        **more,
    )


@cache
def shared_grader() -> Grader:
    """The grader of this process: math-verify takes seconds to load."""
    grader = Grader()
    atexit.register(grader.close)
    return grader


def _pass_on(stream: TextIO, lines: queue.SimpleQueue[str]) -> None:
    """Lines of the process as they come; an empty one at its end."""
    with contextlib.suppress(ValueError):  # closed
        for line in stream:
            lines.put(line)
    lines.put("")


def _serve() -> None:
    """Read a question per line, write a grade per line."""
    import logging

    import math_verify

    assert math_verify
    logging.disable(logging.CRITICAL)
    # Its default action ends the process: nothing that sympy does can hold that up.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    print("ready", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, asked["seconds"])
        grade = open_grade(asked["answer"], asked["gold"])
        signal.setitimer(signal.ITIMER_PROF, 0)
        found = {} if grade is None else {"prediction": grade.prediction, "correct": grade.correct}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    _serve()
