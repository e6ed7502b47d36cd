"""Files of a site stay where an earlier build left them, and only what is in them."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gridatlas.files.cache import Cache
from gridatlas.files.retained import RetainedFiles, content_digest
from gridatlas.files.staging import StagedSite

PATH = "grids/tiny.csv"


def built(
    folder: Path, text: str = "of the build", meanwhile: Callable[[Path], object] | None = None
) -> tuple[bool, list[str]]:
    """Build a site of one file.

    Returns:
        Whether the file was written, and what somebody else wrote during the build.
    """
    staged = StagedSite(folder / "site")
    try:
        files = RetainedFiles(staged, Cache(folder / "cache"))
        retained = files.keep(PATH, content_digest(text), text.encode)
        if not retained:
            file = staged.folder / PATH
            file.parent.mkdir()
            file.write_text(text)
        if meanwhile:
            meanwhile(folder / "site" / PATH)
        others = staged.finish()
        files.note()
    finally:
        staged.close()
    assert (folder / "site" / PATH).read_text() == text
    return not retained, others


def overwritten(file: Path) -> None:
    """Another text of the same size, with the time of the one before."""
    status = file.stat()
    file.write_text("by somebody!")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def replaced(file: Path) -> None:
    overwritten(file)
    file.rename(file.with_suffix(".new"))
    file.with_suffix(".new").rename(file)


CHANGES: dict[str, Callable[[Path], object]] = {
    "written to": lambda file: file.write_text("by somebody"),
    "written to, same size and time": overwritten,
    "replaced": replaced,
    "deleted": Path.unlink,
    "a link now": lambda file: (file.unlink(), file.symlink_to("/dev/null")),
}


def test_a_file_stays_from_the_second_build_on(tmp_path: Path) -> None:
    assert built(tmp_path) == (True, [])
    before = (tmp_path / "site" / PATH).stat()
    assert [built(tmp_path), built(tmp_path)] == [(False, []), (False, [])]
    assert (tmp_path / "site" / PATH).stat() == before
    assert built(tmp_path, "another one!") == (True, [])
    assert built(tmp_path, "another one!") == (False, [])


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_file_that_changed_between_builds_is_written(
    tmp_path: Path, change: Callable[[Path], object]
) -> None:
    built(tmp_path)
    change(tmp_path / "site" / PATH)
    assert built(tmp_path) == (True, [])
    assert built(tmp_path) == (False, [])


@pytest.mark.parametrize("name", ["written to", "deleted", "a link now"])
def test_a_file_that_changes_during_a_build_is_written(tmp_path: Path, name: str) -> None:
    built(tmp_path)
    assert built(tmp_path, meanwhile=CHANGES[name]) == (False, [PATH])
    assert built(tmp_path) == (False, [])


def test_another_folder_of_the_same_cache_has_files_of_its_own(tmp_path: Path) -> None:
    built(tmp_path)
    (tmp_path / "site").rename(tmp_path / "moved")
    (tmp_path / "site").mkdir()
    assert built(tmp_path) == (True, [])
