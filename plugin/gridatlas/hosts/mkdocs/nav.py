"""Pages of ours in a navigation of MkDocs."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import pairwise

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page as HostPage

from gridatlas.pages.filters import inert
from gridatlas.pages.render import Page


def add_to_nav(nav: Navigation, pages: Iterable[Page], config: MkDocsConfig, files: Files) -> None:
    """Append pages in sections by study and facet, and link previous and next anew."""
    sections: dict[str, Section] = {}
    for ours in pages:
        plan = ours.plan
        file = files.get_file_from_path(plan.path)
        if file is None:
            continue
        host_page = file.page or HostPage(None, file, config)
        host_page.title = inert(escape(plan.nav_title))
        # The folder tells sections apart whose titles are the same.
        folder = plan.path.split("/")[: -1 if plan.is_index else -2]
        parent: Section | None = None
        for depth, title in enumerate(plan.trail):
            key = "/".join(folder[: len(folder) - len(plan.trail) + depth + 1])
            if key not in sections:
                sections[key] = Section(inert(escape(title)), [])
                sections[key].parent = parent
                (parent.children if parent else nav.items).append(sections[key])
            parent = sections[key]
        if parent is not None:
            host_page.parent = parent
            parent.children.append(host_page)
        nav.pages.append(host_page)
    for before, after in pairwise(nav.pages):
        before.next_page, after.previous_page = after, before


def with_braces(pages: Iterable[HostPage]) -> None:
    """Give titles their braces back, once no plugin renders them: the search index has text."""
    for page in pages:
        for name, text in page.meta.items():
            page.meta[name] = _with_braces(text) if isinstance(text, str) else text
        page.title = _with_braces(page.title or "")
        for section in page.ancestors:
            section.title = _with_braces(section.title or "")


def _with_braces(html: str) -> str:
    return html.replace("&#123;", "{")
