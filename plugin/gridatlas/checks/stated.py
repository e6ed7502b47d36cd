"""What a reading says of its own values: disputed cells, and the ends of its colour bar."""

from __future__ import annotations

import numpy as np

from gridatlas.checks.findings import CheckResult
from gridatlas.checks.reading import ReadingView
from gridatlas.checks.register import check
from gridatlas.checks.words import cells_text, of_values, plain
from gridatlas.model.format import is_are, many
from gridatlas.model.study import Levels, Point
from gridatlas.table.study_table import DISPUTED


@check(
    kind="stated-range",
    title="Stated range of the colour bar",
    says="A value beyond the stated ends of the colour bar. A note: a colour bar can reach beyond "
    "its outer ticks.",
    passing="values within the stated range",
    order=80,
)
def check_stated_ranges(view: ReadingView) -> list[CheckResult]:
    """Values outside the ends of the colour bar that the reading states."""
    reading = view.account
    ids = [facet.id for facet in view.study.facets]
    looked: list[Levels] = []
    findings = []
    inside, total = 0, 0
    for stated in reading.entry.stated_range:
        low, high = stated.range
        named = (stated.model_extra or {}).items()
        for sheet in view.sheets:
            at = dict(zip(ids, sheet.levels, strict=True))
            if any(at.get(facet) != key for facet, key in named):
                continue
            looked.append(sheet.levels)
            values = [*sheet.values()]
            beyond = [(p, plain(v)) for p, v in values if not low <= v <= high]
            total += len(values)
            inside += len(values) - len(beyond)
            if beyond:
                findings.append(
                    view.finding(
                        "stated-range",
                        sheet.levels,
                        [point for point, _ in beyond],
                        f"{of_values(len(beyond), len(values))} outside {plain(low)} to "
                        f"{plain(high)}, the stated range of the colour bar: "
                        f"{cells_text(view.study, beyond)}",
                        "The stated ends may be the outer ticks, not the ends of the bar. Or the "
                        "values or the range are wrong.",
                        "Not certain: a colour bar can reach beyond its outer ticks.",
                        note=True,
                    )
                )
    if not looked:
        return []
    statement = f"{inside} of {many(total, 'value')} {is_are(inside)} within the stated ranges."
    strength = "Detects only large mistakes."
    return [view.result("stated-range", looked, statement, strength, findings)]


@check(
    kind="disputed",
    title="Disputed cells",
    says="A cell that a reading has, without a value. A note: the reading reports it itself.",
    passing="a value for each cell",
    order=70,
)
def check_disputed(view: ReadingView) -> list[CheckResult]:
    """Disputed cells without a value, those of one grid with one note together."""
    reading = view.account
    columns = reading.table.columns
    rows = np.flatnonzero((columns.state == DISPUTED) & ~columns.value.known)
    rows = rows[np.argsort(columns.line[rows], kind="stable")]
    groups: dict[tuple[Levels, str], list[Point]] = {}
    for (levels, point), note in zip(reading.table.places(rows), columns.note[rows], strict=True):
        groups.setdefault((levels, note), []).append(point)
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
