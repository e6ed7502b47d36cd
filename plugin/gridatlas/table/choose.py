"""From a checked study to its shown grids: each cell is chosen among the readings.

All arithmetic is decimal, on the values as printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import combinations
from typing import Any

import numpy as np

from gridatlas.model.format import fitting_unit
from gridatlas.model.problems import Problem, join_names
from gridatlas.model.study import STATE_LABELS, STATES, Level, Levels, Reading, State, Study
from gridatlas.table.coded import Coded, combine
from gridatlas.table.decimals import Decimals, middle
from gridatlas.table.grids import Results
from gridatlas.table.study_table import (
    ABSENT,
    DISPUTED,
    IN_UNIT,
    MISSING,
    OK,
    Columns,
    Grid,
    StudyTable,
)
from gridatlas.table.summary import mean

Given = tuple[int, Decimal | None, State]
"""What a reading gives for a cell, with its place among the accounts."""


def analyse(
    study: Study, problems: Iterable[Problem] = (), chosen: StudyTable | None = None
) -> Results:
    """Choose each cell among the readings, and compute the aggregates that no reading prints.

    Args:
        chosen: What `choose` gives, where it is known.
    """
    table = _with_aggregates(study, choose(study) if chosen is None else chosen)
    grids = {levels: Grid(study, levels, table) for levels in table.grids}
    return Results(study, grids, tuple(problems))


def in_fitting_unit(results: Results) -> Results:
    """The same results in the unit that `fitting_unit` gives for their values; exact.

    Shares of counted trials stay as they are.
    """
    study, about, again = results.study, results.study.metric, results.study.reproduce
    tables = [grid.columns for grid in results.grids.values()]
    if study.trials or any((columns.n > 0).any() for columns in tables):
        return results
    unit, power = fitting_unit(about.unit, middle(columns.value for columns in tables))
    if not power:
        return results

    def of(number: Decimal) -> Decimal:
        return Decimal(f"{number.scaleb(power):f}")

    def scaled(table: Any) -> Any:
        columns = {name: getattr(table.columns, name).map(of) for name in IN_UNIT}
        return replace(table, columns=replace(table.columns, **columns))

    ends = about.range and tuple(map(of, about.range))
    decimals = min(4, max(0, (about.decimals or 0) - power))
    margin = again and again.margin and of(again.margin)
    shown = replace(
        study,
        metric=about.model_copy(update={"unit": unit, "range": ends, "decimals": decimals}),
        readings=tuple(
            replace(it, table=scaled(it.table), repeats=it.repeats and scaled(it.repeats))
            for it in study.readings
        ),
        alike=study.alike and of(study.alike),
        reproduce=again and again.model_copy(update={"margin": margin}),
    )
    return analyse(shown, results.problems)


def choose(study: Study) -> StudyTable:
    """The cells that are shown, by the study's rule (`primary`, `agreement` or `median`)."""
    accounts = study.accounts
    every = {levels for reading in accounts for levels in reading.table.grids}
    grids = tuple(study.in_order(every))
    size = len(study.x.levels) * len(study.y.levels)
    if not grids:
        return StudyTable(study.x, study.y, (), Columns.empty(0))
    if len(accounts) == 1 and study.reconcile != "agreement":
        return accounts[0].table
    given = [_at_grids(reading.table, grids, size) for reading in accounts]
    which, disputed = _primary(given), None
    if study.reconcile != "primary":
        which, disputed = _by_values(study, given, which)
    cells = len(grids) * size
    columns = Columns.joined(given).at(np.where(which < 0, -1, which * cells + np.arange(cells)))
    if disputed is not None:
        columns = _dispute(columns, disputed)
    return StudyTable(study.x, study.y, grids, columns)


def _at_grids(table: StudyTable, grids: Sequence[Levels], size: int) -> Columns:
    """The cells of a reading at some grids, absent where it hasn't them."""
    if table.grids == grids:
        return table.columns
    starts = np.array([table.index.get(levels, -1) for levels in grids])[:, None] * size
    return table.columns.at(np.where(starts < 0, -1, starts + np.arange(size)).ravel())


def _primary(given: Sequence[Columns]) -> Any:
    """The first account of each cell with a value or a dispute, else the first; −1 without any."""
    which = np.full(len(given[0]), -1)
    for only_with_value in (True, False):
        for place, cells in enumerate(given):
            good = cells.state != ABSENT
            if only_with_value:
                good = good & (cells.value.defined | (cells.state == DISPUTED))
            which = np.where((which < 0) & good, place, which)
    return which


def _by_values(study: Study, given: Sequence[Columns], primary: Any) -> tuple[Any, Coded[Any]]:
    """The account of each cell by what they give, and how it is disputed, of those that are."""
    worded = [
        cells.value.kinds().pair(
            Coded(cells.state - ABSENT, (None, *STATES)), lambda value, state: (value, state)
        )
        for cells in given
    ]
    codes, combinations_given = combine(worded)
    chosen = [
        _choose(study, [(at, *cell) for at, cell in enumerate(cells) if cell[1] is not None])
        for cells in combinations_given
    ]
    which = np.array([place for place, _ in chosen], np.intp)[codes]
    return np.where(which < 0, primary, which), Coded(codes, [why for _, why in chosen])


def _dispute(columns: Columns, why: Coded[str | None]) -> Columns:
    """The cells, disputed where there is a reason, even an empty one; it is the note of some."""
    note = columns.note.pair(why, lambda own, reason: own or reason or "").merged()
    state = np.where(why.are(lambda reason: reason is not None), np.int8(DISPUTED), columns.state)
    return replace(columns, state=state, note=note)


def _choose(study: Study, given: Sequence[Given]) -> tuple[int, str | None]:
    """The account whose cell is shown, and why it is disputed; −1 for the primary one."""
    with_value = [cell for cell in given if cell[1] is not None]
    if not with_value:
        return -1, None
    if study.reconcile == "median":
        middle = _median(with_value)
        if middle is not None:
            return middle, None
    agreed = _agreed(study, with_value)
    if agreed is not None:
        return agreed, None
    return with_value[0][0], _why_alone(study, given) if len(with_value) == 1 else ""


def _why_alone(study: Study, given: Sequence[Given]) -> str:
    """Why the value that one reading gives is disputed: no other has the cell, or without one."""
    others = [(study.accounts[at], state) for at, value, state in given if value is None]
    if not others:
        return "One reading only gives this value."
    without = join_names(
        (f'"{reading.label}" ({STATE_LABELS[state]})' for reading, state in others), 3
    )
    return f"Disputed: one reading gives this value; no value in {without}."


def derived(study: Study, first: Reading, second: Reading) -> bool:
    """Whether one of two readings comes from the other, also by way of further ones."""
    return second.id in _origins(study, first) or first.id in _origins(study, second)


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


def _agreed(study: Study, given: Sequence[Given]) -> int | None:
    """The first account whose value another gives, too, neither derived from the other."""
    for (first, value, _), (second, same, _) in combinations(given, 2):
        if value == same and not derived(study, study.accounts[first], study.accounts[second]):
            return first
    return None


def _median(given: Sequence[Given]) -> int | None:
    """The account with the middle value; None where an even number has unequal middles."""
    ordered = sorted(given, key=lambda cell: cell[1] or Decimal(0))
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return low[0] if low[1] == high[1] else None


# --- aggregates ---------------------------------------------------------------------------------


def _with_aggregates(study: Study, table: StudyTable) -> StudyTable:
    """The cells with the aggregates that no reading prints; no cell is absent."""
    grids = {levels: table.columns[table.rows(levels)] for levels in table.grids}
    computed: set[Levels] = set()
    for index, facet in enumerate(study.facets):
        for level in facet.levels:
            if level.aggregate:
                found = _aggregates(study, grids, index, level)
                computed = (computed - found.keys()) | (found.keys() - grids.keys())
                grids |= found
    if any(facet_level.aggregate for facet in study.facets for facet_level in facet.levels):
        ordered = tuple(study.in_order(grids))
        columns = Columns.joined([grids[levels] for levels in ordered])
    else:
        ordered, columns = table.grids, table.columns
    absent = columns.state == ABSENT
    if absent.any():
        columns = replace(columns, state=np.where(absent, np.int8(MISSING), columns.state))
    return StudyTable(study.x, study.y, ordered, columns, frozenset(computed))


def _aggregates(
    study: Study, grids: Mapping[Levels, Columns], index: int, level: Level
) -> dict[Levels, Columns]:
    parts = [level.key for level in study.facets[index].levels if not level.aggregate]
    found: dict[Levels, Columns] = {}
    for levels in {(*levels[:index], level.key, *levels[index + 1 :]) for levels in grids}:
        of = [grids.get((*levels[:index], part, *levels[index + 1 :])) for part in parts]
        printed = grids.get(levels)
        cells = printed
        if of and None not in of:
            cells = _filled(printed, [part for part in of if part is not None])
        if cells is not None:
            found[levels] = cells
    return found


def _filled(printed: Columns | None, of: Sequence[Columns]) -> Columns | None:
    """The printed cells, and where none is the mean of the parts: disputed where one of them is.

    None where nothing is printed and no mean is known.
    """
    cells = Columns.empty(len(of[0])) if printed is None else printed
    defined = np.logical_and.reduce([part.value.defined for part in of])
    rows = np.flatnonzero(defined & (cells.state == ABSENT))
    if not len(rows):
        return printed
    disputed = np.sum([part.state[rows] == DISPUTED for part in of], axis=0)
    values = zip(*(part.value[rows] for part in of), strict=True)
    note = f"computed here: the mean of its {len(of)} {'part' if len(of) == 1 else 'parts'}"
    notes = Coded.of(
        f"{note}, {number} of them disputed" if number else note for number in disputed.tolist()
    )
    new = replace(
        Columns.empty(len(rows)),
        value=Decimals.of(mean([part for part in parts if part is not None]) for parts in values),
        state=np.where(disputed > 0, np.int8(DISPUTED), np.int8(OK)),
        note=notes,
    )
    at = np.arange(len(cells))
    at[rows] = len(cells) + np.arange(len(rows))
    return Columns.joined([cells, new])[at]


def values_in(study: Study, reading: Reading, levels: Levels) -> list[Decimal | None]:
    """What a reading gives for each cell of a grid: as printed, else the mean of its parts."""
    cells = reading.table
    size = len(study.x.levels) * len(study.y.levels)
    values: list[Decimal | None] = [None] * size
    absent = np.ones(size, np.bool_)
    if levels in cells.index:
        own = cells.columns[cells.rows(levels)]
        values, absent = own.value.exact(), own.state == ABSENT
    for index, facet in enumerate(study.facets):
        if not facet.level(levels[index]).aggregate or not absent.any():
            continue
        parts = [
            values_in(study, reading, (*levels[:index], part.key, *levels[index + 1 :]))
            for part in facet.levels
            if not part.aggregate
        ]
        for row in np.flatnonzero(absent).tolist():
            of = [part[row] for part in parts]
            defined = [value for value in of if value is not None]
            if values[row] is None and defined and len(defined) == len(of):
                values[row] = mean(defined)
    return values
