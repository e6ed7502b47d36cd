"""The project of a site: its configuration, the host that it is for, and the adapter for that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

CONFIGS = {
    "zensical": ("zensical.toml", "mkdocs.yml", "mkdocs.yaml"),
    "properdocs": ("properdocs.yml", "properdocs.yaml", "mkdocs.yml", "mkdocs.yaml"),
    "mkdocs": ("mkdocs.yml", "mkdocs.yaml"),
}
"""The configurations that each host reads, by its name; the first that is there counts."""
ALL_CONFIGS = ("zensical.toml", "properdocs.yml", "properdocs.yaml", "mkdocs.yml", "mkdocs.yaml")
"""Those of all hosts: what only one of them reads comes first."""
_PACKAGES = {
    "zensical": "zensical watchdog",
    "properdocs": "properdocs mkdocs-material",
    "mkdocs": "mkdocs mkdocs-material",
}


class HostError(Exception):
    """Why a site can't be built or shown: what was found, what was expected, and how to fix it."""

    def __init__(self, found: str, expected: str = "", fix: str = "") -> None:
        parts = {"expected: ": expected, "fix:      ": fix}
        lines = [f"  {name}{text}" for name, text in parts.items() if text]
        super().__init__("\n".join([found, *lines]))


@dataclass(frozen=True, slots=True)
class Project:
    """What is built.

    Attributes:
        config: The configuration, with its whole path.
        host: Name of the host.
    """

    config: Path
    host: str

    @property
    def folder(self) -> Path:
        """The folder that paths of the configuration are relative to."""
        return self.config.parent


def find_project(config: Path | None, host: str | None, folder: Path = Path()) -> Project:
    """The project in a folder.

    Args:
        config: Its configuration; None for the first one that is there.
        host: Its host; None for the one that the configuration is for. A mkdocs.yml is for all
            three, and goes to the first of MkDocs, ProperDocs and Zensical that is installed.

    Raises:
        HostError: Without a configuration, or a host that is installed.
    """
    if config is None:
        names = CONFIGS[host] if host else ALL_CONFIGS
        config = next((folder / name for name in names if (folder / name).is_file()), None)
        if config is None:
            raise HostError(
                f"no site in {folder.resolve()}",
                "one of " + ", ".join(names),
                "go to the folder of the site, or begin one: gridatlas new",
            )
    if not config.is_file():
        raise HostError(
            f"{config}: no such file",
            "the configuration of a site",
            "name a mkdocs.yml or zensical.toml",
        )
    chosen = host or _host_of(config)
    if find_spec(chosen) is None:
        raise HostError(
            f"{config} is for {chosen}, which isn't installed",
            chosen,
            f"pip install {_PACKAGES[chosen]}",
        )
    return Project(config.resolve(), chosen)


def _host_of(config: Path) -> str:
    if config.suffix == ".toml":
        return "zensical"
    if config.stem == "properdocs":
        return "properdocs"
    return next(
        (host for host in ("mkdocs", "properdocs", "zensical") if find_spec(host)), "mkdocs"
    )


# --- what each host does with a whole site; the commands know no more of it ----------------------

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
    "mkdocs": "gridatlas.hosts.sites.processes",
    "properdocs": "gridatlas.hosts.sites.processes",
    "zensical": "gridatlas.hosts.zensical.host",
}
"""The module of each host; only that of the project's own is imported."""


def adapter_of(project: Project) -> Adapter:
    """The adapter for a project's host."""
    adapter: Adapter = import_module(MODULES[project.host])  # type: ignore[assignment]
    return adapter
