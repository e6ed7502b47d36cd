"""Check the rows of tables, and make the cells of readings of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import cast

from gridatlas.data.reader import StudySource
from gridatlas.data.tables import Row, Table
from gridatlas.model.problems import Problem, Severity, join_names, nearest, quote
from gridatlas.model.schema import (
    LONGEST_NAME,
    MOST_TRIALS,
    ReadingEntry,
    level_key,
    level_number,
)
from gridatlas.model.study import (
    STATES,
    Cell,
    Factor,
    Levels,
    Point,
    Reading,
    State,
)

OPTIONAL_COLUMNS = ("n", "successes", "stderr", "state", "note", "place", "run")


def factor_ids(source: StudySource) -> tuple[str, ...]:
    """The ids of x, y and the facets: the columns that each table needs, and the metric's."""
    return (source.file.x, source.file.y, *source.file.facets)


def column(table: Table, name: str) -> list[str]:
    """The texts of one column; empty where the table has no such column."""
    if name not in table.columns:
        return []
    index = table.columns.index(name)
    return [row.values[index] for row in table.rows]


def too_long(level: str) -> bool:
    """Whether a level has more characters than can be shown, or digits where it is a number."""
    return len(level) > LONGEST_NAME or len(level_key(level)) > LONGEST_NAME


def check_columns(source: StudySource, table: Table) -> list[Problem]:
    """Missing and repeated columns; columns that are not read are notes."""
    needed = (*factor_ids(source), source.file.metric.column)
    known = (*needed, *OPTIONAL_COLUMNS)
    extra = [name for name in table.columns if name not in known]
    problems = []
    for name, times in Counter(table.columns).items():
        if times > 1:
            problems.append(
                Problem(
                    "duplicate-column",
                    table.name,
                    f"{times} columns {quote(name)}",
                    "each column once",
                    "rename or remove one",
                    1,
                    name,
                )
            )
    absent = [name for name in needed if name not in table.columns]
    for name in absent:
        near = nearest(name, extra)
        problems.append(
            Problem(
                "missing-column",
                table.name,
                f"the columns {join_names(table.columns)}",
                f"a column {quote(name)}",
                f"rename the column {quote(near)} to {name}"
                if near
                else f"add the column {name}, or correct its name in study.yml",
                1,
                name,
            )
        )
    if not absent:
        problems += [
            Problem(
                "unused-column",
                table.name,
                f"a column {quote(name)}, which is not read",
                f"one of {join_names(known, 30)}",
                "remove the column, or name it in study.yml as a factor",
                1,
                name,
                "note",
            )
            for name in extra
        ]
    return problems


@dataclass(frozen=True)
class _Rows:
    """Reads rows of one table into cells, and makes problems that lie in it."""

    source: StudySource
    table: Table
    factors: Mapping[str, Factor]
    reading: str

    @cached_property
    def places(self) -> Mapping[str, int]:
        return {name: place for place, name in enumerate(self.table.columns)}

    @cached_property
    def known_keys(self) -> dict[str, str]:
        """Keys of levels by their texts: each stands in many rows."""
        return {}

    def text(self, row: Row, name: str) -> str:
        place = self.places.get(name)
        return "" if place is None else row.values[place]

    def problem(
        self, kind: str, row: Row, column: str, found: str, expected: str, fix: str
    ) -> Problem:
        return Problem(kind, self.table.name, found, expected, fix, row.line, column)

    def number(
        self, row: Row, column: str, problems: list[Problem], whole: bool = False
    ) -> Decimal | None:
        text = self.text(row, column)
        if not text:
            return None
        try:
            number = Decimal(text)
        except InvalidOperation:
            number = Decimal("NaN")
        bad = not number.is_finite() or "_" in text or abs(number.adjusted()) > 300
        if not bad and not (whole and number != number.to_integral_value()):
            return number
        expected = "a whole number" if whole else "a number such as 47.3"
        if re.fullmatch(r"[+-]?[\d.]+,\d+", text):
            fix = "write the decimals after a point, not a comma"
        elif text.endswith("%"):
            fix = "leave out the %; the unit stands in study.yml"
        else:
            fix = "correct it, or leave it empty and say why in the columns state and note"
        problems.append(self.problem("not-a-number", row, column, quote(text), expected, fix))
        return None

    def cell(self, row: Row) -> tuple[Cell | None, list[Problem]]:
        metric = self.source.file.metric
        problems: list[Problem] = []
        value = self.number(row, metric.column, problems)
        n = self.number(row, "n", problems, whole=True)
        successes = self.number(row, "successes", problems, whole=True)
        stderr = self.number(row, "stderr", problems)
        state = self.text(row, "state") or ("missing" if value is None else "ok")
        if state not in STATES:
            near = nearest(state, STATES)
            problems.append(
                self.problem(
                    "unknown-state",
                    row,
                    "state",
                    quote(state),
                    f"one of {join_names(STATES)}",
                    f"write {near} instead of {state}" if near else "use one of them",
                )
            )
        elif value is not None and state not in ("ok", "disputed"):
            problems.append(
                self.problem(
                    "value-and-state",
                    row,
                    "state",
                    f"the value {value} and the state {state}",
                    "a value, or a state that says why there is none",
                    "remove the value, or set the state to ok or disputed",
                )
            )
        elif value is None and state == "ok" and not problems:
            problems.append(
                self.problem(
                    "no-value",
                    row,
                    metric.column,
                    "no value and the state ok",
                    "a value",
                    "add the value, or set the state to missing, failed, oom or disputed",
                )
            )
        if value is not None and metric.range:
            low, high = metric.range
            if not low <= value <= high:
                problems.append(
                    self.problem(
                        "out-of-range",
                        row,
                        metric.column,
                        str(value),
                        f"{low} to {high}, the range of {metric.name} in study.yml",
                        "correct the value, or the range",
                    )
                )
        problems += self.check_counts(row, n, successes, stderr)
        if problems:
            return None, problems
        cell = Cell(
            value=value,
            state=cast(State, state),
            reading=self.reading,
            n=None if n is None else int(n),
            successes=None if successes is None else int(successes),
            stderr=stderr,
            note=self.text(row, "note"),
            place=self.text(row, "place"),
            run=self.text(row, "run"),
            line=row.line,
        )
        return cell, problems

    def check_counts(
        self, row: Row, n: Decimal | None, successes: Decimal | None, stderr: Decimal | None
    ) -> list[Problem]:
        problems = []
        if n is not None and not 1 <= n <= MOST_TRIALS:
            fix = "correct it, or leave it empty where it is unknown"
            expected = "1 or more" if n < 1 else f"at most {MOST_TRIALS:,}"
            problems.append(self.problem("wrong-count", row, "n", str(n), expected, fix))
        elif successes is not None and not 0 <= successes <= (n or MOST_TRIALS):
            expected = f"0 to n = {n}" if n is not None else "0 or more"
            if n is None and successes > MOST_TRIALS:
                expected = f"at most {MOST_TRIALS:,}"
            fix = "correct successes or n"
            problems.append(
                self.problem("wrong-count", row, "successes", str(successes), expected, fix)
            )
        if stderr is not None and stderr < 0:
            fix = "correct it, or leave it empty where it is unknown"
            problems.append(
                self.problem("wrong-count", row, "stderr", str(stderr), "0 or more", fix)
            )
        return problems

    def keys(self, row: Row) -> tuple[dict[str, str], list[Problem]]:
        keys, problems = {}, []
        for name in self.factors:
            text = self.text(row, name)
            key = self.known_keys.get(text)
            if key is not None:
                keys[name] = key
            elif text and not too_long(text):
                keys[name] = self.known_keys[text] = level_key(text)
            elif text:
                problems.append(
                    self.problem(
                        "long-level",
                        row,
                        name,
                        f"{max(len(text), len(level_key(text))):,} characters, {quote(text, 40)}",
                        f"a level of at most {LONGEST_NAME:,}",
                        "shorten it; is a quote not closed?",
                    )
                )
            else:
                problems.append(
                    self.problem(
                        "empty-level",
                        row,
                        name,
                        "nothing",
                        f"a level of {name}",
                        "fill it in; each row names its cell",
                    )
                )
        return keys, problems


def read_readings(
    source: StudySource, factors: Mapping[str, Factor], tables: Mapping[str, Table]
) -> tuple[tuple[Reading, ...], list[Problem]]:
    """The readings in the order of `study.yml`; rows with a problem give no cell."""
    readings: list[Reading] = []
    problems: list[Problem] = []
    covered: set[tuple[Levels, Point]] = set()
    for entry in source.readings:
        if entry.id not in tables:
            continue
        rows = _Rows(source, tables[entry.id], factors, entry.id)
        reading, found = _reading(rows, entry)
        # A reading that supplies no shown value only has notes about levels of its own.
        supplies = not readings or not covered.issuperset(reading.cells)
        problems += found + _outside(rows, reading, "problem" if supplies else "note")
        covered.update(at for at, cell in reading.cells.items() if cell.value is not None)
        readings.append(reading)
    return tuple(readings), problems


def _reading(rows: _Rows, entry: ReadingEntry) -> tuple[Reading, list[Problem]]:
    file = rows.source.file
    known = {name: {level.key for level in factor.levels} for name, factor in rows.factors.items()}
    problems: list[Problem] = []
    found: dict[tuple[Levels, Point], list[Cell]] = {}
    outside = []
    for row in rows.table.rows:
        keys, bad_keys = rows.keys(row)
        cell, bad_cell = rows.cell(row)
        problems += bad_keys + bad_cell
        if cell is None or bad_keys:
            continue
        if any(key not in known[name] for name, key in keys.items()):
            outside.append((tuple(keys.items()), cell))
            continue
        levels = tuple(keys[facet] for facet in file.facets)
        found.setdefault((levels, (keys[file.x], keys[file.y])), []).append(cell)
    cells = {}
    for (levels, point), repeats in found.items():
        if len(repeats) > 1 and file.repeats is None:
            at = dict(zip((*file.facets, file.x, file.y), (*levels, *point), strict=True))
            where = ", ".join(f"{name} = {key}" for name, key in at.items())
            problems += [
                Problem(
                    "duplicate-cell",
                    rows.table.name,
                    f"{where} again; it stands on line {repeats[0].line} already",
                    "one row per cell",
                    "remove one row; if they are repeats of a measurement, "
                    "say repeats: mean in study.yml",
                    cell.line,
                    file.metric.column,
                )
                for cell in repeats[1:]
            ]
        cells[levels, point] = repeats[0] if len(repeats) == 1 else _merged(repeats, file.repeats)
    label = entry.label or (entry.id if file.readings else "Cells of the study")
    with_value = [cell for cell in cells.values() if cell.value is not None]
    measured = bool(with_value) and all(cell.run for cell in with_value)
    document = rows.source.documents.get(entry.id)
    return Reading(entry.id, label, entry, cells, tuple(outside), measured, document), problems


def _merged(repeats: Sequence[Cell], rule: str | None) -> Cell:
    """One cell of several rows: by the rule `mean` with a standard error, else the first row."""
    first = repeats[0]
    values = [cell.value for cell in repeats if cell.value is not None]
    if rule is None or not values:
        return first
    mean = sum(values, Decimal(0)) / len(values)
    stderr = None
    if len(values) > 1:
        variance = sum(((value - mean) ** 2 for value in values), Decimal(0)) / (len(values) - 1)
        stderr = (variance / len(values)).sqrt()
    trials = [cell.n for cell in repeats if cell.value is not None]
    n = None if None in trials else sum(cast(list[int], trials))
    state: State = "disputed" if any(cell.state == "disputed" for cell in repeats) else "ok"
    note = f"mean of {len(values)} repeats"
    if len(values) < len(repeats):
        note += f"; {len(repeats) - len(values)} more without a value"
    return Cell(
        mean,
        state,
        first.reading,
        n=n,
        stderr=stderr,
        note=note,
        place=first.place,
        run=first.run,
        line=first.line,
        repeats=len(values),
        ends=(min(values), max(values)) if len(values) > 1 else None,
    )


def _outside(rows: _Rows, reading: Reading, severity: Severity) -> list[Problem]:
    """One entry per unknown level of a reading, however many rows have it."""
    lines: dict[tuple[str, str], list[int]] = {}
    there = {name: {level.key for level in factor.levels} for name, factor in rows.factors.items()}
    for keys, cell in reading.outside:
        for name, key in keys:
            if key not in there[name]:
                lines.setdefault((name, key), []).append(cell.line or 0)
    problems = []
    for (name, key), at in lines.items():
        known = [level.key for level in rows.factors[name].levels]
        near = None if level_number(key) is not None else nearest(key, known)
        add = f"add {key} under factors.{name}.levels"
        problems.append(
            Problem(
                "unknown-level",
                rows.table.name,
                quote(key) + (f" in {len(at)} rows" if len(at) > 1 else ""),
                f"a level of {name}: {join_names(known, 30)}",
                f"write {near} instead of {key}, or {add}" if near else f"correct it, or {add}",
                at[0],
                name,
                severity,
            )
        )
    return problems
