"""Ratios to a reference: the main picture of times that were measured once in each cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gridatlas.analysis.words import TIMES
from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import defined
from gridatlas.charts.kinds import Plot, Specification
from gridatlas.charts.plotting import (
    ACCENT,
    INK,
    LABEL_LIMIT,
    REST,
    TITLE_LIMIT,
    Column,
    chart_of,
    drawable_text,
    filled_in,
    label_width,
)
from gridatlas.model.format import format_ratio
from gridatlas.model.study import Factor, Study
from gridatlas.table.decimals import Floats
from gridatlas.table.study_table import Grid

ROW, WIDTH, TICK = 28, 240, 7
"""Pixels of a row from top to bottom, of the axis of ratios, and of half a tick."""
MOST_LEVELS = 20
"""Levels up to which they have rows."""
MOST_TICKS = 6
"""Labels along the axis of ratios."""


@dataclass(frozen=True, slots=True)
class RatioRow:
    """One level.

    Attributes:
        ratios: To the reference, of the cells that both have.
        mean: The geometric mean of them.
        text: The mean with the lowest and the highest; what it is of the reference.
        label: The row in words, for a screen reader.
    """

    name: str
    ratios: tuple[float, ...]
    mean: float
    text: str
    label: str
    best: bool = False
    reference: bool = False


@dataclass(frozen=True, slots=True)
class Ratios(Plot):
    """All that a plot of ratios shows; equal plots give equal drawings.

    Attributes:
        x_title: What is divided by what.
        row_title: What the rows are.
        of_speed: Whether ratios are turned, so that faster is more.
        better: Which values of the metric are better.
        cells: How many a level has at most.
    """

    KIND, PLACE, ORDER = "ratios", "main", 5
    OF_FACET = True

    title: str
    description: str
    x_title: str
    row_title: str
    reference: str
    of_speed: bool
    better: str
    cells: int
    rows: tuple[RatioRow, ...]

    @classmethod
    def of(
        cls, assessment: Assessment, grids: Sequence[Grid], facet: Factor | None
    ) -> tuple[Ratios, ...]:
        """The levels of a facet that is compared; none where values have intervals."""
        study, grids = assessment.study, grids or tuple(assessment.results.grids.values())
        if facet is None or not assessment.log or study.roles.get(facet.id, "choice") != "choice":
            return ()
        tests = (assessment.uncertainty.of(grid) for grid in grids)
        if any(defined(of.ends).any() or defined(of.ranges).any() for of in tests):
            return ()
        logs = _logs(assessment, grids, facet)
        if not 2 <= len(logs) <= MOST_LEVELS:
            return ()
        return (_ratios(assessment, facet, logs),)

    @classmethod
    def why_none(cls, study: Study, facet: Factor | None) -> tuple[str, str, str]:
        """Not compared by ratios, or measured several times."""
        return (
            f"as: ratios for {facet.id if facet else 'grids'}, whose values aren't compared by "
            "ratios, or were measured several times",
            "write `as: forest`, which shows what was tested",
            "levels of a choice, and a metric such as a time, measured once in each cell",
        )

    @property
    def before_values(self) -> bool:
        """Differences of pairs are ratios, too."""
        return True

    @property
    def columns(self) -> Column:
        """The heads of its data table."""
        return (self.row_title, self.x_title, "Lowest", "Highest", "Cells")

    def table(self) -> list[Column]:
        """The rows of its data table."""
        return [
            (row.name, *map(format_ratio, (row.mean, min(row.ratios), max(row.ratios))),
             f"{len(row.ratios):,}")
            for row in self.rows
        ]  # fmt: skip

    def records(self) -> list[dict[str, object]]:
        """Every row with its numbers, as a table of data."""
        return [
            {
                "level": row.name,
                "reference": self.reference,
                "geometric_mean": row.mean,
                "lowest": min(row.ratios),
                "highest": max(row.ratios),
                "cells": len(row.ratios),
            }
            for row in self.rows
        ]

    def specification(self) -> Specification:
        """Its Vega-Lite specification."""
        return ratios_specification(self)


# --- of a study -----------------------------------------------------------------------------------


def _logs(assessment: Assessment, grids: Sequence[Grid], facet: Factor) -> Mapping[str, Floats]:
    """By label of a level the logarithms of its cells, in the same places for all of them."""
    at = assessment.study.facets.index(facet)
    combinations = {grid.levels[:at] + grid.levels[at + 1 :]: grid for grid in grids}
    found: dict[str, Floats] = {}
    for level in assessment.results.levels(facet.id):
        parts = []
        for of in combinations.values():
            grid = assessment.results.neighbour(of, facet.id, level.key)
            values = grid.columns.value if grid and not grid.aggregate else None
            parts.append(
                np.full(len(of.columns), np.nan)
                if values is None
                else np.log(np.where(values.defined, values.floats, np.nan))
            )
        if parts and np.isfinite(logs := np.concatenate(parts)).any():
            found[level.label] = logs
    return found


def _ratios(assessment: Assessment, facet: Factor, logs: Mapping[str, Floats]) -> Ratios:
    study = assessment.study
    of_speed = study.metric.falls and study.metric.unit in TIMES
    sign = -1 if of_speed else 1
    ranked = sorted(logs, key=lambda name: _mean_of_shared(logs, name))
    if not study.metric.falls:
        ranked.reverse()
    key = study.baseline.get(facet.id)
    base = facet.level(key).label if key else ""
    reference = base if base in logs else ranked[len(ranked) // 2]
    what = "Speed" if of_speed else study.metric.name
    rows = []
    for place, name in enumerate(ranked):
        each = sign * (logs[name] - logs[reference])
        ratios = np.exp(each[np.isfinite(each)]).tolist()
        if not ratios:
            continue
        mean = math.exp(float(np.nanmean(each)))
        low, high = (format_ratio(end).removesuffix(" ×") for end in (min(ratios), max(ratios)))
        text = f"{format_ratio(mean)} ({low}–{high})"
        is_reference = name == reference
        words = "the reference" if is_reference else f"{text} over {len(ratios):,} cells"
        rows.append(
            RatioRow(name, tuple(ratios), mean, "reference" if is_reference else text,
                     f"{name}: {words}", place == 0, is_reference)
        )  # fmt: skip
    title = f"{study.title}: {study.metric.name} by {facet.label}"
    return Ratios(
        title=title,
        description=f"{title}. {what} relative to {reference} in the same cell, geometric mean and "
        f"range. {'; '.join(row.label for row in rows)}.",
        x_title=f"{what} relative to {reference}",
        row_title=facet.label,
        reference=reference,
        of_speed=of_speed,
        better=study.metric.better or "",
        cells=max(len(row.ratios) for row in rows),
        rows=tuple(rows),
    )


def _mean_of_shared(logs: Mapping[str, Floats], name: str) -> float:
    """The mean of a level over the cells that all levels have; over its own without any."""
    shared = np.isfinite(np.stack([*logs.values()])).all(axis=0)
    return float(np.nanmean(logs[name][shared] if shared.any() else logs[name]))


# --- its specification ----------------------------------------------------------------------------


def ratios_specification(plot: Ratios) -> dict[str, Any]:
    """The complete Vega-Lite specification of a plot of ratios, with its data inline."""
    spec = chart_of("rows")
    spec |= {"description": plot.description, "width": WIDTH, "height": ROW * len(plot.rows)}
    data: dict[str, list[dict[str, Any]]] = {layer["name"]: [] for layer in spec["layer"]}
    data["zero"].append({"value": 1})
    for place, row in enumerate(plot.rows):
        at = {"top": (place + 0.5) * ROW}
        prefix = "bold-" if row.best else ""
        colour = INK if row.reference else ACCENT if row.best else REST
        look = {"colour": colour, "fill": colour, "size": 60}
        ends = {"top": at["top"] - TICK, "bottom": at["top"] + TICK, "width": 1, "opacity": 0.45}
        if not row.reference:
            data["ticks"] += [{**look, **ends, "value": ratio} for ratio in row.ratios]
        data["dots"].append({**look, **at, "value": row.mean})
        data[f"{prefix}names"].append({**at, "name": drawable_text(row.name, LABEL_LIMIT)})
        data[f"{prefix}texts"].append({**at, "text": row.text})
        data["rows"].append({"top": place * ROW, "bottom": (place + 1) * ROW, "label": row.label})
    spec = filled_in(spec, data)
    every = [ratio for row in plot.rows for ratio in row.ratios]
    low, high = min(*every, 1 / 1.1), max(*every, 1.1)
    room = (high / low) ** 0.04
    left = -label_width(row.name for row in plot.rows) - 12
    for layer in spec["layer"]:
        x = layer["encoding"]["x"]
        if x.get("field") == "value":
            x["title"] = drawable_text(plot.x_title, TITLE_LIMIT)
            x["scale"] |= {"type": "log", "domain": [low / room, high * room]}
            x["axis"] |= {"values": _marked(low / room, high * room), "labelExpr": LABELLED}
        elif layer["name"] == "rows":
            layer["encoding"]["x"] = {"value": left}
    return spec


LABELLED = "format(datum.value, '~r') + ' ×'"
"""How the axis labels its ticks: an expression without any text from data."""
_STEPS = (1, 1.2, 1.4, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8.5), (1, 1.4, 2, 3, 5, 7), (1, 2, 5), (1,)


def _marked(low: float, high: float) -> list[float]:
    """Round ratios between two, as many as have room."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in _STEPS:
        found = [float(f"{step * 10.0**power:.6g}") for power in powers for step in steps]
        inside = [ratio for ratio in found if low <= ratio <= high]
        if len(inside) <= MOST_TICKS:
            return inside
    every = math.ceil(len(inside) / MOST_TICKS)
    return inside[::every]
