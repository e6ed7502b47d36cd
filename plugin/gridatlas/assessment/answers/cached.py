"""Answers from the cache, where what they are made from is the same.

Imports no numpy: a build in which nothing changed computes nothing.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from gridatlas.assessment.answers.answer import Answer, Evidence
from gridatlas.assessment.uncertainty import DifferenceUncertainty
from gridatlas.checks.findings import StudyChecks
from gridatlas.files.cache import cache_key, open_cache
from gridatlas.model.study import Cell, Factor, Levels, Point, Study
from gridatlas.results.grids import Results
from gridatlas.results.items import as_input

Made = Mapping[str, Answer]


def page_answers(
    results: Results,
    checks: StudyChecks,
    cellwise: Mapping[str, DifferenceUncertainty],
    cache_folder: Path | None,
) -> Made:
    """The answers of a study's pages by their paths; see `answers_of`."""

    def make() -> Made:
        from gridatlas.assessment.answers.study import answers_of

        return answers_of(results, checks.results, cellwise)

    inputs = [
        *_inputs(results),
        [(result.reading, result.kind, result.outcome) for result in checks.results],
        {key: asdict(tests) for key, tests in cellwise.items()},
    ]
    return _cached(inputs, make, cache_folder)


def _cached(inputs: Any, make: Callable[[], Made], cache_folder: Path | None) -> Made:
    cache = open_cache(cache_folder)
    key = cache_key(_computed_by(), json.dumps(inputs, default=str))
    entry = cache.get(key)
    if entry is None:
        content = {page: asdict(answer) for page, answer in make().items()}
        entry = cache.put(key, {"json": json.dumps(content)})
    # Read back even when fresh: a warm and a cold build then give the same.
    return {page: _answer(content) for page, content in json.loads(entry["json"]).items()}


def _answer(content: dict[str, Any]) -> Answer:
    evidence = tuple(
        Evidence(
            **reason
            | {
                "interval": reason["interval"] and tuple(reason["interval"]),
                "assumes": tuple(reason["assumes"]),
            }
        )
        for reason in content["evidence"]
    )
    cells = tuple((tuple(levels), tuple(point)) for levels, point in content["cells"])
    asserts = tuple(content["asserts"])
    return Answer(**content | {"evidence": evidence, "cells": cells, "asserts": asserts})


def _inputs(results: Results) -> list[Any]:
    """All that an answer is made from, but for the checks."""
    study = results.study
    return [
        study.metric.model_dump(mode="json"),
        [_factor(factor) for factor in (study.x, study.y, *study.facets)],
        dict(study.baseline),
        [study.compare, study.replicates, study.cells, study.axes, study.alike],
        None if study.trials is None else study.trials.model_dump(mode="json"),
        [
            (levels, [_cell(study, levels, (x.key, y.key), cell) for x, y, cell in grid.points()])
            for levels, grid in results.grids.items()
        ],
        [
            (
                reading.id,
                reading.label,
                reading.entry.approximate,
                [_cell(study, *at, cell) for at, cell in reading.cells.items()],
            )
            for reading in study.accounts
        ],
    ]


def _factor(factor: Factor) -> list[Any]:
    levels = [(level.key, level.label, level.items, level.aggregate) for level in factor.levels]
    return [factor.id, factor.label, levels]


def _cell(study: Study, levels: Levels, point: Point, cell: Cell) -> list[Any]:
    value, stderr = str(cell.value), str(cell.stderr)
    about = [value, cell.state, cell.reading, cell.n, cell.successes, stderr, cell.repeats]
    return [levels, point, *about, as_input(study, levels, point, cell)]


@functools.cache
def _computed_by() -> str:
    """What answers depend on besides their inputs: our code, and the libraries' versions."""
    here = Path(__file__)
    packages = here.parents[2]
    files = [
        *here.parent.glob("*.py"),
        *(packages / "statistics").glob("*.py"),
        packages / "results" / "items.py",
        here.parents[1] / "counts.py",
    ]
    sources = [file.read_text("utf-8") for file in sorted(files)]
    return "\n".join([f"{name} {version(name)}" for name in ("scipy", "numpy")] + sources)
