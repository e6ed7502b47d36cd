"""What a picture may assert: what a headline names, and what tests tell of single cells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from gridatlas.analysis.said import Answer, Assertion
from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import UNTESTED
from gridatlas.charts.binning import layout_of
from gridatlas.charts.kinds.heatmap import (
    Segment,
)
from gridatlas.model.study import Factor, Point, Study
from gridatlas.table.differences import Difference, differences
from gridatlas.table.study_table import Grid


class Tests(NamedTuple):
    """What was tested of the cells of one grid or difference.

    Attributes:
        cells: Those tested.
        passed: Those beyond chance by themselves; of values, those shown to be worse than another.
        ring: Those that may be the best, where these are few.
    """

    cells: frozenset[Point] = frozenset()
    passed: frozenset[Point] = frozenset()
    ring: frozenset[Point] = frozenset()


# --- what headlines name --------------------------------------------------------------------------


def assertions_named(answer: Answer | None) -> tuple[Assertion, ...]:
    """What a headline asserts and a test carries: what stands in the evidence alone is left out."""
    if answer is None or not answer.asserts:
        return ()
    head = f" {answer.headline.casefold()} "
    return tuple(
        each
        for each in answer.assertions
        if each.grade in ("clear", "likely") and all(_occurs(text, head) for text in each.levels)
    )


def _occurs(text: str, within: str) -> bool:
    """Whether a text occurs as whole words."""
    text, at = text.casefold(), -1
    while (at := within.find(text, at + 1)) >= 0:
        ends = within[at - 1 : at] + within[at + len(text) : at + len(text) + 1]
        if not any(character.isalnum() for character in ends):
            return True
    return False


def factors_of(of: Assertion) -> list[str]:
    """The ids of the factors that an assertion is about."""
    return of.factor.split(" × ")


def axes_of(study: Study) -> list[str]:
    """The ids of the axes of grids."""
    return [axis.id for axis in study.varied]


def _place(factor: Factor, label: str) -> int | None:
    return next((at for at, level in enumerate(factor.levels) if level.label == label), None)


def outlines(
    study: Study, named: Iterable[Assertion]
) -> tuple[tuple[Segment, ...], tuple[int, ...], tuple[int, ...]]:
    """Boxes round what is asserted of levels and settings, and the asserted places of both axes.

    Returns:
        Boxes in cells; of x the places from the left, of y those from the top.
    """
    across, down = len(study.x.levels), len(study.y.levels)
    boxes, at_x, at_y = [], [], []

    def from_top(place: int) -> int:
        return down - 1 - place if study.y.direction == "up" else place

    for each in named:
        factors, places = factors_of(each), {}
        for factor, label in zip(factors, each.levels, strict=False):
            axis = next((axis for axis in study.varied if axis.id == factor), None)
            place = None if axis is None else _place(axis, label)
            if place is not None:
                places[factor] = place
        x, y = places.get(study.x.id), places.get(study.y.id)
        if each.kind == "cell" and x is not None and y is not None:
            boxes.append(Segment(x, from_top(y), x + 1, from_top(y) + 1))
        elif each.kind in ("level", "peak", "pair", "best") and len(factors) == 1:
            if x is not None and factors[0] == study.x.id:
                boxes.append(Segment(x, 0, x + 1, down))
                at_x.append(x)
            elif y is not None and factors[0] == study.y.id:
                boxes.append(Segment(0, from_top(y), across, from_top(y) + 1))
                at_y.append(from_top(y))
    return tuple(dict.fromkeys(boxes)), tuple(at_x), tuple(at_y)


def is_asserted(assessment: Assessment, difference: Difference, named: Iterable[Assertion]) -> bool:
    """Whether a headline asserts exactly this difference: its pair, and the levels it is at."""
    if difference.facet is None:
        return False
    study, pair = assessment.study, {level.label for level in difference.levels}
    others = [
        (facet, level)
        for facet, level in zip(study.facets, difference.second.names, strict=True)
        if facet != difference.facet
    ]
    for each in named:
        factors = factors_of(each)
        if each.kind not in ("pair", "block", "best") or factors[0] != difference.facet.id:
            continue
        if {*each.levels[:2]} != pair:
            continue
        at = dict(zip(factors[1:], each.levels[2:], strict=False))
        if all(
            at[facet.id] == level.label
            if facet.id in at
            else level.aggregate or _alone(assessment, facet)
            for facet, level in others
        ):
            return True
    return False


def _alone(assessment: Assessment, facet: Factor) -> bool:
    return sum(not level.aggregate for level in assessment.results.levels(facet.id)) == 1


# --- tests of cells -------------------------------------------------------------------------------


def grid_tests(assessment: Assessment, grid: Grid, of_axes: bool) -> Tests:
    """Of a grid's cells against its best one.

    Args:
        of_axes: Whether the page asserts anything of settings: else no single cell counts.
    """
    if not assessment.study.has_best:
        return Tests()
    known = assessment.uncertainty.of(grid)
    cells = grid.points_at(known.may_be_best != UNTESTED)
    best_set = assessment.best_set(grid)
    if len(cells) < 2 or not best_set:
        return Tests()
    passed = cells - best_set if of_axes else frozenset[Point]()
    few = passed and 2 <= len(best_set) <= len(cells) / 2
    return Tests(cells, passed, best_set if few else frozenset())


def difference_tests(assessment: Assessment, difference: Difference) -> Tests:
    """Of a difference's cells; of a mean over repeats those that differ alike in each of them."""
    found = [_tested(assessment, difference), _tested(assessment, difference, swapped=True)]
    known = next((test for test in found if test is not None), None)
    if known is not None and known.cells:
        return known
    facet_id = assessment.study.replicates
    parts = _parts(assessment, difference, facet_id) if facet_id else []
    tests = [signs for part in parts if (signs := _signed(assessment, part))]
    if not tests or len(tests) < len(parts):
        return Tests()
    points = [{*test} for test in tests]
    common = frozenset.intersection(*(frozenset(of.items()) for of in tests))
    passed = frozenset(point for point, sign in common if sign)
    return Tests(frozenset(set.intersection(*points)), passed)


def _tested(
    assessment: Assessment, difference: Difference, *, swapped: bool = False
) -> Tests | None:
    signs = _signed(assessment, difference, swapped=swapped)
    if signs is None:
        return None
    return Tests(frozenset(signs), frozenset(point for point, sign in signs.items() if sign))


def _signed(
    assessment: Assessment, difference: Difference, *, swapped: bool = False
) -> dict[Point, int] | None:
    """The sign of each tested cell that differs, 0 of the others; None where nothing is tested."""
    if swapped:
        difference = replace(difference, first=difference.second, second=difference.first)
    try:
        known = assessment.uncertainty.of_difference(difference)
    except KeyError:
        return None
    if known.reason or not known.cells or layout_of(assessment.study) is not None:
        return None
    keys = difference.first.keys
    tested = [
        point for point, is_known in zip(keys, difference.change.defined, strict=True) if is_known
    ]
    return {
        point: 0 if point not in known.significant else 1 if known.significant[point] else -1
        for point in tested
    }


def _parts(assessment: Assessment, difference: Difference, facet_id: str) -> list[Difference]:
    """The differences of single repeats that one of means is over."""
    study, results = assessment.study, assessment.results
    at = [facet.id for facet in study.facets].index(facet_id)
    if not difference.second.names[at].aggregate or difference.facet is None:
        return []
    keys = [level.key for level in results.levels(facet_id) if not level.aggregate]
    wanted = {
        (*difference.second.levels[:at], key, *difference.second.levels[at + 1 :]) for key in keys
    }
    of = difference.first.levels[study.facets.index(difference.facet)]
    place = study.facets.index(difference.facet)
    return [
        part
        for part in differences(results, difference.facet)
        if part.second.levels in wanted and part.first.levels[place] == of
    ]
