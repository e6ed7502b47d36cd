"""Whatever is killed at whatever moment leaves nothing damaged, and the next run fixes the rest."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import site_builds
from amount import amount
from killing import (
    PATIENCE,
    Case,
    Files,
    copied,
    files,
    finish,
    killed_and_done_again,
    nothing_left,
    start,
    undisturbed,
)
from site_builds import TINY_CELLS, Project

TOY = Path(__file__).parents[1] / "reproduce/toy_run.py"

CHANGED = TINY_CELLS.replace("small", "tiny").replace("12.5", "13.0")
"""The cells after a change: a level has another name, so that pages go and come; one value."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def changed(project: Project) -> None:
    """The study with a level of another name, so that pages go and come, and another value."""
    study = (project.folder / "data/tiny/study.yml").read_text("utf-8")
    project.write("data/tiny/study.yml", study.replace("id: small", "id: tiny"))
    project.write("data/tiny/cells.csv", CHANGED)


def old_or_new(found: Files, before: Files, after: Files) -> None:
    """Each file is there whole, as it was or as it shall be; none that is in both is missing."""
    wrong = [
        path
        for path, content in found.items()
        if content not in (before.get(path), after.get(path))
    ]
    assert wrong == []
    assert before.keys() & after.keys() <= found.keys()
    # What isn't needed any more goes last: until then links of old pages lead somewhere.
    if not before.keys() <= found.keys():
        assert after.keys() <= found.keys()


def bytes_at(*paths: str) -> Callable[[Path], Files]:
    def read(folder: Path) -> Files:
        return {path: (folder / path).read_bytes() for path in paths if (folder / path).exists()}

    return read


# --- the site -----------------------------------------------------------------------------------


def site(folder: Path) -> Files:
    return files(folder / "site")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose site is of other data than it has now."""
    project = site_builds.make_project(
        tmp_path_factory.mktemp("built") / "project",
        options={"csp": True},
        theme={"name": "mkdocs"},
    )
    site_builds.add_tiny_study(project)
    project.built()
    changed(project)
    return project.folder


def test_mkdocs_build(built: Path, tmp_path: Path) -> None:
    """What a killed build leaves of the site is nothing to the next one, and its cache is whole.

    Dear: the command is killed at random moments, and run to its end after each.
    """
    case = Case(built, ("mkdocs", "build", "--quiet"), site, lambda folder, before, after: None)
    killed_and_done_again(case, tmp_path)


def test_a_build_into_a_folder(tmp_path: Path) -> None:
    """Dear: killed and run again, as that of MkDocs."""
    project = site_builds.make_project(tmp_path / "project")
    site_builds.add_tiny_study(project)
    command = ("gridatlas", "build", "--into", "docs")
    case = Case(
        project.folder,
        command,
        lambda folder: files(folder / "docs"),
        lambda folder, before, after: old_or_new(files(folder / "docs"), before, after),
    )
    finish(case, project.folder)
    changed(project)
    killed_and_done_again(case, tmp_path, 1)


def test_a_third_state_after_a_killed_build(tmp_path: Path) -> None:
    """What a killed build wrote is known for its own, though it came to no end.

    Dear: two kills, and three builds to their end.
    """
    project = site_builds.make_project(tmp_path / "project")
    site_builds.add_tiny_study(project)
    case = Case(
        project.folder,
        ("gridatlas", "build", "--into", "docs"),
        lambda folder: files(folder / "docs"),
        lambda folder, before, after: None,
    )
    finish(case, project.folder)
    known_before = files(project.folder / "docs")
    changed(project)
    changes = undisturbed(case, tmp_path / "undisturbed").changes
    found = set()
    for number in range(1, 1 + amount(1, 25)):
        place = tmp_path / f"third-{number}"
        copied(project.folder, place)
        assert start(case, place, changes - 2 * number).wait(PATIENCE) != 0
        found.add(files(place / "docs") == known_before)
        Project(place).write("data/tiny/cells.csv", CHANGED.replace("13.0", "14.0"))
        finish(case, place)
        nothing_left(place)
        assert b"14.0" in files(place / "docs")["grids/tiny/tiny.csv"]
        assert "grids/tiny/small.csv" not in files(place / "docs")
    assert False in found


# --- changes ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose data changed since its commit, with a page of changes of before."""
    project = Project(tmp_path_factory.mktemp("compared") / "project")
    site_builds.add_tiny_study(project)
    git = ("git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-C", project.folder)
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "Begin")):
        subprocess.run([*git, *command], check=True)
    changed(project)
    project.write("changes.html", "what changed before\n")
    return project.folder


def test_diff(compared: Path, tmp_path: Path) -> None:
    command = ("gridatlas", "diff", "HEAD", "data", "--format", "html", "--out", "changes.html")
    code = "--fail-on", "claims"  # Else changes are exit status 1.
    page = bytes_at("changes.html")
    case = Case(
        compared,
        (*command, *code),
        page,
        lambda folder, before, after: old_or_new(page(folder), before, after),
    )
    killed_and_done_again(case, tmp_path, 1)


# --- new projects -------------------------------------------------------------------------------


EXISTING = "# A site that is there.\nsite_name: Mine\nplugins:\n  - search  # kept\n"


def site_of_example(folder: Path) -> Files:
    """All that is there, with what `git` and MkDocs leave out."""
    hidden = (folder / "mine").rglob(".git*")
    found = {file.relative_to(folder / "mine").as_posix(): file.read_bytes() for file in hidden}
    return files(folder / "mine") | found


@pytest.mark.parametrize("existing", [{}, {"mkdocs.yml": EXISTING}], ids=["whole", "added"])
def test_new(tmp_path: Path, existing: dict[str, str]) -> None:
    project = Project(tmp_path / "project")
    (project.folder / "mine").mkdir(parents=True)
    for path, text in existing.items():
        project.write(f"mine/{path}", text)

    def whole(folder: Path, before: Files, after: Files) -> None:
        found = site_of_example(folder)
        old_or_new(found, before, after)
        example = [path for path in found if path.startswith("data/")]
        assert len(example) in (0, 2)

    command = ("gridatlas", "new", "mine", "--yes")
    killed_and_done_again(Case(project.folder, command, site_of_example, whole), tmp_path, 4)


# --- imports ------------------------------------------------------------------------------------


def test_import(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    project.write("results.csv", TINY_CELLS)
    command = (
        "gridatlas",
        "import",
        "results.csv",
        "--replace",
        "--x",
        "rate",
        "--y",
        "batch",
        "--metric",
    )
    command = (*command, "accuracy", "--facet", "model")
    names = ("data/results/study.yml", "data/results/cells.csv")

    def whole(folder: Path, before: Files, after: Files) -> None:
        assert bytes_at(*names)(folder) in (before, after)

    case = Case(project.folder, command, bytes_at(*names), whole)
    finish(case, project.folder)
    project.write("results.csv", CHANGED)
    killed_and_done_again(case, tmp_path)


# --- sweeps -------------------------------------------------------------------------------------


def records(folder: Path) -> Files:
    """What a run recorded, but for how long it took."""
    found = {}
    for path, content in files(folder / "run").items():
        if path.startswith("records/"):
            head, *rows = (json.loads(line) for line in content.splitlines())
            compared = [{key: row[key] for key in row if key != "seconds"} for row in rows]
            found[path] = json.dumps([head, *compared]).encode()
        elif path == "plan.json":
            found[path] = content
    return found


def test_sweep(tmp_path: Path) -> None:
    template = tmp_path / "project"
    template.mkdir()
    command = (str(TOY), "--out", "run", "--items", "20")

    def whole(folder: Path, before: Files, after: Files) -> None:
        old_or_new(records(folder), before, after)

    killed_and_done_again(Case(template, command, records, whole), tmp_path)
