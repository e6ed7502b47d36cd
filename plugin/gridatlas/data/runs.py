"""The files of runs beside a study: what each was, how far it is, and its outcomes by item."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from gridatlas.data.tables import Table, read_table
from gridatlas.data.text import found_and_expected, outside, read_text, unprintable
from gridatlas.model.limits import NotRead, check_json, excess
from gridatlas.model.problems import Problem, join_names, quote
from gridatlas.model.schema import LevelKey
from gridatlas.table.coded import numbered

FOLDER = "runs"
OUTCOMES = ".outcomes.json"
PARQUET = ".outcomes.parquet"
FORMAT = 1
COLLECT = "write it again with gridatlas collect"
Count = Annotated[int, Field(ge=0, strict=True)]
Text = Annotated[str, Field(min_length=1)]


class _Part(BaseModel):
    """Of a file that a program wrote; what a later one adds is no mistake."""

    model_config = ConfigDict(frozen=True)


class CellAnswers(_Part):
    """Counts of a complete cell's samples; `prunes` is None where no cache is pruned."""

    n: Annotated[int, Field(ge=1, strict=True)]
    unanswered: Count
    truncated: Count
    tokens: Count
    prunes: Count | None = None


class CellProgress(_Part):
    """How many units of work of a cell are done."""

    levels: dict[str, LevelKey]
    done: Count
    of: Annotated[int, Field(ge=1, strict=True)]
    answers: CellAnswers | None = None


class Manifest(_Part):
    """`runs/<run>.json`: the keys that are read; `tree` of its file has all."""

    format: Literal[1]
    run: Text
    study: Text
    script: Text
    started: Text
    arguments: tuple[str, ...] = ()
    stderr_over: Literal["items", "units"] = "items"
    settings: dict[str, Any] = Field(default_factory=dict)
    commit: str | None = None
    dirty: bool | None = None
    packages: dict[str, str] = Field(default_factory=dict)
    gpu: dict[str, Any] | None = None
    cells: tuple[CellProgress, ...]


def _each(value: Any) -> Any:
    return value if isinstance(value, list) else (value,)


class CellOutcomes(_Part):
    """A complete cell's outcomes; `samples` is one number where all items have as many."""

    cell: dict[str, LevelKey]
    items: Count
    samples: Annotated[tuple[Annotated[int, Field(ge=1, strict=True)], ...], BeforeValidator(_each)]
    correct: tuple[Count, ...]


class OutcomesContent(_Part):
    """`runs/<run>.outcomes.json`."""

    run: Text
    items: tuple[tuple[str, ...], ...]
    cells: tuple[CellOutcomes, ...]


@dataclass(frozen=True, slots=True)
class RunFile:
    """A run's files as read, `name` and `outcomes_name` as they shall stand in messages.

    Attributes:
        tree: All that the manifest has.
    """

    name: str
    outcomes_name: str
    manifest: Manifest
    tree: Mapping[str, Any]
    outcomes: OutcomesContent | None


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The runs of a study whose files can be read, and the ids of all that have files."""

    runs: tuple[RunFile, ...] = ()
    names: frozenset[str] = frozenset()


def read_runs(folder: Path, name: str) -> tuple[RunFiles, list[Problem]]:
    """Read the run files of one study's folder.

    Args:
        folder: The study's folder.
        name: The folder's path as it shall stand in messages.
    """
    here = folder / FOLDER
    files: list[Path] = []
    problems: list[Problem] = []
    found_files = sorted((*here.glob("*.json"), *here.glob(f"*{PARQUET}")))
    many = excess("runs", len(found_files), "files of runs", f"{name}/{FOLDER}")
    if many:
        return RunFiles(names=frozenset(file.stem for file in found_files)), [many]
    for file in found_files:
        run_name = f"{name}/{FOLDER}/{file.name}"
        problem = outside(file, folder.parent, run_name) or _named(file.name, run_name)
        if problem:
            problems.append(problem)
        else:
            files.append(file)
    manifests = [file for file in files if not file.name.endswith((OUTCOMES, PARQUET))]
    runs: list[RunFile] = []
    for file in manifests:
        run_name = f"{name}/{FOLDER}/{file.name}"
        path = here / f"{file.stem}{OUTCOMES}"
        path = path if path in files else here / f"{file.stem}{PARQUET}"
        outcomes_name = f"{name}/{FOLDER}/{path.name}"
        tree, found = _read_json(file, run_name, folder.parent)
        problems += found
        manifest = _typed(Manifest, tree, run_name, problems)
        if manifest is None or tree is None:
            continue
        if manifest.run != file.stem:
            problems.append(_other_name(run_name, manifest.run, file.stem))
            continue
        outcomes = None
        if path in files:
            if path.name.endswith(PARQUET):
                content, found = read_outcomes_table(
                    path, outcomes_name, file.stem, COLLECT, folder.parent
                )
            else:
                content, found = _read_json(path, outcomes_name, folder.parent)
            problems += found
            outcomes = _typed(OutcomesContent, content, outcomes_name, problems)
            if outcomes is not None and outcomes.run != manifest.run:
                problems.append(_other_name(outcomes_name, outcomes.run, manifest.run))
                outcomes = None
        runs.append(RunFile(run_name, outcomes_name, manifest, tree, outcomes))
    problems += [
        Problem(
            "run-without-file",
            f"{name}/{FOLDER}/{file.name}",
            "outcomes of a run",
            f"{FOLDER}/{run}.json next to them, which describes the run",
            f"{COLLECT}, or remove the file",
        )
        for file in files
        if file.name.endswith((OUTCOMES, PARQUET))
        for run in [file.name.removesuffix(OUTCOMES).removesuffix(PARQUET)]
        if not (here / f"{run}.json").exists()
    ]
    return RunFiles(tuple(runs), frozenset(file.stem for file in manifests)), problems


def _named(file: str, name: str) -> Problem | None:
    """What is wrong with the name of a run's file: pages and tables name the run by it."""
    if not unprintable(file):
        return None
    expected = "a name without control characters, in UTF-8"
    return Problem("control-character", name, quote(file), expected, "rename the file")


def _other_name(name: str, run: str, stem: str) -> Problem:
    return Problem(
        "wrong-run",
        name,
        f"the run {quote(run)}",
        f"the run that the file is named after: {quote(stem)}",
        f"rename the file, or {COLLECT}",
        column="run",
    )


def _read_json(path: Path, name: str, within: Path) -> tuple[dict[str, Any] | None, list[Problem]]:
    text, problems = read_text(path, name, within)
    if text is None:
        return None, problems
    fix = f"{COLLECT}: it may be half written"
    try:
        check_json(text)
        tree = json.loads(text)
    except NotRead as refused:
        return None, [refused.problem(name)]
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        what = getattr(error, "msg", "nested too deep")
        found = f"no JSON: {what[:1].lower()}{what[1:].removesuffix(' at')}"
        return None, [Problem("not-json", name, found, "a file in JSON", fix, line)]
    if not isinstance(tree, dict):
        found = f"a {type(tree).__name__}"
        return None, [Problem("not-json", name, found, "keys and values in braces", fix, 1)]
    return tree, []


def manifest_problems(tree: Mapping[str, Any], name: str) -> list[Problem]:
    """Why `read_runs` wouldn't take a manifest as it is."""
    problems: list[Problem] = []
    _typed(Manifest, tree, name, problems)
    return problems


Content = TypeVar("Content", Manifest, OutcomesContent)


def _typed(
    form: type[Content], tree: Mapping[str, Any] | None, name: str, problems: list[Problem]
) -> Content | None:
    if tree is None:
        return None
    version = tree.get("format")
    if form is Manifest and isinstance(version, int) and version > FORMAT:
        expected, fix = f"format {FORMAT}", "update gridatlas"
        problems.append(Problem("newer-format", name, str(version), expected, fix, None, "format"))
        return None
    try:
        return form.model_validate(tree)
    except ValidationError as error:
        problems += [_problem(detail, name) for detail in error.errors()[:20]]
        return None


def _problem(error: Any, name: str) -> Problem:
    column = ".".join(map(str, error["loc"]))
    if error["type"] == "missing":
        key = error["loc"][-1]
        return Problem(
            "missing-key", name, f"no key {quote(key)}", f"a value for {key}", COLLECT, None, column
        )
    found, expected = found_and_expected(error)
    return Problem("wrong-value", name, found, expected, COLLECT, None, column)


def levels_text(levels: Mapping[str, str]) -> str:
    """A cell's levels in a message: `ratio 0.1, local_window 500`."""
    return join_names((f"{factor} {level}" for factor, level in levels.items()), 20)


# --- outcomes of many items as a Parquet table: a row per cell and item --------------------------

COLUMNS = ("item", "samples", "correct")
"""Columns besides those of the factors."""


def read_outcomes_table(
    path: Path, name: str, run: str, fix: str, within: Path
) -> tuple[dict[str, Any] | None, list[Problem]]:
    """The content of a table of outcomes, as its JSON form has it, in the order of its rows.

    Args:
        name: The file's path in messages.
        run: Its run.
        fix: What helps where it can't be read.
        within: The folder that it has to be in.
    """
    table, problems = read_table(path, name, within)
    if table is None:
        return None, problems
    absent = [column for column in COLUMNS if column not in table.columns]
    if absent:
        found = f"the columns {join_names(table.columns)}"
        expected = f"a column {join_names(absent)} beside the factors"
        return None, [*problems, Problem("wrong-outcomes", name, found, expected, fix)]
    return _content(table, run), problems


def _content(table: Table, run: str) -> dict[str, Any]:
    columns = dict(zip(table.columns, (column.as_coded() for column in table.texts), strict=True))
    factors = [column for column in table.columns if column not in COLUMNS]
    numbers = numbered([columns[factor] for factor in factors]).tolist() if factors else ()
    rows: dict[int, list[int]] = {}
    for row, cell in enumerate(numbers):
        rows.setdefault(cell, []).append(row)
    counts = {name: [*map(_count, columns[name].kinds)] for name in ("samples", "correct")}
    lists: dict[tuple[str, ...], int] = {}
    cells = []
    for places in rows.values():
        items = tuple(columns["item"][places])
        cell_counts = {
            name: [*map(of_code.__getitem__, columns[name].codes[places].tolist())]
            for name, of_code in counts.items()
        }
        cells.append(
            {
                "cell": {factor: columns[factor][places[0]] for factor in factors},
                "items": lists.setdefault(items, len(lists)),
                **cell_counts,
            }
        )
    return {"run": run, "items": [[*items] for items in lists], "cells": cells}


def _count(text: str) -> int | str:
    """A count as a number; other texts as they are, to be told where counts are checked."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else text


def as_columns(content: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The columns of a table with the content of the JSON form."""
    columns: dict[str, list[Any]] = {}
    for cell in content["cells"]:
        items = content["items"][cell["items"]]
        samples = cell["samples"]
        for factor, level in cell["cell"].items():
            columns.setdefault(factor, []).extend([level] * len(items))
        columns.setdefault("item", []).extend(items)
        counts = samples if isinstance(samples, list) else [samples] * len(items)
        columns.setdefault("samples", []).extend(counts)
        columns.setdefault("correct", []).extend(cell["correct"])
    return columns
