"""The one door to the files of others: only what is a file, in its folder, and not too large."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from gridatlas.model.limits import NotRead, check_limit, check_unpacked


class Readable(Protocol):
    """What gives bytes, also a member of a packed file."""

    def read(self, size: int, /) -> bytes:
        """So many bytes at most; none at the end."""


_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFBLK: "a device",
    stat.S_IFCHR: "a device",
}
_PART = 2**20


@contextmanager
def open_file(path: Path, within: Path | None = None) -> Iterator[BinaryIO]:
    """A file, open for reading.

    Nothing is opened that isn't a file: a pipe would be waited for, and a device may do something.

    Args:
        within: The folder that it has to be in, also where links lead to; None where it was named
            by who runs the command, and may be anywhere.

    Raises:
        OSError: It can't be opened.
        NotRead: It is none of those that are read.
    """
    place = resolved(path, within)
    _check(os.stat(place))
    # The path may be another's by now. A pipe without a writer isn't waited for.
    handle = os.open(
        place, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | os.O_NOFOLLOW
    )
    with open(handle, "rb") as file:
        _check(os.fstat(handle))
        yield file


def read_file(path: Path, within: Path | None = None) -> bytes:
    """The bytes of a file; as `open_file`."""
    with open_file(path, within) as file:
        data = file.read(os.fstat(file.fileno()).st_size + 1)
        while part := file.read(_PART):  # It grows, or doesn't say how large it is.
            data += part
            check_limit("file_bytes", len(data), "bytes")
        return data


def unpacked(stream: Readable, packed: int, before: int = 0) -> bytes:
    """What comes out of a packed file, or of a member of it.

    Args:
        packed: Bytes of the file.
        before: Bytes of the members before this one.

    Raises:
        NotRead: For more than the limits allow.
    """
    parts = []
    while part := stream.read(_PART):
        before += len(part)
        check_unpacked(before, packed)
        parts.append(part)
    return b"".join(parts)


def resolved(path: Path, within: Path | None) -> Path:
    """Where a path leads, over all links.

    Raises:
        OSError: It can't be told.
        NotRead: Out of the folder, or nowhere.
    """
    expected, fix = "what is in the data folder", "replace it with what it points to"
    try:
        place = path.resolve()
        if within is None or place.is_relative_to(within.resolve()):
            return place
    except (OSError, RuntimeError) as error:  # the second is that of links in a circle
        if isinstance(error, OSError) and error.errno != errno.ELOOP:
            raise
        raise NotRead("file-outside", "a link to itself", "a file", fix) from None
    raise NotRead("file-outside", "a link that leads out of the data folder", expected, fix)


def _check(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        found = _KINDS.get(stat.S_IFMT(status.st_mode), "no file")
        raise NotRead("unreadable-file", found, "a file", "replace it with a file")
    check_limit("file_bytes", status.st_size, "bytes", "leave out what isn't needed")
