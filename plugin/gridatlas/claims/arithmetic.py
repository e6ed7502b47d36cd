"""How the numbers of a claim are calculated and compared.

Numbers are decimals. Results carry 60 digits, and a difference below the 45th digit of the two
numbers that it is between is zero, so that a / 3 * 3 equals a. A calculation that makes no sense
raises `Fault`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from itertools import groupby

from gridatlas.claims.places import Place
from gridatlas.claims.values import Fault, Number, Truth, unique

_DIGITS = Context(prec=60, traps=[InvalidOperation, DivisionByZero, Overflow])
_EQUAL_DIGITS = Context(prec=45)


def difference(left: Decimal, right: Decimal) -> Decimal:
    """`left − right`; zero where they agree in 45 digits."""
    result = _DIGITS.subtract(left, right)
    size = max((one.adjusted() for one in (left, right) if one), default=0)
    return Decimal(0) if result and result.adjusted() < size - _EQUAL_DIGITS.prec else result


def total(values: Iterable[Decimal]) -> Decimal:
    """The sum."""
    result = Decimal(0)
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
