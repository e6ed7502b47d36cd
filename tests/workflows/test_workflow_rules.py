"""What holds for all workflows, and the scripts of those that build and publish."""

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from workflows import (
    COMMENT,
    DEPLOY,
    RESULTS,
    ROOT,
    WORKFLOWS,
    event,
    run_step,
    run_steps,
    steps,
    workflow,
)

FILES = sorted(WORKFLOWS.glob("*.yml"))
CALLED = [RESULTS, DEPLOY, COMMENT]
"""What other repositories call."""


def name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("file", FILES, ids=name)
def test_a_workflow_may_do_only_what_it_says(file: Path) -> None:
    content = workflow(file)
    assert content["permissions"] == {}
    for job in content["jobs"].values():
        assert job["permissions"]
        if "uses" not in job:
            assert 1 <= job["timeout-minutes"] <= (180 if file.stem == "soak" else 30)
    jobs = list(content["jobs"].values())
    assert "group" in content.get("concurrency", {}) or all(
        "group" in job.get("concurrency", {}) or "uses" in job for job in jobs
    )


@pytest.mark.parametrize("file", FILES, ids=name)
def test_no_text_of_an_event_is_put_into_a_script(file: Path) -> None:
    for _, step in steps(file):
        assert "${{" not in step.get("run", "")


def test_each_action_is_pinned_to_one_commit_everywhere() -> None:
    pins: dict[str, set[str]] = {}
    for file in FILES:
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


def jobs_of(file: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Jobs with steps, with the job that calls them, or themselves."""
    for job in workflow(file)["jobs"].values():
        if "uses" in job:
            called = ROOT / job["uses"]
            yield from ((job, inner) for inner in workflow(called)["jobs"].values())
        else:
            yield job, job


CALLERS = [file for file in FILES if "uses: ./" in file.read_text("utf-8")]
STARTED = sorted((ROOT / "plugin/gridatlas/cli/starter/github").glob("[!d]*.yml"))
"""What other repositories get."""


@pytest.mark.parametrize("file", [*CALLERS, *STARTED], ids=name)
def test_a_caller_allows_and_gives_what_the_called_workflow_asks_for(file: Path) -> None:
    for job in workflow(file)["jobs"].values():
        if "uses" not in job:
            continue
        called = workflow(WORKFLOWS / job["uses"].rpartition("/")[2].partition("@")[0])
        needed: dict[str, str] = {}
        for inner in called["jobs"].values():
            needed |= inner["permissions"]
        # One that is missing ends the run before it begins; one too many is for nothing.
        assert job["permissions"] == needed
        taken = (called["on"]["workflow_call"] or {}).get("inputs", {})
        assert job.get("with", {}).keys() <= taken.keys()
        assert "secrets" not in job


def test_who_runs_code_of_a_pull_request_may_only_read() -> None:
    for file in FILES:
        content = workflow(file)
        events = content["on"] if isinstance(content["on"], dict) else {content["on"]: None}
        assert "pull_request_target" not in events
        if "pull_request" not in events:
            continue
        for caller, job in jobs_of(file):
            if caller.get("if") == "github.ref == 'refs/heads/main'":
                continue  # of what was merged
            runs = [step for step in job["steps"] if "run" in step or "checkout" in step["uses"]]
            if runs:
                assert set(caller["permissions"].values()) == {"read"}
                assert set(job["permissions"].values()) == {"read"}
        assert "secrets." not in file.read_text("utf-8")


@pytest.mark.parametrize("file", CALLED, ids=name)
def test_a_called_workflow_takes_no_secrets_and_comes_from_one_place(file: Path) -> None:
    content = workflow(file)
    assert set(content["on"]) == {"workflow_call"}
    assert "secrets" not in (content["on"]["workflow_call"] or {})
    text = file.read_text("utf-8")
    assert "secrets." not in text
    assert "github.token" not in text or file in (COMMENT, DEPLOY)
    # A called workflow has no folder of its own on the runner: `./` is the caller's.
    assert not any(step.get("uses", "").startswith(("./", "$/")) for _, step in steps(file))


def test_only_the_job_that_deploys_may_write_pages_and_it_runs_our_scripts_alone() -> None:
    writing = [
        (file.name, identity)
        for file in FILES
        for identity, job in workflow(file)["jobs"].items()
        if job["permissions"].get("pages") == "write"
    ]
    assert writing == [
        ("comment.yml", "preview"), ("deploy.yml", "deploy"), ("site-comment.yml", "comment"),
        ("site.yml", "deploy"),
    ]  # fmt: skip
    assert [step for name, step in steps(COMMENT) if name == "preview"] == [
        step for _, step in steps(DEPLOY)
    ]
    taken, put, uploaded, deployed = (step for _, step in steps(DEPLOY))
    assert uploaded["uses"].startswith("actions/upload-pages-artifact@")
    assert deployed["uses"].startswith("actions/deploy-pages@")
    assert put["run"].startswith('python3 "$RUNNER_TEMP/grid-atlas/.github/scripts/previews.py" ')
    assert taken["env"]["COMMIT"] == "${{ job.workflow_sha }}"
    job = workflow(WORKFLOWS / "site.yml")["jobs"]["deploy"]
    assert job["if"] == "github.ref == 'refs/heads/main'"
    assert set(job["needs"]) == {"results", "links"}


def test_who_may_comment_runs_nothing_of_a_pull_request() -> None:
    taken, written = (step for name, step in steps(COMMENT) if name == "comment")
    assert not {"uses"} & (taken.keys() | written.keys())
    assert taken["run"] == next(steps(DEPLOY))[1]["run"]
    assert written["run"] == 'python3 "$RUNNER_TEMP/grid-atlas/.github/scripts/comment.py"'
    assert workflow(WORKFLOWS / "site-comment.yml")["on"] == {
        "workflow_run": {"workflows": ["site"], "types": ["completed"]}
    }
    assert workflow(WORKFLOWS / "site.yml")["name"] == "site"


@pytest.mark.parametrize("file", FILES, ids=name)
def test_what_an_expression_names_is_there(file: Path) -> None:
    content = workflow(file)
    calls = content["on"].get("workflow_call") if isinstance(content["on"], dict) else None
    inputs = (calls or {}).get("inputs", {})
    text = file.read_text("utf-8")
    for found in re.findall(r"\binputs\.([\w-]+)", text):
        assert found in inputs
    for identity, job in content["jobs"].items():
        earlier: set[str] = set()
        for step in job.get("steps", ()):
            named = set(re.findall(r"\bsteps\.([\w-]+)\.outputs", str(step)))
            assert named <= earlier | {step.get("id", "")}, (identity, step)
            earlier.add(step.get("id", ""))
        needs = job.get("needs", [])
        needed = set(re.findall(r"\bneeds\.([\w-]+)\.", str(job)))
        assert needed <= ({needs} if isinstance(needs, str) else set(needs))


@pytest.mark.parametrize("file", FILES, ids=name)
def test_each_script_is_one_that_its_shell_reads(file: Path) -> None:
    for _, step in steps(file):
        if step.get("shell") == "python":
            compile(step["run"], file.name, "exec")
        elif "run" in step:
            subprocess.run(["bash", "-n"], input=step["run"], text=True, check=True)


def test_the_links_of_our_own_site_are_followed_as_pages_serves_it(tmp_path: Path) -> None:
    site = tmp_path / "made"
    site.mkdir()
    (site / "index.html").write_text('<a href="gone/">gone</a>')
    (site / "404.html").write_text("")
    folder = tmp_path / "project"
    shutil.copytree(ROOT / "tests/sites", folder / "tests/sites")
    with tarfile.open(folder / "artifact.tar", "w") as archive:
        archive.add(site, ".")
    [step] = run_steps(WORKFLOWS / "site.yml", "links")
    address = {"site-url": "https://atlas-owner.github.io/results"}
    given = PAGES | {"needs": {"results": {"outputs": address}}}
    done = run_step(step, folder, given)
    assert (done.status, done.log) == (1, "leads nowhere: / <a>: gone/ (404)\n")


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


# --- releases -----------------------------------------------------------------------------------

PAGES = {"github": {"event": event("pull_request.own")}}
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


CITED = "version: 0.2.0\ndate-released: 2026-05-01\n"


@pytest.mark.parametrize(
    ("tag", "cited", "version", "error"),
    [
        ("v0.2.0", CITED, "0.2.0", ""),
        ("v0.2.0", CITED.replace("05", "06"), "0.2.0", "CITATION.cff has no line date-released: "),
        ("v0.2.0", CITED.replace("0.2.0", "0.1.0"), "0.2.0", "CITATION.cff has no line version: "),
        ("v0.2.1", CITED, "0.2.0", "the tag is v0.2.1, and pyproject.toml has version 0.2.0"),
        ("0.2.0", CITED, "0.2.0", "the tag is 0.2.0, and"),
        ("v0.3.0", CITED, "0.3.0", "CHANGELOG.md says nothing under ## [0.3.0] - YYYY-MM-DD"),
        ("v0.2.0$(touch hit)", CITED, "0.2.0", "the tag is v0.2.0$(touch hit), and"),
    ],
)
def test_a_release_needs_its_tag_version_changelog_and_citation(
    tmp_path: Path, tag: str, cited: str, version: str, error: str
) -> None:
    folder = tmp_path / "project"
    (folder / "plugin/gridatlas").mkdir(parents=True)
    (folder / "pyproject.toml").write_text(f'[project]\nversion = "{version}"\n')
    (folder / "plugin/gridatlas/__init__.py").write_text(f'__version__ = "{version}"\n')
    (folder / "CHANGELOG.md").write_text(CHANGELOG)
    (folder / "CITATION.cff").write_text(cited)
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
        project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        assert project["urls"]["Changelog"].startswith("https://github.com/")
        assert "repository-code: https://github.com/" in (folder / "CITATION.cff").read_text()
    before = (folder / "pyproject.toml").read_bytes()
    script = [sys.executable, ".github/scripts/release_notes.py", tag, "--check"]
    check = subprocess.run(script, cwd=folder, capture_output=True, text=True, check=False)
    assert check.stdout.startswith(
        f"The tag {tag} would publish {'nothing: ' if error else 'wheel'}"
    )
    assert (folder / "pyproject.toml").read_bytes() == before
