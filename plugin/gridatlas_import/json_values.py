"""JSON, whose numbers keep their digits: they are texts from the beginning."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any

from gridatlas.data.yaml import parse_yaml
from gridatlas.model.limits import check_json
from gridatlas.model.problems import quote
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


def parse_settings(text: str, name: str) -> Any:
    """A value of YAML.

    Raises:
        CannotImport: For text that isn't YAML.
    """
    tree, _, problems = parse_yaml(text, name)
    if problems:
        raise CannotImport(f"{name}: {problems[0].found}", problems[0].expected, problems[0].fix)
    return tree


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
    records = _opened(records)
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


def _opened(records: Sequence[tuple[str, Any]]) -> Sequence[tuple[str, Any]]:
    """Records with one member that has rows by their keys, as a record for each of these."""
    inner = [
        {key for key, value in record.items() if is_rows_by_key(value) and _are_flat(value)}
        for _, record in records
        if isinstance(record, Mapping)
    ]
    shared = set.intersection(*inner) if len(inner) == len(records) and inner else set()
    sizes = {name: min(len(record[name]) for _, record in records) for name in shared}
    name = max(sizes, key=lambda name: sizes[name], default="")
    if not name or [*sizes.values()].count(sizes[name]) > 1:
        return records
    return [
        (f"{place}.{key}", {**_without(record, name, row), name: key, **row})
        for place, record in records
        for key, row in record[name].items()
    ]


def _are_flat(rows: Mapping[str, Mapping[str, Any]]) -> bool:
    return not any(
        isinstance(value, Mapping | list) for row in rows.values() for value in row.values()
    )


def _without(record: Mapping[str, Any], name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """What a record says besides one of its members; its own sums have the names of rows' parts."""
    rest = {key: value for key, value in record.items() if key != name}
    return {f"all.{key}" if key in row else key: value for key, value in rest.items()}


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
