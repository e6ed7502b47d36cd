"""Large grids in a browser: no printed values, labels apart, blocks with their rule."""

import gzip
import json
import random
from collections.abc import Iterator
from itertools import combinations
from math import exp, prod
from pathlib import Path
from typing import Any

import pytest
import site_builds
from once import once
from playwright.sync_api import Page

from views import PHONE, WIDE, Visit, beyond, measured, overlap, step, until

SIZES = {"20 by 21": (20, 21), "60 by 60": (60, 60), "150 by 150": (150, 150), "a row": (20_000, 1)}
MARKS = {"20 by 21": 420, "60 by 60": 3600, "150 by 150": 900, "a row": 100}
ENDS = {
    "20 by 21": {"0", "19", "20"},
    "60 by 60": {"0", "59"},
    "150 by 150": {"0 to 4", "145 to 149"},
    "a row": {"0 to 199", "19800 to 19999"},
}
"""Labels of the first and the last level."""


def _id(name: str) -> str:
    return name.replace(" ", "-")


def _study(project: site_builds.Project, name: str) -> None:
    columns, rows = SIZES[name]
    rng = random.Random(columns)
    project.write(
        f"data/{_id(name)}/study.yml",
        f"format: 1\ntitle: {name}\n"
        'metric: {name: Accuracy, better: higher, unit: "%", range: [0, 100], decimals: 1}\n'
        "x: first\ny: second\n",
    )
    lines = []
    for y in range(rows):
        for x in range(columns):
            share = 0.2 + 0.6 * exp(-4 * ((x / columns - 0.7) ** 2 + (y / rows - 0.3) ** 2))
            hole = x < columns // 10 and y < rows / 5 and rows > 1
            value = "" if hole else f"{100 * share + rng.gauss(0, 3):.1f}"
            lines.append(f"{x},{y},{value},{'oom' if hole else ''}\n")
    project.write(f"data/{_id(name)}/cells.csv", "first,second,value,state\n" + "".join(lines))


@once
def large_site(base: Path) -> site_builds.Build:
    project = site_builds.make_project(base / "large", site_builds.shared_cache(base))
    for name in SIZES:
        _study(project, name)
    return project.built()


@pytest.fixture(scope="module")
def build(base: Path) -> site_builds.Build:
    return large_site(base)


@pytest.fixture(scope="module")
def large(build: site_builds.Build) -> Iterator[str]:
    with site_builds.serving(build.site) as home:
        yield home


@pytest.mark.parametrize("name", SIZES)
def test_a_large_heatmap_is_drawn_whole_and_read(visit: Visit, large: str, name: str) -> None:
    """On a phone and wide; colours of many cells are those of few."""
    page = visit.page
    page.goto(f"{large}studies/{_id(name)}/", wait_until="load")
    page.evaluate("() => document.fonts.ready")
    for width in (PHONE["width"], WIDE["width"]):
        with step(f"{width} pixels wide"):
            seen = measured(page, width)
            assert seen["width"] <= seen["inner"]
            assert seen["wide"] == []
            (heatmap,) = seen["heatmaps"]
            is_whole(heatmap, name)
            labels_lie_apart(heatmap)
            # On a phone, many columns of numbers are as large as elsewhere, in a box that scrolls.
            scrolls = width == PHONE["width"] and name == "20 by 21"
            assert (heatmap["box"][2] - heatmap["box"][0] > width) == scrolls
    assert ENDS[name] <= {text["text"] for text in heatmap["texts"]}
    # Exploring is offered where each cell is drawn.
    assert page.locator("[data-ga-explore]").count() == (MARKS[name] == prod(SIZES[name]))
    if name == "150 by 150":
        its_best_block_is_linked_and_has_a_card(page)


def is_whole(heatmap: dict[str, Any], name: str) -> None:
    """Each cell is seen; few enough of them have their numbers."""
    assert len(heatmap["cells"]) == MARKS[name]
    numbers = [text for text in heatmap["texts"] if text["part"] == "value"]
    assert bool(numbers) == (name == "20 by 21")
    for cell in heatmap["cells"]:
        left, top, right, bottom = cell["box"]
        assert right - left > 1.5
        assert bottom - top > 1.5


def labels_lie_apart(heatmap: dict[str, Any]) -> None:
    texts = heatmap["texts"]
    # Ten of x where there is one row, half of both of wide blocks; the rest is the page's.
    assert len(texts) >= 10
    for text in texts:
        assert text["size"] >= 8, text["text"]
        assert beyond(text["corners"], heatmap["box"]) <= 1, text["text"]
    bad = [
        (text["text"], other["text"])
        for text, other in combinations(texts, 2)
        if overlap(text["corners"], other["corners"]) > 1
    ]
    assert bad == []


def its_best_block_is_linked_and_has_a_card(page: Page) -> None:
    page.locator("#statistics > summary").click()
    page.locator("#statistics table a").nth(1).click()
    until(page, "() => !!document.querySelector('.ga-target')")
    assert "has the best" in str(page.locator(".ga-target").get_attribute("aria-label"))
    page.locator("path[id='grid/100,45']").hover()
    until(
        page,
        "() => { const card = document.querySelector('.ga-card');"
        " return !!card && !card.hidden && card.innerText.includes('25 cells'); }",
    )
    text = page.locator(".ga-card").inner_text()
    assert "First 100 to 104, Second 45 to 49" in text


def test_blocks_name_their_rule_on_the_page(build: site_builds.Build) -> None:
    page = build.page("studies/150-by-150/")
    (figure,) = site_builds.figures(page)
    (row,) = page.select(".ga-multiples")
    caption = site_builds.text_of(row.select_one(".ga-multiples-caption"))
    rule = (
        "The 22,500 cells are drawn in 900 blocks of 5 × 5; the colour of a block is the mean of "
        "its values."
    )
    assert rule in caption
    assert "The dot is on the block with the best cell (" in caption
    assert rule in str(figure.select("svg")[0]["aria-label"])
    legend = site_builds.text_of(row.select_one(".ga-legend"))
    assert "Accuracy (%), mean of 5 × 5 cells" in legend
    labels = [str(cell["aria-label"]) for cell in site_builds.drawn_cells(figure)]
    assert sum(label.endswith("no value in 25 cells (25 out of memory)") for label in labels) == 18
    assert sum("has the best" in label for label in labels) == 1


def test_a_page_with_a_large_grid_is_light_and_its_files_are_whole(
    build: site_builds.Build,
) -> None:
    for name, (columns, rows) in SIZES.items():
        html = (build.site / "studies" / _id(name) / "index.html").read_bytes()
        if columns * rows >= 10_000:
            # Of all larger grids none has more than these 900 blocks.
            assert len(html) < 300_000, name
        assert len(gzip.compress(html)) < 100_000, name
        folder = build.site / "grids" / _id(name)
        assert len((folder / "grid.csv").read_text("utf-8").splitlines()) == columns * rows + 1
        cells = json.loads((folder / "grid.json").read_text("utf-8"))["cells"]
        assert len(cells) == columns * rows
        drawn = json.loads((folder / "grid.vl.json").read_text("utf-8"))["data"]["values"]
        assert len(drawn) == MARKS[name]
