"""What is read from the configuration of a project for Zensical."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gridatlas.hosts.sites.project import HostError, Project
from gridatlas.hosts.zensical import configuration, navigation
from gridatlas.hosts.zensical.options import Options, options_of

PLACE = ".gridatlas"
"""Folder of what is given to Zensical, which takes nothing from outside of the project."""
PAGES = (".md", ".markdown")


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
    nav: navigation.Nav | None
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
    return Settings(
        options_of(plugins.get("gridatlas"), project.config),
        docs,
        project.folder / str(content.get("site_dir") or "site"),
        str(content.get("site_url") or ""),
        "" if content.get("use_directory_urls", True) else "index.html",
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
