"""Contrasts of a factor's levels, with the error that the design gives them.

Values are arranged as d[unit, row, level], rows being all combinations of the other factors. A
contrast is Σ w d̄ over the levels, Σ w = 0; its error is √(MS · Σw² / (U R)). MS comes from one of
three strata: unit × row × level, unit × level, or the contrast's own scatter over units; the first
two are pooled unless an F test at 0.25 parts them (Bancroft 1964). Without units, rows are units;
or each cell has an error of its own, of its counts or of the rows that share its place.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gridatlas.analysis.design import Design, are_apart, mean, own_units, unshared
from gridatlas.analysis.table import Bools, Codes, Floats
from gridatlas.statistics.differences import fisher
from gridatlas.statistics.distributions import beta_cdf, f_tail, t_cdf, t_quantile

PART = 0.25
"""Below this p one stratum isn't pooled with another."""
UNEVEN = 0.05
"""Below this p units scatter more than rows, each contrast maybe by another amount."""
ROBUST = 10
"""Degrees of freedom of the units from which on each contrast has its own scatter."""
AT_ONCE = 4_000_000
"""Values in memory at once."""
MANY_PAIRS = 2_000
"""Pairs from which on each has its own scatter, which is quicker and safe."""
FEWEST_COUNTS = 10
"""Successes, and failures, below which counts are tested exactly."""
THE_OTHERS, TREND = -1, -2
"""Second of a contrast: the mean of all other levels; or the first is nothing, it's the trend."""


@dataclass(frozen=True, slots=True, eq=False)
class Tests:
    """Contrasts, one per place of each array.

    Attributes:
        first, second: Levels, or `THE_OTHERS`, or `TREND`. Of cells: places along the two axes.
        estimate: In the unit of the values, or in logs.
        error: Standard error.
        df: Degrees of freedom; inf for counts.
        p: Two-sided and unadjusted; nan where there is no test.
        capped: Whether nothing more than likely is allowed.
        rows: How many rows it uses.
    """

    first: Codes
    second: Codes
    estimate: Floats
    error: Floats
    df: Floats
    p: Floats
    capped: Bools
    rows: Codes

    def __len__(self) -> int:
        return len(self.p)


@dataclass(frozen=True, slots=True, eq=False)
class Scatter:
    """Mean squares with their degrees of freedom.

    Attributes:
        thin: Whether few units were pooled with much else.
        uneven: Whether units scatter more than rows do: contrasts may differ in how much.
    """

    ms: Floats
    df: Floats
    thin: Bools
    uneven: bool = False


def arrange(design: Design, *names: str) -> Floats:
    """Values as (unit, row, level, …); without units rows are units."""
    axes = [design.names.index(name) for name in names]
    moved = np.moveaxis(design.y, [design.y.ndim - 1, *axes], [0, *range(-len(axes), 0)])
    levels = moved.shape[moved.ndim - len(axes) :]
    d: Floats = moved.reshape(moved.shape[0], -1, *levels)
    if design.unit in ("rows", "none") or design.by_cell:
        d = d.reshape(-1, 1, *levels)
    return d


def arrange_cells(design: Design, *names: str) -> tuple[Floats, Floats, Floats]:
    """Values, successes (or scatter) and trials (or repeats) of cells as (row, level, …)."""
    axes = [design.names.index(name) for name in names]
    all_three = []
    for array in (design.y[..., 0], design.within if design.k is None else design.k, design.n):
        assert array is not None
        moved = np.moveaxis(array, axes, [*range(-len(axes), 0)])
        all_three.append(moved.reshape(-1, *moved.shape[moved.ndim - len(axes) :]))
    return all_three[0], all_three[1], all_three[2]


def by_row(design: Design, *names: str) -> Floats:
    """Values as (row, level, …), rows of all units together."""
    d = arrange(design, *names)
    return d.reshape(-1, *d.shape[2:])


def pvalues(estimate: Floats, error: Floats, df: Floats) -> Floats:
    """Two-sided p of t; of the normal distribution where df is infinite. nan without a test."""
    with np.errstate(all="ignore"):
        t = np.abs(estimate) / error
        p = 2 * t_cdf(-t, df)
    return np.where((df >= 2) & np.isfinite(t), p, np.nan)


def reach(df: Floats | float, confidence: float = 0.975) -> Floats:
    """Quantiles of t, and of the normal distribution where df is infinite."""
    df = np.asarray(df, float)
    return t_quantile(confidence, np.where(df > 0, np.maximum(df, 1), np.inf))


def exceeds(df: Floats | float, over: Floats | float, ratio: Floats) -> Floats:
    """The chance of an F of df and `over` as large as the ratio; 1 where one of them is 0."""
    df, over = np.asarray(df, float), np.asarray(over, float)
    with np.errstate(all="ignore"):
        p = f_tail(np.maximum(ratio, 0), np.maximum(df, 1), np.maximum(over, 1))
    return np.where((df > 0) & (over > 0) & ~np.isnan(ratio), p, 1.0)


def crossed(d: Floats) -> tuple[Floats, bool]:
    """The units and rows that have all levels; and whether all units have the same rows.

    Where they haven't, rows of units that lack one are nan.
    """
    levels = tuple(range(2, d.ndim))
    finite = np.asarray(np.isfinite(d).all(axis=levels))
    d = d[finite.any(axis=1)][:, finite.any(axis=0)]
    finite = np.asarray(np.isfinite(d).all(axis=levels))
    whole = bool(finite.all())
    return (
        d if whole else np.where(finite.reshape(*finite.shape, *[1] * len(levels)), d, np.nan)
    ), whole


def strata(d: Floats, dim: int, *, own_only: bool) -> Scatter | None:
    """The scatter that all contrasts share; None where only their own may be used.

    Args:
        d: (unit, row, level), complete, less all that isn't tested: the mean over the levels, or
            what two axes give.
        dim: The dimension of what is tested: levels − 1, or (A − 1)(B − 1) for cells.
    """
    units, rows, _ = d.shape
    if own_only or units - 1 >= ROBUST or units < 2 or dim < 1:
        return None
    by_unit = d.mean(axis=1)
    rest = d - by_unit[:, None] - d.mean(axis=0) + by_unit.mean(axis=0)
    df1, df2 = (units - 1) * (rows - 1) * dim, (units - 1) * dim
    ss1 = (rest**2).sum()
    ss2 = rows * (((by_unit - by_unit.mean(axis=0)) ** 2).sum())
    with np.errstate(all="ignore"):
        p = exceeds(df2, df1, np.asarray(ss2 / df2 / (ss1 / max(df1, 1))))
    if df1 == 0 or p < PART:
        uneven = df1 > 0 and bool(p < UNEVEN)
        return Scatter(np.asarray(ss2 / df2), np.asarray(float(df2)), np.asarray(False), uneven)
    pooled = (ss1 + ss2) / (df1 + df2)
    return Scatter(np.asarray(pooled), np.asarray(float(df1 + df2)), np.asarray(df2 < 4))


def with_own(shared: Scatter | None, own: Floats, df: float) -> Scatter:
    """Each contrast's scatter: what all share, unless its own exceeds that."""
    if shared is None:
        return Scatter(own, np.full(own.shape, float(df)), np.zeros(own.shape, bool))
    with np.errstate(all="ignore"):
        ratio = np.where(shared.ms > 0, own / shared.ms, np.where(own > 0, np.inf, 0.0))
    take = (exceeds(df, shared.df, ratio) < PART) | (shared.uneven & (ratio > 1))
    return Scatter(
        np.where(take, own, shared.ms),
        np.where(take, df, shared.df),
        np.where(take, False, shared.thin),
    )


def judged(
    design: Design, first: Codes, second: Codes, estimate: Floats, scatter: Scatter,
    per: Floats | float, rows: Codes | int, signs: Floats | None = None,
) -> Tests:  # fmt: skip
    """Contrasts with their p-values.

    Args:
        per: Σw² / (U R): what a mean square is multiplied by.
        signs: Of blocks: the share whose own contrast has the sign of the estimate.
    """
    size = np.abs(design.y[np.isfinite(design.y)]).max(initial=0.0)
    ms = np.where(scatter.ms > 1e-24 * size**2, scatter.ms, 0.0)
    floored = ms <= design.floor
    ms = np.maximum(ms, design.floor)
    error = np.sqrt(ms * per)
    df = np.broadcast_to(scatter.df, estimate.shape).astype(float)
    p = pvalues(estimate, error, np.where(ms > 0, df, 0.0))
    if signs is not None:
        p = np.where((signs < 0.5) & np.isfinite(p), 1.0, p)
    capped = np.broadcast_to(scatter.thin | floored, estimate.shape) | design.capped
    return Tests(
        first, second, estimate, error, df, p, capped, np.broadcast_to(rows, estimate.shape)
    )


def joined(parts: Sequence[Tests]) -> Tests:
    """Tests one after another."""
    return Tests(*(
        np.concatenate([np.atleast_1d(getattr(part, name)) for part in parts])
        for name in Tests.__slots__
    ))  # fmt: skip


def nothing() -> Tests:
    """No tests."""
    whole, real = np.zeros(0, np.intp), np.zeros(0)
    return Tests(whole, whole, real, real, real, real, np.zeros(0, bool), whole)


# --- pairs ----------------------------------------------------------------------------------------


def pairs(design: Design, name: str, chosen: Sequence[tuple[int, int]]) -> Tests:
    """Pairs of levels, each the first less the second, over the rows that both have."""
    if not chosen or design.unit == "none":
        return nothing()
    first, second = np.array(chosen, np.intp).T
    if design.by_cell:
        return cell_pairs(design, arrange_cells(design, name), first, second)
    if (sums := additive(design, name)) is not None:
        each = np.eye(len(sums[0]))
        return added(design, sums, each[first] - each[second], first, second)
    d = arrange(design, name)
    if design.unit == "item" and d.shape[1] == 1 and is_binary(design, d):
        return discordant(design, d[:, 0], first, second)
    fixed = fixed_levels(design, name)
    keep = ~(fixed[first] & fixed[second])
    first, second = first[keep], second[keep]
    has: Bools = np.asarray(np.isfinite(d).any(axis=1))
    apart = unshared(has.T)[first, second] & (design.unit == "replicate")
    parts = [
        _own_replicates(design, name, int(a), int(b))
        for a, b in zip(first[apart], second[apart], strict=True)
    ]
    first, second = first[~apart], second[~apart]
    levels = np.isfinite(d).any(axis=(0, 1))
    gaps = not np.isfinite(d[:, :, levels]).all()
    whole = d[:, :, levels]
    alone = gaps or levels.sum() == 3 or bool(fixed.any())
    shared = None if alone else strata(
        whole - whole.mean(axis=2, keepdims=True), levels.sum() - 1, own_only=design.own_only
    )  # fmt: skip
    own = design.own_only or len(d) - 1 >= ROBUST or d.shape[1] == 1 or len(first) > MANY_PAIRS
    if not len(first):
        pass
    elif not alone or own:
        parts.append(_own_pairs(design, d, first, second, shared))
    else:
        parts += [
            _pair_alone(design, d, int(a), int(b)) for a, b in zip(first, second, strict=True)
        ]
    return joined(parts) if parts else nothing()


def fixed_levels(design: Design, name: str) -> Bools:
    """Levels that have one number in all replicates of each row, while another level hasn't."""
    d = arrange(design, name)
    fixed = np.zeros(d.shape[2], bool)
    if design.unit != "replicate" or len(d) < 2:
        return fixed
    finite = np.isfinite(d)
    low = np.where(finite, d, np.inf).min(axis=0)
    high = np.where(finite, d, -np.inf).max(axis=0)
    repeated = finite.sum(axis=0) >= 2
    fixed = repeated.any(axis=0) & ((high == low) | ~repeated).all(axis=0)
    moving = (repeated & (high > low)).any(axis=0)
    return fixed if moving.any() else np.zeros(len(fixed), bool)


def is_binary(design: Design, d: Floats) -> bool:
    """Whether values are outcomes, of 0 or all."""
    finite = d[np.isfinite(d)]
    return bool(np.isin(finite, [0.0, design.study.scale]).all())


def own_replicates(design: Design) -> list[int]:
    """How many replicates each name has, if they aren't shared."""
    for name in design.varied:
        chosen = design.factor(name).role == "choice" and not _numbered(design, name)
        axes = design.names.index(name), design.y.ndim - 1
        if design.unit == "replicate" and chosen and are_apart(design.y, *axes):
            has: Bools = np.asarray(np.isfinite(arrange(design, name)).any(axis=1))
            return [count for count in has.sum(axis=0).tolist() if count]
    return []


def _own_replicates(design: Design, name: str, a: int, b: int) -> Tests:
    """A pair of which each has replicates of its own: Welch's t, with at most 2 Σ (m − 1) df.

    m is the smaller number of replicates: in each row of other factors that have their own, too.
    """
    two = np.take(design.y, [a, b], design.names.index(name))
    inside = replace(own_units(replace(design, y=two), name), own_only=True)
    if not inside.by_cell:
        return nothing()
    columns = arrange_cells(inside, name)
    found = cell_pairs(inside, columns, np.array([0]), np.array([1]))
    few = columns[2].min(axis=1)
    spare = float(np.maximum(few - 1, 0).sum())
    df = np.minimum(found.df, 2 * spare) if spare >= 2 and few[few > 0].min() > 1 else 0 * found.df
    return replace(
        found, first=np.array([a]), second=np.array([b]), df=df,
        p=pvalues(found.estimate, found.error, df), capped=np.array([spare < 4]),
    )  # fmt: skip


def _own_pairs(
    design: Design, d: Floats, first: Codes, second: Codes, shared: Scatter | None
) -> Tests:
    """Pairs over the units' own differences, each over the rows that both levels have."""
    finite = np.isfinite(d)
    filled = np.where(finite, d, 0.0)
    weight = finite.astype(float)
    counts, total, squares, signs = (np.zeros(len(first)) for _ in range(4))
    n_rows = np.zeros((d.shape[2], d.shape[2]))
    by_unit = np.full((len(d), len(first)), np.nan)
    for at, (x, w) in enumerate(zip(filled, weight, strict=True)):
        both = w.T @ w
        n_rows = np.maximum(n_rows, both)
        sums = x.T @ w
        with np.errstate(all="ignore"):
            by_unit[at] = ((sums - sums.T) / both)[first, second]
    has = np.isfinite(by_unit)
    counts = has.sum(axis=0)
    total = np.where(has, by_unit, 0.0).sum(axis=0)
    with np.errstate(all="ignore"):
        estimate = total / counts
        squares = np.where(has, (by_unit - estimate) ** 2, 0.0).sum(axis=0)
        own = squares / (counts - 1)
        signs = np.where(has, np.sign(by_unit) == np.sign(estimate), False).sum(axis=0) / counts
    rows = n_rows[first, second]
    # In the scale of single values: a unit's mean is over `rows`, and Σw² is 2.
    ms = np.where(counts >= 2, own * rows / 2, 0.0)
    scatter = (
        with_own(shared, ms, len(d) - 1)
        if shared
        else Scatter(ms, np.maximum(counts - 1.0, 0.0), np.zeros(len(ms), bool))
    )
    with np.errstate(all="ignore"):
        per = 2 / (counts * rows)
    used = counts if design.unit == "rows" else rows
    return judged(
        design, first, second, estimate, scatter, per, used.astype(np.intp),
        signs if design.unit == "block" else None,
    )  # fmt: skip


def _pair_alone(design: Design, d: Floats, a: int, b: int) -> Tests:
    """A pair whose strata are those of its two levels."""
    return weighted(design, d[:, :, [a, b]], np.array([[1.0, -1.0]]), 1, [a], [b])


def cell_pairs(
    design: Design, columns: tuple[Floats, Floats, Floats], first: Codes, second: Codes
) -> Tests:
    """Pairs of levels whose cells have errors of their own, over the rows that both have."""
    d, k, n = columns
    step = max(1, AT_ONCE // max(1, len(d)))
    parts = []
    for start in range(0, len(first), step):
        a, b = first[start : start + step], second[start : start + step]
        finite = (n[:, a] > 0) & (n[:, b] > 0)
        rows = finite.sum(axis=0)
        both = np.stack([a, b])
        with np.errstate(all="ignore"):
            found = cell_errors(design, k[:, both], n[:, both], 1)
            errors = [np.where(finite[:, None], of, 0.0).sum(axis=(0, 1)) for of in found]
            per = np.where(finite[:, None], 1 / n[:, both], 0.0).sum(axis=(0, 1)) / rows**2
            variance, df = pooled(design, errors[0] / rows**2, freedom(design, *errors), per)
            error = np.sqrt(variance)
            estimate = np.where(finite, d[:, a] - d[:, b], 0.0).sum(axis=0) / rows
        p = pvalues(estimate, error, np.where(rows > 0, df, 0.0))
        sums = [np.where(finite, x[:, of], 0.0).sum(axis=0) for of in (a, b) for x in (k, n)]
        k1, n1, k2, n2 = sums
        few = (np.minimum(k1 + k2, n1 + n2 - k1 - k2) < FEWEST_COUNTS) & (design.unit == "counts")
        for at in np.flatnonzero(few & (rows > 0)).tolist():
            p[at] = fisher(*(float(x[at]) for x in sums))
        capped = np.full(len(a), design.capped)
        parts.append(Tests(a, b, estimate, error, df, p, capped, rows.astype(np.intp)))
    return joined(parts)


def cell_errors(design: Design, k: Floats, n: Floats, axis: int) -> tuple[Floats, Floats, Floats]:
    """The variance of each cell's value, and what tells how well it is known (see `freedom`).

    Args:
        k: Successes, or the variance of rows that share a place.
        n: Trials, or how many rows those are.
        axis: Of the levels that are compared: counts have a common share.

    Returns:
        The variance; its square by its degrees of freedom; and where the place has one row, so that
        the scatter is that of all others, the variance again.
    """
    if design.unit == "counts":
        share = k.sum(axis=axis, keepdims=True) / n.sum(axis=axis, keepdims=True)
        spread = share * (1 - share) / n * design.study.scale**2
        return spread, 0.0 * spread, 0.0 * spread
    spread = np.maximum(k, design.floor) / n
    return spread, np.where(n > 1, spread**2 / (n - 1), 0.0), np.where(n > 1, 0.0, spread)


def freedom(design: Design, spread: Floats, squares: Floats, borrowed: Floats) -> Floats:
    """Degrees of freedom of sums of cells' errors (Satterthwaite 1946); inf of counts."""
    if design.n is None or design.unit == "counts":
        return np.full(spread.shape, np.inf)
    lenders = np.maximum(design.n[np.isfinite(design.n)] - 1, 0).sum()
    found: Floats = spread**2 / (squares + borrowed**2 / max(1.0, float(lenders)))
    return found


def pooled(design: Design, own: Floats, df: Floats, per: Floats) -> tuple[Floats, Floats]:
    """Variances of contrasts of few repeats with their degrees of freedom: those of all places.

    What a contrast's own places scatter counts where it is more: twice or three times repeated,
    they hardly tell it by themselves.

    Args:
        own: The variance by the contrast's own places, with its degrees of freedom.
        per: Σw²/n: what a mean square is multiplied by.
    """
    if design.unit != "repeats" or design.own_only or design.within is None or design.n is None:
        return own, df
    spare = np.maximum(np.nan_to_num(design.n) - 1, 0)
    ms = np.nansum(spare * design.within) / max(float(spare.sum()), 1.0)
    few = df < ROBUST
    shared = np.maximum(own, np.maximum(ms, design.floor) * per)
    return np.where(few, shared, own), np.where(few, spare.sum(), df)


def discordant(design: Design, d: Floats, first: Codes, second: Codes) -> Tests:
    """One row of outcomes 0/1 by item: the exact binomial test of those that differ."""
    difference = d[:, first] - d[:, second]
    finite = np.isfinite(difference)
    units = finite.sum(axis=0)
    estimate = mean(difference, 0)
    ms = np.where(finite, (difference - estimate) ** 2, 0.0).sum(axis=0) / np.maximum(units - 1, 1)
    scatter = Scatter(ms / 2, units - 1.0, np.zeros(len(ms), bool))
    found = judged(design, first, second, estimate, scatter, 2 / np.maximum(units, 1), 1)
    return replace(found, p=np.where(units >= 3, mcnemar(difference), np.nan))


def mcnemar(differences: Floats) -> Floats:
    """McNemar's exact test of outcomes, (item, pair): p of as many ups among those that differ."""
    up, down = (differences > 0).sum(axis=0), (differences < 0).sum(axis=0)
    few, many = np.minimum(up, down), np.maximum(up, down)
    exact = 2 * beta_cdf(np.maximum(many, 1), few + 1, 0.5)
    return np.where(up + down > 0, np.minimum(exact, 1.0), 1.0)


# --- incomplete designs ---------------------------------------------------------------------------

MOST_ADDED, MOST_EFFECTS = 20_000, 300
"""Values and levels up to which effects are added up."""
Sums = tuple[Floats, Floats, float, int]


def additive(design: Design, name: str) -> Sums | None:
    """Least squares where rows lack levels: all but one, as in a Latin square; or some of a number.

    Replicates and items have luck of their own with each level: what these add up to is as sure as
    it is without each of them (jackknife; Bell and McCaffrey 2002), with one degree of freedom less
    than there are.

    Returns:
        The mean of each level if effects add up, nan where it has no value; their covariance in
        units of the mean square that is left; that, and its degrees of freedom. None where rows
        have several levels, or not all differences are told apart.
    """
    if name not in design.varied or design.unit in ("counts", "repeats", "none"):
        return None
    if np.isfinite(design.y).sum() > MOST_ADDED or sum(design.y.shape) > MOST_EFFECTS:
        return None
    finite = np.isfinite(arrange(design, name))
    own_luck = design.unit in ("replicate", "item")
    some_left = own_luck or _enough(design, finite[:, :, _usual(finite)])
    gaps = _numbered(design, name) and not some_left
    if not gaps and finite.sum(axis=2).max() > 1:
        return None
    return _added_up(design, name)


# Its own answer asks it several times. Small designs alone come here.
@functools.lru_cache(maxsize=16)
def _added_up(design: Design, name: str) -> Sums | None:
    y, axis = design.y, design.names.index(name)
    at, count = np.nonzero(np.isfinite(y)), y.shape[axis]
    order = [axis, *(of for of in range(y.ndim) if of != axis)]
    columns = [np.eye(y.shape[of])[at[of]] for of in order[:-1]]
    measured = np.asarray(columns[0].any(axis=0))
    rows = np.hstack([*columns, y[at][:, None]])
    units = (rows[at[-1] == unit] for unit in range(y.shape[-1]))
    each = np.array([(of - of.mean(axis=0)).T @ (of - of.mean(axis=0)) for of in units])
    whole = _effects(each.sum(axis=0), measured)
    if whole is None:
        return None
    beta, inverse, rest, rank = whole
    df = len(rows) - len(each) - rank
    if df < 2:
        return None
    ms, covariance = rest / df, inverse[:count, :count]
    means = np.where(measured, y[at].mean() + beta[:count], np.nan)
    if design.unit in ("replicate", "item"):
        found = [_effects(each.sum(axis=0) - of, measured) for of in each]
        without = np.array([effects[0][:count] for effects in found if effects])
        df = len(each) - 1
        if df < 2 or len(without) < len(each):
            return None
        if ms > 0:
            covariance = np.cov(without.T) * df**2 / len(each) / ms
    return means, covariance, ms, df


def _effects(products: Floats, measured: Bools) -> tuple[Floats, Floats, float, int] | None:
    """Effects by their products with one another and with the values, which come last.

    Args:
        measured: Which of the first effects have a value at all: None where not all differences of
            these are told apart.

    Returns:
        The effects, the first ones centred; the inverse of the products; the sum of squares that is
        left; and how many effects are told apart.
    """
    normal, gives, count = products[:-1, :-1], products[:-1, -1], len(measured)
    others = normal[count:, count:]
    rank, rest = (int(np.linalg.matrix_rank(of, hermitian=True)) for of in (normal, others))
    if rank - rest < measured.sum() - 1:
        return None
    inverse = np.linalg.pinv(normal, hermitian=True).astype(np.float64)
    beta = inverse @ gives
    left = max(0.0, float(products[-1, -1] - beta @ gives))
    beta[:count] = np.where(measured, beta[:count] - beta[:count][measured].mean(), 0.0)
    return beta, inverse, left, rank


def added(design: Design, sums: Sums, weights: Floats, first: Codes, second: Codes) -> Tests:
    """Contrasts, (contrast, level), of effects that add up: at most likely, as none tests it."""
    means, covariance, ms, df = sums
    per = np.einsum("ca,ab,cb->c", weights, covariance, weights)
    scatter = Scatter(np.full(len(per), ms), np.full(len(per), float(df)), per > -1)
    estimate = weights @ np.nan_to_num(means)
    return judged(design, first, second, estimate, scatter, per, design.y.size)


# --- contrasts of all levels ----------------------------------------------------------------------


def weighted(
    design: Design, d: Floats, weights: Floats, dim: int, first: Sequence[int],
    second: Sequence[int], shared: Scatter | None = None,
) -> Tests:  # fmt: skip
    """Contrasts over units and rows that have all levels.

    Args:
        d: (unit, row, level).
        weights: (contrast, level).
        dim: As in `strata`.
        shared: What contrasts of complete d share; by default what these levels do.
    """
    labels = np.array(first, np.intp), np.array(second, np.intp)
    d, whole = crossed(d)
    squares = (weights**2).sum(axis=1)
    if not d.size:
        return nothing()
    units = len(d)
    means = d.mean(axis=1) if whole else mean(d, 1)
    by_unit = means @ weights.T
    estimate = by_unit.mean(axis=0)
    if units < 2:
        none = Scatter(np.zeros(len(weights)), np.zeros(len(weights)), np.zeros(len(weights), bool))
        return judged(design, *labels, estimate, none, 1.0, d.shape[1])
    rows = d.shape[1] if whole else 1
    own = rows * by_unit.var(axis=0, ddof=1) / squares
    if shared is None and whole:
        shared = strata(d - d.mean(axis=2, keepdims=True), dim, own_only=design.own_only)
    scatter = with_own(shared if whole else None, own, units - 1)
    used = units if design.unit == "rows" else d.shape[1]
    agreeing = (np.sign(by_unit) == np.sign(estimate)).mean(axis=0)
    signs = agreeing if design.unit == "block" else None
    return judged(design, *labels, estimate, scatter, squares / (units * rows), used, signs)


def by_cell(
    design: Design, d: Floats, k: Floats, n: Floats, weights: Floats, first: Sequence[int],
    second: Sequence[int],
) -> Tests:  # fmt: skip
    """Contrasts of cells, (row, level), with errors of their own."""
    labels = np.array(first, np.intp), np.array(second, np.intp)
    finite = np.asarray((n > 0).all(axis=1))
    d, k, n = d[finite], k[finite], n[finite]
    if not len(k):
        return nothing()
    estimate = d.mean(axis=0) @ weights.T
    spread, squares, borrowed = (of.sum(axis=0) for of in cell_errors(design, k, n, 1))
    variance = spread @ (weights**2).T
    df = freedom(design, variance, squares @ (weights**4).T, borrowed @ (weights**2).T)
    per = (1 / n).sum(axis=0) @ (weights**2).T / len(k) ** 2
    variance, df = pooled(design, variance / len(k) ** 2, df, per)
    error = np.sqrt(variance)
    p = pvalues(estimate, error, df)
    successes, trials = k.sum(axis=0), n.sum(axis=0)
    capped = np.full(len(weights), design.capped)
    for at, w in enumerate(weights if design.unit == "counts" else ()):
        if labels[1][at] == TREND:
            sides = [successes, trials - successes]
            if any(side.sum() < FEWEST_COUNTS for side in sides):
                p[at] = np.nan
            continue
        up, down = w > 0, w < 0
        k1, n1, k2, n2 = (float(x[side].sum()) for side in (up, down) for x in (successes, trials))
        if min(k1 + k2, n1 + n2 - k1 - k2) < FEWEST_COUNTS:
            p[at] = fisher(k1, n1, k2, n2)
    return Tests(*labels, estimate, error, df, p, capped, np.full(len(p), len(k)))


def levels(design: Design, name: str) -> Tests:
    """Each level of an ordered factor against the mean of the others, and last the trend.

    Levels with too many gaps take no part (see `retained`). Two levels have a trend alone. The
    trend's estimate is the fitted difference between the last level and the first.
    """
    if design.unit == "none":
        return nothing()
    if (sums := additive(design, name)) is not None:
        measured = np.flatnonzero(np.isfinite(sums[0]))
        weights, first, second = level_weights(measured)
        weights = weights @ np.eye(len(sums[0]))[measured]
        return added(design, sums, weights, np.array(first), np.array(second))
    left = retained(design, name)
    if len(left) < 2:
        return nothing()
    weights, first, second = level_weights(left)
    if design.by_cell:
        of_d, k, n = (x[:, left] for x in arrange_cells(design, name))
        return by_cell(design, of_d, k, n, weights, first, second)
    d = arrange(design, name)[:, :, left]
    if not _enough(design, np.isfinite(d)):
        return nothing()
    bare = replace(design, own_only=design.own_only or bool(fixed_levels(design, name).any()))
    return weighted(bare, d, weights, len(left) - 1, first, second)


def retained(design: Design, name: str) -> Codes:
    """Levels that at least half of the rows have; of numbers those that enough rows have together.

    The level with the most gaps goes first; more than half of them stay.
    """
    finite = np.isfinite(arrange(design, name))
    left = _usual(finite)
    spare = (len(left) - 1) // 2 if _numbered(design, name) else 0
    while spare and not _enough(design, finite[:, :, left]):
        left = np.delete(left, finite[:, :, left].sum(axis=(0, 1)).argmin())
        spare -= 1
    return left


def _numbered(design: Design, name: str) -> bool:
    """Whether the levels of an axis are numbers: one of all cells has no factor."""
    return bool(getattr(design.study.factors.get(name), "numbers", None))


def _usual(finite: Bools) -> Codes:
    """Levels that at least half of the rows have which have any: (unit, row, level)."""
    rows = finite.any(axis=2)
    return np.flatnonzero(2 * finite.sum(axis=(0, 1)) >= max(1, rows.sum()))


def _enough(design: Design, finite: Bools) -> bool:
    """Whether half of the units have all levels, or three that are no replicates."""
    rows: Bools = np.asarray(finite.all(axis=2))  # (unit, row, level)
    whole, some = rows.any(axis=1).sum(), finite.any(axis=(1, 2)).sum()
    most = 1 if design.by_cell else len(finite) if design.unit == "replicate" else 3
    return bool(whole >= min(some / 2, most))


def squares(tests: Tests) -> Floats:
    """Σw² of each contrast of an ordered factor, and of pairs."""
    trend = tests.second == TREND
    count = max(2, len(tests) - 1)
    steps = np.arange(count) - (count - 1) / 2
    others = np.where(tests.second == THE_OTHERS, count / (count - 1), 2.0)
    return np.where(trend, (count - 1) ** 2 / (steps**2).sum(), others)


def level_weights(retained: Codes) -> tuple[Floats, list[int], list[int]]:
    """Weights (contrast, level) with what they compare: each level with the others; the trend."""
    count = len(retained)
    steps = np.arange(count) - (count - 1) / 2
    trend = steps / (steps**2).sum() * (count - 1)
    if count == 2:
        return trend[None], [int(retained[-1])], [TREND]
    each = (np.eye(count) * count - 1) / (count - 1)
    return (
        np.vstack([each, trend]),
        [*retained.tolist(), int(retained[-1])],
        [THE_OTHERS] * count + [TREND],
    )


def alike(design: Design, tests: Tests, margin: float) -> Floats:
    """The p with which contrasts lie within a margin in the unit of the metric.

    In logs the margin is that around the geometric mean of all.
    """
    if design.study.log:
        middle = np.exp(min(700.0, float(np.nanmean(design.y))))
        margin = float(2 * np.arcsinh(margin / (2 * middle)))
    room = margin - np.abs(tests.estimate)
    p = pvalues(room, tests.error, tests.df)
    return np.where((room > 0) | np.isnan(p), p, 1.0)


def difference_by_unit(design: Design, name: str, a: int, b: int) -> Floats:
    """The difference of two levels in each unit, over rows that both have; without units by row."""
    d = arrange(design, name)
    found = mean(d[:, :, a] - d[:, :, b], 1)
    return found[np.isfinite(found)]


def level_means(design: Design, name: str) -> tuple[Floats, Bools]:
    """The mean of each level over rows that all have, and which rows those are.

    Levels with too many gaps don't count; theirs is nan.
    """
    d = by_row(design, name)
    if (sums := additive(design, name)) is not None:
        return sums[0], np.ones(len(d), bool)
    left = retained(design, name)
    rows: Bools = np.asarray(np.isfinite(d[:, left]).all(axis=1) & (len(left) > 0))
    means = np.full(d.shape[1], np.nan)
    if rows.any():
        means[left] = d[rows][:, left].mean(axis=0)
    return means, rows[np.asarray(np.isfinite(d).any(axis=1))]
