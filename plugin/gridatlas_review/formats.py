"""The report as JSON, and how a report that is too long is truncated.

`markdown` and `pages.changes` write its Markdown and its HTML.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from gridatlas.assessment.agreement import Disagreement
from gridatlas.assessment.uncertainty import Ends
from gridatlas.checks import Finding
from gridatlas.model.study import Cell
from gridatlas.table.summary import Summary
from gridatlas_review.changes import Changes, LostCheck, RemovedReading, StudyChanges, outcome
from gridatlas_review.grids import CellChange, GridChange
from gridatlas_review.matching import Rename
from gridatlas_review.report import Report, Section, line

JSON_FORMAT = 1
JSON_LIMIT = 1_000_000
"""Bytes of JSON."""
JSON_SECTIONS_LIMIT = 400_000
"""Bytes of the sections in it."""
MAX_LISTED = (10_000, 2_000, 500, 100, 20, 0)
"""Entries of each list of a study in it; fewer are tried until the whole is short enough."""
MAX_BEST_CELLS = 100
"""Best cells of a grid in it."""
FIRST_ENTRIES = 2_500
"""Bytes for a section's first entries, before the important sections take the rest."""


def truncate_sections(sizes: Sequence[Sequence[int]], budget: int) -> list[int]:
    """Number of entries per section, from its first on, that fit without starving a section.

    Each section gets its first entries as far as `FIRST_ENTRIES` goes (less, where there are too
    many sections for that), then the sections take what is left in their order.

    Args:
        sizes: Bytes of each entry of each section, the most important section first.
        budget: Bytes for all entries together.
    """
    numbers = [0] * len(sizes)
    share = min(FIRST_ENTRIES, budget // len(sizes)) if sizes else 0
    left = budget
    for limit in (share, budget):
        for index, section in enumerate(sizes):
            room = min(left, limit)
            while numbers[index] < len(section) and section[numbers[index]] <= room:
                room -= section[numbers[index]]
                left -= section[numbers[index]]
                numbers[index] += 1
    return numbers


# --- JSON ---------------------------------------------------------------------------------------


def to_json(changes: Changes, report: Report, url: str = "") -> str:
    """Write changes as JSON: in words for who renders them, and cell by cell for programs.

    Args:
        url: Address of the built site; empty for none.

    Returns:
        At most `JSON_LIMIT` bytes; lists say how many of their entries are left out.
    """
    content: dict[str, Any] = {
        "format": JSON_FORMAT,
        "changed": report.changed,
        "base": {"name": report.base, "commit": report.base_commit},
        "head": {"name": report.head, "commit": report.head_commit},
    }
    content |= {"url": url} if url else {}
    content |= {
        "summary": report.summary,
        "needs_attention": report.needs_attention,
        "leads": [asdict(lead) for lead in report.leads],
        "more": report.more,
        "titles": dict(report.titles),
        "sections": _sections_json(report.sections),
    }
    text = ""
    for limit in MAX_LISTED:
        studies = [_study_json(study, limit) for study in changes.studies[: limit or None]]
        content["studies"] = [study for study in studies if study] if limit else []
        text = json.dumps(content, ensure_ascii=False)
        if len(text.encode()) <= JSON_LIMIT:
            break
    return f"{text}\n"


def _sections_json(sections: tuple[Section, ...]) -> list[dict[str, Any]]:
    written = [[asdict(entry) for entry in section.entries] for section in sections]
    sizes = [
        [len(json.dumps(entry, ensure_ascii=False).encode()) + 2 for entry in entries]
        for entries in written
    ]
    numbers = truncate_sections(sizes, JSON_SECTIONS_LIMIT)
    return [
        {"id": section.id, "title": section.title, "gist": section.gist}
        | _truncated(entries, number)
        for section, entries, number in zip(sections, written, numbers, strict=True)
    ]


def _truncated(entries: Sequence[Any], limit: int, total: int = 0) -> dict[str, Any]:
    """A list of at most so many entries, and how many more there are."""
    more = max(0, (total or len(entries)) - limit)
    return {"items": list(entries[:limit]), "more": more}


def _study_json(study: StudyChanges, limit: int) -> dict[str, Any] | None:
    """A study in which something changed; None for one in which nothing did."""
    grids = study.grids
    lists: dict[str, list[Any]] = {
        "grids": [_grid_json(grid, limit) for grid in grids.changed[:limit]],
        "grids_removed": [grid.levels for grid in grids.removed],
        "grids_added": [grid.levels for grid in grids.added],
        "levels_removed": [(factor.id, level.key) for factor, level in study.match.removed],
        "levels_added": [(factor.id, level.key) for factor, level in study.match.added],
        "renamed": [
            _rename_json(rename) for rename in (*study.match.renamed, *study.readings.renamed)
        ],
        "claims": [
            {
                "text": line(claim.new.entry.text if claim.new else claim.old.entry.text),  # type: ignore[union-attr]
                "old": claim.old and outcome(claim.old),
                "new": claim.new and outcome(claim.new),
                "flipped": claim.flipped,
                "newly_wrong": claim.newly_wrong,
            }
            for claim in study.claims
        ],
        "findings": [
            {
                "old": _finding_json(change.old),
                "new": _finding_json(change.new),
                "fails": change.fails,
            }
            for change in study.findings
        ],
        "lost_checks": [_lost_check_json(check) for check in study.lost_checks],
        "readings_removed": [_removed_json(reading) for reading in study.removed_readings],
        "disagreements": [
            {
                "levels": change.place[0],
                "point": change.place[1],
                "old": _disagreement_json(change.old),
                "new": _disagreement_json(change.new),
            }
            for change in study.readings.disagreements
        ],
        "texts": [
            {"what": line(change.name), "old": line(change.old), "new": line(change.new)}
            for change in study.properties
        ],
    }
    if not any(lists.values()):
        return None
    content: dict[str, Any] = {"id": study.id, "was": study.base.study.id}
    content |= {key: _truncated(entries, limit) for key, entries in lists.items()}
    content["grids"] = _truncated(lists["grids"], limit, len(grids.changed))
    return content


def _rename_json(rename: Rename) -> dict[str, Any]:
    return {
        "kind": rename.kind,
        "of": rename.factor,
        "old": rename.old,
        "new": rename.new,
        "equal": rename.equal,
        "cells": rename.cells,
        "said": rename.declared,
    }


def _lost_check_json(check: LostCheck) -> dict[str, Any]:
    return {
        "kind": check.kind,
        "reading": check.reading,
        "grids": check.grids,
    }


def _removed_json(removed: RemovedReading) -> dict[str, Any]:
    return {
        "id": removed.reading.id,
        "label": line(removed.reading.label),
        "cells_by_sources": {str(sources): cells for sources, cells in removed.sources},
        "statements": len(removed.statements),
        "disagreements": len(removed.disagreements),
        "findings": [_finding_json(finding) for finding in removed.findings],
    }


def _disagreement_json(disagreement: Disagreement | None) -> dict[str, str] | None:
    if disagreement is None:
        return None
    return {reading: str(value) for reading, value in disagreement.values}


def _finding_json(finding: Finding | None) -> dict[str, Any] | None:
    if finding is None:
        return None
    return {
        "kind": finding.kind,
        "reading": finding.reading,
        "levels": finding.levels,
        "found": line(finding.found),
        "accepted": finding.accepted is not None,
        "severity": finding.severity,
    }


def _grid_json(change: GridChange, limit: int) -> dict[str, Any]:
    best = change.best
    cells = [_cell_change_json(cell) for cell in change.cells[:limit]]
    return {
        "levels": change.new.levels,
        "was": change.old.levels,
        "best": best
        and {
            "old": _best_json(best.old),
            "new": _best_json(best.new),
            "moved": best.moved,
            "told_apart": best.significant,
            "test": best.method or best.reason,
        },
        "cells": _truncated(cells, limit, len(change.cells)),
    }


def _best_json(summary: Summary | None) -> dict[str, Any] | None:
    if summary is None:
        return None
    cells = [(x.key, y.key) for x, y in summary.best[:MAX_BEST_CELLS]]
    return {"value": str(summary.best_value), "cells": cells}


def _cell_change_json(change: CellChange) -> dict[str, Any]:
    test = change.significance
    return {
        "point": change.point,
        "kind": change.kind,
        "old": _cell_json(change.old, change.old_interval),
        "new": _cell_json(change.new, change.new_interval),
        "told_apart": test and test.significant,
        "p": test and test.p,
        "interval": test and test.interval,
        "n": test and test.n,
        "test": test and (test.method or f"not testable: {test.reason}"),
    }


def _cell_json(cell: Cell, interval: Ends | None) -> dict[str, Any]:
    value = None if cell.value is None else str(cell.value)
    return {"value": value, "state": cell.state, "interval": interval}
