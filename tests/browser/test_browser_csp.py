"""The policy in the built site: all that pages do works under it, and nothing is stopped."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import site_builds
from features import features
from playwright.sync_api import Browser, BrowserContext, Locator, Page, ViewportSize
from site_builds import DYNTS, GRPO, PREFIX

from gridatlas.csp.policy import policy
from views import Visit, arrive, search, until

HEADER = "Content-Security-Policy"
LISTEN = """() => document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`stopped: ${event.effectiveDirective} ${event.blockedURI} ${event.sample}`))"""
PAGES = {
    "home": "",
    "docs": "data-format/",
    "overview": "studies/",
    "model": f"studies/{DYNTS}/model/r1-qwen/",
    "checks": f"studies/{GRPO}/checks/",
    "missing": "no/such/page/",
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp()


@pytest.fixture(scope="module")
def headers(base: Path) -> dict[str, str]:
    """The policy as the server may send it, besides the pages."""
    text = (site_builds.atlas(base).site / "assets/gridatlas/csp.txt").read_text("utf-8")
    return {HEADER: text.strip()}


@pytest.fixture(scope="module")
def atlas(browser: Browser, headers: dict[str, str], base: Path) -> Iterator[str]:
    """Address of this repository's site, whose pages bring the policy; and so does the server."""
    assert browser.is_connected()
    with site_builds.serving(site_builds.atlas(base).site, PREFIX, headers) as address:
        yield address


@pytest.fixture(scope="module")
def unsearched(browser: Browser, headers: dict[str, str], base: Path) -> Iterator[str]:
    """Address of the same site, in which the theme's search finds nothing."""
    assert browser.is_connected()
    site = site_builds.atlas(base).site
    with site_builds.serving(site, PREFIX, headers, found=False) as address:
        yield address


@pytest.fixture(scope="module")
def rich(browser: Browser, base: Path) -> Iterator[str]:
    """Address of a site with notebooks and with scripts of its own, and the policy's header."""
    assert browser.is_connected()
    site = features(base).site
    text = (site / "assets/gridatlas/csp.txt").read_text("utf-8").strip()
    with site_builds.serving(site, PREFIX, {HEADER: text}) as address:
        yield address


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(
        viewport=ViewportSize(width=1280, height=800),
        reduced_motion="reduce",
        permissions=["clipboard-read", "clipboard-write"],
    )
    opened.add_init_script(f"({LISTEN})()")
    yield opened
    opened.close()


@pytest.fixture
def visit(context: BrowserContext) -> Iterator[Visit]:
    page = context.new_page()
    yield Visit(page, "")
    page.close()


def clean(visit: Visit, address: str) -> None:
    """Nothing was stopped, and nothing asked for elsewhere."""
    visit.page.wait_for_load_state("networkidle")
    missing = "error: Failed to load resource: the server responded with a status of 404"
    assert [line for line in visit.messages if not line.startswith(missing)] == []
    host = urlsplit(address).netloc
    assert [url for url in visit.elsewhere if urlsplit(url).netloc != host] == []


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_stopped_on_a_page(visit: Visit, unsearched: str, name: str) -> None:
    page = visit.page
    page.goto(unsearched + PAGES[name], wait_until="load")
    schemes = []
    for _ in range(2):
        schemes.append(page.locator("body").get_attribute("data-md-color-scheme"))
        page.locator("label[for^=__palette]:visible").click()
    assert sorted(map(str, schemes)) == ["default", "slate"]
    page.reload()
    assert page.locator("body").get_attribute("data-md-color-scheme") == schemes[0]
    clean(visit, unsearched)


@pytest.mark.parametrize("name", ["home", "missing"])
def test_nothing_is_stopped_when_a_page_searches(visit: Visit, atlas: str, name: str) -> None:
    visit.page.goto(atlas + PAGES[name], wait_until="load")
    search(visit.page, "AIME24")
    clean(visit, atlas)


def test_a_page_that_is_changed_in_place_runs_under_the_same_policy(
    visit: Visit, atlas: str
) -> None:
    page = visit.page
    arrive(page, f"{atlas}tables/")
    page.evaluate("() => { window.sameDocument = true; }")
    for title in ("Data format", "Claims"):
        page.locator("nav.md-nav--primary").get_by_role("link", name=title, exact=True).click()
        until(page, "(title) => document.title.startsWith(title)", title)
    results = search(page, "Qwen")  # of R1- alone the theme says that it is no query
    results.locator("a").first.click()
    until(page, "() => document.querySelectorAll('figure.ga-figure svg').length > 1")
    assert page.evaluate("() => window.sameDocument") is True
    assert page.locator(f'meta[http-equiv="{HEADER}"]').count() == 1
    clean(visit, atlas)


def test_code_is_copied(visit: Visit, atlas: str) -> None:
    page = visit.page
    page.goto(f"{atlas}start/", wait_until="load")
    code = page.locator("pre > code").first
    assert copied(page, code) == code.inner_text().rstrip("\n")
    clean(visit, atlas)


def copied(page: Page, code: Locator) -> str:
    """What the button beside a block of code puts on the clipboard."""
    page.evaluate("() => navigator.clipboard.writeText('')")
    code.hover()
    code.locator("xpath=../..").locator("button").first.click()
    until(page, "() => navigator.clipboard.readText().then((text) => text !== '')")
    return str(page.evaluate("() => navigator.clipboard.readText()"))


def test_a_script_that_no_hash_allows_is_stopped_and_noticed(
    visit: Visit, base: Path, browser: Browser
) -> None:
    """So that none of these tests passes because it notices nothing."""
    site = site_builds.atlas(base).site
    with site_builds.serving(site, PREFIX, {HEADER: policy([])}) as address:
        visit.page.goto(address, wait_until="load")
        stopped = [line for line in visit.messages if "stopped: script-src-elem inline" in line]
        assert len(stopped) >= 3


# --- pages with scripts of their own, and notebooks ---------------------------------------------


@pytest.mark.parametrize("instant", [False, True], ids=["loaded", "changed in place"])
def test_scripts_of_a_page_run_wherever_the_reader_began(
    visit: Visit, rich: str, instant: bool
) -> None:
    page = visit.page
    arrive(page, rich + ("" if instant else "notes/"))
    if instant:
        page.locator("nav.md-nav--primary").get_by_role("link", name="Notes").click()
    until(page, "() => document.documentElement.dataset.notes === 'ran'")
    page.get_by_role("link", name="The other page").click()
    until(page, "() => document.documentElement.dataset.other === 'ran'")
    clean(visit, rich)


def test_content_tabs_and_annotations_work(visit: Visit, rich: str) -> None:
    page = visit.page
    page.goto(f"{rich}notes/", wait_until="load")
    page.get_by_text("Two", exact=True).click()
    assert page.get_by_text("The second tab.").is_visible()
    page.get_by_text("One", exact=True).click()
    page.locator(".md-annotation__index").first.click(force=True)  # it pulses for ever
    page.get_by_text("An annotation of code").locator("visible=true").first.wait_for()
    clean(visit, rich)


@pytest.mark.parametrize("name", ["script", "outputs"])
def test_notebooks_keep_the_policy(visit: Visit, rich: str, name: str) -> None:
    page = visit.page
    page.goto(f"{rich}{name}/", wait_until="load")
    code = page.locator(".jp-CodeCell pre > code").first
    if name == "script":
        assert len(set(code.evaluate(COLOURS))) > 2
    assert copied(page, code) == code.inner_text().rstrip("\n")
    if name == "outputs":
        assert page.locator("#chart").inner_text() == "drawn"
        assert page.locator("table.dataframe").is_visible()
        width = page.locator(".jp-RenderedImage img").evaluate("(image) => image.naturalWidth")
        assert width == 24
    clean(visit, rich)


COLOURS = """(code) =>
  [...code.querySelectorAll("span[class]")].map((one) => getComputedStyle(one).color)"""
