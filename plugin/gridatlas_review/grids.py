"""Cells of the shown grids that changed, and whether significantly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal, get_args

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import Ends, as_pairs
from gridatlas.model.study import Cell, Point, Study
from gridatlas.table.items import shares_by_item, trials
from gridatlas.table.study_table import Grid
from gridatlas_review.matching import Match
from gridatlas_review.significance import Measurement, SignificanceTest, test_changes

CellKind = Literal["gone", "value", "new", "state", "trials"]
CELL_KINDS: tuple[CellKind, ...] = get_args(CellKind)
"""In the order in which they are read."""
Origin = Literal["unrecorded", "measured", "computed", "reading"]
"""Of a value: no run is recorded that made it another one, another run measured it, it is computed
from others, or is that of another reading now."""


@dataclass(frozen=True, slots=True)
class CellChange:
    """A cell that both snapshots have a place for.

    Attributes:
        kind: Another value; its value gone or new; another state; other trials or error.
        origin: Where the new value comes from, as far as that is recorded.
        point: On the head's axes.
        old_interval, new_interval: 95 % of each value; None where they aren't known.
        significance: Of another value.
    """

    kind: CellKind
    point: Point
    old: Cell
    new: Cell
    origin: Origin = "unrecorded"
    old_interval: Ends | None = None
    new_interval: Ends | None = None
    significance: SignificanceTest | None = None

    @property
    def is_significant(self) -> bool:
        """Whether a test excludes that noise explains the change."""
        return self.significance is not None and bool(self.significance.significant)

    @property
    def size(self) -> Decimal:
        """Absolute difference of the values; 0 where one is absent."""
        if self.old.value is None or self.new.value is None:
            return Decimal(0)
        return abs(self.new.value - self.old.value)


@dataclass(frozen=True, slots=True, eq=False)
class GridChange:
    """A grid that both snapshots have."""

    old: Grid
    new: Grid
    cells: tuple[CellChange, ...]

    @property
    def computed(self) -> bool:
        """Whether an aggregate is now computed that was printed, or the other way round."""
        return self.old.computed != self.new.computed


@dataclass(frozen=True, slots=True)
class GridChanges:
    """All grids of a study: those that changed, and those that one snapshot only has."""

    changed: tuple[GridChange, ...]
    removed: tuple[Grid, ...]
    added: tuple[Grid, ...]


# --- how changes are found -----------------------------------------------------------------------


def compare_grids(
    base: Assessment, head: Assessment, match: Match, readings: Mapping[str, str]
) -> GridChanges:
    """Compare every grid of both snapshots, cell by cell.

    Args:
        readings: The head's id of a reading by the base's.
    """
    new_grids = head.results.grids
    pairs: list[tuple[Grid, Grid]] = []
    removed = []
    for levels, grid in base.results.grids.items():
        to = match.head_levels(levels)
        other = new_grids.get(to) if to is not None else None
        if other is None:
            removed.append(grid)
        else:
            pairs.append((grid, other))
    matched = {other.levels for _, other in pairs}
    added = tuple(grid for levels, grid in new_grids.items() if levels not in matched)
    found = [
        (old, new, cells)
        for old, new in pairs
        if (cells := _compare_cells(old, new, match, readings)) or old.computed != new.computed
    ]
    tests = iter(test_changes([pair for each in found for pair in _measured(*each)]))
    changed = []
    for old, new, cells in found:
        before, after = (
            as_pairs(of.uncertainty.of(grid).ends) for of, grid in ((base, old), (head, new))
        )
        changes = tuple(
            replace(
                change,
                old_interval=before[old.row(at)],
                new_interval=after[new.row(change.point)],
                significance=next(tests) if _is_tested(change) else None,
            )
            for at, change in cells
        )
        changed.append(GridChange(old, new, changes))
    return GridChanges(tuple(changed), tuple(removed), added)


def _is_tested(change: CellChange) -> bool:
    """Whether it is another value, and none that only follows from others."""
    return change.kind == "value" and change.origin != "computed"


def _compare_cells(
    old: Grid, new: Grid, match: Match, readings: Mapping[str, str]
) -> list[tuple[Point, CellChange]]:
    """The cells that changed, each with its point in the base."""
    changes = []
    columns = new.study.x.keys
    rows = new.study.y.keys
    others = [*new.columns]
    for point, cell in zip(old.keys, old.columns, strict=True):
        at = match.head(old.levels, point)
        if at is None or at[1][0] not in columns or at[1][1] not in rows:
            continue
        other = others[new.row(at[1])]
        kind = _kind(old, new, cell, other)
        if kind:
            origin = _origin(old.study, cell, new.study, other, readings)
            changes.append((point, CellChange(kind, at[1], cell, other, origin)))
    return changes


def _origin(old: Study, cell: Cell, new: Study, other: Cell, readings: Mapping[str, str]) -> Origin:
    """Where a value of the head comes from.

    Args:
        readings: The head's id of a reading by the base's.
    """
    if other.value is not None and not other.reading:
        return "computed"
    if (
        cell.run
        and other.run
        and (cell.run, old.runs.get(cell.run))
        != (
            other.run,
            new.runs.get(other.run),
        )
    ):
        return "measured"
    return "unrecorded" if readings.get(cell.reading) == other.reading else "reading"


def _kind(old: Grid, new: Grid, cell: Cell, other: Cell) -> CellKind | None:
    """What changed about a cell; None for nothing."""
    if cell.value is None and other.value is None:
        return None if cell.state == other.state else "state"
    if other.value is None:
        return "gone"
    if cell.value is None:
        return "new"
    if cell.value != other.value:
        return "value"
    if cell.state != other.state:
        return "state"
    before = trials(old, cell), cell.successes, cell.stderr
    after = trials(new, other), other.successes, other.stderr
    return None if before == after else "trials"


def _measured(
    old: Grid, new: Grid, cells: Sequence[tuple[Point, CellChange]]
) -> list[tuple[Measurement, Measurement]]:
    """The cells with another value, before and after."""
    changed = [(at, change) for at, change in cells if _is_tested(change)]
    if not changed:
        return []
    before, after = shares_by_item(old), shares_by_item(new)
    return [
        (
            Measurement(old, at, change.old, before.get(at)),
            Measurement(new, change.point, change.new, after.get(change.point)),
        )
        for at, change in changed
    ]
