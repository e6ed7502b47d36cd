"""Checks that need no second source: what a reading's numbers say about themselves.

Each check gives a result for the page (passed, and how much that says), with findings in it. A
finding in a reading that supplies no shown value is a note. `accepted` in `study.yml` names
findings that are known; an acceptance that no longer occurs is a problem.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Literal, cast

from gridatlas.analyse import choose, share_scale
from gridatlas.problems import Problem, Severity, listed, nearest
from gridatlas.schema import AcceptedEntry, level_number
from gridatlas.study import Cell, Factor, Levels, Point, Reading, Study, inline

CHANCE = Fraction(1, 100)
"""Repeated lines and runs are findings where chance gives one in fewer than 1 of 100 readings."""
SAYS_NOTHING = Fraction(9, 10)
"""Share of all values that pass above which a passed check of counts says nothing."""
MAX_TRIAL_NUMBERS = 6
"""Different numbers of trials up to which each has a result of its own."""

TITLES: Mapping[str, str] = {
    "aggregate": "Printed aggregates against their parts",
    "k-of-n": "Values as counts of trials",
    "repeated-row": "Repeated rows",
    "repeated-column": "Repeated columns",
    "constant-run": "Runs of one value",
    "decimals": "Number of decimals",
    "stated-range": "Stated range of the colour bar",
}
_EXPECTED: Mapping[str, str] = {
    "aggregate": "the mean of the parts, within rounding",
    "k-of-n": "a count of the trials, rounded",
    "repeated-row": "rows that differ",
    "repeated-column": "columns that differ",
    "constant-run": "neighbours that differ as often as elsewhere in the grid",
    "decimals": "as many decimals as in the rest of the reading",
    "stated-range": "values within the stated range",
}

Outcome = Literal["passed", "found", "says nothing", "not testable"]
Axis = Literal["row", "column"]
Line = Sequence[tuple[Point, Decimal | None]]
Stretch = Sequence[tuple[Point, Decimal]]
Part = Callable[[Levels, Point], Cell | None]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check noticed in one grid.

    Attributes:
        kind: Stable name, one of `TITLES`.
        reading: Id of the reading; empty where the shown values of several readings are meant.
        cells: The points it is about, row by row.
        found: What stands there.
        means: What that may mean, for visitors.
        sure: How sure it is; where a chance is named, under which assumption.
        accepted: The entry of `study.yml` that says it is known.
    """

    kind: str
    reading: str
    levels: Levels
    cells: tuple[Point, ...]
    found: str
    means: str
    sure: str
    severity: Severity = "problem"
    accepted: AcceptedEntry | None = None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check says of one reading.

    Attributes:
        reading: As in `Finding`.
        grids: The grids that it looked at.
        statement: The result in a sentence.
        strength: How much the result says: which mistakes show, which don't.
    """

    kind: str
    title: str
    reading: str
    grids: tuple[Levels, ...]
    outcome: Outcome
    statement: str
    strength: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class StudyChecks:
    """All checks of a study: results with accepted findings marked, and what makes it unfit."""

    results: tuple[CheckResult, ...]
    problems: tuple[Problem, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all results."""
        return tuple(finding for result in self.results for finding in result.findings)


# --- the parts of a reading ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sheet:
    """One grid as one reading gives it: rows of (point, cell), None where it gives no value."""

    levels: Levels
    rows: tuple[tuple[tuple[Point, Cell | None], ...], ...]

    def cells(self) -> Iterator[tuple[Point, Cell, Decimal]]:
        for row in self.rows:
            for point, cell in row:
                if cell is not None and cell.value is not None:
                    yield point, cell, cell.value

    def lines(self, axis: Axis) -> list[Line]:
        lines = self.rows if axis == "row" else zip(*self.rows, strict=True)
        return [[(point, cell.value if cell else None) for point, cell in line] for line in lines]


@dataclass(frozen=True, slots=True)
class _Account:
    """A reading as the checks see it; `ends` are the ends of the metric's range."""

    study: Study
    reading: str
    sheets: tuple[_Sheet, ...]
    severity: Severity
    ends: frozenset[Decimal]

    def finding(
        self,
        kind: str,
        levels: Levels,
        cells: Iterable[Point],
        found: str,
        means: str,
        sure: str,
        note: bool = False,
    ) -> Finding:
        severity: Severity = "note" if note else self.severity
        return Finding(kind, self.reading, levels, tuple(cells), found, means, sure, severity)

    def result(
        self,
        kind: str,
        sheets: Iterable[Levels],
        statement: str,
        strength: str,
        findings: Sequence[Finding] = (),
        outcome: Outcome = "passed",
        title: str = "",
    ) -> CheckResult:
        return CheckResult(
            kind,
            title or TITLES[kind],
            self.reading,
            tuple(dict.fromkeys(sheets)),
            "found" if findings else outcome,
            statement,
            strength,
            tuple(findings),
        )


def supplying(study: Study) -> frozenset[str]:
    """Ids of the readings that supply at least one shown value."""
    if len(study.readings) == 1:
        return frozenset(reading.id for reading in study.readings)
    every = dict.fromkeys(at for reading in study.readings for at in reading.cells)
    shown = (choose(study, levels, point) for levels, point in every)
    return frozenset(cell.reading for cell in shown if cell.value is not None)


def _account(study: Study, reading: Reading, severity: Severity) -> _Account:
    orders = [{level.key: i for i, level in enumerate(facet.levels)} for facet in study.facets]
    found = sorted(
        {levels for levels, _ in reading.cells},
        key=lambda levels: [order[key] for order, key in zip(orders, levels, strict=True)],
    )
    sheets = tuple(
        _Sheet(
            levels,
            tuple(
                tuple((point, reading.cells.get((levels, point))) for point in row)
                for row in _points(study)
            ),
        )
        for levels in found
    )
    return _Account(study, reading.id, sheets, severity, _ends(study))


def _points(study: Study) -> list[list[Point]]:
    return [[(x.key, y.key) for x in study.x.levels] for y in study.y.levels]


def _ends(study: Study) -> frozenset[Decimal]:
    if study.metric.range:
        return frozenset(study.metric.range)
    return frozenset((Decimal(0), Decimal(100)) if study.metric.unit == "%" else ())


# --- all checks ---------------------------------------------------------------------------------


def check_study(study: Study) -> StudyChecks:
    """Check every reading, mark what is accepted, and turn the rest into problems."""
    shown = supplying(study)
    results = [
        result for reading in study.readings for result in reading_results(study, reading, shown)
    ]
    results += _shown_aggregates(study)
    findings, problems = accept(study, [one for result in results for one in result.findings])
    left = iter(findings)
    marked = tuple(
        replace(result, findings=tuple(next(left) for _ in result.findings)) for result in results
    )
    return StudyChecks(marked, (*finding_problems(study, findings), *problems))


def check_reading(study: Study, reading: Reading) -> tuple[Finding, ...]:
    """The findings of all checks in one reading."""
    results = reading_results(study, reading)
    return tuple(finding for result in results for finding in result.findings)


def reading_results(
    study: Study, reading: Reading, shown: frozenset[str] | None = None
) -> tuple[CheckResult, ...]:
    """The results of all checks that a reading has something for.

    Args:
        shown: Ids of the readings that supply shown values, where they are known.
    """
    supplies = reading.id in (supplying(study) if shown is None else shown)
    account = _account(study, reading, "problem" if supplies else "note")

    def part(levels: Levels, point: Point) -> Cell | None:
        own = reading.cells.get((levels, point))
        return own if own and own.value is not None else choose(study, levels, point)

    return (
        *_aggregates(account, part),
        *_counts(account),
        *_repeats(account, "row"),
        *_repeats(account, "column"),
        *_runs(account),
        *_decimals(account),
        *_stated_ranges(account, reading),
    )


# --- aggregates ---------------------------------------------------------------------------------


def _aggregates(
    account: _Account, part: Part, blame: str = "The aggregate or one of its parts is wrong"
) -> list[CheckResult]:
    """Printed aggregates against the mean of their printed parts, within what rounding allows."""
    looked: list[Levels] = []
    findings = []
    fine, untold, count, widest = 0, 0, 0, Decimal(0)
    for sheet in account.sheets:
        for index, factor in enumerate(account.study.facets):
            if not factor.level(sheet.levels[index]).aggregate:
                continue
            looked.append(sheet.levels)
            others = [
                (*sheet.levels[:index], level.key, *sheet.levels[index + 1 :])
                for level in factor.levels
                if not level.aggregate
            ]
            off, tested = [], 0
            for point, _, value in sheet.cells():
                cells = [part(levels, point) for levels in others]
                parts = [cell.value for cell in cells if cell and cell.value is not None]
                if len(parts) < len(others):
                    untold += 1
                    continue
                tested += 1
                # All times the number of parts: a division by 3 would be rounded.
                count = len(parts)
                total = sum(parts, Decimal(0))
                room = count * half_unit(value) + sum(map(half_unit, parts), Decimal(0))
                widest = max(widest, room / count)
                if abs(count * value - total) > room:
                    shown = listed(map(_plain, parts), 8)
                    off.append((point, f"{_plain(value)} ({shown} give {_short(total / count)})"))
            fine += tested - len(off)
            if off:
                findings.append(
                    account.finding(
                        "aggregate",
                        sheet.levels,
                        [point for point, _ in off],
                        f"{_of(len(off), tested)} not the mean of {len(others)} parts: "
                        f"{_cells(account.study, off)}",
                        f"{blame}; or it isn't their plain mean.",
                        f"Certain, if it is: rounding explains {_short(widest)} at most.",
                    )
                )
    if not looked:
        return []
    tested = fine + sum(len(finding.cells) for finding in findings)
    if not tested:
        statement = "No aggregate can be checked: parts of each are absent."
        return [account.result("aggregate", looked, statement, "", outcome="not testable")]
    statement = (
        f"{fine} of {_many(tested, 'printed aggregate')} {_is(fine)} the mean of {count} printed "
        f"parts, within what rounding allows ({_short(widest)})."
    )
    if untold:
        statement += f" {untold} more can't be checked: a part is absent."
    strength = (
        f"An aggregate that is off by more than {_short(2 * widest)} shows, and so does a part "
        f"that is off by more than {_short(2 * count * widest)}. Smaller mistakes may not, and "
        "several can cancel out."
    )
    return [account.result("aggregate", looked, statement, strength, findings)]


def _shown_aggregates(study: Study) -> list[CheckResult]:
    """Shown aggregates whose own reading has other parts than those that are shown."""
    readings = {reading.id: reading for reading in study.readings}
    wanted: dict[Levels, set[Point]] = {}
    for index, factor in enumerate(study.facets):
        if len(study.readings) < 2 or not any(level.aggregate for level in factor.levels):
            continue
        for levels, point in dict.fromkeys(at for one in study.readings for at in one.cells):
            if not factor.level(levels[index]).aggregate:
                continue
            shown = choose(study, levels, point)
            if shown.value is None:
                continue
            for level in factor.levels:
                at = (*levels[:index], level.key, *levels[index + 1 :]), point
                own = readings[shown.reading].cells.get(at)
                if level.aggregate or own is None or own.value is None:
                    continue
                if choose(study, *at).value not in (None, own.value):
                    wanted.setdefault(levels, set()).add(point)
    sheets = tuple(
        _Sheet(
            levels,
            tuple(
                tuple((at, choose(study, levels, at) if at in points else None) for at in row)
                for row in _points(study)
            ),
        )
        for levels, points in wanted.items()
    )
    # A note: that readings disagree is told where they are compared.
    account = _Account(study, "", sheets, "note", _ends(study))
    blame = "The shown values come from readings that disagree"
    return _aggregates(account, lambda levels, point: choose(study, levels, point), blame)


def half_unit(value: Decimal) -> Decimal:
    """Half a unit of the last printed decimal."""
    return Decimal((0, (5,), -_places(value) - 1))


# --- counts of trials ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Share:
    """A value that should be a count of n trials; of all with its decimals, `passing` are one."""

    levels: Levels
    point: Point
    cell: Cell
    value: Decimal
    places: int
    n: int
    passing: Fraction


def _counts(account: _Account) -> list[CheckResult]:
    """Values that no number of successes among n trials gives."""
    scale = share_scale(account.study)
    if scale is None:
        return []
    shares: list[_Share] = []
    unknown: list[Levels] = []
    for sheet in account.sheets:
        if any(level.aggregate for level in account.study.levels_of(sheet.levels)):
            continue
        by_trials = account.study.trials_at(sheet.levels)
        for point, cell, value in sheet.cells():
            n = cell.n if cell.n is not None else by_trials
            if not 0 <= value <= scale:
                return []  # a change in percent, and no share
            if n is None:
                unknown.append(sheet.levels)
            elif not _computed(cell):
                places = _places(value)
                passing = passing_share(n, places, scale)
                shares.append(_Share(sheet.levels, point, cell, value, places, n, passing))
    results = []
    if unknown:
        statement = f"The number of trials behind {_many(len(unknown), 'value')} is unknown."
        results.append(account.result("k-of-n", unknown, statement, "", outcome="not testable"))
    few = len({share.n for share in shares}) <= MAX_TRIAL_NUMBERS
    groups: dict[int, list[_Share]] = {}
    for share in shares:
        groups.setdefault(share.n if few else share.passing > SAYS_NOTHING, []).append(share)
    return results + [_counts_of(account, scale, groups[key]) for key in sorted(groups)]


def _counts_of(account: _Account, scale: int, shares: Sequence[_Share]) -> CheckResult:
    trials = f"{_span([share.n for share in shares])} trials"
    rates = Counter(share.passing for share in shares)
    passing = sum((rate * times for rate, times in rates.items()), Fraction(0)) / len(shares)
    decimals = _decimals_text(share.places for share in shares)
    anyway = f"{_percent(passing)} of all values from 0 to {scale} with {decimals} are such counts"
    wrong: dict[Levels, list[tuple[Point, str]]] = {}
    for share in shares:
        if not is_count(share.value, share.n, scale, share.cell.successes):
            text = f"{_plain(share.value)} ({_nearest_counts(share, scale)})"
            wrong.setdefault(share.levels, []).append((share.point, text))
    totals = Counter(share.levels for share in shares)
    findings = [
        account.finding(
            "k-of-n",
            levels,
            [point for point, _ in cells],
            f"{_of(len(cells), totals[levels])} no count of {trials}: "
            f"{_cells(account.study, cells)}",
            "A digit is wrong; or there were not so many trials, or this is no plain share of "
            "successes.",
            f"Certain, if it is a share of {trials}, rounded. A wrong value needn't show: "
            f"{anyway}.",
        )
        for levels, cells in wrong.items()
    ]
    fine = len(shares) - sum(map(len, wrong.values()))
    statement = f"{fine} of {_many(len(shares), 'value')} {_is(fine)} a count of {trials}, rounded."
    nothing = passing > SAYS_NOTHING
    return account.result(
        "k-of-n",
        [share.levels for share in shares],
        statement,
        f"{anyway}, so this says nothing."
        if nothing
        else f"{anyway}; the other {_percent(1 - passing)} would show.",
        findings,
        "says nothing" if nothing else "passed",
        f"Values as counts of {trials}",
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
    unit = 10 ** _places(value)
    numerator, denominator = value.as_integer_ratio()
    whole = numerator * unit // denominator
    return -(-n * (2 * whole - 1) // (2 * scale * unit)), n * (2 * whole + 1) // (2 * scale * unit)


def _nearest_counts(share: _Share, scale: int) -> str:
    low, high = _count_range(share.value, share.n, scale)
    near = [high, low] if share.cell.successes is None else [share.cell.successes]
    return " and ".join(
        f"{k} of {share.n} is {Decimal(k * scale) / share.n:.{share.places}f}"
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


def _computed(cell: Cell) -> bool:
    """Whether the value is the mean of repeats: computed, so not printed with some decimals."""
    return cell.repeats > 1


# --- what repeats -------------------------------------------------------------------------------


def _repeats(account: _Account, axis: Axis) -> list[CheckResult]:
    """Rows, or columns, that stand twice in a grid, more often than chance explains."""
    kind = f"repeated-{axis}"
    factor = account.study.y if axis == "row" else account.study.x
    limit = CHANCE / max(1, len(account.sheets))
    looked, findings, by_chance = [], [], 0
    for sheet in account.sheets:
        lines = sheet.lines(axis)
        whole = [line for line in lines if len(line) >= 3 and all(v is not None for _, v in line)]
        if len(whole) < 2:
            continue
        looked.append(sheet.levels)
        groups: dict[tuple[Decimal, ...], list[Line]] = {}
        for line in whole:
            groups.setdefault(tuple(v for _, v in line if v is not None), []).append(line)
        for values, group in groups.items():
            if len(group) < 2 or account.ends.issuperset(values):
                continue
            shuffled, alike, seen = _chances_of_repeat(account.ends, lines, whole, group)
            if max(shuffled, alike) >= limit:
                by_chance += 1
                continue
            by_second = (
                f"two {axis}s have the same value at the same place as often as elsewhere in it "
                f"({_times(*seen)})"
            )
            names = [factor.level(line[0][0][axis == "row"]).label for line in group]
            findings.append(
                account.finding(
                    kind,
                    sheet.levels,
                    (point for line in group for point, _ in line),
                    f"the {axis}s {' and '.join(names)} ({inline(factor.label)}) are the same: "
                    f"{', '.join(map(_plain, values))}",
                    f"One {axis} may have been copied over another, whose own values are lost "
                    "then. Or they really came out the same.",
                    _sure(f"such {axis}s", (shuffled, alike), by_second, limit),
                )
            )
    if not looked:
        return []
    grids = _many(len(looked), "grid")
    statement = f"No {axis} stands twice in one grid ({grids})."
    if number := len(findings) + by_chance:
        statement = (
            f"{_many(number, axis)} {_is(number)} repeated ({grids}); chance explains "
            f"{by_chance or 'none'} of these."
        )
    strength = (
        f"A {axis} that was copied over another shows, unless chance explains it. Two {axis}s "
        "that were swapped don't."
    )
    return [account.result(kind, looked, statement, strength, findings)]


def _chances_of_repeat(
    ends: frozenset[Decimal], lines: Sequence[Line], whole: Sequence[Line], group: Sequence[Line]
) -> tuple[Fraction, Fraction, tuple[int, int]]:
    """How likely so many equal lines with so many values are in this grid, under two nulls.

    Both leave the values at the ends of the range where they are, and bound the chance by the sum
    over all sets of lines that have those in the same places. The first null deals the grid's
    other values at random. By the second, two lines have the same value in the same place as often
    as the other pairs of lines have; it is left out (0) below 10 such pairs of values, which are
    given too: (equal, all).
    """
    patterns = Counter(tuple(value in ends for _, value in line) for line in whole)
    times = len(group)
    width = [value in ends for _, value in group[0]].count(False)
    counts = Counter(v for line in lines for _, v in line if v is not None and v not in ends)
    equal, pairs = 0, 0
    for place in zip(*lines, strict=True):
        there = Counter(v for _, v in place if v is not None and v not in ends)
        pairs += math.comb(there.total(), 2)
        equal += sum(math.comb(count, 2) for count in there.values())
    own = width * math.comb(times, 2)
    equal, pairs = equal - own, pairs - own
    rate = Fraction(equal + 1, pairs + 2)
    shuffled, alike = Fraction(0), Fraction(0)
    for pattern, number in patterns.items():
        values = pattern.count(False)
        if number >= times and values >= width:
            sets = math.comb(number, times)
            shuffled += sets * _chance_of_equal(counts.values(), times, values)
            alike += sets * rate ** (values * (times - 1))
    return shuffled, alike if pairs >= 10 else Fraction(0), (equal, pairs)


def _chance_of_equal(counts: Iterable[int], times: int, width: int) -> Fraction:
    """Chance that `times` given lines of `width` cells are equal, values in random order.

    Exact: counts the ways to give each of the `width` places a value that is there `times` times.

    Args:
        counts: How often each value is in the grid.
    """
    counts = list(counts)
    ways = [1] + [0] * width
    for count in counts:
        most = min(count // times, width)
        given = [math.perm(count, times * k) // math.factorial(k) for k in range(most + 1)]
        ways = [
            sum(ways[total - k] * given[k] for k in range(min(total, most) + 1))
            for total in range(width + 1)
        ]
    return Fraction(math.factorial(width) * ways[width], math.perm(sum(counts), times * width))


# --- runs of one value --------------------------------------------------------------------------


def _runs(account: _Account) -> list[CheckResult]:
    """One value in more neighbouring cells of a row or column than chance explains."""
    limit = CHANCE / max(1, len(account.sheets))
    looked, findings, longest = [], [], 0
    for sheet in account.sheets:
        stretches = {axis: _stretches(account.ends, sheet.lines(axis)) for axis in _AXES}
        runs = [
            (axis, run)
            for axis, found in stretches.items()
            for stretch in found
            for _, group in groupby(stretch, key=lambda one: one[1])
            if len(run := list(group)) >= 3
        ]
        if any(len(stretch) >= 3 for found in stretches.values() for stretch in found):
            looked.append(sheet.levels)
        longest = max([longest, *(len(run) for _, run in runs)])
        chances = {
            (axis, length): _chances_of_run(stretches, axis, length)
            for axis, length in {(axis, len(run)) for axis, run in runs}
        }
        for axis, run in runs:
            shuffled, alike, seen = chances[axis, len(run)]
            if max(shuffled, alike) >= limit:
                continue
            first, last = (x if axis == "row" else y for (x, y), _ in (run[0], run[-1]))
            (x, y), value = run[0]
            along, across = (account.study.x, _at(account.study.y, y))
            if axis == "column":
                along, across = (account.study.y, _at(account.study.x, x))
            by_second = (
                f"neighbours in a {axis} are equal as often as elsewhere in it ({_times(*seen)})"
            )
            findings.append(
                account.finding(
                    "constant-run",
                    sheet.levels,
                    (point for point, _ in run),
                    f"{_plain(value)} in {len(run)} neighbouring cells: {across}, "
                    f"{_at(along, first)} to {along.level(last).label}",
                    "One value may have been carried on over cells that have others. Or the metric "
                    "really stays the same there.",
                    _sure("such a run", (shuffled, alike), by_second, limit),
                )
            )
    if not looked:
        return []
    grids = _many(len(looked), "grid")
    statement = f"No value stands in three neighbouring cells ({grids})."
    if longest:
        statement = (
            f"The longest run of one value has {longest} cells ({grids}); "
            f"{_many(len(findings), 'run') if findings else 'no run'} "
            f"{_is(max(1, len(findings)))} longer than chance explains."
        )
    strength = (
        "A value that was carried on over many cells shows; how many it takes depends on how often "
        "neighbours are equal elsewhere in the grid."
    )
    return [account.result("constant-run", looked, statement, strength, findings)]


_AXES: tuple[Axis, Axis] = ("row", "column")


def _stretches(ends: frozenset[Decimal], lines: Iterable[Line]) -> list[Stretch]:
    """The lines, cut at cells without a value and at values at an end of the range."""
    found: list[Stretch] = []
    for line in lines:
        stretch: list[tuple[Point, Decimal]] = []
        for point, value in line:
            if value is None or value in ends:
                found.append(stretch)
                stretch = []
            else:
                stretch.append((point, value))
        found.append(stretch)
    return [stretch for stretch in found if stretch]


def _chances_of_run(
    stretches: Mapping[Axis, Sequence[Stretch]], axis: Axis, length: int
) -> tuple[Fraction, Fraction, tuple[int, int]]:
    """How likely a run of this length is anywhere in the grid, under two nulls.

    Both are bounded by the sum over all places where such a run can lie, and all values. The first
    deals the grid's values at random. By the second, neighbours are equal as often as they are
    outside this run, for smooth grids have longer runs than shuffled ones; the pairs of neighbours
    along `axis` that it counts are given too: (equal, all).
    """
    counts = Counter(value for stretch in stretches[axis] for _, value in stretch)
    values = sum(math.perm(count, length) for count in counts.values())
    places, alike, seen = 0, Fraction(0), (0, 0)
    for one, found in stretches.items():
        here = sum(max(0, len(stretch) - length + 1) for stretch in found)
        steps = [a[1] == b[1] for stretch in found for a, b in pairwise(stretch)]
        own = length - 1 if one == axis else 0
        equal, pairs = sum(steps) - own, len(steps) - own
        seen = (equal, pairs) if one == axis else seen
        places += here
        alike += here * Fraction(equal + 1, pairs + 2) ** (length - 1)
    return Fraction(places * values, math.perm(counts.total(), length)), alike, seen


def _sure(what: str, chances: tuple[Fraction, Fraction], by_second: str, limit: Fraction) -> str:
    """The chance under both nulls; the second is 0 where there is too little to tell it from."""
    text = f"{_chance(chances[0])} if its values are in random order"
    if chances[1]:
        text += f", {_chance(chances[1])} if {by_second}"
    grids = f" (1 in {1 / CHANCE} over {1 / limit * CHANCE} grids)" if limit < CHANCE else ""
    return (
        f"Chance of {what} in a grid, at most: {text}. Values at the ends of the range don't "
        f"count. Reported below 1 in {1 / limit}{grids}."
    )


# --- how values are printed ---------------------------------------------------------------------


def _decimals(account: _Account) -> list[CheckResult]:
    """Values printed with other decimals than the rest of their grid or reading."""
    printed = {
        sheet.levels: [(p, v, _places(v)) for p, cell, v in sheet.cells() if not _computed(cell)]
        for sheet in account.sheets
    }
    every = [one for cells in printed.values() for one in cells]
    if len(every) < 3:
        return []
    usual = _usual(every)
    # A grid may have its own number of decimals, if it has enough values to tell.
    own = {levels: _usual(cells) if len(cells) >= 3 else usual for levels, cells in printed.items()}
    odd = {
        levels: [one for one in cells if one[2] != own[levels]] for levels, cells in printed.items()
    }
    number = sum(map(len, odd.values()))
    apart = [levels for levels in printed if own[levels] != usual]
    if number * 5 > len(every) or len(apart) * 5 > len(printed):
        span = _decimals_text(places for *_, places in every)
        statement = f"The {len(every)} values have {span}."
        strength = "With so many that differ there is no usual number to compare with."
        return [account.result("decimals", printed, statement, strength, outcome="not testable")]
    findings = [
        account.finding(
            "decimals",
            levels,
            [point for point, *_ in printed[levels]],
            f"values with {_decimals_text([own[levels]])}; most values of the reading have "
            f"{_decimals_text([usual])}",
            "These values may be rounded more than the others, or be estimates.",
            "Not certain: the source may print this grid so.",
            note=True,
        )
        for levels in apart
    ]
    # 47.30 that a program wrote as 47.3 looks like a value that lost a digit.
    full = [value for _, value, places in every if places == usual]
    shorter = all(one[2] < own[levels] for levels, cells in odd.items() for one in cells)
    dropped = number > 0 and shorter and not any(v.as_tuple().digits[-1] == 0 for v in full)
    strength = "A decimal that was lost or added shows; a wrong digit doesn't."
    statement = f"{len(full)} of {_many(len(every), 'value')} have {_decimals_text([usual])}."
    if dropped and Fraction(9, 10) ** len(full) < CHANCE:
        statement += " None of them ends in 0, so zeros at the end were left out of the others."
        return [account.result("decimals", printed, statement, strength, findings)]
    for levels, cells in odd.items():
        if not cells:
            continue
        text = _decimals_text([own[levels]])
        sure = f"The others have {text}" + (", and zeros at the end are kept." if shorter else ".")
        if dropped:
            sure = (
                f"Not certain: none of the {len(full)} values with {_decimals_text([usual])} ends "
                "in 0, so zeros at the end may have been left out."
            )
        findings.append(
            account.finding(
                "decimals",
                levels,
                [point for point, *_ in cells],
                f"{_of(len(cells), len(printed[levels]))} not printed with {text}: "
                + _cells(account.study, [(point, _plain(value)) for point, value, _ in cells]),
                "A digit or the point may have been lost or added.",
                sure,
                note=dropped,
            )
        )
    return [account.result("decimals", printed, statement, strength, findings)]


def _usual(printed: Iterable[tuple[Point, Decimal, int]]) -> int:
    """The commonest number of decimals; of several, the largest."""
    counts = Counter(places for *_, places in printed)
    return max(counts, key=lambda places: (counts[places], places))


def _stated_ranges(account: _Account, reading: Reading) -> list[CheckResult]:
    """Values outside the ends of the colour bar that the reading states."""
    ids = [facet.id for facet in account.study.facets]
    looked: list[Levels] = []
    findings = []
    inside, total = 0, 0
    for stated in reading.entry.stated_range:
        low, high = stated.range
        named = (stated.model_extra or {}).items()
        for sheet in account.sheets:
            at = dict(zip(ids, sheet.levels, strict=True))
            if any(at.get(facet) != key for facet, key in named):
                continue
            looked.append(sheet.levels)
            values = [(point, value) for point, _, value in sheet.cells()]
            beyond = [(p, _plain(v)) for p, v in values if not low <= v <= high]
            total += len(values)
            inside += len(values) - len(beyond)
            if beyond:
                findings.append(
                    account.finding(
                        "stated-range",
                        sheet.levels,
                        [point for point, _ in beyond],
                        f"{_of(len(beyond), len(values))} outside {_plain(low)} to {_plain(high)}, "
                        f"the stated range of the colour bar: {_cells(account.study, beyond)}",
                        "The stated ends may be those of the ticks. Or the values or the range "
                        "are wrong.",
                        "Not certain: ticks needn't reach to the ends of a colour bar.",
                        note=True,
                    )
                )
    if not looked:
        return []
    statement = f"{inside} of {_many(total, 'value')} lie within the stated ranges."
    strength = "Only gross mistakes show."
    return [account.result("stated-range", looked, statement, strength, findings)]


# --- what is accepted ---------------------------------------------------------------------------


def accept(
    study: Study, findings: Iterable[Finding]
) -> tuple[tuple[Finding, ...], tuple[Problem, ...]]:
    """Mark the findings that `accepted` names; entries that name none are problems.

    An entry names a finding of its kind whose levels and cells all lie within its `at`.
    """
    left = set(range(len(study.accepted)))
    marked = []
    for finding in findings:
        covering = [i for i, entry in enumerate(study.accepted) if _covers(study, entry, finding)]
        left.difference_update(covering)
        entry = study.accepted[covering[0]] if covering else None
        marked.append(replace(finding, accepted=entry))
    return tuple(marked), tuple(_unused(study, index, marked) for index in sorted(left))


def finding_problems(
    study: Study, findings: Iterable[Finding], notes: bool = False
) -> tuple[Problem, ...]:
    """The findings that aren't accepted, as problems in the reading's file.

    Args:
        notes: Whether findings that are notes are given too, as notes.
    """
    return tuple(
        _finding_problem(study, finding)
        for finding in findings
        if finding.accepted is None and (notes or finding.severity == "problem")
    )


def accept_entry(study: Study, finding: Finding) -> str:
    """The line under `accepted` in `study.yml` that names this finding, without its reason."""
    at = {facet.id: [key] for facet, key in zip(study.facets, finding.levels, strict=True)}
    for factor, index in ((study.x, 0), (study.y, 1)):
        keys = [level.key for level in factor.levels]
        there = {point[index] for point in finding.cells}
        if len(there) < len(keys):
            at[factor.id] = [key for key in keys if key in there]
    named = []
    for factor_id, keys in at.items():
        texts = ", ".join(map(_yaml, keys))
        named.append(f"{factor_id}: {texts}" if len(keys) == 1 else f"{factor_id}: [{texts}]")
    where = f"at: {{{', '.join(named)}}}, " if named else ""
    return f'- {{finding: {finding.kind}, {where}because: "…"}}'


def _covers(study: Study, entry: AcceptedEntry, finding: Finding) -> bool:
    if entry.finding != finding.kind:
        return False
    keys = {facet.id: {key} for facet, key in zip(study.facets, finding.levels, strict=True)} | {
        study.x.id: {x for x, _ in finding.cells},
        study.y.id: {y for _, y in finding.cells},
    }
    return all(factor in keys and keys[factor] <= set(names) for factor, names in entry.at.items())


def _unused(study: Study, index: int, findings: Iterable[Finding]) -> Problem:
    entry = study.accepted[index]
    line = study.accepted_lines[index] if index < len(study.accepted_lines) else 1
    factors = {factor.id: factor for factor in (*study.facets, study.x, study.y)}
    at = "; ".join(f"{factor} = {listed(keys)}" for factor, keys in entry.at.items())
    found = f"no finding {entry.finding}" + (f" at {at}" if at else "")
    same = [accept_entry(study, one) for one in findings if one.kind == entry.finding]
    expected = "a finding that the checks give"
    mend = "remove this entry; what it accepts no longer occurs"
    wrong = [name for name in entry.at if name not in factors]
    if entry.finding not in TITLES:
        near = nearest(entry.finding, TITLES)
        expected = f"one of {listed(TITLES)}"
        mend = f"write {near} instead of {entry.finding}" if near else "use one of them"
    elif wrong:
        near = nearest(wrong[0], factors)
        expected = f"a factor of this study: {listed(factors)}"
        mend = f"write {near} instead of {wrong[0]}" if near else f"use one, or remove {wrong[0]}"
    elif same:
        expected = f"a finding of this kind that occurs: {listed(same, 3)}"
        mend = "correct at, or remove this entry"
    return Problem(
        "unused-acceptance",
        f"{study.folder}/study.yml",
        found,
        expected,
        mend,
        line,
        f"accepted.{index}",
    )


def _finding_problem(study: Study, finding: Finding) -> Problem:
    reading = next((one for one in study.readings if one.id == finding.reading), None)
    lines = (
        [reading.cells[finding.levels, point].line for point in finding.cells] if reading else []
    )
    label = " | ".join(level.label for level in study.levels_of(finding.levels))
    return Problem(
        finding.kind,
        f"{study.folder}/{reading.entry.file if reading else 'study.yml'}",
        f"{label}: {finding.found}" if label else finding.found,
        _EXPECTED[finding.kind],
        f"correct the values; if the source has them so, add under accepted in study.yml: "
        f"{accept_entry(study, finding)}",
        lines[0] if lines else None,
        study.metric.column if reading else None,
        finding.severity,
    )


def _yaml(key: str) -> str:
    """A level's key as it can be written in a YAML list in braces."""
    words = ("true", "false", "null", "yes", "no", "on", "off")
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", key) and key.lower() not in words
    number = level_number(key) is not None
    return key if plain or number else json.dumps(key, ensure_ascii=False)


# --- words --------------------------------------------------------------------------------------


def _places(value: Decimal) -> int:
    """Decimals as printed: 2 of 47.30."""
    return max(0, -cast(int, value.as_tuple()[2]))


def _plain(value: Decimal) -> str:
    return f"{value:f}"


def _short(value: Decimal) -> str:
    """A computed number with at most 4 decimals, without zeros at the end."""
    text = f"{value:.4f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _percent(share: Fraction) -> str:
    if 0 < share < Fraction(1, 1000):
        return "less than 0.1 %"
    if Fraction(999, 1000) < share < 1:
        return "more than 99.9 %"
    return f"{float(100 * share):.1f} %"


def _many(number: int, one: str) -> str:
    return f"{number:,} {one}" if number == 1 else f"{number:,} {one}s"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _of(number: int, total: int) -> str:
    """`3 of 20 values are`, for a sentence to go on."""
    return f"{number} of {_many(total, 'value')} {_is(number)}"


def _span(numbers: Iterable[int]) -> str:
    """`150`, or `150 to 990`."""
    there = sorted(set(numbers))
    return f"{there[0]:,}" + (f" to {there[-1]:,}" if len(there) > 1 else "")


def _decimals_text(places: Iterable[int]) -> str:
    """`1 decimal`, `no decimals`, `0 to 2 decimals`."""
    span = _span(places)
    return f"{'no' if span == '0' else span} {'decimal' if span == '1' else 'decimals'}"


def _times(equal: int, pairs: int) -> str:
    return f"{equal:,} of {_many(pairs, 'time')}"


def _at(factor: Factor, key: str) -> str:
    return f"{inline(factor.label)} {factor.level(key).label}"


def _cells(study: Study, told: Sequence[tuple[Point, str]], limit: int = 6) -> str:
    """`47.3 at ratio 0.1, local window size 500; …`, and how many more there are."""
    texts = [f"{text} at {_at(study.x, x)}, {_at(study.y, y)}" for (x, y), text in told]
    more = len(texts) - limit
    return "; ".join(texts[:limit]) + (f"; and {more} more" if more > 0 else "")


def _chance(chance: Fraction) -> str:
    """`1 in 5,100`, in two digits; below one in a billion, only that."""
    odds = math.floor(1 / chance)
    if odds >= 10**9:
        return "below 1 in 1,000,000,000"
    unit = 10 ** max(0, len(str(odds)) - 2)
    return f"1 in {odds // unit * unit:,}"
