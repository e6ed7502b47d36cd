"""The published site under its policy, and a reader's browser; a missing one fails the tests."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import site_builds
from features import features
from playwright.sync_api import Browser, BrowserContext, Error, Page

from small_sites import flat_site, instant_site, under_policy
from views import WIDE, Visit

STOPPED = """document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`stopped: ${event.effectiveDirective} ${event.blockedURI} ${event.sample}`))"""


@pytest.fixture(scope="session")
def atlas(browser: Browser, base: Path) -> site_builds.Build:
    """The site of this repository. The browser first, so that its lack shows at once."""
    assert browser.is_connected()
    return site_builds.atlas(base)


@pytest.fixture(scope="session")
def home(atlas: site_builds.Build) -> Iterator[str]:
    """Address of the site of this repository, in which the theme's search finds nothing."""
    with under_policy(atlas.site, found=False) as address:
        yield address


@pytest.fixture(scope="session")
def searched_home(atlas: site_builds.Build) -> Iterator[str]:
    """Address of the same site with its search."""
    with under_policy(atlas.site) as address:
        yield address


@pytest.fixture(scope="session")
def rich(browser: Browser, base: Path) -> Iterator[str]:
    """Address of a site with notebooks, scripts of its own, tabs, and the theme as it comes."""
    assert browser.is_connected()
    with under_policy(features(base).site) as address:
        yield address


@pytest.fixture(scope="session")
def reader(browser: Browser) -> Iterator[BrowserContext]:
    """A reader's browser, which keeps what it has loaded from page to page."""
    context = browser.new_context(viewport=WIDE, reduced_motion="reduce", color_scheme="light")
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.add_init_script(STOPPED)
    yield context
    context.close()


@pytest.fixture
def visit(reader: BrowserContext) -> Iterator[Visit]:
    """A page; nothing may be said on its console, be missing, or be asked of other hosts."""
    seen = Visit(reader.new_page())
    yield seen
    with suppress(Error):  # a page that is none has no storage
        seen.page.evaluate("() => localStorage.clear()")
    seen.page.close()
    assert seen.messages == []
    assert seen.elsewhere == []
    assert seen.failed == []


@pytest.fixture
def page(visit: Visit) -> Page:
    return visit.page


@pytest.fixture(scope="session")
def instant(base: Path) -> Iterator[str]:
    """Address of a site whose pages take each other's place; a level looks like a command."""
    with site_builds.serving(instant_site(base)) as address:
        yield address


@pytest.fixture(scope="session")
def flat(base: Path) -> Path:
    """Folder of such a site whose addresses are files."""
    return flat_site(base)
