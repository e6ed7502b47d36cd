"""Old addresses of a renamed study, in a browser: with scripts and without."""

from collections.abc import Iterator

import pytest
import site_builds
from playwright.sync_api import Browser
from site_builds import PREFIX, SITE_URL

OLD = "studies/old/model/small/#small/0.2,16"
NEW = "studies/tiny/model/small/"


@pytest.fixture(scope="module")
def renamed(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    assert browser.is_connected()
    base = tmp_path_factory.getbasetemp()
    cache = site_builds.shared_cache(base)
    project = site_builds.make_project(base / "former", cache, {"csp": True}, site_url=SITE_URL)
    site_builds.add_tiny_study(project)
    project.write("data/tiny/study.yml", site_builds.TINY_STUDY + "former: [old]\n")
    with site_builds.serving(project.built("--strict").site, PREFIX) as address:
        yield address


@pytest.mark.parametrize(
    ("scripts", "part"), [(True, "#small/0.2,16"), (False, "")], ids=["scripts", "none"]
)
def test_an_old_address_leads_to_the_new_page(
    browser: Browser, renamed: str, scripts: bool, part: str
) -> None:
    context = browser.new_context(java_script_enabled=scripts)
    page = context.new_page()
    stopped: list[str] = []
    page.on("console", lambda message: stopped.append(message.text))
    page.goto(renamed + OLD)
    page.wait_for_url(renamed + NEW + part)
    assert page.locator("h1").first.inner_text().startswith("Small")
    assert [line for line in stopped if "Content Security" in line] == []
    context.close()
