"""What is made aside: whole or not at all in its place, and nothing left behind."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gridatlas.files import staging
from gridatlas.files.atomic import write_atomic
from gridatlas.files.staging import PREFIX, FileTransaction, StagingDir, abandoned, exchange, move


def _files(folder):
    return {
        file.relative_to(folder).as_posix(): file.read_text()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


# --- one file -----------------------------------------------------------------------------------


def test_a_file_keeps_its_mode_and_stays_what_a_link_leads_to(tmp_path):
    (tmp_path / "real").write_text("before")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    write_atomic(tmp_path / "link", b"after")
    assert (tmp_path / "link").is_symlink()
    assert _files(tmp_path) == {"link": "after", "real": "after"}
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640


def test_a_new_file_can_be_read_by_whom_the_umask_allows(tmp_path):
    before = os.umask(0o022)
    try:
        write_atomic(tmp_path / "new", b"new")
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o644


def test_a_device_is_written_to_and_not_replaced():
    write_atomic(Path(os.devnull), b"nothing")
    assert Path(os.devnull).is_char_device()
    with pytest.raises(OSError, match="No space left on device"):
        write_atomic(Path("/dev/full"), b"too much")


def test_what_a_killed_process_left_is_written_over(tmp_path):
    (tmp_path / ".file.new").write_text("half of a file that is longer than the new one")
    write_atomic(tmp_path / "file", b"whole")
    assert _files(tmp_path) == {"file": "whole"}


def test_processes_that_write_the_same_file_leave_one_of_theirs_whole(tmp_path):
    code = (
        "import sys; from pathlib import Path; from gridatlas.files.atomic import write_atomic\n"
        "for _ in range(100): write_atomic(Path('file'), sys.argv[1].encode() * 5000)"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, letter], cwd=tmp_path) for letter in "abc"
    ]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        if (tmp_path / "file").exists():
            seen.add((tmp_path / "file").read_text())
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert seen <= {letter * 5000 for letter in "abc"}
    assert _files(tmp_path).keys() == {"file"}


def test_a_file_system_without_locks_is_written_to_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(staging.fcntl, "flock", _refused)
    write_atomic(tmp_path / "file", b"whole")
    with StagingDir(tmp_path) as made:
        assert made.is_dir()
        # Nobody can tell whether it is in use.
        assert list(abandoned(tmp_path)) == []
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []
    assert (tmp_path / "file").read_text() == "whole"


def _refused(*_, **__):
    raise OSError(38, "Function not implemented")


# --- folders ------------------------------------------------------------------------------------


def test_only_what_nobody_uses_is_removed(tmp_path):
    (tmp_path / f"{PREFIX}left/in").mkdir(parents=True)
    (tmp_path / f"{PREFIX}file").write_text("a file of somebody's")
    (tmp_path / "other").mkdir()
    with StagingDir(tmp_path) as first, StagingDir(tmp_path) as second:
        assert {path.name for path in tmp_path.iterdir()} == {
            first.name, second.name, f"{PREFIX}file", "other",
        }  # fmt: skip
    assert {path.name for path in tmp_path.iterdir()} == {f"{PREFIX}file", "other"}


def test_folders_change_places(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    assert exchange(tmp_path / "one", tmp_path / "other")
    assert _files(tmp_path) == {"one/file": "other", "other/file": "one"}
    assert not exchange(tmp_path / "one", tmp_path / "nothing")
    assert _files(tmp_path) == {"one/file": "other", "other/file": "one"}


# --- many files ---------------------------------------------------------------------------------

BEFORE = {"a": "1", "d/b": "1", "d/stale": "1", "s/t/stale": "1"}
AFTER = {"a": "2", "d/b": "2", "e/f/new": "2"}


def _make(folder):
    for path, text in BEFORE.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def _place(folder):
    with StagingDir(folder) as staging_folder:
        for path, text in AFTER.items():
            (staging_folder / "new" / path).parent.mkdir(parents=True, exist_ok=True)
            (staging_folder / "new" / path).write_text(text)
        with FileTransaction(folder, staging_folder) as transaction:
            transaction.update(staging_folder / "new", AFTER, ["d/stale", "s/t/stale"])


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
@pytest.mark.parametrize("disks", [1, 2])
def test_files_are_placed_and_removed(tmp_path, monkeypatch, links, disks):
    if not links:
        monkeypatch.setattr(staging.os, "link", _refused)
    if disks == 2:
        monkeypatch.setattr(staging.os, "replace", _on_one_disk)
    _make(tmp_path)
    _place(tmp_path)
    assert _files(tmp_path) == AFTER
    assert {path.name for path in tmp_path.iterdir()} == {"a", "d", "e"}


def _on_one_disk(source, target):
    if source.parent != target.parent:
        raise OSError(18, "Invalid cross-device link")
    os.rename(source, target)


FULL = OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("links", "call", "error"),
    [
        *itertools.product([True, False], ["move", "unlink", "mkdir"], [FULL, KeyboardInterrupt()]),
        # Any other error of a link is none: the file system may have no links.
        (True, "link", KeyboardInterrupt()),
    ],
)
def test_all_is_put_back_whatever_fails(tmp_path, monkeypatch, links, call, error):
    """An error at the first call of its kind, the second, and so on until none is left."""
    place, real = {
        "move": (staging, move),
        "link": (staging.os, os.link),
        "unlink": (Path, Path.unlink),
        "mkdir": (Path, Path.mkdir),
    }[call]
    for at in range(1, 20):
        folder = tmp_path / str(at)
        _make(folder)
        number = 0

        def failing(*given, at=at, **options):
            nonlocal number
            number += 1
            if number == at:
                raise error
            real(*given, **options)

        with monkeypatch.context() as patch:
            if not links:
                patch.setattr(staging.os, "link", _refused)
            patch.setattr(place, call, failing)
            try:
                _place(folder)
            except type(error):
                pass
            else:
                assert _files(folder) == AFTER
                break
        assert _files(folder) == BEFORE
        assert {path.name for path in folder.iterdir()} == {"a", "d", "s"}
    assert at > 1
