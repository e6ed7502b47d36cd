"""Claims that changed, as a reviewer is told of them."""

from __future__ import annotations

from collections.abc import Iterator

from gridatlas.claims import Judged
from gridatlas.diff.changes import Changes, StudyChanges
from gridatlas.diff.claim_changes import ClaimChange, outcome, own_outcome, wrong
from gridatlas.diff.report import Item, item, line
from gridatlas.diff.wording import (
    EXPRESSION,
    NAMED,
    count,
    cut,
    now_and_before,
)


def claims(changes: Changes) -> Iterator[Item]:
    """Claims that flipped, are recorded otherwise, or were removed."""
    found = [
        (study, claim)
        for study in changes.studies
        for claim in study.own_claims
        if claim.flipped or claim.recorded_otherwise or claim.newly_wrong or claim.new is None
    ]

    def rank(pair: tuple[StudyChanges, ClaimChange]) -> tuple[bool, bool, bool]:
        one = pair[1]
        return not one.newly_wrong, not one.shown_flipped, one.new is None

    for study, one in sorted(found, key=rank):
        yield _claim(study, one)


def _claim(study: StudyChanges, one: ClaimChange) -> Item:
    study_id = study.head.study.id
    if one.new is None:
        assert one.old is not None
        was = f"it was {outcome(one.old)}" + (", not as recorded" if wrong(one.old) else "")
        return item(study_id, f"Removed ({was}): “{one.old.entry.text}”", _check(one.old))
    text = f"“{one.new.entry.text}”"
    said = []
    if one.old is None:
        said.append(f"new, and {outcome(one.new)}")
    elif one.shown_flipped:
        said.append(f"flipped from {outcome(one.old)} to {outcome(one.new)}")
    elif one.flipped:
        before, after = own_outcome(one.old) or "nothing", own_outcome(one.new) or "nothing"
        said.append(f"on its source's own reading flipped from {before} to {after}")
    else:
        said.append(f"still {outcome(one.new)}")
    if one.recorded_otherwise and one.old is not None:
        said.append(f"recorded as {_holds(one.new)}, before as {_holds(one.old)}")
    if wrong(one.new) and one.new.verdict is not None:
        said.append("not as recorded" if not one.recorded_otherwise else "which it isn't")
    details = [*_differences(one), *_because(one.new), *_check(one.new)]
    if one.new.error is not None:
        details.insert(0, f"Wrong expression: {one.new.error.message}")
    elif one.new.verdict is None and one.new.problems:
        details.insert(0, one.new.problems[0].found)
    head = ", ".join(said)
    return item(study_id, f"{head[0].upper()}{head[1:]}: {text}", tuple(details))


def _holds(one: Judged) -> str:
    return "undecidable" if one.entry.holds == "unknown" else str(one.entry.holds).lower()


def _because(one: Judged) -> tuple[str, ...]:
    if one.verdict is None:
        return ()
    if one.verdict.reason:
        return (f"Because: {one.verdict.reason}",)
    if not one.verdict.places:
        return ()
    return (f"Decided by: {cut(map(str, one.verdict.places), NAMED)}",)


def _check(one: Judged) -> tuple[str, ...]:
    """What the claim means: in words where it has them, else its expression."""
    if one.entry.reads:
        return (f"It is read as: {one.entry.reads}",)
    return (f"Check: {line(one.entry.check, EXPRESSION)}",) if one.entry.check else ()


def _differences(one: ClaimChange) -> tuple[str, ...]:
    """What of the claim itself is another now, but for its record."""
    if one.old is None or one.new is None:
        return ()
    old, new = one.old.entry, one.new.entry
    names = ("text", "check", "reads", "source", "not_checkable")
    return tuple(
        now_and_before(f"Its {name}", getattr(old, name) or "", getattr(new, name) or "")
        for name in names
        if getattr(old, name) != getattr(new, name)
    )


def _now(old: Judged, new: Judged) -> str:
    """How a claim differs that is recorded as before and has the same outcome."""
    if wrong(old):
        return f"As recorded again, {outcome(new)}"
    if old.entry == new.entry:
        return f"Before {outcome(old)}, now {outcome(new)}"
    return f"Worded or checked otherwise, {outcome(new)}"


def other_claims(changes: Changes) -> Iterator[Item]:
    """Claims that are new, or worded otherwise."""
    for study in changes.studies:
        for one in study.own_claims:
            told = one.flipped or one.recorded_otherwise or one.newly_wrong or one.new is None
            if told or one.new is None:
                continue
            study_id, text = study.head.study.id, f"“{one.new.entry.text}”"
            if one.old is None:
                yield item(study_id, f"New, {outcome(one.new)}: {text}", _check(one.new))
            else:
                details = (*_differences(one), *_check(one.new))
                yield item(study_id, f"{_now(one.old, one.new)}: {text}", details)
    for known in changes.added:
        n = len(known.judged)
        bad = [claim for claim in known.judged if wrong(claim)]
        if n:
            text = f"The new study makes {count(n, 'claim')}"
            text += f", of which {len(bad)} not as recorded" if bad else ""
            yield item(known.study.id, text, tuple(f"“{one.entry.text}”" for one in bad[:NAMED]))
