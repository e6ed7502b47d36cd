"""The page Reproduction in a browser: cards with verdicts, and room on a phone."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
import site_builds
from playwright.sync_api import Browser, Page

from views import Visit, until

PAGE = "studies/again/reproduction/"


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The page of a study that was run in part; nothing may be said on its console."""
    base = tmp_path_factory.getbasetemp()
    project = site_builds.make_project(base / "looked-at", site_builds.shared_cache(base))
    site_builds.add_reproduced_study(project)
    with site_builds.serving(project.built().site) as home:
        opened = browser.new_page(reduced_motion="reduce")
        visit = Visit(opened, urlsplit(home).netloc)
        opened.goto(home + PAGE)
        yield opened
        opened.close()
        assert visit.messages == []


def test_cards_say_the_verdict_and_what_it_rests_on(page: Page) -> None:
    figure = page.locator("figure").nth(2)
    figure.locator('path[aria-label*="differs"]').click()
    until(
        page,
        "() => !!document.querySelector('.ga-card:not([hidden])')",
    )
    text = page.locator(".ga-card").inner_text()
    assert "+17.5 points" in text
    assert "Differs. 95 % interval of the difference: +16.4 to +18.6 (Newcombe's interval)." in text
    assert "12.5, n = 10000" in text
    assert "30.0, n = 10000" in text
    assert "python docs/tune.py small 0.2 8" in text
    page.keyboard.press("Escape")


@pytest.mark.parametrize("width", [1280, 360])
def test_nothing_is_wider_than_the_window(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    table = page.locator('[aria-label="Verdicts of Small"]')
    assert table.get_attribute("tabindex") == "0"
    heights = table.locator("tbody tr").evaluate_all("all => all.map((one) => one.offsetHeight)")
    assert len(heights) == 4
    assert max(heights) < 60  # a verdict is one line, however narrow the window
