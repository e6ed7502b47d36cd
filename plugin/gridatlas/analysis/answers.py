"""Answers of pages: what leads, and the evidence for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite

import numpy as np

from gridatlas.analysis import contrasts, words
from gridatlas.analysis.axes import say_axis, say_cell, say_interaction, slopes
from gridatlas.analysis.design import Design, Study, design, mean
from gridatlas.analysis.names import compared, say_blocks, say_names, say_tuned
from gridatlas.analysis.questions import (
    Question,
    ask,
    explained,
    level_pages,
    over_page,
    present_levels,
)
from gridatlas.analysis.said import (
    Answer,
    Said,
    ahead,
    graded,
    interval,
    is_likely,
    positive_interval,
    size,
    tested_with,
    would_show,
)

# --- an answer ------------------------------------------------------------------------------------


def answer(page: Design, asked: Sequence[Question], front: Answer | None = None) -> Answer:
    """The answer of a page, from its questions with p adjusted over all that is asked.

    Args:
        front: The study's own answer, which a page of one replicate repeats.
    """
    prefix = _prefix(page)
    if page.single:
        return _alone(page, front)
    tested = any(question.kind != "interaction" or question.shown for question in asked)
    if not tested or _values(page)[0] == _values(page)[1]:
        return _described(page, prefix)
    said = _in_order(page, asked)
    if not any(each.heads for each in said):
        return _not_shown(page, asked, prefix)
    leading = said[0]
    heads, capped = _together(said)
    inside = tested_with(leading.question)
    p = heads[0][1]
    for text, p in heads:
        likely = is_likely(p, capped=capped)
        headline = words.headline(text, inside, prefix, likely=likely)
        if len(headline) <= words.LONGEST:
            break
    evidence = [*leading.evidence]
    for each in said[1:]:
        evidence += each.also
    evidence += _unshown(page, asked, leading)
    assertions = tuple(one for each in said for one in each.assertions)
    evidence += _failures(page)
    return Answer(
        headline,
        tuple(dict.fromkeys(evidence)),
        graded(p, capped=capped),
        p,
        words.population(inside),
        assertions,
        compared(asked),
    )


def _prefix(page: Design) -> str:
    named = [
        (page.factor(name).levels[level], words.labelled(page.factor(name), level))
        for name, level in page.fixed.items()
    ]
    parts = [text if text == name else words.capital(text) for name, text in named]
    return f"{', '.join(parts)}: " if parts else ""


def _say(question: Question) -> Said:
    match question.kind:
        case "names":
            return say_names(question)
        case "tuned":
            return say_tuned(question)
        case "by block":
            return say_blocks(question)
        case "cell":
            return say_cell(question)
        case "interaction":
            return say_interaction(question)
        case _:
            return say_axis(question)[0]


def _in_order(page: Design, asked: Sequence[Question]) -> list[Said]:
    """What each question gives, the one that leads first."""
    found = [_say(question) for question in asked]
    shown = [each for each in found if each.heads]
    if not shown:
        return found
    leading = shown[0]
    if leading.question.kind == "condition":
        # What only depends is evidence.
        leading = min(shown, key=lambda each: _rule(each) == "depends")
    blocks = [each for each in shown if each.question.kind == "by block"]
    by_block = leading.question.kind == "names" and blocks
    if by_block and _blocks_differ(page, blocks[0].question) <= 0.025:
        leading = blocks[0]
    cells = [each for each in shown if each.question.kind == "cell"]
    if cells and leading.question.kind == "axis" and _explains_more(cells[0].question, shown):
        leading = cells[0]
    return [leading, *(each for each in shown if each is not leading)]


def _explains_more(question: Question, shown: Sequence[Said]) -> bool:
    """Whether a setting explains more than each of its axes that is shown."""
    tests = question.tests
    place = {question.factor: int(tests.first[0]), question.other: int(tests.second[0])}
    first, second, rest = explained(question.design, question.factor, question.other, place)
    sums = {question.factor: first, question.other: second}
    axes = {each.question.factor for each in shown if each.question.kind == "axis"}
    return all(rest > sums[name] for name in axes if name in sums)


def _rule(said: Said) -> str:
    naming = say_axis(said.question)[1]
    return naming.rule if naming else ""


def _blocks_differ(page: Design, question: Question) -> float:
    """The p of the interaction of names and blocks: whether their mean is what anybody meets."""
    inside = page
    if question.other not in page.names:
        inside = design(replace(page.study, apart=False), page.fixed)
    if question.other not in inside.names:
        return 1.0
    p = contrasts.interaction(inside, question.factor, question.other)
    return p if isfinite(p) else 1.0


def _together(said: Sequence[Said]) -> tuple[list[tuple[str, float]], bool]:
    """Headlines, longest first; where several axes are alike they share one."""
    leading = said[0]
    kind = leading.question.kind
    if kind not in ("axis", "condition"):
        return [*leading.heads], leading.capped
    page = leading.question.design
    alike = [each for each in said if each.question.kind == kind]
    namings = [(each, say_axis(each.question)[1]) for each in alike]
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
        one, two = (
            words.labelled(page.factor(each.question.factor), naming.levels[0])
            for each, naming in levels
        )
        used = [each for each, _ in levels]
        p = max(naming.p for _, naming in levels)
        heads.append((words.both_levels(one, two, words.extreme(page)), p))
    capped = leading.capped or any(each.capped for each in used)
    return [*heads, *leading.heads], capped


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
                name = page.factor(question.factor).levels[first]
                units = words.plural(page.factor(leading.question.other).label)
                texts.append(
                    f"On average over the {units} {name} is ahead by {size(question, 0)}; for "
                    f"other {units} nothing is shown ({words.p_text(question.p)})."
                )
            else:
                p = words.p_text(question.p)
                texts.append(f"No difference between {words.plural(label)} shown ({p}).")
        else:
            texts.append(f"No effect of {label} shown ({words.p_text(question.p)}).")
    return texts


def _failures(page: Design) -> list[str]:
    """How many runs failed, by the level of the factor of names or numbers that has most."""
    failed = page.study.failed
    if not failed or page.fixed:
        return []
    names = [name for name in page.names if failed.get(name)]
    if not names:
        return []
    name = min(names, key=lambda name: len(failed[name]))
    total = sum(failed[name].values())
    runs = "run" if total == 1 else "runs"
    some = sorted(failed[name].items(), key=lambda item: -item[1])[:4]
    where = words.listed([f"{count} of {label}" for label, count in some])
    return [f"{total} failed {runs} left out: {where}."]


# --- nothing shown, nothing tested ----------------------------------------------------------------


def _not_shown(page: Design, asked: Sequence[Question], prefix: str) -> Answer:
    names = [question for question in asked if question.kind == "names"]
    ranked = [question for question in asked if question.kind in ("names", "axis", "condition")]
    first = min(ranked or asked, key=lambda question: question.p)
    if names:
        first = names[0]
    heads = _unanimous(page, first)
    unanimous = bool(heads)
    if not heads and first.kind == "names":
        levels = page.factor(first.factor).levels
        here = present_levels(page, first.factor)
        if len(here) == 2 and len(first.tests):
            low, high = interval(first, 0)
            room = words.size_text(page, (high - low) / 2, float(first.tests.error[0]))
            which = f"{levels[here[0]]} and {levels[here[1]]}"
            heads = (words.no_difference(which, room), words.no_difference(which))
        elif len(here) <= 6:
            heads = (words.no_difference(words.listed([levels[of] for of in here])),)
        else:
            which = f"{len(here)} {words.plural(page.factor(first.factor).label)}"
            heads = (words.no_difference(which),)
    elif not heads:
        labels = [page.factor(question.factor).label for question in ranked]
        heads = (words.no_effect(labels or [page.factor(first.factor).label]),)
    begin = words.small if unanimous and prefix and first.kind != "names" else words.capital
    texts = [f"{prefix}{begin(head)}" for head in heads]
    text = next((text for text in texts if len(text) <= words.LONGEST), texts[-1])
    evidence = []
    if unanimous:
        evidence.append(
            f"{page.y.shape[-1]} {words.units_text(page)} are too few to be sure what others do."
        )
    evidence += [
        _range(page),
        *(
            _largest(question)
            for question in asked
            if question.kind in ("names", "axis", "condition")
        ),
    ]
    evidence = [line for line in evidence if line]
    evidence += _failures(page)
    population, pairs = words.population(page), compared(asked)
    return Answer(text, tuple(evidence), "not-shown", first.p, population, (), pairs)


def _unanimous(page: Design, question: Question) -> tuple[str, ...]:
    """What all of 2 to 5 replicates agree on, the smallest at least a quarter of the largest.

    Returns:
        Headlines, longest first; none where they don't agree.
    """
    tests = question.tests
    units = page.y.shape[-1]
    if (
        page.unit != "replicate"
        or not 2 <= units <= 5
        or question.kind not in ("names", "axis", "condition")
    ):
        return ()
    at = int(np.nanargmax(np.abs(tests.estimate)))
    factor = page.factor(question.factor)
    if question.kind == "names":
        first, second = ahead(question, at)
        by_unit = page.sign * contrasts.difference_by_unit(page, question.factor, first, second)
        texts: tuple[str, ...] = (
            words.in_all(
                factor.levels[first], factor.levels[second], units, words.units_text(page)
            ),
        )
    elif tests.second[at] == contrasts.TREND:
        by_unit = slopes(page, question.factor) * np.sign(tests.estimate[at])
        means, _ = contrasts.level_means(page, question.factor)
        there = np.flatnonzero(np.isfinite(means))
        ends = " to ".join(words.mean_text(page, float(means[of])) for of in (there[0], there[-1]))
        up = bool(tests.estimate[at] > 0)
        metric = page.study.table.metric.name
        texts = tuple(
            words.trend_in_all(metric, up, factor.label, units, words.units_text(page), values)
            for values in (ends, "")
        )
    else:
        return ()
    agree = len(by_unit) == units and by_unit.min() > 0 and by_unit.min() >= 0.25 * by_unit.max()
    return texts if agree else ()


def _largest(question: Question) -> str:
    """The largest difference seen of a question that isn't shown."""
    page, tests = question.design, question.tests
    label = page.factor(question.factor).label
    sizes = np.where(np.isfinite(tests.p), np.abs(tests.estimate), -1.0)
    if question.kind == "axis" and len(sizes) > 1:
        sizes = np.where(tests.second == contrasts.TREND, -1.0, sizes)
    at = int(sizes.argmax())
    if sizes[at] < 0:
        return ""
    slope = tests.second[at] == contrasts.TREND
    return words.could_be(
        label, words.p_text(question.p), "" if slope else size(question, at),
        positive_interval(question, at), would_show(question, at),
    )  # fmt: skip


def _range(page: Design) -> str:
    """The range of the values, as `Pass@1 30.7 to 88.5 %.`."""
    low, high = _values(page)
    if low is None or high is None:
        return ""
    places = words.shown_decimals(page)
    ends = f"{words.fixed(low, places)} to {words.with_unit(page, words.fixed(high, places))}"
    return f"{words.capital(page.study.table.metric.name)} {ends}."


def _values(page: Design) -> tuple[float | None, float | None]:
    """The lowest and the highest value of the page's cells, over all blocks as given."""
    study = page.study
    y = study.y[tuple(page.fixed.get(name, slice(None)) for name in study.factors)]
    y = y[np.isfinite(y)]
    if not len(y):
        return None, None
    low, high = float(y.min()), float(y.max())
    return (float(np.exp(low)), float(np.exp(high))) if study.log else (low, high)


def _ranked_names(page: Design) -> str:
    """`Control 51.3 %, GRPO 47.3 %, Before GRPO 20.1 %`; empty without names."""
    names = [
        name for name in page.varied
        if page.factor(name).role == "choice" and page.factor(name).numbers is None
    ]  # fmt: skip
    if not names:
        return ""
    name = min(names, key=lambda name: page.factor(name).baseline is None)
    y = mean(
        np.moveaxis(page.y, page.names.index(name), 0).reshape(len(page.factor(name).levels), -1), 1
    )
    order = sorted(np.flatnonzero(np.isfinite(y)).tolist(), key=lambda at: -page.sign * y[at])
    few = order[:4]
    texts = [f"{page.factor(name).levels[at]} {words.mean_text(page, float(y[at]))}" for at in few]
    return ", ".join([*texts, "…"] if len(order) > len(few) else texts)


def _place(page: Design) -> str:
    """Where the best value is: `lowest at batch 1 and length 512`."""
    if page.y.ndim < 2 or not np.isfinite(page.y).any():
        return ""
    means = mean(page.y, page.y.ndim - 1)
    best = np.unravel_index(int(np.nanargmax(page.sign * means)), means.shape)
    where = [
        words.labelled(page.factor(name), int(at))
        for name, at in zip(page.names, best, strict=True)
        if name in page.varied
    ]
    return f"{words.extreme(page)} at {words.listed(where)}" if where else ""


def _described(page: Design, prefix: str) -> Answer:
    """Where nothing is tested: what the values are."""
    study = page.study
    metric = study.table.metric
    low, high = _values(page)
    population = words.population(page)
    if low is None or high is None:
        return Answer(f"{prefix}No values", (), "untestable", float("nan"), population)
    places = words.shown_decimals(page)
    count = int(np.isfinite(study.y).sum()) if not page.fixed else int(np.isfinite(page.y).sum())
    ends = [words.fixed(end, places) for end in (low, high)]
    ranked = _ranked_names(page)
    if low == high:
        only = f"The only value is {words.with_unit(page, ends[0])}"
        text = only if count == 1 else f"All {count} values are {words.with_unit(page, ends[0])}"
    elif ranked:
        text = ranked
    else:
        text = (
            f"{metric.name} {ends[0]} to {words.with_unit(page, ends[1])}; {_place(page)}".rstrip(
                "; "
            )
        )
    if study.copies and not page.fixed:
        text = (
            f"One distinct {study.factors[study.only('replicate') or ''].label}: {text}"
            if study.only("replicate")
            else text
        )
    several = page.unit in ("replicate", "block", "item")
    few = words.too_few(page.y.shape[-1], words.units_text(page)) if several else words.ONE_EACH
    evidence = [] if low == high else [few]
    if study.averages:
        evidence = ["Only averages are known: they are taken as plain values."]
    return Answer(
        f"{prefix}{text}",
        (*evidence, *_copies(page), *_failures(page)),
        "untestable",
        float("nan"),
        population,
    )


def _copies(page: Design) -> list[str]:
    copies = page.study.copies
    name = page.study.only("replicate")
    if not copies or name is None:
        return []
    label = page.study.factors[name].label
    verb = "repeat" if len(copies) > 1 else "repeats"
    out = "are" if len(copies) > 1 else "is"
    nouns = words.plural(label) if len(copies) > 1 else label
    which = f"{words.capital(nouns)} {words.listed(copies)}"
    return [f"{which} {verb} another's numbers exactly and {out} left out."]


def _alone(page: Design, front: Answer | None) -> Answer:
    """A page about one replicate never asserts."""
    study = page.study
    name = study.only("replicate") or ""
    if name not in page.fixed:
        return _described(page, _prefix(page))
    label = study.factors[name].label
    described = _described(page, "")
    level = study.factors[name].levels[page.fixed[name]]
    named = f"{words.capital(label)} {level}" if level[:1].isdigit() else level
    text = f"{named} alone: {described.headline}"
    evidence = [f"One {label} can't tell what others do."]
    if front is not None and not study.copies:
        evidence.append(f"Over all {len(study.factors[name].levels)}: {front.headline}.")
    return Answer(text, tuple(evidence), "untestable", float("nan"), described.population)


@np.errstate(all="ignore")
def analyse(study: Study, facets: Sequence[str] = ()) -> dict[tuple[str, int] | None, Answer]:
    """The answers of a study's pages.

    Args:
        facets: Factors of which each level has a page. Those along a run have none.

    Returns:
        By facet and level; None is the front page, whose answer the pages that compare repeat.
    """
    facets = [facet for facet in facets if facet in study.factors]
    page = design(study)
    answers: dict[tuple[str, int] | None, Answer] = {}
    front = answer(page, over_page(ask(page)))
    answers[None] = front
    pages = level_pages(study, facets)
    for facet in facets:
        for level in range(len(study.factors[facet].levels)):
            inside = design(study, {facet: level})
            asked = pages.get((facet, level), [])
            answers[facet, level] = answer(inside, asked, front)
    return answers
