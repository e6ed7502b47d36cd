"""Results of airspeed velocity (asv): a file per commit and environment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from gridatlas_import.files import File
from gridatlas_import.json_values import Number, table_of
from gridatlas_import.rows import RawTable, Reported

_OTHERS = re.compile(r"mem_|peakmem_|track_")
ENDINGS = (".json",)


def recognise(file: File) -> bool:
    """Whether a file has the results of a commit."""
    tree = file.tree
    return isinstance(tree, Mapping) and {"commit_hash", "results", "date"} <= tree.keys()


def read_all(files: Sequence[File]) -> RawTable | None:
    """A row per benchmark and commit, its times with their unit; None for other files.

    What isn't a time (`mem_`, `track_`) has another unit, and is reported.
    """
    records, others = [], []
    for file in files:
        for benchmark, record in _records(file.tree) if recognise(file) else ():
            place = f"{file.name}:{benchmark}"
            if _OTHERS.match(benchmark.rpartition(".")[2]):
                others.append(Reported(place, "a result of asv that is no time"))
            else:
                records.append((place, record))
    if not records:
        return None
    table = table_of(records, "results of asv")
    settings = ("commit_hash", "benchmark")
    reported = (*table.reported, *others)
    return replace(table, settings=settings, reported=reported, units={"time": "s"})


def _records(tree: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    environment = tree.get("params")
    machine = environment.get("machine", "") if isinstance(environment, Mapping) else ""
    names, results = tree.get("result_columns"), tree["results"]
    for name, given in results.items() if isinstance(results, Mapping) else ():
        result = (
            dict(zip(names, given, strict=False))
            if isinstance(names, list) and isinstance(given, list)
            else given
        )
        result = result if isinstance(result, Mapping) else {"result": result}
        values, params = result.get("result"), result.get("params") or []
        values = values if isinstance(values, list) else [values]
        settings = [*product(*(p if isinstance(p, list) else [p] for p in params))] or [()]
        for value, levels in zip(values, settings, strict=False):
            benchmark = f"{name}({', '.join(map(str, levels))})" if levels else name
            time = value if isinstance(value, Number) and value != "NaN" else ""
            commit = str(tree["commit_hash"])[:8]
            yield benchmark, {
                "commit_hash": commit, "benchmark": benchmark, "machine": machine, "time": time,
            }  # fmt: skip
