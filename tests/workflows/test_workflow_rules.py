"""What holds for all workflows, and the scripts of those that build and publish."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from workflows import ACTION, COPIED, ROOT, WORKFLOWS, event, run_step, run_steps, steps, workflow

FILES = [*sorted(WORKFLOWS.glob("*.yml")), *sorted(COPIED.glob("*.yml"))]
WITH_ACTION = [*FILES, ACTION / "action.yml"]


def name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("file", FILES, ids=name)
def test_a_workflow_may_do_only_what_it_says(file: Path) -> None:
    content = workflow(file)
    assert content["permissions"] == {}
    for job in content["jobs"].values():
        assert 1 <= job["timeout-minutes"] <= (180 if file.stem == "soak" else 30)
        assert job["permissions"]
    assert "group" in content["concurrency"]


@pytest.mark.parametrize("file", WITH_ACTION, ids=name)
def test_no_text_of_an_event_is_put_into_a_script(file: Path) -> None:
    for _, step in steps(file):
        assert "${{" not in step.get("run", "")


def test_each_action_is_pinned_to_one_commit_everywhere() -> None:
    pins: dict[str, set[str]] = {}
    for file in WITH_ACTION:
        for action, pin in re.findall(r"uses: ([\w.-]+/[\w.-]+)\S*@(.*)", file.read_text("utf-8")):
            assert re.fullmatch(r"[0-9a-f]{40} # v\d+\.\d+\.\d+", pin), (file, action)
            pins.setdefault(action, set()).add(pin)
    assert {action: len(found) for action, found in pins.items() if len(found) > 1} == {}
    assert "actions/checkout" in pins


@pytest.mark.parametrize("file", FILES, ids=name)
def test_a_checkout_keeps_no_token(file: Path) -> None:
    for _, step in steps(file):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
            assert "ref" not in step["with"]


def test_who_runs_code_of_a_pull_request_may_only_read() -> None:
    for file in FILES:
        content = workflow(file)
        events = content["on"] if isinstance(content["on"], dict) else {content["on"]: None}
        assert "pull_request_target" not in events
        if "pull_request" in events:
            allowed = [job["permissions"] for job in content["jobs"].values()]
            assert all(permissions == {"contents": "read"} for permissions in allowed)
            assert "secrets." not in file.read_text("utf-8")


@pytest.mark.parametrize("folder", [WORKFLOWS, COPIED], ids=name)
def test_who_may_comment_runs_nothing_of_a_pull_request(folder: Path) -> None:
    file = folder / "preview-comment.yml"
    [(_, step)] = steps(file)
    assert "uses" not in step
    assert workflow(file)["on"] == {
        "workflow_run": {"workflows": ["preview"], "types": ["completed"]}
    }
    assert workflow(folder / "preview.yml")["name"] == "preview"


def test_the_workflow_to_copy_is_our_own() -> None:
    copied = COPIED / "preview-comment.yml"
    assert copied.read_bytes() == (WORKFLOWS / "preview-comment.yml").read_bytes()


def test_ci_runs_what_is_there_on_each_supported_python() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for file in FILES:
        for _, step in steps(file):
            for target in re.findall(r"^make ([a-z-]+)", step.get("run", ""), re.MULTILINE):
                assert target in targets
            for script in re.findall(r"\.github/scripts/[\w.]+", step.get("run", "")):
                assert (ROOT / script).is_file()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    supported = re.findall(r":: (3\.\d+)", "\n".join(project["classifiers"]))
    matrix = workflow(WORKFLOWS / "ci.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == supported


# --- GitHub Pages -------------------------------------------------------------------------------

PROJECT = {
    "mkdocs.yml": "site_name: Mine\nsite_url: !ENV [SITE_URL, '']\n"
    "theme: {name: material, font: false}\nplugins: [search, gridatlas: {csp: true}]\n",
    "docs/index.md": "# Home\n\nGo to the [studies](studies/index.md).\n",
    "data/tuning/study.yml": "format: 1\ntitle: Tuning\nmetric: {name: A}\nx: rate\ny: size\n",
    "data/tuning/cells.csv": "rate,size,value\n0.1,8,70\n0.2,8,72.5\n",
}
PAGES = {
    "github": {"event": event("pull_request.own")},
    "steps": {"pages": {"outputs": {"base_url": "https://atlas-owner.github.io/results"}}},
}


@pytest.fixture
def project(tmp_path: Path, drawings: Path) -> Path:
    """A project with one study."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".cache").symlink_to(drawings)
    for path, text in PROJECT.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def run_all(file: Path, job: str, folder: Path) -> list[str]:
    """Run the steps of a job; what installs packages is left out."""
    logs = []
    for step in run_steps(file, job):
        if "pip install" not in step["run"]:
            done = run_step(step, folder, PAGES)
            assert done.status == 0, done.log
            logs.append(done.log)
    return logs


def test_the_copied_workflow_builds_a_site_for_its_address(project: Path) -> None:
    assert len(run_all(COPIED / "pages.yml", "build", project)) == 2
    missing = (project / "site/404.html").read_text()
    assert 'href="/results/studies/' in missing
    checked = check_links(project / "site", "https://atlas-owner.github.io/results/")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert checked.stdout.endswith(" below /results/\n")


def test_our_own_workflow_builds_a_site_and_follows_its_links(project: Path) -> None:
    shutil.copy(ROOT / "Makefile", project)
    shutil.copy(ROOT / "pyproject.toml", project)
    for lock in ("requirements.lock", "requirements-hashed.lock"):
        shutil.copy(ROOT / lock, project)
    (project / "tests").mkdir()
    shutil.copytree(ROOT / "tests/sites", project / "tests/sites")
    # As if installed: the tools are those that the tests run with.
    (project / ".venv").mkdir()
    (project / ".venv/bin").symlink_to(Path(sys.executable).parent)
    for stamp in (".made", ".installed-site"):
        (project / ".venv" / stamp).touch()
    _, links = run_all(WORKFLOWS / "pages.yml", "build", project)
    assert " below /results/\n" in links


def check_links(site: Path, address: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "tests/sites/check_links.py"), str(site)],
        env={**os.environ, "SITE_URL": address},
        capture_output=True,
        text=True,
        check=False,
    )


def test_links_that_lead_nowhere_are_told(project: Path) -> None:
    site = project / "site"
    site.mkdir()
    (site / "index.html").write_text(
        '<a href="gone/">gone</a><a href="/other/">out</a><img src="https://cdn.example/x.png">'
    )
    (site / "404.html").write_text('<link rel="stylesheet" href="style.css">')
    (site / "style.css").write_text("")
    done = check_links(site, "https://me.example/atlas/")
    assert done.returncode == 1
    assert sorted(done.stderr.splitlines()) == [
        "leads nowhere: / <a>: gone/ (404)",
        "leads nowhere: /: /other/ (outside the site's folder)",
        "leads nowhere: no/such/page/at/all/ <link stylesheet>: "
        "no/such/page/at/all/style.css (404)",
        "loaded from another host: /: <img> https://cdn.example/x.png",
    ]
    assert check_links(project / "nowhere", "").returncode == 2


# --- releases -----------------------------------------------------------------------------------

CHANGELOG = """\
# Changelog

## [Unreleased]

## [0.2.0] - 2026-05-01

### Added

- A thing.

## [0.1.0] - 2026-01-01

- The first.

[0.2.0]: https://example.org
"""


@pytest.mark.parametrize(
    ("tag", "changelog", "version", "error"),
    [
        ("v0.2.0", CHANGELOG, "0.2.0", ""),
        ("v0.2.1", CHANGELOG, "0.2.0", "the tag is v0.2.1, and pyproject.toml has version 0.2.0"),
        ("0.2.0", CHANGELOG, "0.2.0", "the tag is 0.2.0, and"),
        ("v0.3.0", CHANGELOG, "0.3.0", "CHANGELOG.md says nothing under ## [0.3.0] - YYYY-MM-DD"),
        ("v0.2.0$(touch hit)", CHANGELOG, "0.2.0", "the tag is v0.2.0$(touch hit), and"),
    ],
)
def test_a_release_needs_its_tag_version_and_changelog(
    tmp_path: Path, tag: str, changelog: str, version: str, error: str
) -> None:
    folder = tmp_path / "project"
    (folder / "plugin/gridatlas").mkdir(parents=True)
    (folder / "pyproject.toml").write_text(f'[project]\nversion = "{version}"\n')
    (folder / "plugin/gridatlas/__init__.py").write_text(f'__version__ = "{version}"\n')
    (folder / "CHANGELOG.md").write_text(changelog)
    shutil.copytree(ROOT / ".github/scripts", folder / ".github/scripts")
    step: dict[str, Any]
    [step] = [
        step for step in run_steps(WORKFLOWS / "release.yml", "build") if "notes" in step["run"]
    ]
    done = run_step(step, folder, PAGES, {"GITHUB_REF_NAME": tag})
    assert not (folder / "hit").exists()
    if error:
        assert done.status == 1
        assert f"::error::{error}" in done.log
    else:
        assert (done.status, done.log) == (0, "")
        assert (folder / "dist-notes/notes.md").read_text() == "### Added\n\n- A thing.\n"
