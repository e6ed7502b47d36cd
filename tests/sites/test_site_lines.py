"""The four lines below each answer, and headlines that are each page's own."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from site_builds import Build

NEVER = re.compile(r"can't be tested$|on average;|\d+ of \d+ pairs")


@pytest.fixture(scope="module")
def pages(atlas: Build) -> dict[str, str]:
    """By path, the headline of each page of a study."""
    found = {}
    for path in sorted((atlas.site / "studies").glob("*/**/index.html")):
        address = path.parent.relative_to(atlas.site).as_posix() + "/"
        heading = atlas.page(address).select_one("article h1")
        if heading:
            found[address] = " ".join(heading.get_text().replace("¶", "").split())
    return found


def test_headlines_of_a_study_are_all_different(pages: dict[str, str]) -> None:
    assert len(pages) > 40
    by_study: dict[str, list[str]] = {}
    for path, heading in pages.items():
        by_study.setdefault(path.split("/")[1], []).append(heading)
        assert not NEVER.search(heading), path
    for study, headings in by_study.items():
        twice = [heading for heading, count in Counter(headings).items() if count > 1]
        assert not twice, study


def test_lines_are_short_and_say_how_sure(atlas: Build, pages: dict[str, str]) -> None:
    for path in pages:
        page = atlas.page(path)
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
        assert terms <= {f"#{element['id']}" for element in page.select("[id]")}, path
