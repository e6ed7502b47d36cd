"""Whether the files of a study are those that it was read from, and a hash of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from gridatlas.data.reader import STUDY_FILE
from gridatlas.data.runs import FOLDER as RUNS
from gridatlas.data.runs import PARQUET
from gridatlas.files.cache import cache_key
from gridatlas.files.door import read_file
from gridatlas.model.limits import NotRead
from gridatlas.model.study import Study

FileSignatures = Mapping[Path, tuple[int, ...]]
"""Of each file its inode, size and times: they differ once it was written to."""


def file_signatures(data: Path) -> FileSignatures:
    """The signatures of all files in a data folder, taken before they are read."""
    return {path: found for path in data.rglob("*") if (found := _signature(path))}


def _signature(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return ()
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def files_digest(folder: Path, study: Study, before: FileSignatures) -> str | None:
    """A SHA-256 of the files that a study was read from.

    None where one was written to since, or can't be read: the study may be of either content.

    Args:
        folder: The study's.
        before: The signatures from before the study was read.
    """
    paths = {folder / STUDY_FILE, *(folder / reading.entry.file for reading in study.readings)}
    paths |= {folder / reading.entry.text for reading in study.readings if reading.entry.text}
    parts: list[str | bytes] = []
    runs = {path for ending in (".json", PARQUET) for path in (folder / RUNS).glob(f"*{ending}")}
    for path in sorted(paths | runs):
        try:
            digest = cache_key(read_file(path, folder.parent))
        except (OSError, NotRead):
            return None
        if _signature(path) != before.get(path):
            return None
        parts += os.fsencode(path.relative_to(folder)), digest
    return cache_key(*parts)
