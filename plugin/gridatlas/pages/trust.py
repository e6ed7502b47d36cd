"""What is known of the trust that a page's values deserve, as numbers; templates word them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from gridatlas.analysis.statements import tally
from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.reruns import VERDICTS, Verdict
from gridatlas.checks.findings import CheckResult
from gridatlas.model.study import IMPORTED, Cell, Levels, Point, Reading, Study
from gridatlas.table.choose import derived
from gridatlas.table.grids import readings_by_cell
from gridatlas.table.study_table import DISPUTED, UNKNOWN, Grid


@dataclass(frozen=True, slots=True)
class Source:
    """A reading that gives shown values.

    Attributes:
        cells: Shown values that it gives.
    """

    reading: Reading
    cells: int


@dataclass(frozen=True, slots=True)
class Passed:
    """The cells of a page by a check: `tally` makes sure that each counts once."""

    passed: int
    failed: int
    not_applicable: int

    @property
    def of(self) -> int:
        """Cells that it could judge."""
        return self.passed + self.failed


@dataclass(frozen=True, slots=True)
class SecondReading:
    """How far other readings confirm the shown values.

    Attributes:
        cells: Those for which at least two independent readings give a value pass if all give the
            same.
        by_level: The same by level of the first facet that has several.
        largest: Largest difference, in the metric's unit; None where nothing differs.
        against: What speaks against all readings that differ, and not against what is shown.
        unconfirmed: Cells shown as disputed for want of a second reading.
    """

    cells: Passed
    by_level: tuple[tuple[str, Passed], ...]
    largest: Decimal | None
    against: tuple[str, ...]
    unconfirmed: int


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """What the shown values say about themselves.

    Attributes:
        aggregates: Printed aggregates that are the mean of their parts.
        counts: Values that are possible counts of their trials.
        open: Findings that nobody accepted and that are problems.
        harmless: All others: notes, and those that are accepted with a reason.
    """

    aggregates: Passed
    counts: Passed
    open: int
    harmless: int


@dataclass(frozen=True, slots=True)
class MeasuredAgain:
    """What runs measured of cells that were published.

    Attributes:
        measured: Cells that have a value of a run.
        of: Published cells that can be measured again; aggregates aren't.
        verdicts: Number of cells by verdict.
        trials: Of all published cells together; None where unknown.
    """

    measured: int
    of: int
    verdicts: Mapping[Verdict, int]
    trials: int | None


@dataclass(frozen=True, slots=True)
class Trust:
    """What a page's chips and its four rows of trust are made of.

    Attributes:
        values: Cells with a value.
        sources: The reading with most values first.
        computed: Values that are computed here, from those of other grids.
        measured: Whether runs gave all other values, or, where all are computed, all of the study.
        imported: Whether these runs are all imported logs.
        again: None where nothing can be measured again.
    """

    values: int
    sources: tuple[Source, ...]
    computed: int
    measured: bool
    imported: bool
    second: SecondReading
    arithmetic: Arithmetic
    again: MeasuredAgain | None

    @property
    def machine_made(self) -> bool:
        """Whether a program described a figure for each of the readings."""
        return bool(self.sources) and all(
            source.reading.entry.machine_made for source in self.sources
        )


def trust_of(assessment: Assessment, grids: Sequence[Grid]) -> Trust:
    """The facts about the values of some grids of a study; one that is given twice counts once."""
    grids = list({grid.levels: grid for grid in grids}.values())
    sources: Counter[str] = Counter()
    for grid in grids:
        sources.update(grid.columns.reading[grid.columns.value.defined])
    values, computed = sources.total(), sources.pop("", 0)
    runs = _runs(grids if computed < values else assessment.results.grids.values())
    labels = {reading.id: reading for reading in assessment.study.readings}
    return Trust(
        values,
        tuple(Source(labels[name], cells) for name, cells in sources.most_common()),
        computed,
        bool(runs) and all(runs),
        bool(runs) and all(run.startswith(IMPORTED) for run in runs),
        _second(assessment, grids),
        _arithmetic(assessment, grids, frozenset({*sources, ""})),
        _again(assessment, grids),
    )


def _runs(grids: Iterable[Grid]) -> set[str]:
    """The runs that gave the values which aren't computed; empty for one that none gave."""
    return {
        run
        for grid in grids
        for run in grid.columns.run[grid.columns.value.defined & grid.columns.reading.are(bool)]
        .take()
        .kinds
    }


def _tallied(grids: Iterable[Grid], judge: Callable[[Grid, Point, Cell], bool | None]) -> Passed:
    """The cells of some grids by whether each passes; None where that can't be told."""
    judged: Counter[bool | None] = Counter()
    size = 0
    for grid in grids:
        size += grid.table.size
        judged.update(judge(grid, *at) for at in zip(grid.keys, grid.columns, strict=True))
    return Passed(*tally(judged[True], judged[False], judged[None], size))


def _second(assessment: Assessment, grids: Sequence[Grid]) -> SecondReading:
    differences: list[Decimal] = []

    given_at = cache(lambda of: dict(zip(of.keys, readings_by_cell(of), strict=True)))

    def agrees(grid: Grid, point: Point, _: Cell) -> bool | None:
        if len(grid.study.accounts) == 1:
            return None
        given = _independent(grid.study, given_at(grid)[point])
        if len(given) < 2:
            return None
        differences.append(max(given) - min(given))
        return not differences[-1]

    cells = _tallied(grids, agrees)
    largest = max(differences, default=None) or None
    by_level: tuple[tuple[str, Passed], ...] = ()
    facets = [*enumerate(assessment.study.facets)]
    several = [at for at, _ in facets if len({grid.levels[at] for grid in grids}) > 1]
    if several and cells.of:
        groups: dict[str, list[Grid]] = {}
        for grid in grids:
            groups.setdefault(grid.names[several[0]].label, []).append(grid)
        found = ((label, _tallied(own, agrees)) for label, own in groups.items())
        by_level = tuple((label, passed) for label, passed in found if passed.of)
    alone = sum(
        len(_independent(grid.study, given_at(grid)[point])) == 1
        for grid in grids
        for point in grid.points_at(grid.columns.state == DISPUTED)
    )
    every = (cells for grid in grids for cells in given_at(grid).values())
    given = {of.id for cells in every for of, cell in cells if cell.value is not None}
    others = [other for other in assessment.others if other.reading.id in given]
    rejected = not any(other.is_rival for other in others)
    against = dict.fromkeys(words for other in others for words in other.against if rejected)
    return SecondReading(cells, by_level, largest, tuple(against), alone)


def _independent(study: Study, cells: Iterable[tuple[Reading, Cell]]) -> list[Decimal]:
    """The values of readings none of which was made from another."""
    chosen: list[tuple[Reading, Decimal]] = []
    for reading, cell in cells:
        if cell.value is None:
            continue
        if not any(derived(study, reading, other) for other, _ in chosen):
            chosen.append((reading, cell.value))
    return [value for _, value in chosen]


def _arithmetic(assessment: Assessment, grids: Sequence[Grid], shown: frozenset[str]) -> Arithmetic:
    """The results of checks of shown readings, narrowed to some grids."""
    levels = frozenset(grid.levels for grid in grids)
    results = [result for result in assessment.checks.results if result.reading in shown]
    findings = [
        finding for result in results for finding in result.findings if finding.levels in levels
    ]
    unsettled = sum(finding.severity == "problem" and not finding.accepted for finding in findings)
    return Arithmetic(
        _passed(results, grids, "aggregate"),
        _passed(results, grids, "k-of-n"),
        unsettled,
        len(findings) - unsettled,
    )


def _passed(results: Iterable[CheckResult], grids: Iterable[Grid], kind: str) -> Passed:
    """How many shown values of these grids passed the checks of a kind, of those they could judge.

    A reading has several results of a kind, as of different numbers of trials: a value counts once.
    """
    looked: set[tuple[str, Levels]] = set()
    untested: set[tuple[str, Levels, Point]] = set()
    wrong: set[tuple[str, Levels, Point]] = set()
    for result in results:
        if result.kind != kind:
            continue
        own = result.reading
        untested.update((own, levels, point) for levels, at in result.untested for point in at)
        if result.outcome in ("passed", "found"):
            looked.update((own, levels) for levels in result.grids)
        wrong.update(
            (own, finding.levels, point)
            for finding in result.findings
            if finding.severity == "problem"
            for point in finding.cells
        )

    def passes(grid: Grid, point: Point, cell: Cell) -> bool | None:
        at = cell.reading, grid.levels, point
        if cell.value is None or at[:2] not in looked or at in untested:
            return None
        return at not in wrong

    return _tallied(grids, passes)


def _again(assessment: Assessment, grids: Iterable[Grid]) -> MeasuredAgain | None:
    found = assessment.reproduction
    if found is None or found.own:
        return None
    verdicts: Counter[Verdict] = Counter()
    measured = of = 0
    total: int | None = 0
    for grid in grids:
        rerun = found.of(grid.levels)
        if rerun is None:
            continue
        verdicts.update(rerun.counts)
        measured += rerun.measured
        of += rerun.published
        n = grid.trials[grid.columns.value.defined]
        total = None if total is None or (n == UNKNOWN).any() else total + int(n.sum())
    ordered = {verdict: verdicts[verdict] for verdict in VERDICTS if verdicts[verdict]}
    return MeasuredAgain(measured, of, ordered, total)
