"""Studies and levels that were renamed: what stands at their old addresses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape
from itertools import product

from gridatlas.data.levels import slug
from gridatlas.model.addresses import SiteAddress
from gridatlas.model.study import Level, Study
from gridatlas.pages.embeds import embed_path
from gridatlas.pages.exports import GRIDS
from gridatlas.pages.plan import EmbedPlan, PagePlan


def at_old_addresses(
    studies: Sequence[Study],
    plans: Iterable[PagePlan],
    embeds: Iterable[EmbedPlan],
    files: Collection[str],
    into: str,
    site: SiteAddress,
    script: str,
) -> dict[str, str]:
    """Pages that lead from old addresses of pages and frames to the new ones.

    Args:
        files: Paths of the site's files.
        into: Folder of the pages.
        script: Path of the script that keeps the permalink of a cell on the way.
    """
    pages = {plan.path: plan.title for plan in plans}
    frames = {embed_path(embed): embed.title for embed in embeds}
    folders = {path.split("/index.md")[0] for path in pages}
    titles = pages | frames
    found: dict[str, str] = {}
    for study in studies:
        # A page of another kind may have taken the name.
        ids = [study.id, *(name for name in study.former if f"{into}/{name}" not in folders)]
        renamed = any(level.former for facet in study.facets for level in facet.levels)
        if len(ids) == 1 and not renamed:
            continue
        for folder, names in ((into, _page_names), (GRIDS, _frame_names)):
            below = f"{folder}/{study.id}/"
            for path, title in titles.items():
                if not path.startswith(below):
                    continue
                for name, rest in product(ids, names(study, path.removeprefix(below))):
                    at = f"{folder}/{name}/{rest}"
                    if at != path:
                        at = at.replace("index.md", "index.html")
                        found[at] = _moved(path, title, at, site, script, _former_keys(study))
    return {path: content for path, content in found.items() if path not in files}


def _former_keys(study: Study) -> str:
    """What the part of a permalink that names levels is now: `old=new`, with spaces between."""
    return " ".join(
        f"{slug(former)}={level.slug}"
        for factor in (*study.facets, *study.varied)
        for level in factor.levels
        for former in level.former
    )


def _slugs(level: Level) -> list[str]:
    """The level in addresses, as it is and as it was."""
    return [level.slug, *map(slug, level.former)]


def _page_names(study: Study, rest: str) -> list[str]:
    """The path of a page below its study's, with the level as it is and as it was."""
    facet_id, _, rest_of_level = rest.partition("/")
    here, _, after = rest_of_level.partition("/")
    for facet in study.facets:
        for level in facet.levels:
            if (facet.id, level.slug) == (facet_id, here) and after:
                return [f"{facet_id}/{name}/{after}" for name in _slugs(level)]
    return [rest]


def _frame_names(study: Study, rest: str) -> list[str]:
    """The path of a grid's frame below its study's, with each level as it is and as it was."""
    parts = rest.removesuffix(".html").split("/")
    if len(parts) != len(study.facets):
        return [rest]
    choices = (
        [name for level in facet.levels if level.slug == part for name in _slugs(level)]
        for facet, part in zip(study.facets, parts, strict=True)
    )
    return [f"{'/'.join(names)}.html" for names in product(*choices)]


def _moved(path: str, title: str, at: str, site: SiteAddress, script: str, former: str) -> str:
    """The page at one old address; it needs no script but for the part behind `#`."""
    link = escape(site.relative(path, at))
    keys = f' data-former="{escape(former)}"' if former else ""
    canonical = ""
    if site.root:
        canonical = f'<link rel="canonical" href="{escape(site.of(path, at))}">\n'
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>Moved: {escape(title)}</title>\n{canonical}"
        f'<meta http-equiv="refresh" content="0; url={link}">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<link rel="icon" href="data:,">\n'
        f'<script src="{escape(site.relative(script, at))}"{keys} defer></script>\n'
        f'</head>\n<body>\n<p>This page has moved: <a href="{link}">{escape(title)}</a></p>\n'
        "</body>\n</html>\n"
    )
