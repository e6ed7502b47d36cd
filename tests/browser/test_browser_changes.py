"""The page Changes in a browser: under the policy, by keyboard, on a phone, in the dark, by axe."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
import site_builds
import test_site_changes
from playwright.sync_api import Browser, Page

from axe import violations
from views import Visit, until

PAGE = "studies/changes/"


@pytest.fixture(scope="module")
def home(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    base = tmp_path_factory.getbasetemp()
    project = site_builds.make_project(
        base / "changes-looked-at",
        site_builds.shared_cache(base),
        {"compare_to": "before", "csp": True},
    )
    test_site_changes.add_changed_study(project)
    with site_builds.serving(project.built().site) as address:
        yield address


@pytest.fixture(scope="module")
def page(browser: Browser, home: str) -> Iterator[Page]:
    """The page; nothing may be said on its console, and nothing asked of other hosts."""
    opened = browser.new_page(reduced_motion="reduce")
    visit = Visit(opened, urlsplit(home).netloc)
    opened.goto(home + PAGE)
    yield opened
    opened.close()
    assert (visit.messages, visit.elsewhere, visit.failed) == ([], [], [])


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_window(page: Page, width: int, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    columns = page.locator("figure").evaluate_all(
        "all => new Set(all.map((one) => Math.round(one.getBoundingClientRect().x))).size"
    )
    assert columns == (3 if width == 1280 else 1)
    tables = page.locator(".ga-changes .ga-scroll")
    assert tables.count() == 2
    tables.first.focus()
    name = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert name == "Changed values: Learning rate and batch size"


def test_the_new_heatmap_has_cards(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    figure = page.locator("figure").nth(1)
    figure.locator('path[aria-label^="Learning rate 0.1, Batch size 8: 31.5"]').click()
    until(page, "() => !!document.querySelector('.ga-card:not([hidden])')")
    assert "31.5" in page.locator(".ga-card").inner_text()
    page.keyboard.press("Escape")


def test_a_page_concerned_leads_to_it(page: Page, home: str) -> None:
    page.goto(f"{home}studies/tiny/model/small/")
    page.get_by_role("link", name="Changed since before").press("Enter")
    page.wait_for_url(f"{home}{PAGE}")
    assert page.locator("h1").inner_text().startswith(f"❌ {test_site_changes.WORST}")


def test_axe_finds_nothing_in_what_is_ours(browser: Browser, home: str) -> None:
    with browser.new_context(bypass_csp=True, reduced_motion="reduce") as context:
        opened = context.new_page()
        opened.goto(home + PAGE)
        ours, _ = violations(opened)
        assert ours == []
