"""Cells and sources in the search of a site that Zensical built."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from gridatlas.build.site import Site
from gridatlas.model.addresses import SiteAddress
from gridatlas.pages.search import cell_entries, source_entries

INDEX = "search.json"
"""Where the search has what it finds, in the built site."""


def add(folder: Path, site: Site, ending: str) -> None:
    """Add entries to the index; a site without a search has none."""
    index = folder / INDEX
    if not index.is_file():
        return
    content: Any = json.loads(index.read_text("utf-8"))
    address = SiteAddress("", ending)
    pages = {page.plan.path: page for page in site.pages}
    items = content["items"]
    trails = {item["location"]: item["path"] for item in items}
    for made in (source_entries, cell_entries):
        for entry in made(site.assessments.values(), pages.values(), address):
            trail = trails.get(entry["location"].partition("#")[0], [])
            texts = {name: escape(entry[name], quote=False) for name in ("title", "text")}
            items.append(entry | texts | {"level": 2, "path": trail, "tags": []})
    index.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")), "utf-8")
