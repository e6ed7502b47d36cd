"""From records to cells: trials, successes, the standard error, and the outcome of each item."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

from gridatlas.model.problems import join_names
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.records import BrokenRecord, Over, Row, RunFolder
from gridatlas_reproduce.runner.units import Cell, Unit

EACH = 5
"""Cells of a grid that are listed one by one."""
LINES = 20


@dataclass(frozen=True, slots=True)
class Answers:
    """What the graded samples of a cell have in common besides being right or wrong; all counts.

    Attributes:
        unanswered: Samples in which no answer was found.
        truncated: Samples that the limit ended.
        tokens: Of all samples together.
        prunes: Of all samples together; None where no cache is pruned.
    """

    unanswered: int
    truncated: int
    tokens: int
    prunes: int | None


@dataclass(frozen=True, slots=True)
class Tally:
    """One cell of a run.

    Attributes:
        done, of: Units; a cell with fewer done than planned has no counts.
        n, successes: Graded samples, and those that are right.
        stderr: Standard error of the share of successes; None where it isn't known.
        items: Ids, in the order of the plan.
        samples: Graded samples per item.
        correct: Successes per item.
        answers: See `Answers`; None where the cell isn't complete.
    """

    cell: Cell
    done: int
    of: int
    n: int = 0
    successes: int = 0
    stderr: float | None = None
    items: tuple[str, ...] = ()
    samples: tuple[int, ...] = ()
    correct: tuple[int, ...] = ()
    answers: Answers | None = None

    @property
    def complete(self) -> bool:
        """Whether all of its units are done."""
        return self.done == self.of


@dataclass(frozen=True, slots=True)
class CollectedRun:
    """One run, from all folders that have a part of it."""

    manifest: Mapping[str, Any]
    tallies: tuple[Tally, ...]

    @property
    def run(self) -> str:
        """The run's id."""
        return str(self.manifest["run"])


def collected_runs(folders: Iterable[RunFolder]) -> list[CollectedRun]:
    """The runs in some folders; those of one run (shards on separate disks) are put together.

    Raises:
        CannotRun: Where two folders have the same unit with other outcomes.
    """
    runs: dict[tuple[str, str], list[RunFolder]] = {}
    for folder in folders:
        same = runs.setdefault((folder.run, folder.settings), [])
        if folder.folder not in [other.folder for other in same]:
            same.append(folder)
    return [_collected(same) for _, same in sorted(runs.items())]


def _collected(folders: Sequence[RunFolder]) -> CollectedRun:
    manifests = [folder.manifest() for folder in folders]
    manifest = min(manifests, key=lambda manifest: str(manifest["started"]))
    resumed = [entry for each in manifests for entry in each["resumed"]]
    over: Over = manifest["stderr_over"]
    written = [(folder, folder.written()) for folder in folders]
    cells: dict[Cell, list[Unit]] = {}
    for unit in folders[0].plan():
        cells.setdefault(unit.cell, []).append(unit)
    tallies = tuple(
        tally(cell, {unit: _rows(written, unit) for unit in units}, over)
        for cell, units in cells.items()
    )
    return CollectedRun({**manifest, "resumed": resumed}, tallies)


def pass_at(run: CollectedRun, k: int) -> tuple[CollectedRun, tuple[Cell, ...]]:
    """A run counted by items: one is solved where any of its k samples is right.

    With exactly k samples per item this is pass@k (Chen et al. 2021, "Evaluating Large Language
    Models Trained on Code"), whose estimator from more samples isn't needed.

    Returns:
        The run with the cells whose items have k samples each, and the complete cells that don't.
    """
    fits = [tally for tally in run.tallies if not tally.complete or set(tally.samples) == {k}]
    solved = tuple(map(_solved, fits))
    fitting = {tally.cell for tally in fits}
    left_out = tuple(tally.cell for tally in run.tallies if tally.cell not in fitting)
    return CollectedRun({**run.manifest, "pass_at": k}, solved), left_out


def _solved(tally: Tally) -> Tally:
    correct = tuple(int(right > 0) for right in tally.correct)
    return replace(
        tally,
        n=len(correct),
        successes=sum(correct),
        stderr=clustered_stderr([(right, 1) for right in correct]),
        samples=(1,) * len(correct),
        correct=correct,
        answers=None,
    )


def _rows(written: Sequence[tuple[RunFolder, Collection[str]]], unit: Unit) -> list[Row] | None:
    """The rows of a unit from the folder that has it; a file that isn't whole is reported."""
    found: list[tuple[RunFolder, list[Row]]] = []
    for folder, names in written:
        try:
            rows = folder.find(unit, names)
        except BrokenRecord as broken:
            folder.report(f"{folder.path(unit)} {broken}: not counted; the run's command fixes it")
            continue
        if rows is not None:
            found.append((folder, rows))
    for folder, rows in found[1:]:
        if _outcomes(rows) != _outcomes(found[0][1]):
            raise CannotRun(
                f"{found[0][0].path(unit)} and {folder.path(unit)} have different outcomes",
                "each unit once, or with equal outcomes",
                "collect only one of the two folders",
            )
    return found[0][1] if found else None


def _outcomes(rows: Sequence[Row]) -> list[tuple[str, int, bool]]:
    return [(row.item, row.sample, row.correct) for row in rows]


def tally(cell: Cell, units: Mapping[Unit, Sequence[Row] | None], over: Over = "items") -> Tally:
    """Count one cell.

    Args:
        units: The cell's units with their rows, None for those that aren't done.
        over: What the standard error is taken over: items (questions), or units, where each is a
            sample of its own, such as a training seed.
    """
    done = [rows for rows in units.values() if rows is not None]
    if len(done) < len(units):
        return Tally(cell, len(done), len(units))
    items: dict[str, list[bool]] = {}
    for row in (row for rows in done for row in rows):
        items.setdefault(row.item, []).append(row.correct)
    clusters = items.values() if over == "items" else [[r.correct for r in rows] for rows in done]
    every = [correct for outcomes in items.values() for correct in outcomes]
    return Tally(
        cell,
        len(done),
        len(units),
        n=len(every),
        successes=sum(every),
        stderr=clustered_stderr([(sum(cluster), len(cluster)) for cluster in clusters]),
        items=tuple(items),
        samples=tuple(map(len, items.values())),
        correct=tuple(map(sum, items.values())),
        answers=_answers([row for rows in done for row in rows]),
    )


def _answers(rows: Sequence[Row]) -> Answers:
    prunes = [row.prunes for row in rows if row.prunes is not None]
    return Answers(
        unanswered=sum(row.prediction is None for row in rows),
        truncated=sum(row.finish == "length" for row in rows),
        tokens=sum(row.tokens for row in rows),
        prunes=sum(prunes) if prunes else None,
    )


def clustered_stderr(clusters: Sequence[tuple[int, int]]) -> float | None:
    """Standard error of the share of successes, taken over clusters of trials.

    Clusters are independent of one another; the trials of one needn't be. With m clusters of equal
    size it is the standard deviation of their shares, divided by √m; with one trial per cluster
    that is the binomial √(p (1 − p) / (m − 1)). For unequal sizes it is that of a ratio
    (Cochran 1977, Sampling Techniques, § 6.3).

    Args:
        clusters: (successes, trials) each.

    Returns:
        None for fewer than two clusters, and where all have the same share: a spread of 0 would
        say that the value is certain.
    """
    m, trials = len(clusters), sum(n for _, n in clusters)
    if m < 2:
        return None
    share = Fraction(sum(k for k, _ in clusters), trials)
    squares = sum((k - share * n) ** 2 for k, n in clusters)
    variance = squares * m / (m - 1) / trials**2
    return math.sqrt(variance) or None


def outcomes_as_json(run: CollectedRun) -> dict[str, Any]:
    """Per complete cell the successes of each item, for tests that pair cells item by item."""
    lists: dict[tuple[str, ...], int] = {}
    cells = [
        {
            "cell": dict(tally.cell),
            "items": lists.setdefault(tally.items, len(lists)),
            "samples": tally.samples[0] if len(set(tally.samples)) == 1 else list(tally.samples),
            "correct": list(tally.correct),
        }
        for tally in run.tallies
        if tally.complete
    ]
    return {"run": run.run, "items": [list(items) for items in lists], "cells": cells}


def manifest_as_json(run: CollectedRun) -> dict[str, Any]:
    """The manifest with how far each cell is, and what its answers were like."""
    return {**run.manifest, "cells": [_cell_as_json(tally) for tally in run.tallies]}


def _cell_as_json(tally: Tally) -> dict[str, Any]:
    content = {"levels": dict(tally.cell), "done": tally.done, "of": tally.of}
    if tally.answers is None:
        return content
    return content | {"answers": {"n": tally.n, **asdict(tally.answers)}}


def incomplete(run: CollectedRun, facets: Collection[str]) -> Iterator[str]:
    """What isn't complete: a line for each such cell, or for each grid that has more of them.

    Args:
        facets: The factors that make a grid of the cells that have the same levels of them.
    """
    grids: dict[str, list[Tally]] = {}
    for tally in run.tallies:
        grids.setdefault(words_of(tally.cell, facets), []).append(tally)
    lines = [line for name, cells in grids.items() for line in _absent(name, cells)]
    yield from lines[:LINES]
    if len(lines) > LINES:
        yield f"… and {len(lines) - LINES} more like these"


def _absent(grid: str, cells: Sequence[Tally]) -> Iterator[str]:
    absent = [cell for cell in cells if not cell.complete]
    if len(absent) <= EACH:
        for tally in absent:
            yield f"{words_of(tally.cell)}: {tally.done} of {tally.of} units"
        return
    done, of = sum(tally.done for tally in absent), sum(tally.of for tally in absent)
    where = f"{grid}: " if grid else ""
    yield f"{where}{len(absent)} of {len(cells)} cells, with {done} of {of} units done"


def words_of(cell: Cell, factors: Collection[str] | None = None) -> str:
    """The levels of a cell: of all factors, or of some."""
    names = (f"{name} {level}" for name, level in cell if factors is None or name in factors)
    return join_names(names, 20)
