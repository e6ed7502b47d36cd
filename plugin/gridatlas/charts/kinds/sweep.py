"""A sweep: values along one axis as lines with 95 % intervals, the main picture of such a study."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import pstdev
from typing import Any, Literal

import numpy as np

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import Ends
from gridatlas.charts.description import IN_DISPUTE, cell_labels, without_value
from gridatlas.charts.draw import value_text
from gridatlas.charts.findings import (
    assertions_named,
    asserts_settings,
    grid_tests,
    tuned_levels,
)
from gridatlas.charts.kinds import Expected, Plot, Specification
from gridatlas.charts.palette import PAGE
from gridatlas.charts.plotting import (
    KEY_LIMIT,
    LABEL_LIMIT,
    REST,
    TITLE_LIMIT,
    Column,
    Scope,
    chart_of,
    drawable_text,
    filled_in,
    label_width,
    names_at_ends,
    padded,
    series_looks,
    shortened,
)
from gridatlas.charts.tables import is_ordered, narrow_and_wide, repeats_of, scope_of
from gridatlas.charts.views import subtitle
from gridatlas.model.format import between, name_with_unit, to, value_with_unit
from gridatlas.model.study import Factor, Level, Study, inline
from gridatlas.table.study_table import Grid
from gridatlas.table.summary import best_points, summarise

WIDTH, NARROWEST, HEIGHT = 385, 240, 210
"""Pixels of both axes; where lines have names, these take some of the width."""
THUMBNAIL = 120, 64
"""Pixels of both axes of a thumbnail."""
BEST, SEED = 70, 9
"""Square pixels of the best value's dot, and of one of its repeats."""
EDGE = 12
"""Pixels to both sides of a level that are shaded."""
MOST_LINES = 12
"""Grids up to which they share a picture."""
PRINTED_UP_TO = 12
"""Points of a single line up to which each has its value beside it."""
MARKED_UP_TO = 50
"""Levels up to which each value has a dot."""
LOG_FROM = 10
"""How many times the smallest level the largest one is, at least, where an axis is logarithmic."""
ABOVE, BELOW = -9, 15
"""Pixels from a point down to its text."""
BESIDE = 3
"""Pixels between the intervals of two lines at one level."""

Look = Literal["plain", "best", "may-be-best", "worse"]


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One value.

    Attributes:
        place: Of its level.
        label: In words, for a screen reader.
        look: What tests and data say of it: the best seen, one that may be the best while others
            are worse, one that is shown to be worse.
        repeats: What it is the mean of, where it was measured several times.
    """

    place: int
    value: float
    interval: Ends | None
    text: str
    label: str
    look: Look = "plain"
    repeats: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class SweepLine:
    """The values of one grid.

    Attributes:
        name: What tells it from the others; empty where there is one.
        tested: Cells of which the test for the best decides; 0 without one that tells any apart.
        summary: Of values that are the best over an axis its name, the best of all, where that is,
            how many may be that, and what all have in common.
    """

    name: str
    points: tuple[SweepPoint, ...]
    tested: int = 0
    summary: Column = ()


@dataclass(frozen=True, slots=True)
class Sweep(Plot):
    """All that a sweep shows; equal sweeps give equal drawings.

    Attributes:
        levels: Labels of the axis' levels, from left to right.
        places: Where they lie, from 0 to 1: to scale where they are numbers.
        named: Lines that an answer names, which stay in colour where there are many.
        scope: What the intervals hold for.
        better: Which end is the best; empty without one.
        extreme: What the best value is called.
        over: The other axis, within a sentence, where values are the best over it; else empty.
        each: The same where each of its levels has a line.
        edges: The first and the last place, where either has a line's best value.
        domain: The values at both ends of a thumbnail, which has neither texts nor axes; None for
            the picture itself, whose own values decide.
    """

    KIND, PLACE, ORDER = "sweep", "main", 4

    title: str
    description: str
    x_title: str
    y_title: str
    levels: tuple[str, ...]
    places: tuple[float, ...]
    lines: tuple[SweepLine, ...]
    named: tuple[str, ...]
    scope: Scope
    better: str
    extreme: str
    decimals: int
    over: str = ""
    each: str = ""
    edges: tuple[int, ...] = ()
    domain: tuple[float, float] | None = None

    @classmethod
    def of(
        cls, assessment: Assessment, grids: Sequence[Grid], facet: Factor | None = None
    ) -> tuple[Sweep, ...]:
        """The grids of a page as lines in one picture; none where there are too many.

        Of two axes only where an answer compares the levels of a facet each at its best: those of
        the first axis with an order, the best over the other one.
        """
        study = assessment.study
        if study.second and not _is_tuned(assessment, facet):
            return ()
        axis = next((axis for axis in study.varied if is_ordered(study, axis)), None)
        if axis is None or len(axis.levels) < 2:
            return ()
        if facet is not None:  # of other facets their means, where there are some
            for place, other in enumerate(study.facets):
                means = [grid for grid in grids if grid.names[place].aggregate]
                grids = means if means and other != facet else grids
        if not grids or len(grids) > MOST_LINES:
            return ()
        plot = _sweep(assessment, grids, axis)
        return (plot,) if any(line.points for line in plot.lines) else ()

    @classmethod
    def why_none(cls, study: Study, facet: Factor | None) -> tuple[str, str, str]:
        """No axis with an order."""
        return (
            f"as: sweep for {study.id}, which has no single axis with an order",
            "remove the line, which shows the heatmap, or draw a `row`",
            "a study with one axis of numbers",
        )

    @property
    def columns(self) -> Column:
        """The heads of its data table."""
        if len(self.lines) > 1:
            return (self.x_title, *(line.name for line in self.lines))
        intervals = any(point.interval for point in self.lines[0].points)
        head = f"95 % interval, for {self.scope}" if self.scope else "95 % interval"
        return (self.x_title, self.y_title, *([head] if intervals else []))

    def table(self) -> list[Column]:
        """The rows of its data table: a level each."""
        found = []
        for place, level in enumerate(self.levels):
            points = [
                next((point for point in line.points if point.place == place), None)
                for line in self.lines
            ]
            texts = [point.text if point else "–" for point in points]
            if len(self.columns) > len(texts) + 1:
                [point] = points
                ends = point and point.interval
                texts.append(to(ends, self.decimals) if ends else "–")
            found.append((level, *texts))
        return found

    def records(self) -> list[dict[str, object]]:
        """Every value with its interval, as a table of data."""
        none = (None, None)
        return [
            {
                "level": self.levels[point.place],
                "line": line.name,
                "value": point.value,
                **dict(zip(("interval_low", "interval_high"), point.interval or none, strict=True)),
                "is": point.look,
            }
            for line in self.lines
            for point in line.points
        ]

    def specification(self) -> Specification:
        """Its Vega-Lite specification."""
        return sweep_specification(self)

    def expected(self) -> Expected:
        """A point for each value, where there is room."""
        points = [point for line in self.lines for point in line.points]
        if self.domain:
            points = [point for point in points if point.look == "best"]
        number = sum(1 if self.domain else 1 + len(point.repeats) for point in points)
        return {"point": ("points", number if len(self.levels) <= MARKED_UP_TO else 0)}

    def small(self, domain: tuple[float, float] | None = None) -> Sweep:
        """It as a thumbnail, on its own scale unless one is given."""
        values = [point.value for line in self.lines for point in line.points]
        return replace(self, domain=domain or (min(values), max(values)))

    @property
    def before_values(self) -> bool:
        """Whether it is of the best settings, of which differences of grids say nothing."""
        return bool(self.over)

    below_values = before_values

    @property
    def looks(self) -> list[Look]:
        """How points look in it, for a caption."""
        found = {point.look for line in self.lines for point in line.points}
        return [look for look in ("best", "may-be-best", "worse") if look in found]


class Rows(Plot):
    """A grid of two choices that was measured several times: a line for each level of the one."""

    __slots__ = ()
    KIND, PLACE, ORDER = "rows", "axes", 1

    @classmethod
    def of(
        cls, assessment: Assessment, grids: Sequence[Grid], facet: Factor | None = None
    ) -> tuple[Sweep, ...]:
        """The only grid of a page along its first axis with an order; none of conditions."""
        study = assessment.study
        axis = next((axis for axis in study.varied if is_ordered(study, axis)), None)
        chosen = all(study.roles.get(of.id, "choice") == "choice" for of in study.varied)
        if axis is None or not (study.second and chosen and len(grids) == 1):
            return ()
        [other] = (of for of in study.varied if of != axis)
        few = 1 < len(axis.levels) <= MARKED_UP_TO and 1 < len(other.levels) <= MOST_LINES
        few = few and any(repeats_of(assessment, grids[0]))
        return (_sweep(assessment, grids, axis, other.levels),) if few else ()


# --- of a study -----------------------------------------------------------------------------------


def _is_tuned(assessment: Assessment, facet: Factor | None) -> bool:
    """Whether the study's headline compares levels of a facet each at its best setting."""
    named = assertions_named(assessment.answers[""])
    return any(of == facet for of, _, _ in tuned_levels(assessment.study, named))


def _sweep(
    assessment: Assessment, grids: Sequence[Grid], axis: Factor, each: Sequence[Level] = ()
) -> Sweep:
    """Grids along an axis; or a single one, with a line for each level of the other axis."""
    study = assessment.study
    [*others] = (of for of in study.varied if of != axis)
    order = [*range(len(axis.levels))]
    if all(level.number is not None for level in axis.levels):
        order.sort(key=lambda at: axis.levels[at].number or 0)
    labels = [tuple(level.label for level in grid.names) for grid in grids]
    telling = [at for at, of in enumerate(zip(*labels, strict=True)) if len({*of}) > 1]
    drawn = [
        (" | ".join(of[at] for at in telling), grid, grid.names, None)
        for grid, of in zip(grids, labels, strict=True)
    ]
    of_each = [(level.label, grids[0], (level,), at) for at, level in enumerate(each)]
    answers = [of for of in assessment.answers.values() if of.asserts]
    asserted = {
        level for of in answers for stated in assertions_named(of) for level in stated.levels
    }
    over = inline(others[0].label) if others else ""
    plot = Sweep(
        title=grids[0].label if len(grids) == 1 else study.title, description="",
        x_title=axis.title, y_title=name_with_unit(study.metric.name, study.metric.unit),
        levels=tuple(axis.levels[at].label for at in order),
        places=_places([axis.levels[at].number for at in order]),
        lines=tuple(
            _tuned_line(assessment, grid, name, axis, order, row)
            if others
            else _line(assessment, grid, name, order)
            for name, grid, _, row in of_each or drawn
        ),
        named=tuple(
            name for name, _, levels, _ in of_each or drawn
            if any(level.aggregate or level.label in asserted for level in levels)
        ),
        scope="" if others else scope_of(study, assessment.uncertainty.of(grids[0])),
        better=study.metric.better or "", extreme="lowest" if study.metric.falls else "highest",
        decimals=study.metric.decimals or 0, over="" if each else over, each=over if each else "",
    )  # fmt: skip
    bests = {of.place for line in plot.lines for of in line.points if of.look == "best"}
    numbers = len(order) > 2 and axis.levels[0].number is not None
    edges = tuple(sorted(bests & {0, len(order) - 1})) if numbers else ()
    return replace(plot, description=_described(study, plot), edges=edges)


def _places(numbers: Sequence[Any]) -> tuple[float, ...]:
    """Where levels lie, from 0 to 1: in logarithms where that is more even, and goes far."""
    if any(number is None for number in numbers):
        found = [float(at) for at in range(len(numbers))]
    else:
        found = [float(number) for number in numbers]
        if found[0] > 0 and found[-1] >= LOG_FROM * found[0]:
            logs = [math.log(number) for number in found]
            found = logs if _unevenness(logs) < _unevenness(found) else found
    low, high = found[0], found[-1]
    return tuple((at - low) / (high - low) for at in found)


def _unevenness(places: Sequence[float]) -> float:
    steps = [after - before for before, after in pairwise(places)]
    return pstdev(steps) / (sum(steps) / len(steps))


def _line(assessment: Assessment, grid: Grid, name: str, order: Sequence[int]) -> SweepLine:
    study, log = assessment.study, assessment.log
    named = assertions_named(assessment.grid_answers.get(grid.levels))
    tests = grid_tests(assessment, grid, asserts_settings(study, named))
    best = best_points(grid) if study.metric.better else frozenset()
    points, repeats = [], repeats_of(assessment, grid)
    for place, at in enumerate(order):
        level, cell = study.x.levels[at], grid.cell(*grid.keys[at])
        if cell.value is None:
            continue
        point = grid.keys[at]
        look: Look = "plain"
        if point in best and len(best) == 1:
            look = "best"
        elif tests.passed:
            look = "worse" if point in tests.passed else "may-be-best"
        text = value_text(study, cell.value, log=log)
        words = value_with_unit(text, study.metric.unit)
        words += IN_DISPUTE if cell.state == "disputed" else ""
        ends = narrow_and_wide(assessment.uncertainty.of(grid), at)[0]
        words += f", 95 % interval {between(*ends, study)}" if ends else ""
        label = f"{name + ', ' if name else ''}{study.x.label} {level.label}: {words}"
        value = float(cell.value)
        points.append(SweepPoint(place, value, ends, text, label, look, repeats[at]))
    return SweepLine(name, tuple(points), len(tests.cells) if tests.passed else 0)


def _tuned_line(
    assessment: Assessment, grid: Grid, name: str, axis: Factor, order: Sequence[int],
    only: int | None = None,
) -> SweepLine:  # fmt: skip
    """The best value at each level of an axis, over the other one; the tests are of its cells.

    Args:
        only: Of the other one this level alone; None for all.
    """
    study, summary, values = assessment.study, summarise(grid), grid.columns.value
    if summary is None:
        return SweepLine(name, ())
    rows = np.arange(len(values)).reshape(len(study.y.levels), -1)
    sign = -1 if study.metric.falls else 1
    points, repeats = [], repeats_of(assessment, grid)
    for place, at in enumerate(order):
        level = (rows.T if axis == study.x else rows)[at]
        level = level if only is None else level[[only]]
        here = level[values.defined[level]].tolist()
        row = max(here, key=(sign * values.floats).__getitem__, default=0)
        value = values.at(row)
        if here and value is not None:
            text = value_text(study, value, log=assessment.log)
            words = value_with_unit(text, study.metric.unit)
            label = f"{name}, {axis.label} {axis.levels[at].label}: {words}"
            look: Look = "best" if value == summary.best_value else "plain"
            points.append(SweepPoint(place, float(value), None, text, label, look, repeats[row]))
    tests = grid_tests(assessment, grid, of_axes=True)
    left = f"{len(tests.cells) - len(tests.passed)} of {len(tests.cells)}" if tests.cells else "–"
    best = value_text(study, summary.best_value, log=assessment.log)
    at_best = " or ".join(cell_labels(*of) for of in summary.best)
    return SweepLine(
        name, tuple(points), summary=(name, best, at_best, left, subtitle(assessment, grid))
    )


def _described(study: Study, plot: Sweep) -> str:
    parts = []
    for line in plot.lines:
        if not line.points:
            continue
        low, high = (end(line.points, key=lambda point: point.value) for end in (min, max))
        absent = len(plot.levels) - len(line.points)
        highest = value_with_unit(high.text, study.metric.unit)
        first, last = plot.levels[low.place], plot.levels[high.place]
        ends = f"from {low.text} at {first} to {highest} at {last}."
        name = f"{line.name}: " if line.name else ""
        parts.append(f"{name}{ends}{without_value(absent, len(plot.levels))}")
    best = f"best {inline(study.metric.name)} over {plot.over}" if plot.over else study.metric.name
    along = f"{plot.title}: {best} along {inline(plot.x_title)}"
    return f"{along}, {' '.join(parts)}"


# --- its specification ----------------------------------------------------------------------------


def sweep_specification(plot: Sweep) -> dict[str, Any]:
    """The complete Vega-Lite specification of a sweep, with its data inline."""
    spec = chart_of("sweep")
    several = len(plot.lines) > 1
    names = [
        shortened([of.name, *(each.text for each in of.points[-1:])], " ") for of in plot.lines
    ]
    taken = label_width(map(" ".join, names)) if several else 0
    width = max(NARROWEST, WIDTH - taken)
    spec |= {"description": plot.description, "width": width, "height": HEIGHT}
    looks = series_looks([line.name for line in plot.lines], plot.named)
    found = [
        (
            point.value,
            *((*(point.interval or ()), *point.repeats) if look["colour"] != REST else ()),
        )
        for line, look in zip(plot.lines, looks, strict=True)
        for point in line.points
    ]
    low, high = padded(end for ends in found for end in ends)
    data: dict[str, list[dict[str, Any]]] = {layer["name"]: [] for layer in spec["layer"]}
    coloured = [at for at, look in enumerate(looks) if look["colour"] != REST]
    ends = []
    for at, (line, look) in enumerate(zip(plot.lines, looks, strict=True)):
        shift = (coloured.index(at) - (len(coloured) - 1) / 2) * BESIDE if at in coloured else 0
        here = {point.place: point for point in line.points}
        for place, where in enumerate(plot.places):
            point = here.get(place)
            row = {"line": at, **look, "left": where * width, "value": point and point.value}
            data["lines"].append(row)
            if point is None:
                continue
            if len(plot.levels) <= MARKED_UP_TO:
                seed = row | {"fill": look["colour"], "edge": look["colour"], "size": SEED}
                seed |= {"shape": "circle", "opacity": 0.5, "label": point.label}
                seed["left"] += BESIDE + 2
                data["points"] += [seed | {"value": value} for value in point.repeats]
                data["points"].append(row | _dot(point, look["colour"]) | {"label": point.label})
            if point.interval and at in coloured:
                interval = dict(zip(("low", "high"), point.interval, strict=True))
                data["intervals"].append(row | interval | {"left": where * width + shift})
            if not several and len(plot.levels) <= PRINTED_UP_TO:
                name = "bold-texts" if point.look == "best" else "texts"
                after = here.get(place + 1)
                # Below where the line rises from it, so that no line runs through it.
                off = ABOVE if after is None or after.value <= point.value else BELOW
                top = (high - point.value) / (high - low) * HEIGHT + off
                data[name].append({"left": where * width, "top": top, "text": point.text})
        if several and line.points:
            last = line.points[-1]
            down = (high - last.value) / (high - low) * HEIGHT
            ends.append((" ".join(names[at]), plot.places[last.place] * width, down, look))
    data |= names_at_ends([end[:3] for end in ends], [end[3] for end in ends], width, HEIGHT)
    data["levels"] = _ticks(plot, width)
    sides = [plot.places[at] * width for at in plot.edges]
    data["edge"] = [{"left": side - EDGE, "right": side + EDGE} for side in sides]
    data["axis"] = [{"left": width / 2, "text": drawable_text(plot.x_title, TITLE_LIMIT)}]
    if plot.domain:
        return _thumbnail(spec, data, plot)
    spec = filled_in(spec, data)
    for layer in spec["layer"]:
        y = layer["encoding"].get("y", {})
        if y.get("field") in ("value", "low"):
            y["title"] = drawable_text(plot.y_title, KEY_LIMIT)
            y["scale"]["domain"] = [low, high]
    return spec


def _thumbnail(
    spec: dict[str, Any], data: dict[str, list[dict[str, Any]]], plot: Sweep
) -> dict[str, Any]:
    """The lines and the best values alone, in small."""
    (across, down), width = THUMBNAIL, spec["width"]
    spec |= {"width": across, "height": down}
    shown = {"lines": data["lines"], "points": [of for of in data["points"] if of["size"] == BEST]}
    for row in (*shown["lines"], *shown["points"]):
        row["left"] *= across / width
    spec = filled_in(spec, shown)
    for layer in spec["layer"]:
        layer["encoding"]["y"] |= {"title": None, "axis": None}
        layer["encoding"]["y"]["scale"]["domain"] = [*padded(plot.domain or (), 0.08)]
    return spec


def _dot(point: SweepPoint, colour: str) -> dict[str, Any]:
    """Full where it is the best or nothing is tested, open where it may be, grey where it isn't."""
    fill = {"may-be-best": PAGE["light"], "worse": REST}.get(point.look, colour)
    return {
        "fill": fill,
        "edge": REST if point.look == "worse" else colour,
        "size": BEST if point.look == "best" else 40,
    }


def _ticks(plot: Sweep, width: int) -> list[dict[str, Any]]:
    """The labels of the levels, the first and the last and those between that have room."""
    found: list[dict[str, Any]] = []
    taken = -math.inf
    last = width - label_width([plot.levels[-1]]) / 2
    for where, label in zip(plot.places, plot.levels, strict=True):
        left, half = where * width, label_width([label]) / 2
        if where == 1 or taken == -math.inf or (left - half > taken and left + half + 8 < last):
            found.append({"left": left, "text": drawable_text(label, LABEL_LIMIT)})
            taken = left + half + 8
    return found
