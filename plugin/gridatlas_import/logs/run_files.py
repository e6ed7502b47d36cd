"""The files of the run that an import of logs is: what it read, and the outcomes of each item."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gridatlas.data.runs import FOLDER, OUTCOMES, PARQUET, as_columns
from gridatlas.model.schema import level_key
from gridatlas.model.study import IMPORTED
from gridatlas_import.cells import Imported
from gridatlas_import.rows import ItemOutcomes, LogFiles, WrongUsage

LARGE = 200_000
"""Outcomes from which on they are a Parquet table: it takes a tenth of the space."""


@dataclass(frozen=True, slots=True)
class WithRun:
    """Cells that name their run, and the run's files by their paths in the study's folder.

    Attributes:
        items: Cells with the outcomes of their items.
    """

    imported: Imported
    texts: Mapping[str, str | bytes]
    items: int = 0


def with_run(imported: Imported, logs: LogFiles | None, study: str) -> WithRun:
    """Cells with the run that gave them; without one where no log tells outcomes of items.

    All logs of one import are one run: only cells of one run are compared item by item.
    """
    if logs is None:
        return WithRun(imported, {})
    levels = _levels(imported)
    times = Counter(map(tuple, levels))
    found = [
        (dict(cell), logs.outcomes[place])
        for cell, place in zip(levels, imported.columns["place"], strict=True)
        if place in logs.outcomes and times[tuple(cell)] == 1
    ]
    if not found:
        return WithRun(imported, {})
    values = imported.columns[imported.metric]
    content = _outcomes(found)
    run = IMPORTED + hashlib.sha256(_compact(content).encode()).hexdigest()[:8]
    measured = [dict(cell) for cell, value in zip(levels, values, strict=True) if value]
    texts: dict[str, str | bytes] = {f"{FOLDER}/{run}.json": _manifest(run, study, logs, measured)}
    if sum(len(given.ids) for _, given in found) >= LARGE:
        texts[f"{FOLDER}/{run}{PARQUET}"] = _parquet(content)
    else:
        texts[f"{FOLDER}/{run}{OUTCOMES}"] = _compact({"run": run, **content}) + "\n"
    columns = {**imported.columns, "run": [run if value else "" for value in values]}
    columns["place"] = [_place(place, logs) for place in columns["place"]]
    return WithRun(replace(imported, columns=columns), texts, len(found))


def _place(place: str, logs: LogFiles) -> str:
    """Where a cell stands, with the file of its samples where that is another one."""
    log, samples = logs.files.get(place, ("", ""))
    return f"{place}, {samples}" if samples and samples != log else place


def _levels(imported: Imported) -> list[list[tuple[str, str]]]:
    """The levels of each row, by factors."""
    names = [factor.id for factor in imported.factors]
    columns = [[*map(level_key, imported.columns[name])] for name in names]
    return [[*zip(names, row, strict=True)] for row in zip(*columns, strict=True)]


def _outcomes(found: Sequence[tuple[dict[str, str], ItemOutcomes]]) -> dict[str, Any]:
    lists: dict[tuple[str, ...], int] = {}
    cells = [
        {
            "cell": cell,
            "items": lists.setdefault(given.ids, len(lists)),
            "samples": given.samples[0] if len(set(given.samples)) == 1 else [*given.samples],
            "correct": [*given.correct],
        }
        for cell, given in found
    ]
    return {"items": [[*ids] for ids in lists], "cells": cells}


def _manifest(run: str, study: str, logs: LogFiles, cells: Sequence[Mapping[str, str]]) -> str:
    done: dict[str, dict[str, Any]] = {}
    for levels in cells:
        done.setdefault(_compact(levels), {"levels": levels, "done": 1, "of": 1})
    tree = {
        "format": 1,
        "run": run,
        "study": study,
        "script": f"logs of {logs.tool}, read by gridatlas import",
        "started": logs.started or "not known",
        "stderr_over": "items",
        "packages": logs.packages,
        "cells": [*done.values()],
    }
    return json.dumps(tree, ensure_ascii=False, sort_keys=True, indent=1) + "\n"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _parquet(content: Mapping[str, Any]) -> bytes:
    """Outcomes as a Parquet table.

    Raises:
        CannotImport: Without the library that writes it.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise WrongUsage(
            f"{LARGE:,} outcomes of items or more, and no library that writes Parquet",
            "the extra parquet",
            'pip install "/path/to/grid-atlas[parquet]"',
        ) from None
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table(as_columns(content)), sink, compression="zstd")
    return bytes(sink.getvalue())
