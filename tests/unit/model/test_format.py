"""Numbers as readers see them: rounded once, half away from zero, however they are held."""

import math
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from builders import cases, table
from hypothesis import example, given
from hypothesis import strategies as st

from gridatlas.model.format import (
    MINUS,
    beside,
    between,
    denoised,
    fitting_unit,
    format_difference,
    format_measured,
    format_p,
    format_ratio,
    format_value,
    in_p,
    rounded,
    spoken_unit,
)

DECIMALS = st.integers(0, 6)
AS_PRINTED = st.decimals(-10_000, 10_000, places=3)


def by_hand(value, decimals):
    """The exact number rounded half away from zero, in digits; nothing has no sign."""
    whole = math.floor(abs(value) * 10**decimals + Fraction(1, 2))
    digits = str(whole).rjust(decimals + 1, "0")
    text = digits[: len(digits) - decimals] + ("." + digits[-decimals:] if decimals else "")
    return f"-{text}" if value < 0 and whole else text


@given(st.decimals(allow_nan=False, allow_infinity=False, places=12), DECIMALS)
@example(Decimal("86.85"), 1)
@example(Decimal("-0.05"), 1)
@example(Decimal("-0.04"), 1)
@example(Decimal("-0"), 0)
@example(Decimal("1E+30"), 0)
@example(Decimal("1234567890123456789012345678.5"), 1)
def test_a_decimal_is_rounded_half_away_from_zero(value, decimals):
    assert format_value(value, decimals) == by_hand(Fraction(value), decimals)


@given(AS_PRINTED, DECIMALS)
@example(Decimal("86.85"), 1)
@example(Decimal("0.285"), 2)
@example(Decimal("-0.25"), 1)
def test_a_float_is_rounded_as_the_decimal_number_that_it_stands_for(value, decimals):
    assert format_value(float(value), decimals) == format_value(value, decimals)


@given(st.lists(AS_PRINTED, min_size=1, max_size=60), st.lists(AS_PRINTED, max_size=60), DECIMALS)
@example([Decimal("87.2"), Decimal("86.5")], [], 1)
def test_noise_of_sums_moves_no_half(values, others, decimals):
    """Means and their differences, as they are computed, are rounded as the exact ones."""
    exact = Fraction(sum(map(Fraction, values))) / len(values)
    floats = [*map(float, values)]
    for found in (np.mean(floats), np.mean(floats[::-1]), sum(floats) / len(floats)):
        assert format_value(found, decimals) == by_hand(exact, decimals)
    if others:
        exact -= Fraction(sum(map(Fraction, others))) / len(others)
        difference = np.mean(floats) - np.mean([*map(float, others)])
        text = format_difference(difference, decimals).replace(MINUS, "-").removeprefix("+")
        assert text == by_hand(exact, decimals)


@given(st.floats(-1e15, 1e15), DECIMALS)
def test_any_float_is_off_by_half_a_unit_at_most(value, decimals):
    text = format_value(value, decimals)
    assert not (text.startswith("-") and not Decimal(text))
    off = abs(Fraction(text) - Fraction(value))
    noise = abs(Fraction(value)) / 10**14 + Fraction(1, 10 ** (decimals + 9))
    assert off <= Fraction(1, 2 * 10**decimals) + noise


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(1.8, "1.8 ×"), (0.996, "1.0 ×"), (0.994, "0.99 ×"), (0.0444, "0.044 ×"), (99.6, "100 ×"),
     (123.4, "123 ×")],
)  # fmt: skip
def test_a_ratio_has_two_digits(ratio, text):
    assert format_ratio(ratio) == text


@given(st.decimals(-1000, 1000, places=9), DECIMALS)
@example(Decimal("-0.04"), 1)
@example(Decimal("-1E+30"), 0)
def test_a_difference_has_the_digits_of_the_value_and_a_sign(value, decimals):
    text = format_difference(value, decimals)
    digits = format_value(value, decimals)
    assert text.lstrip("+" + MINUS) == digits.lstrip("-")
    assert text[0] == ("+" if Decimal(digits) > 0 else MINUS if Decimal(digits) < 0 else digits[0])


@pytest.mark.parametrize(("p", "text"), cases(__file__, "a p value is the same text everywhere"))
def test_a_p_value_is_the_same_text_everywhere(p, text):
    assert format_p(p) == text
    assert in_p(p) == (f"p = {text}" if text[0] not in "<>" else f"p {text}")


def test_ends_of_intervals_are_rounded_as_values(make_study):
    study = make_study(
        "format: 1\ntitle: T\nmetric: {name: m, column: value, unit: '%', decimals: 1}\n"
        "x: rate\ny: depth\n",
        table("rate,depth,value", "1,1,40"),
    )
    assert between(86.85, 0.25, study) == "86.9 to 0.3"
    # A program that rounds what it is given rounds once: 4 decimals would have made a half of it.
    assert denoised(12.449996, study) == 12.449996
    assert rounded(denoised(12.449996, study), 1) == Decimal("12.4")
    assert denoised(86.84999999999998, study) == 86.85


def test_rounding_is_that_of_decimal_arithmetic():
    assert rounded(Decimal("2.5"), 0) == Decimal("2.5").quantize(Decimal(1), ROUND_HALF_UP) == 3


@pytest.mark.parametrize(
    ("spread", "text"),
    [("0.40", "± 0.40"), ("1.9409500676618992", "± 1.941"), ("0.0000123456789", "± 0.00001235")],
)
def test_computed_spreads_have_four_digits(spread, text):
    cell = SimpleNamespace(value=Decimal(1), spread=Decimal(spread))
    assert beside(cell) == text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("unit", "median", "fits", "power"),
    [
        ("s", 0.000012, "µs", 6),
        ("s", 0.001, "ms", 3),
        ("s", 0.99, "ms", 3),
        ("s", 1, "s", 0),
        ("s", 7200, "s", 0),  # nobody writes 7.2 ks
        ("ms", 1000, "s", -3),
        ("us", 12, "us", 0),
        ("us", 0.5, "ns", 3),
        ("μs", 5000, "ms", -3),
        ("seconds", 0.002, "ms", 3),
        ("s", 3e-15, "ps", 12),
        ("B", 16_106_127_360, "GB", -9),
        ("B", 0.5, "B", 0),
        ("GB", 0.25, "MB", 3),
        ("TFLOP/s", 4_000, "PFLOP/s", -3),
        ("Wh", 0.0004, "µWh", 6),
        ("min", 0.25, "min", 0),
        ("tokens/s", 125_000, "tokens/s", 0),
        ("", 0.0000012, "× 10⁻⁶", 6),
        ("nats", 0.00051, "× 10⁻⁴ nats", 4),
        ("", 0.001, "", 0),
        ("%", 0.0001, "%", 0),  # its differences are points
    ],
)
def test_a_unit_fits_where_the_median_is_from_1_to_1000(unit, median, fits, power):
    assert fitting_unit(unit, median) == (fits, power)


@pytest.mark.parametrize(
    ("unit", "text"),
    [("µs", "µs"), ("%", "%"), ("× 10⁻⁷", "units of 10⁻⁷"), ("× 10⁻⁷ m", "units of 10⁻⁷ m")],
)
def test_a_unit_within_a_sentence(unit, text):
    assert spoken_unit(unit) == text


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (Decimal("0.0000012"), 2, "1.2 × 10⁻⁶"),
        (Decimal("-0.0000012"), 2, "-1.2 × 10⁻⁶"),
        (Decimal("0.04"), 1, "0.04"),
        (Decimal("0.000"), 1, "0.0"),
        (0.0000012, 2, "1.2 × 10⁻⁶"),
        (5.5e-17, 2, "0.00"),  # the noise of binary arithmetic
        (Decimal("12.34"), 1, "12.3"),
    ],
)
def test_a_value_that_is_not_0_never_reads_as_0(value, decimals, text):
    assert format_measured(value, decimals) == text
