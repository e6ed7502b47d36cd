"""How many items of each section fit, so that no section starves and the important come first."""

from __future__ import annotations

from collections.abc import Sequence

FIRST = 2_500
"""Bytes that each section may have for its first items, before the important ones take the rest."""


def allot(sizes: Sequence[Sequence[int]], budget: int) -> list[int]:
    """Number of items to keep per section, from its first on.

    Each section gets its first items as far as `FIRST` goes (less, where there are too many
    sections for that), then the sections take what is left in their order.

    Args:
        sizes: Bytes of each item of each section, the most important section first.
        budget: Bytes for all items together.
    """
    kept = [0] * len(sizes)
    share = min(FIRST, budget // len(sizes)) if sizes else 0
    left = budget
    for limit in (share, budget):
        for index, section in enumerate(sizes):
            room = min(left, limit)
            while kept[index] < len(section) and section[kept[index]] <= room:
                room -= section[kept[index]]
                left -= section[kept[index]]
                kept[index] += 1
    return kept
