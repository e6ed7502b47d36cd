"""Accessibility of every kind of page by axe-core: nothing in ours, and the theme's by name."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import site_builds
from features import features
from playwright.sync_api import Browser, Page, ViewportSize
from site_builds import DYNTS, GRPO

from axe import violations
from views import AT_REST, until

ATLAS = {
    "home": "",
    "code": "claims/",
    "fence": "fence/",
    "overview": "studies/",
    "study": f"studies/{DYNTS}/",
    "facet": f"studies/{DYNTS}/model/",
    "model": f"studies/{DYNTS}/model/r1-qwen/",
    "disputed": f"studies/{GRPO}/setting/after_t125/",
    "checks": f"studies/{GRPO}/checks/",
    "runs": f"studies/{DYNTS}/reproduction/",
    "missing": "no/such/page/",
}
WITH_CARDS = ("facet", "model", "disputed", "checks")
"""Pages that are looked at with all folds open, and then with a card, which lies on texts."""
FRAMES = {
    "frame": f"grids/{DYNTS}/r1-qwen/aime24.html",
    "disputed frame": f"grids/{GRPO}/after_t125.html",
    "measured frame": "grids/digits-pass-1/before/0/1.html",
}
"""Pages for frames; they have no theme."""
FEATURES = {
    "problems": "studies/flawed/",
    "unreadable": "studies/unreadable/",
    "level in a note": "studies/tiny/model/large/",
    "notebook": "outputs/",
}
PANDAS = {"empty-table-header: <th></th>"}
"""In what a cell of the notebook put out."""
THEME = {
    # The label of a section with a page of its own, which names its list, is an icon; and the lists
    # of buttons beside blocks of code have no names.
    "landmark-unique",
}
"""What is left of the theme's on this repository's site."""
SCREENS = [(1280, "light"), (360, "dark")]
"""Colours don't depend on the width, nor places on the colours."""


@pytest.fixture(scope="module", params=SCREENS, ids=lambda screen: f"{screen[0]}-{screen[1]}")
def page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    width, scheme = request.param
    context = browser.new_context(
        viewport=ViewportSize(width=width, height=800),
        color_scheme=scheme,
        reduced_motion="reduce",
        bypass_csp=True,
    )
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def features_home(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    assert browser.is_connected()
    site = features(Path(tmp_path_factory.getbasetemp())).site
    with site_builds.serving(site, site_builds.PREFIX) as address:
        yield address


def rules(found: list[str]) -> set[str]:
    return {violation.partition(":")[0] for violation in found}


@pytest.mark.parametrize("name", ATLAS)
def test_a_page_of_this_site_has_no_violation_but_the_theme_s_own(
    page: Page, home: str, name: str
) -> None:
    """Dear by its elements, each of which is looked at for some fifty rules."""
    page.goto(home + ATLAS[name], wait_until="load")
    if name in WITH_CARDS:
        open_folds(page)
    ours, theme = violations(page)
    assert ours == []
    assert rules(theme) <= THEME, theme
    # Pages of results have no list of pages at their left.
    if name == "code" and page.viewport_size == ViewportSize(width=1280, height=800):
        assert rules(theme) == THEME, "the list is longer than it has to be"
        assert planted(page, ".md-sidebar--primary nav nav[aria-expanded=true] > ul") == PLANTED
    if name in WITH_CARDS:
        page.locator(".ga-figure svg path[role=button]").nth(7).focus()
        page.keyboard.press("Enter")
        page.locator(".ga-card[role=dialog]").wait_for()
        assert violations(page, CARD) == ([], [])


CARD = ".ga-card, .ga-figure:has([aria-expanded=true])"
"""The card, and the heatmap with the cell that it is of."""


def open_folds(page: Page) -> None:
    """Open what is folded, as tables are, and heatmaps of disagreements."""
    page.evaluate("() => document.querySelectorAll('details').forEach((one) => (one.open = true))")


@pytest.mark.parametrize("name", FRAMES)
def test_a_page_for_frames_has_none(page: Page, home: str, name: str) -> None:
    page.goto(home + FRAMES[name], wait_until="load")
    open_folds(page)
    assert violations(page) == ([], [])


@pytest.mark.parametrize("name", FEATURES)
def test_what_we_render_has_none_where_the_theme_is_as_it_comes(
    page: Page, features_home: str, name: str
) -> None:
    page.goto(features_home + FEATURES[name], wait_until="load")
    assert set(violations(page)[0]) - PANDAS == set()


def test_an_open_chart_has_none(page: Page, home: str) -> None:
    page.goto(home + ATLAS["model"], wait_until="load")
    page.get_by_role("button", name="Explore").first.click()
    page.locator(".ga-explore-chart svg").wait_for()
    assert violations(page, "section.ga-explore")[0] == []


def test_search_and_its_results_have_none(page: Page, searched_home: str) -> None:
    page.goto(searched_home + ATLAS["missing"], wait_until="load")
    page.locator("label[for=__search]:visible, [data-md-component=search-query]").first.click()
    page.keyboard.type("AIME24")
    page.locator(".md-search-result__item").first.wait_for()
    until(page, AT_REST)
    ours, theme = violations(page)
    assert ours == []
    assert rules(theme) <= THEME, theme
    assert planted(page, ".md-search-result__list") == PLANTED


def test_the_drawer_has_none(browser: Browser, home: str) -> None:
    context = browser.new_context(
        viewport=ViewportSize(width=360, height=740), reduced_motion="reduce", bypass_csp=True
    )
    page = context.new_page()
    page.goto(home + ATLAS["study"], wait_until="load")
    page.locator("header label[for=__drawer]").click()
    until(page, AT_REST)
    assert (
        page.locator("nav.md-nav--primary")
        .get_by_role("link", name="Model", exact=True)
        .is_visible()
    )
    _, theme = violations(page, "nav.md-nav--primary")
    assert rules(theme) <= THEME, theme
    level = "nav[aria-expanded=true]"
    assert planted(page, f"{level}:not(:has({level})) > ul") == PLANTED
    context.close()


# --- faults that are put in, so that none of these tests passes because it notices nothing -------

PLANT = """(place) => {
  const within = document.querySelector(place);
  const fault = document.createElement(within.matches("ul, ol") ? "li" : "p");
  fault.innerHTML = "<button></button> Pale";
  fault.style.color = "rgb(128, 128, 128)";
  fault.style.background = "rgb(200, 200, 200)";
  within.prepend(fault);
}"""
PLANTED = {"button-name", "color-contrast"}


def planted(page: Page, place: str) -> set[str]:
    """The rules that a nameless button and a pale text break, which are put into a place."""
    page.evaluate(PLANT, place)
    return rules([line for found in violations(page, place) for line in found])


@pytest.mark.parametrize("place", ["article", "footer .md-footer-meta__inner"])
def test_violations_are_noticed(page: Page, home: str, place: str) -> None:
    page.goto(home + ATLAS["missing"], wait_until="load")
    page.evaluate(PLANT, place)
    ours, theme = violations(page)
    assert rules(ours if place == "article" else theme) >= PLANTED
    assert (ours == []) is (place != "article")


PALE = """(one) => {
  one.setAttribute("style", "color: rgb(128, 128, 128) !important; fill: rgb(128, 128, 128)");
}"""


def test_a_pale_text_among_hundreds_that_look_alike_is_noticed(page: Page, home: str) -> None:
    """In a table, in a fold, where the card is put, and on the card."""
    page.goto(home + ATLAS["disputed"], wait_until="load")
    open_folds(page)
    for place in (".ga-actions td >> nth=57", ".ga-claims li p >> nth=2", ".ga-multiples-caption"):
        page.locator(place).first.evaluate(PALE)
    pale = [line for line in violations(page)[0] if line.startswith("color-contrast")]
    assert [line.partition("<")[2].split()[0] for line in pale] == ["p", "td", "p"]
    page.locator(".ga-figure svg path[role=button]").nth(7).focus()
    page.keyboard.press("Enter")
    page.locator(".ga-card[role=dialog] td").first.evaluate(PALE)
    assert rules(violations(page, CARD)[0]) == {"color-contrast"}
