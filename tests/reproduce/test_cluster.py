"""Ray: a lost process, a lost machine and a failing worker lose nothing that was done."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import tiny
import toy_run
from click.testing import CliRunner
from test_kv_sweep import SMALL, page, read
from toy_run import ToyFactory, ToyWorker, toy_rows, toy_units

from conftest import MakeRun
from gridatlas_reproduce.runner import cluster
from gridatlas_reproduce.runner.engine import run_units
from gridatlas_reproduce.runner.errors import CannotRun, OutOfMemory
from gridatlas_reproduce.runner.records import Row, RunFolder, Unit
from gridatlas_reproduce.runner.workers import Devices

# Ray's own warnings aren't ours to fix.
pytestmark = pytest.mark.filterwarnings("ignore")

UNITS = toy_units(6, 2)
"""Six groups of four units."""
ON_CPU = Devices(gpus=0, workers=2)


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """Ray on one machine that plays two: each has room for one worker."""
    import ray
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        # The workers import this file.
        patch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
        # A lost machine is noticed within seconds, not half a minute, and a slow one isn't lost.
        patch.setenv("RAY_health_check_initial_delay_ms", "0")
        patch.setenv("RAY_health_check_period_ms", "500")
        patch.setenv("RAY_health_check_failure_threshold", "10")
        machines = _two_machines(Cluster)
        ray.init(address=machines.address, logging_level="error", log_to_driver=False)
        ray.machines = machines
        yield ray
        ray.shutdown()
        machines.shutdown()


def _two_machines(make: Any) -> Any:
    head = {"num_cpus": 1, "include_dashboard": False}
    for last in (False, True):
        machines = make()
        try:
            machines.add_node(**head)
            machines.add_node(num_cpus=1)
        except Exception:  # Ray gives a machine 30 s to start, which a busy one may not make
            machines.shutdown()
            if last:
                raise
        else:
            return machines
    raise AssertionError


def item_of(unit: Unit) -> str | None:
    return unit.item


def run(folder: RunFolder, factory: Any, **more: Any) -> int:
    return run_units(
        UNITS,
        factory,
        folder=folder,
        key=item_of,
        engine="ray",
        **({"devices": ON_CPU, "retries": 2} | more),
    )


def outcomes(folder: RunFolder) -> list[list[tuple[str, int, int]]]:
    return [[(row.text, row.sample, row.seed) for row in folder.read(unit)] for unit in UNITS]


def expected() -> list[list[tuple[str, int, int]]]:
    return [[(row.text, row.sample, row.seed) for row in toy_rows(unit, 0)] for unit in UNITS]


def test_a_crashed_worker_is_replaced(ray: Any, make_run: MakeRun, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.mkdir()
    (trap / "1").touch()
    (trap / "2").touch()
    folder = make_run(UNITS, but=UNITS[3:], name="run")
    log = folder.folder / "told"
    assert run(_reporting(folder, log), ToyFactory(0, trap=trap)) == len(UNITS) - 3
    assert list(trap.iterdir()) == []
    assert log.read_text().count("A worker was lost, and Ray has started it again") == 2
    assert outcomes(folder) == expected()


@dataclass(frozen=True)
class Failing:
    """Makes workers that raise an error at one item."""

    error: Exception
    at: str = "q2"
    in_factory: bool = False

    def __call__(self) -> Failing:
        if self.in_factory:
            raise self.error
        return self

    def work(self, group: Sequence[Unit]) -> Iterator[tuple[Unit, list[Row]]]:
        for unit in group:
            if unit.item == self.at:
                raise self.error
            yield unit, toy_rows(unit, 0)


def test_what_a_worker_cannot_do_is_told_at_once(ray: Any, make_run: MakeRun) -> None:
    folder = make_run(UNITS, but=UNITS)
    error = CannotRun("no model is at ./model", "a model", "name another one")
    with pytest.raises(CannotRun) as raised:
        run(folder, Failing(error, in_factory=True))
    assert raised.value.message == error.message


def test_a_group_that_fails_again_and_again_is_told_at_the_end(ray: Any, make_run: MakeRun) -> None:
    folder = make_run(UNITS, but=UNITS)
    with pytest.raises(CannotRun) as raised:
        run(folder, Failing(ValueError("odd\nvalue")), retries=1)
    assert raised.value.found == (
        "1 group of units failed 2 times, with {'local_window': '500', 'model': 'toy', "
        "'ratio': '0.1'}, q2: ValueError: odd"
    )
    assert {unit.item for unit in folder.missing(UNITS)} == {"q2"}


@dataclass(frozen=True)
class Cramped:
    """Makes workers of which the first one alone has too little memory, from the start or later."""

    taken: Path
    in_factory: bool

    def __call__(self) -> Cramped | ToyWorker:
        try:
            self.taken.touch(exist_ok=False)
        except FileExistsError:
            return ToyWorker(0, delay=0.05)
        if self.in_factory:
            raise _no_memory()
        return self

    def work(self, group: Sequence[Unit]) -> Iterator[tuple[Unit, list[Row]]]:
        yield group[0], toy_rows(group[0], 0)
        raise _no_memory()


def _no_memory() -> OutOfMemory:
    return OutOfMemory("the GPU's memory ran out", "room", "give --rows 4")


@pytest.mark.parametrize("in_factory", [True, False], ids=["starting", "working"])
def test_a_worker_out_of_memory_ends_no_other(
    ray: Any, make_run: MakeRun, tmp_path: Path, in_factory: bool
) -> None:
    folder, log = make_run(UNITS, but=UNITS), tmp_path / "told"
    assert run(_reporting(folder, log), Cramped(tmp_path / "taken", in_factory)) == len(UNITS)
    what = "A worker can't start: " if in_factory else "A worker failed ("
    assert log.read_text().count(f"{what}the GPU's memory ran out") == 1
    assert outcomes(folder) == expected()


def test_too_little_memory_everywhere_is_told(ray: Any, make_run: MakeRun) -> None:
    with pytest.raises(CannotRun, match="no worker can be started: the GPU's memory ran out"):
        run(make_run(UNITS, but=UNITS), Failing(_no_memory(), in_factory=True), retries=1)


def test_a_worker_that_cannot_start_is_told(ray: Any, make_run: MakeRun) -> None:
    folder = make_run(UNITS, but=UNITS)
    with pytest.raises(CannotRun, match="no worker can be started: ValueError: odd"):
        run(folder, Failing(ValueError("odd"), in_factory=True), retries=0)


def test_without_a_gpu_in_the_cluster_that_is_told(ray: Any, make_run: MakeRun) -> None:
    with pytest.raises(CannotRun, match="Ray knows of no GPU"):
        run(make_run(UNITS, but=UNITS), ToyFactory(0), devices=Devices())


def test_a_folder_that_is_not_shared_is_told(
    ray: Any, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_run(UNITS, but=UNITS)
    monkeypatch.setattr(cluster, "_SEEN_WITHIN", 0.0)
    # The workers have a RunFolder of their own, so this is as if the driver saw another disk.
    monkeypatch.setattr(RunFolder, "path", lambda self, unit: Path("/nowhere") / unit.path)
    with pytest.raises(CannotRun, match=r"they aren't in .* here"):
        run(folder, ToyFactory(0))


def test_the_command_joins_a_cluster(ray: Any, tmp_path: Path) -> None:
    command = [sys.executable, toy_run.__file__, "--out", str(tmp_path / "run"), "--engine", "ray"]
    address = ("--address", ray.machines.address, "--workers", "2")
    done = subprocess.run([*command, *address], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1].startswith("24 of 24 units")
    assert len(list((tmp_path / "run/records").glob("*.jsonl"))) == 24


def test_the_sweep_gives_the_records_of_one_process(ray: Any, tmp_path: Path) -> None:
    """In one shape: the same rows and slots."""
    model = tiny.save_tiny(tmp_path / "qwen2", "qwen2")
    lines = [{"id": f"q{i}", "question": f"what is {i}+{i}?", "answer": i + i} for i in range(8)]
    data = tmp_path / "q.jsonl"
    data.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    given = ["--model", f"r1-qwen={model}", "--benchmark", "sums", "--data", str(data)]
    given += [*SMALL, "--scorer", "r-kv", "--rows", "8"]
    for name, more in (("here", []), ("ray", ["--engine", "ray", "--workers", "2"])):
        out = ["--out", str(tmp_path / name)]
        done = CliRunner().invoke(page("kv_sweep").main, [*given, *more, *out])
        assert done.exit_code == 0, done.output
    assert read(tmp_path / "ray") == read(tmp_path / "here")


@dataclass(frozen=True)
class Meeting:
    """Makes workers that don't end a group before there are two of them, each in its process."""

    met: Path

    def __call__(self) -> Meeting:
        (self.met / str(os.getpid())).touch()
        return self

    def work(self, group: Sequence[Unit]) -> Iterator[tuple[Unit, list[Row]]]:
        for unit in group:
            yield unit, toy_rows(unit, 0)
            _wait_until(lambda: len(list(self.met.iterdir())) == 2, seconds=120)


def test_a_machine_that_joins_later_gets_a_worker(
    ray: Any, make_run: MakeRun, tmp_path: Path
) -> None:
    for machine in list(ray.machines.worker_nodes):
        ray.machines.remove_node(machine)
    _wait_until(lambda: ray.cluster_resources().get("CPU") == 1)
    folder, met = make_run(UNITS, but=UNITS), tmp_path / "met"
    met.mkdir()
    log = tmp_path / "told"
    # Ray starts machines in the main thread only.
    running = threading.Thread(target=run, args=(_reporting(folder, log), Meeting(met)))
    running.start()
    _wait_until(lambda: bool(_begun_groups(folder)))
    assert len(list(met.iterdir())) == 1
    ray.machines.add_node(num_cpus=1)
    running.join()
    assert "A worker" not in log.read_text()
    assert len(list(met.iterdir())) == 2
    assert outcomes(folder) == expected()


# Last, for it takes one of the two machines away.
def test_a_lost_machine_is_done_without(ray: Any, make_run: MakeRun, tmp_path: Path) -> None:
    folder = make_run(UNITS, but=UNITS)
    # Another machine in place of the second one, which workers of the tests before may still hold.
    for machine in list(ray.machines.worker_nodes):
        ray.machines.remove_node(machine)
    machine = ray.machines.add_node(num_cpus=1)
    _wait_until(lambda: ray.available_resources().get("CPU") == 2)

    def lose() -> None:
        # Two groups begun and not ended: both machines have a worker that is amid its work.
        _wait_until(lambda: len(_begun_groups(folder)) == 2)
        ray.machines.remove_node(machine, allow_graceful=False)

    losing = threading.Thread(target=lose)
    losing.start()
    log = tmp_path / "told"
    assert run(_reporting(folder, log), ToyFactory(0, delay=0.6)) == len(UNITS)
    losing.join()
    assert re.search(
        r"A worker (was lost, and Ray has started it again|failed \()", log.read_text()
    )
    assert outcomes(folder) == expected()


def _begun_groups(folder: RunFolder) -> set[str | None]:
    """The items of the groups with some of their units done, and not all."""
    missing = {unit.item for unit in folder.missing(UNITS)}
    return {unit.item for unit in UNITS if folder.path(unit).exists()} & missing


def _wait_until(reached: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.01)


@dataclass(frozen=True)
class _FileReporter:
    file: Path

    def __call__(self, message: str) -> None:
        with self.file.open("a") as file:
            file.write(f"{message}\n")


def _reporting(folder: RunFolder, file: Path) -> RunFolder:
    """The folder, reporting what it has to report into a file: also from other processes."""
    return RunFolder(folder.folder, folder.run, folder.settings, _FileReporter(file))
