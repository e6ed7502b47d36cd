"""Values outside the ends of the colour bar that a reading states."""

from __future__ import annotations

from gridatlas.checks.findings import CheckResult
from gridatlas.checks.reading import ReadingView
from gridatlas.checks.words import cells_text, of_values, plain
from gridatlas.model.format import is_are, many
from gridatlas.model.study import Levels, Reading


def check_stated_ranges(view: ReadingView, reading: Reading) -> list[CheckResult]:
    """Values outside the ends of the colour bar that the reading states."""
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
            values = [(point, value) for point, _, value in sheet.cells]
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
