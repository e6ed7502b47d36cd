"""The names of the claim language that follow a dot, and what values are called in messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gridatlas.claims.grids import Extreme, Numbers, Truths
from gridatlas.claims.values import CellNames, Number, Truth

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

PROPERTIES: Mapping[type, Sequence[str]] = {
    Numbers: ("best", "worst", "mean", "min", "max", "spread"),
    Truths: ("all", "any", "count", "share"),
    Extreme: ("value", "cells", "count"),
}
METHODS: Mapping[type, Sequence[str]] = {
    Numbers: ("at", "row", "column", "where", "trend", "levels"),
    Truths: ("at", "row", "column", "where", "and_", "or_", "not_"),
    Extreme: ("all_at", "any_at"),
}
PROPERTY_NAMES = frozenset(name for names in PROPERTIES.values() for name in names)
METHOD_NAMES = frozenset(name for names in METHODS.values() for name in names)
BEFORE_DOT: Mapping[type, str] = {
    Numbers: "a grid of numbers",
    Truths: "a comparison of grids",
    Extreme: ".best or .worst",
}
EXAMPLES: Mapping[str, str] = {
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

JOINING: Mapping[str, str] = {
    "and": ".and_(...) cell by cell, or .all or .any on each side",
    "or": ".or_(...) cell by cell, or .all or .any on each side",
    "not": ".not_() cell by cell, or .all or .any after the grid",
}


def kind_of(value: Value) -> str:
    """What a value is called in messages."""
    return KINDS[type(value)]
