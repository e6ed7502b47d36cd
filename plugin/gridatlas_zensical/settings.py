"""What is read from the configuration of a project for Zensical, the plugin's options among it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from gridatlas.hosts.sites import HostError, Project
from gridatlas.model.addresses import is_below
from gridatlas.model.limits import limits_of
from gridatlas.model.problems import join_names, nearest, quote
from gridatlas_zensical import configuration

PLACE = ".gridatlas"
"""Folder of what is given to Zensical, which takes nothing from outside of the project."""
PAGES = (".md", ".markdown")


@dataclass(frozen=True, slots=True)
class Options:
    """What stands at `gridatlas` in the plugins of a configuration; paths are below its folder.

    Their meaning is that of `GridAtlasConfig`.
    """

    data: str = "data"
    into: str = "studies"
    templates: str = ""
    cache: str = ".cache/gridatlas"
    strict: bool = False
    csp: bool = False
    prune_nav: bool = False
    compare_to: str = ""
    limits: Mapping[str, int] = field(default_factory=dict)


def options_of(given: Any, config: Path) -> Options:
    """The options as a configuration gives them.

    Raises:
        HostError: For an option that there isn't, or a value of another kind.
    """
    if given is None:
        return Options()
    place = f"{config}, the plugin gridatlas"
    if not isinstance(given, dict):
        raise HostError(f"{place}: no options", "keys such as data", "write the options as keys")
    by_name = {field.name: field for field in fields(Options)}
    for name, value in given.items():
        if name not in by_name:
            near = nearest(str(name), by_name)
            raise HostError(
                f"{place}: no option {quote(str(name))}",
                f"one of {join_names(by_name)}",
                f"write {near} in its place" if near else "remove it",
            )
        kind = type(getattr(Options(), name))
        if value is not None and not isinstance(value, kind):
            expected = {bool: "true or false", dict: "names with numbers"}.get(kind, "a text")
            raise HostError(f"{place}: {name} is {value!r}", expected, "correct it")
    options = Options(**{name: value for name, value in given.items() if value is not None})
    try:
        limits_of(options.limits)
    except ValueError as error:
        raise HostError(
            f"{place}: limits: {error}", "limits that there are", "correct it"
        ) from None
    if not is_below(options.into):
        raise HostError(
            f"{place}: into is {quote(options.into)}", "a folder of the site", "write studies"
        )
    return options


@dataclass(frozen=True, slots=True)
class Settings:
    """What is read from the user's configuration.

    Attributes:
        nav: Its entries; None where there are none.
        ending: What the address of a page has in the place of `index.md`.
        left_out: Names of the plugins that Zensical doesn't have.
    """

    options: Options
    docs: Path
    site: Path
    site_url: str
    ending: str
    strict: bool
    custom: Path | None
    nav: list[Any] | None
    has_own_nav: bool
    left_out: tuple[str, ...]


def settings_of(project: Project) -> Settings:
    """The settings of a project.

    Raises:
        HostError: For a configuration that can't be read, and where it names what isn't there.
    """
    top = configuration.read(project.config)
    content = configuration.values(top)
    plugins = configuration.entries(configuration.get(top, "plugins"))
    given = content.get("theme")
    folder = given.get("custom_dir") if isinstance(given, dict) else None
    docs = project.folder / str(content.get("docs_dir") or "docs")
    if not docs.is_dir():
        raise HostError(
            f"{project.config}: no folder {docs}", "a folder with pages", "make it, or name it"
        )
    options = options_of(plugins.get("gridatlas"), project.config)
    compare_to = os.environ.get("GRIDATLAS_COMPARE_TO") or options.compare_to
    csp = options.csp and os.environ.get("GRIDATLAS_CSP") != "false"
    return Settings(
        replace(options, compare_to=compare_to, csp=csp),
        docs,
        project.site or project.folder / str(content.get("site_dir") or "site"),
        str(content.get("site_url") or os.environ.get("GRIDATLAS_SITE_URL") or ""),
        "" if content.get("use_directory_urls", True) and not project.flat else "index.html",
        bool(content.get("strict")),
        project.folder / folder if folder else None,
        content.get("nav") or None,
        "awesome-nav" in plugins,
        tuple(name for name in plugins if name != "gridatlas" and not _is_known(name)),
    )


def _is_known(plugin: str) -> bool:
    """Whether Zensical does what a plugin does; where it can't be asked, it is told of none."""
    import zensical.config

    supported = getattr(zensical.config, "_PLUGIN_UNSUPPORTED_OPTIONS", None)
    name = plugin.removeprefix("material/")
    return supported is None or bool({name, name.partition("/")[0]} & {*supported})
