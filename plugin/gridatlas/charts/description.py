"""Heatmaps in words: what a screen reader, a caption or a table reads of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gridatlas.model.format import (
    format_difference,
    format_measured,
    many,
    mean_decimals,
    value_with_unit,
)
from gridatlas.model.schema import Metric
from gridatlas.model.study import Level, Point, Study, inline
from gridatlas.table.differences import Difference
from gridatlas.table.study_table import Grid
from gridatlas.table.summary import Extreme, Summary, summarise

IN_DISPUTE = " (disputed)"
"""What follows a disputed value in a text."""


def cell_name(study: Study, x: Level, y: Level) -> str:
    """`Ratio 0.4, Local window size 2000`."""
    first = f"{study.x.label} {x.label}"
    return f"{first}, {study.y.label} {y.label}" if study.second else first


def cell_labels(x: Level, y: Level) -> str:
    """`0.4 × 2000`; of a study with one axis `0.4`."""
    return f"{x.label} × {y.label}" if y.label else x.label


def over(study: Study) -> str:
    """`ratio and local window size`: the axes, for the middle of a sentence."""
    return " and ".join(inline(axis.label) for axis in study.varied)


def describe_grid(grid: Grid, best_set: frozenset[Point] = frozenset()) -> str:
    """A heatmap in words: its range, where its best cells lie, and what is missing or in doubt.

    Args:
        best_set: The points in the confidence set for the best.
    """
    metric = grid.study.metric
    summary = summarise(grid)
    if summary is None:
        return f"{grid.label}: a heatmap without any value."
    decimals = metric.decimals or 0
    ends = [
        (summary.best_value, summary.best_disputed),
        (summary.worst_value, summary.worst_disputed),
    ]
    (lowest, low_disputed), (highest, high_disputed) = sorted(ends)
    low = format_measured(lowest, decimals) + (IN_DISPUTE if low_disputed else "")
    high = value_with_unit(format_measured(highest, decimals), metric.unit)
    high += IN_DISPUTE if high_disputed else ""
    best = best_at(summary, grid.study, lambda x, y: cell_name(grid.study, x, y), 4)
    extreme = grid.study.extreme
    absent = summary.of - summary.count
    disputed = len(summary.disputed)
    return (
        f"{grid.label}: {metric.name} from {low} to {high} over "
        f"{' and '.join(axis.label for axis in grid.study.varied)}. {extreme.capitalize()}: {best}."
        + (
            f" May be the {extreme}: {len(best_set)} of {many(summary.count, 'cell')}."
            if best_set
            else ""
        )
        + (f" Disputed: {disputed} of {many(summary.count, 'value')}." if disputed else "")
        + without_value(absent, summary.of)
    )


def best_at(
    summary: Summary, study: Study, where: Callable[[Level, Level], str], limit: int
) -> str:
    """The best value and where it is: `94 (disputed) at 8 × 7; best undisputed: 84 at 6 × 7`.

    Args:
        where: Names a cell by its levels.
        limit: Cells that are named; of more, how many.
    """
    best = Extreme(summary.best_value, summary.best)
    text = _extreme_at(best, study.metric, where, limit, summary)
    if not summary.best_disputed:
        return text
    if summary.best_undisputed is None:
        return f"{text}; every value is disputed"
    undisputed = _extreme_at(summary.best_undisputed, study.metric, where, limit, summary)
    return f"{text}; {study.extreme} undisputed: {undisputed}"


def _extreme_at(
    extreme: Extreme,
    metric: Metric,
    where: Callable[[Level, Level], str],
    limit: int,
    summary: Summary,
) -> str:
    """A value and its cells, marked where it is disputed: all of it, or only some of its cells."""
    value = value_with_unit(format_measured(extreme.value, metric.decimals or 0), metric.unit)
    every = all((x.key, y.key) in summary.disputed for x, y in extreme.at)
    cells = cell_names(extreme.at[:limit], frozenset() if every else summary.disputed, where)
    more = len(extreme.at) - limit
    rest = f" and {more:,} more" if more > 0 else ""
    return f"{value}{IN_DISPUTE if every else ''} at {'; '.join(cells)}{rest}"


def cell_names(
    cells: Iterable[tuple[Level, Level]],
    disputed: frozenset[Point],
    where: Callable[[Level, Level], str],
) -> list[str]:
    """The names of cells, with a mark at those whose value is disputed."""
    return [where(x, y) + (IN_DISPUTE if (x.key, y.key) in disputed else "") for x, y in cells]


def without_value(absent: int, cells: int) -> str:
    """A sentence, after others, that says how many cells have no value; empty where all have."""
    if not absent:
        return ""
    return f" {absent:,} of {many(cells, 'cell')} {'has' if absent == 1 else 'have'} no value."


def describe_difference(difference: Difference) -> str:
    """A difference in one sentence: its mean, and in how many cells it is above and below 0."""
    metric = difference.first.study.metric
    if difference.mean is None:
        return f"{difference.label}: no cell has a value in both grids."
    mean = format_difference(difference.mean, mean_decimals(difference.first.study))
    return (
        f"{difference.label}: {value_with_unit(mean, metric.unit, difference=True)} on average "
        f"over {many(len(difference.values), 'cell')}; {higher_lower(difference)}."
    )


def higher_lower(difference: Difference) -> str:
    """In how many cells the second is higher: `R1-Qwen is higher in 17 of 20 cells, lower in 3`."""
    cells = len(difference.values)
    found = {
        "higher": difference.higher, "lower": difference.lower, "equal": difference.equal,
    }  # fmt: skip
    counts = [(word, number) for word, number in found.items() if number]
    if len(counts) == 1:
        where = "in the one cell" if cells == 1 else f"in all {cells:,} cells"
    else:
        where = f"in {counts[0][1]:,} of {cells:,} cells"
    rest = "".join(f", {word} in {number:,}" for word, number in counts[1:])
    name = f"{difference.levels[1].label} is " if difference.facet else ""
    return f"{name}{counts[0][0]} {where}{rest}"
