"""Hold the files of runs against the study that they are beside."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gridatlas.data.columns import factor_ids
from gridatlas.data.reader import StudySource
from gridatlas.data.runs import COLLECT, FOLDER, CellOutcomes, CellProgress, RunFile, levels_text
from gridatlas.model.problems import Problem, join_names, nearest, quote, visible
from gridatlas.model.schema import level_key
from gridatlas.model.study import (
    Answers,
    Cell,
    Factor,
    Levels,
    Outcomes,
    Point,
    Progress,
    Reading,
    Run,
)

At = tuple[Levels, Point]

SHOWN_KEYS = ["model", "data", "seeds", "settings", "deviations", "python", "platform", "resumed"]
"""Keys of a manifest that the page tells as they are, in this order."""


def match_runs(
    source: StudySource, factors: Mapping[str, Factor], readings: Sequence[Reading]
) -> tuple[dict[str, Run], list[Problem]]:
    """The runs by their ids, with all that doesn't fit the study or its readings.

    A run of another study, or with cells at levels that this one doesn't have, is left out.
    """
    runs: dict[str, Run] = {}
    problems: list[Problem] = []
    for file in source.runs.runs:
        found = list(_misfits(file, source, factors))
        problems += found
        if any(problem.severity == "problem" for problem in found):
            continue
        cells = {
            _at(cell.levels, source): Progress(cell.done, cell.of, _answers(cell))
            for cell in file.manifest.cells
            if all(key in factors[factor].keys for factor, key in cell.levels.items())
        }
        outcomes, found = _outcomes(file, source, cells)
        problems += found
        runs[file.manifest.run] = _run(file, cells, outcomes)
    for reading in readings:
        problems += _named(source, reading, runs)
    return runs, problems


def _at(levels: Mapping[str, str], source: StudySource) -> At:
    file = source.file
    return tuple(levels[facet] for facet in file.facets), (
        levels[file.x],
        levels[file.y] if file.y else "",
    )


def _answers(cell: CellProgress) -> Answers | None:
    found = cell.answers
    if found is None:
        return None
    return Answers(found.n, found.unanswered, found.truncated, found.tokens, found.prunes)


def _run(file: RunFile, cells: Mapping[At, Progress], outcomes: Mapping[At, Outcomes]) -> Run:
    manifest = file.manifest
    limit = manifest.settings.get("limit")
    return Run(
        id=manifest.run,
        script=visible(manifest.script),
        started=visible(manifest.started),
        stderr_over=manifest.stderr_over,
        arguments=tuple(map(visible, manifest.arguments)),
        commit=None if manifest.commit is None else visible(manifest.commit),
        dirty=manifest.dirty,
        packages={visible(name): visible(text) for name, text in manifest.packages.items()},
        gpu=_gpu(manifest.gpu) if "gpu" in file.tree else {},
        limit=limit if isinstance(limit, int) and not isinstance(limit, bool) else None,
        details=tuple(
            (key, visible(_text(file.tree[key]))) for key in SHOWN_KEYS if file.tree.get(key)
        ),
        cells=cells,
        outcomes=outcomes,
    )


def _gpu(gpu: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if gpu is None:
        return None
    return {key: visible(value) if isinstance(value, str) else value for key, value in gpu.items()}


DEEPEST = 20
"""Levels of a manifest's value that are shown; what is below is shown to be there."""


def _text(value: Any, depth: int = 0) -> str:
    """A manifest's value in words: `id gpt2, revision main`."""
    if isinstance(value, dict | list) and depth == DEEPEST:
        return "…"
    if isinstance(value, dict):
        parts = [(key, _text(part, depth + 1)) for key, part in value.items() if part is not None]
        return ", ".join(f"{key} {text}" for key, text in parts)
    if isinstance(value, list):
        return "; ".join(_text(part, depth + 1) for part in value) or "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# --- a run's files against the study ------------------------------------------------------------


def _misfits(
    file: RunFile, source: StudySource, factors: Mapping[str, Factor]
) -> Iterator[Problem]:
    if file.manifest.study != source.id:
        yield Problem(
            "wrong-run",
            file.name,
            f"a run of the study {quote(file.manifest.study)}",
            f"a run of the study {quote(source.id)}",
            "move its files into the folder of that study",
            column="study",
        )
        return
    yield from _other_settings(file, source)
    entries = source.file.factors.items()
    listed_in = {factor for factor, entry in entries if entry.levels is not None}
    cells = (cell.levels for cell in file.manifest.cells)
    yield from _unknown_levels(file.name, cells, factors, listed_in)
    twice = [
        cell
        for cell, times in Counter(
            tuple(sorted(cell.levels.items())) for cell in file.manifest.cells
        ).items()
        if times > 1
    ]
    if twice:
        found = f"{levels_text(dict(twice[0]))} twice"
        yield Problem("wrong-run", file.name, found, "each cell once", COLLECT, column="cells")


def _other_settings(file: RunFile, source: StudySource) -> Iterator[Problem]:
    """Settings other than `reproduce.settings` asks for: another method isn't the same again."""
    wanted = source.file.reproduce.settings if source.file.reproduce else {}
    for path, setting in wanted.items():
        place, found = _setting_of(file, path)
        scalar = isinstance(found, str | int | float) and not isinstance(found, bool)
        for expected, where in _expected(setting, file.manifest.cells):
            if not scalar or not _is_same(level_key(found), expected, path):
                yield Problem(
                    "wrong-run",
                    file.name,
                    f"a run with {quote(_text(found))}"
                    if found is not None
                    else "a run without it",
                    f"{quote(expected)}{where}, as reproduce.settings in study.yml asks",
                    "collect it into a study of its own: it can't be compared with these values",
                    column=place,
                )
                break


IDENTITY = ("model", "data")
"""What a manifest says of a run beside its settings."""


def _setting_of(file: RunFile, path: str) -> tuple[str, Any]:
    """Where a manifest has a setting, and what it is; None where it hasn't."""
    first = path.partition(".")[0]
    own = first in IDENTITY and not isinstance(file.manifest.settings.get(first), dict)
    found: Any = file.tree if own else file.manifest.settings
    for key in path.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return path if own else f"settings.{path}", found


def _expected(
    setting: Mapping[str, Mapping[str, str]], cells: Sequence[CellProgress]
) -> Iterator[tuple[str, str]]:
    """What a run with these cells must have, each with the level that asks for it in words."""
    for factor, by_level in setting.items():
        levels = dict.fromkeys(cell.levels.get(factor, "") for cell in cells) if factor else ("*",)
        for level in levels:
            if level in by_level:
                yield by_level[level], f" for {factor} {quote(level)}" if factor else ""


def _is_same(found: str, expected: str, path: str) -> bool:
    """Whether they are one; a folder or file is called what the last part of the id is."""
    if path not in ("model.id", "data.id"):
        return found == expected
    return expected in (found, f"{expected.rpartition('/')[0]}/{Path(found).stem}") or (
        expected.rpartition("/")[2] == found
    )


def _unknown_levels(
    name: str,
    cells: Iterable[Mapping[str, str]],
    factors: Mapping[str, Factor],
    fixed: Collection[str],
) -> Iterator[Problem]:
    """Each wrong set of factors, and each unknown level, once.

    Args:
        fixed: Factors whose levels `study.yml` lists; only these are judged. Of others a run may
            have cells at levels at which none is complete yet, so that no table has them.
    """
    seen: set[tuple[str, ...]] = set()
    for index, levels in enumerate(cells):
        if levels.keys() != factors.keys():
            if (which := tuple(sorted(levels))) not in seen:
                seen.add(which)
                yield Problem(
                    "unknown-factor",
                    name,
                    f"a cell with {join_names(sorted(levels)) or 'no factor'}",
                    f"the study's factors: {join_names(factors)}",
                    f"correct facets, x and y in study.yml, or {COLLECT}",
                    column=f"cells.{index}",
                )
            continue
        for factor, key in levels.items():
            unknown = factor in fixed and key not in factors[factor].keys
            if unknown and (factor, key) not in seen:
                seen.add((factor, key))
                yield Problem(
                    "unknown-level",
                    name,
                    quote(key),
                    f"a level of {factor}: {join_names(sorted(factors[factor].keys), 30)}",
                    f"add {key} under factors.{factor}.levels in study.yml, or remove the run",
                    column=f"cells.{index}.{factor}",
                )


def _outcomes(
    file: RunFile, source: StudySource, cells: Mapping[At, Progress]
) -> tuple[dict[At, Outcomes], list[Problem]]:
    if file.outcomes is None:
        return {}, []
    lists = file.outcomes.items
    found: dict[At, Outcomes] = {}
    problems: list[Problem] = []
    wanted = {*factor_ids(source)}
    for index, cell in enumerate(file.outcomes.cells):
        wrong = ""
        at = _at(cell.cell, source) if cell.cell.keys() == wanted else None
        if at is None or at not in cells or not cells[at].complete:
            wrong, expected = "a cell that the run hasn't done", "only complete cells of the run"
        elif at in found:
            wrong, expected = "a cell again", "each cell once"
        elif cell.items >= len(lists):
            wrong, expected = f"the list of items {cell.items}", f"one of {len(lists)}, from 0"
        else:
            wrong, expected = _counts(cell, len(lists[cell.items]))
        if wrong or at is None:
            problems.append(
                Problem(
                    "wrong-outcomes",
                    file.outcomes_name,
                    f"{wrong} ({levels_text(cell.cell)})",
                    expected,
                    COLLECT,
                    column=f"cells.{index}",
                )
            )
            continue
        items = lists[cell.items]
        samples = cell.samples * len(items) if len(cell.samples) == 1 else cell.samples
        found[at] = Outcomes(items, samples, cell.correct)
    return found, problems


def _counts(outcomes: CellOutcomes, items: int) -> tuple[str, str]:
    """What is wrong with a cell's counts, and what was expected; empty where nothing is."""
    if len(outcomes.correct) != items or len(outcomes.samples) not in (1, items):
        return f"{len(outcomes.correct)} of {items} counts", "one for each item"
    samples = outcomes.samples * items if len(outcomes.samples) == 1 else outcomes.samples
    for correct, of in zip(outcomes.correct, samples, strict=True):
        if correct > of:
            return f"{correct} right of {of}", "at most as many as samples"
    return "", ""


# --- the readings against the runs --------------------------------------------------------------


def _named(source: StudySource, reading: Reading, runs: Mapping[str, Run]) -> Iterator[Problem]:
    """What a reading says of runs that aren't there, or say something else."""
    name = source.tables[reading.id].name
    runs_with_file = source.runs.names
    if not runs_with_file:
        return  # The column may name runs that are kept elsewhere.
    with_value = {at: cell for at, cell in reading.table.items() if cell.value is not None}
    without = [cell for cell in with_value.values() if not cell.run]
    if without and len(without) < len(with_value):
        found = f"{len(without)} of {len(with_value)} values without a run"
        yield Problem.of("mixed-runs", name, found, without[0].line, "run")
    reported: set[str] = set()
    for at, cell in with_value.items():
        if not cell.run:
            continue
        if cell.run not in runs_with_file:
            if cell.run not in reported:
                reported.add(cell.run)
                near = nearest(cell.run, runs_with_file)
                expected = (
                    f"a run with a file {FOLDER}/<run>.json: {join_names(sorted(runs_with_file))}"
                )
                fix = "add the run's file, which gridatlas collect writes"
                yield Problem(
                    "run-without-file",
                    name,
                    f"the run {quote(cell.run)}",
                    expected,
                    f"write {near} instead of {cell.run}, or {fix}" if near else fix,
                    cell.line,
                    "run",
                )
        elif cell.run in runs:
            yield from _against(name, cell, at, runs[cell.run])


def _against(name: str, cell: Cell, at: At, run: Run) -> Iterator[Problem]:
    """A value against the run that it is from."""
    progress, outcomes = run.cells.get(at), run.outcomes.get(at)
    found = ""
    if progress is None:
        found, expected = f"a cell that the run {run.id} hasn't", "a cell of the run"
    elif not progress.complete:
        found = f"a value, of {progress.done} of {progress.of} units of the run {run.id}"
        expected = "no value before all units are done"
    elif outcomes is not None and cell.repeats == 1:
        counts = sum(outcomes.correct), sum(outcomes.samples)
        given = cell.successes, cell.n
        if None not in given and given != counts:
            found = f"{given[0]} of {given[1]}"
            expected = f"{counts[0]} of {counts[1]}, as the outcomes of the run {run.id} say"
    if found:
        yield Problem("wrong-run", name, found, expected, COLLECT, cell.line, "run")
