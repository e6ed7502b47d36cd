"""From a checked study to its shown grids: each cell is chosen among the readings.

All arithmetic is decimal, on the values as printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import combinations

from gridatlas.model.problems import Problem, join_names
from gridatlas.model.study import (
    MISSING,
    STATE_LABELS,
    Cell,
    Grid,
    Level,
    Levels,
    Point,
    Reading,
    Study,
)
from gridatlas.table.grids import Results
from gridatlas.table.summary import mean


def analyse(study: Study, problems: Iterable[Problem] = ()) -> Results:
    """Choose each cell among the readings, and compute the aggregates that no reading prints."""
    grids = _chosen_grids(study)
    for index, facet in enumerate(study.facets):
        for level in facet.levels:
            if level.aggregate:
                grids |= _aggregates(study, grids, index, level)
    ordered = {levels: grids[levels] for levels in study.in_order(grids)}
    return Results(study, ordered, tuple(problems))


def _chosen_grids(study: Study) -> dict[Levels, Grid]:
    xs, ys = [*study.x.keys], [*study.y.keys]
    if len(study.accounts) == 1 and study.reconcile != "agreement":
        shown = study.accounts[0].cells.by_grid(xs, ys, MISSING)
        return {
            levels: Grid(study, levels, tuple(map(tuple, shown[levels])))
            for levels in study.in_order(shown)
        }
    given = [(reading, reading.cells.by_grid(xs, ys, None)) for reading in study.accounts]
    every = {levels for _, grids in given for levels in grids}
    chosen = {}
    for levels in study.in_order(every):
        readings = [(reading, grids[levels]) for reading, grids in given if levels in grids]
        rows = zip(*(rows for _, rows in readings), strict=True)
        by_point = (zip(*row, strict=True) for row in rows)
        accounts = [reading for reading, _ in readings]
        chosen[levels] = Grid(
            study,
            levels,
            tuple(tuple(_chosen(study, accounts, cells) for cells in row) for row in by_point),
        )
    return chosen


def _chosen(study: Study, readings: Iterable[Reading], cells: Iterable[Cell | None]) -> Cell:
    given = [
        (reading, cell) for reading, cell in zip(readings, cells, strict=True) if cell is not None
    ]
    return _choose(study, given)


def choose(study: Study, levels: Levels, point: Point) -> Cell:
    """The cell that is shown, by the study's rule (`primary`, `agreement` or `median`)."""
    given = [
        (reading, reading.cells[levels, point])
        for reading in study.accounts
        if (levels, point) in reading.cells
    ]
    return _choose(study, given)


def _choose(study: Study, given: Sequence[tuple[Reading, Cell]]) -> Cell:
    """The cell that is shown of those that readings give."""
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


def _agreed(study: Study, given: Sequence[tuple[Reading, Cell]]) -> Cell | None:
    """The first cell whose value two readings give that aren't derived from one another."""
    for (first, cell), (second, same) in combinations(given, 2):
        if cell.value == same.value and not derived(study, first, second):
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
    value = _mean_of_all([cell.value for cell in parts])
    if printed is not MISSING or value is None:
        return printed
    disputed = sum(cell.state == "disputed" for cell in parts)
    note = f"computed here: the mean of its {len(parts)} {'part' if len(parts) == 1 else 'parts'}"
    return Cell(
        value,
        "disputed" if disputed else "ok",
        note=f"{note}, {disputed} of them disputed" if disputed else note,
    )


def _mean_of_all(parts: Sequence[Decimal | None]) -> Decimal | None:
    """The mean of parts; None where one is missing, or there is none."""
    values = [value for value in parts if value is not None]
    return mean(values) if values and len(values) == len(parts) else None


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
        value = _mean_of_all(parts)
        if value is not None:
            return value
    return None
