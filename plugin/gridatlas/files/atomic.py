"""Single files: written whole or not at all, whenever the process is killed."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


def write_atomic(path: Path, data: bytes) -> None:
    """Replace a file by one with this content; a kill leaves the one or the other.

    Raises:
        OSError: For a full disk, or a folder that can't be written to.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():  # A device, or a pipe.
        path.write_bytes(data)
        return
    try:
        with temporary_file(path) as (file, temporary):
            file.write(data)
            file.flush()
            if path.exists():
                shutil.copymode(path, temporary)
            os.replace(temporary, path)
    except OSError as error:
        error.filename = str(path)
        raise


def write_new(path: Path, data: bytes) -> None:
    """As `write_atomic`, for a file that isn't there yet.

    Raises:
        FileExistsError: For one that is there; it stays as it is.
        OSError: As for `write_atomic`.
    """
    try:
        with temporary_file(path) as (file, temporary):
            file.write(data)
            file.flush()
            # Not `os.link`: a process killed after it would leave both names.
            if os.path.lexists(path):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            os.replace(temporary, path)
    except OSError as error:
        error.filename = str(path)
        raise


@contextlib.contextmanager
def temporary_file(path: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """A new file next to another one, to be renamed to it; removed where it isn't.

    Processes that write the same file do so one after the other, held by a lock on the new one,
    which has a fixed name. What a killed process left is overwritten.

    Raises:
        OSError: Where it can't be written.
    """
    file, temporary = _open_temporary(path)
    try:
        yield file, temporary
    finally:
        # Before it is closed: then it is somebody else's.
        with contextlib.suppress(OSError):
            if _is_at(file.fileno(), temporary):
                temporary.unlink()
        # What wasn't flushed may not fit on the disk, which raised an error before.
        with contextlib.suppress(OSError):
            file.close()


def _open_temporary(path: Path) -> tuple[BinaryIO, Path]:
    temporary = path.with_name(f".{path.name}.new")
    while True:
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:  # A file system without locks.
            os.close(handle)
            break
        if _is_at(handle, temporary):
            os.ftruncate(handle, 0)
            return os.fdopen(handle, "wb"), temporary
        os.close(handle)  # Whoever had it locked has renamed it.
    temporary = path.with_name(f".{path.name}.{os.uname().nodename}-{os.getpid()}.new")
    return open(temporary, "wb"), temporary


def _is_at(handle: int, path: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    return False
