"""The cache between builds: texts and bytes by key, in one SQLite database per folder.

A key is a hash of all that its entry is made from, so no entry is ever out of date; those unused
for longest are deleted once the cache is too large. No build needs it: without a folder, or with
one that can't be used, builds take longer and give the same.
"""

from __future__ import annotations

import errno
import functools
import hashlib
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from weakref import finalize

from gridatlas.model.inert import get_logger

log = get_logger("gridatlas")

Content = str | bytes

FILE = "cache-1.sqlite3"
"""The database's name, with a number for the form of its tables."""
SIZE_LIMIT = 512 * 2**20
"""Bytes in all entries above which `Cache.evict` deletes those that were unused for longest."""
IN_USE = 3600
"""Seconds after its last use in which no entry is deleted: a build may still read it."""
LOCK_TIMEOUT = 5.0
"""Seconds to wait for another process that writes."""
_FRESH = 600
"""Seconds in which the time of the last use isn't written again."""
_QUICK = 1
"""Level of compression: others take several times as long for a tenth less."""
_PAGE_SIZE = 16 * 2**10
"""Bytes in a page of the database; most values have some ten thousand bytes."""

_TABLES = """
CREATE TABLE IF NOT EXISTS entries (
    key TEXT PRIMARY KEY, digest BLOB NOT NULL, used INTEGER NOT NULL, size INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS parts (
    key TEXT NOT NULL, name TEXT NOT NULL, is_text INTEGER NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (key, name)
);
"""


def cache_key(*parts: Content) -> str:
    """A SHA-256 in hexadecimal that differs as soon as one part does; parts may hold anything."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


@functools.cache
def code_digest(*names: str) -> str:
    """A hash of our sources that what is cached is made by: no entry outlives a change of them.

    Args:
        names: Packages, folders or files: `gridatlas_review`, `gridatlas/checks`,
            `gridatlas/table/items.py`. Of a folder, all modules and templates count.
    """
    digest = hashlib.sha256()
    for name in names:
        package, _, rest = name.partition("/")
        spec = find_spec(package)
        for root in (spec and spec.submodule_search_locations) or ():
            place = Path(root, rest)
            within = [*place.rglob("*.py"), *place.rglob("templates/*")]
            for file in sorted(within) if place.is_dir() else [place]:
                path = f"{package}/{file.relative_to(root).as_posix()}"
                digest.update(cache_key(path, file.read_bytes()).encode())
    return digest.hexdigest()


class Cache:
    """Entries of named parts, which several processes may read and write at once.

    An entry is there whole or not at all, whenever a process is killed.

    Args:
        folder: Where the database is, or is made; None for a cache that is always empty.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._connection = None if folder is None else _open(folder)
        self._identity = None if folder is None else _identity(folder)
        self._readable = self._writable = self._connection is not None
        if self._connection is not None:
            finalize(self, self._connection.close)

    @property
    def is_writable(self) -> bool:
        """Whether entries can be stored, as far as is known."""
        return self._writable

    def is_current(self) -> bool:
        """Whether the database is still the one in the folder."""
        return self.folder is None or _identity(self.folder) == self._identity

    def get(self, key: str) -> Mapping[str, Content] | None:
        """The parts of an entry, each read when it is asked for.

        Returns:
            None where there is no such entry, or it is damaged.
        """
        if self._connection is None or not self._readable:
            return None
        try:
            entry = self._connection.execute(
                "SELECT digest, used FROM entries WHERE key = ?", (key,)
            ).fetchone()
            if entry is None:
                return None
            names: list[str] = []
            rows = self._connection.execute(
                "SELECT name, is_text, value FROM parts WHERE key = ? ORDER BY name", (key,)
            )
            if _digest(key, rows, names) != entry[0]:
                return None
        except sqlite3.Error as error:
            self._readable = False
            self._failed(error)
            return None
        self._use(key, entry[1])
        return _Entry(self, key, frozenset(names))

    def put(self, key: str, parts: Mapping[str, Content]) -> Mapping[str, Content]:
        """Store an entry in the place of one that may be there.

        Returns:
            The entry as `get` gives it; `parts` itself where it can't be stored.
        """
        if self._connection is None or not self._writable:
            return parts
        rows = [
            (name, isinstance(content, str), _packed(content))
            for name, content in sorted(parts.items())
        ]
        entry = (key, _digest(key, rows, []), int(time.time()), sum(len(row[2]) for row in rows))
        try:
            with self._lock, self._connection as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("REPLACE INTO entries VALUES (?, ?, ?, ?)", entry)
                connection.execute("DELETE FROM parts WHERE key = ?", (key,))
                connection.executemany(
                    "INSERT INTO parts VALUES (?, ?, ?, ?)", ((key, *row) for row in rows)
                )
        except sqlite3.Error as error:
            self._failed(error)
            return parts
        return _Entry(self, key, frozenset(parts))

    def evict(self, limit: int = SIZE_LIMIT) -> None:
        """Delete the entries that were unused for longest, until the others have `limit` bytes."""
        if self._connection is None or not self._writable:
            return
        try:
            (size,) = self._connection.execute("SELECT total(size) FROM entries").fetchone()
            if size <= limit:
                return
            with self._lock, self._connection as connection:
                connection.execute("BEGIN IMMEDIATE")
                unused = connection.execute(
                    "SELECT key, size FROM entries WHERE abs(? - used) >= ? ORDER BY used",
                    (int(time.time()), IN_USE),
                ).fetchall()
                for key, freed in unused:
                    if size <= limit:
                        break
                    connection.execute("DELETE FROM entries WHERE key = ?", (key,))
                    connection.execute("DELETE FROM parts WHERE key = ?", (key,))
                    size -= freed
            # Not `execute`: that frees a single page.
            self._connection.executescript("PRAGMA incremental_vacuum")
        except sqlite3.Error as error:
            self._failed(error)

    def _use(self, key: str, used: int) -> None:
        """Write down that an entry is used now; at most every `_FRESH` seconds."""
        now = int(time.time())
        if self._connection is None or not self._writable or abs(now - used) < _FRESH:
            return
        # Where another process writes for long, the next build does this.
        with suppress(sqlite3.Error), self._lock, self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("UPDATE entries SET used = ? WHERE key = ?", (now, key))

    def _failed(self, error: sqlite3.Error) -> None:
        """Write nothing more; remove a database that is damaged, for the next build."""
        assert self.folder is not None
        if self._writable:
            _warn(self.folder, error)
        self._writable = False
        if _is_damage(error):
            _remove(self.folder)

    def read_part(self, key: str, name: str) -> Content:
        """One part of an entry that `get` or `put` gave.

        Raises:
            OSError: Where it can't be read any more.
        """
        assert self._connection is not None
        try:
            row = self._connection.execute(
                "SELECT is_text, value FROM parts WHERE key = ? AND name = ?", (key, name)
            ).fetchone()
        except sqlite3.Error as error:
            raise OSError(errno.EIO, str(error), str(self.folder)) from error
        if row is None:
            raise OSError(errno.EIO, "an entry was deleted meanwhile", str(self.folder))
        is_text, value = row
        return zlib.decompress(value).decode() if is_text else bytes(value)


class _Entry(Mapping[str, Content]):
    """The parts of an entry by their names."""

    def __init__(self, cache: Cache, key: str, names: frozenset[str]) -> None:
        self._cache, self._key, self._names = cache, key, names

    def __getitem__(self, name: str) -> Content:
        if name not in self._names:
            raise KeyError(name)
        return self._cache.read_part(self._key, name)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._names))

    def __len__(self) -> int:
        return len(self._names)


_caches: dict[tuple[int, Path | None], Cache] = {}


def open_cache(folder: Path | None, retry: bool = False) -> Cache:
    """The cache in a folder: one in each process, as long as its database is there.

    Args:
        retry: Whether to try again where it couldn't be used before.
    """
    place = (os.getpid(), folder and folder.absolute())
    cache = _caches.get(place)
    if cache is None or not cache.is_current() or (retry and not cache.is_writable):
        cache = _caches[place] = Cache(folder)
    return cache


# --- the database -------------------------------------------------------------------------------


def _open(folder: Path) -> sqlite3.Connection | None:
    """A connection to the database of a folder, made anew where it is damaged."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            return _connected(folder / FILE)
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise
            log.warning(
                "gridatlas: the cache %s is damaged (%s) and was replaced by an empty one",
                folder / FILE,
                error,
            )
            _remove(folder)
            return _connected(folder / FILE)
    except (OSError, sqlite3.Error) as error:
        _warn(folder, error)
        return None


def _connected(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        file, timeout=LOCK_TIMEOUT, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA synchronous = NORMAL")
        if not connection.execute("PRAGMA schema_version").fetchone()[0]:
            connection.execute(f"PRAGMA page_size = {_PAGE_SIZE}")
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")
    except BaseException:
        connection.close()
        raise
    return connection


def _is_damage(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without what is extended in it
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _warn(folder: Path, error: Exception) -> None:
    log.warning(
        "gridatlas: the cache %s can't be used: %s. The build continues without it and takes "
        "longer. Make its folder writable, or choose another folder",
        folder / FILE,
        error,
    )


def _remove(folder: Path) -> None:
    for end in ("", "-wal", "-shm"):
        with suppress(OSError):
            (folder / f"{FILE}{end}").unlink()


def _identity(folder: Path) -> tuple[int, int] | None:
    """Device and number of a folder's database; None where there is none."""
    try:
        status = (folder / FILE).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _packed(content: Content) -> bytes:
    """Texts in fewer bytes; bytes, which are pictures, stay as they are."""
    return zlib.compress(content.encode(), _QUICK) if isinstance(content, str) else content


def _digest(key: str, rows: Iterable[tuple[str, int, bytes]], names: list[str]) -> bytes:
    """A hash of an entry, which tells whether it is damaged; adds the names of its parts."""
    digest = hashlib.sha256(key.encode())
    for name, is_text, value in rows:
        names.append(name)
        digest.update(b"%d %d %d " % (len(name), is_text, len(value)) + name.encode())
        digest.update(value)
    return digest.digest()
