"""Numbers as they are printed, by a source and in a finding."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from gridatlas.model.format import places_of
from gridatlas.model.study import Cell


def half_unit(value: Decimal) -> Decimal:
    """Half a unit of the last printed decimal."""
    return Decimal((0, (5,), -places_of(value) - 1))


def is_computed(cell: Cell) -> bool:
    """Whether the value is the mean of repeats: computed, so not printed with some decimals."""
    return cell.repeats > 1


def plain(value: Decimal) -> str:
    """As printed, with all its digits and without an exponent."""
    return f"{value:f}"


def short(value: Decimal) -> str:
    """A computed number with at most 4 decimals, without zeros at the end."""
    text = f"{value:.4f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: Fraction) -> str:
    """A share in percent; never 0.0 or 100.0 for one that is only near."""
    if 0 < share < Fraction(1, 1000):
        return "less than 0.1 %"
    if Fraction(999, 1000) < share < 1:
        return "more than 99.9 %"
    return f"{float(100 * share):.1f} %"
