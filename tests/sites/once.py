"""What is made once per test run, however many processes run the tests."""

import fcntl
import functools
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Made = TypeVar("Made")


def common(base: Path) -> Path:
    """The folder of the test run, of which each process has a part."""
    return base.parent if base.name == f"popen-{os.environ.get('PYTEST_XDIST_WORKER')}" else base


def once(make: Callable[[Path], Made]) -> Callable[[Path], Made]:
    """Let the first process that asks make it, in the common folder, while the others wait."""

    @functools.cache
    def made(base: Path) -> Made:
        folder = common(base)
        pickled = folder / f"{make.__name__}.pickle"
        with (folder / f"{make.__name__}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not pickled.exists():
                pickled.write_bytes(pickle.dumps(make(folder)))
        return pickle.loads(pickled.read_bytes())

    return made
