"""How rare what repeats has to be before it is a finding, and how that is told."""

from __future__ import annotations

import math
from fractions import Fraction

from gridatlas.checks.words import many

CHANCE = Fraction(1, 100)
"""Repeated lines and runs are findings where chance gives one in fewer than 1 of 100 readings."""


def how_sure(what: str, chances: tuple[Fraction, Fraction], by_second: str, limit: Fraction) -> str:
    """The chance under both nulls; the second is 0 where there is too little to tell it from."""
    text = f"{odds_text(chances[0])} if its values are in random order"
    if chances[1]:
        text += f", {odds_text(chances[1])} if {by_second}"
    grids = f" (1 in {1 / CHANCE} over {1 / limit * CHANCE} grids)" if limit < CHANCE else ""
    return (
        f"Chance of {what} in a grid, at most: {text}. Values at the ends of the range don't "
        f"count. Reported below 1 in {1 / limit}{grids}."
    )


def times_text(equal: int, pairs: int) -> str:
    """`3 of 20 times`."""
    return f"{equal:,} of {many(pairs, 'time')}"


def odds_text(chance: Fraction) -> str:
    """`1 in 5,100`, in two digits; below one in a billion, only that."""
    if chance * 10**9 <= 1:
        return "below 1 in 1,000,000,000"
    odds = math.floor(1 / chance)
    unit = 10 ** max(0, len(str(odds)) - 2)
    return f"1 in {odds // unit * unit:,}"
