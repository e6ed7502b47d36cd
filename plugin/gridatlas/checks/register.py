"""All checks, found in this folder: a file brings one by `@check`, and nothing lists them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from gridatlas import registry
from gridatlas.checks.findings import CheckResult
from gridatlas.checks.reading import ReadingView
from gridatlas.model.study import Study
from gridatlas.table.study_table import StudyTable

OfReading = Callable[[ReadingView], Sequence[CheckResult]]
OfShown = Callable[[Study, StudyTable], Sequence[CheckResult]]


@dataclass(frozen=True, slots=True)
class Check:
    """A check: what it does, and the texts of its kind of finding.

    Attributes:
        kind: Stable name, which `accepted` in `study.yml` uses.
        title: Its heading on pages.
        says: What a finding is, and how sure, for the documents.
        passing: What would have been right.
        fix: What to do about it, where it isn't accepted.
        order: Its place among all.
        of_reading: Its results for a reading, with the findings in them.
        of_shown: Those for the shown values of all readings together, which `choose` gives.
    """

    kind: str
    title: str
    says: str
    passing: str
    order: int
    of_reading: OfReading
    of_shown: OfShown | None = None
    fix: str = "correct the values"


def check(
    *,
    kind: str,
    title: str,
    says: str,
    passing: str,
    order: int,
    of_shown: OfShown | None = None,
    fix: str = "correct the values",
) -> Callable[[OfReading], Check]:
    """Make a check of a function; the arguments are those of `Check`."""
    return lambda of_reading: Check(kind, title, says, passing, order, of_reading, of_shown, fix)


@cache
def all_checks() -> Mapping[str, Check]:
    """The checks of all files in this folder, by their kinds, in order.

    Raises:
        ValueError: For two of one kind.
    """
    found: dict[str, tuple[str, Check]] = {}
    for name, module in registry.modules(sys.modules[__name__.rpartition(".")[0]]).items():
        for part in vars(module).values():
            if not isinstance(part, Check):
                continue
            first, same = found.setdefault(part.kind, (name, part))
            if same is not part:
                raise ValueError(f"checks/{first}.py and checks/{name}.py both have {part.kind}")
    ordered = sorted((part for _, part in found.values()), key=lambda part: part.order)
    return {part.kind: part for part in ordered}
