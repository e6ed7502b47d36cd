"""Check a study's files against each other and make one frozen `Study` of them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import product
from typing import cast

from gridatlas.load import Row, StudySource, Table
from gridatlas.problems import Problem, Severity, listed, nearest, shown
from gridatlas.schema import (
    RESERVED_FACETS,
    FactorEntry,
    LevelEntry,
    ReadingEntry,
    level_key,
    level_number,
)
from gridatlas.study import (
    STATES,
    Cell,
    Factor,
    Level,
    Levels,
    Point,
    Reading,
    Region,
    State,
    Study,
)

OPTIONAL_COLUMNS = ("n", "successes", "stderr", "state", "note", "place", "run")
_ID = re.compile(r"[a-z0-9][a-z0-9_.-]*")


def validate(source: StudySource) -> tuple[Study | None, list[Problem]]:
    """Check everything; the study is None where its factors don't fit together.

    Cells with a problem are left out of the study, and the problem says so; all others stand.
    """
    problems = _check_names(source)
    if problems:
        return None, problems
    tables: dict[str, Table] = {}
    for reading_id, table in source.tables.items():
        found = _check_columns(source, table)
        problems += found
        if not any(one.severity == "problem" for one in found):
            tables[reading_id] = table
    if not tables:
        return None, problems
    factors = {}
    for factor_id in _factor_ids(source):
        factors[factor_id], found = _factor(source, factor_id, tables.values())
        problems += found
    problems += _check_levels(source, factors)
    if any(one.severity == "problem" for one in problems if one.file == source.name):
        return None, problems
    readings, found = _readings(source, factors, tables)
    problems += found
    file = source.file
    study = Study(
        id=source.id,
        title=file.title,
        summary=file.summary,
        source=file.source,
        metric=file.metric.model_copy(update={"decimals": _decimals(file.metric, readings)}),
        x=factors[file.x],
        y=factors[file.y],
        facets=tuple(factors[facet] for facet in file.facets),
        baseline=file.baseline,
        compare=file.compare,
        trials=file.trials,
        readings=readings,
        reconcile=file.reconcile,
        regions=tuple(
            Region(region.label, frozenset(_points(source, factors, region.boxes)))
            for region in file.regions
        ),
        folder=source.name.rpartition("/")[0],
    )
    return study, problems


# --- study.yml against itself -------------------------------------------------------------------


def _factor_ids(source: StudySource) -> tuple[str, ...]:
    return (source.file.x, source.file.y, *source.file.facets)


@dataclass(frozen=True)
class _In:
    """Makes problems that lie in one `study.yml`."""

    source: StudySource

    def problem(
        self, kind: str, path: Sequence[str | int], found: str, expected: str, mend: str
    ) -> Problem:
        column = ".".join(map(str, path))
        line = self.source.line(*path)
        return Problem(kind, self.source.name, found, expected, mend, line, column)

    def unknown(
        self, kind: str, path: Sequence[str | int], name: str, what: str, known: Iterable[str]
    ) -> Problem:
        known = list(known)
        near = nearest(name, known)
        mend = f"write {near} instead of {name}" if near else f"use one of them, or remove {name}"
        expected = f"{what}: {listed(known, 30)}" if known else f"{what}; there is none"
        return self.problem(kind, path, shown(name), expected, mend)


def _check_names(source: StudySource) -> list[Problem]:
    file, here = source.file, _In(source)
    ids = _factor_ids(source)
    problems = []
    if not _ID.fullmatch(source.id):
        problems.append(
            here.problem(
                "bad-id",
                (),
                f"the folder {shown(source.id)}",
                "lower-case letters, digits, '_', '.', '-', beginning with a letter or digit",
                "rename the folder; its name is the study's address",
            )
        )
    for factor_id, times in Counter(ids).items():
        if times > 1:
            key = "facets" if factor_id in file.facets else "y"
            problems.append(
                here.problem(
                    "repeated-factor",
                    (key,),
                    f"{shown(factor_id)} {times} times",
                    "each factor once among x, y and facets",
                    "name another factor",
                )
            )
    for index, facet in enumerate(file.facets):
        if facet in RESERVED_FACETS:
            problems.append(
                here.problem(
                    "reserved-facet",
                    ("facets", index),
                    shown(facet),
                    f"none of {listed(RESERVED_FACETS)}, which are pages of each study",
                    f"rename the facet and its column, for example to {facet}_setting",
                )
            )
    if file.metric.column in (*ids, *OPTIONAL_COLUMNS):
        problems.append(
            here.problem(
                "repeated-column",
                ("metric", "column"),
                shown(file.metric.column),
                "a column of its own",
                "name the column that holds the metric",
            )
        )
    factors = "a factor of this study"
    for factor_id in file.factors:
        if factor_id not in ids:
            problems.append(
                here.unknown("unknown-factor", ("factors", factor_id), factor_id, factors, ids)
            )
    named: list[tuple[str, tuple[str | int, ...], str]] = [
        ("baseline", (facet,), facet) for facet in file.baseline
    ]
    named += [("compare", (index,), facet) for index, facet in enumerate(file.compare)]
    if file.trials:
        named.append(("trials", ("items",), file.trials.items))
    for key, path, facet in named:
        if facet not in file.facets:
            problems.append(
                here.unknown(
                    "unknown-factor", (key, *path), facet, "a facet of this study", file.facets
                )
            )
    reading_ids = [reading.id for reading in file.readings]
    for index, reading in enumerate(file.readings):
        if reading.id in reading_ids[:index]:
            problems.append(
                here.problem(
                    "repeated-reading",
                    ("readings", index, "id"),
                    shown(reading.id),
                    "an id of its own for each reading",
                    "rename one of them",
                )
            )
        if reading.derived_from and reading.derived_from not in reading_ids:
            problems.append(
                here.unknown(
                    "unknown-reading",
                    ("readings", index, "derived_from"),
                    reading.derived_from,
                    "a reading",
                    reading_ids,
                )
            )
    if file.metric.range and file.metric.range[0] >= file.metric.range[1]:
        low, high = file.metric.range
        problems.append(
            here.problem(
                "wrong-value",
                ("metric", "range"),
                f"[{low}, {high}]",
                "the lowest and then the highest value",
                "swap the two",
            )
        )
    return problems


def _factor(
    source: StudySource, factor_id: str, tables: Iterable[Table]
) -> tuple[Factor, list[Problem]]:
    entry = source.file.factors.get(factor_id, FactorEntry())
    entries = entry.levels
    if entries is None:
        keys = dict.fromkeys(
            level_key(text)
            for table in tables
            for text in _column(table, factor_id)
            if text and factor_id in table.columns
        )
        numbers = {key: level_number(key) for key in keys}
        if all(number is not None for number in numbers.values()):
            keys = dict.fromkeys(sorted(keys, key=lambda key: cast(Decimal, numbers[key])))
        entries = tuple(LevelEntry(id=key) for key in keys)
    levels = tuple(
        Level(
            key=one.id,
            label=one.label or one.id,
            slug=slug(one.id),
            number=level_number(one.id),
            items=one.items,
            aggregate=one.aggregate.by if one.aggregate else None,
        )
        for one in entries
    )
    here = _In(source)
    problems = []
    for index, level in enumerate(levels):
        path = ("factors", factor_id, "levels", index)
        before = levels[:index]
        if level.key in [one.key for one in before]:
            problems.append(
                here.problem(
                    "repeated-level",
                    path,
                    f"{shown(level.key)} again",
                    "each level once (numbers are compared by value)",
                    "remove one of them",
                )
            )
        elif level.slug in [one.slug for one in before]:
            other = next(one for one in before if one.slug == level.slug)
            problems.append(
                here.problem(
                    "same-address",
                    path,
                    f"{shown(level.key)} and {shown(other.key)}, both {shown(level.slug)}",
                    "levels whose addresses differ",
                    f"rename one, or list both under factors.{factor_id}.levels with ids that "
                    "differ in letters or digits",
                )
            )
    label = entry.label or factor_id.replace("_", " ").capitalize()
    return Factor(factor_id, label, entry.unit, levels, entry.direction), problems


def slug(key: str) -> str:
    """The form of a level's key that stands in addresses; keys that are valid ids stay."""
    if _ID.fullmatch(key) and len(key) <= 100:
        return key
    plain = unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9_.]+", "-", plain).strip("-._")[:100] or "level"


def _check_levels(source: StudySource, factors: Mapping[str, Factor]) -> list[Problem]:
    """The levels that `baseline`, `regions` and `aggregate` name."""
    file, here = source.file, _In(source)
    problems = []
    for facet, key in file.baseline.items():
        known = [level.key for level in factors[facet].levels]
        if key not in known:
            what = f"a level of {facet}"
            problems.append(here.unknown("unknown-level", ("baseline", facet), key, what, known))
    for index, region in enumerate(file.regions):
        for number, box in enumerate(region.boxes):
            path = ("regions", index, "boxes", number)
            if set(box) != {file.x, file.y}:
                problems.append(
                    here.problem(
                        "wrong-value",
                        path,
                        f"the keys {listed(box)}",
                        f"the keys {file.x} and {file.y}",
                        "list the levels that the box covers",
                    )
                )
                continue
            for axis, keys in box.items():
                known = [level.key for level in factors[axis].levels]
                what = f"a level of {axis}"
                problems += [
                    here.unknown("unknown-level", (*path, axis), key, what, known)
                    for key in keys
                    if key not in known
                ]
    for facet in (file.x, file.y):
        for index, level in enumerate(factors[facet].levels):
            if level.aggregate:
                problems.append(
                    here.problem(
                        "wrong-value",
                        ("factors", facet, "levels", index, "aggregate"),
                        f"an aggregate on the axis {shown(facet)}",
                        "an aggregate level of a facet",
                        "remove aggregate here",
                    )
                )
    for facet in file.facets:
        sums = [level for level in factors[facet].levels if level.aggregate]
        if sums and len(sums) == len(factors[facet].levels):
            problems.append(
                here.problem(
                    "wrong-value",
                    ("factors", facet, "levels"),
                    "only aggregate levels",
                    "at least one level to aggregate",
                    "remove aggregate from one of them",
                )
            )
    return problems


def _points(
    source: StudySource, factors: Mapping[str, Factor], boxes: Iterable[Mapping[str, Iterable[str]]]
) -> Iterable[Point]:
    for box in boxes:
        yield from product(box[source.file.x], box[source.file.y])


# --- tables -------------------------------------------------------------------------------------


def _column(table: Table, name: str) -> list[str]:
    if name not in table.columns:
        return []
    index = table.columns.index(name)
    return [row.values[index] for row in table.rows]


def _check_columns(source: StudySource, table: Table) -> list[Problem]:
    needed = (*_factor_ids(source), source.file.metric.column)
    known = (*needed, *OPTIONAL_COLUMNS)
    extra = [name for name in table.columns if name not in known]
    problems = []
    for name, times in Counter(table.columns).items():
        if times > 1:
            problems.append(
                Problem(
                    "repeated-column",
                    table.name,
                    f"{times} columns {shown(name)}",
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
                f"the columns {listed(table.columns)}",
                f"a column {shown(name)}",
                f"rename the column {shown(near)} to {name}"
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
                f"a column {shown(name)}, which is not read",
                f"one of {listed(known, 30)}",
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

    def text(self, row: Row, name: str) -> str:
        if name not in self.table.columns:
            return ""
        return row.values[self.table.columns.index(name)]

    def problem(
        self, kind: str, row: Row, column: str, found: str, expected: str, mend: str
    ) -> Problem:
        return Problem(kind, self.table.name, found, expected, mend, row.line, column)

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
        if re.fullmatch(r"[\d.]+,\d+", text):
            mend = "write the decimals after a point, not a comma"
        elif text.endswith("%"):
            mend = "leave out the %; the unit stands in study.yml"
        else:
            mend = "correct it, or leave it empty and say why in the columns state and note"
        problems.append(self.problem("not-a-number", row, column, shown(text), expected, mend))
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
                    shown(state),
                    f"one of {listed(STATES)}",
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
        if n is not None and n < 1:
            mend = "correct it, or leave it empty where it is unknown"
            problems.append(self.problem("wrong-count", row, "n", str(n), "1 or more", mend))
        if successes is not None and (successes < 0 or (n is not None and successes > n)):
            expected = "0 or more" if n is None else f"0 to n = {n}"
            mend = "correct successes or n"
            problems.append(
                self.problem("wrong-count", row, "successes", str(successes), expected, mend)
            )
        if stderr is not None and stderr < 0:
            mend = "correct it, or leave it empty where it is unknown"
            problems.append(
                self.problem("wrong-count", row, "stderr", str(stderr), "0 or more", mend)
            )
        return problems

    def keys(self, row: Row) -> tuple[dict[str, str], list[Problem]]:
        keys, problems = {}, []
        for name in self.factors:
            text = self.text(row, name)
            if text:
                keys[name] = level_key(text)
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


def _readings(
    source: StudySource, factors: Mapping[str, Factor], tables: Mapping[str, Table]
) -> tuple[tuple[Reading, ...], list[Problem]]:
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
        covered.update(reading.cells)
        readings.append(reading)
    return tuple(readings), problems


def _reading(rows: _Rows, entry: ReadingEntry) -> tuple[Reading, list[Problem]]:
    file = rows.source.file
    known = {name: {level.key for level in one.levels} for name, one in rows.factors.items()}
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
    return Reading(entry.id, label, entry, cells, tuple(outside)), problems


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
    n = len(values) if None in trials else sum(cast(list[int], trials))
    note = f"mean of {len(values)} repeats"
    if len(values) < len(repeats):
        note += f"; {len(repeats) - len(values)} more without a value"
    return Cell(
        mean,
        "ok",
        first.reading,
        n=n,
        stderr=stderr,
        note=note,
        place=first.place,
        run=first.run,
        line=first.line,
    )


def _outside(rows: _Rows, reading: Reading, severity: Severity) -> list[Problem]:
    """One entry per unknown level of a reading, however many rows have it."""
    lines: dict[tuple[str, str], list[int]] = {}
    for keys, cell in reading.outside:
        for name, key in keys:
            if key not in {level.key for level in rows.factors[name].levels}:
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
                shown(key) + (f" in {len(at)} rows" if len(at) > 1 else ""),
                f"a level of {name}: {listed(known, 30)}",
                f"write {near} instead of {key}, or {add}" if near else f"correct it, or {add}",
                at[0],
                name,
                severity,
            )
        )
    return problems


def _decimals(metric: object, readings: Iterable[Reading]) -> int:
    """Decimals to show: as `study.yml` says, else the most that a value has, at most 4."""
    named = getattr(metric, "decimals", None)
    if isinstance(named, int):
        return named
    exponents = [
        -cast(int, cell.value.as_tuple().exponent)
        for reading in readings
        for cell in reading.cells.values()
        if cell.value is not None
    ]
    return min(4, max(0, max(exponents, default=0)))
