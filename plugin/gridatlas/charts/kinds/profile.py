"""A profile: the mean by level of one axis, a line per benchmark, from the benchmark's mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import gt
from statistics import fmean, geometric_mean, median
from typing import Any, Literal

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import defined
from gridatlas.charts.kinds import CannotShow, Expected, Plot, Specification
from gridatlas.charts.kinds.heatmap import PRINTED_UP_TO
from gridatlas.charts.kinds.sweep import Rows
from gridatlas.charts.plotting import (
    NAME,
    TITLE_LIMIT,
    Column,
    Scope,
    chart_of,
    drawable_labels,
    drawable_text,
    filled_in,
    label_width,
    labels_below,
    names_at_ends,
    padded,
    series_looks,
)
from gridatlas.charts.tables import Tables, is_ordered, tables_of
from gridatlas.model.format import (
    MINUS,
    difference_unit,
    format_difference,
    format_measured,
    mean_decimals,
    name_with_unit,
    value_with_unit,
)
from gridatlas.model.study import Factor, Level, Study, inline
from gridatlas.table.study_table import Grid

STEP, NARROWEST, WIDEST = 24, 120, 300
"""Pixels from one level to the next, and of the axis of levels: two stand beside a dot plot."""
HEIGHT = 160
"""Pixels of the axis of values at least."""


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """The levels' means on one benchmark.

    Attributes:
        name: The benchmark; empty where there is one line.
        mean: Of all of its cells that count, in the metric's unit; where ratios are compared the
            geometric one, as of the levels.
        means: By level, over the same cells of the other axis; None where a level takes no part.
    """

    name: str
    mean: float
    means: tuple[float | None, ...]

    @property
    def offsets(self) -> tuple[float | None, ...]:
        """The levels' means less the mean."""
        return tuple(None if mean is None else mean - self.mean for mean in self.means)


@dataclass(frozen=True, slots=True)
class Profile(Plot):
    """All that a profile shows; equal profiles give equal drawings.

    Attributes:
        axis: Which of the two it is along.
        x_title: Its name with its unit.
        factor: Its name within a sentence.
        y_title: What the values are, with their unit.
        metric: The metric with its unit.
        kind: What each line is.
        levels: Labels, ordered where they are numbers.
        band: Half the width of the typical 95 % interval of a point; None where none is known.
        scope: What that interval holds for.
        domain: The values at both ends, shared by the profiles of a page.
        joined: Whether lines join the points: only of levels with an order.
        least: What would probably have been found between two means, in the metric's unit; None
            where an effect is shown, or no power is known.
        other: Name of the other axis within a sentence.
        rows, rows_of: Over how many of its levels the means are: those of which no value is
            missing.
    """

    KIND, PLACE, ORDER = "profile", "axes", 2

    title: str
    description: str
    axis: Literal["x", "y"]
    x_title: str
    factor: str
    y_title: str
    metric: str
    kind: Literal["one", "benchmarks", "seeds"]
    levels: tuple[str, ...]
    lines: tuple[ProfileLine, ...]
    band: float | None
    scope: Scope
    domain: tuple[float, float]
    decimals: int
    joined: bool = True
    least: float | None = None
    other: str = ""
    rows: int = 0
    rows_of: int = 0

    @classmethod
    def of(
        cls, assessment: Assessment, grids: Sequence[Grid], facet: Factor | None = None
    ) -> tuple[Profile, ...]:
        """The mean by level of each axis that has several, on one scale.

        Args:
            grids: As in `DotPlot.of`.

        Returns:
            None for an axis where no level of the other has all of its cells, and where there is
            no other, or one grid without numbers, or with lines of its own: these show the same.
        """
        study = assessment.study
        large = any(map(gt, (len(study.x.levels), len(study.y.levels)), PRINTED_UP_TO))
        shown = not study.second or (large and len(grids) == 1) or Rows.of(assessment, grids)
        tables = None if shown else tables_of(assessment, grids)
        return _on_one_scale(tables) if tables else ()

    @classmethod
    def asked(
        cls, assessment: Assessment, grids: Sequence[Grid], facet: Factor | None = None
    ) -> tuple[Profile, ...]:
        """As `of`."""
        tables = tables_of(assessment, grids)
        found = _on_one_scale(tables) if tables else ()
        if not found:
            raise CannotShow(
                "as: profile for axes whose levels can't be compared: too few, too many, or never "
                "all with a value in one row",
                "remove the line, which shows the heatmap",
                f"an axis of 2 to {LEVELS_UP_TO} levels with different means",
            )
        return found

    @property
    def columns(self) -> Column:
        """The heads of its data table."""
        names = [line.name for line in self.lines if line.name]
        return (self.x_title, *names) if names else (self.x_title, self.metric)

    def table(self) -> list[Column]:
        """The rows of its data table: per level its mean on each benchmark, and how far from it."""
        return [
            (level, *(self._text(line, place) for line in self.lines))
            for place, level in enumerate(self.levels)
        ]

    def _text(self, line: ProfileLine, place: int) -> str:
        mean, offset = line.means[place], line.offsets[place]
        if mean is None or offset is None:
            return "–"
        return (
            f"{format_measured(mean, self.decimals)} ({format_difference(offset, self.decimals)})"
        )

    def records(self) -> list[dict[str, object]]:
        """Every point with its numbers, as a table of data."""
        return [
            {
                "level": level,
                "line": line.name,
                "mean": line.means[place],
                "mean_of_all": line.mean,
                "offset": line.offsets[place],
            }
            for line in self.lines
            for place, level in enumerate(self.levels)
        ]

    def specification(self) -> Specification:
        """Its Vega-Lite specification."""
        return profile_specification(self)

    def expected(self) -> Expected:
        """Its points."""
        return {"point": ("points", self.points)}

    @property
    def name(self) -> str:
        """One for each axis."""
        return f"{self.KIND}-{self.axis}"

    @property
    def points(self) -> int:
        """Number of points that are drawn."""
        return sum(offset is not None for line in self.lines for offset in line.offsets)


# --- of a study -----------------------------------------------------------------------------------

LEVELS_UP_TO = 100
"""Levels of an axis up to which it has a profile."""
CELLS_UP_TO = 10_000
"""Cells of a grid up to which it has profiles."""
AXES: tuple[Literal["x", "y"], ...] = ("x", "y")


def _on_one_scale(tables: Tables) -> tuple[Profile, ...]:
    found = [profile for axis in AXES if (profile := _profile(tables, axis))]
    offsets = [of for profile in found for line in profile.lines for of in line.offsets]
    ends = [of or 0 for profile in found for of in (profile.band, profile.least)]
    reach = max((abs(of) for of in (*offsets, *ends) if of is not None), default=0.0)
    domain = padded([-reach, reach], 0.1)
    return tuple(replace(profile, domain=domain) for profile in found)


def _profile(tables: Tables, axis: Literal["x", "y"]) -> Profile | None:
    study = tables.study
    factor, other = (study.x, study.y) if axis == "x" else (study.y, study.x)
    too_many = len(factor.levels) * len(other.levels) > CELLS_UP_TO
    if too_many or not 2 <= len(factor.levels) <= LEVELS_UP_TO:
        return None
    levels = list(factor.levels)
    if all(level.number is not None for level in levels):
        levels.sort(key=lambda level: level.number or 0)
    cells = [(grid, level) for grid in tables.grids for level in levels]
    rows = [
        row for row in other.levels
        if all(_value(grid, axis, level, row) is not None for grid, level in cells)
    ]  # fmt: skip
    if not rows:
        return None
    names = tables.names if len(tables.grids) > 1 else ("",)
    lines = [
        _line(grid, axis, levels, rows, name, log=tables.assessment.log)
        for grid, name in zip(tables.grids, names, strict=True)
    ]
    if all(offset == 0 for line in lines for offset in line.offsets):
        return None
    metric = study.metric
    unit = difference_unit(metric.unit) or inline(metric.name)
    band, scope = _band(tables, axis)
    answer = tables.answer
    title = f"{tables.title}: mean {metric.name} by {inline(factor.label)}"
    profile = Profile(
        title=title, description="", axis=axis, x_title=factor.title, factor=inline(factor.label),
        y_title=f"{unit}, from the mean", metric=name_with_unit(metric.name, metric.unit),
        kind=tables.kind, levels=tuple(level.label for level in levels), lines=tuple(lines),
        band=band, scope=scope, domain=(-1.0, 1.0), decimals=mean_decimals(study),
        joined=is_ordered(study, factor), other=inline(other.label), rows=len(rows),
        least=dict(answer.least).get(factor.id) if answer else None, rows_of=len(other.levels),
    )  # fmt: skip
    return replace(profile, description=_profile_described(study, profile))


def _value(grid: Grid, axis: str, level: Level, row: Level) -> float | None:
    point = (level.key, row.key) if axis == "x" else (row.key, level.key)
    value = grid.cell(*point).value
    return None if value is None else float(value)


def _line(
    grid: Grid, axis: str, levels: Sequence[Level], rows: Sequence[Level], name: str, *, log: bool
) -> ProfileLine:
    mean_of = geometric_mean if log else fmean
    means = []
    for level in levels:
        values = [value for row in rows if (value := _value(grid, axis, level, row)) is not None]
        means.append(mean_of(values))
    return ProfileLine(name, mean_of(means), tuple(means))


def _band(tables: Tables, axis: Literal["x", "y"]) -> tuple[float | None, Scope]:
    """Half the width of the typical interval of a level's mean, and what it holds for."""
    halves: list[float] = []
    trials = True
    for grid in tables.grids:
        tests = tables.uncertainty(grid)
        narrow, wide = (
            (tests.x_trials, tests.x_means) if axis == "x" else (tests.y_trials, tests.y_means)
        )
        has_trials = bool(defined(narrow).any())
        trials = trials and has_trials
        ends = narrow if has_trials else wide
        halves += ((ends[:, 1] - ends[:, 0]) / 2)[defined(ends)].tolist()
    if not halves:
        return None, ""
    return median(halves), "these questions" if trials and tables.study.trials else ""


def _profile_described(study: Study, profile: Profile) -> str:
    parts = []
    for line in profile.lines:
        means = [(mean, at) for at, mean in enumerate(line.means) if mean is not None]
        (low, low_at), (high, high_at) = min(means), max(means)
        ends = (
            f"{_number(study, low)} at {profile.levels[low_at]} to "
            f"{value_with_unit(_number(study, high), study.metric.unit)} at "
            f"{profile.levels[high_at]}"
        )
        parts.append(f"{line.name}: {ends}" if line.name else ends)
    return f"{profile.title}. From the lowest mean to the highest: {'; '.join(parts)}."


def _number(study: Study, value: float) -> str:
    return format_measured(value, mean_decimals(study)).replace("-", MINUS)


# --- its specification ----------------------------------------------------------------------------


def profile_specification(profile: Profile) -> dict[str, Any]:
    """The complete Vega-Lite specification of a profile, with its data inline."""
    spec = chart_of("profile")
    drawn = drawable_labels(profile.levels)
    levels = list(drawn.values())
    step = max(STEP, label_width(levels) + 4)
    width = min(max(step * len(levels), NARROWEST), WIDEST)
    axis, _ = labels_below(levels, width // len(levels))
    named = [line for line in profile.lines if line.name]
    height = max(HEIGHT, NAME * len(named))
    spec |= {"description": profile.description, "width": width, "height": height}
    data: dict[str, list[dict[str, Any]]] = {
        "band": [] if profile.band is None else [{"low": -profile.band, "high": profile.band}],
        "zero": [{"offset": 0}],
        "least": [{"offset": x * profile.least} for x in (-1, 1)] if profile.least else [],
        "lines": [],
        "points": [],
    }
    looks = series_looks([line.name for line in profile.lines])
    for place, line in enumerate(profile.lines):
        look = {"line": place, **looks[place]}
        for level, label, offset in zip(levels, profile.levels, line.offsets, strict=True):
            point = look | {"level": level, "offset": offset}
            data["lines"] += [point] if profile.joined else []
            name = f"{line.name}, {label}" if line.name else label
            data["points"].append(point | {"label": name})
    data |= _names(profile, looks, width, height)
    spec = filled_in(spec, data)
    for layer in spec["layer"]:
        encoding = layer["encoding"]
        if layer["name"] in ("lines", "points"):
            x = encoding["x"]
            x |= {"title": drawable_text(profile.x_title, TITLE_LIMIT)}
            x["scale"] = x["scale"] | {"domain": levels}
            x["axis"] |= axis
        if layer["name"] in ("band", "zero", "least", "lines", "points"):
            encoding["y"]["title"] = drawable_text(profile.y_title, TITLE_LIMIT)
            encoding["y"]["scale"]["domain"] = list(profile.domain)
    return spec


def _names(
    profile: Profile, looks: Sequence[dict[str, Any]], width: int, height: int
) -> dict[str, list[dict[str, Any]]]:
    """The lines' names at their right ends."""
    low, high = profile.domain
    step, ends, of = width / len(profile.levels), [], []
    for look, line in zip(looks, profile.lines, strict=True):
        at = [index for index, offset in enumerate(line.offsets) if offset is not None]
        offset = line.offsets[at[-1]] if at else None
        if line.name and offset is not None:
            down = (high - offset) / (high - low) * height
            ends.append((line.name, (at[-1] + 0.5) * step, down))
            of.append(look)
    return names_at_ends(ends, of, width, height)
