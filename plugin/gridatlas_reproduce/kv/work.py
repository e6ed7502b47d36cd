"""The sweep's workers: they hold the model, decode answers in all cells, and grade them."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gridatlas_reproduce.kv.batches import RESERVE
from gridatlas_reproduce.kv.continuous import SlotDecoder
from gridatlas_reproduce.kv.decode import Decoding, Ends, Sample
from gridatlas_reproduce.kv.grading import Grade, shared_grader
from gridatlas_reproduce.kv.memory import (
    SPARE,
    check_fits,
    free_memory,
    out_of_memory,
    shape_of,
)
from gridatlas_reproduce.kv.models import (
    WIDTHS,
    ModelChoice,
    ends_of,
    load_config,
    load_model,
    load_tokenizer,
)
from gridatlas_reproduce.kv.predictor import about_predictor, load_predictor
from gridatlas_reproduce.kv.prefixes import StoredPrefixes
from gridatlas_reproduce.kv.questions import Question, prompt_ids
from gridatlas_reproduce.kv.scorers import Scorer, new_scorer
from gridatlas_reproduce.kv.slots import compiler_error, varlen_works
from gridatlas_reproduce.kv.sweep import Sweep, question_of
from gridatlas_reproduce.kv.tasks import Task
from gridatlas_reproduce.runner.devices import choose_device
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.rows import Row
from gridatlas_reproduce.runner.units import Unit, seed_of


class SweepWorker(ABC):
    """Holds the model; what both decoders share."""

    def __init__(
        self,
        sweep: Sweep,
        questions: Mapping[str, Question],
        seed: int,
        model: Any,
        tokenizer: Any,
        predictor: Any = None,
        run: Path | None = None,
    ) -> None:
        self.sweep, self.questions, self.seed = sweep, questions, seed
        self.model, self.tokenizer, self.predictor, self.run = model, tokenizer, predictor, run
        self.ends: Ends = ends_of(model, tokenizer)
        self.grader = shared_grader()
        self.grades: dict[tuple[str, bytes], Grade] = {}

    def work(self, group: Sequence[Unit]) -> Iterator[tuple[Unit, list[Row]]]:
        """Do the units, and give each as soon as it is done.

        Raises:
            CannotRun: Where the GPU's memory runs out.
        """
        import torch

        option = "--rows" if self.sweep.batch.decoder == "slots" else "--batch"
        try:
            yield from self._work(group)
        except torch.cuda.OutOfMemoryError as error:
            raise out_of_memory(error, self.sweep.batch.rows, option) from error

    @abstractmethod
    def _work(self, group: Sequence[Unit]) -> Iterator[tuple[Unit, list[Row]]]: ...

    def _prompt(self, question: Question) -> list[int]:
        return prompt_ids(self.tokenizer, question, self.sweep.profile)

    def _seeds(self, question: Question) -> list[int]:
        return [seed_of(self.seed, question.id, number) for number in range(self.sweep.samples)]

    def _scorer(self, seeds: Sequence[int], longest: int) -> Scorer:
        # Other numbers than those that the tokens are drawn with.
        own = [seed_of(seed, "random", 0) for seed in seeds]
        return new_scorer(self.sweep.scorer, predictor=self.predictor, seeds=own, longest=longest)

    def _rows(self, question: Question, samples: Sequence[Sample]) -> list[Row]:
        per_token = shape_of(self.model.config).token_bytes(WIDTHS[self.sweep.dtype])
        rows = []
        for number, sample in enumerate(samples):
            # The end isn't part of the text; `</think>` is, special token or not.
            ids = [token for token in sample.tokens if token not in self.ends.stop]
            text = self.tokenizer.decode(ids, skip_special_tokens=False)
            grade = self._grade(question, text)
            rows.append(
                Row(
                    item=question.id,
                    sample=number,
                    seed=seed_of(self.seed, question.id, number),
                    text=text,
                    tokens=len(sample.tokens),
                    finish=sample.finish,
                    prediction=grade.prediction,
                    gold=question.answer,
                    correct=grade.correct,
                    seconds=round(sample.seconds, 6),
                    peak_kv_bytes=sample.peak * per_token,
                    prunes=sample.prunes,
                    **self._noted(sample),
                )
            )
        return rows

    def _grade(self, question: Question, text: str) -> Grade:
        """The same text of several cells is graded once: all answers that end before a prune."""
        key = question.id, hashlib.sha256(text.encode()).digest()
        if key not in self.grades:
            self.grades[key] = self.grader.grade(question, text)
        return self.grades[key]

    def _noted(self, sample: Sample) -> dict[str, Any]:
        """What only a batch of several questions has to say."""
        if self.sweep.batch.decoder == "loop":
            return {}
        return {
            "pruned_at": sample.pruned_at,
            "prefix": sample.prefix,
            "refilled": sample.refilled,
            "batch_tokens": sample.batch_tokens,
        }


class SlotWorker(SweepWorker):
    """Decodes all questions and cells that it is given in one batch."""

    def _work(self, group: Sequence[Unit]) -> Iterator[tuple[Unit, list[Row]]]:
        batch, sweep = self.sweep.batch, self.sweep
        assert batch.slots is not None
        assert batch.reading is not None
        units: dict[str, list[Unit]] = {}
        for unit in group:
            units.setdefault(question_of(unit), []).append(unit)
        decoder = SlotDecoder(
            self.model,
            batch.rows,
            batch.slots,
            sweep.sampling,
            self.ends,
            reading=batch.reading,
            prefixes=None if self.run is None else StoredPrefixes(self.run),
            compiled=batch.compiled,
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
        question, budgets = self.questions[item], self.sweep.budgets()
        prompt = self._prompt(question)
        longest = len(prompt) + self.sweep.sampling.max_new_tokens
        return Task(
            item,
            tuple(prompt),
            tuple(self._seeds(question)),
            tuple((unit, budgets[unit.cell]) for unit in units),
            lambda seeds: self._scorer(seeds, longest),
        )


class LoopWorker(SweepWorker):
    """Decodes a question's beginning once, then cell by cell; slow, and simple to check."""

    def _work(self, group: Sequence[Unit]) -> Iterator[tuple[Unit, list[Row]]]:
        question = self.questions[question_of(group[0])]
        budgets = self.sweep.budgets()
        begun = self._begun(question)
        for unit in group:
            budget = budgets[unit.cell]
            samples: list[Sample] = []
            for decoding in begun:
                samples += (decoding if budget is None else decoding.fork(budget).run()).samples
            yield unit, self._rows(question, samples)

    def _begun(self, question: Question) -> list[Decoding]:
        """The batches of samples up to the first prune; to the end where nothing is pruned."""
        sweep, rows = self.sweep, self.sweep.batch.rows
        prompt, seeds = self._prompt(question), self._seeds(question)
        longest = len(prompt) + sweep.sampling.max_new_tokens
        begun = []
        for start in range(0, sweep.samples, rows):
            batch = seeds[start : start + rows]
            decoding = Decoding(
                self.model, prompt, batch, sweep.sampling, self.ends, self._scorer(batch, longest)
            )
            until = None if sweep.scorer == "full" else sweep.trigger
            begun.append(decoding.run(until).prepare_forks())
        return begun


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
        batch, slots = sweep.batch, sweep.batch.slots
        if slots is None:
            asked = self.questions
            slots = max(len(prompt_ids(tokenizer, each, sweep.profile)) for each in asked)
            slots = sweep.longest_cache(slots)
        check_fits(
            shape_of(config),
            WIDTHS[sweep.dtype],
            slots,
            batch.rows,
            free_memory(device),
            "--rows" if batch.decoder == "slots" else "--batch",
            spare=RESERVE / 2 if batch.decoder == "slots" else SPARE,
            copied=batch.decoder == "loop",
        )
        if batch.reading == "varlen":
            _check_varlen(device, sweep.dtype)
        if batch.compiled:
            _check_compiler(device)
        predictor = None
        if self.predictor is not None:
            about = about_predictor(self.predictor, dict(self.about), config.hidden_size)
            predictor = load_predictor(self.predictor, about, device, sweep.dtype)
        model = load_model(self.choice, device, sweep.dtype, sweep.attention)
        questions = {question.id: question for question in self.questions}
        worker: type[SweepWorker] = SlotWorker if batch.decoder == "slots" else LoopWorker
        return worker(sweep, questions, self.seed, model, tokenizer, predictor, self.run)


def _check_varlen(device: Any, dtype: str) -> None:
    """Refuse a device whose flash kernel isn't there or isn't right.

    Raises:
        CannotRun: For such a one.
    """
    import torch

    if not varlen_works(device, getattr(torch, dtype)):
        raise CannotRun(
            f"varlen_attn isn't there for {device} and {dtype}, or doesn't give what SDPA gives",
            "a GPU and a PyTorch on which it works",
            "give --reading grouped, with another --out",
        )


def _check_compiler(device: Any) -> None:
    """Refuse a machine on which PyTorch can't compile.

    Raises:
        CannotRun: For such a one.
    """
    why = compiler_error(device)
    if why is not None:
        raise CannotRun(
            f"PyTorch can't compile for {device} here: {why}",
            "a compiler: of C++ for a CPU, Triton for CUDA",
            "install it, or leave --compile out, with another --out",
        )
