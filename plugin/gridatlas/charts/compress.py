"""A drawing in fewer bytes: the same picture, with the same cells, labels and classes."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from itertools import pairwise

_ATTRIBUTES = r'(?:\s[\w:-]+="[^"]*")*'
_ATTRIBUTE = re.compile(r'\s([\w:-]+)="([^"]*)"')
_TAG = re.compile(rf"<(\w+)({_ATTRIBUTES})\s*(/?)>")
_RGB = re.compile(r"rgb\((\d+), (\d+), (\d+)\)")
_LONG = re.compile(r"-?\d+\.\d{3,}")

_MOVED = re.compile(r"translate\((-?[\d.]+),(-?[\d.]+)\)")
_AT = f'transform="{_MOVED.pattern}"'
_ALIKE = re.compile(rf'<path {_AT} d="([\d.,MLZ-]+)"({_ATTRIBUTES})/>(?:<path {_AT} d="\3"\4/>)+')
_TEXTS = re.compile(
    rf'(<g class="mark-text[^"]*"{_ATTRIBUTES})>((?:<text{_ATTRIBUTES}>[^<]*</text>)+)'
)
_UNSEEN = re.compile(rf'<path{_ATTRIBUTES} display="none"/>')
_INHERITED = {"fill", "font-size", "font-weight", "text-anchor"}
_FONT = "sans-serif"


def slim(svg: str) -> str:
    """Leave out what an SVG says anyway, and say the rest in a shorter way.

    Args:
        svg: A drawing as Vega writes it.
    """
    svg = _UNSEEN.sub("", _TAG.sub(_slim_tag, svg))
    svg = _TEXTS.sub(_said_once, _ALIKE.sub(_together, svg))
    return svg.replace("<svg ", f'<svg font-family="{_FONT}" ', 1)


def _slim_tag(tag: re.Match[str]) -> str:
    name, end = tag[1], tag[3]
    given = dict(_ATTRIBUTE.findall(tag[2]))
    # A screen reader says the role in the reader's own language; this would be Vega's word.
    given.pop("aria-roledescription", None)
    if given.get("opacity") == "1":
        del given["opacity"]
    if given.get("stroke-width") == "0":
        del given["stroke-width"]
        given.pop("stroke", None)
    if given.get("font-family") == _FONT:
        del given["font-family"]
    if name == "text" and (moved := _MOVED.fullmatch(given.get("transform", ""))):
        del given["transform"]
        given["x"], given["y"] = moved[1], moved[2]
    for key in ("d", "transform"):
        if "." in given.get(key, ""):
            given[key] = _LONG.sub(lambda number: f"{float(number[0]):.2f}", given[key])
    for key in ("fill", "stroke"):
        if given.get(key, "").startswith("rgb"):
            given[key] = _RGB.sub(_hexadecimal, given[key])
    return f"<{name}{_written(given)}{end}>"


def _hexadecimal(rgb: re.Match[str]) -> str:
    return "#" + "".join(f"{int(part):02x}" for part in rgb.groups())


def _written(attributes: dict[str, str]) -> str:
    return "".join(f' {name}="{value}"' for name, value in attributes.items())


def _together(paths: re.Match[str]) -> str:
    """Small marks of one form, which have no names of their own, as one path."""
    form, others = paths[3], paths[4]
    corners = [(float(x), float(y)) for x, y in re.findall(r"[ML](-?[\d.]+),(-?[\d.]+)", form)]
    sides = "".join(f"l{x - x0:.5g},{y - y0:.5g}" for (x0, y0), (x, y) in pairwise(corners))
    left, top = corners[0]
    drawn = "".join(
        f"M{float(x) + left:.7g},{float(y) + top:.7g}{sides}z" for x, y in re.findall(_AT, paths[0])
    )
    return f'<path d="{drawn}"{others}/>'


def _said_once(group: re.Match[str]) -> str:
    """A group of texts that says what all of them say."""
    texts = [dict(_ATTRIBUTE.findall(tag[2])) for tag in _TAG.finditer(group[2])]
    common = {
        name: value
        for name, value in texts[0].items()
        if name in _INHERITED and all(text.get(name) == value for text in texts)
    }
    without = _TAG.sub(
        lambda tag: (
            "<text"
            + _written({k: v for k, v in _ATTRIBUTE.findall(tag[2]) if k not in common})
            + ">"
        ),
        group[2],
    )
    return f"{group[1]}{_written(common)}>{without}"


# --- PNG ----------------------------------------------------------------------------------------

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def slim_png(png: bytes) -> bytes:
    """The same pixels in a third of the bytes: vl-convert compresses in haste.

    Raises:
        ValueError: For anything else than a PNG.
    """
    if not png.startswith(_SIGNATURE):
        raise ValueError("not a PNG")
    chunks = list(_chunks(png))
    pixels = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    first = [kind for kind, _ in chunks].index(b"IDAT")
    rest = [chunk for chunk in chunks[first:] if chunk[0] != b"IDAT"]
    found = [*chunks[:first], (b"IDAT", zlib.compress(pixels, 6)), *rest]
    return _SIGNATURE + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in found
    )


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The parts of a PNG, as (kind, content)."""
    at = len(_SIGNATURE)
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += length + 12
