"""The theme's templates with one more: what our pages say in their heads."""

from __future__ import annotations

import json
from pathlib import Path

from gridatlas.hosts.zensical.mirror import Content, in_memory, of_file
from gridatlas.pages.meta import with_dataset, with_tags
from gridatlas.pages.render import Page

MAIN, THEIRS = "main.html", "gridatlas-main.html"
"""The template of pages, and the user's own, which ours extends."""
KEY = "gridatlas_head"
"""What the front matter of our pages has for their heads."""

# A page that has a picture of its own, from the user's template, keeps its card whole.
_TEMPLATE = """\
{% extends "PARENT" %}
{% block extrahead %}
{% set own = super() %}
{{ own }}
{% if page and page.meta and page.meta.KEY and "og:image" not in own %}
{{ page.meta.KEY | safe }}
{% endif %}
{% endblock %}
"""


def overrides(custom: Path | None) -> dict[str, Content]:
    """The files of the theme's `custom_dir`: the user's, and the template with ours.

    Raises:
        OSError: Where the user's can't be read.
    """
    files = {}
    for path in sorted(custom.rglob("*")) if custom else []:
        if path.is_file():
            files[path.relative_to(custom or path).as_posix()] = of_file(path)
    theirs = files.pop(MAIN, None)
    parent = "base.html"
    if theirs is not None:
        files[THEIRS], parent = theirs, THEIRS
    template = _TEMPLATE.replace("PARENT", parent).replace("KEY", KEY)
    return files | {MAIN: in_memory(template.encode())}


def with_head(markdown: str, page: Page) -> str:
    """A page's Markdown, whose front matter has what its head says."""
    end = "</head>"
    head = with_dataset(with_tags(end, page.head), page.dataset).removesuffix(end)
    if not head:
        return markdown
    before, mark, rest = markdown.partition("\n---\n")
    assert mark  # All pages of ours have front matter.
    return f"{before}\n{KEY}: {json.dumps(head, ensure_ascii=False)}{mark}{rest}"
