"""What was read of a data folder, in a line per study."""

from __future__ import annotations

from collections.abc import Iterator

from gridatlas.assessment.pipeline import Loaded


def counted(number: int, what: str) -> str:
    """`1 grid`, `2 grids`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def summary_lines(loaded: Loaded) -> Iterator[str]:
    """A line per study: its grids, values and readings."""
    for results in loaded.results:
        study = results.study
        cells = sum(
            cell.value is not None
            for grid in results.grids.values()
            for _, _, cell in grid.points()
        )
        yield (
            f"{study.id}: {counted(len(results.grids), 'grid')}, {counted(cells, 'value')}, "
            f"{counted(len(study.readings), 'reading')}"
        )
