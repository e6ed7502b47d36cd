"""What may be said of others' statements: their arithmetic, and the test of what they assert."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from gridatlas.analysis import cells as interactions
from gridatlas.analysis import contrasts
from gridatlas.analysis.contrasts import Tests
from gridatlas.analysis.design import Design, Study, changed, design, mean, reduced
from gridatlas.analysis.questions import holm
from gridatlas.analysis.table import Bools, Codes, Floats

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


SAMENESS = re.compile(r"\b(robust|same|similar|stable)\b", re.IGNORECASE)
"""Words that say that values don't differ."""


def strong_words(text: str) -> list[str]:
    """The words by which a statement says more than its numbers."""
    return [match.group() for match in STRONG.finditer(text)]


def verdict(
    arithmetic: bool | None, *, quotes: bool = False, capped: bool = False,
    p: float | None = None, contrary: bool = False,
) -> Verdict:  # fmt: skip
    """What is said of a statement.

    Args:
        arithmetic: Whether it is true of the printed numbers; None where they are missing.
        quotes: Whether it only quotes numbers, counts or places.
        capped: Whether it asserts more (`strong_words`) and names no question that it is about.
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


# --- contrasts of cells ---------------------------------------------------------------------------

CELLS = "cells"
"""The axis that several are merged into."""
ALL_CELLS, NEAREST = 300, 50
"""Cells up to which the best is compared with all others; and with how many of more."""


@dataclass(frozen=True, slots=True, eq=False)
class Arranged:
    """A contrast of cells, with the page whose design tests it.

    Attributes:
        names: The factors along which its weights differ; it is averaged over all others.
        weights: Over all levels of these, in the order of their axes.
        whole: Whether it is averaged over all levels of the others.
    """

    page: Design
    names: tuple[str, ...]
    weights: Floats
    whole: bool


def arranged(
    study: Study, at: Mapping[str, Codes], weights: Floats, *, apart: Sequence[str] = ()
) -> Arranged | None:
    """A sum of cells as a contrast of a page; None where the page has no test of it.

    Levels that all cells share are those of the page. Where the weights are the same along a
    factor, the levels that it has are its rows.

    Args:
        at: By factor the level of each cell; none of a factor that is averaged over.
        weights: Of each cell.
        apart: Factors that count as compared, whatever the weights.
    """
    levels = {name: np.unique(codes) for name, codes in at.items()}
    fixed = {name: int(used[0]) for name, used in levels.items() if len(used) == 1}
    varied = [name for name in study.factors if name in at and name not in fixed]
    if not varied:
        return None
    dense = np.zeros([len(levels[name]) for name in varied])
    np.add.at(dense, tuple(np.searchsorted(levels[name], at[name]) for name in varied), weights)
    room = 1e-9 * float(np.abs(dense).max())
    names = [
        name
        for axis, name in enumerate(varied)
        if name in apart or float(np.ptp(dense, axis).max()) > room
    ]
    rows = [name for name in varied if name not in names]
    dense = dense.sum(axis=tuple(axis for axis, name in enumerate(varied) if name in rows))
    whole = True
    for name in rows:
        if len(levels[name]) < len(study.factors[name].levels):
            study, whole = reduced(study, name, levels[name].tolist()), False
    for name in names:
        if study.factors[name].role == "block":
            # What is compared repeats nothing.
            as_choice = replace(study.factors[name], role="choice")
            study = replace(study, factors={**study.factors, name: as_choice}, apart=False)
    page = design(study, fixed)
    if page.unit == "none" or not names or not {*names} <= {*page.names}:
        return None
    over = np.zeros([len(study.factors[name].levels) for name in names])
    over[np.ix_(*(levels[name] for name in names))] = dense
    return Arranged(page, tuple(names), over, whole)


def merged(page: Design, names: Sequence[str]) -> Design:
    """The page with some axes as one, `CELLS`."""
    axes = [page.names.index(name) for name in names]
    rest = [at for at in range(len(page.names)) if at not in axes]

    def flat(array: Floats) -> Floats:
        order = [*rest, *axes, *range(len(page.names), array.ndim)]
        before = [array.shape[at] for at in rest]
        return array.transpose(order).reshape(*before, -1, *array.shape[len(page.names) :])

    names = (*(page.names[at] for at in rest), CELLS)
    return replace(page, names=names, **changed(page, flat))


def contrast(of: Arranged) -> Tests:
    """The test of a contrast."""
    flat = of.weights.reshape(1, -1)
    used = np.flatnonzero(flat[0])
    page = merged(of.page, of.names)
    if len(used) == 2:
        # Levels of one factor share their scatter with its others.
        lone = len(of.names) == 1
        inside, over = (of.page, flat[0]) if lone else (_only(page, used), flat[0, used])
        pair = int(over.argmax()), int(over.argmin())
        return contrasts.pairs(inside, of.names[0] if lone else CELLS, [pair])
    if page.by_cell:
        d, k, n = (x[:, used] for x in contrasts.arrange_cells(page, CELLS))
        return contrasts.by_cell(page, d, k, n, flat[:, used], [0], [0])
    d = contrasts.arrange(page, CELLS)[:, :, used]
    return contrasts.weighted(page, d, flat[:, used], len(used) - 1, [0], [0])


def best_inside(study: Study, at: Mapping[str, Codes], inside: Bools, sign: int) -> float:
    """The p with which the best of some cells lie among those marked (Hsu 1984); nan untested.

    Args:
        at: By factor the level of each cell, which are all crossings of some levels.
        inside: Of each cell, whether it is marked.
        sign: 1 for the best, −1 for the worst.
    """
    if inside.all():
        return 0.0
    of = arranged(study, at, inside.astype(float))
    if of is None:
        return np.nan
    levels = [np.unique(at[name]) for name in of.names]
    chosen = np.ravel_multi_index(np.ix_(*levels), of.weights.shape).ravel()
    page = _only(merged(of.page, of.names), chosen)
    marked = of.weights.ravel()[chosen] > 0
    means = sign * page.sign * mean(contrasts.by_row(page, CELLS), 0)
    if not np.isfinite(means).all():
        return np.nan
    top = int(means.argmax())
    if not marked[top]:
        return 1.0
    others = np.flatnonzero(~marked)
    if len(marked) > ALL_CELLS:
        # Of very many, those nearest to the best decide.
        others = others[np.argsort(-means[others], kind="stable")[:NEAREST]]
        page, top = _only(page, np.r_[top, others]), 0
        others = np.arange(1, len(others) + 1)
    tests = contrasts.pairs(page, CELLS, [(top, other) for other in others.tolist()])
    if len(tests) < len(others):
        return np.nan
    ahead = sign * page.sign * tests.estimate > 0
    p = np.where(ahead, tests.p / 2, 1 - tests.p / 2) * (len(marked) - 1)
    return float(np.minimum(1.0, p.max()))


def _only(page: Design, cells: Codes) -> Design:
    """Some of the merged cells of a page."""
    y = page.y  # Its last axis are units.
    return replace(
        page, **changed(page, lambda of: of[..., cells, :] if of is y else of[..., cells])
    )


def interaction(study: Study, first: Mapping[str, Codes], second: Mapping[str, Codes]) -> float:
    """The p with which the effects within some cells differ from those within others.

    nan unless the two differ in one factor and vary alike.
    """
    both = {name: np.concatenate([first[name], second[name]]) for name in first if name in second}
    sides = [{name: {*of[name].tolist()} for name in both} for of in (first, second)]
    outer = [name for name in both if sides[0][name] != sides[1][name]]
    inner = [name for name in both if name not in outer and len(sides[0][name]) > 1]
    lone = all(len(side[name]) == 1 for side in sides for name in outer)
    if len(outer) != 1 or not inner or not lone or {*first} != {*second}:
        return np.nan
    levels = sorted(sides[0][outer[0]] | sides[1][outer[0]])
    study = reduced(study, outer[0], levels)
    both[outer[0]] = np.searchsorted(levels, both[outer[0]])
    of = arranged(study, both, np.ones(len(both[outer[0]])), apart=[*outer, *inner])
    if of is None:
        return np.nan
    return interactions.interaction(merged(of.page, inner), outer[0], CELLS)


def adjusted(p: Sequence[float | None]) -> Floats:
    """The p of all statements of one source, by Holm; nan where there is no test."""
    return holm(np.array([np.nan if each is None else each for each in p], float))


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
