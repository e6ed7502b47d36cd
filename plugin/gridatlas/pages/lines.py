"""What the four lines below an answer are made of: numbers, and sentences of the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from gridatlas.analysis.said import Answer
from gridatlas.assessment.assessment import Assessment
from gridatlas.model.format import many
from gridatlas.model.study import Study
from gridatlas.pages import words
from gridatlas.pages.trust import Trust
from gridatlas.table.study_table import Grid

LEAD = 45
"""Words of a lead."""
EDGE = "may lie beyond"
"""In the sentence that says that the best is the last level that was tried."""
NEEDED = "Not shown without"
"""Begins the sentence that names the benchmarks or seeds that an answer needs."""
WIDER = "For other questions"
"""Begins the sentence with the intervals for a wider scope than the answer's."""
NOTE = 20
"""Words of a study's note up to which it is a doubt of its own."""
DOUBTS = 2
_STEPS = (5, 2, 1)


def lines_of(assessment: Assessment, grids: Sequence[Grid], answer: Answer) -> dict[str, Any]:
    """The facts of a page.

    Returns:
        `lead` (sentences), `chance` (1 in so many, of a clear answer), `cell` (the lowest and the
        highest of half the width of the cells' intervals; empty where unknown), `edge` (a sentence,
        or empty), `at_edge` (whether another best lies there), `failed` (cells whose runs failed),
        `repeats` (how often the experiment was made), `blocks` (tests that a mean is of).
    """
    study = assessment.study
    edge = next((line for line in answer.evidence if EDGE in line), "")
    reason = answer.evidence[:1] if answer.grade == "untestable" else ()
    levels = {
        role: sum(
            len([level for level in factor.levels if not level.aggregate])
            for factor in (*study.varied, *study.facets)
            if study.roles.get(factor.id) == role
        )
        for role in ("replicate", "block")
    }
    columns = [grid.columns for grid in grids]
    repeated = [int(of.repeats[of.value.defined].max(initial=1)) for of in columns]
    return {
        "lead": _lead([line for line in answer.evidence if line not in (edge, *reason)]),
        "chance": _one_in(answer.p),
        "cell": _of_cells(assessment, grids),
        "edge": edge,
        "at_edge": any("the edge of the grid" in line for line in answer.evidence),
        "failed": sum(cell.state in ("failed", "oom") for of in columns for cell in of),
        "repeats": max([levels["replicate"], *repeated]),
        "blocks": max(levels["block"], 1),
    }


def doubts_of(study: Study, answer: Answer, lines: dict[str, Any], trust: Trust) -> list[str]:
    """What could overturn an answer: the first two that apply, and what was checked and can't.

    Args:
        lines: What `lines_of` gives.
    """
    second, again, note = trust.second.cells, trust.again, study.source and study.source.note
    differ = words.REJECTED_DIFFERS if trust.second.against else words.READINGS_DIFFER
    read_once = not second.of and (trust.machine_made or study.source) and not trust.measured
    applies: tuple[tuple[Any, str], ...] = (
        (answer.grade == "reading-dependent", words.ANOTHER_READING),
        (lines["edge"], lines["edge"]),
        (lines["at_edge"] and not lines["edge"], words.AT_EDGE),
        *((answer.asserts, line) for line in answer.evidence if line.startswith((NEEDED, WIDER))),
        (second.failed, differ.format(failed=second.failed, cells=many(second.of, "cell"))),
        (lines["failed"], words.RUNS_FAILED.format(cells=many(lines["failed"], "cell"))),
        (read_once, words.READ_ONCE),
        (not (again and again.measured), words.MEASURED_ONCE),
        (note and len(note.split()) <= NOTE, note or ""),
    )  # fmt: skip
    found = [text for holds, text in applies if holds][:DOUBTS]
    inner = "" if lines["edge"] or lines["at_edge"] else _inner(study, answer)
    return [*found, words.NOT_AT_EDGE.format(level=inner)] if inner else found


def _inner(study: Study, answer: Answer) -> str:
    """The level that an answer asserts as the best, within the levels of an axis of numbers."""
    for stated in answer.assertions:
        axis = next((axis for axis in study.varied if axis.id == stated.factor), None)
        if stated.kind not in ("level", "peak") or axis is None or len(axis.levels) < 3:
            continue
        labels = [level.label for level in axis.levels if level.number is not None]
        if len(labels) == len(axis.levels) and stated.levels[0] in labels[1:-1]:
            return f"{axis.label} {stated.levels[0]}"
    return ""


def _lead(evidence: Sequence[str]) -> list[str]:
    """The first sentences, but for those that are too long: these are in Statistics."""
    lead: list[str] = []
    for line in evidence[:3]:
        if len(" ".join([*lead, line]).split()) <= LEAD:
            lead.append(line)
    return lead


def opening(text: str) -> str:
    """The first sentences of a text, of as many words as a lead may have; at least one."""
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z])", text)
    while len(sentences) > 1 and len(" ".join(sentences).split()) > LEAD:
        sentences.pop()
    return " ".join(sentences)


def _one_in(p: float) -> int:
    """1/p, rounded down to 1, 2 or 5 times a power of ten; at most a million."""
    if not 0 < p < 1:
        return 10**6
    inverse = min(1 / p, 1e6)
    power: int = 10 ** int(np.log10(inverse) + 1e-9)
    return next(step * power for step in _STEPS if step * power <= inverse * (1 + 1e-9))


def _of_cells(assessment: Assessment, grids: Sequence[Grid]) -> tuple[float, float] | tuple[()]:
    halves = [np.diff(assessment.uncertainty.of(grid).ends, axis=-1).ravel() / 2 for grid in grids]
    found = np.concatenate(halves) if halves else np.zeros(0)
    found = found[np.isfinite(found)]
    return (float(found.min()), float(found.max())) if len(found) else ()
