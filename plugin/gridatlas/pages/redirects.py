"""Studies that were renamed: what stands at their old addresses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from gridatlas.model.addresses import SiteAddress
from gridatlas.model.study import Study
from gridatlas.pages.embeds import embed_path
from gridatlas.pages.exports import GRIDS
from gridatlas.pages.plan import EmbedPlan, PagePlan

File = str | bytes


def at_old_addresses(
    studies: Sequence[Study],
    plans: Iterable[PagePlan],
    embeds: Iterable[EmbedPlan],
    files: Mapping[str, File],
    into: str,
    site: SiteAddress,
    script: str,
) -> dict[str, File]:
    """Pages that lead from old addresses to the new ones, and copies of the downloads.

    A static host can't answer with another address, and what reads a download follows no page: so
    downloads are there twice, with the same content.

    Args:
        files: The site's files by their paths.
        into: Folder of the pages.
        script: Path of the script that keeps the permalink of a cell on the way.
    """
    names = [(former, study.id) for study in studies for former in study.former]
    if not names:
        return {}
    pages = {plan.path: plan.title for plan in plans}
    frames = {embed_path(embed): embed.title for embed in embeds}
    folders = {path.split("/index.md")[0] for path in pages}
    found: dict[str, File] = {}
    for former, new in names:
        for folder, old in (
            (f"{into}/{new}/", f"{into}/{former}/"),
            (f"{GRIDS}/{new}/", f"{GRIDS}/{former}/"),
        ):
            if old.rstrip("/") in folders:  # a page of another kind has taken the name
                continue
            for path, title in (pages | frames).items():
                if path.startswith(folder):
                    at = old + path.removeprefix(folder).replace("index.md", "index.html")
                    found[at] = _moved(path, title, at, site, script)
            for path, content in files.items():
                if path.startswith(folder) and path not in frames:
                    found[old + path.removeprefix(folder)] = content
    return {path: content for path, content in found.items() if path not in files}


def _moved(path: str, title: str, at: str, site: SiteAddress, script: str) -> str:
    """The page at one old address; it needs no script but for the part behind `#`."""
    link = escape(site.relative(path, at))
    canonical = ""
    if site.root:
        canonical = f'<link rel="canonical" href="{escape(site.of(path, at))}">\n'
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>Moved: {escape(title)}</title>\n{canonical}"
        f'<meta http-equiv="refresh" content="0; url={link}">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<link rel="icon" href="data:,">\n'
        f'<script src="{escape(site.relative(script, at))}" defer></script>\n'
        f'</head>\n<body>\n<p>This page has moved: <a href="{link}">{escape(title)}</a></p>\n'
        "</body>\n</html>\n"
    )
