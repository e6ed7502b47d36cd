"""A comparison in one or two sentences."""

from __future__ import annotations

from collections.abc import Iterator

from gridatlas.diff.changes import Changes
from gridatlas.diff.removed_items import losses
from gridatlas.diff.report import Section
from gridatlas.diff.wording import (
    apart,
    count,
    grids_text,
)


def summary(changes: Changes, sections: list[Section]) -> str:
    """What changed, in one or two sentences."""
    if not sections:
        studies = count(len(changes.studies), "study", "studies")
        grids = [grid for study in changes.studies for grid in study.head.results.grids.values()]
        return (
            f"Nothing changed: {studies} with {grids_text(grids)} are the same on both sides, with "
            "their claims, checks and texts."
        )
    sizes = {section.id: len(section.items) for section in sections}
    parts = []
    if "readings-removed" in sizes:
        gone = tuple(reading for study in changes.studies for reading in study.removed_readings)
        lost = ", ".join(losses(gone))
        parts.append(f"{count(len(gone), 'reading')} removed" + (f" ({lost})" if lost else ""))
    if "problems" in sizes:
        parts.append(f"{count(sizes['problems'], 'problem')} in the data")
    parts += _claims_summed(changes)
    findings = [finding for study in changes.studies for finding in study.findings]
    newly = sum(finding.newly_fails for finding in findings)
    lost_checks = sum(len(study.lost_checks) for study in changes.studies)
    still = sizes.get("checks", 0) - newly - lost_checks
    if newly:
        parts.append(f"{count(newly, 'check')} newly {'fails' if newly == 1 else 'fail'}")
    if still:
        parts.append(f"{count(still, 'check')} {'says' if still == 1 else 'say'} something else")
    if lost_checks:
        covers = "covers" if lost_checks == 1 else "cover"
        parts.append(f"{count(lost_checks, 'check')} {covers} less than before")
    parts += _cells_summed(changes)
    if "best" in sizes:
        parts.append(f"another best cell or value in {count(sizes['best'], 'grid')}")
    now = [
        disagreement
        for study in changes.studies
        for disagreement in study.own_disagreements
        if disagreement.new
    ]
    if now:
        parts.append(f"readings disagree newly or otherwise on {count(len(now), 'cell')}")
    matches = [study.match for study in changes.studies]
    for number, what, more, done in (
        (len(changes.added), "study", "studies", "added"),
        (len(changes.removed), "study", "studies", "removed"),
        (sum(len(match.added) for match in matches), "level", "levels", "added"),
        (sum(len(match.removed) for match in matches), "level", "levels", "removed"),
    ):
        if number:
            parts.append(f"{count(number, what, more)} {done}")
    if "renames" in sizes:
        parts.append(f"{sizes['renames']:,} renamed")
    if changes.base.empty:
        parts[:1] = [f"{changes.base.empty}, so all results are new: {parts[0]}"]
    text = "; ".join(parts) or f"Only this changed: {', '.join(map(_inline, sections))}"
    return f"{text[0].upper()}{text[1:]}."


def _inline(section: Section) -> str:
    title = f"{section.title[0].lower()}{section.title[1:]}"
    return f"{title} ({len(section.items):,})"


def _claims_summed(changes: Changes) -> Iterator[str]:
    claims = [claim for study in changes.studies for claim in study.own_claims]
    flipped = sum(claim.flipped for claim in claims)
    wrong_now = sum(claim.newly_wrong and not claim.flipped for claim in claims)
    removed = sum(claim.new is None for claim in claims)
    if flipped:
        yield f"{count(flipped, 'claim')} flipped"
    if wrong_now:
        yield f"{count(wrong_now, 'claim')} {'is' if wrong_now == 1 else 'are'} not as recorded"
    if removed:
        yield f"{count(removed, 'claim')} removed"


def _cells_summed(changes: Changes) -> Iterator[str]:
    grids = [grid for study in changes.studies for grid in study.grids.changed]
    touched = [[cell for cell in grid.cells if cell.kind != "trials"] for grid in grids]
    cells = [one for of in touched for one in of]
    if not cells:
        return
    text = f"{count(len(cells), 'cell')} changed in {count(sum(map(bool, touched)), 'grid')}"
    yield text + apart(cells)
