"""Columns of decimal numbers as printed: floats with their decimals, which give nearly all back."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridatlas.model.format import places_of
from gridatlas.table.coded import Bools, Coded, Codes, Encoder, Rows, concatenated, encode, taken

Floats = NDArray[np.float64]
Int8 = NDArray[np.int8]
NONE, ODD = -1, -2
"""Stand in place of decimals: of no number, and of one that is printed otherwise."""
MOST_PLACES = 100
LARGEST = 1e300
FEW = 1_000
"""Numbers up to which they are sooner compared one by one."""
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_TENS = np.array([float(10**power) for power in range(19)])
"""Powers of ten that are floats, and whole numbers of 64 bits."""
_print = "%.*f".__mod__


def _places(text: str) -> int:
    """Decimals of a text, if it is digits and a point."""
    return len(text.partition(".")[2])


def _is_plain(text: str, value: float, places: int) -> bool:
    """Whether the float with so many decimals is the text again."""
    return abs(value) < LARGEST and places <= MOST_PLACES and _print((places, value)) == text


@dataclass(frozen=True, slots=True, eq=False)
class Decimals:
    """A number per row, to the letter: `Decimal("1.0")` and `Decimal("1.00")` are two.

    Attributes:
        floats: The nearest floats; nan where there is no number.
        places: Decimals as printed, `NONE` or `ODD`.
        odd: The numbers that a float and its decimals don't give back, None for all others; None
            where there is no such number.
    """

    floats: Floats
    places: Int8
    odd: NDArray[Any] | None = None

    @classmethod
    def of(cls, numbers: Iterable[Decimal | None]) -> Decimals:
        """The numbers of a column; None where there is none."""
        given = [*numbers]
        floats = np.full(len(given), math.nan)
        places = np.full(len(given), NONE, np.int8)
        odd = np.empty(len(given), object)
        rows = [row for row, number in enumerate(given) if number is not None]
        texts = [str(given[row]) for row in rows]
        floats[rows] = values = [*map(float, texts)]
        for row, text, value in zip(rows, texts, values, strict=True):
            decimals = _places(text)
            plain = "E" not in text and _is_plain(text, value, decimals)
            places[row] = decimals if plain else ODD
            if not plain:
                odd[row] = given[row]
        return cls(floats, places, odd if (places == ODD).any() else None)

    @classmethod
    def none(cls, rows: int) -> Decimals:
        """No number in any row; it takes no memory."""
        return cls(np.broadcast_to(math.nan, rows), np.broadcast_to(np.int8(NONE), rows))

    @classmethod
    def coded(cls, column: Coded[Decimal | None]) -> Decimals:
        """The numbers of a column of codes."""
        return cls.of(column.kinds)[column.codes] if len(column.kinds) else cls.none(0)

    def __len__(self) -> int:
        return len(self.floats)

    def __getitem__(self, rows: slice | list[int] | Rows | Bools | Codes) -> Decimals:
        odd = None if self.odd is None else self.odd[rows]
        return Decimals(taken(self.floats, rows), taken(self.places, rows), odd)

    def __iter__(self) -> Iterator[Decimal | None]:
        return iter(self.exact())

    @property
    def defined(self) -> Bools:
        """For each row whether it has a number."""
        return np.not_equal(self.places, NONE)

    @property
    def odd_numbers(self) -> Sequence[Decimal]:
        """The numbers that are odd."""
        return [] if self.odd is None else self.odd[self.places == ODD].tolist()

    @property
    def most_places(self) -> int:
        """The most decimals of a number; 0 without any."""
        return max([0, int(self.places.max(initial=0)), *map(places_of, self.odd_numbers)])

    @property
    def ends(self) -> Sequence[Decimal]:
        """The lowest and the highest number; nothing without any."""
        if not self.defined.any():
            return ()
        ends = (np.nanmin(self.floats), np.nanmax(self.floats))
        near = (self[np.flatnonzero(self.floats == end)] for end in ends)
        low, high = ([number for number in numbers if number is not None] for numbers in near)
        return min(low), max(high)

    def mean(self) -> Decimal:
        """The arithmetic mean of at least one number."""
        units, places = self.units()
        return Decimal(sum(units)).scaleb(-places) / int(self.defined.sum())

    def equal(self) -> Codes:
        """For each row a code, the same for equal numbers, as 1.0 and 1.00 are; 0 for none."""
        if len(self) < FEW:
            code_of = Encoder[Decimal | None]()
            code_of[None] = 0
            return np.fromiter(map(code_of.__getitem__, self.exact()), np.int32)
        _, codes = np.unique(self.floats, return_inverse=True)
        numbers = codes * (MOST_PLACES + 3) + self.places
        if self.odd is None and _different(numbers) == codes.max() + 1:
            return np.where(self.defined, codes + 1, 0)
        kinds = self.kinds()
        own, _ = encode(kinds.kinds)
        return own[kinds.codes]

    def at(self, row: int) -> Decimal | None:
        """The number of a row."""
        places = int(self.places[row])
        if places >= 0:
            return Decimal(_print((places, float(self.floats[row]))))
        return None if self.odd is None else self.odd[row]

    def exact(self, rows: slice = slice(None)) -> list[Decimal | None]:
        """The numbers of rows, to the letter."""
        places, floats = self.places[rows], self.floats[rows]
        if not len(places) or places.min() >= 0:
            return [*map(Decimal, map(_print, zip(places.tolist(), floats.tolist(), strict=True)))]
        if places.max() == NONE and places.min() == NONE:
            return [None] * len(places)
        odd = [None] * len(places) if self.odd is None else self.odd[rows].tolist()
        pairs = zip(places.tolist(), floats.tolist(), odd, strict=True)
        return [Decimal(_print((at, value))) if at >= 0 else number for at, value, number in pairs]

    def units(self) -> tuple[list[int], int]:
        """The numbers as whole multiples of a power of ten; 0 where there is none.

        Returns:
            The multiples by row, and the decimals that their unit has: the most of any number.
        """
        most, places = self.most_places, np.clip(self.places, 0, len(_TENS) - 1)
        tens, floats = _TENS[places], np.nan_to_num(self.floats)
        plain = (self.places < len(_TENS)) & (self.places != ODD) & (abs(floats) < 2.0**62 / tens)
        floats[~plain] = 0
        own = np.rint(product := floats * tens)
        rest = np.rint(product - own + _lost(floats, tens, product))
        units = (own.astype(np.int64) + rest.astype(np.int64)).astype(object)
        units *= np.array([10 ** max(most - at, 0) for at in range(len(_TENS))], object)[places]
        units[~plain] = [int(it.scaleb(most, _EXACT)) if it else 0 for it in self[~plain]]
        return units.tolist(), most

    def kinds(self) -> Coded[Decimal | None]:
        """The numbers as codes of the different ones; None has the code 0."""
        codes = np.zeros(len(self), np.int32)
        plain = np.flatnonzero(self.places >= 0)
        _, first, own = np.unique(self._numbered(plain), return_index=True, return_inverse=True)
        codes[plain] = own + 1
        kinds: list[Decimal | None] = [None, *self[plain[first]].exact()]
        if self.odd is not None:
            rows = np.flatnonzero(self.places == ODD)
            others, texts = encode(map(str, self.odd[rows]))
            codes[rows] = others + len(kinds)
            kinds += map(Decimal, texts)
        return Coded(codes, kinds)

    def _numbered(self, plain: NDArray[np.intp]) -> NDArray[np.int64]:
        """A number for each of some rows, equal where these are printed alike."""
        _, bits = np.unique(self.floats[plain].view(np.int64), return_inverse=True)
        return bits * (MOST_PLACES + 1) + self.places[plain]

    def with_other_places(self, *places: int) -> Decimals:
        """The numbers that have other decimals."""
        other = self.defined & ~np.isin(self.places, places)
        for row in np.flatnonzero(self.places == ODD).tolist():
            other[row] = places_of(self.at(row) or Decimal(0)) not in places
        return self[other]

    def distinct(self) -> int:
        """How many different texts it has."""
        plain = _different(self._numbered(np.flatnonzero(self.places >= 0)))
        return plain + len({*map(str, self.odd_numbers)})

    def map(self, change: Callable[[Decimal], Decimal | None]) -> Decimals:
        """The column with each number changed."""
        kinds = self.kinds()
        return Decimals.coded(kinds.map(lambda it: None if it is None else change(it)))

    def or_else(self, others: Decimals) -> Decimals:
        """The column with the numbers of another where it has none."""
        rows = np.flatnonzero(~self.defined & others.defined).tolist()
        return self.replaced(rows, others[rows])

    def replaced(self, rows: Sequence[int], numbers: Iterable[Decimal | None]) -> Decimals:
        """The column with other numbers in some rows."""
        if not rows:
            return self
        new = numbers if isinstance(numbers, Decimals) else Decimals.of(numbers)
        floats, places = self.floats.copy(), self.places.copy()
        floats[[*rows]], places[[*rows]] = new.floats, new.places
        odd = np.empty(len(self), object) if self.odd is None else self.odd.copy()
        odd[[*rows]] = np.empty(len(rows), object) if new.odd is None else new.odd
        return Decimals(floats, places, odd)

    @classmethod
    def joined(cls, columns: Sequence[Decimals]) -> Decimals:
        """The rows of all columns."""
        odd = None
        if any(column.odd is not None for column in columns):
            gaps = (np.empty(len(column), object) for column in columns)
            each = zip(columns, gaps, strict=True)
            odd = np.concatenate([gap if of.odd is None else of.odd for of, gap in each])
        floats = concatenated([column.floats for column in columns])
        return cls(floats, concatenated([column.places for column in columns]), odd)


def middle(columns: Iterable[Decimals]) -> float:
    """The median size of the numbers that aren't 0; 1 without any."""
    sizes = np.abs(np.concatenate([[], *(column.floats for column in columns)]))
    sizes = sizes[sizes > 0]
    return float(np.median(sizes)) if len(sizes) else 1.0


def _different(numbers: NDArray[np.int64]) -> int:
    """How many different numbers there are; sorted, in a tenth of the time that hashes take."""
    return int(np.count_nonzero(np.diff(np.sort(numbers)))) + bool(len(numbers))


def _lost(first: Floats, second: Floats, product: Floats) -> Floats:
    """What rounding took from the product of floats (Dekker 1971)."""
    high, other = (of * (2.0**27 + 1) - (of * (2.0**27 + 1) - of) for of in (first, second))
    low, rest = first - high, second - other
    return high * other - product + high * rest + low * other + low * rest


class Numerals:
    """The texts of a column that is numbers, of which nearly each is another.

    Attributes:
        odd: The texts, by row, that a float and its decimals don't give back.
    """

    def __init__(self) -> None:
        self.floats, self.places = array("d"), array("b")
        self.odd: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self.floats)

    def __iter__(self) -> Iterator[str]:
        pairs = enumerate(zip(self.places, self.floats, strict=True))
        return (_print(pair) if pair[0] >= 0 else self.odd[row] for row, pair in pairs)

    def extend(self, texts: Sequence[str], clean: Callable[[str], str]) -> None:
        """Add texts, some at a time.

        Args:
            clean: What is done to a text.
        """
        places = [len(text.partition(".")[2]) for text in texts]
        try:
            floats = [*map(float, texts)]
            plain = max(places) <= MOST_PLACES and sum(map(abs, floats)) < LARGEST
            again = [*map(_print, zip(places, floats, strict=True))] if plain else []
        except ValueError:
            again = []
        if again == [*texts]:
            self.floats.extend(floats)
            self.places.extend(places)
            return
        for text in map(clean, texts):
            try:
                value = float(text)
            except ValueError:
                value = math.nan
            plain = _is_plain(text, value, _places(text))
            if not plain:
                self.odd[len(self.floats)] = text
            self.floats.append(value if plain else math.nan)
            self.places.append(_places(text) if plain else ODD)

    def __getitem__(self, rows: NDArray[np.intp]) -> Coded[str]:
        """The texts of some rows as codes."""
        pairs = ((row, (self.places[row], self.floats[row])) for row in rows.tolist())
        return Coded.of(_print(pair) if pair[0] >= 0 else self.odd[row] for row, pair in pairs)

    @property
    def kinds(self) -> int:
        """How many texts there are: counted in a tenth of the time that codes take."""
        places = np.array(self.places)
        plain, bits = places != ODD, np.array(self.floats).view(np.int64)  # 0.0 isn't −0.0
        order = np.flatnonzero(plain)[np.lexsort((places[plain], bits[plain]))]
        changes = (np.diff(bits[order]) != 0) | (np.diff(places[order]) != 0)
        return int(changes.sum()) + bool(len(order)) + len({*self.odd.values()})

    def as_coded(self) -> Coded[str]:
        """The texts as codes."""
        return Coded.of(self)

    def are(self, wanted: Callable[[str], object]) -> Bools:
        """For each row whether its text is odd, and wanted."""
        found = np.zeros(len(self), np.bool_)
        found[[row for row, text in self.odd.items() if wanted(text)]] = True
        return found


def numbers_of(
    column: Coded[str] | Numerals, number_of: Callable[[str], Decimal | None]
) -> Decimals:
    """The numbers of a column of texts; `number_of` gives None for a text that is none."""
    if isinstance(column, Coded):
        return Decimals.coded(column.map(number_of))
    plain = Decimals(np.array(column.floats), np.array(column.places))
    return plain.replaced([*column.odd], [*map(number_of, column.odd.values())])
