"""Drawings put into pages: ids of cells, ids that no other drawing has, sizes."""

from __future__ import annotations

import gzip
import re
from base64 import b64encode
from collections.abc import Container, Sequence
from html import escape

from gridatlas.charts.kinds import Picture
from gridatlas.charts.kinds.heatmap import Heatmap
from gridatlas.table.study_table import Grid

_CELL = re.compile(r'<path (?=aria-label="[^"]*" role="graphics-symbol")')


def with_cell_ids(svg: str, heatmap: Heatmap, grid: Grid, seen: set[str]) -> str:
    """Give each cell its permalink's id; cells are drawn in order, those without value last."""
    drawn = sorted(heatmap.marks, key=lambda mark: mark.value is None)
    keys = iter([f"{grid.address}/{mark.key}" for mark in drawn])

    def named(_: re.Match[str]) -> str:
        key = next(keys)
        seen.add(key)
        return f'<path id="{escape(key)}" '

    return _CELL.sub(named, svg)


def row_links(picture: Picture, grid: Grid | None, seen: Container[str]) -> tuple[str, ...]:
    """The ids of the cells that the marks of a picture stand for; empty where the page has none.

    Args:
        grid: Whose cells they are.
        seen: Ids that the page has.
    """
    if grid is None:
        return ()
    ids = (f"{grid.address}/{key}" for key in picture.cell_keys)
    return tuple(cell_id if cell_id in seen else "" for cell_id in ids)


def with_row_links(svg: str, picture: Picture, links: Sequence[str]) -> str:
    """Give marks that stand for cells theirs: `data-cell="<x>,<y>"`, and a link to its permalink.

    A script rings the cell of that address while the mark is pointed at: in every heatmap of the
    page that is of the study which the `data-study` around the drawing names. The link isn't a
    stop of the Tab key, since the table has the same links. Its attribute is `xlink:href`: Material
    sets the property of all that has `href`, and that of an SVG element can't be set. Its role is
    told, too: who judges links by `href` alone then knows that it isn't a dead one.

    Args:
        links: As `row_links` gives them.
    """
    keys = picture.cell_keys
    if not keys:
        return svg
    targets = iter(zip(keys, links or [""] * len(keys), strict=True))

    def linked(match: re.Match[str]) -> str:
        key, target = next(targets)
        cell = f'class="ga-row" data-cell="{escape(key)}"'
        if not target:
            return f"<g {cell}>{match[0]}</g>"
        return f'<a role="link" xlink:href="#{escape(target)}" tabindex="-1" {cell}>{match[0]}</a>'

    return _ROW.sub(linked, svg)


_ROW = re.compile(r'<path aria-label="[^"]*" role="graphics-symbol"[^>]*/>')


_SPOKEN = re.compile(r' aria-label="[^"]*" role="img"')


def as_picture(svg: str) -> str:
    """A drawing that a screen reader calls by its name, without going through its cells."""
    return _SPOKEN.sub("", svg).replace('role="group"', 'role="img"', 1)


_UNUSED = re.compile(r' xmlns="http://www\.w3\.org/2000/svg"|(?<=class=")mark-\w+ (?=role-)')
"""The namespace, and classes that no style or script of a page knows."""
_OWN = re.compile(r'(?<=id=")ga-[0-9a-f]{10}-\d+(?=")')


def with_own_ids(svg: str, seen: set[str]) -> str:
    """Give a drawing's colour bar and clips other ids where the page has drawn the same before.

    What it needs in a file of its own goes, and its cells' role has a short name: a page has up to
    twenty.
    """
    svg = _UNUSED.sub("", svg).replace('role="graphics-symbol"', 'role="img"')
    for taken in [own_id for own_id in _OWN.findall(svg) if own_id in seen]:
        number = next(n for n in range(2, len(seen) + 3) if f"{taken}-{n}" not in seen)
        svg = re.sub(rf"(?<=[\"#]){re.escape(taken)}(?=[\")])", f"{taken}-{number}", svg)
        seen.add(f"{taken}-{number}")
    seen.update(_OWN.findall(svg))
    return svg


def packed(text: str) -> str:
    """HTML or JSON that a script unpacks: as gzip in Base64, a fifth to a tenth of its size."""
    return text and b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


_SIZE = re.compile(r'<svg ([^>]*?) ?width="([\d.]+)" height="[\d.]+"')


def responsive(svg: str, width: str = "") -> str:
    """A viewBox alone lets CSS size it; its own width, or the given one, stays the largest."""
    widest = width or r"\2px"
    return _SIZE.sub(rf'<svg \1 style="max-width:{widest}"', svg, count=1)


def drawn_size(svg: str) -> tuple[float, float]:
    """Width and height of a drawing.

    Raises:
        ValueError: For a text that doesn't begin with a drawing's size.
    """
    found = re.match(r'<svg [^>]*?\bwidth="([\d.]+)" height="([\d.]+)"', svg)
    if found is None:
        raise ValueError("a drawing without its size")
    return float(found[1]), float(found[2])
