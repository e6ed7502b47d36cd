"""Check the rows of tables, and make the cells of readings of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridatlas.data.columns import repeat_columns, spread_columns
from gridatlas.data.levels import too_long
from gridatlas.data.reader import StudySource
from gridatlas.data.tables import Table, too_many
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
from gridatlas.model.study import NO_AXIS, STATES, Factor, Reading
from gridatlas.progress import tracked
from gridatlas.table.coded import Bools, Coded, Rows, combine, numbered, taken
from gridatlas.table.decimals import NONE, Decimals, numbers_of
from gridatlas.table.study_table import (
    DISPUTED,
    MISSING,
    OK,
    UNKNOWN,
    At,
    Columns,
    Repeats,
    StudyTable,
    constant,
)


@dataclass(frozen=True)
class _Rows:
    """Reads a table into cells. What texts say is found once for all rows that have them."""

    source: StudySource
    table: Table
    factors: Mapping[str, Factor]
    reading: str

    def texts(self, name: str) -> Coded[str]:
        """The text of each row in a column; empty texts where the table has no such column."""
        if name in self.table.columns:
            return self.table.column(name)
        return Coded.constant("", len(self.table.lines))

    def numbers(self, name: str) -> tuple[Decimals, Bools]:
        """The number of each row in a column, and the rows whose text is none."""
        if name not in self.table.columns:
            return Decimals.none(len(self.table.lines)), np.zeros(len(self.table.lines), np.bool_)
        column = self.table.texts[self.table.columns.index(name)]
        wrong = set()

        def number_of(text: str) -> Decimal | None:
            number = _number_of(text)
            if number is None and text:
                wrong.add(text)
            return number

        numbers = numbers_of(column, number_of)
        none = np.zeros(len(numbers), np.bool_)
        return numbers, column.are(wrong.__contains__) if wrong else none

    @cached_property
    def keys(self) -> Mapping[str, Coded[str]]:
        """The level of each row, by factors; empty where it has none that can be read."""

        def key_of(text: str, name: str) -> str:
            return "" if _level_problem(self.table.name, name, text) else level_key(text)

        return {
            name: self.texts(name).map(partial(key_of, name=name)).merged() for name in self.factors
        }

    @cached_property
    def measured(self) -> tuple[Columns, Bools]:
        """What each row says, as if it were the only one of its cell; and which may be wrong."""
        file = self.source.file
        metric, spread = file.metric, file.spread
        value, doubtful = self.numbers(metric.column)
        numbers = {}
        for name in ("n", "successes", "stderr"):
            numbers[name], wrong = self.numbers(name)
            doubtful = doubtful | wrong | (numbers[name].floats < 0)
        beside = Decimals.none(len(value))
        if spread is not None:
            beside, wrong = self.numbers(spread.column)
            doubtful = doubtful | wrong | (beside.floats < 0)
            computed = beside.map(lambda number: standard_error(number, spread))
            numbers["stderr"] = numbers["stderr"].or_else(computed)
        for name, least in (("n", 1), ("successes", 0)):
            floats = numbers[name].floats
            far = (floats < least) | (floats > MOST_TRIALS) | (floats != np.floor(floats))
            doubtful = doubtful | (far & numbers[name].defined)
        doubtful = doubtful | (numbers["successes"].floats > numbers["n"].floats)
        if metric.range:
            low, high = map(float, metric.range)
            doubtful = doubtful | (value.floats <= low) | (value.floats >= high)
        texts = self.texts("state")
        codes = np.array([_STATE_CODES.get(text, _NO_SUCH_STATE) for text in texts.kinds], np.int8)
        state = taken(codes, texts.codes)
        state = np.where(state == _NO_STATE, np.where(value.defined, OK, MISSING), state)
        doubtful = doubtful | (state == _NO_SUCH_STATE)
        doubtful = doubtful | (
            value.defined != ((state == OK) | (value.defined & (state == DISPUTED)))
        )
        columns = replace(
            Columns.empty(len(value)),
            value=value,
            state=state.astype(np.int8),
            reading=Coded.constant(self.reading, len(value)),
            n=_whole(numbers["n"]),
            successes=_whole(numbers["successes"]),
            stderr=numbers["stderr"],
            note=self.texts("note"),
            place=self.texts("place"),
            run=self.texts("run"),
            line=np.array(self.table.lines, np.int32),
            spread=beside,
        )
        return columns, doubtful

    @cached_property
    def _wrong(self) -> Mapping[int, tuple[Problem, ...]]:
        """What is wrong with the metric, counts and states of rows, without their lines."""
        file, metric = self.table.name, self.source.file.metric
        spread = self.source.file.spread
        names = (metric.column, "n", "successes", "stderr", "state", *spread_columns(self.source))
        columns = dict(zip(self.table.columns, self.table.texts, strict=True))
        read = [name for name in dict.fromkeys(names) if name in columns]
        rows = np.flatnonzero(self.measured[1])
        if not len(rows):
            return {}
        codes, distinct = combine([columns[name][rows] for name in read])
        found = [
            tuple(_wrong(file, metric, spread, dict(zip(read, texts, strict=True))))
            for texts in distinct
        ]
        of_rows = zip(rows.tolist(), map(found.__getitem__, codes.tolist()), strict=True)
        return {row: problems for row, problems in of_rows if problems}

    @cached_property
    def problems(self) -> Mapping[int, list[Problem]]:
        """The problems of each row that has any; such rows give no cell."""
        bad = {*self._wrong}
        for keys in self.keys.values():
            bad.update(np.flatnonzero(keys.are(lambda key: not key)).tolist())
        problems = {}
        for row in sorted(bad):
            levels = (
                _level_problem(self.table.name, name, self.texts(name)[row])
                for name in self.factors
            )
            found = [*filter(None, levels), *self._wrong.get(row, ())]
            problems[row] = [replace(problem, line=self.table.lines[row]) for problem in found]
            if len(bad) > limits().problems:
                raise _too_many(len(bad), problems[row][0])
        return problems

    @cached_property
    def good(self) -> Bools:
        """The rows without a problem."""
        good = np.ones(len(self.table.lines), np.bool_)
        good[[*self.problems]] = False
        return good

    @cached_property
    def outside(self) -> Bools:
        """The rows with a level that the study doesn't have."""
        found = np.zeros(len(self.table.lines), np.bool_)
        for name, keys in self.keys.items():
            listed = self.factors[name].keys
            found |= ~keys.are(listed.__contains__)
        return found & self.good

    def rows_of_cells(self) -> tuple[Rows, Rows, Rows]:
        """The first row of each cell, in their order; the rows of all, and each one's cell."""
        file = self.source.file
        rows = np.flatnonzero(self.good & ~self.outside)
        columns = [self.keys[name][rows] for name in (*file.facets, file.x, file.y) if name]
        numbers = numbered(columns)
        _, first, cells = np.unique(numbers, return_index=True, return_inverse=True)
        if len(first) == len(rows):
            return rows, rows, np.arange(len(rows))
        order = np.argsort(first)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return rows[first[order]], rows, place[cells]

    def repeats(self, rows: Rows, cells: Rows, places: Rows) -> Repeats:
        """The rows of cells.

        Args:
            cells: The cell of each row.
            places: Of each cell, in the table.
        """
        names = [name for name in repeat_columns(self.source) if name in self.table.columns]
        levels = {name: self.texts(name)[rows] for name in names}
        return Repeats(places[cells], levels, self.measured[0][rows])

    def table_of(self, rows: Rows, cells: Columns, most: int) -> tuple[StudyTable, Rows]:
        """Cells at the places of rows, and these places.

        Of more places than `most` only the grids are known.
        """
        file, factors = self.source.file, self.factors
        x, y = factors[file.x], factors[file.y] if file.y else NO_AXIS
        facets = [self.keys[facet][rows] for facet in file.facets]
        codes, found = combine(facets) if facets else (np.zeros(len(rows), np.int32), [()])
        order = {facet: factors[facet].place for facet in file.facets}
        places = [
            [at(key) for at, key in zip(order.values(), levels, strict=True)] for levels in found
        ]
        sequence = sorted(range(len(found)), key=places.__getitem__) if len(rows) else []
        grids = tuple(found[grid] for grid in sequence)
        size = len(x.levels) * len(y.levels)
        if len(grids) * size > most:
            return StudyTable(x, y, grids, Columns.empty(0)), np.zeros(0, np.intp)
        place_of = np.empty(len(found), np.intp)
        place_of[sequence] = np.arange(len(sequence))
        column = _level_places(x, self.keys[file.x][rows])
        row = _level_places(y, self.keys[file.y][rows]) if file.y else 0
        at = (place_of[codes] * len(y.levels) + row) * len(x.levels) + column
        if len(at) == len(grids) * size and (at == np.arange(len(at))).all():
            return StudyTable(x, y, grids, cells), at
        from_row = np.full(len(grids) * size, -1)
        from_row[at] = np.arange(len(at))
        return StudyTable(x, y, grids, cells.at(from_row)), at


_NO_STATE, _NO_SUCH_STATE = -2, -3
_STATE_CODES: Mapping[str, int] = {
    "": _NO_STATE,
    **{state: code for code, state in enumerate(STATES)},
}


def _whole(numbers: Decimals) -> NDArray[np.int64]:
    """Whole numbers; `UNKNOWN` where there is none, or one that is a problem."""
    if not numbers.defined.any():
        return constant(UNKNOWN, len(numbers), np.int64)
    return np.where(numbers.floats <= MOST_TRIALS, numbers.floats, UNKNOWN).astype(np.int64)


def _level_places(factor: Factor, keys: Coded[str]) -> NDArray[np.intp]:
    """Where the level of each row stands in its factor."""
    return np.array([factor.place(key) if key in factor.keys else -1 for key in keys.kinds])[
        keys.codes
    ]


def _level_problem(file: str, factor: str, text: str) -> Problem | None:
    """What is wrong with a text as a level."""
    if not text:
        return Problem.of("empty-level", file, "nothing", column=factor, values={"factor": factor})
    if not too_long(text):
        return None
    found = f"{max(len(text), len(level_key(text))):,} characters, {quote(text, 40)}"
    return Problem.of("long-level", file, found, column=factor, values={"most": LONGEST_NAME})


def _number_of(text: str) -> Decimal | None:
    """The number that a text is; None where it is none, or out of reach."""
    if not text:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    bad = not number.is_finite() or "_" in text or abs(number.adjusted()) > 300
    return None if bad else number


def _number(
    file: str, text: str, column: str, problems: list[Problem], whole: bool = False
) -> Decimal | None:
    number = _number_of(text)
    if not text or (number is not None and not (whole and number != number.to_integral_value())):
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


def _wrong(
    file: str, metric: Metric, spread: SpreadEntry | None, texts: Mapping[str, str]
) -> list[Problem]:
    """What is wrong with the metric, counts and state of a row.

    Args:
        spread: What stands beside values.
        texts: Of the columns that the table has.
    """
    problems: list[Problem] = []
    value = _number(file, texts[metric.column], metric.column, problems)
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
    return [*problems, *_wrong_counts(file, n, successes, stderr)]


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


MOST_POINTS_PER_ROW = 100
"""Points of all grids of a study: x × y of a table whose rows are hardly any of them."""


def most_points(tables: Iterable[Table]) -> int:
    """How many points the grids of a study may have together."""
    rows = sum(len(table.lines) for table in tables)
    return max(limits().cells, rows * MOST_POINTS_PER_ROW)


def read_readings(
    source: StudySource, factors: Mapping[str, Factor], tables: Mapping[str, Table]
) -> tuple[tuple[Reading, ...], list[Problem]]:
    """The readings in the order of `study.yml`; rows with a problem give no cell."""
    readings: list[Reading] = []
    problems: list[Problem] = []
    covered: set[At] = set()
    most = most_points(tables.values())
    for entry in source.readings:
        if entry.id not in tables:
            continue
        rows = _Rows(source, tables[entry.id], factors, entry.id)
        try:
            reading, found = _reading(rows, entry, most)
        except NotRead as refused:
            problems.append(refused.problem(rows.table.name))
            continue
        # A reading that supplies no shown value only has notes about levels of its own.
        supplies = not readings or not covered.issuperset(reading.table)
        problems += found + _outside(rows, reading, "problem" if supplies else "note")
        if entry is not source.readings[-1]:
            cells = reading.table
            covered.update(cells.places(np.flatnonzero(cells.columns.value.defined)))
        readings.append(reading)
    return tuple(readings), problems


def _too_many(number: int, first: Problem) -> NotRead:
    return beyond("problems", too_many(number, first.line, first.found), "such rows")


def _reading(rows: _Rows, entry: ReadingEntry, most: int) -> tuple[Reading, list[Problem]]:
    file = rows.source.file
    problems = [problem for found in rows.problems.values() for problem in found]
    first_rows, every_row, of_cell = rows.rows_of_cells()
    keyed = repeat_columns(rows.source)
    same = _same(rows, keyed, every_row, Coded(of_cell, first_rows.tolist()))
    columns, lines = rows.measured[0], rows.table.lines
    cells = columns[first_rows]
    if keyed:
        cells = _with_means(cells, columns, every_row, of_cell)
    for first, *others in same:
        names = [name for name in (*file.facets, file.x, file.y) if name]
        where = ", ".join(f"{name} = {rows.keys[name][first]}" for name in names)
        where += "".join(f", {name} = {rows.texts(name)[first]}" for name in keyed)
        many = (count := len(problems) + len(others)) > limits().problems
        problems += [
            Problem.of(
                "duplicate-cell",
                rows.table.name,
                f"{where} again; first on line {lines[first]}",
                lines[row],
                file.metric.column,
            )
            for row in others[: 1 if many else None]
        ]
        if many:
            raise _too_many(count, problems[0])
    outside_rows = np.flatnonzero(rows.outside)
    levels_outside = (
        tuple((name, keys[row]) for name, keys in rows.keys.items()) for row in outside_rows
    )
    outside = tuple(zip(levels_outside, columns[outside_rows], strict=True))
    label = entry.label or (entry.id if file.readings else "Cells of the study")
    with_value = cells.value.defined
    measured = bool(with_value.any()) and bool(cells.run.are(bool)[with_value].all())
    document = rows.source.documents.get(entry.id)
    table, places = rows.table_of(first_rows, cells, most)
    several = len(every_row) > len(first_rows) and len(places)
    of_rows = rows.repeats(every_row, of_cell, places) if several else None
    return Reading(entry.id, label, entry, table, outside, measured, document, of_rows), problems


def _same(rows: _Rows, keyed: Sequence[str], own: Rows, cells: Coded[int]) -> list[list[int]]:
    """Rows of one cell that nothing tells apart."""
    by = [rows.texts(name)[own] for name in keyed if name in rows.table.columns]
    if keyed and not by:
        return []
    _, alike = np.unique(numbered([cells, *by]), return_inverse=True)
    several = np.bincount(alike)[alike] > 1
    of = alike[several]
    by_kind = np.argsort(of, kind="stable")
    ends = np.flatnonzero(np.diff(of[by_kind])) + 1
    return [group.tolist() for group in np.split(own[several][by_kind], ends) if len(group)]


def _with_means(cells: Columns, columns: Columns, rows: Rows, of_cell: Rows) -> Columns:
    """The cells with the means of those that have several rows, and a value in one of these."""
    given = np.bincount(of_cell)
    own = (given[of_cell] > 1) & columns.value.defined[rows]
    by_cell = np.argsort(of_cell[own], kind="stable")
    at, of = of_cell[own][by_cell], rows[own][by_cell]
    if not len(of):
        return cells
    starts = np.flatnonzero(np.diff(at, prepend=-1))
    found, count = at[starts], np.diff(starts, append=len(at))
    all_units, most = columns.value.units()
    units = np.array(all_units, object)[of]
    places = np.where(columns.value.places < NONE, np.int64(most), columns.value.places)[of]
    sums = (
        count.tolist(),
        np.add.reduceat(units, starts).tolist(),
        np.add.reduceat(units * units, starts).tolist(),
        np.maximum.reduceat(places, starts).tolist(),
    )
    each = tracked(zip(*sums, strict=True), "cells with repeats", len(starts))
    means = [_mean(n, total, squares, at, most) for n, total, squares, at in each]
    trials, left_out = columns.n[of], given[found] - count
    unknown = np.logical_or.reduceat(trials == UNKNOWN, starts)
    disputed = np.isin(found, of_cell[columns.state[rows] == DISPUTED])
    several, once = np.flatnonzero(count > 1), found[count == 1].tolist()
    low, high = (
        column.replaced(once, Decimals.none(len(once))).replaced(
            found[several].tolist(), columns.value[of[_first(units, starts, count, end)][several]]
        )
        for column, end in ((cells.low, np.minimum), (cells.high, np.maximum))
    )
    notes = [*cells.note]
    for cell, number, without in np.transpose([found, count, left_out]).tolist():
        notes[cell] = f"mean of {number} repeats"
        notes[cell] += f"; {without} more without a value" if without else ""
    return replace(
        cells,
        value=cells.value.replaced(found.tolist(), [mean for mean, _ in means]),
        state=_put(cells.state, found, np.where(disputed, DISPUTED, OK)),
        n=_put(cells.n, found, np.where(unknown, UNKNOWN, np.add.reduceat(trials, starts))),
        successes=_put(cells.successes, found, UNKNOWN),
        stderr=cells.stderr.replaced(found.tolist(), [error for _, error in means]),
        note=Coded.of(notes),
        repeats=_put(cells.repeats, found, count),
        low=low,
        high=high,
        spread=cells.spread.replaced(found.tolist(), Decimals.none(len(found))),
    )


def _first(units: NDArray[Any], starts: Rows, count: Rows, end: np.ufunc) -> Rows:
    """Where each cell's lowest or highest value stands first."""
    at = np.flatnonzero(units == np.repeat(end.reduceat(units, starts), count))
    return at[np.searchsorted(at, starts)]


def _put(column: NDArray[Any], at: Rows, numbers: Any) -> NDArray[Any]:
    found = column.copy()
    found[at] = numbers
    return found


def _mean(
    n: int, total: int, squares: int, places: int, most: int
) -> tuple[Decimal, Decimal | None]:
    """The mean of values and its standard error, rounded once; None for that of one.

    Args:
        total, squares: Sums of the values, and of their squares, as multiples of 10 to the power
            of −most.
        places: The most decimals that one of them has.
    """
    mean = Decimal(total // 10 ** (most - places)).scaleb(-places) / n
    if n == 1:
        return mean, None
    scatter = (n * squares - total * total) // 100 ** (most - places)
    return mean, (Decimal(scatter) / (n * n * (n - 1))).sqrt().scaleb(-places)


def _outside(rows: _Rows, reading: Reading, severity: Severity) -> list[Problem]:
    """One entry per unknown level of a reading, however many rows have it."""
    lines: dict[tuple[str, str], list[int]] = {}
    for keys, cell in reading.outside:
        for name, key in keys:
            if key not in rows.factors[name].keys:
                lines.setdefault((name, key), []).append(cell.line or 0)
    problems: list[Problem] = []
    texts = {name: join_names(factor.keys, 30) for name, factor in rows.factors.items()}
    for (name, key), at in lines.items():
        # The nearest of many names takes long to find, and only the first are read.
        is_text = level_number(key) is None and len(problems) < ALIKE
        near = nearest(key, rows.factors[name].keys) if is_text else None
        add = f"add {key} under factors.{name}.levels"
        problems.append(
            Problem(
                "unknown-level",
                rows.table.name,
                quote(key) + (f" in {len(at)} rows" if len(at) > 1 else ""),
                f"a level of {name}: {texts[name]}",
                f"write {near} instead of {key}, or {add}" if near else f"correct it, or {add}",
                at[0],
                name,
                severity,
            )
        )
    return problems
