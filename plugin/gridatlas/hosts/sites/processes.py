"""Hosts as processes; those that run the plugin, which does all, need no more."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from gridatlas.hosts.sites.project import HostError, Project, Report

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


def build(project: Project, strict: bool, report: Report) -> int:
    """Build the site; the host's status."""
    more = ["--strict"] if strict else []
    arguments = ["build", "--config-file", str(project.config), *more]
    return run(project.host, arguments, project.folder)


def serve(project: Project, address: str, report: Report) -> int:
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
