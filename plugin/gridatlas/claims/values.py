"""The plain values of a claim, numbers and truths, and what stands for a fault in it.

What needs an absent cell is None and says why.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from gridatlas.claims.places import Place


class Fault(Exception):
    """A part of an expression that makes no sense; the caller knows where it stands.

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
        deciding = [one for one in (self, other) if one.value == value]
        places = dict.fromkeys(place for one in deciding for place in one.places)
        return Truth(value, tuple(places), unique(*(one.why for one in deciding)))


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
