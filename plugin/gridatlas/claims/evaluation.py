"""Evaluating the tree of an expression: the value of each part, and where a fault lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise

from gridatlas.claims import tree
from gridatlas.claims.grids import Extreme, Numbers, Truths, calculate, compare
from gridatlas.claims.lookup import Lookup, Scope
from gridatlas.claims.names import (
    BEFORE_DOT,
    EXAMPLES,
    JOINING,
    METHOD_NAMES,
    METHODS,
    PROPERTIES,
    PROPERTY_NAMES,
    Value,
    kind_of,
)
from gridatlas.claims.parts import Chosen
from gridatlas.claims.syntax import parse
from gridatlas.claims.tree import ClaimError
from gridatlas.claims.values import Fault, Number, Truth
from gridatlas.model.schema import format_number, level_key


@lru_cache(maxsize=4096)
def parsed(expression: str) -> tree.Node:
    """The tree of an expression; each is judged on the shown grids and on its own reading."""
    return parse(expression, PROPERTY_NAMES, METHOD_NAMES)


class Evaluation:
    """One expression, parsed, in a scope."""

    def __init__(self, expression: str, scope: Scope) -> None:
        self.expression = expression
        self.scope = scope
        self.root = parsed(expression)

    def result(self) -> Value:
        """The value of the whole expression.

        Raises:
            ClaimError: For a part that makes no sense.
        """
        return self.value(self.root)

    @property
    def names_others(self) -> bool:
        """Whether the expression names a study or a reading."""
        calls = [node for node in tree.walk(self.root) if isinstance(node, tree.GridCall)]
        return any(
            argument.name in ("study", "reading") for call in calls for argument in call.named
        )

    def grids(self) -> list[Numbers]:
        """Every grid that the expression names.

        Raises:
            ClaimError: For one that isn't there.
        """
        calls = [node for node in tree.walk(self.root) if isinstance(node, tree.GridCall)]
        return [self._grid(call) for call in calls]

    def _error(
        self, at: tree.Node, message: str, expected: str = "", example: str = tree.EXAMPLE
    ) -> ClaimError:
        return ClaimError(message, self.expression, at.start, at.end, expected, example)

    def value(self, node: tree.Node) -> Value:
        """The value of a part.

        Raises:
            ClaimError: For one that makes no sense.
        """
        try:
            return self._value_of(node)
        except Fault as fault:
            at = node
            if isinstance(node, tree.Attribute) and fault.argument:
                named = {argument.name: argument for argument in node.named}
                at = named.get(fault.argument) or next(iter(node.arguments), node)
            raise self._error(at, fault.message, fault.expected, fault.example) from None

    def _value_of(self, node: tree.Node) -> Value:
        match node:
            case tree.Literal(value=Decimal() as number):
                return Number(number)
            case tree.Literal(value=str() as text):
                return text
            case tree.GridCall():
                return self._grid(node)
            case tree.Attribute():
                return self._attribute(node)
            case tree.Negative():
                return calculate("-", Number(Decimal(0)), self._numeric(node.of))
            case tree.Arithmetic():
                left, right = self._numeric(node.left), self._numeric(node.right)
                return calculate(node.operator, left, right)
            case tree.CompareOp():
                return self._comparison(node)
            case tree.Logic():
                left_truth = self._truth(node.left, node.word, node.word_start)
                right_truth = self._truth(node.right, node.word, node.word_start)
                if node.word == "and":
                    return left_truth.joined(right_truth)
                return left_truth.negated().joined(right_truth.negated()).negated()
            case tree.Not():
                return self._truth(node.of, "not", node.start).negated()
        raise self._error(node, "a list can only name several levels of an axis")

    def _grid(self, node: tree.GridCall) -> Numbers:
        given = {argument.name: self._level(argument.value) for argument in node.named}
        return Lookup(self.scope, self.expression, node, given).grid()

    def _numeric(self, node: tree.Node) -> Numbers | Number:
        value = self.value(node)
        if isinstance(value, Numbers | Number):
            return value
        expected = "a number or a grid of numbers"
        if isinstance(value, Extreme):
            expected = ".value for the number, .all_at(...) or .any_at(...) for the places"
        elif isinstance(value, str):
            expected = "a number without quotes; a text can only name a level"
        message = f"only numbers can be calculated with and compared; this is {kind_of(value)}"
        raise self._error(node, message, expected)

    def _comparison(self, node: tree.CompareOp) -> Value:
        values = [self._numeric(operand) for operand in node.operands]
        if len(values) == 2:
            return compare(node.operators[0], values[0], values[1])
        if any(isinstance(value, Numbers) for value in values):
            texts = [self.expression[operand.start : operand.end] for operand in node.operands]
            parts = [
                f"({left} {operator} {right})"
                for operator, (left, right) in zip(node.operators, pairwise(texts), strict=True)
            ]
            example = parts[0] + "".join(f".and_{part}" for part in parts[1:])
            message = "comparisons of grids can't be chained"
            raise self._error(node, message, "two comparisons joined by .and_(...)", example)
        truth = Truth(True)
        for operator, (left, right) in zip(node.operators, pairwise(values), strict=True):
            link = compare(operator, left, right)
            assert isinstance(link, Truth)
            truth = truth.joined(link)
        return truth

    def _truth(self, node: tree.Node, word: str, word_start: int) -> Truth:
        value = self.value(node)
        if isinstance(value, Truth):
            return value
        if isinstance(value, Truths):
            message = f'"{word}" is not for grids'
            place = (word_start, word_start + len(word))
            example = EXAMPLES[f"{word}_"]
            raise ClaimError(message, self.expression, *place, JOINING[word], example)
        message = f'"{word}" needs what is true or false; this is {kind_of(value)}'
        raise self._error(node, message, "a comparison", "grid(...).mean > 50")

    # --- what follows a dot

    def _attribute(self, node: tree.Attribute) -> Value:
        of = self.value(node.of)
        table = PROPERTIES if node.name in PROPERTY_NAMES else METHODS
        if node.name not in table.get(type(of), ()):
            raise self._not_for(node, of, table)
        if table is PROPERTIES:
            # The name is one of the table above, whatever the expression says.
            value: Value = getattr(of, node.name)
            return value
        match of:
            case Extreme():
                levels = self.chosen(node)
                return of.all_at(levels) if node.name == "all_at" else of.any_at(levels)
            case Numbers() if node.name in ("trend", "levels"):
                argument = self._only(node, "the name of an axis in quotes")
                name = self.value(argument)
                if not isinstance(name, str):
                    message = f"this is {kind_of(name)}"
                    expected, example = "the name of an axis in quotes", EXAMPLES[node.name]
                    raise self._error(argument, message, expected, example)
                return of.trend(name) if node.name == "trend" else of.levels(name)
            case Truths() if node.name in ("and_", "or_", "not_"):
                return self._joined(node, of)
            case Numbers() | Truths():
                return self._part(node, of)
        raise self._error(node, "this is not part of the claim language")

    def _part(self, node: tree.Attribute, of: Numbers | Truths) -> Value:
        if node.name == "at":
            return of.at(self.chosen(node, several=False))
        if node.name in ("row", "column"):
            key = self._level(self._only(node, "one level"))
            return of.row(key) if node.name == "row" else of.column(key)
        if not node.arguments:
            return of.where(self.chosen(node))
        expected = "levels by the names of their axes, or a grid of truths"
        argument = self._only(node, expected)
        truths = self.value(argument)
        if not isinstance(truths, Truths):
            raise self._error(argument, f"this is {kind_of(truths)}", expected, EXAMPLES["where"])
        return of.where_true(truths)

    def _joined(self, node: tree.Attribute, of: Truths) -> Truths:
        if node.name == "not_":
            if node.arguments or node.named:
                raise self._error(node, ".not_() takes nothing", "", EXAMPLES["not_"])
            return of.negated()
        argument = self._only(node, "one grid of truths")
        other = self.value(argument)
        if not isinstance(other, Truths):
            expected = "a grid of truths, such as grid(...) > 50"
            example = EXAMPLES[node.name]
            raise self._error(argument, f"this is {kind_of(other)}", expected, example)
        if node.name == "and_":
            return of.joined(other)
        return of.negated().joined(other.negated()).negated()

    def _not_for(
        self, node: tree.Attribute, of: Value, table: Mapping[type, Sequence[str]]
    ) -> ClaimError:
        owners = [BEFORE_DOT[kind] for kind, names in table.items() if node.name in names]
        expected = f"{' or '.join(owners)} before the dot"
        if isinstance(of, Truth) and node.name in ("and_", "or_", "not_"):
            expected = f'"{node.name[:-1]}" for plain truths'
        message = f".{node.name} is not for {kind_of(of)}"
        place = (node.name_start, node.name_start + len(node.name))
        return ClaimError(message, self.expression, *place, expected, EXAMPLES[node.name])

    # --- arguments

    def _only(self, node: tree.Attribute, what: str) -> tree.Node:
        if len(node.arguments) != 1 or node.named:
            message = f".{node.name}(...) takes one thing"
            raise self._error(node, message, what, EXAMPLES[node.name])
        return node.arguments[0]

    def chosen(self, node: tree.Attribute, several: bool = True) -> Chosen:
        """The levels that a method names, by the names of their axes."""
        if node.arguments or not node.named:
            message = f".{node.name}(...) takes levels by the names of their axes"
            at = next(iter(node.arguments), node)
            raise self._error(at, message, "a name before each level", EXAMPLES[node.name])
        chosen = {}
        for argument in node.named:
            if several and isinstance(argument.value, tree.Items):
                chosen[argument.name] = tuple(map(self._level, argument.value.items))
            else:
                chosen[argument.name] = (self._level(argument.value),)
        return chosen

    def _level(self, node: tree.Node) -> str:
        if isinstance(node, tree.Items):
            raise self._error(node, "this is a list", "one level", 'grid(model="a")')
        value = self.value(node)
        if isinstance(value, Number) and value.value is not None:
            return format_number(value.value)
        if isinstance(value, str) and value.strip():
            return level_key(value)
        expected = "a text in quotes or a number"
        raise self._error(node, "this is no level", expected, 'grid(model="a")')
