"""Units of work: what a run does one by one, and what it is planned to do."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gridatlas.model.schema import level_key
from gridatlas_reproduce.runner.files import compact, digest

Cell = tuple[tuple[str, str], ...]
"""(factor, level) of all facets, x and y, by the factor's name."""


def seed_of(base: int, item: str, sample: int) -> int:
    """The seed of one sample: the same in every cell, so that cells share their random numbers."""
    text = f"{base}/{item}/{sample}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % 2**63


def cell_of(levels: Mapping[str, object] | Iterable[tuple[str, object]]) -> Cell:
    """A cell from its levels, 0.10 being 0.1; factors by name.

    Raises:
        ValueError: For a level that is empty, or neither text nor number.
    """
    pairs = levels.items() if isinstance(levels, Mapping) else levels
    return tuple(sorted((factor, level_key(level)) for factor, level in pairs))


@dataclass(frozen=True, slots=True)
class Unit:
    """What is done and written as one: one cell and one item.

    Attributes:
        cell: (factor, level) of all facets, x and y; kept in the order of the factors' names.
        item: The question, or what else the cell is made of (a training seed); None for all of it.
        rows: Graded samples that it has when it is done.
    """

    cell: Cell
    item: str | None
    rows: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "cell", cell_of(self.cell))
        if self.rows < 1:
            raise ValueError("a unit has at least one row")

    @property
    def levels(self) -> dict[str, str]:
        """The levels by factor."""
        return dict(self.cell)

    @property
    def path(self) -> str:
        """The file's name below `records/`: readable, and another one for every unit."""
        words = [level for _, level in self.cell] + ([] if self.item is None else [self.item])
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", "_".join(words))[:80].lstrip(".")
        return f"{name}.{digest([self.levels, self.item])[:10]}.jsonl"

    def as_json(self) -> dict[str, Any]:
        """As it stands in the head of its file."""
        return {"cell": self.levels, "item": self.item, "rows": self.rows}


def plan_as_json(units: Iterable[Unit]) -> dict[str, Any]:
    """The units of a run, cell by cell; cells with the same items share one list of them.

    Raises:
        ValueError: For a unit that is there twice.
    """
    cells: dict[Cell, dict[str | None, int]] = {}
    for unit in units:
        items = cells.setdefault(unit.cell, {})
        if unit.item in items:
            raise ValueError(f"the unit {unit.levels}, {unit.item} is planned twice")
        items[unit.item] = unit.rows
    lists: dict[tuple[tuple[str | None, int], ...], int] = {}
    entries = [
        {"cell": dict(cell), "units": lists.setdefault(tuple(items.items()), len(lists))}
        for cell, items in cells.items()
    ]
    return {"cells": entries, "units": [[list(unit) for unit in found] for found in lists]}


def units_of_plan(plan: Mapping[str, Any]) -> tuple[Unit, ...]:
    """The units that `plan_as_json` was given, cell by cell.

    Raises:
        ValueError: For what `plan_as_json` doesn't give; so do LookupError, TypeError and
            AttributeError.
    """
    lists = [_items(entries) for entries in plan["units"]]
    units: list[Unit] = []
    cells: set[Cell] = set()
    for entry in plan["cells"]:
        cell, index = cell_of(entry["cell"]), entry["units"]
        if cell in cells:
            raise ValueError(f"the cell {compact(dict(cell))} is planned twice")
        # True is a number to Python, and -1 the last of a list.
        if type(index) is not int or not 0 <= index < len(lists):
            raise ValueError(f"a cell has the units {compact(index)}, which aren't there")
        cells.add(cell)
        units += [Unit(cell, item, rows) for item, rows in lists[index]]
    return tuple(units)


def _items(entries: Iterable[tuple[Any, Any]]) -> list[tuple[str | None, int]]:
    """The items of a cell and their rows, of a plan that anybody may have written."""
    found: dict[str | None, int] = {}
    for item, rows in entries:
        if not isinstance(item, str | None):
            raise ValueError(f"the item {compact(item)} isn't a text")
        if item in found:
            raise ValueError(f"the item {compact(item)} of a cell is planned twice")
        if type(rows) is not int or rows < 1:
            raise ValueError(f"a unit has {compact(rows)} rows, not a whole number of 1 or more")
        found[item] = rows
    return list(found.items())
