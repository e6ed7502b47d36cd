"""The scores of single items: means, counts, standard errors, and which items they are."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from statistics import stdev
from typing import Any

from gridatlas_import.rows import ItemOutcomes

_LETTERS = {"C": Fraction(1), "P": Fraction(1, 2), "I": Fraction(0), "N": Fraction(0)}
"""Correct, partly correct, incorrect and no answer, as Inspect writes them."""
DECIMALS = 10
"""Decimals of a mean: binary fractions have no more that mean anything."""


@dataclass(frozen=True, slots=True)
class Item:
    """The scores of an item.

    Attributes:
        id: What the tool calls it.
        check: A digest of what was asked; empty where the log doesn't have it.
        scores: Of each sample that has one, from 0 to 1 or any number.
    """

    id: str
    check: str
    scores: tuple[Fraction, ...]

    @property
    def mean(self) -> Fraction:
        """The mean over its samples."""
        return sum(self.scores, Fraction(0)) / len(self.scores)


def score_of(value: Any) -> Fraction | None:
    """A score as a number; None where a sample has none (NaN, nothing, a text)."""
    if isinstance(value, bool):
        return Fraction(int(value))
    if not isinstance(value, str):
        return None
    if value in _LETTERS:
        return _LETTERS[value]
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    # 1e999999 is a number of Decimal, but none that can be averaged.
    if not number.is_finite() or abs(number.adjusted()) > 300:
        return None
    return Fraction(number)


def digest(value: Any) -> str:
    """A short digest of a target, by which equal ones are found."""
    return hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Tally:
    """What the items of a cell give together.

    Attributes:
        n: Scored samples of all items.
        successes: Those that are right; None where a score is neither 0 nor 1.
        mean: Of the items' means.
        stderr: Of that mean, over items; None below two items.
    """

    n: int
    successes: int | None
    mean: Decimal
    stderr: Decimal | None


def tally(items: Sequence[Item]) -> Tally | None:
    """The counts of a cell; None where nothing was scored."""
    if not items:
        return None
    scores = [score for item in items for score in item.scores]
    means = [item.mean for item in items]
    mean = sum(means, Fraction(0)) / len(means)
    right = None
    if all(score in (0, 1) for score in scores):
        right = int(sum(scores))
        # The mean of items weighs them alike; where they have unequal samples, a count doesn't.
        right = right if Fraction(right, len(scores)) == mean else None
    error = None
    if len(means) > 1:
        error = rounded(stdev(map(float, means)) / math.sqrt(len(means)))
    return Tally(len(scores), right, rounded(mean), error)


def rounded(value: Fraction | float) -> Decimal:
    """A number with as many decimals as mean something."""
    found = round(Decimal(float(value)), DECIMALS).normalize()
    return found if found else Decimal(0)


def outcomes(items: Sequence[Item]) -> ItemOutcomes | None:
    """The counts of each item, in an order that doesn't depend on the log's.

    None where a score is neither 0 nor 1, or where it isn't known what was asked.
    """
    if not items or not all(item.check for item in items):
        return None
    if any(score not in (0, 1) for item in items for score in item.scores):
        return None
    ordered = sorted(items, key=lambda item: natural(item.id))
    return ItemOutcomes(
        tuple(item.id for item in ordered),
        tuple(item.check for item in ordered),
        tuple(len(item.scores) for item in ordered),
        tuple(int(sum(item.scores)) for item in ordered),
    )


def natural(text: str) -> tuple[tuple[int, int | str], ...]:
    """A key that sorts 2 before 10."""
    parts = re.findall(r"\d{1,18}|\D+|\d+", text)
    return tuple((0, int(part)) if part.isdecimal() else (1, part) for part in parts)


def told_apart(
    found: Mapping[str, ItemOutcomes],
) -> tuple[dict[str, ItemOutcomes], list[str]]:
    """Outcomes whose equal ids are equal items, and the ids that were several.

    Tools number items anew in each run and task; the same number can be another question. Such an
    id gets the digest of what was asked, so that nothing pairs by it.

    Args:
        found: By the place of a cell.
    """
    checks: dict[str, set[str]] = {}
    for cell in found.values():
        for name, check in zip(cell.ids, cell.checks, strict=True):
            checks.setdefault(name, set()).add(check)
    several = {name for name, values in checks.items() if len(values) > 1}
    if not several:
        return dict(found), []
    apart = {place: replace(cell, ids=tuple(_ids(cell, several))) for place, cell in found.items()}
    return apart, sorted(several, key=natural)


def _ids(cell: ItemOutcomes, several: set[str]) -> Iterable[str]:
    for name, check in zip(cell.ids, cell.checks, strict=True):
        yield f"{name} ({check})" if name in several else name
