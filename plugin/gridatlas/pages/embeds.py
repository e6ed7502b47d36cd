"""What others need to show or cite a grid: its page for frames, texts to copy, BibTeX."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from html import escape
from textwrap import wrap
from urllib.parse import quote

from gridatlas.data.published import Published
from gridatlas.model.addresses import FRAMES, SiteAddress
from gridatlas.model.inert import inert
from gridatlas.model.schema import Source
from gridatlas.model.study import Study
from gridatlas.pages.environment import caption
from gridatlas.pages.exports import grid_path
from gridatlas.pages.figure import Share
from gridatlas.pages.filters import figure_anchor
from gridatlas.pages.plan import EmbedPlan
from gridatlas.pages.svg import drawn_size

NARROWEST = 340
"""Width of a frame, in pixels, below which its texts take too many lines."""
BESIDE, LINE, OTHERS = 24, 19, 172
"""Pixels: around the heatmap, of a line of text, and what lies below the heatmap besides it."""


def embed_path(embed: EmbedPlan) -> str:
    """Path of a grid's page for frames."""
    return f"{grid_path(embed.grid)}.html"


def share(embed: EmbedPlan, svg: str, page: str, site: SiteAddress) -> Share:
    """What a page offers to cite and embed one of its grids.

    Args:
        svg: The grid's drawing.
        page: Path of the page.
    """
    home = site.of(embed.page, page, figure_anchor(embed.grid))
    frame = site.of(embed_path(embed), page)
    # The SVG is light or dark as the reader prefers, also where only pictures are shown.
    image = site.of(f"{grid_path(embed.grid)}.svg", page)
    width, height = frame_size(embed, svg)
    alt = markdown_text(embed.figure.chart.description)
    texts = {
        "Markdown": f"[![{alt}]({image})]({home})",
        "HTML": f'<iframe src="{escape(frame)}" title="{inert(escape(_line(embed.title)))}" '
        f'width="{width}" height="{height}" loading="lazy" '
        'style="border:0;max-width:100%"></iframe>\n'
        f'<script src="{escape(site.of(FRAMES, page))}" async></script>',
        "BibTeX": bibtex(embed.grid.study, embed.title, home if site.root else ""),
    }
    return Share(
        {name: text for name, text in texts.items() if text},
        site.relative(embed_path(embed), page),
        not site.root,
    )


_MARKDOWN = {
    # Entities, because Python-Markdown has no backslash for them.
    **{"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "$": "&#36;"},
    # A template engine would take `\{%` for the begin of a statement.
    **{"{": "&#123;", "}": "&#125;"},
    **{character: f"\\{character}" for character in "\\`*_[]"},
}
_MARKDOWN_SPECIAL = re.compile("|".join(map(re.escape, _MARKDOWN)))


def markdown_text(text: str) -> str:
    """A text as people write it in Markdown: a backslash or an entity where it needs one."""
    return _MARKDOWN_SPECIAL.sub(lambda match: _MARKDOWN[match[0]], _line(text))


def _line(text: str) -> str:
    return " ".join(text.split())


# --- the page for frames ------------------------------------------------------------------------


def frame_size(embed: EmbedPlan, svg: str) -> tuple[int, int]:
    """Width and height, in pixels, at which a grid's page for frames needs no scrolling.

    Estimated: letters are half as wide as high. Longer texts need more lines.
    """
    wide, high = drawn_size(svg)
    width = max(NARROWEST, math.ceil(wide) + BESIDE)
    grid = embed.grid
    notes = dict.fromkeys(filter(None, grid.columns.note))
    source = grid.study.source.title if grid.study.source else grid.study.title
    sure = "x" * 130 if embed.figure.uncertainty else ""
    of = embed.figure
    # A plot's caption is about as long as what it says to a screen reader.
    subject = of.chart.description if of.plot else caption(of)
    small = [embed.answer, subject, sure, source, *list(notes)[:3]]
    letters = (width - BESIDE) // 7
    lines = len(wrap(embed.title, letters * 4 // 5))
    lines += sum(len(wrap(text, letters)) for text in small)
    return width, math.ceil(high * min(1, (width - BESIDE) / wide)) + lines * LINE + OTHERS


# --- BibTeX -------------------------------------------------------------------------------------


_BIBTEX = {
    "\\": r"\textbackslash{}",
    # BibTeX counts braces even behind a backslash.
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    **{character: f"\\{character}" for character in "#$%&_"},
}
_BIBTEX_SPECIAL = re.compile("|".join(map(re.escape, _BIBTEX)))


def bibtex(study: Study, title: str, url: str) -> str:
    """The entry to cite for one grid; empty where nothing is known to cite.

    Args:
        title: Of the grid's page, for a study without a source.
        url: The whole URL of the grid's page; empty where it isn't known.
    """
    if study.source:
        return _of_source(study.id, study.source)
    return _entry(study.id, [("title", _title(title)), ("url", _url(url))]) if url else ""


def page_bibtex(study: Study, title: str, url: str, published: Published) -> str:
    """The entry of a page of this site.

    Args:
        title: The study's, and the page's.
        url: Its whole URL; empty where it isn't known.
    """
    fields = {
        "author": " and ".join(map(_author, published.authors)),
        "title": _title(title),
        "year": published.date[:4],
        "date": published.date,
        "note": f"Commit {published.commit}" if published.commit else "",
        "url": _url(url),
    }
    return _entry(study.id, [(name, text) for name, text in fields.items() if text])


def _of_source(key: str, source: Source) -> str:
    if source.bibtex and source.bibtex.strip():
        return source.bibtex.strip()
    fields = [("title", _title(source.title))]
    if source.authors:
        fields.append(("author", " and ".join(map(_author, source.authors))))
    if source.year:
        fields.append(("year", str(source.year)))
    if source.url:
        fields.append(("url", _url(source.url)))
    return _entry(key, fields)


def _entry(key: str, fields: Iterable[tuple[str, str]]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields]
    return "\n".join([f"@misc{{{key},", *lines, "}"])


def _title(text: str) -> str:
    """In braces of its own, which keep capital letters as they are."""
    return f"{{{_escaped(text)}}}"


def _author(name: str) -> str:
    """One name; the word and in it would make it two."""
    escaped = _escaped(name)
    return f"{{{escaped}}}" if re.search(r"\band\b", name, re.IGNORECASE) else escaped


def _escaped(text: str) -> str:
    return _BIBTEX_SPECIAL.sub(lambda match: _BIBTEX[match[0]], " ".join(text.split()))


def _url(url: str) -> str:
    return quote(url, safe=":/?#[]@!$&'()*+,;=%~-._")
