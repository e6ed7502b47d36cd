"""What each page of a study shows: its heatmaps side by side, its differences, its place."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gridatlas.assessment.answers.several import overview_answer
from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.reruns import Reproduction
from gridatlas.charts.pictures import Picture
from gridatlas.claims import Judged
from gridatlas.data.levels import slug
from gridatlas.model.format import many
from gridatlas.model.problems import Problem, only_problems, visible
from gridatlas.model.schema import level_key
from gridatlas.model.study import Factor, Grid, Level, Levels, Study, inline, keyword
from gridatlas.pages.agreement import PAIRS
from gridatlas.pages.checks import checks_context
from gridatlas.pages.exports import ANSWERS, GRIDS
from gridatlas.pages.figure import Figure, FigureRow, Section
from gridatlas.pages.heatmaps import (
    disagreement_figures,
    grid_figures,
    lead_figures,
    level_sections,
    rerun_figures,
    side_by_side,
    single_row,
)
from gridatlas.pages.reproduction import reproduction_context
from gridatlas.results.differences import pairs
from gridatlas.results.grids import readings_behind


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
    """

    path: str
    template: str
    trail: tuple[str, ...]
    nav_title: str
    title: str
    description: str
    context: Mapping[str, Any] = field(repr=False)
    sections: tuple[Section, ...] = ()
    edit: str = ""
    is_index: bool = True

    @property
    def rows(self) -> tuple[FigureRow, ...]:
        """All rows of the page, from top to bottom."""
        return tuple(row for section in self.sections for row in section.rows)

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """All that is drawn for the page."""
        return tuple(figure.chart for row in self.rows for figure in row.figures)

    @property
    def main_grid(self) -> Grid | None:
        """The grid that stands for the page elsewhere: the first one that it shows."""
        shown = (figure.grid for row in self.rows for figure in row.figures)
        return next((grid for grid in shown if grid), None)


@dataclass(frozen=True, slots=True)
class EmbedPlan:
    """One grid as it stands in other people's pages.

    Attributes:
        title: Its name, and what is shown over what.
        page: Path of the page that shows it among others.
    """

    grid: Grid
    figure: Figure
    title: str
    page: str


def plan_overview(
    assessments: Iterable[Assessment], into: str, unreadable: Mapping[str, str]
) -> PagePlan:
    """The page that leads to all studies."""
    assessments = tuple(assessments)
    titles = ", ".join(assessment.study.title for assessment in assessments)
    answers = {assessment.study.id: assessment.answers[""] for assessment in assessments}
    return PagePlan(
        path=f"{into}/index.md",
        template="overview.md.jinja",
        trail=("Studies",),
        nav_title="Studies",
        title="Studies: heatmaps of experiment results",
        description=f"Heatmaps and data of {titles}.",
        context={
            "results": tuple(assessment.results for assessment in assessments),
            "answer": overview_answer(answers),
            "answers": answers,
            "problems": (),
            "unreadable": unreadable,
            "pages_of": {
                assessment.study.id: _context(assessment, into) for assessment in assessments
            },
            "changes_page": "",
            "changed": "",
            "since": "",
        },
        sections=tuple(
            Section(
                assessment.study.title,
                (FigureRow(f"lead-{assessment.study.id}", lead_figures(assessment, compact=True)),),
            )
            for assessment in assessments
        ),
    )


def plan_study(
    assessment: Assessment, into: str, script_page: str = "", homes: Mapping[str, str] | None = None
) -> list[PagePlan]:
    """All pages of one study: its own, one per facet, and one per level that has a grid.

    Args:
        script_page: Path of the page of the script that measures cells again; empty without.
        homes: Paths of the pages of all studies, by their ids.
    """
    pages = [_study_page(assessment, into)]
    for facet in assessment.study.facets:
        pages.append(_facet_page(assessment, facet, into))
        levels = assessment.results.levels(facet.id)
        pages += [_level_page(assessment, facet, level, into) for level in levels]
    pages.append(_checks_page(assessment, into))
    if assessment.reproduction is not None:
        pages.append(_reproduction_page(assessment, assessment.reproduction, into, script_page))
    links = {"see_also": _see_also(assessment.study, homes or {})}
    return [replace(page, context={**page.context, **links}) for page in pages]


def plan_embeds(assessment: Assessment, into: str) -> list[EmbedPlan]:
    """Each grid of a study for itself."""
    study = assessment.study
    facet = next(iter(study.facets), None)
    pages = _targets(assessment, into, facet)
    return [
        EmbedPlan(
            grid,
            grid_figures(assessment, (grid,), shared=False)[0],
            f"{grid.label}: {_over(study)}" if study.facets else f"{study.title}: {_over(study)}",
            pages[levels],
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
    return f"{study.metric.name} over {inline(study.x.label)} and {inline(study.y.label)}"


def _study_page(assessment: Assessment, into: str) -> PagePlan:
    results, study = assessment.results, assessment.study
    facets = " and ".join(inline(facet.label) for facet in study.facets)
    by = f", by {facets}" if facets else ""
    return PagePlan(
        path=f"{into}/{study.id}/index.md",
        template="study.md.jinja",
        trail=("Studies", study.title),
        nav_title=study.title,
        title=f"{study.title}: {_over(study)}",
        description=f"{_over(study)}{by}: {many(len(results.grids), 'heatmap')} with every value.",
        context=_context(assessment, into)
        | {
            "answer": assessment.answers[""],
            "answers_file": f"{GRIDS}/{study.id}/{ANSWERS}",
            "problems": results.problems,
            "defaults": assessment.uncertainty.defaults_alone(),
        },
        sections=(
            Section(
                "Heatmaps",
                (FigureRow("lead", lead_figures(assessment, compact=bool(study.facets))),),
            ),
        ),
        edit=f"{study.id}/study.yml",
    )


def _see_also(study: Study, homes: Mapping[str, str]) -> list[tuple[str, str]]:
    """Text and path of each link to another study; one that isn't there is a problem elsewhere."""
    return [
        (entry.text, homes[entry.study])
        for entry in study.see_also
        if entry.study in homes and entry.study != study.id
    ]


def _facet_page(assessment: Assessment, facet: Factor, into: str) -> PagePlan:
    results, study = assessment.results, assessment.study
    names = [level.label for level in results.levels(facet.id)]
    versus = " vs. ".join(names) if len(names) <= 3 else f"{len(names)} {facet.label} levels"
    return PagePlan(
        path=f"{into}/{study.id}/{facet.id}/index.md",
        template="facet.md.jinja",
        trail=("Studies", study.title, facet.label),
        nav_title=facet.label,
        title=f"{versus} compared: {_over(study)}",
        description=f"{study.title}: {_over(study)}, side by side for {', '.join(names)}.",
        context=_context(assessment, into, facet)
        | {
            "facet": facet,
            "compared": bool(pairs(results, facet)),
            "answer": assessment.answers[facet.id],
        },
        sections=side_by_side(assessment, results.grids.values(), facet, facet.id),
        edit=f"{study.id}/study.yml",
    )


def _level_page(assessment: Assessment, facet: Factor, level: Level, into: str) -> PagePlan:
    results, study = assessment.results, assessment.study
    grids = results.where(facet.id, level.key)
    name = _level_title(facet, level)
    count = "one heatmap" if len(grids) == 1 else f"{len(grids)} heatmaps"
    return PagePlan(
        path=f"{into}/{study.id}/{facet.id}/{level.slug}/index.md",
        template="level.md.jinja",
        trail=("Studies", study.title, facet.label),
        nav_title=level.label,
        title=f"{name}: {_over(study)}",
        description=f"{name}: {_over(study)} in {count} with every value. {study.title}.",
        context=_context(assessment, into, facet)
        | {"facet": facet, "level": level, "grids": grids, "name": name}
        | {
            "readings": readings_behind(study, grids),
            "defaults": assessment.uncertainty.defaults_at(facet.id, level.key),
            "claims": claims_about(assessment.claims, facet, level),
            "answer": assessment.answers.get(f"{facet.id}/{level.slug}"),
        },
        sections=level_sections(assessment, facet, level, grids),
        edit=f"{study.id}/study.yml",
        is_index=False,
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
        context=_context(assessment, into)
        | context
        | {
            "problems": assessment.results.problems,
            "pairs_file": f"{into}/{study.id}/checks/{PAIRS}",
        },
        sections=sections,
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
        path=_reproduction_path(assessment, into),
        template="reproduction.md.jinja",
        trail=("Studies", study.title),
        nav_title=name,
        title=f"{name} of {study.title}",
        description=f"{study.title}: {context['line']}.",
        context=_context(assessment, into) | context | {"script_page": script_page},
        sections=tuple(
            single_row(rerun.grid.label, f"rerun-{index}", rerun_figures(assessment, rerun))
            for index, rerun in enumerate(reproduction.begun)
        ),
        edit=f"{study.id}/study.yml",
        is_index=False,
    )


def _reproduction_path(assessment: Assessment, into: str) -> str:
    """Path of a study's page Reproduction; empty where it has none."""
    return f"{into}/{assessment.study.id}/reproduction/index.md" if assessment.reproduction else ""


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


def _level_title(facet: Factor, level: Level) -> str:
    """A level's name; an aggregate's says over what: `Average (benchmark)`."""
    return f"{level.label} ({inline(facet.label)})" if level.aggregate else level.label


def _context(assessment: Assessment, into: str, facet: Factor | None = None) -> dict[str, Any]:
    """What every page of a study knows; links to a grid lead to its page for `facet`."""
    results, study = assessment.results, assessment.study
    home = f"{into}/{study.id}"
    facet = facet or next(iter(study.facets), None)
    return {
        "results": results,
        "study": study,
        "uncertainty": assessment.uncertainty,
        "home": f"{home}/index.md",
        "checks_page": f"{home}/checks/index.md",
        "reproduction_page": _reproduction_path(assessment, into),
        "changes_page": "",
        "changed": "",
        "since": "",
        "reproduction": assessment.reproduction,
        "facet_pages": {facet.id: f"{home}/{facet.id}/index.md" for facet in study.facets},
        "level_pages": {
            (facet.id, level.key): f"{home}/{facet.id}/{level.slug}/index.md"
            for facet in study.facets
            for level in results.levels(facet.id)
        },
        "targets": _targets(assessment, into, facet),
        "reading_labels": {reading.id: reading.label for reading in study.readings},
        "readings": study.accounts,
        "problems": only_problems(results.problems),
    }


def _targets(assessment: Assessment, into: str, facet: Factor | None) -> dict[Levels, str]:
    """Paths of the pages of grids: of their levels of `facet`, or the study's without one."""
    grids, home = assessment.results.grids, f"{into}/{assessment.study.id}"
    if facet is None:
        return dict.fromkeys(grids, f"{home}/index.md")
    index = assessment.study.facets.index(facet)
    return {
        levels: f"{home}/{facet.id}/{grid.names[index].slug}/index.md"
        for levels, grid in grids.items()
    }
