"""Studies that are large in one way each: cells of a grid, rows of repeats, readings.

Plain functions that write files. Without a random number: the same call writes the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

N = 200
"""Trials of a cell."""


def grid(columns: int, rows: int) -> Callable[[Path], None]:
    """One grid, from Parquet."""

    def write(folder: Path) -> None:
        places = [(x, y) for y in range(rows) for x in range(columns)]
        _study(folder, {"readings": [{"id": "cells", "file": "cells.parquet"}]})
        _parquet(
            folder / "cells.parquet",
            {
                "first": [x for x, _ in places],
                "second": [y for _, y in places],
                "value": [_value(x, y) for x, y in places],
                "n": [N] * len(places),
            },
        )

    return write


def repeats(columns: int, rows: int, times: int) -> Callable[[Path], None]:
    """One grid, each of its cells measured many times, from Parquet."""

    def write(folder: Path) -> None:
        places = [(x, y, k) for y in range(rows) for x in range(columns) for k in range(times)]
        readings = [{"id": "cells", "file": "cells.parquet"}]
        _study(folder, {"readings": readings, "repeats": "mean"})
        _parquet(
            folder / "cells.parquet",
            {
                "first": [x for x, _, _ in places],
                "second": [y for _, y, _ in places],
                "value": [_value(x, y, k) for x, y, k in places],
            },
        )

    return write


def readings(columns: int, rows: int, number: int) -> Callable[[Path], None]:
    """One grid, that many sources give in full; one cell in seven differs from source to source."""

    def write(folder: Path) -> None:
        entries = [
            {"id": f"r{at:03d}", "file": f"r{at:03d}.csv", "label": f"Source {at}"}
            for at in range(number)
        ]
        _study(folder, {"readings": entries, "reconcile": "median"})
        for at in range(number):
            lines = [
                f"{x},{y},{_value(x, y, at if (x + columns * y) % 7 == 0 else 0)}\n"
                for y in range(rows)
                for x in range(columns)
            ]
            text = "first,second,value\n" + "".join(lines)
            (folder / f"r{at:03d}.csv").write_text(text, encoding="utf-8")

    return write


def _study(folder: Path, more: Mapping[str, Any]) -> None:
    folder.mkdir(parents=True)
    study = {
        "format": 1,
        "title": "A large study",
        "metric": {
            "name": "Accuracy",
            "better": "higher",
            "unit": "%",
            "range": [0, 100],
            "decimals": 1,
        },
        "x": "first",
        "y": "second",
    }
    (folder / "study.yml").write_text(json.dumps(study | dict(more), indent=1), encoding="utf-8")


def _value(x: int, y: int, time: int = 0) -> float:
    """In %: a count of `N`."""
    return (60 + (x * 7919 ^ y * 104729 ^ time * 1299709) % 101) / 2


def _parquet(file: Path, columns: Mapping[str, list[Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(dict(columns)), file)
