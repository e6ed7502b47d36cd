"""The projects whose builds are compared: the same pages, tables and navigation in each."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import inputs
import packages
import sites
from inputs import MarkdownPage

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/sites"))

from site_builds import Project

FOLDER = sites.FOLDER / "builds"


@dataclass(frozen=True)
class Projects:
    """One project for each tool, and the pages that they have in common.

    Attributes:
        grids: Of all studies together.
        leaves: The pages with one grid each.
    """

    grids: int
    atlas: Project
    bare: Project
    pages: tuple[MarkdownPage, ...]
    leaves: tuple[MarkdownPage, ...]
    specs: Mapping[str, Any]


def make(grids: int) -> Projects:
    """Write the project of Grid Atlas, and the same texts and tables for MkDocs alone.

    Grid Atlas builds its site once for that: its cache is full afterwards.
    """
    folder = FOLDER / str(grids)
    shutil.rmtree(folder, ignore_errors=True)
    atlas = _project(folder / "atlas", ["search", "gridatlas"])
    inputs.write_data(atlas.folder / "data", grids)
    cache = atlas.folder / ".cache" / "gridatlas"
    pages, specs = inputs.pages_of(atlas.folder / "data", cache)
    bare = with_pages(folder / "bare", pages)
    leaves = tuple(page for page in pages if page.leaf)
    assert len(leaves) == grids, "a page isn't what it was"
    return Projects(grids, atlas, bare, tuple(pages), leaves, specs)


def with_pages(
    folder: Path, pages: Iterable[MarkdownPage], plugins: Sequence[Any] = ("search",), **config: Any
) -> Project:
    """A project with these pages, and with the navigation that Grid Atlas gives them."""
    pages = list(pages)
    project = _project(folder, plugins, nav=navigation(pages), **config)
    for page in pages:
        project.write(f"docs/{page.path}", page.text)
    return project


def charts(projects: Projects) -> Project:
    """As `bare`, with the chart of each grid drawn by mkdocs-charts-plugin in the browser."""
    fence = {
        "name": "vegalite",
        "class": "vegalite",
        "format": "!!python/name:mkdocs_charts_plugin.fences.fence_vegalite",
    }
    pages = [
        MarkdownPage(
            page.path,
            page.trail,
            page.title,
            "\n\n".join([page.text, *(_fence(projects.specs[at]) for at in page.charts)]),
            page.charts,
            page.leaf,
        )
        for page in projects.pages
    ]
    packages.install()
    project = with_pages(
        FOLDER / str(projects.grids) / "charts",
        pages,
        plugins=["search", "charts"],
        extra_javascript=[f"javascripts/{file}" for file in sites.SCRIPTS],
        markdown_extensions=["attr_list", {"pymdownx.superfences": {"custom_fences": [fence]}}],
    )
    for file, package in sites.SCRIPTS.items():
        script = packages.script(package).read_text("utf-8")
        project.write(f"docs/javascripts/{file}", script)
    config = project.folder / "mkdocs.yml"
    config.write_text(
        re.sub(r'"(!!python/name:[\w.]+)"', r"\1", config.read_text("utf-8")), encoding="utf-8"
    )
    return project


def _fence(spec: Mapping[str, Any]) -> str:
    return f"```vegalite\n{json.dumps({**spec, **sites.SCHEMA_5}, ensure_ascii=False)}\n```"


def jupyter(projects: Projects, pages: int) -> Project:
    """A notebook for each of the first pages with one grid, which the build runs."""
    chosen = projects.leaves[:pages]
    options = {"execute": True, "allow_errors": False, "cache": False}
    project = _project(
        FOLDER / str(projects.grids) / f"jupyter-{pages}", ["search", {"mkdocs-jupyter": options}]
    )
    for at, page in enumerate(chosen):
        chart = f"charts/{at}.vl.json"
        project.write(chart, json.dumps(sites.for_altair(projects.specs[page.charts[0]])))
        text = page.text.split("---\n\n", 1)[1]
        notebook = [
            "# %% [markdown]",
            *(f"# {line}".rstrip() for line in text.splitlines()),
            "",
            "# %%",
            "import json",
            "from pathlib import Path",
            "",
            "import altair as alt",
            "",
            f'alt.Chart.from_dict(json.loads(Path("{chart}").read_text()))',
        ]
        project.write(f"docs/page-{at}.py", "\n".join(notebook) + "\n")
    return project


def navigation(pages: Sequence[MarkdownPage]) -> list[Any]:
    """The `nav` of mkdocs.yml: sections by study and facet, as Grid Atlas makes them."""
    nav: list[Any] = ["index.md"]
    sections: dict[tuple[str, ...], list[Any]] = {}
    for page in pages:
        parent = nav
        for depth in range(1, len(page.trail) + 1):
            key = page.trail[:depth]
            if key not in sections:
                sections[key] = []
                parent.append({key[-1]: sections[key]})
            parent = sections[key]
        index = page.path.count("/") == len(page.trail)
        parent.append(page.path if index else {page.title: page.path})
    return nav


def _project(folder: Path, plugins: Sequence[Any], **config: Any) -> Project:
    """A project with the theme of this repository's site and one page of its own."""
    shutil.rmtree(folder, ignore_errors=True)
    project = Project(folder)
    base = {
        "site_name": "Results",
        "theme": sites.theme(),
        "plugins": plugins,
        "markdown_extensions": ["attr_list", "pymdownx.superfences"],
    }
    project.write("mkdocs.yml", json.dumps(base | config, indent=1))
    project.write("docs/index.md", f"# Home\n\n{sites.TEXT}\n")
    return project
