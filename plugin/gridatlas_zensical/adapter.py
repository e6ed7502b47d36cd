"""Zensical as a host (`gridatlas.hosts.sites.Host`), which is imported when it is used."""

from __future__ import annotations

from pathlib import Path

from gridatlas.hosts.sites import Project, Report

CONFIGS = ("zensical.toml", "mkdocs.yml", "mkdocs.yaml")
PACKAGES = ("zensical", "watchdog")


def build(project: Project, strict: bool | None, report: Report) -> int:
    """Build the site; 0, or 1 where it isn't built and is as it was.

    Raises:
        HostError: Where it can't be built.
    """
    from gridatlas_zensical import host

    return host.build(project, strict, report)


def serve(project: Project, address: str, report: Report) -> int:
    """Show the site until it is ended; files that change are shown without a command.

    Raises:
        HostError: Where it can't be shown.
    """
    from gridatlas_zensical import host

    return host.serve(project, address, report)


def data_of(config: Path) -> str:
    """The folder of the studies as a configuration names it.

    Raises:
        HostError: For a configuration that can't be read.
    """
    from gridatlas_zensical import configuration
    from gridatlas_zensical.settings import options_of

    plugins = configuration.get(configuration.read(config), "plugins")
    return options_of(configuration.entries(plugins).get("gridatlas"), config).data
