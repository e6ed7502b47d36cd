"""Whether what holds as printed may be chance alone, by the tests of the one grid that it is about.

Only a claim that compares cells of one grid, or says where its best cells lie, can be within noise.
No test of the study is about several grids together, or about the means, trends and counts that a
claim names; and what is compared with a number says what is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal

from gridatlas.assessment.uncertainty import GridUncertainty
from gridatlas.claims import tree
from gridatlas.claims.evaluation import Evaluation, parsed
from gridatlas.claims.judge import Judged
from gridatlas.claims.lookup import Scope
from gridatlas.model.study import Levels
from gridatlas.table.grids import Results

Kind = Literal["cells", "cell", "best", "ties", "number", "truths", "truth", "other"]
"""What a part of an expression is: cells of a grid, one of them, the best, how many are the best,
a number as it is written, truths per cell, one truth; `other` is what no test is about.
"""


def with_noise(
    claims: Iterable[Judged], results: Results, uncertainty_at: Callable[[Levels], GridUncertainty]
) -> tuple[Judged, ...]:
    """The claims, with `within_noise` where all cells of their grid may differ by chance alone.

    Args:
        uncertainty_at: Gives the tests of a grid; called only where a claim needs them.
    """
    return tuple(
        replace(claim, within_noise=True)
        if (levels := tested_grid(claim, results)) is not None and uncertainty_at(levels).alike
        else claim
        for claim in claims
    )


def tested_grid(claim: Judged, results: Results) -> Levels | None:
    """The one shown grid that a claim which holds is about; None where no test fits the claim."""
    expression = claim.entry.check
    if expression is None or claim.verdict is None or claim.verdict.outcome != "true":
        return None
    root = parsed(expression)
    if _kind(root) != "truth" or not any(_compares_cells(node) for node in tree.walk(root)):
        return None
    study = results.study.id
    evaluation = Evaluation(expression, Scope({study: results}, study, None))
    if evaluation.names_others:
        return None
    grids = {source.levels for grid in evaluation.grids() for source in grid.sources}
    return grids.pop() if len(grids) == 1 else None


def _compares_cells(node: tree.Node) -> bool:
    if isinstance(node, tree.CompareOp):
        return all(_kind(operand) in ("cells", "cell") for operand in node.operands)
    return isinstance(node, tree.Attribute) and node.name in ("all_at", "any_at")


def _kind(node: tree.Node) -> Kind:
    match node:
        case tree.GridCall():
            return "cells"
        case tree.Literal():
            return "number"
        case tree.Attribute():
            return _kind_of_attribute(node)
        case tree.CompareOp(operands=(left, right)):
            return _kind_of_comparison(_kind(left), node.operators[0], _kind(right))
        case tree.Logic():
            return "truth" if _kind(node.left) == _kind(node.right) == "truth" else "other"
        case tree.Not():
            return "truth" if _kind(node.of) == "truth" else "other"
    return "other"


def _kind_of_comparison(left: Kind, operator: str, right: Kind) -> Kind:
    sides = {left, right}
    if sides <= {"cells", "cell"}:
        return "truths" if "cells" in sides else "truth"
    # "The highest value is 52.0": what is printed, whatever its noise.
    says_what_is_printed = left in ("cell", "ties") and operator == "==" and right == "number"
    return "truth" if says_what_is_printed else "other"


def _kind_of_attribute(node: tree.Attribute) -> Kind:
    of, name = _kind(node.of), node.name
    if name in ("row", "column") or (name == "where" and not node.arguments):
        return of if of in ("cells", "truths") else "other"
    if name in ("and_", "or_", "not_"):
        return "truths" if {of, *map(_kind, node.arguments)} == {"truths"} else "other"
    kinds: dict[tuple[Kind, str], Kind] = {
        ("cells", "at"): "cell",
        ("cells", "best"): "best",
        ("best", "value"): "cell",
        ("best", "count"): "ties",
        ("best", "all_at"): "truth",
        ("best", "any_at"): "truth",
        ("truths", "all"): "truth",
        ("truths", "any"): "truth",
        ("truths", "at"): "truth",
    }
    return kinds.get((of, name), "other")
