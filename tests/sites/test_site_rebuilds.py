"""The same data gives the same bytes, and what was drawn once isn't drawn again."""

import shutil
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
import site_builds
from site_builds import Build, Project

from gridatlas.files.cache import FILE

RUN = """\
import sys
from pathlib import Path
from mkdocs.__main__ import cli
try:
    cli(["build", "--quiet", "--strict", "--site-dir", sys.argv[1]])
except SystemExit as end:
    assert not end.code, end.code
slow = sorted({"altair", "pandas", "scipy", "vl_convert"} & sys.modules.keys())
Path(sys.argv[2]).write_text(" ".join([*slow, "end"]))
"""
"""A build that notes which of the slow libraries it imported."""


Cache = dict[str, frozenset[str]]
"""The names of an entry's parts, by its key."""
DRAWING = frozenset({"svg", "png", "spec"})


def file_of(project: Project) -> Path:
    """The database of a project's cache."""
    return project.folder / ".cache/gridatlas" / FILE


def entries(project: Project) -> Cache:
    """All that is in the cache of a project."""
    found: dict[str, set[str]] = defaultdict(set)
    for key, name, _ in parts(project):
        found[key].add(name)
    return {key: frozenset(names) for key, names in found.items()}


def parts(project: Project) -> list[tuple[str, str, bytes]]:
    """All that is cached, but for the note of what a site's files have in them."""
    with closing(sqlite3.connect(file_of(project))) as cache:
        return cache.execute(
            "SELECT key, name, value FROM parts WHERE name != 'notes' ORDER BY key, name"
        ).fetchall()


@pytest.fixture(scope="module")
def first(base: Path) -> Build:
    project = site_builds.make_project(base / "a first")
    site_builds.add_golden_studies(project)
    return project.built("--strict")


@pytest.fixture(scope="module")
def second(base: Path) -> Project:
    """The same, elsewhere, and drawn in another order: first one study, then all."""
    project = site_builds.make_project(base / "a second, elsewhere/the site")
    site_builds.add_golden_studies(project)
    part = project.folder.with_name("part")
    shutil.copytree(project.folder / "data/methods", part / "data/methods")
    command = ["gridatlas", "build", "--data", str(part / "data"), "--into", str(part / "pages")]
    done = site_builds.run(command, project.folder)
    assert done.returncode == 0, done.stdout
    return project


@pytest.fixture(scope="module")
def cold(second: Project) -> Build:
    assert list(entries(second).values()).count(DRAWING) > 0
    return second.built("--strict", PYTHONHASHSEED="2")


@dataclass(frozen=True)
class Again:
    """A build of what is built already: its site, what it imported, the cache, which stays."""

    build: Build
    imported: str
    cache: Cache


@pytest.fixture(scope="module")
def warm(second: Project, cold: Build) -> Again:
    assert cold.status == 0
    before, content = entries(second), parts(second)
    site = second.folder / "again"
    imported = second.folder / "imported.txt"
    command = [sys.executable, "-c", RUN, str(site), str(imported)]
    done = site_builds.run(command, second.folder, {"PYTHONHASHSEED": "3"})
    assert done.returncode == 0, done.stdout
    assert parts(second) == content
    return Again(Build(done.returncode, done.stdout, site), imported.read_text(), before)


def test_two_builds_of_the_same_data_are_the_same(first: Build, cold: Build) -> None:
    assert_same(first.files(), cold.files())


NOTEBOOK = """\
# %% [markdown]
# # A notebook
# %%
import gridatlas
study = gridatlas.load("data")["tiny"]
study
# %%
study.grid(model="small")
"""


def test_a_notebook_run_twice_is_the_same(tiny: Callable[..., Project]) -> None:
    """On two pages. Dear: each is run by Jupyter in a process of its own."""
    plugins = [{"mkdocs-jupyter": {"execute": True, "allow_errors": False}}, "gridatlas"]
    project = tiny(plugins=plugins)
    for name in ("one", "two"):
        project.write(f"docs/{name}.py", NOTEBOOK)
    build = project.built("--strict")
    first, other = [str(site_builds.article(build.page(f"{name}/"))) for name in ("one", "two")]
    assert "ga-notebook" in first
    assert first == other


def test_a_build_from_the_cache_is_the_same(cold: Build, warm: Again) -> None:
    assert_same(cold.files(), warm.build.files())


def test_a_build_in_which_nothing_changed_draws_nothing(warm: Again) -> None:
    assert list(warm.cache.values()).count(DRAWING) >= 36


def test_a_build_in_which_nothing_changed_imports_no_slow_library(warm: Again) -> None:
    assert warm.imported == "end"


def assert_same(first: dict[str, bytes], other: dict[str, bytes]) -> None:
    assert sorted(first) == sorted(other)
    assert [path for path in first if first[path] != other[path]] == []


def test_a_site_says_nothing_of_the_folder_it_was_built_in(second: Project, cold: Build) -> None:
    place = str(second.folder).encode()
    assert [path for path, content in cold.files().items() if place in content] == []


@pytest.fixture(scope="module")
def cached(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Build]:
    """A small project with a cache of its own, and its first build."""
    project = site_builds.make_project(tmp_path_factory.mktemp("cached") / "tiny")
    site_builds.add_tiny_study(project)
    return project, project.built("--strict")


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "half": lambda content: content[: len(content) // 2],
    "without a beginning": lambda content: content.partition(b"\n")[2],
    "another page": lambda content: content[:16384] + bytes(16384) + content[32768:],
    "other bytes": lambda content: content[:16384] + content[16384:].replace(b"\x00", b"\x01"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_what_is_damaged_in_the_cache_is_made_again(
    cached: tuple[Project, Build], kind: str
) -> None:
    project, first = cached
    file = file_of(project)
    content = file.read_bytes()
    file.write_bytes(DAMAGE[kind](content))
    assert file.read_bytes() != content
    assert_same(first.files(), project.built("--strict").files())
    assert_same(first.files(), project.built("--strict").files())
    assert list(entries(project).values()).count(DRAWING) == 12


def test_only_what_changed_is_drawn_again(cached: tuple[Project, Build]) -> None:
    project, _ = cached
    before = entries(project)
    cells = project.folder / "data/tiny/cells.csv"
    changed = cells.read_text(encoding="utf-8").replace("small,8,0.2,12.5", "small,8,0.2,13.0")
    cells.write_text(changed, encoding="utf-8")
    project.built("--strict")
    after = entries(project)
    assert before.items() <= after.items()
    # Of each of two grids: alone, among others, on its level's page, in a column, in a frame; and
    # two profiles.
    assert list(before.values()).count(DRAWING) == 12
    new = [parts for key, parts in after.items() if key not in before]
    assert new.count(DRAWING) == 7
    # The study's pages, and the overview.
    assert sum("index" in parts for parts in new) == 2
