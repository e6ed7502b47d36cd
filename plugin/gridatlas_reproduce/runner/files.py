"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from gridatlas.files.atomic import temporary_file
from gridatlas.model.problems import quote
from gridatlas_reproduce.runner.errors import CannotRun, not_written, readable

T = TypeVar("T")
_COMPACT = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def compact(value: Any) -> str:
    """JSON on one line: keys sorted, no spaces, text as it is."""
    return _COMPACT.encode(value)


class NotStrict(ValueError):
    """JSON that Python reads and `compact` never writes; says what it has."""


def strict_json(data: bytes) -> Any:
    """Read JSON as strictly as it is written: no key twice, no NaN, no text that isn't UTF-8.

    Raises:
        NotStrict: For what Python would take.
        ValueError: For what isn't JSON.
        RecursionError: For what is nested too deeply.
    """
    value = _STRICT.decode(data.decode("utf-8-sig"))
    if b"\\ud" in data or b"\\uD" in data:
        try:
            compact(value).encode()
        except UnicodeEncodeError as error:
            half = ascii(error.object[error.start])[1:-1]
            raise NotStrict(f"half a character ({half})") from error
    return value


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        raise NotStrict(f"the key {quote(next(key for key in keys if keys.count(key) > 1))} twice")
    return content


def _no_constant(text: str) -> float:
    raise NotStrict(f"{text}, which JSON doesn't have")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise NotStrict(f"{text[:40]}, a number that is too large")
    return number


_STRICT = json.JSONDecoder(
    object_pairs_hook=_no_key_twice, parse_constant=_no_constant, parse_float=_finite
)


def each_line(
    path: Path, read: Callable[[str], T], expected: str, correct: str, per_line: tuple[str, str]
) -> list[T]:
    """What the lines of a text file are, but for empty ones.

    Args:
        read: Makes something of a line; its ValueError says what is wrong with it.
        expected, correct: For a file that can't be read: what it should be, and what to correct.
        per_line: The same for a line.

    Raises:
        CannotRun: With the line.
    """
    with readable(path, expected, correct):
        lines = path.read_text(encoding="utf-8").splitlines()
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(read(line))
            except ValueError as error:
                raise CannotRun(f"{path}, line {number}: {error}", *per_line) from error
    return found


def indented(value: Mapping[str, Any]) -> bytes:
    """JSON for people: keys sorted, a line per value, and one per entry of a list of mappings."""
    parts = []
    for key, member in sorted(value.items()):
        if isinstance(member, list) and member and all(isinstance(entry, dict) for entry in member):
            text = "[\n    " + ",\n    ".join(map(compact, member)) + "\n  ]"
        else:
            text = json.dumps(member, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
            text = text.replace("\n", "\n  ")
        parts.append(f"  {compact(key)}: {text}")
    return ("{\n" + ",\n".join(parts) + "\n}\n").encode()


def digest(value: Any) -> str:
    """Sha256 of a JSON value, in hex; the same for the same value whatever the order of keys."""
    return hashlib.sha256(compact(value).encode()).hexdigest()


def write_atomic(path: Path, data: bytes, *, replace: bool = True) -> bool:
    """Write a file so that after a crash at any moment it is there whole, or as it was before.

    It is written under another name in the same folder, brought to the disk, and renamed.

    Args:
        replace: False leaves a file that is there already as it is.

    Returns:
        Whether it was written.

    Raises:
        CannotRun: For a full disk, or a folder that can't be written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_file(path) as (file, temporary):
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            # Whoever else writes it waits for this one.
            if path.exists() and not replace:
                return False
            os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        raise not_written(path, error) from error
    return True


def _sync_folder(folder: Path) -> None:
    """Bring a folder's new name to the disk, where the file system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
