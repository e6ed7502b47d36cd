"""Files of a site that are the same again aren't written again."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import site_builds
from mkdocs.commands.build import build
from mkdocs.config import load_config
from site_builds import TINY_CELLS, Project

Rebuild = Callable[[], dict[str, int]]
"""Builds the site as a command of MkDocs does, and gives the files of grids with their numbers."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = site_builds.make_project(tmp_path / "project", theme={"name": "mkdocs"})
    site_builds.add_tiny_study(project)
    site_builds.add_tiny_study(project, "second")
    project.write("docs/grids/mine.txt", "of the user\n")
    return project


@pytest.fixture
def site() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mkdocs_") as folder:
        yield Path(folder)


@pytest.fixture(params=["serve", "build"])
def rebuild(request: pytest.FixtureRequest, project: Project, site: Path) -> Rebuild:
    """A server builds with one plugin; other builds have each their own, as their processes do."""
    started: list[bool] = []

    def rebuilt() -> dict[str, int]:
        config = load_config(str(project.folder / "mkdocs.yml"), site_dir=str(site))
        if request.param == "build":
            config.plugins.on_startup(command="build", dirty=False)
        elif not started:
            config.plugins.on_startup(command="serve", dirty=False)
            started.append(True)
        build(config, serve_url="http://127.0.0.1:8000/" if request.param == "serve" else None)
        assert not [path for path in site.iterdir() if path.name.startswith(".")]
        return {path: (site / path).stat().st_ino for path in contents(site)}

    return rebuilt


def contents(site: Path) -> dict[str, bytes]:
    return {
        path.relative_to(site).as_posix(): path.read_bytes()
        for folder in ("grids", "plots")
        for path in (site / folder).rglob("*")
        if path.is_file()
    }


def test_only_what_an_edit_changed_is_written(
    project: Project, site: Path, rebuild: Rebuild
) -> None:
    before, was = rebuild(), contents(site)
    project.write("data/tiny/cells.csv", TINY_CELLS.replace("12.5", "13.0"))
    after, now = rebuild(), contents(site)
    assert before.keys() == after.keys()
    changed = {path for path in now if now[path] != was[path]}
    assert {"grids/tiny/small.csv", "grids/tiny/small.svg", "grids/tiny/small.json"} <= changed
    assert not [path for path in changed if path.startswith(("grids/second/", "plots/second/"))]
    ours = after.keys() - {"grids/mine.txt"}
    # A new file may get the number of one that is gone.
    assert {path for path in ours if after[path] == before[path]} >= ours - changed


def test_what_is_gone_goes_and_what_was_changed_in_the_site_is_fixed(
    project: Project, site: Path, rebuild: Rebuild
) -> None:
    rebuild()
    whole = contents(site)
    (site / "grids/tiny/small.svg").write_text("<svg/>")
    (site / "grids/tiny/small.csv").unlink()
    rebuild()
    assert contents(site) == whole
    (project.folder / "data/second").rename(project.folder / "second")
    rebuild()
    assert contents(site) == {
        path: content
        for path, content in whole.items()
        if not path.startswith(("grids/second/", "plots/second/"))
    }
    (project.folder / "docs/grids/mine.txt").unlink()
    rebuild()
    assert "grids/mine.txt" not in contents(site)


def test_what_a_killed_build_left_is_in_nobodys_way(site: Path, rebuild: Rebuild) -> None:
    rebuild()
    whole = contents(site)
    left = site / ".gridatlas-waiting/grids/tiny/small.csv"
    left.parent.mkdir(parents=True)
    left.write_text("old")
    rebuild()
    assert contents(site) == whole


def test_a_build_in_the_middle_of_a_build_takes_nothing_away(
    project: Project, site: Path, rebuild: Rebuild
) -> None:
    """As for a site in several languages: MkDocs doesn't empty its folder for each."""
    rebuild()
    whole = contents(site)
    config = load_config(str(project.folder / "mkdocs.yml"), site_dir=str(site))
    config = config.plugins.on_config(config)
    config.plugins.on_pre_build(config=config)
    assert not (site / "grids").exists()
    for folder in ("grids", "plots"):
        (site / ".gridatlas-waiting" / folder).rename(site / folder)
    config.plugins.on_pre_build(config=config)
    assert contents(site) == whole
