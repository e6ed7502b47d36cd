"""Which factors and levels of two states of a study are the same, also under another name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from gridatlas.model.study import Factor, Level, Levels, Point, Reading, Study, inline
from gridatlas.table.grids import Results

FEWEST = 3
"""Values that must be the same before two names are taken for one thing."""
NEARLY_ALL = Fraction(9, 10)
"""Share of values that must be the same."""
HALF = Fraction(1, 2)
"""The same where the labels are the same."""

Coordinate = tuple[str, ...]
"""Keys of all facets, then of x and y."""


@dataclass(frozen=True, slots=True)
class Rename:
    """One thing under two names.

    Attributes:
        kind: `study`, `factor`, `level` or `reading`.
        old, new: Ids with labels, as they shall be read.
        equal, cells: Values that are the same, of those that were compared.
        factor: Label of a level's factor; else empty.
        declared: Whether `study.yml` names the old id, under `former`.
    """

    kind: str
    old: str
    new: str
    equal: int
    cells: int
    factor: str = ""
    declared: bool = False


class Counterpart(NamedTuple):
    """The head's key of a thing of the base, with the numbers of equal and of compared values."""

    key: str
    equal: int
    cells: int


@dataclass(frozen=True, slots=True)
class Match:
    """How one state of a study is laid over the other.

    Attributes:
        order: Places of the head's factors (facets, x, y) in the order of the base's; None where
            the factors can't be matched.
        levels: By the base's factor, in its order: the head's key of a level by the base's.
        removed, added: Levels of one state only, with their factors.
        shared: Levels of both: factor of the head, level of the base, level of the head.
        labels: Labels that differ, as they stand within sentences: before and now; without those
            that another level had.
    """

    order: tuple[int, ...] | None
    levels: tuple[Mapping[str, str], ...] = ()
    removed: tuple[tuple[Factor, Level], ...] = ()
    added: tuple[tuple[Factor, Level], ...] = ()
    shared: tuple[tuple[Factor, Level, Level], ...] = ()
    renamed: tuple[Rename, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()

    def head(self, levels: Levels, point: Point) -> tuple[Levels, Point] | None:
        """Where the head has a cell of the base; None where it has no such place."""
        keys = self._head_keys((*levels, *point))
        if keys is None:
            return None
        *facets, x, y = keys
        return tuple(facets), (x, y)

    def head_levels(self, levels: Levels) -> Levels | None:
        """Facet levels of the head for those of the base; None where one isn't there any more.

        So also where a facet became an axis.
        """
        keys = self._head_keys(levels)
        return None if keys is None else tuple(keys)

    @property
    def moves_facets(self) -> bool:
        """Whether a facet became an axis."""
        facets = len(self.order or ()) - 2
        return any((at < facets) != (to < facets) for at, to in enumerate(self.order or ()))

    @property
    def ids(self) -> dict[str, str]:
        """The head's id of each level that has another one there, by the base's."""
        return {key: to for levels in self.levels for key, to in levels.items() if key != to}

    def in_head(self, text: str) -> str:
        """A text of the base with the head's ids of levels, where they stand as whole words."""
        ids = self.ids
        if not ids:
            return text
        words = "|".join(map(re.escape, sorted(ids, key=len, reverse=True)))
        return re.sub(rf"(?<![\w.-])(?:{words})(?![\w.-])", lambda found: ids[found[0]], text)

    @property
    def names(self) -> dict[str, str]:
        """The head's names of axes and levels, by the base's."""
        return dict(self.labels)

    def relabelled(self, text: str) -> str:
        """A text of the base with the head's labels of axes and levels."""
        for old, new in self.labels:
            text = text.replace(old, new)
        return text

    def _head_keys(self, keys: Sequence[str]) -> list[str] | None:
        """The head's keys of the first factors for the base's keys of these."""
        if self.order is None:
            return None
        head = [""] * len(keys)
        for levels, place, key in zip(self.levels, self.order, keys, strict=False):
            if key not in levels or place >= len(keys):
                return None
            head[place] = levels[key]
        return head


def takes_name(base: Factor, before: Level, after: Level) -> bool:
    """Whether a level has the label now that another one of its factor had."""
    labels = {level.label for level in base.levels if level.key != before.key}
    return after.label != before.label and after.label in labels


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
    new = tuple(new[place] for place in order)
    found = _match_levels(old, new, study_values(base), study_values(head, order))
    removed, added, shared = [], [], []
    for factor, other, counterparts in zip(old, new, found, strict=True):
        taken = {counterpart.key for counterpart in counterparts.values()}
        removed += [(factor, level) for level in factor.levels if level.key not in counterparts]
        added += [(other, level) for level in other.levels if level.key not in taken]
        for key, (to, equal, cells) in counterparts.items():
            before, after = factor.level(key), other.level(to)
            shared.append((other, before, after))
            if key != to:
                names = name_of(key, before.label), name_of(to, after.label)
                declared = key in after.former
                renamed.append(
                    Rename("level", *names, equal, cells, other.label, declared=declared)
                )
    levels = tuple(
        {key: counterpart.key for key, counterpart in counterparts.items()}
        for counterparts in found
    )
    labels = [(inline(a.label), inline(b.label)) for a, b in zip(old, new, strict=True)]
    labels += [
        (before.label, after.label)
        for factor, before, after in shared
        if not takes_name(old[new.index(factor)], before, after)
    ]
    return Match(
        order,
        levels,
        tuple(removed),
        tuple(added),
        tuple(shared),
        tuple(renamed),
        tuple(dict.fromkeys(pair for pair in labels if pair[0] and pair[0] != pair[1])),
    )


def _match_factors(
    old: Sequence[Factor], new: Sequence[Factor]
) -> tuple[tuple[int, ...] | None, list[Rename]]:
    """Factors by their ids; what is left over by its place or by its levels."""
    if len(old) != len(new):
        return None, []
    ids = [factor.id for factor in new]
    order = {place: ids.index(factor.id) for place, factor in enumerate(old) if factor.id in ids}
    renamed = []
    for place, factor in enumerate(old):
        if place in order:
            continue
        left = [index for index in range(len(new)) if index not in order.values()]
        keys = factor.keys
        alike = [index for index in left if keys & new[index].keys]
        same_place = [index for index in left if index == place]
        chosen = [index for index in same_place if index in alike] or alike or same_place
        if not chosen:
            return None, []
        order[place] = chosen[0]
        other = new[chosen[0]]
        shared = len(keys & other.keys)
        names = name_of(factor.id, factor.label), name_of(other.id, other.label)
        renamed.append(Rename("factor", *names, shared, len(keys)))
    return tuple(order[place] for place in range(len(old))), renamed


def _match_levels(
    old: Sequence[Factor],
    new: Sequence[Factor],
    base: Mapping[Coordinate, Any],
    head: Mapping[Coordinate, Any],
) -> list[dict[str, Counterpart]]:
    """By factor, the head's level of each of the base's: by id, by former id, or by values."""
    found: list[dict[str, Counterpart]] = []
    left = []
    for factor, other in zip(old, new, strict=True):
        keys, other_keys = factor.keys, other.keys
        found.append({key: Counterpart(key, 0, 0) for key in keys if key in other_keys})
        removed = [key for key in keys if key not in other_keys]
        left.append((removed, [key for key in other_keys if key not in keys]))
    for index, (removed, added) in enumerate(left):
        if not removed or not added:
            continue
        ids = [{key: key for key in counterparts} for counterparts in found]
        of_head = [{to: key for key, (to, _, _) in levels.items()} for levels in found]
        before = _slices(base, index, removed, ids)
        after = _slices(head, index, added, of_head)
        candidates = []
        declared: dict[str, Counterpart] = {}
        for key in removed:
            for to in added:
                values, other_values = before.get(key, Counter()), after.get(to, Counter())
                both = values & other_values
                equal, cells = both.total(), min(values.total(), other_values.total())
                distinct = len({value for _, value in both})
                if key in new[index].level(to).former:
                    declared.setdefault(key, Counterpart(to, equal, cells))
                labels = old[index].level(key).label, new[index].level(to).label
                enough = HALF if labels[0].casefold() == labels[1].casefold() else NEARLY_ALL
                if equal >= FEWEST and distinct > 1 and equal >= enough * cells:
                    candidates.append((key, Counterpart(to, equal, cells)))
        taken = {counterpart.key for counterpart in declared.values()}
        free = [pair for pair in candidates if pair[0] not in declared and pair[1].key not in taken]
        found[index] |= declared | _best_pairs(free)
    return found


def _best_pairs(candidates: Iterable[tuple[str, Counterpart]]) -> dict[str, Counterpart]:
    """Pairs in which each thing is once: first those with the most values that are the same."""
    pairs: dict[str, Counterpart] = {}
    taken = set()

    def rank(candidate: tuple[str, Counterpart]) -> tuple[Fraction, int]:
        _, counterpart = candidate
        return Fraction(counterpart.equal, counterpart.cells), counterpart.equal

    for key, counterpart in sorted(candidates, key=rank, reverse=True):
        if key not in pairs and counterpart.key not in taken:
            pairs[key] = counterpart
            taken.add(counterpart.key)
    return pairs


def _slices(
    values: Mapping[Coordinate, Any],
    index: int,
    keys: Iterable[str],
    ids: Sequence[Mapping[str, str]],
) -> dict[str, Counter[Any]]:
    """The values at each of some levels, with their other levels as far as both states have them.

    Args:
        index: The factor of the levels.
        ids: Per factor, the base's keys of levels by those of `values`.
    """
    wanted = set(keys)
    slices: dict[str, Counter[Any]] = {}
    for at, value in values.items():
        if at[index] in wanted:
            place = tuple(ids[i].get(key) for i, key in enumerate(at) if i != index)
            slices.setdefault(at[index], Counter())[place, value] += 1
    return slices


def match_by_values(
    old: Mapping[str, Mapping[Any, Any]], new: Mapping[str, Mapping[Any, Any]]
) -> dict[str, Counterpart]:
    """Things of one state only that have the same values as a thing of the other state only."""
    candidates = []
    for key, values in old.items():
        for to, others in new.items():
            both = [at for at in values if at in others and values[at] == others[at]]
            cells = max(len(values), len(others))
            distinct = len({values[at] for at in both})
            if len(both) >= FEWEST and distinct > 1 and len(both) >= NEARLY_ALL * cells:
                candidates.append((key, Counterpart(to, len(both), cells)))
    return _best_pairs(candidates)


def study_values(results: Results, order: Sequence[int] | None = None) -> dict[Coordinate, Any]:
    """All shown values by their coordinates.

    Args:
        order: Places of the factors in the coordinates; as the study has them without.
    """
    values = {}
    for levels, grid in results.grids.items():
        for point, value in zip(grid.keys, grid.columns.value, strict=True):
            if value is not None:
                at = (*levels, *point)
                values[tuple(at[place] for place in order) if order else at] = value
    return values


def reading_values(reading: Reading, match: Match | None = None) -> dict[Any, Any]:
    """A reading's values by their places; on the head's where a match is given."""
    values = {}
    for (levels, point), cell in reading.table.items():
        if cell.value is not None:
            at = match.head(levels, point) if match else (levels, point)
            if at is not None:
                values[at] = cell.value
    return values
