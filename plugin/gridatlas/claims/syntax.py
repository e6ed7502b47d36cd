"""From the text of an expression to its tree: Jinja parses, an allow-list decides what may stand.

Nothing is run here, and nothing of Jinja leaves this module: what isn't translated into one of the
nodes of `tree.py` is an error that points at its place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache

from jinja2 import TemplateSyntaxError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from gridatlas.claims.tokens import Span, Spans, Token, checked, misplaced
from gridatlas.claims.tree import (
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
MAX_CHAIN = 60
"""Jinja's parser and our walk call themselves some ten times per level: Python allows 1,000."""
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "lteq": "<=", "gt": ">", "gteq": ">="}
_ARITHMETIC: Mapping[type[nodes.Node], str] = {
    nodes.Add: "+",
    nodes.Sub: "-",
    nodes.Mul: "*",
    nodes.Div: "/",
}


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    """What lexes and parses; no template is ever compiled or rendered in it."""
    return ImmutableSandboxedEnvironment()


def _lex(expression: str) -> Iterator[Token]:
    """Jinja's tokens without blanks, up to the end or to an open bracket's missing partner."""
    flat = expression.translate(dict.fromkeys(map(ord, "\r\n"), " "))
    position = -len("{{ ")
    try:
        for _, kind, text in _environment().lex(f"{{{{ {flat} }}}}"):
            start, position = position, position + len(text)
            if 0 <= start < len(expression) and kind != "whitespace":
                # What ends a template takes the blank behind it, too, which is ours.
                yield Token(kind, text[: len(expression) - start], start)
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
    tokens, closing = checked(expression, _lex(expression))
    # Each token on a line of its own: the line that Jinja gives a leaf is the place of its token.
    lines = "\n".join(token.text for token in tokens)
    try:
        body = _environment().parse(f"{{{{\n{lines}\n}}}}").body
    except TemplateSyntaxError as error:
        raise misplaced(expression, tokens, error.lineno - 2) from None
    roots = [node for output in body for node in output.iter_child_nodes()]
    if len(roots) != 1:
        raise ClaimError("this is more than one expression", expression, 0, len(expression))
    _check_size(expression, roots[0])
    reader = _Reader(expression, tokens, closing, frozenset(properties), frozenset(methods))
    return reader.read(roots[0])[0]


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


@dataclass(frozen=True)
class _Reader(Spans):
    """Translates Jinja's tree; places are worked out from the leaves, whose token is known."""

    properties: frozenset[str]
    methods: frozenset[str]

    def leaf(self, node: nodes.Node) -> Span:
        index = min(max(node.lineno - 2, 0), len(self.tokens) - 1)
        return index, index

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
