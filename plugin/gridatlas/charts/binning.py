"""Large grids in blocks of neighbouring cells: how many cells a block has, and what it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gridatlas.charts.kinds.heatmap import Heatmap, Subject
from gridatlas.charts.marks import SEVERAL, CellMark, Segment, joined, region_edges, rows_from_top
from gridatlas.model.format import many
from gridatlas.model.study import Factor, Level, Point, Study, point_slug
from gridatlas.table.coded import Coded, Rows
from gridatlas.table.decimals import Decimals

DRAWN_UP_TO = 10_000
"""Cells of a grid up to which each is drawn; of more a page would weigh 1 MB per heatmap, and
hardly one cell could be pointed at. Blocks are drawn in their place."""
LEVELS_UP_TO = 200
"""Levels of an axis up to which cells are drawn; with more a cell is narrower than two pixels."""
BLOCKS_UP_TO = 30
"""Blocks along each axis; more along one where the other has fewer."""
ALONG_UP_TO = 100
"""Blocks along an axis at most."""


class Shown(NamedTuple):
    """What a heatmap shows of each cell, row by row: its value, or why it has none."""

    values: Decimals
    absent: Coded[str]


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
    if columns * rows <= DRAWN_UP_TO and max(columns, rows) <= LEVELS_UP_TO:
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


def gather(shown: Shown, of: Layout) -> tuple[Block, ...]:
    """The blocks of a grid, row by row; each of its cells is counted in one of them.

    Raises:
        ValueError: Where the cells aren't those of the layout.
    """
    across, down = sum(map(len, of.x)), sum(map(len, of.y))
    if len(shown.values) != across * down:
        raise ValueError(f"the cells are not those of a grid with {across * down} cells")
    places = np.arange(across * down).reshape(down, across)
    return tuple(
        _block(column, row, shown, places[levels.start : levels.stop, span.start : span.stop])
        for row, levels in enumerate(of.y)
        for column, span in enumerate(of.x)
    )


def _block(column: int, row: int, shown: Shown, places: Rows) -> Block:
    values, absent = shown.values[places.ravel()], shown.absent[places.ravel()]
    defined = values.defined
    low, high = values.ends or (None, None)
    return Block(
        column,
        row,
        len(values),
        int(defined.sum()),
        None if low is None else values.mean(),
        low,
        high,
        tuple(Counter(absent[~defined]).most_common()),
    )


# --- a heatmap of blocks ------------------------------------------------------------------------


def layout_of(study: Study) -> Layout | None:
    """How the cells of a study's grids are drawn in blocks; None where each is drawn."""
    return layout(len(study.x.levels), len(study.y.levels))


def mark_key(study: Study, x: Level, y: Level) -> str:
    """Key of the mark that shows a cell: the cell's own, or that of its block."""
    of = layout_of(study)
    if of is not None:
        column, row = block_at(study, of, (x.key, y.key))
        x, y = study.x.levels[of.x[column].start], study.y.levels[of.y[row].start]
    return point_slug(x, y)


def block_at(study: Study, of: Layout, point: Point) -> tuple[int, int]:
    """Column and row of the block that has a cell."""
    return study.x.place(point[0]) // of.x_size, study.y.place(point[1]) // of.y_size


def draw_blocks(
    subject: Subject,
    of: Layout,
    blocks: Sequence[Block],
    outlined: set[tuple[int, int]] | frozenset[tuple[int, int]] = frozenset(),
    note: str = "",
) -> Heatmap:
    """The heatmap of a large grid, with one mark per block.

    Args:
        outlined: The columns and rows of blocks that have a best cell.
        note: What else the caption says.
    """
    study = subject.study
    columns = _distinct([_range_label(study.x, span) for span in of.x])
    rows = _distinct([_range_label(study.y, span) for span in of.y])
    marks = [_block_mark(subject, of, block, columns, rows, outlined) for block in blocks]
    upwards = study.y.direction == "up"
    if upwards:
        rows.reverse()
        marks.sort(key=lambda mark: rows.index(mark.y))
    rule = (
        f"The {len(study.x.levels) * len(study.y.levels):,} cells are drawn in {len(blocks):,} "
        f"blocks of {of.size}; the colour of a block is the mean of its values."
    )
    heatmap = subject.heatmap(
        marks,
        columns,
        rows,
        edges_in_blocks(region_edges(study, rows_from_top(study.y)), of.x, of.y, upwards),
        block=(of.x_size, of.y_size),
        note=f"{rule} {note}".strip(),
    )
    return replace(
        heatmap,
        description=f"{subject.description} {rule}",
        measure=f"{heatmap.measure}, mean of {of.size} cells",
    )


def _block_mark(
    subject: Subject,
    of: Layout,
    block: Block,
    columns: Sequence[str],
    rows: Sequence[str],
    outlined: set[tuple[int, int]] | frozenset[tuple[int, int]],
) -> CellMark:
    """The mark of one block; `columns` and `rows` are the labels, in the order of the levels."""
    study = subject.study
    x, y = study.x.levels[of.x[block.column].start], study.y.levels[of.y[block.row].start]
    column, row = columns[block.column], rows[block.row]
    best = (block.column, block.row) in outlined
    words = _block_words(block, subject) + (", has the best" if best else "")
    reasons = [reason for reason, _ in block.absent]
    return CellMark(
        point_slug(x, y),
        column,
        row,
        None if block.mean is None else float(block.mean),
        "" if block.mean is None else subject.text_of(block.mean),
        f"{study.x.label} {column}, {study.y.label} {row}: {words}",
        0 if block.mean is None else subject.step(float(block.mean)),
        best=best,
        absent="" if block.values else reasons[0] if len(reasons) == 1 else SEVERAL,
    )


def _range_label(factor: Factor, span: range) -> str:
    first, last = factor.levels[span.start].label, factor.levels[span.stop - 1].label
    return first if len(span) == 1 else f"{first} to {last}"


def _distinct(labels: list[str]) -> list[str]:
    """Labels that differ also where those of the levels read like a block's."""
    if len(set(labels)) == len(labels):
        return labels
    return [f"{number}: {label}" for number, label in enumerate(labels, 1)]


def _block_words(block: Block, subject: Subject) -> str:
    reasons = ", ".join(
        f"{number:,} {reason.removeprefix('no value: ')}" for reason, number in block.absent
    )
    if block.mean is None or block.low is None or block.high is None:
        return f"no value in {many(block.cells, 'cell')} ({reasons})"
    mean, low, high = map(subject.text_of, (block.mean, block.low, block.high))
    words = f"mean {mean}, from {low} to {high} {subject.unit}".rstrip()
    return f"{words}, {many(block.cells, 'cell')}" + (f" ({reasons})" if reasons else "")


def edges_in_blocks(
    outline: Iterable[Segment], x: Sequence[range], y: Sequence[range], upwards: bool
) -> tuple[Segment, ...]:
    """An outline in blocks; edges in one line become one.

    Args:
        x, y: The places of each block's levels.
    """
    across = _edges(x, upwards=False)
    down = _edges(y, upwards)
    return joined(
        Segment(across[int(of.x)], down[int(of.y)], across[int(of.x2)], down[int(of.y2)])
        for of in outline
    )


def _edges(spans: Sequence[range], upwards: bool) -> list[float]:
    """Where the edges between cells lie, in blocks: the last block may have fewer cells."""
    edges = [
        block + place / len(span) for block, span in enumerate(spans) for place in range(len(span))
    ]
    edges.append(float(len(spans)))
    return [len(spans) - edge for edge in reversed(edges)] if upwards else edges
