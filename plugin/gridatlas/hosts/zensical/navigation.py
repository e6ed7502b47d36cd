"""Our pages in the `nav` of a configuration, where the MkDocs plugin puts them."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator
from html import escape
from typing import Any

from gridatlas.pages.filters import inert
from gridatlas.pages.plan import PagePlan

Nav = list[Any]
"""Entries as in mkdocs.yml: a path, or a title with a path or with entries."""


def with_pages(nav: Nav, plans: Iterable[PagePlan], into: str) -> Nav:
    """Entries with our pages, in sections by study and facet.

    They follow the page of all studies where the user placed it in a section, else they are last.

    Args:
        nav: The entries of the user's; they stay as they are.
        into: Folder of the pages of all studies.
    """
    result = _copied(nav)
    placed = set(paths(result))
    sections: dict[str, Nav] = {}
    home = _section_with(result, f"{into}/index.md")
    if home is not None:
        sections[into] = home
    for plan in plans:
        if plan.path in placed:
            continue
        # The folder tells sections apart whose titles are the same.
        folder = plan.path.split("/")[: -1 if plan.is_index else -2]
        entries = result
        for depth, title in enumerate(plan.trail):
            key = "/".join(folder[: len(folder) - len(plan.trail) + depth + 1])
            if key not in sections:
                sections[key] = []
                entries.append({_html(title): sections[key]})
            entries = sections[key]
        entries.append({_html(plan.nav_title): plan.path})
    return result


def _html(title: str) -> str:
    # Hosts put it into pages as HTML.
    return inert(escape(title))


def _copied(nav: Nav) -> Nav:
    return [
        {
            title: _copied(below) if isinstance(below, list) else below
            for title, below in entry.items()
        }
        if isinstance(entry, dict)
        else entry
        for entry in nav
    ]


def paths(nav: Nav) -> Iterator[str]:
    """The paths of all entries."""
    for entry in nav:
        for below in entry.values() if isinstance(entry, dict) else [entry]:
            if isinstance(below, list):
                yield from paths(below)
            elif isinstance(below, str):
                yield below


def _section_with(nav: Nav, path: str) -> Nav | None:
    """The entries of the section that has a page; None where none has it, or no section."""
    for entry in nav:
        for below in entry.values() if isinstance(entry, dict) else ():
            if isinstance(below, list):
                if path in [way for way in below if isinstance(way, str)] + [
                    way for named in below if isinstance(named, dict) for way in named.values()
                ]:
                    return below
                found = _section_with(below, path)
                if found is not None:
                    return found
    return None


def without(nav: Nav, gone: Collection[str]) -> Nav:
    """Entries without some pages, and without the sections that are empty then."""
    result: Nav = []
    for entry in nav:
        if not isinstance(entry, dict):
            result += [] if entry in gone else [entry]
            continue
        for title, below in entry.items():
            if isinstance(below, list):
                rest = without(below, gone)
                result += [{title: rest}] if rest else []
            elif below not in gone:
                result.append({title: below})
    return result


def of_files(pages: Iterable[str]) -> Nav:
    """The entries of a site without `nav`: as MkDocs has them, a section per folder."""
    nav: Nav = []
    sections: dict[str, Nav] = {"": nav}
    for path in sorted(pages, key=_order):
        folder = posixpath.dirname(path)
        above = ""
        for part in folder.split("/") if folder else []:
            below = posixpath.join(above, part)
            if below not in sections:
                sections[below] = []
                sections[above].append({_title(part): sections[below]})
            above = below
        sections[folder].append(path)
    return nav


def _order(path: str) -> list[tuple[bool, bool, str]]:
    """Of a folder its index first, then its files, then its folders."""
    *folders, name = path.split("/")
    is_index = name in ("index.md", "README.md")
    return [*((True, True, folder) for folder in folders), (False, not is_index, name)]


def _title(folder: str) -> str:
    title = folder.replace("-", " ").replace("_", " ")
    return title.capitalize() if title.lower() == title else title
