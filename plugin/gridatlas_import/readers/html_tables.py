"""Tables of HTML, of a page or within Markdown."""

from __future__ import annotations

from html.parser import HTMLParser

from gridatlas_import.files import File
from gridatlas_import.headings import PrintedTable, Spans, chosen_table
from gridatlas_import.markup import without_tags
from gridatlas_import.rows import RawTable

ENDINGS = (".html", ".htm")
_WIDEST = 1000
"""Cells that one may span."""
_TITLES = ("h1", "h2", "h3", "h4", "h5", "h6", "caption", "title")


class _Tables(HTMLParser):
    """All tables of a page; one within a cell counts as the cell's text."""

    def __init__(self, first_line: int) -> None:
        super().__init__(convert_charrefs=True)
        self.before, self.depth = first_line - 1, 0
        self.found: list[tuple[Spans, list[str]]] = []
        self.title, self.heading = "", ""
        self.cell: list[str] | None = None
        self.span = (1, 1)

    @property
    def line(self) -> int:
        """The line of the page."""
        return self.before + self.getpos()[0]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.depth += 1
            if self.depth == 1:
                self.found.append((Spans(), [self.heading] if self.heading else []))
        elif tag in _TITLES:
            self.title = tag
            self.heading = "" if tag != "caption" else self.heading
        elif self.depth == 1 and tag == "tr":
            self._end_cell()
            self.found[-1][0].begin_row(self.line)
        elif self.depth == 1 and tag in ("td", "th"):
            self._end_cell()
            if not self.found[-1][0].rows:
                self.found[-1][0].begin_row(self.line)
            given = dict(attrs)
            self.span = (_span(given.get("colspan")), _span(given.get("rowspan")))
            self.cell = []
        elif self.cell is not None and tag in ("br", "p", "div", "li", "sup", "sub"):
            self.cell.append(f"<{tag}>")

    def handle_endtag(self, tag: str) -> None:
        if self.depth == 1 and tag in ("td", "th", "tr", "table"):
            self._end_cell()
        if tag == "table":
            self.depth = max(0, self.depth - 1)
        elif tag == self.title:
            if tag == "caption" and self.depth and self.heading:
                self.found[-1][1].insert(0, self.heading)
            self.title = ""
        elif self.cell is not None and tag in ("sup", "sub"):
            self.cell.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self.title:
            self.heading = f"{self.heading} {data}".strip()
        elif self.cell is not None:
            self.cell.append(data.replace("<", "&lt;"))

    def _end_cell(self) -> None:
        if self.cell is not None:
            self.found[-1][0].put(without_tags("".join(self.cell).replace("\n", " ")), *self.span)
            self.cell = None


def _span(text: str | None) -> int:
    return min(int(text), _WIDEST) if text and text.isdecimal() and int(text[:5]) > 0 else 1


def tables_of(text: str, first_line: int = 1) -> list[PrintedTable]:
    """The tables of a page.

    Args:
        first_line: Of the text, in its file.
    """
    parser = _Tables(first_line)
    parser.feed(text)
    parser.close()
    return [spans.table(titles) for spans, titles in parser.found if len(spans.rows) > 1]


def read(file: File) -> RawTable:
    """The table of a page, or the one that is asked for.

    Raises:
        CannotImport: For a page without a table, or with several of which none is named.
    """
    return chosen_table("HTML table", tables_of(file.text), file)
