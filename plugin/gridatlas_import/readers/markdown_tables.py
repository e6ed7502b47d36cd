"""Tables of Markdown: rows between bars."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from gridatlas.model.problems import quote
from gridatlas_import.files import File
from gridatlas_import.headings import PrintedTable, chosen_table
from gridatlas_import.markup import without_marks
from gridatlas_import.readers.html_tables import tables_of
from gridatlas_import.rows import RawTable

ENDINGS = (".md", ".markdown")
_RULE = re.compile(r"\s*+\|?\s*+:?-+:?\s*+(\|\s*+:?-+:?\s*+)*+\|?\s*")
_BAR = re.compile(r"(?<!\\)\|")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*")
_HTML = re.compile(r"<table[\s>]", re.IGNORECASE)
_FENCE = re.compile(r"\s*(```|~~~)")


def read(file: File) -> RawTable:
    """One table of a Markdown page, or all of them where headings tell them apart.

    Raises:
        CannotImport: For a page without a table, or with several of which none is named.
    """
    return chosen_table("Markdown table", _tables(file.text.splitlines()), file)


def _titles(above: Sequence[str]) -> tuple[str, ...]:
    """The caption and the heading above a table, where it has them."""
    titles: list[str] = []
    for line in filter(str.strip, reversed(above)):
        if _BAR.search(line) or _FENCE.match(line):
            continue  # another table, or code
        heading = _HEADING.fullmatch(line)
        if heading or not titles:
            titles.append(without_marks(heading[2] if heading else line))
        if heading:
            break
    return tuple(titles)


def _table(lines: Sequence[tuple[int, str]], titles: tuple[str, ...]) -> PrintedTable:
    """A table of its lines; those with fewer cells end with blank ones, as in Markdown."""
    header = _cells(lines[0][1])
    rows, places, reported = [header], [lines[0][0]], []
    for line, source in lines[1:]:
        values = _cells(source)
        if any(values[len(header) :]):
            why = f"{len(values)} values in {len(header)} columns: {quote(source.strip())}"
            reported.append((line, why))
        else:
            rows.append([*values, *[""] * len(header)][: len(header)])
            places.append(line)
    return PrintedTable(rows, places, titles, reported=tuple(reported))


def _tables(lines: list[str]) -> list[PrintedTable]:
    """The tables of a page in Markdown or HTML, in their order."""
    tables: list[PrintedTable] = []
    above: list[tuple[int, str]] = []  # headings that the line stands below, with their levels
    at, fenced = 0, False
    while at < len(lines) - 1:
        fenced ^= _FENCE.match(lines[at]) is not None
        if fenced:
            at += 1
        elif (
            "|" in lines[at]
            and "-" in lines[at + 1]
            and "|" in lines[at + 1]
            and _RULE.fullmatch(lines[at + 1])
        ):
            rows = [(at + 1, lines[at])]
            titles = _titles(lines[:at])
            at += 2
            while at < len(lines) and "|" in lines[at]:
                rows.append((at + 1, lines[at]))
                at += 1
            if len(rows) > 1:
                section = tuple(text for level, text in above[:-1] if level > 1)
                tables.append(replace(_table(rows, titles), section=section))
        elif _HTML.search(lines[at]):
            end = next((to for to in range(at, len(lines)) if "</table" in lines[to].lower()), at)
            found = tables_of("\n".join(lines[at : end + 1]), at + 1)
            tables += [
                replace(table, titles=(*table.titles, *_titles(lines[:at]))) for table in found
            ]
            at = end + 1
        else:
            heading = _HEADING.fullmatch(lines[at])
            if heading:
                above = [outer for outer in above if outer[0] < len(heading[1])]
                above.append((len(heading[1]), without_marks(heading[2])))
            at += 1
    return tables


def _cells(line: str) -> list[str]:
    line = line.strip()
    line = line.removeprefix("|")
    line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
    return [without_marks(cell) for cell in _BAR.split(line)]
