"""Addresses of a site's pages and files, for places that no host translates."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

ASSETS = "assets/gridatlas"
"""Folder of the stylesheet and the scripts, beside the pages."""
STYLESHEET = f"{ASSETS}/gridatlas.css"
SCRIPT = f"{ASSETS}/gridatlas.js"
EXPLORE = f"{ASSETS}/explore.js"
MOVED = f"{ASSETS}/moved.js"
FRAMES = f"{ASSETS}/embed.js"
"""For pages of others, which frame heatmaps."""


_SAFE = ":/?#[]@!$&'*+,;=%~-._"
"""Characters that stay as they are: neither Markdown nor HTML ends an address at one of them."""


@dataclass(frozen=True, slots=True)
class SiteAddress:
    """Where a site is published.

    Attributes:
        root: URL of the host's docs folder, with its last slash; empty where it isn't known.
        ending: What stands in the place of `index.md` in the address of a page.
        served: Whether one person alone looks at it, so that nobody shares its pages.
    """

    root: str = ""
    ending: str = ""
    served: bool = False

    def of(self, path: str, beside: str, anchor: str = "") -> str:
        """The address of a page or file: the whole URL where it is known, else `relative`."""
        if not self.root:
            return self.relative(path, beside, anchor)
        below = self.relative(path, "index.md", anchor)
        return quote(self.root, safe=_SAFE) + below.removeprefix("./")

    def relative(self, path: str, beside: str, anchor: str = "") -> str:
        """The address of a page or file as a link from another one.

        Args:
            path: Path below the host's docs folder; that of a page ends with `index.md`.
            beside: Path of the page or file with the link.
            anchor: Id of an element.
        """
        folder, _, name = path.rpartition("/")
        name = self.ending if name == "index.md" else name
        way = _way(folder or ".", posixpath.dirname(beside) or ".")
        url = ("" if way == "." else f"{way}/") + name or "./"
        return quote(f"{url}#{anchor}" if anchor else url, safe=_SAFE)


_way = lru_cache(4096)(posixpath.relpath)
"""Kept: a page has thousands of links to a few folders."""


def is_below(path: str) -> bool:
    """Whether a relative path leads into its folder, and is written in one way only."""
    return "\\" not in path and not any(part in ("", ".", "..") for part in path.split("/"))
