"""Printed averages of more digits than Python's decimals compute with."""

from decimal import Decimal
from fractions import Fraction

from gridatlas.checks.averages import _HALVES, Average


def test_a_half_has_an_even_neighbour_whatever_its_number_of_digits():
    """Values of 31 digits ended a check with a traceback."""
    unit = Fraction(1, 10**30)
    mean = 1 + 3 * unit / 2
    average = Average(("a",), ("x", "y"), Decimal(f"1.{1:030d}"), mean, mean, mean, False)
    below, above = Decimal(f"1.{1:030d}"), Decimal(f"1.{2:030d}")
    assert average.roundings() == (below, above)
    assert [half((below, above)) for half in _HALVES] == [below, above, above]
