"""What was set in each log, as columns: the varied alone, wherever the tool puts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gridatlas.model.problems import join_names
from gridatlas_import.json_values import as_text, flat

UNSET = "unset"
"""The level of a setting that a log doesn't have, where others do: the tool's own choice."""
RESERVED = frozenset(
    {"model", "task", "status", "note", "n", "successes", "stderr", "reducer", "metric", "filter",
     "value", "kind", "place", "run", "state", "reading"}
)  # fmt: skip
"""Columns of the tables of logs; a setting of such a name gets its place before it."""


@dataclass(frozen=True, slots=True)
class Group:
    """Settings that stand at one place of a log.

    Attributes:
        shared: Whether its names mean the same as those of other shared groups, of which the
            first counts.
    """

    place: str
    values: Mapping[str, str]
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Varied:
    """The settings that vary: by name, the level of each log.

    Attributes:
        notes: Settings that logs have twice, with unequal values, or not at all.
    """

    columns: Mapping[str, Sequence[str]]
    notes: tuple[str, ...]


def group(place: str, tree: object, *, shared: bool = False) -> Group:
    """The settings at a place; what isn't set (null) is left out, as is what has no text."""
    texts: dict[str, str] = {}
    if isinstance(tree, Mapping):
        for key, value in flat(tree).items():
            text = as_text(value)
            if text:
                texts[str(key)] = text
    return Group(place, texts, shared)


def varied(logs: Sequence[Sequence[Group]], names: Sequence[str]) -> Varied:
    """The settings of logs that aren't the same in all of them.

    Args:
        logs: Of each log, its groups, those that count first in front.
        names: What the logs are called.
    """
    rows: list[dict[str, str]] = []
    apart = _apart(logs)
    notes: dict[str, list[str]] = {}
    for groups, log in zip(logs, names, strict=True):
        row: dict[str, str] = {}
        stated: dict[str, str] = {}
        for part in groups:
            for key, text in part.values.items():
                name = (
                    f"{part.place}.{key}" if key in RESERVED or (part.place, key) in apart else key
                )
                if name not in row:
                    row[name], stated[name] = text, part.place
                elif row[name] != text:
                    what = f"{name}: {stated[name]} counts, not {part.place}, which says otherwise"
                    notes.setdefault(what, []).append(log)
        rows.append(row)
    names_of = dict.fromkeys(name for row in rows for name in row)
    every = {name: [row.get(name, UNSET) for row in rows] for name in names_of}
    columns = {name: texts for name, texts in every.items() if len(set(texts)) > 1}
    messages = [f"{what} ({join_names(where, 3)})" for what, where in notes.items()]
    if gaps := [name for name, texts in columns.items() if UNSET in texts]:
        messages.append(f"{join_names(gaps)}: where a log doesn't set it, the level is {UNSET}")
    return Varied(columns, tuple(messages))


def _apart(logs: Sequence[Sequence[Group]]) -> set[tuple[str, str]]:
    """Places and names that mean something else than the same name at another place."""
    apart = set()
    for groups in logs:
        seen: dict[str, tuple[Group, str]] = {}
        for part in groups:
            for key, text in part.values.items():
                first, before = seen.setdefault(key, (part, text))
                if before != text and not (first.shared and part.shared):
                    apart.add((part.place, key))
    return apart
