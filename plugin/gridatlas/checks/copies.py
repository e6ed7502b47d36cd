"""Replicates, or repeats of cells, that are copies: a seed that was ignored, a table used twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import combinations

from gridatlas.checks.findings import CheckResult, Finding
from gridatlas.checks.reading import ReadingView
from gridatlas.checks.register import check
from gridatlas.model.format import is_are, many
from gridatlas.model.study import Levels, Point
from gridatlas.table.study_table import UNKNOWN

KIND = "copied-replicate"
LEAST_CELLS = 8
LEAST_VALUES, LEAST_SHARES = 5, 12
"""Different values that equal replicates must have; of shares of trials, which repeat by chance."""
MEANS = (
    "A seed may have been ignored, or a table was copied. Equal replicates say nothing of how much "
    "another one would differ."
)
SURE = "All of their values are equal, which replicates with a luck of their own hardly ever are."

Place = tuple[Levels, Point]


@check(
    kind=KIND,
    title="Replicates that are copies",
    says="A replicate, such as a seed, that equals another one in all cells, or equal repeats. At "
    "least 8 cells with 5 different values tell (12 for shares of trials).",
    passing="replicates that differ, as their luck does",
    order=55,
    fix="check whether the seed was used, and whether a table was copied",
)
def check_copies(view: ReadingView) -> list[CheckResult]:
    """Replicates all of whose values equal those of another one."""
    return _of_replicates(view) if view.study.replicates else _of_repeats(view)


def _of_replicates(view: ReadingView) -> list[CheckResult]:
    study = view.study
    factor = study.facet(study.replicates)
    place = study.facets.index(factor)
    values: dict[str, dict[Place, Decimal]] = {
        level.key: {} for level in factor.levels if not level.aggregate
    }
    grids: dict[str, list[Levels]] = {}
    has_trials = False
    for sheet in view.sheets:
        key, rest = sheet.levels[place], _without(sheet.levels, place)
        if key not in values or any(level.aggregate for level in study.levels_of(sheet.levels)):
            continue
        grids.setdefault(key, []).append(sheet.levels)
        values[key].update(((rest, point), value) for point, value in sheet.values())
        has_trials = has_trials or sheet.has_trials or study.trials_at(sheet.levels) is not None
    found = {
        later: (first, number)
        for first, later in reversed([*combinations(grids, 2)])
        if (number := _equal(values[first], values[later], has_trials))
    }
    if len(grids) < 2:
        return []
    findings = [
        view.finding(
            KIND,
            grids[key][0],
            [at for levels, at in values[key] if levels == _without(grids[key][0], place)],
            f"{factor.label} {factor.level(key).label} has the same values as "
            f"{factor.level(original).label}, in all {many(number, 'cell')} that both have",
            MEANS,
            SURE,
        )
        for key, (original, number) in found.items()
    ]
    statement = (
        f"{len(found)} of {many(len(grids), 'replicate')} {is_are(len(found))} a copy of another."
    )
    return [_result(view, [at for of in grids.values() for at in of], statement, findings)]


def _without(levels: Levels, place: int) -> Levels:
    return (*levels[:place], *levels[place + 1 :])


def _equal(first: Mapping[Place, Decimal], later: Mapping[Place, Decimal], has_trials: bool) -> int:
    """In how many cells both have the same values; 0 where some differ, or too few tell."""
    if any(first.get(place, value) != value for place, value in later.items()):
        return 0
    both = [value for place, value in later.items() if place in first]
    return len(both) if _tells(both, has_trials) else 0


def _tells(values: Sequence[Decimal], has_trials: bool) -> bool:
    """Whether so many values, and so different ones, are equal only by copying."""
    least = LEAST_SHARES if has_trials else LEAST_VALUES
    return len(values) >= LEAST_CELLS and len(set(values)) >= least


def _of_repeats(view: ReadingView) -> list[CheckResult]:
    """Cells that are means of rows: all rows of each cell are equal."""
    points: dict[Levels, list[Point]] = {}
    values: list[Decimal] = []
    has_trials = differ = False
    for sheet in view.sheets:
        repeated = sheet.columns.repeats > 1
        if repeated.any():
            means = sheet.columns[repeated]
            differ = differ or means.low.exact() != means.high.exact()
            has_trials = has_trials or bool((means.n != UNKNOWN).any())
            cells = [*sheet.values(computed=True)]
            points[sheet.levels] = [point for point, _ in cells]
            values += [value for _, value in cells]
    if not points:
        return []
    findings: list[Finding] = []
    statement = "The rows of one cell differ, as repeats do."
    if not differ:
        statement = f"The rows of each of {many(len(values), 'cell')} are equal."
    if not differ and _tells(values, has_trials):
        levels, first = next(iter(points.items()))
        found = f"all rows of a cell have the same value, in each of {many(len(values), 'cell')}"
        findings = [view.finding(KIND, levels, first, found, MEANS, SURE)]
    return [_result(view, points, statement, findings)]


def _result(
    view: ReadingView, grids: Iterable[Levels], statement: str, findings: Sequence[Finding]
) -> CheckResult:
    strength = (
        f"Detects replicates that are equal in at least {LEAST_CELLS} cells with {LEAST_VALUES} "
        f"different values ({LEAST_SHARES} for shares of trials). Doesn't detect some copied rows."
    )
    return view.result(KIND, grids, statement, strength, findings)
