"""Contrasts of single cells: the setting that stands out, the best of each name, interactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from gridatlas.analysis.contrasts import (
    FEWEST_COUNTS,
    Scatter,
    Tests,
    arrange,
    arrange_cells,
    by_cell,
    cell_errors,
    cell_pairs,
    crossed,
    discordant,
    exceeds,
    fixed_levels,
    freedom,
    is_binary,
    joined,
    judged,
    nothing,
    strata,
    weighted,
)
from gridatlas.analysis.design import Design, mean, own_units
from gridatlas.analysis.table import Bools, Codes, Floats
from gridatlas.statistics.distributions import chi_squared_tails

ENOUGH = 2 / 3
"""A cell that has no more of its values isn't compared as the best."""


def cell(design: Design, lone: str, two: str) -> Tests:
    """The setting with the best mean against what its levels give, towards better: one-sided.

    p is multiplied by the number of settings.
    """
    if design.unit in ("none", "rows"):
        return nothing()
    if design.by_cell:
        d, k, n = arrange_cells(design, lone, two)
        finite = np.asarray((n > 0).all(axis=(1, 2)))
        d, k, n = d[finite], k[finite], n[finite]
    else:
        d, whole = crossed(arrange(design, lone, two))
        d = d if whole else d[:0]
    a, b = d.shape[-2:]
    if not d.size or a < 2 or b < 2 or a * b < 5:
        return nothing()
    means = d.reshape(-1, a, b).mean(axis=0)
    best = np.unravel_index(int((design.sign * means).argmax()), means.shape)
    weights = np.outer(np.eye(a)[best[0]] - 1 / a, np.eye(b)[best[1]] - 1 / b).reshape(1, -1)
    place = [int(best[0])], [int(best[1])]
    if design.by_cell:
        d, k, n = (x.reshape(len(x), -1) for x in (d, k, n))
        found = by_cell(design, d, k, n, weights, *place)
    else:
        centred = d - d.mean(axis=2, keepdims=True) - d.mean(axis=3, keepdims=True)
        centred = (centred + d.mean(axis=(2, 3), keepdims=True)).reshape(*d.shape[:2], -1)
        flat, dim = d.reshape(*d.shape[:2], -1), (a - 1) * (b - 1)
        shared = strata(centred, dim, own_only=design.own_only)
        found = weighted(design, flat, weights, dim, *place, shared)
    better = design.sign * found.estimate > 0
    return replace(found, p=np.where(better, np.minimum(1.0, found.p / 2 * a * b), found.p * 0 + 1))


def may_be_best(design: Design, *axes: str) -> Bools:
    """Cells, over these axes, that aren't behind the best one seen (Hsu 1984); False without value.

    Where nothing repeats single values, none is behind.
    """
    shape = [len(design.factor(name).levels) for name in axes]
    counts = design.by_cell
    columns = arrange_cells(design, *axes) if counts else (arrange(design, *axes),) * 3
    d, k, n = (x.reshape(*x.shape[: x.ndim - len(axes)], -1) for x in columns)
    means = design.sign * mean(d, tuple(range(d.ndim - 1)))
    finite = np.isfinite(means)
    if finite.sum() < 2 or design.unit in ("rows", "none"):
        return finite.reshape(shape)
    top = int(np.where(finite, means, -np.inf).argmax())
    second = np.flatnonzero(finite & (np.arange(len(means)) != top))
    first = np.full(len(second), top)
    if counts:
        tests = cell_pairs(design, (d, k, n), first, second)
    elif design.unit == "item" and d.shape[1] == 1 and is_binary(design, d):
        tests = discordant(design, d[:, 0], first, second)
    else:
        by_unit = mean(d[:, :, [top]] - d[:, :, second], 1)
        units, rows = np.isfinite(by_unit).sum(axis=0), d.shape[1]
        ms = mean((by_unit - mean(by_unit, 0)) ** 2, 0) * units / np.maximum(units - 1, 1)
        scatter = Scatter(ms * rows / 2, units - 1.0, np.zeros(len(second), bool))
        per = 2 / (np.maximum(units, 1) * rows)
        tests = judged(design, first, second, mean(by_unit, 0), scatter, per, rows)
    p = np.where(np.isfinite(tests.p), tests.p, 1.0)
    finite[second[p / 2 * len(second) <= 0.05]] = False
    return finite.reshape(shape)


def names_of_best(design: Design, axes: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The names of the cells that `may_be_best`; empty where nothing repeats single values."""
    if design.unit in ("rows", "none") or not {*axes} <= {*design.names}:
        return ()
    levels = [design.factor(name).levels for name in axes]
    if arrange(design, *axes).shape[-len(axes) :] != (*map(len, levels),):
        return ()  # blocks that are alike are one together
    places = np.argwhere(may_be_best(own_units(design, *axes), *axes)).tolist()
    return tuple(tuple(of[at] for of, at in zip(levels, place, strict=True)) for place in places)


def best_cells(design: Design, name: str, axes: Sequence[str]) -> tuple[Tests, Codes]:
    """Pairs of levels, each at the best of its cells.

    p is multiplied by the number of the winner's cells: which of them was lucky is chosen. A cell
    is nobody's best if a level lacks it within the range of what was tried with it.

    Returns:
        The pairs, and of each level the place of its best cell along the axes; −1 without one.
    """
    count = len(design.factor(name).levels)
    none = np.full((count, len(axes)), -1, np.intp)
    if design.unit not in ("replicate", "counts", "repeats"):
        return nothing(), none
    if design.by_cell:
        columns = [x.reshape(len(x), count, -1) for x in arrange_cells(design, name, *axes)]
        d = columns[0][None]
    else:
        d = arrange(design, name, *axes)
        d = d.reshape(*d.shape[:2], count, -1)
    shape = tuple(len(design.factor(axis).levels) for axis in axes)
    finite: Bools = np.isfinite(d).mean(axis=(0, 1)) > ENOUGH
    tried = np.ones((count, *shape), bool)
    for at in range(len(axes)):
        others = tuple(of + 1 for of in range(len(axes)) if of != at)
        along = finite.reshape(count, *shape).any(axis=others, keepdims=True)
        up, down = (np.logical_or.accumulate(x, at + 1) for x in (along, np.flip(along, at + 1)))
        tried &= up & np.flip(down, at + 1)
    finite = finite & np.asarray((finite | ~tried.reshape(count, -1)).all(axis=0))
    means = mean(d - mean(d.reshape(*d.shape[:2], -1), 2)[:, :, None, None], (0, 1))
    best = np.where(finite, design.sign * means, -np.inf).argmax(axis=1)
    cells, shared = d[:, :, finite], None
    if design.unit == "replicate" and cells.size and np.isfinite(cells).all():
        rest = cells - cells.mean(axis=2, keepdims=True)
        shared = strata(rest, cells.shape[2] - 1, own_only=design.own_only)
    parts = []
    some = np.asarray(finite.any(axis=1))
    pairs = [*combinations(np.flatnonzero(some).tolist(), 2)]
    # With one scatter for all, they are tested at once.
    for group in [pairs] if pairs and shared is not None else [[pair] for pair in pairs]:
        (first, second), own = np.array(group).T, np.unique(group)
        weights = (np.eye(count)[first] - np.eye(count)[second])[:, own]
        if design.by_cell:
            of_d, k, n = (x[:, own, best[own]] for x in columns)
            found = by_cell(design, of_d, k, n, weights, first, second)
        else:
            found = weighted(design, d[:, :, own, best[own]], weights, 1, first, second, shared)
        if len(found):
            winner = np.where(design.sign * found.estimate > 0, found.first, found.second)
            parts.append(replace(found, p=np.minimum(1.0, found.p * finite[winner].sum(axis=1))))
    places = np.stack(np.unravel_index(best, shape), 1)
    return (joined(parts) if parts else nothing()), np.where(some[:, None], places, none)


def interaction(design: Design, lone: str, two: str) -> float:
    """The p of an interaction, by F over units (or the other rows), or by χ²; nan without one."""
    if design.unit == "none":
        return np.nan
    if design.by_cell:
        d, k, n = arrange_cells(design, lone, two)
        finite = np.asarray((n > 0).all(axis=(1, 2)))
        d, k, n = d[finite], k[finite], n[finite]
        if not len(k) or min(k.shape[1:]) < 2:
            return np.nan
        m = d.mean(axis=0)
        k, n = k.reshape(len(k), -1), n.reshape(len(n), -1)
        parts = [of.sum() for of in cell_errors(design, k, n, 1)]
        var, over = float(parts[0]) / len(k) ** 2 / m.size, freedom(design, *parts)
        few = design.unit == "counts" and min(k.sum(), (n - k).sum()) < FEWEST_COUNTS
        if few or var <= 0:
            return np.nan
    else:
        d = arrange(design, lone, two)
        # A level that was measured once scatters otherwise: its pairs are tested by themselves.
        d = d[:, :, ~fixed_levels(design, lone)][:, :, :, ~fixed_levels(design, two)]
        d, _ = crossed(d)
        if not d.size or min(d.shape[2:]) < 2 or len(d) < 2:
            return np.nan
        by_unit = mean(d, 1)
        m = by_unit.mean(axis=0)
    rest = m - m.mean(axis=0) - m.mean(axis=1, keepdims=True) + m.mean()
    dim = (m.shape[0] - 1) * (m.shape[1] - 1)
    if design.by_cell:
        ratio = float((rest**2).sum()) / var
        if np.isinf(over):
            return chi_squared_tails(ratio, dim)[0]
        return float(exceeds(dim, over, ratio / dim))
    each = by_unit - by_unit.mean(axis=1, keepdims=True) - by_unit.mean(axis=2, keepdims=True)
    each = each + by_unit.mean(axis=(1, 2), keepdims=True) - rest
    ms = max(float((each**2).sum()) / ((len(by_unit) - 1) * dim), design.floor / d.shape[1])
    ratio = len(by_unit) * float((rest**2).sum()) / dim / ms if ms > 0 else np.nan
    dim = min(dim, dimensions(each.reshape(len(each), -1)))
    over = (len(by_unit) - 1) * dim
    if over < 2 or ms <= 1e-24 * np.abs(d[np.isfinite(d)]).max() ** 2:
        return np.nan
    return float(exceeds(dim, over, np.asarray(ratio)))


def dimensions(scatter: Floats) -> float:
    """In how many dimensions units scatter alike (Box 1954), from (unit, what scatters)."""
    squares = scatter @ scatter.T
    total = float((squares**2).sum())
    return float(np.trace(squares) ** 2 / total) if total > 0 else 1.0
