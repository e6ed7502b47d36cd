"""A run's shards as tasks of Ray, each with a GPU, on machines that share a disk.

Ray gives them out as there is room, and again where a process or a machine was lost. What is done
is in the records, so that a task which begins anew goes on with what is missing.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gridatlas.meter import Progress
from gridatlas_reproduce.runner.engine import Pool, WorkerFactory, do_groups
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.records import RunFolder
from gridatlas_reproduce.runner.runs import environment, utc_now
from gridatlas_reproduce.runner.units import Unit

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
