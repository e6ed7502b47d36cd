"""Numbers as people write them: which decimal mark, and every digit kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridatlas_import.numerals import decimal_mark, is_absent, marks_of, number_text, odd_texts
from gridatlas_import.rows import CannotImport

NUMBERS = [
    ("71.20", "point", "71.20"),
    (" 71 ", "point", "71"),
    ("+5", "point", "5"),
    ("−0.5", "point", "-0.5"),
    (".5", "point", "0.5"),
    ("-.5", "point", "-0.5"),
    ("5.", "point", "5"),
    ("1e-3", "point", "1e-3"),
    ("1,234.50", "point", "1234.50"),
    ("1,234,567", "point", "1234567"),
    ("1 234.5", "point", "1234.5"),
    ("1\u202f234", "point", "1234"),
    ("1’234", "point", "1234"),
    ("1.234,50", "comma", "1234.50"),
    ("1 234,5", "comma", "1234.5"),
    ("0,5", "comma", "0.5"),
    ("0,5", "point", None),
    ("0.5", "comma", None),
    ("12,34", "point", None),
    ("1,23,456", "point", None),
    ("1.2.3", "point", None),
    ("1_000", "point", None),
    ("0x1f", "point", None),
    ("2024-01-01", "point", None),
    ("٣", "point", None),
    ("nan", "point", None),
    ("", "point", None),
]


@pytest.mark.parametrize(("text", "mark", "number"), NUMBERS)
def test_a_number_with_its_digits(text, mark, number):
    assert number_text(text, mark) == number


MARKS = [
    (["1", "2"], False, "point"),
    (["0.5"], False, "point"),
    (["0,5"], False, "comma"),
    (["1,234", "0.5"], False, "point"),
    (["1.234", "0,5"], False, "comma"),
    (["1,234.5"], False, "point"),
    (["1.234,5"], False, "comma"),
    (["1,234,567"], False, "point"),
    (["1.234.567"], False, "comma"),
    (["0,123"], False, "comma"),
    (["1.234"], False, "point"),
    (["12,5%"], False, "comma"),
    (["1,234"], False, '"1,234", which may be 1234 or 1.234'),
    (["1.234"], True, '"1.234", which may be 1234 or 1.234'),
    (
        ["0.5", "0,5"],
        False,
        'numbers with a decimal point ("0.5") and with a decimal comma ("0,5")',
    ),
]


@pytest.mark.parametrize(("texts", "semicolons", "message"), MARKS)
def test_the_decimal_mark_is_found_or_asked_for(texts, semicolons, message):
    try:
        found = decimal_mark(marks_of(texts), semicolons=semicolons)
    except CannotImport as error:
        found = error.found
    assert found == message


@pytest.mark.parametrize("text", ["", " ", "-", "–", "NaN", "n/a", "#N/A", "None", "OOM", "-inf"])
def test_no_value(text):
    assert is_absent(text)


@pytest.mark.parametrize("text", ["0", "0.0", "no", "a"])
def test_not_no_value(text):
    assert not is_absent(text)


@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=3), st.sampled_from(["", " ", "’"])
)
def test_what_a_spreadsheet_writes_is_read_as_it_was(number, space):
    english = f"{number:,.3f}"
    german = english.translate(str.maketrans(",.", ".,"))
    for text, mark in ((english, "point"), (german, "comma")):
        assert number_text(text, mark) == f"{number:.3f}"
    spaced = german.replace(".", space)
    assert number_text(spaced, "comma") == f"{number:.3f}"


@pytest.mark.parametrize(
    "text", ["", " 1", "+1", ".5", "5.", "1e", "1,0", "1\n2", "٣", "nan", "--1"]
)
def test_one_other_text_makes_numbers_not_plain(text):
    assert odd_texts(["1", "-2.50", "007"]) == set()
    assert odd_texts(["1", text, "-2.50"]) == {text}


@given(st.lists(st.from_regex(r"-?[0-9]{1,4}(\.[0-9]{1,4})?", fullmatch=True), min_size=1))
def test_plain_numbers_say_the_same_all_at_once_as_one_by_one(texts):
    assert odd_texts(texts) == set()
    assert [number_text(text, "point") for text in texts] == texts
    # A text that is no number of the plain kind makes all be looked at one by one.
    assert marks_of([*texts, "7%"]) == marks_of(texts)
