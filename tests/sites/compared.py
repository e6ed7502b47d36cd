"""What a page shows and says of itself, for comparing the sites of several hosts."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator
from copy import copy
from dataclasses import dataclass

from bs4 import BeautifulSoup, Tag
from site_builds import Build, article, drawn_cells, figure_name

OF_HOSTS = {"headerlink", "md-content__button", "md-source-file", "md-feedback"}
"""Classes of what hosts and their themes add to the text of a page, beside scripts and forms."""


@dataclass(frozen=True)
class Compared:
    """A page without what its host adds.

    Attributes:
        text: All of it: answers, sentences, values in tables.
        drawings: By the names of the figures, their pictures.
        values: What each table is of, and its rows.
        links: Where links within the site lead to.
        head: What it says of itself: title, description, cards, metadata.
    """

    text: str
    drawings: tuple[tuple[str, int, str], ...]
    values: tuple[tuple[str, ...], ...]
    links: tuple[str, ...]
    anchors: tuple[str, ...]
    head: tuple[str, ...]


def compared(build: Build, page: str, elsewhere: Collection[str] = ()) -> Compared:
    """A page of a site.

    Args:
        page: Its address, such as `studies/tiny/`.
        elsewhere: Begins of links that aren't compared.
    """
    soup = build.page(page)
    shown = copy(article(soup))
    # No selectors: they look at each element for each figure.
    for element in shown.find_all(_is_of_host):
        element.decompose()
    found = shown.find_all("figure", class_="ga-figure")
    return Compared(
        _text(shown),
        tuple((figure_name(figure), len(drawn_cells(figure)), str(figure.svg)) for figure in found),
        tuple(_table(table) for table in shown.find_all("table")),
        tuple(sorted({way for way in _links(shown, page) if not way.startswith(tuple(elsewhere))})),
        tuple(sorted(name for name in _ids(shown) if not name.startswith("__"))),
        tuple(_head(soup)),
    )


def _is_of_host(element: Tag) -> bool:
    return element.name in ("script", "form") or not OF_HOSTS.isdisjoint(element.get("class") or ())


def _text(element: Tag) -> str:
    return " ".join(element.get_text(" ").split())


def _table(table: Tag) -> tuple[str, ...]:
    """What a table and its bodies are of, and its rows."""
    of = [str(body.get("data-of", "")) for body in table.find_all("tbody")]
    rows = [
        " | ".join(_text(cell) for cell in row.find_all(["th", "td"]))
        for row in table.find_all("tr")
    ]
    return (str(table.get("aria-label", "")), *of, *rows)


def _ids(shown: Tag) -> Iterator[str]:
    yield from (str(element["id"]) for element in shown.find_all(id=True))


def _links(shown: Tag, page: str) -> Iterator[str]:
    for link in shown.find_all("a", href=True):
        way = str(link["href"])
        if "://" not in way and not way.startswith("mailto:"):
            path, _, anchor = way.partition("#")
            target = posixpath.normpath(posixpath.join("/", page, path))
            yield f"{target.removesuffix('/index.html')}#{anchor}"


def _head(soup: BeautifulSoup) -> Iterator[str]:
    head = soup.head
    assert head is not None
    assert head.title is not None
    yield " ".join(head.title.get_text().split())
    named = [(meta.get("property") or meta.get("name"), meta) for meta in head.find_all("meta")]
    yield from sorted(
        f"{name}: {meta['content']}"
        for name, meta in named
        if str(name).startswith(("og:", "twitter:")) or name == "description"
    )
    yield from (str(data.string) for data in head.find_all("script", type="application/ld+json"))
