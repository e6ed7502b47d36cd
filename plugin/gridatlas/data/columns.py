"""The columns of tables: those that are needed, those that are too many, and misspelled names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gridatlas.data.reader import StudySource
from gridatlas.data.tables import Table
from gridatlas.data.yaml import KeyPath
from gridatlas.model.problems import Problem, join_names, nearest, quote
from gridatlas.model.schema import REPEAT, REPEATING

OPTIONAL_COLUMNS = ("n", "successes", "stderr", "state", "note", "place", "run")


def factor_ids(source: StudySource) -> tuple[str, ...]:
    """The ids of x, y and the facets: the columns that each table needs, and the metric's."""
    file = source.file
    return (file.x, *filter(None, (file.y,)), *file.facets)


def repeat_columns(source: StudySource) -> tuple[str, ...]:
    """What tells the rows of a cell apart, of which the mean is shown; empty where each has one."""
    file, factors = source.file, factor_ids(source)
    named = [name for name, role in file.roles.items() if role in REPEATING and name not in factors]
    return tuple(dict.fromkeys([*named, *([REPEAT] if file.repeats and not named else [])]))


def spread_columns(source: StudySource) -> tuple[str, ...]:
    """The column with what is printed beside values, which one table needs to have."""
    return (source.file.spread.column,) if source.file.spread else ()


def check_columns(source: StudySource, table: Table) -> list[Problem]:
    """Missing and repeated columns; columns that are not read are notes."""
    needed = (*factor_ids(source), source.file.metric.column)
    repeated = repeat_columns(source)
    read = (*needed, *OPTIONAL_COLUMNS, *spread_columns(source), *repeated)
    extra = [name for name in table.columns if name not in read]
    problems = []
    for name, times in Counter(table.columns).items():
        if times > 1:
            found = f"{times} columns {quote(name)}"
            problems.append(Problem.of("duplicate-column", table.name, found, 1, name))
    absent = [name for name in needed if name not in table.columns]
    absent += [
        name
        for name in (*spread_columns(source), *repeated)
        if name != REPEAT and not any(name in other.columns for other in source.tables.values())
    ]
    for name in absent:
        near = nearest(name, extra)
        fix = f"rename the column {quote(near)} to {name}" if near else None
        found = f"the columns {join_names(table.columns)}"
        values = {"name": quote(name), "column": name}
        problems.append(
            Problem.of("missing-column", table.name, found, 1, name, fix=fix, values=values)
        )
    if not absent:
        problems += [
            Problem.of(
                "unused-column",
                table.name,
                f"a column {quote(name)}, which is not read",
                1,
                name,
                severity="note",
                values={"columns": join_names(read, 30)},
            )
            for name in extra
        ]
    return problems


@dataclass(frozen=True, slots=True)
class Typo:
    """A name in `study.yml` that no table has as a column, though all have one like it.

    Attributes:
        path: Where it is in `study.yml`.
        column: The column that is like it.
        table: The first table with that column.
    """

    path: KeyPath
    name: str
    column: str
    table: Table

    def problem(self, source: StudySource) -> Problem:
        """What to say of it, at its line."""
        return Problem.of(
            "missing-column",
            source.name,
            f"{quote(self.name)}, which isn't a column of {self.table.name}",
            source.line(*self.path),
            ".".join(map(str, self.path)),
            expected=f"one of its columns: {join_names(self.table.columns, 30)}",
            fix=f"write {self.column} instead of {self.name}, or rename the column",
        )


def typos(source: StudySource) -> list[Typo]:
    """The misspelled names of a study.

    A name that only some tables lack is those tables' mistake, and so is one that `study.yml`
    gives in other places, too, unless it gives the column's name as well.
    """
    tables = list(source.tables.values())
    if not tables:
        return []
    used = {
        *(*factor_ids(source), source.file.metric.column),
        *(*spread_columns(source), *OPTIONAL_COLUMNS, *repeat_columns(source)),
    }
    free = [
        name
        for name in tables[0].columns
        if name not in used and all(name in table.columns for table in tables)
    ]
    elsewhere = _named_elsewhere(source)
    found = []
    for path, name in _named(source):
        if any(name in table.columns for table in tables):
            continue
        near = nearest(name, free)
        if near is None or (name in elsewhere and near not in elsewhere):
            continue
        free.remove(near)
        found.append(Typo(path, name, near, tables[0]))
    return found


def corrected(source: StudySource, found: list[Typo]) -> StudySource:
    """The study as it was meant, to be checked for other mistakes."""
    file, names = source.file, {typo.path: typo.column for typo in found}
    facets = tuple(names.get(("facets", at), facet) for at, facet in enumerate(file.facets))
    column = names.get(("metric", "column"), file.metric.column)
    update = {
        "x": names.get(("x",), file.x),
        "y": names.get(("y",), file.y),
        "facets": facets,
        "metric": file.metric.model_copy(update={"column": column}),
    }
    return replace(source, file=file.model_copy(update=update))


def _named(source: StudySource) -> Iterator[tuple[KeyPath, str]]:
    """The columns that `study.yml` names; the metric's, where it isn't the one by default."""
    file = source.file
    yield ("x",), file.x
    if file.y is not None:
        yield ("y",), file.y
    for at, facet in enumerate(file.facets):
        yield ("facets", at), facet
    if ("metric", "column") in source.lines:
        yield ("metric", "column"), file.metric.column


def _named_elsewhere(source: StudySource) -> set[str]:
    file = source.file
    items = {file.trials.items} if file.trials else set()
    return {*file.factors, *file.baseline, *file.compare, *file.roles, *items}
