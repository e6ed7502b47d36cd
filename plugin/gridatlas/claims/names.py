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
MEANINGS: Mapping[str, str] = {
    "best": "the best cells, ties included",
    "worst": "the worst cells, ties included",
    "mean": "the mean of the values",
    "min": "the lowest value",
    "max": "the highest value",
    "spread": "the highest value minus the lowest",
    "all": "whether it is true in every cell",
    "any": "whether it is true in some cell",
    "count": "in how many cells it is true; of the best or worst cells, how many tie",
    "share": "in which share of the cells it is true, from 0 to 1",
    "value": "the value of the best or worst cells",
    "cells": "their names, for prose",
    "at": "the value, or the truth, of one cell",
    "row": "the cells at one level of y",
    "column": "the cells at one level of x",
    "where": "the cells at these levels, or those for which a grid of truths is true",
    "trend": "Kendall's τ-b between the levels of an axis and the values, from −1 to 1",
    "levels": "in each cell, its own level of an axis; levels must be numbers",
    "and_": "true in the cells where both are",
    "or_": "true in the cells where one of them is",
    "not_": "true in the cells where it isn't",
    "all_at": "whether all of them lie at these levels",
    "any_at": "whether some of them lie at these levels",
}
"""What each name that may follow a dot gives."""
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
