"""Tables to import, in the shapes that experiments leave behind.

Plain functions that write files. Without a random number: the same call writes the same bytes.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path

REPEATS = 5
COLUMNS = 100
"""Repeats of a cell in a tidy table, and levels of x in a wide one."""


def tidy(rows: int) -> Callable[[Path], None]:
    """A row per cell and repeat: three factors, a seed, the metric."""

    def write(file: Path) -> None:
        with open(file, "w", encoding="utf-8", newline="") as text:
            writer = csv.writer(text)
            writer.writerow(("model", "lr", "batch", "seed", "accuracy"))
            writer.writerows(_rows(rows))

    return write


def lines(rows: int) -> Callable[[Path], None]:
    """The same, an object of JSON per line."""

    def write(file: Path) -> None:
        names = ("model", "lr", "batch", "seed", "accuracy")
        with open(file, "w", encoding="utf-8") as text:
            for row in _rows(rows):
                text.write(json.dumps(dict(zip(names, row, strict=True))) + "\n")

    return write


def wide(cells: int) -> Callable[[Path], None]:
    """A row per level of y, a column per level of x."""

    def write(file: Path) -> None:
        with open(file, "w", encoding="utf-8", newline="") as text:
            writer = csv.writer(text)
            writer.writerow(("depth", *(at / 10 for at in range(1, COLUMNS + 1))))
            for row in range(cells // COLUMNS):
                writer.writerow((row, *(_value(row, at, 0) for at in range(COLUMNS))))

    return write


def _rows(number: int) -> Iterator[tuple[str, float, int, int, float]]:
    for at in range(number):
        cell, seed = divmod(at, REPEATS)
        model, place = divmod(cell, max(1, number // REPEATS // 20))
        yield (
            f"model-{model}",
            (place // 20 + 1) / 1000,
            place % 20 * 8 + 8,
            seed,
            _value(cell, seed, model),
        )


def _value(first: int, second: int, third: int) -> float:
    """In %, with three decimals."""
    return (first * 7919 ^ second * 104729 ^ third * 1299709) % 100_001 / 1000
