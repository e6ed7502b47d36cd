"""The list of studies that a fence stands for: each with its answer, its chips and thumbnails."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from gridatlas.assessment.assessment import Assessment
from gridatlas.charts.pool import draw
from gridatlas.model.addresses import SiteAddress
from gridatlas.model.problems import join_names, nearest, quote
from gridatlas.pages.fence import Fence, FenceError
from gridatlas.pages.page import fill, page_links
from gridatlas.pages.plan import plan_embeds, plan_overview
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
            near = nearest(entry.text, assessments)
            raise FenceError(
                f"no study {quote(entry.text)}" + (f"; did you mean {near}?" if near else ""),
                f"one of the studies {join_names(assessments)}"
                if assessments
                else "a study; there is none",
                f"write {near} in its place" if near else "remove the line, or add the study",
                entry.line,
            )
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
    plan = replace(
        plan_overview(chosen, pages.into, {}), path=page, template="studies-alone.md.jinja"
    )
    embeds = [embed for assessment in chosen for embed in plan_embeds(assessment, pages.into)]
    written = Templates(*templates, embeds, SiteAddress("", pages.ending)).render(
        plan, draw(plan.pictures, cache)
    )
    html = fill(written.markdown, written.figures)
    return page_links(_ID.sub("", html), pages.ending)
