"""What changed in the shown grids: cells, best cells, and the tests of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from gridatlas.assessment.uncertainty import Ends, GridUncertainty, Uncertainty, assess, by_point
from gridatlas.diff.matching import Match
from gridatlas.diff.told import Account, Told, test_changes
from gridatlas.model.study import Cell, Grid, Levels, Point
from gridatlas.results.grids import Results, Summary, summarise, trials
from gridatlas.results.items import Shares, shares_by_item

CellKind = Literal["value", "gone", "new", "state", "trials"]


@dataclass(frozen=True, slots=True)
class CellChange:
    """One cell that both sides have a place for.

    Attributes:
        kind: Another value; its value gone or new; another state; other trials or error.
        point: On the head's axes.
        old_interval, new_interval: 95 % of each value; None where they aren't known.
        told: Of another value.
    """

    kind: CellKind
    point: Point
    old: Cell
    new: Cell
    old_interval: Ends | None = None
    new_interval: Ends | None = None
    told: Told | None = None


@dataclass(frozen=True, slots=True)
class BestChange:
    """Another best cell of a grid, or another best value.

    Attributes:
        moved: Whether other cells are the best, not only their value another.
        lost: Whether an old best cell has no place or value any more.
        differs: Whether the head's tests exclude that an old best cell still is the best; None
            where nothing can be tested.
        test, reason: How that was tested, or why it wasn't.
    """

    old: Summary | None
    new: Summary | None
    moved: bool
    lost: bool = False
    differs: bool | None = None
    test: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class GridChange:
    """A grid that both sides have.

    Attributes:
        best: None where it stayed.
        like: Name of another grid of the base that had all these values; empty without one.
        computed: Whether an aggregate is now computed, or now printed.
    """

    old: Grid
    new: Grid
    cells: tuple[CellChange, ...]
    best: BestChange | None = None
    like: str = ""

    @property
    def computed(self) -> bool:
        """Whether an aggregate is now computed that was printed, or the other way round."""
        return self.old.computed != self.new.computed


@dataclass(frozen=True, slots=True)
class Grids:
    """All grids of a study: those that changed, and those that one side only has."""

    changed: tuple[GridChange, ...]
    removed: tuple[Grid, ...]
    added: tuple[Grid, ...]


def compare_grids(base: Results, head: Results, match: Match, cache: Path | None) -> Grids:
    """Every grid of both sides, cell by cell."""
    pairs: list[tuple[Grid, Grid]] = []
    removed = []
    for levels, grid in base.grids.items():
        to = match.head_levels(levels)
        other = head.grids.get(to) if to is not None else None
        if other is None:
            removed.append(grid)
        else:
            pairs.append((grid, other))
    there = {other.levels for _, other in pairs}
    added = tuple(grid for levels, grid in head.grids.items() if levels not in there)
    found = [(old, new, _cells(old, new, match)) for old, new in pairs]
    bests = [_best(old, new, match) for old, new in pairs]
    known: tuple[Uncertainty, Uncertainty] | None = None
    if any(cells for _, _, cells in found) or any(bests):
        known = assess(base, cache), assess(head, cache)
    told = iter(
        test_changes([pair for old, new, cells in found for pair in _accounts(old, new, cells)])
    )
    signatures = _signatures(base)
    changed = []
    for (old, new, cells), best in zip(found, bests, strict=True):
        if known is None or not (cells or best or old.computed != new.computed):
            continue
        before, after = (of.of(grid) for of, grid in zip(known, (old, new), strict=True))
        changed.append(
            GridChange(
                old,
                new,
                _with_intervals(
                    old,
                    new,
                    [
                        (at, replace(one, told=next(told)) if one.kind == "value" else one)
                        for at, one in cells
                    ],
                    before,
                    after,
                ),
                best and _tested(best, old, new, match, after),
                _like(new, old, cells, signatures),
            )
        )
    return Grids(tuple(changed), tuple(removed), added)


Cells = list[tuple[Point, CellChange]]
"""Changed cells, each with its point in the base."""


def _cells(old: Grid, new: Grid, match: Match) -> Cells:
    found: Cells = []
    columns = {level.key for level in new.study.x.levels}
    rows = {level.key for level in new.study.y.levels}
    for x, y, cell in old.points():
        at = match.head(old.levels, (x.key, y.key))
        if at is None or at[1][0] not in columns or at[1][1] not in rows:
            continue
        other = new.cell(*at[1])
        kind = _kind(old, new, cell, other)
        if kind:
            found.append(((x.key, y.key), CellChange(kind, at[1], cell, other)))
    return found


def _kind(old: Grid, new: Grid, cell: Cell, other: Cell) -> CellKind | None:
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
    same = (trials(old, cell), cell.successes, cell.stderr) == (
        trials(new, other),
        other.successes,
        other.stderr,
    )
    return None if same else "trials"


def _accounts(old: Grid, new: Grid, cells: Cells) -> list[tuple[Account, Account]]:
    if not any(one.kind == "value" for _, one in cells):
        return []
    before, after = _shares(old), _shares(new)
    return [
        (
            Account(old, at, one.old, before.get(at)),
            Account(new, one.point, one.new, after.get(one.point)),
        )
        for at, one in cells
        if one.kind == "value"
    ]


def _shares(grid: Grid) -> dict[Point, Shares]:
    """The outcomes of a grid's cells by the level keys of x and y."""
    x, y = grid.study.x.levels, grid.study.y.levels
    found = {}
    for place, one in shares_by_item(grid).items():
        i, j = map(int, place.split(","))
        found[x[i].key, y[j].key] = one
    return found


def _with_intervals(
    old: Grid, new: Grid, cells: Cells, before: GridUncertainty, after: GridUncertainty
) -> tuple[CellChange, ...]:
    first, second = by_point(old, before), by_point(new, after)

    def ends(known: Mapping[Point, object], at: Point) -> Ends | None:
        one = known.get(at)
        return None if one is None else (one.low, one.high)  # type: ignore[attr-defined]

    return tuple(
        replace(one, old_interval=ends(first, at), new_interval=ends(second, one.point))
        for at, one in cells
    )


# --- the best -----------------------------------------------------------------------------------


def _best(old: Grid, new: Grid, match: Match) -> BestChange | None:
    before, after = summarise(old), summarise(new)
    if before is None or after is None:
        return None if before is after else BestChange(before, after, True, before is not None)
    expected = {_place(old, match, x.key, y.key) for x, y in before.best}
    now = {(x.key, y.key) for x, y in after.best}
    if expected == now and before.best_value == after.best_value:
        return None
    return BestChange(before, after, expected != now)


def _place(old: Grid, match: Match, x: str, y: str) -> Point | None:
    at = match.head(old.levels, (x, y))
    return at[1] if at else None


def _tested(
    best: BestChange, old: Grid, new: Grid, match: Match, after: GridUncertainty
) -> BestChange:
    """Whether an old best cell may still be the best, by the head's confidence set."""
    if best.old is None or best.new is None or not best.moved:
        return best
    places = [_place(old, match, x.key, y.key) for x, y in best.old.best]
    there = [at for at in places if at is not None and new.cell(*at).value is not None]
    if not there:
        return replace(best, lost=True, reason="the old best cell has no value any more")
    if after.level is None:
        reason = after.reason or (
            "an aggregate is not tested itself" if new.aggregate else "nothing is known of it"
        )
        return replace(best, reason=reason)
    kept = {at for at, cell in by_point(new, after).items() if cell.in_best_set}
    test = f"95 % confidence set for the best: {after.test}"
    return replace(best, differs=not kept & set(there), test=test)


# --- values that moved to another grid ----------------------------------------------------------


def _signatures(results: Results) -> dict[tuple[object, ...], list[Levels]]:
    found: dict[tuple[object, ...], list[Levels]] = {}
    for levels, grid in results.grids.items():
        found.setdefault(_signature(grid), []).append(levels)
    return found


def _signature(grid: Grid) -> tuple[object, ...]:
    return tuple((x.key, y.key, cell.value) for x, y, cell in grid.points())


def _like(
    new: Grid, old: Grid, cells: Cells, signatures: Mapping[tuple[object, ...], list[Levels]]
) -> str:
    """The grid of the base whose values these are, where most cells have changed."""
    points = [cell.value for _, _, cell in new.points() if cell.value is not None]
    if len(cells) * 2 <= len(points) or len(set(points)) < 2 or len(points) < 3:
        return ""
    there = signatures.get(_signature(new), [])
    if len(there) != 1 or there[0] == old.levels:
        return ""
    return " | ".join(level.label for level in old.study.levels_of(there[0]))
