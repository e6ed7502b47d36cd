"""Checks that need no second source: what a reading's numbers say about themselves.

Each check gives a result for the page (passed, and how much that says), with findings in it. A
finding in a reading that supplies no shown value is a note. `accepted` in `study.yml` names
findings that are known; an acceptance that no longer occurs is a problem.
"""

from gridatlas.checks.counts import is_count, passing_share
from gridatlas.checks.every import (
    accept,
    accept_entry,
    check_study,
    reading_results,
)
from gridatlas.checks.findings import CheckResult, Finding, StudyChecks
from gridatlas.checks.reading import supplying
from gridatlas.checks.register import all_checks
from gridatlas.checks.words import half_unit

__all__ = [
    "CheckResult",
    "Finding",
    "StudyChecks",
    "accept",
    "accept_entry",
    "all_checks",
    "check_study",
    "half_unit",
    "is_count",
    "passing_share",
    "reading_results",
    "supplying",
]
