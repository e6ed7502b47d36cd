"""Percentages that are fractions: a column from 0 to 1 under the unit %."""

from __future__ import annotations

from decimal import Decimal
from statistics import median

from gridatlas.checks.counts import is_count
from gridatlas.checks.findings import CheckResult
from gridatlas.checks.reading import ReadingView
from gridatlas.checks.register import check
from gridatlas.model.directions import says_lower
from gridatlas.model.format import many

KIND = "fractions"
LEAST_VALUES = 4
"""Different values from which the reading tells: 0 and 1 alone may be few successes."""
LEAST_MIDDLE, LEAST_MOST = 0.2, 0.5
"""Middle and highest value from which it is unlikely that so few percent are meant."""


@check(
    kind=KIND,
    title="Percentages that are fractions",
    says="A metric in percent whose values all lie from 0 to 1. A note where less is better: "
    "errors may be that rare.",
    passing="values up to 100",
    order=65,
    fix='multiply the values by 100, or leave out unit: "%" in study.yml',
)
def check_fractions(view: ReadingView) -> list[CheckResult]:
    """Whether all values of a metric in percent lie from 0 to 1.

    Errors may be rarer than 1 in 100, and so may be what a range of at most 1 % says.
    """
    metric = view.study.metric
    if metric.unit not in ("%", "percent") or (metric.range and metric.range[1] <= 1):
        return []
    ends = [end for sheet in view.sheets for end in sheet.ends]
    if not ends or min(ends) < 0 or max(ends) > 1:
        return []
    values = [
        value for sheet in view.sheets for value in dict.fromkeys(of for _, of in sheet.values())
    ]
    if len(set(values)) < LEAST_VALUES:
        return []
    if median(values) < LEAST_MIDDLE or max(values) < LEAST_MOST or _are_counts(view):
        return []
    # 0.3 may be 3 of 1,000 in percent; fractions have more digits.
    long = {value for value in values if len(value.normalize().as_tuple().digits) > 1}
    if 2 * len(long) < len(set(values)):
        return []
    rare = metric.falls or says_lower(metric.name)
    first = view.sheets[0]
    number = sum(int(sheet.columns.value.defined.sum()) for sheet in view.sheets)
    finding = view.finding(
        KIND,
        first.levels,
        [point for point, _ in first.values()],
        f"all {many(number, 'value')} in {metric.unit} lie from 0 to 1: {min(values):f} to "
        f"{max(values):f}",
        "They may be fractions, so that 0.49 stands for 49 %: every value and difference is then "
        "shown 100 times too small.",
        "Not certain: less may be better, and be rarer than 1 in 100."
        if rare
        else "Not certain: hardly anything may succeed.",
        note=rare,
    )
    statement = "All values lie from 0 to 1, and the unit is %."
    return [
        view.result(KIND, [s.levels for s in view.sheets], statement, "A whole column.", [finding])
    ]


def _are_counts(view: ReadingView) -> bool:
    """Whether all values are possible shares of known trials, in percent."""
    for sheet in view.sheets:
        by_trials = view.study.trials_at(sheet.levels)
        for kind in sheet.kinds:
            n = by_trials if kind.n is None else kind.n
            if n is None or not is_count(Decimal(kind.text), n, 100):
                return False
    return True
