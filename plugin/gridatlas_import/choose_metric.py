"""Which column the metric is, and where its spread stands."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from decimal import Decimal

from gridatlas.model.directions import direction_of
from gridatlas_import.columns import Column, bare_words, determines, plain_name
from gridatlas_import.kinds import KindOfColumn
from gridatlas_import.metric import last_part
from gridatlas_import.numerals import plain
from gridatlas_import.vocabulary import OUTCOMES, RESULTS, SD_WORDS, SPREADS

_MAY_BE_ALIKE = ("metric", "performance", "generic", "outcome")
"""Kinds that are results even where all values are one."""
_TRAINING = re.compile(r"(^|_)(train|training|fit)(_|$)")
_CHOSEN_BY = re.compile(r"(^|_)(val|valid|validation|dev)(_|$)")
_ONE_OF_SEVERAL = re.compile(r"(^|_)\d+_[a-z]|(split|fold|cv|run|rep|seed)_?\d+(_|$)")


def choose_metric(
    columns: Mapping[str, Column],
    kinds: Mapping[str, KindOfColumn],
    used: Collection[str],
) -> tuple[str, str] | None:
    """The metric and why: what is named like one, then what is as full as any, then the first."""
    able = [name for name in columns if name not in used]
    results = [name for name in able if _is_result(columns[name], kinds[name].kind)]
    results += [name for name in able if kinds[name].kind == "outcome"]
    differ = [name for name in results if columns[name].number_count > 1]
    results = differ or [name for name in results if kinds[name].kind in _MAY_BE_ALIKE]
    if not results:
        return None if unclear_outcome(columns) else _by_counting(columns, kinds, able)

    named = {
        plain_name(level)
        for name, column in columns.items()
        if {"metric", "objective", "monitor"} & {*plain_name(name).split("_")}
        for level in column.distinct[:2]
        if column.level_count == 1 and not column.is_metric_like
    }

    tested = any("test" in plain_name(name).split("_") for name in results)

    def order(name: str) -> tuple[bool, bool, bool, bool, bool, int, bool, bool, bool, int]:
        called, kind = plain_name(name), kinds[name].kind
        rank = 0 if kind == "outcome" else RESULTS.index(kind)
        if called in ("mean", "avg", "average"):
            rank = RESULTS.index("generic")
        elif kind == "number" and columns[name].number_count * 3 < columns[name].filled:
            # A time is rather a result than numbers that repeat.
            rank = rank if kinds[name].strong else len(RESULTS)
        return (
            not _as_full_as_any(columns, results, name, Decimal("0.25")),
            plain_name(last_part(name)) not in named,  # as the file itself says
            bool(_ONE_OF_SEVERAL.search(called)),
            bool(_TRAINING.search(called)) and kind != "performance",
            bool(_CHOSEN_BY.search(called)) and tested,
            rank,
            not direction_of(last_part(name))[0],
            "min" in called.split("_") or "max" in called.split("_"),
            not _as_full_as_any(columns, results, name),
            results.index(name),
        )

    if len(results) > 1:
        results = [name for name in results if not _describes(columns, kinds, name)] or results
    best = min(results, key=order)
    kind = kinds[best].kind
    alike = [name for name in results if name != best and kinds[name].kind == kind]
    if kind == "number":
        return best, "a number with many distinct values"
    return best, kinds[best].why + (f" (also: {', '.join(alike[:4])})" if alike else "")


def _is_result(column: Column, kind: str) -> bool:
    """Whether numbers may be results: not sizes or costs that were given, as 24 and 80 GB."""
    were_set = column.level_count * (3 if column.look_set else 10) <= column.filled
    return kind in RESULTS and column.is_metric_like and not (kind == "cost" and were_set)


def _describes(columns: Mapping[str, Column], kinds: Mapping[str, KindOfColumn], name: str) -> bool:
    """Whether a column is an attribute: it says the same of all rows with a level of another."""
    return any(
        kind.kind in ("factor", "plain")
        and not columns[other].is_metric_like
        and 1 < columns[other].level_count * 2 <= len(columns[other].texts)
        and columns[name].number_count > 1
        and determines(columns[other], columns[name])
        for other, kind in kinds.items()
    )


def _as_full_as_any(
    columns: Mapping[str, Column],
    names: Collection[str],
    name: str,
    share: Decimal = Decimal("0.75"),
) -> bool:
    most = max(len(columns[other].texts) - columns[other].gaps for other in names)
    return len(columns[name].texts) - columns[name].gaps >= share * most


def unclear_outcome(columns: Mapping[str, Column]) -> Column | None:
    """A column of outcomes of which a person must say what counts as a success."""
    for name, column in columns.items():
        found = {plain(text).lower() for text in column.counts if plain(text)}
        if (
            OUTCOMES.fullmatch(plain_name(name))
            and found & {"pass", "passed", "fail", "failed", "correct", "incorrect"}
            and column.outcome_of is None
        ):
            return column
    return None


def _by_counting(
    columns: Mapping[str, Column], kinds: Mapping[str, KindOfColumn], able: Collection[str]
) -> tuple[str, str] | None:
    """Of numbers with few values the one with the most: the last of several."""
    numbers = [
        name
        for name in able
        if columns[name].is_metric_like
        and columns[name].number_count > 1
        and (kinds[name].kind == "plain" or _is_counted(kinds[name], columns[name]))
    ]
    if not numbers:
        return None
    order = [*columns]
    best = max(numbers, key=lambda name: (columns[name].level_count, order.index(name)))
    return best, "a number with many distinct values"


def _is_counted(kind: KindOfColumn, column: Column) -> bool:
    """Whether numbers with the name of a factor are results: too many differ."""
    return kind.kind == "factor" and column.number_count**2 > len(column.texts)


def spread_of(columns: Mapping[str, Column], metric: str) -> tuple[str, str]:
    """The column with the metric's spread, and its kind (sd, se, ci95); empty for none."""
    wanted = bare_words(metric)
    for name, column in columns.items():
        parts = set(plain_name(name).split("_"))
        if name == metric or not parts & SPREADS or not column.is_metric_like:
            continue
        if bare_words(name) not in (wanted, frozenset()):
            continue
        kind = kind_of_spread(name)
        if kind in ("sd", "se"):
            return name, kind
    return "", ""


def kind_of_spread(name: str) -> str:
    """Which spread a name speaks of: sd, se, ci95; empty where it doesn't tell."""
    parts = set(plain_name(name).split("_"))
    if parts & SD_WORDS and "err" not in parts:
        return "sd"
    if parts & {"stderr", "se", "sem"}:
        return "se"
    return "ci95" if "ci95" in parts or {"95", "ci"} <= parts else ""
