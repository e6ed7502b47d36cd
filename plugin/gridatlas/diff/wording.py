"""Values, cells, tests and counts of a comparison in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from gridatlas.assessment.uncertainty import Ends
from gridatlas.claims.places import cell_name
from gridatlas.diff.grids import BestChange, CellChange, GridChange
from gridatlas.diff.report import Table, line
from gridatlas.diff.told import Told
from gridatlas.model.format import (
    between,
    cell_text,
    difference_ends,
    format_difference,
    value_with_unit,
)
from gridatlas.model.study import Cell, Grid, Level, Levels, Point, Study, inline
from gridatlas.results.grids import Summary, trials
from gridatlas.statistics.interval import Interval

ROWS = 20
"""Rows of a table; how many more there are stands below it."""
TIES = 4
"""Best cells that are named."""
NAMED = 3
"""Cells that decide a claim, or grids of a level, named in an item."""
EXPRESSION = 250
"""Characters of a claim's expression, or of a text before and after."""


def count(number: int, what: str, more: str = "") -> str:
    """`1 cell`, `2 cells`."""
    return f"{number:,} {what if number == 1 else more or f'{what}s'}"


def cut(names: Iterable[str], limit: int) -> str:
    """`a; b and 3 more`."""
    texts = list(names)
    more = len(texts) - limit
    return "; ".join(texts[:limit]) + (f" and {more} more" if more > 0 else "")


def grid_name(study: Study, levels: Levels) -> str:
    """`R1-Qwen | AIME24`; the metric's name for a study without facets."""
    return " | ".join(level.label for level in study.levels_of(levels)) or study.metric.name


def place_name(study: Study, point: Point) -> str:
    """`ratio 0.4, local window size 2000`."""
    return cell_name((study.x, study.y), point)


def value_text(study: Study, value: Decimal | None) -> str:
    """A value as printed, with its unit."""
    return "no value" if value is None else value_with_unit(str(value), study.metric.unit)


def difference_text(study: Study, old: Decimal, new: Decimal) -> str:
    """`+2.6 points`."""
    difference = new - old
    decimals = max(study.metric.decimals or 0, -int(difference.as_tuple().exponent), 0)
    text = format_difference(difference, min(decimals, 6))
    return value_with_unit(text, study.metric.unit, difference=True)


def p_text(p: float) -> str:
    """`p = 0.03`, `p < 0.001`."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def told_text(told: Told | None) -> str:
    """Whether a change can be told apart from noise, in a few words."""
    if told is None:
        return "–"
    if told.differs is None:
        return f"not testable: {told.reason}"
    p = "" if told.p is None else f", {p_text(told.p)}"
    return ("yes" if told.differs else "no") + p


def size(change: CellChange) -> Decimal:
    """How large the change of a value is."""
    if change.old.value is None or change.new.value is None:
        return Decimal(0)
    return abs(change.new.value - change.old.value)


def order(change: CellChange) -> tuple[int, bool, Decimal]:
    """Sorts cells: values gone, then those told apart, then by size; mere trials last."""
    rank = {"gone": 0, "value": 1, "new": 2, "state": 3, "trials": 4}[change.kind]
    return rank, not (change.told and change.told.differs), -size(change)


def cells_table(change: GridChange, cells: Sequence[CellChange]) -> Table:
    """Changed cells of one grid, before and after."""
    study = change.new.study
    columns = (
        inline(study.x.label), inline(study.y.label), "before", "after", "difference",
        "told apart from noise?",
    )  # fmt: skip
    return Table(columns, tuple(_row(change, cell) for cell in cells[:ROWS]))


def _row(change: GridChange, one: CellChange) -> tuple[str, ...]:
    study = change.new.study
    difference = ""
    if one.kind == "value" and one.old.value is not None and one.new.value is not None:
        difference = difference_text(study, one.old.value, one.new.value)
        if one.told and one.told.interval:
            difference += f" [{difference_ends(Interval(*one.told.interval), study)}]"
    return (
        study.x.level(one.point[0]).label,
        study.y.level(one.point[1]).label,
        _side(change.old, one.old, one.old_interval, one.kind == "trials"),
        _side(change.new, one.new, one.new_interval, one.kind == "trials"),
        difference,
        told_text(one.told),
    )


def _side(grid: Grid, cell: Cell, interval: Ends | None, with_trials: bool) -> str:
    text = cell_text(grid.study, cell)
    if interval:
        text += f" [{between(*interval, grid.study)}]"
    if with_trials:
        n = trials(grid, cell)
        text += f", n = {'unknown' if n is None else n}"
        text += f", standard error {cell.stderr}" if cell.stderr is not None else ""
    return text


def tests_of(cells: Iterable[CellChange]) -> tuple[str, ...]:
    """Each test that was used, once."""
    tests = (cell.told.test for cell in cells if cell.told and cell.told.test)
    return tuple(f"Test: {test}." for test in dict.fromkeys(tests))


def best_text(change: GridChange, best: BestChange) -> tuple[str, tuple[str, ...]]:
    """A line on a grid's best cell, and what is known of the change."""
    study = change.new.study
    name = grid_name(study, change.new.levels)
    if best.old is None or best.new is None:
        given = best.new or best.old
        assert given is not None
        what = "has a best cell now" if best.new else "has no value any more, and so no best cell"
        return f"{name}: {what}: {_at(change.new if best.new else change.old, given)}", ()
    if not best.moved:
        now, before = best.new.best_value, best.old.best_value
        cells = "cell" if len(best.new.best) == 1 else "cells"
        text = (
            f"{name}: the best value is now {value_text(study, now)}, before "
            f"{value_text(study, before)}, at the same {cells}: {_names(change.new, best.new)}"
        )
        return text, _of_value(change, best.new)
    text = (
        f"{name}: the best is now {_at(change.new, best.new)}; before {_at(change.old, best.old)}"
    )
    if best.differs is None:
        told = f"Not testable whether it really moved: {best.reason}."
    elif best.differs:
        told = f"The move can be told apart from noise: no old best cell is in the {best.test}."
    else:
        told = (
            "The move can't be told apart from noise: an old best cell is still in the "
            f"{best.test}."
        )
    return text, (told, *_of_value(change, best.new))


def _of_value(change: GridChange, best: Summary) -> tuple[str, ...]:
    """What the tests say of the best cells whose own value changed."""
    found = []
    points = {(x.key, y.key) for x, y in best.best}
    for cell in change.cells:
        if cell.point in points and cell.told is not None:
            where = place_name(change.new.study, cell.point)
            found.append(f"Its value at {where} told apart from before? {told_text(cell.told)}.")
    return tuple(found[:TIES])


def _at(grid: Grid, summary: Summary) -> str:
    return f"{value_text(grid.study, summary.best_value)} at {_names(grid, summary)}"


def _names(grid: Grid, summary: Summary) -> str:
    return cut((_point(grid, at) for at in summary.best), TIES)


def _point(grid: Grid, at: tuple[Level, Level]) -> str:
    return place_name(grid.study, (at[0].key, at[1].key))


def apart(cells: Iterable[CellChange]) -> str:
    """How many of some changed cells can be told apart from noise, in brackets."""
    told = [cell.told for cell in cells if cell.told]
    if not told:
        return ""
    apart = sum(bool(one.differs) for one in told)
    none = sum(one.differs is None for one in told)
    if none == len(told):
        return " (whether by more than noise can't be tested)"
    return f" ({apart} by more than noise" + (f", {none} not testable)" if none else ")")


def reading_name(study: Study, reading: str) -> str:
    """How a reviewer knows a reading: its label in quotes."""
    if not reading:
        return "shown values"
    label = next((one.label for one in study.readings if one.id == reading), reading)
    return f"reading “{label}”"


def grids_text(grids: list[Grid]) -> str:
    """`2 grids and 40 values`."""
    values = sum(cell.value is not None for grid in grids for _, _, cell in grid.points())
    return f"{count(len(grids), 'grid')} and {count(values, 'value')}"


def now_and_before(what: str, old: str, new: str) -> str:
    """`title: now A; before B`; of long texts the part in which they differ."""
    old, new = line(old, len(old) + 1), line(new, len(new) + 1)
    if min(len(old), len(new)) > EXPRESSION // 2:
        # Of long texts, from a little before the first letter that differs.
        same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
        start = old.rfind(" ", 0, max(0, (same or min(len(old), len(new))) - 40)) + 1
        old, new = (f"{'…' if start else ''}{text[start:]}" for text in (old, new))
    before, after = (line(text, EXPRESSION) or "none" for text in (old, new))
    return f"{what}: now {after}; before {before}"
