"""What names of files and folders say: parts such as `lr=0.1`, and where they vary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from gridatlas.model.directions import words_of
from gridatlas_import import vocabulary as terms
from gridatlas_import.rows import WrongUsage, unused

_STAMP = re.compile(
    r"[_.-]*\d{4}-?\d\d-?\d\d(?:[T_ -]\d\d[-:_]?\d\d(?:[-:_]?\d\d)?(?:\.\d+)?)?(?![0-9])|"
    r"(?:__|[_-])[0-9a-f]{12,40}(?=_|-|$)"
)
_PAIR = re.compile(r"([A-Za-z][A-Za-z_]*?)[=]?[_=-]?([+-]?\d+(?:\.\d+)?(?:e-?\d+)?)")
_EQUALS = re.compile(r"([A-Za-z][\w./]*?)[=:](.+)")
_NUMBER = re.compile(r"[+-]?\d+(?:[.p]\d+)?(?:e-?\d+)?")
PART = "part"
"""Name of a part of a name that nothing is known of."""
_COMMON = words_of("""
    results result metrics metric samples sample output outputs out eval evaluation evals scores
    score summary final clean log logs run data report preds predictions test benchmark bench all
    """)
"""Words at the ends of names that say nothing of a level."""


@dataclass(frozen=True, slots=True)
class PathColumns:
    """What paths say, by the names of the columns that it becomes.

    Attributes:
        columns: A text for each path.
        named: Columns whose names stand in the paths themselves.
    """

    columns: Mapping[str, Sequence[str]]
    named: frozenset[str] = frozenset()


def path_columns(names: Sequence[str]) -> PathColumns:
    """The columns of paths without endings: a part that varies is a column.

    Args:
        names: Paths with slashes, below the folder that all have in common.
    """
    split = [PurePosixPath(name).with_suffix("").parts for name in names]
    depth = min(map(len, split), default=0)
    if {*map(len, split)} != {depth}:
        split = [(parts[-1],) for parts in split]
        depth = 1
    columns: dict[str, Sequence[str]] = {}
    named: set[str] = set()
    for level in range(depth):
        texts = [parts[level] for parts in split]
        fallback = "file" if level == depth - 1 else f"folder_{level + 1}"
        for name, values, is_named in text_columns(texts, fallback):
            called = unused(name, columns)
            columns[called] = values
            named |= {called} if is_named else set()
    return PathColumns(columns, frozenset(named))


def text_columns(texts: Sequence[str], fallback: str) -> Iterator[tuple[str, Sequence[str], bool]]:
    """What texts of one form say: name, a value for each, and whether the name stands in them."""
    texts = [_STAMP.sub("", text).strip("_-. ") or text for text in texts]
    if len(set(texts)) < 2:
        return
    for separator in ("__", "/", "|"):
        by_position = [text.split(separator) for text in texts]
        if len({*map(len, by_position)}) == 1 and len(by_position[0]) > 1:
            for position in zip(*by_position, strict=True):
                yield from text_columns(position, PART)
            return
    pairs = [*map(_pairs, texts)]
    keys = [tuple(key for key, _ in found) for found, _ in pairs]
    if len(set(keys)) == 1 and keys[0]:
        for at, key in enumerate(keys[0]):
            values = [found[at][1] for found, _ in pairs]
            if len(set(values)) > 1:
                yield key, values, True
        rest = [left for _, left in pairs]
        if len(set(rest)) > 1 and all(rest):
            yield guess_name(rest, fallback), rest, False
        return
    for separator in ("_", "-"):
        by_position = [text.split(separator) for text in texts]
        varied = [
            position for position in zip(*by_position, strict=False) if len(set(position)) > 1
        ]
        crossed = len({*map(len, by_position)}) == 1 and len(varied) >= 2
        guesses = [guess_name(position, "") for position in varied]
        if crossed and all(guesses) and len(set(guesses)) == len(guesses):
            for name, position in zip(guesses, varied, strict=True):
                yield name, position, False
            return
    bare = _without_common(texts)
    yield guess_name(bare, fallback), bare, False


def _pairs(text: str) -> tuple[list[tuple[str, str]], str]:
    """Names and values in a text such as `lr=0.1,layer-3` or `len_1000_depth_0`, and the rest."""
    found: list[tuple[str, str]] = []
    rest: list[str] = []
    tokens = re.split(r"[,;&|\s]+|_(?=[A-Za-z])|(?<=\d)-(?=[A-Za-z])", text)
    for token in filter(None, tokens):
        equal = _EQUALS.fullmatch(token)
        pair = _PAIR.fullmatch(token)
        if equal:
            found.append((equal[1], equal[2]))
        elif pair and not terms.MODELS.fullmatch(token) and _is_key(pair[1]):
            found.append((pair[1], pair[2].replace("p", ".")))
        else:
            rest.append(token)
    return found, "_".join(rest)


def _is_key(key: str) -> bool:
    last = key.lower().split("_")[-1]
    return last in terms.FACTORS | terms.REPEATS | terms.WEAK_FACTORS or len(key) <= 3


def _without_common(texts: Sequence[str]) -> list[str]:
    """Texts without words at both ends that all of them have and that say nothing."""
    found = [*texts]
    for pattern in (r"([A-Za-z]+)[_-]+(.+)", r"(.+?)[_-]+([A-Za-z]+)"):
        at = 1 if pattern.startswith("([") else 2
        while True:
            matches = [re.fullmatch(pattern, text) for text in found]
            words = {match[at].lower() for match in matches if match}
            if not all(matches) or len(words) > 1 or not words <= _COMMON:
                break
            found = [match[3 - at] for match in matches if match]
    return found if len(set(found)) == len(set(texts)) else [*texts]


def guess_name(levels: Sequence[str], fallback: str) -> str:
    """What levels without a name are probably levels of."""
    texts = [*dict.fromkeys(levels)]
    if all(map(_NUMBER.fullmatch, texts)):
        values = [float(text.replace("p", ".")) for text in texts]
        if all(0 <= value <= 1 for value in values) and any(value % 1 for value in values):
            return "ratio"
        small = all(value == at or value == at + 1 for at, value in enumerate(sorted(values)))
        return "run" if small else "size"
    if {text.lower() for text in texts} <= terms.SPLITS:
        return "split"
    vision = sum(bool(terms.VISION_SETS.match(text)) for text in texts)
    benchmarks = sum(bool(terms.BENCHMARKS.match(text)) for text in texts)
    if benchmarks * 2 >= len(texts):
        return "dataset" if vision * 2 >= benchmarks else "task"
    if sum(bool(terms.MODELS.fullmatch(text)) for text in texts) * 2 >= len(texts):
        return "model"
    if all(re.fullmatch(r"[\w.-]+/[\w.:-]+", text) for text in texts) and fallback != PART:
        return "model"
    words = all(re.fullmatch(r"[A-Za-z][A-Za-z_ -]*\d*", text) for text in texts)
    return "method" if fallback in ("", PART) and words else fallback


def matched(name: str, pattern: str) -> dict[str, str]:
    """The parts of a path that `--path` names.

    Raises:
        CannotImport: For a path that isn't of that form.
    """
    pieces = re.split(r"\{(\w+)\}", pattern)
    expression = "".join(
        f"(?P<{piece}>[^/]+?)" if at % 2 else re.escape(piece) for at, piece in enumerate(pieces)
    )
    try:
        found = re.fullmatch(f"(?:.*/)?{expression}", name)
    except re.error:
        raise WrongUsage(f"--path {pattern}", "each name once", "name each part once") from None
    if not found:
        raise WrongUsage(
            f"{name}, which isn't like --path {pattern}",
            "a path of that form",
            "correct the pattern; it begins below the folder that all files have in common",
        )
    return found.groupdict()
