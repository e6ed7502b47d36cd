"""Runs a command that kills itself before it touches files for the n-th time.

    python dying.py COUNT N COMMAND...

Of a run that isn't killed (N is 0) the number of times is written to the file COUNT. Only what
changes files below the working folder is counted: so one kill in N hits each step of what is
written, however short it is.
"""

import os
import runpy
import signal
import sys
from pathlib import Path
from typing import Any

CHANGES = {"os.rename", "os.link", "os.symlink", "os.remove", "os.rmdir", "os.mkdir", "os.truncate"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def main() -> None:
    count, number, *command = sys.argv[1:]
    here = os.getcwd()
    seen = 0

    def hook(event: str, given: tuple[Any, ...]) -> None:
        nonlocal seen
        if event == "open":
            if not isinstance(given[2], int) or not given[2] & WRITING:
                return
        elif event not in CHANGES:
            return
        try:
            path = os.path.abspath(os.fsdecode(given[0]))
        except TypeError:  # A handle.
            return
        if not path.startswith(here) or "__pycache__" in path:
            return
        seen += 1
        if seen == int(number):
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    sys.argv = command
    try:
        if command[0].endswith(".py"):
            sys.path.insert(0, str(Path(command[0]).parent))
            runpy.run_path(command[0], run_name="__main__")
        elif command[0] == "gridatlas":
            from gridatlas.cli.main import main as gridatlas

            gridatlas()
        else:
            runpy.run_module(command[0], run_name="__main__", alter_sys=True)
    finally:
        counted = seen
        Path(count).write_text(str(counted))


if __name__ == "__main__":
    main()
