"""Outlines of regions on a heatmap: the edges between cells inside and outside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gridatlas.model.study import Level, Study


@dataclass(frozen=True, slots=True)
class Segment:
    """One edge of a region's outline, in cells (or blocks) from the top left corner."""

    x: float
    y: float
    x2: float
    y2: float


def region_edges(study: Study, rows: Sequence[Level]) -> tuple[Segment, ...]:
    """The edges between cells inside and outside a region, in cells from the top left corner.

    Args:
        rows: The levels of y from the top down.
    """
    segments = []
    for region in study.regions:
        inside = {
            (i, j)
            for i, x in enumerate(study.x.levels)
            for j, y in enumerate(rows)
            if (x.key, y.key) in region.points
        }
        for i, j in sorted(inside):
            edges = {
                (i, j - 1): Segment(i, j, i + 1, j),
                (i, j + 1): Segment(i, j + 1, i + 1, j + 1),
                (i - 1, j): Segment(i, j, i, j + 1),
                (i + 1, j): Segment(i + 1, j, i + 1, j + 1),
            }
            segments += [edge for beyond, edge in edges.items() if beyond not in inside]
    return tuple(segments)


def edges_in_blocks(
    outline: Iterable[Segment], x: Sequence[range], y: Sequence[range], upwards: bool
) -> tuple[Segment, ...]:
    """An outline in blocks; edges in one line become one.

    Args:
        x, y: The places of each block's levels.
    """
    across = _edges(x, upwards=False)
    down = _edges(y, upwards)
    horizontal: dict[float, list[tuple[float, float]]] = {}
    vertical: dict[float, list[tuple[float, float]]] = {}
    for edge in outline:
        left, right = across[int(edge.x)], across[int(edge.x2)]
        top, bottom = down[int(edge.y)], down[int(edge.y2)]
        if top == bottom:
            horizontal.setdefault(top, []).append((left, right))
        else:
            vertical.setdefault(left, []).append((top, bottom))
    return (
        *(
            Segment(a, y, b, y)
            for y, spans in sorted(horizontal.items())
            for a, b in _joined(spans)
        ),
        *(Segment(x, a, x, b) for x, spans in sorted(vertical.items()) for a, b in _joined(spans)),
    )


def _edges(spans: Sequence[range], upwards: bool) -> list[float]:
    """Where the edges between cells lie, in blocks: the last block may have fewer cells."""
    edges = [
        block + place / len(span) for block, span in enumerate(spans) for place in range(len(span))
    ]
    edges.append(float(len(spans)))
    return [len(spans) - edge for edge in reversed(edges)] if upwards else edges


def _joined(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    joined: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined
