"""All kinds of pictures: drawn with vl-convert, whose libraries are bundled for a browser."""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import sys
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any

from gridatlas.charts.card import SocialCard, card_svg
from gridatlas.charts.kinds import Picture
from gridatlas.charts.shorten import shorter
from gridatlas.files.cache import cache_key, open_cache

Drawable = Picture | SocialCard
"""What can be drawn."""

PNG_SCALE = 2
INK = "#1f1f1f"
"""Colour of text in a PNG, on white."""


SYSTEM_FONTS = tuple(
    Path(folder)
    for folder in (
        "/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts",
    )
)  # fmt: skip
"""Where Linux has fonts."""
_FONTS = "FONTCONFIG_FILE"
_CELL = r'<path (?:[\w-]+="[^"]*" )*?aria-roledescription="%s"'


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawn picture: SVG (text in `currentColor`), PNG at 2×, and its Vega-Lite specification.

    One of several heatmaps side by side has no PNG: nothing offers it.
    """

    svg: str
    png: bytes
    spec: str


@dataclass(frozen=True, slots=True)
class Bundle:
    """Vega, Vega-Lite and vega-embed as one JavaScript module that exports `vegaEmbed`.

    Attributes:
        name: The file's name, with Vega's version.
    """

    name: str
    script: bytes


class DrawingError(RuntimeError):
    """A drawing that doesn't show what its picture holds."""


def draw_one(picture: Drawable) -> Drawing:
    """Draw one picture; of a card there is only the PNG, in its own size.

    Raises:
        DrawingError: Where the SVG has not one mark per cell, row or point. Vega answers some
            mistakes with an empty chart and no error, so this is looked at each time.
    """
    if isinstance(picture, SocialCard):
        return _draw_card(picture)
    spec = picture.specification()
    svg = _checked(picture.drawn(spec, _by_vega), picture)
    return Drawing(shorter(svg), _png(svg) if picture.has_png else b"", _json(spec))


def _checked(svg: str, picture: Picture) -> str:
    """A drawing that has all marks, with names for a screen reader, and ids."""
    _look_for_marks(svg, picture)
    return _stable(_plain(svg, picture), picture)


def _by_vega(spec: dict[str, Any]) -> str:
    svg: str = _vl_convert().vegalite_to_svg(spec, allowed_base_urls=[])
    return svg


def _png(svg: str) -> bytes:
    """The drawing on white."""
    on_white = re.sub(
        r"(<svg[^>]*>)", r'\1<rect width="100%" height="100%" fill="#fff"/>', svg, count=1
    ).replace('="currentColor"', f'="{INK}"')
    # Each of what isn't seen would take a layer as large as the picture.
    seen = _INVISIBLE.sub("", on_white)
    return recompress_png(_vl_convert().svg_to_png(seen, scale=PNG_SCALE))


def _draw_card(card: SocialCard) -> Drawing:
    vl_convert, thumbnail = _vl_convert(), ""
    if card.thumbnail:
        thumbnail = card.thumbnail.drawn(card.thumbnail.specification(), _by_vega)
        thumbnail = thumbnail.replace('="currentColor"', f'="{INK}"')
    png = vl_convert.svg_to_png(card_svg(card, thumbnail), scale=1)
    return Drawing("", recompress_png(png), "")


_LOADING = Lock()


@cache
def _vl_convert() -> Any:
    """vl-convert, with the fonts that it brings ahead of the system's.

    Of two fonts with the same name it takes the one that it has known for longer. The system's are
    read anew for each letter, in half of the time that a drawing takes, and are others on another
    machine. They still serve where its own have no letter.
    """
    # Of two threads, one would take away what the other one has set.
    with _LOADING:
        before = os.environ.get(_FONTS)
        os.environ[_FONTS] = str(Path(__file__).with_name("fonts.conf"))
        try:
            import vl_convert

            for folder in SYSTEM_FONTS if sys.platform == "linux" else ():
                if folder.expanduser().is_dir():
                    vl_convert.register_font_directory(str(folder.expanduser()))
        finally:
            del os.environ[_FONTS]
            if before is not None:
                os.environ[_FONTS] = before
    return vl_convert


def _look_for_marks(svg: str, picture: Picture) -> None:
    expected = picture.expected()
    drawn = {kind: len(re.findall(_CELL % kind, svg)) for kind in expected}
    if any(drawn[kind] != number for kind, (_, number) in expected.items()):
        found = " and ".join(f"{drawn[kind]} {what}" for kind, (what, _) in expected.items())
        numbers = " and ".join(str(number) for _, number in expected.values())
        raise DrawingError(f"{picture.title}: drawn with {found}, expected {numbers}")


_GROUP = re.compile(r'(<g [^>]*?class="[^"]*") role="graphics-[^"]*"(?: aria-[\w]+="[^"]*")*')
_ROLE = re.compile(
    r'(<path aria-label="[^"]*" role="graphics-symbol") aria-roledescription="[^"]*"'
)
_INVISIBLE = re.compile(r'<path(?: [\w-]+="[^"]*")* opacity="0"(?: [\w-]+="[^"]*")*/>')
_UNSEEN = re.compile(
    r'<path class="(?:background|foreground)"[^>]* d="(?:M0,0h0v0h0Z)?"[^>]*/>'
    # Beside the cells, no text is in the way of a pointer.
    r'|(?<=class="mark-text role-axis-label") pointer-events="none"'
)


_SYMBOL = re.compile(r' aria-label="[^"]*" role="graphics-symbol"')


def _plain(svg: str, picture: Picture) -> str:
    """The SVG with its cells as all that a screen reader is told of, and without what isn't seen.

    Vega names groups, titles and kinds of marks as well: words that say nothing of the results.
    A profile or forest plot is one image with a description; its table has the numbers.
    """
    svg = _UNSEEN.sub("", _ROLE.sub(r"\1", _GROUP.sub(r"\1", svg)))
    return _SYMBOL.sub("", svg) if picture.IS_IMAGE else svg


def _stable(svg: str, picture: Picture) -> str:
    """Ids by content (vl-convert counts them per process), a role and a name for the whole."""
    content = hashlib.sha256(re.sub(r"(gradient|clip)_?\d+", "", svg).encode()).hexdigest()[:10]
    names: dict[str, str] = {}

    def renamed(match: re.Match[str]) -> str:
        return names.setdefault(match[0], f"ga-{content}-{len(names)}")

    svg = re.sub(r'(?<=id=")(?:gradient_\d+|clip\d+)(?=")', renamed, svg)
    svg = re.sub(r"(?<=url\(#)(?:gradient_\d+|clip\d+)(?=\))", renamed, svg)
    svg = svg.replace(' xmlns:xlink="http://www.w3.org/1999/xlink" version="1.1"', "", 1)
    role = "img" if picture.IS_IMAGE else "group"
    head = f'<svg role="{role}" aria-label="{_escaped(picture.description)}"'
    return svg.replace("<svg", head, 1)


def _escaped(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace('"', "&quot;")


def _json(value: Any) -> str:
    # In one line: with an indent Python writes it, in twenty times as long, a third more of it.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


# --- PNG ----------------------------------------------------------------------------------------

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def recompress_png(png: bytes) -> bytes:
    """The same pixels in about a third of the bytes: vl-convert compresses for speed.

    Level 6 takes a third longer than 4, for 4 % fewer bytes.

    Raises:
        ValueError: For anything else than a PNG.
    """
    if not png.startswith(_SIGNATURE):
        raise ValueError("not a PNG")
    chunks = list(_chunks(png))
    pixels = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    first = [kind for kind, _ in chunks].index(b"IDAT")
    rest = [chunk for chunk in chunks[first:] if chunk[0] != b"IDAT"]
    found = [*chunks[:first], (b"IDAT", zlib.compress(pixels, 4)), *rest]
    return _SIGNATURE + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in found
    )


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The parts of a PNG, as (kind, content)."""
    start = len(_SIGNATURE)
    while start < len(png):
        (length,) = struct.unpack_from(">I", png, start)
        yield png[start + 4 : start + 8], png[start + 8 : start + 8 + length]
        start += length + 12


# --- the same in the browser ----------------------------------------------------------------------

# An export instead of the names on `window` that vl-convert would make: no page gets hold of Vega
# or of a view (CVE-2025-59840).
_SNIPPET = "export { vegaEmbed };"


def bundle(cache_folder: Path | None = None) -> Bundle:
    """The libraries that drew the pictures, in the same versions, for a browser.

    That of the version that the project's lock has comes with the package: making one takes a
    second, a third of a small site's first build. Of another version it is made here.

    Args:
        cache_folder: Where the bundle is cached; None makes it once per process.
    """
    script = shipped_bundle(version("vl-convert-python"))
    if script.is_file():
        return _named(script.read_bytes())
    cache = open_cache(cache_folder)
    key = cache_key("bundle", version("vl-convert-python"), _SNIPPET)
    cached: Mapping[str, Any] | None = cache.get(key)
    if cached is not None:
        return Bundle(**cached)
    made = _named(make_bundle())
    cache.put(key, {"name": made.name, "script": made.script})
    return made


def shipped_bundle(number: str) -> Path:
    """Where the package has the bundle of a version of vl-convert, if it has it."""
    return Path(__file__).with_name("vega") / f"vl-convert-{number}.js"


def _named(script: bytes) -> Bundle:
    """A bundle with the version that its first line gives: vl-convert takes long to import."""
    return Bundle(f"vega-{script.split(b',', 1)[0].decode().removeprefix('// Vega ')}.js", script)


@cache
def make_bundle() -> bytes:
    """The bundle, made by the vl-convert that is installed."""
    vl_convert = _vl_convert()
    head = (
        f"// Vega {vl_convert.get_vega_version()}, "
        f"Vega-Lite {vl_convert.get_vegalite_versions()[-1]}, "
        f"vega-embed {vl_convert.get_vega_embed_version()}, bundled by vl-convert "
        f"{version('vl-convert-python')}. "
        "Licences: vega-LICENSES.txt\n"
    )
    script: str = head + vl_convert.javascript_bundle(_SNIPPET)
    return script.encode()
