"""Messages of disks that are full: the file and the disk, never the source of a copy."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from gridatlas.files.disks import free_space, why_not_written


def of(number, *names):
    first, second = (*names, None, None)[:2]
    return OSError(number, os.strerror(number), first, None, second)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
@pytest.mark.parametrize(
    ("names", "named"),
    [(("/theme/a.css", "{}/site/a.css"), "{}/site/a.css"), (("{}/b",), "{}/b"), ((), "{}")],
)
def test_the_file_that_does_not_fit_is_named(tmp_path, monkeypatch, number, names, named):
    usage = shutil.disk_usage("/")  # others write, too
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    error = of(number, *(name.format(tmp_path) for name in names))
    assert why_not_written(error, tmp_path) == (
        f"{named.format(tmp_path)}: {os.strerror(number)} ({free_space(tmp_path)})"
    )


def test_of_another_fault_the_first_is_named(tmp_path):
    assert why_not_written(of(errno.EACCES, "/a", "/b"), tmp_path) == "/a: Permission denied"


def test_the_disk_is_that_of_the_folder_itself(tmp_path, monkeypatch):
    """A folder may be a disk of its own, and a path relative."""
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) in (Path("/"), mounted))
    asked = []
    usage = shutil.disk_usage("/")._replace(free=3 * 2**19)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: asked.append(Path(path)) or usage)
    for place in ("mounted", "mounted/not/there", "mounted/file.txt"):
        assert free_space(Path(place)) == f"1.5 MiB free on the disk at {mounted}"
    assert free_space(Path("elsewhere")) == "1.5 MiB free on the disk at /"
    assert asked == [mounted, mounted, mounted, tmp_path]
