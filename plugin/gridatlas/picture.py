"""What a heatmap shows: cells, labels, scale and outlines, from grids and differences."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any, Literal

from gridatlas.analyse import Difference, summarise
from gridatlas.study import STATE_LABELS, Cell, Factor, Grid, Level, Point, State, Study

_DIGITS = Context(prec=400)
MINUS = "\N{MINUS SIGN}"

Kind = Literal["values", "difference"]
ABSENT: Mapping[State, str] = {
    state: f"no value: {label}" for state, label in STATE_LABELS.items() if state != "ok"
}
"""How the legend names the states of cells without a value."""
ONE_READING = "given by one reading or none"
"""How the legend of a disagreement names cells that can't be compared."""
DISPUTED = "disputed: no two readings agree"
"""How the legend names a value that is shown although it is disputed."""
KEPT = "may be the best (95 % set)"
"""How the legend names the cells in the confidence set for the best."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One cell of a picture.

    Attributes:
        key: Address of the cell within its grid, `<x>,<y>`.
        text: The value as printed in the cell; empty without a value.
        label: The cell in words, for a screen reader.
        best: Whether it is outlined as a best cell.
        absent: Why there is no value, as the legend says it; empty with a value.
        disputed: Whether it has a value that is disputed (drawn with a corner).
        kept: Whether it is in the confidence set for the best (drawn with a diamond).
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
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """One edge of a region's outline, between the corners of two cells."""

    x: int
    y: int
    x2: int
    y2: int


@dataclass(frozen=True, slots=True)
class Picture:
    """All that a heatmap shows; equal pictures give equal drawings.

    Attributes:
        x_labels: From left to right.
        y_labels: From top to bottom.
        domain: Values at the two ends of the colour scale.
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
    marks: tuple[Mark, ...]
    outline: tuple[Segment, ...] = ()
    outline_label: str = ""

    def to_json(self) -> str:
        """The picture as canonical JSON: what its drawing depends on."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)

    @property
    def cells(self) -> int:
        """Number of cells that have a value."""
        return sum(mark.value is not None for mark in self.marks)


def format_value(value: Decimal, decimals: int) -> str:
    """A value with a fixed number of decimals, in plain digits: `47.0`."""
    rounded = value.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_EVEN, _DIGITS)
    return f"{rounded if rounded else abs(rounded):f}"


def format_difference(value: Decimal, decimals: int) -> str:
    """A difference with its sign: `+2.6`, `−0.4` (with a real minus sign), `0.0`."""
    text = format_value(value, decimals)
    return f"+{text}" if Decimal(text) > 0 else text.replace("-", MINUS)


def value_with_unit(text: str, unit: str, difference: bool = False) -> str:
    """A formatted value with its unit; a difference of percentages is in percentage points."""
    if unit == "%":
        return f"{text} points" if difference else f"{text} %"
    return f"{text} {unit}".rstrip()


def own_domain(grids: Iterable[Grid]) -> tuple[float, float]:
    """The colour scale's ends for grids drawn alike: their lowest and highest value."""
    values = [
        cell.value for grid in grids for _, _, cell in grid.points() if cell.value is not None
    ]
    return _widened(min(values, default=Decimal(0)), max(values, default=Decimal(0)))


def difference_domain(differences: Iterable[Difference]) -> tuple[float, float]:
    """A colour scale centred on 0, as wide as the largest difference on either side."""
    values = [abs(value) for difference in differences for value in difference.values]
    reach = max(values, default=Decimal(0))
    return _widened(-reach, reach)


def _widened(low: Decimal, high: Decimal) -> tuple[float, float]:
    half = Decimal("0.5") if low == high else Decimal(0)
    return float(low - half), float(high + half)


def draw_grid(
    grid: Grid,
    domain: tuple[float, float] | None = None,
    kept: frozenset[Point] = frozenset(),
) -> Picture:
    """The heatmap of a grid, on its own scale unless a shared `domain` is given.

    Args:
        kept: The points in the confidence set for the best, which are marked.
    """
    study = grid.study
    metric = study.metric
    decimals = metric.decimals or 0
    summary = summarise(grid)
    best = {(x.key, y.key) for x, y in summary.best} if summary else set()
    marks = []
    for x, y, cell in _drawn(study, grid.points()):
        text = "" if cell.value is None else format_value(cell.value, decimals)
        is_best = (x.key, y.key) in best
        marks.append(
            Mark(
                f"{x.slug},{y.slug}",
                x.label,
                y.label,
                None if cell.value is None else float(cell.value),
                text,
                f"{_where(study, x, y)}: {_said(cell, text, metric.unit)}"
                + (", best" if is_best else "")
                + (", may be the best" if (x.key, y.key) in kept - best else ""),
                best=is_best,
                absent=ABSENT[cell.state] if cell.value is None else "",
                disputed=cell.value is not None and cell.state == "disputed",
                kept=(x.key, y.key) in kept,
            )
        )
    return Picture(
        kind="values",
        title=grid.label,
        description=describe_grid(grid, kept),
        legend=value_with_unit(metric.name, f"({metric.unit})" if metric.unit else ""),
        domain=domain or own_domain([grid]),
        decimals=decimals,
        marks=tuple(marks),
        **_frame(study),
    )


def draw_difference(difference: Difference, domain: tuple[float, float] | None = None) -> Picture:
    """The heatmap of a difference, with a diverging scale centred on 0."""
    study = difference.first.study
    metric = study.metric
    decimals = metric.decimals or 0
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
            Mark(
                f"{x.slug},{y.slug}",
                x.label,
                y.label,
                None if value is None else float(value),
                text,
                f"{_where(study, x, y)}: {said}",
                absent="" if state is None else ABSENT[state],
            )
        )
    unit = "points" if metric.unit == "%" else metric.unit
    return Picture(
        kind="difference",
        title=difference.label,
        description=describe_difference(difference),
        legend=f"Difference of {metric.name}" + (f" ({unit})" if unit else ""),
        domain=domain or difference_domain([difference]),
        decimals=decimals,
        marks=tuple(marks),
        **_frame(study),
    )


def draw_disagreement(
    grid: Grid, differences: Mapping[Point, Decimal], domain: tuple[float, float]
) -> Picture:
    """How far the readings of a grid's cells are apart.

    Args:
        differences: Largest minus smallest value of each cell that at least two readings give.
        domain: Ends of the colour scale.
    """
    study = grid.study
    metric = study.metric
    decimals = metric.decimals or 0
    marks = []
    for x, y, _ in _drawn(study, grid.points()):
        value = differences.get((x.key, y.key))
        text = "" if value is None else format_value(value, decimals)
        said = ONE_READING
        if value is not None:
            said = f"{value_with_unit(text, metric.unit, difference=True)} apart"
        marks.append(
            Mark(
                f"{x.slug},{y.slug}",
                x.label,
                y.label,
                None if value is None else float(value),
                text,
                f"{_where(study, x, y)}: {said}",
                absent=ONE_READING if value is None else "",
            )
        )
    apart = sum(value != 0 for value in differences.values())
    unit = "points" if metric.unit == "%" else metric.unit
    return Picture(
        kind="values",
        title=grid.label,
        description=f"{grid.label}: the readings differ in {apart} of {len(differences)} cells "
        "that more than one of them gives.",
        legend="Largest difference between readings" + (f" ({unit})" if unit else ""),
        domain=domain,
        decimals=decimals,
        marks=tuple(marks),
        **_frame(study),
    )


def _missing_state(difference: Difference, point: Point) -> State:
    for grid in (difference.second, difference.first):
        cell = grid.at(*point)
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
    """The levels of the y axis from the top of the picture down."""
    return factor.levels[::-1] if factor.direction == "up" else factor.levels


def _where(study: Study, x: Level, y: Level) -> str:
    return f"{study.x.label} {x.label}, {study.y.label} {y.label}"


def _said(cell: Cell, text: str, unit: str) -> str:
    if cell.value is None:
        return f"no value ({STATE_LABELS[cell.state]})"
    said = value_with_unit(text, unit)
    return f"{said} (disputed)" if cell.state == "disputed" else said


def _frame(study: Study) -> dict[str, Any]:
    rows = rows_from_top(study.y)
    return {
        "x_title": study.x.title,
        "y_title": study.y.title,
        "x_labels": tuple(level.label for level in study.x.levels),
        "y_labels": tuple(level.label for level in rows),
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


def describe_grid(grid: Grid, kept: frozenset[Point] = frozenset()) -> str:
    """A heatmap in words: its range, where its best cells lie, and what is missing or in doubt.

    Args:
        kept: The points in the confidence set for the best.
    """
    metric = grid.study.metric
    summary = summarise(grid)
    if summary is None:
        return f"{grid.label}: a heatmap without any value."
    decimals = metric.decimals or 0
    low = format_value(min(summary.best_value, summary.worst_value), decimals)
    high = value_with_unit(
        format_value(max(summary.best_value, summary.worst_value), decimals), metric.unit
    )
    best = value_with_unit(format_value(summary.best_value, decimals), metric.unit)
    at = "; ".join(_where(grid.study, x, y) for x, y in summary.best[:4])
    more = f" and {len(summary.best) - 4} more cells" if len(summary.best) > 4 else ""
    absent = summary.of - summary.count
    disputed = sum(
        cell.value is not None and cell.state == "disputed" for _, _, cell in grid.points()
    )
    return (
        f"{grid.label}: {metric.name} from {low} to {high} over {grid.study.x.label} and "
        f"{grid.study.y.label}. Best: {best} at {at}{more}."
        + (f" May be the best: {len(kept)} of {summary.count} cells." if kept else "")
        + (f" Disputed: {disputed} of {summary.count} values." if disputed else "")
        + (f" {absent} of {summary.of} cells have no value." if absent else "")
    )


def describe_difference(difference: Difference) -> str:
    """A difference in one sentence: its mean, and in how many cells it is above and below 0."""
    metric = difference.first.study.metric
    if difference.mean is None:
        return f"{difference.label}: no cell has a value in both grids."
    mean = format_difference(difference.mean, (metric.decimals or 0) + 1)
    return (
        f"{difference.label}: {value_with_unit(mean, metric.unit, difference=True)} on average "
        f"over {len(difference.values)} cells; higher in {difference.higher}, lower in "
        f"{difference.lower}, equal in {difference.equal}."
    )
