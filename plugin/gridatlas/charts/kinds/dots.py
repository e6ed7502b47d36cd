"""A ranked dot plot: each setting with its mean and 95 % interval, the best one first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, Literal

import numpy as np

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import Ends
from gridatlas.charts.kinds import CannotShow, Place, Plot, Specification
from gridatlas.charts.plotting import (
    ACCENT,
    INK,
    LABEL_LIMIT,
    TITLE_LIMIT,
    Column,
    Scope,
    as_data,
    canonical,
    chart_of,
    drawable_text,
    filled_in,
    label_width,
    padded,
    shortened,
)
from gridatlas.charts.tables import Tables, is_ordered, narrow_and_wide, scope_of, tables_of
from gridatlas.model.format import format_measured, name_with_unit, to, value_with_unit
from gridatlas.model.study import Factor, Study, point_slug
from gridatlas.statistics.interval import Interval, mean_interval
from gridatlas.table.decimals import Floats
from gridatlas.table.study_table import Grid

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

    KIND, PLACE, ORDER = "dots", "settings", 1
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

    @classmethod
    def place(cls, study: Study) -> Place:
        """Of names along one axis it is the picture itself."""
        return cls.PLACE if study.second else "main"

    @classmethod
    def of(
        cls, assessment: Assessment, grids: Sequence[Grid], facet: Factor | None = None
    ) -> tuple[DotPlot, ...]:
        """The settings ranked by their mean.

        Args:
            grids: Of one table, or of one per benchmark or seed; aggregates may be among them.

        Returns:
            None where there is nothing to choose, where too many settings share the best value,
            where no interval is known, or where a line along the one axis shows the same.
        """
        study = assessment.study
        tables = None if facet else tables_of(assessment, grids)
        along = not study.second and is_ordered(study, study.x)
        if tables is None or along or not study.has_best:
            return ()
        plot = dot_plot(tables, always=not study.second)
        return (plot,) if plot else ()

    @classmethod
    def asked(
        cls, assessment: Assessment, grids: Sequence[Grid], facet: Factor | None = None
    ) -> tuple[DotPlot, ...]:
        """As `of`, also of values without any interval."""
        study, tables = assessment.study, tables_of(assessment, grids)
        if study.metric.better is None:
            raise CannotShow(
                f"as: dots for {study.id}, whose metric has no `better`: none of them is the best",
                "write `as: profile`, or `better: higher` or `better: lower` in study.yml",
                "a metric that says which values are better",
            )
        if study.axes_are_conditions:
            raise CannotShow(
                f"as: dots for {study.id}, whose axes are conditions: none of them is the best",
                "write `as: profile`",
                "a study whose axes are settings to choose from",
            )
        plot = dot_plot(tables, always=True) if tables else None
        if plot is None:
            number = len(study.x.levels) * len(study.y.levels)
            raise CannotShow(
                f"as: dots for {number:,} settings"
                if number > SETTINGS_UP_TO
                else "as: dots for settings of which most are alike, or fewer than two have a "
                "value",
                "remove the line, which shows the heatmap",
                f"2 to {SETTINGS_UP_TO:,} settings with different values",
            )
        return (plot,)

    @property
    def cell_keys(self) -> tuple[str, ...]:
        """Those of its rows."""
        return tuple(row.key for row in self.shown)

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
        return canonical({"dots": replace(self, rows=self.shown)})

    def specification(self) -> Specification:
        """Its Vega-Lite specification."""
        return dots_specification(self)


def _better(plot: DotPlot, first: DotRow, second: DotRow) -> bool:
    sign = 1 if plot.better == "higher" else -1
    return sign * first.value > sign * second.value


def _interval_head(scope: Scope) -> str:
    return f"95 % interval, for {scope}" if scope else "95 % interval"


# --- of a study -----------------------------------------------------------------------------------

_ALIKE = 1e-9
"""Means that differ by less are equal: sums of the same values in another order."""
SETTINGS_UP_TO = 2_500
"""Settings up to which they are ranked."""


def dot_plot(tables: Tables, *, always: bool = False) -> DotPlot | None:
    """As `DotPlot.of`, also of conditions; `always` also of values without any interval."""
    study = tables.study
    if len(study.x.levels) * len(study.y.levels) > SETTINGS_UP_TO:
        return None
    decimals = study.metric.decimals or (0 if tables.kind == "one" else 1)
    rows, missing = _means(tables, decimals)
    sign = -1 if study.metric.falls else 1
    rows.sort(key=lambda row: -sign * round(row.value, 9))
    if len(rows) < 2 or (not always and not any(row.interval for row in rows)):
        return None
    best = rows[0].value
    rows = [replace(row, best=abs(row.value - best) < _ALIKE) for row in rows]
    if 2 * sum(row.best for row in rows) > len(rows):
        return None
    scopes = _scopes(tables)
    plot = DotPlot(
        title=f"{tables.title}: settings by their mean {study.metric.name}",
        description="",
        x_title=name_with_unit(study.metric.name, study.metric.unit),
        setting=" × ".join(factor.label for factor in _several(study)),
        kind=tables.kind,
        over=tables.names,
        missing=missing,
        scope=scopes[0],
        wide_scope=scopes[1],
        better=study.metric.better or "higher",
        decimals=decimals,
        rows=tuple(rows),
    )
    return replace(plot, description=_dots_described(study, plot))


def _means(tables: Tables, decimals: int) -> tuple[list[DotRow], int]:
    """The settings that every table has, unranked; how many lack somewhere."""
    study, found, missing = tables.study, [], 0
    of_grids = np.stack([grid.columns.value.floats for grid in tables.grids], axis=1)
    for x in study.x.levels:
        for y in study.y.levels:
            row = tables.lead.row((x.key, y.key))
            values = of_grids[row]
            if np.isnan(values).any():
                missing += not np.isnan(values).all()
                continue
            value, narrow, wide = _estimate(tables, row, values)
            levels = tuple(
                level.label
                for level, factor in ((x, study.x), (y, study.y))
                if len(factor.levels) > 1
            )
            text = format_measured(value, decimals)
            words = value_with_unit(text, study.metric.unit)
            if narrow:
                words += f", 95 % interval {to(narrow, decimals)}"
            label = f"{BETWEEN.join(levels)}: {words}"
            found.append(DotRow(point_slug(x, y), levels, value, narrow, wide, text, label))
    return found, missing


def _estimate(tables: Tables, row: int, given: Floats) -> tuple[float, Ends | None, Ends | None]:
    """The mean of a setting, its interval, and that of a wider scope."""
    if tables.aggregate is not None:
        value = float(tables.aggregate.columns.value.floats[row])
        if not isnan(value):
            return value, *narrow_and_wide(tables.uncertainty(tables.aggregate), row)
    tests = [tables.uncertainty(grid) for grid in tables.grids]
    if len(tests) == 1:
        return float(given[0]), *narrow_and_wide(tests[0], row)
    mean = sum(given.tolist()) / len(given)
    if tables.kind == "seeds":
        return mean, None, None
    values = given.tolist()
    wide = _together(values, [test.ends[row] for test in tests])
    narrow = _together(values, [test.by_trials[row] for test in tests])
    if wide is None or narrow is None:
        return mean, wide, None
    return mean, narrow, None if narrow == wide else wide


def _together(values: Sequence[float], ends: Sequence[Floats]) -> Ends | None:
    """The interval of the mean of benchmarks, which ask different items."""
    parts = [(value, Interval(*end.tolist())) for value, end in zip(values, ends, strict=True)]
    interval = mean_interval(sum(values) / len(values), parts, independent=True)
    return None if isnan(interval.low) else (interval.low, interval.high)


def _scopes(tables: Tables) -> tuple[Scope, Scope]:
    """What the intervals of a dot plot hold for: the one that is drawn, and the wider one."""
    if tables.kind == "seeds":
        return "other seeds", ""
    scope = scope_of(tables.study, tables.uncertainty(tables.lead))
    return scope, "questions of the kind" if scope else ""


def _dots_described(study: Study, plot: DotPlot) -> str:
    rows, end = plot.rows, "lowest" if plot.better == "lower" else "highest"
    first, last = rows[0], rows[-1]
    best = [row.name for row in rows if row.best]
    lead = best[0] if len(best) == 1 else f"{len(best)} settings"
    more = f" The {SHOWN} {end} of {len(rows):,} are drawn." if len(rows) > SHOWN else ""
    return (
        f"{plot.title}. {lead} {'has' if len(best) == 1 else 'have'} the {end} of "
        f"{len(rows):,} means, {value_with_unit(first.text, study.metric.unit)}; at the other end "
        f"is {last.name} with {value_with_unit(last.text, study.metric.unit)}.{more}"
    )


def _several(study: Study) -> Sequence[Factor]:
    """The axes that have several levels."""
    factors = [factor for factor in (study.x, study.y) if len(factor.levels) > 1]
    return factors or (study.x, study.y)


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
