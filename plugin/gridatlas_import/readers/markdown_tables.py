"""Tables of Markdown: rows between bars."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from gridatlas.model.problems import join_names, quote
from gridatlas_import.files import File
from gridatlas_import.headings import table_of_rows
from gridatlas_import.markup import without_marks
from gridatlas_import.rows import CannotImport, RawTable, Reported

ENDINGS = (".md", ".markdown")
_RULE = re.compile(r"\s*+\|?\s*+:?-+:?\s*+(\|\s*+:?-+:?\s*+)*+\|?\s*")
_BAR = re.compile(r"(?<!\\)\|")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*")
_FENCE = re.compile(r"\s*(```|~~~)")


def read(file: File) -> RawTable:
    """One table of a Markdown page, or all of them where headings tell them apart.

    Raises:
        CannotImport: For a page without a table, or with several of which none is named.
    """
    name, number = file.name, file.table
    lines = file.text.splitlines()
    found = _tables(lines)
    if not found:
        raise CannotImport(
            f"{name}, which has no table",
            "a table with bars and a line of dashes below its header",
            "name another file",
        )
    if number is None and len(found) > 1:
        under = _headings(lines, found)
        if under is not None:
            return _below_headings([_table(rows, name) for rows in found], *under)
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
    rows = found[(number or 1) - 1]
    return replace(_table(rows, name), titles=_titles(lines[: rows[0][0] - 1]))


def _titles(above: Sequence[str]) -> tuple[str, ...]:
    """The caption and the heading above a table, where it has them."""
    titles: list[str] = []
    for line in filter(str.strip, reversed(above)):
        heading = _HEADING.fullmatch(line)
        if heading or not titles:
            titles.append(without_marks(heading[1] if heading else line))
        if heading:
            break
    return tuple(titles)


def _table(lines: Sequence[tuple[int, str]], name: str) -> RawTable:
    """A table of its lines."""
    header = _cells(lines[0][1])
    rows, places, reported = [header], [f"{name}:{lines[0][0]}"], []
    for line, source in lines[1:]:
        values, place = _cells(source), f"{name}:{line}"
        if not any(values):
            reported.append(Reported(place, "an empty row"))
        elif len(values) != len(header):
            why = f"{len(values)} values in {len(header)} columns: {quote(source.strip())}"
            reported.append(Reported(place, why, bad=True))
        else:
            rows.append(values)
            places.append(place)
    return table_of_rows("Markdown table", rows, places, tuple(reported))


def _headings(
    lines: Sequence[str], tables: Sequence[Sequence[tuple[int, str]]]
) -> tuple[str, list[str]] | None:
    """What the headings above tables of equal columns are levels of, and these levels."""
    if len({tuple(_cells(rows[0][1])) for rows in tables}) > 1:
        return None
    found = []
    for rows in tables:
        above = (_HEADING.fullmatch(line) for line in reversed(lines[: rows[0][0] - 1]))
        heading = next((match[1] for match in above if match), "")
        found.append(without_marks(heading))
    if not all(found) or len(set(found)) < len(found):
        return None
    pairs = [re.fullmatch(r"(.+?)\s*[:=]\s*(.+)", heading) for heading in found]
    keys = {pair[1] for pair in pairs if pair}
    if all(pairs) and len(keys) == 1:
        return keys.pop(), [pair[2] for pair in pairs if pair]
    return "heading", found


def _below_headings(tables: Sequence[RawTable], called: str, levels: Sequence[str]) -> RawTable:
    """The rows of tables of equal columns, with a column for what stands above each."""
    first = tables[0]
    own = called if called not in first.columns else f"{called}_heading"
    columns = {
        own: [level for table, level in zip(tables, levels, strict=True) for _ in table.places],
        **{name: [t for table in tables for t in table.columns[name]] for name in first.columns},
    }
    return replace(
        first,
        form=f"{len(tables)} Markdown tables with different headings",
        columns=columns,
        places=[place for table in tables for place in table.places],
        reported=tuple(row for table in tables for row in table.reported),
    )


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
    return [without_marks(cell) for cell in _BAR.split(line)]
