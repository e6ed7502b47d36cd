"""Tables to import, in the shapes that experiments leave behind.

Plain functions that write files. Without a random number: the same call writes the same bytes.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

NAMES = ("model", "lr", "batch", "seed", "accuracy")
REPEATS = 5
COLUMNS = 100
"""Repeats of a cell in a tidy table, and levels of x in a wide one."""
_GOLDEN = (5**0.5 - 1) / 2
"""Its multiples fill the range from 0 to 1 evenly."""


def tidy(rows: int, *, full: bool = False) -> Callable[[Path], None]:
    """A row per cell and repeat: three factors, a seed, the metric.

    Args:
        full: Whether values are shares in all their digits, of which no two are alike.
    """
    own = ((*row[:-1], at * _GOLDEN % 1) if full else row for at, row in enumerate(_rows(rows)))
    return _csv(NAMES, own)


def lines(rows: int) -> Callable[[Path], None]:
    """The same, an object of JSON per line."""

    def write(file: Path) -> None:
        objects = (dict(zip(NAMES, row, strict=True)) for row in _rows(rows))
        file.write_text("".join(json.dumps(each) + "\n" for each in objects), encoding="utf-8")

    return write


def wide(cells: int) -> Callable[[Path], None]:
    """A row per level of y, a column per level of x."""
    rows = range(cells // COLUMNS)
    own = ((row, *(_value(row, at, 0) for at in range(COLUMNS))) for row in rows)
    return _csv(("depth", *(at / 10 for at in range(1, COLUMNS + 1))), own)


def _csv(names: Sequence[object], rows: Iterable[Sequence[object]]) -> Callable[[Path], None]:
    """Writes a header and rows, once."""

    def write(file: Path) -> None:
        with open(file, "w", encoding="utf-8", newline="") as text:
            csv.writer(text).writerows([names, *rows])

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
