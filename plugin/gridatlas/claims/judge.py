"""Whether an expression is true, or which number it gives; and a study's claims are judged.

Claims are judged on the shown grids, and on their source's own reading.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

import numpy as np

from gridatlas.analysis import statements
from gridatlas.claims import tree
from gridatlas.claims.evaluation import Evaluation
from gridatlas.claims.grids import Extreme, Truths
from gridatlas.claims.lookup import Given, Scope
from gridatlas.claims.names import kind_of
from gridatlas.claims.tree import ClaimError
from gridatlas.claims.values import CellNames, Number, Place, Truth
from gridatlas.model.kinds import KINDS
from gridatlas.model.problems import Problem, Severity, join_names, nearest, quote
from gridatlas.model.schema import ClaimEntry
from gridatlas.model.study import Study
from gridatlas.table.grids import Results

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
    if not grids:
        return verdict
    given = np.logical_and.reduce([grid.known for grid in grids])
    number, of = int(given.sum()), len(given)
    if number in (0, of):
        return verdict
    across = len(grids[0].x.levels) if grids[0].x else 1
    found = _verdict(Evaluation(expression, replace(scope, given=Given(given, across))))
    return found if found.outcome == "undecidable" else replace(found, given=(number, of))


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


NAMED_CELLS = 3
"""Deciding cells that a problem names."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with what its check comes to.

    Attributes:
        verdict: On the shown grids; None for a claim without a check or with a wrong one.
        own: On the reading that the claim was made about, as far as its cells go; None where it
            names none.
        problems: What makes the claim unfit as it stands, and notes.
        error: Why there is no verdict, for a check that is wrong.
        tested: The verdict, after the test of what it asserts; None until that is made.
        under: The label of a rival reading under which the verdict is worse than as shown.
    """

    entry: ClaimEntry
    verdict: Verdict | None
    own: Verdict | None
    problems: tuple[Problem, ...] = ()
    error: ClaimError | None = None
    tested: statements.Verdict | None = None
    under: str = ""


def judge(results: Mapping[str, Results], study_id: str) -> tuple[Judged, ...]:
    """Evaluate all claims of a study, on the shown grids and on their source's own reading."""
    study = results[study_id].study
    return tuple(
        _Judge(results, study, index, entry).judged() for index, entry in enumerate(study.claims)
    )


@dataclass(frozen=True, slots=True)
class _Judge:
    """Judges one claim; its problems lie in `study.yml`."""

    results: Mapping[str, Results]
    study: Study
    index: int
    entry: ClaimEntry

    def judged(self) -> Judged:
        entry = self.entry
        problems = list(self.source_problems())
        source = None if problems else entry.source
        if (entry.check is None) == (entry.not_checkable is None):
            given = "neither" if entry.check is None else "both"
            problem = self.problem(
                "claim-without-check",
                "",
                f"{given} of check and not_checkable",
                "one of the two",
                "give an expression as check, or say as not_checkable why none can tell",
            )
            return Judged(entry, None, None, (*problems, problem))
        if entry.check is None:
            return Judged(entry, None, None, tuple(problems))
        try:
            verdict = evaluate(entry.check, self.results, self.study.id)
        except ClaimError as error:
            return Judged(entry, None, None, (*problems, self.wrong(error)), error)
        problems += [*self.record_problems(verdict), *self.question_notes()]
        own = None
        if source is not None:
            try:
                own = evaluate_given(entry.check, self.results, self.study.id, source)
            except ClaimError as error:
                problems.append(self.wrong(error, "note"))
        return Judged(entry, verdict, own, tuple(problems))

    def problem(
        self,
        kind: str,
        key: str,
        found: str,
        expected: str,
        fix: str,
        severity: Severity = "problem",
    ) -> Problem:
        file = f"{self.study.folder}/study.yml" if self.study.folder else "study.yml"
        lines = self.study.claim_lines
        line = lines[self.index] if self.index < len(lines) else None
        column = f"claims.{self.index}" + (f".{key}" if key else "")
        return Problem(kind, file, found, expected, fix, line, column, severity)

    def wrong(self, error: ClaimError, severity: Severity = "problem") -> Problem:
        indented = [f"{' ' * 12}{line}" for line in error.pointer.split("\n")]
        return self.problem(
            "wrong-expression",
            "check",
            "\n".join([error.message, *indented]),
            error.expected or "an expression of the claim language",
            f"go by {error.example}" if error.example else "correct the part that is marked",
            severity,
        )

    def source_problems(self) -> Iterable[Problem]:
        source, readings = self.entry.source, [reading.id for reading in self.study.readings]
        if source is not None and source not in readings:
            near = nearest(source, readings)
            yield self.problem(
                "unknown-reading",
                "source",
                quote(source),
                f"a reading of this study: {join_names(readings, 30)}",
                f"write {near} instead of {source}" if near else "use one of them, or remove it",
            )

    def question_notes(self) -> Iterable[Problem]:
        """A sentence that says more than its numbers names the question that it is about."""
        about = self.entry.about
        factors = [factor.id for factor in (*self.study.varied, *self.study.facets)]
        words = statements.strong_words(self.entry.text)
        if about is None and words:
            kind = KINDS["claim-without-question"]
            found = f"{quote(words[0])}, and no about"
            yield self.problem("claim-without-question", "", found, kind.expected, kind.fix, "note")
        elif about and about.startswith("axis ") and about.removeprefix("axis ") not in factors:
            name = about.removeprefix("axis ")
            near = nearest(name, factors)
            fix = f"write {near} instead of {name}" if near else "use one of them"
            yield self.problem("unknown-factor", "about", quote(name), join_names(factors), fix)

    def record_problems(self, verdict: Verdict) -> Iterable[Problem]:
        recorded = "undecidable" if self.entry.holds == "unknown" else str(self.entry.holds).lower()
        if verdict.outcome == recorded:
            return
        found = f"the check is {verdict.outcome}{_because(verdict)}"
        expected = f"{recorded}, as holds records it"
        if verdict.outcome == "undecidable":
            fix = "add the cells, narrow the check to those that are there, or say holds: unknown"
            yield self.problem("claim-undecidable", "check", found, expected, fix)
        else:
            fix = f"correct the check or the data, or say holds: {verdict.outcome}"
            yield self.problem("claim-not-as-recorded", "check", found, expected, fix)


def _because(verdict: Verdict) -> str:
    """The reason, or the first of the cells that decide."""
    if verdict.reason:
        return f": {verdict.reason}"
    first = "; ".join(map(str, verdict.places[:NAMED_CELLS]))
    more = len(verdict.places) - NAMED_CELLS
    return (f": {first}" if first else "") + (f"; and {more} more" if more > 0 else "")
