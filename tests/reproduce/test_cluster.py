"""Ray: a lost process, a lost machine and a failing worker lose nothing that was done."""

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
import toy_run
from toy_run import FailingFactory, FileReporter, ToyFactory, toy_rows, toy_units

from gridatlas_reproduce.runner.engine import Pool, run_units
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.records import RunFolder

# Ray's own warnings aren't ours to fix.
pytestmark = pytest.mark.filterwarnings("ignore")

UNITS = toy_units(6, 2)
"""Six groups of four units."""
ON_CPU = Pool(gpus=0, workers=2, retries=2)


@pytest.fixture(scope="module")
def ray():
    """Ray on one machine that plays two: each has room for one worker."""
    import ray
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        # By default workers wait for all else that a machine does.
        patch.setenv("RAY_worker_niceness", "0")
        # The workers import `toy_run`: this file would bring PyTorch.
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


def _two_machines(make):
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


def item_of(unit):
    return unit.item


def run(folder, factory, **more):
    return run_units(UNITS, factory, folder, item_of, pool=replace(ON_CPU, **more))


def outcomes(folder):
    return [[(row.text, row.sample, row.seed) for row in folder.read(unit)] for unit in UNITS]


def expected():
    return [[(row.text, row.sample, row.seed) for row in toy_rows(unit, 0)] for unit in UNITS]


def test_a_crashed_worker_is_replaced(ray, make_run, tmp_path):
    trap = tmp_path / "trap"
    trap.mkdir()
    (trap / "1").touch()
    (trap / "2").touch()
    folder = make_run(UNITS, but=UNITS[3:], name="run")
    assert run(folder, ToyFactory(0, trap=trap)) == len(UNITS) - 3
    assert list(trap.iterdir()) == []
    assert outcomes(folder) == expected()


def test_what_a_worker_cannot_do_is_told_at_once(ray, make_run):
    folder = make_run(UNITS, but=UNITS)
    error = CannotRun("no model is at ./model", "a model", "name another one")
    with pytest.raises(CannotRun) as raised:
        run(folder, FailingFactory(error, in_factory=True))
    assert raised.value.message == error.message


def test_a_worker_that_fails_ends_no_other(ray, make_run, tmp_path):
    folder, log = make_run(UNITS, but=UNITS), tmp_path / "told"
    with pytest.raises(CannotRun) as raised:
        run(
            replace(folder, report=FileReporter(log)),
            FailingFactory(ValueError("odd\nvalue")),
            retries=1,
        )
    # Of two shards, each every other question, one fails at its second one.
    assert {unit.item for unit in folder.missing(UNITS)} == {"q2", "q4"}
    assert raised.value.found == f"8 of 24 units aren't in {folder.folder}: ValueError: odd"
    assert "A worker failed (ValueError: odd); the others go on." in log.read_text()
    # The same command does what is missing.
    assert run(folder, ToyFactory(0)) == 8
    assert outcomes(folder) == expected()


def test_without_a_gpu_in_the_cluster_that_is_told(ray, make_run):
    with pytest.raises(CannotRun, match="Ray knows of no GPU"):
        run(make_run(UNITS, but=UNITS), ToyFactory(0), gpus=1)


def test_a_folder_that_is_not_shared_is_told(ray, make_run, monkeypatch):
    folder = make_run(UNITS, but=UNITS)
    # The workers have a RunFolder of their own, so this is as if the driver saw another disk.
    monkeypatch.setattr(RunFolder, "missing", lambda self, units: list(units))
    with pytest.raises(CannotRun) as raised:
        run(folder, ToyFactory(0))
    assert raised.value.found == f"24 of 24 units aren't in {folder.folder}"
    assert raised.value.expected == "all units done, in a folder that all machines share"


def test_the_command_joins_a_cluster(ray, tmp_path):
    command = [sys.executable, toy_run.__file__, "--out", str(tmp_path / "run"), "--engine", "ray"]
    address = ("--address", ray.machines.address, "--workers", "2")
    done = subprocess.run([*command, *address], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1].startswith("24 of 24 units")
    assert len(list((tmp_path / "run/records").glob("*.jsonl"))) == 24


# Last, for it takes one of the two machines away.
def test_a_lost_machine_is_done_without(ray, make_run, tmp_path):
    folder = make_run(UNITS, but=UNITS)
    # Another machine in place of the second one, which workers of the tests before may still hold.
    for machine in list(ray.machines.worker_nodes):
        ray.machines.remove_node(machine)
    machine = ray.machines.add_node(num_cpus=1)
    _wait_until(lambda: ray.available_resources().get("CPU") == 2)

    def lose():
        # Two groups begun and not ended: both machines have a worker that is amid its work.
        _wait_until(lambda: len(_begun_groups(folder)) == 2)
        ray.machines.remove_node(machine, allow_graceful=False)

    losing = threading.Thread(target=lose)
    losing.start()
    assert run(folder, ToyFactory(0, delay=0.6)) == len(UNITS)
    losing.join()
    assert outcomes(folder) == expected()


def _begun_groups(folder):
    """The items of the groups with some of their units done, and not all."""
    missing = {unit.item for unit in folder.missing(UNITS)}
    return {unit.item for unit in UNITS if folder.path(unit).exists()} & missing


def _wait_until(reached, seconds=60):
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.01)
