"""Large grids in blocks of neighbouring cells: how many cells a block has, and what it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

CELLS_BELOW = 10_000
"""Cells of a grid from which on blocks are drawn in their place: a page of more would weigh 1 MB
per heatmap, and hardly one cell could be pointed at."""
LEVELS_UP_TO = 200
"""Levels of an axis up to which cells are drawn; with more a cell is narrower than two pixels."""
BLOCKS_UP_TO = 30
"""Blocks along each axis; more along one where the other has fewer."""
ALONG_UP_TO = 100
"""Blocks along an axis at most."""

Entry = tuple[Decimal | None, str]
"""A cell's value, or why it has none."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The blocks of a grid.

    Attributes:
        x_size, y_size: Levels of x and of y that a block has; the last ones may have fewer.
        x, y: The places of each block's levels, from the first level on.
    """

    x_size: int
    y_size: int
    x: tuple[range, ...]
    y: tuple[range, ...]

    @property
    def size(self) -> str:
        """`25 × 25`: cells along x and along y."""
        return f"{self.x_size:,} × {self.y_size:,}"


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring cells that are drawn as one.

    Attributes:
        column, row: Its place among the blocks, from the first levels of x and y.
        cells: Number of cells.
        values: Number of those with a value.
        mean, low, high: Of its values; None without any.
        absent: Why cells have no value, each with how many, the commonest first.
    """

    column: int
    row: int
    cells: int
    values: int
    mean: Decimal | None
    low: Decimal | None
    high: Decimal | None
    absent: tuple[tuple[str, int], ...]


@lru_cache(maxsize=64)
def layout(columns: int, rows: int) -> Layout | None:
    """The blocks of a grid with so many levels of x and y; None where each cell is drawn."""
    if columns * rows < CELLS_BELOW and max(columns, rows) <= LEVELS_UP_TO:
        return None
    x_size = _size(columns, _most(rows))
    y_size = _size(rows, _most(columns))
    return Layout(x_size, y_size, _spans(columns, x_size), _spans(rows, y_size))


def _most(across: int) -> int:
    """Blocks along one axis, by the levels of the other."""
    return min(ALONG_UP_TO, BLOCKS_UP_TO**2 // min(across, BLOCKS_UP_TO))


def _size(levels: int, most: int) -> int:
    """The fewest levels per block that give no more blocks, or a few more if they divide evenly."""
    least = -(-levels // most)
    even = (size for size in range(least, least * 5 // 4 + 1) if levels % size == 0)
    return next(even, least)


def _spans(levels: int, size: int) -> tuple[range, ...]:
    return tuple(range(at, min(at + size, levels)) for at in range(0, levels, size))


def gather(rows: Iterable[Sequence[Entry]], of: Layout) -> tuple[Block, ...]:
    """The blocks of a grid, row by row; each of its cells is counted in one of them.

    Args:
        rows: The cells by the levels of y, in each row by the levels of x.

    Raises:
        ValueError: Where the rows aren't those of the layout.
    """
    source = iter(rows)
    blocks = []
    for row, there in enumerate(of.y):
        lines = [next(source, ()) for _ in there]
        for column, span in enumerate(of.x):
            entries = [one for line in lines for one in line[span.start : span.stop]]
            blocks.append(_block(column, row, entries))
    cells = sum(map(len, of.x)) * sum(map(len, of.y))
    if sum(block.cells for block in blocks) != cells or next(source, None) is not None:
        raise ValueError(f"the rows are not those of a grid with {cells} cells")
    return tuple(blocks)


def _block(column: int, row: int, entries: Sequence[Entry]) -> Block:
    values = [value for value, _ in entries if value is not None]
    absent = Counter(why for value, why in entries if value is None)
    return Block(
        column,
        row,
        len(entries),
        len(values),
        sum(values, Decimal(0)) / len(values) if values else None,
        min(values, default=None),
        max(values, default=None),
        tuple(absent.most_common()),
    )
