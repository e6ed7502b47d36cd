"""Read a study from disk, with the place of everything; judge only its form."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from gridatlas.data.runs import RunFiles, read_runs
from gridatlas.data.tables import Table, read_table
from gridatlas.data.text import found_and_expected, outside, read_text
from gridatlas.data.yaml import KeyPath, parse_yaml
from gridatlas.model.limits import excess
from gridatlas.model.problems import Problem, join_names, nearest, quote
from gridatlas.model.schema import FORMAT, ReadingEntry, StudyFile

STUDY_FILE = "study.yml"
DEFAULT_TABLE = "cells.csv"


@dataclass(frozen=True, slots=True)
class StudySource:
    """A study's files as read: the typed `study.yml`, and a table per readable reading.

    Attributes:
        documents: The texts that readings were typed from, by the readings' ids.
    """

    id: str
    name: str
    file: StudyFile
    lines: Mapping[KeyPath, int]
    readings: tuple[ReadingEntry, ...]
    tables: Mapping[str, Table]
    runs: RunFiles = field(default_factory=RunFiles)
    documents: Mapping[str, str] = field(default_factory=dict)

    def line(self, *path: str | int) -> int | None:
        """Line of a key in `study.yml`, or of the nearest key around it."""
        return nearest_line(self.lines, path)


def study_folders(data: Path) -> list[Path]:
    """The folders of the studies in a data folder, by name."""
    folders = data.iterdir() if data.is_dir() else ()
    # Links that lead nowhere count: they are a problem, and not a study less.
    return sorted(
        path
        for path in folders
        if os.path.lexists(path / STUDY_FILE) or (path.is_symlink() and not path.exists())
    )


def read_study(folder: Path, name: str) -> tuple[StudySource | None, list[Problem]]:
    """Read one study's folder; None where `study.yml` can't be understood.

    Args:
        folder: The study's folder.
        name: The folder's path as it shall stand in messages.
    """
    study_name = f"{name}/{STUDY_FILE}"
    problem = outside(folder, folder.parent, name)
    if problem:
        return None, [problem]
    text, problems = read_text(folder / STUDY_FILE, study_name, folder.parent)
    if text is None:
        return None, problems
    tree, lines, problems = parse_yaml(text, study_name)
    if problems:
        return None, problems
    file, problems = _typed(tree, lines, study_name)
    if file is None:
        return None, problems
    readings = file.readings or (ReadingEntry(id="cells", file=DEFAULT_TABLE),)
    line = nearest_line(lines, ("readings",))
    many = excess("readings", len(readings), "readings", study_name, line, "readings")
    if many:
        return None, [many]
    tables: dict[str, Table] = {}
    documents: dict[str, str] = {}
    for index, reading in enumerate(readings):
        line = nearest_line(lines, ("readings", index, "file"))
        table, found = _read_reading(folder, name, reading, line)
        problems += found
        if table is not None:
            tables[reading.id] = table
        if reading.text is not None:
            line = nearest_line(lines, ("readings", index, "text"))
            document, found = _read_document(folder, name, reading.text, line)
            problems += found
            if document is not None:
                documents[reading.id] = document
    runs, found = read_runs(folder, name)
    problems += found
    source = StudySource(folder.name, study_name, file, lines, readings, tables, runs, documents)
    return source, problems


def nearest_line(lines: Mapping[KeyPath, int], path: KeyPath) -> int | None:
    """Line of the key at `path`, or of the nearest key around it."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path)


# --- study.yml ----------------------------------------------------------------------------------


def _typed(
    tree: Any, lines: Mapping[KeyPath, int], name: str
) -> tuple[StudyFile | None, list[Problem]]:
    if not isinstance(tree, dict):
        found = "nothing" if tree is None else f"a {type(tree).__name__}"
        return None, [Problem.of("not-a-study", name, found, 1)]
    problem = _format_problem(tree, lines, name)
    if problem:
        return None, [problem]
    try:
        return StudyFile.model_validate(tree), []
    except ValidationError as error:
        errors = error.errors()
        places = [error["loc"] for error in errors]
        return None, [
            _schema_problem(error, lines, name)
            for error in errors
            if not (
                error["type"] == "too_short"
                and any(
                    p[: len(error["loc"])] == error["loc"] and p != error["loc"] for p in places
                )
            )
        ]


def _format_problem(
    tree: Mapping[str, Any], lines: Mapping[KeyPath, int], name: str
) -> Problem | None:
    line = lines.get(("format",), 1)
    if "format" not in tree:
        near = nearest("format", tree)
        found = f"no key format; {quote(near)} is like it" if near else "no key format"
        return Problem.of("no-format", name, found, 1, "format")
    version = tree["format"]
    if version == FORMAT and not isinstance(version, bool):
        return None
    if isinstance(version, int) and version > FORMAT:
        return Problem.of("newer-format", name, str(version), line, "format")
    return Problem.of("unknown-format", name, quote(version), line, "format")


def _schema_problem(error: Any, lines: Mapping[KeyPath, int], name: str) -> Problem:
    path: KeyPath = tuple(error["loc"])
    line = nearest_line(lines, path)
    column = ".".join(str(part) for part in path)
    kind = error["type"]
    key = str(path[-1]) if path else ""
    if kind == "extra_forbidden":
        valid_keys = _keys_at(path[:-1])
        near = nearest(key, valid_keys)
        fix = f"write {near} instead of {key}" if near else None
        keys, found = join_names(valid_keys, 40), f"the key {quote(key)}"
        return Problem.of(
            "unknown-key", name, found, line, column, fix=fix, values={"keys": keys, "key": key}
        )
    if kind == "missing":
        return Problem.of(
            "missing-key", name, f"no key {quote(key)}", line or 1, column, values={"key": key}
        )
    value, (found, expected) = error["input"], found_and_expected(error)
    if kind in ("string_too_long", "too_long") and isinstance(value, str | int | Decimal):
        expected = f"at most {error['ctx']['max_length']} characters"
    if kind == "string_pattern_mismatch" and "https" in expected:
        expected = "an address that begins with https://"
    elif kind == "string_pattern_mismatch":
        expected = "lower-case letters, digits, '_', '.', '-', beginning with a letter or digit"
    fix = f"correct {column}"
    return Problem.of("wrong-value", name, found, line, column, expected=expected, fix=fix)


@cache
def _json_schema() -> dict[str, Any]:
    return StudyFile.model_json_schema()


def _keys_at(path: KeyPath) -> list[str]:
    """The keys that the format knows at a place in `study.yml`, from its JSON Schema."""
    schema = _json_schema()
    node: dict[str, Any] = schema
    for part in path:
        if isinstance(part, int):
            node = node.get("items", {})
        else:
            node = node.get("properties", {}).get(part) or node.get("additionalProperties", {})
        options = [option for option in node.get("anyOf", ()) if option.get("type") != "null"]
        if options:
            # A level is a scalar or a mapping; the keys are those of the mapping.
            node = next((option for option in options if "$ref" in option), options[-1])
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
    problem = _outside_folder(folder, name, reading.file, line, "readings.file")
    if problem:
        return None, [problem]
    return read_table(folder / reading.file, f"{name}/{reading.file}", folder)


def _read_document(
    folder: Path, name: str, file: str, line: int | None
) -> tuple[str | None, list[Problem]]:
    problem = _outside_folder(folder, name, file, line, "readings.text")
    if problem:
        return None, [problem]
    text, problems = read_text(folder / file, f"{name}/{file}", folder)
    long = excess("document_characters", len(text or ""), "characters", f"{name}/{file}")
    return (None, [long]) if long else (text, problems)


def _outside_folder(
    folder: Path, name: str, file: str, line: int | None, column: str
) -> Problem | None:
    """The problem of a file that isn't in the study's folder."""
    parts = PurePosixPath(file)
    inside = not parts.is_absolute() and ".." not in parts.parts and "\\" not in file
    if inside and "\0" not in file and _within(folder / file, folder):
        return None
    return Problem.of("file-outside", f"{name}/{STUDY_FILE}", quote(file), line, column)
