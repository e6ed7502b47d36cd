"""What changed between two snapshots of the studies, as frozen data.

`compare` finds it, a module per kind of change, and puts it in words, as a `Report`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from gridatlas.assessment.agreement import Disagreement, Hint
from gridatlas.assessment.assessment import Assessment
from gridatlas.checks import Finding
from gridatlas.claims import Judged
from gridatlas.model.problems import Problem
from gridatlas.model.schema import HistoryEntry
from gridatlas.model.study import Levels, Point, Reading
from gridatlas_review.grids import CellChange, GridChange, GridChanges
from gridatlas_review.matching import Match, Rename
from gridatlas_review.snapshot import Snapshot

Place = tuple[Levels, Point]
"""A cell of a study: its facet levels, and its levels on x and y."""
Shown = Mapping[str, Collection[Place]]
"""By study, the changed cells that the leads have a row of."""


# --- claims, checks, readings, properties -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """A claim that isn't the same in both snapshots; None in the one that lacks it."""

    old: Judged | None
    new: Judged | None

    @property
    def newly_wrong(self) -> bool:
        """Whether it isn't as recorded now, and was, or is new."""
        return is_wrong(self.new) and not is_wrong(self.old)


AS_TESTED = {
    "holds-within-noise": " (within noise)",
    "holds-untested": " (untested)",
    "contrary-shown": " (the contrary is shown)",
}
"""What the test adds to what is true or false as printed."""


def outcome(claim: Judged) -> str:
    """Result of a claim's check: `true` (with what is tested of it), `false` or `undecidable`.

    `wrong expression` or `not checkable` where there is no such result.
    """
    if claim.verdict is not None:
        return claim.verdict.outcome + AS_TESTED.get(claim.tested or "", "")
    return "wrong expression" if claim.error else "not checkable"


def outcomes(claim: Judged) -> tuple[str, str]:
    """What is true or false, on the shown grids and on the source's own reading."""
    shown = claim.verdict.outcome if claim.verdict else outcome(claim)
    return shown, claim.own.outcome if claim.own else ""


def is_wrong(claim: Judged | None) -> bool:
    """Whether a claim isn't as its record says, or has no verdict for an error in it."""
    return claim is not None and any(problem.severity == "problem" for problem in claim.problems)


@dataclass(frozen=True, slots=True)
class FindingChange:
    """A finding that isn't the same in both snapshots; None in the one that lacks it."""

    old: Finding | None
    new: Finding | None

    @property
    def fails(self) -> bool:
        """Whether it makes the head unfit, and didn't the base, or differs from the base's."""
        return fails(self.new) and not (fails(self.old) and self.old == self.new)

    @property
    def newly_accepted(self) -> bool:
        """Whether it is accepted now, and wasn't, or is new."""
        return bool(self.new and self.new.accepted) and not (self.old and self.old.accepted)


def fails(finding: Finding | None) -> bool:
    """Whether a finding is a problem: neither a note nor accepted."""
    return finding is not None and finding.severity == "problem" and finding.accepted is None


@dataclass(frozen=True, slots=True)
class LostCheck:
    """A check of one reading that no longer runs where it ran before.

    Attributes:
        kind: That of its findings.
        reading: The base's id of the reading.
        grids: The base's grids of which it tested all values, and doesn't any more.
    """

    kind: str
    reading: str
    grids: tuple[Levels, ...]


@dataclass(frozen=True, slots=True)
class ReadingChange:
    """A reading that both snapshots have, some cells of which changed.

    Attributes:
        values: Places on the head's axes with the value before and after; None for none.
        details: Places where only something else than the value changed, such as a note.
    """

    old: Reading
    new: Reading
    values: tuple[tuple[Place, Decimal | None, Decimal | None], ...]
    details: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class ReadingChanges:
    """Everything that changed about the readings of a study.

    Attributes:
        ids: The head's id of a reading by the base's.
        disagreements: Those of the head that are new, or have another value.
        new_hints: What looks wrong with a reading in the head only.
    """

    ids: Mapping[str, str]
    renamed: tuple[Rename, ...]
    removed: tuple[Reading, ...]
    added: tuple[Reading, ...]
    changed: tuple[ReadingChange, ...]
    disagreements: tuple[Disagreement, ...]
    new_hints: tuple[Hint, ...]


@dataclass(frozen=True, slots=True)
class PropertyChange:
    """A property of a study that is another one now.

    Attributes:
        weight: `meaning` where it says what values are, or how they are to be read.
        name: What changed, in words.
        old, new: As written; empty for nothing.
    """

    weight: Literal["meaning", "text"]
    name: str
    old: str
    new: str


# --- studies ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class UnreadableStudy:
    """A study that can't be built in one snapshot or both, so that it can't be compared.

    Attributes:
        where: The snapshots in which it can't.
        in_other: Whether the other snapshot has it, readable.
    """

    study: str
    where: Literal["base", "head", "both"]
    problems: tuple[Problem, ...]
    in_other: bool


@dataclass(frozen=True, slots=True, eq=False)
class StudyChanges:
    """A study that both snapshots have, with all that changed in it."""

    base: Assessment
    head: Assessment
    match: Match
    grids: GridChanges
    claims: tuple[ClaimChange, ...]
    findings: tuple[FindingChange, ...]
    lost_checks: tuple[LostCheck, ...]
    readings: ReadingChanges
    properties: tuple[PropertyChange, ...]
    problems: tuple[Problem, ...]
    fixed: tuple[Problem, ...]

    @property
    def id(self) -> str:
        """The study's id in the head."""
        return self.head.study.id

    def cells(self, *, computed: bool = True) -> Iterator[tuple[GridChange, CellChange]]:
        """The changed cells of all grids; those computed from others only follow these."""
        for grid in self.grids.changed:
            for cell in grid.cells:
                if computed or cell.origin != "computed":
                    yield grid, cell

    @property
    def may_change_answers(self) -> bool:
        """Whether anything changed that answers are made of; computing them takes seconds."""
        grids, readings, match = self.grids, self.readings, self.match
        made_of = (
            *(grids.changed, grids.added, grids.removed, self.findings),
            *(match.labels, match.added, match.removed),
            *(readings.changed, readings.added, readings.removed),
            [change for change in self.properties if change.weight == "meaning"],
        )
        return any(made_of)

    @property
    def new_entries(self) -> list[HistoryEntry]:
        """Entries of the history that only the head has."""
        old = self.base.study.history
        return [entry for entry in self.head.study.history if entry not in old]

    @property
    def edited_runs(self) -> list[str]:
        """Runs of both whose records differ, though they are of one name."""
        old, new = self.base.study.runs, self.head.study.runs
        return [key for key in old if key in new and old[key] != new[key]]


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """Two snapshots and how they differ.

    Attributes:
        added, removed: Studies that one snapshot only has.
        renamed: Studies under another id.
        studies: Those in both, in the head's order; also those in which nothing changed.
    """

    base: Snapshot
    head: Snapshot
    unreadable: tuple[UnreadableStudy, ...]
    added: tuple[Assessment, ...]
    removed: tuple[Assessment, ...]
    renamed: tuple[Rename, ...]
    studies: tuple[StudyChanges, ...]
