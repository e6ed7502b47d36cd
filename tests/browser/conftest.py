"""The published site and a browser to look at it in; a missing browser fails the tests."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

# The sites that are looked at are those of tests/sites: built once for both.
sys.path.insert(0, str(Path(__file__).parents[1] / "sites"))


@pytest.fixture(scope="session")
def home(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the site of this repository, in which the theme's search finds nothing.

    The browser first, so that its lack shows at once.
    """
    import site_builds

    assert browser.is_connected()
    site = site_builds.atlas(tmp_path_factory.getbasetemp()).site
    with site_builds.serving(site, site_builds.PREFIX, found=False) as address:
        yield address


@pytest.fixture(scope="session")
def searched_home(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the same site with its search."""
    import site_builds

    assert browser.is_connected()
    site = site_builds.atlas(tmp_path_factory.getbasetemp()).site
    with site_builds.serving(site, site_builds.PREFIX) as address:
        yield address
