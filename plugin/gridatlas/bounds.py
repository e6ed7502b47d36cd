"""How long a user's templates may run, with how much memory, and what their operators may make.

Jinja's sandbox keeps a template from Python's inside; it doesn't keep one from running for ever.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

MOST_SECONDS = 10
"""For one page, or for reading one template; ours take a hundredth of a second."""
MOST_BYTES = 2**30
"""Memory that may be added meanwhile; known on Linux only."""
LARGEST = 10**6
"""Characters of a text, items of a list, or bits of a number that one operator may make."""
OPERATORS = frozenset(["*", "**", "%"])
"""Those that can make something huge of something small."""


class TooMuch(Exception):
    """A template that takes too long, or makes too much."""


def check_operator(operator: str, left: Any, right: Any) -> None:
    """See that an operator of `OPERATORS` makes nothing huge.

    Raises:
        TooMuch: If it would.
    """
    if _size(operator, left, right) > LARGEST:
        raise TooMuch(f"what {operator} makes here is too large")


def _size(operator: str, left: Any, right: Any) -> int:
    """An upper bound of how much an operator makes; 0 where that can't be much."""
    left_number, right_number = (isinstance(one, int) for one in (left, right))
    if operator == "%":
        return _width(left) if isinstance(left, str) else 0
    if left_number and right_number:
        bits = abs(left).bit_length()
        return int(bits * max(right, 0) if operator == "**" else bits + abs(right).bit_length())
    if operator == "*" and (left_number or right_number):
        times, one = (left, right) if left_number else (right, left)
        return int(times) * len(one) if hasattr(one, "__len__") else 0
    return 0


def _width(form: str) -> int:
    """The width that a text such as `%1000000000d` gives to what is put in; `*` may be any."""
    widths = [one.lstrip("-+ #0") for one in form.split("%")[1:]]
    digits = ["".join(c for c in one.split(" ")[0] if c.isdigit()) for one in widths]
    if any(one.startswith("*") or ".*" in one for one in widths):
        return LARGEST + 1
    return max((int(one[:9]) for one in digits if one), default=0)


@contextmanager
def bounded(folder: Path | None) -> Iterator[None]:
    """Run templates of a folder with bounds on their time and memory; None for our own, without.

    Raises:
        TooMuch: In the line of a template that takes too long; MemoryError without memory for it.
    """
    if folder is None or sys.gettrace() is not None:  # a debugger, or what measures coverage
        yield
        return
    inside = str(folder)
    until = time.monotonic() + MOST_SECONDS

    def lines(_: FrameType, __: str, ___: Any) -> Any:
        if time.monotonic() > until:
            raise TooMuch(f"it runs for more than {MOST_SECONDS} seconds")
        return lines

    def calls(frame: FrameType, event: str, argument: Any) -> Any:
        lines(frame, event, argument)  # A filter or function of Jinja's may be what takes so long.
        return lines if frame.f_code.co_filename.startswith(inside) else None

    with _little_memory():
        sys.settrace(calls)
        try:
            yield
        finally:
            sys.settrace(None)


@contextmanager
def _little_memory() -> Iterator[None]:
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except (ImportError, OSError, ValueError):
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = pages * resource.getpagesize() + MOST_BYTES
    if soft != resource.RLIM_INFINITY:
        most = min(most, soft)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
