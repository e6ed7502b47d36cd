"""A study's claims are judged, on the shown grids and on their source's own reading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gridatlas.claims.tree import ClaimError
from gridatlas.claims.verdict import Verdict, evaluate, evaluate_given
from gridatlas.model.problems import Problem, Severity, join_names, nearest, quote
from gridatlas.model.schema import ClaimEntry
from gridatlas.model.study import Study
from gridatlas.results.grids import Results

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
        within_noise: Whether it holds as printed while all cells that it is about may differ by
            chance alone; statistics say so, so that it isn't known as soon as the rest.
    """

    entry: ClaimEntry
    verdict: Verdict | None
    own: Verdict | None
    problems: tuple[Problem, ...] = ()
    error: ClaimError | None = None
    within_noise: bool = False


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
            one = self.problem(
                "claim-without-check",
                "",
                f"{given} of check and not_checkable",
                "one of the two",
                "give an expression as check, or say as not_checkable why none can tell",
            )
            return Judged(entry, None, None, (*problems, one))
        if entry.check is None:
            return Judged(entry, None, None, tuple(problems))
        try:
            verdict = evaluate(entry.check, self.results, self.study.id)
        except ClaimError as error:
            return Judged(entry, None, None, (*problems, self.wrong(error)), error)
        problems += self.record_problems(verdict)
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
