"""Answers from the cache, where what they are made from is the same.

Imports no numpy: a build in which nothing changed computes nothing.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from gridatlas.assessment.answers.answer import Answer, AskedQuestion, Contrast, Evidence
from gridatlas.assessment.assess import computed_by
from gridatlas.assessment.uncertainty import DifferenceUncertainty
from gridatlas.checks.findings import StudyChecks
from gridatlas.files.cache import cache_key, code_digest, open_cache
from gridatlas.model.study import Cell, Factor, Levels, Point, Study
from gridatlas.table.coded import encode
from gridatlas.table.grids import Results
from gridatlas.table.items import as_input, clusters, too_large

Made = Mapping[str, Answer]


def page_answers(
    results: Results,
    checks: StudyChecks,
    cellwise: Callable[[], Mapping[str, DifferenceUncertainty]],
    cache_folder: Path | None,
    digest: str | None = None,
) -> Made:
    """The answers of a study's pages by their paths; see `answers_of`.

    Args:
        cellwise: Gives the tests of its grids against one another.
        digest: A hash of the files that the study was read from. Where answers are cached for these
            files no cell is looked at, and where they are for the same values none is asked.
    """
    cache = open_cache(cache_folder)
    by_files = digest and cache_key("answers", _read_by(), _computed_by(), results.study.id, digest)
    entry = cache.get(by_files) if by_files else None
    if entry is None:
        # Of grids too large for tests, their answers are found sooner than such a key is made.
        by_values = "" if too_large(results.study) else _key(results, checks)
        entry = cache.get(by_values) if by_values else None
        if entry is None:
            from gridatlas.assessment.answers.study import answers_of

            answers = answers_of(results, checks.results, cellwise())
            content = {page: asdict(answer) for page, answer in answers.items()}
            entry = {"json": json.dumps(content)}
            if by_values:
                cache.put(by_values, entry)
        if by_files:
            cache.put(by_files, entry)
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
    parts = {
        "evidence": evidence,
        "cells": cells,
        "asserts": asserts,
        "asked": tuple(AskedQuestion(**asked) for asked in content["asked"]),
        "contrasts": tuple(
            Contrast(**contrast | {"assumes": tuple(contrast["assumes"])})
            for contrast in content["contrasts"]
        ),
    }
    return Answer(**content | parts)


def _key(results: Results, checks: StudyChecks) -> str:
    return cache_key(_computed_by(), json.dumps(_inputs(results, checks), default=str))


def _inputs(results: Results, checks: StudyChecks) -> list[Any]:
    """All that answers are made from; of the tests of cells, what those are made from."""
    study = results.study
    return [
        study.metric.model_dump(mode="json"),
        [_factor(factor) for factor in (study.x, study.y, *study.facets)],
        dict(study.baseline),
        [study.compare, study.replicates, study.cells, study.axes_are_conditions, study.alike],
        None if study.trials is None else study.trials.model_dump(mode="json"),
        [
            (
                levels,
                _cells(study, ((levels, (x.key, y.key), cell) for x, y, cell in grid.points())),
            )
            for levels, grid in results.grids.items()
        ],
        [
            (
                reading.id,
                reading.label,
                reading.entry.approximate,
                [*reading.cells],
                _cells(study, ((*at, cell) for at, cell in reading.cells.items())),
            )
            for reading in study.accounts
        ],
        [(result.reading, result.kind, result.outcome) for result in checks.results],
    ]


def _factor(factor: Factor) -> list[Any]:
    levels = [(level.key, level.label, level.items, level.aggregate) for level in factor.levels]
    return [factor.id, factor.label, levels]


def _cells(study: Study, cells: Iterable[tuple[Levels, Point, Cell]]) -> list[Any]:
    """What cells are, each different one once, and for each cell which of them it is."""
    codes, distinct = encode(_cell(study, *cell) for cell in cells)
    return [codes.tolist(), distinct]


def _cell(study: Study, levels: Levels, point: Point, cell: Cell) -> tuple[Any, ...]:
    numbers = (str(cell.value), str(cell.stderr), str(cell.ends), cell.n, cell.successes)
    about = (cell.state, cell.reading, cell.repeats, clusters(study, levels, point, cell))
    return (*numbers, *about, as_input(study, levels, point, cell))


@functools.cache
def _computed_by() -> str:
    """What answers depend on besides their inputs: our code, and the libraries' versions."""
    return computed_by() + code_digest("gridatlas/assessment/answers")


@functools.cache
def _read_by() -> str:
    """What their inputs depend on besides the files: the code that reads and checks."""
    libraries = [f"{name} {version(name)}" for name in ("pydantic", "pyyaml")]
    rooms = (f"gridatlas/{room}" for room in ("checks", "data", "model", "table"))
    return "\n".join([*libraries, code_digest(*rooms)])
