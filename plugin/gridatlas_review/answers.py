"""What answers assert, before and now: reversed, lost, new, or of another setting or grade."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gridatlas.analysis.said import Answer, Assertion
from gridatlas.assessment.assessment import Assessment
from gridatlas.model.schema import level_number
from gridatlas.model.study import Factor
from gridatlas_review.changes import StudyChanges
from gridatlas_review.matching import Match, factors_of
from gridatlas_review.report import BAD, LOOK, Row

NOUN = "changed answer"


def answer_rows(study: StudyChanges) -> Iterator[Row]:
    """The answers that assert something else now: the study's own, then those of other pages."""
    if not study.may_change_answers:
        return
    base, head = study.base, study.head
    names = _pages(head)
    fronts = base.answers[""], head.answers[""]
    for key, before in base.answers.items():
        page = _page_in_head(key, study)
        now = head.answers.get(page) if page is not None else None
        if now is None or page not in names or (key and (before, now) == fronts):
            continue
        found = compare_answers(_in_head(before, study.match), now)
        if found is None:
            continue
        mark, what = found
        start = f"{names[page]}: " if page else ""
        if page:
            what = f"On the page {names[page]}, {what[0].lower()}{what[1:]}"
        sides = (answer.headline.removeprefix(start) for answer in (before, now))
        yield Row(
            "answers", mark, study.id, f"{what}: {' → '.join(sides)}", NOUN,
            frozenset({"answers"} if mark == BAD else ()), order="page" if page else "",
        )  # fmt: skip


def _pages(head: Assessment) -> dict[str, str]:
    """The pages that lead with an answer, by their keys, with their names."""
    names = {"": ""} | {facet.id: facet.label for facet in head.study.facets}
    for facet in head.study.facets:
        levels = head.results.levels(facet.id)
        names |= {f"{facet.id}/{level.slug}": level.label for level in levels}
    return names


def _page_in_head(key: str, study: StudyChanges) -> str | None:
    """The head's page of what a page of the base is about; None for none."""
    facet_id, _, slug = key.partition("/")
    if not key or study.match.order is None:
        return key
    old, new = factors_of(study.base.study), factors_of(study.head.study)
    for factor, place, keys in zip(old, study.match.order, study.match.levels, strict=True):
        if factor.id == facet_id:
            to: Factor = new[place]
            if not slug:
                return to.id
            level = next((level for level in factor.levels if level.slug == slug), None)
            if level is not None and level.key in keys:
                return f"{to.id}/{to.level(keys[level.key]).slug}"
    return None


def _in_head(answer: Answer, match: Match) -> Answer:
    """An answer of the base with the head's names of levels and factors."""

    def named(of: Assertion) -> Assertion:
        levels = tuple(match.names.get(level, level) for level in of.levels)
        return replace(of, factor=match.in_head(of.factor), levels=levels)

    return replace(answer, assertions=tuple(map(named, answer.assertions)))


def compare_answers(before: Answer, now: Answer) -> tuple[str, str] | None:
    """The mark of an answer that asserts something else, and what became of it; None for the same.

    Args:
        before: With the names that the other one has.
    """
    if not before.asserts:
        return (LOOK, "The answer is new") if now.asserts else None
    if not now.asserts:
        return BAD, "The answer is no longer asserted"
    changed = _compare_leads(before, now) if before.assertions and now.assertions else None
    if changed is None and before.grade != now.grade:
        return LOOK, f"The answer is {now.grade} now, was {before.grade}"
    return changed


def _compare_leads(before: Answer, now: Answer) -> tuple[str, str] | None:
    first, lead = before.assertions[0], now.assertions[0]
    after = {_subject(of): of for of in now.assertions}
    for of in before.assertions:
        other = after.get(_subject(of))
        if other is not None and _reversed(of, other):
            return BAD, "The answer reversed" if _group(of) == _group(first) else _turned(of, other)
    if _is_pair(first) and _is_pair(lead) and _named(first) == _named(lead):
        leaders, others = _leaders(before), _leaders(now)
        if leaders[0].isdisjoint(others[0]):
            both = leaders[0] <= others[1] and others[0] <= leaders[1]
            return BAD, "The answer reversed" if both else "The answer has another leader"
        if leaders[0] != others[0] or first.kind != lead.kind:
            return LOOK, "The answer changed"
    elif _subject(first) not in after and _group(first) not in map(_group, now.assertions):
        return BAD, "The answer is no longer asserted"
    elif _group(first) != _group(lead):
        return LOOK, "The answer leads with something else"
    elif first.kind != lead.kind and first.levels == lead.levels:
        return LOOK, "The answer changed"
    elif _says(first) != _says(lead):
        return LOOK, "The answer names another setting"
    elif first.unit != lead.unit:
        return LOOK, "The answer is in another unit"
    return None


def _is_pair(of: Assertion) -> bool:
    """Whether its first two levels are compared, the better one first."""
    return of.kind in ("pair", "block") or (of.kind == "best" and len(of.levels) == 2)


def _group(of: Assertion) -> tuple[str, str]:
    # A level that is best scores above the others, too.
    alone = of.kind == "best" and len(of.levels) == 1
    return "level" if alone else of.kind, of.factor


def _named(of: Assertion) -> str:
    """The factor whose levels it compares, block by block or over all."""
    return of.factor.partition(" × ")[0]


def _leaders(answer: Answer) -> tuple[set[str], set[str]]:
    """Of what the answer leads with: the levels that none beats, and those that one beats."""
    pairs = [of.levels for of in answer.assertions if _group(of) == _group(answer.assertions[0])]
    beaten = {second for _, second, *_ in pairs}
    return {first for first, *_ in pairs} - beaten, beaten


def _subject(of: Assertion) -> tuple[object, ...]:
    """What it is about, whichever way it goes."""
    if _is_pair(of):
        return *_group(of), frozenset(of.levels[:2]), of.levels[2:]
    if _group(of)[0] in ("differ", "level"):
        return *_group(of), frozenset(of.levels)
    return _group(of)


def _reversed(old: Assertion, new: Assertion) -> bool:
    """Whether two assertions about the same go opposite ways."""
    if _is_pair(old):
        return old.levels != new.levels
    if old.kind == "differ":
        # That of an axis only says that its levels differ.
        if any(level_number(level) is not None for level in old.levels):
            return False
        return ((old.estimate > 0) == (new.estimate > 0)) == (old.levels != new.levels)
    return _group(old)[0] in ("trend", "level") and (old.estimate > 0) != (new.estimate > 0)


def _turned(old: Assertion, new: Assertion) -> str:
    """What of the evidence reversed, in words."""
    if _is_pair(old):
        sides = [f"{of.levels[0]} ahead of {of.levels[1]}" for of in (old, new)]
    else:
        sides = [f"{'up' if of.estimate > 0 else 'down'} with {of.factor}" for of in (old, new)]
    return f"A part of the answer reversed ({' → '.join(sides)})"


def _says(of: Assertion) -> tuple[object, ...]:
    """What it says without its numbers."""
    return of.kind, of.factor, () if of.kind == "trend" else of.levels
