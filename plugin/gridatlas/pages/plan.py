"""What each page of a study shows: its heatmaps side by side, its differences, its place."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import Any

from gridatlas.analysis.words import plural
from gridatlas.assessment.answers import overview_headline
from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.reruns import Reproduction
from gridatlas.charts.description import over
from gridatlas.charts.kinds import Picture
from gridatlas.claims import Judged
from gridatlas.data.levels import slug
from gridatlas.data.published import Published
from gridatlas.model.problems import Problem, visible
from gridatlas.model.schema import level_key
from gridatlas.model.study import Factor, Level, Study, inline, keyword
from gridatlas.pages.agreement import PAIRS
from gridatlas.pages.anatomy import (
    Anatomy,
    facet_anatomy,
    level_anatomy,
    overview_row,
    study_anatomy,
)
from gridatlas.pages.checks import checks_context
from gridatlas.pages.context import (
    compared_answer,
    described,
    grid_pages,
    level_answer,
    level_answers,
    page_context,
    reproduction_path,
    shortened,
    sibling_pages,
    titled,
)
from gridatlas.pages.exports import ANSWERS, GRIDS
from gridatlas.pages.figure import Figure, FigureRow, Section
from gridatlas.pages.heatmaps import disagreement_figures, figures_of, rerun_figures, single_row
from gridatlas.pages.reproduction import reproduction_context
from gridatlas.table.grids import readings_behind
from gridatlas.table.study_table import Grid

RenderPart = Callable[..., str]
"""Renders the HTML template of a name without endings, such as `charts`, with a context."""


@dataclass(frozen=True, slots=True)
class PagePlan:
    """A page before its heatmaps are drawn.

    Attributes:
        path: Path of the Markdown file below the host's docs folder.
        trail: Titles of the sections that it lies in, in the navigation.
        nav_title: Short name in the navigation.
        title: Title as a search engine shows it; plain text.
        edit: Path of the file that it is made from, relative to the data folder.
        is_index: Whether it stands for the last section of its trail, or is a page within it.
        given: Its sections, where there is no `anatomy`.
        anatomy: Lays it out. A page in the cache never is.
        parts: Gives more parts of it, in HTML by their keys, written by what renders a template.
    """

    path: str
    template: str
    trail: tuple[str, ...]
    nav_title: str
    title: str
    description: str
    context: Mapping[str, Any] = field(repr=False)
    given: tuple[Section, ...] = field(default=(), repr=False)
    edit: str = ""
    is_index: bool = True
    anatomy: Callable[[], Anatomy] | None = None
    parts: Callable[[PagePlan, RenderPart], Mapping[str, str]] | None = None

    @property
    def sections(self) -> tuple[Section, ...]:
        """Its figures, under headings."""
        return self.anatomy().sections if self.anatomy else self.given

    @property
    def trail_folders(self) -> tuple[str, ...]:
        """The folder of each section of the trail, which tells apart those with the same title."""
        folder = self.path.split("/")[: -1 if self.is_index else -2]
        ends = range(len(folder) - len(self.trail) + 1, len(folder) + 1)
        return tuple("/".join(folder[:end]) for end in ends)

    @property
    def rows(self) -> tuple[FigureRow, ...]:
        """All rows of the page, from top to bottom."""
        return tuple(row for section in self.sections for row in section.rows)

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """All that is drawn for the page."""
        return tuple(figure.chart for row in self.rows for figure in row.drawn)

    @property
    def main_grid(self) -> Grid | None:
        """The grid that stands for the page elsewhere: the first one that it shows."""
        shown = (figure.grid for row in self.rows for figure in row.figures)
        return next((grid for grid in shown if grid), None)


@dataclass(frozen=True)
class EmbedPlan:
    """One grid as it stands in other people's pages.

    Attributes:
        title: Its name, and what is shown over what.
        page: Path of the page that shows it among others.
        answer: What the grid supports by itself, never what its page says; empty for a mean.
    """

    assessment: Assessment
    grid: Grid
    title: str
    page: str
    answer: str

    @cached_property
    def figure(self) -> Figure:
        """Its picture, with what it supports by itself: only made where no cache has its files."""
        return figures_of([(self.assessment, self.grid)])[0]


def plan_overview(
    studies: Iterable[PagePlan], into: str, unreadable: Mapping[str, str]
) -> PagePlan:
    """The page that leads to all studies.

    Args:
        studies: The page of each study: what that knows isn't found out again.
    """
    homes = [plan.context for plan in studies]
    answers = {of["study"].id: of["answers"][""] for of in homes}
    line = overview_headline(answers.values())
    sentences = " ".join(f"{of['study'].title}: {of['answers'][''].headline}." for of in homes)
    return PagePlan(
        path=f"{into}/index.md",
        template="overview.md.jinja",
        trail=("Studies",),
        nav_title="Studies",
        title=f"Results: {line}" if homes else "Results",
        description=shortened(f"{line}. {sentences}") if homes else "Results.",
        context={
            "results": tuple(of["results"] for of in homes),
            "line": line,
            "answers": answers,
            "problems": (),
            "unreadable": unreadable,
            "pages_of": {of["study"].id: of for of in homes},
            "changes_page": "",
            "changed": "",
            "since": "",
        },
        anatomy=lambda: Anatomy(
            (), studies=tuple(Section(of["study"].title, (of["lead"](),)) for of in homes)
        ),
    )


def plan_study(
    assessment: Assessment,
    into: str,
    script_page: str = "",
    others: Mapping[str, Sequence[str]] | None = None,
    published: Published | None = None,
    *,
    local: bool = False,
) -> list[PagePlan]:
    """All pages of one study: its own, one per facet, and one per level that has a grid.

    Args:
        script_page: Path of the page of the script that measures cells again; empty without.
        others: Paths of the pages of the studies that it links to, the study's own first, by
            their ids.
        published: Who publishes the study, and when.
        local: Whether the site is only looked at here: its pages say what the study should state.
    """
    about = {"published": published or Published(), "local": local}
    pages = [plan_home(assessment, into)]
    for facet in assessment.study.facets:
        pages.append(_facet_page(assessment, facet, into))
        levels = assessment.results.levels(facet.id)
        pages += [_level_page(assessment, facet, level, into) for level in levels]
    pages.append(_checks_page(assessment, into))
    if assessment.reproduction is not None:
        pages.append(_reproduction_page(assessment, assessment.reproduction, into, script_page))
    return [
        replace(
            page,
            context={
                **page.context,
                **about,
                "here": page.path,
                **_links(assessment.study, into, page.path, others or {}),
            },
        )
        for page in pages
    ]


def plan_embeds(assessment: Assessment, into: str) -> list[EmbedPlan]:
    """Each grid of a study for itself."""
    study = assessment.study
    pages = grid_pages(assessment, into, next(iter(study.facets), None))
    answers = assessment.grid_answers
    return [
        EmbedPlan(
            assessment,
            grid,
            f"{grid.label}: {_over(study)}" if study.facets else f"{study.title}: {_over(study)}",
            pages[levels],
            answers[levels].headline if levels in answers else "",
        )
        for levels, grid in assessment.results.grids.items()
    ]


def unreadable_page(folder: str, into: str) -> str:
    """Path of the page of a study that can't be shown: its folder may have any name."""
    address = slug(folder)
    if address != folder:
        address += f"-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]}"
    return f"{into}/{address}/index.md"


def plan_unreadable(folder: str, problems: tuple[Problem, ...], into: str) -> PagePlan:
    """The page of a study that can't be shown: what is wrong with it."""
    study_id = visible(folder)
    return PagePlan(
        path=unreadable_page(folder, into),
        template="unreadable.md.jinja",
        trail=("Studies", study_id),
        nav_title=study_id,
        title=f"{study_id}: can't be read",
        description=f"The study {study_id} has problems that must be fixed first.",
        context={"study_id": study_id, "problems": problems},
        edit=f"{study_id}/study.yml",
    )


def _over(study: Study) -> str:
    return f"{study.metric.name} over {over(study)}"


def plan_home(assessment: Assessment, into: str) -> PagePlan:
    """A study's own page."""
    results, study = assessment.results, assessment.study
    answer = assessment.answers[""]
    path, facet = f"{into}/{study.id}/index.md", next(iter(study.facets), None)
    return PagePlan(
        path=path,
        template="study.md.jinja",
        trail=("Studies", study.title),
        nav_title=study.title,
        title=titled(answer, study, f"{study.title}: {_over(study)}"),
        description=described(answer, f"{study.title}: {_over(study)}."),
        context=page_context(assessment, into)
        | {
            "answer": answer,
            "answers_file": f"{GRIDS}/{study.id}/{ANSWERS}",
            "problems": results.problems,
            "levels_facet": facet,
            "levels": level_answers(assessment, into, facet),
            "lead": cache(partial(overview_row, assessment)),
        },
        edit=f"{study.id}/study.yml",
        anatomy=cache(partial(study_anatomy, assessment)),
    )


def _links(
    study: Study, into: str, path: str, others: Mapping[str, Sequence[str]]
) -> dict[str, list[tuple[str, str]]]:
    """Text and path of a page's links to other studies; one that is missing is a problem.

    A study of the same runs is linked at the same page, or at its own where it has no such page.
    """
    entries = [
        entry for entry in study.see_also if entry.study in others and entry.study != study.id
    ]
    within = path.removeprefix(f"{into}/{study.id}/")
    metrics = {
        entry.study: (entry.text, _counterpart(within, others[entry.study]))
        for entry in entries
        if entry.same_runs
    }
    if metrics:
        metrics[study.id] = study.metric.name, path
    return {
        "see_also": [(e.text, others[e.study][0]) for e in entries if not e.same_runs],
        # The same order on the pages of each of these studies.
        "metrics": [metrics[study_id] for study_id in sorted(metrics)],
    }


def _counterpart(within: str, pages: Sequence[str]) -> str:
    """The page at the same place within another study, or that study's own page."""
    home = pages[0]
    path = f"{home.removesuffix('index.md')}{within}"
    return path if path in pages else home


def _facet_page(assessment: Assessment, facet: Factor, into: str) -> PagePlan:
    study = assessment.study
    names = [level.label for level in assessment.results.levels(facet.id)]
    short = len(names) <= 3 and sum(map(len, names)) <= 45  # letters: else a title of three lines
    versus = " vs. ".join(names) if short else f"{len(names)} {plural(facet.label)}"
    answer = compared_answer(assessment, facet, versus)
    grids = assessment.results.without_repeats(assessment.results.grids.values(), facet.id)
    context = page_context(assessment, into, facet, grids)
    path = context["facet_pages"][facet.id]
    return PagePlan(
        path=path,
        template="facet.md.jinja",
        trail=("Studies", study.title, facet.label),
        nav_title=facet.label,
        title=titled(answer, study, f"{versus}: {_over(study)}"),
        description=described(answer, f"{study.title}: {versus}, {_over(study)}."),
        context=context
        | {
            "siblings": sibling_pages(assessment, facet, context),
            "facet": facet,
            "versus": versus,
            "answer": answer,
            "levels_facet": facet,
            "levels": level_answers(assessment, into, facet),
        },
        edit=f"{study.id}/study.yml",
        anatomy=cache(partial(facet_anatomy, assessment, facet)),
    )


def _level_page(assessment: Assessment, facet: Factor, level: Level, into: str) -> PagePlan:
    results, study = assessment.results, assessment.study
    grids = results.without_repeats(results.where(facet.id, level.key), facet.id)
    name = f"{level.label} ({inline(facet.label)})" if level.aggregate else level.label
    answer = level_answer(assessment, facet, level)
    context = page_context(assessment, into, facet, grids)
    path = context["level_pages"][facet.id, level.key]
    return PagePlan(
        path=path,
        template="level.md.jinja",
        trail=("Studies", study.title, facet.label),
        nav_title=level.label,
        title=titled(answer, study, f"{name}: {_over(study)}"),
        description=described(answer, f"{name}: {_over(study)}. {study.title}."),
        context=context
        | {
            "siblings": sibling_pages(assessment, facet, context),
            "facet": facet,
            "level": level,
            "name": f"{name}: {_over(study)}",
            "readings": readings_behind(study, grids),
            "claims": claims_about(assessment.claims, facet, level),
            "answer": answer,
        },
        edit=f"{study.id}/study.yml",
        is_index=False,
        anatomy=cache(partial(level_anatomy, assessment, facet, level, grids)),
    )


def _checks_page(assessment: Assessment, into: str) -> PagePlan:
    study = assessment.study
    figures = disagreement_figures(assessment)
    sections = (single_row("Disagreements", "disagreements", figures),) if figures else ()
    context = checks_context(assessment)
    return PagePlan(
        path=f"{into}/{study.id}/checks/index.md",
        template="checks.md.jinja",
        trail=("Studies", study.title),
        nav_title="Checks",
        title=f"Checks of {study.title}: readings, findings, statements",
        description=f"{study.title}: {context['verdict']}.",
        context=page_context(assessment, into)
        | context
        | {
            "problems": assessment.results.problems,
            "pairs_file": f"{into}/{study.id}/checks/{PAIRS}",
        },
        given=sections,
        edit=f"{study.id}/study.yml",
        is_index=False,
    )


def _reproduction_page(
    assessment: Assessment, reproduction: Reproduction, into: str, script_page: str
) -> PagePlan:
    study = assessment.study
    name = "Runs" if reproduction.own else "Reproduction"
    context = reproduction_context(assessment, reproduction)
    return PagePlan(
        path=reproduction_path(assessment, into),
        template="reproduction.md.jinja",
        trail=("Studies", study.title),
        nav_title=name,
        title=f"{name} of {study.title}",
        description=f"{study.title}: {context['line']}.",
        context=page_context(assessment, into) | context | {"script_page": script_page},
        given=tuple(
            single_row(rerun.grid.label, f"rerun-{index}", rerun_figures(assessment, rerun))
            for index, rerun in enumerate(reproduction.begun)
        ),
        edit=f"{study.id}/study.yml",
        is_index=False,
    )


_NAMED = re.compile(r"""(\w+)\s*=\s*(?:["']([^"']*)["']|([\d.]+))""")


def claims_about(claims: Iterable[Judged], facet: Factor, level: Level) -> tuple[Judged, ...]:
    """The claims whose check names a level of a facet: they stand beside its grids."""
    name = keyword(facet.id)

    def names_it(check: str) -> bool:
        named = [(facet_id, text or number) for facet_id, text, number in _NAMED.findall(check)]
        return any(
            facet_id == name and key and level_key(key) == level.key for facet_id, key in named
        )

    return tuple(claim for claim in claims if claim.entry.check and names_it(claim.entry.check))
