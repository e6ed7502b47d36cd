"""Strings from data are text wherever they land, whatever they try to be."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup, Tag
from hostile import STRINGS, TWINS, Texts, hostile
from site_builds import (
    TINY_CELLS,
    TINY_STUDY,
    Build,
    Project,
    article,
    data_table,
    drawn_cells,
    figures,
    grid_of,
    text_of,
)

from gridatlas.model.study import inline

ATTACKS = [study for study in STRINGS if study not in TWINS.values()]

every_attack = pytest.mark.parametrize("study", ATTACKS)


@pytest.fixture(scope="module")
def site(base: Path) -> Build:
    return hostile(base)


def level_addresses(site: Build, study: str) -> list[str]:
    """The addresses of the pages of the levels, in their order."""
    links = article(site.page(f"studies/{study}/facet/")).select('a[href$="/"]')
    inner = [str(link["href"]) for link in links if not str(link["href"]).startswith(".")]
    addresses = list(dict.fromkeys(inner))
    assert len(addresses) == len(Texts(study).levels)
    return [f"studies/{study}/facet/{address}" for address in addresses]


def pages(site: Build, study: str) -> list[str]:
    home = f"studies/{study}/"
    return [home, f"{home}facet/", f"{home}checks/", *level_addresses(site, study)]


def plain(text: str) -> str:
    return " ".join(text.split())


@every_attack
def test_each_string_is_shown_as_it_is(site: Build, study: str) -> None:
    texts = Texts(study)
    page = article(site.page(f"studies/{study}/"))
    page_text = text_of(page)
    assert [text for text in texts.everywhere() if plain(text) not in page_text] == []
    assert text_of(page.select_one(".ga-crumbs [aria-current]")) == plain(texts["title"])
    checks = text_of(article(site.page(f"studies/{study}/checks/")))
    assert [text for text in texts.on_checks_page() if plain(text) not in checks] == []
    overview = article(site.page("studies/"))
    assert plain(texts["title"]) in [text_of(element) for element in overview.select("h2 + p > b")]


def _heading(page: Tag) -> str:
    return text_of(page.select_one("h1")).rstrip("¶")


@every_attack
def test_headings_and_tables_say_it_too(site: Build, study: str) -> None:
    texts = Texts(study)
    answers = json.loads((site.site / f"grids/{study}/answers.json").read_text("utf-8"))
    sentences = {answer["page"]: plain(answer["sentence"]) for answer in answers}
    of_study, of_facet = f"studies/{study}/", f"studies/{study}/facet/"
    assert _heading(article(site.page(of_study))) == sentences[of_study]
    alone = plain(f"By {inline(texts['facet'])}: no level shows a difference by itself")
    assert _heading(article(site.page(of_facet))) in (sentences[of_facet], alone)
    for address, level in zip(level_addresses(site, study), texts.levels, strict=True):
        page = article(site.page(address))
        assert _heading(page) == sentences[address]
        figure = figures(site.page(address))[0]
        columns, rows = data_table(figure)
        assert columns == [plain(texts["x one"]), plain(texts["x two"])]
        assert list(rows) == [plain(texts["y two"]), plain(texts["y one"])]
        table = page.select('[aria-label^="Data table of "]')[0]
        corner = text_of(table.select_one("th"))
        assert corner == plain(f"{texts['y']} ({texts['y unit']}) \\ {texts['x']} (ms)")
        noted = [str(cell.get("title", "")) for cell in table.select("td")]
        assert [text for text in noted if text] == ([texts["note"]] if level == "facet one" else [])


@every_attack
def test_drawings_say_it_too(site: Build, study: str) -> None:
    texts = Texts(study)
    figure = figures(site.page(level_addresses(site, study)[0]))[0]
    assert plain(str(figure.select("svg")[0]["aria-label"])).startswith(
        plain(f"{texts['facet one']}: {texts['metric']} from 1 to 4 {texts['unit']} over")
    )
    labels = [plain(str(cell["aria-label"])) for cell in drawn_cells(figure)]
    where = f"{texts['x']} {texts['x one']}, {texts['y']} {texts['y one']}"
    assert plain(f"{where}: 1 {texts['unit']}") in labels
    assert len(labels) == 4


@every_attack
def test_titles_and_navigation_say_it_too(site: Build, study: str) -> None:
    texts = Texts(study)
    page = site.page(f"studies/{study}/")
    answer = _heading(article(page))
    assert text_of(page.select_one("title")) == plain(f"{answer} – {texts['title']} - Tiny")
    description = page.select_one('meta[name="description"]')
    assert description is not None
    assert plain(str(description["content"])).startswith(f"{answer}.")
    titles = [text_of(element) for element in page.select("nav.md-nav--primary .md-ellipsis")]
    for field in ("title", "facet", *texts.levels):
        assert plain(texts[field]) in titles
    # The page after next in the footer is the facet's.
    following = page.select_one(".md-footer__link--next .md-footer__title .md-ellipsis")
    assert text_of(following) == plain(texts["facet"])


# --- and nothing else came of it ----------------------------------------------------------------


def outline(page: BeautifulSoup) -> list[tuple[str, list[str]]]:
    """The elements of a page's head and text with the names of their attributes, in order.

    Not those within drawings, whose labels Vega cuts and turns by their length, nor how wide these
    make a drawing; nor the links to the page before and after, which the first and the last page
    lack.
    """
    found = []
    for part in (page.head, article(page)):
        assert part is not None
        found += [
            (element.name, sorted(name for name in element.attrs if not _is_width(element, name)))
            for element in part.find_all(True)
            if not element.find_parent("svg") and element.get("rel") not in (["prev"], ["next"])
        ]
    return found


@every_attack
def test_a_page_has_the_same_elements_as_with_plain_words(site: Build, study: str) -> None:
    for attacked, twin in zip(pages(site, study), pages(site, TWINS[study]), strict=True):
        assert outline(site.page(attacked)) == outline(site.page(twin)), attacked


def _is_width(element: Tag, name: str) -> bool:
    """Whether an attribute is a title, or says only how wide a drawing is."""
    width = re.fullmatch(r"--ga-width: \d+px", str(element[name]))
    return name == "title" or (element.name == "figure" and name == "style" and bool(width))


@every_attack
def test_no_element_or_attribute_runs_anything(site: Build, study: str) -> None:
    for attacked, twin in zip(pages(site, study), pages(site, TWINS[study]), strict=True):
        assert _running(site.page(attacked)) == _running(site.page(twin)), attacked
    assert not _names(site.page("studies/"), "on")


def _running(page: BeautifulSoup) -> tuple[Counter[str], list[str], list[str]]:
    kinds = ("script", "img", "iframe", "object", "embed", "form", "style", "base", "meta")
    elements = Counter(element.name for element in page.find_all(kinds))
    addresses = [
        str(element[name])
        for element in page.find_all(True)
        for name in ("href", "src", "action", "xlink:href")
        if re.match(r"\s*(javascript|data|vbscript):", str(element.get(name, "")), re.IGNORECASE)
    ]
    return elements, _names(page, "on"), addresses


def _names(page: BeautifulSoup, begin: str) -> list[str]:
    return [
        f"{element.name} {name}"
        for element in page.find_all(True)
        for name in element.attrs
        if name.lower().startswith(begin)
    ]


def test_a_level_called_like_a_heading_keeps_its_address(tiny: Callable[..., Project]) -> None:
    """Permalinks are the levels' names, and headings have ids of their own."""
    project = tiny()
    for name, text in (("study.yml", TINY_STUDY), ("cells.csv", TINY_CELLS)):
        renamed = text.replace("id: small", "id: source").replace("small,", "source,")
        project.write(f"data/tiny/{name}", renamed)
    page = project.built("--strict").page("studies/tiny/model/source/")
    ids = [str(element["id"]) for element in page.select("[id]")]
    assert sorted({id_ for id_ in ids if ids.count(id_) > 1}) == []
    assert grid_of(figures(page)[0]) == "source"
    cells = [str(cell["id"]) for cell in drawn_cells(figures(page)[0])]
    assert cells == [f"source/{x},{y}" for y in (16, 8) for x in (0.1, 0.2)]


def test_no_drawing_has_other_elements_than_with_plain_words(site: Build) -> None:
    allowed = _svg_elements(site, "benign") | _svg_elements(site, "two-benign")
    assert "path" in allowed
    for study in ATTACKS:
        assert _svg_elements(site, study) <= allowed


def _svg_elements(site: Build, study: str) -> set[str]:
    return {
        element.name
        for address in pages(site, study)
        for svg in site.page(address).select("article svg")
        for element in svg.find_all(True)
    }


@every_attack
def test_addresses_lead_where_they_say(site: Build, study: str) -> None:
    links = [str(link["href"]) for link in article(site.page(f"studies/{study}/")).select("a")]
    outward = [link for link in links if ":" in link]
    assert {unquote(link) for link in outward} == {f"https://x.example/{Texts(study)['url']}"}
    assert not set("".join(outward)) & set('<>" \\`')


@every_attack
def test_the_search_index_holds_text(site: Build, study: str) -> None:
    """The theme puts it into the page as HTML."""
    index = json.loads((site.site / "search/search_index.json").read_text(encoding="utf-8"))
    texts = Texts(study)
    entries = [
        entry for entry in index["docs"] if entry["location"].startswith(f"studies/{study}/")
    ]
    assert len(entries) >= 4
    titles = [BeautifulSoup(entry["title"], "html.parser") for entry in entries]
    assert any(plain(title.get_text()).endswith(f" – {plain(texts['title'])}") for title in titles)
    assert [element for title in titles for element in title.find_all(True)] == []
    bodies = [BeautifulSoup(entry["text"], "html.parser") for entry in entries]
    assert plain(texts["summary"]) in plain(" ".join(body.get_text() for body in bodies))
    used = {element.name for body in bodies for element in body.find_all(True)}
    benign = {
        element.name
        for entry in index["docs"]
        if entry["location"].startswith(f"studies/{TWINS[study]}/")
        for element in BeautifulSoup(entry["text"], "html.parser").find_all(True)
    }
    assert used <= benign
    assert [name for body in bodies for name in _names(body, "")] == []


@every_attack
def test_downloads_hold_it_unchanged(site: Build, study: str) -> None:
    texts = Texts(study)
    folder = site.site / "grids" / study
    names = sorted({file.name for file in folder.iterdir()} - {"answers.json"})
    assert len(names) == 8 * len(texts.levels)
    grid = [name.removesuffix(".csv") for name in names if name.endswith(".csv")][-1]

    def read(ending: str) -> str:
        return (folder / f"{grid}.{ending}").read_text(encoding="utf-8")

    content: dict[str, Any] = json.loads(read("json"))
    assert content["title"] == texts["title"]
    assert content["metric"]["name"] == texts["metric"]
    assert content["x"]["label"] == texts["x"]
    assert {cell["y"] for cell in content["cells"]} == {texts["y one"], texts["y two"]}
    rows = list(csv.DictReader(io.StringIO(read("csv"))))
    assert {row[texts["x id"]] for row in rows} == {texts["x one"], texts["x two"]}
    spec = json.loads(read("vl.json"))
    assert {row["x"] for row in spec["data"]["values"]} == {texts["x one"], texts["x two"]}
    tree = ElementTree.fromstring(read("svg"))
    elements = {element.tag.rpartition("}")[2] for element in tree.iter()}
    assert not elements & {"script", "image", "foreignObject", "a"}
    assert tree.attrib["aria-label"].startswith(texts[texts.levels[-1]])
