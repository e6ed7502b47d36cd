"""The tokens of an expression: which may stand, and where the parts stand that they make up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gridatlas.claims.tree import EXAMPLE, ClaimError
from gridatlas.problems import shown

MAX_DEPTH = 20
"""Brackets and signs within one another."""
_OPERATORS = frozenset(["==", "!=", "<", "<=", ">", ">=", *"+-*/()[],.="])
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")
_JOINERS = ("and", "or", "not")
_FOREIGN_WORDS = frozenset(
    ["in", "is", "if", "else", "true", "false", "none", "True", "False", "None"]
)
_OTHER_WAYS = {
    "**": "a product: a * a",
    "|": "a name after a dot, as in grid(...).mean",
    "in": "`.best.any_at(...)` for places, `.where(factor=[...])` for levels",
    "is": "a comparison with == or !=",
    "if": "one expression that is true or false",
}


@dataclass(frozen=True, slots=True)
class Token:
    """A word, text, number or sign of an expression, with the kind that Jinja gives it."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """Index after its last character."""
        return self.start + len(self.text)

    @property
    def ends_value(self) -> bool:
        """Whether a value can end here, so that a bracket after it is one of a call."""
        name = self.kind == "name" and self.text not in _JOINERS
        return name or self.text in (")", "]") or self.kind in ("string", "integer", "float")


def checked(expression: str, lexed: Iterable[Token]) -> tuple[list[Token], dict[int, int]]:
    """The tokens, all of them allowed, and the place of its partner for each opening bracket.

    The depth is bounded here, before Jinja's parser calls itself for every bracket and sign.

    Raises:
        ClaimError: For a token that isn't allowed, for brackets that are left open or too deep, and
            where there is no token.
    """
    tokens: list[Token] = []
    closing: dict[int, int] = {}
    opened: list[tuple[int, int]] = []
    depth = signs = 0
    for index, token in enumerate(lexed):
        wrong = _not_allowed(token)
        if wrong:
            raise ClaimError(wrong[0], expression, token.start, token.end, wrong[1])
        tokens.append(token)
        if token.text in ("(", "["):
            opened.append((index, signs))
            depth, signs = depth + 1 + signs, 0
        elif token.text in (")", "]"):
            start, before = opened.pop()
            closing[start] = index
            depth, signs = depth - 1 - before, 0
        else:
            signs = signs + 1 if token.text in ("-", "+", "not") else 0
        if depth + signs > MAX_DEPTH:
            message = f"more than {MAX_DEPTH} brackets and signs within one another"
            raise ClaimError(message, expression, token.start, token.end)
    if opened:
        bracket = tokens[opened[-1][0]]
        message = f"this {bracket.text} is never closed"
        raise ClaimError(message, expression, bracket.start, bracket.end)
    if not tokens:
        raise ClaimError("there is no expression", expression, 0, 0)
    return tokens, closing


def _not_allowed(token: Token) -> tuple[str, str] | None:
    """What is wrong with a token, and what was expected."""
    text = token.text
    if token.kind == "string" and "\\" in text:
        return "a text has no backslashes", "an id as it stands in the data"
    if token.kind in ("integer", "float") and not _NUMBER.fullmatch(text):
        expected = "digits, at most 15 before and 15 after the point, such as 0.1"
        return f"{shown(text)} is not a number of the claim language", expected
    if token.kind in ("string", "integer", "float") or text in _OPERATORS:
        return None
    if token.kind == "name" and text not in _FOREIGN_WORDS and text.isidentifier():
        return None
    return f"{shown(text.strip())} is not part of the claim language", _OTHER_WAYS.get(text, "")


def misplaced(expression: str, tokens: Sequence[Token], index: int) -> ClaimError:
    """The error that the parser stopped at a token, or at the end."""
    value = "a grid, a number or a text in quotes"
    if index >= len(tokens):
        end = len(expression.rstrip())
        return ClaimError("the expression ends too early", expression, end, end, value)
    token = tokens[index]
    after_value = index > 0 and tokens[index - 1].ends_value
    expected = "an operator, a dot or a comma before it" if after_value else value
    message = f"{shown(token.text)} doesn't fit here"
    return ClaimError(message, expression, token.start, token.end, expected)


Span = tuple[int, int]
"""The first and the last token of a part."""


@dataclass(frozen=True)
class Spans:
    """Where the parts of an expression stand, from their first and last tokens.

    Attributes:
        closing: The place of its partner for each opening bracket.
    """

    expression: str
    tokens: list[Token]
    closing: Mapping[int, int]

    def error(
        self, span: Span, message: str, expected: str = "", example: str = EXAMPLE
    ) -> ClaimError:
        """An error that points at a part."""
        return ClaimError(message, self.expression, *self.place(span), expected, example)

    def place(self, span: Span) -> tuple[int, int]:
        """The first character of a part, and the one after its last."""
        return self.tokens[span[0]].start, self.tokens[span[1]].end

    def widened(self, span: Span) -> Span:
        """The span with the brackets around it, other than those of a call or a list."""
        first, last = span
        while (
            self.closing.get(first - 1) == last + 1
            and self.tokens[first - 1].text == "("
            and not (first > 1 and self.tokens[first - 2].ends_value)
        ):
            first, last = first - 1, last + 1
        return first, last
