"""The options of the batch, and what follows from them: its shape, an estimate, a measured rate."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import click

from gridatlas_reproduce.kv.batches import Batch, Decoder, gpu_memory, recorded_rows, rows_for
from gridatlas_reproduce.kv.cost import GPU, PROMPT, expected, keep_rate, kept_rate, measured_rate
from gridatlas_reproduce.kv.memory import Shape
from gridatlas_reproduce.kv.models import WIDTHS, ModelChoice, load_tokenizer
from gridatlas_reproduce.kv.questions import Question, prompt_ids
from gridatlas_reproduce.kv.slots import Reading, varlen_works
from gridatlas_reproduce.kv.sweep import Sweep, question_of
from gridatlas_reproduce.runner.devices import choose_device
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.options import RunOptions
from gridatlas_reproduce.runner.records import RunFolder
from gridatlas_reproduce.runner.runs import Manifest
from gridatlas_reproduce.runner.units import Unit
from gridatlas_reproduce.runner.workers import WorkerFactory

TOGETHER = 4
"""Questions that a worker of Ray is given at a time: enough to fill a batch with their cells."""


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """What the options say; see their help."""

    decoder: Decoder
    rows: int | None
    reading: Reading | Literal["auto"]
    compiled: bool
    batch: int | None
    measure: int | None
    price_per_hour: float | None

    def check(self) -> None:
        """Refuse options of the other decoder.

        Raises:
            click.UsageError: For such options.
        """
        if self.decoder == "loop" and (self.rows or self.measure or self.compiled):
            raise click.UsageError("--rows, --compile and --measure are for --decoder slots")
        if self.decoder == "slots" and self.batch:
            raise click.UsageError("--batch is for --decoder loop; give --rows")

    def _loop(self, sweep: Sweep) -> Sweep:
        rows = min(self.batch or sweep.samples, sweep.samples)
        return replace(sweep, batch=Batch("loop", rows))

    def _most(self, sweep: Sweep, questions: int) -> int:
        """Rows that there would be work for."""
        return questions * len(sweep.budgets()) * sweep.samples

    def estimate(self, sweep: Sweep, choice: ModelChoice, questions: int, out: Path) -> list[str]:
        """What a run takes, on a GPU of 80 GB, line by line; by what --measure found, if it did."""
        shape = choice.shape
        if self.decoder == "loop":
            return expected(self._loop(sweep), questions, shape, price=self.price_per_hour)
        slots, rows = sweep.slots([PROMPT]), self.rows or recorded_rows(out)
        if rows is None:
            most = self._most(sweep, questions)
            rows = rows_for(shape, WIDTHS[sweep.dtype], slots, GPU, most)
        sweep = replace(sweep, batch=Batch("slots", rows, slots, "grouped"))
        return expected(sweep, questions, shape, kept_rate(out, sweep), self.price_per_hour)

    def shaped(
        self, sweep: Sweep, choice: ModelChoice, asked: Sequence[Question], options: RunOptions
    ) -> Sweep:
        """The sweep in the batch that it is decoded in here.

        Raises:
            CannotRun: For no GPU, or one that is too small.
        """
        if self.decoder == "loop":
            return self._loop(sweep)
        tokenizer = load_tokenizer(choice)
        slots = sweep.slots(len(prompt_ids(tokenizer, each, sweep.profile)) for each in asked)
        rows = self.rows or recorded_rows(options.out)
        if rows is None:
            width, most = WIDTHS[sweep.dtype], self._most(sweep, len(asked))
            ray = options.engine == "ray"
            rows = _rows(choice.shape, width, slots, options.device, most, elsewhere=ray)
        reading = _reading(options.device, sweep.dtype) if self.reading == "auto" else self.reading
        return replace(sweep, batch=Batch("slots", rows, slots, reading, self.compiled))

    def run(
        self,
        sweep: Sweep,
        shape: Shape,
        options: RunOptions,
        plan: Manifest,
        units: Sequence[Unit],
        factory: WorkerFactory,
    ) -> RunFolder:
        """Do the units; with --measure only those of the first questions, and tell their rate."""
        items = list(dict.fromkeys(question_of(unit) for unit in units))
        measured = items[: self.measure]
        chosen = [unit for unit in units if question_of(unit) in measured]
        together = TOGETHER if options.engine == "ray" else len(items)
        folder = options.run(
            plan,
            chosen,
            factory,
            key=question_of,
            together=1 if self.decoder == "loop" else together,
        )
        if self.measure:
            done = [folder.read(unit) for unit in options.chosen(chosen)]
            rate = measured_rate(done, len(measured))
            keep_rate(folder.folder, rate, sweep)
            for line in expected(sweep, len(items), shape, rate, self.price_per_hour):
                click.echo(line)  # noqa: TID251 (numbers)
        return folder


_BATCH = [
    click.option(
        "--decoder",
        type=click.Choice(get_args(Decoder)),
        default="slots",
        show_default=True,
        help="slots: all questions and cells in one batch. loop: one question and cell at a time.",
    ),
    click.option(
        "--rows",
        type=click.IntRange(min=1),
        metavar="N",
        help="Samples in the batch of slots. [default: those of the run in --out, else as many as "
        "fit into the GPU]",
    ),
    click.option(
        "--reading",
        type=click.Choice(["auto", *get_args(Reading)]),
        default="auto",
        show_default=True,
        help="How attention reads the slots; varlen needs CUDA.",
    ),
    click.option(
        "--compile",
        "compiled",
        is_flag=True,
        help="Compile the model's layers with torch.compile; on CUDA as CUDA graphs.",
    ),
    click.option(
        "--batch",
        type=click.IntRange(min=1),
        metavar="N",
        help="Samples decoded together by the loop. [default: all of a question]",
    ),
    click.option(
        "--measure",
        type=click.IntRange(min=1),
        metavar="N",
        help="Do the first N questions, then tell what all of them take at their rate.",
    ),
    click.option(
        "--price-per-hour", type=click.FloatRange(min=0), help="Of the GPU, for --dry-run."
    ),
]


def batch_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a click command these options, as its parameter `batch`."""
    names = BatchOptions.__dataclass_fields__

    @functools.wraps(command)
    def called(**values: Any) -> Any:
        chosen = BatchOptions(**{name: values.pop(name) for name in names})
        chosen.check()
        return command(batch=chosen, **values)

    for option in reversed(_BATCH):
        called = option(called)
    return called


def _rows(shape: Shape, width: int, slots: int, device: str, most: int, *, elsewhere: bool) -> int:
    """The rows for a device's memory.

    Args:
        device: As `--device` has it.
        elsewhere: Whether other machines decode, too: Ray's.

    Raises:
        CannotRun: For no GPU, or one that is too small.
    """
    try:
        memory = gpu_memory(choose_device(device))
    except CannotRun as error:
        if not elsewhere:
            raise
        raise CannotRun(
            "how many rows fit isn't known: there is no GPU here to ask",
            "the rows of the batch on all machines",
            "give --rows: --dry-run says how many fit into 80 GB",
        ) from error
    return rows_for(shape, width, slots, memory, most)


def _reading(device: str, dtype: str) -> Reading:
    """The fastest way of reading the slots that works here; `grouped` works everywhere.

    Raises:
        WrongUsage: For a name that is no device.
    """
    import torch

    try:
        found = choose_device(device)
    except CannotRun:
        return "grouped"
    return "varlen" if varlen_works(found, getattr(torch, dtype)) else "grouped"
