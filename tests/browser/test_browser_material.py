"""What Material does with the pages under the policy: instant navigation, search, tabs, the drawer.

Every page brings the policy, and so does the server; what it stops is said on the console, which
each page of the tests has to leave empty.
"""

import json
import re

import pytest
from expected import OURS
from playwright.sync_api import Browser, Locator, Page, Route
from site_builds import DYNTS, GRPO, PREFIX, Build, serving

from axe import PLANTED, THEME, planted, rules, violations
from gridatlas.csp.policy import policy
from small_sites import POLICY
from views import (
    AT_REST,
    FOLLOWS,
    PHONE,
    Visit,
    arrive,
    colour,
    luminance,
    search,
    step,
    until,
)

NAVIGATION = "nav.md-nav--primary"
STUDY = f"studies/{DYNTS}/"
MODEL = f"{STUDY}model/r1-qwen/"
SETTING = f"studies/{GRPO}/setting/after_t125/"
CELL = "r1-qwen/aime24/0.4,2000"
SHOWN = """(address) => location.href === address
  && document.querySelector("link[rel=canonical]").href.endsWith(location.pathname)"""
MARK = "() => { window.sameDocument = true; }"
SAME = "() => window.sameDocument === true"
PALETTE = "label[for^=__palette]:visible"


# --- instant navigation -------------------------------------------------------------------------


def follow(page: Page, title: str, address: str) -> None:
    """Go to a page by a link of the navigation or of the text."""
    page.get_by_role("link", name=title, exact=True).locator("visible=true").first.click()
    at(page, address)


def at(page: Page, address: str) -> None:
    """Wait until a page is shown, which is later than its address is."""
    until(page, SHOWN, address)


SEEN = """(id) => {
  const header = document.querySelector("header.md-header").getBoundingClientRect();
  const { top, bottom } = document.getElementById(id).getBoundingClientRect();
  return top >= header.bottom && bottom <= window.innerHeight;
}"""


def test_pages_are_changed_in_place_and_back_and_forward_return_to_them(
    page: Page, home: str
) -> None:
    arrive(page, f"{home}studies/")
    page.evaluate(MARK)
    follow(page, "DynTS: local window size and retention ratio", home + STUDY)
    follow(page, "R1-Qwen: No effect of ratio or local window size shown", home + MODEL)
    assert page.evaluate(SAME)
    for kind in (
        'link[href$="gridatlas.css"]', 'script[src$="gridatlas.js"]',
        f'meta[http-equiv="{POLICY}"]',
    ):  # fmt: skip
        assert page.locator(kind).count() == 1, kind
    assert page.locator("figure.ga-figure > svg").count() == 5
    hidden = page.locator("article .ga-hidden").first
    assert hidden.evaluate("(one) => getComputedStyle(one).position") == "absolute"
    # As after loading it.
    shown = page.locator("article").inner_text()
    page.reload()
    until(page, FOLLOWS)
    assert page.locator("article").inner_text() == shown

    page.evaluate(MARK)
    page.locator("#statistics > summary").click()
    page.locator(f'article table a[href$="#{CELL}"]').click()
    until(page, "() => !!document.querySelector('.ga-target')")
    assert page.evaluate(SEEN, CELL)
    follow(page, "Compare both", f"{home}{STUDY}model/")
    page.go_back()
    at(page, f"{home}{MODEL}#{CELL}")
    until(page, SEEN, CELL)
    page.go_back()
    at(page, f"{home}{MODEL}#open=statistics")
    page.go_forward()
    at(page, f"{home}{MODEL}#{CELL}")
    page.go_forward()
    at(page, f"{home}{STUDY}model/")
    assert page.locator("figure.ga-figure > svg").count() == 5
    assert page.evaluate(SAME)


@pytest.mark.parametrize("cards", [True, False], ids=["cards", "no cards"])
def test_a_cell_of_another_page_is_marked_where_the_address_alone_does_not(
    page: Page, home: str, cards: bool
) -> None:

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


INK = "() => getComputedStyle(document.querySelector('figure.ga-figure .role-axis text')).fill"
INKS = """() => [...document.querySelectorAll(".values_marks text")].map(
  (one) => getComputedStyle(one).fill)"""
WHITE, BLACK = (255.0, 255.0, 255.0), (0.0, 0.0, 0.0)


def test_the_palette_changes_the_drawings_and_is_kept_from_page_to_page(
    browser: Browser, home: str
) -> None:
    context = browser.new_context(reduced_motion="reduce", color_scheme="light")
    page = context.new_page()
    arrive(page, home + SETTING)
    assert luminance(colour(page.evaluate(INK), 1, WHITE)) < 0.2
    before = page.evaluate(INKS)
    page.locator(PALETTE).click()
    assert luminance(colour(page.evaluate(INK), 1, BLACK)) > 0.4
    opposite = {"rgb(0, 0, 0)": "rgb(255, 255, 255)", "rgb(255, 255, 255)": "rgb(0, 0, 0)"}
    # On some fills the same ink is read on both pages.
    opposite |= {ink: ink for ink in ("rgb(1, 1, 1)", "rgb(254, 254, 254)")}
    assert page.evaluate(INKS) == [opposite[ink] for ink in before], "as do their cells"
    follow(page, "GRPO on two-operand digit tasks", f"{home}studies/{GRPO}/")
    assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"
    inks = page.locator("article, figure.ga-figure > svg").evaluate_all(
        "(all) => all.map((one) => getComputedStyle(one).color)"
    )
    assert len(inks) > 2
    assert len(set(inks)) == 1
    for path in (MODEL, "data-format/", "no/such/page/"):
        page.goto(home + path, wait_until="load")
        assert page.locator("body").get_attribute("data-md-color-scheme") == "slate", path
        if path == MODEL:
            assert luminance(colour(page.evaluate(INK), 1, BLACK)) > 0.4
    context.close()


# --- search and code ----------------------------------------------------------------------------


def test_search_finds_pages_and_cells_and_opens_them(visit: Visit, searched_home: str) -> None:
    """On a page that is missing, whose theme knows its own place by nothing but the address."""
    page = visit.page
    arrive(page, f"{searched_home}no/such/page/")
    assert [line.partition(" ")[0] for line in visit.failed] == ["404"]
    for words, title, teaser, address in [
        ("R1-Qwen", "R1-Qwen: No effect of ratio", "R1-Qwen", MODEL),
        ("AIME24", "AIME24: No difference shown", "AIME24", f"{STUDY}benchmark/aime24/"),
        ("digit tasks 1.25", "After GRPO, temperature 1.25", "After", SETTING),
        ("after", "After GRPO", "After", f"studies/{OURS}/setting/grpo"),
        ("score operand", "After GRPO", "After", f"studies/{GRPO}/setting/after_t"),
        ("52.0 %", "R1-Qwen", "R1-Qwen", MODEL),
    ]:
        with step(f"searches {words}"):
            page.locator("[data-md-component=search-query]").fill("")
            until(page, "() => !document.querySelector('.md-search-result__item')")
            results = search(page, words)
            link = page.locator(f'a[href^="{searched_home}{address}"]')
            found = results.filter(has=link).first
            found.wait_for()
            assert title in found.locator("h1, h2").first.inner_text()
            assert teaser in found.inner_text()
    until(page, AT_REST)
    ours, theme = violations(page)
    assert ours == []
    assert rules(theme) <= THEME, theme
    assert planted(page, ".md-search-result__list") == PLANTED

    # A page that search puts in place runs under the same policy; a cell is opened.
    visit.failed.clear()
    visit.messages.clear()
    page.locator("[data-md-component=search-query]").fill("")
    search(page, "qwen aime24 2000 0.4")
    until(page, "() => !!document.querySelector('.md-search-result__link[href*=\"0.4,2000\"]')")
    hrefs = page.locator(".md-search-result__link").evaluate_all(
        "all => all.map((one) => one.href)"
    )
    found = next(href for href in hrefs if href.endswith(f"#{CELL}"))
    page.goto(f"{found.partition('?')[0].partition('#')[0]}?h=aime24#{CELL}")
    until(page, "() => !!document.querySelector('.ga-card[role=dialog]:not([hidden])')")
    assert "52.0 %" in page.locator(".ga-card").inner_text()


def test_pages_of_text_are_changed_in_place_and_their_code_is_copied(
    page: Page, searched_home: str
) -> None:
    arrive(page, f"{searched_home}tables/")
    page.evaluate(MARK)
    for title in ("Data format", "Claims"):
        page.locator(NAVIGATION).get_by_role("link", name=title, exact=True).click()
        until(page, "(title) => document.title.startsWith(title)", title)
        if title == "Data format":
            code = page.locator("pre > code").first
            assert copied(page, code) == code.inner_text().rstrip("\n")
    results = search(page, "Qwen")  # of R1- alone the theme says that it is no query
    results.locator("a").first.click()
    until(page, "() => document.querySelectorAll('figure.ga-figure svg').length > 1")
    assert page.evaluate(SAME)
    assert page.locator(f'meta[http-equiv="{POLICY}"]').count() == 1
    page.wait_for_load_state("networkidle")


def copied(page: Page, code: Locator) -> str:
    """What the button beside a block of code puts on the clipboard."""
    page.evaluate("() => navigator.clipboard.writeText('')")
    code.hover()
    code.locator("xpath=../..").locator("button").first.click()
    until(page, "() => navigator.clipboard.readText().then((text) => text !== '')")
    return str(page.evaluate("() => navigator.clipboard.readText()"))


def test_a_script_that_no_hash_allows_is_stopped_and_noticed(visit: Visit, atlas: Build) -> None:
    """So that none of these tests passes because it notices nothing."""
    with serving(atlas.site, PREFIX, {POLICY: policy([])}) as address:
        visit.page.goto(address, wait_until="load")
        stopped = [line for line in visit.messages if "stopped: script-src-elem inline" in line]
        assert len(stopped) >= 3
        visit.messages.clear()


def test_the_index_holds_words_and_no_charts(atlas: Build) -> None:
    text = (atlas.site / "search/search_index.json").read_text("utf-8")
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


# --- scripts of pages, notebooks, tabs and notes ------------------------------------------------

COLOURS = """(code) =>
  [...code.querySelectorAll("span[class]")].map((one) => getComputedStyle(one).color)"""


@pytest.mark.parametrize("instant", [False, True], ids=["loaded", "changed in place"])
def test_scripts_of_a_page_run_wherever_the_reader_began(
    page: Page, rich: str, instant: bool
) -> None:
    arrive(page, rich + ("" if instant else "notes/"))
    if instant:
        page.locator(NAVIGATION).get_by_role("link", name="Notes").click()
    until(page, "() => document.documentElement.dataset.notes === 'ran'")
    if not instant:
        page.get_by_text("Two", exact=True).click()
        assert page.get_by_text("The second tab.").is_visible()
        page.get_by_text("One", exact=True).click()
        page.locator(".md-annotation__index").first.click(force=True)  # it pulses for ever
        page.get_by_text("An annotation of code").locator("visible=true").first.wait_for()
    page.get_by_role("link", name="The other page").click()
    until(page, "() => document.documentElement.dataset.other === 'ran'")


def test_notebooks_keep_the_policy(page: Page, rich: str) -> None:
    for name in ("script", "outputs"):
        page.goto(f"{rich}{name}/", wait_until="load")
        code = page.locator(".jp-CodeCell pre > code").first
        if name == "script":
            assert len(set(code.evaluate(COLOURS))) > 2
        assert copied(page, code) == code.inner_text().rstrip("\n")
    assert page.locator("#chart").inner_text() == "drawn"
    assert page.locator("table.dataframe").is_visible()
    width = page.locator(".jp-RenderedImage img").evaluate("(image) => image.naturalWidth")
    assert width == 24


def test_heatmaps_in_tabs_and_notes_are_drawn_as_elsewhere(page: Page, rich: str) -> None:
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
    context = browser.new_context(viewport=PHONE, reduced_motion="reduce", has_touch=True)
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
