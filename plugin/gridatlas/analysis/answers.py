"""Answers of pages: what leads, and the evidence for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isfinite

import numpy as np

from gridatlas.analysis import cells, contrasts, words
from gridatlas.analysis.axes import say_axis, say_cell, say_interaction
from gridatlas.analysis.descriptions import (
    alone,
    described_only,
    not_shown,
    notes,
    prefix_of,
    value_range,
)
from gridatlas.analysis.design import Design, Study, changed, design
from gridatlas.analysis.names import compared, ranks, say_blocks, say_names, say_tuned
from gridatlas.analysis.questions import (
    Naming,
    Question,
    ask,
    conditions_beside,
    explained,
    level_pages,
    over_page,
)
from gridatlas.analysis.said import (
    Answer,
    Assertion,
    Grade,
    Said,
    ahead,
    graded,
    is_likely,
    size,
    tested_with,
)

# --- an answer ------------------------------------------------------------------------------------


def answer(page: Design, asked: Sequence[Question], front: Answer | None = None) -> Answer:
    """The answer of a page, from its questions with p adjusted over all that is asked.

    Args:
        front: The study's own answer, which a page of one replicate repeats.
    """
    found = replace(_answer(page, asked, front), ranks=ranks(asked))
    if page.study.table.metric.better:
        return found
    neutral = partial(words.undirected, page=page)
    return replace(
        found,
        headline=neutral(found.headline),
        evidence=tuple(map(neutral, found.evidence)),
        much=neutral(found.much),
        surer=neutral(found.surer),
    )


def _answer(page: Design, asked: Sequence[Question], front: Answer | None) -> Answer:
    prefix = prefix_of(page)
    if page.single:
        return alone(page, front)
    chosen = any(page.factor(name).role == "choice" for name in page.varied)
    beside = ("interaction", "condition") if chosen else ("interaction",)
    tested = any(question.kind not in beside or question.shown for question in asked)
    if not tested or value_range(page)[0] == value_range(page)[1]:
        return described_only(page, prefix)
    asked = [*asked, *conditions_beside(page, asked)]
    stated = _in_order(page, asked)
    if not any(each.heads for each in stated):
        return not_shown(page, asked, prefix)
    leading = stated[0]
    heads, capped = _together(stated)
    inside = tested_with(leading.question)
    p = heads[0][1]
    for text, p in heads:
        likely = is_likely(p, capped=capped)
        headline = words.headline(text, inside, prefix, likely=likely)
        if len(headline) <= words.LONGEST:
            break
    evidence = [*leading.evidence, *_other_questions(leading)]
    for each in stated[1:]:
        evidence += each.also
    evidence += _unshown(page, asked, leading)
    assertions = tuple(lone for each in stated for lone in each.assertions)
    return Answer(
        headline,
        tuple(dict.fromkeys([*evidence, *notes(page)])),
        graded(p, capped=capped),
        p,
        words.population(inside),
        assertions,
        compared(asked),
        much=leading.much,
    )


_SAY: Mapping[str, Callable[[Question], Said]] = {
    "names": say_names, "tuned": say_tuned, "by block": say_blocks, "cell": say_cell,
    "interaction": say_interaction, "axis": say_axis, "condition": say_axis,
}  # fmt: skip


def _in_order(page: Design, asked: Sequence[Question]) -> list[Said]:
    """What each question gives, the one that leads first."""
    found = [_SAY[of.kind](of) for of in asked]
    shown = [each for each in found if each.heads]
    if not shown:
        return found
    leading = shown[0]
    if leading.question.kind == "condition":
        # What only depends is evidence.
        leading = min(shown, key=lambda of: bool(of.naming and of.naming.rule == "depends"))
    blocks = [each for each in shown if each.question.kind == "by block"]
    by_block = leading.question.kind == "names" and blocks
    if by_block and _blocks_differ(page, blocks[0].question) <= 0.025:
        leading = blocks[0]
    settings = [each for each in shown if each.question.kind == "cell"]
    if settings and leading.question.kind == "axis" and _explains_more(settings[0].question, shown):
        leading = settings[0]
    return [leading, *(each for each in shown if each is not leading)]


def _explains_more(question: Question, shown: Sequence[Said]) -> bool:
    """Whether a setting explains more than each of its axes that is shown."""
    tests = question.tests
    place = {question.factor: int(tests.first[0]), question.other: int(tests.second[0])}
    first, second, rest = explained(question.design, question.factor, question.other, place)
    sums = {question.factor: first, question.other: second}
    axes = {each.question.factor for each in shown if each.question.kind == "axis"}
    return all(rest > sums[name] for name in axes if name in sums)


def _blocks_differ(page: Design, question: Question) -> float:
    """The p of the interaction of names and blocks: whether their mean is what anybody meets."""
    inside = page
    if question.other not in page.names:
        inside = design(replace(page.study, apart=False), page.fixed)
    if question.other not in inside.names:
        return 1.0
    p = cells.interaction(inside, question.factor, question.other)
    return p if isfinite(p) else 1.0


def _together(stated: Sequence[Said]) -> tuple[list[tuple[str, float]], bool]:
    """Headlines, longest first; where several axes are alike they share one."""
    leading = stated[0]
    kind = leading.question.kind
    if kind not in ("axis", "condition"):
        return [*leading.heads], leading.capped
    page = leading.question.design
    alike = [each for each in stated if each.question.kind == kind]
    namings = [(each, each.naming) for each in alike]
    first = namings[0][1]
    if first is None:
        return [*leading.heads], leading.capped
    trends = [
        (each, naming) for each, naming in namings if naming and naming.rule in ("trend", "tends")
    ]
    levels = [
        (each, naming) for each, naming in namings if naming and naming.rule in ("best", "above")
    ]
    metric = page.study.table.metric.name
    # One sentence says the same of all: none is weaker than it would be alone, or goes another way.
    trends = [of for of in trends if _way(*of) == _way(*trends[0])]
    heads: list[tuple[str, float]] = []
    used: list[Said] = []
    if first.rule in ("trend", "tends") and len(trends) > 1:
        parts = [
            (
                page.factor(each.question.factor).label,
                bool(each.question.tests.estimate[naming.test] > 0),
                "with" if naming.rule == "trend" else "at",
            )
            for each, naming in trends
        ]
        used = [each for each, _ in trends]
        for count in (2, 1):
            p = max(naming.p for _, naming in trends[:count])
            heads.append((words.trends(metric, parts[:count]), p))
    elif first.rule in ("best", "above") and len(levels) == 2:
        lone, two = (
            words.labelled(page.factor(each.question.factor), naming.levels[0])
            for each, naming in levels
        )
        used = [each for each, _ in levels]
        p = max(naming.p for _, naming in levels)
        heads.append((words.both_levels(lone, two, words.extreme(page)), p))
    capped = leading.capped or any(each.capped for each in used)
    return [*heads, *leading.heads], capped


def _way(each: Said, naming: Naming) -> tuple[str, bool, Grade]:
    """How a trend is said: its rule, whether it goes up, and its grade."""
    up = bool(each.question.tests.estimate[naming.test] > 0)
    return naming.rule, up, graded(naming.p, capped=each.capped)


def _unshown(page: Design, asked: Sequence[Question], leading: Said) -> list[str]:
    """What was asked and not shown."""
    texts = []
    for question in asked:
        if question.shown or question.kind in ("interaction", "cell", "by block", "tuned"):
            continue
        label = page.factor(question.factor).label
        if question.kind == "names":
            if leading.question.kind == "by block" and len(question.tests) == 1:
                first, _ = ahead(question, 0)
                name = page.factor(question.factor).spoken[first]
                units = words.plural(page.factor(leading.question.other).label)
                texts.append(
                    f"On average over the {units} {name} is ahead by {size(question, 0)}; for "
                    f"other {units} nothing is shown ({words.p_text(question.p)})."
                )
            else:
                p = words.p_text(question.p)
                texts.append(f"No difference between {words.plural(label)} shown ({p}).")
        else:
            texts.append(f"{words.no_effect([label])} ({words.p_text(question.p)}).")
    return texts


def _other_questions(leading: Said) -> list[str]:
    """Of counts of known questions: the intervals of what leads, for other questions."""
    if tested_with(leading.question).unit != "counts":
        return []
    found = []
    for stated in leading.assertions:
        if stated.kind in ("pair", "block", "level", "trend"):
            found += _for_other_questions(leading.question, stated)
    return [words.other_questions(found)] if found else []


def _for_other_questions(question: Question, stated: Assertion) -> list[tuple[str, str, int]]:
    """What is compared, its interval with n = questions, and how many these are, where known."""
    study, page = question.design.study, question.design
    items, block = study.table.items or {}, study.only("block")
    what = " against ".join(stated.levels) if stated.kind == "pair" else stated.levels[-1]
    if question.kind == "by block":
        level = study.factors[question.other].levels.index(stated.levels[-1])
        page = design(study, {**page.fixed, question.other: level})
    labels = study.factors[block].levels if block else ("",)
    if block is not None and block in page.fixed:
        labels = (labels[page.fixed[block]],)
    if page.k is None or page.n is None or not all(label in items for label in labels):
        return []
    axis = page.names.index(block) if block in page.names else None
    over = tuple(at for at in range(page.k.ndim) if at != axis)
    share = np.nansum(page.k, axis=over) / np.nansum(page.n, axis=over)
    asked = np.array([items[label] for label in labels])
    second = {"level": contrasts.THE_OTHERS, "trend": contrasts.TREND}.get(stated.kind, 0)
    tests = question.tests
    squares = contrasts.squares(replace(tests, second=np.full(len(tests), second)))[0]
    variance = float((share * (1 - share) / asked).sum() * squares)
    error = study.scale * variance**0.5 / len(labels)
    middle, half = abs(stated.estimate), float(contrasts.reach(np.inf)) * error
    text = words.interval_text(page, middle - half, middle + half, error)
    return [(what, text, int(asked.sum()))]


MOST_LEFT_OUT = 20
"""Levels of a factor up to which it is asked what holds without each of them."""


@np.errstate(all="ignore")
def with_needed(study: Study, front: Answer) -> Answer:
    """The answer of a study's front page, with what it fails without.

    A headline about single benchmarks isn't asked: without one of these it says another thing.
    """
    single = any(of.kind == "block" for of in front.assertions[:1])
    needed = [*falls_without(study, front)] if front.asserts and not single else []
    more = [words.not_without(needed)] if needed else []
    return replace(front, evidence=(*front.evidence, *more))


def falls_without(study: Study, front: Answer) -> Iterator[str]:
    """Benchmarks and replicates without one of which what leads is tested, and isn't shown.

    Args:
        front: The answer of the study's front page.
    """
    leading = replace(front, assertions=front.assertions[:1]).asserted
    for axis, factor in enumerate(study.factors.values()):
        asked = factor.role in ("block", "replicate") and len(factor.levels) <= MOST_LEFT_OUT
        for at in range(len(factor.levels) if asked else 0):
            others = [of for of in range(study.y.ndim) if of != axis]
            gone = np.expand_dims(np.arange(len(factor.levels)) == at, others)
            less = changed(study, lambda of, gone=gone: np.where(gone, np.nan, of))  # type: ignore[misc]
            page = design(replace(study, **less))
            left = answer(page, over_page(ask(page)))
            if left.grade != "untestable" and not leading <= left.asserted:
                yield words.with_factor(factor.label, factor.levels[at])


Pages = dict[tuple[str, int] | None, Answer]
"""Answers by facet and level; None is the front page."""


@np.errstate(all="ignore")
def analyse(study: Study, facets: Sequence[str] = ()) -> Pages:
    """The answers of a study's pages.

    Args:
        facets: Factors of which each level has a page. Those along a run have none.

    Returns:
        By facet and level; None is the front page, whose answer the pages that compare repeat.
    """
    facets = [facet for facet in facets if facet in study.factors]
    page = design(study)
    front = answer(page, over_page(ask(page)))
    answers: Pages = {None: front}
    pages = level_pages(study, facets)
    for facet in facets:
        for level in range(len(study.factors[facet].levels)):
            inside = design(study, {facet: level})
            answers[facet, level] = answer(inside, pages.get((facet, level), []), front)
    return answers
