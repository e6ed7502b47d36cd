"""The HTML that fences stand for: figures, or a list of studies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from gridatlas.assessment.assessment import Assessment
from gridatlas.charts.pool import draw
from gridatlas.model.addresses import SiteAddress
from gridatlas.pages.environment import IN_TEMPLATES, template_problem
from gridatlas.pages.fence import Fence, FenceError, no_study, parse
from gridatlas.pages.fence_figures import figures
from gridatlas.pages.page import page_links
from gridatlas.pages.plan import plan_embeds, plan_home, plan_overview
from gridatlas.pages.render import Templates


@dataclass(frozen=True, slots=True)
class StudyPages:
    """Where a site has the pages of its studies.

    Attributes:
        into: Their folder.
        ending: What the address of a page has in the place of `index.md`.
    """

    into: str
    ending: str = ""


class Fences:
    """Writes the figures that the fences of pages stand for.

    Args:
        assessments: The studies by their ids.
        cache: Folder where drawings are cached between builds; None for nowhere.
        templates: The user's own templates.
        broken: Names of those that can't be used.
        files: Whether the site has the grids' files, in `grids/`.
        pages: Where the site has the studies' pages; None where it has none.
    """

    def __init__(
        self,
        assessments: Mapping[str, Assessment],
        cache: Path | None = None,
        templates: Path | None = None,
        broken: frozenset[str] = frozenset(),
        files: bool = True,
        pages: StudyPages | None = None,
    ) -> None:
        self.assessments = {name: of.shown for name, of in assessments.items()}
        self.cache, self.files = cache, files
        self.templates, self.broken, self.pages = templates, broken, pages
        self._written = Templates(templates, broken, (), SiteAddress())

    def html(self, body: str, page: str, seen: set[str]) -> str:
        """The figures of a fence.

        Args:
            body: What stands in the fence.
            page: Path of the page, or of a file beside its address.
            seen: Ids that the page has already; those of the figures are added.

        Raises:
            FenceError: For a fence that can't be shown, or a template of the user's that fails.
        """
        fence = parse(body)
        try:
            if fence.option("as") == "studies":
                return self._studies(fence, page)
            row = figures(fence, self.assessments)
            drawings = draw([figure.chart for figure in row.figures], self.cache)
            return self._written.fence(row, page, drawings, seen, self.files)
        except IN_TEMPLATES as error:
            if self.templates is None:
                raise
            problem = template_problem(error, self.templates, "fence.html.jinja")
            raise FenceError(
                f"{problem.place}: {problem.found}", problem.expected, "correct the template"
            ) from error

    def _studies(self, fence: Fence, page: str) -> str:
        chosen = listed(fence, self.assessments)
        if self.pages is None:
            raise fence.error(
                "as",
                "as: studies, where the site has no pages of studies",
                "write them with `gridatlas build`, and set `downloads: true` for the extension",
                "a site with pages to link to",
            )
        return studies_html(chosen, self.pages, page, self.cache, (self.templates, self.broken))


# --- a list of studies: each with its answer, its chips and thumbnails ---------------------------

_ID = re.compile(r' id="(?!ga-)[^"]*"')


def listed(fence: Fence, assessments: Mapping[str, Assessment]) -> tuple[Assessment, ...]:
    """The studies that a fence names; without any, all.

    Raises:
        FenceError: For a study that there isn't, and for an option that isn't for lists.
    """
    for option in fence.options:
        if option != "as":
            raise fence.error(
                option,
                f"{option} with as: studies",
                f"remove the line {option}",
                "as: studies with studies' ids, or with nothing else",
            )
    for entry in fence.addresses:
        if entry.text not in assessments:
            fix = "remove the line, or add the study"
            raise no_study(entry.text, assessments, entry.line, fix)
    if not assessments:
        raise fence.error("as", "as: studies without a study", "add one", "at least one study")
    names = [entry.text for entry in fence.addresses] or list(assessments)
    return tuple(assessments[name] for name in dict.fromkeys(names))


def studies_html(
    chosen: Iterable[Assessment],
    pages: StudyPages,
    page: str,
    cache: Path | None,
    templates: tuple[Path | None, frozenset[str]],
) -> str:
    """The list as the page of all studies has it, without its ids: permalinks lead there.

    Args:
        page: Path of the page, or of a file beside its address.
        cache: Folder where drawings are cached; None for nowhere.
        templates: The user's own, and the names of those that can't be used.

    Raises:
        jinja2.TemplateError: For a template that is broken, with its name and line.
    """
    chosen = tuple(chosen)
    homes = [plan_home(assessment, pages.into) for assessment in chosen]
    plan = replace(
        plan_overview(homes, pages.into, {}), path=page, template="studies-alone.md.jinja"
    )
    embeds = [embed for assessment in chosen for embed in plan_embeds(assessment, pages.into)]
    written = Templates(*templates, embeds, SiteAddress("", pages.ending)).render(
        plan, draw(plan.pictures, cache)
    )
    return page_links(_ID.sub("", written.body()), pages.ending)
