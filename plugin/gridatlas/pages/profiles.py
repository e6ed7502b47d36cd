"""Does an axis matter? The mean by level, a line per benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median
from typing import Literal

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import defined
from gridatlas.charts.kinds.profile import Profile, ProfileLine
from gridatlas.charts.plotting import Scope, padded
from gridatlas.model.format import (
    MINUS,
    difference_unit,
    format_value,
    mean_decimals,
    name_with_unit,
    value_with_unit,
)
from gridatlas.model.study import Level, Study, inline
from gridatlas.pages.plot_tables import Tables, tables_of
from gridatlas.table.study_table import Grid

LEVELS_UP_TO = 100
"""Levels of an axis up to which it has a profile."""
CELLS_UP_TO = 10_000
"""Cells of a grid up to which it has profiles."""
AXES: tuple[Literal["x", "y"], ...] = ("x", "y")


def axis_profiles(assessment: Assessment, grids: Iterable[Grid]) -> tuple[Profile, ...]:
    """The mean by level of each axis that has several, on one scale.

    Args:
        grids: As in `settings_plot`.

    Returns:
        None for an axis where no level of the other has all of its cells.
    """
    tables = tables_of(assessment, grids)
    if tables is None:
        return ()
    found = [profile for axis in AXES if (profile := _profile(tables, axis))]
    ends = [
        end
        for profile in found
        for line in profile.lines
        for offset in line.offsets
        if offset is not None
        for end in (offset, -(profile.band or 0), profile.band or 0)
    ]
    reach = max(map(abs, ends), default=0.0)
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
    rows = [
        row
        for row in other.levels
        if all(
            _value(grid, axis, level, row) is not None for grid in tables.grids for level in levels
        )
    ]
    if not rows:
        return None
    names = tables.names if len(tables.grids) > 1 else ("",)
    lines = [
        _line(grid, axis, levels, rows, name)
        for grid, name in zip(tables.grids, names, strict=True)
    ]
    if all(offset == 0 for line in lines for offset in line.offsets):
        return None
    metric = study.metric
    unit = difference_unit(metric.unit) or inline(metric.name)
    band, scope = _band(tables, axis)
    title = f"{tables.title}: mean {metric.name} by {inline(factor.label)}"
    profile = Profile(
        title=title,
        description="",
        axis=axis,
        x_title=factor.title,
        factor=inline(factor.label),
        y_title=f"{unit}, from the mean",
        metric=name_with_unit(metric.name, metric.unit),
        kind=tables.kind,
        levels=tuple(level.label for level in levels),
        lines=tuple(lines),
        band=band,
        scope=scope,
        domain=(-1.0, 1.0),
        decimals=mean_decimals(study),
        other=inline(other.label),
        rows=len(rows),
        rows_of=len(other.levels),
    )
    return replace(profile, description=_profile_described(study, profile))


def _value(grid: Grid, axis: str, level: Level, row: Level) -> float | None:
    point = (level.key, row.key) if axis == "x" else (row.key, level.key)
    value = grid.cell(*point).value
    return None if value is None else float(value)


def _line(
    grid: Grid, axis: str, levels: Sequence[Level], rows: Sequence[Level], name: str
) -> ProfileLine:
    means = []
    for level in levels:
        values = [value for row in rows if (value := _value(grid, axis, level, row)) is not None]
        means.append(sum(values) / len(values))
    return ProfileLine(name, sum(means) / len(means), tuple(means))


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
    return format_value(value, mean_decimals(study)).replace("-", MINUS)
