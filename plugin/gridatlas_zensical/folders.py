"""Folders: one that is kept like a set of files, and others that are watched for changes."""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer


@dataclass(frozen=True, slots=True)
class Content:
    """What a file shall be.

    Attributes:
        signature: Says whether it is the same as before.
    """

    signature: object
    read: Callable[[], bytes]


def in_memory(content: bytes) -> Content:
    """Content that is known."""
    return Content(hashlib.sha256(content).digest(), lambda: content)


def of_file(path: Path) -> Content:
    """The content of a file, read where it changed.

    Raises:
        OSError: Where it can't be looked at.
    """
    status = path.stat()
    return Content((status.st_ino, status.st_size, status.st_mtime_ns), path.read_bytes)


class Mirror:
    """A folder of ours; what is in it and none of the files is removed.

    Files come to their places whole: somebody is watching them.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._signatures: dict[str, object] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self._paths = {
            path.relative_to(folder).as_posix()
            for path in folder.rglob("*")
            if path.is_symlink() or not path.is_dir()
        }

    def bring(self, files: Mapping[str, Content]) -> tuple[str, ...]:
        """Bring the folder to hold these files.

        Returns:
            The paths of what was written and removed.

        Raises:
            OSError: Where something can't be read or written.
        """
        changed = []
        for path in sorted(self._paths - files.keys()):
            target = self._folder / path
            target.unlink(missing_ok=True)
            for folder in target.relative_to(self._folder).parents:
                if folder == Path() or any((self._folder / folder).iterdir()):
                    break
                (self._folder / folder).rmdir()
            self._signatures.pop(path, None)
            changed.append(path)
        for path, content in files.items():
            if path in self._paths and self._signatures.get(path) == content.signature:
                continue
            if self._write(path, content.read()):
                changed.append(path)
            self._signatures[path] = content.signature
        self._paths = set(files)
        return tuple(changed)

    def _write(self, path: str, content: bytes) -> bool:
        target = self._folder / path
        if path in self._paths and target.is_file() and target.read_bytes() == content:
            return False
        if target.is_dir():
            shutil.rmtree(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        # Beside the folder, where nobody watches.
        new = self._folder.with_name(f"{self._folder.name}.new")
        new.write_bytes(content)
        os.replace(new, target)
        return True


# --- changes, also those of a folder that goes and comes again -----------------------------------

CHANGES = ("created", "modified", "moved", "deleted")
"""Kinds of events that are changes: our own reading is an event as well."""
QUIET = 0.15
"""Seconds without a change after which a row of changes is over."""


class Watcher(FileSystemEventHandler):
    """Watches files and folders, there or not."""

    def __init__(self, watched: Iterable[Path]) -> None:
        self._changed = threading.Event()
        self._observer = Observer()
        self._watched = _numbers(watched)
        self._schedule()
        self._observer.start()

    def watch(self, watched: Iterable[Path]) -> None:
        """Watch these from now on; where another folder has the place of one, that folder."""
        new = _numbers(watched)
        if new == self._watched:
            return
        self._watched = new
        self._observer.unschedule_all()
        self._schedule()
        # What changed while nobody watched isn't known.
        self._changed.set()

    def _schedule(self) -> None:
        # A folder that comes is seen from above.
        for folder in {path.parent for path in self._watched}:
            if folder.is_dir():
                self._observer.schedule(self, str(folder), recursive=False)
        for path in self._watched:
            if path.is_dir():
                self._observer.schedule(self, str(path), recursive=True)

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Take note of a change to what is watched."""
        if event.event_type in CHANGES and (
            self._is_watched(event.src_path) or self._is_watched(event.dest_path)
        ):
            self._changed.set()

    def _is_watched(self, name: bytes | str) -> bool:
        path = Path(os.fsdecode(name))
        return bool(name) and any(watched in (path, *path.parents) for watched in self._watched)

    def wait(self, seconds: float) -> bool:
        """Wait for a change, and for the end of those that come with it.

        Returns:
            Whether there was one.
        """
        if not self._changed.wait(seconds):
            return False
        while self._changed.is_set():
            self._changed.clear()
            self._changed.wait(QUIET)
        return True

    def end(self) -> None:
        """Watch no more."""
        self._observer.stop()
        self._observer.join()


def _numbers(watched: Iterable[Path]) -> dict[Path, object]:
    return {path.absolute(): _number(path) for path in watched}


def _number(path: Path) -> object:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if path.is_dir() else True
