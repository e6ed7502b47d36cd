"""From a checked study to its results: the shown grids, their summaries and differences.

All arithmetic is decimal, on the values as printed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, product
from typing import Literal
from weakref import WeakKeyDictionary

from gridatlas.model.lookup import (
    UnknownName,
    find_level,
    no_such,
    one_cell,
    one_of,
)
from gridatlas.model.problems import Problem, join_names, quote
from gridatlas.model.study import (
    MISSING,
    STATE_LABELS,
    Cell,
    Factor,
    Grid,
    Level,
    Levels,
    Point,
    Reading,
    Study,
    keys_by_name,
    keyword,
    renamed,
)

ALL_PAIRS_UP_TO = 4
"""Levels of a facet up to which all pairs are compared; beyond, each is compared with the first."""


@dataclass(frozen=True, slots=True)
class Results:
    """A study with the grids that are shown, by the rule that `reconcile` names."""

    study: Study
    grids: Mapping[Levels, Grid]
    problems: tuple[Problem, ...] = ()

    def grid(self, **facets: object) -> Grid:
        """The grid at these facet levels.

        Args:
            facets: One level per facet: `grid(model="r1-qwen", benchmark="aime24")`. A facet with
                a dash or a dot in its name is written with `_`.

        Raises:
            UnknownName: For a facet or level that isn't there or is missing; the message names the
                nearest, and those that are there.
        """
        given = {keyword(name): level for name, level in facets.items()}
        return self._grid_at(find_facet_levels(self.study, given))

    def at(self, **levels: object) -> Cell:
        """The cell at these levels of the facets, x and y, as it is shown.

        `at(model="r1-qwen", benchmark="aime24", ratio=0.4, local_window=2000).value`

        Raises:
            UnknownName: For a factor or level that isn't there or is missing.
        """
        study = self.study
        factors = keys_by_name((*study.facets, study.x, study.y))
        given = {keyword(name): level for name, level in levels.items()}
        *facets, x, y = one_cell(factors, given, "factor")
        return self._grid_at(tuple(facets)).cell(x, y)

    def _grid_at(self, levels: Levels) -> Grid:
        if levels not in self.grids:
            raise no_grid(self.study.id, levels, self.grids)
        return self.grids[levels]

    def where(self, facet: str, key: str) -> tuple[Grid, ...]:
        """The grids at one level of one facet."""
        index = [facet.id for facet in self.study.facets].index(facet)
        return tuple(grid for levels, grid in self.grids.items() if levels[index] == key)

    def levels(self, facet: str) -> tuple[Level, ...]:
        """The levels of a facet that have at least one grid."""
        return tuple(
            level for level in self.study.facet(facet).levels if self.where(facet, level.key)
        )

    def neighbour(self, grid: Grid, facet: str, key: str) -> Grid | None:
        """The grid that differs from `grid` in the level of one facet only."""
        index = [facet.id for facet in self.study.facets].index(facet)
        return self.grids.get((*grid.levels[:index], key, *grid.levels[index + 1 :]))


def find_facet_levels(study: Study, given: Mapping[str, object]) -> Levels:
    """The level key of each facet, as `grid(facet=level, …)` names them.

    Raises:
        UnknownName: For a facet or level that isn't there, and a facet without a level.
    """
    facets = keys_by_name(study.facets)
    for name in given:
        if name in keys_by_name((study.x, study.y)):
            message = f"{name} is an axis, not a facet: .at(...) picks a cell of a grid"
            raise UnknownName(message, one_of(facets), name)
        if name not in facets:
            raise no_such(f"{study.id} has no facet {name}", name, facets, name)
    for name, keys in facets.items():
        if name not in given:
            choices = [f'{name}="{key}"' for key in keys]
            raise UnknownName(f"grid() needs a level of {name} too", one_of(choices), name)
    return tuple(find_level(name, keys, given[name]) for name, keys in facets.items())


def no_grid(whose: str, levels: Levels, there: Iterable[Levels]) -> UnknownName:
    """The error for facet levels at which a study, or a reading of it, has no grid."""
    expected = one_of(["/".join(other) for other in there])
    return UnknownName(f"{whose} has no grid {'/'.join(levels)}", expected)


def find_study(studies: Mapping[str, Results], wanted: str) -> Results:
    """The study with this id.

    Raises:
        UnknownName: Where there is none; it names the nearest, or the id that it has now.
    """
    if wanted in studies:
        return studies[wanted]
    new = renamed(results.study for results in studies.values()).get(wanted)
    if new:
        message = f"the study {quote(wanted)} was renamed; did you mean {new}?"
        raise UnknownName(message, one_of(studies), "study", new)
    raise no_such(f"there is no study {quote(wanted)}", wanted, studies, "study")


def readings_of(study: Study, grids: Iterable[Grid]) -> tuple[Reading, ...]:
    """The accounts that give at least one cell of these grids, shown or not."""
    wanted = {grid.levels for grid in grids}
    return tuple(
        reading for reading in study.accounts if wanted & {levels for levels, _ in reading.cells}
    )


def readings_behind(study: Study, grids: Iterable[Grid]) -> tuple[Reading, ...]:
    """As `readings_of`, with the accounts that give the parts of aggregates computed here."""
    facets = study.facets
    wanted = {
        levels
        for grid in grids
        for levels in product(
            *(
                [level.key for level in facet.levels if not level.aggregate]
                if grid.computed and facet.level(key).aggregate
                else [key]
                for facet, key in zip(facets, grid.levels, strict=True)
            )
        )
    }
    return tuple(
        reading for reading in study.accounts if wanted & {levels for levels, _ in reading.cells}
    )


def readings_at(grid: Grid, point: Point) -> tuple[tuple[Reading, Cell], ...]:
    """What each account that gives a cell says of it, in the order of the readings."""
    key = (grid.levels, point)
    return tuple(
        (reading, reading.cells[key]) for reading in grid.study.accounts if key in reading.cells
    )


def agree(told: Iterable[tuple[Reading, Cell]]) -> bool | None:
    """Whether the values that readings give of a cell are one number; None below two values.

    Args:
        told: As `readings_at` gives it.
    """
    values = [cell.value for _, cell in told if cell.value is not None]
    return len(set(values)) == 1 if len(values) > 1 else None


def analyse(study: Study, problems: Iterable[Problem] = ()) -> Results:
    """Choose each cell among the readings, and compute the aggregates that no reading prints."""
    every = {levels for reading in study.accounts for levels, _ in reading.cells}
    grids = {
        levels: _chosen_grid(study, levels)
        for levels in product(*([level.key for level in facet.levels] for facet in study.facets))
        if levels in every
    }
    for index, facet in enumerate(study.facets):
        for level in facet.levels:
            if level.aggregate:
                grids |= _aggregates(study, grids, index, level)
    order = {levels: place for place, levels in enumerate(_all_levels(study))}
    ordered = dict(sorted(grids.items(), key=lambda item: order[item[0]]))
    return Results(study, ordered, tuple(problems))


def _all_levels(study: Study) -> Iterator[Levels]:
    return product(*([level.key for level in facet.levels] for facet in study.facets))


# --- which reading is shown ---------------------------------------------------------------------


def _chosen_grid(study: Study, levels: Levels) -> Grid:
    return Grid(
        study,
        levels,
        tuple(
            tuple(choose(study, levels, (x.key, y.key)) for x in study.x.levels)
            for y in study.y.levels
        ),
    )


def choose(study: Study, levels: Levels, point: Point) -> Cell:
    """The cell that is shown, by the study's rule (`primary`, `agreement` or `median`)."""
    given = [
        (reading, reading.cells[levels, point])
        for reading in study.accounts
        if (levels, point) in reading.cells
    ]
    if not given:
        return MISSING
    with_value = [(reading, cell) for reading, cell in given if cell.value is not None]
    if study.reconcile == "primary" or not with_value:
        for _, cell in given:
            if cell.value is not None or cell.state == "disputed":
                return cell
        return given[0][1]
    first = with_value[0][1]
    if study.reconcile == "median":
        middle = _median([cell for _, cell in with_value])
        if middle is not None:
            return middle
    agreed = _agreed(study, with_value)
    if agreed is not None:
        return agreed
    if len(with_value) == 1:
        return first._replace(state="disputed", note=first.note or _why_alone(given))
    return first._replace(state="disputed")


def _why_alone(given: Sequence[tuple[Reading, Cell]]) -> str:
    """Why the value that one reading gives is disputed: no other has the cell, or without one."""
    others = [(reading, cell) for reading, cell in given if cell.value is None]
    if not others:
        return "Disputed only for want of a second reading: one reading gives this value."
    without = join_names(
        (f'"{reading.label}" ({STATE_LABELS[cell.state]})' for reading, cell in others), 3
    )
    return f"Disputed: one reading gives this value; no value in {without}."


def derived(study: Study, one: Reading, other: Reading) -> bool:
    """Whether one of two readings comes from the other, also by way of further ones."""
    return other.id in _origins(study, one) or one.id in _origins(study, other)


def _origins(study: Study, reading: Reading) -> set[str]:
    """Ids of the readings that one was derived from."""
    origin = reading.entry.derived_from
    found: set[str] = set()
    if not origin:
        return found
    from_id = {reading.id: reading.entry.derived_from for reading in study.readings}
    while origin and origin not in found:
        found.add(origin)
        origin = from_id.get(origin)
    return found


def _agreed(study: Study, given: Sequence[tuple[Reading, Cell]]) -> Cell | None:
    """The first cell whose value two readings give that aren't derived from one another."""
    for (one, cell), (other, second) in combinations(given, 2):
        if cell.value == second.value and not derived(study, one, other):
            return cell
    return None


def _median(cells: Sequence[Cell]) -> Cell | None:
    """The middle cell by value; None where an even number has unequal middles."""
    ordered = sorted(cells, key=lambda cell: cell.value or Decimal(0))
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return low if low.value == high.value else None


def _aggregates(
    study: Study, grids: Mapping[Levels, Grid], index: int, level: Level
) -> dict[Levels, Grid]:
    parts = [level.key for level in study.facets[index].levels if not level.aggregate]
    found: dict[Levels, Grid] = {}
    others = {(*levels[:index], level.key, *levels[index + 1 :]) for levels in grids}
    for levels in others:
        of = [grids.get((*levels[:index], part, *levels[index + 1 :])) for part in parts]
        printed = grids.get(levels)
        cells = tuple(
            tuple(
                _aggregate_cell(
                    printed.cells[j][i] if printed else MISSING,
                    [MISSING if grid is None else grid.cells[j][i] for grid in of],
                )
                for i in range(len(study.x.levels))
            )
            for j in range(len(study.y.levels))
        )
        if printed or any(cell.value is not None for row in cells for cell in row):
            found[levels] = Grid(study, levels, cells, computed=printed is None)
    return found


def _aggregate_cell(printed: Cell, parts: Sequence[Cell]) -> Cell:
    """The printed cell, or the mean of its parts: disputed where one of them is."""
    mean = _mean_of_all([cell.value for cell in parts])
    if printed is not MISSING or mean is None:
        return printed
    disputed = sum(cell.state == "disputed" for cell in parts)
    note = f"computed here: the mean of its {len(parts)} {'part' if len(parts) == 1 else 'parts'}"
    return Cell(
        mean,
        "disputed" if disputed else "ok",
        note=f"{note}, {disputed} of them disputed" if disputed else note,
    )


def _mean_of_all(parts: Sequence[Decimal | None]) -> Decimal | None:
    """The mean of parts; None where one is missing, or there is none."""
    values = [value for value in parts if value is not None]
    return _mean(values) if values and len(values) == len(parts) else None


def value_in(study: Study, reading: Reading, levels: Levels, point: Point) -> Decimal | None:
    """What one reading gives for a cell: as printed, else the mean of an aggregate's parts."""
    printed = reading.cells.get((levels, point))
    if printed is not None:
        return printed.value
    for index, facet in enumerate(study.facets):
        if not facet.level(levels[index]).aggregate:
            continue
        parts = [
            value_in(study, reading, (*levels[:index], part.key, *levels[index + 1 :]), point)
            for part in facet.levels
            if not part.aggregate
        ]
        mean = _mean_of_all(parts)
        if mean is not None:
            return mean
    return None


# --- what a grid says ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Extreme:
    """The best or the worst value among some cells, and all cells (x level, y level) with it."""

    value: Decimal
    at: tuple[tuple[Level, Level], ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures of one grid, over its cells that have a value.

    Attributes:
        best: All cells (x level, y level) with the best value, ties included.
        disputed: The points whose value is disputed.
        best_undisputed, worst_undisputed: Among the values that aren't disputed; None where all
            are.
        mean: Arithmetic mean of the cells.
        spread: Largest minus smallest value, in the metric's unit (percentage points for %).
        x_range: Range of the column means (one mean per level of x); None below two levels.
        y_range: Range of the row means (one mean per level of y); None below two levels.
    """

    count: int
    of: int
    best: tuple[tuple[Level, Level], ...]
    best_value: Decimal
    worst: tuple[tuple[Level, Level], ...]
    worst_value: Decimal
    mean: Decimal
    spread: Decimal
    x_range: Decimal | None
    y_range: Decimal | None
    disputed: frozenset[Point]
    best_undisputed: Extreme | None
    worst_undisputed: Extreme | None

    @property
    def best_disputed(self) -> bool:
        """Whether every cell with the best value is disputed."""
        return self.best_undisputed is None or self.best_undisputed.value != self.best_value

    @property
    def worst_disputed(self) -> bool:
        """Whether every cell with the worst value is disputed."""
        return self.worst_undisputed is None or self.worst_undisputed.value != self.worst_value


_SUMMARIES: WeakKeyDictionary[Grid, Summary | None] = WeakKeyDictionary()
"""Every page of a study asks for them, and each takes a look at every cell."""


def summarise(grid: Grid) -> Summary | None:
    """Best, worst, mean and spread; None for a grid without any value."""
    if grid not in _SUMMARIES:
        _SUMMARIES[grid] = _summarised(grid)
    return _SUMMARIES[grid]


def _summarised(grid: Grid) -> Summary | None:
    there = [(x, y, cell) for x, y, cell in grid.points() if cell.value is not None]
    points = [(x, y, cell.value) for x, y, cell in there if cell.value is not None]
    if not points:
        return None
    values = [value for _, _, value in points]
    higher = grid.study.metric.better == "higher"
    disputed = frozenset((x.key, y.key) for x, y, cell in there if cell.state == "disputed")
    undisputed = [(x, y, value) for x, y, value in points if (x.key, y.key) not in disputed]
    best, worst = _extreme(points, higher), _extreme(points, not higher)
    return Summary(
        count=len(points),
        of=len(grid.study.x.levels) * len(grid.study.y.levels),
        best=best.at,
        best_value=best.value,
        worst=worst.at,
        worst_value=worst.value,
        mean=_mean(values),
        spread=abs(best.value - worst.value),
        x_range=_range_of_means((x.key, value) for x, _, value in points),
        y_range=_range_of_means((y.key, value) for _, y, value in points),
        disputed=disputed,
        best_undisputed=_extreme(undisputed, higher) if undisputed else None,
        worst_undisputed=_extreme(undisputed, not higher) if undisputed else None,
    )


def _extreme(points: Sequence[tuple[Level, Level, Decimal]], highest: bool) -> Extreme:
    values = [value for _, _, value in points]
    value = max(values) if highest else min(values)
    return Extreme(value, tuple((x, y) for x, y, one in points if one == value))


def _mean(values: Sequence[Decimal]) -> Decimal:
    return sum(values, Decimal(0)) / len(values)


def _range_of_means(values: Iterable[tuple[str, Decimal]]) -> Decimal | None:
    groups: dict[str, list[Decimal]] = {}
    for key, value in values:
        groups.setdefault(key, []).append(value)
    if len(groups) < 2:
        return None
    means = [_mean(group) for group in groups.values()]
    return max(means) - min(means)


def trials(grid: Grid, cell: Cell) -> int | None:
    """Trials of a cell: its own n, else by the study's `trials`; None without a read value."""
    if cell.value is None or not cell.reading:
        return None
    if (cell.n is None and grid.study.trials is None) or grid.aggregate:
        return None
    if cell.n is not None:
        return cell.n
    once = grid.study.trials_at(grid.levels)
    return None if once is None else once * cell.repeats


def share_scale(study: Study) -> int | None:
    """What a share of 1 is printed as: 100 for percentages, 1 for shares, None for the rest."""
    if study.metric.unit == "%":
        return 100
    return 1 if study.metric.range == (Decimal(0), Decimal(1)) else None


def wins(grids: Iterable[Grid], axis: Literal["x", "y"]) -> dict[Level, int]:
    """In how many grids a best cell lies at each level of an axis; a grid's ties count once each.

    Aggregates are left out: they repeat the grids that they sum up.
    """
    counts: Counter[str] = Counter()
    factor: Factor | None = None
    for grid in grids:
        summary = None if grid.aggregate else summarise(grid)
        if summary is None:
            continue
        factor = grid.study.x if axis == "x" else grid.study.y
        index = 0 if axis == "x" else 1
        counts.update({point[index].key for point in summary.best})
    return {} if factor is None else {level: counts[level.key] for level in factor.levels}


# --- how levels differ --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """`second` minus `first`, cell by cell; None where either has no value.

    Attributes:
        facet: Whose levels differ; None for two accounts of one grid.
        cells: As in `Grid`: one row per level of y, one value per level of x.
    """

    first: Grid
    second: Grid
    facet: Factor | None
    cells: tuple[tuple[Decimal | None, ...], ...]

    @property
    def label(self) -> str:
        """`R1-Qwen − R1-Llama | AIME24`: the level that differs as a difference."""
        return " | ".join(
            b.label if a == b else f"{b.label} − {a.label}"
            for a, b in zip(self.first.names, self.second.names, strict=True)
        )

    @property
    def context(self) -> str:
        """The levels that both grids share: `AIME24`; empty where the compared facet is alone."""
        return " | ".join(
            level.label
            for facet, level in zip(self.first.study.facets, self.first.names, strict=True)
            if facet != self.facet
        )

    @property
    def levels(self) -> tuple[Level, Level]:
        """The two levels compared: (first, second); ValueError for accounts of one grid."""
        if self.facet is None:
            raise ValueError("two accounts of one grid have the same levels")
        index = self.first.study.facets.index(self.facet)
        return self.first.names[index], self.second.names[index]

    @property
    def values(self) -> tuple[Decimal, ...]:
        """The differences that exist, row by row."""
        return tuple(value for row in self.cells for value in row if value is not None)

    @property
    def mean(self) -> Decimal | None:
        """Mean of the differences; None where there is none."""
        return _mean(self.values) if self.values else None

    @property
    def higher(self) -> int:
        """Number of cells in which the second is higher."""
        return sum(value > 0 for value in self.values)

    @property
    def lower(self) -> int:
        """Number of cells in which the second is lower."""
        return sum(value < 0 for value in self.values)

    @property
    def equal(self) -> int:
        """Number of cells in which both are the same."""
        return sum(value == 0 for value in self.values)

    def points(self) -> Iterator[tuple[Level, Level, Decimal | None]]:
        """Every point as (x level, y level, difference), row by row."""
        study = self.first.study
        for y, row in zip(study.y.levels, self.cells, strict=True):
            for x, value in zip(study.x.levels, row, strict=True):
                yield x, y, value


def subtract(second: Grid, first: Grid, facet: Factor | None) -> Difference:
    """The difference of two grids of one study that differ in the level of `facet`, or of one."""
    cells = tuple(
        tuple(
            None if a.value is None or b.value is None else b.value - a.value
            for a, b in zip(first_row, second_row, strict=True)
        )
        for first_row, second_row in zip(first.cells, second.cells, strict=True)
    )
    return Difference(first, second, facet, cells)


def pairs(results: Results, facet: Factor) -> tuple[tuple[str, str], ...]:
    """The level keys (first, second) of a facet that are subtracted from one another.

    Against the baseline where the study names one; else, for a facet in `compare`, in pairs.
    """
    there = [level.key for level in results.levels(facet.id) if not level.aggregate]
    baseline = results.study.baseline.get(facet.id)
    if baseline is not None:
        return tuple((baseline, key) for key in there if key != baseline and baseline in there)
    if facet.id not in results.study.compare:
        return ()
    if len(there) <= ALL_PAIRS_UP_TO:
        return tuple(combinations(there, 2))
    return tuple((there[0], key) for key in there[1:])


def differences(
    results: Results, facet: Factor, grids: Iterable[Grid] | None = None
) -> tuple[Difference, ...]:
    """The differences between the levels of a facet, for each pair and each other facet level.

    Args:
        grids: Keep only the pairs in which one of these is the second or the first grid.
    """
    wanted = None if grids is None else {grid.levels for grid in grids}
    found = []
    for first, second in pairs(results, facet):
        for grid in results.where(facet.id, first):
            other = results.neighbour(grid, facet.id, second)
            if other and (wanted is None or wanted & {grid.levels, other.levels}):
                found.append(subtract(other, grid, facet))
    return tuple(found)
