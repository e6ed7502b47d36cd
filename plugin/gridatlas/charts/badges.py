"""Badges: small SVG files that say the best value of a grid, and how much of it was run again."""

from __future__ import annotations

import unicodedata
from html import escape

from gridatlas.assessment.reruns import Reproduction, in_words
from gridatlas.assessment.uncertainty import GridUncertainty
from gridatlas.charts.description import best_at, cell_labels
from gridatlas.model.format import many
from gridatlas.table.study_table import Grid
from gridatlas.table.summary import summarise

LONGEST = 60
"""Characters of a text from which on it is cut; the title always has all of it."""

LABEL, VALUE, NOTHING = "#3d3d3d", "#1f5c99", "#5f5f5f"
"""Fills behind the label, a message, and one that says there is nothing; the text is white."""

_WIDTHS = {
    27: "'", 28: "ijl", 29: "IJ", 32: " ,.", 34: "/:;\\|", 35: "f", 36: "-", 39: "()[]t", 40: "!",
    41: "r", 46: '"', 50: "*_`–", 52: "sz", 53: "?", 55: "c", 56: "L", 58: "Fk", 59: "vxy", 60: "P",
    61: "TYao", 62: "e", 63: "ESbdghnpqu", 64: "$0123456789{}", 66: "K", 68: "AV", 69: "BRXZ",
    70: "C", 73: "U", 75: "HN", 77: "DG", 78: "&", 79: "OQ", 82: "w", 84: "#+<=>^~×−±", 86: "M",
    95: "%", 97: "m", 99: "W", 100: "@…",
}  # fmt: skip
"""Characters by their width in 1/100 of the size of DejaVu Sans; Verdana's are near."""
_WIDTH = {character: width for width, characters in _WIDTHS.items() for character in characters}
_FONT, _HEIGHT, _PADDING = 11, 20, 6


def best_badge(grid: Grid, uncertainty: GridUncertainty) -> str:
    """The best value of a grid and where it is: `best Pass@1 | 47.0 % at 0.2 × 1000`.

    Where several cells may be the best it says `52.0 % · no clear best`, and the title where that
    value is; where nothing is tested, `highest Score`. A disputed value is marked as such; the
    title has the best undisputed one too.
    """
    metric = grid.study.metric
    summary = summarise(grid)
    extreme = grid.study.extreme
    if uncertainty.level is None:  # What no test can rank is only the highest that was printed.
        extreme = "lowest" if metric.falls else "highest"
    label = f"{extreme} {metric.name}"
    if summary is None:
        return _badge(grid, label, "no value", NOTHING)
    message, _, undisputed = best_at(summary, grid.study, cell_labels, 1).partition("; ")
    # A badge has no room for doubt; its title has.
    doubt = f"; {undisputed}" if undisputed else ""
    if uncertainty.best_set_size:
        number = many(uncertainty.cells, "cell")
        doubt += f". {uncertainty.best_set_size} of {number} may be the {extreme}"
    if uncertainty.best_set_size > 1:
        value = message.partition(" at ")[0]
        return _badge(grid, label, f"{value} · no clear {extreme}", NOTHING, f": {message}{doubt}")
    return _badge(grid, label, message, VALUE, doubt)


def reproduced_badge(grid: Grid, reproduction: Reproduction | None) -> str:
    """How much of a grid was measured again: `reproduced | 12 of 20 agree, 3 differ`.

    Where the shown values are themselves from runs there is nothing that they could agree with:
    `measured | 20 of 20 cells`.
    """
    label = "reproduced"
    cells = grid.columns
    own = int((cells.run.are(bool) & cells.value.known).sum())
    if own:
        return _badge(grid, "measured", f"{own} of {many(len(cells), 'cell')}", VALUE)
    rerun = reproduction.of(grid.levels) if reproduction else None
    if rerun is None or not rerun.begun:
        return _badge(grid, label, "not run", NOTHING)
    counts = rerun.counts
    message = f"{counts.get('agrees', 0)} of {len(rerun.cells)} agree"
    if counts.get("differs"):
        message += f", {counts['differs']} differ"
    return _badge(grid, label, message, VALUE, f". {in_words(counts)}")


def _badge(grid: Grid, label: str, message: str, fill: str, more: str = "") -> str:
    """Both texts side by side on fills of their own, so that they stand on any page."""
    label, message = " ".join(label.split()), " ".join(message.split())
    title = escape(" ".join(f"{grid.label}: {label}: {message}{more}".split()))
    texts = [_cut(label), _cut(message)]
    widths = [round(text_width(text)) for text in texts]
    split, whole = widths[0] + 2 * _PADDING, sum(widths) + 4 * _PADDING
    middles = (split / 2, split + (whole - split) / 2)
    drawn = "".join(
        # The length holds whatever font the reader has.
        f'<text x="{middle:g}" y="14" textLength="{width}" lengthAdjust="spacingAndGlyphs">'
        f"{escape(text, quote=False)}</text>"
        for text, width, middle in zip(texts, widths, middles, strict=True)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="{_HEIGHT}" '
        f'viewBox="0 0 {whole} {_HEIGHT}" role="img" aria-label="{title}"><title>{title}</title>'
        f'<path fill="{LABEL}" d="M3,0H{split}V{_HEIGHT}H3a3,3,0,0,1-3-3V3a3,3,0,0,1,3-3z"/>'
        f'<path fill="{fill}" d="M{split},0H{whole - 3}a3,3,0,0,1,3,3V{_HEIGHT - 3}'
        f'a3,3,0,0,1-3,3H{split}z"/>'
        f'<g fill="#fff" text-anchor="middle" font-size="{_FONT}" '
        f'font-family="Verdana,DejaVu Sans,Geneva,sans-serif">{drawn}</g></svg>\n'
    )


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"


def text_width(text: str) -> float:
    """Width of a text in a badge, in pixels."""
    return sum(map(_character_width, text)) * _FONT / 100


def _character_width(character: str) -> int:
    if character in _WIDTH:
        return _WIDTH[character]
    if unicodedata.combining(character):
        return 0
    return 100 if unicodedata.east_asian_width(character) in "WF" else 66
