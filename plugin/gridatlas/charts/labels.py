"""Labels that fit: cut where they are too long, tilted or thinned where they would overlap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

DIGIT = 6.6
"""Width of a character of an axis label, in pixels."""
LINE = 14
"""Height that a label takes from the next one, in pixels."""
TILTED = 19
"""Width that a tilted label takes from the next one, in pixels."""
LEVEL_UP_TO = 90
"""Width in pixels up to which labels that are thinned stay level."""
TITLE_LIMIT, KEY_LIMIT, LABEL_LIMIT = 400, 300, 150
"""Width in pixels at which titles, texts of the legend, and labels of axes are cut."""
WIDEST = 17
"""Width of the widest character of them, in pixels."""


def drawable_labels(labels: Iterable[str]) -> dict[str, str]:
    """Labels as they are drawn; what isn't seen tells those apart that become alike."""
    found: dict[str, str] = {}
    for label in labels:
        drawn = drawable_text(label, LABEL_LIMIT)
        while drawn in found.values():
            drawn += "\u200b"
        found[label] = drawn
    return found


def drawable_text(text: str, limit: int) -> str:
    """A text with a square for each character that can't be cut, where it may be cut at `limit`."""
    if is_drawable(text) or len(text) * WIDEST <= limit:
        return text
    return "".join(character if is_drawable(character) else "□" for character in text)


def is_drawable(text: str) -> bool:
    """Whether no character is beyond U+FFFF, of which vl-convert can't draw a half."""
    return text.isascii() or max(text) <= "\uffff"


def label_angle(labels: Sequence[str], width: int) -> tuple[int, int]:
    """Angle of the labels below cells of this width, and the step from one shown to the next."""
    longest = max(map(len, labels)) * DIGIT
    if longest <= width - 2:
        return 0, 1
    if width >= TILTED:
        return -40, 1
    if longest <= LEVEL_UP_TO:
        return 0, round_step((longest + 8) / width)
    return -40, round_step(TILTED / width)


def round_step(least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50, … that is at least so large."""
    step = 1
    while step < least:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return step


def thinned(number: int, step: int) -> list[int]:
    """The places of labels that are shown: every step-th, and always the first and the last."""
    places = list(range(0, number - 1, step)) or [0]
    if number - 1 - places[-1] < step and len(places) > 1:
        places.pop()
    return list(dict.fromkeys([*places, number - 1]))
