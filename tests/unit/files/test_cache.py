"""The cache: whole, bounded, shared by processes, and never a reason for a build to fail."""

import logging
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gridatlas.files import cache as module
from gridatlas.files.cache import FILE, IN_USE, Cache, cache_key, open_cache

PARTS = {"a/ü.svg": "<svg>−</svg>" * 100, "b.png": b"\x00\xff", "empty": ""}


def _stored(folder, key):
    """An entry as another process finds it."""
    entry = Cache(folder).get(key)
    return None if entry is None else dict(entry)


def _execute(folder, *statement):
    with sqlite3.connect(folder / FILE) as connection:
        found = connection.execute(*statement).fetchall()  # type: ignore[arg-type]
    connection.close()
    return found


# --- entries ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parts",
    [
        PARTS,
        {},
        {"one": b""},
        {str(number): os.urandom(50_000) for number in range(20)},
        {"text": "one\ntwo\x00\n", "long": "ä" * 1_000_000},
    ],
    ids=["texts and bytes", "nothing", "no bytes", "many", "long"],
)
def test_an_entry_comes_back_as_it_was(tmp_path, parts):
    cache = Cache(tmp_path / "new" / "folder")
    assert cache.get("key") is None
    assert dict(cache.put("key", parts)) == parts
    entry = cache.get("key")
    assert entry is not None
    assert dict(entry) == parts
    assert (len(entry), list(entry)) == (len(parts), sorted(parts))
    assert "other" not in entry
    with pytest.raises(KeyError):
        entry["other"]
    assert _stored(tmp_path / "new" / "folder", "key") == parts
    assert cache.get("another") is None


def test_the_later_entry_of_a_key_counts(tmp_path):
    cache = Cache(tmp_path)
    cache.put("key", {"a": "1", "b": "1"})
    cache.put("key", {"a": "2"})
    assert _stored(tmp_path, "key") == {"a": "2"}


def test_texts_are_compressed(tmp_path):
    cache = Cache(tmp_path)
    cache.put("key", {"text": "all the same " * 10_000, "picture": bytes(1000)})
    assert dict(_execute(tmp_path, "SELECT name, length(value) < 1000 FROM parts")) == {
        "text": 1, "picture": 0,
    }  # fmt: skip


def test_without_a_folder_nothing_is_stored():
    cache = Cache(None)
    assert cache.put("key", PARTS) is PARTS
    assert cache.get("key") is None
    cache.evict(0)


def test_another_key_differs_whatever_the_parts_are():
    parts = [("a", "b"), ("ab",), ("a", b"b", ""), ("", "ab"), ("1:a", "b"), ()]
    assert len({cache_key(*part) for part in parts}) == len(parts)
    assert cache_key("ä") == cache_key("ä".encode())


def test_a_process_opens_a_database_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cache = open_cache(Path("cache"))
    assert open_cache(tmp_path / "cache") is cache
    cache.put("key", PARTS)
    (tmp_path / "cache" / FILE).unlink()
    again = open_cache(tmp_path / "cache")
    assert again is not cache
    assert again.get("key") is None


# --- eviction -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "left"), [(10_000, "abcd"), (4000, "abcd"), (3999, "acd"), (2000, "ad"), (0, "d")]
)
def test_what_was_unused_for_longest_goes_first(tmp_path, limit, left):
    cache = Cache(tmp_path)
    now = int(time.time())
    for key, hours in {"a": 2, "b": 5, "c": 4, "d": 9}.items():
        cache.put(key, {"": bytes(1000)})
        _execute(tmp_path, "UPDATE entries SET used = ? WHERE key = ?", (now - hours * 3600, key))
    assert cache.get("d") is not None  # It is used now.
    cache.evict(limit)
    assert "".join(str(key) for (key,) in _execute(tmp_path, "SELECT key FROM entries")) == left
    assert _execute(tmp_path, "SELECT DISTINCT key FROM parts") == [(key,) for key in left]


def test_what_a_build_may_still_read_stays(tmp_path):
    cache = Cache(tmp_path)
    now = int(time.time())
    for key, used in {"new": now, "old": now - IN_USE - 1, "later": now + 9 * IN_USE}.items():
        cache.put(key, {"": bytes(1000)})
        _execute(tmp_path, "UPDATE entries SET used = ? WHERE key = ?", (used, key))
    cache.evict(0)
    # A clock that was set back is no reason to keep an entry for ever.
    assert _execute(tmp_path, "SELECT key FROM entries") == [("new",)]


def test_the_file_shrinks(tmp_path):
    cache = Cache(tmp_path)
    for key in "abcdefgh":
        cache.put(key, {"": os.urandom(1_000_000)})
    _execute(tmp_path, "UPDATE entries SET used = 0")
    cache.evict(1_500_000)
    del cache
    assert 1_000_000 < (tmp_path / FILE).stat().st_size < 2_000_000
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


# --- processes ----------------------------------------------------------------------------------

WRITE = """
import sys, time
from pathlib import Path
from gridatlas.files.cache import Cache
cache = Cache(Path(sys.argv[1]))
print("ready", flush=True)
for number in range(int(sys.argv[2])):
    parts = {str(part): f"{number} {part} " * 2000 for part in range(5)} | {"png": bytes(40_000)}
    assert cache.put(f"{number % 50}", parts) is not parts
    entry = cache.get(f"{(number + 7) % 50}")
    assert entry is None or len(dict(entry)) == 6
"""


def _writer(folder, number):
    return subprocess.Popen(
        [sys.executable, "-c", WRITE, str(folder), str(number)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _assert_whole(folder):
    """All entries can be read; gives their number."""
    assert _execute(folder, "PRAGMA integrity_check") == [("ok",)]
    keys = [str(key) for (key,) in _execute(folder, "SELECT key FROM entries")]
    for key in keys:
        entry = _stored(folder, key)
        assert entry is not None
        assert len(entry) == 6
        number = str(entry["0"]).partition(" ")[0]
        assert int(number) % 50 == int(key)
        assert {entry[str(part)] for part in range(5)} == {
            f"{number} {part} " * 2000 for part in range(5)
        }
    return len(keys)


def test_processes_write_at_once(tmp_path):
    writers = [_writer(tmp_path, 200) for _ in range(3)]
    for writer in writers:
        _, output = writer.communicate(timeout=600)
        assert (writer.returncode, output) == (0, "")
    assert _assert_whole(tmp_path) == 50
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.05, 0.1, 0.3])
def test_a_kill_leaves_entries_whole(tmp_path, seconds):
    for _ in range(2):  # The second one begins with what the first one left.
        writer = _writer(tmp_path, 1_000_000)
        assert writer.stdout.readline() == "ready\n"
        time.sleep(seconds)
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        _assert_whole(tmp_path)
    Cache(tmp_path).put("key", PARTS)
    assert _stored(tmp_path, "key") == PARTS


def test_a_write_that_gets_no_lock_is_skipped(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(module, "LOCK_TIMEOUT", 0.1)
    Cache(tmp_path).put("old", PARTS)
    cache = Cache(tmp_path)
    other = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert cache.put("key", PARTS) is PARTS
    assert cache._connection is not None
    asked = []
    cache._connection.set_trace_callback(asked.append)
    assert cache.put("another", PARTS) is PARTS
    assert asked == [], "only the first one waits"
    assert dict(cache.get("old") or {}) == PARTS
    other.execute("ROLLBACK")
    other.close()
    assert _warnings(caplog, tmp_path) == ["database is locked"]
    assert open_cache(tmp_path, retry=True).put("key", PARTS) is not PARTS


def _warnings(caplog, folder):
    """Why the cache can't be used, as it was logged."""
    start = f"gridatlas: the cache {folder / FILE} can't be used: "
    end = (
        ". The build continues without it and takes longer. Make its folder writable, or choose "
        "another folder"
    )
    lines = [record.getMessage() for record in caplog.records]
    assert all(line.startswith(start) and line.endswith(end) for line in lines)
    assert all(record.levelno == logging.WARNING for record in caplog.records)
    return [line.removeprefix(start).removesuffix(end) for line in lines]


# --- what can't be used -------------------------------------------------------------------------


def _truncated(file):
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _zeroed(file):
    content = file.read_bytes()
    file.write_bytes(content[:100] + bytes(len(content) - 100))


DAMAGE = {
    "empty": lambda file: file.write_bytes(b""),
    "text": lambda file: file.write_text("no database" * 1000),
    "header": lambda file: file.write_bytes(b"X" + file.read_bytes()[1:]),
    "half": _truncated,
    "zeros": _zeroed,
    "gone": lambda file: file.unlink(),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_database_is_begun_anew(tmp_path, kind, caplog):
    cache = Cache(tmp_path)
    for key in "abcdefgh":
        cache.put(key, {"": os.urandom(100_000)})
    del cache
    DAMAGE[kind](tmp_path / FILE)
    damaged = Cache(tmp_path)
    for key in "abcdefgh":
        damaged.get(key)
        damaged.put(key, PARTS)
        damaged.get(key)
    damaged.evict(0)
    assert len(caplog.records) <= 1
    # At the latest the next build has a cache again.
    again = Cache(tmp_path)
    again.put("key", PARTS)
    assert _stored(tmp_path, "key") == PARTS
    assert len(caplog.records) <= 1


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE parts SET value = x'00' WHERE name = 'b.png'",
        "UPDATE parts SET name = 'c.png' WHERE name = 'b.png'",
        "UPDATE parts SET is_text = 1 WHERE name = 'b.png'",
        "UPDATE parts SET key = 'other' WHERE name = 'b.png'",
        "DELETE FROM parts WHERE name = 'empty'",
        "INSERT INTO parts VALUES ('key', 'more', 0, x'00')",
        "UPDATE entries SET digest = x'00'",
    ],
)
def test_an_entry_that_was_changed_is_none(tmp_path, change):
    Cache(tmp_path).put("key", PARTS)
    assert _stored(tmp_path, "key") == PARTS
    _execute(tmp_path, change)
    assert _stored(tmp_path, "key") is None
    Cache(tmp_path).put("key", PARTS)
    assert _stored(tmp_path, "key") == PARTS


def _in_the_way(folder):
    folder.write_text("a file in the place of the folder")


def _folder_in_the_way(folder):
    (folder / FILE).mkdir(parents=True)


def _other_tables(folder):
    folder.mkdir()
    _execute(folder, "CREATE TABLE entries (other TEXT)")


@pytest.mark.parametrize(
    ("prepare", "found"),
    [
        (_in_the_way, "[Errno 17] File exists: '{folder}'"),
        (_folder_in_the_way, "unable to open database file"),
        (_other_tables, "no such column: digest"),
    ],
    ids=["a file for the folder", "a folder for the file", "a database of others"],
)
def test_a_cache_that_cannot_be_used_is_logged_once(tmp_path, prepare, found, caplog):
    folder = tmp_path / "cache"
    prepare(folder)
    for _ in range(3):
        cache = open_cache(folder)
        assert cache.get("key") is None
        assert cache.put("key", PARTS) is PARTS
        cache.evict(0)
    assert not cache.is_writable
    assert _warnings(caplog, folder) == [found.format(folder=folder)]


def test_a_full_disk_is_logged_once(tmp_path, caplog):
    cache = Cache(tmp_path)
    cache.put("key", PARTS)
    cache._connection.execute("PRAGMA max_page_count = 10").fetchall()
    large = {"": os.urandom(10_000_000)}
    for key in "abc":
        assert cache.put(key, large) is large
    assert dict(cache.get("key") or {}) == PARTS
    assert _warnings(caplog, tmp_path) == ["database or disk is full"]


def test_what_is_gone_when_it_is_read_is_an_error_that_names_the_folder(tmp_path):
    entry = Cache(tmp_path).put("key", PARTS)
    _execute(tmp_path, "DELETE FROM parts")
    with pytest.raises(OSError, match="an entry was deleted meanwhile") as error:
        entry["b.png"]
    assert error.value.filename == str(tmp_path)
