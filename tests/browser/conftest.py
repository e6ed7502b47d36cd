"""The published site under its policy, and a reader's browser; a missing one fails the tests."""

import json
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from views import WIDE, Visit

# The sites that are looked at are those of tests/sites: built once for both.
sys.path.insert(0, str(Path(__file__).parents[1] / "sites"))

import site_builds
from features import features

POLICY = "Content-Security-Policy"
STOPPED = """document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`stopped: ${event.effectiveDirective} ${event.blockedURI} ${event.sample}`))"""


def under_policy(site: Path, *, found: bool = True) -> AbstractContextManager[str]:
    """Serve a site whose pages bring a policy, and so does the server."""
    text = (site / "assets/gridatlas/csp.txt").read_text("utf-8").strip()
    return site_builds.serving(site, site_builds.PREFIX, {POLICY: text}, found=found)


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of everything that lives as long as the test run."""
    return tmp_path_factory.getbasetemp()


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
    seen.page.close()
    assert seen.messages == []
    assert seen.elsewhere == []
    assert seen.failed == []


@pytest.fixture
def page(visit: Visit) -> Page:
    return visit.page


# --- small sites whose pages take each other's place ---------------------------------------------

ARGS = "--model={model} --batch {batch} --rate '{rate}' --to out/{batch}-{rate}; rm -rf /"
LEVEL = "$(touch hit) 'a' <b>"
INSTANT = {
    "name": "material",
    "font": False,
    "features": ["navigation.instant", "navigation.indexes"],
}
FLAT_HOST = "https://tiny.example/"


@pytest.fixture(scope="session")
def instant(base: Path) -> Iterator[str]:
    """A study with a command, of which a level looks like one."""
    project = site_builds.make_project(
        base / "instant",
        site_builds.shared_cache(base),
        theme=INSTANT,
        site_url=f"{site_builds.SITE_HOST}/",
    )
    reproduce = {"script": "docs/run.py", "args": ARGS}
    study = site_builds.TINY_STUDY + f"reproduce: {json.dumps(reproduce)}\n"
    project.write(
        "data/tiny/study.yml", study.replace("{id: large,", f"{{id: {json.dumps(LEVEL)},")
    )
    project.write("data/tiny/cells.csv", site_builds.TINY_CELLS.replace("large", f"{LEVEL}"))
    with site_builds.serving(project.built("--strict").site) as address:
        yield address


@pytest.fixture(scope="session")
def flat(base: Path) -> Path:
    """A site whose addresses are files."""
    theme = INSTANT | {
        "palette": [
            {"scheme": "default", "toggle": {"icon": "material/weather-night", "name": "Dark"}},
            {"scheme": "slate", "toggle": {"icon": "material/weather-sunny", "name": "Light"}},
        ],
    }
    cache = site_builds.shared_cache(base)
    project = site_builds.make_project(
        base / "flat", cache, use_directory_urls=False, site_url=FLAT_HOST, theme=theme
    )
    site_builds.add_tiny_study(project)
    return project.built("--strict").site
