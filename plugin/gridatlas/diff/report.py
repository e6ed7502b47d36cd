"""The form of a comparison in words: sections with items, all of them plain text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from gridatlas.model.problems import printable

LONGEST = 600
"""Characters of one text; what is longer is cut, and says so."""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows of plain texts."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to know: a line, with lines and a table that say more.

    Attributes:
        study: Id of the study it is about.
    """

    text: str
    study: str
    details: tuple[str, ...] = ()
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """Items of one kind, the most important first."""

    id: str
    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """A comparison in words.

    Attributes:
        sections: The most important first; none where nothing changed.
    """

    base: str
    base_commit: str | None
    head: str
    head_commit: str | None
    summary: str
    sections: tuple[Section, ...]

    @property
    def changed(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self.sections)


def line(text: object, limit: int = LONGEST) -> str:
    """A text from data on one line, with nothing in it that can't be seen.

    Spaces of all kinds are spaces; what else has no picture (controls, marks that turn the order of
    letters, letters of no width) is written by its number.
    """
    flat = re.sub(r"[ \t\r\n]+", " ", str(text)).strip()
    flat = "".join(" " if unicodedata.category(c) == "Zs" else c for c in flat)
    flat = printable(flat)
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"


def item(study: str, text: str, details: tuple[str, ...] = (), table: Table | None = None) -> Item:
    """An item of texts that may come from data."""
    rows = table and Table(
        tuple(map(line, table.columns)), tuple(tuple(map(line, row)) for row in table.rows)
    )
    return Item(line(text), line(study), tuple(line(detail) for detail in details if detail), rows)
