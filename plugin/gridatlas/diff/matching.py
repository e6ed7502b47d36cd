"""Which factors and levels of two states of a study are the same, also under another name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gridatlas.model.study import Factor, Level, Levels, Point, Reading, Study
from gridatlas.results.grids import Results

FEWEST = 3
"""Values that must be the same before two names are taken for one thing."""
NEARLY_ALL = Fraction(9, 10)
"""Share of values that must be the same."""
HALF = Fraction(1, 2)
"""The same where the labels are the same."""

Coordinate = tuple[str, ...]
"""Keys of all facets, then of x and y."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """One thing under two names.

    Attributes:
        kind: `study`, `factor`, `level` or `reading`.
        of: Label of a level's factor; else empty.
        old, new: Ids with labels, as they shall be read.
        equal, cells: Values that are the same, of those that were compared.
        said: Whether the study itself says so, under `former`.
    """

    kind: str
    of: str
    old: str
    new: str
    equal: int
    cells: int
    said: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """How one state of a study is laid over the other.

    Attributes:
        order: Places of the head's factors (facets, x, y) in the order of the base's; None where
            the factors can't be matched.
        levels: By the base's factor, in its order: the head's key of a level by the base's.
        removed, added: Levels on one side only, with their factors.
        shared: Levels on both sides: factor of the head, level of the base, level of the head.
    """

    order: tuple[int, ...] | None
    levels: tuple[Mapping[str, str], ...] = ()
    removed: tuple[tuple[Factor, Level], ...] = ()
    added: tuple[tuple[Factor, Level], ...] = ()
    shared: tuple[tuple[Factor, Level, Level], ...] = ()
    renamed: tuple[Renamed, ...] = ()

    def head(self, levels: Levels, point: Point) -> tuple[Levels, Point] | None:
        """Where the head has a cell of the base; None where it has no such place."""
        if self.order is None:
            return None
        given: list[str] = [""] * len(self.order)
        for level, place, key in zip(self.levels, self.order, (*levels, *point), strict=True):
            if key not in level:
                return None
            given[place] = level[key]
        return tuple(given[:-2]), (given[-2], given[-1])

    def head_levels(self, levels: Levels) -> Levels | None:
        """Facet levels of the head for those of the base; None where one isn't there any more.

        So also where a facet became an axis.
        """
        if self.order is None:
            return None
        given: list[str] = [""] * len(levels)
        for level, place, key in zip(self.levels, self.order, levels, strict=False):
            if key not in level or place >= len(levels):
                return None
            given[place] = level[key]
        return tuple(given)


def factors_of(study: Study) -> tuple[Factor, ...]:
    """All factors: the facets, then x and y."""
    return (*study.facets, study.x, study.y)


def name_of(key: str, label: str) -> str:
    """An id with its label where that says more: `aime24 (AIME'24)`."""
    return key if key == label else f"{key} ({label})"


def match_studies(base: Results, head: Results) -> Match:
    """Lay two states of a study over one another."""
    old, new = factors_of(base.study), factors_of(head.study)
    order, renamed = _match_factors(old, new)
    if order is None:
        return Match(None)
    turned = [new[place] for place in order]
    found = _match_levels(old, turned, _values(base), _values(head, order))
    removed = [
        (one, level)
        for one, known in zip(old, found, strict=True)
        for level in one.levels
        if level.key not in known
    ]
    there = [{to for to, _, _ in known.values()} for known in found]
    added = [
        (one, level)
        for one, known_here in zip(turned, there, strict=True)
        for level in one.levels
        if level.key not in known_here
    ]
    shared = []
    for one, other, known in zip(old, turned, found, strict=True):
        for key, (to, equal, cells) in known.items():
            before, after = one.level(key), other.level(to)
            shared.append((other, before, after))
            if key != to:
                names = name_of(key, before.label), name_of(to, after.label)
                renamed.append(Renamed("level", other.label, *names, equal, cells))
    levels = [{key: to for key, (to, _, _) in known.items()} for known in found]
    return Match(order, tuple(levels), tuple(removed), tuple(added), tuple(shared), tuple(renamed))


def _match_factors(
    old: Sequence[Factor], new: Sequence[Factor]
) -> tuple[tuple[int, ...] | None, list[Renamed]]:
    """Factors by their ids; what is left over by its place or by its levels."""
    if len(old) != len(new):
        return None, []
    ids = [one.id for one in new]
    order = {place: ids.index(one.id) for place, one in enumerate(old) if one.id in ids}
    renamed = []
    for place, one in enumerate(old):
        if place in order:
            continue
        left = [index for index in range(len(new)) if index not in order.values()]
        keys = {level.key for level in one.levels}
        alike = [index for index in left if keys & {level.key for level in new[index].levels}]
        same_place = [index for index in left if index == place]
        chosen = [index for index in same_place if index in alike] or alike or same_place
        if not chosen:
            return None, []
        order[place] = chosen[0]
        other = new[chosen[0]]
        shared = len(keys & {level.key for level in other.levels})
        names = name_of(one.id, one.label), name_of(other.id, other.label)
        renamed.append(Renamed("factor", "", *names, shared, len(keys)))
    return tuple(order[place] for place in range(len(old))), renamed


def _values(results: Results, order: Sequence[int] | None = None) -> dict[Coordinate, Any]:
    """All shown values; the coordinates in another order of the factors where one is given."""
    found = {}
    for levels, grid in results.grids.items():
        for x, y, cell in grid.points():
            if cell.value is not None:
                at = (*levels, x.key, y.key)
                found[tuple(at[place] for place in order) if order else at] = cell.value
    return found


Known = dict[str, tuple[str, int, int]]
"""The head's key by the base's, with the numbers of equal and of compared values."""


def _match_levels(
    old: Sequence[Factor],
    new: Sequence[Factor],
    base: Mapping[Coordinate, Any],
    head: Mapping[Coordinate, Any],
) -> list[Known]:
    found: list[Known] = []
    left = []
    for one, other in zip(old, new, strict=True):
        there = {level.key for level in other.levels}
        keys = [level.key for level in one.levels]
        found.append({key: (key, 0, 0) for key in keys if key in there})
        gone = [key for key in keys if key not in there]
        come = [level.key for level in other.levels if level.key not in set(keys)]
        left.append((gone, come))
    for index, (gone, come) in enumerate(left):
        if not gone or not come:
            continue
        before = _slices(base, index, gone, [{key: key for key in one} for one in found])
        after = _slices(
            head, index, come, [{to: key for key, (to, _, _) in one.items()} for one in found]
        )
        scored = []
        for key in gone:
            for to in come:
                first, second = before.get(key, Counter()), after.get(to, Counter())
                both = first & second
                equal, cells = both.total(), min(first.total(), second.total())
                distinct = len({value for _, value in both})
                labels = old[index].level(key).label, new[index].level(to).label
                enough = HALF if labels[0].casefold() == labels[1].casefold() else NEARLY_ALL
                if equal >= FEWEST and distinct > 1 and equal >= enough * cells:
                    scored.append((Fraction(equal, cells), equal, key, to, cells))
        taken: set[str] = set()
        for _, equal, key, to, cells in sorted(scored, key=lambda one: one[:2], reverse=True):
            if key not in found[index] and to not in taken:
                found[index][key] = (to, equal, cells)
                taken.add(to)
    return found


def _slices(
    values: Mapping[Coordinate, Any],
    index: int,
    keys: Iterable[str],
    known: Sequence[Mapping[str, str]],
) -> dict[str, Counter[Any]]:
    """The values at each of some levels, with those of their other levels that both sides have.

    Args:
        known: Per factor, the base's keys of levels by this side's.
    """
    wanted = set(keys)
    slices: dict[str, Counter[Any]] = {}
    for at, value in values.items():
        if at[index] in wanted:
            place = tuple(known[i].get(key) for i, key in enumerate(at) if i != index)
            slices.setdefault(at[index], Counter())[place, value] += 1
    return slices


def match_by_values(
    old: Mapping[str, Mapping[Any, Any]], new: Mapping[str, Mapping[Any, Any]]
) -> dict[str, tuple[str, int, int]]:
    """Things that are on one side only and have the same values there as another on the other."""
    scored = []
    for key, one in old.items():
        for to, other in new.items():
            both = [at for at in one if at in other and one[at] == other[at]]
            cells = max(len(one), len(other))
            distinct = len({one[at] for at in both})
            if len(both) >= FEWEST and distinct > 1 and len(both) >= NEARLY_ALL * cells:
                scored.append((Fraction(len(both), cells), len(both), key, to, cells))
    found: dict[str, tuple[str, int, int]] = {}
    for _, equal, key, to, cells in sorted(scored, key=lambda one: one[:2], reverse=True):
        if key not in found and to not in [one for one, _, _ in found.values()]:
            found[key] = (to, equal, cells)
    return found


def study_values(results: Results) -> dict[Coordinate, Any]:
    """All shown values of a study by their coordinates."""
    return _values(results)


def reading_values(reading: Reading, match: Match | None = None) -> dict[Any, Any]:
    """A reading's values by their places; on the head's where a match is given."""
    found = {}
    for (levels, point), cell in reading.cells.items():
        if cell.value is not None:
            at = match.head(levels, point) if match else (levels, point)
            if at is not None:
                found[at] = cell.value
    return found
