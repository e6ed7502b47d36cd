"""Columns of which few entries differ: each different one once, and a code per row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item", bound=Hashable)
Kind = TypeVar("Kind")
Other = TypeVar("Other")
Result = TypeVar("Result")
Codes = NDArray[Any]
Bools = NDArray[np.bool_]
Rows = NDArray[np.intp]
_MOST = 2**62
"""What numbers of rows stay below."""


class Encoder(defaultdict[Item, int]):
    """Gives each distinct item the next code, from 0, when it is first looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.default_factory = self.__len__


def encode(items: Iterable[Any]) -> tuple[Codes, list[Any]]:
    """The code of each item, and the distinct items in the order in which they first stand."""
    encoder = Encoder[Any]()
    return np.fromiter(map(encoder.__getitem__, items), np.int32), [*encoder]


def taken(column: NDArray[Any], rows: Any) -> Any:
    """Rows of an array; of one that is the same in all rows, without memory for each."""
    if column.strides == (0,) and isinstance(rows, np.ndarray) and len(column):
        number = int(np.count_nonzero(rows)) if rows.dtype == np.bool_ else len(rows)
        # Of the same view, which takes far less time than another.
        return column[:number] if number <= len(column) else np.broadcast_to(column[0], number)
    return column[rows]


def concatenated(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The rows of all arrays; where all are the same, without memory for each."""
    first = columns[0]
    if len(columns) == 1:
        return first
    if all(column.strides == (0,) and len(column) for column in columns):
        kinds = [column[0] for column in columns]
        if all(kind == kinds[0] for kind in kinds) or np.isnan(kinds).all():
            return np.broadcast_to(kinds[0], sum(map(len, columns)))
    return np.concatenate(columns)


@dataclass(frozen=True, slots=True, eq=False)
class Coded(Generic[Kind]):
    """Entries of which few differ: what is done to one is done once, however many rows have it.

    Attributes:
        codes: Of each row, the place of its entry in `kinds`.
        kinds: The entries. Two of them may be equal: 1.0 and 1.00 are two.
    """

    codes: Codes
    kinds: Sequence[Kind]

    @classmethod
    def of(cls, items: Iterable[Any]) -> Coded[Any]:
        """The entries of a column, equal ones as one; kinds as they first stand."""
        return cls(*encode(items))

    @classmethod
    def constant(cls, kind: Kind, rows: int) -> Coded[Kind]:
        """The same entry in each row; it takes no memory."""
        return cls(np.broadcast_to(np.int32(0), rows), [kind])

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[Kind]:
        return map(self.kinds.__getitem__, self.codes.tolist())

    @overload
    def __getitem__(self, row: int | np.intp) -> Kind: ...
    @overload
    def __getitem__(self, row: slice | list[int] | Rows | Bools | Codes) -> Coded[Kind]: ...
    def __getitem__(self, row: Any) -> Any:
        """The entry of a row; or the column of some rows, with all kinds."""
        found = taken(self.codes, row)
        return Coded(found, self.kinds) if isinstance(found, np.ndarray) else self.kinds[found]

    def as_coded(self) -> Coded[Kind]:
        """Itself."""
        return self

    def map(self, change: Callable[[Kind], Other]) -> Coded[Other]:
        """The column with each kind changed."""
        return Coded(self.codes, [*map(change, self.kinds)])

    def merged(self) -> Coded[Kind]:
        """The column with equal kinds as one."""
        codes, kinds = encode(self.kinds)
        if len(kinds) == len(self.kinds):
            return self
        if len(kinds) == 1:
            return Coded.constant(kinds[0], len(self))
        return Coded(codes[self.codes], kinds)

    def are(self, wanted: Callable[[Kind], object]) -> Bools:
        """For each row whether its entry is wanted."""
        of_kinds = np.fromiter((bool(wanted(kind)) for kind in self.kinds), np.bool_)
        return of_kinds[self.codes] if len(of_kinds) else np.zeros(len(self), np.bool_)

    @classmethod
    def joined(cls, columns: Sequence[Coded[Kind]]) -> Coded[Kind]:
        """The rows of all columns, equal kinds as one."""
        codes, kinds = encode(kind for column in columns for kind in column.kinds)
        if len(kinds) == 1:
            return cls.constant(kinds[0], sum(map(len, columns)))
        parts, start = [], 0
        for column in columns:
            own = codes[start : start + len(column.kinds)]
            parts.append(own[column.codes] if len(own) else column.codes)
            start += len(own)
        return cls(np.concatenate(parts), kinds)

    def pair(self, other: Coded[Other], join: Callable[[Kind, Other], Result]) -> Coded[Result]:
        """What two columns together make of each row; of each pair of kinds once."""
        codes, pairs = combine([self, other])
        return Coded(codes, [join(*pair) for pair in pairs])

    def take(self) -> Coded[Kind]:
        """The column with only those kinds that a row has, as they first stand."""
        codes, kinds = encode(self.codes.tolist())
        return Coded(codes, [*map(self.kinds.__getitem__, kinds)])

    def row_of(self, kind: Kind) -> int:
        """The first row with this entry; ValueError where none has it."""
        return int(np.argmax(self.codes == self.kinds.index(kind)))


def numbered(columns: Sequence[Coded[Any]]) -> NDArray[np.int64]:
    """A number for each row: rows have the same one where they have the same kind in each column.

    Args:
        columns: At least one.
    """
    numbers, most = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        most *= max(1, len(column.kinds))
        if most > _MOST:
            kinds, numbers = np.unique(numbers, return_inverse=True)
            most = len(kinds) * max(1, len(column.kinds))
        numbers = numbers * max(1, len(column.kinds)) + column.codes
    return numbers


def combine(columns: Sequence[Coded[Any]]) -> tuple[Codes, list[tuple[Any, ...]]]:
    """The code of each row in several columns, and the entries of the distinct rows.

    Args:
        columns: At least one.
    """
    codes, rows = encode(numbered(columns).tolist())
    first = np.zeros(len(rows), np.intp)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return codes, [*zip(*(column[first] for column in columns), strict=True)]
