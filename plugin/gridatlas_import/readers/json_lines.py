"""JSON lines: an object on each line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gridatlas.model.limits import check_json
from gridatlas_import.files import File
from gridatlas_import.json_values import parse_json, table_of
from gridatlas_import.rows import CannotImport, RawTable, Reported, importable

ENDINGS = (".jsonl", ".ndjson")


def read(file: File) -> RawTable:
    """A row per line; a line that isn't JSON is reported."""
    text, name = file.text, file.name
    with importable(name):
        check_json(text)
    records: list[tuple[str, Any]] = []
    broken: list[Reported] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                records.append((f"{name}:{number}", parse_json(line, name, number - 1)))
            except CannotImport as error:
                why = f"not JSON: {error.found.partition(': ')[2]}"
                broken.append(Reported(f"{name}:{number}", why, bad=True))
    table = table_of(records, "JSON lines")
    return replace(table, reported=(*table.reported, *broken))
