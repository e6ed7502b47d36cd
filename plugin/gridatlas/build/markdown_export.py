"""Pages as plain Markdown with pictures, for a README or a wiki: nothing that GitHub takes out."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from html.parser import HTMLParser
from itertools import chain, zip_longest

from gridatlas.build.site import Site
from gridatlas.charts.picture import Picture
from gridatlas.model.inert import inert
from gridatlas.pages.agreement import PAIRS
from gridatlas.pages.anatomy import PLOTS
from gridatlas.pages.embeds import markdown_text
from gridatlas.pages.environment import caption, escape_markdown, plots_caption
from gridatlas.pages.exports import downloads, plot_downloads, to_svg
from gridatlas.pages.figure import DataTable, Figure, FigureRow
from gridatlas.pages.meta import CELLS, CROISSANT
from gridatlas.pages.page import Page
from gridatlas.pages.tables import data_table

Names = Callable[[str], tuple[str, str]]
"""Gives a page's file, and what links lead to, by the page's path on a site."""


def for_repository(path: str) -> tuple[str, str]:
    """A README in the page's folder, which forges show with it."""
    file = f"{posixpath.dirname(path)}/README.md"
    return file, file


def for_wiki(path: str) -> tuple[str, str]:
    """A page without a folder, since wikis know a page by its name alone."""
    name = posixpath.dirname(path).replace("/", "-")
    return f"{name}.md", name


class SameName(Exception):
    """Two pages that would be one file: why nothing was written."""


FILES = (".svg", ".png", ".csv", ".json")
"""Endings of the files that come along; pages for frames and scripts don't."""

_HEAD = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)
_LINK = re.compile(r"(?<=\]\()((?:[^)#\s:]*/)?index\.md)(?:#[^)\s]*)?(?=\))")
_DATA = re.compile(r"(?<=\]\()[^)#\s:]+\.(?:csv|json)(?=\))")
_PLACEHOLDER = re.compile(r'<div data-gridatlas="([^"]+)"></div>')
_BETWEEN = re.compile(r'<div data-gridatlas="[^"]+"></div>')


def markdown_files(site: Site, names: Names) -> dict[str, bytes]:
    """All pages, pictures and data files of a site, by their paths.

    Args:
        names: Where pages stand.

    Raises:
        SameName: For two pages that would stand in one place.
    """
    files = {
        path: content
        for path, content in site.files.contents()
        if (path.startswith(("grids/", f"{PLOTS}/")) and path.endswith(FILES))
        or posixpath.basename(path) in (CELLS, CROISSANT, PAIRS)
    }
    own = {content: path for path, content in files.items() if path.endswith(".svg")}
    places: dict[Picture, str] = {}
    for page in site.pages:
        for picture in page.plan.pictures:
            svg = to_svg(site.drawings[picture].svg).encode()
            # A grid on its own scale has its file already.
            places[picture] = own.get(svg) or _picture_path(page, picture)
            files[places[picture]] = svg
    written: dict[str, str] = {}
    for page in site.pages:
        path = page.plan.path
        file = names(path)[0]
        other = written.setdefault(file, path)
        if other != path:
            raise SameName(
                f"nothing was written, since {other} and {path} would both be {file}; "
                "rename the study's folder, the facet or the level of one of them"
            )
        files[file] = markdown_page(page, places, names).encode()
    return files


def _picture_path(page: Page, picture: Picture) -> str:
    content = hashlib.sha256(picture.to_json().encode()).hexdigest()[:16]
    return f"{page.plan.path.split('/')[0]}/pictures/{content}.svg"


def markdown_page(page: Page, places: Mapping[Picture, str], names: Names) -> str:
    """One page.

    Args:
        places: Paths of the pictures.
        names: Where pages stand.
    """
    rows = {row.key: row for row in page.plan.rows}
    path = page.plan.path
    file = names(path)[0]

    def link_to(target: str) -> str:
        """A link to another page, from its path relative to this one on a site."""
        to = names(posixpath.normpath(posixpath.join(posixpath.dirname(path), target)))[1]
        return posixpath.relpath(to, posixpath.dirname(file) or ".")

    def put(match: re.Match[str]) -> str:
        row = rows.get(match[1])
        if row is None:
            html = page.figures[match[1]]
            texts = (plain_html(part, link_to) for part in _BETWEEN.split(html))
            within = [put(placed) for placed in _PLACEHOLDER.finditer(html)]
            return "\n\n".join(filter(None, chain(*zip_longest(texts, within))))
        if row.plots:
            return _plots(row, file, places)
        figures = (_figure(figure, file, places) for figure in row.figures)
        return "\n\n".join(figures)

    def relative(match: re.Match[str]) -> str:
        to = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[0]))
        return posixpath.relpath(to, posixpath.dirname(file) or ".")

    text = _LINK.sub(lambda match: link_to(match[1]), readable(_HEAD.sub("", page.markdown)))
    text = _DATA.sub(relative, text)
    return inert(_PLACEHOLDER.sub(put, text))


_NUMBERED = r"^([^\w\n]*\d+&#4[16];)"
"""A number that would begin a list, wherever on the line the text begins."""
_HARMLESS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"&#39;"), "'"),
    (re.compile(r"&#40;"), "("),
    (re.compile(r"&#63;"), "?"),
    (re.compile(r"(?<=\w)&#45;(?=\w)"), "-"),
    (re.compile(r"(?<=\S )&#45;(?= )"), "-"),
    (re.compile(r"(?<=\w)(?<!www)&#46;(?=\w)", re.IGNORECASE), "."),
    # Not where it makes a list of the number before it, or an address of what follows.
    (
        re.compile(rf"{_NUMBERED}|(?<=[\w)%])(?<!www)&#46;", re.I | re.M),
        lambda match: match[1] or ".",
    ),
    (re.compile(rf"{_NUMBERED}|&#41;", re.M), lambda match: match[1] or ")"),
    (re.compile(r"(?<=\w)&#58;(?=\s|$)", re.M), ":"),
)


def readable(markdown: str) -> str:
    """Markdown with the characters themselves where an escape isn't needed, for who reads it so."""
    for escaped, character in _HARMLESS:
        markdown = escaped.sub(character, markdown)
    return markdown


def _figure(figure: Figure, path: str, places: Mapping[Picture, str]) -> str:
    """A heatmap as a picture, with its caption, its values and its files."""
    parts = [_picture(figure, path, places), readable(str(escape_markdown(caption(figure))))]
    if not figure.compact:
        links = downloads(figure.grid, path) if figure.grid else {}
        parts += _details(figure, _table(data_table(figure)), links)
    return "\n\n".join(parts)


def _plots(row: FigureRow, path: str, places: Mapping[Picture, str]) -> str:
    """Plots as pictures, with their caption, their values and their files."""
    parts = [readable(str(escape_markdown(plots_caption(row))))]
    parts += [_picture(figure, path, places) for figure in row.figures]
    for figure in row.figures:
        plot = figure.plot
        if plot is None or figure.compact:
            continue
        lines = [plot.columns, _aligned(plot.columns), *plot.table()]
        cells = [
            [text if at == 1 else _cell(text) for text in line] for at, line in enumerate(lines)
        ]
        parts += _details(figure, cells, plot_downloads(figure, path))
    return "\n\n".join(parts)


def _picture(figure: Figure, path: str, places: Mapping[Picture, str]) -> str:
    address = posixpath.relpath(places[figure.chart], posixpath.dirname(path) or ".")
    return f"![{markdown_text(figure.chart.description)}]({address})"


def _details(figure: Figure, lines: Iterable[Sequence[str]], links: Mapping[str, str]) -> list[str]:
    """The values of a figure in a table that unfolds, and its files; none where there are none."""
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    summary = f"<details><summary>Data table of {escape(figure.chart.title)}</summary>"
    parts = [summary, table, "</details>"] if table else []
    if links:
        parts.append("Download " + " · ".join(f"[{name}]({to})" for name, to in links.items()))
    return parts


def _table(table: DataTable) -> list[Sequence[str]]:
    """The lines of a heatmap's values as a Markdown table; none where it has no rows."""
    if not table.rows:
        return []
    head = [table.corner, *(level.label for level in table.x.levels)]
    rows = [
        [
            f"**{_cell(level.label)}**",
            *(
                _cell(cell.text + (f" ({cell.interval})" if cell.interval else ""), cell.mark)
                for cell in cells
            ),
        ]
        for level, cells in table.rows
    ]
    return [[_cell(text) for text in head], _aligned(head), *rows]


def _aligned(head: Sequence[str]) -> list[str]:
    """The line below the heads of a table: names at the left, numbers at the right."""
    return [":---", *("---:" for _ in head[1:])]


def _cell(text: str, mark: str = "") -> str:
    escaped = readable(str(escape_markdown(text)))
    return f"**{escaped}**" if mark == "best" else escaped


# --- HTML ---------------------------------------------------------------------------------------

TAGS = frozenset(
    {
        *("h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "pre"),
        *("ol", "ul", "li", "dl", "dt", "dd", "details", "summary", "figure", "figcaption"),
        *("table", "thead", "tbody", "tfoot", "tr", "th", "td", "caption", "img", "a"),
        *("b", "i", "strong", "em", "code", "del", "ins", "sup", "sub", "mark", "small", "span"),
    }
)
"""Elements that GitHub leaves in a page."""
ATTRIBUTES = frozenset({"href", "src", "alt", "title", "colspan", "rowspan", "open"})
"""Attributes of which it leaves those in, and which we need."""


def plain_html(html: str, link_to: Callable[[str], str]) -> str:
    """HTML as GitHub shows it: without classes, scripts, and blank lines, which would end it.

    Args:
        link_to: Gives a link to a page from its path relative to this one on a site.
    """
    parser = _Plain(link_to)
    parser.feed(html)
    parser.close()
    return re.sub(r"\n\s*\n", "\n", "".join(parser.out).strip())


class _Plain(HTMLParser):
    def __init__(self, link_to: Callable[[str], str]) -> None:
        super().__init__(convert_charrefs=False)
        self.link_to = link_to
        self.out: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in TAGS:
            self.out.append(f"<{tag}{_attributes(attrs, self.link_to)}>")

    def handle_endtag(self, tag: str) -> None:
        if tag in TAGS:
            self.out.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.out.append(data)

    def handle_entityref(self, name: str) -> None:
        self.out.append(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.out.append(f"&#{name};")


def _attributes(attrs: Iterable[tuple[str, str | None]], link_to: Callable[[str], str]) -> str:
    """Those that stay, with links to pages led to their files."""
    found = []
    for name, value in attrs:
        if name not in ATTRIBUTES:
            continue
        text = value or ""
        if name == "href" and text.startswith("#"):  # Its target's id isn't left in a page.
            continue
        page = text.partition("#")[0]
        if name == "href" and page.endswith("index.md") and ":" not in page:
            text = link_to(page)
        found.append(f' {name}="{escape(text)}"' if value is not None else f" {name}")
    return "".join(found)
