"""How far a command is, on a line of the terminal: how many are done, their rate, the time left."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from gridatlas.meter import CLEAR, Progress
from gridatlas.progress import listening

SHOWN_AFTER = 2.0
"""Seconds that a command may take before it says how far it is."""


class TerminalLine:
    """A listener that draws one line, and takes it away when what it counts is done."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._begun = clock()
        self._progress: Progress | None = None
        self._what = ""
        self._drawn = False

    def __call__(self, what: str, done: int, total: int) -> None:
        """Draw how many of something are done; a loop within another one isn't drawn."""
        if self._progress is not None and what != self._what:
            return
        if self._progress is None:
            self._what = what
            self._progress = Progress(total, done, self._stream, self._clock, what)
        if done >= total:
            self.clear()
        elif self._clock() - self._begun >= SHOWN_AFTER:
            self._drawn = True
            self._progress.advance(done - self._progress.done)
        else:
            self._progress.done = done

    def clear(self) -> None:
        """Take the line away."""
        self._progress = None
        if self._drawn:
            self._stream.write(CLEAR)
            self._stream.flush()
            self._drawn = False


@contextmanager
def progress_at_terminal() -> Iterator[None]:
    """Show how far what is done within is, if stderr is a terminal."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    line = TerminalLine(sys.stderr)
    with listening(line):
        try:
            yield
        finally:
            line.clear()
