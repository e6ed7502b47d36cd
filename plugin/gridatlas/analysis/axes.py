"""What is said of axes, settings, conditions and interactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gridatlas.analysis import contrasts, words
from gridatlas.analysis.design import Design, mean
from gridatlas.analysis.questions import Naming, Question, name_level, present_levels
from gridatlas.analysis.said import (
    AssertionKind,
    Said,
    assertion,
    how_much,
    is_likely,
    positive_interval,
    size,
)
from gridatlas.analysis.table import Floats


def say_axis(question: Question) -> Said:
    """Of the levels of a number."""
    page = question.design
    if not page.factor(question.factor).numbers and question.kind == "condition":
        return _say_condition(question)
    naming = name_level(question)
    if naming is None:
        return Said(question)
    tests, factor = question.tests, page.factor(question.factor)
    at = naming.test if naming.test >= 0 else int(np.nanargmin(question.adjusted))
    means, _ = contrasts.level_means(page, question.factor)
    error = float(tests.error[at])
    values = [words.mean_text(page, float(value), error) for value in means]
    p, capped = naming.p, bool(tests.capped[at])
    heads, kind = _axis_heads(question, naming, at, values)
    finite = np.flatnonzero(np.isfinite(means)).tolist()
    bare = [words.mean_text(page, float(value), error, bare=True) for value in means]
    some = finite if len(finite) <= 4 else sorted({finite[0], *naming.levels, finite[-1]})
    named = [factor.levels[of] for of in some]
    if sum(page.factor(name).numbers is not None for name in page.varied) > 1:
        named[0] = words.capital(words.labelled(factor, some[0]))
    texts = [
        f"{name}: {(bare if place else values)[of]}"
        for place, (name, of) in enumerate(zip(named, some, strict=True))
    ]
    reach = words.reach(page, p, capped=capped)
    evidence = [f"{'; '.join(texts)} ({words.p_text(p)}), {reach}."]
    here = present_levels(page, question.factor)
    out = [words.labelled(factor, of) for of in here if of not in finite]
    evidence += [words.too_many_gaps(out)] if out else []
    if naming.rule in ("trend", "tends") and page.unit in ("replicate", "block"):
        by_unit = slopes(page, question.factor) * np.sign(tests.estimate[at])
        way = "Up" if tests.estimate[at] > 0 else "Down"
        count = f"{int((by_unit > 0).sum())} of {len(by_unit)} {words.units_text(page)}"
        evidence += [f"{way} in {count}."] if len(by_unit) else []
    evidence += _rivals_and_edge(question, naming, means)
    also = words.clause(f"{heads[0]}.", likely=is_likely(p, capped=capped))
    stated = assertion(question, at, kind, [factor.levels[of] for of in naming.levels], p)
    options = tuple((head, p) for head in heads)
    much = _how_much(question, naming, at, values)
    return Said(question, options, capped, tuple(evidence), (also,), (stated,), much, naming)


def _how_much(question: Question, naming: Naming, at: int, values: Sequence[str]) -> str:
    """How large the effect of an axis is."""
    factor = question.design.factor(question.factor)
    ends = [f"{values[of]} at {factor.label} {factor.levels[of]}" for of in naming.levels]
    if naming.rule in ("above", "below"):
        way = "above" if question.tests.estimate[at] > 0 else "below"
        return how_much(question, at, words.APART, way=way)
    if naming.rule == "best":
        gap = _gap(question, naming.levels[0], naming.second)
        second = f"{factor.label} {factor.levels[naming.second]}"
        return words.GAP.format(size=gap, second=second) if gap else ""
    return words.ENDS.format(first=ends[0], last=ends[-1]) if len(ends) > 1 else ""


def _axis_heads(
    question: Question, naming: Naming, at: int, values: Sequence[str]
) -> tuple[list[str], AssertionKind]:
    """Headlines of what may be said of an axis, and the kind of its assertion."""
    page, factor = question.design, question.design.factor(question.factor)
    metric = page.study.table.metric.name
    ends = [f"{values[of]} at {words.at(factor, of)}" for of in naming.levels]
    up = bool(question.tests.estimate[at] > 0)
    level = words.labelled(factor, naming.levels[0])
    match naming.rule:
        case "trend" | "tends":
            parts = [(factor.label, up, "with" if naming.rule == "trend" else "at")]
            return [words.trends(metric, parts, text) for text in (", ".join(ends), "")], "trend"
        case "best":
            by, second = (
                _gap(question, naming.levels[0], naming.second),
                words.at(factor, naming.second),
            )
            best = words.best_text(page)
            value = values[naming.levels[0]]
            return [words.is_best(level, best, text, by, second) for text in (value, "")], "best"
        case "above" | "below":
            return [words.level_apart(page, level, up, size(question, at))], "level"
        case "peak":
            first, last = naming.levels
            end = words.at(factor, last) if last > first else ""
            return [words.peaks(metric, level, end, words.extreme(page))], "peak"
        case _:
            return [words.depends(metric, factor.label, *ends)], "differ"


def _gap(question: Question, first: int, second: int) -> str:
    tests = contrasts.pairs(question.design, question.factor, [(first, second)])
    if not len(tests):
        return ""
    return words.size_text(question.design, float(tests.estimate[0]), float(tests.error[0]))


def slopes(page: Design, name: str) -> Floats:
    """The trend of each unit; without units of each row. None where effects are added up."""
    if contrasts.additive(page, name) is not None:
        return np.zeros(0)
    by_unit = mean(contrasts.arrange(page, name)[:, :, contrasts.retained(page, name)], 1)
    by_unit = by_unit[np.isfinite(by_unit).all(axis=1)]
    steps = np.arange(by_unit.shape[1]) - (by_unit.shape[1] - 1) / 2
    slopes: Floats = by_unit @ steps
    return slopes


def _rivals_and_edge(question: Question, naming: Naming, means: Floats) -> list[str]:
    """Levels that can't be told from the best, and whether the best is the last that was tried."""
    page = question.design
    if question.kind == "condition":
        return []
    factor = page.factor(question.factor)
    texts = []
    if naming.rivals and naming.rule in ("above", "best"):
        names = [words.at(factor, of) for of in naming.rivals]
        ends = f"{len(names)} levels between {names[0]} and {names[-1]}"
        few = words.with_factor(factor.label, words.listed(names)) if len(names) <= 6 else ends
        texts.append(f"{words.capital(few)} can't be told from the best.")
    top = int(np.nanargmax(page.sign * means))
    finite = np.flatnonzero(np.isfinite(means))
    if (
        naming.rule in ("trend", "best", "above", "tends")
        and top in (finite[0], finite[-1])
        and len(finite) > 2
    ):
        edge = "largest" if top == finite[-1] else "smallest"
        texts.append(
            f"The best {factor.label}, {words.at(factor, top)}, is the {edge} tried: the optimum "
            "may lie beyond."
        )
    return texts


def _say_condition(question: Question) -> Said:
    """Of conditions that are names: the largest shown difference."""
    page, tests, adjusted = question.design, question.tests, question.adjusted
    shown = np.flatnonzero(adjusted <= 0.05).tolist()
    if not shown:
        return Said(question)
    label, spoken = page.factor(question.factor).levels, page.factor(question.factor).spoken
    at = max(shown, key=lambda at: abs(float(tests.estimate[at])))
    up = tests.estimate[at] > 0
    first, second = (tests.first, tests.second) if up else (tests.second, tests.first)
    metric = page.study.table.metric.name
    p, capped = float(adjusted[at]), bool(tests.capped[at])
    text = words.higher_at(
        metric, spoken[int(first[at])], spoken[int(second[at])], size(question, at)
    )
    reach = words.reach(page, p, capped=capped)
    line = f"The difference is {positive_interval(question, at)} ({words.p_text(p)}), {reach}."
    assertions = tuple(
        assertion(
            question, at, "differ", [label[int(tests.first[at])], label[int(tests.second[at])]]
        )
        for at in shown
    )
    also = words.clause(f"{text}.", likely=is_likely(p, capped=capped))
    return Said(question, ((text, p),), capped, (line,), (also,), assertions)


def say_cell(question: Question) -> Said:
    """Of the setting with the best mean."""
    if not question.shown:
        return Said(question)
    page, tests = question.design, question.tests
    lone, two = page.factor(question.factor), page.factor(question.other)
    place = int(tests.first[0]), int(tests.second[0])
    d = contrasts.by_row(page, question.factor, question.other)
    value = float(mean(d[:, place[0], place[1]], 0))
    names = words.labelled(lone, place[0]), words.labelled(two, place[1])
    p, capped = question.p, bool(tests.capped[0])
    shown_value = words.mean_text(page, value, float(tests.error[0]))
    text = words.stands_out(*names, shown_value, size(question, 0), bool(tests.estimate[0] > 0))
    beyond = f"{positive_interval(question, 0)} beyond what its levels give ({words.p_text(p)})"
    evidence = f"{beyond}, {words.reach(page, p, capped=capped)}."
    also = words.clause(f"{text}.", likely=is_likely(p, capped=capped))
    levels = lone.levels[place[0]], two.levels[place[1]]
    shorter = text.split(":")[0]
    return Said(
        question, ((text, p), (shorter, p)), capped, (evidence,),
        (also, "The means of its levels contain that setting."),
        (assertion(question, 0, "cell", levels),),
        how_much(
            question, 0, words.BEYOND_LEVELS, way="above" if tests.estimate[0] > 0 else "below"
        ),
    )  # fmt: skip


def say_interaction(question: Question) -> Said:
    """Of what depends on a name; the first of them in a headline."""
    page, adjusted = question.design, question.adjusted
    name = page.factor(question.factor)
    shown = np.flatnonzero(adjusted <= 0.05).tolist()
    lines, assertions = {}, []
    for at in shown:
        axis = page.factor(question.axes[at])
        p = float(adjusted[at])
        details = _by_level(page, question.factor, question.axes[at])
        text = words.effect_depends(axis.label, name.label).replace(words.LIKELY, "")
        lines[p, at] = f"{text} ({words.p_text(p)}){f': {details}' if details else ''}."
        stated = assertion(question, at, "interaction", (name.label, axis.label))
        assertions.append(replace(stated, factor=f"{question.factor} × {question.axes[at]}"))
    heads = tuple(
        (
            words.effect_depends(page.factor(question.axes[at]).label, name.label),
            float(adjusted[at]),
        )
        for _, at in sorted(lines)[:1]
    )
    evidence = tuple(lines[key] for key in sorted(lines))
    return Said(question, heads, page.capped, evidence, evidence, tuple(assertions))


def _by_level(page: Design, name: str, axis: str) -> str:
    """Where each name is best along an axis; along a condition, its lead on the baseline.

    Of two names without a baseline it is that of the better on the other; of more, which is best.
    """
    lone, two = page.factor(name), page.factor(axis)
    m = mean(contrasts.by_row(page, name, axis), 0)
    if not np.isfinite(m).all() or len(lone.levels) > 6:
        return ""
    if two.role != "condition":
        best = (page.sign * m).argmax(axis=1).tolist()
        last = len(two.levels) - 1
        ends = ["" if 0 < at < last or last < 2 else ", the edge of the grid" for at in best]
        return "best at " + "; ".join(
            f"{words.at(two, at)} for {label}{end}"
            for label, at, end in zip(lone.levels, best, ends, strict=True)
        )
    base, texts = lone.baseline, list[str]()
    if base is None and len(m) > 2:
        best = (page.sign * m).argmax(axis=0).tolist()
        for of in dict.fromkeys(best):
            where = [words.at(two, at) for at, first in enumerate(best) if first == of]
            texts.append(f"{lone.levels[of]} at {words.listed(where)}")
        return f"best is {'; '.join(texts)}"
    base = int((page.sign * m.mean(axis=1)).argmin()) if base is None else base
    for of, label in enumerate(lone.levels):
        if of == base:
            continue
        gains = m[of] - m[base]
        parts = [
            words.signed(page, float(gain), 0.0, bare=bool(texts or at))
            + ("" if texts else f" at {words.at(two, at)}")
            for at, gain in enumerate(gains)
        ]
        texts.append(f"{label} {', '.join(parts)}")
    return "; ".join(texts)
