"""Values as counts of trials."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from gridatlas.checks.findings import CheckResult
from gridatlas.checks.reading import Kind, ReadingView, Sheet
from gridatlas.checks.register import check
from gridatlas.checks.words import cells_text, decimals_text, of_values, percent, plain, span
from gridatlas.model.format import format_value, is_are, many, places_of
from gridatlas.model.study import Levels, Point, Study
from gridatlas.table.items import share_scale

SAYS_NOTHING = Fraction(9, 10)
"""Share of all values that pass above which a passed check of counts says nothing."""
MOST_PLACES = 12
"""Decimals that are compared: further ones of a binary float may be off by its own rounding."""
MAX_TRIAL_NUMBERS = 6
"""Different numbers of trials up to which each has a result of its own."""


@dataclass(frozen=True, slots=True)
class _Share:
    """A value of a grid that should be a count of n trials.

    Attributes:
        kind: Of the cells that have it, as many as `times`.
        places: Its decimals; of all values with as many, `passing` are such a count.
    """

    levels: Levels
    kind: Kind
    times: int
    value: Decimal
    places: int
    n: int
    passing: Fraction


def check_counts(view: ReadingView) -> list[CheckResult]:
    """Values that no number of successes among n trials gives."""
    scale = share_scale(view.study)
    if scale is None:
        return []
    shares: list[_Share] = []
    unknown: dict[Levels, list[Point]] = {}
    computed: dict[Levels, set[Kind]] = {}
    sheets = [sheet for sheet in view.sheets if not _is_aggregate(view.study, sheet)]
    if any(not 0 <= end <= scale for sheet in sheets for end in sheet.ends):
        return []  # a change in percent, and no share
    if not any(_has_trials(view.study, sheet) for sheet in sheets):
        number = sum(int(sheet.columns.value.defined.sum()) for sheet in sheets)
        return [_unknown(view, [sheet.levels for sheet in sheets], number)] if number else []
    for sheet in sheets:
        by_trials = view.study.trials_at(sheet.levels)
        if not _has_trials(view.study, sheet):
            unknown[sheet.levels] = [point for point, _ in sheet.values()]
            continue
        without_n = set()
        for kind, times in sheet.kinds.items():
            value = Decimal(kind.text)
            n = kind.n if kind.n is not None else by_trials
            if n is None:
                without_n.add(kind)
            elif not kind.computed:
                places = places_of(value)
                passing = passing_share(n, places, scale)
                shares.append(_Share(sheet.levels, kind, times, value, places, n, passing))
            else:
                computed.setdefault(sheet.levels, set()).add(kind)
        unknown[sheet.levels] = [point for point, _ in sheet.cells_of(without_n)]
    unknown = {levels: points for levels, points in unknown.items() if points}
    results = []
    if unknown:
        number = sum(map(len, unknown.values()))
        results.append(_unknown(view, unknown, number, unknown))
    few = len({share.n for share in shares}) <= MAX_TRIAL_NUMBERS
    groups: dict[int, list[_Share]] = {}
    for share in shares:
        groups.setdefault(share.n if few else share.passing > SAYS_NOTHING, []).append(share)
    return results + [_counts_of(view, scale, groups[key], computed) for key in sorted(groups)]


def _is_aggregate(study: Study, sheet: Sheet) -> bool:
    return any(level.aggregate for level in study.levels_of(sheet.levels))


def _has_trials(study: Study, sheet: Sheet) -> bool:
    return sheet.has_trials or study.trials_at(sheet.levels) is not None


def _unknown(
    view: ReadingView,
    grids: Iterable[Levels],
    number: int,
    points: Mapping[Levels, Sequence[Point]] | None = None,
) -> CheckResult:
    statement = f"The number of trials behind {many(number, 'value')} is unknown."
    return view.result("k-of-n", grids, statement, "", outcome="not testable", untested=points)


def _counts_of(
    view: ReadingView,
    scale: int,
    shares: Sequence[_Share],
    computed: Mapping[Levels, set[Kind]],
) -> CheckResult:
    number = span([share.n for share in shares])
    trials = f"{number} {'trial' if number == '1' else 'trials'}"
    alike: Counter[tuple[int, int]] = Counter()
    for share in shares:
        alike[share.n, share.places] += share.times
    total = alike.total()
    rates = (passing_share(*key, scale) * times for key, times in alike.items())
    passing = sum(rates, Fraction(0)) / total
    decimals = decimals_text(share.places for share in shares)
    anyway = f"{percent(passing)} of all values from 0 to {scale} with {decimals} are possible"
    totals: Counter[Levels] = Counter()
    wrong: dict[Levels, dict[Kind, str]] = {}
    for share in shares:
        totals[share.levels] += share.times
        if not is_count(share.value, share.n, scale, share.kind.successes):
            text = f"{plain(share.value)} ({_nearest_counts(share, scale)})"
            wrong.setdefault(share.levels, {})[share.kind] = text
    cells_of = {
        sheet.levels: [
            (point, wrong[sheet.levels][kind])
            for point, kind in sheet.cells_of(wrong[sheet.levels])
        ]
        for sheet in view.sheets
        if sheet.levels in wrong
    }
    findings = [
        view.finding(
            "k-of-n",
            levels,
            [point for point, _ in cells],
            f"{of_values(len(cells), totals[levels])} impossible with {trials}: "
            f"{cells_text(view.study, cells)}",
            "A digit is wrong, the number of trials is another one, or the metric isn't a plain "
            "share of successes.",
            f"Certain if the values are rounded shares of {trials}. A wrong value can be possible, "
            f"too: {anyway}.",
        )
        for levels, cells in cells_of.items()
    ]
    fine = total - sum(map(len, cells_of.values()))
    statement = f"{fine} of {many(total, 'value')} {is_are(fine)} possible with {trials}."
    nothing = passing > SAYS_NOTHING
    # Another result may judge the other values of a grid, so these must be told apart.
    unjudged = dict(computed)
    if nothing:
        for share in shares:
            unjudged[share.levels] = unjudged.get(share.levels, set()) | {share.kind}
    return view.result(
        "k-of-n",
        [share.levels for share in shares],
        statement,
        f"{anyway}, so the check says nothing."
        if nothing
        else f"{anyway}, so the check detects {percent(1 - passing)} of random mistakes.",
        findings,
        "says nothing" if nothing else "passed",
        f"Values as counts of {trials}",
        {
            sheet.levels: [point for point, _ in sheet.cells_of(unjudged[sheet.levels])]
            for sheet in view.sheets
            if sheet.levels in unjudged
        },
    )


def is_count(value: Decimal, n: int, scale: int, successes: int | None = None) -> bool:
    """Whether some count k of n trials, as `scale` × k/n, is printed as `value`.

    A half may be rounded either way: up, to even, or as a binary float happens to fall.

    Args:
        value: As printed; its decimals count.
        n: Trials, 1 or more.
        scale: 100 for percentages, 1 for fractions.
        successes: The only k to be tried, where it is known.
    """
    low, high = _count_range(value, n, scale)
    if successes is not None:
        return low <= successes <= high
    return max(low, 0) <= min(high, n)


def _count_range(value: Decimal, n: int, scale: int) -> tuple[int, int]:
    """Smallest and largest k whose share rounds to the value; the first is larger if none does."""
    if places_of(value) > MOST_PLACES:
        exact, off = Fraction(value), Fraction(1, 10**MOST_PLACES)
        return math.ceil(n * (exact - off) / scale), math.floor(n * (exact + off) / scale)
    unit = 10 ** places_of(value)
    numerator, denominator = value.as_integer_ratio()
    whole = numerator * unit // denominator
    return -(-n * (2 * whole - 1) // (2 * scale * unit)), n * (2 * whole + 1) // (2 * scale * unit)


def _nearest_counts(share: _Share, scale: int) -> str:
    low, high = _count_range(share.value, share.n, scale)
    near = [high, low] if share.kind.successes is None else [share.kind.successes]
    return " and ".join(
        f"{k} of {share.n} is {format_value(Decimal(k * scale) / share.n, share.places)}"
        for k in near
        if 0 <= k <= share.n
    )


@lru_cache(maxsize=1024)
def passing_share(n: int, decimals: int, scale: int) -> Fraction:
    """Share of the values from 0 to `scale` with so many decimals that are a count of n trials."""
    values = scale * 10**decimals + 1
    if n >= values - 1:
        return Fraction(1)
    # Counts lie more than one unit apart: each gives one value, and two where it is a half.
    step = 2 * (values - 1)
    common = math.gcd(step, n)
    halves = (common + 1) // 2 if step // common % 2 else 0
    return Fraction(n + 1 + halves, values)


@check(
    kind="k-of-n",
    title="Values as counts of trials",
    says="A value that no number of successes in n trials gives. Certain for such a share. Wrong "
    'values can pass by chance; above 90 %, the result reads "says nothing".',
    passing="a rounded share of the trials",
    order=20,
)
def counts(view: ReadingView) -> list[CheckResult]:
    """What contradicts itself is wrong, whether or not it is shown."""
    return check_counts(view if view.account.entry.approximate else view.as_wrong)
