"""Which of several p-values still count once their number is taken into account."""

from __future__ import annotations

from collections.abc import Sequence

from gridatlas.statistics.differences import holm


def over_pages(pages: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    """The p-values of several questions on each of several sibling pages, adjusted for both.

    A page's p is that of its smallest, by Bonferroni; Holm's correction adjusts it for its
    siblings. A question's p is Holm's over the questions of its page, and at least its page's.
    Whatever the pages depend on, some page asserts what isn't so at most as often as alpha.

    Args:
        pages: Per page the p-values of its questions, at least one; from 0 to 1.

    Returns:
        The adjusted p-values, in the same order.
    """
    of_pages = holm([min(1.0, len(ps) * min(ps)) for ps in pages])
    return tuple(
        tuple(max(page, p) for p in holm(ps)) for page, ps in zip(of_pages, pages, strict=True)
    )
