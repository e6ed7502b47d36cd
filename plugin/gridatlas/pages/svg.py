"""Drawings put into pages: ids of cells, ids that no other drawing has, sizes."""

from __future__ import annotations

import re
from html import escape

from gridatlas.charts.heatmap import Heatmap
from gridatlas.model.study import Grid

_CELL = re.compile(r'<path (?=aria-label="[^"]*" role="graphics-symbol")')


def with_cell_ids(svg: str, heatmap: Heatmap, grid: Grid, seen: set[str]) -> str:
    """Give each cell its permalink's id; cells are drawn in order, those without value last."""
    marks = sorted(heatmap.marks, key=lambda mark: mark.value is None)
    keys = iter([f"{grid.address}/{mark.key}" for mark in marks])

    def named(_: re.Match[str]) -> str:
        key = next(keys)
        seen.add(key)
        return f'<path id="{escape(key)}" '

    return _CELL.sub(named, svg)


_OWN = re.compile(r'(?<=id=")ga-[0-9a-f]{10}-\d+(?=")')


def with_own_ids(svg: str, seen: set[str]) -> str:
    """Give a drawing's colour bar and clips other ids where the page has drawn the same before."""
    for taken in [own_id for own_id in _OWN.findall(svg) if own_id in seen]:
        number = next(n for n in range(2, len(seen) + 3) if f"{taken}-{n}" not in seen)
        svg = re.sub(rf"(?<=[\"#]){re.escape(taken)}(?=[\")])", f"{taken}-{number}", svg)
        seen.add(f"{taken}-{number}")
    seen.update(_OWN.findall(svg))
    return svg


def responsive(svg: str) -> str:
    """A viewBox alone lets CSS size it; its own width stays the largest."""
    return re.sub(
        r'<svg ([^>]*?) ?width="([\d.]+)" height="[\d.]+"',
        r'<svg \1 style="max-width:\2px"',
        svg,
        count=1,
    )


def drawn_size(svg: str) -> tuple[float, float]:
    """Width and height of a drawing.

    Raises:
        ValueError: For a text that doesn't begin with a drawing's size.
    """
    found = re.match(r'<svg [^>]*?\bwidth="([\d.]+)" height="([\d.]+)"', svg)
    if found is None:
        raise ValueError("a drawing without its size")
    return float(found[1]), float(found[2])
