"""Results kept between builds, by a key made of all that they depend on."""

from __future__ import annotations

import hashlib
from pathlib import Path

from gridatlas.files.staging import write_atomic

_HEADER = b"gridatlas-store "


def key_of(*parts: str | bytes) -> str:
    """A key that differs as soon as one part does; parts may hold anything."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


def read(folder: Path, key: str) -> bytes | None:
    """What is stored under a key; None where there is nothing, or it is damaged."""
    try:
        data = _path(folder, key).read_bytes()
    except OSError:
        return None
    head, _, body = data.partition(b"\n")
    return body if head == _HEADER + hashlib.sha256(body).hexdigest().encode() else None


def write(folder: Path, key: str, body: bytes) -> None:
    """Store whole or not at all: under another name first, then renamed.

    Raises:
        OSError: Where the folder can't be written to.
    """
    path = _path(folder, key)
    head = _HEADER + hashlib.sha256(body).hexdigest().encode() + b"\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, head + body)


def _path(folder: Path, key: str) -> Path:
    return folder / key[:2] / key
