"""How far long work is: loops report it, to whoever listens, such as a command at a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Listener = Callable[[str, int, int], None]
"""Called with what is counted ("rows read"), how many are done, and how many there are."""
REPORTS = 500
"""Reports of one loop at most: a million rows cost no million calls."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Have loops within report to a listener; None for nobody."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def report(what: str, done: int, total: int) -> None:
    """Report how many of something are done, if anybody listens."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


def tracked(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """The items, with a report of how many were done; none where there are fewer than two.

    Args:
        what: What is counted, such as "rows read".
        total: How many there are; needed for items without a length.
    """
    if total is None:
        assert isinstance(items, Sized)
        total = len(items)
    return iter(items) if _listener.get() is None or total < 2 else _reporting(items, what, total)


def _reporting(items: Iterable[Item], what: str, total: int) -> Iterator[Item]:
    rest, step = iter(items), max(1, total // REPORTS)
    report(what, 0, total)
    try:
        for done in range(step, total, step):
            yield from islice(rest, step)
            report(what, done, total)
        yield from rest
    finally:  # also of a loop that was left before its end
        report(what, total, total)
