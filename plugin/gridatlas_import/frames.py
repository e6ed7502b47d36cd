"""The rows of a data frame as a table of texts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from gridatlas.assessment.cells import require_pandas
from gridatlas_import.rows import RawTable, by_columns, unique_names

SEPARATOR = "."


def table_of_frame(frame: Any) -> RawTable:
    """The rows of a data frame as texts, every number with the digits that Python prints.

    Args:
        frame: Of pandas or polars, or anything with `__dataframe__` or `__arrow_c_stream__`. An
            index that has names gives columns.

    Raises:
        ImportError: Without pandas.
    """
    if hasattr(frame, "iter_rows") and hasattr(frame, "columns"):
        return _of_polars(frame)
    require_pandas()
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        if hasattr(frame, "__dataframe__"):
            frame = pd.api.interchange.from_dataframe(frame)
        elif hasattr(frame, "__arrow_c_stream__"):
            import pyarrow as pa  # whoever has a table of Arrow has it

            frame = pa.table(frame).to_pandas()
        else:
            raise TypeError(f"{type(frame).__name__} instead of a data frame")
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    given = [SEPARATOR.join(map(str, _parts(name))) for name in frame.columns]
    names, notes = unique_names(given)
    columns = {
        name: ["" if absent else str(value) for value, absent in _values(frame.iloc[:, at])]
        for at, name in enumerate(names)
    }
    places = [f"row {at}" for at in range(len(frame))]
    return RawTable("in memory", columns, places, notes=tuple(notes))


def _of_polars(frame: Any) -> RawTable:
    """The rows of a frame of polars, which needs neither pandas nor pyarrow."""
    names, notes = unique_names([*map(str, frame.columns)])
    rows = [["" if _is_gap(value) else str(value) for value in row] for row in frame.iter_rows()]
    places = [f"row {at}" for at in range(len(rows))]
    return RawTable("in memory", by_columns(names, rows), places, notes=tuple(notes))


def _is_gap(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _parts(name: Any) -> Sequence[Any]:
    return [part for part in name if str(part)] if isinstance(name, tuple) else [name]


def _values(column: Any) -> Iterator[tuple[Any, bool]]:
    return zip(column, column.isna(), strict=True)
