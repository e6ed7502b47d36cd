"""A study with its shown grids, and what its readings say of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product

from gridatlas.model.lookup import UnknownName, find_level, no_such, one_cell, one_of
from gridatlas.model.problems import Problem, quote
from gridatlas.model.study import (
    Cell,
    Factor,
    Level,
    Levels,
    Reading,
    Study,
    keys_by_name,
    keyword,
    renamed,
)
from gridatlas.table.study_table import ABSENT, Grid


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
        """The cell at one level of each facet and axis.

        Args:
            levels: A level per facet and axis, by id: `model="r1-qwen", ratio=0.4`.

        Raises:
            UnknownName: A facet, axis or level doesn't exist, or one has no level.
        """
        study = self.study
        factors = keys_by_name((*study.facets, *study.varied))
        given = {keyword(name): level for name, level in levels.items()}
        keys = one_cell(factors, given, "factor")
        facets, (x, *y) = keys[: len(study.facets)], keys[len(study.facets) :]
        return self._grid_at(facets).cell(x, y[0] if y else "")

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

    def parts_of(self, grid: Grid) -> tuple[Factor, list[Levels]]:
        """The facet that an aggregate is over, repeats of the experiment first, and its parts."""
        over = [
            (index, facet)
            for index, (facet, level) in enumerate(zip(self.study.facets, grid.names, strict=True))
            if level.aggregate
        ]
        index, facet = min(over, key=lambda pair: pair[1].id != self.study.replicates)
        return facet, [
            (*grid.levels[:index], level.key, *grid.levels[index + 1 :])
            for level in facet.levels
            if not level.aggregate
        ]

    def without_repeats(self, grids: Iterable[Grid], facet: str) -> tuple[Grid, ...]:
        """Grids for a page of a facet: the mean of the replicates instead of each of them.

        The pages of the replicates have all. So has a page on which they have no mean.
        """
        grids, replicates = tuple(grids), self.study.replicates
        if not replicates or facet == replicates:
            return grids
        index = [facet.id for facet in self.study.facets].index(replicates)
        means = {_but(grid.levels, index) for grid in grids if grid.names[index].aggregate}
        return tuple(
            grid
            for grid in grids
            if grid.names[index].aggregate or _but(grid.levels, index) not in means
        )

    def neighbour(self, grid: Grid, facet: str, key: str) -> Grid | None:
        """The grid that differs from `grid` in the level of one facet only."""
        index = [facet.id for facet in self.study.facets].index(facet)
        return self.grids.get((*grid.levels[:index], key, *grid.levels[index + 1 :]))


def _but(levels: Levels, index: int) -> Levels:
    """The levels of all other facets."""
    return (*levels[:index], *levels[index + 1 :])


def find_facet_levels(study: Study, given: Mapping[str, object]) -> Levels:
    """The level key of each facet, as `grid(facet=level, …)` names them.

    Raises:
        UnknownName: For a facet or level that isn't there, and a facet without a level.
    """
    facets = keys_by_name(study.facets)
    for name in given:
        if name in keys_by_name(study.varied):
            message = f"{name} is an axis, not a facet: .at(...) picks a cell of a grid"
            raise UnknownName(message, one_of(facets), name)
        if name not in facets:
            raise no_such(f"{study.id} has no facet {name}", name, facets, name)
    for name, keys in facets.items():
        if name not in given:
            choices = [f'{name}="{key}"' for key in keys]
            raise UnknownName(f"grid() needs a level of {name} too", one_of(choices), name)
    return tuple(find_level(name, keys, given[name]) for name, keys in facets.items())


def no_grid(whose: str, levels: Levels, grids: Iterable[Levels]) -> UnknownName:
    """The error for facet levels at which a study, or a reading of it, has no grid."""
    expected = one_of(["/".join(other) for other in grids])
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
    return _that_give(study, {grid.levels for grid in grids})


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
    return _that_give(study, wanted)


def _that_give(study: Study, wanted: set[Levels]) -> tuple[Reading, ...]:
    return tuple(of for of in study.accounts if not wanted.isdisjoint(of.table.grids))


def readings_by_cell(
    grid: Grid, readings: Iterable[Reading] | None = None
) -> list[list[tuple[Reading, Cell]]]:
    """Of each cell, row by row, the readings that have it, with what they give there.

    Args:
        readings: The accounts, if none are given.
    """
    found: list[list[tuple[Reading, Cell]]] = [[] for _ in grid.keys]
    for reading in grid.study.accounts if readings is None else readings:
        if grid.levels not in reading.table.index:
            continue
        cells = reading.table.columns[reading.table.rows(grid.levels)]
        for given, state, cell in zip(found, cells.state.tolist(), cells, strict=True):
            if state != ABSENT:
                given.append((reading, cell))
    return found


def agree(given: Iterable[tuple[Reading, Cell]]) -> bool | None:
    """Whether the values that readings give of a cell are one number; None below two values.

    Args:
        given: As `readings_by_cell` gives it.
    """
    values = [cell.value for _, cell in given if cell.value is not None]
    return len(set(values)) == 1 if len(values) > 1 else None
