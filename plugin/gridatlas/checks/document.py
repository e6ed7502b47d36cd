"""The numbers of a text document: its tables and lists, line by line, with the words beside them.

A line of a table is a label and the numbers after it, whatever separates them: bars, commas or
spaces. So `| 500 | 42.7 | 40.0 |`, `500,42.7,40.0` and `* Window 500: 42.7, **40.0**` read alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from gridatlas.model.schema import level_number
from gridatlas.model.study import Factor

Token = Decimal | None
"""A number, or a mark for an absent one."""

_NUMBER = r"(?<![\w.'’])[-+−]?(?:\d+(?:\.\d+)?|\.\d+)(?!\.?\w)"
_ABSENT = r"(?<=[|,;\t])[\s*_`]*(?:[-–—]|n/a|nan|none|oom)[\s*_`]*(?=[|,;\t]|$)"
_ITEM = re.compile(f"(?P<number>{_NUMBER})|(?P<absent>{_ABSENT})", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;|*_`~%]*")
_RULE = re.compile(r"[\s|:=+-]+")
_BULLET = re.compile(r"\s*[*+>-]\s")
_WORD = re.compile(r"[^\W_](?:[\w.'’+-]*\w)?")


@dataclass(frozen=True, slots=True)
class NumberLine:
    """A line with numbers: its own number, the words before them, and the longest list in it."""

    line: int
    label: str
    numbers: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of numbers below one another.

    Attributes:
        context: The lines of words since the block before: headings before items of lists, which
            may speak of other tables; of each, the nearest one first.
        header: The labels of its columns; empty where it has none.
    """

    context: tuple[str, ...]
    header: tuple[str, ...]
    lines: tuple[NumberLine, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """The blocks of a document, and each number in it, in order, with its line."""

    blocks: tuple[Block, ...]
    numbers: tuple[tuple[int, Decimal], ...]


def parse_document(text: str) -> Document:
    """Read the numbers of a text; any text is a document."""
    blocks: list[Block] = []
    numbers: list[tuple[int, Decimal]] = []
    context: list[str] = []
    header: tuple[str, ...] = ()
    lines: list[NumberLine] = []

    def close() -> None:
        nonlocal header
        if lines:
            items = [text for text in reversed(context) if _BULLET.match(text)]
            headings = [text for text in reversed(context) if not _BULLET.match(text)]
            blocks.append(Block((*headings, *items), header, tuple(lines)))
            context.clear()
            lines.clear()
        header = ()

    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or ((lines or header) and _RULE.fullmatch(line)):
            continue
        numbers += [(number, value) for value in map(_decimal, re.findall(_NUMBER, line))]
        labels = _labels(line)
        found = _number_line(number, line)
        if found is None or (len(labels) > 2 and _one_each(labels[1:])):
            close()
            header = labels[1:] if len(labels) > 2 else ()
            if not header:
                context.append(line)
            continue
        if lines and len(lines[-1].numbers) == 1 != len(found.numbers):
            close()
        lines.append(found)
    close()
    return Document(tuple(blocks), tuple(numbers))


def levels_in(text: str, factor: Factor) -> list[str]:
    """The levels of a factor that a text names, by id or label; numbers by their value."""
    words = [word.group() for word in _WORD.finditer(text)]
    numbers = {_decimal(number) for number in re.findall(_NUMBER, text)}
    squeezed = [_squeezed(word) for word in words]
    joined = {
        "".join(squeezed[first:last]): last - first
        for first in range(len(words))
        for last in range(first + 1, min(len(words), first + 8) + 1)
    }
    found: dict[str, int] = {}
    for level in factor.levels:
        if level.number is not None and level.number in numbers:
            found[level.key] = 1
        for name in (level.label, level.key):
            if level_number(name) is None and _squeezed(name) in joined:
                found[level.key] = max(found.get(level.key, 0), len(_squeezed(name)))
    # "GRPO, temperature 1.25" names that level, and not also one that is called "GRPO".
    longest = max(found.values(), default=0)
    return [key for key, length in found.items() if length == longest]


@lru_cache(maxsize=2**14)
def _squeezed(text: str) -> str:
    """Letters and digits alone, in lower case; points within numbers stay."""
    return re.sub(r"(?<!\d)\.|\.(?!\d)|[^\w.]|_", "", text.casefold())


def _decimal(text: str) -> Decimal:
    return Decimal(text.replace("−", "-"))


def _labels(line: str) -> tuple[str, ...]:
    """The cells of a line with bars, commas or tabs."""
    for mark in ("|", "\t", ","):
        if mark in line:
            line = line.strip().removeprefix("|").removesuffix("|") if mark == "|" else line
            return tuple(cell.strip(" *_`") for cell in line.split(mark))
    return ()


def _one_each(cells: Iterable[str]) -> bool:
    """Whether each cell has words and one number at most: labels such as `Ratio 0.1`."""
    return all(re.search(r"[^\W\d_]", cell) for cell in cells)


def _number_line(number: int, line: str) -> NumberLine | None:
    """The longest list of numbers in a line, the last one of several."""
    runs: list[list[re.Match[str]]] = []
    for item in _ITEM.finditer(line):
        last = runs[-1][-1] if runs else None
        if last is not None and _BETWEEN.fullmatch(line, last.end(), item.start()):
            runs[-1].append(item)
        else:
            runs.append([item])
    runs = [run for run in runs if any(item["number"] for item in run)]
    if not runs:
        return None
    best = max(enumerate(runs), key=lambda run: (len(run[1]), run[0]))[1]
    label = line[: best[0].start()]
    if len(best) == 1 and not _is_labelled(line, label, line[best[0].end() :]):
        return None
    return NumberLine(number, label, tuple(_token(item) for item in best))


def _is_labelled(line: str, label: str, rest: str) -> bool:
    """Whether a line is one value with its label, and not a heading or a sentence."""
    heading = re.match(r"\s*(#|\*\*.*\*\*\s*$|__.*__\s*$)", line)
    ends = re.search(r"[:=|]\s*[*_`~]*$", label) and re.fullmatch(r"[\s*_`~|%.]*", rest)
    return bool(ends) and not heading


def _token(item: re.Match[str]) -> Token:
    return _decimal(item["number"]) if item["number"] else None


def as_texts(numbers: Sequence[Decimal]) -> list[str]:
    """Numbers as a document prints them."""
    return [f"{number:f}" for number in numbers]
