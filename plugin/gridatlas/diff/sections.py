"""A comparison in sections, in the order of what matters to who reviews it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from gridatlas.analyse import summarise
from gridatlas.checks import TITLES, Finding
from gridatlas.claims import Judged
from gridatlas.diff.changes import Changes, StudyChanges
from gridatlas.diff.check_changes import FindingChange, failing
from gridatlas.diff.claim_changes import ClaimChange, outcome, own_outcome, wrong
from gridatlas.diff.grids import CellChange, CellKind, GridChange
from gridatlas.diff.matching import Renamed
from gridatlas.diff.reading_changes import DisagreementChange, ReadingChange
from gridatlas.diff.report import Item, Report, Section, Table, item, line
from gridatlas.diff.wording import (
    ROWS,
    best_text,
    cells_table,
    count,
    cut,
    grid_name,
    order,
    place_name,
    size,
    tests_of,
    value_text,
)
from gridatlas.problems import Problem
from gridatlas.study import Grid, Study

NAMED = 3
"""Cells that decide a claim, named in its item."""
EXPRESSION = 250
"""Characters of a claim's expression, or of a text before and after."""


def report(changes: Changes) -> Report:
    """Put a comparison in words; sections without an item are left out."""
    makers: tuple[tuple[str, str, Callable[[Changes], Iterable[Item]]], ...] = (
        ("problems", "Problems in the data", _problems),
        ("claims", "Claims that flipped, are recorded otherwise, or were removed", _claims),
        ("checks", "Checks that newly fail, or fail otherwise", _checks),
        ("best", "Best cells that changed", _best),
        ("readings", "Cells on which readings disagree", _disagreements),
        ("cells", "Changed values", _cells),
        ("claims-other", "Claims that are new or worded otherwise", _other_claims),
        ("structure", "Added, removed, or measured otherwise", _structure),
        ("findings", "Other findings: accepted, notes, and gone", _other_findings),
        ("renames", "The same under another name", _renames),
        ("sources", "Readings whose cells changed", _sources),
        ("texts", "Texts, labels and notes", _texts),
    )
    sections = []
    for section_id, title, make in makers:
        items = tuple(make(changes))
        if items:
            sections.append(Section(section_id, title, items))
    sides = (changes.base.name, changes.base.commit), (changes.head.name, changes.head.commit)
    (base, base_commit), (head, head_commit) = sides
    return Report(
        line(base), base_commit, line(head), head_commit, _summary(changes, sections),
        tuple(sections),
    )  # fmt: skip


# --- in a sentence ------------------------------------------------------------------------------


def _summary(changes: Changes, sections: list[Section]) -> str:
    if not sections:
        studies = count(len(changes.studies), "study", "studies")
        grids = [grid for one in changes.studies for grid in one.head.results.grids.values()]
        return (
            f"Nothing changed: {studies} with {_grids(grids)} are the same on both sides, with "
            "their claims, checks and texts."
        )
    sizes = {one.id: len(one.items) for one in sections}
    parts = []
    if "problems" in sizes:
        parts.append(f"{count(sizes['problems'], 'problem')} in the data")
    parts += _claims_summed(changes)
    findings = [one for study in changes.studies for one in study.findings]
    newly = sum(one.newly_fails for one in findings)
    still = sizes.get("checks", 0) - newly
    if newly:
        parts.append(f"{count(newly, 'check')} newly {'fails' if newly == 1 else 'fail'}")
    if still:
        parts.append(f"{count(still, 'check')} {'says' if still == 1 else 'say'} something else")
    parts += _cells_summed(changes)
    if "best" in sizes:
        parts.append(f"another best cell or value in {count(sizes['best'], 'grid')}")
    now = [one for study in changes.studies for one in study.readings.disagreements if one.new]
    if now:
        parts.append(f"readings disagree newly or otherwise on {count(len(now), 'cell')}")
    matches = [one.match for one in changes.studies]
    for number, what, more, done in (
        (len(changes.added), "study", "studies", "added"),
        (len(changes.removed), "study", "studies", "removed"),
        (sum(len(one.added) for one in matches), "level", "levels", "added"),
        (sum(len(one.removed) for one in matches), "level", "levels", "removed"),
    ):
        if number:
            parts.append(f"{count(number, what, more)} {done}")
    if "renames" in sizes:
        parts.append(f"{sizes['renames']:,} renamed")
    text = "; ".join(parts) or f"Only this changed: {', '.join(map(_inline, sections))}"
    return f"{text[0].upper()}{text[1:]}."


def _inline(section: Section) -> str:
    title = f"{section.title[0].lower()}{section.title[1:]}"
    return f"{title} ({len(section.items):,})"


def _claims_summed(changes: Changes) -> Iterator[str]:
    claims = [claim for one in changes.studies for claim in one.claims]
    flipped = sum(one.flipped for one in claims)
    wrong_now = sum(one.newly_wrong and not one.flipped for one in claims)
    removed = sum(one.new is None for one in claims)
    if flipped:
        yield f"{count(flipped, 'claim')} flipped"
    if wrong_now:
        yield f"{count(wrong_now, 'claim')} {'is' if wrong_now == 1 else 'are'} not as recorded"
    if removed:
        yield f"{count(removed, 'claim')} removed"


def _cells_summed(changes: Changes) -> Iterator[str]:
    grids = [grid for one in changes.studies for grid in one.grids.changed]
    touched = [[one for one in grid.cells if one.kind != "trials"] for grid in grids]
    cells = [one for of in touched for one in of]
    if not cells:
        return
    text = f"{count(len(cells), 'cell')} changed in {count(sum(map(bool, touched)), 'grid')}"
    yield text + _apart(cells)


def _apart(cells: Iterable[CellChange]) -> str:
    """How many of some changed cells can be told apart from noise, in brackets."""
    told = [one.told for one in cells if one.told]
    if not told:
        return ""
    apart = sum(bool(one.differs) for one in told)
    none = sum(one.differs is None for one in told)
    if none == len(told):
        return " (whether by more than noise can't be tested)"
    return f" ({apart} by more than noise" + (f", {none} not testable)" if none else ")")


# --- problems -----------------------------------------------------------------------------------


def _problems(changes: Changes) -> Iterator[Item]:
    for one in changes.unreadable:
        text = {
            "head": "can't be read any more, so that nothing of it can be compared"
            if one.there
            else "is new, and can't be read",
            "base": "couldn't be read before, so that it can't be compared; now it can"
            if one.there
            else "couldn't be read before, and was removed",
            "both": "can't be read, neither before nor now, so that it can't be compared",
        }[one.where]
        found = [detail for problem in one.problems[:5] for detail in _told(problem)]
        more = len(one.problems) - 5
        if more > 0:
            found.append(f"and {count(more, 'more problem')}")
        yield item(one.study, f"The study {text}", tuple(found))
    for study in changes.studies:
        for problem in study.problems:
            yield item(
                study.head.study.id, f"New: {problem.place}: {problem.found}", _mend(problem)
            )
    for known in changes.added:
        for problem in changes.head.problems.get(known.study.id, ()):
            if problem.severity == "problem":
                text = f"In a new study: {problem.place}: {problem.found}"
                yield item(known.study.id, text, _mend(problem))


def _told(problem: Problem) -> tuple[str, ...]:
    return (f"{problem.place}: {problem.found}", *_mend(problem))


def _mend(problem: Problem) -> tuple[str, ...]:
    return f"Expected: {problem.expected}", f"To mend it: {problem.mend}"


# --- claims -------------------------------------------------------------------------------------


def _claims(changes: Changes) -> Iterator[Item]:
    found = [
        (study, one)
        for study in changes.studies
        for one in study.claims
        if one.flipped or one.recorded_otherwise or one.newly_wrong or one.new is None
    ]

    def rank(pair: tuple[StudyChanges, ClaimChange]) -> tuple[bool, bool, bool]:
        one = pair[1]
        shown = bool(one.old and one.new and outcome(one.old) != outcome(one.new))
        return not one.newly_wrong, not shown, one.new is None

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
    elif outcome(one.old) != outcome(one.new):
        said.append(f"flipped from {outcome(one.old)} to {outcome(one.new)}")
    elif own_outcome(one.old) != own_outcome(one.new):
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
        f"Its {name} changed; before: {getattr(old, name) or 'none'}"
        for name in names
        if getattr(old, name) != getattr(new, name)
    )


def _other_claims(changes: Changes) -> Iterator[Item]:
    for study in changes.studies:
        for one in study.claims:
            told = one.flipped or one.recorded_otherwise or one.newly_wrong or one.new is None
            if told or one.new is None:
                continue
            study_id, text = study.head.study.id, f"“{one.new.entry.text}”"
            if one.old is None:
                yield item(study_id, f"New, {outcome(one.new)}: {text}", _check(one.new))
            else:
                now = "As recorded again" if wrong(one.old) else "Worded or checked otherwise"
                details = (*_differences(one), *_check(one.new))
                yield item(study_id, f"{now}, {outcome(one.new)}: {text}", details)
    for known in changes.added:
        n = len(known.claims)
        bad = [one for one in known.claims if wrong(one)]
        if n:
            text = f"The new study makes {count(n, 'claim')}"
            text += f", of which {len(bad)} not as recorded" if bad else ""
            yield item(known.study.id, text, tuple(f"“{one.entry.text}”" for one in bad[:NAMED]))


# --- checks -------------------------------------------------------------------------------------


def _checks(changes: Changes) -> Iterator[Item]:
    found = [(study, one) for study in changes.studies for one in study.findings if one.fails]
    for study, one in sorted(found, key=lambda pair: not pair[1].newly_fails):
        if one.new is not None:
            now = "Still fails, and otherwise" if failing(one.old) else "Newly fails"
            if one.old is not None and one.old.accepted and not one.new.accepted:
                now = "No longer accepted"
            yield _finding(study.head.study, one.new, now)
    for study in changes.studies:
        for outcome_change in study.outcomes:
            old, other = outcome_change.old, outcome_change.new
            yield item(
                study.head.study.id,
                f"{other.title}, {_reading(study.head.study, other.reading)}: now "
                f"{_OUTCOMES[other.outcome]}, before {_OUTCOMES[old.outcome]}",
                (f"Now: {other.statement}", f"Before: {old.statement}"),
            )


_OUTCOMES = {
    "passed": "it passed",
    "found": "it found something",
    "says nothing": "it says nothing",
    "not testable": "nothing can be tested",
}


def _finding(study: Study, one: Finding, now: str) -> Item:
    title = TITLES[one.kind]
    source = _reading(study, one.reading)
    text = f"{now}: {title}, {grid_name(study, one.levels)}, {source}: {one.found}"
    details = [one.means, one.sure] if failing(one) else []
    if one.accepted:
        details.insert(0, f"Accepted because: {one.accepted.because}")
    return item(study.id, text, tuple(details))


def _reading(study: Study, reading: str) -> str:
    if not reading:
        return "shown values"
    label = next((one.label for one in study.readings if one.id == reading), reading)
    return f"reading “{label}”"


def _other_findings(changes: Changes) -> Iterator[Item]:
    every: list[tuple[StudyChanges, FindingChange]] = [
        (study, one)
        for study in changes.studies
        for one in study.findings
        if not (one.new is not None and one.fails)
    ]
    for study, one in every:
        if one.new is not None and one.new.accepted and not (one.old and one.old.accepted):
            yield _finding(study.head.study, one.new, "Accepted now")
    for study, one in every:
        if one.new is None and one.old is not None:
            yield _finding(study.base.study, one.old, "No longer found")
    for study in changes.studies:
        for problem in study.mended:
            yield item(study.head.study.id, f"Mended: {problem.place}: {problem.found}")
    for study, one in every:
        told = one.new is None or (one.new.accepted and not (one.old and one.old.accepted))
        if one.new is not None and not told:
            now = "New note" if one.old is None else "Says something else"
            yield _finding(study.head.study, one.new, now)


# --- values -------------------------------------------------------------------------------------


def _best(changes: Changes) -> Iterator[Item]:
    found = [
        (study, grid)
        for study in changes.studies
        for grid in study.grids.changed
        if grid.best is not None
    ]

    def rank(pair: tuple[StudyChanges, GridChange]) -> tuple[bool, bool]:
        best = pair[1].best
        return not (best and best.moved), not (best and best.differs)

    for study, grid in sorted(found, key=rank):
        if grid.best is not None:
            yield item(study.head.study.id, *best_text(grid, grid.best))


def changed_grids(changes: Changes) -> list[tuple[StudyChanges, GridChange]]:
    """The grids with changed cells: those first that noise explains least, then by size."""
    found = [
        (study, grid) for study in changes.studies for grid in study.grids.changed if grid.cells
    ]

    def rank(pair: tuple[StudyChanges, GridChange]) -> tuple[int, object]:
        cells = pair[1].cells
        apart = sum(bool(one.told and one.told.differs) for one in cells)
        return -apart, -max(map(size, cells))

    return sorted(found, key=rank)


def _cells(changes: Changes) -> Iterator[Item]:
    for study, grid in changed_grids(changes):
        cells = sorted(grid.cells, key=order)
        more = len(cells) - ROWS
        details = (
            f"It has now exactly the values that {grid.like} had." if grid.like else "",
            f"and {count(more, 'more cell')} of this grid" if more > 0 else "",
            *tests_of(cells),
        )
        yield item(
            study.head.study.id,
            f"{grid_name(grid.new.study, grid.new.levels)}: {_counted(grid)}",
            details,
            cells_table(grid, cells),
        )


def _counted(grid: GridChange) -> str:
    kinds = [one.kind for one in grid.cells]
    words: dict[CellKind, str] = {
        "value": "changed",
        "gone": "gone",
        "new": "new",
        "state": "with another state",
        "trials": "with other trials or errors",
    }
    parts = [
        f"{count(kinds.count(kind), 'value')} {word}"
        for kind, word in words.items()
        if kind in kinds
    ]
    parts[0] += _apart(grid.cells)
    total = sum(cell.value is not None for _, _, cell in grid.new.points())
    return f"{', '.join(parts)}; it has {count(total, 'value')}"


# --- readings -----------------------------------------------------------------------------------


def _disagreements(changes: Changes) -> Iterator[Item]:
    for study in changes.studies:
        for hint in study.readings.hints:
            one, other = (_reading(study.head.study, name) for name in (hint.reading, hint.other))
            yield item(
                study.head.study.id,
                f"Now it looks as if of {one} {hint.looks}, compared with {other}",
                (hint.evidence,),
            )
    kinds: tuple[tuple[str, Callable[[DisagreementChange], bool]], ...] = (
        ("readings disagree now on", lambda one: one.old is None),
        ("readings disagree otherwise on", lambda one: bool(one.old and one.new)),
        ("readings no longer disagree on", lambda one: one.new is None),
    )
    for words, wanted in kinds:
        for study in changes.studies:
            groups: dict[tuple[str, ...], list[DisagreementChange]] = {}
            for change in study.readings.disagreements:
                if wanted(change):
                    groups.setdefault(change.at[0], []).append(change)
            for levels, group in groups.items():
                yield _disagreement(study, levels, group, words)


def _disagreement(
    study: StudyChanges, levels: tuple[str, ...], group: list[DisagreementChange], words: str
) -> Item:
    head, base = study.head.study, study.base.study

    def values(one: DisagreementChange) -> str:
        # Of those that are gone, what they were.
        given, of = (one.new, head) if one.new else (one.old, base)
        assert given is not None
        labels = {reading.id: reading.label for reading in of.readings}
        return "; ".join(f"{value} ({labels.get(key, key)})" for key, value in given.values)

    rows = tuple((place_name(head, one.at[1]), values(one)) for one in group[:ROWS])
    more = len(group) - ROWS
    column = "values" if group[0].new else "values before"
    return item(
        head.id,
        f"{grid_name(head, levels)}: {words} {count(len(group), 'cell')}",
        (f"and {count(more, 'more cell')} of this grid",) if more > 0 else (),
        Table(("cell", column), rows),
    )


def _sources(changes: Changes) -> Iterator[Item]:
    for study in changes.studies:
        for one in study.readings.changed:
            yield _source(study, one)


def _source(study: StudyChanges, one: ReadingChange) -> Item:
    head = study.head.study
    parts = []
    if one.values:
        parts.append(f"{count(len(one.values), 'value')} changed")
    if one.details:
        parts.append(
            f"notes, places, runs or decimals of {count(len(one.details), 'cell')} changed"
        )
    shown = {
        (change.new.levels, cell.point): cell.new.reading
        for change in study.grids.changed
        for cell in change.cells
    }
    # Those that are shown stand among the changed values.
    hidden = [value for value in one.values if shown.get(value[0]) != one.new.id]
    rows = tuple(
        (
            f"{grid_name(head, levels)}, {place_name(head, point)}",
            value_text(head, old),
            value_text(head, new),
        )
        for (levels, point), old, new in hidden[:ROWS]
    )
    if one.values and len(hidden) < len(one.values):
        parts[0] += f", of which {len(hidden):,} aren't shown" if hidden else ", all of them shown"
    more = len(hidden) - ROWS
    return item(
        head.id,
        f"{_reading(head, one.new.id)}: {', '.join(parts)}",
        (f"and {count(more, 'more value')} of this reading",) if more > 0 else (),
        Table(("cell", "before", "after"), rows) if rows else None,
    )


# --- structure ----------------------------------------------------------------------------------


def _structure(changes: Changes) -> Iterator[Item]:
    for words, there in (("Removed", changes.removed), ("Added", changes.added)):
        for known in there:
            grids = list(known.results.grids.values())
            text = f"{words}: the study “{known.study.title}” with {_grids(grids)}"
            yield item(known.study.id, text)
    for study in changes.studies:
        yield from _study_structure(study)


def _study_structure(study: StudyChanges) -> Iterator[Item]:
    old, new = study.base.study, study.head.study
    if study.match.order is None:
        names = [", ".join(one.id for one in (*each.facets, each.x, each.y)) for each in (old, new)]
        yield item(
            new.id,
            f"The factors can't be laid over one another, so that no cell can be compared: now "
            f"{names[1]}; before {names[0]}",
        )
    for one in study.texts:
        if one.weight == "rule":
            yield item(new.id, _said(one.what, one.old, one.new))
    for words, levels, grids, of in (
        ("Removed", study.match.removed, study.grids.removed, old),
        ("Added", study.match.added, study.grids.added, new),
    ):
        facets = {one.id for one in of.facets}
        told: set[int] = set()
        for factor, level in levels:
            if factor.id in facets:
                index = [one.id for one in of.facets].index(factor.id)
                here = [grid for grid in grids if grid.levels[index] == level.key]
                told |= {id(grid) for grid in here}
                text = f"{words}: {factor.label} {level.label}, with {_grids(here)}"
                yield item(new.id, text, tuple(_bests(here)))
            else:
                text = f"{words}: {factor.label} {level.label} on an axis"
                yield item(
                    new.id,
                    f"{text}, with {count(_at_level(study, words, factor.id, level.key), 'value')}",
                )
        left = [grid for grid in grids if id(grid) not in told]
        for grid in left:
            values = sum(cell.value is not None for _, _, cell in grid.points())
            text = f"{words}: the grid {grid_name(of, grid.levels)} with {count(values, 'value')}"
            yield item(new.id, text, tuple(_bests([grid])))
    readings = study.readings
    for words, sources in (("Removed", readings.removed), ("Added", readings.added)):
        for reading in sources:
            text = (
                f"{words}: the reading “{reading.label}” with {count(len(reading.cells), 'cell')}"
            )
            yield item(new.id, text)
    for change in study.grids.changed:
        if change.computed:
            now = "computed from its parts" if change.new.computed else "printed by a reading"
            yield item(new.id, f"{grid_name(new, change.new.levels)} is now {now}")


def _at_level(study: StudyChanges, words: str, factor: str, key: str) -> int:
    results = (study.base if words == "Removed" else study.head).results
    axis = 0 if results.study.x.id == factor else 1
    return sum(
        cell.value is not None and (x.key, y.key)[axis] == key
        for grid in results.grids.values()
        for x, y, cell in grid.points()
    )


def _grids(grids: list[Grid]) -> str:
    values = sum(cell.value is not None for grid in grids for _, _, cell in grid.points())
    return f"{count(len(grids), 'grid')} and {count(values, 'value')}"


def _bests(grids: list[Grid]) -> Iterator[str]:
    for grid in grids[:ROWS]:
        summary = summarise(grid)
        if summary is not None:
            best = value_text(grid.study, summary.best_value)
            places = (place_name(grid.study, (x.key, y.key)) for x, y in summary.best)
            yield f"{grid_name(grid.study, grid.levels)}: best {best} at {cut(places, NAMED)}"
    if len(grids) > ROWS:
        yield f"and {count(len(grids) - ROWS, 'more grid')}"


# --- names and texts ----------------------------------------------------------------------------


def _renames(changes: Changes) -> Iterator[Item]:
    for one in changes.renamed:
        yield _renamed(one, one.new.partition(" ")[0])
    for study in changes.studies:
        for one in (*study.match.renamed, *study.readings.renamed):
            yield _renamed(one, study.head.study.id)


def _renamed(one: Renamed, study_id: str) -> Item:
    what = {"study": "study", "factor": "factor", "reading": "reading"}.get(one.kind)
    name = what or f"level of {one.of}"
    if one.kind == "factor":
        sure = f"taken for the same by its place and {count(one.equal, 'level')} of {one.cells}"
    elif one.equal == one.cells:
        sure = f"all {count(one.cells, 'value')} that both have are the same"
    else:
        sure = f"{one.equal:,} of {count(one.cells, 'value')} that both have are the same"
    return item(study_id, f"The {name} {one.old} is now {one.new}", (f"How sure: {sure}.",))


def _texts(changes: Changes) -> Iterator[Item]:
    for study in changes.studies:
        for one in study.texts:
            if one.weight == "text":
                yield item(study.head.study.id, _said(one.what, one.old, one.new))


def _said(what: str, old: str, new: str) -> str:
    old, new = line(old, len(old) + 1), line(new, len(new) + 1)
    if min(len(old), len(new)) > EXPRESSION // 2:
        # Of long texts, from a little before the first letter that differs.
        same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
        start = old.rfind(" ", 0, max(0, (same or min(len(old), len(new))) - 40)) + 1
        old, new = (f"{'…' if start else ''}{text[start:]}" for text in (old, new))
    before, after = (line(text, EXPRESSION) or "none" for text in (old, new))
    return f"{what}: now {after}; before {before}"
