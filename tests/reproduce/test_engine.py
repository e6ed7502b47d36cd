"""Doing units: what is left is done, whatever stopped the run before."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import toy_run
from click.testing import CliRunner
from toy_run import toy_rows, toy_units

from gridatlas.meter import Progress, duration
from gridatlas_reproduce.runner.collect import collect
from gridatlas_reproduce.runner.engine import groups_of, run_units
from gridatlas_reproduce.runner.records import RunFolder, Unit

UNITS = toy_units(4, 2)
"""Four questions in four cells."""


def by_item(unit):
    return unit.item


@dataclass
class Noting:
    """A worker that notes the groups that it is given, and fails at one unit."""

    groups: list[list[Unit]] = field(default_factory=list)
    fails_at: Unit | None = None

    def work(self, group):
        self.groups.append(list(group))
        for unit in group:
            if unit == self.fails_at:
                raise MemoryError("too much")
            yield unit, toy_rows(unit, 0)


def records_of(folder):
    """All records of a run but for the time taken; every file has to be whole."""
    found = {}
    for path in (folder / "records").iterdir():
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        found[path.name] = [{k: v for k, v in line.items() if k != "seconds"} for line in lines]
    return found


# --- groups and shards --------------------------------------------------------------------------


def test_groups_have_the_units_with_the_same_key():
    groups = groups_of(UNITS, by_item)
    assert [{unit.item for unit in group} for group in groups] == [{"q0"}, {"q1"}, {"q2"}, {"q3"}]
    assert [unit for group in groups for unit in group] == UNITS
    assert groups_of(UNITS, None) == [[unit] for unit in UNITS]


@pytest.mark.parametrize("number", [1, 2, 3, 4, 7])
def test_shards_are_all_groups_once(number):
    shards = [groups_of(UNITS, by_item, (part, number)) for part in range(1, number + 1)]
    every = [unit for shard in shards for group in shard for unit in group]
    assert sorted(every, key=str) == sorted(UNITS, key=str)
    sizes = [len(shard) for shard in shards]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("shard", [(0, 2), (3, 2), (1, 0)])
def test_a_shard_that_is_none_is_refused(shard):
    with pytest.raises(ValueError, match="shard"):
        groups_of(UNITS, by_item, shard)


# --- in this process ----------------------------------------------------------------------------


def test_only_what_is_missing_is_done(make_run):
    left = [UNITS[1], UNITS[2], UNITS[9]]
    run = make_run(UNITS, but=left)
    worker = Noting()
    assert run_units(UNITS, lambda: worker, folder=run, key=by_item) == 3
    assert worker.groups == [left[:2], left[2:]]
    assert run.missing(UNITS) == []


def test_several_groups_are_given_at_a_time(make_run):
    groups = groups_of(UNITS, by_item)
    run = make_run(UNITS, but=UNITS)
    worker = Noting()
    assert run_units(UNITS, lambda: worker, folder=run, key=by_item, together=3) == len(UNITS)
    assert worker.groups == [[*groups[0], *groups[1], *groups[2]], groups[3]]


def test_no_worker_is_made_where_nothing_is_left(make_run):
    def none():
        raise AssertionError("a model would be loaded")

    assert run_units(UNITS, none, folder=make_run(UNITS), key=by_item) == 0


def test_an_error_keeps_what_was_done(make_run):
    run = make_run(UNITS, but=UNITS)
    with pytest.raises(MemoryError):
        run_units(UNITS, lambda: Noting(fails_at=UNITS[6]), folder=run, key=by_item)
    assert run.missing(UNITS) == UNITS[6:]


# --- the command --------------------------------------------------------------------------------


def command(*arguments):
    return [sys.executable, str(Path(toy_run.__file__)), *arguments]


def called(*arguments):
    return CliRunner().invoke(toy_run.main, arguments, prog_name="toy_run", catch_exceptions=False)


def csv_of(data, *folders):
    list(collect(folders, data, "demo", "ours"))
    table = data / "demo/ours.csv"
    content = table.read_bytes()
    table.unlink()
    return content


def test_a_killed_command_goes_on_where_it_was(tmp_path, data):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert called("--items", "8", "--out", str(whole)).exit_code == 0
    arguments = ("--items", "8", "--out", str(killed), "--delay", "0.02")
    done = 0
    for _ in range(3):
        with subprocess.Popen(command(*arguments), stderr=subprocess.DEVNULL) as process:
            while len(list(killed.glob("records/*.jsonl"))) < done + 4:
                assert process.poll() is None
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        at_kill = len(list(killed.glob("records/*.jsonl")))
        assert done + 4 <= at_kill < 32
        done = at_kill
    before = {path: path.stat().st_mtime_ns for path in killed.glob("records/*.jsonl")}
    last = subprocess.run(command(*arguments), capture_output=True, text=True, check=True)
    assert last.stderr.splitlines()[-1].startswith("32 of 32 units, ")
    assert {path: path.stat().st_mtime_ns for path in before} == before  # nothing done twice
    assert records_of(killed) == records_of(whole)
    assert csv_of(data, killed) == csv_of(data, whole)
    outcomes = (data / "demo/runs").glob("*.outcomes.json")
    assert len(list(outcomes)) == 1  # the same run


def test_two_shards_are_one_whole(tmp_path, data):
    out = {name: str(tmp_path / name) for name in ("whole", "shared", "one", "two")}
    called("--out", out["whole"])
    for part in ("1/2", "2/2"):
        assert called("--out", out["shared"], "--shard", part).exit_code == 0
    called("--out", out["one"], "--shard", "1/2")
    called("--out", out["two"], "--shard", "2/2")
    whole, shared, first, second = (records_of(Path(folder)) for folder in out.values())
    assert len(whole) == 24
    assert shared == whole
    assert first | second == whole
    assert first.keys() & second.keys() == set()
    table = csv_of(data, tmp_path / "whole")
    assert csv_of(data, tmp_path / "shared") == table
    assert csv_of(data, tmp_path / "one", tmp_path / "two") == table


def test_cells_one_after_the_other_are_one_whole(tmp_path, data):
    called("--out", str(tmp_path / "whole"))
    parts = ("--out", str(tmp_path / "parts"))
    assert called(*parts, "--only", "ratio=0.10", "--only", "local_window=500").exit_code == 0
    whole, first = records_of(tmp_path / "whole"), records_of(tmp_path / "parts")
    ratios = {unit.levels["ratio"] for unit in UNITS}
    assert 0 < len(first) < len(whole)
    assert first.items() <= whole.items()
    for ratio in ratios:
        assert called(*parts, "--only", f"ratio={ratio}").exit_code == 0
    assert records_of(tmp_path / "parts") == whole
    assert csv_of(data, tmp_path / "parts") == csv_of(data, tmp_path / "whole")


@pytest.mark.parametrize(
    ("only", "error"),
    [
        ("ratio=0.7", "--only ratio=0.7: the run's levels of ratio are 0.1, 0.2\n"),
        ("depth=1", "--only depth=…: the run's factors are local_window, model, ratio"),
        ("ratio", "Invalid value for '--only': \"ratio\" names no level; write ratio=0.1"),
    ],
)
def test_only_names_levels_of_the_run(tmp_path, only, error):
    result = called("--out", str(tmp_path / "run"), "--only", only)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"Error: {error}" in result.stderr
    assert not (tmp_path / "run").exists()


def test_resuming_with_other_settings_is_wrong_usage(tmp_path):
    out = ("--out", str(tmp_path / "run"))
    called(*out)
    written = records_of(tmp_path / "run")
    result = called(*out, "--samples", "4", "--seed", "1", "--limit", "2")
    assert result.exit_code == 2
    assert result.stderr == (
        f"Error: {tmp_path}/run has a run with other settings\n"
        "    setting           then    now\n"
        "    seeds             0       1\n"
        "    settings.limit    (none)  2\n"
        "    settings.samples  3       4\n"
        "  expected: the settings with which the run was started\n"
        "  fix:      name another folder with --out, or give the settings of then\n"
    )
    assert records_of(tmp_path / "run") == written


def test_a_limit_is_a_run_of_its_own(tmp_path):
    called("--out", str(tmp_path / "all"))
    called("--out", str(tmp_path / "try"), "--limit", "2")
    short, long = records_of(tmp_path / "try"), records_of(tmp_path / "all")
    assert len(short) == 8
    assert short.keys() < long.keys()
    assert {name: rows[1:] for name, rows in short.items()} == {
        name: long[name][1:] for name in short
    }
    assert RunFolder.open(tmp_path / "try").run != RunFolder.open(tmp_path / "all").run


def test_a_dry_run_writes_nothing(tmp_path):
    result = called("--out", str(tmp_path / "run"), "--dry-run")
    assert (result.exit_code, result.output) == (0, "24 units\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--shard", "3/2"), "Invalid value for '--shard': \"3/2\" is no part; write 1/4 for "),
        (("--shard", "0/2"), "Invalid value for '--shard': \"0/2\" is no part; write 1/4 for "),
        (("--shard", "half"), "Invalid value for '--shard': \"half\" is no part; write 1/4 for "),
        (("--address", "a:1"), "--address is of a Ray cluster; add --engine ray"),
        (("--limit", "0"), "Invalid value for '--limit': "),
        (("--workers", "0"), "Invalid value for '--workers': "),
        (("--engine", "slurm"), "Invalid value for '--engine': "),
    ],
)
def test_wrong_usage(arguments, message, tmp_path):
    result = called("--out", str(tmp_path / "run"), *arguments)
    assert result.exit_code == 2
    assert f"Error: {message}" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "127.0.0.1:99999"])
def test_a_cluster_that_is_not_there_is_told(address, tmp_path):
    result = called("--out", str(tmp_path / "run"), "--engine", "ray", "--address", address)
    assert result.exit_code == 1
    assert f"Error: no Ray cluster answers at {address}: " in result.stderr


# --- progress -----------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_a_line_every_ten_seconds():
    now, stream = [0.0], io.StringIO()
    progress = Progress(400, 100, stream, lambda: now[0])
    for _ in range(60):
        now[0] += 0.5
        progress.advance()
    now[0] += 0.5
    progress.finish()
    # 1 of 300 units after 0.5 s: 2 per second, 299 / 2 = 149.5 s left; so it goes on.
    assert stream.getvalue() == (
        "101 of 400 units, 2.0 per second, 2 min left\n"
        "121 of 400 units, 2.0 per second, 2 min left\n"
        "141 of 400 units, 2.0 per second, 2 min left\n"
        "160 of 400 units, 2.0 per second, 2 min left\n"
    )


def test_progress_on_a_terminal_is_a_bar():
    now, stream = [0.0], Terminal()
    progress = Progress(4, 1, stream, lambda: now[0])
    for _ in range(3):
        now[0] += 90.0
        progress.advance()
    progress.finish()
    # 3 units in 270 s: 0.67 per minute, or 40 per hour
    assert stream.getvalue().replace("\r\x1b[K", "|") == (
        "|[##########..........] 2 of 4 units, 40.0 per hour, 3 min left"
        "|[###############.....] 3 of 4 units, 40.0 per hour, 2 min left"
        "|[####################] 4 of 4 units, 40.0 per hour, 4 min in all"
        "|[####################] 4 of 4 units, 40.0 per hour, 4 min in all\n"
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (3599, "1 h"),
        (3600 * 2 + 300, "2 h 5 min"),
        (3600 * 48, "2 d"),
        (3600 * 52, "2 d 4 h"),
    ],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_nothing_to_do_is_done():
    stream = Terminal()
    Progress(0, 0, stream).finish()
    assert stream.getvalue() == f"\r\x1b[K[{'#' * 20}] 0 of 0 units\n"
