"""How often a build reports its progress."""

from __future__ import annotations

import time
from collections.abc import Callable

INTERVAL = 2.0
"""Seconds before the first report, and between two."""


def throttled(report: Callable[[str], None]) -> Callable[[str], None]:
    """A reporter that hands on what was done at most every `INTERVAL` seconds."""
    last = time.monotonic()

    def progress(done: str) -> None:
        nonlocal last
        if time.monotonic() - last >= INTERVAL:
            last = time.monotonic()
            report(done)

    return progress
