"""Wide tables: a column per level of x becomes a row per cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from gridatlas.importing.columns import (
    FACTORS,
    METRICS,
    NOT_STDERR,
    REPEATS,
    WHEN,
    kind_of_count,
    plain_name,
    words,
)
from gridatlas.importing.numerals import are_plain_numbers, is_absent, looks_like_number
from gridatlas.importing.rows import CannotImport, RawTable
from gridatlas.model.problems import join_names

VALUE = "value"


def is_wide(table: RawTable) -> bool:
    """Whether a table looks like one.

    Two headings at least are numbers, with numbers below them; or texts that name each row stand
    first, and all other columns are numbers below headings that name no metric, factor or count.
    """
    columns = [name for name in table.columns if name not in table.origins]
    levels = [name for name in columns if looks_like_number(name)]
    if len(levels) >= 2:
        numbers = all(_numbers(table.columns[name]) for name in levels)
        return len(levels) < len(columns) and numbers
    first = next((at for at, column in enumerate(columns) if _numbers(table.columns[column])), 0)
    texts, levels = columns[:first], columns[first:]
    if len(levels) < 2 or not texts or not all(map(_names_nothing, levels)):
        return False
    named = list(zip(*(table.columns[name] for name in texts), strict=True))
    return len(set(named)) == len(named) and all(
        _numbers(table.columns[name]) and any(map(looks_like_number, table.columns[name]))
        for name in levels
    )


def _names_nothing(heading: str) -> bool:
    """Whether a heading has no word that columns of long tables have."""
    vocabulary = METRICS | FACTORS | REPEATS
    return not (
        len(heading) == 1
        or vocabulary & set(words(heading))
        or kind_of_count(heading)
        or NOT_STDERR.search(plain_name(heading))
        or WHEN.search(plain_name(heading))
    )


def _numbers(texts: Sequence[str]) -> bool:
    distinct = set(texts)
    return are_plain_numbers(distinct) or all(
        looks_like_number(text) or is_absent(text) for text in distinct
    )


def long(table: RawTable, x: str | None, own: Sequence[str]) -> tuple[RawTable, str]:
    r"""The table with a row per cell, and the name of the column that has the headings now.

    Args:
        x: What the headings are levels of; without it the first heading's `y \ x`, or `column`.
        own: Columns that are no levels: those that y and the facets are named by.

    Raises:
        CannotImport: For a table without such columns.
    """
    numeric = [name for name in table.columns if looks_like_number(name)]
    if own:
        row_columns = [name for name in table.columns if name in own or name in table.origins]
    elif len(numeric) >= 2:
        row_columns = [name for name in table.columns if name not in numeric]
    else:
        row_columns = []
        for name in table.columns:
            if row_columns and _numbers(table.columns[name]):
                break
            row_columns.append(name)
        row_columns += [name for name in table.origins if name not in row_columns]
    levels = [name for name in table.columns if name not in row_columns]
    if not levels or not row_columns:
        raise CannotImport(
            f"--wide, and the columns {join_names(table.columns)}",
            "a column with the levels of y, and a column per level of x",
            "name the columns that aren't levels of x with --y and --facet",
            usage=True,
        )
    names = [re.sub(r"\s+", " ", name) for name in row_columns]
    names[0] = "row" if names[0] == "column_1" else names[0]
    corner = re.fullmatch(r"(.+?)\s*[\\/↓→|]\s*(.+?)", names[0])
    if corner:
        names[0] = corner[1]
    called = x or (corner[2] if corner else "column")
    note = "each column is taken for a level of x; if each row is a cell, say --long"
    number = len(table.places)
    columns: dict[str, Sequence[str]] = {
        name: [text for text in table.columns[column] for _ in levels]
        for name, column in zip(names, row_columns, strict=True)
    }
    columns[called] = levels * number
    values = VALUE if VALUE not in columns else f"{VALUE}_2"
    cells = zip(*(table.columns[level] for level in levels), strict=True)
    columns[values] = [*chain.from_iterable(cells)]
    long_table = replace(
        table,
        form=f"{table.form}, wide: {number} rows × {len(levels)} columns",
        columns=columns,
        places=[f"{place}, {level}" for place in table.places for level in levels],
        notes=(*table.notes, note),
    )
    return long_table, called
