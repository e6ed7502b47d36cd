"""results.yml, run on merges and pushes as GitHub makes them, and what is kept of it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import forked
import pytest
from workflows import (
    RESULTS,
    ROOT,
    Done,
    Run,
    event,
    grid_atlas,
    hashed_installation,
    run_job,
    run_step,
    run_steps,
    search_path,
    workflow,
)

STUDY = """\
format: 1
title: Tuning
metric: {name: Accuracy, better: higher}
x: rate
y: batch
claims:
  - {text: Accuracy is at least 69 everywhere., check: (grid() >= 69).all}
"""
CELLS = "rate,batch,value\n0.1,8,70\n0.2,8,72.5\n0.1,16,71\n0.2,16,69\n"
CONFIG = """\
site_name: Mine
theme: {name: material, font: false}
plugins:
  - search
  - gridatlas: {csp: true}
"""
CHANGED = CELLS.replace("69", "75")
RAGGED = CELLS.replace("0.1,16,71", "0.1,16,71,x")
SITE, DATA, PAGES = "gridatlas-preview-site", "gridatlas-preview-data", "gridatlas-site"

STUB = f"""\
#!{sys.executable}
import json, os, sys
arguments = sys.argv[1:]
if arguments[:1] != ["diff"]:
    os.execv("{forked.commands() / "gridatlas"}", sys.argv)
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


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


class Checkout:
    """A project in which a pull request is merged, checked out as actions/checkout does."""

    def __init__(
        self,
        base: Path,
        drawings: Path,
        cells: str = CHANGED,
        depth: int = 2,
        first_study: bool = False,
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
        (origin / "data/tuning/cells.csv").write_text(cells)
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
        self.out = base / "runner/gridatlas-results"


@pytest.fixture
def project(tmp_path: Path, drawings: Path) -> Checkout:
    return Checkout(tmp_path, drawings)


def context(checkout: Checkout, name: str = "own", **inputs: Any) -> dict[str, Any]:
    """What a run on the recorded event knows; `push` has no pull request."""
    given = event("pull_request.own" if name == "push" else f"pull_request.{name}")
    if name == "push":
        del given["pull_request"]
    else:
        given["pull_request"]["head"]["sha"] = checkout.head
    taken = workflow(RESULTS)["on"]["workflow_call"]["inputs"]
    # As installed: the tools are those that the tests run with.
    defaults = {key: value["default"] for key, value in taken.items()}
    assert defaults["fail-on"] == "problems,checks,claims,meaning,removed,answers"
    defaults |= {"install": "true", "fail-on": "problems"}
    inputs = {key.replace("_", "-"): value for key, value in inputs.items()}
    assert inputs.keys() <= defaults.keys()
    return {
        "github": {"event": given, "event_name": "push" if name == "push" else "pull_request"},
        "inputs": defaults | inputs,
    }


def run(checkout: Checkout, name: str = "own", **inputs: Any) -> Run:
    """Run the whole job with the real commands."""
    return run_job(RESULTS, "results", checkout.folder, context(checkout, name, **inputs))


def run_stubbed(checkout: Checkout, diff: dict[str, Any], **environment: str) -> Run:
    """Run the whole job with a recorded `gridatlas diff`."""
    base = checkout.folder.parent
    tools = base / "tools"
    tools.mkdir()
    (tools / "gridatlas").write_text(STUB)
    (tools / "gridatlas").chmod(0o755)
    (base / "diff.json").write_text(json.dumps(diff))
    given = {
        "PATH": search_path(tools),
        "DIFF_CALLS": str(base / "calls"),
        "DIFF_JSON": str(base / "diff.json"),
    }
    return run_job(RESULTS, "results", checkout.folder, context(checkout), given | environment)


# --- pull requests ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory, drawings: Path) -> tuple[Checkout, Run]:
    """A pull request of a fork that changes a value, and its run."""
    project = Checkout(tmp_path_factory.mktemp("honest"), drawings)
    return project, run(project, "fork", fail_on="problems, claims,checks")


def test_what_a_pull_request_changes_is_in_the_diff_the_site_and_the_run(
    honest: tuple[Checkout, Run],
) -> None:
    project, done = honest
    assert done.status == 0, done.log
    assert done.artifacts.keys() == {DATA, SITE}
    assert sorted(path.name for path in done.artifacts[DATA].iterdir()) == [
        "diff.json",
        "preview.json",
    ]
    assert json.loads((done.artifacts[DATA] / "preview.json").read_text()) == {
        "format": 1, "pull_request": 12, "head": project.head, "base": project.base, "site": "site",
        "changes": "studies/changes/", "picture": "studies/changes/differences.svg",
    }  # fmt: skip
    assert (done.artifacts[SITE] / "studies/changes/differences.svg").read_text().startswith("<svg")
    diff = json.loads((done.artifacts[DATA] / "diff.json").read_text())
    assert diff["base"] == {"name": "main", "commit": project.base}
    assert diff["head"] == {"name": "pull request 12", "commit": project.head}
    assert '"0.2", "16"' in json.dumps(diff["leads"])
    assert "75" in done.summary
    changes = (done.artifacts[SITE] / "studies/changes/index.html").read_text()
    assert f"Changes since {project.base[:12]}" in changes
    assert 'href="changes/index.html"' in (done.artifacts[SITE] / "studies/index.html").read_text()


def test_the_preview_opens_from_the_disk(honest: tuple[Checkout, Run]) -> None:
    _, done = honest
    home = (done.artifacts[SITE] / "index.html").read_text()
    assert 'href="studies/index.html"' in home
    assert "Content-Security-Policy" not in home
    assert "75" in (done.artifacts[SITE] / "studies/tuning/index.html").read_text()


DATA_FAILS = "The data has problems: see the annotations of this run."
SITE_FAILS = "gridatlas build --site --strict fails: see the log of the step that builds the site."
CHANGES_FAIL = "The pull request changes {} in a way that fail-on doesn't allow: see the summary."
LAST = "Fail on what fail-on names"


def failures(log: str) -> list[str]:
    prefix = "::error title=fail-on::"
    return [line.removeprefix(prefix) for line in log.splitlines() if line.startswith(prefix)]


def test_a_ragged_row_fails_the_run_at_its_line_after_the_artifacts_are_there(
    tmp_path: Path, drawings: Path
) -> None:
    done = run(Checkout(tmp_path, drawings, RAGGED), fail_on="problems,claims")
    annotations = [line for line in done.log.splitlines() if line.startswith("::error file=")]
    assert annotations[0].startswith("::error file=data/tuning/cells.csv,line=4,title=ragged-row::")
    assert (done.status, done.ran[-1]) == (1, LAST)
    assert failures(done.log) == [DATA_FAILS, CHANGES_FAIL.format("claims")]
    assert done.artifacts.keys() == {DATA, SITE}
    assert done.summary.endswith(f"\n\n❌ {DATA_FAILS}\n\n❌ {CHANGES_FAIL.format('claims')}\n")
    assert "ragged-row" in (done.artifacts[SITE] / "studies/tuning/index.html").read_text()


def test_a_link_that_leads_nowhere_fails_the_pull_request(project: Checkout) -> None:
    (project.folder / "docs/index.md").write_text("# Home\n\n[Gone](gone.md)\n")
    done = run_stubbed(project, event("diff"))
    assert (done.status, failures(done.log)) == (1, [SITE_FAILS])
    assert (done.artifacts[SITE] / "index.html").is_file()


STEPS = {step["name"]: step for step in run_steps(RESULTS, "results")}


@pytest.mark.parametrize(
    ("fail_on", "event_name", "expected"),
    [
        ("none", "pull_request", []),
        ("", "pull_request", []),
        ("problems", "pull_request", [DATA_FAILS]),
        ("problems", "push", [DATA_FAILS]),
        (" claims", "pull_request", [CHANGES_FAIL.format("claims")]),
        # What was merged was decided on.
        ("claims, checks", "push", []),
        (
            "problems, claims,checks",
            "pull_request",
            [DATA_FAILS, CHANGES_FAIL.format("claims,checks")],
        ),
    ],
)
def test_what_fails_the_run_is_a_setting(
    project: Checkout, fail_on: str, event_name: str, expected: list[str]
) -> None:
    given = context(project, fail_on=fail_on)
    given["github"]["event_name"] = event_name
    settings = run_step(STEPS["Read the settings"], project.folder, given)
    changed = {"failing": "1"} if settings.outputs["changes"] else {}
    given["steps"] = {
        "settings": {"outputs": settings.outputs},
        "check": {"outputs": {"problems": "1"}},
        "compare": {"outputs": changed},
    }
    done = run_step(STEPS[LAST], project.folder, given)
    assert (done.status, failures(done.log)) == (int(bool(expected)), expected)
    assert done.summary == "".join(f"\n❌ {line}\n" for line in expected)


def test_a_kind_that_there_is_not_is_an_error(project: Checkout) -> None:
    done = run(project, fail_on="problems,claim")
    assert (done.status, done.log) == (
        2,
        '::error::fail-on has "claim". It takes problems, checks, claims, answers, meaning and '
        "removed, with commas between them, all, or none.\n",
    )


def test_a_site_that_cannot_be_built_keeps_nothing(project: Checkout) -> None:
    (project.folder / "mkdocs.yml").write_text(CONFIG + "plugins: [nothing-like-it]\n")
    done = run_stubbed(project, event("diff"))
    assert (done.status, done.ran[-1], done.artifacts) == (1, "Build the site", {})


def test_the_first_study_of_a_site_has_a_preview(tmp_path: Path, drawings: Path) -> None:
    done = run(Checkout(tmp_path, drawings, first_study=True))
    assert done.status == 0, done.log
    diff = json.loads((done.artifacts[DATA] / "diff.json").read_text())
    assert diff["summary"].startswith("The study “Tuning” is new, with 1 grid and 4 values: ")
    assert diff["points"] == [["✅", 'The base has no folder "data", so all results are new']]
    changes = (done.artifacts[SITE] / "studies/changes/index.html").read_text()
    assert "The base has no folder" in changes


def test_the_diff_is_asked_for_as_a_person_would_and_its_details_may_be_too_many(
    project: Checkout,
) -> None:
    done = run_stubbed(project, event("diff") | {"studies": ["x" * 1_100_000]})
    assert done.status == 0, done.log
    calls = (project.folder.parent / "calls").read_text().splitlines()
    assert [json.loads(line) for line in calls] == [
        ["diff", project.base[:12], "HEAD", "--data", "data"],
        ["diff", project.base[:12], "HEAD", "--data", "data", "--format", "json"],
        ["diff", project.base[:12], "HEAD", "--data", "data", "--format", "svg"],
    ]
    assert done.summary == "## What the diff says\n"
    diff = json.loads((done.artifacts[DATA] / "diff.json").read_text())
    assert diff["sections"] == event("diff")["sections"]
    assert "studies" not in diff
    assert "studies" in json.loads((done.artifacts[SITE] / "diff.json").read_text())


def test_a_diff_that_fails_ends_the_run(project: Checkout) -> None:
    done = run_stubbed(project, event("diff"), DIFF_STATUS="2")
    assert (done.status, done.artifacts) == (2, {})
    assert done.log.endswith("an unknown revision\n")


def test_a_diff_that_is_too_large_is_refused(project: Checkout) -> None:
    (project.out / "site").mkdir(parents=True)
    large = event("diff") | {"studies": [], "summary": "x" * 1_100_000}
    (project.out / "diff.json").write_text(json.dumps(large))
    given = {"OUT": "gridatlas-results"}
    step = STEPS["Say which pull request this is"]
    done = run_step(step, project.folder, context(project), given)
    assert (done.status, done.log) == (
        1,
        "::error::What changes takes more than 1,000,000 bytes.\n",
    )
    assert not (project.out / "preview.json").exists()


# --- what is compared ---------------------------------------------------------------------------


def test_a_checkout_without_the_base_is_told(tmp_path: Path, drawings: Path) -> None:
    done = run(Checkout(tmp_path, drawings, depth=1))
    assert (done.status, done.log) == (
        1,
        "::error::The commit that the pull request is merged into isn't there.\n",
    )


def test_a_checkout_of_the_head_alone_is_told(project: Checkout) -> None:
    git(project.folder, "checkout", "--quiet", "HEAD^1")
    git(project.folder, "fetch", "--quiet", "--unshallow")
    done = run(project)
    assert (done.status, done.log) == (
        1,
        f"::error::This isn't a merge of {project.head[:12]}, so what it is merged into isn't "
        "known. Call this workflow on pull_request.\n",
    )


@pytest.mark.parametrize("name", ["pull_request_target", "workflow_run"])
def test_events_that_could_write_are_refused(project: Checkout, name: str) -> None:
    given = context(project)
    given["github"]["event_name"] = name
    done = run_job(RESULTS, "results", project.folder, given)
    assert (done.status, done.log) == (
        1,
        f"::error::Call this workflow on push and pull_request, not on {name}.\n",
    )


# --- pushes -------------------------------------------------------------------------------------


def check_links(site: Path, address: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "tests/sites/check_links.py"), str(site)],
        env={**os.environ, "SITE_URL": address},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_push_builds_the_site_for_its_address(project: Checkout) -> None:
    done = run(project, "push")
    assert done.status == 0, done.log
    assert done.artifacts.keys() == {PAGES}
    assert "75" in done.summary
    missing = (done.artifacts[PAGES] / "404.html").read_text()
    assert 'href="/results/studies/' in missing
    assert "Content-Security-Policy" in missing
    assert not (done.artifacts[PAGES] / "studies/changes").exists()
    checked = check_links(done.artifacts[PAGES], "https://atlas-owner.github.io/results/")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert checked.stdout.endswith(" below /results/\n")


def test_without_pages_and_before_the_first_commit_a_push_keeps_the_site(
    tmp_path: Path, drawings: Path
) -> None:
    project = Checkout(tmp_path, drawings, depth=1)
    done = run(project, "push", pages=False)
    assert (done.status, set(done.artifacts), done.summary) == (0, {SITE}, ""), done.log
    assert "Show what changed in the results" not in done.ran


def test_links_that_lead_nowhere_are_told(tmp_path: Path) -> None:
    site = tmp_path / "site"
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
    assert check_links(tmp_path / "nowhere", "").returncode == 2


# --- what is installed --------------------------------------------------------------------------

PIP = "-m pip install --quiet --disable-pip-version-check"


def install(
    folder: Path, job: dict[str, str], inputs: dict[str, str], github: dict[str, str] | None = None
) -> Done:
    """Run the step that installs, with a Python that says what it was called with."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "python").write_text(
        '#!/bin/sh\ncase "$1" in *dependencies.py) ;; *) echo "$@" ;; esac\n'
    )
    (tools / "python").chmod(0o755)
    project = folder / "project"
    project.mkdir()
    step = STEPS["Install Grid Atlas"]
    given = {
        "github": {"event": event("pull_request.own")},
        "job": job,
        "inputs": {"install": "", "requirements": "", "source": ""} | inputs,
    }
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    return run_step(step, project, given, {"PATH": path, **(github or {})})


REPOSITORY = "atlas/grid-atlas"
THERE = {"workflow_repository": "you/results", "workflow_sha": "ab" * 20}


@pytest.mark.parametrize("vendored", [False, True])
@pytest.mark.parametrize("requirements", ["", "r; touch hit"])
def test_grid_atlas_is_installed_by_the_lock_of_the_commit(
    tmp_path: Path, vendored: bool, requirements: str
) -> None:
    """Of the workflow, or of the source where the workflow is a copy."""
    commit, github = grid_atlas(tmp_path)
    job = THERE if vendored else {"workflow_repository": REPOSITORY, "workflow_sha": commit}
    inputs = {"requirements": requirements}
    done = install(
        tmp_path, job, inputs | ({"source": f"{REPOSITORY}@{commit}"} if vendored else {}), github
    )
    calls = re.sub(r"/\S+/(pip|needed)\.txt", r"WORK/\1.txt", done.log).splitlines()
    expected = hashed_installation(f"{tmp_path}/runner")
    more = [f"{PIP} --requirement {requirements}"] if requirements else []
    assert (done.status, calls) == (0, [*expected, *more])
    assert not (tmp_path / "project/hit").exists()


def test_a_command_of_the_callers_installs_all(tmp_path: Path) -> None:
    done = install(tmp_path, {}, {"install": "echo a\nfalse || echo b"})
    assert (done.status, done.log) == (0, "a\nb\n")


def test_a_commit_that_is_not_there_installs_nothing(tmp_path: Path) -> None:
    _, github = grid_atlas(tmp_path)
    done = install(tmp_path, {**THERE, "workflow_repository": REPOSITORY}, {}, github)
    assert done.status not in (0, 2)
    assert PIP not in done.log


@pytest.mark.parametrize(
    ("job", "source", "found"),
    [
        ({}, "", "@"),
        ({"workflow_repository": REPOSITORY}, "", f"{REPOSITORY}@"),
        (THERE, f"{REPOSITORY}@main", f"{REPOSITORY}@main"),
        (THERE, f"../{REPOSITORY}@{'a' * 40}", f"../{REPOSITORY}@{'a' * 40}"),
    ],
)
def test_without_a_commit_nothing_is_installed(
    tmp_path: Path, job: dict[str, str], source: str, found: str
) -> None:
    done = install(tmp_path, job, {"source": source})
    assert (done.status, done.log) == (
        2,
        f'::error::No commit to install Grid Atlas from: the input source is "{found}", not '
        "OWNER/REPOSITORY@COMMIT with all 40 digits. GitHub Enterprise Server doesn't tell a "
        "workflow its own commit: name it there.\n",
    )


def test_a_command_that_fails_installs_nothing_more(tmp_path: Path) -> None:
    done = install(tmp_path, THERE, {"install": "false\necho b"})
    assert (done.status, done.log) == (1, "")
