"""What a line shows: one row or column of a grid, each value with its interval."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

from gridatlas.assessment.uncertainty import Ends, GridUncertainty, as_pairs
from gridatlas.charts.description import without_value
from gridatlas.charts.kinds import Expected, Picture, Specification
from gridatlas.charts.plotting import (
    PLOT_WIDTH,
    TITLE_LIMIT,
    as_data,
    canonical,
    chart_of,
    drawable_labels,
    drawable_text,
    labels_below,
    padded,
)
from gridatlas.model.format import between, format_measured, many, name_with_unit, value_with_unit
from gridatlas.model.study import STATE_LABELS, Cell, Factor, Level, inline
from gridatlas.table.study_table import Grid

Axis = Literal["row", "column"]
"""A row lies at one level of y, a column at one level of x."""


@dataclass(frozen=True, slots=True)
class LinePoint:
    """One cell on a line.

    Attributes:
        x: Label of its level.
        value: The metric; None where there is no value.
        interval: The 95 % interval; None where it isn't known.
        text: The value as printed; empty without a value.
        label: The cell in words, for a screen reader.
    """

    x: str
    value: float | None
    interval: Ends | None
    text: str
    label: str


@dataclass(frozen=True, slots=True)
class LineChart(Picture):
    """All that the chart of a line shows; equal charts give equal drawings.

    Attributes:
        domain: Values at the lower and the upper end of the vertical axis.
    """

    title: str
    description: str
    x_title: str
    y_title: str
    domain: tuple[float, float]
    decimals: int
    points: tuple[LinePoint, ...]

    def to_json(self) -> str:
        """The chart as canonical JSON: what its drawing depends on."""
        # Named, so that it is never taken for the JSON of a heatmap.
        return canonical({"line": self})

    def specification(self) -> Specification:
        """Its Vega-Lite specification."""
        return line_specification(self)

    def expected(self) -> Expected:
        """A point for each value."""
        number = sum(point.value is not None for point in self.points)
        return {"point": ("points", number)}


@dataclass(frozen=True, slots=True)
class Line:
    """One row or column of a grid.

    Attributes:
        axis: Which of the two it is.
        level: The level that it lies at, of y for a row, of x for a column.
    """

    grid: Grid
    axis: Axis
    level: Level
    uncertainty: GridUncertainty

    @property
    def across(self) -> Factor:
        """The factor that the line lies at a level of."""
        return self.grid.study.y if self.axis == "row" else self.grid.study.x

    @property
    def along(self) -> Factor:
        """The factor whose levels it leads through."""
        return self.grid.study.x if self.axis == "row" else self.grid.study.y

    @property
    def label(self) -> str:
        """`R1-Qwen | AIME24, local window size 2000`."""
        return f"{self.grid.label}, {inline(self.across.label)} {self.level.label}"

    def entries(self) -> list[tuple[Level, Cell, Ends | None]]:
        """Its cells, in the order of their levels, with their intervals where these are known."""
        across, at = len(self.grid.study.x.levels), self.across.place(self.level.key)
        of = (
            slice(at * across, (at + 1) * across) if self.axis == "row" else slice(at, None, across)
        )
        intervals = as_pairs(self.uncertainty.ends[of])
        return [*zip(self.along.levels, self.grid.columns[of], intervals, strict=True)]


def line_domain(lines: Iterable[Line]) -> tuple[float, float]:
    """The ends of the vertical axis for lines drawn alike: their values with the intervals."""
    reached = (
        number
        for line in lines
        for _, cell, interval in line.entries()
        if cell.value is not None
        for number in (float(cell.value), *(interval or ()))
    )
    return padded(reached, 0)


def draw_line(line: Line, domain: tuple[float, float], title: str = "") -> LineChart:
    """The chart of a line.

    Args:
        title: In the place of its own.
    """
    study = line.grid.study
    metric = study.metric
    decimals = metric.decimals or 0
    points = []
    for level, cell, interval in line.entries():
        where = f"{line.along.label} {level.label}"
        if cell.value is None:
            words = f"no value ({STATE_LABELS[cell.state]})"
            points.append(LinePoint(level.label, None, None, "", f"{where}: {words}"))
            continue
        text = format_measured(cell.value, decimals)
        words = value_with_unit(text, metric.unit)
        if cell.state == "disputed":
            words += " (disputed)"
        if interval:
            words += f", 95 % interval {between(*interval, study)}"
        points.append(
            LinePoint(level.label, float(cell.value), interval, text, f"{where}: {words}")
        )
    return LineChart(
        title=title or line.label,
        description=_described(line, title or line.label),
        x_title=line.along.title,
        y_title=name_with_unit(metric.name, metric.unit),
        domain=domain,
        decimals=decimals,
        points=tuple(points),
    )


def _described(line: Line, title: str) -> str:
    metric = line.grid.study.metric
    values = [cell.value for _, cell, _ in line.entries() if cell.value is not None]
    along = inline(line.along.label)
    if not values:
        return f"{title}: a line along {along} without any value."
    decimals = metric.decimals or 0
    low = format_measured(min(values), decimals)
    high = value_with_unit(format_measured(max(values), decimals), metric.unit)
    absent = len(line.along.levels) - len(values)
    disputed = sum(
        cell.value is not None and cell.state == "disputed" for _, cell, _ in line.entries()
    )
    return (
        f"{title}: {metric.name} from {low} to {high} along {along}."
        + (f" Disputed: {disputed} of {many(len(values), 'value')}." if disputed else "")
        + without_value(absent, len(line.along.levels))
    )


# --- its specification ----------------------------------------------------------------------------

LINE_HEIGHT = 170
"""Pixels from the lower to the upper end of a line's vertical axis."""
POINTS_UP_TO = 12
"""Points of a line up to which each has its value printed above it."""


def line_specification(chart: LineChart) -> dict[str, Any]:
    """The complete Vega-Lite specification of a row or column, with its data inline."""
    drawn = drawable_labels(point.x for point in chart.points)
    labels = list(drawn.values())
    width = max(ceil(PLOT_WIDTH / len(labels)), 2)
    printed = len(labels) <= POINTS_UP_TO
    spec = chart_of("line", ("interval", "line", "points", *(["values"] if printed else [])))
    spec |= {
        "title": spec["title"] | {"text": chart.title},
        "description": chart.description,
        "width": width * len(labels),
        "height": LINE_HEIGHT,
    }
    spec["data"] = {
        "values": [
            {"x": drawn[point.x], "value": point.value, "text": point.text, "label": point.label}
            | (as_data(point.interval) if point.interval else {})
            | ({} if point.value is None else {"top": point.value})
            | ({"top": point.interval[1]} if point.interval else {})
            for point in chart.points
        ]
    }
    x = spec["encoding"]["x"]
    x |= {"title": drawable_text(chart.x_title, TITLE_LIMIT), "scale": {"domain": labels}}
    x["axis"] |= labels_below(labels, width)[0]
    low, high = chart.domain
    top = high + (high - low) / 10 if printed else high  # room for the values above the points
    for layer in spec["layer"]:
        y = layer["encoding"]["y"]
        y["title"] = drawable_text(chart.y_title, TITLE_LIMIT)
        y["scale"] = {"domain": [low, top], "zero": False, "nice": True}
        y["axis"]["format"] = f".{chart.decimals}f"
    return spec
