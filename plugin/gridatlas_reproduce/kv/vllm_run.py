"""The baseline `full` from vLLM's answers: records as our own decoding writes them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gridatlas_reproduce.kv.grading import shared_grader
from gridatlas_reproduce.kv.questions import Question
from gridatlas_reproduce.kv.sweep import Sweep, question_of
from gridatlas_reproduce.kv.vllm_batches import VllmAnswer, read_answers
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.rows import Row
from gridatlas_reproduce.runner.units import Unit, seed_of


def vllm_settings(sweep: Sweep, answers: Path) -> dict[str, Any]:
    """The settings of a run whose answers are vLLM's, by the file that has them.

    Raises:
        CannotRun: For a file that can't be read.
    """
    try:
        digest = hashlib.sha256(answers.read_bytes()).hexdigest()
    except OSError as error:
        raise CannotRun(
            f"{answers} can't be read: {error}",
            "a file that vllm run-batch wrote",
            "correct --answers",
        ) from error
    return sweep.settings() | {"decoder": {"name": "vllm", "answers": digest}}


@dataclass(frozen=True, slots=True)
class VllmWorker:
    """Grades vLLM's answers."""

    questions: Mapping[str, Question]
    answers: Mapping[tuple[str, int], VllmAnswer]
    samples: int
    seed: int

    def work(self, group: Sequence[Unit]) -> Iterator[tuple[Unit, list[Row]]]:
        """Do the units, in order."""
        for unit in group:
            item = question_of(unit)
            yield unit, [self._row(item, number) for number in range(self.samples)]

    def _row(self, item: str, number: int) -> Row:
        answer, question = self.answers[item, number], self.questions[item]
        grade = shared_grader().grade(question, answer.text)
        return Row(
            item=item,
            sample=number,
            seed=seed_of(self.seed, item, number),
            text=answer.text,
            tokens=answer.tokens,
            finish=answer.finish,
            prediction=grade.prediction,
            gold=question.answer,
            correct=grade.correct,
            seconds=None,
        )


@dataclass(frozen=True, slots=True)
class VllmFactory:
    """Makes the worker from a file of answers."""

    path: Path
    questions: tuple[Question, ...]
    samples: int
    seed: int

    def __call__(self) -> VllmWorker:
        """Read the answers.

        Raises:
            CannotRun: For a file that can't be read, or lacks an answer.
        """
        answers = {(answer.item, answer.sample): answer for answer in read_answers(self.path)}
        questions = {question.id: question for question in self.questions}
        wanted = [(item, number) for item in questions for number in range(self.samples)]
        missing = [f"{item}/{number}" for item, number in wanted if (item, number) not in answers]
        if missing:
            raise CannotRun(
                f"{self.path} has no answer {missing[0]}"
                + (f" and {len(missing) - 1:,} others" if len(missing) > 1 else ""),
                f"{len(wanted):,} answers: {self.samples} to each question",
                "give vLLM the file of --requests, with the same --samples",
            )
        return VllmWorker(questions, answers, self.samples, self.seed)
