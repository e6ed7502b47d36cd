"""Rows, or columns, that stand twice in a grid."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction

from gridatlas.checks.chance import CHANCE, how_sure, times_text
from gridatlas.checks.findings import CheckResult
from gridatlas.checks.printed import plain
from gridatlas.checks.reading import Account, Axis, Line
from gridatlas.checks.words import is_are, many
from gridatlas.study import inline


def check_repeats(account: Account, axis: Axis) -> list[CheckResult]:
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
                f"({times_text(*seen)})"
            )
            names = [factor.level(line[0][0][axis == "row"]).label for line in group]
            findings.append(
                account.finding(
                    kind,
                    sheet.levels,
                    (point for line in group for point, _ in line),
                    f"the {axis}s {' and '.join(names)} ({inline(factor.label)}) are the same: "
                    f"{', '.join(map(plain, values))}",
                    f"One {axis} may have been copied over another, whose own values are lost "
                    "then. Or they really came out the same.",
                    how_sure(f"such {axis}s", (shuffled, alike), by_second, limit),
                )
            )
    if not looked:
        return []
    grids = many(len(looked), "grid")
    statement = f"No {axis} stands twice in one grid ({grids})."
    if number := len(findings) + by_chance:
        statement = (
            f"{many(number, axis)} {is_are(number)} repeated ({grids}); chance explains "
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
