"""A finished page: its Markdown with placeholders, and the HTML that takes their place."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape

from markupsafe import Markup

from gridatlas.model.inert import inert
from gridatlas.pages.plan import PagePlan

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
        return replace(self, plan=replace(self.plan, context={}, given=(), anatomy=None))

    def body(self) -> str:
        """What stands in the page, without what its front matter says of it, figures in place."""
        return fill(self.markdown.partition("\n---\n")[2], self.figures).strip()

    def whole(self) -> str:
        """The page's Markdown with its figures in place, for hosts without a later hook."""
        return fill(self.markdown, self.figures)


_PAGE_LINK = re.compile(r'href="((?:[^"#]*/)?)index\.md(#[^"]*)?"')


def page_links(html: str, ending: str) -> str:
    """Links of figures as a host's pages have them: `index.md` becomes `ending`."""
    return _PAGE_LINK.sub(lambda match: f'href="{match[1] + ending or "./"}{match[2] or ""}"', html)


_PLACEHOLDER = re.compile(r'<div data-gridatlas="([^"]+)"></div>')


def fill(text: str, figures: Mapping[str, str]) -> str:
    """Put figures in the place of their placeholders, and others in the place of those in them."""
    return _PLACEHOLDER.sub(
        lambda match: fill(figures[match[1]], figures) if match[1] in figures else match[0], text
    )


def placeholder(key: str) -> str:
    """What stands in the place of a figure until the page is finished."""
    return f'<div data-gridatlas="{escape(key)}"></div>'


# --- its Markdown --------------------------------------------------------------------------------


def tidy(text: str) -> str:
    """The text with one empty line where there are more."""
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def front_matter(text: str) -> str:
    """The text in quotes, for the front matter."""
    # Themes put both into HTML as they are; JSON's quotes are YAML's too.
    escaped = inert(escape(re.sub(r"\s+", " ", text))).replace("\\", "&#92;")
    return f'"{escaped}"'


def page_link(page: str, target: str, anchor: str = "") -> Markup:
    """A relative link from one page's source to another's, as every host resolves it."""
    path = posixpath.relpath(target, posixpath.dirname(page))
    return Markup(f"{path}#{anchor}" if anchor else path)
