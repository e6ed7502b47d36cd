"""Specifications without data, as Altair wrote them for the package.

Altair checks what it writes, and takes as long to start as ten heatmaps to draw: a test compares
these with what the functions that use it give, and a build does without.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("templates.json")
"""By the name of a chart the `chart` without layers, and its `layers` by theirs."""


def chart_of(name: str, layers: Iterable[str] = ()) -> dict[str, Any]:
    """A chart with these of its layers, from the lowest up; by default with all."""
    found = _shipped()[name]
    names = tuple(layers) or tuple(found["layers"])
    return deepcopy(found["chart"] | {"layer": [found["layers"][layer] for layer in names]})


@cache
def _shipped() -> dict[str, Any]:
    shipped: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return shipped
