"""Do the units of a run: here, one after the other, or on several GPUs and machines with Ray.

The records on disk are the truth: whatever is there isn't done again, and whoever stops loses at
most the unit in work.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from gridatlas.meter import Progress
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.records import Row, RunFolder
from gridatlas_reproduce.runner.runs import environment, utc_now
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
            run_on_ray(left, factory, folder, together, pool, shown)
        else:
            do_groups(left, factory, folder, together, shown.advance)
    finally:
        shown.finish()
    return number


_TICK = 1.0
"""Seconds between two looks at the records."""
_ANSWERS_WITHIN = 10.0
"""Seconds within which a cluster answers."""


def _task(
    groups: Sequence[Sequence[Unit]], factory: WorkerFactory, folder: RunFolder, together: int
) -> CannotRun | None:
    """Do a shard; why it can't be done is given back, for Ray would make another error of it."""
    try:
        folder.note_environment(environment(), utc_now())
        do_groups(groups, factory, folder, together)
    except CannotRun as error:
        return error
    return None


def run_on_ray(
    groups: Sequence[Sequence[Unit]],
    factory: WorkerFactory,
    folder: RunFolder,
    together: int,
    pool: Pool,
    progress: Progress,
) -> None:
    """Do all groups; see `run_units`.

    Raises:
        CannotRun: For no Ray, no cluster or no GPU, for a worker's own such error, and at the end
            for a shard that failed, or was lost `pool.retries` + 1 times.
    """
    with connected(pool.address) as ray:
        present = int(ray.cluster_resources().get("GPU", 0) / pool.gpus) if pool.gpus else 1
        if not present:
            raise CannotRun(
                "Ray knows of no GPU",
                "a GPU for each worker",
                "start Ray on machines with GPUs, or try it with --device cpu",
            )
        shards = min(pool.workers or present, len(groups))
        run = ray.remote(num_gpus=pool.gpus, num_cpus=1, max_retries=pool.retries)(_task)
        shared = ray.put(factory)
        given = (shared, folder, together)
        left = [run.remote(groups[shard::shards], *given) for shard in range(shards)]
        every = [unit for group in groups for unit in group]
        seen, failed = 0, ""
        refused: CannotRun | None = None
        while left:
            done, left = ray.wait(left, timeout=_TICK)
            names = folder.written()
            before, seen = seen, sum(unit.path.rpartition("/")[2] in names for unit in every)
            progress.advance(seen - before)
            for task in done:
                try:
                    refused = ray.get(task) or refused
                except ray.exceptions.RayError as error:
                    lines = str(getattr(error, "cause", error)).splitlines()
                    failed = f"{type(getattr(error, 'cause', error)).__name__}: {lines[0]}"
                    folder.report(f"A worker failed ({failed}); the others go on.")
    missing = folder.missing(every)
    if missing and refused is not None:
        raise refused
    if missing:
        raise CannotRun(
            f"{len(missing):,} of {len(every):,} units aren't in {folder.folder}"
            + (f": {failed}" if failed else ""),
            "all units done, in a folder that all machines share",
            "give the command again: it does what is missing; --engine local shows a whole error",
        )


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Ray, on this machine or with a cluster that runs; one that was connected before stays so."""
    if address is not None:
        _look_for(address)
    # It would send figures about its use to its makers.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Else workers without a GPU would not see one that PyTorch asks for.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise CannotRun(
            "Ray isn't installed",
            "the extra reproduce",
            'pip install "/path/to/grid-atlas[reproduce]", or --engine local',
        ) from error
    if ray.is_initialized():
        yield ray
        return
    try:
        # Without an address Ray would join a cluster that somebody else runs on this machine.
        ray.init(
            address=address or "local",
            include_dashboard=None if address else False,
            logging_level="error",
        )
    except Exception as error:  # Ray raises bare ones, too
        why = f"{type(error).__name__}: {error}".splitlines()[0]
        if address is not None:
            raise _no_cluster(address, why) from error
        raise CannotRun(
            f"Ray doesn't start: {why}", "Ray on this machine", "try it with --engine local"
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _look_for(address: str) -> None:
    """Raise CannotRun where nothing answers at HOST:PORT; Ray itself tries for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return  # `auto`, or one that Ray judges
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWERS_WITHIN).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, str(error)) from error


def _no_cluster(address: str, why: str) -> CannotRun:
    return CannotRun(
        f"no Ray cluster answers at {address}: {why}",
        "a running cluster",
        "start it with ray start --head, and give its address, or leave --address out",
    )
