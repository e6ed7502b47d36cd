"""Which changed values make a statement true or false, and a check fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gridatlas.claims import ClaimError, evaluate
from gridatlas.diff.changes import Causes, ClaimChange, FindingChange, Place
from gridatlas.diff.grid_changes import CellChange, GridChange
from gridatlas.model.study import Grid, Levels
from gridatlas.results.grids import Results

MAX_TRIED = 2_000
"""Evaluations of statements with a value put back; the statements left over have no cause."""


def find_causes(
    grids: Sequence[GridChange],
    claims: Sequence[ClaimChange],
    findings: Sequence[FindingChange],
    studies: Mapping[str, Results],
    study_id: str,
) -> Causes:
    """The statements and checks that single changed values decide.

    Each value is put back alone; a statement that several values turn together has no cause here,
    nor has one that was worded otherwise.

    Args:
        studies: The head's results of all studies.
        study_id: Id of the study that changed.
    """
    statements: dict[Place, list[ClaimChange]] = {}
    checks: dict[Place, list[FindingChange]] = {}
    flipped = [
        claim
        for claim in claims
        if claim.shown_flipped and claim.old and claim.new
        if claim.old.entry.check == claim.new.entry.check
    ]
    tried = 0
    for grid in grids:
        for cell in grid.cells:
            place = grid.new.levels, cell.point
            found = [
                change for change in findings if change.fails and _concerns(change, grid, cell)
            ]
            if found:
                checks[place] = found
            tried += len(flipped)
            if (
                not flipped
                or cell.kind == "trials"
                or cell.origin == "computed"
                or tried > MAX_TRIED
            ):
                continue
            before = {**studies, study_id: _put_back(studies[study_id], grid.new, cell)}
            turned = list(_turned(flipped, before, study_id))
            if turned:
                statements[place] = turned
    return Causes(
        {place: tuple(found) for place, found in statements.items()},
        {place: tuple(found) for place, found in checks.items()},
    )


def _turned(
    claims: Sequence[ClaimChange], studies: Mapping[str, Results], study_id: str
) -> Iterator[ClaimChange]:
    """The claims that have their old outcome in these results."""
    for claim in claims:
        assert claim.old is not None
        assert claim.old.entry.check is not None
        try:
            verdict = evaluate(claim.old.entry.check, studies, study_id)
        except ClaimError:
            continue
        if claim.old.verdict and verdict.outcome == claim.old.verdict.outcome:
            yield claim


def _put_back(results: Results, grid: Grid, change: CellChange) -> Results:
    """The results with one cell as it was."""
    study = results.study
    x, y = study.x.place(change.point[0]), study.y.place(change.point[1])
    rows = [list(row) for row in grid.cells]
    rows[y][x] = change.old
    before = replace(grid, cells=tuple(map(tuple, rows)))
    return replace(results, grids={**results.grids, grid.levels: before})


def _concerns(change: FindingChange, grid: GridChange, cell: CellChange) -> bool:
    """Whether a finding is about a cell, or about an aggregate of it."""
    finding = change.new
    if finding is None or cell.point not in finding.cells:
        return False
    return finding.levels == grid.new.levels or _sums_up(finding.levels, grid.new)


def _sums_up(levels: Levels, grid: Grid) -> bool:
    """Whether a grid at these levels is an aggregate that has another grid as a part."""
    pairs = list(zip(grid.study.facets, levels, grid.levels, strict=True))
    differing = [(facet, level) for facet, level, own in pairs if level != own]
    return len(differing) == 1 and bool(differing[0][0].level(differing[0][1]).aggregate)
