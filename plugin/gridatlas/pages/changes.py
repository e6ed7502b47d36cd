"""The page Changes, and what other pages say of it: before, after, and the difference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import GridUncertainty
from gridatlas.charts.compose import draw_difference, draw_grid, own_domain
from gridatlas.charts.heatmap import with_overrides
from gridatlas.diff.changes import Changes, StudyChanges
from gridatlas.diff.grids import GridChange
from gridatlas.diff.report import Section as ReportSection
from gridatlas.diff.sections import report
from gridatlas.diff.value_items import changed_grids
from gridatlas.diff.wording import count
from gridatlas.model.study import MISSING, Cell, Factor, Grid, Level, Point
from gridatlas.pages.figure import Figure, FigureRow, Section
from gridatlas.pages.plan import PagePlan
from gridatlas.results.grids import subtract

HEATMAPS_UP_TO = 12
"""Changed grids whose heatmaps the page has; the others stand in its lists."""
ITEMS_UP_TO = 200
"""Items of a section that the page has."""


def plan_changes(changes: Changes, known: Iterable[Assessment], into: str) -> PagePlan | None:
    """The page with everything that changed; None where nothing did."""
    told = report(changes)
    if not told.changed:
        return None
    by_id = {one.study.id: one for one in known}
    shown = changed_grids(changes)
    sections = []
    for at, (study, grid) in enumerate(shown[:HEATMAPS_UP_TO]):
        name = grid.new.label
        if len({one.head.study.id for one, _ in shown}) > 1:
            name = f"{study.head.study.title}: {name}"
        sure = by_id[study.head.study.id].uncertainty.of(grid.new)
        sections.append(
            Section(name, (FigureRow(f"change-{at}", change_figures(study, grid, sure)),))
        )
    return PagePlan(
        path=f"{into}/changes/index.md",
        template="changes.md.jinja",
        trail=("Studies",),
        nav_title="Changes",
        title=f"Changes since {told.base}",
        description=f"What changed in the results since {told.base}. {told.summary}",
        context={
            "problems": (),
            "report": replace(told, sections=tuple(map(_cut, told.sections))),
            "left_out": {
                section.id: max(0, len(section.items) - ITEMS_UP_TO) for section in told.sections
            },
            "more_grids": max(0, len(shown) - HEATMAPS_UP_TO),
            "study_pages": {study_id: f"{into}/{study_id}/index.md" for study_id in by_id},
        },
        sections=tuple(sections),
        is_index=False,
    )


def _cut(section: ReportSection) -> ReportSection:
    return replace(section, items=section.items[:ITEMS_UP_TO])


# --- heatmaps -----------------------------------------------------------------------------------


def change_figures(
    study: StudyChanges, change: GridChange, sure: GridUncertainty
) -> tuple[Figure, ...]:
    """A grid as it was, as it is on the same scale, and the difference."""
    new = change.new
    old = _on_new_axes(study, change)
    difference = subtract(new, old, None)
    signs, caption = _signs(change)
    domain = own_domain((old, new))
    before = with_overrides(draw_grid(old, domain), f"{new.label}, before")
    after = with_overrides(draw_grid(new, domain), f"{new.label}, after")
    delta = with_overrides(draw_difference(difference), f"{new.label}, after − before", signs=signs)
    figures = (
        Figure(before, "Colour scale shared with the values after.", old, shared=True, before=True),
        Figure(
            after, "Colour scale shared with the values before.", new, shared=True, uncertainty=sure
        ),
        Figure(delta, f"Colour scale centred on 0. {caption}".strip(), difference, before=True),
    )
    return tuple(
        replace(figure, caption=f"{figure.caption} {figure.heatmap.note}".strip(), compact=True)
        for figure in figures
    )


def _on_new_axes(study: StudyChanges, change: GridChange) -> Grid:
    """The old values at the places of the new grid; a place that wasn't there has none."""
    cells: dict[Point, Cell] = {}
    for x, y, cell in change.old.points():
        at = study.match.head(change.old.levels, (x.key, y.key))
        if at is not None:
            cells[at[1]] = cell
    head = change.new.study
    rows = (tuple(cells.get((x.key, y.key), MISSING) for x in head.x.levels) for y in head.y.levels)
    return Grid(head, change.new.levels, tuple(rows), change.old.computed)


def _signs(change: GridChange) -> tuple[Mapping[str, str], str]:
    """Signs of the cells that were tested, and what they stand for."""
    head, signs, told = change.new.study, {}, set()
    for cell in change.cells:
        if cell.told is not None and cell.told.differs is not None:
            sign = "≠ told apart from noise" if cell.told.differs else "? not told apart from noise"
            x, y = head.x.level(cell.point[0]), head.y.level(cell.point[1])
            signs[f"{x.slug},{y.slug}"] = sign
            told.add(sign)
    return signs, f"{', '.join(sorted(told))}." if told else ""


# --- what other pages say -----------------------------------------------------------------------


def with_changes(plans: Iterable[PagePlan], changes: Changes, page: PagePlan) -> list[PagePlan]:
    """The pages with a line on what changed in what they show, and a link to the page."""
    by_id = {study.head.study.id: study for study in changes.studies}
    added = {one.study.id for one in changes.added}
    items = {item.study for section in page.context["report"].sections for item in section.items}
    found = []
    for plan in plans:
        study = plan.context.get("study")
        changed = ""
        if plan.template == "overview.md.jinja":
            changed = page.context["report"].summary
        elif study is not None and study.id in added:
            changed = "this study is new."
        elif study is not None and study.id in by_id and study.id in items:
            changed = _changed(by_id[study.id], plan)
        context = {**plan.context, "changes_page": page.path if changed else "", "changed": changed}
        if changed:
            context["since"] = page.context["report"].base
        found.append(replace(plan, context=context) if "changes_page" in plan.context else plan)
    return found


def _changed(study: StudyChanges, plan: PagePlan) -> str:
    """What of a page changed; empty where nothing did."""
    facet: Factor | None = plan.context.get("facet")
    level: Level | None = plan.context.get("level")

    def here(grid: Grid) -> bool:
        if facet is None or level is None:
            return True
        place = [facet.id for facet in grid.study.facets].index(facet.id)
        return grid.levels[place] == level.key

    changed = [one for one in study.grids.changed if here(one.new)]
    new = [one for one in study.grids.added if here(one)]
    cells = sum(len(one.cells) for one in changed)
    parts = []
    if cells:
        grids = sum(bool(one.cells) for one in changed)
        parts.append(f"{count(cells, 'cell')} in {count(grids, 'grid')}")
    if new:
        parts.append(f"{count(len(new), 'new grid')}")
    if level is None and facet is None:
        flipped = sum(claim.flipped for claim in study.own_claims)
        parts += [f"{count(flipped, 'claim')} flipped"] if flipped else []
        return f"{', '.join(parts) or 'see there'}."
    return f"{', '.join(parts)}." if parts else ""
