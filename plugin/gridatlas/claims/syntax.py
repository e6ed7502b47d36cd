"""From the text of an expression to its tree: Python parses, an allow-list decides what is allowed.

Nothing is run or compiled. Python's parser sees the structure only: each name, text and number is
replaced by as many letters "x", and read from the expression itself. So every column is right, and
a facet may be called `lambda`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import reduce

from gridatlas.claims.tokens import Token, Tokens, tokenize
from gridatlas.claims.tree import (
    EXAMPLE,
    Arithmetic,
    Attribute,
    ClaimError,
    CompareOp,
    GridCall,
    Items,
    Literal,
    Logic,
    Named,
    Negative,
    Node,
    Not,
)
from gridatlas.model.problems import join_names, nearest, quote

MAX_LENGTH = 2000
MAX_NODES = 500
MAX_CHAIN = 60
"""Our walk calls itself some ten times per level: Python allows 1,000."""
_COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_ARITHMETIC: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
}


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
    tokens = tokenize(expression)
    if sum(token.is_value for token in tokens.tokens) > MAX_NODES:
        raise _too_large(expression)
    root = _parsed(tokens)
    _check_size(expression, root)
    reader = _Reader(tokens, frozenset(properties), frozenset(methods))
    return reader.read(root)


def _parsed(tokens: Tokens) -> ast.expr:
    """Python's tree of the structure, with columns that are those of the expression."""
    structure = [" "] * len(tokens.expression)
    for token in tokens.tokens:
        structure[token.start : token.end] = _masked(token)
    # The bracket, which lets expressions begin with blanks, is on a line of its own.
    try:
        return ast.parse(f"(\n{''.join(structure)}\n)", mode="eval").body
    except SyntaxError as error:
        raise _misplaced(tokens, error) from None
    except (RecursionError, MemoryError):
        raise _too_large(tokens.expression) from None


def _misplaced(tokens: Tokens, error: SyntaxError) -> ClaimError:
    column = (error.offset or 1) - 1
    index = next((i for i, token in enumerate(tokens.tokens) if token.end > column), -1)
    token = tokens.tokens[index]
    message = f"{quote(token.text)} doesn't fit here"
    if error.msg.startswith("positional argument follows keyword"):
        # Python points at the bracket after it.
        token, message = (
            tokens.tokens[index - 1],
            "an argument without a name follows one with a name",
        )
    return ClaimError(message, tokens.expression, token.start, token.end)


def _masked(token: Token) -> str:
    if token.kind == "text":
        return f'"{"x" * (len(token.text) - 2)}"'
    return "x" * len(token.text) if token.is_value else token.text


def _too_large(expression: str) -> ClaimError:
    expected = f"at most {MAX_NODES}, and {MAX_CHAIN} in one chain"
    message = "the expression has too many parts"
    return ClaimError(message, expression, 0, len(expression), expected)


def _check_size(expression: str, root: ast.expr) -> None:
    waiting: list[tuple[ast.AST, int]] = [(root, 1)]
    for count in range(MAX_NODES + 1):
        if not waiting:
            return
        node, depth = waiting.pop()
        # `a and b and c` is one part of Python's tree and two of ours, one within the other.
        chain = depth + (len(node.values) - 2 if isinstance(node, ast.BoolOp) else 0)
        if count == MAX_NODES or chain > MAX_CHAIN:
            raise _too_large(expression)
        children = ast.iter_child_nodes(node)
        waiting += [(child, chain + 1) for child in children if hasattr(child, "col_offset")]


@dataclass(frozen=True)
class _Reader:
    """Translates Python's tree; what isn't translated is an error that points at its place."""

    source: Tokens
    properties: frozenset[str]
    methods: frozenset[str]

    def read(self, node: ast.expr) -> Node:
        """The node of ours; the brackets around it belong to it."""
        start, end = self._place(node)
        return replace(self._read(node), start=start, end=end)

    def _first(self, node: ast.AST) -> int:
        """The index of the first token of a part."""
        return self.source.at_start[getattr(node, "col_offset", 0)]

    def _last(self, node: ast.AST) -> int:
        """The index of the last token of a part."""
        return self.source.at_end[getattr(node, "end_col_offset", 0)]

    def _span(self, node: ast.expr) -> tuple[int, int]:
        """First and last token of a part, with the brackets around it that aren't of a call."""
        first, last = self._first(node), self._last(node)
        tokens, closing = self.source.tokens, self.source.closing
        while (
            closing.get(first - 1) == last + 1
            and tokens[first - 1].text == "("
            and not (first > 1 and tokens[first - 2].ends_value)
        ):
            first, last = first - 1, last + 1
        return first, last

    def _place(self, node: ast.expr) -> tuple[int, int]:
        first, last = self._span(node)
        return self.source.tokens[first].start, self.source.tokens[last].end

    def _error(
        self, at: tuple[int, int], message: str, expected: str = "", example: str = EXAMPLE
    ) -> ClaimError:
        return ClaimError(message, self.source.expression, *at, expected, example)

    def _read(self, node: ast.expr) -> Node:
        start, end = self._place(node)
        match node:
            case ast.Name() | ast.Constant():
                return self._leaf(self.source.tokens[self._first(node)])
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                return self._property(node)
            case ast.UnaryOp(op=ast.UAdd()):
                return self.read(node.operand)
            case ast.UnaryOp(op=ast.USub()):
                return Negative(start, end, self.read(node.operand))
            case ast.UnaryOp(op=ast.Not()):
                return Not(start, end, self.read(node.operand))
            case ast.BinOp() if type(node.op) in _ARITHMETIC:
                operator = _ARITHMETIC[type(node.op)]
                return Arithmetic(start, end, operator, self.read(node.left), self.read(node.right))
            case ast.BoolOp():
                return reduce(self._joined, node.values[1:], self.read(node.values[0]))
            case ast.Compare():
                operands = tuple(map(self.read, (node.left, *node.comparators)))
                operators = tuple(_COMPARISONS[type(operator)] for operator in node.ops)
                return CompareOp(start, end, operators, operands)
            case ast.List():
                message = "a list can only name several levels of a factor"
                example = ".where(ratio=[0.1, 0.2])"
                raise self._error((start, start + 1), message, example=example)
            case ast.Subscript():
                expected = ".at(factor=level, ...) for a cell, .row(level) for a row"
                message = "square brackets pick nothing here"
                raise self._error(self._place(node.value), message, expected)
        raise self._error((start, end), "this is not part of the claim language")

    def _leaf(self, token: Token) -> Node:
        if token.kind == "number":
            return Literal(token.start, token.end, Decimal(token.text))
        if token.kind == "text":
            return Literal(token.start, token.end, token.text[1:-1])
        raise self._unknown_name(token)

    def _unknown_name(self, token: Token) -> ClaimError:
        place = (token.start, token.end)
        if token.text == "grid":
            message = "grid needs brackets after it, with its levels"
            return self._error(place, message, example='grid(model="a")')
        message = f"{quote(token.text)} is not a name of the claim language"
        if nearest(token.text, ["grid"]):
            message += "; did you mean grid?"
        expected = f"grid(...), a number, or a text in quotes: {quote(token.text)}"
        return self._error(place, message, expected)

    def _joined(self, left: Node, right: ast.expr) -> Node:
        word = self.source.tokens[self._span(right)[0] - 1]
        return Logic(
            left.start, self._place(right)[1], word.text, word.start, left, self.read(right)
        )

    def _property(self, node: ast.Attribute) -> Node:
        of = self.read(node.value)
        name = self.source.tokens[self._last(node)]
        if name.text not in self.properties:
            raise self._wrong_name(name)
        return Attribute(of.start, name.end, of, name.text, name.start)

    def _wrong_name(self, token: Token) -> ClaimError:
        place, name = (token.start, token.end), token.text
        if name in self.methods:
            return self._error(place, f".{name} needs brackets after it", "", f".{name}(...)")
        if name in self.properties:
            return self._error(place, f".{name} has no brackets after it", "", f".{name}")
        names = sorted(self.properties | self.methods)
        near = nearest(name, names)
        message = f"there is no .{name}" + (f"; did you mean .{near}?" if near else "")
        return self._error(
            place, message, f"one of {join_names([f'.{name}' for name in names], 99)}"
        )

    def _call(self, node: ast.Call) -> Node:
        start, end = self._place(node)
        match node.func:
            case ast.Attribute(value=value):
                of = self.read(value)
                name = self.source.tokens[self._last(node.func)]
                if name.text not in self.methods:
                    raise self._wrong_name(name)
                arguments = tuple(map(self._argument, node.args))
                named = self._named(node.keywords)
                return Attribute(start, end, of, name.text, name.start, arguments, named)
            case ast.Name():
                name = self.source.tokens[self._first(node.func)]
                if name.kind == "name" and name.text != "grid":
                    raise self._unknown_name(name)
                if name.kind == "name":
                    return self._grid(node)
        raise self._error(self._place(node.func), "this can't be called")

    def _grid(self, node: ast.Call) -> Node:
        for argument in map(self._argument, node.args):
            place, message = (argument.start, argument.end), "grid() takes its levels by name"
            raise self._error(place, message, example='grid(model="a")')
        return GridCall(*self._place(node), self._named(node.keywords))

    def _argument(self, node: ast.expr) -> Node:
        if isinstance(node, ast.List):
            return Items(*self._place(node), tuple(map(self.read, node.elts)))
        return self.read(node)

    def _named(self, keywords: list[ast.keyword]) -> tuple[Named, ...]:
        named: dict[str, Named] = {}
        for keyword in keywords:
            name = self.source.tokens[self._first(keyword)]
            value = self._argument(keyword.value)
            place = (name.start, value.end)
            if name.text in named:
                raise self._error(place, f"{name.text} is given twice", "each name once")
            named[name.text] = Named(*place, name.text, value)
        return tuple(named.values())
