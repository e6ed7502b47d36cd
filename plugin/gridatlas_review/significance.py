"""Whether a cell's value, before and after, differs significantly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from gridatlas.assessment.uncertainty import ALPHA, Ends
from gridatlas.model.format import in_p, places_of
from gridatlas.model.study import Cell, Point
from gridatlas.table.items import (
    AGGREGATE,
    Shares,
    clusters,
    share_scale,
    successes_of,
    trials,
)
from gridatlas.table.study_table import Grid

NO_TRIALS = "the number of trials is unknown"
NEWCOMBE = "95 % interval of each difference: Newcombe's"
MAX_TESTED = 10_000
"""Changed cells of a study up to which they are tested."""


@dataclass(frozen=True, slots=True)
class SignificanceTest:
    """The test of one changed cell.

    Attributes:
        significant: Whether noise is excluded; None where nothing can be tested.
        method: What was tested, and how; empty where nothing was.
        p: After the correction; None for a test without one.
        interval: 95 % of after minus before, in the metric's unit; None where it isn't known.
        n: Trials (or items) before and after; None where they aren't known.
        reason: Why nothing can be tested.
    """

    significant: bool | None
    method: str = ""
    p: float | None = None
    interval: Ends | None = None
    n: tuple[int, int] | None = None
    reason: str = ""

    @property
    def text(self) -> str:
        """`yes, p = 0.03`, `no, p = 0.20`, or why nothing can be tested."""
        if self.significant is None:
            return f"not testable: {self.reason}"
        return ("yes" if self.significant else "no") + self.p_text

    @property
    def p_text(self) -> str:
        """`, p = 0.03`; empty without a p."""
        if self.p is None:
            return ""
        return f", {in_p(self.p)}"


@dataclass(frozen=True, slots=True)
class Measurement:
    """A cell of one snapshot, with what a test of it needs.

    Attributes:
        shares: Its outcomes item by item, where a run has them.
    """

    grid: Grid
    point: Point
    cell: Cell
    shares: Shares | None = None


def test_changes(pairs: Sequence[tuple[Measurement, Measurement]]) -> list[SignificanceTest]:
    """Test each cell that changed, with a correction for their number.

    By outcomes on the same items where both snapshots have them; else by standard errors; else by
    trials.

    Args:
        pairs: Every cell of a study that has another value after than before.
    """
    if len(pairs) > MAX_TESTED:
        reason = f"more than {MAX_TESTED:,} cells changed, and so many are not tested"
        return [SignificanceTest(None, reason=reason) for _ in pairs]
    return _corrected(
        [_by_items(*pair) or _by_errors(*pair) or _by_trials(*pair) for pair in pairs]
    )


def _corrected(tests: list[SignificanceTest]) -> list[SignificanceTest]:
    """Holm's correction of all p-values together; without a p, the interval as it is."""
    from gridatlas.statistics.differences import holm

    tested = [index for index, test in enumerate(tests) if test.p is not None]
    adjusted = holm([tests[index].p or 0.0 for index in tested])
    note = ""
    if len(tested) > 1:
        note = f", Holm's correction for the {len(tested):,} cells tested"
        if any(tests[index].interval for index in tested):
            note += " (not of the intervals)"
    for index, p in zip(tested, adjusted, strict=True):
        test = tests[index]
        method = test.method + note + (f"; {NEWCOMBE}" if test.interval else "")
        tests[index] = replace(test, p=p, significant=p <= ALPHA, method=method)
    return tests


def _by_items(old: Measurement, new: Measurement) -> SignificanceTest | None:
    """Paired by item; None where the two weren't asked the same."""
    from gridatlas.statistics.paired import paired_p

    before, after = old.shares, new.shares
    if before is None or after is None or before.items != after.items:
        return None
    tested = paired_p(after.values, before.values)
    n = len(before.items)
    return SignificanceTest(None, f"paired by item, {n} items: {tested.test}", tested.p, n=(n, n))


def _by_errors(old: Measurement, new: Measurement) -> SignificanceTest | None:
    """By standard errors, where one of the two has one and the other has that or trials."""
    from gridatlas.statistics.differences import difference_interval
    from gridatlas.statistics.estimates import Estimate

    if old.cell.stderr is None and new.cell.stderr is None:
        return None

    def estimate(measurement: Measurement) -> Estimate:
        grid, cell = measurement.grid, measurement.cell
        return Estimate.of_value(
            float(cell.value or 0),
            trials(grid, cell),
            None if cell.stderr is None else float(cell.stderr),
            clusters(grid.study, grid.levels, measurement.point, cell),
            share_scale(grid.study),
        )

    difference = difference_interval(estimate(old), estimate(new))
    if difference is None:
        return None
    interval, method = difference
    scale = share_scale(new.grid.study) or 1
    low, high = interval.low * scale, interval.high * scale
    method = f"by its interval ({method}, 95 %), not corrected for the number of cells"
    return SignificanceTest(low > 0 or high < 0, method, interval=(low, high))


def _by_trials(old: Measurement, new: Measurement) -> SignificanceTest:
    from gridatlas.statistics.differences import difference

    before, after = _counts(old), _counts(new)
    if isinstance(before, str) or isinstance(after, str):
        return SignificanceTest(None, reason=before if isinstance(before, str) else str(after))
    scale = share_scale(new.grid.study) or 1
    compared = difference(*after, *before)
    interval = compared.interval.low * scale, compared.interval.high * scale
    n = before[1], after[1]
    method = f"Fisher's exact test, two-sided, {n[0]:,} and {n[1]:,} trials taken as independent"
    return SignificanceTest(None, method, compared.p, interval, n)


def _counts(measurement: Measurement) -> tuple[int, int] | str:
    """Successes and trials; or why they aren't known."""
    grid, cell = measurement.grid, measurement.cell
    if grid.aggregate:
        return AGGREGATE
    scale, n = share_scale(grid.study), trials(grid, cell)
    if n is None or cell.value is None:
        return NO_TRIALS
    if scale is None:
        return f"{grid.study.metric.name} is not a share of trials"
    k = cell.successes if cell.successes is not None else successes_of(cell.value, n, scale)
    if k is None:
        return f"{cell.value} is impossible with {n} trials"
    fits = abs(scale * k - cell.value * n) <= n * Decimal(10) ** -places_of(cell.value)
    return (k, n) if fits else f"{cell.value} contradicts {k} of {n}"
