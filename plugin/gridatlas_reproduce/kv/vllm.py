"""Batch files of vLLM: requests that it is given, and its answers.

vLLM decodes with the whole cache only, in an environment of its own: `vllm run-batch` reads and
writes files with a JSON object per line, as OpenAI's batch interface has them.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gridatlas.model.problems import quote
from gridatlas_reproduce.kv.grading import graded, shared_grader
from gridatlas_reproduce.kv.models import ModelChoice
from gridatlas_reproduce.kv.questions import Question, prompt_text
from gridatlas_reproduce.kv.sweep import Sweep, question_of
from gridatlas_reproduce.runner.errors import UNREADABLE, CannotRun, readable, why
from gridatlas_reproduce.runner.files import compact, each_line
from gridatlas_reproduce.runner.records import Row
from gridatlas_reproduce.runner.units import Unit, seed_of

URL = "/v1/chat/completions"
ORDER = "temperature, top_k, top_p"
"""In which vLLM filters tokens; it isn't the published order."""
PROMPT_ROOM = 1_000
"""Tokens for a prompt, in the length that vLLM is told to plan with."""


@dataclass(frozen=True, slots=True)
class VllmAnswer:
    """One answer of vLLM.

    Attributes:
        item, sample: The question, and the number of its answer, from 0.
        tokens: With the one that ended it.
    """

    item: str
    sample: int
    text: str
    tokens: int
    finish: Literal["stop", "length"]


def requests(
    choice: ModelChoice, questions: Sequence[Question], sweep: Sweep, seed: int
) -> Iterator[str]:
    """A line per answer that vLLM is to write, with a seed of its own."""
    sampling = sweep.sampling
    for question in questions:
        for sample in range(sweep.samples):
            body = {
                "model": choice.source,
                "messages": [{"role": "user", "content": prompt_text(question, sweep.profile)}],
                "temperature": sampling.temperature,
                "top_p": sampling.top_p,
                "top_k": sampling.top_k,
                "max_tokens": sampling.max_new_tokens,
                "seed": seed_of(seed, question.id, sample) % 2**63,
                # `</think>` is part of the text, special token or not.
                "skip_special_tokens": False,
            }
            name = f"{question.id}/{sample}"
            yield compact({"custom_id": name, "method": "POST", "url": URL, "body": body})


def command(choice: ModelChoice, sweep: Sweep, given: Path, answers: Path) -> list[str]:
    """The commands that answer the requests, for an environment with vLLM and a GPU."""
    revision = ["--revision", choice.revision] if choice.revision else []
    words = [
        *("vllm", "run-batch", "-i", str(given), "-o", str(answers), "--model", choice.source),
        *revision,
        *("--dtype", sweep.dtype),
        *("--max-model-len", str(sweep.sampling.max_new_tokens + PROMPT_ROOM)),
        *("--generation-config", "vllm"),
    ]
    return ["pip install vllm   # in an environment of its own", shlex.join(words)]


def is_answer(content: Any) -> bool:
    """Whether a line is one of vLLM's answers."""
    return isinstance(content, dict) and {"custom_id", "response"} <= content.keys()


def read_answers(path: Path) -> list[VllmAnswer]:
    """All answers in a file that `vllm run-batch` wrote.

    Raises:
        CannotRun: For a file that can't be read, or a request that failed, with the line.
    """
    found: dict[tuple[str, int], VllmAnswer] = {}

    def read(line: str) -> None:
        try:
            answer = answer_of(json.loads(line))
            if (answer.item, answer.sample) in found:
                raise ValueError(f"{answer.item}/{answer.sample} is there twice")
        except UNREADABLE as error:
            raise ValueError(f"{why(error)}: {quote(line)}") from error
        found[answer.item, answer.sample] = answer

    form = "an answer as vllm run-batch writes it, to a request of --requests"
    again = "ask vLLM again, without --reasoning-parser"
    wanted = "a file that vllm run-batch wrote"
    each_line(path, read, wanted, "correct its name", (form, again))
    return list(found.values())


def answer_of(content: Any) -> VllmAnswer:
    """The answer that a line has.

    Raises:
        ValueError: For a request that failed, or an answer whose thought was taken out.
        TypeError, KeyError, IndexError, AttributeError: For a line of another form.
    """
    item, slash, sample = content["custom_id"].rpartition("/")
    if not slash or not sample.isdecimal():
        raise ValueError(f"custom_id is {quote(content['custom_id'])}")
    if content.get("error") is not None:
        raise ValueError(f"the request failed: {quote(str(content['error']))}")
    response = content["response"]
    if response.get("status_code", 200) != 200:
        raise ValueError(f"the request failed with status {response['status_code']}")
    body = response["body"]
    [choice] = body["choices"]
    message = choice["message"]
    if message.get("reasoning_content") or message.get("reasoning"):
        raise ValueError("a reasoning parser has taken the thought out of the text")
    finish, text = choice["finish_reason"], message["content"]
    if finish not in ("stop", "length") or not isinstance(text, str):
        raise ValueError(f"finish_reason is {quote(str(finish))}")
    return VllmAnswer(item, int(sample), text, int(body["usage"]["completion_tokens"]), finish)


def vllm_settings(sweep: Sweep, answers: Path) -> dict[str, Any]:
    """The settings of a run whose answers are vLLM's, by the file that has them.

    Raises:
        CannotRun: For a file that can't be read.
    """
    with readable(answers, "a file that vllm run-batch wrote", "correct --answers"):
        digest = hashlib.sha256(answers.read_bytes()).hexdigest()
    return sweep.settings() | {"decoder": {"name": "vllm", "answers": digest}}


@dataclass(frozen=True, slots=True)
class VllmWorker:
    """Grades vLLM's answers."""

    of: VllmFactory
    answers: Mapping[tuple[str, int], VllmAnswer]

    def work(self, group: Sequence[Unit]) -> Iterator[tuple[Unit, list[Row]]]:
        """Do the units, in order."""
        questions = {question.id: question for question in self.of.questions}
        for unit in group:
            question = questions[question_of(unit)]
            yield unit, [self._row(question, number) for number in range(self.of.samples)]

    def _row(self, question: Question, number: int) -> Row:
        answer = self.answers[question.id, number]
        grade = shared_grader().grade(question, answer.text)
        more = {"tokens": answer.tokens, "finish": answer.finish, "seconds": None}
        return graded(question, number, self.of.seed, answer.text, grade, **more)


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
        wanted = [(each.id, number) for each in self.questions for number in range(self.samples)]
        missing = [f"{item}/{number}" for item, number in wanted if (item, number) not in answers]
        if missing:
            raise CannotRun(
                f"{self.path} has no answer {missing[0]}"
                + (f" and {len(missing) - 1:,} others" if len(missing) > 1 else ""),
                f"{len(wanted):,} answers: {self.samples} to each question",
                "give vLLM the file of --requests, with the same --samples",
            )
        return VllmWorker(self, answers)
