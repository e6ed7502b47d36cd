"""Cells as columns: to the letter, a mapping like a dict of them, and grid by grid."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gridatlas.model.study import NO_AXIS, Cell, Factor, Level
from gridatlas.table.decimals import ODD, Decimals, Numerals
from gridatlas.table.study_table import Columns, StudyTable

NUMBERS = st.none() | st.decimals(allow_nan=False, allow_infinity=False).filter(
    lambda number: abs(number.adjusted()) <= 300
)
LETTERS = [
    "1.0",
    "1.00",
    "-0.0",
    "1E+3",
    "1e-7",
    "0.1",
    "0.10000000000000001",
    "12345678.9012345678",
]


def axis(name, keys):
    return Factor(name, name, "", tuple(Level(key, key, key) for key in keys.split()))


def letters(numbers):
    return [*map(str, numbers)]


@given(st.lists(NUMBERS))
@example([*map(Decimal, LETTERS), None])
def test_numbers_come_back_to_the_letter(numbers):
    column = Decimals.of(numbers)
    assert letters(column.exact()) == letters(numbers)
    assert letters([*column.kinds()]) == letters(numbers)
    assert column.defined.tolist() == [number is not None for number in numbers]
    texts = letters([*column.kinds().kinds])
    assert len(texts) == len({*texts})
    twice = Decimals.joined([column, Decimals.none(1), column])
    assert letters(twice.exact()) == letters([*numbers, None, *numbers])
    backwards = column[np.arange(len(numbers))[::-1]]
    assert letters(backwards.exact()) == letters(numbers[::-1])


def test_few_numbers_are_kept_otherwise_than_as_a_float_with_decimals():
    assert [place == ODD for place in Decimals.of(map(Decimal, LETTERS)).places] == [
        *(False, False, False, True, True, False, False, True)
    ]


@given(st.lists(NUMBERS | st.floats(-1e4, 1e4).map(repr).map(Decimal)))
@example([Decimal("0.1234567890123456789"), Decimal("1E+3")])
def test_numbers_are_whole_multiples_of_the_last_decimal(numbers):
    units, places = Decimals.of(numbers).units()
    assert units == [int(Fraction(number or 0) * 10**places) for number in numbers]
    assert [Fraction(unit, 10**places) for unit in units] == [
        *map(Fraction, (n or 0 for n in numbers))
    ]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.text()))
@example(["1.0", " 1.00 ", "", "nan", "inf", "1e400", "5.", "007", "1_0", "-0"])
@example(["2.5", "2.5", "2.50", "-0.0", "0.0", "0", "x", "x"])
def test_texts_that_are_nearly_all_numbers_come_back_to_the_letter(texts):
    column = Numerals()
    for start in range(0, len(texts), 2):
        column.extend(texts[start : start + 2], str.strip)
    # What is plain stands as in the file, with no spaces; all else as it is cleaned.
    assert [*column] == [*map(str.strip, texts)]
    assert [*column.as_coded()] == [*column]
    assert column.kinds == len({*column})


GIVEN = {
    (("b",), ("3", "9")): Cell(Decimal("1.0"), "ok", "r", n=5, successes=1, line=2),
    (("a",), ("1", "8")): Cell(
        Decimal("2.0"), "disputed", note="?", stderr=Decimal("0.10"), line=3
    ),
    (("b",), ("1", "8")): Cell(None, "missing", line=4),
    (("b",), ("2", "9")): Cell(
        Decimal(1) / 3,
        "ok",
        line=5,
        repeats=3,
        ends=(Decimal("0.1"), Decimal(1)),
        spread=Decimal(2),
    ),
}
X, Y, FACET = axis("x", "1 2 3"), axis("y", "8 9"), axis("f", "a b")


@pytest.mark.parametrize(
    ("facets", "y", "given"),
    [
        ([FACET], Y, GIVEN),
        ([FACET], Y, {}),
        ([], NO_AXIS, {((), ("1", "")): Cell(None, "oom")}),
        ([FACET, FACET], Y, {(("a", "b"), ("1", "8")): Cell(None, "oom")}),
    ],
)
def test_they_are_a_mapping_like_a_dict_in_the_order_of_lines(facets, y, given):
    cells = StudyTable.of(facets, X, y, given)
    assert len(cells) == len(given)
    assert [*cells] == [*cells.keys()] == [*given]
    assert [*cells.values()] == [*given.values()]
    assert [*cells.items()] == [*given.items()]
    assert [cells[at] for at in given] == [*given.values()]
    assert cells == given


def test_a_place_without_a_cell_is_not_in_them():
    cells = StudyTable.of([FACET], X, Y, GIVEN)
    for at in [(("a",), ("2", "8")), (("c",), ("2", "8")), (("a",), ("7", "8"))]:
        assert at not in cells
        assert cells.get(at) is None
        with pytest.raises(KeyError):
            cells[at]


def test_each_grid_is_a_slice_in_the_order_of_its_levels():
    cells = StudyTable.of([FACET], X, Y, GIVEN)
    assert cells.grids == (("a",), ("b",))
    own = cells.columns[cells.rows(("b",))]
    assert own.value.exact() == [None, None, None, None, Decimal(1) / 3, Decimal("1.0")]
    assert own.state.tolist() == [1, -1, -1, -1, 0, 0]
    assert np.shares_memory(own.value.floats, cells.columns.value.floats)


def test_columns_without_anything_known_take_no_memory():
    columns = Columns.empty(1_000_000)[np.arange(10)]
    assert columns.n.strides == columns.value.floats.strides == (0,)
    assert StudyTable.of([FACET], X, Y, {}).grids == ()


def test_statistics_get_a_row_per_cell():
    table = StudyTable.of([FACET], X, Y, GIVEN).long()
    rows = [*zip(*(table[name].tolist() for name in ("grid", "y", "x", "n", "k")), strict=True)]
    assert rows[0] == (0, 0, 0, -1, -1)
    assert rows[-1] == (1, 1, 2, 5, 1)
    assert table["value"][[0, -1]].tolist() == [2.0, 1.0]
    assert table["stderr"][0] == 0.1
    assert table["state"].tolist() == [4, -1, -1, -1, -1, -1, 1, -1, -1, -1, 0, 0]


def test_equal_numbers_have_one_code_however_they_are_printed():
    few = [*map(Decimal, ["1.0", "1.00", "2", "1"]), None]
    assert Decimals.of(few).equal().tolist() == [1, 1, 2, 1, 0]
    many = Decimals.of(few * 500).equal()
    assert many.tolist() == [1, 1, 2, 1, 0] * 500
    alike = [Decimal("0.1"), Decimal("0.10000000000000001"), Decimal("0.1000")] * 500
    lone, other, same = Decimals.of(alike).equal()[:3].tolist()
    assert lone == same != other
    different = [*map(Decimal, range(2_000)), None]
    assert len({*Decimals.of(different).equal().tolist()}) == 2_001


def test_the_ends_of_numbers_that_one_float_is_nearest_to():
    near = [Decimal("0.1"), Decimal("0.10000000000000001"), Decimal("0.09999999999999999999"), None]
    assert Decimals.of(near).ends == (near[2], near[1])
    assert Decimals.of([None]).ends == ()
