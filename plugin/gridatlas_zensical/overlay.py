"""The configuration that Zensical is given: the user's, with what the plugin adds on MkDocs."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from html import escape
from pathlib import Path
from typing import Any

import yaml

from gridatlas.hosts.sites import Project
from gridatlas.model.addresses import SCRIPT, STYLESHEET
from gridatlas.model.inert import inert
from gridatlas.pages.plan import PagePlan
from gridatlas_zensical import configuration
from gridatlas_zensical.settings import PAGES, PLACE, Settings

Nav = list[Any]
"""Entries as in mkdocs.yml: a path, or a title with a path or with entries."""


def overlay(
    project: Project, settings: Settings, plans: Sequence[PagePlan], files: Collection[str]
) -> str:
    """The text of the configuration.

    Args:
        plans: Those of our pages, in their order.
        files: The paths of the user's files below the docs folder.

    Raises:
        HostError: Where the user's configuration can't be read.
    """
    top = configuration.read(project.config)
    edit = _edit_uri(configuration.values(top), settings.docs, project.folder)
    if edit:
        configuration.put(top, "edit_uri", edit)
    configuration.put(top, "docs_dir", f"{PLACE}/docs")
    configuration.put(top, "site_dir", f"{PLACE}/site")
    if settings.site_url:
        configuration.put(top, "site_url", settings.site_url)
    if project.flat:
        configuration.put(top, "use_directory_urls", False)
    _append(top, "extra_css", [STYLESHEET])
    _append(top, "extra_javascript", [{"path": SCRIPT, "defer": True}])
    theme = configuration.get(top, "theme")
    if not isinstance(theme, yaml.MappingNode):
        theme = configuration.mapping({"name": configuration.values(theme) or "material"})
        configuration.put(top, "theme", theme)
    configuration.put(theme, "custom_dir", f"{PLACE}/theme")
    _add_extension(top, settings)
    if not settings.has_own_nav:
        configuration.put(top, "nav", _nav(settings, plans, files))
    return configuration.text(top)


def _nav(settings: Settings, plans: Sequence[PagePlan], files: Collection[str]) -> Nav:
    pages = {path for path in files if path.endswith(PAGES)}
    nav = settings.nav or nav_of_files(pages)
    existing = pages | {plan.path for plan in plans}
    # What other plugins make pages of, such as notebooks, is no page here.
    gone = {
        path
        for path in nav_paths(nav)
        if path not in existing and "://" not in path and not path.startswith(("/", "#"))
    }
    return nav_with_pages(nav_without(nav, gone), plans, settings.options.into)


def _append(top: yaml.MappingNode, key: str, more: list[Any]) -> None:
    node = configuration.get(top, key)
    if isinstance(node, yaml.SequenceNode):
        node.value += configuration.nodes(more).value
    else:
        configuration.put(top, key, more)


def _edit_uri(content: Mapping[str, Any], docs: Path, root: Path) -> str:
    """Where pages are edited, which hosts otherwise take from the name of the docs folder."""
    if content.get("edit_uri") is not None or content.get("edit_uri_template"):
        return ""
    repository = str(content.get("repo_url") or "")
    for site, way in {
        "github.com": "edit/master",
        "gitlab.com": "edit/master",
        "bitbucket.org": "src/default",
    }.items():
        if f"//{site}/" in repository and docs.is_relative_to(root):
            return f"{way}/{docs.relative_to(root).as_posix()}/"
    return ""


def _add_extension(top: yaml.MappingNode, settings: Settings) -> None:
    """Name our Markdown extension; a configuration without any has those that Zensical takes."""
    options = settings.options
    ours = {
        "data": options.data,
        "cache": options.cache,
        "downloads": True,
        "into": options.into,
        "templates": options.templates,
        "limits": dict(options.limits),
        "faults": f"{PLACE}/faults",
    }
    node = configuration.get(top, "markdown_extensions")
    if node is None:
        import zensical.config

        defaults = zensical.config.DEFAULT_MARKDOWN_EXTENSIONS
        configuration.put(top, "markdown_extensions", _named(defaults) | {"gridatlas": ours})
    elif isinstance(node, yaml.MappingNode):
        configuration.put(node, "gridatlas", ours)
    elif isinstance(node, yaml.SequenceNode):
        node.value = [
            entry
            for entry in node.value
            if "gridatlas" not in configuration.entries(yaml.SequenceNode(node.tag, [entry]))
        ]
        node.value += configuration.nodes([{"gridatlas": ours}]).value
    else:
        configuration.put(top, "markdown_extensions", [{"gridatlas": ours}])


def _named(value: Any) -> Any:
    """Options with the names of functions in their place, as Zensical reads them from TOML."""
    if isinstance(value, dict):
        return {key: _named(below) for key, below in value.items()}
    if isinstance(value, list):
        return [_named(below) for below in value]
    return f"{value.__module__}.{value.__qualname__}" if callable(value) else value


# --- the entries of its `nav` --------------------------------------------------------------------


def nav_with_pages(nav: Nav, plans: Iterable[PagePlan], into: str) -> Nav:
    """Entries with our pages, in sections by study and facet.

    They follow the page of all studies where the user placed it in a section, else they are last.

    Args:
        nav: The entries of the user's; they stay as they are.
        into: Folder of the pages of all studies.
    """
    result = deepcopy(nav)
    placed = set(nav_paths(result))
    sections: dict[str, Nav] = {}
    home = _section_with(result, f"{into}/index.md")
    if home is not None:
        sections[into] = home
    for plan in plans:
        if plan.path in placed:
            continue
        entries = result
        for folder, title in zip(plan.trail_folders, plan.trail, strict=True):
            if folder not in sections:
                sections[folder] = []
                entries.append({_html(title): sections[folder]})
            entries = sections[folder]
        entries.append({_html(plan.nav_title): plan.path})
    return result


def _html(title: str) -> str:
    # Hosts put it into pages as HTML.
    return inert(escape(title))


def nav_paths(nav: Nav) -> Iterator[str]:
    """The paths of all entries."""
    for entry in nav:
        for below in entry.values() if isinstance(entry, dict) else [entry]:
            if isinstance(below, list):
                yield from nav_paths(below)
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


def nav_without(nav: Nav, gone: Collection[str]) -> Nav:
    """Entries without some pages, and without the sections that are empty then."""
    result: Nav = []
    for entry in nav:
        if not isinstance(entry, dict):
            result += [] if entry in gone else [entry]
            continue
        for title, below in entry.items():
            if isinstance(below, list):
                rest = nav_without(below, gone)
                result += [{title: rest}] if rest else []
            elif below not in gone:
                result.append({title: below})
    return result


def nav_of_files(pages: Iterable[str]) -> Nav:
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
