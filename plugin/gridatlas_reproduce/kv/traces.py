"""Correct answers of a model to train its predictor on."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gridatlas.model.problems import quote
from gridatlas_reproduce.kv.grading import shared_grader
from gridatlas_reproduce.kv.questions import Profile, Question, prompt_ids
from gridatlas_reproduce.kv.training import Trace
from gridatlas_reproduce.kv.vllm import is_answer, read_answers
from gridatlas_reproduce.runner.errors import CannotRun, WrongUsage
from gridatlas_reproduce.runner.files import each_line
from gridatlas_reproduce.runner.records import BrokenRecord, RunFolder


def traces_of_file(path: Path, tokenizer: Any, profile: Profile) -> list[Trace]:
    """Traces from a file with a JSON object per line: id, question, text; choices if any.

    Raises:
        CannotRun: For a file that can't be read, with the line.
    """

    def read(line: str) -> Trace:
        try:
            content = json.loads(line)
            name, question, text = (str(content[key]) for key in ("id", "question", "text"))
            asked = Question(name, question, "", tuple(content.get("choices") or ()))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(quote(line)) from error
        return _trace(tokenizer, asked, name, text, profile)

    form = '{"id": "1", "question": "…", "text": "thought</think>answer"}'
    wanted = "a file with a JSON object per line"
    return each_line(path, read, wanted, "correct --traces", (form, "correct the line"))


def traces_of_vllm(
    path: Path, questions: Iterable[Question], tokenizer: Any, profile: Profile
) -> list[Trace]:
    """The correct answers among vLLM's, in the order of its file.

    Raises:
        CannotRun: For a file that can't be read, or an answer to another question.
    """
    by_id, found = {question.id: question for question in questions}, []
    for answer in read_answers(path):
        if answer.item not in by_id:
            raise CannotRun(
                f"{path} answers the question {quote(answer.item)}",
                "answers to the questions of --data",
                "give the questions that vLLM was asked",
            )
        asked = by_id[answer.item]
        if answer.finish == "stop" and shared_grader().grade(asked, answer.text).correct:
            name = f"{answer.item}/{answer.sample}"
            found.append(_trace(tokenizer, asked, name, answer.text, profile))
    return found


def is_of_vllm(path: Path) -> bool:
    """Whether a file's first line is one of vLLM's answers."""
    try:
        with path.open(encoding="utf-8") as file:
            return is_answer(json.loads(next(file, "null")))
    except (OSError, ValueError):
        return False  # `traces_of_file` tells what is wrong with it


def traces_of_run(
    folder: Path, questions: Iterable[Question], tokenizer: Any, model: dict[str, Any]
) -> list[Trace]:
    """The correct answers of a run of kv_sweep.py with the whole cache, in the plan's order.

    Args:
        questions: The run's.
        model: What the manifest must say of the model.

    Raises:
        WrongUsage: For a run of another model or scorer.
    """
    run = RunFolder.open(folder)
    manifest = run.manifest()
    settings = manifest["settings"]
    if settings.get("scorer") != "full" or manifest["model"] != model:
        raise WrongUsage(
            f"{folder} is a run of {(manifest['model'] or {}).get('id')} with the scorer "
            f"{settings.get('scorer')}",
            f"a run of {model['id']}, of the same revision, with --scorer full",
            "make one with kv_sweep.py --scorer full, and give its folder with --run",
        )
    by_id = {question.id: question for question in questions}
    found = []
    for unit in run.plan():
        try:
            rows = run.find(unit) or []
        except BrokenRecord as broken:
            run.report(f"{run.path(unit)} {broken}: left out")
            continue
        for row in rows:
            if row.correct and row.finish == "stop" and row.item in by_id:
                name = f"{row.item}/{row.sample}"
                asked = by_id[row.item]
                found.append(_trace(tokenizer, asked, name, row.text, settings["profile"]))
    return found


def _trace(tokenizer: Any, asked: Question, name: str, text: str, profile: Profile) -> Trace:
    answer = tokenizer(text, add_special_tokens=False)["input_ids"]
    return Trace(name, tuple(prompt_ids(tokenizer, asked, profile)), tuple(answer))
