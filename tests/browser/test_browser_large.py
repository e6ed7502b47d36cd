"""Large grids in a browser: no printed values, labels apart, blocks with their rule."""

import functools
import gzip
import json
import random
from collections.abc import Callable, Iterator
from itertools import combinations
from math import exp
from pathlib import Path

import pytest
import site_builds
from once import made_once, once
from playwright.sync_api import Browser

from views import View, beyond, look, overlap, until

PHONE, WIDE = 360, 1280
SIZES = {"20 by 21": (20, 21), "60 by 60": (60, 60), "150 by 150": (150, 150), "a row": (20_000, 1)}
MARKS = {"20 by 21": 420, "60 by 60": 3600, "150 by 150": 900, "a row": 100}
VIEWS = [(name, width, scheme) for name in SIZES for width in (PHONE, WIDE)
         for scheme in ("light", "dark")]  # fmt: skip
every_view = pytest.mark.parametrize(
    "view", VIEWS, indirect=True, ids=["-".join(map(str, view)) for view in VIEWS]
)


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
    project = site_builds.make_project(
        base / "large",
        site_builds.shared_cache(base),
        theme={
            "name": "material",
            "font": False,
            "palette": [
                {"scheme": scheme, "toggle": {"icon": "material/brightness-7", "name": "Colours"}}
                for scheme in ("default", "slate")
            ],
        },
    )
    for name in SIZES:
        _study(project, name)
    return project.built()


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> site_builds.Build:
    return large_site(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def large(build: site_builds.Build) -> Iterator[str]:
    with site_builds.serving(build.site) as home:
        yield home


@pytest.fixture(scope="module")
def looked(
    browser: Browser, large: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], dict[tuple[int, str], View]]]:
    context = browser.new_context(reduced_motion="reduce", color_scheme="light")
    base = tmp_path_factory.getbasetemp()

    @functools.cache
    def looked_at(name: str) -> dict[tuple[int, str], View]:
        def make(_: Path) -> dict[tuple[int, str], View]:
            return look(context, f"{large}studies/{_id(name)}/", (PHONE, WIDE))

        return made_once(base, f"looked at {name}", make)

    yield looked_at
    context.close()


@pytest.fixture
def view(
    request: pytest.FixtureRequest, looked: Callable[[str], dict[tuple[int, str], View]]
) -> View:
    name, width, scheme = request.param
    return looked(name)[width, scheme]


@every_view
def test_a_large_heatmap_is_drawn_whole_and_without_numbers(
    view: View, request: pytest.FixtureRequest
) -> None:
    """Dear: the page is looked at here for all tests of this view; it has up to 3,600 cells."""
    name, width, _ = request.node.callspec.params["view"]
    assert view.messages == []
    assert view.failed == []
    assert view.measured["width"] <= view.measured["inner"]
    (heatmap,) = view.heatmaps
    assert len(heatmap["cells"]) == MARKS[name]
    numbers = [text for text in heatmap["texts"] if text["part"] == "value"]
    assert bool(numbers) == (name == "20 by 21")
    for cell in heatmap["cells"]:
        left, top, right, bottom = cell["box"]
        assert right - left > 1.5
        assert bottom - top > 1.5
    # On a phone, many columns of numbers are as large as elsewhere, in a box that scrolls.
    assert view.measured["wide"] == []
    scrolls = width == PHONE and name == "20 by 21"
    assert (heatmap["box"][2] - heatmap["box"][0] > width) == scrolls


@every_view
def test_labels_of_a_large_heatmap_lie_apart(view: View) -> None:
    (heatmap,) = view.heatmaps
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


@pytest.mark.parametrize("name", SIZES)
def test_the_first_and_the_last_level_are_labelled(
    looked: Callable[[str], dict[tuple[int, str], View]], name: str
) -> None:
    (heatmap,) = looked(name)[WIDE, "light"].heatmaps
    texts = {text["text"] for text in heatmap["texts"]}
    ends = {
        "20 by 21": {"0", "19", "20"},
        "60 by 60": {"0", "59"},
        "150 by 150": {"0 to 4", "145 to 149"},
        "a row": {"0 to 199", "19800 to 19999"},
    }
    assert ends[name] <= texts


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


def test_the_link_to_the_best_cell_leads_to_its_block(browser: Browser, large: str) -> None:
    page = browser.new_page(reduced_motion="reduce")
    page.goto(f"{large}studies/150-by-150/", wait_until="load")
    page.locator("#statistics > summary").click()
    page.locator("#statistics table a").nth(1).click()
    until(page, "() => !!document.querySelector('.ga-target')")
    label = page.locator(".ga-target").get_attribute("aria-label")
    assert label is not None
    assert "has the best" in label
    page.close()


def test_a_block_has_a_card(browser: Browser, large: str) -> None:
    page = browser.new_page(reduced_motion="reduce")
    page.goto(f"{large}studies/150-by-150/", wait_until="load")
    page.locator("path[id='grid/100,45']").hover()
    until(
        page,
        "() => { const card = document.querySelector('.ga-card');"
        " return !!card && !card.hidden && card.innerText.includes('25 cells'); }",
    )
    text = page.locator(".ga-card").inner_text()
    assert "First 100 to 104, Second 45 to 49" in text
    page.close()


@pytest.mark.parametrize(("name", "offered"), [("60 by 60", 1), ("150 by 150", 0)])
def test_exploring_is_offered_where_each_cell_is_drawn(
    browser: Browser, large: str, name: str, offered: int
) -> None:
    page = browser.new_page(reduced_motion="reduce")
    page.goto(f"{large}studies/{_id(name)}/", wait_until="load")
    assert page.locator("[data-ga-explore]").count() == offered
    page.close()
