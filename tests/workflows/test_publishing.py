"""The pages on publishing: their files are those that are written, and their commands publish."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from test_workflow_results import CELLS, CHANGED, CONFIG, RAGGED, STUDY, git
from workflows import RESULTS, ROOT, search_path, workflow

from gridatlas.cli.github import CALLERS, STARTER

GITHUB, ELSEWHERE = ROOT / "docs/publish.md", ROOT / "docs/publish-elsewhere.md"


def titled(page: Path) -> dict[str, str]:
    """The blocks of a page that have a title."""
    fence = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
    return dict(fence.findall(page.read_text("utf-8")))


# --- GitHub -------------------------------------------------------------------------------------


def test_workflows_of_the_page_are_those_that_are_written() -> None:
    shown = titled(GITHUB)
    expected = {
        f".github/workflows/{name}.yml": (STARTER / f"github/{name}.yml").read_text("utf-8")
        for name in CALLERS
    }
    assert shown == expected
    assert sum(len(text.splitlines()) for text in shown.values()) <= 30


def test_inputs_of_the_page_are_those_of_the_workflow() -> None:
    text = GITHUB.read_text("utf-8")
    inputs = workflow(RESULTS)["on"]["workflow_call"]["inputs"]
    rows = re.findall(r"^\| `([\w-]+)` \| `?([^|`]*)`? \|", text, re.MULTILINE)
    shown = {name: str(entry["default"]) or "none" for name, entry in inputs.items()}
    assert dict(rows) == {name: v.lower() if v == "True" else v for name, v in shown.items()}
    [given] = re.findall(r"^    with:\n((?:      .*\n)+)", text, re.MULTILINE)
    assert yaml.safe_load(given).keys() <= inputs.keys()


def test_the_page_is_read_in_minutes() -> None:
    prose = re.sub(r"^```.*?^```$|^---.*?^---$", "", GITHUB.read_text("utf-8"), flags=re.M | re.S)
    assert len(re.findall(r"[\w'-]+", prose)) <= 500


# --- elsewhere ----------------------------------------------------------------------------------


def test_requirement_of_the_page_names_a_place() -> None:
    requirement = Requirement(titled(ELSEWHERE)["requirements.txt"].strip())
    assert requirement.name == "gridatlas"
    assert requirement.url == "git+https://github.com/OWNER/grid-atlas@COMMIT"
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert requirement.extras <= extras["optional-dependencies"].keys()


class Project:
    """A project with a study on `main`, a change on a branch, and a bare remote."""

    def __init__(self, base: Path, drawings: Path, cells: str = CHANGED) -> None:
        self.remote = base / "remote.git"
        self.folder = base / "project"
        git(base, "init", "--quiet", "--bare", "--initial-branch", "main", "remote.git")
        git(base, "clone", "--quiet", f"file://{self.remote}", "project")
        files = {
            "mkdocs.yml": CONFIG,
            "docs/index.md": "# Home\n\nGo to the [studies](studies/index.md).\n",
            "data/tuning/study.yml": STUDY,
            "data/tuning/cells.csv": CELLS,
            ".gitignore": "site/\n.cache\n",
        }
        for path, text in files.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_text(text)
        (self.folder / ".cache").symlink_to(drawings)
        git(self.folder, "checkout", "--quiet", "-b", "main")
        self.base = self.commit("A study")
        git(self.folder, "push", "--quiet", "origin", "main")
        git(self.folder, "checkout", "--quiet", "-b", "change")
        (self.folder / "data/tuning/cells.csv").write_text(cells)
        self.commit("Another value")

    def commit(self, message: str) -> str:
        git(self.folder, "add", "--all")
        git(self.folder, "commit", "--quiet", "--message", message)
        return git(self.folder, "rev-parse", "HEAD")

    def run(self, *lines: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run lines as one script, which ends with the first that fails."""
        identity = {
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "Tester"), ("EMAIL", "tester@example.org"))
        }
        given = {
            "NO_MKDOCS_2_WARNING": "1",
            "DISABLE_MKDOCS_2_WARNING": "true",
            "PATH": search_path(),
        }
        return subprocess.run(
            ["bash", "-e", "-c", "\n".join(lines)],
            cwd=self.folder,
            env={**os.environ, **identity, **given, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def published(self, path: str, branch: str = "gh-pages") -> str:
        """A file of the branch of the remote that a host shows."""
        return git(self.remote, "show", f"{branch}:{path}")


def test_gitlab_fails_on_a_ragged_row_and_keeps_what_changed(
    tmp_path: Path, drawings: Path
) -> None:
    project = Project(tmp_path, drawings, RAGGED)
    job = yaml.safe_load(titled(ELSEWHERE)[".gitlab-ci.yml"])["results"]
    done = project.run(*job["script"], CI_MERGE_REQUEST_DIFF_BASE_SHA=project.base)
    assert done.returncode == 1, done.stderr
    assert "data/tuning/cells.csv:4: problem [ragged-row]" in done.stdout
    changes = (project.folder / "changes.md").read_text()
    assert changes.startswith("## ❌ data/tuning/cells.csv:\u200b4: 4 values: ")
    for path in job["artifacts"]["paths"]:
        assert (project.folder / path).exists()
    home = (project.folder / "site/index.html").read_text()
    assert 'href="studies/index.html"' in home
    assert "Content-Security-Policy" not in home
    assert (project.folder / "site/studies/changes/index.html").is_file()


def test_gitlab_publishes_below_the_address_of_its_pages(tmp_path: Path, drawings: Path) -> None:
    project = Project(tmp_path, drawings)
    job = yaml.safe_load(titled(ELSEWHERE)[".gitlab-ci.yml"])["pages"]
    done = project.run(*job["script"], CI_PAGES_URL="https://atlas.gitlab.io/results")
    assert done.returncode == 0, done.stderr
    assert 'href="/results/studies/' in (project.folder / "public/404.html").read_text()


@pytest.mark.parametrize("host", ["Read the Docs", "Netlify"])
def test_hosts_that_preview_build_what_changed(tmp_path: Path, drawings: Path, host: str) -> None:
    project = Project(tmp_path, drawings)
    if host == "Netlify":
        content = tomllib.loads(titled(ELSEWHERE)["netlify.toml"])
        lines, site = [content["context"]["deploy-preview"]["command"]], content["build"]["publish"]
    else:
        content = yaml.safe_load(titled(ELSEWHERE)[".readthedocs.yaml"])
        lines, site = content["build"]["jobs"]["build"]["html"], "out/html"
    # What others changed meanwhile is no change of this branch.
    git(project.folder, "push", "--quiet", "origin", "change")
    git(project.folder, "checkout", "--quiet", "main")
    (project.folder / "data/tuning/study.yml").write_text(STUDY.replace("Tuning", "Tuned"))
    project.commit("Another title")
    git(project.folder, "push", "--quiet", "origin", "main")
    git(project.folder, "checkout", "--quiet", "change")
    done = project.run(*lines, READTHEDOCS_OUTPUT=str(project.folder / "out"))
    assert done.returncode == 0, done.stderr
    changes = (project.folder / site / "studies/changes/index.html").read_text()
    assert f"Changes since {project.base}" in changes
    assert "Tuned" not in changes


# --- branches -----------------------------------------------------------------------------------


def commands(language: str, word: str) -> list[str]:
    """The lines of the page's commands that begin with a word."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", ELSEWHERE.read_text("utf-8"), re.M | re.S)
    return [line for text in found for line in text.splitlines() if line.startswith(word)]


def test_gh_deploy_publishes_a_whole_site_or_nothing(tmp_path: Path, drawings: Path) -> None:
    project = Project(tmp_path, drawings)
    [command] = commands("sh", "mkdocs gh-deploy")
    done = project.run(command)
    assert done.returncode == 0, done.stderr
    assert "75" in project.published("studies/tuning/index.html")
    assert project.published("grids/tuning/grid.svg").startswith("<svg")
    first = git(project.remote, "rev-parse", "gh-pages")
    (project.folder / "data/tuning/cells.csv").write_text(RAGGED)
    assert project.run(command).returncode == 1
    assert git(project.remote, "rev-parse", "gh-pages") == first


def test_mike_keeps_a_site_per_version(tmp_path: Path, drawings: Path) -> None:
    """Dear: mike starts Python for each of its commands, which build two versions."""
    project = Project(tmp_path, drawings)
    address = "https://atlas-owner.github.io/results/"
    with (project.folder / "mkdocs.yml").open("a") as file:
        file.write(f"site_url: {address}\n")
    lines = commands("sh", "mike")
    assert project.run(*lines).returncode == 0
    first = project.published("1.0/studies/tuning/index.html")
    assert "75" in first
    assert f"{address}1.0/" in first
    assert project.published("1.0/grids/tuning/grid.svg").startswith("<svg")
    assert "latest/" in project.published("index.html")
    (project.folder / "data/tuning/cells.csv").write_text(CHANGED.replace("75", "76"))
    assert project.run(lines[0].replace("1.0", "2.0")).returncode == 0
    assert project.published("1.0/studies/tuning/index.html") == first
    second = project.published("2.0/studies/tuning/index.html")
    assert "76" in second
    assert f"{address}2.0/" in second
    assert project.published("latest") == "2.0"  # a link
