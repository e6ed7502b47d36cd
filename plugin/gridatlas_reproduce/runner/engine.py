"""Do the units of a run: here, one after the other, or on several GPUs and machines with Ray.

The records on disk are the truth: whatever is there isn't done again, and whoever stops loses at
most the unit in work.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from gridatlas.meter import Progress
from gridatlas_reproduce.runner.records import Row, RunFolder
from gridatlas_reproduce.runner.units import Unit

Engine = Literal["local", "ray"]
Shard = tuple[int, int]
"""(i, n): this process does the i-th of n parts, from 1."""


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


def groups_of(
    units: Iterable[Unit], key: Callable[[Unit], Hashable] | None, shard: Shard | None = None
) -> list[list[Unit]]:
    """The groups that are done together, in the order of their first units.

    A shard is every n-th group of all, whatever is done already, so that the shards of a run never
    share a unit.
    """
    groups: dict[Hashable, list[Unit]] = {}
    for unit in units:
        groups.setdefault(unit if key is None else key(unit), []).append(unit)
    every = list(groups.values())
    if shard is None:
        return every
    part, of = shard
    if not 1 <= part <= of:
        raise ValueError(f"shard {part} of {of}")
    return every[part - 1 :: of]


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


def run_units(
    units: Sequence[Unit],
    worker_factory: WorkerFactory,
    *,
    folder: RunFolder,
    key: Callable[[Unit], Hashable] | None = None,
    engine: Engine = "local",
    address: str | None = None,
    shard: Shard | None = None,
    devices: Devices | None = None,
    retries: int = 3,
    together: int = 1,
    progress: Callable[[int, int], Progress] = Progress,
) -> int:
    """Do all units of the shard that aren't done.

    Args:
        worker_factory: Makes the worker; called only where something is left to do.
        key: Units with the same key are a group: what is best done together, such as all cells of
            one question. Without it each unit is one.
        engine: `local`: in this process. `ray`: a worker per GPU.
        address: Of a Ray cluster; without it Ray is started on this machine.
        devices: Of Ray's workers.
        together: Groups that a worker is given at a time, for one that does several at once.
        retries: How often a group is tried again after a worker was lost (Ray).
        progress: Given how many units there are and how many are done, shows how far it is.

    Returns:
        The number of units that were done.

    Raises:
        CannotRun: Where it can't go on; what was done is kept.
    """
    groups = groups_of(units, key, shard)
    left = [group for group in map(folder.missing, groups) if group]
    of, number = sum(map(len, groups)), sum(map(len, left))
    shown = progress(of, of - number)
    try:
        if left and engine == "ray":
            from gridatlas_reproduce.runner.cluster import run_on_ray

            run_on_ray(
                left,
                worker_factory,
                folder,
                shown,
                address,
                devices or Devices(),
                retries,
                together,
            )
        else:
            do_groups(left, worker_factory, folder, together, shown.advance)
    finally:
        shown.finish()
    return number
