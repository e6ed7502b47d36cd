"""Pages from Jinja templates: what each page of a study shows, and its Markdown and figures."""

from __future__ import annotations

import posixpath
import re
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    PackageLoader,
    StrictUndefined,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from gridatlas.assessment.reruns import Reproduction
from gridatlas.charts.heatmap import Heatmap
from gridatlas.charts.line import LineChart
from gridatlas.charts.render import Drawing
from gridatlas.diff.as_html import items_html
from gridatlas.diff.report import Report
from gridatlas.model.addresses import SiteAddress
from gridatlas.model.problems import Problem, join_names, nearest, truncate_list
from gridatlas.pages.citation import bibtex
from gridatlas.pages.fence import FenceFigures, LinePanel
from gridatlas.pages.figure_context import (
    data_table,
    downloads,
    grid_path,
    line_table,
    responsive,
    with_cell_ids,
    with_own_ids,
)
from gridatlas.pages.filters import FILTERS, GLOBALS, figure_anchor, inert
from gridatlas.pages.panels import Gallery, Panel
from gridatlas.pages.plan import EmbedPlan, PagePlan
from gridatlas.pages.rerun_tables import rerun_rows, run_facts
from gridatlas.pages.share import embed_path, share
from gridatlas.pages.tooltips import card_data

_MARKDOWN_SPECIAL = re.compile(
    r"""[!"#$&'()*+/:<=>?@\[\\\]^_`{|}~]|(?<![0-9])\.|\.(?![0-9])|(?<![A-Za-z0-9])-|-(?![A-Za-z0-9])"""
)
"""All that Markdown may take for its own; not the point in a number, nor the hyphen in a word."""


_MARKDOWN_LINK = re.compile(r"\]\(([^)#\s]+\.md)(#[^)\s]*)?\)")


@dataclass(frozen=True, slots=True)
class Page:
    """A finished page: Markdown with placeholders, and the HTML that takes their place.

    The figures are put in after the host has rendered the Markdown: neither Markdown nor the
    search index has to read them.

    Attributes:
        head: Tags that tell others of the page, as (name, content).
        dataset: What the page is about as a schema.org Dataset, in JSON; empty without.
    """

    plan: PagePlan
    markdown: str
    figures: Mapping[str, str]
    anchors: frozenset[str]
    head: tuple[tuple[str, str], ...] = ()
    dataset: str = ""

    def relinked(self, moved: Mapping[str, str]) -> Page:
        """The page with its links led to where a host has other pages in the place of ours.

        Args:
            moved: Paths of the pages that take the place, by the paths of ours.
        """
        here = posixpath.dirname(self.plan.path)

        def led(match: re.Match[str]) -> str:
            target = posixpath.normpath(posixpath.join(here, match[1]))
            if target not in moved:
                return match[0]
            return f"]({posixpath.relpath(moved[target], here)}{match[2] or ''})"

        return replace(self, markdown=_MARKDOWN_LINK.sub(led, self.markdown)) if moved else self

    @property
    def written(self) -> Page:
        """The page without what it was written from: of its plan, only its place and its names."""
        return replace(self, plan=replace(self.plan, context={}, parts=()))

    def whole(self) -> str:
        """The page's Markdown with its figures in place, for hosts without a later hook."""
        return fill(self.markdown, self.figures)


_PAGE_LINK = re.compile(r'href="((?:[^"#]*/)?)index\.md(#[^"]*)?"')


def page_links(html: str, ending: str) -> str:
    """Links of figures as a host's pages have them: `index.md` becomes `ending`."""
    return _PAGE_LINK.sub(lambda match: f'href="{match[1] + ending or "./"}{match[2] or ""}"', html)


_PLACEHOLDER = re.compile(r'<div data-gridatlas="([^"]+)"></div>')


def fill(text: str, figures: Mapping[str, str]) -> str:
    """Put figures in the place of their placeholders."""
    return _PLACEHOLDER.sub(lambda match: figures.get(match[1], match[0]), text)


def placeholder(key: str) -> str:
    """What stands in the place of a figure until the page is finished."""
    return f'<div data-gridatlas="{escape(key)}"></div>'


Drawings = Mapping[Heatmap, Drawing]
FenceDrawings = Mapping[Heatmap | LineChart, Drawing]
Plan = TypeVar("Plan", PagePlan, EmbedPlan)
Written = TypeVar("Written")


# --- rendering ----------------------------------------------------------------------------------


class Writer:
    """Writes the pages of one build, with the user's templates where they work.

    A page whose overriding template fails is written with ours, and said in `problems`.

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


EMBED = "embed.html.jinja"
"""Template of a grid's page for frames."""


class _Overrides(FileSystemLoader):
    """A user's templates, but for those that are broken: ours are used in their place."""

    def __init__(self, folder: Path, without: frozenset[str]) -> None:
        super().__init__(folder)
        self.without = without

    def get_source(self, environment: Environment, template: str) -> Any:
        """The template's text, unless it can't be used."""
        if template in self.without:
            raise TemplateNotFound(template)
        return super().get_source(environment, template)


IN_TEMPLATES = (
    TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What a template can raise: Jinja's own errors, and those of the expressions in it."""


def template_problem(error: Exception, folder: Path, name: str) -> Problem:
    """Where in a user's templates an error comes from, by the last of their lines on its way."""
    message, line = str(getattr(error, "message", None) or error), getattr(error, "lineno", None)
    if isinstance(error, TemplateNotFound):
        message = f"no template {error.name}"
    elif isinstance(error, UnicodeDecodeError):
        line = error.object.count(b"\n", 0, error.start) + 1
        message = "text that is not UTF-8"
    elif isinstance(error, KeyError):
        message = f"no {error}"
    elif isinstance(error, RecursionError):
        message = "a template or macro that goes on calling itself"
    named = getattr(error, "name", None)
    if isinstance(error, TemplateSyntaxError) and named:
        name = named
    for frame in traceback.extract_tb(error.__traceback__):
        if Path(frame.filename).is_relative_to(folder):
            name, line = Path(frame.filename).relative_to(folder).as_posix(), frame.lineno
    return Problem(
        "broken-template",
        f"{folder.name}/{name}",
        message,
        "a Jinja template, in UTF-8, that uses what the page gives it",
        "correct it; until then its pages are written with the template of gridatlas",
        line,
    )


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
        self._markdown, self._html = _own() if folder is None else _overridden(folder, without)

    def render(self, plan: PagePlan, drawings: Drawings) -> Page:
        """Write one page.

        Raises:
            jinja2.TemplateError: For a template that is broken, with its name and line.
        """
        link = partial(_link, plan.path)
        seen: set[str] = set()
        figures = {
            gallery.key: self._gallery(gallery, plan, drawings, seen) for gallery in plan.galleries
        }
        figures |= self._problems(plan) | self._claims(plan) | self._runs(plan)
        figures |= self._changes(plan) | self._cite(plan)
        template = self._markdown.get_template(plan.template)
        context = {**plan.context, "parts": plan.parts, "title": plan.title}
        body = template.render(**context, link=link, figure=partial(_placeholder, figures))
        head = (
            f"---\ntitle: {_front_matter(plan.title)}\n"
            f"description: {_front_matter(plan.description)}\nhide:\n  - toc\n"
            # mkdocs-macros, whose delimiters users may change, renders neither text nor title.
            "render_macros: false\n---\n\n"
        )
        return Page(plan, head + _tidy(body), figures, frozenset(seen))

    def _gallery(
        self,
        gallery: Gallery,
        plan: PagePlan,
        drawings: Drawings,
        seen: set[str],
    ) -> str:
        template = self._html.get_template("gallery.html.jinja")
        panels = [self._figure(panel, plan.path, drawings, seen) for panel in gallery.panels]
        return template.render(gallery=gallery, panels=panels).strip()

    def _figure(
        self, panel: Panel, path: str, drawings: Drawings | FenceDrawings, seen: set[str]
    ) -> dict[str, Any]:
        """What the template of a figure gets as `one`."""
        figure_id = figure_anchor(panel.grid) if panel.grid and not panel.before else ""
        if figure_id in seen:
            figure_id = ""
        svg = drawings[panel.heatmap].svg
        if panel.grid and figure_id:
            seen.add(figure_id)
            svg = with_cell_ids(svg, panel.heatmap, panel.grid, seen)
        svg = with_own_ids(svg, seen)
        embed = None
        if panel.grid and not panel.compact:
            embed = self._embeds.get(grid_path(panel.grid))
        return {
            "panel": panel,
            "id": figure_id,
            "svg": Markup(responsive(svg)),
            "table": data_table(panel),
            "cards": Markup("" if panel.before else card_data(panel)),
            "downloads": downloads(panel.grid, path) if panel.grid else {},
            "share": share(embed, drawings[embed.panel.heatmap].svg, path, self.site)
            if embed
            else None,
        }

    def fence(
        self,
        figures: FenceFigures,
        path: str,
        drawings: FenceDrawings,
        seen: set[str],
        files: bool = True,
    ) -> str:
        """Write the figures of a fence.

        Args:
            path: Path of the page, or of a file beside its address.
            seen: Ids that the page has already; those of these figures are added.
            files: Whether the site has the grids' files, to be downloaded.

        Raises:
            jinja2.TemplateError: For a template that is broken, with its name and line.
        """
        panels = [self._figure(panel, path, drawings, seen) for panel in figures.panels]
        lines = [_line_figure(line, path, drawings) for line in figures.lines]
        for one in (*panels, *lines):
            one["share"] = None
            if not files:
                one["downloads"] = {}
        template = self._html.get_template("fence.html.jinja")
        return template.render(figures=figures, panels=panels, lines=lines).strip()

    def embed(self, plan: EmbedPlan, drawings: Drawings) -> str:
        """Write a grid's page for frames: a whole document.

        Raises:
            jinja2.TemplateError: For a template that is broken, with its name and line.
        """
        path = embed_path(plan)
        one = self._figure(plan.panel, path, drawings, set())
        one["share"] = None
        # What each reading says stands on the page that the title leads to.
        one["table"]["readings"] = {}
        return self._html.get_template(EMBED).render(
            one=one,
            panel=plan.panel,
            title=plan.title,
            study=plan.grid.study,
            page=self.site.relative(plan.page, path, figure_anchor(plan.grid)),
            canonical=self.site.of(plan.page, path) if self.address else "",
            file=partial(self.site.relative, beside=path),
        )

    def _claims(self, plan: PagePlan) -> dict[str, str]:
        if not plan.context.get("claims"):
            return {}
        template = self._html.get_template("claims.html.jinja")
        link = partial(_link, plan.path)
        return {"claims": template.render(**plan.context, link=link).strip()}

    def _runs(self, plan: PagePlan) -> dict[str, str]:
        """What stands below the heatmaps of the page Reproduction, and its runs."""
        known: Reproduction | None = plan.context.get("reproduction")
        if known is None or plan.path != plan.context["reproduction_page"]:
            return {}
        commands = plan.context["commands"]
        template = self._html.get_template("rerun.html.jinja")
        found = {
            f"cells-{at}": template.render(
                one=one, rows=rerun_rows(one), commands=commands.get(one.grid.levels, ())
            ).strip()
            for at, one in enumerate(known.begun)
        }
        if known.runs:
            template = self._html.get_template("runs.html.jinja")
            found["runs"] = template.render(runs=known.runs, facts=run_facts).strip()
        waiting = [rerun.grid for rerun in known.reruns if not rerun.begun]
        waiting += [one.grid for one in known.own]
        template = self._html.get_template("commands.html.jinja")
        found["commands"] = template.render(grids=waiting, commands=commands).strip()
        return found

    def _changes(self, plan: PagePlan) -> dict[str, str]:
        """The items of the page Changes, section by section."""
        report: Report | None = plan.context.get("report")
        if report is None:
            return {}
        pages = plan.context["study_pages"]
        links = {study: str(_link(plan.path, to)) for study, to in pages.items()}
        return {
            f"section-{section.id}": f'<div class="ga-changes">{items_html(section, links)}</div>'
            for section in report.sections
        }

    def _cite(self, plan: PagePlan) -> dict[str, str]:
        """What stands on a study's own page to cite it."""
        if plan.path != plan.context.get("home"):
            return {}
        study = plan.context["study"]
        text = bibtex(
            study, study.title, self.site.of(plan.path, plan.path) if self.address else ""
        )
        return {"cite": self._html.get_template("cite.html.jinja").render(text=text).strip()}

    def _problems(self, plan: PagePlan) -> dict[str, str]:
        problems = plan.context.get("problems") or ()
        if not problems:
            return {}
        template = self._html.get_template("problems.html.jinja")
        return {
            "problems": template.render(problems=problems, told=truncate_list(problems)).strip()
        }


@cache
def _own() -> tuple[Environment, Environment]:
    """Our templates, which need no sandbox; compiled once, however often a site is built."""
    return _environments(Environment, PackageLoader("gridatlas.pages", "templates"))


def _overridden(folder: Path, without: frozenset[str]) -> tuple[Environment, Environment]:
    """A user's templates, and ours where there is none of theirs."""
    ours = PackageLoader("gridatlas.pages", "templates")
    loader = ChoiceLoader([_Overrides(folder, without), ours])
    return _environments(ImmutableSandboxedEnvironment, loader)


def _environments(kind: type[Environment], loader: BaseLoader) -> tuple[Environment, Environment]:
    """The templates of Markdown, and those of HTML."""
    options: dict[str, Any] = {
        "loader": loader,
        "undefined": StrictUndefined,
        "trim_blocks": True,
        "lstrip_blocks": True,
        "keep_trailing_newline": True,
        "autoescape": True,
    }
    found = kind(finalize=escape_markdown, **options), kind(**options)
    for environment in found:
        environment.filters |= FILTERS
        environment.globals |= GLOBALS
    return found


def _line_figure(panel: LinePanel, path: str, drawings: FenceDrawings) -> dict[str, Any]:
    """What the template of a line gets as `one`."""
    return {
        "panel": panel,
        "svg": Markup(responsive(drawings[panel.heatmap].svg)),
        "table": line_table(panel.shows),
        "downloads": downloads(panel.shows.grid, path),
    }


def check_templates(folder: Path) -> tuple[frozenset[str], list[Problem]]:
    """The names of a user's templates that can't be used, and what is wrong with each."""
    known = set(PackageLoader("gridatlas.pages", "templates").list_templates())
    environment = ImmutableSandboxedEnvironment(loader=FileSystemLoader(folder))
    environment.filters |= FILTERS
    broken: set[str] = set()
    problems = []
    for name in environment.list_templates():
        if name in known:
            try:
                environment.get_template(name)
            except IN_TEMPLATES as error:
                broken.add(name)
                problems.append(template_problem(error, folder, name))
        elif name.endswith(".jinja"):
            near = nearest(name, known)
            problems.append(
                Problem(
                    "unknown-template",
                    f"{folder.name}/{name}",
                    "a template that overrides none",
                    f"the name of one of ours: {join_names(sorted(known), 20)}",
                    f"rename it to {near}" if near else "rename it, or remove it",
                    severity="note",
                )
            )
    return frozenset(broken), problems


def escape_markdown(value: object) -> object:
    """A text as Markdown that shows it unchanged: every special character as an entity."""
    if value is None or hasattr(value, "__html__"):
        return value
    text = re.sub(r"\s+", " ", str(value))
    return Markup(_MARKDOWN_SPECIAL.sub(lambda match: f"&#{ord(match[0])};", text))


def _tidy(text: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _front_matter(text: str) -> str:
    # Themes put both into HTML as they are; JSON's quotes are YAML's too.
    escaped = inert(escape(re.sub(r"\s+", " ", text))).replace("\\", "&#92;")
    return f'"{escaped}"'


def _placeholder(figures: Mapping[str, str], key: str) -> Markup:
    if key not in figures:
        raise LookupError(f'no figure "{key}" on this page; there are {join_names(figures)}')
    return Markup(placeholder(key))


def _link(page: str, target: str, anchor: str = "") -> Markup:
    """A relative link from one page's source to another's, as every host resolves it."""
    path = posixpath.relpath(target, posixpath.dirname(page))
    return Markup(f"{path}#{anchor}" if anchor else path)
