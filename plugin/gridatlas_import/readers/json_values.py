"""JSON, whose numbers keep their digits: they are texts from the beginning."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import NoneType
from typing import Any

from gridatlas.model.limits import check_json
from gridatlas.model.problems import join_names, quote
from gridatlas_import.paths import guess_name, text_columns
from gridatlas_import.rows import CannotImport, RawTable, Reported, importable, unique_names
from gridatlas_import.vocabulary import SPLITS

JOIN = "+"
"""What stands between the parts of a list that is a level."""


class Number(str):
    """A number of a JSON file, as printed in it."""

    __slots__ = ()


def parse_json(text: str, name: str, line: int = 0) -> Any:
    """A JSON value; numbers are texts as printed.

    Args:
        line: Lines before the text, to count on.

    Raises:
        CannotImport: For text that isn't JSON.
    """
    try:
        with importable(name):
            check_json(text)
        return _DECODER.decode(text)
    except KeyError as error:
        raise CannotImport(
            f"{name}: the key {quote(error.args[0])} twice in one object",
            "each key once",
            "write the file again",
        ) from None
    except json.JSONDecodeError as error:
        place = f"{name}:{error.lineno + line}"
        raise CannotImport(
            f"{place}: {error.msg} at column {error.colno}", "JSON", "write the file again"
        ) from None
    except RecursionError:
        raise CannotImport(
            f"{name}: values nested too deeply", "a list of objects", "flatten the file"
        ) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise KeyError(next(key for key in found if keys.count(key) > 1))
    return found


_DECODER = json.JSONDecoder(
    parse_float=Number, parse_int=Number, parse_constant=Number, object_pairs_hook=_once
)


def flat(value: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """An object without objects in it: `{"a": {"b": 1}}` has the key `a.b`."""
    if not before and not any(isinstance(part, dict) for part in value.values()):
        return dict(value)
    found: dict[str, Any] = {}
    for key, part in value.items():
        if isinstance(part, Mapping):
            found |= flat(part, f"{before}{key}.")
        else:
            found[before + key] = part
    return found


def as_text(value: Any) -> str | None:
    """A value of JSON as text; None for one that has none (a list of objects)."""
    if isinstance(value, str):
        return value.strip()
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Sequence):
        parts = [as_text(part) for part in value if not isinstance(part, list | Mapping)]
        if len(parts) != len(value):
            return None
        return JOIN.join(part or "null" for part in parts)
    return None


def table_of(records: Sequence[tuple[str, Any]], form: str) -> RawTable:
    """A table of objects, each with its place.

    A list of plain values is joined with `+`, and said; a list of other things is no value, and
    its column is left out, and said. Two lists that would become one text are refused.

    Raises:
        CannotImport: For lists that can't be told apart.
    """
    flats: list[tuple[str, dict[str, Any]]] = []
    reported: list[Reported] = []
    for place, record in records:
        if isinstance(record, Mapping) and record:
            flats.append((place, flat(record)))
        elif isinstance(record, Mapping) or record is None:
            reported.append(Reported(place, "an empty object" if record is not None else "null"))
        else:
            why = f"{'a list' if isinstance(record, list) else quote(record)} instead of an object"
            reported.append(Reported(place, why, bad=True))
    if not flats:
        raise CannotImport(f"{form} without an object", "a list of objects", "name another file")
    names = dict.fromkeys(name for _, record in flats for name in record)
    places = [place for place, _ in flats]
    columns: dict[str, list[str]] = {}
    notes: list[str] = []
    for name in names:
        values = [record.get(name) for _, record in flats]
        texts = [as_text(value) for value in values]
        note, taken = _lists(name, places, values, texts)
        notes += [note] if note else []
        if taken:
            columns[name] = [text or "" for text in texts]
    unique, more = unique_names([*columns])
    renamed = dict(zip(unique, columns.values(), strict=True))
    return RawTable(form, renamed, places, tuple(reported), (*notes, *more))


def _lists(
    name: str, places: Sequence[str], values: Sequence[Any], texts: Sequence[str | None]
) -> tuple[str, bool]:
    """What is to be said of lists in a column, and whether it can be read."""
    if None in texts:
        place = places[texts.index(None)]
        return f"{name} is left out: at {place} it is a list of lists or objects", False
    if set(map(type, values)) <= {str, Number, NoneType}:
        distinct = set(values) - {None}
        if len({value.strip() for value in distinct}) == len(distinct):
            return "", True
    joined: dict[str, Any] = {}
    for place, value, text in zip(places, values, texts, strict=True):
        if text is None:
            continue
        if value is not None and joined.setdefault(text, value) != value:
            raise CannotImport(
                f"{name} at {place}: {json.dumps(value)} and {json.dumps(joined[text])}, "
                f"which both become {quote(text)}",
                "lists that stay different when their parts are joined",
                "write the levels as texts",
            )
    lists = any(isinstance(value, list) for value in joined.values())
    return (f"{name} has lists; their parts are joined with {JOIN}" if lists else ""), True


def read_lines(text: str, name: str) -> RawTable:
    """JSON lines: an object per line; a line that isn't JSON is reported."""
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


def is_rows_by_key(tree: Any) -> bool:
    """Whether an object has rows as its values: objects with keys that most of them share."""
    if not isinstance(tree, Mapping) or len(tree) < 2:
        return False
    rows = [row for row in tree.values() if isinstance(row, Mapping) and row]
    if len(rows) < len(tree) or {key.lower() for key in tree} <= SPLITS:
        return False
    every = set().union(*rows)
    shared = every.intersection(*rows)
    return len(shared) * 2 >= len(every) or all(
        isinstance(value, Number) for row in rows for value in row.values()
    )


def read_json(tree: Any, name: str) -> RawTable:
    """A list of objects, an object that holds one, rows by their keys, or columns by theirs.

    Raises:
        CannotImport: For anything else.
    """
    where = ""
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
            return _by_keys(tree, name, "")
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
            return _by_keys(rows, name, f"{where}.")
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
        return [(at, dict(zip(map(str, names), row, strict=False))) for at, row in enumerate(rows)]
    columns = [*tree.values()]
    if len(columns) < 2 or not all(isinstance(column, Mapping) and column for column in columns):
        return None
    keys = [*columns[0]]
    if not all(key.isdecimal() for key in keys) or any([*column] != keys for column in columns):
        return None
    return [(at, {name: tree[name][key] for name in tree}) for at, key in enumerate(keys)]


def _by_keys(tree: Mapping[str, Any], name: str, where: str) -> RawTable:
    """An object of rows, or of objects of rows: their keys are a column or several."""
    rows: list[tuple[tuple[str, ...], Mapping[str, Any]]] = []
    for key, value in tree.items():
        if is_rows_by_key(value):
            rows += [((key, inner), row) for inner, row in value.items()]
        else:
            rows.append(((key,), value))
    depth = max(len(keys) for keys, _ in rows)
    columns: dict[str, Sequence[str]] = {}
    for level in range(depth):
        texts = [keys[level] if level < len(keys) else "" for keys, _ in rows]
        for called, values in _columns_of_keys(texts, level):
            columns[called if called not in columns else f"{called}_{level + 2}"] = values
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
    return replace(table, origins=tuple(name for name in columns if name in table.columns))


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
            if len(found) > 1:
                return [(name, values) for name, values, _ in found]
    parts = [*text_columns(texts, "key")]
    named = [(name, values) for name, values, is_named in parts if is_named]
    if len(named) > 1:
        return named
    guessed = guess_name(texts, "task" if level == 0 or len({*texts}) > 1 else "key")
    return [(guessed, texts)]


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
