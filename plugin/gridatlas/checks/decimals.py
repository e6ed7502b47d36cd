"""Values printed with other decimals than the rest of their grid or reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from gridatlas.checks.findings import CheckResult
from gridatlas.checks.reading import Kind, ReadingView, Sheet
from gridatlas.checks.register import check
from gridatlas.checks.words import CHANCE, cells_text, decimals_text, of_values, plain
from gridatlas.model.format import many, places_of
from gridatlas.model.study import Point
from gridatlas.table.decimals import FEW, Decimals

MOST_DIGITS = 6
"""Digits of a value up to which a person types it, or a figure prints it."""
BY_PERSON = (
    "Looks at values that a person typed or a figure prints: at most 6 digits, with zeros at the "
    "end. Detects a missing or extra decimal. Doesn't detect a wrong digit."
)
BY_PROGRAM = (
    "A program wrote them, with all their digits or without zeros at the end, so that decimals "
    "say nothing of mistakes. The check is for values that a person typed or a figure prints."
)


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

    def unlike(self, *places: int) -> Mapping[Kind, int]:
        """The kinds of cells with other decimals."""
        return {kind: own for kind, own in self.places.items() if own not in places}

    def cells_of(self, kinds: Mapping[Kind, int]) -> Iterator[tuple[Point, str]]:
        """The cells of some kinds with their values, row by row."""
        texts = {kind: plain(Decimal(kind.text)) for kind in kinds}
        return ((point, texts[kind]) for point, kind in self.sheet.cells_of(texts))


@check(
    kind="decimals",
    title="Number of decimals",
    says="A value with more or fewer decimals than the rest. Certain that it differs, not that it "
    "is wrong. Not for a program's values: more than 6 digits, or none ends in 0. A note where all "
    "have as many digits.",
    passing="as many decimals as in the rest of the reading",
    order=60,
)
def check_decimals(view: ReadingView) -> list[CheckResult]:
    """Values printed with other decimals than the rest of their grid or reading."""
    printed = {sheet.levels: _Printed(sheet) for sheet in view.sheets}
    every = sum((grid.times for grid in printed.values()), Counter[int]())
    if (total := every.total()) < 3:
        return []
    usual = _usual(every)
    # A grid may have its own number of decimals, if it has enough values to tell.
    own = {
        levels: _usual(grid.times) if grid.times.total() >= 3 else usual
        for levels, grid in printed.items()
    }
    # Each value counts once: where most are 100.0, a rare 98.75 isn't an exception.
    apart = [levels for levels in printed if own[levels] != usual]
    alike = Decimals.joined([grid.sheet.printed for grid in printed.values()])
    others = Decimals.joined(
        [
            grid.sheet.printed.with_other_places(own[levels], usual)
            for levels, grid in printed.items()
        ]
    )
    statement = f"The {total} values have {decimals_text(every)}."
    if others.distinct() * 5 > alike.distinct() or len(apart) * 5 > len(printed):
        strength = "Too many values differ: there is no usual number of decimals to compare with."
        return [view.result("decimals", printed, statement, strength, outcome="not testable")]
    if len(others) and _has_long(alike):
        return [view.result("decimals", printed, statement, BY_PROGRAM, outcome="not testable")]
    # Only grids of which some values differ are read value by value.
    odd = {
        levels: grid.unlike(own[levels], usual) if {*grid.times} - {own[levels], usual} else {}
        for levels, grid in printed.items()
    }
    read = printed.values() if any(odd.values()) else ()
    texts = {kind.text for grid in read for kind in grid.places}
    statement = f"{every[usual]} of {many(total, 'value')} have {decimals_text([usual])}."
    writer = _Writer.of([*map(Decimal, texts)], usual)
    if texts and writer.drops_all(every[usual]):
        statement += " None of them ends in 0."
        return [view.result("decimals", printed, statement, BY_PROGRAM, outcome="not testable")]
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
    shorter = all(
        places < own[levels] for levels, kinds in odd.items() for places in kinds.values()
    )
    doubt = writer.doubt(shorter, every[usual])
    for levels, kinds in odd.items():
        if not kinds:
            continue
        text = decimals_text([own[levels]])
        sure = f"The others have {text}" + (", with zeros at the end." if shorter else ".")
        cells = [*printed[levels].cells_of(kinds)]
        findings.append(
            view.finding(
                "decimals",
                levels,
                [point for point, _ in cells],
                f"{of_values(len(cells), printed[levels].times.total())} not printed with {text}: "
                + cells_text(view.study, cells),
                "A digit or the decimal point may be missing or extra.",
                f"Not certain: {doubt}." if doubt else sure,
                note=bool(doubt),
            )
        )
    return [view.result("decimals", printed, statement, BY_PERSON, findings)]


def _usual(times: Counter[int]) -> int:
    """The commonest number of decimals; of several, the largest."""
    return max(times, key=lambda places: (times[places], places))


def _has_long(values: Decimals) -> bool:
    """Whether a value has more digits than people type, without zeros at either end."""
    return any(
        number and len(number.normalize().as_tuple().digits) > MOST_DIGITS
        for part in (slice(FEW), slice(FEW, None))  # the first ones nearly always tell
        for number in values.exact(part)
    )


@dataclass(frozen=True, slots=True)
class _Writer:
    """What the values of a reading say of how they were written.

    Attributes:
        usual: Their usual number of decimals.
        zeros: Whether a value with as many ends in 0: 47.30 that a program wrote as 47.3 looks like
            a value that lost a digit.
        drops: Whether all could be of a program that drops zeros at the end, but that of 47.0.
        alike: Whether all could be rounded to the same number of digits: 8.32, 12.6, 126.
    """

    usual: int
    zeros: bool
    drops: bool
    alike: bool

    @classmethod
    def of(cls, values: Sequence[Decimal], usual: int) -> _Writer:
        texts = [plain(value) for value in values]
        ending = [text for text in texts if "." in text and text.endswith("0")]
        whole = any("." not in text for text in texts)
        drops = not any(places_of(Decimal(text)) > 1 for text in ending) and not (ending and whole)
        sizes = Counter(len(value.as_tuple().digits) for value in values if value)
        fitting = sizes[max(sizes, default=0)]
        return cls(
            usual,
            any(text[-1] == "0" for text in texts if places_of(Decimal(text)) == usual),
            drops,
            fitting == sizes.total() or (drops and fitting * 5 >= sizes.total() * 4),
        )

    def drops_all(self, number: int) -> bool:
        """Whether none of so many values ends in 0, as one in ten does where zeros are kept."""
        return self.usual > 0 and not self.zeros and Fraction(9, 10) ** number < CHANCE

    def doubt(self, shorter: bool, number: int) -> str:
        """Why values with other decimals may be right; empty where nothing explains them."""
        if shorter and not self.zeros:
            return (
                f"none of the {number} values with {decimals_text([self.usual])} ends in 0, so "
                "the source may drop zeros at the end"
            )
        if self.alike:
            return "all values may be rounded to the same number of digits"
        if self.drops and not self.usual:
            return "the source may drop zeros at the end"
        return ""
