"""Pages that few sites have, in one of its own: Changes, Reproduction, and former addresses."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import site_builds
import test_site_changes
from playwright.sync_api import Browser, Page

from axe import violations
from small_sites import under_policy
from views import PHONE, WIDE, step, until

CHANGES = "studies/changes/"
CARD = "() => !!document.querySelector('.ga-card:not([hidden])')"


@pytest.fixture(scope="module")
def seldom(browser: Browser, base: Path) -> Iterator[str]:
    """A site with a study that changed, one that was run in part, and one with a former name."""
    assert browser.is_connected()
    project = site_builds.make_project(
        base / "seldom",
        site_builds.shared_cache(base),
        {"compare_to": "before", "csp": True},
        site_url=site_builds.SITE_URL,
    )
    test_site_changes.add_changed_study(project)
    site_builds.add_reproduced_study(project)
    project.write("data/same/study.yml", site_builds.TINY_STUDY + "former: [old]\n")
    for same in ("again", "same"):
        shutil.copytree(
            project.folder / "data" / same, project.folder / "before" / same, dirs_exist_ok=True
        )
    with under_policy(project.built().site) as address:
        yield address


def test_what_changed_is_read_by_keyboard_on_a_phone_and_in_the_dark(
    page: Page, seldom: str
) -> None:
    page.goto(f"{seldom}studies/tiny/model/small/")
    page.get_by_role("link", name="Changed since before").press("Enter")
    page.wait_for_url(seldom + CHANGES)
    assert page.locator("h1").inner_text().startswith(f"❌ {test_site_changes.WORST}")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for width, figures in ((WIDE["width"], 3), (PHONE["width"], 1)):
            with step(f"{scheme}, {width} pixels wide"):
                page.set_viewport_size({"width": width, "height": 800})
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                columns = page.locator("figure").evaluate_all(
                    "all => new Set(all.map((one) => Math.round(one.getBoundingClientRect().x)))"
                    ".size"
                )
                assert columns == figures
                tables = page.locator(".ga-changes .ga-scroll")
                assert tables.count() == 2
                tables.first.focus()
                name = page.evaluate("document.activeElement.getAttribute('aria-label')")
                assert name == "Changed values: Learning rate and batch size"
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(WIDE)
    assert violations(page)[0] == []
    figure = page.locator("figure").nth(1)
    figure.locator('path[aria-label^="Learning rate 0.1, Batch size 8: 31.5"]').click()
    until(page, CARD)
    assert "31.5" in page.locator(".ga-card").inner_text()


def test_a_reproduction_has_cards_with_verdicts_and_room_on_a_phone(
    page: Page, seldom: str
) -> None:
    page.goto(f"{seldom}studies/again/reproduction/")
    page.locator("figure").nth(2).locator('path[aria-label*="differs"]').click()
    until(page, CARD)
    text = page.locator(".ga-card").inner_text()
    for part in (
        "+17.5 points", "12.5, n = 10000", "30.0, n = 10000", "python docs/tune.py small 0.2 8",
        "Differs. 95 % interval of the difference: +16.4 to +18.6 (Newcombe's interval).",
    ):  # fmt: skip
        assert part in text
    page.keyboard.press("Escape")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    for width in (WIDE["width"], PHONE["width"]):
        with step(f"{width} pixels wide"):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            table = page.locator('[aria-label="Verdicts of Small"]')
            assert table.get_attribute("tabindex") == "0"
            heights = table.locator("tbody tr").evaluate_all(
                "all => all.map((one) => one.offsetHeight)"
            )
            assert len(heights) == 4
            assert max(heights) < 60  # a verdict is one line, however narrow the window


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "none"])
def test_an_old_address_leads_to_the_new_page(browser: Browser, seldom: str, scripts: bool) -> None:
    with browser.new_context(java_script_enabled=scripts) as context:
        page = context.new_page()
        stopped: list[str] = []
        page.on("console", lambda message: stopped.append(message.text))
        page.goto(f"{seldom}studies/old/model/small/#small/0.2,16")
        page.wait_for_url(f"{seldom}studies/same/model/small/{'#small/0.2,16' if scripts else ''}")
        assert page.locator("h1").first.inner_text().startswith("Small")
        assert [line for line in stopped if "Content Security" in line] == []
