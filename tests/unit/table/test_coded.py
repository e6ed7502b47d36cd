"""Columns by codes say what the entries of their rows say."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gridatlas.table.coded import Coded, combine, concatenated, encode, numbered, taken

TEXTS = st.lists(st.sampled_from(["a", "A", "b", "", " a"]))
ROWS = st.lists(st.tuples(*[st.sampled_from(["a", "b", "c"])] * 3))


@given(TEXTS)
def test_a_column_has_its_texts_in_their_order(texts):
    column = Coded.of(texts)
    assert [*column] == texts
    assert [*column[1:]] == texts[1:]
    assert [column[row] for row in range(len(column))] == texts
    assert column.kinds == [*dict.fromkeys(texts)]
    assert [column.row_of(text) for text in column.kinds] == [*map(texts.index, column.kinds)]
    assert column.are("a".__eq__).tolist() == [text == "a" for text in texts]


@given(TEXTS, st.data())
def test_some_rows_have_the_texts_that_stand_in_them(texts, data):
    rows = data.draw(st.lists(st.sampled_from(range(len(texts))))) if texts else []
    taken_rows = Coded.of(texts)[np.array(rows, np.intp)]
    assert [*taken_rows] == [texts[row] for row in rows]


@given(TEXTS)
def test_texts_that_a_change_makes_one_are_one_once_merged(texts):
    changed = [text.strip().lower() for text in texts]
    column = Coded.of(texts).map(lambda text: text.strip().lower())
    assert [*column] == [*column.merged()] == changed
    assert len(column.kinds) == len({*texts})
    assert column.merged().kinds == [*dict.fromkeys(changed)]


@given(TEXTS, TEXTS)
def test_columns_that_are_joined_have_the_rows_of_both(first, second):
    joined = Coded.joined([Coded.of(first), Coded.of(second)])
    assert [*joined] == [*first, *second]
    assert joined.kinds == [*dict.fromkeys([*first, *second])]


@given(ROWS)
def test_rows_are_told_apart_by_all_columns(rows):
    columns = [*map(Coded.of, zip(*rows, strict=True))] or [Coded.of(())]
    codes, distinct = combine(columns)
    assert [distinct[code] for code in codes] == rows
    assert distinct == [*dict.fromkeys(rows)]
    assert [*codes] == [*encode(numbered(columns).tolist())[0]]
    if rows:
        paired = columns[0].pair(columns[1], lambda lone, other: lone + other)
        assert [*paired] == [row[0] + row[1] for row in rows]


def test_rows_are_told_apart_where_there_are_more_combinations_than_numbers():
    columns = [Coded(np.arange(4) % 2, range(2**20)) for _ in range(5)]
    assert [*encode(numbered(columns).tolist())[0]] == [0, 1, 0, 1]


def test_what_is_the_same_in_all_rows_takes_no_memory():
    column = Coded.constant("a", 1_000_000)
    for codes in (column.codes, column[np.arange(9)].codes, taken(column.codes, np.ones(9, bool))):
        assert codes.strides == (0,)
    joined = concatenated([column.codes, column.codes])
    assert (joined.strides, len(joined)) == ((0,), 2_000_000)
    nan = np.broadcast_to(np.nan, 2)
    assert concatenated([nan, nan]).strides == (0,)
    assert concatenated([nan, np.broadcast_to(1.0, 1)])[2] == 1.0
    assert [*Coded.constant("", 0)] == []
