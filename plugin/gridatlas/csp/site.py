"""The policy of a whole site, once all its pages are there."""

from __future__ import annotations

import logging
from pathlib import Path

from gridatlas.csp.policy import Refused, scan, with_meta
from gridatlas.csp.policy import policy as policy_of
from gridatlas.model.addresses import ASSETS

log = logging.getLogger("mkdocs.plugins.gridatlas")

POLICY = f"{ASSETS}/csp.txt"
"""File of the site that holds the policy as one line, for those who can send it as a header."""


def add_policy(site: Path, address: str, serving: bool) -> None:
    """Put the policy into all pages of a site, and into a file for those who send it as a header.

    Args:
        site: The folder of the site.
        address: URL of the site; empty where it isn't known.
        serving: Whether the site is for `mkdocs serve`: what the policy would stop is only logged.
    """
    pages = {
        path.relative_to(site).as_posix(): path
        for path in sorted(site.rglob("*.html"))
        if not any(part.startswith(".") for part in path.relative_to(site).parts)
    }
    hashes: set[str] = set()
    refused: dict[Refused, list[str]] = {}
    for name, path in pages.items():
        found = scan(_read(path), address)
        hashes |= found.hashes
        for refusal in found.refused:
            refused.setdefault(refusal, []).append(name)
    for refusal, names in sorted(refused.items(), key=lambda item: (item[1][0], item[0].found)):
        log.warning(refusal.message(names))
    # The server of `mkdocs serve` puts a script into pages that is another each time.
    if serving:
        return
    policy = policy_of(hashes)
    for path in pages.values():
        page = with_meta(_read(path), policy)
        path.write_bytes(page.encode("utf-8", "surrogateescape"))
    file = site / POLICY
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{policy}\n", encoding="utf-8")
    log.info("gridatlas: the header for the whole site, also in %s:", POLICY)
    log.info("Content-Security-Policy: %s", policy)


def _read(page: Path) -> str:
    # With its line ends, and with bytes that aren't UTF-8: some pages are the user's own files.
    return page.read_bytes().decode("utf-8", "surrogateescape")
