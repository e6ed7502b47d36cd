"""Members of ZIP files of logs, also those packed with Zstandard; nothing is unpacked to disk."""

from __future__ import annotations

import io
import os
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from gridatlas.files.door import open_file, unpacked
from gridatlas.model.limits import check_unpacked
from gridatlas.model.problems import quote
from gridatlas_import.rows import CannotImport, WrongUsage, importable

ZSTANDARD = 93
"""The ZIP method's number (PKWARE's APPNOTE, 4.4.5)."""
_DAMAGED = (
    EOFError, OSError, RuntimeError, ValueError, struct.error, zipfile.BadZipFile, zlib.error,
    NotImplementedError,
)  # fmt: skip


@dataclass(slots=True)
class Members:
    """The members of an open ZIP file.

    Attributes:
        size: Bytes of the file.
        unpacked: Bytes of the members that were read.
    """

    name: str
    file: IO[bytes]
    archive: zipfile.ZipFile
    size: int
    unpacked: int = 0

    def names(self, folder: str = "") -> list[str]:
        """Names of members, in the file's order; of those in a folder."""
        return [name for name in self.archive.namelist() if name.startswith(folder)]

    def text(self, member: str) -> str | None:
        """A member's text; None where there is none of that name.

        Raises:
            CannotImport: For one that is damaged, too large, or packed in an unknown way.
        """
        if member not in self.archive.NameToInfo:
            return None
        info = self.archive.getinfo(member)
        place = f"{self.name}:{member}"
        try:
            with importable(place):
                check_unpacked(self.unpacked + info.file_size, self.size)
                data = self._read(info, place)
            self.unpacked += len(data)
            if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
                raise zipfile.BadZipFile("its size or checksum is another than the file says")
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise CannotImport(f"{place}: bytes that aren't UTF-8", "JSON in UTF-8", _FIX) from None
        except _DAMAGED as error:
            raise CannotImport(f"{place}: {_reason(error)}", "a whole member", _FIX) from None

    def _read(self, info: zipfile.ZipInfo, place: str) -> bytes:
        if info.compress_type != ZSTANDARD or sys.version_info >= (3, 14):
            with self.archive.open(info) as stream:
                return unpacked(stream, self.size, self.unpacked)
        self.file.seek(info.header_offset)
        header = self.file.read(30)
        if header[:4] != b"PK\x03\x04":
            raise zipfile.BadZipFile("it doesn't stand where the file says")
        name, extra = struct.unpack("<HH", header[26:30])
        self.file.seek(name + extra, io.SEEK_CUR)
        packed = self.file.read(info.compress_size)
        zstandard = _zstandard(place)
        try:
            # Large members are several frames.
            with zstandard.ZstdDecompressor().stream_reader(
                packed, read_across_frames=True
            ) as stream:
                return unpacked(stream, self.size, self.unpacked)
        except zstandard.ZstdError as error:
            raise zipfile.BadZipFile(_reason(error)) from None


_FIX = "copy the file again; if it is still being written, wait until its run has ended"


@contextmanager
def members_of(path: Path, name: str) -> Iterator[Members]:
    """The members of a ZIP file, while it is open.

    Args:
        name: The file's name in messages.

    Raises:
        CannotImport: For a file that is none, or with names of members that leave a folder.
    """
    try:
        with importable(name), open_file(path) as file, zipfile.ZipFile(file) as archive:
            for member in archive.namelist():
                _check_name(member, name)
            yield Members(name, file, archive, os.fstat(file.fileno()).st_size)
    except zipfile.BadZipFile as error:
        raise CannotImport(
            f"{name}: {_reason(error)}", "a whole ZIP file, as Inspect writes its logs", _FIX
        ) from None


def _check_name(member: str, name: str) -> None:
    parts = PurePosixPath(member.replace("\\", "/")).parts
    if member.startswith(("/", "\\")) or ".." in parts or re.match("[A-Za-z]:", member):
        raise CannotImport(
            f"{name}: a member called {quote(member, 80)}",
            "names within the file",
            "import only logs that you trust",
        )


def _zstandard(place: str) -> Any:
    try:
        import zstandard
    except ImportError:
        raise WrongUsage(
            f"{place}, packed with Zstandard",
            "the package zstandard, which Python before 3.14 needs to unpack it",
            'pip install "/path/to/grid-atlas[logs]"',
        ) from None
    return zstandard


def _reason(error: Exception) -> str:
    text = str(error) or type(error).__name__
    return text[:1].lower() + text[1:].removesuffix(".")
