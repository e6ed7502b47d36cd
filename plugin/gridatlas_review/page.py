"""The page Changes with heatmaps before and after, and the line on other pages that links to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import GridUncertainty
from gridatlas.charts.draw import draw_difference, draw_values, joint_scale
from gridatlas.charts.kinds.heatmap import with_overrides
from gridatlas.model.format import many
from gridatlas.model.schema import CHANGES
from gridatlas.model.study import MISSING, Cell, Factor, Level, Point, point_slug
from gridatlas.pages.environment import document_environment
from gridatlas.pages.exports import to_svg
from gridatlas.pages.figure import Figure, FigureRow, Section
from gridatlas.pages.heatmaps import ONE_SCALE, signed
from gridatlas.pages.page import page_link
from gridatlas.pages.plan import PagePlan, RenderPart
from gridatlas.table.differences import subtract
from gridatlas.table.study_table import Grid
from gridatlas_review.changes import Changes, StudyChanges
from gridatlas_review.compare import make_report
from gridatlas_review.grids import GridChange
from gridatlas_review.report import Entry, Report
from gridatlas_review.report import Section as ReportSection
from gridatlas_review.values import changed_grids

MAX_HEATMAPS = 12
"""Changed grids whose heatmaps the page has; the others are in its lists."""
MAX_ENTRIES = 200
"""Entries of a section that the page has."""


def changes_document(report: Report, url: str = "") -> str:
    """The report as a page of its own, without a script and without a file beside it.

    Args:
        url: Address of the built site, to link to; empty for none, or one that isn't of the web.
    """
    url = url if url.startswith(("http://", "https://")) else ""
    base = url if not url or url.endswith("/") else f"{url}/"
    template = document_environment().get_template("diff.html.jinja")
    return template.render(
        report=report,
        url=url,
        compared=report.compared,
        address=lambda link: base + link if base and link else "",
        **section_context(report),
    )


def section_context(report: Report) -> dict[str, Any]:
    """What the templates of sections take: how entries stand together, and studies' titles."""
    return {
        "several": report.several,
        "titles": report.titles,
        "by_study": lambda section: grouped(section.entries, "study"),
    }


def changes_parts(plan: PagePlan, render: RenderPart) -> dict[str, str]:
    """What the page Changes has, part by part: the studies first, then the sections."""
    report: Report = plan.context["report"]

    def address(link: str) -> str:
        path, _, anchor = link.partition("#")
        return str(page_link(plan.path, f"{path}index.md", anchor))

    pages = plan.context["study_pages"]
    links = {study: str(page_link(plan.path, to)) for study, to in pages.items()}
    context = {**section_context(report), "links": links, "page": True}
    found = {
        f"section-{section.id}": render("changes", section=section, **context)
        for section in report.sections
    }
    for lead in report.leads:
        found[f"lead-{lead.study}"] = render("changes_lead", lead=lead, address=address)
    return found


def grouped(entries: Iterable[Entry], name: str) -> list[tuple[str, list[Entry]]]:
    """Neighbours that share an attribute, with it."""
    return [(key, list(same)) for key, same in groupby(entries, key=attrgetter(name))]


OPEN = CHANGES
"""Sections that are unfolded: what a reviewer must not miss."""


def plan_changes(changes: Changes, assessments: Iterable[Assessment], into: str) -> PagePlan | None:
    """The page with everything that changed; None where nothing did."""
    report = make_report(changes, into)
    if not report.changed:
        return None
    by_id = {assessment.study.id: assessment for assessment in assessments}
    grids = changed_grids(changes)
    several = len({study.id for study, _ in grids}) > 1
    sections = []
    for index, (study, grid) in enumerate(grids[:MAX_HEATMAPS]):
        name = f"{study.head.study.title}: {grid.new.label}" if several else grid.new.label
        figures = change_figures(study, grid, by_id[study.id].uncertainty.of(grid.new))
        sections.append(Section(name, (FigureRow(f"change-{index}", figures),)))
    return PagePlan(
        path=f"{into}/changes/index.md",
        template="changes.md.jinja",
        trail=("Studies",),
        nav_title="Changes",
        title=f"Changes since {report.base}",
        description=f"Changes since {report.base}: {report.summary}",
        context={
            "problems": (),
            "report": replace(report, sections=tuple(map(_truncated, report.sections))),
            "compared": report.compared,
            "open": OPEN,
            "left_out": {
                section.id: max(0, len(section.entries) - MAX_ENTRIES)
                for section in report.sections
            },
            "more_grids": max(0, len(grids) - MAX_HEATMAPS),
            "study_pages": {study_id: f"{into}/{study_id}/index.md" for study_id in by_id},
        },
        given=tuple(sections),
        is_index=False,
        parts=changes_parts,
    )


def _truncated(section: ReportSection) -> ReportSection:
    return replace(section, entries=section.entries[:MAX_ENTRIES])


# --- heatmaps -----------------------------------------------------------------------------------


def change_figures(
    study: StudyChanges, change: GridChange, uncertainty: GridUncertainty
) -> tuple[Figure, ...]:
    """A grid as it was, as it is on the same scale, and the difference."""
    new = change.new
    old = _on_new_axes(study, change)
    difference = subtract(new, old, None)
    signs, legend = _signs(change)
    scale = joint_scale((old, new))
    before = with_overrides(draw_values(old, scale), f"{new.label}, before")
    after = with_overrides(draw_values(new, scale), f"{new.label}, after")
    delta = with_overrides(draw_difference(difference), f"{new.label}, after − before", signs=signs)
    figures = (
        Figure(before, old, says=ONE_SCALE, before=True),
        Figure(after, new, says=ONE_SCALE, uncertainty=uncertainty),
        Figure(delta, difference, says=signed(delta, legend), before=True),
    )
    return tuple(replace(figure, compact=True) for figure in figures)


def differences_svg(changes: Changes) -> str:
    """The heatmap of differences of the grid that changed most; empty where no value changed."""
    from gridatlas.charts.render import draw_one

    for study, grid in changed_grids(changes):
        if any(cell.kind == "value" for cell in grid.cells):
            delta = change_figures(study, grid, study.head.uncertainty.of(grid.new))[-1]
            return to_svg(draw_one(delta.chart).svg)
    return ""


def _on_new_axes(study: StudyChanges, change: GridChange) -> Grid:
    """The old values at the places of the new grid; a place that wasn't there has none."""
    cells: dict[Point, Cell] = {}
    for point, cell in zip(change.old.keys, change.old.columns, strict=True):
        at = study.match.head(change.old.levels, point)
        if at is not None:
            cells[at[1]] = cell
    head = change.new.study
    shown = (cells.get(point, MISSING) for point in change.new.keys)
    return Grid.of(head, change.new.levels, shown, change.old.computed)


def _signs(change: GridChange) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Signs of the cells that were tested, and what they stand for."""
    study, signs = change.new.study, {}
    for cell in change.cells:
        if cell.significance is not None and cell.significance.significant is not None:
            sign = "≠ significant" if cell.is_significant else "? not significant"
            x, y = study.x.level(cell.point[0]), study.y.level(cell.point[1])
            signs[point_slug(x, y)] = sign
    return signs, tuple(sorted(set(signs.values())))


# --- the line on other pages --------------------------------------------------------------------


def with_changes(plans: Iterable[PagePlan], changes: Changes, page: PagePlan) -> list[PagePlan]:
    """The pages with a line on what changed in what they show, and a link to the page."""
    by_id = {study.id: study for study in changes.studies}
    added = {study.study.id for study in changes.added}
    report: Report = page.context["report"]
    changed_studies = {row.study for row in report.rows} | {lead.study for lead in report.leads}
    found = []
    for plan in plans:
        if "changes_page" not in plan.context:
            found.append(plan)
            continue
        study = plan.context.get("study")
        changed = ""
        if plan.template == "overview.md.jinja":
            changed = report.summary
        elif study is not None and study.id in added:
            changed = "this study is new."
        elif study is not None and study.id in by_id and study.id in changed_studies:
            changed = _changed(by_id[study.id], plan)
        context = {**plan.context, "changes_page": page.path if changed else "", "changed": changed}
        if changed:
            context["since"] = report.base
        found.append(replace(plan, context=context))
    return found


def _changed(study: StudyChanges, plan: PagePlan) -> str:
    """What of a page changed; empty where nothing did."""
    facet: Factor | None = plan.context.get("facet")
    level: Level | None = plan.context.get("level")

    def is_shown(grid: Grid) -> bool:
        if facet is None or level is None:
            return True
        place = [factor.id for factor in grid.study.facets].index(facet.id)
        return grid.levels[place] == level.key

    changed = [grid for grid in study.grids.changed if grid.cells and is_shown(grid.new)]
    added = sum(is_shown(grid) for grid in study.grids.added)
    parts = []
    if changed:
        cells = many(sum(len(grid.cells) for grid in changed), "value")
        parts.append(f"{cells} in {many(len(changed), 'grid')}")
    if added:
        parts.append(many(added, "new grid"))
    if level is None and facet is None:
        parts += [f"{many(len(study.claims), 'statement')} changed"] if study.claims else []
        return f"{', '.join(parts) or 'texts or settings'}."
    return f"{', '.join(parts)}." if parts else ""
