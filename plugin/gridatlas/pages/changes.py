"""The page Changes with heatmaps before and after, and the line on other pages that links to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gridatlas.assessment.answers.answer import LONGEST, Answer
from gridatlas.assessment.answers.several import revision_answer
from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import GridUncertainty
from gridatlas.charts.compose import draw_difference, draw_grid, own_domain
from gridatlas.charts.heatmap import with_overrides
from gridatlas.diff.changes import Changes, StudyChanges
from gridatlas.diff.compare import make_report
from gridatlas.diff.grid_changes import GridChange
from gridatlas.diff.grid_entries import changed_grids
from gridatlas.diff.report import Report
from gridatlas.diff.report import Section as ReportSection
from gridatlas.model.format import many
from gridatlas.model.study import MISSING, Cell, Factor, Grid, Level, Point, Study, point_slug
from gridatlas.pages.environment import document_environment
from gridatlas.pages.figure import Figure, FigureRow, Section
from gridatlas.pages.plan import PagePlan
from gridatlas.results.differences import subtract

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
    return document_environment().get_template("diff.html.jinja").render(report=report, url=url)


@dataclass(frozen=True, slots=True)
class Revision:
    """A study that changed: what that did to what its pages lead with.

    Attributes:
        answer: How many values changed, and what its own page leads with, before and now.
        others: The other pages that lead with another sentence: name, before, now.
    """

    study: Study
    answer: Answer
    others: tuple[tuple[str, str, str], ...]

    @property
    def same(self) -> bool:
        """Whether its own page leads with the same as before."""
        return len(self.answer.evidence) == 1


def revisions(changes: Changes, report: Report) -> list[Revision]:
    """The studies of both snapshots in which anything changed, those with other answers first."""
    changed = {entry.study for section in report.sections for entry in section.entries}
    found = [_revision(study) for study in changes.studies if study.id in changed]
    return sorted(found, key=lambda revision: (revision.same, -len(revision.answer.cells)))


def _revision(study: StudyChanges) -> Revision:
    base, head = study.base, study.head
    answer = revision_answer((base.results, base.answers[""]), (head.results, head.answers[""]))
    names = {facet.id: facet.label for facet in head.study.facets}
    for facet in head.study.facets:
        levels = head.results.levels(facet.id)
        names |= {f"{facet.id}/{level.slug}": level.label for level in levels}
    others = tuple(
        (names[key], base.answers[key].sentence, now.sentence)
        for key, now in head.answers.items()
        if key in names and key in base.answers and base.answers[key].sentence != now.sentence
    )
    return Revision(head.study, answer, others)


def changes_line(found: Sequence[Revision], report: Report) -> str:
    """The page in a line: how many values changed, and whether answers did."""
    if len(found) == 1 and not found[0].answer.sentence.startswith("No value changed;"):
        return found[0].answer.sentence
    values = sum(len(revision.answer.cells) for revision in found)
    answers = sum(not revision.same for revision in found)
    if not values and not answers:
        summary = report.summary.removesuffix(".")
        return summary if len(summary) <= LONGEST else f"Changes since {report.base}"
    changed = f"{many(values, 'value')} changed in {many(len(found), 'study', 'studies')}"
    return changed + (
        f", and {many(answers, 'answer')} with them" if answers else "; the answers are the same"
    )


OPEN = ("readings-removed", "problems", "claims", "checks")
"""Sections that are unfolded: what a reviewer must not miss."""


def plan_changes(changes: Changes, assessments: Iterable[Assessment], into: str) -> PagePlan | None:
    """The page with everything that changed; None where nothing did."""
    report = make_report(changes)
    if not report.changed:
        return None
    by_id = {assessment.study.id: assessment for assessment in assessments}
    found = revisions(changes, report)
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
        description=f"Changes since {report.base}: {changes_line(found, report)}. {report.summary}",
        context={
            "problems": (),
            "report": replace(report, sections=tuple(map(_truncated, report.sections))),
            "line": changes_line(found, report),
            "revisions": found,
            "open": OPEN,
            "left_out": {
                section.id: max(0, len(section.entries) - MAX_ENTRIES)
                for section in report.sections
            },
            "more_grids": max(0, len(grids) - MAX_HEATMAPS),
            "study_pages": {study_id: f"{into}/{study_id}/index.md" for study_id in by_id},
        },
        sections=tuple(sections),
        is_index=False,
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
    domain = own_domain((old, new))
    before = with_overrides(draw_grid(old, domain), f"{new.label}, before")
    after = with_overrides(draw_grid(new, domain), f"{new.label}, after")
    delta = with_overrides(draw_difference(difference), f"{new.label}, after − before", signs=signs)
    figures = (
        Figure(before, old, "values after", shared=True, before=True),
        Figure(after, new, "values before", shared=True, uncertainty=uncertainty),
        Figure(delta, difference, "difference", signs=legend, before=True),
    )
    return tuple(replace(figure, compact=True) for figure in figures)


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


def _signs(change: GridChange) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Signs of the cells that were tested, and what they stand for."""
    study, signs = change.new.study, {}
    for cell in change.cells:
        if cell.significance is not None and cell.significance.significant is not None:
            sign = (
                "≠ told apart from noise" if cell.is_significant else "? not told apart from noise"
            )
            x, y = study.x.level(cell.point[0]), study.y.level(cell.point[1])
            signs[point_slug(x, y)] = sign
    return signs, tuple(sorted(set(signs.values())))


# --- the line on other pages --------------------------------------------------------------------


def with_changes(plans: Iterable[PagePlan], changes: Changes, page: PagePlan) -> list[PagePlan]:
    """The pages with a line on what changed in what they show, and a link to the page."""
    by_id = {study.id: study for study in changes.studies}
    added = {study.study.id for study in changes.added}
    report: Report = page.context["report"]
    changed_studies = {entry.study for section in report.sections for entry in section.entries}
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
        cells = many(sum(len(grid.cells) for grid in changed), "cell")
        parts.append(f"{cells} in {many(len(changed), 'grid')}")
    if added:
        parts.append(many(added, "new grid"))
    if level is None and facet is None:
        flipped = sum(claim.flipped for claim in study.own_claims)
        parts += [f"{many(flipped, 'claim')} flipped"] if flipped else []
        return f"{', '.join(parts) or 'see there'}."
    return f"{', '.join(parts)}." if parts else ""
