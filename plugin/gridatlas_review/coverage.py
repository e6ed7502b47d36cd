"""Checks that no longer run where they ran before."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from gridatlas.assessment.assessment import Assessment
from gridatlas.checks import StudyChecks
from gridatlas.model.study import Levels
from gridatlas_review.changes import LostCheck
from gridatlas_review.matching import Match

CONCLUSIVE = ("passed", "found")
"""Outcomes of a check that say something about its values."""
ONLY_WHERE_FOUND = ("disputed", "fractions")
"""Checks with a result only where they find something: without one, nothing is wrong."""


def compare_coverage(
    old: Assessment, new: Assessment, match: Match, readings: Mapping[str, str]
) -> tuple[LostCheck, ...]:
    """Checks of a reading that don't test all values any more of grids that they tested whole.

    Grids that have no values in the head don't count, unless the check tests none. Checks
    of readings that were removed are lost with these.

    Args:
        readings: The head's id of a reading by the base's.
    """
    after = _checked(new.checks)
    new_readings = {reading.id: reading for reading in new.study.readings}

    @cache
    def valued(reading: str) -> set[Levels]:
        cells = new_readings[reading].table
        return {at for at in cells.grids if cells.columns.value.known[cells.rows(at)].any()}

    lost = []
    for (kind, reading), grids in _checked(old.checks).items():
        if reading not in readings or kind in ONLY_WHERE_FOUND:
            continue
        to = readings[reading]
        left = after.get((kind, to), {})
        gone = [levels for levels in grids if match.head_levels(levels) not in left]
        if left:
            gone = [levels for levels in gone if match.head_levels(levels) in valued(to)]
        if gone:
            lost.append(LostCheck(kind, reading, tuple(gone)))
    return tuple(lost)


def _checked(checks: StudyChecks) -> dict[tuple[str, str], dict[Levels, None]]:
    """The grids all of whose values each check of each reading tests."""
    found: dict[tuple[str, str], dict[Levels, None]] = {}
    for result in checks.results:
        if result.outcome in CONCLUSIVE:
            grids = found.setdefault((result.kind, result.reading), {})
            partly = {levels for levels, _ in result.untested}
            grids |= dict.fromkeys(levels for levels in result.grids if levels not in partly)
    return found
