"""The verdict on all changes: what needs attention, or that nothing does, in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gridatlas.model.format import many
from gridatlas.table.study_table import Grid
from gridatlas_review.changes import (
    Changes,
    ClaimChange,
    StudyChanges,
    fails,
    outcome,
    outcomes,
)
from gridatlas_review.grids import CellChange
from gridatlas_review.report import grids_text


def verdict(changes: Changes, *, changed: bool) -> tuple[bool, str]:
    """Whether anything needs attention, and the verdict in a sentence without a full stop.

    Args:
        changed: Whether anything changed at all.
    """
    if not changed:
        studies = many(len(changes.studies), "study", "studies")
        grids = [grid for study in changes.studies for grid in study.head.results.grids.values()]
        return False, f"Nothing changed in {studies} with {grids_text(grids)}"
    found = [*concerns(changes)]
    if found:
        return True, f"Needs attention: {'; '.join([', '.join(found), *_all_new(changes)])}"
    parts = [*_facts(changes)] or ["no value changed"]
    parts.append(_unaffected(changes) if changes.studies else "no check fails")
    text = "; ".join(part for part in parts if part)
    return False, f"{text[0].upper()}{text[1:]}"


# --- what needs attention -----------------------------------------------------------------------


def concerns(changes: Changes) -> Iterator[str]:
    """What got worse, a kind at a time, causes first."""
    unreadable = sum(study.where != "base" for study in changes.unreadable)
    if unreadable:
        yield f"{many(unreadable, 'study', 'studies')} can't be read"
    if changes.removed:
        yield f"{many(len(changes.removed), 'study', 'studies')} removed"
    problems = sum(
        problem.severity == "problem"
        for added in changes.added
        for problem in changes.head.problems.get(added.study.id, ())
    )
    yield from _concerns(changes.studies, problems)


def study_concerns(study: StudyChanges) -> Iterator[str]:
    """What got worse in a study, a kind at a time."""
    return _concerns([study], 0)


def _concerns(studies: Sequence[StudyChanges], problems: int) -> Iterator[str]:
    """What got worse in some studies.

    Args:
        problems: Problems in the data of others.
    """
    apart = sum(study.match.order is None for study in studies)
    if apart:
        yield f"{many(apart, 'study', 'studies')} with other factors, which can't be compared"
    for number, noun in (
        (sum(len(study.removed_readings) for study in studies), "reading"),
        (sum(len(study.match.removed) for study in studies), "level"),
        (sum(len(study.grids.removed) for study in studies if not study.match.removed), "grid"),
        (sum(cell.kind == "gone" for cell in _cells(studies)), "value"),
    ):
        if number:
            yield f"{many(number, noun)} removed"
    problems += sum(len(study.problems) for study in studies)
    if problems:
        yield many(problems, "new problem") + " in the data"
    yield from _checks(studies)
    yield from _statements([claim for study in studies for claim in study.own_claims])


def _checks(studies: Iterable[StudyChanges]) -> Iterator[str]:
    failing = [change for study in studies for change in study.findings if change.fails]
    new = sum(not fails(change.old) for change in failing)
    lost = sum(len(study.lost_checks) for study in studies)
    if new:
        yield many(new, "new check failure")
    if new < len(failing):
        yield f"{many(len(failing) - new, 'check')} still failing, differently"
    if lost:
        yield f"{many(lost, 'check')} no longer run"


def _statements(claims: Iterable[ClaimChange]) -> Iterator[str]:
    claims = list(claims)
    wrong = [claim for claim in claims if claim.newly_wrong]
    false = sum(map(_no_longer_true, wrong))
    if false:
        yield f"{many(false, 'statement')} no longer true"
    undecidable = sum(_undecidable(claim) for claim in wrong)
    if undecidable:
        yield f"{many(undecidable, 'statement')} undecidable"
    if others := len(wrong) - false - undecidable:
        yield f"{many(others, 'statement')} not as expected"
    removed = sum(claim.new is None for claim in claims)
    if removed:
        yield f"{many(removed, 'statement')} removed"


def _undecidable(claim: ClaimChange) -> bool:
    """Whether values that a statement is about are absent now."""
    return claim.new is not None and outcome(claim.new) == "undecidable"


def _no_longer_true(claim: ClaimChange) -> bool:
    """Whether a statement that both have is expected to be true, and is false now."""
    if claim.old is None or claim.new is None:
        return False
    return claim.new.entry.holds is True and outcomes(claim.new)[0] == "false"


# --- what changed ------------------------------------------------------------------------------


def _cells(studies: Iterable[StudyChanges]) -> list[CellChange]:
    """The changed cells of all grids but computed ones, which only follow."""
    return [cell for study in studies for _, cell in study.cells(computed=False)]


def _all_new(changes: Changes) -> Iterator[str]:
    if changes.base.empty:
        yield f"{changes.base.empty}, so all results are new"


def _facts(changes: Changes) -> Iterator[str]:
    if changes.added:
        yield f"{many(len(changes.added), 'study', 'studies')} added"
    yield from _all_new(changes)
    yield from _values(_cells(changes.studies))
    matches = [study.match for study in changes.studies]
    levels = sum(len(match.added) for match in matches)
    if levels:
        added = [grid for study in changes.studies for grid in study.grids.added]
        yield f"{many(levels, 'level')} added" + _with_values(added)
    readings = sum(len(study.readings.added) for study in changes.studies)
    if readings:
        yield f"{many(readings, 'reading')} added"
    renames = len(changes.renamed) + sum(
        len(study.match.renamed) + len(study.readings.renamed) for study in changes.studies
    )
    if renames:
        yield f"{renames:,} renamed"
    properties = [change for study in changes.studies for change in study.properties]
    rules = sum(change.weight == "rule" for change in properties)
    if rules:
        yield f"{many(rules, 'setting')} changed"
    if len(properties) > rules:
        yield f"{many(len(properties) - rules, 'text')} changed"


def _with_values(grids: list[Grid]) -> str:
    return f", with {grids_text(grids)}" if grids else ""


def _values(cells: list[CellChange]) -> Iterator[str]:
    """`4 values changed, none significantly`, `3 values corrected`."""
    changed = [cell for cell in cells if cell.kind == "value"]
    typed = [cell for cell in changed if cell.origin == "typed"]
    if typed and len(typed) == len(changed):
        yield f"{many(len(typed), 'value')} corrected"
    elif changed:
        yield f"{many(len(changed), 'value')} changed{significance_counts(changed)}"
    new = sum(cell.kind == "new" for cell in cells)
    if new:
        yield f"{many(new, 'value')} added"


def significance_counts(cells: Iterable[CellChange]) -> str:
    """How many of some changed cells changed significantly, after a comma."""
    tests = [cell.significance for cell in cells if cell.significance]
    if not tests:
        return ""
    significant = sum(bool(test.significant) for test in tests)
    untestable = sum(test.significant is None for test in tests)
    if untestable == len(tests):
        return ", not testable"
    more = f" ({untestable:,} not testable)" if untestable else ""
    return f", {significant or 'none'} significantly{more}"


def _unaffected(changes: Changes) -> str:
    """Whether statements and checks say what they said."""
    claims = [claim for study in changes.studies for claim in study.own_claims]
    findings = [change for study in changes.studies for change in study.findings]
    disputed = sum(
        change.old is None for study in changes.studies for change in study.own_disagreements
    )
    parts = [f"readings newly disagree on {many(disputed, 'cell')}"] if disputed else []
    affected = [
        text
        for number, text in (
            (len(claims), f"{many(len(claims), 'statement')} changed or new"),
            (len(findings), f"{many(len(findings), 'finding')} of checks changed"),
        )
        if number
    ]
    if not claims and not findings:
        affected = ["no statement or check affected"]
    elif not claims:
        affected.append("no statement affected")
    elif not findings:
        affected.append("no check affected")
    return "; ".join([*parts, *affected])
