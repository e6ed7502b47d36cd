"""The tables that a question is asked of: one per benchmark or seed, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gridatlas.assessment.answers.answer import too_few_seeds
from gridatlas.assessment.answers.kinds import Kind
from gridatlas.assessment.compute import SETTINGS_UP_TO
from gridatlas.model.study import Point, Study
from gridatlas.statistics.estimates import Floats, direction
from gridatlas.table.items import GridCounts, counts_of, shares_by_item
from gridatlas.table.study_table import Grid

_EXCHANGEABLE = 2
"""Trials of the cells of a table may differ by this factor; then cells can be permuted."""


@dataclass(frozen=True, eq=False)
class Block:
    """One grid as arrays over (x, y); nan is a value that is absent."""

    grid: Grid

    @cached_property
    def values(self) -> Floats:
        """In the metric's unit."""
        return np.array(
            [
                [float("nan") if cell.value is None else float(cell.value) for cell in row]
                for row in self.grid.cells
            ]
        ).T.reshape(len(self.grid.study.x.levels), len(self.grid.study.y.levels))

    @property
    def disputed(self) -> NDArray[np.bool_]:
        """Whether readings disagree about a cell: (x, y)."""
        rows = [[cell.state == "disputed" for cell in row] for row in self.grid.cells]
        return np.array(rows, dtype=np.bool_).T.reshape(self.values.shape)

    @cached_property
    def _counts(self) -> GridCounts:
        return counts_of(self.grid)

    def _table(self, of: Mapping[Point, int]) -> Floats:
        table = np.full(self.values.shape, np.nan)
        for (x, y), number in of.items():
            table[self.grid.study.x.place(x), self.grid.study.y.place(y)] = number
        return table

    @cached_property
    def successes(self) -> Floats:
        """Of each cell; nan where unknown."""
        return self._table({point: k for point, (k, _) in self._counts.cells.items()})

    @cached_property
    def trials(self) -> Floats:
        """Of each cell; nan where unknown."""
        return self._table({point: n for point, (_, n) in self._counts.cells.items()})

    @property
    def reason(self) -> str:
        """Why the trials aren't known; empty where they are."""
        return self._counts.reason

    @cached_property
    def outcomes(self) -> Floats | None:
        """Share of right samples by (item, x, y), where all cells were asked the same items."""
        shares = shares_by_item(self.grid)
        present = np.isfinite(self.values)
        first = next(iter(shares.values()), None)
        if first is None or len(shares) != int(present.sum()):
            return None
        if any(not share.pairs_with(first) for share in shares.values()):
            return None
        table = np.full((len(first.items), *self.values.shape), np.nan)
        for (x, y), share in shares.items():
            table[:, self.grid.study.x.place(x), self.grid.study.y.place(y)] = share.values
        return table


@dataclass(frozen=True, eq=False)
class Blocks:
    """Tables over the same axes.

    Attributes:
        kind: What a table is beside the others: a benchmark, a seed, or the only one.
        averaged: How many blocks in a row make one table by their mean: a seed's benchmarks.
    """

    study: Study
    kind: Kind
    blocks: tuple[Block, ...]
    averaged: int = 1

    @cached_property
    def turned(self) -> Floats:
        """Values by (table, x, y), turned so that more is better."""
        return direction(self.study.metric.better or "higher") * self.values

    @cached_property
    def values(self) -> Floats:
        """By (table, x, y); of benchmarks that were scored on the same runs, their mean."""
        values = np.stack([block.values for block in self.blocks])
        if self.averaged > 1:
            values = values.reshape(-1, self.averaged, *values.shape[1:]).mean(axis=1)
        if self.study.cells == "runs" and self.kind == "benchmarks":
            return np.asarray(values.mean(axis=0, keepdims=True))
        return values

    @property
    def complete(self) -> np.ndarray:
        """Which cells every table has: (x, y)."""
        return np.asarray(np.isfinite(self.values).all(axis=0))

    @property
    def present(self) -> np.ndarray:
        """Which cells some table has: (x, y)."""
        return np.asarray(np.isfinite(self.values).any(axis=0))

    @cached_property
    def untestable(self) -> str:
        """Why nothing can be tested; empty where something can."""
        if self.kind == "seeds" and len(self.values) < 3:
            return too_few_seeds(len(self.values))
        if self.present.size > SETTINGS_UP_TO:
            return f"settings are not tested above {SETTINGS_UP_TO:,}"
        if self.study.cells == "runs":
            return ""
        for block in self.blocks:
            if block.reason:
                return block.reason
            trials = block.trials[np.isfinite(block.trials)]
            if trials.size and trials.max() > _EXCHANGEABLE * trials.min():
                return "the cells have very different numbers of trials"
        return ""


def blocks_of(study: Study, grids: Sequence[Grid], kind: Kind, averaged: int = 1) -> Blocks:
    """The tables of some grids; see `Blocks`."""
    return Blocks(study, kind, tuple(map(Block, grids)), averaged)
