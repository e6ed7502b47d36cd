"""Pages from Jinja templates: what each page of a study shows, and its Markdown and figures."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import ChoiceLoader, FileSystemLoader, PackageLoader, StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from gridatlas import analyse, chart
from gridatlas.analyse import Difference, Results, Summary
from gridatlas.chart import Picture
from gridatlas.problems import Problem
from gridatlas.render import Drawing
from gridatlas.study import STATE_LABELS, Cell, Factor, Grid, Level, Study

GRIDS = "grids"
"""Folder of the downloads, beside the pages."""
LEAD_FIGURES = 3
"""Heatmaps that stand for a study on the overview and at the head of its page."""
DOWNLOADS = {
    "svg": "SVG", "png": "PNG", "csv": "CSV", "json": "JSON", "vl.json": "Vega-Lite",
}  # fmt: skip

_MARKDOWN_SPECIAL = re.compile(r"""[!"#$&'(*+\-./:<=>@\[\\\]^_`{|}~]""")


@dataclass(frozen=True, slots=True)
class Panel:
    """One heatmap on a page, of a grid or of a difference."""

    picture: Picture
    caption: str
    grid: Grid | None = None
    difference: Difference | None = None
    compact: bool = False


@dataclass(frozen=True, slots=True)
class Gallery:
    """Heatmaps that stand side by side, and how their colours compare."""

    key: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A headed part of a page: the grids at one combination of the other facets' levels."""

    heading: str
    galleries: tuple[Gallery, ...]
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class PagePlan:
    """A page before its pictures are drawn.

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
    parts: tuple[Part, ...] = ()
    edit: str = ""
    is_index: bool = True

    @property
    def galleries(self) -> tuple[Gallery, ...]:
        """All galleries of the page, from top to bottom."""
        return tuple(gallery for part in self.parts for gallery in part.galleries)

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """All pictures of the page."""
        return tuple(panel.picture for one in self.galleries for panel in one.panels)


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

    def whole(self) -> str:
        """The page's Markdown with its figures in place, for hosts without a later hook."""
        return fill(self.markdown, self.figures)


_PLACEHOLDER = re.compile(r'<div data-gridatlas="([^"]+)"></div>')


def fill(text: str, figures: Mapping[str, str]) -> str:
    """Put figures in the place of their placeholders."""
    return _PLACEHOLDER.sub(lambda match: figures[match[1]], text)


# --- what is on which page ----------------------------------------------------------------------


def plan_overview(
    results: Iterable[Results], into: str, unreadable: Mapping[str, tuple[Problem, ...]]
) -> PagePlan:
    """The page that leads to all studies."""
    results = tuple(results)
    titles = ", ".join(one.study.title for one in results)
    return PagePlan(
        path=f"{into}/index.md",
        template="overview.md.jinja",
        trail=("Studies",),
        nav_title="Studies",
        title="Studies: heatmaps of experiment results",
        description=f"Heatmaps and data of {len(results)} studies: {titles}.",
        context={
            "results": results,
            "unreadable": unreadable,
            "pages_of": {one.study.id: _context(one, into) for one in results},
        },
        parts=tuple(
            Part(one.study.title, (Gallery(f"lead-{one.study.id}", _lead(one, compact=True)),))
            for one in results
        ),
    )


def plan_study(results: Results, into: str) -> list[PagePlan]:
    """All pages of one study: its own, one per facet, and one per level that has a grid."""
    study = results.study
    pages = [_study_page(results, into)]
    for facet in study.facets:
        pages.append(_facet_page(results, facet, into))
        pages += [
            _level_page(results, facet, level, into) for level in results.levels(facet.id)
        ]
    return pages


def plan_unreadable(study_id: str, problems: tuple[Problem, ...], into: str) -> PagePlan:
    """The page of a study that can't be shown: what is wrong with it."""
    return PagePlan(
        path=f"{into}/{study_id}/index.md",
        template="unreadable.md.jinja",
        trail=("Studies", study_id),
        nav_title=study_id,
        title=f"{study_id}: can't be read",
        description=f"The study {study_id} has problems that must be mended first.",
        context={"study_id": study_id, "problems": problems},
        edit=f"{study_id}/study.yml",
    )


def _over(study: Study) -> str:
    return f"{study.metric.name} over {inline(study.x.label)} and {inline(study.y.label)}"


def _study_page(results: Results, into: str) -> PagePlan:
    study = results.study
    facets = " and ".join(inline(facet.label) for facet in study.facets)
    by = f", by {facets}" if facets else ""
    return PagePlan(
        path=f"{into}/{study.id}/index.md",
        template="study.md.jinja",
        trail=("Studies", study.title),
        nav_title=study.title,
        title=f"{study.title}: {_over(study)}",
        description=f"{_over(study)}{by}: {len(results.grids)} heatmaps with every value.",
        context=_context(results, into),
        parts=(Part("Heatmaps", (Gallery("lead", _lead(results, compact=bool(study.facets))),)),),
        edit=f"{study.id}/study.yml",
    )


def _facet_page(results: Results, facet: Factor, into: str) -> PagePlan:
    study = results.study
    index = study.facets.index(facet)
    compared = bool(analyse.pairs(results, facet))

    def others(grid: Grid) -> tuple[str, ...]:
        return (*grid.levels[:index], *grid.levels[index + 1 :])

    ordered = sorted(results.grids.values(), key=lambda grid: _place(study, grid, facet))
    parts = []
    for key, group in groupby(ordered, key=others):
        grids = tuple(group)
        found = analyse.differences(results, facet, grids)
        labels = [
            level.label for one, level in zip(study.facets, grids[0].names, strict=True)
            if one != facet
        ]  # fmt: skip
        name = "-".join(key) or "all"
        galleries = [Gallery(f"grids-{name}", _panels(grids, shared=compared))]
        if found:
            galleries.append(Gallery(f"differences-{name}", _difference_panels(found)))
        parts.append(Part(" | ".join(labels) or study.metric.name, tuple(galleries), found))
    names = [level.label for level in results.levels(facet.id)]
    return PagePlan(
        path=f"{into}/{study.id}/{facet.id}/index.md",
        template="facet.md.jinja",
        trail=("Studies", study.title, facet.label),
        nav_title=facet.label,
        title=f"{_versus(names)} compared: {_over(study)}",
        description=f"{_versus(names)} side by side: {_over(study)}, {study.title}.",
        context=_context(results, into, facet) | {"facet": facet, "compared": compared},
        parts=tuple(parts),
        edit=f"{study.id}/study.yml",
    )


def _place(study: Study, grid: Grid, facet: Factor) -> tuple[int, ...]:
    """Sorts grids by the other facets first, then by the level of this one."""
    places = [
        (one == facet, one.levels.index(level))
        for one, level in zip(study.facets, grid.names, strict=True)
    ]
    return tuple(place for _, place in sorted(places, key=lambda entry: entry[0]))


def _level_page(results: Results, facet: Factor, level: Level, into: str) -> PagePlan:
    study = results.study
    grids = results.where(facet.id, level.key)
    name = _level_title(study, facet, level)
    parts = []
    pair_facet = next((one for one in study.facets if analyse.pairs(results, one)), None)
    if pair_facet and pair_facet != facet:
        # Levels of another facet stand side by side here: AIME24 of both models.
        for key, group in groupby(
            sorted(grids, key=lambda grid: _place(study, grid, pair_facet)),
            key=lambda grid: tuple(
                one.label for which, one in zip(study.facets, grid.names, strict=True)
                if which not in (pair_facet, facet)
            ),
        ):  # fmt: skip
            together = tuple(group)
            found = analyse.differences(results, pair_facet, together)
            name_part = "-".join(grid.address.replace("/", "-") for grid in together[:1])
            galleries = [Gallery(f"grids-{name_part}", _panels(together, shared=True))]
            if found:
                galleries.append(Gallery(f"differences-{name_part}", _difference_panels(found)))
            parts.append(Part(" | ".join(key) or level.label, tuple(galleries), found))
    else:
        baseline = study.baseline.get(facet.id)
        beside = [
            other for grid in grids
            if baseline and baseline != level.key
            and (other := results.neighbour(grid, facet.id, baseline))
        ]  # fmt: skip
        if beside:
            for other, grid in zip(beside, grids, strict=False):
                found = analyse.differences(results, facet, [grid])
                key = grid.address.replace("/", "-")
                galleries = [Gallery(f"grids-{key}", _panels((other, grid), shared=True))]
                if found:
                    galleries.append(Gallery(f"differences-{key}", _difference_panels(found)))
                parts.append(Part(grid.label, tuple(galleries), found))
        else:
            found = analyse.differences(results, facet, grids) if not baseline else ()
            galleries = [Gallery("grids", _panels(grids, shared=False))]
            parts.append(Part("Heatmaps", tuple(galleries), found))
    return PagePlan(
        path=f"{into}/{study.id}/{facet.id}/{level.slug}/index.md",
        template="level.md.jinja",
        trail=("Studies", study.title, facet.label),
        nav_title=level.label,
        title=f"{name}: {_over(study)}",
        description=f"{name}: {_over(study)} in {len(grids)} "
        f"{'heatmap' if len(grids) == 1 else 'heatmaps'} with every value, {study.title}.",
        context=_context(results, into, facet)
        | {"facet": facet, "level": level, "grids": grids, "name": name},
        parts=tuple(parts),
        edit=f"{study.id}/study.yml",
        is_index=False,
    )


def _level_title(study: Study, facet: Factor, level: Level) -> str:
    """A level's name; an aggregate's says over what: `Average (benchmark)`."""
    return f"{level.label} ({inline(facet.label)})" if level.aggregate else level.label


def _context(results: Results, into: str, facet: Factor | None = None) -> dict[str, Any]:
    """What every page of a study knows; links to a grid lead to its page for `facet`."""
    study = results.study
    home = f"{into}/{study.id}"
    facet = facet or next(iter(study.facets), None)
    targets = {levels: f"{home}/index.md" for levels in results.grids}
    if facet:
        index = study.facets.index(facet)
        targets = {
            levels: f"{home}/{facet.id}/{grid.names[index].slug}/index.md"
            for levels, grid in results.grids.items()
        }
    return {
        "results": results,
        "study": study,
        "home": f"{home}/index.md",
        "facet_pages": {facet.id: f"{home}/{facet.id}/index.md" for facet in study.facets},
        "level_pages": {
            (facet.id, level.key): f"{home}/{facet.id}/{level.slug}/index.md"
            for facet in study.facets
            for level in results.levels(facet.id)
        },
        "targets": targets,
        "problems": results.problems,
    }


def _lead(results: Results, compact: bool) -> tuple[Panel, ...]:
    """The heatmaps that stand for a study: its aggregates where it has some, else the first."""
    grids = tuple(results.grids.values())
    lead = [grid for grid in grids if grid.aggregate] or list(grids)
    lead = lead[:LEAD_FIGURES]
    return _panels(tuple(lead), shared=len(lead) > 1, compact=compact)


def _panels(grids: tuple[Grid, ...], shared: bool, compact: bool = False) -> tuple[Panel, ...]:
    shared = shared and len(grids) > 1
    domain = chart.own_domain(grids) if shared else None
    caption = (
        f"Colour scale shared by the {len(grids)} heatmaps beside each other."
        if shared
        else "Own colour scale: equal colours in other heatmaps are other values."
    )
    return tuple(
        Panel(chart.draw_grid(grid, domain), caption, grid=grid, compact=compact)
        for grid in grids
    )


def _difference_panels(differences: tuple[Difference, ...]) -> tuple[Panel, ...]:
    shared = len(differences) > 1
    domain = chart.difference_domain(differences) if shared else None
    scale = f", shared by the {len(differences)} differences beside each other" if shared else ""
    return tuple(
        Panel(
            chart.draw_difference(one, domain),
            f"{one.levels[1].label} minus {one.levels[0].label}. "
            f"Diverging colour scale centred on 0{scale}.",
            difference=one,
        )
        for one in differences
    )


# --- rendering ----------------------------------------------------------------------------------


class Templates:
    """The templates, a user's own first; strings from data are escaped for where they land."""

    def __init__(self, folder: Path | None = None) -> None:
        loaders = [FileSystemLoader(folder)] if folder else []
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
        figures |= self._problems(plan)
        template = self._markdown.get_template(plan.template)
        context = {**plan.context, "parts": plan.parts, "title": plan.title}
        body = template.render(**context, link=link, figure=_placeholder)
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
            figure_id = panel.grid.address if panel.grid else ""
            if figure_id in seen:
                figure_id = ""
            svg = drawings[panel.picture].svg
            if figure_id:
                seen.add(figure_id)
                svg = _with_cell_ids(svg, panel.picture, figure_id, seen)
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

    def _problems(self, plan: PagePlan) -> dict[str, str]:
        problems = plan.context.get("problems") or ()
        if not problems:
            return {}
        template = self._html.get_template("problems.html.jinja")
        return {"problems": template.render(problems=problems).strip()}


def check_templates(folder: Path) -> list[Problem]:
    """Say which of a user's templates can't be used, and why."""
    known = set(PackageLoader("gridatlas", "templates").list_templates())
    environment = ImmutableSandboxedEnvironment(loader=FileSystemLoader(folder))
    problems = []
    for name in environment.list_templates():
        if name not in known:
            continue
        try:
            environment.get_template(name)
        except TemplateError as error:
            line = getattr(error, "lineno", None)
            problems.append(
                Problem(
                    "broken-template", f"{folder.name}/{name}", error.message or str(error),
                    "a Jinja template", "correct this line of the template", line,
                )  # fmt: skip
            )
    return problems


def escape_markdown(value: object) -> object:
    """A text as Markdown that shows it unchanged: every special character as an entity."""
    if value is None or hasattr(value, "__html__"):
        return value
    text = re.sub(r"\s+", " ", str(value))
    return Markup(_MARKDOWN_SPECIAL.sub(lambda match: f"&#{ord(match[0])};", text))


def inline(label: str) -> str:
    """A label within a sentence: lower case at its start, but not `R1` or `KV cache`."""
    return label[0].lower() + label[1:] if label[1:2].islower() else label


def data_table(panel: Panel) -> dict[str, Any]:
    """The values of a heatmap as rows of texts, laid out like the picture."""
    study = (panel.grid or panel.difference.first).study  # type: ignore[union-attr]
    texts: dict[tuple[str, str], tuple[str, str]] = {}
    if panel.grid:
        for x, y, cell in panel.grid.points():
            texts[x.key, y.key] = (cell_text(study, cell), cell.note)
    elif panel.difference:
        decimals = study.metric.decimals or 0
        for x, y, value in panel.difference.points():
            text = "–" if value is None else chart.format_difference(value, decimals)
            texts[x.key, y.key] = (text, "")
    rows = chart.rows_from_top(study.y)
    return {
        "x": study.x,
        "y": study.y,
        "rows": [(y, [texts[x.key, y.key] for x in study.x.levels]) for y in rows],
        "notes": list(dict.fromkeys(note for _, note in texts.values() if note)),
    }


def cell_text(study: Study, cell: Cell) -> str:
    """A cell in a table: its value as printed, or why there is none."""
    if cell.value is None:
        return STATE_LABELS[cell.state]
    decimals = study.metric.decimals or 0
    printed = -int(cell.value.as_tuple().exponent)
    text = chart.format_value(cell.value, max(decimals, min(printed, 6) if cell.reading else 0))
    return f"{text} (disputed)" if cell.state == "disputed" else text


def _tidy(text: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _front_matter(text: str) -> str:
    # Themes put both into HTML as they are; JSON's quotes are YAML's too.
    escaped = escape(re.sub(r"\s+", " ", text)).replace("\\", "&#92;")
    return f'"{escaped}"'


def _placeholder(key: str) -> Markup:
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


def _with_cell_ids(svg: str, picture: Picture, figure_id: str, seen: set[str]) -> str:
    """Give each cell its permalink's id; cells are drawn in order, those without value last."""
    marks = sorted(picture.marks, key=lambda mark: mark.value is None)
    keys = iter([f"{figure_id}/{mark.key}" for mark in marks])

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


# --- what templates call ------------------------------------------------------------------------


def _value(value: Decimal | None, study: Study, more: int = 0) -> str:
    if value is None:
        return "–"
    text = chart.format_value(value, (study.metric.decimals or 0) + more)
    return chart.value_with_unit(text, study.metric.unit)


def _points(value: Decimal | None, study: Study, more: int = 0) -> str:
    """A spread or range: of percentages, in percentage points."""
    if value is None:
        return "–"
    text = chart.format_value(value, (study.metric.decimals or 0) + more)
    return chart.value_with_unit(text, study.metric.unit, difference=True)


def _signed(value: Decimal | None, study: Study, more: int = 1) -> str:
    if value is None:
        return "–"
    text = chart.format_difference(value, (study.metric.decimals or 0) + more)
    return chart.value_with_unit(text, study.metric.unit, difference=True)


def _and(texts: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    parts = list(texts)
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _versus(names: list[str]) -> str:
    return " vs. ".join(names) if len(names) < 4 else f"{_and(names[:3])} and more"


def _wins(grids: Iterable[Grid], axis: Any) -> list[tuple[int, list[str]]]:
    """Levels grouped by how many grids have a best cell there, most first, zeros left out."""
    counts = analyse.wins(grids, axis)
    groups: dict[int, list[str]] = {}
    for level, count in counts.items():
        if count:
            groups.setdefault(count, []).append(level.label)
    return sorted(groups.items(), reverse=True)


def _varies_more(grids: Iterable[Grid]) -> dict[str, list[Grid]]:
    """Grids by the axis whose means range wider: `x`, `y` or `equal`."""
    found: dict[str, list[Grid]] = {"x": [], "y": [], "equal": []}
    for grid in grids:
        summary = analyse.summarise(grid)
        if summary is None or summary.x_range is None or summary.y_range is None:
            continue
        if summary.x_range == summary.y_range:
            found["equal"].append(grid)
        else:
            found["x" if summary.x_range > summary.y_range else "y"].append(grid)
    return found


def _cell_anchor(grid: Grid, point: tuple[Level, Level]) -> str:
    return f"{grid.address}/{point[0].slug},{point[1].slug}"


def _urlsafe(url: str) -> Markup:
    """An address that can stand in a Markdown link: nothing in it ends the link."""
    return Markup(quote(url, safe=":/?#@!$&*+,;=%~-._"))


FILTERS: Mapping[str, Callable[..., Any]] = {
    "urlsafe": _urlsafe,
    "value": _value,
    "points": _points,
    "signed": _signed,
    "and": _and,
    "inline": inline,
    "summary": analyse.summarise,
}
GLOBALS: Mapping[str, Any] = {
    "wins": _wins,
    "varies_more": _varies_more,
    "cell_anchor": _cell_anchor,
}

__all__ = ["Gallery", "Page", "PagePlan", "Panel", "Part", "Summary", "Templates"]
