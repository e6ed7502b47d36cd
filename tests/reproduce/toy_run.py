"""A script as the evaluation scripts are, whose model is a hash: quick, and the same every time."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from gridatlas_reproduce.runner.options import RunOptions, run_options
from gridatlas_reproduce.runner.records import Row, Unit, seed_of
from gridatlas_reproduce.runner.runs import manifest

RATIOS, WINDOWS = ("0.1", "0.2"), ("500", "1000")


def toy_units(items: int, samples: int) -> list[Unit]:
    return [
        Unit((("model", "toy"), ("local_window", window), ("ratio", ratio)), f"q{item}", samples)
        for item in range(items)
        for window in WINDOWS
        for ratio in RATIOS
    ]


def toy_rows(unit: Unit, seed: int) -> list[Row]:
    """Rows that depend on the unit and the seed alone, but for the seconds."""
    assert unit.item is not None
    rows = []
    for sample in range(unit.rows):
        own = seed_of(seed, unit.item, sample)
        drawn = hashlib.sha256(f"{own} {unit.cell}".encode()).digest()[0]
        rows.append(
            Row(
                item=unit.item,
                sample=sample,
                seed=own,
                text=f"It is\n{drawn} — “so”",
                tokens=drawn,
                finish="stop",
                prediction=str(drawn % 2),
                gold="1",
                correct=drawn % 2 == 1,
                seconds=time.perf_counter(),
            )
        )
    return rows


@dataclass(frozen=True)
class ToyWorker:
    """Does units; may be told to end its process, or to wait, in the middle of a group.

    Attributes:
        trap: A folder; the first process that takes a file away from it ends at once.
    """

    seed: int
    delay: float = 0.0
    trap: Path | None = None

    def work(self, group: Sequence[Unit]) -> Iterator[tuple[Unit, list[Row]]]:
        for number, unit in enumerate(group):
            if number == 1 and self.trap is not None and _sprung(self.trap):
                os._exit(1)
            time.sleep(self.delay)
            yield unit, toy_rows(unit, self.seed)


def _sprung(trap: Path) -> bool:
    for file in trap.iterdir():
        try:
            file.unlink()
        except FileNotFoundError:
            continue
        return True
    return False


@dataclass(frozen=True)
class ToyFactory:
    seed: int
    delay: float = 0.0
    trap: Path | None = None

    def __call__(self) -> ToyWorker:
        return ToyWorker(self.seed, self.delay, self.trap)


@dataclass(frozen=True)
class FailingFactory:
    """Makes workers that raise an error at one item."""

    error: Exception
    at: str = "q2"
    in_factory: bool = False

    def __call__(self) -> FailingFactory:
        if self.in_factory:
            raise self.error
        return self

    def work(self, group: Sequence[Unit]) -> Iterator[tuple[Unit, list[Row]]]:
        for unit in group:
            if unit.item == self.at:
                raise self.error
            yield unit, toy_rows(unit, 0)


@dataclass(frozen=True)
class FileReporter:
    """Reports into a file: also from other processes."""

    file: Path

    def __call__(self, message: str) -> None:
        with self.file.open("a") as file:
            file.write(f"{message}\n")


@click.command()
@click.option("--items", type=int, default=6)
@click.option("--samples", type=int, default=3)
@click.option("--delay", type=float, default=0.0)
@click.option("--trap", type=click.Path(path_type=Path))
@run_options("runs/toy", device="cpu")
def main(items: int, samples: int, delay: float, trap: Path | None, options: RunOptions) -> None:
    units = toy_units(options.limit or items, samples)
    if options.dry_run:
        click.echo(f"{len(units)} units")
        return
    settings = {"items": items, "samples": samples} | options.settings()
    about = manifest("demo", "toy_run", settings, units, seeds=options.seed)
    factory = ToyFactory(options.seed, delay, trap)
    options.run(about, units, factory, key=lambda unit: unit.item)


if __name__ == "__main__":
    main()
