"""Dots per seed: the main picture of what is held against a baseline, run several times."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gridatlas.assessment.assessment import Assessment
from gridatlas.charts.kinds import Plot, Specification
from gridatlas.charts.palette import PAGE
from gridatlas.charts.plotting import (
    INK,
    KEY_LIMIT,
    LABEL_LIMIT,
    LETTER,
    REST,
    TITLE_LIMIT,
    Column,
    chart_of,
    drawable_text,
    filled_in,
    label_width,
    padded,
    series_looks,
)
from gridatlas.model.format import format_measured, mean_decimals, name_with_unit, value_with_unit
from gridatlas.model.study import Factor, Level, Study, inline
from gridatlas.table.decimals import Floats
from gridatlas.table.study_table import Grid

ROW, GAP, WIDTH, BAR = 20, 14, 330, 7
"""Pixels of a row, between groups of rows, of the axis of values, and of half a mean's bar."""
MOST_LETTERS = 24
"""Letters of a label: as many as half of the axis has room for."""
MOST_GROUPS, MOST_LEVELS = 8, 5
"""Groups up to which each has rows, and levels up to which they are rows."""


@dataclass(frozen=True, slots=True)
class SeedRow:
    """One level, at one level of another facet.

    Attributes:
        group: That other level; empty without one.
        values: Of each seed, the mean over its cells.
        place: Of the level among those compared: 0 for the baseline.
        label: The row in words, for a screen reader.
    """

    group: str
    name: str
    values: tuple[float, ...]
    place: int
    text: str
    label: str

    @property
    def mean(self) -> float:
        """Over the seeds."""
        return sum(self.values) / len(self.values)


@dataclass(frozen=True, slots=True)
class Seeds(Plot):
    """All that such a plot shows; equal plots give equal drawings.

    Attributes:
        x_title: The metric with its unit.
        group_title: What the groups of rows are; empty without.
        repeat: What is repeated, within a sentence: `seed`.
        repeats: Their names.
        cells: How many cells a mean is over, at least and at most.
        better: Which values are better.
        ends: The lowest and the highest value that the metric can have; infinite without one.
    """

    KIND, PLACE, ORDER = "seeds", "main", 6
    OF_FACET = True

    title: str
    description: str
    x_title: str
    row_title: str
    group_title: str
    repeat: str
    repeats: tuple[str, ...]
    cells: tuple[int, int]
    better: str
    decimals: int
    ends: tuple[float, float]
    rows: tuple[SeedRow, ...]

    @classmethod
    def of(
        cls, assessment: Assessment, grids: Sequence[Grid], facet: Factor | None
    ) -> tuple[Seeds, ...]:
        """The levels of a facet with a baseline, where another one repeats the experiment."""
        study = assessment.study
        repeats = [of for of in study.facets if study.roles.get(of.id) == "replicate"]
        if facet is None or facet.id not in study.baseline or len(repeats) != 1 or assessment.log:
            return ()
        [repeat] = repeats
        numbers = [len(_measured(assessment, of)) for of in (facet, repeat)]
        if repeat is facet or min(numbers) < 2 or numbers[0] > MOST_LEVELS:
            return ()
        plot = _seeds(assessment, facet, repeat)
        return (plot,) if plot else ()

    @classmethod
    def why_none(cls, study: Study, facet: Factor | None) -> tuple[str, str, str]:
        """No baseline, or no repeats."""
        return (
            f"as: seeds for {facet.id if facet else 'grids'}, without a baseline or repeats",
            "write `as: forest`, which shows the differences",
            "a facet with a baseline, and one whose role is replicate",
        )

    @property
    def columns(self) -> Column:
        """The heads of its data table."""
        group = (self.group_title,) if self.group_title else ()
        return (*group, self.row_title, "Mean", *self.repeats)

    def table(self) -> list[Column]:
        """The rows of its data table: a column per seed."""
        found = []
        for row in self.rows:
            group = (row.group,) if self.group_title else ()
            texts = (format_measured(value, self.decimals) for value in row.values)
            found.append((*group, row.name, row.text, *texts))
        return found

    def records(self) -> list[dict[str, object]]:
        """Every dot with its numbers, as a table of data."""
        return [
            {"group": row.group, "level": row.name, self.repeat: repeat, "mean": value}
            for row in self.rows
            for repeat, value in zip(self.repeats, row.values, strict=True)
        ]

    def specification(self) -> Specification:
        """Its Vega-Lite specification."""
        return seeds_specification(self)


# --- of a study -----------------------------------------------------------------------------------


def _measured(assessment: Assessment, facet: Factor) -> list[Level]:
    return [level for level in assessment.results.levels(facet.id) if not level.aggregate]


def _group_facet(assessment: Assessment, used: Sequence[Factor]) -> Factor | None:
    """The facet whose levels have rows of their own: the only further one, of few levels."""
    others = [facet for facet in assessment.study.facets if facet not in used]
    several = [facet for facet in others if len(_measured(assessment, facet)) > 1]
    few = len(several) == 1 and len(_measured(assessment, several[0])) <= MOST_GROUPS
    return several[0] if few else None


def _seeds(assessment: Assessment, facet: Factor, repeat: Factor) -> Seeds | None:
    study = assessment.study
    base = study.baseline[facet.id]
    levels = sorted(_measured(assessment, facet), key=lambda level: level.key != base)
    repeats = _measured(assessment, repeat)
    group = _group_facet(assessment, (facet, repeat))
    rows: list[SeedRow] = []
    cells = []
    for at in _measured(assessment, group) if group else [None]:
        fixed = {group: at} if group and at else {}
        values = {
            (level.key, seed.key): _cells(assessment, {facet: level, repeat: seed} | fixed)
            for level in levels
            for seed in repeats
        }
        shared = np.isfinite(np.stack([*values.values()])).all(axis=0)
        if not shared.any():
            continue
        cells.append(int(shared.sum()))
        for place, level in enumerate(levels):
            means = [float(values[level.key, seed.key][shared].mean()) for seed in repeats]
            rows.append(_row(study, at.label if at else "", level, means, place, repeat))
    if not rows:
        return None
    bounds = study.metric.range or (-math.inf, math.inf)
    what = f"mean {study.metric.name} by {inline(facet.label)}, per {inline(repeat.label)}"
    title = f"{study.title}: {what}"
    return Seeds(
        title=title, description=f"{title}. {'; '.join(row.label for row in rows)}.",
        x_title=name_with_unit(study.metric.name, study.metric.unit), row_title=facet.label,
        group_title=group.label if group else "", repeat=inline(repeat.label),
        repeats=tuple(level.label for level in repeats),
        cells=(min(cells), max(cells)),
        better=study.metric.better or "",
        decimals=mean_decimals(study),
        ends=(float(bounds[0]), float(bounds[1])),
        rows=tuple(rows),
    )  # fmt: skip


def _cells(assessment: Assessment, at: Mapping[Factor, Level]) -> Floats:
    """The cells of all measured grids at some levels, one after another."""
    study = assessment.study
    keys = {study.facets.index(facet): level.key for facet, level in at.items()}
    return np.concatenate([
        np.where(grid.columns.value.defined, grid.columns.value.floats, np.nan)
        for grid in assessment.results.grids.values()
        if not grid.aggregate and all(grid.levels[place] == key for place, key in keys.items())
    ] or [np.zeros(0)])  # fmt: skip


def _row(
    study: Study, group: str, level: Level, means: Sequence[float], place: int, repeat: Factor
) -> SeedRow:
    decimals = mean_decimals(study)
    text = format_measured(sum(means) / len(means), decimals)
    ends = " to ".join(format_measured(end, decimals) for end in (min(means), max(means)))
    words = f"{value_with_unit(text, study.metric.unit)}, by {inline(repeat.label)} {ends}"
    name = f"{group}, {level.label}" if group else level.label
    return SeedRow(group, level.label, tuple(means), place, text, f"{name}: {words}")


# --- its specification ----------------------------------------------------------------------------


def seeds_specification(plot: Seeds) -> dict[str, Any]:
    """The complete Vega-Lite specification of dots per seed, with its data inline."""
    spec = chart_of("rows")
    data: dict[str, list[dict[str, Any]]] = {layer["name"]: [] for layer in spec["layer"]}
    levels = 1 + max(row.place for row in plot.rows)
    looks = [{"colour": REST}, *series_looks([str(at) for at in range(levels - 1)])]
    top = 0.0
    for at, row in enumerate(plot.rows):
        first = at % levels == 0
        top += GAP if first and at else 0
        middle = top + ROW / 2
        colour = looks[row.place]["colour"]
        here = {"top": middle, "colour": colour}
        data["intervals"].append({**here, "low": min(row.values), "high": max(row.values)})
        data["dots"] += [
            {**here, "value": value, "fill": PAGE["light"], "size": 30} for value in row.values
        ]
        bar = {**here, "top": middle - BAR, "bottom": middle + BAR, "width": 3, "opacity": 1}
        data["ticks"].append({**bar, "value": row.mean})
        label = drawable_text(_label(row), KEY_LIMIT)
        prefix = "bold-" if row.place else ""
        ink = INK if colour == REST else colour
        text = {"top": middle, "colour": ink, "value": max(row.values), "text": label}
        data[f"{prefix}labels"].append(text)
        if row.group and first:
            name = {"top": top + ROW * levels / 2, "name": drawable_text(row.group, LABEL_LIMIT)}
            data["bold-names"].append(name)
        data["rows"].append({"top": top, "bottom": top + ROW, "label": row.label})
        top += ROW
    spec = filled_in(spec, data) | {
        "description": plot.description, "width": WIDTH, "height": top
    }  # fmt: skip
    domain = _domain(plot)
    for layer in spec["layer"]:
        x = layer["encoding"]["x"]
        if x.get("field") in ("value", "low"):
            x["title"] = drawable_text(plot.x_title, TITLE_LIMIT)
            x["scale"]["domain"] = list(domain)
            x["axis"]["values"] = _ticks(max(domain[0], plot.ends[0]), min(domain[1], plot.ends[1]))
        elif layer["name"] == "rows":
            left = -label_width(row.group for row in plot.rows) - 12
            layer["encoding"]["x"] = {"value": left}
    return spec


def _label(row: SeedRow) -> str:
    """The text at the right of a row; of a long name its first and last words."""
    letters = MOST_LETTERS - len(row.text)
    half = letters // 2
    head = re.sub(r"(?<=\W)\w+$", "", row.name[:half]).rstrip()
    tail = re.sub(r"^\w+\W(?=.)", "", row.name[half + 1 - letters :])
    return f"{f'{head}…{tail}' if len(row.name) > letters else row.name} {row.text}"


def _domain(plot: Seeds) -> tuple[float, float]:
    """The ends of the axis, with room for the labels at the right of the dots."""
    low, high = padded(value for row in plot.rows for value in row.values)
    for row in plot.rows:
        share = min((len(_label(row)) * (LETTER + 0.5) + 14) / WIDTH, 0.6)
        high = max(high, low + (max(row.values) - low) / (1 - share))
    return low, high


def _ticks(low: float, high: float) -> list[float]:
    """Round values between two, at most seven: none that the metric can't have."""
    ten = 10.0 ** math.floor(math.log10((high - low) / 6))
    step = next(ten * of for of in (1, 2, 5, 10) if (high - low) / (ten * of) <= 6)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{at * step:.9g}") for at in range(first, last + 1)]
