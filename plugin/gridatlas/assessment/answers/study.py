"""Which question each page of a study asks, and all its answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType

from gridatlas.assessment.answers.answer import (
    Answer,
    Evidence,
    capital,
)
from gridatlas.assessment.answers.blocks import Blocks, blocks_of
from gridatlas.assessment.answers.gap_answer import GapAnswer
from gridatlas.assessment.answers.gaps import (
    Gap,
    judge_gaps,
)
from gridatlas.assessment.answers.questions import Cellwise, Part, Question, measured
from gridatlas.assessment.answers.rivals import (
    notes,
    other_readings,
    settled,
    with_reading,
)
from gridatlas.assessment.answers.settings import (
    judge_pages,
    test_settings,
)
from gridatlas.assessment.answers.settings_answer import SettingsAnswer
from gridatlas.assessment.answers.together import together
from gridatlas.checks.findings import CheckResult
from gridatlas.model.format import format_value, many, value_with_unit
from gridatlas.model.study import Factor, Levels, Study
from gridatlas.table.grids import Results

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
    levels = [
        f"{facet.id}/{level.slug}" for facet in results.study.facets for level in measured(facet)
    ]
    pages |= {
        page: answer
        for page in (*pages, *levels)
        if (answer := _only_averages(results, *_about(results.study, page)))
    }
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


def _only_averages(results: Results, place: int, key: str) -> Answer | None:
    """What a page says whose values are all averages; None where a part has a value.

    Args:
        place: Of the facet that the page is about a level of.
        key: Of the level; empty for a page about all levels.
    """
    values: list[Decimal] = []
    for grid in results.grids.values():
        if key and grid.levels[place] != key:
            continue
        given = [cell.value for _, _, cell in grid.points() if cell.value is not None]
        if given and not grid.aggregate:
            return None
        values += given
    if not values:
        return None
    metric = results.study.metric
    ends = [format_value(end, metric.decimals or 0) for end in (min(values), max(values))]
    text = value_with_unit(" to ".join(dict.fromkeys(ends)), metric.unit)
    is_average = "is an average" if len(values) == 1 else "are averages"
    evidence = Evidence(
        f"{capital(many(len(values), 'value'))} {is_average} whose parts are not given, so nothing "
        "is tested."
    )
    return Answer("", "described", f"{metric.name} {text}; only averages are given", (evidence,))


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
    pages: dict[str, Answer] = {"": _combined(Question(results, cellwise, "", {}).parts())}
    for facet in results.study.facets:
        pages[facet.id] = _facet_answer(results, cellwise, facet)
        pages |= _level_answers(results, cellwise, facet)
    return pages


def _facet_answer(results: Results, cellwise: Cellwise, facet: Factor) -> Answer:
    """Of the page that compares the levels of a facet."""
    question = Question(results, cellwise, facet.id, {})
    comparable = facet.id in results.study.baseline or facet.id in results.study.compare
    return _combined(question.parts(facet if comparable else None))


def _level_answers(results: Results, cellwise: Cellwise, facet: Factor) -> dict[str, Answer]:
    """Of the pages of a facet's levels, which are one family."""
    study, base = results.study, results.study.baseline.get(facet.id)
    parts: list[list[Part]] = []
    for level in measured(facet):
        page = f"{facet.id}/{level.slug}"
        question = Question(results, cellwise, page, {facet.id: level.key}, level.label)
        if base is None:
            parts.append(question.parts())
        elif level.key == base:
            parts.append(question.settings(question.replicates()))
        else:
            whole = Question(results, cellwise, page, {})
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
                    Question(results, cellwise, page, {}).parts(
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
    return [together(page, answers, gap_of) for page in pages]
