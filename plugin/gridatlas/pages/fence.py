"""The fence ```` ```grid ````: what its body asks for, or why it can't be shown."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from html import escape

from gridatlas.model.problems import join_names, nearest, printable, quote

OPTIONS: Mapping[str, str] = {
    "as": "a kind of plot, delta or studies",
    "scale": "own or shared",
    "colour": "evidence or value",
    "delta": "a level, or the address of another grid of the study",
    "row": "a level of y",
    "column": "a level of x",
    "title": "a text",
    "caption": "a text",
    "compact": "yes or no",
    "width": "pixels from 100 to 3000, or page",
}
"""The options of a fence, and what each takes."""

NARROWEST, WIDEST = 100, 3000
"""Pixels that a heatmap's width can be set to."""

_OPTION = re.compile(r"([A-Za-z][\w-]*)\s*:(?:\s+(.*))?$")


class FenceError(Exception):
    """A fence that can't be shown.

    Attributes:
        line: Line of the body that is wrong, from 1; 0 for the fence as a whole.
    """

    def __init__(self, found: str, expected: str, fix: str, line: int = 0) -> None:
        self.found, self.expected, self.fix, self.line = found, expected, fix, line
        super().__init__(found)

    def message(self, place: str) -> str:
        """The error as it stands in a log, at a place such as `index.md:12`."""
        return (
            f"{place}: this grid can't be shown\n"
            f"  found:    {printable(self.found)}\n"
            f"  expected: {printable(self.expected)}\n"
            f"  fix:      {printable(self.fix)}"
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """A text of the body, and the line that it stands in, from 1."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Fence:
    """What the body of a fence asks for."""

    addresses: tuple[Entry, ...]
    options: Mapping[str, Entry]

    def option(self, name: str) -> str:
        """An option's text; empty where it isn't given."""
        return self.options[name].text if name in self.options else ""

    @property
    def caption(self) -> str:
        """Its caption as a sentence, before what is said of a figure; empty without one."""
        text = self.option("caption")
        return f"{text}." if text and text[-1] not in ".!?" else text

    def error(self, option: str, found: str, fix: str, expected: str = "") -> FenceError:
        """An error in the value of an option."""
        return FenceError(found, expected or OPTIONS[option], fix, self.options[option].line)


def no_study(study_id: str, studies: Collection[str], line: int, fix: str) -> FenceError:
    """An error for a study that there isn't.

    Args:
        fix: For one that no other is like.
    """
    near = nearest(study_id, studies)
    return FenceError(
        f"no study {quote(study_id)}" + (f"; did you mean {near}?" if near else ""),
        f"one of the studies {join_names(studies)}" if studies else "a study; there is none",
        f"write {near} in its place" if near else fix,
        line,
    )


# --- the body -----------------------------------------------------------------------------------


def parse(body: str) -> Fence:
    """Read the body of a fence: addresses and options, one per line.

    Raises:
        FenceError: For an option that there isn't or that is given twice, and for a fence
            without an address that isn't a list of studies.
    """
    addresses = []
    options: dict[str, Entry] = {}
    for number, line in enumerate(body.splitlines(), 1):
        text = line.strip()
        if not text:
            continue
        match = _OPTION.match(text)
        if match is None:
            addresses.append(Entry(text.strip("/"), number))
            continue
        name, value = match[1], _unquoted((match[2] or "").strip())
        if name not in OPTIONS:
            near = nearest(name, OPTIONS)
            raise FenceError(
                f"no option {quote(name)}" + (f"; did you mean {near}?" if near else ""),
                f"one of {join_names(OPTIONS)}",
                f"write {near} in its place" if near else "remove it",
                number,
            )
        if name in options:
            raise FenceError(
                f"the option {name} a second time",
                "each option once",
                f"remove one of the lines {options[name].line} and {number} of the fence",
                number,
            )
        if not value:
            raise FenceError(
                f"the option {name} without a value",
                OPTIONS[name],
                f"write it after the colon, as in `{name}: …`, or remove the line",
                number,
            )
        options[name] = Entry(value, number)
    if not addresses and not ("as" in options and options["as"].text == "studies"):
        raise FenceError(
            "no address",
            "the address of a grid in the first line, such as study/level/level",
            "write it; the address of a heatmap is in its page's links, after #grid/",
        )
    return Fence(tuple(addresses), options)


def width(fence: Fence) -> str:
    """How wide each heatmap is drawn, in CSS: `600px`, or `100%` for `page`; empty if not asked.

    Raises:
        FenceError: For neither pixels from 100 to 3000 nor `page`.
    """
    text = fence.option("width")
    if text in ("", "page"):
        return "100%" if text else ""
    pixels = text.removesuffix("px").rstrip()
    if not re.fullmatch("[0-9]{3,4}", pixels) or not NARROWEST <= int(pixels) <= WIDEST:
        raise fence.error(
            "width", f"width: {printable(text)}", "write pixels, as in `width: 600`, or `page`"
        )
    return f"{int(pixels)}px"


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def error_box(error: FenceError) -> str:
    """What stands in the place of a fence that can't be shown."""
    parts = {"found": error.found, "expected": error.expected, "to fix it": error.fix}
    text = "; ".join(f"{name}: {escape(text)}" for name, text in parts.items())
    return (
        '<div class="ga-problems ga-fence-error" role="alert" data-search-exclude>'
        f"<p><strong>This grid can’t be shown.</strong> {text}.</p></div>"
    )
