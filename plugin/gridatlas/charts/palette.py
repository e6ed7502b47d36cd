"""Colours of heatmaps side by side: steps of three scales, each for light and for dark pages.

A step whose text is black on a light page has white text on a dark one, and the other way round;
either contrast is at least 4.5. The diverging scales go from brown to blue, which people with each
kind of colour blindness tell apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

Palette = Literal["diverging", "faded", "sequential"]
"""`faded` is the diverging scale for values within chance."""

STEPS = 21
"""Steps of each scale; the middle one of a diverging scale is the tenth from either end."""


def _colours(text: str) -> tuple[str, ...]:
    return tuple(text.split())


LIGHT: Mapping[Palette, tuple[str, ...]] = {
    "diverging": _colours(
        "#843c04 #914e1b #9f5f2d #ac703e #b58357 #be966f #c7a888 #d1baa2 #dbccbb #e7ded3 #edf1f2 "
        "#d4e0e4 #bbd0d7 #a2c0cb #88b0bf #6ea0b4 #5490a9 #38809e #286f8e #165e7e #004e6f"
    ),
    "faded": _colours(
        "#b89684 #bf9f8b #c5a894 #ccb09c #d0baa7 #d5c3b3 #daccbf #dfd5cb #e5ded7 #ebe7e2 #eff0f1 "
        "#e3e8ea #d7e0e3 #cad7dc #becfd6 #b2c7d0 #a6bfca #9bb6c4 #92adbc #8aa4b3 #839cab"
    ),
    "sequential": _colours(
        "#eff5f5 #e1eced #d4e4e5 #c6dcde #b8d3d7 #abcbd0 #9ec3c9 #90bac2 #83b2bc #76a9b5 #68a1af "
        "#5b98a9 #4e90a4 #40879f #327e9a #2c7592 #256c8a #206382 #1a5a7a #145172 #0f486a"
    ),
}
DARK: Mapping[Palette, tuple[str, ...]] = {
    "diverging": _colours(
        "#f0a45e #cd8947 #ab6f31 #966127 #86592b #76522d #664b2e #57432f #493c2e #3c342b #292d30 "
        "#2c383e #30434d #324e5c #335a6c #33667d #32728d #307e9e #4697b9 #5cb0d4 #73cbf0"
    ),
    "faded": _colours(
        "#7d624b #6f5741 #614b38 #594533 #524232 #4c3e32 #453b31 #3f3730 #39342e #33302d #2b2d2e "
        "#2d3234 #2f373a #313c41 #334147 #35464e #364b55 #38505c #415a66 #4a6572 #53707d"
    ),
    "sequential": _colours(
        "#25292c #282f34 #2a353c #2c3a43 #2e404b #304653 #314c5b #325363 #32596b #326074 #32667c "
        "#316d84 #30748c #2d7b94 #2b7f99 #3890ab #449eb8 #4facc6 #5bbbd4 #67c9e2 #73d8f0"
    ),
}
BLACK_UP_TO = 0.179
"""Relative luminance of a fill up to which white text has more contrast on it than black."""


def step(value: float, low: float, high: float) -> int:
    """The step of a value on a scale from `low` to `high`: 0 to `STEPS` − 1."""
    share = (value - low) / (high - low) if high > low else 0.5
    return round(min(max(share, 0.0), 1.0) * (STEPS - 1))


def luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb`, 0 to 1, as WCAG 2 defines it."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def is_dark(colour: str) -> bool:
    """Whether text on this fill is white."""
    return luminance(colour) <= BLACK_UP_TO


def stylesheet() -> str:
    """The rules that put the scales into a page: legends, dark pages, plain colour on demand.

    Drawings have the fills of a light page as attributes, which any rule outweighs.
    """
    lines = ["/* Written by charts/palette.py: the colours of heatmaps side by side. */"]
    lines += [":is(.ga-multiples, .ga-thumbnails, .ga-board) {", *_variables(LIGHT), "}"]
    for name in LIGHT:
        stops = ", ".join(f"var(--ga-{name[0]}{number})" for number in range(STEPS))
        lines.append(f".ga-strip-{name} {{ background: linear-gradient(to right, {stops}); }}")
    board = ".ga-board .ga-d{number} {{ background: var(--ga-d{number}); color: {text}; }}"
    lines += _texts(board, LIGHT)
    plain = ".ga-multiples:has(.ga-plain:checked) .ga-panels"
    lines += [f"{plain} .ga-v{number} {{ fill: var(--ga-s{number}); }}" for number in range(STEPS)]
    lines += [f"{plain} .values_marks text {{ fill: #000; }}"]
    lines += [f"{plain} .values_marks .ga-w {{ fill: #fff; }}"]
    dark = '[data-md-color-scheme="slate"] :is(.ga-multiples, .ga-thumbnails, .ga-board)'
    lines += ["@media screen {", f"{dark} {{", *_variables(DARK), "}"]
    lines += _texts(f'[data-md-color-scheme="slate"] {board}', DARK)
    for name, colours in LIGHT.items():
        lines += [
            f'{dark} [fill="{colour}"] {{ fill: var(--ga-{name[0]}{number}); }}'
            for number, colour in enumerate(colours)
        ]
    # What all of a group share stands at the group.
    for here, other in (("#000", "#fff"), ("#fff", "#000")):
        for group, paint in ((".values_marks", "fill"), (".best_marks", "stroke")):
            has = f'[{paint}="{here}"]'
            lines.append(f"{dark} :is({group}{has}, {group} {has}) {{ {paint}: {other}; }}")
    plain = plain.replace(".ga-multiples", dark)
    lines += [f"{plain} .ga-v{number} {{ fill: var(--ga-s{number}); }}" for number in range(STEPS)]
    lines += [f"{plain} .values_marks text {{ fill: #fff; }}"]
    lines += [f"{plain} .values_marks .ga-w {{ fill: #000; }}", "}"]
    return "\n".join(lines) + "\n"


def _texts(rule: str, scales: Mapping[Palette, tuple[str, ...]]) -> list[str]:
    """A rule per step of the diverging scale, with the text that has more contrast."""
    return [
        rule.format(number=number, text="#fff" if is_dark(colour) else "#000")
        for number, colour in enumerate(scales["diverging"])
    ]


def _variables(scales: Mapping[Palette, tuple[str, ...]]) -> Iterator[str]:
    for name, colours in scales.items():
        texts = (f"--ga-{name[0]}{number}: {colour};" for number, colour in enumerate(colours))
        yield "  " + " ".join(texts)
