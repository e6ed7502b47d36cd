"""Cells as tidy rows: one per cell, in named columns, absent ones with their state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from gridatlas.assessment.cells import GridCells
from gridatlas.model.study import Factor, Study

if TYPE_CHECKING:
    import pandas as pd

_WHOLE = ("n", "successes")
_REAL = ("value", "stderr", "interval_low", "interval_high")
_TEXT = ("state", "reading", "place", "note", "run")


def columns(study: Study, grids: Iterable[GridCells]) -> dict[str, list[Any]]:
    """The cells of grids as columns by their names; what isn't known is None.

    A level is a number where all levels of its factor are; else it is the level's id.
    """
    factors = (*study.facets, study.x, study.y)
    keys = [_keys(factor) for factor in factors]
    found: dict[str, list[Any]] = {
        name: []
        for name in (
            *(factor.id for factor in factors),
            *("value", "state", "n", "successes", "stderr"),
            *("interval_low", "interval_high", "may_be_best", "reading", "place", "note", "run"),
        )
    }
    for view in (view for cells in grids for view in cells.values()):
        cell, interval = view.cell, view.interval
        row = [
            *(of[key] for of, key in zip(keys, (*view.levels, *view.point), strict=True)),
            *(None if cell.value is None else float(cell.value), cell.state),
            *(view.n, cell.successes),
            None if cell.stderr is None else float(cell.stderr),
            *((interval.low, interval.high) if interval else (None, None)),
            *(view.in_best_set, cell.reading, cell.place, cell.note, cell.run),
        ]
        for column, entry in zip(found.values(), row, strict=True):
            column.append(entry)
    return found


def _keys(factor: Factor) -> Mapping[str, str | int | float]:
    numbers = [level.number for level in factor.levels]
    there = [number for number in numbers if number is not None]
    if len(there) < len(numbers):
        return {level.key: level.key for level in factor.levels}
    whole = all(number == number.to_integral_value() for number in there)
    kind: type[int] | type[float] = int if whole else float
    return {level.key: kind(level.number or 0) for level in factor.levels}


def to_frame(table: Mapping[str, list[Any]]) -> pd.DataFrame:
    """Columns as a table of pandas: numbers are numbers, what isn't known is NaN or <NA>."""
    import pandas as pd

    series: dict[str, Any] = {}
    for name, entries in table.items():
        if name in _REAL:
            series[name] = pd.Series(entries, dtype="float64")
        elif name in _WHOLE:
            series[name] = pd.Series(entries, dtype="Int64")
        elif name == "may_be_best":
            series[name] = pd.Series(entries, dtype="boolean")
        elif name in _TEXT:
            series[name] = pd.Series(entries, dtype="str")
        else:
            series[name] = pd.Series(entries)
    return pd.DataFrame(series)
