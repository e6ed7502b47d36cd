"""Runs scripts as `python` does, in forks of a process that has imported PyTorch already.

Each run is a process of its own, with its own folder, environment and output, and may be killed.
Only the imports, which take longer than all that the tests compute, are made once; so are those of
math-verify, which grades in a process of its own.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

LONGEST = 600
"""Seconds after which a run ends by itself: none hangs for ever."""


@dataclass(frozen=True)
class Done:
    """How a run ended.

    Attributes:
        code: As a shell has it; −9 for one that was killed.
    """

    code: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Started:
    """A run that goes on."""

    warm: Warm
    pid: int
    out: Path

    @property
    def log(self):
        """What it has written to stderr so far."""
        return (self.out / "stderr").read_text()

    def goes_on(self):
        """Whether it hasn't ended; one that has is there until it is waited for."""
        state = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state != "Z"

    def wait(self):
        code = self.warm.ask({"wait": self.pid})
        return Done(code, (self.out / "stdout").read_text(), self.log)

    def kill_when(self, reached):
        """SIGKILL as soon as something is the case; it must still run then."""
        until = time.monotonic() + LONGEST
        while not reached():
            assert self.goes_on(), self.log
            assert time.monotonic() < until, self.log
            time.sleep(0.002)
        os.kill(self.pid, signal.SIGKILL)
        done = self.wait()
        assert done.code == -signal.SIGKILL
        return done


class Warm:
    """The process that forks; `environment` is that of all its runs."""

    def __init__(self, folder, environment):
        self.folder, self.runs = folder, 0
        self.process = subprocess.Popen(
            [sys.executable, __file__],
            env=os.environ | dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, request):
        assert self.process.stdout is not None
        self.process.stdin.write(f"{json.dumps(request)}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def start(self, words, folder, environment=None):
        """Start `python SCRIPT …` or `gridatlas …`, given as its words, in a folder."""
        self.runs += 1
        out = self.folder / str(self.runs)
        out.mkdir(parents=True)
        for name in ("stdout", "stderr"):
            (out / name).touch()
        request = {"words": list(words), "folder": str(folder), "out": str(out)}
        return Started(self, self.ask(request | {"environment": dict(environment or {})}), out)

    def run(self, words, folder, **environment):
        return self.start(words, folder, environment).wait()

    def close(self):
        self.process.communicate()


# --- the process that forks -----------------------------------------------------------------------


def serve():
    import datasets  # noqa: F401
    import huggingface_hub  # noqa: F401
    import math_verify  # noqa: F401
    import torch  # noqa: F401
    from transformers import (  # noqa: F401
        AutoModelForCausalLM,
        AutoTokenizer,
        LlamaForCausalLM,
        Qwen2ForCausalLM,
    )
    from trl import GRPOTrainer  # noqa: F401

    from gridatlas_reproduce.kv import grading

    grading.open_grade(r"\boxed{1}", "1")
    grading.subprocess = SimpleNamespace(Popen=_GraderProcess, PIPE=None, DEVNULL=None)
    for line in sys.stdin:
        request = json.loads(line)
        if "wait" in request:
            _, status = os.waitpid(request["wait"], 0)
            answer = os.waitstatus_to_exitcode(status)
        else:
            answer = os.fork()
            if answer == 0:
                _be(request)
        print(answer, flush=True)


class _GraderProcess:
    """What `Popen` gives for math-verify's process: here a copy of the run's."""

    def __init__(self, words, **_):
        from gridatlas_reproduce.kv import grading

        assert list(words) == [sys.executable, "-m", grading.__name__]
        (asked, asking), (answered, answering) = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            for number, end in enumerate((asked, answering)):
                os.dup2(end, number)
            os.closerange(3, max(asking, answered, answering) + 1)
            sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
            grading._serve()
            os._exit(0)
        os.close(asked)
        os.close(answering)
        self.stdin, self.stdout = os.fdopen(asking, "w"), os.fdopen(answered)

    def poll(self):
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if pid else None

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)

    def wait(self):
        os.waitpid(self.pid, 0)


def _be(request):
    """Become the run, and end with it."""
    code = 1
    signal.alarm(LONGEST)
    try:
        os.chdir(request["folder"])
        os.environ.update(request["environment"])
        out = Path(request["out"])
        for number, path in enumerate((Path(os.devnull), out / "stdout", out / "stderr")):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), number)
        program, *arguments = request["words"]
        if program == "gridatlas":
            from gridatlas.cli.main import main

            sys.argv = [program, *arguments]
            main()
        else:
            assert program == "python", program
            sys.argv = arguments
            runpy.run_path(arguments[0], run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve()
