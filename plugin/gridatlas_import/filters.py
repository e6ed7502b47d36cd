"""Which rows are taken, how their numbers are written, and names that the table doesn't have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import filterfalse

from gridatlas_import import numerals
from gridatlas_import.columns import Column, column_of, plain_name
from gridatlas_import.kinds import kind_of
from gridatlas_import.metric import last_part
from gridatlas_import.options import ROWS, ImportOptions
from gridatlas_import.rows import CannotImport, RawTable, Reported, WrongUsage, unknown
from gridatlas_import.search import JOINED
from gridatlas_import.vocabulary import GENERIC, METRICS

MANY_METRICS = 5
"""Names of metrics beyond which a column names metrics, whatever else it names."""
_HUNDREDS = re.compile(r"[1-9]\d\d", re.ASCII)
"""Whole numbers that have no comma, where those of more digits have one."""


def named_in(asked: ImportOptions) -> Iterator[tuple[str, str]]:
    """Options that name columns, with the names."""
    named = [
        ("--x", asked.x),
        ("--y", asked.y or None),
        ("--metric", asked.metric),
        *(("--facet", name) for name in asked.facets),
        *(("--repeats", name) for name in asked.repeats if name != ROWS),
        *(("--ignore", name) for name in asked.ignore),
        *(("--only", name) for name, _ in asked.keep),
        *((f"--{kind}", name) for kind, name in asked.counts.items() if name),
        ("--spread", asked.spread or None),
    ]
    return ((option, name) for option, name in named if name is not None)


def wrong_names(table: RawTable, asked: ImportOptions) -> list[CannotImport]:
    """What is wrong with the names of columns that options give."""
    wrong: list[CannotImport] = []
    used: dict[str, str] = {}
    for option, name in named_in(asked):
        if name not in table.columns:
            wrong.append(unknown(option, name, table.columns, "one of the columns"))
        elif name in used and {option, used[name]} != {"--only"}:
            wrong.append(
                WrongUsage(
                    f"{name} as {used[name]} and as {option}",
                    "one meaning per column",
                    "leave one of them out",
                )
            )
        used[name] = option
    return wrong


def with_joined(table: RawTable, names: Iterable[tuple[str, str]]) -> RawTable:
    """The table with a column for each name such as `model + size`; each behind its option."""
    columns = dict(table.columns)
    for _, name in names:
        parts = name.split(JOINED)
        if name in columns or len(parts) < 2 or not set(parts) <= columns.keys():
            continue
        texts = zip(*(columns[part] for part in parts), strict=True)
        columns[name] = [JOINED.join(map(str.strip, row)) for row in texts]
    return replace(table, columns=columns)


def mark_of(table: RawTable) -> numerals.DecimalMark:
    """The decimal mark: of all columns in which everything looks like a number.

    Raises:
        CannotImport: Where the numbers don't tell, or contradict one another.
    """
    marks: dict[str, str] = {}
    for name in table.columns:
        column = column_of(table, name)
        numbers = {*filter(numerals.looks_like_number, column.odd)}
        if all(map(numerals.is_absent, column.odd - numbers)):
            pointed = [text for text in column.counts if "." in text and text not in column.odd]
            first = next(filterfalse(numerals.THREE.fullmatch, pointed), "".join(pointed[:1]))
            found = numerals.marks_of(t for t in column.counts if t == first or t in numbers)
            if "comma_or_thousands" in found and any(map(_HUNDREDS.fullmatch, column.counts)):
                found.setdefault("point", found["comma_or_thousands"])  # 686 and 1,188
            marks = found | marks
    return numerals.decimal_mark(marks, semicolons=table.semicolons)


@dataclass(frozen=True, slots=True)
class Filtered:
    """The rows that are taken.

    Attributes:
        keep: Columns and the levels that rows must have.
        left: The other rows.
        metric: The metric's name, where a column names metrics.
    """

    table: RawTable
    keep: tuple[tuple[str, str], ...]
    left: tuple[Reported, ...]
    metric: str


def filtered(table: RawTable, asked: ImportOptions, mark: numerals.DecimalMark) -> Filtered:
    """The rows that are taken, what they must have, the others, and the metric's name if any.

    Raises:
        CannotImport: For a level that isn't there.
    """
    keep = dict(asked.keep)
    for name, level in table.keep.items():
        levels = set(table.columns[name]) if name not in keep else set()
        if level in levels and len(levels) > 1:
            keep[name] = level
    naming = _naming(table, asked, mark)
    if naming is not None and naming.name not in keep and naming.level_count > 1:
        counted = Counter(naming.levels)
        keep[naming.name] = max(naming.distinct, key=lambda level: counted[level])
    left: list[Reported] = []
    for name, level in keep.items():
        column = column_of(table, name, mark)
        if level not in column.distinct:
            raise unknown("--only", level, column.distinct, f"a level of {name}:", f"{name}=")
        left += [
            Reported(place, f"{name} is {other or 'empty'}, not {level}")
            for place, other in zip(table.places, column.levels, strict=True)
            if other != level
        ]
        table = table.with_rows([row for row, other in enumerate(column.levels) if other == level])
    called = ""
    if naming is not None:
        called = keep.get(naming.name) or (naming.distinct[0] if naming.level_count == 1 else "")
    return Filtered(table, tuple(keep.items()), tuple(left), called)


def _naming(table: RawTable, asked: ImportOptions, mark: numerals.DecimalMark) -> Column | None:
    """The column whose levels are the names of metrics; None where there is none."""
    given = (asked.x, asked.y, asked.metric, *asked.facets, *asked.ignore)
    for name in table.columns:
        if name in given:
            continue
        column = column_of(table, name, mark)
        named = plain_name(name) in ("metric", "metric_name", "measure", "metric_type")
        # In this order: it takes long to find the levels of numbers that were measured.
        if named and not column.is_metric_like and not {*column.distinct} <= {*table.wide}:
            return column
        if not (table.wide or column.is_metric_like) and _names_metrics(column):
            return column
    return None


def _names_metrics(column: Column) -> bool:
    """Whether nearly all texts of a column are names of metrics, or many of them."""
    whole = column.filled == len(column.texts) and column.outcome_of is None
    # Of a row for each, one row would be kept.
    if not (whole and 2 <= column.level_count <= min(40, len(column.texts) - 1)):
        return False
    named = [
        level
        for level in map(last_part, column.distinct)
        if kind_of(Column(level, ["0.5", "0.25"], "point")).kind in ("metric", "performance")
        or plain_name(level) in METRICS - GENERIC
    ]
    share = len(named) / column.level_count
    return len(named) > 1 and (share >= 0.8 or (share > 0.3 and len(named) > MANY_METRICS))
