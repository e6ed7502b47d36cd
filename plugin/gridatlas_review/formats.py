"""The report as JSON, and how a report that is too long is truncated.

`markdown` and `pages.changes` write its Markdown and its HTML.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from gridatlas.assessment.uncertainty import Ends
from gridatlas.model.study import Cell
from gridatlas_review.changes import Changes, StudyChanges
from gridatlas_review.grids import CellChange, GridChange
from gridatlas_review.report import BAD, Report, Section

JSON_FORMAT = 1
JSON_LIMIT = 1_000_000
"""Bytes of JSON."""
JSON_SECTIONS_LIMIT = 400_000
"""Bytes of the sections in it."""
MAX_LISTED = (10_000, 2_000, 500, 100, 20, 0)
"""Entries of each list of a study in it; fewer are tried until the whole is short enough."""
MAX_ROWS = 500
"""Rows of the verdict in it."""
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
        "mark": report.mark,
        "needs_attention": report.mark == BAD,
        "rows": [asdict(row) | {"gates": sorted(row.gates)} for row in report.rows[:MAX_ROWS]],
        "points": report.points,
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
        {"id": section.id, "title": section.title} | _truncated(entries, number)
        for section, entries, number in zip(sections, written, numbers, strict=True)
    ]


def _truncated(entries: Sequence[Any], limit: int, total: int = 0) -> dict[str, Any]:
    """A list of at most so many entries, and how many more there are."""
    more = max(0, (total or len(entries)) - limit)
    return {"items": list(entries[:limit]), "more": more}


def _study_json(study: StudyChanges, limit: int) -> dict[str, Any] | None:
    """The changed cells of a study; None for one without."""
    grids = study.grids.changed
    if not grids:
        return None
    cells = [_grid_json(grid, limit) for grid in grids[:limit]]
    return {
        "id": study.id,
        "was": study.base.study.id,
        "grids": _truncated(cells, limit, len(grids)),
    }


def _grid_json(change: GridChange, limit: int) -> dict[str, Any]:
    cells = [_cell_change_json(cell) for cell in change.cells[:limit]]
    return {
        "levels": change.new.levels,
        "was": change.old.levels,
        "cells": _truncated(cells, limit, len(change.cells)),
    }


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
