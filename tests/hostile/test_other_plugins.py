"""Beside plugins that render templates, whatever data says is shown as it is, and nothing runs."""

import gzip
import json
import re
import shlex
from pathlib import Path

import pytest
import site_builds
from bs4 import BeautifulSoup, Tag
from naughty import plain
from other_plugins import (
    BROKEN,
    BUILDS,
    RESULT,
    STUDIES,
    TEMPLATES,
    WRITTEN,
    gridatlas,
    written_mkdocs,
)
from site_builds import (
    Build,
    Project,
    article,
    data_table,
    drawn_cells,
    figures,
    parse,
    text_of,
)

from gridatlas.model.study import inline

every_build = pytest.mark.parametrize("build", BUILDS, indirect=True)
every_written = pytest.mark.parametrize("build", WRITTEN, indirect=True)
every_study = pytest.mark.parametrize("study", STUDIES)


@pytest.fixture
def build(base: Path, request: pytest.FixtureRequest) -> Build:
    return (BUILDS | WRITTEN)[request.param](base)


def _heading(page: BeautifulSoup) -> str:
    return text_of(page.select_one("article h1")).removesuffix("¶").strip()


def _answer(build: Build, study: str, page: str = "") -> str:
    """What a page of a study leads with."""
    answers = json.loads((build.site / f"grids/{study}/answers.json").read_text("utf-8"))
    sentences = {answer["page"]: answer["sentence"] for answer in answers}
    return plain(sentences[f"studies/{study}/{page}"])


def _missing(texts: list[str], page: Tag) -> list[str]:
    page_text = text_of(page)
    return [text for text in texts if plain(text) not in page_text]


@pytest.mark.parametrize("build", BUILDS | WRITTEN, indirect=True)
def test_nothing_is_evaluated_in_any_file(build: Build) -> None:
    """Dear: the build of a site with eight plugins, in two languages, counts here."""
    found = []
    for path, content in build.files().items():
        text = gzip.decompress(content) if path.endswith(".gz") else content
        if RESULT.encode() in text and path != "secret.txt":
            found.append(path)
        assert b"Macro Rendering Error" not in text, path
    assert found == []
    assert "Error" not in build.log
    # In an attribute such a text may stand as it is: only what has one is parsed.
    suspects = [path for path in build.site.rglob("*.html") if b">alert" in path.read_bytes()]
    scripts = [script.get_text() for path in suspects for script in parse(path).select("script")]
    assert [script for script in scripts if script.startswith("alert")] == []


@every_build
@every_study
def test_pages_show_each_string_as_it_is(build: Build, study: str) -> None:
    texts = STUDIES[study]
    home = f"studies/{study}/"
    assert _missing(texts.everywhere(), article(build.page(home))) == []
    assert _missing(texts.on_checks_page(), article(build.page(f"{home}checks/"))) == []
    reproduction = article(build.page(f"{home}reproduction/"))
    expected = [*texts.on_reproduction_page(), shlex.quote(texts["argument"])]
    assert _missing(expected, reproduction) == []
    assert _missing([texts["title"]], article(build.page("studies/"))) == []
    changed = [texts[field] for field in ("title", "facet one", "x two", "y two")]
    assert _missing(changed, article(build.page("studies/changes/"))) == []


@every_build
@every_study
def test_headings_tables_and_drawings_show_it(build: Build, study: str) -> None:
    texts = STUDIES[study]
    page = build.page(f"studies/{study}/facet/two/")
    for path in ("", "facet/two/"):
        heading = _heading(build.page(f"studies/{study}/{path}"))
        assert heading == _answer(build, study, path)
    levels = plain(f"By {inline(texts['facet'])}: no level shows a difference by itself")
    assert _heading(build.page(f"studies/{study}/facet/")) == levels
    assert _heading(page).startswith(plain(f"{texts['facet two']}: "))
    for figure in (figures(page)[0], figures(build.page(f"fence-{study}/"))[0]):
        columns, rows = data_table(figure)
        assert columns == [plain(texts["x one"]), plain(texts["x two"])]
        assert list(rows) == [plain(texts["y two"]), plain(texts["y one"])]
        label = plain(str(figure.select("svg")[0]["aria-label"]))
        assert label.startswith(plain(f"{texts['facet two']}: {texts['metric']} from"))
        labels = [plain(str(cell["aria-label"])) for cell in drawn_cells(figure)]
        where = f"{texts['x']} {texts['x two']}, {texts['y']} {texts['y two']}"
        assert len([line for line in labels if line.startswith(plain(where))]) == 1
        notes = [plain(str(cell["title"])) for cell in figure.select("td[title]")]
        assert notes == []
    noted = [text_of(line) for line in build.page(f"studies/{study}/facet/").select(".ga-table p")]
    note = plain(f"1 cell: {texts['note']}")
    assert len([line for line in noted if note in line]) == 1


@every_build
@every_study
def test_titles_and_navigation_show_it(build: Build, study: str) -> None:
    texts = STUDIES[study]
    for path, crumb in (("", "title"), ("facet/two/", "facet")):
        page = build.page(f"studies/{study}/{path}")
        answer = _answer(build, study, path)
        title = plain(f"{answer} – {texts['title']}")
        assert text_of(page.select_one("title")).startswith(title)
        # What links to the page show of it.
        shown = page.select_one('meta[property="og:title"]')
        assert shown is not None
        assert plain(str(shown["content"])).startswith(title)
        for name in ("description", "og:description"):
            found = page.select_one(f'meta[name="{name}"], meta[property="{name}"]')
            assert found is not None
            described = plain(str(found["content"]))
            assert described.startswith(answer) or answer.startswith(described.removesuffix("…"))
        titles = [text_of(element) for element in page.select(".md-nav--primary .md-ellipsis")]
        assert [plain(texts[field]) for field in ("title", "facet", "facet one", "facet two")
                if plain(texts[field]) not in titles] == []  # fmt: skip
        crumbs = [text_of(element) for element in page.select(".md-path .md-ellipsis")]
        assert plain(texts[crumb]) in crumbs or path == ""


@every_build
@every_study
def test_the_search_index_has_the_text(build: Build, study: str) -> None:
    texts = STUDIES[study]
    content = (build.site / "search/search_index.json").read_text("utf-8")
    assert "&#123;" not in content
    entries = [
        load
        for load in json.loads(content)["docs"]
        if load["location"].startswith(f"studies/{study}/")
    ]
    read = [BeautifulSoup(entry["title"] + " " + entry["text"], "html.parser") for entry in entries]
    text = plain(" ".join(element.get_text() for element in read))
    for field in ("title", "summary", "facet two", "source", "reading"):
        assert plain(texts[field]) in text, field


@every_build
@every_study
def test_frames_and_old_addresses_show_it(build: Build, study: str) -> None:
    texts = STUDIES[study]
    frame = parse(build.site / f"grids/{study}/two.html")
    title = plain(f"{texts['facet two']}: {texts['metric']} over")
    assert text_of(frame.select_one("h1")).startswith(title)
    assert text_of(frame.select_one("title")).startswith(title)
    moved = build.page(f"studies/former-{study}/")
    title = plain(f"{_answer(build, study)} – {texts['title']}")
    assert title in text_of(moved.select_one("body a"))
    assert text_of(moved.select_one("title")).startswith(f"Moved: {title}")


@pytest.mark.parametrize("build", [name for name in BUILDS if "lax" in name], indirect=True)
def test_a_problem_shows_what_was_found(build: Build) -> None:
    page = article(build.page("studies/broken/"))
    assert plain(f'"{TEMPLATES["expression"]}"') in text_of(page)
    assert plain(BROKEN["title"]) in text_of(build.page("studies/broken/").select_one("title"))


@every_build
def test_figures_are_there_whatever_a_minifier_did(build: Build) -> None:
    for study in STUDIES:
        assert len(figures(build.page(f"studies/{study}/"))) >= 1
        assert len(figures(build.page(f"fence-{study}/"))) == 1
    left = [path for path, content in build.files().items() if b"<div data-gridatlas" in content]
    assert left == []


@every_build
def test_the_other_plugins_do_their_work(build: Build) -> None:
    assert "What mkdocstrings shows." in text_of(article(build.page("code/")))
    assert 'content="0; url=../"' in (build.site / "gone/index.html").read_text("utf-8")
    if (build.site / "de").exists():
        alternate = build.page("").select_one('link[hreflang="de"]')
        assert alternate is not None
        assert alternate["href"] == "/project/sub/de/"
    else:
        posts = text_of(article(build.page("blog/")))
        assert "The best is 8." in posts
        assert "That is all." not in posts
    sitemap = (build.site / "sitemap.xml").read_text("utf-8")
    assert "<loc>https://atlas.example/project/sub/studies/starts/</loc>" in sitemap


# --- pages that `gridatlas build` wrote, on hosts with macros -----------------------------------


@every_written
@every_study
def test_written_pages_show_each_string_as_it_is(build: Build, study: str) -> None:
    texts = STUDIES[study]
    home = f"studies/{study}/"
    page = build.page(home)
    assert _missing(texts.everywhere(), article(page)) == []
    assert _missing(texts.on_checks_page(), article(build.page(f"{home}checks/"))) == []
    reproduction = article(build.page(f"{home}reproduction/"))
    assert _missing(texts.on_reproduction_page(), reproduction) == []
    assert _heading(page) == _answer(build, study)
    title = plain(f"{_answer(build, study)} – {texts['title']} - Tiny")
    assert text_of(page.select_one("title")) == title
    titles = [text_of(element) for element in page.select(".md-nav--primary .md-ellipsis")]
    assert [plain(texts[field]) for field in ("title", "facet", "facet one", "facet two")
            if plain(texts[field]) not in titles] == []  # fmt: skip
    columns, rows = data_table(figures(build.page(f"{home}facet/two/"))[0])
    assert columns == [plain(texts["x one"]), plain(texts["x two"])]
    assert list(rows) == [plain(texts["y two"]), plain(texts["y one"])]


def test_no_written_page_has_a_template(base: Path, tmp_path: Path) -> None:
    """Whatever renders it: macros is not the only one."""
    project = Project(written_mkdocs(base).site.parent)
    cache = site_builds.shared_cache(base) / "gridatlas"
    gridatlas(project, "--into", str(tmp_path), "--cache", str(cache))
    pages = [*tmp_path.rglob("*.md"), *tmp_path.rglob("*.yml")]
    assert len(pages) >= 25
    for path in pages:
        assert re.findall(r"\{[{%#].{20}", path.read_text("utf-8")) == [], path
    # What people copy into pages of their own.
    copied = {
        text_of(element.find_previous_sibling("p")).split()[0]: element.get_text()
        for element in parse(tmp_path / "studies/expression/facet/two/index.md").select(
            ".ga-share pre"
        )
    }
    assert set(copied) == {"BibTeX", "Markdown", "HTML"}
    pasted = [copied["Markdown"], copied["HTML"]]
    assert [re.findall(r"\{[{%#]", text) for text in pasted] == [[], []]
