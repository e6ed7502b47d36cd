"""Answers about several studies, and about two revisions of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal

from gridatlas.assessment.answers.answer import Answer, At, Evidence, Grade, headline, joined
from gridatlas.model.study import Levels, Point
from gridatlas.results.grids import Results

IN_WORDS: Mapping[Grade, str] = {
    "clear": "with a clear effect",
    "likely": "with a likely effect",
    "reading-dependent": "that depends on the reading",
    "not-shown": "in which nothing is shown",
    "untestable": "that can't be tested",
    "described": "that only describes",
}
"""What an overview counts, in its order."""


def overview_answer(studies: Mapping[str, Answer]) -> Answer:
    """How many studies have which grade; it ranks none of them.

    Nothing is corrected over the studies: of those in which nothing differs, up to 1 in 20 asserts
    something all the same.

    Args:
        studies: What each study leads with, by its title.
    """
    if not studies:
        return Answer("", "described", "No study yet")
    counts = Counter(answer.grade for answer in studies.values())
    parts = [f"{counts[grade]} {words}" for grade, words in IN_WORDS.items() if counts[grade]]
    number = "1 study" if len(studies) == 1 else f"{len(studies)} studies"
    short = [f"{counts[grade]} {grade}" for grade in IN_WORDS if counts[grade]]
    return Answer(
        "",
        "described",
        headline(f"{number}: {joined(parts)}", f"{number}: {joined(short)}"),
        tuple(Evidence(f"{title}: {answer.sentence}.") for title, answer in studies.items()),
    )


def revision_answer(
    base: tuple[Results, Answer],
    head: tuple[Results, Answer],
    page: str = "",
    place: Callable[[At], At | None] = lambda at: at,
) -> Answer:
    """How many shown values of a study changed, and whether what its page leads with did.

    A value that was typed again is a correction: it isn't tested.

    Args:
        base: The results before, and the answer of the page.
        head: The results now, and the answer of the page.
        place: Where the head has a cell of the base; None where it has no such place.
    """
    before, removed = _before(base[0], place)
    now = _values(head[0])
    both = before.keys() & now.keys()
    changed = sorted(at for at in both if before[at] != now[at])
    added, removed = len(now.keys() - both), removed + len(before.keys() - both)
    same = base[1].sentence == head[1].sentence and base[1].grade == head[1].grade
    if not (changed or added or removed):
        # Only labels or decimals are others.
        same = (base[1].grade, base[1].asserts) == (head[1].grade, head[1].asserts)
    facts = []
    if changed:
        facts.append(f"{len(changed):,} of {len(both):,} values changed")
    facts += [
        f"{number:,} {'value' if number == 1 else 'values'} {verb}"
        for number, verb in ((added, "added"), (removed, "removed"))
        if number
    ]
    if not facts:
        text = "No value changed" + ("" if same else ", but the answer did")
    else:
        them = "it" if len(changed) + added + removed == 1 else "them"
        text = joined(facts) + (
            "; the answer is the same" if same else f", and the answer with {them}"
        )
    evidence = [Evidence(f"Now: {head[1].sentence}.")]
    if not same:
        evidence.insert(0, Evidence(f"Before: {base[1].sentence}."))
    return Answer(page, "described", headline(text), tuple(evidence), tuple(changed))


def _before(results: Results, place: Callable[[At], At | None]) -> tuple[dict[At, Decimal], int]:
    """The values before, where the head has their places, and how many it has no place for."""
    values: dict[At, Decimal] = {}
    removed = 0
    for at, value in _points(results):
        to = place(at)
        if to is None:
            removed += 1
        else:
            values[to] = value
    return values, removed


def _values(results: Results) -> dict[tuple[Levels, Point], Decimal]:
    return dict(_points(results))


def _points(results: Results) -> Iterable[tuple[tuple[Levels, Point], Decimal]]:
    for levels, grid in results.grids.items():
        for x, y, cell in grid.points():
            if cell.value is not None and not grid.aggregate:
                yield (levels, (x.key, y.key)), cell.value
