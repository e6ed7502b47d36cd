"""A file to import: its bytes, text and JSON, and what is asked of it."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from gridatlas.files.door import open_file, read_file, unpacked
from gridatlas_import.json_values import parse_json
from gridatlas_import.options import NOTHING, ImportOptions
from gridatlas_import.rows import CannotImport, WrongUsage, importable

GZIP = ".gz"
_MAGIC = b"\x1f\x8b"
_HEAD = 2**16


@dataclass(frozen=True, eq=False)
class File:
    """A file to import, or a folder.

    Attributes:
        name: What messages call it.
        asked: What the user says of the import.
    """

    path: Path
    name: str
    asked: ImportOptions = NOTHING

    @property
    def ending(self) -> str:
        """As of its path."""
        return ending_of(self.path)

    @cached_property
    def head(self) -> bytes:
        """Its first 64 KiB, unpacked, by which it may be recognised."""
        with importable(self.name), open_file(self.path) as file:
            data = file.read(_HEAD)
            if not data.startswith(_MAGIC):
                return data
            file.seek(0)
            with _whole(self.name), gzip.open(file) as packed:
                return packed.read(_HEAD)

    @property
    def data(self) -> bytes:
        """All its bytes, unpacked."""
        with importable(self.name):
            data = read_file(self.path)
            if not data.startswith(_MAGIC):
                return data
            with _whole(self.name), gzip.open(io.BytesIO(data)) as packed:
                return unpacked(packed, len(data))

    def decoded(self) -> tuple[str, str]:
        """Its text, and the name of its encoding where that is worth a word."""
        return _decode(self.data, self.name, self.asked.encoding)

    @property
    def text(self) -> str:
        """Its text."""
        return self.decoded()[0]

    @cached_property
    def tree(self) -> Any:
        """Its JSON, where numbers are texts as printed."""
        return parse_json(self.text, self.name)

    def text_of(self, path: Path, name: str) -> str:
        """The text of another file, read as this one."""
        return replace(self, path=path, name=name).text


def ending_of(path: Path) -> str:
    """The ending that says what a file is: of `a.csv.gz` that before `.gz`."""
    ending = path.suffix.lower()
    return Path(path.stem).suffix.lower() if ending == GZIP else ending


def names_of(paths: Sequence[Path]) -> list[str]:
    """Short names of files: below the folder that all have in common."""
    around = Path(os.path.commonpath([path.resolve().parent for path in paths]))
    return [path.resolve().relative_to(around).as_posix() for path in paths]


@contextmanager
def _whole(name: str) -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error) as error:
        raise CannotImport(f"{name}: {error}", "a whole gzip file", "compress it again") from None


def _decode(data: bytes, name: str, encoding: str | None) -> tuple[str, str]:
    """The text of a file, and the name of its encoding where that is worth a word.

    Raises:
        CannotImport: For bytes that aren't text.
    """
    if encoding:
        try:
            return data.decode(encoding), encoding
        except LookupError:
            raise WrongUsage(
                f"--encoding {encoding}",
                "the name of an encoding",
                "name one such as utf-8, utf-16 or cp1252",
            ) from None
        except UnicodeError as error:
            raise WrongUsage(
                f"{name}: {error}", f"text in {encoding}", "name another --encoding"
            ) from None
    encoding_note = "with a byte order mark" if data.startswith(b"\xef\xbb\xbf") else ""
    wide = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}.get(data[:2])
    if wide is None and data[1:2] == b"\0" and data[3:4] == b"\0":
        wide = "utf-16-le"
    elif wide is None and data[:1] == b"\0" and data[2:3] == b"\0":
        wide = "utf-16-be"
    try:
        text = data.decode(wide) if wide else data.decode("utf-8-sig")
        encoding_note = "UTF-16" if wide else encoding_note
    except UnicodeError:
        try:
            text = data.decode("cp1252")
        except UnicodeError:
            text = "\0"
        encoding_note = "not UTF-8: read as Windows-1252 (another one: --encoding)"
    if "\0" in text:
        raise CannotImport(
            f"{name}, which isn't text",
            "a table as text, JSON or Parquet",
            "export it as CSV; of a text, name its --encoding",
        )
    return text, encoding_note
