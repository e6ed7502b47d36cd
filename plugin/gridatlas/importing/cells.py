"""Makes the rows of `cells.csv`, and accounts for each row that was read."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from gridatlas.cells import OPTIONAL_COLUMNS
from gridatlas.importing.asked import ROWS
from gridatlas.importing.columns import Column
from gridatlas.importing.metric import last_part, unit_in_name
from gridatlas.importing.numerals import (
    INFINITE,
    STATES_IN_WORDS,
    is_absent,
    number_text,
    plain,
    without_margin,
    without_percent,
)
from gridatlas.importing.propose import Proposal
from gridatlas.importing.raw import Reported
from gridatlas.problems import shown
from gridatlas.schema import RESERVED_FACETS, level_key
from gridatlas.tables import guarded
from gridatlas.validate import RESERVED_FACTORS


@dataclass(frozen=True, slots=True)
class FactorColumn:
    """A factor's column in the source, its name in the study, its label and unit."""

    source: str
    id: str
    label: str
    unit: str


@dataclass(frozen=True, slots=True)
class Absent:
    """A cell without a value: where it stands, and what stands there."""

    place: str
    text: str


@dataclass(frozen=True)
class Imported:
    """What becomes of the rows: `read` = `cells` + `repeats` + reported.

    Attributes:
        columns: Of the table that is written.
        rows: Its rows.
        cells: How many different cells they are of.
        repeats: How many rows are further ones of a cell.
        reported: Rows that give no cell.
    """

    factors: tuple[FactorColumn, ...]
    metric: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    read: int
    cells: int
    repeats: int
    reported: tuple[Reported, ...]
    absent: tuple[Absent, ...]

    def csv(self) -> str:
        """The table as text; columns in which nothing stands are left out."""
        used = [
            at
            for at, name in enumerate(self.columns)
            if name not in OPTIONAL_COLUMNS or any(row[at] for row in self.rows)
        ]
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        for row in (self.columns, *self.rows):
            writer.writerow([guarded(row[at]) for at in used])
        return text.getvalue()

    def levels(self, factor: FactorColumn) -> list[str]:
        """The different levels of a factor: numbers by value, texts as they first appear."""
        at = self.columns.index(factor.id)
        found = list(dict.fromkeys(level_key(row[at]) for row in self.rows))
        if all(number_text(one, "point") for one in found):
            found.sort(key=Decimal)
        return found


def make_cells(proposal: Proposal, fill: str | None) -> Imported:
    """The rows of `cells.csv`; rows that can't be cells are reported.

    Args:
        fill: Level of a factor where nothing stands.
    """
    factors = _named(proposal)
    metric = _metric_column(proposal, factors)
    reported = [*proposal.table.reported, *proposal.left]
    numbers = [name for name in proposal.repeats if name != ROWS]
    rows: list[tuple[str, ...]] = []
    absent: list[Absent] = []
    seen: dict[tuple[str, ...], str] = {}
    cells: set[tuple[str, ...]] = set()
    for at, raw in enumerate(proposal.table.rows):
        levels, why = _levels(proposal, at, fill)
        value, state, note, bad = _value(proposal.columns[proposal.metric], at)
        counts, bad_count = _counts(proposal, at, absent=not value)
        repeat = tuple(proposal.columns[name].levels[at] for name in numbers)
        key = tuple(map(level_key, levels)) if not why else ()
        problem = why or bad or bad_count
        if not problem and proposal.repeats != (ROWS,):
            first = seen.get((*key, *repeat))
            if first:
                problem = f"its cell stands at {first} already{_how(proposal, at)}"
        if problem:
            reported.append(Reported(raw.place, problem, bad=True))
            continue
        seen[*key, *repeat] = raw.place
        cells.add(key)
        if not value:
            said = proposal.columns[proposal.metric].texts[at]
            absent.append(Absent(raw.place, plain(said)))
        given = [proposal.columns[name].texts[at].strip() for name in proposal.taken]
        note = "; ".join(filter(None, (note, *given)))
        where = f" ({', '.join(f'{n} {r}' for n, r in zip(numbers, repeat, strict=True))})"
        rows.append((*levels, value, *counts, state, note, raw.place + (where if numbers else "")))
    columns = (*(one.id for one in factors), metric, "n", "successes", "stderr")
    return Imported(
        factors,
        metric,
        (*columns, "state", "note", "place"),
        tuple(rows),
        len(proposal.table.rows) + len(proposal.table.reported) + len(proposal.left),
        len(cells),
        len(rows) - len(cells),
        tuple(reported),
        tuple(absent),
    )


def _levels(proposal: Proposal, at: int, fill: str | None) -> tuple[list[str], str]:
    levels = []
    for name in proposal.factors:
        column = proposal.columns[name]
        text = column.numbers[at] if column.as_numbers else " ".join(column.texts[at].split())
        if not text and fill is None:
            return [], f"no level of {name} (--fill TEXT names it)"
        levels.append(text or fill or "")
    return levels, ""


def _value(column: Column, at: int) -> tuple[str, str, str, str]:
    """Value, state and note of a row, and what is wrong with it."""
    text, number = column.texts[at], column.numbers[at]
    if number is not None:
        if column.percents and not without_percent(without_margin(text)[0])[1]:
            return (
                "",
                "",
                "",
                (f"{shown(plain(text))} in {column.name} has no % as others have"),
            )
        margin = without_margin(text)[1]
        return number, "", f"± {margin} in the source" if margin else "", ""
    if not is_absent(text):
        return "", "", "", f"{shown(text)} in {column.name}, which is no number"
    lower = plain(text).lower()
    state = STATES_IN_WORDS.get(lower, "")
    told = state == "failed" or lower in INFINITE
    return "", state, f"“{plain(text)}” in the source" if told else "", ""


def _counts(proposal: Proposal, at: int, *, absent: bool) -> tuple[list[str], str]:
    found = []
    for kind in ("n", "successes", "stderr"):
        name = proposal.counts.get(kind)
        if name is None:
            found.append("")
            continue
        column = proposal.columns[name]
        text, number = column.texts[at], column.numbers[at]
        if number is None:
            if not is_absent(text):
                return [], f"{shown(text)} in {name}, which is no number"
            found.append("")
            continue
        value = Decimal(number)
        if kind != "stderr" and value != value.to_integral_value():
            return [], f"{shown(text)} in {name}, which is no whole number"
        if value < 0 or (kind == "n" and value == 0 and not absent):
            return [], f"{shown(text)} in {name}, which can't be"
        if kind == "n" and value == 0:
            number = ""
        found.append(number if kind == "stderr" or not number else str(int(value)))
    if found[0] and found[1] and int(found[1]) > int(found[0]):
        return [], f"{found[1]} successes of {found[0]}"
    return found, ""


def _how(proposal: Proposal, at: int) -> str:
    names = [name for name in (*proposal.factors, *proposal.repeats) if name != ROWS]
    texts = (f"{name} {proposal.columns[name].levels[at]}" for name in names)
    return f" ({', '.join(texts)})"


# --- names ----------------------------------------------------------------------------------------


def _named(proposal: Proposal) -> tuple[FactorColumn, ...]:
    """The factors under names that the data format takes, each with a label where it changed."""
    found: list[FactorColumn] = []
    for source in proposal.factors:
        bare, unit = unit_in_name(source)
        if not unit and proposal.columns[source].as_numbers and proposal.columns[source].percents:
            unit = "%"
        name = identifier(bare)
        if name in (*RESERVED_FACTORS, *RESERVED_FACETS):
            name = f"{name}_setting"
        taken = {one.id for one in found}
        number, first = 2, name
        while name in taken:
            name, number = f"{first}_{number}", number + 1
        label = last_part(bare).replace("_", " ")
        label = "" if name.replace("_", " ") == label else label
        found.append(FactorColumn(source, name, label, unit))
    return tuple(found)


def identifier(name: str) -> str:
    """A name as an id: lower-case letters, digits, `_`, `.`, `-`."""
    text = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9_.-]+", "_", text).strip("_.-")[:60] or "factor"


def _metric_column(proposal: Proposal, factors: Sequence[FactorColumn]) -> str:
    name = unit_in_name(proposal.metric)[0]
    taken = {one.id for one in factors}
    return "value" if name in (*OPTIONAL_COLUMNS, *taken) else name
