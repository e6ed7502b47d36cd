"""Values printed with other decimals than the rest of their grid or reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

from gridatlas.checks.findings import CheckResult
from gridatlas.checks.reading import ReadingView, is_computed
from gridatlas.checks.words import CHANCE, cells_text, decimals_text, of_values, plain
from gridatlas.model.format import many, places_of
from gridatlas.model.study import Point


def check_decimals(view: ReadingView) -> list[CheckResult]:
    """Values printed with other decimals than the rest of their grid or reading."""
    printed = {
        sheet.levels: [(p, v, places_of(v)) for p, cell, v in sheet.cells if not is_computed(cell)]
        for sheet in view.sheets
    }
    every = [cell for cells in printed.values() for cell in cells]
    if len(every) < 3:
        return []
    usual = _usual(every)
    # A grid may have its own number of decimals, if it has enough values to tell.
    own = {levels: _usual(cells) if len(cells) >= 3 else usual for levels, cells in printed.items()}
    odd = {
        levels: [cell for cell in cells if cell[2] != own[levels]]
        for levels, cells in printed.items()
    }
    number = sum(map(len, odd.values()))
    apart = [levels for levels in printed if own[levels] != usual]
    if number * 5 > len(every) or len(apart) * 5 > len(printed):
        span = decimals_text(places for *_, places in every)
        statement = f"The {len(every)} values have {span}."
        strength = "With so many that differ there is no usual number to compare with."
        return [view.result("decimals", printed, statement, strength, outcome="not testable")]
    findings = [
        view.finding(
            "decimals",
            levels,
            [point for point, *_ in printed[levels]],
            f"values with {decimals_text([own[levels]])}; most values of the reading have "
            f"{decimals_text([usual])}",
            "These values may be rounded more than the others, or be estimates.",
            "Not certain: the source may print this grid so.",
            note=True,
        )
        for levels in apart
    ]
    # 47.30 that a program wrote as 47.3 looks like a value that lost a digit.
    full = [value for _, value, places in every if places == usual]
    shorter = all(cell[2] < own[levels] for levels, cells in odd.items() for cell in cells)
    dropped = number > 0 and shorter and not any(plain(value)[-1] == "0" for value in full)
    strength = "A decimal that was lost or added shows; a wrong digit doesn't."
    statement = f"{len(full)} of {many(len(every), 'value')} have {decimals_text([usual])}."
    if dropped and Fraction(9, 10) ** len(full) < CHANCE:
        statement += " None of them ends in 0, so zeros at the end were left out of the others."
        return [view.result("decimals", printed, statement, strength, findings)]
    for levels, cells in odd.items():
        if not cells:
            continue
        text = decimals_text([own[levels]])
        sure = f"The others have {text}" + (", and zeros at the end are kept." if shorter else ".")
        if dropped:
            sure = (
                f"Not certain: none of the {len(full)} values with {decimals_text([usual])} ends "
                "in 0, so zeros at the end may have been left out."
            )
        findings.append(
            view.finding(
                "decimals",
                levels,
                [point for point, *_ in cells],
                f"{of_values(len(cells), len(printed[levels]))} not printed with {text}: "
                + cells_text(view.study, [(point, plain(value)) for point, value, _ in cells]),
                "A digit or the point may have been lost or added.",
                sure,
                note=dropped,
            )
        )
    return [view.result("decimals", printed, statement, strength, findings)]


def _usual(printed: Iterable[tuple[Point, Decimal, int]]) -> int:
    """The commonest number of decimals; of several, the largest."""
    counts = Counter([places for _, _, places in printed])
    return max(counts, key=lambda places: (counts[places], places))
