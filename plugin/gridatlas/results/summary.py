"""What a grid says as a whole: its best and worst cells, mean and ranges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from weakref import WeakKeyDictionary

from gridatlas.model.study import (
    Grid,
    Level,
    Point,
)


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
        mean: Arithmetic mean of the cells.
        spread: Largest minus smallest value, in the metric's unit (percentage points for %).
        x_range: Range of the column means (one mean per level of x); None below two levels.
        y_range: Range of the row means (one mean per level of y); None below two levels.
    """

    count: int
    of: int
    best: tuple[tuple[Level, Level], ...]
    best_value: Decimal
    worst: tuple[tuple[Level, Level], ...]
    worst_value: Decimal
    mean: Decimal
    spread: Decimal
    x_range: Decimal | None
    y_range: Decimal | None
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


def _summarised(grid: Grid) -> Summary | None:
    cells = [(x, y, cell) for x, y, cell in grid.points() if cell.value is not None]
    points = [(x, y, cell.value) for x, y, cell in cells if cell.value is not None]
    if not points:
        return None
    values = [value for _, _, value in points]
    higher = grid.study.metric.better == "higher"
    disputed = frozenset((x.key, y.key) for x, y, cell in cells if cell.state == "disputed")
    undisputed = [(x, y, value) for x, y, value in points if (x.key, y.key) not in disputed]
    best, worst = _extreme(points, higher), _extreme(points, not higher)
    return Summary(
        count=len(points),
        of=len(grid.study.x.levels) * len(grid.study.y.levels),
        best=best.at,
        best_value=best.value,
        worst=worst.at,
        worst_value=worst.value,
        mean=mean(values),
        spread=abs(best.value - worst.value),
        x_range=_range_of_means((x.key, value) for x, _, value in points),
        y_range=_range_of_means((y.key, value) for _, y, value in points),
        disputed=disputed,
        best_undisputed=_extreme(undisputed, higher) if undisputed else None,
        worst_undisputed=_extreme(undisputed, not higher) if undisputed else None,
    )


def _extreme(points: Sequence[tuple[Level, Level, Decimal]], highest: bool) -> Extreme:
    values = [value for _, _, value in points]
    value = max(values) if highest else min(values)
    return Extreme(value, tuple((x, y) for x, y, other in points if other == value))


def mean(values: Sequence[Decimal]) -> Decimal:
    """The arithmetic mean of at least one value."""
    return sum(values, Decimal(0)) / len(values)


def _range_of_means(values: Iterable[tuple[str, Decimal]]) -> Decimal | None:
    groups: dict[str, list[Decimal]] = {}
    for key, value in values:
        groups.setdefault(key, []).append(value)
    if len(groups) < 2:
        return None
    means = [mean(group) for group in groups.values()]
    return max(means) - min(means)
