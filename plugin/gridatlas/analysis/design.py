"""Who speaks for whom: a study as an array, and the unit that repeats a page's contrasts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from gridatlas.analysis.table import Bools, Codes, Factor, Floats, Metric, Table

LARGEST = 50_000_000
"""Places of the grid of all factors: more would not fit into memory."""
Unit = Literal["replicate", "item", "block", "counts", "repeats", "rows", "none"]
ARRAYS = ("y", "k", "within", "n")


@dataclass(frozen=True, eq=False)
class Study:
    """A study made ready once for all its pages.

    Attributes:
        factors: Those with an axis of the arrays, in their order; numbers ascend.
        y: The values, in logs if `log`; nan where there is none. Rows that share a place are
            averaged: nothing says which row of one place belongs to which of another.
        k: Successes; None where any is unknown.
        within: Without counts the variance of the rows of a place; None where few share one.
        n: Trials; without counts how many rows share a place.
        scale: What a share of 1 is in the metric's unit.
        delta: The last printed decimal as a value; None where unknown.
        groups: Of each level of the block factor, which of the blocks that move apart it is in.
        apart: Whether these may be units.
        copies: Replicates left out, as they repeat another's numbers; one without a label where
            the rows of each place do.
        failed: How many runs failed, by the labels of the levels of each factor.
        averages: Whether all there is are averages.
        means: Blocks left out, as they are the mean of others.
        courses: Factors along a run, each with its mean by level over the runs that have all.
    """

    table: Table
    factors: Mapping[str, Factor]
    y: Floats
    k: Floats | None
    within: Floats | None
    n: Floats | None
    log: bool
    scale: float
    delta: float | None
    groups: Codes
    apart: bool
    copies: tuple[str, ...] = ()
    failed: Mapping[str, Mapping[str, int]] = ()  # type: ignore[assignment]
    averages: bool = False
    means: tuple[str, ...] = ()
    courses: tuple[tuple[Factor, Floats], ...] = ()

    def only(self, role: str) -> str | None:
        """The factor of this role with the most levels."""
        found = [name for name, factor in self.factors.items() if factor.role == role]
        return max(found, key=lambda name: len(self.factors[name].levels), default=None)


@dataclass(frozen=True, eq=False)
class Design:
    """What a page's contrasts are tested with.

    Attributes:
        fixed: The level that the page is about, by factor.
        names: Of the axes of `y` but its last, which is the unit (of length 1 without one).
        unit: What repeats the contrasts.
        unit_name: Its factor.
        own_only: Whether a contrast is judged by its own scatter alone.
        capped: Whether no answer is more than likely.
        single: The replicate that the page is about alone.
    """

    study: Study
    fixed: Mapping[str, int]
    names: tuple[str, ...]
    y: Floats
    k: Floats | None
    within: Floats | None
    n: Floats | None
    unit: Unit
    unit_name: str
    own_only: bool
    capped: bool
    floor: float
    single: bool = False

    def factor(self, name: str) -> Factor:
        """A factor of the study."""
        return self.study.factors[name]

    @property
    def sign(self) -> int:
        """−1 where less is better, else 1."""
        return -1 if self.study.table.metric.better == "lower" else 1

    @property
    def by_cell(self) -> bool:
        """Whether each cell has an error of its own, of its counts or of its rows."""
        return self.unit in ("counts", "repeats")

    @cached_property
    def varied(self) -> tuple[str, ...]:
        """Axes with at least two levels that have a value."""
        found = []
        for at, name in enumerate(self.names):
            others = tuple(axis for axis in range(self.y.ndim) if axis != at)
            if np.isfinite(self.y).any(axis=others).sum() >= 2:
                found.append(name)
        return tuple(found)


def changed(of: Study | Design, change: Callable[[Floats], Floats]) -> dict[str, Any]:
    """All arrays changed alike."""
    arrays = {name: getattr(of, name) for name in ARRAYS}
    return {name: None if array is None else change(array) for name, array in arrays.items()}


def mean(values: Floats, axis: int | tuple[int, ...]) -> Floats:
    """The mean of what is there; nan where nothing is."""
    finite = np.isfinite(values)
    counts = finite.sum(axis=axis)
    sums = np.where(finite, values, 0.0).sum(axis=axis)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


@np.errstate(all="ignore")
def prepare(table: Table) -> Study:
    """Make a study ready: failed values, logs, copies, averages and alike benchmarks are found.

    Raises:
        ValueError: The grid of all factors has more than `LARGEST` places.
    """
    table, averages = _observed(table)
    values, failed = _failed(table)
    scale = 100.0 if table.metric.unit == "%" else (table.metric.high or 1.0)
    counts = table.k is not None and table.n is not None and bool(
        len(values) and (np.isfinite(table.k) & (table.n > 0))[np.isfinite(values)].all()
    )  # fmt: skip
    delta = None if table.metric.decimals is None else 10.0**-table.metric.decimals
    log = not counts and in_logs(table.metric, values)
    if log:
        middle = float(np.median(values[np.isfinite(values)]))
        values, delta = np.log(values), None if delta is None else delta / middle
    factors = dict(table.factors)
    shape = tuple(len(factor.levels) for factor in factors.values())
    if float(np.prod([1.0, *shape])) > LARGEST:
        raise ValueError(f"the grid of all factors has more than {LARGEST:,} places: {shape}")
    place = np.zeros(len(values), np.intp)
    if factors:
        place = np.ravel_multi_index(tuple(table.codes[name] for name in factors), shape)
    arrays = _gathered(place, shape, values, *((table.k, table.n) if counts else (None, None)))
    copies = ("",) if _are_copies(*arrays) else ()
    y, k, within, n = (*arrays[:2], None, None) if copies else arrays
    study = Study(table, factors, y, k, within, n, log, scale, delta, np.zeros(0, np.intp), False,
                  copies, failed, averages)  # fmt: skip
    study = _without_copies(_at_the_end(study))
    return _grouped(_without_averages(study))


def _observed(table: Table) -> tuple[Table, bool]:
    """The observations without aggregates, unless there is nothing else."""
    real = np.ones(len(table.value), bool)
    for name, factor in table.factors.items():
        real &= ~np.isin(table.codes[name], [*factor.aggregates])
    averages = len(real) > 0 and not real.any()
    if averages:
        real[:] = True
    return _retained(table, real), averages


def _with_levels(factor: Factor, levels: Sequence[int]) -> Factor:
    """The factor with some of its levels, in this order."""
    base = factor.baseline
    return replace(
        factor,
        levels=tuple(factor.levels[at] for at in levels),
        numbers=factor.numbers and tuple(factor.numbers[at] for at in levels),
        baseline=levels.index(base) if base in levels else None,
        aggregates=frozenset(),
    )


def _retained(table: Table, rows: Bools) -> Table:
    """The observations at these rows; unused levels are dropped, and numbers ascend."""
    factors, codes = {}, {}
    for name, factor in table.factors.items():
        used: list[int] = np.unique(table.codes[name][rows]).tolist()
        if not used:
            continue
        if factor.numbers is not None:
            used.sort(key=factor.numbers.__getitem__)
        place = np.full(len(factor.levels), -1)
        place[used] = np.arange(len(used))
        codes[name] = place[table.codes[name][rows]]
        factors[name] = _with_levels(factor, used)
    n, k = (None if column is None else column[rows] for column in (table.n, table.k))
    failed = None if table.failed is None else table.failed[rows]
    value = table.value[rows]
    return replace(table, factors=factors, codes=codes, value=value, n=n, k=k, failed=failed)


Gathered = tuple[Floats, Floats | None, Floats | None, Floats | None]


def _gathered(
    place: Codes, shape: tuple[int, ...], values: Floats, k: Floats | None, n: Floats | None
) -> Gathered:
    """The arrays of a study, from the place of each row.

    Rows that share a place repeat its measurement, if at least half of the places have several.
    """
    size = int(np.prod(shape))
    rows = np.flatnonzero(np.isfinite(values))
    times = np.bincount(place[rows], minlength=size)
    if times.max(initial=0) > 1:
        # Whatever their order, they add up alike.
        rows = rows[np.lexsort((values[rows], place[rows]))]

    def summed(of: Floats) -> Floats:
        sums = np.bincount(place[rows], of[rows], size)
        return np.where(times > 0, sums, np.nan).reshape(shape)

    y = summed(values) / times.reshape(shape)
    if k is not None and n is not None:
        return y, summed(k), None, summed(n)
    if not 2 * (times > 1).sum() >= (times > 0).sum() > 0:
        return y, None, None, None
    rest = summed((values - y.ravel()[place]) ** 2).ravel()
    rest[rest <= 1e-24 * times * np.nanmax(np.abs(y)) ** 2] = 0.0
    within = np.where(times > 1, rest / (times - 1), np.nansum(rest) / (times[times > 0] - 1).sum())
    return y, None, within.reshape(shape), times.astype(float).reshape(shape)


def _are_copies(y: Floats, k: Floats | None, within: Floats | None, n: Floats | None) -> bool:
    """Whether the rows of each place are one, written several times."""
    if within is None or n is None or within[n > 1].any():
        return False
    return bool((n > 1).sum() >= 8 and len(np.unique(y[n > 1])) >= 5)


def _failed(table: Table) -> tuple[Floats, dict[str, dict[str, int]]]:
    """Values without those of failed runs, and how many failed by level."""
    values = table.value.astype(np.float64, copy=True)
    lost = ~np.isfinite(values)
    if table.failed is not None:
        lost |= table.failed
    finite = values[~lost]
    if len(finite) >= 4 and table.k is None:
        logs = bool((finite > 0).all())
        seen = np.log(np.where(lost | (values <= 0), 1.0, values)) if logs else values
        low, high = np.quantile(seen[~lost], [0.25, 0.75])
        with np.errstate(all="ignore"):
            if table.metric.better == "lower":
                far = seen > high + 10 * (high - low)
            else:
                far = seen < low - 10 * (high - low)
        far &= ~lost & bool(high > low)
        for name, factor in table.factors.items():
            if factor.role in ("choice", "condition", "block"):
                # A level that is far off as a whole is bad, not broken.
                codes, count = table.codes[name], len(factor.levels)
                off, of = (np.bincount(codes[at], minlength=count) for at in (far, ~lost))
                far &= ~(2 * off > of)[codes]
        lost |= far
    values[lost] = np.nan
    counted: dict[str, dict[str, int]] = {}
    for name, factor in table.factors.items():
        found = np.bincount(table.codes[name][lost], minlength=len(factor.levels))
        counted[name] = {
            label: int(count) for label, count in zip(factor.levels, found, strict=True) if count
        }
    return values, counted


def in_logs(metric: Metric, values: Floats) -> bool:
    """Whether values that are no counts are compared by their ratios."""
    finite = values[np.isfinite(values)]
    if not len(finite) or finite.min() <= 0 or metric.scale == "linear":
        return False
    if metric.scale == "log":
        return True
    open_above = metric.high is None and metric.unit != "%"
    return bool((open_above or metric.better == "lower") and finite.max() > 5 * finite.min())


def _reduced(study: Study, name: str, levels: Sequence[int]) -> Study:
    """The study with some levels of a factor only."""
    axis = [*study.factors].index(name)
    factors = {**study.factors, name: _with_levels(study.factors[name], levels)}
    return replace(study, factors=factors, **changed(study, lambda of: np.take(of, levels, axis)))


def reduced(study: Study, name: str, levels: Sequence[int]) -> Study:
    """The study with some levels of a factor only; which blocks move together is found anew."""
    return _grouped(_reduced(study, name, levels))


def _at_the_end(study: Study) -> Study:
    """Points along a run are no observations of their own: each run has the value of its last.

    Where nothing else is compared, they are.
    """
    given = {"choice", "condition"}
    if not any(of.role in given and len(of.levels) > 1 for of in study.factors.values()):
        factors = {
            name: replace(of, role="condition") if of.role == "progress" else of
            for name, of in study.factors.items()
        }
        return replace(study, factors=factors)
    for name in [name for name, factor in study.factors.items() if factor.role == "progress"]:
        axis = [*study.factors].index(name)
        finite = np.isfinite(study.y)
        last = study.y.shape[axis] - 1 - np.argmax(np.flip(finite, axis), axis)
        at = np.expand_dims(last, axis)
        factors = {key: factor for key, factor in study.factors.items() if key != name}
        runs = np.moveaxis(study.y, axis, -1)[finite.all(axis=axis)]
        course = study.factors[name], mean(runs, 0)
        arrays = changed(
            study,
            lambda of, at=at, axis=axis: np.take_along_axis(of, at, axis).squeeze(axis),  # type: ignore[misc]
        )
        study = replace(study, factors=factors, courses=(*study.courses, course), **arrays)
    return study


def _without_copies(study: Study) -> Study:
    """Without replicates that repeat all numbers of another."""
    name = study.only("replicate")
    if name is None:
        return study
    rows = np.moveaxis(study.y, [*study.factors].index(name), 0)
    rows = rows.reshape(len(rows), -1)
    kinds = 12 if study.k is not None else 5
    retained: list[int] = []
    for at, row in enumerate(rows):
        finite = np.isfinite(row)
        enough = finite.sum() >= 8 and len(np.unique(row[finite])) >= kinds
        if not enough or not any(np.array_equal(row, rows[of], equal_nan=True) for of in retained):
            retained.append(at)
    copies = tuple(
        label for at, label in enumerate(study.factors[name].levels) if at not in retained
    )
    return replace(_reduced(study, name, retained), copies=copies) if copies else study


def _without_averages(study: Study) -> Study:
    """Without blocks that are the mean of others to rounding, whatever they are called."""
    name = study.only("block")
    if name is None or study.log:
        return study
    rows = np.moveaxis(study.y, [*study.factors].index(name), -1)
    rows = rows.reshape(-1, rows.shape[-1])
    rows = rows[np.isfinite(rows).all(axis=1)]
    count = rows.shape[1]
    room = 1.01 * (study.delta or 1e-9 * max(1.0, float(np.abs(rows).max(initial=1.0))))
    averages = []
    for at in range(count):
        others = [of for of in range(count) if of != at and of not in averages]
        if len(rows) < 4 or len(others) < 2 or np.ptp(rows[:, at]) <= room:
            continue
        sets = [others]
        if len(rows) > len(others) and len(others) <= 60:
            weights = np.linalg.lstsq(rows[:, others], rows[:, at], rcond=None)[0]
            sets.append(
                [of for of, w in zip(others, weights, strict=True) if w > 0.5 * max(weights)]
            )
        for parts in sets:
            of = rows[:, parts]
            apart = len(parts) >= 2 and float(np.ptp(of, axis=1).max()) > room
            if apart and np.abs(of.mean(axis=1) - rows[:, at]).max() <= room:
                averages.append(at)
                break
    left = [at for at in range(count) if at not in averages]
    labels = tuple(study.factors[name].levels[at] for at in averages)
    return replace(_reduced(study, name, left), means=labels) if averages else study


def _grouped(study: Study) -> Study:
    """With the groups of blocks that move together."""
    name = study.only("block")
    if name is None:
        return study
    count = len(study.factors[name].levels)
    compared = study.only("choice")
    if compared is not None and len(study.factors[compared].levels) >= 8:
        axes = [*study.factors].index(compared), [*study.factors].index(name)
        table = np.moveaxis(study.y, axes, (0, 1))
        means = mean(table.reshape(*table.shape[:2], -1), 2)
        groups, few = _linked(means)
        return replace(study, groups=groups, apart=few >= 3 and len(np.unique(groups)) >= 3)
    stems = [
        re.split(r"[\d\s_-]", label.casefold())[0] or label for label in study.factors[name].levels
    ]
    alike = len(set(stems)) > 1 or count == 1
    groups = np.unique(stems, return_inverse=True)[1].astype(np.intp) if alike else np.arange(count)
    # In the order of their first blocks.
    first = {group: at for at, group in reversed([*enumerate(groups.tolist())])}
    order = sorted(first, key=first.__getitem__)
    groups = np.array([order.index(group) for group in groups.tolist()], np.intp)
    return replace(study, groups=groups, apart=len(order) >= 3)


def _linked(means: Floats) -> tuple[Codes, int]:
    """Groups of blocks by the correlation of their residuals, (level, block), average linkage.

    Returns:
        The group of each block, as far as groups correlate above 0.6; how many are left at 0.3.
    """
    # In units of each block's scatter, or a level's mean is that of the blocks that scatter most.
    centred = means - mean(means, 0)
    with np.errstate(all="ignore"):
        centred = centred / np.sqrt(mean(centred**2, 0))
    rest = centred - mean(centred, 1)[:, None]
    rest = rest - mean(rest, 0)
    finite = np.isfinite(rest)
    rest = np.where(finite, rest, 0.0)
    both = finite.T.astype(float) @ finite
    squares = (rest**2).T @ finite
    with np.errstate(all="ignore"):
        close = (rest.T @ rest) / np.sqrt(squares * squares.T)
    close = np.where((both >= 4) & np.isfinite(close), close, 0.0)
    np.fill_diagonal(close, -np.inf)
    group = np.arange(len(close))
    sizes = np.ones(len(close))
    retained: Codes | None = None
    while len(close) > 1:
        first, second = np.unravel_index(int(close.argmax()), close.shape)
        if close[first, second] <= 0.6 and retained is None:
            retained = group.copy()
        if close[first, second] <= 0.3:
            break
        merged = (sizes[first] * close[first] + sizes[second] * close[second]) / (
            sizes[first] + sizes[second]
        )
        close[first], close[:, first] = merged, merged
        close[first, first] = -np.inf
        close[second], close[:, second] = -np.inf, -np.inf
        sizes[first] += sizes[second]
        group[group == second] = first
    return np.unique(group if retained is None else retained, return_inverse=True)[1], len(
        np.unique(group)
    )


def design(study: Study, fixed: Mapping[str, int] | None = None) -> Design:
    """What the contrasts of a page are tested with.

    Args:
        fixed: The level of each factor that the page is about.
    """
    fixed = fixed or {}
    names = [name for name in study.factors if name not in fixed]
    at = tuple(fixed.get(name, slice(None)) for name in study.factors)
    y, k, within, n = changed(study, lambda of: of[at]).values()
    varied = {
        role: name if name in names and count_levels(y, names, name) > 1 else None
        for role in ("replicate", "item", "block")
        for name in [study.only(role)]
    }
    single = study.only("replicate") in fixed or bool(study.copies and not varied["replicate"])
    # All benchmarks share the luck of a run, unless each has runs of its own.
    runs = study.table.cells_are_runs and not _have_own(names, y, varied)
    unit: Unit
    unit, unit_name = ("none", "") if single else _unit(study, names, y, varied, runs=runs)
    replicate, block = varied["replicate"], varied["block"]
    if replicate and unit_name != replicate:
        y, k, n = _averaged(names, replicate, y, k, n)
    if block and unit == "repeats" and runs:
        # As if the luck of a run were that of all its blocks.
        axis = names.index(block)
        within, n = mean(within, axis), n.min(axis=axis)
    if block and (unit in ("block", "replicate", "rows") or (unit == "repeats" and runs)):
        lone = unit == "rows" or runs
        if lone or len(np.unique(study.groups)) < len(study.groups):
            y = _merged(names, block, study.groups, y, lone=lone)
    if unit_name:
        axis = names.index(unit_name)
        y = np.moveaxis(y, axis, -1)
        y = y[..., np.isfinite(y).any(axis=tuple(range(y.ndim - 1)))]
        names.remove(unit_name)
    else:
        y = y[..., None]
    delta = study.delta
    if unit == "replicate" and study.k is not None and study.n is not None:
        delta = study.scale / float(np.nanmedian(study.n))
    own_only = unit == "item" or (unit == "replicate" and not runs)
    capped = unit == "repeats" or (unit == "rows" and not runs)
    floor = 0.0 if delta is None else float(np.float64(delta) ** 2 / 12)
    result = Design(
        study, fixed, tuple(names), y, k, within, n, unit, unit_name, own_only, capped, floor,
        single,
    )  # fmt: skip
    if not result.by_cell:
        result = replace(result, k=None, within=None, n=None)
    if unit == "rows" and len(result.varied) < 2:
        result = replace(result, unit="none")
    return result


def unshared(has: Bools) -> Bools:
    """Pairs of levels of which fewer than half of the replicates have a partner of the same number.

    Args:
        has: (level, replicate).
    """
    both, runs = has.astype(float) @ has.T, has.sum(axis=1)
    few: Bools = 2 * both < 0.5 * (runs[:, None] + runs)
    return few


def own_units(page: Design, *names: str) -> Design:
    """The design of factors of which each level has replicates of its own, as people have one diet.

    Those of a place repeat it, each by its mean over the other factors, as far as replicates went
    through all of these (see `_complete`). Where levels share replicates, it is the page's own.
    """
    last = page.y.ndim - 1
    axes = range(last if page.unit == "replicate" else 0)
    apart = [at for at in axes if are_apart(page.y, at, last)]
    if not apart or not {*names} <= {page.names[at] for at in apart}:
        return page
    own = tuple(page.names[at] for at in apart)
    y = np.moveaxis(page.y, apart, range(len(apart)))
    y = np.moveaxis(y.reshape(*y.shape[: len(apart)], -1, y.shape[-1]), -2, 0)
    through = _complete(np.isfinite(y).reshape(len(y), -1, y.shape[-1]))
    y = y[through].sum(axis=0) / through.sum()
    n = np.isfinite(y).sum(axis=-1).astype(float)
    spare = np.maximum(n - 1, 0)
    if not through.any() or not spare.any():
        return page
    others = tuple(at for at, name in enumerate(own) if name != names[0])
    left = spare.sum(axis=others)[n.any(axis=others)]
    means = mean(y, -1)
    rest = np.nansum((y - means[..., None]) ** 2, axis=-1)
    within = np.where(n > 1, rest / np.maximum(spare, 1), rest.sum() / spare.sum())
    return replace(
        page, names=own, y=means[..., None], within=within, n=n, unit="repeats", own_only=False,
        capped=bool(left.min() < 4), floor=page.floor / through.sum(),
    )  # fmt: skip


def _complete(has: Bools) -> Bools:
    """Rows that replicates went through together, (row, level, replicate): those with fewest gaps.

    As many as leave the level that has fewest the most values.
    """
    has = has[:, has.any(axis=(0, 2))]
    rows = np.argsort(-has.sum(axis=(1, 2)), kind="stable")
    left = np.logical_and.accumulate(has[rows]).sum(axis=2).min(axis=1)
    values = left * np.arange(1, len(rows) + 1)
    found = np.zeros(len(rows), bool)
    found[rows[: int(values.argmax()) + 1]] = values.any()
    return found


def _have_own(names: Sequence[str], y: Floats, varied: Mapping[str, str | None]) -> bool:
    """Whether each block has replicates of its own."""
    if not (varied["block"] and varied["replicate"]):
        return False
    return are_apart(y, names.index(varied["block"]), names.index(varied["replicate"]))


def are_apart(y: Floats, axis: int, units: int) -> bool:
    """Whether no two levels share half of their replicates."""
    has: Bools = np.asarray(np.isfinite(y).any(axis=tuple({*range(y.ndim)} - {axis, units})))
    has = has if axis < units else has.T
    few = unshared(has[np.asarray(has.any(axis=1))])
    return len(few) > 1 and bool((few | np.eye(len(few), dtype=bool)).all())


def _unit(
    study: Study, names: Sequence[str], y: Floats, varied: Mapping[str, str | None], *, runs: bool
) -> tuple[Unit, str]:
    """The widest factor that repeats the experiment; or counts, or single values."""
    replicate, item, block = (varied[role] for role in ("replicate", "item", "block"))
    left = 0
    if block and study.apart and not runs:
        axis = names.index(block)
        here = np.isfinite(y).any(axis=tuple(a for a in range(y.ndim) if a != axis))
        left = len(np.unique(study.groups[here]))
    items = bool(item) and count_levels(y, names, item or "") >= 5
    counts = study.k is not None and not runs
    if replicate and (left < 6 or count_levels(y, names, replicate) >= 6):
        return "replicate", replicate
    if item and items and left < 6:
        return "item", item
    repeats = study.within is not None and not replicate
    if block and left >= (6 if repeats else 3):
        return "block", block
    return ("counts" if counts else "repeats" if repeats else "rows"), ""


def count_levels(y: Floats, names: Sequence[str], name: str) -> int:
    """How many levels of a factor have a value."""
    axis = names.index(name)
    return int(np.isfinite(y).any(axis=tuple(a for a in range(y.ndim) if a != axis)).sum())


Arrays = tuple[Floats, Floats | None, Floats | None]


def _averaged(names: list[str], name: str, y: Floats, k: Floats | None, n: Floats | None) -> Arrays:
    """Averaged over a factor, which leaves; counts add up."""
    axis = names.index(name)
    names.remove(name)
    if k is None or n is None:
        return mean(y, axis), None, None
    finite = np.isfinite(n)
    some = finite.any(axis=axis)
    successes, trials = (
        np.where(some, np.where(finite, array, 0.0).sum(axis=axis), np.nan) for array in (k, n)
    )
    return mean(y, axis), successes, trials


def _merged(names: list[str], block: str, groups: Codes, y: Floats, *, lone: bool) -> Floats:
    """Averaged over the blocks of each group, a cell only where it has all of them; or over all.

    The mean over all gives each group the same weight.
    """
    axis = names.index(block)
    parts = [
        np.take(y, np.flatnonzero(groups == group), axis).mean(axis=axis)
        for group in np.unique(groups)
    ]
    stacked = np.stack(parts, axis)
    if not lone:
        return stacked
    names.remove(block)
    found: Floats = stacked.mean(axis=axis)
    return found
