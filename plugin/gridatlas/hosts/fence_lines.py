"""Finds the fences ```` ```grid ```` of a Markdown text, before anything else reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_FENCE = re.compile(r"(?P<prefix>[> \t]*)(?P<fence>`{3,}|~{3,})(?P<header>.*)$")
_GRID = re.compile(
    r"[ \t]*(?:\.?grid(?=[\s{]|$)(?P<options>.*)|\{[ \t]*\.grid(?=[\s}])(?P<list>.*?)\}?)$"
)
HEADER, UNCLOSED = "header", "unclosed"
"""Options that carry what is wrong with a fence's first line to its formatter."""


@dataclass(frozen=True, slots=True)
class GridFence:
    """A fence ```` ```grid ```` of a text.

    Attributes:
        line: Line of its opening, from 1.
        header: The text behind the word `grid`.
        body: Its lines, without what they begin with all.
        closed: Whether it is ended, and each line is indented as its first.
    """

    line: int
    prefix: str
    fence: str
    header: str
    body: str
    closed: bool


def fences(lines: Sequence[str]) -> Iterator[GridFence]:
    """The fences of a text, from top to bottom; one within another fence is text."""
    index = 0
    unended: dict[tuple[int, str], int] = {}
    while index < len(lines):
        opened = _FENCE.match(lines[index])
        index += 1
        if opened is None or (opened["fence"][0] == "`" and "`" in opened["header"]):
            continue
        kind = (_width(opened), opened["fence"])
        body = None
        # What isn't ended up to a line isn't where it begins again before that line.
        if unended.get(kind, -1) < index:
            body, end = _body(lines, index, opened)
            if body is None:
                unended[kind] = end
        grid = _GRID.match(opened["header"].rstrip(" \t"))
        if grid:
            header = (grid["options"] or grid["list"] or "").strip()
            text = "\n".join(body or ())
            yield GridFence(
                index, opened["prefix"], opened["fence"], header, text, body is not None
            )
        # What begins with a fence that isn't ended is text to the last line.
        index += 0 if body is None else len(body) + 1


def _width(opened: re.Match[str]) -> int:
    return len(opened["prefix"].expandtabs(4))


def _body(lines: Sequence[str], start: int, opened: re.Match[str]) -> tuple[list[str] | None, int]:
    """The lines of a fence, without what its first line begins with; None where it isn't ended.

    As superfences reads them: a line that is indented less than the first ends it, too early.

    Args:
        start: Index of the first line behind the one that opens it.

    Returns:
        The lines, and the index of the one at which the search came to its end.
    """
    width = _width(opened)
    body: list[str] = []
    for index in range(start, len(lines)):
        expanded = lines[index].expandtabs(4)
        begin, rest = expanded[:width], expanded[width:]
        if begin.strip("> ") or (expanded.strip("> ") and len(begin) < width):
            return None, index
        if rest.rstrip() == opened["fence"]:
            return body, index
        body.append(rest)
    return None, len(lines)


def with_faults(lines: Sequence[str]) -> list[str]:
    """The text with faulty first lines of fences in a form that reaches the fence's formatter.

    Options behind the word `grid`, and fences that aren't ended, are taken for text otherwise,
    and would appear on the page as such.
    """
    result = list(lines)
    for fence in fences(lines):
        begin = f"{fence.prefix}{fence.fence}grid"
        if not fence.closed:
            result[fence.line - 1] = f'{begin} {UNCLOSED}="1"\n{fence.prefix}{fence.fence}'
        elif fence.header:
            header = re.sub(r"[\"'\n]", "", fence.header)
            result[fence.line - 1] = f'{begin} {HEADER}="{header}"'
    return "\n".join(result).split("\n")
