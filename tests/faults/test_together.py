"""Builds that run at once, processes that are lost, and clocks that jump."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from multiprocessing import active_children
from pathlib import Path

import pytest
import site_builds
from amount import amount
from killing import PATIENCE, Files, assert_same, files, whole_caches
from site_builds import TINY_CELLS, Project

from gridatlas.charts import pool
from gridatlas.charts.kinds.heatmap import Heatmap
from gridatlas.charts.render import draw_one
from gridatlas.files.cache import FILE

PLAIN = {"theme": {"name": "mkdocs"}}
ROUNDS = amount(1, 15)


def _start(project: Project, into: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "mkdocs", "build", "--site-dir", into],
        cwd=project.folder,
        env=site_builds.environ(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _end(build: subprocess.Popen[str]) -> str:
    output, _ = build.communicate(timeout=PATIENCE)
    assert build.returncode == 0, output
    return output


def test_two_builds_share_a_cache(tmp_path: Path) -> None:
    """Dear: both have to be processes that start at once, and draw."""
    project = site_builds.make_project(tmp_path / "project", **PLAIN)
    site_builds.add_tiny_study(project)
    expected: Files | None = None
    for number in range(ROUNDS):
        shutil.rmtree(project.folder / ".cache", ignore_errors=True)
        builds = [_start(project, f"site-{number}-{letter}") for letter in "ab"]
        for build in builds:
            _end(build)
        first, other = (files(project.folder / f"site-{number}-{letter}") for letter in "ab")
        assert_same(first, other)
        assert_same(first, expected or first)
        expected = first
        whole_caches(project.folder)
        names = {path.name for path in (project.folder / ".cache/gridatlas").iterdir()}
        assert {name for name in names if not name.startswith("waiting-")} == {FILE}


# --- lost processes -----------------------------------------------------------------------------

DRAW = """\
import sys, time
from pathlib import Path
from gridatlas.charts import pool
import test_together
if __name__ == "__main__":
    pool.POOL_FROM = 2
    pictures = test_together.pictures(Path(sys.argv[1]))
    with pool.RenderPool(None) as drawing:
        drawing.request(pictures)
        drawing.wait(pictures[:1])
        from multiprocessing import active_children
        print(*(child.pid for child in active_children()), flush=True)
        time.sleep(60)
"""


def pictures(folder: Path) -> list[Heatmap]:
    """As many pictures as the study has grids."""
    from gridatlas.assessment.pipeline import load_data
    from gridatlas.pages.plan import plan_study

    [assessment] = load_data(folder).values()
    return list(
        dict.fromkeys(
            picture for plan in plan_study(assessment, "studies") for picture in plan.pictures
        )
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    project = Project(tmp_path)
    site_builds.add_tiny_study(project)
    return tmp_path / "data"


def test_a_lost_drawing_process_is_no_lost_build(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "POOL_FROM", 2)
    wanted = pictures(data)
    alone = {picture: draw_one(picture) for picture in wanted}
    with pool.RenderPool[Heatmap](None) as drawing:
        drawing.request(wanted[:3])
        for picture in wanted[:3]:
            drawing.wait([picture])
            for child in active_children():
                child.kill()
        # There is nobody left to take these.
        drawing.request(wanted)
        drawing.wait(wanted)
    assert drawing.drawings == alone


def test_a_killed_build_leaves_no_process(data: Path) -> None:
    here = f"{Path(__file__).parent}:{Path(__file__).parents[1]}:{Path(__file__).parents[1]}/sites"
    path = f"{here}:{os.environ.get('PYTHONPATH', '')}"
    build = subprocess.Popen(
        [sys.executable, "-c", DRAW, data],
        env=site_builds.environ({"PYTHONPATH": path}),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert build.stdout is not None
    workers = build.stdout.readline().split()
    assert workers
    build.kill()
    build.wait()
    with build.stdout as pipe:  # They hold its other end until they are gone.
        assert pipe.read() == ""


# --- clocks -------------------------------------------------------------------------------------


def _set_all(folder: Path, time: int) -> None:
    for path in (folder, *folder.rglob("*")):
        os.utime(path, (time, time), follow_symlinks=False)


def _entries(project: Project) -> list[tuple[object, ...]]:
    """All that is cached."""
    with closing(sqlite3.connect(project.folder / ".cache/gridatlas" / FILE)) as cache:
        return cache.execute("SELECT key, name, value FROM parts ORDER BY key, name").fetchall()


def test_times_of_files_say_nothing(tmp_path: Path) -> None:
    """A file saved with the clock set back is read; one that only looks newer draws nothing."""
    project = site_builds.make_project(tmp_path / "project", **PLAIN)
    site_builds.add_tiny_study(project)
    expected = project.built().files()
    cached = _entries(project)
    for time in (0, 2**31 + 5, 1)[: amount(1, 3)]:
        _set_all(project.folder, time)
        assert_same(project.built().files(), expected)
        assert _entries(project) == cached
    # Another value of the same length, in a file with the same time.
    cells = project.folder / "data/tiny/cells.csv"
    cells.write_text(TINY_CELLS.replace("11.5", "19.5"), "utf-8")
    _set_all(project.folder, 1)
    changed = project.built().files()
    assert b"19.5" in changed["grids/tiny/small.csv"]
    assert b"19.5" in changed["studies/tiny/model/small/index.html"]
    assert b"19.5" in changed["grids/tiny/small.svg"]
