"""Tables whose headings stand in one line or in two, such as those of pandas with MultiIndex."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gridatlas_import.numerals import is_absent, looks_like_number
from gridatlas_import.rows import RawTable, Reported, by_columns, unique_names

SEPARATOR = " / "
"""Between the lines of a heading."""


@dataclass(frozen=True, slots=True)
class Headings:
    """Two lines of headings.

    Attributes:
        labels: Names of the columns that rows are known by.
        levels: Of each other column, what stands in both lines.
        names: What the lines are levels of.
        lines: How many lines the headings take.
    """

    labels: tuple[str, ...]
    levels: tuple[tuple[str, str], ...]
    names: tuple[str, str]
    lines: int


def two_lines(rows: Sequence[Sequence[str]]) -> Headings | None:
    """Two lines of headings at the top of rows; None where there is one line."""
    if len(rows) < 3 or len(rows[0]) != len(rows[1]) or len(rows[0]) < 3:
        return None
    upper, lower = ([cell.strip() for cell in row] for row in rows[:2])
    start = _first_label(upper, lower, rows)
    upper = _filled(upper, start)
    above, below = upper[start:], lower[start:]
    groups: dict[str, list[str]] = {}
    for first, second in zip(above, below, strict=True):
        groups.setdefault(first, []).append(second)
    if len(above) < 2 or "" in groups or "" in below or len(groups) == len(above):
        return None
    if any(len(set(group)) < len(group) for group in groups.values()):
        return None
    sets = {frozenset(group) for group in groups.values()}
    same_levels = len(groups) > 1 and len(sets) < len(groups)
    texts = not any(map(looks_like_number, below)) and all(
        looks_like_number(cell) or is_absent(cell) for cell in rows[2][start:]
    )
    if not (same_levels or texts):
        return None
    named = [cell.strip() for cell in rows[2]]
    third = any(named[:start]) and not any(named[start:]) and len(rows) > 3
    labels = [
        (named[at] if third else "")
        or ("" if third else lower[at] or upper[at])
        or f"column_{at + 1}"
        for at in range(start)
    ]
    names = ("columns:1", "columns:2")
    if third and start and upper[start - 1] and lower[start - 1]:
        names = (upper[start - 1], lower[start - 1])
    levels = tuple(zip(above, below, strict=True))
    return Headings(tuple(labels), levels, names, 3 if third else 2)


def _first_label(upper: list[str], lower: list[str], rows: Sequence[Sequence[str]]) -> int:
    """How many columns stand before those with two lines of headings."""
    start = 0
    while start < len(upper) - 1 and (
        not upper[start]
        or not lower[start]
        or not all(looks_like_number(r[start]) or is_absent(r[start]) for r in rows[2:6])
    ):
        start += 1
    return start


def _filled(cells: list[str], start: int) -> list[str]:
    """Headings of merged cells stand in the first of them only."""
    found = list(cells)
    for at in range(start + 1, len(found)):
        found[at] = found[at] or found[at - 1]
    return found


def table_of_rows(
    form: str,
    rows: Sequence[Sequence[str]],
    places: Sequence[str],
    reported: tuple[Reported, ...] = (),
) -> RawTable:
    """A table of rows of which the first, or the first two, are its headings."""
    headings = two_lines(rows)
    if headings is None:
        columns, notes = unique_names(list(rows[0]))
        texts = by_columns(columns, rows[1:])
        return RawTable(form, texts, places[1:], reported, tuple(notes))
    names = [*headings.labels, *(SEPARATOR.join(level) for level in headings.levels)]
    columns, notes = unique_names(names)
    texts = by_columns(columns, rows[headings.lines :])
    levels = dict(zip(columns[len(headings.labels) :], headings.levels, strict=True))
    return RawTable(
        f"{form}, two lines of headings",
        texts,
        places[headings.lines :],
        reported,
        tuple(notes),
        headings=levels,
        heading_names=headings.names,
    )
