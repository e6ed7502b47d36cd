"""Tables as they stand in a file: CSV, and Parquet with the extra of that name."""

from __future__ import annotations

import csv
import io
import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, compress, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from gridatlas.data.text import not_read, read_text, unprintable
from gridatlas.files.door import open_file
from gridatlas.model.format import many
from gridatlas.model.limits import NotRead, beyond, check_limit, check_unpacked, limits
from gridatlas.model.problems import Problem, join_names, quote
from gridatlas.model.schema import level_number
from gridatlas.progress import tracked
from gridatlas.table.coded import Coded, Encoder
from gridatlas.table.decimals import Numerals

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
    texts: tuple[Coded[str] | Numerals, ...]
    lines: Sequence[int]

    def column(self, name: str) -> Coded[str]:
        """The texts of one column; no rows where the table has no such column."""
        if name not in self.columns:
            return Coded.of(())
        return self.texts[self.columns.index(name)].as_coded()

    def kinds(self, name: str) -> int:
        """How many texts there are in a column."""
        texts = self.texts[self.columns.index(name)] if name in self.columns else Coded.of(())
        return texts.kinds if isinstance(texts, Numerals) else len(texts.kinds)

    def rows(self) -> Iterator[tuple[str, ...]]:
        """The texts of each row, one per column."""
        return zip(*self.texts, strict=True)


def read_table(
    path: Path, name: str, within: Path | None = None
) -> tuple[Table | None, list[Problem]]:
    """Read a table by its file's ending: `.parquet`, else CSV.

    Args:
        name: The file's path as it shall stand in messages.
        within: The folder that the file has to be in; None where it may be anywhere.
    """
    if path.suffix == ".parquet":
        return _read_parquet(path, name, within)
    text, problems = read_text(path, name, within)
    return (None, problems) if text is None else parse_csv(text, name)


class CsvError(ValueError):
    """Text that is no CSV; carries what is wrong, and the line of the row in which it is."""

    def __init__(self, found: str, line: int) -> None:
        super().__init__(found)
        self.found, self.line = found, line


_BLOCK = 100
"""Rows read at a time: so few that they are encoded while the processor's cache has them."""
_LINE_BREAK = re.compile(r"\r\n|\r|\n")

Rows = tuple[list[list[str]], Sequence[int]]
"""Rows of texts, and the line that each begins on."""


def _blocks(text: str, separator: str = ",") -> Iterator[Rows]:
    """The rows of delimited text that aren't blank, some at a time.

    Raises:
        CsvError: For quotes that don't fit.
        NotRead: For more rows, columns or characters than the limits allow.
    """
    lines_there = text.count("\n")
    check_limit("rows", lines_there - 1, "rows")
    _check_lines(text)
    csv.field_size_limit(limits().cell_characters)  # of all readers, until it is set again
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows = tracked(reader, "lines read", lines_there)
    while True:
        first = reader.line_num + 1
        try:
            block = [*islice(rows, _BLOCK)]
            check_limit("columns", max(map(len, block), default=0), "columns")
        except csv.Error as error:
            if "field limit" in str(error):
                found = f"more than {limits().cell_characters:,} characters in a cell"
                fix = "shorten it (is a quote not closed?)"
                line = _unfinished_line(text, separator)
                raise beyond("cell_characters", found, "characters", fix, line) from None
            raise CsvError(str(error), _unfinished_line(text, separator)) from None
        if not block:
            return
        lines: Sequence[int] = range(first, first + len(block))
        if reader.line_num - first + 1 != len(block):
            taken = (1 + sum(len(_LINE_BREAK.findall(cell)) for cell in row) for row in block)
            lines = [*accumulate(taken, initial=first)][:-1]
        if not all(block):
            lines = [*compress(lines, block)]
            block = [*filter(None, block)]
        if block:
            yield block, lines


def _check_lines(text: str) -> None:
    """Refuse lines that are too long; as lines end, it looks only where one has to."""
    at, most = 0, limits().line_characters
    while at + most < len(text):
        end = max(text.rfind("\n", at, at + most + 1), text.rfind("\r", at, at + most + 1))
        if end < 0:
            found = f"more than {most:,} characters on one line"
            raise beyond("line_characters", found, "characters")
        at = end + 1


def _unfinished_line(text: str, separator: str) -> int:
    """The line that the row begins on which can't be read."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    end = 0
    try:
        for _ in reader:
            end = reader.line_num
    except csv.Error:
        pass
    return end + 1


def split_csv(text: str, separator: str = ",") -> tuple[list[list[str]], list[int]]:
    """The rows of delimited text that aren't blank, and the line that each begins on.

    Raises:
        CsvError: For quotes that don't fit.
    """
    rows: list[list[str]] = []
    lines: list[int] = []
    for block, begun in _blocks(text, separator):
        rows += block
        lines += begun
    return rows, lines


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
    blocks = _blocks(text)
    try:
        rows, lines = next(blocks, ([], []))
        if not rows:
            return None, [Problem.of("empty-file", name, "an empty file")]
        columns, header_line = tuple(map(clean_cell, rows[0])), lines[0]
        body = _body(chain([(rows[1:], lines[1:])], blocks), columns, name, unprintable(text))
    except CsvError as error:
        return None, [Problem.of("not-csv", name, error.found, error.line)]
    except NotRead as error:
        return None, [error.problem(name)]
    problems = body.unreadable
    if unprintable("".join(columns)):
        problems = _control_characters(columns, header_line, name) + problems
        if body.empty:
            return None, problems
    for separator, word in ((";", "semicolons"), ("\t", "tabs")):
        if len(columns) == 1 and separator in columns[0]:
            found = f"columns separated by {word}"
            return None, [Problem.of("wrong-separator", name, found, header_line)]
    if body.empty:
        problems.append(Problem.of("empty-table", name, "a header and no rows", header_line))
    return Table(name, columns, body.texts, body.lines), problems + body.ragged


class _Body(NamedTuple):
    """The rows below a header.

    Attributes:
        empty: Whether none has a text that can be read.
        unreadable: Problems of rows left out for their characters.
        ragged: Problems of rows left out for their number of values.
    """

    texts: tuple[Coded[str] | Numerals, ...]
    lines: array[int]
    empty: bool
    unreadable: list[Problem]
    ragged: list[Problem]


def _body(blocks: Iterable[Rows], columns: Sequence[str], name: str, unseen: bool) -> _Body:
    """The columns of a table's rows.

    Args:
        unseen: Whether the text has characters that aren't allowed.
    """
    texts_of = [_Texts() for _ in columns]
    row_lines = array("i")
    empty, unreadable, ragged = True, [], []
    width = {len(columns)}
    for block, begun in blocks:
        rows, lines = block, begun
        if unseen:
            rows, lines, found = _without(rows, lines, name, _control_characters)
            unreadable += found
        empty = empty and not rows
        if not width.issuperset(map(len, rows)):
            rows, lines, found = _without(rows, lines, name, partial(_ragged, columns))
            ragged += found
        wrong = unreadable + ragged if len(unreadable) + len(ragged) > limits().problems else []
        if wrong:
            first = wrong[0]
            raise beyond("problems", too_many(len(wrong), first.line, first.found), "such rows")
        row_lines.extend(lines)
        for column, texts in zip(texts_of, zip(*rows, strict=True), strict=False):
            column.extend(texts)
    columns_read = tuple(column.read for column in texts_of)
    return _Body(columns_read, row_lines, empty, unreadable, ragged)


_SOME = 100
"""Texts that are tried before all are."""
_MANY = 2_000
"""Different texts from which a column may be numbers of which nearly each is another."""


class _Texts:
    """Takes the texts of a column: as codes, or as numbers once hardly two of many are the same."""

    def __init__(self, clean: Callable[[str], str] = clean_cell) -> None:
        self._clean = clean
        self._encoder, self._codes = Encoder[str](), array("i")
        self._numerals: Numerals | None = None
        self._most = _MANY

    def extend(self, texts: Sequence[str]) -> None:
        """Add texts, some at a time."""
        if self._numerals is not None:
            self._numerals.extend(texts, self._clean)
            return
        self._codes.extend(map(self._encoder.__getitem__, texts))
        if len(self._encoder) > self._most:
            self._most *= 2
            if 2 * len(self._encoder) > len(self._codes):
                self._try_numerals()

    def _try_numerals(self) -> None:
        some, numerals, kinds = Numerals(), Numerals(), [*self._encoder]
        some.extend(kinds[-_SOME:], self._clean)
        if len(some.odd) * 2 > len(some):
            return  # all would be tried at each doubling, for texts that are no numbers
        numerals.extend([*map(kinds.__getitem__, self._codes)], self._clean)
        if len(numerals.odd) * 10 < len(numerals):
            self._numerals = numerals
            self._encoder.clear()

    @property
    def read(self) -> Coded[str] | Numerals:
        """The column."""
        if self._numerals is not None:
            return self._numerals
        codes = np.frombuffer(self._codes, np.int32)
        return Coded(codes, [*self._encoder]).map(self._clean).merged()


def too_many(number: int, line: int | None, found: str) -> str:
    """What is said of rows with a problem, where they are too many to be told."""
    return f"{number:,} rows or more with a problem, the first on line {line}: {found}"


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


def _read_parquet(path: Path, name: str, within: Path | None) -> tuple[Table | None, list[Problem]]:
    try:
        import pyarrow
        import pyarrow.parquet as pq
    except ImportError:
        found = "a Parquet file, and pyarrow is not installed"
        return None, [Problem.of("no-parquet", name, found)]
    try:
        with open_file(path, within) as packed:
            try:
                data = _unpacked(pq, packed)
            except (pyarrow.ArrowException, OSError) as error:
                found = str(error).split("\n")[0].rpartition("': ")[2]
                return None, [Problem.of("not-parquet", name, found)]
    except (OSError, NotRead) as error:
        return None, [not_read(error, path, name)]
    if not data.num_rows:
        return None, [Problem.of("empty-table", name, "no rows")]
    texts = tuple(map(_texts_of, data.columns))
    table = Table(name, tuple(data.column_names), texts, range(1, data.num_rows + 1))
    del data  # and have its memory given back, which pyarrow keeps for itself
    pyarrow.default_memory_pool().release_unused()
    return table, []


def _unpacked(pq: Any, packed: BinaryIO) -> Any:
    """The table in a file of Parquet.

    Raises:
        NotRead: For more rows, columns or bytes than the limits allow.
    """
    about = pq.read_metadata(packed)
    check_limit("rows", about.num_rows, "rows")
    check_limit("columns", about.num_columns, "columns")
    groups = [about.row_group(at) for at in range(about.num_row_groups)]
    size = os.fstat(packed.fileno()).st_size
    check_unpacked(sum(group.total_byte_size for group in groups), size)
    check_limit("unpacked_bytes", 8 * about.num_rows * about.num_columns, "bytes")
    # Texts that stand again and again in a column stay what they are in the file: one.
    texts = [
        column.path
        for at in range(about.num_columns)
        if (column := about.schema.column(at)).physical_type == "BYTE_ARRAY"
        and column.logical_type.type in ("STRING", "NONE")
    ]
    # Unlike read_table, this doesn't import pandas.
    with pq.ParquetFile(packed, metadata=about, read_dictionary=texts) as file:
        return file.read()


def _texts_of(column: Any) -> Coded[str] | Numerals:
    """The texts of a column of pyarrow."""
    import pyarrow

    try:
        encoded = column.dictionary_encode("encode")
    except (pyarrow.ArrowException, TypeError):  # such as lists
        return Coded.of(_parquet_texts(column))
    if isinstance(column.type, pyarrow.DictionaryType):
        return _of_dictionary(column.unify_dictionaries())
    kinds = encoded.chunk(0).dictionary
    if len(kinds) > max(_MANY, len(column) // 2):
        texts = _Texts(str)
        for chunk in column.chunks:
            for start in range(0, len(chunk), _MANY):
                texts.extend(_parquet_texts(chunk.slice(start, _MANY)))
        return texts.read
    codes = array("i")
    for chunk in filter(len, encoded.chunks):
        indices = chunk.indices  # of four bytes; to_numpy would import pandas
        end = indices.offset + len(indices)
        codes.frombytes(memoryview(indices.buffers()[1])[4 * indices.offset : 4 * end])
    return Coded(np.frombuffer(codes, np.int32), _parquet_texts(kinds)).merged()


def _of_dictionary(column: Any) -> Coded[str] | Numerals:
    """The texts of a column that has each once, and perhaps some that stand in no row."""
    kinds, texts = _parquet_texts(column.chunk(0).dictionary), _Texts(str)
    for chunk in column.chunks:
        for start in range(0, len(chunk), _MANY):
            codes = chunk.indices.slice(start, _MANY).to_pylist()
            texts.extend(["" if code is None else kinds[code] for code in codes])
    return texts.read


def _parquet_texts(values: Any) -> list[str]:
    """The values of an array of pyarrow as texts; nulls are empty ones."""
    import pyarrow

    # numpy prints a float32 as it was meant (47.3); a Python float of it has 47.2999…
    single = pyarrow.types.is_float32(values.type)
    found = values.to_pylist()
    if single:
        found = [None if value is None else np.float32(value) for value in found]
    return ["" if value is None else str(value) for value in found]
