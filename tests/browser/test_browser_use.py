"""What a reader does with the site: follows a permalink, reads without JavaScript, searches."""

import base64
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import site_builds
from expected import OURS
from hostile import STRINGS, hostile
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize
from site_builds import DYNTS, GRPO

from views import Visit, search, until

WIDE = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=360, height=740)


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A reader's browser, which keeps what it has loaded from page to page."""
    opened = browser.new_context(viewport=WIDE, reduced_motion="reduce")
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    opened = context.new_page()
    yield opened
    opened.close()


# --- permalinks ---------------------------------------------------------------------------------

TARGET = """(id) => {
  const cell = document.getElementById(id);
  const box = cell.getBoundingClientRect();
  const header = document.querySelector("header.md-header").getBoundingClientRect();
  return {
    box: [box.x, box.y, box.width, box.height],
    above: box.top - header.bottom,
    below: window.innerHeight - box.bottom,
    scrolled: window.scrollY,
  };
}"""

CHANGED = """async ([before, after]) => {
  const pixels = async (png) => {
    const bytes = Uint8Array.from(atob(png), (one) => one.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes]));
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    return canvas.getImageData(0, 0, image.width, image.height);
  };
  const [one, other] = [await pixels(before), await pixels(after)];
  const found = [];
  for (let i = 0; i < one.data.length; i += 4) {
    const change = Math.max(...[0, 1, 2].map((j) => Math.abs(one.data[i + j] - other.data[i + j])));
    if (change > 60) found.push([(i / 4) % one.width, Math.floor(i / 4 / one.width)]);
  }
  return found;
}"""
"""The pixels in which two pictures differ clearly."""


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize(
    ("address", "cell"),
    [
        (f"studies/{DYNTS}/model/r1-qwen/", "r1-qwen/aime24/0.4,2000"),
        (f"studies/{DYNTS}/benchmark/aime24/", "r1-qwen/aime24/0.4,2000"),
        (f"studies/{GRPO}/setting/after_t125/", "after_t125/5,8"),
        (f"studies/{GRPO}/setting/", "after_t125/3,7"),
        (f"studies/{GRPO}/checks/", "after_t100/4,6"),
    ],
    ids=["model", "benchmark", "setting", "disputed", "hatched"],
)
def test_a_permalink_leads_to_its_cell_and_marks_it(
    page: Page, home: str, address: str, cell: str, viewport: ViewportSize
) -> None:
    page.set_viewport_size(viewport)
    page.goto(f"{home}{address}#{cell}", wait_until="load")
    until(page, "(id) => document.getElementById(id).matches('.ga-target')", cell)
    at = page.evaluate(TARGET, cell)
    assert at["above"] >= 0, "behind the header"
    assert at["below"] >= 0, "below the window"
    assert _marked_sides(page, at) == {"left", "top", "right", "bottom"}


def _marked_sides(page: Page, at: dict[str, Any]) -> set[str]:
    """The sides of a cell along most of which something stands out while it is the target."""
    x, y, width, height = at["box"]
    margin = 6
    clip: Any = {
        "x": x - margin, "y": y - margin,
        "width": width + 2 * margin, "height": height + 2 * margin,
    }  # fmt: skip
    marked = base64.b64encode(page.screenshot(clip=clip)).decode()
    # Another target, without scrolling.
    page.evaluate("() => location.replace('#none-of-these')")
    until(page, "() => !document.querySelector('.ga-target')")
    page.evaluate("(y) => window.scrollTo(0, y)", at["scrolled"])
    plain = base64.b64encode(page.screenshot(clip=clip)).decode()
    changed = page.evaluate(CHANGED, [marked, plain])
    sides: dict[str, set[int]] = {"left": set(), "top": set(), "right": set(), "bottom": set()}
    for px, py in changed:
        if abs(px - margin) <= 4:
            sides["left"].add(py)
        if abs(px - margin - width) <= 4:
            sides["right"].add(py)
        if abs(py - margin) <= 4:
            sides["top"].add(px)
        if abs(py - margin - height) <= 4:
            sides["bottom"].add(px)
    length = {"left": height, "right": height, "top": width, "bottom": width}
    return {side for side, places in sides.items() if len(places) >= 0.8 * length[side]}


@pytest.mark.parametrize("cell", ["grpo/0/3/1,1", "supervised/0.6/mean/2,2"])
def test_a_permalink_to_a_study_leads_to_the_page_that_shows_its_cell(
    page: Page, home: str, cell: str
) -> None:
    """Studies had all their grids on their own page."""
    study = f"{home}studies/{OURS}/"
    page.goto(f"{study}#{cell}", wait_until="load")
    setting, _, seed, _ = cell.split("/")
    # A seed has a page of its own; the mean of the seeds stands for them on all others.
    shown_by = f"setting/{setting}/" if seed == "mean" else f"seed/{seed}/"
    page.wait_for_url(f"{study}{shown_by}#{cell}")
    until(page, "(id) => document.getElementById(id)?.matches('.ga-target')", cell)


def test_a_link_in_the_text_leads_to_its_cell(page: Page, home: str) -> None:
    page.goto(f"{home}studies/{DYNTS}/model/r1-qwen/", wait_until="load")
    page.locator("#statistics > summary").click()
    page.locator('article table a[href$="#r1-qwen/aime24/0.4,2000"]').click()
    until(page, "() => !!document.querySelector('.ga-target')")
    at = page.evaluate(TARGET, "r1-qwen/aime24/0.4,2000")
    assert at["above"] >= 0
    assert at["below"] >= 0


# --- without JavaScript -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "heatmaps", "value"),
    [
        (f"studies/{DYNTS}/model/r1-qwen/", 5, "52.0 (34.9 to 68.6) best"),
        (f"studies/{GRPO}/setting/after_t125/", 2, "86 (disputed)"),
        ("studies/", 21, None),
    ],
    ids=["model", "setting", "overview"],
)
def test_without_javascript_heatmaps_and_tables_can_be_read(
    browser: Browser, home: str, address: str, heatmaps: int, value: str | None
) -> None:
    context = browser.new_context(viewport=PHONE, java_script_enabled=False)
    page = context.new_page()
    page.goto(home + address, wait_until="load")
    drawings = page.locator("figure.ga-figure > svg")
    assert drawings.count() == heatmaps
    for drawing in drawings.all():
        box = drawing.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) > 60
        cell = drawing.locator(".cells_marks path").first
        assert cell.is_visible()
        cell_box = cell.bounding_box()
        assert cell_box is not None
        assert min(cell_box["width"], cell_box["height"]) > 8
    if value is not None:
        row = page.locator(".ga-multiples").filter(has_text=value).first
        table = row.locator("table").first
        assert not table.is_visible()
        row.locator("details > summary").first.click()
        assert table.is_visible()
        assert table.get_by_text(value, exact=True).first.is_visible()
    context.close()


# --- strings from data --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with site_builds.serving(hostile(tmp_path_factory.getbasetemp()).site) as address:
        yield address


def test_no_string_from_data_runs(page: Page, hostile_home: str) -> None:
    """On pages, and in what the theme's search makes of them. Dear: it opens the page of each."""
    visit = Visit(page, urlsplit(hostile_home).netloc)
    for study in STRINGS:
        visit.page.goto(f"{hostile_home}studies/{study}/", wait_until="load")
    assert visit.messages == []
    results = search(visit.page, "summary")
    assert "summary" in results.first.inner_text()
    titles = {title for title in results.locator("h1, h2").all_inner_texts() if "title" in title}
    assert len(titles) >= 8
    visit.page.wait_for_load_state("networkidle")
    assert visit.messages == []
    assert visit.elsewhere == []
    assert visit.failed == []


# --- the browser itself -------------------------------------------------------------------------


def test_a_missing_browser_fails_the_tests_and_says_what_to_do(tmp_path: Path) -> None:
    here = Path(__file__)
    arguments = ["-q", "-p", "no:cacheprovider", "--basetemp", str(tmp_path / "inner")]
    test = f"{here.with_name('test_browser_pages.py')}::test_the_pages_show_every_grid"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments, test],
        cwd=here.parents[2],
        env={**os.environ, "CHROMIUM": str(tmp_path / "no-chromium")},
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    assert f"CHROMIUM is '{tmp_path}/no-chromium', which is no program" in done.stdout
    assert "never skipped" in done.stdout
    assert "1 error" in done.stdout
    assert "skipped" not in done.stdout.replace("never skipped", "")
