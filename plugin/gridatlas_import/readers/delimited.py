"""CSV in every dialect that spreadsheets write, and TSV."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from operator import itemgetter

from gridatlas.data.tables import CsvError, clean_cell, clean_column, split_csv
from gridatlas.model.format import many
from gridatlas.model.problems import quote
from gridatlas_import.files import File
from gridatlas_import.headings import has_two_lines, table_of_rows
from gridatlas_import.markup import is_rule, without_latex
from gridatlas_import.numerals import looks_like_number
from gridatlas_import.readers import latex
from gridatlas_import.readers.latex import is_latex
from gridatlas_import.rows import CannotImport, RawTable, Reported, by_columns, unique_names

ENDINGS = (".csv", ".tsv", ".txt")
_FIRST, _BEGINNING = 50, 2**16
"""Rows by which separators are told, and letters in which they mostly stand."""
_COMMENTS = ("#", "%", "//")
_SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars"}


def read(file: File) -> RawTable:
    """A table of delimited text.

    Raises:
        CannotImport: For text that is no table.
    """
    text, encoding_note = file.decoded()
    name = file.name
    if is_latex(text):
        return latex.read(file)
    first, _, rest = text.partition("\n")
    declared = re.fullmatch(r"sep=(.)", first.strip(" \r"))  # Excel's own line
    separator = declared[1] if declared else _separator(text)
    before = 1 if declared else 0
    try:
        rows, lines = split_csv(rest if declared else text, separator)
    except CsvError as error:
        raise CannotImport(
            f"{name}:{error.line + before}: {error.found}",
            "quotes in pairs",
            'double the quotes within a quoted value ("") and close each one',
        ) from None
    skipped = _before_the_table(rows)
    rows, lines = rows[skipped:], lines[skipped:]
    if len(rows) < 2:
        raise CannotImport(
            f"{name}, which " + ("has only a header" if rows else "is empty"),
            "a header and at least one row",
            "export it again",
        )
    whole_header = [*map(clean_cell, rows[0])]
    width = len(whole_header)
    while width and not whole_header[width - 1] and not any(map(str.strip, _beyond(rows, width))):
        width -= 1  # separators at the end of each line
    header = whole_header[:width]
    if width < 2:
        raise CannotImport(
            f"{name} with one column, {quote(header[0] if header else '')}",
            "columns that are separated by commas, semicolons, tabs or bars",
            "export it as CSV",
        )
    notes = [f"{many(skipped, 'line')} before the table skipped"] if skipped else []
    form = f"text table, {_SEPARATORS.get(separator, quote(separator))} between values"
    form = f"{form}, {encoding_note}" if encoding_note else form
    beginning = [row[:width] for row in rows[:9] if len(row) >= width]
    several = has_two_lines([[*map(clean_cell, row)] for row in beginning])
    rows, lines, reported = _rows(rows[1:], lines[1:], whole_header, width, separator)
    if "\\" in text:
        rows = [[*map(without_latex, row)] for row in rows]
    places = [f"{name}:{line + before}" for line in lines]
    left = tuple(Reported(f"{name}:{line + before}", why, bad) for line, why, bad in reported)
    if several:
        found = table_of_rows(form, [header, *rows], [name, *places], left)
        return replace(found, semicolons=separator == ";", notes=(*notes, *found.notes))
    if _has_no_header(header, rows):
        rows, places = [header, *rows], [f"{name}:{before + skipped + 1}", *places]
        header = [f"column_{at}" for at in range(1, width + 1)]
        notes.append("the first line has values, as those below; columns are numbered")
    columns, more = unique_names(header)
    if all(_is_number(value) for value in header if value):
        more.append("the header is all numbers; is it missing? The first line counts as header")
    texts = map(clean_column, by_columns(columns, rows).values())
    return RawTable(
        form,
        dict(zip(columns, texts, strict=True)),
        places,
        left,
        (*notes, *more),
        semicolons=separator == ";",
    )


def _has_no_header(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first line is a row: its texts stand below it, and its numbers have decimals."""
    numbers = [at for at, text in enumerate(header) if looks_like_number(text) and "." in text]
    texts = [at for at, text in enumerate(header) if not looks_like_number(text)]
    below = all(any(row[at] == header[at] for row in rows) for at in texts[:1])
    return (
        bool(numbers and texts)
        and below
        and all(looks_like_number(row[at]) for row in rows[:20] for at in numbers)
    )


def _before_the_table(rows: Sequence[Sequence[str]]) -> int:
    """How many lines stand before a table: comments, notes with fewer fields than it, blanks."""
    widths = Counter(sum(map(bool, map(str.strip, row))) for row in rows[1:60])
    usual = max((width for width in widths if width > 1), key=lambda w: widths[w], default=0)
    for at, row in enumerate(rows[:60]):
        filled = sum(map(bool, map(str.strip, row)))
        comment = row and row[0].lstrip().startswith(_COMMENTS) and filled < usual
        if not comment and (filled > 1 or usual < 3):
            return at
    return 0


def _beyond(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """The texts in the last column of a width, and in those after it."""
    return (text for values in rows for text in values[width - 1 :])


def _rows(
    rows: list[list[str]], lines: list[int], header: list[str], width: int, separator: str
) -> tuple[list[list[str]], list[int], list[tuple[int, str, bool]]]:
    """The rows that have values, with their lines; and of the others: line, why, whether wrong.

    Args:
        width: How many columns the table has.
    """
    if {width}.issuperset(map(len, rows)):
        starts = set(map(str.strip, map(itemgetter(0), rows)))
        if not starts & {"", header[0]} and not any(map(is_rule, starts)):
            return rows, lines, []  # none empty, none the header again, as in nearly all tables
    good: list[list[str]] = []
    good_lines: list[int] = []
    reported: list[tuple[int, str, bool]] = []
    for raw, line in zip(rows, lines, strict=True):
        values = [*map(clean_cell, raw)]
        if not any(values):
            reported.append((line, "an empty row", False))
        elif width > 2 and values[0] and not any(values[1:]) and len(values) < width:
            reported.append((line, f"a note: {quote(values[0], 60)}", False))
        elif is_rule(values[0]) and not any(values[1:]):
            reported.append((line, "a rule", False))
        elif values == header:
            reported.append((line, "the header again", False))
        elif len(values) < width or any(values[width:]):
            why = f"{len(values)} values in {width} columns: {quote(separator.join(values))}"
            reported.append((line, why, True))
        else:
            good.append(raw[:width])
            good_lines.append(line)
    return good, good_lines, reported


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+([.,]\d+)?", text) is not None


def _widths(text: str, separator: str) -> list[int]:
    """How many values the first rows have that aren't blank; of one more than is looked at."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    widths: list[int] = []
    with contextlib.suppress(csv.Error):
        widths.extend(islice((len(values) for values in reader if any(values)), _FIRST + 1))
    return widths


def _separator(text: str) -> str:
    """The separator that splits the first lines into the same number of columns, two or more."""
    best, most = ",", (0.0, 0)
    for separator in _SEPARATORS:
        widths = _widths(text[:_BEGINNING], separator)
        if len(text) > _BEGINNING and len(widths) <= _FIRST:
            widths = _widths(text, separator)
        widths = widths[:_FIRST]
        if not widths:
            continue
        usual, times = Counter(widths).most_common(1)[0]
        alike = times / len(widths)
        # Of two that fit alike the header decides: it has no decimal commas.
        first = widths[0] if widths[0] > 1 else usual
        if usual > 1 and (alike, first) > most and (alike > 0.5 or not most[1]):
            best, most = separator, (alike, first)
    return best
