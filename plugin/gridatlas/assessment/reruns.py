"""What was measured again, cell by cell: whether it agrees with what was published.

A published value is compared with that of the first measured reading that has the cell; values of
the two are never mixed. In a study that only has measured readings nothing is compared.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from gridatlas.assessment.assess import computed_by
from gridatlas.files.cache import cache_key, open_cache
from gridatlas.model.format import many, places_of
from gridatlas.model.study import MISSING, Cell, Levels, Point, Progress, Run, Study
from gridatlas.statistics.interval import Interval, verdict
from gridatlas.table.grids import Results, readings_by_cell
from gridatlas.table.items import CELLS_UP_TO, clusters, too_large, trials
from gridatlas.table.study_table import UNKNOWN, Grid

Verdict = Literal["agrees", "differs", "too few to tell", "not testable", "running", "not run"]
VERDICTS: tuple[Verdict, ...] = (
    "agrees", "differs", "too few to tell", "not testable", "running", "not run",
)  # fmt: skip

NO_TRIALS = "the number of trials behind the published value is unknown"
DISPUTED = "the published value is disputed"
NOT_PUBLISHED = "there is no published value"
TOO_LARGE = f"intervals are not computed above {CELLS_UP_TO:,} cells in a grid"


@dataclass(frozen=True, slots=True)
class CellRerun:
    """One cell that was published, or measured again, or both.

    Attributes:
        reason: Why nothing can be tested, where that is so.
        published, again: What both give; without a value where one has none.
        difference: Measured again minus published.
        interval: 95 % of the difference, in the metric's unit.
        method: Name of the interval.
        progress: Of the run that is at it; None where none is.
    """

    verdict: Verdict
    published: Cell
    again: Cell
    difference: Decimal | None = None
    interval: Interval | None = None
    method: str = ""
    reason: str = ""
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Rerun:
    """One published grid, and the same cells measured again.

    Attributes:
        again: The values measured again; of the same study and levels.
        cells: By the level keys of x and y; points with neither a value nor a run aren't in it.
        beyond: Cells that can't agree whatever is run, because the published value alone is less
            sure than the margin.
    """

    grid: Grid
    again: Grid
    cells: Mapping[Point, CellRerun]
    beyond: int = 0

    @property
    def counts(self) -> dict[Verdict, int]:
        """Number of cells by verdict, in the order of `VERDICTS`, but for zeros."""
        found = Counter(cell.verdict for cell in self.cells.values())
        return {verdict: found[verdict] for verdict in VERDICTS if found[verdict]}

    @property
    def begun(self) -> bool:
        """Whether at least one cell is measured again, or being so."""
        return any(count != "not run" for count in self.counts)

    @property
    def measured(self) -> int:
        """Number of cells that have a value measured again."""
        return sum(cell.again.value is not None for cell in self.cells.values())

    @property
    def published(self) -> int:
        """Number of cells that have a published value."""
        return sum(cell.published.value is not None for cell in self.cells.values())


@dataclass(frozen=True, slots=True)
class Own:
    """One grid of a study that only runs measure: its cells by how far they are."""

    grid: Grid
    measured: int
    running: int
    of: int


@dataclass(frozen=True, slots=True)
class Reproduction:
    """All that runs measured of a study.

    Attributes:
        reruns: One per published grid that isn't an aggregate.
        own: One per grid, in a study that only runs measure; else empty.
        more: Names of grids that only runs give.
        trials: How many trials all published cells have together; None where not known.
    """

    study: Study
    reruns: tuple[Rerun, ...] = ()
    own: tuple[Own, ...] = ()
    more: tuple[str, ...] = ()
    trials: int | None = None

    @property
    def runs(self) -> tuple[Run, ...]:
        """Its runs, the first one first."""
        return tuple(sorted(self.study.runs.values(), key=lambda run: (run.started, run.id)))

    @property
    def begun(self) -> tuple[Rerun, ...]:
        """The grids of which something is measured again."""
        return tuple(rerun for rerun in self.reruns if rerun.begun)

    @property
    def counts(self) -> dict[Verdict, int]:
        """Number of cells of all grids by verdict."""
        return summed(self.reruns)

    def of(self, levels: Levels) -> Rerun | None:
        """What was measured again of a published grid; None for an aggregate."""
        return next((rerun for rerun in self.reruns if rerun.grid.levels == levels), None)


WORDS: Mapping[Verdict, str] = {
    "agrees": "agree",
    "differs": "differ",
    "too few to tell": "too few to tell",
    "not testable": "not testable",
    "running": "running",
    "not run": "not run",
}


def in_words(counts: Mapping[Verdict, int]) -> str:
    """Numbers of cells by verdict: `12 agree, 3 differ, 5 not run`."""
    return ", ".join(
        f"{counts[verdict]} {WORDS[verdict]}" for verdict in VERDICTS if counts.get(verdict)
    )


def summed(reruns: Iterable[Rerun]) -> dict[Verdict, int]:
    """Number of cells of some grids by verdict, in the order of `VERDICTS`, but for zeros."""
    found: Counter[Verdict] = Counter()
    for rerun in reruns:
        found.update(rerun.counts)
    return {verdict: found[verdict] for verdict in VERDICTS if found[verdict]}


def reproduction(results: Results, cache_folder: Path | None = None) -> Reproduction | None:
    """Compare what was published with what was measured again; None where neither can be.

    Intervals come from the cache where their inputs are the same.
    """
    study = results.study
    own = all(reading.measured for reading in study.readings)
    if own:
        return Reproduction(study, own=tuple(_own(results))) if study.runs else None
    if not (study.reproduce or study.runs or study.reruns):
        return None
    grids = [grid for grid in results.grids.values() if not grid.aggregate]
    pairs = [(grid, _again(study, grid)) for grid in grids]
    intervals = _intervals(study, pairs, cache_folder)
    running = _running(study)
    more = {levels for reading in study.reruns for levels in reading.table.grids} - {*results.grids}
    n = [number for grid in grids for number in grid.trials[grid.columns.value.defined].tolist()]
    return Reproduction(
        study,
        tuple(_rerun(grid, again, intervals, running) for grid, again in pairs),
        more=tuple(
            " | ".join(level.label for level in study.levels_of(levels)) for levels in sorted(more)
        ),
        trials=None if UNKNOWN in n else sum(n),
    )


def _own(results: Results) -> Iterator[Own]:
    study = results.study
    running = {at for at, progress in _running(study).items() if progress.done}
    for levels, grid in results.grids.items():
        if grid.aggregate:
            continue
        measured = grid.points_at(grid.columns.value.defined)
        waiting = [point for at, point in running if at == levels and point not in measured]
        yield Own(grid, len(measured), len(waiting), len(study.x.levels) * len(study.y.levels))


def _running(study: Study) -> dict[tuple[Levels, Point], Progress]:
    """Cells that runs haven't done, by the one that is farthest."""
    found: dict[tuple[Levels, Point], Progress] = {}
    for run in study.runs.values():
        for at, cell in run.cells.items():
            if not cell.complete and (at not in found or found[at].done < cell.done):
                found[at] = cell
    return found


def _again(study: Study, grid: Grid) -> Grid:
    """The cells of a grid as the first measured reading gives them that has a value."""

    def chosen(cells: Sequence[Cell]) -> Cell:
        with_value = [cell for cell in cells if cell.value is not None]
        return (with_value or [*cells] or [MISSING])[0]

    given = readings_by_cell(grid, study.reruns)
    return Grid.of(study, grid.levels, (chosen([cell for _, cell in cells]) for cells in given))


def _rerun(
    grid: Grid,
    again: Grid,
    intervals: Mapping[tuple[Levels, Point], Any],
    running: Mapping[tuple[Levels, Point], Progress],
) -> Rerun:
    reproduce = grid.study.reproduce
    margin = reproduce.margin if reproduce else None
    cells: dict[Point, CellRerun] = {}
    beyond = 0
    for point, published, measured in zip(grid.keys, grid.columns, again.columns, strict=True):
        progress = running.get((grid.levels, point))
        computed = intervals.get((grid.levels, point), {"reason": TOO_LARGE})
        beyond += margin is not None and computed.get("width", 0.0) > 2 * float(margin)
        if measured.value is None:
            if published.value is not None or progress:
                begun = progress is not None and progress.done > 0
                cells[point] = CellRerun(
                    "running" if begun else "not run", published, measured, progress=progress
                )
            continue
        if published.value is None:
            cells[point] = CellRerun("not testable", published, measured, reason=NOT_PUBLISHED)
            continue
        difference = measured.value - published.value
        reason = DISPUTED if published.state == "disputed" else computed["reason"]
        if reason:
            cells[point] = CellRerun("not testable", published, measured, difference, reason=reason)
            continue
        interval = Interval(computed["low"], computed["high"])
        outcome = verdict(interval, None if margin is None else float(margin))
        cells[point] = CellRerun(
            outcome, published, measured, difference, interval, computed["method"]
        )
    return Rerun(grid, again, cells, beyond)


# --- intervals ----------------------------------------------------------------------------------


def _intervals(
    study: Study, pairs: Sequence[tuple[Grid, Grid]], cache_folder: Path | None
) -> dict[tuple[Levels, Point], Any]:
    """Low and high end, method, or the reason why there is none, per cell measured again.

    Of every published cell also the width of its own interval, where it is known.
    """
    inputs = {
        (grid.levels, point): [_estimate(grid, cell, point), _estimate(again, measured, point)]
        for grid, again in pairs
        if not too_large(study)
        for point, cell, measured in zip(grid.keys, grid.columns, again.columns, strict=True)
        if cell.value is not None
    }
    if not inputs:
        return {}
    kinds = list(dict.fromkeys(json.dumps(estimates) for estimates in inputs.values()))
    scale = _scale(study)
    cache = open_cache(cache_folder)
    key = cache_key(computed_by(), json.dumps(["reproduction", scale, kinds]))
    entry = cache.get(key)
    if entry is None:
        computed = [_computed(json.loads(kind), scale) for kind in kinds]
        entry = cache.put(key, {"json": json.dumps(computed)})
    of = dict(zip(kinds, json.loads(entry["json"]), strict=True))
    return {at: of[json.dumps(estimates)] for at, estimates in inputs.items()}


def _scale(study: Study) -> int | None:
    """What a share of 1 is in the metric's unit; runs measure shares."""
    if study.metric.unit == "%" or study.metric.range == (Decimal(0), Decimal(100)):
        return 100
    return 1 if study.metric.range == (Decimal(0), Decimal(1)) else None


def _estimate(grid: Grid, cell: Cell, point: Point) -> Any:
    """Value, trials, standard error, and what that is taken over; None without a value."""
    if cell.value is None:
        return None
    n = cell.n if cell.run else trials(grid, cell)
    stderr = None if cell.stderr is None else str(cell.stderr)
    return [str(cell.value), n, stderr, clusters(grid.study, grid.levels, point, cell)]


def _computed(kind: Any, scale: int | None) -> dict[str, Any]:
    """One published cell, with what was measured again where it was."""
    from gridatlas.statistics.differences import difference_interval
    from gridatlas.statistics.estimates import Estimate, interval_of, successes_from

    def estimate(value: str, n: int | None, stderr: str | None, clusters: int | None) -> Estimate:
        error = None if stderr is None else float(stderr)
        return Estimate.of_value(float(value), n, error, clusters, scale)

    published, again = kind
    first = estimate(*published)
    value = Decimal(published[0])
    reason = ""
    if first.n is not None and first.stderr is None:
        decimals = places_of(value)
        if successes_from(value, first.n, decimals, scale or 1) is None:
            trials = many(first.n, "trial")
            reason = f"{value} is impossible with {trials}, so its trials are not known"
    elif first.n is None and first.stderr is None:
        reason = NO_TRIALS
    own = None if reason else interval_of(first)
    found: dict[str, Any] = {"reason": reason}
    if own is not None:
        found["width"] = (own.high - own.low) * (scale or 1)
    if again is None or reason:
        return found
    difference = difference_interval(first, estimate(*again))
    if difference is None:
        return found | {"reason": "the number of trials behind the value of the run is unknown"}
    interval, method = difference
    return found | {
        "low": interval.low * (scale or 1),
        "high": interval.high * (scale or 1),
        "method": method,
    }
