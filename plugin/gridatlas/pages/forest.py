"""Who is ahead? The differences of the answers, with their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gridatlas.assessment.answers.answer import ADVERBS, Answer, Contrast, Grade
from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import Ends
from gridatlas.charts.forest import Forest, ForestRow
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
    "untestable": "can't be tested",
    "reading-dependent": "depends on the reading",
}
"""Grades in words that aren't their own."""


def forest_plot(assessment: Assessment, facet: Factor) -> Forest | None:
    """The levels of a facet against one another: per benchmark, or each against the baseline.

    The numbers are those of the answers.

    Returns:
        None where no difference has an interval.
    """
    answer = assessment.answers.get(facet.id)
    whole = _contrasts(answer, facet)
    if not whole:
        return None
    study = assessment.study
    rows, row_title = list(whole), facet.label
    names = [_against(study, facet, contrast, whole) for contrast in whole]
    if len(whole) == 1:
        parts = [*_parts(assessment, facet, whole[0])]
        if parts:
            other = parts[0][0]
            row_title = other.label
            names = [level.label for _, level, _ in parts]
            rows = [contrast for _, _, contrast in parts]
            if len(parts) > 1:
                names.append(f"Mean of {len(parts)}")
                rows += whole
    if all(contrast.low is None for contrast in rows):
        return None
    first, second = (_common(facet, [getattr(row, side) for row in rows]) for side in _SIDES)
    unit = difference_unit(study.metric.unit)
    minus = f"{first or 'level'} − {second or 'level'}"
    title = f"{facet.label}: difference in {study.metric.name}"
    decimals = mean_decimals(study)
    drawn = [
        _forest_row(study, decimals, name, contrast, len(whole) == 1 and contrast is whole[0])
        for name, contrast in zip(names, rows, strict=True)
    ]
    return Forest(
        title=title,
        description=f"{title}, {minus}. {'; '.join(row.label for row in drawn)}.",
        x_title=name_with_unit(minus, unit),
        row_title=row_title,
        first=first,
        second=second,
        better=study.metric.better or "",
        decimals=decimals,
        rows=tuple(drawn),
        assumes=tuple(dict.fromkeys(text for contrast in rows for text in contrast.assumes)),
        alike=None if study.alike is None else float(study.alike),
    )


_SIDES = ("first", "second")


def _common(facet: Factor, keys: Sequence[str]) -> str:
    """The label of the level that all rows have on a side; empty where they differ."""
    return facet.level(keys[0]).label if len(set(keys)) == 1 else ""


def _against(
    study: Study, facet: Factor, contrast: Contrast, all_of_them: Sequence[Contrast]
) -> str:
    first, second = (facet.level(getattr(contrast, side)).label for side in _SIDES)
    same = len({other.second for other in all_of_them}) == 1
    name = first if same and len(all_of_them) > 1 else f"{first} − {second}"
    return f"{contrast.label}: {name}" if contrast.label else name


def _contrasts(answer: Answer | None, facet: Factor) -> list[Contrast]:
    """An answer's differences of a facet's levels; they hold no more surely than the answer."""
    if answer is None:
        return []
    found = [contrast for contrast in answer.contrasts if contrast.facet == facet.id]
    if answer.grade != "reading-dependent":
        return found
    return [
        replace(contrast, grade=answer.grade) if contrast.grade in ADVERBS else contrast
        for contrast in found
    ]


def _parts(
    assessment: Assessment, facet: Factor, whole: Contrast
) -> Iterator[tuple[Factor, Level, Contrast]]:
    """The same two levels at each level of another facet, in the same direction."""
    for other in assessment.study.facets:
        found = []
        for level in other.levels:
            answer = assessment.answers.get(f"{other.id}/{level.slug}")
            contrasts = _contrasts(answer, facet)
            if other is facet or level.aggregate or len(contrasts) != 1:
                continue
            [contrast] = contrasts
            if (contrast.first, contrast.second) == (whole.second, whole.first):
                contrast = _turned(contrast)
            if (contrast.first, contrast.second) == (whole.first, whole.second):
                found.append((other, level, contrast))
        if found:
            yield from found
            return


def _turned(contrast: Contrast) -> Contrast:
    """The same difference, seen from the other level."""

    def negative(value: float | None) -> float | None:
        return None if value is None else -value

    return replace(
        contrast,
        first=contrast.second,
        second=contrast.first,
        value=-contrast.value,
        low=negative(contrast.high),
        high=negative(contrast.low),
        wide_low=negative(contrast.wide_high),
        wide_high=negative(contrast.wide_low),
    )


def _forest_row(
    study: Study, decimals: int, name: str, contrast: Contrast, whole: bool
) -> ForestRow:
    difference = format_difference(contrast.value, decimals)
    words = value_with_unit(difference, study.metric.unit, difference=True)
    text = "can't be tested"
    interval = _ends(contrast.low, contrast.high)
    if interval:
        ends = " to ".join(format_difference(end, decimals) for end in interval)
        text = f"{difference} ({ends})"
        words += f", 95 % interval {ends} for {contrast.scope}"
    else:
        words += f", can't be tested: {contrast.reason}"
    return ForestRow(
        name,
        contrast.value,
        interval,
        _ends(contrast.wide_low, contrast.wide_high),
        contrast.scope,
        contrast.wide_scope,
        text,
        f"{name}: {words}",
        CERTAINTY.get(contrast.grade, contrast.grade),
        contrast.grade in ADVERBS,
        whole,
    )


def _ends(low: float | None, high: float | None) -> Ends | None:
    return None if low is None or high is None else (low, high)
