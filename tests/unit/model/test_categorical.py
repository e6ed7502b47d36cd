"""Columns by codes say what the texts of their rows say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridatlas.model.categorical import Categorical, combine, encode, numbered, rows_with

TEXTS = st.lists(st.sampled_from(["a", "A", "b", "", " a"]))
ROWS = st.lists(st.tuples(*[st.sampled_from(["a", "b", "c"])] * 3))


@given(TEXTS)
def test_a_column_has_its_texts_in_their_order(texts: list[str]) -> None:
    column = Categorical.of(texts)
    assert [*column] == texts
    assert [*column[1:]] == texts[1:]
    assert [column[row] for row in range(len(column))] == texts
    assert column.categories == [*dict.fromkeys(texts)]
    assert [column.row_of(text) for text in column.categories] == [
        *map(texts.index, column.categories)
    ]


@given(TEXTS, st.data())
def test_some_rows_have_the_texts_that_stand_in_them(texts: list[str], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.sampled_from(range(len(texts))))) if texts else []
    taken = Categorical.of(texts).take(rows)
    assert [*taken] == [texts[row] for row in rows]
    assert taken.categories == [*dict.fromkeys(taken)]


@given(TEXTS)
def test_texts_that_a_change_makes_one_are_one(texts: list[str]) -> None:
    column = Categorical.of(texts).map(lambda text: text.strip().lower())
    changed = [text.strip().lower() for text in texts]
    assert [*column] == changed
    assert column.categories == [*dict.fromkeys(changed)]


@given(ROWS)
def test_rows_are_told_apart_by_all_columns(rows: list[tuple[str, ...]]) -> None:
    columns = [*map(Categorical.of, zip(*rows, strict=True))] or [Categorical.of(())]
    codes, distinct = combine(columns)
    assert [distinct[code] for code in codes] == rows
    assert distinct == [*dict.fromkeys(rows)]
    assert [*codes] == [*encode(numbered(columns))[0]]


@pytest.mark.parametrize(("wanted", "rows"), [([1], [1, 3]), ([0, 2], [0, 2]), ([], []), ([7], [])])
def test_rows_with_a_code(wanted: list[int], rows: list[int]) -> None:
    assert [*rows_with([0, 1, 2, 1], wanted)] == rows


def test_a_constant_column_of_no_rows_has_no_text() -> None:
    assert [*Categorical.constant("", 2)] == ["", ""]
    assert [*Categorical.constant("", 0).categories] == []
