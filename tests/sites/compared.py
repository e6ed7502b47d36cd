"""What a page shows and says of itself, for comparing the sites of several hosts."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator
from copy import copy
from dataclasses import dataclass

from bs4 import BeautifulSoup, Tag
from site_builds import Build, article, data_table, drawn_cells, figure_name, figures

OF_HOSTS = ".headerlink, .md-content__button, .md-source-file, .md-feedback, script, form"
"""What hosts and their themes add to the text of a page."""


@dataclass(frozen=True)
class Compared:
    """A page without what its host adds.

    Attributes:
        text: All of it: answers, sentences, values in tables.
        drawings: By the names of the figures, their pictures.
        values: By the names of the figures, the rows of their tables.
        links: Where links within the site lead to.
        head: What it says of itself: title, description, cards, metadata.
    """

    text: str
    drawings: tuple[tuple[str, int, str], ...]
    values: tuple[tuple[str, tuple[str, ...]], ...]
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
    for element in shown.select(OF_HOSTS):
        element.decompose()
    found = figures(shown)
    return Compared(
        " ".join(shown.get_text(" ").split()),
        tuple(
            (figure_name(figure), len(drawn_cells(figure)), str(figure.select_one("svg")))
            for figure in found
        ),
        tuple(
            (figure_name(figure), tuple(" ".join(row) for row in data_table(figure)[1].values()))
            for figure in found
            if figure.select("table") or figure.find_parent(class_="ga-multiples")
        ),
        tuple(sorted({way for way in _links(shown, page) if not way.startswith(tuple(elsewhere))})),
        tuple(sorted(str(element["id"]) for element in shown.select('[id]:not([id^="__"])'))),
        tuple(_head(soup)),
    )


def _links(shown: Tag, page: str) -> Iterator[str]:
    for link in shown.select("a[href]"):
        way = str(link["href"])
        if "://" not in way and not way.startswith("mailto:"):
            path, _, anchor = way.partition("#")
            target = posixpath.normpath(posixpath.join("/", page, path))
            yield f"{target.removesuffix('/index.html')}#{anchor}"


def _head(soup: BeautifulSoup) -> Iterator[str]:
    yield " ".join(soup.select_one("title").get_text().split())
    yield from sorted(
        f"{meta.get('property') or meta.get('name')}: {meta['content']}"
        for meta in soup.select('meta[property^="og:"], meta[name^="twitter:"]')
    )
    yield from (f"{meta['content']}" for meta in soup.select('meta[name="description"]'))
    yield from (str(data.string) for data in soup.select('script[type="application/ld+json"]'))
