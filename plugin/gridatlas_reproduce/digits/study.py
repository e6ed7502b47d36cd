"""The study of digits as units of work: train each seed's models, then answer every cell."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

from gridatlas.meter import ProgressReporter
from gridatlas_reproduce.digits.grpo import Grpo, train_on
from gridatlas_reproduce.digits.model import (
    ModelSize,
    load_model,
    load_tokenizer,
    new_tokenizer,
    sampled,
)
from gridatlas_reproduce.digits.pretrained import estimate, load_start, uses_vllm
from gridatlas_reproduce.digits.problems import Problem, answer_width, held_out, training
from gridatlas_reproduce.digits.supervised import Check, Supervised, train_further, train_start
from gridatlas_reproduce.kv.models import ModelChoice
from gridatlas_reproduce.runner.devices import choose_device
from gridatlas_reproduce.runner.errors import enough_space
from gridatlas_reproduce.runner.records import Row
from gridatlas_reproduce.runner.units import Unit, cell_of, seed_of

BEFORE, GRPO, CONTROL = "before", "grpo", "supervised"
X, Y = "x_digits", "y_digits"


@dataclass(frozen=True, slots=True)
class DigitsStudy:
    """Everything that determines the results.

    Attributes:
        digits: Largest number of digits of either number; the grid has digits × digits cells.
        region: Largest number of digits of either number in GRPO's problems.
        seeds: Of training; each gives a model of its own per setting.
        operation: `+` or `*`.
        rollouts: Temperatures of GRPO's rollouts; each gives a model of its own per seed.
        items: Different problems per cell, at most. A cell never has more than half of the problems
            that there are.
        samples: Answers to each problem where they are sampled. At temperature 0 a problem has one.
        temperatures: At which all models answer; 0 always takes the likeliest character.
        pretrained: The model that all trainings start from, in place of one from nothing. It reads
            and writes numbers as people do.
        base: Seed of the held-out problems and of all answers; the same for all models.
    """

    digits: int = 6
    region: int = 4
    seeds: tuple[int, ...] = (1, 2, 3)
    operation: str = "+"
    rollouts: tuple[Decimal, ...] = (Decimal("1.0"),)
    items: int = 100
    samples: int = 8
    temperatures: tuple[Decimal, ...] = (Decimal(0), Decimal("0.6"), Decimal("1.0"))
    base: int = 0
    pretrained: ModelChoice | None = None
    size: ModelSize = field(default_factory=ModelSize)
    supervised: Supervised = field(default_factory=Supervised)
    grpo: Grpo = field(default_factory=Grpo)

    def settings(self) -> dict[str, Any]:
        """For the manifest; the base seed and the training seeds are its `seeds`."""
        content = asdict(self)
        # The manifest has these in places of their own; a pretrained model is of one size.
        for key in (
            "seeds",
            "base",
            "pretrained",
            *(("size", "supervised") * bool(self.pretrained)),
        ):
            del content[key]
        for key in ("rollouts", "temperatures"):
            content[key] = [str(temperature) for temperature in content[key]]
        return content

    @property
    def trainings(self) -> dict[str, Decimal | None]:
        """The levels of `setting`, with the temperature of GRPO's rollouts where there are any."""
        several = len(self.rollouts) > 1
        grpo = {f"{GRPO}-{rollout}" if several else GRPO: rollout for rollout in self.rollouts}
        return {BEFORE: None, **grpo, CONTROL: None}

    @property
    def cells(self) -> tuple[tuple[int, int], ...]:
        """(digits of x, digits of y) of all cells."""
        levels = range(1, self.digits + 1)
        return tuple((x, y) for x in levels for y in levels)

    @property
    def train_region(self) -> tuple[tuple[int, int], ...]:
        """The cells that GRPO's problems come from."""
        return tuple(cell for cell in self.cells if max(cell) <= self.region)

    @property
    def longest(self) -> int:
        """Tokens of an answer, with its end; where people write it, with a space before it."""
        return answer_width(self.operation, self.digits) + 1 + (self.width == 0)

    @property
    def width(self) -> int:
        """Characters of either number; 0 where they are written as people do."""
        return 0 if self.pretrained else self.digits

    def problems(self, cell: tuple[int, int]) -> tuple[Problem, ...]:
        """The held-out problems of a cell."""
        return held_out(cell, self.operation, self.width, self.items, self.base)

    def samples_at(self, temperature: Decimal) -> int:
        """Answers per problem: greedily a second one would be the first again."""
        return self.samples if temperature else 1

    def units(self) -> list[Unit]:
        """All units: seed by seed, setting by setting, temperature by temperature."""
        items = {cell: len(self.problems(cell)) for cell in self.cells}
        return [
            Unit(
                cell_of({"setting": setting, "temperature": temperature, "seed": seed, X: x, Y: y}),
                None,
                items[x, y] * self.samples_at(temperature),
            )
            for seed in self.seeds
            for setting in self.trainings
            for temperature in self.temperatures
            for x, y in self.cells
        ]


STUDIES = {
    "digits-pass-1": DigitsStudy(),
    "digits-rollout-temperature": DigitsStudy(
        digits=10,
        region=6,
        seeds=(1, 2, 3, 4, 5),
        rollouts=(Decimal("1.25"), Decimal("1.0")),
        samples=4,
        temperatures=(Decimal(0), Decimal("1.0")),
        supervised=Supervised(steps=1500),
        grpo=Grpo(max_steps=400),
    ),
}
"""The designs of our studies, by their ids."""


def model_of(unit: Unit) -> tuple[str, str]:
    """(seed, setting): units of one model are done together."""
    return unit.levels["seed"], unit.levels["setting"]


@dataclass(frozen=True, slots=True)
class DigitsWorker:
    """Trains what is missing, and answers.

    Attributes:
        work_folder: For models and checkpoints; what is there isn't trained again.
        device: `cpu`, `cuda`, …
    """

    study: DigitsStudy
    work_folder: Path
    device: str
    quiet: bool = False

    def work(self, group: Sequence[Unit]) -> Iterator[tuple[Unit, list[Row]]]:
        """Answer the cells of one model."""
        seed, setting = model_of(group[0])
        folder = self._model(int(seed), setting)
        model, tokenizer = load_model(folder).to(self.device), load_tokenizer(folder)
        for unit in group:
            yield unit, self._answers(model, tokenizer, unit)

    # --- models ---------------------------------------------------------------------------------

    def _model(self, seed: int, setting: str) -> Path:
        """The folder of a trained model; it is there whole or not at all."""
        # A pretrained start is the same for all seeds.
        shared = self.study.pretrained and setting == BEFORE
        folder = self.work_folder / ("" if shared else f"seed-{seed}") / setting
        if not folder.is_dir():
            with enough_space(folder):
                _save_whole(*self._trained(seed, setting, folder), folder)
        return folder

    def _trained(self, seed: int, setting: str, folder: Path) -> tuple[Any, Any]:
        """Train a model, beside its tokenizer; checkpoints lie beside its folder."""
        study, how, device = self.study, self.study.grpo, self.device
        if setting == BEFORE and study.pretrained:
            return load_start(study.pretrained)
        start = None if setting == BEFORE else self._model(seed, BEFORE)
        most = how.max_steps if start else study.supervised.steps
        report_step = ProgressReporter(self.quiet)

        def report(done: int) -> None:
            of = f"{'' if start else 'at most '}{most}"
            report_step(
                f"seed {seed}, {setting}: {done} of {of} steps of training", last=done == most
            )

        if start is None:
            problems = self._training(study.cells, f"supervised/{seed}")
            check = self._check(seed)
            model = train_start(study.size, study.supervised, problems, check, seed, device, report)
            return model, new_tokenizer()
        problems = self._training(study.train_region, f"grpo/{seed}")
        tokenizer = load_tokenizer(start)
        rollout = study.trainings[setting]
        if rollout is None:
            control = (how.max_steps, how.prompts, how.learning_rate, problems, device, report)
            return train_further(load_model(start), *control, tokenizer), tokenizer
        checkpoints = folder.with_name(f"{setting}.checkpoints")
        run = (problems, seed, study.longest, checkpoints, device, report)
        vllm = study.pretrained is not None and uses_vllm(device)
        return train_on(start, how, float(rollout), *run, tokenizer, vllm), tokenizer

    def _check(self, seed: int) -> Check:
        """What the start is looked at with: problems that aren't held out."""
        problems = self._training(self.study.train_region, f"check/{seed}")
        chosen = tuple(islice(problems, self.study.supervised.checked))
        return Check(chosen, self.study.supervised.temperature, self.study.longest)

    def _training(self, cells: tuple[tuple[int, int], ...], name: str) -> Iterator[Problem]:
        without = frozenset(
            problem for cell in self.study.cells for problem in self.study.problems(cell)
        )
        return training(
            cells, self.study.operation, self.study.width, without, f"{self.study.base}/{name}"
        )

    # --- answers --------------------------------------------------------------------------------

    def _answers(self, model: Any, tokenizer: Any, unit: Unit) -> list[Row]:
        levels = unit.levels
        problems = self.study.problems((int(levels[X]), int(levels[Y])))
        temperature = Decimal(levels["temperature"])
        samples = range(self.study.samples_at(temperature))
        asked = [(problem, sample) for problem in problems for sample in samples]
        seeds = [seed_of(self.study.base, problem.name, sample) for problem, sample in asked]
        started = time.monotonic()
        texts = sampled(
            model,
            [problem for problem, _ in asked],
            seeds,
            float(temperature),
            self.study.longest,
            tokenizer,
        )
        seconds = round((time.monotonic() - started) / len(asked), 6)
        return [
            Row(
                item=problem.name,
                sample=sample,
                seed=seed,
                text=text,
                tokens=len(text) + ended,
                finish="stop" if ended else "length",
                prediction=text if ended else None,
                gold=problem.answer,
                correct=ended and text == problem.answer,
                seconds=seconds,
            )
            for (problem, sample), seed, (text, ended) in zip(asked, seeds, texts, strict=True)
        ]


def _save_whole(model: Any, tokenizer: Any, folder: Path) -> None:
    """Save a model and its tokenizer under another name, and rename the folder."""
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)
    model.save_pretrained(temporary)
    tokenizer.save_pretrained(temporary)
    try:
        temporary.rename(folder)
    except OSError:
        # Another process, with the same seeds, was faster: its model is the same.
        if not folder.is_dir():
            raise
        shutil.rmtree(temporary)


@dataclass(frozen=True, slots=True)
class DigitsFactory:
    """Makes the worker, in whatever process it shall work."""

    study: DigitsStudy
    work_folder: Path
    device: str = "auto"

    def __call__(self) -> DigitsWorker:
        """A worker on the device; `auto` is a GPU where there is one.

        Raises:
            WrongUsage: For a device that is none.
            CannotRun: For a GPU that isn't there.
        """
        from transformers.utils import logging

        logging.disable_progress_bar()  # a bar per loaded model of a few layers
        device = str(choose_device(self.device))
        return DigitsWorker(self.study, self.work_folder, device)


def expected(study: DigitsStudy, units: Sequence[Unit]) -> Iterator[str]:
    """Lines on what these units take where no model is there yet: steps of training, and answers.

    Of a pretrained model, memory and hours on a GPU too.
    """
    models = {model_of(unit) for unit in units}
    each = study.grpo.max_steps
    steps = each * sum(study.trainings[setting] is not None for _, setting in models)
    counts = {
        "supervised steps of the starts, at most": (
            0 if study.pretrained else len({seed for seed, _ in models}) * study.supervised.steps
        ),
        "supervised steps of the control": each * sum(setting == CONTROL for _, setting in models),
        "GRPO steps": steps,
        "rollouts": steps * study.grpo.prompts * study.grpo.num_generations,
        "answers": sum(unit.rows for unit in units),
    }
    yield f"{len(units)} units"
    yield from (f"{number:>10,} {what}" for what, number in counts.items() if number)
    if study.pretrained:
        prompt = 2 * study.digits + len(study.operation + "=")
        yield from estimate(study.pretrained, study.grpo, prompt, study.longest, steps, len(units))
