"""Outcomes of many items as a Parquet table: a row per cell and item."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gridatlas.data.tables import Table, read_table
from gridatlas.model.problems import Problem, join_names

COLUMNS = ("item", "samples", "correct")
"""Columns besides those of the factors."""


def read_outcomes_table(
    path: Path, name: str, run: str, fix: str
) -> tuple[dict[str, Any] | None, list[Problem]]:
    """The content of a table of outcomes, as its JSON form has it, in the order of its rows.

    Args:
        name: The file's path in messages.
        run: Its run.
        fix: What helps where it can't be read.
    """
    table, problems = read_table(path, name)
    if table is None:
        return None, problems
    absent = [column for column in COLUMNS if column not in table.columns]
    if absent:
        found = f"the columns {join_names(table.columns)}"
        expected = f"a column {join_names(absent)} beside the factors"
        return None, [*problems, Problem("wrong-outcomes", name, found, expected, fix)]
    return _content(table, run), problems


def _content(table: Table, run: str) -> dict[str, Any]:
    columns = dict(zip(table.columns, table.texts, strict=True))
    factors = [column for column in table.columns if column not in COLUMNS]
    rows: dict[tuple[str, ...], list[int]] = {}
    for row, key in enumerate(zip(*(columns[factor] for factor in factors), strict=True)):
        rows.setdefault(key, []).append(row)
    lists: dict[tuple[str, ...], int] = {}
    cells = []
    for key, places in rows.items():
        items = tuple(columns["item"][row] for row in places)
        cells.append(
            {
                "cell": dict(zip(factors, key, strict=True)),
                "items": lists.setdefault(items, len(lists)),
                "samples": [_count(columns["samples"][row]) for row in places],
                "correct": [_count(columns["correct"][row]) for row in places],
            }
        )
    return {"run": run, "items": [[*items] for items in lists], "cells": cells}


def _count(text: str) -> int | str:
    """A count as a number; other texts as they are, to be told where counts are checked."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else text


def as_columns(content: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The columns of a table with the content of the JSON form."""
    columns: dict[str, list[Any]] = {}
    for cell in content["cells"]:
        items = content["items"][cell["items"]]
        samples = cell["samples"]
        for factor, level in cell["cell"].items():
            columns.setdefault(factor, []).extend([level] * len(items))
        columns.setdefault("item", []).extend(items)
        counts = samples if isinstance(samples, list) else [samples] * len(items)
        columns.setdefault("samples", []).extend(counts)
        columns.setdefault("correct", []).extend(cell["correct"])
    return columns
