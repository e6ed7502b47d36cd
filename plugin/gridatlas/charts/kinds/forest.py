"""A forest plot: a row per benchmark or level with the difference and its interval."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from gridatlas.assessment.uncertainty import Ends
from gridatlas.charts.kinds import Expected, Plot, Specification
from gridatlas.charts.plotting import (
    ACCENT,
    INK,
    LABEL_LIMIT,
    TITLE_LIMIT,
    Column,
    as_data,
    chart_of,
    drawable_text,
    filled_in,
    label_width,
    padded,
)
from gridatlas.model.format import format_difference

ROW, WIDTH = 26, 250
"""Pixels of a row from top to bottom, and of the axis of differences."""


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One difference.

    Attributes:
        name: The benchmark, or the level that is compared.
        value: First minus second level, in the metric's unit.
        interval: The 95 % interval of the test that decides; None where nothing can be tested.
        scope: What it holds for, in words: `for other seeds (3 here)`.
        text: The difference and its interval in words, or why there is none.
        label: The row in words, for a screen reader.
        certainty: Grade of the difference in words, adjusted for the number of rows.
        shown: Whether that grade says that there is a difference.
        whole: Whether it is over all others.
    """

    name: str
    value: float
    interval: Ends | None
    scope: str
    text: str
    label: str
    certainty: str = ""
    shown: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Forest(Plot):
    """All that a forest plot shows; equal plots give equal drawings.

    Attributes:
        x_title: What is subtracted from what, with the unit.
        row_title: What the rows are.
        first, second: Names of the levels; the first may differ from row to row, and is then empty.
        better: Which values of the metric are better.
        alike: The largest difference that doesn't matter, in the metric's unit; None without one.
    """

    KIND = "forest"

    title: str
    description: str
    x_title: str
    row_title: str
    first: str
    second: str
    better: str
    decimals: int
    rows: tuple[ForestRow, ...]
    alike: float | None = None

    @property
    def columns(self) -> Column:
        """The heads of its data table."""
        return (self.row_title, self.x_title, "95 % interval", "It holds", "Difference shown")

    def table(self) -> list[Column]:
        """The rows of its data table."""
        return [
            (row.name, self.signed(row.value), self._ends(row.interval), row.scope, row.certainty)
            for row in self.rows
        ]

    def signed(self, value: float) -> str:
        """A difference with its sign."""
        return format_difference(value, self.decimals)

    def _ends(self, interval: Ends | None) -> str:
        return " to ".join(map(self.signed, interval)) if interval else "–"

    def records(self) -> list[dict[str, object]]:
        """Every row with its numbers, as a table of data."""
        none = (None, None)
        return [
            {
                "row": row.name,
                "difference": row.value,
                **dict(zip(("interval_low", "interval_high"), row.interval or none, strict=True)),
                "holds": row.scope,
                "difference_shown": row.certainty,
            }
            for row in self.rows
        ]

    def to_json(self) -> str:
        """The plot as canonical JSON: what its drawing depends on."""
        return json.dumps({"forest": asdict(self)}, sort_keys=True, ensure_ascii=False)

    def specification(self) -> Specification:
        """Its Vega-Lite specification."""
        return forest_specification(self)

    def expected(self) -> Expected:
        """A row for each difference."""
        return {"rect mark": ("rows", len(self.rows))}


# --- its specification ----------------------------------------------------------------------------


def forest_specification(forest: Forest) -> dict[str, Any]:
    """The complete Vega-Lite specification of a forest plot, with its data inline."""
    spec = chart_of("forest")
    spec |= {
        "description": forest.description,
        "width": WIDTH,
        "height": ROW * len(forest.rows),
    }
    drawn = [row for row in forest.rows if row.interval]
    ends = [0.0, *(end for row in drawn for end in (row.interval or ()))]
    data: dict[str, list[dict[str, Any]]] = {layer["name"]: [] for layer in spec["layer"]}
    data["zero"].append({"value": 0})
    if forest.alike is not None:
        alike = -forest.alike, forest.alike
        data["alike"].append(as_data(alike))
        ends += alike
    for place, row in enumerate(forest.rows):
        prefix = "bold-" if row.whole else ""
        data[f"{prefix}names"].append({"row": place, "name": drawable_text(row.name, LABEL_LIMIT)})
        data[f"{prefix}texts"].append({"row": place, "text": row.text})
        data["rows"].append({"row": place, "label": row.label})
        if row.interval is None:
            continue
        look = {
            "row": place,
            "colour": ACCENT if row.shown else INK,
            "shape": "diamond" if row.whole else "circle",
        }
        data["points"].append(look | {"value": row.value})
        data["intervals"].append(look | as_data(row.interval))
    spec = filled_in(spec, data)
    domain = list(padded(ends))
    for layer in spec["layer"]:
        encoding = layer["encoding"]
        if layer["name"] in ("alike", "zero", "intervals", "points"):
            encoding["x"]["title"] = drawable_text(forest.x_title, TITLE_LIMIT)
            encoding["x"]["scale"]["domain"] = domain
        if "y" in encoding:
            encoding["y"]["scale"]["domain"] = list(range(len(forest.rows)))
        if layer["name"] == "rows":
            encoding["x"] = {"value": -label_width(row.name for row in forest.rows) - 12}
    return spec
