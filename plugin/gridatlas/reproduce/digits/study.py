"""The study of digits as units of work: train each seed's models, then answer every cell."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from gridatlas.reproduce.digits.grpo import Grpo, train_on
from gridatlas.reproduce.digits.model import ModelSize, load_model, new_tokenizer, sampled
from gridatlas.reproduce.digits.problems import Problem, answer_width, held_out, training
from gridatlas.reproduce.digits.supervised import Supervised, train_start
from gridatlas.reproduce.runner.devices import choose_device
from gridatlas.reproduce.runner.errors import CannotRun, enough_space
from gridatlas.reproduce.runner.progress import ProgressReporter
from gridatlas.reproduce.runner.records import Row
from gridatlas.reproduce.runner.units import Unit, cell_of, seed_of

BEFORE = "before"
X, Y = "x_digits", "y_digits"


@dataclass(frozen=True, slots=True)
class DigitsStudy:
    """Everything that determines the results.

    Attributes:
        digits: Largest number of digits of either number; the grid has digits × digits cells.
        region: Largest number of digits of either number in GRPO's problems.
        temperatures: Of GRPO's rollouts; a setting each.
        seeds: Of training; each gives a model of its own per setting.
        operation: `+` or `*`.
        n: Graded answers per cell and model. At temperature 0 a problem has one answer, so n is at
            most `items`, and a cell with fewer problems has fewer answers.
        items: Different problems per cell, at most; each is asked n / items times. A cell never
            has more than half of the problems that there are.
        temperature: At which all models answer; 0 always takes the likeliest character.
        base: Seed of the held-out problems and of all answers; the same for all models.
    """

    digits: int = 6
    region: int = 4
    temperatures: tuple[Decimal, ...] = (Decimal("1.0"), Decimal("1.25"))
    seeds: tuple[int, ...] = (1, 2, 3)
    operation: str = "+"
    n: int = 200
    items: int = 100
    temperature: Decimal = Decimal("0.6")
    base: int = 0
    size: ModelSize = field(default_factory=ModelSize)
    supervised: Supervised = field(default_factory=Supervised)
    grpo: Grpo = field(default_factory=Grpo)

    def __post_init__(self) -> None:
        if self.greedy:
            object.__setattr__(self, "n", min(self.n, self.items))

    @property
    def greedy(self) -> bool:
        """Whether a model has one answer to a problem, whatever the random numbers."""
        return self.temperature == 0

    def settings(self) -> dict[str, Any]:
        """For the manifest; the base seed and the training seeds are its `seeds`."""
        content = asdict(self)
        for key in ("seeds", "base"):
            del content[key]
        content["temperature"] = str(self.temperature)
        content["temperatures"] = [str(temperature) for temperature in self.temperatures]
        return content

    @property
    def names(self) -> dict[str, Decimal | None]:
        """The settings' levels, each with the temperature of its rollouts."""
        return {BEFORE: None} | {
            setting_of(temperature): temperature for temperature in self.temperatures
        }

    @property
    def cells(self) -> tuple[tuple[int, int], ...]:
        """(digits of x, digits of y) of all cells."""
        levels = range(1, self.digits + 1)
        return tuple((x, y) for x in levels for y in levels)

    @property
    def train_region(self) -> tuple[tuple[int, int], ...]:
        """The cells that GRPO's problems come from."""
        return tuple(cell for cell in self.cells if max(cell) <= self.region)

    def problems(self, cell: tuple[int, int]) -> tuple[Problem, ...]:
        """The held-out problems of a cell; their number divides n, but at temperature 0."""
        found = held_out(cell, self.operation, self.digits, self.items, self.base)
        if self.greedy:
            return found[: self.n]
        most = max(count for count in range(1, len(found) + 1) if self.n % count == 0)
        return found[:most]

    def answers(self, cell: tuple[int, int]) -> int:
        """How many answers of a model are graded in a cell."""
        return len(self.problems(cell)) if self.greedy else self.n

    def units(self) -> list[Unit]:
        """All units: seed by seed, setting by setting."""
        rows = {cell: self.answers(cell) for cell in self.cells}
        return [
            Unit(cell_of({"setting": setting, "seed": seed, X: x, Y: y}), None, rows[x, y])
            for seed in self.seeds
            for setting in self.names
            for x, y in self.cells
        ]


def setting_of(temperature: Decimal) -> str:
    """The level of a rollout temperature: `after_t100` for 1.0."""
    return f"after_t{int(temperature * 100)}"


def model_of(unit: Unit) -> tuple[str, str]:
    """(seed, setting): units of one model are done together."""
    return unit.levels["seed"], unit.levels["setting"]


@dataclass(frozen=True, slots=True)
class DigitsWorker:
    """Trains what is missing, and answers.

    Attributes:
        work_folder: For models and checkpoints; what is there isn't trained again.
        device: `cpu`, `cuda`, …
        trains: Whether it trains what isn't there; not in the folder of another run.
    """

    study: DigitsStudy
    work_folder: Path
    device: str
    quiet: bool = False
    trains: bool = True

    def work(self, group: Sequence[Unit]) -> Iterator[tuple[Unit, list[Row]]]:
        """Answer the cells of one model."""
        seed, setting = model_of(group[0])
        model = load_model(self._model(int(seed), setting)).to(self.device)
        for unit in group:
            yield unit, self._answers(model, unit)

    # --- models ---------------------------------------------------------------------------------

    def _model(self, seed: int, setting: str) -> Path:
        """The folder of a trained model; it is there whole or not at all."""
        folder = self.work_folder / f"seed-{seed}" / setting
        if folder.is_dir():
            return folder
        if not self.trains:
            raise CannotRun(
                f"there is no model {folder}",
                "all models of the run that --models names",
                "give that run's command again: it goes on where it stopped",
            )
        with enough_space(folder):
            _save_whole(self._trained(seed, setting, folder), folder)
        return folder

    def _trained(self, seed: int, setting: str, folder: Path) -> Any:
        """Train a model; its checkpoints lie beside the folder that it will have."""
        temperature = self.study.names[setting]
        how_many = self.study.supervised.steps if temperature is None else self.study.grpo.max_steps
        report_step = ProgressReporter(self.quiet)

        def report(done: int) -> None:
            steps = f"{done} of {how_many} steps of training"
            report_step(f"seed {seed}, {setting}: {steps}", last=done == how_many)

        if temperature is None:
            how = self.study.supervised
            problems = self._training(self.study.cells, f"supervised/{seed}")
            return train_start(self.study.size, how, problems, seed, self.device, report)
        start = self._model(seed, BEFORE)
        problems = self._training(self.study.train_region, f"grpo/{seed}")
        return train_on(
            start,
            self.study.grpo,
            problems,
            float(temperature),
            seed,
            answer_width(self.study.operation, self.study.digits) + 1,
            folder.with_name(f"{setting}.checkpoints"),
            self.device,
            report,
        )

    def _training(self, cells: tuple[tuple[int, int], ...], name: str) -> Iterator[Problem]:
        without = frozenset(
            problem for cell in self.study.cells for problem in self.study.problems(cell)
        )
        return training(
            cells, self.study.operation, self.study.digits, without, f"{self.study.base}/{name}"
        )

    # --- answers --------------------------------------------------------------------------------

    def _answers(self, model: Any, unit: Unit) -> list[Row]:
        levels = unit.levels
        problems = self.study.problems((int(levels[X]), int(levels[Y])))
        asked = [
            (problem, sample)
            for problem in problems
            for sample in range(unit.rows // len(problems))
        ]
        seeds = [seed_of(self.study.base, problem.name, sample) for problem, sample in asked]
        longest = answer_width(self.study.operation, self.study.digits) + 1
        started = time.monotonic()
        texts = sampled(
            model,
            [problem for problem, _ in asked],
            seeds,
            float(self.study.temperature),
            longest,
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


def _save_whole(model: Any, folder: Path) -> None:
    """Save a model and the characters it knows under another name, and rename the folder."""
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)
    model.save_pretrained(temporary)
    new_tokenizer().save_pretrained(temporary)
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
    trains: bool = True

    def __call__(self) -> DigitsWorker:
        """A worker on the device; `auto` is a GPU where there is one.

        Raises:
            WrongUsage: For a device that is none.
            CannotRun: For a GPU that isn't there.
        """
        from transformers.utils import logging

        logging.disable_progress_bar()  # a bar per loaded model of a few layers
        device = str(choose_device(self.device))
        return DigitsWorker(self.study, self.work_folder, device, trains=self.trains)


def expected(
    study: DigitsStudy, units: Sequence[Unit], *, trains: bool = True
) -> Mapping[str, int]:
    """What these units take where no model is there yet: steps of training, and answers.

    Args:
        trains: False where the models are those of another run.
    """
    answers = {"answers": sum(unit.rows for unit in units)}
    if not trains:
        return answers
    models = {model_of(unit) for unit in units}
    started = {seed for seed, _ in models}
    after = sum(setting != BEFORE for _, setting in models)
    return {
        "supervised steps": len(started) * study.supervised.steps,
        "GRPO steps": after * study.grpo.max_steps,
        "rollouts": after * study.grpo.max_steps * study.grpo.prompts * study.grpo.num_generations,
    } | answers
