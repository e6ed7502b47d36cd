"""The benchmarks' questions, from the hub at a pinned commit or from a local file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from gridatlas.model.problems import quote
from gridatlas_reproduce.kv.models import reaching
from gridatlas_reproduce.runner.errors import CannotRun, WrongUsage
from gridatlas_reproduce.runner.files import digest, each_line

Profile = Literal["official", "boxed"]
LETTERS = "ABCDEFGHIJ"


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        id: Its item in the records.
        question: The text, without choices.
        answer: The right answer; of a multiple-choice question its letter.
        choices: In the order in which they are shown; empty for an open question.
    """

    id: str
    question: str
    answer: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Where a benchmark is on the hub.

    Attributes:
        dataset, name, split: As `datasets.load_dataset` takes them.
        number: Of its questions.
    """

    dataset: str
    name: str | None
    split: str
    number: int


BENCHMARKS = {
    "aime24": Benchmark("HuggingFaceH4/aime_2024", None, "train", 30),
    "aime25": Benchmark("yentinglin/aime_2025", None, "train", 30),
    "amc23": Benchmark("math-ai/amc23", None, "test", 40),
    "gpqa_d": Benchmark("Idavidrein/gpqa", "gpqa_diamond", "train", 198),
}
"""The levels of the study's factor `benchmark`."""


@dataclass(frozen=True, slots=True)
class Data:
    """Questions, and where they are from.

    Attributes:
        source: Id on the hub, or a file's name.
        revision: Commit on the hub; None for a file.
    """

    questions: tuple[Question, ...]
    source: str
    revision: str | None

    def about(self) -> dict[str, Any]:
        """For the manifest: id, revision, sha256 of all questions."""
        content = digest([asdict(question) for question in self.questions])
        return {"id": self.source, "revision": self.revision, "sha256": content}


def prompt_text(question: Question, profile: Profile) -> str:
    """What the user says, to which the model's chat template is put.

    `official` is the bare question; choices follow it, a line each. `boxed` asks for reasoning step
    by step and a boxed answer besides, as the models' makers recommend.
    """
    text = question.question
    if question.choices:
        lines = (
            f"{letter}) {choice}" for letter, choice in zip(LETTERS, question.choices, strict=False)
        )
        text += "\n\n" + "\n".join(lines)
    if profile == "boxed":
        what = "the letter of your choice" if question.choices else "your final answer"
        text += f"\nPlease reason step by step, and put {what} within \\boxed{{}}."
    return text


def prompt_ids(tokenizer: Any, question: Question, profile: Profile) -> list[int]:
    """The tokens of the prompt: the chat template around `prompt_text`."""
    messages = [{"role": "user", "content": prompt_text(question, profile)}]
    text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    return [int(token) for token in ids]


# --- a local file ---------------------------------------------------------------------------------


def read_jsonl(path: Path) -> Data:
    """Questions from a file with a JSON object per line: id, question, answer, and choices if any.

    The answer of a question with choices is a letter, or one of the choices.

    Raises:
        CannotRun: For a file that can't be read, with the line.
    """
    form = (
        '{"id": "1", "question": "What is 6 · 7?", "answer": "42"}, and "choices": ["…", "…"] '
        "where there are some"
    )
    expected = "a file with a JSON object per line"
    questions = each_line(path, _question, expected, "correct --data", (form, "correct the line"))
    return Data(_checked(questions, str(path)), path.name, None)


def _question(line: str) -> Question:
    content = json.loads(line)
    if not isinstance(content, dict):
        raise ValueError("it isn't a JSON object")
    for key in ("id", "question", "answer"):
        if key not in content:
            raise ValueError(f"{key} is missing")
        if not isinstance(content[key], str | int) or isinstance(content[key], bool):
            raise ValueError(f"{key} is {quote(content[key])}")
        if not str(content[key]).strip():
            raise ValueError(f"{key} is empty")
    choices = content.get("choices") or []
    if not isinstance(choices, list) or not all(isinstance(choice, str) for choice in choices):
        raise ValueError("choices is no list of texts")
    answer = str(content["answer"]).strip()
    if choices:
        if len(choices) > len(LETTERS):
            raise ValueError(f"there are more than {len(LETTERS)} choices")
        letters = LETTERS[: len(choices)]
        if answer not in tuple(letters):
            if choices.count(answer) != 1:
                raise ValueError(f"the answer is {quote(answer)}, which is none of the choices")
            answer = letters[choices.index(answer)]
    return Question(str(content["id"]), str(content["question"]), answer, tuple(choices))


def _checked(questions: Sequence[Question], source: str) -> tuple[Question, ...]:
    ids = [question.id for question in questions]
    twice = sorted({question_id for question_id in ids if ids.count(question_id) > 1})
    if twice or not questions:
        raise CannotRun(
            f"{source} has the id {quote(twice[0])} twice"
            if twice
            else f"{source} has no question",
            "questions, each with an id of its own",
            "correct it",
        )
    return tuple(questions)


# --- the hub --------------------------------------------------------------------------------------


def load_benchmark(level: str, revision: str | None) -> Data:
    """A benchmark of the study from the hub.

    Args:
        level: A key of `BENCHMARKS`.
        revision: Commit; without it the hub's present one is taken, and noted in the manifest.

    Raises:
        WrongUsage: For a level that is none of the study's.
        CannotRun: Where it can't be had, or isn't what it is known to be.
    """
    if level not in BENCHMARKS:
        raise WrongUsage(
            f"the benchmark {level}",
            f"one of {', '.join(BENCHMARKS)}, or another with --data",
            "correct --benchmark, or give its questions: --data file.jsonl",
        )
    where = BENCHMARKS[level]
    with reaching("data set", where.dataset, "--data"):
        import datasets
        import huggingface_hub

        if revision is None:
            revision = huggingface_hub.HfApi().dataset_info(where.dataset).sha
        rows = datasets.load_dataset(
            where.dataset, where.name, split=where.split, revision=revision
        )
    questions = questions_of(level, rows)
    if len(questions) != where.number:
        raise CannotRun(
            f"{where.dataset} at {revision} has {len(questions)} questions",
            f"the {where.number} of {level}",
            "give another commit with --data-revision, or the questions with --data file.jsonl",
        )
    return Data(questions, where.dataset, revision)


def questions_of(level: str, rows: Iterable[Mapping[str, Any]]) -> tuple[Question, ...]:
    """The questions of a benchmark's rows, as the hub has them.

    Raises:
        CannotRun: For rows without the columns that they are known to have.
    """
    try:
        made = [_row(level, number, row) for number, row in enumerate(rows)]
    except KeyError as error:
        raise CannotRun(
            f"{BENCHMARKS[level].dataset} has no column {error}",
            f"the columns that {level} is known to have",
            "give another commit with --data-revision, or the questions with --data file.jsonl",
        ) from error
    return _checked(made, level)


def _row(level: str, number: int, row: Mapping[str, Any]) -> Question:
    if level == "gpqa_d":
        right = str(row["Correct Answer"]).strip()
        wrong = [str(row[f"Incorrect Answer {i}"]).strip() for i in (1, 2, 3)]
        name, text = str(row["Record ID"]), str(row["Question"]).strip()
        # The right one stands first there: an order of each question's own, always the same.
        choices = sorted([right, *wrong], key=lambda choice: _hash(f"{name}/{choice}"))
        return Question(name, text, LETTERS[choices.index(right)], tuple(choices))
    text = row["question"] if level == "amc23" else row["problem"]
    return Question(str(row.get("id", number)), str(text).strip(), str(row["answer"]).strip())


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
