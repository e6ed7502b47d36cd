"""Outcomes of many items as a Parquet table: a row per cell and item."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gridatlas.data.tables import Table, read_table
from gridatlas.model.categorical import numbered
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
    numbers = numbered([columns[factor] for factor in factors]) if factors else ()
    rows: dict[int, list[int]] = {}
    for row, cell in enumerate(numbers):
        rows.setdefault(cell, []).append(row)
    counts = {name: [*map(_count, columns[name].categories)] for name in ("samples", "correct")}
    lists: dict[tuple[str, ...], int] = {}
    cells = []
    for places in rows.values():
        items = tuple(columns["item"].at(places))
        cell_counts = {
            name: [*map(of_code.__getitem__, map(columns[name].codes.__getitem__, places))]
            for name, of_code in counts.items()
        }
        cells.append(
            {
                "cell": {factor: columns[factor][places[0]] for factor in factors},
                "items": lists.setdefault(items, len(lists)),
                **cell_counts,
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
