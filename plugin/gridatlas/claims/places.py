"""Cells that claims name, and the grids that they lie in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from gridatlas.model.study import Factor, Levels, Point, inline


@dataclass(frozen=True, slots=True)
class Place:
    """A cell that decides an outcome.

    Attributes:
        study: Id of its study.
        levels: Level keys of its grid's facets.
        x: Level key of x.
        y: Level key of y.
        value: Its value; None where it has none.
        name: `R1-Qwen | AIME24, ratio 0.1, local window size 500`.
        against: The cells of other grids that it was calculated with.
    """

    study: str
    levels: Levels
    x: str
    y: str
    value: Decimal | None
    name: str
    against: tuple[Place, ...] = ()

    def __str__(self) -> str:
        value = "no value" if self.value is None else str(self.value)
        return " against ".join([f"{value} ({self.name})", *map(str, self.against)])


@dataclass(frozen=True, slots=True)
class Source:
    """A grid that values come from.

    Attributes:
        name: `R1-Qwen | AIME24`, with the study or the reading where it isn't the usual one.
        higher: Whether a higher value is better.
        fixed: Where a column (row) was taken from it: the level of x (y) that it lies at.
    """

    study: str
    levels: Levels
    name: str
    x: Factor = field(compare=False)
    y: Factor = field(compare=False)
    values: Mapping[Point, Decimal | None] = field(compare=False, repr=False)
    higher: bool = field(compare=False)
    fixed: Point = ("", "")

    def place(self, point: Point) -> Place:
        """The cell behind a point of values that come from this grid."""
        x, y = self.fixed[0] or point[0], self.fixed[1] or point[1]
        name = f"{self.name}, {cell_name((self.x, self.y), (x, y))}"
        return Place(self.study, self.levels, x, y, self.values.get((x, y)), name)


def cell_name(factors: Iterable[Factor | None], point: Point) -> str:
    """`ratio 0.1, local window size 500`."""
    return ", ".join(
        f"{inline(factor.label)} {factor.level(key).label}"
        for factor, key in zip(factors, point, strict=True)
        if factor is not None
    )
