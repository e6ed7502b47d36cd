"""CSV in every dialect that spreadsheets write, and TSV."""

from __future__ import annotations

import csv
import io
import re

from gridatlas.data.tables import unguarded
from gridatlas.importing.rows import CannotImport, RawRow, RawTable, Reported, unique_names
from gridatlas.model.problems import quote

_SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars"}


def decode(data: bytes, name: str, encoding: str | None) -> tuple[str, str]:
    """The text of a file, and the name of its encoding where that is worth a word.

    Raises:
        CannotImport: For bytes that aren't text.
    """
    if encoding:
        try:
            return data.decode(encoding), encoding
        except LookupError:
            raise CannotImport(
                f"--encoding {encoding}",
                "the name of an encoding",
                "name one such as utf-8, utf-16 or cp1252",
                usage=True,
            ) from None
        except UnicodeError as error:
            raise CannotImport(
                f"{name}: {error}", f"text in {encoding}", "name another --encoding", usage=True
            ) from None
    said = "with a byte order mark" if data.startswith(b"\xef\xbb\xbf") else ""
    wide = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}.get(data[:2])
    if wide is None and data[1:2] == b"\0" and data[3:4] == b"\0":
        wide = "utf-16-le"
    elif wide is None and data[:1] == b"\0" and data[2:3] == b"\0":
        wide = "utf-16-be"
    try:
        text = data.decode(wide) if wide else data.decode("utf-8-sig")
        said = "UTF-16" if wide else said
    except UnicodeError:
        try:
            text = data.decode("cp1252")
        except UnicodeError:
            text = "\0"
        said = "not UTF-8: read as Windows-1252 (another one: --encoding)"
    if "\0" in text:
        raise CannotImport(
            f"{name}, which isn't text",
            "a table as text, JSON or Parquet",
            "export it as CSV; of a text, name its --encoding",
        )
    return text, said


def read_delimited(text: str, name: str, said: str) -> RawTable:
    """A table of delimited text.

    Args:
        said: What is worth a word of its encoding.

    Raises:
        CannotImport: For text that is no table.
    """
    first, _, rest = text.partition("\n")
    declared = re.fullmatch(r"sep=(.)", first.strip(" \r"))  # Excel's own line
    separator = declared[1] if declared else _separator(text)
    rows = _split(rest if declared else text, separator, name, 1 if declared else 0)
    if len(rows) < 2:
        raise CannotImport(
            f"{name}, in which there is " + ("only a header" if rows else "nothing"),
            "a header and at least one row",
            "export it again",
        )
    header = rows[0][1]
    while header and not header[-1] and not any(any(v[len(header) - 1 :]) for _, v in rows):
        header = header[:-1]  # separators at the end of each line
    if len(header) < 2:
        raise CannotImport(
            f"{name} with one column, {quote(header[0] if header else '')}",
            "columns that are separated by commas, semicolons, tabs or bars",
            "export it as CSV",
        )
    columns, notes = unique_names(header)
    if all(_is_number(value) for value in header if value):
        notes.append("the header is all numbers; is it missing? The first line counts as header")
    kept: list[RawRow] = []
    reported: list[Reported] = []
    named, width = rows[0][1], len(header)
    for at, values in rows[1:]:
        place = f"{name}:{at}"
        if len(values) == width and values != named and any(values):
            kept.append(RawRow(place, tuple(values)))
            continue
        found = _row(values, named, width, place, separator)
        if isinstance(found, RawRow):
            kept.append(found)
        else:
            reported.append(found)
    form = f"text table, {_SEPARATORS.get(separator, quote(separator))} between values"
    return RawTable(
        f"{form}, {said}" if said else form,
        columns,
        tuple(kept),
        tuple(reported),
        tuple(notes),
        semicolons=separator == ";",
    )


def _split(text: str, separator: str, name: str, before: int) -> list[tuple[int, list[str]]]:
    """The lines that aren't blank, each with its number and values."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[tuple[int, list[str]]] = []
    line = 1 + before
    try:
        for values in reader:
            if values:
                stripped = [value.strip() for value in values]
                rows.append((line, [unguarded(v) if v[:1] == "'" else v for v in stripped]))
            line = reader.line_num + 1 + before
    except csv.Error as error:
        raise CannotImport(
            f"{name}:{line}: {error}",
            "values whose quotes fit",
            'double the quotes within a quoted value ("") and close each one',
        ) from None
    return rows


def _row(
    values: list[str], header: list[str], width: int, place: str, separator: str
) -> RawRow | Reported:
    if not any(values):
        return Reported(place, "an empty row")
    if values == header:
        return Reported(place, "the header again")
    if len(values) < width or any(values[width:]):
        why = f"{len(values)} values in {width} columns: {quote(separator.join(values))}"
        return Reported(place, why, bad=True)
    return RawRow(place, tuple(values[:width]))


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+([.,]\d+)?", text) is not None


def _separator(text: str) -> str:
    """The separator that splits the first lines into the same number of columns, two or more."""
    best, most = ",", (0.0, 0)
    for separator in _SEPARATORS:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        widths = []
        try:
            for values in reader:
                if any(values):
                    widths.append(len(values))
                if len(widths) >= 50:
                    break
        except csv.Error:
            pass
        if not widths or widths[0] < 2:
            continue
        alike = sum(width == widths[0] for width in widths) / len(widths)
        # Of two that fit alike the header decides: it has no decimal commas.
        if (alike, widths[0]) > most and (alike > 0.5 or not most[1]):
            best, most = separator, (alike, widths[0])
    return best
