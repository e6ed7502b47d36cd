r"""Grades answers: math-verify for open questions, a rule for multiple choice.

Only the text after the last `</think>` is graded; without one there is no answer, and it is wrong.

Multiple choice, in capital letters of the choices that there are: the last `\boxed{…}` decides,
where there is one; else the last `answer is (B)`, `answer: **B**` or the like; else the last line,
where it is nothing but the letter. A letter elsewhere in a sentence is never an answer, nor is an A
before a word in lower case: the article in "A proton is heavier" and in "the answer is A proton".

Open questions: an answer is right where math-verify finds it equal to the right one. 33 % and 33
are equal to it, 3300 and 0.33 are not.
"""

from __future__ import annotations

import atexit
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

from gridatlas.reproduce.kv.questions import LETTERS, Question
from gridatlas.reproduce.runner.errors import CannotRun

END_OF_THOUGHT = "</think>"
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


# --- multiple choice ------------------------------------------------------------------------------

_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_MARKUP = re.compile(r"\\(?:text(?:bf|rm)?|mathrm|mathbf)\s*\{([^{}]*)\}")
_SAID = re.compile(
    r"\b(?i:answer|choice|option)(?i:\s+is)?\s*[:=]?\s*(?i:option\s+|choice\s+)?"
    r"[*_$(\[\s]*(?!A\s+[a-z])([A-J])(?![A-Za-z'’])"
)
_ALONE = re.compile(r"[*_$(\[\s]*([A-J])[*_$)\].:\s]*")


def choice_of(answer: str, choices: int) -> str | None:
    """The letter that an answer settles on, by the rule above; None where it settles on none."""
    boxed = [_ALONE.match(_MARKUP.sub(r"\1", text)) for text in _BOXED.findall(answer)]
    lines = [line for line in answer.splitlines() if line.strip()]
    alone = _ALONE.fullmatch(lines[-1]) if lines else None
    if boxed:
        found = boxed[-1][1] if boxed[-1] else None
    elif statements := _SAID.findall(answer):
        found = statements[-1]
    else:
        found = alone[1] if alone else None
    return found if found and found in LETTERS[:choices] else None


# --- open questions -------------------------------------------------------------------------------


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
    found = parse(answer, parsing_timeout=None)
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
            letter = choice_of(answer, len(question.choices))
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
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    try:
                        stream.close()
                    except OSError:  # what was left to write to a process that has ended
                        continue
            self._process = None


@cache
def shared_grader() -> Grader:
    """The grader of this process: math-verify takes seconds to load."""
    grader = Grader()
    atexit.register(grader.close)
    return grader


def _pass_on(stream: TextIO, lines: queue.SimpleQueue[str]) -> None:
    """Lines of the process as they come; an empty one at its end."""
    try:
        for line in stream:
            lines.put(line)
    except ValueError:  # closed
        pass
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
