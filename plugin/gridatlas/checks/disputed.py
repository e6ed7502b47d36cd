"""Cells that a reading has and can't give a value for: it says itself that they are disputed."""

from __future__ import annotations

from gridatlas.checks.findings import CheckResult
from gridatlas.checks.reading import ReadingView
from gridatlas.model.format import is_are, many
from gridatlas.model.study import Levels, Point, Reading


def check_disputed(view: ReadingView, reading: Reading) -> list[CheckResult]:
    """Disputed cells without a value, those of one grid with one note together."""
    if not any(cell.state == "disputed" for cell in reading.cells.values()):
        return []
    groups: dict[tuple[Levels, str], list[Point]] = {}
    for (levels, point), cell in reading.cells.items():
        if cell.state == "disputed" and cell.value is None:
            groups.setdefault((levels, cell.note), []).append(point)
    if not groups:
        return []
    findings = [
        view.finding(
            "disputed",
            levels,
            points,
            f"no value in {many(len(points), 'cell')}" + (f": {note.rstrip('.')}" if note else ""),
            "The source's values there fit no cell, or contradict one another.",
            "Certain: the reading marks these cells as disputed.",
            note=True,
        )
        for (levels, note), points in groups.items()
    ]
    number = sum(map(len, groups.values()))
    statement = f"{many(number, 'cell')} {is_are(number)} disputed, without a value."
    return [
        view.result("disputed", [finding.levels for finding in findings], statement, "", findings)
    ]
