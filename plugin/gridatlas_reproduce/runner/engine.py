"""Do the units of a run: here, one after the other, or on several GPUs and machines with Ray.

The records on disk are the truth: whatever is there isn't done again, and whoever stops loses at
most the unit in work.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from gridatlas.meter import Progress
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
class Pool:
    """Ray's workers.

    Attributes:
        address: Of a Ray cluster; without it Ray is started on this machine.
        gpus: Per worker; 0 for a worker on CPUs.
        workers: Number of workers; None for one per GPU, or one CPU worker.
        retries: How often work is tried again after a worker was lost.
    """

    address: str | None = None
    gpus: float = 1
    workers: int | None = None
    retries: int = 3


def do_groups(
    groups: Sequence[Sequence[Unit]],
    factory: WorkerFactory,
    folder: RunFolder,
    together: int,
    on_unit: Callable[[], None] = lambda: None,
) -> None:
    """Do what of some groups isn't done, in this process, so many groups at a time."""
    left = [group for group in map(folder.missing, groups) if group]
    worker = factory() if left else None
    for start in range(0, len(left), together):
        assert worker is not None
        several = [unit for group in left[start : start + together] for unit in group]
        for unit, rows in worker.work(several):
            folder.write(unit, rows)
            on_unit()


Shard = tuple[int, int]
"""(i, n): this process does the i-th of n parts, from 1."""


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
    part, of = shard or (1, 1)
    if not 1 <= part <= of:
        raise ValueError(f"shard {part} of {of}")
    return every[part - 1 :: of]


def run_units(
    units: Sequence[Unit],
    factory: WorkerFactory,
    folder: RunFolder,
    key: Callable[[Unit], Hashable] | None = None,
    *,
    shard: Shard | None = None,
    together: int = 1,
    pool: Pool | None = None,
) -> int:
    """Do all units of the shard that aren't done.

    Args:
        factory: Makes the worker; called only where something is left to do.
        key: Units with the same key are a group: what is best done together, such as all cells of
            one question. Without it each unit is one.
        together: Groups that a worker is given at a time, for one that does several at once.
        pool: Of Ray; without it units are done in this process.

    Returns:
        The number of units that were done.

    Raises:
        CannotRun: Where it can't go on; what was done is kept.
    """
    groups = groups_of(units, key, shard)
    left = [group for group in map(folder.missing, groups) if group]
    of, number = sum(map(len, groups)), sum(map(len, left))
    shown = Progress(of, of - number)
    try:
        if left and pool is not None:
            from gridatlas_reproduce.runner.cluster import run_on_ray

            run_on_ray(left, factory, folder, together, pool, shown)
        else:
            do_groups(left, factory, folder, together, shown.advance)
    finally:
        shown.finish()
    return number
