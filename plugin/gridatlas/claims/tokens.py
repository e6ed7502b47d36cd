"""The tokens of an expression: which are allowed, in which order, and where each is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gridatlas.claims.tree import ClaimError
from gridatlas.model.problems import quote

MAX_DEPTH = 20
"""Brackets and signs within one another."""
_TOKEN = re.compile(
    r"""(?P<blank>\s+)
    | (?P<text>"[^"]*"|'[^']*')
    | (?P<number>[0-9]\w*(?:\.[0-9]\w*)?)
    | (?P<name>[^\W\d]\w*)
    | (?P<sign>\*\*|//|[=!<>]=|.)""",
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(r"(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?")
_LINE_BREAKS = dict.fromkeys(map(ord, "\r\n"), " ")
_PREFIXES = frozenset(["-", "+", "not"])
_JOINERS = frozenset(["and", "or", "not"])
_OPERATORS = frozenset(["==", "!=", "<", "<=", ">", ">=", *"+-*/"])
_SIGNS = _OPERATORS | frozenset("()[],.=")
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
_VALUE = "a grid, a number or a text in quotes"
_OPENING = {")": "(", "]": "["}


@dataclass(frozen=True, slots=True)
class Token:
    """A word, text, number or sign of an expression.

    Attributes:
        kind: "name", "text", "number" or "sign".
        start: Index of its first character in the expression.
    """

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """Index after its last character."""
        return self.start + len(self.text)

    @property
    def is_value(self) -> bool:
        """Whether it is a value by itself: a name, a text or a number."""
        return self.kind != "sign" and self.text not in _JOINERS

    @property
    def ends_value(self) -> bool:
        """Whether a value can end here, so that a bracket after it is one of a call."""
        return self.is_value or self.text in (")", "]")


@dataclass(frozen=True)
class Tokens:
    """An expression's tokens, all of them allowed and each in a place where it fits.

    Attributes:
        closing: The index of its partner for each opening bracket.
    """

    expression: str
    tokens: Sequence[Token]
    closing: Mapping[int, int]

    @cached_property
    def at_start(self) -> Mapping[int, int]:
        """The index of each token by that of its first character."""
        return {token.start: index for index, token in enumerate(self.tokens)}

    @cached_property
    def at_end(self) -> Mapping[int, int]:
        """The index of each token by that after its last character."""
        return {token.end: index for index, token in enumerate(self.tokens)}


def tokenize(expression: str) -> Tokens:
    """The tokens of an expression.

    The depth is bounded here, before any parser calls itself for every bracket and sign.

    Raises:
        ClaimError: For a token that isn't allowed or doesn't fit, for brackets that aren't closed
            or too deep, and where there is no token.
    """
    tokens = [_allowed(expression, token) for token in _split(expression)]
    closing = _brackets(expression, tokens)
    if not tokens:
        raise ClaimError("there is no expression", expression, 0, 0)
    _check_order(expression, tokens)
    return Tokens(expression, tokens, closing)


def _split(expression: str) -> Iterator[Token]:
    # A line break is a blank, in a text too, which YAML may have folded anywhere.
    for match in _TOKEN.finditer(expression.translate(_LINE_BREAKS)):
        if match.lastgroup != "blank":
            yield Token(str(match.lastgroup), match[0], match.start())


def _allowed(expression: str, token: Token) -> Token:
    text, end = token.text, token.end
    message, expected = "", ""
    if token.kind == "text" and "\\" in text:
        message, expected = "a text has no backslashes", "an id as written in the data"
    elif token.kind == "number" and not _NUMBER.fullmatch(text):
        message = f"{quote(text)} is not a number of the claim language"
        expected = "digits, at most 15 before and 15 after the point, such as 0.1"
    elif text in ('"', "'"):
        message, end = "this text has no closing quote", len(expression)
    elif _is_foreign(token):
        message = f"{quote(text)} is not part of the claim language"
    if message:
        expected = expected or _OTHER_WAYS.get(text, "")
        raise ClaimError(message, expression, token.start, end, expected)
    return token


def _is_foreign(token: Token) -> bool:
    if token.kind == "sign":
        return token.text not in _SIGNS
    is_word = token.text.isidentifier() and token.text not in _FOREIGN_WORDS
    return token.kind == "name" and not is_word


def _brackets(expression: str, tokens: Sequence[Token]) -> dict[int, int]:
    """The index of its partner for each opening bracket."""
    closing: dict[int, int] = {}
    opened: list[tuple[int, int]] = []
    depth = signs = 0
    for index, token in enumerate(tokens):
        if token.text in ("(", "["):
            opened.append((index, signs))
            depth, signs = depth + 1 + signs, 0
        elif token.text in _OPENING:
            if not opened or tokens[opened[-1][0]].text != _OPENING[token.text]:
                message = f"this {token.text} closes nothing"
                raise ClaimError(message, expression, token.start, token.end)
            start, before = opened.pop()
            closing[start] = index
            depth, signs = depth - 1 - before, 0
        else:
            signs = signs + 1 if token.text in _PREFIXES else 0
        if depth + signs > MAX_DEPTH:
            message = f"more than {MAX_DEPTH} brackets and signs within one another"
            raise ClaimError(message, expression, token.start, token.end)
    if opened:
        bracket = tokens[opened[-1][0]]
        message = f"this {bracket.text} is never closed"
        raise ClaimError(message, expression, bracket.start, bracket.end)
    return closing


def _check_order(expression: str, tokens: Sequence[Token]) -> None:
    """Refuse a token where none of its kind can be; Python's parser finds the other faults."""
    before: Token | None = None
    calls: list[bool] = []
    for index, token in enumerate(tokens):
        after_value = before is not None and before.ends_value
        if token.text in ("(", "["):
            calls.append(token.text == "(" and after_value)
        elif token.text in _OPENING:
            calls.pop()
        in_call, second_before = bool(calls) and calls[-1], tokens[max(index - 2, 0)]
        if not _fits(before, token, second_before, in_call, bool(calls)):
            raise _misplaced(expression, before, token)
        before = token
    if before is not None and not before.ends_value:
        end = len(expression.rstrip())
        raise ClaimError("the expression ends too early", expression, end, end, _VALUE)


def _fits(
    before: Token | None, token: Token, second_before: Token, in_call: bool, in_brackets: bool
) -> bool:
    text = token.text
    after_value = before is not None and before.ends_value
    if before is not None and before.text == ".":
        return token.kind == "name"
    if text == "=":
        named = before is not None and before.kind == "name" and second_before.text in ("(", ",")
        return in_call and named
    if text == ".":
        return after_value
    if text == ",":
        return after_value and in_brackets
    if token.is_value or text == "not":
        return not after_value
    if text in ("(", "[") or text in _PREFIXES:
        return True
    if text in _OPENING:
        # An empty pair of brackets, or a comma before the last one, is for the parser.
        return after_value or (before is not None and before.text in ("(", "[", ","))
    return after_value


def _misplaced(expression: str, before: Token | None, token: Token) -> ClaimError:
    start, end = token.start, token.end
    if before is not None and before.kind == token.kind == "text":
        return ClaimError("two texts side by side", expression, start, end, "a comma between")
    if token.text == "*" and before is not None and before.text in ("(", ","):
        return ClaimError("arguments are written out, one by one", expression, start, end)
    after_value = before is not None and before.ends_value
    expected = "an operator, a dot or a comma before it" if after_value else _VALUE
    if after_value and token.text == ",":
        expected = "an operator, or one expression alone"
    message = f"{quote(token.text)} doesn't fit here"
    return ClaimError(message, expression, start, end, expected)
