"""When no garbage is looked for: while a lot is read and laid out that all stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_disabled() -> Iterator[None]:
    """Python looks for no cycles meanwhile.

    It looks through all objects again and again as they become more. Of a million cells, none is
    garbage: that is a quarter of the time that it takes to read them.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
