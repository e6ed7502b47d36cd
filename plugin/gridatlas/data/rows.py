"""Check the rows of tables, and make the cells of readings of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property, partial
from itertools import repeat
from typing import NamedTuple, TypeVar, cast

from gridatlas.data.columns import spread_columns
from gridatlas.data.levels import too_long
from gridatlas.data.reader import StudySource
from gridatlas.data.tables import Table, too_many
from gridatlas.model.categorical import Categorical, combine, encode, numbered, rows_with
from gridatlas.model.cells import At, Cells
from gridatlas.model.limits import NotRead, beyond, limits
from gridatlas.model.problems import ALIKE, Problem, Severity, join_names, nearest, quote
from gridatlas.model.schema import (
    LONGEST_NAME,
    MOST_TRIALS,
    Metric,
    ReadingEntry,
    SpreadEntry,
    level_key,
    level_number,
)
from gridatlas.model.study import (
    STATES,
    Cell,
    Factor,
    Reading,
    State,
)
from gridatlas.progress import tracked

Item = TypeVar("Item")


class _Measured(NamedTuple):
    """What a row says by its metric, counts and state; with `problems` it gives no cell.

    Attributes:
        problems: Without the line: many rows may say the same.
    """

    value: Decimal | None
    state: State
    n: int | None
    successes: int | None
    stderr: Decimal | None
    spread: Decimal | None
    problems: tuple[Problem, ...]


class _Statements(NamedTuple):
    """What each row says, by the codes of the distinct ones."""

    codes: Sequence[int]
    distinct: list[_Measured]


@dataclass(frozen=True)
class _Rows:
    """Reads a table into cells. What texts say is found once for all rows that have them."""

    source: StudySource
    table: Table
    factors: Mapping[str, Factor]
    reading: str

    def texts(self, name: str) -> Categorical:
        """The text of each row in a column; empty texts where the table has no such column."""
        if name in self.table.columns:
            return self.table.column(name)
        return Categorical.constant("", len(self.table.lines))

    @cached_property
    def keys(self) -> Mapping[str, Categorical]:
        """The level of each row, by factors; empty where it has none that can be read."""

        def key_of(text: str, name: str) -> str:
            return "" if _level_problem(self.table.name, name, text) else level_key(text)

        return {name: self.texts(name).map(partial(key_of, name=name)) for name in self.factors}

    @cached_property
    def measured(self) -> _Statements:
        """What each row says by its metric, counts and state."""
        file, metric = self.table.name, self.source.file.metric
        spread = self.source.file.spread
        names = dict.fromkeys(
            (metric.column, "n", "successes", "stderr", "state", *spread_columns(self.source))
        )
        read = [name for name in names if name in self.table.columns]
        codes, rows = combine([*map(self.texts, read)])
        return _Statements(
            codes,
            [_measured(file, metric, spread, dict(zip(read, row, strict=True))) for row in rows],
        )

    @cached_property
    def problems(self) -> Mapping[int, list[Problem]]:
        """The problems of each row that has any; such rows give no cell."""
        bad: set[int] = set()
        for keys in self.keys.values():
            bad.update(rows_with(keys.codes, [*_places("", keys.categories)]))
        codes, distinct = self.measured
        bad.update(rows_with(codes, [at for at, row in enumerate(distinct) if row.problems]))
        problems = {}
        for row in sorted(bad):
            levels = (
                _level_problem(self.table.name, name, self.texts(name)[row])
                for name in self.factors
            )
            found = [*filter(None, levels), *distinct[codes[row]].problems]
            problems[row] = [replace(problem, line=self.table.lines[row]) for problem in found]
            if len(bad) > limits().problems:
                raise _too_many(len(bad), problems[row][0])
        return problems

    @cached_property
    def outside(self) -> frozenset[int]:
        """The rows with a level that the study doesn't have."""
        rows: set[int] = set()
        for name, keys in self.keys.items():
            levels = self.factors[name].keys
            unknown = [at for at, key in enumerate(keys.categories) if key not in levels]
            rows.update(rows_with(keys.codes, unknown))
        return frozenset(rows.difference(self.problems))

    @cached_property
    def columns(self) -> Sequence[Categorical]:
        """The levels of each row: of the facets, of x, and of y where there is one."""
        file = self.source.file
        return [self.keys[name] for name in (*file.facets, file.x, file.y) if name]

    def rows_of_cells(self) -> tuple[Sequence[int], dict[int, list[int]]]:
        """The first row of each cell, in their order; and all rows of cells that have several.

        The latter by the place of the cell among all cells.
        """
        rows: Sequence[int] = range(len(self.table.lines))
        columns = self.columns
        left_out = self.outside.union(self.problems)
        if left_out:
            rows = [row for row in rows if row not in left_out]
            columns = [column.take(rows) for column in columns]
        numbers = tracked(numbered(columns), "rows read", len(rows))
        if len({*numbers}) == len(rows):
            return rows, {}
        cells, distinct = encode(numbered(columns))
        first_row = dict(zip(reversed(cells), reversed(rows), strict=True))
        several = {cell for cell, times in Counter(cells).items() if times > 1}
        repeats: dict[int, list[int]] = {cell: [] for cell in sorted(several)}
        for cell, row in zip(cells, rows, strict=True):
            if cell in several:
                repeats[cell].append(row)
        return [*map(first_row.__getitem__, range(len(distinct)))], repeats

    def cells_at(self, rows: Sequence[int], cells: Sequence[Cell]) -> Cells[Cell]:
        """Cells at the places of rows."""
        file = self.source.file
        facets = [self.keys[facet].take(rows) for facet in file.facets]
        y = self.keys[file.y].take(rows) if file.y else Categorical.constant("", len(rows))
        return Cells(facets, self.keys[file.x].take(rows), y, cells)

    def cells(self, rows: Sequence[int]) -> Iterator[Cell]:
        """The cells of rows, each as if the row were the only one of its cell."""
        codes, distinct = self.measured
        if len(rows) < len(codes):
            codes = [*map(codes.__getitem__, rows)]
        value, state, n, successes, stderr, spread = (
            _each([row[at] for row in distinct], codes) for at in range(6)
        )
        note, place, run = (self.texts(name).at(rows) for name in ("note", "place", "run"))
        lines = map(self.table.lines.__getitem__, rows)
        fields = (n, successes, stderr, note, place, run, lines, repeat(1), repeat(None), spread)
        return map(Cell._make, zip(value, state, repeat(self.reading), *fields, strict=False))


def _each(distinct: Sequence[Item], codes: Sequence[int]) -> Iterator[Item]:
    """What each code stands for."""
    if distinct and all(item is distinct[0] for item in distinct):
        return repeat(distinct[0], len(codes))
    return map(distinct.__getitem__, codes)


def _places(value: object, values: Iterable[object]) -> Iterator[int]:
    return (place for place, other in enumerate(values) if other == value)


def _level_problem(file: str, factor: str, text: str) -> Problem | None:
    """What is wrong with a text as a level."""
    if not text:
        return Problem.of("empty-level", file, "nothing", column=factor, values={"factor": factor})
    if not too_long(text):
        return None
    found = f"{max(len(text), len(level_key(text))):,} characters, {quote(text, 40)}"
    return Problem.of("long-level", file, found, column=factor, values={"most": LONGEST_NAME})


def _number(
    file: str, text: str, column: str, problems: list[Problem], whole: bool = False
) -> Decimal | None:
    if not text:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    bad = not number.is_finite() or "_" in text or abs(number.adjusted()) > 300
    if not bad and not (whole and number != number.to_integral_value()):
        return number
    fix = None
    if re.fullmatch(r"[+-]?[\d.]+,\d+", text):
        fix = "write the decimals after a point, not a comma"
    elif text.endswith("%"):
        fix = "leave out the %; the unit is in study.yml"
    expected = "a whole number" if whole else None
    problems.append(
        Problem.of("not-a-number", file, quote(text), column=column, expected=expected, fix=fix)
    )
    return None


def _measured(
    file: str, metric: Metric, spread: SpreadEntry | None, texts: Mapping[str, str]
) -> _Measured:
    """What a row says.

    Args:
        spread: What stands beside values.
        texts: Of the columns that the table has.
    """
    problems: list[Problem] = []
    value = _number(file, texts[metric.column], metric.column, problems)
    n = successes = stderr = beside = None
    if len(texts) > 1:
        n = _number(file, texts.get("n", ""), "n", problems, whole=True)
        successes = _number(file, texts.get("successes", ""), "successes", problems, whole=True)
        stderr = _number(file, texts.get("stderr", ""), "stderr", problems)
    if spread is not None:
        beside = _number(file, texts.get(spread.column, ""), spread.column, problems)
        if beside is not None and beside < 0:
            problems.append(Problem.of("wrong-count", file, str(beside), column=spread.column))
        elif beside is not None and stderr is None:
            stderr = standard_error(beside, spread)
    state = texts.get("state") or ("missing" if value is None else "ok")
    if state not in STATES:
        near = nearest(state, STATES)
        fix = f"write {near} instead of {state}" if near else None
        values: dict[str, object] = {"states": join_names(STATES)}
        problems.append(
            Problem.of("unknown-state", file, quote(state), column="state", fix=fix, values=values)
        )
    elif value is not None and state not in ("ok", "disputed"):
        found = f"the value {value} and the state {state}"
        problems.append(Problem.of("value-and-state", file, found, column="state"))
    elif value is None and state == "ok" and not problems:
        found = "no value and the state ok"
        problems.append(Problem.of("no-value", file, found, column=metric.column))
    if value is not None and metric.range and not metric.range[0] <= value <= metric.range[1]:
        low, high = metric.range
        values = {"low": low, "high": high, "metric": metric.name}
        problems.append(
            Problem.of("out-of-range", file, str(value), column=metric.column, values=values)
        )
    problems += _wrong_counts(file, n, successes, stderr)
    return _Measured(
        value,
        cast(State, state),
        None if n is None else int(n),
        None if successes is None else int(successes),
        stderr,
        beside,
        tuple(problems),
    )


FEWEST_REPEATS = 3
"""Repeats from which their standard deviation gives an interval, as in `statistics`."""
_NORMAL = Decimal("1.959963984540054")
"""Standard errors in half of a 95 % interval."""


def standard_error(beside: Decimal, spread: SpreadEntry) -> Decimal | None:
    """The standard error of a value by what is printed beside it; None where that doesn't tell.

    Args:
        beside: 0 or more, in the metric's unit.
    """
    if spread.n is not None and spread.n < FEWEST_REPEATS and spread.kind != "ci95":
        return None
    match spread.kind:
        case "se":
            return beside
        case "sd":
            return None if spread.n is None else beside / Decimal(spread.n).sqrt()
        case "ci95":
            return beside / _NORMAL
    return None


def _wrong_counts(
    file: str, n: Decimal | None, successes: Decimal | None, stderr: Decimal | None
) -> Iterator[Problem]:
    if n is not None and not 1 <= n <= MOST_TRIALS:
        expected = "1 or more" if n < 1 else f"at most {MOST_TRIALS:,}"
        yield Problem.of("wrong-count", file, str(n), column="n", expected=expected)
    elif successes is not None and not 0 <= successes <= (n or MOST_TRIALS):
        expected = f"0 to n = {n}" if n is not None else "0 or more"
        if n is None and successes > MOST_TRIALS:
            expected = f"at most {MOST_TRIALS:,}"
        fix = "correct successes or n"
        yield Problem.of(
            "wrong-count", file, str(successes), column="successes", expected=expected, fix=fix
        )
    if stderr is not None and stderr < 0:
        yield Problem.of("wrong-count", file, str(stderr), column="stderr")


def read_readings(
    source: StudySource, factors: Mapping[str, Factor], tables: Mapping[str, Table]
) -> tuple[tuple[Reading, ...], list[Problem]]:
    """The readings in the order of `study.yml`; rows with a problem give no cell."""
    readings: list[Reading] = []
    problems: list[Problem] = []
    covered: set[At] = set()
    for entry in source.readings:
        if entry.id not in tables:
            continue
        rows = _Rows(source, tables[entry.id], factors, entry.id)
        try:
            reading, found = _reading(rows, entry)
        except NotRead as refused:
            problems.append(refused.problem(rows.table.name))
            continue
        # A reading that supplies no shown value only has notes about levels of its own.
        supplies = not readings or not covered.issuperset(reading.cells)
        problems += found + _outside(rows, reading, "problem" if supplies else "note")
        if entry is not source.readings[-1]:
            covered.update(at for at, cell in reading.cells.items() if cell.value is not None)
        readings.append(reading)
    return tuple(readings), problems


def _too_many(number: int, first: Problem) -> NotRead:
    return beyond("problems", too_many(number, first.line, first.found), "such rows")


def _reading(rows: _Rows, entry: ReadingEntry) -> tuple[Reading, list[Problem]]:
    file = rows.source.file
    problems = [problem for found in rows.problems.values() for problem in found]
    first_rows, repeats = rows.rows_of_cells()
    given = [*rows.cells(first_rows)]
    for cell, same_cell in tracked(repeats.items(), "cells with repeats", len(repeats)):
        if file.repeats is not None:
            given[cell] = _mean(given[cell], rows.measured, same_cell)
            continue
        first, line = same_cell[0], given[cell].line
        names = [name for name in (*file.facets, file.x, file.y) if name]
        where = ", ".join(f"{name} = {rows.keys[name][first]}" for name in names)
        problems += [
            Problem.of(
                "duplicate-cell",
                rows.table.name,
                f"{where} again; first on line {line}",
                rows.table.lines[row],
                file.metric.column,
            )
            for row in same_cell[1:]
        ]
        if len(problems) > limits().problems:
            raise _too_many(len(problems), problems[0])
    cells = rows.cells_at(first_rows, given)
    outside_rows = sorted(rows.outside)
    levels_outside = (
        tuple((name, keys[row]) for name, keys in rows.keys.items()) for row in outside_rows
    )
    outside = tuple(zip(levels_outside, rows.cells(outside_rows), strict=True))
    label = entry.label or (entry.id if file.readings else "Cells of the study")
    with_value = [cell for cell in cells.values() if cell.value is not None]
    measured = bool(with_value) and all(cell.run for cell in with_value)
    document = rows.source.documents.get(entry.id)
    return Reading(entry.id, label, entry, cells, outside, measured, document), problems


def _mean(first: Cell, measured: _Statements, rows: Sequence[int]) -> Cell:
    """The mean of several rows with its standard error; the first row where none has a value."""
    codes = [*map(measured.codes.__getitem__, rows)]
    by_code = {code: measured.distinct[code] for code in dict.fromkeys(codes)}
    values = {code: row.value for code, row in by_code.items() if row.value is not None}
    if not values:
        return first
    if len(values) < len(by_code):
        codes = [*filter(values.__contains__, codes)]
    # Added row by row: rounding to the digits of the context depends on the order.
    mean = sum(map(values.__getitem__, codes), Decimal(0)) / len(codes)
    stderr = None
    if len(codes) > 1:
        squares = {code: (value - mean) ** 2 for code, value in values.items()}
        variance = sum(map(squares.__getitem__, codes), Decimal(0)) / (len(codes) - 1)
        stderr = (variance / len(codes)).sqrt()
    trials = {code: by_code[code].n for code in values}
    n = (
        None
        if None in trials.values()
        else sum(map(cast(dict[int, int], trials).__getitem__, codes))
    )
    state: State = "disputed" if any(row.state == "disputed" for row in by_code.values()) else "ok"
    note = f"mean of {len(codes)} repeats"
    if len(codes) < len(rows):
        note += f"; {len(rows) - len(codes)} more without a value"
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
        repeats=len(codes),
        ends=(min(values.values()), max(values.values())) if len(codes) > 1 else None,
    )


def _outside(rows: _Rows, reading: Reading, severity: Severity) -> list[Problem]:
    """One entry per unknown level of a reading, however many rows have it."""
    lines: dict[tuple[str, str], list[int]] = {}
    for keys, cell in reading.outside:
        for name, key in keys:
            if key not in rows.factors[name].keys:
                lines.setdefault((name, key), []).append(cell.line or 0)
    problems: list[Problem] = []
    for (name, key), at in lines.items():
        listed = rows.factors[name].keys
        # The nearest of many names takes long to find, and only the first are read.
        is_text = level_number(key) is None and len(problems) < ALIKE
        near = nearest(key, listed) if is_text else None
        add = f"add {key} under factors.{name}.levels"
        problems.append(
            Problem(
                "unknown-level",
                rows.table.name,
                quote(key) + (f" in {len(at)} rows" if len(at) > 1 else ""),
                f"a level of {name}: {join_names(listed, 30)}",
                f"write {near} instead of {key}, or {add}" if near else f"correct it, or {add}",
                at[0],
                name,
                severity,
            )
        )
    return problems
