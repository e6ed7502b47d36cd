"""What was read of files before anything is decided: rows of texts, with the place of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class CannotImport(Exception):
    """The import can't go on; nothing was written.

    Attributes:
        usage: Whether options would help (exit 2), instead of other data (exit 1).
    """

    def __init__(self, found: str, expected: str, fix: str, *, usage: bool = False) -> None:
        super().__init__(found)
        self.found, self.expected, self.fix, self.usage = found, expected, fix, usage

    def __str__(self) -> str:
        return f"  found:    {self.found}\n  expected: {self.expected}\n  fix:      {self.fix}"


class RawRow(NamedTuple):
    """One row as it stands in a file: where, and a text per column."""

    place: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reported:
    """A row that gives no cell: where it stands, and why.

    Attributes:
        bad: Whether it is wrong, so that the import stops unless it may be skipped.
    """

    place: str
    why: str
    bad: bool = False


@dataclass(frozen=True, slots=True)
class RawTable:
    """All rows of all files.

    Attributes:
        form: What kind of file it is, for people: `CSV with semicolons, UTF-16`.
        reported: Rows that can't be read, or are none.
        notes: What was noticed while reading.
        keep: Levels that rows must have to be taken, where nobody says otherwise.
        semicolons: Whether semicolons separate values, as where commas are decimal marks.
        places: Columns that only say where a row comes from; factors only where they are needed.
    """

    form: str
    columns: tuple[str, ...]
    rows: tuple[RawRow, ...]
    reported: tuple[Reported, ...] = ()
    notes: tuple[str, ...] = ()
    keep: Mapping[str, str] = field(default_factory=dict)
    semicolons: bool = False
    places: tuple[str, ...] = ()

    def column(self, name: str) -> list[str]:
        """The texts of one column."""
        at = self.columns.index(name)
        return [row.values[at] for row in self.rows]


def unique_names(names: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Names of columns, none empty and none twice, with a note for each that was changed."""
    taken: list[str] = []
    notes = []
    for place, name in enumerate(names, 1):
        given = " ".join(name.split()) or f"column_{place}"
        new, number = given, 1
        while new in taken or (new != given and new in names):
            number += 1
            new = f"{given}_{number}"
        if not name.strip():
            notes.append(f"column {place} has no name; it is called {new} here")
        elif new != given:
            notes.append(f"column {place} is a second {given}; it is called {new} here")
        taken.append(new)
    return tuple(taken), notes
