"""The same data gives the same bytes, and what was drawn once isn't drawn again."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import site_builds
from site_builds import GRPO, SITE_URL, Build, Project

RUN = """\
import sys
from mkdocs.__main__ import cli
try:
    cli(["build", "--quiet", "--strict", "--site-dir", sys.argv[1]])
except SystemExit as end:
    assert not end.code, end.code
print(*sorted({"altair", "pandas", "scipy", "vl_convert"} & sys.modules.keys()), "end")
"""
"""A build that says which of the slow libraries it imported."""


def drawings(folder: Path) -> dict[Path, tuple[int, bytes]]:
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
    return second.built("--strict", PYTHONHASHSEED="2")


def test_two_builds_of_the_same_data_are_the_same(atlas: Build, cold: Build) -> None:
    assert_same(atlas.files(), cold.files())


def test_a_build_from_the_cache_is_the_same(second: Project, cold: Build) -> None:
    before = drawings(second.folder / ".cache")
    assert before
    warm = second.built("--strict", into="again", PYTHONHASHSEED="3")
    assert_same(cold.files(), warm.files())
    assert drawings(second.folder / ".cache") == before


def assert_same(one: dict[str, bytes], other: dict[str, bytes]) -> None:
    assert sorted(one) == sorted(other)
    assert [path for path in one if one[path] != other[path]] == []


def test_a_site_says_nothing_of_the_folder_it_was_built_in(second: Project, cold: Build) -> None:
    place = str(second.folder).encode()
    assert [path for path, content in cold.files().items() if place in content] == []


def test_a_build_in_which_nothing_changed_imports_no_slow_library(
    second: Project, cold: Build
) -> None:
    assert cold.status == 0
    done = site_builds.run(
        [sys.executable, "-c", RUN, str(second.folder / "imports")], second.folder
    )
    assert done.stdout == "end\n", done.stdout


def test_only_what_changed_is_drawn_again(tiny: Callable[..., Project]) -> None:
    project = tiny()
    own_cache(project)
    project.built("--strict")
    before = drawings(project.folder / ".cache")
    cells = project.folder / "data/tiny/cells.csv"
    changed = cells.read_text(encoding="utf-8").replace("small,8,0.2,12.5", "small,8,0.2,13.0")
    cells.write_text(changed, encoding="utf-8")
    project.built("--strict")
    after = drawings(project.folder / ".cache")
    # Two grids, each with a colour scale of its own and with one that both share.
    assert len(before) == 4
    assert before.items() <= after.items()
    assert len(after) - len(before) == 2


def own_cache(project: Project) -> None:
    """For a test that looks at drawing itself."""
    (project.folder / ".cache").unlink()


def damage(content: bytes) -> dict[str, bytes]:
    middle = len(content) // 2
    flipped = bytes(byte ^ 1 for byte in content[middle : middle + 1])
    return {
        "emptied": b"",
        "cut": content[:middle],
        "one bit": content[:middle] + flipped + content[middle + 1 :],
        "no header": content.partition(b"\n")[2],
    }


def test_a_damaged_drawing_is_drawn_again(tiny: Callable[..., Project]) -> None:
    project = tiny()
    own_cache(project)
    whole = project.built("--strict").files()
    cached = sorted(drawings(project.folder / ".cache"))
    contents = {file: file.read_bytes() for file in cached}
    for file, kind in zip(cached, damage(b""), strict=True):
        file.write_bytes(damage(contents[file])[kind])
        assert file.read_bytes() != contents[file]
    assert_same(whole, project.built("--strict").files())
    assert {file: file.read_bytes() for file in cached} == contents
