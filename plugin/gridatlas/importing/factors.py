"""Which columns are axes, facets and repeats, and why the others are nothing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from gridatlas.importing.columns import (
    DIRECTION_COLUMNS,
    FACTORS,
    METRICS,
    NOT_STDERR,
    REPEATS,
    WHEN,
    Column,
    determines,
    kind_of_count,
    plain_name,
    words,
)
from gridatlas.importing.numerals import looks_like_number
from gridatlas.importing.options import ImportOptions, Role
from gridatlas.importing.rows import CannotImport
from gridatlas.model.problems import join_names, quote


def choose_factors(
    columns: Mapping[str, Column],
    asked: ImportOptions,
    roles: Mapping[str, Role],
    places: Sequence[str],
) -> tuple[str, str, tuple[str, ...]]:
    """X, y and the facets: numbers with few values first, then texts with the most levels.

    Args:
        roles: Columns that are something already.
        places: Columns that only say where a row comes from.

    Raises:
        CannotImport: Where there are no two columns to be the axes.
    """
    given = [name for name in (asked.x, asked.y, *asked.facets) if name]
    taken = {*roles, *given, *asked.repeats, *places}
    able = [
        column for name, column in columns.items() if name not in taken and _may_be_factor(column)
    ]
    free = [column for column in able if _has_few_levels(column)]
    varied = [column for column in free if len(column.distinct) > 1]
    varied = [column for column in varied if not combined(column, varied)]
    ranked = sorted(varied, key=lambda column: -len(column.distinct))
    apart: list[Column] = []
    for column in ranked:
        others = (*(columns[name] for name in given), *apart)
        if not any(determines(other, column) for other in others):
            apart.append(column)
    order = list(columns)
    numeric = [column for column in apart if column.as_numbers]
    texts = [column for column in apart if not column.as_numbers]
    rest = [column for column in ranked if column not in apart]
    constant = [column for column in free if len(column.distinct) == 1]
    constant.sort(key=lambda column: "model" not in words(column.name))
    many = [column for column in able if column not in free]
    axes = [column.name for column in (*numeric, *texts, *rest, *many, *constant)]
    missing = [axis for axis in (asked.x, asked.y) if axis is None]
    if len(axes) < len(missing):
        raise CannotImport(
            f"no two columns to be the axes, among {join_names(columns, 30)}",
            "two columns with levels, for x and y",
            "name them with --x and --y; where each column is a level of x, add --wide",
            usage=True,
        )
    chosen = axes[: len(missing)]
    chosen.sort(key=lambda name: (not columns[name].as_numbers, order.index(name)))
    x = asked.x or chosen.pop(0)
    y = asked.y or chosen.pop(0)
    if asked.facets:
        return x, y, asked.facets
    facets = tuple(name for name in order if columns[name] in apart and name not in (x, y))
    return x, y, facets


def _may_be_factor(column: Column) -> bool:
    name, parts = plain_name(column.name), set(words(column.name))
    if (
        name in DIRECTION_COLUMNS
        or kind_of_count(column.name)
        or NOT_STDERR.search(name)
        or REPEATS & parts
    ):
        return False
    if FACTORS & parts or not column.filled:
        return bool(column.filled)
    return not (METRICS & parts and column.is_metric_like) and not WHEN.search(name)


def _has_few_levels(column: Column) -> bool:
    named = FACTORS & set(words(column.name))
    return bool(named) or len(column.distinct) <= max(2, len(column.texts) // 2)


def combined(column: Column, others: Sequence[Column]) -> list[str]:
    """Two columns that a text names together, such as `small-lr0.1`; none for other columns."""
    if column.as_numbers:
        return []
    below = [
        other
        for other in others
        if other is not column and determines(column, other) and not determines(other, column)
    ]
    for at, first in enumerate(below):
        for second in below[at + 1 :]:
            if not (determines(first, second) or determines(second, first)):
                return [first.name, second.name]
    return []


def why_factor(column: Column, role: str, asked: bool) -> str:
    """The reason for a column's being an axis or a facet, for people."""
    if asked:
        return "as asked"
    if len(column.distinct) == 1:
        return "nothing else varies"
    if not _has_few_levels(column):
        return "nothing else is more like an axis"
    if role == "facet":
        return "varied besides the axes"
    return "a number with few values" if column.as_numbers else "the text with most levels"


def choose_repeats(
    columns: Mapping[str, Column],
    asked: ImportOptions,
    roles: Mapping[str, Role],
    axes: tuple[str, str],
    facets: tuple[str, ...],
    places: Sequence[str],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Facets with those that are needed besides, and the columns of repeats."""
    if asked.repeats:
        return facets, asked.repeats

    def several(*names: str) -> int:
        keys = list(zip(*(columns[name].levels for name in names), strict=True))
        return len(keys) - len(set(keys))

    if not several(*axes, *facets):
        return facets, ()
    numbered = [
        name
        for name, column in columns.items()
        if name not in roles
        and REPEATS & set(words(name))
        and len(column.distinct) > 1
        and not column.is_fractional
    ]
    chosen: list[str] = []
    for name in numbered:
        if several(*axes, *facets, *chosen, name) < several(*axes, *facets, *chosen):
            chosen.append(name)
    if chosen:
        return facets, tuple(chosen)
    if not asked.facets:
        for name in places:
            if name not in roles and not several(*axes, *facets, name):
                return (*facets, name), ()
    return facets, ()


def explain_rest(
    columns: Mapping[str, Column],
    roles: dict[str, Role],
    factors: Sequence[str],
) -> None:
    """Why the other columns aren't read."""
    for name, column in columns.items():
        if name in roles:
            continue
        parts = set(words(name))
        if not column.filled:
            why = "empty"
        elif REPEATS & parts and len(column.distinct) > 1:
            why = f"nothing is repeated by it; if it was varied: --facet {shlex.quote(name)}"
        elif plain_name(name) in DIRECTION_COLUMNS:
            why = "says which is better"
        elif len(column.distinct) == 1:
            why = "one level only"
        elif METRICS & parts and column.is_metric_like and not FACTORS & parts:
            why = f"another metric: import it as a study of its own, --metric {shlex.quote(name)}"
        elif NOT_STDERR.search(plain_name(name)):
            why = "no standard error (if it is one: --stderr)"
        elif parts_of := combined(column, [columns[other] for other in factors]):
            why = f"names {join_names(parts_of)} together"
        elif follows := [other for other in factors if determines(columns[other], column)]:
            why = f"follows from {follows[0]}"
        elif len(column.distinct) > len(column.texts) / 2:
            why = "differs in nearly each row"
        else:
            why = f"its name; if it was varied: --facet {shlex.quote(name)}"
        roles[name] = Role("not read", name, column.summary, why)


def notes_of_levels(column: Column) -> list[str]:
    """Notes of levels that are odd."""
    notes: list[str] = []
    if column.as_numbers or not column.filled:
        return notes
    numbers = [level for level in column.distinct if looks_like_number(level)]
    texts = [level for level in column.distinct if level not in numbers]
    if numbers and texts:
        few, kind = (texts, "texts") if len(texts) <= len(numbers) else (numbers, "numbers")
        notes.append(
            f"{column.name} has numbers and texts as levels; the {kind}: {join_names(few, 5)}"
        )
    lists = [level for level in column.distinct if level[:1] in "[({" and level[-1:] in "])}"]
    if lists:
        notes.append(f"{column.name} has lists as levels, taken as texts: {quote(lists[0], 40)}")
    spaced = [count for count in column.counts if count != count.strip()]
    if spaced:
        notes.append(f"{column.name}: spaces around levels are left out")
    return notes
