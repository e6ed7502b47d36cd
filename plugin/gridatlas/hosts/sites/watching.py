"""Tells that files changed, also those of a folder that goes and comes again."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

CHANGES = ("created", "modified", "moved", "deleted")
"""Kinds of events that are changes: our own reading is an event as well."""
QUIET = 0.15
"""Seconds without a change after which a row of changes is over."""


class Watcher(FileSystemEventHandler):
    """Watches files and folders, there or not."""

    def __init__(self, watched: Iterable[Path]) -> None:
        self._changed = threading.Event()
        self._observer = Observer()
        self._watched: dict[Path, object] = {}
        self.watch(watched)
        self._observer.start()

    def watch(self, watched: Iterable[Path]) -> None:
        """Watch these from now on; where another folder has the place of one, that folder."""
        new = {path.absolute(): _number(path) for path in watched}
        if new == self._watched:
            return
        self._watched = new
        self._observer.unschedule_all()
        # A folder that comes is seen from above.
        for folder in {path.parent for path in new}:
            if folder.is_dir():
                self._observer.schedule(self, str(folder), recursive=False)
        for path in new:
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


def _number(path: Path) -> object:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if path.is_dir() else True
