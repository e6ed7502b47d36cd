"""Cells and sources in a site's search: "aime24 2000 0.4" finds the cell, its address opens it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from html import escape
from itertools import islice
from typing import Any

from gridatlas.assessment.assessment import Assessment
from gridatlas.charts.description import cell_name, over
from gridatlas.model.addresses import SiteAddress
from gridatlas.model.format import cell_text
from gridatlas.model.study import Study
from gridatlas.pages.filters import cell_anchor, figure_anchor
from gridatlas.pages.page import Page
from gridatlas.table.study_table import Grid

INDEX = "search/search_index.json"
"""Where MkDocs' and Material's search have what they find, in the built site."""
SOURCE = "source"
"""Id of what a study's page says of its source."""
CELLS_UP_TO, OF_STUDY = 1_000, 250
"""Cells that the search finds, of all studies and of one: each is about 200 bytes of an index that
is loaded whole. Of a study with more it finds the grids."""
BOOST = 2
"""How much more a word counts in results than in other pages."""
_LEADING = ("level.md.jinja", "study.md.jinja")


def cell_entries(
    assessments: Iterable[Assessment], pages: Iterable[Page], site: SiteAddress
) -> list[dict[str, str]]:
    """An entry per cell with a value, or per grid, as MkDocs' search has them.

    Args:
        pages: The site's, each with the ids that are on it.
    """
    places: dict[str, dict[str, str]] = defaultdict(dict)
    # Of a grid the page of its level, where it has cards; of a study without facets its own.
    leading = [page for page in pages if page.plan.template in _LEADING]
    for page in sorted(leading, key=lambda page: _LEADING.index(page.plan.template)):
        of_study = places[page.plan.edit.partition("/")[0]]
        for anchor in page.anchors:
            of_study.setdefault(anchor, page.plan.path)
    entries: list[dict[str, str]] = []
    for assessment in assessments:
        grids = assessment.shown.results.grids.values()
        own = places[assessment.study.id]
        every = (entry for grid in grids for entry in _entries(grid, own, site))
        found = [*islice(every, OF_STUDY + 1)]
        if len(found) <= OF_STUDY and len(entries) + len(found) <= CELLS_UP_TO:
            entries += found
        else:
            entries += islice(_grid_entries(grids, own, site), OF_STUDY)
    return entries


def _grid_entries(
    grids: Iterable[Grid], places: Mapping[str, str], site: SiteAddress
) -> Iterable[dict[str, str]]:
    for grid in grids:
        anchor = figure_anchor(grid)
        if anchor in places:
            yield {
                "location": site.relative(places[anchor], "index.md", anchor),
                "title": grid.label.replace(" | ", ", "),
                "text": f"{grid.study.metric.name} over {over(grid.study)}",
            }


def source_entries(
    assessments: Iterable[Assessment], pages: Iterable[Page], site: SiteAddress
) -> list[dict[str, str]]:
    """An entry per study with what its values come from, which its page has folded."""
    homes = {
        page.plan.path.split("/")[-2]: page.plan.path
        for page in pages
        if page.plan.template == "study.md.jinja" and SOURCE in page.anchors
    }
    return [
        {
            "location": site.relative(homes[study.id], "index.md", SOURCE),
            "title": f"Source – {study.title}",
            "text": " ".join(_source_texts(study)),
        }
        for study in (assessment.study for assessment in assessments)
        if study.id in homes
    ]


def _source_texts(study: Study) -> Iterable[str]:
    if source := study.source:
        yield from filter(None, (source.title, *(source.authors or ()), source.note))
    for reading in study.readings:
        yield from filter(None, (reading.label, reading.entry.note))


def _entries(grid: Grid, places: Mapping[str, str], site: SiteAddress) -> Iterable[dict[str, str]]:
    study = grid.study
    for (x, y), cell in zip(grid.places, grid.columns, strict=True):
        anchor = cell_anchor(grid, (x, y))
        if cell.value is None or anchor not in places:
            continue
        levels = cell_name(study, x, y)
        yield {
            "location": site.relative(places[anchor], "index.md", anchor),
            "title": f"{grid.label.replace(' | ', ', ')}: {levels}",
            "text": f"{study.metric.name} {cell_text(study, cell)}",
        }


def with_entries(
    index: str, entries: Iterable[Mapping[str, str]], escaping: bool, results: str = ""
) -> str:
    """A search index with more entries; as it is where it is of another form.

    Args:
        escaping: Whether the theme escapes what it shows of an index; else its texts are HTML.
        results: The folder of the pages of results, which rank above others and are found by what
            they say, not by a heading alone; empty where no page does.
    """
    try:
        content: Any = json.loads(index)
    except ValueError:
        return index
    # An index that is made ahead of a visit finds nothing that isn't in it.
    if not isinstance(content, dict) or "index" in content:
        return index
    if not isinstance(content.get("docs"), list):
        return index
    docs = [*content["docs"], *(dict(entry) if escaping else _as_html(entry) for entry in entries)]
    content["docs"] = [of for entry in docs for of in _ranked(entry, results)]
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def _ranked(entry: Any, results: str) -> Iterable[Any]:
    """An entry as it is, or of a page of results above others; none for a heading without text."""
    location = str(entry.get("location", "")) if isinstance(entry, dict) else ""
    if not results or not location.startswith(f"{results}/"):
        yield entry
    elif entry.get("text") or "#" not in location:
        yield {**entry, "boost": BOOST}


def _as_html(entry: Mapping[str, str]) -> dict[str, str]:
    texts = {name: escape(entry[name], quote=False) for name in ("title", "text")}
    return {**entry, **texts}
