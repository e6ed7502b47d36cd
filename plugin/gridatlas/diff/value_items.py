"""Best cells and values that changed, as a reviewer is told of them."""

from __future__ import annotations

from collections.abc import Iterator

from gridatlas.diff.changes import Changes, StudyChanges
from gridatlas.diff.grids import CellKind, GridChange
from gridatlas.diff.report import Item, item
from gridatlas.diff.wording import (
    ROWS,
    apart,
    best_text,
    cells_table,
    count,
    grid_name,
    order,
    size,
    tests_of,
)


def best(changes: Changes) -> Iterator[Item]:
    """Grids with another best cell, or another best value."""
    found = [
        (study, grid)
        for study in changes.studies
        for grid in study.grids.changed
        if grid.best is not None
    ]

    def rank(pair: tuple[StudyChanges, GridChange]) -> tuple[bool, bool]:
        best = pair[1].best
        return not (best and best.moved), not (best and best.differs)

    for study, grid in sorted(found, key=rank):
        if grid.best is not None:
            yield item(study.head.study.id, *best_text(grid, grid.best))


def changed_grids(changes: Changes) -> list[tuple[StudyChanges, GridChange]]:
    """The grids with changed cells: those first that noise explains least, then by size."""
    found = [
        (study, grid) for study in changes.studies for grid in study.grids.changed if grid.cells
    ]

    def rank(pair: tuple[StudyChanges, GridChange]) -> tuple[int, object]:
        cells = pair[1].cells
        apart = sum(bool(cell.told and cell.told.differs) for cell in cells)
        return -apart, -max(map(size, cells))

    return sorted(found, key=rank)


def cells(changes: Changes) -> Iterator[Item]:
    """Grids with changed values, those told apart from noise first."""
    for study, grid in changed_grids(changes):
        cells = sorted(grid.cells, key=order)
        more = len(cells) - ROWS
        details = (
            f"It has now exactly the values that {grid.like} had." if grid.like else "",
            f"and {count(more, 'more cell')} of this grid" if more > 0 else "",
            *tests_of(cells),
        )
        yield item(
            study.head.study.id,
            f"{grid_name(grid.new.study, grid.new.levels)}: {_counted(grid)}",
            details,
            cells_table(grid, cells),
        )


def _counted(grid: GridChange) -> str:
    kinds = [cell.kind for cell in grid.cells]
    words: dict[CellKind, str] = {
        "value": "changed",
        "gone": "gone",
        "new": "new",
        "state": "with another state",
        "trials": "with other trials or errors",
    }
    parts = [
        f"{count(kinds.count(kind), 'value')} {word}"
        for kind, word in words.items()
        if kind in kinds
    ]
    parts[0] += apart(grid.cells)
    total = sum(cell.value is not None for _, _, cell in grid.new.points())
    return f"{', '.join(parts)}; it has {count(total, 'value')}"
