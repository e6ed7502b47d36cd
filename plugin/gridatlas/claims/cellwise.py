"""Grids are calculated with and compared, cell by cell."""

from __future__ import annotations

from decimal import Decimal

from gridatlas.claims.arithmetic import (
    COMPARISONS,
    calculate_numbers,
    calculate_pair,
    compare_numbers,
)
from gridatlas.claims.grids import Numbers, Truths
from gridatlas.claims.parts import match, origin
from gridatlas.claims.places import Place
from gridatlas.claims.values import Number, Truth
from gridatlas.model.study import Point


def calculate(operator: str, left: Numbers | Number, right: Numbers | Number) -> Numbers | Number:
    """`left + right` and the like, cell by cell where one of them is a grid.

    Raises:
        Fault: For grids whose cells differ, a division by zero, and a result that is too large.
    """
    if isinstance(left, Number) and isinstance(right, Number):
        return calculate_numbers(operator, left, right)
    grid = _frame(left, right)

    def cell(point: Point) -> Decimal | None:
        def places() -> tuple[Place, ...]:
            return (right.place(point),) if isinstance(right, Numbers) else right.places[:1]

        return calculate_pair(operator, _at(left, point), _at(right, point), places)

    values = {point: cell(point) for point in grid.values}
    sources, why = origin(left, right)
    higher = all(source.higher for source in sources) or None
    whole = _whole(left, right)
    return Numbers(grid.x, grid.y, values, sources, why, grid.absent, whole, higher)


def compare(operator: str, left: Numbers | Number, right: Numbers | Number) -> Truths | Truth:
    """`left < right` and the like, cell by cell where one of them is a grid.

    Raises:
        Fault: For grids whose cells differ.
    """
    if isinstance(left, Number) and isinstance(right, Number):
        return compare_numbers(operator, left, right)
    grid = _frame(left, right)
    values: dict[Point, bool | None] = {}
    for point in grid.values:
        first, second = _at(left, point), _at(right, point)
        values[point] = (
            None if first is None or second is None else COMPARISONS[operator](first, second)
        )
    sources, why = origin(left, right)
    return Truths(grid.x, grid.y, values, sources, why, grid.absent, _whole(left, right))


def _frame(left: Numbers | Number, right: Numbers | Number) -> Numbers:
    """The one that is a grid; the left of two, once it is known that their cells match."""
    if isinstance(left, Numbers) and isinstance(right, Numbers):
        match(left, right)
    grid = left if isinstance(left, Numbers) else right
    assert isinstance(grid, Numbers)
    return grid


def _whole(*sides: Numbers | Number) -> bool:
    return all(side.whole for side in sides if isinstance(side, Numbers))


def _at(value: Numbers | Number, point: Point) -> Decimal | None:
    return value.value if isinstance(value, Number) else value.values[point]
