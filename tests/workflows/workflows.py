"""Reads workflows, and runs their steps as a runner of GitHub Actions does."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = ROOT / ".github/workflows"
COPIED = ROOT / "docs/workflows"
ACTION = ROOT / ".github/actions/gridatlas"
EVENTS = Path(__file__).parent / "events"

SHELLS = {
    None: ["bash", "-e"],
    "bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"],
    "python": [sys.executable],
}
"""What each `shell:` runs a script with."""

_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")


def event(name: str) -> dict[str, Any]:
    """A recorded event, such as `workflow_run.fork`."""
    found: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text("utf-8"))
    return found


def workflow(file: Path) -> dict[str, Any]:
    """A workflow; what YAML takes `on` for is put right."""
    found: dict[Any, Any] = yaml.safe_load(file.read_text("utf-8"))
    if True in found:
        found["on"] = found.pop(True)
    return found


def steps(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The steps of a workflow or composite action, each with its job."""
    content = workflow(file)
    if "runs" in content:
        yield from (("", step) for step in content["runs"]["steps"])
    for name, job in content.get("jobs", {}).items():
        yield from ((name, step) for step in job["steps"])


def run_steps(file: Path, job: str = "") -> list[dict[str, Any]]:
    """The steps of a job that run a script."""
    return [step for name, step in steps(file) if name == job and "run" in step]


@dataclass
class Done:
    """What a step left."""

    status: int
    log: str
    summary: str


def evaluate(text: str, context: Mapping[str, Any]) -> str:
    """Put values in the place of `${{ github.event.… }}`, as a runner does; absent ones are empty.

    Anything but a name in braces is an error, so that no expression is taken for a text.
    """

    def value(found: re.Match[str]) -> str:
        value: Any = context
        for name in found[1].split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        return "" if value is None else str(value)

    assert text.count("${{") == len(_EXPRESSION.findall(text)), text
    return _EXPRESSION.sub(value, text)


def run_step(
    step: Mapping[str, Any],
    folder: Path,
    context: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
) -> Done:
    """Run a step in a folder, with nothing of the environment but what a runner gives."""
    script = folder.parent / "step.txt"
    summary = folder.parent / "summary.md"
    # An expression here would put text of strangers into a script.
    assert "${{" not in step["run"]
    script.write_text(step["run"], "utf-8")
    summary.write_text("", "utf-8")
    given = {name: evaluate(str(value), context) for name, value in step.get("env", {}).items()}
    repository = context["github"]["event"]["repository"]
    done = subprocess.run(
        [*SHELLS[step.get("shell")], str(script)],
        cwd=folder,
        env={
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder.parent),
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "NO_MKDOCS_2_WARNING": "1",
            "DISABLE_MKDOCS_2_WARNING": "true",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_REPOSITORY": repository["full_name"],
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_WORKSPACE": str(folder),
            "RUNNER_TEMP": str(folder.parent / "runner"),
            **(environment or {}),
            **given,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    return Done(done.returncode, done.stdout, summary.read_text("utf-8"))
