"""Data folders and files that nobody should trust, and what a command says of each.

Each is small on the disk and made in a moment; what it would be when it is read is large, endless
or elsewhere.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import socket
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from builders import HEAD, write_study

from gridatlas_import.logs.zip_members import ZSTANDARD

MANIFEST = {
    "format": 1, "run": "r", "study": "s", "script": "a.py", "started": "2026-05-01T12:00:00Z",
    "cells": [],
}  # fmt: skip
READINGS = f"{HEAD}readings:\n"
MANY = 2**20


@dataclass(frozen=True)
class Hostile:
    """A folder, and the command that is given it.

    Attributes:
        make: Puts files into an empty folder: studies into `data/s`.
        says: What stands in the output.
        arguments: Of `gridatlas`; another command is named in the first.
        status: The exit status.
    """

    make: Callable[[Path], object]
    says: str
    arguments: tuple[str, ...] = ("check",)
    status: int = 1


def _study(path: str, put: Callable[[Path], object], study: str = HEAD) -> Callable[[Path], None]:
    """A folder with a study of which one file is put there in another way."""

    def make(folder: Path) -> None:
        write_study(folder / "data/s", study)
        file = folder / "data/s" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        put(file)

    return make


def _file(name: str, put: Callable[[Path], object]) -> Callable[[Path], None]:
    """A folder with one file to import."""
    return lambda folder: put(folder / name)


def _link(to: str) -> Callable[[Path], None]:
    return lambda file: file.symlink_to(to)


def _socket(file: Path) -> None:
    at = os.open(file.parent, os.O_RDONLY)  # A path of a socket is short.
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(f"/proc/self/fd/{at}/{file.name}")
    os.close(at)


def _bytes(content: bytes | Callable[[], bytes]) -> Callable[[Path], object]:
    return lambda file: file.write_bytes(content if isinstance(content, bytes) else content())


def _sparse(size: int) -> Callable[[Path], None]:
    def put(file: Path) -> None:
        file.touch()
        os.truncate(file, size)

    return put


def _rows(number: int, row: str) -> bytes:
    return ("rate,depth,value\n" + "".join(row % {"at": at} for at in range(number))).encode()


def _columns(number: int) -> bytes:
    names = ",".join(f"c{at}" for at in range(number))
    return f"rate,depth,value,{names}\n1,1,1{',1' * number}\n".encode()


def _parquet(number: int, rows: int, **columns: str | int) -> Callable[[Path], None]:
    """A table whose rows are the same ones again and again."""

    def put(file: Path) -> None:
        part = pa.table({name: _alike(value, rows) for name, value in columns.items()})
        # To look for the least of one long text takes three seconds.
        form: Any = {"compression": "zstd", "write_statistics": False}
        with pq.ParquetWriter(file, part.schema, **form) as writer:
            for _ in range(number):
                writer.write_table(part)

    return put


def _alike(value: str | int, rows: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([value]))


def _zip(members: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _zstd(size: int) -> bytes:
    return zstandard.ZstdCompressor().compress(b" " * size)


def _deflated(size: int) -> bytes:
    """Spaces, of which one block is packed and repeated: to pack a gigabyte takes six seconds."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    block = packer.compress(b" " * MANY) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * (size // MANY) + packer.flush()


def _zeros(member: str, packed: bytes, size: int, method: int = ZSTANDARD) -> bytes:
    """A ZIP file of one packed member, whose size the file says."""
    name = member.encode()
    sizes = struct.pack("<LLLHH", zlib.crc32(b""), len(packed), size, len(name), 0)
    local = struct.pack("<4sHHHHH", b"PK\3\4", 20, 0, method, 0, 33) + sizes + name + packed
    entry = struct.pack("<4sHHHHHH", b"PK\1\2", 20, 20, 0, method, 0, 33) + sizes
    entry += struct.pack("<HHHLL", 0, 0, 0, 0, 0) + name
    end = struct.pack("<4sHHHHLLH", b"PK\5\6", 0, 0, 1, 1, len(entry), len(local), 0)
    return local + entry + end


_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def _workbook(sheet: bytes) -> bytes:
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml."
    return _zip(
        {
            "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
            f'<Default Extension="xml" ContentType="{types}sheet.main+xml"/></Types>'.encode(),
            "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship '
            f'Id="r1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
            "</Relationships>".encode(),
            "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
            '<sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>'.encode(),
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
            f'<Relationship Id="r1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
            "</Relationships>".encode(),
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_MAIN}"><sheetData>'.encode()
            + sheet
            + b"</sheetData></worksheet>",
        }
    )


def _aliases() -> bytes:
    rows = [f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]" for at in range(1, 12)]
    return "\n".join([HEAD, "a0: &a0 [x, x]", *rows]).encode()


def _many_runs(folder: Path) -> None:
    write_study(folder / "data/s")
    (folder / "data/s/runs").mkdir()
    for at in range(2_500):
        text = json.dumps({**MANIFEST, "run": f"r{at}"})
        (folder / f"data/s/runs/r{at}.json").write_text(text)


def _study_text(text: str | bytes) -> Callable[[Path], None]:
    return _study("study.yml", _bytes(text if isinstance(text, bytes) else text.encode()))


def _two(make: Callable[[Path], object]) -> Callable[[Path], None]:
    """The folder `before` is fine, and `data` is not."""

    def both(folder: Path) -> None:
        write_study(folder / "before/s")
        make(folder)

    return both


def _named(name: bytes | str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        write_study(folder / "data" / os.fsdecode(name))

    return make


def _elsewhere(folder: Path) -> None:
    write_study(folder / "other/s")
    (folder / "data").mkdir()
    (folder / "data/s").symlink_to("../other/s")


PIPE = "a named pipe"
CSV = "cells.csv"
TEXT = f"{READINGS}  - {{id: a, file: cells.csv, text: paper.txt}}\n"
TABLE = f"{READINGS}  - {{id: a, file: cells.parquet}}\n"
IMPORT = ("import", "--yes")

FOLDERS: Mapping[str, Hostile] = {
    # --- what is no file, or elsewhere ---
    "a run that is a link to a device": Hostile(
        _study("runs/a.json", _link("/dev/zero")), "a link that leads out of the data folder"
    ),
    "outcomes that are a link to a device": Hostile(
        _study("runs/a.outcomes.parquet", _link("/dev/zero")),
        "a link that leads out of the data folder",
    ),
    "a table that is a link to a device": Hostile(
        _study(CSV, _link("/dev/zero")), "[file-outside]"
    ),
    "study.yml as a link to a device": Hostile(
        _study("study.yml", _link("/dev/zero")), "a link that leads out of the data folder"
    ),
    "a text that is a link to a device": Hostile(
        _study("paper.txt", _link("/dev/zero"), TEXT), "[file-outside]"
    ),
    "a table that is a link to a file elsewhere": Hostile(
        _study(CSV, _link("/etc/passwd")), "[file-outside]"
    ),
    "a study that is a link to a folder elsewhere": Hostile(
        _elsewhere, "a link that leads out of the data folder"
    ),
    "a table that is a link to itself": Hostile(_study(CSV, _link(CSV)), "[file-outside]"),
    "links in a circle": Hostile(
        lambda folder: (_study("runs/b.json", _link("a.json"))(folder),
                        (folder / "data/s/runs/a.json").symlink_to("b.json")), "a link to itself"
    ),
    "a table that is a link to nothing": Hostile(_study(CSV, _link("none")), "no such file"),
    "a link to the folder above": Hostile(
        _study("up", _link("..")), "0 problems", status=0
    ),
    "a pipe as study.yml": Hostile(_study("study.yml", os.mkfifo), PIPE),
    "a pipe as a table": Hostile(_study(CSV, os.mkfifo), PIPE),
    "a pipe as a table in Parquet": Hostile(_study("cells.parquet", os.mkfifo, TABLE), PIPE),
    "a pipe as a text": Hostile(_study("paper.txt", os.mkfifo, TEXT), PIPE),
    "a pipe as a run": Hostile(_study("runs/a.json", os.mkfifo), PIPE),
    "a pipe as outcomes": Hostile(
        lambda folder: (_study("runs/r.json", _bytes(json.dumps(MANIFEST).encode()))(folder),
                        os.mkfifo(folder / "data/s/runs/r.outcomes.json")), PIPE
    ),
    "a pipe to import": Hostile(_file("a.csv", os.mkfifo), PIPE, (*IMPORT, "a.csv")),
    "a pipe in a folder to import": Hostile(
        lambda folder: ((folder / "logs").mkdir(), os.mkfifo(folder / "logs/a.csv")),
        PIPE, (*IMPORT, "logs"),
    ),
    "a pipe as a log": Hostile(_file("a.eval", os.mkfifo), PIPE, (*IMPORT, "a.eval")),
    "a device to import": Hostile(_file("a.csv", _link("/dev/zero")), "a device",
                                  (*IMPORT, "a.csv")),
    "a socket as a table": Hostile(_study(CSV, _socket), "a socket"),
    "a folder as a table": Hostile(_study(CSV, Path.mkdir), "a folder"),
    "a folder as study.yml": Hostile(_study("study.yml", Path.mkdir), "a folder"),
    "a pipe in what is compared": Hostile(
        _two(_study(CSV, os.mkfifo)), PIPE, ("diff", "before", "data"), 2
    ),
    "a run that is a device, built": Hostile(
        _study("runs/a.json", _link("/dev/zero")), "a link that leads out of the data folder",
        ("build", "--into", "out"),
    ),
    # --- large ---
    "a file of a terabyte": Hostile(_study(CSV, _sparse(2**40)), "1,099,511,627,776 bytes"),
    "a file of a terabyte to import": Hostile(
        _file("a.csv", _sparse(2**40)), "1,099,511,627,776 bytes", (*IMPORT, "a.csv")
    ),
    "many wrong rows": Hostile(
        _study(CSV, _bytes(lambda: _rows(2 * 10**5, "x\n"))), "rows or more with a problem"
    ),
    "many rows without a level": Hostile(
        _study(CSV, _bytes(lambda: _rows(2 * 10**5, ",,1\n"))), "rows or more with a problem"
    ),
    "many rows of one cell": Hostile(
        _study(CSV, _bytes(lambda: _rows(2 * 10**5, "1,1,1\n"))), "rows or more with a problem"
    ),
    "many levels that nobody listed": Hostile(
        _study(CSV, _bytes(lambda: _rows(5_000, "level %(at)d,1,1\n")),
               f"{HEAD}factors: {{rate: {{levels: {[f'level x{at}' for at in range(500)]}}}}}\n"),
        "5,000 problems",
    ),
    "many columns": Hostile(_study(CSV, _bytes(lambda: _columns(200_000))), "200,003 columns"),
    "many columns to import": Hostile(
        _file("a.csv", _bytes(lambda: _columns(200_000))), "200,003 columns", (*IMPORT, "a.csv")
    ),
    "many levels": Hostile(
        _study(CSV, _bytes(lambda: _rows(2 * 10**5, "%(at)d,1,1\n"))), "200,000 levels"
    ),
    "many rows": Hostile(
        _study(CSV, _bytes(lambda: _rows(0, "") + b"1,1,1\n" * 12_000_000)), "12,000,000 rows"
    ),
    "a line without an end": Hostile(
        _study(CSV, _bytes(lambda: b"rate,depth,value\n" + b"1" * 10**8)), "characters on one line"
    ),
    "a value without an end": Hostile(
        _study(CSV, _bytes(lambda: b'rate,depth,value\n1,1,"' + b"1\n" * 10**7)), "131,072"
    ),
    "many readings": Hostile(
        _study_text(
            READINGS + "".join(f"  - {{id: r{at}, file: c.csv}}\n" for at in range(2_500))
        ),
        "2,500 readings",
    ),
    "many runs": Hostile(_many_runs, "2,500 files of runs"),
    "a text without an end": Hostile(
        _study("paper.txt", _bytes(lambda: b"1.5 " * 25_000_000), TEXT), "100,000,000 characters"
    ),
    "many values in study.yml": Hostile(
        _study_text(f"{HEAD}a: [{'1,' * 900_000}1]"), "more than 200,000 values"
    ),
    "many lists in a run": Hostile(
        _study("runs/r.json", _bytes(lambda: b"[" + b"[]," * 30_000_000 + b"[]]")),
        "values\n  expected: at most 20,000,000 values",
    ),
    # --- deep, and odd ---
    "aliases of aliases": Hostile(_study_text(_aliases()), "more than 200,000 values"),
    "lists in lists in study.yml": Hostile(
        _study_text(f"{HEAD}a: {'[' * 100_000}"), "nested too deeply"
    ),
    "mappings in mappings in study.yml": Hostile(
        _study_text("\n".join(f"{' ' * at}a:" for at in range(1500))), "nested too deeply"
    ),
    "lists in lists in a run": Hostile(
        _study("runs/r.json", _bytes(b"[" * 10**6)), "nested too deep"
    ),
    "a null byte in study.yml": Hostile(_study_text(f"{HEAD}a: \0"), "a NUL character"),
    "a null byte in a table": Hostile(_study(CSV, _bytes(b"rate\0,depth,value\n")), "a NUL"),
    "a path without an end": Hostile(
        _study_text(f"{READINGS}  - {{id: a, file: {'a/' * 5000}b.csv}}\n"), "[unreadable-file]"
    ),
    "a name of control characters": Hostile(_named("s\n::error::\x1b[2J"), "[bad-id]"),
    "a name that is not UTF-8": Hostile(_named(b"s\xff\xfe"), "[bad-id]"),
    "a run with a name that is not UTF-8": Hostile(
        _study(os.fsdecode(b"runs/\xff.json"), _bytes(b"{}")),
        "a name without control characters",
    ),
    # --- packed ---
    "zeros packed with gzip": Hostile(
        _file("a.csv.gz", _bytes(lambda: gzip.compress(b"0" * MANY) * 1024)), "unpacked",
        (*IMPORT, "a.csv.gz"),
    ),
    "a sheet of a gigabyte": Hostile(
        _file("a.xlsx", _bytes(lambda: _zeros(
            "xl/worksheets/sheet1.xml", _deflated(2**29), 2**29, zipfile.ZIP_DEFLATED
        ))), "unpacked", (*IMPORT, "a.xlsx"),
    ),
    "a sheet from end to end": Hostile(
        _file("a.xlsx", _bytes(_workbook(
            b'<row r="1"><c r="A1"><v>1</v></c></row>'
            b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
        ))), "1,048,576 × 16,384", (*IMPORT, "a.xlsx"),
    ),
    "rows without an end in Parquet": Hostile(
        _study("cells.parquet", _parquet(11, 10**6, rate=1, depth=1, value=1), TABLE),
        "11,000,000 rows",
    ),
    "one long value again and again in Parquet": Hostile(
        _study("cells.parquet", _parquet(
            1, 10**4, rate="1" * 100_000, depth=1, value=1
        ), TABLE), "[long-level]",
    ),
    "zeros in Parquet": Hostile(
        _file("a.parquet", _parquet(1, 1, rate="0" * 10**8)), "unpacked",
        (*IMPORT, "a.parquet"),
    ),
    "zeros in a log": Hostile(
        _file("a.eval", _bytes(lambda: _zeros("header.json", _zstd(2**29), 2**29))), "unpacked",
        (*IMPORT, "a.eval"),
    ),
    "zeros in a log that calls itself small": Hostile(
        _file("a.eval", _bytes(lambda: _zeros("header.json", _zstd(2**29), 100))), "unpacked",
        (*IMPORT, "a.eval"),
    ),
    "zeros in a log, deflated": Hostile(
        _file("a.eval", _bytes(lambda: _zeros(
            "header.json", _deflated(2**28), 2**28, zipfile.ZIP_DEFLATED
        ))), "unpacked", (*IMPORT, "a.eval"),
    ),
}  # fmt: skip
