"""What a page tells others of itself: the tags that make a card of a link to it."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Mapping
from html import escape

from gridatlas.model.addresses import SiteAddress
from gridatlas.pages.exports import grid_path
from gridatlas.pages.plan import PagePlan

Tag = tuple[str, str]
"""Name of a property and its content."""

_THERE = re.compile(r"""<meta\s[^>]*?\b(?:property|name)=["']?((?:og|twitter):[\w:]+)""", re.I)
_HEAD_ENDS = re.compile(r"</head\s*>", re.IGNORECASE)


def tags(
    plan: PagePlan,
    site: SiteAddress,
    files: Mapping[str, str | bytes],
    described: Mapping[str, str],
) -> tuple[Tag, ...]:
    """The tags of one page; its picture and address only where the site's address is known.

    Args:
        files: The site's files, with the pictures among them.
        described: What the pictures show, by their path.
    """
    found = [
        ("og:type", "website"),
        ("og:title", plan.title),
        ("og:description", plan.description),
    ]
    image = f"{grid_path(plan.main_grid)}.png" if plan.main_grid else ""
    if not site.root or plan.main_grid is None:
        found.append(("twitter:card", "summary"))
    if site.root:
        found.append(("og:url", site.of(plan.path, plan.path)))
    if site.root and plan.main_grid:
        width, height = png_size(files[image])
        found += [
            ("og:image", site.of(image, plan.path)),
            ("og:image:type", "image/png"),
            ("og:image:width", str(width)),
            ("og:image:height", str(height)),
            ("og:image:alt", described[image]),
            ("twitter:card", "summary_large_image"),
        ]
    return tuple((name, " ".join(content.split())) for name, content in found)


def with_tags(html: str, found: Iterable[Tag]) -> str:
    """A page with these tags at the end of its head, but for those that it has already.

    A page that has a picture of its own, from the theme or another plugin, keeps its card whole.
    """
    ends = _HEAD_ENDS.search(html)
    if ends is None:
        return html
    there = {name.lower() for name in _THERE.findall(html, 0, ends.start())}
    if "og:image" in there:
        return html
    lines = "".join(
        f'<meta {"name" if name.startswith("twitter") else "property"}="{name}" '
        f'content="{escape(content)}">\n'
        for name, content in found
        if name not in there
    )
    return html[: ends.start()] + lines + html[ends.start() :]


def with_dataset(html: str, dataset: str) -> str:
    """A page with what it is about, as JSON, at the end of its head; no script that runs."""
    ends = _HEAD_ENDS.search(html)
    if ends is None or not dataset:
        return html
    block = f'<script type="application/ld+json">{dataset}</script>\n'
    return html[: ends.start()] + block + html[ends.start() :]


def png_size(png: str | bytes) -> tuple[int, int]:
    """Width and height that a PNG names in its header.

    Raises:
        ValueError: For anything else than a PNG.
    """
    if not isinstance(png, bytes) or png[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("not a PNG")
    width, height = struct.unpack(">II", png[16:24])
    return width, height
