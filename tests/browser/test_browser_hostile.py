"""No string from data runs: on pages, in cards, in charts, and in the theme's search."""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import site_builds
from hostile import STRINGS, Texts, hostile
from playwright.sync_api import Page

from small_sites import POLICY
from views import search, step

IN_CARDS = ("script", "image", "end-of-title", "templates", "two-script")
IN_CHARTS = ("script", "image", "templates")
INLINE = re.compile(rb"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)


def policy(files: Iterable[Path]) -> dict[str, str]:
    """A policy that allows the inline scripts of these pages alone."""
    inline = {script for file in files for script in INLINE.findall(file.read_bytes())}
    hashes = {hashlib.sha256(script).digest() for script in inline}
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in sorted(hashes))
    text = (
        f"default-src 'self'; script-src 'self' {allowed}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:"
    )
    return {POLICY: text}


@pytest.fixture(scope="module")
def hostile_home(base: Path) -> Iterator[tuple[str, str]]:
    """Its address where search finds nothing, which is quicker, and where it does."""
    site = hostile(base).site
    # The theme's scripts are the same on pages as deep as these.
    harmless = [site / "studies/index.html", *site.glob("studies/benign/**/index.html")]
    headers = policy(harmless)
    with (
        site_builds.serving(site, headers=headers, found=False) as address,
        site_builds.serving(site, headers=headers) as searched,
    ):
        yield address, searched


def test_no_string_from_data_runs(page: Page, hostile_home: tuple[str, str]) -> None:
    """Dear: it opens the page of each."""
    address, searched = hostile_home
    for study in STRINGS:
        with step(study):
            page.goto(f"{address}studies/{study}/", wait_until="load")
            if study in IN_CARDS:
                page.locator(".ga-beside .ga-figure a").first.click()
                page.locator(".ga-live path[role=button]").first.click()
                is_text_in_a_card(page, study)
            if study in IN_CHARTS:
                page.keyboard.press("Escape")
                is_text_in_a_chart(page, study)
    page.goto(f"{searched}studies/two-script/", wait_until="load")
    results = search(page, "summary")
    assert "summary" in results.first.inner_text()
    titles = {title for title in results.locator("h1, h2").all_inner_texts() if "title" in title}
    assert len(titles) >= 8
    page.wait_for_load_state("networkidle")


def is_text_in_a_card(page: Page, study: str) -> None:
    card, texts = page.locator(".ga-card"), Texts(study)
    card.wait_for()
    assert STRINGS[study] in card.inner_text()
    assert texts["x one"] in re.sub(r"\s+", " ", card.inner_text())
    assert card.locator("script, img, b").count() == 0


def is_text_in_a_chart(page: Page, study: str) -> None:
    page.get_by_role("button", name="Explore").first.click()
    panel = page.locator("section.ga-explore")
    panel.locator(".ga-explore-chart svg").wait_for()
    panel.get_by_text("Means as numbers").click()
    cell = panel.locator('.ga-explore-chart [aria-roledescription="rect mark"]').first
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    hint = panel.locator(".ga-explore-hint")
    hint.wait_for()
    assert STRINGS[study] in hint.inner_text()
    assert STRINGS[study] in panel.locator("table").first.inner_text()
    assert panel.locator("img, script, iframe, b").count() == 0
