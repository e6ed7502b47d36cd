"""The sweep's worker: it holds the model, decode answers in all cells, and grade them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gridatlas_reproduce.kv.continuous import Ends, Prefixes, Sample, SlotDecoder, Task
from gridatlas_reproduce.kv.grading import Grade, graded, shared_grader
from gridatlas_reproduce.kv.memory import check_fits, enough_memory, free_memory, shape_of
from gridatlas_reproduce.kv.models import (
    WIDTHS,
    ModelChoice,
    ends_of,
    load_config,
    load_model,
    load_tokenizer,
)
from gridatlas_reproduce.kv.predictor import about_predictor, load_predictor
from gridatlas_reproduce.kv.questions import Question, prompt_ids
from gridatlas_reproduce.kv.selection import new_scorer
from gridatlas_reproduce.kv.slots import varlen_error
from gridatlas_reproduce.kv.sweep import Sweep, question_of
from gridatlas_reproduce.runner.devices import choose_device
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.records import Row
from gridatlas_reproduce.runner.units import Unit, seed_of


class SweepWorker:
    """Holds the model, and decodes all questions and cells that it is given in one batch."""

    def __init__(self, of: SweepFactory, model: Any, tokenizer: Any, predictor: Any) -> None:
        self.of, self.sweep, self.model, self.tokenizer = of, of.sweep, model, tokenizer
        self.questions = {question.id: question for question in of.questions}
        self.scorer = new_scorer(self.sweep.scorer, predictor)
        self.ends: Ends = ends_of(model, tokenizer)
        self.grades: dict[tuple[str, bytes], Grade] = {}

    def work(self, group: Sequence[Unit]) -> Iterator[tuple[Unit, list[Row]]]:
        """Do the units, and give each as soon as it is done.

        Raises:
            CannotRun: Where the GPU's memory runs out.
        """
        with enough_memory("the weights and the caches", self.sweep.batch.rows):
            yield from self._work(group)

    def _work(self, group: Sequence[Unit]) -> Iterator[tuple[Unit, list[Row]]]:
        batch, sweep = self.sweep.batch, self.sweep
        units: dict[str, list[Unit]] = {}
        for unit in group:
            units.setdefault(question_of(unit), []).append(unit)
        decoder = SlotDecoder(
            *(self.model, self.scorer, batch.rows, batch.slots, sweep.sampling, self.ends),
            reading=batch.reading,
            prefixes=Prefixes(self.of.run),
        )
        found: dict[Unit, dict[int, Sample]] = {}
        for answer in decoder.run(self._task(item, own) for item, own in units.items()):
            assert isinstance(answer.cell, Unit)
            samples = found.setdefault(answer.cell, {})
            samples[answer.number] = answer.sample
            if len(samples) == sweep.samples:
                ordered = [samples[number] for number in range(sweep.samples)]
                del found[answer.cell]
                yield answer.cell, self._rows(self.questions[answer.key], ordered)

    def _task(self, item: str, units: Sequence[Unit]) -> Task:
        budgets = self.sweep.budgets()
        return Task(
            item,
            tuple(prompt_ids(self.tokenizer, self.questions[item], self.sweep.profile)),
            tuple(seed_of(self.of.seed, item, number) for number in range(self.sweep.samples)),
            tuple((unit, budgets[unit.cell]) for unit in units),
        )

    def _rows(self, question: Question, samples: Sequence[Sample]) -> list[Row]:
        per_token = shape_of(self.model.config).token_bytes(WIDTHS[self.sweep.dtype])
        rows = []
        for number, sample in enumerate(samples):
            # The end isn't part of the text; `</think>` is, special token or not.
            ids = [token for token in sample.tokens if token not in self.ends.stop]
            text = self.tokenizer.decode(ids, skip_special_tokens=False)
            more = asdict(sample) | {"tokens": len(sample.tokens), "prunes": len(sample.pruned_at)}
            more["peak_kv_bytes"] = more.pop("peak") * per_token
            more["seconds"] = round(sample.seconds, 6)
            grade = self._grade(question, text)
            row = graded(question, number, self.of.seed, text, grade, **more)
            rows.append(row)
        return rows

    def _grade(self, question: Question, text: str) -> Grade:
        """The same text of several cells is graded once: all answers that end before a prune."""
        key = question.id, hashlib.sha256(text.encode()).digest()
        if key not in self.grades:
            self.grades[key] = shared_grader().grade(question, text)
        return self.grades[key]


@dataclass(frozen=True, slots=True)
class SweepFactory:
    """Makes the worker, in whatever process it shall work.

    Attributes:
        predictor: Folder of the predictor; for the scorer `importance`.
        about: What the manifest says of the model.
        run: The run's folder, for what its commands share besides records.
    """

    sweep: Sweep
    questions: tuple[Question, ...]
    seed: int
    choice: ModelChoice
    about: Mapping[str, Any]
    predictor: Path | None
    device: str
    run: Path | None = None

    def __call__(self) -> SweepWorker:
        """Load the model.

        Raises:
            CannotRun: For no GPU, too little memory, a model that can't be had.
        """
        sweep = self.sweep
        device = choose_device(self.device)
        config = load_config(self.choice)
        tokenizer = load_tokenizer(self.choice)
        batch, width = sweep.batch, WIDTHS[sweep.dtype]
        check_fits(shape_of(config), width, batch.slots, batch.rows, free_memory(device))
        if batch.reading == "varlen" and (why := varlen_error(device, sweep.dtype)):
            raise CannotRun(
                f"varlen_attn can't be taken: {why}",
                "a GPU and a PyTorch on which it works",
                "give --reading grouped, with another --out",
            )
        predictor = None
        if self.predictor is not None:
            about = about_predictor(self.predictor, dict(self.about), config.hidden_size)
            predictor = load_predictor(self.predictor, about, device, sweep.dtype)
        model = load_model(self.choice, device, sweep.dtype)
        return SweepWorker(self, model, tokenizer, predictor)
