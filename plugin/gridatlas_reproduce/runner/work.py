"""What does the units of a run, group by group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from gridatlas_reproduce.runner.records import Row, RunFolder
from gridatlas_reproduce.runner.units import Unit


class Worker(Protocol):
    """What measures: holds a model, say, and does the units of one group at a time."""

    def work(self, group: Sequence[Unit]) -> Iterator[tuple[Unit, list[Row]]]:
        """Do the units, in any order, and give each as soon as it is done."""
        ...


WorkerFactory = Callable[[], Worker]
"""Makes a worker, in whatever process and on whatever machine it shall work."""


@dataclass(frozen=True, slots=True)
class Devices:
    """What each worker of Ray gets.

    Attributes:
        gpus: GPUs per worker; 0 for a worker on CPUs.
        workers: Number of workers; None for one per GPU, or one CPU worker.
    """

    gpus: float = 1
    workers: int | None = None


def do_groups(
    groups: Sequence[Sequence[Unit]],
    worker_factory: WorkerFactory,
    folder: RunFolder,
    together: int,
    on_unit: Callable[[], None] = lambda: None,
) -> None:
    """Do what of some groups isn't done, in this process, so many groups at a time."""
    left = [group for group in map(folder.missing, groups) if group]
    worker = worker_factory() if left else None
    for start in range(0, len(left), together):
        assert worker is not None
        several = [unit for group in left[start : start + together] for unit in group]
        for unit, rows in worker.work(several):
            folder.write(unit, rows)
            on_unit()
