"""The uncertainty of a study, from the cache where its inputs are the same.

Only what the cache doesn't have is computed, which needs scipy.
"""

from __future__ import annotations

import functools
import json
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from gridatlas.assessment.uncertainty import (
    CellUncertainty,
    Default,
    Defaults,
    DifferenceUncertainty,
    GridUncertainty,
    PooledChiSquared,
    Uncertainty,
)
from gridatlas.files.cache import cache_key, code_digest, open_cache
from gridatlas.table.grids import Results
from gridatlas.table.items import as_input, clusters, too_large, trials


def assess(results: Results, cache_folder: Path | None = None) -> Uncertainty:
    """Everything about a study's uncertainty, from the cache where its inputs are the same."""
    inputs = json.dumps(_inputs(results), sort_keys=True)
    cache = open_cache(cache_folder)
    key = cache_key(computed_by(), inputs)
    entry = cache.get(key)
    if entry is None:
        from gridatlas.assessment.compute import compute

        entry = cache.put(key, {"json": json.dumps(_to_json(compute(results)))})
    # Read back even when fresh: a warm and a cold build then give the same bytes.
    return _from_json(json.loads(entry["json"]))


def same_inputs(first: Results, second: Results) -> bool:
    """Whether the statistics of two studies are the same, since what they are made of is."""
    return bool(_inputs(first) == _inputs(second))


def _inputs(results: Results) -> Any:
    study = results.study
    return [
        study.metric.model_dump(mode="json"),
        [(axis.id, list(axis.keys)) for axis in (study.x, study.y)],
        [
            (facet.id, [(level.key, level.items, level.aggregate) for level in facet.levels])
            for facet in study.facets
        ],
        dict(study.baseline),
        study.compare,
        study.replicates,
        None if study.trials is None else study.trials.model_dump(mode="json"),
        [
            (
                levels,
                [
                    [
                        *(str(cell.value), cell.state, cell.successes, trials(grid, cell)),
                        *(str(cell.stderr), cell.repeats, str(cell.ends)),
                        clusters(study, levels, (x.key, y.key), cell),
                        *as_input(study, levels, (x.key, y.key), cell),
                    ]
                    for x, y, cell in grid.points()
                ]
                if not too_large(study)
                else [],
            )
            for levels, grid in results.grids.items()
        ],
    ]


@functools.cache
def computed_by() -> str:
    """What statistics depend on besides their inputs: our code, and the libraries' versions."""
    names = [f"assessment/{name}.py" for name in ("assess", "compute", "evidence", "uncertainty")]
    names += ["table/items.py", "statistics"]
    digest = code_digest(*(f"gridatlas/{name}" for name in names))
    return "\n".join([*(f"{name} {version(name)}" for name in ("scipy", "numpy")), digest])


def _to_json(uncertainty: Uncertainty) -> dict[str, Any]:
    """The content to store; cells with the same counts have the same interval, written once."""
    grids = {}
    for key, grid in uncertainty.grids.items():
        kinds = {kind: index for index, kind in enumerate(dict.fromkeys(grid.cells.values()))}
        grids[key] = asdict(replace(grid, cells={}, ranges={})) | {
            "cells": [[*point, kinds[cell]] for point, cell in grid.cells.items()],
            "kinds": [asdict(kind) for kind in kinds],
            "ranges": [[*point, *ends] for point, ends in grid.ranges.items()],
        }
    return {
        "grids": grids,
        "differences": {
            key: asdict(replace(tests, significant={}))
            | {"significant": [[*point, higher] for point, higher in tests.significant.items()]}
            for key, tests in uncertainty.differences.items()
        },
        "defaults": {key: asdict(default) for key, default in uncertainty.defaults.items()},
        "pooled": asdict(uncertainty.pooled) if uncertainty.pooled else None,
    }


def _from_json(content: Any) -> Uncertainty:
    grids = {}
    for key, entry in content["grids"].items():
        kinds = [CellUncertainty(**kind) for kind in entry.pop("kinds")]
        entry["cells"] = {(x, y): kinds[kind] for x, y, kind in entry["cells"]}
        entry["ranges"] = {(x, y): (low, high) for x, y, low, high in entry["ranges"]}
        for axis in ("x_means", "y_means", "x_trials", "y_trials"):
            entry[axis] = {level: tuple(ends) for level, ends in entry[axis].items()}
        grids[key] = GridUncertainty(**entry)
    return Uncertainty(
        grids,
        {key: _difference(entry) for key, entry in content["differences"].items()},
        {
            key: Defaults(**entry | {"rows": tuple(Default(**row) for row in entry["rows"])})
            for key, entry in content["defaults"].items()
        },
        PooledChiSquared(**content["pooled"]) if content["pooled"] else None,
    )


def _difference(entry: dict[str, Any]) -> DifferenceUncertainty:
    significant = {(x, y): higher for x, y, higher in entry["significant"]}
    return DifferenceUncertainty(**entry | {"significant": significant})
