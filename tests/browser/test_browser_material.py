"""What Material does with the pages: instant navigation, search, content tabs, the drawer."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import site_builds
from expected import OURS
from features import features
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, ViewportSize
from site_builds import DYNTS, GRPO

from views import AT_REST, FOLLOWS, Visit, arrive, search, until

NAVIGATION = "nav.md-nav--primary"
MODEL = f"studies/{DYNTS}/model/r1-qwen/"
CELL = "r1-qwen/aime24/0.4,2000"
SHOWN = """(address) => location.href === address
  && document.querySelector("link[rel=canonical]").href.endsWith(location.pathname)"""
MARK = "() => { window.sameDocument = true; }"


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(
        viewport=ViewportSize(width=1280, height=800), reduced_motion="reduce"
    )
    yield opened
    opened.close()


@pytest.fixture
def visit(context: BrowserContext) -> Iterator[Visit]:
    page = context.new_page()
    yield Visit(page, "")
    page.close()


@pytest.fixture(scope="module")
def rich(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    assert browser.is_connected()
    site = features(Path(tmp_path_factory.getbasetemp())).site
    with site_builds.serving(site, site_builds.PREFIX) as address:
        yield address


# --- instant navigation -------------------------------------------------------------------------


def follow(page: Page, title: str, address: str) -> None:
    """Go to a page by a link of the navigation or of the text."""
    page.get_by_role("link", name=title, exact=True).locator("visible=true").first.click()
    at(page, address)


def at(page: Page, address: str) -> None:
    """Wait until a page is shown, which is later than its address is."""
    until(page, SHOWN, address)


def test_pages_are_changed_in_place_with_their_styles_and_scripts_once(
    visit: Visit, home: str
) -> None:
    page = visit.page
    arrive(page, f"{home}studies/")
    page.evaluate(MARK)
    follow(page, "DynTS: local window size and retention ratio", f"{home}studies/{DYNTS}/")
    follow(page, "R1-Qwen: No effect of ratio or local window size shown", home + MODEL)
    assert page.evaluate("() => window.sameDocument") is True
    for kind in ('link[href$="gridatlas.css"]', 'script[src$="gridatlas.js"]'):
        assert page.locator(kind).count() == 1, kind
    assert page.locator("figure.ga-figure > svg").count() == 5
    hidden = page.locator("article .ga-hidden").first
    assert hidden.evaluate("(one) => getComputedStyle(one).position") == "absolute"
    # As after loading it.
    shown = page.locator("article").inner_text()
    page.reload()
    until(page, FOLLOWS)
    assert page.locator("article").inner_text() == shown
    assert visit.messages == []
    assert visit.failed == []


SEEN = """(id) => {
  const { top, bottom } = document.getElementById(id).getBoundingClientRect();
  return top > 0 && bottom < window.innerHeight;
}"""


def test_back_and_forward_return_to_the_page_and_the_place(visit: Visit, home: str) -> None:
    page = visit.page
    arrive(page, home + MODEL)
    page.evaluate(MARK)
    page.locator("#statistics > summary").click()
    page.locator(f'article table a[href$="#{CELL}"]').click()
    until(page, "() => !!document.querySelector('.ga-target')")
    follow(page, "Compare both", f"{home}studies/{DYNTS}/model/")
    page.go_back()
    at(page, f"{home}{MODEL}#{CELL}")
    until(page, SEEN, CELL)
    page.go_back()
    at(page, f"{home}{MODEL}#open=statistics")
    page.go_forward()
    at(page, f"{home}{MODEL}#{CELL}")
    page.go_forward()
    at(page, f"{home}studies/{DYNTS}/model/")
    assert page.locator("figure.ga-figure > svg").count() == 5
    assert page.evaluate("() => window.sameDocument") is True
    assert visit.messages == []


@pytest.mark.parametrize("cards", [True, False], ids=["cards", "no cards"])
def test_a_cell_of_another_page_is_marked_where_the_address_alone_does_not(
    visit: Visit, home: str, cards: bool
) -> None:
    page = visit.page

    def without_cards(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=re.sub(r'data-cards="[^"]*"', "", answer.text()))

    def without_target(route: Route) -> None:
        """Browsers differ in whether :target matches here: no rule for it, so no help from it."""
        answer = route.fetch()
        body = answer.text()
        assert "path:target" in body
        route.fulfill(response=answer, body=body.replace("path:target", "path:not(*)"))

    page.route("**/gridatlas.css*", without_target)
    if not cards:
        page.route(home + MODEL, without_cards)
    arrive(page, f"{home}studies/{DYNTS}/")
    page.evaluate(MARK)
    page.locator("#statistics > summary").click()
    page.locator(f'article table a[href$="#{CELL}"]').click()
    at(page, f"{home}{MODEL}#{CELL}")
    until(page, "() => !!document.querySelector('.ga-target')")
    assert page.evaluate("() => window.sameDocument") is True
    marked = page.locator(".ga-target")
    assert marked.get_attribute("id") == CELL
    assert marked.evaluate("(one) => getComputedStyle(one).stroke") == "rgb(179, 18, 107)"
    assert page.evaluate(SEEN, CELL)
    follow(page, "Compare both", f"{home}studies/{DYNTS}/model/")
    assert page.locator(".ga-target").count() == 0
    assert visit.messages == []


def test_the_palette_is_kept_from_page_to_page(visit: Visit, home: str) -> None:
    page = visit.page
    arrive(page, f"{home}studies/")
    before = page.locator("body").get_attribute("data-md-color-scheme")
    page.locator("label[for^=__palette]:visible").click()
    follow(page, "GRPO on two-operand digit tasks", f"{home}studies/{GRPO}/")
    after = page.locator("body").get_attribute("data-md-color-scheme")
    assert {before, after} == {"default", "slate"}
    inks = page.locator("article, figure.ga-figure > svg").evaluate_all(
        "(all) => all.map((one) => getComputedStyle(one).color)"
    )
    assert len(inks) > 2
    assert len(set(inks)) == 1
    page.locator("label[for^=__palette]:visible").click()  # the other tests share the browser


# --- search -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def searching(context: BrowserContext, searched_home: str) -> Iterator[Page]:
    """A page that has indexed the site's texts, which takes longer than to find some."""
    page = context.new_page()
    arrive(page, searched_home)
    yield page
    page.close()


@pytest.mark.parametrize(
    ("words", "title", "teaser", "address"),
    [
        ("R1-Qwen", "R1-Qwen: No effect of ratio", "R1-Qwen", MODEL),
        ("AIME24", "AIME24: No difference shown", "AIME24", f"studies/{DYNTS}/benchmark/aime24/"),
        (
            "digit tasks 1.25",
            "After GRPO, temperature 1.25",
            "After",
            f"studies/{GRPO}/setting/after_t125/",
        ),
        ("after", "After GRPO", "After", f"studies/{OURS}/setting/grpo"),
        ("score operand", "After GRPO", "After", f"studies/{GRPO}/setting/after_t"),
        ("52.0 %", "R1-Qwen", "R1-Qwen", MODEL),
    ],
    ids=["model", "benchmark", "setting", "settings", "settings of a study", "best value"],
)
def test_search_finds(
    searching: Page, searched_home: str, words: str, title: str, teaser: str, address: str
) -> None:
    searching.locator("[data-md-component=search-query]").fill("")
    until(searching, "() => !document.querySelector('.md-search-result__item')")
    results = search(searching, words)
    found = results.filter(has=searching.locator(f'a[href^="{searched_home}{address}"]')).first
    found.wait_for()
    assert title in found.locator("h1, h2").first.inner_text()
    assert teaser in found.inner_text()


def test_the_index_holds_words_and_no_charts(
    home: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    site = site_builds.atlas(tmp_path_factory.getbasetemp()).site
    text = (site / "search/search_index.json").read_text("utf-8")
    generated = [
        load for load in json.loads(text)["docs"] if load["location"].startswith("studies/")
    ]
    assert len(generated) > 60
    assert not [
        entry["location"]
        for entry in generated
        if "vega" in entry["text"] or "<svg" in entry["text"]
    ]
    assert not [entry for entry in generated if "data-gridatlas" in entry["text"]]


# --- tabs and notes -----------------------------------------------------------------------------


def test_heatmaps_in_tabs_and_notes_are_drawn_as_elsewhere(visit: Visit, rich: str) -> None:
    page = visit.page
    arrive(page, f"{rich}studies/tiny/")
    figures = page.locator(".tabbed-block figure.ga-figure")
    sizes = [figure.bounding_box() for figure in figures.all()]
    size, hidden = sizes  # one picture in each tab
    assert size is not None
    assert min(size["width"], size["height"]) > 60
    assert hidden is None
    page.get_by_text("Words", exact=True).click()
    assert page.get_by_text("No heatmap in this tab.").is_visible()
    assert not figures.first.is_visible()
    page.get_by_text("Heatmaps 1", exact=True).click()
    assert [figure.bounding_box() for figure in figures.all()] == sizes
    page.get_by_text("Heatmaps 2", exact=True).click()
    other = figures.last.bounding_box()
    assert other is not None
    assert (other["width"], other["height"]) == (size["width"], size["height"])
    arrive(page, f"{rich}studies/tiny/model/large/")
    note = page.locator(".admonition").first
    figure = note.locator("figure.ga-figure")
    outer, inner = note.bounding_box(), figure.bounding_box()
    assert outer is not None
    assert inner is not None
    assert inner["x"] > outer["x"]
    assert inner["x"] + inner["width"] < outer["x"] + outer["width"]
    note.get_by_text("Data table").click()
    assert note.locator("table").first.is_visible()
    page.locator(".md-annotation__index").first.click(force=True)
    page.get_by_text("What the annotation says.").wait_for()
    assert visit.messages == []


# --- the drawer ---------------------------------------------------------------------------------


ON_TOP = """(element) => {
  const { left, top, width, height } = element.getBoundingClientRect();
  return element.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}"""


def on_top(locator: Locator) -> list[Locator]:
    """Those that a finger reaches: the levels of the navigation lie on top of one another."""
    return [
        element for element in locator.all() if element.is_visible() and element.evaluate(ON_TOP)
    ]


def test_on_a_phone_the_drawer_leads_to_every_page(browser: Browser, home: str) -> None:
    context = browser.new_context(
        viewport=ViewportSize(width=360, height=740), reduced_motion="reduce", has_touch=True
    )
    page = context.new_page()
    arrive(page, home)
    for title, address in [
        ("Studies", "studies/"),
        ("DynTS: local window size and retention ratio", f"studies/{DYNTS}/"),
        ("Model", f"studies/{DYNTS}/model/"),
        ("R1-Qwen", MODEL),
        ("R1-Llama", f"studies/{DYNTS}/model/r1-llama/"),
        ("Checks", f"studies/{DYNTS}/checks/"),
        ("Studies", "studies/"),
        ("GRPO on two-operand digit tasks", f"studies/{GRPO}/"),
        ("Results", ""),
    ]:
        page.locator("header label[for=__drawer]").tap()
        until(page, AT_REST)
        link = page.locator(NAVIGATION).get_by_role("link", name=title, exact=True)
        while not (found := on_top(link)):
            [back] = on_top(page.locator(f"{NAVIGATION} label.md-nav__title"))
            back.tap()
            until(page, AT_REST)
        found[0].tap()
        page.wait_for_url(home + address)
        until(page, AT_REST)
    context.close()
