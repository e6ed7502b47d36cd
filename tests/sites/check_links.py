"""Follows every link of a built site, served as it will be; needs the standard library only.

`SITE_URL=https://me.github.io/atlas/ python tests/sites/check_links.py site`
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from crawler import crawl
from static_host import serving

MISSING = ("no-such-page", "no/such/page/at/all/")
"""At these the host shows 404.html, whose links must work at any depth."""


def complaints(site: Path, address: str) -> Iterator[str]:
    """What is wrong with the links of a site.

    Args:
        site: The site's folder.
        address: Where the site will be, such as `https://me.github.io/atlas/`; "" for at no path.
    """
    prefix = f"/{urlsplit(address).path.strip('/')}/".replace("//", "/")
    with serving(site.resolve(), prefix) as home:
        found = crawl(home, "404.html", missing=MISSING)
    yield from (f"leads nowhere: {link}" for link in found.broken)
    yield from (f"loaded from another host: {link}" for link in found.foreign)
    if not found.broken:
        print(f"{len(found.pages)} pages and {len(found.files)} files below {prefix}")


def main(arguments: list[str]) -> int:
    """Print what is wrong; return the exit status."""
    site = Path(arguments[0] if arguments else "site")
    if not (site / "index.html").is_file():
        print(f"there is no site in {site}; build it first: make site", file=sys.stderr)
        return 2
    wrong = list(complaints(site, os.environ.get("SITE_URL", "")))
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
