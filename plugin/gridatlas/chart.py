"""Heatmaps: what a chart shows (`Picture`), and its Vega-Lite specification, by Altair."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import cache
from math import ceil
from typing import Any, Literal

from gridatlas.analyse import Difference, summarise
from gridatlas.study import STATE_LABELS, Cell, Factor, Grid, Level, Point, State, Study

PLOT_WIDTH = 290
"""Pixels that the cells of a grid take in all, where their labels leave the choice."""
VALUES_UP_TO = 400
"""Cells up to which each value is printed in its cell."""
FONT = "sans-serif"
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


# --- from results to pictures -------------------------------------------------------------------


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
                + (", best" if is_best else ""),
                best=is_best,
                absent=ABSENT[cell.state] if cell.value is None else "",
                disputed=cell.value is not None and cell.state == "disputed",
                kept=(x.key, y.key) in kept,
            )
        )
    return Picture(
        kind="values",
        title=grid.label,
        description=describe_grid(grid),
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


def describe_grid(grid: Grid) -> str:
    """A heatmap in two sentences: its range, and where its best cells lie."""
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
    return (
        f"{grid.label}: {metric.name} from {low} to {high} over {grid.study.x.label} and "
        f"{grid.study.y.label}. Best: {best} at {at}{more}."
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


# --- the specification --------------------------------------------------------------------------


def specification(picture: Picture) -> dict[str, Any]:
    """The complete Vega-Lite specification of a picture, with its data inline.

    Strings from data are only ever values of data, titles and domains, never expressions.
    """
    nx, ny = len(picture.x_labels), len(picture.y_labels)
    printed = len(picture.marks) <= VALUES_UP_TO
    longest = max((len(mark.text) for mark in picture.marks), default=0) if printed else 0
    font_size = 13 if nx <= 7 else 11
    width = max(ceil(PLOT_WIDTH / nx), ceil(longest * font_size * 0.6) + 6, 2)
    width = min(width, max(64, ceil(longest * font_size * 0.6) + 6))
    height = max(min(width, 42), 30 if ny <= 12 and nx <= 12 else 2)
    shapes = {
        "best": ["best"] if any(mark.best for mark in picture.marks) else [],
        "absent": list(dict.fromkeys(mark.absent for mark in picture.marks if mark.absent)),
        "doubt": [DISPUTED] if any(mark.disputed for mark in picture.marks) else [],
        "kept": [KEPT] if any(mark.kept for mark in picture.marks) else [],
    }
    layers_drawn = tuple(name for name, kinds in shapes.items() if kinds)
    spec: dict[str, Any] = deepcopy(
        _template(picture.kind, printed, layers_drawn, bool(picture.outline))
    )
    spec |= {
        "title": spec["title"] | {"text": picture.title},
        "description": picture.description,
        "width": width * nx,
        "height": height * ny,
    }
    spec["data"] = {"values": [_row(mark) for mark in picture.marks]}
    encoding = spec["encoding"]
    wide = max(map(len, picture.x_labels)) * 6.6 > width - 2
    encoding["x"] |= {"title": picture.x_title, "scale": _positions(picture.x_labels)}
    encoding["x"]["axis"]["labelAngle"] = -40 if wide else 0
    encoding["y"] |= {"title": picture.y_title, "scale": _positions(picture.y_labels)}
    layers = {layer["name"]: layer for layer in spec["layer"]}
    color = layers["cells"]["encoding"]["color"]
    color["scale"]["domain"] = list(picture.domain)
    color["legend"] |= {
        "title": picture.legend,
        "gradientLength": max(width * nx, 120),
        "format": f".{picture.decimals}f",
    }
    if printed:
        layers["values"]["mark"]["fontSize"] = font_size
    for name in layers_drawn:
        shape = layers[name]["encoding"]["shape"]
        shape["scale"] = {
            "domain": shapes[name],
            "range": [_shape(kind, width, height) for kind in shapes[name]],
        }
        layers[name]["encoding"]["size"] = {"value": 40 if name == "kept" else width**2}
    if "kept" in layers:
        layers["kept"]["mark"] |= {"xOffset": 6 - width / 2, "yOffset": height / 2 - 6}
    if "inner" in layers:
        layers["inner"]["mark"] |= {"width": width - 5, "height": height - 5}
    if picture.outline:
        outline = layers["outline"]
        spec["layer"].insert(spec["layer"].index(outline), halo := deepcopy(outline))
        halo["mark"] |= {"stroke": "#000", "strokeWidth": 3.5}
        halo["name"] = "halo"
        del halo["encoding"]["strokeDash"]
        outline["encoding"]["strokeDash"]["scale"] = {
            "domain": [picture.outline_label],
            "range": [[5, 3]],
        }
        halo["data"] = outline["data"] = {
            "values": [
                {
                    "left": edge.x * width,
                    "top": edge.y * height,
                    "right": edge.x2 * width,
                    "bottom": edge.y2 * height,
                    "label": picture.outline_label,
                }
                for edge in picture.outline
            ]
        }
    return spec


def _row(mark: Mark) -> dict[str, Any]:
    row = {"x": mark.x, "y": mark.y, "value": mark.value, "text": mark.text, "label": mark.label}
    if mark.best:
        row["best"] = "best"
    if mark.absent:
        row["absent"] = mark.absent
    if mark.disputed:
        row["doubt"] = DISPUTED
    if mark.kept:
        row["kept"] = KEPT
    return row


def _positions(labels: Sequence[str]) -> Mapping[str, Any]:
    return {"domain": list(labels), "paddingInner": 0, "paddingOuter": 0}


def _shape(kind: str, width: int, height: int) -> str:
    """An SVG path that marks a cell: a frame, a corner, or hatching by the kind of state.

    Coordinates are in half widths of the cell, as Vega scales them.
    """
    unit = width / 2
    w, h = width / 2, height / 2
    if kind == "best":
        w, h = w - 1.25, h - 1.25
        return _path([(-w, -h), (w, -h), (w, h), (-w, h)], unit) + "Z"
    if kind == DISPUTED:
        size = min(w, h) * 0.5
        return _path([(w - size, -h), (w, -h), (w, size - h)], unit) + "Z"
    if kind == KEPT:
        return "diamond"
    frame = _path([(-w, -h), (w, -h), (w, h), (-w, h)], unit) + "Z"
    step = max(min(w, h) / 2, 2.0)
    offsets = [i * step for i in range(-ceil((w + h) / step), ceil((w + h) / step) + 1)]
    falling = [line for c in offsets if (line := _diagonal(c, w, h))]
    rising = [[(x, -y) for x, y in line] for line in falling]
    level = [[(-w, c), (w, c)] for c in offsets if -h < c < h]
    lines = {
        ABSENT["missing"]: rising,
        ABSENT["failed"]: falling,
        ABSENT["oom"]: level,
        ABSENT["disputed"]: rising + falling,
        ONE_READING: [],
    }[kind]
    return frame + "".join(_path(line, unit) for line in lines)


def _path(points: Sequence[tuple[float, float]], unit: float) -> str:
    return "M" + "L".join(f"{round(x / unit, 3):g},{round(y / unit, 3):g}" for x, y in points)


def _diagonal(c: float, w: float, h: float) -> list[tuple[float, float]] | None:
    """The part of the line y = x + c that lies in the cell, or None."""
    left, right = max(-w, -h - c), min(w, h - c)
    return [(left, left + c), (right, right + c)] if right - left > 0.5 else None


@cache
def _template(kind: Kind, printed: bool, shapes: tuple[str, ...], outlined: bool) -> dict[str, Any]:
    """A heatmap's specification without its data; Altair writes and checks it once per kind."""
    import altair as alt

    scale = (
        alt.Scale(scheme="yellowgreenblue", domain=[0, 1])
        if kind == "values"
        else alt.Scale(scheme="purpleorange", reverse=True, domain=[-1, 1], domainMid=0)
    )
    gradient = alt.Legend(
        orient="bottom",
        direction="horizontal",
        gradientThickness=11,
        titleFontWeight="normal",
        titleLimit=400,
        tickCount=5,
        aria=False,
    )
    valid = "isValid(datum.value)"
    layers = [
        alt.Chart(name="cells")
        .transform_filter(valid)
        .mark_rect(aria=True)
        .encode(color=alt.Color("value:Q", scale=scale, legend=gradient), description="label:N")
    ]
    if printed:
        dark = "luminance(scale('color', datum.value)) > 0.179"
        layers.append(
            alt.Chart(name="values")
            .transform_filter(valid)
            .mark_text(aria=False)
            .encode(text="text:N", color=alt.condition(dark, alt.value("#000"), alt.value("#fff")))
        )
    key = alt.Legend(
        orient="bottom",
        direction="horizontal",
        columns=2,
        title=None,
        symbolSize=380,
        symbolStrokeColor="currentColor",
        symbolStrokeWidth=1.2,
        labelLimit=300,
        aria=False,
    )
    solid = key.copy()
    solid.symbolFillColor = "currentColor"
    solid.symbolSize = 150
    if "absent" in shapes:
        layers.append(
            alt.Chart(name="absent")
            .transform_filter("isValid(datum.absent)")
            .mark_point(filled=False, opacity=1, aria=True, stroke="currentColor", strokeWidth=1)
            .encode(shape=alt.Shape("absent:N", legend=key), description="label:N")
        )
    if "doubt" in shapes:
        layers.append(
            alt.Chart(name="doubt")
            .transform_filter("isValid(datum.doubt)")
            .mark_point(filled=True, opacity=1, aria=False, fill="#000", stroke="#fff")
            .encode(shape=alt.Shape("doubt:N", legend=solid))
        )
    if "kept" in shapes:
        layers.append(
            alt.Chart(name="kept")
            .transform_filter("isValid(datum.kept)")
            .mark_point(filled=True, opacity=1, aria=False, fill="#000", stroke="#fff")
            .encode(shape=alt.Shape("kept:N", legend=solid))
        )
    if "best" in shapes:
        # Black and white side by side: one of them stands out on every fill.
        best = "isValid(datum.best)"
        layers += [
            alt.Chart(name="best")
            .transform_filter(best)
            .mark_point(filled=False, opacity=1, aria=False, stroke="#000", strokeWidth=2.5)
            .encode(shape=alt.Shape("best:N", legend=key)),
            alt.Chart(name="inner")
            .transform_filter(best)
            .mark_rect(aria=False, filled=False, stroke="#fff", strokeWidth=1.5),
        ]
    if outlined:
        layers.append(
            alt.Chart(name="outline")
            .mark_rule(aria=False, strokeWidth=2, stroke="#fff")
            .encode(
                x=alt.X("left:Q", scale=None),
                x2="right:Q",
                y=alt.Y("top:Q", scale=None),
                y2="bottom:Q",
                strokeDash=alt.StrokeDash("label:N", legend=key),
            )
        )
    axis: dict[str, Any] = {"ticks": False, "domain": False, "aria": False, "labelLimit": 150}
    chart = (
        alt.layer(*layers)
        .encode(
            x=alt.X("x:N", sort=None, axis=alt.Axis(labelAngle=0, labelPadding=6, **axis)),
            y=alt.Y("y:N", sort=None, axis=alt.Axis(labelPadding=6, **axis)),
        )
        .properties(title=alt.Title("", anchor="middle", fontSize=14, offset=8, aria=False))
        .resolve_scale(shape="independent", color="shared")
        .configure(background="transparent", font=FONT)
        .configure_view(stroke=None)
        .configure_title(color="currentColor")
        .configure_axis(
            labelColor="currentColor",
            titleColor="currentColor",
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            titlePadding=8,
            titleLimit=400,
        )
        .configure_legend(
            labelColor="currentColor",
            titleColor="currentColor",
            labelFontSize=11,
            titleFontSize=12,
            padding=2,
        )
    )
    spec: dict[str, Any] = chart.to_dict()
    del spec["datasets"]  # the layers' own empty data; they share the chart's
    for layer in spec["layer"]:
        del layer["data"]
    spec["config"]["legend"]["layout"] = {"bottom": {"anchor": "start", "direction": "vertical"}}
    return spec
