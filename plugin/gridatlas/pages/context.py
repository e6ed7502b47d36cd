"""What the templates of a study's pages are given, besides the figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from gridatlas.analysis.said import Answer
from gridatlas.analysis.words import listed
from gridatlas.assessment.assessment import Assessment
from gridatlas.charts.findings import occurs
from gridatlas.charts.views import mean_text
from gridatlas.model.problems import only_problems
from gridatlas.model.study import Factor, Level, Levels, Study, inline
from gridatlas.pages import words
from gridatlas.pages.exports import ARCHIVE
from gridatlas.pages.lines import doubts_of, lines_of
from gridatlas.pages.trust import Trust, trust_of
from gridatlas.table.study_table import Grid

LONGEST_DESCRIPTION = 300
"""Characters of a page's description, which search engines cut anyway."""


def page_context(
    assessment: Assessment,
    into: str,
    facet: Factor | None = None,
    grids: Sequence[Grid] | None = None,
) -> dict[str, Any]:
    """What every page of a study knows.

    Args:
        facet: Links to a grid lead to its page for this facet; without, for the first one.
        grids: Those that the page is about; without, all.
    """
    results, study = assessment.results, assessment.study
    home = f"{into}/{study.id}"
    facet = facet or next(iter(study.facets), None)
    shown = tuple(results.grids.values()) if grids is None else tuple(grids)

    @cache
    def trust() -> Trust:
        return trust_of(assessment, shown)

    lines = partial(lines_of, assessment, shown)
    return {
        "results": results,
        "study": study,
        "uncertainty": assessment.uncertainty,
        "overview_page": f"{into}/index.md",
        "home": f"{home}/index.md",
        "archive_file": f"{home}/{ARCHIVE}",
        "checks_page": f"{home}/checks/index.md",
        "reproduction_page": reproduction_path(assessment, into),
        "changes_page": "",
        "history_page": "",
        "changed": "",
        "since": "",
        "reproduction": assessment.reproduction,
        "facet_pages": {facet.id: f"{home}/{facet.id}/index.md" for facet in study.facets},
        "level_pages": {
            (facet.id, level.key): f"{home}/{facet.id}/{level.slug}/index.md"
            for facet in study.facets
            for level in results.levels(facet.id)
        },
        "targets": grid_pages(assessment, into, facet),
        "reading_labels": {reading.id: reading.label for reading in study.readings},
        "readings": study.accounts,
        "problems": only_problems(results.problems),
        "answers": assessment.answers,
        "grids": shown,
        "mean": "Geometric mean" if assessment.log else "Mean",
        "mean_text": partial(mean_text, assessment),
        "trust": trust,
        "lines": lines,
        "doubts": lambda answer: doubts_of(study, answer, lines(answer), trust()),
        "siblings": (),
        "claims": (),
    }


def grid_pages(assessment: Assessment, into: str, facet: Factor | None) -> dict[Levels, str]:
    """Paths of the pages of grids: of their levels of `facet`, or the study's without one.

    A grid that repeats the experiment is on the page of its replicate.
    """
    study, grids = assessment.study, assessment.results.grids
    home = f"{into}/{study.id}"
    if facet is None:
        return dict.fromkeys(grids, f"{home}/index.md")
    own_pages = {
        grid.levels for grid in assessment.results.without_repeats(grids.values(), facet.id)
    }
    pages = {}
    for levels, grid in grids.items():
        at = facet if levels in own_pages else study.facet(study.replicates)
        level = grid.names[study.facets.index(at)]
        pages[levels] = f"{home}/{at.id}/{level.slug}/index.md"
    return pages


def study_paths(assessment: Assessment, into: str) -> tuple[str, ...]:
    """Paths of the pages that a switch between studies leads to, the study's own first."""
    context = page_context(assessment, into)
    return context["home"], *context["facet_pages"].values(), *context["level_pages"].values()


def reproduction_path(assessment: Assessment, into: str) -> str:
    """Path of a study's page Reproduction; empty where it has none."""
    return f"{into}/{assessment.study.id}/reproduction/index.md" if assessment.reproduction else ""


def sibling_pages(
    assessment: Assessment, facet: Factor, pages: Mapping[str, Any]
) -> tuple[tuple[str, str], ...]:
    """Label and path of each page of a facet: of its levels, then of them all together."""
    levels = assessment.results.levels(facet.id)
    if len(levels) < 2:
        return ()
    found = [(level.label, pages["level_pages"][facet.id, level.key]) for level in levels]
    together = "Compare both" if len(levels) == 2 else "Compare all"
    return (*found, (together, pages["facet_pages"][facet.id]))


@dataclass(frozen=True, slots=True)
class LevelAnswer:
    """A level of a facet with what its page leads with, and the row that stands for it."""

    level: Level
    answer: Answer | None
    page: str
    row: str


def level_answer(assessment: Assessment, facet: Factor, level: Level) -> Answer | None:
    """What the page of a level leads with; one that repeats the study's says of what it is."""
    answer = assessment.answers.get(f"{facet.id}/{level.slug}")
    if answer is None or answer.headline != assessment.answers[""].headline:
        return answer
    return replace(answer, headline=f"{level.label}: {answer.headline}")


def compared_answer(assessment: Assessment, facet: Factor, versus: str) -> Answer | None:
    """What the page that compares levels leads with: the study's answer, if it is about them.

    Args:
        versus: The levels in words.
    """
    answer = assessment.answers.get(facet.id)
    if answer is None:
        return None
    about = [*answer.assertions, *answer.compared][:1]
    if any(facet.id == of.factor.partition(" × ")[0] for of in about):
        return replace(answer, headline=f"{versus}: {answer.headline}")
    if said := _said_of(answer, facet):
        return replace(answer, headline=said)
    levels = [level for level in assessment.results.levels(facet.id) if not level.aggregate]
    found = {level.label: level_answer(assessment, facet, level) for level in levels}
    apart = [label for label, each in found.items() if each is not None and each.asserts]
    pattern = words.BY_SOME if apart else words.BY_NONE
    if len(apart) == 1:
        pattern = words.BY_ONE_OF_TWO if len(levels) == 2 else words.BY_ONE
    elif apart and (len(apart) == len(levels) or len(apart) > 3):
        pattern = words.BY_MANY
    headline = pattern.format(
        facet=inline(facet.label), levels=listed(apart or [""]), count=len(apart), of=len(levels)
    )
    return replace(answer, headline=headline)


def _said_of(answer: Answer, facet: Factor) -> str:
    """What the evidence says of a facet; empty where it asserts nothing of it alone."""
    own = (of.levels for of in answer.assertions if of.factor == facet.id)
    named = ((*of, *[facet.label] * all(level[:1].isdigit() for level in of)) for of in own)
    lines = (
        line for texts in named for line in answer.evidence
        if all(occurs(text, line.casefold()) for text in texts)
    )  # fmt: skip
    return next(lines, "").removesuffix(".")


def level_answers(
    assessment: Assessment, into: str, facet: Factor | None
) -> tuple[LevelAnswer, ...]:
    """The levels of a facet that have a page; none without a facet."""
    if facet is None:
        return ()
    home = f"{into}/{assessment.study.id}"
    return tuple(
        LevelAnswer(
            level,
            level_answer(assessment, facet, level),
            f"{home}/{facet.id}/{level.slug}/index.md",
            f"level-{level.slug}",
        )
        for level in assessment.results.levels(facet.id)
    )


def described(answer: Answer | None, otherwise: str) -> str:
    """An answer with its first reason, as the description of a page."""
    if answer is None:
        return otherwise
    return shortened(" ".join([f"{answer.headline}.", *answer.evidence[:1]]))


def shortened(text: str) -> str:
    """A description that search engines take whole."""
    return text if len(text) <= LONGEST_DESCRIPTION else f"{text[: LONGEST_DESCRIPTION - 1]}…"


def titled(answer: Answer | None, study: Study, otherwise: str) -> str:
    """A page's title for a search engine: its answer, and the study's name."""
    return f"{answer.headline} – {study.title}" if answer else otherwise
