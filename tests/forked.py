"""Runs commands in processes that have the libraries already: copies of one that waits.

The host that `gridatlas build --site` starts is a copy, too.

What a command does, says and returns is as where Python starts anew, without the second of the
processor that it takes to import MkDocs, Material, Altair and ourselves. All copies have the same
order of sets: what might depend on it is looked for with Python started anew.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import json
import multiprocessing
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compiled import compile_once, list_once, look_up_once
from drawn import draw_once

COMMANDS = ("mkdocs", "gridatlas", "zensical")
"""What can be run, beside scripts; not ProperDocs, which takes the place of MkDocs in a process."""

_LIBRARIES = (
    "altair", "babel.dates", "gridatlas.assessment.answers", "gridatlas.cli.build",
    "gridatlas.cli.check", "gridatlas.cli.new", "gridatlas.hosts.mkdocs.plugin",
    "gridatlas_import.command", "gridatlas_import.detect", "gridatlas_review.base",
    "gridatlas_review.command", "gridatlas_zensical.export", "markdown.extensions.tables",
    "markdown.extensions.toc", "material.plugins.search.plugin", "mkdocs.commands.build",
    "mkdocs.config.defaults", "numpy", "pygments.formatters.html", "pymdownx.superfences",
    "pymdownx.tabbed",
)  # fmt: skip


def run(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    apart: bool = False,
    timeout: float = 600,
) -> subprocess.CompletedProcess[str]:
    """Run a command, and read all that it says.

    Args:
        command: One of `COMMANDS` or the path of a script, and its arguments.
        folder: Where it is run.
        environment: All variables that it has.
        apart: Whether errors are read apart from standard output; else all is in `stdout`.
        timeout: Seconds after which it is killed.

    Raises:
        subprocess.TimeoutExpired: It was killed.
    """
    with tempfile.TemporaryDirectory(prefix="streams-") as streams:
        out = Path(streams, "out")
        err = Path(streams, "err") if apart else out
        running = start(command, folder, environment, out, err)
        status = running.wait(timeout)
        texts = [file.read_text("utf-8") for file in (out, err)]
    return subprocess.CompletedProcess(list(command), status, texts[0], texts[1] if apart else None)


@dataclass(frozen=True)
class Running:
    """A command that runs; before the next one is started, this one has to be waited for."""

    command: Sequence[str]
    number: int

    def send_signal(self, sent: signal.Signals) -> None:
        os.kill(self.number, sent)

    def wait(self, timeout: float) -> int:
        """The exit status; of a signal, its negative number.

        Raises:
            subprocess.TimeoutExpired: It took longer, and was killed.
        """
        answers = _server().stdout
        assert answers is not None
        ended, _, _ = select.select([answers], [], [], timeout)
        if not ended:
            self.send_signal(signal.SIGKILL)
        status = int(answers.readline())
        if not ended:
            raise subprocess.TimeoutExpired(list(self.command), timeout)
        return status


def start(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], out: Path, err: Path
) -> Running:
    """As `run`, without waiting for the end; what it says goes to the end of files."""
    task = {"command": list(command), "folder": str(folder), "out": str(out), "err": str(err)}
    for file in (out, err):
        file.touch()  # It may be killed before it comes to that.
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(task | {"environment": dict(environment)}).encode() + b"\n")
    return Running(command, int(server.stdout.readline()))


@functools.cache
def commands() -> Path:
    """A folder for PATH: `COMMANDS` and `python -m mkdocs` of scripts are copies, too.

    They read nothing, and one ends before the next begins: no pipe leads from one to another.
    """
    folder = Path(tempfile.mkdtemp(prefix="commands-"))
    atexit.register(shutil.rmtree, folder)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(folder / "asked"))
    listening.listen()
    asking = f"#!{sys.executable} -IS\n{_ASKING}".replace("SOCKET", repr(str(folder / "asked")))
    python = '#!/bin/sh\n[ "$1 $2" = "-m mkdocs" ] && { shift 2; exec mkdocs "$@"; }\n'
    scripts = dict.fromkeys(COMMANDS, asking) | {"python": f'{python}exec {sys.executable} "$@"\n'}
    for name, script in scripts.items():
        (folder / name).write_text(script, "utf-8")
        (folder / name).chmod(0o755)
    threading.Thread(target=_answer, args=[listening], daemon=True).start()
    return folder


_ASKING = """\
import json, os, socket, sys
name = os.path.basename(sys.argv[0])
task = [[name, *sys.argv[1:]], os.getcwd(), dict(os.environ), os.getpid()]
with socket.socket(socket.AF_UNIX) as asked:
    asked.connect(SOCKET)
    asked.sendall(json.dumps(task).encode() + b"\\n")
    status = int(asked.makefile().readline())
sys.exit(status if status >= 0 else 128 - status)
"""


def _answer(listening: socket.socket) -> None:
    while True:
        asked, _ = listening.accept()
        with asked, asked.makefile("rw") as request:
            command, folder, environment, number = json.loads(request.readline())
            # Whoever asks waits: what its streams are is what the copy writes to.
            out, err = [Path(f"/proc/{number}/fd/{stream}") for stream in (1, 2)]
            request.write(f"{start(command, Path(folder), environment, out, err).wait(600)}\n")


@functools.cache
def _server() -> subprocess.Popen[bytes]:
    """The process that others are copies of, for as long as this one lives."""
    server = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )

    def end() -> None:
        assert server.stdin is not None
        server.stdin.close()
        server.wait()

    atexit.register(end)
    return server


# --- there ----------------------------------------------------------------------------------------


def _serve() -> None:
    """Run a task per line: write the number of its process, and its exit status when it ended."""
    for library in _LIBRARIES:
        importlib.import_module(library)
    templates = Path(tempfile.mkdtemp(prefix="templates-"))
    compile_once(templates)
    drawing = draw_once(templates)
    look_up_once()
    list_once(Path(str(importlib.import_module("material").__file__)).parent / "templates")
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)  # As in conftest.py: it is the time of the tests.
    tasks, answers = os.fdopen(os.dup(0), "rb", buffering=0), os.dup(1)
    number = 0
    while line := tasks.readline():
        if number:
            os.waitpid(number, 0)
        task = json.loads(line)
        number = os.fork()
        if not number:
            tasks.close()
            os.close(answers)
            _become(**task)
            return  # And Python ends as it always does.
        os.write(answers, b"%d\n" % number)
        # Its number stays its own until the next task: a signal reaches nobody else.
        ended = os.waitid(os.P_PID, number, os.WEXITED | os.WNOWAIT)
        by_itself = ended.si_code == os.CLD_EXITED
        os.write(answers, b"%d\n" % (ended.si_status if by_itself else -ended.si_status))
    drawing.terminate()
    shutil.rmtree(templates)


def _become(
    command: Sequence[str], folder: str, environment: Mapping[str, str], out: str, err: str
) -> None:
    """Do what the command does, as if Python had been started for it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    for place, opened in enumerate([os.open(os.devnull, os.O_RDONLY), os.open(out, flags)]):
        os.dup2(opened, place)
        os.close(opened)
    if err == out:
        os.dup2(1, 2)
    else:
        opened = os.open(err, flags)
        os.dup2(opened, 2)
        os.close(opened)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    tempfile.tempdir = None
    os.chdir(folder)
    name, *arguments = command
    script = Path(sys.executable).with_name(name) if name in COMMANDS else Path(name)
    sys.argv = [str(script), *arguments]
    if name == "mkdocs":
        sys.path[0] = folder
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
        if name == "gridatlas":
            sites = importlib.import_module("gridatlas.hosts.sites")
            vars(sites)["subprocess"] = _Subprocess
        sys.path[0] = str(script.parent)
        runpy.run_path(str(script), run_name="__main__")


class _Host:
    """A host that builds, as `subprocess.Popen` gives it."""

    def __init__(
        self, command: Sequence[str], folder: Path, environment: Mapping[str, str]
    ) -> None:
        self._command = command
        host = (command[2], command[3:], folder, environment)
        self._process = multiprocessing.get_context("fork").Process(target=_be_host, args=host)
        self._process.start()
        self.pid = self._process.pid

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(list(self._command), timeout or 0)
        return self._process.exitcode


class _Subprocess:
    """Takes the place of the module where a host is started."""

    TimeoutExpired = subprocess.TimeoutExpired

    @staticmethod
    def Popen(command: Sequence[str], *, cwd: Path, env: Mapping[str, str], **more: Any) -> Any:
        if command[2] in COMMANDS and command[3] == "build":
            return _Host(command, cwd, env)
        return subprocess.Popen(command, cwd=cwd, env=env, **more)


def _be_host(
    module: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> None:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv, sys.path[0] = [module, *arguments], str(folder)
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _serve()
