"""Units done by Ray's workers, each with a GPU, on one or more machines that share a disk.

A worker that is lost, with its process or its machine, is replaced, and its group is given to
another one; a machine that doesn't come back is not waited for while others work.
"""

from __future__ import annotations

import os
import socket
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gridatlas.reproduce.runner.errors import CannotRun
from gridatlas.reproduce.runner.progress import Progress, duration
from gridatlas.reproduce.runner.records import RunFolder
from gridatlas.reproduce.runner.runs import environment, utc_now
from gridatlas.reproduce.runner.units import Unit
from gridatlas.reproduce.runner.workers import Devices, WorkerFactory

_TICK = 1.0
"""Seconds between two looks at the records."""
_SEEN_WITHIN = 60.0
"""Seconds within which a file written by another machine is seen here."""
_ANSWERS_WITHIN = 10.0
"""Seconds within which a cluster answers."""
_STALL_WARNING = 300.0
"""Seconds without a worker that is ready after which that is reported."""


class _Host:
    """A worker in a process of Ray."""

    def __init__(self, factory: WorkerFactory, folder: RunFolder) -> None:
        self._factory, self._folder = factory, folder

    def start(self) -> None:
        """Make the worker; not in the constructor, whose errors Ray tells as a lost process."""
        self._folder.note_environment(environment(), utc_now())
        self._worker = self._factory()

    def work(self, group: Sequence[Unit]) -> None:
        """Do what of a group isn't done."""
        missing = self._folder.missing(group)
        if missing:
            for unit, rows in self._worker.work(missing):
                self._folder.write(unit, rows)


def run_on_ray(
    groups: Sequence[Sequence[Unit]],
    factory: WorkerFactory,
    folder: RunFolder,
    progress: Progress,
    address: str | None,
    devices: Devices,
    retries: int,
) -> None:
    """Do all groups; see `run_units`.

    Raises:
        CannotRun: For no Ray, no cluster or no GPU, for a worker's own such error at once, and at
            the end for groups that failed `retries` + 1 times.
    """
    with _cluster(address) as ray:
        number = min(_workers(ray, devices), len(groups))
        _Pool(ray, groups, factory, folder, progress, devices, retries).run(number)


class _Pool:
    """Workers, and the groups they have; all in one thread."""

    def __init__(
        self,
        ray: Any,
        groups: Sequence[Sequence[Unit]],
        factory: WorkerFactory,
        folder: RunFolder,
        progress: Progress,
        devices: Devices,
        retries: int,
    ) -> None:
        self.ray, self.folder, self.progress, self.retries = ray, folder, progress, retries
        resources = {"num_gpus": devices.gpus, "num_cpus": 1}
        self.remote = ray.remote(**resources)(_Host)
        self.arguments = ray.put(factory), folder
        self.queue = deque((list(group), 0) for group in groups)
        self.starting: dict[Any, Any] = {}
        self.working: dict[Any, tuple[Any, list[Unit], int]] = {}
        self.seen: set[Unit] = set()
        self.failed: list[tuple[list[Unit], str]] = []
        self.lost_while_starting = 0
        self.start_error = ""

    def run(self, workers: int) -> None:
        for _ in range(workers):
            self.add()
        try:
            self.work()
        finally:
            for actor in [*self.starting.values(), *(actor for actor, *_ in self.working.values())]:
                self.ray.kill(actor)
        if self.failed:
            raise self.failure()

    def work(self) -> None:
        idle_since = time.monotonic()
        while self.queue or self.working:
            pending = [*self.starting, *self.working]
            if not pending:
                raise self.no_worker()
            ready, _ = self.ray.wait(pending, num_returns=1, timeout=_TICK)
            for done in ready:
                if done in self.starting:
                    self.started(done)
                else:
                    self.finished(done)
            for _, group, _ in self.working.values():
                self.count(group)
            if self.working:
                idle_since = time.monotonic()
            elif time.monotonic() - idle_since > _STALL_WARNING:
                idle_since = time.monotonic()
                self.folder.report(
                    f"No worker is ready for {duration(_STALL_WARNING)}: they are loading, or wait "
                    "for Ray to have room for them. What is done is kept; the run may be stopped "
                    "and taken up later."
                )

    def add(self) -> None:
        """Ask for a worker; Ray starts it as soon as there is room."""
        actor = self.remote.remote(*self.arguments)
        self.starting[actor.start.remote()] = actor

    def give(self, actor: Any) -> None:
        """Give a worker the next group, or let it go."""
        if not self.queue:
            self.ray.kill(actor)
            return
        group, tries = self.queue.popleft()
        self.working[actor.work.remote(group)] = (actor, group, tries)

    def started(self, done: Any) -> None:
        actor = self.starting.pop(done)
        error = self.error_of(done)
        if error is None:
            self.lost_while_starting = 0
            self.give(actor)
            return
        self.lost_while_starting += 1
        self.start_error = error
        if self.lost_while_starting <= self.retries:
            self.add()

    def finished(self, done: Any) -> None:
        actor, group, tries = self.working.pop(done)
        error = self.error_of(done)
        if error is None:
            self.see(group)
            self.count(group)
            self.give(actor)
            return
        # What the process's state is after an error (a GPU's above all) nobody knows: a new one.
        self.ray.kill(actor)
        if tries < self.retries:
            self.folder.report(f"A worker was lost ({error}); its work is given to another one.")
            self.queue.appendleft((group, tries + 1))
        else:
            self.failed.append((group, error))
        if len(self.starting) + len(self.working) < len(self.queue):
            self.add()

    def error_of(self, done: Any) -> str | None:
        """Why a call failed, in a line; None where it didn't. What can't be fixed is raised."""
        try:
            self.ray.get(done)
        except self.ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, CannotRun):
                raise error.cause from None
            return f"{type(error.cause).__name__}: {error.cause}".split("\n")[0]
        except self.ray.exceptions.RayError as error:
            lines = str(error).strip().split("\n")
            # Of a process that didn't start, Ray gives the traceback, with its cause at the end.
            return lines[-1 if getattr(error, "actor_init_failed", False) else 0].strip()
        return None

    def see(self, group: Sequence[Unit]) -> None:
        """Make sure that what a worker wrote is to be seen here.

        Raises:
            CannotRun: Where it isn't: the folder isn't shared.
        """
        end = time.monotonic() + _SEEN_WITHIN
        while any(not self.folder.path(unit).exists() for unit in group):
            if time.monotonic() > end:
                raise CannotRun(
                    f"a worker has written records, and they aren't in {self.folder.folder} here",
                    "a folder that all machines share",
                    "name one with --out, on a network file system",
                )
            time.sleep(_TICK)

    def count(self, group: Sequence[Unit]) -> None:
        """Count the units of a group that were done since."""
        new = {u for u in group if u not in self.seen and self.folder.path(u).exists()}
        self.seen |= new
        self.progress.advance(len(new))

    def no_worker(self) -> CannotRun:
        return CannotRun(
            f"no worker can be started: {self.start_error}",
            "a process that holds the model",
            "try it with --engine local, and see whether the memory suffices",
        )

    def failure(self) -> CannotRun:
        group, error = self.failed[0]
        what = f"{group[0].levels}" + ("" if group[0].item is None else f", {group[0].item}")
        number, of = len(self.failed), self.retries + 1
        groups = "1 group" if number == 1 else f"{number} groups"
        return CannotRun(
            f"{groups} of units failed {of} time{'s' if of > 1 else ''}, "
            f"{'' if number == 1 else 'the first '}with {what}: {error}",
            "all units done; the others are",
            "give the command again to try only these, with --engine local to see the whole error",
        )


@contextmanager
def _cluster(address: str | None) -> Iterator[Any]:
    """Ray, connected; a Ray that was connected before is left so."""
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
        ray.init(
            address=address,
            include_dashboard=None if address else False,
            configure_logging=True,
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


def _workers(ray: Any, devices: Devices) -> int:
    if devices.workers is not None and not devices.gpus:
        return devices.workers
    if not devices.gpus:
        return 1
    available = int(ray.cluster_resources().get("GPU", 0) / devices.gpus)
    if not available:
        raise CannotRun(
            "Ray knows of no GPU",
            "a GPU for each worker",
            "start Ray on machines with GPUs, or try it with --device cpu",
        )
    return min(available, devices.workers or available)
