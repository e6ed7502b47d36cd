"""Tables as they stand in a file: CSV, and Parquet with the extra of that name."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gridatlas.data.text import read_text, unprintable
from gridatlas.model.format import many
from gridatlas.model.problems import Problem, join_names, quote
from gridatlas.model.schema import level_number
from gridatlas.progress import tracked

_FORMULA = re.compile(r"'*[=+\-@\t\r＝＋－＠]")
"""What a spreadsheet runs, and what has apostrophes before it so that none does."""
_FORMULA_STARTS = frozenset("'=+-@\t\r＝＋－＠")


def guarded(text: str) -> str:
    """A text as a cell of a CSV file that no spreadsheet takes for a formula.

    It gets an apostrophe; one that stands there already gets another, so that `unguarded` takes
    away what was put there and nothing else. Numbers are never touched, negative ones neither.
    """
    return f"'{text}" if _is_formula(text) else text


def guarded_column(texts: Sequence[str]) -> Sequence[str]:
    """The texts of a column as `guarded` gives each."""
    if _FORMULA_STARTS.isdisjoint({text[:1] for text in texts}):
        return texts  # as nearly all are
    return [*map(guarded, texts)]


def unguarded(text: str) -> str:
    """The text of a cell that `guarded` wrote; any other stays as it is."""
    return text[1:] if text.startswith("'") and _is_formula(text) else text


def _is_formula(text: str) -> bool:
    return _FORMULA.match(text) is not None and level_number(text.lstrip("'")) is None


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it stands in the file, by columns.

    Attributes:
        name: Its path as shown to people.
        columns: The header.
        texts: Of each column, with the text of each row.
        lines: Of each row, its line in the file (CSV) or its number (Parquet), from 1.
    """

    name: str
    columns: tuple[str, ...]
    texts: tuple[Sequence[str], ...]
    lines: Sequence[int]

    def column(self, name: str) -> Sequence[str]:
        """The texts of one column; empty where the table has no such column."""
        return self.texts[self.columns.index(name)] if name in self.columns else ()

    def rows(self) -> Iterator[tuple[str, ...]]:
        """The texts of each row, one per column."""
        return zip(*self.texts, strict=True)


def read_table(path: Path, name: str) -> tuple[Table | None, list[Problem]]:
    """Read a table by its file's ending: `.parquet`, else CSV.

    Args:
        name: The file's path as it shall stand in messages.
    """
    if path.suffix == ".parquet":
        return _read_parquet(path, name)
    text, problems = read_text(path, name)
    return (None, problems) if text is None else parse_csv(text, name)


class CsvError(ValueError):
    """Text that is no CSV; carries what is wrong, and the line of the row in which it is."""

    def __init__(self, found: str, line: int) -> None:
        super().__init__(found)
        self.found, self.line = found, line


def split_csv(text: str, separator: str = ",") -> tuple[list[list[str]], list[int]]:
    """The rows of delimited text that aren't blank, and the line that each begins on.

    Raises:
        CsvError: For quotes that don't fit.
    """
    rows: list[list[str]] = []
    ends = [0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        for values in tracked(reader, "lines read", text.count("\n")):
            rows.append(values)
            ends.append(reader.line_num)
    except csv.Error as error:
        raise CsvError(str(error), ends[-1] + 1) from None
    if not all(rows):
        ends = [end for end, values in zip(ends, rows, strict=False) if values]
        rows = [values for values in rows if values]
    return rows, [end + 1 for end, _ in zip(ends, rows, strict=False)]


def clean_cell(text: str) -> str:
    """A cell's text without spaces around it, and without what `guarded` puts before it."""
    text = text.strip()
    return unguarded(text) if text[:1] == "'" else text


def clean_column(texts: Sequence[str]) -> Sequence[str]:
    """The texts of a column as `clean_cell` gives each; where few differ, one text for all."""
    distinct = dict.fromkeys(texts)
    if 2 * len(distinct) < len(texts):
        cells = {text: clean_cell(text) for text in distinct}
        return [*map(cells.__getitem__, texts)]
    stripped = [*map(str.strip, texts)]
    return [*map(clean_cell, texts)] if "'" in {text[:1] for text in stripped} else stripped


def parse_csv(text: str, name: str) -> tuple[Table | None, list[Problem]]:
    """Split CSV text (commas, double quotes, a header) into a table; ragged rows are problems."""
    try:
        rows, lines = split_csv(text)
    except CsvError as error:
        return None, [Problem.of("not-csv", name, error.found, error.line)]
    if not rows:
        return None, [Problem.of("empty-file", name, "an empty file")]
    columns = tuple(map(clean_cell, rows.pop(0)))
    header_line = lines.pop(0)
    problems: list[Problem] = []
    if unprintable(text):
        unreadable = _control_characters(columns, header_line, name)
        rows, lines, problems = _without(rows, lines, name, _control_characters)
        if unreadable and not rows:
            return None, unreadable + problems
        problems = unreadable + problems
    for separator, word in ((";", "semicolons"), ("\t", "tabs")):
        if len(columns) == 1 and separator in columns[0]:
            found = f"columns separated by {word}"
            return None, [Problem.of("wrong-separator", name, found, header_line)]
    if not rows:
        problems.append(Problem.of("empty-table", name, "a header and no rows", header_line))
    if not {len(columns)}.issuperset(map(len, rows)):
        rows, lines, ragged = _without(rows, lines, name, partial(_ragged, columns))
        problems += ragged
    texts = tuple(map(clean_column, zip(*rows, strict=True))) or ((),) * len(columns)
    return Table(name, columns, texts, lines), problems


def _without(
    rows: Iterable[list[str]],
    lines: Iterable[int],
    name: str,
    check: Callable[[Sequence[str], int, str], list[Problem]],
) -> tuple[list[list[str]], list[int], list[Problem]]:
    """The rows in which a check finds nothing, with their lines, and what it finds in others."""
    good: list[list[str]] = []
    good_lines: list[int] = []
    problems: list[Problem] = []
    for values, line in zip(rows, lines, strict=True):
        found = check([*map(clean_cell, values)], line, name)
        problems += found
        if not found:
            good.append(values)
            good_lines.append(line)
    return good, good_lines, problems


def _control_characters(values: Sequence[str], line: int, name: str) -> list[Problem]:
    return [
        Problem.of("control-character", name, quote(value), line)
        for value in values
        if unprintable(value)
    ]


def _ragged(columns: Sequence[str], values: Sequence[str], line: int, name: str) -> list[Problem]:
    if len(values) == len(columns):
        return []
    found = f"{many(len(values), 'value')}: {quote(','.join(values))}"
    number, names = many(len(columns), "value"), join_names(columns)
    return [
        Problem.of("ragged-row", name, found, line, values={"number": number, "columns": names})
    ]


def _read_parquet(path: Path, name: str) -> tuple[Table | None, list[Problem]]:
    try:
        import pyarrow
        import pyarrow.parquet as pq
    except ImportError:
        found = "a Parquet file, and pyarrow is not installed"
        return None, [Problem.of("no-parquet", name, found)]
    if not path.exists():
        return None, read_text(path, name)[1]
    try:
        data = pq.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        found = str(error).split("\n")[0].rpartition("': ")[2]
        return None, [Problem.of("not-parquet", name, found)]
    columns = []
    for column in data.columns:
        # numpy prints a float32 as it was meant (47.3); a Python float of it has 47.2999…
        single = pyarrow.types.is_float32(column.type)
        values = column.to_pylist()
        if single:
            import numpy

            values = [None if value is None else numpy.float32(value) for value in values]
        columns.append(["" if value is None else str(value) for value in values])
    if not data.num_rows:
        return None, [Problem.of("empty-table", name, "no rows")]
    lines = range(1, data.num_rows + 1)
    return Table(name, tuple(data.column_names), tuple(columns), lines), []
