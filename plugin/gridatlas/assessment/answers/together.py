"""One sentence of several answers: of settings in several cases, or of several levels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from gridatlas.assessment.answers.answer import (
    ADVERBS,
    IN_WORDS,
    Answer,
    Evidence,
    capital,
    headline,
    joined,
    mean_text,
    number_text,
    told_once,
    unshown,
)
from gridatlas.assessment.answers.blocks import Blocks
from gridatlas.assessment.answers.gaps import JudgedGap
from gridatlas.assessment.answers.questions import Part
from gridatlas.model.format import value_with_unit
from gridatlas.model.study import inline

ORDER = tuple(IN_WORDS)
"""From the grade that says most."""


def together(
    parts: Sequence[Part], answers: Mapping[int, Answer], gaps: Mapping[int, JudgedGap]
) -> Answer:
    """One answer of several: the sentences in one where they fit, else their number by grade."""
    if not parts:
        return Answer("", "described", "No values yet")
    labelled = sorted(
        ((_label(part), answers[id(part)]) for part in parts),
        key=lambda part: ORDER.index(part[1].grade),
    )
    own = [answer for _, answer in labelled]
    if len(own) == 1:
        return own[0]
    judged = [gaps[id(part)] for part in parts if id(part) in gaps]
    asserted = [] if judged else [part for part in labelled if part[1].grade in ADVERBS]
    in_cases = [*_in_cases(parts[0], asserted, len(own))] if asserted else []
    texts = [*(_of_gaps(parts[0].label, judged) if judged else _of_settings(parts[0], labelled))]
    sentence = headline(*texts, *in_cases)
    grade = own[0].grade
    if in_cases and sentence == headline(*in_cases):
        grade = asserted[-1][1].grade  # what is said of all of them is as sure as the least sure
    return Answer(
        parts[0].page,
        grade,
        sentence,
        tuple(_evidence(labelled)),
        tuple(cell for answer in own for cell in answer.cells),
        tuple(f"{index}:{what}" for index, answer in enumerate(own) for what in answer.asserts),
        tuple(asked for part in parts for asked in answers[id(part)].asked),
        tuple(contrast for part in parts for contrast in answers[id(part)].contrasts),
    )


def _label(part: Part) -> str:
    """What evidence of a part is about, beside that of others: a level, or two."""
    if isinstance(part.ask, Blocks):
        return part.label
    first, second = part.ask.first, part.ask.second
    against = "" if second.key in part.ask.study.baseline.values() else f" against {second.label}"
    return ", ".join(filter(None, [part.label, f"{first.label}{against}"]))


def _evidence(labelled: Sequence[tuple[str, Answer]]) -> Iterator[Evidence]:
    """The evidence of all parts, each with its label; what all of them have, once and without."""
    common = [
        reason
        for reason in labelled[0][1].evidence
        if all(reason in answer.evidence for _, answer in labelled)
    ]
    yield from common
    for label, answer in labelled:
        for reason in answer.evidence:
            if reason not in common:
                yield replace(reason, sentence=f"{label}: {reason.sentence}") if label else reason


def _of_settings(part: Part, labelled: Sequence[tuple[str, Answer]]) -> Iterator[str]:
    answers, study = [answer for _, answer in labelled], part.ask.study
    untested, depends, to_be_better = "settings", "what is shown", ""
    if study.metric.better:
        untested, depends = "which setting is best", "what is best"
        to_be_better = " to be better"
    yield "; ".join(answer.sentence.replace("; ", ", ") for answer in answers)
    short = []
    for answer in answers:
        label = answer.sentence.partition(": ")[0]
        nothing = answer.grade == "not-shown"
        short.append(
            f"{label}: nothing shown{to_be_better}"
            if nothing
            else answer.sentence.replace("; ", ", ")
        )
    yield "; ".join(short)
    if answers[0].grade in ADVERBS:
        return
    number = Counter(answer.grade for answer in answers)
    if number["not-shown"] == len(answers):
        text = f"no {unshown(study)} in any of {len(answers)} cases"
    elif number["reading-dependent"]:
        text = f"{depends} depends on the reading in {number['reading-dependent']}"
        text += f" of {len(answers)} cases"
    elif number["not-shown"]:
        text = f"no {unshown(study)} in {number['not-shown']} of {len(answers)} cases"
        text += "; the others can't be tested"
    else:
        text = f"{untested} can't be tested in any of {len(answers)} cases"
    yield f"{part.topic}: {text}" if part.topic else capital(text)


def _in_cases(part: Part, asserted: Sequence[tuple[str, Answer]], of: int) -> Iterator[str]:
    """What matters in some of several cases, as surely as in the least sure one."""
    answers = [answer for _, answer in asserted]
    study = part.ask.study
    common = set.intersection(
        *({what.partition(":")[0] for what in answer.asserts} for answer in answers)
    )
    axes = [inline(axis.label) for name, axis in (("x", study.x), ("y", study.y)) if name in common]
    adverb = ADVERBS["likely" if any(answer.grade == "likely" for answer in answers) else "clear"]
    scopes = {answer.evidence[0].scope for answer in answers} & {"these questions", "these runs"}
    where = f"on {' and '.join(sorted(scopes))} " if scopes else ""
    for what in filter(None, [joined(axes), "a setting or an axis"]):
        verb = "matter" if what == joined(axes) and len(axes) > 1 else "matters"
        text = f"{where}{what} {adverb} {verb} in {len(answers)} of {of} cases"
        text = f"{part.topic}: {text}" if part.topic else capital(text)
        if len(answers) < of:
            cases = [label.removeprefix(f"{part.topic}, ") for label, _ in asserted]
            yield f"{text}: {'; '.join(cases)}"
        yield text


def _of_gaps(label: str, judged: Sequence[JudgedGap]) -> Iterator[str]:
    prefix = f"{label}: " if label else ""
    study = judged[0].gap.study
    grades = {gap.grade for gap in judged}
    seconds = {gap.gap.second.key: gap.gap.second for gap in judged}
    if grades == {"untestable"}:
        metric = inline(study.metric.name) if prefix else capital(study.metric.name)
        levels = {gap.gap.second.key: (gap.gap.second, gap.gap.means[1]) for gap in judged}
        levels |= {gap.gap.first.key: (gap.gap.first, gap.gap.means[0]) for gap in judged}
        for name in ("label", "key"):
            means = [
                f"{mean_text(study, mean)} {getattr(level, name)}"
                for level, mean in levels.values()
            ]
            yield f"{prefix}{metric} {joined(means)}; can't be tested"
            if name == "label":
                yield from _means_together(f"{prefix}{metric}", judged)
        yield f"{prefix}{metric} at {len(levels)} levels; can't be tested"
        return
    signs = {gap.value > 0 for gap in judged}
    if len(grades) == 1 and grades & set(ADVERBS) and len(signs) == len(seconds) == 1:
        adverb = ADVERBS[grades.pop()]
        lower = study.metric.falls
        sizes = joined([number_text(study, abs(gap.value)) for gap in judged])
        by = value_with_unit(sizes, study.metric.unit, difference=True)
        word = "higher" if judged[0].value > 0 else "lower"
        better = (judged[0].value > 0) != lower
        note = (" (better)" if better else " (worse)") if lower else ""
        for name, names in (("label", joined), ("label", told_once), ("key", joined)):
            firsts = names([getattr(gap.gap.first, name) for gap in judged])
            second = getattr(judged[0].gap.second, name)
            yield f"{prefix}{firsts} {adverb} score {word}{note} than {second}, by {by}"
            yield f"{prefix}{firsts} {adverb} score {word}{note}, by {by}"
    shown = [gap for gap in judged if gap.grade in ADVERBS]
    if not shown:
        keys = {key for gap in judged for key in (gap.gap.first.key, gap.gap.second.key)}
        text = f"no difference shown between {len(keys)} levels"
        yield f"{prefix}{text}" if prefix else capital(text)
    if len(seconds) == 1:
        yield from _against_one(prefix, judged)
        [base] = seconds.values()
        higher = sum(gap.value > 0 for gap in shown)
        text = (
            f"of {len(judged)} levels compared with {base.label}, {higher} "
            f"{'is' if higher == 1 else 'are'} higher and {len(shown) - higher} lower"
        )
    else:
        yield from _pairs(prefix, shown)
        text = f"{len(shown)} of {len(judged)} pairs of levels differ"
    yield f"{prefix}{text}" if prefix else capital(text)


def _means_together(topic: str, judged: Sequence[JudgedGap]) -> Iterator[str]:
    """The means of levels whose labels begin alike, beside that of the one they are compared with.

    Without such labels, or where they are compared with several, there is nothing to say shorter.
    """
    study = judged[0].gap.study
    labels = [gap.gap.first.label for gap in judged]
    if len({gap.gap.second.key for gap in judged}) > 1 or told_once(labels) == joined(labels):
        return
    base = judged[0].gap
    means = joined([mean_text(study, gap.gap.means[0]) for gap in judged])
    yield (
        f"{topic} {mean_text(study, base.means[1])} {inline(base.second.label)}, "
        f"{means} {inline(told_once(labels))}; can't be tested"
    )


def _against_one(prefix: str, judged: Sequence[JudgedGap]) -> Iterator[str]:
    """Each level beside the one that it is compared with: which are higher, and which lower."""
    study = judged[0].gap.study
    lower = study.metric.falls
    shortest_last = ("no difference shown for {}", "none shown for {}")
    for none_shown, name, sizes in product(shortest_last, ("label", "key"), (True, False)):
        groups: dict[str, list[JudgedGap]] = {}
        for gap in sorted(judged, key=lambda gap: (ORDER.index(gap.grade), gap.value < 0)):
            if gap.grade in ADVERBS:
                note = (" (worse)" if gap.value > 0 else " (better)") if lower else ""
                word = f"{ADVERBS[gap.grade]} {'higher' if gap.value > 0 else 'lower'}{note}"
            else:
                word = "untestable" if gap.grade == "untestable" else ""
            groups.setdefault(word, []).append(gap)
        nothing, untested = groups.pop("", []), groups.pop("untestable", [])
        texts = []
        for word, gaps in groups.items():
            by = joined([number_text(study, abs(gap.value)) for gap in gaps])
            by = value_with_unit(by, study.metric.unit, difference=True)
            texts.append(f"{_names(gaps, name)} {word}{f' by {by}' if sizes else ''}")
        if nothing:
            texts.append(none_shown.format(_names(nothing, name)))
        if untested:
            texts.append(f"{_names(untested, name)} can't be tested")
        base = getattr(judged[0].gap.second, name)
        text = f"beside {base}: " if prefix else f"Beside {base}: "
        yield f"{prefix.replace(': ', ', ')}{text}{'; '.join(texts)}"


def _names(gaps: Sequence[JudgedGap], name: str) -> str:
    return joined([getattr(gap.gap.first, name) for gap in gaps])


def _pairs(prefix: str, shown: Sequence[JudgedGap]) -> Iterator[str]:
    """The pairs of levels that differ, those of the same higher level together."""
    if not shown:
        return
    lower = shown[0].gap.study.metric.falls
    for name in ("label", "key"):
        groups: dict[tuple[str, str], list[str]] = {}
        for gap in shown:
            first, second = getattr(gap.gap.first, name), getattr(gap.gap.second, name)
            groups.setdefault((first, ADVERBS[gap.grade]), []).append(second)
        note = " (worse)" if lower else ""
        texts = [
            f"{first} {adverb} scores higher{note} than {joined(seconds)}"
            for (first, adverb), seconds in groups.items()
        ]
        yield prefix + ", ".join(texts)
