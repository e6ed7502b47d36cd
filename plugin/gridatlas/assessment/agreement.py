"""How the readings of a study agree: counts per pair, every disagreement, and likely causes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

from gridatlas.checks import half_unit
from gridatlas.model.problems import Problem
from gridatlas.model.study import Levels, Point, Reading, Study, inline
from gridatlas.table.choose import derived

FEWEST = 4
"""Cells that must be compared before a cause is named."""
MOSTLY = Fraction(3, 4)
"""Share of cells that must agree after a change for it to be named as the cause."""
BETTER = Fraction(1, 2)
"""How much larger that share must be than without the change."""

At = tuple[Levels, Point]
Values = Mapping[At, Decimal]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two readings (ids) against each other, over the cells where both have a value.

    Attributes:
        cells: Cells where both have a value.
        equal: Those with the same value, as numbers.
        largest: Largest absolute difference; None where no cell is in both.
        only_first, only_second: Cells where only this one of the two has a value.
        derived: Whether one is derived from the other, so that they are no two witnesses.
    """

    first: str
    second: str
    cells: int
    equal: int
    largest: Decimal | None
    only_first: int
    only_second: int
    derived: bool = False

    @property
    def share(self) -> Fraction | None:
        """Share of equal cells; None where no cell is in both."""
        return Fraction(self.equal, self.cells) if self.cells else None

    @property
    def turned(self) -> Pair:
        """The same with the readings the other way round."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            only_first=self.only_second,
            only_second=self.only_first,
        )


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One cell with different values: (reading id, value) in the order of the readings."""

    levels: Levels
    point: Point
    values: tuple[tuple[str, Decimal], ...]

    @property
    def difference(self) -> Decimal:
        """Largest minus smallest value."""
        values = [value for _, value in self.values]
        return max(values) - min(values)


@dataclass(frozen=True, slots=True)
class Alone:
    """A cell for which one reading only has a value."""

    levels: Levels
    point: Point
    reading: str


@dataclass(frozen=True, slots=True)
class Outside:
    """A level of a reading that the study doesn't have, and in how many of its rows."""

    reading: str
    factor: str
    key: str
    rows: int


@dataclass(frozen=True, slots=True)
class Hint:
    """What may be wrong with a whole reading, and by how many cells that is seen.

    Attributes:
        kind: `axes-swapped`, `axis-reversed` or `unit-differs`.
        reading: Id of the reading that would agree if it were changed.
        other: Id of the reading it was compared with; which of the two is right, is not known.
        looks: What it looks like, in words: `axes look swapped`.
        agree, cells: Cells that agree after the change, and that were compared.
        evidence: The counts in words.
    """

    kind: str
    reading: str
    other: str
    looks: str
    agree: int
    cells: int
    evidence: str


@dataclass(frozen=True, slots=True)
class ReadingAgreement:
    """All readings of a study against each other.

    Attributes:
        readings: Ids, in the order of the study.
        pairs: Every two readings once, the earlier one first.
        disagreements: Every cell for which readings have different values.
        alone: Every cell for which one reading only has a value.
    """

    readings: tuple[str, ...]
    pairs: tuple[Pair, ...]
    disagreements: tuple[Disagreement, ...]
    alone: tuple[Alone, ...]
    outside: tuple[Outside, ...]
    hints: tuple[Hint, ...]

    @property
    def matrix(self) -> tuple[tuple[Pair | None, ...], ...]:
        """One row per reading, in it one pair per reading (row, column); None on the diagonal."""
        found = {(pair.first, pair.second): pair for pair in self.pairs}
        found |= {(pair.second, pair.first): pair.turned for pair in self.pairs}
        return tuple(
            tuple(found.get((row, column)) for column in self.readings) for row in self.readings
        )


def compare(study: Study) -> ReadingAgreement:
    """Compare every reading with every other one, cell by cell, as numbers (47.0 is 47)."""
    outside = tuple(level for reading in study.readings for level in _outside(study, reading))
    if len(study.accounts) == 1:
        return ReadingAgreement((study.accounts[0].id,), (), (), (), outside, ())
    values = {reading.id: _values(reading) for reading in study.accounts}
    order = {at: place for place, at in enumerate(_places(study))}
    every = sorted({at for given in values.values() for at in given}, key=order.__getitem__)
    disagreements, alone = [], []
    for levels, point in every:
        given = [(name, of[levels, point]) for name, of in values.items() if (levels, point) in of]
        if len(given) == 1:
            alone.append(Alone(levels, point, given[0][0]))
        if len({value for _, value in given}) > 1:
            disagreements.append(Disagreement(levels, point, tuple(given)))
    pairs = list(combinations(study.accounts, 2))
    return ReadingAgreement(
        tuple(values),
        tuple(_pair(study, first, second, values) for first, second in pairs),
        tuple(disagreements),
        tuple(alone),
        outside,
        tuple(hint for first, second in pairs for hint in _hints(study, first, second)),
    )


def agreement_problems(study: Study) -> tuple[Problem, ...]:
    """Pinned pairs of readings that agree in other numbers of cells than `study.yml` says."""
    by_id = {reading.id: reading for reading in study.readings}
    problems = []
    for index, entry in enumerate(study.agreement):
        if not all(name in by_id for name in entry.readings):
            continue  # a reading whose table can't be read is a problem already
        first, second = (by_id[name] for name in entry.readings)
        same, of = _agreement(_values(first), _values(second))
        if (same, of) == (entry.same, entry.of):
            continue
        problems.append(
            Problem(
                "agreement-changed",
                f"{study.folder}/study.yml",
                f"{first.id} and {second.id} agree in {same} of {of} cells",
                f"{entry.same} of {entry.of}, which is pinned here",
                "correct the values that changed, or pin this count after looking at them: "
                f"same: {same}, of: {of}",
                study.agreement_lines[index],
                f"agreement.{index}",
            )
        )
    return tuple(problems)


def _values(reading: Reading) -> dict[At, Decimal]:
    table = reading.table
    values = table.columns.value[table.present]
    return {at: value for at, value in zip(table, values, strict=True) if value is not None}


def _places(study: Study) -> Iterator[At]:
    """Every cell that a reading may have, facet by facet and row by row."""
    grids = {levels for reading in study.accounts for levels in reading.table.grids}
    for levels in study.in_order(grids):
        for y in study.y.levels:
            for x in study.x.levels:
                yield levels, (x.key, y.key)


def _pair(study: Study, first: Reading, second: Reading, values: Mapping[str, Values]) -> Pair:
    left, right = values[first.id], values[second.id]
    differences = [abs(left[at] - right[at]) for at in left if at in right]
    return Pair(
        first.id,
        second.id,
        len(differences),
        differences.count(Decimal(0)),
        max(differences, default=None),
        len(left) - len(differences),
        len(right) - len(differences),
        derived(study, first, second),
    )


def _outside(study: Study, reading: Reading) -> list[Outside]:
    factors = {factor.id: factor for factor in (study.x, study.y, *study.facets)}
    rows = Counter(
        (factor, key)
        for keys, _ in reading.outside
        for factor, key in keys
        if key not in factors[factor].keys
    )
    return [Outside(reading.id, factor, key, number) for (factor, key), number in rows.items()]


# --- likely causes ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Change:
    """A reading's values as they would be, had they been written down otherwise."""

    kind: str
    looks: str
    done: str
    values: Values
    rounded: bool = False


def _hints(study: Study, first: Reading, second: Reading) -> list[Hint]:
    """Changes of one of two readings that make them agree where they didn't."""
    if first.outside and not second.outside:
        first, second = second, first
    left, right = _values(first), _values(second)
    given = _agreement(left, right)
    hints: list[Hint] = []
    if 1 - _share(given) < BETTER:  # No change can make them agree so much better.
        return hints
    for changes in (_axis_changes(study, second), _unit_changes(right)):
        tried = [(_agreement(left, change.values, change.rounded), change) for change in changes]
        after, change = max(tried, key=lambda attempt: attempt[0][0])
        if after[1] < FEWEST or _share(after) < MOSTLY or _share(after) - _share(given) < BETTER:
            continue
        evidence = f"{after[0]} of {after[1]} cells agree after {change.done}, "
        evidence += f"{given[0]} of {given[1]} as given"
        hints.append(Hint(change.kind, second.id, first.id, change.looks, *after, evidence))
    return hints


def _axis_changes(study: Study, reading: Reading) -> list[_Change]:
    x, y = study.x, study.y
    values = _values(reading)
    right, up = (dict(zip(axis.keys, reversed([*axis.keys]), strict=True)) for axis in (x, y))
    names = inline(x.label), inline(y.label)
    across = _Change(
        "axis-reversed",
        f"{names[0]} looks reversed",
        f"reversing {names[0]}",
        {(levels, (right[a], b)): value for (levels, (a, b)), value in values.items()},
    )
    if not study.second:
        return [across]
    both = " and ".join(names)
    return [
        _Change("axes-swapped", "axes look swapped", f"swapping {both}", _swapped(study, reading)),
        across,
        _Change(
            "axis-reversed",
            f"{names[1]} looks reversed",
            f"reversing {names[1]}",
            {(levels, (a, up[b])): value for (levels, (a, b)), value in values.items()},
        ),
        _Change(
            "axis-reversed",
            f"{both} look reversed",
            f"reversing {both}",
            {(levels, (right[a], up[b])): value for (levels, (a, b)), value in values.items()},
        ),
    ]


def _swapped(study: Study, reading: Reading) -> dict[At, Decimal]:
    """The values with x and y swapped, those at levels that only then are the study's included."""
    found = {(levels, (b, a)): value for (levels, (a, b)), value in _values(reading).items()}
    for given, cell in reading.outside:
        keys = dict(given)
        levels = tuple(keys[facet.id] for facet in study.facets)
        if cell.value is not None:
            found[levels, (keys[study.y.id], keys[study.x.id])] = cell.value
    return found


def _unit_changes(values: Values) -> list[_Change]:
    return [
        _Change(
            "unit-differs",
            "the unit differs (a fraction and a percentage)",
            f"{done} 100",
            {at: value.scaleb(places) for at, value in values.items()},
            rounded=True,
        )
        for done, places in (("multiplying by", 2), ("dividing by", -2))
    ]


def _agreement(first: Values, second: Values, rounded: bool = False) -> tuple[int, int]:
    """Number of equal cells (equal within rounding), and of cells that both have."""
    both = [(value, second[at]) for at, value in first.items() if at in second]
    room = [half_unit(a) + half_unit(b) if rounded else Decimal(0) for a, b in both]
    return sum(abs(a - b) <= r for (a, b), r in zip(both, room, strict=True)), len(both)


def _share(counts: tuple[int, int]) -> Fraction:
    return Fraction(counts[0], counts[1]) if counts[1] else Fraction(0)
