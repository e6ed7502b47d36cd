"""From grids, differences and disagreements to heatmaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np

from gridatlas.charts.binning import Block, Layout, Shown, block_at, draw_blocks, gather, layout_of
from gridatlas.charts.description import (
    IN_DISPUTE,
    best_at,
    cell_name,
    describe_difference,
    describe_grid,
)
from gridatlas.charts.kinds.heatmap import (
    ABSENT,
    ONE_READING,
    OUTLINED_UP_TO,
    CellMark,
    Heatmap,
    Subject,
    reading_order,
    region_edges,
    rows_from_top,
)
from gridatlas.model.format import (
    difference_unit,
    format_difference,
    format_value,
    many,
    value_with_unit,
)
from gridatlas.model.study import STATES, Point, point_slug
from gridatlas.table.coded import Coded
from gridatlas.table.decimals import Decimals
from gridatlas.table.differences import Difference
from gridatlas.table.study_table import DISPUTED, Grid
from gridatlas.table.summary import best_points, summarise


def draw_grid(
    grid: Grid,
    domain: tuple[float, float] | None = None,
    best_set: frozenset[Point] = frozenset(),
) -> Heatmap:
    """The heatmap of a grid, on its own scale unless a shared `domain` is given.

    Args:
        best_set: The points in the confidence set for the best, which are marked.
    """
    study, metric = grid.study, grid.study.metric
    blocks = layout_of(study)
    subject = Subject(
        study,
        "values",
        grid.label,
        describe_grid(grid, best_set if blocks is None else frozenset()),
        metric.name,
        metric.unit,
        domain or own_domain([grid]),
        partial(format_value, decimals=metric.decimals or 0),
        metric.falls,
    )
    best = best_points(grid)
    best_set = _proper(best_set, grid)
    if blocks is None:
        return _with_marks(_draw_cells(subject, _shown(grid)), grid, best, best_set)
    with_best = {block_at(study, blocks, point) for point in best}
    return draw_blocks(
        subject,
        blocks,
        _blocks_of(grid, blocks),
        with_best if len(with_best) <= OUTLINED_UP_TO else set(),
        _best_note(grid, len(with_best)) + _unmarked_note(grid, best_set, "in blocks"),
    )


def _proper(best_set: frozenset[Point], grid: Grid) -> frozenset[Point]:
    """The set for the best; none where every cell is in it, since then a mark says nothing."""
    summary = summarise(grid)
    return best_set if summary and len(best_set) < summary.count else frozenset()


def _with_marks(
    heatmap: Heatmap, grid: Grid, best: frozenset[Point], best_set: frozenset[Point]
) -> Heatmap:
    """A grid's heatmap with its best, disputed and possibly best cells marked."""
    outline = heatmap.printed or len(best) <= OUTLINED_UP_TO
    marks = []
    in_dispute = (grid.columns.value.defined & (grid.columns.state == DISPUTED)).tolist()
    for mark, row in zip(heatmap.marks, reading_order(grid.study), strict=True):
        point, disputed = grid.keys[row], in_dispute[row]
        label = mark.label + (IN_DISPUTE if disputed else "")
        label += f", {grid.study.extreme}" if point in best else ""
        label += ", may be the best" if point in best_set - best else ""
        marks.append(
            replace(
                mark,
                label=label,
                best=outline and point in best,
                disputed=heatmap.printed and disputed,
                in_best_set=heatmap.printed and point in best_set,
            )
        )
    note = "" if outline else f"The {len(best):,} best cells are not outlined. "
    if not heatmap.printed:
        note += _unmarked_note(grid, best_set, "on cells so small")
    return replace(heatmap, marks=tuple(marks), note=note.strip())


def draw_difference(difference: Difference, domain: tuple[float, float] | None = None) -> Heatmap:
    """The heatmap of a difference, with a diverging scale centred on 0."""
    study, metric = difference.first.study, difference.first.study.metric
    return _draw(
        Subject(
            study,
            "difference",
            difference.label,
            describe_difference(difference),
            f"Difference of {metric.name}",
            difference_unit(study.metric.unit),
            domain or difference_domain([difference]),
            partial(format_difference, decimals=metric.decimals or 0),
            metric.falls,
        ),
        _shown_difference(difference),
    )


def draw_disagreement(
    grid: Grid, differences: Mapping[Point, Decimal], domain: tuple[float, float]
) -> Heatmap:
    """How far the readings of a grid's cells are apart.

    Args:
        differences: Largest minus smallest value of each cell that at least two readings give.
        domain: Ends of the colour scale.
    """
    study = grid.study
    number = sum(value != 0 for value in differences.values())
    subject = Subject(
        study,
        "values",
        grid.label,
        f"{grid.label}: the readings differ in {number} of {many(len(differences), 'cell')} "
        "that more than one of them gives.",
        "Largest difference between readings",
        difference_unit(study.metric.unit),
        domain,
        partial(format_value, decimals=study.metric.decimals or 0),
    )
    points = ((x.key, y.key) for y in study.y.levels for x in study.x.levels)
    values = Decimals.of(map(differences.get, points))
    heatmap = _draw(subject, Shown(values, Coded.constant(ONE_READING, len(values))))
    if heatmap.block:
        return heatmap
    marks = (
        mark if mark.value is None else replace(mark, label=f"{mark.label} apart")
        for mark in heatmap.marks
    )
    return replace(heatmap, marks=tuple(marks))


# --- a mark per cell ----------------------------------------------------------------------------


def _draw(subject: Subject, shown: Shown) -> Heatmap:
    """A heatmap of cells, or of blocks of many."""
    layout = layout_of(subject.study)
    if layout is None:
        return _draw_cells(subject, shown)
    return draw_blocks(subject, layout, gather(shown, layout))


def _draw_cells(subject: Subject, shown: Shown) -> Heatmap:
    study = subject.study
    rows = rows_from_top(study.y)
    places = ((x, y) for y in rows for x in study.x.levels)
    cells, marks = [*zip(*shown, strict=True)], []
    for (x, y), row in zip(places, reading_order(study), strict=True):
        value, absent = cells[row]
        text = "" if value is None else subject.text_of(value)
        words = _absence(absent) if value is None else value_with_unit(text, subject.unit)
        marks.append(
            CellMark(
                point_slug(x, y),
                x.label,
                y.label,
                None if value is None else float(value),
                text,
                f"{cell_name(study, x, y)}: {words}",
                absent=absent if value is None else "",
            )
        )
    return subject.heatmap(
        marks,
        [level.label for level in study.x.levels],
        [level.label for level in rows],
        region_edges(study, rows),
    )


def _absence(reason: str) -> str:
    """`no value: missing` within a sentence: `no value (missing)`."""
    head, _, state = reason.partition(": ")
    return f"{head} ({state})" if state else head


_ABSENT = tuple(ABSENT.get(state, "") for state in STATES)


def _shown(grid: Grid) -> Shown:
    return Shown(grid.columns.value, Coded(grid.columns.state, _ABSENT))


def _shown_difference(difference: Difference) -> Shown:
    """The differences; where there is none, why the second grid has no value, else the first."""
    first, second = difference.first.columns, difference.second.columns
    states = np.where(second.value.defined, first.state, second.state)
    return Shown(difference.change, Coded(states, _ABSENT))


# --- the colour scale ---------------------------------------------------------------------------


def own_domain(grids: Iterable[Grid]) -> tuple[float, float]:
    """The colour scale's ends for grids drawn alike: the lowest and highest value drawn."""
    values = [value for grid in grids for value in _drawn_values(grid)]
    return _widened(min(values, default=Decimal(0)), max(values, default=Decimal(0)))


def difference_domain(differences: Iterable[Difference]) -> tuple[float, float]:
    """A colour scale centred on 0, as wide as the largest difference on either side."""
    values = [abs(value) for difference in differences for value in _drawn_differences(difference)]
    reach = max(values, default=Decimal(0))
    return _widened(-reach, reach)


def _widened(low: Decimal, high: Decimal) -> tuple[float, float]:
    half = Decimal("0.5") if low == high else Decimal(0)
    return float(low - half), float(high + half)


_BLOCKS: WeakKeyDictionary[Grid, tuple[Block, ...]] = WeakKeyDictionary()
"""A grid is drawn on several pages."""


def _blocks_of(grid: Grid, of: Layout) -> tuple[Block, ...]:
    if grid not in _BLOCKS:
        _BLOCKS[grid] = gather(_shown(grid), of)
    return _BLOCKS[grid]


def _drawn_values(grid: Grid) -> Iterable[Decimal]:
    """The ends of what the colours of a grid stand for, or the means of its blocks."""
    of = layout_of(grid.study)
    if of is not None:
        return (block.mean for block in _blocks_of(grid, of) if block.mean is not None)
    return grid.columns.value.ends


def _drawn_differences(difference: Difference) -> Iterable[Decimal]:
    of = layout_of(difference.first.study)
    if of is None:
        return difference.change.ends
    blocks = gather(_shown_difference(difference), of)
    return (block.mean for block in blocks if block.mean is not None)


# --- what isn't marked --------------------------------------------------------------------------


def _best_note(grid: Grid, blocks: int) -> str:
    """Which block has the best cell, and which cell that is."""
    summary = summarise(grid)
    if summary is None:
        return ""
    at = best_at(summary, grid.study, lambda x, y: cell_name(grid.study, x, y), 1)
    if blocks > OUTLINED_UP_TO:
        return f"The {blocks:,} blocks with a best cell ({at}) are not outlined. "
    return f"Outlined: the block{'s' if blocks > 1 else ''} with the best cell ({at}). "


def _unmarked_note(grid: Grid, best_set: frozenset[Point], where: str) -> str:
    summary = summarise(grid)
    disputed = len(summary.disputed) if summary else 0
    parts = [many(disputed, "disputed value")] if disputed else []
    if best_set:
        parts.append(f"{many(len(best_set), 'cell')} that may be the best")
    return f"Not marked {where}, but in the downloads: {', '.join(parts)}." if parts else ""
