"""A table of many names over several tests of the same thing: ranks, means, coloured columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import isfinite
from typing import Any

import numpy as np

from gridatlas.analysis.questions import FEW_NAMES
from gridatlas.analysis.said import Answer
from gridatlas.analysis.words import plural
from gridatlas.charts.palette import ColourScale
from gridatlas.model.format import format_measured, format_value, mean_decimals
from gridatlas.model.study import Cell, Factor, Level, Study, inline
from gridatlas.table.study_table import Grid

SHORT = {"missing": "–", "failed": "fail", "oom": "OOM", "disputed": "–"}
FACTOR = 3
"""Medians of columns that differ by more than this make colours ratios."""
MANY_NAMES = 12
"""Names up to which a heatmap over conditions can be read: its labels have room."""
MOST_RINGS = 10
"""Rows that may be first beyond which their mark would be on every row that is seen."""

Board = dict[str, Any]
"""What the template gets, as `board_of` says."""


def _factors(study: Study, grids: Sequence[Grid]) -> tuple[Factor, Factor] | None:
    """The names and the tests, or conditions, where nothing else varies."""
    several = [
        facet
        for at, facet in enumerate(study.facets)
        if len({grid.levels[at] for grid in grids if not grid.aggregate}) > 1
    ]
    varied = [factor for factor in (*study.varied, *several) if len(factor.levels) > 1]
    by_role = {study.roles.get(factor.id): factor for factor in varied}
    names, tests = by_role.get("choice"), by_role.get("block") or by_role.get("condition")
    if len(varied) != 2 or names is None or tests is None or study.metric.better is None:
        return None
    fewest = FEW_NAMES if "block" in by_role else MANY_NAMES
    if all(level.number is not None for level in names.levels) or len(names.levels) <= fewest:
        return None
    return names, tests


def board_of(study: Study, grids: Sequence[Grid], answer: Answer | None) -> Board | None:
    """The table of a page; None where it asks something else.

    Returns:
        `names` and `tests` (factors; in words `plural`), `columns` (levels with values), `groups`
        (a name and a number of columns each; empty without), `rows` (the best first, each with
        `level`, `rank`, `low` and `high`, `text` of its mean, `of` so many values, `dot` from 0 to
        100, and `cells`), `ratio` (whether colours are ratios to the columns' medians), `end` of
        the scale in the metric's unit, `geometric` and `merged` (how means come about), and whether
        there are `ranges` of ranks, `gaps`, `rings` at those that may be first, and an `outline`.
    """
    found = _factors(study, grids)
    if found is None:
        return None
    names, tests = found
    cells = _cells(study, grids, names, tests)
    given = {column for _, column in cells}
    columns = sorted(
        (level for level in tests.levels if level.key in given and not level.aggregate),
        key=_group_order(tests),
    )
    values = np.array(
        [[_number(cells.get((name.key, of.key))) for of in columns] for name in names.levels]
    )
    present = [at for at, row in enumerate(values) if np.isfinite(row).any()]
    if not present or not columns:
        return None
    values, levels = values[present], [names.levels[at] for at in present]
    sign = -1 if study.metric.falls else 1
    deviation, ratio, end = _deviation(values, sign)
    best = np.nanmax(np.where(np.isfinite(values), sign * values, -np.inf), axis=0)
    ranks = {name: rest for name, *rest in answer.ranks} if answer else {}
    geometric = answer is not None and any(of.unit == "×" for of in answer.compared)
    rows: list[dict[str, Any]] = []
    for at, level in enumerate(levels):
        own = values[at][np.isfinite(values[at])]
        mean, low, high = ranks.get(level.label, (np.nan, 0, 0))
        rows.append(
            {
                "level": level,
                "mean": float(mean) if isfinite(mean) else float(own.mean()),
                "of": len(own),
                "low": low,
                "high": high,
                "cells": [
                    _shown(study, cells.get((level.key, of.key)), value, off, end, top)
                    for of, value, off, top in zip(
                        columns, values[at], deviation[at], sign * best, strict=True
                    )
                ],
            }
        )
    rows = _in_order(rows, [*ranks], sign, len(columns))
    first = [row for row in rows if row["low"] == 1]
    return {
        "names": names,
        "tests": tests,
        "columns": columns,
        "groups": _groups(columns),
        "rows": _with_dots(study, rows, sign),
        "ratio": ratio,
        "end": format_value(end, 0 if end >= 1 else study.metric.decimals or 0),
        "plural": plural(inline(tests.label)),
        "geometric": geometric,
        "merged": bool(ranks) and not _is_plain(rows, values, geometric),
        "ranges": bool(ranks),
        "gaps": any(row["of"] < len(columns) for row in rows),
        "rings": 1 < len(first) <= min(len(rows) / 2, MOST_RINGS),
        "outline": answer is not None and answer.asserts and bool(first),
    }


def _cells(
    study: Study, grids: Sequence[Grid], names: Factor, tests: Factor
) -> dict[tuple[str, str], Cell]:
    """The cells by name and test."""
    found = {}
    for grid in grids:
        if grid.aggregate:
            continue
        facets = dict(zip([facet.id for facet in study.facets], grid.levels, strict=True))
        for (x, y), cell in zip(grid.keys, grid.columns, strict=True):
            at = {**facets, study.x.id: x, study.y.id: y}
            found[at[names.id], at[tests.id]] = cell
    return found


def _number(cell: Cell | None) -> float:
    return np.nan if cell is None or cell.value is None else float(cell.value)


def _group_order(tests: Factor) -> Any:
    groups = [level.group for level in tests.levels if level.group]
    order = {group: at for at, group in enumerate(dict.fromkeys(groups))}
    return lambda level: order.get(level.group, len(order))


def _groups(columns: Sequence[Level]) -> list[tuple[str, int]]:
    """Neighbouring columns of one group."""
    found = [(group, len([*own])) for group, own in groupby(columns, lambda level: level.group)]
    return found if any(group for group, _ in found) else []


def _deviation(values: Any, sign: int) -> tuple[Any, bool, float]:
    """How far values are from the medians of their columns, whether as ratios, and the scale's end.

    Returns:
        Differences in the metric's unit, or base-2 logarithms of ratios; better is above 0.
    """
    middle = np.nanmedian(np.where(np.isfinite(values), values, np.nan), axis=0)
    finite = values[np.isfinite(values)]
    if finite.min() > 0 and middle.max() > FACTOR * middle.min():
        return sign * np.log2(values / middle), True, 1.0
    off = sign * (values - middle)
    return off, False, nice(float(np.percentile(np.abs(off[np.isfinite(off)]), 95)))


def nice(end: float) -> float:
    """Rounded up to 1, 2, 3, 5 or 7 times a power of ten."""
    if end <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(end))
    return float(next(of * power for of in (1, 2, 3, 5, 7, 10) if of * power >= end * (1 - 1e-9)))


def _shown(
    study: Study, cell: Cell | None, value: float, off: float, end: float, best: float
) -> tuple[str, int, bool]:
    """A cell's text, its step of the colour scale (-1 without), and whether it is the best."""
    if not isfinite(value) or cell is None or cell.value is None:
        return (SHORT.get(cell.state, "–") if cell else "–"), -1, False
    text = format_measured(cell.value, study.metric.decimals or 0)
    return text, ColourScale("difference", -end, end).step(off), value == best


def _in_order(
    rows: list[dict[str, Any]], ranked: Sequence[str], sign: int, columns: int
) -> list[dict[str, Any]]:
    """The best first: as the analysis ranks them, else by the mean; those with gaps at the end."""
    place = {name: at for at, name in enumerate(ranked)}

    def key(row: dict[str, Any]) -> tuple[int, bool, float]:
        at = place.get(row["level"].label, len(place))
        return at, row["of"] < columns, -sign * row["mean"]

    found, last = sorted(rows, key=key), 0
    for at, row in enumerate(found):
        counted = row["level"].label in place or row["of"] == columns
        last = at + 1 if counted else last
        row["rank"] = at + 1 if counted else None
    return found


def _is_plain(rows: Sequence[dict[str, Any]], values: Any, geometric: bool) -> bool:
    """Whether all columns count alike in the means."""
    whole = values[np.isfinite(values).all(axis=1)]
    means = np.exp(np.log(whole).mean(axis=1)) if geometric else whole.mean(axis=1)
    own = [row["mean"] for row in rows if len(row["cells"]) == row["of"]]
    return bool(np.allclose(np.sort(means), np.sort(own), rtol=1e-9))


def _with_dots(study: Study, rows: list[dict[str, Any]], sign: int) -> list[dict[str, Any]]:
    """With the mean in words, and its place from worse to better, from 0 to 100.

    The worse end is at the 80th percentile where it lies more than three times as far from the
    median as the better end does.
    """
    means = np.array([sign * row["mean"] for row in rows])
    middle, top, low = float(np.median(means)), float(means.max()), float(means.min())
    if middle - low > FACTOR * (top - middle):
        low = float(np.percentile(means, 20))
    decimals = mean_decimals(study)
    for row, mean in zip(rows, means.tolist(), strict=True):
        share = (mean - low) / (top - low) if top > low else 0.5
        row["dot"] = round(100 * min(max(share, 0.0), 1.0))
        row["text"] = format_measured(row["mean"], decimals)
    return rows
