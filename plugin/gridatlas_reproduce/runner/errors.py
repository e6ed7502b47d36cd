"""Why a run can't go on, in one message."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from gridatlas.files.disks import FULL, free_space
from gridatlas.model.inert import without_commands
from gridatlas.model.problems import printable


class CannotRun(click.ClickException):
    """A run that can't go on as things are; click prints it without a traceback.

    Attributes:
        found: What is there.
        expected: What would have been right.
        fix: What to do about it.
    """

    def __init__(self, found: str, expected: str, fix: str) -> None:
        self.found, self.expected, self.fix = found, expected, fix
        super().__init__(
            f"{_lines(found)}\n  expected: {_lines(expected)}\n  fix:      {_lines(fix)}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # It travels between the processes of Ray.
        return type(self), (self.found, self.expected, self.fix)


class WrongUsage(CannotRun):
    """A run that isn't what was asked for: exit 2."""

    exit_code = 2


def not_written(path: Path, error: OSError) -> CannotRun:
    """The message for a file that can't be written: disk full, or no permission."""
    if error.errno in FULL:
        return CannotRun(
            f"no space to write {path} ({free_space(path)})",
            "room for the records; earlier records are complete and count",
            "free some space, or move the run's folder to a larger disk, and run the same command "
            "again: it resumes",
        )
    return CannotRun(
        f"{path} can't be written: {error.strerror or error}",
        "a folder that can be written to",
        "correct its permissions, or name another folder with --out",
    )


UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError)
"""What a file of an unexpected form raises where it is read."""


@contextmanager
def readable(path: Path, expected: str, fix: str) -> Iterator[None]:
    """Tells that a file isn't there, or of another form, in what reads it while this is open.

    Raises:
        CannotRun: In place of these errors.
    """
    try:
        yield
    except UNREADABLE as error:
        raise CannotRun(f"{path} can't be read: {why(error)}", expected, fix) from error


def why(error: BaseException) -> str:
    """What an error says, in one line."""
    text = getattr(error, "strerror", None) or str(error)
    text = f"no {text}" if isinstance(error, KeyError) else text
    return next(iter(text.strip().splitlines()), type(error).__name__)


@contextmanager
def enough_space(path: Path) -> Iterator[None]:
    """Tells that the disk is full in what other packages write while this is open.

    Raises:
        CannotRun: In place of their own errors.
    """
    try:
        yield
    except Exception as error:
        # safetensors says it in words; PyTorch only that its file isn't as long as it should be.
        words = ("os error 28", "inline_container")
        full = isinstance(error, OSError) and error.errno in FULL
        if full or any(word in str(error) for word in words):
            raise not_written(path, OSError(errno.ENOSPC, "")) from error
        raise


def _lines(text: str) -> str:
    """Text that a terminal shows as it is; only its line breaks are kept."""
    return without_commands("\n".join(map(printable, text.split("\n"))))
