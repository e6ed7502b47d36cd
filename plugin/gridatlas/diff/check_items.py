"""Findings that changed, as a reviewer is told of them."""

from __future__ import annotations

from collections.abc import Iterator

from gridatlas.checks import TITLES, Finding
from gridatlas.diff.changes import Changes, StudyChanges
from gridatlas.diff.check_changes import FindingChange, failing
from gridatlas.diff.report import Item, item
from gridatlas.diff.wording import (
    grid_name,
    reading_name,
)
from gridatlas.study import Study


def checks(changes: Changes) -> Iterator[Item]:
    """Findings that newly fail first, then those that fail otherwise."""
    found = [(study, one) for study in changes.studies for one in study.findings if one.fails]
    for study, one in sorted(found, key=lambda pair: not pair[1].newly_fails):
        if one.new is not None:
            now = "Still fails, and otherwise" if failing(one.old) else "Newly fails"
            if one.old is not None and one.old.accepted and not one.new.accepted:
                now = "No longer accepted"
            yield _finding(study.head.study, one.new, now)
    for study in changes.studies:
        for outcome_change in study.outcomes:
            old, other = outcome_change.old, outcome_change.new
            yield item(
                study.head.study.id,
                f"{other.title}, {reading_name(study.head.study, other.reading)}: now "
                f"{_OUTCOMES[other.outcome]}, before {_OUTCOMES[old.outcome]}",
                (f"Now: {other.statement}", f"Before: {old.statement}"),
            )


_OUTCOMES = {
    "passed": "it passed",
    "found": "it found something",
    "says nothing": "it says nothing",
    "not testable": "nothing can be tested",
}


def _finding(study: Study, one: Finding, now: str) -> Item:
    title = TITLES[one.kind]
    source = reading_name(study, one.reading)
    text = f"{now}: {title}, {grid_name(study, one.levels)}, {source}: {one.found}"
    details = [one.means, one.sure] if failing(one) else []
    if one.accepted:
        details.insert(0, f"Accepted because: {one.accepted.because}")
    return item(study.id, text, tuple(details))


def other_findings(changes: Changes) -> Iterator[Item]:
    """Accepted findings, notes, and findings that are gone."""
    every: list[tuple[StudyChanges, FindingChange]] = [
        (study, one)
        for study in changes.studies
        for one in study.findings
        if not (one.new is not None and one.fails)
    ]
    for study, one in every:
        if one.new is not None and one.new.accepted and not (one.old and one.old.accepted):
            yield _finding(study.head.study, one.new, "Accepted now")
    for study, one in every:
        if one.new is None and one.old is not None:
            yield _finding(study.base.study, one.old, "No longer found")
    for study in changes.studies:
        for problem in study.mended:
            yield item(study.head.study.id, f"Mended: {problem.place}: {problem.found}")
    for study, one in every:
        told = one.new is None or (one.new.accepted and not (one.old and one.old.accepted))
        if one.new is not None and not told:
            now = "New note" if one.old is None else "Says something else"
            yield _finding(study.head.study, one.new, now)
