"""A comparison as JSON, format 1: in words for who renders it, and cell by cell for programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from gridatlas.checks import Finding
from gridatlas.diff.cap import allot
from gridatlas.diff.changes import Changes, StudyChanges
from gridatlas.diff.claim_changes import outcome
from gridatlas.diff.coverage import LostCheck
from gridatlas.diff.grids import CellChange, GridChange
from gridatlas.diff.removed_readings import RemovedReading
from gridatlas.diff.report import Report, Section, line
from gridatlas.model.study import Cell

FORMAT = 1
LIMIT = 1_000_000
"""Bytes of the whole."""
SECTIONS_LIMIT = 400_000
"""Bytes of the sections."""
ENTRIES = (10_000, 2_000, 500, 100, 20, 0)
"""Entries of each list of a study; fewer are tried until the whole is short enough."""


def to_json(changes: Changes, report: Report, url: str = "") -> str:
    """Write a comparison as JSON of at most `LIMIT` bytes; lists say how many are left out."""
    sides = {
        "base": {"name": report.base, "commit": report.base_commit},
        "head": {"name": report.head, "commit": report.head_commit},
    }
    content: dict[str, Any] = {"format": FORMAT, "changed": report.changed, **sides}
    content |= {"url": url} if url else {}
    content |= {"summary": report.summary, "sections": _sections(report.sections)}
    text = ""
    for entries in ENTRIES:
        studies = [
            one for study in changes.studies[: entries or None] if (one := _study(study, entries))
        ]
        text = json.dumps(content | {"studies": studies if entries else []}, ensure_ascii=False)
        if len(text.encode()) <= LIMIT:
            break
    return f"{text}\n"


def _sections(sections: tuple[Section, ...]) -> list[dict[str, Any]]:
    written = [[asdict(item) for item in section.items] for section in sections]
    sizes = [
        [len(json.dumps(item, ensure_ascii=False).encode()) + 2 for item in items]
        for items in written
    ]
    kept = allot(sizes, SECTIONS_LIMIT)
    return [
        {
            "id": section.id,
            "title": section.title,
            "items": items[:number],
            "more": len(items) - number,
        }
        for section, items, number in zip(sections, written, kept, strict=True)
    ]


def _listed(entries: list[Any], limit: int) -> dict[str, Any]:
    return {"items": entries[:limit], "more": max(0, len(entries) - limit)}


def _study(study: StudyChanges, limit: int) -> dict[str, Any] | None:
    """A study in which something changed; None for one in which nothing did."""
    lists: dict[str, list[Any]] = {
        "grids": [_grid(one, limit) for one in study.grids.changed[:limit]],
        "grids_removed": [list(one.levels) for one in study.grids.removed],
        "grids_added": [list(one.levels) for one in study.grids.added],
        "levels_removed": [[factor.id, level.key] for factor, level in study.match.removed],
        "levels_added": [[factor.id, level.key] for factor, level in study.match.added],
        "renamed": [asdict(one) for one in (*study.match.renamed, *study.readings.renamed)],
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
            {"old": _finding(finding.old), "new": _finding(finding.new), "fails": finding.fails}
            for finding in study.findings
        ],
        "lost_checks": [_lost(check) for check in study.lost_checks],
        "readings_removed": [_removed(reading) for reading in study.removed_readings],
        "disagreements": [
            {
                "levels": list(disagreement.at[0]),
                "point": list(disagreement.at[1]),
                "old": _readings(disagreement.old),
                "new": _readings(disagreement.new),
            }
            for disagreement in study.readings.disagreements
        ],
        "texts": [
            {"what": line(text.what), "old": line(text.old), "new": line(text.new)}
            for text in study.texts
        ],
    }
    if not any(lists.values()):
        return None
    found: dict[str, Any] = {"id": study.head.study.id, "was": study.base.study.id}
    for key, entries in lists.items():
        found[key] = _listed(entries, limit)
    found["grids"]["more"] = max(0, len(study.grids.changed) - limit)
    return found


def _lost(check: LostCheck) -> dict[str, Any]:
    return {
        "kind": check.old.kind,
        "reading": check.old.reading,
        "grids": [list(levels) for levels in check.grids],
        "lost": check.lost,
        "tested": check.tested,
        "hidden": [_finding(finding) for finding in check.hidden],
    }


def _removed(removed: RemovedReading) -> dict[str, Any]:
    return {
        "id": removed.reading.id,
        "label": line(removed.reading.label),
        "cells_by_sources": {str(sources): cells for sources, cells in removed.sources},
        "statements": len(removed.statements),
        "disagreements": len(removed.disagreements),
        "findings": [_finding(finding) for finding in removed.findings],
    }


def _readings(one: Any) -> dict[str, str] | None:
    return None if one is None else {key: str(value) for key, value in one.values}


def _finding(one: Finding | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "kind": one.kind,
        "reading": one.reading,
        "levels": list(one.levels),
        "found": line(one.found),
        "accepted": one.accepted is not None,
        "severity": one.severity,
    }


def _grid(change: GridChange, limit: int) -> dict[str, Any]:
    best = change.best
    return {
        "levels": list(change.new.levels),
        "was": list(change.old.levels),
        "best": best
        and {
            "old": _best(best.old),
            "new": _best(best.new),
            "moved": best.moved,
            "told_apart": best.differs,
            "test": best.test or best.reason,
        },
        "cells": _listed([_cell(cell) for cell in change.cells[:limit]], limit)
        | {"more": max(0, len(change.cells) - limit)},
    }


def _best(summary: Any) -> dict[str, Any] | None:
    if summary is None:
        return None
    cells = [[x.key, y.key] for x, y in summary.best]
    return {"value": str(summary.best_value), "cells": cells[:100]}


def _cell(one: CellChange) -> dict[str, Any]:
    told = one.told
    return {
        "point": list(one.point),
        "kind": one.kind,
        "old": _side(one.old, one.old_interval),
        "new": _side(one.new, one.new_interval),
        "told_apart": told and told.differs,
        "p": told and told.p,
        "interval": told and told.interval and list(told.interval),
        "n": told and told.n and list(told.n),
        "test": told and (told.test or f"not testable: {told.reason}"),
    }


def _side(cell: Cell, interval: Any) -> dict[str, Any]:
    value = None if cell.value is None else str(cell.value)
    return {"value": value, "state": cell.state, "interval": interval and list(interval)}
