"""Sites where other plugins render templates, and where data tries to be one, in each place."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import site_builds
from amount import amount
from hostile import EXTENSIONS, FEATURES
from naughty import Naughty
from once import once
from site_builds import Build, Project, run

RESULT = str(7919 * 7907)
"""What each expression gives: no text of a site has it, unless one was evaluated."""

TEMPLATES = {
    "expression": "{{ 7919*7907 }} [[ 7919*7907 ]] {%- raw -%} <% raw %> {# gone #} ((# x #)) {{{",
    # No entities: the minifier reads those of attributes twice, in all pages of a site.
    "markup": "</title><script>alert(1)</script> <b>{{ 7919*7907 }}</b> {",
}
"""Templates with Jinja's own delimiters, and with those of `DELIMITERS`, by the study's id.

Short ones: a label that Vega has to cut takes it up to a second.
"""
STARTS = (
    "??? danger", "1) one", "a) letter", "i) roman", "???+ open", "#) any", "A. upper", "12. n",
    "/// note", '=== "tab"', "!!! note", ": term", "--8<-- 'secret.txt'", "; x", "%% x", "||| x",
)  # fmt: skip
"""What begins a block with some extension."""

DELIMITERS = {
    "j2_variable_start_string": "[[",
    "j2_variable_end_string": "]]",
    "j2_block_start_string": "<%",
    "j2_block_end_string": "%>",
    "j2_comment_start_string": "((#",
    "j2_comment_end_string": "#))",
}
"""Others than Jinja's own, for mkdocs-macros."""
LANGUAGES = [
    {"locale": "en", "name": "English", "default": True, "build": True},
    {"locale": "de", "name": "Deutsch", "build": True},
]


@dataclass(frozen=True)
class Template(Naughty):
    """A study with a former name, whose strings are templates."""

    def study_file(self) -> dict[str, Any]:
        return super().study_file() | {"former": [f"former-{self.study}"]}


STUDIES = {
    **{study: Template(study, (text,)) for study, text in TEMPLATES.items()},
    "starts": Template("starts", STARTS),
}
BROKEN = Template("broken", (TEMPLATES["expression"],))
"""Its file has a problem, whose text has the string."""


def _plugins(order: str, strict: bool) -> list[Any]:
    """Plugins that people have; ours is before or after all of them."""
    others: list[Any] = [
        {"macros": {} if strict else DELIMITERS},
        {"blog": {"archive": False, "categories": False}},
        {"redirects": {"redirect_maps": {"gone.md": "index.md"}}},
        {"mkdocstrings": {"handlers": {"python": {"paths": ["."]}}}},
        {"minify": {"minify_html": True}},
    ]
    ours = {"gridatlas": {"compare_to": "before"}}
    if order == "last":
        return [*others, "awesome-pages", ours]
    # With languages, a blog has no posts.
    return [ours, *others, "awesome-nav", {"i18n": {"languages": LANGUAGES}}]


def _project(folder: Path, base: Path, plugins: list[Any]) -> Project:
    project = site_builds.make_project(
        folder,
        site_builds.shared_cache(base),
        plugins=["search", *plugins],
        theme={"name": "material", "font": False, "features": FEATURES},
        markdown_extensions=[*EXTENSIONS, {"toc": {"permalink": True}}],
        site_url="https://atlas.example/project/sub/",
    )
    for study, texts in STUDIES.items():
        texts.write(folder / "data" / study)
        texts.write(folder / "before" / study)
        cells = texts.cells()
        assert cells.count(",4,") == 1
        project.write(f"before/{study}/cells.csv", cells.replace(",4,", ",9,"))
        project.write(f"docs/fence-{study}.md", f"# Fence\n\n```grid\n{study}/two\n```\n")
    project.write("docs/secret.txt", RESULT)
    project.write("docs/blog/index.md", "# Blog\n")
    project.write("docs/blog/posts/post.md", POST)
    project.write("docs/code.md", "# Code\n\n::: documented\n")
    project.write("documented.py", '"""What mkdocstrings shows."""\n')
    return project


POST = """\
---
date: 2026-05-01
---

# A post

The best is {{ grid(study="starts", facet="two").best.value }}.

<!-- more -->

That is all.
"""


def _built(base: Path, order: str, strict: bool) -> Build:
    folder = base / f"plugins-{order}-{'strict' if strict else 'lax'}"
    project = _project(folder, base, _plugins(order, strict))
    if strict:
        return project.built("--strict")
    BROKEN.write(folder / "data/broken")
    project.write(
        "data/broken/cells.csv", BROKEN.cells().replace(",4,", f",{TEMPLATES['expression']},")
    )
    return project.built()


@once
def first_strict(base: Path) -> Build:
    """Ours before all others, built strictly.

    The first of these sites costs most: it draws for all, and has each page in two languages.
    """
    return _built(base, "first", True)


@once
def first_lax(base: Path) -> Build:
    """The same with other delimiters and a study that has problems, not strictly."""
    return _built(base, "first", False)


@once
def last_strict(base: Path) -> Build:
    """Ours after all others, built strictly."""
    return _built(base, "last", True)


@once
def last_lax(base: Path) -> Build:
    """The same with other delimiters and a study that has problems, not strictly."""
    return _built(base, "last", False)


# --- hosts without our plugin -------------------------------------------------------------------


def _written(base: Path, name: str) -> Project:
    """A project whose pages `gridatlas build` has written, for a host with macros."""
    project = site_builds.make_project(
        base / name,
        plugins=["search", "awesome-nav", "macros"],
        markdown_extensions=["attr_list", "pymdownx.superfences", "tables"],
    )
    for study, texts in STUDIES.items():
        texts.write(project.folder / "data" / study)
    # Zensical empties its cache, and what that leads to.
    cache = site_builds.shared_cache(base) / "gridatlas"
    gridatlas(project, "--into", "docs", "--cache", str(cache))
    return project


def gridatlas(project: Project, *arguments: str) -> None:
    """Run `gridatlas build`, which must work."""
    done = run(["gridatlas", "build", *arguments], project.folder)
    assert done.returncode == 0, done.stdout


@once
def written_mkdocs(base: Path) -> Build:
    """Pages that were written, built by MkDocs."""
    return _written(base, "written-mkdocs").built("--strict")


@once
def written_zensical(base: Path) -> Build:
    """Pages that were written, built by Zensical."""
    project = _written(base, "written-zensical")
    done = run(["zensical", "build", "--clean", "--strict"], project.folder)
    assert done.returncode == 0, done.stdout
    return Build(done.returncode, done.stdout, project.folder / "site")


WRITTEN = {"mkdocs": written_mkdocs, "zensical": written_zensical}
_BUILDS = {
    "first-strict": first_strict,
    "last-strict": last_strict,
    "last-lax": last_lax,
    "first-lax": first_lax,
}
BUILDS = dict(list(_BUILDS.items())[: amount(3, 4)])
