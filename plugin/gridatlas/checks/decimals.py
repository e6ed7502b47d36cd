"""Values printed with other decimals than the rest of their grid or reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from gridatlas.checks.findings import CheckResult
from gridatlas.checks.reading import Kind, ReadingView, Sheet
from gridatlas.checks.words import CHANCE, cells_text, decimals_text, of_values, plain
from gridatlas.model.format import many, places_of
from gridatlas.model.study import Levels, Point


@dataclass(frozen=True)
class _Printed:
    """The values of a grid that were printed, by their decimals."""

    sheet: Sheet

    @cached_property
    def places(self) -> Mapping[Kind, int]:
        """The decimals of each kind of cells."""
        kinds = [kind for kind in self.sheet.kinds if not kind.computed]
        return {kind: places_of(Decimal(kind.text)) for kind in kinds}

    @cached_property
    def times(self) -> Counter[int]:
        """How many values have so many decimals."""
        return self.sheet.printed_places

    def unlike(self, places: int) -> Mapping[Kind, int]:
        """The kinds of cells with other decimals."""
        return {kind: own for kind, own in self.places.items() if own != places}

    def cells_of(self, kinds: Mapping[Kind, int]) -> Iterator[tuple[Point, str]]:
        """The cells of some kinds with their values, row by row."""
        texts = {kind: plain(Decimal(kind.text)) for kind in kinds}
        return ((point, texts[kind]) for point, kind in self.sheet.cells_of(texts))


def check_decimals(view: ReadingView) -> list[CheckResult]:
    """Values printed with other decimals than the rest of their grid or reading."""
    printed = {sheet.levels: _Printed(sheet) for sheet in view.sheets}
    every = sum((grid.times for grid in printed.values()), Counter[int]())
    total = every.total()
    if total < 3:
        return []
    usual = _usual(every)
    # A grid may have its own number of decimals, if it has enough values to tell.
    own = {
        levels: _usual(grid.times) if grid.times.total() >= 3 else usual
        for levels, grid in printed.items()
    }
    number = sum(grid.times.total() - grid.times[own[at]] for at, grid in printed.items())
    apart = [levels for levels in printed if own[levels] != usual]
    if number * 5 > total or len(apart) * 5 > len(printed):
        statement = f"The {total} values have {decimals_text(every)}."
        strength = "Too many values differ: there is no usual number of decimals to compare with."
        return [view.result("decimals", printed, statement, strength, outcome="not testable")]
    findings = [
        view.finding(
            "decimals",
            levels,
            [point for point, _ in printed[levels].cells_of(printed[levels].places)],
            f"the values have {decimals_text([own[levels]])}; most values of the reading have "
            f"{decimals_text([usual])}",
            "These values may be rounded more than the others, or estimated.",
            "Not certain: the source may print this grid that way.",
            note=True,
        )
        for levels in apart
    ]
    odd = {
        levels: grid.unlike(own[levels]) if {*grid.times} - {own[levels]} else {}
        for levels, grid in printed.items()
    }
    shorter = all(
        places < own[levels] for levels, kinds in odd.items() for places in kinds.values()
    )
    dropped = number > 0 and shorter and not _keeps_zeros(printed, usual)
    strength = "Detects a missing or extra decimal. Doesn't detect a wrong digit."
    statement = f"{every[usual]} of {many(total, 'value')} have {decimals_text([usual])}."
    if dropped and Fraction(9, 10) ** every[usual] < CHANCE:
        statement += " None of them ends in 0, so the source seems to drop zeros at the end."
        return [view.result("decimals", printed, statement, strength, findings)]
    for levels, kinds in odd.items():
        if not kinds:
            continue
        text = decimals_text([own[levels]])
        sure = f"The others have {text}" + (", with zeros at the end." if shorter else ".")
        if dropped:
            sure = (
                f"Not certain: none of the {every[usual]} values with {decimals_text([usual])} "
                "ends in 0, so the source may drop zeros at the end."
            )
        cells = [*printed[levels].cells_of(kinds)]
        findings.append(
            view.finding(
                "decimals",
                levels,
                [point for point, _ in cells],
                f"{of_values(len(cells), printed[levels].times.total())} not printed with {text}: "
                + cells_text(view.study, cells),
                "A digit or the decimal point may be missing or extra.",
                sure,
                note=dropped,
            )
        )
    return [view.result("decimals", printed, statement, strength, findings)]


def _usual(times: Counter[int]) -> int:
    """The commonest number of decimals; of several, the largest."""
    return max(times, key=lambda places: (times[places], places))


def _keeps_zeros(printed: Mapping[Levels, _Printed], usual: int) -> bool:
    """Whether a value with the usual decimals ends in 0.

    47.30 that a program wrote as 47.3 looks like a value that lost a digit.
    """
    return any(
        plain(Decimal(kind.text))[-1] == "0"
        for grid in printed.values()
        for kind, places in grid.places.items()
        if places == usual
    )
