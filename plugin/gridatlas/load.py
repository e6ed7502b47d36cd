"""Read `study.yml` and tables from disk, with the place of everything; judge only their form."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from pydantic import ValidationError

from gridatlas.problems import Problem, listed, nearest, shown
from gridatlas.schema import FORMAT, ReadingEntry, StudyFile

STUDY_FILE = "study.yml"
DEFAULT_TABLE = "cells.csv"
MAX_NODES = 200_000
"""YAML values in one file, aliases expanded; more is taken for a mistake (or an attack)."""

KeyPath = tuple[str | int, ...]


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


@dataclass(frozen=True, slots=True)
class StudySource:
    """A study's files as read: the typed `study.yml`, and a table per readable reading."""

    id: str
    name: str
    file: StudyFile
    lines: Mapping[KeyPath, int]
    readings: tuple[ReadingEntry, ...]
    tables: Mapping[str, Table]

    def line(self, *path: str | int) -> int | None:
        """Line of a key in `study.yml`, or of the nearest key around it."""
        return nearest_line(self.lines, path)


def study_folders(data: Path) -> list[Path]:
    """The folders of the studies in a data folder, by name."""
    return sorted(path.parent for path in data.glob(f"*/{STUDY_FILE}"))


def read_study(folder: Path, name: str) -> tuple[StudySource | None, list[Problem]]:
    """Read one study's folder; None where `study.yml` can't be understood.

    Args:
        folder: The study's folder.
        name: The folder's path as it shall stand in messages.
    """
    study_name = f"{name}/{STUDY_FILE}"
    text, problems = _read_text(folder / STUDY_FILE, study_name)
    if text is None:
        return None, problems
    tree, lines, problems = parse_yaml(text, study_name)
    if problems:
        return None, problems
    file, problems = _typed(tree, lines, study_name)
    if file is None:
        return None, problems
    readings = file.readings or (ReadingEntry(id="cells", file=DEFAULT_TABLE),)
    tables: dict[str, Table] = {}
    for index, reading in enumerate(readings):
        line = nearest_line(lines, ("readings", index, "file"))
        table, found = _read_reading(folder, name, reading, line)
        problems += found
        if table is not None:
            tables[reading.id] = table
    return StudySource(folder.name, study_name, file, lines, readings, tables), problems


def nearest_line(lines: Mapping[KeyPath, int], path: KeyPath) -> int | None:
    """Line of the key at `path`, or of the nearest key around it."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path)


# --- text ---------------------------------------------------------------------------------------


def _read_text(path: Path, name: str) -> tuple[str | None, list[Problem]]:
    """The text of a UTF-8 file (a byte order mark is allowed), or the problem with it."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        beside = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
        near = nearest(path.name, beside)
        return None, [
            Problem(
                "no-such-file",
                name,
                "no such file" + (f"; there is {shown(near)}" if near else ""),
                "a file that can be read",
                f"rename {shown(near)} or correct the name" if near else "add the file",
            )
        ]
    except OSError as error:
        return None, [
            Problem(
                "unreadable-file",
                name,
                error.strerror or str(error),
                "a file that can be read",
                "check its permissions, and that it is a file",
            )
        ]
    if not data.removeprefix(b"\xef\xbb\xbf").strip():
        return None, [
            Problem("empty-file", name, "an empty file", "content", "write it, or remove the file")
        ]
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return None, [_encoding(name, 1, "text in UTF-16")]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        found = f"byte 0x{data[error.start]:02x} at column {column}, which is not UTF-8"
        return None, [_encoding(name, line, found)]
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        return None, [_encoding(name, line, "a NUL character")]
    return text, []


def _encoding(name: str, line: int, found: str) -> Problem:
    mend = "save the file as UTF-8"
    return Problem("wrong-encoding", name, found, "text in UTF-8", mend, line=line)


# --- YAML ---------------------------------------------------------------------------------------


class _Yaml(yaml.SafeLoader):
    """YAML's core schema: only true/false are booleans, and dates stay text."""


_Yaml.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if not tag.endswith((":bool", ":timestamp"))]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _first, _words in (("t", "true"), ("f", "false"), ("T", "True"), ("F", "False")):
    _Yaml.yaml_implicit_resolvers.setdefault(_first, []).append(
        ("tag:yaml.org,2002:bool", re.compile(f"^{_words}$"))
    )


class _Refused(Exception):
    """A YAML file that is well formed and still not taken; carries found, mend and line."""

    def __init__(self, found: str, mend: str, line: int) -> None:
        super().__init__(found)
        self.found, self.mend, self.line = found, mend, line


def parse_yaml(text: str, name: str) -> tuple[Any, dict[KeyPath, int], list[Problem]]:
    """Parse YAML into plain values (numbers exact, as int or Decimal) and the line of each key."""
    lines: dict[KeyPath, int] = {}
    loader = None
    try:
        loader = _Yaml(text)
        node = loader.get_single_node()
        budget = iter(range(MAX_NODES))
        tree = None if node is None else _value(node, (), lines, budget, frozenset())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        found = error.problem or "a line that is not YAML"
        mend = "check the indentation, colons and quotes of this line and the one above"
        line = mark.line + 1 if mark else 1
        return None, lines, [Problem("not-yaml", name, found, "YAML", mend, line=line)]
    except yaml.YAMLError as error:
        found = str(error).split("\n")[0]
        return None, lines, [Problem("not-yaml", name, found, "YAML", "save it as plain text")]
    except (ValueError, OverflowError):
        # PyYAML hands the code of an escape to chr() as it is.
        line = loader.get_mark().line + 1 if loader else 1
        found, mend = "an escape beyond Unicode", "correct the escape in double quotes"
        return None, lines, [Problem("not-yaml", name, found, "YAML", mend, line=line)]
    except RecursionError:
        found, mend = "values nested too deeply", "flatten the file"
        return None, lines, [Problem("not-yaml", name, found, "a study's few levels", mend)]
    except _Refused as refused:
        problem = Problem(
            "not-yaml",
            name,
            refused.found,
            "each key once, plain values",
            refused.mend,
            line=refused.line,
        )
        return None, lines, [problem]
    return tree, lines, []


def _value(
    node: yaml.Node,
    path: KeyPath,
    lines: dict[KeyPath, int],
    budget: Iterator[int],
    around: frozenset[int],
) -> Any:
    line = node.start_mark.line + 1
    lines.setdefault(path, line)
    if next(budget, None) is None:
        raise _Refused(f"more than {MAX_NODES} values", "write aliases out, or use fewer", line)
    if id(node) in around:
        raise _Refused("an alias to a value that contains it", "write the value out", line)
    around = around | {id(node)}
    if not isinstance(node, yaml.ScalarNode) and not node.tag.endswith((":map", ":seq")):
        raise _Refused(f"a value tagged {shown(node.tag)}", "remove the tag", line)
    if isinstance(node, yaml.SequenceNode):
        return [
            _value(item, (*path, index), lines, budget, around)
            for index, item in enumerate(node.value)
        ]
    if isinstance(node, yaml.MappingNode):
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key_line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise _Refused("a key that is a list or a mapping", "use a plain key", key_line)
            key = str(key_node.value)
            if key in mapping:
                first = lines[(*path, key)]
                found = f"the key {shown(key)} again; it stands on line {first} already"
                raise _Refused(found, "keep one of them", key_line)
            lines[(*path, key)] = key_line
            mapping[key] = _value(value_node, (*path, key), lines, budget, around)
        return mapping
    return _scalar(node)


def _scalar(node: yaml.Node) -> Any:
    text = str(node.value)
    if unprintable(text):
        at = node.start_mark.line + 1
        raise _Refused(f"a control character in {shown(text)}", "remove it", at)
    kind = node.tag.rsplit(":", 1)[-1]
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() == "true"
    if kind in ("int", "float"):
        try:
            number = Decimal(text.replace("_", ""))
        except ArithmeticError:
            return text  # 0x1f, 1:30 and .inf are numbers in YAML 1.1 only
        plain = number == number.to_integral_value() and kind == "int"
        return int(number) if plain and len(text) < 40 else number
    if kind in ("str", "timestamp"):
        return text
    line = node.start_mark.line + 1
    raise _Refused(f"a value tagged {shown(node.tag)}", "remove the tag", line)


# --- study.yml ----------------------------------------------------------------------------------


def _typed(
    tree: Any, lines: Mapping[KeyPath, int], name: str
) -> tuple[StudyFile | None, list[Problem]]:
    if not isinstance(tree, dict):
        found = "nothing" if tree is None else f"a {type(tree).__name__}"
        mend = "begin with the line format: 1"
        return None, [Problem("not-a-study", name, found, "keys and values", mend, line=1)]
    problem = _format_problem(tree, lines, name)
    if problem:
        return None, [problem]
    try:
        return StudyFile.model_validate(tree), []
    except ValidationError as error:
        errors = error.errors()
        places = [one["loc"] for one in errors]
        return None, [
            _schema_problem(one, lines, name)
            for one in errors
            if not (
                one["type"] == "too_short"
                and any(p[: len(one["loc"])] == one["loc"] and p != one["loc"] for p in places)
            )
        ]


def _format_problem(
    tree: Mapping[str, Any], lines: Mapping[KeyPath, int], name: str
) -> Problem | None:
    expected = f"format: {FORMAT}"
    line = lines.get(("format",), 1)
    if "format" not in tree:
        near = nearest("format", tree)
        found = f"no key format; {shown(near)} is like it" if near else "no key format"
        mend = f"add the line {expected}"
        return Problem("no-format", name, found, expected, mend, line=1, column="format")
    version = tree["format"]
    if version == FORMAT and not isinstance(version, bool):
        return None
    if isinstance(version, int) and version > FORMAT:
        mend = "update gridatlas; this version reads format 1"
        return Problem("newer-format", name, str(version), expected, mend, line, "format")
    mend = "write format: 1; there is no older one"
    return Problem("unknown-format", name, shown(version), expected, mend, line, "format")


def _schema_problem(error: Any, lines: Mapping[KeyPath, int], name: str) -> Problem:
    path: KeyPath = tuple(error["loc"])
    line = nearest_line(lines, path)
    column = ".".join(str(part) for part in path)
    kind = error["type"]
    key = str(path[-1]) if path else ""
    if kind == "extra_forbidden":
        known = _keys_at(path[:-1])
        near = nearest(key, known)
        return Problem(
            "unknown-key",
            name,
            f"the key {shown(key)}",
            f"one of {listed(known, 30)}",
            f"write {near} instead of {key}" if near else f"remove {key}",
            line,
            column,
        )
    if kind == "missing":
        return Problem(
            "missing-key",
            name,
            f"no key {shown(key)}",
            f"a value for {key}",
            f"add the line {key}: …",
            line or 1,
            column,
        )
    value = error["input"]
    found = f"a {'list' if isinstance(value, list | tuple) else 'mapping'}"
    if not isinstance(value, list | tuple | dict):
        found = "nothing" if value is None else shown(value)
    expected = _EXPECTED.get(kind) or (
        error["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    )
    if kind == "string_pattern_mismatch" and "https" in expected:
        expected = "an address that begins with https://"
    elif kind == "string_pattern_mismatch":
        expected = "lower-case letters, digits, '_', '.', '-', beginning with a letter or digit"
    return Problem("wrong-value", name, found, expected, f"correct {column}", line, column)


_EXPECTED = {
    "dict_type": "keys with values",
    "int_type": "a whole number",
    "model_type": "keys with values",
    "string_too_short": "a text that is not empty",
    "string_type": "a text",
    "too_short": "at least one entry",
    "tuple_type": "a list",
}
"""Plain words for what pydantic says in Python's."""


def _keys_at(path: KeyPath) -> list[str]:
    """The keys that the format knows at a place in `study.yml`, from its JSON Schema."""
    schema = StudyFile.model_json_schema()
    node: dict[str, Any] = schema
    for part in path:
        if isinstance(part, int):
            node = node.get("items", {})
        else:
            node = node.get("properties", {}).get(part) or node.get("additionalProperties", {})
        options = [one for one in node.get("anyOf", ()) if one.get("type") != "null"]
        if options:
            # A level is a scalar or a mapping; the keys are those of the mapping.
            node = next((one for one in options if "$ref" in one), options[-1])
        if "$ref" in node:
            node = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    return sorted(node.get("properties", {}))


# --- tables -------------------------------------------------------------------------------------


def _within(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a link to itself
        return False


def _read_reading(
    folder: Path, name: str, reading: ReadingEntry, line: int | None
) -> tuple[Table | None, list[Problem]]:
    parts = PurePosixPath(reading.file)
    inside = not parts.is_absolute() and ".." not in parts.parts and "\\" not in reading.file
    path = folder / reading.file
    if not inside or "\0" in reading.file or not _within(path, folder):
        problem = Problem(
            "file-outside",
            f"{name}/{STUDY_FILE}",
            shown(reading.file),
            "a file in the study's own folder",
            "copy the file into the folder of this study",
            line,
            "readings.file",
        )
        return None, [problem]
    table_name = f"{name}/{reading.file}"
    if path.suffix == ".parquet":
        return _read_parquet(path, table_name)
    text, problems = _read_text(path, table_name)
    return (None, problems) if text is None else parse_csv(text, table_name)


def unprintable(text: str) -> bool:
    """Whether a text has a character that no XML can hold."""
    return re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", text) is not None


def parse_csv(text: str, name: str) -> tuple[Table | None, list[Problem]]:
    """Split CSV text (commas, double quotes, a header) into a table; ragged rows are problems."""
    rows: list[Row] = []
    problems: list[Problem] = []
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        for values in reader:
            if values:
                rows.append(Row(line, tuple(value.strip() for value in values)))
            line = reader.line_num + 1
    except csv.Error as error:
        mend = 'double the quotes within a quoted value ("") and close each one'
        problem = Problem("not-csv", name, str(error), "comma-separated values", mend, line)
        return None, [problem]
    if not rows:
        return None, [
            Problem("empty-file", name, "an empty file", "content", "write it, or remove the file")
        ]
    columns = rows[0].values
    problems += [
        Problem(
            "control-character",
            name,
            shown(value),
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
                f"{_values(len(row.values))}: {shown(','.join(row.values))}",
                f"{_values(len(columns))}, one per column: {listed(columns)}",
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
        mend = 'pip install "gridatlas[parquet]", or save the table as CSV'
        found = "a Parquet file, and pyarrow is not installed"
        return None, [Problem("no-parquet", name, found, "the extra parquet", mend)]
    if not path.exists():
        return None, _read_text(path, name)[1]
    try:
        data = pq.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        found = str(error).split("\n")[0].rpartition("': ")[2]
        mend = "write the file again"
        return None, [Problem("not-parquet", name, found, "a Parquet file", mend)]
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
        mend = "add rows, or remove this reading"
        return None, [Problem("empty-table", name, "no rows", "at least one row", mend)]
    return Table(name, tuple(data.column_names), rows), []
