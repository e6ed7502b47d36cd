"""Cells and best cells of the shown grids that changed, and whether significantly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal, get_args

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import Ends, GridUncertainty, as_pairs
from gridatlas.model.study import Cell, Levels, Point, Study
from gridatlas.table.grids import Results
from gridatlas.table.items import shares_by_item, trials
from gridatlas.table.study_table import Grid
from gridatlas.table.summary import Summary, summarise
from gridatlas_review.matching import Match
from gridatlas_review.significance import Measurement, SignificanceTest, test_changes

CellKind = Literal["gone", "value", "new", "state", "trials"]
CELL_KINDS: tuple[CellKind, ...] = get_args(CellKind)
"""In the order in which they are read."""
Origin = Literal["typed", "measured", "computed", "reading"]
"""A value was typed again (a correction), measured again by another run, computed from others, or
is that of another reading now."""


@dataclass(frozen=True, slots=True)
class CellChange:
    """A cell that both snapshots have a place for.

    Attributes:
        kind: Another value; its value gone or new; another state; other trials or error.
        origin: Where the new value comes from. Only one that was measured again is tested.
        point: On the head's axes.
        old_interval, new_interval: 95 % of each value; None where they aren't known.
        significance: Of another value.
    """

    kind: CellKind
    point: Point
    old: Cell
    new: Cell
    origin: Origin = "typed"
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


@dataclass(frozen=True, slots=True)
class BestChange:
    """Another best cell of a grid, or another best value.

    Attributes:
        moved: Whether other cells are the best, not only their value another.
        significant: Whether the head's tests exclude that an old best cell still is the best; None
            where nothing can be tested.
        method, reason: How that was tested, or why it wasn't.
    """

    old: Summary | None
    new: Summary | None
    moved: bool
    significant: bool | None = None
    method: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class GridChange:
    """A grid that both snapshots have.

    Attributes:
        best: None where it stayed.
        same_as: Name of another grid of the base that had all these values; empty without one.
    """

    old: Grid
    new: Grid
    cells: tuple[CellChange, ...]
    best: BestChange | None = None
    same_as: str = ""

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


def compare_best(old: Grid, new: Grid, match: Match) -> BestChange | None:
    """Another best cell or value of a grid, without a test; None where both stayed."""
    if new.study.metric.better is None:
        return None
    before, after = summarise(old), summarise(new)
    if before is None or after is None:
        return None if before is after else BestChange(before, after, True)
    expected = set(_best_in_head(before, old, match))
    moved = expected != {(x.key, y.key) for x, y in after.best}
    if not moved and before.best_value == after.best_value:
        return None
    return BestChange(before, after, moved)


def _best_in_head(best: Summary, old: Grid, match: Match) -> Iterator[Point | None]:
    """The head's points of the best cells of a grid of the base."""
    for x, y in best.best:
        at = match.head(old.levels, (x.key, y.key))
        yield at[1] if at else None


def test_best(
    best: BestChange, old: Grid, new: Grid, match: Match, tests: GridUncertainty
) -> BestChange:
    """Test whether an old best cell may still be the best, by the head's confidence set."""
    if best.old is None or best.new is None or not best.moved:
        return best
    places = _best_in_head(best.old, old, match)
    left = {at for at in places if at} & new.points_at(new.columns.value.known)
    if not left:
        return replace(best, reason="the old best cell has no value any more")
    if tests.level is None:
        reason = "an aggregate is not tested itself" if new.aggregate else "nothing is known of it"
        return replace(best, reason=tests.reason or reason)
    method = f"95 % confidence set for the best: {tests.test}"
    return replace(best, significant=new.points_at(tests.best_set).isdisjoint(left), method=method)


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
        (old, new, _compare_cells(old, new, match, readings), compare_best(old, new, match))
        for old, new in pairs
    ]
    if not any(cells or best or old.computed != new.computed for old, new, cells, best in found):
        return GridChanges((), tuple(removed), added)
    tests = iter(
        test_changes([pair for old, new, cells, _ in found for pair in _measured(old, new, cells)])
    )
    grids_by_values = _grids_by_values(base.results)
    changed = []
    for old, new, cells, best in found:
        if not (cells or best or old.computed != new.computed):
            continue
        tested_by = head.uncertainty.of(new)
        before, after = as_pairs(base.uncertainty.of(old).ends), as_pairs(tested_by.ends)
        changes = tuple(
            replace(
                change,
                old_interval=before[old.row(at)],
                new_interval=after[new.row(change.point)],
                significance=next(tests) if _is_tested(change) else None,
            )
            for at, change in cells
        )
        tested = best and test_best(best, old, new, match, tested_by)
        same_as = _same_as(old, new, len(cells), grids_by_values)
        changed.append(GridChange(old, new, changes, tested, same_as))
    return GridChanges(tuple(changed), tuple(removed), added)


def _is_tested(change: CellChange) -> bool:
    """Whether a value was measured again; what was typed again is a correction."""
    return change.kind == "value" and change.origin == "measured"


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
    return "typed" if readings.get(cell.reading) == other.reading else "reading"


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


GridValues = tuple[object, ...]


def _grids_by_values(results: Results) -> dict[GridValues, list[Levels]]:
    grids: dict[GridValues, list[Levels]] = {}
    for levels, grid in results.grids.items():
        grids.setdefault(_values(grid), []).append(levels)
    return grids


def _values(grid: Grid) -> GridValues:
    return tuple(zip(grid.keys, grid.columns.value, strict=True))


def _same_as(
    old: Grid, new: Grid, changed: int, grids_by_values: Mapping[GridValues, list[Levels]]
) -> str:
    """The grid of the base whose values these are, where most cells have changed."""
    values = [value for value in new.columns.value if value is not None]
    if changed * 2 <= len(values) or len(set(values)) < 2 or len(values) < 3:
        return ""
    same = grids_by_values.get(_values(new), [])
    if len(same) != 1 or same[0] == old.levels:
        return ""
    return " | ".join(level.label for level in old.study.levels_of(same[0]))
