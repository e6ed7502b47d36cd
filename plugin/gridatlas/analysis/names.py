"""What is said of names: on average, at their best, block by block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from gridatlas.analysis import contrasts, words
from gridatlas.analysis.design import Design, mean
from gridatlas.analysis.questions import (
    ALL_PAIRS,
    FEW_NAMES,
    Question,
    group_of_best,
    present_levels,
)
from gridatlas.analysis.said import (
    Assertion,
    Rank,
    Said,
    ahead,
    assertion,
    how_much,
    interval,
    is_likely,
    luck,
    positive_interval,
    size,
    tested_with,
    units_ahead,
)
from gridatlas.analysis.table import Bools, Floats

MOST_PAIRS = 15
"""Pairs of names up to which a page has all of them, as a picture of them can."""


def compared(asked: Sequence[Question]) -> tuple[Assertion, ...]:
    """The pairs that are tested, of the names that lead first."""
    found: list[Assertion] = []
    for question in (question for question in asked if question.kind == "names"):
        label = question.design.factor(question.factor).levels
        tested = np.flatnonzero(np.isfinite(question.tests.p)).tolist()
        if len(tested) > MOST_PAIRS:
            tested = [*ranked(question).pair.values()]
        found += [
            assertion(question, at, "pair", [label[of] for of in ahead(question, at)])
            for at in tested
        ]
    return tuple(found)


def ranks(asked: Sequence[Question]) -> tuple[Rank, ...]:
    """The ranks of many names: those of levels that a name isn't shown apart from."""
    question = next((question for question in asked if question.kind == "names"), None)
    if question is None or len(present_levels(question.design, question.factor)) <= FEW_NAMES:
        return ()
    page, rank = question.design, ranked(question)
    count, tests = len(rank.order), question.tests
    if count > ALL_PAIRS:
        return ()
    if len(tests) < count * (count - 1) / 2:
        tests = contrasts.pairs(page, question.factor, [*combinations(sorted(rank.order), 2)])
    up = page.sign * tests.estimate > 0
    for_sure = np.where(np.isfinite(tests.p), tests.p, 1.0) / 2 * (count - 1) * question.by <= 0.05
    wins, losses = (
        np.bincount(np.where(up, *of)[for_sure], minlength=max(rank.order) + 1)
        for of in ((tests.first, tests.second), (tests.second, tests.first))
    )
    label, found = page.factor(question.factor).levels, []
    for of in rank.order:
        mean = np.nan if rank.gaps else float(rank.means[of])
        value = float(np.exp(mean)) if page.study.log else mean
        found.append((label[of], value, 1 + int(losses[of]), count - int(wins[of])))
    return tuple(found)


def say_names(question: Question) -> Said:
    """Of the pairs of names."""
    page, adjusted = question.design, question.adjusted
    factor = page.factor(question.factor)
    shown = np.flatnonzero(adjusted <= 0.05)
    assertions = tuple(
        assertion(question, at, "pair", [factor.levels[of] for of in ahead(question, at)])
        for at in shown.tolist()
    )
    base = factor.baseline
    against = base is not None and base in present_levels(page, question.factor)
    if not len(shown):
        return Said(question)
    if against:
        return _say_base(question, base or 0, shown.tolist(), assertions)
    return _say_ranking(question, shown.tolist(), assertions)


def _say_base(
    question: Question, base: int, shown: Sequence[int], assertions: tuple[Assertion, ...]
) -> Said:
    """Of names with a baseline."""
    page, tests = question.design, question.tests
    order = sorted(shown, key=lambda at: -abs(float(tests.estimate[at])))
    over = [at for at in order if ahead(question, at)[1] == base]
    under = [at for at in order if ahead(question, at)[0] == base]
    rest = [at for at in order if base not in ahead(question, at)]
    evidence = [
        _against_base(question, at, base, first=not place)
        for place, at in enumerate([*over, *under, *rest])
    ]
    _, rows = contrasts.level_means(page, question.factor)
    evidence += _units_line(question, *ahead(question, (over or under or rest)[0]))
    evidence += _means_over(page, question, rows)
    heads = _base_heads(question, base, over, under, rest)
    capped = bool(tests.capped[order].any())
    much = _how_far_ahead(question, (over or under or rest)[0])
    return Said(question, heads, capped, tuple(evidence), (evidence[0],), assertions, much)


def _against_base(question: Question, at: int, base: int, *, first: bool) -> str:
    """The sentence of one pair; the first names the population."""
    page, tests = question.design, question.tests
    label = page.factor(question.factor).spoken
    better, worse = ahead(question, at)
    p, capped = float(question.adjusted[at]), bool(tests.capped[at])
    reach = f", {words.reach(page, p, capped=capped)}" if first else ""
    end = f"{positive_interval(question, at)} ({words.p_text(p)}){reach}."
    if base in (better, worse):
        lone, side = (better, "ahead") if worse == base else (worse, "behind")
        values = [pair_mean(question, at, of) for of in (lone, base)]
        line = (
            f"{label[lone]} {words.LIKELY}{side}: {values[0]} against {values[1]}"
            f"{_over_rows(page, question, at)}; difference {end}"
        )
    else:
        line = f"{label[better]} {words.LIKELY}ahead of {label[worse]}: {end}"
    return words.clause(line, likely=is_likely(p, capped=capped), named=True)


def _how_far_ahead(question: Question, at: int, pattern: str = words.AHEAD, **named: str) -> str:
    label = question.design.factor(question.factor).spoken
    first, second = (label[of] for of in ahead(question, at))
    return how_much(question, at, pattern, first=first, second=second, **named)


def _base_heads(
    question: Question, base: int, over: Sequence[int], under: Sequence[int], rest: Sequence[int]
) -> tuple[tuple[str, float], ...]:
    """Headlines of pairs above the baseline, below it, and of others."""
    adjusted = question.adjusted
    label = question.design.factor(question.factor).spoken
    shown = [*over, *under, *rest]

    def sized(at: int, *, bare: bool = True) -> str:
        return size(question, at, bare=bare, beside=shown)

    unit = sized(shown[0], bare=False).removeprefix(sized(shown[0]))
    down = [(label[ahead(question, at)[1]], f"−{sized(at)}") for at in under]
    if over:
        best = ahead(question, over[0])[0]
        up = [(label[ahead(question, at)[0]], f"+{sized(at)}") for at in over]
        mine = [at for at in rest if ahead(question, at)[0] == best]
        also = [(label[best], label[ahead(question, at)[1]], f"+{sized(at)}") for at in mine]
        shown = [*over, *mine, *under]
        return tuple(
            (text, max(float(adjusted[at]) for at in shown[: len(over) + count]))
            for text, count in words.over_base(up, down, label[base], also, unit)
        )
    if under:
        names, sizes = zip(*down, strict=True)
        text = words.falls_behind(names, f"{', '.join(sizes)}{unit}", label[base])
        return ((text, max(float(adjusted[at]) for at in under)),)
    better, worse = ahead(question, rest[0])
    text = words.beats(label[better], label[worse], size(question, rest[0]))
    return ((text, float(adjusted[rest[0]])),)


def pair_mean(question: Question, at: int, level: int) -> str:
    """The mean of a level over the rows and units that both of a pair have."""
    page, tests = question.design, question.tests
    a, b = int(tests.first[at]), int(tests.second[at])
    d = contrasts.arrange(page, question.factor)
    finite = np.isfinite(d)
    both = finite[:, :, [a, b]].all(axis=2)
    if not both.any():  # Each has replicates of its own, over the rows that both have.
        both = finite[:, :, level] & finite[:, :, a].any(axis=0) & finite[:, :, b].any(axis=0)
    whole = contrasts.level_means(page, question.factor)[0]
    found = float(d[:, :, level][both].mean() if both.any() else whole[level])
    return words.mean_text(page, found, float(tests.error[at]))


def _over_rows(page: Design, question: Question, at: int) -> str:
    """`, over 90 of 100 cells that both have`, where some are left out."""
    if page.unit != "rows" and not page.by_cell:
        return ""
    others = [name for name in page.names if name != question.factor]
    cells = int(np.prod([len(page.factor(name).levels) for name in others]))
    used = int(question.tests.rows[at])
    return f", over {used} of {cells} cells that both have" if used < cells else ""


def _units_line(question: Question, first: int, second: int) -> list[str]:
    page = question.design
    label = page.factor(question.factor).spoken
    count, by_unit = units_ahead(page, question.factor, first, second)
    if len(by_unit) < 2:
        return []
    if page.unit == "rows" or page.by_cell:
        return [f"Ahead in {count}."]
    leads = f"{label[first]} is ahead of {label[second]}"
    if page.unit == "block":
        ends = words.interval_text(page, float(by_unit.min()), float(by_unit.max()), 0.0)
        unit = "" if page.study.log or page.study.table.metric.unit != "%" else " points"
        return [f"{leads} on {count} ({ends}{unit})."]
    return [f"{leads} in {count}{luck(page, by_unit)}."]


def _means_over(page: Design, question: Question, rows: Bools) -> list[str]:
    """What means are taken over, if no row was left out."""
    others = [page.factor(name).label for name in page.varied if name != question.factor]
    if not others or not len(rows) or not rows.all() or page.unit != "replicate":
        return []
    kind = "Geometric means" if page.study.log else "Means"
    return [f"{kind} over all {words.listed([words.plural(label) for label in others])}."]


@dataclass(frozen=True, slots=True)
class Ranked:
    """Names in their order, and which of them the first is shown ahead of.

    Attributes:
        order: Levels, the best first.
        means: Of all levels over the rows that all have.
        gaps: Whether rows were left out.
        pair: The contrast of the first with each other level.
        p: With which each other level is behind the first.
    """

    order: tuple[int, ...]
    means: Floats
    gaps: bool
    pair: Mapping[int, int]
    p: Mapping[int, float]

    @property
    def out(self) -> list[int]:
        """Levels that the first is shown ahead of."""
        return [of for of in self.order[1:] if self.p.get(of, 1.0) <= 0.05]

    @property
    def left(self) -> list[int]:
        """Levels that it isn't shown ahead of."""
        return [of for of in self.order[1:] if of not in self.out]


def _pairs_with(tests: contrasts.Tests, top: int) -> dict[int, int]:
    """The contrast of one level with each other."""
    return {
        int(a if b == top else b): at
        for at, (a, b) in enumerate(zip(tests.first, tests.second, strict=True))
        if top in (a, b)
    }


def ranked(question: Question) -> Ranked:
    """The names of a question in their order."""
    page, tests = question.design, question.tests
    levels = present_levels(page, question.factor)
    means, rows = contrasts.level_means(page, question.factor)
    complete = bool(np.isfinite(means[levels]).all())
    wins = dict.fromkeys(levels, 0)
    for at in range(len(tests)):
        wins[ahead(question, at)[0]] += 1
    order = sorted(levels, key=lambda at: -page.sign * means[at] if complete else -wins[at])
    top = order[0]
    pair = _pairs_with(tests, top)
    if len(levels) > FEW_NAMES:
        p = group_of_best(question, question.factor, levels, top)
    else:
        mine = (of for of, at in pair.items() if ahead(question, at)[0] == top)
        p = {of: float(question.adjusted[pair[of]]) for of in mine}
    return Ranked(tuple(order), means, not (complete and len(rows) and rows.all()), pair, p)


def _say_ranking(
    question: Question, shown: Sequence[int], assertions: tuple[Assertion, ...]
) -> Said:
    """Of names without a baseline."""
    page, tests, adjusted = question.design, question.tests, question.adjusted
    label = page.factor(question.factor).spoken
    rank = ranked(question)
    top = rank.order[0]
    if rank.out:
        nearest = rank.out[0]
        at = rank.pair.get(nearest, -1)
        many = not rank.left and len(rank.order) > FEW_NAMES
        p = max(rank.p.values()) if many else rank.p[nearest]
    else:
        at = min(shown, key=lambda at: float(adjusted[at]))
        top, nearest = ahead(question, at)
        p = float(adjusted[at])
    error = float(tests.error[at]) if at >= 0 else 0.0
    value = "" if rank.gaps else words.mean_text(page, float(rank.means[top]), error)
    by = size(question, at) if at >= 0 else ""
    if not rank.out or len(rank.order) == 2:
        texts = [words.beats(label[top], label[nearest], text) for text in (by, "")]
    elif rank.left:
        few = [label[of] for of in rank.left]
        others = f"{len(few)} others" if len(few) > 1 else few[0]
        named = words.listed(few) if len(few) <= 2 else others
        texts = [words.leads(label[top], value, named), words.leads(label[top], "", others)]
    else:
        best, bare = words.best_text(page), "" if page.study.log else value
        texts = [words.is_best(label[top], best, v, by, label[nearest]) for v in (bare, "")]
    capped = (at >= 0 and bool(tests.capped[at])) or page.capped
    reach = words.reach(page, p, capped=capped)
    evidence = []
    if len(rank.order) == 2:
        values = [pair_mean(question, at, of) for of in (top, nearest)]
        evidence.append(
            f"{values[0]} against {values[1]}{_over_rows(page, question, at)}; difference "
            f"{positive_interval(question, at)} ({words.p_text(p)}), {reach}."
        )
        evidence += _units_line(question, top, nearest)
    else:
        count = f"{len(shown)} of {len(tests)} pairs can be told apart"
        ranking = _ranking(question, rank, error)
        evidence.append(f"{ranking}{count} ({words.p_text(p)} for the headline), {reach}.")
        if at >= 0:
            units, by_unit = units_ahead(page, question.factor, top, nearest)
            both = f"{label[top]} against {label[nearest]}"
            end = f"; ahead in {units}{luck(page, by_unit)}" if len(by_unit) > 1 else ""
            evidence.append(f"{both}: {positive_interval(question, at)}{end}.")
    short = words.clause(f"Over all settings: {texts[0]}.", likely=is_likely(p, capped=capped))
    heads = tuple((text, p) for text in texts)
    much = _how_far_ahead(question, at) if at >= 0 else ""
    return Said(question, heads, capped, tuple(evidence), (short,), assertions, much)


def _ranking(question: Question, rank: Ranked, error: float) -> str:
    """All names with their means, if they aren't many; over the rows that all have."""
    page = question.design
    if len(rank.order) > 12 or not np.isfinite(rank.means[list(rank.order)]).all():
        return ""
    label = page.factor(question.factor).spoken
    texts = [
        f"{label[of]} {words.mean_text(page, float(rank.means[of]), error, bare=place > 0)}"
        for place, of in enumerate(rank.order)
    ]
    kind = "Ranking (geometric means)" if page.study.log else "Ranking"
    over = ", over the cells that all have" if rank.gaps else ""
    return f"{kind}{over}: {', '.join(texts)}; "


def say_tuned(question: Question) -> Said:
    """Of names at their best cells."""
    page, tests, adjusted = question.design, question.tests, question.adjusted
    label = page.factor(question.factor).spoken
    shown = np.flatnonzero(adjusted <= 0.05).tolist()
    if not shown:
        return Said(question)
    levels = page.factor(question.factor).levels
    assertions = tuple(
        assertion(question, at, "best", [levels[of] for of in ahead(question, at)]) for at in shown
    )
    values = _best_values(question)
    order = sorted(values, key=lambda of: -page.sign * values[of])
    top = order[0]
    pair = _pairs_with(tests, top)
    out = [of for of in order[1:] if adjusted[pair[of]] <= 0.05]
    at = pair[out[0]] if out else shown[0]
    first, second = (top, out[0]) if out else ahead(question, at)
    p, error = float(adjusted[at]), float(tests.error[at])
    value = words.mean_text(page, values[top], error)
    if not out or len(order) == 2:
        text = words.beats(label[first], label[second], size(question, at))
    elif len(out) < len(order) - 1:
        others = words.listed([label[of] for of in order[1:] if of not in out])
        text = words.leads(label[top], value, others)
    else:
        best = words.best_text(page)
        text = words.is_best(label[top], best, value, size(question, at), label[second])
    capped = bool(tests.capped[at])
    ranking = ", ".join(
        f"{label[of]} {words.mean_text(page, values[of], error, bare=of != top)}" for of in order
    )
    count = f"{len(shown)} of {len(tests)} pairs can be told apart"
    reach = words.reach(page, p, capped=capped)
    both, ends = f"{label[first]} against {label[second]}", positive_interval(question, at)
    evidence: tuple[str, ...] = (
        f"Ranking: {ranking}; {count} ({words.p_text(p)} for the headline), {reach}.",
        f"{both}: {ends}.",
        f"{_best_places(question)}.",
    )
    if len(order) == 2:
        tested = f"{ranking}; difference {ends} ({words.p_text(p)}), {reach}."
        evidence = (tested, evidence[2])
    much = _how_far_ahead(question, at, words.AHEAD_TUNED)
    heads = ((f"Tuned, {text}", p),)
    return Said(question, heads, capped, evidence, (evidence[0],), assertions, much)


def _best_values(question: Question) -> dict[int, float]:
    """The mean of each level's best cell."""
    page = question.design
    assert question.places is not None
    d = contrasts.by_row(page, question.factor, *question.axes)
    able = [of for of, place in enumerate(question.places.tolist()) if place[0] >= 0]
    best = np.stack([d[(slice(None), of, *question.places[of])] for of in able], 1)
    both = np.isfinite(best).all(axis=1)
    means = best[both].mean(axis=0) if both.any() else mean(best, 0)
    return dict(zip(able, means.tolist(), strict=True))


def _best_places(question: Question) -> str:
    """Where each is best, and whether that is the edge of the grid."""
    page = question.design
    assert question.places is not None
    texts = []
    for of, place in enumerate(question.places.tolist()):
        if place[0] < 0:
            continue
        cells = []
        for axis, level in zip(question.axes, place, strict=True):
            factor = page.factor(axis)
            last = len(factor.levels) - 1
            edge = ", the edge of the grid" if level in (0, last) and last > 1 else ""
            cells.append(f"{words.labelled(factor, level)}{edge}")
        texts.append(f"{page.factor(question.factor).spoken[of]} at {words.listed(cells)}")
    return f"Best: {'; '.join(texts)}"


def say_blocks(question: Question) -> Said:
    """Of names, block by block."""
    page, tests, adjusted = question.design, question.tests, question.adjusted
    factor, block = page.factor(question.factor), page.factor(question.other)
    label, levels = factor.spoken, factor.levels
    assert question.places is not None
    of_block = [block.levels[place] for place in question.places.tolist()]
    shown = np.flatnonzero(adjusted <= 0.05).tolist()
    if not shown:
        return Said(question)
    winners: dict[tuple[int, int], list[int]] = {}
    for at in shown:
        winners.setdefault(ahead(question, at), []).append(at)
    wins = Counter(ahead(question, at)[0] for at in shown)

    def leads(pair: tuple[int, int]) -> tuple[int, int, float]:
        """On how many blocks; of levels alike in that the one with most wins, over its nearest."""
        sizes = np.abs(tests.estimate[winners[pair]])
        return len(sizes), wins[pair[0]], -float(sizes.sum())

    first, second = max(winners, key=leads)
    where = winners[first, second]
    won = {of_block[at] for at in where}
    beaten = {
        pair[1]: on
        for pair, on in winners.items()
        if pair[0] == first and {of_block[at] for at in on} == won
    }
    others = [label[level] for level in beaten if level != second]
    few = others if len(others) < FEW_NAMES else [f"{len(others)} others"]
    behind = words.listed([label[second], *few])
    where = sorted(where, key=lambda at: -abs(float(tests.estimate[at])))
    p = max(float(adjusted[at]) for on in beaten.values() for at in on)
    sized = [f"{of_block[at]} ({size(question, at, bare=at != where[0])})" for at in where]
    total, units = len(np.unique(question.places)), words.plural(block.label)
    count = f"all {total} {units}" if len(where) == total else f"{len(where)} of {total} {units}"
    places = words.listed(sized), words.listed([of_block[at] for at in where]), count
    heads = tuple((words.on_blocks(label[first], behind, text), p) for text in places)
    each = []
    measured = np.flatnonzero(np.isfinite(tests.estimate)).tolist()
    for at in (at for at in measured if set(ahead(question, at)) == {first, second}):
        sign = 1 if int(tests.first[at]) == first else -1
        low, high = sorted(sign * end for end in interval(question, at))
        error = float(tests.error[at])
        gain = words.signed(page, sign * float(tests.estimate[at]), error, bare=True)
        each.append(f"{of_block[at]} {gain} ({words.interval_text(page, low, high, error)})")
    inside = tested_with(question)
    by = f"{words.capital(block.label)} by {block.label}"
    line = f"{by}: {', '.join(each)}, {words.population(inside)}."
    assertions = tuple(
        assertion(
            question, at, "block", [*(levels[of] for of in ahead(question, at)), of_block[at]]
        )
        for at in shown
    )
    capped = bool(tests.capped[where].any())
    much = _how_far_ahead(question, where[0], words.AHEAD_ON, block=of_block[where[0]])
    return Said(question, heads, capped, (line,), (line,), assertions, much)
