"""Records and manifests: what is written, what counts as done, and what a run goes on with."""

import errno
import json
import os
import pickle
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from toy_run import toy_units

from conftest import ENVIRONMENT
from gridatlas_reproduce.runner import runs
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.files import write_atomic
from gridatlas_reproduce.runner.records import Row, RunFolder, SettingsDiffer, Unit, seed_of
from gridatlas_reproduce.runner.units import plan_as_json, units_of_plan

UNIT = Unit((("ratio", "0.10"), ("model", "r1"), ("local_window", "500")), "aime24/7", 2)
ROW = Row("aime24/7", 0, 9, "It is\n7\u2028“so” 🙂", 12, "stop", "7", "7", True, 1.5, 4096, 3)
ROWS = [ROW, replace(ROW, sample=1, finish="length", prediction=None, correct=False, prunes=None)]


# --- units and seeds ----------------------------------------------------------------------------


def test_seed_is_the_beginning_of_the_hash():
    # printf '0/q1/0' | sha256sum: its first 16 digits, without the highest bit
    assert seed_of(0, "q1", 0) == 5341389079673900527
    assert seed_of(7, "AIME 24 — 3", 12) == 2054942511665809211


def test_levels_of_a_unit_are_compared_by_value():
    assert UNIT.cell == (("local_window", "500"), ("model", "r1"), ("ratio", "0.1"))
    assert (
        Unit((("model", "r1"), ("local_window", "500.0"), ("ratio", ".1")), "aime24/7", 2) == UNIT
    )
    with pytest.raises(ValueError, match="not empty"):
        Unit((("model", " "),), None, 1)
    with pytest.raises(ValueError, match="at least one row"):
        Unit((("model", "r1"),), None, 0)


@pytest.mark.parametrize("item", ["../../x", "/etc", "..", "a b\n", "é" * 300, "A", "a", "", None])
def test_file_of_a_unit_is_in_the_folder(item):
    name = Unit(UNIT.cell, item, 2).path
    assert name.startswith("500_r1_0.1")
    assert name.endswith(".jsonl")
    assert Path(name).name == name
    assert len(name) < 120
    assert name.isascii()


def test_each_unit_has_its_own_file():
    items = ["a", "A", "a/b", "a-b", "a_b", "", None, "x" * 200, "x" * 201]
    units = [Unit(UNIT.cell, item, 2) for item in items]
    units += [Unit((("a", "1_2"), ("b", "3")), None, 1), Unit((("a", "1"), ("b", "2_3")), None, 1)]
    assert len({unit.path.lower() for unit in units}) == len(units)


def test_plan_gives_its_units_back():
    units = [*toy_units(3, 2), Unit(UNIT.cell, None, 4)]
    plan = plan_as_json(units)
    back = units_of_plan(json.loads(json.dumps(plan)))
    assert sorted(back, key=str) == sorted(units, key=str)
    # Four cells share the list of three items.
    assert plan["units"] == [[["q0", 2], ["q1", 2], ["q2", 2]], [[None, 4]]]
    with pytest.raises(ValueError, match="planned twice"):
        plan_as_json([UNIT, replace(UNIT, rows=5)])


# --- what is written ----------------------------------------------------------------------------


def test_file_of_a_unit_has_a_head_and_its_rows(make_run):
    run = make_run([UNIT], but=[UNIT])
    run.write(UNIT, ROWS)
    head, first, _, end = run.path(UNIT).read_bytes().decode().split("\n")
    assert head == (
        f'{{"run":"{run.run}","settings":"{run.settings}","unit":{{"cell":{{"local_window":"500",'
        '"model":"r1","ratio":"0.1"},"item":"aime24/7","rows":2}}'
    )
    assert first == (
        '{"correct":true,"finish":"stop","gold":"7","item":"aime24/7","peak_kv_bytes":4096,'
        '"prediction":"7","prunes":3,"sample":0,"seconds":1.5,"seed":9,'
        '"text":"It is\\n7\u2028“so” 🙂","tokens":12}'
    )
    assert end == ""
    assert run.read(UNIT) == ROWS
    assert [path.name for path in (run.folder / "records").iterdir()] == [UNIT.path]


def test_rows_that_are_not_the_units_are_refused(make_run):
    run = make_run([UNIT], but=[UNIT])
    with pytest.raises(ValueError, match="1 rows for a unit of 2"):
        run.write(UNIT, ROWS[:1])
    with pytest.raises(ValueError, match='has sample 0 of item "aime24/7" twice'):
        run.write(UNIT, [ROW, ROW])
    with pytest.raises(ValueError, match='has a row of item "x", and is of "aime24/7"'):
        run.write(UNIT, [ROW, replace(ROWS[1], item="x")])
    with pytest.raises(ValueError, match="not JSON compliant"):
        run.write(UNIT, [ROW, replace(ROWS[1], seconds=float("nan"))])
    assert run.missing([UNIT]) == [UNIT]


def test_a_unit_that_is_not_done_cannot_be_read(make_run):
    run = make_run([UNIT], but=[UNIT])
    with pytest.raises(CannotRun, match=r"there is no [^\n]*\n[^\n]*\n.*does what is missing"):
        run.read(UNIT)


# --- what counts as done ------------------------------------------------------------------------


def test_no_beginning_of_a_file_counts(make_run, reported):
    run = make_run([UNIT], but=[UNIT])
    run.write(UNIT, ROWS)
    whole = run.path(UNIT).read_bytes()
    for length in range(len(whole)):
        run.path(UNIT).write_bytes(whole[:length])
        assert run.missing([UNIT]) == [UNIT]
        assert not run.path(UNIT).exists()
    assert len(reported) == len(whole)
    run.path(UNIT).write_bytes(whole)
    assert run.missing([UNIT]) == []


def _changed(line, **changes):
    def change(lines):
        content = json.loads(lines[line]) | changes
        return [*lines[:line], json.dumps(content), *lines[line + 1 :]]

    return change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda lines: lines[:2], "is half-written (1 of 2 rows)"),
        (lambda lines: [], "is half-written (0 of 2 rows)"),
        (lambda lines: [*lines, lines[-1]], "has more than its 2 rows"),
        (lambda lines: [*lines[:2], "{"], "has a line that is not JSON"),
        (lambda lines: [*lines[:2], "[]"], "has a row with other than the keys item, sample, "),
        (_changed(1, correct=1), 'has a row whose correct is "1"'),
        (_changed(1, tokens=True), 'has a row whose tokens is "True"'),
        (_changed(1, more=1), "has a row with other than the keys item, sample, seed, "),
        (_changed(0, settings="x"), "is of a run with other settings"),
        (_changed(0, unit={"item": "other"}), "is of another unit"),
    ],
)
def test_a_file_that_is_not_whole_is_set_aside(change, why, make_run, reported):
    run = make_run([UNIT], but=[UNIT])
    run.write(UNIT, ROWS)
    path = run.path(UNIT)
    lines = change(path.read_text("utf-8").split("\n")[:-1])
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    with pytest.raises(CannotRun) as error:
        run.read(UNIT)
    assert error.value.found.startswith(f"{path} {why}")
    assert run.missing([UNIT]) == [UNIT]
    assert reported[0].startswith(f"{path} {why}")
    assert reported[0].endswith(f": moved to {path.name}.broken, and measured again")
    assert [file.name for file in path.parent.iterdir()] == [f"{path.name}.broken"]
    run.write(UNIT, ROWS)
    assert run.read(UNIT) == ROWS


def test_what_a_killed_process_left_does_not_count(make_run):
    run = make_run([UNIT], but=[UNIT])
    run.write(UNIT, ROWS)
    # As `write_atomic` calls it before it is renamed.
    run.path(UNIT).rename(run.path(UNIT).with_name(f".{UNIT.path}.host-1.tmp"))
    assert run.missing([UNIT]) == [UNIT]


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize(
    ("code", "message"),
    [
        (errno.ENOSPC, "no space to write {path} ("),
        (errno.EDQUOT, "no space to write {path} ("),
        (errno.EROFS, "{path} can't be written: Read-only file system\n"),
    ],
)
def test_a_full_disk_leaves_nothing_that_counts(step, code, message, make_run, monkeypatch):
    run = make_run([UNIT], but=[UNIT])

    def full(*_):
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, step, full)
        with pytest.raises(CannotRun) as error:
            run.write(UNIT, ROWS)
    assert error.value.message.startswith(message.format(path=run.path(UNIT)))
    assert error.value.exit_code == 1
    assert list((run.folder / "records").iterdir()) == []
    run.write(UNIT, ROWS)
    assert run.read(UNIT) == ROWS


def test_a_file_is_not_replaced_unless_it_shall_be(tmp_path):
    file = tmp_path / "run.json"
    assert write_atomic(file, b"1", replace=False)
    assert not write_atomic(file, b"2", replace=False)
    assert file.read_bytes() == b"1"
    assert write_atomic(file, b"3")
    assert file.read_bytes() == b"3"
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_is_not_replaced_without_hard_links(tmp_path, monkeypatch):
    def none(*_):
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", none)
    test_a_file_is_not_replaced_unless_it_shall_be(tmp_path)


# --- runs ---------------------------------------------------------------------------------------


def test_manifest_is_written_first_and_stays(tmp_path, make_manifest):
    manifest = make_manifest()
    run = RunFolder.start(tmp_path / "run", manifest)
    written = (tmp_path / "run/run.json").read_bytes()
    content = json.loads(written)
    assert content == {
        "format": 1,
        "run": run.run,
        "hash": manifest.digest,
        "started": "2026-05-01T12:00:00Z",
        "study": "demo",
        "script": "toy_run",
        "arguments": ["--out", "a"],
        "settings": {"temperature": 0.6, "window": {"kind": "last", "size": 500}},
        "model": {"id": "toy", "revision": "abc", "sha256": None},
        "data": None,
        "seeds": 0,
        "plan": content["plan"],
        "stderr_over": "items",
        "cells": 4,
        "units": 8,  # 4 cells × 2 items
        "rows": 24,  # 8 units × 3 samples
        **ENVIRONMENT,
    }
    assert run.run == f"toy_run-{content['hash'][:8]}"
    assert sorted(run.plan(), key=str) == sorted(toy_units(2, 3), key=str)
    later = make_manifest(now="2027-01-01T00:00:00Z", arguments=("--shard", "1/2"))
    assert RunFolder.start(tmp_path / "run", later) == run
    assert (tmp_path / "run/run.json").read_bytes() == written
    assert run.manifest() == content | {"resumed": []}
    assert RunFolder.open(tmp_path / "run") == run


@pytest.mark.parametrize(
    ("changes", "table"),
    [
        (
            {"settings": {"temperature": 1, "window": {"kind": "last", "size": 1000}}, "seeds": 3},
            "    setting               then  now\n"
            "    seeds                 0     3\n"
            "    settings.temperature  0.6   1\n"
            "    settings.window.size  500   1000\n",
        ),
        (
            {"model": None, "units": toy_units(3, 3)},
            "    setting         then   now\n"
            '    model.id        "toy"  (none)\n'
            '    model.revision  "abc"  (none)\n',
        ),
        (
            {"units": toy_units(2, 4)},
            "    setting  then                now\n"
            '    plan     "PLAN_THEN"  "PLAN_NOW"\n'
            "    rows     24                  32\n",
        ),
    ],
)
def test_a_run_with_other_settings_is_refused(changes, table, tmp_path, make_manifest):
    then = make_manifest()
    RunFolder.start(tmp_path, then)
    now = make_manifest(**changes)
    plans = {"PLAN_THEN": then.identity()["plan"], "PLAN_NOW": now.identity()["plan"]}
    for word, plan in plans.items():
        table = table.replace(word, plan)
    with pytest.raises(SettingsDiffer) as error:
        RunFolder.start(tmp_path, now)
    assert error.value.message == (
        f"{tmp_path} has a run with other settings\n{table}"
        "  expected: the settings with which the run was started\n"
        "  fix:      name another folder with --out, or give the settings of then"
    )
    assert error.value.exit_code == 2
    assert now.run != then.run


def test_another_machine_is_told_and_recorded_once(tmp_path, make_manifest, reported):
    RunFolder.start(tmp_path, make_manifest(), reported.append)
    other = ENVIRONMENT | {"packages": {"torch": "2.14.0"}, "gpu": None, "dirty": True}
    for day in ("02", "03"):
        later = make_manifest(environment=other, now=f"2026-05-{day}T12:00:00Z")
        run = RunFolder.start(tmp_path, later, reported.append)
    assert reported == [
        "The run resumes with other settings than it began with:\n"
        "    setting         then      now\n"
        "    dirty           false     true\n"
        '    gpu.cuda        "13.0"    (none)\n'
        '    gpu.driver      "550"     (none)\n'
        "    gpu.memory      80        (none)\n"
        '    gpu.name        "H100"    (none)\n'
        '    packages.torch  "2.13.0"  "2.14.0"'
    ]
    assert run.manifest()["resumed"] == [
        {
            "at": "2026-05-02T12:00:00Z",
            "differs": {
                "dirty": True,
                "gpu.cuda": None,
                "gpu.driver": None,
                "gpu.memory": None,
                "gpu.name": None,
                "packages.torch": "2.14.0",
            },
        }
    ]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "{folder} has no run.json\n"),
        ({"run.json": "{"}, "{folder}/run.json can't be read: "),
        ({"run.json": "[]"}, "{folder}/run.json isn't a manifest of format 1\n"),
        (
            {"run.json": '{"format": 2, "run": "a", "hash": "b", "study": "c"}'},
            "{folder}/run.json isn't a manifest of format 1\n",
        ),
    ],
)
def test_a_folder_without_a_manifest_is_no_run(files, message, tmp_path):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(CannotRun) as error:
        RunFolder.open(tmp_path)
    assert error.value.message.startswith(message.format(folder=tmp_path))


def test_records_without_a_manifest_are_left_alone(make_run, make_manifest):
    run = make_run([UNIT])
    (run.folder / "run.json").unlink()
    with pytest.raises(CannotRun, match=r"has records, and no run\.json"):
        RunFolder.start(run.folder, make_manifest([UNIT]))
    assert run.path(UNIT).exists()


def test_a_plan_that_is_not_there_is_told(make_run):
    run = make_run([UNIT])
    (run.folder / "plan.json").write_text('{"cells": [{"cell": {}, "units": 3}], "units": []}')
    with pytest.raises(CannotRun, match=r"plan\.json can't be read"):
        run.plan()


def test_a_file_in_place_of_the_folder_is_told(tmp_path, make_manifest):
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotRun, match="can't be written: "):
        RunFolder.start(tmp_path / "file" / "run", make_manifest())


def test_what_goes_between_processes_can_be_pickled(make_run, tmp_path):
    run = replace(make_run([UNIT]), report=print)
    assert pickle.loads(pickle.dumps(run)) == run
    for error in (CannotRun("a", "b", "c"), SettingsDiffer("folder", [("key", "1", "2")])):
        back = pickle.loads(pickle.dumps(error))
        assert type(back) is type(error)
        assert (back.message, back.exit_code) == (error.message, error.exit_code)


# --- the environment ----------------------------------------------------------------------------


def test_environment_names_what_a_result_may_depend_on():
    found = runs.environment()
    assert found.keys() == ENVIRONMENT.keys()
    assert {"numpy", "torch", "transformers"} <= found["packages"].keys()
    json.dumps(found)


@pytest.mark.parametrize(
    ("flags", "named"),
    [("Flags: sse2 avx avx2 avx512f", ", avx2, avx512f"), ("Flags: sse2 avx", ""), (None, "")],
)
def test_environment_names_the_vectors_that_rounding_depends_on(monkeypatch, flags, named):
    monkeypatch.setattr(runs, "_output", lambda *command: flags if command == ("lscpu",) else None)
    assert runs.environment()["platform"] == runs.platform.platform() + named


def test_time_is_that_of_the_commit_where_it_is_given(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert runs.utc_now() == "2023-11-14T22:13:20Z"


def test_commit_is_that_of_the_code(tmp_path):
    def git(*arguments):
        name = ("-c", "user.name=n", "-c", "user.email=e@example.org")
        command = ["git", "-C", str(tmp_path), *name, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    code, other = tmp_path / "code.py", tmp_path / "other.py"
    code.write_text("1")
    assert runs._commit(code) == (None, None)  # no repository
    git("init", "-q")
    git("add", "code.py")
    git("commit", "-q", "-m", "One")
    other.write_text("1")
    assert runs._commit(code) == (git("rev-parse", "HEAD"), False)
    assert runs._commit(other) == (None, None)  # somebody else's repository
    code.write_text("2")
    assert runs._commit(code) == (git("rev-parse", "HEAD"), True)
