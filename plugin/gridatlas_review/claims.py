"""Statements that are new, removed, edited, or come to something else."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from gridatlas.assessment.assess import same_inputs
from gridatlas.assessment.assessment import Assessment
from gridatlas.claims import Judged
from gridatlas_review.changes import ClaimChange, StudyChanges, is_wrong, outcome, outcomes
from gridatlas_review.matching import Match
from gridatlas_review.report import (
    BAD,
    EXCERPT,
    GOOD,
    LOOK,
    NAMED,
    Row,
    before_and_now,
    line,
    row,
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
        return [_with_new_ids(claim, match, readings, texts) for claim in claims]

    texts = {claim.text for claim in new.study.claims}

    if not _compare(in_head(old.judged), new.judged) and same_inputs(old.results, new.results):
        return ()
    changes = _compare(in_head(old.claims), new.claims)
    return tuple(change for change in changes if not _only_loses_its_source(change, readings))


def _with_new_ids(
    claim: Judged, match: Match, readings: Mapping[str, str], texts: Collection[str]
) -> Judged:
    """A claim of the base with the head's names; its sentence, where the head has that sentence."""
    entry = claim.entry
    text = match.relabelled(match.in_head(entry.text))
    names = {
        "check": entry.check and match.in_head(entry.check),
        "source": entry.source and readings.get(entry.source, entry.source),
        "text": text if text in texts and entry.text not in texts else entry.text,
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


def _only_loses_its_source(change: ClaimChange, readings: Mapping[str, str]) -> bool:
    """Whether a claim's source was removed, and it says the same of the shown values."""
    old, new = change.old, change.new
    if old is None or new is None or not old.entry.source or old.entry.source in readings:
        return False
    same = old.entry.model_copy(update={"source": new.entry.source}) == new.entry
    return same and outcome(old) == outcome(new) and not new.error


def _words(claim: Judged) -> str:
    return " ".join(claim.entry.text.split())


# --- rows ----------------------------------------------------------------------------------------


def claim_rows(study: StudyChanges) -> Iterator[Row]:
    """What became of statements, each as a row."""
    for change in study.claims:
        old, new = change.old, change.new
        if new is None:
            assert old is not None
            text = f"The statement “{old.entry.text}” was removed; it was {outcome(old)}"
            yield row("removed", BAD, study.id, text, "removed statement", "claims")
        elif change.newly_wrong:
            text, details = _wrong(change, new), _meaning(new)
            yield row("claims", BAD, study.id, text, "unexpected statement", details=details)
        elif old is None:
            text = f"New, {outcome(new)}: “{new.entry.text}”"
            yield row("claims", GOOD, study.id, text, "new statement", details=_meaning(new))
        else:
            text, noun, *gates = _edited(old, new)
            mark = GOOD if is_wrong(old) and not is_wrong(new) else LOOK
            yield row("claims", mark, study.id, text, noun, *gates, details=_meaning(new))


def _edited(old: Judged, new: Judged) -> tuple[str, ...]:
    """What of a statement is another now, what that counts as, and the gate that stops on it."""
    quoted = f"“{new.entry.text}”"
    if any(getattr(old.entry, key) != getattr(new.entry, key) for key in CHECKED):
        check = before_and_now("", old.entry.check or "", new.entry.check or "")
        return f"The check of {quoted} was edited{check}", "edited statement", "claims"
    if old.entry.holds != new.entry.holds:
        text = f"{quoted} is expected to be {_holds(new)} now, was {_holds(old)}"
        return text, "edited statement", "claims"
    if (old.entry.text, old.entry.reads) != (new.entry.text, new.entry.reads):
        return f"A statement was reworded: “{old.entry.text}” → {quoted}", "reworded statement"
    return f"{quoted} was {outcome(old)}, is {outcome(new)}", "retested statement"


CHECKED = ("check", "source", "not_checkable", "about")
"""Keys of a statement that say how it is checked."""


def _wrong(change: ClaimChange, new: Judged) -> str:
    """What became of a statement that isn't as expected."""
    quoted = f"“{new.entry.text}”"
    if new.error is not None:
        return f"{quoted} has a wrong expression: {new.error.message}"
    if new.verdict is None:
        return f"{quoted} can't be checked" + (f": {new.problems[0].found}" if new.problems else "")
    now, places = outcomes(new)[0], truncate(map(str, new.verdict.places), NAMED)
    why = new.verdict.reason or places
    end = f": {why}" if why else ""
    if now == "undecidable":
        return f"{quoted} can't be decided any more{end}"
    if now == "false":
        if change.old is None:
            return f"The new statement {quoted} doesn't hold{end}"
        return f"{quoted} doesn't hold any more{end}"
    return f"{quoted} is {now}; expected is {_holds(new)}{end}"


def _holds(claim: Judged) -> str:
    holds = claim.entry.holds
    return "undecidable" if holds == "unknown" else str(holds).lower()


def _meaning(claim: Judged) -> tuple[str, ...]:
    """What the claim means: in words where it has them, else its expression."""
    if claim.entry.reads:
        return (f"It is read as: {claim.entry.reads}",)
    return (f"Check: {line(claim.entry.check, EXCERPT)}",) if claim.entry.check else ()
