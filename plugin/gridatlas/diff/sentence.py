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
        grids = [grid for one in changes.studies for grid in one.head.results.grids.values()]
        return (
            f"Nothing changed: {studies} with {grids_text(grids)} are the same on both sides, with "
            "their claims, checks and texts."
        )
    sizes = {one.id: len(one.items) for one in sections}
    parts = []
    if "readings-removed" in sizes:
        gone = tuple(one for study in changes.studies for one in study.removed_readings)
        lost = ", ".join(losses(gone))
        parts.append(f"{count(len(gone), 'reading')} removed" + (f" ({lost})" if lost else ""))
    if "problems" in sizes:
        parts.append(f"{count(sizes['problems'], 'problem')} in the data")
    parts += _claims_summed(changes)
    findings = [one for study in changes.studies for one in study.findings]
    newly = sum(one.newly_fails for one in findings)
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
    now = [one for study in changes.studies for one in study.own_disagreements if one.new]
    if now:
        parts.append(f"readings disagree newly or otherwise on {count(len(now), 'cell')}")
    matches = [one.match for one in changes.studies]
    for number, what, more, done in (
        (len(changes.added), "study", "studies", "added"),
        (len(changes.removed), "study", "studies", "removed"),
        (sum(len(one.added) for one in matches), "level", "levels", "added"),
        (sum(len(one.removed) for one in matches), "level", "levels", "removed"),
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
    claims = [claim for one in changes.studies for claim in one.own_claims]
    flipped = sum(one.flipped for one in claims)
    wrong_now = sum(one.newly_wrong and not one.flipped for one in claims)
    removed = sum(one.new is None for one in claims)
    if flipped:
        yield f"{count(flipped, 'claim')} flipped"
    if wrong_now:
        yield f"{count(wrong_now, 'claim')} {'is' if wrong_now == 1 else 'are'} not as recorded"
    if removed:
        yield f"{count(removed, 'claim')} removed"


def _cells_summed(changes: Changes) -> Iterator[str]:
    grids = [grid for one in changes.studies for grid in one.grids.changed]
    touched = [[one for one in grid.cells if one.kind != "trials"] for grid in grids]
    cells = [one for of in touched for one in of]
    if not cells:
        return
    text = f"{count(len(cells), 'cell')} changed in {count(sum(map(bool, touched)), 'grid')}"
    yield text + apart(cells)
