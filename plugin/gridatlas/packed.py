"""Texts and files by their names in one block of bytes, each unpacked when it is asked for.

Pages and downloads of a site with a thousand grids are hundreds of megabytes of text: they are held
and kept compressed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping

Content = str | bytes

_QUICK = 1
"""Level of compression: others take several times as long for a tenth less."""


class Packed(Mapping[str, Content]):
    """What `pack` was given.

    Args:
        block: What `pack` gave.
    """

    def __init__(self, block: bytes) -> None:
        start = block.index(b"\n") + 1
        self._block = block
        self._places: dict[str, tuple[bool, int, int]] = {}
        for name, is_text, length in json.loads(block[: start - 1]):
            self._places[name] = (is_text, start, start + length)
            start += length

    def __getitem__(self, name: str) -> Content:
        is_text, start, end = self._places[name]
        if is_text:
            return zlib.decompress(memoryview(self._block)[start:end]).decode()
        return self._block[start:end]

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
    return b"".join([json.dumps(head).encode(), b"\n", *bodies])


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
