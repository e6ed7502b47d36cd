"""Which columns are factors, and which number repeats: sets of columns, scored and compared.

Each set of columns that may be factors gets points for what speaks for it. The set with the most is
proposed; `FactorSet.terms` tells why.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from gridatlas.model.directions import words
from gridatlas.model.problems import join_names
from gridatlas.table.coded import numbered
from gridatlas_import.columns import Column, joint_levels
from gridatlas_import.kinds import KindOfColumn, numbers_units
from gridatlas_import.options import ROWS
from gridatlas_import.vocabulary import CALENDAR, CONFIG_NAMESPACE, ENTITIES, SIZES, TIMES

SPARSE = 0.35
"""Share of filled cells below which columns may be one factor together."""
CROSSED = 0.8
"""Share of filled cells from which on factors are crossed."""
JOINED = " + "
"""Between the names of columns that are one factor together."""
MAX_TRIED = 10
"""Columns of which all sets are tried."""
MOST_FACTORS = 5
_UNIQUE = 0.8
"""Share of rows that have a text of their own, from which on it is only a name of rows."""
_FEW = 6
"""Rows up to which it says nothing that levels differ in each."""
_SET_DECIMALS = 3
"""Decimals up to which numbers may have been set."""
_REGULAR = 0.3
"""Share of cells with several rows from which on the rows are repeats, not mistakes."""
POINTS = {
    "named": 2.0,  # each factor whose name is one of a factor
    "texts": 1.2,  # each other one of texts
    "numbers": 0.8,  # each other one of numbers
    "together": 1.8,  # two columns that are one factor
    "weak": -0.5,  # steps, epochs, dates: where rows can't be told apart without
    "attribute": -1.0,  # each that follows from a finer one, or from the names of rows
    "size": -1.2,  # sizes of models, counts, times that are set
    "origin": -1.0,  # where a row comes from
    "run": -1.0,  # numbers of runs
    "crossed": 3.0,  # all combinations of levels are there
    "empty": 3.0,  # less for each power of ten by which fewer are there
    "collisions": -9.0,  # all rows but one of each cell are one too many
    "unnumbered": -4.0,  # several rows of a cell are its repeats, and nothing numbers them
    "spare": -2.8,  # each factor that nothing is told apart by
    "alone": -3.0,  # there is one factor only
    "drawn": -7.0,  # each other setting that was varied beside numbers that aren't crossed
}
"""What speaks for a set of factors, and against it."""
FURTHER = 0.4
"""Share of its points that each factor beyond the two best ones adds."""


@dataclass(frozen=True)
class Facts:
    """The columns of a table with their kinds.

    Attributes:
        origins: Columns that only say where a row comes from.
        fixed: Columns that are factors because somebody says so, or headings of a wide table.
        used: Columns that are something else already.
        attributes: Columns that follow from finer ones.
        apart: Columns that tell rows of one cell apart, besides repeats: whose account they are.
    """

    columns: Mapping[str, Column]
    kinds: Mapping[str, KindOfColumn]
    origins: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    used: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    apart: tuple[str, ...] = ()

    @cached_property
    def rows(self) -> int:
        """How many rows the table has."""
        return max((len(column.texts) for column in self.columns.values()), default=0)

    @cached_property
    def has_names(self) -> bool:
        """Whether a column of names tells all rows apart, as in a list of models."""
        return self.rows > _FEW and any(
            ENTITIES & {*words(name)}
            and self.kind(name) in ("factor", "plain", "text")
            and not column.is_metric_like
            and column.level_count == self.rows
            for name, column in self.columns.items()
        )

    @cached_property
    def _counted(self) -> dict[frozenset[str], int]:
        return {}

    def kind(self, name: str) -> str:
        """The kind of a column."""
        return self.kinds[name].kind

    def codes(self, names: Iterable[str]) -> np.ndarray:
        """A number per row: rows have the same one where all columns have the same levels."""
        return numbered([self.columns[name].categorical for name in names])

    def distinct(self, names: Iterable[str]) -> int:
        """How many different combinations of levels the columns have."""
        key = frozenset(names)
        if key not in self._counted:
            if len(key) == 1:
                number = len({*self.columns[min(key)].level_of.values()})
            else:
                number = len(np.unique(self.codes(key))) if key else min(self.rows, 1)
            self._counted[key] = number
        return self._counted[key]

    def collisions(self, factors: Iterable[str], repeats: Sequence[str] = ()) -> int:
        """Rows beyond the first of one cell and repeat."""
        if ROWS in repeats:
            return 0
        return self.rows - self.distinct((*factors, *repeats, *self.apart))

    def follows(self, name: str, others: Iterable[str]) -> bool:
        """Whether other columns together determine one."""
        return self.distinct((*others, name)) == self.distinct(others)

    def density(self, names: Sequence[str]) -> float:
        """The share of all combinations of levels that are there."""
        every = math.prod(self.columns[name].level_count for name in names)
        return self.distinct(names) / every if every else 0.0


@dataclass(frozen=True, slots=True)
class FactorSet:
    """Factors and repeats that tell the rows of a table apart.

    Attributes:
        terms: The points, by what they are for.
    """

    factors: tuple[str, ...]
    repeats: tuple[str, ...] = ()
    terms: Mapping[str, float] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """All points together."""
        return round(sum(self.terms.values()), 6)

    def __str__(self) -> str:
        return f"{', '.join(self.factors)}: {points_text(self.terms)}"


def points_text(terms: Mapping[str, float]) -> str:
    """Points and what they are for: `5.0 (named +4.0, crossed +1.0)`."""
    each = ", ".join(f"{name} {points:+.1f}" for name, points in terms.items() if points)
    return f"{sum(terms.values()):.1f} ({each})"


def density(facts: Facts, x: str, y: str, facets: Sequence[str], metric: str) -> tuple[int, int]:
    """Cells that have a value, and cells that there could be in the panels that have any."""
    axes = tuple(filter(None, (y, x)))
    valued = np.array([number is not None for number in facts.columns[metric].numbers], bool)

    def distinct(*names: str) -> int:
        return len(np.unique(facts.codes(names)[valued])) if names else int(valued.any())

    return distinct(*facets, *axes), math.prod(map(distinct, axes)) * distinct(*facets)


def factor_sets(facts: Facts, repeats: tuple[str, ...] = ()) -> tuple[Facts, list[FactorSet]]:
    """All sets of factors, the best first; and the table with the columns that are joined in them.

    Args:
        repeats: The columns that number repeats, where somebody says so.
    """
    facts, able = _with_units(facts, _candidates(facts))
    facts = replace(facts, attributes=_attributes(facts, able))
    facts, able = _with_joined(facts, able)
    free = [name for name in able if name not in facts.fixed]
    fixed = [name for name in facts.fixed if name in facts.columns]
    most = max(MOST_FACTORS - len(fixed), 0)
    sets = [
        _scored(facts, (*fixed, *some), repeats, able)
        for size in range(most + 1)
        for some in combinations(free, size)
        if (fixed or some) and not _overlap(some)
    ]
    return facts, sorted(sets, key=lambda found: (-found.score, len(found.factors)))


def _overlap(names: Sequence[str]) -> bool:
    parts = [part for name in names for part in name.split(JOINED)]
    return len({*parts}) < len(parts)


def _candidates(facts: Facts) -> list[str]:
    """The columns that may be factors: of those that say the same, the one that says it best."""
    able = [name for name in facts.columns if name in facts.fixed or _able(facts, name)]
    able = [name for name in able if name in facts.fixed or not _of_repeats(facts, name)]
    settled = [name for name in able if name in facts.fixed or not _drawn(facts.columns[name])]
    able = settled if len(settled) >= 2 else able
    order = [*facts.columns]
    best: list[str] = []
    for name in sorted(able, key=lambda name: _rank(facts, name)):
        twins = (
            facts.distinct((name, other)) == facts.distinct((name,)) == facts.distinct((other,))
            for other in best
        )
        if name in facts.fixed or facts.rows <= _FEW // 2 or not any(twins):
            best.append(name)
    chosen = sorted(best, key=lambda name: (name not in facts.fixed, -_points_of(facts, name)[1]))
    return sorted(chosen[:MAX_TRIED], key=order.index)


def _with_units(facts: Facts, able: list[str]) -> tuple[Facts, list[str]]:
    """The table with repeats where columns number what was measured, such as animals in groups.

    Each of these lies in one level of other columns, which don't make them up together.
    """
    kinds = dict(facts.kinds)
    for name in able:
        column, kind = facts.columns[name], facts.kinds[name]
        named = name in facts.fixed or (kind.kind == "factor" and kind.strong)
        if named or kind.kind == "weak" or not numbers_units(column) or CALENDAR & {*words(name)}:
            continue
        groups = [
            other
            for other in able
            if facts.columns[other].level_count * 2 <= column.level_count
            and not ENTITIES & {*words(other)}
            and facts.follows(other, (name,))
        ]
        if groups and facts.distinct(groups) < column.level_count <= facts.rows / 2:
            kinds[name] = KindOfColumn("repeat", f"each lies in one level of {join_names(groups)}")
    left = [name for name in able if kinds[name] is facts.kinds[name]]
    return replace(facts, kinds=kinds), left


def _attributes(facts: Facts, able: Sequence[str]) -> frozenset[str]:
    """Columns that follow from one that names more than several of them together."""
    found: set[str] = set()
    for name in able if facts.rows > _FEW // 2 else ():
        below = [other for other in able if other != name and facts.follows(other, (name,))]
        made_of = below and facts.distinct(below) == facts.distinct((name,))
        if ENTITIES & {*words(name)} and facts.distinct((name,)) == facts.rows:
            made_of = made_of and facts.density(below) >= CROSSED
        if below and not made_of:
            found |= {*below} - {*facts.fixed}
    return frozenset(found)


def _able(facts: Facts, name: str) -> bool:
    column, kind = facts.columns[name], facts.kinds[name]
    if name in facts.used or column.level_count < 2 or column.filled < len(column.texts):
        return False
    if kind.kind == "factor" and kind.strong:
        return not (_drawn(column) and column.level_count > facts.rows / 2 > _FEW / 2)
    set_cost = kind.kind == "cost" and {*words(name)} & (SIZES | TIMES)
    if not (set_cost or name in facts.origins or kind.kind in ("factor", "plain", "weak", "count")):
        # Runs that outnumber what else varies are its repeats.
        few = column.level_count**2 <= facts.rows or column.ends[1] != column.level_count
        return kind.kind == "repeat" and few and bool({"run", "block"} & {*words(name)[-1:]})
    few = kind.kind == "plain" and (column.look_set or not column.as_numbers)
    most = (_UNIQUE if few and name not in facts.origins else 0.5) * facts.rows
    return column.level_count <= most or (facts.rows <= _FEW and name not in facts.origins)


def _of_repeats(facts: Facts, name: str) -> bool:
    """Whether numbers with decimals differ by repeat: what each came out with, not a setting."""
    column, kind = facts.columns[name], facts.kinds[name]
    if not column.is_fractional or (kind.strong and column.decimals <= _SET_DECIMALS):
        return False
    repeats = (other for other in facts.columns if facts.kind(other) == "repeat")
    return any(
        facts.distinct((name, of)) == column.level_count == facts.distinct((of,)) for of in repeats
    )


def _drawn(column: Column) -> bool:
    """Whether numbers look drawn at random: most differ, with many digits."""
    return (
        column.as_numbers
        and column.level_count > max(12, len(column.texts) / 3)
        and column.decimals > _SET_DECIMALS
    )


def _rank(facts: Facts, name: str) -> tuple[bool, float, bool, int, int]:
    """Of columns that say the same: the settled, the named, the text, the shorter."""
    column = facts.columns[name]
    size = sum(map(len, column.distinct)) // max(1, column.level_count)
    config = bool(CONFIG_NAMESPACE.fullmatch(name)) + 9 * (name in facts.origins)
    points = config - _points_of(facts, name)[1]
    return name not in facts.fixed, points, column.as_numbers, len(words(name)), size


def _points_of(facts: Facts, name: str) -> tuple[str, float]:
    """What a column is among factors, and the points for it."""
    kind = facts.kinds[name]
    if name in facts.fixed:
        what = "named"
    elif name in facts.attributes:
        what = "attribute"
    elif kind.kind == "factor" and kind.strong:
        what = "together" if JOINED in name else "named"
    elif name in facts.origins:
        what = "origin"
    elif kind.kind in ("cost", "count"):
        what = "size"
    elif kind.kind == "repeat":
        what = "run"
    elif kind.kind == "weak":
        what = "weak"
    elif facts.has_names:
        what = "attribute"
    else:
        what = "numbers" if facts.columns[name].as_numbers else "texts"
    return what, POINTS[what]


def _scored(
    facts: Facts, names: tuple[str, ...], given: tuple[str, ...], able: Sequence[str]
) -> FactorSet:
    """A set of factors with its repeats and points."""
    terms: dict[str, float] = {}
    ranked = sorted((_points_of(facts, name) for name in names), key=lambda pair: -pair[1])
    for at, (what, points) in enumerate(ranked):
        share = FURTHER if at >= 2 and points > 0 else 1
        terms[what] = terms.get(what, 0.0) + share * points
    repeats = given or choose_repeats(facts, names)
    collisions = facts.collisions(names, repeats)
    if collisions and not repeats and _are_repeats(facts, names):
        repeats, collisions = (ROWS,), 0
        terms["unnumbered"] = POINTS["unnumbered"]
    terms["collisions"] = POINTS["collisions"] * collisions / max(facts.rows, 1)
    terms["crossed"] = POINTS["crossed"]
    terms["empty"] = POINTS["empty"] * math.log10(max(facts.density(names), 1e-4))
    terms["alone"] = POINTS["alone"] * (len(names) == 1)
    needed = [*names]
    for name in sorted(names, key=lambda name: _points_of(facts, name)[1]):
        rest = [other for other in needed if other != name]
        if rest and name not in facts.fixed and facts.follows(name, rest):
            needed = rest
    terms["spare"] = POINTS["spare"] * (len(names) - len(needed))
    if facts.density(names) < CROSSED and all(facts.columns[name].as_numbers for name in names):
        drawn = [
            name
            for name in able
            if name not in names
            and facts.columns[name].as_numbers
            and _points_of(facts, name)[0] == "named"
            and not any(facts.follows(name, (other,)) for other in names)
        ]
        terms["drawn"] = POINTS["drawn"] * len(drawn)
    return FactorSet(names, repeats, terms)


def choose_repeats(facts: Facts, factors: Sequence[str]) -> tuple[str, ...]:
    """Columns that number the repeats of cells; none where cells have one row each."""
    collisions = facts.collisions(factors)
    chosen: list[str] = []
    for name in _numbering(facts) if collisions else ():
        if name not in factors:
            fewer = facts.collisions(factors, (*chosen, name))
            if fewer < collisions:
                chosen.append(name)
                collisions = fewer
    return tuple(chosen)


def _numbering(facts: Facts) -> list[str]:
    """Columns that may number repeats, those that number every row last."""
    found = [
        name
        for name in facts.columns
        if facts.kind(name) == "repeat"
        and name not in facts.used
        and facts.columns[name].level_count > 1
        and not facts.columns[name].is_fractional
    ]
    return sorted(
        found,
        key=lambda name: (name in facts.origins, facts.columns[name].level_count == facts.rows),
    )


def _are_repeats(facts: Facts, factors: Sequence[str]) -> bool:
    """Whether several rows of a cell are the rule, so that they are repeats without a number."""
    _, times = np.unique(facts.codes(factors), return_counts=True)
    if len(factors) == 1:
        others = [name for name in facts.columns if facts.kind(name) not in ("index", "empty")]
        return len(others) == 2 and len(times) > 1 and 1 < times.min() == times.max()
    return len(times) > 2 and (times > 1).sum() >= _REGULAR * len(times)


def are_panels(facts: Facts, found: FactorSet, headings: Sequence[str]) -> bool:
    """Whether headings are panels, since two settings are the axes.

    `lr`, `batch`, `gsm8k_acc`, `mmlu_acc` are heatmaps of two settings, one per benchmark.
    """
    if len(headings) != 1 or facts.columns[headings[0]].as_numbers:
        return False
    others = [name for name in found.factors if name not in headings]
    return len(others) >= 2 and any(facts.columns[name].as_numbers for name in others)


# --- columns that are one factor together ---------------------------------------------------------


def join_columns(facts: Facts, names: Sequence[str]) -> tuple[Facts, str]:
    """A column of the levels of several, and its name."""
    columns = [facts.columns[name] for name in names]
    texts = [JOINED.join(levels) for levels in joint_levels(columns)]
    name = JOINED.join(names)
    kinds = {**facts.kinds, name: KindOfColumn("factor", f"{name} together")}
    every = {**facts.columns, name: Column(name, texts, columns[0].mark)}
    return replace(facts, columns=every, kinds=kinds), name


def _with_joined(facts: Facts, able: list[str]) -> tuple[Facts, list[str]]:
    """Two columns also as one, where nearly no combinations of their levels are there."""
    if not 3 <= len(able) <= MAX_TRIED:
        return facts, able
    found = [*able]
    able = [name for name in able if _points_of(facts, name)[1] > 0]
    for pair in combinations(able, 2):
        columns = [facts.columns[name] for name in pair]
        if all(column.as_numbers for column in columns) or {*pair} & {*facts.fixed}:
            continue
        levels = facts.distinct(pair)
        apart = levels > max(column.level_count for column in columns)
        if not (ENTITIES & {*words(" ".join(pair))} and apart and _FEW < levels < facts.rows):
            continue
        if facts.density(pair) < SPARSE:
            facts, name = join_columns(facts, pair)
            found.append(name)
    return facts, found
