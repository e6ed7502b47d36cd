"""`mkdocs serve` through files that are broken, half saved, gone, and fixed."""

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import served as serve
import site_builds
from amount import amount
from killing import SEED
from served import Served

ADDRESS = "studies/tiny/model/small/"
NO_CACHE = "cache-1.sqlite3 can't be used: "
FENCE = "# Fence\n\n```grid\ntiny/small\ntitle: Before\n```\n"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("serving")
    project = site_builds.make_project(folder / "project", theme={"name": "mkdocs"})
    site_builds.add_tiny_study(project)
    site_builds.add_tiny_study(project, "other")
    project.write("docs/fence.md", FENCE)
    with serve.served(project, folder / "log") as running:
        yield running


def _shown(served: Served, address: str = ADDRESS) -> str | None:
    """The page as it is now, without what reloads it."""
    page = served.page(address)
    if page is None:
        return None
    for script in page.select("script"):
        script.decompose()
    return str(page)


def _until(served: Served, holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + serve.PATIENCE
    while not holds():
        assert served.process.poll() is None, f"the server ended\n{served.log.read_text()}"
        assert time.monotonic() < end, f"{what}: not in time\n{served.log.read_text()}"
        time.sleep(0.1)


Fault = Callable[[Path], None]
"""Breaks what is at a path; what was there is put back by the test."""

FAULTS: dict[str, tuple[str, Fault]] = {
    "half-saved cells": ("cells.csv", lambda file: _write(file, file.read_bytes()[:61])),
    "emptied cells": ("cells.csv", lambda file: _write(file, b"")),
    "deleted cells": ("cells.csv", lambda file: file.unlink()),
    "cells in another encoding": (
        "cells.csv",
        lambda file: _write(file, file.read_text().encode("utf-16")),
    ),
    "cells that are a link to themselves": (
        "cells.csv",
        lambda file: (file.unlink(), file.symlink_to(file.name))[0],
    ),
    "a half-saved study": ("study.yml", lambda file: _write(file, file.read_bytes()[:150])),
    "a study of NULs": ("study.yml", lambda file: _write(file, bytes(file.stat().st_size))),
    "a deleted study": ("study.yml", lambda file: file.unlink()),
    "a renamed study": ("study.yml", lambda file: _away(file, file.with_name("study.yml~"))),
    "a renamed folder": (".", lambda file: _away(file, file.parents[1] / "away")),
}


def _write(file: Path, content: bytes) -> None:
    file.write_bytes(content)


def _away(file: Path, to: Path) -> None:
    file.rename(to)


ORDER = random.Random(SEED).sample(sorted(FAULTS), len(FAULTS))


@pytest.mark.parametrize("name", ORDER[: amount(3, len(FAULTS))])
def test_a_fixed_file_is_on_the_page_again(served: Served, name: str, tmp_path: Path) -> None:
    good = _shown(served)
    assert good is not None
    study = served.project.folder / "data/tiny"
    path, fault = FAULTS[name]
    intact = {file.name: file.read_bytes() for file in study.iterdir()}
    fault(study / path)
    _until(served, lambda: _shown(served) != good, f"{name} is seen")
    # All else goes on.
    assert "Learning rate and batch size" in (_shown(served, "studies/other/") or "")
    _fix(study, intact)
    _until(served, lambda: _shown(served) == good, f"{name} is fixed")
    assert "Traceback" not in served.log.read_text()


def _fix(study: Path, intact: dict[str, bytes]) -> None:
    away = study.parents[1] / "away"
    if away.exists():
        away.rename(study)
    for file in study.iterdir():
        if file.name not in intact or file.is_symlink():
            file.unlink()
    for name, content in intact.items():
        if not (study / name).exists() or (study / name).read_bytes() != content:
            (study / name).write_bytes(content)


def test_pages_are_built_where_the_cache_cannot_be_written(served: Served) -> None:
    good = _shown(served)
    cache = served.project.folder / ".cache/gridatlas"
    cells = served.project.folder / "data/tiny/cells.csv"
    before = cells.read_text("utf-8")
    cache.rename(cache.with_name("kept"))
    cache.write_text("a file in the place of the folder")
    cells.write_text(before.replace("small,8,0.1,11.5", "small,8,0.1,17.5"), "utf-8")
    _until(served, lambda: "17.5" in (_shown(served) or ""), "the new page")
    assert NO_CACHE in served.log.read_text()
    cache.unlink()
    cache.with_name("kept").rename(cache)
    cells.write_text(before.replace("small,8,0.1,11.5", "small,8,0.1,18.5"), "utf-8")
    _until(served, lambda: "18.5" in (_shown(served) or ""), "the new page")
    cells.write_text(before, "utf-8")
    _until(served, lambda: _shown(served) == good, "the page of before, again")


def test_a_fence_is_drawn_where_the_cache_cannot_be_written(served: Served) -> None:
    good = _shown(served, "fence/")
    assert good is not None
    drawings = served.project.folder / ".cache/gridatlas"
    drawings.rename(drawings.with_name("kept"))
    drawings.write_text("a file in the place of the folder")
    # A title is drawn: this one isn't cached yet.
    served.project.write("docs/fence.md", FENCE.replace("Before", "After"))
    _until(served, lambda: "After" in (_shown(served, "fence/") or ""), "the new title")
    assert NO_CACHE in served.log.read_text()
    drawings.unlink()
    drawings.with_name("kept").rename(drawings)
    served.project.write("docs/fence.md", FENCE)
    _until(served, lambda: _shown(served, "fence/") == good, "the page of before")
    assert "Traceback" not in served.log.read_text()


def test_the_whole_data_folder_goes_and_comes(served: Served) -> None:
    good = _shown(served)
    data = served.project.folder / "data"
    data.rename(data.with_name("away"))
    _until(served, lambda: _shown(served) is None, "no page of a study that isn't there")
    assert "no such folder" in served.log.read_text()
    data.with_name("away").rename(data)
    _until(served, lambda: _shown(served) == good, "the page of before")
    # What is in it is watched again.
    served.edit("data/tiny/cells.csv", "small,8,0.1,11.5", "small,8,0.1,19.5")
    _until(served, lambda: "19.5" in (_shown(served) or ""), "an edit")
    served.edit("data/tiny/cells.csv", "small,8,0.1,19.5", "small,8,0.1,11.5")
    _until(served, lambda: _shown(served) == good, "the page of before, again")
    assert "Traceback" not in served.log.read_text()
