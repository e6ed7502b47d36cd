"""The whole path in a repository of its own: from `gridatlas new --github` to the comment."""

import re
import shutil
import tarfile
import zipfile
from contextlib import chdir
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
    evaluate,
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

    def __init__(self, base: Path, drawings: Path, hosts: GitHub) -> None:
        self.base, self.drawings, self.hosts, self.runs = base, drawings, hosts, 0
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
        github = {"event": given, "event_name": name, "ref": ref, "token": TOKEN}
        done: dict[str, Run] = {}
        for identity, job in workflow(self.folder / ".github/workflows/results.yml")[
            "jobs"
        ].items():
            needs = [job["needs"]] if "needs" in job else []
            if any(need not in done or done[need].status for need in needs):
                continue
            if condition(job.get("if", "'always'"), {"github": github}):
                done[identity] = self.call(job, checkout, github)
                self.keep(done[identity], given, name)
        return done

    def keep(self, run: Run, given: dict[str, Any], name: str) -> None:
        """Keep a run's artifacts on GitHub, as its actions pack them."""
        head = given["pull_request"]["head"] if name == "pull_request" else None
        for artifact, folder in run.artifacts.items():
            number = max(self.hosts.runs, default=500) + 1
            self.hosts.artifacts[number] = (artifact, packed(folder, artifact == "gridatlas-site"))
            self.hosts.runs[number] = {
                "head_branch": head["ref"] if head else "main",
                "head_repository_id": head["repo"]["id"] if head else 77,
                "head_sha": head["sha"] if head else "0" * 40,
            }

    def context(self, job: dict[str, Any], github: dict[str, Any]) -> dict[str, Any]:
        """What the called workflow of a job knows."""
        address, _, commit = job["uses"].partition("@")
        repository, _, file = address.partition("/.github/workflows/")
        taken = (workflow(WORKFLOWS / file)["on"]["workflow_call"] or {}).get("inputs", {})
        return {
            "github": github,
            "job": {"workflow_repository": repository, "workflow_sha": commit},
            "inputs": {key: value["default"] for key, value in taken.items()} | job.get("with", {}),
        }

    def call(self, job: dict[str, Any], checkout: Path, github: dict[str, Any]) -> Run:
        """Run the called workflow's only job."""
        file = job["uses"].partition("@")[0].rpartition("/")[2]
        [inner] = workflow(WORKFLOWS / file)["jobs"]
        context = self.context(job, github)
        path = search_path(self.base / "tools")
        given = {"PATH": path, "PIP_CALLS": str(self.base / "pip.txt"), **self.github}
        given["GITHUB_API_URL"] = self.hosts.api
        return run_job(WORKFLOWS / file, inner, checkout, context, given)


def packed(folder: Path, as_tar: bool) -> bytes:
    """An artifact as GitHub keeps it; a site for Pages is a tar file in a zip."""
    file, tar = BytesIO(), BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as site:
        site.add(folder, ".")
    with zipfile.ZipFile(file, "w") as archive:
        if as_tar:
            archive.writestr("artifact.tar", tar.getvalue())
        else:
            for path in (path for path in sorted(folder.rglob("*")) if path.is_file()):
                archive.write(path, str(path.relative_to(folder)))
    return file.getvalue()


def comment(repository: Repository, run: Run, pull: dict[str, Any], name: str = "own") -> str:
    """What the second caller's workflow writes about a run, as GitHub shows it."""
    caller = workflow(repository.folder / ".github/workflows/comment.yml")
    started_by = workflow(repository.folder / ".github/workflows/results.yml")["name"]
    assert caller["on"]["workflow_run"] == {"workflows": [started_by], "types": ["completed"]}
    hosts, head = repository.hosts, pull["pull_request"]["head"]["sha"]
    given = event(f"workflow_run.{name}")
    conclusion = "failure" if run.status else "success"
    given["workflow_run"].update(head_sha=head, conclusion=conclusion)
    given["workflow_run"]["head_repository"]["id"] = pull["pull_request"]["head"]["repo"]["id"]
    # Artifacts of a run are of its own.
    of_others = {
        number: artifact for number, artifact in hosts.artifacts.items()
        if artifact[0] == "gridatlas-preview-data" and hosts.runs[number]["head_sha"] != head
    }  # fmt: skip
    for number in of_others:
        del hosts.artifacts[number]
    github = {"event": given, "event_name": "workflow_run", "token": TOKEN}
    github["repository"] = REPOSITORY
    job = caller["jobs"]["comment"]
    found: dict[str, Any] = {}
    for inner in ("preview", "comment"):
        content = workflow(COMMENT)["jobs"][inner]
        folder = repository.base / f"comment-{repository.runs}-{inner}/project"
        folder.mkdir(parents=True, exist_ok=True)
        context = repository.context(job, github) | {"needs": {"preview": found}}
        if not condition(content["if"].replace("always() && ", ""), context):
            continue
        environment = {**repository.github, "GITHUB_API_URL": hosts.api}
        done = run_job(COMMENT, inner, folder, context, environment)
        assert done.status == 0, done.log
        found = {"outputs": {
            key: evaluate(value, {"steps": done.outputs})
            for key, value in content.get("outputs", {}).items()
        }}  # fmt: skip
    return next(body for body in hosts.bodies() if body.startswith("<!-- gridatlas-preview -->"))


TABLE = "model,task,learning_rate,accuracy,n\n" + "".join(
    f"{model},{task},{rate},{55 + 12 * (model == 'qwen') + 2 * place + at:.1f},1000\n"
    for model in ("qwen", "phi")
    for place, task in enumerate(("gsm", "math", "arc", "code"))
    for at, rate in enumerate((0.001, 0.003, 0.01))
)
"""A stranger's table, in which one model is ahead."""


def published(repository: Repository, base: Path) -> None:
    """Import the table, write the workflows, and push: the site is deployed."""
    (base / "tuning.csv").write_text(TABLE)
    source = f"atlas/grid-atlas@{repository.source}"
    with chdir(repository.folder):
        imported = ["import", str(base / "tuning.csv"), "--yes", "--site"]
        for arguments in (imported, ["new", "--github", "--source", source, "--yes"]):
            done = CliRunner().invoke(main, arguments)
            assert done.exit_code == 0, done.output
    repository.commit("A site with a study")
    push = event("pull_request.own")
    del push["pull_request"]
    runs = repository.run("refs/heads/main", push, "push")
    assert {name: run.status for name, run in runs.items()} == {"results": 0, "deploy": 0}
    pages = runs["deploy"].artifacts["gridatlas-pages"]
    assert 'href="/results/' in (pages / "404.html").read_text()
    calls = (base / "pip.txt").read_text()
    called = re.sub(r"/\S+/(pip|needed)\.txt", r"WORK/\1.txt", calls)
    assert called.splitlines() == hashed_installation(f"{base}/run-1/runner")


def test_from_a_table_to_comments_and_previews(tmp_path: Path, drawings: Path) -> None:
    """Dear: five runs of the whole workflow, which check, compare and build."""
    with serving(GitHub(REPOSITORY)) as github:
        repository = Repository(tmp_path, drawings, github)
        folder = repository.folder
        published(repository, tmp_path)

        git(folder, "checkout", "--quiet", "-b", "change")
        [study] = (folder / "data").glob("*/study.yml")
        cells = study.with_name("cells.csv")
        right = cells.read_text()
        pull = event("pull_request.own")
        github.pulls.append(pull["pull_request"])
        pull["pull_request"]["head"]["repo"]["id"] = 77
        pull["pull_request"]["head"]["label"] = "atlas-owner:new-results"

        def propose(message: str, name: str = "own") -> tuple[Run, str]:
            head = repository.commit(message)
            pull["pull_request"]["head"]["sha"] = head
            repository.pull_request(head)
            done = repository.run("refs/pull/12/merge", pull, "pull_request")["results"]
            return done, comment(repository, done, pull, name)

        cells.write_text(right.replace("qwen,gsm,0.001,67.0", "qwen,gsm,0.001,67.2"))
        done, body = propose("A value")
        assert (done.status, done.summary.splitlines()[0][:4]) == (0, "## ✅")
        assert "The checks fail" not in body
        site = "https://atlas-owner.github.io/results/pr/12/"
        for link in (site, f"{site}studies/changes/", f"{site}studies/changes/differences.svg"):
            assert f"({link})" in body

        reverse = re.sub(r"(?m)^(qwen,\w+,[\d.]+),\d(\d\.\d),", r"\1,3\2,", right)
        cells.write_text(reverse)
        done, body = propose("Reversed")
        assert (done.status, "## ❌ The answer reversed: " in body) == (1, True)
        assert "The checks fail" in body

        shutil.rmtree(study.parent)
        (folder / "data/other").mkdir()
        (folder / "data/other/study.yml").write_text(OTHER)
        (folder / "data/other/cells.csv").write_text("a,value\n1,2\n2,3\n")
        done, body = propose("Deleted")
        assert (done.status, "was removed, with" in body.splitlines()[1]) == (1, True)
        assert site in body

        fork = event("pull_request.fork")["pull_request"]["head"]
        owner = fork["repo"]["owner"]["login"]
        pull["pull_request"]["head"] = fork | {"label": f"{owner}:{fork['ref']}"}
        (folder / "README.md").write_text("Of a fork.\n")
        _, body = propose("By a stranger", "fork")
        assert site not in body
        assert "download `gridatlas-preview-site`" in body


OTHER = "format: 1\ntitle: Another\nmetric: {name: Score, better: higher}\nx: a\n"
