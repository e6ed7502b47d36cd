"""Claims of two sides: which flipped, which are new, removed or worded otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from gridatlas.claims import Judged

ALIKE = 0.6
"""Similarity of two sentences from which they count as one that was reworded."""
COMPARED_UP_TO = 200
"""Claims left over on a side up to which they are compared by their wording."""


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """One claim that isn't the same on both sides; None on the side that lacks it."""

    old: Judged | None
    new: Judged | None

    @property
    def flipped(self) -> bool:
        """Whether it has another outcome, on the shown grids or on its source's own reading."""
        if self.old is None or self.new is None:
            return False
        return _outcomes(self.old) != _outcomes(self.new)

    @property
    def shown_flipped(self) -> bool:
        """Whether it has another outcome on the shown grids."""
        if self.old is None or self.new is None:
            return False
        return _outcomes(self.old)[0] != _outcomes(self.new)[0]

    @property
    def recorded_otherwise(self) -> bool:
        """Whether `holds` says something else now."""
        return bool(self.old and self.new and self.old.entry.holds != self.new.entry.holds)

    @property
    def newly_wrong(self) -> bool:
        """Whether it isn't as recorded now, and was, or is new."""
        return wrong(self.new) and not wrong(self.old)


def outcome(one: Judged) -> str:
    """What its check came to: `true`, `true (within noise)`, `false` or `undecidable`.

    `wrong expression` or `not checkable` where there is no such outcome.
    """
    if one.verdict is not None:
        return one.verdict.outcome + (" (within noise)" if one.within_noise else "")
    return "wrong expression" if one.error else "not checkable"


def own_outcome(one: Judged) -> str:
    """The same on the reading that the claim was made about, and on how many of its cells.

    Empty where it names none.
    """
    if one.own is None:
        return ""
    if one.own.given is None:
        return one.own.outcome
    given, of = one.own.given
    return f"{one.own.outcome} on {given} of {of} cells"


def _outcomes(one: Judged) -> tuple[str, str]:
    """What is true or false, on the shown grids and on the source's own reading."""
    shown = one.verdict.outcome if one.verdict else outcome(one)
    return shown, one.own.outcome if one.own else ""


def wrong(one: Judged | None) -> bool:
    """Whether a claim isn't as its record says, or has no verdict for an error in it."""
    return one is not None and any(problem.severity == "problem" for problem in one.problems)


def compare_claims(base: Sequence[Judged], head: Sequence[Judged]) -> tuple[ClaimChange, ...]:
    """Lay claims over one another: by text and check, by text, by check, then by wording."""
    old, new = list(base), list(head)
    pairs: list[tuple[Judged, Judged]] = []

    def take(same: object) -> None:
        for one in list(old):
            match = next((other for other in new if same(one, other)), None)  # type: ignore[operator]
            if match is not None:
                old.remove(one)
                new.remove(match)
                pairs.append((one, match))

    take(lambda a, b: (_words(a), a.entry.check) == (_words(b), b.entry.check))
    take(lambda a, b: _words(a) == _words(b))
    take(lambda a, b: a.entry.check is not None and a.entry.check == b.entry.check)
    if max(len(old), len(new)) <= COMPARED_UP_TO:
        take(lambda a, b: SequenceMatcher(None, _words(a), _words(b)).ratio() >= ALIKE)
    changes = [
        ClaimChange(one, other)
        for one, other in pairs
        if one.entry != other.entry
        or _outcomes(one) != _outcomes(other)
        or one.within_noise != other.within_noise
        or wrong(one) != wrong(other)
    ]
    changes += [ClaimChange(one, None) for one in old]
    changes += [ClaimChange(None, other) for other in new]
    place = {id(one): index for index, one in enumerate((*base, *head))}
    return tuple(sorted(changes, key=lambda change: place[id(change.new or change.old)]))


def _words(one: Judged) -> str:
    return " ".join(one.entry.text.split())
