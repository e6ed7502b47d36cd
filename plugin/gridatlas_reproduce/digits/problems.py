"""Arithmetic problems by numbers of digits: drawing them, writing them, holding some out."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": lambda x, y: x + y,
    "*": lambda x, y: x * y,
}
END = "$"
"""What ends an answer."""
CHARACTERS = "0123456789+*=" + END
LINE_END = "\n"
"""What ends an answer of a model that learned to write from texts of others."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Two whole numbers and what is done with them.

    Numbers are written from their last digit to their first and filled up with zeros, so that a
    digit of the answer stands at the same distance from the digits that it comes from.

    Attributes:
        width: Characters of either number; 0 where they are written as people write them.
    """

    x: int
    y: int
    operation: str
    width: int

    @property
    def prompt(self) -> str:
        """The question as the model reads it: `2100+5430=` for 12+345 at width 4."""
        return f"{_written(self.x, self.width)}{self.operation}{_written(self.y, self.width)}="

    @property
    def answer(self) -> str:
        """The right answer as the model should write it: `75300`."""
        result = OPERATIONS[self.operation](self.x, self.y)
        return _written(result, self.width and answer_width(self.operation, self.width))

    @property
    def end(self) -> str:
        """What ends the answer."""
        return END if self.width else LINE_END

    @property
    def name(self) -> str:
        """The problem as people write it: `12+345`."""
        return f"{self.x}{self.operation}{self.y}"


def _written(number: int, width: int) -> str:
    return str(number)[::-1].ljust(width, "0") if width else str(number)


def ended(text: str, *ends: str) -> tuple[str, bool]:
    """An answer up to its end, without spaces around it, and whether it has one."""
    first, *rest = re.split("|".join(map(re.escape, (END, LINE_END, *ends))), text, maxsplit=1)
    return first.strip(" "), bool(rest)


def answer_width(operation: str, width: int) -> int:
    """Characters of an answer to numbers of this width, without its end."""
    return width + 1 if operation == "+" else 2 * width


def numbers_of(digits: int) -> range:
    """All whole numbers with this many digits; 0 has one."""
    return range(0 if digits == 1 else 10 ** (digits - 1), 10**digits)


def draw(random_: random.Random, cell: tuple[int, int], operation: str, width: int) -> Problem:
    """One problem of a cell, each as likely as any other.

    Args:
        cell: Digits of x and of y.
    """
    x, y = (random_.choice(numbers_of(digits)) for digits in cell)
    return Problem(x, y, operation, width)


def held_out(
    cell: tuple[int, int], operation: str, width: int, items: int, seed: int
) -> tuple[Problem, ...]:
    """Different problems of a cell that no training sees.

    Never more than half of those that there are: a cell of 1 × 1 digits has 100 in all.

    Args:
        items: How many are wanted.
        seed: Of the drawing; the same for all models, so that all answer the same problems.
    """
    total = len(numbers_of(cell[0])) * len(numbers_of(cell[1]))
    random_ = random.Random(f"held out/{seed}/{cell[0]}/{cell[1]}/{operation}")
    found: dict[Problem, None] = {}
    while len(found) < min(items, total // 2):
        found[draw(random_, cell, operation, width)] = None
    return tuple(found)


def training(
    cells: tuple[tuple[int, int], ...],
    operation: str,
    width: int,
    without: frozenset[Problem],
    seed: str,
) -> Iterator[Problem]:
    """Problems without end, of these cells in turn at random, none of them held out."""
    random_ = random.Random(seed)
    while True:
        problem = draw(random_, random_.choice(cells), operation, width)
        if problem not in without:
            yield problem
