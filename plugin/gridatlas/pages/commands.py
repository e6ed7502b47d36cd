"""The command that measures a cell again, from the study's `reproduce`.

Every argument is quoted after the levels are put in, so that no string from data is ever more than
an argument to the shell.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from gridatlas.model.schema import PLACEHOLDER
from gridatlas.model.study import Grid, Level, Study


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
    return [one for one in found if one]


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
