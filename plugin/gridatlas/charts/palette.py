"""The colours of heatmaps: green for a value, brown to blue for a difference, light and dark.

A drawing has the fills of a light page as attributes; `stylesheet` has the rules that put those of
a dark one in their place. What may be chance is drawn at 55 % over the page's own colour.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

Palette = Literal["values", "difference"]
Scheme = Literal["light", "dark"]
PALETTES: tuple[Palette, ...] = ("values", "difference")

STEPS = 51
"""Steps of each palette: of two values 2 % of the scale apart, none has the other's colour."""
FADED = 0.55
"""Opacity of a fill that may be chance."""
INK: dict[Scheme, str] = {"light": "#1b2327", "dark": "#e8edef"}
"""Of outlines and tabs."""
PAGE: dict[Scheme, str] = {"light": "#ffffff", "dark": "#12181b"}
"""Also what open dots are filled with, so that no line is seen through them."""
SERIES: dict[Scheme, tuple[str, ...]] = {
    "light": ("#104e71", "#a5571b", "#3d7a34", "#7a4aa0"),
    "dark": ("#68b4d6", "#e39a5a", "#86c27a", "#c39be8"),
}
"""Of lines, each with a dash of its own. The first is no palette's end, which darkens otherwise."""

DARK = ':is([data-md-color-scheme="slate"], [data-bs-theme="dark"])'
"""What a page of a theme has that is dark: of Material and Zensical, and of MkDocs' own."""

_STOPS: dict[tuple[Palette, Scheme], str] = {
    ("values", "light"): "#f0f6ee #cde3cc #97c6a8 #569e83 #237561 #0a4a3f",
    ("values", "dark"): "#1d2a28 #1f4038 #2a6352 #3f8f74 #6fbf9c #b9ecd0",
    ("difference", "light"): "#7d4510 #a5703b #c49a6c #dcc1a1 #ecdfd0 #f4f3f0 "
    "#d9e4e8 #a9c8d4 #6ba3b8 #2f7899 #104e70",
    ("difference", "dark"): "#f3c591 #cc955a #9a6d3c #6b4f33 #433a2f #252e32 "
    "#27414c #2b5f75 #3a86a6 #68b4d6 #a9def5",
}
"""From the worse end to the better one; colours between two stops are linear in sRGB."""
BLACK_UP_TO = 0.179
"""Relative luminance of a fill up to which white text has more contrast on it than black."""
INKS = {("#000", "#fff"): "#000", ("#fff", "#000"): "#fff", ("#000", "#000"): "#010101",
        ("#fff", "#fff"): "#fefefe"}  # fmt: skip
"""How a drawing writes the colour of a text, by what it is on a light page and on a dark one."""


@cache
def colours(palette: Palette, scheme: Scheme = "light") -> tuple[str, ...]:
    """The steps of a palette, the worst first."""
    stops = [_parts(stop) for stop in _STOPS[palette, scheme].split()]
    return tuple(_between(stops, at / (STEPS - 1)) for at in range(STEPS))


def _parts(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


def _between(stops: Sequence[tuple[int, ...]], share: float) -> str:
    place = share * (len(stops) - 1)
    first = min(int(place), len(stops) - 2)
    pair = zip(stops[first], stops[first + 1], strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (place - first)):02x}" for a, b in pair)


def faded(colour: str, scheme: Scheme = "light") -> str:
    """A fill as it is seen where it may be chance."""
    return _between([_parts(PAGE[scheme]), _parts(colour)], FADED)


def luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb`, 0 to 1, as WCAG 2 defines it."""
    parts = (part / 255 for part in _parts(colour))
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@cache
def ink(palette: Palette, step: int, *, is_faded: bool = False) -> str:
    """The colour of text on a step, for both schemes; one of `INKS`."""
    schemes: tuple[Scheme, ...] = ("light", "dark")
    fills = [colours(palette, scheme)[step] for scheme in schemes]
    if is_faded:
        fills = [faded(fill, scheme) for fill, scheme in zip(fills, schemes, strict=True)]
    light, dark = ("#fff" if luminance(fill) <= BLACK_UP_TO else "#000" for fill in fills)
    return INKS[light, dark]


# --- scales ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ColourScale:
    """What the colours of a view stand for.

    Attributes:
        palette: `values` for values, `difference` for what is above or below a middle.
        low, high: The values at both ends; of differences −reach and reach.
        falls: Whether low values are better: the better end is always dark on a light page.
        log: Whether equal ratios are equal steps; low and high are then logarithms.
        centred: Whether colours are distances from each grid's mean.
        clamped: Whether worse values than the worse end exist.
    """

    palette: Palette
    low: float
    high: float
    falls: bool = False
    log: bool = False
    centred: bool = False
    clamped: bool = False

    def step(self, value: float, middle: float = 0.0) -> int:
        """The step of a value, 0 to `STEPS` − 1.

        Args:
            middle: The mean of the value's grid, on a centred scale.
        """
        if self.log and self.palette == "values":
            value = math.log(value)
        if self.centred:
            value -= middle
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        at = round(min(max(share, 0.0), 1.0) * (STEPS - 1))
        return STEPS - 1 - at if self.falls else at


def values_scale(
    values: Sequence[float],
    *,
    falls: bool = False,
    log: bool = False,
    bounds: tuple[float, float] | None = None,
) -> ColourScale:
    """A scale round all values: nice ends, the whole range where most of a bounded one is used.

    The worse end is that of the worst fifth where it lies more than three times as far from the
    median as the better end does.

    Args:
        values: In the metric's unit; above 0 where `log`.
        bounds: Of the metric; None where it has none.
    """
    found = sorted(math.log(value) if log else value for value in values) or [0.0, 1.0]
    low, high, middle = found[0], found[-1], found[len(found) // 2]
    far, clamped = (high - middle, middle - low) if falls else (middle - low, high - middle), False
    if len(found) > 4 and far[0] > 3 * far[1] > 0:
        clamped = True
        fifth = len(found) // 5
        low, high = (low, found[-1 - fifth]) if falls else (found[fifth], high)
    if bounds and not log and high - low > 0.6 * (bounds[1] - bounds[0]):
        return ColourScale("values", *bounds, falls)
    if log:
        ends = (_round(math.exp(low), up=False), _round(math.exp(high), up=True))
        low, high = (math.log(end) for end in ends)
        if low == high:
            low, high = low - 0.5, high + 0.5
        return ColourScale("values", low, high, falls, log=True, clamped=clamped)
    if low == high:
        return ColourScale("values", low - 0.5, high + 0.5, falls)
    unit = 10.0 ** math.floor(math.log10(high - low)) / 2
    low, high = math.floor(low / unit + 1e-9) * unit, math.ceil(high / unit - 1e-9) * unit
    low, high = (float(f"{end:.9g}") for end in (low, high))
    return ColourScale("values", low, high, falls, clamped=clamped)


def centred_scale(
    reach: float, *, falls: bool = False, log: bool = False, centred: bool = False
) -> ColourScale:
    """A scale of differences that reaches at least so far to both sides.

    Args:
        reach: In the metric's unit, or in logarithms where `log`.
    """
    if log:
        reach = math.log(_round(math.exp(reach), up=True)) or math.log(2)
    else:
        reach = _round(reach, up=True) if reach > 0 else 1.0
    return ColourScale("difference", -reach, reach, falls, log, centred)


def _round(number: float, *, up: bool) -> float:
    """The next number of 1, 2, 3, 5 and 7 times a power of 10, at least or at most as large."""
    ten = 10.0 ** math.floor(math.log10(number))
    digits: Iterable[int] = (1, 2, 3, 5, 7, 10) if up else (10, 7, 5, 3, 2, 1)
    near = 1e-9 if up else -1e-9
    digit = next(
        x for x in digits if (number / ten <= x + near if up else x + near <= number / ten)
    )
    return float(f"{digit * ten:.6g}")


# --- dark pages -----------------------------------------------------------------------------------


def stylesheet() -> str:
    """The rules for dark pages, and for the strips of legends.

    Fills and inks are attributes of drawings, which any rule outweighs.
    """
    lines = ["/* Written by charts/palette.py: the colours of heatmaps. */", *_strips("", "light")]
    pages = (("screen", f"{DARK} "), ("screen and (prefers-color-scheme: dark)", ".ga-embed "))
    places = ":is(.ga-figure, .ga-plot, .ga-notebook, .ga-explore)"
    for media, page in pages:
        lines += [f"@media {media} {{", *_strips(page, "dark")]
        lines += [
            f'{page}{places} [{paint}="{light}"] {{ {paint}: {dark}; }}'
            for paint, light, dark in _darkened()
        ]
        lines.append("}")
    return "\n".join(lines) + "\n"


def _strips(page: str, scheme: Scheme) -> Iterator[str]:
    """The strips of legends, and the cells of a table."""
    for palette in PALETTES:
        stops = ", ".join(_STOPS[palette, scheme].split())
        yield f"{page}.ga-strip-{palette} {{ background: linear-gradient(to right, {stops}); }}"
    for number, fill in enumerate(colours("difference", scheme)):
        text = "#fff" if luminance(fill) <= BLACK_UP_TO else "#000"
        yield f"{page}.ga-board .ga-d{number} {{ background: {fill}; color: {text}; }}"


def _darkened() -> Iterator[tuple[str, str, str]]:
    """What is painted otherwise on a dark page: fill or stroke, as drawn, and in its place."""
    for palette in PALETTES:
        pairs = zip(colours(palette), colours(palette, "dark"), strict=True)
        yield from (("fill", light, dark) for light, dark in pairs)
    for paint in ("fill", "stroke"):
        yield paint, INK["light"], INK["dark"]
        yield paint, PAGE["light"], PAGE["dark"]
        yield from ((paint, *pair) for pair in zip(SERIES["light"], SERIES["dark"], strict=True))
        yield from ((paint, drawn, dark) for (light, dark), drawn in INKS.items() if light != dark)
