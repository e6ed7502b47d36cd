"""The options of the batch, and what follows from them: its shape, an estimate, a measured rate."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import click

from gridatlas.meter import report
from gridatlas_reproduce.kv.batches import Batch, gpu_memory, recorded_rows, rows_for
from gridatlas_reproduce.kv.bench import read_bench
from gridatlas_reproduce.kv.bench_tables import measured_step
from gridatlas_reproduce.kv.cost import (
    GPU,
    PROMPT,
    assumed_rate,
    expected,
    keep_rate,
    kept_rate,
    mean_length,
    measured_rate,
)
from gridatlas_reproduce.kv.memory import Shape
from gridatlas_reproduce.kv.models import WIDTHS, ModelChoice, load_tokenizer
from gridatlas_reproduce.kv.questions import Question, prompt_ids
from gridatlas_reproduce.kv.slots import Reading, fastest_reading
from gridatlas_reproduce.kv.sweep import Sweep, question_of
from gridatlas_reproduce.runner.devices import choose_device
from gridatlas_reproduce.runner.engine import WorkerFactory
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.options import RunOptions
from gridatlas_reproduce.runner.records import RunFolder
from gridatlas_reproduce.runner.runs import Manifest
from gridatlas_reproduce.runner.units import Unit


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """What the options say; see their help."""

    rows: int | None
    reading: Reading | Literal["auto"]
    measure: int | None
    price_per_hour: float | None
    bench: Path | None

    def _most(self, sweep: Sweep, questions: int) -> int:
        """Rows that there would be work for."""
        return questions * len(sweep.budgets()) * sweep.samples

    def estimate(self, sweep: Sweep, choice: ModelChoice, questions: int, out: Path) -> list[str]:
        """What a run takes, on a GPU of 80 GB, line by line; by what --measure found, if it did."""
        shape = choice.shape
        slots, rows = sweep.slots([PROMPT]), self.rows or recorded_rows(out)
        if rows is None:
            most = self._most(sweep, questions)
            rows = rows_for(shape, WIDTHS[sweep.dtype], slots, GPU, most)
        sweep = replace(sweep, batch=Batch(rows, slots))
        rate = kept_rate(out, sweep)
        if rate is None and self.bench is not None:
            record = read_bench(self.bench)
            seconds, busy = measured_step(record, rows, mean_length(sweep))
            gpu = (record["gpu"] or {}).get("name", "a CPU")
            rate = assumed_rate(sweep, shape, (seconds, busy, gpu))
        return expected(sweep, questions, shape, rate, self.price_per_hour)

    def shaped(
        self, sweep: Sweep, choice: ModelChoice, asked: Sequence[Question], options: RunOptions
    ) -> Sweep:
        """The sweep in the batch that it is decoded in here.

        Raises:
            CannotRun: For no GPU, or one that is too small.
        """
        tokenizer = load_tokenizer(choice)
        slots = sweep.slots(len(prompt_ids(tokenizer, each, sweep.profile)) for each in asked)
        rows = self.rows or recorded_rows(options.out)
        if rows is None:
            width, most = WIDTHS[sweep.dtype], self._most(sweep, len(asked))
            ray = options.engine == "ray"
            rows = _rows(choice.shape, width, slots, options.device, most, elsewhere=ray)
        reading = _reading(options.device, sweep.dtype) if self.reading == "auto" else self.reading
        return replace(sweep, batch=Batch(rows, slots, reading))

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
        folder = options.run(plan, chosen, factory, key=question_of, together=len(items))
        if self.measure:
            done = [folder.read(unit) for unit in options.chosen(chosen)]
            rate = measured_rate(done, len(measured))
            keep_rate(folder.folder, rate, sweep)
            for line in expected(sweep, len(items), shape, rate, self.price_per_hour):
                click.echo(line)  # noqa: TID251 (numbers)
        return folder


_BATCH = [
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
        "--measure",
        type=click.IntRange(min=1),
        metavar="N",
        help="Do the first N questions, then tell what all of them take at their rate.",
    ),
    click.option(
        "--bench",
        type=click.Path(path_type=Path, file_okay=False),
        help="For --dry-run: the folder of bench_kv.py, whose steps give the hours.",
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
    """The fastest way of reading the slots on a device; without it `grouped`.

    Raises:
        WrongUsage: For a name that is no device.
    """
    import torch

    try:
        found = choose_device(device)
    except CannotRun:
        return "grouped"
    return fastest_reading(found, getattr(torch, dtype), report)
