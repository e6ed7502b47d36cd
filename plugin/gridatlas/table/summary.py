"""What a grid says as a whole: its best and worst cells, mean and spread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from weakref import WeakKeyDictionary

import numpy as np

from gridatlas.model.study import Level, Point, Study
from gridatlas.table.coded import Bools
from gridatlas.table.decimals import Decimals
from gridatlas.table.study_table import DISPUTED, Grid


@dataclass(frozen=True, slots=True)
class Extreme:
    """The best or the worst value among some cells, and all cells (x level, y level) with it."""

    value: Decimal
    at: tuple[tuple[Level, Level], ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures of one grid, over its cells that have a value.

    Attributes:
        best: All cells (x level, y level) with the best value, ties included.
        disputed: The points whose value is disputed.
        best_undisputed, worst_undisputed: Among the values that aren't disputed; None where all
            are.
        mean: Arithmetic mean of the cells, `unrounded`.
        spread: Largest minus smallest value, in the metric's unit (percentage points for %).
    """

    count: int
    of: int
    best: tuple[tuple[Level, Level], ...]
    best_value: Decimal
    worst: tuple[tuple[Level, Level], ...]
    worst_value: Decimal
    mean: Decimal
    spread: Decimal
    disputed: frozenset[Point]
    best_undisputed: Extreme | None
    worst_undisputed: Extreme | None

    @property
    def best_disputed(self) -> bool:
        """Whether every cell with the best value is disputed."""
        return self.best_undisputed is None or self.best_undisputed.value != self.best_value

    @property
    def worst_disputed(self) -> bool:
        """Whether every cell with the worst value is disputed."""
        return self.worst_undisputed is None or self.worst_undisputed.value != self.worst_value


_SUMMARIES: WeakKeyDictionary[Grid, Summary | None] = WeakKeyDictionary()
"""Every page of a study asks for them, and each takes a look at every cell."""


def summarise(grid: Grid) -> Summary | None:
    """Best, worst, mean and spread; None for a grid without any value."""
    if grid not in _SUMMARIES:
        _SUMMARIES[grid] = _summarised(grid)
    return _SUMMARIES[grid]


def best_points(grid: Grid) -> frozenset[Point]:
    """The cells with the best value, ties included; empty without any value or direction."""
    summary = summarise(grid) if grid.study.metric.better else None
    return frozenset((x.key, y.key) for x, y in summary.best) if summary else frozenset()


def best_undisputed_points(grid: Grid) -> frozenset[Point]:
    """The cells with the best undisputed value; empty unless the best value is disputed."""
    summary = summarise(grid) if grid.study.metric.better else None
    if summary is None or not summary.best_disputed or summary.best_undisputed is None:
        return frozenset()
    return frozenset((x.key, y.key) for x, y in summary.best_undisputed.at)


def _summarised(grid: Grid) -> Summary | None:
    study, values = grid.study, grid.columns.value
    defined = values.defined
    if not defined.any():
        return None
    higher = not study.metric.falls
    best, worst = (_extreme(grid, defined, end) for end in (higher, not higher))
    rest = defined & (grid.columns.state != DISPUTED)
    best_sure, worst_sure = (
        _extreme(grid, rest, end) if rest.any() else None for end in (higher, not higher)
    )
    return Summary(
        count=int(defined.sum()),
        of=len(values),
        best=best.at,
        best_value=best.value,
        worst=worst.at,
        worst_value=worst.value,
        mean=unrounded(grid).mean(),
        spread=abs(best.value - worst.value),
        disputed=frozenset((x.key, y.key) for x, y in _levels(study, defined & ~rest)),
        best_undisputed=best_sure,
        worst_undisputed=worst_sure,
    )


def unrounded(grid: Grid) -> Decimals:
    """The values, row by row; in the place of a printed mean that of its parts, where all have one.

    A mean of such cells is that of what was measured, and not of what a source had rounded.
    """
    values, parts = grid.columns.value, [unrounded(part) for part in grid.parts]
    if not parts:
        return values
    rows = np.flatnonzero(np.logical_and.reduce([of.defined for of in (values, *parts)]))
    given = zip(*(part[rows] for part in parts), strict=True)
    means = [mean([value for value in of if value is not None]) for of in given]
    return values.replaced(rows.tolist(), means)


def _extreme(grid: Grid, among: Bools, highest: bool) -> Extreme:
    """The highest or lowest of at least one value, as it stands first, and all cells with it."""
    values = grid.columns.value
    value = (np.max if highest else np.min)(values.floats[among])
    near = np.flatnonzero(among & (values.floats == value))
    numbers = [number for number in values[near].exact() if number is not None]
    end = (max if highest else min)(numbers)
    has_it = np.zeros(len(values), np.bool_)
    has_it[near[[number == end for number in numbers]]] = True
    return Extreme(end, tuple(_levels(grid.study, has_it)))


def _levels(study: Study, wanted: Bools) -> Iterator[tuple[Level, Level]]:
    """The levels of x and y of some cells."""
    x, y = study.x.levels, study.y.levels
    return ((x[row % len(x)], y[row // len(x)]) for row in np.flatnonzero(wanted).tolist())


def mean(values: Sequence[Decimal]) -> Decimal:
    """The arithmetic mean of at least one value."""
    return sum(values, Decimal(0)) / len(values)
