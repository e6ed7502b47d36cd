"""Whether an expression is true, or which number it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from gridatlas.claims import tree
from gridatlas.claims.evaluation import Evaluation
from gridatlas.claims.grids import Extreme, Truths
from gridatlas.claims.lookup import Given, Scope
from gridatlas.claims.names import kind_of
from gridatlas.claims.places import Place
from gridatlas.claims.tree import ClaimError
from gridatlas.claims.values import CellNames, Number, Truth
from gridatlas.results.grids import Results

Outcome = Literal["true", "false", "undecidable"]

_OUTCOMES: Mapping[bool | None, Outcome] = {True: "true", False: "false", None: "undecidable"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an expression comes to.

    Attributes:
        places: The cells that decide it: those that make an `.all` false or an `.any` true, or
            those that have the compared numbers; none where no single cell decides.
        reason: Why it is undecidable: which cells are absent. Empty otherwise.
        given: Where it is judged on a part of the cells: on how many of how many per grid.
    """

    outcome: Outcome
    places: tuple[Place, ...] = ()
    reason: str = ""
    given: tuple[int, int] | None = None

    @property
    def counterexamples(self) -> tuple[Place, ...]:
        """The cells that make it false; none for another outcome."""
        return self.places if self.outcome == "false" else ()


def evaluate(
    expression: str, studies: Mapping[str, Results], study: str | None, reading: str | None = None
) -> Verdict:
    """Whether an expression is true.

    Args:
        studies: All studies by their ids.
        study: Id of the study that `grid()` means where the expression names none.
        reading: Id of the reading of that study that `grid()` takes; None for the shown grids.

    Raises:
        ClaimError: For an expression that isn't right, or isn't true or false.
    """
    return _verdict(Evaluation(expression, Scope(studies, study, reading)))


def evaluate_given(
    expression: str, studies: Mapping[str, Results], study: str, reading: str
) -> Verdict:
    """As `evaluate` on a reading; where absent cells leave it open, on the cells that it has.

    These are the points at which the reading gives a value in every grid that is named, so that
    no grid is held against other cells than another. The verdict says how many they are. What
    names another study or a reading is left as it is.

    Raises:
        ClaimError: As `evaluate`.
    """
    scope = Scope(studies, study, reading)
    evaluation = Evaluation(expression, scope)
    verdict = _verdict(evaluation)
    if verdict.outcome != "undecidable" or evaluation.names_others:
        return verdict
    grids = evaluation.grids()
    there = [{at for at, value in grid.values.items() if value is not None} for grid in grids]
    points = set.intersection(*there) if there else set()
    of = len(grids[0].values) if grids else 0
    if not points or len(points) == of:
        return verdict
    found = _verdict(Evaluation(expression, replace(scope, given=Given(points, of))))
    return found if found.outcome == "undecidable" else replace(found, given=(len(points), of))


def _verdict(evaluation: Evaluation) -> Verdict:
    value, expression = evaluation.result(), evaluation.expression
    if isinstance(value, Truth):
        return Verdict(_OUTCOMES[value.value], value.places, "; ".join(value.why))
    expected, example = "a comparison", "grid(...).mean > 50"
    if isinstance(value, Truths):
        expected = ".all or .any after it, or another way to sum it up"
        example = "(grid(...) > 50).all"
    elif isinstance(value, Extreme):
        expected = ".all_at(...) or .any_at(...), or .value and a comparison"
        example = "grid(...).best.all_at(ratio=0.4)"
    message = f"a claim must be true or false, and this is {kind_of(value)}"
    raise ClaimError(message, expression, 0, len(expression), expected, example)


def evaluate_value(
    expression: str, studies: Mapping[str, Results], study: str | None, reading: str | None = None
) -> Decimal | int | str:
    """The number that an expression gives (an int for `.count`), or the names of `.cells`.

    Args: as `evaluate`.

    Raises:
        ClaimError: For an expression that isn't right, gives neither, or needs an absent cell.
    """
    evaluation = Evaluation(expression, Scope(studies, study, reading))
    value = evaluation.result()
    whole = (expression, 0, len(expression))
    if not isinstance(value, Number | CellNames):
        message = f"one number is needed here, and this is {kind_of(value)}"
        raise ClaimError(message, *whole, "a number", "grid(...).best.value")
    if value.why:
        message = f"this is not known: {'; '.join(value.why)}"
        raise ClaimError(message, *whole, "cells that have a value", "grid(...).where(...).mean")
    if isinstance(value, CellNames):
        return "; ".join(value.names)
    assert value.value is not None
    root = evaluation.root
    counted = isinstance(root, tree.Attribute) and root.name == "count"
    return int(value.value) if counted else value.value
