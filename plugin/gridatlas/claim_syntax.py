"""From the text of an expression to its tree: Jinja parses, an allow-list decides what may stand.

Nothing is run here, and nothing of Jinja leaves this module: what isn't translated into one of the
nodes of `claim_tree` is an error that points at its place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache

from jinja2 import TemplateSyntaxError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from gridatlas.claim_tree import (
    EXAMPLE,
    Arithmetic,
    Attribute,
    ClaimError,
    Comparison,
    GridCall,
    Items,
    Literal,
    Logic,
    Named,
    Negative,
    Node,
    Not,
)
from gridatlas.problems import listed, nearest, shown

MAX_LENGTH = 2000
MAX_NODES = 500
MAX_DEPTH = 20
MAX_CHAIN = 60
"""Jinja's parser and our walk call themselves some ten times per level: Python allows 1,000."""
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "lteq": "<=", "gt": ">", "gteq": ">="}
_ARITHMETIC: Mapping[type[nodes.Node], str] = {
    nodes.Add: "+",
    nodes.Sub: "-",
    nodes.Mul: "*",
    nodes.Div: "/",
}
_OPERATORS = frozenset([*_COMPARISONS.values(), *_ARITHMETIC.values(), *"()[],.="])
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

# --- tokens -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def ends_value(self) -> bool:
        """Whether a value can end here, so that a bracket after it is one of a call."""
        name = self.kind == "name" and self.text not in _JOINERS
        return name or self.text in (")", "]") or self.kind in ("string", "integer", "float")


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    """What lexes and parses; no template is ever compiled or rendered in it."""
    return ImmutableSandboxedEnvironment()


def _lex(expression: str) -> Iterator[_Token]:
    """Jinja's tokens without blanks, up to the end or to an open bracket's missing partner."""
    flat = expression.translate(dict.fromkeys(map(ord, "\r\n"), " "))
    position = -len("{{ ")
    try:
        for _, kind, text in _environment().lex(f"{{{{ {flat} }}}}"):
            token = _Token(kind, text, position)
            position = token.end
            if 0 <= token.start < len(expression) and kind != "whitespace":
                yield token
    except TemplateSyntaxError:
        if position < len(expression):
            text = expression[position]
            message = f"{shown(text)} is not part of the claim language"
            end = position + 1
            if text in "\"'":
                message, end = "this text has no closing quote", len(expression)
            elif text in ")]}":
                message = f"this {text} closes nothing"
            raise ClaimError(message, expression, position, end) from None


def _tokens(expression: str) -> tuple[list[_Token], dict[int, int]]:
    """The tokens, all of them allowed, and the place of its partner for each opening bracket.

    The depth is bounded here, before Jinja's parser calls itself for every bracket and sign.
    """
    tokens: list[_Token] = []
    closing: dict[int, int] = {}
    opened: list[tuple[int, int]] = []
    depth = signs = 0
    for index, token in enumerate(_lex(expression)):
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


def _not_allowed(token: _Token) -> tuple[str, str] | None:
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


# --- parsing ------------------------------------------------------------------------------------


def parse(expression: str, properties: Collection[str], methods: Collection[str]) -> Node:
    """The tree of an expression.

    Args:
        properties: The names that may follow a dot.
        methods: The names that may follow a dot and need brackets after them.

    Raises:
        ClaimError: For all that is no part of the claim language.
    """
    if len(expression) > MAX_LENGTH:
        message = f"the expression has {len(expression)} characters"
        expected = f"at most {MAX_LENGTH}; make several claims of the sentence"
        raise ClaimError(message, expression, MAX_LENGTH, len(expression), expected)
    tokens, closing = _tokens(expression)
    # Each token on a line of its own: the line that Jinja gives a leaf is the place of its token.
    lines = "\n".join(token.text for token in tokens)
    try:
        body = _environment().parse(f"{{{{\n{lines}\n}}}}").body
    except TemplateSyntaxError as error:
        raise _misplaced(expression, tokens, error.lineno - 2) from None
    roots = [node for output in body for node in output.iter_child_nodes()]
    if len(roots) != 1:
        raise ClaimError("this is more than one expression", expression, 0, len(expression))
    _check_size(expression, roots[0])
    reader = _Reader(expression, tokens, closing, frozenset(properties), frozenset(methods))
    return reader.read(roots[0])[0]


def _misplaced(expression: str, tokens: list[_Token], index: int) -> ClaimError:
    value = "a grid, a number or a text in quotes"
    if index >= len(tokens):
        end = len(expression.rstrip())
        return ClaimError("the expression ends too early", expression, end, end, value)
    token = tokens[index]
    after_value = index > 0 and tokens[index - 1].ends_value
    expected = "an operator, a dot or a comma before it" if after_value else value
    message = f"{shown(token.text)} doesn't fit here"
    return ClaimError(message, expression, token.start, token.end, expected)


def _check_size(expression: str, root: nodes.Node) -> None:
    waiting = [(root, 1)]
    for count in range(MAX_NODES + 1):
        if not waiting:
            return
        node, depth = waiting.pop()
        if count == MAX_NODES or depth > MAX_CHAIN:
            expected = f"at most {MAX_NODES}, and {MAX_CHAIN} in one chain"
            message = "the expression has too many parts"
            raise ClaimError(message, expression, 0, len(expression), expected)
        waiting += [(child, depth + 1) for child in node.iter_child_nodes()]


Span = tuple[int, int]
"""The first and the last token of a part."""


@dataclass(frozen=True)
class _Reader:
    """Translates Jinja's tree; places are worked out from the leaves, whose token is known."""

    expression: str
    tokens: list[_Token]
    closing: Mapping[int, int]
    properties: frozenset[str]
    methods: frozenset[str]

    def error(
        self, span: Span, message: str, expected: str = "", example: str = EXAMPLE
    ) -> ClaimError:
        return ClaimError(message, self.expression, *self.place(span), expected, example)

    def place(self, span: Span) -> tuple[int, int]:
        return self.tokens[span[0]].start, self.tokens[span[1]].end

    def leaf(self, node: nodes.Node) -> Span:
        index = min(max(node.lineno - 2, 0), len(self.tokens) - 1)
        return index, index

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

    def read(self, node: nodes.Node) -> tuple[Node, Span]:
        """The node of ours, and its span; the brackets around it belong to it."""
        ours, span = self._read(node)
        span = self.widened(span)
        start, end = self.place(span)
        return replace(ours, start=start, end=end), span

    def _read(self, node: nodes.Node) -> tuple[Node, Span]:
        match node:
            case nodes.Const():
                return self._literal(node)
            case nodes.Call():
                return self._call(node)
            case nodes.Getattr():
                return self._property(node)
            case nodes.Neg() | nodes.Pos() | nodes.Not():
                of, (first, last) = self.read(node.node)
                span = (first - 1, last)
                if isinstance(node, nodes.Pos):
                    return of, span
                make = Not if isinstance(node, nodes.Not) else Negative
                return make(*self.place(span), of), span
            case nodes.Compare():
                return self._comparison(node)
            case nodes.BinExpr() if type(node) in (nodes.And, nodes.Or, *_ARITHMETIC):
                left, (first, before) = self.read(node.left)
                right, (_, last) = self.read(node.right)
                span = (first, last)
                if isinstance(node, nodes.And | nodes.Or):
                    word = self.tokens[before + 1]
                    return Logic(*self.place(span), word.text, word.start, left, right), span
                return Arithmetic(*self.place(span), _ARITHMETIC[type(node)], left, right), span
        raise self._foreign(node)

    def _foreign(self, node: nodes.Node) -> ClaimError:
        span = self.leaf(node)
        if isinstance(node, nodes.Name):
            if node.name == "grid":
                message = "grid needs brackets after it, with its levels"
                return self.error(span, message, example='grid(model="a")')
            message = f"{shown(node.name)} is not a name of the claim language"
            if nearest(node.name, ["grid"]):
                message += "; did you mean grid?"
            expected = f"grid(...), a number, or a text in quotes: {shown(node.name)}"
            return self.error(span, message, expected)
        if isinstance(node, nodes.List):
            message = "a list stands only for several levels of a factor"
            return self.error(span, message, example=".where(ratio=[0.1, 0.2])")
        if isinstance(node, nodes.Getitem):
            expected = ".at(factor=level, ...) for a cell, .row(level) for a row"
            return self.error(
                self.read(node.node)[1], "square brackets pick nothing here", expected
            )
        return self.error(span, "this is not part of the claim language")

    def _literal(self, node: nodes.Const) -> tuple[Node, Span]:
        index, _ = span = self.leaf(node)
        token = self.tokens[index]
        if token.kind != "string":
            return Literal(token.start, token.end, Decimal(token.text)), span
        if index + 1 < len(self.tokens) and self.tokens[index + 1].kind == "string":
            raise self.error((index + 1, index + 1), "two texts side by side", "a comma between")
        return Literal(token.start, token.end, token.text[1:-1]), span

    def _property(self, node: nodes.Getattr) -> tuple[Node, Span]:
        of, (first, last) = self.read(node.node)
        name = last + 2
        if node.attr not in self.properties:
            raise self._wrong_name(node.attr, name)
        start, end = self.place((first, name))
        return Attribute(start, end, of, node.attr, self.tokens[name].start), (first, name)

    def _wrong_name(self, name: str, index: int) -> ClaimError:
        span = (index, index)
        if name in self.methods:
            return self.error(span, f".{name} needs brackets after it", "", f".{name}(...)")
        if name in self.properties:
            return self.error(span, f".{name} has no brackets after it", "", f".{name}")
        known = sorted(self.properties | self.methods)
        near = nearest(name, known)
        message = f"there is no .{name}" + (f"; did you mean .{near}?" if near else "")
        return self.error(span, message, f"one of {listed([f'.{one}' for one in known], 99)}")

    def _call(self, node: nodes.Call) -> tuple[Node, Span]:
        callee = node.node
        of = None
        if isinstance(callee, nodes.Getattr):
            of, (first, last) = self.read(callee.node)
            if callee.attr not in self.methods:
                raise self._wrong_name(callee.attr, last + 2)
            opening = last + 3
        elif isinstance(callee, nodes.Name):
            first, last = self.leaf(callee)
            if callee.name != "grid":
                raise self._foreign(callee)
            opening = last + 1
        else:
            raise self.error(self.read(callee)[1], "this can't be called")
        name_start = self.tokens[opening - 1].start
        while self.tokens[opening].text == ")":  # As in `(grid)(...)`.
            opening += 1
        span = (first, self.closing[opening])
        if node.dyn_args is not None or node.dyn_kwargs is not None:
            raise self.error((opening, span[1]), "arguments are written out, one by one")
        arguments = tuple(self._argument(one)[0] for one in node.args)
        named = self._named(node.kwargs)
        start, end = self.place(span)
        if of is not None:
            assert isinstance(callee, nodes.Getattr)
            return Attribute(start, end, of, callee.attr, name_start, arguments, named), span
        for one in arguments:
            message, place = "grid() takes its levels by name", (one.start, one.end)
            raise ClaimError(message, self.expression, *place, example='grid(model="a")')
        return GridCall(start, end, named), span

    def _argument(self, node: nodes.Node) -> tuple[Node, Span]:
        if not isinstance(node, nodes.List):
            return self.read(node)
        index, _ = self.leaf(node)
        span = self.widened((index, self.closing[index]))
        return Items(*self.place(span), tuple(self.read(one)[0] for one in node.items)), span

    def _named(self, keywords: list[nodes.Keyword]) -> tuple[Named, ...]:
        named: dict[str, Named] = {}
        for one in keywords:
            value, (first, last) = self._argument(one.value)
            span = (first - 2, last)
            if one.key in named:
                raise self.error(span, f"{one.key} is given twice", "each name once")
            named[one.key] = Named(*self.place(span), one.key, value)
        return tuple(named.values())

    def _comparison(self, node: nodes.Compare) -> tuple[Node, Span]:
        read = [self.read(one) for one in (node.expr, *(one.expr for one in node.ops))]
        span = (read[0][1][0], read[-1][1][1])
        operators = tuple(_COMPARISONS[one.op] for one in node.ops)
        return Comparison(*self.place(span), operators, tuple(one for one, _ in read)), span
