"""Numbers and cells as texts: values as printed, differences with their sign, intervals."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Context, Decimal

from gridatlas.model.study import STATE_LABELS, Cell, Study
from gridatlas.statistics.interval import Interval

_DIGITS = Context(prec=400)
_BEYOND_NOISE = 9
"""Decimals beyond the shown ones at which a float is taken for the decimal number next to it."""
MINUS = "\N{MINUS SIGN}"
SMALL = Decimal("0.001")
"""Numbers below which are written with a power of ten."""
_PREFIXES = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P"}
_PREFIXED = dict.fromkeys(("B", "bit", "B/s", "bit/s", "FLOP", "FLOP/s", "FLOPS", "Hz"), (0, 15))
_PREFIXED |= {"s": (-12, 0), **dict.fromkeys(("J", "W", "Wh"), (-12, 15))}
"""Units with the powers of ten that their prefixes may stand for: nobody writes ks, or mB."""
_SPELT = {"us": "µs", "μs": "µs", "sec": "s", "seconds": "s", "bytes": "B", "KB": "kB"}


def many(number: int, noun: str, plural: str = "") -> str:
    """A number of things: `1 grid`, `1,200 grids`, `2 studies`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def is_are(number: int) -> str:
    """The verb after a number."""
    return "is" if number == 1 else "are"


def places_of(value: Decimal) -> int:
    """Decimals as printed: 2 of 47.30."""
    text = str(value)
    if "E" in text:
        return max(0, -int(value.as_tuple().exponent))
    return len(text.partition(".")[2])  # several times as quick, and asked of each cell


def rounded(value: Decimal | float, decimals: int) -> Decimal:
    """A finite number rounded half away from zero, as readers do it by hand: 86.85 to 86.9.

    A float stands for the decimal number that it is but for the noise of binary arithmetic: of
    86.85 and of a mean that comes out as 86.84999999999998 the half is seen all the same. So it
    counts up to 15 digits, and up to nine decimals beyond the ones asked for.
    """
    if not isinstance(value, Decimal):
        value = _quantized(Decimal(f"{value:.15g}"), decimals + _BEYOND_NOISE)
    return _quantized(value, decimals)


def _quantized(value: Decimal, decimals: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, _DIGITS)


def format_value(value: Decimal | float, decimals: int) -> str:
    """A number, `rounded`, in plain digits: `47.0`; nothing has no sign."""
    found = rounded(value, decimals)
    return f"{found if found else abs(found):f}"


def format_measured(value: Decimal | float, decimals: int) -> str:
    """A value, `rounded`; one that isn't 0 never reads as 0."""
    text = format_value(value, decimals)
    exact = value if isinstance(value, Decimal) else rounded(value, decimals + _BEYOND_NOISE)
    return text if not exact or Decimal(text) else _tiny(exact)


def _tiny(value: Decimal) -> str:
    """A number that rounds to nothing: `0.04`, `1.2 × 10⁻⁶`."""
    if abs(value) >= SMALL:
        return f"{float(value):.2g}"
    digits, _, power = f"{value:.1e}".partition("e")
    return f"{digits} × {_ten(int(power))}"


def _ten(power: int) -> str:
    return f"10{str(power).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def fitting_unit(unit: str, median: float) -> tuple[str, int]:
    """The unit in which a median lies between 1 and 1,000, as far as there is one.

    Of a unit without a prefix that fits, small values have a power of ten before it.

    Returns:
        The unit, and the power of ten by which values in it are larger.
    """
    if 1 <= median < 1000:
        return unit, 0
    size = Decimal(repr(median)).adjusted()
    for base, (low, high) in _PREFIXED.items():
        for own in range(low, high + 1, 3):
            if _SPELT.get(unit, unit) == _PREFIXES[own] + base:
                power = min(max(own + size // 3 * 3, low), high)
                return (unit if power == own else _PREFIXES[power] + base), own - power
    if median >= SMALL or unit == "%":
        return unit, 0
    return f"× {_ten(size)} {unit}".rstrip(), -size


def format_ratio(ratio: float) -> str:
    """`1.8 ×`: with two digits, those of the number that it rounds to."""
    two = Decimal(f"{ratio:.1e}")
    return f"{format_value(ratio, max(0, 1 - two.adjusted()))} ×"


def denoised(value: Decimal | float, study: Study) -> float:
    """A computed number for other programs, with 6 decimals more than pages show."""
    return float(rounded(value, (study.metric.decimals or 0) + 6))


def mean_decimals(study: Study) -> int:
    """Decimals of means, and of differences of means: one more than whole numbers have."""
    return study.metric.decimals or 1


def format_p(p: float) -> str:
    """A p-value with two digits, never rounded to 0 or 1: `0.032`, `0.20`, `< 0.001`."""
    if p < 0.001:
        return "< 0.001"
    if p >= 0.995:
        return "1" if p == 1 else "> 0.99"
    if p >= 0.1:
        return format_value(p, 2)
    return format_value(p, 3 if p >= 0.01 else 4).rstrip("0")


def in_p(p: float) -> str:
    """A p-value in a sentence: `p = 0.032`, `p < 0.001`."""
    text = format_p(p)
    return f"p = {text}" if text[0].isdigit() else f"p {text}"


def format_difference(value: Decimal | float, decimals: int) -> str:
    """A difference with its sign: `+2.6`, `−0.4` (with a real minus sign), `0.0`."""
    text = format_value(value, decimals)
    return f"+{text}" if Decimal(text) > 0 else text.replace("-", MINUS)


def value_with_unit(text: str, unit: str, difference: bool = False) -> str:
    """A formatted value with its unit; a difference of percentages is in percentage points."""
    text = text.replace("-", MINUS)
    return f"{text} {difference_unit(unit) if difference else unit}".rstrip()


def name_with_unit(name: str, unit: str) -> str:
    """A name with its unit: `Pass@1 (%)`."""
    return f"{name} ({unit})" if unit else name


def difference_unit(unit: str) -> str:
    """The unit of differences: of percentages, points."""
    return "points" if unit == "%" else unit


def spoken_unit(unit: str) -> str:
    """A unit behind `in`: a power of ten as `units of 10⁻⁷`."""
    return f"units of {unit.removeprefix('× ')}" if unit.startswith("× ") else unit


def cell_text(study: Study, cell: Cell) -> str:
    """A cell in a table: its value as printed, or why there is none."""
    text = printed(study, cell)
    if text is None:
        return STATE_LABELS[cell.state]
    text = f"{text} {beside(cell)}".rstrip()
    return f"{text} (disputed)" if cell.state == "disputed" else text


def printed(study: Study, cell: Cell) -> str | None:
    """A cell's value with its own decimals, of a mean of repeats the metric's; None without one."""
    if cell.value is None:
        return None
    decimals = study.metric.decimals or 0
    own = min(places_of(cell.value), 6) if cell.reading and cell.repeats == 1 else 0
    return format_measured(cell.value, max(decimals, own))


SPREADS = {
    "sd": "standard deviation",
    "se": "standard error",
    "ci95": "half of the 95 % interval",
    None: "not said what",
}
"""What stands after a ±, by the kind of a study's `spread`."""


def beside(cell: Cell) -> str:
    """What is printed beside a cell's value, `± 0.4`; empty where nothing is.

    Of computed ones with more than six decimals four digits are shown.
    """
    if cell.spread is None or cell.value is None:
        return ""
    places = places_of(cell.spread)
    places = places if places <= 6 else max(0, 3 - cell.spread.adjusted())
    return f"± {format_value(cell.spread, places)}"


def spread_words(study: Study) -> str:
    """What stands after the ± of a study's values: `standard deviation of 5 repeats`."""
    if study.spread is None:
        return ""
    words = SPREADS[study.spread.kind]
    if study.spread.n is None:
        return words
    return f"{words}{' of' if study.spread.kind == 'sd' else ', over'} {study.spread.n} repeats"


def between(low: float, high: float, study: Study) -> str:
    """An interval in the metric's decimals: `44.0 to 59.9`."""
    return to([low, high], study.metric.decimals or 0)


def to(ends: Iterable[float], decimals: int) -> str:
    """An interval: `44.0 to 59.9`."""
    return " to ".join(format_value(end, decimals) for end in ends)


def difference_ends(interval: Interval, study: Study) -> str:
    """The interval of a difference in the metric's decimals: `−4.1 to +3.1`."""
    decimals = study.metric.decimals or 0
    return " to ".join(format_difference(end, decimals) for end in (interval.low, interval.high))
