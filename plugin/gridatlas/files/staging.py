"""What isn't whole yet stands aside until it is; what a killed process left, the next one removes.

Locks tell what is in use: a process loses its own in whatever way it ends.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

PREFIX = ".gridatlas-"
"""Begin of the folders' names; hosts leave out what begins with a dot."""


# --- one file -----------------------------------------------------------------------------------


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file so that whenever the process is killed, it is there whole or as it was.

    Raises:
        OSError: For a full disk, or a folder that can't be written to.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():  # A device, or a pipe.
        path.write_bytes(data)
        return
    try:
        with beside(path) as (file, temporary):
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
        with beside(path) as (file, temporary):
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
def beside(path: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """A new file beside another one, to be renamed to it; removed where it isn't.

    Several processes that write the same file do so one after the other. What a killed one left
    is written over.

    Raises:
        OSError: Where it can't be written.
    """
    file, temporary = _opened(path)
    try:
        yield file, temporary
    finally:
        # Before it is closed: then it is somebody else's.
        with contextlib.suppress(OSError):
            if _is_at(file.fileno(), temporary):
                temporary.unlink()
        # What was written and not flushed may not fit on the disk, which was told before.
        with contextlib.suppress(OSError):
            file.close()


def _opened(path: Path) -> tuple[BinaryIO, Path]:
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


# --- folders ------------------------------------------------------------------------------------


class StagingDir:
    """A new folder within another one, locked for as long as it is in use.

    Attributes:
        path: The folder; removed with all in it by `close`.
    """

    def __init__(self, folder: Path, prefix: str = PREFIX) -> None:
        """Make it, and remove those that killed processes left.

        Raises:
            OSError: Where the folder can't be written to.
        """
        remove_abandoned(folder, prefix)
        self.path, self._handle = _made(folder, prefix)

    def close(self) -> None:
        """Remove it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._handle)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()


def exchange(one: Path, other: Path) -> bool:
    """Let two folders change places in one step.

    Returns:
        False where the system or the file system can't do that; then nothing was done.
    """
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    a, b = os.fsencode(one), os.fsencode(other)
    here, swap = -100, 2  # AT_FDCWD, and RENAME_EXCHANGE or RENAME_SWAP
    try:
        if sys.platform == "darwin":
            return bool(libc.renamex_np(a, b, swap) == 0)
        return bool(libc.renameat2(here, a, here, b, swap) == 0)
    except AttributeError:
        return False


def abandoned(folder: Path, prefix: str = PREFIX) -> Iterator[Path]:
    """The folders in another one that no process has in use any more.

    What can't be locked is left alone: somebody may be using it.
    """
    for left in sorted(folder.glob(f"{prefix}*")):
        if left.is_symlink() or not left.is_dir():
            continue
        with contextlib.suppress(OSError):
            handle = _locked(left)
            try:
                yield left
            finally:
                os.close(handle)


def remove_abandoned(folder: Path, prefix: str = PREFIX) -> None:
    """Remove what killed processes left in a folder."""
    for left in abandoned(folder, prefix):
        shutil.rmtree(left, ignore_errors=True)


def _made(folder: Path, prefix: str) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=folder))
        try:
            handle = _locked(path)
        except (BlockingIOError, FileNotFoundError):
            continue  # Another process took it for abandoned, in the moment before the lock.
        except OSError:
            # A file system without locks: nobody else gets one either.
            return path, os.open(path, os.O_RDONLY)
        if path.is_dir():
            return path, handle
        os.close(handle)


def _locked(folder: Path) -> int:
    """A handle that holds the lock until it is closed, or its process ends in whatever way."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(handle)
        raise
    return handle


# --- many files ---------------------------------------------------------------------------------


class FileTransaction:
    """Moves files to their places and others away: all of it, or nothing where an error occurs.

    At every moment each file is there whole, as it was or as it is new; so whoever kills the
    process leaves no half file, and no hole.
    """

    def __init__(self, aside: Path) -> None:
        """Begin; `aside` keeps what is replaced until all is done, best on the same disk."""
        self._aside = aside
        self._number = 0
        self._undo: list[Callable[[], None]] = []

    def __enter__(self) -> FileTransaction:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            for undo in reversed(self._undo):
                with contextlib.suppress(OSError):  # The others are undone all the same.
                    undo()

    def put(self, new: Path, target: Path) -> None:
        """Give a file its place, in the place of one that may be there."""
        self._make(target.parent)
        if target.is_dir() and not target.is_symlink():
            self._undo.append(partial(target.mkdir, exist_ok=True))
            target.rmdir()  # An error where it isn't empty: what is in it is somebody's.
        elif os.path.lexists(target):
            self._keep(target)
        else:
            self._undo.append(lambda: target.unlink(missing_ok=True))
        move(new, target)

    def remove(self, target: Path) -> None:
        """Take a file away."""
        self._keep(target)
        target.unlink(missing_ok=True)

    def _keep(self, target: Path) -> None:
        kept = self._aside / f"kept-{self._number}"
        self._number += 1

        def undo() -> None:
            if os.path.lexists(kept):
                target.parent.mkdir(parents=True, exist_ok=True)
                move(kept, target)

        self._undo.append(undo)
        try:
            os.link(target, kept, follow_symlinks=False)
        except OSError:  # A file system without hard links, or another one.
            move(target, kept)

    def _make(self, folder: Path) -> None:
        missing = []
        while not folder.exists():
            missing.append(folder)
            folder = folder.parent
        for one in reversed(missing):
            self._undo.append(partial(_remove_empty, one))
            one.mkdir()


def move(source: Path, target: Path) -> None:
    """Rename, over a file that may be there; from another file system, too."""
    try:
        os.replace(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        beside = target.with_name(f"{PREFIX}{os.getpid()}.new")
        try:
            shutil.copy2(source, beside, follow_symlinks=False)
            os.replace(beside, target)
        finally:
            beside.unlink(missing_ok=True)
        source.unlink()


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()
