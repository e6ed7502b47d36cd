"""Tables whose headings stand in one line or in two, such as those of pandas with MultiIndex."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gridatlas.model.format import many
from gridatlas.model.problems import join_names, quote
from gridatlas_import.files import File
from gridatlas_import.numerals import is_absent
from gridatlas_import.quantities import holds_number
from gridatlas_import.rows import (
    CannotImport,
    RawTable,
    Reported,
    WrongUsage,
    by_columns,
    in_range,
    unique_names,
)

SEPARATOR = " / "
"""Between the lines of a heading."""
HEADING = "heading"
"""The factor whose levels stand above tables of equal columns."""


@dataclass(frozen=True, slots=True)
class Headings:
    """Two lines of headings.

    Attributes:
        labels: Names of the columns that rows are known by.
        levels: Of each other column, what stands in both lines.
        names: What the lines are levels of.
        lines: How many lines the headings take.
    """

    labels: tuple[str, ...]
    levels: tuple[tuple[str, str], ...]
    names: tuple[str, str]
    lines: int


def two_lines(rows: Sequence[Sequence[str]]) -> Headings | None:
    """Two lines of headings at the top of rows; None where there is one line."""
    if len(rows) < 3 or len(rows[0]) != len(rows[1]) or len(rows[0]) < 3:
        return None
    upper, lower = ([cell.strip() for cell in row] for row in rows[:2])
    start = _first_label(upper, lower, rows)
    upper = _filled(upper, start)
    above, below = upper[start:], lower[start:]
    groups: dict[str, list[str]] = {}
    for first, second in zip(above, below, strict=True):
        groups.setdefault(first, []).append(second)
    if len(above) < 2 or "" in groups or "" in below or len(groups) == len(above):
        return None
    if any(len(set(group)) < len(group) for group in groups.values()):
        return None
    sets = {frozenset(group) for group in groups.values()}
    same_levels = len(groups) > 1 and len(sets) < len(groups)
    texts = not any(map(holds_number, below)) and all(
        holds_number(cell) or is_absent(cell) for cell in rows[2][start:]
    )
    beside = any(all(holds_number(row[at]) for row in rows[2:]) for at in range(1, start))
    if not (same_levels or (texts and not beside)):
        return None
    named = [cell.strip() for cell in rows[2]]
    third = any(named[:start]) and not any(named[start:]) and len(rows) > 3
    labels = [
        (named[at] if third else "")
        or ("" if third else lower[at] or upper[at])
        or f"column_{at + 1}"
        for at in range(start)
    ]
    names = ("columns:1", "columns:2")
    if third and start and upper[start - 1] and lower[start - 1]:
        names = (upper[start - 1], lower[start - 1])
    levels = tuple(zip(above, below, strict=True))
    return Headings(tuple(labels), levels, names, 3 if third else 2)


def _first_label(upper: list[str], lower: list[str], rows: Sequence[Sequence[str]]) -> int:
    """How many columns stand before those with two lines of headings."""
    start = 0
    while start < len(upper) - 1 and (
        not upper[start]
        or not lower[start]
        or not all(holds_number(r[start]) or is_absent(r[start]) for r in rows[2:6])
    ):
        start += 1
    return start


def _filled(cells: list[str], start: int) -> list[str]:
    """Headings of merged cells stand in the first of them only."""
    found = list(cells)
    for at in range(start + 1, len(found)):
        found[at] = found[at] or found[at - 1]
    return found


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """A table of a page: rows of texts of one width, the headings first.

    Attributes:
        lines: Of its file, where each row begins.
        titles: What names it, the nearest first: its caption, the heading above it.
        section: Headings of the parts of the page that it stands in, the outermost first.
        reported: Rows that can't be read.
    """

    rows: Sequence[Sequence[str]]
    lines: Sequence[int]
    titles: tuple[str, ...] = ()
    section: tuple[str, ...] = ()
    reported: tuple[tuple[int, str], ...] = ()

    @property
    def qualifies(self) -> bool:
        """Whether it has a column of numbers, and two rows."""
        body = self.rows[1:]
        columns = [
            [cell for cell in column if not is_absent(cell)] for column in zip(*body, strict=True)
        ]
        return len(body) > 1 and any(
            cells and sum(map(holds_number, cells)) >= 0.6 * len(cells) for cells in columns
        )


class Spans:
    """Rows of cells of which some span several columns, or rows."""

    def __init__(self) -> None:
        self.rows: list[dict[int, str]] = []
        self.lines: list[int] = []
        self._below: dict[int, tuple[int, str]] = {}

    def begin_row(self, line: int) -> None:
        """A new row, with the cells of those above that span it."""
        self.rows.append({at: text for at, (_, text) in self._below.items()})
        self.lines.append(line)
        self._below = {at: (left - 1, text) for at, (left, text) in self._below.items() if left > 1}

    def put(self, text: str, columns: int = 1, rows: int = 1) -> None:
        """A cell in the first places of the last row that are free."""
        cells = self.rows[-1]
        at = next(place for place in range(len(cells) + 1) if place not in cells)
        self.put_at(at, text, columns, rows)

    def put_at(self, at: int, text: str, columns: int, rows: int) -> None:
        """A cell in places of the last row; a blank one leaves what spans it from above."""
        for place in range(at, at + columns):
            if text or place not in self.rows[-1]:
                self.rows[-1][place] = text
                if rows > 1:
                    self._below[place] = (rows - 1, text)

    def table(self, titles: Sequence[str] = ()) -> PrintedTable:
        """All rows, as wide as the widest."""
        width = max((max(cells) + 1 for cells in self.rows if cells), default=0)
        rows = [[cells.get(at, "") for at in range(width)] for cells in self.rows]
        return PrintedTable(rows, self.lines, tuple(titles))


def chosen_table(form: str, tables: Sequence[PrintedTable], file: File) -> RawTable:
    """The table of a page that is asked for, else the one with numbers.

    Raises:
        CannotImport: For a page without a table, or with several of which none is named.
    """
    name, number = file.name, file.asked.table
    in_range(number, len(tables), "table", name)
    able = [tables[number - 1]] if number else [table for table in tables if table.qualifies]
    able = able or [*tables]
    if not able:
        raise CannotImport(
            f"{name}, which has no table",
            "a table in Markdown, HTML or LaTeX, with a line of headings",
            "name another file",
        )
    if len(able) == 1:
        found = _printed(form, able[0], name)
        skipped = len(tables) - 1 if number is None else 0
        note = f"{many(skipped, 'other table')} of the page without numbers, or with one row"
        return replace(found, notes=(*found.notes, note)) if skipped else found
    under = _levels_above(able)
    if under is not None:
        return _below_headings([_printed(form, table, name) for table in able], *under)
    listed = (f"{tables.index(table) + 1} ({_described(table)})" for table in able)
    raise WrongUsage(
        f"{name} with {len(able)} tables of numbers: {join_names(listed, 12)}",
        "the number of one of them",
        f"add --table {tables.index(able[0]) + 1}, or another number",
    )


def _printed(form: str, table: PrintedTable, name: str) -> RawTable:
    places = [f"{name}:{line}" for line in table.lines]
    reported = tuple(Reported(f"{name}:{line}", why, bad=True) for line, why in table.reported)
    titles = (*table.titles, *reversed(table.section))
    return replace(table_of_rows(form, table.rows, places, reported), titles=titles)


def _described(table: PrintedTable) -> str:
    """A table for people who choose one: what stands above it, its size, headings, first row."""
    title = " > ".join(filter(None, (*table.section, *table.titles[:1])))[:60]
    title += "; " * bool(title)
    first = ", ".join(table.rows[1])[:40]
    return f"{title}{many(len(table.rows) - 1, 'row')}: {', '.join(table.rows[0])[:60]}: {first}"


def _levels_above(tables: Sequence[PrintedTable]) -> tuple[str, list[str]] | None:
    """What the headings above tables of equal columns are levels of, and these levels."""
    found = [table.titles[-1] if table.titles else "" for table in tables]
    if len({tuple(table.rows[0]) for table in tables}) > 1:
        return None
    if not all(found) or len(set(found)) < len(found):
        return None
    pairs = [re.fullmatch(r"(.+?)\s*[:=]\s*(.+)", heading) for heading in found]
    keys = {pair[1] for pair in pairs if pair}
    if all(pairs) and len(keys) == 1:
        return keys.pop(), [pair[2] for pair in pairs if pair]
    return HEADING, found


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
        form=f"{len(tables)} tables with different headings ({first.form})",
        columns=columns,
        places=[place for table in tables for place in table.places],
        reported=tuple(row for table in tables for row in table.reported),
        titles=(),
    )


def has_two_lines(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first rows of a table are two lines of headings."""
    return two_lines(rows) is not None or (len(rows) > 2 and _belongs_above(rows))


def table_of_rows(
    form: str,
    rows: Sequence[Sequence[str]],
    places: Sequence[str],
    reported: tuple[Reported, ...] = (),
) -> RawTable:
    """A table of rows of which the first, or the first two, are its headings."""
    none = {at: why for at, row in enumerate(rows) if at and (why := _no_row(row))}
    if none:
        reported = (*reported, *(Reported(places[at], why) for at, why in none.items()))
        rows = [row for at, row in enumerate(rows) if at not in none]
        places = [place for at, place in enumerate(places) if at not in none]
    headings = two_lines(rows)
    if headings is None:
        names, lines = [*rows[0]], 1
        if len(rows) > 2 and _belongs_above(rows):
            filled = _filled([*rows[0]], 0) if all(rows[1]) else rows[0]
            names = [
                " ".join(dict.fromkeys(filter(None, (upper.strip(), lower.strip()))))
                for upper, lower in zip(filled, rows[1], strict=True)
            ]
            lines, form = 2, f"{form}, two lines of headings"
        columns, notes = unique_names(names)
        texts = by_columns(columns, rows[lines:])
        return RawTable(form, texts, places[lines:], reported, tuple(notes))
    names = [*headings.labels, *(SEPARATOR.join(level) for level in headings.levels)]
    columns, notes = unique_names(names)
    texts = by_columns(columns, rows[headings.lines :])
    levels = dict(zip(columns[len(headings.labels) :], headings.levels, strict=True))
    return RawTable(
        f"{form}, two lines of headings",
        texts,
        places[headings.lines :],
        reported,
        tuple(notes),
        headings=levels,
        heading_names=headings.names,
    )


def _no_row(cells: Sequence[str]) -> str:
    """Why cells are no row: they are blank, or one cell over the whole width; else empty."""
    texts = {*map(str.strip, cells)}
    if texts == {""}:
        return "an empty row"
    across = len(texts) == 1 and len(cells) > 2 and not is_absent(cells[0])
    return f"a title: {quote(cells[0], 60)}" if across and not holds_number(cells[0]) else ""


def _belongs_above(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row below the headings is a second line of them.

    It has texts, and no number, where the columns below have numbers; and headings above it are
    blank, or the same as others.
    """
    upper, first, below = rows[0], rows[1], rows[2:8]
    numeric = [
        at
        for at in range(len(first))
        if sum(holds_number(row[at]) for row in below) * 2 > len(below)
    ]
    repeated = not all(upper) or len(set(upper)) < len(upper)
    texts = [at for at in numeric if first[at].strip() and not is_absent(first[at])]
    if not first[0].strip() and len(below) > 1 and len(texts) == len(numeric) > 1:
        return not any(map(holds_number, first))
    return (
        len(texts) * 2 > len(numeric) > 0
        and repeated
        and not any(holds_number(first[at]) for at in numeric)
    )
