"""The interactive chart of a grid: what it loads and when, what its controls do, and its end.

Every page is under the policy: see conftest.py.
"""

import json
import struct
import xml.etree.ElementTree as ET
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import site_builds
from playwright.sync_api import Browser, Locator, Page, Route
from site_builds import DYNTS, GRPO

from axe import OF_COLOURS_AND_WIDTHS, violations
from gridatlas.statistics.estimates import wilson
from views import PHONE, WIDE, arrive, colour, contrast, step, until

MODEL = f"studies/{DYNTS}/model/r1-qwen/"
SETTING = f"studies/{GRPO}/setting/after_t125/"
AIME24 = f"{DYNTS}/r1-qwen/aime24"
AFTER = f"{GRPO}/after_t125"
CELLS = '.ga-explore-chart [aria-roledescription="rect mark"]'


@pytest.fixture(scope="session")
def site(atlas: site_builds.Build) -> Path:
    return atlas.site


def _figure(page: Page, grid: str) -> Locator:
    """The figure of a grid: `<study>/<address>`."""
    return page.locator(f'figure[id="grid/{grid.partition("/")[2]}"]')


def _row(page: Page, grid: str) -> Locator:
    """The row of heatmaps that has a grid."""
    return page.locator(".ga-multiples").filter(has=_figure(page, grid))


def _explore(page: Page, grid: str) -> Locator:
    """Open the chart of a grid of the page, and wait for it."""
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


# --- a reader explores a grid -------------------------------------------------------------------


def test_a_grid_is_explored_and_its_chart_saved(
    page: Page, home: str, site: Path, tmp_path: Path
) -> None:
    """Nothing is loaded before a click; then all that a reader does with the chart, in turn."""
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
    for grid in (f"{DYNTS}/r1-qwen/aime25", AIME24):
        panel = _explore(page, grid)
    assert (asked.count("explore.js"), asked.count(bundle)) == (1, 1)
    # No page gets hold of Vega or of a view (CVE-2025-59840).
    named = "() => ['vega', 'vegaEmbed', 'vegaLite', 'view'].filter((name) => name in window)"
    assert page.evaluate(named) == []

    for look in (
        has_the_page_s_colours_and_marks, has_the_means_that_python_computed,
        tells_more_under_the_pointer,
    ):  # fmt: skip
        with step(look.__name__):
            look(page, site, panel)
    fades_what_is_further(page, site, panel, AIME24, ["0", "4.7", "4.8", "12.0"])
    is_saved(page, site, panel, tmp_path)
    for scheme, held in (("light", ()), ("dark", OF_COLOURS_AND_WIDTHS)):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert violations(page, "section.ga-explore", held)[0] == [], scheme
    panel.get_by_role("button", name="Close").click()
    page.set_viewport_size(PHONE)
    fits_a_phone_and_follows_the_palette(page, _explore(page, AIME24))


def fades_what_is_further(
    page: Page, site: Path, panel: Locator, grid: str, deltas: list[str]
) -> None:
    values = _values(site, grid)
    slider = panel.get_by_role("slider")
    assert Decimal(str(slider.get_attribute("max"))) == max(values) - min(values)
    status = panel.get_by_role("status")
    assert status.inner_text().startswith(f"{len(values)} of {len(values)} cells are within")
    for delta in deltas:
        slider.fill(delta)
        near = sum(max(values) - value <= Decimal(delta) for value in values)
        until(
            page,
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


def has_the_page_s_colours_and_marks(page: Page, _: Path, panel: Locator) -> None:
    cells = _figure(page, AIME24).locator(".cells_marks path").all()
    shown = {cell.get_attribute("aria-label"): cell.get_attribute("fill") for cell in cells}
    drawn = panel.locator(".cells_marks path").all()
    assert {of.get_attribute("aria-label"): of.get_attribute("fill") for of in drawn} == shown
    assert len(shown) == 20
    assert panel.locator(".best_marks > *").count() == 1
    assert panel.get_by_role("radio").count() == 0


def has_the_means_that_python_computed(_: Page, site: Path, panel: Locator) -> None:
    data = _data(site, AIME24)
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


def tells_more_under_the_pointer(page: Page, _: Path, panel: Locator) -> None:
    cell = panel.locator(CELLS + '[aria-label^="Ratio 0.5, Local window size 500"]')
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    assert box is not None
    hint = panel.locator(".ga-explore-hint")
    assert not hint.is_visible()
    # In its middle, where its value is printed on it.
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    hint.wait_for()
    assert hint.inner_text().splitlines() == [
        "Ratio 0.5, Local window size 500: 48.7 %",
        "95 % interval: 32.0 to 65.7",
        "n = 150",
        "Rank 2 of 20",
        "3.3 points from the best",
    ]
    page.mouse.move(5, 5)
    hint.wait_for(state="hidden")


def is_saved(page: Page, site: Path, panel: Locator, folder: Path) -> None:
    panel.get_by_role("slider").fill("2")
    assert panel.get_by_role("link").count() == 0  # to no editor on another host
    files = {}
    for ending in ("svg", "png"):
        with page.expect_download() as caught:
            panel.get_by_role("button", name=f"Save as {ending.upper()}").click()
        name = caught.value.suggested_filename
        assert name == f"{DYNTS}-r1-qwen-aime24-explored.{ending}"
        caught.value.save_as(folder / name)
        files[ending] = (folder / name).read_bytes()
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


def fits_a_phone_and_follows_the_palette(page: Page, panel: Locator) -> None:
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


def test_whole_numbers_of_which_nobody_knows_of_how_many_trials_are_explored_on_a_phone(
    page: Page, home: str, site: Path
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(home + SETTING, wait_until="load")
    panel = _explore(page, AFTER)
    fits_a_phone_and_follows_the_palette(page, panel)
    fades_what_is_further(page, site, panel, AFTER, ["0", "5", "11", "64"])
    assert "No intervals: the number of trials behind each value is unknown" in (panel.inner_text())
    assert panel.locator('.ga-explore-chart [aria-label^="7: mean "]').count() == 2
    lines = panel.locator(".ga-explore-chart .mark-rule.columns_layer_0_marks line")
    assert lines.count() == 0


def test_by_keyboard_alone(page: Page, home: str) -> None:
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


# --- when it is loaded, and where it can't be -----------------------------------------------------


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


def test_where_it_cannot_be_loaded_the_picture_stays_and_it_can_be_tried_again(
    browser: Browser, home: str
) -> None:
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    page.goto(home + MODEL, wait_until="load")
    row = _row(page, AIME24)
    panel = row.locator("section.ga-explore")
    press = row.get_by_role("button", name="Explore")
    for missing, message in [
        ("**/explore.js*", "The program that draws it, explore.js, could not be loaded."),
        ("**/vega-*.js*", "The program that draws it, vega-"),
        ("**/aime24.vl.json", "aime24.vl.json, could not be loaded (404)."),
        (None, "There is no connection to the site."),
    ]:
        with step(f"{missing or 'everything'} is missing"):
            if missing is None:
                context.set_offline(True)
            else:
                page.route(missing, lambda route: route.fulfill(status=404))
            press.click()
            press = panel.get_by_role("button", name="Try again")
            press.wait_for()
            status = panel.get_by_role("status")
            status.filter(has_text=message).wait_for()
            text = status.inner_text()
            assert text.startswith("The chart can't be shown. ")
            assert "The heatmap and its data table are whole without it." in text
            assert _figure(page, AIME24).locator('> svg path[role="button"]').first.is_visible()
            context.set_offline(False)
            page.unroute_all()
    press.click()
    panel.locator(".ga-explore-chart svg").wait_for()
    assert panel.locator(CELLS).count() == 20
    context.close()


def test_a_page_from_a_folder_says_what_to_do(browser: Browser, base: Path) -> None:
    """Of a site without a policy: to one, a file's own folder is another place."""
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


# --- other pages --------------------------------------------------------------------------------


def test_instant_navigation_ends_the_charts_of_the_page_before(page: Page, instant: str) -> None:
    arrive(page, f"{instant}studies/tiny/model/small/")
    page.evaluate("() => { window.sameDocument = true; }")
    _explore(page, "tiny/small")
    assert _alive(page, instant) == 1
    for name in ("Large", "Small"):
        page.locator("nav.ga-switch").get_by_role("link", name=name, exact=True).click()
        until(page, "(name) => document.querySelector('h1').innerText.startsWith(name)", name)
        until(page, "() => !document.querySelector('.ga-explore')")
        page.get_by_role("button", name="Explore").first.wait_for()
        assert page.evaluate("() => window.sameDocument === true")
        assert _alive(page, instant) == 0
    # Each button answers once: a second listener would close what the first one opened.
    assert page.locator(".ga-explore-row").count() == 1
    _explore(page, "tiny/small")
    assert _alive(page, instant) == 1
    page.go_back()
    until(page, "() => document.querySelector('h1').innerText.startsWith('Large')")
    until(page, "() => !document.querySelector('.ga-explore')")
    assert _alive(page, instant) == 0
