"""Tables as JSON: a list of objects, rows or columns by their keys, or a file per cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import NoneType
from typing import Any

from gridatlas.model.problems import join_names
from gridatlas_import.files import File
from gridatlas_import.json_values import Number, is_rows_by_key, table_of
from gridatlas_import.paths import guess_name, matched, path_columns, text_columns
from gridatlas_import.rows import CannotImport, RawTable, unique_names

ENDINGS = (".json",)
Row = tuple[tuple[str, ...], Mapping[str, Any]]
"""The keys that lead to an object, and the object."""


def read_all(files: Sequence[File]) -> RawTable | None:
    """A table of files with one object each; None where a file is no such object."""
    pattern = files[0].asked.pattern
    names, trees = [file.name for file in files], [file.tree for file in files]
    if len(trees) < 2 and not pattern:
        return None
    one_cell = [
        isinstance(tree, Mapping)
        and bool(tree)
        and not is_rows_by_key(tree)
        and not any(isinstance(v, list) and v and isinstance(v[0], Mapping) for v in tree.values())
        for tree in trees
    ]
    if not any(one_cell):
        return None
    if pattern:
        parts = [matched(name, pattern) for name in names]
    else:
        found = path_columns(names)
        parts = [
            {name: texts[at] for name, texts in found.columns.items()} for at in range(len(names))
        ]
    records = []
    for tree, name, part, fits in zip(trees, names, parts, one_cell, strict=True):
        taken = {key: value for key, value in part.items() if not fits or key not in tree}
        records.append((name, {**taken, **tree} if fits else tree))
    keys = set() if pattern else {key for part in parts for key in part}
    table = table_of(records, f"{len(trees)} JSON files with one cell each")
    return replace(table, origins=tuple(key for key in table.columns if key in keys))


def read(file: File) -> RawTable:
    """A list of objects, an object that holds one, rows by their keys, or columns by theirs.

    Lists below a list of names are rows, too.

    Raises:
        CannotImport: For anything else.
    """
    where, tree, name = "", file.tree, file.name
    rows = tree if isinstance(tree, list) and all(isinstance(row, list) for row in tree) else []
    if len({*map(len, rows)}) == 1 and {*map(type, rows[0])} == {str}:
        tree = {"columns": tree[0], "data": tree[1:]}
    if isinstance(tree, Mapping):
        lists = {
            key: value
            for key, value in tree.items()
            if isinstance(value, list) and value and all(isinstance(row, Mapping) for row in value)
        }
        turned = _turned(tree)
        if turned is not None:
            return table_of([(f"{name}:[{at}]", row) for at, row in turned], "JSON by columns")
        by_key = {key: value for key, value in tree.items() if is_rows_by_key(value)}
        if is_rows_by_key(tree):
            return _by_keys(_rows(tree), name, "")
        nested = [] if lists else _nested(tree)
        if nested and len(nested[0][0]) > 2:
            table = _by_keys(nested, name, "")
            note = f"read: {len(nested)} objects with numbers, without lists and objects in them"
            return replace(table, notes=(*table.notes, note))
        if len(lists) == 1:
            [(where, tree)] = lists.items()
        elif len(lists) > 1:
            raise CannotImport(
                f"{name} with the lists {join_names(lists)}",
                "one list of objects",
                "write one of them to a file of its own",
            )
        elif tree and all(isinstance(values, list) for values in tree.values()):
            return _columns(tree, name)
        elif len(by_key) == 1:
            [(where, rows)] = by_key.items()
            return _by_keys(_rows(rows), name, f"{where}.")
        elif nested:
            return _by_keys(nested, name, "")
    if not isinstance(tree, list):
        raise CannotImport(
            f"{name}, a JSON {'object' if isinstance(tree, Mapping) else 'value'} without a list "
            "of objects",
            "a list of objects, or results of lm-evaluation-harness or MTEB",
            "write one object per row; a folder of files with one cell each is imported by "
            "naming the folder",
        )
    records = [(f"{name}:{where}[{number}]", record) for number, record in enumerate(tree)]
    return table_of(records, "JSON")


def _turned(tree: Mapping[str, Any]) -> list[tuple[int, dict[str, Any]]] | None:
    """The rows of pandas' forms with columns first, or apart; None for other objects."""
    names, rows = tree.get("columns"), tree.get("data")
    if (
        isinstance(names, list)
        and isinstance(rows, list)
        and all(isinstance(r, list) for r in rows)
    ):
        names = unique_names([*map(str, names)])[0]
        return [(at, dict(zip(names, row, strict=False))) for at, row in enumerate(rows)]
    columns = [*tree.values()]
    if len(columns) < 2 or not all(isinstance(column, Mapping) and column for column in columns):
        return None
    keys = [*columns[0]]
    if not all(key.isdecimal() for key in keys) or any([*column] != keys for column in columns):
        return None
    return [(at, {name: tree[name][key] for name in tree}) for at, key in enumerate(keys)]


def _rows(tree: Mapping[str, Any]) -> Sequence[Row]:
    """The rows of an object of rows, or of objects of rows."""
    found: list[Row] = []
    for key, value in tree.items():
        inner = value.items() if is_rows_by_key(value) else ()
        found += [((key, other), row) for other, row in inner] or [((key,), value)]
    return found


def _nested(tree: Mapping[str, Any]) -> list[Row]:
    """The first objects that have numbers by themselves, where several stand equally deep."""
    level: list[Row] = [((), tree)]
    while level:
        rows = [
            (keys, {k: v for k, v in row.items() if not isinstance(v, list | Mapping)})
            for keys, row in level
            if any(isinstance(value, Number | NoneType) for value in row.values())
        ]
        if len(rows) > 1:
            return [*rows]
        level = [
            ((*keys, key), value)
            for keys, row in level
            for key, value in row.items()
            if isinstance(value, Mapping)
        ]
    return []


def _by_keys(rows: Sequence[Row], name: str, where: str) -> RawTable:
    """Rows whose keys are a column or several; one key of all says what those below it are."""
    depth = max(len(keys) for keys, _ in rows)
    columns: dict[str, Sequence[str]] = {}
    above = ""
    for level in range(depth):
        texts = [keys[level] if level < len(keys) else "" for keys, _ in rows]
        if depth > 2 and len({*texts}) == 1:
            above = texts[0]
            continue
        for called, values in [(above, texts)] if above else _columns_of_keys(texts, level):
            columns[called if called not in columns else f"{called}_{level + 2}"] = values
        above = ""
    records = [
        (
            f"{name}:{where}{'.'.join(keys)}",
            {
                **{called: texts[at] for called, texts in columns.items() if called not in row},
                **row,
            },
        )
        for at, (keys, row) in enumerate(rows)
    ]
    table = table_of(records, "JSON by rows")
    return replace(
        table, origins=tuple(name for name in columns if name in table.columns and name != "model")
    )


def _columns_of_keys(texts: Sequence[str], level: int) -> list[tuple[str, Sequence[str]]]:
    """Keys as columns: their parts where they are joined, else as they are."""
    for separator in ("|", "/", "::", ",", " "):
        split = [text.split(separator) for text in texts]
        if len({*map(len, split)}) == 1 and len(split[0]) > 1:
            found = [
                part
                for at, position in enumerate(zip(*split, strict=True))
                for part in text_columns(position, f"part_{at + 1}")
            ]
            if len(found) > 1 and _are_crossed([values for _, values, _ in found]):
                return [(name, values) for name, values, _ in found]
    parts = [*text_columns(texts, "key")]
    named = [(name, values) for name, values, is_named in parts if is_named]
    if len(named) > 1:
        return named
    guessed = guess_name(texts, "task" if level == 0 or len({*texts}) > 1 else "key")
    return [(guessed, texts)]


def _are_crossed(parts: Sequence[Sequence[str]]) -> bool:
    """Whether parts of names are factors: of their combinations at least half are there."""
    possible = math.prod(len({*values}) for values in parts)
    return 2 * len({*zip(*parts, strict=True)}) >= possible


def _columns(tree: Mapping[str, list[Any]], name: str) -> RawTable:
    """An object with a list per column."""
    lengths = {len(values) for values in tree.values()}
    if len(lengths) != 1:
        raise CannotImport(
            f"{name} with columns of {join_names(sorted(lengths))} values",
            "as many values in each column",
            "write one object per row",
        )
    [length] = lengths
    records = [
        (f"{name}:[{number}]", {key: values[number] for key, values in tree.items()})
        for number in range(length)
    ]
    return table_of(records, "JSON by columns")
