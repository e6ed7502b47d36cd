"""The configuration that Zensical is given: the user's, with what the plugin adds on MkDocs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from gridatlas.hosts.sites.project import Project
from gridatlas.hosts.zensical import configuration, navigation
from gridatlas.hosts.zensical.settings import PAGES, PLACE, Settings
from gridatlas.model.addresses import SCRIPT, STYLESHEET
from gridatlas.pages.plan import PagePlan


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


def _nav(settings: Settings, plans: Sequence[PagePlan], files: Collection[str]) -> navigation.Nav:
    pages = {path for path in files if path.endswith(PAGES)}
    nav = settings.nav or navigation.of_files(pages)
    existing = pages | {plan.path for plan in plans}
    # What other plugins make pages of, such as notebooks, is no page here.
    gone = {
        path
        for path in navigation.paths(nav)
        if path not in existing and "://" not in path and not path.startswith(("/", "#"))
    }
    return navigation.with_pages(navigation.without(nav, gone), plans, settings.options.into)


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
