"""How levels differ: two grids subtracted, cell by cell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import combinations

from gridatlas.model.study import Factor, Level
from gridatlas.table.decimals import Decimals
from gridatlas.table.grids import Results
from gridatlas.table.study_table import Grid
from gridatlas.table.summary import mean

ALL_PAIRS_UP_TO = 4
"""Levels of a facet up to which all pairs are compared; beyond, each is compared with one."""


@dataclass(frozen=True, slots=True)
class Difference:
    """`second` minus `first`, cell by cell; None where either has no value.

    Attributes:
        facet: Whose levels differ; None for two accounts of one grid.
        change: Of each cell, row by row.
    """

    first: Grid
    second: Grid
    facet: Factor | None
    change: Decimals = field(compare=False)

    @property
    def label(self) -> str:
        """`R1-Qwen − R1-Llama | AIME24`: the level that differs as a difference."""
        return " | ".join(self.parts())

    def parts(self, sign: str = "−") -> tuple[str, ...]:
        """The parts of the label: of each facet its level, or the two levels compared.

        Args:
            sign: Between the two; `÷` where ratios are shown.
        """
        return tuple(
            b.label if a == b else f"{b.label} {sign} {a.label}"
            for a, b in zip(self.first.names, self.second.names, strict=True)
        )

    @property
    def context(self) -> str:
        """The levels that both grids share: `AIME24`; empty where the compared facet is alone."""
        return " | ".join(
            level.label
            for facet, level in zip(self.first.study.facets, self.first.names, strict=True)
            if facet != self.facet
        )

    @property
    def levels(self) -> tuple[Level, Level]:
        """The two levels compared: (first, second); ValueError for accounts of one grid."""
        if self.facet is None:
            raise ValueError("two accounts of one grid have the same levels")
        index = self.first.study.facets.index(self.facet)
        return self.first.names[index], self.second.names[index]

    @property
    def values(self) -> tuple[Decimal, ...]:
        """The differences that exist, row by row."""
        return tuple(value for value in self.change if value is not None)

    @property
    def mean(self) -> Decimal | None:
        """Mean of the differences; None where there is none."""
        return mean(self.values) if self.values else None

    @property
    def higher(self) -> int:
        """Number of cells in which the second is higher."""
        return sum(value > 0 for value in self.values)

    @property
    def lower(self) -> int:
        """Number of cells in which the second is lower."""
        return sum(value < 0 for value in self.values)

    @property
    def equal(self) -> int:
        """Number of cells in which both are the same."""
        return sum(value == 0 for value in self.values)


def subtract(second: Grid, first: Grid, facet: Factor | None) -> Difference:
    """The difference of two grids of one study that differ in the level of `facet`, or of one."""
    pairs = zip(first.columns.value, second.columns.value, strict=True)
    change = Decimals.of(None if a is None or b is None else b - a for a, b in pairs)
    return Difference(first, second, facet, change)


def pairs(results: Results, facet: Factor) -> tuple[tuple[str, str], ...]:
    """The level keys (first, second) of a facet that are subtracted from one another.

    All pairs of a few levels, those with the baseline first; of many each with the baseline, else
    with the first. None where the study neither names a baseline nor compares the facet.
    """
    keys = [level.key for level in results.levels(facet.id) if not level.aggregate]
    baseline = results.study.baseline.get(facet.id)
    if baseline in keys:
        keys = [baseline, *(key for key in keys if key != baseline)]
    elif baseline is not None or facet.id not in results.study.compare:
        return ()
    if len(keys) <= ALL_PAIRS_UP_TO:
        return tuple(combinations(keys, 2))
    return tuple((keys[0], key) for key in keys[1:])


def differences(
    results: Results, facet: Factor, grids: Iterable[Grid] | None = None
) -> tuple[Difference, ...]:
    """The differences between the levels of a facet, for each pair and each other facet level.

    Args:
        grids: Keep only the pairs in which one of these is the second or the first grid.
    """
    wanted = None if grids is None else {grid.levels for grid in grids}
    found = []
    for first, second in pairs(results, facet):
        for grid in results.where(facet.id, first):
            other = results.neighbour(grid, facet.id, second)
            if other and (wanted is None or wanted & {grid.levels, other.levels}):
                found.append(subtract(other, grid, facet))
    return tuple(found)
