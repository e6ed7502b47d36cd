"""The plain values of a claim, numbers and truths, with the cells behind them; their arithmetic.

What needs an absent cell is None and says why. Numbers are decimals. Results carry 60 digits, and a
difference below the 45th digit of the two numbers that it is between is zero, so that a / 3 * 3
equals a. What makes no sense raises `Fault`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from itertools import groupby

from gridatlas.model.study import Factor, Levels, Point, cell_name
from gridatlas.table.coded import Coded


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
        higher: Whether a higher value is better; None where nothing says so.
        fixed: Where a column (row) was taken from it: the level of x (y) that it lies at.
    """

    study: str
    levels: Levels
    name: str
    x: Factor = field(compare=False)
    y: Factor | None = field(compare=False)
    values: Coded[Decimal | None] = field(compare=False, repr=False)
    higher: bool | None = field(compare=False)
    fixed: Point = ("", "")

    def place(self, point: Point) -> Place:
        """The cell behind a point of values that come from this grid."""
        x, y = self.fixed[0] or point[0], self.fixed[1] or point[1]
        name = f"{self.name}, {cell_name((self.x, self.y), (x, y))}"
        cell = self.x.place(x) + len(self.x.levels) * (self.y.place(y) if self.y else 0)
        return Place(self.study, self.levels, x, y, self.values[cell], name)


class Fault(Exception):
    """A part of an expression that makes no sense; the caller knows its place.

    Attributes:
        argument: Name of the argument that is wrong; empty where the whole part is.
    """

    def __init__(
        self, message: str, expected: str = "", example: str = "", argument: str = ""
    ) -> None:
        self.message = message
        self.expected = expected
        self.example = example
        self.argument = argument
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Number:
    """A plain number, or None as `why` says.

    Attributes:
        places: The cells that have this value; empty where no single cell has it.
    """

    value: Decimal | None
    places: tuple[Place, ...] = ()
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Truth:
    """True, false, or None for undecidable as `why` says.

    Attributes:
        places: The cells that decide it.
    """

    value: bool | None
    places: tuple[Place, ...] = ()
    why: tuple[str, ...] = ()

    def negated(self) -> Truth:
        """True where this is false."""
        return replace(self, value=negation(self.value))

    def joined(self, other: Truth) -> Truth:
        """`self and other`: one false is enough for false."""
        value = conjunction(self.value, other.value)
        deciding = [truth for truth in (self, other) if truth.value == value]
        places = dict.fromkeys(place for truth in deciding for place in truth.places)
        return Truth(value, tuple(places), unique(*(truth.why for truth in deciding)))


@dataclass(frozen=True, slots=True)
class CellNames:
    """Names of cells, for prose."""

    names: tuple[str, ...]
    why: tuple[str, ...] = ()


def conjunction(left: bool | None, right: bool | None) -> bool | None:
    """Three-valued `and`: one false is enough for false."""
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def negation(value: bool | None) -> bool | None:
    """Three-valued `not`."""
    return None if value is None else not value


def unique(*groups: tuple[str, ...]) -> tuple[str, ...]:
    """The texts of all groups, each once."""
    return tuple(dict.fromkeys(text for group in groups for text in group))


_DIGITS = Context(prec=60, traps=[InvalidOperation, DivisionByZero, Overflow])
_EQUAL_DIGITS = Context(prec=45)


def difference(left: Decimal, right: Decimal) -> Decimal:
    """`left − right`; zero where they agree in 45 digits."""
    result = _DIGITS.subtract(left, right)
    size = max((number.adjusted() for number in (left, right) if number), default=0)
    return Decimal(0) if result and result.adjusted() < size - _EQUAL_DIGITS.prec else result


EXACT_DIGITS = 30
"""Digits that numbers reach over together up to which sums of any million of them are exact."""


def total(values: Coded[Decimal]) -> Decimal:
    """The sum."""
    times = Counter(values.codes.tolist())
    kinds = {code: values.kinds[code] for code in times}
    highest = max((number.adjusted() for number in kinds.values()), default=0)
    lowest = min((int(number.as_tuple().exponent) for number in kinds.values()), default=0)
    result = Decimal(0)
    if highest - min(lowest, 0) <= EXACT_DIGITS:
        for code, number in kinds.items():
            result = _DIGITS.add(result, _DIGITS.multiply(number, Decimal(times[code])))
        return result
    for value in values:
        result = difference(result, value.copy_negate())
    return result


ARITHMETIC: Mapping[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": lambda left, right: difference(left, right.copy_negate()),
    "-": difference,
    "*": _DIGITS.multiply,
    "/": _DIGITS.divide,
}
COMPARISONS: Mapping[str, Callable[[Decimal, Decimal], bool]] = {
    "==": lambda left, right: difference(left, right) == 0,
    "!=": lambda left, right: difference(left, right) != 0,
    "<": lambda left, right: difference(left, right) < 0,
    "<=": lambda left, right: difference(left, right) <= 0,
    ">": lambda left, right: difference(left, right) > 0,
    ">=": lambda left, right: difference(left, right) >= 0,
}


def calculate_pair(
    operator: str,
    left: Decimal | None,
    right: Decimal | None,
    places: Callable[[], tuple[Place, ...]],
) -> Decimal | None:
    """`left + right` and the like.

    Args:
        places: The cells behind the right side, for the message about a division by zero.

    Raises:
        Fault: For a division by zero, and for a result of a million digits.
    """
    if left is None or right is None:
        return None
    try:
        return ARITHMETIC[operator](left, right)
    except (DivisionByZero, InvalidOperation):
        found = " at ".join(["division by zero", *(place.name for place in places())])
        expected = "a divisor other than 0; .where(...) leaves cells out"
        raise Fault(found, expected, "grid(...).where(grid(...) != 0)") from None
    except Overflow:
        raise Fault("this number is too large") from None


def calculate_numbers(operator: str, left: Number, right: Number) -> Number:
    """`left + right` and the like, of plain numbers."""
    value = calculate_pair(operator, left.value, right.value, lambda: right.places[:1])
    if value is None:
        return Number(None, (), unique(left.why, right.why))
    return Number(value, tuple(dict.fromkeys(left.places + right.places)))


def compare_numbers(operator: str, left: Number, right: Number) -> Truth:
    """`left < right` and the like, of plain numbers; the cells that have them decide."""
    if left.value is None or right.value is None:
        return Truth(None, (), unique(left.why, right.why))
    places = tuple(dict.fromkeys(left.places + right.places))
    return Truth(COMPARISONS[operator](left.value, right.value), places)


def tau_b(pairs: Iterable[tuple[Decimal, Decimal]]) -> Decimal | None:
    """Kendall's τ-b, from −1 to 1; None where all pairs are tied on one side.

    Paper: M. G. Kendall, The treatment of ties in ranking problems, Biometrika 33 (1945).
    """
    ordered = sorted((first, _EQUAL_DIGITS.plus(second)) for first, second in pairs)
    surplus = 0
    before: list[Decimal] = []
    for _, group in groupby(ordered, key=lambda pair: pair[0]):
        values = [second for _, second in group]
        for value in values:
            surplus += bisect_left(before, value) - (len(before) - bisect_right(before, value))
        for value in values:
            insort(before, value)
    untied = Decimal(1)
    for side in (0, 1):
        ties = Counter(pair[side] for pair in ordered).values()
        untied *= (len(ordered) * (len(ordered) - 1) - sum(n * (n - 1) for n in ties)) // 2
    return _DIGITS.divide(Decimal(surplus), _DIGITS.sqrt(untied)) if untied else None
