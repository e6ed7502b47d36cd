"""Pages from Jinja templates: what each page of a study shows, and its Markdown and figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from markupsafe import Markup

from gridatlas.assessment.reruns import Reproduction
from gridatlas.charts.kinds.heatmap import Heatmap
from gridatlas.charts.kinds.line import Line
from gridatlas.charts.render import Drawing
from gridatlas.model.addresses import SiteAddress
from gridatlas.model.problems import Problem, join_names, truncate_list
from gridatlas.pages.embeds import bibtex, embed_path, page_bibtex, share
from gridatlas.pages.environment import (
    IN_TEMPLATES,
    own_environments,
    template_problem,
    user_environments,
)
from gridatlas.pages.exports import downloads, grid_path, plot_downloads
from gridatlas.pages.figure import Figure, FigureRow, PlotSubject
from gridatlas.pages.filters import figure_anchor
from gridatlas.pages.page import Page, front_matter, page_link, placeholder, tidy
from gridatlas.pages.plan import EmbedPlan, PagePlan
from gridatlas.pages.reproduction import rerun_rows, run_answers, run_facts
from gridatlas.pages.svg import (
    as_picture,
    drawn_size,
    packed,
    responsive,
    row_links,
    with_cell_ids,
    with_own_ids,
    with_row_links,
)
from gridatlas.pages.tables import data_table, line_table
from gridatlas.pages.tooltips import card_data
from gridatlas.pages.words import Words
from gridatlas.table.differences import Difference

CHECK_PARTS = {
    "tallies": "statements",
    "disagreements-table": "disagreements",
    "findings": "findings",
    "readings": "readings",
}
"""Parts of the page Checks, and their templates."""
_IDS = re.compile(r'\bid="([^"]+)"')
PARTS = frozenset(
    (
        "switch",
        "board",
        "lines",
        "matrix",
        "wrong",
        "charts",
        "trust",
        "levels",
        "table",
        "folded",
        "statistics",
        "claimed",
        "method",
        "downloads",
        "studies",
        "footer",
    )
)
"""Parts of pages in HTML: each has a template of its own, and the context of its page."""
Drawings = Mapping[Any, Drawing]
"""Drawings by what they show."""
Plan = TypeVar("Plan", PagePlan, EmbedPlan)
Written = TypeVar("Written")


class Writer:
    """Writes the pages of one build, with the user's templates where they work.

    A page whose overriding template fails is written with ours, and `problems` has what failed.

    Args:
        embeds: All grids that have a page for frames.
        folder: The user's templates.
        without: Names of those that can't be used.
        site: Where the site is published.
    """

    def __init__(
        self,
        embeds: Iterable[EmbedPlan],
        drawings: Drawings,
        folder: Path | None,
        without: frozenset[str],
        site: SiteAddress,
    ) -> None:
        embeds = tuple(embeds)
        self._drawings, self._folder = drawings, folder
        self._own = Templates(None, frozenset(), embeds, site)
        self._user = None if folder is None else Templates(folder, without, embeds, site)
        self._problems: dict[tuple[str, str], Problem] = {}

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What failed so far, each once."""
        return tuple(self._problems.values())

    def page(self, plan: PagePlan) -> Page:
        """One page."""
        return self._written(plan.template, Templates.render, plan)

    def frame(self, plan: EmbedPlan) -> str:
        """A grid's page for frames."""
        return self._written(EMBED, Templates.embed, plan)

    def _written(
        self, template: str, write: Callable[[Templates, Plan, Drawings], Written], plan: Plan
    ) -> Written:
        if self._user is not None and self._folder is not None:
            try:
                return write(self._user, plan, self._drawings)
            except IN_TEMPLATES as error:
                problem = template_problem(error, self._folder, template)
                self._problems[problem.place, problem.found] = problem
        return write(self._own, plan, self._drawings)


@dataclass(frozen=True, slots=True)
class _Target:
    """The page that figures are written for.

    Attributes:
        path: Of the page, or of a file beside its address.
        seen: Ids that the page has already; those of the figures are added.
        links: Where the cards of cells link to.
        files: Whether the site has the figures' files, to be downloaded.
    """

    path: str
    drawings: Drawings
    seen: set[str]
    links: Mapping[str, str] = field(default_factory=dict)
    files: bool = True


EMBED = "embed.html.jinja"
"""Template of a grid's page for frames."""
FIGURE_WIDTH = 430
"""Pixels that the stylesheet gives a figure for its texts; only wider drawings need more."""


VERSION = Markup('<div class="ga-picture" data-version="{}" hidden>\n{}</div>\n')
"""What a switch shows in the place of a row's picture."""
GROWS = 1.15
"""How much larger than beside others a heatmap may be that has a column for itself."""


class Templates:
    """The templates, a user's own first; strings from data are escaped for where they land."""

    def __init__(
        self,
        folder: Path | None,
        without: frozenset[str],
        embeds: Iterable[EmbedPlan],
        site: SiteAddress,
    ) -> None:
        self.site, self.address = site, site.root
        self._embeds = {grid_path(embed.grid): embed for embed in embeds}
        self._markdown, self._html = (
            own_environments() if folder is None else user_environments(folder, without)
        )

    def render(self, plan: PagePlan, drawings: Drawings) -> Page:
        """Write one page.

        Raises:
            jinja2.TemplateError: For a template that is broken, with its name and line.
        """
        link = partial(page_link, plan.path)
        seen: set[str] = set()
        target = _Target(plan.path, drawings, seen, self._card_links(plan))
        # A grid's address is that of its whole figure, where a page has a small one of it, too.
        whole_first = sorted(
            plan.rows, key=lambda row: any(figure.compact for figure in row.figures)
        )
        figures = {row.key: self._row(row, target) for row in whole_first}
        figures |= self._problems(plan) | self._claims(plan) | self._runs(plan)
        figures |= self._cite(plan) | self._checks(plan)
        figures |= plan.parts(plan, self._part) if plan.parts else {}
        template = self._markdown.get_template(plan.template)
        context = {**plan.context, "sections": plan.sections, "title": plan.title, "link": link}
        context |= plan.anatomy().context if plan.anatomy else {}
        context["address"] = self.site.of(plan.path, plan.path) if self.address else ""
        if "study" in context:
            context["terms"] = Words(context["study"])
        first = figure_anchor(plan.main_grid) if plan.main_grid else ""
        context["first_heatmap"] = first if first in seen else ""

        def figure(key: str) -> Markup:
            if key not in figures and key in PARTS:
                figures[key] = self._part(key, **context, figure=figure)
                seen.update(_IDS.findall(figures[key]))
            return _placeholder(figures, key)

        body = template.render(**context, figure=figure)
        hidden = ["toc", *(["navigation"] if "study" in context else [])]
        head = (
            f"---\ntitle: {front_matter(plan.title)}\n"
            f"description: {front_matter(plan.description)}\nhide: [{', '.join(hidden)}]\n"
            # mkdocs-macros, whose delimiters users may change, renders neither text nor title.
            "render_macros: false\n---\n\n"
        )
        return Page(plan, head + tidy(body), figures, frozenset(seen))

    def _card_links(self, plan: PagePlan) -> dict[str, str]:
        """Where a cell's card links to: its study's readings, and how to run it again."""
        ends = {"readings": ("checks_page", "readings"), "rerun": ("reproduction_page", "commands")}
        return {
            name: self.site.relative(page, plan.path, anchor)
            for name, (key, anchor) in ends.items()
            if (page := plan.context.get(key))
        }

    def _row(self, row: FigureRow, target: _Target) -> str:
        if row.small:
            return self._thumbnails(row, target)
        if row.legend is not None:
            return self._multiples(row, target)
        drawn = tuple(self._drawn(figure, target) for figure in row.figures)
        return self._part("plot" if row.plots else "gallery", row=replace(row, figures=drawn))

    def _thumbnails(self, row: FigureRow, target: _Target) -> str:
        """Pictures that link to the pages of their grids: several in small, or one with numbers."""
        chart = row.figures[0].chart
        name = "column" if isinstance(chart, Heatmap) and chart.size == "panel" else "thumbnails"
        figures = []
        for figure in row.figures:
            # Of a difference, the second.
            grid = figure.shows.second if isinstance(figure.shows, Difference) else figure.grid
            embed = self._embeds.get(grid_path(grid)) if grid else None
            anchor = figure_anchor(embed.grid) if embed else ""
            link = self.site.relative(embed.page, target.path, anchor) if embed else ""
            figure_id, svg = _with_ids(figure, target)
            wide = f"{drawn_size(svg)[0] * GROWS:g}px" if name == "column" else ""
            picture = Markup(as_picture(responsive(svg, wide)))
            figures.append(replace(figure, id=figure_id, svg=picture, link=link))
        return self._part(name, row=replace(row, figures=tuple(figures)))

    def _multiples(self, row: FigureRow, target: _Target) -> str:
        """Figures with caption, legend and actions in common, and what a switch shows."""
        figures = tuple(self._drawn(figure, target, str) for figure in row.figures)
        # In one: pictures of the same cells say much alike.
        pictures = "".join(
            VERSION.format(name, Markup(self._part("picture", row=self._version(other, target))))
            for name, _, other in row.versions
        )
        # Also the cards, in the order in which the pictures stand.
        first = sorted(figures, key=lambda figure: (figure.heatmap.size != "large", figure.folded))
        cards = packed(f"[{','.join(figure.cards or 'null' for figure in first)}]")
        row = replace(row, figures=figures)
        return self._part("multiples", row=row, pictures=packed(pictures), cards=cards)

    def _version(self, row: FigureRow, target: _Target) -> FigureRow:
        """A version of a row with its drawings and cards, and no ids of its own."""
        figures = (
            replace(
                figure,
                svg=Markup(with_own_ids(target.drawings[figure.chart].svg, target.seen)),
                cards=Markup(card_data(figure, target.links)),
            )
            for figure in row.figures
        )
        return replace(row, figures=tuple(figures))

    def _drawn(
        self, figure: Figure, target: _Target, sized: Callable[[str], str] = responsive
    ) -> Figure:
        """A figure with all that its template shows.

        Args:
            sized: Lets CSS size the drawing.
        """
        path, svg, grid = target.path, target.drawings[figure.chart].svg, figure.grid
        files = downloads(grid, path) if grid and target.files else {}
        if isinstance(figure.shows, Line):
            table = line_table(figure.shows)
            return replace(figure, svg=Markup(sized(svg)), table=table, downloads=files)
        if figure.plot:
            of = figure.shows.grid if isinstance(figure.shows, PlotSubject) else None
            rows = row_links(figure.chart, of, target.seen)
            svg = with_own_ids(with_row_links(svg, figure.chart, rows), target.seen)
            files = files or plot_downloads(figure, path)
            return replace(figure, svg=Markup(svg), downloads=files, links=rows)
        figure_id, svg = _with_ids(figure, target)
        embed = self._embeds.get(grid_path(grid)) if grid and not figure.compact else None
        return replace(
            figure,
            id=figure_id,
            width=f"{wide:g}px" if (wide := drawn_size(svg)[0]) > FIGURE_WIDTH else "",
            svg=Markup(sized(svg)),
            table=data_table(figure),
            cards=Markup("" if figure.before else card_data(figure, target.links)),
            downloads=files,
            share=share(embed, target.drawings[embed.figure.chart].svg, path, self.site)
            if embed
            else None,
        )

    def fence(
        self, row: FigureRow, path: str, drawings: Drawings, seen: set[str], files: bool = True
    ) -> str:
        """Write the figures of a fence.

        Args:
            path: Path of the page, or of a file beside its address.
            seen: Ids that the page has already; those of these figures are added.
            files: Whether the site has the grids' files, to be downloaded.

        Raises:
            jinja2.TemplateError: For a template that is broken, with its name and line.
        """
        target = _Target(path, drawings, seen, files=files)
        if row.legend is not None:
            return self._multiples(row, target)
        sized = partial(responsive, width=row.width)
        figures = [self._drawn(figure, target, sized) for figure in row.figures]
        if row.width:  # The row has one: its figures need none.
            figures = [replace(figure, width="") for figure in figures]
        name = "plot" if row.plots else "fence"
        return self._part(name, row=replace(row, figures=tuple(figures)))

    def embed(self, plan: EmbedPlan, drawings: Drawings) -> str:
        """Write a grid's page for frames: a whole document.

        Raises:
            jinja2.TemplateError: For a template that is broken, with its name and line.
        """
        path = embed_path(plan)
        figure = self._drawn(plan.figure, _Target(path, drawings, set()))
        # What each reading says stands on the page that the title leads to.
        table = replace(figure.table, readings=None) if figure.table else None
        return self._html.get_template(EMBED).render(
            figure=replace(figure, share=None, table=table),
            title=plan.title,
            answer=plan.answer,
            study=plan.grid.study,
            page=self.site.relative(plan.page, path, figure_anchor(plan.grid)),
            canonical=self.site.of(plan.page, path) if self.address else "",
            file=partial(self.site.relative, beside=path),
        )

    def _claims(self, plan: PagePlan) -> dict[str, str]:
        if not plan.context.get("claims"):
            return {}
        link = partial(page_link, plan.path)
        return {"claims": self._part("claims", **plan.context, link=link)}

    def _checks(self, plan: PagePlan) -> dict[str, str]:
        """The tables and lists of the page Checks."""
        if plan.template != "checks.md.jinja":
            return {}
        context = {**plan.context, "link": partial(page_link, plan.path)}
        return {name: self._part(template, **context) for name, template in CHECK_PARTS.items()}

    def _runs(self, plan: PagePlan) -> dict[str, str]:
        """What stands below the heatmaps of the page Reproduction, and its runs."""
        reproduction: Reproduction | None = plan.context.get("reproduction")
        if reproduction is None or plan.path != plan.context["reproduction_page"]:
            return {}
        found = {
            f"cells-{index}": self._part("rerun", rerun=rerun, rows=rerun_rows(rerun))
            for index, rerun in enumerate(reproduction.begun)
        }
        if reproduction.runs:
            answers = partial(run_answers, reproduction.study)
            found["runs"] = self._part(
                "runs", runs=reproduction.runs, facts=run_facts, answers_of=answers
            )
        context = {
            **plan.context,
            "link": partial(page_link, plan.path),
            "grids": [rerun.grid for rerun in reproduction.reruns]
            + [own.grid for own in reproduction.own],
        }
        return found | {
            name: self._part(name, **context) for name in ("commands", "differing", "verdicts")
        }

    def _cite(self, plan: PagePlan) -> dict[str, str]:
        """What a page of a study is cited with."""
        if "published" not in plan.context:
            return {}
        study, published = plan.context["study"], plan.context["published"]
        url = self.site.of(plan.path, plan.path) if self.address else ""
        name = "" if plan.path == plan.context["home"] else f": {plan.nav_title}"
        texts = [page_bibtex(study, f"{study.title}{name}", url, published)]
        texts += [bibtex(study, study.title, url)] if study.source else []
        return {"cite": self._part("cite", texts=texts)}

    def _problems(self, plan: PagePlan) -> dict[str, str]:
        problems = plan.context.get("problems")
        if not problems:
            return {}
        listed = truncate_list(problems)
        return {"problems": self._part("problems", problems=problems, listed=listed)}

    def _part(self, name: str, /, **context: Any) -> str:
        """A part of a page in HTML, by its template."""
        return self._html.get_template(f"{name}.html.jinja").render(**context).strip()


def _placeholder(figures: Mapping[str, str], key: str) -> Markup:
    if key not in figures:
        raise LookupError(f'no figure "{key}" on this page; there are {join_names(figures)}')
    return Markup(placeholder(key))


def _with_ids(figure: Figure, target: _Target) -> tuple[str, str]:
    """The id of a figure and its drawing; only the first one of a grid on a page has cells' ids."""
    svg, grid = target.drawings[figure.chart].svg, None if figure.plot else figure.grid
    figure_id = figure_anchor(grid) if grid and not figure.before else ""
    if figure_id in target.seen:
        figure_id = ""
    if grid and figure_id:
        target.seen.add(figure_id)
        svg = with_cell_ids(svg, figure.heatmap, grid, target.seen)
    return figure_id, with_own_ids(svg, target.seen)
