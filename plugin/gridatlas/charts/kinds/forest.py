"""A forest plot: a row per benchmark or level with the difference and its interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from gridatlas.analysis.said import Answer, Assertion, Grade
from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import Ends
from gridatlas.charts.kinds import Plot, Specification
from gridatlas.charts.plotting import (
    ACCENT,
    INK,
    LABEL_LIMIT,
    LETTER,
    LINE,
    TITLE_LIMIT,
    Column,
    as_data,
    chart_of,
    drawable_text,
    filled_in,
    label_width,
    padded,
)
from gridatlas.model.format import (
    difference_unit,
    format_difference,
    mean_decimals,
    name_with_unit,
    value_with_unit,
)
from gridatlas.model.study import Factor, Level, Study
from gridatlas.table.differences import ALL_PAIRS_UP_TO
from gridatlas.table.study_table import Grid

MINUS = " − "
ROW, WIDTH, NARROWEST = 26, 250, 110
"""Pixels of a row from top to bottom, and of the axis of differences at most and at least."""
ROOM = 455
"""Pixels of names, axis and texts together up to which these are read on a phone."""


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

    KIND, PLACE, ORDER = "forest", "ahead", 3
    OF_FACET = True

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

    @classmethod
    def of(
        cls, assessment: Assessment, grids: Sequence[Grid], facet: Factor | None
    ) -> tuple[Forest, ...]:
        """The levels of a facet against one another; none where no difference was tested."""
        plot = forest_plot(assessment, facet) if facet else None
        return (plot,) if plot else ()

    @classmethod
    def why_none(cls, study: Study, facet: Factor | None) -> tuple[str, str, str]:
        """Levels that aren't compared, or whose difference can't be tested."""
        if facet and facet.id not in study.baseline and facet.id not in study.compare:
            return (
                f"as: forest for {facet.id}, whose levels aren't compared",
                f"write `roles: {{{facet.id}: choice}}` in {study.id}, or name another facet",
                "a facet whose levels are a choice",
            )
        return (
            f"as: forest for {facet.id if facet else 'grids'}, where no difference can be tested",
            "write `as: delta`, which shows the differences without a test",
            "levels whose difference has an interval",
        )

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

    def specification(self) -> Specification:
        """Its Vega-Lite specification."""
        return forest_specification(self)


# --- of a study -----------------------------------------------------------------------------------

CERTAINTY: Mapping[Grade, str] = {
    "not-shown": "not shown",
    "reading-dependent": "depends on the reading",
}
"""Grades in words that aren't their own."""


def forest_plot(assessment: Assessment, facet: Factor) -> Forest | None:
    """The levels of a facet against one another: each pair, or one pair by another facet.

    The numbers are those of the answers.

    Returns:
        None where no difference was tested.
    """
    study = assessment.study
    whole = _pairs(assessment.answers.get(facet.id), facet, study)
    if not whole:
        return None
    rows, row_title = list(whole), facet.label
    same = len(whole) > 1 and len({pair.levels[1] for pair in whole}) == 1
    names = [pair.levels[0] if same else MINUS.join(pair.levels) for pair in whole]
    if len(whole) == 1:
        parts = [*_parts(assessment, facet, whole[0])]
        if parts:
            row_title = parts[0][0].label
            names = [level.label for _, level, _ in parts]
            rows = [pair for _, _, pair in parts]
            if len(parts) > 1:
                names.append("On average")
                rows += whole
    sides = zip(*(pair.levels for pair in rows), strict=True)
    first, second = (side[0] if len(set(side)) == 1 else "" for side in sides)
    ratio = rows[0].unit == "×"
    unit, decimals = ("%", 1) if ratio else (study.metric.unit, mean_decimals(study))
    minus = f"{first or 'level'} − {second or 'level'}"
    title = f"{facet.label}: difference in {study.metric.name}"
    drawn = [
        _forest_row(name, pair, unit, decimals, len(whole) == 1 and pair is whole[0])
        for name, pair in zip(names, rows, strict=True)
    ]
    return Forest(
        title=title,
        description=f"{title}, {minus}. {'; '.join(row.label for row in drawn)}.",
        x_title=name_with_unit(minus, "%" if ratio else difference_unit(unit)),
        row_title=row_title,
        first=first,
        second=second,
        better=study.metric.better or "",
        decimals=decimals,
        rows=tuple(drawn),
        alike=None if study.alike is None or ratio else float(study.alike),
    )


def _pairs(answer: Answer | None, facet: Factor, study: Study) -> list[Assertion]:
    """The tested pairs of a facet's levels; they hold no more surely than the answer.

    As in heatmaps the later level is the first of a pair, and a baseline the second.
    """
    if answer is None:
        return []
    key = study.baseline.get(facet.id)
    order = [of.label for of in sorted(facet.levels, key=lambda level: level.key != key)]
    if len(order) > ALL_PAIRS_UP_TO:
        order = order[: key in [level.key for level in facet.levels]]
    found = []
    for pair in answer.compared:
        if pair.factor == facet.id:
            depends = answer.grade == "reading-dependent" and pair.p <= 0.05
            graded = replace(pair, grade=answer.grade) if depends else pair
            first, second = (order.index(of) if of in order else len(order) for of in pair.levels)
            found.append(_turned(graded) if first < second else graded)
    return found


def _parts(
    assessment: Assessment, facet: Factor, whole: Assertion
) -> Iterator[tuple[Factor, Level, Assertion]]:
    """The same two levels at each level of another facet, in the same direction."""
    for other in assessment.study.facets:
        found = []
        for level in other.levels:
            answer = assessment.answers.get(f"{other.id}/{level.slug}")
            pairs = _pairs(answer, facet, assessment.study)
            if other is facet or level.aggregate or len(pairs) != 1:
                continue
            [pair] = pairs
            found.append((other, level, pair if pair.levels == whole.levels else _turned(pair)))
        if found:
            yield from found
            return


def _turned(pair: Assertion) -> Assertion:
    """The same difference, seen from the other level."""

    def other(value: float) -> float:
        return 1 / (1 + value) - 1 if pair.unit == "×" else -value

    estimate, low, high = map(other, (pair.estimate, pair.high, pair.low))
    return replace(pair, levels=pair.levels[::-1], estimate=estimate, low=low, high=high)


def _forest_row(name: str, pair: Assertion, unit: str, decimals: int, whole: bool) -> ForestRow:
    ratio = pair.unit == "×"  # of logs, in percent
    value, *ends = ((100 if ratio else 1) * of for of in (pair.estimate, pair.low, pair.high))
    difference = format_difference(value, decimals)
    words = value_with_unit(difference, unit, difference=not ratio)
    text, interval = difference, None
    if all(map(isfinite, ends)):
        interval = (ends[0], ends[1])
        between = " to ".join(format_difference(end, decimals) for end in ends)
        text = f"{difference} ({between})"
        words += f", 95 % interval {between}, {pair.population}"
    return ForestRow(
        name,
        value,
        interval,
        pair.population,
        text,
        f"{name}: {words}",
        CERTAINTY.get(pair.grade, pair.grade),
        pair.grade in ("clear", "likely"),
        whole,
    )


# --- its specification ----------------------------------------------------------------------------


def forest_specification(forest: Forest) -> dict[str, Any]:
    """The complete Vega-Lite specification of a forest plot, with its data inline."""
    spec = chart_of("forest")
    texts = label_width(row.text for row in forest.rows)
    limit = max(LABEL_LIMIT, ROOM - NARROWEST - texts)
    above = any(len(row.name) * LETTER > limit for row in forest.rows)  # long names: each its line
    names = 0 if above else label_width((row.name for row in forest.rows), limit)
    width = max(NARROWEST, min(ROOM if above else WIDTH, ROOM - names - texts - LINE * above))
    spec |= {"description": forest.description, "width": width}
    spec["height"] = (ROW + LINE * above) * len(forest.rows)
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
        name = drawable_text(row.name, ROOM if above else limit)
        data[f"{prefix}names"].append({"row": place, "name": name})
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
    line = {"limit": ROOM, "align": "left", "dx": 0, "dy": -LINE} if above else {"limit": limit}
    looks = {"names": line, "texts": {"dx": width + 10}}
    for layer in spec["layer"]:
        encoding = layer["encoding"]
        if layer["name"] in ("alike", "zero", "intervals", "points"):
            encoding["x"]["title"] = drawable_text(forest.x_title, TITLE_LIMIT)
            encoding["x"]["scale"]["domain"] = domain
        if "y" in encoding:
            encoding["y"]["scale"]["domain"] = list(range(len(forest.rows)))
        if layer["name"] == "rows":
            encoding |= {"x": {"value": -names - 12}, "x2": {"value": width}}
        layer["mark"] |= looks.get(layer["name"].removeprefix("bold-"), {})
    return spec
