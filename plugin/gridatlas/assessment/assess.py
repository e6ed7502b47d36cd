"""The uncertainty of a study, from the cache where its inputs are the same.

Only what the cache doesn't have is computed.
"""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from gridatlas.assessment.uncertainty import (
    DifferenceUncertainty,
    GridUncertainty,
    PooledChiSquared,
    Uncertainty,
)
from gridatlas.files.cache import Content, cache_key, code_digest, open_cache
from gridatlas.table.grids import Results
from gridatlas.table.items import as_input, clusters_of, of_runs, too_large
from gridatlas.table.study_table import Grid

_NAMES = [field.name for field in fields(GridUncertainty)]
_ARRAYS, _SCALARS = _NAMES[: _NAMES.index("reason")], _NAMES[_NAMES.index("reason") :]


def assess(results: Results, cache_folder: Path | None = None) -> Uncertainty:
    """Everything about a study's uncertainty, from the cache where its inputs are the same."""
    inputs = json.dumps(_inputs(results), sort_keys=True)
    cache = open_cache(cache_folder)
    key = cache_key(computed_by(), inputs)
    entry = cache.get(key)
    if entry is None:
        from gridatlas.assessment.compute import compute

        entry = cache.put(key, _packed(compute(results)))
    # Read back even when fresh: a warm and a cold build then give the same bytes.
    return _unpacked(entry)


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
            (levels, [] if too_large(study) else _of_grid(grid))
            for levels, grid in results.grids.items()
        ],
    ]


def _of_grid(grid: Grid) -> list[Any]:
    """All of the cells of a grid that its statistics depend on."""
    cells, study = grid.columns, grid.study
    numbers = (cells.state, cells.successes, grid.trials, cells.repeats, clusters_of(grid))
    printed = (cells.value, cells.stderr, cells.low, cells.high)
    return [
        *(of.tolist() for of in numbers),
        *([*map(str, of)] for of in printed),
        [(point, as_input(study, grid.levels, point, cell)) for point, cell in of_runs(grid)],
    ]


@functools.cache
def computed_by() -> str:
    """What statistics depend on besides their inputs: our code, and the libraries' versions."""
    names = [f"assessment/{name}.py" for name in ("assess", "compute", "uncertainty")]
    names += ["table/differences.py", "table/items.py", "statistics"]
    digest = code_digest(*(f"gridatlas/{name}" for name in names))
    return f"numpy {version('numpy')}\n{digest}"


def _packed(uncertainty: Uncertainty) -> dict[str, Content]:
    """The content to store: the arrays of all grids one after another, and the rest as JSON."""
    grids = [*uncertainty.grids.values()]
    arrays = io.BytesIO()
    of: dict[str, Any] = {
        name: np.stack([getattr(grid, name) for grid in grids]) for name in _ARRAYS
    }
    np.savez_compressed(arrays, **of)
    content = {
        "grids": {
            key: {name: getattr(grid, name) for name in _SCALARS}
            for key, grid in uncertainty.grids.items()
        },
        "differences": {
            key: asdict(replace(tests, significant={}))
            | {"significant": [[*point, higher] for point, higher in tests.significant.items()]}
            for key, tests in uncertainty.differences.items()
        },
        "pooled": asdict(uncertainty.pooled) if uncertainty.pooled else None,
    }
    return {"json": json.dumps(content), "arrays": arrays.getvalue()}


def _unpacked(entry: Mapping[str, Content]) -> Uncertainty:
    content, stored = json.loads(entry["json"]), entry["arrays"]
    assert isinstance(stored, bytes)
    with np.load(io.BytesIO(stored)) as file:
        arrays = {name: file[name] for name in _ARRAYS}
    return Uncertainty(
        {
            key: GridUncertainty(**scalars, **{name: of[at] for name, of in arrays.items()})
            for at, (key, scalars) in enumerate(content["grids"].items())
        },
        {key: _difference(entry) for key, entry in content["differences"].items()},
        PooledChiSquared(**content["pooled"]) if content["pooled"] else None,
    )


def _difference(entry: dict[str, Any]) -> DifferenceUncertainty:
    significant = {(x, y): higher for x, y, higher in entry["significant"]}
    return DifferenceUncertainty(**entry | {"significant": significant})
