"""`gridatlas serve` with Zensical: what changes is on the site without a command."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

import pytest
import site_builds
from site_builds import Project, run

COMMAND = [sys.executable, "-c", "from gridatlas.cli import main; main()", "serve"]
HOME = """\
# Home

The best is {{ grid(study="tiny", model="large").best.value }}.

```grid
tiny/small
```
"""
HANGS = 300.0
"""Seconds after which what is waited for hangs, on however busy a machine."""


@dataclass
class Server:
    """A running `gridatlas serve`."""

    project: Project
    address: str
    process: subprocess.Popen[str]
    log: Path

    def page(self, path: str = "") -> str:
        """A page of the site; empty as long as there is none."""
        try:
            with urllib.request.urlopen(f"http://{self.address}/{path}", timeout=HANGS) as response:
                return str(response.read().decode())
        # Nobody answers yet, or the answer broke off: the page was put in place meanwhile.
        except (OSError, HTTPException):
            return ""

    def shows(self, what: str, path: str = "", within: float = HANGS) -> None:
        """Wait until a page has a text."""
        self._until(lambda: what in self.page(path), within, f"{what} on /{path}")

    def messages(self) -> str:
        return self.log.read_text("utf-8")

    def tells(self, what: str, within: float = HANGS) -> None:
        """Wait until a message has a text."""
        self._until(lambda: what in self.messages(), within, what)

    def _until(self, holds: Callable[[], bool], within: float, what: str) -> None:
        end = time.monotonic() + within
        while not holds():
            assert self.process.poll() is None, f"it ended\n{self.messages()}"
            assert time.monotonic() < end, f"not within {within} s: {what}\n{self.messages()}"
            time.sleep(0.05)

    def edit(self, path: str, before: str, after: str) -> None:
        file = self.project.folder / path
        text = file.read_text("utf-8")
        assert before in text
        # Whole at once: half of a file is another change.
        new = self.log.with_name("edited")
        new.write_text(text.replace(before, after), "utf-8")
        new.replace(file)


def children(process: int) -> list[int]:
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True, check=True
    )
    return [int(child) for child in found.stdout.split()]


def _free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])


@contextmanager
def _serving(project: Project) -> Iterator[Server]:
    address = f"127.0.0.1:{_free_port()}"
    log = project.folder.with_name("serve.log")
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            [*COMMAND, "--host", "zensical", "--address", address],
            cwd=project.folder,
            env=site_builds.environ(),
            stdout=output,
            stderr=output,
            text=True,
        )
        try:
            yield Server(project, address, process, log)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(HANGS)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    cache = site_builds.shared_cache(tmp_path_factory.getbasetemp())
    project = site_builds.make_project(
        tmp_path_factory.mktemp("serve") / "project", cache, {"templates": "templates"}
    )
    site_builds.add_tiny_study(project)
    project.write("docs/index.md", HOME)
    (project.folder / "templates").mkdir()
    with _serving(project) as found:
        found.shows("24.5")
        yield found


def test_an_edited_cell_is_on_its_page_and_in_pages_with_grids(server: Server) -> None:
    server.edit("data/tiny/cells.csv", "large,16,0.2,24.5", "large,16,0.2,24.6")
    server.shows("24.6", "studies/tiny/model/large/")
    server.shows('<span class="ga-number">24.6</span>')
    server.edit("data/tiny/cells.csv", "small,8,0.1,11.5", "small,8,0.1,11.9")
    server.shows("11.9")
    # What doesn't change isn't written again: neither edit moves the study's colour scale.
    small, large = (f"studies/tiny/model/{name}/index.md" for name in ("small", "large"))
    server.tells(small)
    changed = [line for line in server.messages().splitlines() if "gridatlas: changed" in line]
    assert [small in line for line in changed] == [False, True]
    assert [large in line for line in changed] == [True, False]


def test_a_page_and_a_template_and_the_configuration_are_looked_at(server: Server) -> None:
    server.edit("docs/index.md", "# Home", "# At home")
    server.shows("At home")
    server.project.write("docs/new.md", "# A new page\n")
    server.shows("A new page", "new/")
    server.shows("A new page", "")  # in the navigation
    server.project.write("templates/table.html.jinja", "<p>A table of our own</p>\n")
    server.shows("A table of our own", "studies/tiny/")
    server.edit("mkdocs.yml", '"Tiny"', '"Renamed"')
    server.shows("Renamed")


def test_a_broken_data_file_is_told_of_and_the_site_stays(server: Server) -> None:
    server.edit("data/tiny/study.yml", "title: Learning", "titel: Learning")
    server.tells("data/tiny/study.yml:2")
    server.shows("titel", "studies/tiny/")
    server.edit("data/tiny/study.yml", "titel: Learning", "title: Learning")
    server.shows("ga-number")
    server.shows("Learning rate", "studies/tiny/")


def test_a_folder_that_is_replaced_is_watched_again(server: Server) -> None:
    data = server.project.folder / "data"
    data.rename(server.project.folder / "gone")
    server.tells("data: problem [no-such-file]")
    server.shows("This grid can’t be shown.")
    (server.project.folder / "gone").rename(data)
    server.shows("Learning rate", "studies/tiny/")
    server.edit("data/tiny/cells.csv", "small,8,0.2,12.5", "small,8,0.2,12.9")
    server.shows("12.9", "studies/tiny/model/small/")


def test_a_faulty_grid_is_a_box_and_told_of_once(server: Server) -> None:
    text = (server.project.folder / "docs/index.md").read_text("utf-8")
    server.edit("docs/index.md", "tiny/small", "tiny/smal")
    server.shows("This grid can’t be shown.")
    server.tells('no grid "smal"')
    assert "index.md:6: this grid can't be shown" in server.messages()
    server.project.write("docs/index.md", text)
    server.shows("ga-figure")
    assert server.messages().count('no grid "smal"') == 1


def test_an_address_in_use_is_told_of(server: Server) -> None:
    done = run([*COMMAND, "--host", "zensical", "--address", server.address], server.project.folder)
    port = int(server.address.rpartition(":")[2])
    assert (done.returncode, done.stdout) == (
        2,
        f"Error: {server.address} can't be used: Address already in use\n"
        "  expected: a free address\n"
        "  fix:      stop the program that uses it, or choose another one: "
        f"--address 127.0.0.1:{port + 1}\n",
    )


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_with_all_that_it_started(tmp_path: Path, end: signal.Signals) -> None:
    project = site_builds.make_project(tmp_path / "project")
    with _serving(project) as server:
        server.shows("Home")
        started = children(server.process.pid)
        assert started
        server.process.send_signal(end)
        assert server.process.wait(HANGS) == 0
        for child in started:
            with pytest.raises(ProcessLookupError):
                os.kill(child, 0)
    assert not (project.folder / ".gridatlas-zensical.yml").exists()
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        tried.bind(("127.0.0.1", int(server.address.rpartition(":")[2])))
