"""Which question each page of a study asks, and all its answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import combinations, product
from types import MappingProxyType

from gridatlas.assessment.answers.answer import (
    ADVERBS,
    Answer,
    Evidence,
    Grade,
    capital,
    headline,
    joined,
    mean_text,
    number_text,
)
from gridatlas.assessment.answers.blocks import Block, Blocks, blocks_of
from gridatlas.assessment.answers.cellwise import CellTests
from gridatlas.assessment.answers.gaps import (
    Gap,
    GapAnswer,
    JudgedGap,
    Pair,
    judge_gaps,
)
from gridatlas.assessment.answers.kinds import Kind, kind_of
from gridatlas.assessment.answers.rivals import (
    notes,
    other_readings,
    settled,
    with_reading,
)
from gridatlas.assessment.answers.settings import (
    SettingsAnswer,
    judge_pages,
    test_settings,
)
from gridatlas.assessment.uncertainty import DifferenceUncertainty, key_of_levels
from gridatlas.checks.findings import CheckResult
from gridatlas.model.format import value_with_unit
from gridatlas.model.study import Factor, Grid, Level, Levels, Study, inline
from gridatlas.results.differences import ALL_PAIRS_UP_TO
from gridatlas.results.grids import Results

ORDER: tuple[Grade, ...] = (
    "clear",
    "likely",
    "reading-dependent",
    "not-shown",
    "untestable",
    "described",
)
"""From the grade that says most."""


Cellwise = Mapping[str, DifferenceUncertainty]
_NO_TESTS: Cellwise = MappingProxyType({})


def answers_of(
    results: Results, checks: Iterable[CheckResult] = (), cellwise: Cellwise = _NO_TESTS
) -> dict[str, Answer]:
    """The answers of all pages of a study.

    What is asserted holds under every reading that may be right.

    Args:
        results: Whose shown values are asked.
        checks: What was found in each reading; one that fails where the shown one passes counts for
            nothing.
        cellwise: Grids against one another cell by cell, by `key_of_levels`: evidence.

    Returns:
        By the page's path below the study's: empty for the study itself, `model` for the levels of
        a facet compared, `model/r1-qwen` for one of them.
    """
    others = other_readings(results, checks)
    under = {
        other.reading.label: _page_answers(with_reading(results, other.reading), {})
        for other in others
        if other.is_rival
    }
    pages = settled(_page_answers(results, cellwise), under)
    found = {}
    for page, answer in pages.items():
        evidence = (*answer.evidence, *notes(others, *_about(results.study, page)))
        found[page] = replace(answer, page=page, evidence=evidence)
    return found


def _about(study: Study, page: str) -> tuple[int, str]:
    """The place of the facet that a page is about a level of, and the level's key; else empty."""
    facet_id, _, slug = page.partition("/")
    for at, facet in enumerate(study.facets):
        for level in facet.levels:
            if facet.id == facet_id and level.slug == slug and not level.aggregate:
                return at, level.key
    return 0, ""


def grid_answers(results: Results) -> dict[Levels, Answer]:
    """The answers of each grid alone, by its levels; the grids are one family of questions.

    Aggregates have none: their parts are asked.
    """
    grids = [grid for grid in results.grids.values() if not grid.aggregate]
    parts = [
        [Part(grid.address, "", "", blocks_of(results.study, [grid], "one"))] for grid in grids
    ]
    return {
        grid.levels: answer for grid, answer in zip(grids, _answers_of_pages(parts), strict=True)
    }


def _page_answers(results: Results, cellwise: Cellwise) -> dict[str, Answer]:
    pages: dict[str, Answer] = {"": _combined(_Question(results, cellwise, "", {}).parts())}
    for facet in results.study.facets:
        pages[facet.id] = _facet_answer(results, cellwise, facet)
        pages |= _level_answers(results, cellwise, facet)
    return pages


# --- which question -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Part:
    """One thing that a page asks: of settings, or of two levels.

    Attributes:
        topic: What the page is about.
        label: What this is about, in the sentence of a page that asks several.
    """

    page: str
    topic: str
    label: str
    ask: Blocks | Gap


@dataclass(frozen=True, eq=False)
class _Question:
    """What a page asks of the grids at its levels.

    Attributes:
        cellwise: Grids against one another cell by cell, by `key_of_levels`.
        fixed: By the ids of facets, the level that the page is about; aggregates aren't among them.
    """

    results: Results
    cellwise: Cellwise
    page: str
    fixed: Mapping[str, str]
    label: str = ""

    @property
    def study(self) -> Study:
        return self.results.study

    @cached_property
    def free(self) -> tuple[Factor, ...]:
        """The facets that the page doesn't fix."""
        return tuple(facet for facet in self.study.facets if facet.id not in self.fixed)

    def parts(self, compared: Factor | None = None) -> list[Part]:
        """What is asked, by the study's shape alone.

        Args:
            compared: The facet whose levels the page holds against one another.
        """
        for facet in (compared,) if compared else self.free:
            if facet.id in self.study.baseline:
                return self._against_baseline(facet)
        if compared is not None and compared.id in self.study.compare:
            return self._against_each_other(compared)
        replicates = self._replicates(self.free)
        if compared is None and replicates is None:
            for facet in self.free:
                if facet.id in self.study.compare:
                    return self._against_each_other(facet)
        return self._settings(replicates)

    def _replicates(self, facets: Iterable[Factor]) -> Factor | None:
        """The facet whose levels repeat what is asked: seeds, else benchmarks."""
        found = [facet for facet in facets if kind_of(self.study, facet) != "one"]
        return min(found, key=lambda facet: facet.id != self.study.replicates, default=None)

    def _against_baseline(self, facet: Factor) -> list[Part]:
        base = facet.level(self.study.baseline[facet.id])
        return [
            Part(self.page, self.label, self.label, gap)
            for level in _measured(facet)
            if level.key != base.key and (gap := self.gap(facet, level, base))
        ]

    def _against_each_other(self, facet: Factor) -> list[Part]:
        levels = _measured(facet)
        pairs = (
            combinations(levels, 2)
            if len(levels) <= ALL_PAIRS_UP_TO
            else ((level, levels[0]) for level in levels[1:])
        )
        return [
            Part(self.page, self.label, self.label, gap.higher_first)
            for first, second in pairs
            if (gap := self.gap(facet, first, second))
        ]

    def gap(self, facet: Factor, first: Level, second: Level) -> Gap | None:
        """One level against another over all levels of the other free facets."""
        pairs = {
            left.levels: pair
            for left in self.grids({facet.id: first.key})
            if (right := self.results.neighbour(left, facet.id, second.key))
            and (pair := Pair(Block(left), Block(right))).common.any()
        }
        seeds = any(other.id == self.study.replicates for other in self.free if other is not facet)
        every = self._every_seed_has(pairs) if seeds else []
        chosen = [pairs[levels] for levels in every or pairs]
        if not chosen:
            return None
        alone = len(self.free) - 1 == int(seeds)  # nothing but seeds is free besides
        tests = [self._cell_tests(pair) for pair in chosen] if alone else [None]
        cellwise = reduce(lambda a, b: a.both(b) if a and b else None, tests)
        return Gap(self.study, first, second, tuple(chosen), seeds, cellwise)

    def _cell_tests(self, pair: Pair) -> CellTests | None:
        """The tests of the cells of two grids: the first against the second."""
        first, second = pair.first.grid.levels, pair.second.grid.levels
        for levels, turned in (((second, first), False), ((first, second), True)):
            tests = self.cellwise.get(key_of_levels(*levels))
            if tests is None or not tests.cells:
                continue
            higher = frozenset(point for point, up in tests.significant.items() if up)
            lower = frozenset(tests.significant) - higher
            found = CellTests(self.study, pair.points, higher, lower, tests.test)
            return found.turned if turned else found
        return None

    def _every_seed_has(self, found: Collection[Levels]) -> list[Levels]:
        """The levels, seed by seed, without those at which some seed has nothing."""
        place = [facet.id for facet in self.study.facets].index(self.study.replicates)
        by_seed: dict[str, dict[Levels, Levels]] = {}
        for levels in found:
            rest = (*levels[:place], *levels[place + 1 :])
            by_seed.setdefault(levels[place], {})[rest] = levels
        common = [
            rest
            for rest in next(iter(by_seed.values()), {})
            if all(rest in of for of in by_seed.values())
        ]
        return [of[rest] for of in by_seed.values() for rest in common]

    def _settings(self, replicates: Factor | None) -> list[Part]:
        """Settings over the replicates, for each combination of levels of what else is free.

        Over seeds benchmarks are averaged, if each seed has them all: a seed repeats all of them.
        """
        kind: Kind = "one" if replicates is None else kind_of(self.study, replicates)
        others = [facet for facet in self.free if facet is not replicates]
        benchmarks = [facet for facet in others if kind_of(self.study, facet) == "benchmarks"]
        if kind == "seeds" and benchmarks:
            parts = self._asked([facet for facet in others if facet not in benchmarks], kind)
            if parts:
                return parts
        return self._asked(others, kind)

    def _asked(self, facets: Sequence[Factor], kind: Kind) -> list[Part]:
        """A question for each combination of levels of some facets; none where seeds differ."""
        groups: dict[Levels, list[Grid]] = {}
        places = [self.study.facets.index(facet) for facet in facets]
        for grid in self.grids({}):
            groups.setdefault(tuple(grid.levels[at] for at in places), []).append(grid)
        parts = []
        for key, grids in groups.items():
            names = [facet.level(level).label for facet, level in zip(facets, key, strict=True)]
            label = ", ".join(filter(None, [self.label, *names]))
            blocks = self._blocks(grids, kind)
            if blocks is None:
                return []
            parts.append(Part(self.page, self.label, label, blocks))
        return parts

    def _blocks(self, grids: Sequence[Grid], kind: Kind) -> Blocks | None:
        """A table per grid, or per seed where each has several; None if seeds share nothing."""
        if len(grids) < 2 or kind != "seeds":
            return blocks_of(self.study, grids, kind if len(grids) > 1 else "one")
        by_levels = {grid.levels: grid for grid in grids}
        chosen = [by_levels[levels] for levels in self._every_seed_has(by_levels)]
        place = [facet.id for facet in self.study.facets].index(self.study.replicates)
        seeds = {grid.levels[place] for grid in chosen}
        if not seeds:
            return None
        if len(seeds) == 1 and len(chosen) > 1:
            return blocks_of(self.study, chosen, "benchmarks")
        return blocks_of(self.study, chosen, kind, len(chosen) // len(seeds))

    def grids(self, also: Mapping[str, str]) -> Iterator[Grid]:
        """The grids at the page's levels, without aggregates."""
        wanted = {**self.fixed, **also}
        ids = [facet.id for facet in self.study.facets]
        for grid in self.results.grids.values():
            levels = dict(zip(ids, grid.levels, strict=True))
            if not grid.aggregate and all(levels[name] == key for name, key in wanted.items()):
                yield grid


def _measured(facet: Factor) -> list[Level]:
    return [level for level in facet.levels if not level.aggregate]


# --- pages --------------------------------------------------------------------------------------


def _facet_answer(results: Results, cellwise: Cellwise, facet: Factor) -> Answer:
    """Of the page that compares the levels of a facet."""
    question = _Question(results, cellwise, facet.id, {})
    comparable = facet.id in results.study.baseline or facet.id in results.study.compare
    return _combined(question.parts(facet if comparable else None))


def _level_answers(results: Results, cellwise: Cellwise, facet: Factor) -> dict[str, Answer]:
    """Of the pages of a facet's levels, which are one family."""
    study, base = results.study, results.study.baseline.get(facet.id)
    parts: list[list[Part]] = []
    for level in _measured(facet):
        page = f"{facet.id}/{level.slug}"
        question = _Question(results, cellwise, page, {facet.id: level.key}, level.label)
        if base is None:
            parts.append(question.parts())
        elif level.key == base:
            parts.append(question._settings(question._replicates(question.free)))
        else:
            whole = _Question(results, cellwise, page, {})
            gap = whole.gap(facet, level, facet.level(base))
            parts.append([Part(page, "", "", gap)] if gap else [])
    pages = {
        page[0].page: answer
        for page, answer in zip(parts, _answers_of_pages(parts), strict=True)
        if page
    }
    for level in facet.levels:
        if level.aggregate:
            page = f"{facet.id}/{level.slug}"
            pages[page] = replace(
                _combined(
                    _Question(results, cellwise, page, {}).parts(
                        next(
                            (
                                other
                                for other in study.facets
                                if other is not facet and other.id in study.compare
                            ),
                            None,
                        )
                    )
                ),
                page=page,
            )
    return pages


def _combined(parts: Sequence[Part]) -> Answer:
    """The answer of a page that is a family of its own."""
    [answer] = _answers_of_pages([parts])
    return answer


def _answers_of_pages(pages: Sequence[Sequence[Part]]) -> list[Answer]:
    """The answers of sibling pages: what they ask alike is adjusted over all of them."""
    flat = [part for page in pages for part in page]
    settings = [part for part in flat if isinstance(part.ask, Blocks)]
    gaps = [part for part in flat if isinstance(part.ask, Gap)]
    judged = judge_pages(
        [test_settings(part.ask) for part in settings if isinstance(part.ask, Blocks)]
    )
    judged_gaps = judge_gaps([part.ask for part in gaps if isinstance(part.ask, Gap)])
    answers: dict[int, Answer] = {}
    for part, result in zip(settings, judged, strict=True):
        answers[id(part)] = SettingsAnswer(part.page, part.label, result).answer()
    for part, gap in zip(gaps, judged_gaps, strict=True):
        answers[id(part)] = GapAnswer(part.page, part.label, gap).answer()
    gap_of = {id(part): gap for part, gap in zip(gaps, judged_gaps, strict=True)}
    return [_together(page, answers, gap_of) for page in pages]


def _together(
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
    texts = _of_gaps(parts[0].label, judged) if judged else _of_settings(parts[0], labelled)
    return Answer(
        parts[0].page,
        own[0].grade,
        headline(*texts),
        tuple(reason for label, answer in labelled for reason in _labelled(label, answer)),
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


def _labelled(label: str, answer: Answer) -> Iterator[Evidence]:
    for reason in answer.evidence:
        yield replace(reason, sentence=f"{label}: {reason.sentence}") if label else reason


def _of_settings(part: Part, labelled: Sequence[tuple[str, Answer]]) -> Iterator[str]:
    answers = [answer for _, answer in labelled]
    yield "; ".join(answer.sentence.replace("; ", ", ") for answer in answers)
    short = []
    for answer in answers:
        label = answer.sentence.partition(": ")[0]
        nothing = answer.grade == "not-shown"
        short.append(
            f"{label}: nothing shown to be better"
            if nothing
            else answer.sentence.replace("; ", ", ")
        )
    yield "; ".join(short)
    asserted = [(label, answer) for label, answer in labelled if answer.grade in ADVERBS]
    if asserted:
        yield from _in_cases(part, asserted, len(answers))
        return
    if all(answer.grade == "not-shown" for answer in answers):
        text = f"no setting shown to be better in any of {len(answers)} cases"
    else:
        text = f"{len(answers)} cases; nothing is shown or can be tested"
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
        yield f"{prefix}{metric} at {len(levels)} levels; can't be tested"
        return
    signs = {gap.value > 0 for gap in judged}
    if len(grades) == 1 and grades & set(ADVERBS) and len(signs) == len(seconds) == 1:
        adverb = ADVERBS[grades.pop()]
        lower = study.metric.better == "lower"
        sizes = joined([number_text(study, abs(gap.value)) for gap in judged])
        by = value_with_unit(sizes, study.metric.unit, difference=True)
        word = "higher" if judged[0].value > 0 else "lower"
        better = (judged[0].value > 0) != lower
        note = (" (better)" if better else " (worse)") if lower else ""
        for name in ("label", "key"):
            firsts = joined([getattr(gap.gap.first, name) for gap in judged])
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


def _against_one(prefix: str, judged: Sequence[JudgedGap]) -> Iterator[str]:
    """Each level beside the one that it is compared with: which are higher, and which lower."""
    study = judged[0].gap.study
    lower = study.metric.better == "lower"
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
    lower = shown[0].gap.study.metric.better == "lower"
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
