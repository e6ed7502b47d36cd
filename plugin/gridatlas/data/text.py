"""Read a file as text, or say why it can't be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gridatlas.files.door import read_file, resolved
from gridatlas.model.limits import NotRead
from gridatlas.model.problems import UNSEEN, Problem, nearest, quote


def not_read(error: OSError | NotRead, path: Path, name: str) -> Problem:
    """The problem of a file that the door didn't open."""
    if isinstance(error, NotRead):
        return error.problem(name)
    if not isinstance(error, FileNotFoundError):
        return Problem.of("unreadable-file", name, error.strerror or str(error))
    beside = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
    near = nearest(path.name, beside)
    return Problem.of(
        "no-such-file",
        name,
        "no such file" + (f"; there is {quote(near)}" if near else ""),
        fix=f"rename {quote(near)} or correct the name" if near else None,
    )


def read_text(
    path: Path, name: str, within: Path | None = None
) -> tuple[str | None, list[Problem]]:
    """The text of a UTF-8 file (a byte order mark is allowed), or the problem with it.

    Args:
        within: The folder that the file has to be in; None where it may be anywhere.
    """
    try:
        data = read_file(path, within)
    except (OSError, NotRead) as error:
        return None, [not_read(error, path, name)]
    if not data.removeprefix(b"\xef\xbb\xbf").strip():
        return None, [Problem.of("empty-file", name, "an empty file")]
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return None, [Problem.of("wrong-encoding", name, "text in UTF-16", 1)]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        found = f"byte 0x{data[error.start]:02x} at column {column}, which is not UTF-8"
        return None, [Problem.of("wrong-encoding", name, found, line)]
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        return None, [Problem.of("wrong-encoding", name, "a NUL character", line)]
    problems = [
        Problem.of(
            "merge-conflict", name, f"an unresolved merge conflict, lines {first}–{last}", first
        )
        for first, last in _conflicts(text)
    ]
    return (None, problems) if problems else (text, [])


def _conflicts(text: str) -> Iterator[tuple[int, int]]:
    """First and last line of what git left where two versions of a file didn't fit together."""
    if "\n=======" not in text:
        return
    first, parted = 0, False
    for line, content in enumerate(text.split("\n"), 1):
        mark = content.rstrip("\r").partition(" ")[0]
        if mark == "<<<<<<<":
            first, parted = line, False
        elif mark == "=======" and first:
            parted = True
        elif mark == ">>>>>>>" and parted:
            yield first, line
            first, parted = 0, False


def outside(path: Path, data: Path, name: str) -> Problem | None:
    """What is wrong with a path in the data folder that leads out of it over a link.

    Args:
        path: A file or folder, there or not.
        name: The path as it shall stand in messages.
    """
    try:
        resolved(path, data)
    except (OSError, NotRead) as error:
        return not_read(error, path, name)
    return None


def unprintable(text: str) -> bool:
    """Whether a text has a character that no XML can hold."""
    return UNSEEN.search(text) is not None


_PORTS = (f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³")
_DEVICES = frozenset(["con", "prn", "aux", "nul", "conin$", "conout$", *_PORTS])


def unnameable(name: str) -> bool:
    """Whether Windows can have no file or folder of a name, whose dots begin an ending.

    It takes some names for devices, in either case and with any ending, and drops dots and spaces
    at the end.
    """
    if name in (".", ".."):
        return False
    return name.partition(".")[0].rstrip().lower() in _DEVICES or name.endswith((".", " "))


NAMEABLE = (
    "a name that Windows can have: not that of a device (con, prn, aux, nul, com1, lpt1, with any "
    "ending), and no dot or space at its end"
)


_EXPECTED = {
    "bool_type": "true or false",
    "dict_type": "keys with values",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
    "int_type": "a whole number",
    "model_attributes_type": "keys with values",
    "model_type": "keys with values",
    "string_too_short": "a text that is not empty",
    "string_type": "a text",
    "too_short": "at least one entry",
    "tuple_type": "a list",
}
"""Plain words for what pydantic says in Python's."""


def found_and_expected(error: Any) -> tuple[str, str]:
    """What stands in the place of a value, and what should, in the words of problems.

    Args:
        error: One of those that pydantic gives.
    """
    expected = _EXPECTED.get(error["type"]) or (
        error["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    )
    value = error["input"]
    if isinstance(value, list | tuple | dict):
        return f"a {'mapping' if isinstance(value, dict) else 'list'}", expected
    return "nothing" if value is None else quote(value), expected
