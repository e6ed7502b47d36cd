"""The report of all changes: its sections in the order of what matters to a reviewer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from gridatlas.diff.best import best_entries
from gridatlas.diff.changes import Changes
from gridatlas.diff.checks import check_entries, other_finding_entries, problem_entries
from gridatlas.diff.claims import claim_entries, other_claim_entries
from gridatlas.diff.grids import cell_entries, significance_counts
from gridatlas.diff.readings import (
    disagreement_entries,
    losses,
    removed_entries,
    source_entries,
)
from gridatlas.diff.report import Entry, Report, Section, grids_text, line
from gridatlas.diff.structure import rename_entries, structure_entries, text_entries
from gridatlas.model.format import is_are, many

SECTIONS: tuple[tuple[str, str, Callable[[Changes], Iterable[Entry]]], ...] = (
    ("readings-removed", "Readings that were removed", removed_entries),
    ("problems", "Problems in the data", problem_entries),
    ("claims", "Claims that flipped, are recorded otherwise, or were removed", claim_entries),
    ("checks", "Checks that newly fail, fail otherwise, or are no longer made", check_entries),
    ("best", "Best cells that changed", best_entries),
    ("readings", "Cells on which readings disagree", disagreement_entries),
    ("cells", "Changed values", cell_entries),
    ("claims-other", "Claims that are new or changed otherwise", other_claim_entries),
    ("structure", "Added, removed, or measured otherwise", structure_entries),
    ("findings", "Other findings: accepted, notes, and gone", other_finding_entries),
    ("renames", "The same under another name", rename_entries),
    ("sources", "Readings whose cells changed", source_entries),
    ("texts", "Texts, labels and notes", text_entries),
)
"""Id, title and entries of each section, the most important first."""


def make_report(changes: Changes) -> Report:
    """Put changes in words; sections without an entry are left out."""
    found = ((key, title, tuple(entries(changes))) for key, title, entries in SECTIONS)
    sections = tuple(Section(*section) for section in found if section[2])
    base, head = changes.base, changes.head
    return Report(
        line(base.name),
        base.commit,
        line(head.name),
        head.commit,
        _summary(changes, sections),
        sections,
    )


def _summary(changes: Changes, sections: tuple[Section, ...]) -> str:
    """What changed, in one or two sentences."""
    if not sections:
        studies = many(len(changes.studies), "study", "studies")
        grids = [grid for study in changes.studies for grid in study.head.results.grids.values()]
        return (
            f"Nothing changed: {studies} with {grids_text(grids)} are the same on both sides, with "
            "their claims, checks and texts."
        )
    sizes = {section.id: len(section.entries) for section in sections}
    parts = [*_parts(changes, sizes)]
    if changes.base.empty:
        parts[:1] = [f"{changes.base.empty}, so all results are new: {parts[0]}"]
    titles = (f"{section.title[0].lower()}{section.title[1:]}" for section in sections)
    counted = (f"{title} ({size:,})" for title, size in zip(titles, sizes.values(), strict=True))
    text = "; ".join(parts) or f"Only this changed: {', '.join(counted)}"
    return f"{text[0].upper()}{text[1:]}."


def _parts(changes: Changes, sizes: dict[str, int]) -> Iterator[str]:
    """What changed, a kind at a time.

    Args:
        sizes: Number of entries of each section that has any, by its id.
    """
    if "readings-removed" in sizes:
        removed = [reading for study in changes.studies for reading in study.removed_readings]
        lost = ", ".join(losses(removed))
        yield f"{many(len(removed), 'reading')} removed" + (f" ({lost})" if lost else "")
    if "problems" in sizes:
        yield f"{many(sizes['problems'], 'problem')} in the data"
    yield from _claims(changes)
    yield from _checks(changes, sizes.get("checks", 0))
    yield from _cells(changes)
    if "best" in sizes:
        yield f"another best cell or value in {many(sizes['best'], 'grid')}"
    disagreements = [
        change for study in changes.studies for change in study.own_disagreements if change.new
    ]
    if disagreements:
        yield f"readings disagree newly or otherwise on {many(len(disagreements), 'cell')}"
    matches = [study.match for study in changes.studies]
    for number, noun, plural, verb in (
        (len(changes.added), "study", "studies", "added"),
        (len(changes.removed), "study", "studies", "removed"),
        (sum(len(match.added) for match in matches), "level", "levels", "added"),
        (sum(len(match.removed) for match in matches), "level", "levels", "removed"),
    ):
        if number:
            yield f"{many(number, noun, plural)} {verb}"
    if "renames" in sizes:
        yield f"{sizes['renames']:,} renamed"


def _claims(changes: Changes) -> Iterator[str]:
    claims = [claim for study in changes.studies for claim in study.own_claims]
    flipped = sum(claim.flipped for claim in claims)
    wrong = sum(claim.newly_wrong and not claim.flipped for claim in claims)
    removed = sum(claim.new is None for claim in claims)
    if flipped:
        yield f"{many(flipped, 'claim')} flipped"
    if wrong:
        yield f"{many(wrong, 'claim')} {is_are(wrong)} not as recorded"
    if removed:
        yield f"{many(removed, 'claim')} removed"


def _checks(changes: Changes, entries: int) -> Iterator[str]:
    findings = [change for study in changes.studies for change in study.findings]
    new = sum(change.newly_fails for change in findings)
    lost = sum(len(study.lost_checks) for study in changes.studies)
    other = entries - new - lost
    if new:
        yield f"{many(new, 'check')} newly {'fails' if new == 1 else 'fail'}"
    if other:
        yield f"{many(other, 'check')} {'says' if other == 1 else 'say'} something else"
    if lost:
        yield f"{many(lost, 'check')} {'covers' if lost == 1 else 'cover'} less than before"


def _cells(changes: Changes) -> Iterator[str]:
    by_grid = [
        [cell for cell in grid.cells if cell.kind != "trials"]
        for study in changes.studies
        for grid in study.grids.changed
    ]
    cells = [cell for grid in by_grid for cell in grid]
    if cells:
        grids = many(sum(map(bool, by_grid)), "grid")
        yield f"{many(len(cells), 'cell')} changed in {grids}{significance_counts(cells)}"
