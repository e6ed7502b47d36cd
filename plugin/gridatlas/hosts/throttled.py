"""How often a build says how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable


def from_two_seconds_on(say: Callable[[str], None]) -> Callable[[str], None]:
    """Hands on what was done from two seconds on, and then every two seconds at most."""
    said = [time.monotonic()]

    def maybe(done: str) -> None:
        if time.monotonic() - said[0] >= 2:
            said[0] = time.monotonic()
            say(done)

    return maybe
