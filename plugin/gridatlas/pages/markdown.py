"""The Markdown of a page: no gaps in it, and texts in its front matter."""

from __future__ import annotations

import posixpath
import re
from html import escape

from markupsafe import Markup

from gridatlas.pages.filters import inert


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
