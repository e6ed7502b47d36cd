"""Sheets of Excel workbooks, read by calamine where the extra `excel` is installed."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

from gridatlas.model.problems import join_names
from gridatlas_import.readers.headings import table_of_rows
from gridatlas_import.rows import CannotImport, RawTable, Reported

MISSING = CannotImport(
    "an Excel workbook, and no library that reads it",
    "the extra excel",
    'pip install "/path/to/grid-atlas[excel]", or save the sheet as CSV',
)


def read_excel(data: bytes, name: str, number: int | None) -> RawTable:
    """One sheet of a workbook.

    Numbers are those that the workbook stores, which has no trailing zeros: 71.20 is 71.2.

    Args:
        number: Which of several sheets with cells, from 1.

    Raises:
        CannotImport: For a workbook that can't be read, or with several sheets of which none is
            named.
    """
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise MISSING from None
    try:
        with CalamineWorkbook.from_filelike(io.BytesIO(data)) as book:
            sheets = [(sheet, _rows(book.get_sheet_by_name(sheet))) for sheet in book.sheet_names]
    except CalamineError as error:
        raise CannotImport(
            f"{name}: {error}", "an Excel workbook (.xlsx)", "save it again, or as CSV"
        ) from None
    sheets = [(sheet, rows) for sheet, rows in sheets if rows]
    if not sheets:
        raise CannotImport(
            f"{name}, which is empty", "a header and at least one row", "export it again"
        )
    if number is None and len(sheets) > 1:
        listed = (f"{at} ({sheet})" for at, (sheet, _) in enumerate(sheets, 1))
        raise CannotImport(
            f"{name} with {len(sheets)} sheets: {join_names(listed)}",
            "the number of one of them",
            "add --table 1, or another number",
            usage=True,
        )
    if number is not None and not 1 <= number <= len(sheets):
        raise CannotImport(
            f"--table {number}",
            f"1 to {len(sheets)}, the sheets of {name}",
            "correct the number",
            usage=True,
        )
    sheet, rows = sheets[(number or 1) - 1]
    return _table(rows, f"{name}, {sheet}" if len(sheets) > 1 else name)


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
