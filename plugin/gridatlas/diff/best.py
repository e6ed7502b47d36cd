"""Best cells of the shown grids that changed, and whether significantly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gridatlas.assessment.cells import GridCells
from gridatlas.diff.changes import BestChange, Changes, GridChange, StudyChanges
from gridatlas.diff.matching import Match
from gridatlas.diff.report import (
    NAMED,
    ROWS,
    Entry,
    entry,
    grid_name,
    more_than,
    place_name,
    truncate,
    value_text,
)
from gridatlas.model.study import Grid, Point
from gridatlas.results.summary import Summary, summarise

TIES = 4
"""Best cells that are named."""


def compare_best(old: Grid, new: Grid, match: Match) -> BestChange | None:
    """Another best cell or value of a grid, without a test; None where both stayed."""
    before, after = summarise(old), summarise(new)
    if before is None or after is None:
        return None if before is after else BestChange(before, after, True)
    expected = set(_best_in_head(before, old, match))
    moved = expected != {(x.key, y.key) for x, y in after.best}
    if not moved and before.best_value == after.best_value:
        return None
    return BestChange(before, after, moved)


def _best_in_head(best: Summary, old: Grid, match: Match) -> Iterator[Point | None]:
    """The head's points of the best cells of a grid of the base."""
    for x, y in best.best:
        at = match.head(old.levels, (x.key, y.key))
        yield at[1] if at else None


def test_best(best: BestChange, old: Grid, new: Grid, match: Match, after: GridCells) -> BestChange:
    """Test whether an old best cell may still be the best, by the head's confidence set."""
    if best.old is None or best.new is None or not best.moved:
        return best
    places = _best_in_head(best.old, old, match)
    left = {at for at in places if at is not None and new.cell(*at).value is not None}
    tests = after.uncertainty
    if not left:
        return replace(best, reason="the old best cell has no value any more")
    if tests.level is None:
        reason = "an aggregate is not tested itself" if new.aggregate else "nothing is known of it"
        return replace(best, reason=tests.reason or reason)
    method = f"95 % confidence set for the best: {tests.test}"
    return replace(best, significant=after.best_set.isdisjoint(left), method=method)


# --- in the report -------------------------------------------------------------------


def best_entries(changes: Changes) -> Iterator[Entry]:
    """Grids with another best cell, or another best value: significant moves first."""
    found = [
        (study, grid, grid.best)
        for study in changes.studies
        for grid in study.grids.changed
        if grid.best is not None
    ]

    def rank(change: tuple[StudyChanges, GridChange, BestChange]) -> tuple[bool, bool]:
        best = change[2]
        return not best.moved, not best.significant

    for study, grid, best in sorted(found, key=rank):
        yield entry(study.id, *_best_text(grid, best))


def _best_text(change: GridChange, best: BestChange) -> tuple[str, tuple[str, ...]]:
    """A line on a grid's best cell, and what is known of the change."""
    study = change.new.study
    name = grid_name(study, change.new.levels)
    if best.new is None:
        assert best.old is not None
        text = "has no value any more, and so no best cell"
        return f"{name}: {text}: {_best_at(change.old, best.old)}", ()
    if best.old is None:
        return f"{name}: has a best cell now: {_best_at(change.new, best.new)}", ()
    if not best.moved:
        now, before = best.new.best_value, best.old.best_value
        cells = "cell" if len(best.new.best) == 1 else "cells"
        text = (
            f"{name}: the best value is now {value_text(study, now)}, before "
            f"{value_text(study, before)}, at the same {cells}: {_names(change.new, best.new)}"
        )
        return text, _tests_of_best(change, best.new)
    now_at, before_at = _best_at(change.new, best.new), _best_at(change.old, best.old)
    if best.significant is None:
        detail = f"Not testable whether it really moved: {best.reason}."
    elif best.significant:
        detail = f"The move can be told apart from noise: no old best cell is in the {best.method}."
    else:
        detail = (
            "The move can't be told apart from noise: an old best cell is still in the "
            f"{best.method}."
        )
    text = f"{name}: the best is now {now_at}; before {before_at}"
    return text, (detail, *_tests_of_best(change, best.new))


def _tests_of_best(change: GridChange, best: Summary) -> tuple[str, ...]:
    """The tests of the best cells whose own value changed."""
    points = {(x.key, y.key) for x, y in best.best}
    details = [
        f"Its value at {place_name(change.new.study, cell.point)} told apart from before? "
        f"{cell.significance.text}."
        for cell in change.cells
        if cell.point in points and cell.significance is not None
    ]
    return tuple(details[:TIES])


def _best_at(grid: Grid, summary: Summary) -> str:
    return f"{value_text(grid.study, summary.best_value)} at {_names(grid, summary)}"


def _names(grid: Grid, summary: Summary) -> str:
    return truncate((place_name(grid.study, (x.key, y.key)) for x, y in summary.best), TIES)


def best_of_grids(grids: Sequence[Grid]) -> Iterator[str]:
    """The best cells of some grids, a line for each."""
    for grid in grids[:ROWS]:
        summary = summarise(grid)
        if summary is not None:
            best = value_text(grid.study, summary.best_value)
            places = (place_name(grid.study, (x.key, y.key)) for x, y in summary.best)
            name = grid_name(grid.study, grid.levels)
            yield f"{name}: best {best} at {truncate(places, NAMED)}"
    yield more_than(ROWS, len(grids), "grid")
