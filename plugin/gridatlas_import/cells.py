"""Makes the columns of `cells.csv`, and accounts for each row that was read."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache, cached_property, partial
from itertools import compress, count, repeat
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from gridatlas.data.columns import OPTIONAL_COLUMNS
from gridatlas.data.levels import slug
from gridatlas.data.names import RESERVED_FACTORS
from gridatlas.data.reader import DEFAULT_TABLE
from gridatlas.data.tables import guarded_column
from gridatlas.data.text import unnameable
from gridatlas.model.problems import quote
from gridatlas.model.schema import REPEAT, RESERVED_FACETS, level_key
from gridatlas_import.columns import Column
from gridatlas_import.metric import last_part, unit_in_name
from gridatlas_import.numerals import (
    INFINITE,
    STATES_IN_WORDS,
    is_absent,
    is_censored,
    is_several,
    margin_number,
    number_text,
    plain,
    without_margin,
    without_percent,
)
from gridatlas_import.options import ROWS
from gridatlas_import.propose import Proposal
from gridatlas_import.rows import Reported, unknown, unused
from gridatlas_import.vocabulary import CONFIG_NAMESPACE, FAILED_STATES, LABELS, RUNNING_STATES


@dataclass(frozen=True, slots=True)
class FactorColumn:
    """A factor's column in the source, its name in the study, its label and unit."""

    source: str
    id: str
    label: str
    unit: str

    @property
    def shown(self) -> str:
        """What pages call it."""
        return self.label or self.id.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Absent:
    """A cell without a value: where it stands, and what stands there."""

    place: str
    text: str


@dataclass(frozen=True)
class Imported:
    """What becomes of the rows: `read` = `cells` + `repeats` + reported.

    Attributes:
        columns: Of the table that is written, those in which something stands: by name, the text
            of each row.
        cells: How many different cells the rows are of.
        repeats: How many rows are further ones of a cell.
        reported: Rows that give no cell.
        spread: Name of the column with what stands beside values; empty without one.
        replicates: By the source's column, the one that numbers the repeats of a cell.
        readings: Of each row, whose account it is; empty where all are of one.
    """

    factors: tuple[FactorColumn, ...]
    metric: str
    columns: Mapping[str, Sequence[str]]
    read: int
    cells: int
    repeats: int
    reported: tuple[Reported, ...]
    absent: tuple[Absent, ...]
    spread: str = ""
    replicates: Mapping[str, str] = field(default_factory=dict)
    readings: Sequence[str] = ()

    @property
    def files(self) -> Mapping[str, str]:
        """The name of each reading's table, the first with most rows; one without readings."""
        times = Counter(self.readings or [""]).most_common()
        first = Path(DEFAULT_TABLE)
        names = [
            first.name,
            *(f"{first.stem}-{at}{first.suffix}" for at in range(2, 1 + len(times))),
        ]
        return dict(zip((reading for reading, _ in times), names, strict=True))

    def tables(self) -> dict[str, str]:
        """The tables as texts, by the names of their files."""
        columns = (_in_csv([name, *texts]) for name, texts in self.columns.items())
        head, *rows = map(",".join, zip(*columns, strict=True))
        found = {}
        for reading, name in self.files.items():
            own = rows if not self.readings else compress(rows, map(reading.__eq__, self.readings))
            found[name] = "\n".join((head, *own, ""))
        return found

    def levels(self, factor: FactorColumn) -> list[str]:
        """The different levels of a factor: numbers by value, texts as they first appear."""
        return self._levels[factor.id]

    @cached_property
    def _levels(self) -> Mapping[str, list[str]]:
        levels: dict[str, list[str]] = {}
        for factor in self.factors:
            texts = dict.fromkeys(self.columns[factor.id])
            found = list(dict.fromkeys(map(level_key, texts)))
            if all(number_text(level, "point") for level in found):
                found.sort(key=Decimal)
            levels[factor.id] = found
        return levels


_QUOTED = re.compile(r'[,"\r\n]')
Texts = TypeVar("Texts", str, Sequence[str])
"""What one row gives, or a column of that."""


def _in_csv(texts: Sequence[str]) -> Sequence[str]:
    """The texts of a column as they stand in a line of CSV."""
    texts = guarded_column(texts)
    if not _QUOTED.search("\t".join(texts)):
        return texts  # in a third of the time that a writer of CSV takes
    return ['"{}"'.format(t.replace('"', '""')) if _QUOTED.search(t) else t for t in texts]


class _Value(NamedTuple, Generic[Texts]):
    """What the text of a value gives; with a `problem`, no cell."""

    number: Texts
    state: Texts
    note: Texts
    problem: Texts


class _Counts(NamedTuple, Generic[Texts]):
    """What the texts of counts give; with a `problem`, no cell."""

    n: Texts
    successes: Texts
    stderr: Texts
    problem: Texts


@dataclass(frozen=True)
class _Rows:
    """The rows of the source, by columns, as they shall be written."""

    proposal: Proposal
    fill: str | None

    @cached_property
    def levels(self) -> list[Sequence[str]]:
        """The level of each row as it is written, by factors; empty where there is none."""
        return [_levels(self.proposal.columns[name], self.fill) for name in self.proposal.factors]

    @cached_property
    def keys(self) -> list[Sequence[str]]:
        """What levels are known by, by factors; empty where there is none."""
        return [_keys(texts) for texts in self.levels]

    @cached_property
    def numbers(self) -> Mapping[str, Sequence[str]]:
        """The levels of the columns that number repeats."""
        columns = self.proposal.columns
        return {name: columns[name].levels for name in self.proposal.repeats if name != ROWS}

    @cached_property
    def readings(self) -> Sequence[str]:
        """Whose account each row is; none where all are of one."""
        name = self.proposal.table.reading
        levels = self.proposal.columns[name].levels if name else ()
        return [level or "source not named" for level in levels] if len({*levels}) > 1 else ()

    @cached_property
    def values(self) -> _Value[Sequence[str]]:
        """The value of each row."""
        column = self.proposal.columns[self.proposal.metric]
        ended = self.proposal.columns.get(self.proposal.state)
        if not column.odd and ended is None:
            return _Value(column.texts, *[[""] * len(column.texts)] * 3)
        value_of = {text: _Value(text, "", "", "") for text in column.counts}
        looked_at = column.counts if column.percents else column.odd
        value_of |= {text: _value(column, text) for text in looked_at}
        values = [*map(value_of.__getitem__, column.texts)]
        if ended is not None:
            stopped = {text for text in ended.counts if _ended(text) or _is_running(text)}
            values = [
                _without_value(value, text) if text in stopped and value.number else value
                for value, text in zip(values, ended.texts, strict=True)
            ]
        return _Value(*zip(*values, strict=True))

    @cached_property
    def states(self) -> Sequence[str]:
        """The state of each row: as it stands in place of the value, else as its run ended."""
        ended = self.proposal.columns.get(self.proposal.state)
        if ended is None:
            return self.values.state
        state_of = {text: _ended(text) for text in ended.counts}
        each = zip(self.values.number, self.values.state, ended.texts, strict=True)
        return [state or ("" if number else state_of[text]) for number, state, text in each]

    @cached_property
    def counts(self) -> _Counts[Sequence[str]]:
        """The counts of each row."""
        columns = [self.proposal.columns.get(self.proposal.counts.get(kind, "")) for kind in _KINDS]
        if not any(columns):
            return _Counts(*[[""] * len(self.values.number)] * 4)
        absent = [not number for number in self.values.number]
        texts = [column.texts if column else repeat("") for column in columns]
        counts = map(cache(partial(_counts, columns)), absent, *texts)
        return _Counts(*zip(*counts, strict=True))

    @cached_property
    def spreads(self) -> Sequence[str]:
        """What stands beside the value of each row: after a ±, or in a column of its own."""
        name, metric = self.proposal.spread[0], self.proposal.columns[self.proposal.metric]
        if not name:
            return [""] * len(metric.texts)
        if name == self.proposal.metric:
            margins = {text: margin_number(text, metric.mark) or "" for text in metric.counts}
            return [*map(margins.__getitem__, metric.texts)]
        column = self.proposal.columns[name]
        numbers = [column.number_of[text] or "" for text in column.texts]
        # What is beside no value says nothing.
        return [
            number if value else ""
            for number, value in zip(numbers, self.values.number, strict=True)
        ]

    @cached_property
    def notes(self) -> Sequence[str]:
        """What is written of each row for people."""
        notes = self.values.note
        for name in self.proposal.taken:
            given = map(str.strip, self.proposal.columns[name].texts)
            notes = ["; ".join(filter(None, pair)) for pair in zip(notes, given, strict=True)]
        return notes

    @cached_property
    def wrong(self) -> Mapping[int, str]:
        """Why rows give no cell."""
        proposal = self.proposal
        wrong: dict[int, str] = {}
        for name, levels in zip(proposal.factors, self.levels, strict=True):
            if "" in levels:
                why = f"no level of {name} (--fill TEXT names it)"
                for row, level in enumerate(levels):
                    if not level:
                        wrong.setdefault(row, why)
        for problems in (self.values.problem, self.counts.problem):
            for row in compress(count(), problems):
                wrong.setdefault(row, problems[row])
        if proposal.repeats != (ROWS,):
            first: dict[tuple[str, ...], int] = {}
            places = proposal.table.places
            readings = [self.readings] if self.readings else []
            keys = [*zip(*self.keys, *self.numbers.values(), *readings, strict=True)]
            if len(set(keys)) == len(keys):
                return wrong
            for row, key in enumerate(keys):
                if row in wrong:
                    continue
                before = first.setdefault(key, row)
                if before != row:
                    wrong[row] = f"its cell is already at {places[before]}{_how(proposal, row)}"
        return wrong


def make_cells(proposal: Proposal, fill: str | None) -> Imported:
    """The columns of `cells.csv`; rows that can't be cells are reported.

    Args:
        fill: Level of a factor where nothing stands.
    """
    factors = _named(proposal)
    table, rows = proposal.table, _Rows(proposal, fill)
    metric = _metric_column(proposal, factors)
    taken = {metric, *(factor.id for factor in factors)}
    replicates = _names_of_repeats(rows.numbers, taken)
    taken.update(replicates.values())
    spread = "spread" if "spread" not in taken else "printed_spread"
    source = proposal.columns[proposal.metric].texts
    columns: dict[str, Sequence[str]] = {
        **dict(zip((factor.id for factor in factors), rows.levels, strict=True)),
        **{replicates[source]: levels for source, levels in rows.numbers.items()},
        metric: rows.values.number,
        spread: rows.spreads,
        "n": rows.counts.n,
        "successes": rows.counts.successes,
        "stderr": rows.counts.stderr,
        "state": rows.states,
        "note": rows.notes,
        "place": table.places,
    }
    keys = rows.keys
    good: Sequence[int] = range(len(table.places))
    if rows.wrong:
        good = [row for row in good if row not in rows.wrong]
        columns = {name: [texts[row] for row in good] for name, texts in columns.items()}
        keys = [[texts[row] for row in good] for texts in keys]
    readings = [rows.readings[row] for row in good] if rows.readings else ()
    keys = [*keys, readings] if readings else keys
    cells = len(set(zip(*keys, strict=True)))
    absent = [row for row, value in zip(good, columns[metric], strict=True) if not value]
    needed = columns.keys() - {*OPTIONAL_COLUMNS, spread} | {"place"}
    columns = {name: texts for name, texts in columns.items() if name in needed or any(texts)}
    bad = [Reported(table.places[row], rows.wrong[row], bad=True) for row in sorted(rows.wrong)]
    return Imported(
        factors,
        metric,
        columns,
        len(table.places) + len(table.reported) + len(proposal.left),
        cells,
        len(good) - cells,
        (*table.reported, *proposal.left, *bad),
        tuple(Absent(table.places[row], plain(source[row])) for row in absent),
        spread if spread in columns else "",
        replicates or ({ROWS: REPEAT} if proposal.repeats == (ROWS,) else {}),
        readings,
    )


def with_labels(
    imported: Imported, proposal: Proposal, labels: Mapping[str, str]
) -> tuple[Imported, Proposal]:
    """The same under names that somebody gives, by columns of the source.

    Raises:
        CannotImport: For a column that is no factor and no metric.
    """
    able = [*(factor.source for factor in imported.factors), proposal.metric]
    for name in labels:
        if name not in able:
            raise unknown("--label", name, able, "a factor or the metric:")
    factors = tuple(
        replace(factor, label=labels.get(factor.source, factor.label))
        for factor in imported.factors
    )
    about = replace(proposal.about, name=labels.get(proposal.metric, proposal.about.name))
    return replace(imported, factors=factors), replace(proposal, about=about)


def _names_of_repeats(sources: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """A name in the study for each column that numbers repeats, which no other column has."""
    names: dict[str, str] = {}
    used = {*taken, *RESERVED_FACTORS}
    for source in sources:
        names[source] = unused(identifier(last_part(source), "repeat"), used)
        used.add(names[source])
    return names


def _levels(column: Column, fill: str | None) -> Sequence[str]:
    """The level of each row as it is written; empty where there is none."""
    written: Mapping[str, str | None] = column.number_of
    if not column.as_numbers:
        written = {text: " ".join(text.split()) for text in column.counts}
    levels = _apart({text: level or fill or "" for text, level in written.items()})
    return [*map(levels.__getitem__, column.texts)]


def _apart(levels: dict[str, str]) -> dict[str, str]:
    """Levels whose addresses differ: of `mbpp` and `mbpp+` the second is `mbpp plus`."""
    first: dict[str, str] = {}
    for text, level in levels.items():
        if level and first.setdefault(slug(level_key(level)), level_key(level)) != level_key(level):
            levels[text] = level.replace("+", " plus")
    return levels


def _keys(texts: Sequence[str]) -> Sequence[str]:
    """What levels are known by; empty where there is none."""
    keys = {text: level_key(text) if text else "" for text in dict.fromkeys(texts)}
    return [*map(keys.__getitem__, texts)]


def _value(column: Column, text: str) -> _Value[str]:
    number = column.number_of[text]
    if number is not None:
        if column.percents and not without_percent(without_margin(text)[0])[1]:
            problem = f"{quote(plain(text))} in {column.name} has no % as others have"
            return _Value("", "", "", problem)
        margin = without_margin(text)[1]
        is_read = not margin or margin_number(text, column.mark) is not None
        return _Value(number, "", "" if is_read else f"± {margin} in the source", "")
    if not is_absent(text) and not column.is_metric_like:
        return _Value("", "", "", f"{quote(text)} in {column.name}, which is no number")
    lower = plain(text).lower()
    state = STATES_IN_WORDS.get(lower, "")
    is_quoted = state == "failed" or lower in INFINITE or is_censored(lower) or is_several(lower)
    is_quoted = is_quoted or not is_absent(text)
    return _Value("", state, f"“{plain(text)}” in the source" if is_quoted else "", "")


def _ended(text: str) -> str:
    """The state that says how a run ended that has no value; empty where it went well."""
    lower = plain(text).lower()
    if "memory" in lower or lower == "oom":
        return "oom"
    return "failed" if lower in FAILED_STATES or "error" in lower else ""


def _is_running(text: str) -> bool:
    """Whether a run hasn't ended yet."""
    return plain(text).lower() in RUNNING_STATES


def _without_value(value: _Value[str], text: str) -> _Value[str]:
    """What a run that stopped early had by then: an intermediate number is no result."""
    return _Value("", value.state, f"{value.number} when it was {plain(text).lower()}", "")


_KINDS = ("n", "successes", "stderr")


def _counts(columns: Sequence[Column | None], absent: bool, *texts: str) -> _Counts[str]:
    """The counts in one row.

    Args:
        columns: Of the counts, in the order of `_KINDS`; None where there is none.
        absent: Whether the row has no value.
    """
    found = []
    for kind, column, text in zip(_KINDS, columns, texts, strict=True):
        number = column.number_of[text] if column else None
        if column is None or number is None:
            if column and not is_absent(text):
                return _Counts("", "", "", f"{quote(text)} in {column.name}, which is no number")
            found.append("")
            continue
        value = Decimal(number)
        if kind != "stderr" and value != value.to_integral_value():
            problem = f"{quote(text)} in {column.name}, which is no whole number"
            return _Counts("", "", "", problem)
        if value < 0 or (kind == "n" and value == 0 and not absent):
            return _Counts("", "", "", f"{quote(text)} in {column.name}, which can't be")
        if kind == "n" and value == 0:
            number = ""
        found.append(number if kind == "stderr" or not number else str(int(value)))
    n, successes, stderr = found
    if n and successes and int(successes) > int(n):
        return _Counts("", "", "", f"{successes} successes of {n}")
    return _Counts(n, successes, stderr, "")


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
        name = unused(name, {factor.id for factor in found})
        setting = CONFIG_NAMESPACE.fullmatch(bare)
        bare = last_part(next(filter(None, setting.groups())) if setting else bare)
        label = LABELS.get(identifier(bare)) or bare.replace("_", " ")
        label = "" if name.replace("_", " ") == label else label
        found.append(FactorColumn(source, name, label, unit))
    return tuple(found)


def identifier(name: str, kind: str = "factor") -> str:
    """A name as an id: lower-case letters, digits, `_`, `.`, `-`; any system has files of it.

    Args:
        kind: What it is the id of, for a name that gives none.
    """
    text = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    text = re.sub(r"[^a-z0-9_.-]+", "_", text).strip("_.-")[:60].rstrip("_.-") or kind
    return f"{kind}_{text}" if unnameable(text) else text


def _metric_column(proposal: Proposal, factors: Sequence[FactorColumn]) -> str:
    name = unit_in_name(proposal.metric)[0]
    taken = {factor.id for factor in factors}
    return "value" if name in (*OPTIONAL_COLUMNS, "reading", *taken) else name
