"""Whether two values of a cell, before and after, can be told apart from noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gridatlas.assessment.uncertainty import ALPHA, Ends, successes_of
from gridatlas.model.study import Cell, Grid, Point
from gridatlas.results.grids import share_scale, trials
from gridatlas.results.items import Shares, clusters

NO_TRIALS = "the number of trials is unknown"
NEWCOMBE = "95 % interval of each difference: Newcombe's"
TESTED_UP_TO = 10_000
"""Changed cells of a study up to which they are tested."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a test says of one changed cell.

    Attributes:
        differs: Whether the two can be told apart; None where nothing can be tested.
        test: What was tested, and how; empty where nothing was.
        p: After the correction; None for a test without one.
        interval: 95 % of after minus before, in the metric's unit; None where it isn't known.
        n: Trials (or items) before and after; None where they aren't known.
        reason: Why nothing can be tested.
    """

    differs: bool | None
    test: str = ""
    p: float | None = None
    interval: Ends | None = None
    n: tuple[int, int] | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Account:
    """A cell on one side, with what a test of it needs.

    Attributes:
        shares: Its outcomes item by item, where a run has them.
    """

    grid: Grid
    point: Point
    cell: Cell
    shares: Shares | None = None


def test_changes(pairs: Sequence[tuple[Account, Account]]) -> list[Told]:
    """Test each cell that changed, with a correction for their number.

    By outcomes on the same items where both sides have them; else by standard errors; else by
    trials.

    Args:
        pairs: Every cell of a study that has another value after than before.
    """
    if len(pairs) > TESTED_UP_TO:
        reason = f"more than {TESTED_UP_TO:,} cells changed, and so many are not tested"
        return [Told(None, reason=reason) for _ in pairs]
    found = [_by_items(*pair) or _by_errors(*pair) or _by_trials(*pair) for pair in pairs]
    return _corrected(found)


def _corrected(found: list[Told]) -> list[Told]:
    """Holm's correction of all p-values together; without a p, the interval as it is."""
    from gridatlas.statistics.differences import holm

    tested = [index for index, one in enumerate(found) if one.p is not None]
    adjusted = holm([found[index].p or 0.0 for index in tested])
    cells = "1 cell" if len(tested) == 1 else f"{len(tested):,} cells"
    name = f", Holm's correction for the {cells} tested" if len(tested) > 1 else ""
    if len(tested) > 1 and any(found[index].interval for index in tested):
        name += " (not of the intervals)"
    for index, p in zip(tested, adjusted, strict=True):
        one = found[index]
        interval = f"; {NEWCOMBE}" if one.interval else ""
        found[index] = replace(one, p=p, differs=p <= ALPHA, test=one.test + name + interval)
    return found


def _by_items(old: Account, new: Account) -> Told | None:
    """Paired by item; None where the two weren't asked the same."""
    from gridatlas.statistics.paired import paired_p

    first, second = old.shares, new.shares
    if first is None or second is None or first.items != second.items:
        return None
    tested = paired_p(second.values, first.values)
    n = len(first.items)
    test = f"paired by item, {n} items: {tested.test}"
    return Told(None, test, tested.p, n=(n, n))


def _by_errors(old: Account, new: Account) -> Told | None:
    """By standard errors, where a side has one and the other has that or trials."""
    from gridatlas.statistics.rerun import Estimate, difference_interval

    if old.cell.stderr is None and new.cell.stderr is None:
        return None

    def measured(one: Account) -> Estimate:
        scale = share_scale(one.grid.study)
        value = float(one.cell.value or 0) / (scale or 1)
        n = trials(one.grid, one.cell) if scale and 0 <= value <= 1 else None
        error = None if one.cell.stderr is None else float(one.cell.stderr) / (scale or 1)
        over = clusters(one.grid.study, one.grid.levels, one.point, one.cell)
        return Estimate(value, n, error, over)

    scale = share_scale(new.grid.study) or 1
    given = difference_interval(measured(old), measured(new))
    if given is None:
        return None
    interval, method = given
    test = f"by its interval ({method}, 95 %), not corrected for the number of cells"
    ends = (interval.low * scale, interval.high * scale)
    return Told(ends[0] > 0 or ends[1] < 0, test, interval=ends)


def _by_trials(old: Account, new: Account) -> Told:
    from gridatlas.statistics.differences import difference

    first, second = _counts(old), _counts(new)
    if isinstance(first, str) or isinstance(second, str):
        reasons = [one for one in (first, second) if isinstance(one, str)]
        return Told(None, reason=reasons[0])
    scale = share_scale(new.grid.study) or 1
    compared = difference(*second, *first)
    ends = (compared.interval.low * scale, compared.interval.high * scale)
    n = (first[1], second[1])
    test = f"Fisher's exact test, two-sided, {n[0]:,} and {n[1]:,} trials taken as independent"
    return Told(None, test, compared.p, ends, n)


def _counts(one: Account) -> tuple[int, int] | str:
    """Successes and trials; or why they aren't known."""
    study, cell = one.grid.study, one.cell
    if one.grid.aggregate:
        return "an aggregate is no count of trials"
    scale, n = share_scale(study), trials(one.grid, cell)
    if n is None:
        return NO_TRIALS
    if scale is None:
        return f"{study.metric.name} is not a share of trials"
    k = cell.successes if cell.successes is not None else successes_of(cell, n, scale)
    return f"{cell.value} is no count of {n} trials" if k is None else (k, n)
