"""Who is ahead? The differences that the answers tested, with their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from gridatlas.analysis.said import Answer, Assertion, Grade
from gridatlas.assessment.assessment import Assessment
from gridatlas.charts.kinds.forest import Forest, ForestRow
from gridatlas.model.format import (
    difference_unit,
    format_difference,
    mean_decimals,
    name_with_unit,
    value_with_unit,
)
from gridatlas.model.study import Factor, Level, Study

CERTAINTY: Mapping[Grade, str] = {
    "not-shown": "not shown",
    "reading-dependent": "depends on the reading",
}
"""Grades in words that aren't their own."""


@dataclass(frozen=True, slots=True)
class _Scale:
    """How differences are printed: of logs as ratios in percent."""

    unit: str
    decimals: int
    factor: float = 1.0


def forest_plot(assessment: Assessment, facet: Factor) -> Forest | None:
    """The levels of a facet against one another: each pair, or one pair by another facet.

    The numbers are those of the answers.

    Returns:
        None where no difference was tested.
    """
    study = assessment.study
    whole = _pairs(assessment.answers.get(facet.id), facet, study)
    if not whole:
        return None
    rows, row_title = list(whole), facet.label
    same = len(whole) > 1 and len({pair.levels[1] for pair in whole}) == 1
    names = [pair.levels[0] if same else " − ".join(pair.levels) for pair in whole]
    if len(whole) == 1:
        parts = [*_parts(assessment, facet, whole[0])]
        if parts:
            row_title = parts[0][0].label
            names = [level.label for _, level, _ in parts]
            rows = [pair for _, _, pair in parts]
            if len(parts) > 1:
                names.append("On average")
                rows += whole
    first, second = (_common([pair.levels[side] for pair in rows]) for side in (0, 1))
    ratio = rows[0].unit == "×"
    scale = _Scale("%", 1, 100) if ratio else _Scale(study.metric.unit, mean_decimals(study))
    minus = f"{first or 'level'} − {second or 'level'}"
    title = f"{facet.label}: difference in {study.metric.name}"
    drawn = [
        _forest_row(scale, name, pair, len(whole) == 1 and pair is whole[0], ratio=ratio)
        for name, pair in zip(names, rows, strict=True)
    ]
    return Forest(
        title=title,
        description=f"{title}, {minus}. {'; '.join(row.label for row in drawn)}.",
        x_title=name_with_unit(minus, "%" if ratio else difference_unit(scale.unit)),
        row_title=row_title,
        first=first,
        second=second,
        better=study.metric.better or "",
        decimals=scale.decimals,
        rows=tuple(drawn),
        alike=None if study.alike is None or ratio else float(study.alike),
    )


def _common(names: Sequence[str]) -> str:
    """The name that all rows have; empty where they differ."""
    return names[0] if len(set(names)) == 1 else ""


def _pairs(answer: Answer | None, facet: Factor, study: Study) -> list[Assertion]:
    """The tested pairs of a facet's levels; they hold no more surely than the answer.

    A baseline is the second of its pairs.
    """
    if answer is None:
        return []
    key = study.baseline.get(facet.id)
    base = "" if key is None else facet.level(key).label
    found = []
    for pair in answer.compared:
        if pair.factor == facet.id:
            depends = answer.grade == "reading-dependent" and pair.p <= 0.05
            graded = replace(pair, grade=answer.grade) if depends else pair
            found.append(_turned(graded) if pair.levels[0] == base else graded)
    return found


def _parts(
    assessment: Assessment, facet: Factor, whole: Assertion
) -> Iterator[tuple[Factor, Level, Assertion]]:
    """The same two levels at each level of another facet, in the same direction."""
    for other in assessment.study.facets:
        found = []
        for level in other.levels:
            answer = assessment.answers.get(f"{other.id}/{level.slug}")
            pairs = _pairs(answer, facet, assessment.study)
            if other is facet or level.aggregate or len(pairs) != 1:
                continue
            [pair] = pairs
            found.append((other, level, pair if pair.levels == whole.levels else _turned(pair)))
        if found:
            yield from found
            return


def _turned(pair: Assertion) -> Assertion:
    """The same difference, seen from the other level."""

    def other(value: float) -> float:
        return 1 / (1 + value) - 1 if pair.unit == "×" else -value

    first, second = pair.levels
    return replace(
        pair,
        levels=(second, first),
        estimate=other(pair.estimate),
        low=other(pair.high),
        high=other(pair.low),
    )


def _forest_row(
    scale: _Scale, name: str, pair: Assertion, whole: bool, *, ratio: bool
) -> ForestRow:
    value, *ends = (scale.factor * of for of in (pair.estimate, pair.low, pair.high))
    difference = format_difference(value, scale.decimals)
    words = value_with_unit(difference, scale.unit, difference=not ratio)
    text, interval = difference, None
    if all(map(isfinite, ends)):
        interval = (ends[0], ends[1])
        between = " to ".join(format_difference(end, scale.decimals) for end in ends)
        text = f"{difference} ({between})"
        words += f", 95 % interval {between}, {pair.population}"
    return ForestRow(
        name,
        value,
        interval,
        pair.population,
        text,
        f"{name}: {words}",
        CERTAINTY.get(pair.grade, pair.grade),
        pair.grade in ("clear", "likely"),
        whole,
    )
