"""Builds sites with MkDocs as a user does, serves them over HTTP, and reads their pages."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag

sys.path.insert(0, str(Path(__file__).parents[1]))  # for benchmarks, which run without pytest

import forked
import kept
from builders import write_study
from once import once
from static_host import SITE_HOST, serving  # noqa: F401 (tests find all here)
from without_network import without_network

from gridatlas.files.cache import FILE as DRAWINGS

ROOT = Path(__file__).parents[2]
DOCUMENTS: dict[str, dict[str, dict[str, list[str]]]] = json.loads(
    (ROOT / "tests/fixtures/documents.json").read_text(encoding="utf-8")
)
"""What the published figures print: study, grid, level of y from the top, values along x."""

DYNTS, GRPO = "dynts-window-ratio", "grpo-digits"
X_LEVELS = {
    DYNTS: ["0.1", "0.2", "0.3", "0.4", "0.5"],
    GRPO: [str(digits) for digits in range(1, 11)],
}
DISPUTED = (GRPO, "after_t125", "7")
"""The row with eleven values in ten columns."""

FIGURE = "grid/"
"""Begin of the figures' ids, which keeps them apart from those of headings."""

PREFIX = "/project/sub/"
SITE_URL = f"{SITE_HOST}{PREFIX}"

ENVIRONMENT = {
    "NO_MKDOCS_2_WARNING": "1",
    "DISABLE_MKDOCS_2_WARNING": "true",
    "SOURCE_DATE_EPOCH": "1700000000",
    "JUPYTER_CONFIG_PATH": str(ROOT / ".jupyter"),
    # Notebooks take longer than all the rest of a page; one that must be run says so.
    "EXECUTE_NOTEBOOKS": "false",
}
NOTEBOOKS = {"EXECUTE_NOTEBOOKS": "true"}
"""Of a build that runs the notebooks."""


_DRAWING = re.compile("<svg.*?</svg>", re.DOTALL)


# --- projects and builds ------------------------------------------------------------------------


@dataclass(frozen=True)
class Build:
    """What `mkdocs build` left behind."""

    status: int
    log: str
    site: Path

    def page(self, path: str) -> BeautifulSoup:
        """The page at an address such as `studies/grpo-digits/`, parsed."""
        file = self.site / path
        return parse(file / "index.html" if file.is_dir() else file)

    def words(self, path: str) -> BeautifulSoup:
        """The page without its drawings, which are most of what there is to parse."""
        html = (self.site / path / "index.html").read_text(encoding="utf-8")
        return BeautifulSoup(_DRAWING.sub("", html), "html.parser")

    def files(self) -> dict[str, bytes]:
        """Every file of the site by its path."""
        return {
            file.relative_to(self.site).as_posix(): file.read_bytes()
            for file in sorted(self.site.rglob("*"))
            if file.is_file()
        }


@dataclass(frozen=True)
class Project:
    """A folder with a mkdocs.yml."""

    folder: Path

    def write(self, path: str, text: str) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def configure(self, **changes: Any) -> None:
        """Change options in mkdocs.yml; JSON is YAML too."""
        before = f"before-{len(list(self.folder.glob('before-*.yml')))}.yml"
        (self.folder / "mkdocs.yml").rename(self.folder / before)
        self.write("mkdocs.yml", json.dumps({"INHERIT": before} | changes, indent=1))

    def build(
        self, *arguments: str, into: str = "site", before: Sequence[str] = (), **environment: str
    ) -> Build:
        site = self.folder / into
        command = ["mkdocs", "build", "--site-dir", str(site), *arguments]
        if before or any(name.startswith("PYTHON") for name in environment):
            # What only counts where Python starts.
            command = [*before, sys.executable, "-m", *command]
        done = run(command, self.folder, environment)
        return Build(done.returncode, done.stdout, site)

    def built(
        self, *arguments: str, into: str = "site", before: Sequence[str] = (), **environment: str
    ) -> Build:
        """As `build`, for a build that must work."""
        build = self.build(*arguments, into=into, before=before, **environment)
        assert build.status == 0, build.log
        return build


def run(
    command: list[str], folder: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; all that it says is in `stdout`.

    `mkdocs` and `gridatlas` are those of this Python, in a process that needn't import them.
    """
    if command[0] in forked.COMMANDS:
        return forked.run(command, folder, environ(environment))
    return subprocess.run(
        command,
        cwd=folder,
        env=environ(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=600,
        check=False,
    )


def environ(changes: Mapping[str, str] | None = None) -> dict[str, str]:
    return {**os.environ, **ENVIRONMENT, **(changes or {})}


@once
def repository(base: Path) -> Path:
    """What this repository's own site is built from, as it stood when the tests began."""
    folder = base / "repository"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*kept.NOT_READ))
    return folder


def copy_repository(base: Path, name: str, cache: Path | None = None) -> Project:
    """A copy of the repository to build.

    Args:
        base: Folder of this test run.
        name: Path of the copy in it.
        cache: Folder that stands in the place of `.cache`; the project has its own without.
    """
    folder = _unused(base / name)
    shutil.copytree(repository(base), folder)
    return _with_cache(folder, cache)


def make_project(
    folder: Path, cache: Path | None = None, options: Mapping[str, Any] | None = None, **config: Any
) -> Project:
    """A new project with one page, and the plugin with these options."""
    plugin = {"gridatlas": dict(options)} if options else "gridatlas"
    folder = _unused(folder)
    folder.mkdir(parents=True)
    project = _with_cache(folder, cache)
    theme = {"name": "material", "font": False, "features": ["navigation.indexes"]}
    base = {"site_name": "Tiny", "theme": theme, "plugins": ["search", plugin]}
    project.write("mkdocs.yml", json.dumps(base | config, indent=1))
    project.write("docs/index.md", "# Home\n")
    return project


def _unused(folder: Path) -> Path:
    """The folder, or one beside it: a worker that comes back to a module makes its sites again."""
    while folder.exists():
        folder = folder.with_name(f"{folder.name}-again")
    return folder


def _with_cache(folder: Path, cache: Path | None) -> Project:
    if cache is not None:
        cache.mkdir(parents=True, exist_ok=True)
        (folder / ".cache").symlink_to(cache, target_is_directory=True)
    return Project(folder)


TINY_STUDY = """\
format: 1
title: Learning rate and batch size
summary: Two models, two rates, two sizes.
metric: {name: Accuracy, better: higher, column: accuracy, unit: "%", range: [0, 100], decimals: 1}
x: rate
y: batch
facets: [model]
factors:
  rate: {label: Learning rate}
  batch: {label: Batch size}
  model:
    label: Model
    levels: [{id: small, label: Small}, {id: large, label: Large}]
"""

TINY_CELLS = """\
model,batch,rate,accuracy
small,8,0.1,11.5
small,8,0.2,12.5
small,16,0.1,13.5
small,16,0.2,14.5
large,8,0.1,21.5
large,8,0.2,22.5
large,16,0.1,23.5
large,16,0.2,24.5
"""


ANSWERS = {"n": 10_000, "unanswered": 120, "truncated": 40, "tokens": 6_123_000}
"""What the samples of a complete cell were like."""


def add_golden_studies(project: Project) -> None:
    """Put data of some golden sites, which have their bytes, into a project."""
    for name in ("one-axis", "repeats", "seeds"):
        studies = ROOT / "tests/golden/projects" / name / "data"
        shutil.copytree(studies, project.folder / "data", dirs_exist_ok=True)


def add_tiny_study(project: Project, name: str = "tiny") -> None:
    """Put the smallest study with a facet into a project."""
    write_study(project.folder / "data" / name, TINY_STUDY, TINY_CELLS)


def add_reproduced_study(project: Project, name: str = "again") -> None:
    """Put a study with a run into a project: cells that agree, differ, are running, aren't run."""
    study = TINY_STUDY.replace("label: Small}", "label: Small, items: 2000}")
    study += (
        "trials: {items: model, samples: 5}\n"
        "readings:\n  - {id: paper, file: cells.csv, label: Figure}\n"
        "  - {id: ours, file: ours.csv, label: Our run}\n"
        'reproduce: {script: docs/tune.py, args: "{model} {rate} {batch}", margin: 4,\n'
        '  deviations: {dtype: "float32 | *not* <b>float16</b> {{ 7 * 7 }}"}}\n'
    )
    ours = (
        "model,batch,rate,accuracy,n,successes,run\n"
        "small,8,0.1,11.0,10000,1100,tune-1\nsmall,8,0.2,30.0,10000,3000,tune-1\n"
    )
    cells = [
        ("0.1", "8", 9, 15_000), ("0.2", "8", 9, 5_000), ("0.1", "16", 4, 0), ("0.2", "16", 0, 0)
    ]  # fmt: skip
    run = {
        "format": 1, "run": "tune-1", "study": name, "script": "tune",
        "started": "2026-05-01T12:00:00Z", "model": {"id": "org/<b>small</b>"}, "gpu": None,
        "cells": [
            {"levels": {"model": "small", "rate": rate, "batch": batch}, "done": done, "of": 9}
            | ({"answers": ANSWERS | {"prunes": prunes}} if prunes else {})
            for rate, batch, done, prunes in cells
        ],
    }  # fmt: skip
    files = {"ours.csv": ours, "runs/tune-1.json": json.dumps(run)}
    write_study(project.folder / "data" / name, study, TINY_CELLS, files)


@once
def shared_cache(base: Path) -> Path:
    """The drawings of this test run, which begin with those that are kept."""
    folder = base / "drawings"
    drawings = folder / "gridatlas" / DRAWINGS
    drawings.parent.mkdir(parents=True, exist_ok=True)
    if before := kept.drawings():
        shutil.copyfile(before, drawings)
    return folder


_ATLAS = tuple((ENVIRONMENT | NOTEBOOKS).items())


@once
def atlas(base: Path) -> Build:
    """The site of this repository; built once per state of it, for `tests/browser` too.

    There is no network while it is built, where the system lets us take it away.
    """
    cache = shared_cache(base)
    state = kept.place(_ATLAS)
    if state and state.exists():
        site = base / "atlas/site"
        shutil.copytree(state / "site", site)
        return Build(0, (state / "log.txt").read_text("utf-8"), site)
    project = copy_repository(base, "atlas", cache)
    project.configure(site_url=SITE_URL)
    build = project.built("--strict", before=without_network(), **NOTEBOOKS)
    if state and state == kept.place(_ATLAS):  # nothing was edited meanwhile
        kept.keep(state, build.site, build.log, cache / "gridatlas" / DRAWINGS)
    return build


# --- reading pages ------------------------------------------------------------------------------


def parse(file: Path) -> BeautifulSoup:
    stat = file.stat()
    return _parsed(file, stat.st_mtime_ns, stat.st_size)


@functools.lru_cache(maxsize=128)
def _parsed(file: Path, _changed: int, _size: int) -> BeautifulSoup:
    return BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")


def is_moved(page: BeautifulSoup) -> bool:
    """Whether a page is an old address that leads to the new one."""
    return page.find("meta", attrs={"http-equiv": "refresh"}) is not None


def article(page: BeautifulSoup) -> Tag:
    """The part of a page that is its own."""
    found = page.find("article")
    assert isinstance(found, Tag), "a page without <article>"
    return found


def text_of(element: Tag | None) -> str:
    assert element is not None
    return " ".join(element.get_text().split())


def figures(page: BeautifulSoup) -> list[Tag]:
    found = page.select("figure.ga-figure")
    # Another reading, and plain values, are drawn once a reader asks for them.
    return [figure for figure in found if not figure.find_parent("template")]


def grid_of(figure: Tag) -> str:
    """The address of the grid that a figure shows; empty for a difference."""
    return str(figure.get("id", "")).removeprefix(FIGURE)


def figure_of(page: BeautifulSoup, grid: str) -> Tag:
    """The figure of a grid, by its address such as `r1-qwen/aime24`."""
    found = [figure for figure in figures(page) if grid_of(figure) == grid]
    assert len(found) == 1, f"{len(found)} figures of {grid}"
    return found[0]


def figure_name(figure: Tag) -> str:
    """What a heatmap calls itself, as a screen reader says it: `R1-Qwen | AIME24`."""
    assert figure.svg is not None
    return str(figure.svg["aria-label"]).partition(": ")[0]


def about(figure: Tag, selector: str) -> list[Tag]:
    """What a figure has below it: within it, or in the actions of the row that it is in."""
    row = figure.find_parent(class_="ga-multiples")
    if row is None:
        return figure.select(selector)
    name = figure.get("id") or figure_name(figure)
    parts = [part for part in row.select("[data-of]") if part["data-of"] == name]
    found = [element for part in parts for element in (part, *part.find_all(True))]
    chosen = row.select(selector)
    return [element for element in found if any(element is other for other in chosen)]


def data_table(figure: Tag) -> tuple[list[str], dict[str, list[str]]]:
    """A figure's data table: the levels of x, and the texts by level of y from the top."""
    table = about(figure, '[aria-label^="Data table of "] :is(table, tbody)')
    assert table, "no data table"
    whole = table[0] if table[0].name == "table" else table[0].find_parent("table")
    assert isinstance(whole, Tag)
    head, *rows = [
        [_value_of(cell) for cell in row.find_all(["th", "td"])]
        for row in [*whole.select("thead tr"), *about(figure, "tbody tr:has(> td)")]
        if row.find_parent("table") is whole
    ]
    assert len({row[0] for row in rows}) == len(rows)
    return head[1:], {row[0]: row[1:] for row in rows}


def _value_of(cell: Tag) -> str:
    """A table's cell without the word that marks the best."""
    mark = cell.select_one(".ga-mark")
    return text_of(cell).removesuffix(f" {text_of(mark)}" if mark else "")


def drawn_cells(figure: Tag) -> list[Tag]:
    """The cells in a figure's drawing, coloured and hatched, in its own order."""
    return figure.select('svg :is([role="img"], [role="graphics-symbol"])')


def navigation(page: BeautifulSoup) -> list[Any]:
    """The primary navigation as nested lists: `[title, address, [children]]`."""
    found = page.select_one("nav.md-nav--primary > ul")
    assert found is not None
    return _nav_items(found)


def _nav_items(items: Tag) -> list[Any]:
    found = []
    for item in items.find_all("li", recursive=False):
        link = item.select_one("a.md-nav__link[href]")
        inner = item.select_one(":scope > nav:not(.md-nav--secondary) > ul")
        if inner is not None and link is not None and inner in link.parents:
            link = None  # a section without a page of its own: this is a link within it
        title = item.select_one(".md-ellipsis")
        children = _nav_items(inner) if inner is not None else []
        found.append([text_of(title), str(link["href"]) if link else None, children])
    return found


def nav_addresses(items: list[Any]) -> list[str]:
    """The addresses in a navigation, from top to bottom."""
    found = []
    for _, address, children in items:
        found += [address] if address is not None else []
        found += nav_addresses(children)
    return found
