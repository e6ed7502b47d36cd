"""The grid that a `grid(...)` of an expression means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from gridatlas.claims.grids import Numbers
from gridatlas.claims.parts import Absent
from gridatlas.claims.tree import ClaimError, GridCall
from gridatlas.claims.values import Source
from gridatlas.model.lookup import UnknownName, no_such, one_of
from gridatlas.model.problems import nearest, quote
from gridatlas.model.study import Levels, Reading, Study, keyword
from gridatlas.table.choose import values_in
from gridatlas.table.coded import Bools, Coded
from gridatlas.table.decimals import Decimals
from gridatlas.table.grids import Results, find_facet_levels, find_study, no_grid


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """Which cells a reading gives a value for in every grid that an expression names.

    Attributes:
        cells: Of the grids, which are all of one study.
        across: How many there are along x.
    """

    cells: Bools
    across: int

    @property
    def is_block(self) -> bool:
        """Whether they are all the crossings of some levels of x and some of y."""
        cells = self.cells.reshape(-1, self.across)
        return bool(cells.sum() == cells.any(axis=0).sum() * cells.any(axis=1).sum())


@dataclass(frozen=True, slots=True)
class Scope:
    """What `grid()` looks in.

    Attributes:
        studies: All studies by their ids.
        study: Id of the study that is meant where none is named.
        reading: Id of the reading of that study that is meant where none is named; None for the
            shown grids.
        given: The only cells that are judged; None for all, of which none may be absent.
    """

    studies: Mapping[str, Results]
    study: str | None
    reading: str | None
    given: Given | None = None


@dataclass(frozen=True, slots=True)
class Lookup:
    """One `grid(...)`, whose arguments are known as texts."""

    scope: Scope
    expression: str
    node: GridCall
    given: Mapping[str, str]

    def grid(self) -> Numbers:
        """The grid's values, None at points without one.

        Raises:
            ClaimError: For a study, reading, facet, level or grid that isn't there.
        """
        results = self._results()
        study = results.study
        levels = self._levels(study, results.grids)
        reading, named = self._reading(study)
        grids = list(results.grids)
        if reading is not None:
            # Taken unasked, a reading may lack a grid: its cells are absent.
            grids = list(dict.fromkeys(of for of, _ in reading.cells)) + ([] if named else grids)
        if levels not in grids:
            whose = f"the reading {reading.id}" if reading else study.id
            raise self._wrong(no_grid(whose, levels, grids), self.example(study, grids))
        values = self._values(results, levels, reading)
        rows = np.arange(len(values))
        higher = {"higher": True, "lower": False, None: None}[study.metric.better]
        name = self._name(study, levels, reading if named else None)
        sources = (Source(study.id, levels, name, study.x, study.second, values, higher),)
        given = self.scope.given
        if given is None:
            return Numbers(study.x, study.second, rows, values, sources, higher=higher)
        judged = values.pair(
            Coded(given.cells.astype(np.intp), (False, True)),
            lambda value, is_judged: value if is_judged else None,
        )
        absent: Absent = "left out" if given.is_block else "needed in parts"
        return Numbers(study.x, study.second, rows, judged, sources, absent=absent, higher=higher)

    def _values(
        self, results: Results, levels: Levels, reading: Reading | None
    ) -> Coded[Decimal | None]:
        """The shown values of a grid, or those of a reading, row by row."""
        if reading is not None:
            return Decimals.of(values_in(results.study, reading, levels)).kinds()
        grid = results.grids[levels]
        return grid.table.kinds[grid.table.rows(levels)]

    def _wrong(self, error: UnknownName, example: str) -> ClaimError:
        """The error at its argument, or at the whole call where that isn't given."""
        named = {argument.name: argument for argument in self.node.named}
        at = named.get(error.argument, self.node)
        return ClaimError(error.message, self.expression, at.start, at.end, error.expected, example)

    def example(self, study: Study, grids: Iterable[Levels]) -> str:
        """The call of the grid that is most like the one that is asked for."""
        names = {"/".join(of): of for of in grids}
        if not names:
            return ""
        wanted = [self.given.get(keyword(facet.id), "") for facet in study.facets]
        near = nearest("/".join(wanted), names) or next(iter(names))
        pairs = zip(study.facets, names[near], strict=True)
        arguments = [f'{keyword(facet.id)}="{key}"' for facet, key in pairs]
        return f"grid({', '.join(arguments)})"

    def _whole_example(self, results: Results) -> str:
        """The call of a study's grid that is most like the one that is asked for."""
        call = self.example(results.study, results.grids)
        rest = call.removeprefix("grid(").removesuffix(")")
        study = f'study="{results.study.id}"'
        return f"grid({', '.join(filter(None, [study, rest]))})"

    def _results(self) -> Results:
        studies = self.scope.studies
        wanted = self.given.get("study", self.scope.study)
        if wanted is None and len(studies) == 1:
            return next(iter(studies.values()))
        if wanted is None:
            choices = [f'study="{study}"' for study in studies]
            example = f"grid({choices[0]}, ...)" if choices else ""
            missing = UnknownName("grid() needs a study here", one_of(choices), "study")
            raise self._wrong(missing, example)
        try:
            return find_study(studies, wanted)
        except UnknownName as error:
            near = error.near or next(iter(studies), "")
            example = self._whole_example(studies[near]) if near in studies else ""
            raise self._wrong(error, example) from None

    def _reading(self, study: Study) -> tuple[Reading | None, bool]:
        """The reading that is meant, and whether the expression names it."""
        named = "reading" in self.given
        wanted = self.given.get("reading")
        if not named and study.id == self.scope.study:
            wanted = self.scope.reading
        if wanted is None:
            return None, False
        readings = {reading.id: reading for reading in study.readings}
        if wanted not in readings:
            message = f"{study.id} has no reading {quote(wanted)}"
            error = no_such(message, wanted, readings, "reading")
            example = f'grid(reading="{error.near or next(iter(readings), "a")}", ...)'
            raise self._wrong(error, example)
        return readings[wanted], named

    def _levels(self, study: Study, grids: Iterable[Levels]) -> Levels:
        names = {name: key for name, key in self.given.items() if name not in ("study", "reading")}
        try:
            return find_facet_levels(study, names)
        except UnknownName as error:
            raise self._wrong(error, self.example(study, grids)) from None

    def _name(self, study: Study, levels: Levels, reading: Reading | None) -> str:
        name = " | ".join(level.label for level in study.levels_of(levels)) or study.metric.name
        if study.id != self.scope.study:
            name = f"{study.title}: {name}"
        return f"{name}, as in {reading.label}" if reading else name
