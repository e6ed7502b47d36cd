"""Pages from Jinja templates: what each page of a study shows, and its Markdown and figures."""

from __future__ import annotations

import posixpath
import re
import traceback
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

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

from gridatlas import analyse
from gridatlas.analyse import Difference
from gridatlas.picture import Picture, format_difference, rows_from_top
from gridatlas.plan import Gallery, PagePlan, Panel
from gridatlas.problems import Problem, listed, nearest
from gridatlas.render import Drawing
from gridatlas.study import Grid
from gridatlas.uncertainty import by_point
from gridatlas.words import FILTERS, GLOBALS, between, cell_text, figure_anchor

GRIDS = "grids"
"""Folder of the downloads, beside the pages."""
DOWNLOADS = {
    "svg": "SVG",
    "png": "PNG",
    "csv": "CSV",
    "json": "JSON",
    "vl.json": "Vega-Lite",
}

_MARKDOWN_SPECIAL = re.compile(r"""[!"#$&'(*+\-./:<=>@\[\\\]^_`{|}~]""")


_MARKDOWN_LINK = re.compile(r"\]\(([^)#\s]+\.md)(#[^)\s]*)?\)")


@dataclass(frozen=True, slots=True)
class Page:
    """A finished page: Markdown with placeholders, and the HTML that takes their place.

    The figures are put in after the host has rendered the Markdown: neither Markdown nor the
    search index has to read them.
    """

    plan: PagePlan
    markdown: str
    figures: Mapping[str, str]
    anchors: frozenset[str]

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
    return _PLACEHOLDER.sub(lambda match: figures[match[1]], text)


# --- rendering ----------------------------------------------------------------------------------


def render_all(
    plans: Iterable[PagePlan],
    drawings: Mapping[Picture, Drawing],
    folder: Path | None,
    without: frozenset[str] = frozenset(),
) -> tuple[tuple[Page, ...], list[Problem]]:
    """Write all pages; one whose overriding template fails is written with ours, and said.

    Args:
        folder: The user's templates.
        without: Names of those that can't be used.
    """
    own, user = Templates(), Templates(folder, without)
    pages = []
    problems: dict[tuple[str, str], Problem] = {}
    for plan in plans:
        try:
            pages.append(user.render(plan, drawings))
        except _IN_TEMPLATES as error:
            if folder is None:
                raise
            problem = _template_problem(error, folder, plan.template)
            problems[problem.place, problem.found] = problem
            pages.append(own.render(plan, drawings))
    return tuple(pages), list(problems.values())


class _Overrides(FileSystemLoader):
    """A user's templates, but for those that are broken: ours are used in their place."""

    def __init__(self, folder: Path, without: frozenset[str]) -> None:
        super().__init__(folder)
        self.without = without

    def get_source(self, environment: Environment, template: str) -> Any:
        if template in self.without:
            raise TemplateNotFound(template)
        return super().get_source(environment, template)


_IN_TEMPLATES = (
    TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)
"""What a template can raise: Jinja's own errors, and those of the expressions in it."""


def _template_problem(error: Exception, folder: Path, name: str) -> Problem:
    """Where in a user's templates an error comes from, by the last of their lines on its way."""
    message, line = str(getattr(error, "message", None) or error), getattr(error, "lineno", None)
    if isinstance(error, TemplateNotFound):
        message = f"no template {error.name}"
    elif isinstance(error, UnicodeDecodeError):
        line = error.object.count(b"\n", 0, error.start) + 1
        message = "text that is not UTF-8"
    elif isinstance(error, KeyError):
        message = f"no {error}"
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

    def __init__(self, folder: Path | None = None, without: frozenset[str] = frozenset()) -> None:
        loaders: list[BaseLoader] = [_Overrides(folder, without)] if folder else []
        loader = ChoiceLoader([*loaders, PackageLoader("gridatlas", "templates")])
        options: dict[str, Any] = {
            "loader": loader,
            "undefined": StrictUndefined,
            "trim_blocks": True,
            "lstrip_blocks": True,
            "keep_trailing_newline": True,
            "autoescape": True,
        }
        self._markdown = ImmutableSandboxedEnvironment(finalize=escape_markdown, **options)
        self._html = ImmutableSandboxedEnvironment(**options)
        for environment in (self._markdown, self._html):
            environment.filters |= FILTERS
            environment.globals |= GLOBALS

    def render(self, plan: PagePlan, drawings: Mapping[Picture, Drawing]) -> Page:
        """Write one page.

        Raises:
            jinja2.TemplateError: For a template that is broken, with its name and line.
        """
        link = partial(_link, plan.path)
        seen: set[str] = set()
        figures = {
            gallery.key: self._gallery(gallery, plan, drawings, seen) for gallery in plan.galleries
        }
        figures |= self._problems(plan) | self._claims(plan)
        template = self._markdown.get_template(plan.template)
        context = {**plan.context, "parts": plan.parts, "title": plan.title}
        body = template.render(**context, link=link, figure=partial(_placeholder, figures))
        head = (
            f"---\ntitle: {_front_matter(plan.title)}\n"
            f"description: {_front_matter(plan.description)}\nhide:\n  - toc\n---\n\n"
        )
        return Page(plan, head + _tidy(body), figures, frozenset(seen))

    def _gallery(
        self,
        gallery: Gallery,
        plan: PagePlan,
        drawings: Mapping[Picture, Drawing],
        seen: set[str],
    ) -> str:
        template = self._html.get_template("gallery.html.jinja")
        panels = []
        for panel in gallery.panels:
            figure_id = figure_anchor(panel.grid) if panel.grid else ""
            if figure_id in seen:
                figure_id = ""
            svg = drawings[panel.picture].svg
            if panel.grid and figure_id:
                seen.add(figure_id)
                svg = _with_cell_ids(svg, panel.picture, panel.grid, seen)
            panels.append(
                {
                    "panel": panel,
                    "id": figure_id,
                    "svg": Markup(_responsive(svg)),
                    "table": data_table(panel),
                    "downloads": _downloads(panel.grid, plan.path) if panel.grid else {},
                }
            )
        return template.render(gallery=gallery, panels=panels).strip()

    def _claims(self, plan: PagePlan) -> dict[str, str]:
        if not plan.context.get("claims"):
            return {}
        template = self._html.get_template("claims.html.jinja")
        link = partial(_link, plan.path)
        return {"claims": template.render(**plan.context, link=link).strip()}

    def _problems(self, plan: PagePlan) -> dict[str, str]:
        problems = plan.context.get("problems") or ()
        if not problems:
            return {}
        template = self._html.get_template("problems.html.jinja")
        return {"problems": template.render(problems=problems).strip()}


def check_templates(folder: Path) -> tuple[frozenset[str], list[Problem]]:
    """The names of a user's templates that can't be used, and what is wrong with each."""
    known = set(PackageLoader("gridatlas", "templates").list_templates())
    environment = ImmutableSandboxedEnvironment(loader=FileSystemLoader(folder))
    environment.filters |= FILTERS
    broken: set[str] = set()
    problems = []
    for name in environment.list_templates():
        if name in known:
            try:
                environment.get_template(name)
            except (TemplateError, UnicodeDecodeError) as error:
                broken.add(name)
                problems.append(_template_problem(error, folder, name))
        elif name.endswith(".jinja"):
            near = nearest(name, known)
            problems.append(
                Problem(
                    "unknown-template",
                    f"{folder.name}/{name}",
                    "a template that overrides none",
                    f"the name of one of ours: {listed(sorted(known), 20)}",
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


def data_table(panel: Panel) -> dict[str, Any]:
    """The values of a heatmap as rows of texts, laid out like the picture."""
    texts: dict[tuple[str, str], tuple[str, str]] = {}
    if isinstance(panel.shows, Difference):
        study = panel.shows.first.study
        for x, y, value in panel.shows.points():
            text = "–"
            if value is not None:
                text = format_difference(value, study.metric.decimals or 0)
            texts[x.key, y.key] = (text, "")
    else:
        study = panel.shows.study
        intervals = by_point(panel.shows, panel.uncertainty) if panel.uncertainty else {}
        for x, y, cell in panel.shows.points():
            text = cell_text(study, cell)
            interval = intervals.get((x.key, y.key))
            if interval:
                text += f" ({between(interval.low, interval.high, study)})"
            texts[x.key, y.key] = (text, cell.note)
    rows = rows_from_top(study.y)
    return {
        "x": study.x,
        "y": study.y,
        "rows": [(y, [texts[x.key, y.key] for x in study.x.levels]) for y in rows],
        "notes": list(dict.fromkeys(note for _, note in texts.values() if note)),
        "readings": readings_table(panel.grid) if panel.grid else {},
        "sources": provenance(panel.grid) if panel.grid else [],
    }


def provenance(grid: Grid) -> list[dict[str, Any]]:
    """Where the shown values come from: reading, place in it and run, each with how many cells."""
    readings = {reading.id: reading for reading in grid.study.readings}
    counts = Counter(
        (cell.reading, cell.place, cell.run)
        for _, _, cell in grid.points()
        if cell.value is not None
    )
    return [
        {"reading": readings.get(reading), "place": place, "run": run, "cells": number}
        for (reading, place, run), number in counts.items()
    ]


def readings_table(grid: Grid) -> dict[str, Any]:
    """What each reading says of each cell that more than one of them gives; else empty."""
    study = grid.study
    said = {
        (x.label, y.label): {one.id: cell_text(study, cell) for one, cell in told}
        for y in rows_from_top(study.y)
        for x in study.x.levels
        if len(told := analyse.readings_at(grid, (x.key, y.key))) > 1
    }
    if not said:
        return {}
    readings = analyse.readings_of(study, [grid])
    notes = [
        f"{one.label}: {cell.note}"
        for x, y, _ in grid.points()
        for one, cell in analyse.readings_at(grid, (x.key, y.key))
        if cell.note
    ]
    return {
        "readings": readings,
        "notes": list(dict.fromkeys(notes)),
        "rows": [
            (x, y, [told.get(reading.id, "") for reading in readings], len(set(told.values())) > 1)
            for (x, y), told in said.items()
        ],
    }


def _tidy(text: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _front_matter(text: str) -> str:
    # Themes put both into HTML as they are; JSON's quotes are YAML's too.
    escaped = escape(re.sub(r"\s+", " ", text)).replace("\\", "&#92;")
    return f'"{escaped}"'


def _placeholder(figures: Mapping[str, str], key: str) -> Markup:
    if key not in figures:
        raise LookupError(f'no figure "{key}" on this page; there are {listed(figures)}')
    return Markup(f'<div data-gridatlas="{escape(key)}"></div>')


def _link(page: str, target: str, anchor: str = "") -> Markup:
    """A relative link from one page's source to another's, as every host resolves it."""
    path = posixpath.relpath(target, posixpath.dirname(page))
    return Markup(f"{path}#{anchor}" if anchor else path)


def _downloads(grid: Grid, page: str) -> dict[str, str]:
    base = grid_path(grid)
    return {
        label: posixpath.relpath(f"{base}.{ending}", posixpath.dirname(page))
        for ending, label in DOWNLOADS.items()
    }


def grid_path(grid: Grid) -> str:
    """Address of a grid's downloads, without their ending."""
    return f"{GRIDS}/{grid.study.id}/{grid.address}"


_CELL = re.compile(r'<path (?=aria-label="[^"]*" role="graphics-symbol")')


def _with_cell_ids(svg: str, picture: Picture, grid: Grid, seen: set[str]) -> str:
    """Give each cell its permalink's id; cells are drawn in order, those without value last."""
    marks = sorted(picture.marks, key=lambda mark: mark.value is None)
    keys = iter([f"{grid.address}/{mark.key}" for mark in marks])

    def named(_: re.Match[str]) -> str:
        key = next(keys)
        seen.add(key)
        return f'<path id="{escape(key)}" '

    return _CELL.sub(named, svg)


def _responsive(svg: str) -> str:
    """A viewBox alone lets CSS size it; its own width stays the largest."""
    return re.sub(
        r'<svg ([^>]*?) ?width="([\d.]+)" height="[\d.]+"',
        r'<svg \1 style="max-width:\2px"',
        svg,
        count=1,
    )
