"""Tables of Markdown: rows between bars."""

from __future__ import annotations

import re

from gridatlas.importing.rows import CannotImport, RawTable, Reported, by_columns, unique_names
from gridatlas.model.problems import join_names, quote

_RULE = re.compile(r"\s*+\|?\s*+:?-+:?\s*+(\|\s*+:?-+:?\s*+)*+\|?\s*")
_BAR = re.compile(r"(?<!\\)\|")
_FENCE = re.compile(r"\s*(```|~~~)")


def read_markdown(text: str, name: str, number: int | None) -> RawTable:
    """One table of a Markdown page.

    Args:
        number: Which of several tables, from 1.

    Raises:
        CannotImport: For a page without a table, or with several of which none is named.
    """
    found = _tables(text.splitlines())
    if not found:
        raise CannotImport(
            f"{name}, in which there is no table",
            "a table with bars and a line of dashes below its header",
            "name another file",
        )
    if number is None and len(found) > 1:
        first = (
            f"{at + 1} ({', '.join(_cells(rows[0][1]))[:60]})" for at, rows in enumerate(found)
        )
        raise CannotImport(
            f"{name} with {len(found)} tables: {join_names(first)}",
            "the number of one of them",
            "add --table 1, or another number",
            usage=True,
        )
    if number is not None and not 1 <= number <= len(found):
        raise CannotImport(
            f"--table {number}",
            f"1 to {len(found)}, the tables of {name}",
            "correct the number",
            usage=True,
        )
    lines = found[(number or 1) - 1]
    columns, notes = unique_names(_cells(lines[0][1]))
    rows, places, reported = [], [], []
    for line, source in lines[1:]:
        values, place = _cells(source), f"{name}:{line}"
        if not any(values):
            reported.append(Reported(place, "an empty row"))
        elif len(values) != len(columns):
            why = f"{len(values)} values in {len(columns)} columns: {quote(source.strip())}"
            reported.append(Reported(place, why, bad=True))
        else:
            rows.append(values)
            places.append(place)
    texts = by_columns(columns, rows)
    return RawTable("Markdown table", texts, places, tuple(reported), tuple(notes))


def _tables(lines: list[str]) -> list[list[tuple[int, str]]]:
    """The tables of a page, each as its lines with their numbers, without the rule."""
    tables = []
    at, fenced = 0, False
    while at < len(lines) - 1:
        fenced ^= _FENCE.match(lines[at]) is not None
        if (
            not fenced
            and "|" in lines[at]
            and "-" in lines[at + 1]
            and "|" in lines[at + 1]
            and (_RULE.fullmatch(lines[at + 1]))
        ):
            rows = [(at + 1, lines[at])]
            at += 2
            while at < len(lines) and "|" in lines[at]:
                rows.append((at + 1, lines[at]))
                at += 1
            if len(rows) > 1:
                tables.append(rows)
        else:
            at += 1
    return tables


def _cells(line: str) -> list[str]:
    line = line.strip()
    line = line.removeprefix("|")
    line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
    return [_plain(cell) for cell in _BAR.split(line)]


def _plain(cell: str) -> str:
    """A cell's text without its marks: bold, code, links, line breaks."""
    text = cell.strip().replace("\\|", "|")
    text = re.sub(r"!?\[([^\[\]]*)\]\([^()]*\)", r"\1", text)
    text = re.sub(r"</?(b|strong|i|em|u|code|sub|sup|br)\s*/?>", "", text)
    for mark in ("***", "**", "__", "*", "`", "~~"):
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            text = text[len(mark) : -len(mark)].strip()
    return re.sub(r"\\([*_`])", r"\1", text)
