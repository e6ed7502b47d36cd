"""The report: changes in words, in sections with entries, all of them plain text.

`compare.make_report` writes it. Markdown, JSON (`formats`) and HTML (`pages.changes`) are
formats of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import groupby
from typing import Literal

from gridatlas.model.format import format_value, many, places_of, value_with_unit
from gridatlas.model.problems import printable
from gridatlas.model.study import Levels, Point, Study, cell_name
from gridatlas.table.study_table import Grid

MAX_TEXT = 600
"""Characters of one text; what is longer is truncated, and ends with `…`."""
ROWS = 20
"""Rows of a table; how many more there are is a detail of the entry."""
NAMED = 3
"""Cells that decide a claim, or grids of a level, named in an entry."""
MOST_PLACES = 6
"""Decimals up to which a value is taken for a printed one."""
TITLE = 80
"""Characters of a study's title beside what happened."""
EXCERPT = 160
"""Characters of a claim's expression, or of a text before and after."""


BAD, LOOK, GOOD, NOTHING = "❌", "⚠️", "✅", "–"
"""Marks of what happened, the worst first."""


@dataclass(frozen=True, slots=True)
class Row:
    """Something that happened, as a reviewer is told.

    Attributes:
        kind: One of `schema.CHANGES`; empty for what is of none.
        study: Id of the study; empty where it is of several.
        noun: What it counts as, such as `check failure`.
        gates: The kinds of `--fail-on` that stop on it.
        explained: The text of the history's new entry that explains it; empty without one.
        order: `cause` where answers changed for it, so that it comes before them; `page` of an
            answer below the study's page, which comes after what was removed.
        details: What else is to be known of it.
    """

    kind: str
    mark: str
    study: str
    text: str
    noun: str
    gates: frozenset[str] = frozenset()
    explained: str = ""
    order: Literal["", "cause", "page"] = ""
    details: tuple[str, ...] = ()


def row(
    kind: str,
    mark: str,
    study: str,
    text: str,
    noun: str,
    *gates: str,
    details: Iterable[str] = (),
) -> Row:
    """A row of texts that may come from data; the worst stop the gate of their kind.

    Args:
        gates: Other kinds of `--fail-on` that stop on it.
    """
    stops = frozenset({*([kind] if mark == BAD else []), *gates})
    more = tuple(line(detail) for detail in details if detail)
    return Row(kind, mark, line(study), line(text), noun, stops, details=more)


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows of plain texts.

    Attributes:
        links: By row, the address below the site's root of what it is about; empty for none.
        linked: The column whose texts are links.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    links: tuple[str, ...] = ()
    linked: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """One change: a line, with lines and a table that say more.

    Attributes:
        study: Id of the study it is about.
    """

    text: str
    study: str
    details: tuple[str, ...] = ()
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """Entries of one kind, the most important first."""

    id: str
    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Lead:
    """What a reviewer must see of one study: its answer, and what changed in a few lines.

    Attributes:
        study: Its id.
        title: Its title.
        page: Address of its page below the site's root; empty for a study without one.
        text: The answer of its page, where that may have changed; else empty.
        table: The changed values, those first that matter most; None where no value changed.
        remarks: What is so of all of them, and how many more there are.
        grids: The differences of grids with several changed values, cell by cell.
    """

    study: str
    title: str
    page: str
    text: str
    table: Table | None = None
    remarks: tuple[str, ...] = ()
    grids: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """Changes in words.

    Attributes:
        base, head: The names of the two snapshots.
        base_commit, head_commit: Full hash of a revision; None for a folder.
        rows: What happened, the worst first.
        leads: The studies that changed, as far as they fit into what is read first.
        more: The studies that didn't fit, in a sentence; empty for none.
        sections: All else, causes before consequences.
        titles: The titles of studies, by their ids.
    """

    base: str
    base_commit: str | None
    head: str
    head_commit: str | None
    rows: tuple[Row, ...]
    sections: tuple[Section, ...]
    leads: tuple[Lead, ...] = ()
    more: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)

    @property
    def changed(self) -> bool:
        """Whether anything changed."""
        return bool(self.rows)

    @property
    def mark(self) -> str:
        """What stands before the verdict: that of the worst row."""
        return self.rows[0].mark if self.rows else NOTHING

    @property
    def summary(self) -> str:
        """The worst thing that happened, and in which study."""
        if not self.rows:
            return "No change of the results"
        worst = self.rows[0]
        title = self.titles.get(worst.study, "")
        named = not title or title in worst.text
        return worst.text if named else f"{worst.text} · {line(title, TITLE)}"

    @property
    def headline(self) -> str:
        """The verdict with its mark."""
        return f"{self.mark} {self.summary}"

    @property
    def several(self) -> bool:
        """Whether it is of more than one study."""
        return len({row.study for row in self.rows if row.study}) > 1

    @property
    def points(self) -> list[tuple[str, str]]:
        """What else happened, each with its mark: some of each kind, and how many more."""
        found = []
        if self.rows and self.rows[0].explained:
            found.append((self.mark, f"Explained: “{self.rows[0].explained}”"))
        # What is fine is counted in a row of its own.
        others = [row for row in self.rows[1:] if row.mark != GOOD or row.kind == "summary"]
        for _, group in groupby(others, key=lambda row: (row.mark, row.kind, row.noun)):
            rows = list(group)
            for row in rows[:NAMED]:
                title = self.titles.get(row.study, "") if self.several else ""
                text = f"{line(title, TITLE)}: {row.text}" if title not in row.text else row.text
                same = row.explained in ("", self.rows[0].explained)
                end = "" if same else f". Explained: “{row.explained}”"
                found.append((row.mark, text + end))
            if len(rows) > NAMED:
                more = plural(len(rows) - NAMED, f"more {rows[0].noun}")
                found.append((rows[0].mark, f"And {more}"))
        return found

    @property
    def title(self) -> str:
        """`Changes in the results: main → HEAD`."""
        return f"Changes in the results: {self.base} → {self.head}"

    @property
    def compared(self) -> str:
        """`main (0123456789ab) → data`: the two snapshots, revisions with their commits."""
        sides = (self.base, self.base_commit), (self.head, self.head_commit)
        return " → ".join(
            name if not commit else commit[:12] if name == commit else f"{name} ({commit[:12]})"
            for name, commit in sides
        )


def entry(
    study: str,
    text: str,
    details: Iterable[str] = (),
    table: Table | None = None,
) -> Entry:
    """An entry of texts that may come from data."""
    return Entry(
        line(text),
        line(study),
        tuple(line(detail) for detail in details if detail),
        table and in_lines(table),
    )


def in_lines(table: Table) -> Table:
    """A table of texts that may come from data."""
    rows = tuple(tuple(map(line, row)) for row in table.rows)
    return replace(table, columns=tuple(map(line, table.columns)), rows=rows)


# --- texts --------------------------------------------------------------------------------------


def line(text: object, limit: int = MAX_TEXT) -> str:
    """A text from data on one line, with nothing in it that can't be seen.

    Spaces of all kinds are spaces; what else has no picture (controls, marks that turn the order of
    letters, letters of no width) is written by its number.
    """
    flat = re.sub(r"[ \t\r\n]+", " ", str(text)).strip()
    flat = "".join(" " if unicodedata.category(c) == "Zs" else c for c in flat)
    flat = printable(flat)
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"


def more_than(shown: int, number: int, noun: str, of: str = "") -> str:
    """`and 3 more cells of this grid` where more than the shown ones are there; else empty."""
    more = number - shown
    return f"and {many(more, f'more {noun}')}{of}" if more > 0 else ""


def truncate(names: Iterable[str], limit: int) -> str:
    """`a; b and 3 more`."""
    texts = list(names)
    more = len(texts) - limit
    return "; ".join(texts[:limit]) + (f" and {more} more" if more > 0 else "")


def before_and_now(name: str, old: str, new: str) -> str:
    """`title: A → B`; of long texts the part in which they differ."""
    old, new = line(old, len(old) + 1), line(new, len(new) + 1)
    if min(len(old), len(new)) > EXCERPT // 2:
        # Of long texts, from a little before the first letter that differs.
        same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
        start = old.rfind(" ", 0, max(0, (same or min(len(old), len(new))) - 40)) + 1
        old, new = (f"{'…' if start else ''}{text[start:]}" for text in (old, new))
    before, after = (line(text, EXCERPT) or "none" for text in (old, new))
    return f"{name}: {before} → {after}"


def grid_name(study: Study, levels: Levels) -> str:
    """`R1-Qwen | AIME24`; the metric's name for a study without facets."""
    return " | ".join(level.label for level in study.levels_of(levels)) or study.metric.name


def place_name(study: Study, point: Point) -> str:
    """`ratio 0.4, local window size 2000`."""
    return cell_name((study.x, study.second), point)


def place_in(study: Study, levels: Levels, point: Point) -> str:
    """`R1-Qwen | AIME24, ratio 0.4, local window size 2000`."""
    return f"{grid_name(study, levels)}, {place_name(study, point)}"


def reading_name(study: Study, reading: str) -> str:
    """`reading “Paper”`, by its label; `shown values` without a reading."""
    if not reading:
        return "shown values"
    labels = {other.id: other.label for other in study.readings}
    return f"reading “{labels.get(reading, reading)}”"


def value_text(study: Study, value: Decimal | None) -> str:
    """A value as printed, with its unit."""
    if value is None:
        return "no value"
    # The mean of others has as many digits as a computer gives it.
    exact = places_of(value) <= MOST_PLACES
    text = str(value) if exact else format_value(value, study.metric.decimals or 1)
    return value_with_unit(text, study.metric.unit)


def plural(number: int, noun: str) -> str:
    """`3 new studies`, `2 new disagreements of readings`."""
    first, of, rest = noun.partition(" of ")
    return many(number, first, f"{first[:-1]}ies" if first.endswith("y") else "") + of + rest


def values_of(grid: Grid) -> int:
    """Number of cells with a value."""
    return int(grid.columns.value.defined.sum())


def grids_text(grids: Iterable[Grid]) -> str:
    """`2 grids and 40 values`."""
    sizes = [values_of(grid) for grid in grids]
    return f"{many(len(sizes), 'grid')} and {many(sum(sizes), 'value')}"
