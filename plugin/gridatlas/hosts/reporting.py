"""What hosts report: progress, not too often, and where a disk or a folder can't be written to."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

from gridatlas.files.disks import FULL, why_not_written
from gridatlas.model.inert import without_commands
from gridatlas.model.problems import printable

_REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM, errno.EEXIST, errno.ENOTDIR)


def is_of_disk(error: BaseException, folder: Path) -> bool:
    """Whether an error is that of a disk, or of a folder, that can't be written to.

    Others, such as a file that a hook looks for in vain, are told of better by a traceback.
    """
    if not isinstance(error, OSError):
        return False
    if error.errno in FULL or error.errno in (errno.EIO, errno.EROFS):
        return True
    name = None if error.filename is None else os.fsdecode(error.filename)
    return error.errno in _REFUSED and name is not None and Path(name).is_relative_to(folder)


def not_written(error: OSError, folder: Path, state: str) -> str:
    """What was found, what was expected, and how to fix it.

    Args:
        folder: What was written to, for where the error doesn't say.
        state: How things stand now: `the site is as it was before`.
    """
    found = why_not_written(error, folder)
    if error.errno in FULL:
        expected = "room for what is built, beside what is there from before"
        fix = "free some space on this disk, or name a folder on another one, and build again"
    elif error.errno in _REFUSED:
        expected = "a folder that can be written to"
        fix = "correct its permissions, or name another folder, and build again"
    else:
        expected, fix = "a disk and folders that can be used", "fix that, and build again"
    return without_commands(
        f"gridatlas: {state}\n"
        f"  found:    {printable(found)}\n"
        f"  expected: {expected}\n"
        f"  fix:      {fix}"
    )


INTERVAL = 2.0
"""Seconds before the first report, and between two."""


def throttled(report: Callable[[str], None]) -> Callable[[str], None]:
    """A reporter that hands on what was done at most every `INTERVAL` seconds."""
    last = time.monotonic()

    def progress(done: str) -> None:
        nonlocal last
        if time.monotonic() - last >= INTERVAL:
            last = time.monotonic()
            report(done)

    return progress
