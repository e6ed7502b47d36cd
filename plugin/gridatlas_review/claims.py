"""Claims that flipped, are new, removed or worded otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from gridatlas.assessment.assess import same_inputs
from gridatlas.assessment.assessment import Assessment
from gridatlas.claims import Judged
from gridatlas.model.format import many
from gridatlas_review.changes import (
    Changes,
    ClaimChange,
    is_wrong,
    outcome,
    outcomes,
)
from gridatlas_review.matching import Match
from gridatlas_review.report import (
    EXCERPT,
    NAMED,
    Entry,
    before_and_now,
    entry,
    line,
    more_than,
    truncate,
)

ALIKE = 0.6
"""Similarity of two sentences from which they count as one that was reworded."""
MAX_COMPARED = 200
"""Claims left over in a snapshot up to which they are compared by their wording."""

# --- how changes are found ----------------------------------------------------------------------


def compare_claims(
    old: Assessment, new: Assessment, match: Match, readings: Mapping[str, str]
) -> tuple[ClaimChange, ...]:
    """Compare the claims of a study; statistics are computed only where something else differs.

    A claim that only names levels and readings by their new ids hasn't changed.

    Args:
        readings: The head's id of a reading by the base's.
    """

    def in_head(claims: Sequence[Judged]) -> list[Judged]:
        return [_with_new_ids(claim, match, readings) for claim in claims]

    if not _compare(in_head(old.judged), new.judged) and same_inputs(old.results, new.results):
        return ()
    return _compare(in_head(old.claims), new.claims)


def _with_new_ids(claim: Judged, match: Match, readings: Mapping[str, str]) -> Judged:
    entry = claim.entry
    names = {
        "check": entry.check and match.in_head(entry.check),
        "source": entry.source and readings.get(entry.source, entry.source),
    }
    if all(getattr(entry, key) == name for key, name in names.items()):
        return claim
    return replace(claim, entry=entry.model_copy(update=names))


def _compare(base: Sequence[Judged], head: Sequence[Judged]) -> tuple[ClaimChange, ...]:
    """Lay claims over one another: by text and check, by text, by check, then by wording."""
    old, new = list(base), list(head)
    pairs: list[tuple[Judged, Judged]] = []

    def take(same: Callable[[Judged, Judged], bool]) -> None:
        for claim in list(old):
            match = next((other for other in new if same(claim, other)), None)
            if match is not None:
                old.remove(claim)
                new.remove(match)
                pairs.append((claim, match))

    take(lambda a, b: (_words(a), a.entry.check) == (_words(b), b.entry.check))
    take(lambda a, b: _words(a) == _words(b))
    take(lambda a, b: a.entry.check is not None and a.entry.check == b.entry.check)
    if max(len(old), len(new)) <= MAX_COMPARED:
        take(lambda a, b: SequenceMatcher(None, _words(a), _words(b)).ratio() >= ALIKE)
    changes = [
        ClaimChange(before, after)
        for before, after in pairs
        if before.entry != after.entry
        or outcomes(before) != outcomes(after)
        or before.tested != after.tested
        or is_wrong(before) != is_wrong(after)
    ]
    changes += [ClaimChange(claim, None) for claim in old]
    changes += [ClaimChange(None, claim) for claim in new]
    place = {id(claim): index for index, claim in enumerate((*base, *head))}
    return tuple(sorted(changes, key=lambda change: place[id(change.new or change.old)]))


def _words(claim: Judged) -> str:
    return " ".join(claim.entry.text.split())


# --- in the report ------------------------------------------------------------------------------


def claim_entries(changes: Changes) -> Iterator[Entry]:
    """Claims that flipped, are recorded otherwise, or were removed."""
    for study in changes.studies:
        found = [change for change in study.own_claims if change.is_important]
        for change in sorted(
            found, key=lambda change: (not change.newly_wrong, not change.shown_flipped)
        ):
            yield _claim(study.id, change)


def claims_gist(changes: Changes) -> str:
    """What became of all claims that changed, where it is the same."""
    groups = {found.group for found in claim_entries(changes)}
    return groups.pop() if len(groups) == 1 else ""


def _claim(study_id: str, change: ClaimChange) -> Entry:
    old, new = change.old, change.new
    if new is None:
        assert old is not None
        was = f"it was {outcome(old)}" + (", not as expected" if is_wrong(old) else "")
        return entry(study_id, f"Removed ({was}): “{old.entry.text}”", _meaning(old))
    parts = [_what(change, new)]
    if change.expectation_changed and old is not None:
        parts.append(f"expected {_holds(new)}, before {_holds(old)}")
    elif is_wrong(new) and new.verdict is not None and parts[0] != NO_LONGER:
        parts.append(f"expected {_holds(new)}")
    details = [*_differences(change), *_reason(new), *_meaning(new)]
    if new.error is not None:
        details.insert(0, f"Wrong expression: {new.error.message}")
    elif new.verdict is None and new.problems:
        details.insert(0, new.problems[0].found)
    what = ", ".join(parts)
    return entry(study_id, f"“{new.entry.text}”", details, group=f"{what[0].upper()}{what[1:]}")


NO_LONGER = "no longer true"


def _what(change: ClaimChange, new: Judged) -> str:
    """What became of a claim that the head has."""
    old = change.old
    if old is None:
        return f"new, and {outcome(new)}"
    if change.shown_flipped:
        before, after = outcome(old), outcome(new)
        expected = new.entry.holds is True
        return NO_LONGER if expected and after == "false" else f"{before} → {after}"
    if change.flipped:
        before, after = _own_outcome(old) or "nothing", _own_outcome(new) or "nothing"
        return f"on its source's own reading {before} → {after}"
    return f"still {outcome(new)}"


def _own_outcome(claim: Judged) -> str:
    """The outcome on the reading that the claim was made about, and on how many of its cells.

    Empty where it names none.
    """
    if claim.own is None:
        return ""
    if claim.own.given is None:
        return claim.own.outcome
    given, total = claim.own.given
    return f"{claim.own.outcome} on {given} of {total} cells"


def _holds(claim: Judged) -> str:
    holds = claim.entry.holds
    return "undecidable" if holds == "unknown" else str(holds).lower()


def _reason(claim: Judged) -> tuple[str, ...]:
    """Why a claim has its outcome."""
    if claim.verdict is None:
        return ()
    if claim.verdict.reason:
        return (f"Because: {claim.verdict.reason}",)
    if not claim.verdict.places:
        return ()
    return (f"Decided by: {truncate(map(str, claim.verdict.places), NAMED)}",)


def _meaning(claim: Judged) -> tuple[str, ...]:
    """What the claim means: in words where it has them, else its expression."""
    if claim.entry.reads:
        return (f"It is read as: {claim.entry.reads}",)
    return (f"Check: {line(claim.entry.check, EXCERPT)}",) if claim.entry.check else ()


def _differences(change: ClaimChange) -> tuple[str, ...]:
    """What of the claim itself is another now, but for its record."""
    if change.old is None or change.new is None:
        return ()
    old, new = change.old.entry, change.new.entry
    names = ("text", "check", "reads", "source", "not_checkable")
    return tuple(
        before_and_now(f"Its {name}", getattr(old, name) or "", getattr(new, name) or "")
        for name in names
        if getattr(old, name) != getattr(new, name)
    )


def other_claim_entries(changes: Changes) -> Iterator[Entry]:
    """Claims that are new, or worded otherwise."""
    for study in changes.studies:
        for change in study.own_claims:
            if change.is_important or change.new is None:
                continue
            if change.old is None:
                state, details = f"New, {outcome(change.new)}", _meaning(change.new)
            else:
                state = _state(change.old, change.new)
                details = (*_differences(change), *_meaning(change.new))
            yield entry(study.id, f"{state}: “{change.new.entry.text}”", details)
    for added in changes.added:
        wrong = [claim for claim in added.judged if is_wrong(claim)]
        if wrong:
            text = f"The new study has {many(len(added.judged), 'statement')}, of which "
            quoted = (f"“{claim.entry.text}”" for claim in wrong[:NAMED])
            more = more_than(NAMED, len(wrong), "statement")
            yield entry(added.study.id, f"{text}{len(wrong):,} not as expected", (*quoted, more))


def _state(old: Judged, new: Judged) -> str:
    """How a claim differs that is recorded as before and has the same outcome."""
    if is_wrong(old):
        return f"As expected again, {outcome(new)}"
    if old.entry == new.entry:
        return f"Before {outcome(old)}, now {outcome(new)}"
    return f"Reworded or with another check, {outcome(new)}"
