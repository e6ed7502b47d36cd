"""Whole sites: the project and its host, what each host does, and hosts as processes.

MkDocs and ProperDocs run the plugin, which does all: they are adapted here. Other hosts are brought
by the entry points `gridatlas.hosts`.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from gridatlas import registry
from gridatlas.hosts.mkdocs_config import data_folder


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
        site: Where it is built to; None for where the configuration says.
        flat: Whether its pages are files that open from the disk.
    """

    config: Path
    host: str
    site: Path | None = None
    flat: bool = False

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
        names = host_named(host).CONFIGS if host else _all_configs()
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
            f"pip install {' '.join(host_named(chosen).PACKAGES)}",
        )
    return Project(config.resolve(), chosen)


def _host_of(config: Path) -> str:
    """The first host that is installed, of those that read files of this name, or of this form."""
    configs = {name: host.CONFIGS for name, host in all_hosts().items()}
    of_name = [host for host, names in configs.items() if config.name in names]
    of_form = [
        host
        for host, names in configs.items()
        if config.suffix in {Path(name).suffix for name in names}
    ]
    candidates = of_name or of_form or [*configs]
    return next((host for host in candidates if find_spec(host)), candidates[0])


def _all_configs() -> list[str]:
    """The configurations of all hosts: what only one of them reads comes first."""
    hosts = [host.CONFIGS for host in all_hosts().values()]
    readers = Counter(name for names in reversed(hosts) for name in names)
    return sorted(readers, key=readers.__getitem__)


# --- what each host does with a whole site; the commands know no more of it ----------------------

Report = Callable[[str], None]
"""Called with what is to be read while a site is built or shown."""


class Host(Protocol):
    """A host: a module of its own, or an object. Its name is that of its Python module."""

    @property
    def CONFIGS(self) -> tuple[str, ...]:
        """Names of the configurations that it reads; the first that is there counts."""

    @property
    def PACKAGES(self) -> tuple[str, ...]:
        """What is installed for it."""

    def build(self, project: Project, strict: bool | None, report: Report) -> int:
        """Build the site; 0 where it is built. Where `strict` is None, the configuration says it.

        Raises:
            HostError: Where it can't be built.
        """

    def serve(self, project: Project, address: str, report: Report) -> int:
        """Show the site until it is ended; the status of the host.

        Raises:
            HostError: Where it can't be shown.
        """

    def data_of(self, config: Path) -> str:
        """The folder of the studies as a configuration names it.

        Raises:
            HostError: For a configuration that can't be read.
        """


def host_names() -> tuple[str, ...]:
    """The names of all hosts, in order."""
    return tuple(registry.found(registry.HOSTS))


def host_named(name: str) -> Host:
    """A host.

    Raises:
        HostError: Where no installed package brings it, or several do.
    """
    try:
        host: Host = registry.load(registry.HOSTS, name)
    except registry.Unusable as error:
        raise HostError(str(error)) from error
    return host


def all_hosts() -> dict[str, Host]:
    """The hosts by their names, but for those whose package isn't there.

    Raises:
        HostError: Where several packages bring the same.
    """
    found = {}
    for name in host_names():
        try:
            found[name] = host_named(name)
        except HostError as error:
            if not isinstance(error.__cause__, registry.NotBrought):
                raise
    return found


ENDS_WITHIN = 5.0
"""Seconds that a host has to end by itself."""
_QUIET = {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
"""Notices on each build, about a MkDocs that isn't used."""


def run(module: str, arguments: Sequence[str], folder: Path) -> int:
    """Run a host to its end; its status."""
    with running(module, arguments, folder) as process:
        return process.wait()


@contextmanager
def running(
    module: str, arguments: Sequence[str], folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A host that runs; at the end of the block it is gone, and all that it has started.

    Ctrl-C and a signal to end come as `KeyboardInterrupt`: the host is in a group of its own, so
    that it ends when its time has come and not in the middle of what it is given.
    """
    before = signal.signal(signal.SIGTERM, _interrupt)
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        env={**_QUIET, **os.environ},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        signal.signal(signal.SIGTERM, before)
        _end(process)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _end(process: subprocess.Popen[bytes]) -> None:
    # Of a host that has ended, what it started may still run.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(ENDS_WITHIN)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def require_free(address: str) -> None:
    """Make sure that nobody else has an address such as `127.0.0.1:8000`.

    Raises:
        HostError: Where somebody has, or it is no address.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 2**16:
        raise HostError(
            f"the address {address}", "host:port, such as 127.0.0.1:8000", "correct --address"
        )
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as tried:
        # As servers do: a port whose last server has just ended is free.
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host.strip("[]"), int(port)))
        except OSError as error:
            other = f"{host}:{int(port) % 65535 + 1}"
            raise HostError(
                f"{address} can't be used: {error.strerror or error}",
                "a free address",
                f"stop the program that uses it, or choose another one: --address {other}",
            ) from error


# --- MkDocs and ProperDocs -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PluginHost:
    """A host that runs the plugin; see `Host`."""

    CONFIGS: tuple[str, ...]
    PACKAGES: tuple[str, ...]

    def build(self, project: Project, strict: bool | None, report: Report) -> int:
        """Build the site; the host's status."""
        more = [] if strict is None else ["--strict" if strict else "--no-strict"]
        more += ["--site-dir", str(project.site)] if project.site else []
        more += ["--no-directory-urls"] if project.flat else []
        arguments = ["build", "--config-file", str(project.config), *more]
        return run(project.host, arguments, project.folder)

    def serve(self, project: Project, address: str, report: Report) -> int:
        """Show the site until it is ended; the host's status.

        Raises:
            HostError: For an address that something else uses.
        """
        require_free(address)
        arguments = ["serve", "--config-file", str(project.config), "--dev-addr", address]
        try:
            return run(project.host, arguments, project.folder)
        except KeyboardInterrupt:
            return 0

    def data_of(self, config: Path) -> str:
        """The folder of the studies; raises `CannotAdd` for a configuration that isn't YAML."""
        return data_folder(config.read_text("utf-8"))


_MKDOCS = ("mkdocs.yml", "mkdocs.yaml")
MKDOCS = PluginHost(_MKDOCS, ("mkdocs", "mkdocs-material"))
PROPERDOCS = PluginHost(
    ("properdocs.yml", "properdocs.yaml", *_MKDOCS), ("properdocs", "mkdocs-material")
)
