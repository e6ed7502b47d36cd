"""The wording of findings: how many, of what, in which cells, numbers as printed, and chances."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction

from gridatlas.model.format import format_value, is_are, many, places_of
from gridatlas.model.study import Factor, Point, Study, cell_name, inline

CHANCE = Fraction(1, 100)
"""Repeated lines and runs are findings where chance gives one in fewer than 1 of 100 readings."""
NAMED_CELLS = 6
"""Cells that a finding names; how many more there are, it says."""


def of_values(number: int, total: int) -> str:
    """`3 of 20 values are`, for a sentence to go on."""
    return f"{number} of {many(total, 'value')} {is_are(number)}"


def span(numbers: Iterable[int]) -> str:
    """`150`, or `150 to 990`."""
    distinct = sorted(set(numbers))
    return f"{distinct[0]:,}" + (f" to {distinct[-1]:,}" if len(distinct) > 1 else "")


def decimals_text(places: Iterable[int]) -> str:
    """`1 decimal`, `no decimals`, `0 to 2 decimals`."""
    number = span(places)
    return f"{'no' if number == '0' else number} {'decimal' if number == '1' else 'decimals'}"


def at_level(factor: Factor, key: str) -> str:
    """`local window size 500`."""
    return f"{inline(factor.label)} {factor.level(key).label}"


def cells_text(study: Study, cells: Sequence[tuple[Point, str]]) -> str:
    """`47.3 at ratio 0.1, local window size 500; …`, and how many more there are."""
    texts = (
        f"{text} at {cell_name((study.x, study.second), point)}"
        for point, text in cells[:NAMED_CELLS]
    )
    more = len(cells) - NAMED_CELLS
    return "; ".join(texts) + (f"; and {more} more" if more > 0 else "")


# --- numbers as printed -------------------------------------------------------------------------


def half_unit(value: Decimal) -> Decimal:
    """Half a unit of the last printed decimal."""
    return Decimal((0, (5,), -places_of(value) - 1))


def plain(value: Decimal) -> str:
    """As printed, with all its digits and without an exponent."""
    return f"{value:f}"


def short(value: Decimal) -> str:
    """A computed number with at most 4 decimals, without zeros at the end."""
    text = format_value(value, 4)
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: Fraction) -> str:
    """A share in percent; never 0.0 or 100.0 for one that is only near."""
    if 0 < share < Fraction(1, 1000):
        return "less than 0.1 %"
    if Fraction(999, 1000) < share < 1:
        return "more than 99.9 %"
    return f"{format_value(float(100 * share), 1)} %"


# --- chances ------------------------------------------------------------------------------------


def how_sure(what: str, chances: tuple[Fraction, Fraction], by_second: str, limit: Fraction) -> str:
    """The chance under both nulls; the second is 0 where there is too little to tell it from."""
    text = f"{odds_text(chances[0])} if its values are in random order"
    if chances[1]:
        text += f", {odds_text(chances[1])} if {by_second}"
    grids = f" (1 in {1 / CHANCE} over {1 / limit * CHANCE} grids)" if limit < CHANCE else ""
    return (
        f"Highest chance of {what} in one grid: {text}. Values at the ends of the range don't "
        f"count. The check reports chances below 1 in {1 / limit}{grids}."
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
