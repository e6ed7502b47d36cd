"""Cards: a picture of a page for links to it, with its headline and what shows that in small."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from html import escape

from gridatlas.charts.badges import text_width
from gridatlas.charts.kinds import Picture

WIDTH, HEIGHT = 1200, 630
"""Pixels, as networks show a large card."""
_MARGIN, _PICTURE = 64, 470
_SIZES = ((60, 4), (50, 5), (42, 6))
"""Sizes of the headline's letters with the lines there are; the first that fits is taken."""
_BADGE_FONT, _NARROWER = 11, 0.93
_UNSEEN = re.compile(r"[\x00-\x1f\x7f\ufffe\uffff]")
_ROOT = re.compile(r"<svg([^>]*)>")
_SERIF = "Libre Caslon Text,Georgia,Liberation Serif,serif"


@dataclass(frozen=True, slots=True)
class SocialCard:
    """A page in a picture of 1200 × 630 pixels.

    Attributes:
        headline: What the page leads with.
        study: What it is about, above the headline.
        certainty: How surely the headline holds; empty where nothing is asserted or tested.
        site: The site's name.
        thumbnail: What stands for the page in small; None for a page without a picture.
    """

    headline: str
    study: str
    certainty: str
    site: str
    thumbnail: Picture | None

    @property
    def title(self) -> str:
        """The same as a picture's title."""
        return self.headline

    @property
    def description(self) -> str:
        """A text in the place of the picture."""
        parts = [f"{self.study}: {self.headline}", self.certainty]
        return ". ".join(part for part in parts if part) + "."

    def to_json(self) -> str:
        """All that the drawing depends on."""
        thumbnail = self.thumbnail.to_json() if self.thumbnail else ""
        texts = (self.headline, self.study, self.certainty, self.site)
        return json.dumps(["card", *texts, thumbnail])


def card_svg(card: SocialCard, thumbnail: str = "") -> str:
    """The card as an SVG.

    Args:
        thumbnail: That picture's SVG, with its colours as they are on white.
    """
    room = WIDTH - 2 * _MARGIN - (_PICTURE + 40 if thumbnail else 0)
    size, lines = _headline(card.headline, room)
    [study] = _wrapped(card.study, WIDTH - 2 * _MARGIN, 28, 1)
    parts = [
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<rect width="{WIDTH}" height="12" fill="#1a5276"/>',
        _text(study, _MARGIN, 82, 28, "#55606a"),
    ]
    top = 112 + size
    for place, line in enumerate(lines):
        at = top + round(place * size * 1.22)
        parts.append(
            _text(line, _MARGIN, at, size, "#16222c", f'font-family="{_SERIF}"', bold=True)
        )
    if card.certainty:
        at = top + round(len(lines) * size * 1.22) + 8
        width = round(_width(card.certainty, 26)) + 40
        parts.append(
            f'<rect x="{_MARGIN}" y="{at - 34}" width="{width}" height="50" rx="25" fill="#fff" '
            'stroke="#9fb3c0" stroke-width="2"/>'
        )
        parts.append(_text(card.certainty, _MARGIN + 20, at, 26, "#16222c"))
    parts.append(_logo(_MARGIN, HEIGHT - 84))
    [site] = _wrapped(card.site, room, 28, 1)
    parts.append(_text(site, _MARGIN + 56, HEIGHT - 54, 28, "#16222c"))
    if thumbnail:
        parts.append(_nested(thumbnail))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">{"".join(parts)}</svg>'
    )


def _nested(svg: str) -> str:
    """A drawing at the right of the card, as large as there is room."""
    sizes = dict(re.findall(r'\b(width|height)="([\d.]+)"', _ROOT.search(svg)[1]))  # type: ignore[index]
    box = f'viewBox="0 0 {sizes["width"]} {sizes["height"]}"'
    root = (
        f'<svg x="{WIDTH - _MARGIN - _PICTURE}" y="110" width="{_PICTURE}" height="{HEIGHT - 190}" '
        f'{box} preserveAspectRatio="xMidYMid meet">'
    )
    return _ROOT.sub(lambda _: root, svg, count=1)


def _logo(x: int, y: int) -> str:
    """Two rows of two cells."""
    fills = ("#c6dbe3", "#7fb0c4", "#7fb0c4", "#1a5276")
    cells = (
        f'<rect x="{x + place % 2 * 21}" y="{y + place // 2 * 21}" width="18" height="18" '
        f'rx="2" fill="{fill}"/>'
        for place, fill in enumerate(fills)
    )
    return "".join(cells)


def _text(
    text: str, x: int, y: int, size: int, fill: str, more: str = "", *, bold: bool = False
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" fill="{fill}"{weight} {more}>'
        f"{escape(_UNSEEN.sub(' ', text), quote=False)}</text>"
    )


def _headline(text: str, room: int) -> tuple[int, list[str]]:
    """The size of its letters, and its lines."""
    for size, most in _SIZES:
        lines = _wrapped(text, room, size, most)
        if not lines[-1].endswith("…") or size == _SIZES[-1][0]:
            return size, lines
    raise AssertionError("the last size takes every text")


def _wrapped(text: str, room: int, size: int, most: int) -> list[str]:
    """The lines of a text in as many pixels; what has no room is cut, and ends with `…`."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if _width(longer, size) <= room or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    cut = len(lines) > most
    lines = [_cut(line, room, size) for line in lines[:most]]
    if cut:
        lines[-1] = _cut(f"{lines[-1]} …", room, size)
    return lines


def _cut(line: str, room: int, size: int) -> str:
    if _width(line, size) <= room:
        return line
    line = line.removesuffix("…").rstrip()
    while line and _width(f"{line}…", size) > room:
        line = line[:-1].rstrip()
    return f"{line}…"


def _width(text: str, size: int) -> float:
    """Pixels of a text, at most: the fonts of a card are narrower than those of a badge."""
    return text_width(text) * size / _BADGE_FONT * _NARROWER
