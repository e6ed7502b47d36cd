"""Sheets of Excel workbooks, read by calamine where the extra `excel` is installed."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from functools import partial, reduce
from typing import Any

from gridatlas.model.limits import beyond, check_unpacked, limits
from gridatlas.model.problems import join_names
from gridatlas_import.files import File
from gridatlas_import.headings import table_of_rows
from gridatlas_import.rows import CannotImport, RawTable, Reported, WrongUsage, importable, in_range

ENDINGS = (".xlsx",)
MISSING = CannotImport(
    "an Excel workbook, and no library that reads it",
    "the extra excel",
    'pip install "/path/to/grid-atlas[excel]", or save the sheet as CSV',
)


_WORKBOOK = ("an Excel workbook (.xlsx)", "save it again, or as CSV")


def read(file: File) -> RawTable:
    """One sheet of a workbook.

    Numbers are those that the workbook stores, which has no trailing zeros: 71.20 is 71.2.

    Raises:
        CannotImport: For a workbook that can't be read, or with several sheets of which none is
            named.
    """
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise MISSING from None
    data, name, number = file.data, file.name, file.asked.table
    with importable(name):
        _check_sizes(data, name)
    try:
        with CalamineWorkbook.from_filelike(io.BytesIO(data)) as book:
            sheets = [(sheet, _rows(book.get_sheet_by_name(sheet))) for sheet in book.sheet_names]
    except CalamineError as error:
        raise CannotImport(f"{name}: {error}", *_WORKBOOK) from None
    sheets = [(sheet, rows) for sheet, rows in sheets if rows]
    if not sheets:
        raise CannotImport(
            f"{name}, which is empty", "a header and at least one row", "export it again"
        )
    if number is None and len(sheets) > 1:
        listed = (f"{at} ({sheet})" for at, (sheet, _) in enumerate(sheets, 1))
        raise WrongUsage(
            f"{name} with {len(sheets)} sheets: {join_names(listed)}",
            "the number of one of them",
            "add --table 1, or another number",
        )
    in_range(number, len(sheets), "sheet", name)
    sheet, rows = sheets[(number or 1) - 1]
    return _table(rows, f"{name}, {sheet}" if len(sheets) > 1 else name)


_CELL = re.compile(rb"""\br=["']([A-Z]{1,3})(\d{1,7})["']""")
"""Where a cell says that it stands."""
_LONGEST_CELL = 20
_BYTES = 32
"""That calamine takes for each cell between the first and the last, also of those that aren't."""


def _check_sizes(data: bytes, name: str) -> None:
    """Refuse a workbook that is large once it is unpacked, or has a sheet that is.

    Raises:
        CannotImport: For a ZIP file that is damaged: what reads workbooks may see it otherwise.
        NotRead: For more than the limits allow.
    """
    if data[:2] != b"PK":
        return
    before = 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for info in archive.infolist():
                with archive.open(info) as member:
                    size = _check_sheet(iter(partial(member.read, 2**20), b""), before, len(data))
                before += size
    except (zipfile.BadZipFile, EOFError, RuntimeError, ValueError, zlib.error) as error:
        raise CannotImport(f"{name}: {error}", *_WORKBOOK) from None


def _check_sheet(parts: Iterator[bytes], before: int, packed: int) -> int:
    """The bytes of a member of a workbook, which may be a sheet.

    Args:
        before: Bytes of the members before this one.
        packed: Bytes of the workbook.

    Raises:
        NotRead: For more than the limits allow.
    """
    size, end = 0, b""
    columns, rows = {b"A"}, {b"1"}
    for part in parts:
        size += len(part)
        check_unpacked(before + size, packed)
        for column, row in _CELL.findall(end + part):
            columns.add(column)
            rows.add(row)
        end = part[-_LONGEST_CELL:]
        width, height = max(map(_column, columns)), max(map(int, rows))
        rows = {b"%d" % height}
        if width * height * _BYTES > limits().unpacked_bytes:
            found = f"a sheet of {height:,} × {width:,} cells, of {_BYTES} bytes each"
            raise beyond("unpacked_bytes", found, "bytes unpacked", "remove cells far from others")
    return size


def _column(letters: bytes) -> int:
    return reduce(lambda number, letter: 26 * number + letter - 64, letters, 0)


def _rows(sheet: Any) -> list[tuple[int, list[str]]]:
    """The rows that have a cell, with their numbers from 1 as Excel shows them, as texts."""
    top = sheet.start[0] if sheet.start else 0
    rows = enumerate(sheet.to_python(), top + 1)
    return [(at, texts) for at, row in rows if any(texts := [*_texts(row)])]


def _texts(row: Sequence[Any]) -> Iterator[str]:
    for value in row:
        if isinstance(value, bool):
            yield str(value).lower()
        elif isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            yield str(int(value))
        else:
            yield str(value)


def _table(rows: Sequence[tuple[int, list[str]]], name: str) -> RawTable:
    width = max(at for at, text in enumerate(rows[0][1], 1) if text)
    reported, taken, places = [], [rows[0][1][:width]], [f"{name}:{rows[0][0]}"]
    for line, texts in rows[1:]:
        if any(texts[width:]):
            why = f"{len(texts)} values in {width} columns"
            reported.append(Reported(f"{name}:{line}", why, bad=True))
        else:
            taken.append(texts[:width])
            places.append(f"{name}:{line}")
    return table_of_rows("Excel sheet", taken, places, tuple(reported))
