"""What MkDocs's server doesn't see: a watched folder that goes and comes, a file in one's place.

Its watcher ends with the folder that it watches, and takes a folder and a file of one name and
number for the same, and a file for unchanged that has its size and its time of writing. So the
folders themselves are looked at, and where one changed, the watch is begun anew and a file is
written that the server watches, too.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

EVERY = 1.0
"""Seconds between two looks."""

LEVELS = 3
"""How deep a folder is looked at: the files of a study's runs are on the third level."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is in a folder.

    Attributes:
        written: Of a file what the server's watcher looks at: number, size and time of writing.
        changed: Of a file the time of its last change, which no program sets.
    """

    is_folder: bool
    written: tuple[int, int, int] = (0, 0, 0)
    changed: int = 0


State = tuple[tuple[int, int] | None, Mapping[str, Entry]]
"""What a folder is (device and number; None where it isn't there), and what is in it and in its
folders, by path."""


class Server(Protocol):
    """What is used of MkDocs's server."""

    def watch(self, path: str) -> None:
        """Build again when a file below the path changes."""

    def unwatch(self, path: str) -> None:
        """End that."""


class Watching:
    """Has a server build again where its own watcher sees nothing.

    Args:
        server: The server, not yet serving.
        folders: The folders to look at, there or not; those that are there are watched already.
    """

    def __init__(self, server: Server, folders: Iterable[Path]) -> None:
        self._server = server
        self._watched = {folder: folder.is_dir() for folder in folders}
        self._states = {folder: state(folder) for folder in self._watched}
        self._signals = Path(tempfile.mkdtemp(prefix="gridatlas-"))
        self._number = 0
        self._missed: frozenset[Path] = frozenset()
        self._came: frozenset[Path] = frozenset()
        self._ended = threading.Event()
        server.watch(str(self._signals))
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def missed(self, files: Iterable[Path]) -> None:
        """Remember what a build looked for in vain.

        What was away for less than the time between two looks is as it was, for those who look:
        the build that missed it is the only one that knows.
        """
        # What a build misses though it is there would be built for without end.
        self._missed = frozenset(files) - self._came

    def end(self) -> None:
        """Look no more."""
        self._ended.set()
        self._thread.join()
        shutil.rmtree(self._signals, ignore_errors=True)

    def _look(self) -> None:
        while not self._ended.wait(EVERY):
            for folder, before in self._states.items():
                now = state(folder)
                # What is gone in this moment may be a folder that a file is about to replace.
                self._states[folder] = now[0], {**before[1], **now[1]}
                if now[0] != before[0]:
                    self._watch_again(folder)
                if now[0] != before[0] or _unseen(before[1], now[1]):
                    self._trigger()
            came = frozenset(file for file in self._missed if file.exists())
            if came:
                self._came, self._missed = came, self._missed - came
                self._trigger()

    def _trigger(self) -> None:
        self._number += 1
        (self._signals / str(self._number)).touch()

    def _watch_again(self, folder: Path) -> None:
        if self._watched[folder]:
            self._server.unwatch(str(folder))
        self._watched[folder] = folder.is_dir()
        if not self._watched[folder]:
            return
        try:
            self._server.watch(str(folder))
        except OSError:  # It is gone again. The server has counted the watch all the same.
            self._watched[folder] = False
            with contextlib.suppress(KeyError):
                self._server.unwatch(str(folder))


def state(folder: Path) -> State:
    """What a folder is, and what is in it."""
    try:
        status = folder.stat()
        entries = dict(_entries(folder))
    except OSError:
        return None, {}
    return (status.st_dev, status.st_ino), entries


def _entries(folder: Path, depth: int = LEVELS) -> Iterator[tuple[str, Entry]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry.path, _entry(entry)
            if depth > 1 and entry.is_dir():
                yield from _entries(Path(entry.path), depth - 1)


def _entry(found: os.DirEntry[str]) -> Entry:
    if found.is_dir():
        return Entry(True)
    try:
        status = found.stat()
    except OSError:  # It is gone, or a link that leads nowhere.
        return Entry(False)
    return Entry(False, (status.st_ino, status.st_size, status.st_mtime_ns), status.st_ctime_ns)


def _unseen(before: Mapping[str, Entry], now: Mapping[str, Entry]) -> bool:
    """Whether something changed that the server's watcher takes for unchanged."""
    pairs = ((before.get(path, entry), entry) for path, entry in now.items())
    return any(
        # A folder is a file now, or the other way round.
        old.is_folder != new.is_folder
        or (old.written == new.written and old.changed != new.changed)
        for old, new in pairs
    )
