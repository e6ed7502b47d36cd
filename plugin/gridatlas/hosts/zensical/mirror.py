"""A folder that is kept like a set of files: only what changed is written."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


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
