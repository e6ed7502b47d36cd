"""What changed in the shown grids of a study, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from gridatlas.assessment.uncertainty import Ends
from gridatlas.diff.significance import SignificanceTest
from gridatlas.model.study import Cell, Grid, Point
from gridatlas.results.summary import Summary

CellKind = Literal["value", "gone", "new", "state", "trials"]
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
