"""How far a run is, on stderr: units done, their rate, and the time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

import click

from gridatlas.model.inert import without_commands

EVERY = 10.0
"""Seconds between two lines where stderr is no terminal."""
_REDRAW = 0.2
CLEAR = "\r\x1b[K"
"""Takes away the line that a terminal shows."""


def report(message: str) -> None:
    """A message on stderr, on a line of its own even while a bar is drawn."""
    text = (CLEAR if sys.stderr.isatty() else "") + without_commands(message)
    click.echo(text, err=True)  # noqa: TID251 (without commands)


class ProgressReporter:
    """Reports the first message, the last, and between them one every ten seconds."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self._reported = -float("inf")

    def __call__(self, message: str, last: bool) -> None:
        """Report it, if it is time or the last."""
        if not self.quiet and (last or time.monotonic() - self._reported > EVERY):
            self._reported = time.monotonic()
            report(message)


class Progress:
    """Counts units; a bar on a terminal, else a line every ten seconds and at the end."""

    def __init__(
        self,
        of: int,
        done: int = 0,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        what: str = "units",
    ) -> None:
        self.of, self.done, self.before = of, done, done
        self._what = what
        self._last = -1
        self._stream = sys.stderr if stream is None else stream
        self._bar = self._stream.isatty()
        self._clock = clock
        self._start = clock()
        self._shown = -float("inf")

    def advance(self, units: int = 1) -> None:
        """Count units that were done."""
        self.done += units
        self.show()

    def show(self, force: bool = False) -> None:
        """Show where the run is, unless that was shown a moment ago."""
        now = self._clock()
        if force or now - self._shown >= (_REDRAW if self._bar else EVERY):
            self._shown, self._last = now, self.done
            self._stream.write(f"{CLEAR}{self.line(bar=True)}" if self._bar else self.line() + "\n")
            self._stream.flush()

    def finish(self) -> None:
        """Show the last state, and end the line."""
        if self._bar or self._last != self.done:
            self.show(force=True)
        if self._bar:
            self._stream.write("\n")

    def line(self, bar: bool = False) -> str:
        """`120 of 400 units, 8.0 per minute, 35 min left`."""
        text = f"{self.done:,} of {self.of:,} {self._what}"
        taken, new = self._clock() - self._start, self.done - self.before
        if new and taken > 0:
            text += f", {_rate(new / taken)}"
            if self.done < self.of:
                text += f", {duration((self.of - self.done) * taken / new)} left"
            else:
                text += f", {duration(taken)} in all"
        if not bar:
            return text
        full = 20 * self.done // self.of if self.of else 20
        return f"[{'#' * full}{'.' * (20 - full)}] {text}"


def _rate(per_second: float) -> str:
    for unit, seconds in (("second", 1), ("minute", 60), ("hour", 3600)):
        rate = per_second * seconds
        if rate >= 1:
            return f"{rate:,.1f} per {unit}" if rate < 100 else f"{rate:,.0f} per {unit}"
    return f"{per_second * 86400:.1f} per day"


def duration(seconds: float) -> str:
    """`8 s`, `35 min`, `2 h 5 min`, `3 d 4 h`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"
