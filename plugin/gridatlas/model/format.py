"""Numbers and cells as texts: values as printed, differences with their sign, intervals."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal

from gridatlas.model.study import STATE_LABELS, Cell, Study
from gridatlas.statistics.interval import Interval

_DIGITS = Context(prec=400)
MINUS = "\N{MINUS SIGN}"


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


def format_value(value: Decimal, decimals: int) -> str:
    """A value with a fixed number of decimals, in plain digits: `47.0`."""
    rounded = value.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_EVEN, _DIGITS)
    return f"{rounded if rounded else abs(rounded):f}"


def format_difference(value: Decimal, decimals: int) -> str:
    """A difference with its sign: `+2.6`, `−0.4` (with a real minus sign), `0.0`."""
    text = format_value(value, decimals)
    return f"+{text}" if Decimal(text) > 0 else text.replace("-", MINUS)


def value_with_unit(text: str, unit: str, difference: bool = False) -> str:
    """A formatted value with its unit; a difference of percentages is in percentage points."""
    if unit == "%":
        return f"{text} points" if difference else f"{text} %"
    return f"{text} {unit}".rstrip()


def name_with_unit(name: str, unit: str) -> str:
    """A name with its unit: `Pass@1 (%)`."""
    return f"{name} ({unit})" if unit else name


def difference_unit(unit: str) -> str:
    """The unit of differences: of percentages, points."""
    return "points" if unit == "%" else unit


def cell_text(study: Study, cell: Cell) -> str:
    """A cell in a table: its value as printed, or why there is none."""
    text = printed(study, cell)
    if text is None:
        return STATE_LABELS[cell.state]
    text = f"{text} {beside(cell)}".rstrip()
    return f"{text} (disputed)" if cell.state == "disputed" else text


def printed(study: Study, cell: Cell) -> str | None:
    """A cell's value with the decimals that it was printed with; None where there is none."""
    if cell.value is None:
        return None
    decimals = study.metric.decimals or 0
    own = places_of(cell.value)
    return format_value(cell.value, max(decimals, min(own, 6) if cell.reading else 0))


SPREADS = {
    "sd": "standard deviation",
    "se": "standard error",
    "ci95": "half of the 95 % interval",
    None: "not said what",
}
"""What stands after a ±, by the kind of a study's `spread`."""


def beside(cell: Cell) -> str:
    """What is printed beside a cell's value, `± 0.4`; empty where nothing is."""
    return "" if cell.spread is None or cell.value is None else f"± {cell.spread:f}"


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
    decimals = study.metric.decimals or 0
    return f"{low:.{decimals}f} to {high:.{decimals}f}"


def difference_ends(interval: Interval, study: Study) -> str:
    """The interval of a difference in the metric's decimals: `−4.1 to +3.1`."""
    ends = (Decimal(repr(end)) for end in (interval.low, interval.high))
    low, high = (format_difference(end, study.metric.decimals or 0) for end in ends)
    return f"{low} to {high}"
