"""The same results for every tool: studies of grids of 4 × 5 cells, and their pages in Markdown.

Plain functions that write files. Without a random number: the same call writes the same bytes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup

from gridatlas.build.site import build
from gridatlas.pages.page import Page, fill

ROOT = Path(__file__).parents[2]
PER_STUDY = 10
"""Grids of a study: each is a level of its facet, with a page of its own."""
RATIOS = ("0.1", "0.2", "0.3", "0.4", "0.5")
WINDOWS = ("500", "1000", "2000", "3000")
ITEMS, SAMPLES = 40, 5


@dataclass(frozen=True)
class MarkdownPage:
    """A page as people would write it, for a tool that makes none.

    Attributes:
        path: Below the docs folder.
        trail: Titles of the sections that it lies in.
        title: In the navigation.
        text: Its Markdown, with its tables.
        charts: Addresses of the grids that it shows, as in `sweep-00/b03`.
        leaf: Whether it is one of the pages with one grid.
    """

    path: str
    trail: tuple[str, ...]
    title: str
    text: str
    charts: tuple[str, ...]
    leaf: bool


# --- data ---------------------------------------------------------------------------------------


def write_data(folder: Path, grids: int) -> None:
    """Studies with so many grids of 4 × 5 cells in all, each cell a share of 200 answers."""
    for first in range(0, grids, PER_STUDY):
        number = first // PER_STUDY
        write_study(folder / f"sweep-{number:02d}", number, min(PER_STUDY, grids - first))


def write_study(folder: Path, number: int, grids: int) -> None:
    """One study, whose grids are the levels of one facet."""
    levels = [
        {"id": f"b{at:02d}", "label": f"Benchmark {at}", "items": ITEMS} for at in range(grids)
    ]
    study = {
        "format": 1,
        "title": f"Sweep {number}: local window size and retention ratio",
        "summary": "Pass@1 of a reasoning model that keeps only part of its KV cache while it "
        "decodes, over the number of recent tokens that are always kept (local window) and the "
        "share of older tokens that is kept besides (ratio).",
        "metric": {
            "name": "Pass@1", "column": "pass_at_1", "unit": "%", "range": [0, 100], "decimals": 1,
        },
        "x": "ratio",
        "y": "local_window",
        "facets": ["benchmark"],
        "factors": {
            "ratio": {"label": "Ratio"},
            "local_window": {"label": "Local window size", "unit": "tokens", "direction": "up"},
            "benchmark": {"label": "Benchmark", "levels": levels},
        },
        "trials": {"items": "benchmark", "samples": SAMPLES},
    }  # fmt: skip
    lines = ["benchmark,local_window,ratio,pass_at_1"]
    lines += [
        f"b{at:02d},{window},{ratio},{value(number, at, x, y)}"
        for at in range(grids)
        for y, window in enumerate(WINDOWS)
        for x, ratio in enumerate(RATIOS)
    ]
    folder.mkdir(parents=True)
    (folder / "study.yml").write_text(json.dumps(study, indent=1), encoding="utf-8")
    (folder / "cells.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def value(study: int, grid: int, x: int, y: int) -> float:
    """A cell in %: a count of 200, which rises with both axes, and differs from grid to grid."""
    noise = (study * 7919 + grid * 104729 + x * 1299709 + y * 15485863) % 31
    return (60 + (study * 3 + grid * 5) % 40 + 6 * x + 4 * y + noise) / 2


# --- the same for other tools -------------------------------------------------------------------


def pages_of(data: Path, cache: Path) -> tuple[list[MarkdownPage], dict[str, Any]]:
    """The texts and tables of all pages that Grid Atlas writes, and each grid's chart.

    Args:
        data: The folder with the studies.
        cache: Grid Atlas's, where the charts are kept.
    """
    site = build(data, cache=cache)
    specs = {
        path.removeprefix("grids/").removesuffix(".vl.json"): json.loads(content)
        for path, content in site.files.items()
        if path.endswith(".vl.json")
    }
    return [_plain(page) for page in site.pages], specs


def _plain(page: Page) -> MarkdownPage:
    plan = page.plan
    rows = (row for row in plan.rows if not row.small)
    grids = {figure.grid: None for row in rows for figure in row.figures if figure.grid}
    return MarkdownPage(
        plan.path,
        plan.trail,
        plan.nav_title,
        re.sub(
            r'<div data-gridatlas="([^"]+)"></div>',
            lambda match: as_markdown(fill(page.figures[match[1]], page.figures)),
            as_written(page.markdown),
        ),
        tuple(f"{grid.study.id}/{grid.address}" for grid in grids),
        plan.template == "level.md.jinja",
    )


def as_written(markdown: str) -> str:
    """Without the entities that a program needs for all that Markdown might take for its own."""
    return re.sub(r"&#(\d+);", lambda match: chr(int(match[1])), markdown)


def as_markdown(html: str) -> str:
    """The captions and tables of figures, as people write them in Markdown."""
    parts = []
    for element in BeautifulSoup(html, "html.parser").select("figcaption, table"):
        if element.name == "figcaption":
            parts.append(element.get_text(" ", strip=True))
            continue
        rows = [
            [cell.get_text(" ", strip=True) for cell in row.select("th, td")]
            for row in element.select("tr")
        ]
        lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
        parts.append("\n".join(f"| {' | '.join(row)} |" for row in lines))
    return "\n\n".join(part for part in parts if part)
