"""Many files: made in a staging folder, and brought to their places whole.

Locks say which staging folders are in use: a process loses its own in whatever way it ends, and
the next one removes what is left.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path

PREFIX = ".gridatlas-"
"""Begin of the folders' names; hosts leave out what begins with a dot."""


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
        self.path, self._handle = _make_locked(folder, prefix)

    def close(self) -> None:
        """Remove it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._handle)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()


def exchange(first: Path, second: Path) -> bool:
    """Let two folders change places in one step.

    Returns:
        False where the system or the file system can't do that; then nothing was done.
    """
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    a, b = os.fsencode(first), os.fsencode(second)
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
            handle = _lock(left)
            try:
                yield left
            finally:
                os.close(handle)


def remove_abandoned(folder: Path, prefix: str = PREFIX) -> None:
    """Remove what killed processes left in a folder."""
    for left in abandoned(folder, prefix):
        shutil.rmtree(left, ignore_errors=True)


def _make_locked(folder: Path, prefix: str) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=folder))
        try:
            handle = _lock(path)
        except (BlockingIOError, FileNotFoundError):
            continue  # Another process took it for abandoned, in the moment before the lock.
        except OSError:
            # A file system without locks: nobody else gets one either.
            return path, os.open(path, os.O_RDONLY)
        if path.is_dir():
            return path, handle
        os.close(handle)


def _lock(folder: Path) -> int:
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
    """Replaces and removes files of a folder: all of them, or none where an error occurs.

    At every moment each file is there whole, as it was or as it is new; so whoever kills the
    process leaves no half file, and no hole.

    Args:
        folder: Where the files are; paths are below it.
        staging: Has what is replaced until all is done; best on the same disk.
    """

    def __init__(self, folder: Path, staging: Path) -> None:
        self._folder, self._staging = folder, staging
        self._number = 0
        self._undo: list[Callable[[], object]] = []

    def __enter__(self) -> FileTransaction:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            for undo in reversed(self._undo):
                with contextlib.suppress(OSError):  # The others are undone all the same.
                    undo()

    def update(self, staged: Path, new: Collection[str], stale: Collection[str]) -> None:
        """Bring files to their places and remove others.

        Pages come last, and what is stale is removed after them: links always lead somewhere.

        Args:
            staged: A folder that has the new files at their paths.
        """
        blocking = _in_the_way(stale, new)
        for path in blocking:
            self.remove(path)
        for path in sorted(new, key=lambda path: (path.endswith(".html"), path)):
            self.put(staged / path, path)
        for path in stale:
            if path not in blocking:
                self.remove(path)

    def put(self, new: Path, path: str) -> None:
        """Give a file its place, over one that may be there."""
        target = self._folder / path
        self._make(target.parent)
        if target.is_dir() and not target.is_symlink():
            self._undo.append(partial(target.mkdir, exist_ok=True))
            target.rmdir()  # An error where it isn't empty: what is in it is somebody's.
        elif os.path.lexists(target):
            self._back_up(target)
        else:
            self._undo.append(partial(target.unlink, missing_ok=True))
        move(new, target)

    def remove(self, path: str) -> None:
        """Remove a file that may be there, and the folders that are empty then."""
        target = self._folder / path
        if os.path.lexists(target):
            self._back_up(target)
            target.unlink(missing_ok=True)
        for folder in parents(path):
            if not _remove_empty(self._folder / folder):
                break

    def _back_up(self, target: Path) -> None:
        backup = self._staging / f"backup-{self._number}"
        self._number += 1

        def undo() -> None:
            if os.path.lexists(backup):
                target.parent.mkdir(parents=True, exist_ok=True)
                move(backup, target)

        self._undo.append(undo)
        try:
            os.link(target, backup, follow_symlinks=False)
        except OSError:  # A file system without hard links, or another one.
            move(target, backup)

    def _make(self, folder: Path) -> None:
        missing = []
        while not folder.exists():
            missing.append(folder)
            folder = folder.parent
        for new in reversed(missing):
            self._undo.append(partial(_remove_empty, new))
            new.mkdir()


def parents(path: str) -> Iterator[str]:
    """The folders that a file is in, by its path; the innermost first."""
    end = path.rfind("/")
    while end > 0:
        yield path[:end]
        end = path.rfind("/", 0, end)


def _in_the_way(stale: Collection[str], new: Collection[str]) -> frozenset[str]:
    """The files where a folder shall be, and those in a folder where a file shall be."""
    files = set(new)
    folders = {folder for path in new for folder in parents(path)}
    return frozenset(
        path for path in stale if path in folders or not files.isdisjoint(parents(path))
    )


def move(source: Path, target: Path) -> None:
    """Rename, over a file that may be there; from another file system, too."""
    try:
        os.replace(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        copy = target.with_name(f"{PREFIX}{os.getpid()}.new")
        try:
            shutil.copy2(source, copy, follow_symlinks=False)
            os.replace(copy, target)
        finally:
            copy.unlink(missing_ok=True)
        source.unlink()


def _remove_empty(folder: Path) -> bool:
    """Remove a folder if it is empty; whether it isn't there now."""
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
