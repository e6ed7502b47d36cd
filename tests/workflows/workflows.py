"""Reads workflows, and runs their steps as a runner of GitHub Actions does."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import forked
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = ROOT / ".github/workflows"
RESULTS = WORKFLOWS / "results.yml"
COMMENT = WORKFLOWS / "comment.yml"
DEPLOY = WORKFLOWS / "deploy.yml"
EVENTS = Path(__file__).parent / "events"

SHELLS = {
    None: ["bash", "-e"],
    "bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"],
    "python": [sys.executable],
}
"""What each `shell:` runs a script with."""

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")
_TOKEN = re.compile(r"\s*(?:(?P<sign>&&|\|\||==|!=|!|\(|\))|(?P<text>'[^']*')|(?P<name>[\w.-]+))")
_SIGNS = {"&&": " and ", "||": " or ", "!": " not "}


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
    """The steps of a workflow, each with its job; a job that calls a workflow has none."""
    for name, job in workflow(file)["jobs"].items():
        yield from ((name, step) for step in job.get("steps", ()))


def run_steps(file: Path, job: str) -> list[dict[str, Any]]:
    """The steps of a job that run a script."""
    return [step for name, step in steps(file) if name == job and "run" in step]


@dataclass
class Done:
    """What a step left."""

    status: int
    log: str
    summary: str
    outputs: dict[str, str] = field(default_factory=dict)


def condition(text: str, context: Mapping[str, Any]) -> Any:
    """The value of an expression of names, texts, `==`, `!=`, `&&`, `||`, `!` and parentheses.

    Anything else is an error, so that no expression is taken for a text.
    """
    python, values, at = "", [], 0
    while token := _TOKEN.match(text, at):
        at = token.end()
        if token["sign"]:
            python += _SIGNS.get(token["sign"], token["sign"])
            continue
        value: Any = token["text"] and token["text"][1:-1]
        if value is None:
            value = context
            for name in token["name"].split("."):
                value = value.get(name) if isinstance(value, Mapping) else None
        python += f"v[{len(values)}]"
        values.append("" if value is None else value)
    assert not text[at:].strip(), text
    return eval(python, {"__builtins__": {}, "v": values})


def evaluate(text: str, context: Mapping[str, Any]) -> str:
    """Put values in the place of `${{ … }}`, as a runner does; absent ones are empty."""

    def value(found: re.Match[str]) -> str:
        value = condition(found[1], context)
        return str(value).lower() if isinstance(value, bool) else str(value)

    assert text.count("${{") == len(_EXPRESSION.findall(text)), text
    return _EXPRESSION.sub(value, text)


def grid_atlas(base: Path) -> tuple[str, dict[str, str]]:
    """A repository of Grid Atlas with what an installation runs and reads first.

    Returns:
        Its commit, and the environment in which git finds it on GitHub as `atlas/grid-atlas`.
    """
    folder = base / "github/atlas/grid-atlas"
    for name in (
        ".github/scripts/install_hashed.sh",
        ".github/scripts/dependencies.py",
        ".github/scripts/comment.py",
        ".github/scripts/github_api.py",
        ".github/scripts/previews.py",
        "pyproject.toml",
        "requirements-hashed.lock",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "--quiet"], ["add", "."], [*who, "commit", "--quiet", "-m", "x"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    read = ["git", "rev-parse", "HEAD"]
    commit = subprocess.run(read, cwd=folder, capture_output=True, text=True, check=True).stdout
    return commit.strip(), {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{base}/github/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/",
    }


def hashed_installation(runner: str, python: str = "") -> list[str]:
    """What Python is called with to install Grid Atlas by the lock of its own commit."""
    pip, folder = (
        f"{python}-m pip install --quiet --disable-pip-version-check",
        f"{runner}/grid-atlas",
    )
    held = f"{pip} --only-binary :all: --constraint {folder}/requirements-hashed.lock"
    return [
        f"{pip} --require-hashes --requirement WORK/pip.txt",
        f"{held} --requirement WORK/needed.txt",
        f"{held} --group {folder}/pyproject.toml:install",
        f"{pip} --no-index --no-build-isolation {folder}[mkdocs,parquet]",
    ]


def search_path(*first: Path) -> str:
    """A PATH with these folders, our commands, and the tools that the tests run with."""
    folders = [*first, forked.commands(), Path(sys.executable).parent]
    return os.pathsep.join([*map(str, folders), os.environ["PATH"]])


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
    output = folder.parent / "output.txt"
    summary.write_text("", "utf-8")
    output.write_text("", "utf-8")
    given = {name: evaluate(str(value), context) for name, value in step.get("env", {}).items()}
    repository = context["github"]["event"]["repository"]
    done = subprocess.run(
        [*SHELLS[step.get("shell")], str(script)],
        cwd=folder,
        env={
            "PATH": search_path(),
            "HOME": str(folder.parent),
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "NO_MKDOCS_2_WARNING": "1",
            "DISABLE_MKDOCS_2_WARNING": "true",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_REPOSITORY": repository["full_name"],
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_EVENT_NAME": str(context["github"].get("event_name", "")),
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
    outputs = dict(line.split("=", 1) for line in output.read_text("utf-8").splitlines())
    return Done(done.returncode, done.stdout, summary.read_text("utf-8"), outputs)


@dataclass
class Run:
    """What a job left: its steps' logs and summaries together, and its artifacts."""

    status: int = 0
    log: str = ""
    summary: str = ""
    ran: list[str] = field(default_factory=list)
    artifacts: dict[str, Path] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)


def run_job(
    file: Path,
    job: str,
    folder: Path,
    context: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
) -> Run:
    """Run the steps of a job in their order, up to the first that fails.

    Of the actions, `configure-pages` gives an address and those that upload keep what they are
    given in folders beside `folder`; a checkout is there, and caches are empty.
    """
    content = workflow(file)["jobs"][job]
    found: dict[str, Any] = {"runner": {"temp": str(folder.parent / "runner")}, **context}
    run = Run()
    found["steps"] = outputs = run.outputs
    given = {name: evaluate(str(v), found) for name, v in content.get("env", {}).items()}
    for step in content["steps"]:
        if not condition(str(step.get("if", "'always'")), found):
            continue
        run.ran.append(step.get("name", step.get("uses", "")))
        if "run" not in step:
            outputs[step.get("id", "")] = {"outputs": use(step, found, run, folder.parent)}
            continue
        done = run_step(step, folder, found, {**(environment or {}), **given})
        outputs[step.get("id", "")] = {"outputs": done.outputs}
        run.log += done.log
        run.summary += done.summary
        if done.status:
            run.status = done.status
            break
    return run


def use(
    step: Mapping[str, Any], context: Mapping[str, Any], run: Run, base: Path
) -> dict[str, Any]:
    """Do what an action does; give its outputs."""
    action, given = step["uses"].partition("@")[0].removeprefix("actions/"), step.get("with", {})
    if action == "configure-pages":
        return {"base_url": "https://atlas-owner.github.io/results"}
    if action == "deploy-pages":
        return {"page_url": "https://atlas-owner.github.io/results/"}
    if action.startswith("upload-"):
        name = given.get("name", "github-pages")
        target = base / "artifacts" / name
        for line in evaluate(given["path"], context).split("\n"):
            if path := line.strip():
                assert Path(path).exists(), f"nothing to upload: {path}"
                target.mkdir(parents=True, exist_ok=True)
                if Path(path).is_dir():
                    shutil.copytree(path, target, dirs_exist_ok=True)
                else:
                    shutil.copy(path, target)
        run.artifacts[name] = target
        return {}
    assert action in ("checkout", "setup-python", "cache/restore", "cache/save"), action
    return {}
