"""Makes the rows of `cells.csv`, and accounts for each row that was read."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, cached_property

from gridatlas.data.rows import OPTIONAL_COLUMNS
from gridatlas.data.tables import guarded
from gridatlas.data.validate import RESERVED_FACTORS
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
from gridatlas.importing.options import ROWS
from gridatlas.importing.propose import Proposal
from gridatlas.importing.rows import Reported
from gridatlas.model.problems import quote
from gridatlas.model.schema import RESERVED_FACETS, level_key


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
        # A text stands in many rows, and is looked at once.
        safe = cache(guarded)
        writer.writerows([safe(row[at]) for at in used] for row in (self.columns, *self.rows))
        return text.getvalue()

    def levels(self, factor: FactorColumn) -> list[str]:
        """The different levels of a factor: numbers by value, texts as they first appear."""
        return self._levels[factor.id]

    @cached_property
    def _levels(self) -> Mapping[str, list[str]]:
        every: dict[str, list[str]] = {}
        for factor in self.factors:
            at = self.columns.index(factor.id)
            texts = dict.fromkeys(row[at] for row in self.rows)
            found = list(dict.fromkeys(map(level_key, texts)))
            if all(number_text(one, "point") for one in found):
                found.sort(key=Decimal)
            every[factor.id] = found
        return every


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
    metric_column = proposal.columns[proposal.metric]
    value_of = cache(lambda text: _value(metric_column, text))
    written = [_levels(proposal.columns[name], fill) for name in proposal.factors]
    levels_of = _rows_of(written)
    keys_of = _rows_of([_keys(texts) for texts in written])
    repeats_of = _rows_of([proposal.columns[name].levels for name in numbers])
    for at, raw in enumerate(proposal.table.rows):
        levels = levels_of(at)
        why = _no_level(proposal, levels)
        value, state, note, bad = value_of(metric_column.texts[at])
        counts, bad_count = _counts(proposal, at, absent=not value)
        repeat, key = repeats_of(at), keys_of(at)
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
            said = metric_column.texts[at]
            absent.append(Absent(raw.place, plain(said)))
        given = [proposal.columns[name].texts[at].strip() for name in proposal.taken]
        note = "; ".join(filter(None, (note, *given)))
        where = f" ({', '.join(f'{n} {r}' for n, r in zip(numbers, repeat, strict=True))})"
        rows.append((*levels, value, *counts, state, note, raw.place + (where if numbers else "")))
    columns = (*(factor.id for factor in factors), metric, "n", "successes", "stderr")
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


def _levels(column: Column, fill: str | None) -> list[str]:
    """The level of each row as it is written; empty where there is none."""
    written: Mapping[str, str | None] = column.number_of
    if not column.as_numbers:
        written = {text: " ".join(text.split()) for text in column.counts}
    return [written[text] or fill or "" for text in column.texts]


def _keys(texts: Sequence[str]) -> list[str]:
    """What levels are known by; empty where there is none."""
    known = {text: level_key(text) if text else "" for text in dict.fromkeys(texts)}
    return [known[text] for text in texts]


def _rows_of(columns: Sequence[Sequence[str]]) -> Callable[[int], tuple[str, ...]]:
    """What some columns have in a row."""
    rows = [*zip(*columns, strict=True)]
    return rows.__getitem__ if columns else lambda _: ()


def _no_level(proposal: Proposal, levels: Sequence[str]) -> str:
    if all(levels):
        return ""
    name = proposal.factors[levels.index("")]
    return f"no level of {name} (--fill TEXT names it)"


def _value(column: Column, text: str) -> tuple[str, str, str, str]:
    """Value, state and note of a row's text, and what is wrong with it."""
    number = column.number_of[text]
    if number is not None:
        if column.percents and not without_percent(without_margin(text)[0])[1]:
            return (
                "",
                "",
                "",
                (f"{quote(plain(text))} in {column.name} has no % as others have"),
            )
        margin = without_margin(text)[1]
        return number, "", f"± {margin} in the source" if margin else "", ""
    if not is_absent(text):
        return "", "", "", f"{quote(text)} in {column.name}, which is no number"
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
        text = column.texts[at]
        number = column.number_of[text]
        if number is None:
            if not is_absent(text):
                return [], f"{quote(text)} in {name}, which is no number"
            found.append("")
            continue
        value = Decimal(number)
        if kind != "stderr" and value != value.to_integral_value():
            return [], f"{quote(text)} in {name}, which is no whole number"
        if value < 0 or (kind == "n" and value == 0 and not absent):
            return [], f"{quote(text)} in {name}, which can't be"
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
    taken = {factor.id for factor in factors}
    return "value" if name in (*OPTIONAL_COLUMNS, "reading", *taken) else name
