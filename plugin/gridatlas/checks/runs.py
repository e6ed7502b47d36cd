"""One value in many neighbouring cells of a row or column."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import chain, pairwise
from operator import and_, eq
from typing import NamedTuple, cast

from gridatlas.checks.findings import CheckResult
from gridatlas.checks.reading import NO_VALUE, Axis, LineCodes, ReadingView
from gridatlas.checks.register import check
from gridatlas.checks.repeats import CONSTANT
from gridatlas.checks.words import CHANCE, at_level, how_sure, plain, times_text
from gridatlas.model.format import is_are, many
from gridatlas.model.study import Point

_AXES: tuple[Axis, Axis] = ("row", "column")
CARRIED_ON = (
    "One value may have been copied into cells with other values. Or the metric is really "
    "constant there."
)


@check(
    kind="constant-run",
    title="Runs of one value",
    says="One value in many neighbouring cells. Its chance is from the other neighbours.",
    passing="neighbours that differ as often as elsewhere in the grid",
    order=50,
)
def check_runs(view: ReadingView) -> list[CheckResult]:
    """One value in more neighbouring cells of a row or column than chance explains."""
    limit = CHANCE / max(1, len(view.sheets))
    scale_ends = _observed_ends(view)
    looked, findings, longest = [], [], 0
    for sheet in view.sheets:
        cuts = sheet.codes_of(view.ends) | {NO_VALUE}
        stretches = {axis: [*_stretches(cuts, sheet.codes(axis))] for axis in _AXES}
        runs = [
            (axis, run)
            for axis, found in stretches.items()
            for stretch in found
            for run in _equal_neighbours(stretch)
        ]
        if any(len(stretch.codes) >= 3 for found in stretches.values() for stretch in found):
            looked.append(sheet.levels)
        longest = max([longest, *(len(run.codes) for _, run in runs)])
        neighbours = {
            axis: _Neighbours.of(stretch.codes for stretch in found)
            for axis, found in stretches.items()
            if runs
        }
        chances = {
            (axis, length): _chances_of_run(neighbours, axis, length)
            for axis, length in {(axis, len(run.codes)) for axis, run in runs}
        }
        for axis, stretch in runs:
            shuffled, alike, seen = chances[axis, len(stretch.codes)]
            if max(shuffled, alike) >= limit:
                continue
            run = sheet.line(axis, stretch.line)[stretch.first :][: len(stretch.codes)]
            first, last = (x if axis == "row" else y for (x, y), _ in (run[0], run[-1]))
            (x, y), value = cast(tuple[Point, Decimal], run[0])
            along, across = (view.study.x, at_level(view.study.y, y))
            if axis == "column":
                along, across = (view.study.y, at_level(view.study.x, x))
            where = f"{across}, " if view.study.second else ""
            by_second = (
                f"neighbours in a {axis} are equal as often as elsewhere in the grid "
                f"({times_text(*seen)})"
            )
            saturated = len(run) == len(along.levels) or value in scale_ends
            findings.append(
                view.finding(
                    "constant-run",
                    sheet.levels,
                    (point for point, _ in run),
                    f"{plain(value)} in {len(run)} neighbouring cells: {where}"
                    f"{at_level(along, first)} to {along.level(last).label}",
                    CONSTANT if saturated else CARRIED_ON,
                    how_sure("such a run", (shuffled, alike), by_second, limit),
                    note=saturated,
                )
            )
    if not looked:
        return []
    grids = many(len(looked), "grid")
    statement = f"No value fills three neighbouring cells ({grids} checked)."
    if longest:
        statement = (
            f"The longest run of one value has {longest} cells ({grids} checked); "
            f"{many(len(findings), 'run') if findings else 'no run'} "
            f"{is_are(max(1, len(findings)))} longer than chance explains."
        )
    strength = (
        "Detects a value that was copied into many cells. How many it takes depends on how often "
        "neighbours are equal elsewhere in the grid."
    )
    return [view.result("constant-run", looked, statement, strength, findings)]


def _observed_ends(view: ReadingView) -> frozenset[Decimal]:
    """The lowest and highest value of a reading whose metric has no known range.

    Many cells at such a value are most often at an end of the scale, as all 10 of 10 are.
    """
    if view.ends:
        return frozenset()
    values = [value for sheet in view.sheets for value in sheet.ends]
    return frozenset((min(values), max(values)) if values else ())


class _Stretch(NamedTuple):
    """Neighbouring cells of a line that have values.

    Attributes:
        line: Place of the line.
        first: Place of the first of them in it.
    """

    line: int
    first: int
    codes: LineCodes


def _stretches(cuts: frozenset[int], lines: Sequence[LineCodes]) -> Iterator[_Stretch]:
    """The lines, cut at cells without a value and at values at an end of the range."""
    for number, line in enumerate(lines):
        if cuts.isdisjoint(line):
            yield _Stretch(number, 0, line)
            continue
        places = [place for place, code in enumerate(line) if code in cuts]
        for before, after in pairwise((-1, *places, len(line))):
            if after - before > 1:
                yield _Stretch(number, before + 1, line[before + 1 : after])


def _equal_neighbours(stretch: _Stretch) -> Iterator[_Stretch]:
    """The runs of one value in a stretch, from three cells on."""
    line, start, codes = stretch
    equal = [*map(eq, codes, codes[1:])]
    if not any(map(and_, equal, equal[1:])):
        return  # as in nearly all stretches
    first = 0
    for last, code in enumerate(codes, 1):
        if last == len(codes) or codes[last] != code:
            if last - first >= 3:
                yield _Stretch(line, start + first, codes[first:last])
            first = last


@dataclass(frozen=True, slots=True)
class _Neighbours:
    """What the runs along one axis are held against.

    Attributes:
        counts: How often each value is there.
        lengths: How many stretches have each length.
        equal, pairs: Pairs of neighbours that are equal, and all.
    """

    counts: Mapping[int, int]
    lengths: Mapping[int, int]
    equal: int
    pairs: int

    @classmethod
    def of(cls, stretches: Iterable[LineCodes]) -> _Neighbours:
        stretches = [*stretches]
        return cls(
            Counter(chain.from_iterable(stretches)),
            Counter(map(len, stretches)),
            sum(sum(map(eq, codes, codes[1:])) for codes in stretches),
            sum(len(codes) - 1 for codes in stretches),
        )


def _chances_of_run(
    neighbours: Mapping[Axis, _Neighbours], axis: Axis, length: int
) -> tuple[Fraction, Fraction, tuple[int, int]]:
    """How likely a run of this length is anywhere in the grid, under two nulls.

    Both are bounded by the sum over all places where such a run can lie, and all values. The first
    deals the grid's values at random. By the second, neighbours are equal as often as they are
    outside this run, for smooth grids have longer runs than shuffled ones; the pairs of neighbours
    along `axis` that it counts are given too: (equal, all).
    """
    counts = neighbours[axis].counts
    times = Counter(counts.values())
    values = sum(math.perm(count, length) * number for count, number in times.items())
    places, alike, seen = 0, Fraction(0), (0, 0)
    for along, found in neighbours.items():
        here = sum(max(0, size - length + 1) * number for size, number in found.lengths.items())
        own = length - 1 if along == axis else 0
        equal, pairs = found.equal - own, found.pairs - own
        seen = (equal, pairs) if along == axis else seen
        places += here
        alike += here * Fraction(equal + 1, pairs + 2) ** (length - 1)
    total = sum(counts.values())
    return Fraction(places * values, math.perm(total, length)), alike, seen
