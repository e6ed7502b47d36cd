"""Which columns the axes, facets and repeats may be: sets of factors that tell rows apart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from gridatlas.model.directions import words
from gridatlas_import.columns import Column, determines, joint_codes, joint_levels
from gridatlas_import.kinds import KindOfColumn
from gridatlas_import.options import ROWS
from gridatlas_import.vocabulary import CONFIG_NAMESPACE, ENTITIES

TOO_FEW_ROWS = 3
"""Rows up to which it says nothing that one column follows from another."""
SPARSE = 0.35
"""Share of filled cells below which factors are joined, or a person is asked."""
ENOUGH_REPEATED = 0.3
"""Share of cells with several rows from which on the rows are repeats, not mistakes."""
JOINED = " + "
"""Between the names of columns that are one factor together."""
CROSSED = 0.5
"""Share of filled cells from which on a few of many factors are taken for the ones varied."""
NEARLY_NONE = 0.2
"""Share of filled cells below which any other choice that tells rows apart is better."""
CLEARLY = 0.15
"""How much fuller another choice has to be."""
MOST_UNIQUE = 0.8
"""Share of rows that have a text of their own, from which on it is only a name of rows."""
MAX_TRIED = 12
"""Factors of which pairs are tried."""


@dataclass(frozen=True)
class Facts:
    """The columns of a table with their kinds.

    Attributes:
        origins: Columns that only say where a row comes from.
        fixed: Columns that are factors because somebody says so, or headings of a wide table.
        used: Columns that are something else already.
    """

    columns: Mapping[str, Column]
    kinds: Mapping[str, KindOfColumn]
    origins: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    used: frozenset[str] = frozenset()

    @cached_property
    def rows(self) -> int:
        """How many rows the table has."""
        return max((len(column.texts) for column in self.columns.values()), default=0)

    def kind(self, name: str) -> str:
        """The kind of a column."""
        return self.kinds[name].kind

    def distinct(self, names: Iterable[str]) -> int:
        """How many different combinations of levels the columns have."""
        chosen = [self.columns[name] for name in names]
        return len({*joint_codes(chosen)}) if chosen else min(self.rows, 1)

    def collisions(self, factors: Iterable[str], repeats: Sequence[str] = ()) -> int:
        """Rows beyond the first of one cell and repeat."""
        if ROWS in repeats:
            return 0
        return self.rows - self.distinct((*factors, *repeats))


@dataclass(frozen=True, slots=True)
class FactorSet:
    """Factors and repeats that tell the rows of a table apart."""

    factors: tuple[str, ...]
    repeats: tuple[str, ...] = ()


def density(
    facts: Facts, x: str, y: str, facets: Sequence[str], valued: Sequence[bool]
) -> tuple[int, int]:
    """Cells that have a value, and cells that there could be in the panels that have any."""
    axes = tuple(filter(None, (y, x)))
    columns = [facts.columns[name] for name in (*facets, *axes)]
    keys = {key for key, has in zip(joint_levels(columns), valued, strict=True) if has}
    panels = len({key[: len(facets)] for key in keys})
    sizes = (len({key[-at] for key in keys}) for at in range(1, len(axes) + 1))
    return len(keys), math.prod(sizes) * panels


def spread_out(facts: Facts, factors: Sequence[str]) -> float:
    """Share of all combinations of levels that are there."""
    every = math.prod(len(facts.columns[name].distinct) for name in factors)
    return facts.distinct(factors) / every if every else 0.0


# --- factors --------------------------------------------------------------------------------------


def factor_set(facts: Facts) -> tuple[Facts, FactorSet]:
    """The factors of a table, those that it is told apart by first; and its joined columns."""
    able = [name for name in facts.columns if _able(facts, name)]
    strong = [name for name in able if _is_strong(facts, name)]
    strong = _without_drawn(facts, strong)
    plain = [name for name in able if facts.kind(name) == "plain" and name not in strong]
    factors = [*dict.fromkeys((*facts.fixed, *strong, *plain))]
    factors = _without_followers(facts, factors)
    repeats = choose_repeats(facts, factors)
    factors = _needed(facts, factors, repeats)
    factors = _crossed(facts, factors)
    repeats = choose_repeats(facts, factors)
    factors, repeats = _extended(facts, factors, repeats)
    facts, factors = _joined(facts, factors)
    repeats = choose_repeats(facts, factors)
    if not repeats and _is_repeated(facts, factors):
        repeats = (ROWS,)
    return facts, FactorSet(tuple(factors), repeats)


def _able(facts: Facts, name: str) -> bool:
    column = facts.columns[name]
    if name in facts.used or len(column.distinct) < 2 or column.filled < len(column.texts):
        return False
    if name in facts.fixed:
        return True
    if name in facts.origins and not (facts.kind(name) == "factor" and facts.kinds[name].strong):
        return False
    if facts.kind(name) not in ("factor", "plain"):
        return False
    most = facts.rows / 2 if column.as_numbers else MOST_UNIQUE * facts.rows
    unique = len(column.distinct) > most and facts.rows > 2 * TOO_FEW_ROWS
    return not unique or (facts.kinds[name].strong and not _drawn(column))


def _is_strong(facts: Facts, name: str) -> bool:
    return name in facts.fixed or (facts.kind(name) == "factor" and facts.kinds[name].strong)


def _drawn(column: Column) -> bool:
    """Whether numbers look drawn at random: most differ, with many digits."""
    return (
        column.as_numbers
        and len(column.distinct) > max(12, len(column.texts) / 3)
        and column.decimals > 3
    )


def _without_drawn(facts: Facts, names: Sequence[str]) -> list[str]:
    found = [name for name in names if name in facts.fixed or not _drawn(facts.columns[name])]
    return found if len(found) >= 2 else [*names]


def _rank(facts: Facts, name: str) -> tuple[int, int, int]:
    """Of columns that say the same: the settled, the named, the text, the shorter."""
    column = facts.columns[name]
    size = sum(map(len, column.distinct)) // max(1, len(column.distinct))
    order = 0 if name in facts.fixed else 1 if _is_strong(facts, name) else 2
    order += bool(CONFIG_NAMESPACE.fullmatch(name))
    return order + (3 if name in facts.origins else 0), column.as_numbers, size


def _without_followers(facts: Facts, names: Sequence[str]) -> list[str]:
    """Without columns that follow from another; a name made of several goes before its parts."""
    if facts.rows <= TOO_FEW_ROWS:
        return [*names]
    apart: list[str] = []
    for name in sorted(names, key=lambda name: _rank(facts, name)):
        same = [other for other in apart if _equivalent(facts, name, other)]
        if not same or name in facts.fixed:
            apart.append(name)
    apart.sort(key=[*names].index)
    by_size = sorted(apart, key=lambda name: -len(facts.columns[name].distinct))
    dropped: set[str] = set()
    for name in by_size:
        below = [
            other
            for other in apart
            if other != name
            and not {name, other} & dropped
            and determines(facts.columns[name], facts.columns[other])
        ]
        if not below or name in dropped:
            continue
        if _is_made_of(facts, name, below, apart):
            dropped.add(name)
        else:
            dropped.update(other for other in below if other not in facts.fixed)
    return [name for name in apart if name not in dropped]


def _equivalent(facts: Facts, first: str, second: str) -> bool:
    one_way, other_way = facts.columns[first], facts.columns[second]
    return (
        len(one_way.distinct) == len(other_way.distinct)
        and determines(one_way, other_way)
        and determines(other_way, one_way)
    )


def _is_made_of(facts: Facts, name: str, below: Sequence[str], every: Sequence[str]) -> bool:
    """Whether a column only names others together, and they are the better factors."""
    if name in facts.fixed or facts.distinct(below) < len(facts.columns[name].distinct):
        return False
    rest = [other for other in every if other != name and other not in below]
    parts = [other for other in every if other in below]
    return spread_out(facts, parts) >= SPARSE or len(rest) < 1


def _needed(facts: Facts, names: Sequence[str], repeats: Sequence[str]) -> list[str]:
    """Without columns of unknown names that nothing is told apart by."""
    found = [*names]
    weakest = sorted(
        (name for name in names if not _is_strong(facts, name)),
        key=lambda name: (not facts.columns[name].as_numbers, -found.index(name)),
    )
    collisions = facts.collisions(found, repeats)
    for name in weakest:
        rest = [other for other in found if other != name]
        if len(rest) >= 2 and facts.collisions(rest, repeats) == collisions:
            found = rest
    return found


def _crossed(facts: Facts, names: Sequence[str]) -> list[str]:
    """Of factors of which few combinations are there, those that are crossed and tell rows apart.

    Settings that follow from two others, or that were tuned in each cell, were not varied.
    """
    if not 3 <= len(names) <= MAX_TRIED or spread_out(facts, names) >= SPARSE:
        return [*names]
    fewest = facts.collisions(names, choose_repeats(facts, names))
    best, most = [*names], CROSSED if spread_out(facts, names) >= NEARLY_NONE else NEARLY_NONE
    for size in (2, 3):
        for some in combinations(names, size):
            if not {*facts.fixed} <= {*some}:
                continue
            share = spread_out(facts, some)
            if all(facts.columns[name].as_numbers for name in some):
                continue  # settings that were drawn at random, not follow from something
            if share >= most and facts.collisions(some, choose_repeats(facts, some)) == fewest:
                best, most = [*some], share + CLEARLY
    return best


def _extended(
    facts: Facts, names: Sequence[str], repeats: tuple[str, ...]
) -> tuple[list[str], tuple[str, ...]]:
    """With columns that are factors only where rows can't be told apart without them."""
    found = [*names]
    for name in (
        *_of_kind(facts, "weak"),
        *_sizes(facts),
        *_of_kind(facts, "count"),
        *facts.origins,
    ):
        column = facts.columns[name]
        if name in facts.used or name in found or len(column.distinct) < 2:
            continue
        if column.filled < len(column.texts) or len(column.distinct) > max(2, facts.rows / 2):
            continue
        before = facts.collisions(found, repeats)
        after = facts.collisions((*found, name), repeats)
        follows = any(determines(facts.columns[other], column) for other in found)
        if (before and after <= before / 2) or (len(found) < 2 and not follows and before):
            found.append(name)
            repeats = choose_repeats(facts, found)
    if len(found) == 1:
        for name in _of_kind(facts, "repeat"):
            varied = len(facts.columns[name].distinct) > 1
            if varied and "run" in words(name) and not facts.collisions((*found, name)):
                return [*found, name], ()
    return found, repeats


def fitting_set(facts: Facts, axes: tuple[str, ...], repeats: tuple[str, ...]) -> FactorSet:
    """The axes that are asked for, with the facets without which rows can't be told apart."""
    found = [*axes]
    numbered = repeats or choose_repeats(facts, found)
    able = [name for name in facts.columns if name not in axes and _able(facts, name)]
    able = [*_without_drawn(facts, [name for name in able if _is_strong(facts, name)]),
            *(name for name in able if not _is_strong(facts, name)),
            *(name for name in (*_of_kind(facts, "weak"), *facts.origins)
              if name not in facts.used and len(facts.columns[name].distinct) > 1)]  # fmt: skip
    able = [name for name in dict.fromkeys(able) if name not in (*axes, *numbered)]
    while collisions := facts.collisions(found, numbered):
        fewer = {name: facts.collisions((*found, name), numbered) for name in able}
        best = min(able, key=lambda name: (fewer[name], able.index(name)), default=None)
        if best is None or fewer[best] > 0.6 * collisions:
            break
        found.append(best)
        able.remove(best)
    numbered = repeats or choose_repeats(facts, found)
    facets = sorted(found[len(axes) :], key=[*facts.columns].index)
    return FactorSet((*axes, *facets), numbered)


def are_panels(facts: Facts, found: FactorSet, headings: Sequence[str]) -> bool:
    """Whether headings are panels, since two settings are the axes.

    `lr`, `batch`, `gsm8k_acc`, `mmlu_acc` are heatmaps of two settings, one per benchmark.
    """
    if len(headings) != 1 or facts.columns[headings[0]].as_numbers:
        return False
    others = [name for name in found.factors if name not in headings]
    return len(others) >= 2 and any(facts.columns[name].as_numbers for name in others)


def _sizes(facts: Facts) -> Iterator[str]:
    """Sizes of models: a property, but what a law of scaling is drawn over."""
    return (
        name
        for name in _of_kind(facts, "cost")
        if {"params", "parameters", "param", "size"} & set(words(name))
    )


def _of_kind(facts: Facts, kind: str) -> Iterator[str]:
    return (name for name in facts.columns if facts.kind(name) == kind)


def choose_repeats(facts: Facts, factors: Sequence[str]) -> tuple[str, ...]:
    """Columns that number the repeats of cells; none where cells have one row each."""
    collisions = facts.collisions(factors)
    numbered = [
        name
        for name in _of_kind(facts, "repeat")
        if name not in facts.used
        and name not in factors
        and len(facts.columns[name].distinct) > 1
        and not facts.columns[name].is_fractional
    ]
    numbered.sort(
        key=lambda name: (name in facts.origins, len(facts.columns[name].distinct) == facts.rows)
    )
    chosen: list[str] = []
    for name in numbered:
        fewer = facts.collisions(factors, (*chosen, name))
        if fewer < collisions:
            chosen.append(name)
            collisions = fewer
    return tuple(chosen)


def _is_repeated(facts: Facts, factors: Sequence[str]) -> bool:
    """Whether rows of one cell are the rule, so that they are repeats without a number."""
    if len(factors) < 2:
        return False
    times = Counter(joint_codes([facts.columns[name] for name in factors]))
    several = sum(number > 1 for number in times.values())
    return len(times) > 2 and several >= ENOUGH_REPEATED * len(times)


# --- columns that are one factor together ---------------------------------------------------------


def join_columns(facts: Facts, names: Sequence[str]) -> tuple[Facts, str]:
    """A column of the levels of several, and its name."""
    columns = [facts.columns[name] for name in names]
    texts = [JOINED.join(levels) for levels in joint_levels(columns)]
    name = JOINED.join(names)
    kinds = {**facts.kinds, name: KindOfColumn("factor", f"{JOINED.join(names)} together")}
    every = {**facts.columns, name: Column(name, texts, columns[0].mark)}
    return replace(facts, columns=every, kinds=kinds), name


def _joined(facts: Facts, names: Sequence[str]) -> tuple[Facts, list[str]]:
    """Two columns as one, where nearly no combinations of their levels are there."""
    found = [*names]
    if not 3 <= len(found) <= MAX_TRIED:
        return facts, found
    for first, second in sorted(combinations(found, 2), key=lambda pair: not _names_entity(*pair)):
        columns = facts.columns[first], facts.columns[second]
        if all(column.as_numbers for column in columns) or {first, second} & {*facts.fixed}:
            continue
        if not _names_entity(first, second) or len(found) < 3:
            continue
        levels = facts.distinct((first, second))
        most = math.prod(len(column.distinct) for column in columns)
        if levels > 6 and levels < SPARSE * most and levels < facts.rows:
            pair = sorted((first, second), key=[*facts.columns].index)
            facts, name = join_columns(facts, pair)
            rest = [other for other in found if other not in pair]
            return facts, [*rest, name]
    return facts, found


def _names_entity(*names: str) -> bool:
    return any(ENTITIES & set(words(name)) for name in names)
