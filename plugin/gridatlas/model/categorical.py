"""Columns of texts as categorical data: each distinct text once, and a code per row."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, count, repeat
from operator import add, mul
from typing import TypeVar, overload

Item = TypeVar("Item", bound=Hashable)


class Encoder(defaultdict[Item, int]):
    """Gives each distinct item the next code, from 0, when it is first looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.default_factory = self.__len__


def encode(items: Iterable[Item]) -> tuple[array[int], list[Item]]:
    """The code of each item, and the distinct items in the order in which they first stand."""
    encoder = Encoder[Item]()
    return array("i", map(encoder.__getitem__, items)), [*encoder]


@dataclass(frozen=True, slots=True, eq=False)
class Categorical(Sequence[str]):
    """Texts of which few differ: what is done to a text is done once, however many rows have it.

    Attributes:
        codes: Of each row, the place of its text in `categories`.
        categories: The distinct texts, in the order in which they first stand in a row.
    """

    codes: array[int]
    categories: Sequence[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Categorical:
        """The texts of a column."""
        return cls(*encode(texts))

    @classmethod
    def constant(cls, text: str, rows: int) -> Categorical:
        """The same text in each row."""
        return cls(array("i", [0]) * rows, [text] if rows else [])

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[str]:
        return map(self.categories.__getitem__, self.codes)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Categorical: ...
    def __getitem__(self, row: int | slice) -> str | Categorical:
        if isinstance(row, slice):
            return self.take(range(len(self))[row])
        return self.categories[self.codes[row]]

    def map(self, change: Callable[[str], str]) -> Categorical:
        """The column with each distinct text changed; some may then be one."""
        changed = [*map(change, self.categories)]
        if changed == self.categories:
            return self
        codes, categories = encode(changed)
        if len(categories) == len(self.categories):
            return Categorical(self.codes, categories)
        return Categorical(array("i", map(codes.__getitem__, self.codes)), categories)

    def at(self, rows: Sequence[int]) -> Iterator[str]:
        """The texts of some rows."""
        if len(self.categories) == 1:
            return repeat(self.categories[0], len(rows))
        return map(self.categories.__getitem__, map(self.codes.__getitem__, rows))

    def take(self, rows: Sequence[int]) -> Categorical:
        """The column of some rows, with the texts that stand in these."""
        if rows == range(len(self)):
            return self
        codes, categories = encode(map(self.codes.__getitem__, rows))
        return Categorical(codes, [*map(self.categories.__getitem__, categories)])

    def row_of(self, text: str) -> int:
        """The first row with this text; ValueError where none has it."""
        return self.codes.index(self.categories.index(text))


def rows_with(codes: Sequence[int], wanted: Collection[int]) -> Iterator[int]:
    """The rows with one of these codes, in their order."""
    wanted = {*wanted}
    return compress(count(), map(wanted.__contains__, codes)) if wanted else iter(())


def numbered(columns: Sequence[Categorical]) -> Iterator[int]:
    """A number for each row: rows have the same one where they have the same text in each column.

    Args:
        columns: At least one.
    """
    first, *others = columns
    numbers: Iterator[int] = iter(first.codes)
    for column in others:
        shifted = map(mul, numbers, repeat(len(column.categories)))
        numbers = map(add, shifted, column.codes)
    return numbers


def combine(columns: Sequence[Categorical]) -> tuple[Sequence[int], list[tuple[str, ...]]]:
    """The code of each row in several columns, and the texts of the distinct rows.

    Args:
        columns: At least one.
    """
    varied = [column for column in columns if len(column.categories) > 1] or columns[:1]
    if len(varied) == 1:
        codes: Sequence[int] = varied[0].codes
        rows = [(code,) for code in range(len(varied[0].categories))]
    else:
        codes, rows = encode(zip(*(column.codes for column in varied), strict=True))
    codes_of = dict(zip(map(id, varied), zip(*rows, strict=True), strict=False))
    texts = (
        map(column.categories.__getitem__, codes_of.get(id(column)) or repeat(0, len(rows)))
        for column in columns
    )
    return codes, [*zip(*texts, strict=True)]
