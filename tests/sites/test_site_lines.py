"""The four lines below each answer, and headlines that are each page's own."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from bs4 import BeautifulSoup
from site_builds import Build, text_of

NEVER = re.compile(r"can't be tested$|on average;|\d+ of \d+ pairs")


@pytest.fixture(scope="module")
def pages(atlas: Build) -> dict[str, BeautifulSoup]:
    """By path, each page of a study that has a headline, without drawings."""
    paths = sorted((atlas.site / "studies").glob("*/**/index.html"))
    addresses = [path.parent.relative_to(atlas.site).as_posix() + "/" for path in paths]
    found = {address: atlas.words(address) for address in addresses}
    return {address: page for address, page in found.items() if page.select_one("article h1")}


def test_headlines_of_a_study_are_all_different(pages: dict[str, BeautifulSoup]) -> None:
    assert len(pages) > 40
    by_study: dict[str, list[str]] = {}
    for path, page in pages.items():
        heading = text_of(page.select_one("article h1"))
        by_study.setdefault(path.split("/")[1], []).append(heading)
        assert not NEVER.search(heading), path
    for study, headings in by_study.items():
        twice = [heading for heading, count in Counter(headings).items() if count > 1]
        assert not twice, study


def test_lines_are_short_and_say_how_sure(pages: dict[str, BeautifulSoup]) -> None:
    for path, page in pages.items():
        lines = {
            line.select_one("dt").get_text(): line.select_one("dd").get_text(" ").split()  # type: ignore[union-attr]
            for line in page.select(".ga-lines > div")
        }
        if not page.select(".ga-lines"):
            assert path.endswith(("checks/", "reproduction/")), path
            continue
        assert "How sure" in lines, path
        assert len(page.select(".ga-trust dt")) == 4
        for name, words in lines.items():
            assert len(words) <= 45, (path, name)
        terms = {str(link["href"]) for link in page.select("a.ga-term")}
        assert terms <= {f"#{element['id']}" for element in page.find_all(id=True)}, path
