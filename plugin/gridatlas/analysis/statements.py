"""What may be said of others' statements: their arithmetic, and the test of what they assert."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np

from gridatlas.analysis import contrasts
from gridatlas.analysis.contrasts import Tests
from gridatlas.analysis.design import Design, Study, design, mean
from gridatlas.analysis.questions import holm
from gridatlas.analysis.table import Floats

Verdict = Literal[
    "holds", "holds-within-noise", "holds-untested", "undecided", "false", "contrary-shown"
]
STRONG = re.compile(
    r"\b(best|peaks?|optim(al|um)|sweet spot|outliers?|sensitive|robust|stable|"
    r"consistent(ly)?|significant(ly)?|clear(ly)?|massive|boosts?|improves?|drives?|"
    r"specific to|affects?|matters?)\b",
    re.IGNORECASE,
)
"""Words that assert more than arithmetic."""


def asserts_more(text: str) -> bool:
    """Whether a statement says more than its numbers."""
    return bool(STRONG.search(text))


def verdict(
    arithmetic: bool | None, *, quotes: bool = False, capped: bool = False,
    p: float | None = None, contrary: bool = False,
) -> Verdict:  # fmt: skip
    """What is said of a statement.

    Args:
        arithmetic: Whether it is true of the printed numbers; None where they are missing.
        quotes: Whether it only quotes numbers, counts or places.
        capped: Whether it asserts more (`asserts_more`) and names no question that it is about.
        p: Of the test of what it asserts, adjusted over the statements of its source; None or nan
            where there is none.
        contrary: Whether the test points the other way.
    """
    tested = p is not None and bool(np.isfinite(p))
    shown = tested and p is not None and p <= 0.05
    if arithmetic is None:
        return "undecided"
    if not arithmetic:
        return "contrary-shown" if shown and contrary else "false"
    if quotes and not capped:
        return "holds"
    if not tested or capped:
        return "holds-untested"
    return "holds" if shown and not contrary else "holds-within-noise"


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """Of several readings: the verdict that is least kind."""
    return max(verdicts, key=get_args(Verdict).index)


def compared(study: Study, first: Mapping[str, int], second: Mapping[str, int]) -> Tests:
    """The contrast of two places or means, the first less the second.

    A place names a level of some factors; values are averaged over all others. Levels that both
    have are those of a page; the others are weighed as they stand.
    """
    fixed = {name: level for name, level in first.items() if second.get(name) == level}
    own = [name for name in study.factors if name in {*first, *second} and name not in fixed]
    page = design(study, fixed)
    names = [name for name in own if name in page.names]
    if page.unit == "none" or not names or len(names) < len(own):
        return contrasts.nothing()
    levels = [len(study.factors[name].levels) for name in names]
    weights = np.zeros((1, *levels))
    for sign, place in ((1, first), (-1, second)):
        part = np.zeros(levels)
        part[tuple(place.get(name, slice(None)) for name in names)] = 1
        weights[0] += sign * part / part.sum()
    if len(names) == 1 and all(names[0] in place for place in (first, second)):
        return contrasts.pairs(page, names[0], [(first[names[0]], second[names[0]])])
    flat = weights.reshape(1, -1)
    used = np.flatnonzero(flat[0])
    if page.unit == "counts":
        d, k, n = (x.reshape(len(x), -1)[:, used] for x in contrasts.arrange_counts(page, *names))
        return contrasts.counted(page, d, k, n, flat[:, used], [0], [0])
    d = contrasts.arrange(page, *names)
    d = d.reshape(*d.shape[:2], -1)[:, :, used]
    return contrasts.weighted(page, d, flat[:, used], len(used) - 1, [0], [0])


def adjusted(p: Sequence[float | None]) -> Floats:
    """The p of all statements of one source, by Holm; nan where there is no test."""
    return holm(np.array([np.nan if each is None else each for each in p], float))


# --- cell by cell ---------------------------------------------------------------------------------


def cell_tests(page: Design, name: str, first: int, second: int) -> tuple[Floats, Floats]:
    """The difference of two levels in each cell, and its p, by Holm over the cells.

    Counts by Fisher's exact test, the same items in both by McNemar's; nothing else is tested.

    Returns:
        Both flat, over all other axes in their order; nan where there is no test.
    """
    if page.unit == "counts":
        d, k, n = contrasts.arrange_counts(page, name)
        p = np.full(len(d), np.nan)
        for at in np.flatnonzero((n[:, [first, second]] > 0).all(axis=1)).tolist():
            p[at] = contrasts.fisher(k[at, first], n[at, first], k[at, second], n[at, second])
        return d[:, first] - d[:, second], holm(p)
    d = contrasts.arrange(page, name)
    differences = mean(d[:, :, first] - d[:, :, second], 0)
    if page.unit != "item":
        return differences, np.full(len(differences), np.nan)
    return differences, holm(contrasts.mcnemar(d[:, :, first] - d[:, :, second]))


def higher_and_lower(
    study: Study, name: str, first: int, second: int, fixed: Mapping[str, int] | None = None
) -> list[tuple[int, int, int]]:
    """In how many cells the first level is significantly higher, in how many lower, of how many.

    Returns:
        One for each replicate, each tested by itself; one in all without replicates.
    """
    replicate = study.only("replicate")
    fixed = dict(fixed or {})
    pages = [fixed]
    if replicate is not None and replicate not in fixed:
        pages = [{**fixed, replicate: at} for at in range(len(study.factors[replicate].levels))]
    found = []
    for page in pages:
        inside = design(study, page, alone=True)
        differences, p = cell_tests(inside, name, first, second)
        shown = p <= 0.05
        higher, lower = (int((shown & (sign * differences > 0)).sum()) for sign in (1, -1))
        found.append((higher, lower, int(np.isfinite(p).sum())))
    return found


def tally(passed: int, failed: int, not_applicable: int, cells: int) -> tuple[int, int, int]:
    """The counts of a check over the cells of a page.

    Raises:
        ValueError: They don't add up to the cells.
    """
    if passed + failed + not_applicable != cells:
        raise ValueError(
            f"{passed} passed, {failed} failed and {not_applicable} not applicable aren't the "
            f"{cells} cells of the page"
        )
    return passed, failed, not_applicable
