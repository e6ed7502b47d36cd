"""A running `mkdocs serve` of a project."""

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

import pytest
import site_builds
from bs4 import BeautifulSoup
from site_builds import Project

PATIENCE = 300
"""Seconds after which what was edited won't be on the page, on however busy a machine."""


@dataclass
class Served:
    """A running server of a project."""

    project: Project
    home: str
    process: subprocess.Popen[bytes]
    log: Path

    def page(self, address: str) -> BeautifulSoup | None:
        """The page as it is now; None while there is no server."""
        try:
            with urlopen(self.home + address, timeout=60) as answer:
                return BeautifulSoup(answer.read().decode("utf-8"), "html.parser")
        # Nobody answers, or not yet, or there is no such page, or the answer broke off.
        except (OSError, HTTPException):
            return None

    def wait(self, address: str, shows: Callable[[BeautifulSoup], bool]) -> BeautifulSoup:
        """The page, as soon as it shows what is looked for."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            assert self.process.poll() is None, f"the server ended\n{self.log.read_text()}"
            page = self.page(address)
            if page is not None and shows(page):
                return page
            time.sleep(0.1)
        pytest.fail(f"{address} didn't change in {PATIENCE} s\n{self.log.read_text()}")

    def edit(self, path: str, before: str, after: str) -> None:
        file = self.project.folder / path
        text = file.read_text(encoding="utf-8")
        assert before in text
        file.write_text(text.replace(before, after), encoding="utf-8")


@contextlib.contextmanager
def served(project: Project, log: Path) -> Iterator[Served]:
    """A server of a project, once it answers.

    Args:
        log: File for what the server says.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "mkdocs", "serve", "--dev-addr", address],
            cwd=project.folder,
            env=site_builds.environ(),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            running = Served(project, f"http://{address}/", process, log)
            running.wait("studies/", lambda page: True)
            yield running
        finally:
            process.terminate()
            process.wait(PATIENCE)
