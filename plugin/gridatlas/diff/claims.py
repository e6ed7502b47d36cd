"""Claims that flipped, are new, removed or worded otherwise, and which changed values did that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from gridatlas.assessment.assess import same_inputs
from gridatlas.assessment.assessment import Assessment
from gridatlas.claims import ClaimError, Judged, evaluate
from gridatlas.diff.changes import (
    Causes,
    Changes,
    ClaimChange,
    FindingChange,
    Place,
    StudyChanges,
    is_wrong,
    outcome,
    outcomes,
)
from gridatlas.diff.grids import CellChange, GridChange
from gridatlas.diff.matching import Match
from gridatlas.diff.report import (
    EXCERPT,
    NAMED,
    Entry,
    before_and_now,
    entry,
    grid_name,
    line,
    more_than,
    place_name,
    truncate,
)
from gridatlas.model.format import cell_text, many
from gridatlas.model.study import Levels
from gridatlas.table.grids import Results
from gridatlas.table.study_table import Grid

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
        or before.within_noise != after.within_noise
        or is_wrong(before) != is_wrong(after)
    ]
    changes += [ClaimChange(claim, None) for claim in old]
    changes += [ClaimChange(None, claim) for claim in new]
    place = {id(claim): index for index, claim in enumerate((*base, *head))}
    return tuple(sorted(changes, key=lambda change: place[id(change.new or change.old)]))


def _words(claim: Judged) -> str:
    return " ".join(claim.entry.text.split())


# --- which changed values did that ---------------------------------------------------------------

MAX_TRIED = 2_000
"""Evaluations of statements with a value put back; the statements left over have no cause."""


def find_causes(
    grids: Sequence[GridChange],
    claims: Sequence[ClaimChange],
    findings: Sequence[FindingChange],
    studies: Mapping[str, Results],
    study_id: str,
) -> Causes:
    """The statements and checks that single changed values decide.

    Each value is put back alone; a statement that several values turn together has no cause here,
    nor has one that was worded otherwise.

    Args:
        studies: The head's results of all studies.
        study_id: Id of the study that changed.
    """
    statements: dict[Place, list[ClaimChange]] = {}
    checks: dict[Place, list[FindingChange]] = {}
    flipped = [
        claim
        for claim in claims
        if claim.shown_flipped and claim.old and claim.new
        if claim.old.entry.check == claim.new.entry.check
    ]
    tried = 0
    for grid in grids:
        for cell in grid.cells:
            place = grid.new.levels, cell.point
            found = [
                change for change in findings if change.fails and _concerns(change, grid, cell)
            ]
            if found:
                checks[place] = found
            tried += len(flipped)
            if (
                not flipped
                or cell.kind == "trials"
                or cell.origin == "computed"
                or tried > MAX_TRIED
            ):
                continue
            before = {**studies, study_id: _put_back(studies[study_id], grid.new, cell)}
            turned = list(_turned(flipped, before, study_id))
            if turned:
                statements[place] = turned
    return Causes(
        {place: tuple(found) for place, found in statements.items()},
        {place: tuple(found) for place, found in checks.items()},
    )


def _turned(
    claims: Sequence[ClaimChange], studies: Mapping[str, Results], study_id: str
) -> Iterator[ClaimChange]:
    """The claims that have their old outcome in these results."""
    for claim in claims:
        assert claim.old is not None
        assert claim.old.entry.check is not None
        try:
            verdict = evaluate(claim.old.entry.check, studies, study_id)
        except ClaimError:
            continue
        if claim.old.verdict and verdict.outcome == claim.old.verdict.outcome:
            yield claim


def _put_back(results: Results, grid: Grid, change: CellChange) -> Results:
    """The results with one cell as it was."""
    points = ((x.key, y.key, cell) for x, y, cell in grid.points())
    cells = (change.old if (x, y) == change.point else cell for x, y, cell in points)
    before = Grid.of(results.study, grid.levels, cells, grid.computed)
    return replace(results, grids={**results.grids, grid.levels: before})


def _concerns(change: FindingChange, grid: GridChange, cell: CellChange) -> bool:
    """Whether a finding is about a cell, or about an aggregate of it."""
    finding = change.new
    if finding is None or cell.point not in finding.cells:
        return False
    return finding.levels == grid.new.levels or _sums_up(finding.levels, grid.new)


def _sums_up(levels: Levels, grid: Grid) -> bool:
    """Whether a grid at these levels is an aggregate that has another grid as a part."""
    pairs = list(zip(grid.study.facets, levels, grid.levels, strict=True))
    differing = [(facet, level) for facet, level, own in pairs if level != own]
    return len(differing) == 1 and bool(differing[0][0].level(differing[0][1]).aggregate)


# --- in the report ------------------------------------------------------------------------------


def claim_entries(changes: Changes) -> Iterator[Entry]:
    """Claims that flipped, are recorded otherwise, or were removed; those of one cause together."""
    for study in changes.studies:
        found = [change for change in study.own_claims if change.is_important]
        causes = {id(change): _cause(study, change) for change in found}
        sizes = Counter(causes.values())

        def rank(change: ClaimChange) -> tuple[object, ...]:
            cause = causes[id(change)]  # noqa: B023 - sorted at once
            size = -sizes[cause], cause  # noqa: B023
            return not change.newly_wrong, *size, not change.shown_flipped, change.new is None

        for change in sorted(found, key=rank):
            yield _claim(study.id, change, causes[id(change)])


def _cause(study: StudyChanges, change: ClaimChange) -> str:
    """The changed value that alone made a claim what it is: `R1-Qwen, …: 52.0 → 44.0`."""
    if not change.shown_flipped or change.old is None or change.new is None:
        return ""
    if change.old.entry.check != change.new.entry.check:
        return ""
    places = set(study.causes.of(change))
    if not places:
        return "several changed values together" if study.grids.changed else ""
    cells = {
        (grid.new.levels, cell.point): f"{cell_text(grid.old.study, cell.old)} → "
        f"{cell_text(grid.new.study, cell.new)}"
        for grid, cell in study.cells()
    }
    head = study.head.study
    names = [
        f"{grid_name(head, place[0])}, {place_name(head, place[1])}: {text}"
        for place, text in cells.items()
        if place in places
    ]
    return truncate(names, NAMED)


def claims_gist(changes: Changes) -> str:
    """The cause of all claims that changed, where they have the same."""
    groups = {found.group for found in claim_entries(changes)}
    return groups.pop() if len(groups) == 1 else ""


def _claim(study_id: str, change: ClaimChange, cause: str) -> Entry:
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
    group = f"{what[0].upper()}{what[1:]}{f', caused by {cause}' if cause else ''}"
    return entry(study_id, f"“{new.entry.text}”", details, group=group)


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
