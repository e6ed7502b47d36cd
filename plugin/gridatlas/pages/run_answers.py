"""What the answers of a run were like: how many had none, were cut off, how long they were."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gridatlas.model.study import Answers, Levels, Point, Run, Study

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
    return [_row(_name(study, *key), answers) for key, answers in groups.items()]


def _name(study: Study, levels: Levels, point: Point | None) -> str:
    facets = zip(study.facets, levels, strict=True)
    names = [facet.level(key).label for facet, key in facets]
    if point is not None:
        axes = [study.x.level(point[0]).label]
        if study.second:
            axes.append(study.y.level(point[1]).label)
        names.append(" × ".join(axes))
    return " | ".join(names) or study.title


def _row(name: str, cells: list[Answers]) -> AnswersRow:
    n = sum(cell.n for cell in cells)
    prunes = [cell.prunes for cell in cells if cell.prunes is not None]
    return AnswersRow(
        name,
        len(cells),
        f"{n:,}",
        _shares([(cell.unanswered, cell.n) for cell in cells]),
        _shares([(cell.truncated, cell.n) for cell in cells]),
        f"{sum(cell.tokens for cell in cells) / n:,.1f}",
        f"{sum(prunes) / n:,.1f}" if prunes else "",
    )


def _shares(counts: Iterable[tuple[int, int]]) -> str:
    """A share in %, and of several cells the highest: `0.4 % (at most 2.1 %)`."""
    counts = tuple(counts)
    share = 100 * sum(k for k, _ in counts) / sum(n for _, n in counts)
    most = max(100 * k / n for k, n in counts)
    return f"{share:.1f} %" + (f" (at most {most:.1f} %)" if len(counts) > 1 and most else "")
