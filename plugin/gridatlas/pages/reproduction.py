"""The page Reproduction: verdicts cell by cell, what each run was, commands that measure again.

Every argument of a command is quoted after the levels are put in, so that no string from data is
ever more than an argument to the shell.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.reruns import CellRerun, Reproduction, Rerun, in_words
from gridatlas.charts.marks import rows_from_top
from gridatlas.model.format import (
    cell_text,
    difference_ends,
    format_difference,
    format_value,
    many,
    rounded,
    value_with_unit,
)
from gridatlas.model.schema import PLACEHOLDER, ReproduceEntry
from gridatlas.model.study import Answers, Cell, Level, Levels, Point, Run, Study
from gridatlas.pages.filters import in_units
from gridatlas.pages.tables import MAX_TABLE_CELLS
from gridatlas.table.items import trials
from gridatlas.table.study_table import Grid

GIB = 2**30
COMMANDS_UP_TO = 2_500
"""Cells of a grid up to which the page Reproduction lists the command of each."""


def reproduction_context(assessment: Assessment, reproduction: Reproduction) -> dict[str, Any]:
    """What the templates of the page get."""
    study = assessment.study
    listed = {
        grid.levels: grid
        for grid in assessment.results.grids.values()
        if len(grid.columns) <= COMMANDS_UP_TO
    }
    rows = rows_from_top(study.y)
    return {
        "line": reproduction_line(reproduction),
        "differing": differing_cells(reproduction),
        "form": command_form(study),
        "packages": packages(reproduction.runs),
        "commands": {levels: commands(grid, rows) for levels, grid in listed.items()},
        "grid_commands": {levels: grid_command(grid, rows) for levels, grid in listed.items()},
    }


@dataclass(frozen=True, slots=True)
class RerunRow:
    """One cell in words: `x` and `y` are its levels, the rest is empty where there is nothing."""

    x: Level
    y: Level
    published: str
    again: str
    difference: str
    interval: str
    verdict: str
    note: str
    run: str


def rerun_rows(rerun: Rerun) -> list[RerunRow]:
    """The cells of a grid in reading order; none where there are too many for a table."""
    study = rerun.grid.study
    if len(rerun.cells) > MAX_TABLE_CELLS:
        return []
    points = [(x, y) for y in rows_from_top(study.y) for x in study.x.levels]
    return [
        _row(rerun, x, y, rerun.cells[x.key, y.key])
        for x, y in points
        if (x.key, y.key) in rerun.cells
    ]


def _row(rerun: Rerun, x: Level, y: Level, cell: CellRerun) -> RerunRow:
    study = rerun.grid.study
    difference = ""
    if cell.difference is not None:
        text = format_difference(cell.difference, study.metric.decimals or 0)
        difference = value_with_unit(text, study.metric.unit, difference=True)
    note = cell.reason or cell.method
    if cell.progress is not None:
        note = f"{in_units(cell.progress)} done"
    return RerunRow(
        x,
        y,
        _value_text(rerun.grid, cell.published, study),
        _value_text(rerun.again, cell.again, study) if cell.again.reading else "",
        difference,
        difference_ends(cell.interval, study) if cell.interval else "",
        cell.verdict,
        note,
        cell.again.run,
    )


def _value_text(grid: Grid, cell: Cell, study: Study) -> str:
    n = cell.n if cell.run else trials(grid, cell)
    return cell_text(study, cell) + (f" (n = {n:,})" if n and cell.value is not None else "")


def run_facts(run: Run) -> list[tuple[str, str]]:
    """What a run was, as (name, text); what isn't known is said so."""
    done = sum(cell.complete for cell in run.cells.values())
    begun = sum(0 < cell.done < cell.of for cell in run.cells.values())
    cells = f"{done:,} of {len(run.cells):,} done"
    facts = [("Cells", cells + (f", {begun:,} begun" if begun else ""))]
    if run.limit is not None:
        items = "item" if run.limit == 1 else f"{run.limit:,} items"
        facts.append(("A try", f"only the first {items}"))
    facts += [
        ("Script", run.script),
        ("Arguments", shlex.join(run.arguments) or "none"),
        ("Started", run.started),
        ("Code", _code(run)),
    ]
    facts += [(key.capitalize(), text) for key, text in run.details]
    facts.append(("GPU", _gpu(run)))
    packages = ", ".join(f"{name} {version}" for name, version in sorted(run.packages.items()))
    return [*facts, ("Packages", packages or "not known")]


def _code(run: Run) -> str:
    if run.commit is None:
        return "commit not known"
    changed = {True: ", changed since", False: ", unchanged", None: ", not known whether changed"}
    return f"commit {run.commit}{changed[run.dirty]}"


def _gpu(run: Run) -> str:
    if run.gpu is None:
        return "none: it ran on the CPU"
    if not run.gpu:
        return "not known"
    memory = run.gpu.get("memory")
    parts = [str(run.gpu.get("name") or "not known")]
    if isinstance(memory, int):
        parts.append(f"{(memory + GIB // 2) // GIB} GiB")
    parts += [f"{key} {run.gpu[key]}" for key in ("driver", "cuda") if run.gpu.get(key)]
    return ", ".join(parts)


def reproduction_line(reproduction: Reproduction) -> str:
    """The page in a line: `0 of 160 cells measured again: not run`."""
    own, counts = reproduction.own, reproduction.counts
    if own:
        measured, of = sum(grid.measured for grid in own), sum(grid.of for grid in own)
        running = sum(grid.running for grid in own)
        line = f"{measured:,} of {many(of, 'cell')} measured"
        return line + (f", {running:,} running" if running else "")
    of = sum(counts.values())
    measured = sum(rerun.measured for rerun in reproduction.reruns)
    begun = {**counts, "not run": 0}
    line = f"{measured:,} of {many(of, 'cell')} measured again"
    return f"{line}: {in_words(begun) or 'not run'}"


@dataclass(frozen=True, slots=True)
class DifferingCell:
    """A cell whose value measured again differs from the published one."""

    grid: Grid
    point: Point
    row: RerunRow


def differing_cells(reproduction: Reproduction) -> list[DifferingCell]:
    """The cells that differ, the largest difference first."""
    found = []
    for rerun in reproduction.begun:
        study = rerun.grid.study
        for (x, y), cell in rerun.cells.items():
            if cell.verdict == "differs" and cell.difference is not None:
                row = _row(rerun, study.x.level(x), study.y.level(y), cell)
                found.append((abs(cell.difference), DifferingCell(rerun.grid, (x, y), row)))
    return [cell for _, cell in sorted(found, key=lambda entry: -entry[0])]


# --- commands -----------------------------------------------------------------------------------


def command(grid: Grid, x: Level, y: Level) -> str:
    """The command for one cell; empty for a study without, and for an aggregate.

    An aggregate is made from other cells, each of which has a command of its own.
    """
    study = grid.study
    if study.reproduce is None or grid.aggregate:
        return ""
    levels = _facets(grid) | {study.x.id: x.key, study.y.id: y.key}
    return _written(study.reproduce, study.reproduce.args, lambda word: _filled(word, levels))


def command_form(study: Study) -> str:
    """The command with the names of factors in braces; empty for a study without."""
    entry = study.reproduce
    return f"{_begun(entry)} {entry.args}" if entry else ""


def commands(grid: Grid, rows: Sequence[Level]) -> list[str]:
    """The commands of all cells of a grid, row by row; none where `command` is empty."""
    return [text for y in rows for x in grid.study.x.levels if (text := command(grid, x, y))]


def grid_command(grid: Grid, rows: Sequence[Level]) -> str:
    """One command for all cells of a grid; empty where `command` is.

    Without `grid_args` it is loops of a POSIX shell.

    Args:
        rows: The levels of y in the order in which they are run.
    """
    study = grid.study
    if study.reproduce is None or grid.aggregate:
        return ""
    levels, loops = _facets(grid), {study.x.id: "x", study.y.id: "y"}
    entry = study.reproduce
    if entry.grid_args is not None:
        return _written(entry, entry.grid_args, lambda word: _filled(word, levels))
    run = _written(entry, entry.args, lambda word: _looped(word, levels, loops))
    xs, ys = (" ".join(shlex.quote(of.key) for of in every) for every in (study.x.levels, rows))
    if not study.second:
        return f"for x in {xs}; do {run}; done"
    return f"for y in {ys}; do for x in {xs}; do {run}; done; done"


_split = lru_cache(shlex.split)
"""Kept: the cells of a study have one form of their commands."""


def _written(entry: ReproduceEntry, args: str, quoted: Callable[[str], str]) -> str:
    """A command; `quoted` gives what the shell is given for an argument."""
    return " ".join([_begun(entry), *map(quoted, _split(args))])


def _begun(entry: ReproduceEntry) -> str:
    return shlex.join([*entry.interpreter.split(), entry.script])


def _looped(word: str, levels: Mapping[str, str], loops: Mapping[str, str]) -> str:
    """One argument, quoted, in which the shell puts its variables for the levels of the axes."""
    parts = []
    for place, part in enumerate(PLACEHOLDER.split(word)):
        named = place % 2 == 1  # Names of factors are at the odd places.
        parts.append((loops.get(part, ""), levels.get(part, "")) if named else ("", part))
    found = ""
    for variable, texts in groupby(parts, lambda part: part[0]):
        text = "".join(text for _, text in texts)
        found += f'"${variable}"' if variable else shlex.quote(text) if text else ""
    return found or "''"


def packages(runs: Sequence[Run]) -> str:
    """What installs the packages of the newest run, as arguments of pip; empty where unknown."""
    newest = max((run for run in runs if run.packages), key=lambda run: run.started, default=None)
    if newest is None:
        return ""
    # A local version, such as torch's +cpu, is on no index.
    pins = (f"{name}=={version.partition('+')[0]}" for name, version in newest.packages.items())
    return " ".join(shlex.quote(pin) for pin in sorted(pins))


def command_parts(grid: Grid, rows: Sequence[Level]) -> list[Any]:
    """All commands of a grid at once, as small as the axes: joined with spaces they are `command`.

    Args:
        rows: The levels of y in the order in which the parts shall name them.

    Returns:
        Texts that all commands share, and mappings with what differs: `x` or `y` by the place of
        the level on that axis, `xy` by row and column; empty where `command` is.
    """
    study = grid.study
    if study.reproduce is None or grid.aggregate:
        return []
    levels = _facets(grid)
    parts: list[Any] = [_begun(study.reproduce)]
    for word in shlex.split(study.reproduce.args):
        names = set(PLACEHOLDER.findall(word))
        along_x = [{study.x.id: level.key} for level in study.x.levels]
        along_y = [{study.y.id: level.key} for level in rows]
        if {study.x.id, study.y.id} <= names:
            parts.append(
                {"xy": [[_filled(word, levels | x | y) for x in along_x] for y in along_y]}
            )
        elif study.x.id in names:
            parts.append({"x": [_filled(word, levels | x) for x in along_x]})
        elif study.y.id in names:
            parts.append({"y": [_filled(word, levels | y) for y in along_y]})
        elif isinstance(parts[-1], str):
            parts[-1] += " " + _filled(word, levels)
        else:
            parts.append(_filled(word, levels))
    return parts


def _facets(grid: Grid) -> dict[str, str]:
    return {facet.id: key for facet, key in zip(grid.study.facets, grid.levels, strict=True)}


def _filled(word: str, levels: Mapping[str, str]) -> str:
    """One argument with the levels put in, quoted for the shell."""
    return shlex.quote(PLACEHOLDER.sub(lambda match: levels[match[1]], word))


# --- what the answers of a run were like ---------------------------------------------------------

MOST_CELLS = 200
"""Cells of a run up to which each has a row; of more cells, each grid."""


@dataclass(frozen=True, slots=True)
class AnswersRow:
    """One cell, or one grid, in words; `prunes` is empty where no cache is pruned."""

    name: str
    cells: int
    n: str
    unanswered: str
    truncated: str
    tokens: str
    prunes: str


def run_answers(study: Study, run: Run) -> list[AnswersRow]:
    """The complete cells of a run, or the grids that they are of, in its order."""
    groups: dict[tuple[Levels, Point | None], list[Answers]] = {}
    found = [(at, cell.answers) for at, cell in run.cells.items() if cell.answers is not None]
    for (levels, point), answers in found:
        key = (levels, point if len(found) <= MOST_CELLS else None)
        groups.setdefault(key, []).append(answers)
    return [_answers_row(_grid_name(study, *key), answers) for key, answers in groups.items()]


def _grid_name(study: Study, levels: Levels, point: Point | None) -> str:
    facets = zip(study.facets, levels, strict=True)
    names = [facet.level(key).label for facet, key in facets]
    if point is not None:
        axes = [study.x.level(point[0]).label]
        if study.second:
            axes.append(study.y.level(point[1]).label)
        names.append(" × ".join(axes))
    return " | ".join(names) or study.title


def _answers_row(name: str, cells: list[Answers]) -> AnswersRow:
    n = sum(cell.n for cell in cells)
    prunes = [cell.prunes for cell in cells if cell.prunes is not None]
    return AnswersRow(
        name,
        len(cells),
        f"{n:,}",
        _shares([(cell.unanswered, cell.n) for cell in cells]),
        _shares([(cell.truncated, cell.n) for cell in cells]),
        f"{rounded(sum(cell.tokens for cell in cells) / n, 1):,}",
        f"{rounded(sum(prunes) / n, 1):,}" if prunes else "",
    )


def _shares(counts: Iterable[tuple[int, int]]) -> str:
    """A share in %, and of several cells the highest: `0.4 % (at most 2.1 %)`."""
    counts = tuple(counts)
    share = 100 * sum(k for k, _ in counts) / sum(n for _, n in counts)
    most = max(100 * k / n for k, n in counts)
    at_most = f" (at most {format_value(most, 1)} %)"
    return f"{format_value(share, 1)} %" + (at_most if len(counts) > 1 and most else "")
