"""Evaluating the tree of an expression: what each part stands for, and where a fault lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise

from gridatlas import claim_tree as tree
from gridatlas.claim_grids import Chosen, Extreme, Numbers, Truths, calculate, compare
from gridatlas.claim_lookup import Lookup, Scope
from gridatlas.claim_syntax import parse
from gridatlas.claim_tree import ClaimError
from gridatlas.claim_values import CellNames, Fault, Number, Truth
from gridatlas.schema import format_number, level_key

Value = Numbers | Truths | Number | Truth | Extreme | CellNames | str

KINDS: Mapping[type, str] = {
    Numbers: "a grid of numbers",
    Truths: "a grid of truths",
    Number: "a number",
    Truth: "true or false",
    Extreme: "the best or worst cells",
    CellNames: "the names of cells",
    str: "a text",
}
"""What a value is called in messages."""

_PROPERTIES: Mapping[type, Sequence[str]] = {
    Numbers: ("best", "worst", "mean", "min", "max", "spread"),
    Truths: ("all", "any", "count", "share"),
    Extreme: ("value", "cells", "count"),
}
_METHODS: Mapping[type, Sequence[str]] = {
    Numbers: ("at", "row", "column", "where", "trend", "levels"),
    Truths: ("at", "row", "column", "where", "and_", "or_", "not_"),
    Extreme: ("all_at", "any_at"),
}
_PROPERTY_NAMES = frozenset(name for names in _PROPERTIES.values() for name in names)
_METHOD_NAMES = frozenset(name for names in _METHODS.values() for name in names)
_BEFORE_DOT: Mapping[type, str] = {
    Numbers: "a grid of numbers",
    Truths: "a comparison of grids",
    Extreme: ".best or .worst",
}
_EXAMPLES: Mapping[str, str] = {
    "best": "grid(...).best.value > 50",
    "worst": "grid(...).worst.value < 40",
    "mean": "grid(...).mean > 50",
    "min": "grid(...).min > 40",
    "max": "grid(...).max < 60",
    "spread": "grid(...).spread < 5",
    "all": "(grid(...) > 50).all",
    "any": "(grid(...) > 50).any",
    "count": "(grid(...) > 50).count >= 3",
    "share": "(grid(...) > 50).share > 0.5",
    "value": "grid(...).best.value > 50",
    "cells": "grid(...).best.cells",
    "at": "grid(...).at(ratio=0.4, local_window=2000) > 50",
    "row": "(grid(...).row(500) > 50).all",
    "column": "(grid(...).column(0.1) > 50).all",
    "where": "grid(...).where(ratio=[0.1, 0.2]).mean > 50",
    "trend": 'grid(...).trend("ratio") > 0',
    "levels": 'grid(...).where(grid(...).levels("ratio") > 0.2).mean > 50',
    "and_": "(grid(...) > 40).and_(grid(...) < 60).all",
    "or_": "(grid(...) < 40).or_(grid(...) > 60).any",
    "not_": "(grid(...) > 40).not_().any",
    "all_at": "grid(...).best.all_at(local_window=2000)",
    "any_at": "grid(...).best.any_at(ratio=[0.3, 0.4])",
}
"""A right use of each name that may follow a dot."""

_JOINING: Mapping[str, str] = {
    "and": ".and_(...) cell by cell, or .all or .any on each side",
    "or": ".or_(...) cell by cell, or .all or .any on each side",
    "not": ".not_() cell by cell, or .all or .any after the grid",
}


class Evaluation:
    """One expression, parsed, in a scope."""

    def __init__(self, expression: str, scope: Scope) -> None:
        self.expression = expression
        self.scope = scope
        self.root = parse(expression, _PROPERTY_NAMES, _METHOD_NAMES)

    def result(self) -> Value:
        """What the whole expression stands for.

        Raises:
            ClaimError: For a part that makes no sense.
        """
        return self._value(self.root)

    def _error(
        self, at: tree.Node, message: str, expected: str = "", example: str = tree.EXAMPLE
    ) -> ClaimError:
        return ClaimError(message, self.expression, at.start, at.end, expected, example)

    def _value(self, node: tree.Node) -> Value:
        try:
            return self._value_of(node)
        except Fault as fault:
            at = node
            if isinstance(node, tree.Attribute) and fault.argument:
                named = {one.name: one for one in node.named}
                at = named.get(fault.argument) or next(iter(node.arguments), node)
            raise self._error(at, fault.message, fault.expected, fault.example) from None

    def _value_of(self, node: tree.Node) -> Value:
        match node:
            case tree.Literal(value=Decimal() as number):
                return Number(number)
            case tree.Literal(value=str() as text):
                return text
            case tree.GridCall():
                given = {one.name: self._level(one.value) for one in node.named}
                return Lookup(self.scope, self.expression, node, given).grid()
            case tree.Attribute():
                return self._attribute(node)
            case tree.Negative():
                return calculate("-", Number(Decimal(0)), self._numeric(node.of))
            case tree.Arithmetic():
                left, right = self._numeric(node.left), self._numeric(node.right)
                return calculate(node.operator, left, right)
            case tree.Comparison():
                return self._comparison(node)
            case tree.Logic():
                left_truth = self._truth(node.left, node.word, node.word_start)
                right_truth = self._truth(node.right, node.word, node.word_start)
                if node.word == "and":
                    return left_truth.joined(right_truth)
                return left_truth.negated().joined(right_truth.negated()).negated()
            case tree.Not():
                return self._truth(node.of, "not", node.start).negated()
        raise self._error(node, "a list stands only for several levels of an axis")

    def _numeric(self, node: tree.Node) -> Numbers | Number:
        value = self._value(node)
        if isinstance(value, Numbers | Number):
            return value
        expected = "a number or a grid of numbers"
        if isinstance(value, Extreme):
            expected = ".value for the number, .all_at(...) or .any_at(...) for the places"
        elif isinstance(value, str):
            expected = "a number without quotes; a text stands only for a level"
        message = f"only numbers can be calculated with and compared; this is {_kind(value)}"
        raise self._error(node, message, expected)

    def _comparison(self, node: tree.Comparison) -> Value:
        values = [self._numeric(one) for one in node.operands]
        if len(values) == 2:
            return compare(node.operators[0], values[0], values[1])
        if any(isinstance(one, Numbers) for one in values):
            texts = [self.expression[one.start : one.end] for one in node.operands]
            parts = [
                f"({left} {operator} {right})"
                for operator, (left, right) in zip(node.operators, pairwise(texts), strict=True)
            ]
            example = parts[0] + "".join(f".and_{part}" for part in parts[1:])
            message = "comparisons of grids can't be chained"
            raise self._error(node, message, "two comparisons joined by .and_(...)", example)
        truth = Truth(True)
        for operator, (left, right) in zip(node.operators, pairwise(values), strict=True):
            one = compare(operator, left, right)
            assert isinstance(one, Truth)
            truth = truth.joined(one)
        return truth

    def _truth(self, node: tree.Node, word: str, word_start: int) -> Truth:
        value = self._value(node)
        if isinstance(value, Truth):
            return value
        if isinstance(value, Truths):
            message = f'"{word}" is not for grids'
            place = (word_start, word_start + len(word))
            example = _EXAMPLES[f"{word}_"]
            raise ClaimError(message, self.expression, *place, _JOINING[word], example)
        message = f'"{word}" needs what is true or false; this is {_kind(value)}'
        raise self._error(node, message, "a comparison", "grid(...).mean > 50")

    # --- what follows a dot

    def _attribute(self, node: tree.Attribute) -> Value:
        of = self._value(node.of)
        table = _PROPERTIES if node.name in _PROPERTY_NAMES else _METHODS
        if node.name not in table.get(type(of), ()):
            raise self._not_for(node, of, table)
        if table is _PROPERTIES:
            # The name is one of the table above, whatever the expression says.
            value: Value = getattr(of, node.name)
            return value
        match of:
            case Extreme():
                levels = self._levels(node)
                return of.all_at(levels) if node.name == "all_at" else of.any_at(levels)
            case Numbers() if node.name in ("trend", "levels"):
                argument = self._only(node, "the name of an axis in quotes")
                name = self._value(argument)
                if not isinstance(name, str):
                    message = f"this is {_kind(name)}"
                    expected, example = "the name of an axis in quotes", _EXAMPLES[node.name]
                    raise self._error(argument, message, expected, example)
                return of.trend(name) if node.name == "trend" else of.levels(name)
            case Truths() if node.name in ("and_", "or_", "not_"):
                return self._joined(node, of)
            case Numbers() | Truths():
                return self._part(node, of)
        raise self._error(node, "this is not part of the claim language")

    def _part(self, node: tree.Attribute, of: Numbers | Truths) -> Value:
        if node.name == "at":
            return of.at(self._levels(node, several=False))
        if node.name in ("row", "column"):
            key = self._level(self._only(node, "one level"))
            return of.row(key) if node.name == "row" else of.column(key)
        if not node.arguments:
            return of.where(self._levels(node))
        expected = "levels by the names of their axes, or a grid of truths"
        argument = self._only(node, expected)
        kept = self._value(argument)
        if not isinstance(kept, Truths):
            raise self._error(argument, f"this is {_kind(kept)}", expected, _EXAMPLES["where"])
        return of.where_true(kept)

    def _joined(self, node: tree.Attribute, of: Truths) -> Truths:
        if node.name == "not_":
            if node.arguments or node.named:
                raise self._error(node, ".not_() takes nothing", "", _EXAMPLES["not_"])
            return of.negated()
        argument = self._only(node, "one grid of truths")
        other = self._value(argument)
        if not isinstance(other, Truths):
            expected = "a grid of truths, such as grid(...) > 50"
            example = _EXAMPLES[node.name]
            raise self._error(argument, f"this is {_kind(other)}", expected, example)
        if node.name == "and_":
            return of.joined(other)
        return of.negated().joined(other.negated()).negated()

    def _not_for(
        self, node: tree.Attribute, of: Value, table: Mapping[type, Sequence[str]]
    ) -> ClaimError:
        owners = [_BEFORE_DOT[kind] for kind, names in table.items() if node.name in names]
        expected = f"{' or '.join(owners)} before the dot"
        if isinstance(of, Truth) and node.name in ("and_", "or_", "not_"):
            expected = f'"{node.name[:-1]}" for plain truths'
        message = f".{node.name} is not for {_kind(of)}"
        place = (node.name_start, node.name_start + len(node.name))
        return ClaimError(message, self.expression, *place, expected, _EXAMPLES[node.name])

    # --- arguments

    def _only(self, node: tree.Attribute, what: str) -> tree.Node:
        if len(node.arguments) != 1 or node.named:
            message = f".{node.name}(...) takes one thing"
            raise self._error(node, message, what, _EXAMPLES[node.name])
        return node.arguments[0]

    def _levels(self, node: tree.Attribute, several: bool = True) -> Chosen:
        if node.arguments or not node.named:
            message = f".{node.name}(...) takes levels by the names of their axes"
            at = next(iter(node.arguments), node)
            raise self._error(at, message, "a name before each level", _EXAMPLES[node.name])
        chosen = {}
        for one in node.named:
            if several and isinstance(one.value, tree.Items):
                chosen[one.name] = tuple(map(self._level, one.value.items))
            else:
                chosen[one.name] = (self._level(one.value),)
        return chosen

    def _level(self, node: tree.Node) -> str:
        if isinstance(node, tree.Items):
            raise self._error(node, "this is a list", "one level", 'grid(model="a")')
        value = self._value(node)
        if isinstance(value, Number) and value.value is not None:
            return format_number(value.value)
        if isinstance(value, str) and value.strip():
            return level_key(value)
        expected = "a text in quotes or a number"
        raise self._error(node, "this is no level", expected, 'grid(model="a")')


def _kind(value: Value) -> str:
    return KINDS[type(value)]
