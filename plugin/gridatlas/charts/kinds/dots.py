"""A ranked dot plot: each setting with its mean and 95 % interval, the best one first."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from gridatlas.assessment.uncertainty import Ends
from gridatlas.charts.kinds import Expected, Plot, Specification
from gridatlas.charts.plotting import (
    ACCENT,
    INK,
    LABEL_LIMIT,
    TITLE_LIMIT,
    Column,
    Scope,
    as_data,
    chart_of,
    drawable_text,
    filled_in,
    label_width,
    padded,
    shortened,
)
from gridatlas.model.format import to

SHOWN = 20
"""Settings that are drawn; a plot of more has the best of them."""
BETWEEN = " × "
"""What is between the levels of a setting."""
ROW, WIDTH = 17, 290
"""Pixels of a row from top to bottom, and of the axis of values."""


@dataclass(frozen=True, slots=True)
class DotRow:
    """One setting.

    Attributes:
        key: Address of its cell within a grid, `<x>,<y>`. In a page's SVG it is the `data-cell` of
            the row: each heatmap of the page has the cell of that address.
        levels: Their labels; of an axis with a single level none.
        value: Its mean, in the metric's unit.
        interval: The 95 % interval that is drawn; None where none is known.
        wide: The one of a wider scope, for the table; None where there is none.
        text: The value with its decimals.
        label: The row in words, for a screen reader.
        best: Whether no other has a better mean.
    """

    key: str
    levels: tuple[str, ...]
    value: float
    interval: Ends | None
    wide: Ends | None
    text: str
    label: str
    best: bool = False

    @property
    def name(self) -> str:
        """Its levels as a label: `0.4 × 2000`."""
        return BETWEEN.join(self.levels)


@dataclass(frozen=True, slots=True)
class DotPlot(Plot):
    """All that a ranked dot plot shows; equal plots give equal drawings.

    Attributes:
        title: What it is of, without a full stop.
        x_title: The metric with its unit.
        setting: What the settings are levels of: `Ratio × Local window size`.
        kind: What the means are over: the cells of one grid, benchmarks, or seeds.
        over: Names of the benchmarks or seeds; of one grid its own, if it has one.
        missing: Settings that some benchmark lacks, and that are left out.
        scope, wide_scope: What the intervals hold for.
        better: Which end is the best.
        decimals: Of the texts of values.
        rows: All settings with a value, the best first.
        dots: Whether values are drawn without any interval since someone asked for it.
    """

    KIND = "dots"
    IS_IMAGE = False

    title: str
    description: str
    x_title: str
    setting: str
    kind: Literal["one", "benchmarks", "seeds"]
    over: tuple[str, ...]
    missing: int
    scope: Scope
    wide_scope: Scope
    better: Literal["higher", "lower"]
    decimals: int
    rows: tuple[DotRow, ...]

    @property
    def shown(self) -> tuple[DotRow, ...]:
        """The rows that are drawn."""
        return self.rows[:SHOWN]

    @property
    def band(self) -> Ends | None:
        """The interval of the best setting; None without one, and where several are the best."""
        best = [row for row in self.rows if row.best]
        return best[0].interval if len(best) == 1 else None

    @property
    def columns(self) -> Column:
        """The heads of its data table."""
        heads = [self.setting, self.x_title]
        if any(row.interval for row in self.rows):
            heads.append(_interval_head(self.scope))
        if any(row.wide for row in self.rows):
            heads.append(_interval_head(self.wide_scope))
        return tuple(heads)

    def table(self) -> list[Column]:
        """The rows of its data table: those that are drawn."""
        found = []
        for row in self.shown:
            texts = [row.name, row.text]
            if any(other.interval for other in self.rows):
                texts.append(self._ends(row.interval))
            if any(other.wide for other in self.rows):
                texts.append(self._ends(row.wide))
            found.append(tuple(texts))
        return found

    def _ends(self, interval: Ends | None) -> str:
        return to(interval, self.decimals) if interval else "–"

    def records(self) -> list[dict[str, object]]:
        """Every setting with its numbers, as a table of data."""
        none = (None, None)
        return [
            {
                "rank": 1 + sum(_better(self, other, row) for other in self.rows),
                "cell": row.key,
                "setting": row.name,
                "mean": row.value,
                **dict(zip(("interval_low", "interval_high"), row.interval or none, strict=True)),
                "holds_for": self.scope if row.interval else "",
                **dict(zip(("wider_low", "wider_high"), row.wide or none, strict=True)),
                "wider_holds_for": self.wide_scope if row.wide else "",
            }
            for row in self.rows
        ]

    def to_json(self) -> str:
        """The plot as canonical JSON: what its drawing depends on."""
        drawn = replace(self, rows=self.shown)
        return json.dumps({"dots": asdict(drawn)}, sort_keys=True, ensure_ascii=False)

    def specification(self) -> Specification:
        """Its Vega-Lite specification."""
        return dots_specification(self)

    def expected(self) -> Expected:
        """A row for each setting that is drawn."""
        return {"rect mark": ("rows", len(self.shown))}


def _better(plot: DotPlot, first: DotRow, second: DotRow) -> bool:
    sign = 1 if plot.better == "higher" else -1
    return sign * first.value > sign * second.value


def _interval_head(scope: Scope) -> str:
    return f"95 % interval, for {scope}" if scope else "95 % interval"


# --- its specification ----------------------------------------------------------------------------


def dots_specification(plot: DotPlot) -> dict[str, Any]:
    """The complete Vega-Lite specification of a dot plot, with its data inline."""
    spec = chart_of("dots")
    rows = plot.shown
    spec |= {"description": plot.description, "width": WIDTH, "height": ROW * len(rows)}
    domain = padded(end for row in rows for end in (row.value, *(row.interval or ())))
    names = [
        drawable_text(BETWEEN.join(shortened(row.levels, BETWEEN)), LABEL_LIMIT) for row in rows
    ]
    data: dict[str, list[dict[str, Any]]] = {layer["name"]: [] for layer in spec["layer"]}
    if plot.band:
        data["band"].append(as_data(plot.band))
    for place, (row, name) in enumerate(zip(rows, names, strict=True)):
        look = {
            "row": place,
            "colour": ACCENT if row.best else INK,
            "width": 2.5 if row.best else 1.5,
            "opacity": 1 if row.best else 0.55,
            "size": 60 if row.best else 36,
        }
        data["dots"].append(look | {"value": row.value})
        if row.interval:
            data["intervals"].append(look | as_data(row.interval))
        prefix = "bold-" if row.best else ""
        data[f"{prefix}names"].append({"row": place, "name": name})
        data[f"{prefix}texts"].append({"row": place, "text": row.text})
        data["rows"].append({"row": place, "label": row.label})
    spec = filled_in(spec, data)
    left = label_width(names) + 12
    for layer in spec["layer"]:
        encoding = layer["encoding"]
        if layer["name"] in ("band", "intervals", "dots"):
            encoding["x"]["title"] = drawable_text(plot.x_title, TITLE_LIMIT)
            encoding["x"]["scale"]["domain"] = list(domain)
        if "y" in encoding:
            encoding["y"]["scale"]["domain"] = list(range(len(rows)))
        if layer["name"] == "rows":
            encoding["x"] = {"value": -left}
            encoding["x2"] = {"value": WIDTH + 12 + label_width([row.text for row in rows])}
    return spec
