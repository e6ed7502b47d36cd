"""The whole path in a repository of its own: from `gridatlas new --github` to the comment."""

import re
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import forked
from click.testing import CliRunner
from fake_github import TOKEN, GitHub, serving
from test_workflow_results import git
from workflows import (
    COMMENT,
    WORKFLOWS,
    Run,
    condition,
    event,
    grid_atlas,
    hashed_installation,
    run_job,
    search_path,
    workflow,
)

from gridatlas.cli.main import main

REPOSITORY = "atlas-owner/results"
PYTHON = f"""\
#!/bin/sh
case "$*" in
  *"pip install"*) echo "$@" >> "$PIP_CALLS" ;;
  *) exec {forked.commands() / "python"} "$@" ;;
esac
"""
"""Notes what pip is to install instead of fetching it; all else runs."""


class Repository:
    """A bare remote, a clone of it, and a GitHub that runs the callers on what is pushed."""

    def __init__(self, base: Path, drawings: Path) -> None:
        self.base, self.drawings, self.runs = base, drawings, 0
        self.source, self.github = grid_atlas(base)
        git(base, "init", "--quiet", "--bare", "--initial-branch", "main", "remote.git")
        git(base, "clone", "--quiet", f"file://{base}/remote.git", "project")
        self.folder = base / "project"
        git(self.folder, "checkout", "--quiet", "-b", "main")
        (base / "tools").mkdir()
        (base / "tools/python").write_text(PYTHON)
        (base / "tools/python").chmod(0o755)

    def commit(self, message: str) -> str:
        git(self.folder, "add", "--all")
        git(self.folder, "commit", "--quiet", "--message", message)
        git(self.folder, "push", "--quiet", "origin", "HEAD")
        return git(self.folder, "rev-parse", "HEAD")

    def pull_request(self, head: str) -> None:
        """Merge as GitHub does for a pull request, into a reference of its own."""
        git(self.folder, "checkout", "--quiet", "--detach", "main")
        git(self.folder, "merge", "--quiet", "--no-ff", "--message", "Merge", head)
        git(self.folder, "push", "--quiet", "--force", "origin", "HEAD:refs/pull/12/merge")
        git(self.folder, "checkout", "--quiet", "change")

    def run(self, ref: str, given: dict[str, Any], name: str) -> dict[str, Run]:
        """Run the caller's jobs on a checkout of a reference, where needs and conditions hold."""
        self.runs += 1
        base = self.base / f"run-{self.runs}"
        checkout = base / "project"
        checkout.mkdir(parents=True)
        git(checkout, "init", "--quiet")
        git(checkout, "fetch", "--quiet", "--depth", "2", f"file://{self.base}/remote.git", ref)
        git(checkout, "checkout", "--quiet", "FETCH_HEAD")
        (checkout / ".cache").symlink_to(self.drawings)
        github = {"event": given, "event_name": name, "ref": ref}
        done: dict[str, Run] = {}
        for identity, job in workflow(self.folder / ".github/workflows/results.yml")[
            "jobs"
        ].items():
            needs = [job["needs"]] if "needs" in job else []
            if any(need not in done or done[need].status for need in needs):
                continue
            if condition(job.get("if", "'always'"), {"github": github}):
                done[identity] = self.call(job, checkout, github)
        return done

    def call(self, job: dict[str, Any], checkout: Path, github: dict[str, Any]) -> Run:
        """Run the called workflow's only job."""
        address, _, commit = job["uses"].partition("@")
        repository, _, file = address.partition("/.github/workflows/")
        called = workflow(WORKFLOWS / file)
        [inner] = called["jobs"]
        taken = (called["on"]["workflow_call"] or {}).get("inputs", {})
        context = {
            "github": github,
            "job": {"workflow_repository": repository, "workflow_sha": commit},
            "inputs": {key: value["default"] for key, value in taken.items()} | job.get("with", {}),
        }
        path = search_path(self.base / "tools")
        given = {"PATH": path, "PIP_CALLS": str(self.base / "pip.txt"), **self.github}
        return run_job(WORKFLOWS / file, inner, checkout, context, given)


def comment(repository: Repository, github: GitHub, run: Run, head: str) -> str:
    """What the second caller's workflow writes about a run, as GitHub shows it."""
    caller = workflow(repository.folder / ".github/workflows/comment.yml")
    started_by = workflow(repository.folder / ".github/workflows/results.yml")["name"]
    assert caller["on"]["workflow_run"] == {"workflows": [started_by], "types": ["completed"]}
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for path in run.artifacts["gridatlas-preview-data"].iterdir():
            archive.write(path, path.name)
    github.artifacts = {501: ("gridatlas-preview-data", file.getvalue())}
    given = event("workflow_run.own")
    conclusion = "failure" if run.status else "success"
    given["workflow_run"].update(head_sha=head, conclusion=conclusion)
    github.pulls[0]["head"]["sha"] = head
    context = {"github": {"event": given, "event_name": "workflow_run", "token": TOKEN}}
    folder = repository.base / "comment/project"
    folder.mkdir(parents=True, exist_ok=True)
    done = run_job(COMMENT, "comment", folder, context, {"GITHUB_API_URL": github.api})
    assert done.status == 0, done.log
    [body] = github.bodies()
    return body


def test_from_the_first_command_to_the_comment(tmp_path: Path, drawings: Path) -> None:
    """Dear: three runs of the whole workflow, which check, compare and build."""
    repository = Repository(tmp_path, drawings)
    source = f"atlas/grid-atlas@{repository.source}"
    arguments = ["new", str(repository.folder), "--github", "--source", source, "--yes"]
    assert CliRunner().invoke(main, arguments).exit_code == 0

    repository.commit("A site with an example")
    push = event("pull_request.own")
    del push["pull_request"]
    done = repository.run("refs/heads/main", push, "push")
    assert {name: run.status for name, run in done.items()} == {"results": 0, "deploy": 0}
    site = done["results"].artifacts["gridatlas-site"]
    assert 'href="/results/' in (site / "404.html").read_text()
    called = re.sub(r"/\S+/(pip|needed)\.txt", r"WORK/\1.txt", (tmp_path / "pip.txt").read_text())
    assert called.splitlines() == hashed_installation(f"{tmp_path}/run-1/runner")

    git(repository.folder, "checkout", "--quiet", "-b", "change")
    cells = repository.folder / "data/example/cells.csv"
    right = cells.read_text()
    lines = right.splitlines()
    row = next(number for number, line in enumerate(lines) if line.startswith("small,"))
    cells.write_text("\n".join([*lines[:row], f"{lines[row]},more", *lines[row + 1 :], ""]))
    pull = event("pull_request.own")
    with serving(GitHub(REPOSITORY)) as github:
        github.pulls.append(pull["pull_request"])
        pull["pull_request"]["head"]["label"] = "atlas-owner:new-results"

        head = repository.commit("A ragged row")
        pull["pull_request"]["head"]["sha"] = head
        repository.pull_request(head)
        done = repository.run("refs/pull/12/merge", pull, "pull_request")
        assert {name: run.status for name, run in done.items()} == {"results": 1}
        place = f"::error file=data/example/cells.csv,line={row + 1},title=ragged-row::"
        assert any(line.startswith(place) for line in done["results"].log.splitlines())
        body = comment(repository, github, done["results"], head)
        assert f"data/example/cells.csv:&#8203;{row + 1}" in body.replace("\u200b", "&#8203;")
        assert "The checks fail" in body

        cells.write_text(right.replace("71.2", "60.5"))
        head = repository.commit("The row corrected, with another value")
        pull["pull_request"]["head"]["sha"] = head
        repository.pull_request(head)
        done = repository.run("refs/pull/12/merge", pull, "pull_request")
        assert {name: run.status for name, run in done.items()} == {"results": 0}
        body = comment(repository, github, done["results"], head)
        assert "60.5" in done["results"].summary
        assert "✅ 1 value corrected" in body
        assert "60.5" in body.partition("<details>")[0].replace("\\", "")
        assert "The checks fail" not in body
        assert head[:12] in body
