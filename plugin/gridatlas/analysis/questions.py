"""What a page asks, in the order in which it may lead; p-values adjusted over all of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gridatlas.analysis import cells, contrasts
from gridatlas.analysis.contrasts import Tests
from gridatlas.analysis.design import Design, Study, design, mean, own_units
from gridatlas.analysis.roles import KNOWN, is_named
from gridatlas.analysis.table import Codes, Factor, Floats

Kind = Literal["tuned", "names", "by block", "axis", "interaction", "cell", "condition"]
SHARE = 0.05 / 0.04
"""The front page is a family at 4 %, all level pages together another: p is multiplied by this."""
BESIDE = 0.05 / 0.01
"""What p of conditions beside choices is multiplied by."""
ALL_PAIRS = 300
TUNED_UP_TO = 40
"""Names that are compared at their best cells: more are a leaderboard."""
FEW_NAMES = 6
MAIN = ("method", "setting", "optimi", "prompt", "training", "algorithm")


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A family of contrasts about one factor, or two.

    Attributes:
        other: The second factor of a cell, or the blocks.
        design: What its contrasts are tested with; of `by block`, the page's own.
        adjusted: p of each contrast, adjusted over the question and over the page's questions.
        by: What the p of a group of the best is multiplied by, beside its number of levels.
        places: Of `by block` the block of each contrast; of `tuned` the best cells.
        axes: Of `tuned` the factors of these cells; of interactions the second factors.
    """

    kind: Kind
    factor: str
    other: str
    design: Design
    tests: Tests
    adjusted: Floats
    by: float = 1.0
    places: Codes | None = None
    axes: tuple[str, ...] = ()

    @property
    def p(self) -> float:
        """The smallest adjusted p; nan where nothing is tested."""
        return float(np.nanmin(self.adjusted)) if np.isfinite(self.adjusted).any() else np.nan

    @property
    def shown(self) -> bool:
        """Whether any of its contrasts is."""
        return self.p <= 0.05


def ordered(factor: Factor) -> bool:
    """Whether its levels are numbers."""
    return factor.numbers is not None


def main_first(design: Design, names: Iterable[str]) -> list[str]:
    """Factors of names, the one that leads first: with a baseline, else what is done, else what."""

    def rank(name: str) -> tuple[bool, bool]:
        factor = design.factor(name)
        says = f"{name} {factor.label}".casefold()
        return factor.baseline is None, not any(word in says for word in MAIN)

    return sorted(names, key=rank)


def pairs_asked(factor: Factor, present: Sequence[int]) -> list[tuple[int, int]]:
    """All pairs of a few levels; else those with the baseline; of very many, with the first."""
    base = factor.baseline
    against = present[0] if base is None or base not in present else base
    if (len(present) > FEW_NAMES and against == base) or len(present) > ALL_PAIRS:
        return [(at, against) for at in present if at != against]
    return [(a, b) for at, a in enumerate(present) for b in present[at + 1 :]]


def present_levels(page: Design, name: str) -> list[int]:
    """Levels of a factor with any value."""
    axis = page.names.index(name)
    others = tuple(at for at in range(page.y.ndim) if at != axis)
    return np.flatnonzero(np.isfinite(page.y).any(axis=others)).tolist()


def ask(page: Design) -> list[Question]:
    """All questions of a page, with p adjusted within each."""
    varied = page.varied
    roles = {name: page.factor(name).role for name in varied}
    choices = [name for name in varied if roles[name] == "choice"]
    conditions = [name for name in varied if roles[name] == "condition"]
    names = main_first(page, [name for name in choices if not ordered(page.factor(name))])
    numbers = [name for name in choices if ordered(page.factor(name))]
    asked: list[Question] = []
    if page.unit == "none":
        return asked
    tunable = [name for name in numbers if len(present_levels(page, name)) > 2]
    if names and tunable and len(present_levels(page, names[0])) <= TUNED_UP_TO:
        asked += _tuned(page, names[0], numbers)
    for name in names:
        chosen = pairs_asked(page.factor(name), present_levels(page, name))
        asked += _question("names", name, "", page, contrasts.pairs(page, name, chosen))
    asked += [question for name in names for question in _by_block(page, name)]
    for name in numbers:
        own = own_units(page, name)
        asked += _question("axis", name, "", own, contrasts.levels(own, name))
    few = [name for name in conditions if len(present_levels(page, name)) <= 5]
    for name in names:
        asked += _interactions(page, name, [*numbers, *few])
    axes = numbers[:2]
    # Of several names each one's page asks: a setting's mean over them is what nobody runs.
    if len(axes) == 2 and not names:
        own = own_units(page, *axes)
        asked += _question("cell", axes[0], axes[1], own, cells.cell(own, *axes))
    return asked or _of_conditions(page, conditions)


def conditions_beside(page: Design, asked: Sequence[Question]) -> list[Question]:
    """The conditions that are shown beside what is chosen, on a front page: a family at 1 %.

    Those that are known to matter (sizes, lengths, years) aren't asked, nor where names have a
    baseline: what is asked there is another thing.
    """
    based = any(page.factor(name).baseline is not None for name in page.varied)
    if page.fixed or not asked or based:
        return []
    names = [
        name for name in page.varied
        if page.factor(name).role == "condition" and not is_named(name, KNOWN)
    ]  # fmt: skip
    known = {question.factor for question in asked}
    found = over_page(_of_conditions(page, [name for name in names if name not in known]), BESIDE)
    return [question for question in found if question.shown]


def _of_conditions(page: Design, names: Iterable[str]) -> list[Question]:
    found: list[Question] = []
    for name in names:
        own = own_units(page, name)
        found += _question("condition", name, "", own, _condition(own, name))
    return found


def _condition(page: Design, name: str) -> Tests:
    if ordered(page.factor(name)):
        return _last(contrasts.levels(page, name))
    return contrasts.pairs(page, name, pairs_asked(page.factor(name), present_levels(page, name)))


def _last(tests: Tests) -> Tests:
    return Tests(*(getattr(tests, name)[-1:] for name in Tests.__slots__))


def _interactions(page: Design, name: str, others: Sequence[str]) -> list[Question]:
    """How the effects of others depend on a name: a p each, without an estimate."""
    if not others:
        return []
    pairs = [(name, other) for other in others]
    p = np.array([cells.interaction(own_units(page, *pair), *pair) for pair in pairs])
    none, place = np.full(len(p), np.nan), np.arange(len(p))
    tests = Tests(place, place, none, none, none, p, np.full(len(p), page.capped), place)
    return _question("interaction", name, "", page, tests, place, tuple(others))


def _question(
    kind: Kind, name: str, other: str, page: Design, tests: Tests,
    places: Codes | None = None, axes: tuple[str, ...] = (),
) -> list[Question]:  # fmt: skip
    if not np.isfinite(tests.p).any():
        return []
    return [Question(kind, name, other, page, tests, holm(tests.p), 1.0, places, axes)]


def _tuned(page: Design, name: str, numbers: Sequence[str]) -> list[Question]:
    own = own_units(page, name, *numbers)
    tests, places = cells.best_cells(own, name, numbers)
    return _question("tuned", name, "", own, tests, places, tuple(numbers))


def _by_block(page: Design, name: str) -> list[Question]:
    study = page.study
    block = study.only("block")
    levels = present_levels(page, name)
    if block is None or block in page.fixed or len(levels) > 3:
        return []
    count = len(study.factors[block].levels)
    repeated = page.unit == "replicate" or (study.only("replicate") and page.unit == "block")
    by_cell = study.k is not None or study.within is not None
    if not 2 <= count <= 12 or not (repeated or by_cell):
        return []
    parts, places = [], []
    for at in range(count):
        inside = design(study, {**page.fixed, block: at})
        if inside.unit in ("block", "rows", "none") or name not in inside.names:
            continue
        tests = contrasts.pairs(inside, name, pairs_asked(page.factor(name), levels))
        parts.append(tests)
        places += [at] * len(tests)
    if not parts:
        return []
    return _question("by block", name, block, page, contrasts.joined(parts), np.array(places))


def holm(p: Floats) -> Floats:
    """p-values adjusted for their number (Holm 1979); nan stays nan and isn't counted."""
    adjusted = np.full(len(p), np.nan)
    finite = np.flatnonzero(np.isfinite(p))
    order = finite[np.argsort(p[finite], kind="stable")]
    steps = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * steps))
    return adjusted


def over_page(
    asked: Sequence[Question], times: float = SHARE, least: float = 0.0
) -> list[Question]:
    """With p adjusted over the questions, by Holm with weights.

    Where names are compared, half of the page's level goes to the first of these questions, and
    of the other half at most a sixth to each other.

    Args:
        times: What the page's share of the level multiplies p by.
        least: The smallest p of the page before it, which none of this page is below.
    """
    if not asked:
        return []
    names = next((at for at, question in enumerate(asked) if question.kind == "names"), None)
    weights = np.ones(len(asked))
    if names is not None and len(asked) > 1:
        weights[names] = max(6, len(asked) - 1)
    done = list(asked)
    left = weights.sum()
    for at in sorted(range(len(asked)), key=lambda at: asked[at].p / weights[at]):
        by = times * left / weights[at]
        adjusted = np.minimum(1.0, np.maximum(least, asked[at].adjusted * by))
        done[at] = replace(asked[at], adjusted=adjusted, by=by)
        least = max(least, min(1.0, asked[at].p * by))
        left -= weights[at]
    return done


def level_pages(study: Study, facets: Sequence[str]) -> dict[tuple[str, int], list[Question]]:
    """The questions of the page of each level, by facet and level.

    All pages together are a family at 4 %, in equal parts to the facets; Holm over the levels.
    """
    raw: dict[str, dict[int, list[Question]]] = {}
    for facet in facets:
        if study.factors[facet].role in ("replicate", "item"):
            continue
        raw[facet] = {
            level: ask(design(study, {facet: level}))
            for level in range(len(study.factors[facet].levels))
        }
    tested = [facet for facet, pages in raw.items() if any(pages.values())]
    done: dict[tuple[str, int], list[Question]] = {}
    for facet, pages in raw.items():
        done |= {(facet, level): asked for level, asked in pages.items() if not asked}
        smallest = {
            level: min(question.p for question in over_page(asked, 1.0))
            for level, asked in pages.items()
            if asked
        }
        least = 0.0
        for rank, level in enumerate(sorted(smallest, key=smallest.__getitem__)):
            times = SHARE * len(tested) * (len(smallest) - rank)
            done[facet, level] = over_page(pages[level], times, least)
            least = max(least, min(1.0, smallest[level] * times))
    return done


# --- naming ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Naming:
    """What may be said of an axis, by the first rule that applies.

    Attributes:
        rule: `trend`, `best`, `above`, `peak`, `tends`, `below` or `depends`.
        levels: Those that it names: the ends of a trend, the best, or the first and last of a peak.
        p: Of what it says.
        test: The place of its contrast in the question's tests; −1 without one.
        rivals: Levels that can't be told from the best.
    """

    rule: str
    levels: tuple[int, ...]
    p: float
    test: int = -1
    rivals: tuple[int, ...] = ()
    second: int = -1


def group_of_best(
    question: Question, name: str, among: Sequence[int], top: int
) -> dict[int, float]:
    """The p with which each other level is behind the top one (Hsu 1984), adjusted for the page."""
    page = question.design
    tests = contrasts.pairs(page, name, [(top, at) for at in among if at != top])
    ahead = page.sign * tests.estimate > 0
    p = np.where(ahead, tests.p / 2, 1 - tests.p / 2) * (len(among) - 1) * question.by
    found = dict(zip(tests.second.tolist(), np.minimum(p, 1.0).tolist(), strict=True))
    return {at: found.get(at, np.nan) for at in among if at != top}


def name_level(question: Question) -> Naming | None:
    """What may be said of the levels of an axis or condition; None where nothing is shown."""
    if not question.shown:
        return None
    page, tests, adjusted = question.design, question.tests, question.adjusted
    means, _ = contrasts.level_means(page, question.factor)
    retained = np.flatnonzero(np.isfinite(means))
    trend = len(tests) - 1 if len(tests) and tests.second[-1] == contrasts.TREND else -1
    ends = int(retained[0]), int(retained[-1])
    steps = np.diff(means[retained])
    monotone = bool((steps >= 0).all() or (steps <= 0).all())
    trend_shown = trend >= 0 and bool(adjusted[trend] <= 0.05)
    if trend_shown and monotone and np.sign(steps.sum()) == np.sign(tests.estimate[trend]):
        return Naming("trend", ends, float(adjusted[trend]), trend)
    sizes = np.abs(tests.estimate)
    fits = [sizes / np.sqrt(contrasts.squares(tests)), sizes / np.maximum(tests.error, 1e-300)]
    thirds = (
        _thirds_in_order(means[retained], float(tests.estimate[trend])) if trend >= 0 else False
    )
    if question.kind == "condition":
        if trend_shown and thirds:
            return Naming("tends", ends, float(adjusted[trend]), trend)
        return Naming("depends", ends, question.p)
    top = int(retained[(page.sign * means[retained]).argmax()])
    behind = group_of_best(question, question.factor, retained.tolist(), top)
    out = {at for at, p in behind.items() if p <= 0.05}
    rivals = tuple(at for at in behind if at not in out)
    second = int(max(behind, key=lambda at: page.sign * means[at]))
    if not rivals:
        return Naming("best", (top,), max(behind.values()), -1, (), second)
    own = {int(level): at for at, level in enumerate(tests.first[: len(tests) - 1].tolist())}
    sizes = sizes[:-1]
    at = own[top]
    up = page.sign * tests.estimate[at] > 0
    # A line says more than its last level, where it fits better by either measure.
    line = trend_shown and thirds and any(fit[trend] >= fit.max() for fit in fits)
    if not line and adjusted[at] <= 0.05 and up and sizes[at] >= 0.5 * sizes.max():
        return Naming("above", (top,), float(adjusted[at]), at, rivals)
    near = sorted((top, *rivals))
    if len(retained) >= 5 and {ends[0], ends[1]} <= out:
        p = max(behind[ends[0]], behind[ends[1]])
        return Naming("peak", (near[0], near[-1]), p, -1, rivals)
    if line:
        return Naming("tends", ends, float(adjusted[trend]), trend, rivals)
    far = int(np.argmax(sizes))
    down = page.sign * tests.estimate[far] < 0
    if len(retained) <= 12 and adjusted[far] <= 0.05 and down:
        return Naming("below", (int(tests.first[far]),), float(adjusted[far]), far, rivals)
    return Naming("depends", ends, question.p, -1, rivals)


def _thirds_in_order(means: Floats, slope: float) -> bool:
    """Whether the means of the lower, middle and upper third of the levels go the trend's way."""
    third = max(1, round(len(means) / 3))
    parts = [means[:third], means[third : len(means) - third], means[len(means) - third :]]
    steps = np.diff([part.mean() for part in parts if len(part)])
    return bool((np.sign(slope) * steps > 0).all())


def explained(
    page: Design, lone: str, two: str, place: Mapping[str, int]
) -> tuple[float, float, float]:
    """Sums of squares per observation: of two axes, and of one setting beyond them."""
    m = mean(contrasts.by_row(page, lone, two), 0)
    if not np.isfinite(m).all():
        return np.inf, np.inf, 0.0
    a, b = m.shape
    rest = m - m.mean(axis=0) - m.mean(axis=1, keepdims=True) + m.mean()
    estimate = rest[place[lone], place[two]]
    squares = (a - 1) * (b - 1) / (a * b)
    return (
        b * float(((m.mean(axis=1) - m.mean()) ** 2).sum()),
        a * float(((m.mean(axis=0) - m.mean()) ** 2).sum()),
        float(estimate**2 / squares),
    )
