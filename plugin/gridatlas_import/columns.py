"""What each column holds, and what its name says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gridatlas.model.directions import words
from gridatlas.model.format import places_of
from gridatlas.model.schema import level_key
from gridatlas.table.coded import Coded
from gridatlas_import.numerals import (
    DecimalMark,
    is_absent,
    number_text,
    odd_texts,
    plain,
    without_margin,
    without_percent,
)
from gridatlas_import.rows import RawTable
from gridatlas_import.vocabulary import COUNTS, FALSE_WORDS, SPREADS, TRUE_WORDS, UNIT

_NOTHING = frozenset(("", "-", "–", "—", "--", "N/A"))
_SIZE = re.compile(r"\d+(?:[.,]\d+)*\s?[kKMGBT]|")
_UNIT_AT_END = re.compile(rf",\s*(?:{UNIT.pattern})$")
_LEVEL = re.compile(r"(?!-0$)-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?", re.ASCII)
"""A number that is its own level."""
MOST_UNKNOWN = Decimal("0.2")
"""Share of texts up to which a column is one of numbers, and they are gaps with a reason."""

FEW_LEVELS = 6
"""Levels up to which it says nothing how often each is there."""


def plain_name(name: str) -> str:
    """A name in lower case with underscores, without a unit in brackets."""
    # Nothing is tried again behind a bracket that nothing closes: names may have thousands.
    return "_".join(words(re.sub(r"[(\[][^)\]\n]*+[)\]]", "", _UNIT_AT_END.sub("", name))))


def kind_of_count(name: str) -> str:
    """Which count a column is by its name: n, successes or stderr; empty for none."""
    called = "_".join(words(name))
    return next((kind for kind, names in COUNTS.items() if called in names), "")


@dataclass(frozen=True)
class Column:
    """A column of the table that is imported.

    Whatever is found of a text is found once for all rows that have it.
    """

    name: str
    texts: Sequence[str]
    mark: DecimalMark

    @cached_property
    def counts(self) -> Counter[str]:
        """The different texts, as they first appear, and how many rows have each."""
        return Counter(self.texts)

    @cached_property
    def odd(self) -> Set[str]:
        """The texts that aren't numbers as programs write them, which `number_of` doesn't change.

        Whatever isn't so of those numbers is looked for in these alone.
        """
        return odd_texts(self.counts) if self.mark == "point" else self.counts.keys()

    @cached_property
    def number_of(self) -> Mapping[str, str | None]:
        """Each different text as a number, without percent sign and margin; None for others."""
        odd = {
            text: number_text(without_percent(without_margin(text)[0])[0], self.mark)
            for text in self.odd
        }
        return {**dict(zip(self.counts, self.counts, strict=True)), **odd}

    @cached_property
    def numbers(self) -> list[str | None]:
        """The text of each row as a number."""
        return [*map(self.number_of.__getitem__, self.texts)]

    @cached_property
    def gaps(self) -> int:
        """How many rows have no number."""
        return sum(self.counts[text] for text in self.odd if self.number_of[text] is None)

    @cached_property
    def percents(self) -> int:
        """How many numbers have a percent sign."""
        return sum(
            self.counts[text]
            for text in self.odd
            if self.number_of[text] is not None and without_percent(without_margin(text)[0])[1]
        )

    @cached_property
    def margins(self) -> int:
        """How many numbers are followed by ± and another."""
        return sum(self.counts[text] for text in self.odd if without_margin(text)[1])

    @cached_property
    def filled(self) -> int:
        """How many texts aren't empty, or a dash for that."""
        nothing = (text for text in self.odd if plain(text) in _NOTHING)
        return len(self.texts) - sum(map(self.counts.__getitem__, nothing))

    @cached_property
    def is_metric_like(self) -> bool:
        """Whether there are numbers, and everything else says that there is no value."""
        other = [text for text in self.odd if self.number_of[text] is None]
        if len(other) == len(self.counts):
            return False
        unknown = sum(self.counts[text] for text in other if not is_absent(text))
        return not unknown or unknown <= MOST_UNKNOWN * self.filled

    @cached_property
    def are_sizes(self) -> bool:
        """Whether all texts are numbers as people print sizes, such as 28M."""
        return all(_SIZE.fullmatch(plain(text)) for text in self.counts)

    @cached_property
    def is_fractional(self) -> bool:
        """Whether a number has a decimal point."""
        return any("." in number for number in self.number_of.values() if number)

    @cached_property
    def as_numbers(self) -> bool:
        """Whether every text is a number, all or none with a percent sign, none with a margin."""
        return not self.gaps and self.percents in (0, len(self.texts)) and not self.margins

    @cached_property
    def look_set(self) -> bool:
        """Whether all are numbers that people choose: of up to two digits, but for zeros."""
        return self.as_numbers and all(
            len(value.normalize().as_tuple().digits) <= 2 for value in self.values
        )

    @cached_property
    def recurs_evenly(self) -> bool:
        """Whether most levels stand in equally many rows, as of what was set; few always do."""
        times = [*Counter(self.levels).values()]
        usual, levels = Counter(times).most_common(1)[0]
        return len(times) <= FEW_LEVELS or (usual > 1 and levels * 2 >= len(times))

    @cached_property
    def outcome_of(self) -> Mapping[str, str] | None:
        """Each different text as 1 or 0, where all are true or false, or pass or fail."""
        words = TRUE_WORDS | FALSE_WORDS | {""}
        lower: dict[str, str] = {}
        for text in self.counts:
            lower[text] = plain(text).lower()
            if lower[text] not in words:
                return None
        found = {*lower.values()} - {""}
        if not found or len(found) > 2:
            return None
        if len(found) == 2 and not (found & TRUE_WORDS and found & FALSE_WORDS):
            return None
        numbers = {"": ""} | {word: "1" if word in TRUE_WORDS else "0" for word in found}
        return {text: numbers[word] for text, word in lower.items()}

    def as_outcomes(self) -> Column:
        """The column with 1 and 0 for true and false; the same where it has others."""
        outcome_of = self.outcome_of
        if outcome_of is None:
            return self
        return Column(self.name, [*map(outcome_of.__getitem__, self.texts)], self.mark)

    @cached_property
    def level_of(self) -> Mapping[str, str]:
        """Each different text as a level of a factor; empty where there is none."""
        if self.as_numbers:
            return {text: _level(number) for text, number in self.number_of.items() if number}
        return {text: level_key(plain(text)) if plain(text) else "" for text in self.counts}

    @cached_property
    def levels(self) -> list[str]:
        """The text of each row as a level of a factor."""
        return [*map(self.level_of.__getitem__, self.texts)]

    @cached_property
    def categorical(self) -> Coded[str]:
        """The levels as codes."""
        return Coded.of(self.levels)

    @cached_property
    def distinct(self) -> list[str]:
        """The different levels, as they first appear."""
        return [level for level in dict.fromkeys(self.level_of.values()) if level]

    @cached_property
    def level_count(self) -> int:
        """How many different levels there are."""
        return self.number_count if self.as_numbers else len(self.distinct)

    @cached_property
    def written(self) -> Sequence[str]:
        """The numbers of the column, each way of writing one once."""
        return [*dict.fromkeys(filter(None, self.number_of.values()))]

    @cached_property
    def floats(self) -> NDArray[np.float64]:
        """The same as floats."""
        return np.array(self.written, np.float64)

    @cached_property
    def values(self) -> list[Decimal]:
        """The same to the letter."""
        return [*map(Decimal, self.written)]

    @cached_property
    def number_count(self) -> int:
        """How many different numbers the column has."""
        apart = len(np.unique(self.floats))
        return apart if apart == len(self.written) else len({*self.values})

    @cached_property
    def ends(self) -> tuple[Decimal, Decimal]:
        """The lowest and the highest number; 0 without any."""
        if not self.written:
            return Decimal(0), Decimal(0)
        ends = (
            np.flatnonzero(self.floats == end(self.floats)).tolist() for end in (np.min, np.max)
        )
        low, high = ([Decimal(self.written[at]) for at in places] for places in ends)
        return min(low), max(high)

    @cached_property
    def decimals(self) -> int:
        """The most decimals that a number has."""
        return max(
            places_of(Decimal(number)) if "e" in number or "E" in number
            else len(number.partition(".")[2])
            for number in ("0", *self.written)
        )  # fmt: skip

    @property
    def summary(self) -> str:
        """What it holds, in a few words."""
        if self.is_metric_like and self.written:
            (low, high), count = self.ends, self.number_count
            what = f"{count} number{'s' * (count != 1)}, {low:f} to {high:f}"
            return what + (f"; {self.gaps} without" if self.gaps else "")
        if not self.filled:
            return "nothing"
        count = self.level_count
        text = f"{count} text{'s' * (count != 1)}: {', '.join(self.distinct[:4])}"
        return text if count <= 4 and len(text) <= 48 else f"{text[:46].rstrip(', ')} …"


def _level(number: str) -> str:
    return number if _LEVEL.fullmatch(number) else level_key(number)


def column_of(table: RawTable, name: str, mark: DecimalMark = "point") -> Column:
    """A column of a table: whatever was found of its texts before isn't looked for again."""
    texts = table.columns[name]
    key = (id(texts), name, mark)  # the column keeps its texts, so that no others get their id
    found: Column = table.looked.get(key) or table.looked.setdefault(key, Column(name, texts, mark))
    return found


def joint_levels(columns: Sequence[Column]) -> list[tuple[str, ...]]:
    """The levels of each row in several columns."""
    if not columns:
        return []
    return [*zip(*(column.levels for column in columns), strict=True)]


def determines(first: Column, second: Column) -> bool:
    """Whether each level of the first column always has the same level of the second."""
    if second.number_count > len({*first.level_of.values()}):
        return False  # as of nearly all numbers that were measured
    second_of: dict[str, str] = {}
    pairs = zip(first.levels, second.levels, strict=True)
    return all(second_of.setdefault(level, other) == other for level, other in pairs)


def bare_words(name: str) -> frozenset[str]:
    """The words of a name without those of means and spreads."""
    parts = set(plain_name(name).split("_"))
    return frozenset(parts - SPREADS - {"mean", "avg", "average", "value", "score"})


def own_spread(columns: Mapping[str, Column], name: str) -> str:
    """The column with the spread of this one, as `risk_std` beside `risk_mean`; empty for none."""
    ends = {"min", "max", "median"}
    wanted = bare_words(name) - ends
    found = (
        other
        for other, column in columns.items()
        if wanted and other != name and {*plain_name(other).split("_")} & SPREADS - ends
        if column.is_metric_like and bare_words(other) == wanted
    )
    return next(found, "")
