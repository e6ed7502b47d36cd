"""Which setting? The settings ranked by their mean, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isnan

import numpy as np

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import Ends, GridUncertainty, as_pairs, defined
from gridatlas.charts.kinds.dots import BETWEEN, SHOWN, DotPlot, DotRow
from gridatlas.charts.plotting import Scope
from gridatlas.model.format import format_value, name_with_unit, to, value_with_unit
from gridatlas.model.study import Factor, Study, point_slug
from gridatlas.pages.plot_tables import Tables, tables_of
from gridatlas.statistics.interval import Interval, mean_interval
from gridatlas.table.decimals import Floats
from gridatlas.table.study_table import Grid

_ALIKE = 1e-9
"""Means that differ by less are equal: sums of the same values in another order."""
SETTINGS_UP_TO = 2_500
"""Settings up to which they are ranked."""


def settings_plot(assessment: Assessment, grids: Iterable[Grid]) -> DotPlot | None:
    """The settings ranked by their mean.

    Args:
        grids: Of one table, or of one per benchmark or seed; aggregates may be among them.

    Returns:
        None where there is nothing to choose, where too many settings share the best value, or
        where no interval is known.
    """
    tables = tables_of(assessment, grids)
    if tables is None or not assessment.study.has_best:
        return None
    return dot_plot(tables)


def dot_plot(tables: Tables, *, always: bool = False) -> DotPlot | None:
    """As `settings_plot`, also of conditions; `always` also of values without any interval."""
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
            text = format_value(value, decimals)
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
            return value, *_narrow_and_wide(tables.uncertainty(tables.aggregate), row)
    tests = [tables.uncertainty(grid) for grid in tables.grids]
    if len(tests) == 1:
        return float(given[0]), *_narrow_and_wide(tests[0], row)
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


def _narrow_and_wide(tests: GridUncertainty, row: int) -> tuple[Ends | None, Ends | None]:
    """The interval for the same questions, and the wider one; over seeds only the latter."""
    wide, narrow = as_pairs(np.stack([tests.ends[row], tests.by_trials[row]]))
    if narrow is None or tests.basis == "replicates":
        return wide, None
    return narrow, None if narrow == wide else wide


def _scopes(tables: Tables) -> tuple[Scope, Scope]:
    """What the intervals of a dot plot hold for: the one that is drawn, and the wider one."""
    if tables.kind == "seeds":
        return "other seeds", ""
    tests = tables.uncertainty(tables.lead)
    if tests.basis == "repeats":
        return "", ""  # repeats may be seeds, runs or annotators: no questions are known
    if tables.study.spread and not defined(tests.by_trials).any():
        return "", ""  # a table rarely says what its spread is over
    if defined(tests.by_items).any() or tables.study.trials:
        return "these questions", "questions of the kind"
    return "", ""


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
