"""Every file of a data folder, and every file to import, is opened by the one door."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from builders import CELLS, HEAD, write_study
from log_samples import put_eval, put_lm_eval

from gridatlas.data.runs import as_columns

WATCHED = """
import os, sys
from pathlib import Path

if sys.argv[2] == "mkdocs":
    from mkdocs.__main__ import cli as main
else:
    from gridatlas.cli.main import main

below, seen = os.path.realpath(sys.argv[1]), {}

def watch(event, given):
    if event != "open" or not isinstance(given[0], str | bytes | os.PathLike):
        return
    path, flags = os.path.realpath(os.fsdecode(given[0])), given[2]
    if not path.startswith(below + os.sep) or flags & (os.O_WRONLY | os.O_RDWR):
        return
    if os.path.isdir(path):
        return
    frame = sys._getframe()
    while frame and not frame.f_code.co_filename.endswith(os.path.join("files", "door.py")):
        frame = frame.f_back
    seen.setdefault(os.path.relpath(path, below), set()).add("door" if frame else "other")

sys.addaudithook(watch)
try:
    main(sys.argv[3:])
finally:
    for path, ways in sorted(seen.items()):
        print("OPENED", path, *sorted(ways))
"""
OUTCOMES = {
    "run": "r", "items": [["1", "2"]],
    "cells": [{"cell": {"rate": "1", "depth": "1"}, "items": 0, "samples": [1, 1],
               "correct": [1, 0]}],
}  # fmt: skip
MANIFEST = {
    "format": 1, "study": "s", "script": "a.py", "started": "2026-05-01T12:00:00Z",
    "cells": [{"levels": {"rate": "1", "depth": "1"}, "done": 2, "of": 2}],
}  # fmt: skip
STUDY = (
    f"{HEAD}reproduce: {{script: a.py, args: --all}}\nreadings:\n"
    "  - {id: a, file: cells.csv, text: paper.txt}\n  - {id: b, file: more.parquet}\n"
)


def _data(folder: Path) -> Path:
    """A data folder with a file of each kind."""
    runs = {f"runs/{run}.json": json.dumps({**MANIFEST, "run": run}) for run in ("r", "p")}
    runs["runs/r.outcomes.json"] = json.dumps(OUTCOMES)
    here = write_study(
        folder / "s", STUDY, "rate,depth,value,run\n1,1,50,r\n", {"paper.txt": "50", **runs}
    )
    more = {"rate": ["1"], "depth": ["1"], "value": [1.5], "run": ["p"]}
    pq.write_table(pa.table(more), here / "more.parquet")
    pq.write_table(pa.table(as_columns(OUTCOMES)), here / "runs/p.outcomes.parquet")
    return folder


def _opened(folder: Path, below: str, arguments: Sequence[str]) -> dict[str, str]:
    """The files below a folder that a command opened to read, and what opened each."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, below, *arguments],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = [line.split(" ") for line in done.stdout.splitlines() if line.startswith("OPENED ")]
    assert "Traceback" not in done.stderr, done.stderr
    return {path: " ".join(ways) for _, path, *ways in lines}


FILES = {
    "s/study.yml", "s/cells.csv", "s/more.parquet", "s/paper.txt", "s/runs/r.json",
    "s/runs/p.json", "s/runs/r.outcomes.json", "s/runs/p.outcomes.parquet",
}  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        ("gridatlas", "check", "data"),
        ("gridatlas", "build", "--into", "out"),
        ("gridatlas", "diff", "before", "data"),
    ],
    ids=lambda arguments: arguments[1],
)
def test_files_of_a_data_folder_are_opened_by_the_door(
    tmp_path: Path, arguments: Sequence[str]
) -> None:
    _data(tmp_path / "data")
    write_study(tmp_path / "before/s")
    assert _opened(tmp_path, "data", arguments) == dict.fromkeys(FILES, "door")


def test_a_site_opens_files_by_the_door(tmp_path: Path) -> None:
    _data(tmp_path / "data")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("# Home\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: A\nplugins: [gridatlas]\n")
    assert _opened(tmp_path, "data", ("mkdocs", "build")) == dict.fromkeys(FILES, "door")


def test_a_base_of_git_is_read_by_the_door(tmp_path: Path) -> None:
    _data(tmp_path / "data")
    (tmp_path / "staging").mkdir()
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "data"], ["commit", "-qm", "All"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    os.environ["TMPDIR"] = str(tmp_path / "staging")
    try:
        found = _opened(tmp_path, "staging", ("gridatlas", "diff", "HEAD", "data"))
    finally:
        del os.environ["TMPDIR"]
    below = {"/".join(path.split("/")[1:]): way for path, way in found.items()}
    assert below == dict.fromkeys(FILES, "door")


def _write_inputs(folder: Path) -> dict[str, Path]:
    folder.mkdir()
    (folder / "a.csv").write_text(CELLS)
    (folder / "a.md").write_text("| rate | depth | value |\n|--|--|--|\n| 1 | 1 | 1 |\n")
    (folder / "a.json").write_text('[{"rate": 1, "depth": 1, "value": 1}]')
    (folder / "a.csv.gz").write_bytes(gzip.compress(CELLS.encode()))
    (folder / "a.jsonl").write_text('{"rate": 1, "depth": 1, "value": 1}\n')
    pq.write_table(pa.table({"rate": [1], "depth": [1], "value": [1]}), folder / "a.parquet")
    return {path.name: path for path in folder.iterdir()}


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.md", "a.json", "a.jsonl", "a.parquet"])
def test_what_is_imported_is_opened_by_the_door(tmp_path: Path, name: str) -> None:
    _write_inputs(tmp_path / "in")
    roles = ("--x", "rate", "--y", "depth", "--metric", "value")
    arguments = ("gridatlas", "import", f"in/{name}", *roles, "--no-site")
    assert _opened(tmp_path, "in", arguments) == {name: "door"}
    assert (tmp_path / "data").is_dir()


def test_logs_are_opened_by_the_door(tmp_path: Path) -> None:
    put_eval(tmp_path / "in/a.eval", {"1": [1], "2": [0]})
    found = _opened(tmp_path, "in", ("gridatlas", "import", "in", "--dry-run"))
    assert found == {"a.eval": "door"}


def test_results_and_their_documents_are_opened_by_the_door(tmp_path: Path) -> None:
    put_lm_eval(tmp_path / "in", "2026-05-01T12-00-00.000000", {"task": {"none": [1, 0]}})
    found = _opened(tmp_path, "in", ("gridatlas", "import", "in", "--dry-run"))
    assert set(found.values()) == {"door"}
    assert len(found) == 2
