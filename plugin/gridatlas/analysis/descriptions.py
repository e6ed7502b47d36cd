"""Answers that assert nothing: what the values are, and why no more is said."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gridatlas.analysis import contrasts, words
from gridatlas.analysis.axes import slopes
from gridatlas.analysis.design import Design, count_levels, mean
from gridatlas.analysis.names import compared
from gridatlas.analysis.questions import Question, present_levels
from gridatlas.analysis.said import (
    Answer,
    ahead,
    detectable,
    interval,
    least_found,
    positive_interval,
    size,
    would_show,
)
from gridatlas.analysis.table import Floats


def prefix_of(page: Design) -> str:
    """What the page is about, as its headlines begin."""
    named = [
        (page.factor(name).levels[level], words.labelled(page.factor(name), level))
        for name, level in page.fixed.items()
    ]
    parts = [text if text == name else words.capital(text) for name, text in named]
    return f"{', '.join(parts)}: " if parts else ""


def notes(page: Design) -> list[str]:
    """What was left out, and what isn't counted."""
    study = page.study
    notes = [words.measured_once(label) for label in _measured_once(page)]
    notes += [words.ADDED] * any(contrasts.additive(page, name) for name in page.varied)
    failed = study.failed
    if page.fixed:
        total = sum(
            failed.get(name, {}).get(study.factors[name].levels[level], 0)
            for name, level in page.fixed.items()
        )
        return [*notes, *([words.failed(total)] if total else [])]
    if names := [name for name in page.names if failed.get(name)]:
        name = min(names, key=lambda name: len(failed[name]))
        some = sorted(failed[name].items(), key=lambda item: -item[1])[:4]
        where = words.listed([f"{count} of {label}" for label, count in some])
        notes.append(words.failed(sum(failed[name].values()), where))
    if study.means:
        notes.append(words.mean_of_others(study.means))
    for factor, means in study.courses:
        if np.isfinite(means).all() and len(means) > 1:
            values = [words.mean_text(page, float(value), bare=at > 0)
                      for at, value in enumerate(means)]  # fmt: skip
            best = int((page.sign * means).argmax())
            name = words.small(study.table.metric.name)
            notes.append(words.course(name, factor, values, best, words.extreme(page)))
    return notes


def _measured_once(page: Design) -> list[str]:
    """Levels of names that have one number in all replicates, while others haven't."""
    names = [name for name in page.varied if page.factor(name).numbers is None]
    return [
        page.factor(name).levels[at]
        for name in names if page.factor(name).role == "choice"
        for at in np.flatnonzero(contrasts.fixed_levels(page, name)).tolist()
    ]  # fmt: skip


def not_shown(page: Design, asked: Sequence[Question], prefix: str) -> Answer:
    """Where all that was tested isn't shown."""
    names = [question for question in asked if question.kind == "names"]
    ranked = [question for question in asked if question.kind in ("names", "axis", "condition")]
    first = min(ranked or asked, key=lambda question: question.p)
    if names:
        first = names[0]
    heads = _unanimous(page, first)
    unanimous = bool(heads)
    if not heads and first.kind == "names":
        levels = page.factor(first.factor).spoken
        here = present_levels(page, first.factor)
        alike = page.study.table.metric.alike
        few = words.listed([levels[of] for of in here[:6]])
        whole = len(here) <= 6 and len(first.tests) == len(here) * (len(here) - 1) / 2
        if alike and whole and (contrasts.alike(page, first.tests, alike) <= 0.05).all():
            heads = (words.alike(few, words.room(page, alike)),)
        elif len(here) == 2 and len(first.tests):
            low, high = interval(first, 0)
            room = words.size_text(page, (high - low) / 2, float(first.tests.error[0]))
            heads = (words.no_difference(few, room), words.no_difference(few))
        elif len(here) <= 6:
            heads = (words.no_difference(few),)
        else:
            many = f"{len(here)} {words.plural(page.factor(first.factor).label)}"
            heads = (words.no_difference(many),)
    elif not heads:
        labels = [page.factor(question.factor).label for question in ranked]
        heads = (words.no_effect(labels or [page.factor(first.factor).label]),)
    begin = words.small if unanimous and prefix and first.kind != "names" else words.capital
    texts = [f"{prefix}{begin(head)}" for head in heads]
    text = next((text for text in texts if len(text) <= words.LONGEST), texts[-1])
    few = f"{page.y.shape[-1]} {words.units_text(page)} are too few to be sure what others do."
    evidence = [few if unanimous else _range(page), *map(_largest, ranked)]
    evidence = [line for line in evidence if line]
    population, pairs = words.population(page), compared(asked)
    much = f"{_ranked(page, first.factor)}." if names else _means(page, ranked)
    return Answer(
        text, (*evidence, *notes(page)), "not-shown", first.p, population, (), pairs,
        much=much.replace("….", "…"), shows=detectable(first), least=_least(page, ranked),
        surer=would_show(first, _at_largest(first)),
    )  # fmt: skip


def _least(page: Design, asked: Sequence[Question]) -> tuple[tuple[str, float], ...]:
    found = [(question.factor, least_found(question)) for question in asked]
    return () if page.study.log else tuple((name, least[0]) for name, least in found if least)


def _unanimous(page: Design, question: Question) -> tuple[str, ...]:
    """What all of 2 to 5 replicates agree on, the smallest at least a quarter of the largest.

    Returns:
        Headlines, longest first; none where they don't agree.
    """
    tests = question.tests
    units = page.y.shape[-1]
    if (
        not page.unit == question.design.unit == "replicate"
        or not 2 <= units <= 5
        or question.p >= 1
        or question.kind not in ("names", "axis", "condition")
    ):
        return ()
    at = int(np.nanargmax(np.abs(tests.estimate)))
    factor = page.factor(question.factor)
    if question.kind == "names":
        first, second = ahead(question, at)
        by_unit = page.sign * contrasts.difference_by_unit(page, question.factor, first, second)
        lone, two = factor.spoken[first], factor.spoken[second]
        texts: tuple[str, ...] = (words.in_all(lone, two, units, words.units_text(page)),)
    elif tests.second[at] == contrasts.TREND:
        by_unit = slopes(page, question.factor) * np.sign(tests.estimate[at])
        means, _ = contrasts.level_means(page, question.factor)
        finite = np.flatnonzero(np.isfinite(means))
        ends = " to ".join(
            words.mean_text(page, float(means[of])) for of in (finite[0], finite[-1])
        )
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


def _at_largest(question: Question) -> int:
    """The contrast with the largest difference seen; −1 without one."""
    tests = question.tests
    sizes = np.where(np.isfinite(tests.p), np.abs(tests.estimate), -1.0)
    if question.kind == "axis" and len(sizes) > 1:
        sizes = np.where(tests.second == contrasts.TREND, -1.0, sizes)
    at = int(sizes.argmax())
    return at if sizes[at] >= 0 else -1


def _largest(question: Question) -> str:
    """The largest difference seen of a question that isn't shown."""
    page, tests = question.design, question.tests
    label = page.factor(question.factor).label
    at = _at_largest(question)
    if at < 0:
        return ""
    slope = tests.second[at] == contrasts.TREND
    return words.could_be(
        label, words.p_text(question.p), "" if slope else size(question, at),
        positive_interval(question, at), would_show(question, at),
    )  # fmt: skip


def _means(page: Design, asked: Sequence[Question]) -> str:
    """Between what the plain means of each factor's levels lie; with gaps the values' range."""
    values, spans = _given(page), []
    order = [name for name in page.study.factors if name not in page.fixed]
    if not asked or not np.isfinite(values).all():
        return _range(page)
    for question in asked:
        means = np.moveaxis(values, order.index(question.factor), 0)
        low, *_, high = sorted(means.reshape(len(means), -1).mean(axis=1).tolist())
        step = (high - low) / 10  # so that whole numbers' means are told apart, too
        first = words.mean_text(page, low, step, bare=True)
        last = words.mean_text(page, high, step)
        spans.append(f"{first} to {last} by {page.factor(question.factor).label}")
    return f"Means {', '.join(spans)}."


def _range(page: Design) -> str:
    """The range of the values, as `Pass@1 30.7 to 88.5 %.`."""
    low, high = value_range(page)
    if low is None or high is None or (low <= 0 and high == page.study.table.metric.high):
        return ""  # All that is possible says nothing.
    places = words.shown_decimals(page)
    ends = f"{words.fixed(low, places)} to {words.with_unit(page, words.fixed(high, places))}"
    return f"{words.capital(page.study.table.metric.name)} {ends}."


def value_range(page: Design) -> tuple[float | None, float | None]:
    """The lowest and the highest value of the page's cells, over all blocks as given."""
    y = _given(page)
    y = y[np.isfinite(y)]
    if not len(y):
        return None, None
    low, high = float(y.min()), float(y.max())
    return (float(np.exp(low)), float(np.exp(high))) if page.study.log else (low, high)


def _given(page: Design) -> Floats:
    """The values of the page's cells before anything is averaged."""
    at = tuple(page.fixed.get(name, slice(None)) for name in page.study.factors)
    return page.study.y[at]


def _ranked(page: Design, name: str) -> str:
    """`Control 51.3 %, GRPO 47.3 %, Before GRPO 20.1 %`: means over what all names have."""
    y, rows = contrasts.level_means(page, name)
    each = mean(contrasts.by_row(page, name), 0)
    y = y if rows.any() else each
    order = sorted(np.flatnonzero(np.isfinite(y)).tolist(), key=lambda at: -page.sign * y[at])
    label = page.factor(name).spoken
    texts = [f"{label[at]} {words.mean_text(page, float(y[at]))}" for at in order[:4]]
    while len(texts) > 1 and len(", ".join(texts)) > words.LONGEST - 3:
        texts.pop()
    return ", ".join([*texts, "…"] if np.isfinite(each).sum() > len(texts) else texts)


def _unranked(page: Design, name: str) -> str:
    """How many names have no rank, as they lack some of what is averaged."""
    names = [of for of in page.study.factors if of not in page.fixed]
    some = count_levels(_given(page), names, name)
    lack = some - len(present_levels(page, name))
    return words.unranked(lack, some, page.factor(name).label) if lack else ""


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


def described_only(page: Design, prefix: str) -> Answer:
    """Where nothing is tested: what the values are."""
    study = page.study
    metric = study.table.metric
    low, high = value_range(page)
    population = words.population(page)
    if low is None or high is None:
        return Answer(f"{prefix}No values", (), "untestable", float("nan"), population)
    places = words.shown_decimals(page)
    count = int(np.isfinite(study.y).sum()) if not page.fixed else int(np.isfinite(page.y).sum())
    ends = [words.fixed(end, places) for end in (low, high)]
    names = [
        name for name in page.varied
        if page.factor(name).role == "choice" and page.factor(name).numbers is None
    ]  # fmt: skip
    first = min(names, key=lambda name: page.factor(name).baseline is None, default="")
    ranked = _ranked(page, first) if first else ""
    unranked = _unranked(page, first) if first else ""
    if low == high:
        only = f"The only value is {words.with_unit(page, ends[0])}"
        text = only if count == 1 else f"All {count} values are {words.with_unit(page, ends[0])}"
    elif ranked:
        text = ranked
    else:
        text = f"{metric.name} {ends[0]} to {words.with_unit(page, ends[1])}; {_place(page)}"
        text = text.rstrip("; ")
    if study.copies and not page.fixed and (replicate := study.only("replicate")):
        text = f"One distinct {study.factors[replicate].label}: {text}"
    evidence = [] if low == high else [_why_not(page), *([unranked] if unranked else [])]
    if study.averages:
        evidence = ["Only averages are known: they are taken as plain values."]
    return Answer(
        f"{prefix}{text}", (*evidence, *_copies(page), *notes(page)), "untestable", float("nan"),
        population, much=_range(page) if low != high else "",
    )  # fmt: skip


def _why_not(page: Design) -> str:
    """Why nothing is tested."""
    units, count = words.units_text(page), page.y.shape[-1]
    if page.unit == "repeats" and page.n is not None:
        return words.too_few(int(np.nanmax(page.n)), "measurements of each")
    if page.unit not in ("replicate", "block", "item"):
        return words.ONE_EACH if np.isfinite(page.y).any() else words.NO_PLACE
    compared = [name for name in page.varied if page.factor(name).role in ("choice", "condition")]
    if not compared:
        return words.NOTHING_VARIED
    own = contrasts.own_replicates(page)
    if own and min(own) < 3:
        return words.too_few(words.span(min(own), max(own)), f"{units} of each")
    if count < 3:
        return words.too_few(count, units)
    some = len(contrasts.crossed(contrasts.arrange(page, compared[0]))[0])
    return words.too_few_have_all(some, count, units) if some else words.NO_PLACE


def _copies(page: Design) -> list[str]:
    copies = page.study.copies
    name = page.study.only("replicate")
    if not copies or name is None:
        return [words.COPIED_ROWS] if copies else []
    label = page.study.factors[name].label
    verb = "repeat" if len(copies) > 1 else "repeats"
    out = "are" if len(copies) > 1 else "is"
    nouns = words.plural(label) if len(copies) > 1 else label
    which = f"{words.capital(nouns)} {words.listed(copies)}"
    return [f"{which} {verb} another's numbers exactly and {out} left out."]


def alone(page: Design, front: Answer | None) -> Answer:
    """A page about one replicate never asserts."""
    study = page.study
    name = study.only("replicate") or ""
    if name not in page.fixed:
        return described_only(page, prefix_of(page))
    label = study.factors[name].label
    described = described_only(page, "")
    level = study.factors[name].levels[page.fixed[name]]
    named = f"{words.capital(label)} {level}" if level[:1].isdigit() else level
    text = f"{named} alone: {described.headline}"
    evidence = [f"One {label} can't tell what others do."]
    if front is not None and not study.copies:
        evidence.append(f"Over all {len(study.factors[name].levels)}: {front.headline}.")
    return Answer(text, tuple(evidence), "untestable", float("nan"), described.population)
