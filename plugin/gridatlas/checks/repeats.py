"""Rows, or columns, that stand twice in a grid."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache

from gridatlas.checks.findings import CheckResult
from gridatlas.checks.reading import NO_VALUE, Axis, LineCodes, ReadingView
from gridatlas.checks.register import check
from gridatlas.checks.words import CHANCE, how_sure, plain, times_text
from gridatlas.model.format import is_are, many
from gridatlas.model.problems import join_names
from gridatlas.model.study import inline

EXACT_UP_TO = 2_000
"""Cells in equal lines up to which their chance is exact; for more it is a bound."""
LINES_COUNTED = 4
PLACES_COUNTED = 200
"""Lines, and places in them, that such a bound counts at most."""
_STEPS = 4_000_000
"""Steps that the chance of one repeat may take: half the kinds of values × places²."""
CONSTANT = (
    "The metric may really be constant there, for example at an end of its scale; if so, give that "
    "scale as the metric's range. Or one value was copied into cells with other values."
)
"""What lines and runs of one value may mean, where they are only a note."""


def check_repeats(view: ReadingView, axis: Axis) -> list[CheckResult]:
    """Rows, or columns, that stand twice in a grid, more often than chance explains."""
    kind = f"repeated-{axis}"
    factor = view.study.y if axis == "row" else view.study.x
    limit = CHANCE / max(1, len(view.sheets))
    looked, findings, by_chance, constant = [], [], 0, 0
    for sheet in view.sheets:
        lines, ends = sheet.codes(axis), sheet.codes_of(view.ends)
        groups: dict[LineCodes, list[int]] = {}
        for place, line in enumerate(lines):
            if len(line) >= 3 and NO_VALUE not in line:
                groups.setdefault(line, []).append(place)
        if sum(map(len, groups.values())) < 2:
            continue
        looked.append(sheet.levels)
        chances = None
        for codes, places in groups.items():
            if len(places) < 2 or ends.issuperset(codes):
                continue
            chances = chances or _Chances(ends, lines)
            shuffled, alike, seen = chances.of_repeat(codes, len(places))
            if max(shuffled, alike) >= limit:
                by_chance += 1
                continue
            by_second = (
                f"two {axis}s have the same value at the same place as often as elsewhere in the "
                f"grid ({times_text(*seen)})"
            )
            group = [sheet.line(axis, place) for place in places]
            names = [factor.levels[place].label for place in places]
            values = [value for _, value in group[0] if value is not None]
            lines_named = f"{axis}s {_names(names)} ({inline(factor.label)})"
            found = f"{lines_named} have the same values: {join_names(map(plain, values), 20)}"
            means = (
                f"One {axis} may have been copied over another, whose own values are then lost. "
                f"Or these {axis}s really have the same values."
            )
            # A line of one value has no pattern that shows where it was copied from.
            has_one_value = len(set(codes)) == 1
            if has_one_value:
                constant += 1
                found = f"{lines_named} are constant: {plain(values[0])} in every cell"
                means = CONSTANT
            findings.append(
                view.finding(
                    kind,
                    sheet.levels,
                    (point for line in group for point, _ in line),
                    found,
                    means,
                    how_sure(f"such {axis}s", (shuffled, alike), by_second, limit),
                    note=has_one_value,
                )
            )
    if not looked:
        return []
    grids = many(len(looked), "grid")
    statement = f"No grid has a repeated {axis} ({grids} checked)."
    if number := len(findings) + by_chance:
        statement = (
            f"{many(number, axis)} {is_are(number)} repeated ({grids} checked); chance explains "
            f"{by_chance or 'none'} of them."
        )
        if constant:
            have = "has" if constant == 1 else "have"
            statement += f" {constant} of the others {have} the same value in every cell."
    strength = (
        f"Detects a {axis} that was copied over another, unless chance explains it. Doesn't detect "
        f"two swapped {axis}s."
    )
    return [view.result(kind, looked, statement, strength, findings)]


def _names(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) <= 6 else join_names(names, 6)


class _Chances:
    """How likely equal lines are in one grid; what all of its repeats need is counted once."""

    def __init__(self, ends: frozenset[int], lines: Sequence[LineCodes]) -> None:
        self._ends = ends
        self._same = Counter(
            tuple([code in ends for code in line])
            for line in lines
            if len(line) >= 3 and NO_VALUE not in line
        )
        self._equal, self._pairs = 0, 0
        self._counts: Counter[int] = Counter()
        for place in zip(*lines, strict=True):
            counts = Counter(place)
            for code in (NO_VALUE, *ends):
                del counts[code]
            self._counts.update(counts)
            self._pairs += math.comb(counts.total(), 2)
            self._equal += sum(math.comb(count, 2) for count in counts.values())
        self._equal_lines = cache(self._equal_lines_of)

    def of_repeat(self, line: LineCodes, times: int) -> tuple[Fraction, Fraction, tuple[int, int]]:
        """How likely a line of so many values is there so many times, under two nulls.

        Both leave the values at the ends of the range where they are, and bound the chance by the
        sum over all sets of lines that have those in the same places. The first null deals the
        grid's other values at random. By the second, two lines have the same value in the same
        place as often as the other pairs of lines have; it is left out (0) below 10 such pairs of
        values, which are given too: (equal, all).
        """
        width = sum(code not in self._ends for code in line)
        return self._equal_lines(times, width)

    def _equal_lines_of(self, times: int, width: int) -> tuple[Fraction, Fraction, tuple[int, int]]:
        own = width * math.comb(times, 2)
        equal, pairs = self._equal - own, self._pairs - own
        rate = Fraction(equal + 1, pairs + 2)
        sets: Counter[int] = Counter()
        lines = self._bounded(times, width)[0]
        for pattern, number in self._same.items():
            values = pattern.count(False)
            if number >= times and values >= width:
                sets[values] += math.comb(number, lines)
        shuffled, alike = Fraction(0), Fraction(0)
        by_places: dict[int, Fraction] = {}
        for values, number in sets.items():
            counted = self._bounded(times, values)[1]
            if counted not in by_places:
                by_places[counted] = _chance_of_equal(self._counts.values(), lines, counted)
            shuffled += number * by_places[counted]
            alike += number * rate ** (min(values, EXACT_UP_TO) * (lines - 1))
        return shuffled, alike if pairs >= 10 else Fraction(0), (equal, pairs)

    def _bounded(self, times: int, width: int) -> tuple[int, int]:
        """Lines and places to count: all, or fewer where it would take too long.

        That fewer lines are equal, or in fewer places, is at least as likely, so this gives an
        upper bound of the chance.
        """
        kinds = sum(count > 1 for count in self._counts.values())
        if times * width <= EXACT_UP_TO and kinds * width**2 <= _STEPS:
            return times, width
        few = math.isqrt(_STEPS // max(1, kinds))
        return min(times, LINES_COUNTED), min(width, PLACES_COUNTED, max(few, 10))


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
        if not most:
            continue
        given = [math.perm(count, times * k) // math.factorial(k) for k in range(most + 1)]
        ways = [
            sum(ways[total - k] * given[k] for k in range(min(total, most) + 1))
            for total in range(width + 1)
        ]
    return Fraction(math.factorial(width) * ways[width], math.perm(sum(counts), times * width))


@check(
    kind="repeated-row",
    title="Repeated rows",
    says="Two equal rows of a grid. The result has the highest chance of this for values in "
    "random order.",
    passing="rows that differ",
    order=30,
)
def rows(view: ReadingView) -> list[CheckResult]:
    """Rows that stand twice."""
    return check_repeats(view, "row")


@check(
    kind="repeated-column",
    title="Repeated columns",
    says="Two equal columns of a grid. The result has the same chance.",
    passing="columns that differ",
    order=40,
)
def columns(view: ReadingView) -> list[CheckResult]:
    """Columns that stand twice."""
    return check_repeats(view, "column")
