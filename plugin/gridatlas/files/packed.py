"""Texts and files by their names in one block of bytes, each unpacked when it is asked for.

Pages and downloads of a site with a thousand grids are hundreds of megabytes of text: they are
kept compressed, and stay on the disk until they are asked for.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Protocol
from weakref import finalize

Content = str | bytes

_QUICK = 1
"""Level of compression: others take several times as long for a tenth less."""
_DIGITS = 12
"""Of the length of what tells the names, which a block begins with."""


class Block(Protocol):
    """Bytes of which parts are read."""

    def read(self, start: int, end: int) -> bytes:
        """The bytes from one place up to another."""


class Held:
    """A block in memory."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def read(self, start: int, end: int) -> bytes:
        """The bytes from one place up to another."""
        return self._content[start:end]


class Spool:
    """Blocks in a file without a name, which is gone with the last of them.

    Args:
        folder: Of the disk that has the file; None holds blocks in memory, and so does a disk that
            can't be written to.
    """

    def __init__(self, folder: Path | None) -> None:
        self._file = -1
        self._end = 0
        if folder is not None and hasattr(os, "pread"):
            with suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)
                with TemporaryFile(dir=folder) as file:
                    self._file = os.dup(file.fileno())
                finalize(self, os.close, self._file)

    def add(self, content: bytes) -> Block:
        """A block with this content."""
        if self._file < 0:
            return Held(content)
        start, left = self._end, memoryview(content)
        try:
            while left:
                written = os.pwrite(self._file, left, self._end)
                self._end, left = self._end + written, left[written:]
        except OSError:  # The disk is full.
            return Held(content)
        return _Spooled(self, start)

    def read(self, start: int, end: int) -> bytes:
        """The bytes from one place of the file up to another."""
        return os.pread(self._file, end - start, start)


class _Spooled:
    """A block in a spool, from one place on."""

    def __init__(self, spool: Spool, start: int) -> None:
        self._spool, self._start = spool, start

    def read(self, start: int, end: int) -> bytes:
        return self._spool.read(self._start + start, self._start + end)


class Packed(Mapping[str, Content]):
    """What `pack` gave, as it was before.

    Args:
        block: What `pack` gave.
        start: Where in the block it begins.
    """

    def __init__(self, block: Block, start: int = 0) -> None:
        self._block = block
        digits = block.read(start, start + _DIGITS)
        end = start + _DIGITS + int(digits)
        self._places: dict[str, tuple[bool, int, int]] = {}
        head, start = block.read(start + _DIGITS, end), end
        for name, is_text, length in json.loads(head):
            self._places[name] = (is_text, start, start + length)
            start += length

    def __getitem__(self, name: str) -> Content:
        is_text, start, end = self._places[name]
        content = self._block.read(start, end)
        return zlib.decompress(content).decode() if is_text else content

    def packed(self, name: str) -> Packed:
        """Content that is itself what `pack` gave, which isn't read for that."""
        return Packed(self._block, self._places[name][1])

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places


def pack(content: Mapping[str, Content]) -> bytes:
    """One block with all of it; bytes, which are pictures, stay as they are."""
    head, bodies = [], []
    for name, one in content.items():
        body = zlib.compress(one.encode(), _QUICK) if isinstance(one, str) else one
        head.append((name, isinstance(one, str), len(body)))
        bodies.append(body)
    first = json.dumps(head).encode()
    return b"".join([b"%*d" % (_DIGITS, len(first)), first, *bodies])


class Files(Mapping[str, Content]):
    """The files of a site by their paths; those that were packed stay so until they are read."""

    def __init__(self) -> None:
        self._at: dict[str, Content | Packed] = {}

    def add(self, more: Mapping[str, Content]) -> None:
        """Add files; of two at the same path, the later one counts."""
        self._at |= dict.fromkeys(more, more) if isinstance(more, Packed) else more

    def __getitem__(self, path: str) -> Content:
        content = self._at[path]
        return content[path] if isinstance(content, Packed) else content

    def __iter__(self) -> Iterator[str]:
        return iter(self._at)

    def __len__(self) -> int:
        return len(self._at)

    def __contains__(self, path: object) -> bool:
        return path in self._at
