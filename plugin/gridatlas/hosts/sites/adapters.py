"""What each host does with a whole site; the commands know no more of it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Protocol

from gridatlas.hosts.sites.project import Project

Report = Callable[[str], None]
"""Called with what is to be read while a site is built or shown."""


class Adapter(Protocol):
    """A module for a host."""

    @staticmethod
    def build(project: Project, strict: bool, report: Report) -> int:
        """Build the site; 0 where it is built.

        Raises:
            HostError: Where it can't be built.
        """

    @staticmethod
    def serve(project: Project, address: str, report: Report) -> int:
        """Show the site until it is ended; the status of the host.

        Raises:
            HostError: Where it can't be shown.
        """


MODULES = {
    "mkdocs": "gridatlas.hosts.sites.with_plugin",
    "properdocs": "gridatlas.hosts.sites.with_plugin",
    "zensical": "gridatlas.hosts.zensical.host",
}
"""The module of each host; only that of the project's own is imported."""


def adapter_of(project: Project) -> Adapter:
    """The adapter for a project's host."""
    adapter: Adapter = import_module(MODULES[project.host])  # type: ignore[assignment]
    return adapter
