"""Tables as they stand in a file: CSV, and Parquet with the extra of that name."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path

from gridatlas.data.text import read_text, unprintable
from gridatlas.model.problems import Problem, join_names, quote
from gridatlas.model.schema import level_number

_FORMULA = re.compile(r"'*[=+\-@\t\r＝＋－＠]")
"""What a spreadsheet runs, and what has apostrophes before it so that none does."""


def guarded(text: str) -> str:
    """A text as a cell of a CSV file that no spreadsheet takes for a formula.

    It gets an apostrophe; one that stands there already gets another, so that `unguarded` takes
    away what was put there and nothing else. Numbers are never touched, negative ones neither.
    """
    return f"'{text}" if _is_formula(text) else text


def unguarded(text: str) -> str:
    """The text of a cell that `guarded` wrote; any other stays as it is."""
    return text[1:] if text.startswith("'") and _is_formula(text) else text


def _is_formula(text: str) -> bool:
    return _FORMULA.match(text) is not None and level_number(text.lstrip("'")) is None


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: its line in the file and its cells as text, one per column."""

    line: int
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it stands in the file; `name` is its path as shown to people."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def read_table(path: Path, name: str) -> tuple[Table | None, list[Problem]]:
    """Read a table by its file's ending: `.parquet`, else CSV.

    Args:
        name: The file's path as it shall stand in messages.
    """
    if path.suffix == ".parquet":
        return _read_parquet(path, name)
    text, problems = read_text(path, name)
    return (None, problems) if text is None else parse_csv(text, name)


def parse_csv(text: str, name: str) -> tuple[Table | None, list[Problem]]:
    """Split CSV text (commas, double quotes, a header) into a table; ragged rows are problems."""
    rows: list[Row] = []
    problems: list[Problem] = []
    texts: dict[str, str] = {}  # one text for all cells that have it
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        for values in reader:
            if values:
                stripped = [value.strip() for value in values]
                stripped = [unguarded(one) if one[:1] == "'" else one for one in stripped]
                rows.append(Row(line, tuple([texts.setdefault(one, one) for one in stripped])))
            line = reader.line_num + 1
    except csv.Error as error:
        fix = 'double the quotes within a quoted value ("") and close each one'
        problem = Problem("not-csv", name, str(error), "comma-separated values", fix, line)
        return None, [problem]
    if not rows:
        return None, [
            Problem("empty-file", name, "an empty file", "content", "write it, or remove the file")
        ]
    columns = rows[0].values
    if unprintable(text):
        problems += [
            Problem(
                "control-character",
                name,
                quote(value),
                "text without control characters",
                "remove the control character",
                row.line,
            )
            for row in rows
            for value in row.values
            if unprintable(value)
        ]
        rows = [row for row in rows if not any(map(unprintable, row.values))]
    if not rows:
        return None, problems
    for separator, word in ((";", "semicolons"), ("\t", "tabs")):
        if len(columns) == 1 and separator in columns[0]:
            problem = Problem(
                "wrong-separator",
                name,
                f"columns separated by {word}",
                "commas",
                "save the table as comma-separated values",
                rows[0].line,
            )
            return None, [problem]
    kept = []
    for row in rows[1:]:
        if len(row.values) == len(columns):
            kept.append(row)
            continue
        problems.append(
            Problem(
                "ragged-row",
                name,
                f"{_values(len(row.values))}: {quote(','.join(row.values))}",
                f"{_values(len(columns))}, one per column: {join_names(columns)}",
                "add the missing comma, or quote a value that has commas",
                row.line,
            )
        )
    if len(rows) == 1:
        problems.append(
            Problem(
                "empty-table",
                name,
                "a header and no rows",
                "at least one row",
                "add rows, or remove this reading",
                rows[0].line,
            )
        )
    return Table(name, columns, tuple(kept)), problems


def _values(number: int) -> str:
    return "1 value" if number == 1 else f"{number} values"


def _read_parquet(path: Path, name: str) -> tuple[Table | None, list[Problem]]:
    try:
        import pyarrow
        import pyarrow.parquet as pq
    except ImportError:
        fix = 'pip install "/path/to/grid-atlas[parquet]", or save the table as CSV'
        found = "a Parquet file, and pyarrow is not installed"
        return None, [Problem("no-parquet", name, found, "the extra parquet", fix)]
    if not path.exists():
        return None, read_text(path, name)[1]
    try:
        data = pq.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        found = str(error).split("\n")[0].rpartition("': ")[2]
        fix = "write the file again"
        return None, [Problem("not-parquet", name, found, "a Parquet file", fix)]
    columns = []
    for column in data.columns:
        # numpy prints a float32 as it was meant (47.3); a Python float of it has 47.2999…
        single = pyarrow.types.is_float32(column.type)
        values = column.to_pylist()
        if single:
            import numpy

            values = [None if value is None else numpy.float32(value) for value in values]
        columns.append(["" if value is None else str(value) for value in values])
    rows = tuple(Row(line, values) for line, values in enumerate(zip(*columns, strict=True), 1))
    if not rows:
        fix = "add rows, or remove this reading"
        return None, [Problem("empty-table", name, "no rows", "at least one row", fix)]
    return Table(name, tuple(data.column_names), rows), []
