"""Units done by Ray's workers, each with a GPU, on one or more machines that share a disk.

Ray starts a worker again that is lost, with its process or its machine, and gives it its group
again; a machine that doesn't come back is not waited for while others work. A worker without enough
memory ends no other one, and machines that join later get workers of their own.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gridatlas.meter import Progress, duration
from gridatlas_reproduce.runner.connection import connected
from gridatlas_reproduce.runner.errors import CannotRun, OutOfMemory
from gridatlas_reproduce.runner.records import RunFolder
from gridatlas_reproduce.runner.runs import environment, utc_now
from gridatlas_reproduce.runner.units import Unit
from gridatlas_reproduce.runner.workers import Devices, Worker, WorkerFactory

_TICK = 1.0
"""Seconds between two looks at the records."""
_SEEN_WITHIN = 60.0
"""Seconds within which a file written by another machine is seen here."""
_STALL_WARNING = 300.0
"""Seconds without a worker that is ready after which that is reported."""


class _Host:
    """A worker in a process of Ray, which starts it again where it or its machine is lost."""

    def __init__(self, folder: RunFolder) -> None:
        import ray

        self._folder = folder
        self._worker: Worker | None = None
        if ray.get_runtime_context().was_current_actor_reconstructed:
            folder.report("A worker was lost, and Ray has started it again; its work goes on.")

    def start(self, factory: WorkerFactory) -> Failure | None:
        """Make the worker; not in the constructor, whose errors Ray reports as a lost process."""
        try:
            self._folder.note_environment(environment(), utc_now())
            self._worker = factory()
        except Exception as error:
            return _failure(error)
        return None

    def work(
        self, factory: WorkerFactory, number: int, group: Sequence[Unit]
    ) -> tuple[int, Failure | None]:
        """Do what of a group isn't done; also in a process that Ray has started again."""
        missing = self._folder.missing(group)
        if not missing:
            return number, None
        if self._worker is None and (failed := self.start(factory)) is not None:
            return number, failed
        assert self._worker is not None
        try:
            for unit, rows in self._worker.work(missing):
                self._folder.write(unit, rows)
        except Exception as error:
            return number, _failure(error)
        return number, None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a worker couldn't be made, or couldn't do a group.

    Attributes:
        line: In a line.
        final: What no other worker could do either; it ends the run.
        memory: Whether it is memory that this one lacks.
    """

    line: str
    final: CannotRun | None = None
    memory: bool = False


def _failure(error: Exception) -> Failure:
    if isinstance(error, OutOfMemory):
        return Failure(error.found.split("\n")[0], memory=True)
    if isinstance(error, CannotRun):
        return Failure(error.found, error)
    return Failure(f"{type(error).__name__}: {error}".split("\n")[0])


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
    with connected(address) as ray:
        if devices.gpus and not _room(ray, devices):
            raise CannotRun(
                "Ray knows of no GPU",
                "a GPU for each worker",
                "start Ray on machines with GPUs, or try it with --device cpu",
            )
        _Run(ray, groups, factory, folder, progress, devices, retries).run()


@dataclass(slots=True)
class _Given:
    """A group that a worker has."""

    call: Any
    actor: Any
    group: list[Unit]
    tries: int


class _Run:
    """The groups, and Ray's pool of the workers that are ready; all in one thread."""

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
        from ray.util import ActorPool

        self.ray, self.folder, self.progress = ray, folder, progress
        self.devices, self.retries = devices, retries
        # A process or machine that is lost is Ray's to replace, with the group that it had.
        self.remote = ray.remote(
            num_gpus=devices.gpus, num_cpus=1, max_restarts=-1, max_task_retries=retries
        )(_Host)
        # Not the constructor's: then Ray could start no worker again after a loss of the store.
        self.factory = ray.put(factory)
        self.pool = ActorPool([])
        self.queue = deque((list(group), 0) for group in groups)
        self.starting: dict[Any, Any] = {}
        self.ready: set[Any] = set()
        self.given: dict[int, _Given] = {}
        self.seen: set[Unit] = set()
        self.failed: list[tuple[list[Unit], str]] = []
        self.number = self.not_started = self.out_of_memory = 0
        self.last_error = ""

    def run(self) -> None:
        try:
            self.work()
        finally:
            for actor in [*self.starting.values(), *self.ready]:
                self.ray.kill(actor)
        if self.failed:
            raise self.failure()

    def work(self) -> None:
        idle_since = time.monotonic()
        while self.queue or self.given:
            self.hire()
            if not self.starting and not self.ready:
                raise self.no_worker()
            self.see_started()
            while self.queue and self.pool.has_free():
                self.pool.submit(self.give, self.queue.popleft())
            if not self.queue:
                self.release()
            if self.given:
                self.see_done()
                idle_since = time.monotonic()
            elif time.monotonic() - idle_since > _STALL_WARNING:
                idle_since = time.monotonic()
                self.folder.report(
                    f"No worker is ready for {duration(_STALL_WARNING)}: they are loading, or wait "
                    "for Ray to have room for them. What is done is kept; the run may be stopped "
                    "and taken up later."
                )

    # --- workers ----------------------------------------------------------------------------------

    def hire(self) -> None:
        """Ask for as many workers as there is room for now; machines may have joined later."""
        # Where memory lacks it lacks again: after some tries the other workers go on alone.
        given_up = max(self.not_started + self.out_of_memory - self.retries, 0)
        room = _room(self.ray, self.devices) - given_up - len(self.starting) - len(self.ready)
        free = len(self.starting) + len(self.ready) - len(self.given)
        for _ in range(min(room, len(self.queue) - free)):
            actor = self.remote.remote(self.folder)
            self.starting[actor.start.remote(self.factory)] = actor

    def see_started(self) -> None:
        """Take those into the pool that are ready."""
        if not self.starting:
            return
        wait = 0 if self.given or self.pool.has_free() else _TICK
        done, _ = self.ray.wait([*self.starting], num_returns=len(self.starting), timeout=wait)
        for call in done:
            actor = self.starting.pop(call)
            failure = self.outcome(call)
            if failure is None:
                self.ready.add(actor)
                self.pool.push(actor)
                continue
            self.ray.kill(actor)
            if failure.final is not None:
                raise failure.final
            self.not_started += 1
            self.last_error = failure.line
            self.folder.report(f"A worker can't start: {failure.line}")

    def outcome(self, call: Any) -> Failure | None:
        """How a start ended; a lost process counts as a failure, too."""
        try:
            found: Failure | None = self.ray.get(call)
        except self.ray.exceptions.RayError as error:
            return _lost(error)
        return found

    def release(self) -> None:
        """Let idle workers go: one that Ray starts again may need the room."""
        while (actor := self.pool.pop_idle()) is not None:
            self.dismiss(actor)

    def dismiss(self, actor: Any) -> None:
        self.ready.discard(actor)
        self.ray.kill(actor)

    # --- groups -----------------------------------------------------------------------------------

    def give(self, actor: Any, task: tuple[list[Unit], int]) -> Any:
        """Give a worker a group; called by the pool."""
        group, tries = task
        number = self.number
        self.number += 1
        call = actor.work.remote(self.factory, number, group)
        self.given[number] = _Given(call, actor, group, tries)
        return call

    def see_done(self) -> None:
        """Wait a moment for a group that is done, or failed."""
        try:
            number, failure = self.pool.get_next_unordered(timeout=_TICK)
        except TimeoutError:
            for given in self.given.values():
                self.count(given.group)
            return
        except self.ray.exceptions.RayError as error:
            number, failure = self.lost(), _lost(error)
        given = self.given.pop(number)
        self.count(given.group)
        if failure is None:
            self.see(given.group)
            self.count(given.group)
            return
        if failure.final is not None:
            raise failure.final
        self.last_error = failure.line
        self.try_again(given, failure)

    def lost(self) -> int:
        """The number of a group whose worker was lost too often: the pool doesn't say which."""
        for number, given in self.given.items():
            if not self.ray.wait([given.call], timeout=0)[0]:
                continue
            try:
                self.ray.get(given.call)
            except self.ray.exceptions.RayError:
                return number
        raise AssertionError("no group was lost")

    def try_again(self, given: _Given, failure: Failure) -> None:
        """Give a group out again, after all others, and replace the worker's process."""
        self.out_of_memory += failure.memory
        idle = self.pool.pop_idle()
        if idle == given.actor:
            # What a process's state is after an error (a GPU's above all) nobody knows.
            self.dismiss(given.actor)
        elif idle is not None:
            self.pool.push(idle)  # the other one was lost, and Ray starts it again
        if given.tries < self.retries:
            self.folder.report(f"A worker failed ({failure.line}); its work is given out again.")
            self.queue.append((given.group, given.tries + 1))
        else:
            self.failed.append((given.group, failure.line))

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
            f"no worker can be started: {self.last_error}",
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


def _lost(error: Exception) -> Failure:
    """A process or machine that was lost too often, or code that can't be loaded there."""
    lines = str(error).strip().split("\n")
    # Of a process that didn't start, Ray gives the traceback, with its cause at the end.
    return Failure(lines[-1 if getattr(error, "actor_init_failed", False) else 0].strip())


def _room(ray: Any, devices: Devices) -> int:
    """How many workers there are to be on the machines that Ray has now."""
    resources = ray.cluster_resources()
    if not devices.gpus:
        return min(devices.workers or 1, max(int(resources.get("CPU", 0)), 1))
    available = int(resources.get("GPU", 0) / devices.gpus)
    return min(available, devices.workers or available)
