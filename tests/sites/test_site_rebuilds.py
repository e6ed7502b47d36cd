"""The same data gives the same bytes, and what was drawn once isn't drawn again."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import site_builds
from site_builds import GRPO, SITE_URL, Build, Project

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


Cache = dict[Path, tuple[int, bytes]]


def entries(folder: Path) -> Cache:
    """Each file of a cache with the time of its last change."""
    return {
        file: (file.stat().st_mtime_ns, file.read_bytes())
        for file in folder.rglob("*")
        if file.is_file()
    }


@pytest.fixture(scope="module")
def second(base: Path) -> Project:
    """The repository again, elsewhere, and drawn in another order: first one study, then both."""
    project = site_builds.copy_repository(base, "a second, elsewhere/site of the atlas")
    project.configure(site_url=SITE_URL)
    others = [folder for folder in (project.folder / "data").iterdir() if folder.name != GRPO]
    away = project.folder / "away"
    away.mkdir()
    for folder in others:
        folder.rename(away / folder.name)
    # The documentation may link to the study that isn't there yet.
    project.built("--no-strict", into="part", PYTHONHASHSEED="1")
    for folder in others:
        (away / folder.name).rename(folder)
    return project


@pytest.fixture(scope="module")
def cold(second: Project) -> Build:
    return second.built("--strict", PYTHONHASHSEED="2", **site_builds.NOTEBOOKS)


@dataclass(frozen=True)
class Again:
    """A build of what is built already: its site, what it imported, the cache before and after."""

    build: Build
    imported: str
    before: Cache
    after: Cache


@pytest.fixture(scope="module")
def warm(second: Project, cold: Build) -> Again:
    assert cold.status == 0
    before = entries(second.folder / ".cache")
    site = second.folder / "again"
    imported = second.folder / "imported.txt"
    command = [sys.executable, "-c", RUN, str(site), str(imported)]
    done = site_builds.run(command, second.folder, {"PYTHONHASHSEED": "3"} | site_builds.NOTEBOOKS)
    assert done.returncode == 0, done.stdout
    after = entries(second.folder / ".cache")
    return Again(Build(done.returncode, done.stdout, site), imported.read_text(), before, after)


def test_two_builds_of_the_same_data_are_the_same(atlas: Build, cold: Build) -> None:
    assert_same(atlas.files(), cold.files())


def test_a_build_from_the_cache_is_the_same(cold: Build, warm: Again) -> None:
    assert_same(cold.files(), warm.build.files())


def test_a_build_in_which_nothing_changed_draws_nothing(warm: Again) -> None:
    assert [_is_drawing(entry) for entry in warm.before.values()].count(True) >= 36
    assert warm.after == warm.before


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


def test_what_is_damaged_in_the_cache_is_made_again(cached: tuple[Project, Build]) -> None:
    project, first = cached
    whole = first.files()
    contents = {file: content for file, (_, content) in entries(project.folder / ".cache").items()}
    assert len(contents) >= len(damaged(b""))
    for number, (file, content) in enumerate(sorted(contents.items())):
        kinds = damaged(content)
        file.write_bytes(kinds[number % len(kinds)])
        assert file.read_bytes() != content
    assert_same(whole, project.built("--strict").files())
    assert {file: file.read_bytes() for file in contents} == contents


def damaged(content: bytes) -> list[bytes]:
    middle = len(content) // 2
    flipped = bytes(byte ^ 1 for byte in content[middle : middle + 1])
    return [
        b"",
        content[:middle],
        content[:middle] + flipped + content[middle + 1 :],
        content.partition(b"\n")[2],
    ]


def test_only_what_changed_is_drawn_again(cached: tuple[Project, Build]) -> None:
    project, _ = cached
    before = entries(project.folder / ".cache")
    cells = project.folder / "data/tiny/cells.csv"
    changed = cells.read_text(encoding="utf-8").replace("small,8,0.2,12.5", "small,8,0.2,13.0")
    cells.write_text(changed, encoding="utf-8")
    project.built("--strict")
    after = entries(project.folder / ".cache")
    assert before.keys() <= after.keys()
    # A study has one place for its pages, where the changed ones stand now; so has the overview.
    pages = [entry for file, entry in before.items() if after[file] != entry]
    assert [_is_drawing(entry) for entry in pages] == [False, False]
    # Two grids, each with a colour scale of its own and with one that both share.
    assert [_is_drawing(entry) for entry in before.values()].count(True) == 4
    new = [entry for file, entry in after.items() if file not in before]
    assert [_is_drawing(entry) for entry in new].count(True) == 2


def _is_drawing(entry: tuple[int, bytes]) -> bool:
    return b'role="group"' in entry[1]
