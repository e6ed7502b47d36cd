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


def made_once(base: Path, name: str, make: Callable[[Path], Made]) -> Made:
    """What the first process that asks makes in the common folder, while the others wait."""
    folder = common(base)
    pickled = folder / f"{name}.pickle"
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not pickled.exists():
            pickled.write_bytes(pickle.dumps(make(folder)))
    made: Made = pickle.loads(pickled.read_bytes())
    return made


def once(make: Callable[[Path], Made]) -> Callable[[Path], Made]:
    """Make something once per test run, under the function's name."""

    @functools.cache
    def made(base: Path) -> Made:
        return made_once(base, make.__name__, make)

    return made
