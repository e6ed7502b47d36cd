"""A full disk, or one that can't be written to: a clear error, and all but a site is as it was."""

import random
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import forked
import pytest
import site_builds
from amount import amount
from builders import write_study
from killing import SEED, Files, assert_same, copied, files
from mounts import Done, on_disk_with, on_read_only, pages_of
from site_builds import TINY_CELLS, TINY_STUDY

TOY = str(Path(__file__).parents[1] / "reproduce/toy_run.py")
BUILD = ("mkdocs", "build", "--quiet")
INTO = ("gridatlas", "build", "--into", "docs")
IMPORT = ("gridatlas", "import", "results.csv", "--replace", "--x", "rate", "--y", "batch",
          "--metric", "accuracy", "--facet", "model")  # fmt: skip
DIFF = ("gridatlas", "diff", "before", "data", "--fail-on", "claims", "--out", "out/changes.md")
SWEEP = (TOY, "--out", "run", "--items", "30")

COMMANDS = {
    "mkdocs": (BUILD, "site"),
    "import": (IMPORT, "data"),
    "sweep": (SWEEP, "run"),
    "diff": (DIFF, "out"),
    "into": (INTO, "docs"),
}
"""What is run, and which part of its folder is on a disk of its own."""
FULL = list(COMMANDS)[: amount(3, len(COMMANDS))]
READ_ONLY = list(COMMANDS)[: amount(4, len(COMMANDS))]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which all has been run once, and would be run again with other results."""
    folder = tmp_path_factory.mktemp("disks") / "project"
    project = site_builds.make_project(folder, theme={"name": "mkdocs"})
    site_builds.add_tiny_study(project)
    project.write("results.csv", TINY_CELLS)
    write_study(folder / "before/tiny", TINY_STUDY, TINY_CELLS)
    project.write("out/changes.md", "what changed before\n")
    project.built()
    for command in (INTO, IMPORT, (*SWEEP[:-1], "10")):
        _whole(folder, command)
    shutil.rmtree(folder / "run")
    project.write("data/tiny/cells.csv", TINY_CELLS.replace("12.5", "13.0"))
    project.write("results.csv", TINY_CELLS.replace("12.5", "13.0"))
    return folder


def _whole(folder: Path, command: Sequence[str]) -> None:
    done = on_disk_with(None, folder, "elsewhere", command)
    assert done.status == 0, done.log


@pytest.fixture(scope="module")
def undisturbed(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder after a build of each kind, on a disk without limits."""
    folder = tmp_path_factory.mktemp("undisturbed") / "project"
    copied(project, folder)
    for command in (BUILD, INTO):
        done = forked.run(command, folder, site_builds.environ())
        assert done.returncode == 0, done.stdout
    return folder


def _refused(log: str, error: str) -> None:
    """The error, what is expected, and how to fix it; no traceback."""
    assert error in log
    assert "expected: " in log
    assert "fix: " in log
    assert "Traceback" not in log


@pytest.mark.parametrize("name", FULL)
def test_a_full_disk(project: Path, tmp_path: Path, name: str) -> None:
    """Dear: the command runs whole, and again on a disk that becomes full."""
    command, place = COMMANDS[name]
    folder = tmp_path / "project"
    copied(project, folder)
    if name == "mkdocs":  # It empties its folder first: all that it writes needs room.
        shutil.rmtree(folder / place)
        (folder / place).mkdir()
    before = files(folder / place) if (folder / place).exists() else {}
    whole = on_disk_with(None, folder, place, command)
    assert whole.status == 0, whole.log
    new = {path for path, content in whole.files.items() if content != before.get(path)}
    needed = sum(pages_of(whole.files[path]) for path in new)
    for number in range(amount(1, 12)):
        pages = random.Random(f"{SEED} {name} {number}").randrange(needed)
        done = on_disk_with(pages, folder, place, command)
        try:
            assert done.status != 0
            _refused(done.log, "o space")
            named = re.search(
                r"(\S+?):? (?:No space left on device )?\(\S+ MiB free on the", done.log
            )
            assert named
            assert (folder / named[1]).is_relative_to(folder / place)
            assert f"MiB free on the disk at {folder / place})" in done.log
            _as_it_was(name, done, before, whole)
        except AssertionError as error:
            description = (
                f"{name} with {pages} pages free, of {needed} needed, seed {SEED}\n{done.log}"
            )
            raise AssertionError(f"{description}\n{error}") from error


def _as_it_was(name: str, done: Done, before: Files, whole: Done) -> None:
    if name == "sweep":
        # What was done before the disk was full is whole, and counts.
        done_units = {path for path in done.files if path.startswith("records/")}
        assert done_units <= whole.files.keys()
        assert all(
            content.count(b"\n") == 4 for path, content in done.files.items() if path in done_units
        )
    elif name != "mkdocs":  # MkDocs empties its folder first.
        assert_same(done.files, before)
    left = [
        hidden
        for hidden in done.hidden
        if hidden.startswith((".gridatlas-", ".import-")) or hidden.endswith(".new")
    ]
    assert left == []


@pytest.mark.parametrize("name", READ_ONLY)
def test_a_disk_that_cannot_be_written_to(project: Path, tmp_path: Path, name: str) -> None:
    command, place = COMMANDS[name]
    folder = tmp_path / "project"
    copied(project, folder)
    before = files(folder / place) if (folder / place).exists() else {}
    done = on_read_only(folder, place, command)
    assert done.status != 0, done.log
    _refused(done.log, "Read-only file system")
    assert_same(done.files, before)


CACHES: dict[str, tuple[Sequence[str], str, int | None]] = {
    "nearly full": (BUILD, "site", 7),
    "read-only for build": (INTO, "docs", None),
    "full": (BUILD, "site", 0),
    "read-only": (BUILD, "site", None),
}
"""A command, where it puts what it makes, and the pages that the disk of the cache has free."""


@pytest.mark.parametrize("name", list(CACHES)[: amount(2, len(CACHES))])
def test_a_cache_on_such_a_disk_is_no_reason_to_fail(
    project: Path, undisturbed: Path, tmp_path: Path, name: str
) -> None:
    command, result, pages = CACHES[name]
    folder = tmp_path / "project"
    copied(project, folder)
    if pages is None:
        done = on_read_only(folder, ".cache", command)
    else:
        done = on_disk_with(pages, folder, ".cache", command)
    assert done.status == 0, done.log
    assert done.log.count("cache-1.sqlite3 can't be used: ") == 1
    assert "Traceback" not in done.log
    assert_same(files(folder / result), files(undisturbed / result))
