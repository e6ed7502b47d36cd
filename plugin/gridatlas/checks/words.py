"""The wording of findings: how many, of what, and in which cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gridatlas.model.study import Factor, Point, Study, inline


def many(number: int, noun: str) -> str:
    """`1 grid`, `1,200 grids`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def is_are(number: int) -> str:
    """The verb after a number."""
    return "is" if number == 1 else "are"


def of_values(number: int, total: int) -> str:
    """`3 of 20 values are`, for a sentence to go on."""
    return f"{number} of {many(total, 'value')} {is_are(number)}"


def span(numbers: Iterable[int]) -> str:
    """`150`, or `150 to 990`."""
    there = sorted(set(numbers))
    return f"{there[0]:,}" + (f" to {there[-1]:,}" if len(there) > 1 else "")


def decimals_text(places: Iterable[int]) -> str:
    """`1 decimal`, `no decimals`, `0 to 2 decimals`."""
    number = span(places)
    return f"{'no' if number == '0' else number} {'decimal' if number == '1' else 'decimals'}"


def at_level(factor: Factor, key: str) -> str:
    """`local window size 500`."""
    return f"{inline(factor.label)} {factor.level(key).label}"


def cells_text(study: Study, cells: Sequence[tuple[Point, str]], limit: int = 6) -> str:
    """`47.3 at ratio 0.1, local window size 500; …`, and how many more there are."""
    texts = [f"{text} at {at_level(study.x, x)}, {at_level(study.y, y)}" for (x, y), text in cells]
    more = len(texts) - limit
    return "; ".join(texts[:limit]) + (f"; and {more} more" if more > 0 else "")
