"""The cells of grids as a table: their columns, and what is known of them beside these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from math import isnan
from typing import TYPE_CHECKING, Any

from gridatlas.assessment.uncertainty import UNTESTED, GridUncertainty, as_pairs
from gridatlas.model.study import STATES, Factor
from gridatlas.table.decimals import Decimals
from gridatlas.table.study_table import Grid, or_none

if TYPE_CHECKING:
    import pandas as pd

_WHOLE = ("n", "successes")
_REAL = ("value", "stderr", "spread", "interval_low", "interval_high")
_TEXT = ("state", "reading", "place", "note", "run")


def columns(grids: Iterable[tuple[Grid, GridUncertainty]]) -> dict[str, list[Any]]:
    """The cells of grids as columns by their names; what isn't known is None.

    A level is a number where all levels of its factor are; else it is the level's id.
    """
    found: dict[str, list[Any]] = {}
    for grid, uncertainty in grids:
        for name, column in _columns(grid, uncertainty).items():
            found.setdefault(name, []).extend(column)
    return found


def _columns(grid: Grid, uncertainty: GridUncertainty) -> dict[str, Iterable[Any]]:
    study, cells = grid.study, grid.columns
    ends = [interval or (None, None) for interval in as_pairs(uncertainty.ends)]
    keys = zip(*((*grid.levels, *point) for point in grid.keys), strict=True)
    factors = zip((*study.facets, *study.varied), keys, strict=False)
    return {
        **{factor.id: map(_keys(factor).__getitem__, of) for factor, of in factors},
        "value": _floats(cells.value),
        "state": [STATES[state] for state in cells.state.tolist()],
        "n": or_none(grid.trials),
        "successes": or_none(cells.successes),
        "stderr": _floats(cells.stderr),
        **({"spread": _floats(cells.spread)} if study.spread else {}),
        "interval_low": [low for low, _ in ends],
        "interval_high": [high for _, high in ends],
        "may_be_best": [
            None if may_be == UNTESTED else bool(may_be)
            for may_be in uncertainty.may_be_best.tolist()
        ],
        "reading": cells.reading,
        "place": cells.place,
        "note": cells.note,
        "run": cells.run,
    }


def _floats(numbers: Decimals) -> list[float | None]:
    return [None if isnan(number) else number for number in numbers.floats.tolist()]


def _keys(factor: Factor) -> Mapping[str, str | int | float]:
    numbers = [level.number for level in factor.levels]
    given = [number for number in numbers if number is not None]
    if len(given) < len(numbers):
        return {level.key: level.key for level in factor.levels}
    whole = all(number == number.to_integral_value() for number in given)
    kind: type[int] | type[float] = int if whole else float
    return {level.key: kind(level.number or 0) for level in factor.levels}


def require_pandas() -> None:
    """Import pandas, which only data frames need.

    Raises:
        ImportError: Without it; the message names the extra.
    """
    try:
        import_module("pandas")
    except ImportError as error:
        raise ImportError(
            'data frames need pandas: pip install "/path/to/grid-atlas[pandas]"'
        ) from error


def to_frame(table: Mapping[str, list[Any]]) -> pd.DataFrame:
    """Columns as a table of pandas: numbers are numbers, what isn't known is NaN or <NA>.

    Raises:
        ImportError: Without pandas, which the extra of this name brings.
    """
    require_pandas()
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
