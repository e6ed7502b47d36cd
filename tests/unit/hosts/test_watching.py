"""What MkDocs's server doesn't see is told to it."""

import os
import time
from pathlib import Path

import pytest

from gridatlas.hosts.mkdocs import watching
from gridatlas.hosts.mkdocs.watching import Watching


class Server:
    """Keeps what it shall watch."""

    def __init__(self):
        self.watched: list[str] = []
        self.running: Watching

    def watch(self, path):
        if not Path(path).exists():
            raise FileNotFoundError(path)
        self.watched.append(path)

    def unwatch(self, path):
        self.watched.remove(path)

    @property
    def rebuilds(self):
        """How often it was told to build again."""
        return len(list(Path(self.watched[0]).iterdir()))


@pytest.fixture
def running(server):
    return server.running


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "EVERY", 0.01)
    (tmp_path / "data/tiny").mkdir(parents=True)
    server = Server()
    server.running = running = Watching(server, [tmp_path / "data", tmp_path / "absent"])
    server.watch(str(tmp_path / "data"))
    yield server
    running.end()
    assert not Path(server.watched[0]).exists()


def _until_told(server, times):
    end = time.monotonic() + 300
    while server.rebuilds < times:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_folder_that_goes_and_comes(server, tmp_path):
    data = tmp_path / "data"
    data.rename(tmp_path / "away")
    _until_told(server, 1)
    assert str(data) not in server.watched
    (tmp_path / "away").rename(data)
    _until_told(server, 2)
    assert server.watched.count(str(data)) == 1
    (tmp_path / "absent").mkdir()
    _until_told(server, 3)
    assert server.watched.count(str(tmp_path / "absent")) == 1


def test_a_file_in_the_place_of_a_folder(server, tmp_path):
    study = tmp_path / "data/tiny"
    study.rmdir()
    study.write_text("a file")
    _until_told(server, 1)
    # What the server's own watcher sees isn't told twice.
    (tmp_path / "data/other").mkdir()
    (tmp_path / "data/cells.csv").write_text("x")
    study.write_text("another text")
    study.unlink()
    study.mkdir()
    _until_told(server, 2)
    assert server.rebuilds == 2


def test_an_edit_that_keeps_size_and_time(server, running, tmp_path):
    data = tmp_path / "data"
    for number, path in enumerate(["tiny/cells.csv", "tiny/runs/r.json"], 1):
        file = data / path
        file.parent.mkdir(exist_ok=True)
        file.write_text("0.1,1,10")
        while str(file) not in running._states[data][1]:
            time.sleep(0.01)
        about = file.stat()
        file.write_text("0.1,1,20")
        os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
        _until_told(server, number)
    # What the server's own watcher sees isn't told twice.
    file.write_text("0.1,1,300")
    time.sleep(0.1)
    assert server.rebuilds == 2


def test_what_a_build_missed_and_nobody_else(server, running, tmp_path):
    changed, gone = tmp_path / "data/tiny", tmp_path / "data/gone"
    # It was away for a moment, in which a build was.
    running.missed([changed, gone])
    _until_told(server, 1)
    # A build that goes on missing what is there isn't made again and again.
    running.missed([changed, gone])
    gone.write_text("x")
    _until_told(server, 2)
    time.sleep(0.1)
    assert server.rebuilds == 2
