"""The SVG of a drawing in fewer letters: a page has several, and its reader loads all of them."""

from __future__ import annotations

import re
from collections import Counter

_MARK = re.compile(r'<(?:path|text|line)(?: [\w-]+="[^"]*")+')
_DEFAULT = re.compile(
    r' (?:fill-)?opacity="1"| font-family="sans-serif"|(?: stroke="[^"]*")? stroke-width="0"'
    r'|(?<=") [xy]2="0"'
)
_PLACES = re.compile(r' (?:d|transform|[xy]2)="[^"]*"')
_RGB = re.compile(r'(?<=fill|roke)="rgb\((\d+), (\d+), (\d+)\)"')
_LONG = re.compile(r"-?\d+\.\d{2,}")
_CIRCLE = re.compile(
    r'<path((?: (?!d=)[\w-]+="[^"]*")*) d="M([\d.]+),0A\2,\2,0,1,1,-\2,0A\2,\2,0,1,1,\2,0"'
)
_PLACED_TEXT = re.compile(
    r'(<text(?: (?!transform=)[\w-]+="[^"]*")*) transform="translate\((-?[\d.]+), ?(-?[\d.]+)\)"'
    r"(?=[^>]*>(?!<tspan))"  # whose lines are placed from there
)
_PLACED_CIRCLE = re.compile(
    r'(<circle(?: (?!transform=)[\w-]+="[^"]*")*) transform="translate\((-?[\d.]+), ?(-?[\d.]+)\)"'
)
_UNPAINTED = re.compile(r'<path class="background" aria-hidden="true" d="[^"]*"/>')
_FADED_LINE = re.compile(
    r'(<line(?: (?!stroke-opacity=)[\w-]+="[^"]*")*?) opacity=("[^"]*")(?= |/|>)'
)
_LEAF = r'<(?:path|line|circle|text)(?: [\w-]+="[^"]*")*(?:/>|>[^<]*</text>)'
_LEAVES = re.compile(rf'(<g class="mark-(?:rect|rule|text|symbol|line)\b[^>]*)>((?:{_LEAF})+)</g>')
_ATTRIBUTE = re.compile(r' ([\w-]+)="([^"]*)"')
_LINE = re.compile(
    r'<line transform="translate\((-?[\d.]+), ?(-?[\d.]+)\)" (?:x2="(-?[\d.]+)"|y2="(-?[\d.]+)")'
    r'((?: [\w-]+="[^"]*")*)/>'
)
_LINES = re.compile(rf"(<g class=\"mark-rule [^>]*>)((?:{_LINE.pattern}){{2,}})</g>")
INHERITED = (
    "fill-opacity",
    "fill",
    "stroke",
    "stroke-width",
    "stroke-opacity",
    "text-anchor",
    "font-size",
    "font-weight",
)
"""Attributes that the elements of a group have from it, unless they say otherwise."""


def shorter(svg: str) -> str:
    """The SVG without attributes that change nothing, with those of a group's elements told once.

    Colours and places are in fewer letters. What is seen is the same.
    """

    def short(mark: re.Match[str]) -> str:
        return _RGB.sub(_hexadecimal, _PLACES.sub(_rounded, _DEFAULT.sub("", mark[0])))

    svg = _MARK.sub(short, svg).replace("<svg ", '<svg font-family="sans-serif" ', 1)
    svg = _CIRCLE.sub(r'<circle\1 r="\2"', svg)
    svg = _PLACED_TEXT.sub(r'\1 x="\2" y="\3"', svg)
    svg = _PLACED_CIRCLE.sub(r'\1 cx="\2" cy="\3"', svg)
    svg = _without_later_backgrounds(svg.replace('<g transform="translate(0,0)">', "<g>"))
    svg = _FADED_LINE.sub(r"\1 stroke-opacity=\2", svg)
    return _LINES.sub(_one_path, _LEAVES.sub(_told_once, svg))


def _without_later_backgrounds(svg: str) -> str:
    """Without backgrounds that aren't painted, but for the first: it tells a script the size."""
    first = _UNPAINTED.search(svg)
    if first is None:
        return svg
    return svg[: first.end()] + _UNPAINTED.sub("", svg[first.end() :])


def _rounded(places: re.Match[str]) -> str:
    return _LONG.sub(lambda number: f"{float(number[0]):.1f}".rstrip("0").rstrip("."), places[0])


def _hexadecimal(rgb: re.Match[str]) -> str:
    return '="#' + "".join(f"{int(part):02x}" for part in rgb.groups()) + '"'


def _told_once(group: re.Match[str]) -> str:
    """A group with what most of its elements have, where all of them have the attribute.

    Of cells only how faded they are: the fill of each is its value.
    """
    head, leaves = group[1], re.findall(_LEAF, group[2])
    own = [dict(_ATTRIBUTE.findall(leaf.partition(">")[0])) for leaf in leaves]
    for name in INHERITED[:1] if "cells_marks" in head else INHERITED:
        values = Counter(attributes.get(name) for attributes in own)
        value, number = values.most_common(1)[0]
        if None in values or number < 2 or f" {name}=" in head:
            continue
        head += f' {name}="{value}"'
        leaves = [leaf.replace(f' {name}="{value}"', "", 1) for leaf in leaves]
    return f"{head}>{''.join(leaves)}</g>"


def _one_path(group: re.Match[str]) -> str:
    """A group's lines as one path, where they look alike: dashes begin anew with each of them.

    See-through lines are left alone: where two of them cross, both are seen.
    """
    lines = _LINE.findall(group[2])
    looks = {look for *_, look in lines}
    if len(looks) > 1 or "opacity" in group[0]:
        return group[0]
    d = "".join(f"M{x},{y}" + (f"h{x2}" if x2 else f"v{y2}") for x, y, x2, y2, _ in lines)
    return f'{group[1]}<path d="{d}"{looks.pop()}/></g>'
