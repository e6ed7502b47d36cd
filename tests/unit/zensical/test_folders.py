"""Watched folders: no change is lost, also not while it is looked elsewhere."""

import pytest

from gridatlas_zensical.folders import Watcher

WITHIN = 300.0
"""Seconds after which an event is lost, on however busy a machine."""


@pytest.fixture
def watched(tmp_path):
    folder = tmp_path / "data"
    (folder / "tiny").mkdir(parents=True)
    (folder / "tiny/cells.csv").write_text("0.1,1,10")
    return folder


@pytest.fixture
def watcher(watched):
    started = Watcher([watched])
    yield started
    started.end()


def test_nothing_changed_at_the_start_and_while_the_same_is_watched(watcher, watched):
    assert not watcher.wait(0)
    watcher.watch([watched])
    assert not watcher.wait(0)


def test_a_change_below_is_seen(watcher, watched):
    (watched / "tiny/cells.csv").write_text("0.1,1,20")
    assert watcher.wait(WITHIN)


def test_what_changed_while_folders_were_exchanged_is_looked_for(watcher, watched):
    watched.rename(watched.with_name("gone"))
    assert watcher.wait(WITHIN)
    watcher.watch([watched])
    assert watcher.wait(0), "what came before the folder was watched would be lost"
    watched.with_name("gone").rename(watched)
    assert watcher.wait(WITHIN)
    watcher.watch([watched])
    assert watcher.wait(0)
    (watched / "tiny/cells.csv").write_text("0.1,1,30")
    assert watcher.wait(WITHIN)
