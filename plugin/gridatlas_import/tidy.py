"""A table as an expert reads it: without rows that are none, with one unit per column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from gridatlas.model.problems import quote
from gridatlas_import.columns import Column, column_of, kind_of_count, plain_name
from gridatlas_import.kinds import kinds_of
from gridatlas_import.markup import without_tags
from gridatlas_import.numerals import is_absent
from gridatlas_import.quantities import holds_number, in_one_unit
from gridatlas_import.rows import RawTable, Reported, unique_names

_SUM = re.compile(
    r"\W*(?:\w+[ -]){0,2}(?:average|avg\.?|mean|geomean|total|overall|aggregated?|mittelwert|summe)"
    r"(?:\W*\((?:.*)\))?(?: (?:score|rank|accuracy|perf\w*|of .*|over .*|all))?\W*",
    re.IGNORECASE,
)
"""Labels of rows that sum up others."""
_RULE = re.compile(r"[.\-–—=_…⋮*\s]{2,}|…")
_RESULTS = ("metric", "performance", "generic", "number", "outcome")
_OF_STATISTICS = re.compile(r"stat|agg|metric|measure|kind|type")
_MOST = 0.2
"""Share of rows up to which they may be summaries; beyond, the words are levels."""


def tidied(table: RawTable) -> RawTable:
    """The table without titles of sections, rules and summaries, with merged labels filled in.

    What is left out is reported.
    """
    if table.logs is not None:
        return table
    names = dict(
        zip(table.columns, unique_names([*map(without_tags, table.columns)])[0], strict=True)
    )
    columns = {names[name]: _without_tags(column_of(table, name)) for name in table.columns}
    headings = {names[name]: levels for name, levels in table.headings.items()}
    origins = tuple(names[name] for name in table.origins)
    table = replace(table, headings=headings, origins=origins)
    table = _with_filled_labels(_without_rows_that_are_none(replace(table, columns=columns)))
    return _with_share(in_one_unit(table))


def _with_share(table: RawTable) -> RawTable:
    """A table of successes and trials alone, with their share as its values."""
    columns = {name: column_of(table, name) for name in table.columns}
    counts = {kind_of_count(name): name for name in columns}
    if not {"n", "successes"} <= counts.keys():
        return table
    if any(found.kind in _RESULTS for found in kinds_of(columns).values()):
        return table
    n, successes = table.columns[counts["n"]], table.columns[counts["successes"]]
    name = f"{counts['successes']}/{counts['n']}"
    shares = [*map(_share, successes, n)]
    note = f"{name}: the share, computed from both columns"
    return replace(table, columns={**table.columns, name: shares}, notes=(*table.notes, note))


def _share(successes: str, n: str) -> str:
    """The share of trials that succeeded, in six digits; what isn't two counts is a gap."""
    if not (successes.strip().isdecimal() and n.strip().isdecimal() and int(n)):
        return ""
    return f"{Decimal(successes) / Decimal(n):.6f}".rstrip("0").rstrip(".")


def _without_tags(column: Column) -> Sequence[str]:
    changed = {text: new for text in column.odd if (new := without_tags(text)) != text}
    return [changed.get(text, text) for text in column.texts] if changed else column.texts


def labels(table: RawTable) -> list[str]:
    """The first columns, up to that in which numbers begin."""
    found: list[str] = []
    for name, texts in table.columns.items():
        filled = [text for text in dict.fromkeys(texts) if not is_absent(text)]
        if found and filled and sum(map(holds_number, filled)) * 2 > len(filled):
            break
        found.append(name)
    return found


def _without_rows_that_are_none(table: RawTable) -> RawTable:
    names = [name for name in table.columns if name not in table.origins]
    if len(names) < 2:
        return table
    first, *rest = (table.columns[name] for name in names)
    why: dict[int, str] = {}
    if any("" in texts for texts in rest):
        for row, others in enumerate(zip(*rest, strict=True)):
            if not any(map(str.strip, others)) and not holds_number(first[row]):
                why[row] = f"a title: {quote(first[row], 60)}" if first[row] else "an empty row"
    for row in _rows_of(filter(_RULE.fullmatch, {*first}), first):
        if all(is_absent(texts[row]) or _RULE.fullmatch(texts[row]) for texts in rest):
            why.setdefault(row, "a rule")
    for name in labels(table):
        texts = table.columns[name]
        sums = [*_rows_of(filter(_SUM.fullmatch, {*texts}), texts)]
        few = len(sums) <= _MOST * len(texts) or (len(sums) == 1 and len(texts) > 2)
        if few and not (len({*texts}) <= 6 and _OF_STATISTICS.search(plain_name(name))):
            why |= {row: f"sums up others: {quote(texts[row], 60)}" for row in sums}
    if not why:
        return table
    found = table.with_rows([row for row in range(len(table.places)) if row not in why])
    reported = (Reported(table.places[row], reason) for row, reason in sorted(why.items()))
    return replace(found, reported=(*table.reported, *reported))


def _rows_of(wanted: Iterable[str], texts: Sequence[str]) -> Iterable[int]:
    """The rows that have one of some texts."""
    among = {*wanted}
    return (row for row, text in enumerate(texts) if text in among) if among else ()


def _with_filled_labels(table: RawTable) -> RawTable:
    """Blank labels as those above them, where a table does it throughout."""
    columns, notes = dict(table.columns), [*table.notes]
    for name in labels(table):
        texts = columns[name]
        given = [*filter(str.strip, texts)]
        merged = len(given) < len(texts) and texts[0].strip() and len({*given}) == len(given)
        if not merged or any(map(is_absent, given)):
            continue
        filled: list[str] = []
        for text in texts:
            filled.append(text if text.strip() else filled[-1])
        rows = [*zip(filled, *(columns[other] for other in columns if other != name), strict=True)]
        if len({*rows}) < len(rows):
            continue
        columns[name] = filled
        notes.append(f"{name}: blank labels mean the one above them")
    return replace(table, columns=columns, notes=tuple(notes))
