"""The tree of an expression, and the error that points into its text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from decimal import Decimal

SHOWN_WIDTH = 100
"""Characters of a long expression that an error shows around the part it points at."""
EXAMPLE = '(grid(model="a") > grid(model="b")).all'


class ClaimError(Exception):
    """An expression that can't be evaluated; its text shows the expression with a caret line.

    Attributes:
        message: What is wrong, in one line.
        start: Index of the first wrong character in `expression`.
        end: Index after the last one; equal to `start` where something is missing.
        expected: What would have been right; may be empty.
        example: Something right to go by; empty where there is nothing to write.
    """

    def __init__(
        self,
        message: str,
        expression: str,
        start: int,
        end: int,
        expected: str = "",
        example: str = EXAMPLE,
    ) -> None:
        self.message = message
        self.expression = expression
        self.start = start
        self.end = end
        self.expected = expected
        self.example = example
        super().__init__(message)

    @property
    def pointer(self) -> str:
        """The expression, of a long one the part around the fault, and carets below the fault."""
        first = max(min(self.start - SHOWN_WIDTH // 2, len(self.expression) - SHOWN_WIDTH), 0)
        last = first + SHOWN_WIDTH
        text = "".join(c if c.isprintable() else " " for c in self.expression[first:last])
        head, tail = "…" if first else "", "…" if last < len(self.expression) else ""
        carets = "^" * max(min(self.end, last) - self.start, 1)
        return f"{head}{text}{tail}\n{' ' * (len(head) + self.start - first)}{carets}"

    def __str__(self) -> str:
        lines = [self.message, *(f"  {line}" for line in self.pointer.splitlines())]
        if self.expected:
            lines.append(f"  expected: {self.expected}")
        if self.example:
            lines.append(f"  example:  {self.example}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Node:
    """A part of an expression, which is `expression[start:end]`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """A text in quotes, or a number as the decimal that is written."""

    value: str | Decimal


@dataclass(frozen=True, slots=True)
class Items(Node):
    """A list, as in `.where(ratio=[0.1, 0.2])`."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Named(Node):
    """An argument with its name: `model="r1-qwen"`."""

    name: str
    value: Node


@dataclass(frozen=True, slots=True)
class GridCall(Node):
    """`grid(...)`."""

    named: tuple[Named, ...]


@dataclass(frozen=True, slots=True)
class Attribute(Node):
    """`of.name`, or with brackets `of.name(...)`; `name_start` is the index of the name."""

    of: Node
    name: str
    name_start: int
    arguments: tuple[Node, ...] = ()
    named: tuple[Named, ...] = ()


@dataclass(frozen=True, slots=True)
class Negative(Node):
    """`-of`."""

    of: Node


@dataclass(frozen=True, slots=True)
class Arithmetic(Node):
    """`left + right` and the like."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class CompareOp(Node):
    """`a < b`, or a chain `a < b < c`: one operand more than operators."""

    operators: tuple[str, ...]
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Logic(Node):
    """`left and right`, `left or right`; `word_start` is the index of the word."""

    word: str
    word_start: int
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Not(Node):
    """`not of`."""

    of: Node


def walk(node: Node) -> Iterator[Node]:
    """A part and all parts of it, each before its own."""
    yield node
    for field in fields(node):
        value = getattr(node, field.name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Node):
                yield from walk(part)
