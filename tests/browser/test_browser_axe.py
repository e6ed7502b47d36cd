"""Accessibility by axe-core of frames, of others' themes, and of the drawer; faults are noticed.

Pages of this site are held against it where they are looked at: test_browser_pages.py.
"""

from collections.abc import Iterator, Sequence

import pytest
from playwright.sync_api import Page
from site_builds import DYNTS, GRPO

from axe import (
    CARD,
    OF_COLOURS_AND_WIDTHS,
    PLANT,
    PLANTED,
    THEME,
    folds,
    open_card,
    planted,
    rules,
    violations,
)
from views import AT_REST, PHONE, WIDE, until

FRAMES = {
    "frame": f"grids/{DYNTS}/r1-qwen/aime24.html",
    "disputed": f"grids/{GRPO}/after_t125.html",
    "measured": "grids/digits-pass-1/before/0/1.html",
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


def each_screen(page: Page) -> Iterator[Sequence[str]]:
    """Wide and light with all rules, then on a phone in the dark with those that it matters to."""
    for size, scheme, held in ((WIDE, "light", ()), (PHONE, "dark", OF_COLOURS_AND_WIDTHS)):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        until(page, AT_REST)
        yield held


@pytest.mark.parametrize("name", FRAMES)
def test_a_page_for_frames_has_none(page: Page, home: str, name: str) -> None:
    page.goto(home + FRAMES[name], wait_until="load")
    folds(page, "open")
    for held in each_screen(page):
        assert violations(page, rules=held) == ([], []), page.viewport_size


@pytest.mark.parametrize("name", FEATURES)
def test_what_we_render_has_none_where_the_theme_is_as_it_comes(
    page: Page, rich: str, name: str
) -> None:
    page.goto(rich + FEATURES[name], wait_until="load")
    for held in each_screen(page):
        assert set(violations(page, rules=held)[0]) - PANDAS == set(), page.viewport_size


def test_the_drawer_has_none(page: Page, home: str) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{home}studies/{DYNTS}/", wait_until="load")
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


# --- faults that are put in -----------------------------------------------------------------------

PALE = """(one) => {
  one.setAttribute("style", "color: rgb(128, 128, 128) !important; fill: rgb(128, 128, 128)");
}"""


def test_violations_are_noticed(page: Page, home: str) -> None:
    """Whole ones of ours and the theme's; and pale texts among hundreds that look alike.

    In a table, in a fold, where the card is put, and on the card.
    """
    page.goto(f"{home}studies/{GRPO}/setting/after_t125/", wait_until="load")
    folds(page, "open")
    for place in ("article", "footer .md-footer-meta__inner"):
        page.evaluate(PLANT, place)
    for place in (".ga-actions td >> nth=57", ".ga-claims li p >> nth=2", ".ga-multiples-caption"):
        page.locator(place).first.evaluate(PALE)
    ours, theme = violations(page)
    assert rules(theme) >= PLANTED
    assert rules(ours) == PLANTED
    pale = [line for line in ours if line.startswith("color-contrast")]
    assert [line.partition("<")[2].split()[0] for line in pale] == ["p", "p", "td", "p"]
    open_card(page)
    page.locator(".ga-card[role=dialog] td").first.evaluate(PALE)
    assert rules(violations(page, CARD)[0]) == {"color-contrast"}
