"""The options of the batch, and what follows from them: its shape, an estimate, a measured rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import click

from gridatlas.meter import report
from gridatlas_reproduce.kv.bench import measured_step, read_bench
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
from gridatlas_reproduce.kv.memory import Batch, Shape, gpu_memory, recorded_rows, rows_for
from gridatlas_reproduce.kv.models import WIDTHS, ModelChoice, load_tokenizer
from gridatlas_reproduce.kv.questions import Profile, Question, prompt_ids
from gridatlas_reproduce.kv.slots import Reading, fastest_reading
from gridatlas_reproduce.kv.sweep import Sweep, question_of
from gridatlas_reproduce.runner.devices import choose_device
from gridatlas_reproduce.runner.engine import WorkerFactory
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.options import NUMBER, RunOptions, grouped, option
from gridatlas_reproduce.runner.records import RunFolder
from gridatlas_reproduce.runner.runs import Manifest
from gridatlas_reproduce.runner.units import Unit

model_option = click.option(
    "--model",
    required=True,
    help="r1-qwen, r1-llama, an id on the hub, or a folder; r1-qwen=FOLDER for a copy of a level.",
)
model_revision_option = click.option(
    "--model-revision", metavar="COMMIT", help="On the hub; else its present one."
)
profile_option = option(
    "--profile",
    type=click.Choice(get_args(Profile)),
    default="official",
    help="How questions are asked. official: the bare question. boxed: asks for a boxed answer.",
)
dtype_option = option(
    "--dtype",
    type=click.Choice(list(WIDTHS)),
    default="float16",
    help="What the model computes with (float16, as published).",
)


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
            step = measured_step(read_bench(self.bench), rows, mean_length(sweep))
            rate = assumed_rate(sweep, shape, step)
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
        rows, reading = self.rows or recorded_rows(options.out), self.reading
        try:
            device = choose_device(options.device)
        except CannotRun as error:
            if rows is None and options.engine == "ray":
                raise CannotRun(
                    "how many rows fit isn't known: there is no GPU here to ask",
                    "the rows of the batch on all machines",
                    "give --rows: --dry-run says how many fit into 80 GB",
                ) from error
            if rows is None:
                raise
            device = None
        if rows is None:
            most, width = self._most(sweep, len(asked)), WIDTHS[sweep.dtype]
            rows = rows_for(choice.shape, width, slots, gpu_memory(device), most)
        if reading == "auto":
            present = device is not None
            reading = fastest_reading(device, sweep.dtype, report) if present else "grouped"
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


_ROWS = (
    "Samples in the batch of slots. [default: those of the run in --out, else as many as fit into "
    "the GPU]"
)
_MEASURE = "Do the first N questions, then tell what all of them take at their rate."
_BENCH = "For --dry-run: the folder of bench_kv.py, whose steps give the hours."
batch_options = grouped(
    BatchOptions,
    "batch",
    [
        option("--rows", type=NUMBER, metavar="N", help=_ROWS),
        option(
            "--reading",
            type=click.Choice(["auto", *get_args(Reading)]),
            default="auto",
            help="How attention reads the slots; varlen needs CUDA.",
        ),
        option("--measure", type=NUMBER, metavar="N", help=_MEASURE),
        option("--bench", type=click.Path(path_type=Path, file_okay=False), help=_BENCH),
        option("--price-per-hour", type=click.FloatRange(0), help="Of the GPU, for --dry-run."),
    ],
)
"""Give a click command these options, as its parameter `batch`."""
