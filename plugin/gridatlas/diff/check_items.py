"""Findings that changed, as a reviewer is told of them."""

from __future__ import annotations

from collections.abc import Iterator

from gridatlas.checks import TITLES, Finding
from gridatlas.diff.changes import Changes, StudyChanges
from gridatlas.diff.check_changes import FindingChange, failing
from gridatlas.diff.coverage import LostCheck
from gridatlas.diff.report import Item, item
from gridatlas.diff.wording import NAMED, count, cut, grid_name, reading_name
from gridatlas.model.study import Study


def checks(changes: Changes) -> Iterator[Item]:
    """Findings that newly fail first, then those that fail otherwise."""
    found = [
        (study, finding) for study in changes.studies for finding in study.findings if finding.fails
    ]
    for study, one in sorted(found, key=lambda pair: not pair[1].newly_fails):
        if one.new is not None:
            now = "Still fails, and otherwise" if failing(one.old) else "Newly fails"
            if one.old is not None and one.old.accepted and not one.new.accepted:
                now = "No longer accepted"
            yield _finding(study.head.study, one.new, now)
    lost = [(study, check) for study in changes.studies for check in study.lost_checks]
    for study, check in sorted(lost, key=lambda pair: not any(map(failing, pair[1].hidden))):
        yield _lost(study, check)


def _lost(study: StudyChanges, check: LostCheck) -> Item:
    base = study.base.study
    where = cut((grid_name(base, levels) for levels in check.grids), NAMED)
    hidden = (
        f"Before, {_SEEN[failing(finding), finding.accepted is not None]}: {finding.found}"
        for finding in check.hidden
    )
    without = f"No value there of: {cut(check.without, NAMED)}" if check.without else ""
    now = check.new.statement if check.new else "The check isn't made of this reading."
    return item(
        study.head.study.id,
        f"No longer checked: {check.old.title}, {where}, {reading_name(base, check.old.reading)}: "
        f"{check.lost:,} of {count(check.tested, 'value')}",
        (*hidden, without, f"Now: {now}", f"Before: {check.old.statement}"),
    )


_SEEN = {
    (True, False): "it failed",
    (False, True): "this was found, and accepted",
    (False, False): "this was noted",
}


def _finding(study: Study, one: Finding, now: str) -> Item:
    title = TITLES[one.kind]
    source = reading_name(study, one.reading)
    text = f"{now}: {title}, {grid_name(study, one.levels)}, {source}: {one.found}"
    details = [one.means, one.sure] if failing(one) else []
    if one.accepted:
        details.insert(0, f"Accepted because: {one.accepted.because}")
    return item(study.id, text, tuple(details))


def _gone(study: StudyChanges, finding: Finding) -> str:
    """Why a finding is no longer there: its values aren't, or what it says."""
    readings = {reading.id: reading for reading in study.head.study.readings}
    reading = readings.get(study.readings.ids.get(finding.reading, ""))
    if reading is None:
        return "No longer found"
    places = [study.match.head(finding.levels, point) for point in finding.cells]
    cells = [reading.cells.get(at) for at in places if at is not None]
    left = [cell for cell in cells if cell is not None]
    if finding.kind != "disputed":
        left = [cell for cell in left if cell.value is not None]
    return "No longer found" if left else "Removed with its values"


def other_findings(changes: Changes) -> Iterator[Item]:
    """Accepted findings, notes, and findings that are gone."""
    every: list[tuple[StudyChanges, FindingChange]] = [
        (study, finding)
        for study in changes.studies
        for finding in study.findings
        if not (finding.new is not None and finding.fails)
    ]
    for study, one in every:
        if one.new is not None and one.new.accepted and not (one.old and one.old.accepted):
            yield _finding(study.head.study, one.new, "Accepted now")
    for study, one in every:
        if one.new is None and one.old is not None and study.is_seen(one.old):
            yield _finding(study.base.study, one.old, _gone(study, one.old))
    for study in changes.studies:
        for problem in study.fixed:
            yield item(study.head.study.id, f"Fixed: {problem.place}: {problem.found}")
    for study, one in every:
        told = one.new is None or (one.new.accepted and not (one.old and one.old.accepted))
        if one.new is not None and not told:
            now = "New note" if one.old is None else "Says something else"
            yield _finding(study.head.study, one.new, now)
