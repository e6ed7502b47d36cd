"""The proposal as JSON: for scripts, and for tests of what is proposed."""

from __future__ import annotations

import json
from typing import Any

from gridatlas.importing.choose import Choice
from gridatlas.importing.propose import Proposal
from gridatlas.importing.rows import CannotImport, SeveralProblems


def proposal_json(proposal: Proposal) -> dict[str, Any]:
    """The roles of columns, and what becomes of the rows."""
    beside = "±" if proposal.spread[0] == proposal.metric else proposal.spread[0]
    spread = [name for name in (proposal.counts.get("stderr"), beside) if name]
    # Whatever headings that became levels are called on the pages.
    is_single = proposal.table.wide and len(proposal.headings) == 1
    called = {proposal.headings[0]: "columns"} if is_single else {}
    return {
        "x": called.get(proposal.x, proposal.x),
        "y": proposal.y or None,
        "metric": proposal.metric,
        "better": proposal.about.better,
        "facets": [called.get(facet, facet) for facet in proposal.facets],
        "repeats": [*proposal.repeats],
        "only": dict(proposal.keep),
        "columns": [*proposal.table.wide] or None,
        "state": proposal.state or None,
        "spread": spread,
        "ignored": [role.column for role in proposal.roles if role.role == "not read"],
        "rows": len(proposal.table.places) + len(proposal.table.reported) + len(proposal.left),
        "cells": proposal.cells,
        "collisions": proposal.collisions,
        "density": round(proposal.density, 3),
        "reasons": {role.column: role.why for role in proposal.roles},
    }


def choice_json(choice: Choice) -> str:
    """A proposal, or candidates without one."""
    if choice.proposal is not None:
        return _text({**proposal_json(choice.proposal), "candidates": []})
    empty = dict.fromkeys(("x", "y", "metric", "better"))
    candidates = [proposal_json(candidate) for candidate in choice.candidates]
    return _text({**empty, "question": choice.question, "candidates": candidates})


def refusal_json(error: CannotImport) -> str:
    """Why nothing is proposed, and what to do."""
    problems = error.problems if isinstance(error, SeveralProblems) else (error,)
    reasons = (
        f"{problem.found}; expected: {problem.expected}; fix: {problem.fix}" for problem in problems
    )
    return _text({"refused": " ".join(reasons)})


def _text(tree: Any) -> str:
    return json.dumps(tree, ensure_ascii=False, indent=2)
