"""Checks that no longer look at values that they looked at before."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from gridatlas.assessment.assessment import Assessment
from gridatlas.checks import CheckResult, Finding, StudyChecks
from gridatlas.diff.changes import FindingChange, LostCheck, Place
from gridatlas.diff.matching import Match
from gridatlas.model.study import Levels, Point, Reading, Study
from gridatlas.table.choose import choose

CONCLUSIVE = ("passed", "found")
"""Outcomes of a check that say something about its values."""
IN_LINES = ("repeated-row", "repeated-column", "constant-run")
"""Checks of whole lines: without one of its cells, nothing is found in a line."""
ONLY_WHERE_FOUND = ("disputed", "fractions")
"""Checks with a result only where they find something: without one, nothing is wrong."""

PointsByGrid = Mapping[Levels, set[Point]]


@dataclass(slots=True)
class _Coverage:
    """The results of one check of one reading, by grid."""

    results: list[CheckResult] = field(default_factory=list)
    conclusive: dict[Levels, CheckResult] = field(default_factory=dict)
    inconclusive: dict[Levels, CheckResult] = field(default_factory=dict)
    untested: dict[Levels, set[Point]] = field(default_factory=dict)

    def add(self, result: CheckResult) -> None:
        self.results.append(result)
        by_grid = self.conclusive if result.outcome in CONCLUSIVE else self.inconclusive
        for levels in result.grids:
            by_grid.setdefault(levels, result)
        for levels, points in result.untested:
            self.untested.setdefault(levels, set()).update(points)


def compare_coverage(
    old: Assessment,
    new: Assessment,
    match: Match,
    readings: Mapping[str, str],
    findings: Iterable[FindingChange],
) -> tuple[LostCheck, ...]:
    """Checks that don't test values any more which the head still has.

    Checks of readings that were removed are left out: they are lost with their reading.

    Args:
        readings: The head's id of a reading by the base's.
        findings: The findings that changed.
    """
    before, after = _coverages(old.checks), _coverages(new.checks)
    gone = [change.old for change in findings if change.old and change.new is None]
    old_readings = {reading.id: reading for reading in old.study.readings}
    new_readings = {reading.id: reading for reading in new.study.readings}
    values = cache(lambda reading_id: _values(old_readings[reading_id]))
    shown = {at for at, cell in choose(new.study).items() if cell.value is not None}
    lost: list[LostCheck] = []
    for (kind, reading_id), coverage in before.items():
        if reading_id not in readings or kind in ONLY_WHERE_FOUND:
            continue
        reading = new_readings[readings[reading_id]]
        comparison = _Comparison(
            kind,
            coverage,
            after.get((kind, reading.id), _Coverage()),
            old_readings[reading_id],
            reading,
            values,
            new.study,
            shown,
            match,
            [finding for finding in gone if (finding.kind, finding.reading) == (kind, reading_id)],
        )
        lost += comparison.lost_checks()
    return tuple(lost)


def _coverages(checks: StudyChecks) -> dict[tuple[str, str], _Coverage]:
    coverages: dict[tuple[str, str], _Coverage] = {}
    for result in checks.results:
        coverages.setdefault((result.kind, result.reading), _Coverage()).add(result)
    return coverages


def _values(reading: Reading) -> PointsByGrid:
    """The points of each grid at which a reading has a value."""
    points: dict[Levels, set[Point]] = {}
    for (levels, point), cell in reading.cells.items():
        if cell.value is not None:
            points.setdefault(levels, set()).add(point)
    return points


@dataclass(frozen=True, slots=True)
class _Comparison:
    """One check of one reading, in both snapshots.

    Attributes:
        values: Gives the points with a value of a reading of the base, by its id.
        head: The study in the head.
        shown: Where it shows a value of a reading.
        gone: Findings that only the base has.
    """

    kind: str
    before: _Coverage
    after: _Coverage
    old: Reading
    new: Reading
    values: Callable[[str], PointsByGrid]
    head: Study
    shown: Container[Place]
    match: Match
    gone: list[Finding]

    def lost_checks(self) -> Iterator[LostCheck]:
        """A lost check per result of the base that lost values."""
        groups: dict[tuple[int, int], dict[Levels, set[Point]]] = {}
        results = {id(result): result for result in (*self.before.results, *self.after.results)}
        for levels, result in self.before.conclusive.items():
            lost = self.lost_points(levels)
            if lost:
                key = id(result), id(self.result_in_head(levels))
                groups.setdefault(key, {})[levels] = lost
        for (before, after), points in groups.items():
            hidden = [
                finding
                for finding in self.gone
                if not points.get(finding.levels, set()).isdisjoint(finding.cells)
            ]
            yield LostCheck(
                results[before],
                results.get(after),
                tuple(points),
                sum(map(len, points.values())),
                sum(len(self.tested(levels)) for levels in points),
                tuple(hidden),
                self.absent_parts(points),
            )

    def result_in_head(self, levels: Levels) -> CheckResult | None:
        """The result of the head's check of a grid of the base."""
        to = self.match.head_levels(levels)
        if to is None:
            return None
        return self.after.conclusive.get(to) or self.after.inconclusive.get(to)

    def tested(self, levels: Levels) -> set[Point]:
        """Points of a grid that the base's check tested."""
        points = self.values(self.old.id).get(levels, set())
        return points - self.before.untested.get(levels, set())

    def lost_points(self, levels: Levels) -> set[Point]:
        """Points of a grid that the base's check tested, and the head's doesn't."""
        is_aggregate = self.kind == "aggregate"
        if is_aggregate and not self.after.results:
            # Also where their level was removed: their parts are checked by none.
            return self.tested(levels)
        to = self.match.head_levels(levels)
        if to is None:
            return set()
        if to not in self.after.conclusive:
            return {point for point in self.tested(levels) if self.has_input(levels, point)}
        untested = self.after.untested.get(to, set())
        lost = set(self.broken_lines(levels))
        if untested or is_aggregate:
            for point in self.tested(levels):
                at = self.match.head(levels, point)
                if at is None:
                    continue
                absent = is_aggregate and not self.has_value(at)
                if at[1] in untested or (absent and self.has_input(levels, point)):
                    lost.add(point)
        return lost

    def broken_lines(self, levels: Levels) -> Iterator[Point]:
        """Values of findings in lines that are as before, but for a cell that has no value now."""
        if self.kind not in IN_LINES:
            return
        for finding in self.gone:
            if finding.levels != levels:
                continue
            places = {point: self.match.head(levels, point) for point in finding.cells}
            left = {point: at for point, at in places.items() if at and self.has_value(at)}
            same = all(
                self.old.cells[levels, point].value == self.new.cells[at].value
                for point, at in left.items()
            )
            if same and len(left) < len(places):
                yield from left

    def has_value(self, place: Place) -> bool:
        """Whether the head's reading has a value at one of the head's places."""
        cell = self.new.cells.get(place)
        return cell is not None and cell.value is not None

    def has_input(self, levels: Levels, point: Point) -> bool:
        """Whether what the check tested at a point of the base has a value in the head.

        An aggregate is a check of its parts, too.
        """
        at = self.match.head(levels, point)
        if at is None:
            return False
        parts = self.parts(at) if self.kind == "aggregate" else ()
        return self.has_value(at) or any(has_value for _, has_value in parts)

    def parts(self, place: Place) -> Iterator[tuple[str, bool]]:
        """The parts of an aggregate of the head: label of the level, and whether it has a value."""
        levels, point = place
        for index, factor in enumerate(self.head.facets):
            if factor.level(levels[index]).aggregate:
                for level in factor.levels:
                    if not level.aggregate:
                        part = (*levels[:index], level.key, *levels[index + 1 :])
                        yield level.label, (part, point) in self.shown

    def absent_parts(self, lost: PointsByGrid) -> tuple[str, ...]:
        """Labels of the levels that lack a value at a place whose aggregate isn't tested."""
        if self.kind != "aggregate":
            return ()
        places = (
            self.match.head(levels, point)
            for levels, points in lost.items()
            for point in sorted(points)
        )
        parts = (part for place in places if place for part in self.parts(place))
        return tuple(dict.fromkeys(label for label, has_value in parts if not has_value))
