"""The cells of a study, or of one of its readings, as columns by grid, y and x."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridatlas.model.lookup import one_cell
from gridatlas.model.study import (
    STATES,
    Cell,
    Factor,
    Level,
    Levels,
    Point,
    Study,
    keys_by_name,
    keyword,
)
from gridatlas.table.coded import Bools, Coded, Codes, Rows, concatenated, numbered, taken
from gridatlas.table.decimals import Decimals, Int8

Ints = NDArray[np.int64]
At = tuple[Levels, Point]
"""Where a cell is: the level keys of the facets, and those of x and y."""
UNKNOWN = -1
"""Stands for an unknown number of trials or successes."""
ABSENT = -1
"""Stands for the state of a cell that a reading doesn't give."""
OK, MISSING, DISPUTED = (STATES.index(state) for state in ("ok", "missing", "disputed"))


def constant(value: int, rows: int, kind: type[np.generic]) -> NDArray[Any]:
    """The same number in each row; it takes no memory."""
    return np.broadcast_to(kind(value), rows)


def or_none(column: Ints) -> list[int | None]:
    """Numbers of trials or successes; None for `UNKNOWN`."""
    return [None if number == UNKNOWN else number for number in column.tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Cells, an entry each in all columns. The attributes are those of `Cell`.

    Attributes:
        state: Its place in `STATES`, or `ABSENT`.
        n, successes: `UNKNOWN` where they are.
        low, high: The lowest and the highest value of repeats.
        line: 0 without one.
    """

    value: Decimals
    state: Int8
    reading: Coded[str]
    n: Ints
    successes: Ints
    stderr: Decimals
    note: Coded[str]
    place: Coded[str]
    run: Coded[str]
    line: NDArray[np.int32]
    repeats: NDArray[np.int32]
    low: Decimals
    high: Decimals
    spread: Decimals

    @classmethod
    def empty(cls, rows: int, state: int = ABSENT) -> Columns:
        """Cells of which nothing is known; they take no memory."""
        none, text = Decimals.none(rows), Coded.constant("", rows)
        unknown = constant(UNKNOWN, rows, np.int64)
        return cls(
            *(none, constant(state, rows, np.int8), text, unknown, unknown, none, text, text, text),
            *(constant(0, rows, np.int32), constant(1, rows, np.int32), none, none, none),
        )

    def __len__(self) -> int:
        return len(self.state)

    def __getitem__(self, rows: slice | Rows | Bools) -> Columns:
        columns = (getattr(self, name) for name in COLUMNS)
        return Columns(
            *(taken(it, rows) if isinstance(it, np.ndarray) else it[rows] for it in columns)
        )

    def __iter__(self) -> Iterator[Cell]:
        """The cells, each made when it is asked for."""
        ends: Iterable[Any] = repeat(None)
        if self.low.defined.any():
            ends = (
                None if low is None else (low, high)
                for low, high in zip(self.low, self.high, strict=True)
            )
        return map(
            Cell,
            *(self.value, map(STATES.__getitem__, self.state.tolist()), self.reading),
            *(or_none(self.n), or_none(self.successes)),
            *(self.stderr, self.note, self.place, self.run),
            *([line or None for line in self.line.tolist()], self.repeats.tolist(), ends),
            self.spread,
        )

    def cell(self, row: int) -> Cell:
        """One cell."""
        of = slice(row, row + 1)
        [n], [successes] = or_none(self.n[of]), or_none(self.successes[of])
        low, high = self.low.at(row), self.high.at(row)
        return Cell(
            self.value.at(row),
            STATES[self.state[row]],
            self.reading[row],
            n,
            successes,
            self.stderr.at(row),
            self.note[row],
            self.place[row],
            self.run[row],
            int(self.line[row]) or None,
            int(self.repeats[row]),
            None if low is None or high is None else (low, high),
            self.spread.at(row),
        )

    @classmethod
    def of(cls, cells: Iterable[Cell]) -> Columns:
        """The columns of cells."""
        given = [*cells]
        ends = [cell.ends or (None, None) for cell in given]

        def its(name: str, none: Any = None) -> list[Any]:
            return [none if (it := getattr(cell, name)) is None else it for cell in given]

        return cls(
            Decimals.of(its("value")),
            np.array([*map(STATES.index, its("state"))], np.int8),
            Coded.of(its("reading")),
            np.array(its("n", UNKNOWN), np.int64),
            np.array(its("successes", UNKNOWN), np.int64),
            Decimals.of(its("stderr")),
            Coded.of(its("note")),
            Coded.of(its("place")),
            Coded.of(its("run")),
            np.array(its("line", 0), np.int32),
            np.array(its("repeats"), np.int32),
            Decimals.of(low for low, _ in ends),
            Decimals.of(high for _, high in ends),
            Decimals.of(its("spread")),
        )

    def alike(self) -> Codes:
        """For each cell a number: those with one are alike in all but value, line and ends.

        Numbers are alike as they are printed. A cell with a value is like none without.
        """
        defined = Coded(self.value.defined.astype(np.int8), (False, True))
        return numbered(
            [defined, *(_coded(getattr(self, name)) for name in COLUMNS if name not in _OWN)]
        )

    @classmethod
    def joined(cls, parts: Sequence[Columns]) -> Columns:
        """The cells of all parts, one at least."""
        parts = [part for part in parts if len(part)] or parts
        return cls(*(_joined([getattr(part, name) for part in parts]) for name in COLUMNS))

    def at(self, rows: Rows) -> Columns:
        """The cells of some rows; those of the row −1 are absent."""
        if (rows >= 0).all():
            return self[rows]
        return Columns.joined([self, Columns.empty(1)])[np.where(rows < 0, len(self), rows)]


COLUMNS = tuple(column.name for column in fields(Columns))
IN_UNIT = ("value", "stderr", "low", "high", "spread")
"""Those of numbers in the metric's unit."""
_OWN = ("value", "line", "low", "high")


def _coded(column: Any) -> Coded[Any]:
    """A column as codes."""
    if isinstance(column, Coded):
        return column
    if isinstance(column, Decimals):
        return column.kinds()
    kinds, codes = np.unique(column, return_inverse=True)
    return Coded(codes, kinds.tolist())


def _joined(columns: Sequence[Any]) -> Any:
    if isinstance(columns[0], np.ndarray):
        return concatenated(columns)
    return columns[0] if len(columns) == 1 else type(columns[0]).joined(columns)


@dataclass(frozen=True, eq=False)
class StudyTable(Mapping[At, Cell]):
    """Cells by grid, y and x. As a mapping it has those that are there, in the file's order.

    Attributes:
        grids: The facet levels of each grid, in the study's order.
        computed: Those whose values are computed from other grids (aggregates not printed).
    """

    x: Factor
    y: Factor
    grids: tuple[Levels, ...]
    columns: Columns
    computed: frozenset[Levels] = frozenset()

    @classmethod
    def of(
        cls, facets: Sequence[Factor], x: Factor, y: Factor, cells: Mapping[At, Cell]
    ) -> StudyTable:
        """Cells by their places."""
        found = {levels for levels, _ in cells}
        grids = sorted(
            found, key=lambda of: [f.place(key) for f, key in zip(facets, of, strict=True)]
        )
        empty = cls(x, y, tuple(grids), Columns.empty(0))
        at = np.full(len(grids) * empty.size, -1)
        for row, place in enumerate(cells):
            at[empty.place(place)] = row
        return cls(x, y, tuple(grids), Columns.of(cells.values()).at(at))

    @property
    def size(self) -> int:
        """Cells of a grid."""
        return len(self.x.levels) * len(self.y.levels)

    @cached_property
    def index(self) -> Mapping[Levels, int]:
        """The place of each grid."""
        return {levels: place for place, levels in enumerate(self.grids)}

    def rows(self, levels: Levels) -> slice:
        """The rows of a grid, which is there."""
        start = self.index[levels] * self.size
        return slice(start, start + self.size)

    def place(self, at: At) -> int | None:
        """The row of a place; None of one that isn't among the grids."""
        levels, (x, y) = at
        if levels not in self.index or x not in self.x.keys or y not in self.y.keys:
            return None
        place = self.y.place(y) * len(self.x.levels) + self.x.place(x)
        return self.index[levels] * self.size + place

    def row(self, at: At) -> int | None:
        """The row of a cell; None where there is none."""
        row = self.place(at)
        return None if row is None or self.columns.state[row] == ABSENT else row

    def places(self, rows: Rows) -> Iterator[At]:
        """Where the cells of rows are."""
        grids, points = np.divmod(rows, max(1, self.size))
        ys, xs = np.divmod(points, len(self.x.levels))
        x, y = [*self.x.keys], [*self.y.keys]
        points_at = zip(
            map(x.__getitem__, xs.tolist()), map(y.__getitem__, ys.tolist()), strict=True
        )
        return zip(map(self.grids.__getitem__, grids.tolist()), points_at, strict=True)

    def long(self) -> dict[str, NDArray[Any]]:
        """A row per cell, for statistics: places of the levels, and what is known as numbers.

        Returns:
            `grid`, `y`, `x`: Places in `grids` and among the levels of the axes.
            `value`, `stderr`: In the metric's unit; nan where there is none.
            `n`, `k`: Trials and successes; −1 where they are unknown.
            `state`: Place in `STATES`; −1 of a cell that isn't there.
        """
        cells = self.columns
        grids, points = np.divmod(np.arange(len(cells)), max(1, self.size))
        y, x = np.divmod(points, len(self.x.levels))
        of: dict[str, NDArray[Any]] = {
            "value": cells.value.floats,
            "stderr": cells.stderr.floats,
            "state": cells.state,
        }
        return {"grid": grids, "y": y, "x": x, **of, "n": cells.n, "k": cells.successes}

    @cached_property
    def present(self) -> Rows:
        """The rows of the cells that are there, in the order of the file."""
        rows = np.flatnonzero(self.columns.state != ABSENT)
        return rows[np.argsort(self.columns.line[rows], kind="stable")]

    @cached_property
    def alike(self) -> Codes:
        """`Columns.alike` of its cells."""
        return self.columns.alike()

    @cached_property
    def kinds(self) -> Coded[Decimal | None]:
        """The values as codes of the different ones."""
        return self.columns.value.kinds()

    def __getitem__(self, at: At) -> Cell:
        row = self.row(at)
        if row is None:
            raise KeyError(at)
        return self.columns.cell(row)

    def __contains__(self, at: object) -> bool:
        return self.row(at) is not None  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[At]:
        return self.places(self.present)

    def __len__(self) -> int:
        return len(self.present)

    def items(self) -> ItemsView[At, Cell]:
        """Each place with its cell."""
        return _Items(self)

    def values(self) -> ValuesView[Cell]:
        """The cells."""
        return _Values(self)


class _Items(ItemsView[At, Cell]):
    _mapping: StudyTable

    def __iter__(self) -> Iterator[tuple[At, Cell]]:
        return zip(self._mapping, self._mapping.values(), strict=True)


class _Values(ValuesView[Cell]):
    _mapping: StudyTable

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._mapping.columns[self._mapping.present])


@dataclass(frozen=True, slots=True, eq=False)
class Repeats:
    """The rows of a reading whose cells are means of several.

    Attributes:
        at: The row of each one's cell in the reading's table.
        levels: By the column that tells rows of a cell apart, the level of each; none of rows that
            nothing tells apart.
        columns: What each says.
    """

    at: Rows
    levels: Mapping[str, Coded[str]]
    columns: Columns


@dataclass(frozen=True, eq=False)
class Grid:
    """The metric over x × y at one combination of facet levels: a slice of a table.

    A grid equals itself only: what is known of it is kept by it, and a comparison would read every
    cell.
    """

    study: Study = field(repr=False)
    levels: Levels
    table: StudyTable = field(repr=False)

    @classmethod
    def of(
        cls, study: Study, levels: Levels, cells: Iterable[Cell], computed: bool = False
    ) -> Grid:
        """A grid of its own, of cells row by row."""
        of = frozenset([levels] if computed else ())
        return cls(study, levels, StudyTable(study.x, study.y, (levels,), Columns.of(cells), of))

    @cached_property
    def columns(self) -> Columns:
        """Its cells, by y and x."""
        return self.table.columns[self.table.rows(self.levels)]

    @cached_property
    def trials(self) -> Ints:
        """Of each cell: its own n, else by the study's `trials`; `UNKNOWN` without a read value."""
        cells, once = self.columns, self.study.trials_at(self.levels)
        if self.aggregate:
            return constant(UNKNOWN, len(cells), np.int64)
        by_study = UNKNOWN if once is None else once * cells.repeats
        read = cells.value.defined & cells.reading.are(bool)
        return np.where(read, np.where(cells.n == UNKNOWN, by_study, cells.n), UNKNOWN)

    @property
    def places(self) -> list[tuple[Level, Level]]:
        """The levels of x and y of each cell, row by row."""
        return [(x, y) for y in self.study.y.levels for x in self.study.x.levels]

    @cached_property
    def keys(self) -> list[Point]:
        """The level keys of x and y of each cell, row by row."""
        return [(x.key, y.key) for x, y in self.places]

    def points_at(self, wanted: Bools) -> frozenset[Point]:
        """The level keys of x and y of some cells."""
        return frozenset(self.keys[row] for row in np.flatnonzero(wanted).tolist())

    def row(self, point: Point) -> int:
        """The place of a cell in its columns; KeyError where there is no such level."""
        x, y = self.study.x, self.study.y
        return y.place(point[1]) * len(x.levels) + x.place(point[0])

    @property
    def computed(self) -> bool:
        """Whether the values are computed from other grids (an aggregate not printed)."""
        return self.levels in self.table.computed

    @cached_property
    def aggregate(self) -> bool:
        """Whether one of its levels sums up others."""
        return any(level.aggregate for level in self.names)

    @property
    def names(self) -> tuple[Level, ...]:
        """The facet levels of this grid."""
        return self.study.levels_of(self.levels)

    @property
    def label(self) -> str:
        """`R1-Qwen | AIME'24`; the metric's name for a study without facets."""
        return " | ".join(level.label for level in self.names) or self.study.metric.name

    @property
    def address(self) -> str:
        """`<level>/…/<level>` in slugs, as used in addresses; `grid` without facets."""
        return "/".join(level.slug for level in self.names) or "grid"

    @property
    def parts(self) -> tuple[Grid, ...]:
        """The grids that an aggregate is the mean of, where there are all of them."""
        over = [place for place, level in enumerate(self.names) if level.aggregate]
        if not over:
            return ()
        place = over[-1]
        before, after = self.levels[:place], self.levels[place + 1 :]
        of = [
            (*before, level.key, *after)
            for level in self.study.facets[place].levels
            if not level.aggregate
        ]
        defined = all(levels in self.table.index for levels in of)
        return tuple(Grid(self.study, levels, self.table) for levels in of) if defined else ()

    def points(self) -> Iterator[tuple[Level, Level, Cell]]:
        """Every cell as (level of x, level of y, cell), row by row: for scripts of users."""
        return ((x, y, cell) for (x, y), cell in zip(self.places, self.columns, strict=True))

    def at(self, **levels: object) -> Cell:
        """The cell at one level of each axis.

        Args:
            levels: A level per axis, by id: `ratio=0.4`. Write `_` for a dash or dot in the name.

        Raises:
            UnknownName: An axis or level doesn't exist, or an axis has no level.
        """
        axes = keys_by_name(self.study.varied)
        x, *y = one_cell(axes, {keyword(name): key for name, key in levels.items()})
        return self.cell(x, y[0] if y else "")

    def cell(self, x: str, y: str) -> Cell:
        """The cell at the level keys of x and y; KeyError where there is none."""
        return self.table[self.levels, (x, y)]
