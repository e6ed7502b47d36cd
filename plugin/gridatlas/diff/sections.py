"""A comparison in sections, in the order of what matters to who reviews it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gridatlas.diff.changes import Changes
from gridatlas.diff.check_items import checks, other_findings
from gridatlas.diff.claim_items import claims, other_claims
from gridatlas.diff.problem_items import problems
from gridatlas.diff.reading_items import disagreements, sources
from gridatlas.diff.removed_items import removed
from gridatlas.diff.report import Item, Report, Section, line
from gridatlas.diff.sentence import summary
from gridatlas.diff.structure_items import renames, structure, texts
from gridatlas.diff.value_items import best, cells


def report(changes: Changes) -> Report:
    """Put a comparison in words; sections without an item are left out."""
    makers: tuple[tuple[str, str, Callable[[Changes], Iterable[Item]]], ...] = (
        ("readings-removed", "Readings that were removed", removed),
        ("problems", "Problems in the data", problems),
        ("claims", "Claims that flipped, are recorded otherwise, or were removed", claims),
        ("checks", "Checks that newly fail, fail otherwise, or are no longer made", checks),
        ("best", "Best cells that changed", best),
        ("readings", "Cells on which readings disagree", disagreements),
        ("cells", "Changed values", cells),
        ("claims-other", "Claims that are new or changed otherwise", other_claims),
        ("structure", "Added, removed, or measured otherwise", structure),
        ("findings", "Other findings: accepted, notes, and gone", other_findings),
        ("renames", "The same under another name", renames),
        ("sources", "Readings whose cells changed", sources),
        ("texts", "Texts, labels and notes", texts),
    )
    sections = []
    for section_id, title, make in makers:
        items = tuple(make(changes))
        if items:
            sections.append(Section(section_id, title, items))
    sides = (changes.base.name, changes.base.commit), (changes.head.name, changes.head.commit)
    (base, base_commit), (head, head_commit) = sides
    return Report(
        line(base), base_commit, line(head), head_commit, summary(changes, sections),
        tuple(sections),
    )  # fmt: skip
