"""What a heatmap shows: cells, labels, scale and outlines, from grids and differences."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Literal
from weakref import WeakKeyDictionary

from gridatlas.charts.binning import Block, Layout, gather, layout
from gridatlas.checks.words import many
from gridatlas.model.format import format_difference, format_value, value_with_unit
from gridatlas.model.schema import Metric
from gridatlas.model.study import STATE_LABELS, Cell, Factor, Grid, Level, Point, State, Study
from gridatlas.results.grids import Difference, Extreme, Summary, summarise

MAX_LABELLED_CELLS = 400
"""Cells up to which each value is printed in its cell, and small marks stand on the cells."""
COLUMNS_UP_TO = 30
"""Columns up to which they are: in more, a page makes them too small to be read."""
OUTLINED_UP_TO = 20
"""Best cells (blocks with one) up to which they are outlined where values aren't printed."""

Kind = Literal["values", "difference"]
ABSENT: Mapping[State, str] = {
    state: f"no value: {label}" for state, label in STATE_LABELS.items() if state != "ok"
}
"""How the legend names the states of cells without a value."""
ONE_READING = "given by one reading or none"
"""How the legend of a disagreement names cells that can't be compared."""
DISPUTED = "disputed value"
"""How the legend names a value that is shown although it is disputed."""
IN_DISPUTE = " (disputed)"
"""What follows such a value in a text."""
SEVERAL = "no value: several reasons"
"""How the legend names a block whose cells have no value for more than one reason."""
NOT_RUN, RUNNING = "not run", "running"
"""How the legend names cells that aren't measured again, or not yet."""
NOT_COMPARED = "nothing to compare"
"""How the legend names a cell that was measured again, and isn't published."""
BEST_SET = "may be the best (95 % set)"
"""How the legend names the cells in the confidence set for the best."""


@dataclass(frozen=True, slots=True)
class CellMark:
    """One cell of a heatmap, or one block of neighbouring cells.

    Attributes:
        key: Address of the cell within its grid, `<x>,<y>`; of a block, that of its first cell.
        text: The value as printed in the cell; empty without a value.
        label: The cell in words, for a screen reader.
        best: Whether it is outlined as a best cell.
        absent: Why there is no value, as the legend says it; empty with a value.
        disputed: Whether it has a value that is disputed (drawn with a corner).
        in_best_set: Whether it is in the confidence set for the best (drawn with a diamond).
    """

    key: str
    x: str
    y: str
    value: float | None
    text: str
    label: str
    best: bool = False
    absent: str = ""
    disputed: bool = False
    in_best_set: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """One edge of a region's outline, in cells (or blocks) from the top left corner."""

    x: float
    y: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Heatmap:
    """All that a heatmap shows; equal heatmaps give equal drawings.

    Attributes:
        x_labels: From left to right.
        y_labels: From top to bottom.
        domain: Values at the two ends of the colour scale.
        upwards: Whether the first level of y is at the bottom.
        block: Levels of x and of y in a block, where the marks are blocks; None for cells.
        note: What is not marked, or stands for what, as a caption says it; may be empty.
    """

    kind: Kind
    title: str
    description: str
    legend: str
    x_title: str
    y_title: str
    x_labels: tuple[str, ...]
    y_labels: tuple[str, ...]
    domain: tuple[float, float]
    decimals: int
    marks: tuple[CellMark, ...]
    outline: tuple[Segment, ...] = ()
    outline_label: str = ""
    upwards: bool = True
    block: tuple[int, int] | None = None
    note: str = ""

    def to_json(self) -> str:
        """The heatmap as canonical JSON: what its drawing depends on."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)

    @property
    def printed(self) -> bool:
        """Whether each cell has its value printed in it."""
        return self.block is None and _has_room(len(self.x_labels), len(self.y_labels))

    @property
    def cells(self) -> int:
        """Number of cells (of blocks) that have a value."""
        return sum(mark.value is not None for mark in self.marks)


def _has_room(columns: int, rows: int) -> bool:
    return columns * rows <= MAX_LABELLED_CELLS and columns <= COLUMNS_UP_TO


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


def draw_grid(
    grid: Grid,
    domain: tuple[float, float] | None = None,
    best_set: frozenset[Point] = frozenset(),
) -> Heatmap:
    """The heatmap of a grid, on its own scale unless a shared `domain` is given.

    Args:
        best_set: The points in the confidence set for the best, which are marked.
    """
    study = grid.study
    metric = study.metric
    decimals = metric.decimals or 0
    summary = summarise(grid)
    best = {(x.key, y.key) for x, y in summary.best} if summary else set()
    legend = value_with_unit(metric.name, f"({metric.unit})" if metric.unit else "")
    of = layout_of(study)
    if of is not None:
        blocks = _blocks_of(grid, of)
        with_best = {_block_at(study, of, point) for point in best}
        return _draw_blocks(
            study,
            of,
            blocks,
            with_best if len(with_best) <= OUTLINED_UP_TO else set(),
            text_of=lambda value: format_value(value, decimals),
            unit=metric.unit,
            kind="values",
            title=grid.label,
            description=describe_grid(grid),
            legend=legend,
            domain=domain or own_domain([grid]),
            decimals=decimals,
            note=_best_note(grid, len(with_best)) + _unmarked_note(grid, best_set, "in blocks"),
        )
    many = not _has_room(len(study.x.levels), len(study.y.levels))
    outlined = set() if many and len(best) > OUTLINED_UP_TO else best
    marks = []
    for x, y, cell in _drawn(study, grid.points()):
        text = "" if cell.value is None else format_value(cell.value, decimals)
        is_best = (x.key, y.key) in best
        marks.append(
            CellMark(
                f"{x.slug},{y.slug}",
                x.label,
                y.label,
                None if cell.value is None else float(cell.value),
                text,
                f"{_where(study, x, y)}: {_said(cell, text, metric.unit)}"
                + (", best" if is_best else "")
                + (", may be the best" if (x.key, y.key) in best_set - best else ""),
                best=(x.key, y.key) in outlined,
                absent=ABSENT[cell.state] if cell.value is None else "",
                disputed=cell.value is not None and cell.state == "disputed" and not many,
                in_best_set=(x.key, y.key) in best_set and not many,
            )
        )
    note = ""
    if many:
        note = _unmarked_note(grid, best_set, "on cells so small")
        if len(best) > OUTLINED_UP_TO:
            note = f"The {len(best):,} best cells are not outlined. {note}"
    return Heatmap(
        kind="values",
        title=grid.label,
        description=describe_grid(grid, best_set),
        legend=legend,
        note=note.strip(),
        domain=domain or own_domain([grid]),
        decimals=decimals,
        marks=tuple(marks),
        **_frame(study),
    )


def draw_difference(difference: Difference, domain: tuple[float, float] | None = None) -> Heatmap:
    """The heatmap of a difference, with a diverging scale centred on 0."""
    study = difference.first.study
    metric = study.metric
    decimals = metric.decimals or 0
    unit = "points" if metric.unit == "%" else metric.unit
    legend = f"Difference of {metric.name}" + (f" ({unit})" if unit else "")
    of = layout_of(study)
    if of is not None:
        return _draw_blocks(
            study,
            of,
            gather(_difference_entries(difference), of),
            text_of=lambda value: format_difference(value, decimals),
            unit=unit,
            kind="difference",
            title=difference.label,
            description=describe_difference(difference),
            legend=legend,
            domain=domain or difference_domain([difference]),
            decimals=decimals,
        )
    marks = []
    for x, y, value in _drawn(study, difference.points()):
        text = "" if value is None else format_difference(value, decimals)
        state = _missing_state(difference, (x.key, y.key)) if value is None else None
        said = (
            value_with_unit(text, metric.unit, difference=True)
            if value is not None
            else f"no value ({STATE_LABELS[state or 'missing']})"
        )
        marks.append(
            CellMark(
                f"{x.slug},{y.slug}",
                x.label,
                y.label,
                None if value is None else float(value),
                text,
                f"{_where(study, x, y)}: {said}",
                absent="" if state is None else ABSENT[state],
            )
        )
    return Heatmap(
        kind="difference",
        title=difference.label,
        description=describe_difference(difference),
        legend=legend,
        domain=domain or difference_domain([difference]),
        decimals=decimals,
        marks=tuple(marks),
        **_frame(study),
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
    metric = study.metric
    decimals = metric.decimals or 0
    apart = sum(value != 0 for value in differences.values())
    unit = "points" if metric.unit == "%" else metric.unit
    description = (
        f"{grid.label}: the readings differ in {apart} of {many(len(differences), 'cell')} "
        "that more than one of them gives."
    )
    legend = "Largest difference between readings" + (f" ({unit})" if unit else "")
    of = layout_of(study)
    if of is not None:
        values = ([differences.get((x.key, y.key)) for x in study.x.levels] for y in study.y.levels)
        return _draw_blocks(
            study,
            of,
            gather(([(one, ONE_READING) for one in row] for row in values), of),
            text_of=lambda value: format_value(value, decimals),
            unit=unit,
            kind="values",
            title=grid.label,
            description=description,
            legend=legend,
            domain=domain,
            decimals=decimals,
        )
    marks = []
    for x, y, _ in _drawn(study, grid.points()):
        value = differences.get((x.key, y.key))
        text = "" if value is None else format_value(value, decimals)
        said = ONE_READING
        if value is not None:
            said = f"{value_with_unit(text, metric.unit, difference=True)} apart"
        marks.append(
            CellMark(
                f"{x.slug},{y.slug}",
                x.label,
                y.label,
                None if value is None else float(value),
                text,
                f"{_where(study, x, y)}: {said}",
                absent=ONE_READING if value is None else "",
            )
        )
    return Heatmap(
        kind="values",
        title=grid.label,
        description=description,
        legend=legend,
        domain=domain,
        decimals=decimals,
        marks=tuple(marks),
        **_frame(study),
    )


def with_overrides(
    heatmap: Heatmap,
    title: str,
    absent: Mapping[str, str] = MappingProxyType({}),
    signs: Mapping[str, str] = MappingProxyType({}),
) -> Heatmap:
    """A heatmap with another title, other reasons for missing values, and signs after values.

    Args:
        heatmap: Of cells, or of blocks, to which signs and reasons don't apply.
        absent: Why there is no value, as the legend says it, by the key of the mark.
        signs: A sign and, after a space, what it says in words, by the key of the mark.
    """
    described = title + heatmap.description.removeprefix(heatmap.title)
    heatmap = replace(heatmap, title=title, description=described)
    if heatmap.block:
        return heatmap

    def changed(mark: CellMark) -> CellMark:
        if mark.value is None:
            reason = absent.get(mark.key, mark.absent)
            where = mark.label.partition(": ")[0]
            return replace(mark, absent=reason, label=f"{where}: {reason}")
        if mark.key not in signs:
            return mark
        sign, _, words = signs[mark.key].partition(" ")
        text = f"{mark.text} {sign}" if mark.text else ""
        return replace(mark, text=text, label=f"{mark.label}, {words}")

    return replace(heatmap, marks=tuple(map(changed, heatmap.marks)))


# --- blocks of a large grid ---------------------------------------------------------------------


def layout_of(study: Study) -> Layout | None:
    """How the cells of a study's grids are drawn in blocks; None where each is drawn."""
    return layout(len(study.x.levels), len(study.y.levels))


def mark_key(study: Study, x: Level, y: Level) -> str:
    """Key of the mark that shows a cell: the cell's own, or that of its block."""
    of = layout_of(study)
    if of is not None:
        column, row = _block_at(study, of, (x.key, y.key))
        x, y = study.x.levels[of.x[column].start], study.y.levels[of.y[row].start]
    return f"{x.slug},{y.slug}"


def _block_at(study: Study, of: Layout, point: Point) -> tuple[int, int]:
    return study.x.place(point[0]) // of.x_size, study.y.place(point[1]) // of.y_size


_BLOCKS: WeakKeyDictionary[Grid, tuple[Block, ...]] = WeakKeyDictionary()
"""A grid is drawn on several pages."""


def _blocks_of(grid: Grid, of: Layout) -> tuple[Block, ...]:
    if grid not in _BLOCKS:
        rows = (
            [(cell.value, "" if cell.value is not None else ABSENT[cell.state]) for cell in row]
            for row in grid.cells
        )
        _BLOCKS[grid] = gather(rows, of)
    return _BLOCKS[grid]


def _difference_entries(difference: Difference) -> Iterable[list[tuple[Decimal | None, str]]]:
    both = zip(difference.cells, difference.first.cells, difference.second.cells, strict=True)
    for values, firsts, seconds in both:
        yield [
            (value, "" if value is not None else ABSENT[_missing_of(second, first)])
            for value, first, second in zip(values, firsts, seconds, strict=True)
        ]


def _drawn_values(grid: Grid) -> Iterable[Decimal]:
    """What the colours of a grid stand for: its values, or the means of its blocks."""
    of = layout_of(grid.study)
    if of is not None:
        return (block.mean for block in _blocks_of(grid, of) if block.mean is not None)
    return (cell.value for _, _, cell in grid.points() if cell.value is not None)


def _drawn_differences(difference: Difference) -> Iterable[Decimal]:
    of = layout_of(difference.first.study)
    if of is None:
        return difference.values
    blocks = gather(_difference_entries(difference), of)
    return (block.mean for block in blocks if block.mean is not None)


def _draw_blocks(
    study: Study,
    of: Layout,
    blocks: Sequence[Block],
    outlined: set[tuple[int, int]] | frozenset[tuple[int, int]] = frozenset(),
    *,
    text_of: Callable[[Decimal], str],
    unit: str,
    kind: Kind,
    title: str,
    description: str,
    legend: str,
    domain: tuple[float, float],
    decimals: int,
    note: str = "",
) -> Heatmap:
    """The heatmap of a large grid, with one mark per block.

    Args:
        text_of: Writes a value.
        note: What else the caption says.
    """
    columns = [_from_to(study.x, span) for span in of.x]
    rows = [_from_to(study.y, span) for span in of.y]
    columns, rows = _told_apart(columns), _told_apart(rows)
    marks = []
    for block in blocks:
        x, y = study.x.levels[of.x[block.column].start], study.y.levels[of.y[block.row].start]
        best = (block.column, block.row) in outlined
        where = f"{study.x.label} {columns[block.column]}, {study.y.label} {rows[block.row]}"
        reasons = [reason for reason, _ in block.absent]
        marks.append(
            CellMark(
                f"{x.slug},{y.slug}",
                columns[block.column],
                rows[block.row],
                None if block.mean is None else float(block.mean),
                "" if block.mean is None else text_of(block.mean),
                f"{where}: {_block_said(block, text_of, unit)}"
                + (", has the best" if best else ""),
                best=best,
                absent="" if block.values else reasons[0] if len(reasons) == 1 else SEVERAL,
            )
        )
    upwards = study.y.direction == "up"
    if upwards:
        rows.reverse()
        marks.sort(key=lambda mark: rows.index(mark.y))
    rule = (
        f"The {len(study.x.levels) * len(study.y.levels):,} cells are drawn in {len(blocks):,} "
        f"blocks of {of.size}; the colour of a block is the mean of its values."
    )
    return Heatmap(
        kind=kind,
        title=title,
        description=f"{description} {rule}",
        legend=f"{legend}, mean of {of.size} cells",
        x_title=study.x.title,
        y_title=study.y.title,
        x_labels=tuple(columns),
        y_labels=tuple(rows),
        domain=domain,
        decimals=decimals,
        marks=tuple(marks),
        outline=_in_blocks(_outline(study, rows_from_top(study.y)), of, upwards),
        outline_label=", ".join(region.label for region in study.regions),
        upwards=upwards,
        block=(of.x_size, of.y_size),
        note=f"{rule} {note}".strip(),
    )


def _from_to(factor: Factor, span: range) -> str:
    first, last = factor.levels[span.start].label, factor.levels[span.stop - 1].label
    return first if len(span) == 1 else f"{first} to {last}"


def _told_apart(labels: list[str]) -> list[str]:
    """Labels that differ also where those of the levels read like a block's."""
    if len(set(labels)) == len(labels):
        return labels
    return [f"{number}: {label}" for number, label in enumerate(labels, 1)]


def _block_said(block: Block, text_of: Callable[[Decimal], str], unit: str) -> str:
    cells = f"{block.cells:,} cell{'' if block.cells == 1 else 's'}"
    reasons = ", ".join(
        f"{number:,} {reason.removeprefix('no value: ')}" for reason, number in block.absent
    )
    if block.mean is None or block.low is None or block.high is None:
        return f"no value in {cells} ({reasons})"
    said = f"mean {text_of(block.mean)}, from {text_of(block.low)} to {text_of(block.high)}"
    return f"{said} {unit}".rstrip() + f", {cells}" + (f" ({reasons})" if reasons else "")


def _best_note(grid: Grid, blocks: int) -> str:
    """Which block has the best cell, and which cell that is."""
    summary = summarise(grid)
    if summary is None:
        return ""
    metric = grid.study.metric
    at = best_at(summary, metric, lambda x, y: _where(grid.study, x, y), 1)
    if blocks > OUTLINED_UP_TO:
        return f"The {blocks:,} blocks with a best cell ({at}) are not outlined. "
    return f"Outlined: the block{'s' if blocks > 1 else ''} with the best cell ({at}). "


def _unmarked_note(grid: Grid, best_set: frozenset[Point], where: str) -> str:
    disputed = sum(
        cell.value is not None and cell.state == "disputed" for row in grid.cells for cell in row
    )
    parts = [
        f"{number:,} {one if number == 1 else several}"
        for number, one, several in (
            (disputed, "disputed value", "disputed values"),
            (len(best_set), "cell that may be the best", "cells that may be the best"),
        )
        if number
    ]
    return f"Not marked {where}, but told in the downloads: {', '.join(parts)}." if parts else ""


def _in_blocks(outline: Iterable[Segment], of: Layout, upwards: bool) -> tuple[Segment, ...]:
    """An outline in blocks; edges in one line become one."""
    across = _edges(of.x, upwards=False)
    down = _edges(of.y, upwards)
    level: dict[float, list[tuple[float, float]]] = {}
    upright: dict[float, list[tuple[float, float]]] = {}
    for edge in outline:
        x, x2 = across[int(edge.x)], across[int(edge.x2)]
        y, y2 = down[int(edge.y)], down[int(edge.y2)]
        if y == y2:
            level.setdefault(y, []).append((x, x2))
        else:
            upright.setdefault(x, []).append((y, y2))
    return (
        *(Segment(x, y, x2, y) for y, spans in sorted(level.items()) for x, x2 in _joined(spans)),
        *(Segment(x, y, x, y2) for x, spans in sorted(upright.items()) for y, y2 in _joined(spans)),
    )


def _edges(spans: Sequence[range], upwards: bool) -> list[float]:
    """Where the edges between cells lie, in blocks: the last block may have fewer cells."""
    edges = [
        block + place / len(span) for block, span in enumerate(spans) for place in range(len(span))
    ]
    edges.append(float(len(spans)))
    return [len(spans) - edge for edge in reversed(edges)] if upwards else edges


def _joined(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    joined: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


# --- what each cell is --------------------------------------------------------------------------


def _missing_state(difference: Difference, point: Point) -> State:
    return _missing_of(difference.second.at(*point), difference.first.at(*point))


def _missing_of(second: Cell, first: Cell) -> State:
    for cell in (second, first):
        if cell.value is None:
            return cell.state
    raise ValueError("both cells have a value")


def _drawn(study: Study, points: Iterable[tuple[Level, Level, Any]]) -> list[Any]:
    """Points in reading order: from the top row down."""
    rows: dict[str, list[Any]] = {}
    for point in points:
        rows.setdefault(point[1].key, []).append(point)
    return [point for y in rows_from_top(study.y) for point in rows[y.key]]


def rows_from_top(factor: Factor) -> tuple[Level, ...]:
    """The levels of the y axis from the top of the heatmap down."""
    return factor.levels[::-1] if factor.direction == "up" else factor.levels


def _where(study: Study, x: Level, y: Level) -> str:
    return f"{study.x.label} {x.label}, {study.y.label} {y.label}"


def _said(cell: Cell, text: str, unit: str) -> str:
    if cell.value is None:
        return f"no value ({STATE_LABELS[cell.state]})"
    said = value_with_unit(text, unit)
    return said + (IN_DISPUTE if cell.state == "disputed" else "")


def _frame(study: Study) -> dict[str, Any]:
    rows = rows_from_top(study.y)
    return {
        "x_title": study.x.title,
        "y_title": study.y.title,
        "x_labels": tuple(level.label for level in study.x.levels),
        "y_labels": tuple(level.label for level in rows),
        "upwards": study.y.direction == "up",
        "outline": _outline(study, rows),
        "outline_label": ", ".join(region.label for region in study.regions),
    }


def _outline(study: Study, rows: Sequence[Level]) -> tuple[Segment, ...]:
    """The edges between cells inside and outside a region, in cells from the top left corner."""
    segments = []
    for region in study.regions:
        inside = {
            (i, j)
            for i, x in enumerate(study.x.levels)
            for j, y in enumerate(rows)
            if (x.key, y.key) in region.points
        }
        for i, j in sorted(inside):
            edges = {
                (i, j - 1): Segment(i, j, i + 1, j),
                (i, j + 1): Segment(i, j + 1, i + 1, j + 1),
                (i - 1, j): Segment(i, j, i, j + 1),
                (i + 1, j): Segment(i + 1, j, i + 1, j + 1),
            }
            segments += [edge for beyond, edge in edges.items() if beyond not in inside]
    return tuple(segments)


def describe_grid(grid: Grid, best_set: frozenset[Point] = frozenset()) -> str:
    """A heatmap in words: its range, where its best cells lie, and what is missing or in doubt.

    Args:
        best_set: The points in the confidence set for the best.
    """
    metric = grid.study.metric
    summary = summarise(grid)
    if summary is None:
        return f"{grid.label}: a heatmap without any value."
    decimals = metric.decimals or 0
    ends = [
        (summary.best_value, summary.best_disputed),
        (summary.worst_value, summary.worst_disputed),
    ]
    (lowest, low_disputed), (highest, high_disputed) = sorted(ends)
    low = format_value(lowest, decimals) + (IN_DISPUTE if low_disputed else "")
    high = value_with_unit(format_value(highest, decimals), metric.unit)
    high += IN_DISPUTE if high_disputed else ""
    best = best_at(summary, metric, lambda x, y: _where(grid.study, x, y), 4)
    absent = summary.of - summary.count
    disputed = len(summary.disputed)
    return (
        f"{grid.label}: {metric.name} from {low} to {high} over {grid.study.x.label} and "
        f"{grid.study.y.label}. Best: {best}."
        + (
            f" May be the best: {len(best_set)} of {many(summary.count, 'cell')}."
            if best_set
            else ""
        )
        + (f" Disputed: {disputed} of {many(summary.count, 'value')}." if disputed else "")
        + without_value(absent, summary.of)
    )


def best_at(
    summary: Summary, metric: Metric, where: Callable[[Level, Level], str], limit: int
) -> str:
    """The best value and where it is: `94 (disputed) at 8 × 7; best undisputed: 84 at 6 × 7`.

    Args:
        where: Names a cell by its levels.
        limit: Cells that are named; of more, how many.
    """
    best = Extreme(summary.best_value, summary.best)
    text = _extreme_at(best, metric, where, limit, summary)
    if not summary.best_disputed:
        return text
    if summary.best_undisputed is None:
        return f"{text}; every value is disputed"
    undisputed = _extreme_at(summary.best_undisputed, metric, where, limit, summary)
    return f"{text}; best undisputed: {undisputed}"


def _extreme_at(
    extreme: Extreme,
    metric: Metric,
    where: Callable[[Level, Level], str],
    limit: int,
    summary: Summary,
) -> str:
    """A value and its cells, marked where it is disputed: all of it, or only some of its cells."""
    value = value_with_unit(format_value(extreme.value, metric.decimals or 0), metric.unit)
    every = all((x.key, y.key) in summary.disputed for x, y in extreme.at)
    cells = cell_names(extreme.at[:limit], frozenset() if every else summary.disputed, where)
    more = len(extreme.at) - limit
    rest = f" and {more:,} more" if more > 0 else ""
    return f"{value}{IN_DISPUTE if every else ''} at {'; '.join(cells)}{rest}"


def cell_names(
    cells: Iterable[tuple[Level, Level]],
    disputed: frozenset[Point],
    where: Callable[[Level, Level], str],
) -> list[str]:
    """The names of cells, with a mark at those whose value is disputed."""
    return [where(x, y) + (IN_DISPUTE if (x.key, y.key) in disputed else "") for x, y in cells]


def without_value(absent: int, cells: int) -> str:
    """A sentence, after others, that says how many cells have no value; empty where all have."""
    if not absent:
        return ""
    return f" {absent:,} of {many(cells, 'cell')} {'has' if absent == 1 else 'have'} no value."


def describe_difference(difference: Difference) -> str:
    """A difference in one sentence: its mean, and in how many cells it is above and below 0."""
    metric = difference.first.study.metric
    if difference.mean is None:
        return f"{difference.label}: no cell has a value in both grids."
    mean = format_difference(difference.mean, (metric.decimals or 0) + 1)
    return (
        f"{difference.label}: {value_with_unit(mean, metric.unit, difference=True)} on average "
        f"over {many(len(difference.values), 'cell')}; {higher_lower(difference)}."
    )


def higher_lower(difference: Difference) -> str:
    """In how many cells the second is higher: `R1-Qwen is higher in 17 of 20 cells, lower in 3`."""
    cells = len(difference.values)
    found = {
        "higher": difference.higher, "lower": difference.lower, "equal": difference.equal,
    }  # fmt: skip
    counts = [(word, number) for word, number in found.items() if number]
    if len(counts) == 1:
        where = "in the one cell" if cells == 1 else f"in all {cells:,} cells"
    else:
        where = f"in {counts[0][1]:,} of {cells:,} cells"
    rest = "".join(f", {word} in {number:,}" for word, number in counts[1:])
    name = f"{difference.levels[1].label} is " if difference.facet else ""
    return f"{name}{counts[0][0]} {where}{rest}"
