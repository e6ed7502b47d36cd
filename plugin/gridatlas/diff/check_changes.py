"""What checks find on two sides: new, gone, or accepted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gridatlas.checks import Finding, StudyChecks
from gridatlas.diff.matching import Match
from gridatlas.model.problems import Problem

Key = tuple[object, ...]

CLAIM_KINDS = (
    "claim-without-check",
    "claim-undecidable",
    "claim-not-as-recorded",
    "wrong-expression",
    "unknown-reading",
)
"""Problems that claims are told with."""


@dataclass(frozen=True, slots=True)
class FindingChange:
    """A finding that isn't the same on both sides; None on the side that lacks it."""

    old: Finding | None
    new: Finding | None

    @property
    def newly_fails(self) -> bool:
        """Whether it makes the head unfit, and not the base."""
        return failing(self.new) and not failing(self.old)

    @property
    def fails(self) -> bool:
        """Whether it makes the head unfit, and didn't the base, or says more than there."""
        return failing(self.new) and not (failing(self.old) and self.old == self.new)


def failing(one: Finding | None) -> bool:
    """Whether a finding is a problem: neither a note nor accepted."""
    return one is not None and one.severity == "problem" and one.accepted is None


def compare_findings(
    base: StudyChecks, head: StudyChecks, match: Match, readings: Mapping[str, str]
) -> tuple[FindingChange, ...]:
    """Findings by kind, reading, grid and cells; what is left over, without the cells.

    Args:
        readings: The head's id of a reading by the base's.
    """
    old = [(finding, _key(finding, match, readings)) for finding in base.findings]
    new: dict[Key, list[Finding]] = {}
    for one in head.findings:
        new.setdefault(_own_key(one), []).append(one)
    changes = []
    left: list[tuple[Finding, Key]] = []
    for one, key in old:
        if new.get(key):
            other = new[key].pop(0)
            if _said(one) != _said(other):
                changes.append(FindingChange(one, other))
        else:
            left.append((one, key[:3]))
    rest: dict[Key, list[Finding]] = {}
    for key, found in new.items():
        rest.setdefault(key[:3], []).extend(found)
    for one, key in left:
        like = rest[key].pop(0) if rest.get(key) else None
        changes.append(FindingChange(one, like))
    return (*changes, *(FindingChange(None, one) for found in rest.values() for one in found))


def other_problems(
    base: Iterable[Problem], head: Iterable[Problem], kinds: Iterable[str]
) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """Problems that are new, and that are gone, but for those of checks and claims.

    Args:
        kinds: The kinds of findings, which are told as such.
    """
    told = {*kinds, *CLAIM_KINDS}
    old = [one for one in base if one.severity == "problem" and one.kind not in told]
    new = [one for one in head if one.severity == "problem" and one.kind not in told]
    return _without(new, old), _without(old, new)


def _without(found: Sequence[Problem], others: Sequence[Problem]) -> tuple[Problem, ...]:
    there = [_problem_key(other) for other in others]
    left = []
    for one in found:
        key = _problem_key(one)
        if key in there:
            there.remove(key)
        else:
            left.append(one)
    return tuple(left)


def _problem_key(one: Problem) -> Key:
    # Lines move with every row above; the data folder may have another name.
    return (one.kind, one.file.rpartition("/")[2], one.found, one.expected, one.column)


def _key(one: Finding, match: Match, readings: Mapping[str, str]) -> Key:
    cells = [match.head(one.levels, point) for point in one.cells]
    points = frozenset(at[1] if at else point for at, point in zip(cells, one.cells, strict=True))
    levels = match.head_levels(one.levels) or one.levels
    return (one.kind, readings.get(one.reading, one.reading), levels, points)


def _own_key(one: Finding) -> Key:
    return (one.kind, one.reading, one.levels, frozenset(one.cells))


def _said(one: Finding) -> Key:
    return (one.found, one.severity, one.accepted)
