"""What a grid says as a whole: its best and worst cells, mean and spread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from weakref import WeakKeyDictionary

from gridatlas.model.study import Level, Point, Study
from gridatlas.table.study_table import Grid


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


_Lines = Sequence[Sequence[Decimal | None]]
"""The values of rows; None where there is none."""


def _summarised(grid: Grid) -> Summary | None:
    study = grid.study
    rows: _Lines = [[cell.value for cell in row] for row in grid.cells]
    values = _present(chain.from_iterable(rows))
    if not values:
        return None
    higher = not study.metric.falls
    best, worst = _extreme(study, rows, higher), _extreme(study, rows, not higher)
    disputed = frozenset(
        (x.key, y.key)
        for x, y, cell in grid.points()
        if cell.state == "disputed" and cell.value is not None
    )
    undisputed = [
        [None if cell.state == "disputed" else cell.value for cell in row] for row in grid.cells
    ]
    has_some = len(disputed) < len(values)
    return Summary(
        count=len(values),
        of=len(study.x.levels) * len(study.y.levels),
        best=best.at,
        best_value=best.value,
        worst=worst.at,
        worst_value=worst.value,
        mean=mean(_present(chain.from_iterable(unrounded(grid)))),
        spread=abs(best.value - worst.value),
        disputed=disputed,
        best_undisputed=_extreme(study, undisputed, higher) if has_some else None,
        worst_undisputed=_extreme(study, undisputed, not higher) if has_some else None,
    )


def unrounded(grid: Grid) -> _Lines:
    """The values, row by row; in the place of a printed mean that of its parts, where all have one.

    A mean of such cells is that of what was measured, and not of what a source had rounded.
    """
    rows = [[cell.value for cell in row] for row in grid.cells]
    if not grid.parts:
        return rows
    of = [unrounded(part) for part in grid.parts]
    for row, parts in zip(rows, zip(*of, strict=True), strict=True):
        for at, values in enumerate(zip(*parts, strict=True)):
            given = _present(values)
            if row[at] is not None and len(given) == len(values):
                row[at] = mean(given)
    return rows


def _present(values: Iterable[Decimal | None]) -> list[Decimal]:
    return [value for value in values if value is not None]


def _extreme(study: Study, rows: _Lines, highest: bool) -> Extreme:
    """The highest or lowest of at least one value."""
    end = max if highest else min
    value = end(end(values) for row in rows if (values := _present(row)))
    return Extreme(
        value,
        tuple(
            (x, y)
            for y, row in zip(study.y.levels, rows, strict=True)
            if value in row
            for x, other in zip(study.x.levels, row, strict=True)
            if other == value
        ),
    )


def mean(values: Sequence[Decimal]) -> Decimal:
    """The arithmetic mean of at least one value."""
    return sum(values, Decimal(0)) / len(values)
