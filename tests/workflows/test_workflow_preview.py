"""The action that makes a preview, run on a merge as GitHub makes it, and what is kept of it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from workflows import ACTION, COPIED, ROOT, Done, evaluate, event, run_step, run_steps, workflow

STUDY = """\
format: 1
title: Tuning
metric: {name: Accuracy}
x: rate
y: batch
"""
CELLS = "rate,batch,value\n0.1,8,70\n0.2,8,72.5\n0.1,16,71\n0.2,16,69\n"
CONFIG = """\
site_name: Mine
theme: {name: material, font: false}
plugins:
  - search
  - gridatlas:
      csp: !ENV [GRIDATLAS_CSP, true]
      compare_to: !ENV [GRIDATLAS_COMPARE_TO, ""]
"""

DIFF = f"""\
#!{sys.executable}
import json, os, sys
arguments = sys.argv[1:]
if arguments[:1] != ["diff"]:
    from gridatlas.cli.main import main
    sys.exit(main())
with open(os.environ["DIFF_CALLS"], "a") as file:
    file.write(json.dumps(arguments) + "\\n")
status = int(os.environ.get("DIFF_STATUS", "1"))
if status == 2:
    print("an unknown revision", file=sys.stderr)
    sys.exit(2)
if "json" in arguments:
    print(open(os.environ["DIFF_JSON"]).read())
else:
    print("## What the diff says")
sys.exit(status)
"""
"""Stands in the place of `gridatlas diff`: what it says is recorded."""


REAL: dict[str, Any] = {}
"""Asks for the real command."""


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


class Checkout:
    """A project in which a pull request is merged, checked out as actions/checkout does."""

    def __init__(
        self, base: Path, drawings: Path, depth: int = 2, first_study: bool = False
    ) -> None:
        origin = base / "origin"
        (origin / "docs").mkdir(parents=True)
        (origin / "data/tuning").mkdir(parents=True)
        (origin / "mkdocs.yml").write_text(CONFIG)
        (origin / "docs/index.md").write_text("# Home\n\nGo to the [studies](studies/index.md).\n")
        (origin / "data/tuning/study.yml").write_text(STUDY)
        (origin / "data/tuning/cells.csv").write_text(CELLS)
        git(origin, "init", "--quiet", "--initial-branch", "main")
        if first_study:
            git(origin, "add", "docs", "mkdocs.yml")
            git(origin, "commit", "--quiet", "--message", "A site without results")
            git(origin, "branch", "before")
        git(origin, "add", "--all")
        git(origin, "commit", "--quiet", "--message", "A study")
        git(origin, "checkout", "--quiet", "-b", "change")
        (origin / "data/tuning/cells.csv").write_text(CELLS.replace("69", "75"))
        git(origin, "commit", "--quiet", "--all", "--message", "Another value")
        self.head = git(origin, "rev-parse", "HEAD")
        if first_study:
            git(origin, "branch", "--quiet", "--force", "main", "before")
        git(origin, "checkout", "--quiet", "main")
        (origin / "README.md").write_text("Main has moved on.\n")
        git(origin, "add", "--all")
        git(origin, "commit", "--quiet", "--message", "Read me")
        self.base = git(origin, "rev-parse", "HEAD")
        git(origin, "merge", "--quiet", "--no-ff", "--message", "Merge", "change")
        self.folder = base / "project"
        git(base, "clone", "--quiet", "--depth", str(depth), f"file://{origin}", "project")
        (self.folder / ".cache").symlink_to(drawings)


@pytest.fixture
def project(tmp_path: Path, drawings: Path) -> Checkout:
    return Checkout(tmp_path, drawings)


def context(checkout: Checkout, name: str = "own", **inputs: str) -> dict[str, Any]:
    """What a run on the recorded event knows."""
    given = event(f"pull_request.{name}")
    given["pull_request"]["head"]["sha"] = checkout.head
    defaults = {
        key: value["default"] for key, value in workflow(ACTION / "action.yml")["inputs"].items()
    }
    return {"github": {"event": given}, "inputs": defaults | inputs}


def make(
    checkout: Checkout, name: str = "own", diff: dict[str, Any] | None = None, **environment: str
) -> Done:
    """Run the action's step that makes the preview."""
    base = checkout.folder.parent
    tools = base / "tools"
    tools.mkdir(exist_ok=True)
    if diff is not REAL:
        (tools / "gridatlas").write_text(DIFF)
        (tools / "gridatlas").chmod(0o755)
    (base / "diff.json").write_text(json.dumps(diff or event("diff")))
    [step] = [step for step in run_steps(ACTION / "action.yml") if "preview.py" in step["run"]]
    given = {
        "GITHUB_ACTION_PATH": str(ACTION),
        "PATH": os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "DIFF_CALLS": str(base / "calls"),
        "DIFF_JSON": str(base / "diff.json"),
    }
    return run_step(step, checkout.folder, context(checkout, name), given | environment)


def test_what_a_pull_request_changes_is_in_the_diff_the_site_and_the_run(
    project: Checkout,
) -> None:
    done = make(project, diff=REAL)
    assert done.status == 0, done.log
    out = project.folder.parent / "runner/gridatlas-preview"
    diff = json.loads((out / "diff.json").read_text())
    assert diff["base"] == {"name": "main", "commit": project.base}
    assert diff["head"] == {"name": "pull request 12", "commit": project.head}
    texts = [item["text"] for section in diff["sections"] for item in section["items"]]
    assert (
        "Accuracy: the best is now 75 at rate 0.2, batch 16; before 72.5 at rate 0.2, batch 8"
        in texts
    )
    changes = (out / "site/studies/changes/index.html").read_text()
    assert f"Changes since {project.base}" in changes
    assert "the best is now 75" in changes
    assert 'href="changes/index.html"' in (out / "site/studies/index.html").read_text()


@pytest.mark.parametrize("name", ["own", "fork"])
def test_the_preview_has_the_diff_and_a_site_that_opens_from_the_disk(
    project: Checkout, name: str
) -> None:
    done = make(project, name)
    assert done.status == 0, done.log
    out = project.folder.parent / "runner/gridatlas-preview"
    assert json.loads((out / "preview.json").read_text()) == {
        "format": 1, "pull_request": 12, "head": project.head, "base": project.base, "site": "site",
    }  # fmt: skip
    diff = json.loads((out / "diff.json").read_text())
    assert diff["base"] == {"name": "main", "commit": project.base}
    assert diff["head"] == {"name": "pull request 12", "commit": project.head}
    assert diff["sections"] == event("diff")["sections"]
    calls = (project.folder.parent / "calls").read_text().splitlines()
    calls = [json.loads(line) for line in calls]
    assert calls == [
        ["diff", project.base, "HEAD", "--data", "data", "--format", "json"],
        ["diff", project.base, "HEAD", "--data", "data"],
    ]
    assert done.summary == "## What the diff says\n"
    home = (out / "site/index.html").read_text()
    assert 'href="studies/index.html"' in home
    assert "Content-Security-Policy" not in home
    assert "75" in (out / "site/studies/tuning/index.html").read_text()
    pinned = [step for step in workflow(ACTION / "action.yml")["runs"]["steps"] if "uses" in step]
    given = {"runner": {"temp": str(project.folder.parent / "runner")}, **context(project)}
    paths = [evaluate(step["with"]["path"], given).split() for step in pinned]
    assert paths == [[str(out / "diff.json"), str(out / "preview.json")], [str(out / "site")]]


def test_the_first_study_of_a_site_has_a_preview(tmp_path: Path, drawings: Path) -> None:
    project = Checkout(tmp_path, drawings, first_study=True)
    done = make(project, diff=REAL)
    assert done.status == 0, done.log
    out = project.folder.parent / "runner/gridatlas-preview"
    diff = json.loads((out / "diff.json").read_text())
    assert diff["summary"] == (
        'The base has no folder "data", so all results are new: 1 study added.'
    )
    assert [item["text"] for section in diff["sections"] for item in section["items"]] == [
        "Added: the study “Tuning” with 1 grid and 4 values"
    ]
    changes = (out / "site/studies/changes/index.html").read_text()
    assert "The base has no folder" in changes
    assert "left out" not in done.log


def test_nothing_changed_is_fine(project: Checkout) -> None:
    assert make(project, DIFF_STATUS="0").status == 0


def test_a_diff_that_fails_is_no_preview(project: Checkout) -> None:
    done = make(project, DIFF_STATUS="2")
    assert done.status == 1
    assert "an unknown revision\n" in done.log
    assert "::error::gridatlas diff failed (exit status 2), see above.\n" in done.log
    assert not (project.folder.parent / "runner/gridatlas-preview/preview.json").exists()


def test_a_diff_of_many_studies_is_kept_without_their_details(project: Checkout) -> None:
    large = event("diff") | {"studies": ["x" * 1_100_000]}
    done = make(project, diff=large)
    assert done.status == 0, done.log
    out = project.folder.parent / "runner/gridatlas-preview"
    assert "studies" not in json.loads((out / "diff.json").read_text())
    assert "studies" in json.loads((out / "site/diff.json").read_text())


def test_a_checkout_without_the_base_is_told(tmp_path: Path, drawings: Path) -> None:
    done = make(Checkout(tmp_path, drawings, depth=1))
    assert (done.status, done.log) == (
        1,
        "::error::The commit that the pull request is merged into isn't there. "
        "Give actions/checkout fetch-depth: 2, and no ref.\n",
    )


def test_a_checkout_of_the_head_alone_is_told(project: Checkout) -> None:
    git(project.folder, "checkout", "--quiet", "HEAD^1")
    git(project.folder, "fetch", "--quiet", "--unshallow")
    done = make(project)
    assert done.status == 1
    assert "isn't known. Run on pull_request, and give actions/checkout no ref.\n" in done.log


HASHED = f"pip==26.3 \\\n    --hash=sha256:{'0' * 64}\n    # via gridatlas\nother==1 ; x\n"
"""A lock with hashes."""


@pytest.mark.parametrize(
    ("inputs", "installed"),
    [
        ({"requirements": "requirements.txt"}, "--requirement requirements.txt"),
        ({"requirements": "r; touch hit"}, "--requirement r; touch hit"),
        (
            {"requirements": "r.txt", "constraints": "h.txt"},
            "--requirement r.txt --constraint h.txt",
        ),
        ({"constraints": "c d.txt"}, f"{ROOT}[mkdocs,notebooks,parquet] --constraint c d.txt"),
    ],
)
def test_grid_atlas_is_installed_as_asked(
    project: Checkout, inputs: dict[str, str], installed: str
) -> None:
    tools = project.folder.parent / "tools"
    tools.mkdir()
    (tools / "python").write_text('#!/bin/sh\necho "$@"\n')
    (tools / "python").chmod(0o755)
    [step] = [step for step in run_steps(ACTION / "action.yml") if "install.sh" in step["run"]]
    given = {
        "GITHUB_ACTION_PATH": str(ACTION),
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
    }
    (project.folder / "h.txt").write_text(HASHED)
    done = run_step(step, project.folder, context(project, **inputs), given)
    pip = "-m pip install --quiet --disable-pip-version-check"
    assert (done.status, done.log) == (0, f"{pip} {installed}\n")
    assert not (project.folder / "hit").exists()


def test_grid_atlas_is_installed_by_hash_where_there_are_hashes(project: Checkout) -> None:
    tools = project.folder.parent / "tools"
    tools.mkdir()
    # Says what it was called with, and what stands in the requirements that it was given.
    (tools / "python").write_text(
        """#!/bin/sh
echo "$@" | sed "s|/[^ ]*/tmp[^/ ]*/|TMP/|g"
case "$*" in *pip.txt) cat "${@: -1}" >&2 ;; esac
""".replace("#!/bin/sh", "#!/usr/bin/env bash")
    )
    (tools / "python").chmod(0o755)
    (project.folder / "h.txt").write_text(HASHED)
    [step] = [step for step in run_steps(ACTION / "action.yml") if "install.sh" in step["run"]]
    given = {
        "GITHUB_ACTION_PATH": str(ACTION),
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
    }
    done = run_step(step, project.folder, context(project, constraints="h.txt"), given)
    pip = "-m pip install --quiet --disable-pip-version-check"
    assert (done.status, done.log.splitlines()) == (
        0,
        [
            f"{pip} --require-hashes --requirement TMP/pip.txt",
            "pip==26.3 \\",
            f"    --hash=sha256:{'0' * 64}",
            f"{pip} --only-binary :all: --constraint h.txt --requirement TMP/needed.txt",
            f"{pip} --only-binary :all: --constraint h.txt --group {ROOT}/pyproject.toml:install",
            f"{pip} --no-index --no-build-isolation {ROOT}[mkdocs,notebooks,parquet]",
        ],
    )


def test_a_copied_action_must_be_told_what_to_install(project: Checkout, tmp_path: Path) -> None:
    [step] = [step for step in run_steps(ACTION / "action.yml") if "install.sh" in step["run"]]
    copied = tmp_path / "elsewhere/.github/actions/gridatlas"
    copied.mkdir(parents=True)
    (copied / "install.sh").write_text((ACTION / "install.sh").read_text())
    done = run_step(step, project.folder, context(project), {"GITHUB_ACTION_PATH": str(copied)})
    assert done.status == 2
    assert "Give it requirements: requirements.txt" in done.log


def test_the_copied_workflow_gives_the_action_what_it_takes() -> None:
    inputs = set(workflow(ACTION / "action.yml")["inputs"])
    for file in (COPIED / "preview.yml", ROOT / ".github/workflows/preview.yml"):
        content = yaml.safe_load(file.read_text())
        [used] = [step for step in content["jobs"]["preview"]["steps"] if step["uses"][0] == "$"]
        assert used["uses"] == "$/.github/actions/gridatlas"
        assert set(used["with"]) <= inputs
        assert (ROOT / used["uses"].removeprefix("$/") / "action.yml").is_file()
