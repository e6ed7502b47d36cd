"""What a picture may assert: what a headline names, and what tests tell of single cells."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gridatlas.analysis.said import Answer, Assertion
from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import UNTESTED, key_of_levels
from gridatlas.charts.binning import layout_of
from gridatlas.charts.marks import Segment
from gridatlas.model.study import Factor, Point, Study
from gridatlas.table.differences import Difference, subtract
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
    """What a headline asserts and a test carries, in its order.

    What stands in the evidence alone is left out.
    """
    if answer is None or not answer.asserts:
        return ()
    head = f" {answer.headline.casefold()} "

    def place(of: Assertion) -> tuple[int, int]:
        return head.rfind(of.levels[-1].casefold()), head.find(of.levels[0].casefold())

    shown = (of for of in answer.assertions if of.grade in ("clear", "likely"))
    return tuple(sorted((of for of in shown if _is_named(of, head)), key=place))


def nearest_behind(answer: Answer | None) -> tuple[Assertion, ...]:
    """Of a headline with a leader and nobody behind it, the smallest lead that is shown."""
    head = "" if answer is None else answer.headline.casefold()
    led = [
        (head.find(first), abs(of.estimate), of)
        for of in (answer.assertions if answer else ())
        if of.kind == "pair" and of.grade in ("clear", "likely")
        if occurs(first := of.levels[0].casefold(), head)
    ]
    return (min(led, key=lambda each: each[:2])[2],) if led else ()


def _is_named(of: Assertion, head: str) -> bool:
    """Whether a headline has all levels of an assertion, of a pair on both sides of its verb."""
    ahead, verb, behind = _VERB.split(head, maxsplit=1) if _VERB.search(head) else ("", "", "")
    if verb and of.kind in ("pair", "block", "best"):
        return occurs(of.levels[0], ahead) and all(occurs(x, behind) for x in of.levels[1:])
    return all(occurs(text, head) for text in of.levels)


_VERB = re.compile(r"( beats? | ahead of )")


def occurs(text: str, within: str) -> bool:
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


def asserts_settings(study: Study, named: Iterable[Assertion]) -> bool:
    """Whether a headline asserts anything of settings: of levels of axes, or of best cells."""
    axes = {*axes_of(study)}
    return any(each.kind == "best" or axes & {*factors_of(each)} for each in named)


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


def tuned_levels(study: Study, named: Iterable[Assertion]) -> list[tuple[Factor, str, str]]:
    """Facets whose levels a headline compares each at its best cell, the better level first."""
    return [
        (facet, each.levels[0], each.levels[1])
        for each in named
        for facet in study.facets
        if each.kind == "best" and each.factor == facet.id and len(each.levels) == 2
    ]


def is_asserted(
    assessment: Assessment, difference: Difference, named: Iterable[Assertion], at_level: str = ""
) -> bool:
    """Whether a headline asserts exactly this difference: its pair, and the levels it is at.

    Args:
        at_level: The facet of whose level the headline's page is; empty of another page.
    """
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
        if each.kind not in ("pair", "block") or factors[0] != difference.facet.id:
            continue
        if {*each.levels[:2]} != pair:
            continue
        at = dict(zip(factors[1:], each.levels[2:], strict=False))
        if all(
            at[facet.id] == level.label
            if facet.id in at
            else level.aggregate or facet.id == at_level or _alone(assessment, facet)
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
    uncertainty = assessment.uncertainty.of(grid)
    cells = grid.points_at(uncertainty.may_be_best != UNTESTED)
    best_set = assessment.best_set(grid)
    answer = assessment.grid_answers.get(grid.levels)
    if not cells and answer and answer.may_be_best:
        names = {*answer.may_be_best}
        cells = grid.points_at(grid.columns.value.defined)
        labels = ([of.label for of in at if of.label] for at in grid.places)
        best_set = grid.points_at(np.array([(*of,) in names for of in labels]))
    if len(cells) < 2 or not best_set:
        return Tests()
    passed = cells - best_set if of_axes else frozenset[Point]()
    few = passed and 2 <= len(best_set) <= len(cells) / 2
    return Tests(cells, passed, best_set if few else frozenset())


def difference_tests(assessment: Assessment, difference: Difference) -> Tests:
    """Of a difference's cells; of a mean over repeats those that differ alike in each of them."""
    signs = _signs(assessment, difference)
    if not signs and (facet_id := assessment.study.replicates):
        of_parts = [_signs(assessment, of) for of in _parts(assessment, difference, facet_id)]
        if of_parts and all(of_parts):
            signs = {
                point: sign if all(of.get(point) == sign for of in of_parts) else 0
                for point, sign in of_parts[0].items()
            }
    return Tests(frozenset(signs), frozenset(point for point, sign in signs.items() if sign))


def _signs(assessment: Assessment, difference: Difference) -> dict[Point, int]:
    """By tested cell the sign of its difference, 0 where none is shown; empty without a test."""
    turned = replace(difference, first=difference.second, second=difference.first)
    tests = assessment.uncertainty.differences
    for of, sign in ((difference, 1), (turned, -1)):
        tested = tests.get(key_of_levels(of.first.levels, of.second.levels))
        if tested and tested.cells and not tested.reason and layout_of(assessment.study) is None:
            found = tested.significant
            pairs = zip(difference.first.keys, difference.change.defined, strict=True)
            return {
                point: 0 if point not in found else sign if found[point] else -sign
                for point, is_defined in pairs
                if is_defined
            }
    return {}


def _parts(assessment: Assessment, difference: Difference, facet_id: str) -> list[Difference]:
    """The differences of single repeats that one of means is over; none of a single one."""
    at = [facet.id for facet in assessment.study.facets].index(facet_id)
    if not difference.second.names[at].aggregate:
        return []
    beside, levels = assessment.results.neighbour, assessment.results.levels(facet_id)
    pairs = (
        (beside(difference.second, facet_id, of.key), beside(difference.first, facet_id, of.key))
        for of in levels
        if not of.aggregate
    )
    return [subtract(b, a, difference.facet) for b, a in pairs if a and b]
