"""A renamed study: what stands at its old addresses."""

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin

import pytest
import site_builds
from bs4 import Tag
from site_builds import SITE_URL, Build, Project

FORMER = "former: [first-name, second.name]\n"


@pytest.fixture(scope="module")
def renamed(base: Path) -> Build:
    """A study with two former names."""
    project = site_builds.make_project(
        base / "renamed",
        site_builds.shared_cache(base),
        {"csp": True},
        site_url=SITE_URL,
    )
    site_builds.add_reproduced_study(project, "tiny")
    study = (project.folder / "data/tiny/study.yml").read_text("utf-8")
    project.write("data/tiny/study.yml", study + FORMER)
    return project.built("--strict")


def _paths(build: Build, below: str) -> set[str]:
    return {path.removeprefix(below) for path in build.files() if path.startswith(below)}


@pytest.mark.parametrize("name", ["first-name", "second.name"])
def test_pages_and_frames_alone_are_at_old_addresses(renamed: Build, name: str) -> None:
    for folder in ("studies", "grids"):
        here = _paths(renamed, f"{folder}/tiny/")
        pages = {path for path in here if path.endswith(".html")}
        assert _paths(renamed, f"{folder}/{name}/") == pages != here


@pytest.mark.parametrize("name", ["first-name", "second.name"])
def test_old_pages_lead_to_the_new_ones_without_a_script(renamed: Build, name: str) -> None:
    pages = [path for path in renamed.files() if path.endswith(".html") and f"/{name}/" in path]
    assert len(pages) == 6 + 2  # the study, its facet, two levels, two more pages; two frames
    for path in pages:
        page = renamed.page(path)
        refresh = page.select_one('meta[http-equiv="refresh"]')
        assert isinstance(refresh, Tag)
        seconds, _, target = str(refresh["content"]).partition("; url=")
        assert seconds == "0"
        [link] = page.select("a[href]")
        assert link["href"] == target
        expected = path.replace(f"/{name}/", "/tiny/")
        at = urljoin(f"{SITE_URL}{path}", target).removeprefix(SITE_URL)
        assert at in (expected, expected.removesuffix("index.html"))
        # Pages for frames are named by the page that shows the grid.
        [canonical] = page.select("link[rel=canonical]")
        assert str(canonical["href"]).removeprefix(SITE_URL) == at
        assert page.select('meta[http-equiv="Content-Security-Policy"]')
        assert page.title is not None
        assert page.title.get_text() == f"Moved: {link.get_text()}"


def test_old_pages_are_in_no_sitemap_search_and_navigation(renamed: Build) -> None:
    for path in ("sitemap.xml", "search/search_index.json", "index.html", "studies/index.html"):
        assert b"first-name" not in renamed.files()[path]


def test_what_is_at_an_address_stays_and_links_have_the_site_s_style(
    tiny: Callable[..., Project],
) -> None:
    project = tiny(use_directory_urls=False)
    project.write("data/tiny/study.yml", site_builds.TINY_STUDY + "former: [old]\n")
    project.write("docs/studies/old/index.md", "# Mine\n")
    build = project.built("--strict")
    assert "Mine" in build.page("studies/old/").get_text()
    moved = build.page("studies/old/model/")
    assert [link["href"] for link in moved.select("a")] == ["../../tiny/model/index.html"]
    assert moved.select("link[rel=canonical]") == []  # the site doesn't know its address


def test_a_claim_that_names_a_study_by_its_old_name_says_the_new_one(
    tiny: Callable[..., Project],
) -> None:
    project = tiny()
    claim = {"text": "So it is.", "check": 'grid(study="old", model="small").best.value > 1'}
    project.write(
        "data/tiny/study.yml",
        site_builds.TINY_STUDY + "former: [old]\n" + f"claims: {json.dumps([claim])}\n",
    )
    project.write("docs/index.md", '# Home\n\n{{ grid(study="old", model="small").best.value }}\n')
    build = project.build()
    assert build.log.count('the study "old" was renamed; did you mean tiny?') == 2


@pytest.fixture(scope="module")
def level_renamed(base: Path) -> Build:
    """A study with a former name, of which a level of a facet and one of an axis have one, too."""
    project = site_builds.make_project(
        base / "level-renamed", site_builds.shared_cache(base), {"csp": True}, site_url=SITE_URL
    )
    site_builds.add_tiny_study(project, "tiny")
    study = (project.folder / "data/tiny/study.yml").read_text("utf-8")
    edited = study.replace("label: Small}", "label: Small, former: [little]}")
    assert edited != study
    edited = edited.replace(
        "label: Learning rate", "label: Learning rate, levels: [{id: 0.1, former: [0.15]}, 0.2]"
    )
    project.write("data/tiny/study.yml", edited + "former: [old]\n")
    return project.built("--strict")


@pytest.mark.parametrize("study", ["tiny", "old"])
def test_a_renamed_level_keeps_its_addresses(level_renamed: Build, study: str) -> None:
    page = level_renamed.page(f"studies/{study}/model/little/")
    [link] = page.select("a[href]")
    to = urljoin(f"{SITE_URL}studies/{study}/model/little/", str(link["href"]))
    assert to == f"{SITE_URL}studies/tiny/model/small/"
    # The script takes a cell's permalink along, by its new names.
    [script] = page.select("script[data-former]")
    assert script["data-former"] == "little=small 0.15=0.1"
    files = level_renamed.files()
    assert "Moved" in str(level_renamed.page(f"grids/{study}/little.html").title)
    assert [path for path in files if "/little" in path and not path.endswith(".html")] == []
    assert not any("/little" in path for path in files if "large" in path)
