"""Checks that no longer look at values that they looked at before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from gridatlas.checks import CheckResult, Finding, StudyChecks
from gridatlas.diff.check_changes import FindingChange
from gridatlas.diff.matching import Match
from gridatlas.model.study import Levels, Point, Reading, Study
from gridatlas.results.grids import choose

SPEAKING = ("passed", "found")
"""Outcomes of a check that say something about its values."""
IN_LINES = ("repeated-row", "repeated-column", "constant-run")
"""Checks of whole lines: without one of its cells, nothing is found in a line."""
ONLY_WHERE_FOUND = ("disputed",)
"""Checks with a result only where they find something: without one, nothing is wrong."""


@dataclass(frozen=True, slots=True)
class LostCheck:
    """A check of one reading that covers less than before.

    Attributes:
        old: What it said.
        new: What it says now; None where it isn't made of this reading any more.
        grids: The base's grids in which it lost values.
        lost, tested: Values that it no longer tests, and values that it tested in these grids.
        hidden: Findings of the base that it can no longer see.
        without: Levels that lack a value which the check needs, by their labels.
    """

    old: CheckResult
    new: CheckResult | None
    grids: tuple[Levels, ...]
    lost: int
    tested: int
    hidden: tuple[Finding, ...]
    without: tuple[str, ...]


@dataclass(slots=True)
class _Coverage:
    """What the results of one check say about one reading, by grid."""

    results: list[CheckResult] = field(default_factory=list)
    speaking: dict[Levels, CheckResult] = field(default_factory=dict)
    silent: dict[Levels, CheckResult] = field(default_factory=dict)
    untested: dict[Levels, set[Point]] = field(default_factory=dict)

    def add(self, result: CheckResult) -> None:
        self.results.append(result)
        by_grid = self.speaking if result.outcome in SPEAKING else self.silent
        for levels in result.grids:
            by_grid.setdefault(levels, result)
        for levels, points in result.untested:
            self.untested.setdefault(levels, set()).update(points)


def compare_coverage(
    old: tuple[Study, StudyChecks],
    new: tuple[Study, StudyChecks],
    match: Match,
    readings: Mapping[str, str],
    findings: Iterable[FindingChange],
) -> tuple[LostCheck, ...]:
    """Checks that don't test values any more which are still there.

    Checks of readings that were removed are left out: they are lost with their reading.

    Args:
        readings: The head's id of a reading by the base's.
        findings: What changed of the findings.
    """
    before, after = _coverages(old[1]), _coverages(new[1])
    gone = [change.old for change in findings if change.old and change.new is None]
    by_id = {reading.id: reading for reading in old[0].readings}
    values = cache(lambda reading_id: _values(by_id[reading_id]))
    found: list[LostCheck] = []
    for (kind, reading_id), coverage in before.items():
        if reading_id not in readings or kind in ONLY_WHERE_FOUND:
            continue
        head = next(reading for reading in new[0].readings if reading.id == readings[reading_id])
        comparison = _Comparison(
            kind,
            coverage,
            after.get((kind, head.id), _Coverage()),
            by_id[reading_id],
            head,
            values,
            new[0],
            match,
            [one for one in gone if (one.kind, one.reading) == (kind, reading_id)],
        )
        found += comparison.lost_checks()
    return tuple(found)


def _coverages(checks: StudyChecks) -> dict[tuple[str, str], _Coverage]:
    found: dict[tuple[str, str], _Coverage] = {}
    for result in checks.results:
        found.setdefault((result.kind, result.reading), _Coverage()).add(result)
    return found


def _values(reading: Reading) -> Mapping[Levels, set[Point]]:
    """The points of each grid at which a reading has a value."""
    found: dict[Levels, set[Point]] = {}
    for (levels, point), cell in reading.cells.items():
        if cell.value is not None:
            found.setdefault(levels, set()).add(point)
    return found


@dataclass(frozen=True, slots=True)
class _Comparison:
    """One check of one reading, on both sides."""

    kind: str
    before: _Coverage
    after: _Coverage
    old: Reading
    new: Reading
    values: Callable[[str], Mapping[Levels, set[Point]]]
    head: Study
    match: Match
    gone: list[Finding]

    def lost_checks(self) -> Iterator[LostCheck]:
        """A lost check per result of the base that lost values."""
        groups: dict[tuple[int, int], list[tuple[Levels, set[Point]]]] = {}
        results = {id(result): result for result in (*self.before.results, *self.after.results)}
        for levels, result in self.before.speaking.items():
            lost = self.lost_points(levels)
            if lost:
                now = self.now(levels)
                groups.setdefault((id(result), id(now)), []).append((levels, lost))
        for (before, after), grids in groups.items():
            lost_by_grid = dict(grids)
            hidden = [
                finding
                for finding in self.gone
                if not lost_by_grid.get(finding.levels, set()).isdisjoint(finding.cells)
            ]
            yield LostCheck(
                results[before],
                results.get(after),
                tuple(lost_by_grid),
                sum(map(len, lost_by_grid.values())),
                sum(len(self.tested(levels)) for levels in lost_by_grid),
                tuple(hidden),
                self.absent_parts(lost_by_grid),
            )

    def now(self, levels: Levels) -> CheckResult | None:
        """What the head's check says of a grid of the base."""
        to = self.match.head_levels(levels)
        if to is None:
            return None
        return self.after.speaking.get(to) or self.after.silent.get(to)

    def tested(self, levels: Levels) -> set[Point]:
        """Points of a grid that the base's check tested."""
        points = self.values(self.old.id).get(levels, set())
        return points - self.before.untested.get(levels, set())

    def lost_points(self, levels: Levels) -> set[Point]:
        """Points of a grid that the base's check tested, and the head's doesn't."""
        if self.kind == "aggregate" and not self.after.results:
            # Also where their level was removed: their parts are checked by none.
            return self.tested(levels)
        to = self.match.head_levels(levels)
        if to is None:
            return set()
        untested = self.after.untested.get(to, set())
        if to not in self.after.speaking:
            return {point for point in self.tested(levels) if self.there(levels, point)}
        lost = set(self.broken(levels))
        if untested or self.kind == "aggregate":
            for point in self.tested(levels):
                at = self.match.head(levels, point)
                if at is None:
                    continue
                absent = self.kind == "aggregate" and not self.has_value(at)
                if at[1] in untested or (absent and self.there(levels, point)):
                    lost.add(point)
        return lost

    def broken(self, levels: Levels) -> Iterator[Point]:
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

    def has_value(self, at: tuple[Levels, Point]) -> bool:
        """Whether the head's reading has a value at one of the head's places."""
        cell = self.new.cells.get(at)
        return cell is not None and cell.value is not None

    def there(self, levels: Levels, point: Point) -> bool:
        """Whether what the check tested at a point of the base has a value in the head.

        An aggregate is a check of its parts, too.
        """
        at = self.match.head(levels, point)
        if at is None:
            return False
        return self.has_value(at) or (self.kind == "aggregate" and any(self.parts(at)))

    def parts(self, at: tuple[Levels, Point]) -> Iterator[bool]:
        """Whether each part of an aggregate of the head has a value."""
        for _, place in _part_places(self.head, at[0]):
            yield choose(self.head, place, at[1]).value is not None

    def absent_parts(self, lost: Mapping[Levels, set[Point]]) -> tuple[str, ...]:
        """Labels of the levels that lack a value at a place whose aggregate isn't tested."""
        if self.kind != "aggregate":
            return ()
        labels: dict[str, None] = {}
        for levels, points in lost.items():
            for point in points:
                at = self.match.head(levels, point)
                for label, place in _part_places(self.head, at[0]) if at else ():
                    if at and choose(self.head, place, at[1]).value is None:
                        labels[label] = None
        return tuple(labels)


def _part_places(study: Study, levels: Levels) -> Iterator[tuple[str, Levels]]:
    """The parts of an aggregate: the label of the level and the grid, for each."""
    for index, factor in enumerate(study.facets):
        if factor.level(levels[index]).aggregate:
            for level in factor.levels:
                if not level.aggregate:
                    yield level.label, (*levels[:index], level.key, *levels[index + 1 :])
