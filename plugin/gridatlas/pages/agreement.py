"""How readings agree, where a study has so many that a table of all pairs is no help."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from gridatlas.assessment.agreement import Disagreement, Hint, Pair, ReadingAgreement
from gridatlas.checks.words import half_unit
from gridatlas.data.tables import guarded
from gridatlas.model.format import cell_text
from gridatlas.model.study import Study
from gridatlas.table.grids import Results

MATRIX_UP_TO = 12
"""Readings of which the page Checks has a table of all pairs."""
PAIRS_SHOWN = 50
"""Pairs that it has in the place of that table."""
PAIRS = "pairs.csv"
"""File beside the page, with all of them."""
NAMED = 3
"""Readings that are named for a value."""


@dataclass(frozen=True, slots=True)
class Spread:
    """What many readings say of a cell, in words.

    Attributes:
        lowest, highest: The value, with the numbers of readings that give it.
        most: The value that most readings give; empty where no two give the same.
    """

    lowest: str
    highest: str
    most: str


@dataclass(frozen=True, slots=True)
class Cause:
    """A likely cause that is seen between one reading and others.

    Attributes:
        reading: Id of the one.
        others: How many others; it may be in the one, or in all of these.
        other: Id of that with which most cells would agree.
        hint: What is seen between these two.
    """

    reading: str
    others: int
    other: str
    hint: Hint


@dataclass(frozen=True, slots=True)
class Agreement:
    """All pairs of many readings in short.

    Attributes:
        pairs: How many there are.
        alike: Those that have the same value in all cells that both give.
        apart: Those that have no cell in common.
        shown: Those that differ most: the smallest share of cells with the same value, then the
            largest difference.
        causes: Likely causes, by the readings that most pairs with them have in common.
    """

    pairs: int
    alike: int
    apart: int
    shown: tuple[Pair, ...]
    causes: tuple[Cause, ...]


def agreement(comparison: ReadingAgreement) -> Agreement | None:
    """All pairs in short; None where a table has room for them."""
    if len(comparison.readings) <= MATRIX_UP_TO:
        return None
    differ = [pair for pair in comparison.pairs if pair.equal < pair.cells]
    apart = sum(not pair.cells for pair in comparison.pairs)
    return Agreement(
        len(comparison.pairs),
        len(comparison.pairs) - len(differ) - apart,
        apart,
        tuple(sorted(differ, key=lambda pair: (pair.share, -(pair.largest or 0)))[:PAIRS_SHOWN]),
        tuple(_causes(comparison)),
    )


def _causes(comparison: ReadingAgreement) -> Iterable[Cause]:
    alike: dict[str, list[Hint]] = {}
    for hint in comparison.hints:
        alike.setdefault(hint.looks, []).append(hint)
    for hints in alike.values():
        left = hints
        while left:
            times = Counter(name for hint in left for name in (hint.reading, hint.other))
            centre = max(
                (reading for reading in comparison.readings if reading in times),
                key=times.__getitem__,
            )
            its = [hint for hint in left if centre in (hint.reading, hint.other)]
            left = [hint for hint in left if centre not in (hint.reading, hint.other)]
            clearest = max(its, key=lambda hint: hint.agree / hint.cells)
            other = clearest.other if clearest.reading == centre else clearest.reading
            yield Cause(centre, len(its), other, clearest)


def spread(study: Study, disagreement: Disagreement) -> Spread:
    """What readings say of a cell on which they disagree."""
    numbers = {reading.id: number for number, reading in enumerate(study.accounts, 1)}
    cells = {
        reading.id: reading.table[disagreement.levels, disagreement.point]
        for reading in study.accounts
        if (disagreement.levels, disagreement.point) in reading.table
    }
    given: dict[Decimal, list[str]] = {}
    for name, value in disagreement.values:
        given.setdefault(value, []).append(name)

    def text_of(value: Decimal) -> str:
        names = given[value]
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        who = ", ".join(str(numbers[name]) for name in names[:NAMED])
        return f"{cell_text(study, cells[names[0]])} ({who}{more})"

    [(value, times)] = Counter(value for _, value in disagreement.values).most_common(1)
    most = f"{cell_text(study, cells[given[value][0]])} ({times} of {len(disagreement.values)})"
    return Spread(text_of(min(given)), text_of(max(given)), most if times > 1 else "")


def fitting(results: Results, disagreement: Disagreement) -> tuple[str, ...] | None:
    """The readings whose value gives the printed average, with its other parts as they are shown.

    Returns:
        None where no average of the cell is printed, or a part of it is missing.
    """
    for grid in results.grids.values():
        if grid.computed or disagreement.levels not in [part.levels for part in grid.parts]:
            continue
        printed = grid.cell(*disagreement.point)
        others = [
            part.cell(*disagreement.point).value
            for part in grid.parts
            if part.levels != disagreement.levels
        ]
        parts = [value for value in others if value is not None]
        # Without a reading it is computed here, of the shown parts.
        if printed.value is None or not printed.reading or len(parts) < len(others):
            continue
        average = printed.value
        found = ((name, _off(average, [*parts, value])) for name, value in disagreement.values)
        return tuple(name for name, off in found if off <= 0)
    return None


def _off(printed: Decimal, parts: Sequence[Decimal]) -> Decimal:
    """How far a mean is from its parts beyond what rounding explains, times their number."""
    room = half_unit(printed) * len(parts) + sum(map(half_unit, parts), Decimal())
    return abs(sum(parts, Decimal()) - printed * len(parts)) - room


def pairs_csv(comparison: ReadingAgreement) -> str:
    """All pairs as a table."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["first", "second", "cells", "equal", "largest", "only_first", "only_second", "derived"]
    )
    writer.writerows(map(_row, comparison.pairs))
    return text.getvalue()


def _row(pair: Pair) -> Sequence[str]:
    return (
        guarded(pair.first),
        guarded(pair.second),
        str(pair.cells),
        str(pair.equal),
        "" if pair.largest is None else f"{pair.largest:f}",
        str(pair.only_first),
        str(pair.only_second),
        "yes" if pair.derived else "",
    )
