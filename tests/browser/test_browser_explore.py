"""The interactive chart of a grid: what it loads and when, what its controls do, and its end.

Every page is sent with a strict content security policy, in which only the theme's inline scripts
are allowed, by their hashes.
"""

import base64
import hashlib
import json
import mimetypes
import re
import struct
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import site_builds
from hostile import STRINGS, hostile
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, ViewportSize
from site_builds import DYNTS, GRPO

from gridatlas.statistics.estimates import wilson
from views import Visit, arrive, colour, contrast, until

WIDE = ViewportSize(width=1280, height=900)
MODEL = f"studies/{DYNTS}/model/r1-qwen/"
SETTING = f"studies/{GRPO}/setting/after_t125/"
AIME24 = f"{DYNTS}/r1-qwen/aime24"
AFTER = f"{GRPO}/after_t125"
CELLS = '.ga-explore-chart [aria-roledescription="rect mark"]'


# --- a strict policy ----------------------------------------------------------------------------


def _policy(files: Iterable[Path]) -> dict[str, str]:
    inline = {script for file in files for script in _INLINE.findall(file.read_bytes())}
    hashes = {hashlib.sha256(script).digest() for script in inline}
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in sorted(hashes))
    policy = (
        f"default-src 'self'; script-src 'self' {allowed}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:"
    )
    return {"content-security-policy": policy}


_INLINE = re.compile(rb"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)


@pytest.fixture(scope="module")
def home(browser: Browser, site: Path) -> Iterator[str]:
    """Address of the site of this repository under the policy."""
    policy = _policy(site.rglob("*.html"))
    with site_builds.serving(site, site_builds.PREFIX, policy, found=False) as address:
        yield address


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport=WIDE, reduced_motion="reduce", accept_downloads=True)
    yield opened
    opened.close()


@pytest.fixture
def visit(context: BrowserContext, home: str) -> Iterator[Visit]:
    """A page in which nothing may go wrong unsaid: a broken policy is an error on the console."""
    seen = Visit(context.new_page(), urlsplit(home).netloc)
    yield seen
    assert seen.messages == []
    assert seen.elsewhere == []
    seen.page.close()


@pytest.fixture(scope="session")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return site_builds.atlas(tmp_path_factory.getbasetemp()).site


def _figure(page: Page, grid: str) -> Locator:
    """The figure of a grid: `<study>/<address>`."""
    return page.locator(f'figure[id="grid/{grid.partition("/")[2]}"]')


def _row(page: Page, grid: str) -> Locator:
    """The row of heatmaps that has a grid."""
    return page.locator(".ga-multiples").filter(has=_figure(page, grid))


def _unfold(page: Page) -> None:
    """Open what is folded: pages that compare have their heatmaps there."""
    page.evaluate("() => document.querySelectorAll('.ga-fold').forEach((one) => (one.open = true))")


def _explore(page: Page, url: str, grid: str) -> Locator:
    """Open the chart of a grid, and wait for it; the address tells which is open."""
    if page.url.partition("?")[0].partition("#")[0] != url.partition("?")[0].partition("#")[0]:
        page.goto(url, wait_until="load")
    _unfold(page)
    row = _row(page, grid)
    panel = row.locator("section.ga-explore")
    if not panel.count():
        row.get_by_role("button", name="Explore").click()
    choice = panel.get_by_role("combobox", name="Grid")
    if choice.count():
        name = row.locator(f'[data-of="grid/{grid.partition("/")[2]}"] a[href$=".vl.json"]')
        choice.select_option(str(name.evaluate("(one) => one.href")).removesuffix(".vl.json"))
    panel.locator(".ga-explore-chart svg").wait_for()
    return panel


def _data(site: Path, grid: str) -> dict[str, Any]:
    text = (site / f"grids/{grid}.json").read_text(encoding="utf-8")
    return json.loads(text, parse_float=Decimal)  # type: ignore[no-any-return]


def _values(site: Path, grid: str) -> list[Decimal]:
    cells = _data(site, grid)["cells"]
    return [Decimal(cell["value"]) for cell in cells if cell["value"] is not None]


def _alive(page: Page, home: str) -> int:
    """How many charts are alive."""
    ask = "async (home) => (await import(`${home}assets/gridatlas/explore.js`)).views.size"
    return page.evaluate(ask, home)  # type: ignore[no-any-return]


def _fills(panel: Locator) -> dict[str, str]:
    found = panel.locator(CELLS).evaluate_all(
        "(all) => all.map((one) => [one.getAttribute('aria-label'), one.getAttribute('fill')])"
    )
    return dict(found)


# --- when it loads ------------------------------------------------------------------------------


def test_nothing_of_it_is_loaded_before_a_click(visit: Visit, home: str, site: Path) -> None:
    page = visit.page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    page.goto(home + MODEL, wait_until="load")
    page.get_by_role("button", name="Explore").wait_for()
    page.wait_for_load_state("networkidle")
    bundle = next(site.glob("assets/gridatlas/vega-*.js")).name
    assert {"explore.js", bundle} & set(asked) == set()
    assert not [url for url in asked if url.endswith(".json") and url != "search_index.json"]
    with_files = page.locator('.ga-multiples:has(a[href$=".vl.json"])').count()
    assert page.get_by_role("button", name="Explore").count() == with_files == 1
    for grid in (AIME24, f"{DYNTS}/r1-qwen/aime25"):
        _explore(page, home + MODEL, grid)
    assert (asked.count("explore.js"), asked.count(bundle)) == (1, 1)
    # No page gets hold of Vega or of a view (CVE-2025-59840).
    assert (
        page.evaluate("() => ['vega', 'vegaEmbed', 'vegaLite', 'view'].filter((n) => n in window)")
        == []
    )


def test_the_button_moves_nothing_when_it_comes(browser: Browser, home: str) -> None:
    """The place it takes is kept for it, so that pages don't shift while they load."""
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/gridatlas.js", hold)
    with page.expect_request("**/gridatlas.js"):
        page.goto(home + MODEL, wait_until="commit")
    until(page, "() => !!document.querySelector('.md-footer')")
    height = "() => document.querySelector('.ga-multiples').getBoundingClientRect().height"
    before = page.evaluate(height)
    held[0].continue_()
    page.get_by_role("button", name="Explore").first.wait_for()
    assert page.evaluate(height) == before
    context.close()


def test_the_package_has_the_licences_of_what_is_in_the_bundle(site: Path) -> None:
    assets = site / "assets/gridatlas"
    bundle = next(assets.glob("vega-*.js"))
    with bundle.open(encoding="utf-8") as file:
        head = file.readline()
    assert head.startswith(f"// Vega {bundle.stem.removeprefix('vega-')}, Vega-Lite ")
    assert "vega-LICENSES.txt" in head
    licences = (assets / "vega-LICENSES.txt").read_text(encoding="utf-8")
    for name in ("vega-lite", "vega-embed", "d3-scale", "d3-geo-projection", "topojson-client"):
        assert name in licences
    assert f'"{bundle.name}"' in (assets / "explore.js").read_text(encoding="utf-8")


# --- what its controls do -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "grid", "deltas"),
    [(MODEL, AIME24, ["0", "4.7", "4.8", "12.0"]), (SETTING, AFTER, ["0", "5", "11", "64"])],
    ids=["percent", "integers"],
)
def test_the_slider_fades_what_is_further_from_the_best(
    visit: Visit, home: str, site: Path, address: str, grid: str, deltas: list[str]
) -> None:
    values = _values(site, grid)
    panel = _explore(visit.page, home + address, grid)
    slider = panel.get_by_role("slider")
    assert Decimal(str(slider.get_attribute("max"))) == max(values) - min(values)
    status = panel.get_by_role("status")
    assert status.inner_text().startswith(f"{len(values)} of {len(values)} cells are within")
    for delta in deltas:
        slider.fill(delta)
        near = sum(max(values) - value <= Decimal(delta) for value in values)
        until(
            visit.page,
            "([cells, far]) => [...document.querySelectorAll(cells)].filter("
            "(one) => Number(one.getAttribute('opacity')) < 0.5).length === far",
            [CELLS, len(values) - near],
        )
        text = status.inner_text()
        verb = "is" if near == 1 else "are"
        assert text.startswith(f"{near} of {len(values)} cells {verb} within ")
        assert ("faded" in text) == (near < len(values))
        # The best of the second grid is one reader's value.
        assert ("of the best, 94 (disputed)" if grid == AFTER else "of the best, 52.0 %") in text
        assert str(slider.get_attribute("aria-valuetext")).startswith(delta.removesuffix(".0"))


def test_its_colours_and_marks_are_those_of_the_page(visit: Visit, home: str) -> None:
    panel = _explore(visit.page, home + MODEL, AIME24)
    cells = _figure(visit.page, AIME24).locator(".cells_marks path").all()
    shown = {cell.get_attribute("aria-label"): cell.get_attribute("fill") for cell in cells}
    drawn = panel.locator(".cells_marks path").all()
    assert {of.get_attribute("aria-label"): of.get_attribute("fill") for of in drawn} == shown
    assert len(shown) == 20
    assert panel.locator(".best_marks > *").count() == 1
    assert panel.get_by_role("radio").count() == 0


def test_profiles_are_the_means_that_python_computed(visit: Visit, home: str, site: Path) -> None:
    data = _data(site, AIME24)
    panel = _explore(visit.page, home + MODEL, AIME24)
    panel.get_by_text("Means as numbers").click()
    tables = panel.locator("table").all()
    assert len(tables) == 2
    for axis, id_, table in zip("xy", ("ratio", "local_window"), tables, strict=True):
        for row in table.locator("tbody tr").all():
            level, mean, interval, count = row.locator("th, td").all_inner_texts()
            cells = [cell for cell in data["cells"] if str(cell[id_]) == level]
            expected = sum(Decimal(cell["value"]) for cell in cells) / len(cells)
            right = sum(round(float(cell["value"]) * 1.5) for cell in cells)
            # All cells are asked the same 30 questions.
            limits = wilson(right / (150 * len(cells)) * 30, 30)
            low, high = (float(end) for end in interval.split(" to "))
            assert int(count) == len(cells) in (4, 5)
            assert float(mean) == pytest.approx(float(expected), abs=0.051)
            assert low == pytest.approx(100 * limits.low, abs=0.051)
            assert high == pytest.approx(100 * limits.high, abs=0.051)
            # And it is drawn, in words too.
            drawn = panel.locator(f'[aria-label="{level}: mean {mean} % ({interval})"]')
            assert drawn.count() == 1, (axis, level)


def test_profiles_without_known_trials_have_no_intervals(visit: Visit, home: str) -> None:
    panel = _explore(visit.page, home + SETTING, AFTER)
    assert "No intervals: the number of trials behind each value is unknown" in panel.inner_text()
    assert panel.locator('.ga-explore-chart [aria-label^="7: mean "]').count() == 2
    assert panel.locator(".ga-explore-chart .mark-rule.columns_layer_0_marks line").count() == 0


def test_a_cell_tells_more_under_the_pointer(visit: Visit, home: str) -> None:
    panel = _explore(visit.page, home + MODEL, AIME24)
    cell = panel.locator(CELLS + '[aria-label^="Ratio 0.5, Local window size 500"]')
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    assert box is not None
    hint = panel.locator(".ga-explore-hint")
    assert not hint.is_visible()
    # In its middle, where its value is printed on it.
    visit.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    hint.wait_for()
    assert hint.inner_text().splitlines() == [
        "Ratio 0.5, Local window size 500: 48.7 %",
        "95 % interval: 32.0 to 65.7",
        "n = 150",
        "Rank 2 of 20",
        "3.3 points from the best",
    ]
    visit.page.mouse.move(5, 5)
    hint.wait_for(state="hidden")


# --- files --------------------------------------------------------------------------------------


def test_the_chart_can_be_saved(visit: Visit, home: str, site: Path, tmp_path: Path) -> None:
    page = visit.page
    panel = _explore(page, home + MODEL, AIME24)
    panel.get_by_role("slider").fill("2")
    assert panel.get_by_role("link").count() == 0  # to no editor on another host
    files = {}
    for ending in ("svg", "png"):
        with page.expect_download() as caught:
            panel.get_by_role("button", name=f"Save as {ending.upper()}").click()
        name = caught.value.suggested_filename
        assert name == f"{DYNTS}-r1-qwen-aime24-explored.{ending}"
        caught.value.save_as(tmp_path / name)
        files[ending] = (tmp_path / name).read_bytes()
    root = ET.fromstring(files["svg"])
    cells = root.findall('.//*[@aria-roledescription="rect mark"]')
    assert len(cells) == 20
    assert sum(float(cell.get("opacity", "1")) < 0.5 for cell in cells) == 19
    printed = "".join(root.itertext())
    assert all(f"{value:.1f}" in printed for value in _values(site, AIME24))
    assert files["png"].startswith(b"\x89PNG")
    size = struct.unpack(">II", files["png"][16:24])
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert size == (pytest.approx(2 * width, abs=2), pytest.approx(2 * height, abs=2))


# --- where it can't be loaded -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("**/vega-*.js", "The program that draws it, vega-"),
        ("**/explore.js*", "The program that draws it, explore.js, could not be loaded."),
        ("**/aime24.vl.json", "aime24.vl.json, could not be loaded (404)."),
        (None, "There is no connection to the site."),
    ],
    ids=["bundle", "module", "data", "offline"],
)
def test_where_it_cannot_be_loaded_the_picture_stays_and_it_can_be_tried_again(
    browser: Browser, home: str, missing: str | None, message: str
) -> None:
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    page.goto(home + MODEL, wait_until="load")
    if missing is None:
        context.set_offline(True)
    else:
        page.route(missing, lambda route: route.fulfill(status=404))
    row = _row(page, AIME24)
    row.get_by_role("button", name="Explore").click()
    panel = row.locator("section.ga-explore")
    again = panel.get_by_role("button", name="Try again")
    again.wait_for()
    text = panel.get_by_role("status").inner_text()
    assert text.startswith("The chart can't be shown. ")
    assert message in text
    assert "The heatmap and its data table are whole without it." in text
    assert _figure(page, AIME24).locator('> svg path[role="button"]').first.is_visible()
    context.set_offline(False)
    page.unroute_all()
    again.click()
    panel.locator(".ga-explore-chart svg").wait_for()
    assert panel.locator(CELLS).count() == 20
    context.close()


def test_a_page_from_a_folder_says_what_to_do(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Of a site without a policy: to one, a file's own folder is another place."""
    base = tmp_path_factory.getbasetemp()
    project = site_builds.make_project(
        base / "explore-folder", site_builds.shared_cache(base), use_directory_urls=False
    )
    site_builds.add_tiny_study(project)
    site = project.built("--strict").site
    page = browser.new_page()
    page.goto((site / "studies/tiny/model/small/index.html").as_uri(), wait_until="load")
    row = _row(page, "tiny/small")
    row.get_by_role("button", name="Explore").click()
    panel = row.locator("section.ga-explore")
    until(page, "() => document.querySelector('.ga-explore').innerText.includes('folder')")
    assert "Explore works where the site is served." in panel.inner_text()
    assert panel.get_by_role("button", name="Try again").count() == 0
    page.close()


def test_by_keyboard_alone(visit: Visit, home: str) -> None:
    page = visit.page
    page.goto(f"{home}studies/{DYNTS}/benchmark/aime25/", wait_until="load")
    row = _row(page, f"{DYNTS}/r1-qwen/aime25")
    row.get_by_role("button", name="Explore").focus()
    page.keyboard.press("Enter")
    row.locator(".ga-explore-chart svg").wait_for()
    panel = row.locator("section.ga-explore")
    assert panel.evaluate("(one) => one === document.activeElement")
    names = []
    for _ in range(6):
        page.keyboard.press("Tab")
        names.append(
            page.evaluate("() => document.activeElement.type ?? document.activeElement.localName")
        )
        assert panel.evaluate("(one) => one.contains(document.activeElement)")
    assert names == [
        "button", "select-one", "range", "summary", "button", "button",
    ]  # fmt: skip
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Home")
    assert panel.get_by_role("status").inner_text().startswith("2 of 20 cells are within 0.0 ")
    assert _alive(page, home) == 1
    page.keyboard.press("Escape")
    assert panel.count() == 0
    assert _alive(page, home) == 0
    button = row.get_by_role("button", name="Explore")
    assert button.evaluate("(one) => one === document.activeElement")
    assert button.get_attribute("aria-expanded") == "false"


@pytest.mark.parametrize("address", [MODEL, SETTING], ids=["model", "setting"])
def test_it_fits_a_phone_and_follows_the_palette(visit: Visit, home: str, address: str) -> None:
    page = visit.page
    page.set_viewport_size({"width": 360, "height": 740})
    panel = _explore(page, home + address, AIME24 if address == MODEL else AFTER)
    assert page.evaluate("() => document.scrollingElement.scrollWidth") <= 360
    box = panel.bounding_box()
    assert box is not None
    for part in panel.locator("input, button, label, .ga-explore-chart svg").all():
        inner = part.bounding_box()
        assert inner is not None
        assert inner["x"] >= box["x"]
        assert inner["x"] + inner["width"] <= box["x"] + box["width"] + 0.5
    colours = []
    for _ in range(2):
        css = panel.locator(".ga-explore-chart .mark-text.role-axis-label text").first.evaluate(
            "(one) => [getComputedStyle(one).fill, getComputedStyle(document.body).backgroundColor]"
        )
        ground = colour(css[1], 1, (255, 255, 255))
        colours.append(colour(css[0], 1, ground))
        assert contrast(colours[-1], ground) >= 4.5
        page.locator("label[for^=__palette]:visible").first.click()
    assert colours[0] != colours[1]


# --- other pages, other data --------------------------------------------------------------------


def test_instant_navigation_ends_the_charts_of_the_page_before(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    # The theme takes links for its own site's only where the address is the one of its sitemap.
    home = "https://atlas.example/"
    base = tmp_path_factory.getbasetemp()
    project = site_builds.make_project(
        base / "explore-instant",
        site_builds.shared_cache(base),
        site_url=home,
        theme={"name": "material", "font": False, "features": ["navigation.instant"]},
    )
    site_builds.add_tiny_study(project)
    site = project.built("--strict").site

    def answer(route: Route) -> None:
        file = site / urlsplit(route.request.url).path.lstrip("/")
        file = file / "index.html" if file.is_dir() else file
        policy = _policy([file]) if file.suffix == ".html" else {}
        route.fulfill(path=file, headers={"content-type": _type(file)} | policy)

    context = browser.new_context(viewport=WIDE)
    context.route(f"{home}**", answer)
    visit = Visit(context.new_page(), urlsplit(home).netloc)
    page = visit.page
    arrive(page, f"{home}studies/tiny/model/small/")
    page.evaluate("() => { window.sameDocument = true; }")
    _explore(page, page.url, "tiny/small")
    assert _alive(page, home) == 1
    for name, path in (("Large", "model/large/"), ("Small", "model/small/")):
        page.locator("nav.ga-switch").get_by_role("link", name=name, exact=True).click()
        until(page, "(path) => location.pathname.endsWith(path)", path)
        until(page, "() => !document.querySelector('.ga-explore')")
        _unfold(page)
        page.get_by_role("button", name="Explore").first.wait_for()
        assert page.evaluate("() => window.sameDocument === true")
        assert _alive(page, home) == 0
    # Each button answers once: a second listener would close what the first one opened.
    assert page.locator(".ga-explore-row").count() == 1
    _explore(page, page.url, "tiny/small")
    assert _alive(page, home) == 1
    page.go_back()
    until(page, "() => location.pathname.endsWith('model/large/')")
    until(page, "() => !document.querySelector('.ga-explore')")
    assert _alive(page, home) == 0
    assert visit.messages == []
    context.close()


def _type(file: Path) -> str:
    return mimetypes.guess_type(file.name)[0] or "application/octet-stream"


@pytest.mark.parametrize("study", ["script", "image", "templates"])
def test_no_string_from_data_runs_in_a_chart(
    context: BrowserContext, tmp_path_factory: pytest.TempPathFactory, study: str
) -> None:
    site = hostile(tmp_path_factory.getbasetemp()).site
    address = next((site / f"studies/{study}/facet").glob("*/index.html")).parent.relative_to(site)
    policy = _policy([site / address / "index.html"])
    with site_builds.serving(site, headers=policy) as home:
        visit = Visit(context.new_page(), urlsplit(home).netloc)
        page = visit.page
        page.goto(f"{home}{address.as_posix()}/", wait_until="load")
        page.get_by_role("button", name="Explore").first.click()
        panel = page.locator("section.ga-explore")
        panel.locator(".ga-explore-chart svg").wait_for()
        panel.get_by_text("Means as numbers").click()
        cell = panel.locator(CELLS).first
        cell.scroll_into_view_if_needed()
        box = cell.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        hint = panel.locator(".ga-explore-hint")
        hint.wait_for()
        assert STRINGS[study] in hint.inner_text()
        assert STRINGS[study] in panel.locator("table").first.inner_text()
        assert panel.locator("img, script, iframe, b").count() == 0
        assert visit.messages == []
        assert visit.elsewhere == []
        page.close()
