"""The page Reproduction: verdicts cell by cell, what each run was, commands that measure again.

Every argument of a command is quoted after the levels are put in, so that no string from data is
ever more than an argument to the shell.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gridatlas.assessment.reruns import CellRerun, Rerun
from gridatlas.charts.heatmap import rows_from_top
from gridatlas.model.format import cell_text, difference_ends, format_difference, value_with_unit
from gridatlas.model.schema import PLACEHOLDER
from gridatlas.model.study import Cell, Grid, Level, Run, Study
from gridatlas.pages.filters import in_units
from gridatlas.pages.tables import MAX_TABLE_CELLS
from gridatlas.results.items import trials

GIB = 2**30


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


# --- commands -----------------------------------------------------------------------------------


def command(grid: Grid, x: Level, y: Level) -> str:
    """The command for one cell; empty for a study without, and for an aggregate.

    An aggregate is made from other cells, each of which has a command of its own.
    """
    study = grid.study
    if study.reproduce is None or grid.aggregate:
        return ""
    levels = _facets(grid) | {study.x.id: x.key, study.y.id: y.key}
    words = ["python", study.reproduce.script, *shlex.split(study.reproduce.args)]
    return " ".join(_filled(word, levels) for word in words)


def command_form(study: Study) -> str:
    """The command with the names of factors in braces; empty for a study without."""
    if study.reproduce is None:
        return ""
    return f"python {study.reproduce.script} {study.reproduce.args}"


def commands(grid: Grid, rows: Sequence[Level]) -> list[str]:
    """The commands of all cells of a grid, row by row; none where `command` is empty."""
    found = (command(grid, x, y) for y in rows for x in grid.study.x.levels)
    return [text for text in found if text]


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
    parts: list[Any] = [f"python {shlex.quote(study.reproduce.script)}"]
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
