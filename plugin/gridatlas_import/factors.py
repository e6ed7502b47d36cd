"""Why columns are axes and facets, and why the others are nothing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from gridatlas.model.problems import join_names, quote
from gridatlas_import.columns import Column, determines
from gridatlas_import.kinds import KindOfColumn
from gridatlas_import.numerals import looks_like_number
from gridatlas_import.options import Role
from gridatlas_import.search import JOINED

ONE_LEVEL = "one level only"


def why_factor(column: Column, role: str, kind: KindOfColumn, asked: bool) -> str:
    """The reason for a column's being an axis or a facet, for people."""
    if asked:
        return "as asked"
    if column.level_count == 1:
        return "nothing else varies"
    if kind.why.endswith(" together"):
        return "together they identify a row"
    if role == "facet":
        return "varied besides the axes"
    return "a number with few values" if column.as_numbers else "the text with most levels"


def explain_rest(
    columns: Mapping[str, Column],
    kinds: Mapping[str, KindOfColumn],
    roles: dict[str, Role],
    factors: Sequence[str],
) -> None:
    """Why the other columns aren't read."""
    for name, column in columns.items():
        if name not in roles:
            why = _why_not(name, column, kinds[name], columns, factors)
            roles[name] = Role("not read", name, column.summary, why)


def _why_not(
    name: str,
    column: Column,
    kind: KindOfColumn,
    columns: Mapping[str, Column],
    factors: Sequence[str],
) -> str:
    if_varied = f"if it was varied: --facet {shlex.quote(name)}"
    if kind.kind in ("empty", "direction"):
        return kind.why
    if any(name in other.split(JOINED) for other in factors):
        return "part of what identifies a row"
    if kind.kind == "repeat" and column.level_count > 1:
        return f"nothing is repeated by it; {if_varied}"
    if column.level_count == 1:
        return ONE_LEVEL
    if kind.kind in ("metric", "generic", "performance", "outcome"):
        return f"another metric: import it as a study of its own, --metric {shlex.quote(name)}"
    if kind.kind == "spread":
        return "no standard error (if it is one: --stderr)"
    named = [other for other in factors if determines(column, columns[other])]
    if len(named) > 1 and not column.as_numbers:
        return f"names {join_names(named)} together"
    if kind.kind in ("aggregate", "derived", "state", "cost"):
        return kind.why
    if kind.kind == "number" and not kind.strong:
        wide = "; if headings are levels, add --wide" if len(factors) == 1 else ""
        return f"perhaps another metric: --metric {shlex.quote(name)}{wide}"
    if follows := [other for other in factors if determines(columns[other], column)]:
        return f"follows from {follows[0]}"
    if kind.kind == "text" or column.level_count > len(column.texts) / 2:
        return kind.why if kind.kind == "text" else "differs in nearly each row"
    return f"its name; {if_varied}"


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
