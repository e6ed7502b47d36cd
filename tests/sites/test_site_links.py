"""Every link of two sites, followed over HTTP below a sub-path, with both styles of address."""

import json
from pathlib import Path
from urllib.parse import unquote, urljoin
from xml.etree import ElementTree

import pytest
import site_builds
from crawler import Crawl, crawl
from expected import is_former
from site_builds import DYNTS, GRPO, PREFIX, ROOT, SITE_URL, Build

THEME_LINKS = {"https://squidfunk.github.io/mkdocs-material/"}
"""The theme's own, in the footer of every page."""

PAGES = [
    "",
    "embedding/",
    "studies/",
    f"studies/{DYNTS}/",
    f"studies/{DYNTS}/model/",
    f"studies/{DYNTS}/model/r1-llama/",
    f"studies/{DYNTS}/model/r1-qwen/",
    f"studies/{DYNTS}/benchmark/",
    f"studies/{DYNTS}/benchmark/aime24/",
    f"studies/{DYNTS}/benchmark/aime25/",
    f"studies/{DYNTS}/benchmark/amc23/",
    f"studies/{DYNTS}/benchmark/gpqa_d/",
    f"studies/{DYNTS}/benchmark/average/",
    f"studies/{DYNTS}/checks/",
    f"studies/{GRPO}/",
    f"studies/{GRPO}/setting/",
    f"studies/{GRPO}/setting/before/",
    f"studies/{GRPO}/setting/after_t125/",
    f"studies/{GRPO}/setting/after_t100/",
    f"studies/{GRPO}/checks/",
]
"""Addresses that others link to: they don't change."""
MISSING = {"no-such-page", "no/such/page/at/all/", "a/studies/no-such-study/"}
"""Addresses of nothing, at several depths."""
NO_PAGE = {"404.html", *MISSING}


@pytest.fixture(scope="module", params=["folders", "files"])
def build(request: pytest.FixtureRequest, base: Path, atlas: Build) -> Build:
    """The site with addresses that end in `/`, and a small one with addresses in `.html`."""
    if request.param == "folders":
        return atlas
    cache = site_builds.shared_cache(base)
    addresses = {"site_url": SITE_URL, "use_directory_urls": False}
    project = site_builds.make_project(base / "files", cache, {"csp": True}, **addresses)
    site_builds.add_golden_studies(project)
    project.write("docs/fence.md", "# Fence\n\n```grid\nmethods/method/mean\n```\n")
    return project.built("--strict")


only_atlas = pytest.mark.parametrize("build", ["folders"], indirect=True)


@pytest.fixture(scope="module")
def found(build: Build) -> Crawl:
    with site_builds.serving(build.site, PREFIX) as home:
        return crawl(home, "404.html", missing=MISSING)


def test_every_link_and_anchor_leads_somewhere(found: Crawl) -> None:
    assert found.broken == []


def test_the_page_for_what_is_missing_has_styles_and_links_at_any_depth(found: Crawl) -> None:
    shown = found.loads[found.home + "404.html"]
    assert any(url.endswith(".css") for url in shown)
    for path in MISSING:
        assert found.loads[found.home + path] == shown


def test_nothing_is_loaded_from_another_host(found: Crawl) -> None:
    assert found.foreign == []


@only_atlas
def test_links_to_other_hosts_are_those_of_data_and_docs(found: Crawl) -> None:
    sources = [*(ROOT / "data").rglob("*.yml"), *(ROOT / "docs").rglob("*.*"), ROOT / "mkdocs.yml"]
    written = "\n".join(
        file.read_text(encoding="utf-8")
        for file in sources
        if file.suffix in (".yml", ".md", ".py", ".ipynb")
    )
    strange = [url for url in found.outward - THEME_LINKS if unquote(url) not in unquote(written)]
    assert strange == []
    assert "https://arxiv.org/abs/2601.18383" in found.outward


def test_every_file_of_the_site_is_linked(found: Crawl, build: Build) -> None:
    """Pages and downloads alike; what the theme or docs/ brings along is their affair."""
    linked = {found.path(url) for url in [*found.pages, *found.files]} - MISSING
    linked |= {f"{path}index.html" for path in linked if path.endswith("/") or not path}
    files = {path for path in build.files() if not path.startswith(("assets/", "search/"))}
    files -= {file.relative_to(ROOT / "docs").as_posix() for file in (ROOT / "docs").rglob("*.*")}
    # For other people's pages: docs/embedding says their names, and tags those of cards.
    others = (".best.svg", ".reproduced.svg", "/card.png")
    files = {path for path in files if not path.endswith(others) and not is_former(path)}
    assert files - linked == {"sitemap.xml", "sitemap.xml.gz"}


@only_atlas
def test_addresses_of_pages_stay(found: Crawl) -> None:
    assert set(PAGES) <= found.addresses()


def test_study_pages_are_reached_from_the_overview_by_links_in_the_text(found: Crawl) -> None:
    """Not by the navigation, which a theme may fold away."""
    studies = {url for url in found.pages if found.path(url).startswith("studies/")}
    overview = [url for url in studies if found.path(url) in ("studies/", "studies/index.html")]
    assert len(overview) == 1
    reached, waiting = set(overview), list(overview)
    while waiting:
        for url in (found.article_links[waiting.pop()] & studies) - reached:
            reached.add(url)
            waiting.append(url)
    assert {found.path(url) for url in studies - reached} == set()


def test_ids_are_unique_on_each_page(found: Crawl) -> None:
    repeated = {
        found.path(url): sorted({id_ for id_ in ids if ids.count(id_) > 1})
        for url, ids in found.pages.items()
        if len(set(ids)) < len(ids)
    }
    assert repeated == {}


def test_each_page_names_its_own_address(found: Crawl, build: Build) -> None:
    canonical = {
        found.path(page).removesuffix("index.html"): to
        for page, what, to in found.named
        if what == "link canonical"
    }
    full = _full_addresses(found, build)
    assert {page: to for page, to in canonical.items() if page in full} == full
    # Those for frames name the page that has the grid among others.
    for_frames = canonical.keys() - full.keys()
    assert for_frames == {path for path in found.addresses() if path.startswith("grids/")}
    files = {file.relative_to(build.site).as_posix() for file in build.site.glob("grids/**/*.html")}
    assert {path for path in files if not is_former(path)} == for_frames
    assert len(for_frames) > 10
    home = urljoin(found.home, "/").rstrip("/")
    for page in for_frames:
        shown = canonical[page].replace(SITE_URL.removesuffix(PREFIX), home)
        grid = page.removeprefix("grids/").partition("/")[2].removesuffix(".html")
        assert f"grid/{grid}" in found.pages[shown]


def test_the_sitemap_has_every_page(found: Crawl, build: Build) -> None:
    tree = ElementTree.parse(build.site / "sitemap.xml")
    listed = [element.text or "" for element in tree.iter() if element.tag.endswith("}loc")]
    assert sorted(listed) == sorted(_full_addresses(found, build).values())


def _full_addresses(found: Crawl, build: Build) -> dict[str, str]:
    end = "index.html" if "files" in build.site.parts else ""
    return {
        page: SITE_URL + (f"{page}{end}" if page.endswith("/") or not page else page)
        for page in _site_pages(found)
    }


def _site_pages(found: Crawl) -> set[str]:
    """Not those for frames, which are files."""
    return {page for page in found.addresses() - NO_PAGE if not page.startswith("grids/")}


def test_what_the_search_finds_is_there(found: Crawl, build: Build) -> None:
    index = json.loads((build.site / "search/search_index.json").read_text(encoding="utf-8"))
    seen = set()
    for entry in index["docs"]:
        page, _, fragment = entry["location"].partition("#")
        url = urljoin(found.home, page)
        assert url in found.pages, entry["location"]
        assert not fragment or fragment in found.pages[url], entry["location"]
        seen.add(page.removesuffix("index.html"))
    assert seen == _site_pages(found)
